"""Rows that a program writes itself of its memory (docs/formats/events.md), one program in every form:

    python3 samples/make_rows.py samples/heap
"""

import collections
import csv
import json
import os
import random
import sys

SITES = ("main (app.c:3);load (load.c:12);read_all (load.c:40)", "main (app.c:5);step (app.c:20);buffer (app.c:31)",
         "main (app.c:5);step (app.c:21);remember (app.c:44)", "main (app.c:5);step (app.c:22);temporary (app.c:50)")  # fmt: skip


def events():
    """Twenty steps: a buffer that is freed in the step, one that grows, 100 B that stay, 64 B that are freed at once."""
    rng, t, next_address = random.Random(7), 0.0, 0x55550000

    def address():
        nonlocal next_address
        next_address += 0x10000
        return next_address

    loaded = address()
    yield t, "alloc", loaded, None, 1 << 20, SITES[0], "main"
    for step in range(20):
        thread = f"worker {step % 2}"
        buffer = address()
        t += 0.01
        yield t, "alloc", buffer, None, 4096 * (1 + step % 5), SITES[1], thread
        t += 0.001
        yield t, "alloc", address(), None, 100, SITES[2], thread
        for _ in range(rng.randrange(4)):
            short = address()
            yield t, "alloc", short, None, 64, SITES[3], thread
            t += 0.0005
            yield t, "free", short, None, None, None, thread
        grown = address()
        yield t, "realloc", grown, buffer, 32768, SITES[1], thread
        t += 0.002
        yield t, "free", grown, None, None, None, thread
    t += 0.01
    yield t, "free", loaded, None, None, None, "main"


class Sums:
    """What the same events come to: of each stack, and what is held after each of them."""

    def __init__(self):
        self.live, self.of = {}, collections.defaultdict(lambda: dict.fromkeys(("alloc_b", "alloc_n", "at_peak_b", "at_peak_n", "at_end_b", "at_end_n"), 0))
        self.level = self.peak = 0
        self.series = []

    def held(self, figure):
        for sums in self.of.values():
            sums[f"at_{figure}_b"] = sums[f"at_{figure}_n"] = 0
        for size, stack in self.live.values():
            self.of[stack][f"at_{figure}_b"] += size
            self.of[stack][f"at_{figure}_n"] += 1

    def add(self, t, op, address, old, size, stack):
        for gone in {"free": (address,), "realloc": (old,)}.get(op, ()):
            self.level -= self.live.pop(gone)[0]
        if op != "free":
            self.live[address] = (size, stack)
            self.level += size
            self.of[stack]["alloc_b"] += size
            self.of[stack]["alloc_n"] += 1
        if self.level > self.peak:
            self.peak = self.level
            self.held("peak")
        self.series.append((round(t * 1000, 3), self.level))


def main(folder):
    sums = Sums()
    with open(os.path.join(folder, "events.csv"), "w", newline="") as f, open(os.path.join(folder, "events.jsonl"), "w") as j:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(("time", "op", "address", "old_address", "size", "stack", "thread"))
        for t, op, address, old, size, stack, thread in events():
            sums.add(t, op, address, old, size, stack)
            rows.writerow((f"{t:.4f}", op, hex(address), old and hex(old), size, stack, thread))
            row = {"time": round(t, 4), "op": op, "address": address, "old_address": old, "size": size, "stack": stack and stack.split(";"), "thread": thread}
            j.write(json.dumps({key: value for key, value in row.items() if value is not None}) + "\n")
    sums.held("end")
    with open(os.path.join(folder, "sums.csv"), "w", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(("stack", *sums.of[SITES[0]]))
        rows.writerows((stack, *figures.values()) for stack, figures in sums.of.items())
    with open(os.path.join(folder, "series.csv"), "w", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(("time_ms", "bytes"))
        rows.writerows(sums.series)


if __name__ == "__main__":
    main(sys.argv[1])
