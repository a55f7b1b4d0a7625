#!/bin/sh
# How close the figures of a file in whole microseconds (PyTorch up to 2.3) come. Recordings in
# nanoseconds are cut to whole microseconds as those versions cut them; the self figures per name
# then differ from the true ones by no more than is stated here and in docs/attribution.md.
set -u
fails=0

cut_to_us() { # times as Kineto cut them: begin and end, each down to its microsecond
    awk '
        /^ *"ts": [0-9]/ { t = $0; gsub(/[^0-9.]/, "", t); sub(/[0-9.]+/, sprintf("%.0f", int(t + 0.0001))) }
        /^ *"dur": [0-9]/ {
            d = $0; gsub(/[^0-9.]/, "", d)
            sub(/[0-9.]+/, sprintf("%.0f", int(t + d + 0.0001) - int(t + 0.0001)))
        }
        { print }'
}

self_figures() { # RUN: name, allocated, freed
    "$MEMTOOL" table "$1" --db t.db --limit 0 --format tsv --columns name,self_alloc_b,self_freed_b | tail -n +2
}

close_enough() { # SAMPLE MOST-ALLOCATED MOST-FREED, in bytes that may stand under another name
    gzip -dc "$SAMPLES/$1/trace.json.gz" >exact.json
    cut_to_us <exact.json >cut.json
    "$MEMTOOL" import exact.json --db t.db --name "exact-$1" >/dev/null 2>&1 || echo "FAIL $1: import"
    "$MEMTOOL" import cut.json --db t.db --name "cut-$1" >/dev/null 2>&1 || echo "FAIL $1: import, cut"
    "$MEMTOOL" info "cut-$1" --db t.db --format tsv | grep -q 'time_resolution.*1 us' ||
        { echo "FAIL $1: not in whole microseconds"; fails=$((fails + 1)); }
    self_figures "exact-$1" >exact.tsv
    self_figures "cut-$1" >cut.tsv
    awk -F '\t' -v name="$1" -v most_a="$2" -v most_f="$3" '
        FNR == NR { a[$1] += $2; f[$1] += $3; total += $2; next }
        { a[$1] -= $2; f[$1] -= $3 }
        END {
            for (n in a) { da += a[n] < 0 ? -a[n] : a[n]; df += f[n] < 0 ? -f[n] : f[n] }
            printf "%s: of %.0f bytes, %.0f allocated and %.0f freed are counted elsewhere\n", name, total, da / 2, df / 2
            exit total == 0 || da / 2 > most_a || df / 2 > most_f
        }' exact.tsv cut.tsv || { echo "FAIL $1: more than $2 and $3"; fails=$((fails + 1)); }
}

close_enough cnn_b16 16 156
close_enough cnn_stack 8 152
close_enough leak_steps 39584 2102236
close_enough checkpoint 0 2097168
[ $fails = 0 ]
