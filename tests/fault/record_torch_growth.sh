#!/bin/sh
# `memtool leaks` of programs recorded with --torch: the profiler's own memory grows, and is no growth of the program.
# With a PyTorch that is made up (tests/record/fake).
set -u
here=$(cd "$(dirname "$0")" && pwd)
fake=$(dirname "$here")/record/fake
fail() {
    echo "FAIL $*"
    cat err* out
    exit 1
}
export MEMTOOL_DB="$PWD/t.db" PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1 TMPDIR="$PWD/tmp"
mkdir -p tmp

# STEPS KIB: so many steps of 40 ms; each leaks so much, of which PyTorch knows nothing. A step has 400 operators, of which
# the profiler keeps some.
cat >train.py <<'END'
import sys, time, torch
optimizer = torch.optim.Optimizer()
kept = []
for step in range(int(sys.argv[1])):
    for i in range(400):
        torch.empty(64)
    kept.append(bytearray(b"x" * (int(sys.argv[2]) << 10)))
    optimizer.step()
    time.sleep(.04)
END
record() { # NAME STEPS KIB OPTION...
    name=$1 steps=$2 kib=$3
    shift 3
    "$MEMTOOL" record --name "$name" "$@" -- python3 train.py "$steps" "$kib" >"out.$name" 2>"err.$name" || fail "$name is exit $?"
}
record healthy 60 0 --torch=all &
record leaky 60 64 --torch=all &
record early 160 0 --torch=4 &
record early_leaky 160 256 --torch=4 &
wait

field() { "$MEMTOOL" leaks "$1" --format csv --columns "device,$2" 2>>err | awk -F, 'NR == 2 { print $2 }'; }
judged() { # NAME VERDICT EXIT
    "$MEMTOOL" leaks "$1" --fail >out 2>err
    status=$?
    [ "$(field "$1" verdict)" = "$2" ] || fail "$1 is '$(field "$1" verdict)', not '$2'"
    [ $status = "$3" ] || fail "$1: --fail is exit $status, not $3"
}

# The profiler is there all the time: nobody can tell, and why not is said.
for name in healthy leaky; do
    judged $name "cannot tell" 3
    grep -q "rss cannot be judged: PyTorch's profiler was running until .*, and what follows is too short" out || fail "$name: the title does not say why"
    grep -q "rss includes what PyTorch's profiler needs" err || fail "$name: the note is not shown"
    [ -z "$(field $name rate_most_b)" ] || fail "$name has a rate"
    "$MEMTOOL" leaks $name --fail --min 1TiB >out 2>err
    [ $? = 3 ] || fail "$name: that it grows by less than --min is not known"
done
grep -q "without --torch" err || fail "nothing says what to do"

# So it is with limits: of growth, and of a peak that may be the profiler's.
check() { # EXIT ARGUMENT...
    want=$1
    shift
    "$MEMTOOL" check "$@" >out 2>err
    status=$?
    [ $status = "$want" ] || fail "check $* is exit $status, not $want"
}
check 3 healthy --max-rss-growth-per-step 1TiB
grep -q "has PyTorch's profiler in this process" out || fail "check does not say why"
peak=$("$MEMTOOL" query --format csv "SELECT peak_b FROM v_device WHERE run = 'healthy' AND device = 'process'" | tail -n 1)
for limit in max-rss max-peak; do
    check 0 healthy --$limit "$peak"
    check 3 healthy --$limit $((peak - 1))
    grep -q "may be PyTorch's profiler, or what that left" out || fail "$limit does not say whose it may be"
    check 1 healthy --$limit 1MiB
done

# It is gone after four steps: what comes then is judged, by time, as the steps are all of the profiler's.
# What the profiler freed is used again, so that nothing grows in what the process has is no answer.
judged early "cannot tell" 3
grep -q "used again, and hide growth" err || fail "nothing says what may hide growth"
"$MEMTOOL" leaks early --fail --min 1GiB >out 2>err || fail "it grows by less than that: exit $?"
"$MEMTOOL" leaks early >out 2>err
grep -q "PyTorch's profiler was running before" out || fail "nothing says what is left out"
judged early_leaky grows 1
got=$(field early_leaky per_step_b)
if [ "$got" -lt $((200 << 10)) ] || [ "$got" -gt $((300 << 10)) ]; then fail "$got B a step, not 256 KiB: steps behind the profiler"; fi
from=$(field early start_ns)
until=$("$MEMTOOL" query --format csv "SELECT json_extract(value, '\$.writing_ns[1]') FROM meta m JOIN run r ON r.id = m.run_id WHERE r.name = 'early' AND key = 'profiler'" | tail -n 1)
[ "$from" -gt "$until" ] || fail "the window begins at $from, and the profiler ended at $until"

check 1 early_leaky --max-rss-growth-per-step 100KiB
check 0 early_leaky --max-rss-growth-per-step 1MiB
check 1 early_leaky --max-rss-growth-per-minute 1MiB
check 0 early --max-rss-growth-per-minute 1GiB
check 3 early --max-rss-growth-per-minute 1KiB

# A recorder that was killed has not said when the profiler was there.
"$MEMTOOL" record --torch=all --name killed -- python3 train.py 120 0 >out 2>err &
recorder=$!
sleep 4
kill -KILL $recorder
wait $recorder 2>>err
judged killed "cannot tell" 3

# What it needs to start is measured, since the program waits meanwhile.
(FAKE_START_MIB=40 record start 12 0 --torch=4)
"$MEMTOOL" memory start >out 2>err || fail "memory is exit $?"
rose=$(sed -n 's/^rss rose by \([0-9]*\)[.0-9]* MiB while .* profiler started, and by .* while it wrote its trace; .*/\1/p' out)
if [ -z "$rose" ] || [ "$rose" -lt 38 ] || [ "$rose" -gt 48 ]; then fail "of a start that takes 40 MiB rss rose by '$rose' MiB"; fi
grep -q "recorded from .* (.record --torch=all. goes on to the end)" out || fail "nothing says how to record to the end"
"$MEMTOOL" memory healthy >out 2>err || fail "memory is exit $?"
if grep -q 'torch=all' out; then fail "what was recorded to the end is said to be a part"; fi
exit 0
