#!/usr/bin/env python3
"""What an allocator reserves: the same in memory, segments, fragmentation and timeline, now and at its peak."""

import pickle

import inputs
import mt

m = mt.Matrix()


def reserved(run, device):
    name = device["device"]
    memory = mt.by(m.rows("memory", run.name, "--device", name), "metric").get(("reserved",))
    if not memory or inputs.is_odd(run.name):
        return
    segments = m.rows("segments", run.name, "--device", name)
    held = sum(row["size_b"] for row in segments)
    m.check(memory["current_b"] == held, run.name, name, "reserved now: memory", memory["current_b"], "segments", held)
    parts = {}
    for row in m.rows("fragmentation", run.name, "--device", name):
        parts.setdefault(row["moment"], {}).setdefault(row["what"], row["bytes_b"])
        m.check(row["bytes_b"] is None or row["bytes_b"] >= 0, run.name, name, "fragmentation below 0", row)
    if "end" in parts:
        m.check(parts["end"]["reserved"] == held, run.name, name, "reserved now: fragmentation", parts["end"]["reserved"], "segments", held)
    for moment, part in parts.items():
        known = [part.get(what) for what in ("requested", "rounding", "pending_free", "split", "unused") if part.get(what) is not None]
        m.check(not known or "requested" not in part or sum(known) == part["reserved"], run.name, name, "parts of reserved at", moment, part)
        m.check(part.get("largest_hole") is None or part["largest_hole"] <= part["reserved"], run.name, name, "largest hole at", moment, part)
    peak = memory["peak_b"]
    top = m.query(f"SELECT max(s.value_b) AS b FROM sample s JOIN device d ON d.id = s.device_id JOIN run r ON r.id = d.run_id "
                  f"WHERE r.name = '{run.name}' AND d.name = '{name}' AND s.metric = 'reserved'")[0]["b"]
    if top is not None:
        m.check(peak is None or peak == top, run.name, name, "reserved peak: memory", peak, "samples", top)
        rows = m.rows("timeline", run.name, "--device", name, "--metric", "reserved")
        known = [row["max_b"] for row in rows if row["max_b"] is not None]  # before the first sample nobody knows
        m.check(max(known, default=None) == top, run.name, name, "reserved peak: timeline", top)
        m.check(all(row["max_b"] is not None for row in rows[len(rows) - len(known):]), run.name, name, "reserved is known from its first sample on")
        if "reserved peak" in parts:
            m.check(parts["reserved peak"]["reserved"] == top, run.name, name, "reserved peak: fragmentation", parts["reserved peak"], top)
    sites = m.rows("segments", run.name, "--device", name, "--by", "site")
    m.check(all(row["holds_b"] >= 0 for row in sites), run.name, name, "segments --by site below 0")
    for size in ("1", "19MiB", "1GiB"):
        m.run("fragmentation", run.name, "--device", name, "--fit", size)


for run in m.imported(inputs.all_inputs()):
    if run.is_snapshot:
        for device in run.devices:
            reserved(run, device)
# the smallest integer, which is NULL elsewhere, is an address and a stream like another
events = [{"action": "alloc", "addr": 1 << 63, "size": 512, "stream": -(1 << 63), "frames": [], "time_us": 10**15},
          {"action": "free_completed", "addr": 1 << 63, "size": 512, "stream": -(1 << 63), "frames": [], "time_us": 10**15 + 1}]
with open("smallest.pickle", "wb") as out:
    pickle.dump({"segments": [], "device_traces": [events]}, out)
m.run("import", "smallest.pickle", codes=(0,))
rows = m.query("SELECT b.address, b.stream FROM block b JOIN run r ON b.alloc_id >= r.alloc_first WHERE r.name = 'smallest'")
m.check(rows == [{"address": -(1 << 63), "stream": -(1 << 63)}], "the smallest integer", rows)
# a program that names cuda:1 for each tensor leaves device 0 current: regions are of that one, which has no events
events = [{"action": "alloc", "addr": 1 << 20 | 512 * n, "size": 512, "stream": 0, "frames": [], "time_us": 10**15 + 10 * n} for n in range(4)]
marks = [{"stage": stage, "name": name, "device": 0, "time_us": 10**15 + t} for stage, name, t in (
    ("START", "ProfilerStep#0", 0), ("START", "here", 9), ("END", "here", 11), ("END", "ProfilerStep#0", 15), ("START", "ProfilerStep#1", 15),
    ("END", "ProfilerStep#1", 30))]
with open("current.pickle", "wb") as out:
    pickle.dump({"segments": [], "device_traces": [[], events], "external_annotations": marks}, out)
m.run("import", "current.pickle", codes=(0,))
rows = m.query("SELECT scope, step FROM v_alloc WHERE run = 'current' ORDER BY alloc_record")
m.check([tuple(row.values()) for row in rows] == [(None, 0), ("here", 0), (None, 1), (None, 1)], "regions of an idle device", rows)
m.run("export", "current", "--step", "0", "-o", "current_part.pickle", codes=(0,))
m.run("import", "current_part.pickle", codes=(0,))
rows = m.query("SELECT scope FROM v_alloc WHERE run = 'current_part' ORDER BY alloc_record")
m.check([row["scope"] for row in rows] == [None, "here"], "regions of an idle device, exported", rows)
# the same where device 0 has events, too; what is between two regions of one microsecond is of the one that begins
events = [[{"action": "alloc", "addr": device << 30 | 512 * n, "size": 512, "stream": 0, "frames": [], "time_us": 10**15 + 10 * n} for n in range(5)] for device in range(2)]
marks = [{"stage": stage, "name": name, "device": 0, "time_us": 10**15 + t} for stage, name, t in (
    ("START", "a", 5), ("END", "a", 10), ("START", "b", 10), ("START", "c", 15), ("END", "c", 20), ("END", "b", 20), ("START", "a", 20), ("END", "a", 30))]
wanted = [None, "b", "a", "a", None]
with open("abutting.pickle", "wb") as out:
    pickle.dump({"segments": [], "device_traces": events, "external_annotations": marks}, out)
with open("two_named.pickle", "wb") as out:
    pickle.dump({"segments": [], "device_traces": events, "external_annotations": marks + [mark | {"device": 1} for mark in marks[2:6]]}, out)
for name, of_other in (("abutting", wanted), ("two_named", [None, "b", "c", None, None])):
    m.run("import", f"{name}.pickle", codes=(0,))
    m.run("export", name, "--from", "5us", "-o", f"{name}_part.pickle", codes=(0,))
    m.run("import", f"{name}_part.pickle", codes=(0,))
    for run in (name, f"{name}_part"):
        for device, scopes in (("cuda:0", wanted), ("cuda:1", of_other)):
            rows = m.query(f"SELECT scope FROM v_alloc WHERE run = '{run}' AND device = '{device}' ORDER BY alloc_record")
            m.check([row["scope"] for row in rows] == scopes, run, device, "regions", rows)
    steps = m.query(f"SELECT name FROM v_op WHERE run = '{name}' ORDER BY start_ns, name")
    m.check(len(steps) == (4 if name == "abutting" else 6), name, "regions are ops once", steps)
m.finish(at_least=500)
