-- Texts that must be there are '' where a damaged database has none.

-- name: load_nodes
-- in: ?1 first node, ?2 one past the last
SELECT parent_id, frame_id, top_frame_id, scope_frame_id, module_frame_id, phase, calls_n, time_ns, self_time_ns
  FROM node WHERE id >= ?1 AND id < ?2 ORDER BY id;

-- name: load_frame
-- in: ?1 id   out: name, whether it is an annotation or a Python function
SELECT coalesce(name, ''), kind IN ('annotation', 'python') FROM v_frame WHERE id = ?1;

-- name: load_stats
-- in: ?1 first node, ?2 one past the last, ?3 device id
SELECT node_id, self_alloc_b, self_freed_b, self_alloc_n, self_at_peak_b, self_at_end_b, self_at_peak_n, self_at_end_n,
  alloc_b, freed_b, alloc_n, at_peak_b, at_end_b, at_peak_n, at_end_n
  FROM node_stat WHERE node_id >= ?1 AND node_id < ?2 AND device_id = ?3;

-- name: load_threads
-- in: ?1 run id
SELECT id, coalesce(tid, ''), op_first, op_n FROM thread WHERE run_id = ?1 ORDER BY id;

-- name: load_ops
-- in: ?1 first op, ?2 one past the last
SELECT o.id, o.node_id, o.parent_id, o.start_ns, o.dur_ns, o.shape_id, o.forward_id FROM op o WHERE o.id >= ?1 AND o.id < ?2 ORDER BY o.id;

-- name: load_allocs
-- in: ?1 first block, ?2 one past the last, ?3 device id
SELECT id, bytes_b, born_ns, born_op_id, born_thread_id, freed_ns, freed_op_id, freed_thread_id,
  born_record, freed_record, born_node_id, freed_node_id FROM alloc
  WHERE id >= ?1 AND id < ?2 AND device_id = ?3 ORDER BY id;

-- name: load_steps
-- in: ?1 run id
SELECT number, start_ns, end_ns FROM step WHERE run_id = ?1 ORDER BY start_ns, position;

-- name: load_string
-- in: ?1 id
SELECT coalesce(text, '') FROM string WHERE id = ?1;
