/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the figures of the headline, as lines of text for the first screen and as the row of a
 * table for all other formats. Shares are rounded to tenths of a percent together (figure_lines),
 * so that the printed parts add up to 100 %.
 */
#include "report/analysis/headline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/model/run_state.h"
#include "report/util/text.h"

/* ---- lines ---- */

void headline_add_no_gpu(struct buf *out, const struct headline_figures *figures)
{
	if (figures->nr_listed) {
		buf_printf(out, ", %zu GPU%s without recorded activity", figures->nr_listed,
			figures->nr_listed == 1 ? "" : "s");
	} else {
		buf_text(out, figures->has_calls ? ", no GPU activity recorded" : ", no GPU");
	}
}

/* The exposed communication, of which it may be unknown when its ranks came. */
#define NR_WAIT_SHARES (HEADLINE_NR_WAIT_SHARES + 1)
static const struct figure_share wait_shares[NR_WAIT_SHARES] = {
	{"transfer", BUDGET_TRANSFER, BUDGET_TRANSFER},
	{"waiting for a rank", BUDGET_RANK_WAIT, BUDGET_RANK_WAIT},
	{"unknown", BUDGET_COMMUNICATION, BUDGET_COMMUNICATION},
};

/*
 * The first of them, and why the GPU is idle: what the host does meanwhile. The last one stands for
 * all others, in each process by itself.
 */
#define NR_BUSY		  3u
#define COMMUNICATION	  1u
#define UNKNOWN		  (HEADLINE_NR_GPU_SHARES - 1)
#define CPU_COMMUNICATION 2u
static const struct figure_share headline_gpu_shares[HEADLINE_NR_GPU_SHARES] = {
	{"computing", BUDGET_COMPUTING, BUDGET_COMPUTING},
	[COMMUNICATION] = {"exposed communication", BUDGET_TRANSFER, BUDGET_RANK_WAIT},
	{"exposed copies", BUDGET_UPLOAD, BUDGET_SET},
	{"compilation", BUDGET_HOST + HOST_COMPILATION, BUDGET_HOST + HOST_COMPILATION},
	{"start-up", BUDGET_HOST + HOST_STARTUP, BUDGET_HOST + HOST_STARTUP},
	{"allocation", BUDGET_HOST + HOST_ALLOCATION, BUDGET_HOST + HOST_ALLOCATION},
	{"waits", BUDGET_HOST + HOST_WAIT, BUDGET_HOST + HOST_WAIT},
	{"copy calls", BUDGET_HOST + HOST_STAGING, BUDGET_HOST + HOST_STAGING},
	{"launches", BUDGET_HOST + HOST_LAUNCH, BUDGET_HOST + HOST_CALL},
	{"Python's lock", BUDGET_HOST + HOST_GIL, BUDGET_HOST + HOST_GIL},
	{"garbage collection", BUDGET_HOST + HOST_GC, BUDGET_HOST + HOST_GC},
	{"loader", BUDGET_HOST + HOST_LOADER, BUDGET_HOST + HOST_LOADER},
	{"operators", BUDGET_HOST + HOST_OPERATOR, BUDGET_HOST + HOST_OPERATOR},
	{"OS calls", BUDGET_HOST + HOST_OS, BUDGET_HOST + HOST_OS},
	{"user code", BUDGET_HOST + HOST_RANGE, BUDGET_USER},
	{"latency", BUDGET_LATENCY, BUDGET_LATENCY},
	{"dependencies", BUDGET_DEPENDENCY, BUDGET_DEPENDENCY},
	[UNKNOWN] = {"idle or not recorded", BUDGET_UNKNOWN, BUDGET_UNKNOWN},
};

static const struct figure_share headline_cpu_shares[HEADLINE_NR_CPU_SHARES] = {
	{"in operators", BUDGET_HOST + HOST_OPERATOR, BUDGET_HOST + HOST_OPERATOR},
	{"in the data loader", BUDGET_HOST + HOST_LOADER, BUDGET_HOST + HOST_LOADER},
	[CPU_COMMUNICATION] = {"in communication", BUDGET_TRANSFER, BUDGET_RANK_WAIT},
	{"waiting for Python's lock", BUDGET_HOST + HOST_GIL, BUDGET_HOST + HOST_GIL},
	{"compiling", BUDGET_HOST + HOST_COMPILATION, BUDGET_HOST + HOST_COMPILATION},
	{"in garbage collection", BUDGET_HOST + HOST_GC, BUDGET_HOST + HOST_GC},
	{"in CUDA calls", BUDGET_HOST + HOST_STARTUP, BUDGET_HOST + HOST_CALL},
	{"in OS calls", BUDGET_HOST + HOST_OS, BUDGET_HOST + HOST_OS},
	{"elsewhere", BUDGET_HOST + HOST_RANGE, BUDGET_DEPENDENCY},
};

static const struct figure_share headline_phase_shares[HEADLINE_NR_PHASE_SHARES] = {
	{"forward", PHASE_FORWARD, PHASE_FORWARD},
	{"backward", PHASE_BACKWARD, PHASE_BACKWARD},
	{"optimizer", PHASE_OPTIMIZATION, PHASE_OPTIMIZATION},
	{"data loader", PHASE_DATALOADER, PHASE_DATALOADER},
	{"other", PHASE_OTHERS, PHASE_OTHERS},
};

/* A line names at most so many causes of idle time; further and smaller ones are "other". */
#define MAX_CAUSES 4u
#define MIN_TENTHS 10u

/* The largest cause that is left; NR_BUSY: all are small. */
static size_t largest_cause(const unsigned int *tenths)
{
	size_t most = NR_BUSY;

	for (size_t i = NR_BUSY; i < UNKNOWN; i++) {
		most = tenths[i] > tenths[most] ? i : most;
	}
	return most;
}

/* The causes of idle time stand behind its sum, the largest first. */
static void add_idle(struct figure_lines *lines, unsigned int *tenths)
{
	unsigned int idle = 0, left;

	for (size_t i = NR_BUSY; i < UNKNOWN; i++) {
		idle += tenths[i];
	}
	left = idle;
	for (unsigned int nr = 0; left; nr++) {
		size_t cause = largest_cause(tenths);
		bool is_rest = nr && (nr == MAX_CAUSES || tenths[cause] < MIN_TENTHS) &&
			       tenths[cause] < left;
		unsigned int share = is_rest ? left : tenths[cause];
		char item[64], begin[32] = "";

		if (!nr) {
			snprintf(begin, sizeof(begin), "%u.%u %% idle (", idle / 10, idle % 10);
		}
		snprintf(item, sizeof(item), "%s%s %u.%u%s", begin,
			is_rest ? "other" : headline_gpu_shares[cause].text, share / 10, share % 10,
			share == left ? ")" : "");
		figure_lines_add(lines, item);
		left -= share;
		tenths[cause] = 0;
	}
}

static bool is_divided(const struct headline_figures *figures)
{
	return figures->parts[BUDGET_TRANSFER] || figures->parts[BUDGET_RANK_WAIT];
}

/*
 * The parts of the communication stand in parentheses behind its sum. They are rounded as running
 * sums, so that they add up to it.
 */
static void add_communication(struct figure_lines *lines, const struct headline_figures *figures,
	unsigned int tenths, const char *text)
{
	double all_ns = (double)budget_communication(figures->parts), ns = 0;
	unsigned int until = 0;

	if (!is_divided(figures)) {
		char item[64];

		snprintf(item, sizeof(item), "%s%s", text,
			figures->has_lone_parts ? " (waiting unknown)" : "");
		figure_lines_add_share(lines, tenths, item);
		return;
	}
	for (unsigned int i = 0; i < NR_WAIT_SHARES; i++) {
		unsigned int before = until;
		char item[96], begin[64] = "";

		ns += (double)figures->parts[wait_shares[i].first];
		until = (unsigned int)lround(tenths * ns / all_ns);
		if (until == before) {
			continue;
		}
		if (!before) {
			snprintf(begin, sizeof(begin), "%u.%u %% %s (", tenths / 10, tenths % 10,
				text);
		}
		snprintf(item, sizeof(item), "%s%s %u.%u%s", begin, wait_shares[i].text,
			(until - before) / 10, (until - before) % 10, until == tenths ? ")" : "");
		figure_lines_add(lines, item);
	}
}

void headline_add_gpu_shares(struct figure_lines *lines, const struct headline_figures *figures)
{
	unsigned int tenths[FIGURE_MAX_SHARES];

	figure_shares_tenths(headline_gpu_shares, HEADLINE_NR_GPU_SHARES, figures->parts,
		figures->parts_ns, tenths);
	figure_lines_begin(lines, "Time");
	figure_lines_add_share(lines, tenths[0], headline_gpu_shares[0].text);
	add_communication(
		lines, figures, tenths[COMMUNICATION], headline_gpu_shares[COMMUNICATION].text);
	figure_lines_add_share(lines, tenths[2], headline_gpu_shares[2].text);
	add_idle(lines, tenths);
	figure_lines_add_share(lines, tenths[UNKNOWN], headline_gpu_shares[UNKNOWN].text);
	figure_lines_end(lines);
}

void headline_add_cpu_shares(struct figure_lines *lines, const struct headline_figures *figures)
{
	unsigned int tenths[FIGURE_MAX_SHARES];

	if (figures->has_phases && figures->phases_ns) {
		figure_lines_add_shares(lines, "Time", headline_phase_shares,
			HEADLINE_NR_PHASE_SHARES, figures->phases, figures->phases_ns);
	}
	figure_shares_tenths(headline_cpu_shares, HEADLINE_NR_CPU_SHARES, figures->parts,
		figures->parts_ns, tenths);
	figure_lines_begin(lines, "CPU");
	for (size_t i = 0; i < HEADLINE_NR_CPU_SHARES; i++) {
		if (i == CPU_COMMUNICATION) {
			add_communication(lines, figures, tenths[i], headline_cpu_shares[i].text);
		} else {
			figure_lines_add_share(lines, tenths[i], headline_cpu_shares[i].text);
		}
	}
	figure_lines_end(lines);
}

/* A last item that the line need not have. */
static void add_optional(struct figure_lines *lines, const char *item)
{
	if (lines->column + 2 + strlen(item) <= lines->width) {
		figure_lines_add(lines, item);
	}
}

void headline_add_losses(struct figure_lines *lines, const struct headline_figures *figures,
	struct process *const *processes, size_t nr_processes)
{
	struct buf lost = {0};

	if (figures->has_lost) {
		budget_add_lost(&figures->launches, &lost);
	}
	buf_char(&lost, '\0');
	lines->nr += run_state_add_losses(&lines->text, processes, nr_processes, lost.bytes,
		lines->width == SIZE_MAX ? 0 : lines->width);
	buf_fini(&lost);
}

/* GPU activities that end so much later than their steps are said to. */
#define AHEAD_SHARE 0.02

/*
 * Adds how long steps take with the GPU activities that end after them, as the budget has it, where
 * the host is ahead: the shares of the next line are of that.
 */
static void add_device_time(struct figure_lines *lines, const struct headline_figures *figures)
{
	double nr = (double)figures->nr_step_rows;
	double ns = nr > 0 ? (double)figures->parts_ns / nr : 0;
	char item[96], time[TEXT_TIME_BYTES];

	if (figures->has_gpu && ns > figures->mean_ns * (1 + AHEAD_SHARE) &&
		ns > figures->median_ns * (1 + AHEAD_SHARE)) {
		text_time(time, ns);
		snprintf(item, sizeof(item),
			figures->nr_steps == 1 ? "%s with its GPU activities"
					       : "mean %s with their GPU activities",
			time);
		figure_lines_add(lines, item);
	}
}

static void add_step_times(struct figure_lines *lines, const struct headline_figures *figures)
{
	char item[96], time[TEXT_TIME_BYTES];

	text_time(time, figures->median_ns);
	if (figures->nr_steps == 1) {
		figure_lines_add(lines, time);
		add_device_time(lines, figures);
		return;
	}
	snprintf(item, sizeof(item), "median %s", time);
	figure_lines_add(lines, item);
	text_time(time, (double)figures->p99_ns);
	snprintf(item, sizeof(item), "p99 %s", time);
	figure_lines_add(lines, item);
	if (figures->has_trend) {
		snprintf(item, sizeof(item), "trend %+.1f %%", figures->trend_pct);
		figure_lines_add(lines, item);
	} else if (figures->nr_steps >= STEP_SERIES_MIN) {
		figure_lines_add(lines, "no trend");
	}
	add_device_time(lines, figures);
}

void headline_add_step(struct figure_lines *lines, const struct headline_figures *figures)
{
	char item[96];

	figure_lines_begin(lines, "Step");
	if (figures->nr_steps) {
		add_step_times(lines, figures);
	} else {
		figure_lines_add(lines,
			figures->has_steps ? "n/a" : "no steps found; all of the recording counts");
	}
	if (figures->series.nr_warm_up) {
		snprintf(item, sizeof(item), "%zu warm-up step%s excluded",
			figures->series.nr_warm_up, figures->series.nr_warm_up == 1 ? "" : "s");
		figure_lines_add(lines, item);
	}
	if (figures->nr_steps > 1 && figures->nr_steps < STEP_SERIES_MIN) {
		add_optional(lines, "too few steps for a trend");
	}
	figure_lines_end(lines);
}

/* Is most of the time beyond that of other steps compilation? */
static bool is_compilation(const struct headline_figures *figures)
{
	double more_ns =
		(double)figures->outlier_ns - figures->mean_ns * (double)figures->nr_outlier_rows;

	return 2 * (double)figures->outlier_compilation_ns > more_ns &&
	       figures->outlier_compilation_ns;
}

/* Adds what most of the time beyond that of other steps is: compilation, or a phase, if any. */
static void add_outlier_cause(struct figure_lines *lines, const struct headline_figures *figures)
{
	double nr = (double)figures->nr_step_rows, more_ns[NR_PHASES], all_ns = 0;

	if (is_compilation(figures)) {
		figure_lines_add(lines, "mostly compilation");
		return;
	}
	for (unsigned int k = 0; figures->has_phases && nr > 0 && k < NR_PHASES; k++) {
		more_ns[k] = (double)figures->outlier_phases[k] -
			     (double)figures->phases[k] * (double)figures->nr_outlier_rows / nr;
		all_ns += more_ns[k];
	}
	for (size_t i = 0; all_ns > 0 && i < HEADLINE_NR_PHASE_SHARES; i++) {
		if (2 * more_ns[headline_phase_shares[i].first] > all_ns) {
			char item[64];

			/* Training steps hardly differ by so much in it. */
			snprintf(item, sizeof(item), "mostly %s%s", headline_phase_shares[i].text,
				headline_phase_shares[i].first == PHASE_FORWARD ? " (validation?)"
										: "");
			figure_lines_add(lines, item);
		}
	}
}

/* As "2 of 59 steps took 10 times the median". */
void headline_add_outliers(struct figure_lines *lines, const struct headline_figures *figures)
{
	const struct step_series *series = &figures->series;
	double least = (double)series->shortest_ns / figures->median_ns;
	double most = (double)series->longest_ns / figures->median_ns;
	char item[160];

	if (!series->nr_outliers) {
		return;
	}
	figure_lines_begin(lines, "Slow");
	snprintf(item, sizeof(item), "%zu of %zu steps took %.0f", series->nr_outliers,
		headline_nr_steps(figures), least);
	if (round(most) > round(least)) {
		snprintf(item + strlen(item), sizeof(item) - strlen(item), " to %.0f", most);
	}
	snprintf(item + strlen(item), sizeof(item) - strlen(item),
		" times the median (%.0f %% of the time)",
		100 * (double)series->outliers_ns /
			((double)series->outliers_ns + (double)figures->counted_ns));
	figure_lines_add(lines, item);
	add_outlier_cause(lines, figures);
	figure_lines_add(lines,
		figures->has_all_parts ? "excluded from the median above" : "excluded above");
	figure_lines_end(lines);
}

/* ---- its row ---- */

#define SHARE(key, title, what)                                        \
	TABLE_COLUMN(key "_ns", title, TABLE_MEAN_TIME, .help = what), \
		TABLE_COLUMN(key "_pct", title " %", TABLE_PERCENT, .help = "of the step")

#define FINDING(nr)                                                                               \
	TABLE_COLUMN("finding_" nr, "Finding " nr, TABLE_TEXT, .help = "what would save time"),   \
		TABLE_COLUMN("finding_" nr "_saved_ns", "Saved by " nr, TABLE_MEAN_TIME,          \
			.help = "predicted by the replay of the steps; unknown where it cannot"), \
		TABLE_COLUMN("finding_" nr "_saved_pct", "Saved by " nr " %", TABLE_PERCENT,      \
			.help = "of the step")

const struct table_column headline_columns[HEADLINE_NR_COLUMNS] = {
	TABLE_COLUMN("program", "Program", TABLE_TEXT),
	TABLE_COLUMN("processes", "Processes", TABLE_COUNT, .help = "that the figures are of",
		TABLE_MEMBER(headline_figures, nr_processes)),
	TABLE_COLUMN("helpers", "Helpers", TABLE_COUNT, .help = "other processes",
		TABLE_MEMBER(headline_figures, nr_helpers)),
	TABLE_COLUMN("ranks", "Ranks", TABLE_COUNT, TABLE_MEMBER(headline_figures, nr_ranks)),
	TABLE_COLUMN("hosts", "Hosts", TABLE_COUNT, TABLE_MEMBER(headline_figures, nr_hosts)),
	TABLE_COLUMN("gpus", "GPUs", TABLE_COUNT, .help = "that had work",
		TABLE_MEMBER(headline_figures, nr_gpus)),
	TABLE_COLUMN("gpu_name", "GPU", TABLE_TEXT, .help = "unknown if they differ",
		TABLE_NONZERO(headline_figures, gpu_name)),
	TABLE_COLUMN("span_ns", "Recorded", TABLE_TIME, .help = "of the longest process",
		TABLE_MEMBER(headline_figures, span_ns)),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT,
		.help = "whole ones, without those that warm up and outliers; the following are of "
			"these",
		TABLE_MEMBER(headline_figures, nr_steps)),
	TABLE_COLUMN("warm_up_steps", "Warm-up", TABLE_COUNT, .help = "steps that warm up",
		TABLE_MEMBER(headline_figures, series.nr_warm_up)),
	TABLE_COLUMN("outlier_steps", "Outliers", TABLE_COUNT,
		.help = "later steps of more than twice the median, such as with a validation",
		TABLE_MEMBER(headline_figures, series.nr_outliers)),
	TABLE_COLUMN("outliers_ns", "Outliers total", TABLE_TIME, .help = "sum of these steps",
		TABLE_MEMBER(headline_figures, series.outliers_ns)),
	TABLE_COLUMN("median_ns", "Median", TABLE_MEAN_TIME,
		.help = "of steps; a step of a job takes as long as in its slowest rank",
		TABLE_IF(headline_figures, median_ns, nr_steps)),
	TABLE_COLUMN(
		"mean_ns", "Mean", TABLE_MEAN_TIME, TABLE_IF(headline_figures, mean_ns, nr_steps)),
	TABLE_COLUMN("p99_ns", "p99", TABLE_TIME, .help = "99th percentile, nearest rank",
		TABLE_IF(headline_figures, p99_ns, nr_steps)),
	TABLE_COLUMN("trend_pct", "Trend %", TABLE_PERCENT,
		.help = "median of the last third of the steps against the first; unknown if "
			"chance explains it",
		TABLE_IF(headline_figures, trend_pct, has_trend)),
	SHARE("computing", "Computing", "a computing kernel runs"),
	SHARE("exposed_communication", "Exposed communication",
		"communication runs and no other GPU activity"),
	SHARE("exposed_copies", "Exposed copies", "copies or memsets run and no computing kernel"),
	SHARE("idle_compilation", "Idle, compilation",
		"torch.compile, JAX, Triton or another compiler works"),
	SHARE("idle_startup", "Idle, start-up", "the host is in a long call that does not recur"),
	SHARE("idle_allocation", "Idle, allocation",
		"the host allocates, frees, loads or compiles"),
	SHARE("idle_wait", "Idle, waits", "the host waits for the GPU, or reads back"),
	SHARE("idle_staging", "Idle, copy calls", "the host copies to the GPU, and waits for it"),
	SHARE("idle_launch", "Idle, launches", "the host is in another CUDA call"),
	SHARE("idle_gil", "Idle, Python's lock", "the host waits for Python's lock (GIL)"),
	SHARE("idle_gc", "Idle, garbage collection", "the host collects Python's garbage"),
	SHARE("idle_dataloader", "Idle, data loader", "the host is in the data loader"),
	SHARE("idle_operators", "Idle, CPU operators", "the host is in an operator"),
	SHARE("idle_os", "Idle, OS calls", "the host is in a call of the operating system"),
	SHARE("idle_user", "Idle, user code", "the host is elsewhere, such as in Python"),
	SHARE("idle_latency", "Idle, latency", "the GPU is about to begin what was launched"),
	SHARE("idle_dependency", "Idle, dependencies",
		"what was launched waits for an event, another stream or another process"),
	SHARE("idle_unknown", "Idle or not recorded",
		"no recorded activity runs, but launches lack theirs"),
	SHARE("cpu_operators", "CPU, operators", "without a GPU: in an operator"),
	SHARE("cpu_dataloader", "CPU, data loader", "without a GPU: in the data loader"),
	SHARE("cpu_communication", "CPU, communication", "without a GPU: in a collective"),
	SHARE("cpu_gil", "CPU, Python's lock", "without a GPU: waiting for Python's lock (GIL)"),
	SHARE("cpu_compilation", "CPU, compilation",
		"without a GPU: torch.compile, JAX or another compiler works"),
	SHARE("cpu_gc", "CPU, garbage collection", "without a GPU: Python's garbage is collected"),
	SHARE("cpu_calls", "CPU, CUDA calls", "without a GPU: in a CUDA call"),
	SHARE("cpu_os", "CPU, OS calls", "without a GPU: in a call of the operating system"),
	SHARE("cpu_other", "CPU, other", "without a GPU: elsewhere, such as in Python"),
	SHARE("forward", "Forward", "phase of the host"),
	SHARE("backward", "Backward", "phase of the host"),
	SHARE("optimization", "Optimization", "phase of the host"),
	SHARE("dataloader", "Dataloader", "phase of the host"),
	SHARE("others", "Others", "in no phase"),
	SHARE("transfer", "Transfer", "exposed communication once all ranks have come"),
	SHARE("rank_wait", "Waiting for a rank",
		"exposed communication until then; both are unknown where not all ranks are "
		"recorded"),
	TABLE_COLUMN("flops_per_s", "FLOP/s", TABLE_NUMBER,
		.help = "of operators with recorded shapes, per GPU",
		TABLE_NONZERO(headline_figures, flops_per_s)),
	TABLE_COLUMN("mfu_pct", "MFU %", TABLE_PERCENT,
		.help = "estimated: time of these operations at the peak of the GPU for their "
			"types of numbers (TF32 counts as float32), of the step",
		TABLE_MEMBER(headline_figures, mfu_pct)),
	FINDING("1"),
	FINDING("2"),
	FINDING("3"),
	TABLE_COLUMN("incomplete", "Incomplete", TABLE_COUNT,
		.help = "processes of which anything is missing"),
};

/* Means of all steps of all processes; of the whole recordings where there are no steps. */
static void fill_times(const struct headline_figures *figures, struct table_cell *cells)
{
	double nr = figures->has_steps ? (double)figures->nr_step_rows : 1;

	if (figures->has_parts && figures->has_gpu) {
		figure_shares_fill(headline_gpu_shares, HEADLINE_NR_GPU_SHARES, figures->parts,
			figures->parts_ns, nr, &cells[HEADLINE_GPU_SHARES]);
	} else if (figures->has_parts) {
		figure_shares_fill(headline_cpu_shares, HEADLINE_NR_CPU_SHARES, figures->parts,
			figures->parts_ns, nr, &cells[HEADLINE_CPU_SHARES]);
	}
	if (figures->has_parts && is_divided(figures)) {
		figure_shares_fill(wait_shares, HEADLINE_NR_WAIT_SHARES, figures->parts,
			figures->parts_ns, nr, &cells[HEADLINE_WAIT_SHARES]);
	}
	if (figures->has_phases) {
		figure_shares_fill(headline_phase_shares, HEADLINE_NR_PHASE_SHARES, figures->phases,
			figures->phases_ns, nr, &cells[HEADLINE_PHASE_SHARES]);
	}
}

void headline_fill(const struct headline_figures *figures, struct table_cell *cells)
{
	table_fill(headline_columns, HEADLINE_NR_COLUMNS, figures, cells);
	fill_times(figures, cells);
}
