/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of PyTorch's key_averages and of the TensorBoard plugin's page of operators: by name of
 * operators and users' ranges, of calls of CUDA, and of what ran on devices. The own time of an
 * operator on the CPU is without those in it and without its calls; its time on devices is that of
 * what it launched, whenever that ran; its memory is what its thread allocated less what it freed
 * in it. Modules are no rows: what is launched or allocated in them belongs to the operator around
 * them.
 */
#ifndef REPORT_ANALYSIS_OP_AVERAGE_H
#define REPORT_ANALYSIS_OP_AVERAGE_H

#include "report/analysis/view.h"
#include "report/util/hash.h"

enum op_average_kind {
	OP_AVERAGE_OP,
	OP_AVERAGE_CALL,
	OP_AVERAGE_DEVICE, /* a kernel, copy or set */
	OP_AVERAGE_MEMORY, /* what the allocator gave or took back in no operator */
};

enum op_average_place {
	OP_AVERAGE_CPU,
	OP_AVERAGE_GPU,
	OP_AVERAGE_NR_PLACES,
};

/* Bytes that the framework's allocator gave less those it took back. */
struct op_average_memory {
	int64_t self, total;
	uint64_t nr_events; /* those of self */
};

struct op_average {
	struct op_average_key {
		uint32_t name;	/* of string_pool.h */
		uint32_t shape; /* of string_pool.h; 0 where rows are not taken apart by it */
		uint32_t stack; /* text of string_pool.h, as shape */
		uint32_t kind;
	} key;
	double flops;	  /* of the calls whose shapes give them; 0: of none */
	bool is_operator; /* and no range, step, loader or optimizer */
	uint64_t calls;
	uint64_t self_ns, total_ns; /* on the CPU */
	uint64_t device_self_ns, device_total_ns;
	/* The same of those that lie in none of the same name: totals that count nothing twice. */
	uint64_t outer_calls, outer_ns, outer_device_ns, outer_tensor_ns;
	uint64_t tensor_self_ns, tensor_total_ns; /* of these, of kernels that use tensor cores */
	struct op_average_memory memory[OP_AVERAGE_NR_PLACES];
	UT_hash_handle hh;
};

/* Not among the views: for styles. With is_detailed by shapes, at VIEW_DETAIL_ALL by stacks, too.
 */
extern const struct view_class view_op_average;

/* Adds the figures of one row to those of another, or takes them away (times = -1). */
void op_average_add(struct op_average *row, const struct op_average *one, int times);

/* All rows after the pass, in no order; *nr of them. The view keeps them. */
const struct op_average **op_average_rows(void *view, size_t *nr);

#endif
