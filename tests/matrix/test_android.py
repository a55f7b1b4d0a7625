#!/usr/bin/env python3
"""Android's malloc_debug: both of its texts against an own count; a dump holds what the calls have left."""

import collections
import os
import random

import mt

HEAP = os.path.join(os.environ["SAMPLES"], "heap")
m = mt.Matrix()


def play(lines):
    live, level, peak, alloc_b, alloc_n = {}, 0, 0, 0, 0
    for line in lines:
        _, op, *rest = line.split()
        number = [int(n, 0) for n in rest]
        size = number[1] * number[2] if op == "calloc" else number[-1]
        if op == "free" or (op == "realloc" and number[1] and (number[0] or not size)):
            level -= live.pop(number[0] if op == "free" else number[1], 0)
        if op in ("malloc", "calloc", "memalign", "realloc") and number[0]:
            level += size - live.get(number[0], 0)
            live[number[0]] = size
            alloc_b += size
            alloc_n += 1
        peak = max(peak, level)
    return {"alloc_b": alloc_b, "alloc_n": alloc_n, "peak_b": peak, "at_end_b": level, "at_end_n": len(live)}


def imported(path, run):
    m.offered += 1
    m.taken += m.run("import", path, "--name", run, codes=(0,))[0] == 0
    return m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]


with open(f"{HEAP}/record_allocs.txt") as f:
    lines = f.read().splitlines()
calls, dump = imported(f"{HEAP}/record_allocs.txt", "calls"), imported(f"{HEAP}/dumpheap.txt", "dump")
for column, want in play(lines).items():
    m.check(calls[column] == want, "calls", column, calls[column], want)
m.check((dump["at_end_b"], dump["at_end_n"]) == (calls["at_end_b"], calls["at_end_n"]), "the dump holds what is left", dump, calls)
m.check(dump["alloc_b"] is None and dump["peak_b"] is None, "dump", "what it does not say", dump)

rng = random.Random(9)
for case in range(4):
    live, lines, t = [], [], 10**9
    for k in range(500):
        thread, new, old = rng.choice((5, 6, 7)), 0x1000 * (k + 1), rng.choice(live) if live else 0
        size, kind = rng.randrange(1, 4000), rng.randrange(6)
        if kind == 4 and old:
            fails = rng.random() < 0.2
            line = f"realloc {0 if fails else new:#x} {old:#x} {size}"
            live += [] if fails else [new]
            live = [a for a in live if fails or a != old]
        elif kind == 5 and old:
            line = f"free {old:#x}"
            live.remove(old)
        else:
            line = rng.choice((f"malloc {new:#x} {size}", f"calloc {new:#x} {size} 3", f"memalign {new:#x} 16 {size}"))
            live.append(new)
        t += rng.randrange(1000)
        lines.append(f"{thread}: {line}")
    with open(f"made{case}", "w") as f:
        f.writelines(line + (f" {t + 10 * k} {t + 10 * k + 5}" if case % 2 else "") + "\n" for k, line in enumerate(lines))
    device = imported(f"made{case}", f"made{case}")
    for column, want in play(lines).items():
        m.check(device[column] == want, f"made{case}", column, device[column], want)

# Dumps of any records, with and without names.
for case in range(3):
    want, records = collections.Counter(), []
    for _ in range(200):
        stack, size, n = tuple(rng.choice((0x11000, 0x12340, 0x25000)) for _ in range(rng.randrange(1, 5))), rng.randrange(1, 999), rng.randrange(1, 9)
        names = [{0x11000: "[liba.so+0x1000]", 0x12340: "[liba.so+0x2340]", 0x25000: "[0x25000]"}[a] for a in stack]
        info = ""
        if case == 1 and rng.random() < 0.5:
            names = [f"f{a:x}" for a in stack]
            info = "  bt_info " + " ".join(f'{{"/l/liba.so" {a:x} "f{a:x}(int)" 4}}' for a in stack) + "\n"
        path = [name for k, name in enumerate(reversed(names)) if not k or list(reversed(names))[k - 1] != name]
        want[" > ".join(path)] += size * n
        records.append(f"z {rng.randrange(2)}  sz {size:8}  num {n:4}  bt {' '.join(f'{a:x}' for a in stack)}\n{info}")
    total = sum(want.values()) + (777 if case == 2 else 0)
    with open(f"dump{case}", "w") as f:
        f.write(f"Android Native Heap Dump v1.2\n\nBuild fingerprint: ''\n\nTotal memory: {total}\nAllocation records: 200\nBacktrace size: 16\n\n")
        f.write("".join(records) + "MAPS\n10000-20000 r-xp 00000000 fd:00 4    /l/liba.so\nEND\n\n")
    device = imported(f"dump{case}", f"dump{case}")
    m.check(device["at_end_b"] == total, f"dump{case}", "at the end", device["at_end_b"], total)
    got = {row["path"]: row["self_at_end_b"] for row in m.rows("table", f"dump{case}", "--by", "path") if row["self_at_end_b"] and " no call" not in row["path"]}
    got.pop("[no call path]", None)
    m.check(got == dict(want), f"dump{case}", "paths", mt.differences(got, dict(want)))
m.finish(25)
