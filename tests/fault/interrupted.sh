#!/bin/sh
# Ctrl-C and a reader that goes away: the program ends at once, by the rules, and the database stays
# as it was.
set -u
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
"$MEMTOOL" import "$SAMPLES/basic/trace.json.gz" --db t.db --name basic >/dev/null 2>&1 || exit 1
forever="WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"

# `timeout` gives the signal that Ctrl-C would; 9 must leave the database as sound as 2 does.
for delay in 1.5 6 20; do # a busy machine may not have begun
    timeout --preserve-status -s INT $delay "$MEMTOOL" query --db t.db "$forever count(*) FROM c" >out 2>err
    status=$?
    [ $status = 130 ] || fail "Ctrl-C in a query is exit $status"
    grep -q interrupted err && break
done
grep -q interrupted err || fail "an interrupted query does not say so"
timeout -s KILL 0.5 "$MEMTOOL" query --db t.db "$forever count(*) FROM c" >out 2>err
status=$?
[ $status = 137 ] || fail "a killed query is exit $status"

# An import that waits for more of its input, and one at work.
(printf '{"traceEvents":['; sleep 2) | timeout --preserve-status -s INT 0.5 "$MEMTOOL" import - --db t.db >out 2>err
status=$?
[ $status = 130 ] || fail "Ctrl-C in an import is exit $status"
for delay in 0.02 0.05 0.1; do
    timeout --preserve-status -s INT $delay "$MEMTOOL" import "$SAMPLES/leak_steps/trace.json.gz" --db "u$delay.db" >out 2>err
    status=$?
    [ $status = 130 ] || [ $status = 0 ] || fail "Ctrl-C after $delay s is exit $status"
    [ -e "u$delay.db" ] || continue
    runs=$("$MEMTOOL" query --db "u$delay.db" --format csv "SELECT count(*) FROM run" 2>err | tail -n 1)
    [ $status = 130 ] || [ "$runs" = 1 ] || fail "exit 0 after $delay s, but $runs runs"
done
runs=$("$MEMTOOL" query --db t.db --format csv "SELECT name FROM run" 2>err | tail -n +2)
[ "$runs" = basic ] || fail "the database holds '$runs' now"

# A reader that has seen enough is no failure, and ends the writer.
{ "$MEMTOOL" query --db t.db "$forever x FROM c LIMIT 100000" --format csv 2>err; echo $? >status; } | head -n 1 >out
[ "$(cat status)" = 0 ] || fail "a closed pipe is exit $(cat status)"
[ ! -s err ] || fail "a closed pipe is reported"

# A full disk under standard output is a failure of every command.
while read -r line; do
    # shellcheck disable=SC2086
    "$MEMTOOL" $line --db t.db >/dev/full 2>err
    status=$?
    [ $status = 2 ] || fail "memtool $line >/dev/full is exit $status"
    grep -q 'could not be written' err || fail "memtool $line >/dev/full says nothing"
done <<'LIST'
help
help table
table --help
version
schema
completion bash
completion fish
runs
info
table
table --format json
table --format markdown
table --compat torch
tree
tree --format csv
query runs
LIST
"$MEMTOOL" import "$SAMPLES/nested/trace.json.gz" --db t.db >/dev/full 2>err
status=$?
[ $status = 2 ] || fail "memtool import >/dev/full is exit $status"
echo ok
