-- name: memory_start
-- Blocks of a device that are older than the recording.
-- in: ?1 first block, ?2 one past the last, ?3 device id   out: count
SELECT count(*) FROM alloc WHERE id >= ?1 AND id < ?2 AND device_id = ?3 AND born_record IS NULL;

-- name: memory_reserved
-- What a device held from the driver over time.
-- in: ?1 run id, ?2 device id   out: time_ns, value_b
SELECT time_ns, value_b FROM sample WHERE run_id = ?1 AND device_id = ?2 AND metric = 'reserved' ORDER BY position;

-- name: memory_segments
-- Segments of a device by when they came and went.
-- in: ?1 device id   out: born_ns (NULL: before the recording), freed_ns (NULL: there at the end)
SELECT born_ns, freed_ns FROM segment WHERE device_id = ?1 AND (allocated_b IS NOT NULL OR freed_ns IS NOT NULL);

-- name: memory_blocks
-- Blocks of a device in use at the end, with rounding.
-- in: ?1 first block, ?2 one past the last, ?3 device id
-- out: bytes and count in use by the program; bytes and count in use by the program or a stream
SELECT sum(CASE b.state WHEN 1 THEN b.size_b END), count(CASE b.state WHEN 1 THEN 1 END), sum(b.size_b), count(*)
  FROM alloc a JOIN block b ON b.alloc_id = a.id
  WHERE a.id >= ?1 AND a.id < ?2 AND a.device_id = ?3 AND b.state > 0;

-- name: holes
-- The free stretches of a device's segments at the end: in front of each block, and behind the last one.
-- in: ?1 device id
-- out: segment id, start as an offset into the segment, size_b, whole (1: nothing of the segment is in use), expandable
WITH used AS (
  SELECT g.id AS segment_id, b.address - g.address AS at, b.size_b AS size_b FROM segment g JOIN block b ON b.segment_id = g.id
    WHERE g.device_id = ?1 AND b.state > 0
  UNION ALL SELECT id, size_b, 0 FROM segment WHERE device_id = ?1 AND allocated_b IS NOT NULL),
gap AS (
  SELECT segment_id, at, coalesce(lag(at + size_b) OVER w, 0) AS free_from, row_number() OVER w AS n
    FROM used WINDOW w AS (PARTITION BY segment_id ORDER BY at, size_b DESC))
SELECT gap.segment_id, gap.free_from, gap.at - gap.free_from, gap.n = 1 AND gap.at = g.size_b, g.expandable
  FROM gap JOIN segment g ON g.id = gap.segment_id WHERE gap.at > gap.free_from ORDER BY gap.segment_id, gap.free_from;
