"""Records a model under torch.compile, whose layers are within regions of it; a Q network that learns once it has collected what it
learns from, with a copy of itself and all that it has collected; copies of all weights by the step; predictions in a list, with
their graphs and detached, where no backward pass runs; and a convolution before a layer without a bias: FOLDER/compiled.json.zst,
keep_replay.json.zst, keep_states.json.zst, listed.json.zst, listed_detached.json.zst, convolved.json.zst. Of the changed programs only the peaks are printed (`test_advice.py` has them).
python3 record_compiled.py FOLDER [NAME...]"""
import copy
import sys

import torch
from torch import nn
from torch.profiler import record_function

from record_newest import record_all

KEPT = []  # lists of all programs, to the end


def steps(n):
    for i in range(n):
        with record_function(f"ProfilerStep#{i}"):
            yield i


def compiled(dtype=torch.float32):
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)).to(dtype)
    run = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in steps(5):
        optimizer.zero_grad()
        run(torch.randn(128, 64, dtype=dtype)).pow(2).mean().backward()
        optimizer.step()


def convolved(dtype=torch.float32):
    """What its layer without a bias gives to the convolution is its largest product."""
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.Flatten(), nn.Linear(2048, 16, bias=False)).to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in steps(4):
        optimizer.zero_grad()
        model(torch.randn(64, 3, 16, 16, dtype=dtype)).float().pow(2).mean().backward()
        optimizer.step()


def replay(keeps):
    """keeps: how many results there are to learn from; None: all of them."""
    kept = []
    KEPT.append(kept)
    for n in steps(10):
        if n == 0:
            model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
            target = copy.deepcopy(model)
            optimizer = torch.optim.Adam(model.parameters())
        kept.extend(torch.randn(64).clone() for _ in range(16))
        if len(kept) < 64:
            continue
        batch = torch.stack(kept[-64:])
        with torch.no_grad():
            wanted = target(batch)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(batch), wanted).backward()
        optimizer.step()
        if keeps:
            del kept[:-keeps]


def states(keeps):
    """keeps: how many copies of the weights."""
    model, kept = nn.Linear(128, 128), []
    KEPT.append(kept)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in steps(9):
        optimizer.zero_grad()
        model(torch.randn(8, 128)).mean().backward()
        optimizer.step()
        kept.append(copy.deepcopy(model.state_dict()))
        del kept[:-keeps]


def listed(detached, graph=True):
    model, kept = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 128)), []
    KEPT.append(kept)
    for _ in steps(8):
        x = torch.randn(128, 64)
        with torch.set_grad_enabled(graph):
            kept.append(model(x).detach() if detached else model(x))


if __name__ == "__main__":
    record_all({"compiled": (compiled, {"bfloat16": lambda: compiled(torch.bfloat16)}),
                "convolved": (convolved, {"bfloat16": lambda: convolved(torch.bfloat16)}),
                "keep_replay": (lambda: replay(None), {"stop_keeping": lambda: replay(48)}),
                "keep_states": (lambda: states(9), {"stop_keeping": lambda: states(1)}),
                "listed": (lambda: listed(False), {"no_grad": lambda: listed(False, False), "detach": lambda: listed(True)}),
                "listed_detached": (lambda: listed(True), {"no_grad": lambda: listed(True, False)})}, sys.argv[1], sys.argv[2:])
