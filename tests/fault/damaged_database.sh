#!/bin/sh
# Commands on a database that somebody changed by hand: they report or refuse, and never crash.
# tests/unit/test_strange_db.c does the same to what commands are made of, with more changes.
set -u
fail() {
    echo "FAIL $*"
    exit 1
}
"$MEMTOOL" import "$SAMPLES/cnn_b16/trace.json.gz" --db sound.db --name cnn >/dev/null 2>&1 || fail "import"
"$MEMTOOL" import "$SAMPLES/snapshots/basic.pickle" --db sound.db --name gpu >/dev/null 2>&1 || fail "import"
"$MEMTOOL" import "$SAMPLES/process/printed.log" --db sound.db --name log >/dev/null 2>&1 || fail "import"

while read -r change; do
    cp sound.db t.db
    python3 -c "import sqlite3, sys; c = sqlite3.connect('t.db'); c.executescript(sys.argv[1]); c.commit()" "$change" ||
        fail "$change"
    while read -r command; do
        for run in cnn gpu log; do
            # shellcheck disable=SC2046 # words
            timeout 60 "$MEMTOOL" $(echo "$command" | sed "s/RUN/$run/g") --db t.db >out 2>err
            status=$?
            ! grep -qE 'Sanitizer|runtime error' err || fail "memtool $command of $run after: $change; $(head -n 3 err)"
            [ $status -le 3 ] || fail "exit $status: memtool $command of $run after: $change; $(tail -n 3 err)"
            [ $status != 2 ] || [ -s err ] || fail "memtool $command of $run does not say why it refuses, after: $change"
        done
    done <<COMMANDS
timeline RUN --exact --format csv
timeline RUN --by site
flame RUN
advise RUN
diff RUN RUN --by category
export RUN --format collapsed -o -
leaks RUN --by path
memory RUN
memory RUN --per step
info RUN
COMMANDS
done <<CHANGES
UPDATE run SET format = 'record'; INSERT OR REPLACE INTO meta SELECT id, 0, 'cpu_ms', '9223372036854775807' FROM run
UPDATE run SET record_n = 0
UPDATE run SET record_n = record_n / 2
UPDATE usage_chunk SET first_record = 2000000000; UPDATE run SET record_n = 0
UPDATE node SET parent_id = (SELECT max(id) FROM node)
UPDATE alloc SET bytes_b = -bytes_b, tensor_id = 77777777
UPDATE step SET end_ns = start_ns - 1
UPDATE op SET parent_id = id
UPDATE run SET kind = (kind + 1) % 4
UPDATE run SET kind = 3
CHANGES
echo ok
