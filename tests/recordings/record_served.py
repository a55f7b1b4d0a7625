"""Records a model that answers requests: most of what it holds are weights, so that converting them is the peak.
FOLDER/served.json.zst; of the same in bfloat16 only the peak is printed (`test_advice.py` has it). python3 record_served.py FOLDER"""
import sys

import torch
from torch import nn

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


if __name__ == "__main__":
    record_all({"served": (serve, {"bfloat16": lambda: serve(torch.bfloat16)})}, sys.argv[1], sys.argv[2:])
