/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the events of threads: calls of CUDA and of the system, ranges of NVTX; and samples of
 * GPUs.
 */
#include "report/import/nsys/trace.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/hash.h"
#include "report/util/text.h"

/* ---- calls ---- */

enum {
	BEGIN,
	END,
	CALL_THREAD,
	CALL_CORRELATION,
	CALL_NAME,
	CALL_RESULT,
	CALL_CHAIN,
};

static const char *const call_columns[] = {
	"start", "end", "globalTid", "correlationId", "nameId", "returnValue", "callchainId"};

/*
 * Decides what a call within another one of its thread is. One of the driver has its row in another
 * table, since its time is part of that. A call with a call chain has two rows with one correlation
 * ID, the outer one with the time that taking the chain needed: it is left out when it ends.
 */
static void enter(struct nsys_thread *thread, struct nsys_open *call, const struct nsys_call *name)
{
	if (call->begin >= thread->call_end || call->end > thread->call_end) {
		thread->call_end = call->end;
		thread->call_correlation = call->call.correlation;
		thread->call_stack = call->call.native_stack;
		thread->call = name->call;
	} else if (call->call.correlation && name->call == thread->call &&
		   call->call.correlation == thread->call_correlation) {
		thread->repeated_correlation = call->call.correlation;
		call->call.is_repeated = true;
		call->call.native_stack =
			call->call.native_stack ? call->call.native_stack : thread->call_stack;
	} else if (name->api == GPROF_API_DRIVER) {
		call->table = GPROF_TABLE_api_nested;
		call->call.correlation = thread->call_correlation;
	}
}

static void add_call(
	struct nsys_trace *trace, const struct nsys_query *query, uint64_t begin, bool is_system)
{
	uint64_t tid = nsys_query_u64(query, CALL_THREAD, 0), end = 0;
	uint32_t correlation = nsys_query_u32(query, CALL_CORRELATION, 0);
	struct nsys_call name = nsys_call_of(trace, query, CALL_NAME, is_system);
	struct nsys_thread *thread;
	struct nsys_open *open;

	if (!name.is_known || !nsys_tick(query, END, &end) || end < begin) {
		trace->nr_incomplete++;
		return;
	}
	thread = nsys_thread_of(trace, tid, begin);
	open = nsys_open_add(trace, name.table, thread->tid, begin, end);
	open->call.correlation = correlation;
	open->call.result = (int32_t)nsys_query_u64(query, CALL_RESULT, 0);
	open->call.call = name.call;
	open->call.is_launch = name.table != GPROF_TABLE_api && name.table != GPROF_TABLE_api_sync;
	open->call.native_stack = nsys_samples_call_stack(
		trace, nsys_query_u64(query, CALL_CHAIN, NSYS_NO_CHAIN), is_system);
	if (!is_system) {
		enter(thread, open, &name);
	}
}

static void take_call(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	add_call(trace, query, tick, false);
}

static void take_system_call(
	struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	add_call(trace, query, tick, true);
}

static void set_stack(unsigned int table, void *row, uint32_t stack)
{
	switch (table) {
#define TABLE(name)                                                     \
	case GPROF_TABLE_##name:                                        \
		((struct gprof_row_##name *)row)->native_stack = stack; \
		break;
		TABLE(api)
		TABLE(api_launch)
		TABLE(api_copy)
		TABLE(api_set)
		TABLE(api_alloc)
		TABLE(api_sync)
#undef TABLE
	default:
		break;
	}
}

/* Leaves out the outer row of a call that has two, see enter(). */
static void close_call(struct nsys_trace *trace, const struct nsys_open *open)
{
	struct nsys_thread *thread = nsys_thread_of(trace, open->thread, open->begin);
	struct gprof_row_api *row;

	if (open->call.correlation && !open->call.is_repeated &&
		open->table != GPROF_TABLE_api_nested &&
		open->call.correlation == thread->repeated_correlation) {
		return;
	}
	row = import_out_row(trace->out, open->table); /* all begin with the same columns */
	row->begin = open->begin;
	row->dur = open->end;
	row->thread = thread->id;
	row->correlation = open->call.correlation;
	row->result = open->call.result;
	row->call = open->call.call;
	row->source = GPROF_SOURCE_CALLBACK;
	set_stack(open->table, row, open->call.native_stack);
	if (open->call.is_launch && open->call.correlation) {
		nsys_nccl_launch(thread, open->begin, open->call.correlation);
	}
}

/* Nobody waits for the copies and sets of a graph, so a launch counts as asynchronous, too. */
static void take_async(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	uint32_t correlation = nsys_query_u32(query, CALL_CORRELATION, 0);
	struct nsys_call name = nsys_call_of(trace, query, CALL_NAME, false);

	(void)context;
	if (correlation) {
		idset_add(trace->called, correlation);
	}
	if (correlation && (name.is_async || name.table == GPROF_TABLE_api_launch)) {
		idset_add(trace->async, correlation);
	}
}

void nsys_host_read_async(struct nsys_trace *trace)
{
	static const char *const tables[] = {
		"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct nsys_query_want want = {.table = tables[i],
			NSYS_COLUMNS(call_columns),
			.nr_needed = 2,
			.key = "globalTid"};

		nsys_table_read(trace, &want, take_async, NULL);
	}
}

/* ---- NVTX ---- */

enum range_type {
	TYPE_MARK = 34,
	TYPE_THREAD = 39,
	TYPE_PUSH = 59,
	TYPE_START = 60,
	TYPE_TEXT_PUSH = 70, /* imported from a text file */
	TYPE_TEXT_START = 71,
	TYPE_DOMAIN = 75,
};

enum {
	RANGE_TYPE = 2,
	RANGE_THREAD,
	RANGE_END_THREAD,
	RANGE_DOMAIN,
	RANGE_CATEGORY,
	RANGE_COLOR,
	RANGE_TEXT,
	RANGE_TEXT_ID,
	RANGE_PAYLOADS, /* in the order of NVTX's types */
	RANGE_JSON = RANGE_PAYLOADS + 6,
	RANGE_JSON_ID,
	RANGE_BINARY,
};

static const char *const range_columns[] = {"start", "end", "eventType", "globalTid",
	"endGlobalTid", "domainId", "category", "color", "text", "textId", "uint64Value",
	"int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue", "jsonText",
	"jsonTextId", "binaryData"};

struct nsys_domain {
	uint64_t number;
	bool is_nccl;
	UT_hash_handle hh;
};

/* The ends of the pushed ranges of a thread and domain that are open, the innermost last. */
struct nsys_stack {
	struct {
		uint64_t domain;
		uint32_t thread;
		uint32_t padding;
	} key;
	uint64_t *ends;
	size_t nr, capacity;
	UT_hash_handle hh;
};

static struct gprof_row_nvtx *add_row(
	struct nsys_trace *trace, uint8_t op, uint64_t tick, uint32_t thread, uint32_t domain)
{
	struct gprof_row_nvtx *row = import_out_row(trace->out, GPROF_TABLE_nvtx);

	row->time = tick;
	row->op = op;
	row->thread = thread;
	row->domain = domain;
	return row;
}

/* Domain 0 is the default one, which has no name. */
static void add_domain(
	struct nsys_trace *trace, uint64_t number, uint64_t tick, const char *name, size_t nr_bytes)
{
	uint32_t string = import_out_string(trace->out, name, nr_bytes);
	struct nsys_domain *domain;

	hash_put(trace->domains, number, &number, domain);
	domain->is_nccl = text_is(name, nr_bytes, "NCCL");
	if (number && number <= UINT32_MAX) {
		add_row(trace, GPROF_NVTX_DOMAIN, tick, 0, (uint32_t)number)->name = string;
	}
}

enum {
	NAME_DOMAIN,
	NAME_TEXT,
	NAME_TEXT_ID,
	NAME_THREAD,
	NAME_TYPE,
	NAME_TIME,
};

static void take_name(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	uint64_t type = nsys_query_u64(query, NAME_TYPE, 0), tick = NSYS_TICKS_BEFORE;
	size_t nr_bytes;
	const char *text = nsys_table_text(trace, query, NAME_TEXT, NAME_TEXT_ID, &nr_bytes);

	(void)context;
	nsys_tick(query, NAME_TIME, &tick);
	if (text && type == TYPE_DOMAIN) {
		add_domain(trace, nsys_query_u64(query, NAME_DOMAIN, 0), tick, text, nr_bytes);
	} else if (text && type == TYPE_THREAD) {
		nsys_thread_of(trace, nsys_query_u64(query, NAME_THREAD, 0), UINT64_MAX)->name =
			import_out_string(trace->out, text, nr_bytes);
	}
}

void nsys_host_read_domains(struct nsys_trace *trace)
{
	static const char *const columns[] = {
		"domainId", "text", "textId", "globalTid", "eventType", "start"};
	const struct nsys_query_want want = {.table = "NVTX_EVENTS",
		NSYS_COLUMNS(columns),
		.nr_needed = 5,
		.key = "globalTid",
		.where = "eventType IN (39, 75)",
		.order = "start"};

	nsys_table_read(trace, &want, take_name, NULL);
}

static bool is_nccl(struct nsys_trace *trace, uint64_t number)
{
	struct nsys_domain *domain;

	HASH_FIND(hh, trace->domains, &number, sizeof(number), domain);
	return domain && domain->is_nccl;
}

bool nsys_host_push(struct nsys_trace *trace, uint32_t thread, uint64_t domain, uint64_t begin,
	uint64_t end, size_t *depth)
{
	struct nsys_stack key, *stack;

	memset(&key, 0, sizeof(key)); /* with its padding */
	key.key.domain = domain;
	key.key.thread = thread;
	hash_put(trace->stacks, key, &key.key, stack);
	while (stack->nr && stack->ends[stack->nr - 1] <= begin) {
		stack->nr--;
	}
	if (stack->nr && stack->ends[stack->nr - 1] < end) {
		return false;
	}
	stack->ends = array_grow(stack->ends, stack->nr, &stack->capacity, sizeof(*stack->ends));
	*depth = stack->nr;
	stack->ends[stack->nr++] = end;
	return true;
}

/* NVTX's numbers. */
enum {
	PAYLOAD_UINT64 = 1,
	PAYLOAD_INT64,
	PAYLOAD_DOUBLE,
	PAYLOAD_UINT32,
	PAYLOAD_INT32,
	PAYLOAD_FLOAT,
};

/* A payload has a value in the column of its type alone. */
static void read_payload(const struct nsys_query *query, struct gprof_row_nvtx *row)
{
	for (uint8_t type = PAYLOAD_UINT64; type <= PAYLOAD_FLOAT; type++) {
		unsigned int column = RANGE_PAYLOADS + type - PAYLOAD_UINT64;
		bool is_small = type == PAYLOAD_UINT32 || type == PAYLOAD_INT32;
		int64_t integer;
		double real;
		float single;

		if (nsys_query_integer(query, column, &integer)) {
			row->payload = is_small ? (uint32_t)integer : (uint64_t)integer;
		} else if (nsys_query_real(query, column, &real) && type == PAYLOAD_FLOAT) {
			single = (float)real;
			memcpy(&row->payload, &single, sizeof(single));
		} else if (nsys_query_real(query, column, &real)) {
			memcpy(&row->payload, &real, sizeof(real));
		} else {
			continue;
		}
		row->payload_type = type;
		return;
	}
}

struct named_range {
	uint64_t begin, end, domain;
	uint32_t string;
	bool has_end, is_push;
	struct nsys_thread *thread;
};

static void write_range(
	struct nsys_trace *trace, const struct nsys_query *query, const struct named_range *range)
{
	uint32_t domain = range->domain <= UINT32_MAX ? (uint32_t)range->domain : 0;
	size_t depth;
	/* One that never ended, or ends within another, would take that one's pop. */
	bool is_push = range->is_push && range->has_end &&
		       nsys_host_push(trace, range->thread->tid, range->domain, range->begin,
			       range->end, &depth);
	uint64_t number = is_push ? 0 : ++trace->nr_ranges;
	struct gprof_row_nvtx *row = add_row(trace, is_push ? GPROF_NVTX_PUSH : GPROF_NVTX_START,
		range->begin, range->thread->id, domain);
	struct nsys_open *open;

	row->name = range->string;
	row->range = number;
	row->category = nsys_query_u32(query, RANGE_CATEGORY, 0);
	row->color = nsys_query_u32(query, RANGE_COLOR, 0);
	read_payload(query, row);
	if (range->has_end) {
		open = nsys_open_add(
			trace, GPROF_TABLE_nvtx, range->thread->tid, range->begin, range->end);
		open->range.range = number;
		open->range.domain = domain;
	}
}

/* An operator of PyTorch that ops.c takes by its name has no row of NVTX. */
static void take_range(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	uint64_t type = nsys_query_u64(query, RANGE_TYPE, 0);
	struct named_range range = {
		.begin = tick, .domain = nsys_query_u64(query, RANGE_DOMAIN, 0)};
	size_t nr_bytes;
	const char *text = nsys_table_text(trace, query, RANGE_TEXT, RANGE_TEXT_ID, &nr_bytes);

	range.thread = nsys_thread_of(trace, nsys_query_u64(query, RANGE_THREAD, 0), tick);
	range.has_end = nsys_tick(query, END, &range.end) && range.end >= tick;
	range.is_push = type == TYPE_PUSH || type == TYPE_TEXT_PUSH;
	if (text && range.is_push && range.has_end && !range.domain &&
		nsys_ops_add(trace, range.thread->tid, text, nr_bytes, tick, range.end)) {
		return;
	}
	range.string = text ? import_out_string(trace->out, text, nr_bytes) : 0;
	if (type == TYPE_MARK) {
		add_row(trace, GPROF_NVTX_MARK, tick, range.thread->id, (uint32_t)range.domain)
			->name = range.string;
		return;
	}
	write_range(trace, query, &range);
	if (text && range.has_end) {
		import_step_names_add(
			&trace->steps, range.thread->id, text, nr_bytes, tick, range.end);
	}
	if (text && range.has_end && range.is_push && is_nccl(trace, range.domain)) {
		const struct nsys_nccl_columns columns = {
			RANGE_JSON, RANGE_JSON_ID, RANGE_BINARY, range.domain};
		const struct nsys_nccl_range call = {range.thread, text, nr_bytes, tick, range.end};

		nsys_nccl_range(trace, query, &columns, &call);
	}
}

static void close_range(struct nsys_trace *trace, const struct nsys_open *open)
{
	struct nsys_thread *thread = nsys_thread_of(trace, open->thread, open->begin);

	add_row(trace, open->range.range ? GPROF_NVTX_END : GPROF_NVTX_POP, open->end, thread->id,
		open->range.domain)
		->range = open->range.range;
}

void nsys_host_close(struct nsys_trace *trace, const struct nsys_open *open)
{
	switch (open->table) {
	case GPROF_TABLE_nvtx:
		close_range(trace, open);
		break;
	case GPROF_TABLE_nccl:
		nsys_nccl_close(trace, open);
		break;
	case GPROF_TABLE_op:
		nsys_ops_close(trace, open);
		break;
	default:
		close_call(trace, open);
		break;
	}
}

/* ---- samples of GPUs ---- */

enum {
	METRIC_TIME,
	METRIC_TYPE,
	METRIC_ID,
	METRIC_VALUE,
};

static const char *const metric_columns[] = {"timestamp", "typeId", "metricId", "value"};

/* The metrics of the export that are also gprof's, and what one of theirs is in gprof's unit. */
static const struct {
	const char *name;
	uint8_t metric;
	uint16_t factor;
} metrics[] = {
	{"GR Active [Throughput %]", GPROF_METRIC_GPU_BUSY_PERCENT, 1},
	{"GR Active", GPROF_METRIC_GPU_BUSY_PERCENT, 1},
	{"SMs Active [Throughput %]", GPROF_METRIC_GPU_SM_ACTIVE_MILLI_PERCENT, 1000},
	{"Tensor Active [Throughput %]", GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT, 1000},
	{"Compute Warps in Flight [Throughput %]", GPROF_METRIC_GPU_OCCUPANCY_MILLI_PERCENT, 1000},
	{"DRAM Read Bandwidth [Throughput %]", GPROF_METRIC_GPU_DRAM_READ_MILLI_PERCENT, 1000},
	{"DRAM Write Bandwidth [Throughput %]", GPROF_METRIC_GPU_DRAM_WRITE_MILLI_PERCENT, 1000},
};

/* A metric by its type, which names the GPU too, and its number. */
struct nsys_metric {
	struct {
		uint64_t type, id;
	} key;
	uint8_t metric;
	uint16_t factor;
	UT_hash_handle hh;
};

static void add_metric(struct nsys_trace *trace, uint64_t type, uint64_t id, size_t number)
{
	struct nsys_metric *metric, key;

	memset(&key, 0, sizeof(key));
	key.key.type = type;
	key.key.id = id;
	hash_put(trace->metrics, key, &key.key, metric);
	metric->metric = metrics[number].metric;
	metric->factor = metrics[number].factor;
}

static void take_metric_name(
	struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	size_t nr_bytes;
	const char *name = nsys_query_text(query, 2, &nr_bytes);

	(void)context;
	for (size_t i = 0; name && i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		if (text_is(name, nr_bytes, metrics[i].name)) {
			add_metric(
				trace, nsys_query_u64(query, 0, 0), nsys_query_u64(query, 1, 0), i);
		}
	}
}

void nsys_host_read_metrics(struct nsys_trace *trace)
{
	static const char *const columns[] = {"typeId", "metricId", "metricName"};
	const struct nsys_query_want want = {
		.table = "TARGET_INFO_GPU_METRICS", NSYS_COLUMNS(columns), .nr_needed = 3};

	nsys_table_read(trace, &want, take_metric_name, NULL);
}

/* The number of a GPU in the process; false: it does not use that one. */
static bool find_device(const struct nsys_trace *trace, uint8_t gpu, uint8_t *device)
{
	for (size_t i = 0; i < trace->nr_devices; i++) {
		if (trace->devices[i].gpu == gpu) {
			*device = (uint8_t)trace->devices[i].device;
			return true;
		}
	}
	*device = gpu;
	return !trace->nr_devices;
}

/* Samples are of the machine; each process gets those of its GPUs. */
static void take_metric(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	struct gprof_row_sample *row;
	struct nsys_metric *metric, key;
	uint8_t device;

	memset(&key, 0, sizeof(key));
	key.key.type = nsys_query_u64(query, METRIC_TYPE, 0);
	key.key.id = nsys_query_u64(query, METRIC_ID, 0);
	HASH_FIND(hh, trace->metrics, &key.key, sizeof(key.key), metric);
	if (!metric) {
		trace->nr_metrics++;
		return;
	}
	/* The lowest byte of the type is the GPU. */
	if (!find_device(trace, (uint8_t)key.key.type, &device)) {
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_sample);
	row->time = tick;
	row->value = nsys_query_u64(query, METRIC_VALUE, 0) * metric->factor;
	row->metric = metric->metric;
	row->device = device;
}

const struct nsys_source nsys_host_sources[] = {
	{.table = "CUPTI_ACTIVITY_KIND_RUNTIME",
		NSYS_COLUMNS(call_columns),
		.nr_needed = 2,
		.key = "globalTid",
		.is_by_begin = true,
		.take = take_call},
	{.table = "CUPTI_ACTIVITY_KIND_DRIVER",
		NSYS_COLUMNS(call_columns),
		.nr_needed = 2,
		.key = "globalTid",
		.is_by_begin = true,
		.take = take_call},
	{.table = "OSRT_API",
		.is_of_system = true,
		NSYS_COLUMNS(call_columns),
		.nr_needed = 2,
		.key = "globalTid",
		.is_by_begin = true,
		.take = take_system_call},
	{.table = "NVTX_EVENTS",
		NSYS_COLUMNS(range_columns),
		.nr_needed = 4,
		.key = "globalTid",
		.where = "eventType IN (34, 59, 60, 70, 71)",
		.is_by_begin = true,
		.take = take_range},
	{.table = "GPROF_OPERATORS",
		NSYS_COLUMNS(nsys_own_op_columns),
		.nr_needed = 4,
		.key = "globalTid",
		.take = nsys_ops_take_own},
	{.table = "COMPOSITE_EVENTS",
		.is_of_system = true,
		NSYS_COLUMNS(nsys_sample_columns),
		.nr_needed = NSYS_SAMPLE_COLUMNS,
		.key = "globalTid",
		.take = nsys_samples_take},
	{.table = "SCHED_EVENTS",
		.is_of_system = true,
		NSYS_COLUMNS(nsys_sched_columns),
		.nr_needed = 4,
		.key = "globalTid",
		.take = nsys_sched_take},
	{.table = "GPROF_THREAD_STATES",
		.is_of_system = true,
		NSYS_COLUMNS(nsys_own_state_columns),
		.nr_needed = 5,
		.key = "globalTid",
		.take = nsys_sched_take_own},
	{.table = "GPU_METRICS",
		NSYS_COLUMNS(metric_columns),
		.nr_needed = 4,
		.is_by_begin = true,
		.take = take_metric},
	{0},
};

void nsys_host_fini(struct nsys_trace *trace)
{
	struct nsys_stack *stack, *next;

	HASH_ITER(hh, trace->stacks, stack, next)
	{
		HASH_DEL(trace->stacks, stack);
		free(stack->ends);
		free(stack);
	}
	hash_free(trace->domains);
	hash_free(trace->metrics);
}
