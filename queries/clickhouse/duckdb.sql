-- A rollup as Parquet: memtool export --rollup JOB --format tsv -o job.tsv, then this in DuckDB, in that folder. It reads
-- the types from here, as ClickHouse does from its table, and every name as it was.
COPY (SELECT * REPLACE (
    replace(replace(replace(replace(replace(name, '\\', chr(0)), '\t', chr(9)), '\n', chr(10)), '\r', chr(13)), chr(0), '\') AS name)
  FROM read_csv('job.tsv', delim = '\t', header = true, quote = '', escape = '', nullstr = '\N', auto_detect = false, columns = {
    'kind': 'VARCHAR', 'job': 'VARCHAR', 'run': 'VARCHAR', 'rank': 'BIGINT', 'device': 'VARCHAR', 'stage': 'BIGINT', 'compared': 'UTINYINT',
    'number': 'BIGINT', 'step': 'BIGINT', 'path': 'UBIGINT', 'parent': 'UBIGINT', 'name': 'VARCHAR', 'start_b': 'BIGINT', 'peak_b': 'BIGINT',
    'end_b': 'BIGINT', 'doubt_b': 'BIGINT', 'alloc_b': 'BIGINT', 'freed_b': 'BIGINT', 'alloc_n': 'BIGINT', 'at_peak_b': 'BIGINT',
    'calls_n': 'BIGINT', 'peak_ns': 'BIGINT', 'alloc_ns': 'BIGINT', 'freed_ns': 'BIGINT', 'cluster': 'BIGINT',
    'tp': 'BIGINT', 'older': 'BIGINT', 'alike': 'BIGINT'}))
TO 'job.parquet' (FORMAT parquet, COMPRESSION zstd);
