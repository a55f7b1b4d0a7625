-- name: compat_ops
-- in: ?1 run id   out: every op: start_ns, dur_ns, thread id, kind, name id (as recorded, but of an operator without its overload), shape id, id
SELECT o.start_ns, o.dur_ns, t.id, f.kind, coalesce(CASE WHEN f.kind <> 0 THEN o.recorded_id END, CASE WHEN f.instance < 0 THEN f.name_id END), o.shape_id
  FROM thread t JOIN op o ON o.id >= t.op_first AND o.id < t.op_first + t.op_n
  JOIN node n ON n.id = o.node_id JOIN frame f ON f.id = n.frame_id WHERE t.run_id = ?1 ORDER BY o.id;

-- name: compat_allocs
-- in: ?1 run id   out: bytes_b, alloc_ns (of records only), alloc_thread_id, freed_ns (the same), freed_thread_id, device type, alloc_record, freed_record
SELECT a.bytes_b, CASE WHEN a.alloc_thread_id IS NOT NULL THEN a.alloc_ns END, a.alloc_thread_id,
  CASE WHEN a.freed_thread_id IS NOT NULL THEN a.freed_ns END, a.freed_thread_id, d.type, a.alloc_record, a.freed_record
  FROM run r JOIN alloc a ON a.id >= r.alloc_first AND a.id < r.alloc_first + r.alloc_n
  JOIN device d ON d.id = a.device_id WHERE r.id = ?1 ORDER BY a.id;

-- name: compat_ooms
-- in: ?1 run id   out: time_ns
SELECT time_ns FROM sample WHERE run_id = ?1 AND metric = 'oom' ORDER BY position;
