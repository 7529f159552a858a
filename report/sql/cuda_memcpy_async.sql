-- SPDX-License-Identifier: Apache-2.0
-- Copies of pageable memory whose call does not wait. A call says so by its name; a copy without a
-- call, by its flag.

WITH call AS (
	SELECT process, correlation, name_id, end_ns FROM api_copy
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_set
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_launch
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_alloc
	UNION ALL SELECT process, correlation, name_id, end_ns FROM api_sync)
SELECT w.dur_ns AS "duration_ns|T|Duration (ns)", w.start_ns AS "start_ns|T|Start (ns)",
	memory_kind(w.src_kind) AS "source|X|Src Kind",
	memory_kind(w.dst_kind) AS "target|X|Dst Kind",
	w.bytes AS "bytes|S|Bytes (MB)", w.pid AS "pid|I|PID", w.device AS "device|I|Device ID",
	w.context AS "context|I|Context ID", NULL AS "green_context|I|Green Context ID",
	w.stream AS "stream|I|Stream ID", raw(c.name_id) AS "name|X|API Name"
FROM memcpy w LEFT JOIN call c ON c.process = w.process AND c.correlation = w.correlation
WHERE 1 IN (w.src_kind, w.dst_kind)
	AND iif(c.process IS NULL, w.flags & 1, instr(string(c.name_id), 'Async') > 0)
ORDER BY w.dur_ns DESC NULLS LAST, w.process, c.end_ns DESC
