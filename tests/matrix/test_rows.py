#!/usr/bin/env python3
"""Rows of a program's own: events as CSV and as JSON, their sums and their series say the same, and what another reader of
the same rows finds. Compression, line ends, the order of columns, and quotes around values change nothing."""

import csv
import gzip
import itertools
import json
import os
import random
import subprocess

import mt

HEAP = os.path.join(os.environ["SAMPLES"], "heap")
m = mt.Matrix()


def device(run):
    return m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]


def imported(path, run, *options):
    m.offered += 1
    m.taken += m.run("import", path, "--name", run, *options, codes=(0,))[0] == 0
    return device(run)


FIGURES = ("alloc_b", "alloc_n", "at_peak_b", "at_peak_n", "at_end_b", "at_end_n")


def own(run):
    """{call path: figures} of what paths do themselves."""
    nodes = {row["id"]: row for row in m.query(f"SELECT * FROM v_node WHERE run = '{run}' ORDER BY id")}
    of, got = {}, {}
    for node, row in nodes.items():
        of[node] = (*of.get(row["parent_id"], ()), row["name"])
        figures = tuple(row[f"self_{figure}"] for figure in FIGURES)
        if any(figures):
            got[of[node]] = figures
    return got


def replay(rows):
    """What another reader makes of events: figures of call paths, the level after each event."""
    live, of, levels = {}, {}, []
    level = peak = 0

    def held(figure):
        for sums in of.values():
            sums[f"at_{figure}_b"] = sums[f"at_{figure}_n"] = 0
        for size, path in live.values():
            of[path][f"at_{figure}_b"] += size
            of[path][f"at_{figure}_n"] += 1

    for row in rows:
        for gone in {"free": ("address",), "realloc": ("old_address",)}.get(row["op"], ()):
            level -= live.pop(row[gone])[0]
        if row["op"] != "free":
            path = tuple(frame.split(" (")[0] for frame in row["stack"].split(";"))
            sums = of.setdefault(path, dict.fromkeys(FIGURES, 0))
            size = int(row["size"])
            live[row["address"]] = (size, path)
            level += size
            sums["alloc_b"] += size
            sums["alloc_n"] += 1
        if level > peak:
            peak = level
            held("peak")
        levels.append(level)
    held("end")
    return {path: tuple(sums.values()) for path, sums in of.items()}, levels


def samples():
    with open(f"{HEAP}/events.csv", newline="") as f:
        want, levels = replay(csv.DictReader(f))
    for name in ("events.csv", "events.jsonl", "sums.csv"):
        d = imported(f"{HEAP}/{name}", name)
        got = own(name)
        m.check(got == want, name, mt.differences(got, want))
        for i, figure in ((0, "alloc_b"), (1, "alloc_n"), (2, "peak_b"), (4, "at_end_b"), (5, "at_end_n")):
            m.check(d[figure] == sum(figures[i] for figures in want.values()), name, figure, d[figure])
    d = imported(f"{HEAP}/series.csv", "series.csv")
    m.check((d["peak_b"], d["at_end_b"]) == (max(levels), levels[-1]), "series", d)
    curves = [m.rows("timeline", run, "--width", "40") for run in ("events.csv", "events.jsonl", "series.csv")]
    m.check(curves[0] == curves[1], "timeline of events")
    most = [row["max_b"] for row in curves[0]]
    m.check(most == [row["max_b"] for row in curves[2]], "timeline of the series", most, [row["max_b"] for row in curves[2]])


def program(seed):
    """Events of a program by chance."""
    rng, live, t = random.Random(seed), [], 0
    names = ("main", "operator \"\"_x", "f<a, b>", "g", "line\nbreak", "h (a.c:3)", "k (libz.so)")
    for k in range(600):
        t += rng.randrange(3)
        row = {"time_ms": t, "op": "alloc", "address": hex(4096 + 16 * k), "old_address": "", "size": rng.randrange(5000), "stack": "", "thread": k % 3}
        if live and rng.random() < 0.45:
            row |= {"op": "free", "address": live.pop(rng.randrange(len(live))), "size": ""}
        else:
            row["stack"] = ";".join(("main", *rng.sample(names[1:4] + names[5:], rng.randrange(1, 4))))
            if live and rng.random() < 0.2:
                row |= {"op": "realloc", "old_address": live.pop(rng.randrange(len(live)))}
            live.append(row["address"])
        yield row


def written(rows, path, columns, **how):
    with open(path, "w", newline="") as f:
        writer = csv.DictWriter(f, columns, extrasaction="ignore", **how)
        writer.writeheader()
        writer.writerows(rows)
    return path


def forms():
    for seed in range(3):
        rows = list(program(seed))
        columns = list(rows[0])
        want, levels = replay(rows)
        shuffled = random.Random(seed).sample(columns, len(columns))
        paths = {
            "plain": written(rows, f"plain{seed}.csv", columns, lineterminator="\n"),
            "dos": written(rows, f"dos{seed}.csv", shuffled),
            "quoted": written(rows, f"quoted{seed}.csv", shuffled, quoting=csv.QUOTE_ALL),
            "tabs": written(rows, f"tabs{seed}.tsv", columns, delimiter="\t"),
        }
        with open(written(rows, "turned.csv", columns[::-1]), "rb") as f, gzip.open(f"packed{seed}.csv.gz", "wb") as out:
            out.write(f.read())
        paths["gzip"] = f"packed{seed}.csv.gz"
        with open(f"rows{seed}.jsonl", "w") as f:
            for row in rows:
                f.write(json.dumps(row | ({"address": int(row["address"], 16)} if not row["old_address"] else {})) + "\n")
        paths["json"] = f"rows{seed}.jsonl"
        with open(f"sparse{seed}.jsonl", "w") as f:
            f.writelines(json.dumps({key: value for key, value in row.items() if value != ""}) + "\n" for row in rows)
        paths["sparse"] = f"sparse{seed}.jsonl"
        for form, path in paths.items():
            run = f"{form}{seed}"
            d = imported(path, run)
            m.check(d["peak_b"] == max(levels) and d["at_end_b"] == levels[-1], run, "levels", d["peak_b"], max(levels))
            if form == "plain":
                first = own(run)
                for i in range(len(FIGURES)):
                    m.check(sum(f[i] for f in first.values()) == sum(f[i] for f in want.values()), run, FIGURES[i])
            m.check(own(run) == first, run, "is not as plain rows are", mt.differences(own(run), first))


def series():
    """What is held at times, in any order: as CSV, and as JSON that leaves out what has no value."""
    for seed in range(3):
        rng = random.Random(seed)
        held = {(t, path): rng.randrange(1000) for t in range(40) for path in ("", "main;f", "main;g", "main;h") if t and rng.random() < 0.8}
        rows = [{"time_ms": 0, "bytes": 0, "stack": ""}] + [{"time_ms": t, "bytes": size, "stack": path} for (t, path), size in held.items()]
        levels = [sum(size for (at, _), size in held.items() if at == t) for t in range(40)]
        of_end = {("main", path[5:]): size for (t, path), size in held.items() if t == rows[-1]["time_ms"] and path and size}
        orders = {"sorted": rows, "newest": rows[::-1], "stacks": sorted(rows, key=lambda row: row["stack"]), "shuffled": rng.sample(rows, len(rows))}
        for order, ordered in orders.items():
            paths = [written(ordered, f"{order}{seed}.csv", list(rows[0])), f"{order}{seed}.jsonl"]
            with open(paths[1], "w") as f:
                f.writelines(json.dumps({key: value for key, value in row.items() if value != ""}) + "\n" for row in ordered)
            for path in paths:
                d = imported(path, path)
                m.check((d["peak_b"], d["at_end_b"]) == (max(levels), levels[rows[-1]["time_ms"]]), path, d["peak_b"], max(levels), d["at_end_b"])
                got = {path: figures[4] for path, figures in own(path).items() if figures[4]}
                m.check(got == of_end, path, "at the end", mt.differences(got, of_end))


def some_counts():
    """Blocks are counted of all figures in bytes, or are not known: none is 0 that the file does not have."""
    for columns, values, known in (("alloc_b,alloc_n,at_end_b", "100,10,50", False), ("at_peak_b,at_peak_n", "70,7", True)):
        run = columns.replace(",", "-")
        with open(f"{run}.csv", "w") as f:
            f.write(f"stack,{columns}\nmain;f,{values}\n")
        imported(f"{run}.csv", run)
        node = m.query(f"SELECT * FROM v_node WHERE run = '{run}' AND name = 'f'")[0]
        m.check(node["self_at_end_n"] is None, run, "at the end", node["self_at_end_n"])
        m.check(node["self_at_peak_n"] == (7 if known else None), run, "at the peak", node["self_at_peak_n"])


def piped():
    """From standard input, which cannot be read twice."""
    with open(f"{HEAP}/events.csv", "rb") as f:
        done = subprocess.run([m.memtool, "import", "-", "--db", m.db], stdin=f, capture_output=True)
    m.check(done.returncode == 0 or b"already imported" in done.stdout, "piped", done.stderr)


def ordered():
    """Equal rows are sorted by name, numbers first, in whatever order they come."""
    orders = set()
    for names in itertools.permutations(("9", "10", "1a", "2", "b")):
        run = "-".join(names)
        with open(f"{run}.csv", "w") as f:
            f.write("stack,alloc_b\n" + "".join(f"{name},100\n" for name in names))
        imported(f"{run}.csv", run)
        orders.add(tuple(row["name"] for row in m.rows("table", run, "--by", "name")))
    m.check(orders == {("2", "9", "10", "1a", "b")}, "order of names", orders)


samples()
forms()
series()
some_counts()
piped()
ordered()
m.finish(40)
