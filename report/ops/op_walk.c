/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over operators: the pass beside scan.c, for all views that need nesting. op_load.c hands
 * it events from the last end to the first, and it keeps a stack of open operators for each thread.
 *
 *   time      --->   A begins   B begins  call  B ends   C begins  C ends   A ends
 *   rows written                                call, B,           C,       A
 *   events read                                 A, C, B, call
 *
 *   event     stack      what happens
 *   A         A          enter(A)
 *   C         A C        enter(C): it ends before A ends and begins after A begins
 *   B         A B        C began after B began, so C does not contain it: op(C), then enter(B)
 *   call      A B        its GPU time is B's, the innermost operator that contains it
 *   (last)    -          op(B), op(A): an operator that is popped adds its sums to its parent
 *
 * Backwards, an operator is known before its content, so each event finds its parents at once, and
 * nothing needs to be kept but the stack. Phases are found on the way, by names (phase.c).
 */
#include "report/ops/op_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/ops/convolution.h"
#include "report/ops/graph_launch.h"
#include "report/ops/loop.h"
#include "report/ops/op_load.h"
#include "report/ops/op_walk_stack.h"
#include "report/util/buf.h"
#include "report/model/model.h"
#include "report/util/progress.h"
#include "report/util/string_pool.h"
#include "report/model/ranges.h"
#include "report/model/select.h"

/* ---- the walk ---- */

/* The views that set a function of op_view: most set few, and there are many events. */
struct view_list {
	struct listed_view {
		const struct op_view *view;
		void *context;
		uint8_t filter; /* only operators with this bit in `wanted`; 0: all */
	} * views;
	size_t nr, capacity;
	size_t nr_whole; /* the first ones, which want all operators */
	uint8_t filters; /* of the others */
};

/* The filters of views by names of operators. op_kinds has the answers. */
#define MAX_FILTERS 8u
struct filters {
	bool (*wants[MAX_FILTERS])(uint32_t name, uint8_t framework, uint8_t scope);
	unsigned int nr;
};

struct walk {
	struct process *process;
	const struct op_walk *views;
	size_t nr_views;
	struct view_list op[OP_IS_ALL + 1]; /* by kind of operator */
	struct view_list enter, replay, gpu_call, alloc, call, record, range, collection;
	struct filters filters;
	struct idmap stacks; /* struct op_stack by thread */
	uint32_t last_thread;
	size_t last_stack; /* its index */
	struct range_walk ranges;
	struct phases phases;
	struct convolution_outputs outputs;
	uint32_t call_step;  /* of the last call */
	bool is_call_chosen; /* that call is selected */
	uint32_t loop_thread;
	bool has_ops; /* else there are no phases */
	bool has_convolutions;
	bool has_stacks; /* of Python */
	struct op_load_want want;
	struct op_records records; /* that no call has removed yet */
	struct graph_nodes graphs;
	bool is_first; /* of two: it finds what graph nodes belong to, and calls no view */
};

/*
 * Views without a filter stand first, so that an operator that no filter wants ends the list
 * early.
 */
static void add_filtered(struct view_list *view_list, const struct op_walk *view, uint8_t filter)
{
	view_list->views = array_grow(
		view_list->views, view_list->nr, &view_list->capacity, sizeof(*view_list->views));
	if (!filter) {
		memmove(&view_list->views[view_list->nr_whole + 1],
			&view_list->views[view_list->nr_whole],
			(view_list->nr - view_list->nr_whole) * sizeof(*view_list->views));
	}
	view_list->views[filter ? view_list->nr : view_list->nr_whole++] =
		(struct listed_view){view->view, view->context, filter};
	view_list->filters |= filter;
	view_list->nr++;
}

static void add_view(struct view_list *view_list, bool is_set, const struct op_walk *view)
{
	if (is_set) {
		add_filtered(view_list, view, 0);
	}
}

/* The bit of a new filter; 0, for all, without a function or where there are too many. */
static uint8_t add_filter(
	struct filters *filters, bool (*wants)(uint32_t name, uint8_t framework, uint8_t scope))
{
	if (!wants || filters->nr == MAX_FILTERS) {
		return 0;
	}
	filters->wants[filters->nr] = wants;
	return (uint8_t)(1u << filters->nr++);
}

static void find_op_views(struct walk *walk, const struct op_walk *view)
{
	uint8_t filter = add_filter(&walk->filters, view->view->op_wants);

	for (unsigned int is = 0; is <= OP_IS_ALL; is++) {
		if (!view->view->op_is || (view->view->op_is & is)) {
			add_filtered(&walk->op[is], view, filter);
		}
	}
}

static void forget_answers(void)
{
	for (size_t i = 0; i < OP_KINDS; i++) {
		op_kinds[i].is_asked = false;
	}
}

/* Answers of an earlier walk are of other filters. */
static void find_views(struct walk *walk)
{
	forget_answers();
	for (size_t i = 0; i < walk->nr_views; i++) {
		const struct op_view *view = walk->views[i].view;

		if (view->op && (!view->has_ops || view->has_ops(walk->process))) {
			find_op_views(walk, &walk->views[i]);
		}
		if (view->enter) {
			add_filtered(&walk->enter, &walk->views[i],
				add_filter(&walk->filters, view->enter_wants));
		}
		add_view(&walk->replay, view->replay != NULL, &walk->views[i]);
		add_view(&walk->gpu_call, view->gpu_call != NULL, &walk->views[i]);
		add_view(&walk->alloc, view->alloc != NULL, &walk->views[i]);
		add_view(&walk->call, view->call != NULL, &walk->views[i]);
		add_view(&walk->record, view->record != NULL, &walk->views[i]);
		add_view(&walk->range, view->range != NULL, &walk->views[i]);
		add_view(&walk->collection, view->collection != NULL, &walk->views[i]);
	}
}

static void free_views(struct walk *walk)
{
	for (unsigned int is = 0; is <= OP_IS_ALL; is++) {
		free(walk->op[is].views);
	}
	free(walk->enter.views);
	free(walk->replay.views);
	free(walk->gpu_call.views);
	free(walk->alloc.views);
	free(walk->call.views);
	free(walk->record.views);
	free(walk->range.views);
	free(walk->collection.views);
}

/* ---- operators that end ---- */

/* Calls all views that set it; for what is not selected, only those that ignore the selection. */
#define NOTIFY(walk, is_chosen, callback, ...)                                  \
	do {                                                                    \
		const struct view_list *to_views_ = &(walk)->callback;          \
                                                                                \
		for (size_t i_ = 0; i_ < to_views_->nr; i_++) {                 \
			const struct listed_view *to_ = &to_views_->views[i_];  \
                                                                                \
			if ((is_chosen) || to_->view->ignores_selection) {      \
				to_->view->callback(to_->context, __VA_ARGS__); \
			}                                                       \
		}                                                               \
	} while (0)

static inline bool is_chosen_tick(const struct walk *walk, uint64_t tick)
{
	return !walk->process->select || select_has_tick(walk->process, tick);
}

/* Counts the views of a list, from the first, that may want the operator. */
static inline size_t nr_wanting(const struct view_list *list, const struct op *op)
{
	return op->wanted & list->filters ? list->nr : list->nr_whole;
}

static inline bool is_wanted(const struct listed_view *view, const struct op *op, bool is_chosen)
{
	return (!view->filter || (view->filter & op->wanted)) &&
	       (is_chosen || view->view->ignores_selection);
}

static void call_op(struct walk *walk, const struct op *op)
{
	const struct view_list *list = &walk->op[op->is & OP_IS_ALL];
	bool is_chosen = is_chosen_tick(walk, op->begin);

	for (size_t i = 0, nr = nr_wanting(list, op); i < nr; i++) {
		if (is_wanted(&list->views[i], op, is_chosen)) {
			list->views[i].view->op(list->views[i].context, op);
		}
	}
}

static void enter_views(struct walk *walk, size_t nr, const struct op *op)
{
	const struct view_list *list = &walk->enter;
	bool is_chosen = is_chosen_tick(walk, op->begin);

	for (size_t i = 0; i < nr; i++) {
		if (is_wanted(&list->views[i], op, is_chosen)) {
			list->views[i].view->enter(list->views[i].context, op);
		}
	}
}

static inline void call_enter(struct walk *walk, const struct op *op)
{
	size_t nr = nr_wanting(&walk->enter, op);

	if (nr) {
		enter_views(walk, nr, op);
	}
}

/*
 * Where nodes are not recorded, the calls around a capture show what lies in it. What launched
 * nothing there was captured.
 */
static bool is_captured(const struct walk *walk, const struct op *op)
{
	const struct graph_capture *capture;

	if (walk->graphs.nr_nodes || !walk->graphs.nr_captures || op->nr_activities) {
		return false;
	}
	capture = graph_nodes_capture(&walk->graphs, op->begin, op->thread);
	return capture && op->end <= capture->end;
}

static void leave(struct walk *walk, struct op_stack *stack)
{
	struct op *op = op_stack_pop(stack);

	op->is |= is_captured(walk, op) ? OP_IS_CAPTURED : 0;
	call_op(walk, op);
}

/* Closes operators that began after the event and so do not contain it. */
static void leave_others(struct walk *walk, struct op_stack *stack, const struct op_event *event)
{
	while (op_stack_ends_before(stack, event)) {
		op_stack_keep_overlap(stack, event);
		leave(walk, stack);
	}
}

/* ---- kinds, phases ---- */

static uint8_t ask_filters(const struct filters *filters, const struct op *op)
{
	unsigned int wanted = 0;

	for (unsigned int i = 0; i < filters->nr; i++) {
		if (filters->wants[i](op->name, op->framework, op->scope)) {
			wanted |= 1u << i;
		}
	}
	return (uint8_t)wanted;
}

/* An operator that lies in no other one is entered whatever its name is. */
static inline uint8_t find_wanted(const struct walk *walk, struct op_kind *kind, struct op *op)
{
	if (__builtin_expect(!kind->is_asked, 0)) {
		kind->is_asked = true;
		kind->wanted = ask_filters(&walk->filters, op);
	}
	return op->is & OP_IS_COVERED ? kind->wanted : kind->wanted | walk->enter.filters;
}

/* An operator is covered unless only modules, steps and users' ranges lie around it. */
static inline const struct op_kind *find_kind(const struct walk *walk, struct op *op)
{
	struct op_kind *kind = op_kind(op->name, op->framework, op->scope);

	op->is = kind->is;
	if (op->parent) {
		unsigned int outer = op->parent->is;

		op->is |= outer & (OP_IS_MODULE | OP_IS_IN_MODULE) ? OP_IS_IN_MODULE : 0;
		op->is |= (outer & (OP_IS_AROUND | OP_IS_COVERED)) == OP_IS_AROUND ? 0
										   : OP_IS_COVERED;
	}
	if (op->py_stack || walk->has_stacks) {
		op->is |= OP_IS_STACKED;
	}
	op->wanted = find_wanted(walk, kind, op);
	return kind;
}

/* Modules have no phase of their own: what lies in them has. */
static void set_inner_segment(struct op_stack *stack, uint32_t segment)
{
	for (size_t i = stack->nr_ops; i-- > 0;) {
		struct op *op = stack->ops[i];

		if (op_stack_is_module(op)) {
			if (op->inner_segment != UINT32_MAX) {
				return;
			}
			op->inner_segment = segment;
		}
	}
}

/*
 * An operator inherits the phase of its parent unless its own class breaks out of it. Autograd has
 * threads of its own; all other phases are those of the loop's thread.
 */
static void find_phase(struct walk *walk, struct op_stack *stack, struct op *op)
{
	const struct op_kind *kind = find_kind(walk, op);
	enum op_class class = (enum op_class)kind->class;

	op->phase = op->parent ? op->parent->phase : OP_RANGE;
	op->segment = op->parent ? op->parent->segment : UINT32_MAX;
	walk->phases.is_static |= kind->is_executor;
	if (op_class_breaks_out(op->phase, class) &&
		(op->thread == walk->loop_thread || op_class_is_backward(class))) {
		op->phase = (uint8_t) class;
		op->segment = phases_add(&walk->phases, class, op->begin, op->end);
	} else if (op->thread == walk->loop_thread) {
		phases_go_on(&walk->phases, (enum op_class)op->phase);
	}
	if (op->segment != UINT32_MAX && (op->is & OP_IS_IN_MODULE)) {
		set_inner_segment(stack, op->segment);
	}
}

/* ---- events ---- */

/*
 * The stack of the thread is first cut to what contains the event; then the operator is its new
 * top.
 */
static void on_op(struct walk *walk, struct op_stack *stack, const struct op_event *event)
{
	const struct op *parent;
	struct op *op;

	if (event->is_async) { /* ended on another thread: it is not nested */
		struct op no_call;

		op_stack_read(&no_call, event);
		no_call.segment = UINT32_MAX;
		find_kind(walk, &no_call);
		call_enter(walk, &no_call);
		call_op(walk, &no_call);
		return;
	}
	leave_others(walk, stack, event);
	parent = op_stack_top(stack);
	op = op_stack_push(stack);
	op_stack_read(op, event);
	op->parent = parent;
	find_phase(walk, stack, op);
	if (!op_stack_is_module(op)) {
		op_stack_take(stack, op);
	}
	if (walk->has_convolutions && op->shape) {
		convolution_outputs_take(&walk->outputs, &stack->later, op);
	}
	call_enter(walk, op);
}

/* An activity of a graph as if the captured code had launched it. */
static void call_graph_record(struct walk *walk, const struct op_record *removed,
	const struct op_call *launch, const struct op *around, bool is_chosen)
{
	struct graph_node *node =
		graph_nodes_find(&walk->graphs, removed->graph_node, launch->begin);
	struct op_record record = *removed;
	struct op_call call = *launch;

	record.is_capture_unknown = !node;
	if (node) {
		call.py_stack = node->py_stack ? node->py_stack : call.py_stack;
		call.segment = node->phase != PHASE_OTHERS ? node->segment : call.segment;
		around = graph_launch_op(node, around);
	}
	NOTIFY(walk, is_chosen, record, &record, &call, around);
}

/* call: NULL for records without one. */
static void call_record(struct walk *walk, uint32_t list, const struct op_call *call,
	const struct op *op, bool is_chosen)
{
	const struct op_record *removed;

	while ((removed = op_records_pop(&walk->records, &list))) {
		if (call && removed->graph_node && walk->graphs.is_known) {
			call_graph_record(walk, removed, call, op, is_chosen);
		} else {
			NOTIFY(walk, is_chosen, record, removed, call, op);
		}
	}
}

/* Calls that follow each other are mostly of one step. */
static uint32_t step_of_call(struct walk *walk, uint64_t tick)
{
	const struct model_step *steps = walk->process->steps;
	uint32_t step = walk->call_step;

	if (!step || step >= walk->phases.nr_steps - 1 || tick < steps[step - 1].tick ||
		tick >= steps[step].tick) {
		walk->call_step = phases_step(&walk->phases, tick);
	}
	return walk->call_step;
}

static void call_call(struct walk *walk, const struct op_event *event, const struct op *op,
	uint32_t segment, bool is_chosen)
{
	const struct op_call call = {.begin = event->begin,
		.end = event->end,
		.thread = event->thread,
		.correlation = event->correlation,
		.call = event->call,
		.result = event->result,
		.handle = event->handle,
		.step = step_of_call(walk, event->begin),
		.py_stack = event->py_stack,
		.native_stack = event->native_stack,
		.segment = segment,
		.table = event->table};

	NOTIFY(walk, is_chosen, call, &call, op);
	call_record(walk, event->records, &call, op, is_chosen);
}

/* For graph_launch.h; the views get what is not selected only if they ignore that. */
static void call_gpu_call(void *context, const struct op_gpu_call *call, const struct op *op)
{
	struct walk *walk = context;

	NOTIFY(walk, walk->is_call_chosen, gpu_call, call, op);
}

/* Views with `op_is` get no others here, either. */
static void call_replays(struct walk *walk, bool is_chosen)
{
	const struct op *op;

	while ((op = graph_nodes_next_run(&walk->graphs))) {
		for (size_t i = 0; i < walk->replay.nr; i++) {
			const struct listed_view *to = &walk->replay.views[i];

			if ((is_chosen || to->view->ignores_selection) &&
				(!to->view->op_is || (to->view->op_is & op->is))) {
				to->view->replay(to->context, op);
			}
		}
	}
}

/*
 * Adds to the phase what an operator launched, or what was launched outside of all. Returns the
 * segment.
 */
static uint32_t add_activities(struct walk *walk, const struct op_event *event,
	const struct graph_launch *launched, struct op_stack *stack)
{
	struct op *op = op_stack_top(stack), *module = op_stack_module(stack);
	uint32_t segment = UINT32_MAX;

	if (op) {
		op->gpu_self_ns += event->value - launched->captured_ns;
		op->gpu_total_ns += launched->captured_ns;
		op->graph_self_ns += launched->graph_ns;
		op->nr_activities += event->nr_activities - launched->nr_captured;
		segment = op->segment;
	}
	if (module) {
		module->module_gpu_ns += launched->module_ns;
	}
	if (walk->has_ops && segment == UINT32_MAX && event->thread == walk->loop_thread) {
		segment = phases_add(&walk->phases, OP_OTHER, event->begin, event->end);
	}
	phases_add_gpu(&walk->phases, segment, event->begin,
		&(struct phase_gpu){event->value - launched->phased.ns,
			event->nr_activities - launched->phased.nr_activities,
			event->is_communication});
	return segment;
}

/* The first of two walks notes captures, and the Python stack of the call around a node. */
static void note_call(struct walk *walk, struct op_stack *stack, const struct op_event *event)
{
	uint32_t name = process_call_name(walk->process, event->call, NULL);

	if (graph_call_ends_capture(name)) {
		stack->capture_end = event->begin;
	} else if (graph_call_begins_capture(name) && stack->capture_end) {
		graph_nodes_add_capture(&walk->graphs, &(struct graph_capture){.begin = event->end,
							       .end = stack->capture_end,
							       .thread = event->thread});
		stack->capture_end = 0;
	}
	stack->call_begin = event->begin;
	stack->call_stack = event->py_stack;
}

/* Hands out what a call launched. Returns the segment that has it. */
static uint32_t on_launch(
	struct walk *walk, struct op_stack *stack, const struct op_event *event, bool is_chosen)
{
	struct graph_launch launched = {.graphs = &walk->graphs,
		.phases = &walk->phases,
		.tick = event->begin,
		.is_chosen = is_chosen,
		.gpu_call = call_gpu_call,
		.context = walk,
		.around = op_stack_top(stack),
		.own = {event->value, event->nr_activities, event->py_stack}};
	uint32_t segment = launched.around ? launched.around->segment : UINT32_MAX;

	if (event->records && walk->graphs.nr_links) {
		graph_launch_divide(&launched, &walk->records, event->records);
	}
	if (event->nr_activities) {
		segment = add_activities(walk, event, &launched, stack);
	}
	if (launched.own.nr_activities || event->py_stack) {
		call_gpu_call(walk, &launched.own, launched.around);
	}
	return segment;
}

/* The sums of the stack are running totals, of which ranges take differences. */
static void on_call(struct walk *walk, struct op_stack *stack, const struct op_event *event)
{
	bool is_chosen = is_chosen_tick(walk, event->begin);
	const struct op *around;
	uint32_t segment;

	if (walk->is_first) {
		note_call(walk, stack, event);
	}
	stack->gpu_ns += event->value;
	stack->nr_activities += event->nr_activities;
	leave_others(walk, stack, event);
	around = op_stack_top(stack);
	segment = around ? around->segment : UINT32_MAX;
	walk->is_call_chosen = is_chosen;
	if (event->nr_activities || event->py_stack || event->records) {
		segment = on_launch(walk, stack, event, is_chosen);
	}
	if (walk->want.has_calls || walk->want.records) {
		call_call(walk, event, around, segment, is_chosen);
	}
	call_replays(walk, is_chosen);
}

/* The operators inside the capture launched nothing themselves: launches of the graph ran it. */
static void on_node(struct walk *walk, struct op_stack *stack, const struct op_event *event)
{
	struct graph_node *node = graph_nodes_created(&walk->graphs, event->value, event->begin);

	leave_others(walk, stack, event);
	if (!node) {
		return;
	}
	if (walk->is_first) {
		node->py_stack = event->begin >= stack->call_begin ? stack->call_stack : 0;
		graph_nodes_keep(&walk->graphs, node, stack->ops, stack->nr_ops);
		return;
	}
	stack->graph_ns += node->ns;
	stack->nr_in_graphs += node->nr_activities;
	for (size_t i = stack->nr_ops; i-- > 0 && stack->ops[i]->begin >= node->capture_begin;) {
		stack->ops[i]->is |= OP_IS_CAPTURED;
	}
}

static void on_alloc(struct walk *walk, struct op_stack *stack, const struct op_event *event)
{
	const struct op_alloc alloc = {.tick = event->begin,
		.address = event->address,
		.bytes = (int64_t)event->value,
		.device_type = event->scope,
		.device = event->device,
		.phases = &walk->phases};
	bool is_chosen = is_chosen_tick(walk, event->begin);

	leave_others(walk, stack, event);
	NOTIFY(walk, is_chosen, alloc, &alloc, op_stack_top(stack));
}

static void on_pop(struct walk *walk, struct op_stack *stack, const struct op_event *event)
{
	const struct range_mark pop = {event->end, stack->gpu_ns, stack->nr_activities,
		stack->graph_ns, stack->nr_in_graphs};

	range_walk_pop(&walk->ranges, event->thread, (uint32_t)event->value, &pop);
}

/*
 * Both marks have the running totals of the thread; their difference is what it launched in
 * between. A range inside a capture has what launches of the graph ran of it, too.
 */
static void on_push(struct walk *walk, struct op_stack *stack, const struct op_event *event)
{
	struct op_range range;
	struct range_mark pop;

	if (!range_walk_push(&walk->ranges, event->thread, (uint32_t)event->value, &pop)) {
		return;
	}
	leave_others(walk, stack, event);
	range = (struct op_range){.begin = event->begin,
		.end = pop.tick,
		.thread = event->thread,
		.name = event->name,
		.gpu_ns = stack->gpu_ns - pop.gpu_ns,
		.nr_activities = stack->nr_activities - pop.nr_activities,
		.op = op_stack_top(stack)};
	if (graph_nodes_capture(&walk->graphs, event->begin, event->thread)) {
		range.gpu_ns += stack->graph_ns - pop.graph_ns;
		range.nr_activities += stack->nr_in_graphs - pop.nr_in_graphs;
	}
	NOTIFY(walk, select_has_tick(walk->process, event->begin), range, &range);
}

static const char collection_text[] = "garbage collection of generation ";

bool op_collection_read(const char *text, size_t nr_bytes, uint8_t *generation)
{
	size_t i = sizeof(collection_text) - 1;
	unsigned int number = 0;

	if (nr_bytes <= i || memcmp(text, collection_text, i) != 0) {
		return false;
	}
	for (; i < nr_bytes && text[i] >= '0' && text[i] <= '9' && number <= UINT8_MAX; i++) {
		number = number * 10 + (unsigned int)(text[i] - '0');
	}
	*generation = (uint8_t)number;
	return i == nr_bytes && number <= UINT8_MAX;
}

bool op_is_collection(uint32_t name)
{
	size_t nr_bytes;
	const char *text = string_pool_text(name, &nr_bytes);
	uint8_t generation;

	return op_collection_read(text, nr_bytes, &generation);
}

uint32_t op_collection_name(uint8_t generation)
{
	char name[64];
	int nr_bytes = snprintf(name, sizeof(name), "%s%u", collection_text, generation);

	return string_pool_intern(name, (size_t)nr_bytes);
}

static void on_collection(struct walk *walk, struct op_stack *stack, const struct op_event *event)
{
	struct op_collection collection = {.collected = event->value,
		.uncollectable = event->handle,
		.generation = event->scope,
		.step = step_of_call(walk, event->begin)};
	struct op *op = &collection.op;

	leave_others(walk, stack, event);
	*op = (struct op){.begin = event->begin,
		.end = event->end,
		.thread = event->thread,
		.name = op_collection_name(event->scope),
		.framework = GPROF_FRAMEWORK_PYTHON,
		.parent = op_stack_top(stack)};
	NOTIFY(walk, is_chosen_tick(walk, event->begin), collection, &collection);
}

/* The rows of a thread are adjacent. */
static struct op_stack *stack_of(struct walk *walk, uint32_t thread)
{
	if (!walk->stacks.nr || walk->last_thread != thread) {
		idmap_put(&walk->stacks, thread);
		walk->last_thread = thread;
		walk->last_stack = (size_t)idmap_find(&walk->stacks, thread);
	}
	return idmap_at(&walk->stacks, walk->last_stack);
}

static void on_event(void *context, const struct op_event *event)
{
	struct walk *walk = context;
	struct op_stack *stack;

	if (event->kind == OP_EVENT_NO_CALL) {
		/* They are in no step. */
		call_record(walk, event->records, NULL, NULL, !walk->process->select);
		return;
	}
	stack = stack_of(walk, event->thread);
	switch (event->kind) {
	case OP_EVENT_OP:
		on_op(walk, stack, event);
		break;
	case OP_EVENT_CALL:
		on_call(walk, stack, event);
		break;
	case OP_EVENT_PUSH:
		on_push(walk, stack, event);
		break;
	case OP_EVENT_POP:
		on_pop(walk, stack, event);
		break;
	case OP_EVENT_NODE:
		on_node(walk, stack, event);
		break;
	case OP_EVENT_COLLECTION:
		on_collection(walk, stack, event);
		break;
	default:
		on_alloc(walk, stack, event);
		break;
	}
}

/* ---- processes ---- */

static void leave_all(struct walk *walk)
{
	for (size_t i = 0; i < walk->stacks.nr; i++) {
		struct op_stack *stack = idmap_at(&walk->stacks, i);

		while (op_stack_top(stack)) {
			leave(walk, stack);
		}
		op_stack_fini(stack);
	}
	idmap_fini(&walk->stacks);
}

bool op_view_is_set(const struct op_view *view)
{
	return view->enter || view->op || view->replay || view->alloc || view->range ||
	       view->gpu_call || view->call || view->record || view->collection || view->end;
}

/* The columns and events that the views want of the load. */
static struct op_load_want find_want(const struct process *process, const struct op_walk *views,
	size_t nr_views, struct op_records *records)
{
	struct op_load_want want = {0};

	for (size_t i = 0; i < nr_views; i++) {
		const struct op_view *view = views[i].view;

		want.has_ranges |= view->range != NULL;
		want.has_calls |= view->call != NULL;
		want.has_collections |= view->collection != NULL;
		want.has_allocs |= view->alloc && (!view->has_allocs || view->has_allocs(process));
		want.records = view->record ? records : want.records;
	}
	return want;
}

/* The parts of a walk that are not the views'. */
static void run(struct walk *walk)
{
	struct process *process = walk->process;

	idmap_init(&walk->stacks, sizeof(struct op_stack));
	phases_init(&walk->phases, process);
	walk->has_ops = op_has_any(process);
	walk->has_convolutions = op_has_convolutions(process);
	walk->has_stacks = process->py_stacks.nr != 0;
	walk->loop_thread = loop_thread(process);
	op_load_run(process, &walk->want, on_event, walk);
	leave_all(walk);
	convolution_outputs_fini(&walk->outputs);
	range_walk_fini(&walk->ranges);
	op_records_fini(&walk->records);
	phases_finish(&walk->phases);
}

/*
 * Backwards, a graph's launches come before its capture. So where there are graphs, another walk
 * comes first, which finds out what their nodes belong to, or at least what was captured.
 */
static void find_graphs(struct walk *walk)
{
	struct walk first = {.process = walk->process,
		.want = {.has_calls = true, .has_nodes = true},
		.is_first = true};

	graph_nodes_read(&first.graphs, walk->process);
	if (first.graphs.nr_nodes || graph_nodes_has_captures(walk->process)) {
		run(&first);
		graph_nodes_finish(&first.graphs, &first.phases);
		phases_fini(&first.phases);
	}
	walk->graphs = first.graphs;
	if (walk->graphs.nr_links) {
		walk->want.has_nodes = true;
		walk->want.records = &walk->records;
	}
}

static void call_graph_members(struct walk *walk)
{
	for (size_t i = 0; i < walk->nr_views; i++) {
		const struct op_view *view = walk->views[i].view;

		if (view->graph_member) {
			graph_nodes_each_member(
				&walk->graphs, view->graph_member, walk->views[i].context);
		}
	}
}

/*
 * The process keeps the phases of segments after the walk, as other parts of a report ask for them
 * by the number of the segment. A view gets `end` when phases have their names.
 */
static void walk_process(struct process *process, const struct op_walk *views, size_t nr_views)
{
	struct walk walk = {.process = process, .views = views, .nr_views = nr_views};

	walk.want = find_want(process, views, nr_views, &walk.records);
	find_graphs(&walk);
	find_views(&walk);
	for (size_t i = 0; i < nr_views; i++) {
		if (views[i].view->begin) {
			views[i].view->begin(views[i].context, process);
		}
	}
	run(&walk);
	call_graph_members(&walk);
	free(process->segment_phases);
	process->segment_phases = walk.phases.phase_of;
	process->nr_segment_phases = walk.phases.nr_phase_of;
	walk.phases.phase_of = NULL;
	for (size_t i = 0; i < nr_views; i++) {
		if (views[i].view->end) {
			views[i].view->end(views[i].context, process, &walk.phases);
		}
	}
	phases_fini(&walk.phases);
	graph_nodes_fini(&walk.graphs);
	free_views(&walk);
}

void op_walk_run(struct process *const *processes, size_t nr_processes, const struct op_walk *walks,
	size_t nr_walks)
{
	struct op_records records = {0}; /* its address alone says that records are wanted */
	uint64_t nr_rows = 0;

	for (size_t i = 0; i < nr_processes; i++) {
		const struct op_load_want want = find_want(processes[i], walks, nr_walks, &records);

		nr_rows += op_load_nr_rows(processes[i], &want);
	}
	progress_start("reading operators", nr_rows);
	for (size_t i = 0; i < nr_processes; i++) {
		walk_process(processes[i], walks, nr_walks);
	}
	progress_stop();
}
