/* SPDX-License-Identifier: Apache-2.0 */
/* The judges of kernels, memory and processes, and those that never fire. */
#include <inttypes.h>

#include "report/advice/advice.h"
#include "report/model/kernel_class.h"

/* ---- kernels ---- */

ADVICE_JUDGE(tensor_cores)
{
	const struct advice_facts *facts = &all[at];
	struct advice_sum without = advice_sites_sum(&facts->sites, rule->cause, ADVICE_ALL_WHENS);

	(void)nr_all;
	if (advice_lacks_devices(facts, result)) {
		return;
	}
	if (!facts->capability_major) {
		advice_skip(result, "the stream does not tell the GPU's compute capability");
		return;
	}
	if (facts->capability_major < 7) {
		advice_skip(result, "the GPU has no tensor cores");
		return;
	}
	if (!facts->eligible_ns) {
		advice_skip(result, "no kernel multiplies matrices");
		return;
	}
	if (!facts->tensor_ns[TENSOR_YES] && facts->untold_ns > facts->eligible_ns / 10) {
		advice_skip(result, "the names of its kernels do not tell");
		return;
	}
	result->verdict = facts->tensor_ns[TENSOR_YES] ? ADVICE_GOOD : ADVICE_FINDING;
	advice_set_share(result, facts->tensor_ns[TENSOR_YES], facts->kernel_ns, "time of kernels");
	buf_text(&result->evidence,
		" with tensor cores; in kernels that multiply and whose names do not tell: ");
	advice_add_time(&result->evidence, facts->untold_ns);
	advice_set_stake(result, without.ns, facts->kernel_ns, "time of kernels");
	result->mask = ADVICE_ALL_WHENS;
}

ADVICE_JUDGE(multiply)
{
	const struct advice_facts *facts = &all[at];
	struct advice_sum sum = advice_sites_sum(&facts->sites, rule->cause, ADVICE_ALL_WHENS);

	(void)nr_all;
	if (advice_lacks_devices(facts, result)) {
		return;
	}
	if (facts->capability_major && facts->capability_major < 7) {
		advice_skip(result, "the GPU has no tensor cores");
		return;
	}
	advice_judge_part(rule, result, sum.ns, facts->kernel_ns, "time of kernels");
	result->mask = ADVICE_ALL_WHENS;
	buf_text(&result->evidence, "; in kernels that multiply and whose names do not tell: ");
	advice_add_time(&result->evidence, facts->untold_ns);
}

ADVICE_JUDGE(occupancy)
{
	const struct advice_facts *facts = &all[at];
	unsigned int mask = ADVICE_ALL_WHENS;
	struct advice_sum sum = advice_sites_sum(&facts->sites, rule->cause, mask);

	(void)nr_all;
	if (advice_lacks_devices(facts, result)) {
		return;
	}
	if (facts->unjudged_ns >= facts->kernel_ns) {
		advice_skip(result, "the stream does not tell enough of the GPU or its kernels");
		return;
	}
	advice_judge_part(rule, result, sum.ns, facts->kernel_ns, "time of kernels");
	result->mask = mask;
	if (sum.nr) {
		buf_text(&result->evidence, "; limited by: ");
		advice_sites_add_text(
			&facts->limits, ADVICE_OCCUPANCY, mask, facts->process, &result->evidence);
	}
}

/* ---- memory and processes ---- */

ADVICE_JUDGE(memory)
{
	const struct advice_facts *facts = &all[at];
	uint64_t peak_bytes = 0, total_bytes = 0;

	(void)nr_all;
	for (uint32_t i = 0; i < ADVICE_MOST_DEVICES; i++) {
		const struct advice_memory *memory = &facts->memory[i];
		uint64_t bytes = memory->reserved_bytes > memory->sampled_bytes
					 ? memory->reserved_bytes
					 : memory->sampled_bytes;
		double share = memory->total_bytes
				       ? 100 * (double)bytes / (double)memory->total_bytes
				       : -1;

		if (bytes && share > result->share) {
			result->share = share;
			peak_bytes = bytes;
			total_bytes = memory->total_bytes;
		}
	}
	if (!total_bytes) {
		advice_skip(result,
			"the stream tells no peak of device memory, or not how much there is");
		return;
	}
	result->verdict = result->share > rule->threshold ? ADVICE_FINDING : ADVICE_GOOD;
	result->of = "the device's memory";
	buf_printf(&result->evidence, "%.3f of %.3f GB", (double)peak_bytes / 1e9,
		(double)total_bytes / 1e9);
}

ADVICE_JUDGE(data_parallel)
{
	(void)rule;
	(void)nr_all;
	if (!all[at].has_ops) {
		advice_skip(result, "no operators were recorded");
		return;
	}
	result->verdict = all[at].uses_data_parallel ? ADVICE_FINDING : ADVICE_GOOD;
	buf_text(&result->evidence, all[at].uses_data_parallel
					    ? "DataParallel.forward was seen"
					    : "DataParallel.forward was not seen");
}

ADVICE_JUDGE(ddp_nccl)
{
	const struct advice_facts *facts = &all[at];
	bool has_nccl = facts->uses_nccl || overlap_any(&facts->times, OVERLAP_COMMUNICATION);

	(void)rule;
	(void)nr_all;
	if (!facts->has_ops) {
		advice_skip(result, "no operators were recorded");
	} else if (!facts->uses_ddp) {
		advice_skip(result, "DistributedDataParallel is not used");
	} else if (facts->capability_major > 0 && facts->capability_major < 4) {
		advice_skip(result, "the GPU is older than NCCL asks for");
	} else {
		result->verdict = has_nccl ? ADVICE_GOOD : ADVICE_FINDING;
		buf_text(&result->evidence, has_nccl ? "NCCL was seen"
					    : facts->uses_gloo
						    ? "gloo's collectives were seen, NCCL's not"
						    : "no collective of NCCL was seen");
	}
}

/* Communication ends together, so who comes last waits least. Of ranks with steps on devices. */
ADVICE_JUDGE(stragglers)
{
	uint64_t own_ns = 0, most_ns = 0, nr_steps = all[at].nr_steps ? all[at].nr_steps : 1;
	size_t nr_ranks = 0;

	for (size_t i = 0; i < nr_all; i++) {
		const struct advice_facts *facts = &all[i];
		uint64_t ns =
			advice_per_device(facts, overlap_any(&facts->times, OVERLAP_COMMUNICATION));

		if (facts->process->rank < 0 || !ns) {
			continue;
		}
		nr_ranks++;
		ns /= facts->nr_steps ? facts->nr_steps : 1;
		most_ns = ns > most_ns ? ns : most_ns;
		own_ns = i == at ? ns : own_ns;
	}
	if (nr_ranks < 2 || !own_ns) {
		advice_skip(result, nr_ranks < 2 ? "there are no two ranks that communicate"
						 : "this rank does not communicate");
		return;
	}
	advice_judge_part(rule, result, most_ns - own_ns, all[at].base_ns / nr_steps,
		all[at].nr_steps ? "a step" : "the recording");
	advice_set_stake(
		result, nr_steps * (most_ns - own_ns), all[at].base_ns, advice_base(&all[at]));
	buf_printf(&result->evidence, " that another of %zu ranks communicates longer", nr_ranks);
}

/* ---- never ---- */

ADVICE_JUDGE(not_linux)
{
	(void)rule, (void)all, (void)nr_all, (void)at;
	advice_skip(result, "DirectX is not used on Linux");
}

ADVICE_JUDGE(no_counters)
{
	(void)rule, (void)all, (void)nr_all, (void)at;
	advice_skip(result, "this takes hardware counters, which are not recorded");
}
