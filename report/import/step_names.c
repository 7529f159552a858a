/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ranges that are steps by their names: see step_names.h. */
#include "report/import/step_names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* In whatever case. Lightning's profiler marks the batches of an epoch. */
static const char *const names_of_steps[] = {"ProfilerStep", "ProfileStep", "global_step",
	"training_step", "train_step", "train step", "[pl][profile]run_training_batch",
	"run_training_batch", "step", "iteration", "iter", "batch"};

_Static_assert(sizeof(names_of_steps) / sizeof(names_of_steps[0]) == IMPORT_NR_STEP_NAMES,
	"one entry of import_step_names for each");

void import_step_names_fini(struct import_step_names *names)
{
	for (size_t i = 0; i < IMPORT_NR_STEP_NAMES; i++) {
		import_steps_fini(&names->numbered[i]);
		import_steps_fini(&names->counted[i]);
	}
}

/* "step 12", "step_12", "Step #12", "iteration: 12", "batch[12]" */
static bool read_number(const char *text, size_t nr_bytes, uint64_t *number)
{
	size_t i = 0;
	bool has_digit = false;

	while (i < nr_bytes && strchr(" #_:=-([", text[i]) && text[i]) {
		i++;
	}
	for (*number = 0; i < nr_bytes && isdigit((unsigned char)text[i]); i++) {
		if (*number > UINT64_MAX / 10 - 1) {
			return false;
		}
		*number = *number * 10 + (uint64_t)(text[i] - '0');
		has_digit = true;
	}
	while (i < nr_bytes && strchr(" )]", text[i]) && text[i]) {
		i++;
	}
	return has_digit && i == nr_bytes;
}

bool import_step_names_add(struct import_step_names *names, uint32_t thread, const char *name,
	size_t nr_bytes, uint64_t begin, uint64_t end)
{
	bool is_step = false;

	for (size_t i = 0; i < IMPORT_NR_STEP_NAMES; i++) {
		size_t length = strlen(names_of_steps[i]);
		uint64_t number;

		if (nr_bytes < length || strncasecmp(name, names_of_steps[i], length) != 0) {
			continue;
		}
		if (nr_bytes == length) {
			struct import_steps *steps = &names->counted[i];

			import_steps_add(steps, begin, end, steps->nr, thread);
			is_step = true;
		} else if (read_number(name + length, nr_bytes - length, &number)) {
			import_steps_add(&names->numbered[i], begin, end, number, thread);
			is_step = true;
		}
	}
	return is_step;
}

void import_step_names_write(struct import_step_names *names, struct import_out *out)
{
	for (size_t i = 0; i < IMPORT_NR_STEP_NAMES; i++) {
		size_t nr_few = i > 0; /* of a name that others may use, too */

		if (names->numbered[i].nr > nr_few) {
			import_steps_write(&names->numbered[i], out);
			return;
		}
		if (names->counted[i].nr > 1) {
			import_steps_write(&names->counted[i], out);
			return;
		}
	}
}

void import_step_names_add_damages(const struct import_step_names *names, struct stream *stream)
{
	for (size_t i = 0; i < IMPORT_NR_STEP_NAMES; i++) {
		import_steps_add_damages(&names->numbered[i], stream);
		import_steps_add_damages(&names->counted[i], stream);
	}
}
