#!/usr/bin/env python3
"""Tensors of blocks: as the programs that were recorded saw them, and the same in every report."""

import json
import math
import os

import mt

RECORDED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "recordings", "tensors")
# Of the bytes that ops returned as tensors: those whose tensor is known, at the peak and in all, %, at the least.
LEAST = {"channels_last": (81, 84), "recurrent": (100, 93), "tables": (100, 93), "types": (70, 72), "attention": (100, 96)}
OTHERS = (100, 99.9)
KEYS = ("tensor", "dtype", "dtype,tensor", "tensor,name", "site,dtype", "tensor,step", "dtype,thread", "category,tensor", "size,tensor")

m = mt.Matrix()


def parts(tensor):
    shape, dtype = tensor.split("] ")
    return json.loads(shape + "]"), dtype


def seen_as(tensor, shape, dtype):
    """The same, or a view of all of it: what an op returns may have another shape than what it allocates."""
    own, own_type = parts(tensor)
    return own_type == dtype and (own == shape or math.prod(own) == math.prod(shape))


def known(run, truth):
    """How much of what was seen is known. What is known is right."""
    peak = m.query(f"SELECT peak_record FROM v_device WHERE run = '{run}'")[0]["peak_record"]
    blocks = m.query(f"SELECT * FROM v_alloc WHERE run = '{run}' AND alloc_record IS NOT NULL ORDER BY alloc_record")
    m.check(len(blocks) == len(truth), run, "blocks", len(blocks), len(truth))
    got, all_b = [0, 0], [0, 0]
    for b, seen in zip(blocks, truth):
        at_peak = b["alloc_record"] <= peak and (b["freed_record"] is None or b["freed_record"] > peak)
        m.check(b["tensor"] is None or b["dtype"] == parts(b["tensor"])[1], run, "type", b)
        if seen is None:
            continue
        size, shape, dtype = seen
        m.check(size == b["bytes_b"], run, "bytes", b, seen)
        m.check(b["tensor"] is None or seen_as(b["tensor"], shape, dtype), run, "tensor", b, seen)
        for i, counts in enumerate((at_peak, True)):
            all_b[i] += size * counts
            got[i] += size * counts * (b["tensor"] is not None)
    return [100 * g / a for g, a in zip(got, all_b)]


def reports_agree(run):
    """Sums over tensors are those of the device, whoever is asked."""
    device = m.query(f"SELECT * FROM v_device WHERE run = '{run}'")[0]
    whole = m.rows("table", run, "--by", "name")
    for key in KEYS:
        peak = m.rows("peak", run, "--by", key)
        m.check(mt.total(peak, "at_peak_b") == device["peak_b"], run, "peak", key)
        rows = m.rows("table", run, "--by", key)
        for column in ("self_alloc_b", "self_freed_b", "self_at_peak_b", "self_at_end_b", "self_alloc_n"):
            m.check(mt.total(rows, column) == mt.total(whole, column), run, "table", key, column)
        if key in ("tensor", "dtype"):
            stored = m.query(f"SELECT coalesce({key}, '[unknown]') AS k, sum(bytes_b) AS b, count(*) AS n FROM v_alloc WHERE run = '{run}' "
                             "AND alloc_record IS NOT NULL AND alloc_in IS NOT NULL GROUP BY 1")
            want = {r["k"]: (r["b"], r["n"]) for r in stored}
            got = {r[key]: (r["self_alloc_b"], r["self_alloc_n"]) for r in rows if r["self_alloc_b"] and r[key] != "[outside ops]"}
            m.check(got == want, run, "table and blocks", key, mt.differences(got, want))
            at = {r[key]: r["at_peak_b"] for r in peak}
            m.check({r[key]: r["self_at_peak_b"] for r in rows if r["self_at_peak_b"]} == at, run, "table and peak", key)
            bands = m.rows("timeline", run, "--by", key, "--top", "1000")
            live = {r[key]: r["live_b"] for r in bands if r["max_ns"] == device["peak_ns"] and r["live_b"]}
            m.check(live == at, run, "timeline and peak", key, mt.differences(live, at))
    m.run("leaks", run, "--by", "tensor")
    m.run("diff", run, "cnn", "--by", "dtype")


def recorded():
    with open(os.path.join(RECORDED, "truth.json")) as f:
        truth = json.load(f)
    for run, blocks in truth.items():
        m.run("import", f"{RECORDED}/{run}.json.zst", "--name", run)
        got, least = known(run, blocks), LEAST.get(run, OTHERS)
        m.check(all(g >= l for g, l in zip(got, least)), run, "known at the peak, in all", got, least)
        reports_agree(run)


def formats():
    """The same in every format; and sizes that an op was asked for stand for shapes it has none of."""
    _, out, _ = m.run("peak", "cnn", "--by", "tensor", "--limit", "9")
    m.check("[24, 24, 3, 3] float32" in out, "table", out)
    for name in ("csv", "tsv", "json", "markdown"):
        _, out, _ = m.run("peak", "cnn", "--by", "tensor", "--format", name)
        m.check("[24, 24, 3, 3] float32" in out, name, out[:300])
    shapes = {r["shape"] for r in m.rows("table", "cnn", "--by", "shape,name") if r["name"] == "aten::empty"}
    m.check("([4, 12, 20, 20], [], [], [], [], [])" in shapes and not any(s.startswith("[[[") for s in shapes), "aten::empty", shapes)
    _, torch, _ = m.run("table", "cnn", "--compat", "torch", "--by", "shape", "--limit", "1000", "--format", "csv")
    m.check("[[], [], [], [], [], []]" in torch and "(" not in "".join(line.split(",", 1)[1] for line in torch.split("\n")[1:] if "," in line),
            "--compat has the shapes that were recorded", torch[:300])


def refused():
    """Shapes that were not recorded are no tensors."""
    m.run("import", os.path.join(RECORDED, "..", "categories", "cnn_sgd.json.zst"), "--name", "bare")
    for report in ("peak", "table", "leaks", "timeline"):
        _, _, err = m.run(report, "bare", "--by", "tensor", codes=(mt.refusal(report),))
        m.check("record_shapes=True" in err, report, err)
    m.run("table", "cnn", "--by", "tensor,shape", codes=(2,))


recorded()
formats()
refused()
m.finish(2000)
