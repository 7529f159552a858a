/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples of an export: COMPOSITE_EVENTS has when a thread was sampled, SAMPLING_CALLCHAINS the
 * frames of the sample with that id, the innermost at depth 0. CUDA_CALLCHAINS and OSRT_CALLCHAINS
 * have those of calls in the same way. Frames become the stacks of our
 * format before the events are read, so that a sample only looks up its stack. A frame is of a
 * function, not of an address, as functions are all that the export names. Whether samples also
 * stand for time in the kernel is unknown: few are there, although threads ran there for long.
 */
#include "report/import/nsys/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/hash.h"
#include "report/util/sort.h"

/* Outer frames of deeper stacks are left out; the recorder has as many. */
#define MAX_FRAMES 127u
/* With more stacks than these, those that come again have new ids. */
#define MAX_STACKS (1u << 20)

struct frame {
	uint64_t address;
	uint32_t module, name; /* strings of the stream */
};

/* A stack by its innermost frame and the stack of its caller. */
struct stack {
	struct {
		uint32_t parent, module, name;
	} key;
	uint32_t id;
	UT_hash_handle hh;
};

/* The calls of a table that have chains, and the table of those. */
static const struct {
	const char *calls, *chains;
} call_tables[] = {{"CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA_CALLCHAINS"}, /* is_system: the next */
	{"OSRT_API", "OSRT_CALLCHAINS"}};

#define NR_CALL_TABLES (sizeof(call_tables) / sizeof(call_tables[0]))

struct nsys_samples {
	struct idmap stacks_of; /* uint32_t by the id of a sample */
	struct {
		struct idmap stacks; /* uint32_t by the id of a call's chain */
		uint64_t first;	     /* that of callchainId 0 */
	} calls[NR_CALL_TABLES];
	struct idmap files;	 /* uint32_t, by the module's string; set where it has a row */
	struct idmap unresolved; /* uint32_t: the name of its unresolved frames, by the same */
	struct stack *stacks;
	uint32_t nr_stacks;
	uint64_t period_ns;
	struct frame frames[MAX_FRAMES]; /* of the current chain, innermost first */
	size_t nr_frames;
	uint64_t chain;
};

/* ---- how long a sample stands for ---- */

struct gaps {
	struct idmap last; /* uint64_t, tick of the thread's last sample */
	uint64_t *ns;
	size_t nr, capacity;
};

static void take_time(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	struct gaps *gaps = context;
	uint64_t tick, *last;

	(void)trace;
	if (!nsys_tick(query, 0, &tick)) {
		return;
	}
	last = idmap_put(&gaps->last, nsys_query_u64(query, 1, 0));
	if (*last) {
		gaps->ns = array_grow(gaps->ns, gaps->nr, &gaps->capacity, sizeof(*gaps->ns));
		gaps->ns[gaps->nr++] = tick - *last;
	}
	*last = tick;
}

/*
 * The export does not say it: it is the median time between samples of one thread; 0: no thread has
 * two. Returns whether there are samples.
 */
static bool find_period(struct nsys_trace *trace)
{
	static const char *const columns[] = {"start", "globalTid"};
	const struct nsys_query_want want = {.table = "COMPOSITE_EVENTS",
		NSYS_COLUMNS(columns),
		.nr_needed = 2,
		.key = "globalTid",
		.order = "1"};
	struct gaps gaps = {0};
	bool has_samples;

	idmap_init(&gaps.last, sizeof(uint64_t));
	nsys_table_read(trace, &want, take_time, &gaps);
	if (gaps.nr) {
		qsort(gaps.ns, gaps.nr, sizeof(*gaps.ns), by_u64);
		trace->samples->period_ns = gaps.ns[gaps.nr / 2];
	}
	has_samples = gaps.last.nr > 0;
	free(gaps.ns);
	idmap_fini(&gaps.last);
	return has_samples;
}

/* ---- stacks ---- */

static uint32_t file_of(struct nsys_trace *trace, uint32_t module)
{
	uint32_t *file = idmap_put(&trace->samples->files, module);
	struct gprof_row_code_file *row;

	if (!*file) {
		*file = (uint32_t)trace->samples->files.nr;
		row = import_out_row(trace->out, GPROF_TABLE_code_file);
		row->id = *file;
		row->path = module;
	}
	return *file;
}

static uint32_t add_stack(struct nsys_trace *trace, uint32_t parent, const struct frame *frame)
{
	struct nsys_samples *samples = trace->samples;
	struct stack wanted, *stack;
	struct gprof_row_native_stack *row;

	memset(&wanted, 0, sizeof(wanted));
	wanted.key.parent = parent;
	wanted.key.module = frame->module;
	wanted.key.name = frame->name;
	if (HASH_COUNT(samples->stacks) >= MAX_STACKS) {
		hash_free(samples->stacks);
	}
	hash_put(samples->stacks, key, &wanted.key, stack);
	if (!stack->id) {
		uint32_t file = frame->module ? file_of(trace, frame->module) : 0;

		stack->id = ++samples->nr_stacks;
		row = import_out_row(trace->out, GPROF_TABLE_native_stack);
		row->id = stack->id;
		row->parent = parent;
		row->code_file = file;
		row->address = frame->address;
		row->name = frame->name;
	}
	return stack->id;
}

static void end_chain(struct nsys_trace *trace, struct idmap *stacks)
{
	struct nsys_samples *samples = trace->samples;
	uint32_t stack = 0;

	while (samples->nr_frames) {
		stack = add_stack(trace, stack, &samples->frames[--samples->nr_frames]);
	}
	if (stack) {
		*(uint32_t *)idmap_put(stacks, samples->chain) = stack;
	}
}

/* "libcuda.so.525 (unresolved)": nsys has the frame's address as its name. */
static uint32_t unresolved_name(
	struct nsys_trace *trace, uint32_t module, const char *path, size_t nr_path)
{
	uint32_t *name = idmap_put(&trace->samples->unresolved, module);
	const char *slash = path ? memrchr(path, '/', nr_path) : NULL;
	struct buf text = {0};

	if (!*name) {
		buf_add(&text, slash ? slash + 1 : path,
			slash ? (size_t)(path + nr_path - slash - 1) : nr_path);
		buf_text(&text, text.nr_bytes ? " (unresolved)" : "(unresolved)");
		*name = import_out_string(trace->out, text.bytes, text.nr_bytes);
		buf_fini(&text);
	}
	return *name;
}

enum { ID, DEPTH, SYMBOL, MODULE, ADDRESS, UNRESOLVED };

static const char *const frame_columns[] = {
	"id", "stackDepth", "symbol", "module", "originalIP", "unresolved"};

static void take_frame(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	struct nsys_samples *samples = trace->samples;
	uint64_t chain = nsys_query_u64(query, ID, 0);
	struct frame frame = {.module = nsys_string(trace, query, MODULE),
		.address = nsys_query_u64(query, ADDRESS, 0)};
	int64_t module;

	if (chain != samples->chain) {
		end_chain(trace, context);
		samples->chain = chain;
	}
	if (!frame.address || samples->nr_frames == MAX_FRAMES) {
		return; /* a remark of nsys, as "[Broken backtraces]", or too deep */
	}
	frame.name = nsys_string(trace, query, SYMBOL);
	if (!frame.name || nsys_query_u64(query, UNRESOLVED, 0)) {
		size_t nr_bytes = 0;
		const char *path =
			nsys_query_integer(query, MODULE, &module)
				? nsys_database_string(trace->database, module, &nr_bytes)
				: NULL;

		frame.name = unresolved_name(trace, frame.module, path, nr_bytes);
	}
	samples->frames[samples->nr_frames++] = frame;
}

/* users: what has the ids of the chains, and a globalTid. */
static void read_chains(
	struct nsys_trace *trace, const char *table, const char *users, struct idmap *stacks)
{
	char where[160];
	const struct nsys_query_want want = {.table = table,
		NSYS_COLUMNS(frame_columns),
		.nr_needed = 4,
		.where = trace->is_only ? NULL : where,
		.order = "1, 2"};

	snprintf(where, sizeof(where), "id IN (SELECT %s WHERE globalTid >> %u = %llu)", users,
		NSYS_PROCESS_SHIFT, (unsigned long long)trace->process);
	nsys_table_read(trace, &want, take_frame, stacks);
	end_chain(trace, stacks);
}

static void count_row(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	(void)trace;
	(void)query;
	++*(uint64_t *)context;
}

static bool has_zero(struct nsys_trace *trace, const char *table, const char *column)
{
	char where[64];
	uint64_t nr = 0;
	const struct nsys_query_want want = {.table = table,
		.columns = &column,
		.nr_columns = 1,
		.nr_needed = 1,
		.where = where};

	snprintf(where, sizeof(where), "%s = 0", column);
	nsys_table_read(trace, &want, count_row, &nr);
	return nr != 0;
}

/* In exports of 2023, calls count chains from 0, and CUDA_CALLCHAINS has them from 1 on. */
static void read_call_chains(struct nsys_trace *trace, size_t which)
{
	const char *calls = call_tables[which].calls, *chains = call_tables[which].chains;
	bool is_shifted = has_zero(trace, calls, "callchainId") && !has_zero(trace, chains, "id");
	char users[64];

	idmap_init(&trace->samples->calls[which].stacks, sizeof(uint32_t));
	trace->samples->calls[which].first = is_shifted;
	snprintf(users, sizeof(users), "callchainId + %d FROM %s", is_shifted, calls);
	read_chains(trace, chains, users, &trace->samples->calls[which].stacks);
}

void nsys_samples_read(struct nsys_trace *trace)
{
	trace->samples = mem_zeroed(1, sizeof(*trace->samples));
	idmap_init(&trace->samples->stacks_of, sizeof(uint32_t));
	idmap_init(&trace->samples->files, sizeof(uint32_t));
	idmap_init(&trace->samples->unresolved, sizeof(uint32_t));
	if (find_period(trace)) {
		read_chains(trace, "SAMPLING_CALLCHAINS", "id FROM COMPOSITE_EVENTS",
			&trace->samples->stacks_of);
	}
	for (size_t i = 0; i < NR_CALL_TABLES; i++) {
		read_call_chains(trace, i);
	}
}

uint32_t nsys_samples_call_stack(const struct nsys_trace *trace, uint64_t chain, bool is_system)
{
	const struct nsys_samples *samples = trace->samples;
	const uint32_t *stack = chain == NSYS_NO_CHAIN
					? NULL
					: idmap_get(&samples->calls[is_system].stacks,
						  chain + samples->calls[is_system].first);

	return stack ? *stack : 0;
}

/* ---- samples ---- */

const char *const nsys_sample_columns[NSYS_SAMPLE_COLUMNS] = {"start", "start", "globalTid", "id"};

void nsys_samples_take(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	struct nsys_thread *thread = nsys_thread_of(trace, nsys_query_u64(query, 2, 0), tick);
	const uint32_t *stack = idmap_get(&trace->samples->stacks_of, nsys_query_u64(query, 3, 0));
	struct gprof_row_cpu_sample *row = import_out_row(trace->out, GPROF_TABLE_cpu_sample);

	row->time = tick;
	row->ns = trace->samples->period_ns;
	row->task = thread->tid;
	row->native_stack = stack ? *stack : 0;
	row->name = thread->name;
}

void nsys_samples_fini(struct nsys_trace *trace)
{
	if (trace->samples) {
		hash_free(trace->samples->stacks);
		idmap_fini(&trace->samples->stacks_of);
		for (size_t i = 0; i < NR_CALL_TABLES; i++) {
			idmap_fini(&trace->samples->calls[i].stacks);
		}
		idmap_fini(&trace->samples->files);
		idmap_fini(&trace->samples->unresolved);
		free(trace->samples);
	}
}
