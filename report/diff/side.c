/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one side: a walk over the operators of its processes adds up what each name took in each
 * step, after steps.c has said which steps count.
 *
 * A sum for each name in each step would take too much memory. The walk goes from the end of a
 * process to its begin, its threads a little apart, so that a step of a name is soon complete. A
 * name keeps at most DIFF_OPEN steps open; the latest one is folded into sums and values when an
 * earlier step needs its slot:
 *
 *   time      step 4     step 5     step 6
 *             <------------------------------  the walk
 *   slots     [4 open]   [5 open]   folded: ns, squares, one value
 *
 * A record for a step that is folded already is counted in nr_late, and in no sum.
 */
#include "report/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "report/model/copy_kind.h"
#include "report/ops/op_walk.h"
#include "report/util/hash.h"

struct reading {
	struct diff_side *side;
	struct process *process;
	struct phases steps; /* for phases_step alone */
};

static uint32_t name_of(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

static struct diff_entry *entry_of(struct diff_side *side, enum diff_section section, uint32_t name)
{
	struct diff_entry *entry = idmap_put(&side->entries[section], name);

	entry->name = name;
	return entry;
}

/* Is the step complete, and long enough to be one? */
static bool is_whole(const struct phases *phases, uint32_t step)
{
	return step && phases_is_whole(phases, step) && phases_step_ticks(phases, step);
}

static uint64_t number_of(const struct phases *phases, uint32_t step)
{
	return phases->process->steps[step - 1].step;
}

static bool is_counted(const struct diff_side *side, const struct phases *phases, uint32_t step)
{
	return is_whole(phases, step) && idset_has(side->steps.numbers, number_of(phases, step));
}

/*
 * Draws the same steps for all names, by a hash of the step's number: at a regular distance, all
 * drawn steps could be those that do something every other time.
 */
static bool is_drawn(const struct diff_side *side, uint64_t number)
{
	return (uint32_t)hash_mix(number + 1) < side->drawn;
}

#define MAX_NS (1ull << 56) /* clocks of a damaged stream may be anything */

static void add_sum(struct diff_entry *entry, uint64_t ns, bool is_kept)
{
	entry->ns += ns;
	entry->squares += (unsigned __int128)ns * ns;
	if (is_kept && ns) {
		samples_add(&entry->values, ns < MAX_NS ? ns : MAX_NS);
	}
}

/* Adds the sum of a step that counts, or of a process: number 0. */
static void add_to(struct diff_side *side, struct diff_entry *entry, enum diff_section section,
	uint64_t number, uint64_t ns)
{
	add_sum(entry, ns,
		side->sampled >> section & 1 || (side->has_steps && is_drawn(side, number)));
}

/*
 * Closes the slot of a step whose sum is complete. A step that does not count is dropped; what lies
 * outside all whole steps is counted.
 */
static void fold(struct diff_side *side, struct diff_entry *entry, enum diff_section section,
	struct diff_open *open, const struct phases *phases)
{
	if (!side->has_steps || is_counted(side, phases, open->step)) {
		entry->calls += open->calls;
		add_to(side, entry, section, side->has_steps ? number_of(phases, open->step) : 0,
			open->ns);
	} else if (!is_whole(phases, open->step)) {
		side->nr_outside += open->calls;
	}
	*open = (struct diff_open){0};
}

/*
 * Finds the slot of a step, or makes room: the walk comes from the end, so the latest step is
 * complete first and gives way. NULL: the step is later than all open ones, thus folded already.
 */
static struct diff_open *open_step(
	struct reading *reading, struct diff_entry *entry, enum diff_section section, uint32_t step)
{
	struct diff_open *latest = &entry->open[0];

	for (unsigned int i = 0; i < DIFF_OPEN; i++) {
		struct diff_open *open = &entry->open[i];

		if (!open->is_used || open->step == step) {
			open->is_used = true;
			open->step = step;
			return open;
		}
		latest = open->step > latest->step ? open : latest;
	}
	if (step > latest->step) {
		return NULL;
	}
	fold(reading->side, entry, section, latest, &reading->steps);
	*latest = (struct diff_open){.step = step, .is_used = true};
	return latest;
}

static void add(struct reading *reading, enum diff_section section, uint32_t name, uint32_t step,
	uint64_t ns)
{
	struct diff_open *open =
		open_step(reading, entry_of(reading->side, section, name), section, step);

	if (!open) {
		reading->side->nr_late++;
		return;
	}
	open->ns += ns;
	open->calls++;
}

/* ---- the walk ---- */

static void begin(void *context, struct process *process)
{
	struct reading *reading = context;

	reading->process = process;
	phases_init(&reading->steps, process);
}

static uint32_t step_of(const struct reading *reading, uint64_t tick)
{
	return reading->side->has_steps ? phases_step(&reading->steps, tick) : 0;
}

static void take_op(void *context, const struct op *op)
{
	struct reading *reading = context;
	uint64_t ticks = op->end - op->begin;

	if (op_is_module(op->framework, op->scope) ||
		op_class(op->name, op->framework, op->scope) == OP_RANGE) {
		return;
	}
	ticks -= op->child_ticks < ticks ? op->child_ticks : ticks;
	add(reading, DIFF_OPERATOR, op->name, step_of(reading, op->begin),
		clock_map_duration(&reading->process->host_clock, ticks));
}

static void take_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct reading *reading = context;
	bool is_kernel = record->table == GPROF_TABLE_kernel;
	uint64_t ns = record->end_ns - record->begin_ns;
	uint32_t step;

	(void)op;
	if (!call && reading->side->has_steps) {
		reading->side->nr_unlaunched++;
		return;
	}
	if (!record->is_timed) {
		reading->side->nr_untimed++;
		return;
	}
	step = call ? step_of(reading, call->begin) : 0;
	if (is_kernel) {
		add(reading, DIFF_KERNEL, process_shape_name(reading->process, record->shape), step,
			ns);
		add(reading, DIFF_STEP, name_of("kernel_time"), step, ns);
	} else if (gprof_table_is(record->table, GPROF_IS_COPYING)) {
		add(reading, DIFF_COPY, copy_name(record->copy), step, ns);
		add(reading, DIFF_STEP, name_of("copy_time"), step, ns);
	}
}

static void add_phase(struct diff_side *side, const char *name, uint64_t number, uint64_t ns)
{
	struct diff_entry *entry = entry_of(side, DIFF_PHASE, name_of(name));

	entry->calls++;
	add_to(side, entry, DIFF_PHASE, number, ns);
}

static void add_phases(struct diff_side *side, const struct phases *phases, uint32_t step)
{
	const struct clock_map *clock = &phases->process->host_clock;
	uint64_t rest_ns = phases_step_ns(phases, step);
	uint64_t number = number_of(phases, step);

	for (unsigned int i = 0; i < PHASE_OTHERS; i++) {
		uint64_t ns = clock_map_duration(clock, phases->steps[step].ticks[i]);

		add_phase(side, phase_names[i], number, ns);
		rest_ns -= ns < rest_ns ? ns : rest_ns;
	}
	add_phase(side, phase_names[PHASE_OTHERS], number, rest_ns);
}

static void add_steps(struct diff_side *side, const struct phases *phases)
{
	for (uint32_t step = 1; step < phases->nr_steps; step++) {
		if (is_counted(side, phases, step)) {
			side->nr_samples++;
			side->nr_drawn += is_drawn(side, number_of(phases, step));
			if (phases->nr_segments) {
				add_phases(side, phases, step);
			}
		} else {
			side->nr_excluded += is_whole(phases, step);
		}
	}
}

/*
 * Adds the time of a step of the job, or of a process. Such a name has a sample for each step of
 * the job, not of each rank.
 */
static void add_time(struct diff_side *side, const char *name, uint64_t ns)
{
	struct diff_entry *entry = entry_of(side, DIFF_STEP, name_of(name));

	entry->calls++;
	entry->nr_samples = side->has_steps ? side->steps.nr : 0;
	add_sum(entry, ns, true);
}

static void fold_all(struct diff_side *side, const struct phases *phases)
{
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		for (size_t i = 0; i < side->entries[s].nr; i++) {
			struct diff_entry *entry = idmap_at(&side->entries[s], i);

			for (unsigned int k = 0; k < DIFF_OPEN; k++) {
				if (entry->open[k].is_used) {
					fold(side, entry, (enum diff_section)s, &entry->open[k],
						phases);
				}
			}
		}
	}
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct reading *reading = context;
	struct diff_side *side = reading->side;

	fold_all(side, phases);
	phases_fini(&reading->steps);
	side->nr_processes++;
	if (side->has_steps) {
		add_steps(side, phases);
		return;
	}
	side->nr_samples++;
	if (process->first_ns <= process->last_ns) {
		add_time(side, "run_time", process->last_ns - process->first_ns);
	}
}

/* ---- a side ---- */

bool diff_has_steps(const struct cmd_input *input)
{
	for (size_t i = 0; i < input->nr_processes; i++) {
		if (input->processes[i]->nr_steps > 1) {
			return true;
		}
	}
	return false;
}

/*
 * Finds the steps that count, and takes their times. Where there are too many values, `drawn` is
 * set so that about DIFF_MAX_VALUES steps are drawn. Returns how many processes stay.
 */
static size_t find_steps(struct diff_side *side, struct process **chosen, size_t nr_chosen)
{
	uint64_t nr_steps;

	nr_chosen = diff_steps_find(&side->steps, chosen, nr_chosen);
	nr_steps = side->steps.nr * nr_chosen;
	for (size_t i = 0; i < side->steps.nr; i++) {
		add_time(side, "step_time", side->steps.steps[i].ns);
	}
	side->drawn = nr_steps > DIFF_MAX_VALUES ? ((uint64_t)DIFF_MAX_VALUES << 32) / nr_steps
						 : 1ull << 32;
	return nr_chosen;
}

/* Processes without steps are left out where steps are compared. */
void diff_side_read(
	struct diff_side *side, const struct cmd_input *input, bool has_steps, uint32_t sampled)
{
	static const struct op_view view = {
		.begin = begin, .op = take_op, .record = take_record, .end = end};
	struct reading reading = {.side = side};
	const struct op_walk walk = {&view, &reading};
	struct process **chosen = mem_zeroed(input->nr_processes, sizeof(*chosen));
	size_t nr_chosen = 0;

	*side = (struct diff_side){.has_steps = has_steps, .sampled = sampled};
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		idmap_init(&side->entries[s], sizeof(struct diff_entry));
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		if (!has_steps || input->processes[i]->nr_steps > 1) {
			chosen[nr_chosen++] = input->processes[i];
		}
	}
	if (has_steps) {
		nr_chosen = find_steps(side, chosen, nr_chosen);
	}
	op_walk_run(chosen, nr_chosen, &walk, 1);
	free(chosen);
}

void diff_side_fini(struct diff_side *side)
{
	diff_steps_fini(&side->steps);
	for (unsigned int s = 0; s < NR_DIFF_SECTIONS; s++) {
		for (size_t i = 0; i < side->entries[s].nr; i++) {
			samples_fini(
				&((struct diff_entry *)idmap_at(&side->entries[s], i))->values);
		}
		idmap_fini(&side->entries[s]);
	}
}

static uint64_t samples_of(const struct diff_side *side, const struct diff_entry *entry)
{
	return entry && entry->nr_samples ? entry->nr_samples : side->nr_samples;
}

/* Only times above 0 were kept: those of the other steps come first once sorted. */
struct diff_values diff_side_values(
	const struct diff_side *side, enum diff_section section, struct diff_entry *entry)
{
	bool are_all = side->sampled >> section & 1 || (entry && entry->nr_samples);
	struct diff_values list = {.nr = are_all ? samples_of(side, entry) : side->nr_drawn};
	size_t nr = entry ? entry->values.nr : 0;

	list.values = mem_zeroed(list.nr + 1, sizeof(*list.values));
	list.is_rare = nr * 2 < list.nr;
	if (nr && nr <= list.nr) {
		samples_median(&entry->values); /* sorts */
		memcpy(list.values + list.nr - nr, entry->values.values, nr * sizeof(*list.values));
	}
	return list;
}

double diff_values_median(const struct diff_values *list)
{
	return list->nr ? ((double)list->values[(list->nr - 1) / 2] +
				  (double)list->values[list->nr / 2]) /
				  2
			: 0;
}

struct welch_sample diff_side_sample(const struct diff_side *side, const struct diff_entry *entry)
{
	struct welch_sample sample = {.nr = samples_of(side, entry)};
	double nr = (double)sample.nr, sum;

	if (!entry || !sample.nr) {
		return sample;
	}
	sum = (double)entry->ns;
	sample.mean = sum / nr;
	if (sample.nr > 1) {
		/* In integers where it is exact: nr * squares - sum^2 would cancel in doubles. */
		unsigned __int128 most = entry->ns / UINT64_MAX ? 0 : entry->ns * entry->ns;
		unsigned __int128 many;

		if (most && !__builtin_mul_overflow(
				    entry->squares, (unsigned __int128)sample.nr, &many)) {
			sample.variance = many > most ? (double)(many - most) / nr / (nr - 1) : 0;
		} else {
			double rest = (double)entry->squares - sum * sample.mean;

			sample.variance = rest > 0 ? rest / (nr - 1) : 0;
		}
	}
	return sample;
}
