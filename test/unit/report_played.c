/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/report_played.h"

#include <stdlib.h>
#include <string.h>

#include "test/gen/gen.h"
#include "test/unit/unit.h"

const char *const played_names[4] = {"aten::mm", "aten::add", "aten::linear", "aten::copy_"};

struct maker {
	struct played *played;
	uint64_t seed;
};

static uint64_t below(struct maker *maker, uint64_t n)
{
	return unit_random(&maker->seed) % n;
}

/* ---- what happens ---- */

static void add_call(struct maker *maker, uint32_t thread, int op, uint64_t begin, uint64_t end)
{
	struct played *played = maker->played;
	struct played_call *call = &played->calls[played->nr_calls];

	if (played->nr_calls == PLAYED_CALLS) {
		return;
	}
	played->nr_calls++;
	*call = (struct played_call){.begin = begin, .end = end, .thread = thread, .op = op};
	call->work = (enum played_work)below(maker, 5);
	call->device = (uint32_t)below(maker, 2);
	call->is_async = below(maker, 2);
	call->work_begin = end + below(maker, 200);
	call->work_end = call->work_begin + 1 + below(maker, 60);
}

/* Fills a stretch of a thread with operators, one after the other, and these in turn. */
static void fill(struct maker *maker, uint32_t thread, uint64_t from, uint64_t to, int parent,
	unsigned int depth)
{
	struct played *played = maker->played;

	while (from + 8 < to) {
		uint64_t begin = from + 1 + below(maker, 20);
		uint64_t end = begin + 4 + below(maker, depth ? 40 : 200);
		int me = (int)played->nr_ops;

		if (end >= to) {
			return;
		}
		if (below(maker, 4) == 0) {
			add_call(maker, thread, parent, begin, begin + 3);
			from = begin + 4;
			continue;
		}
		if (played->nr_ops == PLAYED_OPS) {
			return;
		}
		played->nr_ops++;
		played->ops[me] = (struct played_op){.begin = begin,
			.end = end,
			.thread = thread,
			.parent = parent,
			.kind = below(maker, 6) ? PLAYED_OP : PLAYED_USER,
			.name = (unsigned int)below(maker, 4),
			.depth = depth};
		if (depth < 4) {
			fill(maker, thread, begin, end, me, depth + 1);
		}
		from = end + 1;
	}
}

static void add_loader(struct maker *maker, uint64_t begin)
{
	struct played *played = maker->played;

	played->ops[played->nr_ops++] = (struct played_op){.begin = begin,
		.end = begin + 20,
		.thread = 1,
		.parent = -1,
		.kind = PLAYED_LOADER};
}

static void add_steps(struct maker *maker)
{
	struct played *played = maker->played;
	uint64_t at = 200;

	played->nr_steps = 3 + (unsigned int)below(maker, PLAYED_STEPS - 2);
	for (unsigned int i = 0; i < played->nr_steps; i++) {
		uint64_t next = at + 400 + below(maker, 300);
		uint64_t loader = at + (i ? 5 : 150); /* something is made before the first */

		played->steps[i] = at;
		played->loop = i ? played->loop : loader;
		fill(maker, 1, at, loader, -1, 0);
		add_loader(maker, loader);
		fill(maker, 1, loader + 21, next, -1, 0);
		fill(maker, 2, at, next, -1, 0);
		at = next;
	}
	if (played->nr_steps > 4) {
		played->closed =
			(unsigned int)below(maker, 2) * (2 + (unsigned int)below(maker, 2));
	}
}

static void add_lone_work(struct maker *maker)
{
	for (unsigned int i = 0; i < 10; i++) {
		unsigned int at = maker->played->nr_calls;

		add_call(maker, 1, -1, UINT64_MAX, below(maker, PLAYED_TIME - 500));
		if (at < maker->played->nr_calls && !maker->played->calls[at].work) {
			maker->played->calls[at].work = PLAYED_KERNEL;
		}
	}
}

/* ---- rows ---- */

static int by_end(const void *a, const void *b)
{
	const struct played_op *const *x = a, *const *y = b;

	return (*x)->end < (*y)->end ? -1 : (*x)->end > (*y)->end;
}

static void write_ops(struct gen *gen, const struct played *played)
{
	const struct played_op *order[PLAYED_OPS];
	uint32_t names[4], user = gen_op_name(gen, "a range"),
			   loader = gen_op_name(gen, "enumerate(DataLoader)#x.__next__");

	for (unsigned int i = 0; i < 4; i++) {
		names[i] = gen_op_name(gen, played_names[i]);
	}
	for (unsigned int i = 0; i < played->nr_ops; i++) {
		order[i] = &played->ops[i];
	}
	qsort(order, played->nr_ops, sizeof(*order), by_end);
	for (unsigned int i = 0; i < played->nr_ops; i++) {
		struct gprof_row_op *row = gen_row(gen, GPROF_TABLE_op);

		row->begin = order[i]->begin;
		row->dur = order[i]->end;
		row->thread = row->end_thread = order[i]->thread;
		row->depth = (uint16_t)order[i]->depth;
		row->scope = order[i]->kind == PLAYED_USER ? 7 : 0;
		row->op_name = order[i]->kind == PLAYED_LOADER ? loader
			       : order[i]->kind == PLAYED_USER ? user
							       : names[order[i]->name];
	}
}

static void write_call(
	struct gen *gen, const struct played_call *call, uint16_t id, uint32_t number)
{
	static const unsigned int tables[] = {[PLAYED_NO_WORK] = GPROF_TABLE_api_sync,
		[PLAYED_KERNEL] = GPROF_TABLE_api_launch,
		[PLAYED_NCCL] = GPROF_TABLE_api_launch,
		[PLAYED_COPY] = GPROF_TABLE_api_copy,
		[PLAYED_SET] = GPROF_TABLE_api_set};
	struct gprof_row_api *row = gen_row(gen, tables[call->work]);

	row->begin = call->begin;
	row->dur = call->end;
	row->thread = call->thread;
	row->correlation = number;
	row->call = id;
}

static void write_work(
	struct gen *gen, const struct played_call *call, const uint32_t *places, uint32_t number)
{
	static const unsigned int tables[] = {[PLAYED_KERNEL] = GPROF_TABLE_kernel,
		[PLAYED_NCCL] = GPROF_TABLE_kernel,
		[PLAYED_COPY] = GPROF_TABLE_memcpy,
		[PLAYED_SET] = GPROF_TABLE_memset};
	struct gprof_row_kernel *row = gen_row(gen, tables[call->work]);

	row->begin = call->work_begin;
	row->dur = call->work_end;
	row->place = places[call->device];
	row->correlation = number;
	if (call->work == PLAYED_COPY) {
		struct gprof_row_memcpy *copy = (struct gprof_row_memcpy *)row;

		copy->bytes = 100;
		copy->copy_kind = 1;
		copy->src_kind = 1;
		copy->dst_kind = 3;
		copy->flags = call->is_async;
	} else if (call->work == PLAYED_SET) {
		((struct gprof_row_memset *)row)->flags = call->is_async;
	} else {
		row->shape = call->work == PLAYED_NCCL ? 2 : 1;
	}
}

static void write_shape(struct gen *gen, uint32_t id, const char *name)
{
	uint32_t string = gen_string(gen, name);
	struct gprof_row_shape *shape = gen_row(gen, GPROF_TABLE_shape);

	shape->id = id;
	shape->name = string;
}

static void write_steps(struct gen *gen, const struct played *played)
{
	for (unsigned int i = 0; i < played->nr_steps; i++) {
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		step->time = played->steps[i];
		step->step = i;
	}
	for (unsigned int i = 0; played->closed && i < 2; i++) {
		struct gprof_row_window *window = gen_row(gen, GPROF_TABLE_window);

		window->step = played->closed - 1 + i; /* numbers of rows count from 0 */
		window->time = played->steps[window->step];
		window->state = i ? GPROF_WINDOW_RECORD : GPROF_WINDOW_CLOSED;
	}
}

void played_make(struct played *played, uint64_t seed, const char *path)
{
	struct maker maker = {.played = played, .seed = seed};
	struct gen *gen = gen_open(path);
	uint32_t places[2] = {gen_place(gen, 0, 1, 7), gen_place(gen, 1, 2, 7)};
	uint16_t id = gen_call(gen, "cudaSomething", GPROF_API_RUNTIME);

	memset(played, 0, sizeof(*played));
	add_steps(&maker);
	add_lone_work(&maker);
	gen_info(gen, "cupti.version", "26");
	write_shape(gen, 1, "_Z4gemmIfEvPKT_S2_PS0_i");
	write_shape(gen, 2, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	write_ops(gen, played);
	for (unsigned int i = 0; i < played->nr_calls; i++) {
		if (played->calls[i].begin != UINT64_MAX) {
			write_call(gen, &played->calls[i], id, i + 1);
		}
		if (played->calls[i].work) {
			write_work(gen, &played->calls[i], places, i + 1);
		}
	}
	write_steps(gen, played);
	gen_close(gen, "exit");
}

/* ---- what is true of it ---- */

unsigned int played_step(const struct played *played, uint64_t time)
{
	for (unsigned int i = 1; i < played->nr_steps; i++) {
		if (time >= played->steps[i - 1] && time < played->steps[i]) {
			return i == played->closed || time < played->loop ? 0 : i;
		}
	}
	return 0;
}

int played_operator(const struct played *played, int op)
{
	while (op >= 0 && played->ops[op].kind != PLAYED_OP) {
		op = played->ops[op].parent;
	}
	return op;
}

int played_outer(const struct played *played, int op)
{
	return played_operator(played, played->ops[op].parent);
}

int played_outermost(const struct played *played, int op)
{
	int found = -1;

	for (op = played_operator(played, op); op >= 0; op = played_outer(played, op)) {
		found = op;
	}
	return found;
}

/* Unlike played_step, also before the loop and in what was not recorded. */
static unsigned int step_at(const struct played *played, uint64_t time)
{
	unsigned int step = 0;

	while (step < played->nr_steps && played->steps[step] <= time) {
		step++;
	}
	return step;
}

int played_place(const struct played *played, int op)
{
	const struct played_op *me = &played->ops[op];
	int place = 0;

	if (played_outer(played, op) >= 0) {
		return -1;
	}
	for (unsigned int i = 0; i < played->nr_ops; i++) {
		const struct played_op *other = &played->ops[i];

		place += other->kind == PLAYED_OP && other->name == me->name &&
			 other->thread == me->thread && other->begin < me->begin &&
			 played_outer(played, (int)i) < 0 &&
			 step_at(played, other->begin) == step_at(played, me->begin);
	}
	return place;
}

bool played_has_work(const struct played_call *call)
{
	return call->work && call->begin != UINT64_MAX;
}

static bool lies_in(const struct played *played, int op, int outer)
{
	while (op >= 0 && op != outer) {
		op = played->ops[op].parent;
	}
	return op >= 0;
}

uint64_t played_gpu_ns(const struct played *played, int op)
{
	uint64_t ns = 0;

	for (unsigned int c = 0; c < played->nr_calls; c++) {
		const struct played_call *call = &played->calls[c];

		if (played_has_work(call) && lies_in(played, call->op, op)) {
			ns += call->work_end - call->work_begin;
		}
	}
	return ns;
}
