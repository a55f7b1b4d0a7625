#!/usr/bin/env python3
"""Round trips: what `memtool export` writes in a format that memtool reads is imported again, and has the same call
paths with the same figures, of every kind of run. (Snapshots: test_export_snapshot.py.)"""

import glob
import os
import re

import inputs
import mt

SAMPLES = os.environ["SAMPLES"]
m = mt.Matrix()
# How each is written and read again: options of export and import, and what it then knows.
ROUNDS = {
    "pprof": ("x.pb.gz", (), (), ("alive", "allocated", "alive-blocks", "allocated-blocks")),
    "dhat": ("x.dhat.json", (), (), ("alive", "allocated", "alive-blocks", "allocated-blocks")),
    "collapsed alive": ("x.folded", ("--measure", "alive"), ("--values", "at-peak"), ("alive",)),
    "collapsed allocated": ("x.folded", ("--measure", "allocated"), ("--values", "allocated"), ("allocated",)),
}


def samples():
    for pattern in ("heap/*.zst", "heap/*.gz", "heap/*.json*", "heap/*.csv", "python/*.bin*", "python/*.pkl*", "timelines/*.json.gz"):
        for path in sorted(glob.glob(f"{SAMPLES}/{pattern}")):
            yield re.sub(r"\W", "_", os.path.relpath(path, SAMPLES)), path


def huge():
    """Almost 2^60 bytes, below a path of 600 functions, of names with everything in them."""
    trace = inputs.Trace()
    for depth in range(600):
        trace.op(f"f{depth};g h\t\"{inputs.HOSTILE_NAMES[depth % len(inputs.HOSTILE_NAMES)]}\" 7", 10 + depth, 5000 - 2 * depth)
    trace.record(2000, (1 << 59) + 1, 64)
    trace.record(2001, 3, 128)
    trace.record(2002, -3, 128)
    trace.write("huge.json")
    yield "huge", "huge.json"


def stacks(run, *args):
    """{path: figure} of all call paths; None: the run does not know it."""
    if os.path.exists("s.folded"):
        os.remove("s.folded")
    code, _, _ = m.run("export", run, "--min", "0", "-o", "s.folded", *args, codes=(0, 2))
    if code:
        return None
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in open("s.folded", encoding="utf-8", newline="\n").read().split("\n")[:-1]}


def holds_older(run, which):
    """Blocks that a path holds and did not allocate: to those who read DHAT's files such a path is damaged."""
    allocated = stacks(run, "--measure", "allocated", *which) or {}
    return any(v > allocated.get(path, 0) for at in ((), ("--at", "@end")) for path, v in (stacks(run, *at, *which) or {}).items())


def many_deep(path):
    """A file of collapsed stacks is known by its ";": that most lines have any."""
    lines = open(path, errors="replace").read().split("\n") if path.endswith(".folded") else [";"]
    return 2 * sum(";" in line for line in lines) >= len(lines)


PLAIN = re.compile(r"(\[[\w ]+\]|[\w.:~#*+-]+)( \([\w./-]+\))?")


def alike(stacks):
    """Call paths as readers of native heaps have them: a function is one, whatever its line goes on from, and whether it
    calls itself; without blanks around."""
    sums = {}
    for path, v in (stacks or {}).items():
        frames = []
        for frame in path.removeprefix("[stack cut];").split(";"):
            frame = re.sub(r":\d+\)$", ")", frame.strip())
            frames += [frame] if frames[-1:] != [frame] else []
        sums[";".join(frames)] = sums.get(";".join(frames), 0) + v
    return sums


def is_plain(stacks):
    """Readers of native heaps shorten the names of C++: they take what is in brackets, and before a blank, for types. They
    cut paths of more than 1,000 functions."""
    return all(path.count(";") < 1000 for path in stacks) and all(PLAIN.fullmatch(frame) for path in stacks for frame in path.split(";"))


def round_trip(run, device, form):
    path, to, back, measures = ROUNDS[form]
    which = ("--device", device["device"])
    if os.path.exists(path):
        os.remove(path)
    code, _, err = m.run("export", run.name, "--format", form.split()[0], "-o", path, "--min", "0", *to, *which, codes=(0, 2))
    if code or not os.path.getsize(path):
        return False
    code, _, err = m.run("import", path, "--name", "again", "--replace", *back, codes=(0, 2))
    if form == "dhat" and holds_older(run.name, which) or not many_deep(path):
        return False
    if code:
        m.check(not any(stacks(run.name, "--measure", measure, *which) for measure in measures), run, form, "is imported again", err[:300])
        return False
    m.known.clear()
    for measure in measures:
        want, got = stacks(run.name, "--measure", measure, *which), stacks("again", "--measure", measure)
        if want is None or got is None:
            m.check(measure.endswith("blocks") or not want, run, form, measure, "is known again")
            continue
        want, got = alike(want), alike(got)
        what = run, form, device["device"], measure
        m.check(sum(want.values()) == sum(got.values()), *what, "sum", sum(want.values()), sum(got.values()))
        if is_plain(want):
            m.check(want == got, *what, str(mt.differences(want, got))[:400])
    return True


def main():
    seen = dict.fromkeys(ROUNDS, 0)
    for files in (huge(), samples(), inputs.all_inputs("made")):
        for run in m.imported(files):
            for device in run.devices[:3]:
                for form in ROUNDS:
                    seen[form] += round_trip(run, device, form)
    m.check(all(n >= 60 for n in seen.values()), "round trips", seen)
    m.finish(at_least=500)


main()
