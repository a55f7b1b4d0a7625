"""Records models with weights of 8 bits: of torch.ao, which computes in float32 alone; of int8 that each layer converts; and such with
a low rank that is trained (QLoRA). FOLDER/quantized_NAME.json.zst; of the same in bfloat16 only the peak is printed (`test_advice.py`
has these). python3 record_quantized.py FOLDER [NAME...]"""
import functools
import sys

import torch
from torch import nn
from torch.nn import functional as F

from record_newest import record_all


class Int8(nn.Module):
    def __init__(self, width, rank=0):
        super().__init__()
        weight = torch.randn(width, width)
        self.register_buffer("scale", weight.abs().amax(1, keepdim=True) / 127)
        self.register_buffer("weight", (weight / self.scale).round().to(torch.int8))
        if rank:
            self.down, self.up = nn.Parameter(torch.randn(rank, width) / 100), nn.Parameter(torch.zeros(width, rank))

    def forward(self, x):
        y = F.linear(x, self.weight.to(x.dtype) * self.scale)
        return y + F.linear(F.linear(x, self.down), self.up) if hasattr(self, "up") else y


def infer(model, width, batch, dtype=torch.float32):
    model = model().eval().to(dtype)
    with torch.no_grad():
        for _ in range(3):
            model(torch.randn(batch, width).to(dtype)).sum().item()


def dynamic():
    """As torch.ao makes it."""
    return torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)), {nn.Linear})


def layers(width):
    return nn.Sequential(Int8(width), nn.ReLU(), Int8(width))


def adapted(dtype=torch.float32):
    model = nn.Sequential(Int8(128, 8), nn.ReLU(), Int8(128, 8), nn.ReLU(), nn.Linear(128, 10)).to(dtype)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01, foreach=False)
    for _ in range(3):
        optimizer.zero_grad()
        F.cross_entropy(model(torch.randn(256, 128).to(dtype)).float(), torch.randint(0, 10, (256,))).backward()
        optimizer.step()


HALF = {"dtype": torch.bfloat16}
NO = functools.partial
PROGRAMS = {
    "quantized_dynamic": (NO(infer, dynamic, 64, 512), {}),  # model.bfloat16() fails
    "quantized_built": (NO(infer, NO(layers, 256), 256, 32), {"bfloat16": NO(infer, NO(layers, 256), 256, 32, **HALF)}),
    "quantized_int8": (NO(infer, NO(layers, 64), 64, 1024), {"bfloat16": NO(infer, NO(layers, 64), 64, 1024, **HALF)}),
    "quantized_lora": (adapted, {"bfloat16": NO(adapted, **HALF)}),
}

if __name__ == "__main__":
    record_all(PROGRAMS, sys.argv[1], sys.argv[2:])
