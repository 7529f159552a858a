/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the CUPTI ABI that the recorder reads, in our own declarations: CUPTI is opened at
 * run time and its headers are not needed to build. The ABI test compares all of it with the real
 * headers where a toolkit is installed.
 *
 * The record structures have the layout of CUDA 13.0. CUPTI fills the layout of the library that is
 * loaded, which may be shorter or longer. Every family below is append-only: a field never moves
 * between versions, so a prefix is always right. A field behind a line "since N bytes" may be read
 * only where the library's record is at least N bytes long.
 *
 * Strings in records belong to CUPTI and are never freed; copy them while decoding.
 */
#ifndef COLLECTOR_CUPTI_CUPTI_ABI_H
#define COLLECTOR_CUPTI_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Result codes with a special meaning here. */
enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_INVALID_PARAMETER = 1,
	CUPTI_OUT_OF_MEMORY = 8,
	CUPTI_MAX_LIMIT_REACHED = 12, /* end of a buffer; before 11.0 also "already subscribed" */
	CUPTI_NOT_INITIALIZED = 15,   /* no driver, or one older than the library */
	CUPTI_INVALID_KIND = 21,      /* an incomplete or unknown record: stop reading the buffer */
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_VIRTUALIZED_DEVICE = 33,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39, /* somebody else holds the only subscription */
	CUPTI_VIRTUALIZED_DEVICE_PRIVILEGES = 40,
	CUPTI_CONFIDENTIAL_COMPUTING = 41,
	CUPTI_UNKNOWN = 999,
};

enum cupti_kind {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_KERNEL = 3, /* serialises kernels; its record is struct cupti_kernel too */
	CUPTI_KIND_DEVICE = 8,
	CUPTI_KIND_CONTEXT = 9,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_KIND_OVERHEAD = 17,
	CUPTI_KIND_MEMCPY2 = 22, /* peer to peer */
	CUPTI_KIND_CUDA_EVENT = 36,
	CUPTI_KIND_STREAM = 37,
	CUPTI_KIND_SYNCHRONIZATION = 38,
	CUPTI_KIND_MEMORY2 = 49,
	CUPTI_KIND_GRAPH_TRACE = 51, /* once on, graph nodes give no records of their own */
	CUPTI_KIND_END = 56,	     /* one past the last kind of CUDA 13.0 */
};

enum cupti_object_kind {
	CUPTI_OBJECT_THREAD = 2,
};

enum cupti_flag {
	CUPTI_FLAG_ASYNC = 1,	     /* in a copy's or a set's flags */
	CUPTI_FLAG_FLUSH_FORCED = 1, /* to cuptiActivityFlushAll */
};

/* cuptiActivitySetAttribute; the values are size_t but for those marked u8. */
enum cupti_attribute {
	CUPTI_ATTR_DEVICE_BUFFER_SIZE = 0,
	CUPTI_ATTR_DEVICE_BUFFER_POOL_LIMIT = 2,
	CUPTI_ATTR_ZEROED_OUT_BUFFER = 5, /* u8 */
};

enum cupti_thread_id_type {
	CUPTI_THREAD_ID_SYSTEM = 1, /* gettid */
};

/* ---- callbacks ---- */

enum cupti_domain {
	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_DOMAIN_RUNTIME = 2,
	CUPTI_DOMAIN_RESOURCE = 3,
	CUPTI_DOMAIN_STATE = 6, /* since 12.2 */
};

enum cupti_site {
	CUPTI_SITE_ENTER = 0,
	CUPTI_SITE_EXIT = 1,
};

/* Callback ids of CUPTI_DOMAIN_RESOURCE. */
enum cupti_resource {
	CUPTI_RESOURCE_GRAPHNODE_CREATED = 13,
	CUPTI_RESOURCE_GRAPHNODE_CLONED = 20,
	CUPTI_RESOURCE_GRAPHNODE_UPDATED = 22, /* since 13.0 */
};

/* Callback ids of CUPTI_DOMAIN_STATE. After FATAL_ERROR CUPTI has finalised itself. */
enum cupti_state {
	CUPTI_STATE_FATAL_ERROR = 1,
};

/* The argument of a callback of the driver or runtime domain. Valid only inside the callback. */
struct cupti_callback_data {
	uint32_t site; /* enum cupti_site */
	const char *function_name;
	const void *function_params; /* structure of the arguments */
	void *function_return_value; /* at exit: points at the API's return code (u32) */
	const char *symbol_name;     /* launches: the kernel's mangled name */
	void *context;
	uint32_t context_uid;
	uint64_t *correlation_data; /* one word, kept from enter to exit, for the subscriber */
	uint32_t correlation_id;
};

/* The argument of a callback of the resource domain. */
struct cupti_resource_data {
	void *context;
	void *stream;
	void *descriptor; /* about graphs: struct cupti_graph_data */
};

/* Valid only inside the callback. Handles are the driver's; NULL where they do not apply. */
struct cupti_graph_data {
	void *graph;
	void *original_graph; /* that `graph` was cloned from */
	void *node;
	void *original_node; /* that `node` was cloned from */
	uint32_t node_type;  /* CUgraphNodeType */
	void *dependency;
	void *graph_exec;
};

/* The argument of a callback of the state domain. */
struct cupti_state_data {
	uint32_t result;
	const char *message;
};

typedef void *cupti_subscriber;
typedef void (*cupti_callback_fn)(void *userdata, uint32_t domain, uint32_t cbid, const void *data);
typedef void (*cupti_buffer_requested_fn)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*cupti_buffer_completed_fn)(
	void *context, uint32_t stream_id, uint8_t *buffer, size_t bytes, size_t valid_bytes);

/* Argument of cuptiSubscribe_v2 (since 13.0); size says how much of it the caller knows. */
struct cupti_subscriber_params {
	size_t size;		     /* 32 in 13.0 */
	const char *subscriber_name; /* at most 53 characters */
	char *old_subscriber_name;   /* on CUPTI_MULTIPLE_SUBSCRIBERS: who holds it */
	size_t old_subscriber_bytes; /* at least 64 */
};

/* ---- activity records ---- */

/* Every record begins with its kind. */
struct cupti_record {
	uint32_t kind;
};

union cupti_object_id {
	struct {
		uint32_t process_id;
		uint32_t thread_id;
	} pt;
	struct {
		uint32_t device_id;
		uint32_t context_id;
		uint32_t stream_id;
	} dcs;
};

/*
 * Times are in ns of cuptiGetTimestamp's clock; 0 means unknown (no device buffer was free). All
 * nodes of a graph share the correlation ID of its launch.
 */
struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config;
	uint8_t shared_memory_config;
	uint16_t registers_per_thread;
	uint32_t partitioned_cache_requested;
	uint32_t partitioned_cache_executed;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t completed_ns;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	int32_t grid[3];
	int32_t block[3];
	int32_t static_shared_bytes;
	int32_t dynamic_shared_bytes;
	uint32_t local_bytes_per_thread;
	uint32_t local_bytes_total;
	uint32_t correlation_id;
	int64_t grid_id;
	const char *name; /* mangled */
	void *reserved0;
	uint64_t queued_ns; /* 0 unless latency timestamps are on */
	uint64_t submitted_ns;
	uint8_t launch_type; /* enum cupti_launch_type */
	uint8_t is_shared_carveout_requested;
	uint8_t shared_carveout_requested;
	uint8_t padding;
	uint32_t shared_bytes_executed;
	/* since 160 bytes (11.0; the graph id is 0 before 11.1) */
	uint64_t graph_node_id;
	uint32_t shmem_limit_config;
	uint32_t graph_id;
	/* since 176 bytes (11.2) */
	void *access_policy_window;
	uint32_t channel_id;
	uint32_t channel_type;
	/* since 200 bytes (11.8) */
	uint32_t cluster[3];
	uint32_t cluster_scheduling_policy;
	uint64_t local_bytes_total_v2;
	/* since 208 bytes (12.0) */
	uint32_t max_potential_cluster_size;
	uint32_t max_active_clusters;
	/* since 216 bytes (13.0) */
	uint8_t is_device_launched;
	uint8_t padding3[7];
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind; /* CUpti_ActivityMemcpyKind */
	uint8_t src_kind;  /* CUpti_ActivityMemoryKind */
	uint8_t dst_kind;
	uint8_t flags; /* enum cupti_flag */
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t correlation_id;
	uint32_t runtime_correlation_id; /* unused by the library */
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node_id;
	/* since 80 bytes (11.1) */
	uint32_t graph_id;
	/* since 88 bytes (11.6) */
	uint32_t channel_id;
	uint32_t channel_type;
	/* since 96 bytes (12.8) */
	uint8_t is_device_launched;
	uint8_t pad2[3];
	uint64_t copy_count; /* copies of a batch */
};

struct cupti_memcpy_peer {
	uint32_t kind;
	uint8_t copy_kind;
	uint8_t src_kind;
	uint8_t dst_kind;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device_id; /* the device whose stream ran it */
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t src_device_id;
	uint32_t src_context_id;
	uint32_t dst_device_id;
	uint32_t dst_context_id;
	uint32_t correlation_id;
	void *reserved0;
	uint64_t graph_node_id;
	/* since 88 bytes (11.1) */
	uint32_t graph_id;
	uint32_t channel_id; /* since 96 bytes (11.6), as the next */
	uint32_t channel_type;
	uint32_t pad;
};

struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t correlation_id;
	uint16_t flags;
	uint16_t memory_kind;
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node_id;
	/* since 80 bytes (11.1) */
	uint32_t graph_id;
	/* since 88 bytes (11.6) */
	uint32_t channel_id;
	uint32_t channel_type;
	uint8_t is_device_launched; /* padding before 13.0, where the size is the same */
	uint8_t pad2[3];
};

struct cupti_sync {
	uint32_t kind;
	uint32_t type; /* enum cupti_sync_type */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t correlation_id;
	uint32_t context_id;
	uint32_t stream_id; /* UINT32_MAX where no stream takes part */
	uint32_t event_id;
	/* since 56 bytes (12.8) */
	uint64_t event_sync_id;
	uint32_t return_value;
	uint32_t pad;
};

struct cupti_overhead {
	uint32_t kind;
	uint32_t overhead_kind; /* CUpti_ActivityOverheadKind */
	uint32_t object_kind;	/* enum cupti_object_kind */
	union cupti_object_id object_id;
	uint64_t start_ns;
	uint64_t end_ns;
	/* since 48 bytes (12.3) */
	uint32_t correlation_id;
	uint32_t reserved0;
	/* since 56 bytes (12.4) */
	void *overhead_data;
};

/* CUPTI_KIND_MEMORY2. */
struct cupti_memory {
	uint32_t kind;
	uint32_t operation;   /* enum cupti_memory_operation */
	uint32_t memory_kind; /* CUpti_ActivityMemoryKind */
	uint32_t correlation_id;
	uint64_t address;
	uint64_t bytes;
	uint64_t time_ns;
	uint64_t pc;
	uint32_t process_id;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	const char *name; /* of a static variable */
	uint32_t is_async;
	uint32_t pad1;
	struct {
		uint32_t type; /* 1 local, 2 imported, 0 not from a pool */
		uint32_t pad2;
		uint64_t address;
		uint64_t release_threshold;
		uint64_t size_or_process_id; /* by type */
		uint64_t utilized_bytes;
	} pool;
	/* since 128 bytes (12.6) */
	const char *source; /* shared object that allocated; only on request */
};

struct cupti_graph {
	uint32_t kind;
	uint32_t correlation_id;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device_id;
	uint32_t graph_id;
	uint32_t context_id;
	uint32_t stream_id;
	void *reserved;
	/* since 56 bytes (12.3) */
	uint32_t end_device_id;
	uint32_t end_context_id;
};

struct cupti_device {
	uint32_t kind;
	uint32_t flags;
	uint64_t memory_bandwidth; /* KB/s */
	uint64_t memory_bytes;
	uint32_t constant_bytes;
	uint32_t l2_bytes;
	uint32_t threads_per_warp;
	uint32_t core_clock_khz;
	uint32_t nr_copy_engines;
	uint32_t nr_multiprocessors;
	uint32_t max_ipc;
	uint32_t max_warps_per_multiprocessor;
	uint32_t max_blocks_per_multiprocessor;
	uint32_t max_shared_bytes_per_multiprocessor;
	uint32_t max_registers_per_multiprocessor;
	uint32_t max_registers_per_block;
	uint32_t max_shared_bytes_per_block;
	uint32_t max_threads_per_block;
	uint32_t max_block_dim[3];
	uint32_t max_grid_dim[3];
	uint32_t capability_major;
	uint32_t capability_minor;
	uint32_t id;
	uint32_t is_ecc_enabled;
	uint8_t uuid[16];
	const char *name;
	uint8_t is_cuda_visible;
	uint8_t is_mig_enabled;
	uint8_t reserved[6];
	uint32_t gpu_instance_id;
	uint32_t compute_instance_id;
	/* since 176 bytes (11.6) */
	uint8_t mig_uuid[16];
	/* since 184 bytes (12.2) */
	uint32_t is_numa_node;
	uint32_t numa_id;
};

struct cupti_context {
	uint32_t kind;
	uint32_t context_id;
	uint32_t device_id;
	uint16_t compute_api_kind; /* 1 CUDA, 2 CUDA under MPS */
	uint16_t null_stream_id;
	/* since 24 bytes (12.4) */
	uint32_t parent_context_id;
	uint8_t is_green_context;
	uint8_t padding;
	uint16_t nr_multiprocessors;
	/* since 32 bytes (12.5) */
	uint32_t cig_mode;
	uint32_t padding2;
};

struct cupti_stream {
	uint32_t kind;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t priority;
	uint32_t flag; /* enum cupti_stream_flag */
	uint32_t correlation_id;
};

/* CUPTI_KIND_CUDA_EVENT. */
struct cupti_event {
	uint32_t kind;
	uint32_t correlation_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t event_id;
	uint32_t pad;
	/* since 56 bytes (12.8) */
	uint32_t device_id;
	uint32_t pad2;
	void *reserved0;
	uint64_t device_time_ns;
	uint64_t event_sync_id;
};

/* The layouts, as the real libraries have them; a mistake here would be silent garbage. */
#define CUPTI_AT(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define CUPTI_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)

CUPTI_AT(cupti_resource_data, descriptor, 16);
CUPTI_SIZE(cupti_resource_data, 24);
CUPTI_AT(cupti_graph_data, original_node, 24);
CUPTI_AT(cupti_graph_data, node_type, 32);
CUPTI_AT(cupti_graph_data, graph_exec, 48);
CUPTI_SIZE(cupti_graph_data, 56);
CUPTI_AT(cupti_kernel, registers_per_thread, 6);
CUPTI_AT(cupti_kernel, start_ns, 16);
CUPTI_AT(cupti_kernel, device_id, 40);
CUPTI_AT(cupti_kernel, grid, 52);
CUPTI_AT(cupti_kernel, block, 64);
CUPTI_AT(cupti_kernel, static_shared_bytes, 76);
CUPTI_AT(cupti_kernel, correlation_id, 92);
CUPTI_AT(cupti_kernel, name, 104);
CUPTI_AT(cupti_kernel, queued_ns, 120);
CUPTI_AT(cupti_kernel, launch_type, 136);
CUPTI_AT(cupti_kernel, graph_node_id, 144);
CUPTI_AT(cupti_kernel, graph_id, 156);
CUPTI_AT(cupti_kernel, channel_id, 168);
CUPTI_AT(cupti_kernel, cluster, 176);
CUPTI_AT(cupti_kernel, max_potential_cluster_size, 200);
CUPTI_AT(cupti_kernel, is_device_launched, 208);
CUPTI_SIZE(cupti_kernel, 216);
CUPTI_AT(cupti_memcpy, bytes, 8);
CUPTI_AT(cupti_memcpy, device_id, 32);
CUPTI_AT(cupti_memcpy, correlation_id, 44);
CUPTI_AT(cupti_memcpy, graph_node_id, 64);
CUPTI_AT(cupti_memcpy, graph_id, 72);
CUPTI_AT(cupti_memcpy, channel_id, 76);
CUPTI_AT(cupti_memcpy, copy_count, 88);
CUPTI_SIZE(cupti_memcpy, 96);
CUPTI_AT(cupti_memcpy_peer, src_device_id, 44);
CUPTI_AT(cupti_memcpy_peer, correlation_id, 60);
CUPTI_AT(cupti_memcpy_peer, graph_node_id, 72);
CUPTI_AT(cupti_memcpy_peer, channel_id, 84);
CUPTI_SIZE(cupti_memcpy_peer, 96);
CUPTI_AT(cupti_memset, correlation_id, 44);
CUPTI_AT(cupti_memset, memory_kind, 50);
CUPTI_AT(cupti_memset, graph_node_id, 64);
CUPTI_AT(cupti_memset, is_device_launched, 84);
CUPTI_SIZE(cupti_memset, 88);
CUPTI_AT(cupti_sync, correlation_id, 24);
CUPTI_AT(cupti_sync, event_sync_id, 40);
CUPTI_SIZE(cupti_sync, 56);
CUPTI_AT(cupti_overhead, object_id, 12);
CUPTI_AT(cupti_overhead, start_ns, 24);
CUPTI_AT(cupti_overhead, overhead_data, 48);
CUPTI_SIZE(cupti_overhead, 56);
CUPTI_AT(cupti_memory, address, 16);
CUPTI_AT(cupti_memory, process_id, 48);
CUPTI_AT(cupti_memory, name, 64);
CUPTI_AT(cupti_memory, pool, 80);
CUPTI_AT(cupti_memory, source, 120);
CUPTI_SIZE(cupti_memory, 128);
CUPTI_AT(cupti_graph, graph_id, 28);
CUPTI_AT(cupti_graph, end_device_id, 48);
CUPTI_SIZE(cupti_graph, 56);
CUPTI_AT(cupti_device, capability_major, 104);
CUPTI_AT(cupti_device, id, 112);
CUPTI_AT(cupti_device, uuid, 120);
CUPTI_AT(cupti_device, name, 136);
CUPTI_AT(cupti_device, mig_uuid, 160);
CUPTI_SIZE(cupti_device, 184);
CUPTI_AT(cupti_context, parent_context_id, 16);
CUPTI_SIZE(cupti_context, 32);
CUPTI_SIZE(cupti_stream, 24);
CUPTI_AT(cupti_event, event_id, 16);
CUPTI_AT(cupti_event, device_time_ns, 40);
CUPTI_SIZE(cupti_event, 56);

#undef CUPTI_AT
#undef CUPTI_SIZE

#endif
