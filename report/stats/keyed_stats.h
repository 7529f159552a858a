/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a view by key, each with statistics of its times and sizes. Views use it, and so do the
 * styles that print other tools' tables.
 */
#ifndef REPORT_STATS_KEYED_STATS_H
#define REPORT_STATS_KEYED_STATS_H

#include "report/stats/histogram.h"
#include "report/table/table.h"

struct keyed_stats_row {
	uint64_t key;
	uint32_t name;	  /* of string_pool.h */
	uint32_t kind;	  /* defined by the view */
	uint64_t failed;  /* calls that returned an error */
	uint64_t untimed; /* counted without a time */
	bool is_counted; /* on purpose: the times of the few others are no measure, and not shown */
};

struct keyed_stats_index;

#define KEYED_STATS_RECENT_BITS 7u

struct keyed_stats {
	struct keyed_stats_row *rows; /* row k is group k of both histograms */
	size_t nr_rows, capacity;
	struct keyed_stats_index *index;
	struct keyed_stats_recent {
		uint64_t key;
		uint32_t place;			 /* 1 + the row; 0: none */
	} recent[1u << KEYED_STATS_RECENT_BITS]; /* found last, by a hash of the key */
	struct histogram times;			 /* ns */
	struct histogram sizes;			 /* bytes; unused by most */
	bool is_finished;
};

void keyed_stats_init(struct keyed_stats *stats);
void keyed_stats_fini(struct keyed_stats *stats);

/* Used by the inline function: a key that is none of those found last. */
uint32_t keyed_stats_find_slow(
	struct keyed_stats *stats, uint64_t key, uint32_t name, uint32_t kind);

static inline struct keyed_stats_recent *keyed_stats_recent(struct keyed_stats *stats, uint64_t key)
{
	return &stats->recent[(key * 0x9e3779b97f4a7c15ull) >> (64 - KEYED_STATS_RECENT_BITS)];
}

/* The row with that key. A new one gets name and kind. */
static inline uint32_t keyed_stats_find(
	struct keyed_stats *stats, uint64_t key, uint32_t name, uint32_t kind)
{
	const struct keyed_stats_recent *recent = keyed_stats_recent(stats, key);

	return recent->place && recent->key == key ? recent->place - 1
						   : keyed_stats_find_slow(stats, key, name, kind);
}

/* Computes medians and p99, once; no more values after this. */
void keyed_stats_finish(struct keyed_stats *stats);

/* The calls of a row, with and without a time. */
uint64_t keyed_stats_calls(const struct keyed_stats *stats, size_t row);

/* The sum of the times of all rows that show theirs. */
double keyed_stats_total_ns(const struct keyed_stats *stats);

/*
 * The statistics of a row. Where no times are known, all but the calls are unknown (see
 * table_add).
 */
struct keyed_stats_times {
	double share_pct; /* total_ns as a share of the caller's total */
	uint64_t total_ns, calls;
	double avg_ns, median_ns;
	uint64_t p99_ns, min_ns, max_ns;
	double stddev_ns;
};
struct keyed_stats_times keyed_stats_times(
	const struct keyed_stats *stats, size_t row, double total_ns);
/* The same of times that are in no stats. */
struct keyed_stats_times keyed_stats_times_of(
	const struct histogram_group *times, uint64_t p99_ns, uint64_t calls, double total_ns);

/* These columns, the first of most tables. `share` is the title of share_pct. */
#define KEYED_STATS_COLUMNS(share)                                                              \
	TABLE_COLUMN(                                                                           \
		"share_pct", share, TABLE_PERCENT, TABLE_MEMBER(keyed_stats_times, share_pct)), \
		TABLE_COLUMN("total_ns", "Total", TABLE_TIME,                                   \
			TABLE_MEMBER(keyed_stats_times, total_ns)),                             \
		TABLE_COLUMN("calls", "Calls", TABLE_COUNT,                                     \
			.help = "count, including those without a time",                        \
			TABLE_MEMBER(keyed_stats_times, calls)),                                \
		TABLE_COLUMN("avg_ns", "Avg", TABLE_MEAN_TIME, .help = "mean",                  \
			TABLE_MEMBER(keyed_stats_times, avg_ns)),                               \
		TABLE_COLUMN("median_ns", "Med", TABLE_MEAN_TIME, .is_minor = true,             \
			.help = "median; a note below the table says if it is not exact",       \
			TABLE_MEMBER(keyed_stats_times, median_ns)),                            \
		TABLE_COLUMN("p99_ns", "p99", TABLE_TIME, .is_minor = true,                     \
			.help = "99th percentile, nearest rank",                                \
			TABLE_MEMBER(keyed_stats_times, p99_ns)),                               \
		TABLE_COLUMN("min_ns", "Min", TABLE_TIME, .is_minor = true,                     \
			TABLE_MEMBER(keyed_stats_times, min_ns)),                               \
		TABLE_COLUMN("max_ns", "Max", TABLE_TIME, .is_minor = true,                     \
			TABLE_MEMBER(keyed_stats_times, max_ns)),                               \
		TABLE_COLUMN("stddev_ns", "StdDev", TABLE_MEAN_TIME, .is_wide_only = true,      \
			.help = "standard deviation of the population",                         \
			TABLE_MEMBER(keyed_stats_times, stddev_ns))
#define KEYED_STATS_NR_COLUMNS 9u

/*
 * Appends the row, with its statistics from the first column on. The other columns can name its
 * members, or those of `shown`, a struct that begins with such a row; NULL: the row itself.
 */
void keyed_stats_add(const struct keyed_stats *stats, size_t row, double total_ns,
	const void *shown, struct table *table);

/* Adds a note to the table if medians are not exact. */
void keyed_stats_note(const struct keyed_stats *stats, struct table *table);

#endif
