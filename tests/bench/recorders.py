#!/usr/bin/env python3
"""Measures what recorders of a process's memory cost: `recorders.py [SECONDS [TIMES]]`; docs/performance.md has the table.

Processor time in ms of all that a recorder starts, itself included, less that of the program alone: the least of
three. Each at the same intervals, and as it comes. What is not installed beside this Python is left out.
"""
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MEMTOOL = os.environ.get("MEMTOOL", os.path.join(HERE, "..", "..", "build", "memtool"))
PROGRAM = """
import sys, time
until, held = time.monotonic() + float(sys.argv[1]), []
while time.monotonic() < until:
    held.append(bytearray(1 << 16))
    time.sleep(0.01)
    if len(held) == 50:
        held.clear()
"""


def beside(name):
    """The program of that name that belongs to this Python; None: there is none."""
    path = os.path.join(os.path.dirname(sys.executable), name)
    return path if os.path.exists(path) else None


def recorders(command, seconds):
    """Name, and its arguments for an interval in ms, or as it comes (None)."""
    mprof, psrecord = beside("mprof"), beside("psrecord")
    words = " ".join(command[:-1]) + f" {seconds}"

    def record(ms):
        return [MEMTOOL, "record", "--db", "r.db", *(["--interval", f"{ms}ms"] if ms else []), "--", *command]

    def run_mprof(ms, *more):
        return [mprof, "run", *more, *(["-T", str(ms / 1000)] if ms else []), "-o", "m.dat", *command]

    def run_psrecord(ms, *more):
        return [psrecord, *more, *(["--interval", str(ms / 1000)] if ms else []), "--log", "p.txt", words]

    yield "memtool record", record
    if mprof:
        yield "mprof run -C", lambda ms: run_mprof(ms, "-C")
    if psrecord:
        yield "psrecord --include-children", lambda ms: run_psrecord(ms, "--include-children")
    if mprof:
        yield "mprof run (first process alone)", run_mprof
    if psrecord:
        yield "psrecord (first process alone)", run_psrecord


def processor_ms(args, times):
    """The least of several runs."""
    taken = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(args, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken) * 1000


def main():
    seconds, times = sys.argv[1] if len(sys.argv) > 1 else "10", int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(PROGRAM)
        program.flush()
        command = [sys.executable, program.name, seconds]
        alone = processor_ms(command, times)
        print(f"{'the program alone':32} {alone:6.0f} ms")
        for name, args in recorders(command, seconds):
            figures = [processor_ms(args(ms), times) - alone for ms in (10, 100, None)]
            print(f"{name:32} " + " ".join(f"{what} {figure:6.0f} ms" for what, figure in zip(("10 ms:", "100 ms:", "default:"), figures)))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
