"""Records tables of embeddings with dense gradients and with sparse ones, whose sizes are those of the words of a batch.

FOLDER/embedded.json.zst and FOLDER/embedded_sparse.json.zst. python3 record_sparse.py FOLDER
"""
import sys

import torch
from torch import nn

import record_models

WORDS, ITEMS, STEPS, BATCH = 4000, 1000, 4, 48


def train(sparse):
    bags, items, head = nn.EmbeddingBag(WORDS, 32, sparse=sparse), nn.Embedding(ITEMS, 16, sparse=sparse), nn.Linear(48, 10)
    optimizer = torch.optim.SGD([*bags.parameters(), *items.parameters(), *head.parameters()], lr=0.1)
    for step in range(STEPS):
        words, item = torch.randint(0, WORDS, (BATCH, 5 + step)), torch.randint(0, ITEMS, (BATCH,))
        optimizer.zero_grad()
        head(torch.cat([bags(words), items(item)], 1)).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, sparse in (("embedded", False), ("embedded_sparse", True)):
        print(name, record_models.record(lambda sparse=sparse: train(sparse), f"{sys.argv[1]}/{name}.json.zst"))
