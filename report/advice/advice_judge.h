/* SPDX-License-Identifier: Apache-2.0 */
/* What the judges of advice.def share: how a result is filled. */
#ifndef REPORT_ADVICE_ADVICE_JUDGE_H
#define REPORT_ADVICE_ADVICE_JUDGE_H

#include "report/advice/advice.h"

/* A judge of advice.def; which one is judged is all[at]. */
#define ADVICE_JUDGE(name)                                                                       \
	void advice_judge_##name(const struct advice_rule *rule, const struct advice_facts *all, \
		size_t nr_all, size_t at, struct advice_result *result)

/* A judge may serve several rules. */
#define ADVICE(name, source, threshold, judge, cause, time, fires, remedy) ADVICE_JUDGE(judge);
#include "report/advice/advice.def"
#undef ADVICE

/* Of all times there are. */
#define ADVICE_ALL_WHENS ((1u << NR_ADVICE_WHENS) - 1)

/* Not judged, and why. */
void advice_skip(struct advice_result *result, const char *why);

/* True, and not judged, if nothing is known of devices. */
bool advice_lacks_devices(const struct advice_facts *facts, struct advice_result *result);

/* "steps", or "the recording". */
const char *advice_base(const struct advice_facts *facts);

/* Of time on all devices: of one of them on average, as steps are. */
uint64_t advice_per_device(const struct advice_facts *facts, uint64_t ns);

/* As "12.345ms". */
void advice_add_time(struct buf *out, uint64_t ns);

/* As "1 gap", "3 gaps". */
void advice_add_count(struct buf *out, uint64_t nr, const char *what);

/* Sets the share of a part in a whole, says both, and returns it. */
double advice_set_share(
	struct advice_result *result, uint64_t part_ns, uint64_t whole_ns, const char *of);

/* What it costs, of which whole. */
void advice_set_stake(
	struct advice_result *result, uint64_t stake_ns, uint64_t whole_ns, const char *of);

/* The same for time on all devices together: of one of them on average. */
void advice_set_device_stake(
	const struct advice_facts *facts, struct advice_result *result, uint64_t stake_ns);

/* Fires above the rule's threshold; what it costs is all of the part. */
void advice_judge_part(const struct advice_rule *rule, struct advice_result *result,
	uint64_t part_ns, uint64_t whole_ns, const char *of);

/* The same for time on all devices together, in steps if there are any. */
void advice_judge_device_part(const struct advice_rule *rule, const struct advice_facts *facts,
	struct advice_result *result, uint64_t part_ns);

#endif
