/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the options of `gprof-report whatif` into a change for the replay, and answers which
 * factors apply to which names while graphs are built. A regular expression runs once for each
 * name: the answer is kept, since the same names come in each step.
 */
#include "report/replay/what_if.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/string_pool.h"

const char *const what_if_removals[NR_REPLAY_REMOVALS + 1] = {
	[REPLAY_NO_LOADER] = "loader",
	[REPLAY_NO_SYNC] = "sync",
	[REPLAY_NO_COPIES] = "copies",
	[REPLAY_NO_COMM] = "communication",
	[REPLAY_NO_STRAGGLERS] = "stragglers",
	[REPLAY_NO_LAUNCHES] = "launch-overhead",
	[REPLAY_NO_GAPS] = "small-kernel-gaps",
};

const char *const what_if_assumptions[NR_REPLAY_REMOVALS] = {
	[REPLAY_NO_LOADER] = "each batch is ready when the loop asks for it",
	[REPLAY_NO_SYNC] = "no call waits for the GPU",
	[REPLAY_NO_COPIES] = "copies overlap with everything and no call waits for its own",
	[REPLAY_NO_COMM] = "collectives take no time",
	[REPLAY_NO_STRAGGLERS] = "collectives begin when half of the ranks have come",
	[REPLAY_NO_LAUNCHES] = "one CUDA graph replaces each run of launches",
	[REPLAY_NO_GAPS] = "kernels of a stream follow each other without a gap",
};

struct what_if_scale {
	regex_t regex;
	char *text; /* as the user wrote it */
	bool is_operator, has_matched;
	struct idmap matches; /* by name: 1 no, 2 yes */
};

static const char *compile(struct what_if_scale *scale, const char *pattern, size_t length)
{
	static char message[160];
	struct buf text = {0};
	int error;

	buf_printf(&text, scale->is_operator ? "^(%.*s)$" : "%.*s", (int)length, pattern);
	buf_char(&text, '\0');
	error = regcomp(&scale->regex, text.bytes, REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, &scale->regex, message, sizeof(message));
	}
	buf_fini(&text);
	return error ? message : NULL;
}

/* The last = separates the factor, as the expression may contain others. */
const char *what_if_add_scale(struct what_if *what_if, const char *text)
{
	const char *equals = strrchr(text, '=');
	struct what_if_scale scale = {.is_operator = strncmp(text, "op:", 3) == 0};
	const char *pattern = text + (scale.is_operator ? 3 : 7);
	const char *wrong;
	char *end;
	double factor;

	if (!scale.is_operator && strncmp(text, "kernel:", 7) != 0) {
		return "it must begin with kernel: or op:";
	}
	if (!equals || equals <= pattern) {
		return "it must be like kernel:REGEX=0.5";
	}
	factor = strtod(equals + 1, &end);
	if (end == equals + 1 || *end || !isfinite(factor) || factor < 0 || factor > 1000) {
		return "the factor must be a number from 0 to 1000";
	}
	if (what_if->nr_scales == REPLAY_SCALES) {
		return "there are too many";
	}
	wrong = compile(&scale, pattern, (size_t)(equals - pattern));
	if (wrong) {
		return wrong;
	}
	idmap_init(&scale.matches, sizeof(uint8_t));
	scale.text = mem_text(text);
	what_if->scales = array_grow(
		what_if->scales, what_if->nr_scales, &what_if->capacity, sizeof(*what_if->scales));
	what_if->change.factors[what_if->nr_scales] = factor;
	what_if->change.scales |= 1u << what_if->nr_scales;
	what_if->scales[what_if->nr_scales++] = scale;
	return NULL;
}

bool what_if_add_removal(struct what_if *what_if, const char *name)
{
	for (unsigned int i = 0; what_if_removals[i]; i++) {
		if (strcmp(name, what_if_removals[i]) == 0) {
			what_if->change.removals |= 1u << i;
			return true;
		}
	}
	return false;
}

/*
 * Runs each expression once for a name and keeps the answer: 1 is no, 2 is yes, 0 is not known
 * yet.
 */
uint32_t what_if_scales_of(struct what_if *what_if, uint32_t name, enum replay_item item)
{
	uint32_t found = 0;

	for (size_t i = 0; i < what_if->nr_scales; i++) {
		struct what_if_scale *scale = &what_if->scales[i];
		uint8_t *answer;

		if (item != (scale->is_operator ? REPLAY_ITEM_OPERATOR : REPLAY_ITEM_ACTIVITY)) {
			continue;
		}
		answer = idmap_put(&scale->matches, name);
		if (!*answer) {
			bool matches = regexec(&scale->regex, string_pool_text(name, NULL), 0, NULL,
					       0) == 0;

			*answer = matches ? 2 : 1;
			scale->has_matched |= matches;
		}
		found |= *answer == 2 ? 1u << i : 0;
	}
	return found;
}

const char *what_if_unmatched(const struct what_if *what_if, size_t i)
{
	return what_if->scales[i].has_matched ? NULL : what_if->scales[i].text;
}

void what_if_fini(struct what_if *what_if)
{
	for (size_t i = 0; i < what_if->nr_scales; i++) {
		regfree(&what_if->scales[i].regex);
		free(what_if->scales[i].text);
		idmap_fini(&what_if->scales[i].matches);
	}
	free(what_if->scales);
	*what_if = (struct what_if){0};
}
