#!/bin/sh
# However a snapshot is grouped, the rows of a table add up to the same: also by what needs single blocks,
# and also where the blocks are older than the recording. What `table` has at the peak, row by row, is
# what `peak` shows.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
seen=0 empty=0
HOSTILE=$(dirname "$SAMPLES")/tests/hostile

table() { # KEYS COLUMNS
    "$MEMTOOL" table "$run" --db t.db --by "$1" --limit 0 --format csv --columns "$2" 2>log | tail -n +2
}

sums() { # KEY
    table "$1,device" self_net_b,self_at_peak_b,self_at_end_b |
        awk -F, '{ net += $1; peak += $2; end += $3 } END { printf "%d %d %d", net, peak, end }'
}

for file in "$SAMPLES"/snapshots/*.pickle "$HOSTILE"/older_block*.pickle; do
    seen=$((seen + 1)) run=r$((seen + 1))
    "$MEMTOOL" import "$file" --db t.db --name $run >log 2>&1 || complain "import $file: $(cat log)"
    want=$(sums name)
    [ "$want" != '0 0 0' ] || empty=$((empty + 1))
    for by in thread step shape forward path,thread; do
        came=$(sums $by)
        [ "$came" = "$want" ] || complain "$file by $by: $came, by name $want"
    done
    table thread self_at_peak_b,thread | sed '/^0,/d' | sort >table.csv
    if "$MEMTOOL" peak $run --db t.db 2>log | grep -q 'no history'; then # nobody knows its peak
        grep -v '^,' table.csv && complain "$file: table knows a peak"
        continue
    fi
    "$MEMTOOL" peak $run --db t.db --by thread --limit 0 --format csv --columns at_peak_b,thread 2>log | tail -n +2 | sort >peak.csv
    diff table.csv peak.csv || complain "$file by thread: < table, > peak"
done
[ $empty -le 5 ] || complain "$empty snapshots of nothing"
[ $seen -ge 30 ] || complain "only $seen snapshots seen"
complained "$seen snapshots"
