#!/usr/bin/env python3
"""Models that a recording builds itself, in many ways, and the same built before it: what is said to be older, and
what of the blocks is a parameter or the state of an optimizer, against what the programs said (tests/recordings/older).
"""

import json
import os

import mt

RECORDED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "recordings", "older")
SAID = {"p": "parameter", "o": "optimizer state", "g": "gradient"}

m = mt.Matrix()


def older(run, older_b):
    cpu = m.query(f"SELECT * FROM v_device WHERE run = '{run}'")[0]
    m.check(cpu["older_used"] == (older_b > 0), run, "older blocks are used:", cpu["older_used"], older_b)
    if older_b:
        least, most = cpu["older_least_b"], cpu["older_most_b"]
        m.check(least <= older_b and (most is None or older_b <= most), run, "estimate", least, most, "truth", older_b)
    code, out, _ = m.run("check", run, "--max-peak", str(cpu["peak_b"]))
    m.check(code == (3 if older_b else 0), run, "check", code, out)


def categories(run, said):
    blocks = m.query(f"SELECT bytes_b, category, why FROM v_alloc WHERE run = '{run}' AND alloc_record IS NOT NULL ORDER BY alloc_record")
    m.check(len(blocks) == len(said), run, "blocks", len(blocks), len(said))
    for block, word in zip(blocks, said):
        got = block["category"]
        if word in SAID:
            m.check(got == SAID[word], run, "is", got, block["why"], "not", SAID[word], block["bytes_b"])
        else:
            m.check(got not in ("parameter", "optimizer state"), run, "is no", got, block["why"], block["bytes_b"])


with open(os.path.join(RECORDED, "truth.json")) as f:
    truth = json.load(f)
for run, said in truth.items():
    m.run("import", f"{RECORDED}/{run}.json.zst", "--name", run)
    older(run, said["older_b"])
    if "blocks" in said:
        categories(run, said["blocks"])
m.finish(1000)
