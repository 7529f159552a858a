/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs NVTX rows into ranges, for the range views, the timeline and the operator walk. Two ways of
 * going through the rows need two mechanisms. The first half reads forwards: a stack of pushes for
 * each thread and domain, and a table of started ranges by ID. The second half reads from the last
 * row to the first, as op_walk does: there a pop comes first and waits for its push.
 *
 *   rows        push A   push B   pop    pop
 *   forwards    [A       [A B     B]     A]      a stack of pushes
 *   backwards   A]       [A B     [B     [A      a stack of pops
 */
#include "report/model/ranges.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/hash.h"

/* The open pushes of a thread in a domain. */
struct stack {
	uint64_t key; /* thread << 32 | domain */
	struct range *ranges;
	size_t nr_ranges, capacity;
	UT_hash_handle hh;
};

struct started {
	uint64_t id;
	struct range range;
	UT_hash_handle hh;
};

/* Ends kept until their begin comes; more stay unmatched. */
#define MAX_EARLY (1u << 16)

struct ranges {
	struct stack *stacks;
	struct started *started;
	struct started *early; /* ends without a begin so far; only the end is set */
	struct idmap domains;  /* uint32_t, name */
	struct idmap strings;  /* uint32_t, name of a registered string */
	uint64_t nr_unmatched;
};

struct ranges *ranges_create(void)
{
	struct ranges *ranges = mem_zeroed(1, sizeof(*ranges));

	idmap_init(&ranges->domains, sizeof(uint32_t));
	idmap_init(&ranges->strings, sizeof(uint32_t));
	return ranges;
}

void ranges_destroy(struct ranges *ranges)
{
	struct stack *stack, *next_stack;

	if (!ranges) {
		return;
	}
	HASH_ITER(hh, ranges->stacks, stack, next_stack)
	{
		HASH_DEL(ranges->stacks, stack);
		free(stack->ranges);
		free(stack);
	}
	hash_free(ranges->started);
	hash_free(ranges->early);
	idmap_fini(&ranges->domains);
	idmap_fini(&ranges->strings);
	free(ranges);
}

static uint32_t look_up(const struct idmap *map, uint64_t id)
{
	const uint32_t *name = id > UINT32_MAX ? NULL : idmap_get(map, (uint32_t)id);

	return name ? *name : 0;
}

/* Fills all members as for a mark; the row that ends a range later sets its end. */
static struct range make_range(const struct ranges *ranges, const struct process *process,
	const struct batch *b, uint32_t i)
{
	uint64_t registered = b->col[COL_nvtx_registered][i];

	return (struct range){.begin = b->col[COL_nvtx_time][i],
		.end = b->col[COL_nvtx_time][i],
		.thread = (uint32_t)b->col[COL_nvtx_thread][i],
		.domain = look_up(&ranges->domains, b->col[COL_nvtx_domain][i]),
		.name = registered ? look_up(&ranges->strings, registered)
				   : process_string(process, b->col[COL_nvtx_name][i]),
		.op = (uint8_t)b->col[COL_nvtx_op][i],
		.payload = b->col[COL_nvtx_payload][i],
		.payload_type = (uint8_t)b->col[COL_nvtx_payload_type][i]};
}

static struct stack *find_stack(struct ranges *ranges, const struct batch *b, uint32_t i)
{
	uint64_t key = b->col[COL_nvtx_thread][i] << 32 | (uint32_t)b->col[COL_nvtx_domain][i];
	struct stack *stack;

	hash_put(ranges->stacks, key, &key, stack);
	return stack;
}

static void push(struct stack *stack, const struct range *range)
{
	stack->ranges = array_grow(
		stack->ranges, stack->nr_ranges, &stack->capacity, sizeof(*stack->ranges));
	stack->ranges[stack->nr_ranges++] = *range;
}

static void start(struct ranges *ranges, uint64_t id, const struct range *range)
{
	struct started *started;

	HASH_FIND(hh, ranges->started, &id, sizeof(id), started);
	if (started) {
		ranges->nr_unmatched++; /* the id starts again: the range before it never ended */
	} else {
		started = mem_zeroed(1, sizeof(*started));
		started->id = id;
		HASH_ADD(hh, ranges->started, id, sizeof(started->id), started);
	}
	started->range = *range;
}

/*
 * A range may end on another thread, whose rows the recorder read first. Such an end counts as
 * unmatched until its begin comes.
 */
static void keep_end(struct ranges *ranges, uint64_t id, uint64_t tick)
{
	struct started *early;

	HASH_FIND(hh, ranges->early, &id, sizeof(id), early);
	if (!early && HASH_COUNT(ranges->early) < MAX_EARLY) {
		early = mem_zeroed(1, sizeof(*early));
		early->id = id;
		HASH_ADD(hh, ranges->early, id, sizeof(early->id), early);
	}
	if (early) {
		early->range.end = tick;
	}
}

/* Finds the end of the range that starts here, if it came already. */
static bool find_early_end(struct ranges *ranges, uint64_t id, struct range *range)
{
	struct started *early;
	bool is_its;

	HASH_FIND(hh, ranges->early, &id, sizeof(id), early);
	if (!early) {
		return false;
	}
	is_its = early->range.end >= range->begin;
	if (is_its) {
		range->end = early->range.end;
		ranges->nr_unmatched--;
	}
	HASH_DEL(ranges->early, early);
	free(early);
	return is_its;
}

/* Removes the range that ends in row i. False if it has not begun. */
static bool finish(struct ranges *ranges, const struct batch *b, uint32_t i, struct range *range)
{
	uint64_t id = b->col[COL_nvtx_range][i];
	struct started *started;
	struct stack *stack;

	if (b->col[COL_nvtx_op][i] == GPROF_NVTX_POP) {
		stack = find_stack(ranges, b, i);
		if (!stack->nr_ranges) {
			return false;
		}
		*range = stack->ranges[--stack->nr_ranges];
		return true;
	}
	HASH_FIND(hh, ranges->started, &id, sizeof(id), started);
	if (!started) {
		return false;
	}
	*range = started->range;
	HASH_DEL(ranges->started, started);
	free(started);
	return true;
}

static void name_id(struct idmap *map, uint64_t id, const struct process *process, uint64_t string)
{
	uint32_t *name = idmap_put(map, (uint32_t)id);

	*name = process_string(process, string);
}

/* True if the row is a name. */
static bool add_name(
	struct ranges *ranges, const struct process *process, const struct batch *b, uint32_t i)
{
	switch (b->col[COL_nvtx_op][i]) {
	case GPROF_NVTX_DOMAIN:
		name_id(&ranges->domains, b->col[COL_nvtx_domain][i], process,
			b->col[COL_nvtx_name][i]);
		return true;
	case GPROF_NVTX_STRING:
		name_id(&ranges->strings, b->col[COL_nvtx_registered][i], process,
			b->col[COL_nvtx_name][i]);
		return true;
	default:
		return false;
	}
}

void ranges_add_names(struct ranges *ranges, const struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		add_name(ranges, process, b, i);
	}
}

uint32_t ranges_name(const struct ranges *ranges, const struct process *process,
	const struct batch *b, uint32_t i)
{
	struct range range = make_range(ranges, process, b, i);

	return range_full_name(&range);
}

/* In the form of nsys. */
uint32_t range_full_name(const struct range *range)
{
	struct buf text = {0};
	size_t nr_bytes;
	const char *bytes;
	uint32_t name;

	if (!range->domain) {
		return range->name;
	}
	bytes = string_pool_text(range->domain, &nr_bytes);
	buf_add(&text, bytes, nr_bytes);
	buf_char(&text, ':');
	bytes = string_pool_text(range->name, &nr_bytes);
	buf_add(&text, bytes, nr_bytes);
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

/*
 * Ends without a begin are counted once, whether their begin comes later (find_early_end() takes
 * them back) or never.
 */
void ranges_add_batch(struct ranges *ranges, const struct process *process, const struct batch *b,
	void (*report)(void *context, const struct range *range), void *context)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct range range = make_range(ranges, process, b, i);

		switch (b->col[COL_nvtx_op][i]) {
		case GPROF_NVTX_PUSH:
			push(find_stack(ranges, b, i), &range);
			break;
		case GPROF_NVTX_START:
			if (find_early_end(ranges, b->col[COL_nvtx_range][i], &range)) {
				report(context, &range);
			} else {
				start(ranges, b->col[COL_nvtx_range][i], &range);
			}
			break;
		case GPROF_NVTX_POP:
		case GPROF_NVTX_END:
			if (!finish(ranges, b, i, &range)) {
				ranges->nr_unmatched++;
				if (b->col[COL_nvtx_op][i] == GPROF_NVTX_END) {
					keep_end(ranges, b->col[COL_nvtx_range][i],
						b->col[COL_nvtx_time][i]);
				}
				break;
			}
			range.end = b->col[COL_nvtx_time][i];
			report(context, &range);
			break;
		case GPROF_NVTX_MARK:
			report(context, &range);
			break;
		default:
			add_name(ranges, process, b, i); /* or that of a category or handle */
			break;
		}
	}
}

uint64_t ranges_nr_open(const struct ranges *ranges)
{
	const struct stack *stack;
	uint64_t nr_open = HASH_COUNT(ranges->started);

	for (stack = ranges->stacks; stack; stack = stack->hh.next) {
		nr_open += stack->nr_ranges;
	}
	return nr_open;
}

uint64_t ranges_nr_unmatched(const struct ranges *ranges)
{
	return ranges->nr_unmatched;
}

/* ---- from the last event to the first ---- */

/* The open pops of a thread in a domain, the innermost last. */
struct range_pops {
	uint64_t key; /* thread << 32 | domain */
	struct range_mark *marks;
	size_t nr_marks, capacity;
	UT_hash_handle hh;
};

static struct range_pops *find(struct range_walk *walk, uint32_t thread, uint32_t domain)
{
	uint64_t key = (uint64_t)thread << 32 | domain;
	struct range_pops *pops;

	hash_put(walk->pops, key, &key, pops);
	return pops;
}

void range_walk_fini(struct range_walk *walk)
{
	struct range_pops *pops, *next;

	HASH_ITER(hh, walk->pops, pops, next)
	{
		HASH_DEL(walk->pops, pops);
		free(pops->marks);
		free(pops);
	}
}

void range_walk_pop(
	struct range_walk *walk, uint32_t thread, uint32_t domain, const struct range_mark *pop)
{
	struct range_pops *pops = find(walk, thread, domain);

	pops->marks =
		array_grow(pops->marks, pops->nr_marks, &pops->capacity, sizeof(*pops->marks));
	pops->marks[pops->nr_marks++] = *pop;
}

bool range_walk_push(
	struct range_walk *walk, uint32_t thread, uint32_t domain, struct range_mark *pop)
{
	struct range_pops *pops = find(walk, thread, domain);

	if (!pops->nr_marks) {
		return false;
	}
	*pop = pops->marks[--pops->nr_marks];
	return true;
}
