#!/usr/bin/env python3
"""Collapsed stacks: they hold what the log holds that they were made of, by any function, and in the same order of callers."""

import collections
import os
import random
import re

import mt

HEAP = os.path.join(os.environ["SAMPLES"], "heap")
m = mt.Matrix()


def device(run):
    return m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]


def by(run, key, column):
    return {row[key]: row[column] for row in m.rows("table", run, "--by", key) if row[column]}


def imported(path, run, *options, codes=(0,)):
    m.offered += 1
    code, out, err = m.run("import", path, "--name", run, *options, codes=codes)
    m.taken += code == 0
    return out, err


def paths_of(lines):
    """{functions of a stack: bytes}, as far as names go: from main on, each once and in any order, for heaptrack_print turns those
    around that are inlined in one another; without those that have no name, and the allocator; names as glibc exports them."""
    paths = collections.Counter()
    for line in lines:
        stack, n = line.rsplit(None, 1)
        names = [re.sub(r"^__GI_|^__(?=pthread)|(_2_1)? \(.*\)$", "", name) for name in stack.rstrip(";").split(";")]
        names = names[names.index("main") :] if "main" in names else names
        paths[tuple(sorted({name for name in names if not re.match(r"\[|0x|calloc$", name)}))] += int(n)
    return +paths


def same_paths(run, when, path):
    """What the export says of each call path of a log is what heaptrack_print -F said of it."""
    with open(path) as f:
        want = paths_of(f)
    got = paths_of(m.run("export", run, "--format", "collapsed", "--at", when, "--min", "0")[1].splitlines())
    m.check(len(want) >= 3 and got == want, run, when, "call paths", mt.differences(got, want))


imported(f"{HEAP}/heaptrack.zst", "log")
same_paths("log", "@end", f"{HEAP}/heaptrack_leaked.folded")
same_paths("log", "@peak", f"{HEAP}/heaptrack_peak.folded")
for size in ("200k", "2m"):  # recordings that are not in the repository
    recording = os.path.join(os.environ["DATA"], "heap", f"heaptrack_{size}")
    if os.path.exists(f"{recording}.zst"):
        imported(f"{recording}.zst", size)
        same_paths(size, "@end", f"{recording}.leaked.folded")
for meaning, name, figure in (("at-end", "heaptrack_leaked", "at_end_b"), ("at-peak", "heaptrack_peak", "peak_b")):
    path = f"{HEAP}/{name}.folded"
    imported(path, meaning, "--values", meaning)
    d = device(meaning)
    with open(path) as f:
        said = sum(int(line.split()[-1]) for line in f)
    m.check(d[figure] == said == device("log")[figure], meaning, figure, d[figure], said)
    unknown = {"alloc_b", "freed_b", "alloc_n", "at_end_n", "at_end_b", "peak_b"} - {figure}
    m.check(all(d[of] is None for of in unknown), meaning, "what it does not say", d)
    column = figure if figure == "at_end_b" else "at_peak_b"
    for key in ("name", "site", "scope", "top"):
        got, want = by(meaning, key, f"self_{column}"), by("log", key, f"self_{column}")
        # A function whose name is unknown is called by its library in the log; the stacks do not have that.
        for names in (got, want):
            for unnamed in [n for n in names if n.startswith("[")]:
                names["[]"] = names.get("[]", 0) + names.pop(unnamed)
        m.check(got == want, meaning, "by", key, mt.differences(got, want))

# Without --values the figures are noted as taken for that, and no verdict rests on them.
imported(f"{HEAP}/heaptrack_peak.folded", "unsaid")
for code, rule in ((3, "--max-at-end"), (3, "--max-peak")):
    m.check(m.run("check", "unsaid", rule, "1TiB", codes=(code,))[0] == code, "unsaid", rule)
m.check(m.run("leaks", "unsaid", "--fail", codes=(3,))[0] == 3, "unsaid", "leaks --fail")
m.check(m.run("check", "at-end", "--max-at-end", "228639", codes=(1,))[0] == 1, "at-end", "is judged")

# The order of lines, compression and line ends change nothing; a path that comes twice adds up.
sums = collections.Counter()
rng = random.Random(1)
for k in range(400):
    stack = ";".join(rng.choice(("main", "f", "g", "h (a.c)", "h (b.c)")) for _ in range(rng.randrange(2, 7)))
    sums[stack] += rng.randrange(1 << 20)
halves = [line for stack, n in sums.items() for line in (f"{stack} {n // 3}", f"{stack} {n - n // 3}")]
wanted = None
for name, end, order in (("whole", "\n", False), ("dos", "\r\n", False), ("shuffled", "\n", True)):
    if order:
        rng.shuffle(halves)
    with open(f"{name}.folded", "w", newline="") as f:
        f.write("".join(line + end for line in halves))
    imported(f"{name}.folded", name, "--values", "allocated")
    m.check(device(name)["alloc_b"] == sum(sums.values()), name, "all of it")
    paths = by(name, "path", "self_alloc_b")
    wanted = wanted or paths
    m.check(paths == wanted and sum(paths.values()) == sum(sums.values()), name, "paths", mt.differences(paths, wanted))
m.finish(20)
