/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where most of each part of a time budget comes from, in the steps that count. The owner of waits,
 * allocation, start-up, compilation, the data loader and calls of the operating system is the call
 * (with its file) or operator that the host was in, that of other idle time the launch of the work
 * that ends the gap. A copy belongs to its call, communication to its kernel. With each
 * stand the operator and the Python line around it.
 *
 * Memory: 400 bytes for each place.
 */
#ifndef REPORT_BUDGET_PART_OWNERS_H
#define REPORT_BUDGET_PART_OWNERS_H

#include "report/budget/budget.h"
#include "report/budget/gap_places.h"
#include "report/model/os_files.h"
#include "report/ops/counted_steps.h"

struct part_owners {
	struct process *process;
	struct counted_steps counted;
	struct gap_places places;
	struct os_files files;
	uint64_t (*ns)[NR_BUDGET_PARTS]; /* by place */
	size_t nr_ns;
	bool has_devices;
};

/* The one with most time of a part. */
struct part_owner {
	uint32_t text; /* of string_pool.h; 0: none is known */
	uint64_t ns;
};

/* After budget_begin: it then gets what the budget finds. */
void part_owners_begin(struct part_owners *owners, struct budget *budget);

/* After budget_end, once; frees the rest. */
void part_owners_end(struct part_owners *owners, struct part_owner longest[NR_BUDGET_PARTS]);

#endif
