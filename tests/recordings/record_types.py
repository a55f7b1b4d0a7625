"""Records the training of an MLP in float32, under torch.autocast, in bfloat16, and in bfloat16 with data that were made in float32;
of an encoder with dropout in float32 and bfloat16: FOLDER/type_*.json.zst. python3 record_types.py FOLDER"""
import json
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

ARGS = ("Sequence number", "Fwd thread id", "Input Dims", "Input type", "Concrete Inputs", "Device Type", "Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved")


def mlp():
    return nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def encoder():
    layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)
    return nn.Sequential(nn.Unflatten(1, (32, 64)), nn.TransformerEncoder(layer, 1), nn.Flatten(), nn.Linear(32 * 64, 10))


def train(model, shape, dtype, autocast, made_as):
    model = model.to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
    for _ in range(3):
        x, y = torch.randn(shape, dtype=made_as).to(dtype), torch.randint(0, 10, shape[:1])
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if len(sys.argv) == 2:
    for name in ("float32", "autocast", "bfloat16", "cast", "encoder_float32", "encoder_bfloat16"):
        subprocess.run([sys.executable, __file__, sys.argv[1], name], check=True)
else:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    folder, name = sys.argv[1:]
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as prof:
        dtype = torch.bfloat16 if name.endswith(("bfloat16", "cast")) and name != "autocast" else torch.float32
        model, shape = (encoder(), (16, 2048)) if "encoder" in name else (mlp(), (512, 128))
        train(model, shape, dtype, name == "autocast", torch.float32 if name == "cast" else dtype)
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        prof.export_chrome_trace(f.name)
        with open(f.name) as written:  # it is another file by now
            trace = json.load(written)
    for event in trace["traceEvents"]:
        event["args"] = {k: v for k, v in event.get("args", {}).items() if k in ARGS}
    text = json.dumps({"traceEvents": trace["traceEvents"]}, separators=(",", ":"))
    subprocess.run(["zstd", "-q", "-f", "-19", "-o", f"{folder}/type_{name}.json.zst"], input=text.encode(), check=True)
