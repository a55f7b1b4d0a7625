#!/usr/bin/env python3
"""Records training and inference loops with torch.profiler on the CPU: record.py FOLDER [NAME...]

Writes FOLDER/NAME.json.gz for each loop of the table at the end, and its line of FOLDER/truth.json:
what the program itself knows of its memory, and what memtool has to say of it (README.md explains
the keys). Needs PyTorch 2.13 and numpy; nothing is downloaded.
"""

import collections
import copy
import gc
import gzip
import json
import os
import queue
import random
import shutil
import sys
import tempfile
import threading
import traceback

import torch
import torch._dynamo  # else every recording imports it for itself, which takes seconds
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

# ---- what the program knows of its memory ----


def tensors_of(thing, kind=None):
    """Every tensor that a module, an optimizer or a container of them holds, as (kind, tensor)."""
    if isinstance(thing, nn.Module):
        for p in thing.parameters():
            yield from tensors_of(p, kind or "parameters")
        for b in thing.buffers():
            yield kind or "buffers", b
    elif isinstance(thing, torch.optim.Optimizer):
        yield from tensors_of(dict(thing.state), "optimizer")
    elif isinstance(thing, torch.Tensor):
        yield kind or "other", thing
        if thing.is_leaf and thing.grad is not None:
            yield "gradients", thing.grad
    elif isinstance(thing, dict):
        for v in thing.values():
            yield from tensors_of(v, kind)
    elif isinstance(thing, (list, tuple, collections.deque)):
        for v in thing:
            yield from tensors_of(v, kind)


def storages_of(things, kind=None):
    """{address: (kind, bytes, storage)} of what things hold; a storage counts once."""
    found = {}
    for thing in things:
        for k, t in tensors_of(thing, kind):
            s = t.untyped_storage()
            if s.nbytes():
                found.setdefault(s.data_ptr(), (k, s.nbytes(), s))
    return found


def held_by(things):
    """(bytes, blocks) that things hold."""
    found = storages_of(things)
    return sum(f[1] for f in found.values()), len(found)


def saved_by(run, *without):
    """(bytes, blocks) that run() saves for backward, less what `without` holds."""
    known, found = storages_of(without), {}

    def pack(t):
        s = t.untyped_storage()
        if s.data_ptr() not in known:
            found[s.data_ptr()] = s.nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        run()
    return sum(found.values()), len(found)


class Recording:
    """The profiler around a loop, and what the program knows before, during and after it."""

    def __init__(self, plan, n, flags, keep_outputs):
        wait, warmup, active = plan or (0, 0, 0)
        self.n = wait + warmup + n
        self.profiler = profile(
            activities=[ProfilerActivity.CPU],
            profile_memory=True,
            schedule=plan and schedule(wait=wait, warmup=warmup, active=active, repeat=1),
            **flags,
        )
        self.keep_outputs, self.outputs = keep_outputs, []
        self.held, self.others, self.kept = [], [], [self.outputs]
        self.iterations = self.optimizer_steps = 0
        self.series = []  # what the planted leak holds: at the start, and after each iteration
        self.per_iteration = None
        self.threads = None

    def hold(self, *things, other=()):
        """Names what the program holds; `other` is no model that trains, and no optimizer."""
        self.held += things
        self.others += other

    def keep(self, container):
        """Names a container that grows from iteration to iteration: the planted leak."""
        self.kept.append(container)
        return container

    def output(self, tensor):
        """What the loop puts out: kept in the variants that leak."""
        if self.keep_outputs:
            self.outputs.append(tensor.detach())

    def training(self):
        """A model and its optimizer."""
        model = network()
        optimizer = sgd(model)
        self.hold(model, optimizer)
        return model, optimizer

    def loop(self):
        """The usual loop: `for batch in batches: ...; prof.step()`, recorded."""
        with self:
            yield from self.steps()

    def steps(self):
        for i in range(self.n):
            yield i
            self.step()

    def recording(self):
        action = self.profiler.current_action
        return action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    def measure(self):
        found = {**storages_of(self.others, "other"), **storages_of(self.held)}
        sums = dict.fromkeys(("parameters", "buffers", "gradients", "optimizer", "other"), 0)
        for kind, byte_n, _ in found.values():
            sums[kind] += byte_n
        return sums, [(StorageWeakRef(s), byte_n) for _, byte_n, s in found.values()]

    def begin(self):
        self.start, self.old = self.measure()
        self.series = [held_by(self.kept)]

    def finish(self):
        self.end = self.measure()[0]
        self.old_at_end_b = sum(byte_n for ref, byte_n in self.old if not ref.expired())

    def count_optimizer_step(self, *_):
        self.optimizer_steps += self.recording()

    def __enter__(self):
        self.hook = register_optimizer_step_post_hook(self.count_optimizer_step)
        self.profiler.__enter__()
        if self.recording():
            self.begin()

    def count_iteration(self):
        self.iterations += 1
        self.series.append(held_by(self.kept))

    def step(self):
        before = self.recording()
        if before:
            self.count_iteration()
        if self.profiler.current_action == ProfilerAction.RECORD_AND_SAVE:
            self.finish()
        self.profiler.step()
        if self.recording() and not before:
            self.begin()

    def __exit__(self, *error):
        if self.recording():
            self.finish()
        self.profiler.__exit__(*error)
        self.hook.remove()

    def growth(self):
        """(bytes, blocks) an iteration, from the first that grew to the last."""
        s = self.series
        grew = [i for i in range(1, len(s)) if s[i][0] > s[i - 1][0]]
        if self.per_iteration or len(grew) < 2:
            return self.per_iteration or (0, 0)
        steps = grew[-1] - grew[0]
        return [round((s[grew[-1]][k] - s[grew[0]][k]) / steps, 3) for k in (0, 1)]


def unseen(path):
    """What a trace tells where frees are missing: an address given out again ends its block."""
    with gzip.open(path) as f:
        records = [e["args"] for e in json.load(f)["traceEvents"] if e.get("name") == "[memory]"]
    live, level, peak, reused = {}, 0, 0, []
    for r in sorted(records, key=lambda r: r["Ev Idx"]):
        if r["Bytes"] > 0:
            if r["Addr"] in live:
                reused.append(live[r["Addr"]])
                level -= reused[-1]
            live[r["Addr"]] = r["Bytes"]
            level += r["Bytes"]
        elif r["Addr"] in live:
            level -= live.pop(r["Addr"])
        peak = max(peak, level)
    return {
        "reused_n": len(reused),
        "reused_b": sum(reused),
        "peak_at_most_b": peak,
        "at_end_at_most_b": level,
        "at_end_at_most_n": len(live),
    }


# ---- the pieces of the loops ----


def linear(n_in, n_out):
    return nn.Linear(n_in, n_out, bias=False)


def network():
    return nn.Sequential(linear(32, 8), nn.Tanh())


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=0.001, fused=True)


def batch(n=16):
    return torch.rand(n, 32), torch.rand(n, 8)


def train(model, optimizer, data=None):
    """One iteration; returns the output of the model, and the loss."""
    x, y = data or batch()
    optimizer.zero_grad()
    output = model(x)
    loss = nn.functional.mse_loss(output, y)
    loss.backward()
    optimizer.step()
    return output, loss


def validate(model):
    """Two batches; returns the outputs."""
    with torch.no_grad():
        return [model(batch()[0]) for _ in range(2)]


class Attention(nn.Module):
    """One head; `cache` is where keys and values of earlier tokens are."""

    def __init__(self):
        super().__init__()
        self.qkv = linear(16, 48)

    def forward(self, x, cache):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        k = cache["k"] = torch.cat([cache.get("k", k[:, :0]), k], 1)
        v = cache["v"] = torch.cat([cache.get("v", v[:, :0]), v], 1)
        return (q @ k.transpose(1, 2)).softmax(-1) @ v


# ---- training loops ----


def plain(rec):
    """the usual loop, Adam, the model built before"""
    model = nn.Linear(32, 8)
    optimizer = adam(model)
    rec.hold(model, optimizer)
    for _ in rec.loop():
        train(model, optimizer)


def inside(rec):
    """the model, with buffers, is built inside the recording"""
    with rec:
        model = nn.Sequential(linear(32, 8), nn.BatchNorm1d(8))
        optimizer = adam(model)
        rec.hold(model, optimizer)
        for _ in rec.steps():
            train(model, optimizer)


def outputs(rec, every=1, since=0):
    """all, or some, outputs go into a list"""
    model, optimizer = rec.training()
    for i in rec.loop():
        output, _ = train(model, optimizer)
        if i >= since and i % every == 0:
            rec.output(output)


def zero_not_none(rec):
    """zero_grad(set_to_none=False): gradients stay, they are older than the recording"""
    model, optimizer = rec.training()
    for _ in rec.loop():
        optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(model(batch()[0]), batch()[1]).backward()
        optimizer.step()


def step_first(rec):
    """prof.step() comes first in the loop: the first step only builds the model"""
    with rec:
        model, optimizer = rec.training()
        for _ in range(rec.n):
            rec.step()
            train(model, optimizer)


def step_in_the_middle(rec):
    """prof.step() between forward and backward"""
    model, optimizer = rec.training()
    with rec:
        for _ in range(rec.n):
            output = model(batch()[0])
            rec.step()
            optimizer.zero_grad()
            output.square().mean().backward()
            optimizer.step()
            rec.output(output)


def in_function(rec, cat=False):
    """the loop is a function: what its variables hold dies in the last step"""
    model, optimizer = rec.training()
    kept = rec.keep({}) if cat else {}

    def loop():
        for _ in rec.steps():
            output, _ = train(model, optimizer)
            if cat:
                kept["y"] = torch.cat([kept.get("y", output[:0]), output]).detach()

    with rec:
        loop()


def step_forgotten(rec):
    """a schedule, but no prof.step(): one step in all"""
    model, optimizer = rec.training()
    with rec:
        for _ in range(rec.n):
            rec.output(train(model, optimizer)[0])
            rec.count_iteration()


def first_step_cut(rec):
    """the recording begins between forward and backward"""
    model, optimizer = rec.training()
    output = model(batch()[0])
    with rec:
        output.square().mean().backward()
        optimizer.step()
        rec.step()
        for _ in range(rec.n - 1):
            output, _ = train(model, optimizer)
            rec.output(output)
            rec.step()


def last_step_cut(rec):
    """the recording ends between forward and backward"""
    model, optimizer = rec.training()
    with rec:
        for _ in rec.steps():
            train(model, optimizer)
        cut = model(batch()[0]).sum()
    del cut


def skipped_batch(rec):
    """one batch is skipped: a step without records"""
    model, optimizer = rec.training()
    for i in rec.loop():
        if i != 5:
            rec.output(train(model, optimizer)[0])


def uneven_steps(rec):
    """steps of 1 to 5 batches; the first output of each counts"""
    model, optimizer = rec.training()
    for i in rec.loop():
        for k in range((1, 5, 1, 2, 1, 1, 4, 1, 1, 3, 1)[i]):
            output, _ = train(model, optimizer)
            if k == 0:
                rec.output(output)


def last_skipped(rec):
    """the last two batches are skipped"""
    model, optimizer = rec.training()
    for i in rec.loop():
        if i < rec.n - 2:
            rec.output(train(model, optimizer)[0])


def own_marker(rec, cat=False):
    """record_function marks the steps; the last of them finds no batch"""
    model, optimizer = rec.training()
    everything = rec.keep({})
    with rec:
        batches = iter([batch() for _ in range(rec.n)])
        while True:
            with record_function("train_step"):
                data = next(batches, None)
                if data is None:
                    break
                output, _ = train(model, optimizer, data)
                rec.output(output)
                if cat:
                    everything["y"] = torch.cat([everything.get("y", output[:0]), output]).detach()
            rec.step()


def accumulate(rec, every=4):
    """12 micro-steps, an optimizer step after every few of them"""
    model, optimizer = rec.training()
    for i in rec.loop():
        x, y = batch()
        output = model(x)
        (nn.functional.mse_loss(output, y) / every).backward()
        rec.output(output)
        if i % every == every - 1:
            optimizer.step()
            optimizer.zero_grad()


def epochs(rec):
    """epochs of four training steps and two of validation"""
    model, optimizer = rec.training()
    for i in rec.loop():
        if i % 6 < 4:
            rec.output(train(model, optimizer)[0])
        else:
            validate(model)


def ema(rec):
    """AveragedModel"""
    model, optimizer = rec.training()
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    rec.hold(other=[average])
    for _ in rec.loop():
        train(model, optimizer)
        average.update_parameters(model)


def ema_inside(rec):
    """AveragedModel, all built inside the recording"""
    with rec:
        model, optimizer = rec.training()
        average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
        rec.hold(other=[average])
        for _ in rec.steps():
            train(model, optimizer)
            average.update_parameters(model)


def ema_replaced(rec):
    """an average whose tensors are made anew in every step"""
    with rec:
        model, optimizer = rec.training()
        average = {k: v.detach().clone() for k, v in model.named_parameters()}
        rec.hold(other=[average])
        for _ in rec.steps():
            train(model, optimizer)
            for k, v in model.named_parameters():
                average[k] = 0.9 * average[k] + 0.1 * v.detach()


def schedulers(rec):
    """a learning rate in a tensor, two schedulers"""
    model, rate = network(), torch.tensor(0.01)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
    rec.hold(model, optimizer, other=[optimizer.param_groups[0]["lr"]])
    for _ in rec.loop():
        _, loss = train(model, optimizer)
        cosine.step()
        plateau.step(loss.item())


def metrics(rec):
    """losses summed up by item(), a confusion matrix in place"""
    model, optimizer = rec.training()
    confusion, history = torch.zeros(8, 8), []
    rec.hold(other=[confusion])
    for _ in rec.loop():
        x, y = batch()
        output, loss = train(model, optimizer, (x, y))
        confusion.index_put_((y.argmax(1), output.argmax(1)), torch.ones(16), accumulate=True)
        history.append(loss.item())


def total_of_losses(rec):
    """total += loss after backward(): the graph that stays holds no tensors"""
    total = 0
    with rec:
        model, optimizer = rec.training()
        for _ in rec.steps():
            total += train(model, optimizer)[1]


def validation(rec, alone=False):
    """every third iteration validates, also or only"""
    model, optimizer = rec.training()
    for i in rec.loop():
        if i % 3 == 2:
            validate(model)
        if i % 3 != 2 or not alone:
            train(model, optimizer)


def best_checkpoint(rec):
    """a copy of the best model so far, replaced now and then"""
    model, optimizer = rec.training()
    best = {}
    rec.hold(other=[best])
    for i in rec.loop():
        train(model, optimizer)
        if i in (1, 2, 4, 7):
            best.update(copy.deepcopy(model.state_dict()))


def three_best(rec):
    """copies of the three best models: the list is full in iteration 4"""
    scores, best = iter((5, 3, 4, 2, 1, 6, 0)), []
    rec.hold(other=[best])
    with rec:
        model, optimizer = rec.training()
        for i in rec.steps():
            train(model, optimizer)
            if i % 2 == 0:
                best.append((next(scores), copy.deepcopy(model.state_dict())))
                best.sort(key=lambda b: -b[0])
                del best[3:]


def varying_lengths(rec):
    """sequences of another length in every iteration"""
    lengths = (7, 30, 12, 21, 5, 28, 16, 9, 33, 11)
    model, optimizer = rec.training()
    for i in rec.loop():
        optimizer.zero_grad()
        model(torch.rand(4, lengths[i], 32)).square().mean().backward()
        optimizer.step()


def curriculum(rec):
    """inputs that get longer and longer: looks like a tensor that grows"""
    with rec:
        model, optimizer = rec.training()
        for i in rec.steps():
            x, y = batch(8 + 4 * i)
            train(model, optimizer, (x, y))


def lru_cache(rec):
    """a cache of four results: the one asked for longest ago goes"""
    asked = (0, 1, 2, 3, 0, 4, 1, 5, 0, 2, 6, 0, 1, 3, 0, 2)
    cache = collections.OrderedDict()
    rec.hold(other=[cache])
    with rec:
        model = network()
        rec.hold(model)
        for i in rec.steps():
            if asked[i] not in cache:
                with torch.no_grad():
                    cache[asked[i]] = model(batch(32)[0])
            cache.move_to_end(asked[i])
            if len(cache) > 4:
                cache.popitem(last=False)


def masks_by_length(rec, lengths):
    """masks kept in a dict by length"""
    model = linear(16, 16)
    optimizer = sgd(model)
    masks = {}
    rec.hold(model, optimizer, other=[masks])
    if len(set(lengths)) > 4:
        rec.keep(masks)
    for i in rec.loop():
        length = lengths[i % len(lengths)]
        if length not in masks:
            masks[length] = torch.ones(length, length).tril()
        optimizer.zero_grad()
        (masks[length] @ model(torch.rand(length, 16))).mean().backward()
        optimizer.step()


class Remembering(Dataset):
    """Keeps every sample once it was made."""

    def __init__(self, n):
        self.n, self.samples = n, {}

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i not in self.samples:
            self.samples[i] = batch(1)
        return self.samples[i]


def dataset_in_memory(rec):
    """a data set that keeps what it made: epochs of four batches"""
    with rec:
        model, optimizer = rec.training()
        data = Remembering(8)
        rec.hold(other=[data.samples])
        for _ in range(rec.n // 4):
            for x, y in DataLoader(data, batch_size=2):
                train(model, optimizer, (x, y))
                rec.step()


class Random(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.rand(32), torch.rand(8)


def data_workers(rec):
    """a DataLoader with two processes"""
    model, optimizer = rec.training()
    with rec:
        for x, y in DataLoader(Random(), batch_size=8, num_workers=2):
            train(model, optimizer, (x, y))
            rec.step()


def ring_buffer(rec):
    """the last four outputs in a deque"""
    model, optimizer = rec.training()
    recent = collections.deque(maxlen=4)
    rec.hold(other=[recent])
    for _ in rec.loop():
        recent.append(train(model, optimizer)[0].detach())


def replay_buffer(rec):
    """outputs copied into a tensor made once"""
    with rec:
        model, optimizer = rec.training()
        buffer = torch.zeros(4, 16, 8)
        rec.hold(other=[buffer])
        for i in rec.steps():
            buffer[i % 4] = train(model, optimizer)[0].detach()


def lbfgs(rec, history=3):
    """LBFGS: its history of 3 is full in the second step"""
    model = linear(16, 4)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=2, history_size=history)
    rec.hold(model, optimizer)
    for _ in rec.loop():
        x, y = torch.rand(16, 16), torch.rand(16, 4)

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x).tanh(), y)
            loss.backward()
            return loss

        optimizer.step(closure)


def closure_given(rec):
    """the optimizer's step calls a closure that computes and goes backward, as PyTorch Lightning does it"""
    model, optimizer = rec.training()
    for _ in rec.loop():
        x, y = batch()

        def closure():
            output = model(x)
            loss = nn.functional.mse_loss(output, y)
            optimizer.zero_grad()
            loss.backward()
            rec.output(output)
            return loss

        optimizer.step(closure)


def compiled(rec):
    """torch.compile, compiled before the recording"""
    model, optimizer = rec.training()
    fast = torch.compile(model)
    train(fast, optimizer)
    for _ in rec.loop():
        train(fast, optimizer)


def gan(rec, critic_n=1):
    """two Adam: some steps of the critic, then one of the generator, whose fakes are the outputs"""
    generator, critic = linear(8, 16), linear(16, 1)
    by_g, by_c = adam(generator), adam(critic)
    rec.hold(generator, critic, by_g, by_c)
    for _ in rec.loop():
        for _ in range(critic_n):
            by_c.zero_grad()
            fake = generator(torch.rand(16, 8)).detach()
            (critic(fake) - critic(torch.rand(16, 16))).mean().backward()
            by_c.step()
        by_g.zero_grad()
        fake = generator(torch.rand(16, 8))
        (-critic(fake).mean()).backward()
        by_g.step()
        rec.output(fake)


class Decaying(torch.optim.Adam):
    """Decays weights, then steps as Adam does."""

    def step(self, closure=None):
        with torch.no_grad():
            for p in self.param_groups[0]["params"]:
                p.mul_(0.999)
        return super().step(closure)


class Lookahead(torch.optim.Optimizer):
    """Steps another optimizer, and every third time goes halfway back."""

    def __init__(self, inner):
        self.inner, self.count = inner, 0
        super().__init__([p for g in inner.param_groups for p in g["params"]], {})

    @torch.no_grad()
    def step(self, closure=None):
        self.inner.step()
        self.count += 1
        for p in self.param_groups[0]["params"]:
            slow = self.state[p].setdefault("slow", p.clone())
            if self.count % 3 == 0:
                slow.lerp_(p, 0.5)
                p.copy_(slow)


def optimizer_subclass(rec):
    """a subclass of Adam whose step() calls super().step()"""
    adam(linear(1, 1))  # where the program has an Adam, Adam.step is marked, also below super()
    model = network()
    optimizer = Decaying(model.parameters(), lr=0.001, fused=True)
    rec.hold(model, optimizer)
    for _ in rec.loop():
        rec.output(train(model, optimizer)[0])


def lookahead(rec):
    """an optimizer that steps another one"""
    model = network()
    optimizer = Lookahead(sgd(model))
    rec.hold(model, optimizer, optimizer.inner)
    for _ in rec.loop():
        rec.output(train(model, optimizer)[0])


class Remembers(torch.optim.SGD):
    """Keeps gradients."""

    def step(self, closure=None):
        self.kept.append(self.param_groups[0]["params"][0].grad.clone())
        return super().step(closure)


def kept_by_optimizer(rec):
    """an optimizer that keeps a gradient of every step"""
    model = network()
    optimizer = Remembers(model.parameters(), lr=0.01)
    optimizer.kept = rec.keep([])
    rec.hold(model)
    for _ in rec.loop():
        train(model, optimizer)


def unfreezing(rec, to_none=True):
    """every third iteration one more layer learns and gets its optimizer state"""
    with rec:
        model = nn.Sequential(*(linear(16, 16) for _ in range(4)))
        model[:3].requires_grad_(False)
        optimizer = adam(model)
        rec.hold(model, optimizer)
        for i in rec.steps():
            if i in (3, 6, 9):
                model[3 - i // 3].requires_grad_(True)
            optimizer.zero_grad(set_to_none=to_none)
            model(torch.rand(8, 16)).mean().backward()
            optimizer.step()


def begins_to_learn(rec):
    """every second iteration one more of four layers learns; SGD, zero_grad(set_to_none=False)"""
    model = nn.Sequential(*(linear(16, 16) for _ in range(4)))
    model[:3].requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    rec.hold(model, optimizer)
    for i in rec.loop():
        if i in (2, 4, 6):
            model[3 - i // 2].requires_grad_(True)
        optimizer.zero_grad(set_to_none=False)
        model(torch.rand(8, 16)).mean().backward()
        optimizer.step()


def heads(rec, order):
    """tasks with a head each, which come one after the other; SGD, zero_grad(set_to_none=False)"""
    body, tasks = linear(16, 16), nn.ModuleList(linear(16, 4) for _ in range(6))
    optimizer = torch.optim.SGD([*body.parameters(), *tasks.parameters()], lr=0.01)
    rec.hold(body, tasks, optimizer)
    for i in rec.loop():
        optimizer.zero_grad(set_to_none=False)
        output = tasks[order[i]](body(torch.rand(8, 16)))
        output.mean().backward()
        optimizer.step()
        rec.output(output)


def gradients_kept(rec):
    """the gradients of each iteration go into a list"""
    model, optimizer = rec.training()
    kept = rec.keep([])
    for _ in rec.loop():
        train(model, optimizer)
        kept.append([p.grad for p in model.parameters()])


def checkpointed(rec):
    """activation checkpointing"""
    blocks = nn.ModuleList(nn.Sequential(linear(32, 32), nn.ReLU()) for _ in range(2))
    optimizer = sgd(blocks)
    rec.hold(blocks, optimizer)
    for _ in rec.loop():
        optimizer.zero_grad()
        x = torch.rand(16, 32, requires_grad=True)
        for block in blocks:
            x = checkpoint(block, x, use_reentrant=False)
        x.mean().backward()
        optimizer.step()


def autocast(rec):
    """torch.autocast in bfloat16"""
    model, optimizer = rec.training()
    for _ in rec.loop():
        x, y = batch()
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()


def garbage_collected(rec):
    """outputs in reference cycles, collected in every third iteration"""
    model, optimizer = rec.training()
    gc.collect()
    gc.disable()
    for i in rec.loop():
        circle = [train(model, optimizer)[0].detach()]
        circle.append(circle)
        if i % 3 == 2:
            gc.collect()
    gc.enable()


def losses(rec):
    """losses kept without item(): each keeps the storage that mse_loss made for its batch"""
    kept = rec.keep([])
    with rec:
        model, optimizer = rec.training()
        for _ in rec.steps():
            kept.append(train(model, optimizer)[1])


def cat(rec, every=1, skip=-1):
    """outputs in one tensor: torch.cat makes ever larger ones"""
    model, optimizer = rec.training()
    kept = rec.keep({"all": torch.zeros(0, 8)})
    for i in rec.loop():
        if i != skip:
            output, _ = train(model, optimizer)
            if i % every == 0:
                kept["all"] = torch.cat([kept["all"], output.detach()])


def window(rec, trim):
    """each output is appended to all so far, of which every third iteration drops and copies some"""
    model, kept = network(), rec.keep({"all": torch.zeros(0, 8)})
    rec.hold(model)
    with torch.no_grad():
        for i in rec.loop():
            kept["all"] = torch.cat([kept["all"], model(torch.rand(16, 32))])
            if i % 3 == 2:
                kept["all"] = kept["all"][trim:].clone()


def hooks_not_removed(rec):
    """every iteration registers a hook that holds a tensor, and removes none"""
    model, optimizer = rec.training()
    kept = rec.keep([])
    for _ in rec.loop():
        mask = torch.rand(16, 8)
        kept.append(mask)
        model.register_forward_hook(lambda _, x, y, mask=mask: y * mask)
        train(model, optimizer)


def hooks_that_keep(rec):
    """every iteration registers a hook that keeps outputs: growth grows too"""
    model, optimizer = rec.training()
    kept = rec.keep([])
    for _ in rec.loop():
        model.register_forward_hook(lambda _, x, y: kept.append(y.detach().clone()))
        train(model, optimizer)


def validation_keeps(rec):
    """every third iteration validates, and keeps the outputs"""
    model, optimizer = rec.training()
    kept = rec.keep([])
    for i in rec.loop():
        train(model, optimizer)
        if i % 3 == 2:
            with record_function("validation"):
                kept += validate(model)


def sanity_check(rec, width, until, outputs_n, since=0):
    """outputs are kept; validation outputs of the first steps are held for a while, then dropped"""
    model, optimizer = rec.training()
    held = []
    for i in rec.loop():
        if i == since:
            with torch.no_grad():
                held = [model(batch(width)[0]) for _ in range(outputs_n)]
        rec.output(train(model, optimizer)[0])
        if i == until:
            held = []


def epoch_beside(rec, until):
    """outputs are kept; those of an epoch go into a list beside it, which is dropped at its end"""
    model, optimizer = rec.training()
    epoch = []
    for i in rec.loop():
        with torch.no_grad():
            epoch.append(model(batch(16)[0]))
        rec.output(train(model, optimizer)[0])
        if i == until:
            epoch = []


def validation_held(rec, every):
    """outputs are kept; three validation outputs are held until the next validation"""
    model, optimizer = rec.training()
    held = []
    for i in rec.loop():
        rec.output(train(model, optimizer)[0])
        if i % every == 1:
            with torch.no_grad():
                held = [model(batch(64)[0]) for _ in range(3)]
    del held


def early_outputs(rec):
    """the first five outputs are kept, and no more"""
    model, optimizer = rec.training()
    kept = []
    rec.hold(other=[kept])
    for _ in rec.loop():
        output, _ = train(model, optimizer)
        if len(kept) < 5:
            kept.append(output.detach())


def reservoir(rec):
    """four outputs; once they are there, each new one takes the place of any"""
    model, optimizer = rec.training()
    places = (0, 1, 2, 3, 1, 3, 3, 0, 1, 3, 0, 1, 3, 1)
    kept = [None] * 4
    rec.hold(other=[kept])
    for i in rec.loop():
        kept[places[i]] = train(model, optimizer)[0].detach()


def epoch_outputs(rec, cat=False):
    """outputs of five iterations in a list, which is cleared then"""
    model, optimizer = rec.training()
    kept = []
    rec.hold(other=[kept])
    for i in rec.loop():
        kept.append(train(model, optimizer)[0].detach())
        if cat:
            kept[:] = [torch.cat(kept)]
        if i % 5 == 4:
            kept.clear()


def rollouts(rec):
    """what a policy sees and does in four iterations, then two updates by all of it"""
    model, optimizer = rec.training()
    seen = []
    rec.hold(other=[seen])
    for i in rec.loop():
        with torch.no_grad():
            x = torch.rand(4, 32)
            seen.append((x, model(x)))
        if i % 4 == 3:
            for _ in range(2):
                train(model, optimizer, [torch.cat(of) for of in zip(*seen)])
            seen.clear()


def growing_model(rec):
    """a second and a third layer come, each with a new optimizer"""
    layers = nn.ModuleList([linear(32, 32)])
    optimizer = adam(layers)
    rec.hold(layers)
    for i in rec.loop():
        if i in (3, 6):
            layers.append(linear(32, 32))
            optimizer = adam(layers)
        x = torch.rand(8, 32)
        for layer in layers:
            x = torch.tanh(layer(x))
        optimizer.zero_grad()
        x.mean().backward()
        optimizer.step()
    rec.hold(optimizer)


# ---- inference ----


def inference(rec):
    """a model in inference mode"""
    model = network()
    rec.hold(model)
    with torch.inference_mode():
        for _ in rec.loop():
            rec.output(model(torch.rand(16, 32)))


def kv_cache(rec, reset=0):
    """keys and values by torch.cat, one more token in each iteration"""
    model, cache = Attention(), {}
    rec.hold(model, other=[cache])
    if not reset:
        rec.keep(cache)
    with torch.inference_mode():
        for i in rec.loop():
            if reset and i % reset == 0:
                cache.clear()
            model(torch.rand(2, 1, 16), cache)


def total_with_graph(rec):
    """evaluation with grad mode on: total += loss keeps every graph"""
    model, total = network(), 0
    rec.hold(model)

    def evaluate():
        x, y = batch()
        return nn.functional.mse_loss(model(x), y)

    rec.per_iteration = saved_by(evaluate, model)
    for _ in rec.loop():
        total = total + evaluate()


def hidden_not_detached(rec):
    """prediction with grad mode on: a hidden state keeps the graph of all iterations"""
    cell, hidden = linear(32, 32), torch.zeros(8, 32)
    rec.hold(cell)

    def advance():
        return torch.tanh(cell(hidden + torch.rand(8, 32)))

    rec.per_iteration = saved_by(advance, cell)
    for _ in rec.loop():
        hidden = advance()


def ttl_cache(rec):
    """results kept for three iterations, by a key that may come again before"""
    model, cache = network(), {}
    rec.hold(model, other=[cache])
    with torch.no_grad():
        for i in rec.loop():
            for key in [k for k, (since, _) in cache.items() if i - since >= 3]:
                del cache[key]
            cache[(7, 1, 1, 4, 4, 0, 2, 9, 2, 0, 5, 8, 8, 3)[i]] = (i, model(torch.rand(8, 32)))


def shuffle_buffer(rec):
    """twelve inputs; each new one takes the place of any"""
    model, buffer = network(), []
    rec.hold(model, other=[buffer])
    with torch.no_grad():
        for i in rec.loop():
            for k in range(4):
                buffer.append(torch.rand(4, 32))
                if len(buffer) > 12:
                    model(buffer.pop(7 * (4 * i + k) % 13))


def beam_search(rec):
    """three beams of growing length in each iteration"""
    model = linear(16, 16)
    rec.hold(model)
    with torch.no_grad():
        for i in rec.loop():
            beams = [torch.rand(1, 16)]
            for _ in range((2, 4, 3, 5)[i % 4]):
                beams = [torch.cat([b, model(b[-1:]) + k]) for b in beams for k in range(2)][-3:]
            del beams


def early_rollout(rec):
    """results are kept; beside them five more in each of four iterations, which are then dropped"""
    model, seen = network(), []
    rec.hold(model)
    with torch.no_grad():
        for i in rec.loop():
            if i < 4:
                seen += [model(torch.rand(4, 32)) for _ in range(5)]
            elif i == 4:
                seen.clear()
            rec.output(model(torch.rand(4, 32)))


def backlog(rec, come, every, go, pick=lambda n: 0):
    """requests wait until they are served, and more come than are served"""
    model, waiting, i = network(), rec.keep([]), 0
    rec.hold(model)
    rec.per_iteration = [128 * (come - go / every), come - go / every]
    with torch.no_grad():
        for i in rec.loop():
            waiting += [model(torch.rand(4, 32)) for _ in range(come)]
            for _ in range(go if i % every == every - 1 else 0):
                waiting.pop(pick(len(waiting)))


# ---- threads: what they free is in no record ----


class Dropping(threading.Thread):
    """Uses tensors of a queue and drops them, each after `go`: when nobody else has it."""

    def __init__(self, tasks, go, use):
        super().__init__(daemon=True)
        self.tasks, self.go, self.use = tasks, go, use
        self.start()

    def run(self):
        while (task := self.tasks.get()) is not None:
            self.go.acquire()
            self.use(task)
            del task
            self.tasks.task_done()


def writer(rec, width, lag=1, grow=False, keep=False):
    """a thread writes the outputs and drops them"""
    model = linear(32, width)
    optimizer = sgd(model)
    tasks, go, kept = queue.Queue(), threading.Semaphore(0), []
    thread = Dropping(tasks, go, kept.append if keep else lambda y: y.sum().item())
    rec.hold(model, optimizer)
    if grow or keep:
        rec.keep(kept)
    for i in rec.loop():
        x = torch.rand(16, 32)
        optimizer.zero_grad()
        output = model(x)
        output.square().mean().backward()
        optimizer.step()
        tasks.put(output.detach())
        if grow:
            kept.append(x)
        del output, x
        if i % lag == lag - 1:
            go.release(lag)
            tasks.join()
    tasks.put(None)
    thread.join()
    n = rec.iterations
    rec.threads = {"handed_n": n, "block_b": 64 * width, "alive_at_most_n": n if keep else lag}


def inference_threads(rec, keep=None):
    """three threads take inputs of 16 KiB from a queue and drop them"""
    model, kept = linear(128, 8), []
    tasks, go, results = queue.Queue(), threading.Semaphore(0), queue.Queue()

    def answer(x):
        with torch.inference_mode():
            results.put(model(x).sum().item())

    threads = [Dropping(tasks, go, answer) for _ in range(3)]
    rec.hold(model)
    if keep:
        rec.keep(kept)
    for _ in rec.loop():
        for _ in range(3):
            tasks.put(torch.rand(32, 128))
        go.release(3)
        if keep:
            kept.append(keep(4, 128))
        for _ in range(3):
            results.get()
    for _ in threads:
        tasks.put(None)
    for t in threads:
        t.join()
    rec.threads = {"handed_n": 3 * rec.iterations, "block_b": 16384, "alive_at_most_n": 6}


def prefetch(rec):
    """a thread makes the batches, at most two in advance"""
    model, optimizer = rec.training()
    ready = queue.Queue(maxsize=2)

    def produce():
        for _ in range(rec.n):
            ready.put(batch(64))

    thread = threading.Thread(target=produce, daemon=True)
    thread.start()
    for _ in rec.loop():
        rec.output(train(model, optimizer, ready.get())[0])
    thread.join()


# ---- the table ----

NO_LEAK, LEAK, CANNOT_TELL = "no leak", "leak", "cannot tell"
EXIT = {NO_LEAK: 0, LEAK: 1, CANNOT_TELL: 3}

# Schedules: (wait, warmup, active). ALL and LATE end with the loop. The OPEN ones are longer than
# it: its last prof.step() opens a step in which nothing happens any more. Without a schedule (BARE)
# prof.step() marks nothing.
BARE = None
ALL, LATE = (0, 0, 8), (1, 1, 8)
ALL_OPEN, LATE_OPEN = (0, 0, 1000), (1, 1, 1000)

MARKED = {"import": "--step-marker ^train_step$"}
KEEP = {"keep": True}
ALL_THREADS = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)

LOOPS = {}


def entry(name, run, verdict, plan=BARE, n=8, note="", args=None, **options):
    """A loop of n recorded iterations: run(rec, **args). note: how it differs from run's docstring.

    Options: keep: it keeps its outputs. accept: verdicts that are right too. steps: how many there
    are, where not the iterations. exact: False where growth is not the same in every iteration, or
    a step no iteration. import: options of `memtool import`. flags: of profile(). compiler: needed.
    """
    about = run.__doc__ + (f"; {note}" if note else "")
    LOOPS[name] = dict(
        run=run, verdict=verdict, plan=plan, n=n, about=about, args=args or {}, **options
    )


# What nobody would call a leak.
entry("plain", plain, NO_LEAK)
entry("plain_scheduled", plain, NO_LEAK, LATE)
entry("plain_open", plain, NO_LEAK, LATE_OPEN)
entry("inside", inside, NO_LEAK)
entry("inside_open", inside, NO_LEAK, ALL_OPEN)
entry("zero_not_none", zero_not_none, NO_LEAK, LATE_OPEN)
entry("step_first", step_first, NO_LEAK, ALL_OPEN, steps=9)
entry("step_in_the_middle", step_in_the_middle, NO_LEAK, LATE_OPEN, steps=9)
entry("first_step_cut", first_step_cut, NO_LEAK)
entry("first_step_cut_open", first_step_cut, NO_LEAK, ALL_OPEN)
entry("last_step_cut", last_step_cut, NO_LEAK)
entry("last_step_cut_open", last_step_cut, NO_LEAK, ALL_OPEN, steps=9)
entry("skipped_batch", skipped_batch, NO_LEAK, ALL_OPEN, 10)
entry("uneven_steps", uneven_steps, NO_LEAK, LATE_OPEN, 9)
entry("in_function_open", in_function, NO_LEAK, LATE_OPEN)
entry("own_marker", own_marker, NO_LEAK, **MARKED)
entry("accumulate_often", accumulate, NO_LEAK, BARE, 12, args={"every": 2}, steps=6)
entry("accumulate_open", accumulate, NO_LEAK, ALL_OPEN, 12)
entry("ema", ema, NO_LEAK, LATE_OPEN)
entry("ema_inside", ema_inside, NO_LEAK)
entry("ema_replaced", ema_replaced, NO_LEAK, ALL_OPEN)
entry("schedulers", schedulers, NO_LEAK, LATE_OPEN)
entry("metrics", metrics, NO_LEAK, LATE_OPEN)
entry("total_of_losses", total_of_losses, NO_LEAK, ALL_OPEN)
entry("validation", validation, NO_LEAK, BARE, 10)
entry("validation_open", validation, NO_LEAK, LATE_OPEN, 10)
entry("validation_alone", validation, NO_LEAK, ALL_OPEN, 12, "only", {"alone": True})
entry("best_checkpoint", best_checkpoint, NO_LEAK, BARE, 10)
entry("best_checkpoint_open", best_checkpoint, NO_LEAK, LATE_OPEN, 10)
entry("three_best", three_best, NO_LEAK, ALL_OPEN, 13)
entry("varying_lengths", varying_lengths, NO_LEAK)
entry("varying_lengths_open", varying_lengths, NO_LEAK, LATE_OPEN)
entry("lru_cache", lru_cache, NO_LEAK, ALL_OPEN, 16)
few = {"lengths": (10, 20, 30, 40)}
entry("masks_by_length", masks_by_length, NO_LEAK, ALL_OPEN, 12, "there are four", few)
entry("dataset_in_memory", dataset_in_memory, NO_LEAK, ALL_OPEN, 12)
entry("data_workers", data_workers, NO_LEAK)
entry("data_workers_open", data_workers, NO_LEAK, ALL_OPEN)
entry("ring_buffer", ring_buffer, NO_LEAK, BARE, 10)
entry("ring_buffer_open", ring_buffer, NO_LEAK, LATE_OPEN, 10)
entry("replay_buffer", replay_buffer, NO_LEAK, ALL_OPEN)
entry("lbfgs", lbfgs, NO_LEAK, ALL_OPEN, 5)
entry("compiled", compiled, NO_LEAK, LATE_OPEN, compiler=True)
entry("closure_given", closure_given, NO_LEAK)
entry("gan", gan, NO_LEAK, BARE, 6)
entry("gan_n_critic", gan, NO_LEAK, BARE, 5, "two of the critic", {"critic_n": 2})
entry("optimizer_subclass", optimizer_subclass, NO_LEAK)
entry("lookahead", lookahead, NO_LEAK)
entry("checkpointed", checkpointed, NO_LEAK, LATE_OPEN, 6)
entry("autocast", autocast, NO_LEAK, LATE_OPEN)
entry("garbage_collected", garbage_collected, NO_LEAK, LATE_OPEN, 12)
entry("inference", inference, NO_LEAK, LATE_OPEN)
entry("window_that_stays", window, NO_LEAK, ALL_OPEN, 16, "all 48", {"trim": 48})
entry("kv_cache_reset", kv_cache, NO_LEAK, LATE_OPEN, 16, "reset after four", {"reset": 4})
entry("prefetch", prefetch, NO_LEAK)
entry("prefetch_open", prefetch, NO_LEAK, LATE_OPEN)
entry("early_outputs", early_outputs, NO_LEAK, ALL_OPEN, 12)
entry("reservoir", reservoir, NO_LEAK, ALL_OPEN, 14)
entry("epoch_outputs", epoch_outputs, NO_LEAK, LATE_OPEN, 14)
entry("epoch_outputs_in_one", epoch_outputs, NO_LEAK, LATE_OPEN, 14, "in one tensor", {"cat": True})
entry("rollouts", rollouts, NO_LEAK, ALL_OPEN, 16)
entry("growing_model", growing_model, NO_LEAK, ALL_OPEN, 12)
entry("ttl_cache", ttl_cache, NO_LEAK, ALL_OPEN, 14)
entry("shuffle_buffer", shuffle_buffer, NO_LEAK, ALL_OPEN, 14)
entry("beam_search", beam_search, NO_LEAK, ALL_OPEN, 12)
unsure = {"accept": [CANNOT_TELL]}
large, small, late = {"width": 512}, {"width": 8}, {"width": 192, "lag": 4}
entry("writer_large", writer, NO_LEAK, LATE_OPEN, 10, "32 KiB each", large, **unsure)
entry("writer_late", writer, NO_LEAK, BARE, 12, "12 KiB each, four at once", late, **unsure)
entry("inference_threads", inference_threads, NO_LEAK, LATE_OPEN, 12, **unsure)

# Leaks.
entry("list", outputs, LEAK, **KEEP)
entry("list_scheduled", outputs, LEAK, LATE, **KEEP)
entry("list_open", outputs, LEAK, LATE_OPEN, **KEEP)
third = {"every": 3}
entry("list_every_third", outputs, LEAK, BARE, 11, "every third", third, **KEEP)
entry("list_every_third_open", outputs, LEAK, LATE_OPEN, 11, "every third", third, **KEEP)
entry("list_begins_late", outputs, LEAK, LATE_OPEN, 12, "from the 7th on", {"since": 8}, **KEEP)
entry("list_in_epochs", epochs, LEAK, ALL_OPEN, 12, "outputs of training are kept", **KEEP)
entry("list_skipped_batch", skipped_batch, LEAK, ALL_OPEN, 10, "outputs are kept", **KEEP)
entry("list_last_skipped", last_skipped, LEAK, LATE_OPEN, 9, "outputs are kept", steps=7, **KEEP)
entry("list_uneven_steps", uneven_steps, LEAK, LATE_OPEN, 9, "and is kept", **KEEP)
entry("list_first_step_cut", first_step_cut, LEAK, BARE, 8, "outputs are kept", **KEEP)
entry("list_step_in_the_middle", step_in_the_middle, LEAK, LATE_OPEN, 8, "outputs are kept",
      steps=9, **KEEP)  # fmt: skip
entry("list_own_marker", own_marker, LEAK, BARE, 8, "outputs are kept", **KEEP, **MARKED)
entry("list_accumulate_open", accumulate, LEAK, ALL_OPEN, 12, "outputs are kept", **KEEP)
entry("list_gan", gan, LEAK, BARE, 6, "and are kept", **KEEP)
entry("list_gan_open", gan, LEAK, ALL_OPEN, 6, "and are kept", **KEEP)
entry("list_gan_n_critic", gan, LEAK, BARE, 5, "and are kept", {"critic_n": 2}, **KEEP)
entry("list_optimizer_subclass", optimizer_subclass, LEAK, BARE, 8, "outputs are kept", **KEEP)
entry("list_lookahead", lookahead, LEAK, BARE, 8, "outputs are kept", **KEEP)
entry("list_inference", inference, LEAK, LATE_OPEN, 8, "results are kept", **KEEP)
entry("list_closure", closure_given, LEAK, BARE, 8, "outputs are kept", **KEEP)
entry("list_closure_open", closure_given, LEAK, LATE_OPEN, 8, "outputs are kept", **KEEP)
entry("list_prefetch", prefetch, LEAK, LATE_OPEN, 8, "outputs are kept", **KEEP)
entry("list_sanity_check", sanity_check, LEAK, ALL, 8, "eight, larger ones, for two steps",
      {"width": 64, "until": 2, "outputs_n": 8}, **KEEP)  # fmt: skip
entry("list_sanity_check_long", sanity_check, LEAK, ALL_OPEN, 40, "forty, larger ones, for a step",
      {"width": 64, "since": 1, "until": 2, "outputs_n": 40}, **KEEP)  # fmt: skip
entry("list_sanity_check_alike", sanity_check, LEAK, ALL_OPEN, 14, "sixteen of the same size",
      {"width": 16, "since": 1, "until": 2, "outputs_n": 16}, **KEEP)  # fmt: skip
entry("list_sanity_check_held", sanity_check, LEAK, ALL_OPEN, 8, "ten of the same size, for two steps",
      {"width": 16, "since": 2, "until": 4, "outputs_n": 10}, **KEEP, **unsure)  # fmt: skip
entry("list_sanity_check_short", sanity_check, LEAK, ALL_OPEN, 5, "four of the same size",
      {"width": 16, "since": 0, "until": 2, "outputs_n": 4}, **KEEP, **unsure)  # fmt: skip
entry("list_epoch_beside", epoch_beside, LEAK, ALL_OPEN, 8, "in step 6 of 8",
      {"until": 6}, **KEEP, **unsure)  # fmt: skip
entry("list_early_rollout", early_rollout, LEAK, ALL_OPEN, 16, **KEEP)
entry("losses", losses, LEAK)
entry("losses_open", losses, LEAK, ALL_OPEN)
entry("list_gradients", gradients_kept, LEAK, ALL_OPEN)
entry("list_heads", heads, LEAK, ALL_OPEN, 12, "outputs are kept",
      {"order": (0, 1, 0, 2, 1, 3, 0, 2, 4, 1, 5, 0)}, **KEEP, **unsure)  # fmt: skip
entry("hooks_not_removed", hooks_not_removed, LEAK, LATE_OPEN)
entry("hooks_that_keep", hooks_that_keep, LEAK, LATE_OPEN, exact=False)
many = {"lengths": (12, 31, 17, 25, 9, 34, 21, 14, 28, 19, 23, 16)}
entry(
    "masks_of_new_lengths", masks_by_length, LEAK, LATE_OPEN, 10, "each is new", many, exact=False
)
entry("validation_keeps", validation_keeps, LEAK, BARE, 11)
entry("validation_keeps_open", validation_keeps, LEAK, LATE_OPEN, 11)
entry("total_with_graph", total_with_graph, LEAK, LATE_OPEN)
entry("hidden_not_detached", hidden_not_detached, LEAK, LATE_OPEN)
beside = {"width": 512, "grow": True}
entry("list_and_writer", writer, LEAK, BARE, 10, "beside it a list grows", beside)
entry("list_and_writer_open", writer, LEAK, LATE_OPEN, 10, "beside it a list grows", beside)
entry("writer_keeps", writer, LEAK, LATE_OPEN, 12, "no, it keeps them", {"width": 8, "keep": True},
      **unsure)  # fmt: skip
entry("list_and_threads", inference_threads, LEAK, LATE_OPEN, 12, "beside them a list grows",
      {"keep": torch.ones})  # fmt: skip
entry("list_and_threads_same_site", inference_threads, LEAK, LATE_OPEN, 12,
      "a list grows by the operator that makes the inputs", {"keep": torch.rand}, **unsure)  # fmt: skip

# What cannot be told; where a better reader of the same evidence could, it may.
leak, none = {"accept": [LEAK]}, {"accept": [NO_LEAK]}
entry("cat", cat, CANNOT_TELL, BARE, 10, **leak)
entry("cat_scheduled", cat, CANNOT_TELL, LATE, **leak)
entry("cat_open", cat, CANNOT_TELL, LATE_OPEN, **leak)
entry("cat_skipped_batch", cat, CANNOT_TELL, LATE_OPEN, 12, "one is skipped", {"skip": 6}, **leak)
entry("cat_every_third", cat, CANNOT_TELL, LATE_OPEN, 11, "every third", third, **leak)
entry("cat_own_marker", own_marker, CANNOT_TELL, BARE, 8, "outputs in one tensor", {"cat": True},
      **MARKED, **leak)  # fmt: skip
entry("cat_in_function", in_function, CANNOT_TELL, LATE_OPEN, 8, "outputs in one tensor", {"cat": True},
      **leak)  # fmt: skip
entry("list_validation_held", validation_held, CANNOT_TELL, ALL, 8, "", {"every": 6}, **KEEP, **leak)
entry("list_validation_held_long", validation_held, CANNOT_TELL, ALL_OPEN, 12, "", {"every": 9},
      **KEEP, **leak)  # fmt: skip
entry("backlog", backlog, CANNOT_TELL, ALL_OPEN, 16, "4 come, after every third iteration 9 go",
      {"come": 4, "every": 3, "go": 9}, **leak)  # fmt: skip
entry("backlog_of_pairs", backlog, CANNOT_TELL, ALL_OPEN, 16, "2 come, after every second 3 go",
      {"come": 2, "every": 2, "go": 3}, **leak)  # fmt: skip
entry("backlog_of_a_server", backlog, CANNOT_TELL, ALL_OPEN, 24, "3 come, after every third 8 go",
      {"come": 3, "every": 3, "go": 8}, **leak)  # fmt: skip
entry("backlog_in_any_order", backlog, CANNOT_TELL, ALL_OPEN, 16, "3 come, any 2 of all go",
      {"come": 3, "every": 1, "go": 2, "pick": random.Random(0).randrange}, **leak)  # fmt: skip
entry("backlog_in_any_order_long", backlog, CANNOT_TELL, ALL_OPEN, 30, "3 come, any 2 of all go",
      {"come": 3, "every": 1, "go": 2, "pick": random.Random(2).randrange}, **leak)  # fmt: skip
entry("window_that_grows", window, CANNOT_TELL, ALL_OPEN, 16, "8 rows of 48", {"trim": 8}, **leak)
entry("kv_cache_never_reset", kv_cache, CANNOT_TELL, LATE_OPEN, 12, **leak)
entry("curriculum", curriculum, CANNOT_TELL, ALL_OPEN, 10, **none)
entry("unfreezing", unfreezing, CANNOT_TELL, ALL_OPEN, 11, **none)
entry("unfreezing_not_none", unfreezing, CANNOT_TELL, ALL_OPEN, 11, "zero_grad(set_to_none=False)",
      {"to_none": False}, **none)  # fmt: skip
entry("begins_to_learn", begins_to_learn, CANNOT_TELL, ALL_OPEN, 9, **none)
entry("heads", heads, CANNOT_TELL, ALL_OPEN, 8, "", {"order": (0, 1, 2, 3, 4, 5, 5, 5)}, **none)
entry("heads_in_turn", heads, CANNOT_TELL, ALL_OPEN, 12, "",
      {"order": (0, 1, 0, 2, 1, 3, 0, 2, 4, 1, 5, 0)}, **none)  # fmt: skip
entry("lbfgs_not_full", lbfgs, CANNOT_TELL, ALL_OPEN, 6, "no, of 100", {"history": 100}, **none)
entry("kept_by_optimizer", kept_by_optimizer, CANNOT_TELL, ALL_OPEN, **leak)
entry("few_steps", inside, CANNOT_TELL, ALL_OPEN, 3, "three iterations")
entry("few_steps_in_function", in_function, CANNOT_TELL, ALL_OPEN, 3, "three iterations")
entry("list_few_steps", outputs, CANNOT_TELL, ALL_OPEN, 3, "three iterations", **KEEP)
entry("ring_buffer_few_steps", ring_buffer, CANNOT_TELL, BARE, 3, "three iterations", **none)
entry("accumulate", accumulate, CANNOT_TELL, BARE, 12, "three steps", steps=3, **none)
entry("list_accumulate", accumulate, CANNOT_TELL, BARE, 12, "three steps; outputs are kept",
      steps=3, exact=False, **KEEP, **leak)  # fmt: skip
entry("list_step_forgotten", step_forgotten, CANNOT_TELL, ALL_OPEN, 8, "outputs are kept",
      steps=1, exact=False, **KEEP, **leak)  # fmt: skip
entry("inference_bare", inference, CANNOT_TELL, BARE, 8, "no steps", steps=0)
entry("list_inference_bare", inference, CANNOT_TELL, BARE, 8, "no steps; results are kept",
      steps=0, exact=False, **KEEP)  # fmt: skip
entry("writer_small", writer, CANNOT_TELL, LATE_OPEN, 18, "512 B each", small, **none)
entry("writer_all_threads", writer, CANNOT_TELL, LATE_OPEN, 10,
      "profile_all_threads=True, which records no memory", large,
      flags={"experimental_config": ALL_THREADS})  # fmt: skip


# ---- what is written ----


def truth_of(name, spec, rec, path):
    per_step_b, per_step_n = rec.growth()
    line = {
        "name": name,
        "verdict": spec["verdict"],
        "exit": EXIT[spec["verdict"]],
        "accept": [EXIT[v] for v in spec.get("accept", [])],
        "import": spec.get("import", ""),
        "iterations": rec.iterations,
        "steps": spec.get("steps", rec.iterations),
        "optimizer_steps": rec.optimizer_steps,
        "per_step_b": per_step_b,
        "per_step_n": per_step_n,
        "exact": spec.get("exact", True),
        "start": {f"{k}_b": v for k, v in rec.start.items()},
        "end": {f"{k}_b": v for k, v in rec.end.items()},
        "older_at_end_b": rec.old_at_end_b,
    }
    if rec.threads:
        line["threads"] = {**rec.threads, **unseen(path)}
    line["about"] = spec["about"]
    return line


def write_trace(rec, path):
    with tempfile.TemporaryDirectory() as folder:
        here = os.getcwd()
        os.chdir(folder)  # the trace holds the name it is written under
        rec.profiler.export_chrome_trace("trace.json")
        os.chdir(here)
        with open(f"{folder}/trace.json", "rb") as plain_text, open(path, "wb") as raw:
            with gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
                packed.write(plain_text.read())


def record(top, name):
    spec = LOOPS[name]
    torch.set_num_threads(1)  # one thread inside an operator: the same records every time
    torch.manual_seed(0)
    with profile(activities=[ProfilerActivity.CPU]):  # the profiler's own start-up
        network()(torch.rand(1, 32)).sum().backward()
    rec = Recording(spec["plan"], spec["n"], spec.get("flags", {}), spec.get("keep", False))
    spec["run"](rec, **spec["args"])
    path = f"{top}/{name}.json.gz"
    write_trace(rec, path)
    with open(f"{top}/{name}.truth", "w") as f:
        json.dump(truth_of(name, spec, rec, path), f)


def record_apart(top, name):
    """In a process of its own: PyTorch remembers blocks of the earlier recordings of a process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            record(top, name)
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        sys.exit(f"{name}: failed")
    with open(f"{top}/{name}.truth") as f:
        line = json.load(f)
    os.unlink(f"{top}/{name}.truth")
    print(f"{name}: {os.path.getsize(f'{top}/{name}.json.gz'):,} B", flush=True)
    return line


def write_truth(path, lines):
    """One line for each loop, in the order of the table; those not recorded now keep theirs."""
    if os.path.exists(path):
        with open(path) as f:
            lines = {**{line["name"]: line for line in json.load(f)}, **lines}
    texts = (json.dumps(lines[name]) for name in LOOPS if name in lines)
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(texts) + "\n]\n")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    top = os.path.abspath(sys.argv[1])
    os.makedirs(top, exist_ok=True)
    lines = {}
    for name in sys.argv[2:] or LOOPS:
        if LOOPS[name].get("compiler") and not shutil.which("g++"):
            print(f"{name}: skipped, torch.compile needs a compiler")
            continue
        lines[name] = record_apart(top, name)
    write_truth(f"{top}/truth.json", lines)


if __name__ == "__main__":
    main()
