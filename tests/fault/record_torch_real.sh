#!/bin/sh
# `memtool record --torch` with PyTorch itself: questions about four programs, each one command, whose figures are those
# that the program itself read of the system; several processes; other profilers.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
python=
for p in python3 "$root/venv/bin/python" "$root/../venv/bin/python"; do
    if "$p" -c 'import torch' 2>/dev/null; then
        python=$(command -v "$p")
        break
    fi
done
[ -n "$python" ] || { echo "skip: there is no PyTorch" && exit 77; }
fail() {
    echo "FAIL $*"
    cat err
    exit 1
}
export MEMTOOL_DB="$PWD/t.db" OMP_NUM_THREADS=1
ask() { "$MEMTOOL" query --format csv "$1" 2>>err | tail -n +2; }
same() { # WHAT GOT WANT
    [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}
near() { # WHAT GOT WANT OFF
    if [ -z "$2" ] || [ "$2" -lt $(($3 - $4)) ] || [ "$2" -gt $(($3 + $4)) ]; then
        fail "$1 is $2, not $3 within $4"
    fi
}
# a figure of a report in KiB: COLUMN METRIC [OPTION...]
figure() {
    column=$1 metric=$2
    shift 2
    "$MEMTOOL" memory --format csv "$@" 2>>err |
        awk -F, -v c="$column" -v m="$metric" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["device"] == "process" && $at["metric"] == m && $at[c] != "" { printf "%d\n", $at[c] / 1024 }'
}
cat >own.py <<'END'
import resource
def rss():
    return int(next(l for l in open("/proc/self/status") if l.startswith("VmRSS")).split()[1])
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
END

# ---- the peak, and what PyTorch has at the end ----

cat >peak.py <<'END'
import os, own, time, torch
kept = torch.ones(1000, 1000)
y = torch.ones(20, 1000, 1000) * 2
del y
time.sleep(.3)
print(own.rss(), own.most(), flush=True)
os.write(int(os.environ["MEMTOOL_FD"]), b"memtool:mark read\n")
time.sleep(.1)
END
"$MEMTOOL" record --torch -- "$python" peak.py >out 2>err || fail "exit $?"
read -r now most <out
near "the peak of rss" "$(figure peak_b rss peak.py)" "$most" 4096 # what it reads itself comes before its end
same "that of the kernel" "$(figure peak_b rss peak.py)" "$(($(ask "SELECT value FROM meta WHERE key = 'ru_maxrss_b'") / 1024))"
near "rss when it read it" "$(figure live_b rss --at '@mark read' peak.py)" "$now" 2048
end=$(figure current_b rss peak.py) # what it takes to end is in it, with a build for CUDA that is 110 MiB
if [ "$end" -lt $((now - 16384)) ] || [ "$end" -gt "$most" ]; then fail "rss at the end is $end, not $now to $most"; fi
near "what PyTorch has at the end" "$(figure current_b pytorch peak.py)" 3906 64
near "the most that it had" "$(figure peak_b pytorch peak.py)" $((3906 + 2 * 78125)) 64

# ---- before and after del and gc ----

cat >del.py <<'END'
import gc, own, time, torch
kept = torch.ones(1000, 1000)
big = [torch.ones(1000, 1000) for _ in range(25)]
big.append(big)  # only the collector finds it
rest = bytearray(b"x") * (60 << 20)
time.sleep(.3)
before = own.rss()
gc.collect()
del big
gc.collect()
after = own.rss()
time.sleep(.3)
print(before, after, flush=True)
END
"$MEMTOOL" record --torch -- "$python" del.py >out 2>err || fail "exit $?"
read -r before after <out
set -- --at '@mark gc 1' --at '@mark gc 2' del.py
near "what PyTorch gave back" "$(figure change_b pytorch "$@")" -97656 64
near "rss before" "$(figure before_b rss "$@")" "$before" 2048
near "rss after" "$(figure after_b rss "$@")" "$after" 2048
"$MEMTOOL" memory "$@" >out 2>>err
grep -q "^PyTorch freed 95.37 MiB, and the system got 9.* MiB back" out || fail "it is not said what came back: $(cat out)"
rest=$(figure after_b rest "$@")
if [ "$rest" -lt 61440 ]; then fail "the rest is $rest KiB, less than the bytes"; fi

# ---- over iterations ----

cat >loop.py <<'END'
import own, time, torch
model = torch.nn.Linear(1000, 1000)
optimizer = torch.optim.Adam(model.parameters())
leak = []
for i in range(12):
    model(torch.ones(64, 1000)).sum().backward()
    time.sleep(.1)
    optimizer.step()
    print(own.rss(), flush=True)
    optimizer.zero_grad()
    leak.append(bytearray(b"x") * (8 << 20))
END
"$MEMTOOL" record --torch -- "$python" loop.py >out 2>err || fail "exit $?"
"$MEMTOOL" memory loop.py --per step --format csv >steps 2>>err
same "its steps" "$(cut -d, -f1 steps | tail -n +2 | tr '\n' ' ')" "0 1 2 3 4 5 6 7 8 9 10 11 "
tail -n +3 steps | while IFS=, read -r step _ rss _ pytorch _; do
    near "rss at the end of step $step" $((rss / 1024)) "$(sed -n "$((step + 1))p" out)" 12288 # as of the last sample
    [ -z "$pytorch" ] || near "what PyTorch has then" $((pytorch / 1024)) 15640 512 # KiB: parameters, two states and gradients
done || exit 1
same "steps of which PyTorch's figure is known" "$(cut -d, -f5 steps | tail -n +2 | grep -c .)" 8
"$MEMTOOL" leaks loop.py.torch >out 2>>err || fail "exit $?"

# ---- what PyTorch never sees: bytes that come and go, and a leak in each step; its own curve is flat ----

cat >beside.py <<'END'
import time, torch
model = torch.nn.Linear(1000, 1000)
optimizer = torch.optim.Adam(model.parameters())
leak = []
for i in range(100):
    if i == 10: big = bytearray(b"x") * (200 << 20)
    if i == 20: del big
    model(torch.ones(64, 1000)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    leak.append(bytearray(b"x") * (4 << 20))
    time.sleep(.05)
END
# glibc keeps large blocks apart from what the profiler keeps, so that it can use them again
MALLOC_MMAP_THRESHOLD_=1000000 "$MEMTOOL" record --torch -- "$python" beside.py >out 2>err || fail "exit $?"
grep -q "^memtool: rss grows [0-9.]* MiB a step" err || fail "record does not say that it grows"
same "the steps of the process" "$(ask "SELECT count(*) FROM v_step WHERE run = 'beside.py'")" 100
grown=$("$MEMTOOL" leaks beside.py --format csv --columns device,per_step_b 2>>err | sed -n 's/^process,//p' | head -n 1)
near "the leak, KiB a step" $((grown / 1024)) 4096 768
"$MEMTOOL" leaks beside.py --fail >out 2>>err
same "leaks --fail of the process" $? 1
"$MEMTOOL" leaks beside.py.torch --fail >out 2>>err || fail "what PyTorch has leaks: $(cat out)"

# ---- a profiler of its own, workers that fork, exceptions ----

cat >mixed.py <<'END'
import sys, torch
from torch.utils.data import DataLoader, TensorDataset
x = torch.ones(500, 1000)
for batch, in DataLoader(TensorDataset(x), batch_size=100, num_workers=2):
    batch.sum()
with torch.profiler.profile(profile_memory=True) as prof:
    y = torch.ones(700, 1000)
prof.export_chrome_trace("own.json")
raise SystemExit(4)
END
"$MEMTOOL" record --torch -- "$python" mixed.py >out 2>err
same "its exit code" $? 4
grep -q '"aten::ones"' own.json || fail "the program's own trace is empty"
same "the traces" "$(ask "SELECT count(*) FROM run WHERE name LIKE 'mixed.py.%'")" 1
near "what it had until then" "$(ask "SELECT peak_b / 1024 FROM v_device WHERE run LIKE 'mixed.py.%'")" 3125 450
"$python" -c 'import torch' 2>plain # what PyTorch says by itself
if grep -v '^memtool:' err | grep -vxF -f plain | grep -q .; then fail "something is on stderr"; fi

# ---- the ranks of a job ----

cat >rank.py <<'END'
import os, torch
model = torch.nn.Linear(100 * (1 + int(os.environ["RANK"])), 100)
optimizer = torch.optim.SGD(model.parameters())
for i in range(3):
    model(torch.ones(8, model.in_features)).sum().backward()
    optimizer.step()
END
"$MEMTOOL" record --torch --name job -- "$python" -m torch.distributed.run --nproc-per-node 2 rank.py >out 2>err || fail "exit $?"
same "the ranks" "$(ask "SELECT r.name || ' ' || (SELECT count(*) FROM step s WHERE s.run_id = r.id) FROM run r WHERE r.name LIKE 'job.%' ORDER BY 1")" "job.rank0 3
job.rank1 3"
if "$python" -c 'import pytest' 2>/dev/null; then
    printf 'import torch\ndef test_it():\n    assert torch.ones(1000, 1000).sum() == 1000000\n' >test_it.py
    "$MEMTOOL" record --torch --name tests -- "$python" -m pytest -q test_it.py >out 2>err || fail "pytest is exit $?"
    near "what a test has" "$(ask "SELECT max(peak_b) / 1024 FROM v_device WHERE run = 'tests.torch'")" 3906 64
fi
echo ok
