#!/usr/bin/env python3
"""--device with a kind of device, "cuda": verdicts are on all of that kind, comparisons on the same device of all runs."""

import json
import os

import mt

m = mt.Matrix()


def trace(name, steps, devices):
    """A trace in which each device of {index: (bytes that come and go, bytes that stay)} does so in every step."""
    events, at, address = [], 100.5, 1 << 40
    for number in range(steps):
        start = at
        for device, (passing, kept) in devices.items():
            records = [(at + 2, passing), (at + 3, -passing)] if passing else []
            events.append({"ph": "X", "cat": "cpu_op", "name": f"op{device}", "pid": 1, "tid": 1, "ts": at + 1, "dur": 8})
            for ts, size, where in [(*r, address) for r in records] + ([(at + 4, kept, address + (1 << 39))] if kept else []):
                events.append({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts,
                               "args": {"Bytes": size, "Addr": where, "Device Type": 1, "Device Id": device}})
            at, address = at + 10, address + (1 << 20)
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "ts": start, "dur": at - start})
    with open(f"{name}.json", "w") as file:
        json.dump({"traceEvents": events, "of": name}, file)
    m.run("import", f"{name}.json", "--name", name)


trace("sound", 8, {0: (100000, 0), 1: (100, 0)})
trace("sound again", 8, {0: (100000, 0), 1: (100, 0)})
for i in (1, 2, 3):
    trace(f"leaky{i}", 8, {0: (100000, 0), 1: (0, 100 * i)})
# The first of the kind is cuda:0, which is sound.
for command, code in ((("leaks", "leaky1", "--fail"), 1), (("leaks", "sound", "--fail"), 0), (("leaks", "leaky1", "leaky2", "leaky3", "--fail"), 1),
                      (("check", "leaky1", "--max-growth-per-step", "10"), 1), (("check", "sound", "--max-growth-per-step", "10"), 0),
                      (("check", "leaky2", "--baseline", "sound", "--max-at-end-growth", "0"), 1),
                      (("diff", "sound", "leaky1", "--exit-code"), 1), (("diff", "sound again", "sound", "--exit-code"), 0)):
    for device, expected in (("cuda", code), ("cuda:1", code), ("cuda:0", 0)):
        told, _, err = m.run(*command, "--device", device, codes=(0, 1))
        m.check(told == expected, command, device, "exit", told, err)
    told, _, _ = m.run(*command, codes=(0, 1))
    m.check(told == code, command, "without --device", told)
checks = [row["device"] for row in m.json("check", "leaky1", "--max-peak", "1MiB", "--device", "cuda")["rows"]]
m.check(checks == ["cuda:0", "cuda:1"], "a rule for a kind is for each of them", checks)

# The device with most bytes is another one in each run.
trace("first", 1, {0: (0, 9000), 1: (0, 1000)})
trace("other", 1, {0: (0, 100), 1: (0, 5000)})
trace("alone", 1, {1: (0, 700)})
both = m.json("diff", "first", "other", "--device", "cuda")
m.check((both["params"]["device"], both["totals"]["base_peak_b"], both["totals"]["new_peak_b"]) == ("cuda:0", 9000, 100), "diff", both["totals"])
ends = m.json("leaks", "first", "other", "--device", "cuda", "--all")
m.check([(row["first_at_end_b"], row["at_end_b"], row["site"]) for row in ends["rows"]] == [(9000, 100, "op0")], "leaks", ends["rows"])
moved = m.json("diff", "first", "alone", "--device", "cuda")
m.check(moved["totals"]["new_peak_b"] == 700 and "Compared is first on cuda:0 with alone on cuda:1." in moved["notes"], "a device of one run alone", moved["notes"])
trend = m.json("trend", "first", "other")
m.check([row["peak_b"] for row in trend["rows"]] == [9000, 5000] and any("cuda:0, but cuda:1 of other" in note for note in trend["notes"]), "trend", trend)
m.check([row["peak_b"] for row in m.json("trend", "first", "other", "--device", "cuda:0")["rows"]] == [9000, 100], "trend of one")
m.run("report", "other", "first", "--device", "cuda", "-o", "page.html")
with open("page.html") as file:
    page = file.read()
m.check("memtool diff first other --section peak --device cuda:1" in page and "--device cuda<" not in page, "a page is about one device")
os.remove("page.html")
m.finish(40)
