/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: placing them on the device's time line, doing their data work, and the worker that
 * runs those with host code in them.
 *
 * An operation without host code has a known duration, so its times are computed when it is issued
 * and nothing needs to run later; its data is moved at once, which is one of the orders the real
 * device allows. Host code (CPU kernels, host functions) goes to one worker thread, in issue order;
 * as long as that has work, everything else queues behind it.
 */
#include "test/sim/graph.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "test/sim/cupti_abi.h"

enum {
	SUBMIT_NS = 1800,
	OVERLAP_NS = 2000,
	MAX_QUEUED = 4096, /* then issuing waits, as on a full hardware queue */
};

struct node {
	struct node *next;
	struct sim_op op;
};

/* Under sim_lock. */
static struct {
	struct node *first, **last;
	uint32_t nr; /* queued and running */
	bool is_started;
	pthread_cond_t filled;
} queue = {.last = &queue.first, .filled = PTHREAD_COND_INITIALIZER};

void sim_op_identify(struct sim_op *op)
{
	struct sim_stream *s = op->stream;

	op->device_id = (uint32_t)s->context->device->index;
	op->context_id = s->context->uid;
	op->stream_id = s->id;
	if (!op->correlation_id) {
		op->correlation_id = sim_correlation();
	}
}

void sim_report(const struct sim_op *op)
{
	struct sim_trace *trace = atomic_load_explicit(&sim_core.trace, memory_order_acquire);

	if (trace && atomic_load_explicit(&trace->ops, memory_order_relaxed) & (1u << op->kind)) {
		trace->op(op);
	}
}

static void copy_rows(const struct sim_copy *c)
{
	for (size_t z = 0; z < c->depth; z++) {
		for (size_t y = 0; y < c->height; y++) {
			memmove((char *)c->dst + z * c->dst_slice + y * c->dst_pitch,
				(const char *)c->src + z * c->src_slice + y * c->src_pitch,
				c->width);
		}
	}
}

static void set_row(unsigned char *row, size_t bytes, uint32_t value, uint32_t element)
{
	if (element == 1) {
		memset(row, (int)value, bytes);
		return;
	}
	for (size_t i = 0; i + element <= bytes; i += element) {
		memcpy(row + i, &value, element);
	}
}

static void set_rows(const struct sim_op *op)
{
	const struct sim_copy *c = &op->copy;

	for (size_t z = 0; z < c->depth; z++) {
		for (size_t y = 0; y < c->height; y++) {
			set_row((unsigned char *)c->dst + z * c->dst_slice + y * c->dst_pitch,
				c->width, op->value, op->element_bytes);
		}
	}
}

/* Of the kernel whose host code this thread runs. */
static __thread uint64_t kernel_ready_ns, kernel_end_ns;

void sim_await_kernel(void)
{
	sim_wait_until(kernel_ready_ns);
}

void sim_end_kernel(uint64_t end_ns)
{
	kernel_end_ns = end_ns;
}

/* When it can begin, by what stands before it on its stream. */
static uint64_t ready_locked(const struct sim_op *op)
{
	uint64_t submit = (uint64_t)(SUBMIT_NS * sim_config.time_scale);

	return sim_stream_ready_locked(op->stream, op->queued_ns + submit);
}

static void run_kernel(struct sim_op *op)
{
	pthread_mutex_lock(&sim_lock);
	kernel_ready_ns = ready_locked(op);
	pthread_mutex_unlock(&sim_lock);
	kernel_end_ns = 0;
	op->function->cpu(op->args, op->grid, op->block);
	op->has_end = kernel_end_ns != 0;
	op->end_ns = op->has_end ? kernel_end_ns : sim_now();
}

void sim_work(struct sim_op *op)
{
	switch (op->kind) {
	case SIM_OP_KERNEL:
		if (op->function->cpu) {
			run_kernel(op);
		}
		break;
	case SIM_OP_COPY:
		copy_rows(&op->copy);
		break;
	case SIM_OP_SET:
		set_rows(op);
		break;
	case SIM_OP_HOST:
		if (op->host_fn) {
			op->host_fn(op->host_data);
		} else {
			op->callback_fn(op->stream, 0, op->host_data);
		}
		op->end_ns = sim_now();
		break;
	default:
		break;
	}
}

bool sim_needs_worker(const struct sim_op *op)
{
	switch (op->kind) {
	case SIM_OP_KERNEL:
		return op->function->cpu && op->function->nr_args >= 0;
	case SIM_OP_HOST:
		return true;
	case SIM_OP_GRAPH:
		return sim_exec_needs_worker(op->host_data);
	default:
		return false;
	}
}

/* The copy engine that an operation occupies, or -1. */
static int engine_of(const struct sim_op *op)
{
	if (op->kind != SIM_OP_COPY) {
		return -1;
	}
	return op->copy_kind == CUPTI_COPY_HTOD ? 0 : op->copy_kind == CUPTI_COPY_DTOH ? 1 : -1;
}

void sim_place_locked(struct sim_op *op, uint64_t earliest_ns)
{
	struct sim_device *d = op->stream->context->device;
	int engine = engine_of(op);
	uint64_t ns = op->has_end ? 0 : sim_duration(op);

	if (engine >= 0) {
		earliest_ns = sim_max(earliest_ns, d->engine_ns[engine]);
	}
	op->start_ns = earliest_ns;
	/* Where host code ran, end_ns holds when it ended: the device cannot be done earlier. */
	op->end_ns = sim_max(op->end_ns, earliest_ns + ns);
	if (engine >= 0) {
		d->engine_ns[engine] = op->end_ns;
	}
}

/* Some devices start a kernel before its predecessor on the same stream has ended. */
static uint64_t overlap(const struct sim_stream *s, uint64_t ready)
{
	if (!sim_config.is_overlap || !s->last_was_kernel || ready != s->tail_ns) {
		return ready;
	}
	uint64_t length = s->tail_ns - s->last_start_ns;
	uint64_t back = length / 2 < OVERLAP_NS ? length / 2 : OVERLAP_NS;

	return ready - back;
}

static void place_in_stream_locked(struct sim_op *op)
{
	struct sim_stream *s = op->stream;
	uint64_t ready = ready_locked(op);

	if (op->kind == SIM_OP_RECORD) {
		op->event->time_ns = ready;
		op->start_ns = op->end_ns = ready;
		return;
	}
	if (op->kind == SIM_OP_WAIT) {
		s->wait_ns = sim_max(s->wait_ns, op->event->time_ns);
		return;
	}
	if (op->kind == SIM_OP_KERNEL) {
		ready = overlap(s, ready);
	}
	sim_place_locked(op, ready);
	s->last_was_kernel = op->kind == SIM_OP_KERNEL;
	s->last_start_ns = op->start_ns;
	sim_stream_advance_locked(s, op->end_ns);
}

/* What the worker does with one operation: host code first, since only then its end is known. */
static void run_queued(struct sim_op *op)
{
	if (op->kind == SIM_OP_GRAPH) {
		sim_exec_run(op->host_data, op);
		return;
	}
	if (sim_needs_worker(op)) {
		op->queued_ns = sim_now();
	}
	sim_work(op);
	pthread_mutex_lock(&sim_lock);
	place_in_stream_locked(op);
	pthread_mutex_unlock(&sim_lock);
	sim_report(op);
	sim_args_drop(op);
}

static void *worker(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&sim_lock);
	for (;;) {
		while (!queue.first) {
			pthread_cond_wait(&queue.filled, &sim_lock);
		}
		struct node *n = queue.first;

		queue.first = n->next;
		if (!queue.first) {
			queue.last = &queue.first;
		}
		pthread_mutex_unlock(&sim_lock);
		run_queued(&n->op);
		pthread_mutex_lock(&sim_lock);
		queue.nr--;
		n->op.stream->nr_pending--;
		if (n->op.kind == SIM_OP_RECORD) {
			n->op.event->nr_pending--;
		}
		pthread_cond_broadcast(&sim_changed);
		free(n);
	}
	return NULL;
}

static int worker_start_locked(void)
{
	pthread_t thread;
	sigset_t all, old;

	if (queue.is_started) {
		return 0;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&thread, NULL, worker, NULL);

	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r == 0) {
		pthread_detach(thread);
		queue.is_started = true;
	}
	return r;
}

static int enqueue_locked(const struct sim_op *op)
{
	struct node *n = malloc(sizeof(*n));

	if (!n || worker_start_locked() != 0) {
		free(n);
		return SIM_OUT_OF_MEMORY;
	}
	while (queue.nr >= MAX_QUEUED) {
		pthread_cond_wait(&sim_changed, &sim_lock);
	}
	n->next = NULL;
	n->op = *op;
	if (op->kind == SIM_OP_KERNEL) {
		n->op.args = NULL;
	}
	if (op->kind == SIM_OP_KERNEL && op->function->cpu) {
		n->op.args = op->args;
		if (sim_args_keep(&n->op) != 0) {
			free(n);
			return SIM_OUT_OF_MEMORY;
		}
	}
	*queue.last = n;
	queue.last = &n->next;
	queue.nr++;
	op->stream->nr_pending++;
	if (op->kind == SIM_OP_RECORD) {
		op->event->nr_pending++;
	}
	pthread_cond_signal(&queue.filled);
	return SIM_OK;
}

/* A CPU kernel whose arguments cannot be copied runs inside its launch, after all that is queued.
 */
static int run_inside(struct sim_op *op)
{
	pthread_mutex_lock(&sim_lock);
	while (queue.nr) {
		pthread_cond_wait(&sim_changed, &sim_lock);
	}
	pthread_mutex_unlock(&sim_lock);
	op->queued_ns = sim_now();
	sim_work(op);
	pthread_mutex_lock(&sim_lock);
	place_in_stream_locked(op);
	pthread_mutex_unlock(&sim_lock);
	sim_report(op);
	return SIM_OK;
}

int sim_submit(struct sim_op *op)
{
	struct sim_stream *s = op->stream;
	int r;

	op->queued_ns = sim_now();
	sim_op_identify(op);
	pthread_mutex_lock(&sim_lock);
	if (s->capture) {
		struct sim_node *node;

		r = sim_capture_add_locked(s, op, &node);
		pthread_mutex_unlock(&sim_lock);
		if (r == SIM_OK) {
			sim_node_announce_new(node);
		}
		return r;
	}
	if (queue.nr || sim_needs_worker(op)) {
		bool is_inside =
			op->kind == SIM_OP_KERNEL && op->function->cpu && op->function->nr_args < 0;

		r = is_inside ? 0 : enqueue_locked(op);
		pthread_mutex_unlock(&sim_lock);
		return is_inside ? run_inside(op) : r;
	}
	if (op->kind == SIM_OP_KERNEL && op->function->cpu) {
		pthread_mutex_unlock(&sim_lock);
		return run_inside(op);
	}
	if (op->kind == SIM_OP_GRAPH) {
		pthread_mutex_unlock(&sim_lock);
		sim_exec_run(op->host_data, op);
		return SIM_OK;
	}
	place_in_stream_locked(op);
	pthread_mutex_unlock(&sim_lock);
	sim_work(op);
	sim_report(op);
	return SIM_OK;
}
