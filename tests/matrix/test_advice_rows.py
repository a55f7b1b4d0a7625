#!/usr/bin/env python3
"""`memtool advise` as programs and as people read it: each field of JSON, the paragraphs of text, and where there is no answer."""

import csv
import fcntl
import io
import json
import os
import pickle
import pty
import re
import struct
import subprocess
import termios

import mt

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDINGS = os.path.join(HERE, "..", "recordings")
SAMPLES = os.environ["SAMPLES"]
NAMES = {"no_grad", "stop_keeping", "detach", "clone", "checkpoint", "accumulate", "bfloat16", "zero_grad_early", "set_to_none", "foreach_false", "fused", "chunked_loss", "load_on_demand", "del_before_backward", "del_results"}
BOUNDS = {"exact", "about", "up_to"}
PHASES = {"forward", "backward", "recomputed", "optimizer", "data loading", "other"}
TEXT, INT, REAL = (str,), (int,), (int, float)
# field: of what type where advice applies, whether it may be null there, what it is where advice does not apply
FIELDS = {
    "advice": (TEXT, False, TEXT),
    "applies": ((bool,), False, (bool,)),
    "peak_b": (INT, False, INT),
    "new_peak_b": (INT, False, None),
    "saving_b": (INT, False, None),
    "saving_pct": (REAL, False, None),
    "bound": (TEXT, False, TEXT),
    "at_peak_b": (INT, False, None),
    "at_peak_n": (INT, False, None),
    "per_step_b": (REAL, True, None),
    "per_step_n": (REAL, True, None),
    "new_peak_ns": (INT, True, None),
    "new_peak_phase": (TEXT, True, None),
    "price_ns": (INT, True, None),
    "site": (TEXT, True, None),
    "sites": ((list,), False, (list,)),
    "because": (TEXT, False, TEXT),
    "price": (TEXT, True, None),
    "how": (TEXT, False, TEXT),
    "verify": (TEXT, False, TEXT),
    "evidence": (TEXT, False, TEXT),
}
SITE = {"name": TEXT, "scope": TEXT, "module": TEXT, "source": TEXT, "at_peak_b": INT, "at_peak_n": INT, "pieces_n": INT}
RUNS = (
    ("late", f"{RECORDINGS}/advice/mlp_wide_late.json.zst"),
    ("gpt", f"{RECORDINGS}/categories/gpt_adamw.json.zst"),
    ("resnet", f"{RECORDINGS}/advice/resnet.json.zst"),
    ("vocab", f"{RECORDINGS}/advice/gpt_vocab.json.zst"),
    ("stack", f"{SAMPLES}/cnn_stack/trace.json.gz"),
)
m = mt.Matrix()


def is_of(value, types):
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


def check_row(run, row):
    what = row["advice"]
    m.check(set(row) == set(FIELDS), run, what, "has the fields", sorted(row))
    for field, (types, may_be_null, otherwise) in FIELDS.items():
        value = row[field]
        if not row["applies"]:
            m.check(value is None if otherwise is None else is_of(value, otherwise), run, what, field, value, "of what does not apply")
        else:
            m.check(is_of(value, types) or (may_be_null and value is None), run, what, field, value)
    m.check(row["bound"] in BOUNDS if row["applies"] else row["bound"] == "none" and not row["sites"], run, what, "is", row["bound"])
    m.check(f"--verify NEWRUN --only {what.replace('+', ',')}" in row["verify"], run, what, row["verify"])
    if not row["applies"]:
        return
    m.check(row["new_peak_b"] + row["saving_b"] == row["peak_b"], run, what, "adds up")
    m.check(abs(row["saving_pct"] - 100 * row["saving_b"] / row["peak_b"]) < 1e-6, run, what, "percent", row["saving_pct"])
    m.check(row["new_peak_phase"] is None or row["new_peak_phase"] in PHASES, run, what, "phase", row["new_peak_phase"])
    for site in row["sites"]:
        m.check(set(site) == set(SITE), run, what, "sites have the fields", sorted(site))
        m.check(all(is_of(site[key], types) or (site[key] is None and not key.startswith("at_")) for key, types in SITE.items()), run, what, site)
        m.check((site["pieces_n"] is not None) == (what == "checkpoint"), run, what, "pieces", site)
    for key in ("at_peak_b", "at_peak_n"):
        m.check(sum(site[key] for site in row["sites"]) == row[key], run, what, "sites add up to", key, row[key])
    m.check([s["at_peak_b"] for s in row["sites"]] == sorted((s["at_peak_b"] for s in row["sites"]), reverse=True), run, what, "largest first")


def sort_key(row):
    return (not row["applies"], row["applies"] and row["advice"] == "bfloat16", -(row["saving_b"] or 0))


for run in m.imported(RUNS):
    rows = m.rows("advise", run.name, "--all")
    m.check({row["advice"] for row in rows} == NAMES, run, "--all has all", [row["advice"] for row in rows])
    for row in rows:
        check_row(run, row)
    m.check(rows == sorted(rows, key=sort_key), run, "by saving, another type of numbers last", [row["advice"] for row in rows])
    _, out, _ = m.run("advise", run.name, "--all", "--format", "csv")
    for row, line in zip(rows, csv.DictReader(io.StringIO(out))):
        m.check(line["applies"] == str(row["applies"]).lower() and json.loads(line["sites"]) == row["sites"], run, "csv", line)
    shown = m.rows("advise", run.name)
    _, text, _ = m.run("advise", run.name)
    paragraphs = text.split("\n\n")
    m.check(len(paragraphs) == len(shown) + 2, run, "a paragraph for each", text)
    for number, (row, paragraph) in enumerate(zip(shown, paragraphs[1:]), 1):
        saves = {"exact": "saves ", "about": "saves about ", "up_to": "saves up to "}[row["bound"]]
        m.check(re.match(rf"{number}\. {row['advice']}[^:]*: {saves}[0-9.]+ [KM]?i?B \([0-9.]+ %\), the peak becomes ", paragraph), run, "headline", paragraph)
        labels = re.findall(r"^   (\w+):", paragraph, re.M)
        m.check(labels == ["what", "bytes", *(["price"] if row["price"] or row["price_ns"] is not None else []), "write", "verify"], run, row["advice"], labels)
        m.check(row["how"] in paragraph and row["verify"] in paragraph, run, "has code and command", paragraph)
# where a terminal is narrow, nothing is left out, and no line is longer


def on_terminal(width, *args):
    """What memtool writes on a terminal of so many columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    with subprocess.Popen([m.memtool, *args, "--db", m.db, "--no-pager", "--no-color"], stdout=follower, stderr=subprocess.DEVNULL) as done:
        os.close(follower)
        out = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:
                break
            if not part:
                break
            out += part
        done.wait()
    os.close(leader)
    return out.decode().replace("\r", "")


_, wide, _ = m.run("advise", "gpt")
for width in (60, 100):
    narrow = on_terminal(width, "advise", "gpt")
    m.check(narrow.split() == wide.split(), "the same words on", width, "columns", narrow)
    m.check(all(len(line) <= width for line in narrow.split("\n")), "lines of", width, "columns", narrow)
for args in (("peak", "gpt"), ("diff", "gpt", "resnet")):
    head = on_terminal(60, *args).split("\n")[:5]
    m.check(any("activations" in line for line in head) and all(len(line) <= 60 for line in head), "the line of categories", head)
# names of layers, lines of the user's own code
layers = {row["advice"]: row for row in m.rows("advise", "stack")}["checkpoint"]
m.check(layers["sites"][0]["module"] == "Residual" and re.fullmatch(r"record\.py:\d+ forward", layers["sites"][0]["source"]), "where blocks are from", layers["sites"])
_, text, _ = m.run("advise", "stack")
m.check("checkpoint Residual_0 ... Residual_1: saves about 1 MiB" in text, "names of layers", text)
# of nets without batch norm, and with it; code that keeps its results
for run, norm in (("gpt", False), ("resnet", True)):
    price = next(row["price"] for row in m.rows("advise", run) if row["advice"] == "accumulate")
    m.check(("batch norm" in price) == norm, run, "accumulate costs", price)
loss = next(row["how"] for row in m.json("advise", "vocab", "--chunks", "16")["rows"] if row["advice"] == "chunked_loss")
m.check(loss.startswith("loss = sum(") and "hidden.chunk(16)" in loss, "the loss is kept", loss)
parts = next(row for row in m.json("advise", "gpt", "--accumulate", "8")["rows"] if row["advice"] == "accumulate")
m.check("batch.chunk(8)" in parts["how"] and parts["verify"].endswith("--only accumulate --accumulate 8"), "the number asked for", parts["how"], parts["verify"])
# snapshots: what gives back reserved memory, as `memtool fragmentation` counts it
seen = 0
for name in sorted(os.listdir(os.path.join(SAMPLES, "snapshots"))):
    path = os.path.join(SAMPLES, "snapshots", name)
    code, _, _ = m.run("fragmentation", path, codes=(0, 2))
    if not name.endswith(".pickle") or code:
        continue
    state = {}
    for row in m.json("fragmentation", path)["rows"]:
        if row["moment"] in ("end", "reserved peak"):
            state[row["what"]] = row  # those of the peak come last
    m.run("import", path, "--name", name)
    answer = m.json("advise", name, "--all")
    peak_b = m.query(f"SELECT peak_b FROM v_device WHERE run = '{name}' AND device = '{answer['params']['device']}'")[0]["peak_b"]
    most_b = peak_b if any(row["moment"] == "reserved peak" for row in m.json("fragmentation", path)["rows"]) else 0
    rows = {row["advice"]: row for row in answer["rows"]}
    if not m.check(set(rows) == {"empty_cache", "expandable_segments"} and answer["params"]["of"] == "reserved", name, "is advised", list(rows)):
        continue
    for advice, what in (("empty_cache", "unused"), ("expandable_segments", "split")):
        row = rows[advice]
        m.check(set(row) == set(FIELDS) and row["peak_b"] == state["reserved"]["bytes_b"], name, advice, row)
        m.check(row["applies"] <= (state[what]["count_n"] > 0), name, advice, "applies", row, state[what])
        if row["applies"]:
            seen += 1
            want = max(0, min(state[what]["bytes_b"], row["peak_b"] - most_b))
            m.check(row["saving_b"] == want == row["peak_b"] - row["new_peak_b"] and row["bound"] == "up_to", name, advice, row, want)
    m.check(any("record a trace" in note for note in answer["notes"]), name, "says what it does not know", answer["notes"])
m.check(seen >= 15, "remedies of snapshots:", seen)
with open(os.path.join(SAMPLES, "snapshots", "expandable.pickle"), "rb") as file:  # ours
    snapshot = pickle.load(file)
del snapshot["allocator_settings"]  # as PyTorch 2.1 to 2.3 write it
with open("unset.pickle", "wb") as file:
    pickle.dump(snapshot, file)
rows = {row["advice"]: row["applies"] for row in m.json("advise", "unset.pickle", "--all")["rows"]}
m.check(rows == {"empty_cache": 1, "expandable_segments": 0}, "segments that are expandable already", rows)
m.check(m.json("advise", os.path.join(SAMPLES, "snapshots", "basic.pickle"), "--only", "checkpoint")["cannot_tell"]["ask_instead"], "no checkpoint of a snapshot")
# where there is no answer
for path, why in (
    ("heap/massif_200k.out", "does not say what its memory is for"),
    ("process/mprofile.dat", "is a process log"),
):
    code, out, _ = m.run("advise", os.path.join(SAMPLES, path), "--format", "json", codes=(3,))
    answer = json.loads(out)
    m.check(answer["answer"] is None and not answer["rows"], path, "no answer", answer)
    m.check(why in answer["cannot_tell"]["why"] and answer["cannot_tell"]["ask_instead"], path, answer["cannot_tell"])
    for how in ("table", "markdown", "csv"):
        _, out, err = m.run("advise", os.path.join(SAMPLES, path), "--format", how, codes=(3,))
        m.check(("Cannot tell: " in out) == (how != "csv") and ("Cannot tell: " in err) == (how == "csv") and why in out + err, path, how, out, err)
m.check("cannot_tell" not in m.json("advise", "gpt") and "answer" not in m.json("advise", "gpt"), "an answer has no such mark")
# the help: a sentence to each option
_, text, _ = m.run("help", "advise")
for word in (*NAMES, "saves about X", "saves up to X"):
    m.check(re.search(rf"^  {word} ", text, re.M), "help explains", word)
m.finish(600)
