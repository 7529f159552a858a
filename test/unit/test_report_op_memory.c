/* SPDX-License-Identifier: Apache-2.0 */
/* What operators asked the allocator for, and single blocks; and the pages that show it. */
#include "report/memory/op_memory.h"

#include <string.h>

#include "report/session/summary.h"
#include "test/unit/report_made.h"

#define KB 1024

static void add_alloc(
	struct made *made, uint64_t time, uint64_t address, int64_t bytes, uint8_t device_type)
{
	struct gprof_row_alloc *row = gen_row(made->gen, GPROF_TABLE_alloc);

	row->time = time;
	row->thread = 1;
	row->address = address;
	row->bytes = bytes;
	row->device_type = device_type;
}

/* addmm asks for 4 KB and gives 1 KB back that it did not ask for, mm in it asks for 8 and 2. */
static const char *make(const char *name)
{
	struct made made = made_open(name);

	add_alloc(&made, 1100, 0xa000, 4 * KB, 1);
	add_alloc(&made, 1210, 0xb000, 8 * KB, 1);
	add_alloc(&made, 1220, 0xc000, 2 * KB, 1);
	add_alloc(&made, 1230, 0xc000, -2 * KB, 1);
	add_alloc(&made, 1240, 0xc000, 16 * KB, 0);
	made_op(&made, "aten::mm", 1205, 1290, 2); /* in one of the same name: counts once */
	made_op(&made, "aten::mm", 1200, 1300, 1);
	add_alloc(&made, 1350, 0xd000, -1 * KB, 1);
	made_op(&made, "aten::addmm", 1000, 1400, 0);
	made_op(&made, "aten::mm", 1500, 1600, 0);
	add_alloc(&made, 1700, 0xb000, -8 * KB, 1);
	gen_close(made.gen, "exit");
	return made.path;
}

static const struct op_memory *find(
	const struct op_memory **rows, size_t nr, const char *name, uint32_t device)
{
	for (size_t i = 0; i < nr; i++) {
		if (rows[i]->key.device == device &&
			strcmp(string_pool_text(rows[i]->key.name, NULL), name) == 0) {
			return rows[i];
		}
	}
	ck_abort_msg("no %s", name);
	return NULL;
}

static void check(const struct op_memory_sums *sums, int64_t increase, uint64_t count, uint64_t kb)
{
	ck_assert_int_eq(sums->increase, increase * KB);
	ck_assert_uint_eq(sums->count, count);
	ck_assert_uint_eq(sums->bytes, kb * KB);
}

START_TEST(operators_have_what_they_and_those_in_them_asked_for)
{
	struct process *process = streams_process(make("memory.gprof"));
	const struct view_class *class = &view_op_memory;
	struct view_input input = {.processes = &process, .nr_processes = 1};
	const struct op_memory **rows;
	size_t nr;
	void *view;

	view_run(&input, &class, 1, &view);
	rows = op_memory_rows(view, &nr);
	ck_assert_uint_eq(nr, 4);
	check(&find(rows, nr, "aten::mm", 256)->self, 8, 2, 10);
	check(&find(rows, nr, "aten::mm", 256)->total, 8, 2, 10);
	ck_assert_uint_eq(find(rows, nr, "aten::mm", 256)->calls, 2);
	check(&find(rows, nr, "aten::addmm", 256)->self, 3, 1, 4);
	check(&find(rows, nr, "aten::addmm", 256)->total, 11, 3, 14);
	check(&find(rows, nr, "aten::addmm", 0)->self, 0, 0, 0);
	check(&find(rows, nr, "aten::addmm", 0)->total, 16, 1, 16);
	view_destroy(class, view);
	process_destroy(process);
}
END_TEST

START_TEST(blocks_have_their_times_if_these_were_seen)
{
	static const struct allocation wanted[] = {
		{.bytes = 16 * KB, .alloc_ns = 240, .free_ns = UINT64_MAX, .device = 0},
		{.bytes = 8 * KB, .alloc_ns = 210, .free_ns = 700, .device = 256},
		{.bytes = 4 * KB, .alloc_ns = 100, .free_ns = UINT64_MAX, .device = 256},
		{.bytes = 2 * KB, .alloc_ns = 220, .free_ns = 230, .device = 256},
		{.bytes = 1 * KB, .alloc_ns = UINT64_MAX, .free_ns = 350, .device = 256}};
	struct process *process = streams_process(make("blocks.gprof"));
	const struct view_class *class = &view_op_memory;
	struct view_input input = {.processes = &process, .nr_processes = 1};
	const struct allocation *blocks;
	size_t nr;
	void *view;

	process->first_ns = 1000;
	view_run(&input, &class, 1, &view);
	blocks = allocations_sorted(op_memory_blocks(view), &nr);
	ck_assert_uint_eq(nr, 5);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(blocks[i].bytes, wanted[i].bytes);
		ck_assert_uint_eq(blocks[i].alloc_ns, wanted[i].alloc_ns);
		ck_assert_uint_eq(blocks[i].free_ns, wanted[i].free_ns);
		ck_assert_uint_eq(blocks[i].device, wanted[i].device);
	}
	ck_assert_str_eq(string_pool_text(blocks[0].name, NULL), "aten::mm");
	ck_assert_str_eq(string_pool_text(blocks[2].name, NULL), "aten::addmm");
	view_destroy(class, view);
	process_destroy(process);
}
END_TEST

START_TEST(of_many_blocks_the_largest_are_kept)
{
	struct made made = made_open("many.gprof");
	const struct view_class *class = &view_op_memory;
	const struct allocation *blocks;
	struct process *process;
	struct view_input input = {.processes = &process, .nr_processes = 1};
	size_t nr;
	void *view;

	for (uint32_t i = 0; i < 5000; i++) {
		add_alloc(&made, 1000 + i, i, 1 + i * 7919 % 5000, 1);
	}
	gen_close(made.gen, "exit");
	process = streams_process(made.path);
	view_run(&input, &class, 1, &view);
	blocks = allocations_sorted(op_memory_blocks(view), &nr);
	ck_assert_uint_eq(op_memory_blocks(view)->nr_all, 5000);
	ck_assert_uint_eq(nr, ALLOCATIONS_MAX);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(blocks[i].bytes, 5000 - i);
	}
	view_destroy(class, view);
	process_destroy(process);
}
END_TEST

START_TEST(pages_have_the_plugins_columns)
{
	static const char *const wanted[] = {
		"Operator Name  Calls  Size Increase (KB)  Self Size Increase (KB)  Allocation "
		"Count  Self Allocation Count  Allocation Size (KB)  Self Allocation Size (KB)\n",
		"aten::addmm        1               11.00                     3.00                 "
		"3                      1                 14.00                       4.00\n",
		"Step  Kernel", "Kernel: Name + Op Name\n", "Module\n",
		"Distributed: Communication Operations\n"};
	struct process *process = streams_process(make("pages.gprof"));
	struct cmd_input input = {.processes = &process, .nr_processes = 1};
	struct summary summary = {.style = &style_tensorboard,
		.is_default = true,
		.asked.table.width = 1000}; /* no column is left out */
	struct buf out = {0};

	ck_assert_ptr_null(style_tensorboard.print(&summary, &input, &out));
	buf_char(&out, '\0');
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		ck_assert_msg(
			strstr(out.bytes, wanted[i]) != NULL, "%s not in %s", wanted[i], out.bytes);
	}
	buf_fini(&out);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/op_memory", operators_have_what_they_and_those_in_them_asked_for,
	blocks_have_their_times_if_these_were_seen, of_many_blocks_the_largest_are_kept,
	pages_have_the_plugins_columns)
