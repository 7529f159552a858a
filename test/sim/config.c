/* SPDX-License-Identifier: Apache-2.0 */
/* The environment: what to simulate, and which calls are to fail. */
#include "test/sim/model.h"

#include <stdlib.h>
#include <string.h>

struct sim_config sim_config = {.nr_devices = 1, .time_scale = 1.0, .kernel_ns = -1};

enum { MAX_FAILURES = 32 };

/* SIM_FAIL=name:nth:code[,...]: the nth call (from 1; 0 means every call) returns the code. */
static struct {
	struct {
		char name[64];
		long nth;
		int code;
		_Atomic long nr_calls;
	} of[MAX_FAILURES];
	int nr;
} failures;

static void failures_read(const char *text)
{
	while (text && *text && failures.nr < MAX_FAILURES) {
		size_t length = strcspn(text, ":");
		const char *rest = text + length;
		char *end;

		if (*rest != ':' || length >= sizeof(failures.of[0].name)) {
			return;
		}
		memcpy(failures.of[failures.nr].name, text, length);
		failures.of[failures.nr].nth = strtol(rest + 1, &end, 10);
		failures.of[failures.nr].code = *end == ':' ? (int)strtol(end + 1, &end, 10) : 1;
		failures.nr++;
		text = *end == ',' ? end + 1 : NULL;
	}
}

int sim_fail(const char *name)
{
	for (int i = 0; i < failures.nr; i++) {
		if (strcmp(failures.of[i].name, name) != 0) {
			continue;
		}
		long call = atomic_fetch_add(&failures.of[i].nr_calls, 1) + 1;

		if (failures.of[i].nth == 0 || failures.of[i].nth == call) {
			return failures.of[i].code;
		}
	}
	return 0;
}

void sim_config_read(void)
{
	const char *text = getenv("SIM_DEVICES");

	if (text) {
		sim_config.nr_devices = atoi(text);
		if (sim_config.nr_devices < 0 || sim_config.nr_devices > SIM_MAX_DEVICES) {
			sim_config.nr_devices = 1;
		}
	}
	text = getenv("SIM_TIME_SCALE");
	if (text) {
		sim_config.time_scale = strtod(text, NULL);
	}
	text = getenv("SIM_KERNEL_NS");
	if (text) {
		sim_config.kernel_ns = strtoll(text, NULL, 10);
	}
	text = getenv("SIM_OVERLAP");
	sim_config.is_overlap = text && *text == '1';
	failures_read(getenv("SIM_FAIL"));
	atomic_store(&sim_core.has_failures, failures.nr > 0);
}
