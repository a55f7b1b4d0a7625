-- name: job_place
-- What the recorder says of a run's place in its job. A stage is the place among the ranks of a pipeline, as PyTorch's
-- DeviceMesh (mesh_pp) and Megatron (PIPELINE_MODEL_PARALLEL_GROUP) name their groups.
-- in: ?1 run id   out: rank; ranks of the job; stage (NULL each: it does not say)
WITH told AS (SELECT value AS v FROM meta WHERE run_id = ?1 AND key = 'distributedInfo' AND json_valid(value)
    ORDER BY position LIMIT 1),
  place AS (SELECT v, CASE json_type(v, '$.rank') WHEN 'integer' THEN json_extract(v, '$.rank') END AS rank,
    CASE json_type(v, '$.world_size') WHEN 'integer' THEN json_extract(v, '$.world_size') END AS rank_n FROM told),
  peers AS (SELECT CASE g.type WHEN 'object' THEN g.value ELSE '{}' END AS v
    FROM place, json_each(place.v, '$.pg_config') g)
SELECT rank, rank_n,
  (SELECT r.key FROM peers p, json_each(p.v, '$.ranks') r
    WHERE (lower(json_extract(p.v, '$.pg_desc')) IN ('pp', 'mesh_pp', 'pipeline', 'mesh_pipeline')
      OR lower(json_extract(p.v, '$.pg_desc')) GLOB 'pipeline*parallel*') AND r.value = rank LIMIT 1)
  FROM place;
