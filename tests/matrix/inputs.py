"""What the matrix tests read: the samples, the corpora of the fuzz targets, and made-up recordings of
every odd kind: no memory, no addresses, older blocks, several devices with the same addresses, records
on the borders of steps, two optimizers, overlapping and nested ops on several threads, deep paths,
hostile names; snapshots with segments that come and go, out of memory, threads and older blocks.

    for name, path in all_inputs("folder"): ...     # writes the made-up ones into the folder
"""

import json
import os
import pickle
import random

CPU, CUDA0, CUDA1 = (0, -1), (1, 0), (1, 1)
MIB = 1 << 20

HOSTILE_NAMES = [
    "plain", "123", "2", "[outside ops]", "[before trace]", "[no step]", "[memory]", "a,b;c\t\"quoted\"", "line\nbreak\r\n",
    "\x1b]0;title\x07\x1b[31mred", "c1\u009b31m", "\u202eright to left\u2066", "nul\0byte", "\ud800 alone", "del\x7f",
    "<img src=x onerror=alert(1)>", "<script>1</script>", "]]>", "::error::x", "`code` **bold** | pipe", "=1+1", "+1", "-1", "@SUM(1)",
    "%s%n", "'; DROP TABLE run; --", "a" * 3000, "\u00e9" * 300, "\u6f22\u5b57", "\U0001f600", "aten::empty", "x[1]{2}(3)*+?^$\\", " blank ",
]


class Trace:
    """The events of a profiler trace, written one by one; times are microseconds."""

    def __init__(self, whole_us=False):
        self.events, self.whole_us, self.meta = [], whole_us, {}

    def time(self, t):
        """As the file has it; what is not in whole microseconds begins between two of them."""
        return int(t) if self.whole_us else round(t + 0.25, 3)

    def op(self, name, t, dur, tid=1, cat="cpu_op", **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": self.time(t), "dur": int(dur) if self.whole_us else round(dur, 3), "args": args})

    def mark(self, name, t, dur, tid=1):
        self.op(name, t, dur, tid, "user_annotation")

    def record(self, t, size, address, device=CPU, tid=1, **more):
        args = {"Bytes": size, "Device Type": device[0], "Device Id": device[1]} | more
        if address is not None:
            args["Addr"] = address
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": tid, "ts": self.time(t), "args": args})

    def write(self, path):
        with open(path, "w") as f:
            json.dump({"schemaVersion": 1} | self.meta | {"traceEvents": self.events}, f)


# ---- traces, each of one kind ----


def borders(trace):
    """Abutting steps with records exactly on their borders, at starts and ends of ops too."""
    for step in range(4):
        start = 100 + 100 * step
        trace.mark(f"ProfilerStep#{step}", start, 100)
        trace.op("aten::empty", start, 50)
        trace.op("aten::add", start + 50, 50)
        for k, t in enumerate((start, start + 50, start + 100)):
            trace.record(t, 1000 + k, 64 * (3 * step + k + 1))
        if step:
            trace.record(start, -1000, 64 * (3 * step - 2))


def two_optimizers(trace):
    """A GAN: two Adams of one name step in every iteration; a block of 1,000 B stays of each."""
    for i in range(6):
        t = 1000.5 + 100 * i
        trace.op("aten::empty", t, 9)
        trace.record(t + 2, 1000, 64 * (i + 1))
        trace.mark("Optimizer.step#Adam.step", t + 50, 20)
        trace.mark("Optimizer.step#Adam.step", t + 80, 9)


def nested_optimizers(trace):
    """A subclass whose step() calls a step() of the same name; another thread steps as well."""
    for i in range(6):
        t = 1000.5 + 100 * i
        trace.op("aten::empty", t, 9)
        trace.record(t + 2, 1000, 64 * (i + 1))
        trace.mark("Optimizer.step#Adam.step", t + 50, 20)
        trace.mark("Optimizer.step#Adam.step", t + 52, 9)
        trace.mark("Optimizer.step#Adam.step", t + 60, 30, tid=2)


def processes(trace):
    """Two processes with steps of their own, the second twice as slow; a block of 1,000 B stays of each step."""
    for pid, period in ((1, 100), (2, 200)):
        for i in range(6):
            t = 1000.5 + period * i
            trace.mark(f"ProfilerStep#{i}", t, period)
            trace.op("aten::empty", t + 10, 9)
            trace.record(t + 12, 1000, 64 * (i + 1))
            for event in trace.events[-3:]:
                event["pid"] = pid


def deep(trace):
    """Two roots over 270 ops of one name; what the leaves hold differs."""
    for root, size in ((0, 100), (1, 200)):
        start = 10000 * root + 10
        trace.op(f"root{root}", start, 9000)
        for k in range(270):
            trace.op("n", start + 1 + k, 8000 - 2 * k)
        trace.op("leaf", start + 500, 100)
        trace.record(start + 550, size, 64 * (root + 1))


def hostile_names(trace):
    for k, name in enumerate(HOSTILE_NAMES):
        t = 100 * k + 0.5
        trace.mark(name, t, 90)
        trace.op(name, t + 1, 60, **{"Input Dims": [[k], name]})
        trace.record(t + 5, 512 * (k + 1), 64 * (k + 1))
        trace.op(name + " again", t + 70, 10)
        if k % 2:
            trace.record(t + 75, -512 * (k + 1), 64 * (k + 1))


def devices(trace):
    """Three devices that hand out the same addresses, also such of 57 bits."""
    for step in range(3):
        trace.mark(f"ProfilerStep#{step}", 1000 * step, 990)
        for k, device in enumerate((CPU, CUDA0, CUDA1)):
            for n, address in enumerate((0x1000, 0x7F0000000000, 0x1FF000000001000, 0x1000000000001000)):
                t = 1000 * step + 100 * k + 10 * n + 1.5
                trace.op("aten::empty", t, 8)
                trace.record(t + 2, 100 * (k + 1) + n, address + (step << 20), device,
                             **({"Total Allocated": 7, "Total Reserved": 4096 * (n + 1)} if device != CPU else {}))
                if n % 2:
                    trace.record(t + 500, -(100 * (k + 1) + n), address + (step << 20), device)


def no_addresses(trace):
    trace.op("aten::empty", 10.5, 20)
    for t, size in ((11.5, 100), (12.5, -60), (13.5, 200)):
        trace.record(t, size, None)


def some_addresses(trace):
    trace.op("aten::empty", 10.5, 500)
    for k in range(40):
        trace.record(11.5 + 4 * k, 100 + k, None if k == 7 else 64 * (k + 1))
        if k % 3 == 0 and k != 7:
            trace.record(13.5 + 4 * k, -(100 + k), 64 * (k + 1))


def no_memory(trace):
    for step in range(3):
        trace.mark(f"ProfilerStep#{step}", 100 * step, 90)
        trace.op("aten::add", 100 * step + 5, 50)


def memory_only(trace):
    for k in range(10):
        trace.record(10.5 + k, 1000, 64 * (k + 1))


def older(trace):
    """What an earlier session of the profiler left is freed here, some at an address used since."""
    trace.mark("work", 1, 900)
    trace.op("aten::empty", 5.5, 300)
    trace.record(10.5, 1 * MIB, 64)
    trace.record(20.5, -3 * MIB, 32)
    trace.record(25.5, 100, 1024)
    trace.record(26.5, 200, 1024)
    trace.record(27.5, -100, 1024)
    trace.record(30.5, 512, 96)
    trace.record(40.5, -1 * MIB, 64)
    trace.record(50.5, -1 * MIB, 16)


def base(trace):
    """The recording program says what is there before and stays; the counter of cuda:1 says it, too."""
    trace.meta["memtool_base"] = {"cpu": 5 * MIB, "cuda:0": 7, "cuda:9": 1}
    for step in range(5):
        trace.mark(f"ProfilerStep#{step}", 100 * step, 100)
        for device, total in ((CPU, 0), (CUDA0, 99), (CUDA1, 2 * MIB)):
            trace.op("aten::empty", 100 * step + 10, 30)
            trace.record(100 * step + 20.5, 4096, 64 + step, device, **{"Total Allocated": total + 4096 * (step + 1)})
    trace.record(490.5, -64, 8, CUDA1, **{"Total Allocated": 2 * MIB + 5 * 4096 - 64})


def reuse(trace):
    """Frees that nobody saw: every address is handed out again while its block seems alive."""
    for step in range(5):
        trace.mark(f"ProfilerStep#{step}", 100 * step, 100)
        for k in range(6):
            trace.op("aten::empty", 100 * step + 10 * k + 1, 8)
            trace.record(100 * step + 10 * k + 2.5, 1000 + step, 64 * (k + 1))
        trace.record(100 * step + 90.5, -(1000 + step), 64)


def overlaps(trace):
    """Ops that overlap without nesting, on two threads, with records in all parts of them."""
    for tid in (1, 2):
        for k in range(12):
            trace.op(f"op{k % 5}", 10 * k + tid, 25, tid)
            trace.record(10 * k + tid + 7.5, 100 + k, 64 * (100 * tid + k), tid=tid)
            if k > 3:
                trace.record(10 * k + tid + 8.5, -(100 + k - 3), 64 * (100 * tid + k - 3), tid=3 - tid)


def long_ops(trace):
    """One op around all steps, and one that begins in a step and outlasts it."""
    trace.mark("train", 1, 900)
    for step in range(4):
        trace.mark(f"ProfilerStep#{step}", 10 + 200 * step, 150)
        trace.op("outlasts", 100 + 200 * step, 130)
        trace.op("aten::add", 120 + 200 * step, 20)
        trace.op("aten::mul", 170 + 200 * step, 40)
        trace.record(125 + 200 * step, 4096, 64 * (step + 1))
        trace.record(180 + 200 * step, 512, 6400 * (step + 1))


def stacks(trace):
    """Python frames of a user, of PyTorch and of a package, modules in each other; autograd on a thread of its own
    runs the ops of two lines, one op that nothing links, and a hook of the user's."""

    def python(name, t, dur, tid=1):
        trace.op(name, t, dur, tid, "python_function")

    python("/home/me/train.py(90): <module>", 1, 5000)
    for step in range(5):
        t = 1000 * step + 10
        trace.mark(f"ProfilerStep#{step}", t, 990)
        python("/home/me/train.py(12): step", t + 5, 500)
        python("nn.Module: Net_0", t + 10, 300)
        python("torch/nn/modules/module.py(1501): _call_impl", t + 11, 290)
        python("net.py(7): forward", t + 12, 280)
        for k, line in enumerate(("net.py(20): forward", "transformers/a.py(9): forward")):
            at = t + 20 + 100 * k
            python(f"nn.Module: Linear_{k}", at, 80)
            python(line, at + 1, 70)
            trace.op("aten::linear", at + 10, 50, **{"Sequence number": 10 * step + k})
            trace.record(at + 15, 1000 * (k + 1), 64 * (10 * step + k))
        trace.mark("keep", t + 240, 20)
        trace.op("aten::clone", t + 245, 10)
        trace.record(t + 250, 512, 1 << 20 | step)
        for k in (1, 0, 2):
            at = t + 400 + 100 * (2 - k)
            backward = {} if k == 2 else {"Sequence number": 10 * step + k, "Fwd thread id": 1}
            name = "autograd::engine::evaluate_function: " + ("AccumulateGrad" if k == 2 else "AddmmBackward0")
            trace.op(name, at, 80, 2, **backward)
            trace.op("aten::mm", at + 10, 40, 2)
            trace.record(at + 15, 4000 + k, 1 << 24 | (10 * step + k), tid=2)
            if k != 2:
                trace.record(at + 60, -1000 * (k + 1), 64 * (10 * step + k), tid=2)
                trace.record(at + 70, -(4000 + k), 1 << 24 | (10 * step + k), tid=2)
        python("train.py(40): hook", t + 710, 50, 2)
        trace.op("aten::mul", t + 720, 20, 2)
        trace.record(t + 725, 64, 1 << 26 | step, tid=2)


def random_program(seed, whole_us):
    """A program by chance: threads with nested ops, steps, devices, older blocks, reuse, out of memory."""
    def make(trace):
        rng = random.Random(seed)
        live = []
        for step in range(5):
            start = 1000 * step
            trace.mark(f"ProfilerStep#{step}" if seed % 2 else "Optimizer.step#SGD.step", start, 1000 if seed % 3 else 700)
            for tid in (1, 2):
                t = start + tid
                while t < start + 900:
                    dur = rng.choice((20, 50, 120))
                    trace.op(rng.choice(("aten::linear", "aten::add", "aten::conv2d", "AddBackward0")), t, dur, tid,
                             **{"Input Dims": [[rng.randrange(3)]], "Sequence number": rng.randrange(40), "Fwd thread id": tid - 1})
                    if rng.random() < 0.7:
                        trace.op("aten::empty", t + 2, dur / 2, tid)
                    for _ in range(rng.randrange(4)):
                        at = t + rng.choice((0, 2, dur / 4, dur / 2, dur))
                        device = rng.choice((CPU, CPU, CUDA0))
                        if live and rng.random() < 0.45:
                            size, address, where = live.pop(rng.randrange(len(live)))
                            trace.record(at, -size, address, where, tid)
                        elif rng.random() < 0.05:
                            trace.record(at, -4096, rng.randrange(1 << 40) | 1, device, tid)
                        else:
                            block = (rng.choice((4, 512, 4096, MIB)), 512 * rng.randrange(1, 60 if rng.random() < 0.1 else 1 << 30), device)
                            trace.record(at, block[0], block[1], block[2], tid)
                            live.append(block)
                    t += dur + rng.choice((0, 1, 7))
    return make


TRACES = {
    "borders": borders, "two_optimizers": two_optimizers, "nested_optimizers": nested_optimizers, "processes": processes, "deep": deep,
    "hostile_names": hostile_names, "devices": devices, "no_addresses": no_addresses, "some_addresses": some_addresses,
    "no_memory": no_memory, "memory_only": memory_only, "older": older, "base": base, "reuse": reuse, "overlaps": overlaps, "long_ops": long_ops,
    "stacks": stacks,
} | {f"random{seed}": random_program(seed, False) for seed in range(4)}
WHOLE_US = {name: TRACES[name] for name in ("borders", "overlaps")} | {"random4": random_program(4, True), "random5": random_program(5, True)}


# ---- snapshots ----


def frames(*lines):
    return [{"name": name, "filename": file, "line": line} for name, file, line in lines]


FORWARD = frames(("forward", "/home/me/model.py", 7), ("train", "/home/me/train.py", 12))
LOADING = frames(("__next__", "/home/me/data.py", 3), ("train", "/home/me/train.py", 10))
HOSTILE = frames(("\x1b[31m<img src=x>\u202e", "/home/me/\x1b]0;x\x07.py", 1))


class Allocator:
    """A device of a snapshot: segments of a fixed size come when nothing fits and go when empty."""

    def __init__(self, rng, number, timed=True):
        self.rng, self.number, self.now, self.timed = rng, number, 10**15, timed
        self.segments, self.events, self.next = [], [], (number + 1) << 40

    def event(self, action, address, size, stack):
        self.now += self.rng.choice((0, 1, 1, 5))
        e = {"action": action, "size": size, "stream": 0, "frames": stack}
        e["device_free" if action == "oom" else "addr"] = address
        if self.timed:
            e["time_us"] = self.now
        self.events.append(e)

    def add_segment(self, size, seen=True):
        segment = {"device": self.number, "address": self.next, "total_size": size, "stream": 0,
                   "segment_type": "small" if size <= 2 * MIB else "large", "segment_pool_id": (0, 0), "frames": [], "blocks": []}
        self.next += size + MIB
        self.segments.append(segment)
        if seen:
            self.event("segment_alloc", segment["address"], size, FORWARD)
        return segment

    def hole(self, segment, size):
        at = segment["address"]
        for block in sorted(segment["blocks"], key=lambda b: b["address"]):
            if block["address"] - at >= size:
                return at
            at = block["address"] + block["size"]
        return at if segment["address"] + segment["total_size"] - at >= size else None

    def alloc(self, size, stack, seen=True):
        rounded = (size + 511) // 512 * 512
        for segment in self.segments:
            address = self.hole(segment, rounded)
            if address is not None:
                break
        else:
            segment = self.add_segment(max(2 * MIB, rounded), seen)
            address = segment["address"]
        block = {"address": address, "size": rounded, "requested_size": size, "state": "active_allocated", "frames": stack}
        segment["blocks"].append(block)
        if seen:
            self.event("alloc", address, size, stack)
        return segment, block

    def free(self, segment, block, completed=True):
        self.event("free_requested", block["address"], block["requested_size"], LOADING)
        if completed:
            self.event("free_completed", block["address"], block["requested_size"], LOADING)
            segment["blocks"].remove(block)
        else:
            block["state"] = "active_pending_free"

    def release_empty(self):
        for segment in [s for s in self.segments if not s["blocks"]]:
            self.event("segment_free", segment["address"], segment["total_size"], LOADING)
            self.segments.remove(segment)

    def final(self):
        for segment in self.segments:
            at, whole = segment["address"], []
            for block in sorted(segment["blocks"], key=lambda b: b["address"]) + [None]:
                end = block["address"] if block else segment["address"] + segment["total_size"]
                if end > at:
                    whole.append({"address": at, "size": end - at, "requested_size": 0, "state": "inactive", "frames": []})
                if block:
                    whole.append(block)
                    at = block["address"] + block["size"]
            live = [b for b in whole if b["state"] != "inactive"]
            segment["blocks"] = whole
            segment["allocated_size"] = sum(b["size"] for b in live if b["state"] == "active_allocated")
            segment["active_size"] = sum(b["size"] for b in live)
            segment["requested_size"] = sum(b["requested_size"] for b in live)
        return self.segments


def random_snapshot(seed):
    rng = random.Random(seed)
    devices = [Allocator(rng, n, timed=seed % 4 != 3) for n in range(1 + seed % 3)]
    for device in devices:
        live = [device.alloc(rng.choice((512, 1000, MIB)), rng.choice((FORWARD, LOADING, [])), seen=False) for _ in range(seed % 5)]
        if seed % 3 == 2 and device.number == 1:
            continue  # segments, but no event
        for _ in range(120):
            if live and rng.random() < 0.48:
                device.free(*live.pop(rng.randrange(len(live))), completed=rng.random() < 0.95)
            elif rng.random() < 0.05:
                device.release_empty()
            elif rng.random() < 0.03:
                device.event("oom", 30 * MIB, 100 * MIB, FORWARD)
                if rng.random() < 0.5:
                    device.add_segment(4 * MIB)
            else:
                live.append(device.alloc(rng.choice((4, 700, 65536, 3 * MIB)), rng.choice((FORWARD, LOADING, HOSTILE))))
    marks = [{"stage": stage, "name": name, "device": 0, "time_us": 10**15 + t} for stage, name, t in (
        ("START", "A", 10), ("START", "B\x1b[1m<b>", 11), ("END", "A", 60), ("START", "Optimizer.step#Adam.step", 70),
        ("END", "Optimizer.step#Adam.step", 90), ("END", "B\x1b[1m<b>", 111), ("START", "Optimizer.step#Adam.step", 170),
        ("END", "Optimizer.step#Adam.step", 190))]
    return {"segments": [s for d in devices for s in d.final()], "device_traces": [d.events for d in devices],
            "external_annotations": marks if seed % 2 else []}


def oom_between_records():
    """Segments that come and go between an out-of-memory error and the next record."""
    device = Allocator(random.Random(1), 0)
    kept = device.add_segment(20 * MIB)
    device.alloc(2 * MIB, FORWARD)
    device.event("oom", 30 * MIB, 100 * MIB, FORWARD)
    gone = device.add_segment(8 * MIB)
    device.event("segment_free", gone["address"], gone["total_size"], FORWARD)
    device.segments.remove(gone)
    device.add_segment(64 * MIB)
    assert kept in device.segments
    device.alloc(40 * MIB, FORWARD)
    return {"segments": device.final(), "device_traces": [device.events]}


SNAPSHOTS = {f"snapshot{seed}": lambda seed=seed: random_snapshot(seed) for seed in range(8)} | {"oom_between": oom_between_records}


# ---- all of them ----


def made_up(folder):
    os.makedirs(folder, exist_ok=True)
    for kinds, whole_us, ending in ((TRACES, False, ""), (WHOLE_US, True, "_us")):
        for name, make in kinds.items():
            trace = Trace(whole_us)
            make(trace)
            path = os.path.join(folder, f"{name}{ending}.json")
            trace.write(path)
            yield f"{name}{ending}", path
    for name, make in SNAPSHOTS.items():
        path = os.path.join(folder, f"{name}.pickle")
        with open(path, "wb") as f:
            pickle.dump(make(), f, 4)
        yield name, path


def samples():
    root = os.environ["SAMPLES"]
    for name in sorted(os.listdir(root)):
        trace = os.path.join(root, name, "trace.json.gz")
        if os.path.exists(trace):
            yield name, trace
    for name in sorted(os.listdir(os.path.join(root, "snapshots"))):
        if name.endswith(".pickle"):
            yield f"snap-{name[:-7]}", os.path.join(root, "snapshots", name)


def corpora():
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in ("fuzz/corpus/pytorch_trace", "fuzz/corpus/pickle", "hostile"):
        folder = os.path.join(tests, folder)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            yield f"odd-{name}", os.path.join(folder, name)


def all_inputs(folder="made"):
    yield from made_up(folder)
    yield from samples()
    yield from corpora()


def is_made_up(name):
    """Whether this is the name of a made-up input: small, and asked everything."""
    return name.removesuffix("_us") in TRACES or name in SNAPSHOTS or name.startswith("random")


def is_odd(name):
    """Whether a file of this name contradicts itself: its figures need not add up to one another."""
    return name.startswith("odd-")
