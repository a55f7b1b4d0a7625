#!/usr/bin/env python3
"""Verdicts rest on what was recorded: each way to lose a part of a recording, and each command that gives a verdict. What
holds in spite of the gap, such as a peak above its limit in a file that ends early, is a verdict all the same."""

import gzip
import json
import os
import pickle
import re

import inputs
import mt

STEPS = 12
BIG = 50 << 20
PEAK = BIG + 4096  # above the temporaries

m = mt.Matrix()


def program(kept, fresh=None):
    """A loop with temporaries and a large block in step 3; `kept` bytes stay after each step."""
    trace = inputs.Trace()
    for step in range(STEPS):
        t = 100.5 + 100 * step
        trace.mark(f"ProfilerStep#{step}", t, 100)
        trace.op("aten::keep", t + 10, 9)
        trace.op("aten::work", t + 30, 9)
        if step == 3:
            trace.op("aten::big", t + 50, 9)
    for step in range(STEPS):  # as PyTorch writes them: behind all ops
        t = 100.5 + 100 * step
        if kept:
            trace.record(t + 12, kept, 4096 * (100 + step))
        trace.record(t + 32, 4096, 64)
        trace.record(t + 34, -4096, 64)
        if step == 3:
            trace.record(t + 52, BIG, 1 << 40)
            trace.record(t + 54, -BIG, 1 << 40)
        if fresh:
            fresh(trace, step, t)
    return trace


def drop_unseen(trace, step, t):
    """A thread drops a block in each step where the profiler does not look; its address is handed out again."""
    trace.record(t + 60, 2048, 4096 * (50 + step % 2))


def lines(trace):
    return [json.dumps(event) for event in trace.events]


def document(events):
    return '{"traceEvents": [\n' + ",\n".join(events) + "\n]}\n"


def cut(part):
    """The file ends within its memory records."""
    def damage(trace):
        events = lines(trace)
        first = next(i for i, line in enumerate(events) if "[memory]" in line)
        return document(events[: first + int(part * (len(events) - first))]).removesuffix("\n]}\n") + ',\n{"ph": "i", "na'
    return damage


def damaged(what):
    """Some events are no JSON any more: frees, all that the large block has, or one op."""
    def damage(trace):
        broken = {"frees": '"Bytes": -', "big": f'{BIG}', "op": '"name": "aten::work"'}[what]
        return document(line.replace(broken, broken[0] + "\\x" + broken[1:]) if broken in line else line for line in lines(trace))
    return damage


def closed_early(trace):
    """A bare array with a bracket too many in the middle of its records."""
    events = lines(trace)
    return "[\n" + ",\n".join(events[: len(events) * 2 // 3]) + "\n],\n" + ",\n".join(events[len(events) * 2 // 3 :]) + "\n]\n"


def snapshot(kept, history, lost):
    """The same loop in an allocator snapshot, whose buffer may have lost the first steps."""
    first = 4 if lost else 0
    events, marks, blocks = [], [], []
    for step in range(STEPS):
        t = 10**15 + 100 * step
        marks += [{"stage": stage, "name": f"ProfilerStep#{step}", "device": 0, "time_us": t + at} for stage, at in (("START", 0), ("END", 99))]
        now = []
        for action, address, size, at in (("alloc", 0x10000, 4096, 30), ("free_requested", 0x10000, 4096, 32), ("free_completed", 0x10000, 4096, 33)):
            now.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": t + at, "frames": inputs.FORWARD})
        if kept:
            address = 0x100000 + 0x1000 * step
            now.append({"action": "alloc", "addr": address, "size": kept, "stream": 0, "time_us": t + 50, "frames": inputs.LOADING})
            blocks.append({"address": address, "size": kept, "requested_size": kept, "state": "active_allocated", "frames": inputs.LOADING})
        if history and step >= first:
            events += now
    whole = {"device": 0, "address": 0x10000, "total_size": 0x200000, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
             "allocated_size": kept * STEPS, "active_size": kept * STEPS, "requested_size": kept * STEPS, "frames": [], "blocks": []}
    at = whole["address"]
    for block in blocks + [{"address": whole["address"] + whole["total_size"]}]:
        if block["address"] > at:
            whole["blocks"].append({"address": at, "size": block["address"] - at, "requested_size": 0, "state": "inactive", "frames": []})
        if "size" in block:
            whole["blocks"].append(block)
            at = block["address"] + block["size"]
    return {"segments": [whole], "device_traces": [events], "external_annotations": marks, "allocator_settings": {"trace_alloc_overflowed": lost}}


def write(name, content):
    path = f"{name}.json" if isinstance(content, str) else f"{name}.pickle"
    with open(path, "w" if isinstance(content, str) else "wb") as f:
        f.write(content) if isinstance(content, str) else pickle.dump(content, f, 4)
    m.run("import", path, "--partial", "--name", name, codes=(0,))
    return name


def verdict(allowed, *args):
    code, out, err = m.run(*args, codes=(0, 1, 3))
    m.check(code in allowed, " ".join(args), "exit", code, "allowed", allowed, "\n", out, err)
    return out


# ---- growth that is compared ----


def ever_larger(more):
    """A block that is replaced by a larger one in each step: a candidate, if it grows."""
    trace = inputs.Trace()
    for step in range(8):
        t = 100.5 + 100 * step
        trace.mark(f"ProfilerStep#{step}", t, 100)
        trace.op("aten::cat", t + 10, 9)
        trace.record(t + 12, 1000 + more * step, 4096 * (100 + step))
        if step:
            trace.record(t + 13, -(1000 + more * (step - 1)), 4096 * (99 + step))
    trace.op("aten::big", 30.5, 2)
    trace.record(31.5, 1 << 20, 1 << 40)
    trace.record(32, -(1 << 20), 1 << 40)
    return trace


def in_order(names):
    """Each op leaks in four of eleven steps, so that rates are fractions whose sum depends on the order of its parts.
    One more block is freed: where none is, nothing is a leak."""
    sizes = {"x": 183, "y": 209, "z": 4436}
    rate = {name: 3 * size / 7 for name, size in sizes.items()}
    assert (rate["x"] + rate["y"]) + rate["z"] < (rate["z"] + rate["y"]) + rate["x"]
    trace = inputs.Trace()
    for step in range(11):
        t = 100.5 + 100 * step
        trace.mark(f"ProfilerStep#{step}", t, 100)
        for k, name in enumerate(names):
            trace.op(f"aten::{name}", t + 10 + 10 * k, 9)
            if step in (1, 4, 7, 8):
                trace.record(t + 12 + 10 * k, sizes[name], 1 << 20 | ord(name) << 32 | step << 13)
    trace.record(101.5, 8, 1 << 16)
    trace.record(102.5, -8, 1 << 16)
    return trace


def three_ops(a, b, device=inputs.CPU):
    """Ops that keep a, b and 2 bytes, without steps."""
    trace = inputs.Trace()
    for k, (name, size) in enumerate((("a", a), ("b", b), ("c", 2))):
        trace.op(f"aten::{name}", 10.5 + 20 * k, 9)
        trace.record(12.5 + 20 * k, size, (k + 1) << 40, device if name == "b" else inputs.CPU)
    return trace


def halves():
    """Three ops each of which keeps 101 bytes in every second step: 151.5 a step in all. One more block is freed in each step."""
    trace = inputs.Trace()
    for step in range(8):
        t = 100.5 + 100 * step
        trace.mark(f"ProfilerStep#{step}", t, 100)
        for k in range(3):
            trace.op(f"aten::{'xyz'[k]}", t + 10 + 10 * k, 9)
            if step % 2 == 0:
                trace.record(t + 12 + 10 * k, 101, (k + 1) << 40 | step << 12)
        trace.record(t + 1, 8, 1 << 16)
        trace.record(t + 2, -8, 1 << 16)
    return trace


def freed_elsewhere(size):
    """A block of that size is freed where a smaller one lay: nobody saw it allocated."""
    trace = inputs.Trace()
    trace.op("aten::add", 0, 10.5)
    trace.op("aten::mul", 100, 1.5)
    events = ((1, 10, 0x1000), (2, -10, 0x1000), *(((50, -size, 0x1000),) if size else ()), (51, 10, 0x9000000), (52, -10, 0x9000000))
    for t, n, address in events:
        trace.record(t, n, address)
    return trace


def hidden(kept, elsewhere, device=inputs.CUDA0, shared=False):
    """The loop on an accelerator, whose allocator counts all blocks; `elsewhere` says how many bytes a thread that the profiler
    does not see has more, or has freed, after so many steps. shared: blocks that the total does not count come and go."""
    trace, total = inputs.Trace(), 1 << 16
    for step in range(STEPS):
        t = 100.5 + 100 * step
        trace.mark(f"ProfilerStep#{step}", t, 100)
        trace.op("aten::keep", t + 10, 9)
        trace.op("aten::work", t + 30, 9)
        now = [(t + 12, kept, 4096 * (100 + step))] if kept else []
        now += [(t + 32, 4096, 64), (t + 34, -4096, 64)]
        if step == 3:
            trace.op("aten::big", t + 50, 9)
            now += [(t + 52, BIG, 1 << 40), (t + 54, -BIG, 1 << 40)]
        for at, n, address in now:
            total += n
            trace.record(at, n, address, device, **{"Total Allocated": total + elsewhere(step)})
        for n in (2048, -2048) if shared else ():
            trace.record(t + 61 + (n < 0), n, 1 << 50, device, **{"Total Allocated": 0, "Total Reserved": max(n, 0)})
    return trace


def beside(kept, peak=0, busy=inputs.CPU, quiet=inputs.CUDA0):
    """A busy device that keeps nothing, and a quiet one that keeps so much in each step, or once holds a large block."""
    trace = inputs.Trace()
    for step in range(8):
        t = 100.5 + 100 * step
        trace.mark(f"ProfilerStep#{step}", t, 100)
        trace.op("aten::busy", t + 10, 9)
        trace.record(t + 12, 1 << 20, 1 << 30, busy)
        trace.record(t + 14, -(1 << 20), 1 << 30, busy)
        trace.op("aten::quiet", t + 30, 9)
        trace.record(t + 32, 64, 64, quiet)
        trace.record(t + 33, -64, 64, quiet)
        if kept:
            trace.record(t + 34, kept, 4096 * (step + 1), quiet)
        if peak and step == 3:
            trace.record(t + 35, peak, 1 << 20, quiet)
            trace.record(t + 36, -peak, 1 << 20, quiet)
    return trace


# ---- what to ask ----

GROWTH = [("--max-peak-growth", "5%"), ("--max-alloc-growth", "5%"), ("--max-alloc-count-growth", "5"), ("--max-at-end-growth", "5%")]
SITES = [[], ["--op", "aten::work"]]


def alone(name, leaks, below, above):
    """Verdicts about the run by itself: of growth, of a limit its peak is below, of one it is above."""
    title = verdict(leaks, "leaks", name, "--fail").split("\n", 1)[0]
    m.check(1 in leaks or "· leak: " not in title, name, "leaks calls it a leak:", title)
    m.check(0 in leaks or "no leak" not in title, name, "leaks calls it no leak:", title)
    totals = m.json("leaks", name)["totals"]
    m.check(totals["leak_per_step_b"] != 0 or 0 in leaks, name, "leaks knows a growth of 0")
    verdict(leaks, "check", name, "--max-growth-per-step", "0")
    verdict(leaks, "check", name, "--max-growth-per-step", "0", "--op", ".")
    verdict(below, "check", name, "--max-peak", str(PEAK * 2))
    verdict(below, "check", name, "--max-peak", str(PEAK * 2), "--op", ".")
    verdict(above, "check", name, "--max-peak", "1")
    for category in ("activations", "temporary", "unknown"):  # what is missing may be of any
        for question, allowed in ((("leaks", name, "--fail"), leaks), (("check", name, "--max-growth-per-step", "0"), leaks),
                                  (("check", name, "--max-peak", str(PEAK * 2)), below)):
            if allowed == CANNOT:
                m.run(*question, "--category", category, codes=(1, 2, 3))


def compared(whole, name, allowed):
    """Verdicts about the whole recording and that with a gap, either way."""
    m.run("export", "--baseline", name, "-o", f"{name}.base", codes=(0,))
    m.run("export", "--baseline", name, whole, "-o", f"{name}.base2", codes=(0,))
    for rule, limit in GROWTH:
        for site in SITES:
            for base in (name, f"{name}.base", f"{name}.base2"):
                verdict(allowed, "check", whole, "--baseline", base, rule, limit, *site)
            verdict(allowed, "check", name, "--baseline", whole, rule, limit, *site)
            verdict(allowed, "check", name, whole, "--baseline", whole, rule, limit, *site)
    verdict(allowed, "diff", whole, name, "--exit-code")
    verdict(allowed, "diff", name, whole, "--exit-code")
    for a, b in ((whole, name), (name, whole)):
        out = verdict((0,), "diff", a, b)
        m.check(0 in allowed or not any(word in out for word in ("healed", "new leak", "neither run")), a, b, "diff judges growth:", out)


def over_runs(name, small, large, allowed):
    """Runs of which the last, or the first, has the gap, and one after the other more is alive at the end."""
    verdict(allowed, "leaks", small, large, name, "--fail")
    verdict(allowed, "leaks", name, small, large, "--fail")
    verdict(allowed, "leaks", name, "--fail", "--all")


CANNOT, PEAK_FAILS = (3,), (1,)

# name of the gap -> how to lose it, and whether the peak is at least what is left
LOSSES = {
    "cut_early": (cut(0.2), True), "cut_late": (cut(0.9), True), "closed_early": (closed_early, True),
    "damaged_frees": (damaged("frees"), False), "damaged_big": (damaged("big"), False), "damaged_op": (damaged("op"), False),
}

small, large = (write(f"keeps_{size}", document(lines(program(size)))) for size in (10, 20))
for kind, kept, truth in (("leak", 1000, (1,)), ("healthy", 0, (0,))):
    whole = write(f"{kind}_whole", document(lines(program(kept))))
    alone(whole, truth, (0,), (1,))
    for loss, (lose, least) in LOSSES.items():
        name = write(f"{kind}_{loss}", lose(program(kept)))
        alone(name, CANNOT, CANNOT, PEAK_FAILS if least else CANNOT)
        compared(whole, name, CANNOT)
        over_runs(name, small, large, CANNOT)
    # On an accelerator the recorder's own total shows what has no record.
    whole = write(f"{kind}_on_cuda", document(lines(hidden(kept, lambda step: 0))))
    alone(whole, truth, (0,), (1,))
    for what, elsewhere, least in (("grows", lambda step: step << 20, True), ("once", lambda step: (step == 5) << 20, True),
                                   ("comes", lambda step: (step > 5) << 20, True), ("frees", lambda step: -step * 512, False),
                                   ("both", lambda step: (step % 2) << 20 if step < 9 else -4096, False)):
        name = write(f"{kind}_hidden_{what}", document(lines(hidden(kept, elsewhere))))
        alone(name, (1,) if what == "once" and kept else CANNOT, CANNOT, PEAK_FAILS if least else CANNOT)
        if what != "once":  # else what is alive at the end is known
            compared(whole, name, CANNOT)
        for a, b in ((whole, name), (name, whole)):
            verdict(CANNOT if a == whole or not least else (0, 3), "diff", a, b, "--exit-code")
            verdict(CANNOT, "check", a, "--baseline", b, "--max-peak-growth", "5%")
        for report in ("peak", "memory", "leaks", "timeline", "table", "tree", "info", "peak --per step"):
            answer = m.json(*report.split()[:1], name, *report.split()[1:])
            m.check("own total of cuda:0 reaches " in json.dumps(answer), report, name, "does not say that records are missing")
    # That of the CPU counts what profilers saw; records of two threads may swap places in it, but not for good.
    for what, elsewhere, shared, missing in (("swapped", lambda step: (step == 5) * 4096, False, False),
                                             ("shared", lambda step: 0, True, False), ("less", lambda step: -512 * step, False, True)):
        name = write(f"{kind}_cpu_{what}", document(lines(hidden(kept, elsewhere, inputs.CPU, shared))))
        alone(name, CANNOT if missing else truth, CANNOT if missing else (0,), CANNOT if missing else (1,))
        m.check(("own total of cpu ends" in m.run("peak", name)[2]) == missing, name, "peak says what is missing")
    unseen = write(f"{kind}_unseen", document(lines(program(kept, drop_unseen))))
    alone(unseen, (*truth, 3), (0, 3), (1, 3))
    over_runs(unseen, small, large, (0, 1, 3))
    # Snapshots: what is lost lies before the rest, and what is alive at the end is known.
    whole = write(f"{kind}_snapshot", snapshot(kept, True, False))
    alone(whole, truth, (0,), (1,))
    for loss, history, lost in (("no_history", False, False), ("lost_begin", True, True)):
        name = write(f"{kind}_{loss}", snapshot(kept, history, lost))
        # What grows in what is left is a leak, and so much is the peak.
        alone(name, (1, 3) if lost and kept else CANNOT, CANNOT, PEAK_FAILS if kept or lost else CANNOT)
        verdict(CANNOT, "diff", whole, name, "--exit-code")
        for rule, limit in GROWTH[:3]:
            verdict(CANNOT, "check", whole, "--baseline", name, rule, limit)
            verdict(CANNOT, "check", name, "--baseline", whole, rule, limit)

constant, growing = (write(f"cat_{more}", document(lines(ever_larger(more)))) for more in (0, 100))
for a, b, allowed in ((constant, growing, CANNOT), (growing, constant, (0,)), (growing, growing, CANNOT)):
    verdict(allowed, "diff", a, b, "--exit-code")
xyz, zyx = (write(names, document(lines(in_order(names)))) for names in ("xyz", "zyx"))
for a, b in ((xyz, zyx), (zyx, xyz)):
    verdict((0,), "diff", a, b, "--exit-code")
    rows = [row for row in m.rows("diff", a, b) if row["section"] == "total"]
    m.check(rows[0]["per_step_delta_b"] == 0, a, b, "growth differs by", rows[0]["per_step_delta_b"])



def file_of_repeats(what, base, new):
    """A file of several repeats says what these say when each is named; as do rules about a part of them."""
    names = [write(f"{what}{k}", document(lines(three_ops(*sizes)))) for k, sizes in enumerate(base)]
    run = write(f"{what}_new", document(lines(three_ops(*new))))
    m.run("export", "--baseline", *names, "-o", f"{what}.base", codes=(0,))
    runs = [arg for name in names for arg in ("--baseline", name)]
    answers = []
    for rule, _ in GROWTH:
        for limit in ("0", "5%", "12%"):
            for site in [], ["--op", "aten::a"], ["--op", "aten::[ab]"], ["--op", "."]:
                texts = []
                for baseline in (runs, ["--baseline", f"{what}.base"]):
                    out = verdict((0, 1, 3), "check", run, *baseline, rule, limit, *site)
                    texts.append([line for line in out.splitlines() if "see:" not in line and "largest:" not in line])
                m.check(texts[0] == texts[1], what, "a file is not its repeats", rule, limit, site, *texts)
                answers.append(texts[1][0][:4])
    return answers


outlier = [(100000, 990000), (100000, 995000), (120000, 981000), (100000, 1005000), (100000, 1010000)]
m.check("FAIL" in file_of_repeats("outlier", outlier, (120000, 981001)), "outlier: the site grew")
noisy = [(100000, 1000000), (110000, 1000000), (120000, 1000000)]
m.check("?   " in file_of_repeats("noisy", noisy, (125000, 1000000)), "noisy: the site may have grown")

frac = write("halves", document(lines(halves())))
for site in [], ["--op", "."]:
    verdict((1,), "check", frac, "--max-growth-per-step", "151", *site)
    verdict((0,), "check", frac, "--max-growth-per-step", "152", *site)

one, two = write("one_device", document(lines(three_ops(1, 1)))), write("two_devices", document(lines(three_ops(1, 2, inputs.CUDA0))))
for order in ((one, two), (two, one)):
    m.run("export", "--baseline", *order, "-o", "devices.base", codes=(0,))
    with open("devices.base") as f:
        m.check(sorted(d["device"] for d in json.load(f)["devices"]) == ["cpu", "cuda:0"], order, "a baseline without a device")

# A verdict is about all devices, unless one is named.
calm, leaky, tall, taller = (write(f"beside_{name}", document(lines(beside(*sizes)))) for name, sizes in (
    ("calm", (0,)), ("leaky", (100,)), ("tall", (0, 1000)), ("taller", (0, 3000))))
only_cpu = write("beside_only_cpu", document(lines(beside(0, 0, inputs.CPU, inputs.CPU))))
for run, allowed in ((calm, (0,)), (leaky, (1,)), (tall, (0,))):
    verdict(allowed, "leaks", run, "--fail")
    verdict((0,), "leaks", run, "--fail", "--device", "cpu")
    verdict(allowed, "check", run, "--max-growth-per-step", "0")
    verdict(allowed, "check", run, "--max-growth-per-step", "0", "--each")
    verdict((0,), "check", run, "--max-growth-per-step", "0", "--device", "cpu")
    verdict((0,), "check", run, "--max-peak", "2MiB", "--op", "aten::busy")  # nothing of it on the other device
    verdict((3,), "check", run, "--max-peak", "2MiB", "--op", "no such op")
for least, allowed in (("100", (1,)), ("101", (0,))):
    verdict(allowed, "leaks", leaky, "--fail", "--min", least)
# Of sites that may have got another name, too, --min is what all together grow by in a run.
renamed = []
for op, size in (("aten::one", 2000), ("aten::two", 3000), ("aten::three", 4000)):
    trace = inputs.Trace()
    trace.op(op, 10, 40)
    for t, n, address in ((12, size, 4096), (13, 9, 64), (14, -9, 64)):
        trace.record(t, n, address)
    renamed.append(write(f"renamed_{size}", document(lines(trace))))
verdict(CANNOT, "leaks", *renamed, "--fail")
verdict((0,), "leaks", *renamed, "--fail", "--min", "3000")

# A rule about sites says nothing of a device without any, be it that one side has no such device; unless that is all there is.
for base, new in ((tall, only_cpu), (only_cpu, tall)):
    m.run("export", "--baseline", base, "-o", "elsewhere.base", codes=(0,))
    for baseline in (base, "elsewhere.base"):
        for op, device, allowed in (("aten::busy", (), (0,)), ("aten::quiet", (), CANNOT), ("aten::busy", ("--device", "cuda:0"), CANNOT),
                                    ("no such op", (), CANNOT)):
            out = verdict(allowed, "check", new, "--baseline", baseline, "--max-peak-growth", "5%", "--op", op, *device)
            m.check(not device or "has no device 'cuda:0'" in out, base, new, "does not say that the named device is missing", out)

# The main device of BASE is not in NEW: of that nothing is known, but what got worse elsewhere did so.
main = write("main_cuda", document(lines(beside(0, 1000, inputs.CUDA1, inputs.CPU))))
for new, allowed in ((write("lacks_taller", document(lines(beside(0, 3000, inputs.CPU, inputs.CPU)))), (1,)),
                     (write("lacks_same", document(lines(beside(0, 1000, inputs.CUDA0, inputs.CPU)))), CANNOT)):
    verdict(allowed, "diff", main, new, "--exit-code")
    verdict(allowed, "check", new, "--baseline", main, "--max-peak-growth", "0")
rising = [write(f"rising_{n}", document(lines(beside(n)))) for n in (10, 20, 30)]
verdict((1,), "leaks", *rising, "--fail")
verdict((1,), "leaks", only_cpu, *rising, "--fail")
verdict((3,), "leaks", *rising[:2], "--fail")
verdict((0,), "leaks", *rising, "--fail", "--device", "cpu")
verdict((0,), "leaks", calm, tall, taller, "--fail")
for runs in ((calm, only_cpu, taller), (calm, tall, only_cpu), (only_cpu, calm, tall)):  # one may not know of the other device
    code, _, err = m.run("leaks", *runs, "--fail", codes=CANNOT)
    m.check(f"leaks; run '{only_cpu}' has no such device" in err, *runs, code, "does not say that a device is missing", err)
for a, b, allowed in ((calm, tall, (1,)), (tall, calm, (0,)), (tall, taller, (1,)), (calm, leaky, (1,)), (only_cpu, tall, CANNOT), (tall, only_cpu, CANNOT)):
    verdict(allowed, "diff", a, b, "--exit-code")
    verdict((0,), "diff", a, b, "--exit-code", "--device", "cpu")
    verdict(allowed, "check", b, "--baseline", a, "--max-peak-growth", "5%")
verdict((0,), "diff", tall, taller, "--exit-code", "--threshold", "1MiB")
for category, allowed in (("temporary", (1,)), ("parameters", (0,)), ("activations", (0,))):  # of each device, shown or not
    for device in (), ("--device", "cuda:0"):
        verdict(allowed, "diff", calm, tall, "--exit-code", "--category", category, *device)
    verdict(allowed, "check", tall, "--baseline", calm, "--max-peak-growth", "0", "--category", category)
cut_quiet = write("beside_cut", cut(0.6)(beside(0)))
verdict(CANNOT, "diff", calm, cut_quiet, "--exit-code")
verdict(CANNOT, "leaks", only_cpu, calm, cut_quiet, "--fail")
verdict(CANNOT, "leaks", cut_quiet, "--fail")

# Where records stand in no order of time, the lost end may have the frees of what is read: its peak is no bound either way.
mixed = inputs.Trace()
mixed.op("aten::mixed", 10, 9)
for time, size, address in ((15, 4096, 8192), (12, 4096, 4096), (14, -4096, 4096)):
    mixed.record(time, size, address)
write("mixed_whole", document(lines(mixed)))
write("mixed_cut", document(lines(mixed))[:-9])
for name, allowed in (("mixed_whole", (0,)), ("mixed_cut", CANNOT)):
    verdict(allowed, "check", name, "--max-peak", "5000")

# What a program prints of its rss and memtool does not understand may be more than what it does, and makes that no less.
write("unread", "RSS: 5 MiB\nRSS: 6 MiB\n| RSS | 9 GiB |\n")
for most, allowed, said in (("1GiB", CANNOT, "6 MiB"), ("5MiB", (1,), "6 MiB"), ("1GiB", CANNOT, "memtool import --pattern")):
    m.check(said in verdict(allowed, "check", "unread", "--max-peak", most), "an rss that is not understood: no", said, most)

# What a run lacks that others have, or all of it, is evidence that is missing, in whatever order; only what is named is wrong usage.
without = inputs.Trace()
without.op("aten::without", 1, 9)
without = write("beside_without", document(lines(without)))
only_cuda = write("beside_only_cuda", document(lines(beside(0, 0, inputs.CUDA0, inputs.CUDA0))))
m.run("import", os.path.join(os.environ["SAMPLES"], "process", "mprofile.dat"), "--name", "of_a_process", codes=(0,))
for lacking in (without, only_cuda, "of_a_process"):
    for runs in ((only_cpu, lacking), (lacking, only_cpu), (only_cpu, only_cpu, lacking)):
        verdict(CANNOT, "leaks", *runs, "--fail")
        m.run("leaks", *runs, "--fail", "--device", "heap", codes=(2,))
    for runs in ((only_cpu, lacking), (lacking, only_cpu)):
        verdict(CANNOT, "diff", *runs, "--exit-code")
        verdict(CANNOT, "check", *runs, "--max-growth-per-step", "0")

born, none = (write(f"born_{size}", document(lines(freed_elsewhere(size)))) for size in (10**6, 0))
for site in [], ["--op", "outside ops"], ["--op", "."]:
    for rule in ("--max-peak", "500KB"), ("--baseline", none, "--max-peak-growth", "5%"):
        verdict(CANNOT, "check", born, *rule, *site)
    verdict((0,), "check", born, "--max-peak", "2MB", *site)
verdict(CANNOT, "diff", none, born, "--exit-code", "--device", "cpu")
verdict((0,), "diff", none, born, "--exit-code", "--threshold", "2MB")
verdict((0,), "diff", born, none, "--exit-code")


# ---- runs of different length ----


def steps_of(name, n, kept=0, peaks=(), after=0, stays=0, until=None):
    """n steps that keep so much each (kept: bytes, or of a step); blocks that come and go in some of them, and one behind the
    last; stays: a block behind the last that stays. until: in which step what one keeps is freed, if that comes; n: behind
    the last. name: of an op, as a recording is imported once."""
    size_of = kept if callable(kept) else lambda _: kept
    trace = inputs.Trace()
    trace.op(f"aten::{name}", 0.5, 2)
    peaks = dict(peaks)
    for step in range(n):
        t = 100.5 + 100 * step
        trace.mark(f"ProfilerStep#{step}", t, 100)
        trace.op("aten::keep", t + 10, 9)
        trace.op("aten::work", t + 30, 9)
        for old in range(step):
            if until and size_of(old) and until(old, n) == step:
                trace.record(t + 11, -size_of(old), (100 + old) << 20)
        if size_of(step):
            trace.record(t + 12, size_of(step), (100 + step) << 20)
        size = peaks.get(step, 4096)
        trace.record(t + 32, size, 64)
        trace.record(t + 34, -size, 64)
    t = 200 + 100 * n
    trace.op("aten::after", t, 9)
    for old in range(n):
        if until and size_of(old) and until(old, n) == n:
            trace.record(t + 1, -size_of(old), (100 + old) << 20)
    if after:
        trace.record(t + 2, after, 64)
        trace.record(t + 4, -after, 64)
    if stays:
        trace.record(t + 5, stays, 64)
    return trace


def every(steps, size):
    return lambda step: size if step % steps == steps - 1 else 0


def growing(step):
    return 1000 + 300 * step


# Until when steps keep what they keep.
EPOCH = dict(kept=1000, until=lambda step, _: step // 5 * 5 + 5)
DEQUE = dict(kept=1000, until=lambda step, n: step + 4 if step + 4 != n else -1)
LOOP = dict(kept=1000, until=lambda _, n: n)


M = 1 << 20
FINE, WORSE, UNLIKE = (0,), (1,), (0, 3)  # unlike: not known to be worse, and candidates may say so
# BASE, NEW, and what is allowed of: diff --exit-code, check --max-peak-growth 0, --max-at-end-growth 0
LENGTHS = {
    "same": (dict(n=16, peaks={2: M}), dict(n=8, peaks={2: M}), FINE, FINE, FINE),
    "warm_up": (dict(n=16, kept=1000, peaks={0: M}), dict(n=8, kept=1000, peaks={0: M}), FINE, FINE, FINE),
    "warm_up_longer": (dict(n=8, kept=1000, peaks={0: M}), dict(n=16, kept=1000, peaks={0: M}), FINE, FINE, CANNOT),
    "warm_up_worse": (dict(n=16, kept=1000, peaks={0: M}), dict(n=8, kept=1000, peaks={0: 2 * M}), WORSE, WORSE, FINE),
    "leak_shorter": (dict(n=16, kept=1000), dict(n=8, kept=1000), FINE, FINE, FINE),
    "leak_longer": (dict(n=8, kept=1000), dict(n=16, kept=1000), CANNOT, CANNOT, CANNOT),
    "leak_more_shorter": (dict(n=16, kept=1000), dict(n=8, kept=1500), WORSE, CANNOT, CANNOT),
    "leak_less_longer": (dict(n=8, kept=1000), dict(n=16, kept=600), CANNOT, CANNOT, CANNOT),
    "leak_much": (dict(n=16, kept=1000), dict(n=8, kept=10000), WORSE, WORSE, WORSE),
    "late_peak": (dict(n=8, peaks={2: M}), dict(n=16, peaks={2: M, 12: 2 * M}), CANNOT, CANNOT, FINE),
    "early_peak": (dict(n=8, peaks={2: M}), dict(n=16, peaks={2: 2 * M}), WORSE, WORSE, FINE),
    "late_peak_of_base": (dict(n=16, peaks={2: M, 12: 3 * M}), dict(n=8, peaks={2: 2 * M}), CANNOT, CANNOT, FINE),
    "behind": (dict(n=8, after=M), dict(n=16, after=M), FINE, FINE, FINE),
    "behind_worse": (dict(n=8, after=M), dict(n=16, after=2 * M), WORSE, WORSE, FINE),
    "epoch_longer": (dict(n=11, **EPOCH), dict(n=14, **EPOCH), FINE, FINE, CANNOT),
    "epoch_shorter": (dict(n=14, **EPOCH), dict(n=11, **EPOCH), FINE, FINE, FINE),
    "epoch_worse": (dict(n=11, **EPOCH), dict(n=14, stays=M, **EPOCH), WORSE, WORSE, WORSE),
    "epoch_less": (dict(n=14, **EPOCH), dict(n=11, kept=2500, until=EPOCH["until"]), None, None, CANNOT),
    "deque_longer": (dict(n=3, **DEQUE), dict(n=14, **DEQUE), CANNOT, CANNOT, CANNOT),
    "deque_shorter": (dict(n=14, **DEQUE), dict(n=3, **DEQUE), CANNOT, UNLIKE, UNLIKE),
    "deque_worse": (dict(n=14, **DEQUE), dict(n=3, kept=1250, until=DEQUE["until"]), CANNOT, CANNOT, CANNOT),
    "loop_longer": (dict(n=8, **LOOP), dict(n=16, **LOOP), UNLIKE, CANNOT, FINE),
    "loop_shorter": (dict(n=16, **LOOP), dict(n=8, **LOOP), UNLIKE, UNLIKE, UNLIKE),
    "stays_worse": (dict(n=8, kept=1000), dict(n=16, kept=1000, stays=M), None, None, WORSE),
    "every_fifth_longer": (dict(n=8, kept=every(5, 1000)), dict(n=20, kept=every(5, 1000)), CANNOT, CANNOT, CANNOT),
    "every_fifth_shorter": (dict(n=20, kept=every(5, 1000)), dict(n=8, kept=every(5, 1000)), UNLIKE, FINE, FINE),
    "uneven_longer": (dict(n=8, kept=growing), dict(n=10, kept=growing), CANNOT, CANNOT, CANNOT),
    "uneven_shorter": (dict(n=10, kept=growing), dict(n=8, kept=growing), None, None, None),
}
for what, (base, new, of_diff, of_peak, of_end) in LENGTHS.items():
    a = write(f"{what}_base", document(lines(steps_of(f"{what}_base", **base))))
    b = write(f"{what}_new", document(lines(steps_of(f"{what}_new", **new))))
    m.run("export", "--baseline", a, "-o", f"{what}.base", codes=(0,))
    m.run("export", "--baseline", a, a, "-o", f"{what}.base2", codes=(0,))
    verdict(of_diff or (0, 1, 3), "diff", a, b, "--exit-code")
    for baseline in (a, f"{what}.base", f"{what}.base2"):
        for rule, allowed in (("--max-peak-growth", of_peak), ("--max-at-end-growth", of_end)):
            out = verdict(allowed or (0, 1, 3), "check", b, "--baseline", baseline, rule, "0")
            if not allowed:
                continue
            m.check(allowed != CANNOT or "with equally many" in out, what, rule, "does not say why", out)
            # The same of a part. Of that a peak is known at its own moment only, and may be less at another.
            verdict((*allowed, 0, 3), "check", b, "--baseline", baseline, rule, "0", "--op", "aten::keep")

# One of many repeats has other steps: a file of them gives no verdict that they do not.
for what, kept, n in (("longer", 1000, 16), ("shorter", 1000, 4), ("flat", 0, 16)):
    names = [write(f"strays_{what}{k}", document(lines(steps_of(f"strays_{what}{k}", n if k == 4 else 8, kept)))) for k in range(5)]
    new = write(f"strays_{what}_new", document(lines(steps_of(f"strays_{what}_new", 8, kept))))
    m.run("export", "--baseline", *names, "-o", f"strays_{what}.base", codes=(0,))
    for baseline in ([arg for name in names for arg in ("--baseline", name)], ["--baseline", f"strays_{what}.base"]):
        for rule in "--max-alloc-growth", "--max-alloc-count-growth", "--max-peak-growth", "--max-at-end-growth":
            verdict((3,) if "alloc" in rule or what == "longer" else (0,), "check", new, *baseline, rule, "0")
    with open(f"strays_{what}.base") as f:  # of an earlier version, which does not say which repeat has how many
        older = json.load(f)
    for device in older["devices"]:
        device.pop("steps_of_each", None)
    with open(f"strays_{what}.older", "w") as f:
        json.dump(older, f)
    for rule in "--max-alloc-growth", "--max-peak-growth", "--max-at-end-growth":
        verdict((3,) if "alloc" in rule or kept else (0,), "check", new, "--baseline", f"strays_{what}.older", rule, "0")

# What one of them leaks goes with its own steps and levels: an older file, which has these of another, does not mix them.
for n in 4, 16:
    names = [write(f"leaky{n}_{k}", document(lines(steps_of(f"leaky{n}_{k}", n if k == 4 else 8, 1000 * (k == 4))))) for k in range(5)]
    new = write(f"leaky{n}_new", document(lines(steps_of(f"leaky{n}_new", 8))))
    m.run("export", "--baseline", *names, "-o", f"leaky{n}.base", codes=(0,))
    with open(f"leaky{n}.base") as f, open(f"leaky{n}.older", "w") as out:
        out.write(re.sub(r' *"steps_of_each": \[\n.*?\n *\],\n', "", f.read(), flags=re.S))
    for part in [], ["--op", "keep"]:
        verdict(FINE, "check", new, "--baseline", f"leaky{n}.older", "--max-at-end-growth", "0", *part)

# What the first steps alone reach is worse, unless a block that may have been freed unseen was dead then.
def handed_on(name, lost):
    """Blocks of 10 and 50 MiB in a step, one of 40 more in the next; lost: the first is handed out again, without a free that anybody saw."""
    trace = inputs.Trace()
    trace.op(f"aten::{name}", 0.5, 2)
    trace.op("aten::mul", 110, 20)
    for t, size, address in ((112, 10, 1), (114, 50, 2), (210, 40, 3), (212, -40, 3), (214, -50, 2), (216, 1 if lost else -10, 1)):
        trace.record(t, size * M, address << 30)
    for step in range(2):
        trace.mark(f"ProfilerStep#{step}", 100 + 100 * step, 100)
    trace.op("aten::mul", 215.5, 3)
    return trace


a = write("handed_on_base", document(lines(steps_of("handed_on_base", n=1, peaks={0: 55 * M}))))
for name, lost, answer in (("handed_on_unseen", True, CANNOT), ("handed_on_seen", False, WORSE)):
    b = write(name, document(lines(handed_on(name, lost))))
    verdict(answer, "diff", a, b, "--exit-code", "--section", "total")
    verdict(answer, "check", b, "--baseline", a, "--max-peak-growth", "0")
    verdict(WORSE, "check", b, "--max-peak", str(89 * M))

# Files of before levels at the ends of steps were kept: what a longer run had after fewer steps is not known.
for what, to in (("epoch_shorter", CANNOT), ("epoch_less", CANNOT), ("epoch_longer", CANNOT), ("leak_much", WORSE), ("leak_longer", CANNOT)):
    older = f"{what}.older"
    with open(f"{what}.base") as f, open(older, "w") as out:
        out.write(re.sub(r' *"end_by_step": .*\n', "", f.read()))
    verdict(to, "check", f"{what}_new", "--baseline", older, "--max-at-end-growth", "0")

# What grows by leaks breaks a limit of check, however few its lines are: that it rises at its end is growth, unless it rises by more.
def of_rss(name, n, step_kib, jump_at=None):
    with open(f"{name}.log", "w") as f:
        f.writelines(f"step {i} rss={51200 + step_kib * i + (200000 if jump_at and i >= jump_at else 0)} KB\n" for i in range(n))
    m.run("import", f"{name}.log", "--name", name, codes=(0,))
    return name


PER_STEP = "--max-rss-growth-per-step"
for n in (12, 30, 31, 45, 60, 200):
    for step_kib in (200, 512, 8192):
        name = of_rss(f"rss_{n}_{step_kib}", n, step_kib)
        row = m.json("leaks", name)["rows"][0]
        code = m.run("leaks", name, "--fail", codes=(0, 1, 3))[0]
        verdict((code,), "check", name, PER_STEP, "0")
        if code == 1:
            verdict(WORSE, "check", name, PER_STEP, str(row["rate_least_b"] - 1))
            verdict(FINE, "check", name, PER_STEP, str(row["rate_most_b"] + 1))
            verdict(FINE, "leaks", name, "--fail", "--min", str(row["rate_most_b"] + 1))
        m.check(code == 1 or n * step_kib < 5000, name, "it grows", row)
late = of_rss("rss_late", 60, 512, 55)
for question, answer in ((("leaks", late, "--fail"), WORSE), (("check", late, PER_STEP, "0"), WORSE),
                         (("leaks", late, "--fail", "--min", "1MiB"), CANNOT), (("check", late, PER_STEP, "1MiB"), CANNOT)):
    verdict(answer, *question)

# PyTorch 2 writes one thread behind another, each with its ops, then its records: what a cut loses is all that the last
# threads did, be it frees; of these only names are left where the cut lies in the first. Where records of all threads stand in order of time, what is left is that much at least.
def of_two_threads(name, order):
    """A thread allocates, another one frees; never more than one block is alive."""
    trace = inputs.Trace()
    for tid in (1, 2):
        trace.events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": f"thread {tid}"}})
    trace.op(f"aten::{name}", 5, 990)
    if order != "ops_by_thread":
        trace.op("aten::backward", 5, 990, tid=2)
    records = [(10 + 10 * k + 5 * free, -M if free else M, (k + 1) << 30, inputs.CPU, 1 + free) for free in (0, 1) for k in range(50)]
    for k, record in enumerate(sorted(records) if order == "by_time" else records):
        if k == 50 and order == "ops_by_thread":
            trace.op("aten::backward", 5, 990, tid=2)
        trace.record(*record)
    return trace


for name in ("by_thread", "ops_by_thread", "by_time"):
    by_thread = name != "by_time"
    events = of_two_threads(name, name)
    whole = write(f"{name}_whole", document(lines(events)))
    verdict(FINE, "check", whole, "--max-peak", "1MiB")
    for part in 0.3, 0.7, 0.9:  # within the records of the first thread, and of the last
        name = write(f"{whole}_{part}", cut(part)(events))
        verdict(CANNOT, "check", name, "--max-peak", "1TiB")
        verdict(CANNOT if by_thread else WORSE, "check", name, "--max-peak", "1000KiB")
        verdict(CANNOT, "check", name, "--baseline", whole, "--max-peak-growth", "0")
        verdict(CANNOT, "diff", whole, name, "--exit-code")
        said = "records stand thread by thread" in m.run("peak", name)[1] + m.run("peak", name)[2]
        m.check(said == by_thread, name, "says that records stand thread by thread:", said)
    # no record is lost where something follows
    followed = write(f"{whole}_followed", document(lines(events)) + "rest")
    verdict(CANNOT, "check", followed, "--max-peak", "1TiB")
    verdict(WORSE, "check", followed, "--max-peak", "1000KiB")

# What a block is for is told by when it is freed, too: a file that ends early has blocks of another category, and no bound for any.
with gzip.open(os.path.join(os.environ["SAMPLES"], "cnn_b16", "trace.json.gz"), "rb") as f:
    cnn = f.read()
first = cnn.index(b"[memory]")
with open("cnn_cut.json", "wb") as f:
    f.write(cnn[: first + (len(cnn) - first) // 10])
m.run("import", os.path.join(os.environ["SAMPLES"], "cnn_b16", "trace.json.gz"), "--name", "cnn_whole", codes=(0,))
m.run("import", "cnn_cut.json", "--partial", "--name", "cnn_cut", codes=(0,))
whole, part = (m.json("peak", name, "--category", "gradients") for name in ("cnn_whole", "cnn_cut"))
m.check(part["totals"]["peak_b"] > 10 * whole["totals"]["peak_b"], "the cut takes other blocks for gradients", part["totals"])
SAID = "Categories of cnn_cut are less sure: what a block is for is told by when it is freed, too, and frees may be missing."
for report in (("peak", "--category", "gradients"), ("peak", "--by", "category"), ("table", "--by", "category"), ("timeline", "--category", "gradients"),
               ("leaks", "--category", "gradients"), ("diff", "cnn_whole", "--by", "category", "--category", "gradients")):
    notes = m.json(report[0], "cnn_cut", *report[1:])["notes"]
    m.check(notes.count(SAID) == 1, report, "does not say, or not once, that categories are less sure", notes)
m.check(SAID not in m.json("peak", "cnn_cut")["notes"] and "less sure" not in json.dumps(whole), "what is sure is said to be less so")
verdict(FINE, "check", "cnn_whole", "--max-peak", "1MiB", "--category", "gradients")
verdict(WORSE, "check", "cnn_cut", "--max-peak", "1MiB")
for limit in ("1MiB", "1TiB"):
    verdict(CANNOT, "check", "cnn_cut", "--max-peak", limit, "--category", "gradients")
for base, new in (("cnn_whole", "cnn_cut"), ("cnn_cut", "cnn_whole")):
    verdict(CANNOT, "diff", base, new, "--exit-code", "--category", "gradients")
    verdict(CANNOT, "check", new, "--baseline", base, "--max-peak-growth", "1TiB", "--category", "gradients")

# ---- recorders that count differently: figures are shown, and no verdict rests on them ----

HEAP = os.path.join(os.environ["SAMPLES"], "heap")
logs = {"by_heaptrack": "heaptrack.zst", "by_dhat": "dhat_2k.json", "by_dhat_too": "dhat_200k.json", "by_massif": "massif_200k.out"}
for name, path in logs.items():
    m.run("import", os.path.join(HEAP, path), "--name", name, codes=(0,))
m.run("export", "--baseline", "by_dhat_too", "-o", "by_dhat_base", codes=(0,))
m.run("import", os.path.join(os.environ["SAMPLES"], "leak_steps", "trace.json.gz"), "--name", "by_pytorch", codes=(0,))
for a, b in (("by_heaptrack", "by_dhat"), ("by_dhat", "by_massif"), ("by_massif", "by_heaptrack"), ("by_dhat", "by_heaptrack")):
    out = verdict(CANNOT, "diff", a, b, "--exit-code")
    m.check("allocated by functions" in out or "all functions" in out or "unknown" in out, a, b, "diff speaks of operators", out)
    verdict(CANNOT, "check", b, "--baseline", a, "--max-peak-growth", "900%")
    _, _, err = m.run("diff", a, b)
    m.check("these count differently" in err, a, b, "diff does not say that recorders differ", err)
verdict(CANNOT, "leaks", "by_heaptrack", "by_dhat", "--fail")
for repeats in (("by_heaptrack", "by_dhat"), ("by_dhat", "by_heaptrack"), ("by_dhat", "by_dhat_too", "by_heaptrack")):
    for rule in (("--max-peak", "1TiB"), ("--max-peak", "0"), ("--baseline", "by_dhat_base", "--max-peak-growth", "900%"),
                 ("--max-alloc-growth", "5%", *(arg for name in repeats for arg in ("--baseline", name)))):
        out = verdict(CANNOT, "check", *repeats, *rule)
        m.check("these count differently" in out or "run itself" in out, repeats, rule, "check does not say that recorders differ", out)
    verdict((0,), "check", *repeats, "--max-peak", "1TiB", "--each")
    _, out, err = m.run("export", "--baseline", *repeats, codes=(2,))
    m.check(not out and "these count differently" in err, repeats, "export does not say that recorders differ", err)

m.finish(at_least=4000)
