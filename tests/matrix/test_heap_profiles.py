#!/usr/bin/env python3
"""Heap profiles as text: recorded ones, compared with what their first lines, jeprof and google-pprof say, and sampled ones."""

import math
import os

import mt

SAMPLES = os.path.join(os.environ["SAMPLES"], "heap")
m = mt.Matrix()


def recorded():
    """Totals as the file has them; sites with what they hold, which have no names, as jeprof and google-pprof rank them."""
    for name, want, sites, cumulative in (
        ("jemalloc_200k", (201096, 131343632, 1015, 313600), [128000, 102400, 81920, 1280], 231680),
        ("gperftools_200k", (201095, 127752288, 1014, 229280), [128000, 100000, 1280], 229280),
    ):
        m.run("import", os.path.join(SAMPLES, f"{name}.heap.zst"), "--name", name, "--no-symbols")
        device = m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{name}'")[0]
        got = device["alloc_n"], device["alloc_b"], device["at_end_n"], device["at_end_b"]
        m.check(got == want and device["peak_b"] is None, name, "totals", got, want)
        rows = m.rows("table", name, "--by", "name")
        held = sorted((row["self_at_end_b"] for row in rows if row["self_at_end_b"]), reverse=True)
        m.check(held == sites, name, "sites", held, sites)
        m.check(cumulative in [row["at_end_b"] for row in rows], name, "main", cumulative)
        m.check(all(row["name"].startswith("[") and "+0x" in row["name"] for row in rows), name, "names", rows[:3])
        m.check(not m.query(f"SELECT 1 FROM v_note WHERE run = '{name}' AND kind <> 'no_symbols'"), name, "notes")


def sampled():
    """Each stack's blocks stand for more, by their own size; how many were sampled is said."""
    period = 512 << 10
    stacks = [(2, 96, 5, 240), (7, 28672, 40, 163840), (3, 9 << 20, 3, 9 << 20)]

    def scaled(n, size):
        scale = 1 / (1 - math.exp(-(size / n) / period))
        return int(n * scale), int(size * scale)

    totals = [sum(values) for values in zip(*stacks)]
    text = f"heap_v2/{period}\n  t*: {totals[0]}: {totals[1]} [{totals[2]}: {totals[3]}]\n"
    for i, (n, size, alloc_n, alloc) in enumerate(stacks):
        text += f"@ 0x{i + 1}000\n  t*: {n}: {size} [{alloc_n}: {alloc}]\n"
    with open("sampled.heap", "w") as f:
        f.write(text + "\nMAPPED_LIBRARIES:\n")
    m.run("import", "sampled.heap", "--name", "sampled")
    rows = {row["name"]: row for row in m.rows("table", "sampled", "--by", "name")}
    for i, (n, size, alloc_n, alloc) in enumerate(stacks):
        row = rows[f"[0x{(i + 1 << 12) - 1:x}]"]
        m.check(abs(row["self_at_end_b"] - scaled(n, size)[1]) <= 1 and abs(row["self_alloc_b"] - scaled(alloc_n, alloc)[1]) <= 1,
                "sampled", row, scaled(n, size), scaled(alloc_n, alloc))
    note = m.query("SELECT text FROM v_note WHERE run = 'sampled' AND kind = 'sampled'")[0]["text"]
    m.check("512 KiB" in note and "12 blocks" in note and "48 blocks" in note, "sampled", note)


def none_sampled():
    """A recorder that kept no block does not say that there were none."""
    root = '{"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"selfSize":0,"id":1,"children":[]}'
    files = {
        "jemalloc": "heap_v2/524288\n  t*: 0: 0 [0: 0]\n\nMAPPED_LIBRARIES:\n",
        "gperftools": "heap profile: 0: 0 [0: 0] @ heap_v2/524288\n\nMAPPED_LIBRARIES:\n",
        "v8": f'{{"head":{root},"samples":[]}}',
    }
    for name, text in files.items():
        with open(name + ".none", "w") as f:
            f.write(text)
        m.run("import", name + ".none", "--name", name)
        for gate in (("check", name, "--max-at-end", "1MiB"), ("leaks", name, "--fail")):
            m.check(m.run(*gate, codes=(0, 1, 3))[0] == 3, name, gate, "nothing was sampled")


def repeated():
    """What a file repeats counts each time, and takes the memory of once."""
    n = 500000
    one = {
        "gperftools": "2: 64 [3: 96] @ 0x1001 0x2001\n",
        "jemalloc": "@ 0x1001 0x2001\n  t*: 2: 64 [3: 96]\n  t0: 2: 64 [3: 96]\n",
        "go": "2: 64 [3: 96] @ 0x1001 0x2001\n#\t0x1000\tmain.f+0x1\t\t/a.go:3\n#\t0x2000\tmain.main+0x1\t/a.go:9\n",
    }
    first = {"gperftools": "heap profile: {} @ heapprofile\n", "jemalloc": "heap_v2/1\n  t*: {}\n", "go": "heap profile: {} @ heap/2\n"}
    other = "7: 700 [7: 700] @ 0x3001\n"
    for name, text in one.items():
        extra = other if name != "jemalloc" else "@ 0x3001\n  t*: 7: 700 [7: 700]\n"
        with open(name + ".many", "w") as f:
            f.write(first[name].format(f"{2 * n + 14}: {64 * n + 1400} [{3 * n + 14}: {96 * n + 1400}]"))
            f.write(text * (n // 2) + extra + text * (n // 2) + extra + "\nMAPPED_LIBRARIES:\n")
        m.run("import", name + ".many", "--name", name + "-many", "--max-memory", "24MiB")
        device = m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{name}-many'")[0]
        got = device["alloc_n"], device["alloc_b"], device["at_end_n"], device["at_end_b"]
        m.check(got == (3 * n + 14, 96 * n + 1400, 2 * n + 14, 64 * n + 1400), name, "repeated", got)


recorded()
sampled()
none_sampled()
repeated()
m.finish(33)
