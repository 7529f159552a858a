/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's variables as options of gprof-record, derived from config.def: GPROF_SAMPLE_MS is
 * --sample-ms N. A switch that is off by default is --driver, one that is on is --no-cupti.
 */
#ifndef REPORT_LAUNCH_VARIABLES_H
#define REPORT_LAUNCH_VARIABLES_H

#include <stdbool.h>

#include "report/util/buf.h"

enum variable_type {
	VARIABLE_BOOL,
	VARIABLE_NUMBER,
	VARIABLE_TEXT,
	VARIABLE_CHOICE,
	VARIABLE_LIST,
};

struct variable {
	const char *name;      /* "GPROF_SAMPLE_MS" */
	const char *otherwise; /* its value when nothing sets it */
	const char *allowed;
	const char *help;
	uint64_t min, max; /* of a VARIABLE_NUMBER */
	enum variable_type type;
	char option[32]; /* "sample-ms", without the dashes */
};

/* Where a variable is in variables_all(). */
enum variable_index {
#define CONFIG(n, t, v, lo, hi, a, h) VARIABLE_INDEX_##n,
#include "collector/util/config.def"
#undef CONFIG
};

/* All variables in the order of config.def; names[0] ends them. Valid until the program ends. */
const struct variable *variables_all(void);

/* The value that the option gives a switch, which takes none: "1" for --driver, "0" for --no-cupti.
 */
const char *variable_switched(const struct variable *variable);

/* The word for the value in the usage: "N", "FILE", "off|steps|ops|shapes"; NULL for a switch. */
const char *variable_value_name(const struct variable *variable);

/*
 * Is the value one that the recorder takes? Names its bounds and words; the rules of GPROF_STEP are
 * the recorder's own.
 */
bool variable_is_allowed(const struct variable *variable, const char *value);

#endif
