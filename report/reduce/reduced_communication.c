/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's operations of all processes by communicator; named as those of view_communication.c. */
#include "report/comm/nccl_ops.h"
#include "report/reduce/reduced_view.h"

enum column {
	CALLS = VIEW_MERGE_KEYS,
	BYTES,
	MEAN_BYTES,
	TIME,
	AVG,
	MEDIAN,
	P99,
	ALGBW,
	BUSBW,
	UNTIMED,
	SPREAD,
	NR_COLUMNS = SPREAD + REDUCED_SPREAD_COLUMNS,
};

static bool is_sized(const struct reduced_key *key)
{
	return nccl_op_kind_is_sized((uint8_t)key->kind, NCCL_ROW_RANKS(key->kind));
}

static void fill_times(struct reduced_row *row, struct table_cell *cells)
{
	const struct histogram_group *times = &row->times.group;
	uint64_t p99_ns = sketch_finish(&row->times), ns = histogram_sum(times);
	uint32_t nr_ranks = NCCL_ROW_RANKS(row->key.kind);
	bool has_rate = ns && is_sized(&row->key);
	double rate = has_rate ? (double)row->sums[REDUCED_TIMED_BYTES] * 1e9 / (double)ns : 0;

	if (!times->count) {
		return;
	}
	table_set_integer(&cells[TIME], ns);
	table_set_number(&cells[AVG], histogram_mean(times));
	table_set_number(&cells[MEDIAN], histogram_median(times));
	table_set_integer(&cells[P99], p99_ns);
	if (has_rate) {
		table_set_number(&cells[ALGBW], rate);
	}
	if (has_rate && nr_ranks) {
		table_set_number(
			&cells[BUSBW], rate * nccl_op_bus_factor((uint8_t)row->key.kind, nr_ranks));
	}
}

static void fill(struct reduced_row *row, struct table_cell *cells)
{
	uint64_t bytes = row->sums[REDUCED_BYTES], nr_calls = row->sums[REDUCED_CALLS];

	reduced_name_fill(&row->key, cells);
	table_set_integer(&cells[CALLS], nr_calls);
	if (is_sized(&row->key)) {
		table_set_integer(&cells[BYTES], bytes);
	}
	if (is_sized(&row->key) && nr_calls) {
		table_set_number(&cells[MEAN_BYTES], (double)bytes / (double)nr_calls);
	}
	fill_times(row, cells);
	table_set_integer(&cells[UNTIMED], row->untimed);
	reduced_spread_fill(row, &cells[SPREAD]);
}

struct table *reduced_communication_table(struct reduced *reduced, unsigned int argument)
{
	struct table_column columns[NR_COLUMNS] = {
		[CALLS] = TABLE_COLUMN("calls", "Calls", TABLE_COUNT),
		[BYTES] = TABLE_COLUMN("bytes", "Size", TABLE_SIZE, .is_wide_only = true),
		[MEAN_BYTES] = TABLE_COLUMN("avg_bytes", "Avg size", TABLE_MEAN_SIZE),
		[TIME] = TABLE_COLUMN("time_ns", "Kernels", TABLE_TIME),
		[AVG] = TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME),
		[MEDIAN] = TABLE_COLUMN("median_ns", "Med", TABLE_MEAN_TIME),
		[P99] = TABLE_COLUMN("p99_ns", "p99", TABLE_TIME),
		[ALGBW] = TABLE_COLUMN("algbw_bytes_per_s", "Algbw", TABLE_RATE),
		[BUSBW] = TABLE_COLUMN("busbw_bytes_per_s", "Busbw", TABLE_RATE),
		[UNTIMED] = TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true),
		REDUCED_SPREAD,
	};
	struct table *table;

	(void)argument;
	reduced_name_columns(REDUCED_NCCL, columns);
	table = table_create(
		"communication", reduced_name_title(REDUCED_NCCL), columns, NR_COLUMNS);
	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		if (row->key.view == REDUCED_NCCL) {
			fill(row, table_add_row(table));
		}
	}
	table_note(table,
		"sums over ranks; times of an operation's kernels, medians and p99 to 1.6 %%; "
		"bandwidths as nccl-tests has them, but with the waiting for other ranks, which "
		"the streams tell apart; who spends least in a communicator is mostly the one that "
		"the others wait for");
	table_sort(table, "time");
	return table;
}
