/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects what others have counted (rings, stream, loss.c) into one row for each cause, with each
 * group. In a full stream the rows of the last group are a tail, which the next group cuts off:
 * loss_take_back_tail() counts them again, to be written anew. So does collect() with rows that the
 * stream refused, since facts may fill their part of its limit, too.
 */
#include "collector/stream/loss_rows.h"

#include <string.h>

#include "collector/format/format.h"
#include "collector/ring/ring.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/stream.h"
#include "collector/util/clock.h"
#include "collector/util/loss.h"
#include "collector/util/notice.h"

static uint64_t in_tail[LOSS_NR_CAUSES];
static uint64_t unwritten[LOSS_NR_CAUSES]; /* in rows since collect() */
static uint64_t nr_again;		   /* events that rows had, and will have again */

/* An array of pointers would have to be relocated as the target starts. */
static const char *text_of(enum loss_cause cause)
{
	switch (cause) {
#define L(name, text)     \
	case LOSS_##name: \
		return text;
		LOSS_CAUSES(L)
#undef L
	default:
		return "";
	}
}

static uint32_t text_id(enum loss_cause cause)
{
	const char *text = text_of(cause);

	return dictionary_text(text, strlen(text));
}

/* Returns how many events are missing: none if the cause keeps the event. */
static uint64_t missing(enum loss_cause cause, uint64_t count)
{
	return strstr(text_of(cause), GPROF_LOSS_KEPT) ? 0 : count;
}

static uint64_t add_loss(enum loss_cause cause, uint64_t count)
{
	struct gprof_row_loss *row;
	uint32_t id;

	if (!count) {
		return 0;
	}
	id = text_id(cause);
	row = batch_add(GPROF_TABLE_loss);
	row->tick = clock_raw();
	row->count = count;
	row->cause = id;
	in_tail[cause] += count;
	unwritten[cause] += count;
	return missing(cause, count);
}

/* Counts the losses of rows again that the stream did not take. */
static void put_back(void)
{
	for (unsigned int i = 0; i < LOSS_NR_CAUSES; i++) {
		loss_add((enum loss_cause)i, unwritten[i]);
		nr_again += missing((enum loss_cause)i, unwritten[i]);
		in_tail[i] -= unwritten[i] < in_tail[i] ? unwritten[i] : in_tail[i];
	}
}

/* Takes what others have counted. */
static void collect(void)
{
	struct stream_lost lost = stream_take_lost();

	if (lost.has_losses) {
		put_back();
	}
	memset(unwritten, 0, sizeof(unwritten));
	loss_add(LOSS_RING, ring_take_lost());
	loss_add(LOSS_LEFT, ring_take_left());
	loss_add(LOSS_DISK, lost.disk);
	loss_add(LOSS_FACTS, lost.facts);
	loss_add(LOSS_LIMIT_FACTS, lost.limit_facts);
	if (lost.facts || lost.limit_facts) {
		dictionary_forget();
	}
	loss_add(LOSS_LIMIT, lost.limit);
}

static uint64_t add_losses(void)
{
	uint64_t nr_lost = 0;

	collect();
	for (unsigned int i = 0; i < LOSS_NR_CAUSES; i++) {
		nr_lost += add_loss((enum loss_cause)i, loss_take(i));
	}
	nr_lost -= nr_again;
	nr_again = 0;
	return nr_lost;
}

static void add_notices(void)
{
	struct notice notice;

	while (notice_take(&notice)) {
		uint32_t cause = dictionary_text(notice.cause, strlen(notice.cause));
		uint32_t text = dictionary_text(notice.text, strlen(notice.text));
		struct gprof_row_notice *row = batch_add(GPROF_TABLE_notice);

		row->tick = clock_raw_of_stream(notice.raw);
		row->code = notice.code;
		row->cause = cause;
		row->text = text;
	}
}

uint64_t loss_add_rows(void)
{
	uint64_t nr_lost = add_losses();

	add_notices();
	return nr_lost;
}

/*
 * Defines the texts of the causes now: inside the tail their definitions would be cut off with it.
 */
void loss_begin_tail(void)
{
	add_notices();
	collect();
	for (unsigned int i = 0; i < LOSS_NR_CAUSES; i++) {
		uint64_t count = loss_take((enum loss_cause)i);

		if (count) {
			text_id((enum loss_cause)i);
			loss_add((enum loss_cause)i, count);
		}
	}
	memset(in_tail, 0, sizeof(in_tail));
}

uint64_t loss_take_back_tail(void)
{
	uint64_t nr_lost = 0;

	for (unsigned int i = 0; i < LOSS_NR_CAUSES; i++) {
		loss_add((enum loss_cause)i, in_tail[i]);
		nr_lost += missing((enum loss_cause)i, in_tail[i]);
		in_tail[i] = 0;
	}
	memset(unwritten, 0, sizeof(unwritten));
	return nr_lost;
}
