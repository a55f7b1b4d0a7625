"""Records programs of kinds that no rule was made with: a network for audio, one on a graph, a U-Net with attention, pairs
that are compared, a decoder that keeps keys and values, a network for pictures with batch norm and SGD with momentum.

FOLDER/NAME.json.zst is the program; of the same with one thing changed only the peak is printed (`test_advice.py` has
these). A model is built in its recording. python3 record_unseen.py FOLDER [NAME...]
"""
import sys

import torch
from torch import nn
from torch.nn import functional as F

from record_models import CHANGES, Repeated, record, to_type

STEPS = 3


class Audio(nn.Module):
    """Dilated convolutions over time, each added to what it was given."""

    class Layer(nn.Module):
        def __init__(self, width, dilation):
            super().__init__()
            self.conv = nn.Conv1d(width, 2 * width, 3, padding=dilation, dilation=dilation)
            self.out = nn.Conv1d(width, width, 1)

        def forward(self, x):
            signal, gate = self.conv(x).chunk(2, 1)
            return x + self.out(torch.tanh(signal) * torch.sigmoid(gate))

    def __init__(self, again):
        super().__init__()
        self.into = nn.Conv1d(1, 24, 3, padding=1)
        self.body = Repeated([Audio.Layer(24, 2**i) for i in range(5)], again)
        self.head = nn.Conv1d(24, 32, 1)

    def loss(self, x, y):
        return F.cross_entropy(self.head(self.body(self.into(x))), y)

    def batch(self, n):
        return torch.randn(n, 1, 512), torch.randint(0, 32, (n, 512))


class Graph(nn.Module):
    """Messages along edges, summed at their ends."""

    class Layer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.message, self.update = nn.Linear(2 * width, width), nn.Linear(2 * width, width)

        def forward(self, x, sources, ends):
            messages = F.relu(self.message(torch.cat([x[sources], x[ends]], 1)))
            summed = torch.zeros_like(x).index_add(0, ends, messages)
            return F.relu(self.update(torch.cat([x, summed], 1)))

    def __init__(self, again):
        super().__init__()
        self.layers = nn.ModuleList(Graph.Layer(32) for _ in range(3))
        self.head = nn.Linear(32, 8)

    def loss(self, x, sources, ends, y):
        for layer in self.layers:
            x = layer(x, sources, ends)
        return F.cross_entropy(self.head(x), y)

    def batch(self, n):
        return torch.randn(n * 32, 32), torch.randint(0, n * 32, (n * 256,)), torch.randint(0, n * 32, (n * 256,)), torch.randint(0, 8, (n * 32,))


class Unet(nn.Module):
    """Two levels with a skip, and attention at the lower one."""

    def __init__(self, again):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.up, self.out = nn.ConvTranspose2d(32, 16, 2, stride=2), nn.Conv2d(32, 3, 3, padding=1)

    def loss(self, x, y):
        high = F.silu(self.down1(x))
        low = F.silu(self.down2(high))
        flat = low.flatten(2).transpose(1, 2)
        low = low + self.attention(flat, flat, flat, need_weights=False)[0].transpose(1, 2).reshape(low.shape)
        return F.mse_loss(self.out(torch.cat([high, F.silu(self.up(low))], 1)), y)

    def batch(self, n):
        return torch.randn(n, 3, 24, 24), torch.randn(n, 3, 24, 24)


class Siamese(nn.Module):
    """Two views of each thing, by one encoder; what belongs together is alike."""

    def __init__(self, again):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(128, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 64))

    def loss(self, x):
        one, two = F.normalize(self.encoder(x + 0.1 * torch.randn_like(x))), F.normalize(self.encoder(x + 0.1 * torch.randn_like(x)))
        return F.cross_entropy(one @ two.t() / 0.1, torch.arange(len(x)))

    def batch(self, n):
        return (torch.randn(n * 16, 128),)


class Decoder(nn.Module):
    """Writes word after word, and keeps the keys and values of those before."""

    def __init__(self, again):
        super().__init__()
        self.embed, self.head = nn.Embedding(256, 64), nn.Linear(64, 256)
        self.qkv = nn.ModuleList(nn.Linear(64, 192) for _ in range(2))
        self.out = nn.ModuleList(nn.Linear(64, 64) for _ in range(2))

    def word(self, x, cache):
        x = self.embed(x)
        for i, (qkv, out) in enumerate(zip(self.qkv, self.out)):
            q, k, v = qkv(x).chunk(3, -1)
            if cache[i] is not None:
                k, v = torch.cat([cache[i][0], k], 1), torch.cat([cache[i][1], v], 1)
            cache[i] = (k, v)
            x = x + out((q @ k.transpose(1, 2) / 8).softmax(-1) @ v)
        return self.head(x)

    def loss(self, first):
        cache, x = [None, None], first
        for _ in range(16):
            logits = self.word(x, cache)
            x = logits.argmax(-1)
        return logits.float().sum()

    def batch(self, n):
        return (torch.randint(0, 256, (n, 1)),)


class Pictures(nn.Module):
    """Convolutions with batch norm, without a connection around them."""

    class Layer(nn.Module):
        def __init__(self, n_in, n_out):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out)

        def forward(self, x):
            return F.relu6(self.norm(self.conv(x)))

    def __init__(self, again):
        super().__init__()
        self.into = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.body = Repeated([Pictures.Layer(16, 16) for _ in range(4)], again)
        self.head = nn.Linear(16, 10)

    def loss(self, x, y):
        return F.cross_entropy(self.head(self.body(self.into(x)).mean((2, 3))), y)

    def batch(self, n):
        return torch.randn(n, 3, 48, 48), torch.randint(0, 10, (n,))


def train(kind, again=False, parts=1, dtype=torch.float32, **how):
    model = kind(again).to(dtype)
    if kind is Pictures:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, **{"foreach": False, **how})
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **{"foreach": False, **how})
    for _ in range(STEPS):
        for _ in range(parts):
            (model.loss(*to_type(model.batch(16 // parts), dtype)) / parts).backward()
        optimizer.step()
        optimizer.zero_grad()


def evaluate(kind, grad=True):
    model = kind(False).eval()
    for _ in range(STEPS):
        with torch.set_grad_enabled(grad):
            model.loss(*model.batch(16)).item()


KINDS = {"audio": (Audio, ("accumulate", "bfloat16", "checkpoint")), "graph": (Graph, ("accumulate", "bfloat16")), "unet": (Unet, ("accumulate", "bfloat16")),
         "siamese": (Siamese, ("accumulate", "bfloat16", "fused")), "pictures": (Pictures, ("accumulate", "bfloat16", "checkpoint")), "decoder": (Decoder, ())}

if __name__ == "__main__":
    torch.set_num_threads(1)
    folder, only = sys.argv[1], sys.argv[2:]
    for name, (kind, changes) in KINDS.items():
        if only and name not in only:
            continue
        if changes:
            how = {"foreach": True} if "fused" in changes else {}
            print(name, record(lambda: train(kind, **how), f"{folder}/{name}.json.zst"), flush=True)
            for change in changes:
                print(name, change, record(lambda: train(kind, **{**how, **CHANGES[change]})), flush=True)
        path = f"{folder}/{name}_eval.json.zst"
        print(f"{name}_eval", record(lambda: evaluate(kind), path), "no_grad", record(lambda: evaluate(kind, grad=False)), flush=True)
