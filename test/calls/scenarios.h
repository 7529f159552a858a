/* SPDX-License-Identifier: Apache-2.0 */
/* A program of scenarios: without an argument it lists them, with a name it runs that one. */
#ifndef TEST_CALLS_SCENARIOS_H
#define TEST_CALLS_SCENARIOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct scenario {
	const char *name;
	void (*run)(void);
};

/* Has one been run? */
static bool run_scenario(const struct scenario *all, size_t nr, const char *name)
{
	bool has_run = false;

	for (size_t i = 0; i < nr; i++) {
		if (!name) {
			puts(all[i].name);
		} else if (!strcmp(name, all[i].name)) {
			all[i].run();
			has_run = true;
		}
	}
	return has_run;
}

#endif
