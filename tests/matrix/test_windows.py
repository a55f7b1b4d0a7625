#!/usr/bin/env python3
"""Steps and windows: one rule for their borders, the same figures whoever is asked, parts that make the whole."""

import inputs
import mt

SELF = ["self_net_b", "self_alloc_b", "self_freed_b", "self_alloc_n", "self_time_ns", "calls_n"]
STEPS = 6  # of longer loops the first and last few

m = mt.Matrix()


def steps_are_sorted(run):
    last = None
    for step in run.steps:
        m.check(step["start_ns"] <= step["end_ns"], run.name, "a step ends before it begins", step)
        m.check(last is None or last["end_ns"] <= step["start_ns"], run.name, "steps overlap", last, step)
        last = step
    numbers = [step["number"] for step in run.steps]
    m.check(len(set(numbers)) == len(numbers), run.name, "step numbers repeat", numbers)


def some(steps):
    return steps if len(steps) <= STEPS else steps[: STEPS // 2] + steps[-STEPS // 2 :]


def changes(run, device, *window):
    return m.rows("timeline", run.name, "--device", device["device"], "--exact", *window)


def window(run, device, begins_ns, *args):
    """What a window says of itself in four reports; `begins_ns` is None for the beginning of the run."""
    name, where = device["device"], (run.name, device["device"], *args)
    rows = changes(run, device, *args)
    before = [row for row in changes(run, device) if begins_ns is not None and row["time_ns"] < begins_ns]
    level = top = device["start_b"] + sum(row["change_b"] for row in before)
    for row in rows:
        level += row["change_b"]
        top = max(top, level)
        if not m.check(level == row["level_b"], *where, "timeline --exact: level", row, level):
            break
    born, gone = (sum(abs(r["change_b"]) for r in rows if (r["change_b"] > 0) == up) for up in (True, False))
    wide = m.rows("timeline", run.name, "--device", name, "--metric", "allocated", "--width", "5", *args)
    if wide:
        m.check(max(r["max_b"] for r in wide) == top, *where, "timeline and its single changes: peak", max(r["max_b"] for r in wide), top)
        m.check(wide[-1]["last_b"] == level, *where, "timeline and its single changes: end", wide[-1]["last_b"], level)
    memory = mt.by([r for r in m.rows("memory", run.name, "--device", name, *args)], "metric")
    row = memory.get(("requested",)) if run.is_snapshot else memory.get(("allocated",))
    if row:
        for column, want in (("current_b", level), ("peak_b", top), ("total_alloc_b", born), ("total_freed_b", gone)):
            m.check(row[column] is None or row[column] == want, *where, "memory and timeline:", column, row[column], want)
    row = memory.get(("reserved",))
    if row and (row["peak_b"] is not None or not run.is_snapshot):  # of snapshots whose events are missing memory says no peak, timeline a note
        held_alike(where, row, m.json("timeline", run.name, "--device", name, "--metric", "reserved", "--width", "5", *args, codes=(0, 2, 3)))
    if device["at_end_b"] is not None:
        answer = m.json("peak", run.name, "--device", name, "--limit", "0", *args)
        if answer and answer["totals"].get("peak_b") is not None:
            m.check(answer["totals"]["peak_b"] == top, *where, "peak and timeline", answer["totals"]["peak_b"], top)
            m.check((mt.total(answer["rows"], "at_peak_b") or 0) == top, *where, "peak: rows", mt.total(answer["rows"], "at_peak_b"), top)
    return rows


def lies_in(run, step, time_ns):
    """Half-open; but a step that ends with the run has what happens then."""
    return step["start_ns"] <= time_ns < step["end_ns"] or time_ns == step["end_ns"] == run.dur_ns


def of_ops(rows):
    return [row for row in rows if not row["name"].startswith(("[outside ops", "[before trace"))]


def held_alike(where, row, answer):
    """What is reserved: nothing is known of a window before the first record that says it."""
    known = [r for r in answer["rows"] if r["last_b"] is not None] if answer else []
    wanted = (known[-1]["last_b"], max(r["max_b"] for r in known)) if known else (None, None)
    m.check((row["current_b"], row["peak_b"]) == wanted, *where, "memory and timeline: reserved", row, wanted)


def late():
    """A GPU that is first used in the second of three steps."""
    trace = inputs.Trace()
    for step in range(3):
        trace.mark(f"ProfilerStep#{step}", 100 * step, 100)
        trace.op("aten::empty", 100 * step + 10, 50)
        trace.record(100 * step + 11, 100, 64 * (step + 1))
        if step:
            trace.record(100 * step + 20, 1000, 64 * (step + 1), inputs.CUDA0, **{"Total Allocated": 1000 * step, "Total Reserved": 2 * inputs.MIB * step})
    trace.write("late.json")
    return "late", "late.json"


def steps(run, device):
    name = device["device"]
    if not run.steps:
        return
    per = mt.by(m.rows("peak", run.name, "--device", name, "--per", "step"), "step") if device["at_end_b"] is not None else {}
    fine = of_ops(m.rows("table", run.name, "--device", name, "--by", "name,step"))
    everything = changes(run, device)
    for step in some(run.steps):
        number = str(step["number"])
        rows = window(run, device, step["start_ns"], "--step", number)
        within = [r for r in everything if lies_in(run, step, r["time_ns"])]
        m.check(len(rows) == len(within), run.name, name, "--step", number, "holds", len(rows), "records, between its borders are", len(within))
        if not run.is_snapshot:
            m.check(all(str(r["step"]) == number for r in rows), run.name, name, "--step", number, "shows other steps", rows[:2])
        if (step["number"],) in per:
            row = per[(step["number"],)]
            m.check(row["change_b"] == sum(r["change_b"] for r in within), run.name, name, "peak --per step", number, row)
            m.check(row["start_b"] + row["change_b"] == row["end_b"] and row["peak_b"] >= max(row["start_b"], row["end_b"]),
                    run.name, name, "peak --per step", row)
        only = mt.summed(of_ops(m.rows("table", run.name, "--device", name, "--step", number)), ["name"], SELF)
        same = mt.summed([r for r in fine if str(r["step"]) == number], ["name"], SELF)
        m.check(only == same, run.name, name, f"table --step {number} is not --by name,step:", mt.differences(only, same))


seen = set()
for run in m.imported([late(), *inputs.all_inputs()]):
    seen.add(run.name)
    steps_are_sorted(run)
    for device in run.devices:
        window(run, device, None)
        steps(run, device)
        times = sorted({row["time_ns"] for row in changes(run, device)})
        if len(times) > 3:
            a, b = times[len(times) // 3], times[2 * len(times) // 3]
            window(run, device, a, "--from", f"{a}ns", "--to", f"{b}ns")
            window(run, device, a, "--from", f"{a}ns")
            window(run, device, None, "--to", f"{a}ns")
            parts = [changes(run, device, *args) for args in (("--to", f"{a}ns"), ("--from", f"{a}ns", "--to", f"{b}ns"), ("--from", f"{b}ns"))]
            m.check(sum(len(part) for part in parts) == len(changes(run, device)), run.name, device["device"], "windows are not the whole",
                    [len(part) for part in parts], len(changes(run, device)))
m.check("late" in seen, "the trace of a GPU that is used late was not read")
m.finish(at_least=5000)
