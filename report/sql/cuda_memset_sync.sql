-- SPDX-License-Identifier: Apache-2.0
-- Memsets whose call waits; see cuda_memcpy_sync.sql.

WITH call AS (
	SELECT process, correlation, name_id, end_ns FROM api_copy
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_set
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_launch
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_alloc
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_sync),
work AS (
	SELECT process, pid, device, context, stream, correlation, dur_ns, start_ns, bytes,
		memory_kind AS kind, flags FROM memset
	-- 22: rows of memset without times
	UNION ALL SELECT process, pid, device, context, stream, correlation, NULL, NULL, bytes,
		0, 0 FROM untimed WHERE "table" = 22)
SELECT w.dur_ns AS "duration_ns|T|Duration (ns)", w.start_ns AS "start_ns|T|Start (ns)",
	memory_kind(w.kind) AS "memory|X|Memory Kind",
	w.bytes AS "bytes|S|Bytes (MB)", w.pid AS "pid|I|PID", w.device AS "device|I|Device ID",
	w.context AS "context|I|Context ID", NULL AS "green_context|I|Green Context ID",
	w.stream AS "stream|I|Stream ID", raw(c.name_id) AS "name|X|API Name"
FROM work w JOIN process p ON p.process = w.process
	LEFT JOIN call c ON c.process = w.process AND c.correlation = w.correlation
WHERE iif(c.process IS NULL, NOT p.is_trace AND NOT w.flags & 1, instr(string(c.name_id), 'Async') = 0)
ORDER BY w.dur_ns DESC NULLS LAST, w.process, c.end_ns DESC
