-- What exports need beyond other reports.

-- name: export_frames
-- in: ?1 first node, ?2 one past the last
-- out: of each node, source file and line of its function (NULL: unknown, or an op); kind of its frame; whether it is the nn.Module, and has a number as one
SELECT (SELECT text FROM string WHERE id = f.file_id AND f.kind <> 0), n.line, f.kind, o.module_frame_id IS n.frame_id, f.instance >= 0
  FROM node n LEFT JOIN node_op o ON o.node_id = n.id LEFT JOIN frame f ON f.id = n.frame_id WHERE n.id >= ?1 AND n.id < ?2 ORDER BY n.id;

-- name: export_process
-- in: ?1 run id
-- out: its PID, that of most ops, or of the command recorded (NULL: unknown); what is added to the times of its file (NULL: nothing)
SELECT coalesce((SELECT CAST(pid AS INTEGER) FROM thread WHERE run_id = ?1 AND pid <> '' AND pid NOT GLOB '*[^0-9]*'
    GROUP BY pid ORDER BY sum(op_n) DESC, pid LIMIT 1),
  (SELECT CAST(value AS INTEGER) FROM meta WHERE run_id = ?1 AND key = 'pid' ORDER BY position LIMIT 1)),
  (SELECT CAST(value AS INTEGER) FROM meta WHERE run_id = ?1 AND key = 'baseTimeNanoseconds' ORDER BY position LIMIT 1);
