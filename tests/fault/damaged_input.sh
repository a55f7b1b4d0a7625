#!/bin/sh
# Compressed recordings that were cut, or had some bytes changed: it is the compressed data that are
# named, not the rubbish that came out of them; exit 2; nothing is imported. With --partial a cut
# file gives what came before the cut.
set -u
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
trace=$SAMPLES/cnn_b16/trace.json.gz
gzip -dc "$trace" >plain.json
cp "$trace" whole.gz
if command -v zstd >/dev/null 2>&1; then zstd -q plain.json -o whole.zst; fi

refused() { # FILE WORD
    "$MEMTOOL" import "$1" --db t.db >out 2>err
    status=$?
    [ $status = 2 ] || fail "$1 ($3): exit $status"
    grep -q "$2" err || fail "$1 ($3): no word of '$2'"
    grep -q 'Nothing was imported' err || fail "$1 ($3): no word of what was done"
    tried=$((tried + 1))
}

tried=0
for whole in whole.*; do
    size=$(wc -c <"$whole")
    kind=gzip
    [ "$whole" = whole.zst ] && kind=zstd
    for at in 5 11 17 18 100 777 5000 20011 $((size / 2)) $((size - 9)) $((size - 8)) $((size - 1)); do
        head -c "$at" "$whole" >cut.bin
        refused cut.bin "$kind data is cut off" "$kind at $at"
    done
    for at in 12 30 200 300 400 500 1000 5000 20000 30000 40000 50000 60000 $((size - 20)) $((size - 3)); do
        cp "$whole" damaged.bin
        printf '\252\125\252' | dd of=damaged.bin bs=1 seek="$at" conv=notrunc 2>/dev/null
        refused damaged.bin "$kind data is \(damaged\|cut off\)" "$kind at $at"
    done
    head -c $((size / 2)) "$whole" | "$MEMTOOL" import - --db t.db --name "half-$kind" --partial >out 2>err ||
        fail "$kind: --partial keeps nothing of a cut file"
    grep -q 'the file ends early' out || fail "$kind: --partial does not say that the file is cut"
done

# A plain file, cut: the place is named.
head -c 100000 plain.json >cut.json
refused cut.json 'cut off (at byte 100,000, line' plain
runs=$("$MEMTOOL" query --db t.db --format csv "SELECT count(*) FROM run WHERE name NOT LIKE 'half-%'" | tail -n 1)
[ "$runs" = 0 ] || fail "$runs damaged files were imported"
echo "$tried damaged files refused"
