#!/bin/sh
# Several importers of one database at once lose nothing; a killed one leaves nothing behind.
set -u
fail() {
    echo "FAIL $*"
    exit 1
}
runs() {
    "$MEMTOOL" query --db t.db --format csv "SELECT count(*) FROM run" | tail -n 1
}

for name in basic nested loop cnn_b16; do
    "$MEMTOOL" import "$SAMPLES/$name/trace.json.gz" --db t.db --name "$name" >/dev/null 2>"$name.err" &
done
wait
[ "$(runs)" = 4 ] || { cat ./*.err; fail "4 importers at once stored $(runs) runs"; }
! grep -q locked ./*.err || fail "a user saw 'locked'"

# Who has stored a file keeps nobody from storing the next: no statement of it is still under way.
for round in 1 2 3 4; do
    rm -f many.db
    for group in a b c; do
        "$MEMTOOL" import "$SAMPLES"/cnn_b16/trace.json.gz "$SAMPLES"/cnn_b32/trace.json.gz \
            "$SAMPLES"/leak_steps/trace.json.gz "$SAMPLES"/cnn_stack/trace.json.gz \
            --db many.db --group $group >/dev/null 2>$group.err || echo "round $round failed" >>$group.err &
    done
    wait
    ! grep -q 'locked\|failed' [abc].err || fail "$(cat [abc].err)"
done
n=$("$MEMTOOL" query --db many.db --format csv "SELECT count(*) FROM run_group" | tail -n 1)
[ "$n" = 12 ] || fail "4 files in 3 groups are $n in all"

for delay in 0.01 0.03 0.05 0.08 0.12; do
    "$MEMTOOL" import "$SAMPLES/leak_steps/trace.json.gz" --db t.db --name killed >/dev/null 2>&1 &
    pid=$!
    sleep $delay
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    n=$(runs)
    [ "$n" = 4 ] || [ "$n" = 5 ] || fail "after a kill there are $n runs"
    orphans=$("$MEMTOOL" query --db t.db --format csv "SELECT count(*) FROM op WHERE id >
        (SELECT max(op_first + op_n - 1) FROM run)" | tail -n 1)
    [ "$orphans" = 0 ] || fail "a killed import left $orphans ops"
done
"$MEMTOOL" import "$SAMPLES/leak_steps/trace.json.gz" --db t.db >/dev/null 2>&1 || fail "import after kills"
[ "$(runs)" = 5 ] || fail "at the end there are $(runs) runs"

# A database that is replaced while its import reads: the new one is left alone, and it is said why.
cp t.db other.db
mkfifo pipe
"$MEMTOOL" import pipe --db t.db --name late >/dev/null 2>late.err &
pid=$!
exec 3>pipe # it reads
mv other.db t.db
cat "$SAMPLES/cnn_b32/trace.json.gz" >&3
exec 3>&-
wait $pid && fail "an import into a database that is gone succeeds"
grep -q 'removed or replaced meanwhile' late.err || fail "$(cat late.err)"
[ "$(runs)" = 5 ] || fail "the new database has $(runs) runs"
echo ok
