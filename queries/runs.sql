-- name: run_latest
-- in: ?1 how many runs back   out: id
SELECT id FROM run ORDER BY id DESC LIMIT 1 OFFSET ?1;

-- name: run_match
-- in: ?1 text   out: id, name of runs whose name begins with it
SELECT id, coalesce(name, '') FROM run WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name LIMIT 20;

-- name: run_exists
-- in: ?1 id   out: a row if there is such a run
SELECT 1 FROM run WHERE id = ?1;

-- name: run_get
-- in: ?1 id   out: ..., the first number that no record has, hash of the file, whether memory records should be
--   there and are not, kind, unit of its times ('' = none), to what times are known (NULL: not said), version that imported it
SELECT id, coalesce(name, ''), coalesce(source, ''), coalesce(format, ''), coalesce(step_marker, ''), start_ns, dur_ns, whole_us, event_n, op_n,
  record_n, alloc_n, node_n, op_first, alloc_first, node_first,
  record_n + (SELECT coalesce(sum(unseen_n + alloc_unseen_n), 0) FROM device WHERE run_id = ?1),
  coalesce(substr(content_hash, 1, 32), ''),
  EXISTS (SELECT 1 FROM note WHERE run_id = ?1 AND kind = 'no_memory_written'), kind, coalesce(time_unit, ''), resolution_ns, imported_by FROM run WHERE id = ?1;

-- name: run_import
-- in: ?1 run id   out: what was imported and how, when
SELECT coalesce(content_hash, ''), coalesce(imported_at, '') FROM run WHERE id = ?1;

-- name: run_pin
-- in: ?1 run id   out: what was imported and how, when, by which version, and where its rows are
SELECT printf('%s %s %d %d %d %d %d', content_hash, imported_at, imported_by, op_first, alloc_first, node_first,
  (SELECT min(id) FROM device WHERE run_id = ?1)) FROM run WHERE id = ?1;

-- name: run_imported_by
-- in: ?1 run id, ?2 version
UPDATE run SET imported_by = ?2 WHERE id = ?1;

-- name: run_notes
-- in: ?1 run id   out: kind, text
SELECT coalesce(kind, ''), coalesce(text, '') FROM note WHERE run_id = ?1;

-- name: run_names
SELECT coalesce(name, '') FROM run ORDER BY id DESC LIMIT 200;

-- name: run_units
-- out: id, name and unit of the runs whose times are not ns ('' = none)
SELECT id, name, coalesce(time_unit, '') FROM run WHERE coalesce(time_unit, '') <> 'ns';

-- name: devices
-- in: ?1 run id   out: devices, the one with most allocated bytes first, else with the highest peak, else with most alive at the end
SELECT id, coalesce(name, ''), type, alloc_b, freed_b, net_b, alloc_n, freed_n, start_b, peak_b, peak_ns, peak_record,
  at_end_b, at_end_n, before_freed_b, before_at_peak_b, outside_n, outside_alloc_b, outside_freed_b, outside_alloc_n, outside_at_peak_b, outside_at_end_b,
  older_b, unseen_b, unseen_n, doubt_at_peak_b, doubt_at_end_b, alloc_unseen_b, alloc_unseen_n,
  EXISTS (SELECT 1 FROM note WHERE run_id = ?1 AND kind = 'state_only'),
  older_least_b, older_most_b, older_used, total_peak_b, above_b, below_b, missing_b, knows, coalesce(older_from, '') FROM device WHERE run_id = ?1
  ORDER BY coalesce(alloc_b, peak_b, at_end_b) DESC, id;

-- name: runs
-- Every run with its figures, one row per device.
SELECT r.id AS id, r.name AS name, g.names AS "group", r.format AS format, d.name AS device, r.op_n AS op_n,
  r.record_n AS record_n, (SELECT count(*) FROM step s WHERE s.run_id = r.id) AS step_n, d.alloc_b AS alloc_b,
  d.net_b AS net_b,
  CASE WHEN NOT EXISTS (SELECT 1 FROM note n WHERE n.run_id = r.id AND n.kind = 'state_only') THEN d.peak_b END AS peak_b, CASE WHEN r.time_unit = 'ns' THEN r.dur_ns END AS dur_ns, r.imported_at AS imported_at, r.source AS source
  FROM run r LEFT JOIN device d ON d.run_id = r.id
  LEFT JOIN (SELECT run_id, group_concat(name, ', ') AS names FROM (SELECT run_id, name FROM run_group ORDER BY run_id, name)
    GROUP BY run_id) g ON g.run_id = r.id
  ORDER BY r.id, d.id;

-- name: info_threads
-- in: ?1 run id
SELECT coalesce(CASE WHEN same_n > 1 THEN pid || ':' || tid ELSE tid END, ''), coalesce(name, ''), op_n
  FROM (SELECT *, count(*) OVER (PARTITION BY tid) AS same_n FROM thread WHERE run_id = ?1) t WHERE op_n > 0 ORDER BY id;

-- name: info_steps
-- in: ?1 run id   out: count, smallest and largest number, whether each is a round of optimizers, whether
-- there are steps but no telling which, and whether that is as processes have their own
SELECT count(*), min(number), max(number),
  EXISTS (SELECT 1 FROM note WHERE run_id = ?1 AND kind = 'steps_rounds') AS rounds,
  EXISTS (SELECT 1 FROM note WHERE run_id = ?1 AND kind IN ('steps_unknown', 'steps_processes')) AS unknown,
  EXISTS (SELECT 1 FROM note WHERE run_id = ?1 AND kind = 'steps_processes') AS apart
FROM step WHERE run_id = ?1;

-- name: info_notes
-- in: ?1 run id
SELECT coalesce(text, '') FROM note WHERE run_id = ?1;

-- name: process_bounds
-- in: ?1 run id, ?2 device id of all processes together; NULL: it is one of them
-- out: what it or a child of it had and nobody saw, what it had at most; whether others may have had more; what all
-- processes together had at least
SELECT (SELECT bytes_b FROM note WHERE run_id = ?1 AND kind = 'peak_unseen'),
  (SELECT bytes_b FROM note WHERE run_id = ?1 AND kind = 'peak_at_most'),
  (SELECT count(*) FROM note WHERE run_id = ?1 AND kind = 'unwatched'),
  (SELECT max(value_b) FROM sample WHERE ?2 IS NOT NULL AND run_id = ?1 AND device_id = ?2 AND metric IN ('pss', 'at_least'));

-- name: run_note_kinds
-- in: ?1 run id   out: kinds of its notes
SELECT coalesce(kind, '') FROM note WHERE run_id = ?1;

-- name: run_torch
-- in: ?1 run id   out: JSON text, the version of PyTorch that recorded it, if the file says so
SELECT coalesce(value, '') FROM meta WHERE run_id = ?1 AND key IN ('torch_version', 'pytorch_version') ORDER BY position LIMIT 1;

-- name: run_blocks_at_most
-- in: ?1 run id   out: bytes that blocks may have held at most between the snapshots of massif
SELECT CAST(value AS INTEGER) FROM meta WHERE run_id = ?1 AND key = 'blocks_at_most_b'
  AND EXISTS (SELECT 1 FROM run WHERE id = ?1 AND format = 'massif') ORDER BY position LIMIT 1;

-- name: run_suppressions
-- in: ?1 run id   out: JSON texts, lines of suppressions of leaks that were in the recorded program
SELECT coalesce(value, '') FROM meta WHERE run_id = ?1 AND key = 'suppression' ORDER BY position;

-- name: run_of_group
-- in: ?1 group, ?2 how many at most   out: ids of its runs, the one that joined last first
SELECT run_id FROM run_group WHERE name = ?1 ORDER BY joined DESC LIMIT ?2;

-- name: group_names
-- out: the groups, the one that a run joined last first
SELECT name FROM run_group GROUP BY name ORDER BY max(joined) DESC LIMIT 200;

-- name: info_meta
-- in: ?1 run id   out: key, value in the file's order
SELECT coalesce(key, ''), coalesce(value, '') FROM meta WHERE run_id = ?1 ORDER BY position;

-- name: traces_beside
-- Traces in the groups of a run that know when they were recorded.
-- in: ?1 run id
-- out: run id; PID (NULL: no number); whether they last until the program ended; in order of time
SELECT t.id, (SELECT CAST(h.pid AS INTEGER) FROM thread h WHERE h.run_id = t.id AND h.pid <> '' AND h.pid NOT GLOB '*[^0-9]*' LIMIT 1),
  EXISTS (SELECT 1 FROM meta m WHERE m.run_id = t.id AND m.key = 'memtool_process' AND m.value LIKE '%"exit"%')
  FROM run t WHERE t.kind = 0 AND t.start_ns > 0 AND t.id IN
    (SELECT b.run_id FROM run_group a JOIN run_group b ON b.name = a.name WHERE a.run_id = ?1)
  ORDER BY t.start_ns, t.id;

-- name: traces_unplaced
-- Traces in the groups of a run that do not know when they were recorded (before 1973: no system's clock), or of a run
-- that does not know it itself.
-- in: ?1 run id   out: how many; the name of one
SELECT count(*), min(t.name) FROM run t WHERE t.kind = 0 AND t.id IN
  (SELECT b.run_id FROM run_group a JOIN run_group b ON b.name = a.name WHERE a.run_id = ?1)
  AND (t.start_ns < 100000000000000000 OR (SELECT r.start_ns FROM run r WHERE r.id = ?1) <= 0);

-- name: processes_beside
-- The run of processes that has the one of a trace: of its PID, or the only one in its groups.
-- in: ?1 run id   out: its name
WITH beside AS (SELECT id, name FROM run WHERE kind = 3 AND id IN
    (SELECT b.run_id FROM run_group a JOIN run_group b ON b.name = a.name WHERE a.run_id = ?1)),
  own(pid) AS (SELECT h.pid FROM thread h WHERE h.run_id = ?1 AND h.pid <> '' AND h.pid NOT GLOB '*[^0-9]*' LIMIT 1)
SELECT t.name FROM beside t WHERE (SELECT count(*) FROM beside) = 1
    OR EXISTS (SELECT 1 FROM own JOIN device d ON d.run_id = t.id AND d.name = 'process:' || own.pid)
    OR (SELECT CAST(m.value AS TEXT) FROM meta m WHERE m.run_id = t.id AND m.key = 'pid' ORDER BY m.position LIMIT 1) = (SELECT pid FROM own)
  ORDER BY t.id LIMIT 1;

-- name: run_pid
-- The PID of the command that a run recorded.
-- in: ?1 run id
SELECT CAST(value AS INTEGER) FROM meta WHERE run_id = ?1 AND key = 'pid' ORDER BY position LIMIT 1;

-- name: run_profilers
-- PyTorch's profilers in processes of a run.
-- in: ?1 run id
-- out: PID (NULL: any); from when, until when one started; from when, until when it wrote its trace: ns (NULL: nobody knows)
SELECT json_extract(value, '$.pid'), json_extract(value, '$.starting_ns[0]'), json_extract(value, '$.starting_ns[1]'),
  json_extract(value, '$.writing_ns[0]'), json_extract(value, '$.writing_ns[1]')
  FROM meta WHERE run_id = ?1 AND key = 'profiler' AND json_valid(value) AND json_type(value) = 'object'
UNION ALL
SELECT NULL, 0, NULL, NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM meta WHERE run_id = ?1 AND key = 'profiler') AND (
  EXISTS (SELECT 1 FROM note WHERE run_id = ?1 AND kind = 'profiler') OR (
    EXISTS (SELECT 1 FROM note WHERE run_id = ?1 AND kind = 'cut') AND
    EXISTS (SELECT 1 FROM meta WHERE run_id = ?1 AND key = 'with_torch')));

-- name: allocator_settings
-- in: ?1 run id
-- out: MiB from which it holds, value: of roundup_power2_divisions; 0: of max_split_size, bytes; -1: whether segments are
-- expandable; -2: the text of PYTORCH_CUDA_ALLOC_CONF
SELECT 0, CAST(value AS INTEGER) FROM meta WHERE run_id = ?1 AND key = 'max_split_size'
UNION ALL
SELECT -1, value = 'true' FROM meta WHERE run_id = ?1 AND key = 'expandable_segments'
UNION ALL
SELECT -2, coalesce(CAST(value AS TEXT), '') FROM meta WHERE run_id = ?1 AND key = 'PYTORCH_CUDA_ALLOC_CONF'
UNION ALL
SELECT CAST(j.key AS INTEGER), CAST(j.value AS INTEGER)
  FROM meta AS m, json_each(CASE WHEN json_valid(m.value) THEN m.value ELSE '{}' END) AS j
 WHERE m.run_id = ?1 AND m.key = 'roundup_power2_divisions';
