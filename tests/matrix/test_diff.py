"""What must hold of every comparison: diff X X changes nothing, diff A B mirrors diff B A, the rows of the
peak add up to its change, and every format has the same rows whatever is left out."""
import csv
import io
import json
import os
import re
import subprocess
import sys

MEMTOOL, SAMPLES = os.environ["MEMTOOL"], os.environ["SAMPLES"]
KEYS = ["name", "top", "site", "scope", "module", "phase", "path", "shape", "thread", "size", "step", "forward", "path,thread", "size,site"]
PAIRS = [  # BASE, NEW, device
    ("cnn_b16", "cnn_b32", "cpu"),
    ("cnn_b16_torch2.6", "cnn_stack", "cpu"),
    ("leak_steps", "noleak_steps", "cpu"),
    ("cache_steps", "basic", "cpu"),
    ("checkpoint_torch1.13", "fork_join", "cpu"),
    ("two_devices", "fragmented", "cuda:0"),
    ("older_with_frames", "odd_frames", "cuda:0"),
    ("two_devices", "two_devices", "cuda:1"),
]
SECTIONS = {"peak": "site", "op": "name", "leak": "site"}
OF_OPS = ["self_alloc_b", "alloc_b", "self_net_b", "net_b", "self_alloc_n", "calls_n"]
passed = failed = 0


def check(what, good, *shown):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAIL", what, *shown)


def memtool(*args):
    done = subprocess.run([MEMTOOL, *args], capture_output=True, text=True)
    if done.returncode:
        print("FAIL memtool", *args, "exits", done.returncode, done.stderr)
        sys.exit(1)
    return done.stdout


def find(sample):
    for path in (f"{SAMPLES}/{sample}/trace.json.gz", f"{SAMPLES}/snapshots/{sample}.pickle"):
        if os.path.exists(path):
            return path
    sys.exit(f"there is no sample {sample}")


def compare(base, new, device, by, *options):
    return json.loads(memtool("diff", base, new, "--device", device, "--by", by, "--format", "json", *options))


def deltas(row):
    return {name: value for name, value in row.items() if "_delta_" in name}


def figures(row, base, new):
    """The figures of both runs, under names that do not depend on which is called BASE."""
    return {side + name[len(word):]: value for word, side in (("base_", base), ("new_", new))
            for name, value in row.items() if name.startswith(word)}


def sorted_rows(report, base, new):
    # What a row is called differs: both have the names of NEW.
    return sorted((row["section"], json.dumps(figures(row, base, new), sort_keys=True)) for row in report["rows"])


def check_itself(run, device, by):
    rows = compare(run, run, device, by)["rows"]
    wrong = [row for row in rows if row["match"] != "same" or any(deltas(row).values())]
    check(f"diff {run} {run} --by {by} on {device}", not wrong and rows, wrong[:2])


def check_calls(base, new):
    """Of what is no part of the call tree nobody knows calls; of ops they are table's."""
    for by, known in (("tensor", False), ("category", False), ("dtype", False), ("name", True)):
        rows = [row for row in compare(base, new, "cpu", by)["rows"] if row["section"] == "op" and not (known and row[by].startswith("["))]
        wrong = [row for row in rows if (row["base_calls_n"] is None or row["calls_delta_n"] is None) == known]
        check(f"calls of diff --by {by}", rows and not wrong, wrong[:2])


def check_pair(base, new, device, by):
    there, back = compare(base, new, device, by), compare(new, base, device, by)
    what = f"diff {base} {new} --by {by} on {device}"
    a, b = sorted_rows(there, "x", "y"), sorted_rows(back, "y", "x")
    check(what + " is no mirror", a == b, len(a), len(b))
    wrong = [row for row in there["rows"] for name, value in deltas(row).items() if value is not None
             and abs(value - (row["new_" + name.replace("_delta", "")] - row["base_" + name.replace("_delta", "")])) > 1e-6]
    check(what + ": a delta is not NEW less BASE", not wrong, wrong[:2])
    if by == "forward":
        return
    change = sum(row["at_peak_delta_b"] for row in there["rows"] if row["section"] == "peak")
    total = [row["at_peak_delta_b"] for row in there["rows"] if row["section"] == "total"]
    check(what + ": the peak's rows do not add up", [change] == total, change, total)


def check_strict(base, new, device, by):
    """Rows of the same name match, no others; what each run has is there all the same."""
    strict, tolerant = (compare(base, new, device, by, *options) for options in (("--strict",), ()))
    what = f"diff {base} {new} --by {by} on {device} --strict"
    odd = [row for row in strict["rows"] if row["match"] not in ("same", "only BASE", "only NEW", None) and row["section"] != "total"]
    check(what + " matches by a form", not odd, odd[:2])
    keys = by.split(",")
    for section in {row["section"] for row in strict["rows"]} - {"total"}:
        names = [tuple(row[key] for key in keys) + (row["match"],) for row in strict["rows"] if row["section"] == section]
        check(what + f": a name of {section} is there twice", len(names) == len(set(names)), len(names))
        sums = [sum(row["at_peak_delta_b"] or 0 for row in report["rows"] if row["section"] == section) for report in (strict, tolerant)]
        check(what + f": the change of {section}", sums[0] == sums[1], sums)


def check_every_row(base, new, device, by):
    """A row for each operator that differs in bytes, its own or with what it calls, or in calls; and for no other."""
    keys, tables = by.split(","), []
    for run in (base, new):
        rows = json.loads(memtool("table", run, "--device", device, "--by", by, "--format", "json", "--limit", "0"))["rows"]
        tables.append({tuple(row[key] for key in keys): [row[column] or 0 for column in OF_OPS] for row in rows})
    nothing = [0] * len(OF_OPS)
    want = {key for key in tables[0].keys() | tables[1].keys() if tables[0].get(key, nothing) != tables[1].get(key, nothing)}
    got = {tuple(row[key] for key in keys) for row in compare(base, new, device, by, "--strict", "--section", "op")["rows"]}
    check(f"diff {base} {new} --by {by} on {device} --section op: rows", got == want, sorted(want - got)[:3], sorted(got - want)[:3])


def check_moved():
    """A line that moved is the same site; with --strict another one, and both are rows."""
    for name, line in (("before", 12), ("after", 15)):
        with open(f"{name}.folded", "w") as out:
            out.write(f"main (app.py:3);load (app.py:{line}) 4096\nmain (app.py:3);step (app.py:20) 100\n")
        memtool("import", f"{name}.folded", "--values", "at-end", "--name", name)
    for options, want in (((), set()), (("--strict",), {("only BASE", -4096), ("only NEW", 4096)})):
        rows = json.loads(memtool("diff", "before", "after", "--section", "end", "--by", "name", "--format", "json", "--limit", "0", *options))["rows"]
        got = {(row["match"], row["at_end_delta_b"]) for row in rows if row["base_at_end_b"] or row["new_at_end_b"]}
        check(f"a line that moved {options}", got == want, got)


def shown(text, form):
    """The rows of one section as (change in bytes, key)."""
    if form == "json":
        return [(str(row["change_b"]), list(row.values())[1]) for row in json.loads(text)["rows"]]
    if form in ("csv", "tsv"):
        return [tuple(row) for row in csv.reader(io.StringIO(text), delimiter="\t" if form == "tsv" else ",")][1:]
    lines = text.splitlines()
    if form == "markdown":
        cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        return [(row[0].replace("+", ""), row[1].replace("\\", "")) for row in cells[2:]]
    rows = []
    for line in lines[2:]:  # a title, the headings
        number, _, rest = line.strip().partition("  ")
        if not number.lstrip("+-").isdigit():
            break
        rows.append((number.lstrip("+"), rest.strip()))
    return rows


def read_by_people(rows, key):
    """Rows of csv as tables show them: autograd's nodes by their names, told apart from the ops they run."""
    engine, end = "autograd::engine::evaluate_function: ", " (engine)" if key == "name" else ""
    return [(change, name.replace(engine, "") + (end if name.startswith(engine) else "")) for change, name in rows]


def exactly(name):
    return "^" + re.sub(r"[][\\.*^$+?(){}|]", r"\\\g<0>", name) + "$"


def check_formats(base, new, section, *filters):
    key, came = SECTIONS[section], {}
    for form in ("csv", "tsv", "json", "markdown", "table"):
        text = memtool("diff", base, new, "--section", section, "--columns", f"change_b,{key}", "--bytes", "--all",
                       "--format", form, *filters)
        came[form] = shown(text, form)
    for form in came:
        want = read_by_people(came["csv"], key) if form in ("markdown", "table") else came["csv"]
        check(f"diff {base} {new} --section {section} {' '.join(filters)}: {form} is not csv", came[form] == want, len(came[form]), len(want))
    return came["csv"]


def check_written(base, new, *filters):
    """Rows that are written as they are made are those that are made first, as those of chosen columns are."""
    args = [MEMTOOL, "diff", base, new, *filters]
    for form in ("json", "tsv", "csv"):
        one_by_one = subprocess.run([*args, "--format", form], capture_output=True, text=True)
        names = memtool(*args[1:], "--format", "csv").split("\n", 1)[0]
        together = subprocess.run([*args, "--format", form, "--columns", names], capture_output=True, text=True)
        check(f"diff {base} {new} {' '.join(filters)}: {form} of all columns", (one_by_one.stdout, one_by_one.stderr) == (together.stdout, together.stderr))
    return one_by_one.stderr


def check_trend(*options):
    """Of several runs each has a row, with the figures that the total has where it is NEW."""
    runs = ("leak_steps", "noleak_steps", "cache_steps")
    report = json.loads(memtool("diff", *runs, "--section", "total", "--format", "json", *options))
    total, rows = report["rows"][-1], report["rows"][:-1]
    check(f"diff of three runs {options}: a row for each", [row["site"] for row in rows] == list(runs))
    same = [deltas(rows[-1]) == deltas(total), rows[-1]["new_alloc_b"] == total["new_alloc_b"],
            rows[0]["base_time_ns"] == total["base_time_ns"], rows[0]["new_calls_n"] == total["base_calls_n"]]
    check(f"diff of three runs {options}: the rows are as the total", all(same), same)
    one = json.loads(memtool("diff", runs[1], runs[1], "--section", "total", "--format", "json", *options))["rows"][-1]
    names = ("new_alloc_b", "new_calls_n", "new_time_ns", "new_self_alloc_n", "new_at_peak_b", "new_per_step_b")
    check(f"diff of three runs {options}: the middle one", [one[n] for n in names] == [rows[1][n] for n in names])


def check_many():
    """More names than are read one by one, in another order, with some that only one run has: in one database, or in
    two, which know functions by other numbers."""
    rows = []
    for name, order in (("many", range(4000)), ("mixed", sorted(range(200, 4200), key=lambda i: i * 2654435761 % 4093))):
        with open(f"{name}.csv", "w") as f:
            f.write("stack,alloc_b\n" + "".join(f"main;f{i},{i + (i % 10 == 0) * (name == 'mixed')}\n" for i in order))
        memtool("import", f"{name}.csv", "--name", name)
    wanted = {f"f{i}" for i in range(200)} | {f"f{i}" for i in range(4000, 4200)} | {f"f{i}" for i in range(200, 4000) if i % 10 == 0}
    for runs in (("many", "mixed"), ("./many.csv", "./mixed.csv")):
        out = memtool("diff", *runs, "--section", "op", "--limit", "0", "--format", "csv")
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(out)) if row["name"] not in ("main", "f0")}
        check(f"names of {runs}", set(rows) == wanted - {"f0"})
        check(f"what is in one of {runs} alone", all((row["match"] == "same") == (200 <= int(name[1:]) < 4000) for name, row in rows.items()))


def main():
    os.environ["MEMTOOL_DB"] = "t.db"
    check_many()
    for sample in sorted({sample for pair in PAIRS for sample in pair[:2]}):
        memtool("import", find(sample), "--name", sample)
    for base, new, device in PAIRS:
        for by in KEYS:
            check_itself(base, device, by)
            if base != new:
                check_pair(base, new, device, by)
                check_strict(base, new, device, by)
                check_every_row(base, new, device, by)
    check_calls("cnn_b16", "cnn_b32")
    check_moved()
    check_trend()
    check_trend("--per-step")
    for filters in ([], ["--limit", "2"], ["--by", "path", "--strict"], ["--section", "op,leak"], ["--per-step"]):
        check_written("leak_steps", "noleak_steps", *filters)
    check("what is left out of no rows is told", "No rows left: " in check_written("cnn_b16", "cnn_b32", "--section", "op", "--min", "9TiB"))
    for pair, section in ((("cnn_b16", "cnn_b32"), "peak"), (("cnn_b16", "cnn_b32"), "op"),
                          (("leak_steps", "noleak_steps"), "leak"), (("cnn_b16_torch2.6", "cnn_stack"), "op")):
        every = check_formats(*pair, section, "--limit", "0")
        csv_alone = memtool("diff", *pair, "--section", section, "--columns", f"change_b,{SECTIONS[section]}", "--format", "csv")
        check(f"csv of {section} has no limit of its own", shown(csv_alone, "csv") == every)
        sizes = sorted(abs(int(row[0])) for row in every)
        check_formats(*pair, section, "--limit", "2")
        check_formats(*pair, section, "--min", str(sizes[len(sizes) // 2]), "--limit", "0")
        check_formats(*pair, section, "--name", "e", "--limit", "3")
        last = check_formats(*pair, section, "--name", exactly(every[-1][1]))
        check(f"--name of the last row of {section}: filters come before the limit", last == every[-1:], last)
        check("--name that matches nothing", check_formats(*pair, section, "--name", "no such row") == [])
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
