-- name: completion_runs
-- out: names of runs, the latest first
SELECT name FROM run WHERE name IS NOT NULL ORDER BY id DESC;

-- name: completion_groups
-- out: names of groups, the latest first
SELECT name FROM run_group GROUP BY name ORDER BY max(joined) DESC;

-- name: completion_devices
-- out: names of devices of any run
SELECT DISTINCT name FROM device WHERE name IS NOT NULL ORDER BY name;

-- name: completion_labels
-- out: what recorders were told of allocations, of a thousand texts
SELECT DISTINCT name FROM v_frame WHERE kind = 'label' AND name IS NOT NULL ORDER BY name LIMIT 1000;
