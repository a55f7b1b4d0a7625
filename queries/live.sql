-- name: levels
-- What changes the level of a device: births and frees of its blocks.
-- in: ?1 first block, ?2 one past the last, ?3 device id
SELECT bytes_b, born_ns, born_record, freed_ns, freed_record FROM alloc WHERE id >= ?1 AND id < ?2 AND device_id = ?3;

-- name: live
-- The blocks that are live after a record.
-- in: ?1 first block, ?2 one past the last, ?3 device id, ?4 number of the record
-- out: bytes_b, born_ns, born_record, node_id (NULL: outside every op), shape_id, born_thread_id
SELECT a.bytes_b, a.born_ns, a.born_record, coalesce(o.node_id, a.born_node_id), o.shape_id, a.born_thread_id
  FROM alloc a LEFT JOIN op o ON o.id = a.born_op_id
  WHERE a.id >= ?1 AND a.id < ?2 AND a.device_id = ?3
    AND (a.born_record <= ?4 OR a.born_record IS NULL) AND (a.freed_record > ?4 OR a.freed_record IS NULL)
  ORDER BY a.id;

-- name: lives
-- Every block of a device with where and when it was born and freed.
-- in: ?1 first block, ?2 one past the last, ?3 device id
-- out: as `live`, then freed_ns (NULL: alive at the end), freed_record, id
SELECT a.bytes_b, a.born_ns, a.born_record, coalesce(o.node_id, a.born_node_id), o.shape_id, a.born_thread_id,
  a.freed_ns, a.freed_record, a.id
  FROM alloc a LEFT JOIN op o ON o.id = a.born_op_id
  WHERE a.id >= ?1 AND a.id < ?2 AND a.device_id = ?3 ORDER BY a.id;

-- name: changes
-- What changes the level of a device, with the ops that do it.
-- in: ?1 first block, ?2 one past the last, ?3 device id
SELECT bytes_b, born_record, born_ns, born_op_id, born_thread_id, freed_record, freed_ns, freed_op_id, freed_thread_id
  FROM alloc WHERE id >= ?1 AND id < ?2 AND device_id = ?3;

-- name: op_parent
-- in: ?1 op id   out: parent_id, node_id
SELECT parent_id, node_id FROM op WHERE id = ?1;
