#!/usr/bin/env python3
"""Rows add up to the device, by whatever key they are grouped: table, tree, peak, leaks, timeline."""

import inputs
import mt

KEYS = ["name", "top", "site", "scope", "module", "phase", "path", "shape", "thread", "size", "step", "forward"]
FINER = ["step", "thread"]
SELF = ["self_net_b", "self_alloc_b", "self_freed_b", "self_alloc_n", "self_at_peak_b", "self_at_end_b", "self_time_ns"]

m = mt.Matrix()


def keys(run):
    """All of made-up runs; of others those that are computed in ways of their own."""
    stacks = ["line", "layer"] if run.has_lines else []
    return stacks + (KEYS if inputs.is_made_up(run.name) else ["name", "site", "path", "shape", "thread", "size", "step", "forward"])


def nothing_negative(rows, columns, *where):
    for column in columns:
        bad = [row for row in rows if row.get(column) is not None and row[column] < 0]
        m.check(not bad, *where, column, "below 0:", bad[:1])


def sizes(device, rows, where):
    """Blocks of one size, as the store has them."""
    stored = m.query("SELECT a.bytes_b, count(*) AS n, sum(a.bytes_b) AS b, sum(iif(a.freed_record IS NULL, a.bytes_b, 0)) AS end_b FROM alloc a JOIN device d "
                     f"ON d.id = a.device_id JOIN run r ON r.id = d.run_id WHERE r.name = '{where[0]}' AND d.name = '{where[1]}' AND a.alloc_record IS NOT NULL GROUP BY 1")
    want = {f"{row['bytes_b']} B": (row["n"], row["b"]) for row in stored}
    got = {row["size"]: (row["self_alloc_n"], row["self_alloc_b"]) for row in rows if row["self_alloc_b"] or row["size"].endswith(" B") and row["self_alloc_n"]}
    m.check(got == want, *where, "table --by size", "blocks", mt.differences(got, want))


def table(run, device):
    name, where = device["device"], (run.name, device["device"])
    wanted = {"self_net_b": device["net_b"], "self_alloc_b": device["alloc_b"], "self_freed_b": device["freed_b"],
              "self_alloc_n": device["alloc_n"], "self_at_peak_b": device["peak_b"], "self_at_end_b": device["at_end_b"]}
    whole = None
    for key in keys(run):
        rows = m.rows("table", run.name, "--device", name, "--by", key)
        for column, sum_b in wanted.items():
            got = mt.total(rows, column)
            unknown = device["at_end_b"] is None and column in ("self_at_peak_b", "self_at_end_b")
            if unknown:
                m.check(got is None, *where, "table --by", key, column, got, "is shown, not known")
            else:
                m.check((got or 0) == sum_b, *where, "table --by", key, column, got, "device", sum_b)
        nothing_negative(rows, ["self_time_ns", "time_ns", "calls_n", "self_alloc_b", "self_freed_b", "self_at_peak_b", "self_at_end_b"],
                         *where, "table --by", key)
        time_ns = mt.total(rows, "self_time_ns")
        if key == "size":  # of blocks, which take no time
            m.check(time_ns is None, *where, "table --by size", "self time", time_ns)
            sizes(device, rows, where)
            continue
        whole = time_ns if whole is None else whole
        m.check(time_ns == whole, *where, "table --by", key, "self time", time_ns, "by name", whole)
        for more in FINER if inputs.is_made_up(run.name) else []:
            if key in (more, "forward"):
                continue
            fine = m.rows("table", run.name, "--device", name, "--by", f"{key},{more}")
            a, b = mt.summed(rows, [key], SELF), mt.summed(fine, [key], SELF)
            m.check(a == b, *where, f"table --by {key} and {key},{more} differ:", mt.differences(a, b))
    return whole


def tree(run, device):
    where = (run.name, device["device"], "tree")
    rows = m.rows("tree", run.name, "--device", device["device"])
    ops = [row for row in rows if row["node"] is not None]
    outside = device["net_b"] - (mt.total(m.query(
        "SELECT d.outside_alloc_b - d.outside_freed_b - d.unseen_b AS b FROM device d JOIN run r ON r.id = d.run_id "
        f"WHERE r.name = '{run.name}' AND d.name = '{device['device']}'"), "b") or 0)
    m.check((mt.total(ops, "self_net_b") or 0) == outside, *where, "self sums", mt.total(ops, "self_net_b"), outside)
    m.check((mt.total([r for r in ops if r["depth"] == 0], "net_b") or 0) == outside, *where, "roots")
    m.check((mt.total(rows, "self_net_b") or 0) == device["net_b"], *where, "all rows", mt.total(rows, "self_net_b"), device["net_b"])
    for column, want in (("at_peak_b", device["peak_b"]), ("at_end_b", device["at_end_b"])):
        if want is None or device["at_end_b"] is None or not rows or column not in rows[0]:
            continue
        m.check((mt.total(rows, "self_" + column) or 0) == want, *where, "self_" + column, mt.total(rows, "self_" + column), want)
        m.check((mt.total([r for r in rows if r["depth"] == 0], column) or 0) == want, *where, column, "of the roots")
    nothing_negative(rows, ["self_time_ns", "time_ns", "calls_n"], *where)
    children = {}
    for row in ops:
        children.setdefault(row["parent"], []).append(row)
    for row in ops:
        below = sum(child["alloc_b"] for child in children.get(row["node"], ()))
        m.check(row["alloc_b"] == row["self_alloc_b"] + below, *where, "inclusive", row)
    callers = m.rows("tree", run.name, "--device", device["device"], "--invert")
    top = [row for row in callers if row["depth"] == 0 and row["node"] is not None]
    m.check((mt.total(top, "self_net_b") or 0) == outside, *where, "--invert self sums", mt.total(top, "self_net_b"), outside)


def at_peak(run, device, key):
    """The rows of `peak`; of a snapshot without history, which has none, those of its one moment under the same names."""
    rows = m.rows("peak", run.name, "--device", device, "--by", key)
    if not run.one_moment:
        return rows
    return [{column.replace("live_", "at_peak_"): value for column, value in row.items()}
            for row in m.rows("peak", run.name, "--device", device, "--by", key, "--at", "@peak")]


def peak(run, device):
    name = device["device"]
    if device["at_end_b"] is None:
        return
    for key in keys(run):
        if key == "forward":
            continue
        rows = at_peak(run, name, key)
        m.check((mt.total(rows, "at_peak_b") or 0) == device["peak_b"], run.name, name, "peak --by", key, mt.total(rows, "at_peak_b"),
                device["peak_b"])
        listed = mt.summed(m.rows("table", run.name, "--device", name, "--by", key), [key], ["self_at_peak_b"])
        listed = {k: row["self_at_peak_b"] for k, row in listed.items()}
        got = {k: row["at_peak_b"] for k, row in mt.summed(rows, [key], ["at_peak_b"]).items()}
        m.check(run.one_moment or got == listed, run.name, name, f"peak --by {key} is not table's at peak:", mt.differences(got, listed))
        for more in FINER if inputs.is_made_up(run.name) else []:
            if key != more:
                fine = at_peak(run, name, f"{key},{more}")
                a, b = mt.summed(rows, [key], ["at_peak_b", "at_peak_n"]), mt.summed(fine, [key], ["at_peak_b", "at_peak_n"])
                m.check(a == b, run.name, name, f"peak --by {key} and {key},{more}", mt.differences(a, b))
    for moment, level in (("@end", device["start_b"] + device["net_b"]), ("@peak", device["peak_b"]), ("@start", device["start_b"])):
        rows = m.rows("peak", run.name, "--device", name, "--at", moment)
        column = next((c for c in rows[0] if c.endswith("_b")), None) if rows else None
        m.check(not level if not rows else mt.total(rows, column) == level, run.name, name, "peak --at", moment,
                rows and mt.total(rows, column), level)


def view(run, device):
    """v_alloc tells of the blocks alive at the peak what `peak` does."""
    name = device["device"]
    if device["at_end_b"] is None:
        return
    peak = -1 if device["peak_record"] is None else device["peak_record"]
    for key in ("name", "top", "site", "scope", "module", "phase", "shape", "step"):
        if key == "site" and run.has_lines:  # SQL has the top op in its scope
            continue
        reported = {row[key]: row["at_peak_b"] for row in at_peak(run, name, key)}
        column = "alloc_in" if key == "name" else key
        stored = {row["key"]: row["b"] for row in m.query(
            f"SELECT a.{column} AS key, sum(a.bytes_b) AS b FROM v_alloc a "
            f"WHERE a.run = '{run.name}' AND a.device = '{name}' AND (alloc_record IS NULL OR alloc_record <= {peak}) "
            f"AND (freed_record IS NULL OR freed_record > {peak}) GROUP BY 1")}
        for value in stored.keys() - {None}:
            m.check(reported.pop(str(value), 0) == stored[value], run.name, name, "v_alloc at the peak by", key, value, stored[value])
        m.check(sum(reported.values()) == stored.get(None, 0) + (device["kept_b"] or 0), run.name, name, "v_alloc at the peak without", key, stored.get(None), reported)


def leaks(run, device):
    name = device["device"]
    if device["at_end_b"] is None:
        return
    sums = set()
    for key in keys(run):
        if key == "forward":
            continue
        rows = m.rows("leaks", run.name, "--device", name, "--all", "--by", key)
        sums.add((mt.total(rows, "at_end_b") or 0, mt.total(rows, "at_end_n") or 0))
        nothing_negative(rows, ["at_end_b", "at_end_n"], run.name, name, "leaks --by", key)
        some = m.rows("leaks", run.name, "--device", name, "--by", key)
        m.check(all(row in rows for row in some), run.name, name, "leaks --by", key, "rows that --all has not")
    m.check(len(sums) <= 1, run.name, name, "leaks: sums differ by key", sums)
    if run.steps:
        m.check(sums == {(device["at_end_b"], next(iter(sums))[1])}, run.name, name, "leaks: at end", sums, device["at_end_b"])


def timeline(run, device):
    name = device["device"]
    for width in ("1", "7", "100") if inputs.is_made_up(run.name) else ("7",):
        rows = m.rows("timeline", run.name, "--device", name, "--metric", "allocated", "--width", width)
        if not rows:
            continue
        m.check(max(r["max_b"] for r in rows) == device["peak_b"], run.name, name, "timeline peak", max(r["max_b"] for r in rows), device["peak_b"])
        m.check(rows[-1]["last_b"] == device["start_b"] + device["net_b"], run.name, name, "timeline end", rows[-1])
        m.check(all(r["min_b"] <= r["last_b"] <= r["max_b"] for r in rows), run.name, name, "timeline order")
        if device["at_end_b"] is None:
            continue
        for key in ("site", "phase", "thread", "step"):
            bands = mt.summed(m.rows("timeline", run.name, "--device", name, "--width", width, "--by", key, "--top", "100000"), ["start_ns", "max_ns", "max_b"], ["live_b"])
            m.check(all(k[2] == band["live_b"] for k, band in bands.items()), run.name, name, "timeline --by", key, "bands are not the level",
                    [(k, band) for k, band in bands.items() if k[2] != band["live_b"]][:2])
    level = device["start_b"]
    for row in m.rows("timeline", run.name, "--device", name, "--exact"):
        level += row["change_b"]
        if not m.check(level == row["level_b"] and level >= 0, run.name, name, "timeline --exact", row, level):
            break
    m.check(level == device["start_b"] + device["net_b"], run.name, name, "timeline --exact ends at", level)


for run in m.imported(inputs.all_inputs()):
    time_ns = None
    for device in run.devices:
        if run.one_moment:  # nothing changes; of tables test_one_moment.py
            device.update(net_b=0, peak_b=device["at_end_b"])
        else:
            here = table(run, device)
            m.check(time_ns in (None, here), run.name, "self time differs between devices", time_ns, here)
            time_ns = here
            tree(run, device)
        peak(run, device)
        view(run, device)
        leaks(run, device)
        timeline(run, device)
m.finish(at_least=5000)
