#!/usr/bin/env python3
"""What a user would write without memtool: self bytes by operator name of a PyTorch trace.

self_bytes.py TRACE.json[.gz] prints a JSON object, name -> bytes, without the zeros. Each memory
record belongs to the innermost operator open on its thread.
"""

import gzip
import json
import re
import sys
from collections import defaultdict

HOST = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"}


def self_bytes(events):
    threads = defaultdict(list)  # per thread: (time, -duration, position, name or bytes)
    for position, event in enumerate(events):
        if event["ph"] == "X" and event["cat"] in HOST:
            row = (round(event["ts"] * 1000), -round(event["dur"] * 1000), position, event["name"])
        elif event["name"] == "[memory]":
            row = (round(event["ts"] * 1000), 0, position, event["args"]["Bytes"])
        else:
            continue
        threads[event["pid"], event["tid"]].append(row)
    total = defaultdict(int)
    for rows in threads.values():
        rows.sort()
        stack = []  # (end, name) of the open operators
        for time, minus_dur, _, what in rows:
            while stack and stack[-1][0] <= time:
                stack.pop()
            if isinstance(what, str):
                stack.append((time - minus_dur, what))
            else:
                total[stack[-1][1] if stack else "[outside ops]"] += what
    return total


def main():
    path = sys.argv[1]
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        total = self_bytes(json.load(f)["traceEvents"])
    folded = defaultdict(int)
    for name, n in total.items():
        folded[re.sub(r"^ProfilerStep#\d+$", "ProfilerStep*", name)] += n
    print(json.dumps({name: n for name, n in folded.items() if n != 0}))


if __name__ == "__main__":
    main()
