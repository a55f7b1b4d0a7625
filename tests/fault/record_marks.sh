#!/bin/sh
# What a program says of itself to `memtool record` (tests/record/phases.c): steps, marks, damaged lines, a recorder that
# is killed, a child that keeps the file open.
set -u
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
cc=${CC:-cc}
"$cc" -O1 -o phases "$here/../record/phases.c" 2>err || fail "the test program does not compile"
export MEMTOOL_DB=t.db
ask() { "$MEMTOOL" query --format csv "$1" 2>>err | tail -n +2; }
near() { # WHAT GOT WANT OFF, of KiB
    if [ -z "$2" ] || [ "$2" -lt $(($3 - $4)) ] || [ "$2" -gt $(($3 + $4)) ]; then
        fail "$1 is $2 KiB, not $3 within $4"
    fi
}

# Meanwhile somebody reads for longer than anybody waits: that only puts the run off.
"$MEMTOOL" import --db read.db "$SAMPLES/nested/trace.json.gz" >/dev/null 2>err || fail "import"
cat >reader.py <<'END'
import sqlite3, time
db = sqlite3.connect("read.db", isolation_level=None)
db.execute("BEGIN")
db.execute("SELECT count(*) FROM run").fetchall()
time.sleep(33)
END
python3 reader.py 2>reader.err &
(
    sleep 1
    "$MEMTOOL" record --db read.db --name late -- ./phases step 1 wait 1000 2>late.err
    echo $? >late
) &

# Each step keeps 10 MiB more; what it has at its end is what the program reads of itself then.
"$MEMTOOL" record --name steps -- ./phases rss step 0 malloc 10 wait 120 rss step 1 malloc 10 mark 1 spike 30 wait 120 rss \
    step 2 malloc 10 wait 120 rss step -1 mark 2 free wait 200 rss >out 2>err || fail "exit $?"
[ "$(ask "SELECT group_concat(number, ' ') FROM v_step WHERE run = 'steps'")" = "0 1 2" ] || fail "the steps are others"
for step in 0 1 2; do
    read -r has _ <<END
$(sed -n $((step + 2))p out)
END
    got=$("$MEMTOOL" memory steps --step $step --format csv 2>>err | awk -F, '$2 == "rss" { print int($3 / 1024) }')
    near "rss at the end of step $step" "$got" "$has" 128
done
peak=$("$MEMTOOL" memory steps --step 1 --format csv 2>>err | awk -F, '$2 == "rss" { print int($4 / 1024) }')
# The kernel does not count every page at once in the highest (record_check.sh).
cores=$(getconf _NPROCESSORS_ONLN)
late=$((2 * cores * (cores > 16 ? 2 * cores : 32) * $(getconf PAGESIZE) / 1024))
[ $late -lt 10240 ] || late=10240 # of the 30 MiB of the spike
near "the peak of step 1" "$peak" $((has - 10240 + 30720)) $((late > 256 ? late : 256))
# They follow each other, around the first mark, and end before the second.
[ "$(ask "SELECT count(*) FROM v_step WHERE run = 'steps' AND end_ns - start_ns >= 110000000")" = 3 ] || fail "steps are shorter"
[ "$(ask "SELECT count(*) FROM v_step a JOIN v_step b USING (run) WHERE run = 'steps' AND b.number = a.number + 1 AND b.start_ns = a.end_ns")" = 2 ] ||
    fail "steps do not follow each other"
[ "$(ask "SELECT group_concat(s.number, ' ') FROM v_step s JOIN v_event e USING (run) WHERE run = 'steps' AND e.text = 'mark 1'
    AND e.time_ns BETWEEN s.start_ns AND s.end_ns")" = 1 ] || fail "the first mark is in another step"
[ "$(ask "SELECT max(s.end_ns) <= e.time_ns FROM v_step s JOIN v_event e USING (run) WHERE run = 'steps' AND e.text = 'mark 2'")" = 1 ] ||
    fail "the last step does not end before the second mark"
[ "$(ask "SELECT group_concat(text, '+') FROM v_event WHERE run = 'steps'")" = "mark 1+mark 2" ] || fail "the marks are others"
read -r last _ <<END
$(sed -n 5p out)
END
got=$("$MEMTOOL" memory steps --from '@mark mark 1' --to '@mark mark 2' --format csv 2>>err | awk -F, '$2 == "rss" { print int($3 / 1024) }')
near "rss up to the second mark" "$got" "$has" 128
"$MEMTOOL" timeline steps --step 1 >out 2>>err || fail "no picture of a step"
"$MEMTOOL" info steps --format csv | grep -q "step_marker,memtool:step" || fail "info does not tell where the steps are from"
near "the last rss" "$(ask "SELECT last_b / 1024 FROM usage_chunk c JOIN device d ON d.id = c.device_id JOIN run r ON r.id = d.run_id WHERE r.name = 'steps' ORDER BY c.id DESC LIMIT 1")" "$last" 128

# Of lines that say nothing some are shown; numbers that do not rise are the next ones.
"$MEMTOOL" record --name bad -- ./phases malloc 40 step 5 wait 20 step 5 bad 3 wait 20 step 4 wait 20 2>err || fail "exit $?"
[ "$(ask "SELECT group_concat(number, ' ') FROM v_step WHERE run = 'bad'")" = "5 6" ] || fail "steps that do not rise"
ask "SELECT text FROM v_note WHERE run = 'bad'" | grep -q '3 lines .* were left out: neither a step nor a mark, such as ""memtool:pets 2""' ||
    fail "damaged lines are not noted"
"$MEMTOOL" check bad --max-peak 1GB >out 2>err || fail "damaged lines keep a limit from being judged"

# As many as there are: none is lost, the program does not wait.
# shellcheck disable=SC2016 # for the shell that is recorded
"$MEMTOOL" record --name many -- sh -c 'i=0; while [ $i -lt 3000 ]; do echo "memtool:step $i" >&$MEMTOOL_FD; i=$((i + 1)); done' 2>err || fail "exit $?"
[ "$(ask "SELECT count(*) FROM v_step WHERE run = 'many'")" = 3000 ] || fail "steps are lost"

# More than can be written: the true reason is said, be that the program or a database that somebody else has.
cat >flood.py <<'END'
import os, sqlite3, sys, time
n, keep = int(sys.argv[1]), float(sys.argv[2])
if keep:
    time.sleep(1.3)
    other = sqlite3.connect("t.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    # So many are written at once: the recorder waits for the database from now on, whenever that is.
    os.write(int(os.environ["MEMTOOL_FD"]), b"".join(b"memtool:step %d\n" % i for i in range(3000)))
    time.sleep(keep)
os.write(int(os.environ["MEMTOOL_FD"]), b"".join(b"memtool:step %d\n" % i for i in range(n)))
if keep:
    time.sleep(2)
    other.close()
END
lost() { ask "SELECT text FROM v_note WHERE run = '$1' AND kind = 'unwatched'"; }
"$MEMTOOL" record --name flood -- python3 flood.py 300000 0 2>err || fail "exit $?"
lost flood | grep -q "values came faster than they can be written, [0-9]* are lost" || fail "a flood: $(lost flood)"
if lost flood | grep -q "database"; then fail "a flood is said to be the database's: $(lost flood)"; fi
"$MEMTOOL" record --name busy -- python3 flood.py 30000 2.5 2>err || fail "exit $?"
[ "$(ask "SELECT count(*) FROM v_step WHERE run = 'busy'")" -ge 3000 ] || fail "what a busy database did not take at once is lost"
lost busy | grep -q "the database was busy, [0-9]* values are lost" || fail "a busy database: $(lost busy)"

# What the program says takes time, too, but looks are not rarer for it.
cat >talk.py <<'END'
import os, time
begun = time.time()
while time.time() - begun < 6:
    os.write(int(os.environ["MEMTOOL_FD"]), b"memtool:step 1\n" * 100)
END
"$MEMTOOL" record --name talk -- python3 talk.py 2>err || fail "exit $?"
got=$(ask "SELECT CAST(value AS TEXT) FROM meta m JOIN run r ON r.id = m.run_id WHERE r.name = 'talk' AND key = 'interval_ms'")
[ "${got:-9999}" -le 1000 ] || fail "looks are $got ms apart, for the program says much"

printf 'memtool:mark no newline' >line
# shellcheck disable=SC2016
"$MEMTOOL" record --name last -- sh -c 'cat line >&$MEMTOOL_FD' 2>err || fail "exit $?"
[ "$(ask "SELECT text FROM v_event WHERE run = 'last' AND action = 'mark'")" = "no newline" ] || fail "the last line is lost"

# A child that has the file open keeps nobody waiting; a recorder that is killed hurts nobody.
begin=$(date +%s)
"$MEMTOOL" record --name linger -- ./phases step 1 linger 20000 2>err || fail "exit $?"
[ $(($(date +%s) - begin)) -lt 15 ] || fail "a child that keeps the file open is waited for"
"$MEMTOOL" record --name killed -- sh -c './phases step 1 wait 3000 step 2 bad 5000 && echo done >after' 2>err &
recorder=$!
sleep 2
kill -KILL $recorder
wait $recorder 2>>err
[ "$(ask "SELECT group_concat(number, ' ') FROM v_step WHERE run = 'killed'")" = 1 ] || fail "a step under way is lost"
for _ in 1 2 3 4 5 6 7 8; do
    [ -e after ] && break
    sleep 1
done
[ -e after ] || fail "a program that speaks to a recorder that is dead ends"

wait
[ "$(cat late)" = 0 ] || fail "somebody who reads for long ends a recording: exit $(cat late), $(cat late.err)"
[ "$("$MEMTOOL" query --db read.db --format csv "SELECT group_concat(number, ' ') FROM v_step WHERE run = 'late'" | tail -n 1)" = 1 ] ||
    fail "what was seen while somebody read for long is lost: $(cat late.err)"
