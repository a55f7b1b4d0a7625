#!/bin/sh
# Hostile and odd snapshots all the way: each file of the fuzz corpus and each sample is imported, and every
# report that snapshots have is asked of what imports. No exit code above 2, no word of a sanitizer, and
# nothing reserved below 0.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
corpus=$(dirname "$SAMPLES")/tests/fuzz/corpus/pickle
runs=0 reports=0
export MEMTOOL_DB=t.db

# Runs memtool; what it prints is in `out`, its exit code in $status.
memtool() { # ARGS...
    "$MEMTOOL" "$@" >out 2>&1
    status=$?
    [ $status -le 2 ] || complain "memtool $*: exit $status: $(cat out)"
    if grep -qE 'Sanitizer|runtime error' out; then complain "memtool $*: $(cat out)"; fi
}

report() { # RUN: every report on it
    while read -r words; do
        # shellcheck disable=SC2086 # several words
        memtool $words "$1"
        reports=$((reports + 1))
        case $words in
        *reserved* | *svg*) ;; # not every file has something to draw
        *) [ $status = 0 ] || complain "memtool $words $1: exit $status: $(cat out)" ;;
        esac
    done <<END
segments
segments --by site
segments --format svg
fragmentation
fragmentation --fit 1GiB
memory
memory --format json
timeline
timeline --metric reserved
timeline --by site --format csv
peak
leaks
tree
table --by top,phase
END
}

for file in "$corpus"/* "$SAMPLES"/snapshots/*.pickle; do
    name=$(basename "$file")
    case $file in "$corpus"/*) name=hostile-$name ;; esac
    memtool import "$file" --name "$name" --replace
    [ $status = 0 ] || continue
    echo "$name" >>imported
    runs=$((runs + 1))
    report "$name"
done

for name in segments-1-eib size-1-eib segment-0 no-segments segments-lost host-lists long-names \
    settings-are-not; do
    grep -qx "hostile-$name" imported || complain "$name is refused"
done
for name in sizes-overflow host-odd cut refused-GLOBAL; do
    if grep -qx "hostile-$name" imported; then complain "$name is taken"; fi
done

expect() { # WHAT QUERY EXPECTED
    "$MEMTOOL" query --format csv "$2" >rows || complain "$1: the query fails"
    got=$(tail -n +2 rows | tr -d '"' | tr '\n' ' ')
    [ "$got" = "$3" ] || complain "$1: $got"
}
expect 'reserved below 0' "SELECT r.name, s.value_b FROM sample s JOIN run r ON r.id = s.run_id
  WHERE s.metric = 'reserved' AND s.value_b < 0" ''
expect 'reserved bytes are those of the segments there' "SELECT r.name FROM sample s JOIN run r ON r.id = s.run_id
  WHERE s.metric = 'reserved' AND s.value_b <> (SELECT coalesce(sum(g.size_b), 0) FROM segment g WHERE g.device_id = s.device_id
    AND (g.alloc_event IS NULL OR g.alloc_event <= coalesce(s.event, -1)) AND (g.freed_event IS NULL OR g.freed_event > coalesce(s.event, -1)))" ''
expect 'an event of an impossible size keeps its name' \
    "SELECT action || ' ' || bytes_b FROM v_event WHERE run = 'hostile-size-1-eib'" 'alloc 1152921504606846976 '
expect 'host lists' "SELECT d.name FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = 'hostile-host-lists'
  ORDER BY 1" 'cuda:0 host:0 host:1 '
expect 'names of unknown actions' "SELECT substr(text, instr(text, ': ') + 2) FROM v_note
  WHERE run = 'hostile-long-names' AND kind = 'unknown_action'" \
    'alloc2, loc2, éééééééééééééééééééé, xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx '
expect 'labels end with a character' "SELECT length(CAST(text AS BLOB)) FROM string
  WHERE text LIKE 'éé%' OR text LIKE 'aéé%' OR text LIKE 'torch.compile xé%' ORDER BY 1" '199 199 200 '
expect 'settings that are no dict' "SELECT m.key FROM meta m JOIN run r ON r.id = m.run_id
  WHERE r.name = 'hostile-settings-are-not'" ''
memtool peak hostile-settings-are-not
grep -q 'record history with torch.cuda.memory._record_memory_history() before' out ||
    complain "no advice for an empty snapshot: $(cat out)"
complained "$runs runs, $reports reports"
