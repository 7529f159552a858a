/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that a step may wait for: how long they ran on CPUs, and waited for one; and where: on
 * which NUMA node, how often they moved, and which of their page faults waited for storage.
 */
#include "report/analysis/view.h"
#include "report/budget/placement.h"
#include "report/host/os_threads.h"
#include "report/util/hash.h"

struct key {
	struct process *process;
	uint64_t thread;
};

struct times {
	uint64_t tick, cpu_ns, wait_ns;
};

/* A number that only rises, from its first row to its last one. */
struct rise {
	bool is_known;
	uint64_t first, last;
};

struct row {
	struct key key;
	struct times first, last;
	struct rise migrations, major_faults;
	uint64_t khz, nr_khz; /* a sum, and of how many rows */
	uint64_t ran_ns[NUMA_NR_NODES];
	UT_hash_handle hh;
};

struct cpu_waits_view {
	struct view_input input;
	struct numa_map map; /* of the process that is read */
	struct row *rows;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_thread_cpu,
		COLS(thread_cpu, time, cpu_ns, wait_ns, thread, cpu, cpu_khz, migrations,
			major_faults, known),
		0},
};

static void begin(void *context, struct process *process)
{
	numa_map_init(&((struct cpu_waits_view *)context)->map, process);
}

static void end(void *context, struct process *process)
{
	(void)process;
	numa_map_fini(&((struct cpu_waits_view *)context)->map);
}

static void add_rise(struct rise *rise, uint64_t value)
{
	rise->first = rise->is_known ? rise->first : value;
	rise->last = value > rise->first ? value : rise->first;
	rise->is_known = true;
}

/* ran_ns: since the row before. */
static void add_place(const struct cpu_waits_view *view, struct row *row, const struct batch *b,
	uint32_t i, uint64_t ran_ns)
{
	uint64_t known = b->col[COL_thread_cpu_known][i];

	if (known & GPROF_THREAD_CPU_KNOWN) {
		int32_t node = numa_map_node(&view->map, b->col[COL_thread_cpu_cpu][i]);

		add_rise(&row->major_faults, b->col[COL_thread_cpu_major_faults][i]);
		row->ran_ns[node == NUMA_NODE_UNKNOWN ? NUMA_NR_NODES - 1 : (uint32_t)node] +=
			ran_ns;
	}
	if (known & GPROF_THREAD_MIGRATIONS_KNOWN) {
		add_rise(&row->migrations, b->col[COL_thread_cpu_migrations][i]);
	}
	if (b->col[COL_thread_cpu_cpu_khz][i]) {
		row->khz += b->col[COL_thread_cpu_cpu_khz][i];
		row->nr_khz++;
	}
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct cpu_waits_view *view = context;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct key key = {process, b->col[COL_thread_cpu_thread][i]};
		struct times times = {b->col[COL_thread_cpu_time][i],
			b->col[COL_thread_cpu_cpu_ns][i], b->col[COL_thread_cpu_wait_ns][i]};
		struct row *row;

		hash_put(view->rows, key, &key, row);
		row->first = row->first.tick ? row->first : times;
		/* In a damaged stream counters may fall. */
		if (times.tick >= row->last.tick && times.cpu_ns >= row->last.cpu_ns &&
			times.wait_ns >= row->last.wait_ns) {
			add_place(view, row, b, i,
				row->last.tick ? times.cpu_ns - row->last.cpu_ns : 0);
			row->last = times;
		}
	}
}

/* ---- the table ---- */

struct shown_row {
	const struct process *process;
	uint32_t name;
	uint64_t cpu_ns, wait_ns, all_ns;
	uint64_t node, near_ns, placed_ns; /* near_ns, placed_ns: with a node of the GPU */
	struct rise migrations, major_faults;
	uint64_t khz, nr_khz_in_mhz;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, .help = "process ID", VIEW_PID(shown_row, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_COUNT, .help = "rank in the job",
		VIEW_RANK(shown_row, process)),
	TABLE_COLUMN("name", "Thread", TABLE_NAME, TABLE_MEMBER(shown_row, name)),
	TABLE_COLUMN("wait_ns", "Waits for CPU", TABLE_TIME,
		.help = "time in which it was ready to run and had no CPU",
		TABLE_MEMBER(shown_row, wait_ns)),
	TABLE_COLUMN("wait_share_pct", "% waiting", TABLE_PERCENT,
		.help = "of the same time as % on CPU", TABLE_SHARE(shown_row, wait_ns, all_ns)),
	TABLE_COLUMN("cpu_ns", "CPU", TABLE_TIME, .help = "time on a CPU",
		TABLE_MEMBER(shown_row, cpu_ns)),
	TABLE_COLUMN("cpu_share_pct", "% on CPU", TABLE_PERCENT,
		.help = "of the time between the thread's first and last sample",
		TABLE_SHARE(shown_row, cpu_ns, all_ns)),
	TABLE_COLUMN("node", "NUMA node", TABLE_ID, .is_minor = true,
		.help = "on which it ran for most of its CPU time, by a look at its CPU each "
			"second",
		TABLE_MEMBER(shown_row, node)),
	TABLE_COLUMN("near_pct", "% at GPU", TABLE_PERCENT, .is_minor = true,
		.help = "of its CPU time, on the NUMA node of the process's GPU",
		TABLE_SHARE(shown_row, near_ns, placed_ns)),
	TABLE_COLUMN("migrations", "Migrations", TABLE_COUNT, .is_minor = true,
		.help = "moves to another CPU, as the kernel counts them",
		TABLE_IF(shown_row, migrations.last, migrations.is_known)),
	TABLE_COLUMN("major_faults", "Major faults", TABLE_COUNT, .is_minor = true,
		.help = "page faults that waited for storage",
		TABLE_IF(shown_row, major_faults.last, major_faults.is_known)),
	TABLE_COLUMN("cpu_mhz", "CPU MHz", TABLE_NUMBER, .is_minor = true,
		.help = "mean frequency of its CPU; most virtual machines do not say it",
		TABLE_MEAN(shown_row, khz, nr_khz_in_mhz)),
};

/* Returns what it rose by since the first row. */
static struct rise since_first(const struct rise *rise)
{
	return (struct rise){rise->is_known, 0, rise->last - rise->first};
}

static struct shown_row shown_row(const struct row *row)
{
	struct process *process = row->key.process;
	int32_t gpu = numa_gpu_node(process);
	const struct numa_share ran = numa_share_of(row->ran_ns, gpu);

	return (struct shown_row){process,
		.name = os_thread_name(process, (uint32_t)row->key.thread),
		.cpu_ns = row->last.cpu_ns - row->first.cpu_ns,
		.wait_ns = row->first.wait_ns == GPROF_THREAD_CPU_UNKNOWN
				   ? UINT64_MAX
				   : row->last.wait_ns - row->first.wait_ns,
		.all_ns =
			clock_map_duration(&process->host_clock, row->last.tick - row->first.tick),
		.node = ran.node == NUMA_NODE_UNKNOWN ? UINT64_MAX : (uint64_t)ran.node,
		.near_ns = ran.near, .placed_ns = gpu == NUMA_NODE_UNKNOWN ? 0 : ran.all,
		.migrations = since_first(&row->migrations),
		.major_faults = since_first(&row->major_faults), .khz = row->khz,
		.nr_khz_in_mhz = row->nr_khz * 1000};
}

/* What no thread has takes no room. */
static void hide_unknown(struct table *table, const struct shown_row *known)
{
	table_set_wide(table, "node", !known->placed_ns);
	table_set_wide(table, "near_pct", !known->near_ns);
	table_set_wide(table, "migrations", !known->migrations.is_known);
	table_set_wide(table, "major_faults", !known->major_faults.is_known);
	table_set_wide(table, "cpu_mhz", !known->nr_khz_in_mhz);
}

static void fill_table(void *state, struct table *table)
{
	struct cpu_waits_view *view = state;
	struct shown_row known = {.process = NULL};
	bool has_unknown = false;

	for (const struct row *row = view->rows; row; row = row->hh.next) {
		const struct shown_row shown = shown_row(row);

		table_add(table, &shown);
		known.placed_ns |= shown.node != UINT64_MAX;
		known.near_ns |= shown.placed_ns;
		known.migrations.is_known |= shown.migrations.is_known;
		known.major_faults.is_known |= shown.major_faults.is_known;
		known.nr_khz_in_mhz |= shown.nr_khz_in_mhz;
		has_unknown |= shown.wait_ns == UINT64_MAX;
	}
	hide_unknown(table, &known);
	table_sort(table, "wait_ns");
	if (has_unknown) {
		table_sort(table, "cpu_ns");
		table_note(table, "The trace has when threads ran, not whether they were ready to "
				  "run in between.");
	}
	if (!view->rows) {
		table_note(table, "No times of threads were recorded (GPROF_SAMPLE_MS=0, or a "
				  "kernel without schedstat).");
	}
}

static void fini(void *state)
{
	hash_free(((struct cpu_waits_view *)state)->rows);
}

VIEW(cpu_waits, 357) = {
	.name = "cpu-waits",
	.subject = VIEW_ABOUT_HOST,
	.help = "how long threads of the loop and of launches wait for a CPU, and where they run",
	.about = "Each process has a row for its first thread and for those that launch work. They "
		 "wait for a CPU while other threads or processes use all that they may run on.",
	.is_empty_hidden = true,
	.title = "Waits for a CPU",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct cpu_waits_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
