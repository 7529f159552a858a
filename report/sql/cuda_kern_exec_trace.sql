-- SPDX-License-Identifier: Apache-2.0
-- Kernels with their launches. Queue time is from the end of the call to the begin of the kernel, if
-- that is later; total time from the begin of the call to the end of what ends last. The launch of a
-- graph is the call of many kernels.

WITH call AS (
	SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_launch
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_copy
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_set
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_alloc
	UNION ALL SELECT process, correlation, tid, name_id, start_ns, end_ns FROM api_sync)
SELECT c.start_ns AS "api_start_ns|T|API Start (ns)",
	max(c.end_ns - c.start_ns, 0) AS "api_duration_ns|T|API Dur (ns)",
	iif(k.start_ns > c.end_ns, c.end_ns, NULL) AS "queue_start_ns|T|Queue Start (ns)",
	iif(k.start_ns > c.end_ns, k.start_ns - c.end_ns, NULL)
		AS "queue_duration_ns|T|Queue Dur (ns)",
	k.start_ns AS "start_ns|T|Kernel Start (ns)", k.dur_ns AS "duration_ns|T|Kernel Dur (ns)",
	max(c.end_ns, k.end_ns) - c.start_ns AS "total_ns|T|Total Dur (ns)",
	k.pid AS "pid|I|PID", known_tid(k.process, c.tid) AS "tid|I|TID", k.device AS "device|I|DevId",
	raw(c.name_id) AS "api|X|API Function",
	iif(k.grid_x, format('%4d %4d %4d', k.grid_x, k.grid_y, k.grid_z), NULL)
		AS "grid|X|GridXYZ",
	iif(k.grid_x, format('%4d %4d %4d', k.block_x, k.block_y, k.block_z), NULL)
		AS "block|X|BlockXYZ",
	kernel_text(k.mangled_name_id) AS "name|X|Kernel Name"
FROM kernel k JOIN call c ON c.process = k.process AND c.correlation = k.correlation
ORDER BY c.start_ns, k.process, c.end_ns DESC, k.rowid DESC
