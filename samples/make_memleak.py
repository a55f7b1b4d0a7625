#!/usr/bin/env python3
"""Writes memleak.txt: what bcc's memleak would print of a program that keeps 1,000 blocks of 128 B a report, and a cache that fills and stops.

    python3 samples/make_memleak.py samples/heap
"""

import sys

LEAK = ("operator new(unsigned long)+0x1c [libstdc++.so.6.0.30]", "std::vector<Item, std::allocator<Item> >::push_back(Item&&)+0x52 [server]",
        "remember(Session&)+0x31 [server]", "main+0x6d [server]", "__libc_start_call_main+0x7a [libc.so.6]")
CACHE = ("cache_put+0x2f [libcache.so.1]", "serve(Session&)+0x88 [server]", "main+0x7c [server]", "__libc_start_call_main+0x7a [libc.so.6]")
OTHER = ("[unknown] [libplugin.so]", "serve(Session&)+0x95 [server]", "main+0x7c [server]", "__libc_start_call_main+0x7a [libc.so.6]")


def main():
    with open(f"{sys.argv[1]}/memleak.txt", "w") as f:
        f.write("Attaching to pid 4711, Ctrl+C to quit.\n")
        for k in range(1, 13):
            second = 23 * 3600 + 59 * 60 + 30 + 5 * k  # over midnight
            f.write(f"[{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}] Top 10 stacks with outstanding allocations:\n")
            held = [(24, 1, OTHER), (4096 * min(k, 5), min(k, 5), CACHE), (128_000 * k, 1000 * k, LEAK)]
            for size, count, stack in sorted(held, key=lambda h: h[0]):
                f.write(f"\t{size} bytes in {count} allocations from stack\n")
                f.write("".join(f"\t\t0x{0x55d0c0de0000 + 16 * i:016x}\t{frame}\n" for i, frame in enumerate(stack)))


main()
