/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_load.h"

#include <pthread.h>
#include <stdlib.h>

#include "report/stream/prefetch.h"
#include "report/util/buf.h"
#include "report/ops/op.h"
#include "report/ops/op_groups.h"
#include "report/ops/op_launch.h"
#include "report/ops/op_rows.h"
#include "report/ops/op_sort.h"

/* One is handed out, one is made. */
#define NR_CHUNKS 2u

/* In `order`: of a later group. */
#define LATER 0x80000000u

/* The events of a group in order, and what was left of the groups after it. */
struct chunk {
	struct op_events events; /* as they were read */
	struct op_sort sort;
	size_t nr_rest; /* the first ones in order are kept for the next chunk */
};

/* What is loaded of a group: device work, or what the host did. */
struct part {
	size_t group;
	bool is_host;
};

struct load {
	struct process *process;
	struct op_groups groups;
	struct op_launch launch;
	struct op_rows rows;
	struct part *parts; /* in the order in which they are loaded */
	size_t nr_parts;
	struct chunk chunks[NR_CHUNKS]; /* chunk k is at k % NR_CHUNKS */
	size_t nr_chunks;		/* that were begun */
	void (*take)(void *context, const struct op_event *event);
	void *context;
	/* Where a thread of its own makes the chunks: */
	pthread_mutex_t lock; /* of both below */
	pthread_cond_t changed;
	size_t nr_made, nr_taken;
};

/* ---- order ---- */

/* There are two parts a group. */
static void plan(struct load *load)
{
	size_t nr = 0, worked = load->groups.nr; /* groups from here on have had their work */
	struct part *parts = mem_zeroed(2 * load->groups.nr, sizeof(*parts));

	for (size_t i = load->groups.nr; i-- > 0;) {
		while (worked > load->groups.items[i].work_from) {
			parts[nr++] = (struct part){.group = --worked};
		}
		parts[nr++] = (struct part){.group = i, .is_host = true};
	}
	load->parts = parts;
	load->nr_parts = nr;
}

static void expect_parts(const struct load *load)
{
	size_t nr = 0;
	/* One more, for what turns out to be no request. */
	struct stream_request *requests =
		mem_zeroed(load->process->stream->nr_blocks + 1, sizeof(*requests));

	for (size_t k = 0; k < load->nr_parts; k++) {
		const struct op_group *group = &load->groups.items[load->parts[k].group];

		for (size_t i = group->first; i < group->end; i++) {
			requests[nr] = load->parts[k].is_host ? op_rows_request(&load->rows, i)
							      : op_launch_request(&load->launch, i);
			nr += requests[nr].mask != 0;
		}
	}
	stream_expect(requests, nr);
	free(requests);
}

/* ---- making ---- */

static void load_work(struct load *load, const struct op_group *group)
{
	for (size_t i = group->first; i < group->end; i++) {
		op_launch_load(&load->launch, i);
	}
}

/* What a chunk keeps becomes the begin of the next, which may stand at the same place. */
static void move_rest(const struct chunk *from, struct chunk *to)
{
	struct op_event *rest = mem_zeroed(from->nr_rest, sizeof(*rest));

	for (size_t i = 0; i < from->nr_rest; i++) {
		rest[i] = from->events.items[from->sort.keys[i].place];
		rest[i].order = LATER | (uint32_t)i;
	}
	to->events.nr = 0;
	op_rows_append(&to->events, rest, from->nr_rest);
	free(rest);
}

static void make_chunk(struct load *load, size_t group_idx, size_t nr_places)
{
	const struct op_group *group = &load->groups.items[group_idx];
	struct chunk *chunk = &load->chunks[load->nr_chunks % nr_places];

	move_rest(&load->chunks[(load->nr_chunks + nr_places - 1) % nr_places], chunk);
	op_sort_begin(&chunk->sort);
	op_sort_add(&chunk->sort, chunk->events.items, chunk->events.nr);
	load->nr_chunks++;
	load->rows.order = 0;
	for (size_t i = group->first; i < group->end; i++) {
		op_rows_load(&load->rows, i, &chunk->events);
		op_sort_add(&chunk->sort, chunk->events.items, chunk->events.nr);
	}
	op_sort_end(&chunk->sort, chunk->events.items);
	chunk->nr_rest = group_idx ? op_sort_up_to(&chunk->sort, group[-1].last_tick) : 0;
}

/* ---- handing out ---- */

/* The last one first. */
static void hand_out(struct load *load, struct chunk *chunk)
{
	for (size_t nr = chunk->events.nr; nr > chunk->nr_rest;) {
		struct op_event *event = &chunk->events.items[chunk->sort.keys[--nr].place];

		if (event->is_unnamed) {
			op_rows_name(&load->rows, event);
		}
		load->take(load->context, event);
	}
}

static void hand_out_lone(struct load *load)
{
	if (load->launch.lone) {
		const struct op_event lone = {.kind = OP_EVENT_LONE, .records = load->launch.lone};

		load->launch.lone = 0;
		load->take(load->context, &lone);
	}
}

static void run_alone(struct load *load)
{
	for (size_t i = 0; i < load->nr_parts; i++) {
		size_t group = load->parts[i].group;

		if (load->parts[i].is_host) {
			make_chunk(load, group, 1);
			hand_out(load, &load->chunks[0]);
		} else {
			load_work(load, &load->groups.items[group]);
			hand_out_lone(load);
		}
	}
	op_launch_end(&load->launch);
	hand_out_lone(load);
}

/* ---- on a thread of its own ---- */

/* Until the chunk before the last one has been handed out: its place is the next one's. */
static void wait_for_place(struct load *load)
{
	pthread_mutex_lock(&load->lock);
	while (load->nr_made - load->nr_taken == NR_CHUNKS) {
		pthread_cond_wait(&load->changed, &load->lock);
	}
	pthread_mutex_unlock(&load->lock);
}

static void count(struct load *load, size_t *nr)
{
	pthread_mutex_lock(&load->lock);
	++*nr;
	pthread_cond_signal(&load->changed);
	pthread_mutex_unlock(&load->lock);
}

static void *make_all(void *context)
{
	struct load *load = context;

	for (size_t i = 0; i < load->nr_parts; i++) {
		size_t group = load->parts[i].group;

		if (load->parts[i].is_host) {
			wait_for_place(load);
			make_chunk(load, group, NR_CHUNKS);
			count(load, &load->nr_made);
		} else {
			load_work(load, &load->groups.items[group]);
		}
	}
	return NULL;
}

static void take_all(struct load *load)
{
	for (size_t k = 0; k < load->groups.nr; k++) {
		pthread_mutex_lock(&load->lock);
		while (load->nr_made == k) {
			pthread_cond_wait(&load->changed, &load->lock);
		}
		pthread_mutex_unlock(&load->lock);
		hand_out(load, &load->chunks[k % NR_CHUNKS]);
		count(load, &load->nr_taken);
	}
}

/* False if there is no such thread to be had. */
static bool run_beside(struct load *load)
{
	pthread_t thread;
	bool is_running;

	pthread_mutex_init(&load->lock, NULL);
	pthread_cond_init(&load->changed, NULL);
	is_running = !pthread_create(&thread, NULL, make_all, load);
	if (is_running) {
		take_all(load);
		pthread_join(thread, NULL);
	}
	pthread_cond_destroy(&load->changed);
	pthread_mutex_destroy(&load->lock);
	return is_running;
}

/* Records go from hand to hand while they are read, and ranges make names; both are of one thread.
 */
static bool is_worth_a_thread(const struct load *load, const struct op_load_want *want)
{
	return load->groups.nr > 1 && !want->records && !want->has_ranges &&
	       prefetch_nr_threads() > 1;
}

/* ---- all ---- */

static bool has_rows(const struct process *process, unsigned int table)
{
	const struct stream_table *found = stream_table(process->stream, table);

	return found && found->nr_rows;
}

static bool has_any(const struct process *process, const struct op_load_want *want)
{
	return op_has_any(process) || has_rows(process, GPROF_TABLE_alloc) ||
	       process->py_stacks.nr || want->has_calls || want->records ||
	       (want->has_ranges && has_rows(process, GPROF_TABLE_nvtx));
}

static void load_fini(struct load *load)
{
	for (size_t i = 0; i < NR_CHUNKS; i++) {
		free(load->chunks[i].events.items);
		op_sort_fini(&load->chunks[i].sort);
	}
	free(load->parts);
	op_rows_fini(&load->rows);
	op_groups_fini(&load->groups);
	op_launch_fini(&load->launch);
}

void op_load_run(struct process *process, const struct op_load_want *want,
	void (*take)(void *context, const struct op_event *event), void *context)
{
	struct load load = {.process = process, .take = take, .context = context};

	if (!has_any(process, want)) {
		return;
	}
	op_rows_init(&load.rows, process, want, &load.launch);
	op_launch_init(&load.launch, process, want->records);
	op_groups_find(&load.groups, process, op_rows_tables(&load.rows),
		want->group_rows ? want->group_rows : OP_GROUPS_ROWS);
	plan(&load);
	expect_parts(&load);
	if (!is_worth_a_thread(&load, want) || !run_beside(&load)) {
		run_alone(&load);
	}
	load_fini(&load);
}

uint64_t op_load_nr_rows(const struct process *process, const struct op_load_want *want)
{
	uint64_t nr_rows = 0;

	for (size_t i = 0; has_any(process, want) && i < process->stream->nr_blocks; i++) {
		nr_rows += process->stream->blocks[i].nr_rows;
	}
	return nr_rows;
}
