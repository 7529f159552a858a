/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headline of a job: what ran, how long a step takes, where its time goes, and which rank the
 * others wait for. Memory: 24 bytes a step, and 48 a process.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/headline.h"
#include "report/model/run_state.h"
#include "report/reduce/reduced_view.h"
#include "report/stats/samples.h"
#include "report/table/figure_lines.h"
#include "report/util/idset.h"
#include "report/util/sort.h"
#include "report/util/text.h"

/* A rank is slow from that many percent of a step on. */
#define SLOW_PERCENT 5

/* Medians of the steps of a process, ns; below 0: unknown. */
struct pace {
	struct reduced_who who;
	double step_ns, exposed_ns; /* exposed_ns: communication without computation */
};

struct job {
	struct headline_figures figures;
	const char *command; /* "": unknown */
	struct headline_job_step *steps;
	size_t nr_steps, step_capacity;
	struct pace *paces;
	size_t nr_paces, nr_incomplete;
	const struct pace *straggler; /* NULL: there is none */
	bool is_by_waiting;	      /* the others wait for it */
	double delay_ns;
};

/* ---- processes ---- */

static bool has_steps(const struct reduced_process *process)
{
	return process->facts[REDUCED_BUDGET + BUDGET_SUM_STEPS] != UINT64_MAX &&
	       process->facts[REDUCED_BUDGET + BUDGET_SUM_STEPS];
}

static bool has_gpu(const struct reduced_process *process)
{
	return !process->has_no_devices;
}

static bool has_rank(const struct reduced_process *process)
{
	return process->rank >= 0;
}

/* Drops the processes that lack it, if others have it. */
static void narrow(const struct reduced *reduced, bool *is_main,
	bool (*has)(const struct reduced_process *process))
{
	bool is_any = false;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		is_any |= is_main[i] && has(&reduced->processes[i].who);
	}
	for (size_t i = 0; is_any && i < reduced->nr_processes; i++) {
		is_main[i] &= has(&reduced->processes[i].who);
	}
}

/* Files of version 2 have the parts of TensorBoard's plugin alone, of all steps. */
static void add_plugin_parts(const uint64_t *sums, uint64_t *parts)
{
	static const enum budget_part as[NR_BUDGET_PLUGIN_PARTS] = {
		[BUDGET_PLUGIN_KERNEL] = BUDGET_COMPUTING,
		[BUDGET_PLUGIN_MEMCPY] = BUDGET_COPY,
		[BUDGET_PLUGIN_MEMSET] = BUDGET_SET,
		[BUDGET_PLUGIN_COMMUNICATION] = BUDGET_COMMUNICATION,
		[BUDGET_PLUGIN_RUNTIME] = (enum budget_part)(BUDGET_HOST + HOST_CALL),
		[BUDGET_PLUGIN_DATALOADER] = (enum budget_part)(BUDGET_HOST + HOST_LOADER),
		[BUDGET_PLUGIN_CPU] = (enum budget_part)(BUDGET_HOST + HOST_OPERATOR),
		[BUDGET_PLUGIN_OTHER] = BUDGET_USER,
	};

	for (unsigned int i = 0; i < NR_BUDGET_PLUGIN_PARTS; i++) {
		parts[as[i]] += sums[BUDGET_SUM_PLUGIN + i];
	}
}

static void add_parts(const struct reduced_process *process, struct headline_figures *figures)
{
	const uint64_t *sums = &process->facts[REDUCED_BUDGET];
	const uint64_t *parts = &process->facts[REDUCED_PARTS];

	if (sums[BUDGET_SUM_NS] == UINT64_MAX) {
		figures->has_parts = false;
		return;
	}
	figures->nr_step_rows += sums[BUDGET_SUM_STEPS];
	figures->parts_ns += sums[BUDGET_SUM_NS];
	if (parts[0] == UINT64_MAX) {
		figures->has_all_parts = true;
		add_plugin_parts(sums, figures->parts);
		return;
	}
	for (unsigned int i = 0; i < NR_BUDGET_LONE_PARTS; i++) {
		figures->parts[budget_lone_part(i)] += parts[i] == UINT64_MAX ? 0 : parts[i];
	}
	for (unsigned int i = 0; i < NR_BUDGET_LATER_PARTS; i++) {
		uint64_t ns = process->facts[REDUCED_LATER_PARTS + i];

		figures->parts[budget_later_parts[i]] += ns == UINT64_MAX ? 0 : ns;
	}
}

/* Only training goes backward or changes weights. */
static void add_phases(const uint64_t ns[NR_REDUCED_TIMES], struct headline_figures *figures)
{
	for (unsigned int i = 0; i < NR_PHASES && ns[REDUCED_DATALOADER + i] != UINT64_MAX; i++) {
		figures->phases[i] += ns[REDUCED_DATALOADER + i];
		figures->phases_ns += ns[REDUCED_DATALOADER + i];
	}
	figures->has_phases =
		figures->phases[PHASE_BACKWARD] || figures->phases[PHASE_OPTIMIZATION];
}

/* All whole steps are of the job, which says itself which of its own count. */
static void add_steps(struct job *job, const struct reduced_process *process)
{
	bool *is_whole = reduced_counted_steps(process, true);
	bool *counts = reduced_counted_steps(process, false);
	struct samples steps = {0}, exposed = {0};
	size_t first = job->nr_steps;

	for (size_t i = 0; i < process->nr_steps; i++) {
		const uint64_t *ns = process->steps[i].ns;

		if (!is_whole[i]) {
			continue;
		}
		job->steps = array_grow(
			job->steps, job->nr_steps, &job->step_capacity, sizeof(*job->steps));
		job->steps[job->nr_steps++] =
			(struct headline_job_step){process->steps[i].step, ns[REDUCED_DURATION], 0};
		if (!counts[i]) {
			continue;
		}
		samples_add(&steps, ns[REDUCED_DURATION]);
		add_phases(ns, &job->figures);
		if (ns[REDUCED_COMMUNICATION] != UINT64_MAX && ns[REDUCED_OVERLAP] != UINT64_MAX) {
			samples_add(&exposed, ns[REDUCED_COMMUNICATION] - ns[REDUCED_OVERLAP]);
		}
	}
	for (size_t i = first; i < job->nr_steps && steps.nr; i++) {
		job->steps[i].rank_ns = samples_mean(&steps);
	}
	job->paces[job->nr_paces++] = (struct pace){.who = reduced_who_of(process),
		.step_ns = steps.nr ? samples_median(&steps) : -1,
		.exposed_ns = exposed.nr ? samples_median(&exposed) : -1};
	samples_fini(&steps);
	samples_fini(&exposed);
	free(is_whole);
	free(counts);
}

static void add_process(struct job *job, const struct reduced_process *process)
{
	struct headline_figures *figures = &job->figures;
	struct budget_launches launches = reduced_launches(process);

	if (!figures->nr_processes) {
		const char *command = string_pool_text(process->command, NULL);

		job->command = strcmp(command, "?") == 0 ? "" : command;
	}
	figures->nr_processes++;
	figures->nr_ranks += process->rank >= 0;
	figures->has_gpu |= has_gpu(process);
	figures->has_steps |= has_steps(process);
	if (process->duration_ns != UINT64_MAX && process->duration_ns > figures->span_ns) {
		figures->span_ns = process->duration_ns;
	}
	budget_add_launches(&figures->launches, &launches);
	figures->has_lost |= budget_has_lost(&launches);
	job->nr_incomplete += process->state == REDUCED_COMPLETE && budget_has_lost(&launches);
	add_parts(process, figures);
	add_steps(job, process);
}

/*
 * Chooses the processes that train: each condition counts among those that the ones before it left.
 * All others are helpers.
 */
static void add_processes(struct job *job, const struct reduced *reduced)
{
	bool *is_main = mem_zeroed(reduced->nr_processes, sizeof(*is_main));
	struct idset *hosts = idset_create();

	memset(is_main, true, reduced->nr_processes * sizeof(*is_main));
	narrow(reduced, is_main, has_gpu);
	narrow(reduced, is_main, has_steps);
	narrow(reduced, is_main, has_rank);
	job->paces = mem_zeroed(reduced->nr_processes, sizeof(*job->paces));
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		struct reduced_process process;

		job->nr_incomplete += reduced->processes[i].who.state != REDUCED_COMPLETE;
		if (!is_main[i]) {
			continue;
		}
		process = reduced_process(reduced, i);
		job->figures.nr_hosts += !idset_has(hosts, process.host);
		idset_add(hosts, process.host);
		add_process(job, &process);
		reduced_process_fini(&process);
	}
	job->figures.nr_helpers = reduced->nr_processes - job->figures.nr_processes;
	job->figures.has_lone_parts = job->figures.nr_processes > 1;
	idset_destroy(hosts);
	free(is_main);
}

/* ---- steps ---- */

/* Joins the steps of the ranks into those of the job, as the first screen does. */
static void join_steps(struct job *job)
{
	size_t nr = headline_join_steps(job->steps, job->nr_steps);

	job->figures.has_steps |= nr > 0;
	headline_set_steps(&job->figures, job->steps, nr);
}

/* ---- the rank that the others wait for ---- */

static double median_of(const struct job *job, size_t without, bool is_by_waiting)
{
	double *values = mem_zeroed(job->nr_paces, sizeof(*values)), median;
	size_t nr = 0;

	for (size_t i = 0; i < job->nr_paces; i++) {
		if (i != without) {
			values[nr++] =
				is_by_waiting ? job->paces[i].exposed_ns : job->paces[i].step_ns;
		}
	}
	qsort(values, nr, sizeof(*values), by_double);
	median = (values[(nr - 1) / 2] + values[nr / 2]) / 2;
	free(values);
	return median;
}

/* The share is that of the job's mean step, as the shares of findings are. */
static double delay_pct(const struct job *job)
{
	return job->figures.mean_ns > 0 ? 100 * job->delay_ns / job->figures.mean_ns : 0;
}

/*
 * Finds the rank that the others wait for. Where ranks communicate they end their steps together,
 * and the one that the others wait for communicates for the shortest time. Where they do not, it
 * has the longest steps.
 */
static void find_straggler(struct job *job)
{
	size_t slowest = 0;
	double median_ns;

	job->is_by_waiting = true;
	for (size_t i = 0; i < job->nr_paces; i++) {
		if (job->paces[i].step_ns < 0) {
			return;
		}
		job->is_by_waiting &= job->paces[i].exposed_ns > 0;
	}
	if (job->nr_paces < 2) {
		return;
	}
	for (size_t i = 1; i < job->nr_paces; i++) {
		const struct pace *pace = &job->paces[i], *most = &job->paces[slowest];

		if (job->is_by_waiting ? pace->exposed_ns < most->exposed_ns
				       : pace->step_ns > most->step_ns) {
			slowest = i;
		}
	}
	median_ns = median_of(job, slowest, job->is_by_waiting);
	job->delay_ns = job->is_by_waiting ? median_ns - job->paces[slowest].exposed_ns
					   : job->paces[slowest].step_ns - median_ns;
	if (delay_pct(job) > SLOW_PERCENT) {
		job->straggler = &job->paces[slowest];
	}
}

/* ---- lines ---- */

static void add_run(const struct job *job, struct figure_lines *lines)
{
	const struct headline_figures *figures = &job->figures;
	bool is_of_ranks = figures->nr_ranks == figures->nr_processes;
	struct buf rest = {0};
	char time[TEXT_TIME_BYTES];
	size_t width = 0;

	buf_printf(&rest, ", %zu %s%s", figures->nr_processes, is_of_ranks ? "rank" : "process",
		figures->nr_processes == 1 ? ""
		: is_of_ranks		   ? "s"
					   : "es");
	if (figures->nr_hosts > 1) {
		buf_printf(&rest, " on %zu hosts", figures->nr_hosts);
	}
	if (figures->nr_helpers) {
		buf_printf(&rest, ", %zu helper%s", figures->nr_helpers,
			figures->nr_helpers == 1 ? "" : "s");
	}
	/* A summary does not have what GPUs and calls a process without activities had. */
	buf_text(&rest, figures->has_gpu ? "" : ", no GPU activity recorded");
	if (figures->nr_steps) {
		size_t nr = headline_nr_steps(figures);

		buf_printf(&rest, ", %zu step%s", nr, nr == 1 ? "" : "s");
	}
	if (figures->span_ns) {
		text_time(time, (double)figures->span_ns);
		buf_printf(&rest, "%s%s", figures->nr_steps ? " in " : ", ", time);
	}
	if (lines->width != SIZE_MAX) {
		width = lines->width > rest.nr_bytes + 12 ? lines->width - rest.nr_bytes : 12;
	}
	run_state_add_command(&lines->text, job->command, width);
	buf_add(&lines->text, rest.bytes, rest.nr_bytes);
	figure_lines_end(lines);
	buf_fini(&rest);
}

static void add_straggler(const struct job *job, struct figure_lines *lines)
{
	const struct reduced_who *who;
	char item[160], rank[48], time[TEXT_TIME_BYTES];

	if (!job->straggler) {
		return;
	}
	who = &job->straggler->who;
	if (who->rank < 0) {
		snprintf(rank, sizeof(rank), "%.40s", string_pool_text(who->name, NULL));
	} else {
		snprintf(rank, sizeof(rank), "rank %" PRId64, who->rank);
	}
	text_time(time, job->delay_ns);
	if (job->is_by_waiting) {
		snprintf(item, sizeof(item), "the others wait %s a step for %s (%.1f %%)", time,
			rank, delay_pct(job));
	} else {
		snprintf(item, sizeof(item),
			"a step of %s takes %s longer than those of the others (%.1f %%)", rank,
			time, delay_pct(job));
	}
	figure_lines_begin(lines, "Ranks");
	figure_lines_add(lines, item);
	figure_lines_end(lines);
}

static char *make_lines(const struct job *job, size_t width)
{
	struct figure_lines lines = {.width = width ? width : SIZE_MAX};
	const struct headline_figures *figures = &job->figures;

	add_run(job, &lines);
	headline_add_losses(&lines, figures, NULL, 0);
	headline_add_step(&lines, figures);
	if (figures->has_parts && figures->parts_ns && figures->has_gpu) {
		headline_add_gpu_shares(&lines, figures);
	} else if (figures->has_parts && figures->parts_ns) {
		headline_add_cpu_shares(&lines, figures);
	}
	headline_add_outliers(&lines, figures);
	add_straggler(job, &lines);
	buf_char(&lines.text, '\0');
	return lines.text.bytes;
}

/* ---- the table ---- */

enum {
	STRAGGLER = HEADLINE_NR_COLUMNS,
	DELAY,
	DELAY_SHARE,
	NR_COLUMNS,
};

/* Copies the columns of the view, and adds those that only a summary can fill. */
static void make_columns(struct table_column *columns)
{
	static const struct table_column own[] = {
		TABLE_COLUMN("straggler", "Straggler", TABLE_TEXT,
			.help = "the rank that the others wait for, or whose steps are longest; "
				"unknown "
				"below 5 % of the job's mean step"),
		TABLE_COLUMN("delay_ns", "Delay", TABLE_MEAN_TIME,
			.help = "what the others wait for it in a step, or how much longer its "
				"steps take; of medians"),
		TABLE_COLUMN(
			"delay_pct", "Delay %", TABLE_PERCENT, .help = "of the job's mean step"),
	};

	memcpy(columns, headline_columns, sizeof(headline_columns));
	memcpy(&columns[STRAGGLER], own, sizeof(own));
}

static void fill(const struct job *job, struct table_cell *cells)
{
	struct buf program = {0};

	run_state_add_command(&program, job->command, 0);
	table_set_text(&cells[HEADLINE_PROGRAM], program.bytes, program.nr_bytes);
	buf_fini(&program);
	headline_fill(&job->figures, cells);
	table_set_integer(&cells[HEADLINE_INCOMPLETE], job->nr_incomplete);
	if (job->straggler) {
		reduced_set_who(&job->straggler->who, &cells[STRAGGLER]);
		table_set_number(&cells[DELAY], job->delay_ns);
		table_set_number(&cells[DELAY_SHARE], delay_pct(job));
	}
}

struct table *reduced_headline_table(struct reduced *reduced, unsigned int line_width)
{
	struct table_column columns[NR_COLUMNS];
	struct job job = {
		.figures = {.has_parts = true, .nr_gpus = HEADLINE_UNKNOWN_GPUS, .mfu_pct = NAN}};
	struct table *table;
	char *lines;

	make_columns(columns);
	table = table_create(view_headline.name, view_headline.title, columns, NR_COLUMNS);
	if (reduced->nr_processes) {
		add_processes(&job, reduced);
		join_steps(&job);
		find_straggler(&job);
		fill(&job, table_add_row(table));
		table->is_figure_only = true;
		table->figure = make_lines(&job, line_width);
		lines = make_lines(&job, 0);
		table->figure_json = figure_lines_json(lines);
		free(lines);
	}
	free(job.steps);
	free(job.paces);
	return table;
}
