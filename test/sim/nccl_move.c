/* SPDX-License-Identifier: Apache-2.0 */
/* The data of collectives: what every rank has goes into one table, what every rank gets comes out.
 */
#include "test/sim/nccl.h"

#include <stdlib.h>
#include <string.h>

/* By ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16. */
static const uint8_t type_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

size_t nccl_type_bytes(int type)
{
	return type >= 0 && type < (int)sizeof(type_bytes) ? type_bytes[type] : 0;
}

/* Every element is reduced in double, which is exact enough for what tests compare. */
static double element_get(const void *p, int type)
{
	uint16_t bits;
	uint32_t wide;
	float f;

	switch (type) {
	case 0:
		return *(const int8_t *)p;
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return *(const int32_t *)p;
	case 3:
		return *(const uint32_t *)p;
	case 4:
		return (double)*(const int64_t *)p;
	case 5:
		return (double)*(const uint64_t *)p;
	case 6:
		return (double)*(const _Float16 *)p;
	case 7:
		return (double)*(const float *)p;
	case 8:
		return *(const double *)p;
	default:
		memcpy(&bits, p, 2);
		wide = (uint32_t)bits << 16;
		memcpy(&f, &wide, 4);
		return (double)f;
	}
}

static void element_set(void *p, int type, double v)
{
	uint32_t wide;
	uint16_t bits;
	float f = (float)v;

	switch (type) {
	case 0:
		*(int8_t *)p = (int8_t)v;
		break;
	case 1:
		*(uint8_t *)p = (uint8_t)v;
		break;
	case 2:
		*(int32_t *)p = (int32_t)v;
		break;
	case 3:
		*(uint32_t *)p = (uint32_t)v;
		break;
	case 4:
		*(int64_t *)p = (int64_t)v;
		break;
	case 5:
		*(uint64_t *)p = (uint64_t)v;
		break;
	case 6:
		*(_Float16 *)p = (_Float16)f;
		break;
	case 7:
		*(float *)p = f;
		break;
	case 8:
		*(double *)p = v;
		break;
	default:
		memcpy(&wide, &f, 4);
		bits = (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
		memcpy(p, &bits, 2);
		break;
	}
}

static double combine(double a, double b, int redop)
{
	switch (redop) {
	case 1:
		return a * b;
	case 2:
		return a > b ? a : b;
	case 3:
		return a < b ? a : b;
	default:
		return a + b;
	}
}

/* Element-wise over all ranks' send buffers: sum 0, product 1, maximum 2, minimum 3, average 4. */
static void reduce(char *out, const struct nccl_op *parts, int nr_ranks, size_t count)
{
	size_t bytes = nccl_type_bytes(parts[0].type);
	int redop = parts[0].redop;

	for (size_t i = 0; i < count; i++) {
		double v = element_get((const char *)parts[0].send + i * bytes, parts[0].type);

		for (int r = 1; r < nr_ranks; r++) {
			v = combine(v,
				element_get((const char *)parts[r].send + i * bytes, parts[0].type),
				redop);
		}
		element_set(out + i * bytes, parts[0].type, redop == 4 ? v / nr_ranks : v);
	}
}

static bool is_reducing(enum nccl_kind kind)
{
	return kind == NCCL_ALL_REDUCE || kind == NCCL_REDUCE || kind == NCCL_REDUCE_SCATTER;
}

/* How many counts each rank sends. */
static size_t sent_counts(enum nccl_kind kind, int nr_ranks)
{
	return kind == NCCL_REDUCE_SCATTER || kind == NCCL_ALL_TO_ALL || kind == NCCL_SCATTER
		       ? (size_t)nr_ranks
		       : 1;
}

/* Fills the table: the reduction, or what was sent, rank after rank. */
static void gather(char *table, const struct nccl_op *parts, int nr_ranks, size_t sent)
{
	if (is_reducing(parts[0].kind)) {
		reduce(table, parts, nr_ranks,
			parts[0].count * sent_counts(parts[0].kind, nr_ranks));
		return;
	}
	for (int r = 0; r < nr_ranks; r++) {
		if (parts[r].send) {
			memcpy(table + (size_t)r * sent, parts[r].send, sent);
		}
	}
}

/* Gives one rank what it is due. */
static void hand_out(const struct nccl_op *part, const char *table, int nr_ranks, size_t sent)
{
	size_t bytes = part->count * nccl_type_bytes(part->type);
	size_t rank = (size_t)part->comm->rank, root = (size_t)part->peer;

	if (!part->recv) {
		return;
	}
	switch (part->kind) {
	case NCCL_ALL_REDUCE:
		memcpy(part->recv, table, bytes);
		break;
	case NCCL_REDUCE:
		if (rank == root) {
			memcpy(part->recv, table, bytes);
		}
		break;
	case NCCL_BROADCAST:
		memcpy(part->recv, table + root * sent, bytes);
		break;
	case NCCL_REDUCE_SCATTER:
		memcpy(part->recv, table + rank * bytes, bytes);
		break;
	case NCCL_SCATTER:
		memcpy(part->recv, table + root * sent + rank * bytes, bytes);
		break;
	case NCCL_ALL_GATHER:
		memcpy(part->recv, table, bytes * (size_t)nr_ranks);
		break;
	case NCCL_GATHER:
		if (rank == root) {
			memcpy(part->recv, table, bytes * (size_t)nr_ranks);
		}
		break;
	case NCCL_ALL_TO_ALL:
		for (int r = 0; r < nr_ranks; r++) {
			memcpy((char *)part->recv + (size_t)r * bytes,
				table + (size_t)r * sent + rank * bytes, bytes);
		}
		break;
	default:
		break;
	}
}

int nccl_move(struct nccl_op *parts, int nr_ranks)
{
	size_t bytes = parts[0].count * nccl_type_bytes(parts[0].type);

	if (parts[0].kind == NCCL_SEND) {
		memmove(parts[1].recv, parts[0].send, bytes);
		return NCCL_OK;
	}
	size_t sent = bytes * sent_counts(parts[0].kind, nr_ranks);
	char *table = malloc(sent * (size_t)nr_ranks + 1);

	if (!table) {
		return NCCL_SYSTEM;
	}
	gather(table, parts, nr_ranks, sent);
	for (int r = 0; r < nr_ranks; r++) {
		if (parts[r].comm) {
			hand_out(&parts[r], table, nr_ranks, sent);
		}
	}
	free(table);
	return NCCL_OK;
}
