/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a finding: one sentence with cause, remedy and saving, which fits two lines of a
 * terminal, and the places with most of the time. A remedy depends on framework and device.
 */
#include "report/verdict/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/model/device_records.h"
#include "report/model/os_files.h"
#include "report/model/os_kind.h"
#include "report/model/py_stack.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "report/verdict/code_text.h"
#include "report/verdict/compile_text.h"
#include "report/verdict/cost_places.h"
#include "report/verdict/loader_text.h"

/* An operator counts in the step in which it begins, so own times of one thread may exceed it. */
#define OPERATORS_OVERLAP_SHARE 1e-3

/* Kernels that follow each other may overlap a little; those of several GPUs do for long. */
#define KERNELS_OVERLAP_SHARE 0.1

/* Columns of a terminal for a sentence, beside its label. */
#define LINE_WIDTH 76u

/* The share of waits for a CPU from which on a limit explains them, if it held threads as long. */
#define MIN_HELD_SHARE 0.5

/* ---- sentences ---- */

static void add_amount(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	advice_add_time(out, finding->saved_ns < 0 ? finding->reach_ns : finding->saved_ns);
	buf_printf(out, "%s (%.1f %%)",
		verdict->figures.has_steps ? " per step" : " of the recording",
		verdict_share_pct(finding));
}

/* Nobody knows whose data came late, and they may be of a rank that is not recorded. */
static void add_measured_sentence(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	bool is_alone = verdict->figures.nr_processes == 1;

	buf_text(out, is_alone ? "This rank waits " : "The ranks wait ");
	add_amount(verdict, finding, out);
	buf_printf(out, " for data of others%s",
		is_alone ? "; record all ranks to see which comes late" : "");
}

static void add_late_sentence(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	bool has_rank = verdict->late_rank >= 0;

	if (!has_rank && !verdict->late && verdict->prediction.waits.nr_measured) {
		add_measured_sentence(verdict, finding, out);
		return;
	}
	buf_text(out, has_rank || verdict->late ? "The other ranks wait " : "The ranks wait ");
	add_amount(verdict, finding, out);
	if (has_rank) {
		buf_printf(out, "%s for rank %" PRId64, verdict->is_late_mostly ? ", mostly" : "",
			verdict->late_rank);
	} else if (verdict->late) {
		buf_printf(out, " for process %" PRIu32, verdict->late_pid);
	} else {
		buf_text(out, " for each other");
	}
	if (verdict->late) {
		buf_text(out, advice_straggler_because(verdict->late->cause));
	}
}

/* Is it known what the workers of the loader do? Then the change is one that may not be enough. */
static bool has_loader_work(const struct verdict *verdict, const struct verdict_finding *finding)
{
	return finding->cause == VERDICT_LOADER && verdict->workers.work != LOADER_WORK_UNKNOWN;
}

/* As "; batches ready in time would save 57.0 ms per step (32.6 %)". */
static void add_change(const struct verdict *verdict, const struct verdict_finding *finding,
	const char *change, struct buf *out)
{
	buf_printf(out, "; %s %s ", change,
		/*
		 * It may be more, since what follows a wait is slower, too, and less, if the loop
		 * needs what the others make.
		 */
		finding->cause == VERDICT_GIL			       ? "can save"
		: finding->cause == VERDICT_CPU && !finding->is_capped ? "can save"
		: finding->saved_ns < 0 || finding->is_capped || has_loader_work(verdict, finding)
			? "can save at most"
			: "would save");
	add_amount(verdict, finding, out);
}

/* The network bounds time that is known to be transfer; the replay only hides it. */
static const char *communication_change(
	const struct verdict *verdict, const struct verdict_finding *finding)
{
	const uint64_t *parts = verdict->figures.parts;
	bool is_bound = finding->saved_ns < 0 || finding->is_capped;

	return is_bound && parts[BUDGET_TRANSFER] > parts[BUDGET_COMMUNICATION]
		       ? "hiding it or more bandwidth"
		       : "hiding it";
}

static const char *launch_change(const struct verdict *verdict)
{
	const struct headline_figures *figures = &verdict->figures;

	if (figures->launches.graphs) {
		return "less work on the host between graphs";
	}
	if (figures->maker == DEVICE_MAKER_OTHER) {
		return figures->has_torch && !figures->has_compiled ? "torch.compile"
								    : "fewer and larger launches";
	}
	if (figures->maker == DEVICE_MAKER_AMD) {
		return figures->has_compiled ? "HIP graphs (mode=\"reduce-overhead\")"
		       : figures->has_torch  ? "HIP graphs or torch.compile"
					     : "HIP graphs";
	}
	return figures->has_compiled ? "CUDA graphs (mode=\"reduce-overhead\")"
	       : figures->has_torch  ? "CUDA graphs or torch.compile"
				     : "CUDA graphs";
}

/* Pinned memory is no remedy where all of it is pinned. */
static const char *copy_change(const struct verdict *verdict)
{
	const struct advice_facts *facts = verdict->facts;
	bool has_pageable =
		facts && advice_sites_sum(&facts->sites, ADVICE_PAGEABLE, facts->base_mask).nr;

	return has_pageable ? "copying ahead from pinned memory" : "copying ahead";
}

static void add_name(uint32_t name, struct buf *out)
{
	const char *text = string_pool_text(name, NULL);

	text_add_shown(out, text, strlen(text), VERDICT_NAME_WIDTH);
}

/* Adds the name of a call behind a word. */
static void add_call(uint32_t name, const char *word, struct buf *out)
{
	if (name) {
		buf_text(out, word);
		add_name(name, out);
	}
}

static void add_lost(const struct headline_figures *figures, struct buf *out)
{
	budget_add_lost(&figures->launches, out);
	buf_text(out, ", so idle time is unknown");
}

/*
 * Says start-up in times of a whole process, not of a step. Without steps nothing shows whether it
 * would come again, and allocations count as well.
 */
static void add_startup_sentence(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	const struct headline_figures *figures = &verdict->figures;
	double nr_steps = figures->nr_step_rows
				  ? (double)figures->nr_step_rows / (double)figures->nr_processes
				  : 1;

	buf_text(out, verdict->is_capture	 ? "Capturing graphs takes "
		      : figures->has_steps	 ? "Start-up takes "
		      : verdict->figures.has_gpu ? "Start-up and allocation take "
						 : "Start-up takes ");
	advice_add_time(out, finding->reach_ns * nr_steps);
	buf_printf(out, " (%.1f %% of the %s)", verdict_share_pct(finding),
		figures->has_steps ? "steps" : "recording");
	if (verdict->is_capture) {
		buf_text(out, "; its launches run nothing");
	} else if (verdict->is_compilation) {
		buf_text(out, ", most of it in ");
		compile_text_add_startup(verdict, out);
	} else {
		add_call(figures->slow_name, ", most in ", out);
	}
	if (figures->has_steps && (!verdict->is_capture || figures->nr_capturing <= 1)) {
		buf_text(out, verdict->is_capture ? ", and it happens once" : "; it happens once");
	}
}

/* Work at the same time can take more together than the time in which any of it runs. */
static bool work_overlaps(const struct verdict *verdict, const struct verdict_finding *finding)
{
	double share =
		finding->cause == VERDICT_KERNELS ? KERNELS_OVERLAP_SHARE : OPERATORS_OVERLAP_SHARE;
	double ns = (double)advice_sites_sum(&verdict->work, ADVICE_GAP, 1u << ADVICE_LATER).ns;

	return verdict_per_step(verdict, ns) > finding->reach_ns * (1 + share);
}

static bool fits_two_lines(const struct buf *sentence)
{
	struct buf text = {0}, lines = {0};
	size_t nr = 0;

	buf_add(&text, sentence->bytes, sentence->nr_bytes);
	buf_char(&text, '\0');
	text_wrap(&lines, text.bytes, "", LINE_WIDTH);
	for (size_t i = 0; i < lines.nr_bytes; i++) {
		nr += lines.bytes[i] == '\n';
	}
	buf_fini(&text);
	buf_fini(&lines);
	return nr <= 2;
}

/* Appends the amount of the finding, and up to so many names with most of it. */
static void add_longest(const struct verdict *verdict, const struct verdict_finding *finding,
	const char *what, size_t nr_names, struct buf *out)
{
	const struct advice_site *top[ADVICE_NR_TOP_SITES] = {NULL};

	add_amount(verdict, finding, out);
	advice_sites_find_top(&verdict->work, ADVICE_GAP, 1u << ADVICE_LATER, top);
	for (size_t i = 0; i < nr_names && top[i]; i++) {
		size_t before = out->nr_bytes;

		buf_text(out, i ? ", " : what);
		add_name(top[i]->key.place.what, out);
		if (!work_overlaps(verdict, finding)) {
			buf_text(out, " (");
			advice_add_time(out,
				verdict_per_step(verdict, (double)top[i]->sums[ADVICE_LATER].ns));
			buf_char(out, ')');
		}
		if (i && !fits_two_lines(out)) {
			out->nr_bytes = before;
		}
	}
}

static void add_kernels_sentence(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	if (verdict->is_unexplained) {
		buf_text(out, "What the GPU waits for was not recorded; it computes ");
	} else {
		buf_text(out, "Only faster kernels save much; the GPU computes ");
	}
	add_longest(verdict, finding, "; largest: ", 2, out);
}

/* If workers loaded the data, the loop's thread would only wait. */
static void add_loader(const struct verdict *verdict, const struct verdict_finding *finding,
	const struct code_words *words, struct buf *out)
{
	const char *own = verdict->figures.has_gpu ? "The GPU waits while the loop loads data"
						   : "The loop loads data itself";
	const char *who = verdict->figures.has_gpu ? "GPU" : "loop";

	if (has_loader_work(verdict, finding)) {
		buf_printf(out, "The %s waits for loader workers", who);
		loader_text_add_work(&verdict->workers, &words->form, out);
	} else if (words->waits.has_place) {
		buf_text(out, own);
		wait_add(&words->waits.sums, &words->form, ", waiting", out);
	} else if (words->code.has_place) {
		buf_text(out, own);
		code_add(&words->code, &words->form, "it", out);
	} else {
		buf_printf(out, "The %s waits for the data loader%s", who,
			verdict->figures.loaders == OP_LOADER_IN_LOOP ? ", which has no workers"
								      : "");
	}
}

static void add_loader_change(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	const struct loader_workers *workers = &verdict->workers;
	const char *change = has_loader_work(verdict, finding) ? loader_text_change(workers)
							       : "batches ready in time";
	char text[64];
	uint64_t nr;

	if (has_loader_work(verdict, finding) && workers->work == LOADER_COMPUTES) {
		nr = loader_workers_wanted(workers, finding->reach_ns / finding->step_ns);
		if (nr) {
			snprintf(text, sizeof(text), "%" PRIu64 " workers instead of %" PRIu64, nr,
				workers->nr);
			change = text;
		}
	}
	add_change(verdict, finding, change, out);
}

/* The lock is held by a thread that runs Python, or has C code that keeps it. */
static void add_gil(const struct verdict *verdict, const struct code_found *holders,
	const struct code_form *form, struct buf *out)
{
	buf_printf(out, "The %s waits for Python's lock (GIL)",
		verdict->figures.has_gpu ? "host" : "loop");
	if (holders->has_place) {
		buf_text(out, holders->is_held ? ", held at " : " while other threads run ");
		code_form_add_line(holders->top[0].place, form, out);
	} else {
		buf_text(out, ", which other threads hold");
	}
}

static bool names_waits(const struct verdict *verdict, const struct code_words *words)
{
	return words->waits.has_place && !verdict->is_in_operators;
}

static void add_waits(
	const struct verdict *verdict, const struct code_words *words, struct buf *out)
{
	buf_printf(out, "The %s waits",
		verdict->figures.has_gpu ? "GPU waits while the loop" : "loop");
	wait_add(&words->waits.sums, &words->form, "", out);
}

/* A line may call Python's code, and operators of which the framework runs more than these. */
static bool is_mostly_python(const struct code_place *place)
{
	return 2 * place->nr_python > place->sum.nr;
}

/* Without operators nobody knows whether a framework or the program itself was at work. */
static void add_user(const struct verdict *verdict, const struct verdict_finding *finding,
	const struct code_words *words, const struct cost_place *place, struct buf *out)
{
	const char *what = verdict->figures.has_gpu ? "GPU waits for" : "loop runs";

	if (verdict->is_in_operators) {
		buf_text(out, "The GPU waits for the host, mostly in operators");
	} else if (names_waits(verdict, words) && words->waits.is_for_gil) {
		add_gil(verdict, &words->holders, &words->form, out);
	} else if (names_waits(verdict, words)) {
		add_waits(verdict, words, out);
	} else if (words->code.has_place) {
		buf_printf(out, "The %s %s", what,
			is_mostly_python(&words->code.top[0]) ? "Python code"
			: verdict->figures.has_operators      ? "code outside of operators"
							      : "host code");
		code_add(&words->code, &words->form, "its CPU samples", out);
	} else if (words->code.is_waiting) {
		buf_printf(out, "The %s mostly waits%s",
			verdict->figures.has_gpu ? "GPU waits while the host" : "loop",
			words->code.has_kernel ? "" : " or is in the kernel");
	} else if (verdict->figures.has_gpu && !verdict->figures.has_operators) {
		buf_printf(out, "The GPU waits for what the host does between its calls of %s",
			verdict->figures.maker == DEVICE_MAKER_AMD     ? "HIP"
			: verdict->figures.maker == DEVICE_MAKER_OTHER ? "the device"
								       : "CUDA");
	} else {
		buf_printf(out, "The %s code outside of operators%s", what,
			place->name ? "" : ", such as Python");
		cost_place_add(place, finding, out);
	}
}

static const char *wait_change(const struct wait_found *waits)
{
	return waits->is_for_gil				   ? "using processes"
	       : waits->is_at_line && waits->sums.top[0].key.place ? "waiting less there"
								   : "waiting less";
}

static const char *user_change(const struct verdict *verdict, const struct code_words *words)
{
	const struct code_found *code = &words->code;

	if (names_waits(verdict, words)) {
		return wait_change(&words->waits);
	}
	if (code->has_place && !code->is_at_line && !verdict->is_in_operators) {
		return "doing less of it";
	}
	return code->is_waiting && code->has_kernel && !verdict->is_in_operators
		       ? "waiting less"
		       : "doing less there";
}

/* The line says more than the call, of which the sentence has a share if nothing else is known. */
static void add_os(const struct verdict *verdict, const struct verdict_finding *finding,
	const struct code_words *words, const struct cost_place *place, struct buf *out)
{
	if (words->waits.has_place) {
		add_waits(verdict, words, out);
		return;
	}
	buf_text(out, verdict->figures.has_gpu ? "The GPU waits for OS calls"
					       : "The loop spends time in OS calls");
	cost_place_add(place, finding, out);
}

/* Another thread may read and write instead; it does not help to have it sleep, or take a lock. */
static const char *os_change(const struct code_words *words, const struct cost_place *place)
{
	unsigned int kind = os_kind_of(os_files_function(place->name));

	if (words->waits.has_place) {
		return wait_change(&words->waits);
	}
	return os_kind_waits(kind) || kind == GPROF_OS_PROCESS ? "waiting less"
							       : "a thread of their own";
}

/* What keeps the loop from a CPU: a limit of its container, or whatever uses most CPU time. */
enum cpu_user { CPU_LIMIT, CPU_CROWD, CPU_THREADS, CPU_PROCESSES, CPU_UNKNOWN };

static enum cpu_user cpu_user_of(const struct verdict *verdict)
{
	const struct cpu_wait *wait = &verdict->figures.cpu_wait;

	if (wait->limit_milli_cpus && wait->held_ns >= MIN_HELD_SHARE * (double)wait->ns) {
		return CPU_LIMIT;
	}
	if (verdict_is_crowded(verdict)) {
		return CPU_CROWD;
	}
	if (!wait->others_ns) {
		return CPU_UNKNOWN;
	}
	return wait->own_ns > wait->others_ns ? CPU_THREADS : CPU_PROCESSES;
}

static void add_cpu(const struct verdict *verdict, struct buf *out)
{
	static const char *const users[] = {[CPU_THREADS] = ", which other threads use",
		[CPU_PROCESSES] = ", which other processes use",
		[CPU_UNKNOWN] = ", which other threads or processes use"};
	const struct cpu_wait *wait = &verdict->figures.cpu_wait;
	enum cpu_user user = cpu_user_of(verdict);

	buf_printf(out, "The %s waits for a CPU", verdict->figures.has_gpu ? "host" : "loop");
	if (user == CPU_LIMIT) {
		buf_printf(out, ": its container (cgroup) may use %g of them",
			(double)wait->limit_milli_cpus / 1000);
	} else if (user == CPU_CROWD) {
		buf_printf(out, ": %" PRIu64 " threads of its process share %" PRIu64 " of them",
			wait->nr_threads, wait->nr_cpus);
	} else {
		buf_text(out, users[user]);
	}
}

static const char *cpu_change(const struct verdict *verdict)
{
	const struct cpu_wait *wait = &verdict->figures.cpu_wait;

	switch (cpu_user_of(verdict)) {
	case CPU_LIMIT:
		return 2 * wait->own_ns > wait->process_ns ? "a higher limit or fewer threads"
							   : "a higher limit";
	case CPU_CROWD:
	case CPU_THREADS:
		return "fewer threads (OMP_NUM_THREADS)";
	default:
		return "fewer of them, or a CPU of its own,";
	}
}

/* Returns the generation that takes longest in all processes that count. */
static unsigned int longest_generation(
	const struct verdict *verdict, struct gc_sum *longest, double *nr_steps)
{
	unsigned int generation = 0;

	*longest = (struct gc_sum){0};
	for (unsigned int k = 0; k < GC_GENERATIONS; k++) {
		struct gc_sum sum = {0};

		*nr_steps = 0;
		for (size_t i = 0; i < verdict->headline.nr_processes; i++) {
			const struct headline_process *at = &verdict->headline.processes[i];

			if (at->is_main && at->gc) {
				gc_sum_add(&sum, &at->gc->generations[k]);
				*nr_steps += (double)at->gc->nr_steps;
			}
		}
		if (sum.ns > longest->ns) {
			*longest = sum;
			generation = k;
		}
	}
	return generation;
}

/* As "Python collects garbage of generation 2 every 14 steps, 41.0 ms each". */
static void add_gc_sentence(const struct verdict *verdict, struct buf *out)
{
	struct gc_sum sum;
	double nr_steps, between;
	unsigned int generation = longest_generation(verdict, &sum, &nr_steps);

	buf_printf(out, "Python collects garbage of generation %u", generation);
	between = sum.nr_steps ? nr_steps / (double)sum.nr_steps : 0;
	if (between >= 1.5) {
		buf_printf(out, " every %.0f steps", between);
	} else if (between > 0) {
		buf_text(out, " in every step");
	}
	if (sum.nr) {
		buf_text(out, ", ");
		advice_add_time(out, (double)sum.ns / (double)sum.nr);
		buf_text(out, " each");
	}
}

/* Freezing keeps old objects from being looked at again; the threshold decides for young ones. */
static const char *gc_change(const struct verdict *verdict)
{
	struct gc_sum sum;
	double nr_steps;

	return longest_generation(verdict, &sum, &nr_steps) > 1 ? "gc.freeze() after the start"
								: "a higher gc.set_threshold()";
}

static void add_sentence(const struct verdict *verdict, const struct verdict_finding *finding,
	const struct code_words *words, const struct cost_place *place, struct buf *out)
{
	switch (finding->cause) {
	case VERDICT_LOST:
		add_lost(&verdict->figures, out);
		return;
	case VERDICT_STARTUP:
		add_startup_sentence(verdict, finding, out);
		return;
	case VERDICT_STRAGGLER:
		add_late_sentence(verdict, finding, out);
		return;
	case VERDICT_LOADER:
		add_loader(verdict, finding, words, out);
		add_loader_change(verdict, finding, out);
		return;
	case VERDICT_LOADER_START:
		buf_printf(out, "Loader workers start %" PRIu64 " times, for which the %s waits",
			verdict->starts.nr, verdict->figures.has_gpu ? "GPU" : "loop");
		add_change(verdict, finding, "keeping them (persistent_workers=True)", out);
		return;
	case VERDICT_GIL:
		add_gil(verdict, &words->code, &words->form, out);
		add_change(verdict, finding, "using processes", out);
		return;
	case VERDICT_CPU:
		add_cpu(verdict, out);
		add_change(verdict, finding, cpu_change(verdict), out);
		return;
	case VERDICT_GC:
		add_gc_sentence(verdict, out);
		add_change(verdict, finding, gc_change(verdict), out);
		return;
	case VERDICT_COMPILATION:
		add_change(verdict, finding, compile_text_add(verdict, &words->form, out), out);
		return;
	case VERDICT_OS:
		add_os(verdict, finding, words, place, out);
		add_change(verdict, finding, os_change(words, place), out);
		return;
	case VERDICT_READBACK:
		buf_text(out, "The GPU is idle after the host waited for it");
		add_call(verdict->figures.wait_name, " in ", out);
		add_change(verdict, finding, "not waiting", out);
		return;
	case VERDICT_ALLOCATION:
		buf_text(out, "The GPU waits for memory to be allocated or code to be loaded");
		cost_place_add(place, finding, out);
		add_change(verdict, finding, "reusing both", out);
		return;
	case VERDICT_LAUNCH:
		buf_text(out, "The GPU waits for the host to launch work");
		cost_place_add(place, finding, out);
		add_change(verdict, finding, launch_change(verdict), out);
		return;
	case VERDICT_USER:
		add_user(verdict, finding, words, place, out);
		add_change(verdict, finding, user_change(verdict, words), out);
		return;
	case VERDICT_COPIES:
		buf_text(out, "The GPU waits for copies to it");
		cost_place_add(place, finding, out);
		add_change(verdict, finding, copy_change(verdict), out);
		return;
	case VERDICT_COMMUNICATION:
		buf_text(out, "Computation does not hide communication");
		cost_place_add(place, finding, out);
		add_change(verdict, finding, communication_change(verdict, finding), out);
		return;
	case VERDICT_GAPS:
		buf_text(out, "Kernels follow each other with gaps");
		cost_place_add(place, finding, out);
		add_change(verdict, finding, "fewer and larger kernels", out);
		return;
	case VERDICT_OPERATORS:
		buf_text(out, "No change outside of operators saves much; they take ");
		add_longest(verdict, finding, "; longest: ", 1, out);
		return;
	default:
		add_kernels_sentence(verdict, finding, out);
		return;
	}
}

/*
 * Where two lines have no room for all of it, the sentence leaves out its place, or the share of a
 * place in the code.
 */
void verdict_add_sentence(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	struct cost_place place = cost_place_find(verdict, finding);
	struct code_words words = code_words_of(verdict, finding);
	struct buf sentence = {0};

	add_sentence(verdict, finding, &words, &place, &sentence);
	while (!fits_two_lines(&sentence) &&
		(cost_place_narrow(&place) || code_form_narrow(&words.form))) {
		sentence.nr_bytes = 0;
		add_sentence(verdict, finding, &words, &place, &sentence);
	}
	buf_add(out, sentence.bytes, sentence.nr_bytes);
	buf_fini(&sentence);
}

/* ---- places ---- */

static void add_work_places(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	const struct advice_mean mean = cost_places_mean(verdict);
	const unsigned int mask = 1u << ADVICE_LATER;

	if (work_overlaps(verdict, finding)) {
		advice_sites_add_names(&verdict->work, ADVICE_GAP, mask, NULL, out);
	} else {
		advice_sites_add_text(&verdict->work, ADVICE_GAP, mask, NULL, &mean, out);
	}
}

/* As "93.1 % of the samples of the lock's holder at worker.py(12): parse; 4.2 % at ...". */
static void add_holders(const struct code_found *found, struct buf *out)
{
	const char *of = found->is_held ? "of the samples of the lock's holder "
					: "of the CPU samples of other threads meanwhile ";

	for (size_t i = 0; found->has_place && i < NR_CODE_PLACES && found->top[i].sum.nr; i++) {
		buf_printf(out, "%s%.1f %% %sat ", out->nr_bytes ? "; " : "",
			code_found_pct(found, i), i ? "" : of);
		code_add_place(&found->top[i], VERDICT_CODE_WIDTH, out);
	}
}

/* Behind the calls that were late, what the loop waited for meanwhile. */
static void add_wait_places(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	const struct code_words words = code_words_of(verdict, finding);

	if (words.waits.has_place) {
		buf_text(out, out->nr_bytes ? "; " : "");
		wait_add_all(&words.waits.sums, out);
		add_holders(&words.holders, out);
	}
}

/* As "CPUs in use: 1.3 by other processes, 0.6 by this one"; of several ones, means. */
static void add_cpu_use(const struct verdict *verdict, struct buf *out)
{
	const struct cpu_wait *wait = &verdict->figures.cpu_wait;
	double all_ns = (double)verdict->figures.parts_ns;

	if (cpu_user_of(verdict) != CPU_LIMIT && wait->others_ns && all_ns > 0) {
		buf_printf(out, "CPUs in use: %.1f by other processes, %.1f by this one",
			(double)wait->others_ns / all_ns, (double)wait->process_ns / all_ns);
	}
}

/* Without workers the loop reads, also where its waits are no loader's. */
static void add_reads(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	struct storage_reads reads;

	if (has_loader_work(verdict, finding)) {
		storage_reads_add_text(&verdict->workers.reads, "the workers read", out);
		return;
	}
	if (finding->cause != VERDICT_LOADER) {
		const struct code_words words = code_words_of(verdict, finding);
		unsigned int kind = words.waits.sums.top[0].key.kind;

		if (!words.waits.has_place || (kind != GPROF_OS_READ && kind != GPROF_OS_FAULT)) {
			return;
		}
	}
	reads = storage_reads_of_loops(&verdict->headline);
	storage_reads_add_text(&reads, "the process reads", out);
}

static void add_places(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	if (finding->cause == VERDICT_KERNELS || finding->cause == VERDICT_OPERATORS) {
		add_work_places(verdict, finding, out);
	} else if (finding->cause == VERDICT_USER && verdict->is_in_operators) {
		cost_places_add(verdict, finding, VERDICT_LAUNCH, out);
	} else if (finding->cause == VERDICT_CPU) {
		add_cpu_use(verdict, out);
	} else if (has_loader_work(verdict, finding) && verdict->workers.most.what) {
		loader_text_add_place(&verdict->workers,
			loader_workers_saving(
				&verdict->workers, finding->reach_ns, finding->step_ns),
			verdict->figures.has_steps ? "a step" : "the recording", out);
	} else if (finding->cause == VERDICT_GIL) {
		const struct code_words words = code_words_of(verdict, finding);

		add_holders(&words.code, out);
	} else if (cost_places_has(finding->cause)) {
		cost_places_add(verdict, finding, finding->cause, out);
		add_wait_places(verdict, finding, out);
	}
}

void verdict_add_places(
	const struct verdict *verdict, const struct verdict_finding *finding, struct buf *out)
{
	add_places(verdict, finding, out);
	if (finding->cause == VERDICT_LOADER || finding->cause == VERDICT_OS ||
		finding->cause == VERDICT_USER) {
		add_reads(verdict, finding, out);
	}
}
