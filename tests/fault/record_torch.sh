#!/bin/sh
# `memtool record --torch`: traces of programs that know nothing of it. With a PyTorch that is made up (tests/record/fake),
# and with the real one where there is one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
fake=$root/tests/record/fake
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
export MEMTOOL_DB="$PWD/t.db" PYTHONPATH="$fake" PYTHONDONTWRITEBYTECODE=1
export TMPDIR="$PWD/tmp"
mkdir -p tmp
ask() { "$MEMTOOL" query --format csv "$1" 2>>err | tail -n +2; }
same() { # WHAT GOT WANT
    [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}
notes() { ask "SELECT text FROM v_note WHERE run = '$1' AND kind = 'no_trace'"; }
clean() { same "what is left behind" "$(find tmp -name 'memtool-*')" ""; }

# ---- a loop: eight steps of twelve, the program is as without ----

cat >train.py <<'END'
import sys, torch
keep = torch.empty(3 << 20)
optimizer = torch.optim.Optimizer()
for step in range(int(sys.argv[1])):
    torch.empty(1 << 20)
    optimizer.step()
print("done", sys.path, sys.argv, getattr(sys.modules.get("sitecustomize"), "own", 0))
print("to stderr", file=sys.stderr)
sys.exit(5)
END
python3 train.py 12 >want 2>err
"$MEMTOOL" record --torch -- python3 train.py 12 >out 2>err
same "its exit code" $? 5
cmp -s want out || fail "its output is another: $(diff want out)"
same "what Python says on stderr" "$(grep -v '^memtool: ' err)" "to stderr"
clean
same "the traces" "$(ask "SELECT r.name, r.format FROM run r JOIN run_group g ON g.run_id = r.id WHERE g.name = 'train.py' ORDER BY r.id")" \
    "train.py,record
train.py.torch,pytorch-trace"
same "the steps" "$(ask "SELECT count(*) FROM step WHERE run_id = (SELECT id FROM run WHERE name = 'train.py.torch')")" 8
same "its peak" "$(ask "SELECT peak_b FROM v_device WHERE run = 'train.py.torch'")" $((4 << 20))
# the process has the steps after the profiler's end, too, one behind the other
same "its steps" "$(ask "SELECT group_concat(number, ' ') FROM v_step WHERE run = 'train.py'")" "0 1 2 3 4 5 6 7 8 9 10 11"
same "steps that overlap or leave something out" "$(ask "SELECT count(*) FROM v_step a JOIN v_step b ON b.number = a.number + 1
    WHERE a.run = 'train.py' AND b.run = 'train.py' AND (b.start_ns < a.end_ns OR (b.number > 7 AND b.start_ns > a.end_ns) OR b.end_ns <= b.start_ns)")" 0
same "notes" "$(notes train.py)" ""
grep -q "8 optimizer steps: run train.py.torch, in group train.py" err || fail "nothing says where the trace is"
# its clock is that of the process
lag=$(ask "SELECT (t.start_ns - p.start_ns) / 1000000 FROM run t, run p WHERE t.name = 'train.py.torch' AND p.name = 'train.py'")
if [ "$lag" -lt 0 ] || [ "$lag" -gt 60000 ]; then fail "the trace begins $lag ms after the process"; fi

# a trace that cannot be stored is kept: here the database is gone
cat >gone.py <<'END'
import os, sys
exec(open("train.py").read().rpartition("sys.exit")[0])
open(os.environ["MEMTOOL_TORCH"] + "/1.part.json", "w").close()  # of one that was killed
os.remove("gone.db")
END
"$MEMTOOL" record --torch --db gone.db -- python3 gone.py 12 >out 2>err
# shellcheck disable=SC2016 # no words of a shell
command=$(sed -n 's/.*recording of PyTorch is kept: `memtool \(import [^`]*\)` imports it$/\1/p' err)
[ -n "$command" ] || fail "nothing says where the trace is"
# shellcheck disable=SC2086 # words
"$MEMTOOL" $command --db kept.db >out 2>>err || fail "memtool $command"
grep -q "8 steps" out || fail "the trace is not whole: $(cat out)"
rm -r tmp/memtool-*

"$MEMTOOL" record --torch=3 --name three -- python3 train.py 12 >out 2>err
same "three steps" "$(ask "SELECT count(*) FROM step WHERE run_id = (SELECT id FROM run WHERE name = 'three.torch')")" 3
"$MEMTOOL" record --torch=all --name all -- python3 train.py 12 >out 2>err
same "all steps" "$(ask "SELECT count(*) FROM step WHERE run_id = (SELECT id FROM run WHERE name = 'all.torch')")" 12
same "all steps of the process" "$(ask "SELECT count(*) FROM step WHERE run_id = (SELECT id FROM run WHERE name = 'all')")" 12
# of two optimizers that take turns an iteration is one step, also behind the profiler
cat >turns.py <<'END'
import torch
class Other(torch.optim.Optimizer):
    pass
a, b = torch.optim.Optimizer(), torch.optim.Optimizer()
for step in range(9):
    torch.empty(1 << 20)
    a.step()
    b.step()
END
"$MEMTOOL" record --torch=8 --name turns -- python3 turns.py >out 2>err || fail "two optimizers: exit $?"
traced=$(ask "SELECT count(*) FROM step WHERE run_id = (SELECT id FROM run WHERE name = 'turns.torch')")
got=$(ask "SELECT count(*) FROM step WHERE run_id = (SELECT id FROM run WHERE name = 'turns')")
[ "$traced" = 8 ] && want=8 || want=9
same "the steps of two optimizers, of $traced in the trace" "$got" "$want"
for wrong in 0 x 3x -1 1234567890; do
    "$MEMTOOL" record --torch=$wrong -- touch ran 2>err
    if [ $? != 2 ] || [ -e ran ]; then fail "--torch=$wrong"; fi
done

# ---- one axis: what the process has, and what PyTorch has of it ----

cat >parts.py <<'END'
import gc, time, torch
keep = torch.empty(3 << 20)
time.sleep(.3)
big = torch.empty(100 << 20)
other = bytearray(60 << 20)
for i in range(0, len(other), 4096):
    other[i] = 1
time.sleep(.3)
del big
gc.collect()
time.sleep(.3)
END
"$MEMTOOL" import "$SAMPLES/process/mprofile.dat" --name earlier --group parts >out 2>err || fail "a log of another process: exit $?"
"$MEMTOOL" record --torch --name parts -- python3 parts.py >out 2>err || fail "exit $?"
device=$(ask "SELECT device FROM v_device WHERE run = 'parts' AND device <> 'processes' ORDER BY peak_b DESC LIMIT 1")
figures() { "$MEMTOOL" memory parts --device "$device" --format csv "$@" 2>>err; } # of the Python itself
mib() { awk -F, -v c="$1" -v d="$device" -v m="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["metric"] == m && $at["device"] == d && $at[c] != "" { printf "%d\n", ($at[c] + 524288) / 1048576 }'; }
figures >all
same "what PyTorch has at the end" "$(mib current_b pytorch <all)" 3
same "the most that it had" "$(mib peak_b pytorch <all)" 103
same "what it had at the peak of rss" "$(mib at_peak_b pytorch <all)" 103
rest=$(mib at_peak_b rest <all)
if [ "$rest" -lt 60 ] || [ "$rest" -gt 80 ]; then fail "beside PyTorch there are $rest MiB, not 60 and Python's own"; fi
adds_up() { # OPTION...: the sentence that says what rss consists of
    "$MEMTOOL" memory parts --device "$device" --bytes "$@" 2>>err | tr -d , |
        awk '/^rss of / { for (i = 1; i <= NF && $i != "The"; i++) if ($i == "B" || $i == "B:") { n++; sum += n > 1 ? $(i - 1) : -$(i - 1) } } END { exit !(n > 3 && sum == 0) }'
}
adds_up || fail "the parts of the peak do not add up: $("$MEMTOOL" memory parts --device "$device" --bytes)"
adds_up --at '@mark gc 1' || fail "the parts after the collection do not add up" # the last sample may be of a process that ends
"$MEMTOOL" memory parts --device "$device" --at '@mark gc 1' >out 2>>err
grep -q "^rss of .* 3 MiB that PyTorch allocated, and .* the rest of malloc (.record --malloc. tells how much)" out || fail "no sentence says what rss is: $(cat out)"
figures --at @peak --at @end >change
same "what PyTorch freed" "$(mib change_b pytorch <change)" -99 # rounded up
back=$(mib change_b rss <change)
if [ "$back" -gt -98 ] || [ "$back" -lt -175 ]; then fail "rss fell by $back MiB"; fi
"$MEMTOOL" memory parts --device "$device" --at @peak --at @end >out 2>>err
grep -q "^PyTorch freed 100 MiB, and the system got 1[0-9.]* MiB back" out || fail "it is not said what came back: $(cat out)"
"$MEMTOOL" memory parts --device "$device" --at @end --at '@mark gc 1' 2>>err | grep "^PyTorch freed" && fail "what was freed is told backwards"
# shellcheck disable=SC2016 # not to be expanded
next=$(sed -n 's/^`memtool \(.*\)` shows whose.*/\1/p' out)
# shellcheck disable=SC2086 # words
"$MEMTOOL" $next >out 2>>err || fail "what it advises is exit $?"
grep -q "^-100 MiB" out || fail "the trace does not say whose they were"
ask "SELECT text FROM v_note WHERE run = 'parts' AND kind = 'profiler'" | grep -q "lower without --torch: it ran from .* to .* (.* to start, .* to write its trace)" || fail "nothing says when the profiler ran"
# a full collection is a mark of the process, here the one after the del
figures --at '@mark gc 1' >after
same "what PyTorch has after the collection" "$(mib live_b pytorch <after)" 3
figures --at 1ms >before
same "PyTorch before it was imported" "$(mib live_b pytorch <before)" ""
"$MEMTOOL" timeline parts --device "$device" --format csv --width 1000 >out 2>>err
same "its curve" "$(awk -F, 'NR > 1 && $8 > m { m = $8 } END { print m / 1048576 }' out)" 103
same "its curve before it was imported" "$(sed -n 2p out | cut -d, -f7-9)" ",,"
"$MEMTOOL" timeline parts --device "$device" --format svg >out 2>>err
grep -q 'class="part"' out || fail "the picture has no area of PyTorch"
"$MEMTOOL" timeline parts --device "$device" --ascii >out 2>>err
grep -q "The area is what PyTorch has allocated (run 'parts.torch'), recorded from .* to the end" out || fail "nothing says what the area is"
"$MEMTOOL" timeline parts --device "$device" --rss >out 2>>err || fail "no picture of rss"
grep -q "rss, peak" out || fail "--rss shows $(head -n 1 out)"
if grep -q "PyTorch" out; then fail "--rss shows more than that"; fi
("$MEMTOOL" timeline parts.torch --rss >out 2>err)
[ $? = 2 ] || fail "the rss of a trace is no exit 2"
# shellcheck disable=SC2016 # not to be expanded
grep -qxF '`memtool timeline parts` shows that of its process.' err || fail "nothing says where the rss is: $(cat err)"
"$MEMTOOL" record --torch --malloc --name drawn -- python3 parts.py >out 2>err || fail "exit $?"
device=$(ask "SELECT device FROM v_device WHERE run = 'drawn' AND device <> 'processes' ORDER BY peak_b DESC LIMIT 1")
"$MEMTOOL" timeline drawn --device "$device" --format svg >out 2>>err
for class in line part second third; do
    grep -q "path class=\"$class\"" out || fail "the picture of rss, PyTorch and malloc has no $class"
done
"$MEMTOOL" timeline drawn --device "$device" --ascii >out 2>>err
grep -q "^The area is what PyTorch has allocated" out || fail "nothing says what PyTorch is in the picture"
grep -q "^The lower line is what malloc holds though it is free (malloc_held): .* at the peak, .* at most" out || fail "nothing says what malloc is in the picture: $(cat out)"
"$MEMTOOL" timeline drawn --device "$device" --format csv >out 2>>err
head -n 1 out | grep -q "pytorch_last_b,malloc_held_min_b,malloc_held_max_b,malloc_held_last_b,threads_n" || fail "its columns are $(head -n 1 out)"
# of what is freed and not given back it is known who keeps it, at the marks themselves, however rare samples are
cat >keep.py <<'END'
import os, time, torch
def mark(text):
    os.write(int(os.environ["MEMTOOL_FD"]), b"memtool:mark %s\n" % text)
    time.sleep(.2)
small = [torch.empty(48 << 10) for i in range(1000)]
last = torch.empty(48 << 10)
mark(b"before")
del small
mark(b"after")
again = last
del last
mark(b"again")
END
"$MEMTOOL" record --torch --malloc --interval 1s --name keep -- python3 keep.py >out 2>err || fail "exit $?"
device=$(ask "SELECT device FROM v_device WHERE run = 'keep' AND device <> 'processes' ORDER BY peak_b DESC LIMIT 1")
"$MEMTOOL" memory keep --device "$device" --at '@mark before' --at '@mark after' --format csv >change 2>>err
same "what PyTorch freed and malloc keeps" "$(mib change_b pytorch <change)" -46 # rounded up
held=$(mib change_b malloc_held <change)
if [ "${held:-0}" -lt 46 ] || [ "$held" -gt 49 ]; then fail "malloc holds ${held:-what is unknown} MiB more, not 47"; fi
same "what malloc has in use, too" "$(mib change_b malloc_in_use <change)" $((1 - held))
grep "^[^,]*,[^,]*,[^,]*,$device,\(anon\|file\|malloc_free\)," change | grep -c "^[-0-9]" >out
same "parts that are known at both marks" "$(cat out)" 3
"$MEMTOOL" memory keep --device "$device" --at '@mark before' --at '@mark after' >out 2>>err
grep -q "^PyTorch freed 46.88 MiB, .*: malloc holds 4[6-8][.0-9]* MiB more" out || fail "it is not said who keeps it: $(tail -n 3 out)"
"$MEMTOOL" memory keep --device "$device" --at '@mark after' --at '@mark again' >out 2>>err
grep -q "^PyTorch freed nothing, .* still referenced" out || fail "it is not said that nothing was freed: $(tail -n 3 out)"
# shellcheck disable=SC2016 # not to be expanded
next=$(sed -n 's/^`memtool \(.*\)` shows whose tensors are alive.*/\1/p' out)
# shellcheck disable=SC2086 # words
"$MEMTOOL" $next --format csv >out 2>>err || fail "what it advises is exit $?"
same "what is alive" "$(sed -n 2p out | cut -d, -f1)" 49152
same "the steps of the process, three of them in its trace" "$(ask "SELECT count(*) FROM step WHERE run_id = (SELECT id FROM run WHERE name = 'three')")" 12
"$MEMTOOL" memory three --step 1 >out 2>err || fail "exit $?"
"$MEMTOOL" memory three.torch --at 1ms >out 2>err
same "--at of a trace" $? 2

# ---- how programs end, and what there is of them then ----

record() { # NAME PROGRAM: its code
    "$MEMTOOL" record --torch --name "$1" -- python3 -c "$2" >out 2>err
}
alloc="import torch; x = torch.empty(2 << 20)"
record raised "$alloc
raise ValueError('no')"
same "an exception" $? 1
grep -q "^ValueError: no" err || fail "the exception is not shown"
same "the trace of what raised" "$(ask "SELECT peak_b FROM v_device WHERE run = 'raised.torch'")" $((2 << 20))
record left "$alloc
import os; os._exit(3)"
same "os._exit" $? 3
notes left | grep -q "killed, ended by os._exit or still runs" || fail "nothing says that the trace is missing"
grep -q "memtool: .*killed, ended by os._exit" err || fail "the summary does not say that the trace is missing"
"$MEMTOOL" memory left >out 2>err || fail "exit $?"
grep -q "killed, ended by os._exit" err || fail "no report says that the trace is missing"
record killed "$alloc
import os; os.kill(os.getpid(), 9)"
same "SIGKILL" $? 137
notes killed | grep -q "killed, ended by os._exit" || fail "nothing says that it was killed"
record broken "import os; os.environ['FAKE_BROKEN'] = '1'
$alloc"
same "a profiler that cannot start" $? 0
notes broken | grep -q "no profiler today" || fail "nothing says why: $(notes broken)"
record own "$alloc
import torch.profiler
with torch.profiler.profile() as p: y = torch.empty(100)
p.export_chrome_trace('own.json')"
same "a profiler of its own" $? 0
[ -s own.json ] || fail "the program's own profiler wrote nothing"
notes own | grep -q "a profiler of its own" || fail "nothing says that the trace ends there"
same "the trace until then" "$(ask "SELECT peak_b FROM v_device WHERE run = 'own.torch'")" $((2 << 20))
"$MEMTOOL" check own.torch --max-peak 2MiB >out 2>err
same "a limit that a part of the program keeps" $? 3
grep -q "at least 2 MiB.* ends where the program started a profiler of its own" out || fail "check does not say what it lacks: $(cat out)"
"$MEMTOOL" check own.torch --max-peak 1MiB >out 2>err
same "a limit that it breaks" $? 1
"$MEMTOOL" check train.py.torch --max-peak 4MiB >out 2>err
same "a limit that eight steps keep" $? 0
record forked "$alloc
import os
if os.fork() == 0:
    y = torch.empty(50 << 20)
    os._exit(0)
os.wait()"
same "a fork" $? 0
same "the trace of what forked" "$(ask "SELECT peak_b FROM v_device WHERE run = 'forked.torch'")" $((2 << 20))
record thread "import threading
def f():
    import torch
t = threading.Thread(target=f); t.start(); t.join()"
notes thread | grep -q "another thread" || fail "nothing says that a thread imported torch"
clean

# ---- without torch, or without us ----

record none "print('hello')"
notes none | grep -q "no process imported torch" || fail "torch was imported, it seems"
"$MEMTOOL" record --torch --name shell -- true 2>err
notes shell | grep -q "no Python" || fail "a Python ran, it seems"
"$MEMTOOL" record --torch --name alone -- python3 -I -c 'pass' 2>err
notes alone | grep -q "no Python" || fail "-I ran the hook, it seems"
mkdir -p empty
PYTHONPATH="$PWD/empty" "$MEMTOOL" record --torch --name missing -- python3 -S -c 'pass' 2>err
notes missing | grep -q "no Python" || fail "-S ran the hook, it seems"
record asked "import importlib.util, sys
assert importlib.util.find_spec('torch') and 'torch' not in sys.modules
$alloc"
same "a program that asks first" "$(ask "SELECT peak_b FROM v_device WHERE run = 'asked.torch'")" $((2 << 20))

# a sitecustomize of the user's runs, too
mkdir -p site
echo 'own = 1; import sys; sys.own = 7' >site/sitecustomize.py
PYTHONPATH="$PWD/site:$fake" python3 train.py 1 >want 2>err
PYTHONPATH="$PWD/site:$fake" "$MEMTOOL" record --torch --name site -- python3 train.py 1 >out 2>err
cmp -s want out || fail "another sitecustomize: $(diff want out)"
same "its trace" "$(ask "SELECT count(*) FROM run WHERE name = 'site.torch'")" 1

# what CUDA's allocator had at exit, and when it ran out
record cuda "$alloc
torch.cuda.init()
torch.cuda.oom(0, 1, 2, 3)"
same "its snapshots" "$(ask "SELECT name, format FROM run WHERE name LIKE 'cuda.%' ORDER BY name")" "cuda.cuda,cuda-snapshot
cuda.oom-1,cuda-snapshot
cuda.torch,pytorch-trace"

# ---- several processes ----

cat >ranks.py <<'END'
import os, subprocess, sys
for rank in range(2):
    subprocess.run([sys.executable, "-c", "import torch; x = torch.empty(%d << 20); torch.optim.Optimizer().step()" % (rank + 1)],
                   env=dict(os.environ, RANK=str(rank)), check=True)
END
"$MEMTOOL" record --torch --name job -- python3 ranks.py 2>err || fail "exit $?"
same "two ranks" "$(ask "SELECT run, peak_b / 1048576 FROM v_device WHERE run LIKE 'job.%' ORDER BY 1")" "job.rank0,1
job.rank1,2"
cat >launcher.py <<'END'
import os, subprocess, sys
import torch
x = torch.empty(3 << 20)
child = "import torch; x = torch.empty(9 << 20)" + "; torch.optim.Optimizer().step()" * int(sys.argv[1])
subprocess.run([sys.executable, "-c", child], check=True)
END
"$MEMTOOL" record --torch --name steps -- python3 launcher.py 1 2>err || fail "exit $?"
same "of several processes that with steps" "$(ask "SELECT peak_b / 1048576 FROM v_device WHERE run LIKE 'steps.%'")" 9
grep -q "traces of 1 processes without" err || fail "nothing says that one was left out"
"$MEMTOOL" record --torch --name both -- python3 launcher.py 0 2>err || fail "exit $?"
same "of several processes without steps" "$(ask "SELECT peak_b / 1048576 FROM v_device WHERE run LIKE 'both.%' ORDER BY 1")" "3
9"
cat >spawn.py <<'END'
import multiprocessing, torch
def work(n):
    x = torch.empty(n << 20)
if __name__ == "__main__":
    m = multiprocessing.get_context("spawn").Process(target=work, args=(5,))
    m.start(); m.join()
    assert m.exitcode == 0
END
"$MEMTOOL" record --torch --name spawn -- python3 spawn.py 2>err || fail "exit $?"
same "a process of multiprocessing" "$(ask "SELECT max(peak_b) / 1048576 FROM v_device WHERE run LIKE 'spawn.%'")" 5
clean
echo ok
