#!/usr/bin/env python3
"""What reports write as JSON is what docs/schema says, no field more; who cannot tell says so, and what is cut is said to be."""

import copy
import json
import os
import subprocess

try:
    from jsonschema import Draft202012Validator
except ImportError:
    raise SystemExit("python3-jsonschema is missing: .ci/deps check")

import inputs
import mt

SAMPLES = os.environ["SAMPLES"]
SCHEMAS = os.path.join(os.path.dirname(SAMPLES), "docs", "schema")
FILES = {
    "trace": "cnn_b16/trace.json.gz", "larger": "cnn_b32/trace.json.gz", "leaky": "leak_steps/trace.json.gz", "plain": "no_checkpoint/trace.json.gz",
    "changed": "checkpoint/trace.json.gz", "stack": "cnn_stack/trace.json.gz", "snap": "snapshots/basic.pickle", "oom": "snapshots/oom.pickle",
    "state": "snapshots/state_only.pickle", "ring": "snapshots/ring_cut.pickle", "two": "snapshots/two_devices.pickle", "heap": "heap/heaptrack.zst",
    "massif": "heap/massif_200k.out", "dhat": "heap/dhat_200k.json", "adhoc": "heap/dhat_ad_hoc.json", "lsan": "heap/lsan.txt", "go": "heap/go_heap_1.pb.gz",
    "go2": "heap/go_heap_2.pb.gz", "memray": "python/memray_1.20.bin", "stats": "python/memray_stats.json", "categories": "timelines/cnn.json.gz",
    "loading": "process/before_after.dat", "log": "process/mprofile.dat", "docker": "process/docker_stats.txt", "usage": "process/time_v.txt",
}
MADE = ("no_memory", "older", "no_addresses", "processes", "hostile_names", "devices")
OF_ONE = [
    ["table"], ["table", "--limit", "1"], ["table", "--compat", "torch"], ["table", "--by", "name,device,thread,step,phase"], ["table", "--by", "category"],
    ["tree"], ["tree", "--limit", "1"], ["peak"], ["peak", "--per", "step"], ["peak", "--per", "name"], ["peak", "--at", "@peak"],
    ["peak", "--at", "@peak", "--at", "@end"], ["peak", "--by", "tensor"], ["peak", "--limit", "1"], ["timeline"], ["timeline", "--by", "site"],
    ["timeline", "--exact"], ["timeline", "--metric", "reserved"], ["leaks", "--fail"], ["leaks", "--all"], ["leaks", "--all", "--limit", "1"], ["memory"],
    ["memory", "--at", "@end"], ["memory", "--per", "step"], ["segments"], ["segments", "--by", "site"], ["fragmentation"],
    ["fragmentation", "--fit", "40MiB"], ["info"], ["advise", "--all"], ["oom"],
    ["check", "--max-peak", "1MiB", "--max-at-end", "1", "--max-rss", "1MiB", "--max-growth-per-step", "1"],
]
OF_MORE = [
    *(["diff", a, b, *options] for a, b in (("trace", "larger"), ("plain", "changed"), ("snap", "oom"), ("loading", "log"), ("go", "go2"), ("heap", "dhat"))
      for options in ([], ["--exit-code"], ["--per-step"], ["--limit", "1"])),
    ["diff", "trace", "larger", "leaky"], ["leaks", "go", "go2"], ["leaks", "trace", "larger", "leaky", "--all"], ["leaks", "loading", "log"],
    ["ranks", "ranks"], ["ranks", "ranks", "--by", "cluster"], ["ranks", "ranks", "--per", "step"], ["ranks", "ranks", "--limit", "1"], ["oom", "ranks"],
    ["peak", "--group", "ranks"], ["diff", "--group", "ranks", "--group", "ranks"], ["diff", "--group", "ranks", "--group", "ranks", "--exit-code"], ["timeline", "--group", "ranks"], ["trend", "ranks"], ["trend", "ranks", "--limit", "1"], ["runs"], ["runs", "--cache"], ["query", "--list"], ["query", "SELECT * FROM v_device"],
    ["query", "SELECT * FROM v_device", "--limit", "1"], ["advise", "trace:16", "larger:32", "--batch", "64"], ["advise", "plain", "--verify", "changed"],
    ["advise", "plain", "--verify", "snap"], ["check", "larger", "--baseline", "trace", "--max-peak-growth", "1%"],
]
# Asked these, a run that has what is needed may truly have nothing to show.
MAY_BE_EMPTY = ("leaks", "advise", "advise_verify", "oom", "cache", "diff")

m = mt.Matrix()
seen, unable, cut = {}, set(), set()


def read_schemas():
    """Each by its name, with what they share in it."""
    names = [name[: -len(".json")] for name in os.listdir(SCHEMAS) if name.endswith(".json")]
    text = {name: open(os.path.join(SCHEMAS, name + ".json"), encoding="utf-8").read() for name in names}
    shared = json.loads(text.pop("common"))["$defs"]
    return {name: json.loads(text[name].replace('"common.json#', '"#')) | {"$defs": shared} for name in text}


def judge(line, code, answer, validators):
    name = answer["schema"].split(".")[1]
    seen[name] = seen.get(name, 0) + 1
    if not m.check(name in validators, line, "has no schema", name):
        return
    for error in list(validators[name].iter_errors(answer))[:2]:
        m.check(False, line, name, list(error.absolute_path)[:3], error.message[:300])
    m.check(True)
    told = "cannot_tell" not in answer
    if not told:
        unable.add(name)
        m.check("answer" in answer and answer["answer"] is None, line, "answer is not null")
    m.check(code != 3 or not told, line, "exits with 3 and does not say why")
    m.check(answer["rows"] or not told or answer["has_more"] or name in MAY_BE_EMPTY, line, "no rows, as if nothing was found")
    m.check(answer["has_more"] == (answer["left_out_n"] != 0), line, "has_more", answer["has_more"], answer["left_out_n"])
    if answer["has_more"]:
        cut.add(name)


def ask(line, validators):
    code, out, err = m.run(*line, "--format", "json", codes=(0, 1, 2, 3))
    text = " ".join(line)
    if not out:  # what is asked in a wrong way is no question
        m.check(code == 2 and err, text, "says nothing", code)
        return
    try:
        judge(text, code, json.loads(out), validators)
    except ValueError as error:
        m.check(False, text, "is no JSON", error)


def refuses_what_is_wrong(validators):
    """A schema that takes anything proves nothing."""
    answer = m.json("table", "trace")
    lacks = m.json("peak", "no_memory")
    table, peak = validators["table"], validators["peak"]
    m.check(table.is_valid(answer) and peak.is_valid(lacks), "answers are valid")
    for where in ("", "params", "totals", "rows"):
        wrong = copy.deepcopy(answer)
        part = wrong["rows"][0] if where == "rows" else wrong[where] if where else wrong
        part["undocumented"] = 1
        m.check(not table.is_valid(wrong), "a field more is taken in", where or "the envelope")
    wrong = copy.deepcopy(answer)
    wrong["rows"][0]["self_net_b"] = "1 KiB"
    m.check(not table.is_valid(wrong), "text is taken for bytes")
    for key in ("answer", "has_more", "left_out_n"):
        m.check(not peak.is_valid({k: v for k, v in lacks.items() if k != key}), key, "is not missed")


schemas = read_schemas()
for name in schemas:
    Draft202012Validator.check_schema(schemas[name])
    m.check(schemas[name]["properties"]["schema"]["const"] == "memtool." + name, name, "names another")
validators = {name: Draft202012Validator(schemas[name]) for name in schemas}
files = [(name, os.path.join(SAMPLES, path)) for name, path in FILES.items()]
os.makedirs("made", exist_ok=True)
made = [(name, path) for name, path in inputs.all_inputs("made") if name in MADE]
runs = [str(run) for run in m.imported(files + made)]
for rank in range(4):
    m.run("import", os.path.join(SAMPLES, "ranks", f"rank{rank}.json.gz"), "--group", "ranks")
recorded = subprocess.run([m.memtool, "record", "--db", m.db, "--name", "recorded", "--", "sh", "-c", "sleep 0.3 & wait"], capture_output=True, check=False)
m.check(recorded.returncode == 0, "record", recorded.stderr)
runs.append("recorded")
for run in runs:
    for command, *options in OF_ONE:
        ask([command, run, *options], validators)
for line in OF_MORE:
    ask(line, validators)
refuses_what_is_wrong(validators)
m.check(set(seen) == set(validators), "not asked, or without a schema:", set(seen) ^ set(validators))
cannot = {"table", "tree", "peak", "timeline", "leaks", "memory", "segments", "fragmentation", "check", "advise", "advise_verify", "oom", "diff"}
m.check(cannot <= unable, "never said that they cannot tell:", cannot - unable)
m.check({"table", "tree", "peak", "leaks", "diff", "ranks", "query"} <= cut, "never cut:", cut)
m.finish(4000)
