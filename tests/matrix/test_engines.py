#!/usr/bin/env python3
"""Rollups in newer engines, where Python has them: DuckDB with Parquet, and chdb, which is a ClickHouse of today. `.ci/deps
readers` installs both below build/python. Every row and every query of ClickHouse must be what memtool itself says."""
import os
import re
import sys

from rollups import answers, check_others, imported, m, others, queries

sys.path.append(os.path.join(os.environ["SAMPLES"], "..", "build", "python"))


def module(name):
    """The engine; None, and why, where it is not installed."""
    try:
        return __import__(name)
    except ImportError:
        m.skip(f"Python's {name} is not installed; `.ci/deps readers` installs it")
        return None


def as_text(rows):
    return ["\t".join(r"\N" if v is None else str(v) for v in row) for row in rows]


# What memtool answers, in the SQL of DuckDB, of the Parquet file.
RUNS = "SELECT * FROM 'job.parquet' WHERE kind = 'run' AND compared = 1"
DUCKDB = {
    "trend": f"SELECT name, peak_b, peak_b - lag(peak_b IGNORE NULLS) OVER (ORDER BY number), alloc_b, end_b FROM ({RUNS}) ORDER BY number",
    "peak": f"""SELECT at_peak_b, name FROM 'job.parquet' WHERE kind = 'site' AND at_peak_b <> 0 AND run = (SELECT run FROM ({RUNS})
              WHERE name = {{run}}) ORDER BY at_peak_b DESC, name""",
    "spread": f"""SELECT min(stage), min(tp), min(rank), max(rank), count(*), min(peak_b), quantile_disc(peak_b, 0.5), max(peak_b), NULL FROM (SELECT * FROM ({RUNS})
              QUALIFY row_number() OVER (PARTITION BY rank ORDER BY peak_b DESC, number) = 1) GROUP BY stage, cluster ORDER BY min(stage), cluster""",
}


def check_duckdb(duckdb, text, job, expected):
    database = duckdb.connect()
    database.execute(m.run("schema", "--dialect", "duckdb")[1])
    got = as_text(database.execute("SELECT * FROM 'job.parquet'").fetchall())
    m.check(sorted(got) == sorted(text.splitlines()[1:]), "duckdb", "other rows")
    for name, sql in DUCKDB.items():
        got = as_text(database.execute(sql.replace("{run}", f"'rank{job['outlier']}'")).fetchall())
        want = expected[name].splitlines()
        if name == "spread":  # but for the deviation
            got, want = ([line.rsplit("\t", 1)[0] for line in lines] for lines in (got, want))
        m.check(got == want, "duckdb", name, got[:3], want[:3])


def check_chdb(chdb, asked, expected, more):
    """The same tables and queries as of two servers: one process has no shards, so the table that spreads is a plain one."""
    from chdb import session  # pylint: disable=import-outside-toplevel
    database = session.Session()
    tables = re.sub(r"--.*", "", m.run("schema", "--dialect", "clickhouse")[1])
    tables = re.sub(r"ENGINE = Distributed\(.*\)", "", tables)
    for statement in filter(str.strip, tables.split(";")):
        database.query(statement)
    for job in ("job", "job", *more):  # again is harmless
        path = os.path.abspath(f"{job}.tsv")
        database.query(f"INSERT INTO memtool.rollup SELECT * FROM file('{path}', TabSeparatedWithNames)")
    for name, sql in asked.items():
        got = str(database.query(sql.strip().rstrip(";"), "TabSeparated"))
        m.check(got == expected[name], "chdb", chdb.__version__, name, f"\n{got[:800]}instead of\n{expected[name][:800]}")
    check_others(more, lambda sql: str(database.query(sql.strip().rstrip(";"), "TabSeparated")), "chdb")
    database.close()


def main():
    engines = {name: module(name) for name in ("duckdb", "chdb")}
    if not any(engines.values()):
        sys.exit(77)
    job = imported()
    text = m.run("export", "--rollup", "job", "--blocks", "--format", "tsv")[1]
    with open("job.tsv", "w", encoding="utf-8") as file:
        file.write(text)
    expected = answers(job)
    if engines["duckdb"]:
        check_duckdb(engines["duckdb"], text, job, expected)
    if engines["chdb"]:
        more = others()
        for name, rows in more.items():
            with open(f"{name}.tsv", "w", encoding="utf-8") as file:
                file.write(rows)
        check_chdb(engines["chdb"], queries(job), expected, more)
    m.finish(10)


main()
