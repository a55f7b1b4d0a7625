#!/usr/bin/env python3
"""Generates a large capture file of memray: gen_memray.py FILE [MB]

A plain file of version 13 (memray 1.20, CPython 3.11), which `memray stats` reads, too. A block of about 1 MB, in which
all that is allocated is freed, stands in it again and again: its addresses are differences, and come out where they began.
"""

import random
import struct
import sys

CODES = 2000  # functions
CALLEES = 3  # that a function calls
DEPTH = 40  # at most
EVENTS = 200_000  # of a block
LIVE = 20_000  # at most
CACHE = 15
BASE = 0x7F0000000000
PUSH, POP, MEMORY, SWITCH, CODE, TRAILER, ALLOCATION = 64, 16, 2, 12, 14, 1, 128
FREE, MALLOC, CALLOC = 5, 6, 8  # written in three bits, but for the last


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def zigzag(n):
    return varint(n << 1 if n >= 0 else (-n << 1) - 1)


class Block:
    """Records, and what those after them are told relative to."""

    def __init__(self):
        self.out, self.last, self.cache, self.live, self.depth = [], BASE >> 3, [], {}, 0

    def address(self, address):
        """(bits of the token, what follows it)"""
        if address in self.cache:
            return self.cache.index(address) << 3, b""
        delta = (address >> 3) - self.last
        self.last = address >> 3
        self.cache = [address, *self.cache[: CACHE - 1]]
        return CACHE << 3, zigzag(delta)

    def record(self, allocator, address, size=None):
        bits, delta = self.address(address)
        token, more = (allocator, b"") if allocator < 8 else (0, bytes([allocator]))
        self.out.append(bytes([ALLOCATION | bits | token]) + delta + more + (varint(size) if size is not None else b""))

    def allocate(self, random_, address):
        size = random_.choice((56, 64, 72, 120, 528, 584, 1024, 4096, 65536))
        self.record(CALLOC if size == 65536 else MALLOC, address, size)
        self.live[address] = size

    def free(self, address):
        self.record(FREE, address)
        del self.live[address]


def block():
    """One block, and the events in it."""
    r, b, calls = random.Random(1), Block(), []
    graph = [[r.randrange(CODES) for _ in range(CALLEES)] for _ in range(CODES)]
    order, free_addresses = [], [BASE + 4096 * (1 + i) for i in range(2 * LIVE)]
    r.shuffle(free_addresses)
    for _ in range(EVENTS // 2):
        if len(calls) > 3 and r.random() < 0.3:
            n = min(r.randrange(1, 5), len(calls) - 1)
            del calls[-n:]
            b.out.append(bytes([POP | n - 1]))
        while len(calls) < 3 or (len(calls) < DEPTH and r.random() < 0.3):
            code = r.choice(graph[calls[-1]]) if calls else 0
            calls.append(code)
            b.out.append(bytes([PUSH]) + varint(code + 1) + zigzag(2 * r.randrange(4)))
        order.append(free_addresses.pop())
        b.allocate(r, order[-1])
        while len(order) > LIVE or (order and r.random() < 0.49):
            # what was allocated last goes soonest
            address = order.pop(-1 if r.random() < 0.8 else r.randrange(len(order)))
            b.free(address)
            free_addresses.insert(0, address) if r.random() < 0.01 else free_addresses.append(address)
    while order:
        b.free(order.pop())
    while calls:
        n = min(16, len(calls))
        del calls[-n:]
        b.out.append(bytes([POP | n - 1]))
    b.cache = []
    b.record(MALLOC, BASE, 1)
    b.record(FREE, BASE)
    return b"".join(b.out), sum(record[0] >= ALLOCATION for record in b.out)


def header(events, ms):
    stats = struct.pack("<QQqq", events, CODES, 1_700_000_000_000, 1_700_000_000_000 + ms)
    return (b"memray\0" + struct.pack("<iI", 13, 0x030B07F0) + b"\0\0" + stats + b"python3 bench.py\0"
            + struct.pack("<iQQ", 1, 1, 0) + b"\x02\0\0" + b"/usr/lib/python3.11\0" + b"\0" + b"\0")


def code_object(number, name, file, lines_on):
    return bytes([CODE]) + varint(number) + f"{name}\0{file}\0".encode() + zigzag(lines_on) + varint(0)


def main():
    path, mb = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    records, n = block()
    times = max(1, mb * 1_000_000 // len(records))
    with open(path, "wb") as out:
        out.write(header(n * times + 2, 10 * times))
        for code in range(CODES):
            file = f"/home/me/app/module_{code // 40}.py"
            out.write(code_object(code + 1, f"function_{code}", file, 7 if code % 40 else 10 - 280))
        out.write(bytes([SWITCH]) + struct.pack("<Q", 1))
        start = Block()
        start.last = 0
        start.record(MALLOC, BASE, 1)
        start.record(FREE, BASE)
        out.write(b"".join(start.out))
        for i in range(times):
            out.write(bytes([MEMORY]) + varint(200_000_000 + i % 7 * 4096) + varint(10 * i))
            out.write(records)
        out.write(bytes([TRAILER]))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main()
