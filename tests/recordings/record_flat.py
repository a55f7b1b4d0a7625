"""Records a model whose parameters and gradients lie in flat buffers, as Apex makes them, built in the recording and before it:
FOLDER/flat_in.json.zst and FOLDER/flat_out.json.zst. python3 record_flat.py FOLDER"""
import sys

import torch
from torch import nn

from record_models import record_built


def views(flat, parameters):
    at = 0
    for p in parameters:
        yield p, flat[at : at + p.numel()].view_as(p)
        at += p.numel()


def build():
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    parameters = list(model.parameters())
    flat = torch.cat([p.detach().reshape(-1) for p in parameters])
    for p, view in views(flat, parameters):
        p.data = view
    flat.requires_grad_(True)
    flat.grad = torch.zeros_like(flat)
    for p, view in views(flat.grad, parameters):
        p.grad = view
    return model, flat, torch.optim.SGD([flat], lr=0.01, momentum=0.9)


def train(model, flat, optimizer):
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(torch.randn(40, 64)), torch.randint(10, (40,)))
        loss.backward()
        optimizer.step()
        flat.grad.zero_()


record_built("flat", sys.argv[1], build, train)
