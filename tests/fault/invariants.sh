#!/bin/sh
# What must hold in every recording: self sums with the explicit rows equal the device's net change;
# inclusive = self + children's inclusive; at-end = unfreed blocks; peak = largest running sum; the rows
# of a table add up however they are grouped.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
seen=0
DATA=${DATA:-$(dirname "$SAMPLES")/tests/recordings}

query() { # SQL: its rows, in the file rows
    rm -f rows
    "$MEMTOOL" query --db t.db --format csv "$1" >answer && tail -n +2 answer >rows
}

none() { # WHAT SQL: the query must be answered, and with no row
    query "$2" || complain "$1: no answer"
    [ ! -s rows ] || complain "$1: $(head -n 5 rows)"
}

LOOPS=$SAMPLES/../tests/loops
for trace in "$SAMPLES"/*/trace.json.gz "$LOOPS"/*writer*.json.gz "$LOOPS"/*threads*.json.gz "$DATA"/torch/*/*/trace.json.gz "$DATA"/kineto_others/*trace*.json.gz "$DATA"/kineto_others/resnet50*.json.gz; do
    [ -f "$trace" ] || continue
    case $trace in *execution_trace*_et.json.gz) continue ;; esac
    seen=$((seen + 1))
    "$MEMTOOL" import "$trace" --db t.db --name "r$seen" --replace >log 2>&1 || complain "import $trace: $(cat log)"
done
query "SELECT d.name FROM device d JOIN node_stat s ON s.device_id = d.id JOIN alloc a ON a.device_id = d.id LIMIT 1"
[ "$(wc -l <rows)" = 1 ] || complain 'there is nothing to ask about'
# The smallest integer stands for "unknown" in memtool; in a database NULL does.
every=$("$MEMTOOL" query --db t.db --format tsv "SELECT group_concat(printf('SELECT ''%s.%s'' FROM %s WHERE +%s < -9223372036854775807',
  m.name, c.name, m.name, c.name), ' UNION ') FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'" | tail -n 1)
case $every in *"'device.peak_ns'"*) ;; *) complain 'the columns are not found' ;; esac
none 'what is unknown is NULL' "$every"
none 'self sums to net' "SELECT d.run_id, d.name FROM device d WHERE d.net_b <> d.outside_alloc_b - d.outside_freed_b - d.unseen_b +
  (SELECT coalesce(sum(alloc_b - freed_b), 0) FROM node_stat WHERE device_id = d.id AND subtree = 0)"
query "SELECT count(stat_node_id) > 100, count(*) > 2 * count(stat_node_id) FROM node"
[ "$(cat rows)" = 1,1 ] || complain "all call paths share their figures, or none does: $(cat rows)"
none 'inclusive is self plus children' "WITH v AS MATERIALIZED (SELECT run, id, parent_id, device, self_alloc_b, alloc_b, self_freed_b, freed_b, self_at_peak_b, at_peak_b FROM v_node),
  below AS MATERIALIZED (SELECT parent_id, device, sum(alloc_b) AS alloc_b, sum(freed_b) AS freed_b, sum(at_peak_b) AS at_peak_b FROM v GROUP BY 1, 2)
  SELECT v.run, v.id FROM v LEFT JOIN below b ON b.parent_id = v.id AND b.device = v.device WHERE v.alloc_b <> v.self_alloc_b + coalesce(b.alloc_b, 0)
  OR v.freed_b <> v.self_freed_b + coalesce(b.freed_b, 0) OR v.at_peak_b <> v.self_at_peak_b + coalesce(b.at_peak_b, 0)
  OR (v.device IS NULL) <> (v.alloc_b IS NULL) OR v.alloc_b IS NULL AND b.alloc_b <> 0"
none 'at-end is what was not freed' "SELECT d.run_id FROM device d WHERE d.at_end_b <> (SELECT coalesce(sum(bytes_b), 0) FROM alloc
  WHERE device_id = d.id AND freed_ns IS NULL)"
none 'net is at-end less what is older' "SELECT d.run_id FROM device d WHERE d.at_end_b - d.before_freed_b <> d.net_b"
none 'unseen frees are those of the blocks' "SELECT d.run_id FROM device d WHERE (d.unseen_n, d.unseen_b) <>
  (SELECT count(*), coalesce(sum(bytes_b), 0) FROM alloc WHERE device_id = d.id AND freed_ns IS NOT NULL AND freed_thread_id IS NULL)
  OR (d.unseen_n, d.unseen_b) <> (SELECT coalesce(sum(blocks_n), 0), coalesce(sum(blocks_n * size_b), 0) FROM unseen WHERE device_id = d.id)"
none 'unseen births are those of the blocks' "SELECT d.run_id FROM device d WHERE (d.alloc_unseen_n, d.alloc_unseen_b) <>
  (SELECT count(*), coalesce(sum(bytes_b), 0) FROM alloc WHERE device_id = d.id AND alloc_ns IS NOT NULL AND alloc_thread_id IS NULL)"
none 'records are numbered without a gap' "SELECT r.id FROM run r WHERE r.record_n + (SELECT sum(unseen_n + alloc_unseen_n) FROM device WHERE run_id = r.id) <>
  (SELECT max(max(coalesce(alloc_record, 0)), max(coalesce(freed_record, 0))) + 1 FROM alloc WHERE id >= r.alloc_first AND id < r.alloc_first + r.alloc_n)"
none 'at-peak adds up to the peak' "SELECT d.run_id FROM device d WHERE d.at_end_b IS NOT NULL AND d.peak_b <> d.start_b - d.before_at_peak_b + d.outside_at_peak_b +
  (SELECT coalesce(sum(at_peak_b), 0) FROM node_stat WHERE device_id = d.id AND subtree = 0)"
none 'no running sum above the peak' "WITH e(device_id, t, b, k) AS (SELECT device_id, alloc_ns, bytes_b, 2 * id FROM alloc WHERE alloc_ns IS NOT NULL
  UNION ALL SELECT device_id, freed_ns, -bytes_b, 0 FROM alloc WHERE freed_ns IS NOT NULL),
  s(device_id, t, total) AS (SELECT device_id, t, sum(sum(b)) OVER (PARTITION BY device_id ORDER BY t) FROM e GROUP BY device_id, t)
  SELECT d.run_id FROM device d WHERE d.peak_b < (SELECT max(total) FROM s WHERE s.device_id = d.id)"
none 'nothing lies outside the run' "SELECT r.id FROM run r JOIN sample s ON s.run_id = r.id WHERE s.time_ns NOT BETWEEN 0 AND r.dur_ns"
none 'nothing lies outside its parent' "SELECT o.id FROM op o JOIN op p ON p.id = o.parent_id WHERE o.start_ns < p.start_ns OR o.parent_id >= o.id"
for run in basic fork_join leak_steps list_and_threads_same_site; do
    trace=$SAMPLES/$run/trace.json.gz
    [ -f "$trace" ] || trace=$LOOPS/$run.json.gz
    "$MEMTOOL" import "$trace" --db u.db --name $run >/dev/null || complain "import $run"
    for by in name top scope module phase path shape thread step forward name,phase,thread; do
        "$MEMTOOL" table $run --db u.db --by $by --limit 0 --format csv >table.csv
        sum=$(awk -F, 'NR > 1 { s += $1 } END { printf "%d", s }' table.csv)
        net=$("$MEMTOOL" query --db u.db --format csv "SELECT net_b FROM v_device WHERE run = '$run'" | tail -n 1)
        [ "$sum" = "$net" ] || complain "$run by $by: rows sum to $sum, net is $net"
    done
done
[ $seen -ge 40 ] || complain "only $seen recordings seen"
complained "$seen recordings"
