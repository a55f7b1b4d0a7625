#!/bin/sh
# `memtool record` of a program whose memory is known (tests/record/phases.c): figures, exit codes, signals, children, a
# recorder that is killed.
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
# a figure in KiB, and what it must be, within so many
near() { # WHAT GOT WANT OFF
    if [ -z "$2" ] || [ "$2" -lt $(($3 - $4)) ] || [ "$2" -gt $(($3 + $4)) ]; then
        fail "$1 is $2 KiB, not $3 within $4"
    fi
}

# What the program reads of itself is what was recorded of those phases. It says when: no time is the same everywhere.
"$MEMTOOL" record --name parts -- ./phases wait 150 malloc 100 wait 1000 rss mark 1 free wait 1000 rss mark 2 spike 150 file 30 shared 20 wait 300 rss >out 2>err ||
    fail "exit $?"
read -r held _ <<END
$(sed -n 1p out)
END
read -r freed _ <<END
$(sed -n 2p out)
END
read -r last peak <<END
$(sed -n 3p out)
END
at() { "$MEMTOOL" memory parts --to "$1" --format csv 2>>err | awk -F, -v m="$2" '$2 == m { print int($3 / 1024) }'; }
near "rss with 100 MiB" "$(at '@mark mark 1' rss)" "$held" 512
near "anonymous with 100 MiB" "$(at '@mark mark 1' anon)" 102400 512
near "rss after the free" "$(at '@mark mark 2' rss)" "$freed" 512
near "the last rss" "$(at @end rss)" "$last" 512
near "mapped files at the end" "$(at @end file)" 31744 2048
near "shared at the end" "$(at @end shmem)" 20480 64
near "the peak, a spike" "$(ask "SELECT peak_b / 1024 FROM v_device WHERE run = 'parts'")" "$peak" 256
grep -q "peak rss 15[0-9]" err || fail "the summary does not tell the peak"
[ "$(ask "SELECT count(*) FROM v_note WHERE run = 'parts'")" = 0 ] || fail "a whole recording has a note"

# Where nothing changes looks are rarer; what comes then is seen nevertheless, a child, too.
"$MEMTOOL" record --name calm -- ./phases wait 2000 2>err || fail "exit $?"
n=$(ask "SELECT record_n FROM run WHERE name = 'calm'")
if [ "$n" -lt 30 ] || [ "$n" -gt 120 ]; then fail "2 s without a change are looked at $n times"; fi
"$MEMTOOL" record --name late -- ./phases wait 1000 malloc 30 wait 300 child 20 wait 300 2>err || fail "exit $?"
near "what came after calm" "$(ask "SELECT peak_b / 1024 FROM v_device WHERE run = 'late' AND device = 'process'")" 32000 1200
[ "$(ask "SELECT count(*) FROM v_device WHERE run = 'late' AND peak_b > 15000000 AND device LIKE 'process:%'")" = 1 ] ||
    fail "a child that came after calm was not seen"

# The peak of a command that ends at once is the kernel's. Where that is no more than a new process has, what was seen
# of it is a lower bound.
"$MEMTOOL" record --interval 60s --name short -- ./phases malloc 3 2>err || fail "exit $?"
peak=$(ask "SELECT peak_b / 1024 FROM v_device WHERE run = 'short' AND peak_b IS NOT NULL")
if [ -n "$peak" ] && [ "$(ask "SELECT count(*) FROM v_note WHERE run = 'short' AND kind LIKE 'peak_%'")" = 0 ]; then
    near "the peak of a short command" "$peak" 4300 1200
fi
if "$MEMTOOL" check short --max-peak 1MB >out 2>>err; then fail "a short command keeps a limit that it exceeded"; fi
for i in 1 2 3 4 5; do
    "$MEMTOOL" record --name "tiny$i" -- ./phases exit 0 2>err || fail "exit $?"
    grep -Eq "; peak rss [1-9][.0-9]* MiB at most" err || fail "the summary does not say what a tiny command has at most"
    if "$MEMTOOL" check "tiny$i" --max-peak 600KB >out 2>>err; then fail "a tiny command keeps a limit that it exceeded"; fi
    "$MEMTOOL" check "tiny$i" --max-peak 100MB >out 2>>err || fail "a limit is not kept though the most is known"
done

# A run has the name of the script that an interpreter runs, but of no other's first argument.
for program in sh3.1 shuf node_exporter; do
    cp phases $program
    "$MEMTOOL" record -- ./$program exit 0 2>err || fail "exit $?"
done
[ "$(ask "SELECT count(*) FROM run WHERE name IN ('exit', 'shuf', 'node_exporter')")" = 3 ] || fail "names of programs: $(ask "SELECT name FROM run")"

# What a child had that nobody saw is not the command's, and not forgotten. It starts late, as the first look may be late.
"$MEMTOOL" record --interval 60000 --name unseen -- sh -c 'sleep 1; ./phases malloc 60; exit 0' 2>err || fail "exit $?"
grep -q "peak rss 6[01][.0-9]* MiB, of it or of a child" err || fail "the summary has no peak that the system counted"
[ "$(ask "SELECT count(*) FROM v_device WHERE run = 'unseen' AND peak_b > 20000000")" = 0 ] || fail "a device has what nobody saw"
ask "SELECT text FROM v_note WHERE run = 'unseen' AND kind = 'peak_unseen'" | grep -q "a child of it, had 6[01]" || fail "nothing tells of an unseen child"
"$MEMTOOL" check unseen --max-peak 40MB >out 2>err
[ $? = 1 ] || fail "a child that had more than a limit keeps it"
grep -q "peak of process or a child of it is 6[01]" out || fail "what broke the limit is not named"
"$MEMTOOL" check unseen --max-peak 70MB >out 2>err || fail "a limit that no process can have broken is broken"
"$MEMTOOL" record --name waited -- sh -c './phases malloc 100 wait 300; exit 0' 2>err || fail "exit $?"
"$MEMTOOL" check waited --max-peak 1GB >out 2>err || fail "children that were small make a peak unknown"

# It ends as the command did, which has its input; what cannot be run is no run.
for ends in "exit 7=7" "kill 9=137" "kill 11=139" "exit 0=0"; do
    # shellcheck disable=SC2086 # two words
    ("$MEMTOOL" record -- ./phases malloc 1 ${ends%=*} >out 2>err)
    status=$?
    [ $status = "${ends#*=}" ] || fail "${ends%=*} is exit $status"
done
grep -q "exit 0" err || fail "the summary does not tell how it ended"
[ "$(echo hello | "$MEMTOOL" record -- cat 2>err)" = hello ] || fail "the command has no input"
"$MEMTOOL" record --name none -- ./nowhere 2>err
[ $? = 127 ] || fail "a command that is not there is no exit 127"
"$MEMTOOL" record --name none -- /dev/null 2>err
[ $? = 126 ] || fail "a command that cannot be run is no exit 126"
[ "$(ask "SELECT count(*) FROM run WHERE name = 'none'")" = 0 ] || fail "what did not run is a run"
"$MEMTOOL" record --name parts -- touch ran 2>err
if [ $? != 2 ] || [ -e ran ]; then fail "a name that is taken does not keep the command from running"; fi
# Without the two dashes options end where the command begins: what it is given is its own.
[ "$("$MEMTOOL" record --name bare echo --name other --db x.db -v --help 2>err)" = '--name other --db x.db -v --help' ] ||
    fail "a command has lost options"
[ "$(ask "SELECT count(*) FROM run WHERE name = 'bare'")" = 1 ] || fail "options of the command are ours"
"$MEMTOOL" record --name "it's 5" -- true 2>err || fail "exit $?"
"$MEMTOOL" record --name "it's 5" -- true 2>err
grep -q "memtool runs --delete 'it'\\\\''s 5'" err || fail "a name with blanks cannot be deleted as it is said"
for wrong in 0 0s 1.5ms 60001 61s soon -1; do
    "$MEMTOOL" record --interval "$wrong" -- touch ran 2>err
    if [ $? != 2 ] || [ -e ran ]; then fail "--interval $wrong"; fi
    grep -q -- "--interval takes 1ms to 60s, not \"$wrong\"" err || fail "it is not said what --interval takes"
done
for right in 20 20ms 0.02s 60s; do
    "$MEMTOOL" record --interval "$right" --name "every $right" -- true 2>err || fail "--interval $right is refused"
done

"$MEMTOOL" record --db nowhere/x.db -- touch ran 2>err
if [ $? != 2 ] || [ -e ran ]; then fail "a database that cannot be opened"; fi
grep -q "nowhere/x.db" err || fail "the database that cannot be opened is not named"

# Signals are for the command.
"$MEMTOOL" record --name stopped -- ./phases malloc 3 wait 20000 2>err &
recorder=$!
sleep 1
kill -TERM $recorder
wait $recorder
status=$?
[ $status = 143 ] || fail "SIGTERM is exit $status"
grep -q SIGTERM err || fail "the summary does not tell the signal"

# Children and orphans are devices of their own; those that end at once are none, and do no harm.
"$MEMTOOL" record --name family -- ./phases child 60 malloc 10 wait 100 orphan 40 wait 500 many 300 2>err || fail "exit $?"
sizes=$(ask "SELECT peak_b / 1048576 FROM v_device WHERE run = 'family' AND peak_b > 20000000 ORDER BY 1")
[ "$(echo "$sizes" | wc -l)" = 2 ] || fail "the children are '$sizes'"
near "a child" $(($(echo "$sizes" | sed -n 2p) * 1024)) 61440 2048
near "an orphan" $(($(echo "$sizes" | sed -n 1p) * 1024)) 51200 2048 # with the 10 that its parent had
near "the parent" "$(ask "SELECT peak_b / 1024 FROM v_device WHERE run = 'family' AND device = 'process'")" 11800 1200

# A recorder that is killed leaves what it saw, and says so; the command goes on.
"$MEMTOOL" record --name killed -- sh -c './phases malloc 50 wait 4000; echo done >after' 2>err &
recorder=$!
sleep 3
kill -KILL $recorder
wait $recorder 2>>err
most=$(ask "SELECT max(peak_b) / 1024 FROM v_device WHERE run = 'killed'")
near "what was seen of it" "$most" 52400 1024
ask "SELECT text FROM v_note WHERE run = 'killed'" | grep -q "has not ended" || fail "nothing says that the recorder was killed"
"$MEMTOOL" peak killed --at 900ms >out 2>err || fail "exit $?"
if grep -q "live unknown" out; then fail "what was looked at is unknown"; fi
"$MEMTOOL" check killed --max-peak 1GiB >out 2>err
[ $? = 3 ] || fail "a part of a recording is judged as if it were all"
for _ in 1 2 3 4 5 6 7 8; do
    [ -e after ] && break
    sleep 1
done
[ -e after ] || fail "the command ended with its recorder"

# Another one may write at the same time, and a report is not kept waiting.
"$MEMTOOL" record --name one -- ./phases malloc 30 wait 2500 2>err1 &
recorder=$!
"$MEMTOOL" record --name two -- ./phases malloc 20 wait 1500 2>err || fail "exit $?"
"$MEMTOOL" memory one >out 2>err || fail "no report while it is recorded"
wait $recorder || fail "exit $?"
near "one" "$(ask "SELECT peak_b / 1024 FROM v_device WHERE run = 'one'")" 32000 1024
near "two" "$(ask "SELECT peak_b / 1024 FROM v_device WHERE run = 'two'")" 21700 1024
