/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that operators allocated from their framework, as the memory page of PyTorch's
 * TensorBoard plugin adds it up: by device and operator, less what was freed in it (self), and with
 * all that lie in it; and single blocks. Memory: rows, and allocations.h.
 */
#ifndef REPORT_MEMORY_OP_MEMORY_H
#define REPORT_MEMORY_OP_MEMORY_H

#include "report/memory/allocations.h"
#include "report/util/hash.h"

struct op_memory_sums {
	int64_t increase;      /* bytes: allocated less freed */
	uint64_t count, bytes; /* of allocations */
};

struct op_memory {
	struct {
		uint32_t name;	 /* of string_pool.h */
		uint32_t device; /* type << 8 | number, as table alloc has them */
	} key;
	uint64_t calls; /* of the operator, also those that allocated nothing */
	struct op_memory_sums self, total;
	UT_hash_handle hh;
};

/* Not among the views: for styles. */
extern const struct view_class view_op_memory;

/* Rows in no order, and blocks. The view keeps both. */
const struct op_memory **op_memory_rows(void *view, size_t *nr);
struct allocations *op_memory_blocks(void *view);

/* "CPU", "GPU0": a number of string_pool.h. */
uint32_t op_memory_device_name(uint32_t device);

#endif
