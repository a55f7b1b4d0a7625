"""Records programs of six kinds that were held back until the rules stood as they do: a flow of coupling layers, a mixer of patches and channels,
a set of points under max pooling, a convolutional LSTM over pictures, cross attention of an array to its input, an equation that is
integrated in steps.

FOLDER/NAME.json.zst is the program; of the same with one thing changed only the peak is printed (`test_advice.py` has these). A model is built in its recording. python3 record_held_back.py FOLDER [NAME...]
"""
import functools
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from record_newest import TRAINED, Layers, evaluate, record_all, total, train


class Flow(nn.Module):
    """Half of the numbers scales and shifts the other half."""

    class Coupling(nn.Module):
        def __init__(self, width, flip):
            super().__init__()
            self.flip = flip
            self.net = nn.Sequential(nn.Linear(width // 2, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, width))

        def forward(self, state):
            x, log_det = state[:, :-1], state[:, -1:]
            a, b = x.chunk(2, 1)
            if self.flip:
                a, b = b, a
            scale, shift = self.net(a).chunk(2, 1)
            scale = torch.tanh(scale)
            b = b * scale.exp() + shift
            return torch.cat([b, a, log_det + scale.sum(1, keepdim=True)] if self.flip else [a, b, log_det + scale.sum(1, keepdim=True)], 1)

    def __init__(self, every=0):
        super().__init__()
        self.body = Layers([Flow.Coupling(64, i % 2 == 1) for i in range(6)], every)

    def out(self, x):
        return self.body(torch.cat([x, x.new_zeros(len(x), 1)], 1))

    def loss(self, out, x):
        return (0.5 * out[:, :-1].pow(2).sum(1) - out[:, -1]).mean()

    def batch(self, n):
        return (torch.randn(32 * n, 64),)


class Mixer(nn.Module):
    class Block(nn.Module):
        def __init__(self, patches, width):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.patches = nn.Sequential(nn.Linear(patches, 2 * patches), nn.GELU(), nn.Linear(2 * patches, patches))
            self.channels = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

        def forward(self, x):
            x = x + self.patches(self.norm1(x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.norm2(x))

    def __init__(self, every=0):
        super().__init__()
        self.embed = nn.Conv2d(3, 48, 4, 4)
        self.body = Layers([Mixer.Block(64, 48) for _ in range(5)], every)
        self.head = nn.Linear(48, 10)

    def out(self, x, y):
        return self.head(self.body(self.embed(x).flatten(2).transpose(1, 2)).mean(1))

    def loss(self, out, x, y):
        return F.cross_entropy(out, y)

    def batch(self, n):
        return torch.randn(n, 3, 32, 32), torch.randint(0, 10, (n,))


class Points(nn.Module):
    """Sets of points: each by itself, then the largest of all, beside each again."""

    def __init__(self, every=0):
        super().__init__()
        self.turn = nn.Sequential(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU(), nn.Conv1d(32, 64, 1))
        self.turned = nn.Linear(64, 9)
        self.first = nn.Sequential(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU())
        self.second = nn.Sequential(nn.Conv1d(32, 64, 1), nn.BatchNorm1d(64), nn.ReLU(), nn.Conv1d(64, 128, 1), nn.BatchNorm1d(128))
        self.parts = nn.Sequential(nn.Conv1d(160, 64, 1), nn.BatchNorm1d(64), nn.ReLU(), nn.Conv1d(64, 6, 1))

    def out(self, x, y):
        turn = self.turned(self.turn(x).amax(2)).view(-1, 3, 3)
        points = self.first(torch.bmm(turn, x))
        most = self.second(points).amax(2, keepdim=True)
        return self.parts(torch.cat([points, most.expand(-1, -1, x.shape[2])], 1))

    def loss(self, out, x, y):
        return F.cross_entropy(out, y)

    def batch(self, n):
        return torch.randn(n, 3, 256), torch.randint(0, 6, (n, 256))


class Frames(nn.Module):
    """A convolutional LSTM: the next picture of each."""

    def __init__(self, every=0):
        super().__init__()
        self.width = 12
        self.gates, self.paint = nn.Conv2d(1 + self.width, 4 * self.width, 3, padding=1), nn.Conv2d(self.width, 1, 1)

    def out(self, x):
        h = c = x.new_zeros(len(x), self.width, *x.shape[-2:])
        painted = []
        for t in range(x.shape[1] - 1):
            i, f, o, g = self.gates(torch.cat([x[:, t:t + 1], h], 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            painted.append(self.paint(h))
        return torch.cat(painted, 1)

    def loss(self, out, x):
        return F.mse_loss(out, x[:, 1:])

    def batch(self, n):
        return (torch.randn(n, 6, 24, 24),)


class Perceiver(nn.Module):
    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm, self.norm_in, self.norm_out = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
            self.q, self.kv, self.proj = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 3 * width), nn.GELU(), nn.Linear(3 * width, width))

        def forward(self, latent, seen):
            q = self.q(self.norm(latent))
            k, v = self.kv(self.norm_in(seen)).chunk(2, -1)
            weights = torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, -1)
            latent = latent + self.proj(weights @ v)
            return latent + self.mlp(self.norm_out(latent))

    def __init__(self, every=0):
        super().__init__()
        self.every = every
        self.latent = nn.Parameter(0.1 * torch.randn(16, 32))
        self.embed = nn.Linear(8, 32)
        self.blocks = nn.ModuleList(Perceiver.Block(32) for _ in range(4))
        self.head = nn.Linear(32, 5)

    def out(self, x, y):
        seen, latent = self.embed(x), self.latent.expand(len(x), -1, -1)
        for block in self.blocks:
            latent = checkpoint(block, latent, seen, use_reentrant=False) if self.every else block(latent, seen)
        return self.head(latent.mean(1))

    def loss(self, out, x, y):
        return F.cross_entropy(out, y)

    def batch(self, n):
        return torch.randn(n, 200, 8), torch.randint(0, 5, (n,))


class Integrated(nn.Module):
    """Runge and Kutta's fourth order."""

    def __init__(self, every=0):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(32, 128), nn.Tanh(), nn.Linear(128, 32))
        self.head = nn.Linear(32, 4)

    def out(self, x, y):
        h = 0.2
        for _ in range(5):
            k1 = self.field(x)
            k2 = self.field(x + h / 2 * k1)
            k3 = self.field(x + h / 2 * k2)
            k4 = self.field(x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return self.head(x)

    def loss(self, out, x, y):
        return F.cross_entropy(out, y)

    def batch(self, n):
        return torch.randn(16 * n, 32), torch.randint(0, 4, (16 * n,))


NO = functools.partial
KINDS = {"flow": (Flow, ("accumulate", "bfloat16", "checkpoint")), "mixer": (Mixer, ("accumulate", "bfloat16", "checkpoint")),
         "points": (Points, ("accumulate", "bfloat16")), "frames": (Frames, ("accumulate", "bfloat16")),
         "perceiver": (Perceiver, ("accumulate", "bfloat16", "checkpoint")), "integrated": (Integrated, ("accumulate", "bfloat16"))}
# name: the program, what it is with one thing changed
PROGRAMS = {name: (NO(train, kind), {c: NO(train, kind, **TRAINED[c]) for c in changes}) for name, (kind, changes) in KINDS.items()}
PROGRAMS |= {f"{name}_eval": (NO(evaluate, kind), {"no_grad": NO(evaluate, kind, grad=False)}) for name, (kind, _) in KINDS.items()}
PROGRAMS |= {
    "mixer_foreach": (NO(train, Mixer, foreach=True), {"foreach_false": NO(train, Mixer), "fused": NO(train, Mixer, foreach=None, fused=True)}),
    "points_named": (NO(train, Points, named=True), {"del": NO(train, Points)}),
    "integrated_total": (NO(total, Integrated), {"item": NO(total, Integrated, item=True)}),
}

if __name__ == "__main__":
    record_all(PROGRAMS, sys.argv[1], sys.argv[2:])
