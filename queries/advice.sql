-- name: advice_ops
-- in: ?1 first op, ?2 one past the last   out, in order of id: node, parent, start, duration, forward op, string of its shape;
-- of ops, 0: none
SELECT memtool_each(node_id, parent_id, start_ns, dur_ns, forward_id, shape_id)
  FROM op NOT INDEXED WHERE id >= ?1 AND id < ?2;

-- name: advice_blocks
-- in: ?1 first block, ?2 one past the last, ?3 device id
-- out, in order of id: size, allocated: time, record, op, freed: time, record, op, the rule that says what it is for, string of its
-- tensor; the least of an allocation: before the recording; the most of a free: never; of ops, -1: none
SELECT memtool_each(bytes_b, ifnull(alloc_ns, -9223372036854775808), ifnull(alloc_record, -9223372036854775808),
    ifnull(alloc_op_id, -1), ifnull(freed_ns, 9223372036854775807), ifnull(freed_record, 9223372036854775807),
    ifnull(freed_op_id, -1), rule, tensor_id)
  FROM alloc NOT INDEXED WHERE id >= ?1 AND id < ?2 AND device_id = ?3;
