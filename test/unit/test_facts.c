/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stream/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/loss.h"
#include "test/unit/unit.h"
#include "test/unit/written.h"

static struct decode_block *blocks;
static size_t nr_blocks;

static void write_facts(void)
{
	config_init();
	clock_init(NULL);
	facts_look();
	written_begin();
	facts_add_start();
	blocks = written_end(&nr_blocks);
}

/* The value of a fact; it is valid until the next call. */
static const char *fact(const char *key)
{
	size_t nr = decode_rows(blocks, nr_blocks, GPROF_TABLE_info);

	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(decode_text(blocks, nr_blocks, GPROF_TABLE_info, "key", i), key)) {
			return decode_text(blocks, nr_blocks, GPROF_TABLE_info, "value", i);
		}
	}
	return "";
}

static char *repeat(char *text, size_t nr_bytes)
{
	memset(text, 'x', nr_bytes);
	text[nr_bytes] = 0;
	return text;
}

/* Eight GPUs by their ids take more than 300 bytes. */
START_TEST(values_of_launchers_are_whole)
{
	char devices[1000], job[GPROF_TEXT_BYTES + 1];

	setenv("CUDA_VISIBLE_DEVICES", repeat(devices, sizeof(devices) - 1), 1);
	setenv("TORCHELASTIC_RUN_ID", repeat(job, sizeof(job) - 1), 1);
	setenv("RANK", "7", 1);
	write_facts();
	ck_assert_str_eq(fact("cuda.visible_devices"), devices);
	ck_assert_str_eq(fact("job.id"), job);
	ck_assert_str_eq(fact("job.id.source"), "TORCHELASTIC_RUN_ID");
	ck_assert_str_eq(fact("rank.world"), "7");
	ck_assert_uint_eq(loss_take(LOSS_TEXT), 0);
}
END_TEST

START_TEST(values_that_are_cut_are_counted)
{
	char text[3 * GPROF_TEXT_BYTES];

	setenv("WORLD_SIZE", repeat(text, GPROF_TEXT_BYTES + 1), 1);
	setenv("TORCHELASTIC_RUN_ID", repeat(text, GPROF_TEXT_BYTES + 100), 1);
	setenv("MASTER_ADDR", "node", 1); /* no room is left */
	write_facts();
	ck_assert_uint_eq(strlen(fact("rank.world_size")), GPROF_TEXT_BYTES);
	ck_assert_uint_gt(strlen(fact("job.id")), GPROF_TEXT_BYTES - 100);
	ck_assert_uint_eq(loss_take(LOSS_TEXT), 3);
}
END_TEST

START_TEST(ancestors_are_known_however_many)
{
	enum { DEEP = 40 };
	static char start_of_all[32];
	int status;

	snprintf(start_of_all, sizeof(start_of_all), "%d:", (int)getpid());
	for (int depth = 1; depth <= DEEP; depth++) {
		pid_t child = fork();

		ck_assert_int_ge(child, 0);
		if (child) {
			ck_assert_int_eq(waitpid(child, &status, 0), child);
			ck_assert_int_eq(status, 0);
			if (depth > 1) {
				_exit(0);
			}
			return;
		}
	}
	write_facts();
	_exit(strstr(fact("process.ancestors"), start_of_all) && !loss_take(LOSS_TEXT) ? 0 : 1);
}
END_TEST

/* Nobody started this program under the preload. */
START_TEST(a_launch_begins_with_the_first_under_the_preload)
{
	char self[64] = "", ticks[32];

	write_facts();
	/* Under qemu nobody knows when a process began. */
	snprintf(ticks, sizeof(ticks), "%s", fact("process.start_ticks"));
	if (*ticks) {
		snprintf(self, sizeof(self), "%d:%s", (int)getpid(), ticks);
	}
	ck_assert_str_eq(fact("process.first_launched"), self);
}
END_TEST

UNIT_SUITE("facts", values_of_launchers_are_whole, values_that_are_cut_are_counted,
	ancestors_are_known_however_many, a_launch_begins_with_the_first_under_the_preload)
