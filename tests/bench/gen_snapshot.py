#!/usr/bin/env python3
"""Generates a large allocator snapshot as Python's pickler writes it: gen_snapshot.py FILE [EVENTS]

Writes the opcodes itself, so that it needs little memory: dicts and lists are memoised before they
are filled, keys, strings and frames are referred to by number, lists are filled in batches of 1000, and
each allocation has a list of frames of its own, which its block in `segments` shares. A third of the events
each are alloc, free_requested and free_completed (default: 2,000,000 in all).
"""

import io
import random
import struct
import sys

LIVE = 2000  # blocks alive at the end
STACKS = 700
FRAMES = 900
DEPTH = 50  # frames of a stack, about
SEGMENT_BLOCKS = 50
BATCH = 1000


class Writer:
    """Pickle opcodes of protocol 4, and the count of the memo."""

    def __init__(self, out):
        self.out, self.memo, self.strings = out, 0, {}
        out.write(b"\x80\x04")

    def memoize(self):
        self.memo += 1
        return b"\x94"

    def get(self, n):
        return b"h%c" % n if n < 256 else b"j" + struct.pack("<I", n)

    def string(self, s):
        if s in self.strings:
            return self.get(self.strings[s])
        raw = s.encode()
        self.strings[s] = self.memo
        return b"\x8c%c" % len(raw) + raw + self.memoize()

    def integer(self, v):
        if v < 256:
            return b"K%c" % v
        if v < 65536:
            return b"M" + struct.pack("<H", v)
        if v < 1 << 31:
            return b"J" + struct.pack("<i", v)
        raw = v.to_bytes((v.bit_length() >> 3) + 1, "little")
        return b"\x8a%c" % len(raw) + raw


class Stacks:
    """Lists of frames; the frame dicts are written where they first appear, as a pickler does."""

    def __init__(self, w, rng):
        self.w, self.frame_memo = w, {}
        self.stacks = [[rng.randrange(FRAMES) for _ in range(rng.randint(DEPTH - 15, DEPTH + 15))] for _ in range(STACKS)]
        self.gets = {}

    def frame(self, i):
        w = self.w
        if i in self.frame_memo:
            return w.get(self.frame_memo[i])
        self.frame_memo[i] = w.memo
        python = i % 3 == 0
        name = "function_%d" % i if python else "at::native::function_%d(at::Tensor const&)" % i
        return b"".join([b"}", w.memoize(), b"(", w.string("name"), w.string(name), w.string("filename"),
                         w.string("/home/me/project/module_%d.py" % (i % 40) if python else "??"), w.string("line"),
                         w.integer(i if python else 0), b"u"])

    def list(self, stack):
        """A new list object with the frames of a stack."""
        head = b"]" + self.w.memoize() + b"("
        if stack not in self.gets:
            body = b"".join(self.frame(i) for i in self.stacks[stack])
            self.gets[stack] = b"".join(self.w.get(self.frame_memo[i]) for i in self.stacks[stack])
            return head + body + b"e"
        return head + self.gets[stack] + b"e"


def size_of(j):
    return 512 * (1 + j * 7919 % 4000)


def address_of(slot):
    return 0x7F0000000000 + (slot // SEGMENT_BLOCKS) * (1 << 30) + slot % SEGMENT_BLOCKS * (1 << 22)


def stack_of(j):
    return j * 31 % STACKS


def pairs(w, *items):
    """A dict of (key, value bytes)."""
    out = [b"}", w.memoize(), b"("]
    for key, value in items:
        out += [w.string(key), value() if callable(value) else value]
    return b"".join(out + [b"u"])


def write_segments(w, stacks, last):
    """Segments of the blocks alive at the end; returns where their lists of frames are in the memo."""
    lists = {}
    w.out.write(b"]" + w.memoize() + b"(")
    for first in range(0, LIVE, SEGMENT_BLOCKS):
        slots = range(first, min(first + SEGMENT_BLOCKS, LIVE))

        def block(slot):
            j = last - LIVE + slot

            def frames():
                lists[j] = w.memo
                return stacks.list(stack_of(j))

            return pairs(w, ("address", w.integer(address_of(slot))), ("size", w.integer(size_of(j))),
                         ("requested_size", w.integer(size_of(j))), ("state", lambda: w.string("active_allocated")),
                         ("frames", frames))

        used = sum(size_of(last - LIVE + s) for s in slots)

        def blocks():
            return b"]" + w.memoize() + b"(" + b"".join(block(s) for s in slots) + b"e"

        w.out.write(pairs(w, ("device", w.integer(0)), ("address", w.integer(address_of(first))),
                          ("total_size", w.integer(1 << 30)), ("allocated_size", w.integer(used)),
                          ("active_size", w.integer(used)), ("requested_size", w.integer(used)), ("stream", w.integer(0)),
                          ("segment_type", lambda: w.string("large")), ("segment_pool_id", lambda: b"K\0K\0\x86" + w.memoize()),
                          ("is_expandable", b"\x89"), ("frames", lambda: b"]" + w.memoize()), ("blocks", blocks)))
    w.out.write(b"e")
    return lists


def events_of(w, stacks, count, lists):
    """Yields one event after another; slot j % LIVE is used again when its block is freed."""
    now, j = 1_700_000_000_000_000, 0

    def event(action, slot, size, frames):
        return pairs(w, ("action", lambda: w.string(action)), ("addr", w.integer(address_of(slot))),
                     ("size", w.integer(size)), ("stream", w.integer(0)), ("time_us", w.integer(now)), ("frames", frames))

    for j in range(count):
        slot = j % LIVE
        now += 3
        if j >= LIVE:
            size, memo = size_of(j - LIVE), []

            def first(memo=memo, j=j):
                memo.append(w.memo)
                return stacks.list(stack_of(j - LIVE + 1))

            yield event("free_requested", slot, size, first)
            yield event("free_completed", slot, size, lambda memo=memo: w.get(memo[0]))
        yield event("alloc", slot, size_of(j),
                    (lambda j=j: w.get(lists[j])) if j in lists else (lambda j=j: stacks.list(stack_of(j))))


def main():
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
    count = (wanted + 2 * LIVE) // 3
    with open(sys.argv[1], "wb", buffering=1 << 20) as out:
        w = Writer(out)
        stacks = Stacks(w, random.Random(7))
        out.write(b"}" + w.memoize() + b"(" + w.string("segments"))
        lists = write_segments(w, stacks, count)
        out.write(w.string("device_traces") + b"]" + w.memoize() + b"]" + w.memoize())
        batch, n = io.BytesIO(), 0
        for event in events_of(w, stacks, count, lists):
            batch.write(event)
            n += 1
            if n % BATCH == 0:
                out.write(b"(" + batch.getvalue() + b"e")
                batch = io.BytesIO()
        if batch.tell():
            out.write(b"(" + batch.getvalue() + b"e")
        out.write(b"a" + w.string("allocator_settings") + b"}" + w.memoize() + b"(" + w.string("max_split_size") +
                  b"J" + struct.pack("<i", -1) + w.string("expandable_segments") + b"\x89u")
        out.write(w.string("external_annotations") + b"]" + w.memoize() + b"u.")
    print(n, "events", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main()
