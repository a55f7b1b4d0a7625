#!/bin/sh
# `memtool record --pid`: programs that run already (tests/record/phases.c), and what was before.
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
peak() { ask "SELECT peak_b / 1024 FROM v_device WHERE run = '$1' AND device LIKE '$2' AND peak_b > 10000000"; }
near() { # WHAT GOT WANT OFF, of KiB
    if [ -z "$2" ] || [ "$2" -lt $(($3 - $4)) ] || [ "$2" -gt $(($3 + $4)) ]; then
        fail "$1 is $2 KiB, not $3 within $4"
    fi
}
ready() { # FILE: the program has come to where it prints what it has
    for _ in $(seq 100); do
        [ -s "$1" ] && return
        sleep 0.1
    done
    fail "the program does not begin"
}
verdict() { # RUN LIMIT WANTED
    "$MEMTOOL" check "$1" --max-peak "$2" >out 2>>err
    status=$?
    [ $status = "$3" ] || fail "--max-peak $2 of $1 is exit $status, not $3: $(cat out)"
}

# Until it ends: all from then on, with its children, and a peak above what was before.
./phases malloc 100 free rss wait 3000 malloc 20 child 30 wait 300 malloc 150 wait 600 >until &
pid=$!
ready until
timeout -k 1 30 "$MEMTOOL" record --name until --pid $pid 2>err || fail "exit $?"
wait $pid || fail "the program was disturbed: exit $?"
grep -q "process $pid has ended" err || fail "the summary does not tell how it ended"
near "its peak" "$(peak until process)" 175400 2048
near "the child's" "$(peak until 'process:%')" 52400 2048
notes=$(ask "SELECT text FROM v_note WHERE run = 'until'")
echo "$notes" | grep -q "had run for [0-9.]* m\?s when the recording began: .* but its highest rss, 10[01]" || fail "what was before: $notes"
echo "$notes" | grep -q "what a process had after the last sample" || fail "its end: $notes"
"$MEMTOOL" info until --format csv >out 2>>err
grep -q "^file.cmd,.*phases malloc 100" out || fail "the command is not in the run"
grep -q "^file.pid,$pid$" out || fail "the PID is not in the run"
if grep -q "exit_status\|signal\|ru_maxrss" out; then fail "what only its parent knows is known"; fi
verdict until 100MiB 1
verdict until 1GiB 3 # it may have had more after the last sample

# For some time, and until a signal: the process goes on, what it once had is a bound.
./phases malloc 100 free malloc 20 rss wait 99000 >while &
pid=$!
ready while
for run in while1 while2 while3; do # a busy machine may be late
    "$MEMTOOL" record --name "$run" --pid $pid --for 400ms 2>err || fail "exit $?"
    [ "$(ask "SELECT dur_ns <= 900000000 FROM run WHERE name = '$run'")" = 1 ] && break
done
grep -q "process $pid goes on; peak rss at least 21" err || fail "the summary of a process that goes on"
[ "$(ask "SELECT dur_ns BETWEEN 400000000 AND 900000000 FROM run WHERE name = '$run'")" = 1 ] || fail "--for"
verdict "$run" 10MiB 1
verdict "$run" 50MiB 3
verdict "$run" 150MiB 0
for signal in INT TERM HUP; do
    for delay in 0.5 2 8; do # a busy machine may not have begun
        timeout -s $signal -k 30 $delay "$MEMTOOL" record --name by$signal --pid $pid 2>err
        [ $? = 124 ] || fail "SIG$signal does not end it"
        [ -z "$(peak by$signal process)" ] || break
    done
    near "until SIG$signal" "$(peak by$signal process)" 21800 1024
    [ "$(ask "SELECT count(*) FROM v_note WHERE run = 'by$signal' AND kind IN ('cut', 'unwatched')")" = 0 ] || fail "SIG$signal: $(ask "SELECT text FROM v_note WHERE run = 'by$signal'")"
done
timeout -s HUP -k 30 0.5 env --ignore-signal=HUP "$MEMTOOL" record --name nohup --pid $pid --for 1200ms 2>err
[ "$(ask "SELECT dur_ns >= 1200000000 FROM run WHERE name = 'nohup'")" = 1 ] || fail "nohup does not keep it"
kill -0 $pid || fail "the program was ended"

# What it started before is there, and was there.
sh -c './phases malloc 30 rss wait 99000 >family; :' &
parent=$!
ready family
"$MEMTOOL" record --name family --pid $parent --for 300ms 2>err || fail "exit $?"
near "a child that ran before" "$(peak family 'process:%')" 32000 1024
[ "$(ask "SELECT start_b = peak_b FROM v_device WHERE run = 'family' AND peak_b > 10000000")" = 1 ] || fail "a child that ran before had nothing then"
kill $parent $pid "$(ask "SELECT substr(device, 9) FROM v_device WHERE run = 'family' AND device LIKE 'process:%'")"

# What cannot be recorded is said, and nothing is made.
refused() { # WORDS OPTION...
    words=$1
    shift
    "$MEMTOOL" record --db none.db "$@" >out 2>err
    status=$?
    [ $status = 2 ] || fail "$* is exit $status"
    grep -q "$words" err || fail "$*: another message"
    grep -q "^Nothing was recorded" err || fail "$*: not said that nothing was recorded"
}
ended=$(sh -c 'echo $$')
refused "there is no such process" --pid "$ended"
refused "takes the number of a process" --pid 0
refused "takes the number of a process" --pid 99999999999
refused "takes a time like 30s" --pid $$ --for 10
refused "takes a time like 30s" --pid $$ --for 0s
refused "two things" --pid $$ -- true
refused "not for --pid" --pid $$ --malloc
refused "not for --pid" --pid $$ --torch
refused "for is for --pid" --for 3s -- true
refused "no command"
python3 - <<'END' || fail "a process that has ended"
import os, subprocess, sys
child = os.fork()
if not child:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
done = subprocess.run([os.environ["MEMTOOL"], "record", "--db", "none.db", "--pid", str(child)], capture_output=True, text=True)
sys.exit(0 if done.returncode == 2 and "the process has ended" in done.stderr else print(done.stderr) or 1)
END
python3 - <<'END' || fail "a thread"
import os, subprocess, sys, threading, time
threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
thread = max(os.listdir("/proc/self/task"), key=int)
done = subprocess.run([os.environ["MEMTOOL"], "record", "--db", "none.db", "--pid", thread], capture_output=True, text=True)
sys.exit(0 if done.returncode == 2 and f"a thread of process {os.getpid()}" in done.stderr else print(done.stderr) or 1)
END
[ ! -e none.db ] || fail "a database was made"
exit 0
