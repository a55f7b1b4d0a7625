#!/usr/bin/env python3
"""import FOLDER: what frameworks write, nested as they nest it, and which rank each file is of (docs/job-files.md has the same names)."""

import gzip
import json
import os
import pickle
import re
import resource
import shutil

import mt

m = mt.Matrix()
SAMPLES = os.environ["SAMPLES"]
DOCS = os.path.join(SAMPLES, "..", "docs", "job-files.md")

with gzip.open(os.path.join(SAMPLES, "nested", "trace.json.gz"), "rt") as sample:
    TRACE = json.load(sample)
with open(os.path.join(SAMPLES, "snapshots", "basic.pickle"), "rb") as sample:
    SNAPSHOT = pickle.load(sample)  # our own
with open(os.path.join(SAMPLES, "snapshots", "oom.pickle"), "rb") as sample:
    FAILED = pickle.load(sample)  # our own
made = 0


def write(path, told=None, world=4, dump=SNAPSHOT):
    """A recording that no other file has, of the kind that the name says; told: what it says of its rank; dump: of a snapshot."""
    global made
    made += 1
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if re.search(r"json(\.gz)?$", path):
        trace = dict(TRACE, made=made, **({"distributedInfo": {"rank": told, "world_size": world}} if told is not None else {}))
        with (gzip.open if path.endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
            json.dump(trace, file)
    else:
        with open(path, "wb") as file:
            pickle.dump(dict(dump, made=made), file)


def imported(folder, *options, codes=(0,)):
    m.db = os.path.abspath(f"{folder}{len(options)}.memtool.db")
    m.known.clear()
    code, out, err = m.run("import", folder, "--group", "job", *options, codes=codes)
    return out, err, code


def names():
    return sorted(row["name"] for row in m.query("SELECT name FROM run"))


# What each writes, "R" being the rank and, where it is in the name, "S" the stage (docs/job-files.md says where that is from).
FRAMEWORKS = {
    "torchtitan": ["memory_snapshot/iteration_8_exit/rankR_memory_snapshot.pickle"],
    "torchtitan-traces": ["profile_traces/iteration_10/rankR_trace.json"],
    "torchtitan-2026": ["profiling/traces/iteration_10/rankR_trace.json.gz"],
    "torchtune": ["profiling_outputs/iteration_10/rankR_memory_snapshot.pickle"],
    "megatron-oom": ["oom_rank-R_snapshot.pickle"],
    "megatron-bridge": ["nemo_run/snapshot_R.pickle"],
    "nemo": ["mem_profile/memory_snapshot-rankR.pickle"],
    "nemo-interval": ["mem_profile/memory_snapshot-rankR_iter40.pickle"],
    "nemo-1": ["out/memory_profile_rankR.pickle"],
    "vllm-rank": ["vllm-8e2f1-rank-R.1795299858916001024.pt.trace.json.gz"],
    "vllm-0.17": ["dp0_ppS_tp0_dcp0_ep0_rankR.1795299858916001024.pt.trace.json.gz"],
    "sglang": ["1758551299.0762882/1758551300.159891-TP-R-memory.pickle"],
    "tensorrt-llm": ["trace-rank-R.json"],
    "composer": ["run/torch_traces/rankR.20.pt.trace.json"],
    "composer-oom": ["run/torch_traces/rankR_oom_snapshot.pickle"],
    "accelerate": ["profile_R.json"],
    "lightning": ["fit-perf-logs-R.pt.trace.json"],
    "primus": ["primus-megatron-exp[llama2]-rank[R].1795299858916.pt.trace.json.gz"],
    "lmms-engine": ["memory_snapshot/oom_rankR.pickle"],
    "torch-handler": ["rank_R.1754338790131393427.pt.trace.json"],
    "of-a-folder": ["rank_R/trace.json"],
    "of-a-folder-further-up": ["rankR/step_100/2026-11-26/dump.pickle"],
    "of-hosts": ["2026-11-26/hostS/rankR.pickle"],
}
with open(DOCS, encoding="utf-8") as page:
    DOCUMENTED = [re.sub(r"\\\{.*?\\\}|\\\.\\\.\\\.", ".+", re.escape(name.split("/")[-1])) for name in re.findall(r"`([^`\n]+)`", page.read())]
for framework, patterns in FRAMEWORKS.items():
    for rank in range(4):
        for pattern in patterns:
            write(os.path.join(framework, pattern.replace("S", str(rank // 2)).replace("R", str(rank)) if "R" in pattern else pattern))
    out, err, _ = imported(framework)
    rows = m.rows("ranks", "job")
    told = sorted(row["rank"] for row in rows if row["section"] == "rank")
    m.check(told == [0, 1, 2, 3], framework, "ranks", told, err)
    if "ppS" in patterns[0]:
        m.check([row["stage"] for row in sorted(rows, key=lambda row: row["rank"])] == [0, 0, 1, 1], framework, "stages", rows)
    m.check(len(set(names())) == 4 and not any(re.search(r"-\d$", name) and name[:-2] in names() for name in names()), framework, "names say which file", names())
    m.check("passed over" not in err and "If they are jobs" not in err, framework, "nothing else is said", err)
    if not framework.startswith("of-"):
        files = [file for _, _, some in os.walk(framework) for file in some]
        m.check(any(re.fullmatch(pattern, file) for pattern in DOCUMENTED for file in files), framework, "is in docs/job-files.md", files)
# Those whose names do not say it: the trace does (vLLM before 0.11, DeepSpeed, torch's own handler).
for rank in range(4):
    write(f"told/host{rank % 2}_{4711 + rank * 7}.1795299858916001024.pt.trace.json.gz", told=3 - rank)
imported("told")
m.check({row["run"]: row["rank"] for row in m.rows("ranks", "job")} == {f"host{rank % 2}_{4711 + rank * 7}": 3 - rank for rank in range(4)}, "the recorder says the rank")

# Where nothing says it, how to tell it is said.
for name in ("nodeA_4711_1700000001", "nodeA_4712_1700000003", "nodeB_881_1700000002"):
    write(f"unnamed/{name}.pickle")
imported("unnamed")
ASKS = "Nothing says which rank a run is of: memtool runs --rename rank3 RUN tells it."
m.check(ASKS in m.json("ranks", "job")["notes"], "it asks for the rank")
m.run("runs", "--rename", "rank3", "nodeB_881_1700000002")
m.known.clear()
answer = m.json("ranks", "job")
m.check([row["rank"] for row in answer["rows"] if row["section"] == "rank" and row["run"] == "rank3"] == [3] and ASKS not in answer["notes"], "what was told", answer["rows"])

# Several steps: names have the step, each rank counts once, and nothing looks like two jobs.
for step in (5, 10):
    for rank in (0, 1):
        write(f"steps/memory_snapshot/iteration_{step}/rank{rank}_memory_snapshot.pickle")
out, err, _ = imported("steps")
m.check(names() == sorted(f"iteration_{step}/rank{rank}_memory_snapshot" for step in (5, 10) for rank in (0, 1)), "names of steps", names())
m.check([line.split(":")[0] for line in out.splitlines() if line.startswith("iteration")][::2] == ["iteration_5/rank0_memory_snapshot", "iteration_10/rank0_memory_snapshot"],
        "steps are in their order", out)
m.check("jobs" not in err, "steps are no jobs", err)
_, out, err = m.run("ranks", "job")
m.check("2 ranks" in out.splitlines()[0] and "2 runs of 2 ranks are further runs" in err and "iteration_10/rank0_memory_snapshot beside iteration_5/rank0_memory_snapshot" in err,
        "a rank counts once", out, err)
m.check(m.run("peak", "iteration_10/rank1_memory_snapshot")[0] == 0, "a run is found by such a name")

# Two jobs in one folder are told; also below a common folder. One that was read again with another group is in both.
for job in ("a-17", "b 18"):
    for rank in (0, 1, 2):
        write(f"two/outputs/{job}/rank{rank}.pickle")
_, err, _ = imported("two")
m.check("two: a-17 and b 18 each have a rank 0. If they are jobs, give each a group of its own: memtool import two/outputs/a-17 --group NAME" in err, "two jobs", err)
m.check(names() == sorted(f"{job}/rank{rank}" for job in ("a-17", "b 18") for rank in (0, 1, 2)), "names of two jobs", names())
m.db = os.path.abspath("alone.memtool.db")
_, _, err = m.run("import", "two")
m.check("jobs" not in err, "without a group there is nothing to mix", err)
# Hosts have other ranks each; a trace and a snapshot of a rank are no two jobs either.
for rank in range(4):
    write(f"kinds/traces/rank{rank}.json")
    write(f"kinds/memory/rank{rank}.pickle")
_, err, _ = imported("kinds")
m.check("jobs" not in err, "kinds are no jobs", err)

# A trace of a rank beside its snapshot: those of one recorder are compared, also where a few ranks have none.
GPU = [{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 102.5, "args": {"Bytes": 1 << 30, "Addr": 1 << 32, "Device Type": 1, "Device Id": 0}}]
for kept, snapshots in (("snapshot", range(8)), ("snapshot", range(2, 8)), ("trace", range(4))):
    folder = f"both{len(snapshots)}"
    for rank in range(8):
        os.makedirs(f"{folder}/traces", exist_ok=True)
        with open(f"{folder}/traces/rank{rank}_trace.json", "w", encoding="utf-8") as file:
            json.dump({"distributedInfo": {"rank": rank, "world_size": 8}, "traceEvents": GPU, "made": rank}, file)
        if rank in snapshots:
            write(f"{folder}/memory/rank{rank}_memory_snapshot.pickle")
    imported(folder)
    answer = m.json("ranks", "job")
    rows = [row for row in answer["rows"] if row["section"] == "rank"]
    m.check(all(kept in row["run"] for row in rows) and len(rows) == (len(snapshots) if kept == "snapshot" else 8), folder, "one recorder", rows)
    left = 8 if kept == "snapshot" else len(snapshots)
    m.check(any(note.startswith(f"{left} runs, such as") and " ranks have " in note for note in answer["notes"]), folder, "what is left out is said", answer["notes"])
    m.check(all(row["outlier"] is False for row in rows) and not any("none is judged" in note for note in answer["notes"]), folder, "they are judged", answer["notes"])
    missing = sorted(set(range(8)) - set(row["rank"] for row in rows))
    m.check(any("Of the 8 ranks of the job 2 are not among these runs: 0, 1" in note for note in answer["notes"]) == (missing == [0, 1]), folder, "who is missing", answer["notes"])

# A folder for each host, whose ranks count anew there: none is a further run of another, and what is told later counts.
def told_of_ranks():
    """Of each row of ranks whether the rank is known, the rank, the run; the notes."""
    answer = m.json("ranks", "job")
    rows = [row for row in answer["rows"] if row["section"] == "rank"]
    return sorted((row["rank"] is not None, -1 if row["rank"] is None else row["rank"], row["run"]) for row in rows), " ".join(answer["notes"])


def told_hosts(shape, hosts):
    """Of folders that are called as hosts these alone."""
    return " and ".join(host if shape != "digits" else f"{host}/memory_snapshot" for host in hosts[:2])


TAKEN = "are taken for hosts that each count their own"
for shape, hosts in (("words", ("node0", "node1", "node2")), ("addresses", ("10.0.3.17", "10.0.3.18", "10.0.4.2")), ("digits", ("r07u12n3", "r07u13n1", "r08u1n2"))):
    for host in hosts:
        for rank in range(4):
            for step in (5, 10):
                write(f"hosts-{shape}/job/{host}/memory_snapshot/iteration_{step}/rank{rank}.pickle")
    _, err, _ = imported(f"hosts-{shape}")
    m.check(("each have a rank" in err) == (shape == "digits"), shape, "hosts are no jobs", err)
    rows, notes = told_of_ranks()
    m.check([row[:2] for row in rows] == [(False, -1)] * 12 and {row[2].split("/")[0] for row in rows} == set(hosts), shape, "each process of each host", rows)
    m.check(f"{told_hosts(shape, hosts)} have the same ranks and {TAKEN}" in notes and "12 runs of 12 ranks are further runs" in notes, shape, "it is said", notes)
    m.check("12 ranks" in m.run("ranks", "job")[1].splitlines()[0] and f" {hosts[0]}" in m.run("peak", "--group", "job")[1], shape, "in words")
m.run("runs", "--rename", "rank7", "r07u13n1/memory_snapshot/iteration_10/rank3")
m.known.clear()
rows, _ = told_of_ranks()
m.check((True, 7, "rank7") in rows and sum(row[0] for row in rows) == 1, "a name that is told", rows)
# What the recorder says wins, and steps, repeats and jobs are no hosts.
for host in (0, 1):
    for rank in (0, 1):
        write(f"told-hosts/node{host}/rank{rank}.json", told=host * 2 + rank)
imported("told-hosts")
rows, notes = told_of_ranks()
m.check([row[1] for row in rows] == [0, 1, 2, 3] and TAKEN not in notes, "recorders say the rank", rows, notes)
# A snapshot beside a trace whose recorder knows its rank is of that rank, also where few have one; recorders are not compared.
for folder, count, dump in (("beside4", 4, SNAPSHOT), ("beside1", 1, SNAPSHOT), ("failed", 3, FAILED)):
    for host in (0, 1):
        for rank in range(4):
            write(f"{folder}/node{host}/traces/rank{rank}_trace.json", told=host * 4 + rank)
            if rank < count:
                write(f"{folder}/node{host}/memory/rank{rank}_memory_snapshot.pickle", dump=dump)
    imported(folder)
    rows, notes = told_of_ranks()
    m.check([row[1] for row in rows] == list(range(8)) and TAKEN not in notes, folder, "ranks that traces tell", rows, notes)
    failed = {row["run"]: row["rank"] for row in m.rows("oom", "job")}
    dumps = {f"node{host}/memory/rank{rank}_memory_snapshot": host * 4 + rank for host in (0, 1) for rank in range(count)}
    m.check(failed == (dumps if dump is FAILED else {}), folder, "of dumps, too", failed)
    m.check(("no allocation failed" in m.run("oom", "job")[1]) == (dump is SNAPSHOT), folder, "none failed")
    left = m.json("trend", "job")["rows"]
    m.check(len([row for row in left if row["section"] == "run"]) == 8 + 2 * count, folder, "none is lost")
# Of hosts nobody knows which ranks they have: none of these is said to be missing, but that some are.
for world, said in ((8, False), (12, True)):
    write(f"world{world}/traces/rank0_trace.json", told=0, world=world)
    for host in (0, 1):
        for rank in range(4):
            write(f"world{world}/node{host}/memory/rank{rank}_memory_snapshot.pickle")
    imported(f"world{world}")
    _, notes = told_of_ranks()
    m.check(("Of the 12 ranks of the job at least 3 are not among these runs." in notes) == said and ("not among" in notes) == said, world, "ranks that may be there", notes)
for shape, folders in (("repeats", ("run_1", "run_2")), ("dates", ("2026-11-26", "2026-11-27")), ("jobs", ("a-17", "b 18")), ("global", ("host0/0", "host1/2"))):
    for folder in folders:
        for rank in (0, 1):
            at = folder.split("/")
            write(f"no-hosts-{shape}/{at[0]}/rank{rank + int((at + [0])[1])}.pickle")
    imported(f"no-hosts-{shape}")
    rows, notes = told_of_ranks()
    m.check([row[1] for row in rows] == list(range(4 if shape == "global" else 2)) and TAKEN not in notes, shape, "are no hosts", rows, notes)
for day in (1, 2):
    write(f"no-hosts-days/day{day}/rank0.pickle")
imported("no-hosts-days")
m.check([row[1] for row in told_of_ranks()[0]] == [0], "a process over days is no two hosts")

# Of many files a line is said of each, and those that failed are named once more at the end.
for rank in range(20):
    write(f"many/rank{rank}.pickle")
    if rank % 2:
        with open(f"many/rank{rank}.pickle", "wb") as file:
            file.write(pickle.dumps(SNAPSHOT)[:2000 + rank])
out, err, _ = imported("many", codes=(2,))
m.check(out.splitlines() == [f"rank{rank}: allocator snapshot, cuda:0 peak 6.003 MiB" for rank in range(0, 20, 2)] + ["10 runs in the group job: memtool ranks job compares them"],
        "a line of each", out)
m.check(err.splitlines()[-1] == "Not imported: " + ", ".join(f"many/rank{rank}.pickle" for rank in range(1, 16, 2)) + ", ...", "those that failed", err[-500:])

# A folder in place of a run or group: what to do is said. Damaged files among those that are named are left out.
HINT = "memtool import many --group NAME reads the recordings in it."
for command in (("ranks", "many"), ("oom", "many"), ("peak", "many"), ("trend", "many"), ("ranks", "many", "steps")):
    m.check(HINT in m.run(*command, codes=(2,))[2], command, "a folder is no run", m.run(*command, codes=(2,))[2])
m.db = os.path.abspath("no-such.memtool.db")
m.check(HINT in m.run("peak", "many", codes=(2,))[2], "a folder, and no database")
FILES = [f"many/rank{rank}.pickle" for rank in range(6)]
for command in ("ranks", "oom"):
    answer = m.json(command, *FILES)
    m.check([note for note in answer["notes"] if "left out" in note] == [f"many/rank{rank}.pickle, left out: ends inside the pickle: the file was cut off." for rank in (1, 3, 5)],
            command, "damaged files among others", answer["notes"])
m.check([row["rank"] for row in m.rows("ranks", *FILES) if row["section"] == "rank"] == [0, 2, 4], "the others")
m.check("ends inside the pickle" in m.run("ranks", FILES[1], FILES[3], codes=(2,))[2], "none but damaged ones")
m.check("many/rank99.pickle" in m.run("ranks", FILES[0], "many/rank99.pickle", codes=(2,))[2], "one that is not there is an error")

# What is no recording is counted, what is damaged is named, and the others are imported.
for rank in range(3):
    write(f"mixed/d{rank}/e/rank{rank}.pickle")
for name, content in {"config.json": '{"a": 1}', "d0/train.log": "loss 3.2\n", "d1/e/.rank9.pickle": "x", ".git/rank8.pickle": "x",
                      "d0/rank0_stacks.txt": "train.py(12): step;aten::mm 1234\ntrain.py(13): step;aten::relu 99\n"}.items():
    os.makedirs(os.path.dirname(f"mixed/{name}"), exist_ok=True)
    with open(f"mixed/{name}", "w", encoding="utf-8") as file:
        file.write(content)
for empty in ("d2/e/rank7.pickle", "d2/DONE"):
    with open(f"mixed/{empty}", "w", encoding="utf-8"):
        pass
with open("mixed/d2/e/rank6.pickle", "wb") as file:
    file.write(pickle.dumps(SNAPSHOT)[:3000])
os.makedirs("outside/more")
write("outside/rank4.pickle")
os.symlink("../outside", "mixed/outside")
os.symlink("..", "mixed/d0/round")
os.symlink("../outside/rank4.pickle", "mixed/rank4.pickle")
os.symlink("d0/e/rank0.pickle", "mixed/latest.pickle")
os.symlink("nothing", "mixed/dangling.pickle")
os.mkfifo("mixed/pipe.pickle")
write("mixed/1/2/3/4/5/6/7/8/rank2000.pickle")
write("mixed/1/2/3/4/5/6/7/8/9/rank3000.pickle")
out, err, code = imported("mixed", codes=(2,))
m.check(names() == ["rank0", "rank1", "rank2", "rank2000", "rank4"], "what is read", names(), out, err)
m.check("mixed: 3 of 12 files do not look like recordings and were passed over (config.json, d0/train.log, d2/DONE)" in err, "what is passed over", err)
m.check("mixed: not looked into: 2 hidden files and folders, 2 links to folders, 1 folder 8 levels down" in err, "what is not looked into", err)
m.check("1 file of stacks" in err and "(d0/rank0_stacks.txt)" in err, "stacks of times", err)
m.check("mixed/d2/e/rank7.pickle: the file is empty" in err and "mixed/d2/e/rank6.pickle: ends" in err and "mixed/dangling.pickle: cannot open" in err and "3 of 8 files could not be imported" in err, "damaged ones", err)
os.remove("mixed/d2/e/rank7.pickle")
os.remove("mixed/d2/e/rank6.pickle")
os.remove("mixed/dangling.pickle")
m.run("import", "mixed", "--values", "at-end")
m.known.clear()
m.check("rank0_stacks.txt" in names(), "stacks, where it is said what they are", names())
# What is called as recordings are but for numbers and is none was cut too early, or overwritten: it fails, and nothing else does.
for rank in range(3):
    write(f"early/ranks/rank{rank}.pickle")
with open("early/ranks/rank0.pickle", "rb") as file:
    whole = file.read()
DAMAGED = {"rank3": whole[:1], "rank4": whole[:12], "rank5": b"\0" * 4096, "rank10": b"<html>404</html>"}
for name, content in DAMAGED.items():
    with open(f"early/ranks/{name}.pickle", "wb") as file:
        file.write(content)
for name in ("early/ranks/config.pickle", "early/ranks/rank7.txt", "early/rank8.pickle"):
    with open(name, "wb") as file:
        file.write(b"lr 3")
_, err, _ = imported("early", codes=(2,))
m.check(names() == ["rank0", "rank1", "rank2"] and "Not imported: " + ", ".join(f"early/ranks/{name}.pickle" for name in DAMAGED) + "." in err, "cut too early", err)
m.check("early: 3 of 10 files do not look like recordings and were passed over (rank8.pickle, ranks/config.pickle, ranks/rank7.txt)" in err, "called otherwise", err)
for name in DAMAGED:
    os.remove(f"early/ranks/{name}.pickle")
m.run("import", "early")
# Stacks alone are what is meant.
os.makedirs("stacks/in")
shutil.copy("mixed/d0/rank0_stacks.txt", "stacks/in")
_, err, _ = imported("stacks")
m.check(names() == ["rank0_stacks.txt"] and "passed over" not in err, "stacks alone", names(), err)
# Nothing at all; a folder that cannot be read is named, and so is what --series does not search.
os.makedirs("empty/a/b")
m.db = os.path.abspath("none.memtool.db")
m.check("there is no trace in this folder (0 files looked at)" in m.run("import", "empty", codes=(2,))[2], "nothing")
write("deep/1/2/3/4/5/6/7/8/9/rank0.pickle")
m.check("more than 8 levels down are not searched" in m.run("import", "deep", codes=(2,))[2], "nothing that is not too far down")
m.check("With --series folders inside it are not searched" in m.run("import", "--series", "empty", codes=(2,))[2], "a series is of one folder")
# Logs that only --pattern can read: those that have a line of it.
os.makedirs("logs/b")
for i, name in enumerate(("logs/a.log", "logs/b/c.log", "logs/README")):
    with open(name, "w") as log:
        log.write("a head\n" + "".join(f"it {k} used memory {k}{i} MB\n" for k in range(1, 5)) if i < 2 else "notes\n")
_, err, _ = imported("logs", "--pattern", "it {step} used memory {rss}")
m.check(names() == ["a.log", "c.log"] and "1 of 3 files has no line that matches --pattern and was passed over (README)" in err, "logs", names(), err)
m.check("text with a line that matches --pattern in this folder (3 files" in imported("logs", "--pattern", "me {rss}", codes=(2,))[1], "no log")
if os.getuid():
    write("locked/in/rank0.pickle")
    write("locked/rank1.pickle")
    os.chmod("locked/in", 0)
    _, err, _ = imported("locked", codes=(2,))
    os.chmod("locked/in", 0o700)
    m.check("locked/in: cannot open the file: Permission denied" in err and names() == ["rank1"], "a folder that cannot be read", err)
# Two files of one name that are named one by one.
m.db = os.path.abspath("named.memtool.db")
m.run("import", "rank_a/../of-a-folder-further-up/rank0/step_100/2026-11-26/dump.pickle".replace("rank_a/../", ""), "of-a-folder-further-up/rank1/step_100/2026-11-26/dump.pickle")
m.known.clear()
m.check(names() == ["rank0/step_100/2026-11-26/dump", "rank1/step_100/2026-11-26/dump"], "names of files of one name", names())
# What does not fit in a name is left out, but no half of a folder or character is in it.
E = "\u00e9"
for folder in ("x" + E * 60, E * 60):
    write(f"long/{folder}/{E * 40}/rank/trace.json")
write(f"long/y{E * 110}.json")
imported("long")
m.check(names() == ["rank", "rank-2", "y" + E * 99], "long names", names())


def seconds_for(count):
    """Processor time for a folder of files without a recording, and as many empty ones of another ending."""
    os.makedirs(f"markers{count}")
    for i in range(count):
        with open(f"markers{count}/{i}.csv", "w", encoding="utf-8") as rows, open(f"markers{count}/{i}.done", "w", encoding="utf-8"):
            rows.write("stack,alloc_b\na,1\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    m.run("import", f"markers{count}", "--pattern", "none {rss}", codes=(2,))
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


# Empty files beside others are judged in one go; the clock of a machine may be too coarse for the few.
few, many = seconds_for(1500), seconds_for(12000)
m.check(many < 16 * few + 0.5, "8 times as many files take 8 times as long", few, many)
m.finish(at_least=100)
