/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `*_sum` reports of calls, kernels and copies. Time (%) is of the sum of the column beside it;
 * rows fall by that column.
 */
#include <string.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/styles/nsys_reports.h"

enum category {
	CUDA_API,
	CUDA_KERNEL,
	MEMORY_OPER,
};

/* ---- rows of views made rows of a report: `name` is the text, `kind` what else distinguishes them
 */

static void merge(struct keyed_stats *merged, uint32_t name, uint32_t kind,
	const struct keyed_stats *from, size_t from_row)
{
	uint32_t row = keyed_stats_find(merged, (uint64_t)kind << 32 | name, name, kind);

	histogram_merge(&merged->times, row, &from->times, (uint32_t)from_row);
	histogram_merge(&merged->sizes, row, &from->sizes, (uint32_t)from_row);
	merged->rows[row].untimed += from->rows[from_row].untimed;
	merged->rows[row].is_counted |= from->rows[from_row].is_counted;
}

/* Merges the calls of all APIs, or those of CUDA alone. */
static void merge_calls(struct keyed_stats *merged, const struct keyed_stats *calls, bool is_cuda)
{
	for (size_t i = 0; i < calls->nr_rows; i++) {
		uint32_t api = calls->rows[i].kind;

		if (!is_cuda || api == GPROF_API_RUNTIME || api == GPROF_API_DRIVER) {
			merge(merged, calls->rows[i].name, CUDA_API, calls, i);
		}
	}
}

static void merge_copies(struct keyed_stats *merged, const struct keyed_stats *copies)
{
	for (size_t i = 0; i < copies->nr_rows; i++) {
		uint32_t kind = copies->rows[i].kind;

		/* Times of calls are not those of copies. */
		if (!(kind & COPY_IS_HOST_CALL)) {
			merge(merged, nsys_operation(kind), MEMORY_OPER, copies, i);
		}
	}
}

/* "range/kernel" */
static uint32_t with_range(uint32_t range, uint32_t name)
{
	struct buf text = {0};
	const char *bytes;
	size_t nr_bytes;
	uint32_t both;

	if (!range) {
		return name;
	}
	bytes = string_pool_text(range, &nr_bytes);
	buf_add(&text, bytes, nr_bytes);
	buf_char(&text, '/');
	bytes = string_pool_text(name, &nr_bytes);
	buf_add(&text, bytes, nr_bytes);
	both = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return both;
}

/* view: of view_kernel, or with ranges one of nsys_kernels.c. */
static void merge_kernels(struct keyed_stats *merged, const struct nsys_ask *ask, void *view)
{
	const struct keyed_stats *kernels =
		ask->has_ranges ? nsys_kernels_tally(view) : view_keyed(&view_kernel, view);

	for (size_t i = 0; i < kernels->nr_rows; i++) {
		uint32_t name = nsys_kernel_name(ask, kernels->rows[i].name);
		uint32_t range = ask->has_ranges ? nsys_kernels_row(view, i)->range : 0;

		merge(merged, with_range(range, name), CUDA_KERNEL, kernels, i);
	}
}

/* ---- tables ---- */

static struct table *make_table(
	struct keyed_stats *merged, const struct table_column *columns, unsigned int nr_columns)
{
	struct table *table = table_create("rows", "", columns, nr_columns);
	double total_ns = keyed_stats_total_ns(merged);

	keyed_stats_finish(merged);
	for (size_t i = 0; i < merged->nr_rows; i++) {
		table_add(table, &(struct nsys_sum_row){keyed_stats_times(merged, i, total_ns),
					 merged->rows[i].name, merged->rows[i].kind});
	}
	keyed_stats_fini(merged);
	table_sort(table, "total");
	return table;
}

static struct table *call_table(const struct keyed_stats *calls, bool is_cuda)
{
	static const struct table_column columns[] = {
		NSYS_TIMES("Num Calls"),
		TABLE_COLUMN("name", "Name", TABLE_TEXT, TABLE_MEMBER(nsys_sum_row, name)),
	};
	struct keyed_stats merged;

	keyed_stats_init(&merged);
	merge_calls(&merged, calls, is_cuda);
	return make_table(&merged, columns, sizeof(columns) / sizeof(columns[0]));
}

struct table *nsys_api_sum(const struct nsys_ask *ask, void *const *views)
{
	(void)ask;
	return call_table(view_keyed(&view_api, views[0]), true);
}

struct table *nsys_osrt_sum(const struct nsys_ask *ask, void *const *views)
{
	(void)ask;
	return call_table(view_keyed(&view_os_runtime, views[0]), false);
}

struct table *nsys_kern_sum(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		NSYS_TIMES("Instances"),
		TABLE_COLUMN("name", "Name", TABLE_TEXT, TABLE_MEMBER(nsys_sum_row, name)),
	};
	struct keyed_stats merged;

	keyed_stats_init(&merged);
	merge_kernels(&merged, ask, views[0]);
	return make_table(&merged, columns, sizeof(columns) / sizeof(columns[0]));
}

struct table *nsys_mem_time_sum(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		NSYS_TIMES("Count"),
		TABLE_COLUMN("name", "Operation", TABLE_TEXT, TABLE_MEMBER(nsys_sum_row, name)),
	};
	struct keyed_stats merged;

	(void)ask;
	keyed_stats_init(&merged);
	merge_copies(&merged, view_keyed(&view_memcpy, views[0]));
	merge_copies(&merged, view_keyed(&view_memset, views[1]));
	return make_table(&merged, columns, sizeof(columns) / sizeof(columns[0]));
}

struct size_row {
	uint64_t bytes, nr, min, max;
	double mean, median, deviation;
	uint32_t name;
};

struct table *nsys_mem_size_sum(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN(
			"total_bytes", "Total (MB)", TABLE_SIZE, TABLE_MEMBER(size_row, bytes)),
		TABLE_COLUMN("calls", "Count", TABLE_COUNT, TABLE_MEMBER(size_row, nr)),
		TABLE_COLUMN(
			"avg_bytes", "Avg (MB)", TABLE_MEAN_SIZE, TABLE_MEMBER(size_row, mean)),
		TABLE_COLUMN("median_bytes", "Med (MB)", TABLE_MEAN_SIZE,
			TABLE_MEMBER(size_row, median)),
		TABLE_COLUMN("min_bytes", "Min (MB)", TABLE_SIZE, TABLE_MEMBER(size_row, min)),
		TABLE_COLUMN("max_bytes", "Max (MB)", TABLE_SIZE, TABLE_MEMBER(size_row, max)),
		TABLE_COLUMN("stddev_bytes", "StdDev (MB)", TABLE_MEAN_SIZE,
			TABLE_MEMBER(size_row, deviation)),
		TABLE_COLUMN("name", "Operation", TABLE_TEXT, TABLE_MEMBER(size_row, name)),
	};
	struct table *table =
		table_create("rows", "", columns, sizeof(columns) / sizeof(columns[0]));
	struct keyed_stats merged;

	(void)ask;
	keyed_stats_init(&merged);
	merge_copies(&merged, view_keyed(&view_memcpy, views[0]));
	merge_copies(&merged, view_keyed(&view_memset, views[1]));
	keyed_stats_finish(&merged);
	for (size_t i = 0; i < merged.nr_rows; i++) {
		const struct histogram_group *sizes = &merged.sizes.groups[i];

		table_add(table, &(struct size_row){.bytes = histogram_sum(sizes),
					 .nr = sizes->count,
					 .mean = histogram_mean(sizes),
					 .median = histogram_median(sizes),
					 .min = sizes->count ? sizes->min : 0,
					 .max = sizes->max,
					 .deviation = histogram_deviation(sizes),
					 .name = merged.rows[i].name});
	}
	keyed_stats_fini(&merged);
	table_sort(table, "total");
	return table;
}

static const char *const categories[] = {"CUDA_API", "CUDA_KERNEL", "MEMORY_OPER"};

static struct table *category_table(
	const struct nsys_ask *ask, void *const *views, const struct keyed_stats *calls)
{
	static const struct table_column columns[] = {
		NSYS_TIMES("Instances"),
		TABLE_COLUMN("category", "Category", TABLE_TEXT,
			TABLE_NAMED(nsys_sum_row, kind, categories)),
		TABLE_COLUMN("name", "Operation", TABLE_TEXT, TABLE_MEMBER(nsys_sum_row, name)),
	};
	struct keyed_stats merged;

	keyed_stats_init(&merged);
	merge_kernels(&merged, ask, views[2]);
	merge_copies(&merged, view_keyed(&view_memcpy, views[0]));
	merge_copies(&merged, view_keyed(&view_memset, views[1]));
	if (calls) {
		merge_calls(&merged, calls, true);
	}
	return make_table(&merged, columns, sizeof(columns) / sizeof(columns[0]));
}

struct table *nsys_gpu_sum(const struct nsys_ask *ask, void *const *views)
{
	return category_table(ask, views, NULL);
}

struct table *nsys_api_gpu_sum(const struct nsys_ask *ask, void *const *views)
{
	return category_table(ask, views, view_keyed(&view_api, views[3]));
}

/* ---- by grid and block ---- */

/* As nsys pads them. */
static uint32_t extent_text(const uint32_t *extent)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "%4u %4u %4u", extent[0], extent[1], extent[2]);

	return string_pool_intern(text, (size_t)length);
}

/* Both in one name of string_pool.h, apart by a NUL. */
static uint32_t extents_name(const struct nsys_kernel_row *row)
{
	struct buf text = {0};
	uint32_t name;

	buf_text(&text, string_pool_text(extent_text(row->grid), NULL));
	buf_char(&text, '\0');
	buf_text(&text, string_pool_text(extent_text(row->block), NULL));
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

static void set_grid(const void *extents, struct table_cell *cell)
{
	table_set_string(cell, string_pool_text(*(const uint32_t *)extents, NULL));
}

static void set_block(const void *extents, struct table_cell *cell)
{
	const char *grid = string_pool_text(*(const uint32_t *)extents, NULL);

	table_set_string(cell, grid + strlen(grid) + 1);
}

struct table *nsys_kern_gb_sum(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {
		NSYS_TIMES("Instances"),
		TABLE_COLUMN(
			"grid", "GridXYZ", TABLE_TEXT, TABLE_SET(nsys_sum_row, kind, set_grid)),
		TABLE_COLUMN(
			"block", "BlockXYZ", TABLE_TEXT, TABLE_SET(nsys_sum_row, kind, set_block)),
		TABLE_COLUMN("name", "Name", TABLE_TEXT, TABLE_MEMBER(nsys_sum_row, name)),
	};
	const struct keyed_stats *kernels = nsys_kernels_tally(views[0]);
	struct keyed_stats merged;

	keyed_stats_init(&merged);
	for (size_t i = 0; i < kernels->nr_rows; i++) {
		const struct nsys_kernel_row *row = nsys_kernels_row(views[0], i);
		uint32_t name = nsys_kernel_name(ask, row->name);

		merge(&merged, with_range(ask->has_ranges ? row->range : 0, name),
			extents_name(row), kernels, i);
	}
	return make_table(&merged, columns, sizeof(columns) / sizeof(columns[0]));
}
