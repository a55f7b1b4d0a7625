#!/bin/sh
# Scopes, with Python frames recorded and without: bytes, calls and time of every record_function scope
# and optimizer step are those of PyTorch's own table (compat torch), whose rule of nesting is another.
# On all samples, and where present all other recordings, of a single thread and in nanoseconds.
set -u
DATA=${DATA:-$(dirname "$SAMPLES")/tests/recordings}
fails=0 scopes=0
export MEMTOOL_DB=t.db
own="SELECT name, sum(net_b), sum(calls_n), sum(time_ns) FROM v_node
  WHERE kind = 'annotation' AND device = 'cpu' AND name <> 'ProfilerStep*' GROUP BY name ORDER BY name"

for trace in "$SAMPLES"/*/trace.json.gz "$DATA"/torch/[2-9]*/*/trace.json.gz; do
    [ -f "$trace" ] || continue
    rm -f "$MEMTOOL_DB"
    "$MEMTOOL" import "$trace" --name r >/dev/null 2>&1 || { echo "FAIL $trace: import"; exit 1; }
    fit=$("$MEMTOOL" query "SELECT whole_us = 0 AND (SELECT count(*) FROM thread) = 1 AS fit FROM run" \
        --format csv | tail -n 1)
    [ "$fit" = 1 ] || [ "$fit" = 0 ] || { echo "FAIL $trace: no answer" && exit 1; }
    [ "$fit" = 1 ] || continue
    "$MEMTOOL" query "$own" --format csv >rows || { echo "FAIL $trace: no rows" && exit 1; }
    tail -n +2 rows >ours
    "$MEMTOOL" table r --compat torch --limit 0 --format csv 2>/dev/null >theirs
    while IFS=, read -r name net calls time; do
        want=$(awk -F, -v n="$name" '$1 == n { printf "%s,%s,%.0f", $6, $3, $4 * 1000 }' theirs)
        scopes=$((scopes + 1))
        [ "$want" = "$net,$calls,$time" ] && continue
        echo "FAIL $trace: $name: $net,$calls,$time, PyTorch $want"
        fails=$((fails + 1))
    done <ours
done
echo "$scopes scopes, $fails complaints"
[ $fails = 0 ] && [ $scopes -ge 8 ]
