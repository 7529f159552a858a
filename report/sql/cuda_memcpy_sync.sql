-- SPDX-License-Identifier: Apache-2.0
-- Copies whose call waits. Copies of up to 64 KB to the device do not. Without the call, the flag of
-- the copy says so; a trace of another profiler has none.

WITH call AS (
	SELECT process, correlation, name_id, end_ns FROM api_copy
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_set
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_launch
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_alloc
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_sync),
work AS (
	SELECT process, pid, device, context, stream, correlation, dur_ns, start_ns, bytes,
		copy_kind, src_kind, dst_kind, flags FROM memcpy
	-- 21: rows of memcpy without times
	UNION ALL SELECT process, pid, device, context, stream, correlation, NULL, NULL, bytes,
		copy_kind, 0, 0, 0 FROM untimed WHERE "table" = 21)
SELECT w.dur_ns AS "duration_ns|T|Duration (ns)", w.start_ns AS "start_ns|T|Start (ns)",
	memory_kind(w.src_kind) AS "source|X|Src Kind",
	memory_kind(w.dst_kind) AS "target|X|Dst Kind",
	w.bytes AS "bytes|S|Bytes (MB)", w.pid AS "pid|I|PID", w.device AS "device|I|Device ID",
	w.context AS "context|I|Context ID", NULL AS "green_context|I|Green Context ID",
	w.stream AS "stream|I|Stream ID", raw(c.name_id) AS "name|X|API Name"
FROM work w JOIN process p ON p.process = w.process
	LEFT JOIN call c ON c.process = w.process AND c.correlation = w.correlation
WHERE NOT (w.copy_kind = 1 AND w.bytes <= 65536)
	AND iif(c.process IS NULL, NOT p.is_trace AND NOT w.flags & 1,
		instr(string(c.name_id), 'Async') = 0)
ORDER BY w.dur_ns DESC NULLS LAST, w.process, c.end_ns DESC
