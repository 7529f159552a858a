/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the list of the recorder's variables from config.def, which the recorder itself includes,
 * so that a new variable is an option of gprof-record without a line here. record_options.c makes
 * the options and the help of the list; main.c and jupyter.c keep the values that were given by
 * their index in it.
 *
 * A value is checked here, before the program runs: the recorder could only note that it uses the
 * default instead.
 */
#include "report/launch/variables.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "collector/step/schedule.h"

/* The recorder keeps no longer texts. */
#define MAX_TEXT 1023u
/* A list of values that is longer stands behind the meaning. */
#define MAX_USAGE 60u

static struct variable variables[] = {
#define CONFIG(n, t, v, lo, hi, a, h) \
	{.name = "GPROF_" #n,         \
		.otherwise = v,       \
		.allowed = a,         \
		.help = h,            \
		.min = lo,            \
		.max = hi,            \
		.type = VARIABLE_##t},
#include "collector/util/config.def"
#undef CONFIG
	{0},
};

static bool is_on_by_default(const struct variable *variable)
{
	return strcmp(variable->otherwise, "1") == 0;
}

static void name_option(struct variable *variable)
{
	struct buf name = {0};

	if (variable->type == VARIABLE_BOOL && is_on_by_default(variable)) {
		buf_text(&name, "no-");
	}
	for (const char *at = variable->name + strlen("GPROF_"); *at; at++) {
		buf_char(&name, *at == '_' ? '-' : (char)tolower((unsigned char)*at));
	}
	memcpy(variable->option, name.bytes, name.nr_bytes);
	buf_fini(&name);
}

/* Names the options at the first call. */
const struct variable *variables_all(void)
{
	for (struct variable *each = variables; each->name && !*each->option; each++) {
		name_option(each);
	}
	return variables;
}

const char *variable_switched(const struct variable *variable)
{
	return is_on_by_default(variable) ? "0" : "1";
}

const char *variable_value_name(const struct variable *variable)
{
	if (variable->type == VARIABLE_BOOL) {
		return NULL;
	}
	if (variable->type == VARIABLE_NUMBER) {
		return "N";
	}
	if (strcmp(variable->allowed, "a file") == 0) {
		return "FILE";
	}
	if (strcmp(variable->allowed, "a directory") == 0) {
		return "DIR";
	}
	if (strcmp(variable->allowed, "an ID") == 0) {
		return "ID";
	}
	/* Words that stand for themselves; anything else, and many words, are too long for a usage.
	 */
	return variable->type == VARIABLE_TEXT || strlen(variable->allowed) > MAX_USAGE
		       ? "WHAT"
		       : variable->allowed;
}

static bool is_number(const struct variable *variable, const char *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	return isdigit((unsigned char)*value) && !*end && !errno && number >= variable->min &&
	       number <= variable->max;
}

/* Is it one of the words, which | separates? */
static bool is_word(const char *words, const char *word, size_t nr_bytes)
{
	for (;; words++) {
		size_t length = strcspn(words, "|");

		if (length == nr_bytes && memcmp(words, word, nr_bytes) == 0) {
			return true;
		}
		words += length;
		if (!*words) {
			return false;
		}
	}
}

static bool are_words(const char *words, const char *list)
{
	for (;; list++) {
		size_t length = strcspn(list, ",");

		if (!is_word(words, list, length)) {
			return false;
		}
		list += length;
		if (!*list) {
			return true;
		}
	}
}

bool variable_is_allowed(const struct variable *variable, const char *value)
{
	struct schedule schedule;

	switch (variable->type) {
	case VARIABLE_BOOL:
	case VARIABLE_NUMBER:
		return is_number(variable, value);
	case VARIABLE_CHOICE:
		return is_word(variable->allowed, value, strlen(value));
	case VARIABLE_LIST:
		return are_words(variable->allowed, value);
	case VARIABLE_TEXT:
		break;
	}
	return strlen(value) <= MAX_TEXT && (strcmp(variable->name, "GPROF_SCHEDULE") != 0 ||
						    schedule_parse(&schedule, value) == 0);
}
