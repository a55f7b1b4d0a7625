#!/usr/bin/env python3
"""What blocks are for: as the programs that were recorded said themselves, by hooks, and the same in every report."""

import collections
import gzip
import json
import os
import re
import subprocess

import inputs
import mt

SAMPLES = os.environ["SAMPLES"]
RECORDED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "recordings", "categories")
LOOPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "loops")
ADVICE = os.path.join(os.path.dirname(RECORDED), "advice")
# Of each allocation, in order: what hooks said of it.
SAID = {"p": "parameter", "b": "parameter", "g": "gradient", "o": "optimizer state", "i": "input", "s": "graph"}
# Bytes that agree at the peak and over time, %, at the least.
LEAST = {"lstm_adam": (99.7, 99.7), "encoder_adamw": (99.9, 99.88)}
OTHERS = (99.9, 99.9)
# Of each allocation, in order: what PyTorch's own categories (torch.profiler's memory timeline) said of it at the peak.
LABELS = {"p": "parameter", "o": "optimizer state", "i": "input", "t": "temporary", "a": "activation", "g": "gradient",
          "d": "autograd detail"}
# Bytes at the peak that agree with it, %, of all, and of those that it does not call unknown. Where less: see docs/categories.md.
PYTORCH = {"cnn_nograd": (44.13, 100), "cnn_nograd_cold": (45.36, 99.95), "cnn_sgd": (87.79, 99.99), "cnn_sgd_keep_warm": (87.67, 100),
           "cnn_sgd_warm": (87.67, 100), "encoder_adamw": (100, 100), "gpt_accum": (100, 100), "gpt_adamw": (100, 100),
           "gpt_adamw_warm": (100, 100), "gpt_ckpt": (77.27, 77.26), "lstm_adam": (89.27, 100), "mlp_adam": (87.57, 87.57),
           "mlp_adam_keep": (87.57, 87.57), "mlp_adam_warm": (63.79, 63.79)}
PARTS = {"parameters_b": ["parameter"], "gradients_b": ["gradient"], "optimizer_state_b": ["optimizer state"],
         "activations_b": ["activation", "activation (recomputed)", "activation (kept)"], "older_b": ["[before trace]"]}

# Words of --category, and what they stand for.
WORDS = {"parameters": {"parameter"}, "gradients": {"gradient"}, "optimizer_state": {"optimizer state"}, "inputs": {"input"},
         "activations": {"activation", "activation (recomputed)", "activation (kept)"}, "kept": {"activation (kept)"}, "recomputed": {"activation (recomputed)"},
         "gradients,temporary": {"gradient", "temporary"}, "other": {"input", "temporary", "autograd detail", "[unknown]"}}
OLDER = {"parameters", "optimizer_state"}  # of which some may be older than the recording

m = mt.Matrix()


def agreement(run, said):
    """Of bytes that hooks name, or that are said to be held by the graph."""
    blocks = m.query(f"SELECT bytes_b, alloc_record, freed_record, category, held_by FROM v_alloc WHERE run = '{run}' "
                     "AND alloc_record IS NOT NULL ORDER BY alloc_record")
    peak = m.query(f"SELECT peak_record FROM v_device WHERE run = '{run}'")[0]["peak_record"]
    m.check(len(blocks) == len(said), run, "blocks", len(blocks), len(said))
    end = 1 + max(max(b["alloc_record"], b["freed_record"] or 0) for b in blocks)
    good, all_b = [0, 0], [0, 0]
    for block, word in zip(blocks, said):
        got, want = block["held_by"] if block["held_by"] == "graph" else block["category"], SAID.get(word)
        first, last = block["alloc_record"], end if block["freed_record"] is None else block["freed_record"]
        if want is None and got != "graph":
            continue
        for i, weight in enumerate((first <= peak < last, last - first)):
            all_b[i] += block["bytes_b"] * weight
            good[i] += block["bytes_b"] * weight if got == want else 0
    return [100 * g / a for g, a in zip(good, all_b)]


def as_pytorch(run, labels):
    """Bytes alive at the peak that PyTorch's own categories call the same; where they differ, it is in what is known."""
    blocks = m.query(f"SELECT bytes_b, alloc_record, freed_record, category FROM v_alloc WHERE run = '{run}' "
                     "AND alloc_record IS NOT NULL ORDER BY alloc_record")
    peak = m.query(f"SELECT peak_record FROM v_device WHERE run = '{run}'")[0]["peak_record"]
    m.check(len(blocks) == len(labels), run, "blocks that PyTorch labels", len(blocks), len(labels))
    both, differs = collections.Counter(), collections.Counter()
    for block, letter in zip(blocks, labels):
        if block["alloc_record"] <= peak and (block["freed_record"] is None or block["freed_record"] > peak):
            got, want = (block["category"] or "[unknown]").replace(" (recomputed)", ""), LABELS.get(letter, "[unknown]")
            both[got == want, want == "[unknown]"] += block["bytes_b"]
            differs[got, want] += block["bytes_b"] if got != want else 0
    same, known = both[True, False], both[True, False] + both[False, False]
    shares = (100 * (same + both[True, True]) / sum(both.values()), 100 * same / known)
    m.check(all(abs(s - w) < 0.01 for s, w in zip(shares, PYTORCH[run])), run, "agrees with PyTorch", shares, PYTORCH[run])
    other = sum(differs.values())
    known = sum(n for (got, want), n in differs.items() if got == "temporary" or (got, want) == ("activation", "autograd detail")
                or (got, want) == ("activation", "temporary"))
    m.check(other - known <= 0.0005 * sum(both.values()), run, "differs from PyTorch elsewhere", differs)


def by_category(report, run, column, *args):
    return {r["category"]: r[column] for r in m.rows(report, run, "--by", "category", *args) if r[column]}


def reports_agree(run):
    """Sums over categories are those of the device, whoever is asked."""
    device = m.query(f"SELECT * FROM v_device WHERE run = '{run}'")[0]
    answer = m.json("peak", run, "--by", "category", "--limit", "0")
    peak = {row["category"]: row["at_peak_b"] for row in answer["rows"] if row["at_peak_b"]}
    m.check(sum(peak.values()) == device["peak_b"], run, "peak", peak, device["peak_b"])
    for part, words in PARTS.items():
        m.check(answer["totals"][part] == sum(peak.get(w, 0) for w in words), run, "peak: totals", part, answer["totals"], peak)
    m.check(sum(answer["totals"][p] for p in (*PARTS, "other_b")) == device["peak_b"], run, "peak: totals", answer["totals"])
    m.check(by_category("table", run, "self_at_peak_b") == peak, run, "table and peak", peak)
    bands = [r for r in m.rows("timeline", run, "--by", "category", "--top", "20") if r["max_ns"] == answer["totals"]["at_ns"]]
    m.check({r["category"]: r["live_b"] for r in bands if r["live_b"]} == peak, run, "timeline and peak", peak, bands)
    blocks = m.query(f"SELECT category, sum(bytes_b) AS alloc_b, sum(iif(freed_ns IS NULL, bytes_b, 0)) AS at_end_b FROM v_alloc "
                     f"WHERE run = '{run}' AND alloc_record IS NOT NULL GROUP BY category")
    named = {b["category"] or "[unknown]": b for b in blocks}
    for column in ("alloc_b", "at_end_b"):
        want = {c: b[column] for c, b in named.items() if b[column]}
        got = {c: v for c, v in by_category("table", run, "self_" + column).items() if c != "[before trace]"}
        m.check(got == want, run, "table and blocks:", column, got, want)
    rules_agree(run, device)
    for column in ("self_alloc_b", "self_freed_b", "self_at_peak_b", "self_at_end_b"):
        whole = mt.total(m.rows("table", run, "--by", "phase"), column)
        for key in ("category", "category,name", "top,category", "category,step", "category,thread", "why", "category,why", "why,step"):
            m.check(mt.total(m.rows("table", run, "--by", key), column) == whole, run, key, column, whole)
    inclusive = collections.Counter()
    for row in m.rows("table", run, "--by", "name,category"):
        inclusive[row["name"]] += row["alloc_b"]
    for row in m.rows("table", run, "--by", "name"):
        m.check(inclusive[row["name"]] == row["alloc_b"], run, "inclusive", row["name"], inclusive[row["name"]], row["alloc_b"])


def rules_agree(run, device):
    """--by why, alone and beside the category: what v_alloc says of single blocks, whoever is asked."""
    keys = ("why", "category")
    live = f"alloc_record <= {device['peak_record']} AND coalesce(freed_record, 1 << 60) > {device['peak_record']}"
    blocks = m.query(f"SELECT why, coalesce(category, '[unknown]') AS category, sum(bytes_b) AS alloc, sum(iif({live}, bytes_b, 0)) AS at_peak, "
                     f"sum(iif(freed_record IS NULL, bytes_b, 0)) AS at_end FROM v_alloc WHERE run = '{run}' AND alloc_record IS NOT NULL GROUP BY 1, 2")
    m.check(all(b["why"] for b in blocks), run, "blocks without a rule", blocks)

    def by_rule(rows, column):
        sums = collections.Counter()
        for row in rows:
            if row[keys[0]] != "[before trace]":
                sums[tuple(row[k] for k in keys)] += row[column] or 0
        return {k: v for k, v in sums.items() if v}

    want = {column: by_rule(blocks, column) for column in ("alloc", "at_peak", "at_end")}
    table = m.rows("table", run, "--by", "category,why")
    for column in want:
        m.check(by_rule(table, f"self_{column}_b") == want[column], run, "--by category,why: table and blocks", column)
    m.check(by_rule(m.rows("peak", run, "--by", "why,category"), "at_peak_b") == want["at_peak"], run, "--by why,category: peak and blocks")
    bands = m.rows("timeline", run, "--by", "category,why", "--top", "50")
    m.check(by_rule([b for b in bands if b["max_ns"] == device["peak_ns"]], "live_b") == want["at_peak"], run, "--by category,why: timeline")
    held = m.rows("leaks", run, "--by", "category,why", "--all")
    m.check(by_rule(held, "at_end_b") == want["at_end"], run, "--by category,why: leaks", held, want["at_end"])
    other = f"{SAMPLES}/cnn_b16/trace.json.gz"
    peaks = [r for r in m.rows("diff", run, other, "--by", "category,why") if r["section"] == "peak" and r["why"] != "[before trace]"]
    m.check(len(peaks) > 3 and all((r["base_at_peak_b"] or 0) == want["at_peak"].get((r["why"], r["category"]), 0) for r in peaks), run,
            "--by category,why: diff", peaks, want["at_peak"])
    narrowed = m.rows("peak", run, "--category", "gradients", "--by", "why")
    m.check({r["why"] for r in narrowed} <= {"R5", "R5b", "R5c"}, run, "gradients by why", narrowed)


def levels(run, names):
    """Of blocks of these categories, in the order of records: record, time, level."""
    blocks = m.query(f"SELECT bytes_b, alloc_record, alloc_ns, freed_record, freed_ns, category FROM v_alloc WHERE run = '{run}' "
                     "AND alloc_record IS NOT NULL")
    changes, level = [], 0
    for b in blocks:
        if (b["category"] or "[unknown]") in names:
            changes.append((b["alloc_record"], b["alloc_ns"], b["bytes_b"]))
            if b["freed_record"] is not None:
                changes.append((b["freed_record"], b["freed_ns"], -b["bytes_b"]))
    out = []
    for record, t_ns, by in sorted(changes):
        level += by
        out.append((record, t_ns, level))
    return out


def narrowed(run):
    """--category: all reports, and rules, are about these blocks as if there were no others."""
    for word, names in WORDS.items():
        found = levels(run, names)
        peak = max([0, *(l[2] for l in found)])
        at = next((l[1] for l in found if l[2] == peak), None)
        answer = m.json("peak", run, "--category", word, "--by", "category")
        m.check(answer["totals"]["peak_b"] == peak, run, word, "peak", answer["totals"], peak)
        m.check(not peak or answer["totals"]["at_ns"] == at, run, word, "when", answer["totals"], at)
        m.check((mt.total(answer["rows"], "at_peak_b") or 0) == peak, run, word, "peak: rows", answer["rows"], peak)
        m.check({r["category"] for r in answer["rows"]} <= names, run, word, "peak: categories", answer["rows"])
        exact = [r["level_b"] for r in m.rows("timeline", run, "--category", word, "--exact")]
        m.check(exact == [l[2] for l in found], run, word, "timeline --exact", exact[-3:], found[-3:])
        drawn = m.rows("timeline", run, "--category", word)
        m.check(max(r["max_b"] for r in drawn) == peak, run, word, "timeline", peak)
        whole, others = ({r["category"]: r for r in m.rows("table", of, "--by", "category")} for of in (run, "mlp_adam"))
        for column in ("self_alloc_b", "self_freed_b", "self_at_end_b"):
            want = sum(whole[n][column] for n in names if n in whole)
            for key in ("name", "phase", "category,top", "shape", "step", "thread"):
                got = mt.total(m.rows("table", run, "--category", word, "--by", key), column) or 0
                m.check(got == want, run, word, column, key, got, want)
        for key in ("name", "category", "top,step"):
            got = mt.total(m.rows("table", run, "--category", word, "--by", key), "self_at_peak_b") or 0
            m.check(got == peak, run, word, "table: at its peak", key, got, peak)
        got = mt.total(m.rows("tree", run, "--category", word), "self_alloc_b")
        want = sum(whole[n]["self_alloc_b"] for n in names if n in whole)
        m.check(got == want, run, word, "tree", got, want)
        end = m.json("leaks", run, "--category", word, "--all")["totals"]["at_end_b"]
        m.check(end == (found[-1][2] if found else 0), run, word, "leaks", end)
        for limit, code in ((peak, 0), (peak - 1, 1)):
            if limit >= 0:
                open_ = code == 0 and OLDER & set(word.split(",")) and "warm" in run
                m.run("check", run, "--category", word, "--max-peak", str(limit), codes=(3 if open_ else code,))
        total = m.rows("diff", run, "mlp_adam", "--category", word, "--section", "total")
        m.check(total[0]["base_at_peak_b"] == peak, run, word, "diff", total)
        for key in ("category", "category,name"):
            ops = m.rows("diff", run, "mlp_adam", "--category", word, "--section", "op", "--by", key, "--all")
            m.check({r["category"] for r in ops} <= names, run, word, "diff: categories", key, ops)
            for column in ("self_alloc", "self_net"):
                want = sum(others[n][column + "_b"] for n in names if n in others) - sum(whole[n][column + "_b"] for n in names if n in whole)
                got = mt.total(ops, column + "_delta_b") or 0
                m.check(got == want, run, word, "diff: rows", key, column, got, want)


def recorded():
    with open(os.path.join(RECORDED, "truth.json")) as f:
        truth = json.load(f)
    with open(os.path.join(RECORDED, "pytorch.json")) as f:
        labels = json.load(f)
    m.check(set(labels) == set(truth) == set(PYTORCH), "recordings with labels", labels.keys())
    for run, said in truth.items():
        m.run("import", f"{RECORDED}/{run}.json.zst", "--name", run)
        got, least = agreement(run, said), LEAST.get(run, OTHERS)
        m.check(all(g >= l for g, l in zip(got, least)), run, "agrees at the peak, over time", got, least)
        as_pytorch(run, labels[run])
        reports_agree(run)


def said_of(run, said, least=4):
    """What the program itself said of its blocks, to the last: so many parameters and gradients at the least."""
    m.run("import", f"{RECORDED}/{run}.json.zst", "--name", run)
    blocks = m.query(f"SELECT bytes_b, alloc_record, category, why FROM v_alloc WHERE run = '{run}' AND alloc_record IS NOT NULL "
                     "AND NOT alloc_unseen ORDER BY alloc_record")
    m.check(len(blocks) == len(said) and min(said.count("p"), said.count("g")) >= least, run, "blocks", len(blocks), len(said))
    for n, (block, letter) in enumerate(zip(blocks, said)):
        m.check(letter == "-" or block["category"] == SAID[letter], run, "block", n, block, SAID.get(letter))
    return blocks


def rebuilt():
    """Models that are built again in one recording, or put into one, and an optimizer whose state was loaded."""
    with open(os.path.join(RECORDED, "rebuilt.json")) as f:
        truth = json.load(f)
    m.check(len(truth) == 11, "recordings of models that are built again", truth.keys())
    for run, said in truth.items():
        blocks = said_of(run, said)
        parameters = sum(b["category"] == "parameter" for b in blocks)
        m.check(run != "adapted" or parameters == said.count("p"), run, "data are no parameters", parameters, said.count("p"))
        _, out, _ = m.run("info", run)
        m.check("before the recording" not in out, run, "nothing is older", out)


def sharded():
    """Under FSDP gradients are as large as parameters put together, which says nothing of older ones."""
    with open(os.path.join(RECORDED, "sharded.json")) as f:
        said = json.load(f)["sharded"]
    blocks = said_of("sharded", said)
    shards = sum(b["bytes_b"] for b, letter in zip(blocks, said) if letter == "p")
    m.check(m.json("peak", "sharded", "--category", "parameters")["totals"]["peak_b"] == shards > 0, "shards", shards)
    _, out, _ = m.run("info", "sharded")
    m.check("before the recording" not in out, "nothing is older", out)


def reduced():
    """Buckets of DistributedDataParallel are gradients, or as large as all of these; no others are, and no batch holds them."""
    with open(os.path.join(RECORDED, "reduced.json")) as f:
        truth = json.load(f)
    m.check(len(truth) == 3, "recordings with buckets", truth.keys())
    for run, said in truth.items():
        blocks = said_of(run, said, least=0)
        buckets = [b["bytes_b"] for b in blocks if b["why"] == "R5c"]
        of_one = said[:said.index("o")] if run == "reduced" else said
        first = 0 if run == "reduced_later" else 1  # built once, and again in the second step
        all_b = sum(b["bytes_b"] for b, letter in zip(blocks, of_one) if letter == "g") / (1 if run == "reduced" else first + 1)
        m.check(len(buckets) == first + 2 and sum(buckets) == (first + 1) * all_b, run, "buckets", buckets, all_b)
        m.check(run == "reduced" or all((letter == "g") == (b["category"] == "gradient") for b, letter in zip(blocks, said)), run, "gradients", blocks)
        reports_agree(run)
        parts = m.json("peak", run)["totals"]
        smaller = m.rows("advise", run, "--only", "accumulate", "--all", "--min-saving", "0")[0]["new_peak_b"]
        held = sum(parts[p] or 0 for p in ("parameters_b", "gradients_b", "optimizer_state_b"))
        m.check(smaller is None or smaller >= held, run, "smaller batches have the same buckets", smaller, held)
    weights = sum(b["bytes_b"] for b, letter in zip(said_of("reduced", truth["reduced"]), truth["reduced"]) if letter == "p")
    older = m.query("SELECT older_least_b, older_most_b FROM device JOIN run ON run.id = run_id WHERE run.name = 'reduced_later'")[0]
    m.check(list(older.values()) == [weights, weights], "gradients in buckets of the recording are not older", older, weights)


def says_it():
    """In the head of peak, of runs that hold a model; and what an older memtool has imported has none."""
    _, out, _ = m.run("peak", "mlp_adam")
    m.check(out.split("\n")[1] == "parameters 3.527 MiB, gradients 3.527 MiB, optimizer state 7.055 MiB, other 2.002 MiB", "head of peak", out)
    m.run("diff", "mlp_adam", "mlp_adam_keep", "--by", "category")
    line = ("parameters 2.106 MiB, gradients 0 -> 1.609 MiB, optimizer state 4.212 MiB, activations 15.94 -> 4.203 MiB, "
            "other 2.008 -> 1.138 MiB")
    _, out, _ = m.run("diff", "gpt_adamw", "gpt_ckpt")
    m.check(out.split("\n")[1] == line, "head of diff", out)
    totals = m.json("diff", "gpt_adamw", "gpt_ckpt")["totals"]
    for side, run in (("base_", "gpt_adamw"), ("new_", "gpt_ckpt")):
        peak = m.json("peak", run)["totals"]
        m.check(all(totals[side + part] == peak[part] for part in (*PARTS, "other_b")), "totals of diff", totals, peak)
    with gzip.open(f"{SAMPLES}/basic/trace.json.gz", "rt") as file:
        trace = json.load(file)
    for event in trace["traceEvents"]:
        event.get("args", {}).pop("Addr", None)
    with open("no_addresses.json", "w", encoding="utf-8") as file:
        json.dump(trace, file)
    _, out, _ = m.run("diff", "mlp_adam", "no_addresses.json", codes=(0,))
    m.check(" peak 16.11 MiB -> " in out and "parameters" not in out, "diff with a run without categories", out)
    _, out, _ = m.run("info", "mlp_adam")
    m.check("parameters 3.527 MiB, gradients 3.527 MiB, optimizer state 7.055 MiB, other 2.002 MiB" in out, "info", out)
    m.run("leaks", "gpt_accum", "--by", "category")
    m.run("table", "mlp_adam", "--by", "category,shape", codes=(2,))


def refused():
    """What a run cannot tell by category is said, and no rule passes for it."""
    snapshot, heap = f"{SAMPLES}/snapshots/no_frames.pickle", f"{SAMPLES}/heap/heaptrack.zst"
    m.run("peak", f"{SAMPLES}/timelines/adam.raw.json.gz", "--by", "why", codes=(2,))
    with open("own.txt", "w") as f:
        f.write("all = .\n")
    _, _, err = m.run("peak", snapshot, "--categories", "own.txt", "--by", "category,why", codes=(2,))
    m.check("without stacks" in err, "names of one's own are no rules", err)
    for run in (snapshot, heap):
        _, _, err = m.run("peak", run, "--by", "why", codes=(2,))
        m.check("what its memory is for" in err, run, "--by why", err)
        for report in ("table", "tree", "peak", "timeline", "leaks"):
            _, _, err = m.run(report, run, "--category", "activations", codes=(mt.refusal(report),))
            m.check("what" in err and "memory is for" in err, report, run, err)
        m.run("check", run, "--category", "activations", "--max-peak", "1TiB", codes=(3,))
    m.run("check", "mlp_adam", "--category", "gradients", "--max-rss", "1GiB", codes=(2,))
    _, _, err = m.run("peak", "mlp_adam", "--category", "activatoins", codes=(2,))
    m.check("Did you mean activation" in err, "an unknown category", err)
    m.run("peak", "mlp_adam", "--category", "activations,activation", codes=(2,))
    m.run("export", "--baseline", "mlp_adam", "-o", "whole.json")
    _, out, _ = m.run("check", "mlp_adam_keep", "--baseline", "whole.json", "--category", "gradients", "--max-peak-growth", "5%", codes=(3,))
    m.check("does not keep categories apart" in out, "a baseline without categories", out)
    _, out, _ = m.run("check", "gpt_adamw", "--baseline", "gpt_ckpt", "--category", "activations", "--max-peak-growth", "5%", codes=(1,))
    m.check("memtool diff gpt_ckpt gpt_adamw --category activations" in out, "where to look", out)
    with open("rules.json", "w") as f:
        json.dump({"schema": "memtool.rules", "version": 1, "rules": [{"category": "optimizer state", "max-peak": "1MiB"},
                                                                     {"category": "gradients", "max-at-end": "1GiB"}]}, f)
    _, out, _ = m.run("check", "mlp_adam", "--rules", "rules.json", "--format", "json", codes=(1,))
    rows = json.loads(out)["rows"]
    m.check([r["verdict"] for r in rows] == ["fail", "pass"], "rules of a file", rows)


def older():
    """What is older than the recording is in no category: no rule about one that it may be of passes, others are as they are."""
    def judged(code, *args):
        got, out, _ = m.run("check", *args, codes=(0, 1, 3))
        m.check(got == code, "check", args, "exit", got, code, out)
        m.check(code != 3 or "is in no category" in out and "record the building" in out, "check", args, "does not say why", out)
        m.check("estimate" not in out, "check", args, "estimates are of no category", out)

    m.run("import", f"{RECORDED}/cnn_nograd.json.zst", "--name", "told", "--base", "1MiB")
    m.run("import", f"{RECORDED}/cnn_nograd.json.zst", "--name", "told_none", "--base", "0")
    trace = json.loads(subprocess.run(["zstd", "-dc", f"{RECORDED}/mlp_adam.json.zst"], capture_output=True, check=True).stdout)
    for e in trace["traceEvents"]:
        e.get("args", {}).pop("Total Allocated", None)
    last = max((e for e in trace["traceEvents"] if e["name"] == "[memory]"), key=lambda e: e["ts"])
    trace["traceEvents"].append(last | {"ts": last["ts"] + 1, "args": last["args"] | {"Addr": 64, "Bytes": -(1 << 20), "Ev Idx": 1 << 30}})
    with open("frees_older.json", "w") as f:
        json.dump(trace, f)
    m.run("import", "frees_older.json", "--name", "frees_older")
    judged(3, "frees_older", "--category", "parameters", "--max-peak", "3.6MiB")
    judged(0, "frees_older", "--category", "parameters", "--max-peak", "4.6MiB")
    for figure in ("--max-peak", "--max-at-end"):
        for run in ("cnn_nograd", "mlp_adam_warm", "gpt_adamw_warm", "cnn_sgd_keep_warm"):
            for words in ("parameters", "optimizer-state", "activations,parameters"):
                judged(3, run, "--category", words, figure, "1TiB")
                judged(3, "mlp_adam", run, "--category", words, figure, "1TiB")
        judged(0, "mlp_adam", "--category", "parameters", figure, "3.6MiB")
        judged(3, "told", "--category", "parameters", figure, "1KiB")
        judged(0, "told", "--category", "parameters", figure, "2MiB")  # all of it would keep the limit
        judged(0, "told_none", "--category", "parameters", figure, "1KiB")
        for new, base in (("gpt_adamw_warm", "cnn_sgd_warm"), ("mlp_adam", "mlp_adam_warm"), ("mlp_adam_warm", "mlp_adam"), ("told", "cnn_nograd_cold")):
            for words in ("parameters", "optimizer-state"):
                for limit in ("0", "5%", "1TiB"):
                    judged(3, new, "--baseline", base, "--category", words, figure + "-growth", limit)
        judged(3, "mlp_adam_warm", "--category", "optimizer-state", "--op", "aten::", figure, "1TiB")
        judged(3, "cnn_sgd_keep_warm", "--category", "gradients", figure, "1TiB")  # backward adds to older ones
    judged(1, "mlp_adam_warm", "--category", "activations,parameters", "--max-peak", "1KiB")
    for words in ("gradients", "activations", "temporary", "inputs"):
        for run in ("mlp_adam_warm", "cnn_sgd_warm", "cnn_nograd"):
            peak = m.json("peak", run, "--category", words)["totals"]["peak_b"]
            judged(0, run, "--category", words, "--max-peak", str(peak))
            if peak:
                judged(1, run, "--category", words, "--max-peak", str(peak - 1))
    judged(0, "cnn_sgd_warm", "--baseline", "mlp_adam_warm", "--category", "gradients", "--max-peak-growth", "0")
    judged(1, "mlp_adam_warm", "--baseline", "cnn_sgd_warm", "--category", "gradients", "--max-peak-growth", "2000%")
    judged(0, "mlp_adam_warm", "--baseline", "cnn_sgd_warm", "--category", "gradients", "--max-peak-growth", "2100%")
    for words, says in (("optimizer-state", True), ("gradients", False)):
        _, out, err = m.run("diff", "cnn_sgd_warm", "gpt_adamw_warm", "--category", words)
        m.check(("is in no category" in out + err) == says and "estimates" not in err, "diff", words, out, err)
        m.check("exactly" not in out or not says, "diff", words, out)
        m.run("diff", "gpt_adamw_warm", "cnn_sgd_warm", "--category", words, "--exit-code", codes=(3 if says else 0,))


def doubt():
    """What may have been freed unseen is in doubt where its own category peaks, and nowhere else."""
    def record(name, *records):
        events = []
        for i, (op, ts, address, mib) in enumerate(records):
            if mib > 0:
                events.append(dict(ph="X", cat="cpu_op", name=op, pid=1, tid=1, ts=ts - 5, dur=10, args={"External id": i + 1}))
            args = {"Device Type": 0, "Device Id": -1, "Addr": address, "Bytes": mib << 20, "Total Allocated": 0, "Total Reserved": 0, "Ev Idx": i}
            events.append(dict(ph="i", s="t", cat="cpu_instant_event", name="[memory]", pid=1, tid=1, ts=ts, args=args))
        with open(name + ".json", "w") as f:
            json.dump({"schemaVersion": 1, "traceEvents": events}, f)
        m.run("import", name + ".json", "--name", name)

    handed_on = ("aten::mul", 105, 4096, 100), ("aten::mul", 155, 9 << 30, 60), ("aten::mul", 205, 4096, 1)  # the first is freed unseen
    passes = ("aten::mm", 310, 1 << 40, 1000), ("", 314, 1 << 40, -1000)
    record("freed_later", *handed_on, *passes, ("", 405, 9 << 30, -60), ("", 505, 4096, -1))
    record("kept", *handed_on, *passes, ("", 505, 4096, -1))
    of = {(r["run"], r["category"]): r["bytes_b"] >> 20 for r in m.query("SELECT run, category, max(bytes_b) AS bytes_b FROM v_alloc WHERE run IN ('kept', 'freed_later') GROUP BY 1, 2")}
    m.check(of == {(r, c): b for r in ("kept", "freed_later") for c, b in (("activation", 100), ("temporary", 1000))}, "doubt: categories", of)
    for run, words, rule, limit, code in (
            ("freed_later", "activations", "--max-peak", 130, 3), ("freed_later", "activations", "--max-peak", 59, 1),
            ("freed_later", "activations", "--max-peak", 160, 0), ("kept", "activations", "--max-peak", 61, 3),
            ("kept", "temporary", "--max-peak", 970, 1), ("kept", "temporary", "--max-peak", 1000, 0),
            ("kept", "activations,temporary", "--max-peak", 1001, 3), ("kept", "activations,temporary", "--max-peak", 1000, 1),
            ("kept", "activations", "--max-at-end", 50, 3), ("freed_later", "activations", "--max-at-end", 0, 0)):
        _, out, _ = m.run("check", run, "--category", words, rule, f"{limit}MiB", codes=(code,))
        m.check(words != "temporary" or "at most" not in out, run, words, rule, "is certain", out)
    _, out, _ = m.run("peak", "freed_later", "--category", "activations")
    m.check("peak at most 160 MiB" in out, "peak of what is in doubt", out)
    m.run("diff", "kept", "freed_later", "--category", "activations", "--exit-code")


def callers():
    """Who calls the operators changes nothing: Python frames, scopes of the program, and a scope around all of it."""
    with gzip.open(os.path.join(RECORDED, "kept_stack.json.gz")) as f:
        trace = json.load(f)
    events = trace["traceEvents"]
    ops = [e for e in events if e.get("cat") not in ("python_function", "user_annotation") or e["name"].startswith("Optimizer.")]
    first, end = min(e["ts"] for e in events) - 1, max(e["ts"] + e.get("dur", 0) for e in events) + 1
    around = {"ph": "X", "cat": "user_annotation", "name": "all", "ts": first, "dur": end - first, "args": {}}
    where = {k: next(e[k] for e in ops if e.get("cat") == "cpu_op") for k in ("pid", "tid")}
    got = {}
    for name, some in (("bare", ops), ("scoped", [{**around, **where}, *ops]), ("framed", events)):
        with open(name + ".json", "w") as f:
            json.dump({**trace, "traceEvents": some}, f)
        m.run("import", name + ".json", "--name", name)
        got[name] = m.query(f"SELECT bytes_b, category, why, held_by FROM v_alloc WHERE run = '{name}' AND alloc_record IS NOT NULL ORDER BY alloc_record")
        reports_agree(name)
    for name in ("scoped", "framed"):
        m.check(len(got[name]) == len(got["bare"]) > 500, name, "blocks", len(got[name]))
        m.check(got[name] == got["bare"], name, "others than bare:", [(a, b) for a, b in zip(got[name], got["bare"]) if a != b][:5])
    rules = {b["why"] for b in got["bare"]}
    m.check({"R7", "R9", "R10", "R11", "R12"} <= rules, "rules", rules)


def leaks():
    """The newest block of a leak is what the others are: a site leaks as much as its category."""
    for run in ("list", "list_and_writer", "list_gan", "hooks_that_keep"):
        m.run("import", f"{LOOPS}/{run}.json.gz", "--name", run)
        grows = [mt.total([r for r in m.rows("leaks", run, *by) if r["verdict"] in ("leak", "candidate")], "at_end_b") for by in ((), ("--by", "category"))]
        m.check(grows[0] == grows[1] > 0, run, "what grows, by site and by category", grows)
    # Of what else is freed steps have, too, that of other categories says that frees are seen.
    m.run("import", f"{SAMPLES}/leak_steps/trace.json.gz", "--name", "leak_steps")
    alone = m.json("leaks", "leak_steps", "--category", "unknown")["totals"]["leak_per_step_b"]
    m.check(alone == 640, "a leak of a category of which nothing else is freed", alone)
    for run, grown, kept in (("list", {"activation (kept)"}, True), ("hooks_that_keep", {"[unknown]"}, False), ("copies", set(), False)):
        if run == "copies":  # an average of the weights, made under no_grad
            m.run("import", f"{ADVICE}/mlp_ema_nograd.json.zst", "--name", run)
        words = {r["category"] for r in m.rows("leaks", run, "--by", "category") if r["verdict"] in ("leak", "candidate")}
        rules = {b["why"] for b in m.query(f"SELECT DISTINCT why FROM v_alloc WHERE run = '{run}'")}
        m.check(words == grown, run, "grows", words)
        m.check(("R12b" in rules) == kept, run, "keeps results of forward", rules)


def own_words(run):
    """--categories: the user's words come first, the others keep theirs, and sums stay what they are."""
    with open("own.txt", "w") as f:
        f.write("\ufeff# of the GPT\r\n\nattention = scaled_dot_product\nAdamW moments=Optimizer.step#AdamW.*zeros_like\n"
                "embedding = aten::embedding( |$)|EmbeddingBackward\nattention = never there\nparameter = no path has this\n")
    rows = m.rows("table", run, "--by", "path,category")
    m.check(any("scaled_dot_product" in r["path"] for r in rows), run, "paths", len(rows))
    for column in ("self_alloc_b", "self_at_peak_b", "self_at_end_b"):
        want = collections.Counter()
        for r in rows:
            own = ("attention" if "scaled_dot_product" in r["path"] else
                   "AdamW moments" if re.search("Optimizer.step#AdamW.*zeros_like", r["path"]) else
                   "embedding" if re.search("aten::embedding( |$)|EmbeddingBackward", r["path"]) else r["category"])
            want[own] += r[column]
        want = {k: v for k, v in want.items() if v}
        for args in ((), ("--by", "category"), ("--by", "phase,category"), ("--by", "category,thread")):
            got = collections.Counter()
            for r in m.rows("table", run, "--categories", "own.txt", *args):
                got[r["category"]] += r[column]
            m.check({k: v for k, v in got.items() if v} == want, run, "own words", column, args, got, want)
        if column == "self_at_peak_b":
            got = {r["category"]: r["at_peak_b"] for r in m.rows("peak", run, "--categories", "own.txt")}
            m.check(got == want, run, "own words: peak", got, want)
            m.check({"attention", "AdamW moments", "activation", "parameter"} <= set(got), run, "own words: peak", got)
    owned_frees(run)
    m.run("timeline", run, "--categories", "own.txt")
    m.run("leaks", run, "--categories", "own.txt", "--all")
    m.run("diff", run, "gpt_ckpt", "--categories", "own.txt")
    m.run("peak", run, "--categories", "own.txt", "--category", "optimizer-state")
    m.run("peak", run, "--categories", "own.txt", "--by", "site", codes=(2,))
    for path in ("heap/heaptrack.zst", "snapshots/fragmented.pickle"):  # which have hardly any but these
        with open("any.txt", "w") as f:
            f.write("mine = leak_small|leak_large|main|model.py\n")
        for report in ("peak", "table", "leaks", "timeline"):
            rows = m.rows(report, f"{SAMPLES}/{path}", "--categories", "any.txt")
            m.check({r["category"] for r in rows} <= {"mine", "optimizer state", "[unknown]", "[other]", "[before trace]", "[outside ops]"}, path, report, rows)
            m.check(any(r["category"] == "mine" for r in rows), path, report, rows)
    with open("some.txt", "w") as f:
        f.write("attention = scaled_dot_product\nnone = never there\n")
    for text, why in (("# nothing\n\n", "own.txt has no category"), ("a = no path\nb = has this\n", "no call path matches a category of own.txt")):
        with open("own.txt", "w") as f:
            f.write(text)
        for report in ("peak", "table", "leaks", "timeline"):
            _, _, err = m.run(report, run, "--categories", "own.txt")
            m.check(f"note: {why}" in " ".join(err.split()), run, report, "own words that say nothing", err)
            _, _, err = m.run(report, run, "--categories", "some.txt")
            m.check("category" not in err, run, report, "own words that say something", err)


def owned_frees(run):
    """What a category freed is what became of its own blocks, whoever freed them: all that it allocated, less what is left of it."""
    with open("all.txt", "w") as f:
        f.write("all = .\n")
    for words in ("own.txt", "all.txt"):
        for args in ((), ("--by", "category,thread")):
            sums = collections.defaultdict(collections.Counter)
            for r in m.rows("table", run, "--categories", words, *args):
                sums[r["category"]].update({c: r[c] for c in ("self_alloc_b", "self_freed_b", "self_net_b", "self_at_end_b", "net_b")})
            for name, s in sums.items():
                older = name in ("[before trace]", "[freed unseen]")
                m.check(older or s["self_alloc_b"] - s["self_freed_b"] == s["self_net_b"] == s["self_at_end_b"], run, words, args, name, "net", s)
                m.check(older or args or s["net_b"] == s["self_net_b"], run, words, args, name, "net, with what it calls", s)
    for snapshot in ("fragmented.pickle", "private_pools.pickle"):
        path = f"{SAMPLES}/snapshots/{snapshot}"
        whole = m.rows("table", path, "--by", "name")
        for r in m.rows("table", path, "--categories", "all.txt"):
            m.check(r["category"] != "all" or r["self_alloc_b"] - r["self_freed_b"] == r["self_net_b"] <= r["self_at_end_b"], snapshot, r)
        for column in ("self_alloc_b", "self_freed_b", "self_at_end_b"):
            got = mt.total(m.rows("table", path, "--categories", "all.txt"), column)
            m.check(got == mt.total(whole, column), snapshot, column, got, mt.total(whole, column))


def own_words_refused():
    """Lines that are none, and expressions that would take for ever: the line and what is wrong."""
    for line, what in (("abc", "no '='"), (" = x", "without a name"), ("a =", "without a regular expression"), ("a = (", "regular expression"),
                       ("a = (b){4000}{4000}", "too large"), ("a = (b)\\1", "refers back"), ("n" * 65 + " = x", "longer than 64"),
                       ("a\0b = c", "NUL"), ("a = " + "b" * 5000, "too large"), ("\n".join(["a = b"] * 201), "more than 200")):
        with open("bad.txt", "w") as f:
            f.write("good = x\n" + line + "\n")
        _, _, err = m.run("peak", "gpt_adamw", "--categories", "bad.txt", codes=(1, 2))
        m.check(what in err and ("line 2" in err or "200" in what), "hostile words", line[:40], err)
    m.run("peak", "gpt_adamw", "--categories", "not there", codes=(1, 2))
    m.run("peak", "gpt_adamw", "--categories", ".", codes=(1, 2))


def own_words_without_addresses():
    """Nobody knows of which category what is freed is: so neither what a category keeps."""
    for name in ("cnn_b16", "cnn_b32"):
        with gzip.open(f"{SAMPLES}/{name}/trace.json.gz") as f:
            trace = json.load(f)
        for e in trace["traceEvents"]:
            if e.get("name") == "[memory]":
                del e["args"]["Addr"]
        with open(f"no_{name}.json", "w") as f:
            json.dump(trace, f)
        m.run("import", f"no_{name}.json", "--name", f"no_{name}")
    with open("linear.txt", "w") as f:
        f.write("linear = linear|addmm\n")
    answer = m.json("diff", "no_cnn_b16", "no_cnn_b32", "--categories", "linear.txt", "--all")
    rows = {row["category"]: row for row in answer["rows"] if row["section"] == "op"}
    m.check(rows["linear"]["base_self_alloc_b"] == 3200, "without addresses: allocated", rows)
    for side in ("base", "new"):
        for column in ("self_net_b", "net_b"):
            m.check(all(row[f"{side}_{column}"] is None for row in rows.values()), "without addresses", column, rows)


def adagrad():
    """Its state is there before its first step, as large as the parameters; the counters of its steps are one of 4 B each."""
    m.run("import", os.path.join(RECORDED, "..", "advice", "optim_adagrad.json.zst"), "--name", "adagrad")
    at_peak = {row["category"]: row["at_peak_b"] for row in m.rows("peak", "adagrad", "--by", "category")}
    m.check(at_peak["optimizer state"] == at_peak["gradient"] == at_peak["parameter"] - 8 * 4 == 264192, "adagrad", at_peak)


def closure():
    """What a closure computes within the optimizer's step is no temporary of this, nor its state: Adam keeps two of each parameter."""
    m.run("import", os.path.join(ADVICE, "closure.json.zst"), "--name", "closure")
    at_peak = {row["category"]: row["at_peak_b"] for row in m.rows("peak", "closure", "--by", "category")}
    m.check(at_peak["parameter"] == at_peak["gradient"] == 799784 and at_peak["optimizer state"] == 2 * 799784 + 38 * 4, "closure", at_peak)
    m.check(at_peak["activation"] == 4009984, "closure", at_peak)


def frozen():
    """Layers that never learn are layers, though what is built between them computes; data made then are data."""
    events, at = [], [0]

    def event(kind, name, ts, dur, **args):
        events.append(dict(ph="X", cat=kind, name=name, pid=1, tid=1, ts=ts, dur=dur, args={"External id": len(events) + 1, **args}))

    def record(address, b):
        args = {"Device Type": 0, "Device Id": -1, "Addr": address, "Bytes": b, "Total Allocated": 0, "Total Reserved": 0, "Ev Idx": len(events)}
        events.append(dict(ph="i", s="t", cat="cpu_instant_event", name="[memory]", pid=1, tid=1, ts=at[0] - 5, args=args))

    def op(name, *records, **args):
        event("cpu_op", name, at[0], 8, **args)
        at[0] += 10
        for address, b in records:
            record(address, b)

    for n in range(4):
        op("aten::empty", ((1 + n) << 24, 4096))
        op("aten::uniform_")
        op("aten::mul", ((11 + n) << 24, 64))  # random numbers times a scale: what a layer does learn
    for n in range(3):
        op("aten::zeros", ((21 + n) << 24, 512))
    op("aten::empty", (25 << 24, 8192))  # torch.tensor(LIST)
    op("aten::to")
    op("aten::lift_fresh")
    for n in range(3):
        begin = at[0]
        op("aten::mm", (31 << 24, 256), **{"Sequence number": n})
        op("aten::add", **{"Sequence number": n + 1})
        op("autograd::engine::evaluate_function: MmBackward0", *[((41 + k) << 24, 64) for k in range(4)],
           **{"Sequence number": n, "Fwd thread id": 1})
        op("Optimizer.step#SGD.step", (31 << 24, -256))
        events[-2]["cat"] = "user_annotation"
        op("aten::detach", *[((41 + k) << 24, -64) for k in range(4)])
        event("user_annotation", f"ProfilerStep#{n}", begin, at[0] - begin)
    with open("frozen.json", "w") as f:
        json.dump({"schemaVersion": 1, "traceEvents": events}, f)
    m.run("import", "frozen.json", "--name", "frozen")
    blocks = {(r["top"], r["category"]): r["n"] for r in m.query("SELECT top, category, count(*) AS n FROM v_alloc WHERE run = 'frozen' GROUP BY 1, 2")}
    built = {("aten::empty", "parameter"): 4, ("aten::mul", "parameter"): 4, ("aten::zeros", "input"): 3, ("aten::empty", "input"): 1}
    m.check(built.items() <= blocks.items(), "frozen layers", blocks)
    _, out, _ = m.run("advise", "frozen", "--only", "load_on_demand", "--format", "csv", codes=(0, 3))
    m.check("4096" not in out, "layers are no batches", out)


def unmarked():
    """An optimizer whose step is compiled leaves no mark of it: what it keeps is no activation, and a limit for it is not kept."""
    t = inputs.Trace()
    t.op("aten::empty", 10, 5)
    t.record(12, 4096, 0x10000)
    t.op("aten::uniform_", 20, 5)
    for n in range(4):
        at = 100 * (n + 1)
        t.mark("Optimizer.zero_grad#Adam.zero_grad", at, 5)
        if n:
            t.record(at + 2, -4096, 0x20000)
        t.op("aten::randn", at + 6, 3)
        t.record(at + 7, 256, 0x50000)
        t.op("aten::mm", at + 10, 10, **{"Sequence number": n, "Fwd thread id": 0})
        t.record(at + 12, 512, 0x30000)
        t.op("autograd::engine::evaluate_function: MmBackward0", at + 30, 20, **{"Sequence number": n, "Fwd thread id": 1})
        t.record(at + 35, 4096, 0x20000)
        t.record(at + 40, -512, 0x30000)
        t.record(at + 41, -256, 0x50000)
        t.op("Torch-Compiled Region: 0/0", at + 60, 20)
        if not n:
            t.op("aten::zeros_like", at + 62, 5)
            t.record(at + 64, 4096, 0x40000)
    t.write("unmarked.json")
    m.run("import", "unmarked.json", "--name", "unmarked")
    at_end = {r["category"]: r["live_b"] for r in m.rows("peak", "unmarked", "--at", "@end", "--by", "category")}
    m.check(at_end == {"parameter": 4096, "gradient": 4096, "[unknown]": 4096}, "steps that nothing marks", at_end)
    for rule, limit, code in (("--max-peak", "1KiB", 3), ("--max-at-end", "1KiB", 3), ("--max-growth-per-step", "0", 3)):
        m.run("check", "unmarked", "--category", "optimizer-state", rule, limit, codes=(code,))
    m.run("check", "unmarked", "--category", "optimizer-state,parameters", "--max-peak", "1KiB", codes=(1,))
    for category in ("parameters", "gradients"):
        m.run("check", "unmarked", "--category", category, "--max-peak", "4KiB", "--max-at-end", "4KiB", codes=(0,))


def untold(name, gradients_before):
    """A model whose parameters are views of one tensor, and whose gradients may be there before the first backward pass."""
    t = inputs.Trace()
    t.op("aten::empty", 1, 3)
    t.record(2, 2048, 0x60000)
    t.record(3, 2048, 0x70000)
    t.op("aten::uniform_", 5, 3)
    t.op("aten::cat", 10, 5)
    t.record(12, 4096, 0x10000)
    t.record(16, -2048, 0x60000)
    t.record(17, -2048, 0x70000)
    if gradients_before:
        t.op("aten::zeros_like", 20, 5)
        t.record(22, 4096, 0x20000)
    for n in range(4):
        at = 100 * (n + 1)
        t.op("aten::randn", at + 6, 3)
        t.record(at + 7, 256, 0x50000)
        t.op("aten::mm", at + 10, 10, **{"Sequence number": n, "Fwd thread id": 0})
        t.record(at + 12, 512, 0x30000)
        t.op("autograd::engine::evaluate_function: MmBackward0", at + 30, 10, **{"Sequence number": n, "Fwd thread id": 1})
        if not gradients_before:
            t.record(at + 34, 2048, 0x40000)
            t.record(at + 35, 2048, 0x80000)
        for call in (41, 46):
            t.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", at + call, 4)
        t.record(at + 52, -512, 0x30000)
        t.record(at + 53, -256, 0x50000)
        t.mark("Optimizer.step#SGD.step", at + 60, 20)
        if not gradients_before:
            t.record(at + 85, -2048, 0x40000)
            t.record(at + 86, -2048, 0x80000)
    t.write(name + ".json")
    m.run("import", name + ".json", "--name", name)
    for rule, limit in (("--max-peak", "1KiB"), ("--max-at-end", "1KiB"), ("--max-growth-per-step", "0")):
        m.run("check", name, "--category", "parameters", rule, limit, codes=(3,))
    m.run("check", name, "--category", "gradients", "--max-peak", "1KiB", codes=(3,) if gradients_before else (1,))
    m.run("check", name, "--category", "activations", "--max-peak", "1KiB", codes=(0,))
    notes = m.query(f"SELECT kind FROM note WHERE run_id = (SELECT id FROM run WHERE name = '{name}') ORDER BY kind")
    m.check([n["kind"] for n in notes if n["kind"].endswith("s_unknown")] ==
            (["gradients_unknown"] if gradients_before else []) + ["parameters_unknown"], name, notes)


recorded()
untold("flat", False)
untold("flat_gradients", True)
unmarked()
rebuilt()
sharded()
reduced()
adagrad()
closure()
frozen()
own_words("gpt_adamw")
own_words_refused()
own_words_without_addresses()
doubt()
callers()
leaks()
says_it()
for run in ("mlp_adam", "gpt_ckpt", "cnn_sgd_warm", "lstm_adam"):
    narrowed(run)
refused()
older()
m.finish(100)
