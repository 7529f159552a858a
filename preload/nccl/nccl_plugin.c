/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of each version of NCCL's profiler interface. All versions have the same events
 * with other members, and texts where version 1 has numbers.
 */
#include <string.h>

#include "collector/format/format.h"
#include "collector/util/config.h"
#include "preload/hook/hook.h"
#include "preload/nccl/nccl.h"
#include "preload/nccl/nccl_profiler.h"

/* ---- names ---- */

struct name {
	const char *text;
	uint8_t number;
};

static const struct name functions[] = {{"AllReduce", GPROF_NCCL_ALL_REDUCE},
	{"AllGather", GPROF_NCCL_ALL_GATHER}, {"ReduceScatter", GPROF_NCCL_REDUCE_SCATTER},
	{"Broadcast", GPROF_NCCL_BROADCAST}, {"Send", GPROF_NCCL_SEND}, {"Recv", GPROF_NCCL_RECV},
	{"Reduce", GPROF_NCCL_REDUCE}, {"AlltoAll", GPROF_NCCL_ALL_TO_ALL},
	{"Gather", GPROF_NCCL_GATHER}, {"Scatter", GPROF_NCCL_SCATTER}, {NULL, 0}};

static const struct name algorithms[] = {{"RING", GPROF_NCCL_RING}, {"TREE", GPROF_NCCL_TREE},
	{"NVLS", GPROF_NCCL_NVLS}, {"NVLS_TREE", GPROF_NCCL_NVLS_TREE}, {"PAT", GPROF_NCCL_PAT},
	{"COLLNET_DIRECT", GPROF_NCCL_COLLNET_DIRECT}, {"COLLNET_CHAIN", GPROF_NCCL_COLLNET_CHAIN},
	{NULL, GPROF_NCCL_OTHER}};

static const struct name protocols[] = {{"SIMPLE", GPROF_NCCL_SIMPLE}, {"LL", GPROF_NCCL_LL},
	{"LL128", GPROF_NCCL_LL128}, {NULL, GPROF_NCCL_OTHER}};

/* Behind "nccl"; the numbers are those of NCCL's own enumeration. */
static const struct name types[] = {{"Float32", 7}, {"Bfloat16", 9}, {"Float16", 6}, {"Int8", 0},
	{"Uint8", 1}, {"Int32", 2}, {"Uint32", 3}, {"Int64", 4}, {"Uint64", 5}, {"Float64", 8},
	{"Float8e4m3", 10}, {"Float8e5m2", 11}, {NULL, NCCL_NO_TYPE}};

/* The last name is what anything else is. */
static uint8_t number_of(const struct name *name, const char *text)
{
	while (name->text && (!text || strcmp(name->text, text))) {
		name++;
	}
	return name->number;
}

static uint8_t type_of(const char *text)
{
	return number_of(types, text && !strncmp(text, "nccl", 4) ? text + 4 : text);
}

/* The functions of version 1, by NCCL's number. */
static uint8_t function_v1(uint8_t number)
{
	static const uint8_t kinds[] = {GPROF_NCCL_BROADCAST, GPROF_NCCL_REDUCE,
		GPROF_NCCL_ALL_GATHER, GPROF_NCCL_REDUCE_SCATTER, GPROF_NCCL_ALL_REDUCE, 0,
		GPROF_NCCL_SEND, GPROF_NCCL_RECV};

	return number < sizeof(kinds) ? kinds[number] : 0;
}

/* ---- events ---- */

#define NOT_MORE(number, max) ((number) <= (max) ? (number) : GPROF_NCCL_OTHER)

/* The members of one struct that all versions from 2 on have. */
#define COLL(e)                                                                                  \
	(struct nccl_begun)                                                                      \
	{                                                                                        \
		.sequence = (e)->sequence, .count = (e)->count, .peer = (e)->root,               \
		.kind = number_of(functions, (e)->function), .datatype = type_of((e)->datatype), \
		.algorithm = number_of(algorithms, (e)->algorithm),                              \
		.protocol = number_of(protocols, (e)->protocol), .channels = (e)->nr_channels,   \
		.warps = (e)->nr_warps                                                           \
	}

static struct nccl_begun read_coll(int version, const void *members)
{
	const struct nccl_event_coll_v1 *v1 = members;
	const struct nccl_event_coll_v2 *v2 = members;
	const struct nccl_event_coll_v3 *v3 = members;
	const struct nccl_event_coll_v4 *v4 = members;
	struct nccl_begun begun;

	switch (version) {
	case 1:
		begun = (struct nccl_begun){.sequence = v1->sequence,
			.count = v1->count,
			.peer = v1->root,
			.kind = function_v1(v1->function),
			.datatype = nccl_small(v1->datatype, NCCL_NO_TYPE),
			.algorithm = NOT_MORE(v1->algorithm, GPROF_NCCL_PAT),
			.protocol = NOT_MORE(v1->protocol, GPROF_NCCL_SIMPLE),
			.channels = v1->nr_channels,
			.warps = v1->nr_warps};
		break;
	case 2:
		begun = COLL(v2);
		break;
	case 3:
		begun = COLL(v3);
		break;
	default:
		begun = COLL(v4);
	}
	begun.hash = version < 4 ? v1->comm_hash : 0;
	return begun;
}

#define P2P(e)                                                                                   \
	(struct nccl_begun)                                                                      \
	{                                                                                        \
		.count = (e)->count, .peer = (e)->peer,                                          \
		.kind = number_of(functions, (e)->function), .datatype = type_of((e)->datatype), \
		.algorithm = GPROF_NCCL_OTHER, .protocol = GPROF_NCCL_OTHER                      \
	}

static struct nccl_begun read_p2p(int version, const void *members)
{
	const struct nccl_event_p2p_v1 *v1 = members;
	const struct nccl_event_p2p_v2 *v2 = members;
	const struct nccl_event_p2p_v4 *v4 = members;
	struct nccl_begun begun;

	if (version == 1) {
		begun = (struct nccl_begun){.count = v1->count,
			.peer = v1->peer,
			.kind = function_v1(v1->function),
			.datatype = nccl_small(v1->datatype, NCCL_NO_TYPE),
			.algorithm = GPROF_NCCL_OTHER,
			.protocol = GPROF_NCCL_OTHER};
	} else if (version < 4) {
		begun = P2P(v2);
	} else {
		begun = P2P(v4);
		begun.channels = v4->nr_channels;
	}
	begun.hash = version < 4 ? v1->comm_hash : 0;
	return begun;
}

static struct nccl_begun read_ce(const struct nccl_event_ce *e)
{
	return (struct nccl_begun){.sequence = e->sequence,
		.count = e->count,
		.peer = e->root,
		.kind = number_of(functions, e->function),
		.datatype = type_of(e->datatype),
		.algorithm = GPROF_NCCL_COPY_ENGINE,
		.protocol = GPROF_NCCL_OTHER};
}

static nccl_handle begin(int version, nccl_handle context, const struct nccl_event *event)
{
	const void *members = event + 1;
	const struct nccl_event_kernel *kernel = members;
	nccl_handle parent = (uintptr_t)event->parent;
	struct nccl_begun begun;

	switch (version < 5 ? event->type.narrow : event->type.wide) {
	case NCCL_PROFILE_COLL_API:
		return nccl_profiler_called(
			context, ((const struct nccl_event_coll_api *)members)->is_captured);
	case NCCL_PROFILE_P2P_API:
		return nccl_profiler_called(
			context, ((const struct nccl_event_p2p_api *)members)->is_captured);
	case NCCL_PROFILE_COLL:
		begun = read_coll(version, members);
		return nccl_profiler_began(context, parent, &begun);
	case NCCL_PROFILE_P2P:
		begun = read_p2p(version, members);
		return nccl_profiler_began(context, parent, &begun);
	case NCCL_PROFILE_CE_COLL:
		begun = read_ce(members);
		return nccl_profiler_began(context, parent, &begun);
	case NCCL_PROFILE_KERNEL_CH:
		return nccl_profiler_kernel(
			context, parent, kernel->channel, version < 4 ? 0 : kernel->gpu_ns);
	case NCCL_PROFILE_PROXY_OP:
		return nccl_profiler_transfer(context, parent, members);
	case NCCL_PROFILE_PROXY_STEP:
		return nccl_profiler_step(
			parent, ((const struct nccl_event_proxy_step *)members)->step);
	default:
		return 0;
	}
}

static nccl_profiler_result start(
	int version, void *context, void **handle, const struct nccl_event *event)
{
	*handle = (void *)(uintptr_t)begin(version, (uintptr_t)context, event);
	return NCCL_SUCCESS;
}

/* Before version 4 there are other arguments, of states that are of no interest. */
static nccl_profiler_result record_v1(
	void *handle, int changed, const union nccl_event_state *arguments)
{
	(void)arguments;
	if (changed != NCCL_STATE_KERNEL_STOP) {
		nccl_profiler_state((uintptr_t)handle, changed, 0);
	}
	return NCCL_SUCCESS;
}

static nccl_profiler_result record_v4(
	void *handle, int changed, const union nccl_event_state *arguments)
{
	nccl_profiler_state((uintptr_t)handle, changed, arguments ? arguments->gpu_ns : 0);
	return NCCL_SUCCESS;
}

static nccl_profiler_result stop(void *handle)
{
	nccl_profiler_stop((uintptr_t)handle);
	return NCCL_SUCCESS;
}

static nccl_profiler_result finalize(void *context)
{
	nccl_profiler_close((uintptr_t)context);
	return NCCL_SUCCESS;
}

/* ---- communicators ---- */

/* Always succeeds; NCCL's mask stays 0 where nothing is to be recorded. */
static nccl_profiler_result init(void **context, const struct nccl_profiled *what)
{
	nccl_handle made = config_number(CONFIG_NCCL) == NCCL_OFF ? 0 : nccl_profiler_open(what);

	*context = (void *)(uintptr_t)made;
	return NCCL_SUCCESS;
}

static nccl_profiler_result init_v1(int version, void **context, int *mask)
{
	return init(context, &(struct nccl_profiled){.mask = mask,
				     .at = (uintptr_t)context,
				     .rank = -1,
				     .version = (uint8_t)version});
}

static nccl_profiler_result init_v4(void **context, int *mask, const char *comm_name,
	uint64_t comm_hash, int nr_nodes, int nr_ranks, int rank, nccl_logger *log)
{
	(void)nr_nodes;
	(void)log;
	return init(context, &(struct nccl_profiled){.mask = mask,
				     .at = (uintptr_t)context,
				     .hash = comm_hash,
				     .name = comm_name,
				     .rank = rank,
				     .nr_ranks = nr_ranks > 0 ? (uint32_t)nr_ranks : 0,
				     .version = 4});
}

static nccl_profiler_result init_v5(int version, void **context, uint64_t comm_hash, int *mask,
	const char *comm_name, int nr_ranks, int rank)
{
	return init(context, &(struct nccl_profiled){.mask = mask,
				     .at = (uintptr_t)context,
				     .hash = comm_hash,
				     .name = comm_name,
				     .rank = rank,
				     .nr_ranks = nr_ranks > 0 ? (uint32_t)nr_ranks : 0,
				     .version = (uint8_t)version});
}

/* ---- what NCCL looks up ---- */

#define START(version)                                                  \
	static nccl_profiler_result start_v##version(                   \
		void *context, void **handle, struct nccl_event *event) \
	{                                                               \
		return start(version, context, handle, event);          \
	}

#define PLUGIN_V1(version)                                                        \
	START(version)                                                            \
	static nccl_profiler_result init_v1_##version(void **context, int *mask)  \
	{                                                                         \
		return init_v1(version, context, mask);                           \
	}                                                                         \
	HOOK_EXPORT extern const struct nccl_profiler_v1 ncclProfiler_v##version; \
	const struct nccl_profiler_v1 ncclProfiler_v##version = {                 \
		"gprof", init_v1_##version, start_v##version, stop, record_v1, finalize};

#define PLUGIN_V5(version)                                                                    \
	START(version)                                                                        \
	static nccl_profiler_result init_v5_##version(void **context, uint64_t comm_hash,     \
		int *mask, const char *comm_name, int nr_nodes, int nr_ranks, int rank,       \
		nccl_logger *log)                                                             \
	{                                                                                     \
		(void)nr_nodes;                                                               \
		(void)log;                                                                    \
		return init_v5(version, context, comm_hash, mask, comm_name, nr_ranks, rank); \
	}                                                                                     \
	HOOK_EXPORT extern const struct nccl_profiler_v5 ncclProfiler_v##version;             \
	const struct nccl_profiler_v5 ncclProfiler_v##version = {                             \
		"gprof", init_v5_##version, start_v##version, stop, record_v4, finalize};

PLUGIN_V1(1)
PLUGIN_V1(2)
PLUGIN_V1(3)
START(4)
HOOK_EXPORT extern const struct nccl_profiler_v4 ncclProfiler_v4;
const struct nccl_profiler_v4 ncclProfiler_v4 = {
	"gprof", init_v4, start_v4, stop, record_v4, finalize};
PLUGIN_V5(5)
PLUGIN_V5(6)
