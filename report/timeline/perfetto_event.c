/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and flows of an event, before it is written. */
#include "report/timeline/perfetto_out.h"

static struct perfetto_arg *new_arg(
	struct perfetto_event *event, enum perfetto_key key, enum perfetto_value kind)
{
	static struct perfetto_arg none;
	struct perfetto_arg *arg = &none;

	if (event->nr_args < PERFETTO_ARGS) {
		arg = &event->args[event->nr_args++];
	}
	arg->key = (uint8_t)key;
	arg->kind = (uint8_t)kind;
	return arg;
}

void perfetto_event_uint(struct perfetto_event *event, enum perfetto_key key, uint64_t number)
{
	new_arg(event, key, PERFETTO_UINT)->number = number;
}

void perfetto_event_int(struct perfetto_event *event, enum perfetto_key key, int64_t integer)
{
	new_arg(event, key, PERFETTO_INT)->integer = integer;
}

void perfetto_event_double(struct perfetto_event *event, enum perfetto_key key, double real)
{
	new_arg(event, key, PERFETTO_DOUBLE)->real = real;
}

void perfetto_event_text(struct perfetto_event *event, enum perfetto_key key, uint32_t text)
{
	new_arg(event, key, PERFETTO_TEXT)->text = text;
}

void perfetto_event_flow(struct perfetto_event *event, uint64_t flow)
{
	if (flow && event->nr_flows < PERFETTO_FLOWS) {
		event->flows[event->nr_flows++] = flow;
	}
}
