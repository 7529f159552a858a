/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables: a long run has a million samples, but only some hundred different stacks. */
#include "report/host/alike_samples.h"

static void count(struct alike **all, const struct wait_key *key, uint64_t ns)
{
	struct alike *alike;

	hash_put(*all, key, key, alike);
	alike->nr++;
	alike->ns += ns;
}

void alike_samples_add(struct alike_samples *samples, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct wait_key key = {0};

		if (b->table == GPROF_TABLE_wait_sample) {
			key = wait_key_of(b, i);
			count(&samples->waiting, &key, b->col[COL_wait_sample_ns][i]);
		} else {
			key.py_stack = (uint32_t)b->col[COL_cpu_sample_py_stack][i];
			count(&samples->running, &key, b->col[COL_cpu_sample_ns][i]);
		}
	}
}

void alike_samples_fini(struct alike_samples *samples)
{
	hash_free(samples->running);
	hash_free(samples->waiting);
}
