#!/usr/bin/env python3
"""The programs that exports are for read them, and find memtool's figures: Go's pprof, Perfetto's own schema, PyTorch's
memory_viz. A reader that is not installed is skipped and named; `.ci/deps readers` installs Go."""

import glob
import os
import re
import shutil
import subprocess

import mt

SAMPLES = os.environ["SAMPLES"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHONS = ("python3", f"{ROOT}/venv/bin/python", f"{ROOT}/../venv/bin/python")
m = mt.Matrix()


def python_with(module):
    for python in PYTHONS:
        try:
            if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
                return python
        except OSError:
            pass
    return None


def read(what, *command, **more):
    """What the reader prints; None, and a failure, if it refuses the file."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
    ok = m.check(done.returncode == 0, what, "is read", done.stderr[-600:])
    return done.stdout if ok else None


def export(run, path, *args):
    """The path; None: the run has nothing of that kind, which is said."""
    code, _, err = m.run("export", run.name, "-o", path, *args, codes=(0, 2))
    m.check(code == 0 or "Nothing was written." in err, run.name, "is exported", err)
    return path if code == 0 else None


# ---- Go's pprof ----


def raw_sums(text):
    """{sample type: sum} of `pprof -raw`."""
    lines = text[text.index("Samples:\n") :].split("\n")[1:]
    types = [t.split("/")[0] for t in lines[0].replace("[dflt]", "").split()]
    sums = [0] * len(types)
    for line in lines[1:]:
        if line.startswith("Locations"):
            break
        values = re.match(r"((?: *-?\d+)+):", line)
        if values:
            sums = [a + int(b) for a, b in zip(sums, values.group(1).split())]
    return dict(zip(types, sums))


def check_pprof(go, run, device):
    path = export(run, "out.pb.gz", "--device", device["device"], "--min", "0")
    text = path and read(f"pprof -raw of {run.name}", go, "tool", "pprof", "-raw", path, env=GO_ENV)
    if not text:
        return
    sums = raw_sums(text)
    wanted = {"alloc_space": "alloc_b", "alloc_objects": "alloc_n", "inuse_space": "peak_b"}
    for kind, column in wanted.items():
        if kind in sums and device[column] is not None:
            m.check(sums[kind] == device[column], f"pprof -raw of {run.name}", kind, sums[kind], "not", device[column])
    m.check("alloc_space" in sums or "inuse_space" in sums, f"pprof -raw of {run.name}", "types", list(sums))
    if "inuse_space" not in sums or not device["peak_b"]:
        return
    top = read(f"pprof -top of {run.name}", go, "tool", "pprof", "-top", "-unit=B", "-sample_index=inuse_space", path, env=GO_ENV)
    total = top and re.search(r" of (\d+)B total$", top, re.M)
    if m.check(total, f"pprof -top of {run.name}", "the total", top):
        m.check(int(total.group(1)) == device["peak_b"], f"pprof -top of {run.name}", total.group(1), "not", device["peak_b"])


# ---- Perfetto's schema ----

PERFETTO = """
import sys
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
trace = pb.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
counters, most = {}, {}
for packet in trace.packet:
    if packet.HasField("track_descriptor"):
        d = packet.track_descriptor
        assert d.uuid not in counters, "a track twice"
        counters[d.uuid] = d.name if d.HasField("counter") else None
    elif packet.HasField("track_event") and packet.track_event.type == pb.TrackEvent.TYPE_COUNTER:
        uuid = packet.track_event.track_uuid  # its descriptor comes before
        most[uuid] = max(most.get(uuid, 0), packet.track_event.counter_value)
for uuid, value in most.items():
    print(value, counters[uuid])
"""


def check_perfetto(python, run):
    path = export(run, "out.pftrace")
    text = path and read(f"Perfetto of {run.name}", python, "-c", PERFETTO, path)
    if not text:
        return
    counters = [line.split(" ", 1) for line in text.split("\n")[:-1]]
    for device in run.devices:
        name, peak = device["device"], device["peak_b"]
        own = [int(value) for value, track in counters if name in track]
        if peak is not None and device["alloc_n"]:
            m.check(peak in own, f"Perfetto of {run.name}", name, "has no counter whose most is", peak, counters)


# ---- PyTorch's memory_viz ----

MEMORY_VIZ = """
import pickle, sys
from torch.cuda import _memory_viz as viz
def load(path):
    with open(path, "rb") as f:
        data = pickle.load(f)
    return {"segments": data} if isinstance(data, list) else data  # of PyTorch 1.13
def segments(data):
    return sorted(viz.segsum(data).split(chr(10)))
for whole, cut in zip(sys.argv[1::2], sys.argv[2::2]):
    data = load(cut)
    viz.trace_plot(data), viz.segment_plot(data), viz.trace(data)
    print(cut, segments(data) == segments(load(whole)))
"""


def check_memory_viz(python, paths):
    """A part that is the whole shows what the snapshot shows. All in one go: PyTorch takes seconds to start."""
    pairs = [(path, export(mt.Run(m, name), f"{name}.pickle")) for name, path in paths]
    pairs = [pair for pair in pairs if pair[1]]
    text = read("memory_viz", python, "-c", MEMORY_VIZ, *(path for pair in pairs for path in pair)) or ""
    for _, cut in pairs:
        m.check(f"{cut} True\n" in text, "memory_viz of", cut, "shows something else than of the snapshot")


def samples(*patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(f"{SAMPLES}/{pattern}")):
            yield re.sub(r"\W", "_", os.path.relpath(path, SAMPLES)), path


go = shutil.which("go") or next(iter(sorted(glob.glob("/usr/lib/go-*/bin/go"))), None)
GO_ENV = {**os.environ, "HOME": os.getcwd(), "PPROF_TMPDIR": os.getcwd(), "GOTOOLCHAIN": "local"}
perfetto, torch = python_with("perfetto.protos.perfetto.trace.perfetto_trace_pb2"), python_with("torch")
for tool, name in ((go, "Go's pprof"), (perfetto, "Python's perfetto"), (torch, "PyTorch's memory_viz")):
    if not tool:
        m.skip(f"{name} is not installed")
traces = list(samples("*/trace.json.gz", "heap/*.zst", "heap/*.pb.gz", "heap/dhat*.json*", "python/*.bin*"))
snapshots = list(samples("snapshots/*.pickle"))
if go:
    for run in m.imported(traces + snapshots):
        for device in run.devices:
            if device["alloc_b"] or device["peak_b"]:
                check_pprof(go, run, device)
else:
    list(m.imported(traces + snapshots))
for run in (mt.Run(m, name) for name, _ in traces if perfetto):
    check_perfetto(perfetto, run)
if torch:
    check_memory_viz(torch, snapshots)
m.finish(400 if go else 0)
