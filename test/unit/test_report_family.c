/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/process_tree.h"

#include <string.h>

#include "report/model/process_exit.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define NR 4

/* A stream that names that parent and identity; NULL leaves a fact out. */
static struct process *make(const char *name, const char *parent, const char *ticks,
	const char *ancestors, const char *how)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);

	gen_info(gen, "host.boot_id", "some boot");
	if (parent) {
		gen_info(gen, "process.parent_stream", parent);
	}
	if (ticks) {
		gen_info(gen, "process.start_ticks", ticks);
	}
	if (ancestors) {
		gen_info(gen, "process.ancestors", ancestors);
	}
	gen_close(gen, how);
	return streams_process(path);
}

/* The tree of these processes, which it destroys. */
static const char *tree(struct process **all, size_t nr)
{
	static struct process_tree_member members[NR];
	static char text[4096];
	struct buf out = {0};

	process_tree_find(all, nr, members);
	process_tree_add_tree(&out, all, nr, members);
	ck_assert_uint_lt(out.nr_bytes, sizeof(text));
	memcpy(text, out.bytes, out.nr_bytes);
	text[out.nr_bytes] = '\0';
	buf_fini(&out);
	for (size_t i = 0; i < nr; i++) {
		process_destroy(all[i]);
	}
	return text;
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what)) {
		n++;
	}
	return n;
}

START_TEST(the_same_pid_alone_is_no_kinship)
{
	struct process *all[] = {make("a.gprof", NULL, "1", "4242:7", "exit"),
		make("b.gprof", NULL, "2", "4242:8", "exit"),
		make("c.gprof", NULL, NULL, "4242", "exit")};
	const char *text = tree(all, 3);

	ck_assert_uint_eq(count(text, "\n"), 3);
	ck_assert_uint_eq(count(text, "\n  4242"), 2);
	ck_assert_uint_eq(count(text, "fork") + count(text, "spawn") + count(text, "exec"), 0);
}
END_TEST

START_TEST(a_child_hangs_below_the_stream_that_it_names)
{
	struct process *all[] = {make("child.gprof", "parent.gprof", "1", NULL, "_exit"),
		make("parent.gprof.part", NULL, "2", NULL, "exit"),
		make("grandchild.gprof", "child.gprof", "3", NULL, "exit")};
	const char *text = tree(all, 3);

	ck_assert_ptr_eq(strstr(text, "  4242"), text);
	ck_assert_uint_eq(count(text, "\n    4242    fork"), 1);
	ck_assert_uint_eq(count(text, "\n      4242    fork"), 1);
	ck_assert_ptr_nonnull(strstr(text, "ended by _exit"));
	ck_assert_ptr_nonnull(strstr(text, "the file is still named .part"));
}
END_TEST

START_TEST(streams_that_name_each_other_are_all_shown)
{
	struct process *all[] = {make("x.gprof", "y.gprof", NULL, NULL, "exit"),
		make("y.gprof", "x.gprof", NULL, NULL, "exit"),
		make("z.gprof", "y.gprof", NULL, NULL, "exit"),
		make("self.gprof", "self.gprof", NULL, NULL, "exit")};

	ck_assert_uint_eq(count(tree(all, NR), "\n"), NR);
}
END_TEST

START_TEST(a_worker_of_a_loader_is_called_by_its_number)
{
	static const struct {
		const char *number, *of, *name;
	} cases[] = {{"3", "4", "loader worker 3"}, {"0", "1", "loader worker 0"},
		{"4", "4", "python x.py"}, {"-1", "4", "python x.py"}, {"3", "", "python x.py"},
		{"one", "4", "python x.py"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path = streams_path("worker.gprof");
		struct gen *gen = gen_open(path);
		struct process *process;
		struct buf name = {0}, text = {0};

		gen_info(gen, "process.command", "python x.py");
		gen_info(gen, "loader.worker", cases[i].number);
		gen_info(gen, "loader.workers", cases[i].of);
		gen_close(gen, "exit");
		process = streams_process(path);
		process_tree_add_name(&name, process);
		buf_char(&name, '\0');
		ck_assert_str_eq(name.bytes, cases[i].name);
		process_tree_add_worker(&text, process);
		buf_char(&text, '\0');
		ck_assert_str_eq(text.bytes, i == 0   ? ", loader worker 3 of 4"
					     : i == 1 ? ", loader worker 0 of 1"
						      : "");
		buf_fini(&name);
		buf_fini(&text);
		process_destroy(process);
	}
}
END_TEST

START_TEST(an_end_of_another_version_is_told_as_it_stands)
{
	struct process *process = make("new.gprof", NULL, NULL, NULL, "evaporated");
	struct buf out = {0};

	process_exit_add_text(&out, process, &process, 1);
	buf_char(&out, '\0');
	ck_assert_str_eq(out.bytes, "ended by itself: evaporated");
	buf_fini(&out);
	process->is_ended = false;
	process->stream->end_kind = 77;
	process_exit_add_text(&out, process, &process, 1);
	buf_char(&out, '\0');
	ck_assert_ptr_nonnull(strstr(out.bytes, "does not know (77)"));
	buf_fini(&out);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/family", the_same_pid_alone_is_no_kinship,
	a_child_hangs_below_the_stream_that_it_names, streams_that_name_each_other_are_all_shown,
	a_worker_of_a_loader_is_called_by_its_number,
	an_end_of_another_version_is_told_as_it_stands)
