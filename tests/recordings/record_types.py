"""Records the training of an MLP in float32, under torch.autocast, in bfloat16, and in bfloat16 with data that were made in float32:
FOLDER/type_*.json.zst. python3 record_types.py FOLDER"""
import json
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

ARGS = ("Sequence number", "Fwd thread id", "Input Dims", "Input type", "Concrete Inputs", "Device Type", "Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved")


def train(dtype, autocast, made_as):
    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
    for _ in range(3):
        x, y = torch.randn(512, 128, dtype=made_as).to(dtype), torch.randint(0, 10, (512,))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if len(sys.argv) == 2:
    for name in ("float32", "autocast", "bfloat16", "cast"):
        subprocess.run([sys.executable, __file__, sys.argv[1], name], check=True)
else:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    folder, name = sys.argv[1:]
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as prof:
        dtype = torch.bfloat16 if name in ("bfloat16", "cast") else torch.float32
        train(dtype, name == "autocast", torch.float32 if name == "cast" else dtype)
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        prof.export_chrome_trace(f.name)
        with open(f.name) as written:  # it is another file by now
            trace = json.load(written)
    for event in trace["traceEvents"]:
        event["args"] = {k: v for k, v in event.get("args", {}).items() if k in ARGS}
    text = json.dumps({"traceEvents": trace["traceEvents"]}, separators=(",", ":"))
    subprocess.run(["zstd", "-q", "-f", "-19", "-o", f"{folder}/type_{name}.json.zst"], input=text.encode(), check=True)
