"""Logs of what processes have in memory, whose truth follows from how they are made here: whose figures there are, and what check says of their growth."""

import mt

m = mt.Matrix()
PER_STEP = ("--max-rss-growth-per-step", "1MiB")
PER_MINUTE = ("--max-rss-growth-per-minute", "1MiB")
FINE, WORSE, CANNOT = 0, 1, 3


def asked(name, lines, rule, code, devices):
    """Imports the lines; check says so, of so many devices."""
    path = f"{name}.log"
    with open(path, "w") as f:
        f.write("".join(line + "\n" for line in lines))
    m.run("import", path, "--name", name, codes=(0,))
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
asked("pid_once", pidstat(300, lambda i: 50000 * (i == 20)), PER_MINUTE, FINE, 1)

m.finish(11)
