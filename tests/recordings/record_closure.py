"""Records the training of layers in a closure that the optimizer's step calls: FOLDER/closure.json.zst. With "accumulate"
the closure takes a batch in four parts, with "early" gradients go as soon as the optimizer has stepped, with "single" this
steps tensor by tensor: the peak alone is printed. python3 record_closure.py FOLDER [accumulate|early|single]"""
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

from record_models import events_of, write


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.wide, self.back = nn.LayerNorm(64), nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x):
        return x + self.back(nn.functional.gelu(self.wide(self.norm(x))))


def train(how, step, size):
    model = nn.Sequential(*(Layer() for _ in range(6)), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), foreach=how != "single")
    for _ in range(5):
        x, y = torch.randn(size, 64), torch.randint(10, (size,))

        def closure():
            optimizer.zero_grad()
            parts = 4 if how == "accumulate" else 1
            for part, target in zip(x.chunk(parts), y.chunk(parts)):
                (nn.functional.cross_entropy(model(part), target) / parts).backward()

        def late():
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()

        optimizer.step(closure if how == "accumulate" else late)
        if how == "early":
            optimizer.zero_grad()
        step()


def record(folder, how, size):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    steps = schedule(wait=0, warmup=0, active=5, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, schedule=steps) as profiler:
        train(how, profiler.step, size)
    events = events_of(profiler)
    level = peak = 0
    for e in sorted((e for e in events if e["name"] == "[memory]"), key=lambda e: e["ts"]):
        level += e["args"]["Bytes"]
        peak = max(peak, level)
    print(how or "as it is", size, peak)
    if not how:
        write(events, f"{folder}/{'closure' if size > 32 else 'closure_small'}.json.zst")


for n in (256, 16):
    record(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", n)
