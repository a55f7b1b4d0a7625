#!/usr/bin/env python3
"""Dumps of one process, one after the other, and the moments of one log: what grows, what came, and at what rate."""

import glob
import os
import shutil

import mt
from pprof import HEAP, Profile

SAMPLES = os.environ["SAMPLES"]
# What each site of samples/rounds/rounds.c holds after each round, as its comment says.
ROUNDS = {
    "rises": [4096, 8192, 12288, 16384, 20480],
    "came": [0, 0, 16384, 16384, 16384],
    "up and down": [8192, 2048, 6144, 2048, 8192],
    "constant": [2560] * 5,
    "fell": [20480, 16384, 12288, 8192, 4096],
}
HOUR = 3600 * 10**9
EPOCH = 1_700_000_000 * 10**9

m = mt.Matrix()


def held(row, n):
    """What a site holds at the end of each of n runs."""
    return [row["first_at_end_b"], *(row[f"at_end_{i}_b"] for i in range(2, n)), row["at_end_b"]]


def code_of(*args):
    return m.run("leaks", *args, "--fail", codes=(0, 1, 3))[0]


# ---- recorders ----


def rounds():
    for recorder in ("jeprof", "gperf"):
        files = sorted(glob.glob(f"{SAMPLES}/rounds/*/{recorder}.*"))[:5]
        m.check(len(files) == 5, recorder, files)
        rows = [row for row in m.rows("leaks", *files, "--all") if row["site"].startswith("[rounds")]
        got = {row["trend"]: held(row, 5) for row in rows}
        m.check(len(rows) == 5 and got == ROUNDS, recorder, "holds", got)
        for row in rows:
            of = held(row, 5)
            m.check(row["change_b"] == of[-1] - of[0] and row["per_run_b"] == row["change_b"] / 4, recorder, row)
            m.check(row["per_hour_b"] is None, recorder, "knows no time", row)
            verdict = {"rises": "leak", "came": "candidate"}.get(row["trend"], "state")
            m.check(row["verdict"] == verdict, recorder, row["trend"], row["verdict"])
        m.check(code_of(*files) == 1, recorder, "leaks")
        m.check(code_of(*files, "--min", "1MiB") == 0, recorder, "none so large")
        m.check(code_of(*files[:2]) == 3, recorder, "two cannot tell")
        m.check(code_of(files[3], files[3], files[3]) == 3, recorder, "the same three times tells nothing")
        _, out, _ = m.run("leaks", *files)
        m.check("came and stayed: 16 KiB in 1 site" in out, recorder, "says what came", out)
        # Turned round, what rose falls, and what fell rises.
        back = [(row["trend"], held(row, 5)) for row in m.rows("leaks", *files[::-1], "--all") if row["site"].startswith("[rounds")]
        want = [("rises", ROUNDS["fell"][::-1]), ("fell", ROUNDS["rises"][::-1]), ("fell", ROUNDS["came"][::-1])]
        m.check(all(row in back for row in want), recorder, "turned round", back)


def python():
    """The last of tracemalloc's dumps is compared with itself: nothing rises from it."""
    one, two = f"{SAMPLES}/python/tracemalloc_1.pkl", f"{SAMPLES}/python/tracemalloc_2.pkl.zst"
    rows = m.rows("leaks", one, two, two, "--all")
    trends = {row["trend"] for row in rows}
    m.check("rises" not in trends and {"came", "rose"} <= trends, "tracemalloc", trends)
    m.check(code_of(one, two, two) == 3 and code_of(one, two) == 3, "tracemalloc", "codes")


# ---- times ----


def dump(name, sites, time=None, period=1, freed=0):
    """A profile of what sites hold, in blocks of 64 B, written at a time. freed: blocks that each freed before."""
    p = Profile(HEAP, period)
    if time is not None:
        p.time(time)
    main = p.function("main.main")
    for site, n in sites.items():
        p.sample([p.location(p.function(site)), p.location(main)], (n + freed, 64 * (n + freed), n, 64 * n))
    with open(name, "wb") as out:
        out.write(p.bytes())
    return name


def times():
    hours = [0, 0.5, 1, 2]
    files = [dump(f"t{i}.pb", {"main.grow": 100 + 10 * i, "main.stay": 7}, EPOCH + int(h * HOUR)) for i, h in enumerate(hours)]
    answer = m.json("leaks", *files, "--all")
    rows = {row["site"].split(" ")[0]: row for row in answer["rows"]}
    m.check(rows["main.grow"]["per_hour_b"] == 30 * 64 / 2 and rows["main.stay"]["per_hour_b"] == 0, "per hour", rows)
    m.check(rows["main.grow"]["verdict"] == "leak" and code_of(*files) == 1, "with times", rows)
    _, out, _ = m.run("leaks", *files)
    m.check("PER HOUR" in out and ", 7,200 s" in out, "says how long", out)
    # What grew in seconds says nothing of an hour.
    near = [dump(f"near{i}.pb", {"main.grow": 100 + 10 * i}, EPOCH + i * 10**10) for i in range(4)]
    m.check(all(row["per_hour_b"] is None and row["change_b"] == 30 * 64 for row in m.rows("leaks", *near)), "seconds")
    m.check("PER HOUR" not in m.run("leaks", *near)[1], "a rate of seconds")
    # Of a run in the wrong place, and of one without a time, nobody knows a rate.
    wrong = m.json("leaks", files[1], files[0], files[2])
    m.check(all(row["per_hour_b"] is None for row in wrong["rows"]), "not in order", wrong)
    m.check(any("was written before" in note for note in wrong["notes"]), "says so", wrong["notes"])
    untimed = dump("untimed.pb", {"main.grow": 1})
    m.check(all(row["per_hour_b"] is None for row in m.rows("leaks", untimed, files[1], files[2])), "one has no time")


def many():
    """Of more runs than columns the ends remain."""
    files = [dump(f"m{i}.pb", {"main.grow": 10 + i}) for i in range(66)]
    row = m.rows("leaks", *files)[0]
    m.check((row["first_at_end_b"], row["at_end_b"], row["trend"]) == (640, 75 * 64, "rises"), "66 runs", row)
    m.check("at_end_2_b" not in row, "66 runs", "no columns between", list(row))
    row = m.rows("leaks", *files[:64])[0]
    m.check(held(row, 64) == [640 + 64 * i for i in range(64)], "64 runs", row)


# ---- the moments of one log ----


def massif(name, of_site, last=None):
    """Snapshots with what sites hold, at 100, 200 ...; last: a total behind them."""
    with open(name, "w") as out:
        print("desc: --massif-out-file=x\ncmd: ./x\ntime_unit: i", file=out)
        moments = list(zip(*of_site.values()))
        totals = [sum(held_now) for held_now in moments]
        for i, held_now in enumerate(moments):
            total = totals[i]
            tree = "peak" if i == totals.index(max(totals)) else "detailed"
            print(f"#-----------\nsnapshot={i}\n#-----------\ntime={100 * (i + 1)}\nmem_heap_B={total}\nmem_heap_extra_B=0\nmem_stacks_B=0", file=out)
            print(f"heap_tree={tree}\nn{len(of_site)}: {total} (heap allocation functions) malloc/new/new[], --alloc-fns, etc.", file=out)
            for k, (site, b) in enumerate(sorted(zip(of_site, held_now), key=lambda at: -at[1])):
                print(f" n0: {b} 0x{4096 + sorted(of_site).index(site):X}: {site} (a.c:1)", file=out)
        if last is not None:
            n = len(moments)
            print(f"#-----------\nsnapshot={n}\n#-----------\ntime={100 * (n + 1)}\nmem_heap_B={last}\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty", file=out)
    return name


def moments():
    shapes = {
        "grow": [100 * i for i in range(1, 17)],
        "saw": [100 * i + 5000 * (i % 2) for i in range(1, 17)],  # the least and the most of each part rise
        "full": [100 * min(i, 8) for i in range(1, 17)],
        "warm": [100 * min(i, 10) for i in range(1, 17)],
        "falls": [3000 - 100 * i for i in range(1, 17)],
        "swings": [1000 + 500 * (i % 2) for i in range(1, 17)],
    }
    name = massif("shapes.out", shapes)
    rows = {row["site"]: row for row in m.rows("leaks", name, "--all")}
    want = {"grow": "rises", "saw": "rises", "full": "constant", "warm": "rose", "falls": "fell", "swings": "up and down"}
    m.check({site: rows[site]["trend"] for site in want} == want, "moments", rows)
    later = [i for i in range(16) if 100 * (i + 1) >= 800]
    for site, of in shapes.items():
        m.check(rows[site]["growth_b"] == of[-1] - of[later[0]], "moments grow", site, rows[site])
        m.check(rows[site]["at_end_b"] is None and rows[site]["per_hour_b"] is None, "moments", "no end, no ns", rows[site])
    shown = m.run("leaks", name)[1]
    m.check("grow" in shown and "saw" in shown and "full" not in shown, "what rises", shown)
    m.check(code_of(name) == 3, "nobody knows the end")
    # What rose up to the last moment with call paths, and was given up behind it.
    rows = {row["site"]: row["trend"] for row in m.rows("leaks", massif("given_up.out", shapes, last=50), "--all")}
    m.check("rises" not in rows.values(), "given up", rows)
    code, _, err = m.run("leaks", massif("few.out", {"grow": [100, 200, 300]}), codes=(3,))
    m.check(code == 3 and "alive at the end" in err, "too few moments", err)


def events():
    """heaptrack's moments, whose end is known, too."""
    m.run("import", f"{SAMPLES}/heap/heaptrack.zst", "--name", "events")
    rows = m.rows("leaks", "events")
    m.check(len(rows) == 3 and all(row["trend"] == "constant" and row["growth_b"] == 0 for row in rows), "heaptrack", rows)
    m.check(code_of("events") == 1, "heaptrack", "what is alive counts")


# ---- dumps as one run ----


def device_of(run):
    return m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]


def imported(name, *files):
    code, out, err = m.run("import", "--series", *files, "--name", name, codes=(0,))
    m.check(code == 0, name, "import", out, err)
    return device_of(name)


def as_dumps_say(name, files):
    """At each moment the run holds what the dump holds, by path; in the end, all that the last one says."""
    device = imported(name, *files)
    levels = []
    for i, path in enumerate(files):
        dump = f"{name}{i}"
        m.run("import", path, "--name", dump)
        of_dump = device_of(dump)
        levels.append(of_dump["at_end_b"])
        want = {row["path"]: (row["at_end_b"], row["at_end_n"]) for row in m.rows("leaks", dump, "--by", "path", "--all")}
        moment = m.query(f"SELECT m.time_ns FROM moment m JOIN run r ON r.id = m.run_id WHERE r.name = '{name}' AND m.position = {i}")[0]["time_ns"]
        answer = m.json("peak", name, "--at", str(moment), "--by", "path", "--limit", "0")
        got = {row["path"]: (row["live_b"], row["live_n"]) for row in answer["rows"]}
        m.check(got == {path: held for path, held in want.items() if held[0]}, name, "moment", i, got, want)
    for figure in ("alloc_b", "alloc_n", "freed_b", "at_end_b", "at_end_n"):
        m.check(device[figure] == of_dump[figure], name, figure, device[figure], of_dump[figure])
    m.check(device["peak_b"] == max(levels), name, "peak", device["peak_b"], levels)
    alloc = {row["path"]: row.get("self_alloc_b") for row in m.rows("table", name, "--by", "path")}
    last = {row["path"]: row.get("self_alloc_b") for row in m.rows("table", dump, "--by", "path")}
    m.check({k: v for k, v in alloc.items() if v} == {k: v for k, v in last.items() if v}, name, "allocated by path")
    m.check(m.query(f"SELECT text FROM v_note WHERE run = '{name}' AND kind = 'dumps'") != [], name, "says what it is")
    return device


def series():
    for recorder in ("jeprof", "gperf"):
        files = sorted(glob.glob(f"{SAMPLES}/rounds/*/{recorder}.*"))[:5]
        as_dumps_say(recorder, files)
        rows = [row for row in m.rows("leaks", recorder) if row["site"].startswith("[rounds")]
        got = {row["trend"]: (row["at_end_b"], row["growth_b"]) for row in rows}
        m.check(got == {trend: (of[-1], of[-1] - of[0]) for trend, of in ROUNDS.items()}, recorder, "trends", got)
        m.check(code_of(recorder) == 1 and code_of(recorder, "--min", "1MiB") == 0, recorder, "codes")
        m.check(m.run("check", recorder, "--max-peak", "1TiB", codes=(0, 1, 3))[0] == 3, recorder, "between dumps more may be alive")
        m.check(m.run("check", recorder, "--max-peak", "1", codes=(0, 1, 3))[0] == 1, recorder, "and no less")
    as_dumps_say("tracemalloc", [f"{SAMPLES}/python/tracemalloc_1.pkl", f"{SAMPLES}/python/tracemalloc_2.pkl.zst"])
    m.check(device_of("tracemalloc")["alloc_b"] is None and code_of("tracemalloc") == 3, "tracemalloc", "two cannot tell")
    as_dumps_say("go", [f"{SAMPLES}/heap/go_heap_{i}.pb.gz" for i in (1, 2)])


def series_in_time():
    """Times decide the order; what a process allocated in all never falls."""
    hours = [0, 0.5, 1, 2]
    files = [dump(f"s{i}.pb", {"main.grow": 100 + 10 * i, "main.stay": 7}, EPOCH + int(h * HOUR)) for i, h in enumerate(hours)]
    imported("timed", *files[::-1])
    run = m.query("SELECT start_ns, dur_ns, time_unit FROM run WHERE name = 'timed'")[0]
    m.check(run == {"start_ns": EPOCH, "dur_ns": 2 * HOUR, "time_unit": "ns"}, "timed", run)
    rows = {row["site"].split(" ")[0]: row for row in m.rows("leaks", "timed")}
    m.check(rows["main.grow"]["per_hour_b"] == 30 * 64 / 2 and rows["main.grow"]["trend"] == "rises", "timed", rows)
    m.check(rows["main.stay"]["trend"] == "constant" and code_of("timed") == 1, "timed", rows)
    many_files = [dump(f"n{i}.pb", {"main.grow": 100 + i, "main.swings": 50 + i % 3}, EPOCH + i * HOUR, freed=9 * i) for i in range(40)]
    imported("many", *many_files)
    rows = {row["site"].split(" ")[0]: row for row in m.rows("leaks", "many")}
    m.check(rows["main.grow"]["trend"] == "rises" and rows["main.swings"]["trend"] == "up and down", "many", rows)
    m.check(abs(rows["main.grow"]["per_hour_b"] - 64) <= 4, "many", rows["main.grow"])


def pauses():
    """What rose at times, and still does, may leak: of few dumps, and of many in the later half."""
    quiet = [100 * (i - (i > 4)) for i in range(1, 10)]
    shapes = {
        "quiet": (quiet, 3),
        "late": ([700] * 5 + [800, 900, 1000, 1100], 3),
        "filled": ([min(i, 5) * 100 for i in range(1, 10)], 0),
        "once": ([500, 500, 900, 900, 900, 900], 0),
        "last": ([500, 500, 500, 900], 3),
        "swings": ([500, 600, 500, 600, 500, 700], 0),
        "dips": ([100, 200, 180, 300, 400, 390, 500, 600, 590, 700], 3),
        "warm-up": ([100, 200, 1000, 900, 1000, 900, 1000, 900], 0),
        "much": ([i - max(0, min(i - 24, 6)) for i in range(1, 41)], 3),
        "stopped": ([min(i, 30) for i in range(1, 41)], 0),
    }
    for name, (held_n, want) in shapes.items():
        files = [folded(f"{name}{i}.txt", grow=64 * n, stay=4096) for i, n in enumerate(held_n)]
        m.run("import", "--series", "--values", "at-end", "--name", name, *files, codes=(0,))
        m.check(code_of(name) == want, "pauses", name, code_of(name))
        m.check(("may leak" in m.run("leaks", name)[1]) == (want == 3), "pauses", name, "says so")
    m.check(m.rows("leaks", "dips")[0]["trend"] == "rises with dips", "pauses", m.rows("leaks", "dips"))
    m.check(code_of("quiet", "--min", "1MiB") == 0, "pauses", "by less than is asked for")


def folders():
    """Files of a folder by their recorder's numbers, not by letters."""
    os.mkdir("dumps")
    for i in (1, 2, 9, 10, 11):
        dump(f"dumps/heap.{i}.pb", {"main.grow": i})
    device = imported("folder", "dumps")
    m.check(device["at_end_b"] == 11 * 64, "folder", device)
    m.check([row["trend"] for row in m.rows("leaks", "folder")] == ["rises"], "folder", "in order")
    # Without --series each is a run of its own, as ever.
    m.run("import", "dumps", "--group", "apart")
    m.check(m.query("SELECT count(*) AS n FROM run_group WHERE name = 'apart'")[0]["n"] == 5, "folder", "runs of their own")
    code, out, _ = m.run("import", "--series", "dumps", codes=(0,))
    m.check("already imported" in out, "folder", "known again", out)
    code, out, _ = m.run("import", "--series", f"{SAMPLES}/rounds/gperftools", codes=(0,))
    m.check(out.startswith("gperftools: "), "folder", "names the run", out)
    # jemalloc's last dump has no number of its kind (prof_final).
    os.mkdir("jemalloc")
    for i in range(1, 5):
        name = f"jeprof.4711.{i}.m{i}.heap.zst"
        shutil.copy(f"{SAMPLES}/rounds/jemalloc/{name}", f"jemalloc/{name if i < 4 else 'jeprof.4711.4.f.heap.zst'}")
    imported("final", *sorted(glob.glob("jemalloc/*"), reverse=True))
    rows = [row for row in m.rows("leaks", "final") if row["site"].startswith("[rounds")]
    m.check({row["trend"]: row["at_end_b"] for row in rows} == {trend: of[-1] for trend, of in ROUNDS.items()}, "final", rows)


def memory():
    """What is kept of each dump until the last counts to the memory that an import may take."""
    stacks = "".join(f"1: 10 [1: 10] @ 0x{0x1000 + 16 * i:x}\n" for i in range(2000))
    files = [f"large.{i:04d}.heap" for i in range(40)]
    for path in files:
        with open(path, "w") as f:
            f.write(f"heap profile: 2000: 20000 [2000: 20000] @ heapprofile\n{stacks}\nMAPPED_LIBRARIES:\n")
    for limit, want in (("3MiB", 2), ("64MiB", 0)):
        code, _, err = m.run("import", "--series", *files, "--max-memory", limit, codes=(0, 2))
        m.check(code == want and (not code or "heap: needs more than 3 MiB" in err), "memory", limit, code, err)


def no_series():
    def refused(why, *files):
        code, _, err = m.run("import", "--series", *files, codes=(2,))
        m.check(code == 2 and why in err and "Nothing was imported" in err, "refused", why, code, err)

    refused("two dumps or more", f"{SAMPLES}/heap/go_heap_1.pb.gz")
    refused("several processes", f"{SAMPLES}/rounds/jemalloc", f"{SAMPLES}/rounds/gperftools")
    refused("over time", f"{SAMPLES}/heap/heaptrack.zst", f"{SAMPLES}/heap/massif_200k.out")
    refused("over time", f"{SAMPLES}/leak_steps/trace.json.gz", f"{SAMPLES}/basic/trace.json.gz")
    refused("go_heap_1.pb.gz: this file is named twice", *[f"{SAMPLES}/{name}/go_heap_1.pb.gz" for name in ("heap", "./heap")])
    refused("after one of", f"{SAMPLES}/heap/go_heap_1.pb.gz", f"{SAMPLES}/python/tracemalloc_1.pkl")
    refused("less was allocated", dump("l1.pb", {"main.f": 5}), dump("l0.pb", {"main.f": 4}))
    refused("cannot open", f"{SAMPLES}/heap/go_heap_1.pb.gz", "no-such-file")
    refused("--base applies to traces", f"{SAMPLES}/rounds/gperftools", "--base", "heap=1GiB")


def folded(name, **held):
    """Collapsed stacks: bytes by path."""
    with open(name, "w") as out:
        out.writelines(f"main;{path.replace('_', ';')} {n}\n" for path, n in held.items() if n)
    return name


def open_ends():
    """What is alive at the ends is an assumption, or not all of it: nothing passes."""
    same = [folded(f"same{i}.txt", a=500 + i) for i in range(3)]
    m.check(code_of(*same) == 3, "ends of unsaid figures that grow")
    same = [folded(f"flat{i}.txt", a=500, b=i // 2) for i in range(3)]
    m.check(code_of(*same) == 3, "ends of unsaid figures")
    older = []
    for i in range(3):
        older.append(f"older{i}.csv")
        with open(older[-1], "w") as out:
            out.write(f"op,address,size,stack\nfree,9,,\nalloc,1,{500 - i},main;a\n")
    m.check(code_of(*older) == 3, "ends without what is older")


def suppressed_sites():
    """Neither hides what rises beside it at a site, nor rises itself."""
    with open("patterns", "w") as out:
        out.write("leak:cacheA\n")
    files = lambda name, a, b: [folded(f"{name}{i}.txt", cacheA_mid_alloc=a(i), leaky_mid_alloc=b(i)) for i in range(6)]
    hidden = files("hidden", lambda i: 10000 - 1000 * i, lambda i: 1000 + 1000 * i)
    rises = files("rises", lambda i: 1000 + 1000 * i, lambda i: 5000)
    for name, of, code in (("hidden", hidden, 1), ("rises", rises, 0)):
        m.run("import", "--series", "--values", "at-end", "--name", name, *of, codes=(0,))
        for keys in ("site", "path"):
            got = code_of(name, "--suppressions", "patterns", "--by", keys)
            m.check(got == code, "suppressed", name, keys, got)
    unknown_end()


def unknown_end():
    """A log that does not know its end shows what is suppressed, too, and does not count it as rising."""
    with open("unknown.massif", "w") as out:
        out.write("desc: --detailed-freq=1\ncmd: ./a\ntime_unit: ms\n")
        for i in range(12):
            held = {"cacheA": 1000 + 100 * i, "leaky": 500 + 50 * i}
            out.write(f"#-----------\nsnapshot={i}\n#-----------\ntime={i * 10}\nmem_heap_B={sum(held.values())}\n")
            out.write("mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=detailed\n")
            out.write(f"n2: {sum(held.values())} (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n")
            for k, (name, size) in enumerate(held.items()):
                out.write(f" n0: {size} 0x{k + 1}: {name} (in /bin/a)\n")
    m.run("import", "unknown.massif", "--name", "unknown", codes=(0,))
    rows = {row["site"]: row for row in m.rows("leaks", "unknown", "--suppressions", "patterns")}
    m.check(set(rows) == {"leaky", "[suppressed]"}, "suppressed, end unknown", rows)
    m.check(rows.get("[suppressed]", {}).get("growth_b") == 500, "suppressed, end unknown", rows)
    m.check(code_of("unknown", "--suppressions", "patterns") == 3, "suppressed, end unknown")


def sixteen():
    """As many dumps as are judged one by one, and the limit of what grows."""
    for n in (15, 16):
        files = [folded(f"few{n}_{i}.txt", stairs=100 * (1 + i // 2), steady=1 << 20) for i in range(n)]
        m.run("import", "--series", "--values", "at-end", "--name", f"few{n}", *files, codes=(0,))
        m.check(code_of(f"few{n}") == 3, n, "stairs do not rise from each to the next, but still do")
    grows = [folded(f"grows{i}.txt", a=(1 << 20) + 8 * i) for i in range(4)]
    out = m.run("import", "--series", "--values", "at-end", "--name", "grows", *grows, codes=(0,))[1]
    m.check("changes nothing" not in out, "--values says what the figures of dumps are", out)
    m.check(code_of("grows") == 1, "grows")
    m.check(code_of("grows", "--min", "1KiB") == 0, "grows by less than is asked for")


def an_hour():
    """Dumps that lie close together at the end: the rate is of the time between them."""
    at = [i * 60 for i in range(13)] + [8 * 3600 + 360 * i for i in range(4)]
    files = [dump(f"hour{i:02}.pb", {"main.f": 100 * i}, time=10**18 + t * 10**9) for i, t in enumerate(at)]
    m.run("import", "--series", "--name", "hour", *files, codes=(0,))
    row = m.rows("leaks", "hour")[0]
    m.check((row["growth_b"], row["per_hour_b"]) == (19200, 64000), "an hour", row)


rounds()
python()
times()
many()
moments()
events()
series()
series_in_time()
pauses()
folders()
memory()
no_series()
open_ends()
suppressed_sites()
sixteen()
an_hour()
m.finish(150)
