#!/usr/bin/env python3
"""import --library-sites: the innermost line of Python is the site, whosever it is, and no figure changes."""

import json
import os
import pickle
import tracemalloc

import mt

SAMPLES = os.environ["SAMPLES"]
m = mt.Matrix()

LOGS = {
    "capture": ("python/memray_1.20.bin",),
    "aggregated": ("python/memray_1.20_aggregated.bin",),
    "csv": ("python/memray_peak.csv", "--values", "at-peak"),
    "tracemalloc": ("parsed.pkl",),  # made here
}
FIGURES = "SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{}'"
NODES = (
    "SELECT n.name, n.top, n.kind, n.self_at_peak_b, n.self_at_end_b, n.self_alloc_b FROM v_node n"
    " WHERE n.run = '{}' ORDER BY n.id"
)


def found(path):
    return path if os.path.exists(path) else os.path.join(SAMPLES, path)


def without_ids(rows):
    return [{key: value for key, value in row.items() if not key.endswith("id")} for row in rows]


def folded(run):
    return [row["count_n"] for row in m.query(f"SELECT count_n FROM v_note WHERE run = '{run}' AND kind = 'library_folded'")]


def both(name, path, *options):
    """Imports a file both ways; the same figures. Returns the runs' nodes."""
    m.offered, m.taken = m.offered + 1, m.taken + 1
    for run, more in ((name, ()), (f"{name}_all", ("--library-sites",))):
        m.run("import", path, "--name", run, *options, *more, codes=(0,))
    one, other = (without_ids(m.query(FIGURES.format(run))) for run in (name, f"{name}_all"))
    m.check(one and one == other, name, "figures of devices", one, other)
    nodes = [m.query(NODES.format(run)) for run in (name, f"{name}_all")]
    figures = [[{key: row[key] for key in row if key != "top"} for row in rows] for rows in nodes]
    m.check(figures[0] and figures[0] == figures[1], name, "call paths and their figures")
    return nodes


def dump(path):
    """What json's decoder allocates for a line of ours."""
    text = json.dumps([{"key": i} for i in range(1000)])
    tracemalloc.start(25)
    parsed = json.loads(text)
    tracemalloc.take_snapshot().dump(path)
    tracemalloc.stop()
    return parsed


def logs():
    dump("parsed.pkl")
    for name, (path, *options) in LOGS.items():
        nodes, switched = both(name, found(path), *options)
        m.check(folded(name) and folded(name)[0] > 0, name, "counts what is folded", folded(name))
        m.check(not folded(f"{name}_all"), name, "folds nothing", folded(f"{name}_all"))
        m.check(any(row["top"] != row["name"] for row in nodes if row["kind"] == "python"), name, "folds", nodes[:3])
        lines = [row for row in switched if row["kind"] == "python"]
        m.check(lines and all(row["top"] == row["name"] for row in lines), name, "the innermost line is the site")


def snapshot():
    """A line of PyTorch is no site where there is one of the user's, and is one with the switch."""

    def frame(file, function):
        return {"filename": file, "line": 7, "name": function}

    stack = [frame("/v/site-packages/torch/nn/modules/linear.py", "forward"), frame("/home/me/train.py", "step")]
    block = {"address": 4096, "size": 512, "requested_size": 512, "state": "active_allocated", "frames": stack}
    segment = {"device": 0, "address": 4096, "total_size": 2097152, "allocated_size": 512, "active_size": 512,
               "requested_size": 512, "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0),
               "is_expandable": False, "frames": [], "blocks": [
                   block, {"address": 4608, "size": 2096640, "requested_size": 0, "state": "inactive", "frames": []}]}  # fmt: skip
    with open("library.pickle", "wb") as out:
        pickle.dump({"segments": [segment], "device_traces": [], "allocator_settings": {}}, out)
    nodes, switched = both("snapshot", "library.pickle")
    for rows, site in ((nodes, "train.py:7 step"), (switched, "linear.py:7 forward")):
        tops = {row["name"]: row["top"] for row in rows}
        m.check(tops.get("linear.py:7 forward") == site, "snapshot", site, tops)


def again():
    """The choice makes another run of the same content; asked for twice it is the same."""
    _, out, err = m.run("import", "parsed.pkl", "--library-sites", codes=(0,))
    m.check("tracemalloc_all" in out + err, "twice", "is known", out, err)


logs()
snapshot()
again()
m.finish(30)
