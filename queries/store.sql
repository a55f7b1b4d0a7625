-- name: run_by_hash
-- in: ?1 content hash   out: id, name
SELECT id, name FROM run WHERE content_hash = ?1;

-- name: run_in_group
-- in: ?1 run id, ?2 group   out: a row if the run is of that group: whether it is the latest
SELECT joined = (SELECT max(joined) FROM run_group WHERE name = ?2) FROM run_group WHERE run_id = ?1 AND name = ?2;

-- name: run_other_groups
-- in: ?1 run id, ?2 group   out: the names of its other groups
SELECT name FROM run_group WHERE run_id = ?1 AND name <> ?2 ORDER BY name;

-- name: run_of_source
-- in: ?1 run id, ?2 file   out: a row if the run was read of a file called so
SELECT 1 FROM run WHERE id = ?1 AND source = ?2;

-- name: run_sources
-- out: file and content hash of all runs, in the order in which they came
SELECT source, content_hash FROM run ORDER BY id;

-- name: run_by_name
-- in: ?1 name   out: id
SELECT id FROM run WHERE name = ?1;

-- name: next_ids
-- out: the next free id of run, op, alloc, node, device, thread, segment
SELECT (SELECT coalesce(max(id), 0) + 1 FROM run), (SELECT coalesce(max(id), 0) + 1 FROM op),
  (SELECT coalesce(max(id), 0) + 1 FROM alloc), (SELECT coalesce(max(id), 0) + 1 FROM node),
  (SELECT coalesce(max(id), 0) + 1 FROM device), (SELECT coalesce(max(id), 0) + 1 FROM thread),
  (SELECT coalesce(max(id), 0) + 1 FROM segment);

-- name: string_find
SELECT id FROM string WHERE text = ?1;
-- name: string_add
INSERT INTO string(text) VALUES (?1);
-- name: frame_find
SELECT id FROM frame WHERE name_id = ?1 AND kind = ?2 AND instance = ?3 AND object_id IS ?4 AND file_id IS ?5;
-- name: frame_add
INSERT INTO frame(name_id, kind, instance, object_id, file_id) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: run_add
INSERT INTO run VALUES (?1,?2,?3,?4,?5,coalesce(?21,strftime('%Y-%m-%dT%H:%M:%SZ','now')),?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?22);
-- name: meta_add
INSERT INTO meta VALUES (?1,?2,?3,?4);
-- name: device_add
INSERT INTO device VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,?27,?28,?29,?30,?31,?32,?33,?34,?35,?36,?37,?38,?39,?40,?41,?42,?43);
-- name: thread_add
INSERT INTO thread VALUES (?1,?2,?3,?4,?5,?6,?7);
-- name: node_add_all
INSERT INTO node(parent_id, frame_id, top_frame_id, scope_frame_id, line, stat_node_id) SELECT c0, c1, c2, c3, c4, c5 FROM temp.rows;
-- name: node_op_add_all
INSERT INTO node_op SELECT c0, c1, c2, c3, c4, c5 FROM temp.rows;
-- name: node_stat_add_all
INSERT INTO node_stat SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 FROM temp.rows;
-- name: node_category_add_all
INSERT INTO node_category SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 FROM temp.rows;
-- name: node_extra_add_all
INSERT INTO node_extra SELECT c0, c1, c2, text FROM temp.rows;
-- name: moment_add
INSERT INTO moment VALUES (?1,?2,?3,?4,?5);
-- name: step_add
INSERT INTO step VALUES (?1,?2,?3,?4,?5);
-- name: sample_add
INSERT INTO sample VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11);
-- name: event_add
INSERT INTO event VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9);
-- name: note_add
INSERT INTO note VALUES (?1,?2,?3,?4,?5,?6);

-- name: op_add_all
-- `rows` is the import's virtual table (lib/db/db.h)
INSERT INTO op(node_id, parent_id, start_ns, dur_ns, shape_id, recorded_id, forward_id)
  SELECT c0, c1, c2, c3, c4, c5, c6 FROM temp.rows;
-- name: alloc_add_all
INSERT INTO alloc(device_id, bytes_b, alloc_ns, alloc_op_id, alloc_thread_id, freed_ns, freed_op_id, freed_thread_id,
  alloc_record, freed_record, alloc_node_id, freed_node_id, rule, tensor_id)
  SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13 FROM temp.rows;

-- name: chunk_add
INSERT INTO usage_chunk VALUES (NULL,?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14);
-- name: keyframe_add
INSERT INTO live_keyframe VALUES (?1,?2,?3,?4);
-- name: holding_add_all
INSERT INTO holding SELECT c0, c1, c2, text FROM temp.rows;
-- name: size_stat_add_all
INSERT INTO size_stat SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 FROM temp.rows;
-- name: max_lifetime_add
INSERT INTO max_lifetime VALUES (?1,?2,?3,?4);
-- name: kept_gradient_add
INSERT OR IGNORE INTO kept_gradient VALUES (?1,?2,?3,?4);
-- name: unseen_add
INSERT INTO unseen VALUES (?1,?2,?3,?4);

-- name: segment_add
INSERT INTO segment VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16);
-- name: block_add_all
-- The smallest integer is NULL in `rows`; as an address or a stream it is itself.
INSERT INTO block SELECT c0, coalesce(c1, -9223372036854775808), c2, coalesce(c3, -9223372036854775808), c4, c5, c6, c7
  FROM temp.rows;

-- name: run_delete_stats
-- in: ?1 run id, here and below
DELETE FROM node_stat WHERE node_id >= (SELECT node_first FROM run WHERE id = ?1)
  AND node_id < (SELECT node_first + node_n FROM run WHERE id = ?1);
-- name: run_delete_node_ops
DELETE FROM node_op WHERE node_id >= (SELECT node_first FROM run WHERE id = ?1)
  AND node_id < (SELECT node_first + node_n FROM run WHERE id = ?1);
-- name: run_delete_nodes
DELETE FROM node WHERE id >= (SELECT node_first FROM run WHERE id = ?1)
  AND id < (SELECT node_first + node_n FROM run WHERE id = ?1);
-- name: run_delete_ops
DELETE FROM op WHERE id >= (SELECT op_first FROM run WHERE id = ?1)
  AND id < (SELECT op_first + op_n FROM run WHERE id = ?1);
-- name: run_delete_blocks
DELETE FROM block WHERE alloc_id >= (SELECT alloc_first FROM run WHERE id = ?1)
  AND alloc_id < (SELECT alloc_first + alloc_n FROM run WHERE id = ?1);
-- name: run_delete_segments
DELETE FROM segment WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_allocs
DELETE FROM alloc WHERE id >= (SELECT alloc_first FROM run WHERE id = ?1)
  AND id < (SELECT alloc_first + alloc_n FROM run WHERE id = ?1);
-- name: run_delete_chunks
DELETE FROM usage_chunk WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_keyframes
DELETE FROM live_keyframe WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_holdings
DELETE FROM holding WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_sizes
DELETE FROM size_stat WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_extras
DELETE FROM node_extra WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_categories
DELETE FROM node_category WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_moments
DELETE FROM moment WHERE run_id = ?1;
-- name: run_delete_max_lifetime
DELETE FROM max_lifetime WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_kept_gradients
DELETE FROM kept_gradient WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_unseen
DELETE FROM unseen WHERE device_id IN (SELECT id FROM device WHERE run_id = ?1);
-- name: run_delete_devices
DELETE FROM device WHERE run_id = ?1;
-- name: run_delete_threads
DELETE FROM thread WHERE run_id = ?1;
-- name: run_delete_steps
DELETE FROM step WHERE run_id = ?1;
-- name: run_delete_samples
DELETE FROM sample WHERE run_id = ?1;
-- name: run_delete_events
DELETE FROM event WHERE run_id = ?1;
-- name: run_delete_notes
DELETE FROM note WHERE run_id = ?1;
-- name: run_delete_meta
DELETE FROM meta WHERE run_id = ?1;
-- name: run_delete_groups
DELETE FROM run_group WHERE run_id = ?1;
-- name: run_delete
DELETE FROM run WHERE id = ?1;

-- name: run_rename
-- in: ?1 run id, ?2 name
UPDATE run SET name = ?2 WHERE id = ?1;
-- name: run_add_group
-- in: ?1 run id, ?2 group, whose latest it is then
INSERT INTO run_group VALUES (?2, ?1, (SELECT coalesce(max(joined), 0) + 1 FROM run_group))
  ON CONFLICT (name, run_id) DO UPDATE SET joined = excluded.joined;
-- name: run_move_groups
-- in: ?1 run id, ?2 the run that takes its place in its groups, as their latest
UPDATE OR IGNORE run_group SET run_id = ?2, joined = (SELECT max(joined) + 1 FROM run_group) WHERE run_id = ?1;

-- name: run_keep_groups
-- in: ?1 run id, ?2 the run that is in its groups in its place
UPDATE run_group SET run_id = ?2 WHERE run_id = ?1;

-- name: sweep_frames
-- Frames that no node of any run has.
DELETE FROM frame WHERE id NOT IN (SELECT frame_id FROM node
  UNION ALL SELECT top_frame_id FROM node WHERE top_frame_id IS NOT NULL
  UNION ALL SELECT scope_frame_id FROM node WHERE scope_frame_id IS NOT NULL
  UNION ALL SELECT module_frame_id FROM node_op WHERE module_frame_id IS NOT NULL);
-- name: sweep_strings
-- Texts that nothing refers to; frames are swept before.
DELETE FROM string WHERE id NOT IN (SELECT name_id FROM frame
  UNION ALL SELECT object_id FROM frame WHERE object_id IS NOT NULL
  UNION ALL SELECT file_id FROM frame WHERE file_id IS NOT NULL
  UNION ALL SELECT shape_id FROM op WHERE shape_id IS NOT NULL
  UNION ALL SELECT tensor_id FROM alloc WHERE tensor_id IS NOT NULL
  UNION ALL SELECT figure_id FROM node_extra
  UNION ALL SELECT recorded_id FROM op WHERE recorded_id IS NOT NULL
  UNION ALL SELECT pool_id FROM segment WHERE pool_id IS NOT NULL
  UNION ALL SELECT pool_id FROM block WHERE pool_id IS NOT NULL
  UNION ALL SELECT pool_id FROM sample WHERE pool_id IS NOT NULL);

-- name: live_run
-- A run that is being recorded: how long it lasts so far, its samples.
-- in: ?1 run id, ?2 ns, ?3 what was seen, ?4 levels
UPDATE run SET dur_ns = ?2, event_n = ?3, record_n = ?4 WHERE id = ?1;
-- name: live_device_add
-- in: ?1 run id, ?2 name, ?3 type, ?4 PID, or -1
INSERT INTO device(run_id, name, type, device_index, start_b, before_freed_b, before_freed_n, before_at_peak_b, outside_n,
  outside_alloc_b, outside_freed_b, outside_alloc_n, outside_at_peak_b, outside_at_end_b, older_b, unseen_b, unseen_n,
  doubt_at_peak_b, doubt_at_end_b, older_used, alloc_unseen_b, alloc_unseen_n, knows, above_b, below_b, missing_b)
  VALUES (?1, ?2, ?3, ?4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
-- name: live_device
-- in: ?1 device id, ?2 level at its start, ?3 peak, ?4 its time, ?5 its record, ?6 what is known
UPDATE device SET start_b = ?2, peak_b = ?3, peak_ns = ?4, peak_record = ?5, knows = ?6 WHERE id = ?1;
-- name: live_chunk
-- Writes a chunk anew. in: ?1 to ?13 as chunk_add has it behind the device, ?14 chunk id
UPDATE usage_chunk SET start_b = ?1, first_record = ?2, first_ns = ?3, min_ns = ?4, min_b = ?5, min_record = ?6, max_ns = ?7,
  max_b = ?8, max_record = ?9, last_ns = ?10, last_b = ?11, last_record = ?12, changes = ?13 WHERE id = ?14;
-- name: live_step
-- in: as step_add; a step under way, or whose end was not known
INSERT OR REPLACE INTO step VALUES (?1,?2,?3,?4,?5);
-- name: live_step_marker
-- in: ?1 run id, ?2 what its steps are taken from
UPDATE run SET step_marker = ?2 WHERE id = ?1;
-- name: live_ended
-- in: ?1 run id, ?2 kind of note
DELETE FROM note WHERE run_id = ?1 AND kind = ?2;

-- name: taken_steps
-- The steps of a trace as those of a run of processes, where that has none of its own.
-- in: ?1 run id, ?2 run id of the trace, ?3 how much later that begins, in ns
INSERT INTO step SELECT ?1, position, number, start_ns + ?3, min(end_ns + ?3, (SELECT dur_ns FROM run WHERE id = ?1)) FROM step
  WHERE run_id = ?2 AND start_ns + ?3 BETWEEN 0 AND (SELECT dur_ns FROM run WHERE id = ?1)
    AND NOT EXISTS (SELECT 1 FROM step WHERE run_id = ?1);
-- name: taken_last_step
-- The last step, where all are those of the trace. in: ?1 run id, ?2 run id of the trace
SELECT position, number, end_ns, p.dur_ns FROM step s JOIN run p ON p.id = s.run_id JOIN run t ON t.id = ?2
  WHERE s.run_id = ?1 AND p.step_marker = t.step_marker
    AND (SELECT count(*) FROM step WHERE run_id = ?1) = (SELECT count(*) FROM step WHERE run_id = ?2)
  ORDER BY position DESC LIMIT 1;
-- name: taken_step_marker
-- What these were taken from. in: as above
UPDATE run SET step_marker = (SELECT step_marker FROM run WHERE id = ?2)
  WHERE id = ?1 AND step_marker IS NULL AND EXISTS (SELECT 1 FROM step WHERE run_id = ?1);
-- name: taken_steps_known
-- in: ?1 run id
UPDATE device SET knows = knows | 4096 WHERE run_id = ?1 AND EXISTS (SELECT 1 FROM step WHERE run_id = ?1);
