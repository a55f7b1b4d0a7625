#!/bin/sh
# `table --compat torch` against what PyTorch itself said of every recording: all rows of
# key_averages.json and by_shape.json (names, counts, bytes, nanoseconds), and its printed tables byte
# for byte. Whole-microsecond recordings (1.13, 2.3) cannot be exact: how many rows are is pinned here.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
seen=0
DATA=${DATA:-$(dirname "$SAMPLES")/tests/recordings}

# name, count, inclusive and self bytes, inclusive and self time in ns: one line a row
figures() { # JSON-FILE, perhaps compressed
    zcat -f "$1" | awk '/^[ ]*{"name"/ {
        name = $0; sub(/^[ ]*{"name":/, "", name); sub(/,"(count|is_user_annotation)".*/, "", name)
        print name, num("count"), num("cpu_memory_usage"), num("self_cpu_memory_usage"),
              us("cpu_time_total_us"), us("self_cpu_time_total_us")
    }
    function num(key,   rest) { rest = $0; if (!sub(".*\"" key "\":[ ]*", "", rest)) return "?"; sub(/[,}].*/, "", rest); return rest }
    function us(key) { return sprintf("%.3f", num(key)) }' | sed 's/ -0\.000/ 0.000/g'
}

recording() { # FOLDER VERSION ALLOWED-ROWS [ROWS-IN-DOUBT]
    seen=$((seen + 1))
    "$MEMTOOL" import "$1/trace.json.gz" --db t.db --name "run$seen." --replace >/dev/null || complain "$1: import"
    for kind in key_averages by_shape; do
        by=; [ $kind = by_shape ] && by='--by shape'
        # shellcheck disable=SC2086
        "$MEMTOOL" table "run$seen." --db t.db --compat "torch:$2" --limit 0 --format json $by >ours.json
        figures ours.json >ours; figures "$1/$kind.json"* >theirs
        [ -s theirs ] || complain "$1: no rows in $kind.json"
        off=$(diff ours theirs | grep -c '^>')
        if [ "$3" = whole-us ]; then # times are cut to whole us too: only names, counts and bytes count
            [ $kind = by_shape ] && continue
            sed 's/ [^ ]* [^ ]*$//' ours >ours.b; sed 's/ [^ ]* [^ ]*$//' theirs >theirs.b
            off=$(diff ours.b theirs.b | grep -c '^>')
            [ "$off" = "$4" ] || complain "$1: $off rows are not exact, expected $4"
            continue
        fi
        [ "$off" -le "$3" ] || { complain "$1: $kind: $off rows differ"; diff ours theirs | head -5; }
    done
    [ "$3" = 0 ] || return 0
    for key in cpu self_cpu; do
        "$MEMTOOL" table "run$seen." --db t.db --compat "torch:$2" --limit 10 --sort ${key}_memory_usage >ours 2>/dev/null
        cmp -s ours "$1/table_${key}_mem.txt" || { complain "$1: text of table_${key}_mem"; diff ours "$1/table_${key}_mem.txt" | head -5; }
    done
}

version_of() {
    sed -n 's/.*"torch": *"\([0-9.]*\).*/\1/p' "$1/meta.json"
}

for folder in "$SAMPLES"/*/ "$DATA"/torch/*/*/; do
    folder=${folder%/}
    [ -f "$folder/key_averages.json" ] || [ -f "$folder/key_averages.json.gz" ] || continue
    version=$(version_of "$folder")
    case $folder:$version in
    *1.13*/cnn_b16:*) recording "$folder" "$version" whole-us 30 ;;
    *1.13*/cnn_stack:*) recording "$folder" "$version" whole-us 24 ;;
    *1.13*/fork_join:*) recording "$folder" "$version" whole-us 14 ;;
    *2.3*/cnn_b16:*) recording "$folder" "$version" whole-us 22 ;;
    *2.3*/cnn_stack:*) recording "$folder" "$version" whole-us 19 ;;
    *2.3*/seed_checkpoint:*) recording "$folder" "$version" whole-us 7 ;;
    *:1.13* | *:2.3*) recording "$folder" "$version" whole-us 10 ;;
    */fork_async:* | "$SAMPLES"/fork_join:*) recording "$folder" "$version" 3 ;; # ops that end on another thread cannot be told
    *) recording "$folder" "$version" 0 ;;
    esac
done
[ $seen -ge 40 ] || complain "only $seen recordings seen"
complained "$seen recordings"
