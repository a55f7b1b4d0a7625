#!/usr/bin/env python3
"""Leaks of random loops, judged by the rules of docs/leaks.md as they are read here: an implementation of its own, which knows
the blocks from the program and counts step by step."""

import random

import inputs
import mt

LOOPS = 60
BORDERS = [422, 657]  # of some thousands of loops: what leaks in these does not if the last of four parts of the steps ends a step early
m = mt.Matrix()


# ---- what a site holds ----


def held(blocks, n):
    """Blocks and bytes at the end of each step; of blocks (bytes, step allocated, step freed or None)."""
    alive = [[b for b in blocks if b[1] <= s and (b[2] is None or b[2] > s)] for s in range(n)]
    return [len(bs) for bs in alive], [sum(b[0] for b in bs) for bs in alive]


def rises(count, size, first, last):
    """Steps that hold more than the one before, with how much; whether one behind the first holds less; the last that does."""
    ups, falls, fell = [], False, -1
    for s in range(first, last + 1):
        more = size[s] - (size[s - 1] if s else 0)
        if more > 0:
            ups.append((s, more, count[s] - (count[s - 1] if s else 0)))
        elif more < 0:
            falls, fell = falls or s > first, s
    return ups, falls, fell


def gaps(steps):
    return [b - a for a, b in zip(steps, steps[1:])]


def grown(size, first, last):
    return (size[last] - size[first]) / (last - first)


def evenly(count, size, first, least):
    """Rule 6: the growth per step, and steps, if it never falls, and rises by as much after as many steps, and goes on."""
    ups, falls, _ = rises(count, size, first, len(size) - 1)
    steps = [s for s, *_ in ups]
    alike = len({up[1:] for up in ups[1:]}) <= 1 and len(set(gaps(steps))) <= 1
    if falls or sum(s > first for s in steps) < least or not alike or len(size) - 1 - steps[-1] > max(gaps(steps), default=0):
        return None
    return grown(size, steps[0], steps[-1])


def parts(values, first):
    n = len(values) - first
    return [values[first + n * i // 4 : first + n * (i + 1) // 4] for i in range(4)]


# ---- the rules ----


def is_higher(count, warmup):
    half = warmup + (len(count) - warmup) // 2
    return max(count[half:], default=0) > max(count[warmup:half], default=0)


def fills_in_last(blocks, count, size, per_step):
    """Rule 4, its end: half to twice as much as a step brings is given up in the last one."""
    kept = [b for b in blocks if b[2] is None and b[1] < len(count) - 1]
    gone = count[-2] - len(kept), size[-2] - sum(b[0] for b in kept)
    return all(of / 2 <= up <= 2 * of for up, of in zip(gone, per_step))


def overdue(blocks, count, size, warmup, oldest):
    """Rules 3 to 6: the verdict and the growth per step; None: neither."""
    n = len(count)
    old = [b for b in blocks if b[2] is None and n - 1 - b[1] > oldest]
    sizes = {b[0] for b in old if b[1] >= warmup}
    old = [b for b in old if b[0] in sizes]
    steps = sorted({b[1] for b in old})
    if sum(s >= warmup for s in steps) < 2 or max(n - 2 - oldest, steps[-1]) - steps[-1] > max(gaps(steps)):
        return None
    verdict = "leak" if len(steps) >= 3 and n - warmup >= 3 else "candidate"
    if not is_higher(count, warmup):
        lows = [min(part) for part in parts(count, warmup)] if n - warmup >= 6 else [0, 0, 0, 0]
        fell = rises(count, size, warmup, n - 1)[2]
        if not lows[1] < lows[2] < lows[3]:
            if fell < 0 or evenly(count, size, fell, 2 if n - warmup < 6 else 3) is None:
                return None
            verdict = "candidate"
    first, last = steps[0], steps[-1]
    new = [b for b in old if b[1] > first]
    per_step = len(new) / (last - first), sum(b[0] for b in new) / (last - first)
    if verdict == "leak" and oldest <= 0 and fills_in_last(blocks, count, size, per_step):
        verdict = "candidate"
    late = evenly(count, size, warmup + (n - warmup) // 2, 3)
    return verdict, late if count[last] - count[first] != len(new) and late is not None else per_step[1]


def ever_more(count, size, warmup):
    """Rule 7, its first half, by what is held from the end of the warm-up on, or behind it."""
    n = len(count)
    ups, falls, _ = rises(count, size, max(warmup - 1, 0), n - 1)
    first = max(warmup - 1, 0) if not falls else warmup
    ups, falls, _ = rises(count, size, first, n - 1)
    steps = [s for s, *_ in ups]
    if falls or sum(s > first for s in steps) < 4 or n - 1 - steps[-1] > max(gaps(steps)):
        return None
    late = evenly(count, size, warmup + (n - warmup) // 2, 3)
    differ = len({up[1:] for up in ups[1:]}) > 1
    return "candidate", late if differ and late is not None else grown(size, steps[0], steps[-1])


def climbs(count, size, warmup):
    """Rule 8."""
    if len(count) - warmup < 8:
        return None
    each = [(min(c), max(c), min(b), max(b)) for c, b in zip(parts(count, warmup), parts(size, warmup))]
    if not all(x < y for a, b in zip(each, each[1:]) for x, y in zip(a, b)):
        return None
    n, quarter = len(count) - warmup, parts(size, warmup)
    at = [warmup + n * i // 4 + quarter[i].index(each[i][3]) for i in (0, 3)]
    return "candidate", (each[3][3] - each[0][3]) / (at[1] - at[0])


def too_short(blocks, count, size, warmup, oldest):
    """Rule 4: one block lived nearly as long as the recording."""
    n = len(count)
    kept = [b for b in blocks if b[2] is None and warmup <= b[1] < n - 1]
    steps, ups = sorted({b[1] for b in kept}), [s for s, *_ in rises(count, size, warmup, n - 1)[0]]
    if n - 1 - oldest - warmup >= 2 or not is_higher(count, warmup) or len(steps) < 3 or n - 1 - ups[-1] > max(gaps(ups), default=0):
        return None
    return "candidate", sum(b[0] for b in kept if b[1] > steps[0]) / (steps[-1] - steps[0])


def judge(blocks, n, warmup):
    count, size = held(blocks, n)
    oldest = max((b[2] - b[1] for b in blocks if b[2] is not None and b[2] < n and b[1] >= warmup), default=-1)
    if all(b[2] is not None for b in blocks):  # rule 7, its end
        ups = [s for s, *_ in rises(count, size, warmup, n - 1)[0]]
        found = ever_more(count, size, warmup)
        return found if found and n - warmup >= 3 and ups[-1] == n - 1 and set(gaps(ups)) == {1} else None
    return (overdue(blocks, count, size, warmup, oldest) or ever_more(count, size, warmup) or climbs(count, size, warmup)
            or too_short(blocks, count, size, warmup, oldest))


# ---- loops ----


def site(r, n):
    """The blocks of a site that keeps, exchanges or gives up what it gets, in one way or another."""
    size, keep, e = r.choice([64, 100, 4096]), r.randrange(5), r.randrange(1, n + 1)
    kind = r.choice(["leak", "cache", "exchange", "backlog", "trimmed", "larger", "stops", "late", "dropped", "any", "any"])
    if kind == "trimmed":  # by one in each step, of those of the two steps before
        blocks = [[size, s, None] for s in range(n) for _ in range(2)]
        for s in range(2, n):
            r.choice([b for b in blocks if b[2] is None and s - 2 <= b[1] < s])[2] = s
        return [tuple(b) for b in blocks]
    if kind in ("exchange", "backlog"):
        kept, blocks = [], []
        for s in range(n):
            for _ in range(r.randrange(1, 4) if kind == "backlog" else 1):
                kept.append([size, s, None])
                blocks.append(kept[-1])
            while len(kept) > keep + 1 if kind == "exchange" else kept and r.random() < 0.55:
                kept.pop(r.randrange(len(kept) - 1) if kind == "exchange" else 0)[2] = s
        return [tuple(b) for b in blocks]
    p = r.random()
    return {"leak": lambda: [(size, s, None) for s in range(r.randrange(3), n, r.choice([1, 1, 2, 3]))],
            "cache": lambda: [(size, s, s + keep) for s in range(n)],
            "larger": lambda: [(size * (s + 1), s, s + 1) for s in range(n)],
            "stops": lambda: [(size, s, None) for s in range(e)],
            "late": lambda: [(size, s, s if s < e else None) for s in range(n)],
            "dropped": lambda: [(size, s, e if s < e else None) for s in range(n)],
            "any": lambda: [(size * r.choice([1, 1, 3]), s, None if r.random() < p else s + r.choice([0, 0, 1, 1, 2, 3]))
                            for s in range(n) for _ in range(r.randrange(3))]}[kind]()


def write(sites, n, path):
    """A loop of n steps; what is freed in none of them stays."""
    trace, at = inputs.Trace(), {}
    for k, blocks in enumerate(sites):
        for i, (size, born, died) in enumerate(blocks):
            address = (k + 1 << 40) + (i << 20)
            at.setdefault(born, []).append((f"site{k}", size, address))
            if died is not None:
                at.setdefault(died, []).append((None, -size, address))
    for s in range(n):
        trace.mark(f"ProfilerStep#{s}", 10000 * (s + 1), 10000)
        trace.op("work", 10000 * (s + 1) + 9990, 5)
        for i, (name, size, address) in enumerate(sorted(at.get(s, []), key=lambda record: record[1] < 0)):
            t = 10000 * (s + 1) + 10 + 20 * i
            if name:
                trace.op(name, t, 10)
            trace.record(t + 5, size, address, inputs.CUDA0)
    trace.write(path)


def compare(name, sites, n, warmup):
    """What memtool says of sites in a loop of n steps is what the rules say."""
    write(sites, n, "loop.json")
    m.run("import", "loop.json", "--name", name)
    m.known.clear()
    for by in ("name", "name,thread"):  # from what is stored of nodes, and block by block
        rows = m.rows("leaks", name, "--all", "--by", by, "--warmup", str(warmup))
        grows = {row["name"]: (row["verdict"], row["per_step_b"]) for row in rows if row["per_step_b"] is not None}
        for k, blocks in enumerate(sites):
            got, want = grows.get(f"site{k}"), judge(blocks, n, warmup)
            same = got is None if want is None else got is not None and got[0] == want[0] and abs(got[1] - want[1]) <= 1
            m.check(same, name, by, "site", k, "of", n, "steps, warm-up", warmup, got, "by the rules", want, blocks)
            seen[want and want[0]] += 1


def loop(seed):
    r = random.Random(seed)
    n, warmup = r.choice([3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 20]), r.choice([0, 1, 1, 1, 2, 3])
    sites = [site(r, n) for _ in range(8)]
    sites = [[(size, born, died if died is None or died < n else None) for size, born, died in blocks] for blocks in sites]
    compare(f"loop{seed}", sites, n, warmup)


# ---- scopes that are called by numbers ----


def in_scopes(name, scope, born, died=lambda s: None, n=12):
    """A block of 512 B by one op in each step of `born`, in a scope of its own: whether that is a leak, and its growth."""
    trace = inputs.Trace()
    for s in range(n):
        trace.mark(f"ProfilerStep#{s}", 10000 * (s + 1), 10000)
        trace.op("work", 10000 * (s + 1) + 9990, 5)
        trace.mark(scope(s), 10000 * (s + 1) + 1000, 1000)
        if s in born:
            trace.op("made", 10000 * (s + 1) + 1100, 100)
            trace.record(10000 * (s + 1) + 1150, 512, 1 + s << 20, inputs.CUDA0)
        for b in born:
            if died(b) == s:
                trace.record(10000 * (s + 1) + 1500, -512, 1 + b << 20, inputs.CUDA0)
    trace.write("scopes.json")
    m.run("import", "scopes.json", "--name", name)
    m.known.clear()
    code = m.run("leaks", name, "--fail", codes=(0, 1))[0]
    limits = [m.run("check", name, "--max-growth-per-step", str(limit), codes=(0, 1))[0] for limit in (0, 256, 512)]
    sums = []
    for by in ("site", "scope", "name,scope,site"):
        rows = m.rows("leaks", name, "--by", by)
        sums.append(round(sum(row["per_step_b"] or 0 for row in rows if row["verdict"] == "leak")))
    return code, limits, sums


half = range(1, 12, 2)
for k, scope in enumerate((lambda s: f"step {s}", lambda s: f"request {s * 7919:x}7c{s}", lambda s: f"layer{s}.fold_{s % 3}")):
    for born, per_step in ((range(12), 512), (half, 256)):
        want = (1, [1, 1 if per_step > 256 else 0, 0], [per_step] * 3)
        found = in_scopes(f"numbered{k}_{per_step}", scope, born)
        m.check(found == want, "a leak in numbered scopes", k, per_step, found)
    kept_two = in_scopes(f"cached{k}", scope, range(12), lambda s: s + 2 if s < 10 else None)
    m.check(kept_two == (0, [0] * 3, [0] * 3), "what lives for two steps in numbered scopes", k, kept_two)
m.check(in_scopes("once", lambda s: f"layer{s}", (0, 1)) == (0, [0] * 3, [0] * 3), "what two numbered scopes made once")


def layers(n=36):
    """Scopes called by numbers that run in each step, and make a buffer once: places of their own, and none of them leaks."""
    trace = inputs.Trace()
    for s in range(n):
        trace.mark(f"ProfilerStep#{s}", 10000 * (s + 1), 10000)
        for layer in range(12):
            at = 10000 * (s + 1) + 100 + 500 * layer
            trace.mark(f"layer{layer}", at, 400)
            trace.op("made", at + 10, 100)
            if s == 3 * layer:
                trace.record(at + 20, 4096, 1 + layer << 20, inputs.CUDA0)
        trace.op("work", 10000 * (s + 1) + 9990, 5)
    trace.write("layers.json")
    m.run("import", "layers.json", "--name", "layers")
    m.run("leaks", "layers", "--fail", codes=(0,))
    m.run("check", "layers", "--max-growth-per-step", "0", codes=(0,))


layers()
seen = {"leak": 0, "candidate": 0, None: 0}
for number in [*range(LOOPS), *BORDERS]:
    loop(number)
for n in (6, 7, 8):  # what was held at the beginning is dropped, then two steps rise: a candidate where fewer than six follow the warm-up
    dropped = [(64, 0, n - 3)] * 3 + [(64, n - 2, None), (64, n - 1, None)]
    m.check((judge(dropped, n, 1) is None) == (n > 6), "few steps", n, judge(dropped, n, 1))
    compare(f"dropped{n}", [dropped], n, 1)
m.check(min(seen.values()) > LOOPS, "verdicts", seen)
m.finish(at_least=16 * LOOPS)
