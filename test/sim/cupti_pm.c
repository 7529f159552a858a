/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated CUPTI's PM sampling. With SIM_PM, its counters follow the kernels: while one runs,
 * SMs are active to 100 % and DRAM reads to 40 %; tensor cores work as SIM_PM says.
 *
 *	SIM_PM=NAME:PERCENT   tensor cores in kernels whose names contain NAME
 *	SIM_PM=WORD[:N],...   codes and limits:
 *	  NAME_OF_A_FUNCTION:CODE   that function fails
 *	  passes:N                  more metrics than N take a second pass
 *	  lacks:METRIC              the GPU does not have it
 *	  room:N                    the hardware's buffer holds N samples
 *	  chip:NAME                 GH100 by default
 *	  far                       times of another clock
 *
 * As with the real one: a name that is unknown ruins the host object; a GPU has one session; what
 *is not decoded before the end is lost; the start of the first sample is wrong; settings of a
 *session cannot be changed; misuse of these rules aborts.
 */
#include "test/sim/cupti.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/cupti/pm_abi.h"

enum { MAX_KERNELS = 65536, MAX_NAMES = 16, TENSOR_DEFAULT = 0 };
#define START_OF_FIRST 1000u

static atomic_bool has_started; /* or failed */

static struct {
	pthread_mutex_t lock;
	unsigned long nr;
	struct {
		uint64_t start_ns, end_ns;
		unsigned int device;
		int tensor_pct;
	} of[MAX_KERNELS];
} kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct host {
	const char *names[MAX_NAMES];
	size_t nr;
	bool is_broken;
};

static struct sampler {
	size_t device;
	_Atomic bool is_enabled, is_configured, is_started, is_first;
	uint64_t interval_ns, next_ns;
} samplers[SIM_MAX_DEVICES];

struct sample {
	uint64_t start_ns, end_ns;
	double sm, tensor;
};

struct image {
	size_t max, nr;
	struct sample of[];
};

/* What SIM_PM says behind `word` and a colon; NULL if it does not have it. */
static const char *setting(const char *word)
{
	const char *at = getenv("SIM_PM");
	size_t length = strlen(word);

	while (at) {
		if (!strncmp(at, word, length) && strchr(":,", at[length])) {
			return at[length] == ':' ? at + length + 1 : "";
		}
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return NULL;
}

#define FAIL_IF_ASKED()                                   \
	do {                                              \
		const char *code_ = setting(__func__);    \
                                                          \
		CUPTI_SIM_CHECK();                        \
		if (code_) {                              \
			atomic_store(&has_started, true); \
			return atoi(code_);               \
		}                                         \
	} while (0)

static void must(bool is_right, const char *rule)
{
	if (!is_right) {
		fprintf(stderr, "simulated CUPTI, PM sampling: %s\n", rule);
		abort();
	}
}

#define CHECK_SIZE(params, type, last) \
	must((params)->size == PM_BYTES(type, last) && !(params)->private, "size of " #type)

/* The percentage of the first name that the kernel's contains. */
static int tensor_of(const char *kernel)
{
	const char *at = getenv("SIM_PM");

	while (at && *at) {
		size_t length = strcspn(at, ":,");
		char name[128];

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (at[length] == ':' && *name && strstr(kernel, name)) {
			return atoi(at + length + 1);
		}
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return TENSOR_DEFAULT;
}

void cupti_sim_pm_kernel(const struct sim_op *op)
{
	static atomic_int is_wanted = -1;
	unsigned long i;

	if (atomic_load_explicit(&is_wanted, memory_order_relaxed) < 0) {
		atomic_store(&is_wanted, getenv("SIM_PM") != NULL);
	}
	if (!atomic_load_explicit(&is_wanted, memory_order_relaxed)) {
		return;
	}
	pthread_mutex_lock(&kernels.lock);
	i = kernels.nr++ % MAX_KERNELS;
	kernels.of[i].start_ns = op->start_ns;
	kernels.of[i].end_ns = op->end_ns;
	kernels.of[i].device = op->device_id;
	kernels.of[i].tensor_pct = tensor_of(op->function->name);
	pthread_mutex_unlock(&kernels.lock);
}

/* ---- the host object ---- */

CUPTI_SIM_EXPORT(cuptiProfilerInitialize, (struct pm_initialize * params))
{
	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_initialize, private);
	return CUPTI_OK;
}

/* The real one crashes where it is called twice; gprof never calls it. */
CUPTI_SIM_EXPORT(cuptiProfilerDeInitialize, (struct pm_initialize * params))
{
	static atomic_int nr;

	(void)params;
	must(atomic_fetch_add(&nr, 1) == 0, "deinitialized twice");
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiDeviceGetChipName, (struct pm_chip_name * params))
{
	static char name[32];
	const char *chip = setting("chip");

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_chip_name, name);
	snprintf(name, sizeof(name), "%.*s", chip ? (int)strcspn(chip, ",") : 5,
		chip ? chip : "GH100");
	params->name = name;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiPmSamplingGetCounterAvailability, (struct pm_availability * params))
{
	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_availability, image);
	if (params->image) {
		memset(params->image, 0x5a, params->image_bytes);
	}
	params->image_bytes = 4096;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiProfilerHostInitialize, (struct pm_host_initialize * params))
{
	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_host_initialize, host);
	must(params->type == PM_PROFILER_TYPE && params->chip && params->availability[5] == 0x5a,
		"the host object needs chip and availability");
	params->host = calloc(1, sizeof(struct host));
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiProfilerHostDeinitialize, (struct pm_host * params))
{
	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_host, host);
	free(params->host);
	return CUPTI_OK;
}

static bool is_known(const char *name)
{
	static const char *const known[] = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
		"sm__warps_active.avg.pct_of_peak_sustained_elapsed",
		"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
		"dram__throughput.avg.pct_of_peak_sustained_elapsed",
		"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
		"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
		"pcie__read_bytes.sum.per_second", "pcie__write_bytes.sum.per_second",
		"nvlrx__bytes.sum.per_second", "nvltx__bytes.sum.per_second"};
	const char *lacking = setting("lacks");

	if (lacking && !strncmp(name, lacking, strcspn(lacking, ","))) {
		return false;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(name, known[i])) {
			return true;
		}
	}
	return false;
}

CUPTI_SIM_EXPORT(cuptiProfilerHostConfigAddMetrics, (struct pm_add_metrics * params))
{
	struct host *host = params->host;

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_add_metrics, nr_names);
	for (size_t i = 0; i < params->nr_names && !host->is_broken; i++) {
		if (!is_known(params->names[i])) {
			host->is_broken = true;
			return CUPTI_INVALID_PARAMETER;
		}
		host->names[host->nr++ % MAX_NAMES] = params->names[i];
	}
	return host->is_broken ? CUPTI_UNKNOWN : CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiProfilerHostGetConfigImageSize, (struct pm_config_size * params))
{
	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_config_size, config_bytes);
	must(!((struct host *)params->host)->is_broken, "a ruined host object");
	params->config_bytes = 1024;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiProfilerHostGetConfigImage, (struct pm_config * params))
{
	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_config, config);
	memset(params->config, 0, params->config_bytes);
	params->config[0] = (uint8_t)((struct host *)params->host)->nr;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiProfilerHostGetNumOfPasses, (struct pm_passes * params))
{
	const char *most = setting("passes");

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_passes, nr_passes);
	params->nr_passes = most && params->config[0] > atoi(most) ? 2 : 1;
	return CUPTI_OK;
}

/* ---- the sampler ---- */

CUPTI_SIM_EXPORT(cuptiPmSamplingEnable, (struct pm_enable * params))
{
	struct sampler *s = &samplers[params->device];

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_enable, sampler);
	if (atomic_exchange(&s->is_enabled, true)) {
		return PM_HARDWARE_BUSY;
	}
	s->device = params->device;
	params->sampler = s;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiPmSamplingSetConfig, (struct pm_set_config * params))
{
	struct sampler *s = params->sampler;

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_set_config, append_mode);
	must(!atomic_exchange(&s->is_configured, true), "configured again");
	s->interval_ns = params->interval;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiPmSamplingGetCounterDataSize, (struct pm_image_size * params))
{
	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_image_size, image_bytes);
	params->image_bytes = sizeof(struct image) + params->max_samples * sizeof(struct sample);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiPmSamplingCounterDataImageInitialize, (struct pm_image * params))
{
	struct image *image = (struct image *)(void *)params->image;

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_image, image);
	image->max = (params->image_bytes - sizeof(*image)) / sizeof(struct sample);
	image->nr = 0;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiPmSamplingStart, (struct pm_sampler * params))
{
	struct sampler *s = params->sampler;

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_sampler, sampler);
	must(s->is_configured && !s->is_started, "start");
	s->is_started = s->is_first = true;
	s->next_ns = cupti_sim_core()->now() + s->interval_ns;
	atomic_store(&has_started, true);
	return CUPTI_OK;
}

/* For programs of tests: have samples been started, or has a function failed as SIM_PM says? */
SIM_EXPORT int simPmHasStarted(void);
SIM_EXPORT int simPmHasStarted(void)
{
	return atomic_load(&has_started);
}

CUPTI_SIM_EXPORT(cuptiPmSamplingStop, (struct pm_sampler * params))
{
	struct sampler *s = params->sampler;

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_sampler, sampler);
	must(atomic_exchange(&s->is_started, false), "stopped, and not started");
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiPmSamplingDisable, (struct pm_sampler * params))
{
	struct sampler *s = params->sampler;

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_sampler, sampler);
	must(s->is_enabled && !s->is_started, "disabled while it runs");
	s->is_configured = false;
	s->is_enabled = false;
	return CUPTI_OK;
}

/* ---- samples ---- */

static struct sample make_sample(const struct sampler *s, uint64_t start_ns, uint64_t end_ns)
{
	unsigned long nr = kernels.nr, first = nr > MAX_KERNELS ? nr - MAX_KERNELS : 0;
	struct sample sample = {.start_ns = start_ns, .end_ns = end_ns};

	for (unsigned long i = nr; i-- > first;) {
		uint64_t begin = kernels.of[i % MAX_KERNELS].start_ns;
		uint64_t end = kernels.of[i % MAX_KERNELS].end_ns;

		begin = begin > start_ns ? begin : start_ns;
		end = end < end_ns ? end : end_ns;
		if (begin < end && kernels.of[i % MAX_KERNELS].device == s->device) {
			double part = (double)(end - begin) / (double)(end_ns - start_ns);

			sample.sm += 100 * part;
			sample.tensor += kernels.of[i % MAX_KERNELS].tensor_pct * part;
		}
		/* Launches are nearly in the order of their times. */
		if (kernels.of[i % MAX_KERNELS].end_ns + 50000000u < start_ns) {
			break;
		}
	}
	return sample;
}

CUPTI_SIM_EXPORT(cuptiPmSamplingDecodeData, (struct pm_decode * params))
{
	struct sampler *s = params->sampler;
	struct image *image = (struct image *)(void *)params->image;
	uint64_t now = cupti_sim_core()->now();
	const char *room = setting("room");
	uint64_t nr_there, most;

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_decode, overflow);
	must(s->is_started, "decoded while it does not run");
	nr_there = now >= s->next_ns ? (now - s->next_ns) / s->interval_ns + 1 : 0;
	most = room ? strtoull(room, NULL, 10) : 1u << 20;
	params->overflow = nr_there > most;
	nr_there = nr_there > most ? most : nr_there;
	pthread_mutex_lock(&kernels.lock);
	while (nr_there && image->nr < image->max) {
		struct sample *to = &image->of[image->nr++];

		*to = make_sample(s, s->next_ns - s->interval_ns, s->next_ns);
		if (atomic_exchange(&s->is_first, false)) {
			to->start_ns = START_OF_FIRST;
		}
		if (setting("far")) {
			to->start_ns -= to->start_ns / 2;
			to->end_ns -= to->end_ns / 2;
		}
		s->next_ns += s->interval_ns;
		nr_there--;
	}
	pthread_mutex_unlock(&kernels.lock);
	params->stop_reason = nr_there ? PM_STOP_DATA_FULL : PM_STOP_END_OF_RECORDS;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiPmSamplingGetCounterDataInfo, (struct pm_image_info * params))
{
	const struct image *image = (const struct image *)(const void *)params->image;

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_image_info, nr_completed);
	params->nr_samples = image->max;
	params->nr_populated = params->nr_completed = image->nr;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiPmSamplingCounterDataGetSampleInfo, (struct pm_sample_info * params))
{
	const struct image *image = (const struct image *)(const void *)params->image;

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_sample_info, end_ns);
	params->start_ns = image->of[params->index].start_ns;
	params->end_ns = image->of[params->index].end_ns;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiProfilerHostEvaluateToGpuValues, (struct pm_evaluate * params))
{
	const struct image *image = (const struct image *)(const void *)params->image;
	const struct sample *sample = &image->of[params->index];

	FAIL_IF_ASKED();
	CHECK_SIZE(params, pm_evaluate, values);
	for (size_t i = 0; i < params->nr_names; i++) {
		const char *name = params->names[i];

		params->values[i] = strstr(name, "tensor")	  ? sample->tensor
				    : strstr(name, "sm__cycles")  ? sample->sm
				    : strstr(name, "sm__warps")	  ? sample->sm / 2
				    : strstr(name, "dram__read")  ? 0.4 * sample->sm
				    : strstr(name, "dram__write") ? 0.1 * sample->sm
				    : strstr(name, "dram__")	  ? 0.5 * sample->sm
								  : 1e9;
	}
	return CUPTI_OK;
}
