#!/usr/bin/env python3
"""import --split: threads and labels of heap logs are groups, and no other figure changes."""

import collections
import csv
import os
import re
import subprocess

import mt
from pprof import HEAP, Profile, number, part

SAMPLES = os.environ["SAMPLES"]
TRUTH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "memray")
FIGURES = ("alloc_b", "alloc_n", "at_peak_b", "at_end_b")

m = mt.Matrix()


def both(name, path, split):
    """Imports the file twice: as ever, and split."""
    for run, options in ((name, []), (f"{name}_split", ["--split", split])):
        code, _, err = m.run("import", path, "--name", run, *options, codes=(0,))
        m.check(code == 0, name, "import", err)


def by(run, key):
    return {row[key]: row for row in m.rows("table", run, "--by", key)}


def figures(row):
    return {figure: row.get(f"self_{figure}") for figure in FIGURES}


def path_of(name):
    """What a thread allocates outside of all functions is its own."""
    return "[no call path]" if re.fullmatch(r"(main )?thread( \d+)?|\d[\d-]*( [KMGTPE]iB-\d+)? ([KMGTPE]i)?B|\[no (object|file)\]", name) else name


def sizes_without_split(name):
    """What blocks of each size did, of all paths together, is the same where paths are not apart by it."""
    columns = ",".join(f"self_{figure}" for figure in FIGURES) + ",at_peak_b,alloc_b"
    whole, split = (m.rows("table", run, "--by", "size", "--columns", columns) for run in (name, f"{name}_split"))
    m.check(len(whole) > 1 and whole == split, name, "sizes without a split", whole, split)
    stored = m.query(f"SELECT sum(alloc_b) AS alloc_b, sum(freed_b) AS freed_b, sum(alloc_n) AS alloc_n, sum(at_peak_b) AS peak_b, "
                     f"sum(at_end_b) AS at_end_b FROM v_size WHERE run = '{name}'")
    device = m.query(f"SELECT alloc_b, freed_b, alloc_n, peak_b, at_end_b FROM v_device WHERE run = '{name}'")
    m.check(stored == device, name, "sizes and the device", stored, device)
    code, _, err = m.run("table", name, "--by", "size,name", codes=(2,))
    m.check(code == 2 and "--split size" in err, name, "sizes and another key", err)
    _, _, err = m.run("table", name, "--by", "size", "--sort", "self_temporary_most_n", codes=(2, 3))
    m.check("self_self" not in err, name, "a figure that sizes lack", err)


def same_in_all(name, key):
    """What is split adds up to what is not, of any site; and without a split nobody is told apart."""
    whole, split = f"{name}", f"{name}_split"
    for group in ("site", "name", "object,file"):
        keys = group.split(",")
        rows = {}
        for run in (whole, split):
            for row in m.rows("table", run, "--by", group):
                of = rows.setdefault(run, {}).setdefault(tuple(path_of(row[k]) for k in keys), collections.Counter())
                of.update({figure: v for figure, v in figures(row).items() if v})
            rows[run] = {key: of for key, of in rows[run].items() if of}
        m.check(rows[whole] == rows[split], name, "by", group, "differs", set(rows[whole]) ^ set(rows[split]))
    for figure in FIGURES:
        parts = [row.get(f"self_{figure}") for row in m.rows("table", split, "--by", key)]
        total = mt.total(m.rows("table", whole, "--by", "name"), f"self_{figure}")
        got = None if None in parts else sum(parts)
        m.check(got == total, name, "by", key, figure, got, total)
    both_keys = mt.total(m.rows("table", split, "--by", f"{key},site"), "self_at_end_b")
    m.check(both_keys == mt.total(m.rows("table", whole, "--by", "site"), "self_at_end_b"), name, key, "and site", both_keys)
    sums = key == "size" and m.query(f"SELECT count(*) AS n FROM v_size WHERE run = '{whole}'")[0]["n"]
    for report in ("leaks",) if sums else ("table", "leaks"):
        code, out, err = m.run(report, whole, "--by", key, codes=(mt.refusal(report),))
        m.check(code == mt.refusal(report) and not out and f"--split {key}" in err, name, report, "is not split", err)
    if sums:
        sizes_without_split(name)
        m.json(report, split, "--by", f"{key},name")
    m.json("diff", whole, split)


# ---- threads ----


def of_memray(version, file):
    """memray's csv has the thread of each stack: of each the same bytes."""
    name = f"memray_{version.replace('.', '_')}"
    both(name, f"{SAMPLES}/python/{file}", "thread")
    same_in_all(name, "thread")
    for kind, column in (("peak", "self_at_peak_b"), ("leaks", "self_at_end_b")):
        want = collections.Counter()
        with open(f"{TRUTH}/{version}.{kind}.csv") as text:
            for row in csv.DictReader(text):
                want[row["tid"]] += int(row["size"])
        got = {thread: row[column] for thread, row in by(f"{name}_split", "thread").items() if row[column]}
        m.check(len(want) > 1 and sorted(want.values()) == sorted(got.values()), name, kind, got, want)
        m.check("main thread" in got, name, "the main thread", got)
    rows = m.rows("peak", f"{name}_split", "--by", "thread")
    m.check(len(rows) > 1 and sum(row["at_peak_b"] for row in rows) > 0, name, "peak --by thread", rows)


def of_jemalloc():
    path = f"{SAMPLES}/heap/jemalloc_200k.heap.zst"
    both("jemalloc", path, "thread")
    same_in_all("jemalloc", "thread")
    text = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout.decode().split("@")[0]
    want = {}
    for thread, end_b, alloc_n, alloc_b in re.findall(r"t(\d+): \d+: (\d+) \[(\d+): (\d+)\]", text):
        want[f"thread {thread}"] = {"alloc_b": int(alloc_b), "alloc_n": int(alloc_n), "at_peak_b": None, "at_end_b": int(end_b)}
    got = {thread: figures(row) for thread, row in by("jemalloc_split", "thread").items()}
    m.check(len(want) == 5 and got == want, "jemalloc", "threads", got, want)
    # More in a thread than in all: the line is left out, with a note.
    odd = "heap_v2/1\n  t*: 1: 10 [0: 0]\n@ 0x1\n  t*: 1: 10 [0: 0]\n  t1: 1: 99 [0: 0]\n  t2: 1: 10 [0: 0]\n\nMAPPED_LIBRARIES:\n"
    with open("odd.heap", "w") as out:
        out.write(odd)
    m.run("import", "odd.heap", "--name", "odd", "--split", "thread")
    got = {thread: row["self_at_end_b"] for thread, row in by("odd", "thread").items() if row["self_at_end_b"]}
    m.check(got == {"thread 2": 10}, "more in a thread than in all", got)
    m.check(m.query("SELECT count_n FROM note WHERE kind = 'skipped'") == [{"count_n": 1}], "is said")


# ---- labels ----


def labelled(name):
    """Samples of two tenants, of none, and of two labels in any order."""
    p = Profile(HEAP)
    leaf, main = p.location(p.function("main.leaf")), p.location(p.function("main.main"))

    def label(key, text):
        return part(3, number(1, p.text(key)) + number(2, p.text(text)))

    def sample(blocks, *labels):
        values = b"".join(number(2, v) for v in (blocks, 64 * blocks, blocks, 64 * blocks))
        p.parts.append(part(2, number(1, leaf) + number(1, main) + values + b"".join(labels) + part(3, number(1, p.text("bytes")) + number(3, 64))))

    sample(1, label("tenant", "a"))
    sample(2, label("tenant", "b"))
    sample(4)
    sample(8, label("tenant", "a"), label("handler", "/x"))
    sample(16, label("handler", "/x"), label("tenant", "a"))
    sample(32, label("tenant", "a"))
    with open(name, "wb") as out:
        out.write(p.bytes())
    return name


def rows_of(path):
    with open(path, newline="") as text:
        return list(csv.DictReader(text))


def of_rows():
    """Threads of a program's own rows, as CSV and as JSON: of each what its rows come to. Other columns are labels."""
    path = f"{SAMPLES}/heap/events.csv"
    for kind in ("csv", "jsonl"):  # those of sizes(), and yet others
        with open(f"{SAMPLES}/heap/events.{kind}") as text, open(f"threads.{kind}", "w") as out:
            out.write(text.read().replace("time,", "Time,", 1).replace("{", "{ ", 1))
        both(f"rows_{kind}", f"threads.{kind}", "thread")
    same_in_all("rows_csv", "thread")
    same_in_all("rows_jsonl", "thread")
    want = collections.Counter()
    for row in rows_of(path):
        want[row["thread"]] += int(row["size"]) if row["op"] != "free" else 0
    for name in ("rows_csv", "rows_jsonl"):
        got = {thread: row["self_alloc_b"] for thread, row in by(f"{name}_split", "thread").items() if row["self_alloc_b"]}
        m.check(len(want) > 1 and got == dict(want), name, "threads", got, want)
    files = {"labels.csv": "stack,at_end_b,tenant,handler\nmain;f,1,a,/x\nmain;f,2,b,\nmain;f,4,,\n,8,a,/x\n",
             "labels.jsonl": '{"stack":["main","f"],"at_end_b":1,"tenant":"a","handler":"/x"}\n{"handler":null,"tenant":"b","stack":"main;f","at_end_b":2}\n'
                             '{"stack":"main;f","at_end_b":4,"more":[1]}\n{"at_end_b":8,"tenant":"a","handler":"/x"}\n'}
    for file, text in files.items():
        with open(file, "w") as out:
            out.write(text)
        m.run("import", file, "--name", file, "--split", "label", codes=(0,))
        got = {label: row["self_at_end_b"] for label, row in by(file, "label").items() if row["self_at_end_b"]}
        m.check(got == {"handler=/x, tenant=a": 9, "tenant=b": 2, "[no label]": 4}, file, got)
        got = {label: row["self_at_end_b"] for label, row in by(file, "name").items() if row["self_at_end_b"]}
        m.check(got == {"f": 7, "handler=/x, tenant=a": 8}, file, "by name", got)


def labels():
    both("labels", labelled("labels.pb"), "label")
    same_in_all("labels", "label")
    got = {label: row["self_at_end_b"] for label, row in by("labels_split", "label").items() if row["self_at_end_b"]}
    want = {"tenant=a": 33 * 64, "tenant=b": 2 * 64, "[no label]": 4 * 64, "handler=/x, tenant=a": 24 * 64}
    m.check(got == want, "labels", got, want)
    rows = m.rows("tree", "labels_split")
    m.check({row["name"] for row in rows if row["parent"] is None} == set(want) - {"[no label]"} | {"main.main"}, "labels", "roots", rows)


def value(label, key):
    """What a text of labels says of one key."""
    return dict(of.split("=", 1) for of in label.split(", ") if "=" in of).get(key, "[no label]")


def one_label():
    """--by label:KEY is --by label, added up by one key: in every report, beside other keys, in every order."""
    with open("events_labels.csv", "w") as out:
        out.write("time,op,address,size,stack,tenant,handler\n")
        for i in range(200):
            row = f"{i},{'free' if i % 5 == 4 else 'alloc'},{i - 3 if i % 5 == 4 else i},{i % 7 + 1 if i % 5 < 4 else ''},main;f{i % 3}"
            out.write(f"{row},{'ab '[i % 3].strip()},{('', '/x', '/y')[i % 4 % 3]}\n")
    m.run("import", "events_labels.csv", "--name", "events_labels", "--split", "label", codes=(0,))
    m.run("import", "events_labels.csv", "--name", "unlabelled", codes=(0,))
    reports = [(run, report) for run in ("events_labels", "labels_split", "labels.csv") for report in ("table", "leaks", "peak")]
    for run, report in reports:
        if report == "peak" and run != "events_labels":
            continue  # nothing is known of it
        size = "self_at_end_b" if report == "table" else "at_peak_b" if report == "peak" else "at_end_b"
        whole = m.rows(report, run, "--by", "label")
        for key in ("tenant", "handler"):
            want, got = collections.Counter(), collections.Counter()
            for row in whole:
                want[value(row["label"], key)] += row.get(size) or 0
            for row in m.rows(report, run, "--by", f"label:{key}"):
                m.check(row[f"label:{key}"] not in got, run, report, "twice", row)
                got[row[f"label:{key}"]] += row.get(size) or 0
            m.check(+got == +want and len(want) > 1, run, report, key, got, want)
            for keys in (f"label:{key},site", f"site,label:{key}"):
                got = collections.Counter()
                for row in m.rows(report, run, "--by", keys):
                    got[row[f"label:{key}"]] += row.get(size) or 0
                m.check(+got == +want, run, report, keys, got, want)
        both_keys = m.rows(report, run, "--by", "label:handler,label:tenant")
        m.check(mt.total(both_keys, size) == mt.total(whole, size), run, report, "two keys")
        m.check(len(both_keys) == len({(row["label:handler"], row["label:tenant"]) for row in both_keys}), run, report, "two keys, rows")
    rows = m.rows("table", "events_labels", "--by", "label:tenant,site", "--name", "^a$")
    m.check(rows and {row["label:tenant"] for row in rows} == {"a"}, "--name chooses a value", rows)
    for run in ("events_labels", "labels_split"):
        m.check(len(m.json("diff", run, run, "--by", "label:tenant")) > 0, run, "diff")
    m.check(len(m.json("timeline", "events_labels", "--by", "label:tenant")) > 0, "timeline")
    for args, says in (
        (("table", "events_labels", "--by", "label:tenent"), ("no label 'tenent'", "mean tenant?", "Labels: handler, tenant.")),
        (("leaks", "events_labels", "labels_split", "--by", "label:x"), ("no label 'x'",)),
        (("diff", "events_labels", "labels_split", "--by", "label:x"), ("no label 'x'",)),
        (("peak", "unlabelled", "--by", "label:tenant"), ("labels", "--split label")),
        (("table", "events_labels", "--by", "label:"), ("unknown --by key",)),
        (("table", "events_labels", "--by", "label:tenant,label:tenant"), ("twice",)),
        (("table", "events_labels", "--by", ",".join(f"label:{i}" for i in range(9))), ("more than 8",)),
        (("table", "events_labels", "--by", "label:" + "x" * 300), ("too long",)),
        (("segments", "events_labels", "--by", "label:tenant"), ()),
    ):
        code, out, err = m.run(*args, codes=(2,))
        m.check(code == 2 and not out and all(word in err for word in says), args, err)


# ---- sizes ----


def size_class(size):
    least = 1 << size.bit_length() >> 1
    if size < 1024:
        return f"{size} B" if size < 2 else f"{least}-{2 * least - 1} B"
    unit, units = (least.bit_length() - 1) // 10, ("B", "KiB", "MiB", "GiB")
    least >>= 10 * unit
    return f"512 {units[unit]}-1 {units[unit + 1]}" if least == 512 else f"{least}-{2 * least} {units[unit]}"


def histogram(path):
    """Of a log of events: what blocks of a size come to, as the log says."""
    live, want, level, peak, at_peak = {}, {}, 0, 0, {}
    with open(path, newline="") as text:
        for row in csv.DictReader(text):
            if row["op"] != "alloc":
                level -= live.pop(row["address"] if row["op"] == "free" else row["old_address"], 0)
            if row["op"] == "free":
                continue
            size = live[row["address"]] = int(row["size"])
            level += size
            of = want.setdefault(size_class(size), dict.fromkeys(FIGURES, 0))
            of["alloc_b"] += size
            of["alloc_n"] += 1
            if level > peak:
                peak, at_peak = level, dict(live)
    for figure, blocks in (("at_peak_b", at_peak), ("at_end_b", live)):
        for size in blocks.values():
            want[size_class(size)][figure] += size
    return want


def sizes():
    files = {"events": "heap/events.csv", "jsonl": "heap/events.jsonl", "heaptrack": "heap/heaptrack.zst", "raw": "heap/heaptrack.raw.zst",
             "mtrace": "heap/mtrace_2k.log.zst", "memray": "python/memray_1.18.0.bin", "plain": "python/memray_1.20_plain.bin.gz",
             "tracemalloc": "python/tracemalloc_1.pkl"}
    for name, file in files.items():
        both(f"sizes_{name}", f"{SAMPLES}/{file}", "size")
        same_in_all(f"sizes_{name}", "size")
        for report in (("leaks",), ("peak",), ("tree",), ("diff", f"sizes_{name}_split")):
            if report != ("peak",) or name != "tracemalloc":
                m.json(*report, f"sizes_{name}_split", *(("--by", "size") if report[0] != "tree" else ()))
    got = {size: figures(row) for size, row in by("sizes_events_split", "size").items()}
    want = histogram(f"{SAMPLES}/heap/events.csv")
    m.check(got == want, "sizes of events", mt.differences(got, want))
    m.check([name for name in files if m.query(f"SELECT 1 FROM v_size WHERE run = 'sizes_{name}' LIMIT 1")] == ["heaptrack"], "logs with sizes")
    # Two at once, and what is freed in part.
    m.run("import", f"{SAMPLES}/python/memray_1.18.0.bin", "--name", "two", "--split", "size,thread")
    m.run("import", f"{SAMPLES}/python/memray_1.18.0.bin", "--name", "one", "--split", "thread")
    for key, run in (("thread", "one"), ("size", "sizes_memray_split")):
        want, got = ({row[key]: figures(row) for row in m.rows("table", of, "--by", key) if any(figures(row).values())} for of in (run, "two"))
        m.check(len(got) > 1 and got == want, "size and thread", key, mt.differences(got, want))
    # Sums of many blocks do not say how large these are.
    for file in ("heap/dhat_2k.json", "heap/sums.csv", "heap/massif_ms.out.gz"):
        m.run("import", f"{SAMPLES}/{file}", "--name", file, "--split", "size")
        code, _, err = m.run("table", file, "--by", "size", codes=(2,))
        m.check(code == 2 and "by size" in err, "sums by size", file, err)


def options():
    for wrong in ("threads", "label,", ",", "thread,thread", "size,,thread"):
        code, _, err = m.run("import", f"{SAMPLES}/heap/heaptrack.zst", "--split", wrong, codes=(2,))
        m.check(code == 2 and "--split is" in err, "--split", wrong, code, err)
    # What has nothing to split is as ever, and says so when asked.
    m.run("import", f"{SAMPLES}/heap/heaptrack.zst", "--split", "thread,label", "--name", "nothing")
    for key in ("thread", "label"):
        code, _, err = m.run("table", "nothing", "--by", key, codes=(2,))
        m.check(code == 2 and "apart" in err, "nothing to split", key, err)
    code, _, err = m.run("table", "jemalloc_split", "--thread", "1", codes=(2,))
    m.check(code == 2, "ops of a thread", err)


of_memray("1.20", "memray_1.20.bin")
of_memray("1.20_native", "memray_1.20_native.bin")
of_memray("1.10.0", "memray_1.10.0.bin")
of_memray("1.20_aggregated", "memray_1.20_aggregated.bin")
of_jemalloc()
labels()
of_rows()
one_label()
sizes()
options()
m.finish(100)
