/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The share columns of Paddle's operator tables: numerators by row, denominators over all
 * processes. The view calls begin and end around the walk of each process, add for each event, and
 * fill once, when all processes are done. Rows are the view's own numbers, so one idmap serves all.
 */
#include "report/ops/step_share.h"

#include "report/util/sort.h"

struct sum {
	uint64_t cpu_ns, gpu_ns;
};

void step_share_init(struct step_share *share)
{
	*share = (struct step_share){0};
	idmap_init(&share->sums, sizeof(struct sum));
}

void step_share_fini(struct step_share *share)
{
	step_span_fini(&share->span);
	counted_steps_fini(&share->counted);
	idmap_fini(&share->sums);
}

void step_share_begin(struct step_share *share, struct process *process, bool is_all)
{
	share->process = process;
	step_span_fini(&share->span);
	share->span = (struct step_span){0};
	counted_steps_fini(&share->counted);
	counted_steps_init(&share->counted, process, is_all);
	if (process->nr_steps > 1) {
		step_span_init(&share->span, process, &share->counted, false);
	}
}

/* The intervals are in order and do not overlap, so the first that ends later decides. */
static bool is_in(const struct intervals *set, uint64_t tick)
{
	size_t at;

	BISECT(at, 0, set->nr, set->items[at].end <= tick);
	return at < set->nr && set->items[at].begin <= tick;
}

void step_share_add(
	struct step_share *share, uint32_t row, uint64_t tick, uint64_t cpu_ns, uint64_t gpu_ns)
{
	if (is_in(&share->span.whole, tick)) {
		struct sum *all = idmap_put(&share->sums, row);

		all->cpu_ns += cpu_ns == UINT64_MAX ? 0 : cpu_ns;
		all->gpu_ns += gpu_ns == UINT64_MAX ? 0 : gpu_ns;
	}
}

void step_share_end(struct step_share *share, const struct phases *phases)
{
	uint64_t ns;

	if (!counted_steps_sum(&share->counted, phases, &ns)) {
		return;
	}
	share->steps_ns += ns;
	for (uint32_t step = 1; step < phases->nr_steps; step++) {
		share->steps_gpu_ns +=
			share->counted.counts[step] ? phases_step_gpu_ns(phases, step) : 0;
	}
}

struct step_times step_share_times(const struct step_share *share, uint32_t row)
{
	const struct sum *sum = idmap_get(&share->sums, row), none = {0};

	sum = sum ? sum : &none;
	return (struct step_times){sum->cpu_ns, sum->gpu_ns, share->steps_ns, share->steps_gpu_ns};
}
