#!/usr/bin/env python3
"""PyTorch's memory timelines: what memtool says of them is what their rows add up to, and what the other file of the profile says."""

import collections
import glob
import gzip
import json
import os
import random

import mt

SAMPLES = os.path.join(os.environ["SAMPLES"], "timelines")
DATA = os.environ["DATA"]
# In the order of PyTorch's numbers; what has none is [unknown].
CATEGORIES = ("parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail", "[unknown]")
PREEXISTING, CREATE, VERSION, DESTROY = 1, 2, 3, 4

m = mt.Matrix()


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path) as f:
        return json.load(f)


def imported(name, document):
    with open(f"{name}.json", "w") as f:
        f.write(document if isinstance(document, str) else json.dumps(document))
    return m.run("import", f"{name}.json", "--name", name, codes=(0, 1, 2, 4))


def device(run):
    return m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]


def by_category(run, column):
    rows = m.rows("table", run, "--by", "category")
    return {row["category"]: row[column] for row in rows if row[column]}


def named(sums):
    return {CATEGORIES[number]: bytes_ for number, bytes_ in sums.items() if bytes_}


def events(run, rows):
    """A raw file: its rows one after the other."""
    level, peak, at_peak, alive = 0, 0, {}, collections.Counter()
    made, freed = collections.Counter(), collections.Counter()
    for _, action, size, category in rows:
        level += size
        alive[category] += size
        made[category] += size if action == CREATE else 0
        freed[category] -= size if action == DESTROY else 0
        if level > peak:
            peak, at_peak = level, dict(alive)
    got = device(run)
    older = [size for _, action, size, _ in rows if action == PREEXISTING]
    created = sum(row[1] == CREATE for row in rows)
    destroyed = sum(row[1] == DESTROY for row in rows)
    m.check((got["peak_b"], got["at_end_b"], got["start_b"]) == (peak, level, sum(older)), run, "levels", got, peak, level)
    m.check((got["alloc_n"], got["freed_n"], got["at_end_n"]) == (created, destroyed, len(older) + created - destroyed), run, "blocks", got)
    for column, want in (("self_at_peak_b", at_peak), ("self_at_end_b", alive), ("self_alloc_b", made), ("self_freed_b", freed)):
        m.check(by_category(run, column) == named(want), run, column, by_category(run, column), named(want))
    rows = m.rows("peak", run, "--by", "category")
    m.check({row["category"]: row["at_peak_b"] for row in rows} == named(at_peak), run, "peak --by category", rows)
    return got


def levels(run, document):
    """A file of levels: its rows as they are."""
    times, rows = document
    got, highest = device(run), max(rows, key=sum)
    m.check((got["peak_b"], got["at_end_b"]) == (sum(highest), sum(rows[-1])), run, "levels", got)
    m.check(got["alloc_b"] is None and got["at_end_n"] is None, run, "what it does not say", got)
    m.check(got["peak_ns"] == (times[rows.index(highest)] - times[0]) * 1000, run, "time of the peak", got["peak_ns"])
    for column, row in (("self_at_peak_b", highest), ("self_at_end_b", rows[-1])):
        m.check(by_category(run, column) == named(dict(enumerate(row[1:]))), run, column, by_category(run, column), row)
    return got


def recorded():
    """Recordings: every raw file, and the file of levels beside it, which must agree."""
    files = sorted(glob.glob(f"{SAMPLES}/*.raw.json.gz"))
    files += sorted(set(glob.glob(f"{DATA}/torch/*/*/memory_timeline.raw.json.gz")) - set(glob.glob(f"{DATA}/torch/2.13.0/*/*")))
    others = f"{DATA}/kineto_others/memory_timeline.raw.json.gz"
    if os.path.exists(others):
        m.run("import", others, "--name", "others")
        got = events("others", read(others))
        m.check((got["peak_b"], got["at_end_b"]) == (3082832104, 332060904), "others", got)
    else:
        print("skipped: no", others)
    for number, path in enumerate(files):
        m.run("import", path, "--name", f"raw{number}")
        m.offered, m.taken = m.offered + 1, m.taken + 1
        raw = events(f"raw{number}", read(path))
        beside = next(p for p in (path.replace(".raw", ""), path.replace(".raw", "")[:-3]) if os.path.exists(p))
        m.run("import", beside, "--name", f"levels{number}")
        got = levels(f"levels{number}", read(beside))
        m.check((got["peak_b"], got["at_end_b"]) == (raw["peak_b"], raw["at_end_b"]), path, "levels and events", got, raw)
        m.check(abs(got["peak_ns"] - raw["peak_ns"]) <= 1000, path, "when the peak is", got["peak_ns"], raw["peak_ns"])


def orders():
    """Figures are those of the events whatever the compression, and whatever stands between the numbers."""
    rows = read(f"{SAMPLES}/adam.raw.json.gz")
    loose = json.dumps(rows, indent=3)
    imported("loose", loose)
    want, got = events("raw0", rows), events("loose", rows)
    for figure in ("alloc_b", "freed_b", "peak_b", "peak_ns", "at_end_b", "at_end_n"):
        m.check(want[figure] == got[figure], "loose", figure, want[figure], got[figure])
    random.seed(1)
    older = [row for row in rows if row[1] == PREEXISTING]
    random.shuffle(older)
    imported("shuffled", older + [row for row in rows if row[1] != PREEXISTING])
    m.check(events("shuffled", rows)["peak_b"] == want["peak_b"], "shuffled")


T = 1795000000000000000  # ns


def odd():
    """Files that hold little, or what cannot be."""
    for name, document, want in (
        ("one", [[T, CREATE, 10, 4]], (10, 10, 1)),
        ("start", [[-1, PREEXISTING, 10, 0], [T, DESTROY, -10, 0], [T + 5, CREATE, 4, 5]], (10, 4, 1)),
        ("only_older", [[-1, PREEXISTING, 10, 0]], (10, 10, 1)),
        ("no_bytes", [[T, CREATE, 0, 4], [T, VERSION, 0, 4], [T, VERSION, 0, 5], [T, DESTROY, 0, 5]], (0, 0, 0)),
        ("half", [[T, CREATE, 10, 4], [T, VERSION, -10, 4], [T + 1, DESTROY, -10, 4]], (10, 0, 0)),
        ("other_half", [[T, CREATE, 10, 4], [T, VERSION, -10, 4], [T, VERSION, 9, 5]], (10, 10, 1)),
        ("not_held", [[T, CREATE, 10, 4], [T, VERSION, -10, 3], [T, VERSION, 10, 5]], (10, 10, 1)),
        ("late_older", [[T, CREATE, 10, 4], [-1, PREEXISTING, 10, 4]], (10, 10, 1)),
        ("strange", [[T, CREATE, 10, 4], [T, 9, 10, 4], [T, CREATE, 10, 8], [T, CREATE, -10, 4], [T, CREATE, 1 << 62, 4]], (10, 10, 1)),
        ("back", [[T, CREATE, 10, 4], [T - 5, CREATE, 20, 4]], (30, 30, 2)),
        ("unknown_free", [[T, CREATE, 10, 4], [T, DESTROY, -20, 4]], (10, 10, 1)),
    ):
        code, _, err = imported(name, document)
        got = device(name)
        m.check(code == 0 and (got["peak_b"], got["at_end_b"], got["at_end_n"]) == want, name, got, want, err)
    row = [0, 1, 0, 0, 0, 5, 0, 0, 0]
    imported("negative", [[T // 1000, T // 1000 + 1], [row, [0, -1, 0, 0, 0, 9, 0, 0, 0]]])
    m.check((device("negative")["peak_b"], device("negative")["at_end_b"]) == (6, 6), "negative", device("negative"))
    for name, document, says in (
        ("no_rows", [[T // 1000], []], "more times than rows"),
        ("no_times", [[T // 1000], [row, row]], "more rows than times"),
        ("short", [[T // 1000], [row[:8]]], "9 numbers"),
        ("third", [[T // 1000], [row], []], "more than times and bytes"),
        ("empty", [[], []], "is empty"),
        ("bad", [[T, CREATE, 10, 4], [T, CREATE, "x", 4]], "no [time, action, bytes, category]"),
        ("five", [[T, CREATE, 10, 4], [T, CREATE, 1, 4, 7]], "no [time, action, bytes, category]"),
        ("wrong", [[T, DESTROY, -10, 4], [T, 9, 1, 1]], None),
        ("page", "<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title></head>\n<body>\n"
                 "  <img src='data:image/png;base64,iVBORw0KGgo='>\n</body></html>", "a picture"),
    ):
        code, _, err = imported(name, document)
        m.check(code == 0 if says is None else code == 2 and says in err and err.count("\n") == 2, name, code, err)


def cut():
    """What is cut off is refused, and kept in part where asked for."""
    for name, raw in (("adam.raw.json.gz", True), ("adam.json.gz", False)):
        text = gzip.open(f"{SAMPLES}/{name}").read()
        half = text.index(b"]", len(text) // (2 if raw else 1) - 2000) + 20
        for kept, says in ((0, "cut"), (1, None)):
            with open("cut.json", "wb") as f:
                f.write(text[:half])
            code, _, err = m.run("import", "cut.json", "--name", f"cut{raw}", *["--partial"] * kept, codes=(0, 2))
            m.check(code == (0 if kept else 2), name, "cut", code, err)
        whole = text[: text.rindex(b"]", 0, half) + 1] + (b"]" if raw else b"]]")
        if raw:
            events(f"cut{raw}", json.loads(whole))
    with open("cut.json", "wb") as f:  # nothing but times
        f.write(gzip.open(f"{SAMPLES}/adam.json.gz").read()[:900])
    for partial in ([], ["--partial"]):
        code, _, err = m.run("import", "cut.json", *partial, codes=(2,))
        m.check("cut" in err, "only times", err)


def refused():
    """Snapshots without frames have no categories; a timeline has neither threads nor ops."""
    m.run("import", os.path.join(os.environ["SAMPLES"], "snapshots", "no_frames.pickle"), "--name", "snapshot")
    for report in ("table", "peak", "leaks", "timeline"):
        wanted = 3 if report == "leaks" else 2  # a verdict that cannot be told
        code, out, err = m.run(report, "snapshot", "--by", "category", codes=(wanted,))
        m.check(code == wanted and not out and "without stacks that tell what its memory is for" in err, report, "of a snapshot", err)
    m.run("table", "raw0", "--by", "category,thread", codes=(2,))
    m.run("table", "raw0", "--by", "category,name")


recorded()
orders()
odd()
cut()
refused()
m.finish(150)
