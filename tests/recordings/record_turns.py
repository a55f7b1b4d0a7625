"""Records a line that keeps the result of another op in every step, and one that keeps the last two:
FOLDER/turns.json, FOLDER/turns_kept_two.json. python3 record_turns.py FOLDER"""
import os
import sys

import torch
from torch.profiler import ProfilerActivity, profile

OPS = [torch.add, torch.mul, torch.sub, torch.div, torch.maximum]


def keep(kept, x, i, most):
    kept.append(OPS[i % len(OPS)](x, x))
    if len(kept) > most:
        kept.pop(0)


def run(most, steps=12):
    model = torch.nn.Linear(16, 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, kept = torch.rand(8, 16), []
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, with_stack=True) as prof:
        for i in range(steps):
            model(x).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            keep(kept, x, i, most)
            prof.step()
    return prof


for name, most in (("turns", 1000), ("turns_kept_two", 2)):
    run(most).export_chrome_trace(os.path.join(sys.argv[1], name + ".json"))
