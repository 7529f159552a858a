-- SPDX-License-Identifier: Apache-2.0
-- Calls of CUDA that wait for the device, the longest first.

WITH call AS (
	SELECT process, pid, tid, start_ns, end_ns, name_id, api FROM api_sync
	UNION ALL SELECT process, pid, tid, start_ns, end_ns, name_id, api FROM api
	UNION ALL SELECT process, pid, tid, start_ns, end_ns, name_id, api FROM api_launch
	UNION ALL SELECT process, pid, tid, start_ns, end_ns, name_id, api FROM api_copy
	UNION ALL SELECT process, pid, tid, start_ns, end_ns, name_id, api FROM api_set
	UNION ALL SELECT process, pid, tid, start_ns, end_ns, name_id, api FROM api_alloc)
SELECT max(end_ns - start_ns, 0) AS "duration_ns|T|Duration (ns)",
	start_ns AS "start_ns|T|Start (ns)", pid AS "pid|I|PID", known_tid(process, tid) AS "tid|I|TID",
	raw(name_id) AS "name|X|API Name"
FROM call
WHERE instr(string(name_id), 'Synchronize') > 0 AND api IN ('runtime', 'driver')
ORDER BY 1 DESC, process, end_ns DESC
