-- Texts that must be there are '' where a damaged database has none.

-- name: load_nodes
-- in: ?1 first node, ?2 one past the last
-- out: parent_id, frame, top, scope, module (texts), phase, calls_n, time_ns, self_time_ns, kind
SELECT n.parent_id, coalesce(f.name, ''), coalesce(t.name, ''), sc.name, m.name, n.phase, n.calls_n, n.time_ns, n.self_time_ns, f.kind IN ('annotation', 'python')
  FROM node n JOIN v_frame f ON f.id = n.frame_id JOIN v_frame t ON t.id = n.top_frame_id
  LEFT JOIN v_frame sc ON sc.id = n.scope_frame_id LEFT JOIN v_frame m ON m.id = n.module_frame_id
  WHERE n.id >= ?1 AND n.id < ?2 ORDER BY n.id;

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
SELECT number, start_ns, end_ns FROM step WHERE run_id = ?1 ORDER BY start_ns;

-- name: load_string
-- in: ?1 id
SELECT coalesce(text, '') FROM string WHERE id = ?1;
