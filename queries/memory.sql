-- name: memory_start
-- Blocks of a device that are older than the recording.
-- in: ?1 first block, ?2 one past the last, ?3 device id   out: count
SELECT count(*) FROM alloc WHERE id >= ?1 AND id < ?2 AND device_id = ?3 AND born_record IS NULL;

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
