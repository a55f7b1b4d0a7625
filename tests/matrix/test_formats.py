#!/usr/bin/env python3
"""The same rows in every format, filters that only take away, and nothing raw of a hostile name in any output."""

import csv
import io
import re

import inputs
import mt

# Reports of one run that hold rows, with options under which they show all of them.
REPORTS = [
    ["table"], ["table", "--by", "path"], ["table", "--by", "shape,thread"], ["table", "--by", "name,device"], ["tree"], ["tree", "--invert"],
    ["peak"], ["peak", "--by", "path"], ["peak", "--per", "name"], ["peak", "--per", "step"], ["leaks", "--all"], ["leaks", "--all", "--by", "name"],
    ["memory"], ["segments"], ["segments", "--by", "site"], ["fragmentation"], ["timeline"], ["timeline", "--by", "site"],
    ["timeline", "--exact"], ["info"],
]
SOME_SAMPLES = ("basic", "cnn_stack", "cnn_b16_torch2.6", "leak_steps", "snap-basic", "snap-oom", "snap-two_devices")
NO_LIMIT = ("memory", "fragmentation", "timeline", "info")
FILTERS = [["--name", "a"], ["--min", "1000"], ["--name", "no such name at all"]]

m = mt.Matrix()


def limit(report):
    return [] if report[0] in NO_LIMIT else ["--limit", "0"]


def may_refuse(run, report):
    """Reports that say with exit 2 that the run has no such thing."""
    return (
        not run.steps and report[1:] == ["--per", "step"]
        or not run.is_snapshot and report[0] in ("segments", "fragmentation")
        or any(device["at_end_b"] is None for device in run.devices) and report[:2] in (["leaks", "--all"], ["timeline", "--by"])
    )


def as_text(value):
    """What a csv cell holds for a JSON value, numbers as numbers."""
    if value is None:
        return ""
    return float(value) if isinstance(value, (int, float)) else value


def cells(text, delimiter):
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return (rows[0], rows[1:]) if rows else ([], [])


def same_cell(got, want):
    if isinstance(want, float):
        try:
            return float(got) == want
        except ValueError:
            return False
    return got == want or mt.CONTROL.search(want) or got.lstrip("'") == want  # how names are escaped is not asked here


def formats(run, report):
    """One report in all formats: the rows of json, csv and tsv, as many in markdown."""
    line = [*report, run.name, *limit(report)]
    if may_refuse(run, report):
        m.run(*line, codes=(0, 2, 3))
        return
    answer = m.json(*line)
    if not answer:
        return
    rows = answer["rows"]
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        _, out, _ = m.run(*line, "--format", form)
        head, got = cells(out, delimiter) if form == "csv" else (out.split("\n")[0].split("\t"), [r.split("\t") for r in out.split("\n")[1:-1]])
        m.check(len(got) == len(rows), run.name, *report, form, len(got), "rows, json has", len(rows))
        if rows:
            m.check(head == list(rows[0]), run.name, *report, form, "other columns", head, list(rows[0]))
            if form == "csv":
                bad = [(g, list(w.values())) for g, w in zip(got, rows) if not all(map(same_cell, g, map(as_text, w.values())))]
                m.check(not bad, run.name, *report, form, "other cells", bad[:1])
    for form in (["--format", "markdown"], ["--format", "table"], ["--format", "table", "--bytes", "--ascii"]):
        _, out, err = m.run(*line, *form)
        m.check(not re.search(r"\b(nan|inf)\b|\de\+\d", out), run.name, *report, *form, "a figure nobody reads", out[:300])
        if "markdown" in form:
            for header in re.findall(r"^(\|.*\|)\n\| :?---", out, re.M):
                titles = [title.strip() for title in header.strip("|").split(" | ")]
                m.check(len(set(titles)) == len(titles), run.name, *report, "a header twice", header)
        if "--ascii" in form:
            m.check(run_is_ascii(out, rows), run.name, *report, "--ascii", ascii(out)[:300])


def run_is_ascii(out, rows):
    return out.isascii() or any(not str(value).isascii() for row in rows for value in row.values())


def filters(run, report):
    """What a filter leaves is there without it, it says how much it took, and no verdict is made of nothing."""
    whole = m.json(*report, run.name, *limit(report))
    if not whole:
        return
    for words in FILTERS:
        line = [*report, run.name, *limit(report), *words]
        answer = m.json(*line)
        if not answer:
            continue
        left = answer["rows"]
        m.check(all(row in whole["rows"] for row in left), run.name, *report, *words, "rows that are not there without the filter",
                [row for row in left if row not in whole["rows"]][:1])
        m.check(len(left) + answer["left_out_n"] == len(whole["rows"]) + whole["left_out_n"], run.name, *report, *words, "leaves", len(left),
                "and left out", answer["left_out_n"], "of", len(whole["rows"]))
        if report[0] != "leaks" or "--min" not in words:  # there --min says what is a leak
            m.check(answer["totals"] == whole["totals"], run.name, *report, *words, "other totals", answer["totals"], whole["totals"])
        _, out, err = m.run(*line, "--format", "table")
        if not left and whole["rows"]:
            m.check("left" in out + err or "no call path" in out, run.name, *report, *words, "does not say that the filter took all", out, err)
    if len(whole["rows"]) > 2:
        few = m.json(*report, run.name, "--limit", "2")
        m.check(few and few["rows"] == whole["rows"][:2], run.name, *report, "--limit 2 are other rows")
        m.check(few and few["left_out_n"] == len(whole["rows"]) - 2, run.name, *report, "--limit 2 left out", few and few["left_out_n"])


for run in m.imported(inputs.all_inputs()):
    m.run("info", run.name)
    for report in REPORTS if inputs.is_made_up(run.name) or run.name in SOME_SAMPLES else []:
        if not run.devices and report[0] not in ("table", "tree", "info"):
            m.run(*report, run.name, codes=(0, 2, 3))
            continue
        formats(run, report)
        if report[0] not in NO_LIMIT and not may_refuse(run, report) and report != ["peak", "--per", "step"]:
            filters(run, report)
    m.run("timeline", run.name, "--format", "svg", codes=(0, 2, 3))
    if run.is_snapshot:
        m.run("segments", run.name, "--format", "svg", codes=(0, 2, 3))
m.finish(at_least=5000)
