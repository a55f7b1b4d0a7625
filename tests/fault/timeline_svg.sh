#!/bin/sh
# Pictures of every recording, and of hostile names, are well-formed XML of modest size, without
# scripts or references, and with nothing in them that the names brought.
set -u
fails=0 seen=0
DATA=${DATA:-$(dirname "$SAMPLES")/tests/recordings}

fail() { echo "FAIL $*"; fails=$((fails + 1)); }

if command -v xmllint >/dev/null 2>&1; then
    is_xml() { xmllint --noout "$1"; }
elif command -v python3 >/dev/null 2>&1; then
    is_xml() { python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1"; }
else
    echo "neither xmllint nor python3 is here"
    exit 77
fi

check() { # RUN OPTION...
    "$MEMTOOL" timeline "$@" --db t.db --format svg -o t.svg 2>log || { fail "$*: $(cat log)"; return; }
    is_xml t.svg 2>log || fail "$*: no XML: $(head -n 3 log)"
    [ "$(wc -c <t.svg)" -le 400000 ] || fail "$*: $(wc -c <t.svg) bytes"
    # In texts "<" is always escaped: what is left without them is tags and the style sheet.
    ! sed 's/>[^<]*</></g' t.svg | grep -iE '<script|<foreignObject|href|[^-]on[a-z]+ *=|url\(|@import|<!' ||
        fail "$*: active content"
}

for trace in "$SAMPLES"/*/trace.json.gz "$DATA"/torch/*/*/trace.json.gz "$DATA"/kineto_others/resnet50*.json.gz; do
    [ -f "$trace" ] || continue
    "$MEMTOOL" import "$trace" --db t.db --name "r$seen" --replace >log 2>&1 || { fail "import $trace"; continue; }
    [ "$("$MEMTOOL" query --db t.db "SELECT count(*) FROM v_device WHERE run = 'r$seen'" --format csv | tail -n 1)" != 0 ] || continue
    check "r$seen"
    [ "$("$MEMTOOL" query --db t.db "SELECT count(*) FROM v_device WHERE run = 'r$seen' AND at_end_b IS NULL" --format csv | tail -n 1)" != 0 ] ||
        for by in site path,step; do check "r$seen" --by $by --top 60 --width 3000; done
    seen=$((seen + 1))
done
[ $seen -ge 40 ] || fail "only $seen recordings seen"

# Names that try to be markup, end a tag, hide, or are no text at all.
name=0
{
    printf '{"traceEvents":['
    for text in '<script>alert(1)</script>' '</title></svg><b>' '\" onload=\"x' '&lt;&#60;' ']]>' '<!--' '\u0000\u001b[2J' '\ufffe' "$(printf '\377\300')" '\u202egnp.x' "$(head -c 5000 /dev/zero | tr '\0' 'W')"; do
        name=$((name + 1))
        printf '{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,"ts":%d0,"dur":5},' "$text" $name
        printf '{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":%d2,"args":{"Bytes":%d,"Addr":%d,"Device Type":0,"Device Id":-1}},' $name $((name * 512)) $((name * 65536))
    done
    printf '{"ph":"i","cat":"x","name":"end","pid":1,"tid":1,"ts":500}]}'
} >hostile.json
"$MEMTOOL" import hostile.json --db t.db --name '<svg onload="x">' >log 2>&1 || fail "import of hostile names: $(cat log)"
check '<svg onload="x">' --by name --top 20
[ "$(grep -c '<svg' t.svg)" = 1 ] || fail "a name became markup"
[ "$(grep -c 'class="mono"' t.svg)" = $name ] || fail "$(grep -c 'class="mono"' t.svg) names in the legend, not $name"
[ "$(awk '{ n = length($0); if (n > m) m = n } END { print m }' t.svg)" -lt 2000 ] || fail "a long name was not cut"

# A thousand steps, and blocks of fifty ops: lines between which there is room, and no colour twice.
awk 'BEGIN {
    printf "{\"traceEvents\":["
    for (i = 0; i < 1000; i++) {
        printf "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":100},", i, i * 100
        printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":50},", i % 50, i * 100 + 5
        printf "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%d,\"args\":{\"Bytes\":%d,\"Addr\":%d,\"Device Type\":0,\"Device Id\":-1}},", i * 100 + 9, 512 * (1 + i % 50), (i + 1) * 65536
    }
    print "{\"ph\":\"i\",\"cat\":\"x\",\"name\":\"end\",\"pid\":1,\"tid\":1,\"ts\":100000}]}"
}' >steps.json
"$MEMTOOL" import steps.json --db t.db --name steps >log 2>&1 || fail "import of 1,000 steps: $(cat log)"
check steps --by name --top 60
lines=$(grep -c '<line class="step"' t.svg)
{ [ "$lines" -ge 10 ] && [ "$lines" -le 45 ]; } || fail "$lines lines of 1,000 steps in 864 pixels"
grep -q '>500</text>' t.svg || fail "step 500 has no number"
! grep -o '<path class="[br][^"]*"' t.svg | sort | uniq -d | grep . || fail "a colour is there twice"
[ "$(grep -c 'class="mono"' t.svg)" = 41 ] || fail "$(grep -c 'class="mono"' t.svg) bands, not 40 and [other]"
grep -q 'everything but the 40 heaviest' t.svg || fail "the picture does not say that it shows 40 bands"
echo "$seen recordings, $fails complaints"
[ $fails = 0 ]
