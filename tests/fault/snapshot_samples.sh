#!/bin/sh
# Every variant of the snapshot format: levels as the samples' own truth has them, and what must hold in
# every snapshot. samples/make_snapshots.py says what is in them.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"

query() {
    "$MEMTOOL" query --db t.db --format csv "$1" >query.csv || echo 'the query fails'
    tail -n +2 query.csv
}

none() { # WHAT SQL: the query must be answered, and with no row
    "$MEMTOOL" query --db t.db --format csv "$2" >answer || complain "$1: no answer"
    rows=$(tail -n +2 answer)
    [ -z "$rows" ] || complain "$1: $rows"
}

for file in "$SAMPLES"/snapshots/*.pickle; do
    "$MEMTOOL" import "$file" --db t.db >log 2>&1 || complain "import $file: $(cat log)"
done
query "SELECT r.name, d.device_index, d.start_b, d.peak_b, d.start_b + coalesce(d.net_b, 0),
    coalesce(min(CASE s.position WHEN f.first THEN s.value_b END), g.total), coalesce(max(s.value_b), g.total), g.total
  FROM run r JOIN device d ON d.run_id = r.id
  LEFT JOIN sample s ON s.run_id = r.id AND s.device_id = d.id AND s.metric = 'reserved'
  LEFT JOIN (SELECT device_id, min(position) AS first FROM sample WHERE metric = 'reserved' GROUP BY device_id) f ON f.device_id = d.id
  LEFT JOIN (SELECT device_id, sum(size_b) AS total FROM segment WHERE allocated_b IS NOT NULL GROUP BY device_id) g ON g.device_id = d.id
  WHERE d.name NOT LIKE 'host%' GROUP BY d.id ORDER BY r.name, d.id" | sed 's/^profile,-1,/profile,1,/' | sort >ours
tail -n +2 "$SAMPLES/snapshots/truth.csv" | sort >theirs
[ "$(wc -l <theirs)" -ge 30 ] || complain "truth.csv is short"
diff theirs ours || complain "levels differ (< truth, > memtool)"

# The smallest integer stands for "unknown" in memtool; in a database NULL does.
every=$("$MEMTOOL" query --db t.db --format tsv "SELECT group_concat(printf('SELECT ''%s.%s'' FROM %s WHERE +%s < -9223372036854775807',
  m.name, c.name, m.name, c.name), ' UNION ') FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'" | tail -n 1)
case $every in *"'device.peak_ns'"*) ;; *) complain 'the columns are not found' ;; esac
none 'what is unknown is NULL' "$every"
[ "$(query "SELECT d.name || ' ' || d.net_b FROM run r JOIN device d ON d.run_id = r.id WHERE r.name = 'host_lists' ORDER BY 1" | tr -d '"' | tail -n 2 | tr '\n' ' ')" \
    = 'host:0 4000 host:1 3000 ' ] || complain 'lists of host events are lost'
[ "$(query "SELECT count(*) > 20 FROM v_segment")" = 1 ] || complain 'there is nothing to ask about'
none 'only the sample made for it has a residual' "SELECT r.name, d.residual_b FROM run r JOIN device d ON d.run_id = r.id
  WHERE d.residual_b <> 0 AND NOT (r.name = 'unbalanced_sizes' AND d.residual_b = -100)"
[ "$(query "SELECT count(*) FROM device WHERE residual_b = -100")" = 1 ] || complain 'a wrong end is not told'
none 'nothing lies outside the run' "SELECT r.name FROM run r JOIN (SELECT run_id, time_ns FROM sample UNION ALL SELECT run_id, time_ns FROM event) e
  ON e.run_id = r.id WHERE e.time_ns NOT BETWEEN 0 AND r.dur_ns"
none 'a row of block per row of alloc' "SELECT r.name FROM run r WHERE r.alloc_n <>
  (SELECT count(*) FROM block WHERE alloc_id >= r.alloc_first AND alloc_id < r.alloc_first + r.alloc_n)"
none 'in use at the end = not freed' "SELECT r.name, a.id FROM run r JOIN alloc a ON a.id >= r.alloc_first AND a.id < r.alloc_first + r.alloc_n
  JOIN block b ON b.alloc_id = a.id WHERE (b.state = 0) <> (a.freed_record IS NOT NULL)"
none 'blocks in use lie in their segment' "SELECT b.alloc_id FROM block b JOIN segment g ON g.id = b.segment_id
  WHERE b.address < g.address OR b.address + b.size_b > g.address + g.size_b"
none 'segments hold their blocks' "SELECT g.id FROM segment g WHERE g.allocated_b <>
  (SELECT coalesce(sum(size_b), 0) FROM block WHERE segment_id = g.id)"
none 'reserved bytes are those of the segments there' "SELECT r.name, s.event, s.value_b FROM sample s JOIN run r ON r.id = s.run_id
  WHERE s.metric = 'reserved' AND s.value_b <> (SELECT coalesce(sum(g.size_b), 0) FROM segment g WHERE g.device_id = s.device_id
    AND (g.alloc_event IS NULL OR g.alloc_event <= coalesce(s.event, -1)) AND (g.freed_event IS NULL OR g.freed_event > coalesce(s.event, -1)))"
none 'the list at the end is what the events leave' "SELECT r.name, g.id FROM segment g JOIN device d ON d.id = g.device_id
  JOIN run r ON r.id = d.run_id WHERE (g.allocated_b IS NULL) <> (g.freed_event IS NOT NULL)"
none 'a device with segments has reserved bytes' "SELECT r.name, d.name FROM device d JOIN run r ON r.id = d.run_id
  WHERE EXISTS (SELECT 1 FROM segment WHERE device_id = d.id)
  AND NOT EXISTS (SELECT 1 FROM sample WHERE device_id = d.id AND metric = 'reserved')"
none 'at-peak adds up to the peak' "SELECT r.name FROM device d JOIN run r ON r.id = d.run_id WHERE d.knows & 4 AND d.peak_b <>
  d.outside_at_peak_b + d.start_b - d.before_at_peak_b + coalesce((SELECT sum(at_peak_b) FROM node_stat WHERE device_id = d.id AND subtree = 0), 0)
  - d.older_b"
none 'at-end is what was not freed' "SELECT r.name FROM device d JOIN run r ON r.id = d.run_id WHERE d.at_end_b <>
  (SELECT coalesce(sum(bytes_b), 0) FROM alloc WHERE device_id = d.id AND freed_record IS NULL)"
none 'steps' "SELECT r.name, count(*) FROM run r JOIN step s ON s.run_id = r.id GROUP BY r.id HAVING count(*) <> 3"
[ "$(query "SELECT group_concat(DISTINCT name) FROM (SELECT r.name AS name FROM run r JOIN step s ON s.run_id = r.id ORDER BY 1)" | tr -d '"')" \
    = basic,cpp_pickler,padded,protocol2,protocol3,protocol5 ] || complain 'steps are found in other runs'
# The reports agree on reserved bytes. Without history there is no peak, only what there was.
query "SELECT r.name || ' ' || d.name || ' ' || max(s.value_b) FROM sample s JOIN run r ON r.id = s.run_id JOIN device d ON d.id = s.device_id
  WHERE s.metric = 'reserved' GROUP BY d.id" | tr -d '"' >reserved
while read -r run device peak; do
    of_memory=$("$MEMTOOL" memory "$run" --db t.db --device "$device" --format csv | awk -F, '$2 == "reserved" { print $4 }')
    of_moment=$("$MEMTOOL" fragmentation "$run" --db t.db --device "$device" --format csv 2>/dev/null |
        awk -F, '$1 ~ /reserved peak/ && $2 == "reserved" { print $3 }')
    "$MEMTOOL" peak "$run" --db t.db --device "$device" 2>log | grep -q 'no history' && peak=
    [ "$peak $peak" = "$of_memory $of_moment" ] ||
        complain "$run, $device: reserved peak $peak, by memory $of_memory, by fragmentation $of_moment"
done <reserved
[ "$(wc -l <reserved)" -ge 34 ] || complain "reserved bytes of few devices: $(wc -l <reserved)"
# The same recording, however it was pickled, gives the same rows.
for run in protocol2 protocol3 protocol5 cpp_pickler padded; do
    for name in basic $run; do
        "$MEMTOOL" tree "$name" --db t.db --bytes | tail -n +2 >"$name.tree"
    done
    diff basic.tree $run.tree || complain "$run differs from basic"
done
# However it was packed.
gzip -c "$SAMPLES/snapshots/basic.pickle" | "$MEMTOOL" import - --db packed.db --name gz >/dev/null || complain 'gzip'
"$MEMTOOL" tree gz --db packed.db --bytes | tail -n +2 | diff basic.tree - || complain 'gzip differs'
# What the pickle's values and the records made of them need together is what --max-memory bounds.
"$MEMTOOL" import "$SAMPLES/snapshots/basic.pickle" --db small.db --max-memory 16KiB 2>err
[ $? = 2 ] || complain '--max-memory is not kept'
grep -q 'needs more than 16 KiB of memory .* (at byte' err || complain "--max-memory: $(cat err)"
[ ! -e small.db ] || complain '--max-memory leaves a database behind'
complained ""
