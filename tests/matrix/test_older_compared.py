"""What is older than the recordings, where runs are compared: what is told is in every figure, and what is estimated
turns no verdict unsaid. Ends that are not known are not 0.

    MEMTOOL=build/debug/memtool python3 -B tests/matrix/test_older_compared.py
"""

import gzip
import json
import os

import inputs
import mt

LOOPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "loops")

m = mt.Matrix()


def loop(name, base=None):
    run = name if base is None else f"told-{base}"
    m.run("import", os.path.join(LOOPS, f"{name}.json.gz"), "--name", run, *(() if base is None else ("--base", str(base))))
    return run


def exits(expected, *args):
    code, out, err = m.run(*args, codes=(0, 1, 3))
    m.check(code == expected, " ".join(args), "exit", code, "expected", expected, "\n", out, err)
    return out


def old_file(path):
    """As it was written before what is older was known of."""
    with open(path) as f:
        whole = json.load(f)
    for device in whole["devices"]:
        for key in [key for key in device if key.startswith("older_")]:
            del device[key]
    with open("old.json", "w") as f:
        json.dump(whole, f)
    return "old.json"


def estimates():
    """Percentages of what was recorded, which the estimates turn; a file holds them, too."""
    for base, new, limit, change in (("data_workers_open", "plain_scheduled", "5%", "20.5 %"), ("plain_scheduled", "list_gan_n_critic", "8%", "7.7 %")):
        m.run("export", "--baseline", base, "-o", base + ".json")
        for against in (base, base + ".json"):
            out = exits(3, "check", new, "--baseline", against, "--max-peak-growth", limit)
            m.check(change in out, new, "against", against, "does not say", change, "\n", out)
        _, _, out = m.run("diff", base, new, "--exit-code", "--threshold", limit, codes=(1, 3))  # 1: by its leak
        m.check("Cannot tell whether the peak got worse" in out, base, new, "diff judges the peak\n", out)
    exits(0, "check", "plain_scheduled", "--baseline", "data_workers_open", "--max-peak-growth", "50%")


def told():
    """One side counts what the other leaves out, or may."""
    for args in ((), ("--op", ".")):
        exits(3, "check", "told-100000", "--baseline", "data_workers_open", "--max-peak-growth", "10%", *args)
        exits(3, "check", "told-0", "--baseline", "data_workers_open", "--max-peak-growth", "10%", *args)
        exits(1, "check", "told-200000", "--baseline", "told-100001", "--max-peak-growth", "10%", *args)
    exits(3, "diff", "data_workers_open", "told-0", "--exit-code")
    m.run("export", "--baseline", "told-100001", "-o", "told.json")
    exits(0, "check", "told-100000", "--baseline", "told.json", "--max-peak-growth", "10%")
    exits(1, "check", "told-200000", "--baseline", "told.json", "--max-peak-growth", "10%")
    out = exits(3, "check", "told-200000", "--baseline", old_file("told.json"), "--max-peak-growth", "10%")
    m.check("anew" in out, "an old file", "is not said to be old\n", out)


def repeats():
    """Of several repeats each is asked, not only the one in the middle; a file of them says the same."""
    for name, peak, base in (("b0", 8, None), ("b1", 8, 100), ("n1", 8, 100), ("n2", 30, None), ("n3", 9, None), ("n4", 107, 0)):
        trace = inputs.Trace()
        trace.op("aten::linear", 1, 10.5)
        trace.op(f"aten::{name}", 20, 10.5)
        trace.record(2, peak << 20, 1 << 30)
        trace.record(6, -(peak << 20), 1 << 30)
        trace.write(f"{name}.json")
        m.run("import", f"{name}.json", "--name", name, *(() if base is None else ("--base", f"{base}MiB")))
    grows = ("--max-peak-growth", "5%")
    for new in (("n1",), ("n2",), ("n1", "n2"), ("n1", "n2", "n3"), ("n1", "n4"), ("b0", "b1")):
        for base in (("b0",), ("b1",), ("b0", "b1"), ("b1", "n4"), ("n4", "n3", "n1")):
            if set(new) & set(base):
                continue
            told = set(new + base) <= {"b1", "n1", "n4"}
            judged = (0,) if told else (3,)
            m.run("export", "--baseline", *base, "-o", "several.json")
            for against in (base, ("several.json",)):
                line = ("check", *new, *(word for name in against for word in ("--baseline", name)), *grows)
                out = exits(judged[0], *line)
                m.check(told or "older" in out or "allocated before" in out, " ".join(line), "does not say why\n", out)


def unknown_ends():
    """A damaged record may have been a free."""
    with gzip.open(os.path.join(LOOPS, "plain_scheduled.json.gz"), "rt") as f:
        whole = f.read()
    at = whole.rindex('"Bytes": -') if '"Bytes": -' in whole else whole.rindex('"Bytes":-')
    with open("damaged.json", "w") as f:
        f.write(whole[:at] + "\\x" + whole[at:])
    m.run("import", "damaged.json", "--partial", "--name", "damaged")
    totals = m.json("leaks", "plain_scheduled", "data_workers_open", "damaged")["totals"]
    m.check(totals["first_at_end_b"] is not None and totals["at_end_b"] is None, "leaks of runs, an unknown end", totals)
    m.check("-> unknown" in exits(3, "leaks", "plain_scheduled", "data_workers_open", "damaged", "--fail"), "leaks of runs: not said")
    m.check(m.json("leaks", "damaged")["totals"]["at_end_b"] is None, "leaks: an unknown end")
    at_end = [row["value"] for row in m.rows("info", "damaged") if row["what"] == "cpu.at_end_b"]
    m.check(at_end == [None], "info: an unknown end", at_end)


def ends():
    """What is told is alive at the end, in every list of that."""
    runs = ("told-100000", "told-200000", "told-300000")
    m.check(exits(1, "leaks", *runs, "--fail").count("[before trace]") == 1, "leaks of runs", "no [before trace]")
    answer = m.json("leaks", *runs, "--all")
    for key, run in (("first_at_end_b", runs[0]), ("at_end_b", runs[2])):
        at_end_b = m.query(f"SELECT at_end_b FROM v_device WHERE run = '{run}'")[0]["at_end_b"]
        m.check(answer["totals"][key] == at_end_b == mt.total(answer["rows"], key), "leaks of runs", key, answer["totals"], at_end_b)
    runs_alike = ("leaks", "plain_scheduled", "plain_scheduled", "plain_scheduled", "--fail")
    out = exits(3, *runs_alike)
    m.check("not leaking" not in out, "leaks of runs", "no leak, though what is older is left out\n", out)
    notes = " ".join(m.json(*runs_alike[:-1])["notes"])
    m.check("allocated before the recording is not counted" in notes and "Blocks older than the runs are left out" in notes, "leaks of runs", "what is older", notes)
    exits(3, "leaks", "told-100000", "told-100000", "told-100000", "--fail")  # one recording
    exits(3, "leaks", "told-leak", "told-leak", "told-leak", "--fail")
    notes = " ".join(m.json("leaks", "told-100000", "told-leak", "told-leak")["notes"])
    m.check("2 of 3 runs leak from step to step; told-leak grows 512 B a step" in notes, "leaks of runs", "each leaks", notes)
    out = exits(3, "leaks", "data_workers_open", *runs, "--fail")
    m.check("unknown" not in out, "leaks of runs", "an end is not known\n", out)
    exits(1, "check", "told-300000", "--baseline", "told-100001", "--max-at-end-growth", "10%")
    exits(1, "check", "told-300000", "--baseline", "told-100001", "--max-at-end-growth", "10%", "--op", ".")


def accelerators():
    """Two devices of one kind, and two processes on one device, whose allocators have totals of their own."""
    def trace(records):
        out = inputs.Trace()
        out.op("aten::work", 100.5, 90)
        for i, (pid, index, n, total) in enumerate(records):
            out.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": pid, "tid": pid, "ts": 101.5 + i,
                               "args": {"Bytes": n, "Device Type": 1, "Device Id": index, "Addr": 4096 * (i + 1), "Total Allocated": total}})
        return document(out)
    def document(out):
        with open("accelerators.json", "w") as f:
            json.dump({"traceEvents": out.events}, f)
        return "accelerators.json"
    two = trace([(1, 0, 512, 512), (1, 1, 4096, 4096)])
    m.run("import", two, "--name", "twice", "--base", "cuda=1MiB", "--base", "cuda:1=2MiB", codes=(2,))
    m.run("import", two, "--name", "larger", "--base", "cuda=1MiB")
    told = {row["device"]: row["older_from"] for row in m.query("SELECT device, older_from FROM v_device WHERE run = 'larger'")}
    m.check(told == {"cuda:0": "recorder", "cuda:1": "option"}, "cuda is not what --device cuda is", told)
    m.run("import", trace([(1, 0, 512, 1536), (2, 0, 512, 900)]), "--name", "processes")
    found = m.query("SELECT start_b, older_from FROM v_device WHERE run = 'processes'")
    m.check(found == [{"start_b": 0, "older_from": None}], "the total of one of two processes", found)
    m.run("import", trace([(1, 0, 512, 1536), (1, 0, 512, 2048)]), "--name", "process")
    found = m.query("SELECT start_b, older_from FROM v_device WHERE run = 'process'")
    m.check(found == [{"start_b": 1024, "older_from": "recorder"}], "the total of one process", found)
    _, out, _ = m.run("diff", "data_workers_open", "told-100000", "--section", "total")
    m.check("do not compare" in out.splitlines()[0] and "%" not in out.splitlines()[0], "diff leads with a percentage\n", out)


def main():
    for name in ("data_workers_open", "plain_scheduled", "list_gan_n_critic"):
        loop(name)
    for base in (0, 100000, 200000, 300000):
        loop("plain_scheduled", base)
    loop("data_workers_open", 100001)
    m.run("import", os.path.join(LOOPS, "list_scheduled.json.gz"), "--name", "told-leak", "--base", "100000")
    estimates()
    told()
    repeats()
    ends()
    unknown_ends()
    accelerators()
    m.finish(60)


main()
