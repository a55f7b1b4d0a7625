#!/usr/bin/env python3
"""Writes a large heap profile in pprof's format. `gen_pprof.py OUT [STACKS [DEPTH [FUNCTIONS]]]`

Random stacks are the worst that a reader meets: hardly any call path is part of another. With "like-go" as STACKS they
are walks in a program of few callers a function, as real profiles are.
"""

import random
import sys


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def numbers(number, values):
    return field(number, b"".join(map(varint, values)))


def number(of, value):
    return varint(of << 3) + varint(value)


def main(path, stacks="60000", depth="250", functions="20000"):
    functions, depth, chance = int(functions), int(depth), random.Random(4)
    like_go = stacks == "like-go"
    strings = ["", "alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "inuse_space", "/bin/server"]
    with open(path, "wb") as out:
        for kind, unit in ((1, 2), (3, 4), (5, 2), (6, 4)):
            out.write(field(1, number(1, kind) + number(2, unit)))
        for _ in range(200000 if like_go else int(stacks)):
            if like_go:
                at, stack = chance.randrange(50), []
                for _ in range(chance.randint(depth // 4, depth)):
                    stack.append(at + 1)
                    at = (at * 7 + chance.randrange(3) + 1) % functions
                stack.reverse()
            else:
                stack = [chance.randrange(functions) + 1 for _ in range(chance.randint(depth // 2, depth * 3 // 2))]
            n, size = chance.randint(1, 50), chance.choice((16, 64, 512, 4096))
            live = chance.randint(0, n)
            out.write(field(2, numbers(1, stack) + numbers(2, (n, n * size, live, live * size))))
        out.write(field(3, number(1, 1) + number(2, 0x400000) + number(3, 0x4000000) + number(5, 7) + number(7, 1)))
        for i in range(1, functions + 1):
            strings += [f"example.com/server/part{i % 97}.(*Thing{i}).Work", f"/src/part{i % 97}/file{i % 13}.go"]
            out.write(field(4, number(1, i) + number(2, 1) + number(3, 0x400000 + 16 * i) + field(4, number(1, i) + number(2, i % 500 + 1))))
            out.write(field(5, number(1, i) + number(2, len(strings) - 2) + number(3, len(strings) - 2) + number(4, len(strings) - 1)))
        for text in strings:
            out.write(field(6, text.encode()))
        out.write(number(12, 1))


if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
main(*sys.argv[1:])
