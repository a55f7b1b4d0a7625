#!/usr/bin/env python3
"""Sampling heap profiles of V8: what each function has itself and with all it calls is what an own walk over the JSON adds up."""

import collections
import gzip
import json
import os
import random

import mt

SAMPLE = os.path.join(os.environ["SAMPLES"], "heap", "retain.heapprofile")
m = mt.Matrix()


def name(frame):
    """As call paths name it: "app.js:12 load"; lines count from 0 in the file."""
    url, line = frame["url"], frame["lineNumber"] + 1
    if url and not url.startswith("node:"):
        url = url.split("?")[0].split("/")[-1]
    return (f"{url}:{line} " if url and line else f"{url} " if url else "") + (frame["functionName"] or "(anonymous)")


def own_walk(path):
    """(self, inclusive) by name; a function that calls itself counts once."""
    own, inclusive = collections.Counter(), collections.Counter()
    with open(path) as f:
        todo = [(node, ()) for node in json.load(f)["head"]["children"]]
    while todo:
        node, around = todo.pop()
        path = around + (name(node["callFrame"]),)
        own[path[-1]] += node["selfSize"]
        for function in set(path):
            inclusive[function] += node["selfSize"]
        todo += [(child, path) for child in node["children"]]
    return +own, +inclusive


def imported(path, run, *options):
    m.offered += 1
    m.taken += m.run("import", path, "--name", run, *options, codes=(0,))[0] == 0


def compare(run, path, column):
    own, inclusive = own_walk(path)
    rows = m.rows("table", run, "--by", "name")
    for figure, want in ((f"self_{column}", own), (column, inclusive)):
        got = {row["name"]: row[figure] for row in rows if row[figure]}
        m.check(got == dict(want), run, figure, mt.differences(got, dict(want)))
    device = m.query(f"SELECT d.* FROM device d JOIN run r ON r.id = d.run_id WHERE r.name = '{run}'")[0]
    m.check(device[column] == sum(own.values()), run, column, device[column], sum(own.values()))
    m.check(device["peak_b"] is None and device["alloc_n"] is None and device["at_end_n"] is None, run, "what it does not say")


imported(SAMPLE, "sample")
compare("sample", SAMPLE, "at_end_b")
imported(SAMPLE, "all", "--values", "allocated")
compare("all", SAMPLE, "alloc_b")

# Any tree: order of members, blanks and compression change nothing.
rng = random.Random(3)


def made(depth):
    url = rng.choice(("", "node:fs", "file:///home/you/a.mjs", "https://x.io/b.js?v=1", "/home/you/c.cjs"))
    frame = {"functionName": rng.choice("abcde") if rng.random() < 0.9 else "", "scriptId": str(rng.randrange(3)), "url": url,
             "lineNumber": rng.randrange(4) if url else -1, "columnNumber": 3}
    children = [made(depth + 1) for _ in range(rng.randrange(4 if depth < 7 else 1))]
    node = list({"callFrame": frame, "selfSize": rng.randrange(1 << 20), "id": depth, "children": children}.items())
    rng.shuffle(node)
    return dict(node)


tree = {"head": {"callFrame": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1},
                 "selfSize": 0, "id": 1, "children": [made(0) for _ in range(20)]}, "samples": []}
with open("made.heapprofile", "w") as f:
    json.dump(tree, f)
with gzip.open("made.gz", "wt") as f:
    json.dump(tree, f, indent=1)
for run, path in (("made", "made.heapprofile"), ("packed", "made.gz")):
    imported(path, run)
    compare(run, "made.heapprofile", "at_end_b")
m.finish(15)
