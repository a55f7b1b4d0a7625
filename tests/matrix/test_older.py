"""What is older than the recording, in every loop of tests/loops, against what the program held.

Where memtool estimates parameters and optimizer state, they lie within; where it says nothing, nothing was older;
and told exactly (import --base) all figures that it belongs to rise by it, and no other. docs/older.md has the rules.

    MEMTOOL=build/debug/memtool python3 -B tests/matrix/test_older.py
"""

import json
import os
import shlex

import mt

LOOPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "loops")
# Only threads that the profiler does not see compute with the model: nothing in the trace does.
NO_EVIDENCE = {"inference_threads", "list_and_threads", "list_and_threads_same_site"}
# zero_grad(set_to_none=False): gradients stay.
GRADIENTS_STAY = {"zero_not_none"}
# What everything else is, measured when the rules were made: fewer would be a step back.
ESTIMATED, EXACT = 109, 53

m = mt.Matrix()
counts = {"estimated": 0, "exact": 0}


def device(name):
    return m.query(f"SELECT * FROM v_device WHERE run = '{name}' AND device = 'cpu'")


def estimate(truth, cpu):
    name, older_b = truth["name"], truth["older_at_end_b"]
    start = truth["start"]
    told_b = start["parameters_b"] + start["optimizer_b"] + (start["gradients_b"] if name in GRADIENTS_STAY else 0)
    least_b, most_b = cpu["older_least_b"], cpu["older_most_b"]
    used = name not in NO_EVIDENCE and older_b > 0
    m.check(cpu["older_used"] == used, name, "older blocks are used:", cpu["older_used"], "truth:", older_b)
    m.check(used or least_b is None, name, "an estimate of nothing:", least_b)
    m.check(cpu["start_b"] == 0 and cpu["older_from"] is None, name, "an estimate is in the level")
    if least_b is None:
        return
    counts["estimated"] += 1
    counts["exact"] += least_b == most_b
    m.check(least_b <= told_b and (most_b is None or told_b <= most_b), name, "estimate", least_b, most_b, "truth", told_b)
    m.check(least_b <= older_b, name, "estimate", least_b, "is more than all there was,", older_b)


def said(name, used):
    """In notes of reports on levels, once each."""
    for args in (("info", name), ("peak", name), ("memory", name), ("timeline", name), ("diff", name, name), ("check", name, "--max-peak", "1GiB")):
        _, out, _ = m.run(*args, "--format", "json", codes=(0, 1, 3))
        notes = [n for n in json.loads(out)["notes"] if "allocated before the recording" in n]
        m.check(len(notes) == used, name, args[0], "notes on older blocks:", notes)


def exact(truth, trace, cpu):
    """With --base: levels rise by it, sums of what ops did do not."""
    name, base_b = truth["name"], truth["older_at_end_b"]
    told = name + "-told"
    m.run("import", trace, "--name", told, "--base", str(base_b), *shlex.split(truth["import"]))
    now = device(told)[0]
    m.check(now["older_from"] == "option" and not now["older_used"] and now["older_least_b"] is None, told, "not taken as told", now)
    m.check(now["kept_b"] == base_b and cpu["kept_b"] is None, told, "kept", now["kept_b"], "base", base_b)
    for column in ("start_b", "peak_b", "at_end_b"):
        m.check(now[column] == cpu[column] + base_b, told, column, now[column], "was", cpu[column], "base", base_b)
    for column in ("alloc_b", "freed_b", "net_b", "alloc_n", "peak_ns", "base_b", "residual_b"):
        m.check(now[column] == cpu[column], told, column, now[column], "was", cpu[column])
    for column, whole in (("self_net_b", now["net_b"]), ("self_at_peak_b", now["peak_b"]), ("self_at_end_b", now["at_end_b"])):
        got = mt.total(m.rows("table", told), column) or 0
        m.check(got == whole, told, "table", column, got, "device", whole)
    before = [row["at_peak_b"] for row in m.rows("peak", told, "--by", "name") if row["name"] == "[before trace]"]
    m.check(before == [base_b] * (base_b > 0), told, "peak: [before trace]", before, "base", base_b)


def main():
    with open(os.path.join(LOOPS, "truth.json")) as f:
        truths = json.load(f)
    for truth in truths:
        name, trace = truth["name"], os.path.join(LOOPS, truth["name"] + ".json.gz")
        m.run("import", trace, "--name", name, *shlex.split(truth["import"]))
        found = device(name)
        if not found:  # no memory records at all
            continue
        estimate(truth, found[0])
        said(name, found[0]["older_used"])
        exact(truth, trace, found[0])
    for what, n in (("estimated", ESTIMATED), ("exact", EXACT)):
        m.check(counts[what] == n, "loops", what, counts[what], "of", n)
    m.finish(4000)


main()
