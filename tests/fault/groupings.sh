#!/bin/sh
# However a snapshot is grouped, the rows of a table add up to the same: also by what needs single blocks,
# and also where the blocks are older than the recording.
set -u
fails=0 seen=0
HOSTILE=$(dirname "$SAMPLES")/tests/hostile

sums() { # FILE KEY
    "$MEMTOOL" table "$1" --db t.db --by "$2,device" --limit 0 --format csv \
        --columns self_net_b,self_at_peak_b,self_at_end_b 2>log |
        awk -F, 'NR > 1 { net += $1; peak += $2; end += $3 } END { printf "%d %d %d", net, peak, end }'
}

for file in "$SAMPLES"/snapshots/*.pickle "$HOSTILE"/older_blocks*.pickle; do
    seen=$((seen + 1))
    "$MEMTOOL" import "$file" --db t.db --name "r$seen" >log 2>&1 || { echo "FAIL import $file"; cat log; fails=$((fails + 1)); }
    want=$(sums "r$seen" name)
    for by in thread step shape forward path,thread; do
        came=$(sums "r$seen" $by)
        [ "$came" = "$want" ] || { echo "FAIL $file by $by: $came, by name $want"; fails=$((fails + 1)); }
    done
done
[ $seen -ge 30 ] || { echo "FAIL only $seen snapshots seen"; fails=$((fails + 1)); }
echo "$seen snapshots, $fails complaints"
[ $fails = 0 ]
