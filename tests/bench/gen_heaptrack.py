#!/usr/bin/env python3
"""Writes a log as heaptrack does: `gen_heaptrack.py OUT.zst few|many [EVENTS [STACKS]]`.

"few" is a program that allocates in a few places, again and again; of "many", an interpreter, a third of the stacks
allocates, and new ones come all the time.
"""

import random
import subprocess
import sys

DEPTH, PER_TICK, SKEW = 40, 20000, 8  # half of the events are of a hundred stacks, as real ones are


def tables(out, functions):
    """Strings and instruction pointers: a program, a file, functions with two places each."""
    strings = ["/bin/program", "/src/program.c"] + [f"function_{i}_of_the_program" for i in range(functions)]
    strings[2:5] = ["_start", "__libc_start_call_main", "main"]
    for text in strings:
        out.write(f"s {len(text):x} {text}\n")
    for i in range(functions):
        for line in (10 * i + 3, 10 * i + 7):
            out.write(f"i {0x401000 + 64 * i + line % 10:x} 1 {i + 3:x} 2 {line:x}\n")


class Stacks:
    """Grows a tree of calls: from main, each new stack calls on from one of the last."""

    def __init__(self, out, chance, functions):
        self.out, self.chance, self.functions = out, chance, functions
        self.depth, self.recent, self.kind_n = [0], [], 0
        for ip in (1, 3, 5):
            self.add(ip, len(self.depth) - 1)
        self.recent = [3]

    def add(self, ip, parent):
        self.out.write(f"t {ip:x} {parent:x}\n")
        self.depth.append(self.depth[parent] + 1)

    def grow(self, allocates):
        parent = self.recent[int(self.chance.random() * len(self.recent))]
        self.add(2 * self.chance.randrange(3, self.functions) + self.chance.randrange(2) + 1, parent)
        if self.depth[-1] < DEPTH:
            self.recent.append(len(self.depth) - 1)
            if len(self.recent) > 500:
                self.recent[self.chance.randrange(500)] = self.recent.pop()
        if allocates:
            self.out.write(f"a {self.chance.choice((16, 24, 32, 48, 64, 120, 512, 4096)):x} {len(self.depth) - 1:x}\n")
            self.kind_n += 1


def main(path, kind="few", events="4000000", stacks=None):
    many, chance = kind == "many", random.Random(4)
    events, stacks = int(events), int(stacks or (160000 if many else 100))
    with open(path, "wb") as file:
        zstd = subprocess.Popen(["zstd", "-q", "-3"], stdin=subprocess.PIPE, stdout=file, text=True)
        out = zstd.stdin
        out.write("v 10400 3\nX ./program\nI 1000 5e298d\n")
        tables(out, 4000 if many else 40)
        tree, live = Stacks(out, chance, 4000 if many else 40), []
        for i in range(16):
            tree.grow(True)
        every = max(1, events // 2 // stacks)
        for event in range(events):
            if event % every == 0 and len(tree.depth) <= stacks:
                tree.grow(event // every % 3 == 0)
            if event % PER_TICK == 0:
                out.write(f"c {event // PER_TICK * 10:x}\nR {1000 + len(live) // 64:x}\n")
            if live and (len(live) > 20000 or chance.random() < 0.5):
                at = -1 if chance.random() < 0.5 else int(chance.random() * len(live))
                live[at], live[-1] = live[-1], live[at]
                out.write(f"- {live.pop():x}\n")
            else:
                live.append(int(chance.random() ** SKEW * tree.kind_n))
                out.write(f"+ {live[-1]:x}\n")
        out.write(f"\n# strings: {4002 if many else 42}\n# ips: {8000 if many else 80}\n")
        out.close()
        if zstd.wait():
            sys.exit("zstd failed")


if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
main(*sys.argv[1:])
