-- name: advice_ops
-- in: ?1 first op, ?2 one past the last   out: node, parent, start, duration, forward op, string of its shape; NULL: none
SELECT node_id, parent_id, start_ns, dur_ns, forward_id, shape_id FROM op WHERE id >= ?1 AND id < ?2 ORDER BY id;

-- name: advice_blocks
-- in: ?1 first block, ?2 one past the last, ?3 device id
-- out: size, allocated: time, record, op, freed: time, record, op, the rule that says what it is for, its tensor; NULL: none, never
SELECT bytes_b, alloc_ns, alloc_record, alloc_op_id, freed_ns, freed_record, freed_op_id, rule,
  (SELECT text FROM string WHERE string.id = tensor_id) FROM alloc
  WHERE id >= ?1 AND id < ?2 AND device_id = ?3 ORDER BY id;
