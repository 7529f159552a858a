/* SPDX-License-Identifier: Apache-2.0 */
/* Python stacks that are deeper than a flame graph follows. */
#include <string.h>

#include "report/timeline/flame.h"
#include "report/util/string_pool.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

enum { BASE = 1000000, FOLLOWED = 256 };

/* A stack of so many frames, and an operator in it. */
static struct process *make_deep(const char *name, uint32_t nr_frames)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	struct gprof_row_op *op;

	gen_anchor(gen, BASE, BASE, BASE);
	gen_py_code(gen, 1, 0, 5, "recurse");
	for (uint32_t i = 1; i <= nr_frames; i++) {
		gen_py_stack(gen, i, i - 1, 1, 6);
	}
	op = gen_op(gen, "aten::add", BASE + 1000, BASE + 3000);
	op->thread = 1;
	op->framework = GPROF_FRAMEWORK_TORCH;
	op->py_stack = nr_frames;
	gen_close(gen, "exit");
	return streams_process(path);
}

/* Frames of Python have their file and line before the name. */
static size_t count_frames(const struct flame *flame, const char *end)
{
	size_t nr = 0, nr_end = strlen(end);

	for (size_t i = 1; i < flame->nr_frames; i++) {
		size_t nr_bytes;
		const char *text = string_pool_shown(flame->frames[i].name, &nr_bytes);

		nr += nr_bytes >= nr_end && !memcmp(text + nr_bytes - nr_end, end, nr_end);
	}
	return nr;
}

static void expect(const char *file, uint32_t nr_frames, size_t nr_shown, size_t nr_marks)
{
	struct process *process = make_deep(file, nr_frames);
	struct flame flame;

	flame_read(&flame, &process, 1, FLAME_STACKS, FLAME_ALL_PHASES, NULL);
	ck_assert_uint_eq(count_frames(&flame, "recurse"), nr_shown);
	ck_assert_uint_eq(count_frames(&flame, "(outer frames left out)"), nr_marks);
	flame_fini(&flame);
	process_destroy(process);
}

START_TEST(outer_frames_that_are_left_out_have_one_that_says_so)
{
	expect("fits.gprof", FOLLOWED, FOLLOWED, 0);
	expect("deep.gprof", FOLLOWED + 44, FOLLOWED, 1);
}
END_TEST

UNIT_SUITE("report/flame", outer_frames_that_are_left_out_have_one_that_says_so);
