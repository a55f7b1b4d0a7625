#!/usr/bin/env python3
"""Rollups in ClickHouse (two shards of Debian's 18.16 on loopback): every query of `memtool schema --dialect clickhouse`
answers what memtool itself does, to the byte, whatever happened while the rows were loaded. RANKS=256 for a larger job."""

import csv
import io
import os
import random
import subprocess
import sys

import clickhouse
from rollups import RANKS, answers, check_others, generate, imported, m, others, queries

if not clickhouse.PROGRAM or not clickhouse.CLIENT:
    print("skip: clickhouse-server is not installed; `.ci/deps check` installs it")
    sys.exit(77)

INSERT = "INSERT INTO memtool.rollup FORMAT TabSeparatedWithNames"


def compare(cluster, asked, expected, when):
    for name, sql in asked.items():
        got = cluster.ask(sql)
        m.check(got == expected[name], when, name, f"\n{got[:800]}instead of\n{expected[name][:800]}")


def check_rows(text):
    """What must be true of the rows themselves; returns them."""
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    sums = {}
    for row in rows:
        of = sums.setdefault((row["run"], row["device"]), {"paths": set(), "parents": set(), "steps": 0})
        if row["kind"] == "step":
            of["steps"] += 1
        if row["kind"] in ("step", "block"):
            continue
        for figure in ("alloc_b", "freed_b", "alloc_n", "at_peak_b", "end_b"):
            key = row["kind"], figure
            of[key] = of.get(key, 0) + (0 if row[figure] == r"\N" else int(row[figure]))
        if row["kind"] == "run":
            of["peak_b"] = int(row["peak_b"])
        if row["kind"] == "path":
            of["paths"].add(row["path"])
            of["parents"].add(row["parent"])
    for run, of in sums.items():
        for figure in ("alloc_b", "freed_b", "alloc_n", "end_b"):
            m.check(of["run", figure] == of["site", figure] == of["path", figure], "export", figure, run)
        m.check(of["peak_b"] == of["site", "at_peak_b"] == of["path", "at_peak_b"], "export", "at_peak_b", run)
        m.check(of["parents"] - {r"\N"} <= of["paths"], "export", "a path whose parent is missing", run)
        m.check(of["steps"] >= 2, "export", "steps", run)
    m.check(len(sums) == RANKS + 1, "export", "runs", len(sums))
    return rows


def exported():
    """The job as tsv; what clickhouse is given has the same rows."""
    text = m.run("export", "--rollup", "job", "--blocks", "--format", "tsv")[1]
    m.check(m.run("export", "--rollup", "job", "--blocks", "--format", "tsv")[1] == text, "export", "another time, other rows")
    head, rows = text.split("\n", 1)
    statement, other = m.run("export", "--rollup", "job", "--blocks", "--format", "clickhouse")[1].split("\n", 1)
    m.check(statement == "INSERT INTO memtool.rollup FORMAT TabSeparated" and other == rows, "export", "clickhouse")
    check_rows(text)
    return head, rows


def load(cluster, text, sql=INSERT, check=True):
    return cluster.client(sql, data=text.encode(), options=("--insert_distributed_sync", "1"), check=check)


def load_while_one_dies(cluster, text):
    """A shard is killed in the midst, and starts again."""
    with subprocess.Popen([clickhouse.CLIENT, "--host", "127.0.0.1", "--port", str(cluster.tcp[0]),
                           "--max_insert_block_size", "50", "--insert_distributed_sync", "1", "--query", INSERT],
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as client:
        data, half = text.encode(), len(text) // 2
        try:
            client.stdin.write(data[:half])
            client.stdin.flush()
            cluster.kill(1)
            client.stdin.write(data[half:])
            client.stdin.close()
        except BrokenPipeError:
            pass
        client.stderr.read()
        m.check(client.wait() != 0, "killed", "a load is complete though a shard was killed")
    cluster.start(1)


def fan_in(cluster):
    """The script that loads the jobs of a folder; what it said, and its exit status."""
    script = os.path.join(os.environ["SAMPLES"], "fan_in.sh")
    done = subprocess.run(["sh", script, "store", "state", "--host", "127.0.0.1", "--port", str(cluster.tcp[1])],
                          capture_output=True, timeout=120, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


def check_fan_in(cluster):
    """Jobs of a folder are loaded once they are complete, and again where a server was away."""
    generate("store/first job", "--ranks", "4", "--steps", "3")
    os.makedirs("store/notes")
    with open("store/notes/text", "w", encoding="utf-8") as file:
        file.write("no recording")
    m.check(fan_in(cluster) == (0, ""), "fan_in", "loads what may not be complete")
    generate("store/second", "--ranks", "4", "--steps", "3")
    code, said = fan_in(cluster)
    m.check(code == 1 and "first job: loaded\n" in said and "notes: not loaded" in said, "fan_in", code, said)
    os.rename("store/notes", "notes")
    cluster.kill(0)
    code, said = fan_in(cluster)
    m.check(code == 1 and "second: not loaded" in said and "first" not in said, "fan_in", "a server is away", said)
    cluster.start(0)
    m.check(fan_in(cluster) == (0, "second: loaded\n"), "fan_in", "again")
    m.check(fan_in(cluster) == (0, ""), "fan_in", "nothing is new")
    got = cluster.ask("SELECT job, count() FROM memtool.rollup FINAL WHERE kind = 'run' AND job <> 'job' GROUP BY job "
                      "ORDER BY job")
    m.check(got == "first job\t4\nsecond\t4\n", "fan_in", got)


def main():
    job = imported()
    head, rows = exported()
    text = f"{head}\n{rows}"
    expected, asked = answers(job), queries(job)
    m.check(sorted(asked) == sorted(expected), "schema", "queries that nothing is compared with", sorted(asked))
    with clickhouse.Cluster(os.path.abspath("cluster")) as cluster:
        for shard in range(2):
            for _ in range(2):  # again is harmless
                cluster.client(shard=shard, data=m.run("schema", "--dialect", "clickhouse")[1].encode(),
                               options=("--multiquery",))
        columns = [line.split("\t")[0] for line in cluster.ask("DESCRIBE TABLE memtool.rollup").splitlines()]
        m.check(columns == head.split("\t"), "schema", "columns", columns)
        load_while_one_dies(cluster, text)
        shuffled = rows.splitlines()
        random.Random(1).shuffle(shuffled)
        load(cluster, "\n".join([head, *shuffled]) + "\n")
        compare(cluster, asked, expected, "after a shard died, out of order")
        load(cluster, f"INSERT INTO memtool.rollup FORMAT TabSeparated\n{rows}", sql=None)
        compare(cluster, asked, expected, "loaded again")
        count = cluster.ask("SELECT count() FROM memtool.rollup FINAL")
        m.check(int(count) == len(shuffled), "loaded", "rows", count)
        for shard in range(2):
            own = cluster.client("SELECT count() FROM memtool.rollup_v2", shard=shard).stdout
            m.check(int(own) > 0, "loaded", "a shard without rows")
        check_fan_in(cluster)
        more = others()
        for rows in more.values():
            load(cluster, rows)
        check_others(more, cluster.ask, "18.16")
    m.finish(7 * RANKS)


main()
