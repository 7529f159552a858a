/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that a step may wait for: how long they ran on CPUs, and waited for one; and where: on
 * which NUMA node, how often they moved, and which of their page faults waited for storage. Where
 * context switches were recorded, all threads have rows, and times on and off CPUs are theirs.
 */
#include "report/analysis/view.h"
#include "report/budget/placement.h"
#include "report/host/os_threads.h"
#include "report/host/thread_states.h"
#include "report/model/os_files.h"
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
	struct thread_states *states; /* by thread and name */
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_thread_cpu,
		COLS(thread_cpu, time, cpu_ns, wait_ns, thread, cpu, cpu_khz, migrations,
			major_faults, known),
		0},
	{GPROF_TABLE_thread_state, THREAD_STATES_MASK, 0},
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

static void add_times(struct cpu_waits_view *view, struct process *process, const struct batch *b)
{
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

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct cpu_waits_view *view = context;

	if (b->table == GPROF_TABLE_thread_state) {
		thread_states_add(&view->states, process, b);
	} else {
		add_times(view, process, b);
	}
}

/* ---- the table ---- */

struct shown_row {
	const struct process *process;
	uint32_t name;
	uint64_t cpu_ns, wait_ns, all_ns, wait_all_ns;
	struct thread_states states; /* ns[0] 0: unknown */
	uint64_t unknown_ns;
	uint64_t node, near_ns, placed_ns; /* near_ns, placed_ns: with a node of the GPU */
	struct rise migrations, major_faults;
	uint64_t khz, nr_khz_in_mhz;
};

/* Less comes of the rounding of rows. */
#define MIN_UNKNOWN_NS 1000000u

/* A column of what context switches say. */
#define STATE_COLUMN(key, title, type, meaning, member)                     \
	TABLE_COLUMN(key, title, type, .is_minor = true, .help = (meaning), \
		TABLE_IF(shown_row, states.member, states.ns[0]))

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, .help = "process ID", VIEW_PID(shown_row, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_COUNT, .help = "rank in the job",
		VIEW_RANK(shown_row, process)),
	TABLE_COLUMN("name", "Thread", TABLE_NAME, TABLE_MEMBER(shown_row, name)),
	TABLE_COLUMN("wait_ns", "Waits for CPU", TABLE_TIME,
		.help = "time in which it was ready to run and had no CPU",
		TABLE_MEMBER(shown_row, wait_ns)),
	TABLE_COLUMN("wait_share_pct", "% waiting", TABLE_PERCENT,
		.help = "of the time between the thread's first and last sample",
		TABLE_SHARE(shown_row, wait_ns, wait_all_ns)),
	TABLE_COLUMN("cpu_ns", "CPU", TABLE_TIME,
		.help = "time on a CPU: between its context switches, where these were recorded",
		TABLE_MEMBER(shown_row, cpu_ns)),
	TABLE_COLUMN("cpu_share_pct", "% on CPU", TABLE_PERCENT,
		.help = "of the time between the thread's first and last sample; of the time that "
			"its context switches say what it did",
		TABLE_SHARE(shown_row, cpu_ns, all_ns)),
	STATE_COLUMN("preempted_ns", "Preempted", TABLE_TIME,
		"time without the CPU that it lost while it could still run",
		ns[GPROF_THREAD_RUNNABLE]),
	STATE_COLUMN("blocked_ns", "Blocked", TABLE_TIME,
		"time from a switch to wait until it runs again, with the wait for a CPU",
		ns[GPROF_THREAD_BLOCKED]),
	STATE_COLUMN("off_cpu_ns", "Off CPU", TABLE_TIME, "time off the CPUs for an unknown reason",
		ns[GPROF_THREAD_OFF_CPU]),
	TABLE_COLUMN("unknown_ns", "Unknown", TABLE_TIME, .is_minor = true,
		.help = "time between its first and last switch whose switches were lost",
		TABLE_IF(shown_row, unknown_ns, states.ns[0])),
	STATE_COLUMN(
		"preemptions", "Preemptions", TABLE_COUNT, "involuntary switches", nr_preempted),
	STATE_COLUMN("blocks", "Blocks", TABLE_COUNT, "voluntary switches", nr_blocked),
	TABLE_COLUMN("node", "NUMA node", TABLE_ID, .is_minor = true,
		.help = "on which it ran for most of its CPU time, by a look at its CPU each "
			"second",
		TABLE_MEMBER(shown_row, node)),
	TABLE_COLUMN("near_pct", "% at GPU", TABLE_PERCENT, .is_minor = true,
		.help = "of its CPU time, on the NUMA node of the process's GPU",
		TABLE_SHARE(shown_row, near_ns, placed_ns)),
	TABLE_COLUMN("migrations", "Migrations", TABLE_COUNT, .is_minor = true,
		.help = "moves to another CPU, as the kernel or context switches count them",
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

/* What its context switches say is of the whole time, and of all threads. */
static void set_states(struct shown_row *shown, const struct thread_states *states)
{
	shown->states = *states;
	shown->unknown_ns = thread_states_unknown_ns(states);
	if (states->last_name) {
		shown->name = os_thread_text(states->last_name, states->key.tid);
	}
	shown->cpu_ns = states->ns[GPROF_THREAD_RUNNING];
	shown->all_ns = states->ns[0];
	shown->migrations = (struct rise){true, 0, states->nr_migrations};
}

/* A thread that has context switches alone. */
static struct shown_row switched_row(const struct thread_states *states)
{
	struct shown_row shown = {.process = states->key.process,
		.name = os_thread_text(states->last_name, states->key.tid),
		.wait_ns = UINT64_MAX,
		.node = UINT64_MAX};

	set_states(&shown, states);
	return shown;
}

static struct shown_row shown_row(const struct row *row)
{
	struct process *process = row->key.process;
	int32_t gpu = numa_gpu_node(process);
	const struct numa_share ran = numa_share_of(row->ran_ns, gpu);
	uint64_t all_ns =
		clock_map_duration(&process->host_clock, row->last.tick - row->first.tick);

	return (struct shown_row){process,
		.name = os_thread_name(process, (uint32_t)row->key.thread),
		.cpu_ns = row->last.cpu_ns - row->first.cpu_ns,
		.wait_ns = row->first.wait_ns == GPROF_THREAD_CPU_UNKNOWN
				   ? UINT64_MAX
				   : row->last.wait_ns - row->first.wait_ns,
		.all_ns = all_ns, .wait_all_ns = all_ns,
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
	table_set_wide(table, "preempted_ns", !known->states.ns[0]);
	table_set_wide(table, "blocked_ns", !known->states.ns[0]);
	table_set_wide(table, "off_cpu_ns", !known->states.nr_off);
	table_set_wide(table, "unknown_ns", !known->unknown_ns);
	table_set_wide(table, "preemptions", !known->states.ns[0]);
	table_set_wide(table, "blocks", !known->states.ns[0]);
}

/* Do its switches say why it left the CPU? */
static bool has_reasons(const struct thread_states *states)
{
	return states->ns[GPROF_THREAD_RUNNABLE] || states->ns[GPROF_THREAD_BLOCKED];
}

/* What any of the rows has. */
static void add_known(struct shown_row *known, const struct shown_row *shown)
{
	known->placed_ns |= shown->node != UINT64_MAX;
	known->near_ns |= shown->placed_ns;
	known->migrations.is_known |= shown->migrations.is_known;
	known->major_faults.is_known |= shown->major_faults.is_known;
	known->nr_khz_in_mhz |= shown->nr_khz_in_mhz;
	known->states.ns[0] |= has_reasons(&shown->states);
	known->unknown_ns |= shown->states.ns[0] ? shown->unknown_ns / MIN_UNKNOWN_NS : 0;
	known->states.nr_off |= shown->states.ns[GPROF_THREAD_OFF_CPU];
}

/* Returns whether how long a thread waits for a CPU is unknown. */
static bool add_rows(struct cpu_waits_view *view, struct table *table, struct shown_row *known)
{
	struct thread_states *states = thread_states_by_tid(view->states), *found;
	bool has_unknown = false;

	for (const struct row *row = view->rows; row; row = row->hh.next) {
		struct shown_row shown = shown_row(row);

		found = thread_states_find(states, row->key.process,
			process_tid(row->key.process, (uint32_t)row->key.thread), 0);
		if (found) {
			set_states(&shown, found);
			found->is_shown = true;
		}
		table_add(table, &shown);
		add_known(known, &shown);
		has_unknown |= shown.wait_ns == UINT64_MAX && !has_reasons(&shown.states);
	}
	for (found = states; found; found = found->hh.next) {
		const struct shown_row shown = switched_row(found);

		if (!found->is_shown) {
			table_add(table, &shown);
			add_known(known, &shown);
		}
	}
	hash_free(states);
	return has_unknown;
}

static void fill_table(void *state, struct table *table)
{
	struct cpu_waits_view *view = state;
	struct shown_row known = {.process = NULL};
	bool has_unknown = add_rows(view, table, &known);

	hide_unknown(table, &known);
	table_sort(table, "wait_ns");
	if (has_unknown) {
		table_sort(table, "cpu_ns");
		table_note(table, "The trace has when threads ran, not whether they were ready to "
				  "run in between.");
	}
	if (!view->rows && !view->states) {
		table_note(table, "No times of threads were recorded (GPROF_SAMPLE_MS=0, or a "
				  "kernel without schedstat).");
	}
}

static void fini(void *state)
{
	struct cpu_waits_view *view = state;

	hash_free(view->rows);
	hash_free(view->states);
}

VIEW(cpu_waits, 357) = {
	.name = "cpu-waits",
	.subject = VIEW_ABOUT_HOST,
	.help = "how long threads of the loop and of launches wait for a CPU, and where they run",
	.about = "Each process has a row for its first thread and for those that launch work. They "
		 "wait for a CPU while other threads or processes use all that they may run on. "
		 "Where context switches were recorded (GPROF_SCHED), each thread has a row, and "
		 "what its switches say is measured.",
	.is_empty_hidden = true,
	.title = "Waits for a CPU",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct cpu_waits_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end},
	.fill = fill_table,
	.fini = fini,
};
