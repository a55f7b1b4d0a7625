#!/bin/sh
# Real snapshots of GPUs against what an independent program says of them: levels, their moments, reserved
# bytes, segments, and who holds the peak. Skipped where the recordings,
# which are not ours to copy, are not there.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
seen=0
DATA=${DATA:-$(dirname "$SAMPLES")/tests/recordings}
[ -d "$DATA/snapshots" ] || { echo "needs $DATA/snapshots"; exit 77; }

query() {
    "$MEMTOOL" query --db t.db --format csv "$1" | tail -n +2
}

same() { # WHAT KEY OURS: against the truth's figure
    theirs=$(sed -n "s/^ *\"$2\": \([0-9]*\),*\$/\1/p" "$truth" | tail -n 1)
    [ -n "$theirs" ] || complain "$truth has no $2"
    [ "$theirs" = "$3" ] || complain "$run: $1 is $3, should be $theirs"
}

device() { # COLUMN
    query "SELECT d.$1 FROM run r JOIN device d ON d.run_id = r.id WHERE r.name = '$run'"
}

segments() { # EXPRESSION
    query "SELECT $1 FROM v_segment WHERE run = '$run' AND allocated_b IS NOT NULL"
}

sample() { # EXPRESSION
    query "SELECT $1 FROM run r JOIN sample s ON s.run_id = r.id WHERE r.name = '$run' AND metric = 'reserved'"
}

for truth in "$DATA"/snapshots/*.truth.json; do
    run=$(basename "$truth" .truth.json)
    for file in "${truth%.truth.json}".pkl "${truth%.truth.json}".pickle; do
        [ -f "$file" ] || continue
        "$MEMTOOL" import "$file" --db t.db --name "$run" >/dev/null || complain "import $file"
        seen=$((seen + 1))
    done
    same base base "$(device start_b)"
    same peak requested_peak "$(device peak_b)"
    same end requested_final "$(device 'start_b + d.net_b')"
    same 'end by segments' requested_end "$(device 'start_b + d.net_b + d.residual_b')"
    same 'allocated bytes' alloc_bytes "$(device alloc_b)"
    same allocations alloc_count "$(device alloc_n)"
    same events events "$(query "SELECT event_n FROM run WHERE name = '$run'")"
    same segments segments "$(segments 'count(*)')"
    same 'reserved at the end' reserved_end "$(segments 'sum(size_b)')"
    same 'allocated at the end, rounded' allocated_end "$(segments 'sum(allocated_b)')"
    same 'reserved at the start' reserved_start "$(sample 'value_b' | sed -n 1p)"
    same 'reserved peak' reserved_peak "$(sample 'max(value_b)')"
    same 'unmatched frees' unmatched_frees "$(device before_freed_n)"
    "$MEMTOOL" fragmentation "$run" --db t.db --format csv 2>/dev/null | sed 's/"//g' >fragmentation.csv
    same 'free in segments' free_in_segments "$(awk -F, '$1 == "end" && ($2 == "split" || $2 == "unused") { s += $3 } END { printf "%.0f\n", s }' fragmentation.csv)"
    same 'free stretches' free_blocks "$(awk -F, '$1 == "end" && ($2 == "split" || $2 == "unused") { s += $5 } END { print s }' fragmentation.csv)"
    same 'largest free stretch' largest_free_block "$(awk -F, '$1 == "end" && $2 == "largest_hole" { print $3 }' fragmentation.csv)"
    same 'reserved at its peak' reserved_peak "$(awk -F, '$1 == "reserved peak" && $2 == "reserved" { print $3 }' fragmentation.csv)"
    same 'requested by segments' requested_end "$(awk -F, '$1 == "end" && $2 == "requested" { print $3 }' fragmentation.csv)"
    same 'segments by memory' segments "$("$MEMTOOL" memory "$run" --db t.db --format csv | awk -F, '$2 == "reserved" { print $7 }')"
    same 'older blocks' blocks_older_than_trace_alive "$(query "SELECT count(*) FROM v_alloc WHERE run = '$run' AND alloc_ns IS NULL AND freed_ns IS NULL")"
done
[ $seen = 6 ] || complain "$seen snapshots seen, expected 6"
# Who holds the peak, as their authors would say it.
for run in profile_grad profile_no_grad; do
    "$MEMTOOL" table $run --db t.db --by top --sort self_at_peak_b --limit 0 --format csv --columns top,self_at_peak_b |
        sed -n 's/^"*\(profile_[^",]*\)"*,\(.*\)/\1 \2/p' | grep -v ' 0$' >ours
    tr -d '\n ' <"$DATA/snapshots/$run.truth.json" | sed 's/.*"top_at_peak":\[\[//; s/\]\].*//; s/\],\[/\n/g' |
        awk -F, '{ gsub(/"/, "", $1); sub(/<module>/, " <module>", $1); print $1, $2 }' >theirs
    diff theirs ours || complain "$run: sites at the peak differ (< truth, > memtool)"
done
complained "$seen snapshots"
