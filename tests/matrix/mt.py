"""memtool as the matrix tests run it: every output of every command is looked at.

The matrix asks every report with every key, filter, window and format of every kind of input, and
holds no expectations but what must be true of any answer. A test program is a `test_*.py` here:

    m = mt.Matrix()
    for run in m.imported(inputs.all_inputs()): ...
    m.check(total == device["net_b"], run, "table --by name", "self sums", total)
    m.finish()

The last line counts checks: "N passed, N failed", and what was skipped.
"""

import json
import os
import re
import subprocess
import sys

SANITIZER = re.compile(r"Sanitizer|runtime error:")
# What no name may bring into an output: control characters (C0 but tab and newline, DEL, C1) and
# characters that turn the direction of text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
UNDECODED = re.compile("[\udc80-\udcff]")
OUTSIDE = re.compile(r"^(.*\S) \[(?:outside ops|freed unseen)\]$|(?<=^\[no step), (?:outside ops|freed unseen)(?=\]$)")
MARKUP = re.compile(r"(?<!\\)<(img|script|b>|svg/onload)", re.I)
SCRIPT = "<script><![CDATA[\n// Zoom (click"  # the one of flame graphs
# The table `holding`, a row for each change.
HOLDINGS = (
    "(SELECT h.device_id, h.node_id, sum(j.value) OVER (PARTITION BY h.device_id, h.node_id, h.size_b ORDER BY j.key) AS moment, "
    "iif(h.size_b, h.size_b, 1) * b.value AS bytes_b FROM holding h "
    "JOIN json_each(h.changes) j ON j.key % iif(h.size_b, 2, 3) = 0 JOIN json_each(h.changes) b ON b.key = j.key + 1)"
)
SHOWN_FAILURES = 60  # of a test program, and of one kind (the first two words that say what was checked) no more than
SHOWN_OF_A_KIND = 3


class Matrix:
    def __init__(self):
        self.memtool = os.environ["MEMTOOL"]
        self.db = os.path.abspath("matrix.memtool.db")
        self.passed = self.failed = self.skipped = self.commands = 0
        self.offered = self.taken = 0  # inputs, and those that were imported
        self.known = {}  # answers as JSON, by command line
        self.shown = {}  # how many failures were shown, by their first two words

    def check(self, ok, *what):
        if ok:
            self.passed += 1
            return True
        self.failed += 1
        kind = tuple(str(word) for word in what[:2])
        self.shown[kind] = self.shown.get(kind, 0) + 1
        if self.shown[kind] <= SHOWN_OF_A_KIND and len(self.shown) <= SHOWN_FAILURES:
            print("FAIL", *what)
        return False

    def skip(self, why):
        """What cannot be checked on this machine."""
        self.skipped += 1
        print("skip:", why)

    def run(self, *args, codes=(0, 3)):
        """Runs memtool; returns (exit code, stdout, stderr), after a look at what no command may do."""
        self.commands += 1
        line = " ".join(args)
        done = subprocess.run([self.memtool, *args, "--db", self.db], capture_output=True, timeout=120)
        out, err = (text.decode(errors="surrogateescape") for text in (done.stdout, done.stderr))
        self.check(done.returncode in codes, line, "exit", done.returncode, err[:2000])
        self.check(not SANITIZER.search(err), line, err[:4000])
        self.check(not UNDECODED.search(out + err), line, "bytes that are no UTF-8")
        # Rows for programs hold names as recorded; JSON writes them in escapes.
        for text in (err,) if "csv" in args or "tsv" in args else (out, err):
            bad = CONTROL.search(text)
            self.check(not bad, line, "a raw control character", bad and ascii(text[max(0, bad.start() - 40) :][:80]))
        if "--format json" not in line and "csv" not in line and "tsv" not in line:
            # Where markup may become markup: pages and pictures.
            if "markdown" in line or "svg" in line or "junit" in line or "github" in line:
                plain = re.sub(r"`+[^`\n]*`+", "", out).replace(SCRIPT, "", 1)
                self.check(not MARKUP.search(plain), line, "raw markup")
        return done.returncode, out, err

    def json(self, *args, codes=(0, 3)):
        """The answer of a report as JSON: the whole envelope; None if it is none."""
        if args not in self.known:
            code, out, _ = self.run(*args, "--format", "json", codes=codes)
            try:
                self.known[args] = json.loads(out)
            except ValueError as error:
                self.check(False, " ".join(args), f"exit {code}, no JSON: {error}: {out[:200]!r}")
                self.known[args] = None
        return self.known[args]

    def rows(self, *args):
        """All rows of a report, each a dict."""
        answer = self.json(*args, *(() if args[0] in ("timeline", "memory", "fragmentation", "info", "advise") else ("--limit", "0")))
        return answer["rows"] if answer else []

    def query(self, sql):
        answer = self.json("query", sql)
        return answer["rows"] if answer else []

    def imported(self, inputs, values={}):
        """Imports (NAME, PATH) and yields a Run for each that memtool takes; odd ones may be refused. values: --values by name."""
        for name, path in inputs:
            self.offered += 1
            options = ("--values", values[name]) if name in values else ()
            code, _, _ = self.run("import", path, "--name", name, *options, codes=(0, 2))
            if code == 0:
                self.taken += 1
                yield Run(self, name)

    def finish(self, at_least):
        self.check(self.passed >= at_least, f"only {self.passed} checks, fewer than {at_least}")
        self.check(2 * self.taken >= self.offered, f"only {self.taken} of {self.offered} inputs were imported")
        print(f"{self.commands} commands; {self.failed} failed in all, a few of each kind are shown")
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""))
        sys.exit(self.failed > 0)


class Run:
    """An imported run and what the store says of it."""

    def __init__(self, m, name):
        self.m, self.name = m, name
        self.devices = m.query(f"SELECT * FROM v_device WHERE run = '{name}'")
        self.steps = m.query(f"SELECT number, start_ns, end_ns FROM v_step WHERE run = '{name}' ORDER BY start_ns")
        row = m.query(f"SELECT format, dur_ns FROM run WHERE name = '{name}'")[0]
        self.is_snapshot = row["format"] == "cuda-snapshot"
        self.dur_ns = row["dur_ns"]
        self.has_lines = row["format"] == "pytorch-trace" and bool(
            m.query(f"SELECT 1 AS yes FROM v_node WHERE run = '{name}' AND kind = 'python' AND name GLOB '*.py(*' AND name NOT LIKE 'torch%' LIMIT 1"))
        self.one_moment = bool(m.query(f"SELECT 1 AS yes FROM v_note WHERE run = '{name}' AND kind = 'state_only'"))

    def __str__(self):
        return self.name


def refusal(report):
    """How a report exits of a run that lacks what it asks for: of leaks that is a verdict."""
    return 3 if report == "leaks" else 2


def total(rows, column):
    """The sum of a column over rows; None where no row knows it."""
    values = [row[column] for row in rows if row[column] is not None]
    return sum(values) if values else None


def by(rows, *keys):
    """Rows as a dict by the values of these columns."""
    return {tuple(row[key] for key in keys): row for row in rows}


def summed(rows, keys, columns):
    """Rows added up by the values of `keys`, without those that hold nothing: {key values: {column: sum}}.

    What lies outside ops, or was freed unseen, has rows of its own, whose last key says so: it belongs to that thread or
    step all the same.
    """
    sums = {}
    for row in rows:
        key_values = (OUTSIDE.sub(r"\1", row[key]) if isinstance(row[key], str) else row[key] for key in keys)
        into = sums.setdefault(tuple(key_values), dict.fromkeys(columns, 0))
        for column in columns:
            into[column] += row[column] or 0
    return {key: row for key, row in sums.items() if any(row.values())}


def differences(a, b):
    """The first two entries in which two dicts differ, for a message."""
    return [(key, a.get(key), b.get(key)) for key in sorted(a.keys() | b.keys(), key=str) if a.get(key) != b.get(key)][:2]
