#!/usr/bin/env python3
"""--category of all that there is says what reports say without it: rows, totals, notes and verdicts. What is true of a whole
device, such as records that are missing, is true of any part of it."""

import json
import os

import inputs
import mt

ALL = ("--category", "parameters,gradients,optimizer-state,activations,other")
RECORDED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "recordings", "categories")
LOOPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "loops")
REPORTS = [("peak",), ("peak", "--by", "name,step"), ("peak", "--by", "category"), ("peak", "--at", "@end"), ("peak", "--at", "@start", "--at", "@peak"),
           ("peak", "--per", "name"), ("table",), ("table", "--by", "site,category"), ("table", "--by", "path,thread"), ("tree",), ("tree", "--invert"),
           ("timeline", "--width", "9"), ("timeline", "--by", "site", "--width", "5"), ("timeline", "--exact"), ("leaks", "--all"),
           ("leaks", "--all", "--by", "path")]
OF_STEPS = [("peak", "--per", "step"), ("table", "--step", "1..2"), ("peak", "--step", "1"), ("timeline", "--step", "1..", "--width", "4")]
RULES = [("--max-peak", "0"), ("--max-peak", "1TiB"), ("--max-at-end", "0"), ("--max-at-end", "1TiB"), ("--max-growth-per-step", "0"),
         ("--max-growth-per-step", "1TiB"), ("--max-peak", "1TiB", "--op", "."), ("--max-growth-per-step", "0", "--op", "aten")]
GROWTH = ["--max-peak-growth", "--max-at-end-growth", "--max-alloc-growth", "--max-alloc-count-growth"]
WORDS = ("parameters_b", "gradients_b", "optimizer_state_b", "activations_b", "other_b", "older_b", "categories_by")  # of a whole device alone

m = mt.Matrix()


def said(answer):
    """What an answer says, without the words that tell parts of a whole."""
    totals = {k: v for k, v in answer["totals"].items() if k.removeprefix("base_").removeprefix("new_") not in WORDS}
    notes = {note for note in answer["notes"] if "less sure" not in note}
    return sorted(json.dumps(row) for row in answer["rows"]), totals, notes


def same(run, device, *command):
    limit = () if command[0] == "timeline" else ("--limit", "0")
    whole, narrowed = (m.json(*command, "--device", device, *limit, *more, codes=(0, 1, 2, 3)) for more in ((), ALL))
    if whole and narrowed and (whole["totals"] or not narrowed["totals"]):
        a, b = said(whole), said(narrowed)
        for what, x, y in zip(("rows", "totals", "notes"), a, b):
            m.check(x == y, command[0], what, run, device, command, [v for v in x if v not in y][:2], [v for v in y if v not in x][:2])
    else:
        m.check(False, *command, run, device, "no answer", whole and whole.get("cannot_tell"), narrowed and narrowed.get("cannot_tell"))


def verdict(run, *command):
    codes = [m.run(*command, *more, codes=(0, 1, 3))[0] for more in ((), ALL)]
    m.check(codes[0] == codes[1], command[0], "verdict", run, command, codes)


def counts_nothing_older(device):
    """And says of each block what it is for: else the device has what is in no category."""
    return device["at_end_b"] is not None and not device["start_b"] and not device["older_used"]


def look_at(run, before):
    known = [d["device"] for d in run.devices if counts_nothing_older(d)]
    if run.one_moment or "answer" in m.json("peak", run.name, *ALL, codes=(0, 2, 3)):  # it has none
        return before
    for device in known:
        for report in REPORTS + (OF_STEPS if len(run.steps) > 2 and run.steps[0]["number"] == 0 else []):
            same(run, device, report[0], run.name, *report[1:])
        for rule in RULES:
            verdict(run, "check", run.name, "--device", device, *rule)
        if device in before.get("devices", ()):
            same(run, device, "diff", before["name"], run.name)
            verdict(run, "diff", before["name"], run.name, "--device", device, "--exit-code")
            for rule in GROWTH:
                verdict(run, "check", run.name, "--baseline", before["name"], "--device", device, rule, "5%")
    if known == [d["device"] for d in run.devices]:  # leaks judges all
        verdict(run, "leaks", run.name, "--fail")
    return {"name": run.name, "devices": known}


def lossy(beyond):
    """A loop that keeps a block of each step, and whose recorder's total is so far beyond the records, at some time or from then on."""
    trace = inputs.Trace()
    for step in range(6):
        t = 100 * step
        trace.mark(f"ProfilerStep#{step}", t, 100)
        trace.op("aten::ones", t + 10, 10)
        trace.op("aten::empty", t + 30, 10)
        trace.record(t + 12, 4096, 4096 * (step + 1), inputs.CUDA0, **{"Total Allocated": 4096 * (step + 1) + beyond(step)})
        trace.record(t + 32, 512, 64, inputs.CUDA0, **{"Total Allocated": 4096 * (step + 1) + 512 + beyond(step)})
        trace.record(t + 34, -512, 64, inputs.CUDA0, **{"Total Allocated": 4096 * (step + 1) + beyond(step)})
    return trace


LOSSY = {"above": lambda step: 9000 * (step == 2), "below": lambda step: -2000 * (step == 2), "missing": lambda step: 9000 * (step > 2), "none": lambda _: 0}


def damaged():
    """Traces of which records are missing, and one that ends early; with what is known to be missing."""
    for name, beyond in LOSSY.items():
        lossy(beyond).write(f"{name}.json")
        m.run("import", f"{name}.json", "--name", name)
        yield mt.Run(m, name), {"missing": ("above_b", "missing_b"), "none": ()}.get(name, (f"{name}_b",))
    with open("none.json") as f:
        text = f.read()
    with open("cut.json", "w") as f:
        f.write(text[:-700])
    m.run("import", "cut.json", "--partial", "--name", "cut")
    yield mt.Run(m, "cut"), ()


def others():
    for name in ("mlp_adam", "gpt_ckpt", "cnn_nograd"):
        yield name, os.path.join(RECORDED, f"{name}.json.zst")
    for name in ("list", "list_gan"):
        yield name, os.path.join(LOOPS, f"{name}.json.gz")
    for name in ("fragmented", "private_pools"):
        yield name, os.path.join(os.environ["SAMPLES"], "snapshots", f"{name}.pickle")


before = {}
for run, gaps in damaged():
    m.check(all((run.devices[0][column] != 0) == (column in gaps) for column in ("above_b", "below_b", "missing_b")), run, "gaps", run.devices[0])
    before = look_at(run, before)
    m.check(before["name"] == run.name and before["devices"] == ["cuda:0"], run, "was not looked at")
for run in m.imported([*inputs.made_up("made"), *others()]):
    before = look_at(run, before)
m.finish(at_least=1000)
