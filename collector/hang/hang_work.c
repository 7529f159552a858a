/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last launch into each stream, the last finished activity in each place, and the last call on
 * each communicator.
 */
#include <string.h>

#include "collector/format/block.h"
#include "collector/hang/hang.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"

/* The rows of each list; if there are more, the most recent ones stay. */
#define MAX_KEPT 64u

struct kept {
	uint64_t key;
	uint64_t time; /* newer is larger; 0: free */
	struct gprof_row_hang row;
};

struct kept_list {
	struct kept all[MAX_KEPT];
	uint32_t last; /* was found last */
};

/*
 * Names come with finished kernels, whose shapes differ from those of their launches: the
 * correlation ID joins the two, whichever passes by first.
 */
#define NR_RECENT 1024u
struct recent {
	uint32_t correlation; /* 0: free */
	uint32_t shape;
};

/* Leads from the shape of a launch to that of its kernel, which has the name. */
struct known {
	uint32_t launched; /* 0: free */
	uint32_t ended;
};

static struct hang_work_state {
	struct kept_list launched, ended, called;
	struct recent recent_launched[NR_RECENT], recent_ended[NR_RECENT];
	struct known known[NR_RECENT];
} state;

void hang_work_init(void)
{
	memset(&state, 0, sizeof(state));
}

/* The row of that key, to be filled in; NULL if a newer one is kept. */
static struct gprof_row_hang *keep(struct kept_list *list, uint64_t key, uint64_t time)
{
	uint32_t at = list->last, oldest = 0;

	for (uint32_t i = 0; list->all[at].key != key || !list->all[at].time; i++) {
		if (i == MAX_KEPT) {
			at = oldest;
			break;
		}
		oldest = list->all[i].time < list->all[oldest].time ? i : oldest;
		at = i;
	}
	if (time < list->all[at].time) {
		return NULL;
	}
	list->last = at;
	list->all[at].key = key;
	list->all[at].time = time;
	return &list->all[at].row;
}

/* Puts one side in, and gives the shape of the other if it is there; 0 if not. */
static uint32_t meet(
	struct recent *mine, const struct recent *others, uint32_t correlation, uint32_t shape)
{
	uint32_t at = correlation % NR_RECENT;

	mine[at] = (struct recent){correlation, shape};
	return others[at].correlation == correlation ? others[at].shape : 0;
}

static void learn(uint32_t launched, uint32_t ended)
{
	if (launched && ended) {
		state.known[launched % NR_RECENT] = (struct known){launched, ended};
	}
}

static uint32_t named_shape(uint32_t launched)
{
	const struct known *known = &state.known[launched % NR_RECENT];

	return known->launched == launched ? known->ended : launched;
}

void hang_work_launched(const struct gprof_row_api_launch *r)
{
	struct gprof_row_hang *row = keep(&state.launched, r->stream, r->begin);

	learn(r->shape, meet(state.recent_launched, state.recent_ended, r->correlation, r->shape));
	if (row) {
		*row = (struct gprof_row_hang){.since = r->begin,
			.handle = r->stream,
			.thread = r->thread,
			.correlation = r->correlation,
			.shape = r->shape};
	}
}

void hang_work_called(const struct gprof_row_nccl *r)
{
	struct gprof_row_hang *row;

	if (r->kind >= GPROF_NCCL_SEND || !r->sequence) {
		return;
	}
	row = keep(&state.called, r->comm, r->begin);
	if (row) {
		*row = (struct gprof_row_hang){.since = r->begin,
			.handle = r->stream,
			.bytes = r->bytes,
			.thread = r->thread,
			.correlation = r->correlation,
			.comm = r->comm,
			.sequence = r->sequence,
			.nccl_kind = r->kind};
	}
}

void hang_work_ended(
	unsigned int table, uint32_t place, uint32_t correlation, uint32_t shape, uint64_t end_ns)
{
	struct gprof_row_hang *row = keep(&state.ended, place, end_ns);

	learn(meet(state.recent_ended, state.recent_launched, correlation, shape), shape);
	if (row) {
		const char *name = block_table(table)->name;

		*row = (struct gprof_row_hang){.work_end = end_ns,
			.place = place,
			.correlation = correlation,
			.shape = shape,
			.name = shape ? 0 : dictionary_name(name)};
	}
}

static void add_rows(
	const struct kept_list *list, enum gprof_hang item, const struct gprof_row_hang *head)
{
	for (uint32_t i = 0; i < MAX_KEPT; i++) {
		if (list->all[i].time) {
			struct gprof_row_hang *row = batch_slot(GPROF_TABLE_hang);

			*row = list->all[i].row;
			row->tick = head->tick;
			row->step = head->step;
			row->hang = head->hang;
			row->item = (uint8_t)item;
			row->shape = named_shape(row->shape);
			/* An end has no such time. */
			row->since = row->since ? row->since : head->tick;
		}
	}
}

void hang_work_add_rows(const struct gprof_row_hang *head)
{
	add_rows(&state.launched, GPROF_HANG_LAUNCHED, head);
	add_rows(&state.ended, GPROF_HANG_FINISHED, head);
	add_rows(&state.called, GPROF_HANG_COLLECTIVE, head);
}
