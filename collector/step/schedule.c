/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule skips steps, then repeats a cycle: closed, ready, record. A span FIRST-END is one such
 * cycle with one step to get ready. `repeat` 0 means for ever.
 */
#include "collector/step/schedule.h"

#include <errno.h>
#include <string.h>

/* Sums of a few of them still fit. */
#define MAX_STEPS SCHEDULE_NO_END

bool schedule_take_number(const char **text, uint64_t *number)
{
	const char *c = *text;
	uint64_t value = 0;

	for (; *c >= '0' && *c <= '9' && value < MAX_STEPS; c++) {
		value = value * 10 + (uint64_t)(*c - '0');
	}
	if (c == *text || value >= MAX_STEPS) {
		return false;
	}
	*text = c;
	*number = value;
	return true;
}

int schedule_parse_span(uint64_t *first, uint64_t *end, const char *text)
{
	bool is_pair = *text == '('; /* as Paddle's scheduler has it */

	text += is_pair;
	if (!schedule_take_number(&text, first) || *text++ != (is_pair ? ',' : '-')) {
		return -EINVAL;
	}
	text += is_pair && *text == ' ';
	if (!schedule_take_number(&text, end) || (is_pair && *text++ != ')') || *text ||
		*end <= *first) {
		return -EINVAL;
	}
	return 0;
}

struct schedule schedule_span(uint64_t first, uint64_t end)
{
	if (first == end) {
		return (struct schedule){.skip_first = UINT64_MAX, .record = 1, .repeat = 1};
	}
	return (struct schedule){.skip_first = first ? first - 1 : 0,
		.ready = first ? 1 : 0,
		.record = end - first,
		.repeat = 1};
}

/* wait, warmup and active are the names in torch.profiler's schedule. */
static int parse_pairs(struct schedule *schedule, const char *text)
{
	const struct {
		const char *name;
		uint64_t *number;
	} fields[] = {
		{"skip_first=", &schedule->skip_first},
		{"closed=", &schedule->closed},
		{"wait=", &schedule->closed},
		{"ready=", &schedule->ready},
		{"warmup=", &schedule->ready},
		{"record=", &schedule->record},
		{"active=", &schedule->record},
		{"repeat=", &schedule->repeat},
	};

	*schedule = (struct schedule){0};
	for (;;) {
		size_t i, nr_fields = sizeof(fields) / sizeof(fields[0]);

		for (i = 0; i < nr_fields; i++) {
			if (!strncmp(text, fields[i].name, strlen(fields[i].name))) {
				break;
			}
		}
		if (i == nr_fields) {
			return -EINVAL;
		}
		text += strlen(fields[i].name);
		if (!schedule_take_number(&text, fields[i].number)) {
			return -EINVAL;
		}
		if (!*text) {
			return schedule->record ? 0 : -EINVAL;
		}
		if (*text++ != ',') {
			return -EINVAL;
		}
	}
}

static int parse_span(struct schedule *schedule, const char *text)
{
	uint64_t first, end;
	int rc = schedule_parse_span(&first, &end, text);

	if (!rc) {
		*schedule = schedule_span(first, end);
	}
	return rc;
}

int schedule_parse(struct schedule *schedule, const char *text)
{
	if (!strcmp(text, "all")) {
		*schedule = (struct schedule){.record = 1};
		return 0;
	}
	if (*text == '(' || (*text >= '0' && *text <= '9')) {
		return parse_span(schedule, text);
	}
	return parse_pairs(schedule, text);
}

enum gprof_window_state schedule_state(const struct schedule *schedule, uint64_t step)
{
	uint64_t cycle = schedule->closed + schedule->ready + schedule->record;
	uint64_t at;

	if (step < schedule->skip_first) {
		return GPROF_WINDOW_CLOSED;
	}
	step -= schedule->skip_first;
	if (schedule->repeat && step / cycle >= schedule->repeat) {
		return GPROF_WINDOW_CLOSED;
	}
	at = step % cycle;
	if (at < schedule->closed) {
		return GPROF_WINDOW_CLOSED;
	}
	return at < schedule->closed + schedule->ready ? GPROF_WINDOW_READY : GPROF_WINDOW_RECORD;
}

uint64_t schedule_until_open(const struct schedule *schedule, uint64_t step)
{
	uint64_t cycle = schedule->closed + schedule->ready + schedule->record;
	uint64_t cycles = 0, at = 0, skipped = 0;

	if (step < schedule->skip_first) {
		skipped = schedule->skip_first - step;
	} else {
		cycles = (step - schedule->skip_first) / cycle;
		at = (step - schedule->skip_first) % cycle;
	}
	if (schedule->repeat && cycles >= schedule->repeat) {
		return UINT64_MAX;
	}
	return skipped + (at < schedule->closed ? schedule->closed - at : 0);
}
