#!/usr/bin/env python3
"""What import notes reaches the reports: for each note a recording that makes it, and each report whose figures it touches
says it, for people and in JSON. A note that nobody lists here fails."""

import json
import os
import re
import subprocess

import inputs
import mt

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(os.path.dirname(HERE), "fuzz", "corpus")
LOOPS = os.path.join(os.path.dirname(HERE), "loops")
FAKE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "record", "fake")  # a torch
NOTES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "lib", "model", "notes.c")

m = mt.Matrix()

# ---- recordings ----


def trace(fill):
    def make(path):
        t = inputs.Trace()
        fill(t)
        t.write(path)
    return make


def text(content):
    def make(path):
        with open(path, "w") as f:
            f.write(content)
    return make


def there(path):
    return lambda _: path


def made(name):
    return there(os.path.join("made", f"{name}.{'pickle' if name.startswith('snapshot') else 'json'}"))


def sample(name):
    return there(os.path.join(os.environ["SAMPLES"], "snapshots", f"{name}.pickle"))


def corpus(name):
    return there(os.path.join(CORPUS, name))


def loop(name):
    return there(os.path.join(LOOPS, f"{name}.json.gz"))


def cut_threads(path):
    """Two threads, of which the records of the last are lost."""
    t = inputs.Trace()
    t.op("aten::keep", 10, 9)
    t.op("aten::free", 10, 9, tid=2)
    t.record(12, 4096, 4096)
    t.write(path)
    with open(path, "rb+") as f:
        f.truncate(os.path.getsize(path) - 2)


def cut_order(path):
    """The free of a block that is read is lost, for the records stand in another order."""
    t = inputs.Trace()
    t.op("aten::keep", 10, 9)
    for time, size, address in ((15, 4096, 8192), (12, 4096, 4096), (14, -4096, 4096)):
        t.record(time, size, address)
    t.write(path)
    with open(path, "rb+") as f:
        f.truncate(os.path.getsize(path) - 5)


def yielded(path):
    """A trace of `record --torch` of a program with a profiler of its own."""
    trace(some)(path)
    with open(path) as f:
        t = json.load(f)
    t["memtool_process"] = {"pid": 1, "ended": "another"}
    with open(path, "w") as f:
        json.dump(t, f)


def some(t):
    """What a trace needs to have figures: an op, and a block that stays."""
    t.op("aten::keep", 10, 9)
    t.record(12, 1000, 4096)


def forward_of_two_threads(t):
    some(t)
    for tid in (1, 2):
        t.op("aten::mul", 30, 5, tid, **{"Sequence number": 7})
    t.op("MulBackward0", 50, 5, 3, **{"Sequence number": 7, "Fwd thread id": 1})


def steps_unmarked(t):
    some(t)
    t.mark("Optimizer.zero_grad#Adam.zero_grad", 30, 5)
    t.op("autograd::engine::evaluate_function: MulBackward0", 40, 5)


def learns(t):
    some(t)
    for at in (30, 60):
        t.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", at, 5)
        t.mark("Optimizer.step#SGD.step", at + 10, 5)


def learns_by_rmsprop(t):
    some(t)
    for at in (30, 60):
        t.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", at, 5)
        t.mark("Optimizer.step#RMSprop.step", at + 10, 5)


def kernel(t):
    some(t)
    t.op("a kernel", 30, 5, cat="kernel")


def lost_name(t):
    t.mark("unknown", 5, 20)
    some(t)


def bad_base(t):
    some(t)
    t.meta["memtool_base"] = "much"


def base_twice(t):
    some(t)
    t.record(14, 1000, 8192, inputs.CUDA0)
    t.meta["memtool_base"] = {"cuda:0": 100, "cuda": 200}


def base_differs(t):
    some(t)
    t.meta["memtool_base"] = 200


def more_than_listed(path):
    """A report of leaks whose summary has more than it lists."""
    with open(os.path.join(os.environ["SAMPLES"], "heap", "lsan.txt")) as f, open(path, "w") as out:
        out.write(re.sub(r"(SUMMARY: \w+: )(\d+)", lambda found: found[1] + str(int(found[2]) + 1000), f.read()))


def default_kinds(path):
    """memcheck's XML as it comes without --show-leak-kinds: what is reachable is not listed."""
    with open(os.path.join(os.environ["SAMPLES"], "heap", "memcheck.xml")) as f, open(path, "w") as out:
        out.write(f.read().replace("<arg>--show-leak-kinds=all</arg>", ""))


def prometheus(*times):
    values = ",".join(f'[{t},"{5 << 20}"]' for t in times)
    series = '{"metric":{"__name__":"process_resident_memory_bytes"},"values":[%s]}' % values
    return text('{"status":"success","data":{"resultType":"matrix","result":[%s]}}' % series)


def twice(name):
    """A sample, and behind it once more."""
    def make(path):
        with open(os.path.join(os.environ["SAMPLES"], name)) as f, open(path, "w") as out:
            out.write(f.read() * 2)
    return make


def recorded(*args):
    """A run of `memtool record`, which no import makes."""
    def make(path):
        m.run("record", "--db", m.db, "--name", path.removesuffix(".recording"), *args)
        return RECORDED
    return make


def attached(path):
    """The same of a process that runs already."""
    with subprocess.Popen(["sleep", "60"]) as process:
        m.run("record", "--name", path.removesuffix(".recording"), "--pid", str(process.pid), "--for", "50ms")
        process.kill()
    return RECORDED


RECORDED = "recorded"
HEAPTRACK = "v 10400 3\nX ./a b\nI 1000 5e298f\ns 2 /p\ns 4 main\ni 1 1 2\nt 1 0\na a 1\n+ 0\n"
MASSIF = """desc: --massif
cmd: ./a
time_unit: i
#-----------
snapshot=0
#-----------
time=1
mem_heap_B=100
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=peak
n1: %d (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n1: %d 0x109: f (a.c:1)
  n0: %d 0x10A: main (a.c:2)
"""

# ---- reports ----

EVERY = ["table", "table --by site", "tree", "peak", "leaks", "timeline", "memory", "diff", "leaks over runs", "check --max-peak 1TiB",
         "check --max-at-end 1TiB", "check --max-alloc-growth 900%", "check --max-peak-growth 900%", "advise", "advise --batch 32"]
LEVELS = ["table", "tree", "peak", "timeline", "memory", "advise", "advise --batch 32", "diff", "check --max-peak 1TiB", "check --max-peak-growth 900%"]
END = ["table", "tree", "leaks", "memory", "diff", "leaks over runs", "check --max-at-end 1TiB"]
SITES = ["table", "tree", "peak", "leaks", "timeline --by site", "diff", "leaks over runs", "check --max-peak 1TiB --op a"]
SUMS = ["table", "tree", "memory", "diff", "check --max-alloc-growth 900%"]
CATEGORIES = ["table --by category", "tree --category parameters", "peak --by category", "peak --category parameters", "timeline --by category", "diff"]
STEPS = ["table --by step", "peak --per step", "leaks", "diff", "leaks over runs", "check --max-growth-per-step 1TiB", "check --max-peak-growth 900%"]
TIMES = ["peak", "timeline", "diff"]
DURATIONS = ["table", "tree", "diff"]
NONE = []  # no figure depends on it, or the report shows it otherwise

MEMRAY = "allocator,num_allocations,size,tid,thread_name,stack_trace\nMALLOC,1,100,1,0x1,"
UNFOLLOWED = """execve("./a", ["./a"], 0x1 /* 9 vars */) = 0
mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000010000
clone3({flags=CLONE_VM|CLONE_THREAD, stack=0x7f0000010000}, 88) = 8
exit_group(0) = ?
+++ exited with 0 +++
"""

# note: how to record it, who says it
CASES = {
    "skipped": (corpus("heaptrack/odd"), EVERY),
    "cut": (corpus("heaptrack/alloclab_cut"), EVERY),
    "cut_threads": (cut_threads, LEVELS),
    "cut_order": (cut_order, LEVELS),
    "trailing": (corpus("dhat/odd"), ["table", "tree", "peak", "leaks", "memory", "diff", "check --max-peak 1TiB"]),
    "residual": (made("devices"), EVERY),
    "no_allocations": (text("v 10400 3\n# strings: 0\n"), ["table", "tree", "leaks", "memory", "diff", "leaks over runs", "check --max-at-end 1TiB"]),
    "bad_size": (corpus("pickle/negative-size"), LEVELS + END),
    "unknown_action": (sample("unknown_actions"), LEVELS + SUMS),
    "history_cut": (sample("ring_cut"), LEVELS + SUMS + ["leaks", "leaks over runs"]),
    "before_trace": (text(HEAPTRACK + "- 0\n- 0\nR 1\n# strings: 2\n"), LEVELS + END),
    "ran_before": (text(HEAPTRACK + "A\n+ 0\nR 1\n# strings: 2\n"), LEVELS + END),
    "bad_base": (trace(bad_base), LEVELS + END),
    "base_twice": (trace(base_twice), LEVELS + END),
    "base_differs": (trace(base_differs), LEVELS + END),
    "freed_unseen": (made("deep"), LEVELS + END + SITES),
    "alloc_unseen": (made("older"), LEVELS + END),
    "older_unknown": (made("random0"), ["peak", "timeline", "memory", "advise", "advise --batch 32", "diff", "leaks over runs", "check --max-peak 1TiB", "check --max-at-end 1TiB"]),
    "no_peak": (corpus("massif/deep"), LEVELS),
    "moment_sum": (text(MASSIF % (200, 200, 200)), LEVELS),
    "callers": (text(MASSIF % (100, 90, 90)), ["table", "tree", "peak", "diff", "check --max-peak 1TiB --op a"]),
    "reused_address": (corpus("pickle/same-address"), LEVELS + END),
    "replaced": (text("= Start\n@ /a:[0x12] + 0x10 0x20\n@ /a:[0x12] + 0x10 0x20\n"), LEVELS + END),
    "size_mismatch": (made("older"), END + SITES),
    "no_address": (made("no_addresses"), ["table", "tree", "peak", "memory", "diff", "check --max-at-end 1TiB"]),
    "paired_by_size": (made("some_addresses"), END + SITES),
    "unmatched_begin_end": (sample("unbalanced_marks"), SITES + DURATIONS),
    "lost_name": (trace(lost_name), ["table --by scope", "table --by site", "tree", "peak", "leaks", "leaks over runs", "diff"]),
    "forward_ambiguous": (trace(forward_of_two_threads), ["table --by forward", "diff"]),
    "overlap": (made("overlaps"), DURATIONS),
    "negative_dur": (corpus("pytorch_trace/array"), DURATIONS),
    "no_times": (sample("no_times"), TIMES),
    "clock": (sample("clock_back"), TIMES),
    "order": (prometheus(1763870000, 1763870030, 1763870015), TIMES),
    "lull": (prometheus(1063870000, 1763870015, 1763870030), TIMES),
    "steps_merged": (made("nested_optimizers"), STEPS),
    "steps_rounds": (made("two_optimizers"), STEPS),
    "steps_unknown": (made("random0"), ["leaks", "diff", "leaks over runs", "check --max-growth-per-step 1TiB"]),
    "steps_unmarked": (trace(steps_unmarked), SITES),
    "parameters_unknown": (trace(learns), CATEGORIES),
    "state_unknown": (trace(learns_by_rmsprop), CATEGORIES),
    "gradients_unknown": (trace(learns), CATEGORIES),
    "steps_processes": (made("processes"), ["leaks", "diff", "leaks over runs", "check --max-growth-per-step 1TiB"]),
    "steps_renumbered": (corpus("pickle/marks-odd"), STEPS),
    "kinds_left_out": (default_kinds, END),
    "processes": (text("= Start\n+ 0x10 0x20\n= Start\n+ 0x30 0x20\n"), EVERY),
    "owners": (text("worker 1 done, rss 5 MB\nworker 2 done, rss 6 MB\n"), EVERY),
    "untraced": (text(UNFOLLOWED), EVERY),
    "appended": (text("CMDLINE a\nMEM 5.0 1795253488.3\nCMDLINE b\nMEM 6.0 1795253499.3\n"), EVERY),
    "reports": (twice("heap/memcheck.txt"), END),
    "reported_again": (twice("heap/lsan.txt"), NONE),
    "sampled": (corpus("pprof/sampled"), EVERY),
    "moments": (text("time,bytes,stack\n1,100,f\n2,50,f\n"), LEVELS),
    "columns_left_out": (text("op,size,stack,thread\nalloc,1,f,2\n"), NONE),
    "library_folded": (text(MEMRAY + "f;lib/python3.11/pathlib.py;5|main;a.py;3\n"), NONE),
    "units": (text("RSS 5 MB\nRSS 6 MB\n"), NONE),
    "names_left_out": (text("".join(f"RSS: {k} MiB, heap {chr(97 + k // 26)}{chr(97 + k % 26)}: 5 MiB\n" for k in range(1, 300))), NONE),
    "long_names": (text("".join(f"main;{9000 * 'long'};f{k} {k + 1}\n" for k in range(9))), NONE),
    "unread": (text("RSS 5 MiB\nRSS 6 MiB\n| RSS | 7 MiB |\n"), EVERY),
    "names": (text("RSS 5 MiB, process RSS 7 MiB\nRSS 6 MiB, process RSS 8 MiB\n"), LEVELS),
    "no_level": (text("ram 5 MiB\nram 6 MiB\n"), NONE),
    "interpreter_folded": (text(MEMRAY + "f;/src/Python/ceval.c;5|main;a.py;3\n"), NONE),
    "values_unsaid": (text("main;f 100\nmain;g 200\n"), EVERY),
    "no_symbols": (text("= Start\n@ /nowhere/prog:[0x11e2] + 0x10 0x20\n"), NONE),
    "level_of": (text("NAME   MEM USAGE / LIMIT\nweb    5MiB / 1GiB\n"), LEVELS),
    "dumps": (lambda path: os.path.join(os.environ["SAMPLES"], "rounds", "jemalloc"), LEVELS),
    # The child has more than memtool itself, in its build with sanitizers: less may be memtool's before exec.
    "peak_unseen": (recorded("--interval", "60000", "--", "sh", "-c", "sleep 1; head -c 130000000 /dev/zero | tail -c 120000000 >/dev/null; :"), LEVELS),
    "peak_at_most": (recorded("--interval", "60000", "--", "sh", "-c", "exec sleep 0.1"), LEVELS),
    "unwatched": (recorded("--interval", "400", "--", "sh", "-c", "for i in $(seq 510); do sleep 99 & all=\"$all $!\"; done; sleep 3; kill $all"), LEVELS),
    "attached": (attached, LEVELS),
    "no_malloc": (recorded("--malloc", "--", "sh", "-c", "exec env -u LD_PRELOAD sleep 1"), LEVELS),
    "profiler": (recorded("--torch", "--", "python3", "-c", f"import sys; sys.path.insert(0, {FAKE!r}); import torch; torch.empty(9)"), LEVELS + ["leaks"]),
    "no_trace": (recorded("--torch", "--", "true"), LEVELS),
    "yielded": (yielded, LEVELS + SUMS),
    "lines_left_out": (recorded("--", "sh", "-c", "echo memtool:stop 1 >&$MEMTOOL_FD"), STEPS),
    "sample_types": (corpus("pprof/other_types"), NONE),
    "unlisted": (more_than_listed, NONE),
    "steps_idle": (loop("autocast"), NONE),
    "no_memory": (made("no_memory"), NONE),
    "empty": (text('{"schemaVersion": 1, "profile_memory": 1, "traceEvents": []}'), NONE),
    "no_memory_written": (loop("writer_all_threads"), NONE),
    "no_memory_before_cut": (corpus("pytorch_trace/cut"), NONE),
    "outside_ops": (made("memory_only"), NONE),
    "no_path": (sample("no_frames"), NONE),
    "state_only": (sample("state_only"), NONE),
    "device_events": (trace(kernel), NONE),
    "out_of_memory": (made("snapshot0"), NONE),
}


IMPORTED_WITH = {"base_differs": ["--base", "300"], "dumps": ["--series"], "no_level": ["--pattern", "ram {ram}"]}


def answers(report, run, other):
    """The report as people read it, and as JSON."""
    args = report.split()
    if report == "leaks over runs":
        args = ["leaks", other, run]
    elif args[0] == "check" and "-growth" in report and "per-step" not in report:
        args = ["check", run, "--baseline", other, *args[1:]]
    elif args[0] == "diff":
        args = ["diff", run, other]
    elif report == "advise --batch 32":
        args = ["advise", f"{run}:16", *args[1:]]
    else:
        args = [args[0], run, *args[1:]]
    _, out, err = m.run(*args, codes=(0, 1, 2, 3))
    code, told, _ = m.run(*args, "--format", "json", codes=(0, 1, 2, 3))
    return code, out + err, told


def said(note, answer):
    """Whether an answer has the note. JSON writes quotes and other characters in its own way."""
    return note[:60].replace('"', '\\"') in answer or note[:60] in answer


# What reports say in fewer words than `info`: that they leave it out, and how much.
SHORT = {"older_unknown": "allocated before the recording is not counted (see memtool info)"}

list(inputs.made_up("made"))
with open(NOTES, encoding="utf-8") as f:
    kinds = re.findall(r'\[MT_NOTE_\w+\] = "(\w+)"', f.read())
m.check(len(kinds) > 35 and sorted(kinds) == sorted(CASES), "notes that nobody lists here:", sorted(set(kinds) ^ set(CASES)))
for kind, (make, reports) in CASES.items():
    path = make(f"{kind}.recording") or f"{kind}.recording"
    if path != RECORDED:
        m.run("import", path, "--name", kind, "--partial", *IMPORTED_WITH.get(kind, []), codes=(0, 2))
    name = m.query(f"SELECT run FROM v_note WHERE run = '{kind}' AND kind = '{kind}'")
    if not name and not m.query(f"SELECT 1 AS yes FROM run WHERE name = '{kind}'"):  # imported before, for another note
        name = m.query(f"SELECT run FROM v_note WHERE kind = '{kind}'")
    if not m.check(bool(name), kind, "is not noted of", path):
        continue
    run = name[0]["run"]
    note = m.query(f"SELECT text FROM v_note WHERE run = '{run}' AND kind = '{kind}'")[0]["text"]
    other = m.query(f"SELECT b.name FROM run a JOIN run b ON a.format = b.format AND a.id <> b.id WHERE a.name = '{run}' LIMIT 1")
    other = other[0]["name"] if other else run
    m.check(said(note, m.run("info", run)[1]), kind, "info does not say:", note)
    for report in sorted(set(reports)):
        code, shown, told = answers(report, run, other)
        if code in ((2, 3) if report.startswith("leaks") else (2,)):  # it cannot answer, and says why
            m.passed += 1
            continue
        short = SHORT.get(kind, note)
        m.check(said(note, shown) or short in shown, kind, report, run, "does not say:", note, "\n", shown[-700:])
        m.check(said(note, told) or short in told, kind, report, run, "JSON does not say:", note)

# ---- figures that are lower bounds: a limit that they keep is open, one that they exceed is broken ----

for name, log in (("older_freed", "- 0\n- 0\n"), ("older_freed_leak", "- 0\n- 0\n+ 0\n")):
    text(HEAPTRACK + log + "R 1\n# strings: 2\n")(f"{name}.log")
    m.run("import", f"{name}.log", "--name", name, codes=(0, 2))
    run = name if m.query(f"SELECT 1 AS yes FROM run WHERE name = '{name}'") else "before_trace"
    leaks = 1 if "leak" in name else 3
    for code, line in ((3, "--max-peak 1TiB"), (1, "--max-peak 0"), (3, "--max-at-end 1TiB"), (leaks, "--max-at-end 0")):
        m.check(m.run("check", run, *line.split(), codes=(0, 1, 3))[0] == code, run, line, code)
    m.check(m.run("leaks", run, "--fail", codes=(0, 1, 3))[0] == leaks, run, "leaks --fail", leaks)
for code, line in ((3, "--max-peak 1TiB"), (1, "--max-peak 0"), (3, "--max-at-end 1TiB"), (1, "--max-at-end 0")):
    m.check(m.run("check", "ran_before", *line.split(), codes=(0, 1, 3))[0] == code, "ran_before", line, code)
for code, line in ((3, "--max-peak 1TiB"), (1, "--max-peak 0")):
    m.check(m.run("check", "no_peak", *line.split(), codes=(0, 1, 3))[0] == code, "no_peak", line, code)
for kind, least in (("peak_unseen", 0), ("peak_at_most", 0), ("unwatched", 3)):
    for code, line in ((least, "--max-peak 1TiB"), (1, "--max-peak 0")):
        m.check(m.run("check", kind, *line.split(), codes=(0, 1, 3))[0] == code, kind, line, code)
for code, line in ((3, "--max-at-end 1TiB"), (1, "--max-at-end 1")):
    m.check(m.run("check", "kinds_left_out", *line.split(), codes=(0, 1, 3))[0] == code, "kinds_left_out", line, code)

# ---- many runs of which the same is to be said, but for its figures ----

for i, base in enumerate((2000, 2048, 3000000), 1):  # 1.953 KiB, 2 KiB, 2.861 MiB
    t = inputs.Trace()
    some(t)
    t.op(f"aten::one{i}", 60, 9)
    t.meta["memtool_base"] = 100 * i
    t.write(f"alike{i}.json")
    m.run("import", f"alike{i}.json", "--name", f"alike{i}", "--base", str(base))
notes = m.json("check", "alike1", "alike2", "alike3", "--max-peak", "1TiB", codes=(0, 3))["notes"]
m.check(len(notes) == 1 and notes[0].startswith("alike1 (2 more runs alike): "), "said once of three runs", notes)
notes = m.json("check", "alike1", "--baseline", "alike1", "--max-peak-growth", "5%", codes=(0, 3))["notes"]
m.check(sum(note.startswith("alike1: ") for note in notes) == 1, "said once of a run that is its own baseline", notes)
m.finish(at_least=500)
