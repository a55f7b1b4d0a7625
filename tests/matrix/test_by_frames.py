#!/usr/bin/env python3
"""Categories of snapshots, which frames tell: as near to those of traces of the same programs as docs/categories.md says.

Operators tell them of a trace, and hooks agreed with these (test_categories.py). A snapshot is made of each trace, see
frames.py; what real ones of GPUs look like by hand is in docs/categories.md."""

import glob
import os
import pickle
import resource

import frames
import mt

HERE = os.path.dirname(os.path.abspath(__file__))
# percent of bytes with the same category, at the peak and over time: each counts for the records it lives through
AGREE = {
    "convolutions": (99.99, 99.99),
    "evaluation": (100, 99.9),
    "language": (99.9, 99.9),
    "language_again": (99.4, 99.3),
    "language_parts": (99.9, 99.9),
}
ALL = ("parameter", "gradient", "optimizer state", "input", "activation", "activation (recomputed)", "autograd detail", "temporary")

m = mt.Matrix()
files = {os.path.basename(f)[: -len(".json.zst")]: f for f in sorted(glob.glob(f"{HERE}/../recordings/frames/*.json.zst"))}
for name, path in files.items():
    frames.write(path, f"{name}_frames.pickle")
runs = list(m.imported([(n, f) for name, path in files.items() for n, f in ((name, path), (f"{name}_frames", f"{name}_frames.pickle"))]))


def blocks(run):
    return m.query(f"SELECT bytes_b, category, why, held_by, alloc_record, freed_record FROM v_alloc WHERE run = '{run}' ORDER BY id")


seen = set()
m.check(len(runs) == 2 * len(AGREE) and set(files) == set(AGREE), "the recordings are there", list(files))
for name in files:
    told, by_frames = blocks(name), blocks(f"{name}_frames")
    if not m.check([b["bytes_b"] for b in told] == [b["bytes_b"] for b in by_frames], name, "the blocks are the same"):
        continue
    end, level, peak, at = max(b["alloc_record"] for b in told), 0, 0, 0
    changes = [(b["alloc_record"], b["bytes_b"]) for b in told] + [(b["freed_record"], -b["bytes_b"]) for b in told if b["freed_record"] is not None]
    for record, size in sorted(changes):
        level += size
        peak, at = max((peak, at), (level, record), key=lambda p: p[0])
    weights = ({}, {})
    for t, f in zip(told, by_frames):
        died = end if t["freed_record"] is None else t["freed_record"]
        same = t["category"] == f["category"]
        weights[0][same] = weights[0].get(same, 0) + t["bytes_b"] * (t["alloc_record"] <= at < died)
        weights[1][same] = weights[1].get(same, 0) + t["bytes_b"] * (died - t["alloc_record"])
        seen.add(f["category"])
        m.check(f["why"][0] == "F" and t["why"][0] == "R", name, "rules of their own", t, f)
    for what, weight, least in zip(("at the peak", "over time"), weights, AGREE[name]):
        got = 100 * weight.get(True, 0) / (sum(weight.values()) or 1)
        m.check(got >= least, name, what, got, "% agree, not", least)
    # every report counts the same blocks
    run = f"{name}_frames"
    rows = {row["category"]: row["at_peak_b"] for row in m.rows("peak", run, "--by", "category")}
    sums = {row["category"]: row["self_at_peak_b"] for row in m.rows("table", run, "--by", "category")}
    m.check(all(sums[c] == b for c, b in rows.items()) and sum(sums.values()) == peak, run, "table and peak", rows, sums)
    rules = {row["why"]: row["at_peak_b"] for row in m.rows("peak", run, "--by", "why")}
    m.check(rules == {row["why"]: row["self_at_peak_b"] for row in m.rows("table", run, "--by", "why") if row["why"] in rules}, run, "--by why", rules)
    m.check(sum(rules.values()) == sum(rows.values()) and set(rules) <= {"[before trace]", *(f"F{i}" for i in range(1, 12))}, run, "rules", rules)
    for category, size in rows.items():
        words = category.strip("[]")
        narrowed = m.json("peak", run, "--category", words)
        m.check(narrowed["totals"]["peak_b"] >= size, run, "--category", words, narrowed["totals"])
    totals = m.json("peak", run)["totals"]
    m.check(totals["categories_by"] == "frames" and m.json("peak", name)["totals"]["categories_by"] == "operators", run, "says what tells it", totals)
    people = m.run("peak", run)[1].split("\n")[1]
    m.check(people.endswith("(by frames)"), run, "the line below the title says it, too", people)
# of a limit on what may be older nothing can be told, of another it can
ring = os.path.join(os.environ["SAMPLES"], "snapshots", "older_with_frames.pickle")
m.run("check", ring, "--category", "parameters", "--max-peak", "1MiB", codes=(3,))
m.run("check", ring, "--category", "parameters", "--max-peak", "1GiB", codes=(0,))
m.run("check", ring, "--category", "activations", "--max-peak", "1MiB", codes=(0,))
m.run("check", ring, "--category", "optimizer-state", "--max-peak", "1KiB", codes=(1,))
for args, marked in ((("--category", "optimizer-state"), True), ((), False)):
    said = m.run("check", ring, *args, "--max-peak", "1GiB")[2]
    notes = [note for note in m.json("check", ring, *args, "--max-peak", "1GiB")["notes"] if "told by the frames" in str(note)]
    m.check(("told by the frames" in said) == marked and len(notes) == marked, "check says what tells categories", args, said, notes)


# Each report about categories says once that frames are less sure, of whatever they are told.
import_of = {"one": "fragmented", "other": "private_pools"}
for name, sample in import_of.items():
    m.run("import", os.path.join(os.environ["SAMPLES"], "snapshots", f"{sample}.pickle"), "--name", name, codes=(0,))
for words, says in ((("--category", "other"), True), (("--by", "category"), True), (("--by", "category", "--category", "other"), True), (("--by", "name"), False)):
    for command in (("peak", "one"), ("table", "one"), ("leaks", "one"), ("timeline", "one"), ("diff", "one", "other"), ("leaks", "one", "other"),
                    ("leaks", "one", "other", "one")):
        notes = [note for note in m.json(*command, *words)["notes"] if "less surely" in note]
        m.check(len(notes) == says, *command, *words, "notes on frames", notes)
for command in (("leaks", "one", "other"), ("diff", "one", "other"), ("leaks", "one")):
    answer = m.json(*command, "--category", "other")
    m.check((answer["params"]["device"], answer["params"]["category"]) == ("cuda:0", "other"), *command, "params", answer["params"])
    m.check("cuda:0: other" in m.run(*command, "--category", "other")[1].split("\n")[0], *command, "title")


def older(path):
    """Blocks older than the recording, of which one is alive at the end, so that its path is known, and one is not."""
    frames = [{"name": "at::_ops::add_Tensor::call", "filename": "", "line": 0}, {"name": "step", "filename": "t.py", "line": 3}]
    base = 1 << 40
    events = [{"action": action, "addr": base + at, "size": size, "stream": 0, "frames": frames, "time_us": 10**15 + i}
              for i, (action, at, size) in enumerate([("alloc", 0, 512), ("free_completed", 4096, 1024), ("alloc", 512, 512)])]  # fmt: skip
    block = lambda at, size, of: {"address": base + at, "size": size, "requested_size": size, "state": "active_allocated" if of else "inactive", "frames": of}
    blocks = [block(0, 512, frames), block(512, 512, frames), block(1024, 2048, frames), block(3072, (2 << 20) - 3072, [])]
    segment = {"device": 0, "address": base, "total_size": 2 << 20, "stream": 0, "segment_type": "small", "blocks": blocks}
    with open(path, "wb") as out:
        pickle.dump({"segments": [segment], "device_traces": [events]}, out)


older("older.pickle")
m.run("import", "older.pickle", codes=(0,))
for report, figure in (("peak", "at_peak_b"), ("table", "self_at_peak_b")):
    rows = {row["category"]: row[figure] for row in m.rows(report, "older", "--by", "category")}
    m.check(rows.get("[before trace]") == 1024 + 2048 and sum(rows.values()) == 512 + 1024 + 2048, report, "all that is older", rows)


def apart(path):
    """Blocks that are freed on another path than they were allocated on, which share nothing but their root."""
    stack = lambda name: [{"name": f"at::_ops::{name}{i}::call", "filename": "", "line": 0} for i in range(2000)] + [{"name": "main", "filename": "t.py", "line": 3}]
    stacks = {"alloc": stack("x"), "free_completed": stack("y")}
    events = [{"action": action, "addr": 1 << 40, "size": 512, "stream": 0, "frames": stacks[action], "time_us": 10**15 + i}
              for i, action in enumerate(["alloc", "free_completed"] * 4000)]  # fmt: skip
    with open(path, "wb") as out:
        pickle.dump({"segments": [], "device_traces": [events]}, out)


# the depth of paths counts once for each block, not by its square
apart("apart.pickle")
before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
m.run("import", "apart.pickle", codes=(0,))
took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
m.check(took < 8, "deep paths are looked at once", took, "s")
m.check(m.query("SELECT count(*) AS n FROM v_alloc WHERE run = 'apart' AND category = 'temporary'")[0]["n"] == 0, "apart", "no operator has both")
m.check(seen >= set(ALL), "all categories are seen", seen)
m.finish(6900)
