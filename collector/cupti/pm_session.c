/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of CUPTI in the order that it wants. Each returns CUPTI's code; the first that fails
 * ends a sequence, and `failed` has its name.
 */
#include "collector/cupti/pm_session.h"

#include <string.h>
#include <sys/mman.h>

#include "collector/cupti/cupti.h"
#include "collector/cupti/share_clock.h"
#include "collector/format/format.h"
#include "collector/stream/batch.h"
#include "collector/util/clock.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"

/* Samples that one round decodes; about 18 KiB of memory each. */
#define ROUND_SAMPLES 1024u
/* One decode has no more rounds, so that the drain thread returns to its other work. */
#define NR_ROUNDS   4u
#define LAST_ROUNDS 64u
/* The buffer into which the GPU writes between two decodes. */
#define BUFFER_BYTES (64u << 20)
#define MAX_IMAGE    (64u << 20)
/* A GPU time that is further from CUPTI's clock belongs to another clock. */
#define FAR_NS 60000000000u
/* A larger value is an error of CUPTI. */
#define MAX_VALUE 1e15

#define PM_METRIC(name, suffix, metric, factor, is_default) \
	{#name, #name suffix, factor, GPROF_METRIC_##metric, is_default},
const struct pm_metric pm_metrics[PM_NR_METRICS] = {
#include "collector/cupti/pm_metrics.def"
};
#undef PM_METRIC
_Static_assert(PM_NR_METRICS <= 32, "a bit for each in struct pm_session");

/* Calls a function of CUPTI with its structure, whose last field is `last`. */
#define CALL(session, function, type, last, params)                            \
	((params)->size = PM_BYTES(type, last), (session)->failed = #function, \
		cupti.function ? cupti.function(params) : (uint32_t)CUPTI_NOT_SUPPORTED)

static uint32_t map(uint8_t **memory, size_t *nr_bytes, size_t wanted)
{
	*memory = memory_map(wanted);
	*nr_bytes = *memory ? wanted : 0;
	return *memory ? CUPTI_OK : CUPTI_OUT_OF_MEMORY;
}

static void unmap(uint8_t **memory, size_t *nr_bytes)
{
	if (*memory) {
		munmap(*memory, *nr_bytes);
	}
	*memory = NULL;
	*nr_bytes = 0;
}

/* ---- metrics ---- */

static uint32_t find_chip(struct pm_session *s)
{
	struct pm_chip_name chip = {.device = s->device};
	struct pm_availability counters = {.device = s->device};
	uint32_t code = CALL(s, cuptiDeviceGetChipName, pm_chip_name, name, &chip);

	s->chip = chip.name;
	code = code ? code
		    : CALL(s, cuptiPmSamplingGetCounterAvailability, pm_availability, image,
			      &counters);
	code = code ? code : map(&s->availability, &s->availability_bytes, counters.image_bytes);
	counters.image = s->availability;
	return code ? code
		    : CALL(s, cuptiPmSamplingGetCounterAvailability, pm_availability, image,
			      &counters);
}

static void end_host(struct pm_session *s)
{
	struct pm_host host = {.host = s->host};
	const char *failed = s->failed;

	if (s->host) {
		CALL(s, cuptiProfilerHostDeinitialize, pm_host, host, &host);
	}
	s->host = NULL;
	s->failed = failed;
	unmap(&s->config, &s->config_bytes);
}

static uint32_t configure(struct pm_session *s, size_t *nr_passes)
{
	struct pm_config_size size = {.host = s->host};
	struct pm_config config = {.host = s->host};
	struct pm_passes passes = {0};
	uint32_t code =
		CALL(s, cuptiProfilerHostGetConfigImageSize, pm_config_size, config_bytes, &size);

	code = code ? code : map(&s->config, &s->config_bytes, size.config_bytes);
	config.config = passes.config = s->config;
	config.config_bytes = passes.config_bytes = s->config_bytes;
	code = code ? code : CALL(s, cuptiProfilerHostGetConfigImage, pm_config, config, &config);
	code = code ? code
		    : CALL(s, cuptiProfilerHostGetNumOfPasses, pm_passes, nr_passes, &passes);
	*nr_passes = passes.nr_passes;
	return code;
}

/* Makes the host object for the first `nr` of the names. is_unknown: the GPU lacks one of them. */
static uint32_t make_host(
	struct pm_session *s, unsigned int nr, bool *is_unknown, size_t *nr_passes)
{
	struct pm_host_initialize init = {
		.type = PM_PROFILER_TYPE, .chip = s->chip, .availability = s->availability};
	struct pm_add_metrics add = {.names = s->names, .nr_names = nr};
	uint32_t code;

	end_host(s);
	*is_unknown = false;
	code = CALL(s, cuptiProfilerHostInitialize, pm_host_initialize, host, &init);
	if (code) {
		return code;
	}
	s->host = add.host = init.host;
	code = CALL(s, cuptiProfilerHostConfigAddMetrics, pm_add_metrics, nr_names, &add);
	*is_unknown = code == CUPTI_INVALID_PARAMETER || code == PM_INVALID_METRIC_NAME;
	return code ? code : configure(s, nr_passes);
}

static void choose(struct pm_session *s, unsigned int index)
{
	s->metrics[s->nr_metrics] = (uint8_t)index;
	s->names[s->nr_metrics++] = pm_metrics[index].name;
}

/* One after the other: leaves out what the GPU lacks, and what would need another pass. */
static uint32_t choose_possible(struct pm_session *s, uint32_t metrics)
{
	uint32_t code = CUPTI_OK;
	bool is_unknown;
	size_t nr_passes;

	s->nr_metrics = 0;
	for (unsigned int i = 0; i < PM_NR_METRICS; i++) {
		if (!(metrics & 1u << i)) {
			continue;
		}
		choose(s, i);
		code = make_host(s, s->nr_metrics, &is_unknown, &nr_passes);
		if (code && !is_unknown) {
			return code;
		}
		if (is_unknown || nr_passes > 1) {
			*(is_unknown ? &s->unknown : &s->in_more_passes) |= 1u << i;
			s->nr_metrics--;
		}
	}
	if (!s->nr_metrics) {
		s->failed = NULL;
		return code ? code : CUPTI_NOT_SUPPORTED;
	}
	/* The last one may have been left out. */
	return make_host(s, s->nr_metrics, &is_unknown, &nr_passes);
}

/* Mostly all fit at once. */
static uint32_t choose_metrics(struct pm_session *s, uint32_t metrics)
{
	bool is_unknown;
	size_t nr_passes;
	uint32_t code;

	for (unsigned int i = 0; i < PM_NR_METRICS; i++) {
		if (metrics & 1u << i) {
			choose(s, i);
		}
	}
	code = make_host(s, s->nr_metrics, &is_unknown, &nr_passes);
	return is_unknown || (!code && nr_passes > 1) ? choose_possible(s, metrics) : code;
}

/* ---- the sampler ---- */

/* Turing and GA100 count clocks, here taken as 1 ns each. Samples have their own times anyway. */
static bool has_time_trigger(const char *chip)
{
	return strcmp(chip, "GA100") && strncmp(chip, "TU", 2);
}

static uint32_t enable(struct pm_session *s, uint32_t interval_us)
{
	struct pm_enable enable = {.device = s->device};
	struct pm_set_config config = {.config = s->config,
		.config_bytes = s->config_bytes,
		.buffer_bytes = BUFFER_BYTES,
		.interval = interval_us * 1000ull,
		.trigger = has_time_trigger(s->chip) ? PM_TRIGGER_TIME : PM_TRIGGER_SYSCLK,
		.append_mode = PM_KEEP_OLDEST};
	uint32_t code = CALL(s, cuptiPmSamplingEnable, pm_enable, sampler, &enable);

	if (code) {
		return code;
	}
	s->sampler = config.sampler = enable.sampler;
	return CALL(s, cuptiPmSamplingSetConfig, pm_set_config, append_mode, &config);
}

static uint32_t empty_image(struct pm_session *s)
{
	struct pm_image image = {
		.sampler = s->sampler, .image = s->image, .image_bytes = s->image_bytes};

	return CALL(s, cuptiPmSamplingCounterDataImageInitialize, pm_image, image, &image);
}

static uint32_t make_image(struct pm_session *s)
{
	struct pm_image_size size = {.sampler = s->sampler,
		.names = s->names,
		.nr_names = s->nr_metrics,
		.max_samples = 2 * ROUND_SAMPLES};
	uint32_t code = CUPTI_OK;

	do {
		size.max_samples /= 2;
		code = CALL(
			s, cuptiPmSamplingGetCounterDataSize, pm_image_size, image_bytes, &size);
	} while (!code && size.image_bytes > MAX_IMAGE && size.max_samples > 1);
	code = code ? code : map(&s->image, &s->image_bytes, size.image_bytes);
	return code ? code : empty_image(s);
}

uint32_t pm_session_begin(struct pm_session *s, int device, uint32_t metrics, uint32_t interval_us)
{
	uint32_t code;

	*s = (struct pm_session){.device = (uint8_t)device};
	code = find_chip(s);
	code = code ? code : choose_metrics(s, metrics);
	code = code ? code : enable(s, interval_us);
	return code ? code : make_image(s);
}

uint32_t pm_session_start(struct pm_session *s)
{
	struct pm_sampler start = {.sampler = s->sampler};
	uint32_t code = CALL(s, cuptiPmSamplingStart, pm_sampler, sampler, &start);

	s->is_started = !code;
	s->times.is_first = true;
	return code;
}

/* ---- samples ---- */

uint64_t pm_times_take(
	struct pm_times *times, uint64_t start_ns, uint64_t end_ns, uint64_t *nr_lost)
{
	struct pm_times last = *times;
	uint64_t length_ns, gap_ns;

	*nr_lost = 0;
	if (end_ns <= last.end_ns) {
		return 0;
	}
	times->end_ns = end_ns;
	times->is_first = false;
	if (last.is_first || start_ns >= end_ns) {
		/* The gap counts, as far as the last length says how many fit in it. */
		gap_ns = last.end_ns && last.length_ns ? end_ns - last.end_ns : 0;
		*nr_lost = gap_ns ? (gap_ns + last.length_ns / 2) / last.length_ns : 0;
		return 0;
	}
	start_ns = start_ns > last.end_ns ? start_ns : last.end_ns;
	length_ns = end_ns - start_ns;
	gap_ns = last.end_ns ? start_ns - last.end_ns : 0;
	*nr_lost = (gap_ns + length_ns / 2) / length_ns;
	times->length_ns = length_ns;
	return length_ns;
}

static void add_row(uint64_t raw, uint8_t metric, uint8_t device, uint64_t value)
{
	struct gprof_row_sample *row = batch_add(GPROF_TABLE_sample);

	row->time = raw;
	row->value = value;
	row->metric = metric;
	row->device = device;
}

static void add_values(
	const struct pm_session *s, const double *values, uint64_t raw, uint64_t length_ns)
{
	add_row(raw, GPROF_METRIC_GPU_MEANS_NS, s->device, length_ns);
	for (unsigned int i = 0; i < s->nr_metrics; i++) {
		const struct pm_metric *metric = &pm_metrics[s->metrics[i]];
		double value = values[i] * metric->factor;

		if (value >= 0 && value <= MAX_VALUE) {
			add_row(raw, metric->metric, s->device, (uint64_t)(value + 0.5));
		}
	}
}

/* Converts times of the GPU to times of the stream. */
struct clocks {
	struct clock_anchor anchor;
	uint64_t monotonic_ns, cupti_ns; /* both clocks were read at the same moment */
};

static uint32_t take_sample(struct pm_session *s, size_t index, const struct clocks *clocks)
{
	struct pm_sample_info info = {.sampler = s->sampler,
		.image = s->image,
		.image_bytes = s->image_bytes,
		.index = index};
	double values[PM_NR_METRICS] = {0};
	struct pm_evaluate evaluate = {.host = s->host,
		.image = s->image,
		.image_bytes = s->image_bytes,
		.index = index,
		.names = s->names,
		.nr_names = s->nr_metrics,
		.values = values};
	uint64_t length_ns, nr_lost;
	uint32_t code =
		CALL(s, cuptiPmSamplingCounterDataGetSampleInfo, pm_sample_info, end_ns, &info);

	if (code) {
		return code;
	}
	length_ns = pm_times_take(&s->times, info.start_ns, info.end_ns, &nr_lost);
	loss_add(LOSS_PM_SAMPLE, nr_lost);
	if (!length_ns) {
		return CUPTI_OK;
	}
	if (info.end_ns + FAR_NS < clocks->cupti_ns || info.end_ns > clocks->cupti_ns + FAR_NS) {
		s->failed = NULL;
		return CUPTI_UNKNOWN;
	}
	code = CALL(s, cuptiProfilerHostEvaluateToGpuValues, pm_evaluate, values, &evaluate);
	if (!code) {
		add_values(s, values,
			clock_raw_before(&clocks->anchor,
				clocks->monotonic_ns - (clocks->cupti_ns - info.end_ns)),
			length_ns);
	}
	return code;
}

static uint32_t take_samples(struct pm_session *s, const struct clocks *clocks)
{
	struct pm_image_info info = {.image = s->image, .image_bytes = s->image_bytes};
	uint32_t code =
		CALL(s, cuptiPmSamplingGetCounterDataInfo, pm_image_info, nr_completed, &info);

	for (size_t i = 0; !code && i < info.nr_completed; i++) {
		code = take_sample(s, i, clocks);
	}
	return code ? code : empty_image(s);
}

/* A full buffer keeps its oldest samples and takes no more: it starts anew. */
static uint32_t start_anew(struct pm_session *s)
{
	struct pm_sampler stop = {.sampler = s->sampler};
	uint32_t code = CALL(s, cuptiPmSamplingStop, pm_sampler, sampler, &stop);

	s->is_started = false;
	return code ? code : pm_session_start(s);
}

/* has_more: the rounds were too few for all samples. */
static uint32_t decode(struct pm_session *s, unsigned int nr_rounds, bool *is_full, bool *has_more)
{
	struct pm_decode decode = {
		.sampler = s->sampler, .image = s->image, .image_bytes = s->image_bytes};
	struct clocks clocks;
	struct clock_pair pair;
	uint32_t code = CUPTI_OK;

	*is_full = *has_more = false;
	if (!s->is_started || !share_clock_read_pair(clock_monotonic_ns, cupti_timestamp, &pair)) {
		return CUPTI_OK;
	}
	clocks = (struct clocks){clock_take_anchor(), pair.ours, pair.theirs};
	for (unsigned int i = 0; !code && i < nr_rounds; i++) {
		code = CALL(s, cuptiPmSamplingDecodeData, pm_decode, overflow, &decode);
		*is_full |= decode.overflow;
		code = code ? code : take_samples(s, &clocks);
		*has_more = decode.stop_reason == PM_STOP_DATA_FULL;
		if (!*has_more) {
			break;
		}
	}
	return code;
}

uint32_t pm_session_decode(struct pm_session *s)
{
	bool is_full, has_more;
	uint32_t code = decode(s, NR_ROUNDS, &is_full, &has_more);

	return code || !is_full ? code : start_anew(s);
}

/* ---- the end ---- */

/* CUPTI loses what is not decoded before. What arrives meanwhile is a sample at most. */
uint32_t pm_session_stop(struct pm_session *s)
{
	struct pm_sampler stop = {.sampler = s->sampler};
	bool is_full, has_more;
	uint32_t code = decode(s, LAST_ROUNDS, &is_full, &has_more);

	if ((code || is_full || has_more) && s->times.length_ns) {
		uint64_t now_ns = cupti_timestamp();

		/* No later sample shows how many are missing. */
		loss_add(LOSS_PM_SAMPLE, now_ns > s->times.end_ns
						 ? (now_ns - s->times.end_ns) / s->times.length_ns
						 : 1);
	}
	if (s->is_started) {
		uint32_t stopped = CALL(s, cuptiPmSamplingStop, pm_sampler, sampler, &stop);

		code = code ? code : stopped;
	}
	s->is_started = false;
	s->times = (struct pm_times){0};
	return code;
}

void pm_session_forget(struct pm_session *s)
{
	unmap(&s->availability, &s->availability_bytes);
	unmap(&s->config, &s->config_bytes);
	unmap(&s->image, &s->image_bytes);
	*s = (struct pm_session){0};
}

void pm_session_end(struct pm_session *s)
{
	struct pm_sampler disable = {.sampler = s->sampler};

	if (s->is_started) {
		pm_session_stop(s);
	}
	if (s->sampler) {
		CALL(s, cuptiPmSamplingDisable, pm_sampler, sampler, &disable);
	}
	end_host(s);
	pm_session_forget(s);
}
