-- SPDX-License-Identifier: Apache-2.0
-- The tables of nsys's databases as views, with its names and columns. What is not recorded is NULL.
-- Ids of processes and threads are made as its documentation says: pid << 24 | tid.

CREATE VIEW TARGET_INFO_SESSION_START_TIME AS
	SELECT utc_ns AS utcEpochNs, strftime('%Y-%m-%dT%H:%M:%S', utc_ns / 1000000000, 'unixepoch') AS utcTime
	FROM session;

CREATE VIEW TARGET_INFO_GPU AS
	SELECT DISTINCT 0 AS vmId, d.id AS id, s.value AS name, u.value AS uuid
	FROM device d LEFT JOIN StringIds s ON s.id = d.name LEFT JOIN StringIds u ON u.id = d.uuid;

CREATE VIEW PROCESSES AS
	SELECT pid << 24 AS globalPid, pid, command AS name FROM process;

CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", device AS deviceId, context AS contextId,
		NULL AS greenContextId, stream AS streamId, correlation AS correlationId,
		pid << 24 AS globalPid, kernel_name AS demangledName, short_name AS shortName,
		mangled_name AS mangledName, registers AS registersPerThread, grid_x AS gridX,
		grid_y AS gridY, grid_z AS gridZ, block_x AS blockX, block_y AS blockY,
		block_z AS blockZ, static_shared_bytes AS staticSharedMemory,
		dynamic_shared_bytes AS dynamicSharedMemory, local_bytes AS localMemoryPerThread,
		graph AS graphId, NULLIF(graph_node, 0) AS graphNodeId
	FROM kernel;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", device AS deviceId, context AS contextId,
		NULL AS greenContextId, stream AS streamId, correlation AS correlationId,
		pid << 24 AS globalPid, bytes, copy_kind AS copyKind, src_kind AS srcKind,
		dst_kind AS dstKind, NULLIF(graph_node, 0) AS graphNodeId
	FROM memcpy;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", device AS deviceId, context AS contextId,
		NULL AS greenContextId, stream AS streamId, correlation AS correlationId,
		pid << 24 AS globalPid, value, bytes, NULLIF(graph_node, 0) AS graphNodeId,
		memory_kind AS memKind
	FROM memset;

CREATE VIEW CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", device AS deviceId, context AS contextId,
		NULL AS greenContextId, stream AS streamId, correlation AS correlationId,
		pid << 24 AS globalPid, type AS syncType, event AS eventId
	FROM sync;

CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", NULL AS eventClass,
		pid << 24 | tid AS globalTid, correlation AS correlationId, name AS nameId,
		result AS returnValue, NULL AS callchainId
	FROM (SELECT start_ns, dur_ns, pid, tid, correlation, name, result FROM api
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name, result FROM api_launch
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name, result FROM api_copy
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name, result FROM api_set
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name, result FROM api_alloc
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name, result FROM api_sync
		UNION ALL SELECT start_ns, dur_ns, pid, tid, NULL, name, result FROM api_nested);

CREATE VIEW NVTX_EVENTS AS
	SELECT r.start_ns AS start, CASE k.value WHEN 'mark' THEN NULL ELSE r.start_ns + r.dur_ns END AS "end",
		CASE k.value WHEN 'push' THEN 59 WHEN 'start' THEN 60 ELSE 34 END AS eventType,
		s.value AS text, r.name AS textId, r.pid << 24 | r.tid AS globalTid, d.value AS domain
	FROM nvtx_range r LEFT JOIN StringIds s ON s.id = r.name LEFT JOIN StringIds k ON k.id = r.kind
		LEFT JOIN StringIds d ON d.id = r.domain;

CREATE VIEW PROFILER_OVERHEAD AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", pid << 24 | tid AS globalTid,
		correlation AS correlationId, overhead_kind AS kind
	FROM overhead;

CREATE VIEW DIAGNOSTIC_EVENT AS
	SELECT n.time_ns AS timestamp, s.value AS text, pid << 24 AS globalPid, code
	FROM notice n LEFT JOIN StringIds s ON s.id = n.text;

CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INTEGER PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES
	(0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'), (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
	(2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'), (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'),
	(9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'), (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer');
