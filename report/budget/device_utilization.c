/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up what the kernels of a stretch of time made of each device. */
#include "report/budget/device_utilization.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

/* A kernel begins or ends. */
struct edge {
	uint64_t time;
	uint32_t device;
	float blocks;	 /* more of them; below 0 where fewer */
	int32_t kernels; /* 1 or -1 */
	uint32_t place;	 /* sums of fractions depend on the order, also at the same time */
};

void device_work_init(struct device_work *work, struct process *process)
{
	*work = (struct device_work){.process = process};
	idmap_init(&work->known, sizeof(struct device_kernel));
	idmap_init(&work->devices, sizeof(struct occupancy_device));
}

void device_work_fini(struct device_work *work)
{
	idmap_fini(&work->known);
	idmap_fini(&work->devices);
	free(work->kernels);
	*work = (struct device_work){0};
}

static const struct occupancy_device *find_device(struct device_work *work, uint32_t device)
{
	struct occupancy_device *found = idmap_get(&work->devices, device);

	if (!found) {
		found = idmap_put(&work->devices, device);
		*found = occupancy_device(work->process, device);
	}
	return found;
}

static struct device_kernel look_up(struct device_work *work, uint32_t shape_id, uint32_t device)
{
	const struct model_shape *shape = idmap_get(&work->process->shapes, shape_id);
	struct device_kernel kernel = {
		.device = device, .blocks = -1, .percent = -1, .tensor = TENSOR_UNKNOWN};
	struct occupancy occupancy;

	if (!shape) {
		return kernel;
	}
	kernel.tensor = (uint8_t)tensor_use_of(process_shape_name(work->process, shape_id));
	if (occupancy_compute(find_device(work, device), shape, &occupancy)) {
		kernel.blocks = (float)occupancy.blocks_per_multiprocessor;
		kernel.percent = occupancy.has_estimate ? (int16_t)occupancy.percent : -1;
	}
	return kernel;
}

struct device_kernel *device_work_add_times(
	struct device_work *work, uint64_t begin_ns, uint64_t end_ns)
{
	struct device_kernel *kernel;

	work->kernels = array_grow(
		work->kernels, work->nr_kernels, &work->capacity, sizeof(*work->kernels));
	kernel = &work->kernels[work->nr_kernels++];
	kernel->begin = begin_ns;
	kernel->end = end_ns;
	return kernel;
}

void device_work_add(struct device_work *work, const struct op_record *record, uint64_t end_ns)
{
	uint32_t device = process_place(work->process, record->place).device;
	uint32_t shape = record->table == GPROF_TABLE_kernel ? record->shape : 0;
	struct device_kernel *known = idmap_get(&work->known, shape);
	struct device_kernel *kernel;

	if (!known || known->device != device) {
		known = idmap_put(&work->known, shape);
		*known = look_up(work, shape, device);
	}
	kernel = device_work_add_times(work, record->begin_ns, end_ns);
	kernel->device = known->device;
	kernel->blocks = known->blocks;
	kernel->percent = known->percent;
	kernel->tensor = known->tensor;
}

static inline int compare_edges(const struct edge *x, const struct edge *y)
{
	return ORDER(COMPARE(x->device, y->device), COMPARE(x->time, y->time),
		COMPARE(x->place, y->place));
}

static int by_device_and_time(const void *a, const void *b)
{
	return compare_edges(a, b);
}

/* Edges in order; the array fills from its end downwards. */
struct edges {
	struct edge *first, *last;
	size_t nr_moves;      /* which the order took */
	bool is_sorted_later; /* these were too many */
};

#define MAX_MOVES 16u /* for each edge */

/* Puts an edge before all that are there, or behind a few: most come in order. */
static inline void put_edge(struct edges *edges, struct edge edge)
{
	struct edge *at = --edges->first;

	if (!edges->is_sorted_later) {
		while (at + 1 < edges->last && compare_edges(&at[1], &edge) < 0) {
			at[0] = at[1];
			at++;
		}
		edges->nr_moves += (size_t)(at - edges->first);
		edges->is_sorted_later =
			edges->nr_moves > MAX_MOVES * (size_t)(edges->last - edges->first);
	}
	*at = edge;
}

static struct device_utilization *use_of(
	struct device_utilization **uses, size_t *nr, uint32_t device)
{
	for (size_t i = 0; i < *nr; i++) {
		if ((*uses)[i].device == device) {
			return &(*uses)[i];
		}
	}
	*uses = mem_resize(*uses, *nr + 1, sizeof(**uses));
	(*uses)[*nr] = (struct device_utilization){.device = device, .is_sm_known = true};
	return &(*uses)[(*nr)++];
}

/* Goes through the edges, with the number of kernels that run and the sum of their blocks. */
static void sweep(
	const struct edge *edges, size_t nr_edges, struct device_utilization **uses, size_t *nr)
{
	int64_t running = 0;
	double blocks = 0;

	for (size_t i = 0; i < nr_edges; i++) {
		struct device_utilization *use = use_of(uses, nr, edges[i].device);

		if (running > 0) {
			uint64_t ns = edges[i].time - edges[i - 1].time;

			use->busy_ns += ns;
			use->sm_ns += (blocks < 1 ? blocks : 1) * (double)ns;
		}
		running += edges[i].kernels;
		/* Sums of fractions leave a rest. Where no kernel runs, there is none. */
		blocks = running > 0 ? blocks + (double)edges[i].blocks : 0;
	}
}

static void add_sums(
	struct device_utilization *use, const struct device_kernel *kernel, uint64_t ns)
{
	use->is_sm_known &= kernel->blocks >= 0;
	use->tensor_ns[kernel->tensor] += ns;
	if (kernel->percent >= 0) {
		use->occupancy += kernel->percent * (double)ns;
		use->occupancy_ns += (double)ns;
	}
}

/* Forgets what begins at or after a time. */
static void device_work_drop(struct device_work *work, uint64_t begin)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < work->nr_kernels; i++) {
		if (work->kernels[i].begin < begin) {
			work->kernels[nr_kept++] = work->kernels[i];
		}
	}
	work->nr_kernels = nr_kept;
}

struct device_utilization *device_work_take(
	struct device_work *work, uint64_t begin, uint64_t end, size_t *nr)
{
	struct edge *room = mem_resize(NULL, 2 * work->nr_kernels, sizeof(*room));
	struct edge *last = room + 2 * work->nr_kernels;
	struct edges edges = {.first = last, .last = last};
	struct device_utilization *uses = NULL;

	*nr = 0;
	/*
	 * Kernels come from the last launch to the first: filled from its end, the array is nearly
	 * in order.
	 */
	for (size_t i = 0; i < work->nr_kernels; i++) {
		const struct device_kernel *kernel = &work->kernels[i];
		uint64_t from = kernel->begin > begin ? kernel->begin : begin;
		uint64_t to = kernel->end < end ? kernel->end : end;
		float blocks = kernel->blocks > 0 ? kernel->blocks : 0;
		uint32_t place = 2 * (uint32_t)i;

		if (from < to) {
			add_sums(use_of(&uses, nr, kernel->device), kernel, to - from);
			put_edge(&edges, (struct edge){to, kernel->device, -blocks, -1, place + 1});
			put_edge(&edges, (struct edge){from, kernel->device, blocks, 1, place});
		}
	}
	device_work_drop(work, begin);
	if (edges.is_sorted_later) {
		natural_sort(edges.first, (size_t)(last - edges.first), sizeof(*last),
			by_device_and_time);
	}
	sweep(edges.first, (size_t)(last - edges.first), &uses, nr);
	free(room);
	return uses;
}

void device_utilization_add(struct device_utilization *sum, const struct device_utilization *more)
{
	sum->busy_ns += more->busy_ns;
	sum->sm_ns += more->sm_ns;
	sum->is_sm_known &= more->is_sm_known;
	sum->occupancy += more->occupancy;
	sum->occupancy_ns += more->occupancy_ns;
	for (unsigned int i = 0; i < NR_TENSOR_USES; i++) {
		sum->tensor_ns[i] += more->tensor_ns[i];
	}
}
