"""Records evaluations that keep a graph: an encoder of nn.TransformerEncoderLayer and one nn.MultiheadAttention, without its weights and with them, which take
another path without a graph, and with Python stacks the pictures and the sound of record_unseen.py.

FOLDER/NAME.json.zst is the program; what it holds under no_grad is printed (`test_advice.py` has it), and of the first three
what it holds without the other path. python3 record_evaluation.py FOLDER [NAME...]
"""
import bisect
import functools
import json
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

import record_models
import record_unseen

STACKS = record_models.ARGS + ("Python id", "Python parent id", "Python module id")


class Attention(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.attention, self.out = nn.MultiheadAttention(64, 4, batch_first=True), nn.Linear(64, 64)

    def loss(self, x):
        return self.out(torch.relu(x + self.attention(x, x, x, need_weights=False)[0])).sum()

    def batch(self, n):
        return (torch.randn(n // 2, 160, 64),)


class Weights(Attention):
    def loss(self, x):
        return self.out(torch.relu(x + self.attention(x, x, x)[0])).sum()


class Encoder(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 3, enable_nested_tensor=False)

    def loss(self, x):
        return self.layers(x).sum()

    def batch(self, n):
        return (torch.randn(n // 2, 256, 64),)


def record_stacks(program, path):
    torch.manual_seed(0)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=True) as profiler:
        program()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        events = json.load(open(file.name))["traceEvents"]
    events = [e for e in events if e.get("cat") in ("cpu_op", "user_annotation", "python_function") or e.get("name") == "[memory]"]
    starts = sorted(float(e["ts"]) for e in events if e.get("cat") != "python_function")
    events = [e for e in events if e.get("cat") != "python_function" or bisect.bisect(starts, float(e["ts"])) < bisect.bisect(starts, float(e["ts"]) + float(e["dur"]))]
    for e in events:
        e["args"] = {k: v for k, v in e.get("args", {}).items() if k in STACKS}
        if e.get("cat") == "python_function" and e["name"].startswith("/"):
            e["name"] = e["name"].rsplit("/", 1)[1]
    data = json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", path], input=data, check=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder, only = sys.argv[1], sys.argv[2:]
    for name, kind in {"attention_eval": Attention, "weights_eval": Weights, "encoder_eval": Encoder, "audio_eval_stack": record_unseen.Audio, "pictures_eval_stack": record_unseen.Pictures}.items():
        if only and name not in only:
            continue
        program, path = functools.partial(record_unseen.evaluate, kind), f"{folder}/{name}.json.zst"
        if name.endswith("_stack"):
            record_stacks(program, path)
            print(name, "no_grad", record_models.record(lambda: program(grad=False)), flush=True)
            continue
        print(name, record_models.record(program, path), "no_grad", record_models.record(lambda: program(grad=False)), end=" ")
        torch.backends.mha.set_fastpath_enabled(False)
        print("without the fast path", record_models.record(lambda: program(grad=False)), flush=True)
        torch.backends.mha.set_fastpath_enabled(True)
