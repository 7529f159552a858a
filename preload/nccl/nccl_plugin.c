/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of each version of NCCL's profiler interface. The versions have the same events
 * with different members; version 1 has numbers where the later ones have texts.
 */
#include <string.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/format/format.h"
#include "collector/util/config.h"
#include "preload/hook/hook.h"
#include "preload/nccl/nccl.h"
#include "preload/nccl/nccl_plugin_next.h"
#include "preload/nccl/nccl_profiler.h"

/* ---- names ---- */

/* The tables hold the texts themselves: each process would relocate pointers to them. */
struct name {
	char text[15];
	uint8_t number;
};

static const struct name functions[] = {{"AllReduce", GPROF_NCCL_ALL_REDUCE},
	{"AllGather", GPROF_NCCL_ALL_GATHER}, {"ReduceScatter", GPROF_NCCL_REDUCE_SCATTER},
	{"Broadcast", GPROF_NCCL_BROADCAST}, {"Send", GPROF_NCCL_SEND}, {"Recv", GPROF_NCCL_RECV},
	{"Reduce", GPROF_NCCL_REDUCE}, {"AlltoAll", GPROF_NCCL_ALL_TO_ALL},
	{"Gather", GPROF_NCCL_GATHER}, {"Scatter", GPROF_NCCL_SCATTER}, {"", 0}};

static const struct name algorithms[] = {{"RING", GPROF_NCCL_RING}, {"TREE", GPROF_NCCL_TREE},
	{"NVLS", GPROF_NCCL_NVLS}, {"NVLS_TREE", GPROF_NCCL_NVLS_TREE}, {"PAT", GPROF_NCCL_PAT},
	{"COLLNET_DIRECT", GPROF_NCCL_COLLNET_DIRECT}, {"COLLNET_CHAIN", GPROF_NCCL_COLLNET_CHAIN},
	{"", GPROF_NCCL_OTHER}};

static const struct name protocols[] = {{"SIMPLE", GPROF_NCCL_SIMPLE}, {"LL", GPROF_NCCL_LL},
	{"LL128", GPROF_NCCL_LL128}, {"", GPROF_NCCL_OTHER}};

/* The names follow "nccl". The numbers are those of NCCL's own enumeration. */
static const struct name types[] = {{"Float32", 7}, {"Bfloat16", 9}, {"Float16", 6}, {"Int8", 0},
	{"Uint8", 1}, {"Int32", 2}, {"Uint32", 3}, {"Int64", 4}, {"Uint64", 5}, {"Float64", 8},
	{"Float8e4m3", 10}, {"Float8e5m2", 11}, {"", NCCL_NO_TYPE}};

/* The last entry, without a name, has the number of all other texts. */
static uint8_t number_of(const struct name *name, const char *text)
{
	while (*name->text && (!text || strcmp(name->text, text))) {
		name++;
	}
	return name->number;
}

static uint8_t type_of(const char *text)
{
	return number_of(types, text && !strncmp(text, "nccl", 4) ? text + 4 : text);
}

/* Version 1 has NCCL's number of the function instead of its name. */
static uint8_t function_v1(uint8_t number)
{
	static const uint8_t kinds[] = {GPROF_NCCL_BROADCAST, GPROF_NCCL_REDUCE,
		GPROF_NCCL_ALL_GATHER, GPROF_NCCL_REDUCE_SCATTER, GPROF_NCCL_ALL_REDUCE, 0,
		GPROF_NCCL_SEND, GPROF_NCCL_RECV};

	return number < sizeof(kinds) ? kinds[number] : 0;
}

/* ---- events ---- */

#define NOT_MORE(number, max) ((number) <= (max) ? (number) : GPROF_NCCL_OTHER)

/* Reads the members that the structs of versions 2 and later share. */
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

static uint64_t type_of_event(int version, const struct nccl_event *event)
{
	return version < 5 ? event->type.narrow : event->type.wide;
}

static nccl_handle begin(
	int version, nccl_handle context, nccl_handle parent, const struct nccl_event *event)
{
	const void *members = event + 1;
	const struct nccl_event_kernel *kernel = members;
	struct nccl_begun begun;

	switch (type_of_event(version, event)) {
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
	case NCCL_PROFILE_NET:
		return nccl_profiler_request(parent, members);
	default:
		return 0;
	}
}

/* ---- both plugins ---- */

/* Their plugin. The functions that follow init have the same places in all versions. */
static const struct nccl_profiler_v1 *theirs_of(int version)
{
	return nccl_plugin_next(version);
}

/* Since version 5, an operation also names its group. */
static void **group_of(int version, struct nccl_event *event)
{
	uint64_t type = version < 5 ? 0 : event->type.wide;
	char *members = (char *)(event + 1);

	if (type == NCCL_PROFILE_COLL) {
		return (void **)(members + sizeof(struct nccl_event_coll_v4));
	}
	return type == NCCL_PROFILE_P2P ? (void **)(members + sizeof(struct nccl_event_p2p_v4))
					: NULL;
}

/* Calls the program's plugin with its own handles in the event, and puts ours back. */
static void call_start(
	int version, const struct nccl_pair *context, void **made, struct nccl_event *event)
{
	const struct nccl_pair *parent = nccl_pair_find(event->parent), *in = NULL;
	void *kept = event->parent, **group = group_of(version, event);
	void *kept_group = group ? *group : NULL;

	event->parent = parent ? parent->theirs : NULL;
	if (group) {
		in = nccl_pair_find(kept_group);
		*group = in ? in->theirs : NULL;
	}
	theirs_of(version)->start(context->theirs, made, event);
	event->parent = kept;
	if (group) {
		*group = kept_group;
	}
}

/* Has a handle of the event been reused? A transfer for another process has that one's handle. */
static bool is_orphan(int version, struct nccl_event *event)
{
	const struct nccl_event_proxy_op *op = (const void *)(event + 1);
	void **group = group_of(version, event);

	if (!nccl_pair_is_gone(event->parent) && !(group && nccl_pair_is_gone(*group))) {
		return false;
	}
	return type_of_event(version, event) != NCCL_PROFILE_PROXY_OP || op->pid == getpid();
}

/* The pair is there before their plugin starts an event, so each start gets its stop. */
static struct nccl_pair *start_theirs(
	int version, const struct nccl_pair *context, nccl_handle ours, struct nccl_event *event)
{
	struct nccl_pair *pair;

	if (!nccl_plugin_next_wants(type_of_event(version, event))) {
		return NULL;
	}
	if (is_orphan(version, event)) {
		loss_add(LOSS_NCCL_NEXT, 1);
		return NULL;
	}
	pair = nccl_pair_make(version, ours);
	if (pair) {
		call_start(version, context, &pair->theirs, event);
	}
	if (pair && !pair->theirs) {
		nccl_pair_close(pair);
		pair = NULL;
	}
	return pair;
}

static nccl_profiler_result start(
	int version, void *context, void **handle, struct nccl_event *event)
{
	const struct nccl_pair *both = theirs_of(version) ? nccl_pair_find(context) : NULL;
	const struct nccl_pair *parent = both ? nccl_pair_find(event->parent) : NULL;
	nccl_handle ours = begin(version, both ? both->ours : (uintptr_t)context,
		parent ? parent->ours : (uintptr_t)event->parent, event);
	struct nccl_pair *pair = both ? start_theirs(version, both, ours, event) : NULL;

	*handle = pair ? nccl_pair_handle(pair) : (void *)(uintptr_t)ours;
	return NCCL_SUCCESS;
}

/* Before version 4 the arguments have another form, which none of our states needs. */
static void record_ours(
	nccl_handle handle, int version, int changed, const union nccl_event_state *arguments)
{
	if (version >= 4) {
		nccl_profiler_state(handle, changed, arguments ? arguments->gpu_ns : 0);
	} else if (changed != NCCL_STATE_KERNEL_STOP) {
		nccl_profiler_state(handle, changed, 0);
	}
}

static void record(int version, void *handle, int changed, const union nccl_event_state *arguments)
{
	const struct nccl_pair *pair = nccl_pair_find(handle);

	record_ours(pair ? pair->ours : (uintptr_t)handle, version, changed, arguments);
	if (pair && pair->is_open) {
		theirs_of(pair->version)->record(pair->theirs, changed, arguments);
	}
}

static nccl_profiler_result record_v1(
	void *handle, int changed, const union nccl_event_state *arguments)
{
	record(1, handle, changed, arguments);
	return NCCL_SUCCESS;
}

static nccl_profiler_result record_v4(
	void *handle, int changed, const union nccl_event_state *arguments)
{
	record(4, handle, changed, arguments);
	return NCCL_SUCCESS;
}

static nccl_profiler_result stop(void *handle)
{
	struct nccl_pair *pair = nccl_pair_find(handle);

	nccl_profiler_stop(pair ? pair->ours : (uintptr_t)handle);
	if (pair && nccl_pair_close(pair)) {
		theirs_of(pair->version)->stop(pair->theirs);
	}
	return NCCL_SUCCESS;
}

static nccl_profiler_result finalize(void *context)
{
	struct nccl_pair *pair = nccl_pair_find(context);

	nccl_profiler_close(pair ? pair->ours : (uintptr_t)context);
	if (pair && nccl_pair_close(pair) && pair->theirs) {
		theirs_of(pair->version)->finalize(pair->theirs);
	}
	return NCCL_SUCCESS;
}

/* ---- communicators ---- */

/* Calls their init in the form of its version. Returns false if it fails. */
static bool init_theirs(
	const struct nccl_profiled *what, int nr_nodes, nccl_logger *log, void **context)
{
	int *mask = &nccl_plugin_next_mask;
	const struct nccl_profiler_v1 *v1 = nccl_plugin_next(what->version);
	const struct nccl_profiler_v4 *v4 = nccl_plugin_next(what->version);
	const struct nccl_profiler_v5 *v5 = nccl_plugin_next(what->version);

	if (what->version < 4) {
		return v1->init(context, mask) == NCCL_SUCCESS;
	}
	if (what->version == 4) {
		return v4->init(context, mask, what->name, what->hash, nr_nodes,
			       (int)what->nr_ranks, what->rank, log) == NCCL_SUCCESS;
	}
	return v5->init(context, what->hash, mask, what->name, nr_nodes, (int)what->nr_ranks,
		       what->rank, log) == NCCL_SUCCESS;
}

/* Always succeeds. NCCL's mask stays 0 while nobody wants events. */
static nccl_profiler_result init(
	void **context, struct nccl_profiled what, int nr_nodes, nccl_logger *log)
{
	struct nccl_pair *pair = theirs_of(what.version) ? nccl_pair_make(what.version, 0) : NULL;
	nccl_handle made = 0;

	if (pair && !init_theirs(&what, nr_nodes, log, &pair->theirs)) {
		nccl_pair_close(pair);
		pair = NULL;
	}
	if (config_number(CONFIG_NCCL) != NCCL_OFF) {
		made = nccl_profiler_open(&what);
	}
	if (pair) {
		pair->ours = made;
	}
	if (pair && what.mask) {
		__atomic_fetch_or(what.mask, nccl_plugin_next_wanted(), __ATOMIC_RELAXED);
	}
	*context = pair ? nccl_pair_handle(pair) : (void *)(uintptr_t)made;
	return NCCL_SUCCESS;
}

static nccl_profiler_result init_v1(int version, void **context, int *mask)
{
	return init(context,
		(struct nccl_profiled){.mask = mask,
			.at = (uintptr_t)context,
			.rank = -1,
			.version = (uint8_t)version},
		0, NULL);
}

static nccl_profiler_result init_since_v4(int version, void **context, int *mask,
	const char *comm_name, uint64_t comm_hash, int nr_nodes, int nr_ranks, int rank,
	nccl_logger *log)
{
	return init(context,
		(struct nccl_profiled){.mask = mask,
			.at = (uintptr_t)context,
			.hash = comm_hash,
			.name = comm_name,
			.rank = rank,
			.nr_ranks = nr_ranks > 0 ? (uint32_t)nr_ranks : 0,
			.version = (uint8_t)version},
		nr_nodes, log);
}

static nccl_profiler_result init_v4(void **context, int *mask, const char *comm_name,
	uint64_t comm_hash, int nr_nodes, int nr_ranks, int rank, nccl_logger *log)
{
	return init_since_v4(4, context, mask, comm_name, comm_hash, nr_nodes, nr_ranks, rank, log);
}

/* ---- what NCCL looks up ---- */

/*
 * The symbols are indirect: dlsym calls a function that returns the address. So a program's own
 * plugin without a version of the interface hides ours of that version, and NCCL takes the version
 * that both have. In a process that gprof does not record, NCCL gets the program's own plugin, or
 * none.
 */
typedef void nccl_symbol(void);

static nccl_symbol *offer(int version, const void *plugin)
{
	if (!nccl_plugin_next_allows(version)) {
		return NULL;
	}
	plugin = nccl_plugin_role == NCCL_PLUGIN_OURS ? plugin : nccl_plugin_next(version);
	return (nccl_symbol *)(uintptr_t)plugin;
}

/*
 * Plugins are filled when NCCL looks for them, so that their pointers need no relocation in other
 * processes. The loader's lock is held meanwhile. Another NCCL in the process may already use the
 * plugin, which is why a second look-up does not write it.
 */
#define SYMBOL(version)                                                 \
	__attribute__((used)) static nccl_symbol *find_v##version(void) \
	{                                                               \
		if (!plugin_v##version.name) {                          \
			fill_v##version();                              \
		}                                                       \
		return offer(version, &plugin_v##version);              \
	}                                                               \
	HOOK_EXPORT void ncclProfiler_v##version(void) __attribute__((ifunc("find_v" #version)));

#define START(version)                                                  \
	static nccl_profiler_result start_v##version(                   \
		void *context, void **handle, struct nccl_event *event) \
	{                                                               \
		return start(version, context, handle, event);          \
	}

#define PLUGIN_V1(version)                                                                        \
	START(version)                                                                            \
	static nccl_profiler_result init_v1_##version(void **context, int *mask)                  \
	{                                                                                         \
		return init_v1(version, context, mask);                                           \
	}                                                                                         \
	static struct nccl_profiler_v1 plugin_v##version;                                         \
	static void fill_v##version(void)                                                         \
	{                                                                                         \
		plugin_v##version = (struct nccl_profiler_v1){                                    \
			"gprof", init_v1_##version, start_v##version, stop, record_v1, finalize}; \
	}                                                                                         \
	SYMBOL(version)

#define PLUGIN_V5(version)                                                                        \
	START(version)                                                                            \
	static nccl_profiler_result init_v5_##version(void **context, uint64_t comm_hash,         \
		int *mask, const char *comm_name, int nr_nodes, int nr_ranks, int rank,           \
		nccl_logger *log)                                                                 \
	{                                                                                         \
		return init_since_v4(version, context, mask, comm_name, comm_hash, nr_nodes,      \
			nr_ranks, rank, log);                                                     \
	}                                                                                         \
	static struct nccl_profiler_v5 plugin_v##version;                                         \
	static void fill_v##version(void)                                                         \
	{                                                                                         \
		plugin_v##version = (struct nccl_profiler_v5){                                    \
			"gprof", init_v5_##version, start_v##version, stop, record_v4, finalize}; \
	}                                                                                         \
	SYMBOL(version)

PLUGIN_V1(1)
PLUGIN_V1(2)
PLUGIN_V1(3)
START(4)
static struct nccl_profiler_v4 plugin_v4;
static void fill_v4(void)
{
	plugin_v4 =
		(struct nccl_profiler_v4){"gprof", init_v4, start_v4, stop, record_v4, finalize};
}
SYMBOL(4)
PLUGIN_V5(5)
PLUGIN_V5(6)
