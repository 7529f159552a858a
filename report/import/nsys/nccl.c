/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of NCCL, from its ranges of NVTX and their payloads. The export has payloads as text
 * (jsonText) or as bytes (binaryData) that tables describe; or none.
 *
 * Calls of a communicator are counted only where its begin is in the trace: then a call has the
 * same number on all ranks.
 */
#include "report/import/nsys/trace.h"

#include <stdlib.h>
#include <string.h>

#include "collector/format/nccl_nvtx.h"
#include "report/util/buf.h"
#include "report/util/hash.h"

/* Types of fields in payloads: NVTX's numbers. Enumerations have numbers of their own. */
enum { ENTRY_INT = 5, ENTRY_UINT64 = 18, ENTRY_SIZE = 22, ENTRY_OWN = 1 << 24 };

/* The positions of the facts in payloads of one schema of a domain. */
struct layout {
	struct {
		uint64_t domain, schema;
	} key;
	struct {
		uint32_t at;
		uint32_t nr_bytes; /* 0: it is not there */
	} places[NCCL_NVTX_NR_FACTS];
	UT_hash_handle hh;
};

struct comm {
	uint64_t hash;
	uint32_t id, nr_ranks;
	int32_t rank;
	bool is_begun; /* in the trace */
	UT_hash_handle hh;
};

/* Counts the collectives of a communicator, or the sends to a peer, or the receives from it. */
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
	uint32_t before, last; /* correlation IDs of launches; equal: none */
	int32_t peer;
	uint8_t kind, redop;
};

struct payload {
	uint64_t facts[NCCL_NVTX_NR_FACTS];
	bool has[NCCL_NVTX_NR_FACTS];
};

/* ---- payloads ---- */

static uint32_t nr_bytes_of(uint64_t type)
{
	if (type == ENTRY_UINT64 || type == ENTRY_SIZE) {
		return sizeof(uint64_t);
	}
	return type == ENTRY_INT || type >= ENTRY_OWN ? sizeof(int32_t) : 0;
}

static void add_entry(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	struct nsys_nccl *nccl = trace->nccl;
	uint64_t domain = nsys_query_u64(query, 0, 0), schema = nsys_query_u64(query, 1, 0);
	struct layout *layout, key;
	size_t nr_bytes;
	const char *name = nsys_query_text(query, 2, &nr_bytes);
	int fact = name ? nccl_nvtx_find_fact(name, nr_bytes) : -1;

	(void)context;
	if (fact < 0) {
		return;
	}
	memset(&key, 0, sizeof(key));
	key.key.domain = domain;
	key.key.schema = schema;
	hash_put(nccl->layouts, key, &key.key, layout);
	layout->places[fact].at = nsys_query_u32(query, 4, 0);
	layout->places[fact].nr_bytes = nr_bytes_of(nsys_query_u64(query, 3, 0));
}

void nsys_nccl_read(struct nsys_trace *trace)
{
	static const char *const columns[] = {"domainId", "schemaId", "name", "type", "offset"};
	const struct nsys_query_want want = {
		.table = "NVTX_PAYLOAD_SCHEMA_ENTRIES", NSYS_COLUMNS(columns), .nr_needed = 4};

	trace->nccl = mem_zeroed(1, sizeof(*trace->nccl));
	nsys_table_read(trace, &want, add_entry, NULL);
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
	for (int i = 0; layout && i < NCCL_NVTX_NR_FACTS; i++) {
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
	for (const struct nccl_nvtx_field *field = nccl_nvtx_fields; *field->name; field++) {
		size_t nr_name = strlen(field->name);
		const char *at = memmem(text, nr_bytes, field->name, nr_name);
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
			payload->facts[field->fact] = *number == '-'
							      ? (uint64_t)strtoll(number, NULL, 0)
							      : strtoull(number, NULL, 0);
			payload->has[field->fact] = true;
		}
	}
}

/* ---- calls ---- */

static struct comm *comm_of(struct nsys_nccl *nccl, const struct payload *payload)
{
	uint64_t hash = payload->facts[NCCL_NVTX_COMM];
	struct comm *comm;

	if (!payload->has[NCCL_NVTX_COMM] || !hash) {
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

static void set_ranks(struct comm *comm, const struct payload *payload)
{
	comm->is_begun = true;
	if (payload->has[NCCL_NVTX_RANK] && payload->facts[NCCL_NVTX_RANK] <= INT32_MAX) {
		comm->rank = (int32_t)payload->facts[NCCL_NVTX_RANK];
	}
	if (payload->has[NCCL_NVTX_NR_RANKS] && payload->facts[NCCL_NVTX_NR_RANKS] <= INT32_MAX) {
		comm->nr_ranks = (uint32_t)payload->facts[NCCL_NVTX_NR_RANKS];
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
	hash_put(nccl->counters, key, &key.key, counter);
	return ++counter->nr;
}

static void fill(struct nsys_nccl *nccl, struct nsys_nccl_call *call, const struct payload *payload)
{
	struct comm *comm = comm_of(nccl, payload);

	call->bytes = payload->facts[NCCL_NVTX_BYTES];
	call->redop = payload->has[NCCL_NVTX_REDOP] && payload->facts[NCCL_NVTX_REDOP] < 254
			      ? (uint8_t)payload->facts[NCCL_NVTX_REDOP]
			      : UINT8_MAX;
	call->peer = payload->has[NCCL_NVTX_PEER] ? (int32_t)payload->facts[NCCL_NVTX_PEER] : -1;
	if (comm && call->kind == GPROF_NCCL_INIT) {
		set_ranks(comm, payload);
	}
	call->comm = comm ? comm->id : 0;
	call->sequence = count(nccl, comm, call);
}

static bool is_group_end(uint8_t kind)
{
	return kind == GPROF_NCCL_GROUP_END || kind == NCCL_NVTX_GROUP_SIMULATE_END;
}

/* The calls of a group, with the end that starts them, share its number. */
static uint64_t group_of(struct nsys_nccl *nccl, struct nsys_thread *thread, uint8_t kind)
{
	uint64_t group = thread->nccl_depth ? thread->nccl_group : ++nccl->nr_groups;

	if (kind == NCCL_NVTX_GROUP_START && thread->nccl_depth++ == 0) {
		thread->nccl_group = group;
	} else if (is_group_end(kind) && thread->nccl_depth) {
		thread->nccl_depth--;
	}
	return group;
}

void nsys_nccl_range(struct nsys_trace *trace, const struct nsys_query *query,
	const struct nsys_nccl_columns *columns, const struct nsys_nccl_range *range)
{
	int function = nccl_nvtx_find_function(range->name, range->nr_bytes);
	struct nsys_thread *thread = range->thread;
	struct payload payload = {0};
	struct nsys_nccl_call *call;
	const char *bytes;
	size_t nr;
	uint64_t group;
	uint8_t kind;

	if (function < 0 || range->begin < thread->nccl_end) {
		return; /* NCCL's own calls are not the program's */
	}
	kind = nccl_nvtx_functions[function].kind;
	thread->nccl_end = range->end;
	group = group_of(trace->nccl, thread, kind);
	/* Ends of inner groups start nothing, nor do those of simulated ones. */
	if (kind == NCCL_NVTX_GROUP_START || kind == NCCL_NVTX_GROUP_SIMULATE_END ||
		(kind == GPROF_NCCL_GROUP_END && thread->nccl_depth)) {
		return;
	}
	bytes = nsys_query_text(query, columns->binary, &nr);
	if (bytes) {
		read_binary(trace->nccl, columns->domain, bytes, nr, &payload);
	}
	bytes = nsys_table_text(trace, query, columns->json, columns->json_id, &nr);
	if (bytes) {
		read_json(bytes, nr, &payload);
	}
	call = mem_zeroed(1, sizeof(*call));
	call->begin = range->begin;
	call->kind = kind;
	call->group = group;
	fill(trace->nccl, call, &payload);
	thread->nccl = call;
	nsys_open_add(trace, GPROF_TABLE_nccl, thread->tid, range->begin, range->end)->nccl = call;
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
