/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/perfetto_queue.h"

#include <string.h>

#include "report/util/hash.h"

struct pftrace_launch {
	uint64_t ns;
	uint32_t correlation;
	UT_hash_handle hh;
};

void pftrace_queues_init(struct pftrace_queues *queues)
{
	*queues = (struct pftrace_queues){.begun = idset_create()};
}

void pftrace_queues_fini(struct pftrace_queues *queues)
{
	hash_free(queues->launches);
	for (size_t i = 0; i < queues->nr; i++) {
		free(queues->queues[i].begins);
	}
	free(queues->queues);
	idset_destroy(queues->begun);
	*queues = (struct pftrace_queues){0};
}

struct pftrace_queue *pftrace_queues_find(
	struct pftrace_queues *queues, uint32_t device, uint32_t stream)
{
	for (size_t i = 0; i < queues->nr; i++) {
		if (queues->queues[i].device == device && queues->queues[i].stream == stream) {
			return &queues->queues[i];
		}
	}
	queues->queues =
		array_grow(queues->queues, queues->nr, &queues->capacity, sizeof(*queues->queues));
	queues->queues[queues->nr] = (struct pftrace_queue){.device = device, .stream = stream};
	return &queues->queues[queues->nr++];
}

static struct pftrace_launch *find_launch(struct pftrace_queues *queues, uint32_t correlation)
{
	struct pftrace_launch *launch;

	HASH_FIND(hh, queues->launches, &correlation, sizeof(correlation), launch);
	return launch;
}

void pftrace_queues_call(struct pftrace_queues *queues, uint32_t correlation, uint64_t ns)
{
	struct pftrace_launch *launch;

	if (idset_has(queues->begun, correlation) || find_launch(queues, correlation)) {
		return;
	}
	launch = mem_zeroed(1, sizeof(*launch));
	launch->ns = ns;
	launch->correlation = correlation;
	HASH_ADD(hh, queues->launches, correlation, sizeof(launch->correlation), launch);
}

bool pftrace_queues_begin(struct pftrace_queues *queues, uint32_t correlation, uint64_t *call_ns)
{
	struct pftrace_launch *launch;

	if (idset_has(queues->begun, correlation)) {
		return false; /* of a graph the first node counts */
	}
	idset_add(queues->begun, correlation);
	launch = find_launch(queues, correlation);
	if (!launch) {
		return false;
	}
	*call_ns = launch->ns;
	HASH_DEL(queues->launches, launch);
	free(launch);
	return true;
}

/* Those that began until then. */
static void write_begins(struct pftrace_queue *queue, struct pftrace_out *out, uint64_t ns)
{
	while (queue->first < queue->nr && queue->begins[queue->first] <= ns) {
		/* Not before what stands there already, see below. */
		if (queue->begins[queue->first] > queue->written_ns) {
			queue->written_ns = queue->begins[queue->first];
		}
		queue->first++;
		pftrace_out_count(out, queue->track, queue->written_ns, (double)--queue->length);
	}
}

/* As many more as have room with what is left moved to the front, so that moves are paid for. */
static void make_room(struct pftrace_queue *queue)
{
	if (queue->first > queue->nr / 2) {
		queue->nr -= queue->first;
		memmove(queue->begins, queue->begins + queue->first,
			queue->nr * sizeof(*queue->begins));
		queue->first = 0;
	}
	queue->begins =
		array_grow(queue->begins, queue->nr, &queue->capacity, sizeof(*queue->begins));
}

void pftrace_queue_add(
	struct pftrace_queue *queue, struct pftrace_out *out, uint64_t call_ns, uint64_t begin_ns)
{
	/* Threads that launch at once may be served in another order than they began to call. */
	call_ns = call_ns > queue->written_ns ? call_ns : queue->written_ns;
	write_begins(queue, out, call_ns);
	queue->written_ns = call_ns;
	pftrace_out_count(out, queue->track, call_ns, (double)++queue->length);
	make_room(queue);
	queue->begins[queue->nr++] = begin_ns;
}

void pftrace_queues_end(struct pftrace_queues *queues, struct pftrace_out *out)
{
	for (size_t i = 0; i < queues->nr; i++) {
		write_begins(&queues->queues[i], out, UINT64_MAX);
	}
}
