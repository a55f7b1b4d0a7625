#!/usr/bin/env python3
"""A baseline file answers as the runs it was written from: the same verdicts, of the same figures, for the same reasons.

Two runs are compared by every rule about growth, once with the run as baseline and once with its file; so are several repeats
of which one lacks something. What a file leaves out, [other], may only open a verdict about sites."""

import glob
import json
import os
import random

import inputs
import mt

SAMPLES = os.environ["SAMPLES"]
LOOPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "loops")
RULES = ["--max-peak-growth", "--max-alloc-growth", "--max-alloc-count-growth", "--max-at-end-growth"]
SITES = [[], ["--op", "^aten::|alpha|beta|gamma"], ["--scope", "."], ["--op", "[ae]"]]
SAME = ("verdict", "why", "measured_b", "measured_n", "baseline_b", "baseline_n", "limit_b", "limit_n", "explained_by")

m = mt.Matrix()


def check(new, baseline, limit, site):
    rules = [arg for rule in RULES for arg in (rule, limit)]
    runs = [arg for name in baseline for arg in ("--baseline", name)]
    code, out, err = m.run("check", *new, *runs, *rules, *site, "--format", "json", codes=(0, 1, 3))
    rows = json.loads(out)["rows"] if out else []
    return code, {(row["rule"], row["device"]): {key: row[key] for key in SAME} for row in rows}


def lumps(path):
    """Devices whose sites do not all stand in the file."""
    with open(path) as f:
        devices = json.load(f)["devices"]
    return {device["device"] for device in devices if any(site["op"] in ("[other]", "[below threshold]") for site in device["sites"])}


def is_open(row):
    return row["verdict"] == "inconclusive"


def same(new, base, limits=("0", "5%", "50%"), sites=SITES):
    """new, base: names of repeats."""
    path = "of.base"
    code, _, _ = m.run("export", "--baseline", *base, "-o", path, codes=(0, 2))
    if code:
        return
    lumped = lumps(path)
    for limit in limits:
        for site in sites:
            one, there = check(new, base, limit, site)
            two, file = check(new, [path], limit, site)
            m.check(site or one == two, new, base, limit, "exit", one, "of the file", two)
            m.check(there.keys() == file.keys() or (site and lumped), new, base, limit, site, sorted(there.keys() ^ file.keys()))
            for key in there.keys() & file.keys():
                left_out = site and key[1] in lumped and (is_open(file[key]) or there[key]["verdict"] == file[key]["verdict"])
                if key[1] in lumped:  # what explains it may be among what is left out
                    there[key]["explained_by"] = file[key]["explained_by"] = None
                m.check(left_out or there[key] == file[key], new, base, limit, site, key, "\n  run ", there[key], "\n  file", file[key])
    os.remove(path)


def both(a, b, **more):
    same([a], [b], **more)
    same([b], [a], **more)


def imported(path, name, codes=(0, 2)):
    return m.run("import", path, "--partial", "--name", name, codes=codes)[0] == 0


def write(name, trace):
    trace.meta["of"] = name  # a recording is imported once
    trace.write(f"{name}.json")
    imported(f"{name}.json", name, (0,))
    return name


# ---- loops, and whatever else there is ----

loops = [os.path.basename(path)[: -len(".json.gz")] for path in sorted(glob.glob(os.path.join(LOOPS, "*.json.gz")))]
for loop in loops:
    imported(os.path.join(LOOPS, f"{loop}.json.gz"), loop, (0,))
for a, b in zip(loops, loops[7:]):
    same([a], [b], limits=("5%",), sites=SITES[:2])
    same([b], [a], limits=("0",), sites=SITES[:1])

others = [run for run in m.imported(inputs.all_inputs()) if not inputs.is_odd(run.name)]
for kind in (True, False):
    alike = [run.name for run in others if run.is_snapshot == kind and run.devices]
    for a, b in zip(alike, alike[1:]):
        both(a, b, limits=("5%",))

heap = {}
for path in sorted(glob.glob(os.path.join(SAMPLES, "heap", "*")) + glob.glob(os.path.join(SAMPLES, "python", "*"))):
    name = os.path.basename(path)
    if not name.endswith((".c", ".go")) and imported(path, name):
        heap.setdefault(m.query(f"SELECT format FROM run WHERE name = '{name}'")[0]["format"], []).append(name)
for names in heap.values():
    for a, b in zip(names, names[1:]):
        both(a, b, limits=("5%",))

# ---- massif: it lists what is alive at the peak, and not at the end, and lumps together what is small ----


def massif(name, *lines, options="", extra=0):
    """One snapshot, the peak and the last."""
    head = f"desc: --massif-out-file=m{options}\ncmd: ./a\ntime_unit: B\n"
    empty = f"mem_heap_extra_B={extra}\nmem_stacks_B=0\n"
    with open(name, "w") as f:
        f.write(f"{head}#---\nsnapshot=0\n#---\ntime=0\nmem_heap_B=0\n{empty}heap_tree=empty\n#---\nsnapshot=1\n#---\ntime=9000\n"
                f"mem_heap_B=10000\n{empty}heap_tree=peak\nn{len(lines)}: 10000 (heap allocation functions) malloc/new/new[], "
                "--alloc-fns, etc.\n" + "".join(f" n0: {line}\n" for line in lines))
    imported(name, name, (0,))
    return name


few = massif("few.out", "9000 0x1: alpha (a.c:1)", "1000 0x2: beta (a.c:2)")
more = massif("more.out", "8000 0x1: alpha (a.c:1)", "1500 0x2: beta (a.c:2)", "500 0x3: gamma (a.c:3)")
both(few, more)
m.run("export", "--baseline", few, "-o", "few.base", codes=(0,))
for site, want in (("alpha", 0), ("beta", 1), ("gamma", 1)):
    code, out, _ = m.run("check", more, "--baseline", "few.base", "--max-peak-growth", "5%", "--op", site, codes=(0, 1, 3))
    m.check(code == want, "massif: a site of the peak", site, code, out)

# It marks the peak of blocks with what the allocator adds, within 1 %: in between blocks may hold as much.
for options, most in (("", 12110), (" --peak-inaccuracy=0.0", 11990), (" --peak-inaccuracy=50", 17985), (" --peak-inaccuracy=100.0", 23980),
                      (" --peak-inaccuracy=0.0 --peak-inaccuracy=40", 16786)):
    name = massif(f"extra{most}.out", "10000 0x1: alpha (a.c:1)", options=options, extra=1990)
    for limit, want in ((9999, 1), (10000, 3), (most - 1, 3), (most, 0)):
        code, out, err = m.run("check", name, "--max-peak", f"{limit}B", codes=(0, 1, 3))
        m.check(code == want, "massif: a limit of the peak", options, limit, code, out)
        m.check(("massif records nothing as a program ends" in err) == (want == 0), "massif: its end is said", limit, out)

# ---- sites that grow by as much: the same one is the largest, whatever order a file has them in ----


def tied(name, size):
    trace = inputs.Trace()
    for k, op in enumerate(("aten::zeros", "aten::mul", "aten::add", "aten::ones", "aten::bmm")):
        trace.op(op, 100 * k, 50)
        trace.record(100 * k + 10, size, 64 * (k + 1))
    return write(name, trace)


both(tied("tied", 1000), tied("tied_more", 3000))

# ---- programs of sites that stay, grow and come back, of different length ----

KINDS = ("tmp", "leak", "cache", "state", "grow", "queue")


def program(rng, n, sites, noise):
    """n steps; each site allocates a block in each and frees it as its kind does."""
    trace, address, held = inputs.Trace(), 4096, {}
    for step in range(n):
        t = 100.5 + 1000 * step
        trace.mark(f"ProfilerStep#{step}", t, 1000)
        tmp = []
        for k, (name, kind, size, every, device) in enumerate(sites):
            at, address = t + 50 * k + 10, address + (1 << 21)
            size = (size + rng.choice(noise)) * (step + 1 if kind == "grow" else 1)
            trace.op(name, at, 40)
            queue = held.setdefault(name, [])
            if (kind == "leak" and step % every) or (kind == "state" and step) or (kind == "late" and step < n - every):
                continue
            trace.record(at + 2, size, address, device)
            (tmp if kind in ("tmp", "late") else queue).append((-size, address, device))
            if (kind == "cache" and len(queue) > every) or (kind == "grow" and len(queue) > 1) or (kind == "queue" and step % every):
                trace.record(at + 5, *queue.pop(0))
        for k, block in enumerate(tmp):
            trace.record(t + 900 + k, *block)
    return trace


def changed(rng, sites):
    sites = [list(site) for site in sites]
    one, chance = rng.choice(sites), rng.random()
    if chance < 0.4:
        one[2] = int(one[2] * rng.choice((0.9, 1.04, 1.2, 2)))
    elif chance < 0.7:
        one[1] = rng.choice(KINDS)
    elif chance < 0.9:
        sites.append(["aten::new", rng.choice(("tmp", "leak")), rng.choice((64, 50001)), 1, inputs.CPU])
    return sites


def random_pair(seed, uneven=False):
    """uneven: repeats differ in their steps."""
    rng = random.Random(seed)
    devices = rng.choice(([inputs.CPU], [inputs.CPU, inputs.CUDA0]))
    sites = [[f"aten::s{k}", rng.choice(KINDS), rng.choice((64, 999, 4096, 100000)), rng.choice((1, 2, 3)), rng.choice(devices)]
             for k in range(rng.randint(1, 5))]
    n, more, noise = rng.choice((4, 6, 8, 12)), rng.choice((0, -1, 2, 4, 7)), rng.choice(((0,), (0, 8)))
    repeats = rng.choice((1, 1, 3)) if not uneven else rng.choice((2, 3, 4, 5))
    lengths = [n + rng.choice((0, 0, 1, -1, 3)) if uneven else n for _ in range(repeats)]
    if uneven:
        sites.append(["aten::late", "late", 150000, rng.choice((1, 2)), devices[0]])
    there = [write(f"seed{seed}a{k}", program(rng, lengths[k], sites, noise + ((0, 100000) if uneven else (0,)) * k)) for k in range(repeats)]
    new = changed(rng, sites)
    here = [write(f"seed{seed}b{k}", program(rng, n + more, new, noise + (0,) * k)) for k in range(repeats)]
    same(here, there, limits=("0", "5%"), sites=([], ["--op", "s[01]"]))
    same(there[:1], here[:1], limits=("0", "5%"), sites=([],))


for seed in range(40):
    random_pair(seed)
for seed in range(100, 130):
    random_pair(seed, uneven=True)

# What grows as a candidate, by a fifth more, in runs of which either may be longer: more is more.
for name, sizes in (("grows", (100000, 120000)), ("halves", (100001, 120001))):
    for lengths in ((12, 16), (16, 12), (12, 12)):
        runs = [write(f"{name}{size}_{n}_{k}", program(random.Random(0), n, [[f"aten::{name}{n}", "grow", size, 1, inputs.CPU]], (0,)))
                for k, (size, n) in enumerate(zip(sizes, lengths))]
        same([runs[1]], [runs[0]])
        for rule in ("--max-at-end-growth", "--max-peak-growth"):
            code, out, _ = m.run("check", runs[1], "--baseline", runs[0], rule, "5%", codes=(0, 1, 3))
            m.check(code == (1 if lengths[0] <= lengths[1] else code), name, lengths, rule, "a fifth more is more", code, out)

# ---- what is not known, and of which repeat ----


def steps(n, device=inputs.CPU, kept=0, extra=0):
    sites = [["aten::work", "tmp", 4096 + extra, 1, device], ["aten::keep", "leak" if kept else "state", max(kept, 64), 1, device]]
    return program(random.Random(0), n, sites, (0,))


def cut(name, trace):
    """The file ends within its records."""
    events = [json.dumps(event) for event in trace.events]
    with open(f"{name}.json", "w") as f:
        f.write('{"traceEvents": [\n' + ",\n".join(events[: len(events) * 4 // 5]) + ',\n{"ph": "i", "na')
    imported(f"{name}.json", name, (0,))
    return name


def no_addresses(name):
    trace = steps(8, extra=7)
    for event in trace.events:
        event["args"].pop("Addr", None)
    return write(name, trace)


def falling(name):
    """Without addresses, from the middle of a program: it frees more than it is seen to allocate."""
    trace = steps(8, extra=11)
    trace.events = [event for k, event in enumerate(trace.events) if event["args"].get("Bytes", 0) <= 0 or k % 2]
    for event in trace.events:
        event["args"].pop("Addr", None)
        event["args"].pop("Total Allocated", None)
    return write(name, trace)


new = write("new", steps(8, extra=1))
ok, gpu, bare, stepless = write("ok", steps(8)), write("gpu", steps(8, inputs.CUDA0)), no_addresses("bare"), write("stepless", steps(0, extra=5))
early = cut("early", steps(8, extra=3))
REASONS = {(early,): "'early' was read from a file that ends early", (ok, early): "'early' was read from a file that ends early",
           (early, ok): "'early' was read from a file that ends early", (ok, gpu): "'gpu' has no device 'cpu'", (gpu,): "'gpu' has no device 'cpu'",
           (bare,): "'bare' has no addresses in its records, so block lifetimes are unknown",
           (ok, bare): "'bare' has no addresses in its records, so block lifetimes are unknown"}
for base, want in REASONS.items():
    same([new], list(base), limits=("5%",))
    m.run("export", "--baseline", *base, "-o", "why.base", codes=(0,))
    for rule in ("--max-peak-growth", "--max-at-end-growth"):
        code, out, _ = m.run("check", new, "--baseline", "why.base", rule, "5%", codes=(3,))
        m.check(f"the baseline {want}\n" in out, base, rule, "says why", out)

both(new, falling("falling"), limits=("5%",))
m.run("export", "--baseline", "falling", "-o", "falling.base", codes=(0,))
with open("falling.base") as f:
    levels = json.load(f)["devices"][0]
m.check(levels["last_step_peak_b"] < 0 and levels["after_steps_peak_b"] < 0, "levels below what was there first", levels)

# Files of before that: they do not say why.
m.run("export", "--baseline", early, "-o", "why.base", codes=(0,))
with open("why.base") as f:
    older = json.load(f)
for device in older["devices"]:
    device.pop("unknown", None)
with open("older.base", "w") as f:
    json.dump(older, f)
code, out, _ = m.run("check", new, "--baseline", "older.base", "--max-peak-growth", "5%", codes=(3,))
m.check("the baseline 'early' lacks this figure\n" in out, "an older file", out)

m.finish(at_least=25000)
