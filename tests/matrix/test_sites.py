#!/usr/bin/env python3
"""Sites of traces with stacks are lines of the user's code: against what the events of the trace themselves say."""

import gzip
import json
import os
import re
import subprocess

import inputs
import mt

m = mt.Matrix()
FUNCTION = re.compile(r"^(.*\.py)\((\d+)\): (.*)$")
LIBRARIES = ("torch/", "transformers/", "typing.py", "enum.py", "logging/", "threading.py", "contextlib.py")
ENGINE = "autograd::engine::evaluate_function"


def line_of(name):
    """A site, if the name is of a function of the user's own."""
    parts = FUNCTION.match(name)
    return parts and not name.startswith(LIBRARIES) and "{}:{} {}".format(*parts.groups())


class Events:
    """The events of a trace by thread, in order of start; of several around a moment the one that began last is inside."""

    def __init__(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
            events = [e for e in json.load(f)["traceEvents"] if "tid" in e]
        self.threads, self.forward = {}, {}
        for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"])):
            if e.get("cat") not in ("cpu_op", "user_annotation", "python_function"):
                continue
            self.threads.setdefault(e["tid"], []).append(e)
            number = e.get("args", {}).get("Sequence number")
            if number is not None and not e["args"].get("Fwd thread id"):
                self.forward[number] = e
        self.records = [e for e in events if e["name"] == "[memory]" and e["args"]["Bytes"] > 0]

    def around(self, tid, t):
        return [e for e in self.threads.get(tid, []) if e["ts"] <= t <= e["ts"] + e["dur"]][::-1]

    def line(self, tid, t):
        for e in self.around(tid, t):
            args = e.get("args", {})
            if e["cat"] == "python_function" and line_of(e["name"]):
                return line_of(e["name"])
            if e["name"].startswith(ENGINE) and args.get("Fwd thread id") and args["Sequence number"] in self.forward:
                forward = self.forward[args["Sequence number"]]
                line = self.line(forward["tid"], forward["ts"])
                if line:
                    return "(backward of) " + line
        return None


def allocated(events):
    """Bytes by line."""
    sums = {}
    for record in events.records:
        line = events.line(record["tid"], record["ts"])
        sums[line] = sums.get(line, 0) + record["args"]["Bytes"]
    return sums


def unknown(row, key):
    return row[key].startswith(("(line unknown) ", "["))


def lines(run, path):
    want = allocated(Events(path))
    got = {}
    for row in m.rows("table", run, "--by", "line"):
        line = None if unknown(row, "line") else row["line"]
        got[line] = got.get(line, 0) + row["self_alloc_b"]
    got = {line: b for line, b in got.items() if b}
    m.check(got == want, run, "table --by line", mt.differences(got, want))
    by_site = {}
    for row in m.rows("table", run, "--by", "site"):
        line = None if unknown(row, "site") else re.sub(r" in [^ ]*$", "", row["site"])
        by_site[line] = by_site.get(line, 0) + row["self_alloc_b"]
    m.check({k: b for k, b in by_site.items() if b} == want, run, "table --by site", mt.differences(by_site, want))
    for row in m.rows("table", run, "--by", "line,name"):
        m.check("(): " not in row["line"] and "aten::" not in row["line"] or unknown(row, "line"), run, "a line that is an op", row["line"])


def formats(run):
    """Every format has the rows of json."""
    for args in (("table", run, "--by", "line"), ("table", run, "--by", "layer"), ("peak", run), ("leaks", run, "--all")):
        rows = m.rows(*args)
        for form, comma in (("csv", ","), ("tsv", "\t")):
            _, out, _ = m.run(*args, "--limit", "0", "--format", form)
            m.check(len(out.strip().split("\n")) == len(rows) + 1, *args, form, "rows", len(rows))


def layers(run):
    rows = mt.by(m.rows("table", run, "--by", "layer"), "layer")
    m.check(rows[("Net_0.Linear_1",)]["self_alloc_b"] == 5 * 2000, run, "layer", rows)
    m.check(rows[("(backward of) Net_0.Linear_0",)]["self_alloc_b"] == 5 * 4000, run, "layer of backward", rows)
    m.check(rows[("Net_0",)]["net_b"] >= rows[("Net_0.Linear_1",)]["net_b"], run, "a layer has what is in it", rows)


def refusals(run):
    for key in ("line", "layer"):
        code, _, err = m.run("table", run, "--by", key, codes=(2,))
        m.check("with_stack=True" in err, run, "--by", key, "does not say how to record it:", err)


def defaults(run):
    """What sites are where nothing is asked for; a baseline from before there were lines says the same."""
    row = next(row for row in m.rows("leaks", run, "--all") if row["top"] == "aten::clone")
    m.check(row["site"] == "net.py:7 forward in keep", run, "leaks", row)
    row = next(row for row in m.rows("diff", "borders", run, "--section", "peak") if row["top"] == "aten::clone")
    m.check("scope" in row and "site" not in row, run, "diff with a run without stacks", row)
    for line in (True, False):
        _, out, _ = m.run("export", "--baseline", run)
        kept = json.loads(out)
        sites = kept["devices"][0]["sites"]
        for site in sites:
            site["alloc_b"] = 0
            if not line:
                site.pop("line", None)
        m.check(not line or any(site.get("line") == "net.py:20 forward" for site in sites), run, "baseline", sites)
        kept["devices"][0]["alloc_b"] = 1
        with open("baseline.json", "w") as f:
            json.dump(kept, f)
        _, out, _ = m.run("check", run, "--baseline", "baseline.json", "--max-alloc-growth", "0", codes=(1, 3))
        m.check("(backward of) net.py:20 forward (" in out or not line, run, "check does not name the line", out)
        m.check(line or "autograd::engine::evaluate_function" in out or "AddmmBackward0" in out, run, "check with an old baseline", out)


def ops_alone(run, path):
    """A column of ops has no function of Python; what these do themselves is one row."""
    events = Events(path)
    kinds = {e["name"]: e["cat"] for thread in events.threads.values() for e in thread}
    python = 0
    for record in events.records:
        around = events.around(record["tid"], record["ts"])
        if around and around[0]["cat"] == "python_function":
            python += record["args"]["Bytes"]
    for key in ("name", "top"):
        rows = {row[key]: row for row in m.rows("table", run, "--by", key)}
        mixed = [name for name in rows if kinds.get(name) == "python_function" or name.startswith("nn.Module")]
        m.check(not mixed and len(rows) >= 5, run, "--by", key, "functions among ops", mixed)
        own = rows["[Python]"]
        m.check(own["self_alloc_b"] == python, run, "--by", key, "outside ops", own, python)


def annotations(run):
    """check --format github: at the file of the line, wherever the checkout has it."""
    def places(folder):
        rules = ("check", run, "--max-growth-per-step", "0", "--max-peak", "1", "--max-at-end", "1", "--format", "github", "--db", m.db)
        done = subprocess.run([m.memtool, *rules], cwd=folder, capture_output=True, text=True)
        return set(re.findall(r"^::error file=(.*?),line=(\d+),title=", done.stdout, re.M))

    os.makedirs("repo/.git")
    os.makedirs("repo/tools/src")
    m.check(("net.py", "7") in places("repo"), run, "no place as recorded", places("repo"))
    open("repo/tools/src/net.py", "w").close()
    m.check(("tools/src/net.py", "7") in places("repo"), run, "not found below", places("repo"))
    m.check(("tools/src/net.py", "7") in places("repo/tools"), run, "not relative to the repository", places("repo/tools"))
    open("repo/tools/net.py", "w").close()
    m.check(("net.py", "7") in places("repo"), run, "one of two files is taken", places("repo"))
    m.check(("tools/net.py", "7") in places("repo/tools"), run, "the file here comes first", places("repo/tools"))


paths = dict(inputs.all_inputs())
wanted = {name: paths[name] for name in ("stacks", "cnn_stack", "borders")}
for run in m.imported(wanted.items()):
    if run.name == "borders":
        refusals(run.name)
        continue
    lines(run.name, wanted[run.name])
    formats(run.name)
    ops_alone(run.name, wanted[run.name])
layers("stacks")
defaults("stacks")
annotations("stacks")
m.finish(at_least=20)
