/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judges of advice.def: a function for each way of judging, which several rules may share.
 * judgement.c calls advice_judge for each rule and each process once facts.c has all facts; the
 * view `advice` shows the results.
 *
 * A judge reads facts and the rule's threshold, and sets verdict, share, cost and evidence. What a
 * stream does not have is never taken for zero: the rule is then not judged, and the evidence says
 * what is missing.
 */
#include "report/advice/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/budget/placement.h"
#include "report/model/device_records.h"
#include "report/model/kernel_class.h"
#include "report/util/text.h"
#include "report/util/rate.h"

/* A judge of advice.def, which may serve several rules. Few need all that they get. */
#define UNUSED __attribute__((unused))
#define ADVICE_JUDGE(name)                                                                      \
	static void judge_##name(UNUSED const struct advice_rule *rule,                         \
		UNUSED const struct advice_facts *facts, UNUSED const struct advice_facts *all, \
		UNUSED size_t nr_all, UNUSED const struct advice_sum *sum,                      \
		struct advice_result *result)

#define ADVICE(name, source, threshold, judge, needs, of, cause, ...) ADVICE_JUDGE(judge);
#include "report/advice/advice.def"
#undef ADVICE

/* Bits of all values of enum advice_when. */
#define ADVICE_ALL_WHENS ((1u << NR_ADVICE_WHENS) - 1)

const char *const advice_verdict_names[] = {[ADVICE_FINDING] = "finding",
	[ADVICE_PASSED] = "passed",
	[ADVICE_NOT_JUDGED] = "not judged"};

#define ADVICE(                                                                                \
	name, source, threshold, judge, needs, of, cause, evidence_of, problem, fires, remedy) \
	{name, source, threshold, problem, fires, remedy, judge_##judge, ADVICE_NEEDS_##needs, \
		ADVICE_OF_##of, cause, evidence_of},
const struct advice_rule advice_rules[] = {
#include "report/advice/advice.def"
};
#undef ADVICE
const size_t advice_nr_rules = sizeof(advice_rules) / sizeof(advice_rules[0]);

/* Leaves the rule not judged, and says why. */
static void skip(struct advice_result *result, const char *why)
{
	result->verdict = ADVICE_NOT_JUDGED;
	buf_text(&result->evidence, why);
}

/* ---- results ---- */

void advice_add_time(struct buf *out, double ns)
{
	char text[TEXT_TIME_BYTES];

	buf_text(out, text_time(text, ns));
}

/* "steps", or "the recording". */
static const char *base(const struct advice_facts *facts)
{
	return facts->nr_steps ? "steps" : "the recording";
}

void advice_add_count(struct buf *out, uint64_t nr, const char *what)
{
	buf_printf(out, "%" PRIu64 " %s%s", nr, what, nr == 1 ? "" : "s");
}

/* Sets the share of a part in a whole, says both, and returns it. */
static double set_share(
	struct advice_result *result, uint64_t part_ns, uint64_t whole_ns, const char *of)
{
	result->of = of;
	result->share = whole_ns ? 100 * (double)part_ns / (double)whole_ns : 0;
	advice_add_time(&result->evidence, (double)part_ns);
	buf_text(&result->evidence, " of ");
	advice_add_time(&result->evidence, (double)whole_ns);
	return result->share;
}

/*
 * Divides time on all devices into that of one of them on average, which compares with the time of
 * a step.
 */
static uint64_t per_device(const struct advice_facts *facts, uint64_t ns)
{
	return facts->nr_devices ? ns / facts->nr_devices : 0;
}

static const char *device_base(const struct advice_facts *facts)
{
	return facts->nr_steps ? "GPUs' time in steps" : "GPUs' time in the recording";
}

/* Fires above the rule's threshold. */
static void judge_part(const struct advice_rule *rule, struct advice_result *result,
	uint64_t part_ns, uint64_t whole_ns, const char *of)
{
	result->verdict = set_share(result, part_ns, whole_ns, of) > rule->threshold
				  ? ADVICE_FINDING
				  : ADVICE_PASSED;
	result->cost_ns = part_ns;
}

/* Returns true, and leaves the rule not judged, if nothing is known of devices. */
static bool lacks_devices(const struct advice_facts *facts, struct advice_result *result)
{
	if (facts->has_gpu && facts->nr_devices) {
		return false;
	}
	skip(result, "no GPU activities were recorded");
	if (*facts->why_no_gpu) {
		buf_printf(&result->evidence, ": %s", facts->why_no_gpu);
	}
	return true;
}

/* A device may have worked without a recorded activity. */
static bool lacks_activities(const struct advice_facts *facts, struct advice_result *result)
{
	if (!budget_has_lost(&facts->launches)) {
		return false;
	}
	skip(result, "");
	budget_add_lost(&facts->launches, &result->evidence);
	return true;
}

static bool lacks_gaps(const struct advice_facts *facts, struct advice_result *result)
{
	if (facts->lacks_gaps) {
		skip(result, "too many events of one step overlap");
	}
	return facts->lacks_gaps || lacks_activities(facts, result);
}

static bool lacks_need(
	enum advice_need needs, const struct advice_facts *facts, struct advice_result *result)
{
	return (needs >= ADVICE_NEEDS_DEVICES && lacks_devices(facts, result)) ||
	       (needs == ADVICE_NEEDS_ACTIVITIES && lacks_activities(facts, result)) ||
	       (needs == ADVICE_NEEDS_GAPS && lacks_gaps(facts, result));
}

void advice_judge(const struct advice_rule *rule, const struct advice_facts *facts, size_t nr_facts,
	size_t at, struct advice_result *result)
{
	const struct advice_facts *one = &facts[at];
	const unsigned int masks[] = {[ADVICE_OF_BASE] = one->base_mask,
		[ADVICE_OF_LATER] = one->later_mask,
		[ADVICE_OF_ALL] = ADVICE_ALL_WHENS};
	struct advice_sum sum = {0};

	*result = (struct advice_result){.share = -1,
		.problem = rule->problem,
		.remedy = rule->remedy,
		.cause = rule->cause,
		.mask = masks[rule->of]};
	if (rule->cause < NR_ADVICE_CAUSES) {
		sum = advice_sites_sum(&one->sites, rule->cause, result->mask);
	}
	if (rule->evidence_of == VERDICT_LOADER && !one->is_training) {
		skip(result, "no training was seen: neither backward nor an optimizer");
	} else if (!lacks_need(rule->needs, one, result)) {
		rule->judge(rule, one, facts, nr_facts, &sum, result);
	}
}

/* Judges time on all devices together in the same way, in steps if there are any. */
static void judge_device_part(const struct advice_rule *rule, const struct advice_facts *facts,
	struct advice_result *result, uint64_t part_ns)
{
	judge_part(rule, result, part_ns, facts->device_ns, device_base(facts));
}

/* ---- judges of time: by its cause, of loaders and of devices ---- */

/*
 * A call and the copy that it makes take different times. The sum of the cause has one of them;
 * this adds the other one.
 */
static void add_other_time(const struct advice_rule *rule, const struct advice_facts *facts,
	struct advice_result *result)
{
	static const char copies[] = "; that is the copies' time, their calls on the host took ";
	static const char calls[] = "; that is the calls' time on the host, the copies took ";
	static const char sets[] = "; that is the calls' time on the host, the memsets took ";
	static const char *const texts[NR_ADVICE_CAUSES] = {[ADVICE_PAGEABLE] = copies,
		[ADVICE_SMALL_COPY] = copies,
		[ADVICE_PAGEABLE_ASYNC] = calls,
		[ADVICE_COPY_SYNC] = calls,
		[ADVICE_SET_SYNC] = sets};
	uint64_t ns = 0;

	for (unsigned int i = 0; i < NR_ADVICE_WHENS; i++) {
		ns += result->mask & 1u << i ? facts->other_ns[rule->cause][i] : 0;
	}
	if (texts[rule->cause]) {
		buf_text(&result->evidence, texts[rule->cause]);
		advice_add_time(&result->evidence, (double)ns);
	}
}

/* ---- by cause alone ---- */

ADVICE_JUDGE(share_of_base)
{
	judge_part(rule, result, sum->ns, facts->base_ns, base(facts));
	buf_text(&result->evidence, ", ");
	advice_add_count(&result->evidence, sum->nr, "time");
	add_other_time(rule, facts, result);
}

ADVICE_JUDGE(later_share)
{
	bool has_first = facts->base_mask & 1u << ADVICE_FIRST;

	if (!facts->nr_steps || facts->nr_steps == has_first) {
		skip(result, "no step follows the first");
		return;
	}
	judge_part(
		rule, result, sum->ns, facts->base_ns - facts->first_ns, "steps after the first");
	buf_text(&result->evidence, ", ");
	advice_add_count(&result->evidence, sum->nr, "time");
}

/* Judges what nsys lists wherever it comes, in the whole recording, as nsys does. */
ADVICE_JUDGE(any_time)
{
	result->verdict = sum->nr ? ADVICE_FINDING : ADVICE_PASSED;
	result->cost_ns = sum->ns;
	advice_add_time(&result->evidence, (double)sum->ns);
	buf_text(&result->evidence, " in the whole recording, ");
	advice_add_count(&result->evidence, sum->nr, "time");
	add_other_time(rule, facts, result);
}

/* ---- loader ---- */

/* Judges as the plugin does: what runs on devices meanwhile is not the loader's. */
ADVICE_JUDGE(loader)
{
	if (!facts->has_loader) {
		skip(result,
			facts->has_ops ? "no data loader was seen" : "no operators were recorded");
		return;
	}
	if (!facts->has_gpu || !facts->nr_devices) {
		judge_part(rule, result, facts->loader_ns, facts->base_ns, base(facts));
		return;
	}
	if (lacks_gaps(facts, result)) {
		return;
	}
	judge_part(rule, result, facts->starved_ns, facts->base_ns, base(facts));
	buf_text(&result->evidence, " while the GPU was idle; in total the loop waited for ");
	advice_add_time(&result->evidence, (double)facts->loader_ns);
}

/* ---- devices ---- */

/* Chooses by the kind of collective that takes most time: each hides behind something else. */
static const char *communication_remedy(
	const struct advice_rule *rule, const struct advice_facts *facts)
{
	static const struct {
		const char *kernel, *remedy;
	} kinds[] = {
		{"AllToAll",
			"overlap the all-to-all with computation that does not need it (dense "
			"layers, shared experts, another micro-batch), balance its sizes, or send "
			"fewer bytes"},
		{"SendRecv",
			"overlap sends and receives (all-to-all, pipeline) with computation that "
			"does not need them, balance their sizes, or send fewer bytes"},
		{"AllGather",
			"gather parameters earlier (FSDP: forward_prefetch, backward_prefetch, "
			"limit_all_gathers=False), shard less, or send fewer bytes"},
		{"ReduceScatter",
			"reduce during backward (FSDP: backward_prefetch, larger units), shard "
			"less, or send fewer bytes"},
		{"Broadcast", "broadcast once, before the loop (DistributedDataParallel: "
			      "broadcast_buffers=False), or send fewer bytes"},
	};
	const char *kernel =
		advice_sites_top(&facts->sites, ADVICE_COMMUNICATION, facts->base_mask);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcasestr(kernel, kinds[i].kernel)) {
			return kinds[i].remedy;
		}
	}
	return rule->remedy;
}

ADVICE_JUDGE(communication)
{
	result->remedy = communication_remedy(rule, facts);
	judge_device_part(rule, facts, result, overlap_any(&facts->times, OVERLAP_COMMUNICATION));
}

/* Fires below the threshold; what it costs is the rest. */
static void judge_use(const struct advice_rule *rule, const struct advice_facts *facts,
	struct advice_result *result, uint64_t used_ns)
{
	buf_text(&result->evidence, "busy for ");
	judge_device_part(rule, facts, result, used_ns);
	result->verdict = result->share < rule->threshold ? ADVICE_FINDING : ADVICE_PASSED;
	result->cost_ns = facts->device_ns > used_ns ? facts->device_ns - used_ns : 0;
}

ADVICE_JUDGE(utilization)
{
	judge_use(rule, facts, result,
		overlap_any(&facts->times, OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION));
}

ADVICE_JUDGE(compute_utilization)
{
	judge_use(rule, facts, result, overlap_any(&facts->times, OVERLAP_COMPUTATION));
}

ADVICE_JUDGE(copy_overlap)
{
	judge_device_part(rule, facts, result, facts->times.ns[OVERLAP_MEMORY]);
}

/*
 * A kernel that runs beside another one is in the sum of both, but once in the union: the
 * difference is the time of kernels beside others.
 */
ADVICE_JUDGE(concurrency)
{
	uint64_t union_ns = 0;

	if (facts->places.nr <= facts->nr_devices) {
		skip(result, "one stream runs all kernels of a GPU");
		return;
	}
	union_ns = facts->kernel_union_ns;
	set_share(result, facts->kernel_ns > union_ns ? facts->kernel_ns - union_ns : 0,
		facts->kernel_ns, "kernel time");
	buf_text(&result->evidence, " concurrent with another kernel");
	result->verdict = result->share < rule->threshold ? ADVICE_FINDING : ADVICE_PASSED;
}

ADVICE_JUDGE(copy_rate)
{
	double rate = rate_gb_of((double)facts->copied_bytes, sum->ns);

	if (!sum->ns) {
		skip(result, "no copy of 1 MB or more between host and device");
		return;
	}
	buf_printf(&result->evidence, "%.2f GB/s over %" PRIu64 " copies, ", rate, sum->nr);
	advice_add_time(&result->evidence, (double)sum->ns);
	result->verdict = rate < rule->threshold ? ADVICE_FINDING : ADVICE_PASSED;
	result->cost_ns = sum->ns;
}

ADVICE_JUDGE(gaps)
{
	judge_part(rule, result, sum->ns, facts->base_ns, base(facts));
	result->verdict = sum->nr ? ADVICE_FINDING : ADVICE_PASSED;
	buf_text(&result->evidence, ", ");
	advice_add_count(&result->evidence, sum->nr, "gap");
	buf_text(&result->evidence, " above ");
	advice_add_time(&result->evidence, (double)facts->gap_limit_ns);
	buf_text(&result->evidence, "; the longest is ");
	advice_add_time(&result->evidence, (double)facts->longest_gap_ns);
}

ADVICE_JUDGE(buckets)
{
	if (!facts->nr_buckets) {
		skip(result, "only a part of the recording is selected");
		return;
	}
	result->verdict = facts->nr_low_buckets ? ADVICE_FINDING : ADVICE_PASSED;
	result->cost_ns = facts->nr_low_buckets; /* all buckets have the same length */
	result->share = facts->nr_buckets
				? 100 * (double)facts->nr_low_buckets / (double)facts->nr_buckets
				: 0;
	result->of = "parts of the recording";
	buf_printf(&result->evidence, "in %" PRIu64 " of %" PRIu64 " parts", facts->nr_low_buckets,
		facts->nr_buckets);
}

/* ---- kernels ---- */

/* GPUs before capability 8.0 multiply only float16 on tensor cores. */
static const char *tensor_core_remedy(const struct advice_facts *facts)
{
	return facts->capability >= 80
		       ? "use torch.autocast (AMP) with bfloat16 or float16; for float32, TF32 "
			 "(torch.backends.cuda.matmul.allow_tf32, "
			 "torch.backends.cudnn.allow_tf32); use sizes that are multiples of 8"
	       : facts->capability
		       ? "use torch.autocast (AMP) with float16 and torch.amp.GradScaler; use "
			 "sizes that are multiples of 8"
		       : "use torch.autocast (AMP) with float16; use sizes that are multiples of 8";
}

/*
 * Fires only where it is sure that no kernel used tensor cores: if more than a tenth of the time is
 * of kernels whose names do not show it, the rule is not judged.
 */
ADVICE_JUDGE(tensor_cores)
{
	if (!facts->capability) {
		skip(result, "the GPU's compute capability is not recorded");
		return;
	}
	result->remedy = tensor_core_remedy(facts);
	if (facts->capability < 70) {
		skip(result, "the GPU has no tensor cores");
		return;
	}
	if (!facts->eligible_ns) {
		skip(result, "no kernel multiplies matrices");
		return;
	}
	if (!facts->tensor_ns[TENSOR_YES] && facts->unknown_ns > facts->eligible_ns / 10) {
		skip(result, "the kernel names do not show it");
		return;
	}
	result->verdict = facts->tensor_ns[TENSOR_YES] ? ADVICE_PASSED : ADVICE_FINDING;
	set_share(result, facts->tensor_ns[TENSOR_YES], facts->kernel_ns, "kernel time");
	buf_text(&result->evidence,
		" with tensor cores; in multiplying kernels whose names do not show it: ");
	advice_add_time(&result->evidence, (double)facts->unknown_ns);
	result->cost_ns = sum->ns;
}

ADVICE_JUDGE(multiply)
{
	result->remedy = tensor_core_remedy(facts);
	if (facts->capability && facts->capability < 70) {
		skip(result, "the GPU has no tensor cores");
		return;
	}
	judge_part(rule, result, sum->ns, facts->kernel_ns, "kernel time");
	buf_text(&result->evidence, "; in multiplying kernels whose names do not show it: ");
	advice_add_time(&result->evidence, (double)facts->unknown_ns);
}

ADVICE_JUDGE(occupancy)
{
	if (facts->unjudged_ns >= facts->kernel_ns) {
		skip(result, "too little of the GPU or its kernels is recorded");
		return;
	}
	judge_part(rule, result, sum->ns, facts->kernel_ns, "kernel time");
	if (sum->nr) {
		buf_text(&result->evidence, "; limited by: ");
		advice_sites_add_text(&facts->limits, ADVICE_OCCUPANCY, ADVICE_ALL_WHENS,
			facts->process, NULL, &result->evidence);
	}
}

/* ---- memory and processes ---- */

/*
 * Judges the device that is fullest, by what its allocator reserved or by what samples showed,
 * whichever is more.
 */
ADVICE_JUDGE(memory)
{
	uint64_t peak_bytes = 0, total_bytes = 0;

	for (uint32_t i = 0; i < ADVICE_MAX_DEVICES; i++) {
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
		skip(result, "the peak or the size of the GPU memory is not recorded");
		return;
	}
	result->verdict = result->share > rule->threshold ? ADVICE_FINDING : ADVICE_PASSED;
	result->of = "the device's memory";
	buf_printf(&result->evidence, "%.3f of %.3f GB", (double)peak_bytes / 1e9,
		(double)total_bytes / 1e9);
}

ADVICE_JUDGE(data_parallel)
{
	if (!facts->has_ops) {
		skip(result, "no operators were recorded");
		return;
	}
	result->verdict = facts->uses_data_parallel ? ADVICE_FINDING : ADVICE_PASSED;
	buf_text(&result->evidence, facts->uses_data_parallel
					    ? "DataParallel.forward was seen"
					    : "DataParallel.forward was not seen");
}

/*
 * NCCL was used if its collectives or its kernels were seen: the former need operators, the latter
 * a GPU.
 */
ADVICE_JUDGE(ddp_nccl)
{
	bool has_nccl = facts->uses_nccl || overlap_any(&facts->times, OVERLAP_COMMUNICATION);

	if (!facts->has_ops) {
		skip(result, "no operators were recorded");
	} else if (!facts->uses_ddp) {
		skip(result, "DistributedDataParallel is not used");
	} else if (!facts->has_gpu) {
		skip(result, facts->why_no_gpu);
	} else if (process_device_maker(facts->process) == DEVICE_MAKER_OTHER) {
		skip(result, "NCCL is for GPUs of NVIDIA and AMD");
	} else if (facts->capability && facts->capability < 35) {
		skip(result, "the GPU is too old for NCCL");
	} else {
		result->verdict = has_nccl ? ADVICE_PASSED : ADVICE_FINDING;
		buf_text(&result->evidence, has_nccl ? "NCCL was seen"
					    : facts->uses_gloo
						    ? "collectives of gloo were seen, none of NCCL"
						    : "no collective of NCCL was seen");
	}
}

/* ---- stragglers ---- */

/* The words for each cause: whose it is, what takes longer there, and what may help. */
static const struct {
	const char *whose, *longer, *later;
	enum straggler_figure figure;
	const char *remedy;
} straggler_words[NR_STRAGGLER_CAUSES] = {
	[STRAGGLER_LOADER] = {", whose data loader takes longer", "its data loader takes ",
		" longer", (enum straggler_figure)(STRAGGLER_PHASES + PHASE_DATALOADER),
		"give its loader as much CPU and storage as those of the others; see the views "
		"data-loading and data-loading-steps"},
	[STRAGGLER_HOST] = {", whose host takes longer", "its GPU is idle ", " longer",
		STRAGGLER_IDLE,
		"look for other programs on its cores (view utilization) and pin its threads; "
		"compare its operators with those of another rank (diff)"},
	[STRAGGLER_KERNELS] = {", whose kernels take longer", "its kernels take ", " longer",
		STRAGGLER_COMPUTATION,
		"balance shapes and work between the ranks; compare its kernels with those of "
		"another rank (diff)"},
	[STRAGGLER_CLOCK] = {", whose GPU clock is lower", "its kernels take ",
		" longer, at a lower clock", STRAGGLER_COMPUTATION,
		"check temperature, power limit and clocks of its GPU (nvidia-smi -q -d "
		"PERFORMANCE,CLOCK)"},
	[STRAGGLER_COPIED] = {", whose copies take longer", "its copies take ", " longer",
		STRAGGLER_COPIES,
		"check the PCIe link of its GPU and bind it to the GPU's NUMA node (nvidia-smi "
		"topo -m, numactl)"},
	[STRAGGLER_OPERATORS] = {", whose operators are slower", "its operators take ", " longer",
		STRAGGLER_COMPUTATION,
		"give it as many cores as the others; compare its operators with those of another "
		"rank (diff)"},
	[STRAGGLER_LATE] = {", which begins steps later", "it begins its steps ", " later",
		STRAGGLER_BEGIN,
		"look at what it does between the steps that the others do not: logging, "
		"checkpoints, evaluation; see the timeline"},
};

const char *advice_straggler_because(enum straggler_cause cause)
{
	return straggler_words[cause].whose ? straggler_words[cause].whose : "";
}

static void add_straggler_cause(const struct straggler *straggler, struct buf *out)
{
	if (!straggler_words[straggler->cause].longer) {
		buf_text(out, straggler->has_lost
				      ? "; activities of its GPU are lost, so why is unknown"
				      : "; nothing that it does longer explains that");
		return;
	}
	buf_printf(out, "; %s", straggler_words[straggler->cause].longer);
	advice_add_time(out, straggler->mean_ns[straggler_words[straggler->cause].figure]);
	buf_text(out, straggler_words[straggler->cause].later);
	if (straggler->phase >= 0 && straggler->cause != STRAGGLER_LOADER) {
		buf_printf(out, ", mostly in %s", phase_names[straggler->phase]);
	}
}

/* As "ranks wait for rank 7, which begins steps later". */
static const char *straggler_problem(
	const struct advice_rule *rule, const struct advice_facts *facts)
{
	char text[128];
	int length;

	if (facts->process->rank < 0) {
		return rule->problem;
	}
	length = snprintf(text, sizeof(text), "ranks wait for rank %" PRId64 "%s",
		facts->process->rank, advice_straggler_because(facts->straggler->cause));
	return string_pool_text(string_pool_intern(text, (size_t)length), NULL);
}

/* Judges by steps, as the view stragglers does. */
static void judge_steps(const struct advice_rule *rule, const struct advice_facts *facts,
	struct advice_result *result)
{
	const struct straggler *straggler = facts->straggler;

	if (!straggler->nr_delayed) {
		result->verdict = ADVICE_PASSED;
		buf_printf(&result->evidence, "others wait for it in %zu of %zu steps",
			straggler->nr_late, straggler->nr_compared);
		return;
	}
	judge_part(rule, result, straggler->delay_ns / straggler->nr_delayed,
		straggler->delayed_ns / straggler->nr_delayed, "a step");
	result->cost_ns = straggler->delay_ns;
	buf_printf(&result->evidence, ", in which the others wait for it in %zu of %zu steps",
		straggler->nr_late, straggler->nr_compared);
	add_straggler_cause(straggler, &result->evidence);
	result->problem = straggler_problem(rule, facts);
	if (straggler_words[straggler->cause].remedy) {
		result->remedy = straggler_words[straggler->cause].remedy;
	}
}

/*
 * Communication ends together, so the rank that comes last waits least. Only ranks with work on
 * devices are compared.
 */
ADVICE_JUDGE(stragglers)
{
	uint64_t own_ns = 0, most_ns = 0;
	size_t nr_ranks = 0;

	for (size_t i = 0; i < nr_all; i++) {
		uint64_t ns =
			per_device(&all[i], overlap_any(&all[i].times, OVERLAP_COMMUNICATION));

		if (all[i].process->rank >= 0 && ns) {
			nr_ranks++;
			most_ns = ns > most_ns ? ns : most_ns;
			own_ns = &all[i] == facts ? ns : own_ns;
		}
	}
	if (nr_ranks < 2 || !own_ns) {
		skip(result, nr_ranks < 2 ? "fewer than two ranks communicate"
					  : "this rank does not communicate");
	} else if (facts->straggler) {
		judge_steps(rule, facts, result);
	} else {
		judge_part(rule, result, most_ns - own_ns, facts->base_ns, base(facts));
		buf_printf(&result->evidence, " in which others of %zu ranks wait for this one",
			nr_ranks);
	}
}

/* ---- NUMA ---- */

/* What is on which node says nothing of how much faster the near one is. */
static void judge_far(const struct advice_rule *rule, const struct advice_facts *facts,
	bool is_memory, struct advice_result *result)
{
	const struct placement placement = placement_of(facts->process);
	const struct numa_share *share = is_memory ? &placement.pinned : &placement.threads;
	double far_pct = placement_far_pct(&placement, share);

	if (far_pct < 0) {
		skip(result, placement.nr_nodes == 1 ? "the host has one NUMA node"
			     : placement.gpu_node == NUMA_NODE_UNKNOWN
				     ? "the NUMA node of the GPU is not known"
				     : "their NUMA nodes are not known");
		return;
	}
	result->verdict = far_pct > rule->threshold ? ADVICE_FINDING : ADVICE_PASSED;
	result->share = far_pct;
	result->of = is_memory ? "pages of pinned memory" : "CPU time of these threads";
	buf_printf(&result->evidence, "%s mostly on NUMA node %d, the GPU is at node %d",
		is_memory ? "pinned memory is" : "the threads run", share->node,
		placement.gpu_node);
}

ADVICE_JUDGE(far_threads)
{
	judge_far(rule, facts, false, result);
}

ADVICE_JUDGE(far_memory)
{
	judge_far(rule, facts, true, result);
}

/* ---- never ---- */

ADVICE_JUDGE(not_linux)
{
	skip(result, "DirectX is not used on Linux");
}

ADVICE_JUDGE(no_counters)
{
	skip(result, "hardware counters are not recorded");
}
