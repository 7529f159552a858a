/* SPDX-License-Identifier: Apache-2.0 */
#include "report/sql/database.h"
#include "report/sql/nsys_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/styles/nsys_walk.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

static struct summary summary; /* asks must stay as long as their tables */

/* The table of a report; its views are kept to the end of the test's process. */
static struct table *report_of(const char *report, struct process **processes, size_t nr)
{
	static void *kept[64][NSYS_VIEWS];
	static size_t nr_kept;
	struct view_input input = {.processes = processes, .nr_processes = nr};
	const struct view_class *const *classes;
	void **views = kept[nr_kept++];
	const struct nsys_ask *ask;
	size_t nr_classes = 0;

	ck_assert_uint_le(nr_kept, 64);
	ck_assert(nsys_take(&summary, report));
	ask = &summary.reports[summary.nr_reports - 1];
	if (ask->report->is_query) {
		return nsys_query_table(ask, NULL, processes, nr);
	}
	classes = ask->has_ranges ? ask->report->range_views : ask->report->views;
	while (nr_classes < NSYS_VIEWS && classes[nr_classes]) {
		nr_classes++;
	}
	view_run(&input, classes, nr_classes, views);
	return ask->report->table(ask, views);
}

static const struct table_cell *cell_of(const struct table *table, size_t row, const char *key)
{
	const struct table_cell *cell = table_find_cell(table, row, key);

	ck_assert_msg(cell != NULL, "no column %s", key);
	return cell;
}

static uint64_t number_of(const struct table *table, size_t row, const char *key)
{
	const struct table_cell *cell = cell_of(table, row, key);

	ck_assert_msg(cell->is_known, "%s of row %zu", key, row);
	return cell->integer;
}

/* A copy, good until seven more were asked for: a row is gone with the next one. */
static const char *text_of(const struct table *table, size_t row, const char *key)
{
	static char texts[8][512];
	static unsigned int next;
	const struct table_cell *cell = cell_of(table, row, key);
	char *text = texts[next++ % 8];

	snprintf(text, sizeof(texts[0]), "%s", cell->text ? cell->text : "");
	return text;
}

/* ---- random ranges and launches of two threads ---- */

#define NR_EVENTS 600
#define NR_RANGES 300

struct plain_range {
	uint64_t begin, end;
	uint32_t thread, name, domain;
	uint32_t level;
};

struct plain_launch {
	uint64_t begin, end, kernel_begin, kernel_end;
	uint32_t thread, kernel;
};

static struct plain_range ranges[NR_RANGES];
static struct plain_launch launches[NR_EVENTS];
static size_t nr_ranges, nr_launches;

struct maker {
	struct gen *gen;
	uint64_t tick, seed;
	uint32_t thread;
	uint32_t names[4], shapes[2];
	uint16_t call;
	uint32_t correlation;
};

static void add_nvtx(struct maker *m, uint8_t op, uint32_t name, uint32_t domain)
{
	struct gprof_row_nvtx *row = gen_nvtx(m->gen, m->thread, op, m->tick);

	row->name = name;
	row->domain = domain;
}

static void add_launch(struct maker *m)
{
	struct plain_launch *launch = &launches[nr_launches++];
	struct gprof_row_api_launch *call = gen_row(m->gen, GPROF_TABLE_api_launch);
	struct gprof_row_kernel *kernel;

	*launch = (struct plain_launch){.begin = m->tick,
		.end = m->tick + 1 + unit_random(&m->seed) % 9,
		.thread = m->thread,
		.kernel = (uint32_t)(unit_random(&m->seed) % 2)};
	/* Some end before their call does. */
	launch->kernel_begin =
		launch->begin + unit_random(&m->seed) % (m->correlation % 3 ? 500 : 5);
	launch->kernel_end =
		launch->kernel_begin + unit_random(&m->seed) % (m->correlation % 3 ? 100 : 3);
	call->begin = launch->begin;
	call->dur = launch->end;
	call->thread = m->thread;
	call->call = m->call;
	call->correlation = ++m->correlation;
	kernel = gen_row(m->gen, GPROF_TABLE_kernel);
	kernel->begin = launch->kernel_begin;
	kernel->dur = launch->kernel_end;
	kernel->correlation = m->correlation;
	kernel->shape = m->shapes[launch->kernel];
	m->tick = launch->end + 1;
}

/* A range with what lies in it: launches, ranges of its domain, of the other domain across. */
static void add_range(struct maker *m, uint32_t level, uint32_t domain)
{
	struct plain_range *range = &ranges[nr_ranges++];
	uint32_t name = (uint32_t)(unit_random(&m->seed) % 4);

	*range = (struct plain_range){.begin = m->tick,
		.thread = m->thread,
		.name = name,
		.domain = domain,
		.level = level};
	add_nvtx(m, GPROF_NVTX_PUSH, m->names[name], domain);
	m->tick += 1 + unit_random(&m->seed) % 5;
	for (int i = 0; i < 4; i++) {
		uint64_t what = unit_random(&m->seed) % 4;

		if (what < 2 && nr_launches < NR_EVENTS) {
			add_launch(m);
		} else if (what == 2 && level < 20 && nr_ranges < NR_RANGES) {
			add_range(m, level + 1, domain);
		}
	}
	m->tick += 1 + unit_random(&m->seed) % 5;
	add_nvtx(m, GPROF_NVTX_POP, 0, domain);
	range->end = m->tick;
	m->tick += 1;
}

static const char *make_ranges(uint64_t seed)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	const char *path = streams_path("ranges.gprof");
	struct maker m = {.gen = gen_open(path), .tick = 1000, .seed = seed};

	nr_ranges = nr_launches = 0;
	gen_anchor(m.gen, 0, 0, 0);
	m.call = gen_call(m.gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	for (int i = 0; i < 4; i++) {
		m.names[i] = gen_string(m.gen, names[i]);
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t name = gen_string(m.gen, i ? "void ns::gemm<int>(int*)" : "copy");
		struct gprof_row_shape *shape = gen_row(m.gen, GPROF_TABLE_shape);

		shape->id = m.shapes[i] = i + 1;
		shape->name = name;
		shape->grid_x = shape->grid_y = shape->grid_z = 1 + i;
		shape->block_x = 32;
		shape->block_y = shape->block_z = 1;
	}
	for (m.thread = 1; m.thread <= 2; m.thread++) {
		struct gprof_row_thread *thread = gen_row(m.gen, GPROF_TABLE_thread);

		thread->thread = m.thread;
		thread->tid = 100 + m.thread;
		m.tick = 1000 + 7 * m.thread;
		while (nr_ranges < NR_RANGES / 2 * m.thread) {
			add_range(&m, 0, 0);
		}
	}
	gen_close(m.gen, "exit");
	return path;
}

static bool is_in(const struct plain_launch *launch, const struct plain_range *range)
{
	return launch->thread == range->thread && launch->begin >= range->begin &&
	       launch->end <= range->end;
}

static const char range_names[][3] = {":a", ":b", ":c", ":d"};

START_TEST(ranges_are_projected_onto_what_was_launched_in_them)
{
	for (uint64_t seed = 1; seed < 6; seed++) {
		struct process *process = streams_process(make_ranges(seed));
		struct table *table = report_of("nvtx_gpu_proj_trace", &process, 1);
		size_t expected = 0;

		for (size_t i = 0; i < nr_ranges; i++) {
			uint64_t first = UINT64_MAX, last = 0, nr = 0;
			size_t row = 0;

			for (size_t k = 0; k < nr_launches; k++) {
				if (is_in(&launches[k], &ranges[i])) {
					first = launches[k].kernel_begin < first
							? launches[k].kernel_begin
							: first;
					last = launches[k].kernel_end > last
						       ? launches[k].kernel_end
						       : last;
					nr++;
				}
			}
			if (!nr) {
				continue;
			}
			expected++;
			while (row < table->nr_rows &&
				!(number_of(table, row, "start_ns") == ranges[i].begin - 1007 &&
					number_of(table, row, "tid") == 100 + ranges[i].thread)) {
				row++;
			}
			ck_assert_uint_lt(row, table->nr_rows);
			ck_assert_str_eq(text_of(table, row, "name"), range_names[ranges[i].name]);
			ck_assert_uint_eq(number_of(table, row, "proj_start_ns"), first - 1007);
			ck_assert_uint_eq(number_of(table, row, "proj_duration_ns"), last - first);
			ck_assert_uint_eq(number_of(table, row, "gpu_activities"), nr);
			ck_assert_uint_eq(number_of(table, row, "level"), ranges[i].level);
		}
		ck_assert_uint_eq(table->nr_rows, expected);
		table_destroy(table);
		process_destroy(process);
	}
}
END_TEST

/* Launches of a kernel on a thread in ranges of a name, counted in each; and in how many ranges. */
static void count_plain(uint32_t name, uint32_t thread, uint32_t kernel, uint64_t *nr,
	uint64_t *total_ns, uint64_t *nr_with)
{
	*nr = *total_ns = *nr_with = 0;
	for (size_t i = 0; i < nr_ranges; i++) {
		uint64_t before = *nr;

		for (size_t k = 0; k < nr_launches; k++) {
			if (ranges[i].name == name && ranges[i].thread == thread &&
				launches[k].kernel == kernel && is_in(&launches[k], &ranges[i])) {
				(*nr)++;
				*total_ns += launches[k].kernel_end - launches[k].kernel_begin;
			}
		}
		*nr_with += *nr > before;
	}
}

START_TEST(a_kernel_counts_in_every_range_that_its_launch_lies_in)
{
	for (uint64_t seed = 1; seed < 6; seed++) {
		struct process *process = streams_process(make_ranges(seed));
		struct table *table = report_of("nvtx_kern_sum:base", &process, 1);

		ck_assert_uint_gt(table->nr_rows, 0);
		for (size_t row = 0; row < table->nr_rows; row++) {
			uint64_t nr, total_ns, nr_with;
			const char *range = text_of(table, row, "range");

			ck_assert_uint_eq(strlen(range), 2);
			count_plain((uint32_t)(range[1] - 'a'),
				(uint32_t)number_of(table, row, "tid") - 100,
				strcmp(text_of(table, row, "name"), "gemm") == 0, &nr, &total_ns,
				&nr_with);
			ck_assert_uint_eq(number_of(table, row, "calls"), nr);
			ck_assert_uint_eq(number_of(table, row, "total_ns"), total_ns);
			ck_assert_uint_eq(number_of(table, row, "ranges"), nr_with);
		}
		table_destroy(table);
		process_destroy(process);
	}
}
END_TEST

START_TEST(pushed_ranges_tell_their_place_and_the_time_of_those_in_them)
{
	struct process *process = streams_process(make_ranges(3));
	struct table *table = report_of("nvtx_pushpop_trace", &process, 1);
	uint64_t roots = 0, own = 0;

	ck_assert_uint_eq(table->nr_rows, nr_ranges);
	for (size_t row = 0; row < table->nr_rows; row++) {
		uint64_t level = number_of(table, row, "level"), colons = 0;
		const char *tree = text_of(table, row, "tree");

		ck_assert_uint_eq(number_of(table, row, "id"), row + 1);
		ck_assert_int_eq(cell_of(table, row, "parent")->is_known, level > 0);
		ck_assert_uint_eq(strspn(tree, "-"), 2 * level);
		ck_assert_str_eq(tree + 2 * level, text_of(table, row, "name"));
		for (const char *c = text_of(table, row, "stack"); *c; c++) {
			colons += *c == ':';
		}
		ck_assert_uint_eq(colons, level <= NSYS_STACK ? level + 1 : NSYS_STACK + 2);
		own += number_of(table, row, "self_ns");
		roots += level ? 0 : number_of(table, row, "duration_ns");
	}
	ck_assert_uint_eq(own, roots); /* every moment is some range's own */
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(kernels_may_carry_the_innermost_range_in_their_names)
{
	struct process *process = streams_process(make_ranges(4));
	struct table *table = report_of("cuda_gpu_kern_sum:nvtx-name:base", &process, 1);
	uint64_t calls = 0;

	for (size_t row = 0; row < table->nr_rows; row++) {
		const char *name = text_of(table, row, "name");
		uint64_t nr = 0;

		ck_assert_int_eq(name[2], '/');
		for (size_t k = 0; k < nr_launches; k++) {
			const struct plain_range *inner = NULL;

			for (size_t i = 0; i < nr_ranges; i++) {
				if (is_in(&launches[k], &ranges[i]) &&
					(!inner || ranges[i].begin > inner->begin)) {
					inner = &ranges[i];
				}
			}
			nr += inner && inner->name == (uint32_t)(name[1] - 'a') &&
			      strcmp(name + 3, launches[k].kernel ? "gemm" : "copy") == 0;
		}
		ck_assert_uint_eq(number_of(table, row, "calls"), nr);
		calls += nr;
	}
	ck_assert_uint_eq(calls, nr_launches);
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(launch_and_execution_are_joined_by_correlation_and_sum_up)
{
	struct process *process = streams_process(make_ranges(5));
	struct table *trace = report_of("cuda_kern_exec_trace", &process, 1);
	struct table *sum = report_of("cuda_kern_exec_sum", &process, 1);
	uint64_t queued = 0, total = 0, plain_queued = 0, plain_total = 0, sum_queued = 0;

	ck_assert_uint_eq(trace->nr_rows, nr_launches);
	for (size_t k = 0; k < nr_launches; k++) {
		const struct plain_launch *l = &launches[k];

		plain_queued += l->kernel_begin > l->end ? 1 : 0;
		plain_total += (l->kernel_end > l->end ? l->kernel_end : l->end) - l->begin;
		queued += cell_of(trace, k, "queue_start_ns")->is_known;
		total += number_of(trace, k, "total_ns");
	}
	ck_assert_uint_eq(queued, plain_queued);
	ck_assert_uint_eq(total, plain_total);
	ck_assert_uint_eq(sum->nr_rows, 4); /* two threads, two kernels */
	for (size_t row = 0; row < 4; row++) {
		sum_queued += number_of(sum, row, "queued");
	}
	ck_assert_uint_eq(sum_queued, plain_queued);
	table_destroy(trace);
	table_destroy(sum);
	process_destroy(process);
}
END_TEST

START_TEST(kernels_are_told_apart_by_grid_and_block)
{
	struct process *process = streams_process(make_ranges(2));
	struct table *table = report_of("cuda_gpu_kern_gb_sum:base", &process, 1);
	size_t row = tables_find(table, "name", "gemm", 0);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_str_eq(text_of(table, row, "grid"), "   2    2    2");
	ck_assert_str_eq(text_of(table, row, "block"), "  32    1    1");
	table_destroy(table);
	process_destroy(process);
}
END_TEST

START_TEST(all_of_a_gpu_is_one_report_with_shares_of_its_own_sum)
{
	struct process *process = streams_process(streams_small("a.gprof"));
	struct table *table = report_of("cuda_gpu_sum", &process, 1);
	double shares = 0;

	for (size_t row = 0; row < table->nr_rows; row++) {
		shares += cell_of(table, row, "share_pct")->number;
	}
	ck_assert_double_eq_tol(shares, 100, 1e-9);
	ck_assert_str_eq(text_of(table, 0, "category"), "CUDA_KERNEL");
	ck_assert_uint_eq(number_of(table, 0, "total_ns"), 66000);
	ck_assert_str_eq(text_of(table, 1, "name"), "[CUDA memcpy Host-to-Device]");
	ck_assert_str_eq(text_of(table, 1, "category"), "MEMORY_OPER");
	table_destroy(table);
	process_destroy(process);
}
END_TEST

/* ---- names ---- */

static void check_base(const char *name, const char *base)
{
	size_t begin, end;
	char text[256] = {0};

	nsys_base_name(name, strlen(name), &begin, &end);
	ck_assert_uint_le(begin, end);
	ck_assert_uint_le(end, strlen(name));
	memcpy(text, name + begin, end - begin);
	ck_assert_str_eq(text, base);
}

START_TEST(a_base_name_has_no_result_namespace_or_arguments)
{
	check_base("gemm", "gemm");
	check_base("void gemm<float>(float const*, float*, int)", "gemm");
	check_base("void at::native::vectorized_elementwise_kernel<4, at::native::F<float>, "
		   "std::array<char*, 1ul> >(int, at::native::F<float>)",
		"vectorized_elementwise_kernel");
	check_base("at::native::(anonymous namespace)::softmax<int>(float*)", "softmax");
	check_base("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	check_base("", "");
	check_base("<<<", "<<<");
	check_base("f(", "f");
	check_base("a::", "a::");
	check_base("(anonymous namespace)", "(anonymous namespace)");
}
END_TEST

START_TEST(reports_are_asked_for_by_name_with_arguments_they_know)
{
	struct summary asked = {0};

	ck_assert(nsys_take(&asked, "cuda_api_sum,cuda_gpu_kern_sum:nvtx-name:mangled"));
	ck_assert_uint_eq(asked.nr_reports, 2);
	ck_assert_int_eq(asked.reports[1].names, NSYS_MANGLED);
	ck_assert(asked.reports[1].has_ranges);
	ck_assert(!nsys_take(&asked, "cuda_api_sum:base"));
	ck_assert(!nsys_take(&asked, "nothing"));
	ck_assert(!nsys_take(&asked, ""));
	ck_assert(!nsys_take(&asked, "cuda_gpu_kern_sum:"));
	ck_assert(!nsys_take(&asked, "cuda_gpu_trace:nvtx-name"));
	free(asked.reports);
}
END_TEST

UNIT_SUITE("report/import/nsys", ranges_are_projected_onto_what_was_launched_in_them,
	a_kernel_counts_in_every_range_that_its_launch_lies_in,
	pushed_ranges_tell_their_place_and_the_time_of_those_in_them,
	kernels_may_carry_the_innermost_range_in_their_names,
	launch_and_execution_are_joined_by_correlation_and_sum_up,
	kernels_are_told_apart_by_grid_and_block,
	all_of_a_gpu_is_one_report_with_shares_of_its_own_sum,
	a_base_name_has_no_result_namespace_or_arguments,
	reports_are_asked_for_by_name_with_arguments_they_know)
