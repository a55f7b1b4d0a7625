#!/usr/bin/env python3
"""What `memtool export` writes for other programs has the sums of `table` and `peak` to the byte, in every format, of
every kind of run; it reads back; names of any bytes stay within their format; the same run gives the same bytes."""

import glob
import gzip
import json
import os
import re
import subprocess

import inputs
import mt
import pprof

SAMPLES = os.environ["SAMPLES"]
FORMATS = {"pprof": "pb.gz", "collapsed": "folded", "speedscope": "speedscope.json", "dhat": "dhat.json"}
m = mt.Matrix()
os.makedirs("made", exist_ok=True)


def samples():
    for pattern in ("*/trace.json.gz", "snapshots/*.pickle", "heap/*.zst", "heap/*.gz", "heap/*.json*", "heap/*.csv", "python/*.bin*", "python/*.pkl*"):
        for path in sorted(glob.glob(f"{SAMPLES}/{pattern}")):
            yield re.sub(r"\W", "_", os.path.relpath(path, SAMPLES)), path


def export(run, form, *args):
    """The file as bytes; None: refused."""
    path = f"out.{FORMATS[form]}"
    if os.path.exists(path):
        os.remove(path)
    code, out, err = m.run("export", run, "--format", form, "-o", path, *args, codes=(0, 2))
    m.check((code == 0) == os.path.exists(path), run, form, "a file where it says so", code, err[:300])
    m.check(code == 0 or err.count("\n") >= 2, run, form, "what to do", err[:300])
    return open(path, "rb").read() if code == 0 else None


def collapsed(data):
    """{stack: value}"""
    text = data.decode()  # valid UTF-8
    stacks = {}
    for line in text.split("\n")[:-1]:
        stack, _, value = line.rpartition(" ")
        m.check(stack and value.isdigit() and int(value) > 0 and stack not in stacks, "collapsed", "a line", line[:200])
        stacks[stack] = int(value)
    return stacks


def own_of_events(events, end):
    """What each function has itself, by its place in the file, of functions that open and close."""
    opened, before, own = [], 0, {}
    for e in events:
        m.check(e["at"] >= before, "speedscope", "time goes on", e)
        if e["at"] > before:
            own[opened[-1]] = own.get(opened[-1], 0) + e["at"] - before
        before = e["at"]
        if e["type"] == "O":
            opened.append(e["frame"])
        else:
            m.check(opened and opened.pop() == e["frame"], "speedscope", "closes what is open", e)
    m.check(not opened and before == end, "speedscope", "ends", before, end)
    return own


def speedscope(data):
    """{profile: {stack: value}}, checked against the format's definition."""
    doc = json.loads(data)
    m.check(doc["$schema"] == "https://www.speedscope.app/file-format-schema.json" and doc["profiles"], "speedscope", "head")
    frames = doc["shared"]["frames"]
    for f in frames:
        m.check(f["name"] and isinstance(f.get("line", 1), int) and set(f) <= {"name", "file", "line"}, "speedscope", "frame", f)
    out = {}
    for p in doc["profiles"]:
        m.check(p["type"] == "sampled" and p["unit"] in ("bytes", "none") and p["startValue"] == 0, "speedscope", "profile", p["name"])
        m.check(len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"], "speedscope", "weights", p["name"])
        m.check(all(0 <= i < len(frames) for s in p["samples"] for i in s) and all(w > 0 for w in p["weights"]), "speedscope", "range", p["name"])
        out[p["name"].split(" at ")[0].split(",")[0]] = sum(p["weights"])
    return out


def profile(data):
    """{sample type: sum}, of a pprof file taken apart."""
    fields = list(pprof.fields(gzip.decompress(data)))
    texts = [v.decode() for f, v in fields if f == 6]
    m.check(texts[0] == "" and len(set(texts)) == len(texts), "pprof", "strings")
    types = [texts[dict(pprof.fields(v))[1]] for f, v in fields if f == 1]
    functions = {dict(pprof.fields(v))[1] for f, v in fields if f == 5}
    locations = {dict(pprof.fields(v))[1] for f, v in fields if f == 4}
    sums = [0] * len(types)
    for f, v in fields:
        if f != 2:
            continue
        sample = dict((k, x) for k, x in pprof.fields(v) if k != 3)
        stack, values = list(pprof.numbers(sample[1])), list(pprof.numbers(sample[2]))
        m.check(stack and len(values) == len(types) and set(stack) <= locations, "pprof", "sample", stack, values)
        sums = [a + b for a, b in zip(sums, values)]
    m.check(functions == locations and "inuse_space" in texts[: len(texts)], "pprof", "functions")
    return dict(zip(types, sums))


def dhat(data):
    doc = json.loads(data)
    need = {"dhatFileVersion", "mode", "verb", "bklt", "bkacc", "tu", "Mtu", "tuth", "cmd", "pid", "te", "tg", "pps", "ftbl"}
    m.check(need <= set(doc) and doc["dhatFileVersion"] == 2 and doc["ftbl"][0] == "[root]", "dhat", "head", sorted(doc))
    for p in doc["pps"]:
        m.check(p["fs"] and all(0 < i < len(doc["ftbl"]) for i in p["fs"]), "dhat", "frames", p)
        m.check(all(p[k] >= 0 for k in p if k != "fs"), "dhat", "no negative figure", p)
        m.check(p["mb"] >= p["gb"] and p["mb"] >= p["eb"], "dhat", "most", p)
    return {k: sum(p[k] for p in doc["pps"]) for k in ("tb", "tbk", "gb", "eb")}


def peak_of(run, device, *args):
    """What `peak` says is alive at the moment; None: it does not know."""
    code, _, _ = m.run("peak", run, "--device", device, *args, codes=(0, 2))
    answer = m.json("peak", run, "--device", device, *args) if code == 0 else None
    return answer and (mt.total(m.rows("peak", run, "--device", device, "--by", "site", *args), "at_peak_b" if "--at" not in args else "live_b") or 0)


def same(run, what, got, want):
    """want None: unknown, which a file does not have."""
    if want is not None and want >= 0:
        m.check(got == want, run, what, got, "not", want)


def check_stacks(run, device, alive, *args):
    """Collapsed stacks and pprof."""
    alloc = device["alloc_b"]
    for measure, want in (("alive", alive), ("allocated", alloc)):
        data = export(run.name, "collapsed", "--measure", measure, *args)
        if data is not None:
            same(run.name, f"collapsed {measure} {args}", sum(collapsed(data).values()), want)
    data = export(run.name, "pprof", *args)
    if data is not None:
        sums = profile(data)
        same(run.name, f"pprof alive {args}", sums.get("inuse_space", alive), alive)
        same(run.name, f"pprof allocated {args}", sums.get("alloc_space", alloc), alloc)
        same(run.name, f"pprof allocations {args}", sums.get("alloc_objects", device["alloc_n"]), device["alloc_n"])


def check_others(run, device, alive, *args):
    """speedscope and DHAT."""
    data = export(run.name, "speedscope", *args)
    if data is not None:
        sums = speedscope(data)
        same(run.name, "speedscope alive", sums.get("alive", alive), alive)
        same(run.name, "speedscope allocated", sums.get("allocated", device["alloc_b"]), device["alloc_b"])
    data = export(run.name, "dhat", *args)
    if data is not None:
        sums = dhat(data)
        same(run.name, "dhat allocated", sums["tb"], device["alloc_b"])
        same(run.name, "dhat alive", sums["gb"], alive)
        same(run.name, "dhat at the end", sums["eb"], device["at_end_b"])


def check_device(run, device, whole):
    name = device["device"]
    alive = peak_of(run.name, name, *(("--at", "@end") if device["peak_b"] is None else ()))
    check_stacks(run, device, alive, "--device", name)
    check_others(run, device, alive, "--device", name)
    if whole:
        check_stacks(run, device, alive, "--device", name, "--min", "0")
        first = export(run.name, "pprof", "--device", name)
        m.check(export(run.name, "pprof", "--device", name) == first, run.name, "the same bytes again")
        check_moments(run, device)
        read_back(run, device)
        check_go("out.pb.gz")


def check_moments(run, device):
    for at in ("@end", "@start", *(("@step 1",) if len(run.steps) > 1 else ())):
        want = peak_of(run.name, device["device"], "--at", at)
        data = export(run.name, "collapsed", "--device", device["device"], "--at", at, "--min", "0")
        if want is not None and data is not None:
            same(run.name, f"at {at}", sum(collapsed(data).values()), want)


def read_back(run, device):
    """memtool reads what it wrote."""
    data = export(run.name, "pprof", "--min", "0", "--device", device["device"])
    if data is None or not device["alloc_b"]:
        return
    wrote = profile(data)
    code, _, err = m.run("import", "out.pb.gz", "--name", "again", "--replace", codes=(0, 2))
    if not m.check(code == 0, run.name, "pprof reads back", err[:300]):
        return
    got = m.query("SELECT alloc_b, at_end_b, peak_b FROM v_device WHERE run = 'again'")[0] if not m.known.clear() else None
    same(run.name, "pprof again: allocated", got["alloc_b"], wrote.get("alloc_space"))
    at_end = device["peak_b"] is None
    same(run.name, "pprof again: alive", got["at_end_b" if at_end else "peak_b"], wrote.get("inuse_space"))
    same(run.name, "pprof again: nothing of another moment", got["peak_b" if at_end else "at_end_b"], None)


def check_go(path):
    """Go's own reader, where it is."""
    tool = next(iter(glob.glob("/usr/lib/go*/pkg/tool/*/pprof")), None)
    if tool and os.path.exists(path):
        out = subprocess.run([tool, "-raw", path], capture_output=True, text=True)
        m.check(out.returncode == 0 and "Samples:" in out.stdout, "go tool pprof", out.stderr[:300])


def check_folded_before():
    """Siblings are folded into [other], though it is there and small itself."""
    for i, lines in enumerate((["main;[other] 900", "main;big 90000000", "main;x 700", "main;y 800"],
                               ["main;[other] 900", "main;[other];x 100", "main;[other];y 90", "main;big 90000000", "main;z 1"],
                               ["[other] 5", "big 90000000", "small;x 2", "small;[other] 1"])):
        name = f"folded{i}"
        with open(f"{name}.folded", "w") as f:
            f.write("\n".join(lines) + "\n")
        total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
        for run in m.imported([(name, f"{name}.folded")], {name: "at-peak"}):
            for args in ((), ("--min", "1K"), ("--min", "1")):
                got = collapsed(export(run.name, "collapsed", *args))
                m.check(sum(got.values()) == total, name, args, got)
            m.check(any(stack.endswith("[other]") for stack in collapsed(export(run.name, "collapsed", "--min", "1K"))), name, "has [other]")


def chain(path, deep, padding=""):
    """A trace whose ops are nested so deep, each with a block."""
    events = []
    for i in range(deep):
        events.append({"ph": "X", "cat": "cpu_op", "name": f"f{i}{padding}", "pid": 1, "tid": 1, "ts": 10 + i, "dur": 2 * (deep - i)})
        args = {"Bytes": i + 1, "Addr": 4096 * (i + 1), "Device Type": 0, "Device Id": -1}
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 10.5 + i, "args": args})
    with open(path, "w") as f:
        json.dump({"traceEvents": events}, f)


def check_deep():
    """What is nested deep is not written from the root on for each path, or refused where that is all there is."""
    deep = 1500
    chain("deep.json", deep)
    chain("long.json", 3000, "x" * 1000)
    for run in m.imported([("deep", "deep.json")]):
        data = export(run.name, "speedscope", "--min", "0")
        m.check(len(data) < 1000 * deep, "speedscope", "size", len(data))
        doc = json.loads(data)
        names = [f["name"] for f in doc["shared"]["frames"]]
        stacks = collapsed(export(run.name, "collapsed", "--min", "0", "--measure", "allocated"))
        want = {stack.rsplit(";", 1)[-1]: v for stack, v in stacks.items()}
        got = next(p for p in doc["profiles"] if p["name"].startswith("allocated"))
        own = {names[frame]: v for frame, v in own_of_events(got["events"], got["endValue"]).items()}
        m.check(own == want and len(want) == deep, "speedscope", "events", len(own), len(want))
    chain("deeper.json", 66000)
    for name, form in ("long", "collapsed"), ("deeper", "dhat"), ("deeper", "pprof"):
        for run in m.imported([(name, f"{name}.json")]):
            code, out, err = m.run("export", run.name, "--format", form, "-o", "long.out", codes=(2,))
            m.check("from its root on: that would be about " in err and not os.path.exists("long.out"), form, "refused", err)


def main():
    check_folded_before()
    check_deep()
    for run in m.imported(samples()):
        for device in run.devices:
            check_device(run, device, True)
    for run in m.imported(inputs.all_inputs("made")):
        for device in run.devices[:2]:
            check_device(run, device, False)
    m.finish(at_least=5000)


main()
