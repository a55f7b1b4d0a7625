"""Records a model of tensors that are computed, and handed on by ops that copy nothing (`.to(device)`, `.view()`, `.t()`) before
they become parameters, built in the recording and before it: FOLDER/handed_in.json.zst and FOLDER/handed_out.json.zst; the bytes
that were older are printed. python3 record_handed.py FOLDER"""
import sys

import torch
from torch import nn

from record_models import record_built


def build():
    def numbers():
        return torch.randn(64, 64) * 0.05

    weights = [nn.Parameter(numbers().to("cpu")), nn.Parameter(numbers().view(64, 64)), nn.Parameter(numbers().t()),
               nn.Parameter(numbers().to("cpu").t().contiguous())]
    return weights, torch.optim.SGD(weights, lr=0.01, momentum=0.9)


def train(weights, optimizer):
    for _ in range(3):
        x = torch.randn(40, 64)
        for w in weights:
            x = torch.relu(x @ w)
        optimizer.zero_grad()
        x.mean().backward()
        optimizer.step()


built = record_built("handed", sys.argv[1], build, train)
print("handed_out", 2 * sum(w.untyped_storage().nbytes() for w in built[0]))
