-- name: job_told
-- What the recorder says of a run's place in its job.
-- in: ?1 run id   out: JSON (no row: nothing)
SELECT value FROM meta WHERE run_id = ?1 AND key = 'distributedInfo' AND json_valid(value) ORDER BY position LIMIT 1;

-- name: job_place
-- in: ?1 that JSON   out: rank; ranks of the job (NULL each: it does not say)
SELECT CASE json_type(?1, '$.rank') WHEN 'integer' THEN json_extract(?1, '$.rank') END,
  CASE json_type(?1, '$.world_size') WHEN 'integer' THEN json_extract(?1, '$.world_size') END;

-- name: job_groups
-- The place of a rank in its groups of processes: among the stages of a pipeline, or among those that share tensors, as
-- PyTorch's DeviceMesh (mesh_pp, mesh_tp) and Megatron (PIPELINE_MODEL_PARALLEL_GROUP, TENSOR_MODEL_PARALLEL_GROUP) name them.
-- Names are looked up with instr, for IN builds a table for each run.
-- in: ?1 that JSON; ?2 rank   out: place; 1 a stage, 0 a part of tensors
SELECT r.key, g.stage FROM
  (SELECT v, instr(' pp mesh_pp pipeline mesh_pipeline ', ' ' || name || ' ') OR name GLOB 'pipeline*parallel*' AS stage,
    instr(' tp mesh_tp tensor mesh_tensor tensor_parallel tensor_model_parallel_group ', ' ' || name || ' ') AS part FROM
    (SELECT v, lower(json_extract(v, '$.pg_desc')) AS name FROM
      (SELECT CASE type WHEN 'object' THEN value ELSE '{}' END AS v FROM json_each(?1, '$.pg_config')))) g,
  json_each(g.v, '$.ranks') r WHERE (g.stage OR g.part) AND r.value = ?2;
