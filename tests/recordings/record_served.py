"""Records a model that answers requests: most of what it holds are weights, so that converting them is the peak; and one that keeps
keys and values of each request, joined, so that no view holds them. FOLDER/served.json.zst, served_kept.json.zst; of the first in
bfloat16 only the peak is printed (`test_advice.py` has it). python3 record_served.py FOLDER [NAME...]"""
import sys

import torch
from torch import nn
from torch.profiler import record_function

from record_newest import record_all


class Served(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix, self.words = nn.Linear(64, 192), nn.Embedding(1000, 64)

    def forward(self, words):
        q, k, v = self.mix(self.words(words)).chunk(3, -1)
        return torch.softmax(q @ k.T, -1) @ v


def serve(dtype=torch.float32):
    model = Served().to(dtype)
    with torch.inference_mode():
        for n in range(4):
            model(torch.arange(128) + n)


def keep():
    model, kept = Served(), []
    with torch.inference_mode():
        for n in range(6):
            with record_function(f"ProfilerStep#{n}"):
                _, k, v = model.mix(model.words(torch.arange(16))).chunk(3, -1)
                kept.append((torch.cat([k, k[:8]]), torch.cat([v, v[:8]])))


if __name__ == "__main__":
    record_all({"served": (serve, {"bfloat16": lambda: serve(torch.bfloat16)}), "served_kept": (keep, {})}, sys.argv[1], sys.argv[2:])
