-- SPDX-License-Identifier: Apache-2.0
-- Kernels with their launches (cuda_kern_exec_trace.sql) by thread, device, call and kernel.

WITH call AS (
	SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_launch
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_copy
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_set
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_alloc
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_sync),
launch AS (
	SELECT k.process, k.pid, c.tid, k.device, c.name_id, kernel_text(k.mangled_name_id) AS kernel,
		c.end_ns, max(c.end_ns, k.end_ns) - c.start_ns AS total_ns,
		max(c.end_ns - c.start_ns, 0) AS api_ns,
		iif(k.start_ns > c.end_ns, k.start_ns - c.end_ns, NULL) AS queue_ns, k.dur_ns
	FROM kernel k JOIN call c ON c.process = k.process AND c.correlation = k.correlation)
SELECT pid AS "pid|I|PID", known_tid(process, tid) AS "tid|I|TID", device AS "device|I|DevId",
	count(*) AS "calls|C|Count", count(queue_ns) AS "queued|C|QCount",
	avg(total_ns) AS "total_avg_ns|M|TAvg (ns)", median(total_ns) AS "total_median_ns|M|TMed (ns)",
	min(total_ns) AS "total_min_ns|T|TMin (ns)", max(total_ns) AS "total_max_ns|T|TMax (ns)",
	stddev(total_ns) AS "total_stddev_ns|M|TStdDev (ns)",
	avg(api_ns) AS "api_avg_ns|M|AAvg (ns)", median(api_ns) AS "api_median_ns|M|AMed (ns)",
	min(api_ns) AS "api_min_ns|T|AMin (ns)", max(api_ns) AS "api_max_ns|T|AMax (ns)",
	stddev(api_ns) AS "api_stddev_ns|M|AStdDev (ns)",
	avg(queue_ns) AS "queue_avg_ns|M|QAvg (ns)", median(queue_ns) AS "queue_median_ns|M|QMed (ns)",
	min(queue_ns) AS "queue_min_ns|T|QMin (ns)", max(queue_ns) AS "queue_max_ns|T|QMax (ns)",
	stddev(queue_ns) AS "queue_stddev_ns|M|QStdDev (ns)",
	avg(dur_ns) AS "kernel_avg_ns|M|KAvg (ns)", median(dur_ns) AS "kernel_median_ns|M|KMed (ns)",
	min(dur_ns) AS "kernel_min_ns|T|KMin (ns)", max(dur_ns) AS "kernel_max_ns|T|KMax (ns)",
	stddev(dur_ns) AS "kernel_stddev_ns|M|KStdDev (ns)",
	raw(name_id) AS "api|X|API Name", kernel AS "name|X|Kernel Name"
FROM launch
GROUP BY process, tid, device, name_id, kernel
ORDER BY total(total_ns) DESC, process, max(end_ns) DESC
