#!/usr/bin/env python3
"""Records the memory timelines of this folder on the CPU: record.py FOLDER. Needs PyTorch 2.1 or later.

A model whose parameters and optimizer state are older than the profiler trains for three steps.
"""

import sys
import warnings

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

warnings.filterwarnings("ignore")
torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
optimizer = torch.optim.Adam(model.parameters())
kept = []


def step():
    optimizer.zero_grad()
    output = model(torch.randn(32, 64))
    loss = nn.functional.cross_entropy(output, torch.randint(0, 8, (32,)))
    loss.backward()
    optimizer.step()
    kept.append(output.detach().clone())


step()
with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=True) as prof:
    for _ in range(3):
        step()
for name in ("adam.json", "adam.raw.json.gz"):
    prof.export_memory_timeline(f"{sys.argv[1]}/{name}", device="cpu")
