#!/usr/bin/env python3
"""Rows of every report over every file of some folders, of two programs: for changes that must not move a figure.

    tests/compare_reports.py BEFORE AFTER FOLDER...      e.g. /tmp/old/memtool build/memtool samples tests/loops

BEFORE and AFTER are two builds of memtool. Each imports every file below the folders into a database of its
own and answers each report in REPORTS, on every device, as csv. Exit codes and rows must be the same, in the
same order; AFTER may have more columns. What a report writes to standard error is not compared: wording may change.

    --figures    compare only figures (columns ending in _b, _n, _ns, _pct), where words of rows change, too
    --only REGEX only files whose path matches
    --jobs N     files at a time (as many as there are processors)

Exit code 0: nothing differs; 1: something does; 2: wrong usage, or no file could be imported.
"""

import argparse
import concurrent.futures
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

# Reports that are asked of each device of a run; {run} stands for its name.
REPORTS = [
    "table {run} --limit 0",
    "table {run} --limit 0 --by path",
    "table {run} --limit 0 --by site,phase,step,thread",
    "table {run} --limit 0 --by module,shape",
    "table {run} --limit 0 --by forward",
    "tree {run}",
    "tree {run} --invert",
    "peak {run} --limit 0",
    "peak {run} --limit 0 --by path,step",
    "peak {run} --limit 0 --per step",
    "peak {run} --limit 0 --per name",
    "peak {run} --limit 0 --at @end",
    "timeline {run} --by site",
    "timeline {run} --exact",
    "timeline {run} --metric reserved",
    "leaks {run} --all --limit 0",
    "memory {run}",
    "segments {run} --limit 0",
    "segments {run} --limit 0 --by site",
    "fragmentation {run}",
    "fragmentation {run} --fit 1GiB",
]
# Reports of all devices at once.
WHOLE_REPORTS = [
    "info {run}",
    "table {run} --limit 0 --by name,device",
    "table {run} --limit 0 --compat torch",
    "diff {run} {run} --limit 0 --all",
    "check {run} --max-peak 1KiB --max-growth-per-step 0",
]
FIGURE = re.compile(r".*_(b|n|ns|pct)$")
TIMEOUT_S = 600


def ask(program, db, arguments):
    """(exit code, header, rows) of a report; a program that hangs or dies has an exit code of its own."""
    try:
        done = subprocess.run([program, *arguments, "--db", db, "--format", "csv"], capture_output=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return "timeout", [], []
    rows = list(csv.reader(io.StringIO(done.stdout.decode(errors="surrogateescape"), newline="")))
    return done.returncode, rows[0] if rows else [], rows[1:]


def difference(before, after, figures_only):
    """What differs between two answers, in words; None where nothing does."""
    if before[0] != after[0]:
        return f"exit code {before[0]}, now {after[0]}"
    names = [name for name in before[1] if not figures_only or FIGURE.match(name)]
    gone = [name for name in names if name not in after[1]]
    if gone:
        return f"without the columns {', '.join(gone)}"
    if len(before[2]) != len(after[2]):
        return f"{len(before[2])} rows, now {len(after[2])}"
    pairs = [(name, before[1].index(name), after[1].index(name)) for name in names]
    for number, (old, new) in enumerate(zip(before[2], after[2]), 1):
        for name, i, k in pairs:
            if old[i] != new[k]:
                return f"row {number}, {name}: {old[i]!r}, now {new[k]!r}"
    return None


def compare_file(path, options):
    """(imported, reports compared, differences) of one file."""
    found = []
    with tempfile.TemporaryDirectory(prefix="memtool_compare") as folder:
        programs = [(options.before, os.path.join(folder, "before.db")), (options.after, os.path.join(folder, "after.db"))]
        codes = [subprocess.run([program, "import", path, "--name", "r", "--db", db], capture_output=True, timeout=TIMEOUT_S).returncode
                 for program, db in programs]
        if codes[0] != codes[1]:
            return False, 0, [f"import: exit code {codes[0]}, now {codes[1]}"]
        if codes[0] != 0:
            return False, 0, []
        devices = [row[0] for row in ask(*programs[0], ["query", "SELECT device FROM v_device WHERE run = 'r'"])[2]]
        asked = [report.format(run="r").split() for report in WHOLE_REPORTS]
        asked += [report.format(run="r").split() + ["--device", device] for device in devices for report in REPORTS]
        for arguments in asked:
            before, after = (ask(program, db, arguments) for program, db in programs)
            what = difference(before, after, options.figures)
            if what:
                found.append(f"memtool {' '.join(arguments)}: {what}")
    return True, len(asked), found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("before", type=os.path.abspath)
    parser.add_argument("after", type=os.path.abspath)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    files = sorted({os.path.join(folder, name) for top in options.folders for folder, _, names in os.walk(top) for name in names
                    if re.search(options.only, os.path.join(folder, name))})
    imported = reports = differing = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, (taken, asked, found) in zip(files, pool.map(lambda path: compare_file(path, options), files)):
            imported, reports = imported + taken, reports + asked
            differing += len(found)
            for line in found:
                print(f"{path}: {line}")
    print(f"{len(files)} files, {imported} of them recordings; {reports} reports compared, {differing} differ")
    return 1 if differing else 0 if imported else 2


if __name__ == "__main__":
    sys.exit(main())
