/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stream/loss_rows.h"

#include <string.h>

#include "collector/stream/batch.h"
#include "collector/collector.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/notice.h"
#include "collector/stream/stream.h"

static uint64_t add_loss(const char *cause, uint64_t count)
{
	struct gprof_row_loss *row;
	uint32_t id;

	if (!count) {
		return 0;
	}
	id = define_text(cause, strlen(cause));
	row = batch_add(GPROF_TABLE_loss);
	row->tick = clock_raw();
	row->count = count;
	row->cause = id;
	return count;
}

static uint64_t add_losses(void)
{
	static const char *const texts[] = {
#define L(name, text) text,
		COLLECTOR_LOSSES(L)
#undef L
	};
	struct stream_lost lost = stream_take_lost();
	uint64_t nr_lost = 0;

	collector_lose(COLLECTOR_LOST_RING, ring_take_lost());
	collector_lose(COLLECTOR_LOST_SIGNAL, ring_take_nested());
	collector_lose(COLLECTOR_LOST_LEFT, ring_take_left());
	collector_lose(COLLECTOR_LOST_DAMAGED, ring_take_damaged());
	collector_lose(COLLECTOR_LOST_DISK, lost.disk);
	collector_lose(COLLECTOR_LOST_LIMIT, lost.limit);
	for (unsigned int i = 0; i < COLLECTOR_NR_LOSSES; i++) {
		nr_lost += add_loss(texts[i], notice_take_lost(i));
	}
	return nr_lost;
}

static void add_notices(void)
{
	struct notice notice;

	while (notice_take(&notice)) {
		uint32_t cause = define_text(notice.cause, strlen(notice.cause));
		uint32_t text = define_text(notice.text, strlen(notice.text));
		struct gprof_row_notice *row = batch_add(GPROF_TABLE_notice);

		row->tick = notice.raw;
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
