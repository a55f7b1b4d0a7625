-- name: samples
-- Values over time of one metric of a device, in order of time.
-- in: ?1 run id, ?2 device id, ?3 metric
SELECT time_ns, value_b FROM sample WHERE run_id = ?1 AND device_id = ?2 AND metric = ?3 ORDER BY position;

-- name: sample_metrics
-- What was sampled of a device, in the order of the recording.
-- in: ?1 run id, ?2 device id
SELECT metric FROM sample WHERE run_id = ?1 AND device_id = ?2 GROUP BY metric ORDER BY min(position);

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

-- name: process_end
-- When a process was gone; NULL: not in the recording.
-- in: ?1 run id, ?2 device id
SELECT min(time_ns) FROM event WHERE run_id = ?1 AND device_id = ?2 AND action = 'exit';

-- name: malloc_ends
-- From when on nobody counted what malloc of a process has, unless there are samples of it behind.
-- in: ?1 run id, ?2 device id
SELECT time_ns FROM event WHERE run_id = ?1 AND device_id = ?2 AND action = 'malloc_end' ORDER BY position;
