/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream capture: what is issued to a capturing stream becomes nodes. A stream joins a capture by
 * waiting for an event that was recorded in it.
 */
#include "test/sim/graph.h"

#include <stdlib.h>
#include <string.h>

static _Atomic unsigned long long next_id = 1;

static size_t member_of(struct sim_capture *c, const struct sim_stream *s)
{
	size_t i = 0;

	while (i < c->nr_streams && c->of[i].stream != s) {
		i++;
	}
	return i;
}

int sim_capture_begin(void *stream, int mode, void *graph)
{
	struct sim_stream *s = sim_resolve(stream);

	if (!s) {
		return SIM_INVALID_HANDLE;
	}
	if (s->is_legacy) {
		return SIM_CAPTURE_UNSUPPORTED;
	}
	if (s->capture) {
		return SIM_ILLEGAL_STATE;
	}
	struct sim_capture *c = calloc(1, sizeof(*c));

	if (!c) {
		return SIM_OUT_OF_MEMORY;
	}
	c->is_foreign = graph != NULL;
	c->graph = sim_graph_of(graph);
	if (!c->graph && sim_graph_create((void **)&c->graph) != SIM_OK) {
		free(c);
		return SIM_OUT_OF_MEMORY;
	}
	c->origin = s;
	c->mode = mode;
	c->id = atomic_fetch_add(&next_id, 1);
	c->of[0].stream = s;
	c->nr_streams = 1;
	pthread_mutex_lock(&sim_lock);
	s->capture = c;
	pthread_mutex_unlock(&sim_lock);
	return SIM_OK;
}

int sim_capture_end(void *stream, void **graph)
{
	struct sim_stream *s = sim_resolve(stream);
	struct sim_capture *c = s ? s->capture : NULL;

	if (!s || !graph) {
		return s ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*graph = NULL;
	if (!c || c->origin != s) {
		return c ? SIM_CAPTURE_UNMATCHED : SIM_ILLEGAL_STATE;
	}
	pthread_mutex_lock(&sim_lock);
	for (size_t i = 0; i < c->nr_streams; i++) {
		c->of[i].stream->capture = NULL;
	}
	pthread_mutex_unlock(&sim_lock);
	bool is_invalid = c->is_invalid;

	if (is_invalid && !c->is_foreign) {
		sim_graph_destroy(c->graph);
	} else if (!is_invalid) {
		*graph = c->graph;
	}
	free(c);
	return is_invalid ? SIM_CAPTURE_INVALIDATED : SIM_OK;
}

int sim_capture_status(void *stream, int *status, unsigned long long *id, void **graph)
{
	struct sim_stream *s = sim_resolve(stream);

	if (!s) {
		return SIM_INVALID_HANDLE;
	}
	pthread_mutex_lock(&sim_lock);
	struct sim_capture *c = s->capture;

	if (status) {
		*status = c ? 1 + c->is_invalid : 0;
	}
	if (id && c) {
		*id = c->id;
	}
	if (graph && c) {
		*graph = c->graph;
	}
	pthread_mutex_unlock(&sim_lock);
	return SIM_OK;
}

int sim_capture_add_locked(struct sim_stream *s, struct sim_op *op, struct sim_node **out)
{
	struct sim_capture *c = s->capture;
	size_t i = member_of(c, s);
	struct sim_op kept = *op;
	struct sim_node *node;
	void *child = NULL;

	if (op->kind == SIM_OP_CHILD) {
		child = op->host_data;
		kept.host_data = NULL;
	}
	kept.correlation_id = 0;
	kept.start_ns = kept.end_ns = 0;
	int r = sim_node_add(
		&node, c->graph, (void *const *)c->of[i].last, c->of[i].nr_last, &kept, child);

	if (r != SIM_OK) {
		c->is_invalid = true;
		return r;
	}
	c->of[i].last[0] = node;
	c->of[i].nr_last = 1;
	*out = node;
	return SIM_OK;
}

int sim_capture_record_locked(struct sim_stream *s, struct sim_event *e)
{
	struct sim_capture *c = s->capture;
	size_t i = member_of(c, s);

	e->capture = c;
	e->capture_node = c->of[i].nr_last ? c->of[i].last[0] : NULL;
	e->stream = s;
	return SIM_OK;
}

int sim_capture_wait_locked(struct sim_stream *s, struct sim_event *e)
{
	struct sim_capture *c = e->capture;

	if (!c || (s->capture && s->capture != c)) {
		return 905; /* the event was not recorded in this capture */
	}
	size_t i = member_of(c, s);

	if (i == c->nr_streams) {
		if (i == sizeof(c->of) / sizeof(c->of[0])) {
			return SIM_CAPTURE_UNSUPPORTED;
		}
		c->of[i].stream = s;
		c->of[i].nr_last = 0;
		c->nr_streams++;
		s->capture = c;
	}
	if (e->capture_node && c->of[i].nr_last < 16) {
		c->of[i].last[c->of[i].nr_last++] = e->capture_node;
	}
	return SIM_OK;
}
