"""Records small programs with the truth of their tensors: FOLDER/NAME.json.zst, FOLDER/truth.json.

What every op returns is seen as it returns (TorchDispatchMode), in an annotation of its own, which is
taken out of the trace again: so each allocation is known as the tensor whose storage it became.
truth.json: by name, of each allocation in order of time [bytes, shape, type], or null: of memory that no
op returned. python3 record_tensors.py FOLDER [NAME...]
"""
import json
import subprocess
import sys
import tempfile

import torch
from torch import nn
from torch.profiler import profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


class Truth(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.rows = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        with record_function("truth %d" % len(self.rows)):
            out = func(*args, **(kwargs or {}))
        seen = []
        for t in tree_flatten(out)[0]:
            if isinstance(t, torch.Tensor) and t.layout == torch.strided:
                s = t.untyped_storage()
                last = sum((n - 1) * step for n, step in zip(t.shape, t.stride()))
                if (last + 1) * t.element_size() != s.nbytes():
                    continue  # a part of something
                seen.append((s.data_ptr(), s.nbytes(), list(t.shape), str(t.dtype)[len("torch."):]))
        self.rows.append(seen)
        return out


def train(model, make, loss, steps=2, optimizer=torch.optim.SGD):
    optimizer = optimizer(model.parameters(), lr=0.01)
    for _ in range(steps):
        x, y = make()
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()


class Residual(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(n, n, 3, padding=1), nn.BatchNorm2d(n)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)


def cnn():
    model = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), Residual(12), nn.MaxPool2d(2), nn.Conv2d(12, 24, 3, stride=2),
                          Residual(24), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))
    train(model, lambda: (torch.randn(4, 3, 20, 20), torch.randint(0, 10, (4,))), nn.functional.cross_entropy)


def channels_last():
    model = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), Residual(12), nn.ConvTranspose2d(12, 6, 2, stride=2),
                          nn.Upsample(scale_factor=2), nn.GroupNorm(2, 6)).to(memory_format=torch.channels_last)
    train(model, lambda: (torch.randn(2, 3, 12, 12).to(memory_format=torch.channels_last), torch.randn(2, 6, 48, 48)),
          nn.functional.mse_loss)


def transformer():
    model = nn.Sequential(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True),
                          nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu"), nn.Linear(32, 50))
    train(model, lambda: (torch.randn(3, 10, 32), torch.randint(0, 50, (3, 10))),
          lambda out, y: nn.functional.cross_entropy(out.flatten(0, 1), y.flatten()), optimizer=torch.optim.AdamW)


class Attention(nn.Module):
    """Written out, with a mask."""

    def __init__(self, n, words):
        super().__init__()
        self.words, self.place = nn.Embedding(words, n), nn.Embedding(16, n)
        self.qkv, self.out, self.head = nn.Linear(n, 3 * n), nn.Linear(n, n), nn.Linear(n, words)

    def forward(self, ids):
        b, t = ids.shape
        x = self.words(ids) + self.place(torch.arange(t))
        q, k, v = (p.view(b, t, 4, -1).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        mask = torch.ones(t, t).tril() == 0
        weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).masked_fill(mask, float("-inf")).softmax(-1)
        y = nn.functional.dropout(weights, 0.1) @ v
        return self.head(nn.functional.layer_norm(x + self.out(y.transpose(1, 2).reshape(b, t, -1)), (x.shape[-1],)))


def attention():
    train(Attention(32, 40), lambda: (torch.randint(0, 40, (3, 12)), torch.randint(0, 40, (3, 12))),
          lambda out, y: nn.functional.cross_entropy(out.flatten(0, 1), y.flatten()), optimizer=torch.optim.Adam)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.gru = nn.Embedding(30, 16), nn.LSTM(16, 20, 2, batch_first=True), nn.GRU(20, 12)
        self.cell, self.head = nn.LSTMCell(12, 8), nn.Linear(8, 30)

    def forward(self, ids):
        x = self.gru(self.lstm(self.words(ids))[0].transpose(0, 1))[0]
        state = None
        for step in x[:3]:
            state = self.cell(step, state)
        return self.head(state[0])


def recurrent():
    train(Recurrent(), lambda: (torch.randint(0, 30, (4, 9)), torch.randint(0, 30, (4,))), nn.functional.cross_entropy)


class Tables(nn.Module):
    """As recommenders have them: bags of ids, products of features."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(50, 8, mode=mode) for mode in ("sum", "mean", "max"))
        self.dense = nn.Sequential(nn.Linear(5, 8), nn.SiLU(), nn.Linear(8, 8), nn.Tanh())
        self.top = nn.Sequential(nn.Linear(8 + 6, 8), nn.LeakyReLU(), nn.Linear(8, 1))

    def forward(self, x):
        dense, ids = x
        parts = [self.dense(dense)] + [t(ids) for t in self.tables]
        z = torch.stack(parts, 1)
        z = torch.bmm(z, z.transpose(1, 2))
        i, j = torch.triu_indices(4, 4, 1)
        return torch.sigmoid(self.top(torch.cat([parts[0], z[:, i, j]], 1))).squeeze(1)


def tables():
    train(Tables(), lambda: ((torch.randn(6, 5), torch.randint(0, 50, (6, 4))), torch.rand(6)),
          nn.functional.binary_cross_entropy, optimizer=torch.optim.Adagrad)


def autocast():
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), Residual(16), nn.Flatten(), nn.Linear(16 * 64, 20), nn.GELU(),
                          nn.Linear(20, 10))

    def loss(out, y):
        return nn.functional.cross_entropy(out.float(), y)

    with torch.autocast("cpu", torch.bfloat16):
        train(model, lambda: (torch.randn(4, 3, 8, 8), torch.randint(0, 10, (4,))), loss)


def halves():
    """Models whose parameters are bfloat16, and float64."""
    for dtype in torch.bfloat16, torch.float64:
        model = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.LayerNorm(48), nn.Softmax(-1), nn.Linear(48, 6)).to(dtype)
        train(model, lambda: (torch.randn(5, 24, dtype=dtype), torch.randn(5, 6, dtype=dtype)), nn.functional.l1_loss)


def types():
    """Ops between types: integers, bool, numbers, no dimension."""
    f, d, h, b = (torch.rand(3, 7, dtype=t) + 1 for t in (torch.float32, torch.float64, torch.float16, torch.bfloat16))
    i, l, u = (torch.arange(1, 22, dtype=t).view(3, 7) for t in (torch.int32, torch.int64, torch.uint8))
    s, n = torch.tensor(2.5), torch.tensor(3)
    kept = []
    for x in f, d, h, b, i, l, u:
        kept += [x + 1, x * 2.5, x - s, x * n, x / 2, x.sqrt(), x > 4, x.sum(), x.sum(1), x.mean(dtype=torch.float64)]
        kept += [x.max(1), x.min(), x.argmax(0), x.cumsum(1), x.sort(1), x.clamp(2, 9), x.clamp_min(2.5), x ** 2]
        kept += [x.to(torch.float32), x.t().contiguous(), torch.cat([x, x]), torch.where(x > 3, x, x), (x > 2).all(1)]
        kept += [torch.zeros_like(x), torch.full_like(x, 3), x.new_ones(2, 5), torch.stack([x, x], 1), x.topk(2)]
        kept += [x + f, x * l, x + u, torch.maximum(x, x), x.eq(x), x.neg() if x is not u else x, x.remainder(3)]
        kept += [x[:, :1] * x[:1], x.index_select(1, torch.tensor([0, 2])), x.gather(1, l % 7), x.nonzero(), x.tril()]
    kept += [torch.randperm(9), torch.eye(5), torch.linspace(0, 1, 11), torch.full((2, 3), True), torch.ones(4, dtype=torch.complex64)]
    kept += [torch.fft.rfft(f), torch.outer(f[0], f[0]), f @ f.t(), (f > 1) & (f < 2), f.std(0), f.norm(), torch.einsum("ij,kj->ik", f, f)]
    kept += [kept[-1].inverse(), torch.empty(3, 4, dtype=torch.int16), torch.empty_strided((4, 3), (1, 8)), torch.arange(5.0)]
    torch.set_default_dtype(torch.float64)
    kept += [torch.ones(5, 2), torch.zeros(3), i / 2]
    torch.set_default_dtype(torch.bfloat16)
    kept += [torch.ones(5, 2), torch.empty(4, 4)]
    torch.set_default_dtype(torch.float32)
    return kept


WORKLOADS = [cnn, channels_last, transformer, attention, recurrent, tables, autocast, halves, types]


def blocks_of(trace, rows):
    """[bytes, shape, type] or None of each allocation; takes the annotations out of the trace."""
    events = trace["traceEvents"]
    marks = [e for e in events if str(e.get("name")).startswith("truth ")]
    trace["traceEvents"] = [e for e in events if not str(e.get("name")).startswith("truth ")]
    marks = sorted((e["ts"], e["ts"] + e["dur"], rows[int(e["name"].split()[1])]) for e in marks if e["cat"] == "user_annotation")
    memory = [e for e in events if e.get("name") == "[memory]"]
    memory.sort(key=lambda e: (e["ts"], e["args"]["Ev Idx"]))
    out, at, last = [], 0, {}
    for e in memory:
        if e["args"]["Bytes"] <= 0:
            continue
        out.append(None)
        while at < len(marks) and marks[at][1] < e["ts"]:
            at, last = at + 1, {}
        if at == len(marks) or e["ts"] < marks[at][0]:
            continue
        for address, size, shape, dtype in marks[at][2]:
            if (address, size) == (e["args"]["Addr"], e["args"]["Bytes"]):
                if address in last:
                    out[last[address]] = None  # it was freed again in the op
                last[address] = len(out) - 1
                out[-1] = [size, shape, dtype]
                break
    return out


def record(work, folder):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    truth = Truth()
    with profile(profile_memory=True, record_shapes=True) as prof, truth:
        kept = work()
    del kept
    with tempfile.TemporaryDirectory() as scratch:
        path = scratch + "/trace.json"
        prof.export_chrome_trace(path)
        with open(path) as f:
            trace = json.load(f)
        blocks = blocks_of(trace, truth.rows)
        with open(path, "w") as f:
            json.dump(trace, f, separators=(",", ":"))
        subprocess.run(["zstd", "-q", "-f", "-19", path, "-o", "%s/%s.json.zst" % (folder, work.__name__)], check=True)
    return blocks


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    out = {}
    for work in WORKLOADS:
        if not names or work.__name__ in names:
            out[work.__name__] = record(work, folder)
    with open(folder + "/truth.json", "w") as f:
        f.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v, separators=(",", ":"))) for k, v in out.items()) + "\n}\n")


if __name__ == "__main__":
    main()
