/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that the others wait for: since when, by how much, and why (straggler.h). A step is that of
 * the rank's marks on the host, with what its device did in that time. Pairs of ranks and
 * communicators with slow transfers have rows of their own (slow_links.h).
 */
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/host_collectives.h"
#include "report/comm/nccl_match.h"
#include "report/comm/slow_links.h"
#include "report/model/select.h"
#include "report/gpu/overlap.h"
#include "report/gpu/straggler_steps.h"
#include "report/gpu/utilization.h"
#include "report/analysis/view.h"
#include "report/util/rounding.h"

/* ---- what NCCL's operations moved ---- */

struct moves {
	struct nccl_ops *ops;
	struct process *const *processes;
	const struct overlap *overlap;
	/* By process: the place of its first device in overlap.devices; its host, of string_pool.h.
	 */
	size_t *devices;
	uint32_t *hosts;
	struct transfer *items;
	size_t nr, capacity;
};

/* The places of their first devices in overlap.devices; the caller frees them. */
static size_t *first_devices(
	const struct overlap *overlap, struct process *const *processes, size_t nr_processes)
{
	size_t *devices = mem_zeroed(nr_processes + 1, sizeof(*devices)), at = 0;

	for (size_t i = 0; i < nr_processes; i++) {
		devices[i] = at;
		while (at < overlap->nr_devices && overlap->devices[at].process == processes[i]) {
			at++;
		}
	}
	return devices;
}

static void find_places(struct moves *moves, size_t nr_processes)
{
	moves->devices = first_devices(moves->overlap, moves->processes, nr_processes);
	moves->hosts = mem_zeroed(nr_processes + 1, sizeof(*moves->hosts));
	for (size_t i = 0; i < nr_processes; i++) {
		const char *host = process_host(moves->processes[i]);

		moves->hosts[i] = string_pool_intern(host, strlen(host));
	}
}

/* How long a device of the process communicated in the operation's step without computing. */
static int64_t alone_ns(const struct moves *moves, const struct nccl_op *op)
{
	const struct process *process = moves->processes[op->process];
	uint64_t most = 0;

	for (size_t i = moves->devices[op->process];
		i < moves->overlap->nr_devices && moves->overlap->devices[i].process == process;
		i++) {
		const struct overlap_device *device = &moves->overlap->devices[i];
		const struct overlap_times *times =
			op->step < device->nr_steps ? &device->steps[op->step] : NULL;
		uint64_t ns = times ? overlap_any(times, OVERLAP_COMMUNICATION) -
					      overlap_all(times,
						      OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION)
				    : 0;

		most = ns > most ? ns : most;
	}
	return straggler_clip(most);
}

/* Sets the times of its step; false if that is none to count. */
static bool set_step(const struct moves *moves, const struct nccl_op *op, struct transfer *move)
{
	struct process *process = moves->processes[op->process];
	const struct model_step *step;
	uint64_t begin_ns, end_ns;

	if (!op->step || op->step >= process->nr_steps || !select_has_step(process, op->step - 1)) {
		return false;
	}
	step = &process->steps[op->step - 1];
	begin_ns = clock_map_time(&process->host_clock, step->tick);
	end_ns = clock_map_time(&process->host_clock, step[1].tick);
	if (model_step_is_gap(step) || end_ns <= begin_ns) {
		return false;
	}
	move->step = step->step;
	move->step_ns = straggler_clip(end_ns - begin_ns);
	move->most_ns = alone_ns(moves, op);
	return true;
}

static void add(struct moves *moves, const struct transfer *move)
{
	moves->items = array_grow(moves->items, moves->nr, &moves->capacity, sizeof(*moves->items));
	moves->items[moves->nr++] = *move;
}

/* ---- collectives ---- */

/* They stand one after the other, by rank. */
static void add_collective(struct moves *moves, const struct nccl_op *ops)
{
	struct transfer move = {.path = {.key = ops->key, .a = -1, .b = -1},
		.bytes = ops->bytes,
		.nr_calls = ops->nr_calls,
		.nr_ranks = ops->nr_ranks,
		.kind = ops->kind};
	const struct nccl_op *last = NULL;

	for (uint32_t i = 0; i < ops->nr_ranks; i++) {
		move.spans_hosts |= moves->hosts[ops[i].process] != moves->hosts[ops->process];
		last = ops[i].is_last ? &ops[i] : last;
	}
	if (last && set_step(moves, last, &move)) {
		move.transfer_ns = straggler_clip(last->transfer_ns);
		add(moves, &move);
	}
}

static void add_collectives(struct moves *moves)
{
	const struct nccl_ops *ops = moves->ops;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];

		if (op->is_matched && nccl_op_is_numbered(op)) {
			add_collective(moves, op);
			i += op->nr_ranks - 1;
		}
	}
}

/* ---- sends and receives ---- */

/* Returns the time of the transfer; that of a group begins when the last of its other sides has
 * come. */
static uint64_t transfer_of(const struct nccl_op *op)
{
	return op->end_ns - op->begin_ns - op->wait_ns;
}

/* A group goes on for its other sides; the pair is through where the first of the two is. */
static void add_pair(struct moves *moves, const struct nccl_pair *pair)
{
	const struct nccl_op *send = &moves->ops->ops[pair->send];
	const struct nccl_op *receive = &moves->ops->ops[pair->receive];
	bool is_up = send->rank < receive->rank;
	const struct nccl_op *a = is_up ? send : receive, *b = is_up ? receive : send;
	struct transfer move = {.path = {send->key, a->rank, b->rank, a->process, b->process},
		.bytes = pair->bytes,
		.nr_calls = send->nr_calls + receive->nr_calls,
		.nr_ranks = send->nr_ranks,
		.kind = NCCL_OPS_SEND_RECV,
		.spans_hosts = moves->hosts[send->process] != moves->hosts[receive->process]};

	if (send->is_matched && receive->is_matched && send->rank != receive->rank &&
		set_step(moves, receive, &move)) {
		uint64_t sent = transfer_of(send), received = transfer_of(receive);

		move.transfer_ns = straggler_clip(sent < received ? sent : received);
		add(moves, &move);
	}
}

/*
 * The moves, to be freed, of steps that are chosen and have an end: each collective whose ranks are
 * all here is one of its communicator, each send with its receive one of two ranks. The operations
 * are matched, `processes` are theirs, and the overlap has been over all of these.
 */
static struct transfer *make_transfers(struct nccl_ops *ops, struct process *const *processes,
	size_t nr_processes, const struct overlap *overlap, size_t *nr_moves)
{
	struct moves moves = {.ops = ops, .processes = processes, .overlap = overlap};
	struct nccl_pairs pairs;

	find_places(&moves, nr_processes);
	add_collectives(&moves);
	nccl_pairs_find(&pairs, ops);
	for (size_t i = 0; i < pairs.nr; i++) {
		add_pair(&moves, &pairs.pairs[i]);
	}
	nccl_pairs_fini(&pairs);
	free(moves.devices);
	free(moves.hosts);
	*nr_moves = moves.nr;
	return moves.items;
}

/* ---- the view ---- */

struct straggler_view {
	struct view_input input;
	struct overlap overlap;
	struct utilization usage;
	struct nccl_ops ops;
	struct straggler_steps steps; /* as overlap.devices */
};

static void begin(void *context, struct process *process)
{
	struct straggler_view *view = context;

	overlap_begin_host(&view->overlap, process);
	utilization_begin(&view->usage, process);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct straggler_view *view = context;

	(void)process;
	if (batch->table == GPROF_TABLE_nccl) {
		nccl_ops_add_batch(&view->ops, batch);
	} else {
		utilization_take_samples(&view->usage, batch);
	}
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	struct straggler_view *view = context;

	overlap_take(&view->overlap, activity);
	if (activity->table != GPROF_TABLE_op) {
		utilization_take(&view->usage, activity);
	}
}

static void end(void *context, struct process *process)
{
	struct straggler_view *view = context;

	overlap_end(&view->overlap);
	utilization_end(&view->usage);
	view->ops.has_measured = true;
	nccl_ops_end(&view->ops, process);
	straggler_steps_add(&view->steps, &view->overlap, &view->usage);
}

static void end_ops(void *context, struct process *process, const struct phases *phases)
{
	struct straggler_view *view = context;

	straggler_steps_add_phases(&view->steps, &view->overlap, process, phases);
}

/* A rank, or a path of the network, which has no figures of a rank. */
struct shown_row {
	struct straggler straggler;
	const struct process *process;
	uint32_t device;
	double delay_ns, computation_ns, copies_ns, idle_ns, begin_ns;
	const char *cause, *phase, *between, *communicator, *compared_with;
};

static struct shown_row row_of_delay(const struct straggler *straggler)
{
	return (struct shown_row){.straggler = *straggler,
		.device = UINT32_MAX,
		.delay_ns = -straggler->mean_ns[STRAGGLER_WAITING],
		.computation_ns = NAN,
		.copies_ns = NAN,
		.idle_ns = NAN,
		.begin_ns = NAN,
		.cause = straggler_causes[straggler->cause]};
}

static void add_rank(
	const struct straggler *straggler, const struct overlap_device *device, struct table *table)
{
	const double *mean = straggler->mean_ns;
	struct shown_row row = row_of_delay(straggler);

	row.process = device->process;
	row.device = device->device;
	row.phase = straggler->phase >= 0 ? phase_names[straggler->phase] : NULL;
	row.computation_ns = mean[STRAGGLER_COMPUTATION];
	row.copies_ns = mean[STRAGGLER_COPIES];
	row.idle_ns = straggler->has_lost ? NAN : mean[STRAGGLER_IDLE];
	row.begin_ns = straggler->has_begins ? mean[STRAGGLER_BEGIN] : NAN;
	table_add(table, &row);
}

/* ---- the network ---- */

/* Ranks of the job where they are known, else of the communicator; hosts where these differ. */
static struct buf path_text(const struct straggler_view *view, const struct slow_link *slow)
{
	const struct transfer_path *path = &slow->path;
	struct buf text = {0};

	if (path->a < 0) {
		buf_printf(&text, "all %" PRIu32 " ranks", slow->nr_ranks);
	} else {
		const struct process *a = view->input.processes[path->process_a];
		const struct process *b = view->input.processes[path->process_b];
		bool is_known = a->rank >= 0 && b->rank >= 0;

		buf_printf(&text, "ranks %" PRId64 " and %" PRId64, is_known ? a->rank : path->a,
			is_known ? b->rank : path->b);
		if (strcmp(process_host(a), process_host(b)) != 0) {
			buf_printf(&text, " (%s and %s)", process_host(a), process_host(b));
		}
	}
	buf_char(&text, '\0');
	return text;
}

/* Returns how many there are. */
static size_t add_network(struct straggler_view *view, struct table *table)
{
	static const char *const bases[NR_NETWORK_BASES] = {
		[SLOW_LINKS_OTHERS] = "others", [SLOW_LINKS_OWN] = "own steps"};
	struct slow_links network = {0};
	struct nccl_match match;
	struct transfer *moves;
	size_t nr;

	nccl_match(&view->ops, &match);
	moves = make_transfers(
		&view->ops, view->input.processes, view->input.nr_processes, &view->overlap, &nr);
	slow_links_find(&network, moves, nr);
	nr = network.nr;
	for (size_t i = 0; i < nr; i++) {
		const struct slow_link *slow = &network.slow[i];
		struct shown_row row = row_of_delay(&slow->straggler);
		struct buf path = path_text(view, slow);
		char key[17];

		snprintf(key, sizeof(key), "%016" PRIx64, slow->path.key);
		row.between = path.bytes;
		row.communicator = key;
		row.compared_with = bases[slow->basis];
		table_add(table, &row);
		buf_fini(&path);
	}
	slow_links_fini(&network);
	free(moves);
	return nr;
}

/* ---- a rank alone ---- */

/* While data of the others were here, and the kernel had not begun. */
struct lateness {
	size_t device; /* place in overlap.devices */
	uint32_t step; /* as nccl_op.step */
	uint64_t begin_ns, end_ns;
};

static int by_device_begin(const void *a, const void *b)
{
	const struct lateness *x = a, *y = b;

	return ORDER(COMPARE(x->device, y->device), COMPARE(x->begin_ns, y->begin_ns));
}

/* Does no rank get through it before all have come? */
static bool needs_all(const struct nccl_op *op)
{
	return op->kind == GPROF_NCCL_ALL_REDUCE || op->kind == GPROF_NCCL_ALL_GATHER ||
	       op->kind == GPROF_NCCL_REDUCE_SCATTER || op->kind == GPROF_NCCL_ALL_TO_ALL;
}

/* first: the place of its process's first device. Returns that of its own, nr_devices for none. */
static size_t device_of(const struct overlap *overlap, const struct nccl_op *op, size_t first)
{
	const struct process *process =
		first < overlap->nr_devices ? overlap->devices[first].process : NULL;

	while (first < overlap->nr_devices && overlap->devices[first].process == process &&
		overlap->devices[first].device != op->device) {
		first++;
	}
	return first < overlap->nr_devices && overlap->devices[first].process == process
		       ? first
		       : overlap->nr_devices;
}

/* Lists them by device and time; the caller frees them. */
static struct lateness *list_late(const struct straggler_view *view, size_t *nr)
{
	struct lateness *list = mem_zeroed(view->ops.nr_ops + 1, sizeof(*list));
	size_t *devices =
		first_devices(&view->overlap, view->input.processes, view->input.nr_processes);

	*nr = 0;
	for (size_t i = 0; i < view->ops.nr_ops; i++) {
		const struct nccl_op *op = &view->ops.ops[i];

		if (nccl_op_is_measured(op) && needs_all(op) &&
			op->measured.data_ns < op->begin_ns) {
			list[(*nr)++] = (struct lateness){
				device_of(&view->overlap, op, devices[op->process]), op->step,
				op->measured.data_ns, op->begin_ns};
		}
	}
	free(devices);
	if (*nr) {
		qsort(list, *nr, sizeof(*list), by_device_begin);
	}
	return list;
}

/* Sums up by step, as nccl_op.step, how long the device was late; overlapping times count once. */
static uint64_t *sum_late(const struct lateness *list, size_t nr, const struct process *process)
{
	uint64_t *sums = mem_zeroed(process->nr_steps + 1, sizeof(*sums)), until_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t begin_ns = list[i].begin_ns > until_ns ? list[i].begin_ns : until_ns;

		if (list[i].end_ns > begin_ns) {
			sums[list[i].step] += list[i].end_ns - begin_ns;
			until_ns = list[i].end_ns;
		}
	}
	return sums;
}

/* The steps of a straggler are a part of the process's, in the same order. */
static void set_late(
	struct straggler *straggler, const struct process *process, const uint64_t *sums)
{
	size_t nr = 0;

	for (size_t i = 0; i + 1 < process->nr_steps && nr < straggler->nr_steps; i++) {
		struct straggler_step *step = &straggler->steps[nr];

		if (step->step == process->steps[i].step) {
			int64_t late_ns = straggler_clip(sums[i + 1]);

			step->is_compared = true;
			step->ns[STRAGGLER_WAITING] =
				-(late_ns < step->length_ns ? late_ns : step->length_ns);
			nr++;
		}
	}
	straggler->cause = STRAGGLER_UNKNOWN;
	straggler->phase = -1;
	straggler_sum(straggler);
}

/*
 * Adds devices that come late by NCCL's own measure: data of others had been here before their
 * kernels began. Nobody knows why, as there is nobody to compare with.
 */
static void add_measured(struct straggler_view *view, struct table *table)
{
	size_t nr, nr_rows = table->nr_rows;
	struct lateness *list = list_late(view, &nr);

	for (size_t at = 0, end; at < nr && list[at].device < view->steps.nr; at = end) {
		const struct overlap_device *device = &view->overlap.devices[list[at].device];
		struct straggler *straggler = &view->steps.stragglers[list[at].device];
		uint64_t *sums;

		for (end = at + 1; end < nr && list[end].device == list[at].device;) {
			end++;
		}
		sums = sum_late(&list[at], end - at, device->process);
		set_late(straggler, device->process, sums);
		free(sums);
		if (straggler->nr_delayed) {
			struct shown_row row = row_of_delay(straggler);

			row.process = device->process;
			row.device = device->device;
			table_add(table, &row);
		}
	}
	free(list);
	if (table->nr_rows > nr_rows) {
		table_note(table,
			"Delays are how long data of other ranks had been here before "
			"kernels of this one began, as NCCL measured it. Kernels of the others "
			"waited at least that long; what they computed meanwhile is unknown.");
	}
}

static const struct table_column columns[] = {
	VIEW_DEVICE_COLUMNS(shown_row, process, device),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT, .is_minor = true,
		TABLE_MEMBER(shown_row, straggler.nr_compared)),
	TABLE_COLUMN("late_steps", "Late steps", TABLE_COUNT,
		.help = "steps in which the other ranks waited for it",
		TABLE_MEMBER(shown_row, straggler.nr_late)),
	TABLE_COLUMN("since_step", "Since step", TABLE_ID,
		.help = "from this step on, 3 of 4 steps are late",
		TABLE_MEMBER(shown_row, straggler.since)),
	TABLE_COLUMN("delay_ns", "Delay", TABLE_MEAN_TIME,
		.help = "mean delay of a late step since then", TABLE_MEMBER(shown_row, delay_ns)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME, .is_minor = true, .help = "sum of the delays",
		TABLE_MEMBER(shown_row, straggler.delay_ns)),
	TABLE_COLUMN("delay_pct", "Delay % of steps", TABLE_PERCENT,
		.help = "delay, as a share of the steps",
		TABLE_SHARE(shown_row, straggler.delay_ns, straggler.delayed_ns)),
	TABLE_COLUMN("cause", "Cause", TABLE_TEXT,
		.help = "what took longer than on the other ranks", TABLE_MEMBER(shown_row, cause)),
	TABLE_COLUMN("phase", "Phase", TABLE_TEXT, .help = "phase of the cause",
		TABLE_MEMBER(shown_row, phase)),
	TABLE_COLUMN("computation_ns", "Computation +", TABLE_MEAN_TIME,
		.help = "beyond the median of the other ranks",
		TABLE_MEMBER(shown_row, computation_ns)),
	TABLE_COLUMN("copies_ns", "Copies +", TABLE_MEAN_TIME,
		.help = "beyond the median of the other ranks", TABLE_MEMBER(shown_row, copies_ns)),
	TABLE_COLUMN("idle_ns", "Idle +", TABLE_MEAN_TIME,
		.help = "beyond the median of the other ranks", TABLE_MEMBER(shown_row, idle_ns)),
	TABLE_COLUMN("begin_ns", "Begin +", TABLE_MEAN_TIME, .is_minor = true,
		.help = "how much later the step begins than the median of the other ranks",
		TABLE_MEMBER(shown_row, begin_ns)),
	TABLE_COLUMN("between", "Between", TABLE_TEXT, .help = "ranks of the slow link",
		TABLE_MEMBER(shown_row, between)),
	TABLE_COLUMN("communicator", "Communicator", TABLE_TEXT, .is_wide_only = true,
		TABLE_MEMBER(shown_row, communicator)),
	TABLE_COLUMN("compared_with", "Compared with", TABLE_TEXT,
		.help = "others: other ranks in the same step; own steps: lower quartile of its "
			"own steps",
		TABLE_MEMBER(shown_row, compared_with)),
};

static void fill_table(void *state, struct table *table)
{
	struct straggler_view *view = state;
	size_t nr_steps = 0, nr_slow;

	for (size_t i = 0; i < view->steps.nr; i++) {
		view->steps.stragglers[i].has_lost =
			view_has_lost(&view->input, view->overlap.devices[i].process);
	}
	straggler_steps_compare(&view->steps, view->input.processes, view->input.nr_processes);
	for (size_t i = 0; i < view->steps.nr; i++) {
		struct straggler *straggler = &view->steps.stragglers[i];

		nr_steps += straggler->nr_compared;
		if (straggler->nr_delayed) {
			add_rank(straggler, &view->overlap.devices[i], table);
		}
	}
	nr_slow = add_network(view, table);
	table_set_wide(table, "between", !nr_slow);
	table_set_wide(table, "compared_with", !nr_slow);
	if (!nr_steps) {
		table_note(
			table, "No step has an end on two ranks, so there is nothing to compare.");
		add_measured(view, table);
	}
	table_sort(table, "total");
	view_note_lost(table, &view->input);
	view_note_ranks(table, view->input.processes, view->input.nr_processes);
	view_note_fit(table, view->input.processes, view->input.nr_processes);
}

static void fini(void *state)
{
	struct straggler_view *view = state;

	straggler_steps_fini(&view->steps);
	overlap_fini(&view->overlap);
	utilization_fini(&view->usage);
	nccl_ops_fini(&view->ops);
}

static const struct scan_want wants[] = {UTILIZATION_WANTS, {GPROF_TABLE_nccl, NCCL_OPS_MASK, 0}};

VIEW(stragglers, 110) = {
	.name = "stragglers",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "ranks that the others wait for, and slow links: since when, how long, and why",
	.about = "The delay of a rank in a step is the time that the median of the other ranks "
		 "communicates longer, without computing. A rank is late if its delay is more than "
		 "5 % of the step. From the step under \"Since step\" on, 3 of 4 steps are late, "
		 "and all further columns are means over these. The columns with + are what the "
		 "rank spends beyond the median of the others. The cause is the one of them that "
		 "is at least half of the delay; if none is, and the rank begins its steps that "
		 "much "
		 "later, it is the late begin. A link is slow if transfers, once all its ranks "
		 "are there, take longer than elsewhere. They are compared with those between "
		 "other ranks in the same step, or with the lower quartile of its own steps. "
		 "Without a second rank, the delay is how long data of others had been here before "
		 "kernels of collectives began, if NCCL measured that. "
		 "Operations of "
		 "gloo, MPI and UCC count as communication of all GPUs of their process.",
	.is_empty_hidden = true,
	.counts_launches = true,
	.title = "Stragglers",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct straggler_view),
	/* Work in the time of a chosen step may have been launched in another one. */
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, end, true,
		on_activity, true},
	.ops = {.end = end_ops},
	.fill = fill_table,
	.fini = fini,
};
