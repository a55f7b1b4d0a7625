#!/usr/bin/env python3
"""import --jobs: files read side by side leave the database that files read one by one leave, damaged ones among them."""

import glob
import os
import shutil
import sqlite3

import mt

m = mt.Matrix()
SAMPLES = os.environ["SAMPLES"]
HOSTILE = os.path.join(SAMPLES, "..", "tests", "hostile")
RANKS = os.path.join(SAMPLES, "..", "tests", "recordings", "ranks")


def stored(name):
    """All rows of a database, but for when they came."""
    with sqlite3.connect(name) as db:
        db.execute("UPDATE run SET imported_at = ''")
        return list(db.iterdump())


def folder(name, files):
    """Copies of files under numbered names."""
    os.mkdir(name)
    for i, file in enumerate(files):
        shutil.copy(file, os.path.join(name, f"{i:02}_" + "_".join(file.split("/")[-2:])))
    return name


def imported(db, files, *options, codes=(0,)):
    """What import says and stores. A database of its own."""
    m.db = os.path.abspath(db)
    _, out, err = m.run("import", files, *options, codes=codes)
    return out, err.replace(db, "DB"), stored(db) if os.path.exists(db) else None


def compare(what, files, *options, codes=(0,)):
    alone = imported(f"{what}1.db", files, *options, "--jobs", "1", codes=codes)
    for jobs in ("2", "3", "16"):
        beside = imported(f"{what}{jobs}.db", files, *options, "-j", jobs, codes=codes)
        for part, a, b in zip(("output", "errors", "rows"), alone, beside):
            m.check(a == b, what, part, jobs, "jobs", options, a and [pair for pair in zip(a, b) if pair[0] != pair[1]][:3])
    return alone


packed = sorted(glob.glob(os.path.join(SAMPLES, "*", "trace.json.gz")) + glob.glob(os.path.join(SAMPLES, "ranks", "*.gz"))
                + glob.glob(os.path.join(SAMPLES, "snapshots", "*.pickle")) + glob.glob(os.path.join(RANKS, "*.gz")))
good = folder("good", packed)
out, err, rows = compare("good", good, "--group", "job")
m.check(len([row for row in rows if row.startswith('INSERT INTO "run" ')]) == len(packed), "all are stored", len(packed))
# As many once more: what is there is told by its hash, and nothing is changed.
again, _, after = imported("good3.db", good, "--group", "job", "-j", "3")
m.check(again.count("already imported as run") == len(packed) and len(again.splitlines()) == len(packed) + 1, "the second time", again[:300])
m.check(again.splitlines()[-1] == f"{len(packed)} runs in the group job: memtool ranks job compares them", "what to ask of the group", again[-300:])
# The first of them joins last, so each is the latest in its turn; rows of runs are as they were.
m.check([row for row in after if "run_group" not in row] == [row for row in rows if "run_group" not in row], "nothing changes")
_, joined, _ = imported("good3.db", good, "--group", "other", "-j", "3")
m.check(m.query("SELECT count(*) AS n FROM run_group WHERE name = 'other'")[0]["n"] == len(packed), "known runs join a group")
# A file that changed is another run, and one that another choice shapes is, too.
first = sorted(os.listdir(good))[0]
shutil.copy(packed[-1], os.path.join(good, first))
changed, _, _ = imported("good3.db", good, "-j", "3")
m.check(changed.count("already imported as run") == len(packed), "the same content under another name", changed[:300])
shutil.copy(os.path.join(SAMPLES, "..", "tests", "recordings", "ranks", sorted(os.listdir(RANKS))[0]), os.path.join(good, first))
other, _, rows = imported("good3.db", good, "-j", "3", "--step-marker", "ProfilerStep#1")
m.check("already" not in other, "another choice is another run", other[:300])

# Damaged files among them: each is named, the others are stored, and the exit code says so.
bad = folder("bad", packed[:4])
for i, file in enumerate(packed[:3]):
    with open(file, "rb") as source, open(f"bad/0{i}_cut_{os.path.basename(file)}", "wb") as cut:
        cut.write(source.read()[: os.path.getsize(file) // 2])
for i, name in enumerate(("cut_short_text.json.gz", "cut_short_text.json.gz")):
    shutil.copy(os.path.join(HOSTILE, name), f"bad/99_{i}_{name}")
out, err, rows = compare("bad", bad, codes=(2,))
m.check(f"5 of {len(os.listdir(bad))} files could not be imported; the others were" in err, "damaged files", err)
for name in os.listdir(bad):
    m.check((f"bad/{name}" in err) == ("_cut_" in name or name.startswith("99_")), "what is damaged is named", name, err)

# Where their share of the memory is too little, files are read alone; what needs more than all of it is refused.
compare("tight", good, "--max-memory", "3MiB", codes=(0, 2))
compare("none", good, "--max-memory", "20KiB", codes=(2,))

for jobs in ("0", "-3", "257", "x"):
    m.run("import", good, f"--jobs={jobs}", codes=(2,))
m.taken = m.offered = 0
m.finish(at_least=60)
