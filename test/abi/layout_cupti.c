/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of CUPTI against the real headers; it only compiles. */
#include <cupti.h>

#include "test/sim/cupti_abi.h"

#define SIZE(ours, real) _Static_assert(sizeof(struct ours) == sizeof(real), #ours)
#define AT(ours, field, real, real_field)                                                     \
	_Static_assert(                                                                       \
		offsetof(struct ours, field) == offsetof(real, real_field) &&                 \
			sizeof(((struct ours *)0)->field) == sizeof(((real *)0)->real_field), \
		#ours "." #field)
/* Where three fields of theirs are an array of ours. */
#define FIRST(ours, field, real, real_field) \
	_Static_assert(offsetof(struct ours, field) == offsetof(real, real_field), #ours "." #field)
#define VALUE(ours, real) _Static_assert((long)(ours) == (long)(real), #ours)

VALUE(CUPTI_OK, CUPTI_SUCCESS);
VALUE(CUPTI_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
VALUE(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
VALUE(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
VALUE(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
VALUE(CUPTI_INVALID_KIND, CUPTI_ERROR_INVALID_KIND);
VALUE(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
VALUE(CUPTI_VIRTUALIZED_DEVICE, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
VALUE(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_LEGACY_PROFILER_NOT_SUPPORTED, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
VALUE(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_VIRTUALIZED_DEVICE_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_CONFIDENTIAL_COMPUTING, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
VALUE(CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);

#define KIND(name) VALUE(CUPTI_KIND_##name, CUPTI_ACTIVITY_KIND_##name)
KIND(MEMCPY);
KIND(MEMSET);
KIND(KERNEL);
KIND(DRIVER);
KIND(RUNTIME);
KIND(DEVICE);
KIND(CONTEXT);
KIND(CONCURRENT_KERNEL);
KIND(NAME);
KIND(MARKER);
KIND(MARKER_DATA);
KIND(OVERHEAD);
KIND(CDP_KERNEL);
KIND(PREEMPTION);
KIND(ENVIRONMENT);
KIND(MEMCPY2);
KIND(UNIFIED_MEMORY_COUNTER);
KIND(FUNCTION);
KIND(MODULE);
KIND(CUDA_EVENT);
KIND(STREAM);
KIND(SYNCHRONIZATION);
KIND(EXTERNAL_CORRELATION);
KIND(NVLINK);
KIND(MEMORY);
KIND(PCIE);
KIND(INTERNAL_LAUNCH_API);
KIND(MEMORY2);
KIND(MEMORY_POOL);
KIND(GRAPH_TRACE);
KIND(JIT);
#if CUPTI_API_VERSION >= 130000
KIND(DEVICE_GRAPH_TRACE);
KIND(MEM_DECOMPRESS);
KIND(CONFIDENTIAL_COMPUTE_ROTATION);
#endif

#define LISTED_COPY(name, value, text)	   VALUE(value, CUPTI_ACTIVITY_MEMCPY_KIND_##name);
#define LISTED_MEMORY(name, value, text)   VALUE(value, CUPTI_ACTIVITY_MEMORY_KIND_##name);
#define LISTED_OVERHEAD(name, value, text) VALUE(value, CUPTI_ACTIVITY_OVERHEAD_##name);
#define LISTED_SYNC(name, value, text)	   VALUE(value, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_##name);
CUPTI_COPY_LIST(LISTED_COPY)
CUPTI_MEMORY_LIST(LISTED_MEMORY)
CUPTI_OVERHEAD_LIST(LISTED_OVERHEAD)
CUPTI_SYNC_LIST(LISTED_SYNC)

VALUE(CUPTI_MEMORY_ALLOCATION, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
VALUE(CUPTI_MEMORY_RELEASE, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
VALUE(CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
VALUE(CUPTI_FLAG_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
VALUE(CUPTI_FLAG_ASYNC, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
VALUE(CUPTI_FLAG_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(CUPTI_LAUNCH_REGULAR, CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR);
VALUE(CUPTI_LAUNCH_COOPERATIVE, CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE);
VALUE(CUPTI_STREAM_DEFAULT, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT);
VALUE(CUPTI_STREAM_NON_BLOCKING, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
VALUE(CUPTI_STREAM_NULL, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL);
VALUE(CUPTI_ATTR_DEVICE_BUFFER_SIZE, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE);
VALUE(CUPTI_ATTR_DEVICE_BUFFER_POOL_LIMIT, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
VALUE(CUPTI_ATTR_ZEROED_OUT_BUFFER, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
VALUE(CUPTI_ATTR_HOST_PINNED, CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED);
VALUE(CUPTI_ATTR_PER_THREAD_BUFFER, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
VALUE(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
VALUE(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CUPTI_DOMAIN_SYNCHRONIZE, CUPTI_CB_DOMAIN_SYNCHRONIZE);
VALUE(CUPTI_DOMAIN_NVTX, CUPTI_CB_DOMAIN_NVTX);
VALUE(CUPTI_DOMAIN_STATE, CUPTI_CB_DOMAIN_STATE);
VALUE(CUPTI_SITE_ENTER, CUPTI_API_ENTER);
VALUE(CUPTI_SITE_EXIT, CUPTI_API_EXIT);
#define RESOURCE(name) VALUE(CUPTI_RESOURCE_##name, CUPTI_CBID_RESOURCE_##name)
RESOURCE(CONTEXT_CREATED);
RESOURCE(CONTEXT_DESTROY_STARTING);
RESOURCE(STREAM_CREATED);
RESOURCE(STREAM_DESTROY_STARTING);
RESOURCE(MODULE_LOADED);
RESOURCE(GRAPHNODE_CREATED);
RESOURCE(GRAPHNODE_CLONED);
#if CUPTI_API_VERSION >= 130000
VALUE(CUPTI_RESOURCE_GRAPHNODE_UPDATED, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
#endif
VALUE(CUPTI_STATE_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
VALUE(CUPTI_RECORD_ALIGN, ACTIVITY_RECORD_ALIGNMENT);

SIZE(cupti_callback_data, CUpti_CallbackData);
AT(cupti_callback_data, site, CUpti_CallbackData, callbackSite);
AT(cupti_callback_data, function_name, CUpti_CallbackData, functionName);
AT(cupti_callback_data, function_params, CUpti_CallbackData, functionParams);
AT(cupti_callback_data, function_return_value, CUpti_CallbackData, functionReturnValue);
AT(cupti_callback_data, symbol_name, CUpti_CallbackData, symbolName);
AT(cupti_callback_data, context, CUpti_CallbackData, context);
AT(cupti_callback_data, context_uid, CUpti_CallbackData, contextUid);
AT(cupti_callback_data, correlation_data, CUpti_CallbackData, correlationData);
AT(cupti_callback_data, correlation_id, CUpti_CallbackData, correlationId);
SIZE(cupti_resource_data, CUpti_ResourceData);
AT(cupti_resource_data, stream, CUpti_ResourceData, resourceHandle.stream);
AT(cupti_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor);
SIZE(cupti_graph_data, CUpti_GraphData);
AT(cupti_graph_data, graph, CUpti_GraphData, graph);
AT(cupti_graph_data, original_graph, CUpti_GraphData, originalGraph);
AT(cupti_graph_data, node, CUpti_GraphData, node);
AT(cupti_graph_data, original_node, CUpti_GraphData, originalNode);
AT(cupti_graph_data, node_type, CUpti_GraphData, nodeType);
AT(cupti_graph_data, dependency, CUpti_GraphData, dependency);
AT(cupti_graph_data, graph_exec, CUpti_GraphData, graphExec);
AT(cupti_state_data, message, CUpti_StateData, notification.message);

#define K CUpti_ActivityKernel10
AT(cupti_kernel, registers_per_thread, K, registersPerThread);
AT(cupti_kernel, start_ns, K, start);
AT(cupti_kernel, end_ns, K, end);
AT(cupti_kernel, completed_ns, K, completed);
AT(cupti_kernel, device_id, K, deviceId);
AT(cupti_kernel, context_id, K, contextId);
AT(cupti_kernel, stream_id, K, streamId);
FIRST(cupti_kernel, grid, K, gridX);
FIRST(cupti_kernel, block, K, blockX);
AT(cupti_kernel, static_shared_bytes, K, staticSharedMemory);
AT(cupti_kernel, dynamic_shared_bytes, K, dynamicSharedMemory);
AT(cupti_kernel, local_bytes_per_thread, K, localMemoryPerThread);
AT(cupti_kernel, local_bytes_total, K, localMemoryTotal);
AT(cupti_kernel, correlation_id, K, correlationId);
AT(cupti_kernel, grid_id, K, gridId);
AT(cupti_kernel, name, K, name);
AT(cupti_kernel, queued_ns, K, queued);
AT(cupti_kernel, submitted_ns, K, submitted);
AT(cupti_kernel, launch_type, K, launchType);
AT(cupti_kernel, shared_bytes_executed, K, sharedMemoryExecuted);
AT(cupti_kernel, graph_node_id, K, graphNodeId);
AT(cupti_kernel, graph_id, K, graphId);
AT(cupti_kernel, channel_id, K, channelID);
AT(cupti_kernel, channel_type, K, channelType);
FIRST(cupti_kernel, cluster, K, clusterX);
AT(cupti_kernel, local_bytes_total_v2, K, localMemoryTotal_v2);
AT(cupti_kernel, max_potential_cluster_size, K, maxPotentialClusterSize);
AT(cupti_kernel, max_active_clusters, K, maxActiveClusters);
AT(cupti_kernel, is_device_launched, K, isDeviceLaunched);
SIZE(cupti_kernel, K);
#define M CUpti_ActivityMemcpy6
AT(cupti_memcpy, copy_kind, M, copyKind);
AT(cupti_memcpy, src_kind, M, srcKind);
AT(cupti_memcpy, dst_kind, M, dstKind);
AT(cupti_memcpy, flags, M, flags);
AT(cupti_memcpy, bytes, M, bytes);
AT(cupti_memcpy, start_ns, M, start);
AT(cupti_memcpy, device_id, M, deviceId);
AT(cupti_memcpy, context_id, M, contextId);
AT(cupti_memcpy, stream_id, M, streamId);
AT(cupti_memcpy, correlation_id, M, correlationId);
AT(cupti_memcpy, graph_node_id, M, graphNodeId);
AT(cupti_memcpy, graph_id, M, graphId);
AT(cupti_memcpy, channel_id, M, channelID);
AT(cupti_memcpy, copy_count, M, copyCount);
SIZE(cupti_memcpy, M);
#define P CUpti_ActivityMemcpyPtoP4
AT(cupti_memcpy_peer, bytes, P, bytes);
AT(cupti_memcpy_peer, start_ns, P, start);
AT(cupti_memcpy_peer, src_device_id, P, srcDeviceId);
AT(cupti_memcpy_peer, dst_device_id, P, dstDeviceId);
AT(cupti_memcpy_peer, correlation_id, P, correlationId);
AT(cupti_memcpy_peer, graph_node_id, P, graphNodeId);
AT(cupti_memcpy_peer, graph_id, P, graphId);
AT(cupti_memcpy_peer, channel_type, P, channelType);
SIZE(cupti_memcpy_peer, P);
#define S CUpti_ActivityMemset4
AT(cupti_memset, value, S, value);
AT(cupti_memset, bytes, S, bytes);
AT(cupti_memset, start_ns, S, start);
AT(cupti_memset, correlation_id, S, correlationId);
AT(cupti_memset, flags, S, flags);
AT(cupti_memset, memory_kind, S, memoryKind);
AT(cupti_memset, graph_id, S, graphId);
AT(cupti_memset, is_device_launched, S, isDeviceLaunched);
SIZE(cupti_memset, S);
AT(cupti_api, cbid, CUpti_ActivityAPI, cbid);
AT(cupti_api, thread_id, CUpti_ActivityAPI, threadId);
AT(cupti_api, correlation_id, CUpti_ActivityAPI, correlationId);
AT(cupti_api, return_value, CUpti_ActivityAPI, returnValue);
SIZE(cupti_api, CUpti_ActivityAPI);
AT(cupti_sync, type, CUpti_ActivitySynchronization2, type);
AT(cupti_sync, correlation_id, CUpti_ActivitySynchronization2, correlationId);
AT(cupti_sync, stream_id, CUpti_ActivitySynchronization2, streamId);
AT(cupti_sync, event_id, CUpti_ActivitySynchronization2, cudaEventId);
AT(cupti_sync, event_sync_id, CUpti_ActivitySynchronization2, cudaEventSyncId);
AT(cupti_sync, return_value, CUpti_ActivitySynchronization2, returnValue);
SIZE(cupti_sync, CUpti_ActivitySynchronization2);
AT(cupti_overhead, overhead_kind, CUpti_ActivityOverhead3, overheadKind);
AT(cupti_overhead, object_kind, CUpti_ActivityOverhead3, objectKind);
AT(cupti_overhead, object_id, CUpti_ActivityOverhead3, objectId);
AT(cupti_overhead, start_ns, CUpti_ActivityOverhead3, start);
AT(cupti_overhead, correlation_id, CUpti_ActivityOverhead3, correlationId);
SIZE(cupti_overhead, CUpti_ActivityOverhead3);
AT(cupti_memory, operation, CUpti_ActivityMemory4, memoryOperationType);
AT(cupti_memory, memory_kind, CUpti_ActivityMemory4, memoryKind);
AT(cupti_memory, correlation_id, CUpti_ActivityMemory4, correlationId);
AT(cupti_memory, address, CUpti_ActivityMemory4, address);
AT(cupti_memory, time_ns, CUpti_ActivityMemory4, timestamp);
AT(cupti_memory, process_id, CUpti_ActivityMemory4, processId);
AT(cupti_memory, stream_id, CUpti_ActivityMemory4, streamId);
AT(cupti_memory, is_async, CUpti_ActivityMemory4, isAsync);
AT(cupti_memory, pool, CUpti_ActivityMemory4, memoryPoolConfig);
AT(cupti_memory, pool.size_or_process_id, CUpti_ActivityMemory4, memoryPoolConfig.pool);
AT(cupti_memory, source, CUpti_ActivityMemory4, source);
SIZE(cupti_memory, CUpti_ActivityMemory4);
AT(cupti_graph, correlation_id, CUpti_ActivityGraphTrace2, correlationId);
AT(cupti_graph, graph_id, CUpti_ActivityGraphTrace2, graphId);
AT(cupti_graph, stream_id, CUpti_ActivityGraphTrace2, streamId);
AT(cupti_graph, end_device_id, CUpti_ActivityGraphTrace2, endDeviceId);
SIZE(cupti_graph, CUpti_ActivityGraphTrace2);
AT(cupti_device, memory_bandwidth, CUpti_ActivityDevice5, globalMemoryBandwidth);
AT(cupti_device, memory_bytes, CUpti_ActivityDevice5, globalMemorySize);
AT(cupti_device, nr_multiprocessors, CUpti_ActivityDevice5, numMultiprocessors);
AT(cupti_device, max_warps_per_multiprocessor, CUpti_ActivityDevice5, maxWarpsPerMultiprocessor);
AT(cupti_device, max_threads_per_block, CUpti_ActivityDevice5, maxThreadsPerBlock);
FIRST(cupti_device, max_grid_dim, CUpti_ActivityDevice5, maxGridDimX);
AT(cupti_device, capability_major, CUpti_ActivityDevice5, computeCapabilityMajor);
AT(cupti_device, id, CUpti_ActivityDevice5, id);
AT(cupti_device, uuid, CUpti_ActivityDevice5, uuid);
AT(cupti_device, name, CUpti_ActivityDevice5, name);
AT(cupti_device, mig_uuid, CUpti_ActivityDevice5, migUuid);
AT(cupti_device, numa_id, CUpti_ActivityDevice5, numaId);
SIZE(cupti_device, CUpti_ActivityDevice5);
AT(cupti_context, device_id, CUpti_ActivityContext3, deviceId);
AT(cupti_context, null_stream_id, CUpti_ActivityContext3, nullStreamId);
AT(cupti_context, parent_context_id, CUpti_ActivityContext3, parentContextId);
AT(cupti_context, nr_multiprocessors, CUpti_ActivityContext3, numMultiprocessors);
SIZE(cupti_context, CUpti_ActivityContext3);
AT(cupti_stream, flag, CUpti_ActivityStream, flag);
SIZE(cupti_stream, CUpti_ActivityStream);
AT(cupti_event, event_id, CUpti_ActivityCudaEvent2, eventId);
AT(cupti_event, device_time_ns, CUpti_ActivityCudaEvent2, deviceTimestamp);
AT(cupti_event, event_sync_id, CUpti_ActivityCudaEvent2, cudaEventSyncId);
SIZE(cupti_event, CUpti_ActivityCudaEvent2);
AT(cupti_name, object_id, CUpti_ActivityName, objectId);
AT(cupti_name, name, CUpti_ActivityName, name);
SIZE(cupti_name, CUpti_ActivityName);
AT(cupti_external, external_id, CUpti_ActivityExternalCorrelation, externalId);
AT(cupti_external, correlation_id, CUpti_ActivityExternalCorrelation, correlationId);
SIZE(cupti_external, CUpti_ActivityExternalCorrelation);
SIZE(cupti_subscriber_params, CUpti_SubscriberParams);
