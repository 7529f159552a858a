/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of CPU samples by frame. */
#include "report/model/frame_sums.h"

void frame_sums_begin(struct frame_sums *sums)
{
	idmap_init(&sums->stacks, sizeof(struct frame_samples));
}

void frame_sums_count(struct frame_sums *sums, uint64_t stack, uint64_t ns)
{
	struct frame_samples *samples = idmap_put(&sums->stacks, stack);

	samples->stack = stack;
	samples->nr++;
	samples->ns += ns;
}

void frame_sums_end(struct frame_sums *sums, struct process *process,
	void (*add_stack)(struct frame_sums *sums, struct process *process,
		const struct frame_samples *samples))
{
	for (size_t i = 0; i < sums->stacks.nr; i++) {
		sums->nr_stacks++;
		add_stack(sums, process, idmap_at(&sums->stacks, i));
	}
	idmap_fini(&sums->stacks);
}

void frame_sums_add(struct frame_sums *sums, const struct frame_key *key,
	const struct frame_samples *samples, bool is_self)
{
	struct frame_sum *sum;

	hash_put(sums->all, key, key, sum);
	if (is_self) {
		sum->nr_self += samples->nr;
		sum->self_ns += samples->ns;
	}
	if (sum->last_stack != sums->nr_stacks) {
		sum->last_stack = sums->nr_stacks;
		sum->nr_total += samples->nr;
		sum->total_ns += samples->ns;
	}
}

void frame_sums_fini(struct frame_sums *sums)
{
	hash_free(sums->all);
}
