-- name: schema
-- The store. Bytes end in _b, nanoseconds in _ns, counts in _n; all are integers. Times are relative to
-- the run's start unless they say otherwise. The views (v_*) are the contract for queries of your own;
-- tables may change between versions (PRAGMA user_version).

-- One imported recording of one process.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,            -- file name as given to import
  format TEXT NOT NULL,            -- reader: pytorch-trace, cuda-snapshot, heaptrack
  content_hash TEXT NOT NULL UNIQUE, -- XXH3-128 of the decompressed input and what shaped its import
  imported_at TEXT NOT NULL,       -- UTC, ISO 8601
  start_ns INTEGER NOT NULL,       -- first moment, ns since the Unix epoch where the file knows it
  dur_ns INTEGER,                  -- first to last moment of whatever is recorded; NULL: it knows no time
  whole_us INTEGER NOT NULL,       -- 1: times in the file are whole microseconds
  step_marker TEXT,                -- what the steps were taken from; NULL = no steps
  event_n INTEGER NOT NULL,        -- events in the file
  op_n INTEGER NOT NULL,           -- rows in op
  record_n INTEGER NOT NULL,       -- memory records in the file
  alloc_n INTEGER NOT NULL,        -- rows in alloc
  node_n INTEGER NOT NULL,
  op_first INTEGER NOT NULL,       -- ids of this run: op_first .. op_first + op_n - 1, and so on
  alloc_first INTEGER NOT NULL,
  node_first INTEGER NOT NULL,
  kind INTEGER NOT NULL,           -- 0 trace of a profiler, 1 snapshot of an allocator, 2 heap log, 3 process
  time_unit TEXT,                  -- what its times count: 'ns', 'instructions', 'bytes', 'events', 'samples', 'dumps'; columns that end
                                   -- in _ns count that. NULL: it knows no time
  resolution_ns INTEGER,           -- times are known to that, in their unit; NULL: the format does not say
  imported_by INTEGER              -- schema version of the memtool that imported it; what later ones read of a recording,
                                   -- such as categories, it may lack
);

-- Runs that belong together, such as the ranks of a job or repeats; a run may be in several.
CREATE TABLE run_group (
  name TEXT NOT NULL,
  run_id INTEGER NOT NULL,
  joined INTEGER NOT NULL,         -- rises with each run that joins, or is imported for it again
  PRIMARY KEY (name, run_id)
) WITHOUT ROWID;
CREATE INDEX run_group_joined ON run_group(joined);

-- What the file says of itself: flags, host, distributedInfo ... in the file's order.
CREATE TABLE meta (
  run_id INTEGER NOT NULL, position INTEGER NOT NULL,
  key TEXT NOT NULL, value TEXT NOT NULL, -- JSON text
  PRIMARY KEY (run_id, position)
) WITHOUT ROWID;

-- Where bytes live. What a recording knows of a device is in `knows`, as bits: 1 bytes and blocks ever allocated,
-- 2 the peak, 4 what each call path held at it, 8 what is alive at the end, 16 a curve over time, 32 what each
-- path held at several moments, 64 single blocks, 128 numbers of blocks, 256 what ops freed themselves, 512 single
-- ops, 1024 threads, 2048 segments, 4096 steps; 8192, 16384: at the peak, at the end it lists large call paths only, and
-- what others held there is NULL; 32768 libraries or files of functions; from 65536 on further figures: temporary_n, temporary_b,
-- temporary_most_n, read_b, written_b, lifetime_ns, short_lived_n, copied_b, copies_n, units_n, events_n;
-- 134217728 what blocks of each size did, of all call paths together; 268435456 sizes of each; 536870912 labels; 1073741824 what memory is for. Figures that it does not know are NULL.
-- The level of a device is start_b plus the running sum of its records and of the frees
-- that nobody saw (unseen_): blocks that no record frees end where their memory is handed out again. Those
-- frees are in freed_ and net_, too, but in no op, nor in outside_. What they free may have been dead for
-- long: levels, peaks and what is alive are upper bounds then, by the doubt_ at most.
CREATE TABLE device (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  name TEXT NOT NULL,              -- cpu, cuda:0
  type INTEGER NOT NULL, device_index INTEGER NOT NULL, -- c10::DeviceType; -1 = no index
  alloc_b INTEGER, freed_b INTEGER, net_b INTEGER, -- these and all below: NULL = unknown
  alloc_n INTEGER, freed_n INTEGER,
  start_b INTEGER NOT NULL,        -- level before the first record: blocks known to be older than the recording
  peak_b INTEGER,                  -- largest level; of snapshots without history, of what there was
  peak_ns INTEGER,                 -- its first moment; NULL: never above the start
  peak_record INTEGER,             -- the record that reaches it (see alloc); NULL like peak_ns
  at_end_b INTEGER, at_end_n INTEGER, -- blocks never freed; NULL: most records have no address, unknown. How many
                                   -- blocks a trace's older_from is, nobody knows: they are in at_end_b alone
  before_freed_b INTEGER NOT NULL, before_freed_n INTEGER NOT NULL, -- frees of blocks older than the recording
  before_at_peak_b INTEGER NOT NULL, -- of these, freed up to the peak
  outside_n INTEGER NOT NULL,      -- records outside every op, and their figures:
  outside_alloc_b INTEGER NOT NULL, outside_freed_b INTEGER NOT NULL, outside_alloc_n INTEGER NOT NULL,
  outside_at_peak_b INTEGER NOT NULL, outside_at_end_b INTEGER NOT NULL,
  base_b INTEGER,                  -- recorder's counter before the first record, less start_b; NULL: none. On the CPU it
                                   -- counts what profilers saw in all sessions of the process, freed since or not, and
                                   -- is compared with before_freed_b
  residual_b INTEGER,              -- recorder's net change minus that of the records; NULL: it keeps no total
  older_b INTEGER NOT NULL,        -- of start_b: blocks alive at the end whose call path is known
  unseen_b INTEGER NOT NULL, unseen_n INTEGER NOT NULL, -- of freed_b, freed_n: frees that nobody saw
  doubt_at_peak_b INTEGER NOT NULL, -- of peak_b: older blocks of sites that lose frees (unseen), freed by no record; and those allocated unseen
  doubt_at_end_b INTEGER NOT NULL, -- of at_end_b: blocks of such sites
  older_from TEXT,                 -- who knows of older blocks that no record frees, so that start_b has them: 'option'
                                   -- (import --base), 'file' (memtool_base in its metadata), 'recorder' (its running
                                   -- total, or list of blocks); NULL: nobody, and they are in no figure
  older_least_b INTEGER, older_most_b INTEGER, -- then, an estimate of them; NULL: unknown (see docs/older.md)
  older_used INTEGER NOT NULL,     -- 1: nobody knows of them, but the recording shows that there are some
  alloc_unseen_b INTEGER NOT NULL, alloc_unseen_n INTEGER NOT NULL, -- of alloc_b, alloc_n: allocations that nobody saw
  knows INTEGER NOT NULL,          -- what is known of it, bits as above
  total_peak_b INTEGER,            -- the most that the recorder's total is; NULL: unknown
  above_b INTEGER NOT NULL, below_b INTEGER NOT NULL, -- how far it is above and below the level, at most: records are missing
  missing_b INTEGER NOT NULL       -- how far it is above the level at the end
);
CREATE INDEX device_run ON device(run_id);

CREATE TABLE thread (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  pid TEXT NOT NULL, tid TEXT NOT NULL,
  name TEXT,                       -- NULL: unnamed
  op_n INTEGER NOT NULL, op_first INTEGER NOT NULL -- its ops are op_first .. op_first + op_n - 1
);
CREATE INDEX thread_run ON thread(run_id);

-- Every text once: names, shapes.
CREATE TABLE string (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);

-- A function as call paths name it. Of ops that autograd runs, file and object are line and nn.Modules of the forward op.
CREATE TABLE frame (
  id INTEGER PRIMARY KEY,
  name_id INTEGER NOT NULL,        -- string
  kind INTEGER NOT NULL,           -- 0 op, 1 annotation, 2 runtime call, 3 Python frame, 4 other, 5 C or C++ function,
                                   -- 6 no function but what the memory is for, 7 but the thread, 8 but a label of the recorder's
  instance INTEGER NOT NULL,       -- number behind an nn.Module name; -1 = none
  object_id INTEGER,               -- string: shared library or program; NULL: unknown, or no native function
  file_id INTEGER,                 -- string: source file; NULL like the object
  UNIQUE (name_id, kind, instance, object_id, file_id)
);

-- The call tree: one row per call path. Parents have smaller ids than children.
CREATE TABLE node (
  id INTEGER PRIMARY KEY,
  parent_id INTEGER,               -- NULL = root
  frame_id INTEGER NOT NULL,
  top_frame_id INTEGER,            -- outermost operator under the innermost annotation or Python frame; NULL = frame_id
  scope_frame_id INTEGER,          -- innermost record_function scope; NULL = none
  line INTEGER,                    -- where in the frame's file the path goes on; NULL: unknown, or several lines
  stat_node_id INTEGER             -- node below, on whose rows of node_stat this one's figures with its subtree are: it did
                                   -- nothing itself, and nothing else below it did; NULL: its own rows
);

-- What call paths of ops have beyond that. No row: no module, phase 0, no calls.
CREATE TABLE node_op (
  node_id INTEGER PRIMARY KEY,
  module_frame_id INTEGER,         -- innermost nn.Module; NULL = none
  phase INTEGER NOT NULL,          -- 0 other, 1 forward, 2 backward, 3 optimizer, 4 data loading, 5 recomputed
  calls_n INTEGER NOT NULL,
  time_ns INTEGER NOT NULL, self_time_ns INTEGER NOT NULL
);

-- What a node did on a device. Without its subtree no row: nothing, but what is NULL with it is unknown; with its subtree
-- no row: the same as the node itself, or what one node below did alone (node.stat_node_id). NULL: unknown
-- (device.knows). freed_b: what the node freed, be it another's; in heap logs, what was freed of its own.
CREATE TABLE node_stat (
  node_id INTEGER NOT NULL, device_id INTEGER NOT NULL,
  subtree INTEGER NOT NULL,        -- 0: what the node did itself, 1: with its subtree
  alloc_b INTEGER, freed_b INTEGER, alloc_n INTEGER,
  at_peak_b INTEGER, at_end_b INTEGER, at_peak_n INTEGER, at_end_n INTEGER, -- n: blocks
  PRIMARY KEY (node_id, device_id, subtree)
) WITHOUT ROWID;

-- What a node itself did on a device to the blocks of one category: 1 parameter, 2 optimizer state, 3 input, 4 temporary,
-- 5 activation, 6 the same recomputed, 7 gradient, 8 autograd detail, 9 unknown, 10 older than the recording,
-- 11 activations that are kept. Figures as in node_stat. No row: nothing, or the device does not know categories of blocks (device.knows).
CREATE TABLE node_category (
  device_id INTEGER NOT NULL, node_id INTEGER NOT NULL, category INTEGER NOT NULL, -- node 0: outside every op
  alloc_b INTEGER NOT NULL, freed_b INTEGER NOT NULL, alloc_n INTEGER NOT NULL,
  at_peak_b INTEGER NOT NULL, at_end_b INTEGER NOT NULL, at_peak_n INTEGER NOT NULL, at_end_n INTEGER NOT NULL,
  PRIMARY KEY (device_id, node_id, category)
) WITHOUT ROWID;

-- Further figures of nodes themselves, which only some formats have: temporary_most_n, blocks that the very next
-- event of the log freed, at most; read_b; lifetime_ns, the sum over blocks. A row for nodes whose ids follow each other.
-- Of those in no row: 0 where the device knows the figure.
CREATE TABLE node_extra (
  device_id INTEGER NOT NULL,
  figure_id INTEGER NOT NULL,      -- string: ends in its unit, as columns do
  node_id INTEGER NOT NULL,        -- the first; 0: no call path
  figures TEXT NOT NULL,           -- JSON: [of node_id, of node_id + 1, ...]; null: it leaves 64 bits
  PRIMARY KEY (device_id, figure_id, node_id)
) WITHOUT ROWID;

-- What the blocks of a device of each size did, of all call paths together: sizes least_b to most_b, by powers of two.
-- Figures as in node_stat. No row: nothing, or the device does not know them (device.knows).
CREATE TABLE size_stat (
  device_id INTEGER NOT NULL, least_b INTEGER NOT NULL, most_b INTEGER NOT NULL,
  alloc_b INTEGER NOT NULL, freed_b INTEGER NOT NULL, alloc_n INTEGER NOT NULL,
  at_peak_b INTEGER NOT NULL, at_end_b INTEGER NOT NULL, at_peak_n INTEGER NOT NULL, at_end_n INTEGER NOT NULL,
  PRIMARY KEY (device_id, least_b)
) WITHOUT ROWID;

CREATE TABLE step (
  run_id INTEGER NOT NULL, position INTEGER NOT NULL,
  number INTEGER NOT NULL,         -- N of ProfilerStep#N, else counted from 0
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, start_ns, position)
) WITHOUT ROWID;

-- One timed execution of a node. Ids run thread by thread in order of start; parents before children.
CREATE TABLE op (
  node_id INTEGER NOT NULL,
  parent_id INTEGER,               -- enclosing op on the thread; NULL = none
  start_ns INTEGER NOT NULL, dur_ns INTEGER NOT NULL, -- as recorded
  shape_id INTEGER,                -- string: input shapes, '[[8, 64], []]'; of an op without tensors the sizes it is asked for, '([8, 64], [])'; NULL = not recorded
  recorded_id INTEGER,             -- string: the name as recorded, where the frame's differs; else NULL
  forward_id INTEGER,              -- op: the forward op of a backward op; NULL = none or unknown
  id INTEGER PRIMARY KEY           -- last: SQLite then adds rows a tenth faster
);

-- One block of memory, from allocation to free. Records are numbered 0, 1, ... through the run in order of
-- time, so that alloc_record <= R and (freed_record is NULL or > R) says what is live after record R.
-- A free that nobody saw has a number too, the one before that of the allocation that gets its memory.
CREATE TABLE alloc (
  device_id INTEGER NOT NULL,
  bytes_b INTEGER NOT NULL,
  alloc_ns INTEGER,                 -- NULL: before the recording
  alloc_op_id INTEGER, alloc_thread_id INTEGER, -- NULL op: outside every op; no thread where it was allocated: nobody saw it
  freed_ns INTEGER,                -- NULL: alive at the end
  freed_op_id INTEGER, freed_thread_id INTEGER, -- no thread where it was freed: nobody saw it
  alloc_record INTEGER,             -- number of the record; NULL: before the recording
  freed_record INTEGER,            -- NULL: alive at the end
  alloc_node_id INTEGER, freed_node_id INTEGER, -- where call paths are recorded but no ops, else NULL
  id INTEGER PRIMARY KEY,
  rule INTEGER,                    -- what it is for (docs/categories.md): 1 to 5 are R1 to R5, 6 R5b, 7 to 10 R6 to R9, 11 R10,
                                   -- 12 R10 held by the graph, 13 by the program, 14 R11, 15 R12, 16 R10 of no graph; by the frames
                                   -- of snapshots 17 to 26 F1 to F10, 27 F10 held by the graph, 28 F11; 29: none, it is older than
                                   -- the recording; 30 R12b, 31 R5c; NULL: nobody asked, or that
  tensor_id INTEGER                -- string: the tensor it was allocated for (docs/tensors.md), '[8, 64] float32'; NULL: unknown
);

-- Four tables hold what reports need of the records without reading every block (lib/model/history.h).
-- The level of a device, packed: a row per chunk of consecutive changes. min_, max_: the first of the
-- lowest and of the highest levels after a change; last_: the last one.
CREATE TABLE usage_chunk (
  id INTEGER PRIMARY KEY,
  device_id INTEGER NOT NULL,
  start_b INTEGER NOT NULL,        -- level before the first change
  first_record INTEGER NOT NULL, first_ns INTEGER NOT NULL, -- the first change
  min_ns INTEGER NOT NULL, min_b INTEGER NOT NULL, min_record INTEGER NOT NULL,
  max_ns INTEGER NOT NULL, max_b INTEGER NOT NULL, max_record INTEGER NOT NULL,
  last_ns INTEGER NOT NULL, last_b INTEGER NOT NULL, last_record INTEGER NOT NULL,
  changes BLOB NOT NULL            -- lib/model/curve.h
);
CREATE INDEX usage_chunk_device ON usage_chunk(device_id);

-- Which blocks are live after some records: to find those of any other, read on from the keyframe before it.
CREATE TABLE live_keyframe (
  device_id INTEGER NOT NULL,
  record INTEGER NOT NULL,         -- -1 = before the first
  next INTEGER NOT NULL,           -- the first block allocated after it: id in alloc less run.alloc_first
  blocks BLOB NOT NULL,            -- the live ones, numbered so too (lib/model/curve.h)
  PRIMARY KEY (device_id, record)
) WITHOUT ROWID;

-- Times at which it is known what each call path holds: the ends of steps, which have the positions of these,
-- and in heap logs moments between its times.
CREATE TABLE moment (
  run_id INTEGER NOT NULL, position INTEGER NOT NULL,
  device_id INTEGER,               -- NULL: of all devices
  time_ns INTEGER NOT NULL,        -- what has happened by then is in it
  kind INTEGER NOT NULL,           -- 0 end of a step, 1 between two times of a log, 2 when the recorder looked
  PRIMARY KEY (run_id, position)
) WITHOUT ROWID;

-- What the blocks allocated in a node hold at a moment differs by so much from the moment before of the device. Moments
-- by position; blocks older than the first step are in moment 0, blocks older than the recording in none.
CREATE TABLE holding (
  device_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,        -- 0: outside every op
  size_b INTEGER NOT NULL,         -- bytes a block, on average, if each change has the same; else 0
  changes TEXT NOT NULL,           -- JSON: [moment, blocks, moments later, blocks, ...]; with size_b 0
                                   -- [moment, bytes, blocks, moments later, bytes, blocks, ...]
  PRIMARY KEY (device_id, node_id, size_b)
) WITHOUT ROWID;

-- How many steps blocks lived that were freed before the last step ended, and the last step (by position)
-- one of them was allocated in. Left out where a block allocated no earlier lived longer, and what was freed unseen.
CREATE TABLE max_lifetime (
  device_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,        -- 0: outside every op
  life_n INTEGER NOT NULL, alloc_step INTEGER NOT NULL,
  PRIMARY KEY (device_id, node_id, life_n)
) WITHOUT ROWID;

-- Gradients alive at the end of a recording whose gradients stay while optimizers step, as with
-- zero_grad(set_to_none=False): a layer that begins to learn leaves one more, which is no leak.
CREATE TABLE kept_gradient (
  device_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  alloc_step INTEGER NOT NULL,     -- by position; -1: before the first
  size_b INTEGER NOT NULL,
  PRIMARY KEY (device_id, node_id, alloc_step, size_b)
) WITHOUT ROWID;

-- Blocks that were freed where nobody saw it, by where they were allocated and their size. All nodes of that site
-- (top op in its scope) are taken to lose frees.
CREATE TABLE unseen (
  device_id INTEGER NOT NULL,
  node_id INTEGER NOT NULL,        -- 0: outside every op
  size_b INTEGER NOT NULL,         -- of each block
  blocks_n INTEGER NOT NULL,
  PRIMARY KEY (device_id, node_id, size_b)
) WITHOUT ROWID;

-- What an allocator holds from the driver. Only snapshots of an allocator have these rows and those of
-- `block`. Addresses are 64-bit patterns: those above 2^63 - 1 are negative here. An expandable segment that
-- grows or shrinks is another row from then on. Events of a device are numbered 0, 1, ... as in the file, so
-- that (alloc_event is NULL or <= E) and (freed_event is NULL or > E) says what is held after event E.
CREATE TABLE segment (
  id INTEGER PRIMARY KEY,
  device_id INTEGER NOT NULL,
  address INTEGER NOT NULL,
  size_b INTEGER NOT NULL,
  stream INTEGER NOT NULL,         -- as recorded; 0 = default stream
  pool_id INTEGER,                 -- string: '0,0' is the default pool, others are private; NULL unknown
  small INTEGER NOT NULL,          -- 1: for blocks of less than 1 MiB
  expandable INTEGER NOT NULL,     -- 1: a mapped range of an expandable segment
  allocated_b INTEGER,             -- bytes of its blocks that are not free at the end, rounded: in use by the program
                                   -- or, let go of, by a stream (block.state); NULL: not in the list at the end
  alloc_ns INTEGER, freed_ns INTEGER, -- NULL: before the recording, not freed; or unknown
  alloc_record INTEGER, freed_record INTEGER, -- the record that comes next (see alloc); NULL like the events
  node_id INTEGER,                 -- call path of the request to the driver; NULL unknown
  alloc_event INTEGER, freed_event INTEGER -- the event that made and ended it, as many as the device has: only the
                                   -- list at the end says so; NULL: there before the first; there at the end
);
CREATE INDEX segment_device ON segment(device_id);

-- What a snapshot knows of a block beyond its row in `alloc` (bytes_b there: as asked for).
CREATE TABLE block (
  alloc_id INTEGER PRIMARY KEY,
  address INTEGER NOT NULL,
  size_b INTEGER,                  -- with rounding; NULL: freed, and then not recorded
  stream INTEGER NOT NULL,
  pool_id INTEGER,                 -- string; NULL unknown
  segment_id INTEGER,              -- NULL: freed; the segment is then the one around its address
  state INTEGER NOT NULL,          -- at the end: 0 freed, 1 in use, 2 free requested but still in use by a stream
  free_requested_ns INTEGER        -- when the program let go of it; NULL: never, or before the recording
);

-- Values over time.
CREATE TABLE sample (
  run_id INTEGER NOT NULL, position INTEGER NOT NULL,
  device_id INTEGER NOT NULL, time_ns INTEGER NOT NULL,
  metric TEXT NOT NULL,            -- rss: what the process has in memory, and of it anon, file, shmem, pss, private; swap, virtual,
                                   -- peak_rss; malloc_in_use, of it malloc_mapped, malloc_free, of it malloc_top and malloc_held, other_anon, of it stacks; of several together at_most, at_least; cgroup; no bytes: threads_n, a number, and cpu_ns, processor time since the process began; in texts further names; reserved: bytes held after a record; oom: bytes asked for in vain;
                                   -- device_free: what the driver had left at an oom
  value_b INTEGER NOT NULL,
  record INTEGER,                  -- the last record before it (see alloc); NULL: none, or unknown
  event INTEGER,                   -- the device's event it is of (see segment); NULL: before the first, or a trace
  stream INTEGER,                  -- of an oom in a snapshot: where the bytes were asked for; NULL: of others, and traces
  pool_id INTEGER,                 -- and the pool (see segment); NULL: unknown too
  node_id INTEGER,                 -- and the call path that asked; NULL: unknown too
  PRIMARY KEY (run_id, position)
) WITHOUT ROWID;

-- What an allocator's history holds besides memory that comes and goes: marks of the user, and actions that
-- memtool does not know, as they are. Of processes: calls (mprof), what the program said of itself (mark), when it was gone (exit).
CREATE TABLE event (
  run_id INTEGER NOT NULL, position INTEGER NOT NULL,
  device_id INTEGER NOT NULL, time_ns INTEGER NOT NULL,
  record INTEGER,                  -- the last record before it (see alloc); NULL: none
  action TEXT NOT NULL,            -- annotate, snapshot, ...
  address INTEGER NOT NULL, bytes_b INTEGER NOT NULL, -- as recorded, whatever they mean there
  text TEXT,                       -- the user's words; NULL: none
  PRIMARY KEY (run_id, position)
) WITHOUT ROWID;

-- Data quality: what was repaired, skipped, unmatched.
CREATE TABLE note (
  run_id INTEGER NOT NULL, kind TEXT NOT NULL,
  count_n INTEGER NOT NULL,
  first_offset INTEGER,            -- byte offset in the decompressed file; NULL = none
  bytes_b INTEGER NOT NULL,        -- bytes concerned, where that means something
  text TEXT NOT NULL,              -- the sentence shown
  PRIMARY KEY (run_id, kind)
) WITHOUT ROWID;

-- Functions, ops and annotations as call paths name them.
CREATE VIEW v_frame AS SELECT f.id, CASE WHEN f.instance < 0 THEN s.text ELSE s.text || '_' || f.instance END AS name,
  CASE f.kind WHEN 0 THEN 'op' WHEN 1 THEN 'annotation' WHEN 2 THEN 'runtime' WHEN 3 THEN 'python' WHEN 5 THEN 'native' WHEN 6 THEN 'category' WHEN 7 THEN 'thread' WHEN 8 THEN 'label' ELSE 'other' END AS kind,
  (SELECT text FROM string WHERE id = f.object_id) AS object, (SELECT text FROM string WHERE id = f.file_id) AS file
  FROM frame f JOIN string s ON s.id = f.name_id;

-- Call paths of all runs with their figures per device.
CREATE VIEW v_node AS SELECT r.name AS run, n.id, n.parent_id, f.name, f.kind, t.name AS top, sc.name AS scope, m.name AS module,
  CASE o.phase WHEN 1 THEN 'forward' WHEN 2 THEN 'backward' WHEN 3 THEN 'optimizer' WHEN 4 THEN 'data loading' WHEN 5 THEN 'recomputed' ELSE 'other' END AS phase,
  coalesce(o.calls_n, 0) AS calls_n, coalesce(o.time_ns, 0) AS time_ns, coalesce(o.self_time_ns, 0) AS self_time_ns, d.name AS device,
  iif(se.subtree OR n.stat_node_id, 0 * iif(st.subtree, st.alloc_b, se.alloc_b), se.alloc_b) - iif(se.subtree OR n.stat_node_id, 0 * iif(st.subtree, st.freed_b, se.freed_b), se.freed_b) AS self_net_b,
  iif(st.subtree, st.alloc_b, se.alloc_b) - iif(st.subtree, st.freed_b, se.freed_b) AS net_b,
  iif(se.subtree OR n.stat_node_id, 0 * iif(st.subtree, st.alloc_b, se.alloc_b), se.alloc_b) AS self_alloc_b, iif(st.subtree, st.alloc_b, se.alloc_b) AS alloc_b,
  iif(se.subtree OR n.stat_node_id, 0 * iif(st.subtree, st.freed_b, se.freed_b), se.freed_b) AS self_freed_b, iif(st.subtree, st.freed_b, se.freed_b) AS freed_b,
  iif(se.subtree OR n.stat_node_id, 0 * iif(st.subtree, st.alloc_n, se.alloc_n), se.alloc_n) AS self_alloc_n, iif(st.subtree, st.alloc_n, se.alloc_n) AS alloc_n,
  iif(se.subtree OR n.stat_node_id, 0 * iif(st.subtree, st.at_peak_b, se.at_peak_b), se.at_peak_b) AS self_at_peak_b, iif(st.subtree, st.at_peak_b, se.at_peak_b) AS at_peak_b,
  iif(se.subtree OR n.stat_node_id, 0 * iif(st.subtree, st.at_peak_n, se.at_peak_n), se.at_peak_n) AS self_at_peak_n, iif(st.subtree, st.at_peak_n, se.at_peak_n) AS at_peak_n,
  iif(se.subtree OR n.stat_node_id, 0 * iif(st.subtree, st.at_end_b, se.at_end_b), se.at_end_b) AS self_at_end_b, iif(st.subtree, st.at_end_b, se.at_end_b) AS at_end_b,
  iif(se.subtree OR n.stat_node_id, 0 * iif(st.subtree, st.at_end_n, se.at_end_n), se.at_end_n) AS self_at_end_n, iif(st.subtree, st.at_end_n, se.at_end_n) AS at_end_n,
  f.object, f.file, n.line
  FROM run r JOIN node n ON n.id >= r.node_first AND n.id < r.node_first + r.node_n
  LEFT JOIN node_op o ON o.node_id = n.id
  JOIN v_frame f ON f.id = n.frame_id JOIN v_frame t ON t.id = coalesce(n.top_frame_id, n.frame_id)
  LEFT JOIN v_frame sc ON sc.id = n.scope_frame_id LEFT JOIN v_frame m ON m.id = o.module_frame_id
  LEFT JOIN node_stat se ON se.node_id = coalesce(n.stat_node_id, n.id)
    AND NOT (se.subtree AND EXISTS (SELECT 1 FROM node_stat WHERE node_id = se.node_id AND device_id = se.device_id AND subtree = 0))
  LEFT JOIN node_stat st ON st.node_id = se.node_id AND st.device_id = se.device_id AND st.subtree = 1
  LEFT JOIN device d ON d.id = se.device_id;

-- Every op of all runs.
CREATE VIEW v_op AS SELECT r.name AS run, o.id, o.parent_id, coalesce(rs.text, f.name) AS name, f.kind, t.tid AS thread,
  o.start_ns, o.dur_ns, sh.text AS shape, o.forward_id, o.node_id
  FROM run r JOIN thread t ON t.run_id = r.id JOIN op o ON o.id >= t.op_first AND o.id < t.op_first + t.op_n
  JOIN node n ON n.id = o.node_id JOIN v_frame f ON f.id = n.frame_id
  LEFT JOIN string rs ON rs.id = o.recorded_id LEFT JOIN string sh ON sh.id = o.shape_id;

-- Every block of all runs. step to shape: where and when it was allocated; site: the top op in its scope, as reports call it, but for traces with stacks.
-- Alive after record R: alloc_record IS NULL OR alloc_record <= R, and freed_record IS NULL OR freed_record > R.
CREATE VIEW v_alloc AS SELECT r.name AS run, a.id, d.name AS device, a.bytes_b, a.alloc_ns, a.freed_ns,
  a.freed_ns - a.alloc_ns AS life_ns, bf.name AS alloc_in, ff.name AS freed_in,
  a.freed_ns IS NOT NULL AND a.freed_thread_id IS NULL AS freed_unseen,
  a.alloc_ns IS NOT NULL AND a.alloc_thread_id IS NULL AS alloc_unseen, a.alloc_record, a.freed_record,
  (SELECT CASE WHEN s.end_ns > a.alloc_ns OR s.end_ns >= r.dur_ns THEN s.number END FROM step s
    WHERE s.run_id = r.id AND s.start_ns <= a.alloc_ns ORDER BY s.start_ns DESC, s.position DESC LIMIT 1) AS step,
  CASE coalesce(bp.phase, bn.id * 0) WHEN 0 THEN 'other' WHEN 1 THEN 'forward' WHEN 2 THEN 'backward' WHEN 3 THEN 'optimizer' WHEN 4 THEN 'data loading' WHEN 5 THEN 'recomputed' END AS phase,
  CASE a.rule WHEN 1 THEN 'temporary' WHEN 2 THEN 'optimizer state' WHEN 3 THEN 'temporary' WHEN 4 THEN 'activation (recomputed)'
    WHEN 5 THEN 'gradient' WHEN 6 THEN 'gradient' WHEN 7 THEN 'autograd detail' WHEN 8 THEN 'parameter' WHEN 9 THEN 'parameter'
    WHEN 10 THEN 'input' WHEN 11 THEN 'activation' WHEN 12 THEN 'activation' WHEN 13 THEN 'activation' WHEN 16 THEN 'activation'
    WHEN 17 THEN 'temporary' WHEN 18 THEN 'optimizer state' WHEN 19 THEN 'temporary' WHEN 20 THEN 'activation (recomputed)' WHEN 21 THEN 'gradient'
    WHEN 22 THEN 'autograd detail' WHEN 23 THEN 'parameter' WHEN 24 THEN 'parameter' WHEN 25 THEN 'input' WHEN 26 THEN 'activation'
    WHEN 27 THEN 'activation' WHEN 30 THEN 'activation (kept)' WHEN 31 THEN 'gradient' END AS category,
  CASE WHEN a.rule = 29 THEN NULL WHEN a.rule = 30 THEN 'R12b' WHEN a.rule = 31 THEN 'R5c' WHEN a.rule > 16 THEN 'F' || (a.rule - 16 - (a.rule > 26)) ELSE CASE a.rule WHEN 6 THEN 'R5b' WHEN 12 THEN 'R10' WHEN 13 THEN 'R10' WHEN 16 THEN 'R10' WHEN 14 THEN 'R11' WHEN 15 THEN 'R12'
    ELSE 'R' || (a.rule - (a.rule > 6)) END END AS why, CASE a.rule WHEN 12 THEN 'graph' WHEN 27 THEN 'graph' WHEN 13 THEN 'program' END AS held_by,
  sc.name AS scope, m.name AS module, tf.name AS top, CASE WHEN sc.name <> tf.name THEN tf.name || ' in ' || sc.name ELSE tf.name END AS site, sh.text AS shape,
  tn.text AS tensor, substr(tn.text, instr(tn.text, '] ') + 2) AS dtype
  FROM run r JOIN alloc a ON a.id >= r.alloc_first AND a.id < r.alloc_first + r.alloc_n
  JOIN device d ON d.id = a.device_id
  LEFT JOIN op bo ON bo.id = a.alloc_op_id LEFT JOIN node bn ON bn.id = coalesce(bo.node_id, a.alloc_node_id) LEFT JOIN v_frame bf ON bf.id = bn.frame_id
  LEFT JOIN node_op bp ON bp.node_id = bn.id
  LEFT JOIN v_frame tf ON tf.id = coalesce(bn.top_frame_id, bn.frame_id) LEFT JOIN v_frame sc ON sc.id = bn.scope_frame_id
  LEFT JOIN v_frame m ON m.id = bp.module_frame_id LEFT JOIN string sh ON sh.id = bo.shape_id LEFT JOIN string tn ON tn.id = a.tensor_id
  LEFT JOIN op fo ON fo.id = a.freed_op_id LEFT JOIN node fn ON fn.id = coalesce(fo.node_id, a.freed_node_id) LEFT JOIN v_frame ff ON ff.id = fn.frame_id;

-- Runs and devices, one row each. peak_*: NULL of a snapshot without history. kept_b: of start_b, what older_from tells of and v_alloc has no blocks of.
CREATE VIEW v_device AS SELECT r.name AS run, d.name AS device, d.alloc_b, d.freed_b, d.net_b,
  CASE WHEN s.kind IS NULL THEN d.peak_b END AS peak_b, CASE WHEN s.kind IS NULL THEN d.peak_ns END AS peak_ns,
  CASE WHEN s.kind IS NULL THEN d.peak_record END AS peak_record, d.at_end_b,
  d.alloc_n, d.freed_n, d.base_b, d.residual_b, d.start_b, d.unseen_b, d.unseen_n, d.alloc_unseen_b, d.alloc_unseen_n, d.doubt_at_peak_b, d.doubt_at_end_b,
  d.total_peak_b, d.above_b, d.below_b, d.missing_b, d.older_from, d.older_least_b, d.older_most_b, d.older_used,
  CASE WHEN d.older_from IS NOT NULL AND r.format <> 'cuda-snapshot' THEN d.start_b - d.before_freed_b END AS kept_b
  FROM run r JOIN device d ON d.run_id = r.id LEFT JOIN note s ON s.run_id = r.id AND s.kind = 'state_only';

-- Segments that allocators held from the driver; addresses as text.
CREATE VIEW v_segment AS SELECT r.name AS run, g.id, d.name AS device, printf('0x%llx', g.address) AS address, g.size_b, g.stream,
  p.text AS pool, g.small, g.expandable, g.allocated_b, g.alloc_ns, g.freed_ns, g.node_id
  FROM run r JOIN device d ON d.run_id = r.id JOIN segment g ON g.device_id = d.id LEFT JOIN string p ON p.id = g.pool_id;

-- Blocks of snapshots: where they lie, and in which segment.
CREATE VIEW v_block AS SELECT r.name AS run, b.alloc_id, d.name AS device, printf('0x%llx', b.address) AS address, a.bytes_b, b.size_b,
  b.stream, p.text AS pool, b.segment_id, CASE b.state WHEN 0 THEN 'freed' WHEN 1 THEN 'in use' ELSE 'free requested' END AS state,
  a.alloc_ns, b.free_requested_ns, a.freed_ns, a.alloc_node_id, a.freed_node_id
  FROM run r JOIN alloc a ON a.id >= r.alloc_first AND a.id < r.alloc_first + r.alloc_n JOIN block b ON b.alloc_id = a.id
  JOIN device d ON d.id = a.device_id LEFT JOIN string p ON p.id = b.pool_id;

-- Marks of the user, and what else a history holds.
CREATE VIEW v_event AS SELECT r.name AS run, e.position, d.name AS device, e.time_ns, e.record, e.action,
  printf('0x%llx', e.address) AS address, e.bytes_b, e.text FROM run r JOIN event e ON e.run_id = r.id JOIN device d ON d.id = e.device_id;

-- Steps with their numbers and times.
CREATE VIEW v_step AS SELECT r.name AS run, s.number, s.start_ns, s.end_ns FROM run r JOIN step s ON s.run_id = r.id;

-- How much more the blocks allocated in a node hold at a moment than at the moment before. step: the one that ends then.
-- Numbers of a change are put together by its place: to look up each in the list would take the square of their number.
CREATE VIEW v_holding AS SELECT c.run, c.device, c.node_id, (SELECT name FROM v_frame WHERE id = n.frame_id) AS name,
  (SELECT s.number FROM step s WHERE m.kind = 0 AND s.run_id = c.run_id AND s.start_ns <= m.time_ns AND s.position = m.position
    ORDER BY s.start_ns DESC LIMIT 1) AS step,
  iif(c.size_b, c.size_b, 1) * c.held AS change_b, c.change_n, c.size_b, m.time_ns
  FROM (SELECT run, device, node_id, size_b, run_id, held, change_n, sum(moments) OVER (PARTITION BY run, device, node_id, size_b ORDER BY place) AS moment
    FROM (SELECT r.name AS run, d.name AS device, h.node_id, h.size_b, r.id AS run_id, j.key / iif(h.size_b, 2, 3) AS place,
      max(iif(j.key % iif(h.size_b, 2, 3) = 0, j.value, NULL)) AS moments, max(iif(j.key % iif(h.size_b, 2, 3) = 1, j.value, NULL)) AS held,
      max(iif((j.key + 1) % iif(h.size_b, 2, 3) = 0, j.value, NULL)) AS change_n
      FROM run r JOIN device d ON d.run_id = r.id JOIN holding h ON h.device_id = d.id JOIN json_each(h.changes) j
      GROUP BY h.device_id, h.node_id, h.size_b, place, r.name, d.name)) c
  LEFT JOIN node n ON n.id = c.node_id JOIN moment m ON m.run_id = c.run_id AND m.position = c.moment;

-- What blocks of each size did: heap logs that number allocations by size.
CREATE VIEW v_size AS SELECT r.name AS run, d.name AS device, s.least_b, s.most_b, s.alloc_b, s.freed_b, s.alloc_n,
  s.at_peak_b, s.at_end_b, s.at_peak_n, s.at_end_n
  FROM run r JOIN device d ON d.run_id = r.id JOIN size_stat s ON s.device_id = d.id;

-- Further figures of call paths that only some formats have: temporary blocks, reads, lifetimes.
CREATE VIEW v_node_extra AS SELECT r.name AS run, d.name AS device, x.node_id + j.key AS node_id, f.name, s.text AS figure, j.value
  FROM run r JOIN device d ON d.run_id = r.id JOIN node_extra x ON x.device_id = d.id JOIN string s ON s.id = x.figure_id
  JOIN json_each(x.figures) j ON j.value IS NOT 0
  LEFT JOIN node n ON n.id = x.node_id + j.key LEFT JOIN v_frame f ON f.id = n.frame_id;

-- What import noted of each run.
CREATE VIEW v_note AS SELECT r.name AS run, n.kind, n.count_n, n.text FROM run r JOIN note n ON n.run_id = r.id;
