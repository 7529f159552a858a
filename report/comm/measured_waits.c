/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the long waits of each transfer, and of each operation the times in which all of its
 * transfers are in one: what is left between the times in which any of them is not.
 */
#include "report/comm/measured_waits.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

/*
 * A transfer of fewer steps does not show its pace. Steps under way share the network, so that each
 * may take as long as NCCL has steps (eight at most). Shorter waits are the network's latency.
 */
#define MIN_STEPS    4u
#define MAX_UNDERWAY 8u
#define MIN_WAIT_NS  100000u

void measured_transfers_add(
	struct measured_transfers *transfers, const struct measured_transfer *transfer)
{
	transfers->items = array_grow(
		transfers->items, transfers->nr, &transfers->capacity, sizeof(*transfers->items));
	transfers->items[transfers->nr++] = *transfer;
}

void measured_transfers_fini(struct measured_transfers *transfers)
{
	free(transfers->items);
	*transfers = (struct measured_transfers){0};
}

void measured_waits_fini(struct measured_waits *waits)
{
	free(waits->items);
	*waits = (struct measured_waits){0};
}

/* ---- one transfer ---- */

static bool shows_pace(const struct measured_transfer *transfer)
{
	return transfer->steps >= MIN_STEPS && transfer->first_ns &&
	       transfer->begin_ns < transfer->end_ns;
}

/* The mean of its usual waits: all but the first and the longest. */
static uint64_t usual_of(const struct measured_transfer *transfer)
{
	uint64_t usual_ns = transfer->later_ns > transfer->pause_ns
				    ? transfer->later_ns - transfer->pause_ns
				    : 0;

	return usual_ns / (transfer->steps - 2);
}

/* Returns how much longer than usual a wait took, 0 if it is no long one. */
static uint64_t excess_of(uint64_t wait_ns, uint64_t usual_ns)
{
	return wait_ns / MAX_UNDERWAY > usual_ns && wait_ns - usual_ns >= MIN_WAIT_NS
		       ? wait_ns - usual_ns
		       : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Adds the times in which the transfer is in no long wait; returns how many, at most three. The
 * data that end a wait are under way for the usual time before, so that time is no wait. Damaged
 * streams may claim any times.
 */
static size_t find_moving(
	const struct measured_transfer *transfer, struct measured_wait moving[static 3])
{
	const uint64_t waits_ns[] = {transfer->first_ns, transfer->pause_ns},
		       after_ns[] = {transfer->first_after_ns, transfer->pause_after_ns};
	uint64_t all_ns = transfer->end_ns - transfer->begin_ns, usual_ns = usual_of(transfer);
	uint64_t at_ns = 0;
	size_t nr = 0;

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t begin_ns = least(after_ns[i], all_ns);
		uint64_t wait_ns = excess_of(least(waits_ns[i], all_ns - begin_ns), usual_ns);

		if (wait_ns && begin_ns >= at_ns) {
			moving[nr] = (struct measured_wait){
				transfer->begin_ns + at_ns, transfer->begin_ns + begin_ns};
			nr += begin_ns > at_ns;
			at_ns = begin_ns + wait_ns;
		}
	}
	moving[nr] = (struct measured_wait){transfer->begin_ns + at_ns, transfer->end_ns};
	return nr + (at_ns < all_ns);
}

/* ---- one operation ---- */

static int by_op(const void *a, const void *b)
{
	const struct measured_transfer *x = a, *y = b;
	int order = COMPARE(x->op, y->op);

	/* Receives come first: if there are any, they alone count. */
	order = order ? order : y->is_receive - x->is_receive;
	return order ? order : COMPARE(x->begin_ns, y->begin_ns);
}

static int by_begin(const void *a, const void *b)
{
	return COMPARE(((const struct measured_wait *)a)->begin_ns,
		((const struct measured_wait *)b)->begin_ns);
}

/*
 * Adds when any of the transfers is in no long wait, and when none is under way: nobody knows what
 * the operation waits for then. Returns when the last transfer ends.
 */
static uint64_t add_moving(
	const struct measured_transfer *transfers, size_t nr, struct measured_waits *moving)
{
	uint64_t end_ns = transfers->begin_ns;

	for (size_t i = 0; i < nr; i++) {
		struct measured_wait pieces[4];
		size_t nr_pieces = find_moving(&transfers[i], pieces);

		if (transfers[i].begin_ns > end_ns) {
			pieces[nr_pieces++] = (struct measured_wait){end_ns, transfers[i].begin_ns};
		}
		for (size_t k = 0; k < nr_pieces; k++) {
			moving->items = array_grow(moving->items, moving->nr, &moving->capacity,
				sizeof(*moving->items));
			moving->items[moving->nr++] = pieces[k];
		}
		end_ns = transfers[i].end_ns > end_ns ? transfers[i].end_ns : end_ns;
	}
	return end_ns;
}

/* Returns when the last of the transfers had its first data. */
static uint64_t find_data(const struct measured_transfer *transfers, size_t nr)
{
	uint64_t data_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct measured_transfer *of = &transfers[i];
		uint64_t all_ns = of->end_ns - of->begin_ns;
		uint64_t after_ns = least(of->first_after_ns, all_ns);
		uint64_t at_ns = of->begin_ns + after_ns + least(of->first_ns, all_ns - after_ns);

		data_ns = at_ns > data_ns ? at_ns : data_ns;
	}
	return data_ns;
}

static void add_wait(
	struct measured_waits *waits, struct measured_op *op, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns < end_ns) {
		waits->items = array_grow(
			waits->items, waits->nr, &waits->capacity, sizeof(*waits->items));
		waits->items[waits->nr++] = (struct measured_wait){begin_ns, end_ns};
		op->nr++;
	}
}

/* Adds what the moving times leave of the operation. */
static void add_waits(
	struct measured_waits *waits, struct measured_op *op, struct measured_waits *moving)
{
	uint64_t until_ns = op->begin_ns;

	if (moving->nr) {
		qsort(moving->items, moving->nr, sizeof(*moving->items), by_begin);
	}
	for (size_t i = 0; i < moving->nr; i++) {
		add_wait(waits, op, until_ns, moving->items[i].begin_ns);
		until_ns = moving->items[i].end_ns > until_ns ? moving->items[i].end_ns : until_ns;
	}
	add_wait(waits, op, until_ns, op->end_ns);
}

/* The transfers of an operation that count: its receives, else its sends. */
static size_t count_alike(const struct measured_transfer *transfers, size_t nr)
{
	size_t alike = 1;

	while (alike < nr && transfers[alike].is_receive == transfers->is_receive) {
		alike++;
	}
	return alike;
}

static bool show_pace(const struct measured_transfer *transfers, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!shows_pace(&transfers[i])) {
			return false;
		}
	}
	return true;
}

void measured_waits_find(struct measured_waits *waits, struct measured_transfers *transfers,
	bool (*takes_sends)(void *context, uint32_t op),
	void (*set)(void *context, uint32_t op, const struct measured_op *measured), void *context)
{
	struct measured_waits moving = {0};

	if (transfers->nr) {
		qsort(transfers->items, transfers->nr, sizeof(*transfers->items), by_op);
	}
	for (size_t at = 0, end; at < transfers->nr; at = end) {
		const struct measured_transfer *of = &transfers->items[at];
		struct measured_op op = {.begin_ns = of->begin_ns, .first = waits->nr};
		size_t nr;

		for (end = at + 1; end < transfers->nr && of->op == transfers->items[end].op;) {
			end++;
		}
		nr = count_alike(of, end - at);
		if ((!of->is_receive && !takes_sends(context, of->op)) || !show_pace(of, nr)) {
			continue;
		}
		moving.nr = 0;
		op.end_ns = add_moving(of, nr, &moving);
		op.data_ns = find_data(of, nr);
		add_waits(waits, &op, &moving);
		set(context, of->op, &op);
	}
	measured_waits_fini(&moving);
}

void measured_waits_note(struct table *table, uint64_t nr_ops)
{
	if (nr_ops) {
		table_note(table,
			"Operations of NCCL whose waits are what one rank measured: %" PRIu64 ".",
			nr_ops);
	}
}
