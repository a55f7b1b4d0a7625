#!/usr/bin/env python3
"""Records the samples of this folder with torch.profiler on the CPU: record.py FOLDER [NAME...]

Writes FOLDER/NAME/ for each workload: the trace, and what PyTorch itself says of it (README.md
names the files). Needs PyTorch 2.4 or later and numpy; nothing is downloaded.
"""

import gzip
import json
import os
import sys
from typing import List

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils import checkpoint as activation_checkpoint

WORKLOADS = {}


def workload(flags=None, **arguments):
    """Registers a function `run(prof, **arguments)` under its own name."""

    def add(run):
        WORKLOADS[run.__name__] = (run, flags or {}, arguments)
        return run

    return add


# Small programs, one feature of the profiler each.


@workload()
def basic(prof):
    with record_function("create_tensors"):
        x = torch.rand(512, 512)
        y = torch.rand(512, 256)
    with record_function("use_tensors"):
        z = x @ y
        z = z + 1
    del x
    return z.sum()


@workload()
def nested(prof):
    with record_function("outer_op"):
        x = torch.randn(1000, 1000)
        with record_function("inner_op"):
            return torch.relu(x)


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.a = nn.Conv2d(channels, channels, 3, padding=1)
        self.b = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return x + self.b(torch.relu(self.a(x)))


def residual_blocks(recompute):
    blocks = nn.ModuleList(Residual(16) for _ in range(4))
    x = torch.rand(8, 16, 32, 32, requires_grad=True)
    with record_function("forward"):
        for block in blocks:
            if recompute:
                x = activation_checkpoint.checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        loss = x.mean()
    with record_function("backward"):
        loss.backward()


@workload()
def no_checkpoint(prof):
    residual_blocks(recompute=False)


@workload()
def checkpoint(prof):
    residual_blocks(recompute=True)


@workload(steps=20)
def loop(prof, steps):
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(torch.rand(32, 64)), torch.rand(32, 10))
        loss.backward()
        optimizer.step()
        prof.step()


# A small CNN in training.


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, padding=1)
        self.blocks = nn.Sequential(Residual(32), Residual(32))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = self.blocks(torch.relu(self.stem(x)))
        return self.head(x.mean((2, 3)))


def train_cnn(prof, batch, steps, keep=None):
    """Trains for some steps; whatever `keep` (a list) is given stays alive: a leak."""
    model = Cnn()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        output = model(torch.rand(batch, 3, 32, 32))
        loss = nn.functional.cross_entropy(output, torch.randint(0, 10, (batch,)))
        loss.backward()
        optimizer.step()
        if keep is not None:
            keep.append((loss.detach(), output.detach().clone()))
        prof.step()


@workload(batch=16, steps=5)
def cnn_b16(prof, batch, steps):
    train_cnn(prof, batch, steps)


@workload(flags={"with_stack": True}, batch=8, steps=3)
def cnn_stack(prof, batch, steps):
    train_cnn(prof, batch, steps)


TEN_STEPS = {"wait": 0, "warmup": 0, "active": 10, "repeat": 1}


@workload(flags={"schedule": TEN_STEPS}, batch=16, steps=10)
def leak_steps(prof, batch, steps):
    kept = []
    train_cnn(prof, batch, steps, keep=kept)
    return kept


@workload(flags={"schedule": TEN_STEPS}, batch=16, steps=10)
def noleak_steps(prof, batch, steps):
    train_cnn(prof, batch, steps)


@workload(flags={"schedule": TEN_STEPS}, steps=10)
def cache_steps(prof, steps):
    """Per step: a temporary, a result that lives three steps (a bounded cache), a list that grows."""
    recent, history = [], []
    for _ in range(steps):
        with record_function("compute"):
            x = torch.rand(64, 64)
            y = x @ x
        with record_function("cache"):
            recent.append(torch.relu(y))
            del recent[:-3]
        with record_function("remember"):
            history.append(y.mean(0))
        del x, y
        prof.step()
    return recent, history


@workload(batch=32, steps=5)
def cnn_b32(prof, batch, steps):
    train_cnn(prof, batch, steps)


# Several threads at once.


@torch.jit.script
def branch(x: torch.Tensor, n: int) -> torch.Tensor:
    for _ in range(n):
        x = torch.relu(x @ torch.rand(64, 64))
    return x


@torch.jit.script
def start_forks(x: torch.Tensor) -> List[torch.jit.Future[torch.Tensor]]:
    return [torch.jit.fork(branch, x, 6), torch.jit.fork(branch, x, 6)]


@torch.jit.script
def fork_and_wait(x: torch.Tensor) -> torch.Tensor:
    a = torch.jit.fork(branch, x, 6)
    b = torch.jit.fork(branch, x, 6)
    return torch.jit.wait(a) + torch.jit.wait(b) + branch(x, 3)


@workload()
def fork_join(prof):
    for _ in range(3):
        x = torch.rand(64, 64)
        with record_function("forked_region"):
            forks = start_forks(x)
            with record_function("meanwhile"):
                branch(x, 3)
            for fork in forks:
                fork.wait()


@workload()
def fork_async(prof):
    """An operator that waits for its forks may end on another thread than it began on."""
    for _ in range(3):
        with record_function("forked_region"):
            fork_and_wait(torch.rand(64, 64))


# What is written.


def row(event, shapes):
    return {
        "name": event.key,
        "is_user_annotation": event.is_user_annotation,
        "count": event.count,
        "input_shapes": event.input_shapes if shapes else None,
        "cpu_time_total_us": event.cpu_time_total,
        "self_cpu_time_total_us": event.self_cpu_time_total,
        "cpu_memory_usage": event.cpu_memory_usage,
        "self_cpu_memory_usage": event.self_cpu_memory_usage,
    }


def write_rows(path, events, shapes):
    with open(path, "w") as f:
        lines = (json.dumps(row(e, shapes), separators=(",", ":")) for e in events)
        f.write("[\n" + ",\n".join(lines) + "\n]\n")


def write_sample(prof, meta):
    """Writes the files of one recording into the current folder."""
    prof.export_chrome_trace("trace.json")
    with open("trace.json", "rb") as plain, open("trace.json.gz", "wb") as raw:
        with gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
            packed.write(plain.read())
    os.unlink("trace.json")
    averages = prof.key_averages()
    write_rows("key_averages.json", averages, shapes=False)
    write_rows("by_shape.json", prof.key_averages(group_by_input_shape=True), shapes=True)
    for key in ("cpu_mem", "self_cpu_mem"):
        with open(f"table_{key}.txt", "w") as f:
            f.write(averages.table(sort_by=f"{key}ory_usage", row_limit=10))
    with open("meta.json", "w") as f:
        json.dump(meta, f, indent=2)
        f.write("\n")


def record(name):
    run, flags, arguments = WORKLOADS[name]
    options = {"profile_memory": True, "record_shapes": True, **flags}
    meta = {"torch": torch.__version__, "workload": name, "flags": dict(options)}
    if "schedule" in options:
        options["schedule"] = schedule(**options["schedule"])
    torch.manual_seed(0)
    with profile(activities=[ProfilerActivity.CPU], **options) as prof:
        kept = run(prof, **arguments)
    write_sample(prof, {**meta, "arguments": arguments})
    del kept


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)  # one thread inside an operator: the same records every time
    torch.set_num_interop_threads(2)
    top = os.path.abspath(sys.argv[1])
    with profile(activities=[ProfilerActivity.CPU]):  # the profiler's own start-up
        Cnn()(torch.rand(1, 3, 8, 8)).sum().backward()
    for name in sys.argv[2:] or WORKLOADS:
        os.makedirs(f"{top}/{name}", exist_ok=True)
        os.chdir(f"{top}/{name}")
        record(name)


if __name__ == "__main__":
    main()
