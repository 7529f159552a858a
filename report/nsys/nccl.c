/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of NCCL, from its ranges of NVTX and their payloads. The export has payloads as text
 * (jsonText) or as bytes (binaryData) that tables describe; or none.
 *
 * Calls of a communicator are counted only where its begin is in the trace: then a call has the
 * same number on all ranks.
 */
#include "report/nsys/trace.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/hash.h"

#define COLUMNS(names) .columns = (names), .nr_columns = sizeof(names) / sizeof((names)[0])

/* What a range is, beside enum gprof_nccl. */
enum { GROUP_START = 100 };

static const struct {
	const char *name;
	uint8_t kind;
} functions[] = {
	{"ncclAllReduce", GPROF_NCCL_ALL_REDUCE},
	{"ncclReduce", GPROF_NCCL_REDUCE},
	{"ncclBroadcast", GPROF_NCCL_BROADCAST},
	{"ncclBcast", GPROF_NCCL_BROADCAST},
	{"ncclAllGather", GPROF_NCCL_ALL_GATHER},
	{"ncclReduceScatter", GPROF_NCCL_REDUCE_SCATTER},
	{"ncclAlltoAll", GPROF_NCCL_ALL_TO_ALL},
	{"ncclGather", GPROF_NCCL_GATHER},
	{"ncclScatter", GPROF_NCCL_SCATTER},
	{"ncclSend", GPROF_NCCL_SEND},
	{"ncclRecv", GPROF_NCCL_RECV},
	{"ncclGroupStart", GROUP_START},
	{"ncclGroupEnd", GPROF_NCCL_GROUP_END},
	{"ncclCommInitRank", GPROF_NCCL_INIT},
	{"ncclCommInitRankConfig", GPROF_NCCL_INIT},
	{"ncclCommInitRankScalable", GPROF_NCCL_INIT},
	{"ncclCommInitAll", GPROF_NCCL_INIT},
	{"ncclCommSplit", GPROF_NCCL_SPLIT},
	{"ncclCommShrink", GPROF_NCCL_SPLIT},
	{"ncclCommFinalize", GPROF_NCCL_FINALIZE},
	{"ncclCommDestroy", GPROF_NCCL_DESTROY},
	{"ncclCommAbort", GPROF_NCCL_ABORT},
};

/* Fields of payloads, and their names in the versions of NCCL. */
enum fact { COMM, BYTES, REDOP, PEER, NR_RANKS, RANK, NR_FACTS };

static const struct {
	const char *name;
	enum fact fact;
} facts[] = {
	{"NCCL communicator ID", COMM},
	{"Message size [bytes]", BYTES},
	{"Bytes", BYTES},
	{"Reduction operation", REDOP},
	{"Root", PEER},
	{"Peer rank", PEER},
	{"No. of ranks", NR_RANKS},
	{"Rank", RANK},
};

/* Types of fields in payloads: NVTX's numbers. Enumerations have numbers of their own. */
enum { ENTRY_INT = 5, ENTRY_UINT64 = 18, ENTRY_SIZE = 22, ENTRY_OWN = 1 << 24 };

/* Where the facts are in payloads of one schema of a domain. */
struct layout {
	struct {
		uint64_t domain, schema;
	} key;
	struct {
		uint32_t at;
		uint32_t nr_bytes; /* 0: it is not there */
	} places[NR_FACTS];
	UT_hash_handle hh;
};

struct comm {
	uint64_t hash;
	uint32_t id, nr_ranks;
	int32_t rank;
	bool is_begun; /* in the trace */
	UT_hash_handle hh;
};

/* Of a communicator: its collectives, or the sends to a peer, or the receives from it. */
struct counter {
	struct {
		uint32_t comm;
		int32_t peer;
		uint32_t kind;
	} key;
	uint32_t nr;
	UT_hash_handle hh;
};

struct nsys_nccl {
	struct layout *layouts;
	struct comm *comms;
	struct counter *counters;
	uint64_t nr_groups;
};

struct nsys_nccl_call {
	uint64_t begin, group, bytes;
	uint32_t comm, sequence;
	uint32_t before, last; /* correlation ids of launches; equal: none */
	int32_t peer;
	uint8_t kind, redop;
};

struct payload {
	uint64_t facts[NR_FACTS];
	bool has[NR_FACTS];
};

/* ---- payloads ---- */

static uint32_t nr_bytes_of(uint64_t type)
{
	if (type == ENTRY_UINT64 || type == ENTRY_SIZE) {
		return sizeof(uint64_t);
	}
	return type == ENTRY_INT || type >= ENTRY_OWN ? sizeof(int32_t) : 0;
}

static void add_entry(struct nsys_nccl *nccl, const struct nsys_query *query)
{
	uint64_t domain = nsys_query_u64(query, 0, 0), schema = nsys_query_u64(query, 1, 0);
	struct layout *layout, key;
	size_t nr_bytes;
	const char *name = nsys_query_text(query, 2, &nr_bytes);

	memset(&key, 0, sizeof(key));
	key.key.domain = domain;
	key.key.schema = schema;
	for (size_t i = 0; name && i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (strlen(facts[i].name) != nr_bytes || memcmp(facts[i].name, name, nr_bytes)) {
			continue;
		}
		HASH_FIND(hh, nccl->layouts, &key.key, sizeof(key.key), layout);
		if (!layout) {
			layout = mem_zeroed(1, sizeof(*layout));
			layout->key = key.key;
			HASH_ADD(hh, nccl->layouts, key, sizeof(layout->key), layout);
		}
		layout->places[facts[i].fact].at = nsys_query_u32(query, 4, 0);
		layout->places[facts[i].fact].nr_bytes = nr_bytes_of(nsys_query_u64(query, 3, 0));
	}
}

void nsys_nccl_read(struct nsys_trace *trace)
{
	static const char *const columns[] = {"domainId", "schemaId", "name", "type", "offset"};
	const struct nsys_query_want want = {
		.table = "NVTX_PAYLOAD_SCHEMA_ENTRIES", COLUMNS(columns), .nr_needed = 4};
	struct nsys_query *query = nsys_query_open(trace->database, &want);

	trace->nccl = mem_zeroed(1, sizeof(*trace->nccl));
	while (query && nsys_query_next(query)) {
		add_entry(trace->nccl, query);
	}
	nsys_query_close(query);
}

/*
 * Bytes: the numbers of the domain and the schema, the bytes of the payload, those of all, 8 bytes
 * each; then the payload.
 */
#define HEADER_BYTES 32u

static void read_binary(const struct nsys_nccl *nccl, uint64_t domain, const char *bytes,
	size_t nr_bytes, struct payload *payload)
{
	const struct layout *layout;
	struct layout key;

	if (nr_bytes < HEADER_BYTES) {
		return;
	}
	memset(&key, 0, sizeof(key));
	key.key.domain = domain;
	memcpy(&key.key.schema, bytes + 8, sizeof(key.key.schema));
	HASH_FIND(hh, nccl->layouts, &key.key, sizeof(key.key), layout);
	for (int i = 0; layout && i < NR_FACTS; i++) {
		size_t at = (size_t)HEADER_BYTES + layout->places[i].at;
		size_t nr = layout->places[i].nr_bytes;
		int32_t number;

		if (!nr || at + nr > nr_bytes) {
			continue;
		}
		if (nr == sizeof(number)) {
			memcpy(&number, bytes + at, sizeof(number));
			payload->facts[i] = (uint64_t)(int64_t)number;
		} else {
			memcpy(&payload->facts[i], bytes + at, nr);
		}
		payload->has[i] = true;
	}
}

/* "name": 12, "name": "0x1f" */
static void read_json(const char *text, size_t nr_bytes, struct payload *payload)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		size_t nr_name = strlen(facts[i].name);
		const char *at = memmem(text, nr_bytes, facts[i].name, nr_name);
		const char *end = text + nr_bytes;
		char number[32];
		size_t nr = 0;

		if (!at || at == text || at[-1] != '"') {
			continue;
		}
		at += nr_name;
		while (at < end && strchr("\": \t", *at) && *at) {
			at++;
		}
		while (at < end && nr + 1 < sizeof(number) && *at &&
			strchr("0123456789abcdefABCDEFxX-", *at)) {
			number[nr++] = *at++;
		}
		number[nr] = '\0';
		if (nr) {
			payload->facts[facts[i].fact] = *number == '-'
								? (uint64_t)strtoll(number, NULL, 0)
								: strtoull(number, NULL, 0);
			payload->has[facts[i].fact] = true;
		}
	}
}

/* ---- calls ---- */

static uint8_t kind_of(const char *name, size_t nr_bytes)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strlen(functions[i].name) == nr_bytes &&
			!memcmp(functions[i].name, name, nr_bytes)) {
			return functions[i].kind;
		}
	}
	return 0;
}

static struct comm *comm_of(struct nsys_nccl *nccl, const struct payload *payload)
{
	uint64_t hash = payload->facts[COMM];
	struct comm *comm;

	if (!payload->has[COMM] || !hash) {
		return NULL;
	}
	HASH_FIND(hh, nccl->comms, &hash, sizeof(hash), comm);
	if (!comm) {
		comm = mem_zeroed(1, sizeof(*comm));
		comm->hash = hash;
		comm->id = HASH_COUNT(nccl->comms) + 1;
		comm->rank = -1;
		HASH_ADD(hh, nccl->comms, hash, sizeof(comm->hash), comm);
	}
	return comm;
}

static void know(struct comm *comm, const struct payload *payload)
{
	comm->is_begun = true;
	if (payload->has[RANK] && payload->facts[RANK] <= INT32_MAX) {
		comm->rank = (int32_t)payload->facts[RANK];
	}
	if (payload->has[NR_RANKS] && payload->facts[NR_RANKS] <= INT32_MAX) {
		comm->nr_ranks = (uint32_t)payload->facts[NR_RANKS];
	}
}

static uint32_t count(
	struct nsys_nccl *nccl, const struct comm *comm, const struct nsys_nccl_call *call)
{
	bool is_between_two = call->kind == GPROF_NCCL_SEND || call->kind == GPROF_NCCL_RECV;
	struct counter *counter, key;

	if (!comm || !comm->is_begun || call->kind > GPROF_NCCL_RECV) {
		return 0;
	}
	memset(&key, 0, sizeof(key));
	key.key.comm = comm->id;
	key.key.peer = is_between_two ? call->peer : -1;
	key.key.kind = is_between_two ? call->kind : 0;
	HASH_FIND(hh, nccl->counters, &key.key, sizeof(key.key), counter);
	if (!counter) {
		counter = mem_zeroed(1, sizeof(*counter));
		counter->key = key.key;
		HASH_ADD(hh, nccl->counters, key, sizeof(counter->key), counter);
	}
	return ++counter->nr;
}

static void fill(struct nsys_nccl *nccl, struct nsys_nccl_call *call, const struct payload *payload)
{
	struct comm *comm = comm_of(nccl, payload);

	call->bytes = payload->facts[BYTES];
	call->redop = payload->has[REDOP] && payload->facts[REDOP] < 254
			      ? (uint8_t)payload->facts[REDOP]
			      : UINT8_MAX;
	call->peer = payload->has[PEER] ? (int32_t)payload->facts[PEER] : -1;
	if (comm && call->kind == GPROF_NCCL_INIT) {
		know(comm, payload);
	}
	call->comm = comm ? comm->id : 0;
	call->sequence = count(nccl, comm, call);
}

/* The calls of a group, with the end that starts them, share its number. */
static uint64_t group_of(struct nsys_nccl *nccl, struct nsys_thread *thread, uint8_t kind)
{
	uint64_t group = thread->nccl_depth ? thread->nccl_group : ++nccl->nr_groups;

	if (kind == GROUP_START && thread->nccl_depth++ == 0) {
		thread->nccl_group = group;
	} else if (kind == GPROF_NCCL_GROUP_END && thread->nccl_depth) {
		thread->nccl_depth--;
	}
	return group;
}

void nsys_nccl_range(struct nsys_trace *trace, const struct nsys_query *query,
	const struct nsys_nccl_columns *columns, struct nsys_thread *thread, const char *name,
	size_t nr_bytes, uint64_t begin, uint64_t end)
{
	uint8_t kind = kind_of(name, nr_bytes);
	struct payload payload = {0};
	struct nsys_nccl_call *call;
	const char *bytes;
	size_t nr;
	int64_t id;
	uint64_t group;

	if (!kind || begin < thread->nccl_end) {
		return; /* NCCL's own calls are not the program's */
	}
	thread->nccl_end = end;
	group = group_of(trace->nccl, thread, kind);
	/* Ends of inner groups start nothing. */
	if (kind == GROUP_START || (kind == GPROF_NCCL_GROUP_END && thread->nccl_depth)) {
		return;
	}
	bytes = nsys_query_text(query, columns->binary, &nr);
	if (bytes) {
		read_binary(trace->nccl, columns->domain, bytes, nr, &payload);
	}
	bytes = nsys_query_text(query, columns->json, &nr);
	if (!bytes && nsys_query_integer(query, columns->json_id, &id)) {
		bytes = nsys_database_string(trace->database, id, &nr);
	}
	if (bytes) {
		read_json(bytes, nr, &payload);
	}
	call = mem_zeroed(1, sizeof(*call));
	call->begin = begin;
	call->kind = kind;
	call->group = group;
	fill(trace->nccl, call, &payload);
	thread->nccl = call;
	nsys_open_add(trace, GPROF_TABLE_nccl, thread->tid, begin, end)->nccl = call;
}

void nsys_nccl_launch(struct nsys_thread *thread, uint64_t begin, uint32_t correlation)
{
	struct nsys_nccl_call *call = thread->nccl;

	if (!call || begin < call->begin) {
		return;
	}
	if (call->before == call->last) {
		call->before = correlation - 1;
	}
	call->last = correlation;
}

void nsys_nccl_close(struct nsys_trace *trace, const struct nsys_open *open)
{
	struct nsys_thread *thread = nsys_thread_of(trace, open->thread, open->begin);
	struct gprof_row_nccl *row = import_out_row(trace->out, GPROF_TABLE_nccl);
	struct nsys_nccl_call *call = open->nccl;

	row->begin = open->begin;
	row->dur = open->end;
	row->thread = thread->id;
	row->correlation_before = call->before;
	row->correlation = call->last;
	row->comm = call->comm;
	row->sequence = call->sequence;
	row->group = call->group;
	row->bytes = call->bytes;
	row->peer = call->peer;
	row->kind = call->kind;
	row->datatype = UINT8_MAX;
	row->redop = call->redop;
	if (thread->nccl == call) {
		thread->nccl = NULL;
	}
	free(call);
}

/* ---- communicators ---- */

void nsys_nccl_write(struct nsys_trace *trace)
{
	struct comm *comm, *next, *world = NULL;

	HASH_ITER(hh, trace->nccl->comms, comm, next)
	{
		struct gprof_row_nccl_comm *row = import_out_row(trace->out, GPROF_TABLE_nccl_comm);

		row->id = comm->id;
		row->key = comm->hash;
		row->rank = comm->rank;
		row->nr_ranks = comm->nr_ranks;
		world = comm->rank >= 0 && (!world || comm->nr_ranks > world->nr_ranks) ? comm
											: world;
	}
	/* Processes that one launcher started share its environment, which names no rank. */
	if (world && !trace->has_rank) {
		import_out_fact_number(trace->out, "rank.world", (uint64_t)world->rank);
		import_out_fact_number(trace->out, "rank.world_size", world->nr_ranks);
		import_out_fact(trace->out, "rank.world.source", "largest NCCL communicator", 25);
	}
}

void nsys_nccl_fini(struct nsys_trace *trace)
{
	struct nsys_nccl *nccl = trace->nccl;

	for (size_t i = 0; i < trace->nr_open; i++) {
		if (trace->open[i].table == GPROF_TABLE_nccl) {
			free(trace->open[i].nccl);
		}
	}
	if (nccl) {
		hash_free(nccl->layouts);
		hash_free(nccl->comms);
		hash_free(nccl->counters);
		free(nccl);
	}
}
