/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advice/advice.h"

#include <inttypes.h>

#include "report/table/print.h"

const char *const advice_verdict_names[] = {
	[ADVICE_FINDING] = "finding", [ADVICE_GOOD] = "good", [ADVICE_NOT_JUDGED] = "not judged"};

#define ADVICE(name, source, threshold, judge, cause, time, fires, remedy) \
	{name, source, threshold, fires, remedy, advice_judge_##judge, cause, time},
const struct advice_rule advice_rules[] = {
#include "report/advice/advice.def"
};
#undef ADVICE
const size_t advice_nr_rules = sizeof(advice_rules) / sizeof(advice_rules[0]);

void advice_judge(const struct advice_rule *rule, const struct advice_facts *facts, size_t nr_facts,
	size_t at, struct advice_result *result)
{
	*result = (struct advice_result){
		.share = -1, .cause = rule->cause, .mask = facts[at].base_mask};
	rule->judge(rule, facts, nr_facts, at, result);
}

/* ---- results ---- */

void advice_skip(struct advice_result *result, const char *why)
{
	result->verdict = ADVICE_NOT_JUDGED;
	buf_text(&result->evidence, why);
}

void advice_add_time(struct buf *out, uint64_t ns)
{
	table_add_auto_time(out, (double)ns);
}

const char *advice_base(const struct advice_facts *facts)
{
	return facts->nr_steps ? "steps" : "the recording";
}

void advice_add_count(struct buf *out, uint64_t nr, const char *what)
{
	buf_printf(out, "%" PRIu64 " %s%s", nr, what, nr == 1 ? "" : "s");
}

double advice_set_share(
	struct advice_result *result, uint64_t part_ns, uint64_t whole_ns, const char *of)
{
	result->of = of;
	result->share = whole_ns ? 100 * (double)part_ns / (double)whole_ns : 0;
	advice_add_time(&result->evidence, part_ns);
	buf_text(&result->evidence, " of ");
	advice_add_time(&result->evidence, whole_ns);
	return result->share;
}

void advice_set_stake(
	struct advice_result *result, uint64_t stake_ns, uint64_t whole_ns, const char *of)
{
	result->has_stake = true;
	result->stake_ns = stake_ns;
	result->stake_whole_ns = whole_ns;
	result->stake_of = of;
}

static const char *device_base(const struct advice_facts *facts)
{
	return facts->nr_steps ? "GPUs' time in steps" : "GPUs' time in the recording";
}

void advice_set_device_stake(
	const struct advice_facts *facts, struct advice_result *result, uint64_t stake_ns)
{
	advice_set_stake(result, advice_per_device(facts, stake_ns),
		advice_per_device(facts, facts->device_ns), device_base(facts));
}

void advice_judge_part(const struct advice_rule *rule, struct advice_result *result,
	uint64_t part_ns, uint64_t whole_ns, const char *of)
{
	result->verdict = advice_set_share(result, part_ns, whole_ns, of) > rule->threshold
				  ? ADVICE_FINDING
				  : ADVICE_GOOD;
	advice_set_stake(result, part_ns, whole_ns, of);
}

uint64_t advice_per_device(const struct advice_facts *facts, uint64_t ns)
{
	return facts->gaps.nr_devices ? ns / facts->gaps.nr_devices : 0;
}

bool advice_lacks_devices(const struct advice_facts *facts, struct advice_result *result)
{
	if (facts->has_gpu && facts->gaps.nr_devices) {
		return false;
	}
	advice_skip(result, "no device records");
	if (*facts->why_no_gpu) {
		buf_printf(&result->evidence, ": %s", facts->why_no_gpu);
	}
	return true;
}

void advice_judge_device_part(const struct advice_rule *rule, const struct advice_facts *facts,
	struct advice_result *result, uint64_t part_ns)
{
	advice_judge_part(rule, result, part_ns, facts->device_ns, device_base(facts));
	advice_set_device_stake(facts, result, part_ns);
}

/* ---- judges of time: by its cause, of loaders and of devices ---- */

/* ---- by cause alone ---- */

ADVICE_JUDGE(share_of_base)
{
	const struct advice_facts *facts = &all[at];
	struct advice_sum sum = advice_sites_sum(&facts->sites, rule->cause, facts->base_mask);

	(void)nr_all;
	if (!advice_lacks_devices(facts, result)) {
		advice_judge_part(rule, result, sum.ns, facts->base_ns, advice_base(facts));
		buf_text(&result->evidence, ", ");
		advice_add_count(&result->evidence, sum.nr, "time");
	}
}

ADVICE_JUDGE(later_share)
{
	const struct advice_facts *facts = &all[at];
	struct advice_sum sum = advice_sites_sum(&facts->sites, rule->cause, facts->later_mask);
	bool has_first = facts->base_mask & 1u << ADVICE_FIRST;

	(void)nr_all;
	if (!facts->nr_steps || facts->nr_steps == has_first) {
		advice_skip(result, "there is no step after the first");
		return;
	}
	advice_judge_part(
		rule, result, sum.ns, facts->base_ns - facts->first_ns, "steps after the first");
	buf_text(&result->evidence, ", ");
	advice_add_count(&result->evidence, sum.nr, "time");
	result->mask = facts->later_mask;
}

ADVICE_JUDGE(share_of_devices)
{
	const struct advice_facts *facts = &all[at];
	struct advice_sum sum = advice_sites_sum(&facts->sites, rule->cause, facts->base_mask);

	(void)nr_all;
	if (!advice_lacks_devices(facts, result)) {
		advice_judge_device_part(rule, facts, result, sum.ns);
		buf_text(&result->evidence, ", in ");
		advice_add_count(&result->evidence, sum.nr, "gap");
		if (facts->gaps.nr_all > facts->gaps.nr) {
			buf_printf(&result->evidence, "; of the longest %zu of %" PRIu64 " gaps",
				facts->gaps.nr, facts->gaps.nr_all);
		}
	}
}

ADVICE_JUDGE(drained)
{
	const struct advice_facts *facts = &all[at];
	struct advice_sum calls = advice_sites_sum(&facts->sites, ADVICE_WAIT, facts->base_mask);

	advice_judge_share_of_devices(rule, all, nr_all, at, result);
	if (result->verdict != ADVICE_NOT_JUDGED) {
		buf_text(&result->evidence, "; the host waited ");
		advice_add_count(&result->evidence, calls.nr, "time");
		buf_text(&result->evidence, ", for ");
		advice_add_time(&result->evidence, calls.ns);
	}
}

static uint64_t recording_ns(const struct advice_facts *facts)
{
	const struct process *process = facts->process;

	return process->last_ns > process->first_ns ? process->last_ns - process->first_ns : 0;
}

/* What nsys lists at all; of all the recording, as nsys does. */
ADVICE_JUDGE(any_time)
{
	const struct advice_facts *facts = &all[at];
	struct advice_sum sum = advice_sites_sum(&facts->sites, rule->cause, ADVICE_ALL_WHENS);

	(void)nr_all;
	if (advice_lacks_devices(facts, result)) {
		return;
	}
	result->verdict = sum.nr ? ADVICE_FINDING : ADVICE_GOOD;
	advice_set_stake(result, sum.ns, recording_ns(facts), "the recording");
	result->mask = ADVICE_ALL_WHENS;
	advice_add_time(&result->evidence, sum.ns);
	buf_text(&result->evidence, " in all of the recording, ");
	advice_add_count(&result->evidence, sum.nr, "time");
}

/* ---- loader ---- */

/* As the plugin has it: what runs on devices meanwhile is not the loader's. */
ADVICE_JUDGE(loader)
{
	const struct advice_facts *facts = &all[at];

	(void)nr_all;
	if (!facts->has_loader) {
		advice_skip(result,
			facts->has_ops ? "no data loader was seen" : "no operators were recorded");
		return;
	}
	if (!facts->has_gpu || !facts->gaps.nr_devices) {
		advice_judge_part(
			rule, result, facts->loader_ns, facts->base_ns, advice_base(facts));
		return;
	}
	advice_judge_part(rule, result,
		advice_per_device(facts,
			advice_sites_sum(&facts->sites, ADVICE_STARVED, facts->base_mask).ns),
		facts->base_ns, advice_base(facts));
	buf_text(&result->evidence,
		" with nothing on the GPU; in all the training loop waited for ");
	advice_add_time(&result->evidence, facts->loader_ns);
}

ADVICE_JUDGE(starvation)
{
	const struct advice_facts *facts = &all[at];

	if (!facts->has_loader) {
		advice_judge_loader(rule, all, nr_all, at, result);
	} else {
		advice_judge_share_of_devices(rule, all, nr_all, at, result);
	}
}

/* ---- devices ---- */

ADVICE_JUDGE(communication)
{
	const struct advice_facts *facts = &all[at];

	(void)nr_all;
	if (!advice_lacks_devices(facts, result)) {
		advice_judge_device_part(
			rule, facts, result, overlap_any(&facts->times, OVERLAP_COMMUNICATION));
	}
}

ADVICE_JUDGE(unoverlapped)
{
	const struct advice_facts *facts = &all[at];

	(void)nr_all;
	if (!advice_lacks_devices(facts, result)) {
		advice_judge_device_part(rule, facts, result,
			overlap_any(&facts->times, OVERLAP_COMMUNICATION) -
				overlap_all(&facts->times,
					OVERLAP_COMMUNICATION | OVERLAP_COMPUTATION));
	}
}

/* Fires below the threshold; what it costs is what is left. */
static void judge_use(const struct advice_rule *rule, const struct advice_facts *facts,
	struct advice_result *result, uint64_t used_ns)
{
	if (advice_lacks_devices(facts, result)) {
		return;
	}
	advice_judge_device_part(rule, facts, result, used_ns);
	result->verdict = result->share < rule->threshold ? ADVICE_FINDING : ADVICE_GOOD;
	buf_text(&result->evidence,
		result->verdict == ADVICE_FINDING ? "; what is at stake is the rest" : "");
	advice_set_device_stake(
		facts, result, facts->device_ns > used_ns ? facts->device_ns - used_ns : 0);
}

ADVICE_JUDGE(utilization)
{
	(void)nr_all;
	judge_use(rule, &all[at], result,
		overlap_any(&all[at].times, OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION));
}

ADVICE_JUDGE(compute_utilization)
{
	(void)nr_all;
	judge_use(rule, &all[at], result, overlap_any(&all[at].times, OVERLAP_COMPUTATION));
}

ADVICE_JUDGE(copy_overlap)
{
	const struct advice_facts *facts = &all[at];

	(void)nr_all;
	if (!advice_lacks_devices(facts, result)) {
		advice_judge_device_part(rule, facts, result, facts->times.ns[OVERLAP_MEMORY]);
	}
}

ADVICE_JUDGE(concurrency)
{
	const struct advice_facts *facts = &all[at];
	uint64_t union_ns = 0;

	(void)nr_all;
	if (advice_lacks_devices(facts, result)) {
		return;
	}
	if (facts->places.nr <= facts->gaps.nr_devices) {
		advice_skip(result, "one stream runs all kernels of a GPU");
		return;
	}
	union_ns = facts->kernel_union_ns;
	advice_set_share(result, facts->kernel_ns > union_ns ? facts->kernel_ns - union_ns : 0,
		facts->kernel_ns, "time of kernels");
	buf_text(&result->evidence, " beside another kernel");
	result->verdict = result->share < rule->threshold ? ADVICE_FINDING : ADVICE_GOOD;
}

ADVICE_JUDGE(copy_rate)
{
	const struct advice_facts *facts = &all[at];
	struct advice_sum sum = advice_sites_sum(&facts->sites, rule->cause, ADVICE_ALL_WHENS);
	double rate = sum.ns ? (double)facts->copied_bytes / (double)sum.ns : 0;

	(void)nr_all;
	if (advice_lacks_devices(facts, result)) {
		return;
	}
	if (!sum.ns) {
		advice_skip(result, "no copy of 1 MB or more between host and device");
		return;
	}
	buf_printf(&result->evidence, "%.2f GB/s over %" PRIu64 " copies, ", rate, sum.nr);
	advice_add_time(&result->evidence, sum.ns);
	result->verdict = rate < 6 ? ADVICE_FINDING : ADVICE_GOOD;
	advice_set_stake(result, sum.ns, recording_ns(facts), "the recording");
	result->mask = ADVICE_ALL_WHENS;
}

ADVICE_JUDGE(gaps)
{
	const struct advice_facts *facts = &all[at];
	struct advice_sum sum = advice_sites_sum(&facts->sites, rule->cause, facts->base_mask);

	(void)nr_all;
	if (advice_lacks_devices(facts, result)) {
		return;
	}
	advice_judge_device_part(rule, facts, result, sum.ns);
	result->verdict = sum.nr ? ADVICE_FINDING : ADVICE_GOOD;
	buf_text(&result->evidence, ", ");
	advice_add_count(&result->evidence, sum.nr, "gap");
	buf_text(&result->evidence, " above ");
	advice_add_time(&result->evidence, facts->gap_limit_ns);
	buf_text(&result->evidence, "; the longest of all is ");
	advice_add_time(&result->evidence, facts->longest_gap_ns);
}

ADVICE_JUDGE(buckets)
{
	const struct advice_facts *facts = &all[at];

	(void)nr_all;
	(void)rule;
	if (advice_lacks_devices(facts, result)) {
		return;
	}
	if (!facts->nr_buckets) {
		advice_skip(result, "a part of the recording was chosen");
		return;
	}
	result->verdict = facts->nr_low_buckets ? ADVICE_FINDING : ADVICE_GOOD;
	advice_set_stake(result, advice_per_device(facts, facts->low_idle_ns), recording_ns(facts),
		"the recording");
	result->share = facts->nr_buckets
				? 100 * (double)facts->nr_low_buckets / (double)facts->nr_buckets
				: 0;
	result->of = "parts of the recording";
	result->mask = ADVICE_ALL_WHENS;
	buf_printf(&result->evidence, "%" PRIu64 " of %" PRIu64 " parts", facts->nr_low_buckets,
		facts->nr_buckets);
}
