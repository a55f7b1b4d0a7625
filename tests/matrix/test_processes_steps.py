#!/usr/bin/env python3
"""Traces merged from programs whose steps are not the same: what each keeps from step to step is judged by its own steps.

Each merge must advise of these what its programs are advised alone, and no more."""

import json
import os
import subprocess

import mt

RECORDINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recordings")
BY_STEPS = {"stop_keeping", "detach", "clone", "load_on_demand"}
# two programs, and what one of them is to be advised (as test_advice.py has it)
MERGED = (
    ("keep_features", "mlp_wide_late", {"stop_keeping"}),
    ("mlp_slice_kept", "gpt_adamw", {"stop_keeping"}),
    ("attention_kept", "cnn_grad", {"stop_keeping"}),  # the second has no steps
    ("cnn_preload", "gpt_adamw", {"load_on_demand"}),
    ("gpt_total", "mlp_adam", {"detach"}),  # the first has no steps
    ("mlp_slice_graph", "vit", {"detach"}),
    ("mlp_two_alike", "keep_outputs", {"load_on_demand", "stop_keeping"}),
    ("cnn_total", "keep_tokens", {"detach", "stop_keeping"}),
    ("gan", "gan", set()),  # two optimizers in a round
    ("gan", "keep_hooks_not", set()),
    ("gpt_eval_held", "gpt_adamw", set()),
)

m = mt.Matrix()


def events_of(name):
    for folder in ("advice", "categories"):
        path = os.path.join(RECORDINGS, folder, name + ".json.zst")
        if os.path.exists(path):
            text = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
            return [e for e in json.loads(text)["traceEvents"] if e.get("ph") != "M"]
    raise FileNotFoundError(name)


def moved(events, pid, delay):
    """The events of a process that is called pid and began its recording at that time, us."""
    first = min(e["ts"] for e in events if e["ph"] in "Xi")
    return [e | {"pid": pid, "ts": round(e["ts"] - first + 1000 + delay, 3)} for e in events]


def advised(name, events):
    with open(name + ".json", "w") as f:
        json.dump({"traceEvents": events}, f)
    return {row["advice"] for row in m.rows("advise", name + ".json", "--all") if row["applies"]} & BY_STEPS


for a, b, want in MERGED:
    first, second = events_of(a), events_of(b)
    alone = advised(a, first) | advised(b, second)
    m.check(alone == want, a, b, "alone", sorted(alone), "not", sorted(want))
    for delay in (0, 3000):
        got = advised(f"{a}+{b}-{delay}", moved(first, 1011, 0) + moved(second, 1012, delay))
        m.check(got == want, a, b, "merged,", delay, "us apart", sorted(got), "not", sorted(want))
m.finish(33)
