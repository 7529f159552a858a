/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	pm_passes LIBCUPTI
 *
 * Asks a real CUPTI, which needs no GPU for it, whether it knows the metrics of PM sampling for
 *some chips and measures all of them in one pass. Exit status: 0, 1 if not, 77 if it cannot be
 *asked.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/cupti/pm_abi.h"

#define PM_METRIC(name, suffix, metric, factor, is_default) #name suffix,
static const char *names[] = {
#include "collector/cupti/pm_metrics.def"
};
#undef PM_METRIC

enum { NR_NAMES = sizeof(names) / sizeof(names[0]) };

static uint32_t call(void *library, const char *name, void *params)
{
	uint32_t (*function)(void *params);

	*(void **)&function = dlsym(library, name);
	return function ? function(params) : 999;
}

/* The passes that the metrics need, or minus the code of the function that failed. */
static int count_passes(void *library, const char *chip, const char **wanted, size_t nr_wanted)
{
	struct pm_host_initialize init = {
		.size = PM_BYTES(pm_host_initialize, host), .type = PM_PROFILER_TYPE, .chip = chip};
	struct pm_add_metrics add = {
		.size = PM_BYTES(pm_add_metrics, nr_names), .names = wanted, .nr_names = nr_wanted};
	struct pm_config_size bytes = {.size = PM_BYTES(pm_config_size, config_bytes)};
	struct pm_config config = {.size = PM_BYTES(pm_config, config)};
	struct pm_passes passes = {.size = PM_BYTES(pm_passes, nr_passes)};
	struct pm_host host = {.size = PM_BYTES(pm_host, host)};
	uint32_t code = call(library, "cuptiProfilerHostInitialize", &init);

	if (code) {
		return -(int)code;
	}
	add.host = bytes.host = config.host = host.host = init.host;
	code = call(library, "cuptiProfilerHostConfigAddMetrics", &add);
	code = code ? code : call(library, "cuptiProfilerHostGetConfigImageSize", &bytes);
	config.config_bytes = passes.config_bytes = bytes.config_bytes;
	config.config = passes.config = calloc(1, bytes.config_bytes + 1);
	code = code ? code : call(library, "cuptiProfilerHostGetConfigImage", &config);
	code = code ? code : call(library, "cuptiProfilerHostGetNumOfPasses", &passes);
	call(library, "cuptiProfilerHostDeinitialize", &host);
	free(config.config);
	return code ? -(int)code : (int)passes.nr_passes;
}

int main(int argc, char **argv)
{
	static const char *const chips[] = {"GA100", "GA102", "GH100"};
	static const char *hit_rate[] = {"lts__t_sector_hit_rate.pct"};
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	struct pm_initialize init = {.size = PM_BYTES(pm_initialize, private)};
	int failed = 0;

	if (!library || !dlsym(library, "cuptiPmSamplingEnable")) {
		return 77;
	}
	/* Without a driver it fails, and the host's part works. */
	call(library, "cuptiProfilerInitialize", &init);
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		int nr = count_passes(library, chips[i], names, NR_NAMES);
		int nr_hit = count_passes(library, chips[i], hit_rate, 1);

		if (nr != 1 || nr_hit != 2) {
			printf("%s: %d passes, and %d for the hit rate of L2\n", chips[i], nr,
				nr_hit);
			failed = 1;
		}
	}
	return failed;
}
