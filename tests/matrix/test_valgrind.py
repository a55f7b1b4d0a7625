#!/usr/bin/env python3
"""massif and DHAT: every figure of a call path is what another reader of the same file finds, and sums add up."""

import collections
import gzip
import json
import os
import re

import mt

m = mt.Matrix()
HEAP = os.path.join(os.environ["SAMPLES"], "heap")
ALLOCATORS = ("malloc", "calloc", "realloc", "memcpy@GLIBC_2.2.5", "memcpy", "mempcpy", "memmove", "strcpy", "stpcpy")  # whose caller it is
STARTS = ("start_thread", "clone", "clone3", "(below main)", "[ld-linux-x86-64.so.2]")


def name_of(text):
    """Of "0x1091D1: leaf_alloc (alloclab.c:14)", the function; of one without a name, its object."""
    unknown = re.search(r"[?]{3} [(]in (?:.*/)?([^/]*)[)]$", text)
    if unknown:
        return f"[{unknown[1]}]"
    return re.sub(r"@@.*", "", re.sub(r" \([^()]*\)$", "", re.sub(r"^0x[0-9A-F]+: ", "", text)))


def path_of(stack, cut):
    """The call path of a stack, innermost function first, as memtool has it: a tuple, outermost first."""
    while stack[0] in ALLOCATORS and len(stack) > 1:
        stack = stack[1:]
    rooted = stack[-1] in (*STARTS, "main")
    if "main" in stack:
        stack = stack[: stack.index("main") + 1]
    while stack[-1] in STARTS and len(stack) > 1:
        stack = stack[:-1]
    path = ["[stack cut]"] if cut and not rooted else []
    for function in reversed(stack):
        if not path or path[-1] != function:
            path.append(function)
    return tuple(path)


def stored(run):
    """What is stored of the call paths: {path: figures}, without those that did nothing themselves."""
    nodes = {row["id"]: row for row in m.query(f"SELECT * FROM v_node WHERE run = '{run}'")}

    def path(node):
        return (*(path(nodes[node["parent_id"]]) if node["parent_id"] else ()), node["name"])

    return {path(node): node for node in nodes.values() if node["self_alloc_n"] or node["self_at_peak_b"]}


def compare(run, want):
    """Every path that is wanted is stored with these figures, and no other."""
    got = stored(run)
    m.check(set(got) == set(want), run, "paths", sorted(set(got) ^ set(want)))
    for path, figures in want.items():
        for figure, value in figures.items():
            m.check(path in got and got[path][figure] == value, run, ";".join(path), figure, value, got.get(path))


def opened(name):
    path = os.path.join(HEAP, name)
    return gzip.open(path, "rt") if name.endswith(".gz") else open(path)


def imported(name):
    m.run("import", os.path.join(HEAP, name), "--name", name.split(".")[0])
    return m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{name.split('.')[0]}'")[0]


# ---- DHAT ----


def dhat(name):
    with opened(name) as f:
        doc = json.load(f)
    device, run = imported(name), name.split(".")[0]
    frames = [name_of(text) for text in doc["ftbl"]]
    longest = max(len(pp["fs"]) for pp in doc["pps"])
    want = collections.defaultdict(collections.Counter)
    keys = {"self_alloc_b": "tb", "self_alloc_n": "tbk", "self_at_peak_b": "gb", "self_at_peak_n": "gbk", "self_at_end_b": "eb", "self_at_end_n": "ebk"}
    for pp in doc["pps"]:
        path = path_of([frames[i] for i in pp["fs"]], len(pp["fs"]) == longest)
        for figure, key in keys.items():
            want[path][figure] += pp[key]
    compare(run, want)
    further(run, doc, frames, longest)
    for figure, key in (("alloc_b", "tb"), ("alloc_n", "tbk"), ("peak_b", "gb"), ("at_end_b", "eb"), ("at_end_n", "ebk")):
        whole = sum(pp[key] for pp in doc["pps"])
        m.check(device[figure] == whole, run, "device", figure, device[figure], whole)
    m.check(device["peak_ns"] == doc["tg"], run, "time of the peak", device["peak_ns"])
    ran = m.query(f"SELECT dur_ns, time_unit FROM run WHERE name = '{run}'")[0]
    m.check(ran["dur_ns"] in (doc["te"], None), run, "time of the end", ran)
    m.check(ran["time_unit"] == "instructions", run, "unit of times", ran)


def by_function(paths, value):
    """What functions add up to, each path once for each: {name: itself}, {name: with what it calls}."""
    own, all_of = collections.Counter(), collections.Counter()
    for path, figures in paths.items():
        own[path[-1]] += figures[value]
        for name in set(path):
            all_of[name] += figures[value]
    return own, all_of


def further(run, doc, frames, longest):
    """Reads, writes and lifetimes, which reports add up by function."""
    paths = collections.defaultdict(collections.Counter)
    for pp in doc["pps"]:
        path = path_of([frames[i] for i in pp["fs"]], len(pp["fs"]) == longest)
        short = pp["tl"] <= doc["tuth"] * pp["tbk"]
        paths[path].update({"read_b": pp["rb"], "written_b": pp["wb"], "lifetime": pp["tl"], "n": pp["tbk"], "short_lived_n": short * pp["tbk"]})
    rows = mt.by(m.rows("table", run, "--by", "name"), "name")
    for prefix, at in (("self_", 0), ("", 1)):
        for figure in ("read_b", "written_b", "short_lived_n"):
            got = collections.Counter({name: row[prefix + figure] for (name,), row in rows.items()})
            m.check(got == by_function(paths, figure)[at], run, prefix + figure, got, by_function(paths, figure)[at])
        lifetime, blocks = by_function(paths, "lifetime")[at], by_function(paths, "n")[at]
        for (name,), row in rows.items():
            mean = lifetime[name] // blocks[name] if blocks[name] else None
            m.check(row[prefix + "mean_lifetime_ns"] == mean, run, prefix + "mean lifetime", name, row, mean)
    for figure in ("read_b", "written_b", "short_lived_n", "lifetime_ns"):
        stored = m.query(f"SELECT sum(value) AS v FROM v_node_extra WHERE run = '{run}' AND figure = '{figure}'")[0]["v"]
        m.check(stored == sum(path[figure.replace("lifetime_ns", "lifetime")] for path in paths.values()), run, "all", figure, stored)


def counts(name, amount, n, stderr):
    """Of what is no memory only its own figures are known: they add up to what DHAT says on stderr."""
    with opened(name) as f:
        doc = json.load(f)
    device, run = imported(name), name.split(".")[0]
    m.check(all(device[figure] is None for figure in ("alloc_b", "alloc_n", "peak_b", "at_end_b", "at_end_n")), run, "claims memory", device)
    frames = [name_of(text) for text in doc["ftbl"]]
    longest = max(len(pp["fs"]) for pp in doc["pps"])
    paths = collections.defaultdict(collections.Counter)
    for pp in doc["pps"]:
        paths[path_of([frames[i] for i in pp["fs"]], len(pp["fs"]) == longest >= 10)].update({amount: pp["tb"], n: pp["tbk"]})
    rows = mt.by(m.rows("table", run, "--by", "name"), "name")
    for figure, whole in zip((amount, n), stderr):
        m.check(sum(path[figure] for path in paths.values()) == whole == mt.total(rows.values(), "self_" + figure), run, figure, whole)
        for at, prefix in enumerate(("self_", "")):
            got = collections.Counter({name: row[prefix + figure] for (name,), row in rows.items()})
            m.check(got == by_function(paths, figure)[at], run, prefix + figure, got)
    m.check(all(row["self_alloc_b"] is None for row in rows.values()), run, "table claims memory", rows)
    for report, code in (("peak", 2), ("tree", 2), ("leaks", 3), ("timeline", 2)):
        m.check(m.run(report, run, codes=(code,))[0] == code, run, report, "answers")
    for rule in ("--max-peak", "--max-at-end"):
        m.check(m.run("check", run, rule, "1", codes=(3,))[0] == 3, run, rule, "is judged")


# ---- massif ----


def tree(lines, at, stack, held):
    """Adds what paths hold in the tree whose first line is lines[at]; returns its bytes and the line behind it."""
    n, size, text = re.match(r" *n(\d+): (\d+) (.*)", lines[at]).groups()
    at += 1
    if text.startswith("in "):
        held[("[below threshold]", *path_of(stack, False)) if stack else ("[below threshold]",)] += int(size)
        return int(size), at
    below = 0
    inner = [*stack, name_of(text)] if not text.startswith("(") else stack
    for _ in range(int(n)):
        more, at = tree(lines, at, inner, held)
        below += more
    m.check(below in (0, int(size)), "tree", text, size, below)
    if not below and inner:
        held[path_of(inner, len(inner) >= 30)] += int(size)
    return int(size), at


def massif(name, paths=True):
    """paths: of functions that this test knows by their names."""
    with opened(name) as f:
        text = f.read()
    device, run = imported(name), name.split(".")[0]
    moments = []
    for part in re.split(r"#-+\nsnapshot=\d+\n#-+\n", text)[1:]:
        lines = part.rstrip("\n").split("\n")
        figures = dict(line.split("=") for line in lines[:5])
        held = collections.Counter()
        if figures["heap_tree"] != "empty":
            tree(lines, 5, [], held)
            m.check(sum(held.values()) == int(figures["mem_heap_B"]), run, "tree of", figures)
        moments.append((int(figures["time"]), int(figures["mem_heap_B"]), +held, figures["heap_tree"] != "empty"))
    unit = re.search(r"^time_unit: (\w+)", text, re.M)[1]
    moments = [(time * (1000000 if unit == "ms" else 1), *others) for time, *others in moments]
    time, level, held, _ = max(moments, key=lambda moment: (moment[1], len(moment[2])))
    m.check(device["peak_b"] == level, run, "peak", device["peak_b"], level)
    m.check(device["peak_ns"] == time, run, "time of the peak", device["peak_ns"], time)
    m.check([device[key] for key in ("alloc_b", "alloc_n", "freed_b", "at_end_b", "at_end_n")] == [None] * 5, run, "what massif does not tell", device)
    if paths:
        compare(run, {path: {"self_at_peak_b": size} for path, size in held.items()})
    check_moments(run, moments)


def check_moments(run, moments):
    """Each moment with a tree is stored, and its sums are the level."""
    rows = m.query(f"SELECT m.position, m.time_ns FROM moment m JOIN run r ON r.id = m.run_id WHERE r.name = '{run}' ORDER BY m.position")
    trees = [moment for moment in moments if moment[3]]
    m.check([row["time_ns"] for row in rows] == [time for time, *_ in trees], run, "moments", rows)
    for row, (_, level, *_) in zip(rows, trees):
        held = m.query(f"SELECT sum(h.bytes_b) AS b FROM {mt.HOLDINGS} h JOIN device d ON d.id = h.device_id JOIN run r ON r.id = d.run_id "
                       f"WHERE r.name = '{run}' AND h.moment <= {row['position']}")[0]["b"]
        m.check((held or 0) == level, run, "held at", row, held, level)


# ---- xtree ----


def xtree_paths(text):
    """Figures of each call path, outermost function first: parts between empty lines, each one path."""
    known, paths = {}, collections.defaultdict(collections.Counter)
    head, _, body = text.partition("\nevents: ")
    columns, _, body = body.partition("\n")
    for part in body.partition("totals:")[0].strip("\n").split("\n\n"):
        stack, figures, of_call = [], None, False
        for line in part.split("\n"):
            name = re.match(r"c?fn=[(](\d+)[)] ?(.*)", line)
            if name:
                known[name[1]] = name_of(name[2]) if name[2] else known[name[1]]
                stack += [known[name[1]]] if line.startswith("fn=") else []
            elif line.startswith("calls="):
                of_call = True
            elif line[0].isdigit():
                figures, of_call = (figures if of_call else [int(figure) for figure in line.split()[1:]]), False
        paths[tuple(stack)].update(dict(zip(columns.split(), figures)))
    return paths, dict(zip(columns.split(), map(int, body.partition("totals: ")[2].split())))


def xtree(name, other=None):
    """Of allocations; other: a run of DHAT of the same program, in which all functions allocate and hold the same."""
    with opened(name) as f:
        paths, totals = xtree_paths(f.read())
    device, run = imported(name), name.split(".")[0]
    for figure, event in (("alloc_b", "totB"), ("alloc_n", "totBk"), ("at_end_b", "curB"), ("at_end_n", "curBk")):
        m.check(device[figure] == totals[event] == sum(path[event] for path in paths.values()), run, figure, device, totals)
    m.check(device["freed_b"] == totals["totFdB"] and device["freed_n"] == totals["totFdBk"] and device["peak_b"] is None, run, "freed, peak", device, totals)
    longest = max(map(len, paths))
    want = collections.defaultdict(collections.Counter)
    for stack, figures in paths.items():
        if figures["totBk"]:
            want[path_of(list(reversed(stack)), len(stack) == longest)].update(
                {"self_alloc_b": figures["totB"], "self_alloc_n": figures["totBk"], "self_at_end_b": figures["curB"], "self_at_end_n": figures["curBk"]})
    compare(run, want)
    if other:
        columns = ("self_alloc_b", "self_alloc_n", "self_at_end_b")
        ours, theirs = ({row["name"]: [row[column] for column in columns] for row in m.rows("table", of, "--by", "name") if row["self_alloc_n"]} for of in (run, other))
        m.check(ours == theirs, run, other, "allocate other than", ours, theirs)


def xtree_leaks(name):
    """Of leaks, whose kinds are roots; what is indirectly lost is in the column of what it hangs on, too."""
    with opened(name) as f:
        paths, totals = xtree_paths(f.read())
    device, run = imported(name), name.split(".")[0]
    m.check(device["at_end_b"] == sum(totals[event] for event in ("RB", "PB", "IB", "DB")) - totals["DIB"], run, "bytes", device, totals)
    m.check(device["at_end_n"] == sum(totals[event] for event in ("RBk", "PBk", "IBk", "DBk")), run, "blocks", device, totals)
    held = {row["name"]: row["at_end_b"] for row in m.rows("table", run, "--by", "name")}
    for root, size in (("[definitely lost]", totals["DB"] - totals["DIB"]), ("[still reachable]", totals["RB"])):
        m.check(held.get(root, 0) == size, run, root, held, totals)


# ---- beside heaptrack ----


def sites(run):
    """What sites did themselves: {(site, in what): (allocated bytes and blocks, at the peak, at the end)}."""
    rows = m.query(f"SELECT top, scope, sum(self_alloc_b) AS b, sum(self_alloc_n) AS n, sum(self_at_peak_b) AS peak, sum(self_at_end_b) AS at_end "
                   f"FROM v_node WHERE run = '{run}' GROUP BY top, scope")
    return {(row["top"], row["scope"]): (row["b"], row["n"], row["peak"], row["at_end"]) for row in rows if row["n"]}


def beside(name, heaptrack):
    """One program under both tools: all is the same, but for what one of them does not see or sees otherwise."""
    imported(heaptrack)
    ours, theirs = sites(name.split(".")[0]), sites(heaptrack.split(".")[0])
    differences = {}
    for site in set(ours) | set(theirs):
        difference = tuple(b - a for a, b in zip(ours.get(site, (0,) * 4), theirs.get(site, (0,) * 4)))
        if any(difference):
            differences[site] = difference
    pool, tls = ("[libstdc++.so.6]", "call_init"), ("allocate_dtv", "_dl_allocate_tls")
    m.check(differences == {pool: (72704, 1, 72704, 0), tls: (2 * 48, 0, 2 * 48, 2 * 320)}, name, heaptrack, "differ", differences)


def beyond():
    """Sums that leave 64 bits are unknown."""
    most = 2**63 - 1
    path = dict(tb=100, tbk=2, tl=9 * 10**18, mb=50, mbk=1, gb=100, gbk=2, eb=0, ebk=0, rb=most, wb=5)
    head = dict(dhatFileVersion=2, mode="heap", verb="Allocated", bklt=True, bkacc=True, tu="instrs", Mtu="Minstr", tuth=500)
    with open("beyond.json", "w") as out:
        frames = ["[root]", "0x1: f (a.c:1)", "0x2: main (a.c:2)", "0x3: g (a.c:1)"]
        paths = [dict(path, fs=[1, 2]), dict(path, fs=[3, 2])]
        json.dump(dict(head, cmd="./x", pid=1, te=100, tg=50, pps=paths, ftbl=frames), out)
    m.run("import", "beyond.json")
    rows = m.rows("table", "beyond", "--columns", "name,read_b,self_read_b")
    got = {row["name"]: (row["read_b"], row["self_read_b"]) for row in rows}
    m.check(got == {"f": (most, most), "g": (most, most), "main": (None, 0)}, "beyond 64 bits", got)


dhat("dhat_200k.json")
dhat("dhat_2k.json")
beyond()
counts("dhat_copy.json", "copied_b", "copies_n", (52391, 81))
counts("dhat_ad_hoc.json", "units_n", "events_n", (115, 6))
beside("dhat_2k.json", "heaptrack.zst")
massif("massif_200k.out")
massif("massif_pages.out.gz", paths=False)
massif("massif_ms.out.gz")
xtree("xtree_2k.kcg.gz", "dhat_2k")
xtree_leaks("xtree_leak.kcg")
m.finish(at_least=100)
