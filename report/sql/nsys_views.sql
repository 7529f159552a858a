-- SPDX-License-Identifier: Apache-2.0
-- The tables of nsys's databases as views, with its names and columns. What is not recorded is NULL.
-- Ids of processes and threads are made as its documentation says: pid << 24 | tid. NAME$ is the id of a text: the
-- column NAME_id of a virtual table, and NAME of an exported database (nsys_views.c).

CREATE VIEW TARGET_INFO_SESSION_START_TIME AS
	SELECT utc_ns AS utcEpochNs, strftime('%Y-%m-%dT%H:%M:%S', utc_ns / 1000000000, 'unixepoch') AS utcTime
	FROM session;

CREATE VIEW TARGET_INFO_GPU AS
	SELECT DISTINCT 0 AS vmId, d.id AS id, s.value AS name, u.value AS uuid, a.totalMemory, a.l2CacheSize,
		a.memoryBandwidth, a.clockRate, a.smCount, a.computeMajor, a.computeMinor, a.threadsPerWarp,
		a.maxWarpsPerSm, a.maxBlocksPerSm, a.maxThreadsPerBlock, a.maxRegistersPerSm, a.maxRegistersPerBlock,
		a.maxShmemPerSm, a.maxShmemPerBlock, a.maxShmemPerBlockOptin, a.asyncEngines
	FROM device d LEFT JOIN StringIds s ON s.id = d.name$ LEFT JOIN StringIds u ON u.id = d.uuid$
		LEFT JOIN (SELECT a.pid, a.device, max(CASE n.value WHEN 'memory_bytes' THEN a.value END) AS totalMemory,
			max(CASE n.value WHEN 'l2_bytes' THEN a.value END) AS l2CacheSize,
			max(CASE n.value WHEN 'memory_bandwidth_kb_per_s' THEN a.value * 1000 END) AS memoryBandwidth,
			max(CASE n.value WHEN 'core_clock_khz' THEN a.value * 1000 END) AS clockRate,
			max(CASE n.value WHEN 'multiprocessors' THEN a.value END) AS smCount,
			max(CASE n.value WHEN 'capability_major' THEN a.value END) AS computeMajor,
			max(CASE n.value WHEN 'capability_minor' THEN a.value END) AS computeMinor,
			max(CASE n.value WHEN 'warp_threads' THEN a.value END) AS threadsPerWarp,
			max(CASE n.value WHEN 'max_warps_per_multiprocessor' THEN a.value END) AS maxWarpsPerSm,
			max(CASE n.value WHEN 'max_blocks_per_multiprocessor' THEN a.value END) AS maxBlocksPerSm,
			max(CASE n.value WHEN 'max_threads_per_block' THEN a.value END) AS maxThreadsPerBlock,
			max(CASE n.value WHEN 'registers_per_multiprocessor' THEN a.value END) AS maxRegistersPerSm,
			max(CASE n.value WHEN 'registers_per_block' THEN a.value END) AS maxRegistersPerBlock,
			max(CASE n.value WHEN 'shared_bytes_per_multiprocessor' THEN a.value END) AS maxShmemPerSm,
			max(CASE n.value WHEN 'shared_bytes_per_block' THEN a.value END) AS maxShmemPerBlock,
			max(CASE n.value WHEN 'shared_bytes_per_block_optin' THEN a.value END) AS maxShmemPerBlockOptin,
			max(CASE n.value WHEN 'copy_engines' THEN a.value END) AS asyncEngines
			FROM attribute a JOIN StringIds n ON n.id = a.name$ GROUP BY 1, 2) a
		ON a.pid = d.pid AND a.device = d.id;

CREATE VIEW PROCESSES AS
	SELECT pid << 24 AS globalPid, pid, command AS name FROM process;

CREATE VIEW ThreadNames AS
	SELECT name$ AS nameId, NULL AS priority, pid << 24 | tid AS globalTid FROM thread;

CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", device AS deviceId, context AS contextId,
		NULL AS greenContextId, stream AS streamId, correlation AS correlationId,
		pid << 24 AS globalPid, kernel_name$ AS demangledName, short_name$ AS shortName,
		mangled_name$ AS mangledName, registers AS registersPerThread, grid_x AS gridX,
		grid_y AS gridY, grid_z AS gridZ, block_x AS blockX, block_y AS blockY,
		block_z AS blockZ, static_shared_bytes AS staticSharedMemory,
		dynamic_shared_bytes AS dynamicSharedMemory, local_bytes AS localMemoryPerThread,
		graph AS graphId, NULLIF(graph_node, 0) AS graphNodeId, cluster_x AS clusterX,
		cluster_y AS clusterY, cluster_z AS clusterZ
	FROM kernel;

CREATE VIEW CUPTI_ACTIVITY_KIND_GRAPH_TRACE AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", device AS deviceId, context AS contextId,
		NULL AS greenContextId, stream AS streamId, correlation AS correlationId,
		pid << 24 AS globalPid, graph AS graphId, NULL AS graphExecId
	FROM graph;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", device AS deviceId, context AS contextId,
		NULL AS greenContextId, stream AS streamId, correlation AS correlationId,
		pid << 24 AS globalPid, bytes, copy_kind AS copyKind,
		CASE src_kind WHEN 0 THEN 7 ELSE src_kind - 1 END AS srcKind,
		CASE dst_kind WHEN 0 THEN 7 ELSE dst_kind - 1 END AS dstKind,
		src_device AS srcDeviceId, src_context AS srcContextId, dst_device AS dstDeviceId,
		dst_context AS dstContextId, NULLIF(graph_node, 0) AS graphNodeId
	FROM memcpy;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", device AS deviceId, context AS contextId,
		NULL AS greenContextId, stream AS streamId, correlation AS correlationId,
		pid << 24 AS globalPid, value, bytes, NULLIF(graph_node, 0) AS graphNodeId,
		CASE memory_kind WHEN 0 THEN 7 ELSE memory_kind - 1 END AS memKind
	FROM memset;

CREATE VIEW CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", device AS deviceId, context AS contextId,
		NULL AS greenContextId, stream AS streamId, correlation AS correlationId,
		pid << 24 AS globalPid, type AS syncType, event AS eventId, event_sync AS eventSyncId
	FROM sync;

CREATE VIEW CUPTI_ACTIVITY_KIND_CUDA_EVENT AS
	SELECT time_ns AS timestamp, device AS deviceId, context AS contextId, NULL AS greenContextId,
		stream AS streamId, correlation AS correlationId, pid << 24 AS globalPid, event AS eventId
	FROM event;

CREATE VIEW CUDA_GPU_MEMORY_USAGE_EVENTS AS
	SELECT m.time_ns AS start, m.pid << 24 AS globalPid, m.device AS deviceId, m.context AS contextId,
		m.stream AS streamId, m.correlation AS correlationId, m.address, m.bytes,
		CASE m.memory_kind WHEN 0 THEN 7 ELSE m.memory_kind - 1 END AS memKind,
		m.op - 1 AS memoryOperationType, s.value AS name
	FROM memory m LEFT JOIN StringIds s ON s.id = m.source$;

CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", CASE a.value WHEN 'runtime' THEN 0 WHEN 'driver' THEN 1 END AS eventClass,
		pid << 24 | tid AS globalTid, correlation AS correlationId, name AS nameId,
		result AS returnValue, stack AS callchainId
	FROM (SELECT start_ns, dur_ns, pid, tid, correlation, name$ AS name, api$ AS api, result, stack$ AS stack FROM api
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name$, api$, result, stack$ FROM api_launch
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name$, api$, result, stack$ FROM api_copy
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name$, api$, result, stack$ FROM api_set
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name$, api$, result, stack$ FROM api_alloc
		UNION ALL SELECT start_ns, dur_ns, pid, tid, correlation, name$, api$, result, stack$ FROM api_sync
		UNION ALL SELECT start_ns, dur_ns, pid, tid, NULL, name$, api$, result, NULL FROM api_nested) LEFT JOIN StringIds a ON a.id = api;

-- eventClass 27: a call of the system.
CREATE VIEW OSRT_API AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", 27 AS eventClass, pid << 24 | tid AS globalTid,
		NULL AS correlationId, name$ AS nameId, returned AS returnValue, NULL AS nestingLevel, stack$ AS callchainId
	FROM os_call;

-- threadState 1: running.
CREATE VIEW COMPOSITE_EVENTS AS
	SELECT rowid AS id, time_ns AS start, NULL AS cpu, 1 AS threadState, pid << 24 | task AS globalTid,
		NULL AS cpuCycles
	FROM cpu_sample;

-- What a thread does once it is off the CPU says why it left it.
CREATE VIEW SCHED_EVENTS AS
	SELECT start_ns AS start, cpu, state = 1 AS isSchedIn, pid << 24 | task AS globalTid,
		CASE WHEN state > 1 THEN state END AS threadState
	FROM thread_state WHERE switches & 1;

-- What nsys has no table for, which gprof reads again: also the ends that are no switches.
CREATE VIEW GPROF_THREAD_STATES AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", pid << 24 | task AS globalTid, cpu, state, switches, name$ AS nameId
	FROM thread_state;

-- originalIP: the address in the module.
CREATE VIEW CUDA_CALLCHAINS AS
	SELECT stack + 0 AS id, function AS symbol, file AS module, NULL AS unresolved, address AS originalIP, depth AS stackDepth
	FROM native_frame WHERE stack IN (SELECT callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME);

CREATE VIEW OSRT_CALLCHAINS AS
	SELECT stack + 0 AS id, function AS symbol, file AS module, NULL AS unresolved, address AS originalIP, depth AS stackDepth
	FROM native_frame WHERE stack IN (SELECT callchainId FROM OSRT_API);

CREATE VIEW SAMPLING_CALLCHAINS AS
	SELECT c.rowid AS id, f.function AS symbol, f.file AS module, NULL AS unresolved, f.address AS originalIP,
		f.depth AS stackDepth
	FROM cpu_sample c JOIN native_frame f ON f.stack = c.stack$;

-- What nsys has no table for: operators, which gprof reads again.
CREATE VIEW GPROF_OPERATORS AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", pid << 24 | tid AS globalTid, name$ AS nameId,
		pid << 24 | end_tid AS endGlobalTid, sequence, forward_thread AS forwardThread, depth, framework, scope
	FROM op;

CREATE VIEW NVTX_EVENTS AS
	SELECT r.start_ns AS start, CASE k.value WHEN 'mark' THEN NULL ELSE r.start_ns + r.dur_ns END AS "end",
		CASE k.value WHEN 'push' THEN 59 WHEN 'start' THEN 60 ELSE 34 END AS eventType,
		s.value AS text, r.name$ AS textId, r.pid << 24 | r.tid AS globalTid, d.value AS domain,
		ifnull(r.domain$, 0) AS domainId
	FROM nvtx_range r LEFT JOIN StringIds s ON s.id = r.name$ LEFT JOIN StringIds k ON k.id = r.kind$
		LEFT JOIN StringIds d ON d.id = r.domain$
	UNION ALL SELECT min(r.start_ns), NULL, 75, d.value, r.domain$, r.pid << 24, d.value, r.domain$
	FROM nvtx_range r JOIN StringIds d ON d.id = r.domain$ GROUP BY r.pid, r.domain$;

CREATE VIEW PROFILER_OVERHEAD AS
	SELECT start_ns AS start, start_ns + dur_ns AS "end", pid << 24 | tid AS globalTid,
		correlation AS correlationId, overhead_kind AS kind
	FROM overhead;

CREATE VIEW DIAGNOSTIC_EVENT AS
	SELECT n.time_ns AS timestamp, s.value AS text, pid << 24 AS globalPid, code
	FROM notice n LEFT JOIN StringIds s ON s.id = n.text$;

CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INTEGER PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES
	(0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'), (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
	(2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'), (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'),
	(9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'), (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer');

CREATE TABLE ENUM_CUDA_MEM_KIND(id INTEGER PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES
	(0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'), (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'),
	(2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'), (3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'),
	(4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'), (5, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', 'Device Static'),
	(6, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC', 'Managed Static'), (7, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN', 'Unknown');
