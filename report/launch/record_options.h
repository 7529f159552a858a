/* SPDX-License-Identifier: Apache-2.0 */
/* The options of gprof-record: those of the recorder's variables, and its own. */
#ifndef REPORT_LAUNCH_RECORD_OPTIONS_H
#define REPORT_LAUNCH_RECORD_OPTIONS_H

#include <getopt.h>

#include "report/launch/variables.h"

#define MOST_VARIABLES 64

/*
 * The values that getopt_long returns for options of gprof-record's own; for an option of a
 * variable it returns the index in variables_all().
 */
enum {
	OPTION_HELP = 256,
	OPTION_VERSION,
	OPTION_LIBRARY,
	OPTION_PRINT,
	OPTION_REPORT,
	OPTION_NO_REPORT,
	OPTION_SHAPES,
	OPTION_JUPYTER
};

/* All options, ending with zeros. Valid until the program ends. */
const struct option *record_options(void);

/* Appends the options with their help, wrapped at so many columns. */
void record_options_add_help(struct buf *out, size_t nr_columns);

/*
 * Passes the words that are values of an option, "--graph", to `add`. Returns false if anything
 * may be its value.
 */
bool record_options_values(
	const char *option, void (*add)(void *context, const char *word), void *context);

#endif
