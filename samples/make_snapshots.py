#!/usr/bin/env python3
"""Makes small allocator snapshots, one per variant of the format: make_snapshots.py FOLDER

Writes FOLDER/NAME.pickle and FOLDER/truth.csv: what each device's level must be, computed here
from the dicts by the plain rule (start = frees without allocation + blocks in use at the end without
allocation; then forward). Needs only Python; nothing of PyTorch is used.
"""

import io
import os
import pickle
import struct
import sys

MIB = 1 << 20


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


GATHER = frame("torch::CapturedTraceback::gather(bool, bool, bool)", "??", 0)
EMPTY = frame("at::native::empty_cuda(c10::ArrayRef<long>, std::optional<bool>)", "??", 0)
CALL = frame("at::_ops::empty_memory_format::call(c10::ArrayRef<c10::SymInt>)", "??", 0)
EVAL = frame("_PyEval_EvalFrameDefault", "??", 0)
START = frame("_start", "??", 0)
DYNAMO = frame("init_gpu_context", "/x/site-packages/torch/_dynamo/utils.py", 2**64 - 1)
MAIN = frame("<module>", "/home/me/train.py", 40)
STEP = frame("train_step", "/home/me/train.py", 12)
MODEL = frame("forward", "/home/me/model.py", 7)
LINEAR = frame("forward", "/x/lib/python3.11/site-packages/torch/nn/modules/linear.py", 117)
ENGINE = frame("torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)", "??", 0)
ADDMM = frame("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)", "??", 0)
ADAM = frame("step", "/x/lib/python3.11/site-packages/torch/optim/adam.py", 90)

FORWARD_STACK = [GATHER, EMPTY, CALL, LINEAR, EVAL, MODEL, EVAL, STEP, MAIN, START]
INPUT_STACK = [GATHER, EMPTY, CALL, STEP, EVAL, MAIN, START]
BACKWARD_STACK = [GATHER, EMPTY, ADDMM, ENGINE]
OPTIMIZER_STACK = [GATHER, EMPTY, ADAM, EVAL, MAIN, START]


class Device:
    """A caching allocator that never reuses a hole: enough for consistent files."""

    def __init__(self, number=0, base=0x7F0000000000, stream=0, time_us=1_700_000_000_000_000):
        self.number, self.next, self.stream, self.now = number, base, stream, time_us
        self.events, self.segments = [], []
        self.timed, self.with_frames, self.extra, self.map = True, True, {}, False

    def record(self, action, addr, size, stack, **more):
        self.now += 7
        e = {"action": action, "addr": addr, "size": size, "stream": self.stream}
        if action == "oom":
            e["device_free"] = e.pop("addr")
        if self.timed:
            e["time_us"] = self.now
        if stack and self.with_frames:
            e["frames"] = stack
        e.update(self.extra)
        e.update(more)
        self.events.append(e)

    def segment(self, size, stack, pool=(0, 0), quiet=False):
        seg = {"device": self.number, "address": self.next, "total_size": size, "allocated_size": 0,
               "active_size": 0, "requested_size": 0, "stream": self.stream,
               "segment_type": "small" if size <= 2 * MIB else "large", "segment_pool_id": pool,
               "is_expandable": self.map, "frames": stack if self.with_frames else [], "blocks": []}
        self.next += size + 64 * MIB
        self.segments.append(seg)
        if not quiet:
            self.record("segment_map" if self.map else "segment_alloc", seg["address"], size, stack)
        return seg

    def alloc(self, seg, size, stack, quiet=False, **more):
        at = seg["address"] + sum(b["size"] for b in seg["blocks"])
        rounded = (size + 511) // 512 * 512
        block = {"address": at, "size": rounded, "requested_size": size, "state": "active_allocated",
                 "frames": stack if self.with_frames else []}
        seg["blocks"].append(block)
        if not quiet:
            self.record("alloc", at, size, stack, **more)
        return block

    def free(self, block, stack, pending=False, actions=("free_requested", "free_completed")):
        done = actions[:1] if pending else actions
        for action in done:
            self.record(action, block["address"], block["requested_size"], stack)
        block["state"] = "active_pending_free" if pending else "inactive"
        if not pending:
            block["frames"] = []

    def release(self, seg, stack=None):
        self.record("segment_unmap" if self.map else "segment_free", seg["address"], seg["total_size"], stack)
        self.segments.remove(seg)

    def final(self):
        """The list of segments as the allocator would dump it, holes filled and merged."""
        for seg in self.segments:
            whole = []
            for b in seg["blocks"] + [{"size": seg["total_size"] - sum(b["size"] for b in seg["blocks"]),
                                       "requested_size": 0, "state": "inactive", "frames": []}]:
                if b["size"] == 0:
                    continue
                if whole and whole[-1]["state"] == b["state"] == "inactive":
                    whole[-1]["size"] += b["size"]
                    continue
                whole.append(b)
                b.setdefault("address", seg["address"] + sum(x["size"] for x in whole[:-1]))
            seg["blocks"] = whole
            live = [b for b in whole if b["state"] != "inactive"]
            seg["allocated_size"] = sum(b["size"] for b in live if b["state"] == "active_allocated")
            seg["active_size"] = sum(b["size"] for b in live)
            seg["requested_size"] = sum(b["requested_size"] for b in live)
        return self.segments


SETTINGS = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
            "expandable_segments": False, "roundup_power2_divisions": {"1": 0, "32768": 0}}


def snapshot(*devices, **more):
    out = {"segments": [s for d in devices for s in d.final()],
           "device_traces": [d.events for d in devices], "allocator_settings": dict(SETTINGS),
           "external_annotations": []}
    out.update(more)
    return out


def train(device, marks=None):
    """Three training steps: weights, activations, gradients, optimizer state in the first step."""
    weights_segment = device.segment(4 * MIB, INPUT_STACK)
    work = device.segment(20 * MIB, FORWARD_STACK)
    device.alloc(weights_segment, 3 * MIB, INPUT_STACK)

    def mark(stage, name):
        device.now += 7
        if marks is not None:
            marks.append({"stage": stage, "name": name, "device": device.number, "time_us": device.now})

    for step in range(3):
        mark("START", "forward_pass")
        x = device.alloc(work, 1000 * (step + 1), FORWARD_STACK)
        y = device.alloc(work, MIB, FORWARD_STACK)
        mark("END", "forward_pass")
        g = device.alloc(work, MIB + 12, BACKWARD_STACK)
        device.free(y, BACKWARD_STACK)
        mark("START", "Optimizer.step#Adam.step")
        if step == 0:
            device.alloc(weights_segment, MIB, OPTIMIZER_STACK)
        device.free(g, OPTIMIZER_STACK)
        mark("END", "Optimizer.step#Adam.step")
        if step < 2:
            device.free(x, INPUT_STACK)


# ---- the variants ----


def basic():
    device, marks = Device(), []
    train(device, marks)
    return snapshot(device, external_annotations=marks)


def bare_list():
    device = Device()
    train(device)
    return device.final()


def state_only():
    device = Device()
    train(device)
    device.events = device.events[-1:]
    return snapshot(device)


def two_devices():
    a, b = Device(0), Device(1, base=0x7E0000000000, time_us=1_700_000_000_000_003)
    train(a)
    train(b)
    return snapshot(a, Device(2), b) | {"device_traces": [a.events, b.events, []]}


def no_times():
    device = Device()
    device.timed = False
    train(device)
    out = snapshot(device)
    del out["allocator_settings"], out["external_annotations"]
    return out


def no_frames():
    device = Device()
    device.with_frames = False
    train(device)
    return snapshot(device)


def odd_frames():
    device = Device()
    seg = device.segment(2 * MIB, [DYNAMO, MAIN])
    device.alloc(seg, 100, [DYNAMO, MAIN])
    device.alloc(seg, 200, [frame("f%d" % i, "/home/me/deep.py", i) for i in range(1500)])
    device.alloc(seg, 300, [MAIN])
    device.alloc(seg, 400, [START])
    return snapshot(device)


def torch_1_13():
    device = Device()
    train(device)
    for seg in device.final():
        for key in ("requested_size", "address", "segment_pool_id", "is_expandable", "frames"):
            if key != "address":
                del seg[key]
        for b in seg["blocks"]:
            live = b["state"] == "active_allocated"
            b["history"] = [{"addr": b["address"], "real_size": b["requested_size"],
                             "frames": b["frames"]}] if live else []
            for key in ("address", "requested_size", "frames"):
                del b[key]
    return device.segments


def private_pools():
    device = Device()
    device.extra = {"pool_id": (0, 0), "compile_context": "N/A", "user_metadata": ""}
    train(device)
    seg = device.segment(2 * MIB, INPUT_STACK, pool=(3, 1))
    device.extra = {"pool_id": (3, 1), "compile_context": "0/0", "user_metadata": ""}
    device.alloc(seg, 4096, INPUT_STACK)
    return snapshot(device)


def skip_completed():
    device = Device()
    train(device)
    device.events = [e for e in device.events if e["action"] != "free_completed"]
    return snapshot(device)


def skip_segments():
    device = Device()
    train(device)
    device.events = [e for e in device.events if "segment" not in e["action"]]
    return snapshot(device)


def ring_cut():
    device = Device()
    train(device)
    device.events = device.events[-12:]
    out = snapshot(device)
    out["allocator_settings"]["trace_alloc_max_entries"] = [12]
    out["allocator_settings"]["trace_alloc_overflowed"] = [True]
    return out


def older_with_frames():
    device = Device()
    seg = device.segment(8 * MIB, INPUT_STACK, quiet=True)
    device.alloc(seg, 5 * MIB + 1, INPUT_STACK, quiet=True)
    gone = device.alloc(seg, MIB, INPUT_STACK, quiet=True)
    device.free(gone, OPTIMIZER_STACK)
    train(device)
    return snapshot(device)


def expandable():
    device = Device()
    device.map = True
    train(device)
    extra = device.segment(20 * MIB, INPUT_STACK)
    device.release(extra)
    out = snapshot(device)
    out["allocator_settings"]["expandable_segments"] = True
    return out


def xpu():
    device = Device(base=0xFFFFFF0000000000)
    train(device)
    out = snapshot(device)
    out["allocator_settings"] = {"PYTORCH_XPU_ALLOC_CONF": ""}
    return out


def npu():
    device = Device()
    device.timed = False
    train(device)
    device.record("workspace_snapshot", 0, 512, None)
    out = snapshot(device)
    out["allocator_settings"] = {"PYTORCH_NPU_ALLOC_CONF": ""}
    return out


def unknown_actions():
    device = Device()
    train(device)
    for action in ("defragment", "defragment", "snapshot", "teleport"):
        device.record(action, 0, 0, None)
    live = [b for s in device.segments for b in s["blocks"]][0]
    device.record("annotate", live["address"], 0, None, user_metadata="the weights")
    return snapshot(device)


def user_defined():
    device = Device()
    mark = [[frame(stage, "my_region", 0)] for stage in ("START", "END")]
    seg = device.segment(2 * MIB, INPUT_STACK)
    device.record("user_defined", 0, 0, mark[0])
    device.alloc(seg, 640, INPUT_STACK)
    device.record("user_defined", 0, 0, mark[1])
    device.alloc(seg, 641, INPUT_STACK)
    return snapshot(device)


def metadata():
    device = Device()
    seg = device.segment(2 * MIB, INPUT_STACK)
    device.alloc(seg, 1, INPUT_STACK, user_metadata="loading")
    device.alloc(seg, 2, INPUT_STACK, user_metadata='{"step": 1}')
    device.alloc(seg, 3, INPUT_STACK, user_metadata={"step": 2, "kind": ["a", None, True, 0.5]})
    device.alloc(seg, 4, INPUT_STACK, user_metadata=None, internal_metadata="mallocWithAddress")
    return snapshot(device)


def profile():
    gpu, cpu = Device(0), Device(1, base=0x550000000000)
    for device, category in ((gpu, "activation"), (cpu, "parameter")):
        device.timed = False
        device.extra = {"category": category}
        seg = device.segment(2 * MIB, [frame("aten::empty", "none", 0)])
        kept = device.alloc(seg, 1000, [frame("aten::empty", "none", 0)])
        gone = device.alloc(seg, 3000, [frame("aten::mul", "none", 0)])
        device.free(gone, None)
        assert kept
    out = snapshot(gpu, cpu)
    for seg in out["segments"]:
        for b in seg["blocks"]:
            del b["address"]
            if b["state"] == "inactive":
                del b["requested_size"]
    return out


def host():
    device, pinned = Device(), Device()
    train(device)
    seg = pinned.segment(4096, INPUT_STACK)
    pinned.alloc(seg, 4000, INPUT_STACK)
    return snapshot(device, host_segments=pinned.final(), host_traces=[pinned.events])


def host_lists():
    """Pinned memory with a list of events per device."""
    device, pinned = Device(), [Device(number, base=0x7E0000000000 + (number << 36)) for number in range(2)]
    train(device)
    for number, size in ((0, 4000), (1, 3000)):
        seg = pinned[number].segment(4096, INPUT_STACK)
        pinned[number].alloc(seg, size, INPUT_STACK)
    segments = pinned[0].final() + pinned[1].final()
    return snapshot(device, host_segments=segments, host_traces=[p.events for p in pinned])


def oom():
    device = Device()
    train(device)
    device.record("oom", 12 * MIB, 48 * MIB, FORWARD_STACK)
    return snapshot(device)


def pending_free():
    device = Device()
    seg = device.segment(2 * MIB, INPUT_STACK)
    a = device.alloc(seg, 1024, INPUT_STACK)
    b = device.alloc(seg, 2048, INPUT_STACK)
    device.free(a, INPUT_STACK, pending=True)
    device.free(b, INPUT_STACK)
    return snapshot(device)


def unbalanced_marks():
    device = Device()
    seg = device.segment(2 * MIB, INPUT_STACK)
    times = []
    for size in (512, 513, 514):
        device.alloc(seg, size, INPUT_STACK)
        times.append(device.now)
    return snapshot(device, external_annotations=[
        {"stage": "END", "name": "older", "device": 0, "time_us": times[0]},
        {"stage": "START", "name": "a", "device": 0, "time_us": times[0] + 1},
        {"stage": "START", "name": "b", "device": 0, "time_us": times[1] - 1},
        {"stage": "END", "name": "a", "device": 0, "time_us": times[1] + 1}])


def clock_back():
    device = Device()
    train(device)
    device.events[5]["time_us"] -= 1000
    return snapshot(device)


def unbalanced_sizes():
    """The final state does not fit the events: the residual must be told."""
    device = Device()
    train(device)
    out = snapshot(device)
    out["segments"][0]["blocks"][0]["requested_size"] -= 100
    return out


def fragmented():
    """A nearly empty segment held open by one small block, and holes too small for a request."""
    device = Device()
    held = device.segment(20 * MIB, FORWARD_STACK)
    device.alloc(held, 4096, OPTIMIZER_STACK)
    blocks = [device.alloc(held, 3 * MIB, FORWARD_STACK) for _ in range(6)]
    for b in blocks[::2] + blocks[1:4:2]:
        device.free(b, BACKWARD_STACK)
    empty = device.segment(32 * MIB, FORWARD_STACK)
    device.free(device.alloc(empty, 32 * MIB, FORWARD_STACK), BACKWARD_STACK)
    device.record("oom", 2 * MIB, 40 * MIB, FORWARD_STACK)
    return snapshot(device)


VARIANTS = [basic, bare_list, state_only, two_devices, no_times, no_frames, odd_frames, torch_1_13, private_pools,
            skip_completed, skip_segments, ring_cut, older_with_frames, expandable, xpu, npu, unknown_actions,
            user_defined, metadata, profile, host, host_lists, oom, pending_free, unbalanced_marks, clock_back,
            unbalanced_sizes, fragmented]


# ---- writing as PyTorch's C++ pickler does ----


class CppPickler:
    """Protocol 2: memo after the container is filled, strings by value, every integer above 32 bits
    in 8 bytes, each list and dict in one batch."""

    def __init__(self):
        self.out, self.memo = io.BytesIO(), {}

    def put(self, key):
        n = self.memo[key] = len(self.memo)
        self.out.write(b"q" + bytes([n]) if n < 256 else b"r" + struct.pack("<I", n))

    def get(self, key):
        n = self.memo[key]
        self.out.write(b"h" + bytes([n]) if n < 256 else b"j" + struct.pack("<I", n))

    def value(self, v):
        w = self.out.write
        if v is None:
            w(b"N")
        elif isinstance(v, bool):
            w(b"\x88" if v else b"\x89")
        elif isinstance(v, int):
            v = v - 2**64 if v >= 2**63 else v
            if 0 <= v < 256:
                w(b"K" + bytes([v]))
            elif 0 <= v < 65536:
                w(b"M" + struct.pack("<H", v))
            elif -(2**31) <= v < 2**31:
                w(b"J" + struct.pack("<i", v))
            else:
                w(b"\x8a\x08" + struct.pack("<q", v))
        elif isinstance(v, float):
            w(b"G" + struct.pack(">d", v))
        elif isinstance(v, str):
            self.string(v)
        else:
            self.container(v)

    def string(self, v):
        if v in self.memo:
            return self.get(v)
        raw = v.encode()
        self.out.write(b"X" + struct.pack("<I", len(raw)) + raw)
        self.put(v)

    def container(self, v):
        key = id(v)
        if key in self.memo:
            return self.get(key)
        if isinstance(v, tuple):
            for x in v:
                self.value(x)
            self.out.write({2: b"\x86", 3: b"\x87"}[len(v)])
        else:
            self.out.write(b"}(" if isinstance(v, dict) else b"](")
            for x in v:
                self.value(x)
                if isinstance(v, dict):
                    self.value(v[x])
            self.out.write(b"u" if isinstance(v, dict) else b"e")
        self.put(key)

    def dump(self, v):
        self.out.write(b"\x80\x02")
        self.value(v)
        self.out.write(b".")
        return self.out.getvalue()


# ---- the truth ----


def in_use(segments):
    for seg in segments:
        at = seg["address"]
        for b in seg["blocks"]:
            at = b.get("address", at)
            if b["state"] != "inactive":
                history = b.get("history") or [{}]
                yield seg, at, b.get("requested_size", history[0].get("real_size", b["size"]))
            at += b["size"]


def truth(data):
    """device number -> start, peak, end, reserved start, reserved peak, reserved end"""
    if isinstance(data, list):
        data = {"segments": data, "device_traces": []}
    traces = {n: t for n, t in enumerate(data["device_traces"])}
    for seg in data["segments"]:
        traces.setdefault(seg["device"], [])
    one_moment = max(map(len, traces.values())) <= 1  # no history: what the last event did is of no account
    for number, events in sorted(traces.items()):
        segments = [s for s in data["segments"] if s["device"] == number]
        if not events and not segments:
            continue
        kinds = {e["action"] for e in events}
        free = "free_completed" if "free_completed" in kinds else "free_requested"
        live, start, level, levels = {}, 0, 0, [0]
        gets, gives = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
        held = [0]
        for e in events:
            if one_moment and e["action"] in ("alloc", "free_requested", "free_completed"):
                continue
            if e["action"] == "alloc":
                live[e["addr"]] = e["size"]
                level += e["size"]
            elif e["action"] == free:
                if live.pop(e["addr"], None) is None:
                    start += e["size"]
                level -= e["size"]
            elif e["action"] in gets + gives:
                held.append(held[-1] + (e["size"] if e["action"] in gets else -e["size"]))
            levels.append(level)
        start += sum(size for _, at, size in in_use(segments) if at not in live)
        total = sum(s["total_size"] for s in segments)
        base = total - held[-1]
        yield number, start, start + max(levels), start + levels[-1], base, base + max(held), total


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "truth.csv"), "w") as out:
        out.write("name,device,start_b,peak_b,end_b,reserved_start_b,reserved_peak_b,reserved_end_b\n")

        def write(name, raw, data):
            with open(os.path.join(folder, name + ".pickle"), "wb") as f:
                f.write(raw)
            for row in truth(data):
                out.write(name + "," + ",".join(map(str, row)) + "\n")

        for variant in VARIANTS:
            write(variant.__name__, pickle.dumps(variant(), protocol=4), variant())
        for protocol in (2, 3, 5):
            write("protocol%d" % protocol, pickle.dumps(basic(), protocol=protocol), basic())
        write("cpp_pickler", CppPickler().dump(basic()), basic())
        write("padded", pickle.dumps(basic(), protocol=4) + b"\0\0\0", basic())


if __name__ == "__main__":
    main()
