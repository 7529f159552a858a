/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advice/result.h"

#include <inttypes.h>

#include "report/table/print.h"

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
