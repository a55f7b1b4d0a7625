#!/usr/bin/env python3
"""Every report of every kind of run is right, or refuses: what a run does not know is left out, and is never 0.

Right means that the rows add up to what the database says of the device.
"""

import glob
import gzip
import json
import os

import mt

SAMPLES = os.environ["SAMPLES"]
# Bits of device.knows (lib/model/knows.h).
ALLOC, PEAK, AT_PEAK, AT_END, LEVEL, MOMENTS, BLOCKS, COUNTS, FREED_IN, OPS, THREADS, SEGMENTS, STEPS = (1 << bit for bit in range(13))
PLACES, LABELS, CATEGORIES = 1 << 15, 1 << 29, 1 << 30
OTHERS = 15 << 23  # figures of what is no memory: copies, events
PROCESS = 111  # device.type
UNNAMED = 112
FIGURES = {"self_alloc_b": ("alloc_b", ALLOC), "self_at_peak_b": ("peak_b", AT_PEAK), "self_at_end_b": ("at_end_b", AT_END),
           "self_alloc_n": ("alloc_n", ALLOC | COUNTS)}
KEYS = {"phase": OPS, "module": OPS, "shape": OPS, "forward": OPS, "thread": THREADS, "step": STEPS}
# What the numbers of files are that do not say it (import --values).
MEANINGS = {"heaptrack_leaked_folded": "at-end", "heaptrack_peak_folded": "at-peak", "memray_leaks_csv": "at-end",
            "memray_peak_csv": "at-peak", "memray_peak_gprof2dot": "at-peak"}

m = mt.Matrix()


def refuses(run, *args):
    """A refusal: nothing on stdout, what is missing and what to ask instead."""
    wanted = mt.refusal(args[0])
    code, out, err = m.run(*args, codes=(wanted,))
    m.check(code == wanted and not out and run in err and err.count("\n") >= 2, run, "refuses", " ".join(args), code, out[:200], err[:400])


def answers(run, device, need, *args):
    """The answer as JSON where the device knows what is needed; else it must refuse."""
    if device["knows"] & need == need:
        return m.json(*args)
    refuses(run, *args)
    return None


def has_no_sums(run, device, report):
    """A run that has nothing of call paths but moments: tables of them refuse."""
    if device["knows"] & (OPS | BLOCKS | ALLOC | AT_PEAK | AT_END):
        return False
    if report != "table" or not device["knows"] & OTHERS:
        refuses(run, report, run)
    return True


def is_cut(run):
    """Its file ends early: nobody knows the end."""
    return bool(m.query(f"SELECT 1 AS yes FROM v_note WHERE run = '{run}' AND kind = 'cut'"))


def table(run, device):
    if has_no_sums(run, device, "table"):
        return
    places = ("object", "file", "file,object") if device["knows"] & PLACES else ()
    for key in ("name", "top", "site", "scope", "path", *places):
        rows = m.rows("table", run, "--by", key)
        for column, (of_device, need) in FIGURES.items():
            got, known = mt.total(rows, column), device["knows"] & need == need
            m.check(got == (device[of_device] if known else None), run, "table --by", key, column, got, device[of_device])
    for key, need in KEYS.items():
        if device["knows"] & (OPS | BLOCKS):
            m.json("table", run, "--by", key)
        else:
            answers(run, device, need, "table", run, "--by", key)
    if device["knows"] & CATEGORIES:
        for key in ("category", "category,name"):
            m.check(mt.total(m.rows("table", run, "--by", key), "self_at_peak_b") == device["peak_b"], run, "table --by", key)
    else:
        refuses(run, "table", run, "--by", "category")
    m.check(not device["knows"] & LABELS, run, "keeps labels apart")
    refuses(run, "table", run, "--by", "label")
    if not places:
        for report in ("table", "peak", "leaks", "timeline"):
            refuses(run, report, run, "--by", "file")
    answers(run, device, OPS, "table", run, "--compat", "torch")


def tree(run, device):
    if has_no_sums(run, device, "tree"):
        return
    roots = [row for row in m.rows("tree", run) if row["parent"] is None]
    if device["knows"] & BLOCKS:
        return
    for column, of_device, need in (("at_peak_b", "peak_b", AT_PEAK), ("at_end_b", "at_end_b", AT_END), ("alloc_b", "alloc_b", ALLOC)):
        got = mt.total(roots, column)
        want = device[of_device] if device["knows"] & need else None
        m.check(got == want, run, "tree", column, got, want)


def peak(run, device):
    answer = answers(run, device, PEAK, "peak", run, "--device", device["name"])
    if not answer:
        return
    m.check(answer["totals"]["peak_b"] == device["peak_b"], run, "peak", answer["totals"], device["peak_b"])
    if device["type"] == PROCESS:
        counted(run, device, answer)
        return
    m.check(mt.total(answer["rows"], "at_peak_b") == device["peak_b"], run, "peak's rows", device["peak_b"])
    if not device["knows"] & (OPS | BLOCKS):
        for wanted in (["--per", "step"], ["--per", "name"], ["--by", "phase"], ["--step", "1"]):
            refuses(run, "peak", run, *wanted)
    if not device["knows"] & COUNTS:
        m.check(all(row["at_peak_n"] is None for row in answer["rows"]), run, "peak counts what is not known")


def counted(run, device, answer):
    """What the system counted of a process: its rss is its peak, and at any time what the timeline says."""
    rss = [row["at_peak_b"] for row in answer["rows"] if row["metric"] == "rss"]
    m.check(rss == [device["peak_b"]], run, "peak of a process", rss, device["peak_b"])
    of = ("--device", device["name"])
    for wanted in (["--per", "name"], ["--by", "phase"], ["--by", "site"]):
        refuses(run, "peak", run, *of, *wanted)
    exact = answers(run, device, LEVEL, "timeline", run, *of, "--exact")
    if not exact:
        refuses(run, "peak", run, *of, "--at", "0")
        return
    level, levels = exact["totals"]["start_b"], []
    for change in exact["rows"]:
        level += change["change_b"]
        m.check(level == change["level_b"] and level > 0, run, "timeline --exact", change)
        levels.append((change["time_ns"], level))
    for at, want in dict(levels[:: len(levels) // 5 + 1]).items():
        last = [value for t, value in levels if t <= at][-1]
        rows = m.rows("peak", run, *of, "--at", str(at))
        m.check(rows[0]["live_b"] == last, run, "peak --at", at, rows[0], want)
        begun = m.rows("memory", run, *of, "--to", "@end" if at == levels[-1][0] else str(at + 1))
        m.check(begun[0]["current_b"] == last, run, "memory --to", at, begun[0], last)


def moments(run, device):
    """What call paths hold at each moment of a heap log adds up to what is stored of it, by any key."""
    if device["knows"] & (OPS | BLOCKS) or device["type"] == PROCESS:
        return
    for named, need, of_device in (("@peak", PEAK, "peak_b"), ("@end", AT_END, "at_end_b")):
        if named == "@peak" and device["knows"] & PEAK and not device["knows"] & (AT_PEAK | MOMENTS):
            refuses(run, "peak", run, "--at", named)  # how high it was is known, not of what
            continue
        answer = m.json("peak", run, "--at", named, "--limit", "0") if device["knows"] & need else None
        if answer and device["knows"] & AT_PEAK | (need & AT_END):
            live = mt.total(answer["rows"], "live_b") if answer["rows"] else 0
            m.check(live == device[of_device], run, "peak --at", named, device[of_device])
    if not device["knows"] & MOMENTS:
        refuses(run, "peak", run, "--at", "0")
        refuses(run, "peak", run, "--from", "0")
        return
    held, most = 0, 0
    changes = m.query(f"SELECT m.time_ns, sum(h.bytes_b) AS change_b FROM moment m JOIN run r ON r.id = m.run_id LEFT JOIN {mt.HOLDINGS} h "
                      f"ON h.moment = m.position AND h.device_id = {device['id']} WHERE r.name = '{run}' GROUP BY m.position ORDER BY m.position")
    last = {change["time_ns"]: at for at, change in enumerate(changes)}  # of one time the last one counts
    for at, change in enumerate(changes):
        held += change["change_b"] or 0
        most = max(most, held)
        if last[change["time_ns"]] != at:
            continue
        for key in ("site", "path"):
            answer = m.json("peak", run, "--at", str(change["time_ns"]), "--by", key, "--limit", "0")
            m.check((mt.total(answer["rows"], "live_b") or 0) == held, run, "peak --at", change["time_ns"], key, held)
            m.check(answer["totals"]["moment_ns"] == change["time_ns"], run, "moment", answer["totals"], change)
    m.check(not device["knows"] & AT_END or held == device["at_end_b"], run, "the last moment", held, device["at_end_b"])
    whole = m.json("peak", run, "--from", "@start", "--limit", "0")
    want = device["peak_b"] if device["knows"] & AT_PEAK else most
    m.check(mt.total(whole["rows"], "at_peak_b") == want, run, "the peak of all moments", whole["totals"], want)
    if len(changes) > 1:
        middle = changes[len(changes) // 2]["time_ns"]
        two = m.json("peak", run, "--at", str(middle), "--at", "@end", "--limit", "0")
        m.check(mt.total(two["rows"], "change_b") == two["totals"]["change_b"], run, "what changed", two["totals"])
        counted = [row["before_n"] for row in two["rows"] if row["before_n"] is not None]
        m.check(bool(counted) == bool(device["knows"] & COUNTS), run, "blocks of two moments", counted)


def leaks_of_process(run, device):
    """A verdict, whose figures are within its interval; without a curve there is none."""
    rows = m.rows("leaks", run, "--device", device["name"], "--all")
    first = rows[0] if rows else {}
    shown = [first[c] for c in ("per_step_b", "per_minute_b", "per_event_b") if first.get(c) is not None]
    m.check(first.get("verdict") in ("grows", "flat", "falls", "cannot tell", "too short to tell"), run, "leaks", first)
    m.check(not shown or any(first["rate_least_b"] <= rate <= first["rate_most_b"] for rate in shown), run, "leaks", first)
    m.check(not shown or device["knows"] & LEVEL, run, "leaks", first, "has no curve")
    wanted = {"grows": 1, "flat": 0, "falls": 0}.get(first.get("verdict"), 3)
    code, _, _ = m.run("leaks", run, "--device", device["name"], "--fail", codes=(0, 1, 3))
    m.check(code == wanted or code == 3, run, "leaks --fail", code, first)
    for row in rows[1:]:
        m.check(row["verdict"] in ("jump", "spike") and row["at_ns"] is not None and row["by_b"] > 0, run, "leaks", row)


def leaks(run, device):
    if device["type"] == PROCESS:
        return leaks_of_process(run, device)
    if device["knows"] & (AT_END | MOMENTS) == MOMENTS:  # what rises is shown, if moments are enough
        code, out, _ = m.run("leaks", run, "--all", "--format", "json", codes=(0, 3))
        m.check(code == 3 or all(row["at_end_b"] is None for row in json.loads(out)["rows"]), run, "leaks", code, out[:200])
        m.check(code == 3 or m.run("leaks", run, "--fail")[0] == 3, run, "leaks --fail", "nobody knows the end")
        return
    answer = answers(run, device, AT_END, "leaks", run, "--all")
    if not answer:
        return
    m.check((mt.total(answer["rows"], "at_end_b") or 0) == device["at_end_b"], run, "leaks", device["at_end_b"])
    if device["knows"] & BLOCKS:
        return
    want = None if is_cut(run) else device["at_end_n"]
    m.check(answer["totals"]["at_end_n"] == want, run, "leaks", answer["totals"], want)
    most = max(row["at_end_b"] for row in answer["rows"]) if answer["rows"] else 0
    nobody_knows = is_cut(run)
    code, _, _ = m.run("leaks", run, "--fail", codes=(0, 1, 3))
    m.check(code == (3 if nobody_knows else 1 if most else 0), run, "leaks --fail", code, most)
    code, _, _ = m.run("leaks", run, "--fail", "--min", str(most + 1), codes=(0, 1, 3))
    m.check(code == (3 if nobody_knows else 0), run, "leaks --fail --min", code, most)


def check(run, device):
    nobody_knows = is_cut(run)  # the end, and whether the peak was higher
    lower = nobody_knows or m.query(f"SELECT 1 AS yes FROM v_note WHERE run = '{run}' AND kind = 'moments'")
    for rule, figure in (("--max-peak", "peak_b"), ("--max-at-end", "at_end_b")):
        limit = device[figure]
        if limit is None:
            m.check(m.run("check", run, rule, "1TiB", codes=(3,))[0] == 3, run, rule, "is judged, not known")
            continue
        most = m.query(f"SELECT CAST(value AS INTEGER) AS b FROM meta JOIN run r ON r.id = run_id WHERE r.name = '{run}' AND key = 'blocks_at_most_b'")
        if most and rule == "--max-peak":  # of massif: it may be as much between its snapshots
            m.check(m.run("check", run, rule, str(most[0]["b"] - 1), codes=(0, 3))[0] == 3, run, rule, "within what may be")
        code, out, _ = m.run("check", run, rule, str(most[0]["b"] if most and rule == "--max-peak" else limit), codes=(0, 3))
        m.check(code == (3 if nobody_knows or lower and rule == "--max-peak" else 0) or device["knows"] & BLOCKS, run, rule, limit, out)
        code, out, _ = m.run("check", run, rule, str(limit - 1), codes=(1, 3)) if limit else (1, "", "")
        m.check(code == (3 if nobody_knows and rule == "--max-at-end" else 1) or device["knows"] & BLOCKS, run, rule, limit - 1, out)
    if not device["knows"] & STEPS:
        m.check(m.run("check", run, "--max-growth-per-step", "1TiB", codes=(3,))[0] == 3, run, "growth without steps")


def memory_and_info(run, device):
    told = m.json("info", run)["totals"]["devices"][device["name"]]
    for figure in ("alloc_b", "freed_b", "net_b", "peak_b", "at_end_b"):
        want = None if figure == "at_end_b" and is_cut(run) else device[figure]
        m.check(told[figure] == want, run, "info", figure, told[figure], want)
    if device["knows"] & (OPS | BLOCKS):
        return
    if not device["knows"] & (ALLOC | PEAK | AT_END | LEVEL):
        refuses(run, "memory", run)
        return
    rows = m.rows("memory", run)
    if device["type"] == PROCESS:
        row = next(row for row in rows if (row["device"], row["metric"]) == (device["name"], "rss"))
        m.check(row["peak_b"] == device["peak_b"], run, "memory", row, device["peak_b"])
        m.check((row.get("current_b") is not None) == bool(device["knows"] & LEVEL), run, "memory", row)
        return
    for column, figure in (("current_b", "at_end_b"), ("peak_b", "peak_b"), ("total_alloc_b", "alloc_b"), ("total_freed_b", "freed_b"),
                           ("current_n", "at_end_n"), ("total_alloc_n", "alloc_n")):
        m.check(rows[0].get(column) == device[figure], run, "memory", column, rows[0].get(column), device[figure])
    refuses(run, "memory", run, "--from", "0ns")


def timeline(run, device):
    answer = answers(run, device, LEVEL, "timeline", run, "--device", device["name"])
    if answer:
        highest = max(row["max_b"] for row in answer["rows"])
        m.check(highest == device["peak_b"], run, "timeline", highest, device["peak_b"])
    if device["type"] == PROCESS:
        refuses(run, "timeline", run, "--metric", "allocated")
        refuses(run, "timeline", run, "--by", "site")
    elif not device["knows"] & (OPS | BLOCKS):
        refuses(run, "timeline", run, "--exact")
        bands(run, device)
        resident(run, device)


def bands(run, device):
    """The bands of a part of the timeline add up to the highest moment in it; the highest of all is the peak."""
    for window in ((), ("--from", "@start", "--to", "@end"), ("--width", "1"), ("--width", "7")):
        answer = answers(run, device, LEVEL | MOMENTS, "timeline", run, "--by", "site", *window)
        if not answer:
            continue
        parts = {}
        for row in answer["rows"]:
            parts.setdefault((row["start_ns"], row["max_b"]), []).append(row["live_b"])
        for (start, most), live in parts.items():
            m.check(sum(live) == most, run, "timeline --by", window, start, most, sum(live))
        highest = max(most for _, most in parts)
        m.check(highest == device["peak_b"] or not device["knows"] & AT_PEAK, run, "timeline --by", window, highest, device["peak_b"])


def resident(run, device):
    """What the process had in memory: everywhere the same, or nowhere."""
    samples = m.query(f"SELECT value_b FROM sample WHERE device_id = {device['id']} AND metric = 'rss' ORDER BY position")
    if not samples:
        refuses(run, "timeline", run, "--metric", "rss")
        return
    most = max(row["value_b"] for row in samples)
    for options, column in (((), "rss_max_b"), (("--metric", "rss"), "max_b")):
        levels = [row[column] for row in m.rows("timeline", run, *options)]
        m.check(max((b for b in levels if b is not None), default=None) == most, run, "timeline", options, most)
    row = next(row for row in m.rows("memory", run) if row["metric"] == "rss")
    m.check((row["peak_b"], row["current_b"]) == (most, samples[-1]["value_b"]), run, "memory", row, most)
    m.check(m.json("info", run)["totals"]["devices"][device["name"]]["peak_rss_b"] == most, run, "info", most)


def diff(run, device, runs):
    for other in runs:
        answer = m.json("diff", run, other, "--section", "total,peak,op")
        if not answer:
            continue
        for row in answer["rows"]:
            for column in ("new_alloc_b", "base_alloc_b"):
                m.check(abs(row.get(column) or 0) < 1 << 60, run, other, "diff", column, row.get(column))
        both = min(row["knows"] & AT_PEAK for row in m.query(
            f"SELECT knows FROM device WHERE run_id = (SELECT id FROM run WHERE name = '{other}')")) and device["knows"] & AT_PEAK
        changes = [row for row in answer["rows"] if row["section"] == "peak"]
        total = next((row for row in answer["rows"] if row["section"] == "total"), None)
        unlisted = any(row["at_peak_delta_b"] is None for row in changes)  # what one of them does not list of a site
        if total and total.get("at_peak_delta_b") is not None and both and not unlisted:
            got = mt.total(changes, "at_peak_delta_b") or 0
            m.check(got == total["at_peak_delta_b"], run, other, "diff's peak", got, total["at_peak_delta_b"])


def higher_without_paths():
    """A massif whose highest snapshot has no call paths: only its peak's level is known."""
    with open(f"{SAMPLES}/heap/massif_200k.out") as f:
        before, after = f.read().split("snapshot=86\n")
    with open("higher.out", "w") as f:
        f.write(before + "snapshot=86\n" + after.replace("mem_heap_B=67337952", "mem_heap_B=67337953", 1))
    return "higher.out"


def cut_logs():
    """Logs of events whose second half is missing, from inside a line on."""
    with open(f"{SAMPLES}/heap/record_allocs.txt", "rb") as f, gzip.open(f"{SAMPLES}/heap/ltrace.log.gz") as g:
        whole = {"cut_allocs": f.read(), "cut_ltrace": g.read()}
    for name, data in whole.items():
        half = data.index(b"\n", len(data) // 2) + 9
        with open(name + ".log", "wb") as f:
            f.write(data[:half])
        yield name, name + ".log"


def diff_at_end(run, device, runs):
    """What is alive at the end is compared where both know it, and nowhere else unless asked for. Of a file that ends
    early the end is unknown: each row says what the other one has, and no difference."""
    for other in runs:
        there = m.query(f"SELECT knows, at_end_b FROM device WHERE run_id = (SELECT id FROM run WHERE name = '{other}')")
        both = len(there) == 1 and device["knows"] & there[0]["knows"] & AT_END and not (device["knows"] | there[0]["knows"]) & (OPS | BLOCKS)
        changes = [row for row in m.rows("diff", run, other) if row["section"] == "end"]
        if not both:
            m.check(not changes, run, other, "diff has a section of the end", changes)
            continue
        if is_cut(run) or is_cut(other):
            known = [column for cut, column in ((run, "base_at_end_b"), (other, "new_at_end_b")) if not is_cut(cut)]
            m.check(all(row["at_end_delta_b"] is None for row in changes), run, other, "diff's end of a cut file", changes)
            for column in known:
                want = (device if column == "base_at_end_b" else there[0])["at_end_b"]
                m.check((mt.total(changes, column) or 0) == want, run, other, "diff's end", column, want)
            continue
        got = mt.total(changes, "at_end_delta_b") or 0
        m.check(got == there[0]["at_end_b"] - device["at_end_b"], run, other, "diff's end", got, there[0]["at_end_b"], device["at_end_b"])


def main():
    heap = sorted(path for of in ("heap", "process", "python", "timelines") for path in glob.glob(f"{SAMPLES}/{of}/*")
                  if not path.endswith((".c", ".go", ".mjs", ".py")))
    inputs = [(os.path.basename(path).replace(".", "_"), path) for path in heap]
    inputs += [("higher", higher_without_paths())]
    inputs += [("trace", f"{SAMPLES}/leak_steps/trace.json.gz")]
    runs = [run.name for run in m.imported(inputs, MEANINGS)]
    for name, path in cut_logs():
        inputs.append((name, path))
        m.run("import", path, "--name", name, "--partial", codes=(0,))
        runs.append(name)
    m.check(len(runs) == len(inputs), "imported", runs)
    kinds = {row["name"]: (row["kind"], row["unnamed"], row["container"]) for row in m.query(
        f"SELECT name, kind, EXISTS (SELECT 1 FROM device WHERE run_id = run.id AND type = {UNNAMED}) AS unnamed, "
        "(SELECT min(name) FROM device WHERE run_id = run.id AND name LIKE 'container:%') AS container FROM run")}
    for run in runs:
        alike = [other for other in runs if kinds[other] == kinds[run]]
        for device in m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'"):
            for report in (table, tree, peak, moments, leaks, check, memory_and_info, timeline):
                report(run, device)
            diff(run, device, alike)
            diff_at_end(run, device, alike)
            if not device["knows"] & SEGMENTS:
                refuses(run, "segments", run)
                refuses(run, "fragmentation", run)
    m.finish(200)


main()
