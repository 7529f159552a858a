/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says of itself beside its events: its devices, its rank, its clock. */
#ifndef REPORT_KINETO_TOP_H
#define REPORT_KINETO_TOP_H

#include "report/kineto/json.h"
#include "report/kineto/out.h"

struct kineto_top {
	uint64_t base_ns; /* what times count from, since the epoch */
	uint64_t rank;
	bool has_rank;
};

/* A member of the outer object: its key and its value, which `json` has taken apart. */
void kineto_top_take(struct kineto_top *top, const char *key, size_t nr_key,
	struct kineto_json *json, struct kineto_out *out);

#endif
