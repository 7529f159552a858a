/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and flows of an event, before it is written. */
#include "report/timeline/perfetto_out.h"

static struct pftrace_arg *new_arg(
	struct pftrace_event *event, enum pftrace_key key, enum pftrace_value kind)
{
	static struct pftrace_arg none;
	struct pftrace_arg *arg = &none;

	if (event->nr_args < PFTRACE_ARGS) {
		arg = &event->args[event->nr_args++];
	}
	arg->key = (uint8_t)key;
	arg->kind = (uint8_t)kind;
	return arg;
}

void pftrace_event_uint(struct pftrace_event *event, enum pftrace_key key, uint64_t number)
{
	new_arg(event, key, PFTRACE_UINT)->number = number;
}

void pftrace_event_int(struct pftrace_event *event, enum pftrace_key key, int64_t integer)
{
	new_arg(event, key, PFTRACE_INT)->integer = integer;
}

void pftrace_event_double(struct pftrace_event *event, enum pftrace_key key, double real)
{
	new_arg(event, key, PFTRACE_DOUBLE)->real = real;
}

void pftrace_event_text(struct pftrace_event *event, enum pftrace_key key, uint32_t text)
{
	new_arg(event, key, PFTRACE_TEXT)->text = text;
}

void pftrace_event_flow(struct pftrace_event *event, uint64_t flow)
{
	if (flow && event->nr_flows < PFTRACE_FLOWS) {
		event->flows[event->nr_flows++] = flow;
	}
}
