-- SPDX-License-Identifier: Apache-2.0
-- Of 30 equal parts of each device's time, from first to last GPU activity, those in which it was in
-- use for less than 50 %, the least used first. What ran together counts once: a span is a time
-- without a gap.

WITH work AS (
	SELECT process, pid, device, context, start_ns, end_ns FROM kernel
	UNION ALL SELECT process, pid, device, context, start_ns, end_ns FROM memcpy
	UNION ALL SELECT process, pid, device, context, start_ns, end_ns FROM memset
	UNION ALL SELECT process, pid, device, context, start_ns, end_ns FROM graph),
ordered AS (
	SELECT *, max(end_ns) OVER (PARTITION BY process, device ORDER BY start_ns
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns FROM work),
numbered AS (
	SELECT *, sum(before_ns IS NULL OR start_ns > before_ns) OVER (
		PARTITION BY process, device ORDER BY start_ns ROWS UNBOUNDED PRECEDING) AS number
	FROM ordered),
span AS (
	SELECT process, device, min(start_ns) AS begin_ns, max(end_ns) AS end_ns
	FROM numbered GROUP BY process, device, number),
-- context: of the last activity to begin
used AS (
	SELECT process, pid, device, context, min(start_ns) AS first_ns, max(end_ns) AS last_ns
	FROM (SELECT process, pid, device, start_ns, end_ns, first_value(context) OVER (
		PARTITION BY process, device ORDER BY start_ns DESC) AS context FROM work)
	GROUP BY process, device),
part(number) AS (
	SELECT 0 UNION ALL SELECT number + 1 FROM part WHERE number < 29),
piece AS (
	SELECT u.*, number, first_ns + (last_ns - first_ns) * number / 30 AS begin_ns,
		first_ns + (last_ns - first_ns) * (number + 1) / 30 AS end_ns
	FROM used u, part),
busy AS (
	SELECT p.process, p.device, p.number,
		total(max(min(s.end_ns, p.end_ns) - max(s.begin_ns, p.begin_ns), 0)) AS busy_ns
	FROM span s JOIN piece p ON p.process = s.process AND p.device IS s.device
		AND p.begin_ns < s.end_ns AND p.end_ns > s.begin_ns
	GROUP BY p.process, p.device, p.number),
share AS (
	SELECT p.*, p.end_ns - p.begin_ns AS ns,
		100.0 * coalesce(b.busy_ns, 0) / (p.end_ns - p.begin_ns) AS in_use
	FROM piece p LEFT JOIN busy b
		ON b.process = p.process AND b.device IS p.device AND b.number = p.number)
SELECT row_number() OVER (ORDER BY in_use, begin_ns, process, number) AS "row|I|Row#",
	in_use AS "in_use|P|In-Use (%)", ns AS "duration_ns|T|Duration (ns)",
	begin_ns AS "start_ns|T|Start (ns)", pid AS "pid|I|PID", device AS "device|I|Device ID",
	iif(device IS NULL, NULL, context) AS "context|I|Context ID"
FROM share WHERE in_use < 50
ORDER BY 1
