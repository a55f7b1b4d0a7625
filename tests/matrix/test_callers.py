#!/usr/bin/env python3
"""tree --name F of heap logs: --invert has what F allocates itself by its callers, without it what is called below F."""

import os
import re

import mt

SAMPLES = os.environ["SAMPLES"]
LOGS = ["heap/heaptrack.zst", "heap/massif_200k.out", "heap/dhat_2k.json", "heap/go_heap_2.pb.gz", "heap/memcheck.txt", "heap/lsan.txt",
        "python/memray_1.20.bin", "python/tracemalloc_1.pkl"]
FIGURES = ("alloc_b", "at_peak_b", "at_end_b")

m = mt.Matrix()


def callers(run, name, own):
    """The root is the function's own figures, as in the table; its callers have no more."""
    rows = m.rows("tree", run, "--invert", "--name", f"^{re.escape(name)}$")
    roots = [row for row in rows if row["depth"] == 0 and row["name"] == name]
    if not m.check(len(roots) == 1, run, name, "is one root", len(roots)):
        return
    for figure in FIGURES:
        of = roots[0][f"self_{figure}"] if own.get(f"self_{figure}") is not None else None
        m.check(of == own.get(f"self_{figure}"), run, name, figure, of, own.get(f"self_{figure}"))
        below = [row[figure] for row in rows if row["depth"] == 1 and row["parent"] == roots[0]["node"]]
        m.check(of is None or sum(b or 0 for b in below) <= of, run, name, figure, "callers", below, of)


def callees(run, name, own):
    """All places of the function together have its inclusive figures, each being what it and those it calls have themselves."""
    rows = m.rows("tree", run, "--name", f"^{re.escape(name)}$")
    inside = {}  # node -> the outermost place of the function around it
    for row in rows:
        around = inside.get(row["parent"])
        inside[row["node"]] = around if around is not None else row["node"] if row["name"] == name else None
    places = {place for place in inside.values() if place is not None}
    for figure in FIGURES:
        if own.get(figure) is None:
            continue
        whole = sum(row[figure] or 0 for row in rows if row["node"] in places)
        parts = sum(row[f"self_{figure}"] or 0 for row in rows if inside[row["node"]] is not None)
        m.check(whole == own[figure] and parts == whole, run, name, figure, "callees", whole, parts, own[figure])


for log in LOGS:
    run = re.sub(r"\W", "_", os.path.basename(log))
    m.run("import", f"{SAMPLES}/{log}", "--name", run, codes=(0,))
    for row in m.rows("table", run, "--by", "name")[:25]:
        if row["name"].startswith("["):
            continue
        callees(run, row["name"], row)
        if any(row.get(f"self_{figure}") for figure in FIGURES):
            callers(run, row["name"], row)
m.finish(500)
