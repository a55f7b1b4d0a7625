"""A generated job and its rollup, and what memtool answers of it: for tests of the engines that keep rollups."""
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys

import jobs
import mt

m = mt.Matrix()
RANKS = int(os.environ.get("RANKS", "12"))
GENERATOR = os.path.join(os.environ["SAMPLES"], "..", "tests", "bench", "gen_job.py")
AT = "900000000ns"  # a moment of the generated job: the leak has begun


def generate(folder, *options):
    subprocess.run([sys.executable, "-B", GENERATOR, folder, *options], check=True)
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
        return json.load(file)


def imported():
    """The job, and another run of one of its ranks; returns what its ranks are."""
    job = generate("job", "--ranks", str(RANKS))
    generate("later", "--ranks", str(RANKS), "--steps", "5")
    os.rename("later/rank0.json.gz", "job/rank0_again.json.gz")
    m.run("import", "job", "--partial", "--group", "job", codes=(0, 1))
    return job


def rows_of(*command):
    """The rows of a report, as texts by column."""
    out = m.run(*command, "--format", "tsv", "--limit", "0")[1]
    return list(csv.DictReader(io.StringIO(out), delimiter="\t", quoting=csv.QUOTE_NONE))


def lines(rows, *columns):
    truth = {"true": "1", "false": "0"}
    return "".join("\t".join(truth.get(row[c], row[c]) for c in columns) + "\n" for row in rows)


def job_answers(job):
    """What memtool says of the ranks of a job, by query of ClickHouse."""
    ranks = rows_of("ranks", job)
    of = {section: [row for row in ranks if row["section"] == section] for section in ("rank", "outlier")}
    return {
        "ranks": lines(sorted(of["rank"], key=lambda row: (int(row["rank"].replace(r"\N", "999")), row["run"])), "rank", "run", "stage", "device",
                       "peak_b", "over_median_b", "outlier", "peak_ns", "at_end_b"),
        "spread": lines(rows_of("ranks", job, "--by", "cluster"), "stage", "tp", "first_rank", "last_rank", "rank_n", "least_peak_b",
                        "median_peak_b", "peak_b", "deviation_b"),
        "sites": lines(sorted(of["outlier"], key=lambda row: (-int(row["at_peak_delta_b"]), row["site"])),
                       "at_peak_delta_b", "base_at_peak_b", "new_at_peak_b", "site"),
    }


def outliers(answers_of_job):
    return [line.split("\t")[0] for line in answers_of_job["ranks"].splitlines() if line.split("\t")[6] == "1"]


def others():
    """Jobs whose clusters are no stages, or that nobody judges: by name their rows, as tsv."""
    jobs.write("hybrid", *jobs.hybrid())
    jobs.write("blocks", jobs.blocks())
    for host in range(3):  # ranks of hosts, whose number in the job nobody knows; each has two runs
        for step in (5, 10):
            jobs.write(f"hosts/node{host}/step_{step}", [20 + step / 256 + (4 * host + rank) / 64 + 30 * (host == 1 and rank == 2) for rank in range(4)])
    for job in ("hybrid", "blocks", "hosts"):
        m.run("import", job, "--group", job)
    with gzip.open(os.path.join(os.path.dirname(GENERATOR), "..", "loops", "data_workers_open.json.gz"), "rt") as file:
        text = file.read()
    for rank, base in enumerate(("", "0", "1000", "2000", "9000000")):  # the first says nothing of what is older
        with open(f"told_rank{rank}.json", "w", encoding="utf-8") as file:
            file.write(text + "\n" * rank)
        m.run("import", f"told_rank{rank}.json", "--group", "told", *(("--base", base) if base else ()))
    found = {"hybrid": ["6"], "blocks": ["9"], "hosts": [r"\N"], "told": []}
    for job, outside in found.items():
        m.check(outliers(job_answers(job)) == outside, job, "other outliers", job_answers(job)["ranks"])
    return {job: m.run("export", "--rollup", job, "--format", "tsv")[1] for job in found}


def check_others(loaded, ask, engine):
    """loaded: these jobs; ask: the answer to a statement, as text."""
    for job in loaded:
        for name, expected in job_answers(job).items():
            got = ask(statement(name, job=f"'{job}'"))
            m.check(got == expected, engine, job, name, f"\n{got[:800]}instead of\n{expected[:800]}")


def answers(job):
    """What memtool says, by query of ClickHouse."""
    ranks = rows_of("ranks", "job")
    peak = rows_of("peak", f"rank{job['outlier']}", "--by", "site")
    found = {int(row["rank"]) for row in ranks if row["section"] == "rank" and row["outlier"] == "true"}
    m.check(found == {job["outlier"], job["leak"]}, "ranks", "other outliers than the generator made", found, job)
    of_job = job_answers("job")
    m.check(of_job["sites"], "ranks", "nothing to compare")
    moment = rows_of("peak", f"rank{job['leak']}", "--at", AT, "--by", "site")
    m.check(moment, "peak", AT, "nothing is alive")
    live = lines(sorted(moment, key=lambda row: (-int(row["live_b"]), row["site"])), "live_b", "site")
    return {
        **of_job,
        "steps": lines(rows_of("ranks", "job", "--per", "step"), "rank", "run", "step", "peak_b"),
        "trend": lines([row for row in rows_of("trend", "job") if row["section"] == "run"], "run", "peak_b", "change_b",
                       "alloc_b", "at_end_b"),
        "live": live,
        "peak": lines(sorted(peak, key=lambda row: (-int(row["at_peak_b"]), row["site"])), "at_peak_b",
                      "site"),
    }


def statement(name, **values):
    return re.sub(r"\{(\w+):\w+\}", lambda p: values[p[1]], m.run("schema", "--dialect", "clickhouse", name)[1])


def queries(job):
    """The statements, with values for their parameters."""
    named = re.search(r"There are: (.*)\.", m.run("schema", "--dialect", "clickhouse", "?", codes=(2,))[2])[1]
    return {name: statement(name, job="'job'", run=f"'rank{job['leak' if name == 'live' else 'outlier']}'", at=AT[:-2])
            for name in named.split(", ")}
