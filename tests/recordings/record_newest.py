"""Records programs of kinds that came after all others: attention in shifted windows, two towers that are compared, an encoder and
a decoder that finds objects, a recurrent translator with attention, a field that is rendered along rays, attention on a graph, dilated
convolutions with skips, an actor and a critic; and plain tensors.

FOLDER/NAME.json.zst is the program; of the same with one thing changed only the peak is printed (`test_advice.py` has these). A model is built in its recording. python3 record_newest.py FOLDER [NAME...]
"""
import functools
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from record_models import record, to_type

STEPS = 2


class Layers(nn.Module):
    """One after the other, each Nth checkpointed; 0: none."""

    def __init__(self, layers, every=0):
        super().__init__()
        self.layers, self.every = nn.ModuleList(layers), every

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = checkpoint(layer, x, use_reentrant=False) if self.every and i % self.every == 0 else layer(x)
        return x


class Swin(nn.Module):
    class Block(nn.Module):
        def __init__(self, width, size, window, shift):
            super().__init__()
            self.window, self.shift, self.size, self.heads = window, shift, size, 2
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.bias = nn.Parameter(torch.zeros(self.heads, window * window, window * window))
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            b, n, c = x.shape
            s, w = self.size, self.window
            grid = self.norm1(x).view(b, s, s, c)
            if self.shift:
                grid = torch.roll(grid, (-self.shift, -self.shift), (1, 2))
            parts = grid.view(b, s // w, w, s // w, w, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, c)
            q, k, v = self.qkv(parts).view(-1, w * w, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
            attention = (q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5 + self.bias).softmax(-1)
            out = self.proj((attention @ v).transpose(1, 2).reshape(-1, w * w, c))
            out = out.view(b, s // w, s // w, w, w, c).permute(0, 1, 3, 2, 4, 5).reshape(b, s, s, c)
            if self.shift:
                out = torch.roll(out, (self.shift, self.shift), (1, 2))
            x = x + out.view(b, n, c)
            return x + self.mlp(self.norm2(x))

    def __init__(self, every=0):
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 4, 4)
        self.body = Layers([Swin.Block(32, 8, 4, 2 * (i % 2)) for i in range(4)], every)
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 10)

    def out(self, x, y):
        return self.head(self.norm(self.body(self.patches(x).flatten(2).transpose(1, 2))).mean(1))

    def loss(self, out, x, y):
        return F.cross_entropy(out, y)

    def batch(self, n):
        return torch.randn(n, 3, 32, 32), torch.randint(0, 10, (n,))


class Clip(nn.Module):
    class Words(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

        def forward(self, x):
            q, k, v = self.qkv(self.norm1(x)).chunk(3, -1)
            x = x + self.proj(F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0])
            return x + self.mlp(self.norm2(x))

    def __init__(self, every=0):
        super().__init__()
        self.picture = nn.Sequential(*(m for a, b in ((3, 16), (16, 32), (32, 64)) for m in (nn.Conv2d(a, b, 3, 2, 1), nn.BatchNorm2d(b), nn.ReLU())))
        self.embed, self.words = nn.Embedding(300, 48), Layers([Clip.Words(48) for _ in range(3)], every)
        self.to_picture, self.to_text, self.scale = nn.Linear(64, 32), nn.Linear(48, 32), nn.Parameter(torch.tensor(2.0))

    def out(self, x, text):
        picture = F.normalize(self.to_picture(self.picture(x).mean((2, 3))), dim=-1)
        text = F.normalize(self.to_text(self.words(self.embed(text)).mean(1)), dim=-1)
        return picture @ text.t() * self.scale.exp()

    def loss(self, out, x, text):
        own = torch.arange(len(x))
        return (F.cross_entropy(out, own) + F.cross_entropy(out.t(), own)) / 2

    def batch(self, n):
        return torch.randn(n, 3, 32, 32), torch.randint(0, 300, (n, 24))


class Detr(nn.Module):
    def __init__(self, every=0):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 48, 3, 2, 1))
        self.encoder = nn.ModuleList(nn.TransformerEncoderLayer(48, 4, 96, 0.0, batch_first=True) for _ in range(1))
        self.decoder = nn.ModuleList(nn.TransformerDecoderLayer(48, 4, 96, 0.0, batch_first=True) for _ in range(2))
        self.queries, self.where = nn.Embedding(20, 48), nn.Parameter(torch.randn(64, 48))
        self.kinds, self.boxes = nn.Linear(48, 11), nn.Sequential(nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4))

    def out(self, x, y, box):
        memory = self.backbone(x).flatten(2).transpose(1, 2) + self.where
        for layer in self.encoder:
            memory = layer(memory)
        found = self.queries.weight.expand(len(x), -1, -1)
        for layer in self.decoder:
            found = layer(found, memory)
        return self.kinds(found), self.boxes(found).sigmoid()

    def loss(self, out, x, y, box):
        return F.cross_entropy(out[0].flatten(0, 1), y.flatten()) + F.l1_loss(out[1], box)

    def batch(self, n):
        return torch.randn(n, 3, 64, 64), torch.randint(0, 11, (n, 20)), torch.rand(n, 20, 4)


class Translator(nn.Module):
    """An LSTM reads, another writes word by word and looks back."""

    def __init__(self, every=0):
        super().__init__()
        self.embed, self.read, self.write = nn.Embedding(400, 48), nn.LSTM(48, 64, batch_first=True), nn.LSTMCell(48 + 64, 64)
        self.query, self.head = nn.Linear(64, 64), nn.Linear(128, 400)

    def out(self, source, target):
        seen, (h, c) = self.read(self.embed(source))
        h, c, outs, context = h[0], c[0], [], torch.zeros_like(h[0])
        words = self.embed(target)
        for t in range(target.shape[1]):
            h, c = self.write(torch.cat([words[:, t], context], -1), (h, c))
            weights = (seen @ self.query(h).unsqueeze(-1)).softmax(1)
            context = (weights * seen).sum(1)
            outs.append(self.head(torch.cat([h, context], -1)))
        return torch.stack(outs, 1)

    def loss(self, out, source, target):
        return F.cross_entropy(out.flatten(0, 1), target.flatten())

    def batch(self, n):
        return torch.randint(0, 400, (n, 24)), torch.randint(0, 400, (n, 12))


class Nerf(nn.Module):
    """Colours and densities at points, summed along rays."""

    def __init__(self, every=0):
        super().__init__()
        self.first = nn.ModuleList([nn.Linear(39, 96)] + [nn.Linear(96, 96) for _ in range(3)])
        self.second = nn.ModuleList([nn.Linear(96 + 39, 96)] + [nn.Linear(96, 96) for _ in range(2)])
        self.density, self.colour = nn.Linear(96, 1), nn.Linear(96, 3)

    def out(self, origin, direction, colour):
        depth = torch.linspace(0, 1, 16).to(origin)
        points = origin[:, None] + direction[:, None] * depth[:, None]
        waves = [points] + [f(points * 2.0**i) for i in range(6) for f in (torch.sin, torch.cos)]
        code = torch.cat(waves, -1)
        x = code
        for layer in self.first:
            x = F.relu(layer(x))
        x = torch.cat([x, code], -1)
        for layer in self.second:
            x = F.relu(layer(x))
        opacity = 1 - torch.exp(-F.relu(self.density(x)[..., 0]) / 16)
        through = torch.cumprod(torch.cat([torch.ones_like(opacity[:, :1]), 1 - opacity + 1e-6], 1), 1)[:, :-1]
        return ((opacity * through)[..., None] * torch.sigmoid(self.colour(x))).sum(1)

    def loss(self, out, origin, direction, colour):
        return F.mse_loss(out, colour)

    def batch(self, n):
        return torch.randn(16 * n, 3), torch.randn(16 * n, 3), torch.rand(16 * n, 3)


class Attends(nn.Module):
    """Attention along the edges of a graph, by scatter."""

    class Layer(nn.Module):
        def __init__(self, width, heads=4):
            super().__init__()
            self.heads, self.value, self.score = heads, nn.Linear(width, width), nn.Linear(2 * width // heads, 1)
            self.norm = nn.LayerNorm(width)

        def forward(self, x, sources, ends):
            v = self.value(self.norm(x)).view(len(x), self.heads, -1)
            score = F.leaky_relu(self.score(torch.cat([v[sources], v[ends]], -1)), 0.2).exp()
            total = torch.zeros(len(x), self.heads, 1).to(x).scatter_add(0, ends[:, None, None].expand_as(score), score)
            messages = v[sources] * (score / (total[ends] + 1e-6))
            summed = torch.zeros_like(v).scatter_add(0, ends[:, None, None].expand_as(messages), messages)
            return x + F.elu(summed.flatten(1))

    def __init__(self, every=0):
        super().__init__()
        self.into, self.head = nn.Linear(16, 32), nn.Linear(32, 5)
        self.layers = nn.ModuleList(Attends.Layer(32) for _ in range(4))
        self.every = every

    def out(self, x, sources, ends, y):
        x = self.into(x)
        for layer in self.layers:
            x = checkpoint(layer, x, sources, ends, use_reentrant=False) if self.every else layer(x, sources, ends)
        return self.head(x)

    def loss(self, out, x, sources, ends, y):
        return F.cross_entropy(out, y)

    def batch(self, n):
        return torch.randn(20 * n, 16), torch.randint(0, 20 * n, (120 * n,)), torch.randint(0, 20 * n, (120 * n,)), torch.randint(0, 5, (20 * n,))


class Scaled(nn.Module):
    """Layers that scale what they add, as ConvNeXt's: each makes its scale when it is built. Their logits are asked for in float32."""

    class Layer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.net, self.scale = nn.Sequential(nn.Linear(width, width), nn.ReLU()), nn.Parameter(torch.ones(width) * 0.1)

        def forward(self, x):
            return x + self.net(x) * self.scale

    def __init__(self, every=0):
        super().__init__()
        self.layers, self.head = Layers([Scaled.Layer(32) for _ in range(4)], every), nn.Linear(32, 256)

    def out(self, x, y):
        return self.head(self.layers(x))

    def loss(self, out, x, y):
        return F.cross_entropy(out.float(), y)

    def batch(self, n):
        return torch.randn(8 * n, 32), torch.randint(0, 256, (8 * n,))


class Wavenet(nn.Module):
    """Dilated convolutions that look back; what each skips is summed at the end."""

    class Layer(nn.Module):
        def __init__(self, width, dilation):
            super().__init__()
            self.pad, self.filter = dilation, nn.Conv1d(width, width, 2, dilation=dilation)
            self.gate, self.skip, self.out = nn.Conv1d(width, width, 2, dilation=dilation), nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 1)

        def forward(self, x):
            padded = F.pad(x, (self.pad, 0))
            z = torch.tanh(self.filter(padded)) * torch.sigmoid(self.gate(padded))
            return x + self.out(z), self.skip(z)

    def __init__(self, every=0):
        super().__init__()
        self.into, self.layers = nn.Conv1d(1, 16, 1), nn.ModuleList(Wavenet.Layer(16, 2**i) for i in range(6))
        self.end1, self.end2, self.every = nn.Conv1d(32, 32, 1), nn.Conv1d(32, 64, 1), every

    def out(self, x, y):
        x, skips = self.into(x), 0
        for layer in self.layers:
            x, skip = checkpoint(layer, x, use_reentrant=False) if self.every else layer(x)
            skips = skips + skip
        return self.end2(F.relu(self.end1(F.relu(skips))))

    def loss(self, out, x, y):
        return F.cross_entropy(out, y)

    def batch(self, n):
        return torch.randn(n, 1, 256), torch.randint(0, 64, (n, 256))


def train(kind, every=0, parts=1, dtype=torch.float32, autocast=False, named=False, none=True, **how):
    model = kind(every).to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **{"foreach": False, **how})
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=none)
        for _ in range(parts):
            batch = to_type(model.batch(16 // parts), dtype)
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                out = model.out(*batch)
                loss = model.loss(out, *batch) / parts
            if not named:
                del out
            loss.backward()
            del loss
        optimizer.step()


def evaluate(kind, grad=True):
    model = kind().eval()
    for _ in range(STEPS):
        with torch.set_grad_enabled(grad):
            batch = model.batch(16)
            model.loss(model.out(*batch), *batch).item()


def total(kind, item=False):
    model, sum_ = kind().eval(), 0
    for _ in range(5):
        batch = model.batch(16)
        loss = model.loss(model.out(*batch), *batch)
        sum_ += loss.item() if item else loss


def validated(grad=True):
    """A loss that keeps every graph, though nothing else names its batch any more."""
    model = nn.Sequential(*(m for _ in range(4) for m in (nn.Linear(256, 256), nn.ReLU())), nn.Linear(256, 10))
    sum_ = 0
    with torch.set_grad_enabled(grad):
        for _ in range(8):
            x, y = torch.randn(64, 256), torch.randint(0, 10, (64,))
            out = model(x)
            sum_ = sum_ + F.cross_entropy(out, y)
            del x, y, out


def act(grad=True):
    """An actor plays, and its choices are scored by a critic; then both learn of what was played."""
    actor = nn.Sequential(nn.Linear(24, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 6))
    critic = nn.Sequential(nn.Linear(24, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-4, foreach=False)
    for _ in range(3):
        seen, chosen, logs, values, rewards, x = [], [], [], [], [], torch.randn(64, 24)
        for _ in range(8):
            with torch.set_grad_enabled(grad):
                choice = torch.distributions.Categorical(logits=actor(x))
                action = choice.sample()
                logs.append(choice.log_prob(action))
                values.append(critic(x)[:, 0])
            seen.append(x)
            chosen.append(action)
            rewards.append(torch.randn(64))
            x = torch.roll(x, 1, 1) + 0.1 * torch.randn(64, 24)
        returns, after = [], torch.zeros(64)
        for reward in reversed(rewards):
            after = reward + 0.99 * after
            returns.insert(0, after)
        xs, actions, old, back = torch.cat(seen), torch.cat(chosen), torch.cat(logs).detach(), torch.cat(returns)
        better = back - torch.cat(values).detach()
        for _ in range(2):
            for rows in torch.randperm(len(xs)).chunk(2):
                optimizer.zero_grad()
                choice = torch.distributions.Categorical(logits=actor(xs[rows]))
                ratio = (choice.log_prob(actions[rows]) - old[rows]).exp()
                gain = torch.min(ratio * better[rows], ratio.clamp(0.8, 1.2) * better[rows]).mean()
                loss = F.mse_loss(critic(xs[rows])[:, 0], back[rows]) - gain - 0.01 * choice.entropy().mean()
                loss.backward()
                optimizer.step()


def filtered(delete=False):
    """A signal is cut into windows, filtered and put together again."""
    signal = torch.randn(1, 65536)
    windows = signal.unfold(1, 512, 256) * torch.hann_window(512)
    if delete:
        del signal
    waves = torch.fft.rfft(windows)
    if delete:
        del windows
    strength = waves.abs()
    mask = (strength > strength.mean()).float()
    if delete:
        del strength
    kept = waves * mask
    if delete:
        del waves, mask
    back = torch.fft.irfft(kept)
    if delete:
        del kept
    return back.pow(2).mean().item()


def walked(delete=False):
    """Ranks of the pages of a web, and how far they are from each other."""
    links = (torch.rand(300, 300) < 0.05).float()
    steps = links / links.sum(1, keepdim=True).clamp(min=1)
    if delete:
        del links
    rank = torch.full((300,), 1 / 300)
    for _ in range(8):
        rank = 0.15 / 300 + 0.85 * (rank @ steps)
    twice = steps @ steps
    if delete:
        del steps
    apart = (twice[:, None, :60] - twice[None, :, :60]).abs()
    far = apart.sum(-1)
    if delete:
        del apart
    return (far.exp() * rank).sum().item()


def attended(delete=False):
    """Attention written out: one expression divides and takes the softmax."""
    q, k, v = (torch.randn(4, 256, 64) for _ in range(3))
    scores = q @ k.transpose(1, 2)
    if delete:
        del q, k
    weights = torch.softmax(scores / 8, -1)
    if delete:
        del scores
    out = weights @ v
    if delete:
        del weights, v
    normed = out / out.pow(2).sum(-1, keepdim=True).sqrt()
    if delete:
        del out
    return normed.mean().item()


def clustered(delete=False):
    """k-means, with an integer tensor as large as the distances."""
    x = torch.randn(4000, 32)
    centres = x[:64].clone()
    for _ in range(4):
        distances = torch.cdist(x, centres)
        nearest = distances.argmin(1)
        if delete:
            del distances
        one = F.one_hot(nearest, 64).float()
        sums = one.t() @ x
        n = one.sum(0)
        if delete:
            del one
        centres = sums / n.clamp(min=1)[:, None]
    return centres.sum().item()


def reused(delete=False):
    """What is needed again at the end is as large as all else."""
    a = torch.randn(700, 700)
    b = a @ a
    c = torch.relu(b)
    e = c.exp()
    if delete:
        del b, c
    f = e.log1p()
    if delete:
        del e
    return (f * a).sum().item()


def patched(delete=False):
    """Names that are bound again, and an expression in the place of each would look the same."""
    pictures = torch.rand(4, 3, 64, 64)
    grey = pictures.mean(1, keepdim=True)
    parts = pictures - grey
    if delete:
        del grey
    parts = parts.pow(2)
    means = F.avg_pool2d(parts, 2)
    if delete:
        del parts
    means = F.interpolate(means, scale_factor=2)
    result = pictures * means
    if delete:
        del pictures, means
    result = result.clamp(0, 1)
    return result.mean().item()


def powered(delete=False):
    """A loop whose results are named until the next ones replace them; a norm is no layer."""
    data = torch.randn(400, 32)
    for _ in range(4):
        near = data @ data.t()
        weights = near.softmax(1)
        if delete:
            del near
        means = weights @ data
        if delete:
            del weights
        data = means / means.norm()
    return data.sum().item()


NO = functools.partial
TRAINED = {  # changes of the training
    "accumulate": {"parts": 4}, "bfloat16": {"dtype": torch.bfloat16}, "autocast": {"autocast": True},
    "checkpoint": {"every": 1}, "second": {"every": 2},
}
KINDS = {"swin": (Swin, ("accumulate", "bfloat16", "autocast", "checkpoint", "second")), "clip": (Clip, ("accumulate", "bfloat16", "checkpoint")),
         "detr": (Detr, ("accumulate", "bfloat16", "autocast")), "translator": (Translator, ("accumulate", "bfloat16")),
         "nerf": (Nerf, ("accumulate", "bfloat16")), "attends": (Attends, ("accumulate", "bfloat16", "checkpoint")),
         "wavenet": (Wavenet, ("accumulate", "bfloat16", "checkpoint"))}
# name: the program, what it is with one thing changed
PROGRAMS = {name: (NO(train, kind), {c: NO(train, kind, **TRAINED[c]) for c in changes}) for name, (kind, changes) in KINDS.items()}
PROGRAMS |= {f"{name}_eval": (NO(evaluate, kind), {"no_grad": NO(evaluate, kind, grad=False)}) for name, (kind, _) in KINDS.items()}
PROGRAMS |= {
    "translator_named": (NO(train, Translator, named=True), {"del": NO(train, Translator)}),
    "wavenet_named": (NO(train, Wavenet, named=True), {"del": NO(train, Wavenet)}),
    "clip_zeros": (NO(train, Clip, none=False), {"none": NO(train, Clip)}),
    "detr_foreach": (NO(train, Detr, foreach=True), {"foreach_false": NO(train, Detr), "fused": NO(train, Detr, foreach=None, fused=True)}),
    "attends_total": (NO(total, Attends), {"item": NO(total, Attends, item=True)}),
    "scaled": (NO(train, Scaled), {"bfloat16": NO(train, Scaled, dtype=torch.bfloat16)}),
    "scaled_total": (NO(total, Scaled), {"item": NO(total, Scaled, item=True)}),
    "validated": (validated, {"no_grad": NO(validated, grad=False)}),
    "actor": (act, {"no_grad": NO(act, grad=False)}),
    "filtered": (filtered, {"del": NO(filtered, delete=True)}),
    "attended": (attended, {"del": NO(attended, delete=True)}),
    "clustered": (clustered, {"del": NO(clustered, delete=True)}),
    "reused": (reused, {"del": NO(reused, delete=True)}),
    "walked": (walked, {"del": NO(walked, delete=True)}),
    "patched": (patched, {"del": NO(patched, delete=True)}),
    "powered": (powered, {"del": NO(powered, delete=True)}),
}


def record_all(programs, folder, only):
    """Records programs, or those of these names, and prints their peaks and those of each when changed."""
    torch.set_num_threads(1)
    for name, (program, changes) in programs.items():
        if only and name not in only:
            continue
        print(name, record(program, f"{folder}/{name}.json.zst"), end="", flush=True)
        for change, changed in changes.items():
            print("", change, record(changed), end="", flush=True)
        print(flush=True)


if __name__ == "__main__":
    record_all(PROGRAMS, sys.argv[1], sys.argv[2:])
