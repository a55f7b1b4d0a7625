#!/bin/sh
# What peak and timeline say, against plain SQL that works everything out from the blocks themselves:
# levels by running sums over alloc_record and freed_record, live sets by comparing numbers of records.
# On all samples, traces and snapshots, and where present all other recordings; windows and moments are pseudo-random.
set -u
fails=0 seen=0 compared=0 random=1
DATA=${DATA:-$(dirname "$SAMPLES")/tests/recordings}
chunk=$(sed -n 's/^#define MT_CHUNK_CHANGES \([0-9]*\).*/\1/p' "$SAMPLES/../lib/model/curve.h")

fail() { echo "FAIL $run $device: $*"; fails=$((fails + 1)); }
query() { "$MEMTOOL" query --db t.db --format csv "$1" | tail -n +2; }
ask() { "$MEMTOOL" "$@" --db t.db --device "$device" --format csv 2>log | tail -n +2; }
peak() { ask peak "$run" --limit 0 "$@"; }

# Prints N numbers from 0 up to LAST: always the same for these two and the value of `random`.
pick() { # N LAST
    awk -v seed=$(((random * 1009 + $1 * 31 + $2) % 1000003)) -v n="$1" -v last="$2" \
        'BEGIN { srand(seed); while (n-- > 0) printf "%.0f\n", rand() * last }'
}

# Prints N moments of the device, half of them moments of its changes.
pick_moments() { # N
    pick "$1" "$dur" >moments
    for line in $(pick "$1" "$(wc -l <exact)"); do sed -n "$((line + 1))s/,.*//p" exact; done >>moments
    cat moments
}

# Both must be equal; shows the first differences.
same() { # WHAT EXPECTED-FILE CAME-FILE
    [ ! -s "$2" ] || compared=$((compared + 1))
    cmp -s "$2" "$3" || fail "$1: $(diff "$2" "$3" | head -n 4)"
}

# Common tables: c every change, l the level after each record.
levels() {
    cat <<END
WITH c(r, t, b, node) AS (
  SELECT a.alloc_record, a.alloc_ns, a.bytes_b, coalesce(o.node_id, a.alloc_node_id) FROM alloc a LEFT JOIN op o ON o.id = a.alloc_op_id
    WHERE a.device_id = $id AND a.alloc_record IS NOT NULL
  UNION ALL SELECT a.freed_record, a.freed_ns, -a.bytes_b, iif(a.freed_thread_id IS NULL, -1, coalesce(o.node_id, a.freed_node_id)) FROM alloc a LEFT JOIN op o ON o.id = a.freed_op_id
    WHERE a.device_id = $id AND a.freed_record IS NOT NULL),
l(r, t, b, node, level) AS (SELECT r, t, b, node, $start_b + sum(b) OVER (ORDER BY r) FROM c WHERE b <> 0
  UNION ALL SELECT -1, -1, 0, NULL, $start_b)
END
}

# What is live after record R by name, with the rest that nothing is known of. Blocks older than the
# recording are live from its start where the level counts them.
live_by_name() { # R
    query "$(levels), names(name, b) AS (SELECT coalesce(iif(o.id IS NOT NULL AND f.kind = 'python', '[Python]', f.name), iif(a.alloc_record IS NULL, '[before trace]', '[outside ops]')), sum(a.bytes_b)
        FROM alloc a LEFT JOIN op o ON o.id = a.alloc_op_id LEFT JOIN node n ON n.id = coalesce(o.node_id, a.alloc_node_id)
        LEFT JOIN v_frame f ON f.id = n.frame_id
        WHERE a.device_id = $id AND (a.alloc_record <= $1 OR a.alloc_record IS NULL AND $start_b <> 0)
          AND (a.freed_record IS NULL OR a.freed_record > $1) GROUP BY 1),
      rest(b) AS (SELECT (SELECT level FROM l WHERE r <= $1 ORDER BY r DESC LIMIT 1) - (SELECT coalesce(sum(b), 0) FROM names))
      SELECT sum(b), name FROM (SELECT b, name FROM names UNION ALL SELECT b, '[before trace]' FROM rest WHERE b <> 0)
      GROUP BY name" | sort
}

has_history() {
    [ "$(query "SELECT count(*) FROM v_note WHERE run = '$run' AND kind = 'state_only'")" = 0 ]
}

check_peak() {
    query "$(levels) SELECT max(level) FROM l" >expected
    query "SELECT peak_b FROM device WHERE id = $id" >came
    same "stored peak" expected came
    if has_history; then
        peak --by name --columns at_peak_b,name | sort >came
    else # nobody knows its peak: the larger of its two moments
        peak --at @peak --by name --columns live_b,name | sort >came
    fi
    live_by_name "$(query "$(levels) SELECT r FROM l ORDER BY level DESC, r LIMIT 1")" >expected
    same "live at the peak" expected came
}

check_moment() { # T
    live_by_name "$(query "$(levels) SELECT max(r) FROM l WHERE t <= $1")" >expected
    peak --at "${1}ns" --by name --columns live_b,name | sort >came
    same "live at $1 ns" expected came
}

check_window() { # FROM TO
    has_history || return 0
    query "$(levels) SELECT max(level) FROM l WHERE (t < $2 OR $2 = $dur) AND r >= (SELECT max(r) FROM l WHERE t < $1 OR r < 0)" >expected
    "$MEMTOOL" peak "$run" --db t.db --device "$device" --from "${1}ns" --to "${2}ns" --format json --limit 1 |
        sed -n 's/.*"totals":{"peak_b":\(-\{0,1\}[0-9]*\).*/\1/p' >came
    same "peak of $1..$2 ns" expected came
    ask timeline "$run" --from "${1}ns" --to "${2}ns" --width 7 |
        awk -F, 'NR == 1 || $4 > m { m = $4 } END { printf "%.0f\n", m }' >came
    same "largest bucket of $1..$2 ns" expected came
}

check_steps() {
    query "$(levels), s(number, start_ns, until, first) AS MATERIALIZED (SELECT number, start_ns,
        iif(end_ns = $dur AND row_number() OVER (ORDER BY position DESC) = 1, 9e18, end_ns),
        (SELECT max(r) FROM l WHERE t < start_ns) FROM step WHERE run_id = $run_id)
      SELECT number, (SELECT level FROM l WHERE r = first), (SELECT max(level) FROM l WHERE t < until AND r >= first),
        (SELECT level FROM l WHERE t < until ORDER BY r DESC LIMIT 1) FROM s ORDER BY start_ns" >expected
    [ -s expected ] || return
    peak --per step --columns step,start_b,peak_b,end_b >came
    same "steps" expected came
}

check_exact() {
    query "$(levels) SELECT t, b, level, iif(l.node < 0, '[freed unseen]', coalesce(f.name, '[outside ops]')) FROM l LEFT JOIN node n ON n.id = l.node
      LEFT JOIN v_frame f ON f.id = n.frame_id WHERE r >= 0 ORDER BY r" >expected
    ask timeline "$run" --exact >exact
    sed 's/,[^,]*$//' exact >came
    same "every change" expected came
}

# The stored extremes of so many changes each; what is packed in them is what timeline --exact reads.
check_stretches() {
    query "$(levels), s(k, r, t, b, level) AS (SELECT (row_number() OVER (ORDER BY r) - 1) / $chunk, r, t, b, level FROM l WHERE r >= 0),
      n AS (SELECT *, row_number() OVER (PARTITION BY k ORDER BY r) AS nth, row_number() OVER (PARTITION BY k ORDER BY r DESC) AS to_end,
        row_number() OVER (PARTITION BY k ORDER BY level, r) AS low, row_number() OVER (PARTITION BY k ORDER BY level DESC, r) AS high FROM s)
      SELECT max(iif(nth = 1, level - b, NULL)), max(iif(nth = 1, r, NULL)), max(iif(nth = 1, t, NULL)),
        max(iif(low = 1, t, NULL)), max(iif(low = 1, level, NULL)), max(iif(low = 1, r, NULL)),
        max(iif(high = 1, t, NULL)), max(iif(high = 1, level, NULL)), max(iif(high = 1, r, NULL)),
        max(iif(to_end = 1, t, NULL)), max(iif(to_end = 1, level, NULL)), max(iif(to_end = 1, r, NULL)) FROM n GROUP BY k ORDER BY k" >expected
    query "SELECT start_b, first_record, first_ns, min_ns, min_b, min_record, max_ns, max_b, max_record, last_ns, last_b, last_record
      FROM usage_chunk WHERE device_id = $id ORDER BY id" >came
    same "chunks" expected came
}

# Buckets against all changes: the level a bucket begins with counts, so does each change in it.
check_buckets() { # N
    ask timeline "$run" --width "$1" >buckets
    awk -F, -v start="$start_b" '
        FILENAME == "exact" { t[NR] = $1; level[NR] = $3; n = NR; next }
        { from[++k] = $1; to[k] = $2; came[k] = $3 "," $4 "," $5 }
        END {
            at = 1; last = start
            for (i = 1; i <= k; i++) {
                least = most = last
                for (; at <= n && (t[at] < to[i] || i == k); at++) {
                    last = level[at]
                    if (last < least) least = last
                    if (last > most) most = last
                }
                expected = sprintf("%.0f,%.0f,%.0f", least, most, last)
                if (expected != came[i]) print "bucket " i ": " came[i] " instead of " expected
            }
            if (at <= n || k == 0) print "changes outside every bucket"
        }' exact buckets >wrong
    [ ! -s wrong ] || fail "buckets: $(head -n 3 wrong)"
}

# Bands of a bucket add up to its maximum, and all of them are what is live there by name.
check_bands() {
    ask timeline "$run" --by name --top 5 --width 23 |
        awk -F, '{ sum[$1] += $5; most[$1] = $4 } END { for (k in sum) if (sum[k] != most[k]) print k }' >wrong
    [ ! -s wrong ] || fail "bands do not add up in the buckets from $(head -n 3 wrong) ns"
    ask timeline "$run" --by name --top 1000 --width "$few" >bands
    cut -d, -f1 bands | sort -nu >starts
    while read -r from; do
        awk -F, -v from="$from" '$1 == from { print $2, $4 }' bands | sed 1q | {
            read -r to most
            # The first record of the bucket that reaches its maximum; or the one before it.
            r=$(query "$(levels) SELECT r FROM l WHERE level = $most AND r >= (SELECT max(r) FROM l WHERE t < $from OR r < 0)
              AND t <= $to ORDER BY r LIMIT 1")
            live_by_name "$r" >expected
        }
        # [other] holds what was not live at the peak: names beyond the chosen are not compared.
        awk -F, -v from="$from" '$1 == from && $5 != 0 && $6 != "[other]" { print $5 "," $6 }' bands | sort >came
        [ -z "$(comm -13 expected came)" ] || fail "bands from $from ns: $(comm -13 expected came | head -n 2)"
    done <starts
}

check_device() { # ID RUN-ID START DUR NAME LIVES-KNOWN
    id=$1 run_id=$2 start_b=$3 dur=$4 device=$5 lives=$6
    random=$((random + 1))
    check_exact
    check_stretches
    check_buckets "$(($(pick 1 60) + 1))"
    # shellcheck disable=SC2046 # numbers
    set -- $(pick_moments "$few" | sort)
    while [ $# -ge 2 ]; do
        if [ "$1" -le "$2" ]; then check_window "$1" "$2"; else check_window "$2" "$1"; fi
        shift 2
    done
    check_steps
    [ "$lives" = 1 ] || return # without addresses nothing is known of lives
    check_peak
    check_bands
    random=$((random + 1))
    for t in $(pick_moments "$few"); do check_moment "$t"; done
}

LOOPS=$SAMPLES/../tests/loops
for trace in "$SAMPLES"/*/trace.json.gz "$SAMPLES"/snapshots/*.pickle "$LOOPS"/list_and_writer.json.gz "$LOOPS"/inference_threads.json.gz "$DATA"/torch/*/*/trace.json.gz \
    "$DATA"/kineto_others/resnet50*.json.gz "$DATA"/snapshots/*.p*kl*; do
    [ -f "$trace" ] || continue
    case $trace in "$SAMPLES"/*) few=3 ;; *) few=1 ;; esac
    run=r$((seen += 1))
    rm -f t.db
    "$MEMTOOL" import "$trace" --db t.db --name "$run" >log 2>&1 || { echo "FAIL import $trace"; fails=$((fails + 1)); }
    query "SELECT d.id, r.id, d.start_b, r.dur_ns, d.name, d.at_end_b IS NOT NULL FROM device d JOIN run r ON r.id = d.run_id" | tr , ' ' >devices
    while read -r row <&3; do
        # shellcheck disable=SC2086 # the words of a row
        check_device $row
    done 3<devices
done
if [ $seen -lt 5 ] || [ $compared -lt $((seen * 5)) ]; then
    echo "FAIL only $seen recordings, $compared comparisons"
    fails=$((fails + 1))
fi
echo "$seen recordings, $compared comparisons, $fails complaints"
[ $fails = 0 ]
