#!/usr/bin/env python3
"""What memleak prints: at each report, what it lists is held; an own count of random blocks is the truth."""

import collections
import gzip
import random

import mt

m = mt.Matrix()
rng = random.Random(5)
STACKS = [tuple(rng.choice(("f+0x1 [app]", "g(int)+0x2c [app]", "h+0x3 [libx.so]", "operator new(unsigned long)+0x1c [libstdc++.so.6]"))
                for _ in range(rng.randrange(1, 6))) + (f"main+0x{k:x} [app]",) for k in range(8)]  # fmt: skip


def path(stack):
    """As call paths name it: without allocators at the inner end, a function that calls itself once."""
    names = [frame.split("+0x")[0].split("(")[0] for frame in stack]
    while len(names) > 1 and names[0] == "operator new":
        names.pop(0)
    out = []
    for name in reversed(names):
        if not out or out[-1] != name:
            out.append(name)
    return " > ".join(out)


def report(clock, held, top, blocks, addresses):
    lines = [f"[{clock // 3600 % 24:02}:{clock // 60 % 60:02}:{clock % 60:02}] Top {top} stacks with outstanding allocations:"]
    if blocks:
        lines += [f"\taddr = {0x1000 + i:x} size = {size}" for i, size in enumerate(s for sizes in held.values() for s in sizes)]
    for stack, sizes in sorted(held.items(), key=lambda item: sum(item[1]))[-top:]:
        lines.append(f"\t{sum(sizes)} bytes in {len(sizes)} allocations from stack")
        lines += [f"\t\t{'0x00007f0000000010' + chr(9) if addresses else ''}{frame}" for frame in stack]
    return lines


def imported(name):
    m.offered += 1
    m.taken += m.run("import", name, "--name", name, codes=(0,))[0] == 0


def by_path(rows, column):
    return {row["path"]: row[column] for row in rows if row[column]}


for name, blocks, addresses, top in (("plain", False, False, 20), ("addresses", False, True, 20), ("blocks", True, False, 20), ("largest", False, False, 3)):
    held, lines, moments = collections.defaultdict(list), ["Attaching to pid 7, Ctrl+C to quit."], []
    for k in range(25):
        for _ in range(rng.randrange(200)):
            held[rng.choice(STACKS)].append(rng.randrange(1, 5000))
        for sizes in held.values():
            rng.shuffle(sizes)
            del sizes[: rng.randrange(len(sizes) + 1) // 2]
        held = collections.defaultdict(list, {stack: sizes for stack, sizes in held.items() if sizes})
        lines += report(86300 + 5 * k, held, top, blocks, addresses)  # over midnight
        listed = sorted(held.items(), key=lambda item: sum(item[1]))[-top:]
        sums = collections.Counter()
        for stack, sizes in listed:
            sums[path(stack)] += sum(sizes)
        moments.append((sums, sum(len(sizes) for _, sizes in listed)))
        if k % 3 == 0:
            lines.append("")
    with open(name, "w") as f:
        f.write("\n".join(lines) + "\n")
    imported(name)
    totals = [sum(sums.values()) for sums, _ in moments]
    device = m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{name}'")[0]
    m.check(device["at_end_b"] == totals[-1] and device["at_end_n"] == moments[-1][1], name, "at the end", device, totals[-1])
    m.check(device["peak_b"] == max(totals), name, "peak", device["peak_b"], max(totals))
    m.check(device["peak_ns"] == totals.index(max(totals)) * 5 * 10**9, name, "when", device["peak_ns"])
    m.check(device["alloc_b"] is None, name, "what was allocated is unknown")
    m.check(bool(m.query(f"SELECT 1 FROM v_note WHERE run = '{name}' AND kind = 'kinds_left_out'")) == (top == 3), name, "more than is listed")
    rows = m.rows("table", name, "--by", "path")
    got = by_path(rows, "self_at_end_b")
    m.check(got == dict(moments[-1][0]), name, "paths at the end", mt.differences(got, dict(moments[-1][0])))
    got = by_path(rows, "self_at_peak_b")
    want = dict(moments[totals.index(max(totals))][0])
    m.check(got == want, name, "paths at the peak", mt.differences(got, want))
    with open(name) as f, gzip.open(name + "_packed", "wt", newline="") as g:
        g.write(f.read().replace("\n", "\r\n"))
    imported(name + "_packed")
    m.check(m.rows("table", name + "_packed", "--by", "path") == rows, name, "packed, other line ends")
m.finish(30)
