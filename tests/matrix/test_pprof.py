#!/usr/bin/env python3
"""Heap profiles in pprof's format: Go's own, compared with what `go tool pprof -top` says of them, and ones written here."""

import gzip
import math
import os
import re

import mt
from pprof import HEAP, Profile, number, part, varint

SAMPLES = os.path.join(os.environ["SAMPLES"], "heap")
RECORDINGS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "recordings", "heap")
FIGURES = {"inuse_space": "at_end_b", "inuse_objects": "at_end_n", "alloc_space": "alloc_b", "alloc_objects": "alloc_n"}

m = mt.Matrix()


# ---- Go's ----


def top(number):
    """{sample type: (total, {function: (flat, cumulative)})} as Go's pprof prints them."""
    with gzip.open(os.path.join(RECORDINGS, f"go_heap_{number}.top.txt.gz"), "rt") as f:
        parts = re.split(r"## -sample_index=(\w+)\n", f.read())[1:]
    said = {}
    for kind, text in zip(parts[::2], parts[1::2]):
        total = re.search(r"of (\d+)B total", text)[1]
        rows = re.findall(r"^ +(\d+)B? +[\d.]+% +[\d.]+% +(\d+)B? +[\d.]+%  (.*?)(?: \(inline\))?$", text, re.M)
        said[kind] = int(total), {name: (int(flat), int(cumulative)) for flat, cumulative, name in rows}
    return said


def as_go_says(number):
    run = f"go{number}"
    m.run("import", os.path.join(SAMPLES, f"go_heap_{number}.pb.gz"), "--name", run, "--cpp-frames", "all")
    device = m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]
    rows = {row["name"]: row for row in m.rows("table", run, "--by", "name")}
    m.check(device["peak_b"] is None and device["freed_b"] == device["alloc_b"] - device["at_end_b"], run, "device", device)
    for kind, (total, functions) in top(number).items():
        figure = FIGURES[kind]
        m.check(device[figure] == total and len(functions) > 5, run, kind, "in all", device[figure], total)
        for name, (flat, cumulative) in functions.items():
            if figure == "at_end_n":  # the report has no such column
                got = m.query(f"SELECT sum(self_at_end_n) AS n FROM v_node WHERE run = '{run}' AND name = '{name}'")[0]["n"]
                m.check(got == flat, run, kind, name, got, flat)
                continue
            got = rows[name].get(f"self_{figure}"), rows[name].get(figure)
            m.check(got == (flat, cumulative) or got == (flat, None), run, kind, name, got, (flat, cumulative))


# ---- written here ----


def some(types=HEAP, period=1, values=(3, 300, 2, 200), **how):
    p = Profile(types, period)
    leaf = p.location(p.function("main.leaf"))
    main = p.location(p.function("main.inner"), p.function("main.outer"), p.function("main.main"))
    p.sample([leaf, main], values, **how)
    return p


def read(name, data, options=(), codes=(0,)):
    """The run's device, its paths with what they hold and allocated, its notes; or None and the message."""
    with open(f"{name}.pb", "wb") as out:
        out.write(data)
    m.offered += codes == (0,)
    code, _, err = m.run("import", f"{name}.pb", "--name", name, *options, codes=codes)
    if code:
        m.check(err.count("\n") >= 2, name, "says what to do", err)
        return None, err, None
    m.taken += 1
    device = m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{name}'")[0]
    paths = {row["path"]: (row.get("self_alloc_b"), row.get("self_at_end_b")) for row in m.rows("table", name, "--by", "path")}
    notes = {row["kind"]: row["text"] for row in m.query(f"SELECT kind, text FROM v_note WHERE run = '{name}'")}
    return device, paths, notes


def right():
    path = "main.main > main.outer > main.inner > main.leaf"
    for name, profile in (("packed", some()), ("single", some(packed=False)), ("unlabelled", some(label=False))):
        device, paths, notes = read(name, profile.bytes())
        got = device["alloc_n"], device["alloc_b"], device["at_end_n"], device["at_end_b"]
        m.check(got == (3, 300, 2, 200) and paths.get(path) == (300, 200) and not notes, name, got, paths, notes)
    profile = some()
    reverse = b"".join(part(6, s.encode()) for s in profile.texts) + b"".join(reversed(profile.parts))
    types = [p for p in profile.parts if p[0] == 0x0A]
    in_order = b"".join(types) + reverse.replace(b"".join(reversed(types)), b"")
    m.check(read("reverse", in_order)[1].get(path) == (300, 200), "in another order")
    device, _, _ = read("alive", some([("objects", "count"), ("space", "kilobytes")], values=(2, 3)).bytes())
    m.check((device["alloc_b"], device["at_end_n"], device["at_end_b"], device["freed_b"]) == (None, 2, 3072, None), "alive", device)
    device, _, _ = read("allocated", some(HEAP[:2], values=(2, 3)).bytes())
    m.check((device["alloc_b"], device["at_end_n"], device["at_end_b"], device["freed_b"]) == (3, None, None, None), "allocated", device)
    device, _, notes = read("beside", some([*HEAP, ("cpu", "nanoseconds")], values=(3, 300, 2, 200, 7)).bytes())
    m.check(device["alloc_b"] == 300 and "cpu/nanoseconds" in notes["sample_types"], "beside", device, notes)
    strings = [part(6, s.encode()) for s in profile.texts]
    between = b"".join(a + b for a, b in zip(types, strings)) + b"".join(strings[len(types) :] + profile.parts[len(types) :])
    m.check(read("between", between)[1].get(path) == (300, 200), "names between what samples count")
    rest = [p for p in profile.parts if p not in types]
    scattered = b"".join(a + b for a, b in zip(types, rest)) + b"".join(rest[len(types) :] + types[len(rest) :] + strings)
    m.check(read("scattered", scattered)[1].get(path) == (300, 200), "what samples count stands between other things")
    for moment, figure in (("at the peak, 7 ms", "peak_b"), ("at 7 ms", "at_end_b"), ("at 7 ms; in use: alive at the peak x", "peak_b")):
        p = some()
        p.parts.append(number(13, p.text(f"memtool: run a; in use: alive at the peak, device cpu; in use: alive {moment}")))
        device, paths, _ = read("exported " + moment.replace(" ", "_").replace(";", ""), p.bytes())
        m.check([device[c] for c in ("peak_b", "at_end_b")] == ([200, None] if figure == "peak_b" else [None, 200]), moment, device)
    device, paths, _ = read("nothing", Profile().bytes())
    m.check((device["alloc_b"], device["at_end_b"]) == (0, 0) and not paths, "nothing", device, paths)


def places():
    """Functions that nobody named are called after their object and the place in it."""
    p = Profile()
    lib = p.mapping(0x7000, 0x1000, "/usr/lib/libx.so.1")
    at = p.location(mapping=lib, address=0x7012)
    nowhere = p.location(address=0x42)
    p.sample([at, nowhere], (1, 10, 1, 10))
    p.sample([], (1, 5, 1, 5))
    device, paths, _ = read("places", p.bytes())
    m.check(paths.get("[0x42] > [libx.so.1+0x1012]") == (10, 10) and device["at_end_b"] == 15, "places", paths, device)
    p = Profile()
    mallocs = p.location(p.function("operator new(unsigned long)", "new.cc"), p.function("ns::f<int>(char)", "f.cc"))
    p.sample([mallocs, p.location(p.function("main", "f.cc")), p.location(p.function("_start", ""))], (1, 10, 1, 10))
    _, paths, _ = read("native", p.bytes())
    m.check(paths == {"main > ns::f": (10, 10), "main": (0, 0)}, "native", paths)


def sampled():
    """Go's figures stand for more than it kept: how many blocks that were is said."""
    period = 512 << 10
    blocks = [(2, 48, 1, 48), (40, 4096, 7, 4096), (3, 3 << 20, 3, 3 << 20)]
    p = Profile(HEAP, period)
    kept_end = kept_alloc = 0
    for i, (alloc_n, alloc_size, end_n, end_size) in enumerate(blocks):
        scale = 1 / (1 - math.exp(-alloc_size / period))
        p.sample([p.location(p.function(f"f{i}"))], [int(v * scale) for v in (alloc_n, alloc_n * alloc_size, end_n, end_n * end_size)])
        kept_end, kept_alloc = kept_end + end_n, kept_alloc + alloc_n
    _, _, notes = read("sampled", p.bytes())
    m.check("512 KiB" in notes["sampled"] and f"about {kept_end} blocks" in notes["sampled"]
            and f"about {kept_alloc} blocks" in notes["sampled"], "sampled", notes)


def refused():
    for name, data, want in (
        ("cpu", some([("samples", "count"), ("cpu", "nanoseconds")], values=(1, 10)).bytes(), "cpu/nanoseconds"),
        ("objects", some(HEAP[:1], values=(1,)).bytes(), "no bytes"),
        ("difference", some(values=(-3, -300, 2, 200)).bytes(), "negative"),
        ("huge", some(values=(1, 1 << 62, 1, 1)).bytes(), ""),
        ("nameless", some().bytes(names=False), "ends early"),
        ("cut", some().bytes()[:-3], "ends early"),
        ("two", some().bytes() + some(values=(5, 500, 4, 400)).bytes(), "holds two profiles, one behind the other"),
        ("two, names first", (two := b"".join(part(6, s.encode()) for s in some().texts) + b"".join(some().parts)) + two, "holds two profiles"),
        ("two, of which the second is cut", some().bytes() + some().bytes()[:20], "holds two profiles"),
        ("two, of which one is empty", Profile().bytes() + some().bytes(), "holds two profiles"),
        ("group", some().bytes() + b"\x0b\x0c", "no field"),
    ):
        _, err, _ = read(name, data, codes=(2,))
        m.check(want in err, "refused", name, err)
    device, _, notes = read("cut_partial", some().bytes()[:-3], ["--partial"])
    m.check(device["at_end_b"] == 200 and "cut" in notes, "cut", device, notes)
    whole = some().bytes()
    boundaries = 0
    for n in range(len(whole)):
        with open("part.pb", "wb") as out:
            out.write(whole[:n])
        boundaries += m.run("import", "part.pb", "--name", f"part{n}", codes=(0, 2))[0] == 0
    m.check(boundaries == 0, "cut anywhere: not said of", boundaries)
    bad = some()
    bad.sample([1], (1, 2))  # too few values
    bad.parts.append(part(2, b"\x0a\x05\x01"))
    device, _, notes = read("bad_samples", bad.bytes())
    m.check(device["at_end_b"] == 200 and notes["skipped"].startswith("2 "), "bad samples", device, notes)


for number_of in (1, 2):
    as_go_says(number_of)
right()
places()
sampled()
refused()
m.finish(300)
