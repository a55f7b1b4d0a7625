-- Texts that must be there are '' where a damaged database has none.

-- name: load_nodes
-- Rows come in the order of their ids: they are read from the table itself.
-- in: ?1 first node, ?2 one past the last   out: those of heap logs, which have no ops
SELECT memtool_each(parent_id, frame_id, top_frame_id, scope_frame_id) FROM node NOT INDEXED WHERE id >= ?1 AND id < ?2;

-- name: load_op_nodes
-- in: as load_nodes
SELECT memtool_each(parent_id, frame_id, top_frame_id, scope_frame_id, module_frame_id, phase, calls_n, time_ns, self_time_ns)
  FROM node NOT INDEXED LEFT JOIN node_op ON node_id = id WHERE id >= ?1 AND id < ?2;

-- name: load_frames
-- in: ?1 first id, ?2 the last   out: id, kind, name, string ids of object and file: these are few, load_string is asked for each once
-- As of v_frame, whose words would take a quarter of the time.
SELECT f.id, f.kind, coalesce(CASE WHEN f.instance < 0 THEN s.text ELSE s.text || '_' || f.instance END, ''), f.object_id, f.file_id
  FROM frame f JOIN string s ON s.id = f.name_id WHERE f.id BETWEEN ?1 AND ?2 ORDER BY f.id;

-- name: load_frame_ids
-- The frames of nodes, in the order of load_nodes, as there.
-- in: ?1 first node, ?2 one past the last
SELECT memtool_each(frame_id, top_frame_id, scope_frame_id) FROM node NOT INDEXED WHERE id >= ?1 AND id < ?2;

-- name: load_module_ids
-- in: as load_frame_ids   out: the frames of modules, and two more cells
SELECT memtool_each(module_frame_id, 0, 0) FROM node_op WHERE node_id >= ?1 AND node_id < ?2;

-- name: load_labels
-- in: ?1 first node, ?2 one past the last   out: what a recorder was told of allocations
SELECT DISTINCT coalesce(f.name, '') FROM node n JOIN v_frame f ON f.id = n.frame_id
  WHERE n.id >= ?1 AND n.id < ?2 AND f.kind = 'label' ORDER BY 1;

-- name: python_frames
-- The functions of Python in call paths, outer ones first, a row for each node. Where no frame is one, no node is
-- looked at; where the run has few nodes, only their frames are, however many those of other runs are.
-- in: ?1 first node, ?2 one past the last
SELECT coalesce(s.text, '')
  FROM (SELECT 1 WHERE (SELECT max(id) FROM frame) > 8 * (?2 - ?1) OR EXISTS (SELECT 1 FROM frame WHERE kind = 3))
  CROSS JOIN node n NOT INDEXED CROSS JOIN frame f ON f.id = n.frame_id CROSS JOIN string s ON s.id = f.name_id
  WHERE n.id >= ?1 AND n.id < ?2 AND ((SELECT max(id) FROM frame) > 8 * (?2 - ?1)
      OR n.frame_id BETWEEN (SELECT min(id) FROM frame WHERE kind = 3) AND (SELECT max(id) FROM frame WHERE kind = 3))
    AND f.kind = 3;

-- name: load_stats
-- in: ?1 first node, ?2 one past the last, ?3 device id   out: node, 0 itself or 1 its subtree, which comes behind it, figures
SELECT memtool_each(node_id, subtree, alloc_b, freed_b, alloc_n, at_peak_b, at_end_b, at_peak_n, at_end_n)
  FROM node_stat WHERE node_id >= ?1 AND node_id < ?2 AND device_id = ?3;

-- name: load_at_peak
-- What nodes themselves held at the peak. Most held nothing: that comes first.
-- in: as load_stats
SELECT memtool_each(node_id, at_peak_b, at_peak_n) FROM node_stat
  WHERE node_id >= ?1 AND node_id < ?2 AND (at_peak_b <> 0 OR at_peak_n <> 0) AND subtree = 0 AND device_id = ?3;

-- name: load_at_end
-- The same of the end.
-- in: as load_stats
SELECT memtool_each(node_id, at_end_b, at_end_n) FROM node_stat
  WHERE node_id >= ?1 AND node_id < ?2 AND (at_end_b <> 0 OR at_end_n <> 0) AND subtree = 0 AND device_id = ?3;

-- name: load_categories
-- in: ?1 device id   out: node (0: outside every op), category, what the node itself did to its blocks
SELECT node_id, category, alloc_b, freed_b, alloc_n, at_peak_b, at_end_b, at_peak_n, at_end_n
  FROM node_category WHERE device_id = ?1;

-- name: load_categories_at_peak
-- in: ?1 device id   out: category, bytes at the peak of what a node itself made; of nodes that have some
SELECT category, at_peak_b FROM node_category WHERE device_id = ?1 AND at_peak_b <> 0;

-- name: load_sizes
-- in: ?1 device id   out: the least size, what blocks of that size and up to twice it did
SELECT least_b, alloc_b, freed_b, alloc_n, at_peak_b, at_end_b, at_peak_n, at_end_n FROM size_stat WHERE device_id = ?1
  ORDER BY least_b;

-- name: load_extra
-- in: ?1 device id, ?2 figure   out: node (0: no call path), values of it and of those that follow
SELECT node_id, coalesce(figures, '') FROM node_extra
  WHERE device_id = ?1 AND figure_id = (SELECT id FROM string WHERE text = ?2);

-- name: load_threads
-- in: ?1 run id   out: id, the thread's number, with that of its process where another one has the same, op_first, op_n, process
SELECT id, coalesce(CASE WHEN count(*) OVER (PARTITION BY tid) > 1 THEN pid || ':' || tid ELSE tid END, ''), op_first, op_n, pid
  FROM thread WHERE run_id = ?1 ORDER BY id;

-- name: load_ops
-- in: ?1 first op, ?2 one past the last, ?3 whether shapes are wanted, ?4 whether nodes of forward ops are
-- out: ..., string of the shape, node of the forward op; NULL: none, or not wanted
SELECT o.id, o.node_id, o.parent_id, o.start_ns, o.dur_ns, CASE WHEN ?3 THEN o.shape_id END,
  CASE WHEN ?4 THEN (SELECT f.node_id FROM op f WHERE f.id = o.forward_id) END
  FROM op o WHERE o.id >= ?1 AND o.id < ?2 ORDER BY o.id;

-- name: load_op
-- in: ?1 id   out: parent_id, start_ns, dur_ns
SELECT parent_id, start_ns, dur_ns FROM op WHERE id = ?1;

-- name: load_last_end
-- in: ?1 first op, ?2 one past the last   out: when the last of them ends, NULL: there is none
SELECT max(start_ns + dur_ns) FROM op WHERE id >= ?1 AND id < ?2;

-- name: load_allocs
-- The blocks of a device that are allocated or freed in a window, both ends included.
-- in: ?1 first block, ?2 one past the last, ?3 device id, ?4, ?5 the window
SELECT bytes_b, alloc_ns, alloc_op_id, alloc_thread_id, freed_ns, freed_op_id, freed_thread_id,
  alloc_record, freed_record, alloc_node_id, freed_node_id, rule, tensor_id FROM alloc
  WHERE id >= ?1 AND id < ?2 AND device_id = ?3
    AND (alloc_ns BETWEEN ?4 AND ?5 OR freed_ns BETWEEN ?4 AND ?5) ORDER BY id;

-- name: load_allocs_in
-- The same, with the nodes of the ops.
-- in: as load_allocs   out: as load_allocs
SELECT a.bytes_b, a.alloc_ns, a.alloc_op_id, a.alloc_thread_id, a.freed_ns, a.freed_op_id, a.freed_thread_id,
  a.alloc_record, a.freed_record, coalesce(o.node_id, a.alloc_node_id), coalesce(f.node_id, a.freed_node_id), a.rule, a.tensor_id
  FROM alloc a LEFT JOIN op o ON o.id = a.alloc_op_id LEFT JOIN op f ON f.id = a.freed_op_id
  WHERE a.id >= ?1 AND a.id < ?2 AND a.device_id = ?3
    AND (a.alloc_ns BETWEEN ?4 AND ?5 OR a.freed_ns BETWEEN ?4 AND ?5) ORDER BY a.id;

-- name: load_older
-- The blocks of a device that are older than the recording, outlive it, and have a call path.
-- in: ?1 first block, ?2 one past the last, ?3 device id
SELECT bytes_b, alloc_node_id, rule FROM alloc WHERE id >= ?1 AND id < ?2 AND device_id = ?3
  AND alloc_record IS NULL AND freed_record IS NULL AND alloc_node_id IS NOT NULL ORDER BY id;

-- name: load_steps
-- in: ?1 run id
SELECT number, start_ns, end_ns FROM step WHERE run_id = ?1 ORDER BY start_ns, position;

-- name: load_marks
-- What a program said of itself while it was recorded.
-- in: ?1 run id
SELECT time_ns, text FROM event WHERE run_id = ?1 AND action = 'mark' AND text IS NOT NULL ORDER BY time_ns, position;

-- name: tensor_any
-- in: ?1 first block, ?2 one past the last, ?3 device id   out: a row, if the tensor of one is known
SELECT 1 FROM alloc WHERE id >= ?1 AND id < ?2 AND device_id = ?3 AND tensor_id IS NOT NULL LIMIT 1;

-- name: load_string
-- in: ?1 id
SELECT coalesce(text, '') FROM string WHERE id = ?1;
