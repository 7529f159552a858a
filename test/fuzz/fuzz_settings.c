/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the environment, one a line: the name may do without its GPROF_. */
#include <stdlib.h>
#include <string.h>

#include "collector/util/config.h"
#include "collector/util/redact.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_recorder.h"

static void set(char *line)
{
	char *value = strchr(line, '='), name[64] = "GPROF_";

	if (!value || value == line || (size_t)(value - line) >= sizeof(name) - strlen(name)) {
		return;
	}
	*value++ = 0;
	strcat(name, line);
	setenv(strncmp(line, "GPROF_", 6) ? name : line, value, 1);
	if (config_is_asked(CONFIG_PYTHON)) {
		config_early(CONFIG_PYTHON);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	char *text = calloc(nr_bytes + 1, 1), *line, *rest;

	memcpy(text, bytes, nr_bytes);
	fuzz_recorder_clean();
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		set(line);
	}
	unsetenv("GPROF_CONFIG"); /* a target of its own */
	config_init_enable();
	config_init();
	config_load();
	fuzz_recorder_use_settings();
	free(text);
	return 0;
}
