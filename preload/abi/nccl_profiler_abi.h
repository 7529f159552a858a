/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of NCCL's profiler plugins, in our own declarations: versions 1 to 6, of NCCL 2.23,
 * 2.24, 2.26, 2.27, 2.28 and 2.29. Names and offsets are those of src/include/plugin/profiler/ in
 * NCCL's sources (2.30.7); NCCL installs none of these headers, so the offsets are asserted here.
 */
#ifndef PRELOAD_ABI_NCCL_PROFILER_ABI_H
#define PRELOAD_ABI_NCCL_PROFILER_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NCCL_PROFILER_VERSIONS 6

/* Types of events. Each is a bit in the mask of a plugin. */
enum {
	NCCL_PROFILE_GROUP = 1 << 0,
	NCCL_PROFILE_COLL = 1 << 1,
	NCCL_PROFILE_P2P = 1 << 2,
	NCCL_PROFILE_PROXY_OP = 1 << 3,
	NCCL_PROFILE_PROXY_STEP = 1 << 4,
	NCCL_PROFILE_PROXY_CTRL = 1 << 5,
	NCCL_PROFILE_KERNEL_CH = 1 << 6, /* since version 3 */
	NCCL_PROFILE_NET = 1 << 7,	 /* since version 3 */
	NCCL_PROFILE_GROUP_API = 1 << 8, /* since version 5 */
	NCCL_PROFILE_COLL_API = 1 << 9,	 /* since version 5 */
	NCCL_PROFILE_P2P_API = 1 << 10,	 /* since version 5 */
	NCCL_PROFILE_CE = 7 << 12,	 /* all events of copy engines */
	NCCL_PROFILE_CE_COLL = 1 << 12,	 /* since version 6 */
};

enum {
	NCCL_STATE_SEND_GPU_WAIT = 8,
	NCCL_STATE_SEND_WAIT = 9,
	NCCL_STATE_RECV_WAIT = 10,
	NCCL_STATE_RECV_FLUSH_WAIT = 11,
	NCCL_STATE_RECV_GPU_WAIT = 12,
	NCCL_STATE_SEND_PEER_WAIT = 20, /* since version 4 */
	NCCL_STATE_NET_UPDATE = 21,	/* since version 4 */
	NCCL_STATE_KERNEL_STOP = 22,	/* since version 4 */
};

/* Every event begins with this in all versions. Type and version say which members follow. */
struct nccl_event {
	union {
		uint8_t narrow; /* before version 5 */
		uint64_t wide;
	} type;
	void *parent;
	int rank;
};

/* Members that several versions have in a row. */
#define NCCL_EVENT_COMM        \
	const char *comm_name; \
	uint64_t comm_hash;

#define NCCL_EVENT_COLL       \
	uint64_t sequence;    \
	const char *function; \
	const void *send;     \
	void *receive;        \
	size_t count;         \
	int root;             \
	const char *datatype;

#define NCCL_EVENT_HOW                 \
	uint8_t nr_channels, nr_warps; \
	const char *algorithm, *protocol;

#define NCCL_EVENT_P2P        \
	const char *function; \
	void *buffer;         \
	const char *datatype; \
	size_t count;         \
	int peer;

struct nccl_event_coll_v1 {
	NCCL_EVENT_COMM
	uint64_t sequence;
	uint8_t function;
	const void *send;
	void *receive;
	size_t count;
	int root;
	uint8_t datatype;
	uint32_t redop;
	size_t traffic_bytes;
	uint8_t nr_channels, nr_warps;
	uint8_t algorithm, protocol;
	int is_collnet, is_nvls;
};

struct nccl_event_coll_v2 {
	NCCL_EVENT_COMM
	NCCL_EVENT_COLL
	size_t traffic_bytes;
	NCCL_EVENT_HOW
};

struct nccl_event_coll_v3 {
	NCCL_EVENT_COMM
	NCCL_EVENT_COLL
	NCCL_EVENT_HOW
};

/* Version 5 has a pointer behind it. */
struct nccl_event_coll_v4 {
	NCCL_EVENT_COLL
	NCCL_EVENT_HOW
};

struct nccl_event_p2p_v1 {
	NCCL_EVENT_COMM
	uint8_t function;
	void *buffer;
	uint8_t datatype;
	size_t count;
	int peer;
};

struct nccl_event_p2p_v2 {
	NCCL_EVENT_COMM
	NCCL_EVENT_P2P
};

/* Version 5 has a pointer behind it. */
struct nccl_event_p2p_v4 {
	NCCL_EVENT_P2P
	uint8_t nr_channels;
};

struct nccl_event_coll_api {
	const char *function;
	size_t count;
	const char *datatype;
	int root;
	void *stream;
	bool is_captured;
};

struct nccl_event_p2p_api {
	const char *function;
	size_t count;
	const char *datatype;
	void *stream;
	bool is_captured;
};

struct nccl_event_proxy_op {
	int pid; /* of the process whose collective or send it is part of */
	uint8_t channel;
	int peer;
	int nr_steps;
	int chunk_bytes;
	int is_send;
};

struct nccl_event_proxy_step {
	int step;
};

/* Version 3 has only the channel. */
struct nccl_event_kernel {
	uint8_t channel;
	uint64_t gpu_ns; /* of the GPU's global timer */
};

/*
 * A network plugin of NCCL has passed a request to the network. The lower 16 bits of id are the
 * version of the plugin's data, the others the plugin. NCCL calls this only if it, or the plugin,
 * is built for it. The layouts are those of net_ib_v1.h and net_socket_v1.h beside the interface.
 */
struct nccl_event_net {
	int64_t id;
	const void *data;
};

enum {
	NCCL_NET_IB_V1 = 1 << 16 | 1,
	NCCL_NET_SOCKET_V1 = 2 << 16 | 1,
	NCCL_NET_REQUEST = 1, /* the only type of event of either */
};

/*
 * device: numbers those of the connection, not those of the host. length: only of sends. A receive
 * leaves opcode and length as they were.
 */
struct nccl_net_ib_v1 {
	uint8_t type;
	struct {
		int device;
		uint64_t work_request;
		int opcode, queue_pair;
		size_t length;
	} request;
};

struct nccl_net_socket_v1 {
	uint8_t type;
	struct {
		int fd, op;
		size_t length;
	} request;
};

/* The GPU's copy engines copy the data, without a kernel. Members that we do not read follow. */
struct nccl_event_ce {
	NCCL_EVENT_COLL
};

/* recordEventState passes one of these with the states above, since version 4. */
union nccl_event_state {
	size_t transferred_bytes;
	uint64_t gpu_ns;
};

#define EVENT_AT(type, member, at) \
	_Static_assert(offsetof(struct nccl_event_##type, member) == (at), #type " " #member)

_Static_assert(sizeof(struct nccl_event) == 24, "the members of a type follow");
_Static_assert(offsetof(struct nccl_event, parent) == 8, "parentObj");
_Static_assert(offsetof(struct nccl_event, rank) == 16, "rank");
EVENT_AT(coll_v1, function, 24);
EVENT_AT(coll_v1, count, 48);
EVENT_AT(coll_v1, datatype, 60);
EVENT_AT(coll_v1, nr_channels, 80);
EVENT_AT(coll_v1, protocol, 83);
EVENT_AT(coll_v2, nr_channels, 80);
EVENT_AT(coll_v2, protocol, 96);
EVENT_AT(coll_v3, datatype, 64);
EVENT_AT(coll_v3, nr_channels, 72);
EVENT_AT(coll_v3, protocol, 88);
EVENT_AT(coll_v4, function, 8);
EVENT_AT(coll_v4, count, 32);
EVENT_AT(coll_v4, datatype, 48);
EVENT_AT(coll_v4, nr_channels, 56);
EVENT_AT(coll_v4, protocol, 72);
EVENT_AT(p2p_v1, datatype, 32);
EVENT_AT(p2p_v1, peer, 48);
EVENT_AT(p2p_v2, peer, 48);
EVENT_AT(p2p_v4, peer, 32);
EVENT_AT(p2p_v4, nr_channels, 36);
EVENT_AT(coll_api, is_captured, 40);
EVENT_AT(p2p_api, is_captured, 32);
EVENT_AT(proxy_op, channel, 4);
EVENT_AT(proxy_op, is_send, 20);
EVENT_AT(kernel, gpu_ns, 8);
EVENT_AT(net, data, 8);
EVENT_AT(ce, datatype, 48);
_Static_assert(offsetof(struct nccl_net_ib_v1, request.device) == 8, "device");
_Static_assert(offsetof(struct nccl_net_ib_v1, request.queue_pair) == 28, "qpNum");
_Static_assert(offsetof(struct nccl_net_ib_v1, request.length) == 32, "length");
_Static_assert(offsetof(struct nccl_net_socket_v1, request.fd) == 8, "fd");
_Static_assert(offsetof(struct nccl_net_socket_v1, request.length) == 16, "length");

/* Every function returns an ncclResult_t. NCCL reads only that of init. */
typedef int nccl_profiler_result;
typedef void nccl_logger(void); /* not called, so its parameters do not matter */

#define NCCL_PROFILER_FUNCTIONS                                                                \
	nccl_profiler_result (*start)(void *context, void **handle, struct nccl_event *event); \
	nccl_profiler_result (*stop)(void *handle);                                            \
	nccl_profiler_result (*record)(                                                        \
		void *handle, int state, const union nccl_event_state *arguments);             \
	nccl_profiler_result (*finalize)(void *context);

/* Types of the symbols: ncclProfiler_v1 to _v3, then _v4, then _v5 and _v6. */
struct nccl_profiler_v1 {
	const char *name;
	nccl_profiler_result (*init)(void **context, int *mask);
	NCCL_PROFILER_FUNCTIONS
};

struct nccl_profiler_v4 {
	const char *name;
	nccl_profiler_result (*init)(void **context, int *mask, const char *comm_name,
		uint64_t comm_hash, int nr_nodes, int nr_ranks, int rank, nccl_logger *log);
	NCCL_PROFILER_FUNCTIONS
};

struct nccl_profiler_v5 {
	const char *name;
	nccl_profiler_result (*init)(void **context, uint64_t comm_hash, int *mask,
		const char *comm_name, int nr_nodes, int nr_ranks, int rank, nccl_logger *log);
	NCCL_PROFILER_FUNCTIONS
};

#endif
