#!/usr/bin/env python3
"""The rows of every view that `memtool export` writes as csv, tsv and jsonl are those that `memtool query` has, unknown
apart from 0 and from empty text, in valid UTF-8; docs/export.md names their columns."""

import json
import os
import re

import inputs
import mt

m = mt.Matrix()
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOC = dict(re.findall(r"^\| `(\w+)` \| [^|]* \| (run [\w ]+) \|$", open(f"{ROOT}/docs/export.md").read(), re.M))
UNESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\", "N": None}


def export(run, view, form):
    path = f"rows.{form}"
    code, _, err = m.run("export", run.name, "--view", view, "-o", path)
    return open(path, "rb").read().decode() if m.check(code == 0 and not err, run, view, form, err[:300]) else ""  # strict UTF-8


def from_tsv(text):
    """A row is a list of texts; \\N is None."""
    def cell(s):
        return None if s == "\\N" else re.sub(r"\\(.)", lambda e: UNESCAPED[e[1]], s)
    return [[cell(s) for s in line.split("\t")] for line in text.split("\n")[:-1]]


def from_csv(text):
    """RFC 4180; a field with nothing in it is None, one with two quotes is empty."""
    rows, row, at = [], [], 0
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while text[end] != '"' or text[end + 1 : end + 2] == '"':
                end += 2 if text[end] == '"' else 1
            row.append(text[at + 1 : end].replace('""', '"'))
            at = end + 1
        else:
            end = min(i for i in (text.find(",", at), text.find("\n", at)) if i >= 0)
            row.append(text[at:end] or None)
            at = end
        if text[at] == "\n":
            rows.append(row)
            row = []
        elif text[at + 1 : at + 2] in ("", "\n"):
            row.append(None)
            at += 1
            rows.append(row)
            row = []
        at += 1
    return rows


def said(v):
    """As csv and tsv write it."""
    return None if v is None else str(v)


def check(run, view):
    columns = DOC[view].split()
    want = m.query(f"SELECT * FROM v_{view} WHERE run = '{run.name}'")
    lines = [json.loads(line) for line in export(run, view, "jsonl").split("\n")[:-1]]
    m.check(all(list(row) == columns for row in lines), run, view, "columns as documented", lines[:1])
    key = lambda row: json.dumps(list(row.values()))
    if "�" not in json.dumps(lines, ensure_ascii=False):
        m.check(sorted(map(key, lines)) == sorted(map(key, want)), run, view, "rows", len(lines), len(want))
    m.check(len(lines) == len(want), run, view, "rows", len(lines), len(want))
    for form, parse in (("tsv", from_tsv), ("csv", from_csv)):
        table = parse(export(run, view, form))
        m.check(table[0] == columns, run, view, form, "columns", table[0])
        m.check(table[1:] == [[said(v) for v in row.values()] for row in lines], run, view, form, "rows",
                next(((a, b) for a, b in zip(table[1:], lines) if a != [said(v) for v in b.values()]), len(table)))
    m.check(export(run, view, "tsv") == export(run, view, "tsv"), run, view, "the same bytes again")


def main():
    m.check(len(DOC) == 12, "docs/export.md", sorted(DOC))
    seen = 0
    for run in m.imported(inputs.all_inputs("made")):
        for view in DOC:
            check(run, view)
            seen += 1
        m.known.clear()
    listed = m.run("export", run.name, "--view", "y", "--format", "tsv", codes=(2,))[2]
    m.check(re.search(r"--view is one of ([\w, ]+);", listed)[1].split(", ") == list(DOC), "views", listed)
    m.check(seen >= 500, "views seen", seen)
    m.finish(at_least=5000)


main()
