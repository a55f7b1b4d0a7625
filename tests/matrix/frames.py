"""Makes a snapshot of a GPU's allocator of a trace with Python stacks: the same blocks, and frames as PyTorch would write them.

What a snapshot does not have is left out: when operators begin and end, steps, annotations. Backward runs on a thread of
its own there, so that no Python function of the program is around it."""

import json
import pickle
import re
import subprocess

PYTHON = re.compile(r"^(.+?)\((\d+)\): (.+)$")
ENGINE = "autograd::engine::evaluate_function: "


def frames_of(name, kind):
    """Innermost first."""
    python = PYTHON.match(name) if kind == "python_function" else None
    if python:
        return [{"filename": "/usr/lib/python3/site-packages/" + python[1] if python[1].startswith("torch/") else "/home/me/" + python[1], "line": int(python[2]), "name": python[3]}]
    if name.startswith(ENGINE):
        return [{"filename": "??", "line": 0, "name": "torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)"}]
    if name.startswith("aten::"):
        return [{"filename": "??", "line": 0, "name": f"at::_ops::{name[6:]}::call(at::Tensor const&)"}]
    if name.startswith("torch::autograd::"):
        return [{"filename": "??", "line": 0, "name": name + "::apply(std::vector<at::Tensor>&&)"}]
    if name.endswith("Backward0"):
        return [{"filename": "??", "line": 0, "name": f"torch::autograd::generated::{name}::apply(std::vector<at::Tensor>&&)"}]
    return []


def snapshot(path):
    """Of FILE.json.zst, as a dict."""
    events = json.loads(subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout)["traceEvents"]
    ops = [e for e in events if e.get("cat") in ("cpu_op", "python_function")]
    records = [e for e in events if e.get("name") == "[memory]"]
    # an op that starts with a record is around it; the longer of two is outside
    todo = sorted([(e["ts"], 0, -e["dur"], e) for e in ops] + [(e["ts"], 1, i, e) for i, e in enumerate(records)], key=lambda t: t[:3])
    stack, trace, sizes = [], [], {}
    for ts, is_record, _, e in todo:
        while stack and stack[-1]["ts"] + stack[-1]["dur"] < ts:
            stack.pop()
        if not is_record:
            stack.append(e)
            continue
        frames = []
        for op in reversed(stack):
            frames += frames_of(op["name"], op["cat"])
            if op["name"].startswith(ENGINE):
                break
        size, addr = e["args"]["Bytes"], e["args"]["Addr"]
        event = {"addr": addr, "stream": 0, "time_us": int(ts), "frames": frames}
        if size > 0:
            sizes[addr] = size
            trace.append({"action": "alloc", "size": size, **event})
        elif addr in sizes:
            sizes.pop(addr)
            trace += [{"action": "free_requested", "size": -size, **event}, {"action": "free_completed", "size": -size, **event}]
    blocks, at = [], 0
    for addr, size in sizes.items():
        blocks.append({"address": addr, "size": size, "requested_size": size, "state": "active_allocated", "frames": []})
    segments = [{"device": 0, "address": b["address"], "total_size": b["size"], "allocated_size": b["size"], "active_size": b["size"], "requested_size": b["size"], "stream": 0, "segment_type": "large", "is_expandable": False, "blocks": [b]} for b in blocks]
    return {"segments": segments, "device_traces": [trace]}


def write(path, to):
    with open(to, "wb") as file:
        pickle.dump(snapshot(path), file)
