"""Records what a tutorial on memory would show: four small programs, and each with one thing changed: intermediate results that
are deleted, no_grad in evaluation and validation, smaller batches, checkpoints, accumulated gradients, mixed precision.

FOLDER/tutorial_NAME.json.zst is a program; of the same with one thing changed only the peak is printed (`test_advice.py` has
these), but for what `--verify` is tried on. python3 record_tutorial.py FOLDER
"""
import functools
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from record_models import record


def tensors(delete=False):
    """Plain tensors, one made of the other."""
    a, b = torch.randn(256, 256), torch.randn(256, 256)
    c = a @ b
    if delete:
        del a, b
    d = torch.relu(c)
    if delete:
        del c
    e = d * 2
    if delete:
        del d
    f = e + 1
    if delete:
        del e
    return f.sum().item()


def model(width=256, layers=4):
    middle = [part for _ in range(layers - 2) for part in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(nn.Linear(128, width), nn.ReLU(), *middle, nn.Linear(width, 10))


def evaluate(grad=True):
    net = model(layers=6).eval()
    for _ in range(4):
        with torch.set_grad_enabled(grad):
            net(torch.randn(256, 128)).argmax(1).float().mean().item()


def validate(grad=True):
    """Trains, and validates with larger batches."""
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, foreach=False)
    for _ in range(3):
        optimizer.zero_grad()
        F.cross_entropy(net(torch.randn(64, 128)), torch.randint(0, 10, (64,))).backward()
        optimizer.step()
        with torch.set_grad_enabled(grad):
            F.cross_entropy(net(torch.randn(512, 128)), torch.randint(0, 10, (512,))).item()


def total(item=False):
    net, sum_ = model(), 0
    for _ in range(6):
        loss = F.cross_entropy(net(torch.randn(128, 128)), torch.randint(0, 10, (128,)))
        sum_ += loss.item() if item else loss


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.net = nn.LayerNorm(width), nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        return x + self.net(self.norm(x))


class Deep(nn.Module):
    """Each block checkpointed (`again`: 1), each Nth, or none (0)."""

    def __init__(self, again):
        super().__init__()
        self.blocks, self.head, self.again = nn.ModuleList(Block(64) for _ in range(6)), nn.Linear(64, 10), again

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            x = checkpoint(block, x, use_reentrant=False) if self.again and i % self.again == 0 else block(x)
        return self.head(x)


def train(batch=256, parts=1, again=0, dtype=torch.float32, autocast=False):
    net = Deep(again).to(dtype)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, foreach=False)
    for _ in range(2):
        for _ in range(parts):
            x, y = torch.randn(batch // parts, 64), torch.randint(0, 10, (batch // parts,))
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                loss = F.cross_entropy(net(x.to(dtype)).float(), y) / parts
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def logits(name_them=True):
    """A large output layer, whose result has a name through backward."""
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4000))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, foreach=False)
    for _ in range(3):
        x, y = torch.randn(128, 64), torch.randint(0, 4000, (128,))
        optimizer.zero_grad()
        if name_them:
            out = net(x)
            loss = F.cross_entropy(out, y)
        else:
            loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()


PROGRAMS = {
    "del": (tensors, {"del": {"delete": True}}),
    "logits": (logits, {"unnamed": {"name_them": False}}),
    "evaluate": (evaluate, {"no_grad": {"grad": False}}),
    "validate": (validate, {"no_grad": {"grad": False}}),
    "total": (total, {"item": {"item": True}}),
    "train": (
        train,
        {"parts": {"parts": 4}, "checkpoint": {"again": 1}, "second": {"again": 2}, "third": {"again": 3}, "both": {"parts": 4, "again": 1}, "bfloat16": {"dtype": torch.bfloat16}, "autocast": {"autocast": True}, "b64": {"batch": 64}, "b1024": {"batch": 1024}},
    ),
}
KEPT = ("del_del", "train_parts", "train_autocast")  # recorded, too

if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, (program, changes) in PROGRAMS.items():
        print(name, record(program, f"{sys.argv[1]}/tutorial_{name}.json.zst"), end="")
        for change, how in changes.items():
            path = f"{sys.argv[1]}/tutorial_{name}_{change}.json.zst" if f"{name}_{change}" in KEPT else None
            print("", change, record(functools.partial(program, **how), path), end="")
        print(flush=True)
