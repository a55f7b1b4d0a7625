"""Every loop of tests/loops: what memtool says of it, against what the program that ran it knows.

tests/loops/README.md tells what each key of truth.json means, and what may be said. A loop is one
test; all that is wrong with it is printed. The last line counts the loops: "N passed, N failed".

    MEMTOOL=build/debug/memtool python3 tests/matrix/test_loops.py [NAME...]
"""

import concurrent.futures
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile

LOOPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "loops")
MEMTOOL = os.environ["MEMTOOL"]

# Reports on what is alive: each says that its figures are upper bounds where frees were seen by nobody.
ALIVE = (
    ("info", "it"),
    ("table", "it"),
    ("tree", "it"),
    ("peak", "it"),
    ("peak", "it", "--per", "step"),
    ("leaks", "it"),
    ("leaks", "it", "it"),
    ("timeline", "it"),
    ("memory", "it"),
    ("diff", "it", "it"),
    ("check", "it", "--max-peak", "1TiB"),
)
UNSEEN = "where the profiler did not see it"
# No backward in the last step: gradients are those of an earlier one.
NO_LAST_BACKWARD = {"last_step_cut_open", "list_in_epochs", "validation_alone"}


class Loop:
    def __init__(self, truth, folder):
        self.truth, self.name = truth, truth["name"]
        self.codes = {truth["exit"], *truth["accept"]}
        self.place = os.path.join(folder, self.name)
        self.wrong = []

    def expect(self, ok, what):
        if not ok:
            self.wrong.append(what)

    def run(self, *args, codes=(0, 1, 3)):
        """Exit code and standard output."""
        done = subprocess.run(
            [MEMTOOL, *args, "--db", self.place + ".db"], capture_output=True, text=True, timeout=120
        )
        self.expect(
            done.returncode in codes, f"{' '.join(args)}: exit {done.returncode}, {done.stderr}"
        )
        return done.returncode, done.stdout

    def look(self):
        """Every check; those that need a figure of an earlier one come after it."""
        trace = os.path.join(LOOPS, self.name + ".json.gz")
        self.run("import", trace, "--name", "it", *shlex.split(self.truth["import"]), codes=(0,))
        self.steps()
        self.unseen()
        leaks = self.leaks()
        check = self.run("check", "it", "--max-growth-per-step", "0")[0]
        self.expect(check in self.codes, f"check --max-growth-per-step 0: exit {check}")
        self.expect(check == leaks, f"leaks --fail: exit {leaks}, check: exit {check}")
        self.advice()
        if self.truth["exit"] == 1 and self.truth["exact"]:
            self.limits()

    def steps(self):
        out = self.run("info", "it", "--format", "json")[1]
        steps = json.loads(out)["totals"]["step_n"]
        self.expect(steps == self.truth["steps"], f"{steps} steps, not {self.truth['steps']}")

    def advice(self):
        """What is kept from step to step is advised against first, and with its growth; nothing else is."""
        rows = json.loads(self.run("advise", "it", "--all", "--format", "json")[1])["rows"]
        growing = [r for r in rows if r["applies"] and r["advice"] in ("stop_keeping", "detach")]
        if self.truth["verdict"] == "no leak":
            self.expect(not growing, f"advice where nothing grows: {growing}")
        if self.truth["verdict"] != "leak":
            return
        if not growing:
            self.expect(3 in self.codes, "no advice against what grows")
            return
        self.expect(rows[0] is growing[0], f"{rows[0]['advice']} comes before what grows")
        if self.truth["exact"] and len(growing) == 1:
            for key in ("per_step_b", "per_step_n"):
                self.expect(abs(growing[0][key] - self.truth[key]) < 0.001, f"advice: {key} {growing[0][key]}")

    def query(self, sql):
        return json.loads(self.run("query", sql, "--format", "json")[1])["rows"][0]

    def unseen(self):
        """Frees that no record holds: none that was none, all that can be known, and every report says so."""
        threads = self.truth.get("threads", {"handed_n": 0, "reused_n": 0, "reused_b": 0, "block_b": 0})
        if self.name == "writer_all_threads":  # no memory records
            return
        d = self.query("SELECT * FROM device")
        n, handed_b = d["unseen_n"], threads["handed_n"] * threads["block_b"]
        self.expect(threads["reused_n"] <= n <= threads["handed_n"], f"{n} blocks freed unseen")
        self.expect(threads["reused_b"] <= d["unseen_b"] <= handed_b, f"{d['unseen_b']} B freed unseen")
        for key in ("peak_b", "at_end_b", "at_end_n"):
            most = threads.get(key[:-2] + "_at_most" + key[-2:])
            self.expect(most is None or d[key] <= most, f"{key} {d[key]}, not {most} at most")
        doubt_b = d["doubt_at_end_b"]
        self.expect(n or not doubt_b, f"{doubt_b} B in doubt though nothing was freed unseen")
        if threads["handed_n"]:  # what is left of them is in doubt once one came back
            left_b = handed_b - d["unseen_b"]
            self.expect(not n or doubt_b >= left_b, f"{doubt_b} B in doubt at the end, of {left_b} B handed over")
        for report in ALIVE:
            if "step" in report and not self.truth["steps"]:
                continue
            notes = json.loads(self.run(*report, "--format", "json")[1])["notes"]
            said = sum(UNSEEN in note for note in notes)
            self.expect((said > 0) == (n > 0), f"{' '.join(report)}: said {said} times that {n} frees were not seen")

    def leaks(self):
        code, out = self.run("leaks", "it", "--fail", "--format", "json", "--limit", "0")
        answer, truth = json.loads(out), self.truth
        self.expect(code in self.codes, f"leaks --fail: exit {code}")
        total = answer["totals"]
        growth = total.get("leak_per_step_b") or total.get("candidate_per_step_b") or 0
        doubt = sum(row["doubt_at_end_b"] for row in answer["rows"])
        if truth["exact"] and truth["per_step_b"] and code:
            near = abs(growth - truth["per_step_b"]) < 0.01
            most = code == 3 and doubt and growth > truth["per_step_b"]
            self.expect(near or most, f"grows by {growth} B a step, not {truth['per_step_b']}")
        self.expect("threads" in truth or not doubt, f"{doubt} B are in doubt")
        for row in answer["rows"]:
            gradient = row["site"].startswith("autograd::engine::")
            if gradient and self.name not in NO_LAST_BACKWARD:
                self.expect(row["verdict"] != "cache", f"{row['site']} is called a cache")
        return code

    def limits(self):
        """check just below the true growth, and at it."""
        most = math.ceil(self.truth["per_step_b"])
        doubt = 3 in self.codes or "threads" in self.truth
        wanted = {
            most - 1: {"fail", "inconclusive"} if 3 in self.codes else {"fail"},
            most: {"pass", "inconclusive"} if doubt else {"pass"},
        }
        with open(self.place + ".json", "w") as f:
            rules = [{"max-growth-per-step": limit} for limit in wanted]
            json.dump({"schema": "memtool.rules", "version": 1, "rules": rules}, f)
        out = self.run("check", "it", "--rules", self.place + ".json", "--format", "json")[1]
        for row in json.loads(out)["rows"]:
            ok = row["verdict"] in wanted[row["limit_b"]]
            self.expect(ok, f"check --max-growth-per-step {row['limit_b']}: {row['verdict']}")


def look_at(truth, folder):
    loop = Loop(truth, folder)
    try:
        loop.look()
    except (KeyError, ValueError, TypeError) as error:  # no such answer
        loop.wrong.append(repr(error))
    return loop.wrong


def main():
    with open(os.path.join(LOOPS, "truth.json")) as f:
        truths = json.load(f)
    asked = sys.argv[1:] or [t["name"] for t in truths]
    truths = [t for t in truths if t["name"] in asked]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for truth, wrong in zip(truths, pool.map(lambda t: look_at(t, folder), truths)):
            for what in wrong:
                print(f"{truth['name']} ({truth['verdict']}; {truth['about']}): {what}")
            failed += bool(wrong)
    print(f"{len(truths) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
