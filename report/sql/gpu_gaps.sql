-- SPDX-License-Identifier: Apache-2.0
-- Times of more than 500 ms in which nothing ran on a device, the longest first.

WITH work AS (
	SELECT process, pid, device, context, start_ns, end_ns FROM kernel
	UNION ALL SELECT process, pid, device, context, start_ns, end_ns FROM memcpy
	UNION ALL SELECT process, pid, device, context, start_ns, end_ns FROM memset
	UNION ALL SELECT process, pid, device, context, start_ns, end_ns FROM graph),
ordered AS (
	SELECT *, max(end_ns) OVER (PARTITION BY process, device ORDER BY start_ns
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns FROM work)
SELECT row_number() OVER (ORDER BY start_ns - before_ns DESC, start_ns) AS "row|I|Row#",
	start_ns - before_ns AS "duration_ns|T|Duration (ns)",
	before_ns AS "start_ns|T|Start (ns)", pid AS "pid|I|PID", device AS "device|I|Device ID",
	iif(device IS NULL, NULL, context) AS "context|I|Context ID"
FROM ordered WHERE start_ns - before_ns > 500000000
ORDER BY 1
