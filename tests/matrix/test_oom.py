#!/usr/bin/env python3
"""memtool oom: its figures are those of fragmentation and peak at that moment; who asked is what the file says."""

import glob
import json
import os
import pickle
import shutil
import sys

import inputs
import mt

m = mt.Matrix()
SAMPLES = os.environ["SAMPLES"]


def asked(path):
    """The failed allocations of a snapshot of ours, which may be read: size, free on the device, names on its stack."""
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    if not isinstance(snapshot, dict):
        return []
    events = [e for trace in snapshot.get("device_traces", []) for e in trace if e["action"] == "oom"]
    return [(e["size"], e.get("device_free"), {f"{os.path.basename(f['filename'])}:{f['line']} {f['name']}" for f in e.get("frames", [])}) for e in events]


def look_at(run):
    devices = [d["device"] for d in run.devices]
    found = 0
    for device in devices:
        answer = m.json("oom", run.name, "--device", device)
        if not answer or not answer["rows"]:
            continue
        found += 1
        rows, totals = answer["rows"], answer["totals"]
        held = [row for row in rows if row["section"] == "held"]
        m.check(mt.total(held, "bytes_b") in (totals["in_use_b"], None), run.name, "held adds up", mt.total(held, "bytes_b"), totals["in_use_b"])
        at = m.rows("peak", run.name, "--device", device, "--at", f"{totals['at_ns']}ns")
        later = m.query(f"SELECT count(*) AS n FROM v_alloc WHERE run = '{run.name}' AND (alloc_ns = {totals['at_ns']} OR freed_ns = {totals['at_ns']})")
        if at and later and not later[0]["n"]:
            m.check({r["site"]: r["live_b"] for r in at} == {r["site"]: r["bytes_b"] for r in held}, run.name, "held is what peak says", device)
        facts = {row["what"]: row["bytes_b"] for row in rows if row["section"] == "memory"}
        moments = [row for row in m.rows("fragmentation", run.name, "--device", device) if row["moment"].startswith("out of memory")]
        last = [row for row in moments if row["moment"] == (moments[-1]["moment"] if moments else None)]
        for row in last:
            if row["what"] != "held" and len({r["moment"] for r in moments}) == len([r for r in moments if r["what"] == "asked_for"]):
                m.check(facts.get(row["what"]) == row["bytes_b"], run.name, "fragmentation", row["what"], facts.get(row["what"]), row["bytes_b"])
        if "reserved" in facts:
            m.check(facts["requested"] + facts["rounding"] + facts["split"] + facts["unused"] == facts["reserved"], run.name, "reserved adds up", facts)
            m.check(any(row["section"] == "remedy" for row in rows), run.name, "remedies")
        for size in ("1GiB", str(1 << 50)):
            wide = {row["what"]: row["bytes_b"] for row in m.json("oom", run.name, "--device", device, "--capacity", size)["rows"]}
            if facts.get("device_free") is not None and "reserved" in facts:
                m.check(wide["outside_pytorch"] == wide["capacity"] - facts["reserved"] - facts["device_free"], run.name, "outside PyTorch", wide)
        for options in ([], ["--format", "markdown"], ["--ascii"]):
            m.run("oom", run.name, "--device", device, *options)
    return found


found = known = 0
for run in m.imported(inputs.snapshots() if hasattr(inputs, "snapshots") else inputs.all_inputs()):
    found += look_at(run)
for path in sorted(glob.glob(os.path.join(SAMPLES, "snapshots", "*.pickle"))):
    name = "own-" + os.path.basename(path)
    if m.run("import", path, "--name", name, "--replace", "--group", "dumps", codes=(0, 2))[0]:
        continue
    truth = asked(path)
    answer = m.json("oom", name, codes=(0, 2, 3))
    if not truth or not answer or not answer["rows"]:
        continue
    known += 1
    size, free, names = truth[-1]
    facts = {row["what"]: row["bytes_b"] for row in answer["rows"] if row["section"] == "memory"}
    m.check(facts["asked_for"] == size and facts["device_free"] == free, name, "asked for, free", facts, size, free)
    m.check((answer["totals"]["site"] in names) if names else answer["totals"]["site"] is None, name, "who asked", answer["totals"]["site"], names)
m.check(found >= 2 and known >= 2, "failed allocations found", found, known)

# Several: the earliest first, and each figure that of the run's own page.
several = m.json("oom", "dumps")
rows = several["rows"]
times = [row["epoch_ns"] for row in rows if row["epoch_ns"] is not None]
m.check(times == sorted(times) and rows and len(rows) == several["totals"]["oom_rank_n"], "in order of time", times)
for row in rows:
    one = m.json("oom", row["run"], "--device", row["device"])
    facts = {r["what"]: r["bytes_b"] for r in one["rows"] if r["section"] == "memory"}
    m.check(row["oom_n"] > 1 or row["asked_for_b"] == facts["asked_for"] and row["reserved_b"] == facts.get("reserved") and row["site"] == one["totals"]["site"], "a row is its page", row)
    m.check(row["after_first_ns"] == row["epoch_ns"] - times[0], "after the first", row)
# What fails need not be where most is allocated; and where failures are not recorded, nobody knows.
FRAME = [{"name": "f", "filename": "t.py", "line": 3}]
os.mkdir("failing")
for rank, fails in ((0, 1), (1, 0), (2, 1), (3, None)):
    traces = []
    for device, size in ((0, 10 << 20), (1, 2 << 20)):
        events = [{"action": "segment_alloc", "addr": (device + 1) << 40, "size": 20 << 20}, {"action": "alloc", "addr": (device + 1) << 40, "size": size}]
        events += [{"action": "oom", "device_free": 5 << 20, "size": (100 + rank) << 20}] if fails == device else []
        traces.append([{**e, "stream": 0, "frames": FRAME, "time_us": 10**15 + 1000 * rank + 5 * i} for i, e in enumerate(events)])
    with open(f"failing/fails_rank{rank}.pickle", "wb") as file:
        pickle.dump({"segments": [], "device_traces": traces}, file)
m.run("import", "failing", "--group", "failing")
rows = m.json("oom", "failing")["rows"]
m.check([(row["rank"], row["device"], row["asked_for_b"] >> 20) for row in rows] == [(0, "cuda:1", 100), (1, "cuda:0", 101), (2, "cuda:1", 102)], "each on its device", rows)
m.check([row["rank"] for row in m.json("oom", "failing", "--device", "cuda:0")["rows"]] == [1], "those of a device")
for rank, device in ((0, "cuda:1"), (1, "cuda:0")):
    for options in ([], ["--device", "cuda"]):
        _, out, _ = m.run("oom", f"fails_rank{rank}", *options)
        m.check(f" {device} · out of memory at 10 us: {100 + rank} MiB" in out, "where it failed", rank, out[:200])
os.mkdir("beside")  # all fail where less is allocated, the first of them with more there than others
for rank in range(5):
    traces = []
    for device, sizes in ((0, [10]), (1, [2, 6] if rank == 3 else [2])):
        events = [{"action": "segment_alloc", "addr": (device + 1) << 40, "size": 20 << 20}]
        events += [{"action": "alloc", "addr": ((device + 1) << 40) + (k << 23), "size": size << 20} for k, size in enumerate(sizes)]
        events += [{"action": "oom", "device_free": 5 << 20, "size": 100 << 20}] if device else []
        traces.append([{**e, "stream": 0, "frames": FRAME, "time_us": 10**15 + rank - 1000 * (rank == 3) + 5 * i} for i, e in enumerate(events)])
    with open(f"beside/beside_rank{rank}.pickle", "wb") as file:
        pickle.dump({"segments": [], "device_traces": traces}, file)
m.run("import", "beside", "--group", "beside")
page = m.run("oom", "beside")[1]
m.check("rank 3 ran out first" in page and "--device cuda:1: what it held there" in page and "no more than others" not in page, "compared where it failed", page)
page = m.run("oom", "beside", "--device", "cuda:1")[1]
m.check("look first at t.py:3 f: 6 MiB more" in page, "and found there", page)
m.check([row["run"] for row in m.json("oom", "beside")["rows"]][0] == "beside_rank3", "the group")
m.run("import", "beside/beside_rank3.pickle", "--group", "log_")
m.check(m.json("oom", "log_")["totals"].get("oom_rank_n") == 1, "a run whose name begins like a group does not hide it")
m.check("no allocation failed on cuda:0 while" in m.run("oom", "fails_rank0", "--device", "cuda:0")[1], "not on the other one")
m.check("no allocation failed while" in m.run("oom", "fails_rank3")[1], "on none")
events = [("segment_alloc", 4096, 32 << 20, 0), ("alloc", 4096, 1 << 20, 1), ("alloc", 4096 + (1 << 20), 20 << 20, 2), ("oom", 0, 64 << 20, 2)]
with open("one_moment.pickle", "wb") as file:
    pickle.dump({"segments": [], "device_traces": [[{"action": a, "device_free" if a == "oom" else "addr": addr, "size": size, "stream": 0, "frames": FRAME, "time_us": 10**15 + t}
                                                    for a, addr, size, t in events]]}, file)
m.check("0 B at first, 21 MiB at most" in m.run("oom", "one_moment.pickle")[1], "what came in the microsecond of the failure was in use then")
log = os.path.join(SAMPLES, "heap", "heaptrack.zst")
shutil.copy(log, "rank5.zst")  # of another file: the same one twice is refused
m.run("import", "rank5.zst", "--name", "log_rank5", "--group", "failing")
m.check(any("1 of these does not record failed" in note for note in m.json("oom", "fails_rank0", "fails_rank3", "log_rank5")["notes"]), "a run that does not record it")
m.check("cannot_tell" in m.json("oom", "log_rank5", log), "none that records it")
m.check(" 0 ran out" not in m.run("oom", "log_rank5", log)[1], "and none is said to have had enough")

# A crashed job: 64 dumps in a folder called as the group, one of which keeps what others free.
sys.path.insert(0, SAMPLES)
import make_snapshots as made  # pylint: disable=wrong-import-position,wrong-import-order

KEPT = [made.GATHER, made.frame("remember", "/home/me/train.py", 27), made.STEP, made.MAIN]


def dump(rank, keeps, fails_us):
    """Ten steps on a GPU of 100 MiB."""
    gpu = made.Device(time_us=1_700_000_000_000_000 + rank * 13 % 50)
    gpu.alloc(gpu.segment(20 * made.MIB, made.INPUT_STACK), 9 * made.MIB, made.INPUT_STACK)
    work = gpu.segment(40 * made.MIB, made.FORWARD_STACK)
    for _ in range(10):
        block = gpu.alloc(work, 3 * made.MIB + rank % 4 * 1024, made.FORWARD_STACK)
        if keeps:
            gpu.alloc(gpu.segment(4 * made.MIB, KEPT), 3 * made.MIB, KEPT)
        gpu.free(block, made.BACKWARD_STACK)
    if fails_us is not None:
        gpu.now += fails_us
        gpu.record("oom", made.MIB, 50 * made.MIB, made.FORWARD_STACK)
    return made.snapshot(gpu)


def job(name, keeps, fails_us):
    """Dumps as torchtitan calls them, in a group called as their folder; what import prints last."""
    os.makedirs(name)
    for rank in range(64):
        with open(os.path.join(name, f"rank{rank}_memory_snapshot.pickle"), "wb") as file:
            pickle.dump(dump(rank, keeps(rank), fails_us(rank)), file)
    return m.run("import", name, "--group", name)[1].splitlines()


last = job("crashed", lambda rank: rank == 37, lambda rank: 0 if rank == 37 else 1000 + rank)
m.check(last[-2:] == ["64 runs in the group crashed: memtool ranks crashed compares them",
                      "64 ran out of memory: memtool oom crashed says which first, and why"], "import says what to ask", last[-3:])
first = m.json("oom", "crashed")
m.check(first["rows"][0]["rank"] == 37 and first["totals"]["first_run"] == first["rows"][0]["run"], "the rank it began with", first["totals"])
m.check(len(first["rows"]) == 64 and len(m.run("oom", "crashed", "--limit", "3", "--format", "csv")[1].splitlines()) == 4, "rows of programs")
page = m.run("oom", "crashed")[1]
for told in ("rank 37 ran out first", "54 more rows; --limit 0 shows all", "what rank 37 held at its peak beyond rank", "look first at train.py:27 remember: 30 MiB more",
             "memtool oom rank37_memory_snapshot: who held what"):
    m.check(told in page, "crashed", told, page)
m.check("use less: train.py:27 remember holds most, 30 MiB" in m.run("oom", "rank37_memory_snapshot")[1], "the page names the line")
job("alone", lambda rank: rank == 5, lambda rank: 0 if rank == 5 else None)
page = m.run("oom", "alone")[1]
m.check("64 ranks · 1 ran out of memory" in page and "look first at train.py:27 remember" in page, "one of 64", page)
job("all_alike", lambda rank: False, lambda rank: 1000 + rank)
page = m.run("oom", "all_alike")[1]
m.check("no more than others: what it holds, all ranks hold" in page and "look first" not in page, "no outlier is made up", page)

os.makedirs("again")
for name, made_of in (("first_rank0", (0, False, 7)), ("later_rank0", (0, True, None)), ("first_rank1", (1, False, None))):
    with open(f"again/{name}.pickle", "wb") as file:
        pickle.dump(dump(*made_of), file)
m.run("import", "again", "--group", "again")
rows = m.json("oom", "again")["rows"]
m.check([row["run"] for row in rows] == ["first_rank0"], "the dump of a rank that failed, not that with the higher peak", rows)
m.check({row["run"] for row in m.rows("ranks", "again") if row["rank"] == 0} == {"later_rank0"}, "ranks show the higher peak")
m.run("oom", "again", "--device", "cuda:9", codes=(2,))
m.check([row["run"] for row in m.json("oom", "again", "--device", "cuda:0")["rows"]] == ["first_rank0"], "on the device asked for")
# Two dumps of a rank that failed on two devices: the one that is asked for counts.
os.makedirs("twice")
for name, traces in (("one_rank0", [[1, 50], []]), ("two_rank0", [[1], [2, 70]]), ("one_rank1", [[1, 60], [2]])):
    events = [[{"action": "alloc", "addr": 4096, "size": sum(mib[:1]) << 20, "stream": 0, "frames": FRAME, "time_us": 10**15}] * bool(mib)
              + [{"action": "oom", "device_free": 0, "size": at << 20, "stream": 0, "frames": FRAME, "time_us": 10**15 + at} for at in mib[1:]] for mib in traces]
    with open(f"twice/{name}.pickle", "wb") as file:
        pickle.dump({"segments": [], "device_traces": events}, file)
m.run("import", "twice", "--group", "twice")
for device, runs in (("cuda:0", ["one_rank0", "one_rank1"]), ("cuda:1", ["two_rank0"])):
    rows = m.json("oom", "twice", "--device", device)["rows"]
    m.check([(row["run"], row["device"]) for row in rows] == [(run, device) for run in runs], "of two failed dumps that on the device asked for", device, rows)
# Of several failures of one dump the first says when it began: rank 1 failed before rank 0, and last of all.
os.makedirs("retries")
for rank, times in ((0, (30, 40)), (1, (20, 90))):
    events = [{"action": "alloc", "addr": 4096, "size": 1 << 20, "stream": 0, "frames": FRAME, "time_us": 10**15}]
    events += [{"action": "oom", "device_free": 0, "size": at << 20, "stream": 0, "frames": FRAME, "time_us": 10**15 + at} for at in times]
    with open(f"retries/retries_rank{rank}.pickle", "wb") as file:
        pickle.dump({"segments": [], "device_traces": [events]}, file)
m.run("import", "retries", "--group", "retries")
answer = m.json("oom", "retries")
m.check([(row["rank"], row["asked_for_b"] >> 20, row["oom_n"], row["after_first_ns"]) for row in answer["rows"]] == [(1, 20, 2, 0), (0, 30, 2, 10000)],
        "the first failure of each dump", answer["rows"])
m.check(any("the first is shown" in note and "shows the last" in note for note in answer["notes"]), "which of several failures", answer["notes"])
m.check("asked for by" in m.run("oom", "retries_rank1")[1] and "90 MiB" in m.run("oom", "retries_rank1")[1], "the last failure of one dump")
m.check(answer["totals"]["first_run"] == "retries_rank1" and "rank 1 ran out first, 10 us before" in m.run("oom", "retries")[1], "who was first", answer["totals"])
# Of one that has no times nobody knows whether it was before the others, and of two of one microsecond none was the first.
os.makedirs("timeless")
for rank, clock in ((0, 0), (1, 50), (2, None), (3, 0)):
    events = [{"action": action, "addr": 4096, "device_free": 0, "size": 1 << 20, "stream": 0, "frames": FRAME} for action in ("alloc", "oom")]
    with open(f"timeless/rank{rank}.pickle", "wb") as file:
        pickle.dump({"segments": [], "device_traces": [[event if clock is None else {**event, "time_us": 10**15 + clock} for event in events]]}, file)
_, page, err = m.run("oom", *(f"timeless/rank{rank}.pickle" for rank in range(3)))
m.check("ran out first" not in page and "which failed first is not known" in err, "a dump without times", page, err)
m.check("rank 0 ran out first, 50 us before" in m.run("oom", "timeless/rank0.pickle", "timeless/rank1.pickle")[1], "those with times")
m.check("ran out first" not in m.run("oom", "timeless/rank0.pickle", "timeless/rank3.pickle")[1], "at one time")
m.run("import", os.path.join(os.environ["SAMPLES"], "process/mprofile.dat"), "--group", "again")
_, _, err = m.run("ranks", "again", "--format", "csv")
m.check("mprofile" not in m.run("ranks", "again")[1] and "1 process log of the group: left out" in err, "a process log is no rank", err)

# The dump of the one rank that failed beside traces of all: these count differently, and are not compared; what to ask is said.
os.makedirs("one_dump")
for rank in range(6):
    with open(f"one_dump/rank{rank}_trace.json", "w", encoding="utf-8") as file:
        json.dump({"distributedInfo": {"rank": rank, "world_size": 6}, "made": rank, "traceEvents": [
            {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2, "args": {"Bytes": 1 << 24, "Addr": 1 << 32, "Device Type": 1, "Device Id": 0}}]}, file)
with open("one_dump/rank4_memory_snapshot.pickle", "wb") as file:
    pickle.dump(dump(4, True, 0), file)
m.run("import", "one_dump", "--group", "one_dump")
page = m.run("oom", "one_dump")[1]
m.check(": who held what when it failed" in page and "beyond" not in page and "all ranks hold" not in page, "a dump beside traces", page)

# Events of segments may be left out (skip_actions): what was reserved before the end is then unknown where blocks had more.
events = [("alloc", 1 << 40, 4), ("alloc", 2 << 40, 50), ("oom", 1 << 20, 200), ("free_requested", 2 << 40, 50), ("free_completed", 2 << 40, 50)]
events = [{"action": action, "device_free" if action == "oom" else "addr": place, "size": size << 20, "stream": 0, "frames": FRAME, "time_us": 10**15 + i}
          for i, (action, place, size) in enumerate(events)]
blocks = [{"address": (1 << 40) + at, "size": size, "requested_size": size, "state": state, "frames": []} for at, size, state in ((0, 4 << 20, "active_allocated"), (4 << 20, 16 << 20, "inactive"))]
with open("skipped.pickle", "wb") as file:
    pickle.dump({"segments": [{"device": 0, "address": 1 << 40, "total_size": 20 << 20, "stream": 0, "segment_type": "large", "blocks": blocks}], "device_traces": [events]}, file)
reserved = next(row for row in m.rows("memory", "skipped.pickle") if row["metric"] == "reserved")
m.check(reserved["current_b"] == 20 << 20 and reserved["peak_b"] is None and reserved["total_alloc_b"] is None, "skipped", "reserved at the end alone", reserved)
m.check(m.rows("ranks", "skipped.pickle")[0]["reserved_peak_b"] is None, "skipped", "ranks")
m.check("reserved peak" not in {row["moment"] for row in m.rows("fragmentation", "skipped.pickle")}, "skipped", "fragmentation")
for command in (["memory"], ["fragmentation"], ["timeline"], ["timeline", "--metric", "reserved"]):
    m.check("what was reserved before the end is not known" in m.run(*command, "skipped.pickle")[2], "skipped", command, "says so")
m.check("what was reserved" not in m.run("timeline", "skipped.pickle", "--metric", "allocated")[2], "skipped", "of what is allocated nothing")
m.check("50 MiB in use then, 1 block, lies in no segment" in m.run("oom", "skipped.pickle")[2], "skipped", "oom")

# Or frees are: what a segment that is gone held counts on, and no event of a segment need be missing.
events = [("segment_alloc", 1 << 40, 20), ("alloc", 1 << 40, 15), ("segment_free", 1 << 40, 20), ("segment_alloc", 2 << 40, 20), ("alloc", 2 << 40, 15), ("oom", 1 << 20, 200)]
events = [{"action": action, "device_free" if action == "oom" else "addr": place, "size": size << 20, "stream": 0, "frames": FRAME, "time_us": 10**15 + i}
          for i, (action, place, size) in enumerate(events)]
blocks = [{"address": 2 << 40, "size": 20 << 20, "requested_size": 20 << 20, "state": "inactive", "frames": []}]
with open("unfreed.pickle", "wb") as file:
    pickle.dump({"segments": [{"device": 0, "address": 2 << 40, "total_size": 20 << 20, "stream": 0, "segment_type": "large", "blocks": blocks}], "device_traces": [events]}, file)
err = m.run("oom", "unfreed.pickle")[2]
m.check("15 MiB in use then, 1 block, lies in no segment known at that time: frees are missing, or" in err and "more was reserved" not in err, "frees are skipped", err)
reserved = [row for row in m.rows("memory", "unfreed.pickle") if row["metric"] == "reserved"]
m.check([row["peak_b"] for row in reserved] == [20 << 20], "frees are skipped", "the most reserved", reserved)

m.run("oom", "nothing", codes=(2,))
m.run("oom", "own-oom.pickle", "--capacity", "x", codes=(2,))
m.run("oom", "dumps", "--capacity", "80GiB", codes=(2,))
m.run("oom", "own-oom.pickle", "own-fragmented.pickle", "--capacity", "80GiB", codes=(2,))
for size, wrong in (("36MiB", False), ("35MiB", True)):  # 24 MiB were held, 12 MiB free
    m.check(("--capacity is less than" in m.run("oom", "own-oom.pickle", "--capacity", size)[2]) == wrong, "a capacity of", size)
m.run("oom", "own-oom.pickle", "--device", "cuda:7", codes=(2,))
m.finish(60)
