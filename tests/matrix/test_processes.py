#!/usr/bin/env python3
"""Traces merged from those of several processes: each process is judged by itself.

What a merged trace says of blocks, categories, ops and older blocks is the sum of what it says of the same processes alone,
however they lie in time, also where they share thread ids and addresses.
"""

import collections
import gzip
import json
import os
import subprocess

import mt

HERE = os.path.dirname(os.path.abspath(__file__))
LOOPS = os.path.join(HERE, "..", "loops")
SAMPLES = ["leak_steps", "noleak_steps", "cnn_b16", "cnn_b32", "loop", "checkpoint", "cache_steps", "fork_join", "nested"]
SUMS = ["alloc_b", "freed_b", "net_b", "at_end_b", "alloc_n", "freed_n", "start_b", "unseen_b", "unseen_n", "alloc_unseen_b", "alloc_unseen_n", "missing_b"]
OWN = ["self_alloc_b", "self_freed_b", "self_net_b", "self_at_end_b", "self_alloc_n", "calls_n", "time_ns", "self_time_ns"]
INCLUSIVE = ["alloc_b", "freed_b", "net_b", "at_end_b"]
BLOCK = ["device", "bytes_b", "life_ns", "alloc_in", "freed_in", "freed_unseen", "alloc_unseen", "phase", "category", "why", "held_by", "scope", "module", "top"]
KEYS = ["name", "path", "top", "phase", "category", "scope"]
# (process, its delay in us): how the traces of a merge lie to each other
TOGETHER, APART, FAR = (0, 0, 0), (0, 3000, 7000), (0, 50_000_000, 120_000_000)

# Advice that goes by ops, and not by steps, which processes of a merge share, nor by a share of the peak.
BY_OPS = {"no_grad", "checkpoint", "accumulate", "zero_grad_early", "set_to_none", "foreach_false", "fused", "del_before_backward", "bfloat16"}

m = mt.Matrix()
seen = collections.Counter()


def events_of(path):
    with gzip.open(path) as f:
        return [e for e in json.load(f)["traceEvents"] if e.get("ph") != "M"]


def moved(events, pid, delay):
    """The events of a process that is called pid and began its recording at that time, us."""
    first = min(e["ts"] for e in events if e["ph"] in "Xi")
    return [e | {"pid": pid, "ts": round(e["ts"] - first + 1000 + delay, 3)} for e in events]


def import_as(name, events):
    with open(name + ".json", "w") as f:
        json.dump({"traceEvents": events}, f)
    m.run("import", name + ".json", "--name", name)
    return name


def devices(run):
    return {d["device"]: d for d in m.query(f"SELECT * FROM v_device WHERE run = '{run}'")}


def start_of(run, events):
    """When a run began by the clock of its file, ns: its first allocation says so."""
    first = m.query(f"SELECT min(alloc_ns) AS ns FROM v_alloc WHERE run = '{run}' AND NOT alloc_unseen")[0]["ns"]
    return round(min(e["ts"] for e in events if e["name"] == "[memory]" and e["args"]["Bytes"] > 0) * 1000) - first


def compare_devices(name, merged, alone):
    """Sums of the device; and of the estimates of what is older: unknown where one of them is."""
    for device, got in merged.items():
        parts = [a[device] for a in alone if device in a]
        for column in SUMS:
            want = sum(p[column] or 0 for p in parts)
            m.check((got[column] or 0) == want, name, "device:", column, got[column], want)
        users = [p for p in parts if p["older_used"]]
        m.check(got["older_used"] == bool(users), name, "device: older blocks are used:", got["older_used"], [p["older_used"] for p in parts])
        least = [u["older_least_b"] for u in users if u["older_least_b"] is not None]
        want = sum(least) if least else None
        m.check(got["older_least_b"] == want, name, "device: older, at least", got["older_least_b"], want)
        most = [u["older_most_b"] for u in users]
        want = sum(most) if most and None not in most else None
        m.check(got["older_most_b"] == want, name, "device: older, at most", got["older_most_b"], want)
        seen["with older"] += bool(users)
        seen["with an estimate"] += bool(least)
        seen["with some who use nothing older"] += 0 < len(users) < len(parts)


def blocks(run):
    rows = m.query(f"SELECT {', '.join(BLOCK)} FROM v_alloc WHERE run = '{run}'")
    return collections.Counter(tuple(row[c] for c in BLOCK) for row in rows)


def compare_blocks(name, runs):
    got, want = blocks(name), sum((blocks(r) for r in runs), collections.Counter())
    differ = list(((got - want) + (want - got)).items())
    m.check(not differ, name, "blocks:", len(differ), "kinds differ, such as", differ[:4])


def compare_tables(name, runs):
    for key in KEYS:
        columns = OWN + (INCLUSIVE if key in ("path", "phase", "category") else [])
        tables = [mt.summed(m.rows("table", r, "--by", key, "--device", "cpu"), [key], columns) for r in (name, *runs)]
        want = {}
        for table in tables[1:]:
            for word, row in table.items():
                into = want.setdefault(word, dict.fromkeys(columns, 0))
                for column in columns:
                    into[column] += row[column]
        want = {word: row for word, row in want.items() if any(row.values())}
        differ = [(w, tables[0].get(w), want.get(w)) for w in {*tables[0], *want} if tables[0].get(w) != want.get(w)]
        m.check(not differ, name, "table by", key, len(differ), "rows differ, such as", differ[:2])


def categories_at(run, t_ns):
    return collections.Counter({r["category"]: r["live_b"] for r in m.rows("peak", run, "--by", "category", "--at", f"{t_ns}ns", "--device", "cpu")})


def compare_peak(name, merged, runs, starts):
    """What is there when the merged trace is at its peak, of what categories; each process at that time."""
    at_ns = merged["cpu"]["peak_ns"]
    want = collections.Counter()
    for run, start in zip(runs, starts):
        at = at_ns + min(starts) - start
        last = m.query(f"SELECT dur_ns FROM run WHERE name = '{run}'")[0]["dur_ns"]
        if at >= 0:
            want += categories_at(run, min(at, last))
        elif devices(run)["cpu"]["start_b"]:
            return
    got = +categories_at(name, at_ns)
    m.check(got == want, name, "categories at the peak", got, want)
    seen["peaks"] += 1


def advised(run):
    return {row["advice"] for row in m.rows("advise", run, "--all", "--device", "cpu") if row["applies"]} & BY_OPS


def compare_advice(name, runs):
    """What is to be changed in one of the processes, and in no other."""
    got, want = advised(name), set().union(*(advised(run) for run in runs))
    m.check(got == want, name, "advice", sorted(got), "not", sorted(want))
    seen["with advice"] += bool(want)


def compare(name, parts, delays=APART):
    """parts: lists of events."""
    own = [moved(events, 1000 * seen["merged"] + 11 + i, delay) for i, (events, delay) in enumerate(zip(parts, delays))]
    runs = [import_as(f"{name}-{i}", events) for i, events in enumerate(own)]
    # A program that merges them may put them behind each other, or in order of time.
    every = sorted((e for events in own for e in events), key=lambda e: e["ts"]) if len(parts) == 3 else [e for events in own for e in events]
    import_as(name, every)
    merged, alone = devices(name), [devices(run) for run in runs]
    seen["merged"] += 1
    seen["with steps"] += bool(m.query(f"SELECT 1 AS yes FROM v_step WHERE run = '{name}' LIMIT 1"))
    compare_blocks(name, runs)
    if "cpu" not in merged:
        return
    compare_devices(name, merged, alone)
    compare_tables(name, runs)
    compare_advice(name, runs)
    compare_peak(name, merged, runs, [start_of(run, events) for run, events in zip(runs, own)])


def with_other_steps(events):
    return [e | {"name": e["name"].replace("ProfilerStep#", "ProfilerStep#1")} for e in events]


def verdicts():
    """Whoever builds a model in the recording uses nothing older, whatever others do meanwhile."""
    for name in ("leak_steps+noleak_steps", "leak_steps+leak_steps"):
        peak = devices(name)["cpu"]["peak_b"]
        for limit, want in ((peak, 0), (peak - 1, 1)):
            code, out, _ = m.run("check", name, "--max-peak", f"{limit}B", codes=(0, 1, 3))
            m.check(code == want, name, "check --max-peak", limit, "exit", code, out)
        _, out, _ = m.run("info", name)
        m.check("allocated before the recording" not in out, name, "a note on older blocks", out)


def samples():
    all_events = {s: events_of(os.path.join(os.environ["SAMPLES"], s, "trace.json.gz")) for s in SAMPLES}
    for a, b in (("leak_steps", "noleak_steps"), ("leak_steps", "leak_steps"), ("cnn_b16", "cnn_b32"), ("cnn_b16", "leak_steps"),
                 ("loop", "loop"), ("checkpoint", "cnn_b16"), ("fork_join", "loop"), ("nested", "noleak_steps"), ("cache_steps", "loop")):
        compare(f"{a}+{b}", [all_events[a], all_events[b]])
    for delays, word in ((TOGETHER, "together"), (FAR, "far")):
        compare(f"noleak-{word}", [all_events["noleak_steps"]] * 2, delays)
        compare(f"three-{word}", [all_events[s] for s in ("leak_steps", "cnn_b16", "loop")], delays)
    compare("other-steps", [all_events["leak_steps"], with_other_steps(all_events["leak_steps"])], TOGETHER)
    compare("three", [all_events[s] for s in ("leak_steps", "noleak_steps", "cnn_b32")])


def loops():
    """What tests/loops has, each merged with another one; every fifth with two."""
    with open(os.path.join(LOOPS, "truth.json")) as f:
        names = [t["name"] for t in json.load(f)]
    for i in range(0, len(names), 3):
        chosen = names[i:i + 2] + ([names[(i + 40) % len(names)]] if i % 5 == 0 else [])
        parts = [events_of(os.path.join(LOOPS, n + ".json.gz")) for n in chosen]
        if len(parts) > 1 and all(any(e["ph"] == "X" for e in p) for p in parts):
            compare("+".join(chosen), parts, TOGETHER if i % 4 else APART)


def figures():
    """What advice says beside its own figure is of the device, or not said: a process alone has no peak of it."""
    data = os.path.join(HERE, "..", "recordings", "advice", "keep_data.json.zst")
    events = [e for e in json.loads(subprocess.run(["zstd", "-dc", data], capture_output=True, check=True).stdout)["traceEvents"] if e.get("ph") != "M"]
    import_as("totals", moved(events, 7, 0) + moved(events, 8, 3))
    rows = {row["advice"]: row for row in m.rows("advise", "totals", "--all", "--only", "no_grad,detach") if row["applies"]}
    m.check(len(rows) == 3 and all("in 2 of 2 processes" in rows[what]["because"] for what in ("no_grad", "detach")), "totals: advice", list(rows))
    for what, row in rows.items():
        m.check(row["bound"] == "up_to" and "the peak is" not in row["because"], "totals:", what, row["bound"], row["because"])


samples()
verdicts()
figures()
loops()
print(dict(seen))
for what, least in (("merged", 55), ("with older", 40), ("with an estimate", 40), ("with some who use nothing older", 5), ("peaks", 50), ("with steps", 4), ("with advice", 20)):
    m.check(seen[what] >= least, "merged traces", what, seen[what], "fewer than", least)
m.finish(1500)
