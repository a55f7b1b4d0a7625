"""Logs of what processes have in memory, whose truth follows from how they are made here: whose figures there are, and what check says of their growth."""

import hashlib

import mt

m = mt.Matrix()
PER_STEP = ("--max-rss-growth-per-step", "1MiB")
PER_MINUTE = ("--max-rss-growth-per-minute", "1MiB")
FINE, WORSE, CANNOT = 0, 1, 3


def asked(name, lines, rule, code, devices, pattern=None, processes=None):
    """Imports the lines, perhaps with --pattern or --processes; check says so, of so many devices."""
    path = f"{name}.log"
    with open(path, "w") as f:
        f.write("".join(line + "\n" for line in lines))
    m.run("import", path, "--name", name, *(("--pattern", pattern) if pattern else ()), *(("--processes", processes) if processes else ()), codes=(0,))
    came, out, _ = m.run("check", name, *rule, codes=(0, 1, 3))
    judged = [line for line in out.splitlines() if line[:5] in ("pass ", "FAIL ", "?    ")]
    m.check((came, len(judged)) == (code, devices), "check", name, came, out)


# ---- how often a process was looked at ----


def ranks(n, rss):
    """Two ranks: one goes up and down, the other has what rss says of step i, or nothing."""
    for i in range(n):
        yield f"[rank0]: step {i} rss {700 + i % 3} MB"
        if rss(i):
            yield f"[rank1]: step {i} rss {rss(i)} MB"


asked("idle", ranks(100, lambda i: 500), PER_STEP, FINE, 2)
asked("grows", ranks(100, lambda i: 500 + 3 * i), PER_STEP, WORSE, 2)
asked("grows_at_first", ranks(100, lambda i: 500 + 50 * min(i, 2)), PER_STEP, FINE, 2)
asked("seen_once", ranks(100, lambda i: 500 * (i == 3)), PER_STEP, CANNOT, 2)
asked("seen_twice", ranks(100, lambda i: 500 * (i in (3, 97))), PER_STEP, CANNOT, 2)
asked("seen_twice_in_a_row", ranks(100, lambda i: (500 + i) * (i in (3, 4))), PER_STEP, CANNOT, 2)
asked("seen_now_and_then", ranks(100, lambda i: 500 * (i % 30 == 0)), PER_STEP, CANNOT, 2)

HEAD = "#      Time   UID       PID  minflt/s  majflt/s     VSZ     RSS   %MEM  Command"


def pidstat(n, rss):
    yield HEAD
    for i in range(n):
        yield f"{1763870000 + i} 0 7 1.0 0.0 200000 {100000 + 4 * (i % 5)} 0.1 train"
        if rss(i):
            yield f"{1763870000 + i} 0 8 1.0 0.0 200000 {rss(i)} 0.1 idle"


asked("pid_idle", pidstat(300, lambda i: 50000), PER_MINUTE, FINE, 2)
asked("pid_grows", pidstat(300, lambda i: 50000 + 100 * i), PER_MINUTE, WORSE, 2)
# what was there for a short time is left out, unless it is seen to grow
asked("pid_brief", pidstat(300, lambda i: 50000 * (i < 20)), PER_MINUTE, FINE, 1)
asked("pid_brief_large", pidstat(300, lambda i: 900000 * (i < 20)), PER_MINUTE, FINE, 1)
asked("pid_once", pidstat(300, lambda i: 50000 * (i == 20)), PER_MINUTE, FINE, 1)


# so it is for leaks, whichever has most
for name in ("pid_idle", "pid_brief", "pid_brief_large", "pid_once"):
    m.run("leaks", name, "--fail", codes=(FINE,))
    m.run("leaks", name, name, "--fail", codes=(FINE,))
m.run("leaks", "pid_grows", "--fail", codes=(WORSE,))
m.run("leaks", "pid_brief_large", "--fail", "--device", "process:8", codes=(CANNOT,))

# ---- whose lines they are, by what stands in front of them ----


def of_ranks(n, tag, steps=50):
    """Lines of n ranks, in an order that changes; of these the second grows."""
    for i in range(steps):
        for k in sorted(range(n), key=lambda k: hashlib.md5(b"%d %d" % (k, i)).digest()):
            yield f"{tag(k)}step {i} rss {700 + 100 * k + (3 * i if k == 1 else i % 3)} MB"


TAGS = {
    "srun": lambda k: f"{k:2}: ",
    "mpiexec": lambda k: f"[{k}] ",
    "letter": lambda k: f"R{k}: ",
    "pid": lambda k: f"[{4711 + k}] ",
    "pid_colon": lambda k: f"{4711 + 4 * k}: ",
    "both": lambda k: f"{k}: [rank{k}]: ",
    "mpirun5": lambda k: f"[prterun-host-77@1,{k}]<stdout>: ",
    "kubectl": lambda k: f"[pod/train-{k}/pytorch] ",
    "compose": lambda k: f"train-{k}  | ",
    "syslog": lambda k: f"Nov 22 10:00:01 host python[{4711 + k}]: ",
    "journal": lambda k: f"2026-11-22T10:00:01+0100 host python[{4711 + k}]: ",
    "dated": lambda k: f"2026-11-27 10:00:00,123 {4711 + k} INFO ",
    "behind_name": lambda k: f"2026-11-28 10:00:00,123 - train - {4711 + 4 * k} - INFO - ",
    "gunicorn": lambda k: f"[2026-11-27 10:00:00 +0000] [{4711 + k}] [INFO] ",
    "multiprocessing": lambda k: f"[INFO/Process-{k + 1}] ",
    "main": lambda k: f"[INFO/{f'ForkProcess-{k}' if k else 'MainProcess'}] ",
    "json": lambda k: f'{{"rank": {k}}} ',
    "logging": lambda k: f"10:00:01 SpawnProcess-{k} INFO ",
}
for what, tag in TAGS.items():
    for n in (2, 5, 16):
        asked(f"{what}_{n}", of_ranks(n, tag), PER_STEP, WORSE, n)
asked("preamble", ["srun: job 7 queued", "0: begins", "1: begins", "0: loads", "1: loads", *of_ranks(2, TAGS["srun"])], PER_STEP, WORSE, 2)
asked("other_lines", [line for one in of_ranks(4, TAGS["mpiexec"]) for line in (one, "loss 0.5")], PER_STEP, WORSE, 4)

# a number in front that may be a PID or something else; --processes says which
DOUBTS = {
    "container": lambda k: f"2026-11-28 10:00:00 {(713, 812, 645, 777)[k]} ",
    "container_level": lambda k: f"2026-11-28 10:00:00,123 {7 + k} INFO ",
    "containers_gunicorn": lambda k: f"[2026-11-28 10:00:00 +0000] [{(713, 812, 645, 777)[k]}] [INFO] ",
    "spring_container": lambda k: f"2026-11-28T10:00:00.123Z  INFO {(713, 812, 645, 777)[k]} --- [worker-1] c.e.App : ",
    "behind_level": lambda k: f"2026-11-28 10:00:00,123 INFO [{4711 + 4 * k}] ",
    "loguru": lambda k: f"2026-11-28 10:00:00.123 | INFO     | {4711 + 4 * k} | train:main:45 - ",
    "date": lambda k: f"Sun Nov  1 10:00:00 CEST 2026 {4711 + 4 * k} ",
    "postgres": lambda k: f"2026-11-28 10:00:00.123 UTC [{4711 + 4 * k}] LOG:  ",
    "absl": lambda k: f"I1128 10:00:00.123456 {4711 + 4 * k} train.py:45] ",
    "small_pid": lambda k: f"[{(713, 812, 645, 777)[k]}] ",
    "by_eight": lambda k: f"[{4712 + 16 * k}] ",
    "by_ten": lambda k: f"[{4710 + 30 * k}] ",
    "host": lambda k: f"ip-10-0-0-{k + 1}: ",
    "pod": lambda k: f"train-{k} pytorch ",
    "bar": lambda k: f"{k} | ",
    "parenthesis": lambda k: f"({k}) ",
    "dated_bracket": lambda k: f"2026-11-28 10:00:00 [{k}] ",
}
for what, tag in DOUBTS.items():
    asked(what, of_ranks(4, tag), PER_STEP, CANNOT, 1)
    asked(f"{what}_apart", of_ranks(4, tag), PER_STEP, WORSE, 4, processes="several")
asked("in_blocks", (f"[{4711 + 9 * (i // 40)}] step {i} rss {700 + 100 * (i // 40) + i % 3} MB" for i in range(160)), PER_STEP, CANNOT, 1)


def in_turns(n, tag, rss, rounds=40):
    """What one program does in so many parts, one behind the other."""
    return (f"{tag(i % n)}step {i // n} rss {rss(i)} MB" for i in range(n * rounds))


for what in ("srun", "mpiexec"):
    for n in (2, 4):
        asked(f"turns_{what}_{n}", in_turns(n, TAGS[what], lambda i: 700 + i % 3), PER_STEP, CANNOT, 1)
        asked(f"turns_one_{what}_{n}", in_turns(n, TAGS[what], lambda i: 700 + i % 3), PER_STEP, FINE, 1, processes="one")
        asked(f"turns_grow_{what}_{n}", in_turns(n, TAGS[what], lambda i: 700 + 3 * i), PER_STEP, WORSE, 1, processes="one")
        asked(f"turns_apart_{what}_{n}", in_turns(n, TAGS[what], lambda i: 700 + i % 3), PER_STEP, FINE, n, processes="several")
asked("turns_doubt", in_turns(2, TAGS["mpiexec"], lambda i: 700 + 3 * i), PER_STEP, CANNOT, 1)
m.check(m.run("leaks", "turns_doubt", "--fail", codes=(0, 1, 3))[0] == CANNOT, "leaks turns_doubt")
asked("launched", ["srun: job 7 queued", *in_turns(2, TAGS["srun"], lambda i: 700 + i % 3)], PER_STEP, FINE, 2)

# the first MiB has one of them, or nothing that tells them apart
FIRST = [f"0: rss 70{i % 2} MB of {'x' * 100}" for i in range(30000)]
asked("late", [*FIRST, *of_ranks(4, TAGS["srun"])], ("--max-peak", "1GiB"), CANNOT, 1)
asked("late_apart", [*FIRST, *of_ranks(4, TAGS["srun"])], ("--max-peak", "2GiB"), FINE, 4, processes="several")
asked("late_epochs", [*FIRST, *(f"{1 + i // 30}: step {i} rss 700 MB" for i in range(120))], ("--max-peak", "1GiB"), FINE, 1)
# what is more than the limit is that of some process, whoever it is
asked("doubt_peak", in_turns(2, TAGS["mpiexec"], lambda i: 700), ("--max-peak", "600MiB"), WORSE, 1)
# lines of several ranks that print alike, or of several points of a step: the lowest alone is no evidence
def alike(n, rss, steps=100, mixed=True):
    """Each of n ranks prints once in a step, in an order that changes, or always the same."""
    for i in range(steps):
        for k in sorted(range(n), key=lambda k: hashlib.md5(b"%d %d" % (k, i)).digest() if mixed else k):
            yield f"step {i} rss {rss(k, i)} MB"


def without_steps(lines):
    return (line.split(" ", 2)[2] for line in lines)


for n in (2, 3, 8):
    asked(f"alike_{n}", alike(n, lambda k, i: 700 + 10 * k + i % 3), PER_STEP, FINE, 1)
    for grows in range(1, n):
        name = f"alike_grows_{n}_{grows}"
        asked(name, alike(n, lambda k, i: 700 + 10 * k + (2 * i if k == grows else i % 3)), PER_STEP, CANNOT, 1)
        m.run("leaks", name, "--fail", codes=(CANNOT,))
ahead = (f"step {i + k} rss {700 + (4 * i if k else i % 3)} MB" for at in range(0, 100, 5) for k in (5, 0) for i in range(at, at + 5))
asked("alike_out_of_step", ahead, PER_STEP, CANNOT, 1)
# in few large steps, as what epochs leave is
for steps, every in (300, 60), (12, 3):
    asked(f"alike_epochs_{steps}", alike(2, lambda k, i, every=every, least=500 - steps // 3: least + 225 * (i // every) if k else 505 + i % 2, steps), PER_STEP, CANNOT, 1)
    m.run("leaks", f"alike_epochs_{steps}", "--fail", codes=(CANNOT,))
no_steps = list(without_steps(alike(2, lambda k, i: 700 + (5 * i if k else i % 3))))
asked("alike_no_steps", no_steps, ("--max-peak", "2GiB"), FINE, 1)
m.run("leaks", "alike_no_steps", "--fail", codes=(CANNOT,))
asked("alike_no_steps_one", no_steps, ("--max-peak", "2GiB"), FINE, 1, processes="one")
m.run("leaks", "alike_no_steps_one", "--fail", codes=(FINE,))
# without steps each prints once in a round, whatever the order in it
for n, apart_mb in (3, 1000), (8, 30):
    for grows in range(n):
        for mixed in (False, True):
            name = f"alike_rounds_{n}_{grows}_{mixed}"
            lines = alike(n, lambda k, i: 700 + apart_mb * k + (10 * i if k == grows else i % 3), 200, mixed)
            asked(name, without_steps(lines), ("--max-peak", "20GiB"), FINE, 1)
            m.run("leaks", name, "--fail", codes=(WORSE, CANNOT))
asked("alike_rounds_flat", without_steps(alike(8, lambda k, i: 700 + 30 * k + i % 3, 200)), ("--max-peak", "20GiB"), FINE, 1)
m.run("leaks", "alike_rounds_flat", "--fail", codes=(FINE,))
asked("alike_one", alike(2, lambda k, i: 700 + (2 * i if k else i % 3)), PER_STEP, FINE, 1, processes="one")
asked("alike_all_grow", alike(3, lambda k, i: 700 + 10 * k + 3 * i), PER_STEP, WORSE, 1)
asked("alike_warm_up", alike(2, lambda k, i: 700 + (10 * min(i, 12) if k else i % 3)), PER_STEP, FINE, 1)
asked("alike_varies", alike(2, lambda k, i: 700 + (i * 37 % 101 if k else i % 3)), PER_STEP, FINE, 1)
# nobody says what tells several processes apart
asked("several", (f"step {i} rss {700 + i % 3} MB" for i in range(100)), PER_STEP, CANNOT, 1, processes="several")
asked("one", of_ranks(4, lambda k: f"[rank{k}]: "), ("--max-peak", "1200MiB"), FINE, 1, processes="one")
asked("spring", of_ranks(4, lambda k: f"2026-11-28T10:00:00.123+01:00  INFO {4711 + k} --- [main] c.e.App : "), PER_STEP, WORSE, 4)
asked("sglang", of_ranks(4, lambda k: f"[2026-11-28 10:00:00 DP0 TP{k}] "), PER_STEP, WORSE, 4)

# numbers that count something are none
COUNTS = {
    "lines": lambda i: f"{i + 1}: step {i} ",
    "bracket": lambda i: f"[{i}] step {i} ",
    "of_all": lambda i: f"[{i % 12}/12] step {i} ",
    "clock": lambda i: f"[12:{i // 60:02}:{i % 60:02}] step {i} ",
    "epoch": lambda i: f"{i // 10}: step {i} ",
    "batch": lambda i: f"[{i % 20}] step {i} ",
    "status": lambda i: f"[{(200, 404, 301)[i * i % 3]}] step {i} ",
    "seconds": lambda i: f"{1763870000 + i}: step {i} ",
}
for what, tag in COUNTS.items():
    asked(f"count_{what}", (f"{tag(i)}rss {700 + i % 3} MB" for i in range(100)), PER_STEP, FINE, 1)
    asked(f"count_{what}_grows", (f"{tag(i)}rss {700 + 3 * i} MB" for i in range(100)), PER_STEP, WORSE, 1)
for name, mark in (("gpus", "[{}] cuda memory"), ("list", "{}: memory")):
    asked(f"no_rss_{name}", (line for i in range(100) for line in (mark.format(0), mark.format(1), f"step {i} rss {700 + i % 3} MB")), PER_STEP, FINE, 1)

# what may be either, and workers that somebody tells of, nobody can judge
asked("few_in_order", (f"[{i % 5}] epoch {i // 5} rss {700 + i % 3} MB" for i in range(200)), PER_STEP, CANNOT, 1)
for n in (4, 1000):
    asked(f"told_{n}", (f"worker {i % n} done, step {i} rss {700 + i % 3} MB" for i in range(100)), PER_STEP, CANNOT, 1)
asked("told_one", (f"worker 3 is ready, step {i} rss {700 + i % 3} MB" for i in range(100)), PER_STEP, FINE, 1)
asked("requests", (f"request {i} done, step {i} rss {700 + i % 3} MB" for i in range(100)), PER_STEP, FINE, 1)
asked("workers", of_ranks(4, lambda k: f"worker {k} "), PER_STEP, WORSE, 4)

# a worker that is done says so itself, where it has lines of its own
asked("worker_ends", [*(f"worker {k} started, rss 300 MB" for k in (0, 1)), *of_ranks(2, lambda k: f"worker {k} "), *(f"worker {k} done, rss 800 MB" for k in (0, 1))], PER_STEP, WORSE, 2)
# what stands in a column
COLUMNS = {
    "threads": lambda i: f"Thread-{i * i % 3 + 1}     | step {i} ",
    "table": lambda i: f"it_{i:05}  | step {i} ",
    "module": lambda i: f"2026-11-28T10:00:{i % 60:02} INFO epoch[{i // 10}]: step {i} ",
    "sizes": lambda i: f"[{(1024, 1536)[i % 2]}] step {i} ",
    "tokens": lambda i: f"{(1000, 1536)[i % 2]} tokens, step {i} ",
    "seconds_of_date": lambda i: f"Sun Nov  1 10:00:{i % 60:02} CET 2026 step {i} ",
    "sizes_colon": lambda i: f"{(8, 16, 32)[i * i % 3]}: step {i} ",
    "rate": lambda i: f"2026-11-28 10:00:{i % 60:02} {1200 + i * 37 % 500} req/s, step {i} ",
    "time": lambda i: f"2026-11-28 10:00:{i % 60:02} {20 + i * i % 7} ms step {i} ",
    "pid": lambda i: f"2026-11-28 10:00:{i % 60:02} 4711 INFO step {i} ",
    "powers": lambda i: f"[{(8, 16, 32)[i * i % 3]}] step {i} ",
    "lengths": lambda i: f"[{1000 + i * 631 % 900}] step {i} ",
    "source": lambda i: f"2026-11-28 10:00:{i % 60:02} {(45, 61)[i % 2]} INFO {('loss 0.5', 'norm 3')[i % 2]} step {i} ",
    "source_late": lambda i: f"2026-11-28 10:00:{i % 60:02} {(1045, 1061)[i % 2]} INFO {('loss 0.5', 'norm 3')[i % 2]} step {i} ",
    "workers": lambda i: f"2026-11-28 10:00:{i % 60:02} {3 + i % 4} workers, step {i} ",
    "percent": lambda i: f"2026-11-28 10:00:{i % 60:02} {i % 4}% step {i} ",
    "epochs": lambda i: f"2026-11-28 10:00:{i % 60:02} INFO {i // 20} step {i} ",
    "batches": lambda i: f"2026-11-28 10:00:{i % 60:02} INFO [{i % 30}] step {i} ",
    "thread": lambda i: f"2026-11-28 10:00:{i % 60:02} INFO 1 --- [exec-{i % 4}] c.e.App : step {i} ",
    "lora": lambda i: f"lora rank={(8, 16)[i % 2]} alpha=16 step {i} ",
}
for what, tag in COLUMNS.items():
    asked(f"column_{what}", (f"{tag(i)}rss {700 + i % 3} MB" for i in range(100)), PER_STEP, FINE, 1)
    asked(f"column_{what}_grows", (f"{tag(i)}rss {700 + 3 * i} MB" for i in range(100)), PER_STEP, WORSE, 1)
# where all were there for a short time, each is judged
for what, rss, code in (("flat", lambda i: 700 + i % 3, FINE), ("falls", lambda i: 900 - i, FINE)):
    asked(f"restarted_{what}", (f"pid {4711 + i // 60} step {i} rss {rss(i)} MB" for i in range(120)), PER_STEP, code, 2)
asked("restarted_soon", (f"pid {4711 + i // 4} step {i} rss 700 MB" for i in range(120)), PER_STEP, CANNOT, 30)

# what one process prints beside its rss is neither a table, nor a process, nor its rss
STATUS = "Name:\tpython\nPid:\t4711\nVmHWM:\t  820000 kB\nVmRSS:\t  716800 kB"
BESIDE = {
    "title": lambda i: "RSS tracking enabled\nseed 42",
    "title_of_level": lambda i: "INFO     rss is logged\nseed 42",
    "title_alone": lambda i: "RSS\n===\nseed 42",
    "title_of_others": lambda i: "RSS\nepoch  loss\n0  0.5",
    "gpu_process": lambda i: "GPU process memory usage: 9 GB",
    "gpu_and_cpu": lambda i: "GPU/CPU memory usage: 9 GB",
    "gpu_process_rss": lambda i: "CUDA process RSS: 9 GB",
    "capitals": lambda i: f"2026-11-28 10:00:{i % 60:02} TPS {1201 + i * i % 7} and more",
    "speed": lambda i: f"{i} of 100, loss 0.5 {311 + i * i % 5} it/s\nVmRSS:\t  716800 kB",
    "phase": lambda i: f"train: 50000 samples\nVmRSS:\t  716800 kB\nval: 10000 samples\nVmRSS:\t  716800 kB",
    "size": lambda i: f"image size {(224, 256)[i % 2]}\nVmRSS:\t  716800 kB",
    "took": lambda i: f"forward took {200 + i * i % 7} ms\nVmRSS:\t  716800 kB",
    "throughput": lambda i: f"10:00:{i % 60:02} throughput {1001 + i * i % 7} tok/s\nVmRSS:\t  716800 kB",
    "episodes": lambda i: f"[ep-{i}] reward 3",
    "status": lambda i: f"{STATUS}\n[INFO/MainProcess] vms 900 MB",
    "status_of_rank": lambda i: f"{STATUS}\n[rank0]: vms 900 MB",
}
for what, beside in BESIDE.items():
    asked(f"beside_{what}", (f"step {i} rss {700 + i % 3} MB\n{beside(i)}" for i in range(60)), ("--max-peak", "1GiB"), FINE, 1)
# four of which one grows: lines in front of the kernel's say whose they are, beside a date or a name
HEADS = {
    "seconds": lambda i, pid: f"{1763870000 + i} {pid}",
    "english": lambda i, pid: f"Sat 28 Nov 2026 10:00:{i % 60:02} AM CET {pid}",
    "german": lambda i, pid: f"28.11.2026 10:00 {pid}",
    "sample": lambda i, pid: f"sample {i} pid {pid}",
    "command": lambda i, pid: f"pid {pid}: python part{pid % 4}.py --epochs 10",
    "path": lambda i, pid: f"==> /proc/{pid}/status <==",
    "named": lambda i, pid: f"trainer-{pid % 4} {pid}",
}
for what, head in HEADS.items():
    lines = (f"{head(i, pid)}\nVmRSS:\t{(5000 - 1000 * k + 5 * i * (k == 1)) << 10} kB" for i in range(60) for k, pid in enumerate((4711, 4714, 4717, 4720)))
    asked(f"in_front_{what}", lines, ("--max-peak", "9GiB"), CANNOT, 1)
asked("json", (f'{{"rank": "{k}", "x": "step {i} rss: {700 + (3 * i if k else 0)} MB"}}' for i in range(60) for k in (0, 1)), ("--max-peak", "1GiB"), FINE, 2)
asked("status_and_pids", (f"(pid={p}) step {i} rss {r} MB\n{STATUS}" for i in range(60) for p, r in ((4711, 700), (4719, 700 + 3 * i))), PER_STEP, WORSE, 2)
for what, head in (("one", ("RSS", "9437184")), ("ps", ("  PID   RSS CMD", " 4711 9437184 python")), ("level", ("INFO     step  rss (MB)  loss", "1  9437  0.5"))):
    asked(f"table_{what}", ["rss 1 MB", *head, "rss 1 MB"], ("--max-peak", "1GiB"), CANNOT, 1)

# with --pattern, too, unless that says what they are
asked("pattern_in_turns", (f"{k}: it {i} mem {700 + (3 * i if k else 0)} MB" for i in range(60) for k in (0, 1)), PER_STEP, CANNOT, 1, "it {step} mem {rss}")
asked("pattern", (f"{k}: it {i} mem {700 + (3 * i if k else 0)} MB" for i in range(60) for k in ((0, 1), (1, 0), (1, 0))[i % 3]), PER_STEP, WORSE, 2, "it {step} mem {rss}")
asked("pattern_step", (f"[{i}] epoch {k} mem {700 + i % 3} MB" for k in range(2) for i in range(60)), PER_STEP, FINE, 1, "^.{step}.*mem {rss}")

m.finish(300)
