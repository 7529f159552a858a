/* SPDX-License-Identifier: Apache-2.0 */
#include "report/launch/import_check.h"

#include <string.h>

#include "test/unit/unit.h"

START_TEST(lines_import_frameworks_by_their_whole_name)
{
	static const struct {
		const char *line, *name;
	} lines[] = {{"import torch\n", "torch"}, {"    import torch.nn as nn\n", "torch"},
		{"from torch import nn\n", "torch"}, {"import\ttensorflow as tf", "tensorflow"},
		{"import jax, os", "jax"}, {"from paddle.nn import Linear", "paddle"},
		{"import torchvision", NULL}, {"import torch_npu", NULL}, {"imported torch", NULL},
		{"# import torch", NULL}, {"importtorch", NULL}, {"from . import torch", NULL},
		{"", NULL}, {"import", NULL}, {"from ", NULL}};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *name = import_check_name(lines[i].line);

		ck_assert((name != NULL) == (lines[i].name != NULL));
		ck_assert(!name || !strcmp(name, lines[i].name));
	}
}
END_TEST

START_TEST(what_is_no_python_script_is_not_asked)
{
	static char program[] = "sh", python[] = "python3", module[] = "-m", code[] = "-c",
		    name[] = "torch", missing[] = "no-such.py";
	char *const all[][4] = {{program, missing}, {python, module, name}, {python, code, name},
		{python, missing}, {python}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *argv[4] = {all[i][0], all[i][1], all[i][2], NULL};
		struct buf out = {0};

		import_check_add(&out, argv);
		ck_assert_uint_eq(out.nr_bytes, 0);
		buf_fini(&out);
	}
}
END_TEST

UNIT_SUITE("report/launch_import", lines_import_frameworks_by_their_whole_name,
	what_is_no_python_script_is_not_asked)
