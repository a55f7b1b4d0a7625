#!/usr/bin/env python3
"""Dumps of Python's tracemalloc, made here by this Python, and two recorded by another: what tracemalloc says itself."""

import collections
import io
import os
import pickle
import tracemalloc

import mt

SAMPLES = os.path.join(os.environ["SAMPLES"], "python")
m = mt.Matrix()


def build(n):
    return [bytes(100 + i % 50) for i in range(n)]


def nested(n):
    return build(n) + [{str(i): i for i in range(n)}]


def place(frame):
    return f"{os.path.basename(frame.filename)}:{frame.lineno}"


def by_line(run):
    """{line: (bytes, blocks)} of what lines allocated themselves."""
    got = collections.defaultdict(lambda: [0, 0])
    for row in m.query(f"SELECT name, self_at_end_b, self_at_end_n FROM v_node WHERE run = '{run}'"):
        got[row["name"]][0] += row["self_at_end_b"]
        got[row["name"]][1] += row["self_at_end_n"]
    return {name: tuple(sums) for name, sums in got.items() if sums[1]}


def device(run):
    return m.query(
        "SELECT d.at_end_b, d.at_end_n, d.alloc_b, d.peak_b FROM device d JOIN run r ON r.id = d.run_id"
        f" WHERE r.name = '{run}'"
    )[0]


def compare(run, snapshot):
    """Totals, lines, and call paths with all lines below one."""
    of_device = device(run)
    m.check(of_device["at_end_b"] == sum(t.size for t in snapshot.traces), run, "bytes", of_device)
    m.check(of_device["at_end_n"] == len(snapshot.traces), run, "blocks", of_device)
    m.check(of_device["alloc_b"] is None and of_device["peak_b"] is None, run, "what it does not say", of_device)
    want = collections.defaultdict(lambda: [0, 0])
    for trace in snapshot.traces:
        want[place(trace.traceback[-1])][0] += trace.size
        want[place(trace.traceback[-1])][1] += 1
    m.check(by_line(run) == {name: tuple(sums) for name, sums in want.items()}, run, "lines")
    inclusive = collections.Counter()
    for trace in snapshot.traces:
        for line in {place(frame) for frame in trace.traceback}:
            inclusive[line] += trace.size
    rows = {row["name"]: row["at_end_b"] for row in m.rows("table", run) if not row["name"].startswith("[")}
    m.check(rows == inclusive, run, "table's at_end_b", set(rows.items()) ^ set(inclusive.items()))


def dumped(snapshot, name):
    snapshot.dump(name)
    m.run("import", name, "--name", name.split(".")[0])
    m.offered, m.taken = m.offered + 1, m.taken + 1


def own():
    """Two dumps of this process with as many frames, and what changed between them."""
    for frames in (1, 3, 25):
        tracemalloc.start(frames)
        keep = [nested(2000)]
        first = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__)])
        keep.append(nested(5000))
        second = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__)])
        tracemalloc.stop()
        del keep
        for name, snapshot in ((f"first{frames}", first), (f"second{frames}", second)):
            dumped(snapshot, f"{name}.pkl")
            compare(name, snapshot)
        changes = {place(s.traceback[-1]): s.size_diff for s in second.compare_to(first, "lineno") if s.size_diff}
        old, new = by_line(f"first{frames}"), by_line(f"second{frames}")
        got = {line: new.get(line, (0, 0))[0] - old.get(line, (0, 0))[0] for line in {*old, *new}}
        m.check({line: size for line, size in got.items() if size} == changes, frames, "compare_to", changes)


def recorded():
    """What another Python dumped; tracemalloc's own figures of them (statistics("lineno"))."""
    for number, total, blocks, lines in (
        (1, 747306, 6750, {"tm.py:3": (498636, 3002), "tm.py:5": (248190, 3744), "tm.py:7": (328, 3), "tm.py:4": (152, 1)}),
        (2, 2987584, 26990, {"tm.py:3": (1994144, 12006), "tm.py:5": (992760, 14976), "tm.py:7": (328, 3),
                             "tm.py:6": (168, 3), "tm.py:4": (152, 1), "tm.py:8": (32, 1)}),
    ):  # fmt: skip
        path = os.path.join(SAMPLES, f"tracemalloc_{number}.pkl" + (".zst" if number == 2 else ""))
        m.run("import", path, "--name", f"recorded{number}")
        got = device(f"recorded{number}")
        m.check((got["at_end_b"], got["at_end_n"]) == (total, blocks), "recorded", number, got)
        m.check(by_line(f"recorded{number}") == lines, "recorded", number, by_line(f"recorded{number}"))


class Evil:
    def __reduce__(self):
        return (os.system, ("touch evil",))


class _Traces:
    pass


class Snapshot:
    pass


def made(traces, **attributes):
    """A dump with these traces, as pickle.Pickler writes it."""
    inner, outer, out = _Traces(), Snapshot(), io.BytesIO()
    inner.__dict__["_traces"] = traces
    outer.__dict__.update({"traces": inner, "traceback_limit": 2, **attributes})
    for of in (_Traces, Snapshot):
        of.__module__, of.__qualname__ = "tracemalloc", of.__name__
    saved = tracemalloc._Traces, tracemalloc.Snapshot
    tracemalloc._Traces, tracemalloc.Snapshot = _Traces, Snapshot
    pickle.Pickler(out, 4).dump(outer)
    tracemalloc._Traces, tracemalloc.Snapshot = saved
    return out.getvalue()


def odd():
    """Dumps that lack something, are damaged, or ask for more."""
    good = (0, 10, (("a.py", 1), ("b.py", 2)), 2)
    cut = (7, 20, (("a.py", 1), ("b.py", 2)), 9)
    for name, data, want in (
        ("nothing", made([]), (0, 0)),
        ("domains", made([good, cut]), (30, 2)),
        ("old", made([good[:3]]), (10, 1)),
        ("damaged", made([good, (0, -5, (("a.py", 1),), 1), (0, "x", (), 0), (0, 1), 5, (0, 1, (("a.py",),), 1)]), (10, 1)),
        ("huge", made([(0, 1 << 62, (("a.py", 1),), 1), good]), None),
        ("bad", made([(0, -5, (), 0)]), None),
        ("list", made(5), None),
        ("evil", made([good, Evil()]), None),
        ("evil2", made([good], more=Evil()), None),
        ("cut", made([good] * 50)[:-20], None),
    ):
        with open(f"{name}.pkl", "wb") as out:
            out.write(data)
        code, _, err = m.run("import", f"{name}.pkl", "--name", name, codes=(0, 2))
        m.check((code == 0) == (want is not None), "odd", name, code, err)
        m.check(code == 0 or err.count("\n") >= 2, "odd", name, "says what to do", err)
        if want and code == 0:
            got = device(name)
            m.check((got["at_end_b"], got["at_end_n"]) == want, "odd", name, got)
    m.check(not os.path.exists("evil"), "something in a file was run")
    paths = [row["path"] for row in m.json("leaks", "domains", "--by", "path")["rows"]]
    m.check(sorted(paths) == ["[domain 7] > [stack cut] > b.py:2 > a.py:1", "b.py:2 > a.py:1"], "domains", paths)


own()
recorded()
odd()
m.finish(40)
