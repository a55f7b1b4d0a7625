#!/usr/bin/env python3
"""Measures generated jobs in memtool's database and in ClickHouse: `scale.py FOLDER [RANKS...]`; docs/scale.md has the table.

Times are the least of several, in ms of processor time, programs and connections included, of ClickHouse its client and both servers:
what else the machine does is not in them.
"""
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "matrix"))
import clickhouse  # pylint: disable=wrong-import-position

MEMTOOL = os.path.join(HERE, "..", "..", "build", "memtool")
INSERT = "INSERT INTO memtool.rollup FORMAT TabSeparatedWithNames"
REPORTS = {"ranks": ("ranks", "--limit", "0", "--columns", "rank,peak_b,outlier"), "steps": ("ranks", "--per", "step"),
           "trend": ("trend",)}


def spent(servers):
    """Processor time of all programs that ended, and of these that run, in s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = used.ru_utime + used.ru_stime
    for server in servers:
        with open(f"/proc/{server.pid}/stat", encoding="utf-8") as file:
            total += sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return total


def least_spent(what, times=7, servers=()):
    """The least processor time of a call, in ms."""
    taken = []
    for _ in range(times):
        begun = spent(servers)
        what()
        taken.append(spent(servers) - begun)
    return f"{1000 * min(taken):.0f}"


def memtool(*args, out=subprocess.DEVNULL):
    return subprocess.run([MEMTOOL, *args], stdout=out, stderr=subprocess.DEVNULL, check=False)


def query(name, job):
    text = memtool("schema", "--dialect", "clickhouse", name, out=subprocess.PIPE).stdout.decode()
    return text.replace("{job:String}", f"'{job}'")


def measure(cluster, folder, ranks):
    job = f"job{ranks}"
    path, db, rows = os.path.join(folder, job), os.path.join(folder, f"{job}.db"), os.path.join(folder, f"{job}.tsv")
    subprocess.run([sys.executable, os.path.join(HERE, "gen_job.py"), path, "--ranks", str(ranks), "--stages", "4"], check=True)
    row = {"ranks": ranks, "recordings, KB": sum(os.path.getsize(os.path.join(path, f)) for f in os.listdir(path)) // 1000}
    row["import"] = least_spent(lambda: memtool("import", path, "--group", job, "--partial", "--db", db), 1)
    row["database, KB"] = os.path.getsize(db) // 1000
    row["export"] = least_spent(lambda: memtool("export", "--rollup", job, "--format", "tsv", "-o", rows, "--db", db))
    with open(rows, "rb") as file:
        row["rows"] = sum(1 for _ in file) - 1
    row["tsv, KB"] = os.path.getsize(rows) // 1000

    def load():
        with open(rows, "rb") as data:
            cluster.client(INSERT, data=data, options=("--insert_distributed_sync", "1"))

    row["load"] = least_spent(load, 3, cluster.servers)
    for shard in range(2):
        cluster.client("OPTIMIZE TABLE memtool.rollup_v2 FINAL", shard=shard)
    held = [cluster.client("SELECT sum(bytes_on_disk) FROM system.parts WHERE table = 'rollup_v2' AND active", shard=i).stdout
            for i in range(2)]
    row["all of ClickHouse, KB"] = sum(map(int, held)) // 1000
    for name, report in REPORTS.items():
        row[f"{name}, SQLite"] = least_spent(lambda: memtool(report[0], job, *report[1:], "--format", "tsv", "--db", db))  # pylint: disable=cell-var-from-loop
    for name in (*REPORTS, "sites"):
        sql = query(name, job)
        row[f"{name}, ClickHouse"] = least_spent(lambda: cluster.ask(sql), servers=cluster.servers)  # pylint: disable=cell-var-from-loop
    return row


def main():
    folder = sys.argv[1]
    os.makedirs(folder)
    with clickhouse.Cluster(os.path.join(folder, "cluster")) as cluster:
        tables = memtool("schema", "--dialect", "clickhouse", out=subprocess.PIPE).stdout
        for shard in range(2):
            cluster.client(shard=shard, data=tables, options=("--multiquery",))
        for ranks in map(int, sys.argv[2:] or ("8", "64", "256", "1024")):
            for name, value in measure(cluster, folder, ranks).items():
                print(f"{name:24}{value:>10}", flush=True)
            print()


main()
