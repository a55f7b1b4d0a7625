-- name: samples
-- Values over time of a device, or of all of a run, in order of time.
-- in: ?1 run id, ?2 device id, NULL: all
-- out: device id, metric, time, value
SELECT device_id, coalesce(metric, ''), time_ns, value_b FROM sample WHERE run_id = ?1 AND (?2 IS NULL OR device_id = ?2)
  ORDER BY position;

-- name: sample_ends
-- When a process was gone ('exit'), and from when on nobody counted what its malloc has ('malloc_end'), unless there
-- are samples of that behind.
-- in: ?1 run id, ?2 device id, NULL: all
-- out: device id, what ended, time, 0
SELECT device_id, action, time_ns, 0 FROM event WHERE run_id = ?1 AND (?2 IS NULL OR device_id = ?2)
  AND action IN ('exit', 'malloc_end') ORDER BY position;

-- name: recorder_total
-- in: ?1 device id
SELECT base_b, residual_b FROM device WHERE id = ?1;

-- name: change_nodes
-- What changes the level of a device, with the nodes of the call tree that do it.
-- in: ?1 first block, ?2 one past the last, ?3 device id
-- out: alloc_record, node_id (NULL: outside every op), freed_record, node_id, whether nobody saw the free
SELECT a.alloc_record, coalesce(b.node_id, a.alloc_node_id), a.freed_record, coalesce(f.node_id, a.freed_node_id),
  a.freed_thread_id IS NULL
  FROM alloc a LEFT JOIN op b ON b.id = a.alloc_op_id LEFT JOIN op f ON f.id = a.freed_op_id
  WHERE a.id >= ?1 AND a.id < ?2 AND a.device_id = ?3;
