/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the two inputs of a comparison: two paths, or the same paths with two runs. */
#include "report/session/sides.h"

#include <stdlib.h>
#include <string.h>

bool sides_are_named(const struct common_options *asked, int nr_paths)
{
	return nr_paths == 2 || (nr_paths < 2 && asked->other_run);
}

/* The path alone where it says enough. */
static char *name_of(const char *path, const char *run)
{
	struct buf name = {0};

	if (!path) {
		path = getenv("GPROF_DIR");
		path = path && *path ? path : "gprof-dump";
	}
	buf_text(&name, path);
	if (run) {
		buf_printf(&name, ", run %s", run);
	}
	buf_char(&name, '\0');
	return name.bytes;
}

enum cmd_exit sides_open(
	struct sides *sides, const struct common_options *asked, char *const *paths, int nr_paths)
{
	enum cmd_exit status = CMD_GOOD;

	for (int i = 0; !status && i < 2; i++) {
		struct common_options of_side = *asked;
		char *const *path = nr_paths == 2 ? paths + i : paths;

		of_side.filter.run = i && asked->other_run ? asked->other_run : asked->filter.run;
		sides->names[i] = name_of(nr_paths ? *path : NULL, of_side.filter.run);
		status = common_options_open(&of_side, &sides->inputs[i], path, nr_paths ? 1 : 0);
	}
	return status;
}

void sides_close(struct sides *sides)
{
	for (int i = 0; i < 2; i++) {
		common_options_close(&sides->inputs[i]);
		free(sides->names[i]);
	}
}
