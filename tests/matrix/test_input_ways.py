#!/usr/bin/env python3
"""Figures do not depend on how a file comes: compressed, in pieces through a pipe, or with parts that have no order in another.

A sample of every format is imported as it is, and in every way of WAYS and PIECES, which must leave the same database; and
with what ORDERS says has no order shuffled, which must leave the same views, but for ids."""

import contextlib
import gzip
import itertools
import json
import os
import pickle
import random
import re
import shutil
import sqlite3
import subprocess

import mt
import pprof

SAMPLES = os.environ["SAMPLES"]
FOLDERS = ("heap", "python", "process", "timelines")
NO_RECORDING = (".c", ".go", ".mjs", ".py", ".md")
FURTHER = ("snapshots/basic.pickle", "../tests/fuzz/corpus/prometheus_text/times")
MEANING = {"folded": "at-peak", "memray_peak.csv": "at-peak", "memray_leaks.csv": "at-end", "gprof2dot": "at-peak"}
VIEWS = ("v_device", "v_node", "v_node_extra", "v_holding", "v_note", "v_step")
NO_FIGURE = {"id", "parent_id", "node_id", "depth"}
NOT_OF_THE_FILE = {"imported_at", "source"}
m = mt.Matrix()


# ---- the same bytes, brought otherwise ----


def packed(*command):
    return lambda raw: subprocess.run(command, input=raw, stdout=subprocess.PIPE, check=True).stdout


def members(raw):
    """gzip files one behind the other are one."""
    third = len(raw) // 3
    return gzip.compress(raw[:third]) + gzip.compress(b"") + gzip.compress(raw[third:])


UNPACK = {b"\x1f\x8b": gzip.decompress, b"\x28\xb5": packed("zstd", "-qdc"), b"\x04\x22": packed("lz4", "-qdc")}
PACKERS = {".zst": "zstd", ".lz4": "lz4"}
WAYS = {".gz": gzip.compress, ".members.gz": members} | {end: packed(tool, "-qc") for end, tool in PACKERS.items() if shutil.which(tool)}
PIECES = {"one by one, then odd": (1, 4096, 7919), "of a page": (4096, 0, 4096), "of any size": None}


def plain(path):
    with open(path, "rb") as f:
        raw = f.read()
    return UNPACK.get(raw[:2], bytes)(raw)


def pieces(raw, how, rng):
    at = 0
    while at < len(raw):
        small, until, large = how or (0, 0, rng.randrange(1, 20000))
        size = small if at < until else large
        yield raw[at : at + size]
        at += size


# ---- parts that have no order ----


def shuffle_blocks(start, stop=""):
    """Blocks of lines, each with a first line that fits start; a line that fits stop belongs to none, and none moves past it."""

    def shuffled(raw, rng):
        out, blocks = [], []
        for line in [*raw.decode().splitlines(keepends=True), None]:
            if line is not None and re.match(start, line):
                blocks.append(line)
            elif line is not None and blocks and not re.match(stop, line):
                blocks[-1] += line
            else:
                rng.shuffle(blocks)
                out += [*blocks, line or ""]
                blocks = []
        return "".join(out).encode()

    return shuffled


def shuffle_frees(pattern, first=1):
    """Lines that stand together and fit, and have the same groups, such as frees by one thread, but for the first of them: it may
    free what was allocated just before. What is in front of their ends, such as the time, stays."""

    def shuffled(raw, rng):
        lines = raw.decode().splitlines(keepends=True)
        found = [re.match(pattern, line) for line in lines]
        at = 0
        while at < len(lines):
            end = at + 1
            while found[at] and end < len(lines) and found[end] and found[end].groups() == found[at].groups():
                end += 1
            places = range(at + first, end) if found[at] else ()
            moved = [lines[i][found[i].end() :] for i in places]
            rng.shuffle(moved)
            for i, rest in zip(places, moved):
                lines[i] = found[i][0] + rest
            at = end
        return "".join(lines).encode()

    return shuffled


def shuffle_rows(key_of, header=0):
    """Rows that stand together and have the same time and operation."""

    def shuffled(raw, rng):
        lines = raw.decode().splitlines(keepends=True)
        out = lines[:header]
        for _, same in itertools.groupby(lines[header:], key_of):
            same = list(same)
            rng.shuffle(same)
            out += same
        return "".join(out).encode()

    return shuffled


def json_key(line):
    row = json.loads(line)
    return row.get("time"), row["op"]


def shuffle_times(raw, rng):
    """Rows of a series; what has the same time stays together, and in order."""
    header, *lines = raw.decode().splitlines(keepends=True)
    times = ["".join(same) for _, same in itertools.groupby(lines, lambda line: line.split(",")[0])]
    rng.shuffle(times)
    return "".join([header, *times]).encode()


def shuffle_document(shuffle):
    def shuffled(raw, rng):
        document = json.loads(raw)
        shuffle(document, rng)
        return json.dumps(document).encode()

    return shuffled


def shuffle_children(node, rng):
    rng.shuffle(node["children"])
    for child in node["children"]:
        shuffle_children(child, rng)


def shuffle_tree(raw, rng):
    """massif's call paths: lines that are indented belong to the one above that is indented less."""

    def tree(lines):
        depth = len(lines[0]) - len(lines[0].lstrip(" "))
        below = re.split(rf"(?m)^(?= {{{depth + 1}}}n)", "".join(lines[1:]))
        parts = [tree(part.splitlines(keepends=True)) for part in below if part]
        rng.shuffle(parts)
        return lines[0] + "".join(parts)

    text = raw.decode()
    return re.sub(r"(?m)^n\d+: .*\n(?: .*\n)*", lambda found: tree(found[0].splitlines(keepends=True)), text).encode()


def shuffle_pprof(raw, rng):
    """Samples, places and functions, each among themselves."""
    fields = list(pprof.fields(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw))
    for kind in (2, 4, 5):
        places = [i for i, (field, _) in enumerate(fields) if field == kind]
        moved = [fields[i] for i in places]
        rng.shuffle(moved)
        for i, field in zip(places, moved):
            fields[i] = field
    return b"".join(pprof.part(*field) if isinstance(field[1], bytes) else pprof.number(*field) for field in fields)


def shuffle_tracemalloc(raw, rng):
    snapshot = pickle.loads(raw)
    traces = list(snapshot.traces._traces)
    rng.shuffle(traces)
    snapshot.traces._traces = tuple(traces)
    return pickle.dumps(snapshot, 4)


ORDERED = "its levels are in order of time"
ONCE = "what names something stands in front of its uses"
ELSEWHERE = "tests/fault/shuffled.sh and test_snapshots.py shuffle it"
LINES = shuffle_blocks(".")
# How parts of each format are put in another order, or why none are.
ORDERS = {
    "pytorch-trace": ELSEWHERE,
    "cuda-snapshot": ELSEWHERE,
    "heaptrack": shuffle_frees("(- )"),
    "massif": shuffle_tree,
    "dhat": shuffle_document(lambda document, rng: rng.shuffle(document["pps"])),
    "lsan": shuffle_blocks("(Dir|Indir)ect leak", "SUMMARY"),
    "memcheck": shuffle_blocks(r"==\d+== [\d,]+ .*bytes in ", "==.*LEAK SUMMARY"),
    "memcheck-xml": shuffle_blocks("<error>", "<errorcounts>"),
    "xtree": ONCE,
    "mtrace": shuffle_frees(r"@ \S+ (- )"),
    "pprof": shuffle_pprof,
    "heap-profile": shuffle_blocks(r"@ | *\d+: +\d+ \[ *\d+: +\d+\] @ 0x", "MAPPED|\n"),
    "pytorch-timeline": ORDERED,
    "tracemalloc": shuffle_tracemalloc,
    "memray": ONCE,
    "memray-csv": shuffle_blocks("[A-Z]"),
    "gprof2dot": shuffle_document(lambda document, rng: rng.shuffle(document["events"])),
    "strace": shuffle_frees(r"(\d+) +\S+ (munmap)\(0x", first=0),
    "ltrace": shuffle_frees(r"(\d+) \S+ (alloclab->free)\("),
    "android-heap": shuffle_blocks("z "),
    "android-allocs": shuffle_frees(r"(\d+: free) "),
    "memleak": shuffle_blocks(r"\t\d+ bytes in ", r"\["),
    "v8-profile": shuffle_document(lambda document, rng: shuffle_children(document["head"], rng)),
    "memray-stats": shuffle_document(lambda document, rng: rng.shuffle(document["allocation_size_histogram"])),
    "collapsed": LINES,
    "mprof": ORDERED,
    "psrecord": ORDERED,
    "pidstat": ORDERED,
    "proc-text": ORDERED,
    "docker-stats": ORDERED,
    "prometheus": LINES,
    "prometheus-json": shuffle_document(lambda document, rng: rng.shuffle(document["data"]["result"])),
    "memory-text": ORDERED,
    "csv": shuffle_rows(lambda line: line.split(",", 2)[:2], header=1),
    "jsonl": shuffle_rows(json_key),
}
NO_TIME = {"heap/sums.csv": shuffle_blocks("main"), "heap/series.csv": shuffle_times}
# Of events, what was held at moments between those that are shuffled differs.
EVENTS = ("heaptrack", "mtrace", "strace", "ltrace", "android-allocs", "csv", "jsonl")
# Samples of those formats in which nothing stands beside another of its kind.
ALONE = {"heap/dhat_ad_hoc.json", "heap/maps_stacks.strace.gz"}


# ---- one import, and what it leaves ----


def meaning(sample):
    return next((["--values", word] for part, word in MEANING.items() if part in sample), [])


def table(con, name):
    cursor = con.execute(f"SELECT * FROM {name}")
    columns = [column[0] for column in cursor.description]
    return [dict(zip(columns, row)) for row in cursor]


def figures(rows, path):
    return sorted(repr((path.get(row.get("node_id", row.get("id"))), {c: v for c, v in row.items() if c not in NO_FIGURE})) for row in rows)


class Content:
    """All tables, and the views with call paths for ids."""

    def __init__(self, db):
        with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as con:
            names = [name for (name,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
            self.tables = {name: [repr({c: v for c, v in row.items() if c not in NOT_OF_THE_FILE}) for row in table(con, name)] for name in names}
            views = {name: table(con, name) for name in VIEWS}
            self.format = con.execute("SELECT format FROM run").fetchone()[0]
        path = {}
        for node in sorted(views["v_node"], key=lambda node: node["id"]):
            path[node["id"]] = (*path.get(node["parent_id"], ()), node["name"])
        self.views = {name: figures(rows, path) for name, rows in views.items()}


def imported(sample, *, path="-", raw=b"", how=None, rng=None):
    """What an import of the file at path holds, or of bytes that come through a pipe; None: it was refused."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(m.db)
    m.commands += 1
    command = [m.memtool, "import", path, "--name", "run", "--no-symbols", "--db", m.db, *meaning(sample)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        with contextlib.suppress(BrokenPipeError):
            for piece in pieces(raw, how, rng):
                os.write(child.stdin.fileno(), piece)
        _, err = child.communicate(timeout=120)
    stored = child.returncode == 0 and os.path.exists(m.db)
    m.check(stored, sample, "import", path, how, err.decode()[:500])
    return Content(m.db) if stored else None


def same(got, want, *what):
    for part in want:
        m.check(got[part] == want[part], *what, part, sorted(set(got[part]) ^ set(want[part]))[:4])


def other_ways(sample, raw, want, rng):
    def check(got, *what):
        if got:
            same(got.tables, want.tables, sample, *what)

    for ending, pack in WAYS.items():
        with open(f"packed{ending}", "wb") as f:
            f.write(pack(raw))
        check(imported(sample, path=f"packed{ending}"), ending)
    for name, how in PIECES.items():
        check(imported(sample, raw=raw, how=how, rng=rng), "in pieces", name)
    check(imported(sample, raw=gzip.compress(raw), how=(3, 1 << 20, 3)), "gzip in pieces of 3")


def other_orders(sample, raw, want):
    shuffle = NO_TIME.get(sample) or ORDERS.get(want.format)
    if not callable(shuffle) or sample in ALONE:
        return
    others = {shuffle(raw, random.Random(seed)) for seed in range(8)} - {raw}
    m.check(others, sample, "has another order")
    views = {name: rows for name, rows in want.views.items() if name != "v_holding" or want.format not in EVENTS}
    for moved in sorted(others)[:2]:
        got = imported(sample, raw=moved, how=PIECES["of a page"])
        if got:
            same(got.views, views, sample, "order")


def samples():
    for folder in FOLDERS:
        for name in sorted(os.listdir(os.path.join(SAMPLES, folder))):
            if not name.endswith(NO_RECORDING):
                yield f"{folder}/{name}"
    yield from FURTHER


seen = set()
for sample in samples():
    raw = plain(os.path.join(SAMPLES, sample))
    with open("plain", "wb") as f:
        f.write(raw)
    want = imported(sample, path="plain")
    m.offered, m.taken = m.offered + 1, m.taken + (want is not None)
    if want:
        seen.add(want.format)
        m.check(want.views["v_device"], sample, "holds nothing")
        other_ways(sample, raw, want, random.Random(sample))
        other_orders(sample, raw, want)

with open(os.path.join(os.path.dirname(SAMPLES), "formats", "format.h"), encoding="utf-8") as f:
    registry = set(re.findall(r'^    X\(\w+, "([^"]+)"', f.read(), re.M))
m.check(len(registry) > 30 and seen == registry, "formats without a sample here", registry ^ seen)
m.check(ORDERS.keys() == registry, "formats of which nobody says what has no order", registry ^ ORDERS.keys())
m.finish(10000)
