/* SPDX-License-Identifier: Apache-2.0 */
/* The options of gprof-record: those of the recorder's variables, and its own. */
#ifndef REPORT_LAUNCH_RECORD_OPTIONS_H
#define REPORT_LAUNCH_RECORD_OPTIONS_H

#include "report/launch/variables.h"
#include "report/util/option_line.h"

#define MAX_VARIABLES 64

/* The ids of gprof-record's own options; that of a variable is its index in variables_all(). */
enum {
	OPTION_HELP = 256,
	OPTION_VERSION,
	OPTION_LIBRARY,
	OPTION_PRINT,
	OPTION_REPORT,
	OPTION_NO_REPORT,
	OPTION_SHAPES,
	OPTION_CPU,
	OPTION_OS,
	OPTION_JUPYTER
};

/* The forms of --print-env, ending with NULL. */
extern const char *const record_forms[];

/* All options, valid until the program ends. */
const struct option_line *record_options(void);

/* Appends the options with their help, wrapped at so many columns. */
void record_options_add_help(struct buf *out, size_t nr_columns);

#endif
