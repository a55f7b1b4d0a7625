-- memtool's rollups in ClickHouse, version 2: what `memtool export --rollup GROUP` writes. For version 18.16 and later.
--
-- Rows say of which job, run (content hash of its recording), rank and device they are. A row that is loaded again
-- replaces itself: repeats, and loads that broke off, are harmless. Read with FINAL until ClickHouse has merged them.
-- rollup_v2 lies on every shard, rollup spreads over the cluster memtool (remote_servers of the configuration), by rank.
-- Bytes end in _b, counts in _n, nanoseconds since the start of the run in _ns. NULL: does not apply, or is not known.
-- What was allocated and freed, and counts, add up over ranks. Levels (start_b, peak_b, end_b, at_peak_b) do not: take
-- the maximum, and name the rank.
-- Version 1 had no cluster, tp, older and alike: DROP TABLE memtool.rollup, then this, and load the jobs again.

CREATE DATABASE IF NOT EXISTS memtool;

CREATE TABLE IF NOT EXISTS memtool.rollup_v2 (
  kind String,                     -- what the row is of: run (on a device), step, site, path; block (export --blocks)
  job String,                      -- group of the runs
  run String,                      -- content hash of the recording
  rank Nullable(Int64),
  device String,                   -- cpu, cuda:0
  stage Nullable(Int64),           -- of a pipeline
  compared UInt8,                  -- 1: the device that memtool ranks and trend compare
  number Int64,                    -- place among the rows of its kind; of runs: in the order in which they joined the job
  step Nullable(Int64),            -- of steps: N of ProfilerStep#N, else counted from 0
  path Nullable(UInt64),           -- of paths: hash of the call path, the same in every run
  parent Nullable(UInt64),         -- the path around it; NULL: none
  name String,                     -- of the run, the site (of blocks, too), or the innermost function of the path
  start_b Nullable(Int64),         -- level when the run, or step, begins
  peak_b Nullable(Int64),          -- its highest level
  end_b Nullable(Int64),           -- level at its end; of sites and paths what they still hold then
  doubt_b Nullable(Int64),         -- of runs: the peak may be so much less
  alloc_b Nullable(Int64),         -- allocated; of paths without what they call, as what follows; size of a block
  freed_b Nullable(Int64),
  alloc_n Nullable(Int64),         -- blocks
  at_peak_b Nullable(Int64),       -- of sites and paths: what they hold at the peak of their run
  calls_n Nullable(Int64),         -- ops
  peak_ns Nullable(Int64),         -- of runs: when the peak is reached first; NULL: unknown, or not in ns
  alloc_ns Nullable(Int64),        -- of blocks; NULL: before the recording
  freed_ns Nullable(Int64),        -- NULL: alive at the end
  cluster Nullable(Int64),         -- of runs compared: ranks of a stage that are alike by design have the same, as memtool
                                   -- ranks found when it was exported; NULL: a process log beside other runs
  tp Nullable(Int64),              -- the part of the tensors that all in the cluster have; NULL: clusters are not by that
  older Nullable(Int64),           -- 1: levels have memory older than the recording, 0: they leave it out; NULL: nothing says that there is some
  alike Nullable(Int64)            -- of runs compared: 0: the peaks of what was exported do not compare, memtool ranks says why
) ENGINE = ReplacingMergeTree PARTITION BY kind
  ORDER BY (job, run, ifNull(rank, -1), device, ifNull(step, -1), kind, number);

CREATE TABLE IF NOT EXISTS memtool.rollup AS memtool.rollup_v2
  ENGINE = Distributed(memtool, memtool, rollup_v2, ifNull(rank, 0));
