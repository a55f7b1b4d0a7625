#!/usr/bin/env python3
"""`make bench`: memtool's speed and memory beside the goals: bench.py [MB...|heap], default 100 1000.

"heap": only the logs of heap profilers, which come last otherwise.

Every ratio is taken within one run of this script, from medians of alternating runs, because
absolute times mean little on another machine. Inputs are generated into build/bench and kept.
Never fails because a goal is missed.
"""

import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build", "bench")
MEMTOOL = os.environ.get("MEMTOOL", os.path.join(ROOT, "build", "memtool"))
GENERATOR = os.path.join(HERE, "gen_trace.py")
SNAPSHOT_GENERATOR = os.path.join(HERE, "gen_snapshot.py")
MEMRAY_GENERATOR = os.path.join(HERE, "gen_memray.py")
MEMRAY = os.environ.get("MEMRAY", "memray")
MEMRAY_MB = 1000
SNAPSHOT_EVENTS = 2_000_000
RUNS = 5
OPS = 5_000_000  # in the database that whole commands are timed on
PYTHON_BYTES_PER_BYTE = 6  # json.load needs about this much memory per byte of trace

results = []  # (what, value, goal), printed at the end


def note(text):
    print(text, file=sys.stderr, flush=True)


def result(what, value, goal=""):
    results.append((what, value, goal))
    note(f"  {what}: {value}  {goal}")


# Running things.


class Run:
    """One measured process."""

    def __init__(self, *command):
        out = os.path.join(BUILD, "measured")
        with open(os.path.join(BUILD, "output"), "wb") as output:
            measure = [os.path.join(BUILD, "measure"), out, *command]
            subprocess.run(measure, stdout=output, stderr=subprocess.STDOUT, check=True)
        with open(out) as f:
            seconds, processor, peak_kib, status = f.read().split()
        with open(os.path.join(BUILD, "output")) as f:
            self.output = f.read()
        if status != "0":
            raise RuntimeError(f"{' '.join(command)}: exit {status}\n{self.output}")
        self.seconds, self.processor_s = float(seconds), float(processor)
        self.peak_b = int(peak_kib) * 1024


def alternate(functions, runs=RUNS, slow_runs=None):
    """Calls the functions in turn, `runs` times each. Of each: median seconds and peak, output.

    slow_runs: how often the first function is called, where it takes too long for `runs`.
    """
    taken = {name: [] for name in functions}
    first = next(iter(functions))
    for i in range(runs):
        for name, function in functions.items():
            if name != first or slow_runs is None or i < slow_runs:
                taken[name].append(function())
    return {
        name: (
            statistics.median(run.seconds for run in rows),
            statistics.median(run.peak_b for run in rows),
            rows[-1].output,
        )
        for name, rows in taken.items()
    }


def import_into(database, trace):
    """Imports into a new database."""
    for name in (database, database + "-journal", database + "-wal", database + "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
    return Run(MEMTOOL, "import", trace, "--db", database, "--name", "bench")


def query(database, *command):
    command = [MEMTOOL, *command, "--db", database, "--limit", "0", "--format", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["rows"]


# Inputs.


def generated(name, *options, generator=GENERATOR):
    """A generated recording in build/bench; made anew when the generator has changed."""
    path = os.path.join(BUILD, name)
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(generator):
        note(f"generating {name}")
        part = path + ".part"
        subprocess.run([sys.executable, generator, part, *options], check=True, stdout=sys.stderr)
        os.rename(part, path)
    return path


def gzipped(path):
    packed = path + ".gz"
    if not os.path.exists(packed) or os.path.getmtime(packed) < os.path.getmtime(path):
        note(f"compressing {os.path.basename(path)}")
        with open(packed + ".part", "wb") as f:
            subprocess.run(["gzip", "-6", "-n", "-c", path], check=True, stdout=f)
        os.rename(packed + ".part", packed)
    return packed


def available_bytes():
    with open("/proc/meminfo") as f:
        return int(re.search(r"MemAvailable: *(\d+) kB", f.read())[1]) * 1024


def others_seconds():
    """Processor seconds spent since the start of the system by what this script did not start."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    busy = user + nice + system + irq + softirq + steal
    return busy / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


# What is measured.


def bench_import(mb, database):
    """Import of one size: against inflate() and the memory goal. Returns its median seconds."""
    packed = gzipped(generated(f"t{mb}.json", "--mb", str(mb)))
    functions = {
        "import": lambda: import_into(database, packed),
        "inflate": lambda: Run(os.path.join(BUILD, "inflate_only"), packed),
    }
    times = alternate(functions)
    (seconds, peak_b, _), (inflate_seconds, _, _) = times["import"], times["inflate"]
    result(
        f"{mb} MB .json.gz: import / zlib inflate",
        f"{seconds / inflate_seconds:.2f}   ({seconds:.3f} s / {inflate_seconds:.3f} s)",
        "<= 1.6 at 1 GB",
    )
    sql = "SELECT (SELECT count(*) FROM op) + (SELECT count(*) FROM alloc) AS n"
    rows = query(database, "query", sql)[0]["n"]
    limit_b = 24e6 + 60 * rows
    result(
        f"{mb} MB: peak memory of import",
        f"{peak_b / 1e6:.1f} MB = 24 MB + {(peak_b - 24e6) / rows:.1f} B x {rows:,} rows",
        f"<= {limit_b / 1e6:.1f} MB (60 B per row)",
    )
    return seconds


def bench_python(mb, database, slow_runs):
    """The same answer with json.load and a loop."""
    trace = os.path.join(BUILD, f"t{mb}.json")
    if available_bytes() < PYTHON_BYTES_PER_BYTE * os.path.getsize(trace):
        note(f"  {mb} MB: not enough free memory for Python's json.load; left out")
        return
    packed = gzipped(trace)
    functions = {
        "python": lambda: Run(sys.executable, os.path.join(HERE, "memory_table.py"), packed),
        "import": lambda: import_into(database, packed),
    }
    times = alternate(functions, slow_runs=slow_runs)
    (python_seconds, python_b, answer), (seconds, peak_b, _) = times["python"], times["import"]
    rows = query(database, "table")
    table = {row["name"]: [row["calls_n"], row["self_net_b"], row["net_b"]] for row in rows}
    table.pop("[before trace]", None)  # what the recorder's total says was there: in no record that the loop reads
    same = table == json.loads(answer)
    result(f"{mb} MB: same table as Python", "yes" if same else "NO", "yes")
    result(
        f"{mb} MB .json.gz: Python json.load and loop / import",
        f"{python_seconds / seconds:.1f} x   ({python_seconds:.2f} s / {seconds:.3f} s, "
        f"{python_b / 1e6:.0f} / {peak_b / 1e6:.0f} MB)",
        ">= 35 x",
    )


def bench_shuffled(mb, database):
    in_order = generated(f"t{mb}.json", "--mb", str(mb))
    shuffled = generated(f"s{mb}.json", "--mb", str(mb), "--shuffle")
    functions = {
        "order": lambda: import_into(database, in_order),
        "shuffled": lambda: import_into(database + ".shuffled", shuffled),
    }
    times = alternate(functions)
    a, b = times["order"][0], times["shuffled"][0]
    result(
        f"{mb} MB .json: import shuffled / in order",
        f"{b / a:.2f}   ({b:.3f} s / {a:.3f} s)",
        "<= 1.3",
    )
    same = query(database, "table") == query(database + ".shuffled", "table")
    result(f"{mb} MB: same table from shuffled events", "yes" if same else "NO", "yes")


def bench_snapshot(database):
    """Import of an allocator snapshot against Python's pickle.load alone."""
    snapshot = generated("s.pickle", str(SNAPSHOT_EVENTS), generator=SNAPSHOT_GENERATOR)
    load = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"
    functions = {
        "python": lambda: Run(sys.executable, "-c", load, snapshot),
        "import": lambda: import_into(database + ".snapshot", snapshot),
    }
    times = alternate(functions, 3)
    (python_seconds, python_b, _), (seconds, peak_b, _) = times["python"], times["import"]
    what = f"{SNAPSHOT_EVENTS:,} events, {os.path.getsize(snapshot) / 1e6:.0f} MB .pickle"
    result(
        f"{what}: import / pickle.load",
        f"{seconds / python_seconds:.2f}   ({seconds:.3f} s / {python_seconds:.3f} s)",
        "<= 0.33",
    )
    result(
        f"{what}: peak memory",
        f"{peak_b / python_b:.2f}   ({peak_b / 1e6:.0f} MB / {python_b / 1e6:.0f} MB)",
        "<= 0.25",
    )


def processor_times(functions, runs=3):
    """Calls the functions in turn. Of each: the least processor time, the median peak.

    What heap logs are compared by: other programs beside it change it less than the time that passes, and a thread
    that decompresses counts.
    """
    taken = {name: [] for name in functions}
    for _ in range(runs):
        for name, function in functions.items():
            taken[name].append(function())
    return {
        name: (min(run.processor_s for run in rows), statistics.median(run.peak_b for run in rows))
        for name, rows in taken.items()
    }


def bench_heap_log(database, name, generator, options, theirs, goal, runs=3, memory_goal="", size_goal=""):
    """Import of a generated heap log and the reports of it, against the recorder's own reports."""
    log = generated(name, *options, generator=os.path.join(HERE, generator))
    functions = {"import": lambda: import_into(database, log)}
    for report in ("table", "leaks"):
        functions[report] = lambda report=report: Run(MEMTOOL, report, "--db", database)
    for command in theirs:
        words = [word.replace("LOG", log) for word in command]
        functions[" ".join(command)] = lambda words=words: Run(*words)
    times = processor_times(functions, runs)
    (import_s, peak_b), (table_s, _), (leaks_s, leaks_b), *others = times.values()
    ours_s, their_s = import_s + table_s + leaks_s, sum(seconds for seconds, _ in others)
    what = f"{name}, {os.path.getsize(log) / 1e6:.0f} MB"
    result(
        f"{what}: import, table and leaks / its own",
        f"{ours_s / their_s:.2f}   ({import_s:.3f} + {table_s:.3f} + {leaks_s:.3f} s / {their_s:.3f} s)",
        goal,
    )
    peak_b, their_b = max(peak_b, leaks_b), max(b for _, b in others)
    result(f"{what}: peak memory", f"{peak_b / their_b:.2f}   ({peak_b / 1e6:.0f} MB / {their_b / 1e6:.0f} MB)", memory_goal)
    size_b = os.path.getsize(database)
    result(f"{what}: database", f"{size_b / os.path.getsize(log):.2f}   ({size_b / 1e6:.1f} MB)", size_goal)


def bench_heap_logs(database):
    """Reports of recorders that are not installed are left out."""
    database += ".heap"
    if shutil.which("heaptrack_print") and shutil.which("zstd"):
        heaptrack = ("gen_heaptrack.py", [["heaptrack_print", "LOG"]], "<= 0.45", "<= 0.25")
        for name, options, goal in (
            ("few.zst", ["few", "4000000"], "<= 0.20"),
            ("long.zst", ["few", "40000000"], "<= 0.20, <= 16 MB"),
            ("many.zst", ["many", "10000000", "160000"], "<= 0.25"),
        ):
            generator, theirs, memory_goal, size_goal = heaptrack
            attempt(bench_heap_log, database, name, generator, options, theirs, goal, 3, memory_goal, size_goal)
    if shutil.which("mtrace"):  # its exit code says only whether there are leaks
        mtrace = [["sh", "-c", "mtrace LOG || true"]]
        attempt(bench_heap_log, database, "mtrace.log", "gen_mtrace.py", [], mtrace, "<= 0.10")
    if shutil.which("go"):
        pprof = [["go", "tool", "pprof", "-top", "LOG"]]
        for name, options in (("random.pb", ["60000", "30"]), ("go.pb", ["like-go", "100"]), ("deep.pb", ["60000", "250"])):
            attempt(bench_heap_log, database, name, "gen_pprof.py", options, pprof, "<= 0.50")
    if shutil.which(MEMRAY):
        memray = [[MEMRAY, "stats", "LOG"], [MEMRAY, "summary", "LOG"]]
        options = [str(MEMRAY_MB)]
        attempt(bench_heap_log, database, "m.bin", "gen_memray.py", options, memray, "<= 0.10", 1)
    else:
        note("  no memray (1.20: pip install memray==1.20.0; MEMRAY=PROGRAM): left out")


def bench_commands(database):
    """Whole processes on a database of many ops."""
    trace = generated(f"ops{OPS}.json", "--ops", str(OPS), "--lean")
    import_into(database, trace)
    ops = query(database, "query", "SELECT count(*) AS n FROM op")[0]["n"]
    commands = {
        "table": (["table"], 10),
        "tree": (["tree"], 10),
        "info": (["info", "bench"], 10),
        "peak": (["peak"], 20),
        "leaks": (["leaks"], 20),
        "diff": (["diff", "@latest", "@latest"], 20),
        "peak --at": (["peak", "--at", "1s"], 200),
        "peak --from --to": (["peak", "--from", "1s", "--to", "2s"], 200),
        "timeline": (["timeline", "--ascii"], 50),
        "timeline svg": (["timeline", "--format", "svg"], 50),
    }
    functions = {
        name: lambda command=command: Run(MEMTOOL, *command, "--db", database)
        for name, (command, _) in commands.items()
    }
    for name, (seconds, _, _) in alternate(functions, 4 * RUNS + 1).items():
        result(
            f"{name}, whole process, {ops:,} ops",
            f"{seconds * 1000:.1f} ms",
            f"<= {commands[name][1]} ms",
        )


def attempt(function, *args):
    """Calls it; a failure is told and leaves the rest of the bench running."""
    try:
        return function(*args)
    except (RuntimeError, subprocess.CalledProcessError, OSError) as failure:
        result(function.__name__, "failed", "")
        note(str(failure))
        return None


def bench_traces(sizes, database):
    times = {mb: attempt(bench_import, mb, database) for mb in sizes}
    for a, b in zip(sizes, sizes[1:]):
        if a >= 1000 and times[a] and times[b]:
            goal = f"<= {3.6 * b / a / 3.3:.2f}"
            result(f"import of {b} MB / {a} MB", f"{times[b] / times[a]:.2f}", goal)
    up_to_1_gb = [mb for mb in sizes if mb <= 1000]
    for mb in up_to_1_gb:
        attempt(bench_python, mb, database, RUNS if mb <= 100 else 1)
    if up_to_1_gb:
        attempt(bench_shuffled, up_to_1_gb[-1], database)
    attempt(bench_snapshot, database)
    attempt(bench_commands, database)


def main():
    start, others_at_start = time.monotonic(), others_seconds()
    database = os.path.join(BUILD, "bench.db")
    if sys.argv[1:] != ["heap"]:
        bench_traces(sorted(int(arg) for arg in sys.argv[1:]) or [100, 1000], database)
    bench_heap_logs(database)
    others = (others_seconds() - others_at_start) / (time.monotonic() - start)
    result("processors kept busy by other programs meanwhile", f"{others:.2f}", "0")
    print(f"\n{'measured':54}  {'value':58}  goal")
    for what, value, goal in results:
        print(f"{what:54}  {value:58}  {goal}")


if __name__ == "__main__":
    main()
