#!/bin/sh
# The order of events in a file means nothing: recordings with their events shuffled give the same
# ops, call paths, blocks, steps and devices. Only ids and byte offsets may differ.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"

# Shuffles the events, which stand on lines of their own between "  {" and "  }".
shuffle() { # SEED
    awk -v seed="$1" '
        BEGIN { srand(seed) }
        !inside && /^  \{$/ { inside = 1; event[++n] = "" }
        inside { event[n] = event[n] (event[n] == "" ? "" : "\n") $0 }
        inside && /^  \},?$/ { inside = 0; sub(/,$/, "", event[n]); next }
        !inside && !n { print }
        !inside && n { tail = tail $0 "\n" }
        END {
            for (i = n; i > 1; i--) {
                k = int(rand() * i) + 1
                swap = event[i]; event[i] = event[k]; event[k] = swap
            }
            for (i = 1; i <= n; i++) print event[i] (i < n ? "," : "")
            printf "%s", tail
        }'
}

# All that the views hold of the one run of a database, without ids, in a fixed order.
content() { # DB
    while read -r sql; do
        echo "$sql"
        "$MEMTOOL" query --db "$1" --format csv "$sql" >rows || complain "no answer: $sql" >&2
        sort rows
    done <<'SQL'
SELECT name, kind, thread, start_ns, dur_ns, shape, (SELECT f.name FROM v_op f WHERE f.id = o.forward_id) AS forward, (SELECT p.name || p.start_ns FROM v_op p WHERE p.id = o.parent_id) AS parent FROM v_op o
SELECT device, bytes_b, alloc_ns, freed_ns, alloc_in, freed_in FROM v_alloc
SELECT name, kind, top, scope, module, phase, calls_n, time_ns, self_time_ns, device, self_net_b, net_b, self_alloc_b, alloc_b, self_freed_b, freed_b, self_alloc_n, self_at_peak_b, self_at_end_b FROM v_node
SELECT device, alloc_b, freed_b, net_b, peak_b, peak_ns, at_end_b, alloc_n, freed_n, base_b, residual_b FROM v_device
SELECT number, start_ns, end_ns FROM v_step
SELECT kind, count_n FROM v_note
SELECT metric, time_ns, value_b FROM sample
SELECT start_ns, dur_ns, whole_us, step_marker, event_n, op_n, record_n, alloc_n, node_n FROM run
SQL
    "$MEMTOOL" table --db "$1" --by path --limit 0 --format csv >rows || complain "no table" >&2
    sort rows
}

for sample in basic nested loop cnn_b16 cnn_stack checkpoint checkpoint_torch1.13 fork_join fork_async leak_steps cnn_b16_torch2.6; do
    gzip -dc "$SAMPLES/$sample/trace.json.gz" >plain.json
    "$MEMTOOL" import plain.json --db "$sample.db" >/dev/null 2>&1 || complain "$sample: import"
    content "$sample.db" >ours
    [ "$(wc -l <ours)" -gt 20 ] || complain "$sample: there is hardly anything to compare"
    for seed in 1 2; do
        shuffle $seed <plain.json >shuffled.json
        cmp -s plain.json shuffled.json && complain "$sample: not shuffled"
        rm -f shuffled.db
        "$MEMTOOL" import shuffled.json --db shuffled.db >/dev/null 2>err || { complain "$sample: shuffled import"; cat err; }
        content shuffled.db >theirs
        cmp -s ours theirs || { complain "$sample, seed $seed"; diff ours theirs | head -8; }
    done
done
complained ""
