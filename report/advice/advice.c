/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advice/advice.h"

#include "report/advice/result.h"

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
