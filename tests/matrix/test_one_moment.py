#!/usr/bin/env python3
"""Of a snapshot without history one moment is known: every report says what was alive then, and of what was allocated,
freed or at the peak that it is unknown."""

import csv
import io
import os
import pickle
import re

import mt

SAMPLES = os.environ["SAMPLES"]
NEVER = ("alloc_b", "freed_b", "net_b", "alloc_n", "freed_n", "peak_b", "peak_ns")

m = mt.Matrix()


def two_devices():
    """What two devices hold, one with an event left and one with none, as enabled="state" writes it."""
    with open(f"{SAMPLES}/snapshots/two_devices.pickle", "rb") as f:
        data = pickle.load(f)
    data["device_traces"] = [events[-1:] if n == 0 else [] for n, events in enumerate(data["device_traces"])]
    with open("two.pickle", "wb") as f:
        pickle.dump(data, f)
    return "two.pickle"


def allocated_last():
    """The one event that is left is an allocation, of a block that is alive."""
    with open(f"{SAMPLES}/snapshots/basic.pickle", "rb") as f:
        data = pickle.load(f)
    events = data["device_traces"][0]
    alive = {block["address"] for segment in data["segments"] for block in segment["blocks"] if block["state"] != "inactive"}
    data["device_traces"][0] = [event for event in events if event["action"] == "alloc" and event["addr"] in alive][-1:]
    with open("last.pickle", "wb") as f:
        pickle.dump(data, f)
    return "last.pickle"


def unknown(rows, columns, *where):
    for column in columns:
        m.check(rows and all(row[column] is None for row in rows), *where, column, "is known:", [row.get(column) for row in rows][:5])


def of_people(run, *args):
    """What people read says nothing of it either."""
    code, out, _ = m.run(*args)
    m.check(code == 0 and "-1 MiB" not in out and not re.search(r"\b(allocated|freed|net|peak) +0 B", out), run, *args, out[:300])
    return out


def sums(run, device):
    name, end_b = device["device"], device["at_end_b"]
    unknown([device], NEVER, run.name, name, "v_device")
    m.check(device["start_b"] == end_b and end_b > 0, run.name, name, "one moment", device)
    nodes = m.query(f"SELECT * FROM v_node WHERE run = '{run.name}' AND device = '{name}'")
    unknown(nodes, [f"{own}{column}" for own in ("self_", "") for column in ("alloc_b", "freed_b", "net_b", "alloc_n", "at_peak_b", "at_peak_n")],
            run.name, name, "v_node")
    for key in ("name", "site", "top", "size", "module", "phase", "step", "thread", "name,device"):
        rows = m.rows("table", run.name, "--device", name, "--by", key)
        unknown(rows, ("self_net_b", "net_b", "self_alloc_b", "alloc_b", "self_freed_b", "freed_b", "self_alloc_n", "self_at_peak_b", "at_peak_b"),
                run.name, name, "table --by", key)
        m.check(mt.total(rows, "self_at_end_b") == end_b, run.name, name, "table --by", key, "at end", end_b)
        for moment in ([], ["--at", "@peak"], ["--at", "@start"], ["--at", "@end"]):
            live = m.rows("peak", run.name, "--device", name, *moment, *(["--by", key] if "device" not in key else []))
            m.check(mt.total(live, "live_b") == end_b, run.name, name, "peak", *moment, "--by", key, end_b)
    whole = m.json("table", run.name, "--device", name)["totals"]
    m.check(whole["net_b"] is None and whole["peak_b"] is None and whole["at_end_b"] == end_b, run.name, name, "table's totals", whole)
    rows = m.rows("tree", run.name, "--device", name)
    unknown(rows, ("net_b", "self_net_b", "alloc_b", "self_alloc_b", "freed_b", "at_peak_b", "self_at_peak_b"), run.name, name, "tree")
    m.check(mt.total(rows, "self_at_end_b") == end_b, run.name, name, "tree", "at end", end_b)
    heads = {report: of_people(run.name, report, run.name, "--device", name).split("\n") for report in ("table", "tree")}
    m.check("AT END" in heads["table"][1] and "ALLOC" not in heads["table"][1], run.name, "table's columns", heads["table"][1])
    m.check("AT END" in heads["tree"][1] and "AT PEAK" not in heads["tree"][1], run.name, "tree's columns", heads["tree"][1])
    for column in ("net_b", "self_alloc_b", "self_cuda_memory_usage"):
        _, _, err = m.run("table", run.name, "--device", name, "--sort", column, codes=(2,))
        m.check("does not say what was allocated" in err, run.name, "table --sort", column, err)


def whole(run):
    unknown([row for row in m.json("runs")["rows"] if row["name"] == run.name], ("alloc_b", "net_b", "peak_b"), run.name, "runs")
    info = {row["what"]: row["value"] for row in m.rows("info", run.name)}
    for device in run.devices:
        for figure in NEVER[:3]:
            m.check(info[f"{device['device']}.{figure}"] is None, run.name, "info", figure, info)
    _, out, _ = m.run("export", "--rollup", run.name + "s", "--format", "tsv")
    rolled = list(csv.DictReader(io.StringIO(out), delimiter="\t", quoting=csv.QUOTE_NONE))
    m.check(len(rolled) > 5, run.name, "export --rollup", out[:200])
    for row in rolled:
        bad = [column for column in ("alloc_b", "freed_b", "alloc_n") if row[column] != "\\N"]
        m.check(not bad, run.name, "export --rollup", bad, row)
        figure = row["peak_b"] if row["kind"] in ("run", "step") else row["at_peak_b"]
        m.check(figure == (row["end_b"] if row["compared"] == "1" else "\\N"), run.name, "export --rollup: what was alive is compared", row)
    m.check(run.name in of_people(run.name, "info", run.name), run.name, "info")
    code, _, _ = m.run("check", run.name, "--max-peak", "1GiB")
    m.check(code == 3, run.name, "check --max-peak", code)
    code, _, _ = m.run("check", run.name, "--max-at-end", "1GiB")
    m.check(code == 0, run.name, "check --max-at-end", code)
    changed = m.rows("diff", run.name, "with")
    unknown([row for row in changed if row["section"] in ("total", "op")], ("base_alloc_b", "alloc_delta_b", "base_self_net_b"), run.name, "diff")


def ranks():
    """What is compared is what was alive, whatever the last event did."""
    rows = m.rows("ranks", "state", "bare")
    m.check([row["peak_b"] for row in rows] == [row["at_end_b"] for row in rows] and len(rows) == 2, "ranks", rows)
    m.check(all(row["oom_n"] is None for row in rows), "what failed is not recorded", rows)


def main():
    files = [("state", f"{SAMPLES}/snapshots/state_only.pickle"), ("bare", f"{SAMPLES}/snapshots/bare_list.pickle"),
             ("two", two_devices()), ("last", allocated_last())]
    m.run("import", f"{SAMPLES}/snapshots/fragmented.pickle", "--name", "with")
    runs = list(m.imported(files))
    for run in runs:
        m.run("runs", "--set-group", run.name + "s", run.name)
    for run in runs:
        m.check(run.one_moment, run.name, "has history")
        for device in run.devices:
            sums(run, device)
        whole(run)
    ranks()
    m.finish(300)


main()
