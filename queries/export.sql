-- What exports need beyond other reports.

-- name: export_frames
-- in: ?1 first node, ?2 one past the last   out: of each node, source file and line of its function; NULL: unknown, or an op
SELECT (SELECT text FROM string WHERE id = f.file_id AND f.kind <> 0), n.line
  FROM node n LEFT JOIN frame f ON f.id = n.frame_id WHERE n.id >= ?1 AND n.id < ?2 ORDER BY n.id;
