"""Records programs of five kinds of models: a VAE, a mixture of experts, LoRA, a DLRM, and a scan as Mamba's.

FOLDER/NAME.json.zst is the program; of the same with one thing changed only the peak is printed (`test_advice.py` has
these). A model is built in its recording. python3 record_models.py FOLDER [NAME...]
"""
import json
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

STEPS = 3
ARGS = ("Sequence number", "Fwd thread id", "Input Dims", "Input type", "Concrete Inputs", "Device Type", "Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved")


class Repeated(nn.Module):
    """Layers one after the other, each checkpointed if asked for."""

    def __init__(self, layers, again):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.again = again

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.again else layer(x)
        return x


class Vae(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(2048, 64))
        self.decoder = nn.Sequential(nn.Linear(32, 2048), nn.Unflatten(1, (32, 8, 8)), nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, 2, 1))

    def loss(self, x):
        mean, logvar = self.encoder(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        kl = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).sum()
        return F.mse_loss(self.decoder(z), x, reduction="sum") + kl

    def batch(self, n):
        return (torch.randn(n, 3, 32, 32),)


class Experts(nn.Module):
    def __init__(self, width, n):
        super().__init__()
        self.gate = nn.Linear(width, n)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(n))

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(2, -1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, slot = (chosen == i).nonzero(as_tuple=True)
            out = out.index_add(0, rows, expert(x[rows]) * weights[rows, slot].unsqueeze(1))
        return x + out


class Moe(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.body = Repeated([Experts(64, 4) for _ in range(4)], again)
        self.head = nn.Linear(64, 100)

    def loss(self, x, y):
        return F.cross_entropy(self.head(self.body(x)), y)

    def batch(self, n):
        return torch.randn(n * 64, 64), torch.randint(0, 100, (n * 64,))


class Adapted(nn.Module):
    """A frozen layer with a small one beside it that learns."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.base = nn.Linear(n_in, n_out).requires_grad_(False)
        self.down, self.up = nn.Linear(n_in, 4, bias=False), nn.Linear(4, n_out, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = Adapted(width, 3 * width), Adapted(width, width)
        self.mlp = nn.Sequential(Adapted(width, 4 * width), nn.GELU(), Adapted(4 * width, width))

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, 4, w // 4).permute(2, 0, 3, 1, 4)
        x = x + self.out((((q @ k.transpose(-2, -1)) / (w // 4) ** 0.5).softmax(-1) @ v).transpose(1, 2).reshape(b, t, w))
        return x + self.mlp(self.norm2(x))


class Lora(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.embed = nn.Embedding(256, 64).requires_grad_(False)
        self.body = Repeated([Block(64) for _ in range(4)], again)
        self.head = Adapted(64, 256)

    def loss(self, x, y):
        hidden = self.embed(x).requires_grad_(self.training and torch.is_grad_enabled())
        return F.cross_entropy(self.head(self.body(hidden)).flatten(0, 1), y.flatten())

    def batch(self, n):
        return torch.randint(0, 256, (n, 64)), torch.randint(0, 256, (n, 64))


class Dlrm(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(2000, 32) for _ in range(6))
        self.bottom = nn.Sequential(nn.Linear(13, 128), nn.ReLU(), nn.Linear(128, 32))
        self.top = nn.Sequential(nn.Linear(32 + 21, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1))

    def loss(self, dense, sparse, y):
        low = self.bottom(dense)
        all_ = torch.stack([low] + [table(sparse[:, i]) for i, table in enumerate(self.tables)], 1)
        i, j = torch.triu_indices(7, 7, 1).unbind()
        crossed = (all_ @ all_.transpose(1, 2))[:, i, j]
        return F.binary_cross_entropy_with_logits(self.top(torch.cat([low, crossed], 1)).squeeze(1), y)

    def batch(self, n):
        return torch.randn(n * 16, 13), torch.randint(0, 2000, (n * 16, 6, 4)), torch.rand(n * 16)


class Scan(nn.Module):
    """A layer of a selective scan: one state for each channel, step by step."""

    def __init__(self, width, state):
        super().__init__()
        self.norm, self.into, self.out = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.delta, self.bc = nn.Linear(width, width), nn.Linear(width, 2 * state)
        self.a = nn.Parameter(torch.rand(width, state))

    def forward(self, x):
        u, gate = self.into(self.norm(x)).chunk(2, -1)
        delta, (b, c) = F.softplus(self.delta(u)), self.bc(u).chunk(2, -1)
        h, ys = u.new_zeros(u.shape[0], u.shape[2], self.a.shape[1]), []
        for t in range(u.shape[1]):
            h = h * torch.exp(-delta[:, t, :, None] * self.a) + (delta[:, t] * u[:, t])[:, :, None] * b[:, t, None]
            ys.append((h * c[:, t, None]).sum(-1))
        return x + self.out(torch.stack(ys, 1) * F.silu(gate))


class Mamba(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.body = Repeated([Scan(32, 8) for _ in range(3)], again)
        self.head = nn.Linear(32, 64)

    def loss(self, x, y):
        return F.cross_entropy(self.head(self.body(x)).flatten(0, 1), y.flatten())

    def batch(self, n):
        return torch.randn(n, 12, 32), torch.randint(0, 64, (n, 12))


def to_type(batch, dtype):
    return [x.to(dtype) if x.is_floating_point() else x for x in batch]


def train(kind, again=False, parts=1, dtype=torch.float32, **how):
    model = kind(again).to(dtype)
    how = {"foreach": False, **how}
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3, **how)
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


# name: the program, and what is changed in it
CHANGES = {
    "accumulate": {"parts": 4},
    "bfloat16": {"dtype": torch.bfloat16},
    "checkpoint": {"again": True},
    "foreach_false": {"foreach": False},
    "fused": {"foreach": None, "fused": True},
}
KINDS = {"vae": Vae, "moe": Moe, "lora": Lora, "dlrm": Dlrm, "mamba": Mamba}
PROGRAMS = {name: (lambda kind=kind, **how: train(kind, **how), ("accumulate", "bfloat16") + (("checkpoint",) if name in ("moe", "lora", "mamba") else ())) for name, kind in KINDS.items()}
PROGRAMS["dlrm"] = (lambda **how: train(Dlrm, **{"foreach": True, **how}), ("accumulate", "bfloat16", "foreach_false", "fused"))
EVALUATED = {f"{name}_eval": kind for name, kind in KINDS.items()}


def events_of(profiler):
    """What is kept of a recording: ops, annotations and memory records, with what memtool reads of them."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        events = json.load(open(file.name))["traceEvents"]
    events = [e for e in events if e.get("cat") in ("cpu_op", "user_annotation") or e.get("name") == "[memory]"]
    for e in events:
        e["args"] = {k: v for k, v in e.get("args", {}).items() if k in ARGS}
    return events


def write(events, path):
    data = json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", path], input=data, check=True)


def record_built(name, folder, build, train):
    """Records the training of a model that is built in the recording, and of one built and trained before it: NAME_in, NAME_out.
    Returns what was built before."""
    for before in (False, True):
        torch.manual_seed(0)
        built = build() if before else None
        if before:
            train(*built)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            train(*(built or build()))
        write(events_of(profiler), f"{folder}/{name}_{'out' if before else 'in'}.json.zst")
    return built


def record(program, path=None):
    """The peak of what it records."""
    torch.manual_seed(0)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as profiler:
        program()
    events = events_of(profiler)
    if path:
        write(events, path)
    level = peak = 0
    for e in sorted((e for e in events if e["name"] == "[memory]"), key=lambda e: e["ts"]):
        level += e["args"]["Bytes"]
        peak = max(peak, level)
    return peak


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder, only = sys.argv[1], sys.argv[2:]
    for name, (program, changes) in PROGRAMS.items():
        if not only or name in only:
            print(name, record(program, f"{folder}/{name}.json.zst"), flush=True)
            for change in changes:
                print(name, change, record(lambda: program(**CHANGES[change])), flush=True)
    for name, kind in EVALUATED.items():
        if not only or name in only:
            print(name, record(lambda: evaluate(kind), f"{folder}/{name}.json.zst"), "no_grad", record(lambda: evaluate(kind, grad=False)), flush=True)
