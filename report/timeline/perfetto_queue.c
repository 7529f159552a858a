/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/perfetto_queue.h"

#include <string.h>

#include "report/util/hash.h"

struct perfetto_launch {
	uint64_t ns;
	uint32_t correlation;
	UT_hash_handle hh;
};

void perfetto_queues_init(struct perfetto_queues *queues)
{
	*queues = (struct perfetto_queues){.begun = idset_create()};
}

void perfetto_queues_fini(struct perfetto_queues *queues)
{
	hash_free(queues->launches);
	for (size_t i = 0; i < queues->nr; i++) {
		free(queues->queues[i].begins);
	}
	free(queues->queues);
	idset_destroy(queues->begun);
	*queues = (struct perfetto_queues){0};
}

struct perfetto_queue *perfetto_queues_find(
	struct perfetto_queues *queues, uint32_t device, uint32_t stream)
{
	for (size_t i = 0; i < queues->nr; i++) {
		if (queues->queues[i].device == device && queues->queues[i].stream == stream) {
			return &queues->queues[i];
		}
	}
	queues->queues =
		array_grow(queues->queues, queues->nr, &queues->capacity, sizeof(*queues->queues));
	queues->queues[queues->nr] = (struct perfetto_queue){.device = device, .stream = stream};
	return &queues->queues[queues->nr++];
}

static struct perfetto_launch *find_launch(struct perfetto_queues *queues, uint32_t correlation)
{
	struct perfetto_launch *launch;

	HASH_FIND(hh, queues->launches, &correlation, sizeof(correlation), launch);
	return launch;
}

void perfetto_queues_call(struct perfetto_queues *queues, uint32_t correlation, uint64_t ns)
{
	struct perfetto_launch *launch;

	if (idset_has(queues->begun, correlation) || find_launch(queues, correlation)) {
		return;
	}
	launch = mem_zeroed(1, sizeof(*launch));
	launch->ns = ns;
	launch->correlation = correlation;
	HASH_ADD(hh, queues->launches, correlation, sizeof(launch->correlation), launch);
}

bool perfetto_queues_begin(struct perfetto_queues *queues, uint32_t correlation, uint64_t *call_ns)
{
	struct perfetto_launch *launch;

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
static void write_begins(struct perfetto_queue *queue, struct perfetto_out *out, uint64_t ns)
{
	while (queue->first < queue->nr && queue->begins[queue->first] <= ns) {
		/* Not before what stands there already, see below. */
		if (queue->begins[queue->first] > queue->written_ns) {
			queue->written_ns = queue->begins[queue->first];
		}
		queue->first++;
		perfetto_out_count(out, queue->track, queue->written_ns, (double)--queue->length);
	}
}

/* As many more as have room with what is left moved to the front, so that moves are paid for. */
static void make_room(struct perfetto_queue *queue)
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

void perfetto_queue_add(
	struct perfetto_queue *queue, struct perfetto_out *out, uint64_t call_ns, uint64_t begin_ns)
{
	/* Threads that launch at once may be served in another order than they began to call. */
	call_ns = call_ns > queue->written_ns ? call_ns : queue->written_ns;
	write_begins(queue, out, call_ns);
	queue->written_ns = call_ns;
	perfetto_out_count(out, queue->track, call_ns, (double)++queue->length);
	make_room(queue);
	queue->begins[queue->nr++] = begin_ns;
}

void perfetto_queues_end(struct perfetto_queues *queues, struct perfetto_out *out)
{
	for (size_t i = 0; i < queues->nr; i++) {
		write_begins(&queues->queues[i], out, UINT64_MAX);
	}
}
