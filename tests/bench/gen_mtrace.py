#!/usr/bin/env python3
"""Writes a log as glibc's mtrace() does: `gen_mtrace.py OUT [EVENTS]`. 4,000,000 events are about 180 MB."""

import random
import sys


def main(path, events="4000000"):
    chance, live, free, at, top = random.Random(4), [], [], 0, 0x5655897514A0
    callers = [f"./alloclab_mt:[{0x1100 + 16 * i:#x}]" for i in range(40)]
    with open(path, "w") as out:
        out.write("= Start\n")
        while at < int(events):
            at += 1
            if live and (len(live) > 2000 or chance.random() < 0.5):
                i = chance.randrange(len(live))
                live[i], live[-1] = live[-1], live[i]
                address = live.pop()
                free.append(address)
                out.write(f"@ {callers[at % 40]} - {address:#x}\n")
                continue
            address = free.pop() if free else top
            top += 0x500 if address == top else 0
            live.append(address)
            out.write(f"@ {callers[chance.randrange(40)]} + {address:#x} {chance.randint(1, 1200):#x}\n")


if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
main(*sys.argv[1:])
