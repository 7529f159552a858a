/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication, computation and what they overlap, of each device over the steps that count
 * (counted_steps.h), or all that was recorded where there are none, and, with --detail, of each
 * step. All are unions: of the kernels that kernel_class.h takes for
 * communication and the calls of host_collectives.h, of all other kernels (of operators where a
 * process has no work of devices), and of what both have in common. As in Paddle's distributed
 * summary (ProfileStep, Communication, Computation, Overlap) and TensorBoard's distributed view
 * (Computation - Overlap, Overlap, Communication - Overlap, Other); what devices did counts for the
 * step in whose time it ran, whichever step launched it. Of chosen steps all that they launched
 * counts together, and with --detail they are as among all. What the operations of NCCL waited for
 * other ranks and transferred is that of the calls of a step, over its kernels, as in the view
 * `communication`.
 */
#include <stdlib.h>

#include "report/comm/host_collectives.h"
#include "report/comm/nccl_job.h"
#include "report/model/select.h"
#include "report/ops/counted_steps.h"
#include "report/util/hash.h"
#include "report/gpu/overlap.h"
#include "report/analysis/view.h"

/* A process and its steps that count. */
struct counted {
	const struct process *process;
	struct counted_steps steps;
	uint64_t ns;	 /* of these */
	bool is_by_step; /* else all that was recorded, or chosen, counts */
};

struct distributed_view {
	struct overlap overlap;
	struct counted *counted;
	size_t nr_counted, capacity;
	struct operations *operations;
	bool has_operations;
	uint64_t nr_measured; /* operations whose waits one rank measured */
	struct view_input input;
};

static void init(void *state)
{
	struct distributed_view *view = state;

	view->overlap.is_chosen_alone = !view->input.is_detailed;
}

static void find_counted(struct distributed_view *view, struct process *process)
{
	struct counted *counted;
	struct phases phases;

	view->counted = array_grow(
		view->counted, view->nr_counted, &view->capacity, sizeof(*view->counted));
	counted = &view->counted[view->nr_counted++];
	*counted = (struct counted){.process = process};
	counted_steps_init(&counted->steps, process, false);
	phases_init(&phases, process);
	counted_steps_sum(&counted->steps, &phases, &counted->ns);
	counted->is_by_step =
		!view->input.is_detailed && phases_has_steps(&phases) && !process->select;
	phases_fini(&phases);
}

/* NULL: the job has it, and the view does not. */
static const struct counted *counted_of(
	const struct distributed_view *view, const struct process *process)
{
	for (size_t i = 0; i < view->nr_counted; i++) {
		if (view->counted[i].process == process) {
			return &view->counted[i];
		}
	}
	return NULL;
}

static void begin(void *context, struct process *process)
{
	struct distributed_view *view = context;

	overlap_begin_host(&view->overlap, process);
	find_counted(view, process);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	overlap_take(&((struct distributed_view *)context)->overlap, activity);
}

static void end(void *context, struct process *process)
{
	struct distributed_view *view = context;

	(void)process;
	overlap_end(&view->overlap);
}

/* ---- operations ---- */

/* All of them, or those that a step began, as nccl_op.step has it. */
#define ALL_STEPS UINT32_MAX

/* The operations of a device of a process; UINT32_MAX: of its host, or unknown. */
struct operations {
	struct {
		const struct process *process;
		uint32_t device, step;
	} key;
	struct nccl_sums sums;
	UT_hash_handle hh;
};

struct device_row {
	const struct process *process;
	uint32_t device;
	uint64_t step, time_ns, computation_ns, communication_ns, overlap_ns;
	uint64_t computation_alone_ns, communication_alone_ns, other_ns;
	uint64_t bytes, wait_ns, transfer_ns;
};

static struct operations *find_operations(struct distributed_view *view,
	const struct process *process, uint32_t device, uint32_t step)
{
	struct operations wanted = {.key = {process, device, step}}, *found;

	HASH_FIND(hh, view->operations, &wanted.key, sizeof(wanted.key), found);
	return found;
}

static void add_operation(
	struct distributed_view *view, const struct process *process, const struct nccl_op *op)
{
	uint32_t device = op->library ? UINT32_MAX : op->device;
	uint32_t step = view->input.is_detailed ? op->step : ALL_STEPS;
	struct operations *operations = find_operations(view, process, device, step);

	if (!operations) {
		operations = mem_zeroed(1, sizeof(*operations));
		operations->key.process = process;
		operations->key.device = device;
		operations->key.step = step;
		HASH_ADD(hh, view->operations, key, sizeof(operations->key), operations);
	}
	nccl_sums_add(&operations->sums, op);
}

static void find_all_operations(struct distributed_view *view)
{
	const struct nccl_job *job = view->input.job;
	struct nccl_job own = {0};

	if (view->has_operations) {
		return;
	}
	view->has_operations = true;
	if (!job) {
		nccl_job_read(&own, view->input.processes, view->input.nr_processes);
		job = &own;
	}
	for (size_t i = 0; i < job->ops.nr_ops; i++) {
		const struct nccl_op *op = &job->ops.ops[i];
		const struct counted *counted = counted_of(view, job->processes[op->process]);

		if (counted && (!counted->is_by_step || counted->steps.counts[op->step])) {
			add_operation(view, counted->process, op);
		}
	}
	view->nr_measured = nccl_ops_measured(&job->ops);
	nccl_job_fini(&own);
}

/* `operations` are NULL if there are none. */
static void add_row(struct table *table, const struct overlap_device *device, uint64_t step,
	const struct overlap_times *times, uint64_t time_ns, const struct operations *operations)
{
	static const struct nccl_sums none = {.is_unsized = true};
	const struct nccl_sums *sums = operations ? &operations->sums : &none;
	uint64_t computation = overlap_any(times, OVERLAP_COMPUTATION);
	uint64_t communication = overlap_any(times, OVERLAP_COMMUNICATION);
	uint64_t overlap = overlap_all(times, OVERLAP_COMPUTATION | OVERLAP_COMMUNICATION);
	uint64_t kernels = computation + communication - overlap;

	table_add(table, &(struct device_row){.process = device->process,
				 .device = device->device,
				 .step = step,
				 .time_ns = time_ns,
				 .computation_ns = computation,
				 .communication_ns = communication,
				 .overlap_ns = overlap,
				 .computation_alone_ns = computation - overlap,
				 .communication_alone_ns = communication - overlap,
				 .other_ns = time_ns > kernels ? time_ns - kernels : 0,
				 .bytes = sums->is_unsized ? UINT64_MAX : sums->bytes,
				 .wait_ns = sums->nr_with_wait ? sums->wait_ns : UINT64_MAX,
				 .transfer_ns = sums->nr_with_wait ? sums->known_ns - sums->wait_ns
								   : UINT64_MAX});
}

/* A device may have done nothing any more in the last steps. */
static void add_counted(
	struct distributed_view *view, struct table *table, const struct overlap_device *device)
{
	const struct counted *counted = counted_of(view, device->process);
	struct overlap_times sum = device->all;
	uint64_t ns = overlap_all(&sum, 0);

	if (counted->is_by_step) {
		ns = counted->ns;
		sum = (struct overlap_times){{0}};
	}
	for (size_t i = 1; counted->is_by_step && i < device->nr_steps; i++) {
		for (unsigned int k = 0; counted->steps.counts[i] && k < OVERLAP_SETS; k++) {
			sum.ns[k] += device->steps[i].ns[k];
		}
	}
	add_row(table, device, UINT64_MAX, &sum, ns,
		find_operations(view, device->process, device->device, ALL_STEPS));
}

/* Steps that have an end. A device may have done nothing any more in the last of them. */
static void add_steps(struct distributed_view *view, struct table *table,
	const struct overlap_device *device, struct process *process)
{
	static const struct overlap_times none = {{0}};

	for (size_t i = 0; i + 1 < process->nr_steps; i++) {
		const struct model_step *step = &process->steps[i];
		uint64_t begin_ns = clock_map_time(&process->host_clock, step->tick);
		uint64_t end_ns = clock_map_time(&process->host_clock, step[1].tick);

		if (model_step_is_gap(step) || !select_has_step(process, i)) {
			continue;
		}
		add_row(table, device, step->step,
			i + 1 < device->nr_steps ? &device->steps[i + 1] : &none,
			end_ns > begin_ns ? end_ns - begin_ns : 0,
			find_operations(view, process, device->device, (uint32_t)i + 1));
	}
}

/* A process whose host communicates has a row without device records, too. */
static void note_devices(const struct distributed_view *view, struct table *table)
{
	const char *why = "";
	size_t nr_without = 0;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		const struct process *process = view->input.processes[i];

		nr_without += !host_collective_is_in(process) &&
			      !process_has_device_records(process, &why);
	}
	view_note_without_devices(table, &view->input, nr_without, why, "");
}

static void note_counted(const struct distributed_view *view, struct table *table)
{
	size_t nr_warm_up = 0, nr_outliers = 0;

	for (size_t i = 0; i < view->nr_counted; i++) {
		if (view->counted[i].is_by_step) {
			nr_warm_up += view->counted[i].steps.nr_warm_up;
			nr_outliers += view->counted[i].steps.nr_outliers;
		}
	}
	counted_steps_note(nr_warm_up, nr_outliers, table);
}

static const struct table_column columns[] = {
	VIEW_DEVICE_COLUMNS(device_row, process, device),
	TABLE_COLUMN("step", "Step", TABLE_ID, TABLE_MEMBER(device_row, step)),
	TABLE_COLUMN("time_ns", "Time", TABLE_TIME,
		.help = "of the steps that count, or of the step; without steps, from the first "
			"GPU "
			"activity to the last",
		TABLE_MEMBER(device_row, time_ns)),
	TABLE_COLUMN("computation_ns", "Computation", TABLE_TIME,
		.help = "union of the computing kernels", TABLE_MEMBER(device_row, computation_ns)),
	TABLE_COLUMN("communication_ns", "Communication", TABLE_TIME,
		.help = "union of the communication kernels and calls",
		TABLE_MEMBER(device_row, communication_ns)),
	TABLE_COLUMN("overlap_ns", "Overlap", TABLE_TIME,
		.help = "computation and communication at once",
		TABLE_MEMBER(device_row, overlap_ns)),
	TABLE_COLUMN("computation_alone_ns", "Computation - overlap", TABLE_TIME,
		.help = "computation without communication",
		TABLE_MEMBER(device_row, computation_alone_ns)),
	TABLE_COLUMN("communication_alone_ns", "Communication - overlap", TABLE_TIME,
		.help = "communication without computation",
		TABLE_MEMBER(device_row, communication_alone_ns)),
	TABLE_COLUMN("other_ns", "Other", TABLE_TIME,
		.help = "neither computation nor communication",
		TABLE_MEMBER(device_row, other_ns)),
	TABLE_COLUMN("communication_pct", "Communication % of time", TABLE_PERCENT,
		TABLE_SHARE(device_row, communication_ns, time_ns)),
	TABLE_COLUMN("overlap_pct", "Overlap % of communication", TABLE_PERCENT,
		TABLE_SHARE(device_row, overlap_ns, communication_ns)),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE, .is_minor = true,
		.help = "bytes of NCCL's operations, as in nccl-tests; for a host, of its own",
		TABLE_MEMBER(device_row, bytes)),
	TABLE_COLUMN("waiting_ns", "Waiting", TABLE_TIME, .is_minor = true,
		.help = "of NCCL's kernels, until that of the last rank starts, or its data come",
		TABLE_MEMBER(device_row, wait_ns)),
	TABLE_COLUMN("transfer_ns", "Transfer", TABLE_TIME, .is_minor = true,
		.help = "of NCCL's kernels, from then on", TABLE_MEMBER(device_row, transfer_ns)),
};

static void fill_table(void *state, struct table *table)
{
	struct distributed_view *view = state;

	table_set_wide(table, "step", !view->input.is_detailed);
	find_all_operations(view);
	for (size_t i = 0; i < view->overlap.nr_devices; i++) {
		const struct overlap_device *device = &view->overlap.devices[i];

		if (view->input.is_detailed) {
			add_steps(view, table, device, device->process);
		} else {
			add_counted(view, table, device);
		}
	}
	note_counted(view, table);
	note_devices(view, table);
	measured_waits_note(table, view->nr_measured);
	view_note_lost(table, &view->input);
	view_note_ranks(table, view->input.processes, view->input.nr_processes);
	view_note_clock(table, view->input.processes, view->input.nr_processes);
}

static void fini(void *state)
{
	struct distributed_view *view = state;

	overlap_fini(&view->overlap);
	hash_free(view->operations);
	for (size_t i = 0; i < view->nr_counted; i++) {
		counted_steps_fini(&view->counted[i].steps);
	}
	free(view->counted);
}

VIEW(distributed, 100) = {
	.name = "distributed",
	.subject = VIEW_ABOUT_DISTRIBUTED,
	.help = "computation, communication and their overlap; by step with --detail",
	.about = "Times are unions of intervals, of what ran during the steps that count on the "
		 "first screen; without steps, from the first activity of the GPU to the last. "
		 "With --detail, each row is a step that has an end, with what ran during it. "
		 "Operations of gloo, MPI and UCC count as communication of all GPUs of their "
		 "process. A process without GPU activities has a row for its host; there, "
		 "operators on any thread are the computation. Waiting and transfer are sums over "
		 "the kernels of the operations that the view communication matches over ranks.",
	.is_empty_hidden = true,
	.counts_launches = true,
	.title = "Computation and communication overlap",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct distributed_view),
	/* Work in the time of a chosen step may have been launched in another one. */
	.scan = {.begin = begin,
		.end = end,
		.ignores_selection = true,
		.on_activity = on_activity,
		.has_host_activities = true},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
