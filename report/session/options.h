/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a command, read from its usage (session.h), so that they stand in one place. */
#ifndef REPORT_SESSION_OPTIONS_H
#define REPORT_SESSION_OPTIONS_H

#include "report/session/session.h"

struct option_name {
	const char *name; /* "--view" or "-o"; not NUL-terminated */
	size_t nr_bytes;
	bool has_value;	   /* "--top N"; also where it may be left out, "--detail=LEVEL" */
	bool is_joined;	   /* the value only behind a "=" */
	const char *value; /* what the usage calls it, up to nr_value: "FILE" */
	size_t nr_value;
	const char *help; /* the first line of it, up to nr_help */
	size_t nr_help;
};

/* The next option of a usage; *at begins as command->options. False behind the last. */
bool options_next(const char **at, struct option_name *option);

/* Passes each word of a list that ends with NULL. */
void options_add_words(
	const char *const *words, void (*add)(void *context, const char *word), void *context);

/* The place of a word in a list that ends with NULL; false if it is not there. */
bool options_choose(const char *text, const char *const *words, int *choice);

#endif
