/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of a GPU that begins before the call that launched it: where clocks jump, or are not the
 * same. Calls and work are joined by correlation id, in a table of fixed size for the last ids that
 * came: of two that are more than KINETO_EARLY_IDS launches apart in the order of their ends
 * nothing is known.
 */
#ifndef REPORT_KINETO_EARLY_H
#define REPORT_KINETO_EARLY_H

#include <stdbool.h>
#include <stdint.h>

#define KINETO_EARLY_IDS (1u << 18)

struct kineto_early_id {
	uint32_t id; /* 0: none */
	bool is_counted;
	uint64_t call, work; /* the first begin; UINT64_MAX not seen */
};

struct kineto_early {
	struct kineto_early_id *ids;
	uint64_t nr; /* launches whose work is early */
};

void kineto_early_init(struct kineto_early *early);
void kineto_early_fini(struct kineto_early *early);

/* In any order; the id 0 is none. */
void kineto_early_call(struct kineto_early *early, uint32_t id, uint64_t begin);
void kineto_early_work(struct kineto_early *early, uint32_t id, uint64_t begin);

/* When the call began, UINT64_MAX if that is not known yet, or no more. */
uint64_t kineto_early_find(const struct kineto_early *early, uint32_t id);

#endif
