"""Records a program with a large vocabulary that accumulates gradients over three batches: FOLDER/words_accumulated.json.zst.

What it holds when its loss is computed in eight parts is printed (`test_advice.py` has it). python3 record_loss.py FOLDER
"""
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import record_models

WORDS, STEPS, BATCHES, PARTS = 1000, 4, 3, 8


def loss(head, hidden, words, reduction="mean"):
    return nn.functional.cross_entropy(head(hidden), words, reduction=reduction)


def train(parts=1):
    embed, trunk, head = nn.Embedding(WORDS, 64), nn.Sequential(nn.Linear(64, 64), nn.ReLU()), nn.Linear(64, WORDS)
    optimizer = torch.optim.SGD([*embed.parameters(), *trunk.parameters(), *head.parameters()], lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        for _ in range(BATCHES):
            words = torch.randint(0, WORDS, (192,))
            hidden = trunk(embed(words))
            if parts == 1:
                total = loss(head, hidden, words)
            else:
                total = sum(checkpoint(loss, head, h, w, "sum", use_reentrant=False) for h, w in zip(hidden.chunk(parts), words.chunk(parts))) / words.numel()
            (total / BATCHES).backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("words_accumulated", record_models.record(train, f"{sys.argv[1]}/words_accumulated.json.zst"), "in parts", record_models.record(lambda: train(PARTS)))
