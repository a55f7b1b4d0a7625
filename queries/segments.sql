-- name: segments_at
-- The segments of a device after one of its events, by address (unsigned).
-- in: ?1 device id, ?2 number of the event, -1: before the first; NULL: at the end
-- out: address, size_b, stream, pool (NULL unknown), small, expandable, alloc_ns
SELECT g.address, g.size_b, g.stream, p.text, g.small, g.expandable, g.alloc_ns
  FROM segment g LEFT JOIN string p ON p.id = g.pool_id
  WHERE g.device_id = ?1 AND CASE WHEN ?2 IS NULL THEN g.freed_event IS NULL
    ELSE (g.alloc_event IS NULL OR g.alloc_event <= ?2) AND (g.freed_event IS NULL OR g.freed_event > ?2) END
  ORDER BY g.address < 0, g.address;

-- name: blocks_at
-- The blocks of a device that are live after a record, by address (unsigned).
-- in: ?1 first block, ?2 one past the last, ?3 device id, ?4 record
-- out: address, bytes_b, size_b (NULL unknown), state, alloc_ns, top, scope (NULL: unknown)
SELECT b.address, a.bytes_b, b.size_b, b.state, a.alloc_ns, t.name, sc.name
  FROM alloc a JOIN block b ON b.alloc_id = a.id LEFT JOIN node n ON n.id = a.alloc_node_id
  LEFT JOIN v_frame t ON t.id = coalesce(n.top_frame_id, n.frame_id) LEFT JOIN v_frame sc ON sc.id = n.scope_frame_id
  WHERE a.id >= ?1 AND a.id < ?2 AND a.device_id = ?3 AND (a.alloc_record IS NULL OR a.alloc_record <= ?4)
    AND (a.freed_record IS NULL OR a.freed_record > ?4)
  ORDER BY b.address < 0, b.address;

-- name: reserved_peak
-- in: ?1 run id, ?2 device id
-- out: most bytes held from the driver, when, the last record before (NULL: none), the event (NULL: before the
--   first)
SELECT value_b, time_ns, record, event FROM sample WHERE run_id = ?1 AND device_id = ?2 AND metric = 'reserved'
  ORDER BY value_b DESC, position LIMIT 1;

-- name: ooms
-- Failed allocations of a device.
-- in: ?1 run id, ?2 device id
-- out: time_ns, bytes asked for, what the driver had left (NULL unknown), the last record before (NULL: none),
--   the event, its stream, pool and call path (NULL unknown)
WITH free AS MATERIALIZED (SELECT coalesce(event, -1) AS event, time_ns, value_b, min(position) FROM sample
    WHERE run_id = ?1 AND device_id = ?2 AND metric = 'device_free' GROUP BY 1, 2)
SELECT s.time_ns, s.value_b, f.value_b, s.record, s.event, s.stream, p.text, s.node_id
  FROM sample s LEFT JOIN free f ON f.event = coalesce(s.event, -1) AND f.time_ns = s.time_ns
  LEFT JOIN string p ON p.id = s.pool_id WHERE s.run_id = ?1 AND s.device_id = ?2 AND s.metric = 'oom' ORDER BY s.position;
