#!/usr/bin/env python3
"""The curves that `memtool export` writes for Perfetto are those of `timeline --exact`, value by value and time by time,
as JSON and as packets, with the steps and marks of the run; an archive holds the trace itself and says how they line up."""

import glob
import io
import json
import os
import re
import tarfile

import inputs
import mt
import pprof

SAMPLES = os.environ["SAMPLES"]
m = mt.Matrix()


def samples():
    for pattern in ("process/*", "heap/*.zst", "heap/*.gz", "heap/*.json*", "heap/*.csv", "python/*.bin*", "timelines/*.json.gz"):
        for path in sorted(glob.glob(f"{SAMPLES}/{pattern}")):
            yield re.sub(r"\W", "_", os.path.relpath(path, SAMPLES)), path


# Of what is no bytes, the units as Perfetto numbers them: nanoseconds, and how many.
UNITS = {"cpu_ns": 1, "threads_n": 2}


def huge():
    """Blocks that make almost 2^60 bytes, and a mark between two steps that overlap."""
    trace = inputs.Trace()
    trace.op("aten::empty", 10, 500)
    trace.record(20, (1 << 59) + 1, 64)
    trace.record(30, 1 << 57, 128)
    trace.record(40, -(1 << 57), 128)
    for step in range(2):
        trace.mark(f"ProfilerStep#{step}", 10 + 100 * step, 150, tid=1 + step)
    trace.write("huge.json")
    yield "huge", "huge.json"


def export(run, path, *args):
    """The file as bytes; None: refused."""
    if os.path.exists(path):
        os.remove(path)
    code, _, err = m.run("export", run.name, "-o", path, *args, codes=(0, 2))
    m.check((code == 0) == os.path.exists(path) and (code == 0 or err.count("\n") >= 2), run, path, code, err[:300])
    return open(path, "rb").read() if code == 0 else None


def ns(us):
    """A time as JSON has it, in digits: to the nanosecond, as no float is."""
    whole, _, rest = us.partition(".")
    m.check(len(rest) == 3, "json", "a time with three digits", us)
    return int(whole) * 1000 + (-int(rest) if us.startswith("-") else int(rest))


def from_json(data):
    """{curve: [(ns, value)]}, {(slice, from, to)}, {(instant, time)} of trace events; checked against what the format says."""
    curves, slices, instants, open_until = {}, [], [], {}
    doc = json.loads(data.decode(), parse_float=str)
    for e in doc["traceEvents"]:
        m.check(isinstance(e["name"], str) and isinstance(e["pid"], int) and isinstance(e["tid"], int), "json", "event", e)
        if e["ph"] == "C":
            (key, value), = e["args"].items()
            m.check((key in UNITS or key.endswith(" bytes")) and isinstance(value, int), "json", "value", e)
            curves.setdefault((e["pid"], f"{e['name']} {key.removesuffix(' bytes')}"), []).append((ns(e["ts"]), value))
        elif e["ph"] == "X":
            at = ns(e["ts"])
            m.check(at >= open_until.get(e["tid"], at), "json", "slices of a thread do not overlap", e)
            open_until[e["tid"]] = at + ns(e["dur"])
            slices.append((e["name"], at, open_until[e["tid"]]))
        elif e["ph"] == "i":
            instants.append((e["name"], ns(e["ts"]), e.get("args", {}).get("asked for, bytes")))
        else:
            m.check(e["ph"] == "M" and e["name"] in ("process_name", "thread_name"), "json", "phase", e)
    return curves, sorted(slices), sorted(instants, key=str)


def from_packets(data):
    """The same of Perfetto's packets."""
    tracks, pids, curves, slices, instants, begun = {}, {}, {}, [], [], {}
    for field, packet in pprof.fields(data):
        p = dict(pprof.fields(packet))
        m.check(field == 1 and p[10] == 1, "packet", "sequence", p)
        if 60 in p:
            t = dict(pprof.fields(p[60]))
            pid = dict(pprof.fields(t[3]))[1] if 3 in t else pids[t[5]]
            m.check(t[1] > 0 and t[1] not in pids and (3 in t or t[5] in pids), "packet", "track", t)
            pids[t[1]] = pid
            tracks[t[1]] = (dict(pprof.fields(t[3]))[6] if 3 in t else t[2]).decode()
            if 8 in t:
                m.check(dict(pprof.fields(t[8])) == {3: UNITS.get(tracks[t[1]].rpartition(" ")[2], 3)}, "packet", "unit", t)
                curves[pid, tracks[t[1]]] = []
            continue
        e = dict(pprof.fields(p[11]))
        track = pids[e[11]], tracks[e[11]]
        if e[9] == 4:
            curves[track].append((p[8], e[30]))
        elif e[9] == 1:
            m.check(e[11] not in begun, "packet", "slices of a track do not overlap", e)
            begun[e[11]] = e[23].decode(), p[8]
        elif e[9] == 2:
            slices.append((*begun.pop(e[11]), p[8]))
        else:
            note = dict(pprof.fields(e[4])) if 4 in e else {}
            m.check(e[9] == 3 and (not note or note[10] == b"asked for, bytes"), "packet", "event", e)
            instants.append((e[23].decode(), p[8], note.get(4)))
    m.check(not begun, "packet", "slices end")
    return {k: v for k, v in curves.items() if v}, sorted(slices), sorted(instants, key=str)


def clean(text):
    """As every file has it: what acts on a terminal is a blank, what is no UTF-8 U+FFFD."""
    return mt.CONTROL.sub(" ", re.sub("[\t\n\u200e\u200f\u061c\u2028\u2029]", " ", text))


def wanted(run, epoch):
    """What `timeline --exact` and the views say. Levels of heap logs have no single changes: None."""
    curves = {}
    for d in run.devices:
        level = m.query(f"SELECT kind FROM run WHERE name = '{run.name}'")[0]["kind"] == 3 and "rss" or "allocated"
        for r in m.query(f"SELECT metric, time_ns, value_b FROM sample WHERE metric NOT IN ('oom', 'device_free') AND device_id = "
                         f"(SELECT d.id FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run.name}' AND d.name = '{d['device']}') ORDER BY position"):
            curves.setdefault(f"{d['device']} {clean(r['metric'])}", []).append((epoch + r["time_ns"], r["value_b"]))
        code, out, _ = m.run("timeline", run.name, "--device", d["device"], "--metric", level, "--exact", "--format", "json", codes=(0, 2))
        if code == 2 and d["peak_b"] is not None:
            curves[f"{d['device']} {level}"] = None
        elif code == 0:
            answer = json.loads(out)
            curves[f"{d['device']} {level}"] = [(epoch, answer["totals"]["start_b"])] + [(epoch + r["time_ns"], r["level_b"]) for r in answer["rows"]]
    slices = sorted((f"step {s['number']}", epoch + s["start_ns"], epoch + s["end_ns"]) for s in run.steps)
    marks = [(clean(e["text"]), epoch + e["time_ns"], None) for e in m.query(f"SELECT time_ns, text FROM v_event WHERE run = '{run.name}' AND action = 'mark' AND text IS NOT NULL")]
    ooms = [(f"{r['name']}: out of memory", epoch + r["time_ns"], r["value_b"]) for r in m.query(
        f"SELECT d.name, s.time_ns, s.value_b FROM run r JOIN device d ON d.run_id = r.id JOIN sample s ON s.run_id = r.id AND s.device_id = d.id WHERE r.name = '{run.name}' AND s.metric = 'oom'")]
    return {k: v for k, v in curves.items() if v != []}, slices, sorted(marks + ooms, key=str)


def check_level(run, name, values):
    """A curve without single changes: its extremes and its end."""
    whole = m.rows("timeline", run.name, "--device", name.split()[0], "--width", "1")[0]
    levels = [v for _, v in values]
    got = min(levels), max(levels), levels[-1]
    m.check(got == (whole["min_b"], whole["max_b"], whole["last_b"]), run, "level", got, whole)


def check_same(run, form, got, want, shift):
    """Curves are found by name alone: the process is only known to the file."""
    curves = {name: [(t + shift, v) for t, v in values] for (_, name), values in got[0].items()}
    for name in [n for n, values in want[0].items() if values is None and n in curves]:
        check_level(run, name, curves.pop(name))
    want_curves = {n: v for n, v in want[0].items() if v is not None}
    m.check(curves == want_curves, run, form, "curves", str(mt.differences(curves, want_curves))[:400])
    m.check([(n, a + shift, b + shift) for n, a, b in got[1]] == want[1], run, form, "steps", got[1][:2], want[1][:2])
    m.check([(n, t + shift, v) for n, t, v in got[2]] == want[2], run, form, "marks", got[2][:2], want[2][:2])


def check(run):
    row = m.query(f"SELECT start_ns, time_unit, coalesce((SELECT value FROM meta WHERE run_id = r.id AND key = 'baseTimeNanoseconds'), 0) base FROM run r WHERE name = '{run.name}'")[0]
    epoch = row["start_ns"] if row["time_unit"] == "ns" and row["start_ns"] > 0 else 0
    packets, events = export(run, "out.pftrace"), export(run, "out.perfetto.json")
    m.check((packets is None) == (events is None), run, "both or neither")
    if packets is None:
        return False
    want = wanted(run, epoch)
    check_same(run, "perfetto", from_packets(packets), want, 0)
    check_same(run, "perfetto-json", from_json(events), want, int(row["base"]))
    m.check(export(run, "out.pftrace") == packets, run, "the same bytes again")
    for d in run.devices:
        curve = want[0].get(f"{d['device']} allocated")
        if curve is not None and d["peak_b"] is not None and not mt.CONTROL.search(d["device"]):
            m.check(max(v for _, v in curve) == d["peak_b"], run, "peak", d["peak_b"])
    if len(run.devices) > 1:
        one = export(run, "out.pftrace", "--device", run.devices[0]["device"])
        if one is not None:
            names = {name for _, name in from_packets(one)[0]}
            m.check(names == {n for n in want[0] if n.startswith(run.devices[0]["device"] + " ")}, run, "--device", names)
    return True


def check_archive(run, path):
    data = export(run, "out.perfetto.tar", "--source", path)
    if data is None:
        return False
    members = {t.name: t for t in tarfile.open(fileobj=io.BytesIO(data))}
    content = {name: tarfile.open(fileobj=io.BytesIO(data)).extractfile(name).read() for name in members}
    trace = "trace.json.gz" if path.endswith(".gz") else "trace.json"
    m.check(list(members) == ["manifest.json", trace, "memory.json"], run, "archive", list(members))
    m.check(content["manifest.json"].startswith(b'{"perfetto_manifest"'), run, "manifest")
    manifest = json.loads(content["manifest.json"])["perfetto_manifest"]
    m.check(manifest["version"] == 1 and [f["path"] for f in manifest["files"]] == [trace, "memory.json"], run, "manifest", manifest)
    m.check(manifest["files"][1]["clocks"] == {"sync_to": {"file": trace}, "offset_ns": 0}, run, "clocks", manifest)
    m.check(content[trace] == open(path, "rb").read(), run, "the trace as it is")
    alone = json.loads(export(run, "out.perfetto.json"))["traceEvents"]
    m.check(json.loads(content["memory.json"])["traceEvents"] == [e for e in alone if e["name"] != "process_name"], run, "the same curves")
    return True


def main():
    seen = archives = 0
    for all_of in (huge(), inputs.all_inputs("made"), samples()):
        paths = dict(all_of)
        for run in m.imported(paths.items()):
            seen += check(run)
            archives += check_archive(run, paths[run.name]) if paths[run.name].endswith((".json", ".json.gz")) else 0
    m.check(seen >= 100 and archives >= 30, "too few files", seen, archives)
    # What a program says of itself: marks, of which one has a name that no terminal should see.
    said = r"""for text in first "of a "" kind" "$(printf 'red \033[31m')"; do echo "memtool:mark $text"; echo "memtool:step"; sleep 0.1; done >&$MEMTOOL_FD"""
    m.run("record", "--name", "said", "--db", m.db, "--", "sh", "-c", said, codes=(0,))
    run = mt.Run(m, "said")
    m.check(len(wanted(run, 0)[2]) == 3 and check(run), run, "marks are exported")
    other = f"{SAMPLES}/basic/trace.json.gz"
    code, _, err = m.run("export", "huge", "-o", "other.perfetto.tar", "--source", other, codes=(2,))
    m.check("not what the run was imported from" in err and not os.path.exists("other.perfetto.tar"), "another trace", err)
    m.finish(at_least=3000)


main()
