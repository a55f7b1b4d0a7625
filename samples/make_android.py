#!/usr/bin/env python3
"""Writes what Android's malloc_debug would of one small program: record_allocs.txt (every call) and dumpheap.txt (am dumpheap -n at its end).

    python3 samples/make_android.py samples/heap
"""

import collections
import random
import sys

BASE = 0x7F0000000000
STACKS = {"load": (0x1A10, 0x2200, 0x3000), "cache": (0x1A40, 0x2340, 0x3000), "draw": (0x91C0, 0x2400, 0x3000)}


def main():
    rng, live, lines, next_address = random.Random(4), {}, [], 0xB6000000
    for k in range(600):
        thread = rng.choice((186, 187))
        if live and rng.random() < 0.45:
            address = rng.choice(sorted(live))
            site, size = live.pop(address)
            if rng.random() < 0.2:
                next_address += 0x1000
                live[next_address] = (site, 2 * size)
                lines.append(f"{thread}: realloc {next_address:#x} {address:#x} {2 * size}")
            else:
                lines.append(f"{thread}: free {address:#x}")
            continue
        next_address += 0x1000
        site, size = rng.choice(sorted(STACKS)), rng.choice((16, 48, 256, 4096))
        live[next_address] = (site, size)
        call = rng.choice((f"malloc {next_address:#x} {size}", f"calloc {next_address:#x} {size // 8} 8", f"memalign {next_address:#x} 16 {size}"))
        lines.append(f"{thread}: {call}")
    lines.append("187: thread_done 0x0")
    with open(f"{sys.argv[1]}/record_allocs.txt", "w") as f:
        f.write("".join(line + "\n" for line in lines))
    records = collections.Counter(live.values())
    with open(f"{sys.argv[1]}/dumpheap.txt", "w") as f:
        f.write("Android Native Heap Dump v1.2\n\nBuild fingerprint: 'example/device:14/user'\n\n")
        f.write(f"Total memory: {sum(size * n for (_, size), n in records.items())}\nAllocation records: {len(records)}\nBacktrace size: 16\n\n")
        for (site, size), n in sorted(records.items(), key=lambda r: -r[0][1]):
            f.write(f"z 1  sz {size:8}  num {n:4}  bt {' '.join(f'{BASE + at:x}' for at in STACKS[site])}\n")
        f.write(f"MAPS\n{BASE + 0x1000:x}-{BASE + 0x8000:x} r-xp 00001000 fd:00 495    /data/app/com.example/lib/arm64/libapp.so\n")
        f.write(f"{BASE + 0x9000:x}-{BASE + 0xA000:x} r-xp 00000000 fd:00 496    /data/app/com.example/lib/arm64/libdraw.so\nEND\n")


main()
