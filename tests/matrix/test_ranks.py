#!/usr/bin/env python3
"""memtool ranks: figures equal those of the recorder's own running total, and of the reports on each run."""

import glob
import gzip
import json
import os
import re
import shutil

import inputs
import jobs
import mt

m = mt.Matrix()
SAMPLES = os.environ["SAMPLES"]
RECORDINGS = os.path.join(SAMPLES, "..", "tests", "recordings", "ranks")


def replayed(path):
    """Of a trace: rank, ranks of the job, the highest sum of its memory records, and that of each step."""
    with gzip.open(path, "rt") as file:
        trace = json.load(file)
    steps, records = [], []
    for event in trace["traceEvents"]:
        step = re.match(r"ProfilerStep#(\d+)$", str(event.get("name")))
        if step and event.get("ph") == "X" and event.get("cat") == "user_annotation":
            steps.append((event["ts"], int(step[1])))
        if event.get("name") == "[memory]":
            records.append((event["ts"], event["args"]["Bytes"]))
    records.sort(key=lambda record: record[0])
    starts = sorted(steps)
    level = peak = 0
    by_step = {number: 0 for _, number in starts}
    at = -1
    for ts, size in records:
        while at + 1 < len(starts) and starts[at + 1][0] <= ts:
            at += 1
            by_step[starts[at][1]] = level
        level += size
        peak = max(peak, level)
        if at >= 0:
            by_step[starts[at][1]] = max(by_step[starts[at][1]], level)
    # A step that begins between two records starts with what is there.
    return trace["distributedInfo"]["rank"], trace["distributedInfo"]["world_size"], peak, by_step


def look_at(group, files, stages):
    truth = {rank: (peak, steps) for rank, _, peak, steps in map(replayed, files)}
    answer = m.json("ranks", group)
    rows = [row for row in answer["rows"] if row["section"] == "rank"]
    m.check(sorted(row["rank"] for row in rows) == sorted(truth), group, "ranks", [row["rank"] for row in rows])
    for row in rows:
        older = m.json("peak", row["run"])["totals"]["peak_b"]
        m.check(row["peak_b"] == older, group, "peak of ranks and of peak", row["rank"], row["peak_b"], older)
        m.check(row["stage"] == stages.get(row["rank"]), group, "stage", row["rank"], row["stage"])
        at_peak = m.rows("peak", row["run"])
        m.check(row["site"] == max(at_peak, key=lambda site: site["at_peak_b"])["site"], group, "largest site", row["rank"], row["site"])
        window = m.json("peak", row["run"], "--step", str(row["peak_step"]))["totals"]
        m.check(window["peak_b"] == row["peak_b"] and window["at_ns"] == row["peak_ns"], group, "step of the peak", row["rank"])
    steps = m.rows("ranks", group, "--per", "step")
    m.check(len(steps) == sum(len(s) for _, s in truth.values()), group, "rows per step", len(steps))
    for row in steps:
        same = [s for s in m.rows("peak", row["run"], "--per", "step") if s["step"] == row["step"]]
        m.check(len(same) == 1 and same[0]["peak_b"] == row["peak_b"], group, "peak per step", row)
    # What the rank with most holds more adds up to the difference of the peaks.
    more = [row for row in answer["rows"] if row["section"] == "outlier"]
    if more:
        most = max(rows, key=lambda row: row["peak_b"])
        base = [row for row in rows if row["run"] == answer["totals"]["compared_to"]]
        m.check(len(base) == 1 and mt.total(more, "at_peak_delta_b") == most["peak_b"] - base[0]["peak_b"], group, "sum of what it holds more")
        m.check(all(row["new_at_peak_b"] - row["base_at_peak_b"] == row["at_peak_delta_b"] for row in more), group, "differences")
    return rows, truth, more


def import_group(group, files):
    m.run("import", *files, "--group", group)


data, stages = sorted(glob.glob(os.path.join(SAMPLES, "ranks", "*.gz"))), sorted(glob.glob(os.path.join(RECORDINGS, "*.gz")))
m.check(len(data) == 4 and len(stages) == 4, "recordings", len(data), len(stages))
import_group("data", data)
rows, truth, more = look_at("data", data, {})
for row in rows:  # no free in these is of a block that is older than the recording
    m.check(row["peak_b"] == truth[row["rank"]][0], "peak of the raw records", row["rank"], row["peak_b"], truth[row["rank"]][0])
m.check([row["rank"] for row in rows if row["outlier"]] == [2], "outlier", [row["rank"] for row in rows if row["outlier"]])
m.check(rows[0]["rank"] == 2 and more, "the largest is first")
import_group("stages", stages)
look_at("stages", stages, {0: 0, 1: 0, 2: 1, 3: 1})
clusters = m.rows("ranks", "stages", "--by", "cluster")
m.check([(row["stage"], row["rank_n"], row["outlier_n"]) for row in clusters] == [(0, 2, None), (1, 2, None)], "clusters", clusters)

# Files that are given in place of a group get the same answers.
for group, files in (("data", data), ("stages", stages)):
    for options in ([], ["--per", "step"], ["--by", "cluster"]):
        one, other = m.rows("ranks", group, *options), m.rows("ranks", *files, *options)
        m.check([{**row, "run": None} for row in one] == [{**row, "run": None} for row in other], group, "files", options, one, other)

# Reports of one run take a group: they are about the rank that holds most, and say which.
highest = max(truth, key=lambda rank: truth[rank][0])
for command in (["peak"], ["peak", "--per", "step"], ["peak", "--by", "category"], ["timeline"], ["timeline", "--by", "site"], ["timeline", "--exact"]):
    alone, of_all = m.json(*command, f"rank{highest}"), m.json(*command, "--group", "data")
    totals = dict(of_all["totals"])
    m.check((totals.pop("rank", None), totals.pop("rank_n", None)) == (highest, len(truth)), command, "rank", of_all["totals"])
    m.check(totals == alone["totals"] and of_all["rows"] == alone["rows"] and of_all["runs"] == alone["runs"], command, "of a group is that of its rank")
    m.check(of_all["params"].get("group") == "data", command, "names the group", of_all["params"])
    m.check(any(f"rank {highest} holds most" in note for note in of_all["notes"]), command, "says which rank", of_all["notes"])
    m.check(f"of the 4 ranks of data, rank {highest} holds most at its peak" in m.run(*command, "--group", "data")[1] or "--exact" in command, command, "tells people")
    m.run(*command, "--group", "data", "rank0", codes=(2,))
    m.run(*command, "--group", "nobody", codes=(2,))

# Of some categories it is about the rank that holds most of these, and two groups are compared by them.
def two_categories(path, rank, activation, temporary):
    """Four steps, each with a block of an activation and one that is freed in the operator that makes it."""
    t = inputs.Trace()
    t.meta["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
    for step in range(4):
        at = 100 * step
        t.mark(f"ProfilerStep#{step}", at, 100)
        t.op("aten::relu", at + 10, 10, **{"Sequence number": step})
        t.op("aten::mm", at + 30, 10)
        t.op("aten::sum", at + 90, 5)
        for k, (after, size) in enumerate(((12, activation), (31, temporary), (35, -temporary), (91, -activation))):
            t.record(at + after, size, 64 * (2 * step + (1, 2, 2, 1)[k]))
    t.write(path)


sizes = {"before": ((1000, 500), (1000, 500)), "after": ((1500, 100), (1000, 5000))}
for group, of_rank in sizes.items():
    os.makedirs(group)
    for rank, pair in enumerate(of_rank):
        two_categories(f"{group}/rank{rank}.json", rank, *pair)
    m.run("import", group, "--group", group)
for words, most, order in (("activations", 0, [0, 1]), ("temporary", 1, [1, 0]), ("activations,temporary", 1, [1, 0])):
    of = [0 if word == "activations" else 1 for word in words.split(",")]
    held = {group: [sum(pair[i] for i in of) for pair in of_rank] for group, of_rank in sizes.items()}
    for command in ("peak", "timeline"):
        totals = m.json(command, "--group", "after", "--category", words)["totals"]
        m.check((totals["rank"], totals["peak_b"]) == (most, max(held["after"])), command, "--group --category", words, totals)
        m.check(f"rank {most} holds most at its peak" in m.run(command, "--group", "after", "--category", words)[1], command, words, "says which")
    answer = m.json("diff", "--group", "before", "--group", "after", "--category", words, "--exit-code", codes=(0, 1))
    pairs = [row for row in answer["rows"] if row["section"] == "rank"]
    want = [(r, held["before"][r], held["after"][r], "worse" if held["after"][r] > held["before"][r] else "not worse") for r in order]
    got = [(row["rank"], row["base_peak_b"], row["new_peak_b"], row["verdict"]) for row in pairs]
    m.check(got == want and answer["totals"]["rank"] == order[0], "diff --group --category", words, got, want)
    m.check(f"· cpu: {words.replace(',', ', ')}" in m.run("diff", "--group", "before", "--group", "after", "--category", words)[1].split("\n")[0], words, "title")

# The picture of ranks and steps has the figures of the rows, each field its own; unknown ones are no 0.
for group in ("data", "stages"):
    steps = m.rows("ranks", group, "--per", "step")
    _, picture, _ = m.run("ranks", group, "--per", "step", "--format", "svg")
    fields = re.findall(r'<rect class="(h\d|none)"[^>]*><title>rank (\d+), step (\d+): ([^<]*)</title>', picture)
    told = {(int(rank), int(step)): re.search(r"([\d,]+) B", words)[1].replace(",", "") for css, rank, step, words in fields if css != "none"}
    m.check(told == {(row["rank"], row["step"]): str(row["peak_b"]) for row in steps if row["peak_b"] is not None}, group, "figures of the picture",
            fields[:3])
    most = max(row["peak_b"] for row in steps)
    for css, rank, step, words in fields:
        if css != "none":
            m.check(css == f"h{int(told[int(rank), int(step)]) * 9 // most}", group, "shade", css, words)
m.check(m.run("ranks", "stages", "--format", "svg")[1] == picture, "the picture is always of steps")
m.run("ranks", "data", "--by", "cluster", "--format", "svg", codes=(2,))

# Two groups: rank by rank as diff has it of two runs, and all of that for the rank whose peak grew most.
os.makedirs("grown")
for rank, times in ((0, 1), (1, 10), (2, 3)):
    with gzip.open(data[rank], "rt") as file:
        text = re.sub(r'("Bytes": ?)(-?\d+)', lambda found: found[1] + str(int(found[2]) * times), file.read())
    with open(f"grown/rank{rank}.json", "w") as file:
        file.write(text + "\n")
m.run("import", "grown", "--group", "grown")
both = m.json("diff", "--group", "data", "--group", "grown", "--limit", "0")
m.check((both["params"]["base_group"], both["params"]["new_group"], both["totals"]["rank_n"]) == ("data", "grown", 3), "groups", both["params"])
pairs = [row for row in both["rows"] if row["section"] == "rank"]
m.check([row["rank"] for row in pairs] == sorted((0, 1, 2), key=lambda rank: -truth[rank][0] * (0, 9, 2)[rank]), "the worst rank is first", pairs)
m.check(both["totals"]["rank"] == pairs[0]["rank"], "the worst rank is named", both["totals"])
for row in pairs:
    one = m.json("diff", row["base_run"], row["new_run"], "--device", "cpu", "--limit", "0")
    m.check(all(row[key] == one["totals"][key] for key in ("base_peak_b", "new_peak_b", "peak_delta_b")), "diff of a rank", row, one["totals"])
    if row is pairs[0]:
        m.check({key: v for key, v in both["totals"].items() if key not in ("rank", "rank_n")} == one["totals"], "totals are those of the rank")
        shared = [{key: v for key, v in other.items() if key in one["rows"][0]} for other in both["rows"] if other["section"] != "rank"]
        m.check(shared == one["rows"], "rows are those of the rank")
m.check(any("1 rank of data has no counterpart in grown" in note for note in both["notes"]), "a rank of one group", both["notes"])
_, out, _ = m.run("diff", "--group", "data", "--group", "grown")
m.check(f"below, what changed in rank {pairs[0]['rank']}, whose peak grew most" in out, "people read which rank it is", out[:500])
same = m.run("diff", "--group", "data", "--group", "data")[1]
m.check("no peak grew; below, what changed in rank 0\n" in same, "nothing grew", same[:500])
fell = m.run("diff", "--group", "grown", "--group", "data")[1]
m.check("no peak grew; below" in fell or "whose peak fell least" in fell, "nothing grew either", fell[:500])
# --exit-code judges each rank as it does the two runs, and the group as the worst of them.
VERDICTS = {0: "not worse", 1: "worse", 3: "cannot tell"}
os.makedirs("swapped")
for rank, other in ((0, 2), (1, 1), (2, 0), (3, 3)):
    with gzip.open(data[other], "rt") as file, open(f"swapped/rank{rank}.json", "w") as out:
        out.write(re.sub(r'("rank": ?)\d+', rf"\g<1>{rank}", file.read()) + "\n\n")
m.run("import", "swapped", "--group", "swapped")
for base, new, threshold in (("data", "swapped", "0"), ("data", "swapped", "2MiB"), ("data", "grown", "0"), ("grown", "data", "0"), ("data", "data", "0"), ("swapped", "grown", "300%")):
    judged = ("--exit-code", "--threshold", threshold)
    code, out, _ = m.run("diff", "--group", base, "--group", new, *judged, "--format", "json", codes=(0, 1, 3))
    answer = json.loads(out)
    told = {row["rank"]: (row["verdict"], row["base_run"], row["new_run"]) for row in answer["rows"] if row["section"] == "rank"}
    for rank, (verdict, one, other) in told.items():
        alone, _, _ = m.run("diff", one, other, *judged, codes=(0, 1, 3))
        m.check(VERDICTS[alone] == verdict, "verdict of a rank", base, new, threshold, rank, verdict, alone)
    verdicts = [verdict for verdict, _, _ in told.values()] + ["cannot tell"] * ("grown" in (base, new))  # has no rank 3
    worst = 1 if "worse" in verdicts else 3 if "cannot tell" in verdicts else 0
    m.check(code == worst, "verdict of a group", base, new, threshold, code, told)
    m.check(("cannot_tell" in answer) == (code == 3), "it is said that it cannot be told", base, new, threshold)
    m.check(any(note.startswith(f"Of {len(verdicts)} ranks {verdicts.count('worse') or 'none'} got worse") for note in answer["notes"]), "how many", answer["notes"])
    for rank, (verdict, _, _) in told.items():
        said = any(note.startswith(f"rank {rank}: ") for note in answer["notes"])
        m.check(said == (code != 0 and verdict == VERDICTS[code]), "which, by how much", base, new, threshold, rank, answer["notes"])
    m.check((base, new, threshold) != ("data", "swapped", "0") or code == 1, "a rank that got worse", told)
_, out, _ = m.run("diff", "--group", "data", "--group", "swapped", "--exit-code", codes=(1,))
m.check("VERDICT" in out.split("\n")[1], "people read the verdicts", out[:500])
# A rank that moved to another device is compared on the one it has now, though it holds a little on the old one, too.
DEVICES = {"there": {0: {0: 1000, 1: 10}, 1: {1: 2000, 0: 50}}, "moved": {0: {0: 1000, 1: 10}, 1: {0: 9000, 1: 40}}, "left": {0: {0: 1000, 1: 10}, 1: {2: 1900}}}
for group, ranks in DEVICES.items():
    os.makedirs(group)
    for rank, devices in ranks.items():
        with open(f"{group}/{group}_rank{rank}.json", "w") as file:
            json.dump({"traceEvents": [event for i, (device, size) in enumerate(devices.items()) for event in (
                {"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": 100.5 + 20 * i, "dur": 9},
                {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 102.5 + 20 * i,
                 "args": {"Bytes": size, "Addr": (rank * 8 + i + 1) << 32, "Device Type": 1, "Device Id": device}})]}, file)
    m.run("import", group, "--group", group)
for new, options, code in (("moved", (), 1), ("moved", ("--device", "cuda"), 1), ("left", (), 3), ("left", ("--device", "cuda"), 3), ("there", (), 3)):
    told, out, _ = m.run("diff", "--group", "there", "--group", new, *options, "--exit-code", "--format", "json", codes=(0, 1, 3))
    answer = json.loads(out)
    m.check(told == code, "verdict of a rank that moved", new, options, told, answer["notes"])
    first = [row for row in answer["rows"] if row["section"] == "rank"][0]
    m.check(all(first[key] == answer["totals"][key] for key in ("base_peak_b", "new_peak_b", "peak_delta_b")), "the rank's and what is told of it", new, answer["totals"])
    m.check(mt.total([row for row in answer["rows"] if row["section"] == "peak"], "at_peak_delta_b") in (first["peak_delta_b"], None), "its sites", new)
    m.check(new != "moved" or f"Compared is there_rank1 on cuda:1 with moved_rank1 on cuda:0." in answer["notes"], "which devices", answer["notes"])

# A rank without the device that is compared is no rank that did not get worse.
for group in ("part", "whole"):
    os.makedirs(group)
    for rank in (0, 1):
        type = 1 if rank == 0 or group == "whole" else 0
        with open(f"{group}/{group}_rank{rank}.json", "w") as file:
            json.dump({"traceEvents": [{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 102.5,
                                        "args": {"Bytes": 1000 + rank, "Addr": 1 << 32, "Device Type": type, "Device Id": type - 1}}], "of": group}, file)
    m.run("import", group, "--group", group)
for base, new in (("part", "whole"), ("whole", "part"), ("part", "part")):
    answer = m.json("diff", "--group", base, "--group", new, "--device", "cuda", "--exit-code", codes=(3,))
    m.check([(row["rank"], row["verdict"]) for row in answer["rows"] if row["section"] == "rank"] == [(0, "cannot tell" if base == new else "not worse"), (1, "cannot tell")], base, new, "verdicts", answer["rows"])
    m.check("rank 1: Run 'part_rank1' has no device cuda: cannot tell whether that got worse." in answer["notes"], base, new, "why", answer["notes"])

# Nor is a rank of the job that neither group has; one that got worse is worse all the same.
for group, grown in (("lack", 0), ("lack_too", 0), ("lack_more", 5)):
    jobs.write(group, [10 + grown, 11, 12, 13], groups=[])
    m.run("import", *(f"{group}/rank{rank}.json" for rank in (0, 1, 3)), "--group", group)
for new, code, words in (("lack_too", 3, "Of 4 ranks none got worse; of 1 it cannot be told."), ("lack_more", 1, "Of 4 ranks 1 got worse; of 1 it cannot be told.")):
    _, _, err = m.run("diff", "--group", "lack", "--group", new, "--exit-code", codes=(code,))
    m.check(words in err, new, "a rank that neither has", err)
m.run("import", "lack_too/rank2.json", "--group", "lack_too")
_, _, err = m.run("diff", "--group", "lack", "--group", "lack_too", "--exit-code", codes=(3,))
m.check("Of 4 ranks none got worse; of 1 it cannot be told." in err, "a rank that one has counts once", err)

# Nor is a group without the device of the other, without any memory, or without a rank in common; only what is named is wrong usage.
def bare_rank(group, rank, *events):
    os.makedirs(group, exist_ok=True)
    with open(f"{group}/{group}_rank{rank}.json", "w") as file:
        json.dump({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": f"{group}{rank}", "pid": 1, "tid": 1, "ts": 1.5, "dur": 9}, *events]}, file)


ON_CPU = {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2.5, "args": {"Bytes": 1000, "Addr": 1 << 32, "Device Type": 0, "Device Id": -1}}
for group, ranks, events in (("on_cpu", (0, 1), (ON_CPU,)), ("unrecorded", (0, 1), ()), ("further", (2, 3), (ON_CPU,))):
    for rank in ranks:
        bare_rank(group, rank, *events)
    m.run("import", group, "--group", group)
for pair in (("on_cpu", "whole"), ("on_cpu", "unrecorded"), ("on_cpu", "further")):
    for base, new in (pair, pair[::-1]):
        judged = ("diff", "--group", base, "--group", new, "--exit-code")
        answer = m.json(*judged, codes=(3,))
        m.check(answer and answer.get("answer", 0) is None and answer["cannot_tell"]["why"], base, new, "it is said that it cannot be told")
        m.run(*judged, "--device", "xpu", codes=(2,))
        m.run(*judged[:-1], codes=(2,))
m.run("diff", "--group", "on_cpu", "--group", "no such", "--exit-code", codes=(2,))

# Where one counts what is older than its recording and others leave it out, no verdict rests on the peaks.
os.mkdir("based")
for i, path in enumerate(data):
    with gzip.open(path, "rt") as file, open(f"based/based_rank{i}.json", "w") as out:
        out.write(file.read() + "\n" * 3)
m.run("import", "based/based_rank0.json", "--base", "8MiB", "--group", "based")
m.run("import", *(f"based/based_rank{i}.json" for i in (1, 2, 3)), "--group", "based")
SAID = "based_rank0 includes memory allocated before its recording, based_rank1 excludes it: none is judged by its peak. Import all with --base."
for command in (("ranks", "based"), ("trend", "based"), ("peak", "--group", "based")):
    answer = m.json(*command)
    m.check(SAID in answer["notes"], command, "says that they do not compare", answer["notes"])
    m.check(not [row for row in answer["rows"] if row.get("outlier") is not None or row.get("section") == "change"], command, "no verdict")
    m.check(answer["totals"].get("peak_changed_in") is None and answer["totals"].get("at_end_changed_in") is None, command, "no change", answer["totals"])
m.check([row["outlier_n"] for row in m.rows("ranks", "based", "--by", "cluster")] == [None], "no outliers of a cluster")
m.check("peak: " in (text := m.run("trend", "based")[1]) and text.count("not judged") == 2, "people read it of the levels", text)
m.check("none is called an outlier" in m.run("ranks", "based")[1], "and of ranks")

# Files whose names begin alike for longer than names are kept.
LONG = os.path.join("n" * 120, "m" * 140)
for rank, size in ((0, 1000), (1, 5000), (2, 1200)):
    os.makedirs(f"{LONG}/rank{rank}")
    with open(f"{LONG}/rank{rank}/dump.json", "w") as file:
        json.dump({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": f"op{rank}", "pid": 1, "tid": 1, "ts": 100.5, "dur": 9},
                                   {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 102.5,
                                    "args": {"Bytes": size, "Addr": 1 << 32, "Device Type": 0, "Device Id": -1}}]}, file)
for options in ((), ("--sort", "site")):
    rows = [row for row in m.json("ranks", *(f"{LONG}/rank{rank}/dump.json" for rank in (0, 1, 2)), *options)["rows"] if row["section"] == "rank"]
    m.check({row["rank"]: row["site"] for row in rows} == {0: "op0", 1: "op1", 2: "op2"}, "details of the right rank", rows)

for refused in (["--group", "data"], ["--group", "data", "--group", "grown", "rank0"], ["--group", "data", "--group", "nobody"],
                ["--group", "data", "--group", "grown", "--exit-code", "--device", "cuda:9"]):
    m.run("diff", *refused, codes=(2,))
for options in ([], ["--format", "markdown"], ["--per-step"], ["--columns", "site,at_peak_delta_b"], ["--format", "csv", "--columns", "at_peak_delta_b"], ["--limit", "1"]):
    m.run("diff", "--group", "data", "--group", "grown", *options)

# Without being told by the recorder: by the names, whatever order they come in; one rank twice; one missing.
os.mkdir("job")
for i, path in enumerate(reversed(data)):
    with gzip.open(path, "rt") as file:
        text = re.sub(r'"distributedInfo": .*', "", file.read())
    for name in (f"job/dump_{i}.json", f"job/oom_rank-{i}_17.json"):
        with open(name, "w") as out:
            out.write(text.replace('"schemaVersion": 1', f'"schemaVersion": 1, "made_for": "{name}"'))
import_group("numbers", sorted(glob.glob("job/dump_*")))
m.check({row["rank"]: row["peak_b"] for row in m.rows("ranks", "numbers") if row["section"] == "rank"}
        == {3 - rank: peak for rank, (peak, _) in truth.items()}, "numbers in names")
import_group("words", sorted(glob.glob("job/oom_*")))
m.check({row["rank"]: row["peak_b"] for row in m.rows("ranks", "words") if row["section"] == "rank"}
        == {3 - rank: peak for rank, (peak, _) in truth.items()}, "ranks in names")
m.run("import", *data[:1], *data[3:], "--group", "some")
_, _, err = m.run("ranks", "some")
m.check("Of the 4 ranks of the job 2 are not among these runs: 1, 2." in err, "missing ranks", err)
for options in ((), ("--each",)):  # that those which are there keep a limit says nothing of the others
    lacking = "f the 4 ranks of the job 2 are not among these runs: 1, 2"
    _, out, err = m.run("check", "--group", "some", "--max-peak", "1TiB", *options, codes=(3,))
    m.check(f"?     peak, limit 1TiB: o{lacking}" in out and "1 rule for each of 2 runs: 1 inconclusive, 2 passed" in out, "check of a job without two of its ranks", options, out)
    m.check("name the runs to check these alone" in err, "what to do", options, err)
    rows = m.json("check", "--group", "some", "--max-peak", "1TiB", *options, codes=(3,))["rows"]
    m.check([row["verdict"] for row in rows] == ["pass", "pass", "inconclusive"] and rows[2]["run"] is None and lacking in rows[2]["why"], "programs, too", options, rows)
    m.check("skipped" in m.run("check", "--group", "some", "--max-peak", "1TiB", *options, "--format", "junit", codes=(3,))[1], "a skipped test", options)
    m.run("check", "--group", "some", "--max-peak", "1KiB", *options, codes=(1,))
    some = [row["run"] for row in rows[:2]]
    m.check(lacking in m.run("check", *some, "--max-peak", "1TiB", *options, codes=(0,))[2], "runs that are named are those alone", options)
os.mkdir("later")
for path in data:
    with gzip.open(path, "rt") as file:
        text = file.read().replace('"schemaVersion": 1', '"schemaVersion": 1, "again": 1')
    with open(os.path.join("later", os.path.basename(path)[:-3]), "w") as out:
        out.write(text)
import_group("twice", data + sorted(glob.glob("later/*")))
again = m.json("ranks", "twice")
m.check(len([row for row in again["rows"] if row["section"] == "rank"]) == 4, "one run of each rank", again["notes"])
m.check(any("further runs of a rank" in note for note in again["notes"]), "further runs are noted", again["notes"])
m.check(any("1 run of 1 rank is a further run of a rank" in note for note in m.json("ranks", data[0], data[0])["notes"]), "one further run")

# Over runs: each figure that of its run, the change where it is, its sites adding up.
def trend(order):
    """Imports the ranks of `data` in this order, each as a run of its own; the answer, and the peaks."""
    group = "t" + "".join(map(str, order))
    for i, rank in enumerate(order):
        with gzip.open(data[rank], "rt") as file:
            text = file.read().replace('"schemaVersion": 1', f'"schemaVersion": 1, "of": "{group}{i}"')
        with open("one.json", "w") as out:
            out.write(text)
        m.run("import", "one.json", "--name", f"{group}.{i}", "--group", group)
    return m.json("trend", group), group, [truth[rank][0] for rank in order]


truth = {rank: (peak, steps) for rank, _, peak, steps in map(replayed, data)}
for order, changed in (([0, 1, 3, 0, 2, 2], 4), ([2, 2, 2, 0, 1], 3), ([0, 1, 0, 3, 1, 0], None), ([0, 2], None), ([1, 1, 2], None), ([1, 1, 1, 2], 3), ([0, 3, 0, 3, 2], None)):
    answer, group, peaks = trend(order)
    rows = [row for row in answer["rows"] if row["section"] == "run"]
    m.check([row["peak_b"] for row in rows] == peaks, group, "peaks", rows)
    m.check([row["change_b"] for row in rows] == [None] + [b - a for a, b in zip(peaks, peaks[1:])], group, "changes", rows)
    m.check(answer["totals"].get("peak_changed_in") == (f"{group}.{changed}" if changed else None), group, "changed in", answer["totals"])
    sites = [row for row in answer["rows"] if row["section"] == "change"]
    m.check(bool(sites) == bool(changed), group, "sites of the change", len(sites))
    if changed:
        m.check(mt.total(sites, "at_peak_delta_b") == peaks[changed] - peaks[changed - 1], group, "sum of the change")
    m.run("trend", group, "--limit", "2")

# Ranks of one job are no development, nor repeats of one program.
OTHER_RANKS = "Each of these runs is of another rank"
m.check(OTHER_RANKS in " ".join(m.json("trend", "data")["notes"]) and OTHER_RANKS not in " ".join(m.json("trend", "t013022")["notes"]), "ranks are no runs over time")
jobs.write("more", [10, 20, 30])
jobs.write("less", [30, 20, 10])
jobs.write("of_one", [10, 20, 30], called="rank0.{}.json")
for folder in "more", "less", "of_one":
    ranks = [f"{folder}/{name}" for name in sorted(os.listdir(folder))]
    for runs in ranks, ranks[::2]:
        _, out, err = m.run("leaks", *runs, "--fail", codes=(3,))
        m.check(("are of different ranks" in err) == (folder != "of_one"), "from rank to rank nothing grows", runs, out, err)
peaks = sorted(row["peak_b"] for row in m.rows("ranks", "data") if row["section"] == "rank")
for options in ([], ["--each"]):
    _, out, err = m.run("check", "--group", "data", "--max-peak", str(peaks[-2] + 200000), *options, codes=(1,))
    m.check("1 rule for each of 4 runs: 1 failed, 3 passed" in out and ("These are ranks of a job, not repeats" in err) == (not options), "each rank is checked", out, err)
for host in range(3):  # each of which has one rank, its own 0
    os.makedirs(f"hosts/node{host}")
    jobs.write(f"host{host}", [host + 1])
    shutil.move(f"host{host}/rank0.json", f"hosts/node{host}/rank0.json")
m.run("import", "hosts", "--group", "hosts")
_, out, err = m.run("check", "--group", "hosts", "--max-peak", "2.5MiB", codes=(1,))
m.check("1 rule for each of 3 runs: 1 failed, 2 passed" in out and "These are ranks of a job, not repeats" in err, "hosts of one rank each", out, err)
jobs.write("strayed", [10, 10, 20, 10])
jobs.write("beside", [10], called="loader.json")
m.run("import", "strayed", "beside/loader.json", "--group", "strayed")
for options in (["--max-peak", "12MiB"], ["--max-peak-growth", "5%", "--baseline", "strayed/rank0.json"]):
    _, out, err = m.run("check", "--group", "strayed", *options, codes=(1,))
    m.check("1 rule for each of 5 runs: 1 failed" in out and "FAIL  rank2" in out, "ranks beside a run of which nothing says a rank", out, err)
m.check("spread" in m.run("check", "--group", "t22", "--max-peak", str(peaks[-1] + 200000), codes=(0,))[1] if trend([2, 2]) else False, "repeats of a rank are repeats")

# 21 times what five runs swing by may be chance: it is said, not judged.
UNSURE = "too few to tell whether it changed with t03032.4"
m.check(any(f"peak: 5 runs are {UNSURE}" in note for note in m.json("trend", "t03032")["notes"]), "unsure", m.json("trend", "t03032")["notes"])
m.check(f"5 runs, {UNSURE}" in m.run("trend", "t03032")[1], "people read that it is unsure")
m.run("report", "--group", "t03032", "-o", "unsure.html")
with open("unsure.html", encoding="utf-8") as page:
    m.check("Cannot tell" in page.read(), "so does the page")

# Dumps without a history: what they hold is no peak, and what was allocated before is unknown.
STATES = [os.path.join(SAMPLES, "snapshots", "state_only.pickle")] * 2
answer, (_, out, err) = m.json("trend", *STATES), m.run("trend", *STATES)
m.check([row["alloc_b"] for row in answer["rows"]] == [None, None], "allocated is unknown", answer["rows"])
m.check("ALIVE" in out and "peak" not in out.lower() and "alive in the latest" in out and "have no history" in err, "no peak", out)
m.run("import", STATES[0], "--name", "state", "--group", "states")
# Of how many ranks nothing is known is said, too.
m.run("import", os.path.join(SAMPLES, "snapshots", "fragmented.pickle"), "--name", "whole", "--group", "partly")
m.run("import", os.path.join(SAMPLES, "snapshots", "bare_list.pickle"), "--name", "part", "--group", "partly")
m.check("of 1 rank nothing is known" in m.run("peak", "--group", "partly")[1], "people read of how many ranks nothing is known")
m.check(any("of 1 rank nothing is known" in note for note in m.json("peak", "--group", "partly")["notes"]), "programs, too")
m.run("export", "--rollup", "states", "-o", "states.tsv")
with open("states.tsv") as file:
    head, *lines = (line.rstrip("\n").split("\t") for line in file)
for row in (dict(zip(head, line)) for line in lines):
    m.check({row["alloc_b"], row["freed_b"], row["alloc_n"]} == {"\\N"}, "no such figure of a dump", row)

# Recorders of a process: times of each in its own unit, and what they count is not the same.
m.run("import", *(os.path.join(SAMPLES, name) for name in ("heap/heaptrack.zst", "heap/dhat_200k.json", "process/printed.log")), "--group", "mixed")
answer = m.json("ranks", "mixed", "--device", "heap")
times = {row["run"]: row["peak_ns"] for row in answer["rows"] if row["section"] == "rank"}
m.check(times == {"heaptrack": 991000000, "dhat_200k": None}, "times of other units, and a process log is no rank", times)
m.check(any("count differently" in note for note in answer["notes"]), "recorders that differ", answer["notes"])
_, text, _ = m.run("ranks", "mixed", "--device", "heap")
m.check("991 ms" in text and "42,901,462 instructions" in text, "times as people read them", text)
_, text, _ = m.run("export", "--rollup", "mixed", "--format", "tsv")
told = [dict(zip(text.split("\n")[0].split("\t"), line.split("\t"))) for line in text.split("\n")[1:] if line.startswith("run\t")]
m.check({row["name"]: row["peak_ns"] for row in told} == {"heaptrack": "991000000", "dhat_200k": "\\N", "printed.log": "\\N"}, "times in the rollup", told)

# What recorders say may be anything.
os.mkdir("odd")
# The picture has the figures of the rows, and marks the run with which they changed.
for order in ([0, 1, 3, 2], [0, 0, 0, 0, 0, 2, 2, 2, 2, 2]):
    answer, group, peaks = trend(order)
    _, picture, _ = m.run("trend", group, "--format", "svg")
    bars = re.findall(r'<rect class="(bar|mark)"[^>]*><title>([^<]*): [^<]*?([\d,]+) B\)?</title>', picture)
    runs = [row for row in answer["rows"] if row["section"] == "run"]
    m.check([(name, int(size.replace(",", ""))) for _, name, size in bars] == [(row["run"], row["peak_b"]) for row in runs], group, "columns of the picture", bars)
    m.check([name for css, name, _ in bars if css == "mark"] == [name for name in [answer["totals"].get("peak_changed_in")] if name], group, "what changed", bars)

ODD = ["1", '"x"', "null", "[]", '{"rank": "1"}', '{"rank": 1.5, "world_size": -3}', '{"rank": 99999999999999999999}',
       '{"rank": -1, "world_size": 9223372036854775807, "pg_config": 7}', '{"rank": 2, "pg_config": ["a", 1, {"ranks": 5, "pg_desc": "mesh_pp"}]}',
       '{"rank": 3, "pg_config": [{"pg_desc": ["mesh_pp"], "ranks": [3]}]}', '{"rank": 4, "pg_config": [{"pg_desc": "mesh_pp", "ranks": [9, 4]}]}']
for i, told in enumerate(ODD):
    with gzip.open(data[0], "rt") as file:
        text = re.sub(r'"distributedInfo": .*', lambda _: f'"distributedInfo": {told},', file.read())
    with open(f"odd/{'abcdefghijk'[i]}.json", "w") as out:
        out.write(text)
m.run("import", *sorted(glob.glob("odd/*")), "--group", "odd", codes=(0, 2))
odd = [row for row in m.rows("ranks", "odd") if row["section"] == "rank"]
m.check(len(odd) >= 8 and all(row["peak_b"] == truth[0][0] for row in odd), "odd places", len(odd))
m.check([row["stage"] for row in odd if row["rank"] == 4] == [1], "the stage of rank 4", odd)
for options in ([], ["--per", "step"], ["--by", "cluster"], ["--sort", "rank"], ["--sort", "site", "--name", "relu"], ["--limit", "1"],
                ["--format", "markdown"], ["--columns", "rank,site"], ["--device", "cpu"]):
    for group in ("data", "odd", "stages", "numbers"):
        m.run("ranks", group, *options)
for refused in (["nothing"], ["data", "--by", "site"], ["data", "--per", "name"], ["data", "--device", "cuda"], ["data", "--sort", "x"]):
    m.run("ranks", *refused, codes=(2,))
shutil.rmtree("odd")


# Clusters: ranks that are alike by design, as groups of processes or names tell, or as they lie.
MIB = 1 << 20


def held_by(folder, *job):
    jobs.write(folder, *job)
    m.run("import", folder, "--group", folder)


def clusters_are(folder, places, outliers):
    """places: of each cluster stage, tp, lowest and highest rank, how many."""
    got = [tuple(row[k] for k in ("stage", "tp", "first_rank", "last_rank", "rank_n")) for row in m.rows("ranks", folder, "--by", "cluster")]
    m.check(got == places, folder, "clusters", got)
    rows = [row for row in m.rows("ranks", folder) if row["section"] == "rank"]
    got = [row["rank"] for row in sorted(rows, key=lambda row: row["rank"]) if row["outlier"]]
    m.check(got == outliers, folder, "outliers", got)


# Stages and copies of their parts: pp 2 x dp 4 x tp 2, ranks of a stage and of the first part hold more; one twice that.
held_by("hybrid", *jobs.hybrid())
clusters_are("hybrid", [(0, 0, 0, 6, 4), (0, 1, 1, 7, 4), (1, 0, 8, 14, 4), (1, 1, 9, 15, 4)], [6])
# As Megatron calls them; parts without copies are compared with the others of their stage.
megatron = jobs.mesh("PIPELINE_MODEL_PARALLEL_GROUP", lambda r: r % 4, 8) + jobs.mesh("TENSOR_MODEL_PARALLEL_GROUP", lambda r: r // 4, 8)
held_by("megatron", jobs.noisy([30, 30, 60, 30, 10, 10, 10, 10]), megatron)
clusters_are("megatron", [(0, None, 0, 3, 4), (1, None, 4, 7, 4)], [2])
# Groups that say nothing of what a rank has part no one: experts, shards of an optimizer of which the last is small.
held_by("shards", jobs.noisy([20] * 7 + [16]), jobs.mesh("mesh_dp_shard", lambda r: 0, 8) + jobs.mesh("mesh_ep", lambda r: r // 4, 8))
clusters_are("shards", [(None, None, 0, 7, 8)], [7])
m.check("rank 7 with only" in m.run("ranks", "shards")[1], "shards", "an outlier that has less")
# A first rank that also evaluates is one that holds more, and the only one.
held_by("first", jobs.noisy([26] + [20] * 15))
clusters_are("first", [(None, None, 0, 15, 16)], [0])
# Nothing tells the stages, but ranks are alike in blocks; one is not.
held_by("blocks", jobs.blocks())
clusters_are("blocks", [(None, None, 0, 3, 4), (None, None, 4, 7, 4), (None, None, 8, 11, 4), (None, None, 12, 15, 4)], [9])
m.check(any("4 equal blocks" in note for note in m.json("ranks", "blocks")["notes"]), "blocks", "that they are a guess is said")
# A heat map of fewer ranks has the outliers, whatever their numbers; what others than the highest hold is asked of `diff`.
_, out, _ = m.run("ranks", "data", "--per", "step", "--limit", "1")
m.check(re.search(r"^ +2  \S*rank2", out, re.M) and "3 more rows; --limit 0 shows all" in out and "outlier: rank 2 with" in out, "the heat map of one", out)
many = jobs.noisy([20] * 40)
many[35] = 10
many[30] = 60
many[31] = 50
held_by("many", many)
_, out, _ = m.run("ranks", "many", "--limit", "3")
m.check("outlier: rank 30 with 60 MiB; the median of the job is 20 MiB\n" in out.replace("20.01", "20") and re.search(r"outlier: rank 31 .*: memtool diff rank\d+ rank31 --section peak\n", out), "how to compare others", out)
m.run(*re.search(r": memtool (diff rank\d+ rank31 --section peak)\n", out).group(1).split())
for fewer in (1, 2):  # ranks that are gone are noted where recorders do not tell how many there are
    os.remove(f"many/rank{fewer * 7}.json")
    m.run("import", "many", "--group", f"many{fewer}")
    gone = "1 is not among these runs: 7." if fewer == 1 else "2 are not among these runs: 7, 14."
    m.check(any(f"Of the 40 ranks of the job {gone}" in note for note in m.json("ranks", f"many{fewer}")["notes"]), "holes in the numbers", fewer)
held_by("pairs", jobs.noisy([20] * 8))
for rank in (1, 3, 5):
    os.remove(f"pairs/rank{rank}.json")
m.run("import", "pairs", "--group", "others")
m.check(not any("are not among" in note for note in m.json("ranks", "others")["notes"]), "not so where many are")
# Every rank another: no blocks, and no outliers among them.
held_by("none_alike", [10 + 3 * (r * 7 % 16) for r in range(16)])
clusters_are("none_alike", [(None, None, 0, 15, 16)], [])
# Names of vLLM and of SGLang.
held_by("vllm", jobs.noisy([20] * 8), None, "dp0_pp0_tp{0}_dcp0_ep{0}_rank{0}.17000000000.pt.trace.json")
clusters_are("vllm", [(None, None, 0, 7, 8)], [])
held_by("sglang", jobs.noisy([20, 20, 20, 60]), None, "1700000000.5-TP-{}.trace.json")
clusters_are("sglang", [(None, None, 0, 3, 4)], [3])
# PIDs in names are no ranks.
held_by("pids", [20, 20], None, "node1_{0}4711.1700000000000.pt.trace.json")
m.check([row["rank"] for row in m.rows("ranks", "pids") if row["section"] == "rank"] == [None, None], "pids")
# What `record` saw of all processes is beside the ranks, and no run of a trend, unless it is asked for.
held_by("recorded", jobs.noisy([20, 20, 20, 60]))
before = {form: m.run("trend", "recorded", "--format", form)[1] for form in ("csv", "json", "svg")}
m.run("import", os.path.join(SAMPLES, "process", "mprofile.dat"), "--name", "log", "--group", "recorded")
_, told, err = m.run("trend", "recorded", "--format", "csv")
m.check(told == before["csv"] and "1 process log of the group: left out" in err, "trend beside a process log", told, err)
m.check(m.run("trend", "recorded", "--format", "svg")[1] == before["svg"], "its picture")
m.run("report", "--group", "recorded", "-o", "recorded.html")
with open("recorded.html", encoding="utf-8") as file:
    page = file.read()
m.check("Over the runs" not in page and "latest run" not in page and "outlier: rank 3" in page, "the page of a job beside a process log")
for command in ("ranks", "trend"):
    known = {row["run"]: row["peak_b"] for row in m.rows(command, "recorded", "--device", "process") if row["peak_b"] is not None}
    m.check(list(known) == ["log"] and known["log"] > 300 << 20, command, "a process that is asked for", known)
rolled = [line.split("\t") for line in m.run("export", "--rollup", "recorded", "--format", "tsv")[1].splitlines()]
compared = {row[11]: row[6] for row in rolled if row[0] == "run"}
held_by("counted", [20, 21, 22], None, "dump_{}.json")
m.run("import", os.path.join(SAMPLES, "process", "psrecord.txt"), "--name", "other_log", "--group", "counted")
m.check(sorted(line.split("\t")[3] for line in m.run("export", "--rollup", "counted", "--format", "tsv")[1].splitlines() if line.startswith("run\t")) == ["0", "1", "2", "\\N"],
        "ranks by their numbers beside a process log")
with open("without.json", "w", encoding="utf-8") as file:
    file.write('{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":1,"dur":2}]}')
m.run("import", "without.json", "--name", "without")
with_memory = "of no rank"
m.run("import", os.path.join(SAMPLES, "nested", "trace.json.gz"), "--name", with_memory)
_, _, err = m.run("oom", with_memory, "without")
m.check("1 of these does not record failed allocations" in err, "oom beside a trace without memory records", err)
_, _, err = m.run("ranks", with_memory, with_memory, codes=(2,))
m.check("is given twice" in err, "a run given twice", err)
for name in ("a_rank.json.gz", "another.json.gz"):  # that did the same
    shutil.copy(os.path.join(SAMPLES, "nested", "trace.json.gz"), name)
for names in (("without.json", "./without.json"), ("without", "without.json"), (os.path.abspath("without.json"), with_memory, "without.json")):
    _, _, err = m.run("ranks", *names, codes=(2,))
    m.check("is given twice" in err, "a file given twice", names, err)
m.run("ranks", "a_rank.json.gz", "another.json.gz", codes=(0,))
for pair in (("without", "without"), (with_memory, "without"), ("without", with_memory)):
    _, _, err = m.run("diff", *pair, codes=(2,))
    m.check("--device" not in err, "a run without any device", err)
    m.run("diff", *pair, "--exit-code", codes=(3,))
m.check(compared.pop("log") == "0" and set(compared.values()) == {"1"} and len(compared) == 4, "what rollups compare", compared)
m.finish(200)
