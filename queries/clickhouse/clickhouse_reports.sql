-- What memtool ranks says, of rollups in ClickHouse. {job:String} is the job; versions before 19.14 know no parameters: put
-- its name there, in quotes. Of a rank that has several runs the one with the highest peak counts. `peers` names a cluster.

-- name: ranks
-- The peak of each rank, how far it is from the median of its cluster, and whether it lies outside.
-- out: rank, run_name, stage, device, peak_b, over_median_b, outlier (NULL: too few ranks, they do not compare, or unknown),
-- peak_ns, at_end_b
SELECT rank, run_name, stage, device, peak_b, peak_b - median_b AS over_median_b,
  if(isNull(peak_b) OR known_n < 4 OR (SELECT ifNull(min(alike), 1) = 0 OR ifNull(max(older) - min(older), 0) > 0
      FROM memtool.rollup FINAL WHERE kind = 'run' AND job = {job:String} AND isNotNull(cluster) AND isNotNull(peak_b)), NULL,
    if(peak_b > median_b, peak_b - median_b - doubt_b, median_b - peak_b) > greatest(3.5 * 1.4826 * deviation_b, 0.05 * median_b)) AS outlier,
  peak_ns, at_end_b
FROM (SELECT rank, name AS run_name, stage, device, peak_b, ifNull(doubt_b, 0) AS doubt_b, peak_ns, end_b AS at_end_b,
    concat(toString(ifNull(stage, -1)), '/', toString(assumeNotNull(cluster))) AS peers
  FROM memtool.rollup FINAL WHERE kind = 'run' AND job = {job:String} AND isNotNull(cluster)
  ORDER BY peak_b DESC, number LIMIT 1 BY ifNull(rank, -1 - number)) AS l
ANY LEFT JOIN (SELECT peers, length(peaks) AS known_n, peaks[intDiv(known_n + 1, 2)] AS median_b,
    arraySort(arrayMap(x -> abs(x - median_b), peaks))[intDiv(known_n + 1, 2)] AS deviation_b
  FROM (SELECT peers, arraySort(groupArray(assumeNotNull(peak_b))) AS peaks
    FROM (SELECT concat(toString(ifNull(stage, -1)), '/', toString(assumeNotNull(cluster))) AS peers, rank, peak_b, number
      FROM memtool.rollup FINAL WHERE kind = 'run' AND job = {job:String}
      AND isNotNull(cluster) AND isNotNull(peak_b) ORDER BY peak_b DESC, number LIMIT 1 BY ifNull(rank, -1 - number))
    GROUP BY peers)) AS r USING peers
ORDER BY rank, run_name;

-- name: spread
-- How the peaks of each cluster lie apart: ranks that are alike by design. The median of an even number is the lower of the two in the middle.
-- out: stage, tp, first_rank, last_rank, rank_n, least_peak_b, median_peak_b, peak_b, deviation_b (NULL: no peak is known)
SELECT least_stage AS stage, least_tp AS tp, first_rank, last_rank, rank_n, if(n = 0, NULL, peaks[1]) AS least_peak_b, if(n = 0, NULL, peaks[middle]) AS median_peak_b,
  if(n = 0, NULL, peaks[n]) AS peak_b,
  if(n = 0, NULL, arraySort(arrayMap(x -> abs(x - peaks[middle]), peaks))[middle]) AS deviation_b
FROM (SELECT peers, min(stage) AS least_stage, min(cluster) AS part, min(tp) AS least_tp, min(rank) AS first_rank, max(rank) AS last_rank, count() AS rank_n, arraySort(groupArray(peak_b)) AS peaks, length(peaks) AS n, intDiv(n + 1, 2) AS middle
  FROM (SELECT concat(toString(ifNull(stage, -1)), '/', toString(assumeNotNull(cluster))) AS peers, cluster, stage, tp, rank, peak_b, number
    FROM memtool.rollup FINAL
    WHERE kind = 'run' AND job = {job:String} AND isNotNull(cluster)
    ORDER BY peak_b DESC, number LIMIT 1 BY ifNull(rank, -1 - number))
  GROUP BY peers)
ORDER BY ifNull(least_stage, -1), part;

-- name: steps
-- The peak of each rank in each step.
-- out: rank, run_name, step, peak_b (NULL: the recording ends before)
SELECT rank, run_name, step, peak_b
FROM (SELECT run, number, step, peak_b FROM memtool.rollup FINAL WHERE kind = 'step' AND job = {job:String} AND compared = 1) AS l
ALL INNER JOIN (SELECT run, rank, name AS run_name, peak_b AS most_b, number AS joined
  FROM memtool.rollup FINAL WHERE kind = 'run' AND job = {job:String} AND isNotNull(cluster)
  ORDER BY most_b DESC, joined LIMIT 1 BY ifNull(rank, -1 - joined)) AS r USING run
ORDER BY rank, run_name, number;

-- name: sites
-- What the rank with the highest peak holds there beyond the median rank of its cluster, by site; the rows add up to the difference.
-- out: at_peak_delta_b, base_at_peak_b, new_at_peak_b, site
SELECT new_at_peak_b - base_at_peak_b AS at_peak_delta_b, sumIf(assumeNotNull(at_peak_b), run = median) AS base_at_peak_b,
  sumIf(assumeNotNull(at_peak_b), run = most) AS new_at_peak_b, name AS site
FROM (SELECT job, run, name, at_peak_b FROM memtool.rollup FINAL
  WHERE kind = 'site' AND job = {job:String} AND compared = 1 AND isNotNull(at_peak_b)) AS l
ALL INNER JOIN (SELECT job, arraySort(x -> (-x.1, x.2), ranks)[1].3 AS most,
    arraySort(arrayFilter(x -> x.4 = arraySort(y -> (-y.1, y.2), ranks)[1].4, ranks)) AS peers,
    peers[intDiv(length(peers) + 1, 2)].3 AS median
  FROM (SELECT job, groupArray((assumeNotNull(peak_b), ifNull(rank, toInt64(9223372036854775807)), run, peers)) AS ranks
    FROM (SELECT job, run, rank, concat(toString(ifNull(stage, -1)), '/', toString(assumeNotNull(cluster))) AS peers, peak_b, number FROM memtool.rollup FINAL
      WHERE kind = 'run' AND job = {job:String} AND isNotNull(cluster) AND isNotNull(peak_b)
      ORDER BY peak_b DESC, number LIMIT 1 BY ifNull(rank, -1 - number))
    GROUP BY job)) AS r USING job
WHERE run = most OR run = median
GROUP BY name
HAVING base_at_peak_b <> new_at_peak_b
ORDER BY at_peak_delta_b DESC, site;

-- name: trend
-- The runs of a job in the order in which they joined it: nightly runs, commits.
-- out: run_name, peak_b, change_b (since the last run whose peak is known), alloc_b, at_end_b
SELECT run_name, peak_b, if(isNull(peak_b) OR indexOf(numbers, number) < 2, NULL, peak_b - peaks[indexOf(numbers, number) - 1]) AS change_b,
  alloc_b, end_b AS at_end_b
FROM (SELECT number, name AS run_name, peak_b, alloc_b, end_b, job FROM memtool.rollup FINAL
  WHERE kind = 'run' AND job = {job:String} AND compared = 1) AS l
ANY LEFT JOIN (SELECT job, groupArray(number) AS numbers, groupArray(assumeNotNull(peak_b)) AS peaks
  FROM (SELECT job, number, peak_b FROM memtool.rollup FINAL WHERE kind = 'run' AND job = {job:String} AND compared = 1 AND isNotNull(peak_b)
    ORDER BY number) GROUP BY job) AS r USING job
ORDER BY number;

-- name: peak
-- What a run, {run:String}, holds at its peak, by site.
-- out: live_b, site
SELECT sum(assumeNotNull(at_peak_b)) AS live_b, name AS site
FROM memtool.rollup FINAL
WHERE kind = 'site' AND job = {job:String} AND compared = 1 AND at_peak_b > 0
  AND run GLOBAL IN (SELECT run FROM memtool.rollup WHERE kind = 'run' AND job = {job:String} AND name = {run:String})
GROUP BY name
ORDER BY live_b DESC, site;

-- name: live
-- What a run, {run:String}, holds at a moment, {at:Int64} ns after its start, by site: of what was exported with --blocks.
-- out: live_b, site
SELECT sum(assumeNotNull(alloc_b)) AS live_b, name AS site
FROM memtool.rollup FINAL
WHERE kind = 'block' AND job = {job:String} AND compared = 1 AND ifNull(alloc_ns <= {at:Int64}, 1) AND ifNull(freed_ns > {at:Int64}, 1)
  AND run GLOBAL IN (SELECT run FROM memtool.rollup WHERE kind = 'run' AND job = {job:String} AND name = {run:String})
GROUP BY name
ORDER BY live_b DESC, site;
