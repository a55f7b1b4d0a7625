#!/bin/sh
# Deleting a run leaves nothing of it behind, and what is beside it as it was: for those who read and
# import meanwhile too, and when it is killed half way.
set -u
changing=
fail() {
    echo "FAIL $*"
    [ -z "$changing" ] || kill $changing
    exit 1
}
ask() { # SQL: the rows
    "$MEMTOOL" query --db t.db --format csv "$1" | tail -n +2
}
rows() { # how many rows each table has
    for table in $(ask "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"); do
        echo "$table $(ask "SELECT count(*) FROM $table")"
    done
}
add() { # FILE NAME
    "$MEMTOOL" import "$SAMPLES/$1" --db t.db --name "$2" >/dev/null 2>err || { cat err; fail "import $1"; }
}
delete() {
    "$MEMTOOL" runs --db t.db --delete "$@" >/dev/null 2>err || { cat err; fail "delete $*"; }
}

add nested/trace.json.gz kept
[ "$(rows | wc -l)" -ge 20 ] || fail "not all tables are counted"
rows >before
"$MEMTOOL" table kept --db t.db --format json >kept.json
for file in leak_steps/trace.json.gz fork_async/trace.json.gz snapshots/fragmented.pickle \
    snapshots/unknown_actions.pickle; do
    add $file gone
    rows >between
    cmp -s before between && fail "importing $file adds no row"
    delete gone
    rows | diff before - || fail "deleting $file left rows"
done
add leak_steps/trace.json.gz gone
rows >between
"$MEMTOOL" import "$SAMPLES/cnn_b16/trace.json.gz" --db t.db --name gone --replace >/dev/null || fail "replace"
"$MEMTOOL" import "$SAMPLES/leak_steps/trace.json.gz" --db t.db --name gone --replace >/dev/null || fail "replace"
rows | diff between - || fail "replacing left rows"

# The first run's ids lie below those of the others; what is left goes when all goes.
add snapshots/fragmented.pickle gpu
delete kept gone gpu
rows | grep -v ' 0$' | grep . && fail "an empty database has rows"
"$MEMTOOL" runs --db t.db --shrink | grep -q shrank || fail "--shrink says nothing"
[ "$(wc -c <t.db)" -le 350000 ] || fail "shrunk, an empty database has $(wc -c <t.db) bytes"

add nested/trace.json.gz kept
rows | diff before - || fail "an import after all was deleted"
"$MEMTOOL" table kept --db t.db --format json | sed 's/"id":[0-9]*/"id":1/' | diff kept.json - ||
    fail "the run beside it changed"

# Beside others: every reader gets the whole answer, or that there is no such run.
add leak_steps/trace.json.gz gone
"$MEMTOOL" leaks gone --db t.db --format csv >whole.csv || fail "leaks"
(
    for _ in 1 2 3 4 5 6; do
        "$MEMTOOL" runs --db t.db --delete gone >/dev/null 2>>changes.err
        "$MEMTOOL" import "$SAMPLES/leak_steps/trace.json.gz" --db t.db --name gone >/dev/null 2>>changes.err
    done
    touch ended
) &
changing=$!
while [ ! -e ended ]; do
    "$MEMTOOL" table kept --db t.db --format json 2>read.err | sed 's/"id":[0-9]*/"id":1/' >read.json
    cmp -s kept.json read.json || { cat read.err; fail "who reads another run meanwhile gets something else"; }
    if "$MEMTOOL" leaks gone --db t.db --format csv >read.csv 2>read.err; then
        cmp -s whole.csv read.csv || { cat read.csv; fail "half a run was read"; }
    else
        grep -q "there is no run 'gone'" read.err || { cat read.err; fail "reading a run that goes"; }
    fi
done
wait
changing=
[ ! -s changes.err ] || { cat changes.err; fail "changes beside readers"; }

rows >between
for delay in 0.002 0.005 0.01 0.02 0.04; do
    "$MEMTOOL" runs --db t.db --delete gone >/dev/null 2>&1 &
    pid=$!
    sleep $delay
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    rows >after
    cmp -s before after || cmp -s between after || { diff between after; fail "half a run is left"; }
    "$MEMTOOL" import "$SAMPLES/leak_steps/trace.json.gz" --db t.db --name gone >/dev/null 2>&1 || fail "import again"
done

# A run that is deleted while it is recorded is not there to be shown.
"$MEMTOOL" record --db t.db --name live -- sh -c 'while [ ! -e deleted ]; do sleep 0.05; done' 2>record.err &
changing=$!
while [ "$(ask "SELECT count(*) FROM run WHERE name = 'live'")" != 1 ]; do
    kill -0 $changing 2>/dev/null || { cat record.err; fail "record ended"; }
    sleep 0.05
done
delete live
touch deleted
wait $changing
changing=
grep -q "run 'live' was deleted while it was recorded" record.err || { cat record.err; fail "it is not said that the run is gone"; }
if grep -q "memtool timeline" record.err; then
    cat record.err
    fail "what is gone is to be shown"
fi
echo ok
