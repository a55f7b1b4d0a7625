#!/bin/sh
# `memtool check` of recorded programs whose memory is known (tests/record/phases.c): --max-rss and what comes of it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "FAIL $*"
    cat err* out
    exit 1
}
cc=${CC:-cc}
"$cc" -O1 -o phases "$here/../record/phases.c" 2>err || fail "the test program does not compile"
export MEMTOOL_DB="$PWD/t.db"
record() { # NAME PHASES...
    name=$1
    shift
    "$MEMTOOL" record --name "$name" -- ./phases "$@" >"out.$name" 2>"err.$name" || fail "$name is exit $?"
}
for i in 1 2 3; do PHASES_STEPS=1 record steps$i malloc 30 leak 100 & done
record leak malloc 30 leak 500 &
record flat malloc 30 wait 5000 &
record child child 40 wait 4000 &
wait
check() { # EXIT WORDS ARGUMENT...
    want=$1 words=$2
    shift 2
    "$MEMTOOL" check "$@" >out 2>err
    status=$?
    [ $status = "$want" ] || fail "check $* is exit $status, not $want"
    grep -q -- "$words" out err || fail "check $* does not say '$words'"
}
ask() { "$MEMTOOL" query --format csv "$1" 2>>err | tail -n +2; }

# The peak is that of the kernel, which does not count every page at once: of anonymous pages and of those of files each
# core may have 32 that are not in ru_maxrss yet, or twice as many as there are cores.
cores=$(getconf _NPROCESSORS_ONLN)
late=$((2 * cores * (cores > 16 ? 2 * cores : 32) * $(getconf PAGESIZE)))
peak=$(ask "SELECT peak_b FROM v_device WHERE run = 'flat' AND device = 'process'")
most=$(ask "SELECT value FROM meta m JOIN run r ON r.id = m.run_id WHERE r.name = 'flat' AND key = 'ru_maxrss_b'")
check 0 "^pass  peak rss of process is" flat --max-rss "$peak"
check 1 "^FAIL  peak rss of process is" flat --max-rss $((peak - 1))
if [ "$peak" -lt "$most" ] || [ "$peak" -gt $((most + late)) ]; then fail "the peak is $peak, ru_maxrss $most"; fi
check 1 "^FAIL  peak rss of process:" child --max-rss 30MiB # the child's
check 0 "passed" child --max-rss 80MiB --device process
check 2 "not an op" flat --max-rss 1GiB --op malloc
check 2 "a percentage of what" flat --max-rss 5%

# Looks that are a minute apart: what goes on when the command ends is looked at then, and of what outlived its parent, and
# ended before the command, the system says how much it had.
# shellcheck disable=SC2016 # for the shell that is recorded
"$MEMTOOL" record --interval 60000 --name stays -- \
    sh -c '(./phases malloc 60 rss wait 100000 >flag & echo $! >pid); until grep -q . flag; do sleep 0.1; done' 2>err || fail "exit $?"
kill "$(cat pid)"
grep -q "; 1 process left running$" err || fail "nothing says that a process goes on"
check 1 "^FAIL  peak rss of process:$(cat pid) is 6" stays --max-rss 30MiB
check 0 "^pass  peak rss of process:$(cat pid) is 6" stays --max-rss 90MiB
"$MEMTOOL" record --interval 60000 --name deeper -- \
    sh -c '(sh -c "./phases malloc 60 rss wait 100000 >flag2 & echo \$! >pid2; wait" &); until grep -q . flag2 && [ -s pid2 ]; do sleep 0.1; done' \
    2>err || fail "exit $?"
kill "$(cat pid2)"
grep -q "; 2 processes left running$" err || fail "nothing says that a process and its child go on"
check 1 "^FAIL  peak rss of process:$(cat pid2) is 6" deeper --max-rss 30MiB
# shellcheck disable=SC2016
"$MEMTOOL" record --interval 60000 --name outlives -- \
    sh -c '(sh -c "sleep 1; exec ./phases malloc 60" & echo $! >pid); while kill -0 $(cat pid); do sleep 0.1; done' 2>err || fail "exit $?"
grep -q "left running" err && fail "what has ended is said to go on"
check 1 "^FAIL  peak rss of process or a child of it is 6" outlives --max-rss 30MiB
check 0 "^pass  peak rss of process is at most 6" outlives --max-rss 90MiB

# Growth by the step: 64 KiB. A limit inside the interval is no answer.
check 1 "^FAIL  rss of process grows 6[0-9.]* KiB a step (95 %: " steps1 --max-rss-growth-per-step 32KiB
check 3 "record longer" steps1 --max-rss-growth-per-step 64KiB
check 0 "^pass " steps1 --max-rss-growth-per-step 128KiB
check 1 "over 3 repeats" steps1 steps2 steps3 --max-rss-growth-per-step 32KiB
check 0 "over 3 repeats" steps1 steps2 steps3 --max-rss-growth-per-step 128KiB
check 1 "a minute" steps1 --max-rss-growth-per-minute 1MiB

# By the minute, without steps.
check 1 "^FAIL  rss of process grows" leak --max-rss-growth-per-minute 1MiB
check 0 "^pass  rss of process" leak --max-rss-growth-per-minute 100GiB
check 3 "has no steps; --max-rss-growth-per-minute goes without" leak --max-rss-growth-per-step 1GiB
check 0 "^pass  rss of process is flat: +.* a minute at most" flat --max-rss-growth-per-minute 100MiB
check 3 "it may be more than the limit" flat --max-rss-growth-per-minute 0
check 3 "too short to tell" steps1 --max-rss-growth-per-step 1GiB --warmup 97
"$MEMTOOL" check leak --max-rss-growth-per-minute 1MiB --format json >out 2>err
grep -q '"measured_least_b":[0-9]*,"measured_most_b":[0-9]' out || fail "JSON has no interval"

# Rules in a file; what the peak was in a baseline, and how far its repeats differ.
cat >memtool.json <<'END'
{"schema": "memtool.rules", "version": 1, "rules": [
  {"max-rss": "1GiB", "max-rss-growth": "10%", "max-rss-growth-per-step": "128KiB", "device": "process"}]}
END
"$MEMTOOL" export --baseline steps1 steps2 -o base.json 2>err || fail "export is exit $?"
check 0 "3 rules: 3 passed" steps3 --baseline base.json
check 0 "3 rules: 3 passed" steps3 --baseline steps1 --baseline steps2
check 1 "^FAIL  peak rss of process grew" leak --baseline base.json
rm memtool.json
check 1 "^FAIL  peak rss of process grew" leak --baseline base.json --max-rss-growth 1MiB

# A child that came late, and grows by half of a MiB each 100 ms: check says what leaks says. One that is flat says nothing.
series() { # NAME GROWTH EXIT
    awk -v by="$2" 'BEGIN {
        print "CMDLINE python train.py"
        for (i = 0; i < 1000; i++) {
            printf "MEM 100.0 %.4f\n", 1700000000 + i / 10
            if (i >= 600)
                printf "CHLD 77 %.4f %.4f\n", 50 + (i - 600) * by, 1700000000 + i / 10
        }
    }' >"$1.dat"
    "$MEMTOOL" import "$1.dat" --name "$1" >out 2>err || fail "import of $1.dat is exit $?"
    "$MEMTOOL" leaks "$1" --fail >out 2>err
    status=$?
    [ $status = "$3" ] || fail "leaks --fail of $1 is exit $status, not $3"
}
series late_child 0.5 1
check 1 "^FAIL  rss of process:77 grows 30[0-9.]* MiB a minute" late_child --max-rss-growth-per-minute 1MiB
check 0 "^pass  rss of process:77 grows" late_child --max-rss-growth-per-minute 1GiB
series flat_child 0 0
check 0 "^1 rule: 1 passed" flat_child --max-rss-growth-per-minute 1MiB
"$MEMTOOL" check late_child flat_child --max-rss 1GiB --format junit >out 2>err || fail "check of two runs is exit $?"
[ "$(grep -c 'testcase classname="memtool.process:77" name="[a-z]*_child: max-rss 1GiB"' out)" = 2 ] || fail "two runs with one pid: $(cat out)"
[ -z "$(grep -o 'testcase .*name="[^"]*"' out | sort | uniq -d)" ] || fail "test cases of one name: $(cat out)"

# Runs that are of no process, and runs that are, in one group.
printf '{"traceEvents":[{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{"Total Allocated":64,"Addr":16,"Bytes":64,"Device Id":-1,"Device Type":0}}]}' >trace.json
"$MEMTOOL" import --name trace --group all trace.json >out 2>err || fail "import is exit $?"
check 3 "does not say what a process had in memory" trace --max-rss 1GiB
"$MEMTOOL" runs --set-group all trace flat >out 2>err || fail "--set-group is exit $?"
check 0 "^pass  peak rss of process is" --group all --max-rss 1GiB
check 0 "1 rule for each of 2 runs: 1 passed" --group all --each --max-rss 1GiB

# A recorder that was killed before it saw anything: of that process nothing is known, whatever is beside it.
python3 - <<'EOF' || fail "no run without samples"
import sqlite3
db = sqlite3.connect("t.db")
db.row_factory = sqlite3.Row
run = dict(db.execute("SELECT * FROM run WHERE name = 'flat'").fetchone(), name="unseen", content_hash="recorded-unseen")
del run["id"]
db.execute(f"INSERT INTO run ({', '.join(run)}) VALUES ({', '.join('?' * len(run))})", tuple(run.values()))
db.commit()
EOF
check 3 "the run 'unseen' has no device 'process'" flat unseen --max-rss 1GiB
check 3 "1 rule for each of 2 runs: 1 inconclusive, 1 passed" flat unseen --each --max-rss 1GiB

# A part of a recording: what breaks a limit does so, that nothing does is no answer.
"$MEMTOOL" record --name killed -- ./phases leak 800 2>err &
recorder=$!
sleep 6
kill -KILL $recorder
wait $recorder 2>>err
check 1 "^FAIL  rss of process grows" killed --max-rss-growth-per-minute 1MiB
check 3 "it may be more, as the run 'killed'" killed --max-rss-growth-per-minute 100GiB
check 3 "it may be more, as the run 'killed'" killed --max-rss 1GiB
