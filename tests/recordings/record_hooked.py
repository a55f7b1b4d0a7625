"""Records a training whose optimizers, one for each parameter, are stepped by hooks of the gradients in backward:
FOLDER/hooked.json.zst. With "accumulate" a batch comes in four parts and hooks step in the last: the peak alone is printed.
python3 record_hooked.py FOLDER [accumulate]"""
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

from record_models import events_of, write


def train(parts, step):
    model = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(128, 128), nn.GELU())), nn.Linear(128, 10))
    optimizers = {p: torch.optim.Adam([p]) for p in model.parameters()}
    last = False

    def hook(p):
        if last:
            optimizers[p].step()
            optimizers[p].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(hook)
    for _ in range(4):
        x, y = torch.randn(64, 128), torch.randint(10, (64,))
        for part in range(parts):
            last = part == parts - 1
            loss = nn.functional.cross_entropy(model(x.chunk(parts)[part]), y.chunk(parts)[part]) / parts
            loss.backward()
        step()


def record(folder, parts):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    steps = schedule(wait=0, warmup=0, active=4, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, schedule=steps) as profiler:
        train(parts, profiler.step)
    events = events_of(profiler)
    level = peak = 0
    for e in sorted((e for e in events if e["name"] == "[memory]"), key=lambda e: e["ts"]):
        level += e["args"]["Bytes"]
        peak = max(peak, level)
    print(parts, peak)
    if parts == 1:
        write(events, f"{folder}/hooked.json.zst")


record(sys.argv[1], 4 if len(sys.argv) > 2 else 1)
