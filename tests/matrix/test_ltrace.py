#!/usr/bin/env python3
"""ltrace: figures are those of an own count of the outermost calls, in every form of the lines."""

import gzip
import os
import random
import re

import mt

SAMPLE = os.path.join(os.environ["SAMPLES"], "heap", "ltrace.log.gz")
m = mt.Matrix()
LINE = re.compile(r"^(?:\[pid +(\d+)\] |(\d+) +)?(?:\d[\d.:]+ )?(?:\[\w+\] )?(.*)$")
FAMILY = re.compile(r"^(?:([\w.+-]+)->)?(malloc|calloc|realloc|free|memalign|_Znwm|_ZdlPv)\(")


class Heap:
    def __init__(self):
        self.live, self.level, self.peak, self.alloc_b, self.alloc_n, self.freed_b = {}, 0, 0, 0, 0, 0

    def free(self, address):
        size, _ = self.live.pop(address, (0, None))
        self.level -= size
        self.freed_b += size

    def alloc(self, address, size, caller):
        self.free(address)
        self.live[address] = (size, caller)
        self.level += size
        self.alloc_b += size
        self.alloc_n += 1
        self.peak = max(self.peak, self.level)


def numbers(text):
    return [int(n, 16 if n.startswith("0x") else 10) for n in re.findall(r"0x[0-9a-f]+|\d+", text)]


def play(lines):
    heap, pending = Heap(), {}

    def give(name, args, caller, result):
        size = args[0] * args[1] if name == "calloc" else args[1] if name in ("realloc", "memalign") else args[0]
        if name == "realloc" and args[0] and (result or not size):
            heap.free(args[0])
        if result:
            heap.alloc(result, size, caller)

    for line in lines:
        pid, other, rest = LINE.match(line.rstrip("\n")).groups()
        stack = pending.setdefault(pid or other, [])
        call = FAMILY.match(rest)
        if rest.startswith("<... "):
            if stack and rest[5:].startswith(stack[-1][0] + " "):
                name, args, caller = stack.pop()
                if not stack and name not in ("free", "_ZdlPv"):
                    give(name, args, caller, numbers(rest.split(" = ")[-1])[0])
        elif call:
            args, later = numbers(rest[call.end() :].split(") ")[0]), rest.endswith("<unfinished ...>")
            if call[2] in ("free", "_ZdlPv") and not stack:
                heap.free(args[0])
            elif not later and not stack:
                give(call[2], args, call[1], numbers(rest.split(" = ")[-1])[0])
            if later:
                stack.append((call[2], args, call[1]))
    return heap


def imported(path, run):
    m.offered += 1
    m.taken += m.run("import", path, "--name", run, codes=(0,))[0] == 0
    return m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]


def compare(run, path, lines):
    heap, device = play(lines), imported(path, run)
    for column, want in (("alloc_b", heap.alloc_b), ("alloc_n", heap.alloc_n), ("freed_b", heap.freed_b), ("peak_b", heap.peak),
                         ("at_end_b", heap.level), ("at_end_n", len(heap.live))):  # fmt: skip
        m.check(device[column] == want, run, column, device[column], want)
    want = {}
    for size, caller in heap.live.values():
        if caller:
            want[f"[{caller}]"] = want.get(f"[{caller}]", 0) + size
    got = {row["name"]: row["self_at_end_b"] for row in m.rows("table", run, "--by", "name") if row["self_at_end_b"] and "no call" not in row["name"]}
    m.check({k: v for k, v in got.items() if k in want} == {k: v for k, v in want.items() if v}, run, "by caller", got, want)


with gzip.open(SAMPLE, "rt") as f:
    sample = f.readlines()
compare("sample", SAMPLE, sample)
# What the program keeps, by its own comments: 1,000 blocks of 128 B and 10 of 10,000 B.
device = m.query("SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = 'sample'")[0]
m.check(device["at_end_b"] == 228000 and device["at_end_n"] == 1010, "sample", "what the program keeps", device)

rng = random.Random(2)
for case in range(5):
    lines, live, inside, next_address = [], [], {}, 0x5000
    for k in range(600):
        pid, head = rng.choice((7, 8, 9)), ""
        head = f"{pid} 1795383388.{k:06} " if case % 2 else f"[pid {pid}] "
        if case == 4:
            head += "[0x401136] "
        who = rng.choice(("app->", "libx.so.1->", ""))
        next_address += 0x10000
        fresh, size = next_address, rng.randrange(1, 3000)
        old = rng.choice(live) if live else 0
        kind = rng.randrange(7)
        if kind < 2:
            begin, result = f"malloc({size}", fresh
        elif kind == 2:
            begin, result = f"calloc({size}, 3", fresh
        elif kind == 3 and old:
            fails = rng.random() < 0.2
            begin, result = f"realloc({old:#x}, {size}", 0 if fails else rng.choice((fresh, old))
            if result:
                live.remove(old)
        elif kind == 4:
            begin, result = f"_Znwm({size}, 0, 1, {0x7000 + size:#x}", fresh
        elif kind == 5:
            begin, result = f"memalign(64, {size}", fresh
        elif old:
            begin, result = f"{rng.choice(('free', '_ZdlPv'))}({old:#x}", None
            live.remove(old)
        else:
            continue
        if result:
            live.append(result)
        name, shown = begin.split("(")[0], "<void>" if result is None else f"{result:#x}" if result else "0"
        if rng.random() < 0.3:
            lines.append(f"{head}{who}{begin} <unfinished ...>")
            if name == "_Znwm":
                lines.append(f"{head}libstdc++.so.6->malloc({size})   = {result:#x}")
            if name == "_ZdlPv":
                lines.append(f"{head}libstdc++.so.6->free({old:#x}) = <void>")
            lines.append(f"{head}<... {name} resumed> )      = {shown}")
        else:
            lines.append(f"{head}{who}{begin})    = {shown}" + (" <0.000012>" if case == 3 else ""))
        if rng.random() < 0.1:
            lines.append(f'{head}{who}puts("free(0x5000) = <void>") = 3')
    with open(f"made{case}", "w") as f:
        f.write("\n".join(lines) + "\n")
    compare(f"made{case}", f"made{case}", lines)
m.finish(30)
