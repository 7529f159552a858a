/* SPDX-License-Identifier: Apache-2.0 */
/* What the doors tell besides calls: rare rows, losses, notices, steps, threads (collector.h). */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "collector/format/block.h"
#include "collector/collector.h"
#include "collector/cupti/cupti.h"
#include "collector/stream/facts.h"
#include "collector/stream/notice.h"
#include "collector/step/step.h"
#include "collector/thread.h"

void collector_lose(enum collector_loss cause, uint64_t nr_events)
{
	notice_lose(cause, nr_events);
}

void collector_notice(const char *cause, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!notice_add(cause, code, format, args)) {
		notice_lose(COLLECTOR_LOST_NOTICE, 1);
	}
	va_end(args);
}

void collector_step(enum gprof_step_rule rule)
{
	if (collector_is_running()) {
		step_mark(rule);
	}
}

void collector_range(const char *name, uint64_t begin, uint64_t end)
{
	int error = errno;

	if (collector_is_running()) {
		step_range(name, begin, end);
	}
	errno = error;
}

bool collector_is_step_range(const char *name, uint64_t nr_bytes)
{
	return step_is_range(name, nr_bytes);
}

void collector_capture(bool is_on)
{
	if (collector_is_running()) {
		step_capture(is_on);
	}
}

void collector_thread_began(uint32_t parent)
{
	if (collector_is_running()) {
		thread_emit(GPROF_THREAD_CREATED, parent, "");
	}
}

void collector_thread_named(const char *name)
{
	if (collector_is_running()) {
		thread_emit(GPROF_THREAD_NAMED, 0, name);
	}
}

void collector_loader_worker(uint32_t number, uint32_t nr_workers)
{
	facts_set_worker(number, nr_workers);
}

bool collector_has_cupti(void)
{
	return cupti_is_live();
}

bool collector_is_cupti(uintptr_t start)
{
	return cupti_has_code(start);
}

void collector_emit(void *row, unsigned int table, const char *text, uint64_t nr_bytes)
{
	struct gprof_row_head *head = row;
	uint32_t row_bytes = block_table(table)->row_bytes;
	uint32_t bytes;
	char *at;

	if (nr_bytes > GPROF_TEXT_BYTES) {
		nr_bytes = GPROF_TEXT_BYTES;
		collector_lose(COLLECTOR_LOST_TEXT, 1);
	}
	bytes = collector_row_bytes(row_bytes, nr_bytes);
	at = ring_is_ours() ? ring_reserve(&ring_self, bytes) : NULL;
	if (!at) {
		return;
	}
	head->bytes = (uint16_t)bytes;
	head->table = (uint8_t)table;
	head->text_bytes = (uint32_t)nr_bytes;
	memcpy(at, row, row_bytes);
	if (nr_bytes) {
		memcpy(at + row_bytes, text, nr_bytes);
	}
	ring_commit(&ring_self, at, bytes);
}
