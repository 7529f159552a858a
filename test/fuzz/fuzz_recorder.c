/* SPDX-License-Identifier: Apache-2.0 */
#include "test/fuzz/fuzz_recorder.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/util/config.h"
#include "collector/util/redact.h"
#include "collector/step/schedule.h"
#include "collector/util/printable.h"
#include "collector/step/step.h"

enum kind { KIND_BOOL, KIND_NUMBER, KIND_TEXT, KIND_CHOICE, KIND_LIST };

static const struct {
	enum kind kind;
	uint64_t min, max;
	const char *allowed;
} variables[] = {
#define CONFIG(name, kind, value, min, max, allowed, help) {KIND_##kind, min, max, allowed},
#include "collector/util/config.def"
#undef CONFIG
};

void fuzz_recorder_clean(void)
{
	for (int i = 0; i < CONFIG_NR; i++) {
		unsetenv(config_full_name((enum config_name)i));
	}
}

static void must(int is_true)
{
	if (!is_true) {
		abort();
	}
}

/* It goes to a terminal, and into a stream that has so much room for it. */
static void see(const char *sentence)
{
	char shown[4 * 512], again[4 * 512];
	size_t nr_bytes = printable_copy(shown, sizeof(shown), sentence, strlen(sentence));

	must(*sentence && strlen(sentence) < 256);
	for (size_t i = 0; i < nr_bytes; i++) {
		must((unsigned char)shown[i] >= 0x20 && shown[i] != 0x7f);
	}
	must(printable_copy(again, sizeof(again), shown, nr_bytes) == nr_bytes &&
		!memcmp(shown, again, nr_bytes));
}

static int nr_words(const char *allowed)
{
	int nr = 1;

	for (; *allowed; allowed++) {
		nr += *allowed == '|';
	}
	return nr;
}

static void must_be_in_range(enum config_name name)
{
	uint64_t number = config_number(name);

	must(strlen(config_text(name)) < 1024);
	switch (variables[name].kind) {
	case KIND_BOOL:
	case KIND_NUMBER:
		must(number >= variables[name].min && number <= variables[name].max);
		break;
	case KIND_CHOICE:
		must(number < (uint64_t)nr_words(variables[name].allowed));
		break;
	case KIND_LIST:
		must(number && !(number >> nr_words(variables[name].allowed)));
		break;
	case KIND_TEXT:
		break;
	}
}

static uint32_t find_call(const char *name)
{
	return *name == 'c';
}

static void use_schedule(const char *text)
{
	static const uint64_t steps[] = {0, 1, 7, UINT32_MAX, UINT64_MAX};
	struct schedule schedule;

	if (schedule_parse(&schedule, text)) {
		return;
	}
	must(schedule.record > 0);
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t until = schedule_until_open(&schedule, steps[i]);

		must((until == 0) == (schedule_state(&schedule, steps[i]) != GPROF_WINDOW_CLOSED));
	}
}

void fuzz_recorder_use_settings(void)
{
	config_complain(see);
	for (int i = 0; i < CONFIG_NR; i++) {
		must_be_in_range((enum config_name)i);
	}
	use_schedule(config_text(CONFIG_SCHEDULE));
	/* A regular expression is compiled once in a process, by the C library. */
	if (strncmp(config_text(CONFIG_STEP), "kernel:", 7) != 0) {
		step_init(find_call);
	}
}
