"""Records small training programs with Python stacks, for snapshots made of them (tests/matrix/test_by_frames.py):
FOLDER/NAME.json.zst. python3 record_frames.py FOLDER [NAME...]

What operators tell of each block of a trace is the truth that frames are judged by. The model is built in the recording."""
import json
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

ARGS = ("Sequence number", "Fwd thread id", "Device Type", "Device Id", "Addr", "Bytes")


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)
        self.mlp = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + self.out((q @ k.transpose(1, 2) / 6).softmax(-1) @ v)
        return x + self.mlp(x)


class Language(nn.Module):
    """With a parameter that the program's own code makes, and layers that a checkpoint runs again."""

    def __init__(self, again):
        super().__init__()
        self.again = again
        self.embed, self.place = nn.Embedding(64, 32), nn.Parameter(torch.randn(16, 32))
        self.layers = nn.ModuleList(Attention() for _ in range(3))
        self.head = nn.Linear(32, 64)

    def forward(self, x):
        x = self.embed(x) + self.place
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.again else layer(x)
        return self.head(x)


def language(again=False, steps=3, parts=1, keep=None):
    model = Language(again)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    for _ in range(steps):
        for _ in range(parts):
            words = torch.randint(0, 64, (8, 17))
            loss = F.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
            loss.backward()
            if keep is not None:
                keep.append(loss)
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        optimizer.zero_grad()


def convolutions():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 12 * 12, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = [(torch.randn(8, 3, 16, 16), torch.randint(0, 10, (8,))) for _ in range(4)]
    for x, y in data:
        optimizer.zero_grad(set_to_none=False)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def evaluation():
    model = Language(False).eval()
    with torch.no_grad():
        for _ in range(3):
            model(torch.randint(0, 64, (8, 16))).argmax(-1)


PROGRAMS = {
    "language": language,
    "language_again": lambda: language(again=True),
    "language_parts": lambda: language(parts=3),
    "convolutions": convolutions,
    "evaluation": evaluation,
}


def record(program, path):
    torch.manual_seed(0)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, with_stack=True) as profiler:
        program()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        events = json.load(open(file.name))["traceEvents"]
    events = [e for e in events if e.get("cat") in ("cpu_op", "user_annotation", "python_function") or e.get("name") == "[memory]"]
    events = [e for e in events if not e["name"].startswith("<built-in")]
    for e in events:
        e["args"] = {k: v for k, v in e.get("args", {}).items() if k in ARGS}
    data = json.dumps({"schemaVersion": 1, "with_stack": 1, "profile_memory": 1, "traceEvents": events}).encode()
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", path], input=data, check=True)


torch.set_num_threads(1)
for name, program in PROGRAMS.items():
    if len(sys.argv) < 3 or name in sys.argv[2:]:
        record(program, f"{sys.argv[1]}/{name}.json.zst")
