-- name: chunks
-- The level of a device over time, packed.
-- in: ?1 device id
SELECT start_b, first_record, first_ns, min_ns, min_b, min_record, max_ns, max_b, max_record,
  last_ns, last_b, last_record, changes FROM usage_chunk WHERE device_id = ?1 ORDER BY id;

-- name: keyframe_before
-- The last keyframe up to a record.
-- in: ?1 device id, ?2 number of the record
SELECT next, blocks FROM live_keyframe WHERE device_id = ?1 AND record <= ?2 ORDER BY record DESC LIMIT 1;

-- name: live_blocks
-- in: ?1 id of a block, ?2 of a later one, ?3 device id, ?4 number of a record
-- out, of those from the one to the other that are live after that record: as `live`
SELECT a.bytes_b, a.alloc_ns, a.alloc_record, coalesce(o.node_id, a.alloc_node_id), o.shape_id, a.alloc_thread_id, a.rule, a.tensor_id
  FROM alloc a LEFT JOIN op o ON o.id = a.alloc_op_id
  WHERE a.id BETWEEN ?1 AND ?2 AND a.device_id = ?3 AND (a.freed_record > ?4 OR a.freed_record IS NULL)
  ORDER BY a.id;

-- name: live
-- The blocks allocated from some block on up to a record that are live after it.
-- in: ?1 first block, ?2 one past the last, ?3 device id, ?4 number of the record
-- out: bytes_b, alloc_ns, alloc_record, node_id (NULL: outside every op), shape_id, alloc_thread_id, rule, string of the tensor
SELECT a.bytes_b, a.alloc_ns, a.alloc_record, coalesce(o.node_id, a.alloc_node_id), o.shape_id, a.alloc_thread_id, a.rule, a.tensor_id
  FROM alloc a LEFT JOIN op o ON o.id = a.alloc_op_id
  WHERE a.id >= ?1 AND a.id < ?2 AND a.device_id = ?3 AND a.alloc_record IS NOT NULL
    AND (a.freed_record > ?4 OR a.freed_record IS NULL)
  ORDER BY a.id;

-- name: lives
-- Every block of a device with where and when it was allocated and freed.
-- in: ?1 first block, ?2 one past the last, ?3 device id
-- out: as `live`, then freed_ns (NULL: alive at the end), freed_record, whether a record frees it, whether nobody saw its allocation
SELECT a.bytes_b, a.alloc_ns, a.alloc_record, coalesce(o.node_id, a.alloc_node_id), o.shape_id, a.alloc_thread_id, a.rule, a.tensor_id,
  a.freed_ns, a.freed_record, a.freed_thread_id IS NOT NULL,
  a.alloc_record IS NOT NULL AND a.alloc_thread_id IS NULL
  FROM alloc a LEFT JOIN op o ON o.id = a.alloc_op_id
  WHERE a.id >= ?1 AND a.id < ?2 AND a.device_id = ?3 ORDER BY a.id;

-- name: moments
-- Times at which it is known what the call paths of a device hold, where these are no ends of steps.
-- in: ?1 run id, ?2 device id
SELECT position, time_ns FROM moment WHERE run_id = ?1 AND device_id = ?2 AND kind <> 0 ORDER BY position;

-- name: holdings
-- in: ?1 device id   out: ..., by moments, which are steps where there are any
SELECT node_id, size_b, coalesce(changes, '') FROM holding WHERE device_id = ?1;

-- name: unseen
-- in: ?1 device id   out: where frees were lost, and of which size
SELECT node_id, size_b FROM unseen WHERE device_id = ?1;

-- name: kept_gradients
-- in: ?1 device id
SELECT node_id, alloc_step, size_b FROM kept_gradient WHERE device_id = ?1;

-- name: max_lifetime
-- in: ?1 device id, ?2 position of the first step that counts
SELECT node_id, max(life_n) FROM max_lifetime WHERE device_id = ?1 AND alloc_step >= ?2 GROUP BY node_id;

-- name: changes
-- What changes the level of a device, with the ops that do it.
-- in: ?1 first block, ?2 one past the last, ?3 device id
SELECT bytes_b, alloc_record, alloc_ns, alloc_op_id, alloc_thread_id, freed_record, freed_ns, freed_op_id, freed_thread_id, rule
  FROM alloc WHERE id >= ?1 AND id < ?2 AND device_id = ?3;

-- name: op_parent
-- in: ?1 op id   out: parent_id, node_id, when it ends
SELECT parent_id, node_id, start_ns + dur_ns FROM op WHERE id = ?1;

-- name: run_last_record
-- When usage of a run last changed; NULL: never.
-- in: ?1 run id
SELECT max(u.last_ns) FROM device d JOIN usage_chunk u ON u.device_id = d.id WHERE d.run_id = ?1;
