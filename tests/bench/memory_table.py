#!/usr/bin/env python3
"""What a user would write without memtool: the memory table of a PyTorch trace.

memory_table.py TRACE.json[.gz] prints a JSON object, name -> [calls, self bytes, inclusive bytes].
Each memory record belongs to the innermost operator open on its thread; a name that is on the
stack more than once counts its bytes once.
"""

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from decimal import Decimal

HOST = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"}
FOLDED = [(re.compile(r"^ProfilerStep#\d+$"), "ProfilerStep*"), (re.compile(r" at 0x[0-9a-fA-F]+"), "")]


def fold(name):
    for pattern, to in FOLDED:
        name = pattern.sub(to, name)
    return name


def rows_of_threads(events):
    """Per thread: (time, is a record, -duration, position, name or bytes)."""
    threads = defaultdict(list)
    names = {}
    for position, event in enumerate(events):
        if event["ph"] == "X" and event["cat"] in HOST:
            name = event["name"]
            if name not in names:
                names[name] = fold(name)
            start, duration = int(event["ts"] * 1000), int(event["dur"] * 1000)
            row = (start, False, -duration, position, names[name])
        elif event["name"] == "[memory]":
            row = (int(event["ts"] * 1000), True, 0, position, event["args"]["Bytes"])
        else:
            continue
        threads[event["pid"], event["tid"]].append(row)
    return threads.values()


class Table:
    def __init__(self):
        self.calls, self.self_bytes, self.inclusive = Counter(), Counter(), Counter()

    def add_thread(self, rows):
        rows.sort()
        stack = []  # [end, end as recorded, name, bytes inside, the name is open further out]
        open_names = Counter()
        for time, is_record, minus_duration, _, what in rows:
            if is_record:
                self.add_record(stack, time, what)
                continue
            while stack and stack[-1][0] <= time:
                self.close(stack, open_names)
            recorded = time - minus_duration
            end = min(recorded, stack[-1][0]) if stack else recorded
            stack.append([end, recorded, what, 0, open_names[what] > 0])
            open_names[what] += 1
            self.calls[what] += 1
        while stack:
            self.close(stack, open_names)

    def add_record(self, stack, time, size):
        i = len(stack) - 1
        while i >= 0 and stack[i][1] < time:
            i -= 1
        if i >= 0:
            self.self_bytes[stack[i][2]] += size
            stack[i][3] += size
        else:
            self.self_bytes["[outside ops]"] += size
            self.inclusive["[outside ops]"] += size

    def close(self, stack, open_names):
        _, _, name, inside, again = stack.pop()
        open_names[name] -= 1
        if not again:
            self.inclusive[name] += inside
        if stack:
            stack[-1][3] += inside


def memory_table(events):
    table = Table()
    for rows in rows_of_threads(events):
        table.add_thread(rows)
    return {
        name: [table.calls[name], table.self_bytes[name], table.inclusive[name]]
        for name in {**table.calls, **table.inclusive}
    }


def main():
    path = sys.argv[1]
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        # A float does not hold the nanoseconds of a time.
        events = json.load(f, parse_float=Decimal)["traceEvents"]
    print(json.dumps(memory_table(events)))


if __name__ == "__main__":
    main()
