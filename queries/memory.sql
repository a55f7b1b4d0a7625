-- name: memory_start
-- Blocks of a device that are older than the recording.
-- in: ?1 first block, ?2 one past the last, ?3 device id   out: count
SELECT count(*) FROM alloc WHERE id >= ?1 AND id < ?2 AND device_id = ?3 AND alloc_record IS NULL;

-- name: memory_segments
-- How many segments of a device its events bring and take.
-- in: ?1 device id
-- out: time (NULL: there before the first event, or unknown), change of their number, the event (NULL: before the
--   first); in order of events
SELECT max(t), sum(change), event FROM (
  SELECT alloc_event AS event, alloc_ns AS t, 1 AS change FROM segment WHERE device_id = ?1
  UNION ALL SELECT freed_event, freed_ns, -1 FROM segment WHERE device_id = ?1 AND freed_event IS NOT NULL)
  GROUP BY event ORDER BY event;

-- name: memory_blocks
-- Blocks of a device in use at the end, with rounding.
-- in: ?1 first block, ?2 one past the last, ?3 device id
-- out: bytes and count in use by the program; bytes and count in use by the program or a stream
SELECT sum(CASE b.state WHEN 1 THEN b.size_b END), count(CASE b.state WHEN 1 THEN 1 END), sum(b.size_b), count(*)
  FROM alloc a JOIN block b ON b.alloc_id = a.id
  WHERE a.id >= ?1 AND a.id < ?2 AND a.device_id = ?3 AND b.state > 0;
