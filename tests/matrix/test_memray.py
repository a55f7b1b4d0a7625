#!/usr/bin/env python3
"""Files of memray, against what memray itself says of them: `memray transform csv`, `memray stats --json`."""

import collections
import csv
import glob
import gzip
import json
import os
import re
import subprocess
import sys

import mt

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import gen_memray  # noqa: E402

SAMPLES = os.environ.get("MEMRAY_SAMPLES", os.path.join(os.environ["SAMPLES"], "python"))
TRUTH = os.environ.get("MEMRAY_TRUTH", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "memray"))
m = mt.Matrix()


def shown(frame):
    function, file, line = frame.rsplit(";", 2)
    name = file if file.startswith("<") else os.path.basename(file)
    return f"{name}:{line} {function}" if line != "0" else f"{name} {function}"


def path_of(stack):
    """memray's stack as a call path: outermost first, a line that calls itself once."""
    frames = [shown(frame) for frame in reversed(stack.split("|")) if frame]
    return tuple(f for i, f in enumerate(frames) if not i or frames[i - 1] != f)


def truth(name, kind):
    """{call path: (bytes, blocks)}, or None: memray did not write it."""
    path = os.path.join(TRUTH, f"{name}.{kind}.csv")
    if not os.path.exists(path):
        return None
    sums = collections.defaultdict(lambda: [0, 0])
    with open(path, newline="") as text:
        for row in csv.DictReader(text):
            of = sums[path_of(row["stack_trace"])]
            of[0] += int(row["size"])
            of[1] += int(row["num_allocations"])
    return {path: tuple(of) for path, of in sums.items() if of != [0, 0]}


def paths(run):
    """{node: call path} of a run, of Python alone: what libraries do for a function is the function's."""
    of = {}
    for row in m.query(f"SELECT id, parent_id, name, kind FROM v_node WHERE run = '{run}' ORDER BY id"):
        of[row["id"]] = of.get(row["parent_id"], ()) + ((row["name"],) if row["kind"] == "python" else ())
    return of


def device(run):
    return m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]


def own(run, moment):
    """{call path: (bytes, blocks)} of what paths hold themselves, without those that hold nothing."""
    of, got = paths(run), collections.Counter()
    columns = f"self_at_{moment}_b AS b, self_at_{moment}_n AS n"
    for row in m.query(f"SELECT id, {columns} FROM v_node WHERE run = '{run}' AND device IS NOT NULL"):
        got[of[row["id"]], "b"] += row["b"]
        got[of[row["id"]], "n"] += row["n"]
    got = {path: (got[path, "b"], got[path, "n"]) for path, _ in got if path and (got[path, "b"] or got[path, "n"])}
    d = device(run)
    rest = d[f"at_{moment}_b"] if moment == "end" else d["peak_b"]
    rest -= sum(b for b, _ in got.values())
    return got, rest


def compare(run, name, counts=True):
    for kind, moment in (("peak", "peak"), ("leaks", "end")):
        want = truth(name, kind)
        if want is None:
            continue
        got, rest = own(run, moment)
        outside = want.pop((), (0, 0))
        m.check(rest == outside[0], name, kind, "without a call path", rest, outside)
        if not counts:
            want, got = ({path: of[0] for path, of in sums.items()} for sums in (want, got))
        m.check(got == want, name, kind, list(set(got.items()) ^ set(want.items()))[:4])
    want = truth(name, "temporaryallocations")
    if want is not None:
        of, got = paths(run), collections.defaultdict(lambda: [0, 0])
        for row in m.query(f"SELECT node_id, figure, value FROM v_node_extra WHERE run = '{run}'"):
            got[of.get(row["node_id"], ())][row["figure"] == "temporary_n"] += row["value"]
        got = {path: tuple(sums) for path, sums in got.items()}
        m.check(got == want, name, "temporary", list(set(got.items()) ^ set(want.items()))[:4])
    stats(run, name)


def stats(run, name):
    path = os.path.join(TRUTH, f"{name}.stats.json")
    if not os.path.exists(path):
        return
    with open(path) as text:
        want = json.load(text)
    d = device(run)
    m.check(d["alloc_n"] == want["total_num_allocations"], name, "allocations", d["alloc_n"])
    m.check(d["alloc_b"] == want["total_bytes_allocated"], name, "allocated", d["alloc_b"])
    m.check(d["peak_b"] == want["metadata"]["peak_memory"], name, "peak", d["peak_b"])
    of, totals = paths(run), collections.defaultdict(lambda: {"b": 0, "n": 0})
    for row in m.query(f"SELECT id, self_alloc_b AS b, self_alloc_n AS n FROM v_node WHERE run = '{run}' AND device IS NOT NULL"):
        for column in ("b", "n") if of[row["id"]] else ():
            totals[of[row["id"]][-1]][column] += row[column]
    for by, size, column in (("size", "size", "b"), ("count", "count", "n")):
        for top in want[f"top_allocations_by_{by}"]:
            function, file, line = top["location"].split(":", 1)[0], *top["location"].split(":", 1)[1].rsplit(":", 1)
            if function == "<root>":
                continue
            line = shown(f"{function};{file};{line}")
            m.check(totals[line][column] == top[size], name, "stats by", by, line, totals[line], top)


def notes(run):
    """What was odd; that libraries count for the user's lines is not."""
    return {row["kind"] for row in m.query(f"SELECT kind FROM v_note WHERE run = '{run}' AND kind <> 'library_folded'")}


def recorded():
    for path in sorted(glob.glob(f"{SAMPLES}/memray*.bin*") + glob.glob(f"{TRUTH}/memray*.bin*")):
        name = os.path.basename(path).removeprefix("memray_").split(".bin")[0]
        run = name.replace(".", "_")
        m.run("import", path, "--name", run)
        m.offered, m.taken = m.offered + 1, m.taken + 1
        # Of sums of several threads memray's csv counts paths, not blocks.
        compare(run, name, counts="aggregated" not in name)
        d = device(run)
        m.check(("cut" in notes(run)) == ("killed" in name), name, "cut", notes(run))
        if "aggregated" in name:
            m.check(d["alloc_b"] is None, name, "what it does not say", d)


def native():
    """What libraries do for Python (--native) stands below its functions; figures of these stay, as do sites."""
    path = f"{SAMPLES}/memray_1.20_native.bin"
    for name, options in (("plain", ["--no-symbols"]), ("all", ["--no-symbols", "--cpp-frames", "all"]), ("none", ["--cpp-frames", "none"])):
        m.run("import", path, "--name", f"native_{name}", "--replace", *options)
        frames = {row["name"]: row for row in m.query(
            f"SELECT name, self_at_peak_b, top FROM v_node WHERE run = 'native_{name}' AND kind = 'native'")}  # fmt: skip
        maps = frames.get("[mmap.cpython-311-x86_64-linux-gnu.so+0x3230]")  # new_mmap_object, as memray names it there
        if name == "none":
            m.check(not frames, name, frames)
        else:
            m.check(maps and maps["self_at_peak_b"] == 3 << 20 and maps["top"] == "mr2.py:32 main", name, maps)
            m.check(all(".so" in frame for frame in frames), name, list(frames))
        sites = {row["site"]: row["at_peak_b"] for row in m.rows("peak", f"native_{name}", "--by", "site")}
        m.check(sites["mr2.py:32 main in mr2.py:39 <module>"] == 3 << 20, name, sites)
        m.run("runs", "--delete", f"native_{name}", codes=(0, 2))


def sites():
    """A site is the user's own line where there is one; by name are the innermost lines, beside the site what it has in each."""
    run, user = "1_20", re.compile(r"mr2\.py:\d+ \S+")
    for report, size in (("peak", "at_peak_b"), ("table", "self_at_peak_b"), ("leaks", "at_end_b")):
        rows = {by: m.rows(report, run, "--by", by) for by in ("site", "name", "site,name")}
        for key in ("site", "name"):
            want, got = collections.Counter(), collections.Counter()
            for by, sums in ((key, want), ("site,name", got)):
                for row in rows[by]:
                    sums[row[key]] += row[size]
            m.check(+got == +want and len(+want) > 1, report, key, mt.differences(got, want))
        inside = [row for row in rows["site,name"] if row[size] and user.match(row["site"]) and not user.match(row["name"])]
        m.check(inside, report, "what others' lines hold for the user's", rows["site,name"])
    of = paths(run)
    for row in m.query(f"SELECT id, top FROM v_node WHERE run = '{run}'"):
        m.check(user.match(row["top"]) or not any(user.match(frame) for frame in of[row["id"]]), run, "site", row, of[row["id"]])


def replaced():
    """A function whose number another had before; and what a generated file says of itself."""
    b = gen_memray.Block()
    b.last = 0
    push, pop = bytes([gen_memray.PUSH]) + gen_memray.varint(1) + gen_memray.zigzag(0), bytes([gen_memray.POP])
    b.record(gen_memray.MALLOC, 4096, 10)
    b.record(gen_memray.MALLOC, 8192, 20)
    with open("replaced.bin", "wb") as out:
        out.write(gen_memray.header(2, 10) + bytes([gen_memray.SWITCH]) + (1).to_bytes(8, "little"))
        out.write(gen_memray.code_object(1, "a", "a.py", 5) + push + b.out[0] + pop)
        out.write(gen_memray.code_object(1, "b", "a.py", 5) + push + b.out[1] + pop + bytes([gen_memray.TRAILER]))
    m.run("import", "replaced.bin", "--name", "replaced")
    m.check(own("replaced", "end")[0] == {("a.py a",): (10, 1), ("a.py b",): (20, 1)}, "replaced", own("replaced", "end"))
    subprocess.run([sys.executable, gen_memray.__file__, "generated.bin", "1"], check=True)
    m.run("import", "generated.bin", "--name", "generated")
    records, n = gen_memray.block()
    d, n = device("generated"), n * max(1, 1_000_000 // len(records)) + 2
    m.check((d["alloc_n"] + d["freed_n"], d["at_end_b"]) == (n, 0), "generated", d, n)


def cut():
    """What a process that is killed leaves, and what is missing of a file."""
    with gzip.open(f"{SAMPLES}/memray_1.20_plain.bin.gz") as file:
        data = file.read().rstrip(b"\0")
    for name, content, code, note in (
        ("killed", data[:-1] + bytes(5000), 0, "cut"),
        ("killed_writing", data[:-1] + b"\x8a\x80\x80" + bytes(5000), 0, "cut"),
        ("padded", data + bytes(5000), 0, None),
        ("followed", data + b"xyz", 0, "trailing"),
        ("short", data[:-1], 2, None),
        ("half", data[: len(data) // 2], 2, None),
        ("half_killed", data[: len(data) // 2] + bytes(100), 0, "cut"),
        ("header", data[:100], 2, None),
        ("later", data[:7] + b"\x0e" + data[8:], 2, None),
        ("earlier", data[:7] + b"\x05" + data[8:], 2, None),
        ("damaged", data[:20000] + b"\x04" * 20000, 2, None),
    ):
        with open(f"{name}.bin", "wb") as out:
            out.write(content)
        got, _, err = m.run("import", f"{name}.bin", "--name", name, codes=(0, 2))
        m.check(got == code, "cut", name, got, err)
        m.check(code == 0 or err.count("\n") >= 2, "cut", name, "says what to do", err)
        if code == 0:
            m.check(notes(name) == ({note} if note else set()), "cut", name, notes(name))
        if name in ("killed", "killed_writing", "padded", "followed"):
            compare(name, "1.20_plain")
    for name in ("short", "half", "damaged"):
        m.run("import", f"{name}.bin", "--name", f"{name}_part", "--partial", codes=(0,))
        m.check("cut" in notes(f"{name}_part"), "partial", name)
    compare("short_part", "1.20_plain")


def cut_before_ends():
    """Files before version 8 have no last record: their heads say how many there are, unless the process was killed."""
    for folder, name, events, zeros in ((SAMPLES, "1.0.2", 201, 15), (TRUTH, "1.1.0_killed", 102, 0)):  # zeros: of the last record
        with gzip.open(f"{folder}/memray_{name}.bin.gz") as file:
            data = file.read()
        n, run = len(data.rstrip(b"\0")) + zeros, name.replace(".", "_")
        whole = data[:12] + events.to_bytes(8, "little") + data[20:n]
        killed = data[:12] + bytes(8) + data[20:n]
        for case, content, code, note in (
            ("padded", whole + bytes(5000), 0, None),
            ("unpadded", whole, 0, None),
            ("odd", whole + b"\0", 0, None),
            ("followed", whole + bytes(40) + b"xyz", 2, None),
            ("short", whole[: n // 2], 2, None),
            ("half", whole[: n // 2] + bytes(5000), 2, None),
            ("left", killed + bytes(5000), 0, "cut"),
            ("half_left", killed[: n // 2] + bytes(5000), 0, "cut"),
        ):
            case = f"{case}_{run}"
            with open(f"{case}.bin", "wb") as out:
                out.write(content)
            got, _, err = m.run("import", f"{case}.bin", "--name", case, codes=(0, 2))
            m.check(got == code, "cut", case, got, err)
            if code == 0:
                m.check(notes(case) == ({note} if note else set()), "cut", case, notes(case))
            if code == 0 and not case.startswith("half"):
                compare(case, name)
        m.run("import", f"short_{run}.bin", "--name", f"part_{run}", "--partial", codes=(0,))
        m.check(notes(f"part_{run}") == {"cut"} and 0 < device(f"part_{run}")["alloc_n"] < device(run)["alloc_n"], "partial", name)


def cut_behind_its_end():
    """All records are there; of what they are compressed in, the end is missing."""
    with gzip.open(f"{SAMPLES}/memray_1.20_plain.bin.gz") as file:
        data = file.read().rstrip(b"\0") + bytes(777)  # another file than those before
    with open("compressed.bin.gz", "wb") as out:
        out.write(gzip.compress(data)[:-3])
    m.run("import", "compressed.bin.gz", "--name", "compressed", codes=(2,))
    m.run("import", "compressed.bin.gz", "--name", "compressed", "--partial", codes=(0,))
    m.check(notes("compressed") == {"cut"}, "cut behind its end", notes("compressed"))
    compare("compressed", "1.20_plain")


MEANINGS = {"peak": "at-peak", "leaks": "at-end", "temporaryallocations": "temporary"}


def transformed():
    """memray's own csv as input: it has what the capture has that memray made it of, and says nothing else."""
    for path in sorted(glob.glob(f"{TRUTH}/*.csv")):
        name, kind = os.path.basename(path)[: -len(".csv")].rsplit(".", 1)
        run, meaning = f"csv-{name}-{kind}", MEANINGS[kind]
        m.run("import", path, "--name", run, "--values", meaning, codes=(0,))
        want = truth(name, kind)
        outside = want.pop((), (0, 0))
        d = device(run)
        if kind == "temporaryallocations":
            got, of = collections.defaultdict(lambda: [0, 0]), paths(run)
            for row in m.query(f"SELECT node_id, figure, value FROM v_node_extra WHERE run = '{run}'"):
                got[of.get(row["node_id"], ())][row["figure"] == "temporary_n"] = row["value"]
            got = {path: tuple(sums) for path, sums in got.items()}
            m.check(got == want, run, list(set(got.items()) ^ set(want.items()))[:4])
            rows = m.rows("table", run, "--columns", "self_temporary_b,name")
            m.check(mt.total(rows, "self_temporary_b") == sum(b for b, _ in want.values()), run, "table")
            continue
        moment = "peak" if kind == "peak" else "end"
        got, rest = own(run, moment)
        m.check((got, rest) == (want, outside[0]), run, list(set(got.items()) ^ set(want.items()))[:4], rest, outside)
        unknown = ("alloc_b", "alloc_n", "at_end_b" if kind == "peak" else "peak_b")
        m.check(all(d[figure] is None for figure in unknown), run, "what it does not say", d)
        if m.query(f"SELECT 1 AS yes FROM run WHERE name = '{name.replace('.', '_')}'") and "aggregated" not in name:
            of_capture, _ = own(name.replace(".", "_"), moment)
            m.check(got == of_capture, run, "differs from the capture", list(set(got.items()) ^ set(of_capture.items()))[:4])


def functions():
    """gprof2dot has the same peak by functions, without lines."""
    folder = os.path.join(os.environ["SAMPLES"], "python")
    for ending, run in (("csv", "lines"), ("gprof2dot", "functions")):
        m.run("import", f"{folder}/memray_peak.{ending}", "--name", run, "--values", "at-peak", codes=(0,))
    want = collections.Counter()
    for row in m.rows("table", "lines", "--by", "name"):
        want[re.sub(r":\d+ ", " ", row["name"], count=1)] += row["self_at_peak_b"]
    got = {row["name"]: row["self_at_peak_b"] for row in m.rows("table", "functions", "--by", "name")}
    m.check(got == dict(want), "gprof2dot", mt.differences(got, dict(want)))
    m.check(device("functions")["peak_b"] == device("lines")["peak_b"] == 5122219, "gprof2dot's peak")


def reports_damaged():
    """What is wrong with files that memray's reports are turned into."""
    folder = os.path.join(os.environ["SAMPLES"], "python")
    with open(f"{folder}/memray_peak.csv") as csv_file, open(f"{folder}/memray_peak.gprof2dot") as dot_file:
        rows, dot = csv_file.read(), dot_file.read()
    first, second = rows.split("\n")[:2]
    for name, content, says in (
        ("cut.csv", rows[:-1], "ends early"),
        ("odd.csv", f"{first}\n{second}\nMALLOC,1,x,1,0x1,f;a.py;3\n", "line 3"),
        ("stack.csv", f"{first}\n{second}\nMALLOC,1,5,1,0x1,f;a.py\n", "line 3"),
        ("cut.gprof2dot", dot[:-100], "ends early"),
        ("function.gprof2dot", dot.replace('"callchain": [0]', '"callchain": [4711]', 1), "does not have"),
        ("unit.gprof2dot", dot.replace('"bytes"', '"objects"', 1), "no bytes"),
    ):
        with open(name, "w") as f:
            f.write(content)
        code, _, err = m.run("import", name, codes=(2,))
        m.check(code == 2 and says in err, name, "says", err)
    m.run("import", "odd.csv", "--name", "odd", "--partial", "--values", "at-peak", codes=(0,))
    m.check(device("odd")["peak_b"] == 1340 and notes("odd") == {"cut"}, "partial", device("odd")["peak_b"], notes("odd"))
    with open("costless.gprof2dot", "w") as f:
        f.write(dot.replace('"cost"', '"costs"', 1))
    m.run("import", "costless.gprof2dot", "--name", "costless", codes=(0,))
    m.check("skipped" in notes("costless"), "an event without a cost is said", notes("costless"))
    with open("operator.csv", "w") as f:
        f.write(f'{first}\nMALLOC,2,10,1,0x1,"f<a;b>|operator|(x, y);a.cpp;3|main;a.cpp;9"\n')
    m.run("import", "operator.csv", "--name", "operator", "--values", "at-peak", codes=(0,))
    names = [row["name"] for row in m.query("SELECT name FROM v_node WHERE run = 'operator'")]
    m.check(device("operator")["peak_b"] == 10 and names == ["f|operator|"], "a name with ; and |", names)


recorded()
transformed()
if "MEMRAY_SAMPLES" not in os.environ:
    functions()
    reports_damaged()
    native()
    sites()
    replaced()
    cut()
    cut_before_ends()
    cut_behind_its_end()
m.finish(20)
