/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of convert.c: turns the arguments of NCCL kernels into rows of collectives, and process
 * groups into communicators, which are numbered here in the order of their first collective. A
 * group's key is a hash of its name and ranks, so that it is the same in the traces of all its
 * ranks; the key of a group without ranks is written as 0.
 */
#include "report/import/kineto/convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/hash.h"
#include "report/comm/nccl_names.h"

#define UNDEFINED "undefined" /* PyTorch's text for no description */
#define NONE	  255	      /* NCCL's type and reduction if there is none */

struct kineto_group {
	uint64_t key;
	char *ranks;   /* "[0, 1, 2]", "" if unknown */
	char *name;    /* "2, mesh_dp", "" if unknown */
	char fact[24]; /* the key of its fact */
	uint32_t id, nr_ranks;
	UT_hash_handle hh;
};

void kineto_nccl_fini(struct kineto_nccl *nccl)
{
	struct kineto_group *group, *next;

	HASH_ITER(hh, nccl->groups, group, next)
	{
		HASH_DEL(nccl->groups, group);
		free(group->ranks);
		free(group->name);
		free(group);
	}
	*nccl = (struct kineto_nccl){0};
}

/* ---- arguments of collectives ---- */

uint8_t kineto_nccl_kind(struct kineto_json *json, const struct kineto_event *event)
{
	size_t nr_bytes;
	const char *text = kineto_json_text(json, event->collective, &nr_bytes);

	return nccl_names_kind(text, nr_bytes);
}

/* Reads PyTorch's name of a type: NCCL's number of it, and the bytes of an element. */
static uint32_t read_type(struct kineto_json *json, int token, uint8_t *datatype)
{
	static const struct {
		const char *name;
		uint8_t datatype, nr_bytes;
	} types[] = {
		{"Float", 7, 4},
		{"BFloat16", 9, 2},
		{"Half", 6, 2},
		{"Double", 8, 8},
		{"Long", 4, 8},
		{"Int", 2, 4},
		{"Byte", 1, 1},
		{"Char", 0, 1},
		{"Bool", 1, 1},
		{"Short", NONE, 2},
		{"ComplexFloat", NONE, 8},
		{"ComplexDouble", NONE, 16},
		{"Float8_e4m3fn", 10, 1},
		{"Float8_e5m2", 11, 1},
	};

	*datatype = NONE;
	for (size_t i = 0; token && i < sizeof(types) / sizeof(types[0]); i++) {
		if (kineto_json_is(json, token, types[i].name, strlen(types[i].name))) {
			*datatype = types[i].datatype;
			return types[i].nr_bytes;
		}
	}
	return 0;
}

/* Returns how many elements one rank contributes or receives, in the sense of NCCL's count. */
static uint64_t count_of(const struct kineto_event *event, uint8_t kind)
{
	uint64_t in = event->numbers[KINETO_elements_in], out = event->numbers[KINETO_elements_out];
	uint64_t nr_ranks = event->numbers[KINETO_group_size];

	switch (kind) {
	case GPROF_NCCL_REDUCE_SCATTER:
	case GPROF_NCCL_SCATTER:
	case GPROF_NCCL_RECV:
		return out;
	case GPROF_NCCL_ALL_TO_ALL:
		return nr_ranks ? in / nr_ranks : in;
	default:
		return in;
	}
}

static int32_t peer_of(const struct kineto_event *event, uint8_t kind)
{
	enum kineto_number number =
		kind == GPROF_NCCL_SEND ? KINETO_target_rank : KINETO_source_rank;

	return (kind == GPROF_NCCL_SEND || kind == GPROF_NCCL_RECV) && kineto_has(event, number) &&
			       event->numbers[number] <= INT32_MAX
		       ? (int32_t)event->numbers[number]
		       : -1;
}

/* ---- groups ---- */

static uint64_t hash(uint64_t key, const char *text, size_t nr_bytes)
{
	static const char separator = (char)0xff; /* of texts */

	return hash_fnv_add(hash_fnv_add(key, text, nr_bytes), &separator, 1);
}

static uint64_t hash_token(uint64_t key, struct kineto_json *json, int token)
{
	size_t nr_bytes = 0;
	const char *text = token ? kineto_json_text(json, token, &nr_bytes) : "";

	return hash(key, text, nr_bytes);
}

static char *copy_token(struct kineto_json *json, int token)
{
	size_t nr_bytes = 0;
	const char *text = token ? kineto_json_text(json, token, &nr_bytes) : "";
	char *copy = mem_zeroed(nr_bytes + 1, 1);

	memcpy(copy, text, nr_bytes);
	return copy;
}

/* Returns PyTorch's name of a group, a number, with the program's description, if any. */
static char *name_of(struct kineto_json *json, const struct kineto_event *event)
{
	const int tokens[] = {event->group_name, event->group_words};
	struct buf name = {0};

	for (int i = 0; i < 2; i++) {
		size_t nr_bytes = 0;
		const char *text = tokens[i] ? kineto_json_text(json, tokens[i], &nr_bytes) : "";

		if (nr_bytes && !kineto_json_is(json, tokens[i], UNDEFINED, strlen(UNDEFINED))) {
			buf_text(&name, name.nr_bytes ? ", " : "");
			buf_add(&name, text, nr_bytes);
		}
	}
	buf_char(&name, '\0');
	return name.bytes;
}

/*
 * Finds or adds a group, which its name, ranks and size identify. All without name and ranks share
 * one for each size, which no other rank has.
 */
static uint32_t find_group(
	struct kineto_nccl *nccl, struct kineto_json *json, const struct kineto_event *event)
{
	uint64_t nr_ranks = event->numbers[KINETO_group_size];
	uint64_t key = hash_token(HASH_FNV_BEGIN, json, event->group_name);
	struct kineto_group *group;

	key = hash_token(key, json, event->group_ranks);
	key = hash(key, (const char *)&nr_ranks, sizeof(nr_ranks));
	HASH_FIND(hh, nccl->groups, &key, sizeof(key), group);
	if (!group) {
		group = mem_zeroed(1, sizeof(*group));
		group->key = key;
		group->id = ++nccl->nr_groups;
		group->nr_ranks = nr_ranks <= INT32_MAX ? (uint32_t)nr_ranks : 0;
		group->ranks = copy_token(json, event->group_ranks);
		group->name = name_of(json, event);
		HASH_ADD(hh, nccl->groups, key, sizeof(key), group);
	}
	return group->id;
}

/* Returns the index of a rank in such a list; -1 if it is absent, or a long list was cut. */
static int32_t place_of(const char *ranks, uint64_t rank)
{
	int32_t place = 0;

	while (*ranks && *ranks != ']' && *ranks != '.') {
		char *end;
		uint64_t number;

		ranks += strspn(ranks, "[, ");
		number = strtoull(ranks, &end, 10);
		if (end == ranks) {
			return -1;
		}
		if (number == rank) {
			return place;
		}
		ranks = end;
		place++;
	}
	return -1;
}

void kineto_nccl_fill(struct kineto_nccl *nccl, struct kineto_json *json,
	const struct kineto_event *event, struct kineto_row *row)
{
	uint64_t number = event->numbers[KINETO_collective_number];

	row->nccl.bytes =
		count_of(event, row->kind) * read_type(json, event->element, &row->nccl.datatype);
	row->nccl.peer = peer_of(event, row->kind);
	row->nccl.comm = find_group(nccl, json, event);
	/*
	 * PyTorch counts collectives of a group from 0 or 1, depending on the version; gprof's
	 * count from 1. PyTorch counts sends and receives of a group together; here each pair of
	 * ranks has its own count.
	 */
	if (row->kind != GPROF_NCCL_SEND && row->kind != GPROF_NCCL_RECV &&
		kineto_has(event, KINETO_collective_number) && number < UINT32_MAX) {
		row->nccl.number = (uint32_t)number + 1;
	}
}

void kineto_nccl_write(struct kineto_nccl *nccl, const uint64_t *rank, struct import_out *out)
{
	struct kineto_group *group, *next;

	HASH_ITER(hh, nccl->groups, group, next)
	{
		struct gprof_row_nccl_comm *row = import_out_row(out, GPROF_TABLE_nccl_comm);

		row->id = group->id;
		row->key = *group->ranks ? group->key : 0;
		row->rank = rank ? place_of(group->ranks, *rank) : -1;
		row->nr_ranks = group->nr_ranks;
		if (*group->name) {
			snprintf(
				group->fact, sizeof(group->fact), "nccl.group.%" PRIu32, group->id);
			import_out_fact(out, group->fact, group->name, strlen(group->name));
		}
	}
}
