/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts launches that lack their activity. The time budget counts its own, and so does the view
 * what-if, whose replay would take what lost activities leave for idle time.
 */
#include "report/budget/launch_counter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/sanity.h"
#include "report/model/device_records.h"
#include "report/model/select.h"
#include "report/util/string_pool.h"

struct launch_name launch_name_of(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);

	return (struct launch_name){.is_graph = strstr(text, "GraphLaunch") != NULL,
		.begins_capture = strstr(text, "BeginCapture") != NULL,
		.ends_capture = strstr(text, "EndCapture") != NULL};
}

/* ---- counting ---- */

/*
 * A launch in a capture launches nothing, unless something ran of it. Without a correlation ID
 * nobody knows what a call launched.
 */
void launch_counter_close(struct launch_counter *counter)
{
	if (counter->is_open &&
		(counter->is_launching || (counter->has_id && !counter->is_capturing))) {
		counter->sum.all++;
		counter->sum.graphs += counter->is_graph;
		counter->sum.lost += !counter->is_launching || counter->is_untimed;
		counter->sum.timeless += counter->is_untimed;
	}
	counter->is_open = false;
}

void launch_counter_end(struct launch_counter *counter, const struct process *process)
{
	launch_counter_close(counter);
	if (!process_has_device_records(process, NULL)) {
		counter->sum.lost = counter->sum.timeless = 0;
	}
}

/* ---- of each process ---- */

static void begin(void *context, struct process *process)
{
	struct launch_counts *counts = context;

	counts->process = process;
	counts->counter = (struct launch_counter){0};
	idmap_init(&counts->names, sizeof(struct launch_name));
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	struct launch_counts *counts = context;
	const struct launch_name *known = idmap_get(&counts->names, call->call);

	(void)op;
	if (!known) {
		struct launch_name *name = idmap_put(&counts->names, call->call);

		*name = launch_name_of(process_call_name(counts->process, call->call, NULL));
		known = name;
	}
	launch_counter_call(&counts->counter, counts->process, call, known);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	(void)op;
	launch_counter_record(&((struct launch_counts *)context)->counter, record, call);
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct launch_counts *counts = context;

	(void)phases;
	launch_counter_end(&counts->counter, process);
	counts->of = mem_resize(counts->of, counts->nr + 1, sizeof(*counts->of));
	counts->of[counts->nr++] = counts->counter.sum;
	idmap_fini(&counts->names);
}

const struct op_view launch_counts_ops = {
	.ignores_selection = true,
	.is_of_calls = true,
	.begin = begin,
	.call = on_call,
	.record = on_record,
	.end = end,
};

void launch_counts_fini(struct launch_counts *counts)
{
	free(counts->of);
}

/* ---- what they mean ---- */

void budget_add_launches(struct budget_launches *sum, const struct budget_launches *launches)
{
	sum->all += launches->all;
	sum->graphs += launches->graphs;
	sum->lost += launches->lost;
	sum->timeless += launches->timeless;
}

void budget_add_lost(const struct budget_launches *launches, struct buf *out)
{
	buf_printf(out, "%" PRIu64 " of %" PRIu64 " launches have no GPU %s", launches->lost,
		launches->all, launches->timeless ? "times" : "activity");
}

void budget_warn_lost(const struct process *process, const struct budget_launches *launches)
{
	struct buf text = {0};

	if (budget_has_lost(launches)) {
		budget_add_lost(launches, &text);
		sanity_add("%s: %.*s, so idle time is unknown", process->stream->label,
			(int)text.nr_bytes, text.bytes);
	}
	buf_fini(&text);
}

void budget_note_lost(
	struct table *table, const struct process *process, const struct budget_launches *launches)
{
	struct buf text = {0};

	if (budget_has_lost(launches)) {
		budget_add_lost(launches, &text);
		table_note(table, "Process %lld: %.*s, so idle time is unknown.",
			(long long)process->pid, (int)text.nr_bytes, text.bytes);
	}
	buf_fini(&text);
}
