/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads collectives of gloo, MPI and UCC out of table op: ranges with the names of these libraries,
 * which PyTorch's process groups write. The communication views, rank_waits.c and gpu_activities.c
 * use them beside NCCL's. The names say the kind, the shapes of the inputs the bytes; nothing says
 * the group, so they match by order, kind and size alone (host_collective_match).
 */
#include "report/comm/host_collectives.h"

#include <stdlib.h>
#include <string.h>

#include "report/comm/nccl_match.h"
#include "report/comm/nccl_names.h"
#include "report/ops/op.h"
#include "report/ops/phase.h"
#include "report/util/buf.h"
#include "report/model/select.h"
#include "report/util/sort.h"
#include "report/util/text.h"

const char *const host_collective_names[] = {[HOST_COLLECTIVE_GLOO] = "gloo",
	[HOST_COLLECTIVE_MPI] = "MPI",
	[HOST_COLLECTIVE_UCC] = "UCC"};

static const char *const prefixes[] = {[HOST_COLLECTIVE_GLOO] = "gloo:",
	[HOST_COLLECTIVE_MPI] = "mpi:",
	[HOST_COLLECTIVE_UCC] = "ucc:"};

/*
 * Ranges and operators around communication; their time is waiting, or that of what they contain.
 */
static const char *const around[] = {
	"c10d::", "_c10d_functional::", "c10d_functional::", "autograd::engine::"};

/* Called for each operator: most differ in the first byte. */
static bool begins_with(const char *text, const char *prefix)
{
	return *text == *prefix && !strncmp(text, prefix, strlen(prefix));
}

/* The part after the library's name; NULL if there is no such name. */
static const char *find_call(const char *name, enum host_collective_library *library)
{
	for (unsigned int i = HOST_COLLECTIVE_GLOO; i <= HOST_COLLECTIVE_UCC; i++) {
		if (begins_with(name, prefixes[i])) {
			*library = (enum host_collective_library)i;
			return name + strlen(prefixes[i]);
		}
	}
	*library = HOST_COLLECTIVE_NONE;
	return NULL;
}

/* Called for each operator, of which few names recur often. */
enum host_collective_library host_collective_library_of(uint32_t name)
{
	static struct {
		uint32_t name;
		enum host_collective_library library;
	} recent[256], *found;

	found = &recent[name % 256];
	if (found->name != name) {
		find_call(string_pool_text(name, NULL), &found->library);
		found->name = name;
	}
	return found->library;
}

static uint8_t kind_of(const char *call)
{
	/* NCCL has no barrier; PyTorch uses an all-reduce for it. */
	return begins_with(call, "barrier") ? NCCL_OPS_BARRIER
					    : nccl_names_kind(call, strlen(call));
}

static bool is_in(const struct idmap *names)
{
	for (size_t i = 0; i < names->nr; i++) {
		if (host_collective_library_of(*(const uint32_t *)idmap_at(names, i))) {
			return true;
		}
	}
	return false;
}

/* A row has the id of a name, or its text, if there are too many names and in imported traces. */
bool host_collective_is_in(const struct process *process)
{
	return is_in(&process->op_names) || is_in(&process->strings);
}

bool host_collective_needs(void *context, struct process *process, unsigned int table)
{
	(void)context;
	return table != GPROF_TABLE_op || host_collective_is_in(process);
}

/* ---- sizes ---- */

/* The size of an element by the type in texts of table op_shape (FORMAT.md); 0: unknown. */
static uint64_t element_bytes(const char *type, size_t nr_bytes)
{
	static const struct {
		const char *name;
		uint64_t nr_bytes;
	} types[] = {
		{"float32", 4},
		{"float16", 2},
		{"bfloat16", 2},
		{"float64", 8},
		{"int64", 8},
		{"int32", 4},
		{"int16", 2},
		{"int8", 1},
		{"uint8", 1},
		{"uint16", 2},
		{"uint32", 4},
		{"uint64", 8},
		{"bool", 1},
		{"complex32", 4},
		{"complex64", 8},
		{"complex128", 16},
		{"float8_e5m2", 1},
		{"float8_e4m3fn", 1},
		{"float8_e5m2fnuz", 1},
		{"float8_e4m3fnuz", 1},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (text_is(type, nr_bytes, types[i].name)) {
			return types[i].nr_bytes;
		}
	}
	return 0;
}

/*
 * Parses the sizes of "[64,3]" after the bracket. Returns what follows them, NULL if they are
 * invalid.
 */
static const char *read_sizes(const char *text, uint64_t *nr_bytes)
{
	while (*text && *text != ']') {
		char *end;
		uint64_t size = strtoull(text, &end, 10);

		if (end == text || __builtin_mul_overflow(*nr_bytes, size, nr_bytes)) {
			return NULL;
		}
		text = *end == ',' ? end + 1 : end;
	}
	return *text ? text + 1 : NULL;
}

/* The total bytes of "float32[64,3,32,32], int64[64]"; false if any of them is unknown. */
static bool read_bytes(const char *text, uint64_t *nr_bytes)
{
	*nr_bytes = 0;
	while (text && *text) {
		size_t length = strcspn(text, "[, ");
		uint64_t own = element_bytes(text, length);

		if (text[length] != '[' || !own) {
			return false;
		}
		text = read_sizes(text + length + 1, &own);
		if (!text || __builtin_add_overflow(*nr_bytes, own, nr_bytes)) {
			return false;
		}
		text += strspn(text, ", ");
	}
	return true;
}

static void set_bytes(struct host_collective *comm, const struct process *process, uint64_t shape)
{
	const uint32_t *text = shape && shape <= UINT32_MAX
				       ? idmap_get(&process->op_shapes, (uint32_t)shape)
				       : NULL;

	if (text) {
		comm->has_bytes = read_bytes(string_pool_text(*text, NULL), &comm->bytes);
	}
	if (comm->kind == NCCL_OPS_BARRIER) {
		comm->bytes = 0;
		comm->has_bytes = true;
	}
}

/* ---- rows ---- */

static bool is_computing(const char *name, uint8_t framework, uint8_t scope)
{
	if (framework != GPROF_FRAMEWORK_TORCH || scope == OP_TORCH_USER ||
		scope == OP_TORCH_ANNOTATION || !strncmp(name, "enumerate(Data", 14)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
		if (begins_with(name, around[i])) {
			return false;
		}
	}
	return true;
}

/* The names of all operators come by here, so find_call() looks at the first byte first. */
void host_collective_scan(const struct process *process, const struct batch *b, bool has_operators,
	void (*on_call)(void *context, const struct host_collective *comm), void *context)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_op_begin][i], dur = b->col[COL_op_dur][i];
		const char *name = string_pool_text(
			op_name(process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]), NULL);
		struct host_collective comm = {
			.begin = begin, .end = begin + dur < begin ? UINT64_MAX : begin + dur};
		enum host_collective_library library;
		const char *call = find_call(name, &library);

		if (call) {
			comm.library = (uint8_t)library;
			comm.kind = kind_of(call);
			set_bytes(&comm, process, b->col[COL_op_op_shape][i]);
			on_call(context, &comm);
		} else if (has_operators && is_computing(name, (uint8_t)b->col[COL_op_framework][i],
						    (uint8_t)b->col[COL_op_scope][i])) {
			on_call(context, &comm);
		}
	}
}

/* ---- operations beside NCCL's ---- */

/* The destination of the operations. */
struct adder {
	struct nccl_ops *ops;
	struct process *process;
};

/* phases_step() reads only the rows of table step, so a struct without phases serves. */
static void on_call(void *context, const struct host_collective *comm)
{
	struct adder *adder = context;
	struct nccl_ops *ops = adder->ops;
	const struct phases steps = {
		.process = adder->process, .nr_steps = adder->process->nr_steps + 1};
	struct clock_map *clock = &adder->process->host_clock;
	const char *name = host_collective_names[comm->library];

	ops->ops = array_grow(ops->ops, ops->nr_ops, &ops->capacity, sizeof(*ops->ops));
	ops->ops[ops->nr_ops] = (struct nccl_op){
		.bytes = comm->bytes,
		.is_unsized = !comm->has_bytes,
		.begin_ns = clock_map_time(clock, comm->begin),
		.end_ns = clock_map_time(clock, comm->end),
		.nr_calls = 1,
		.rank = -1,
		.peer = -1,
		.boot = process_clock(adder->process),
		.process = ops->nr_processes,
		.id = (uint32_t)ops->nr_ops,
		.step = phases_step(&steps, comm->begin),
		.name = string_pool_intern(name, strlen(name)),
		.kind = comm->kind,
		.library = comm->library,
	};
	ops->nr_ops++;
}

void host_collective_add_batch(
	struct nccl_ops *ops, struct process *process, const struct batch *batch)
{
	struct adder adder = {ops, process};

	host_collective_scan(process, batch, false, on_call, &adder);
}

void host_collective_read(struct nccl_ops *ops, struct process *process)
{
	struct stream *stream = process->stream;
	uint32_t mask = HOST_COLLECTIVE_MASK | select_mask(process, GPROF_TABLE_op);
	bool has_any = host_collective_is_in(process);

	for (size_t i = 0; has_any && i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_op &&
			!stream_load(stream, i, mask, 0, &batch)) {
			select_cut(process, &batch);
			host_collective_add_batch(ops, process, &batch);
		}
	}
}

/* ---- matching ---- */

static int compare_kinds(const struct nccl_op *x, const struct nccl_op *y)
{
	int order = COMPARE(x->library, y->library);

	order = order ? order : COMPARE(x->kind, y->kind);
	return order ? order : COMPARE(x->bytes, y->bytes);
}

static int by_time(const void *a, const void *b)
{
	const struct nccl_op *x = a, *y = b;
	int order = compare_kinds(x, y);

	order = order ? order : COMPARE(x->process, y->process);
	order = order ? order : COMPARE(x->begin_ns, y->begin_ns);
	return order ? order : COMPARE(x->id, y->id);
}

static int by_number(const void *a, const void *b)
{
	const struct nccl_op *x = a, *y = b;
	int order = compare_kinds(x, y);

	order = order ? order : COMPARE(x->sequence, y->sequence);
	return order ? order : COMPARE(x->process, y->process);
}

/*
 * Numbers the operations of each process by library, kind and size, in the order of time. Returns
 * how many processes there are.
 */
static size_t number(struct nccl_ops *ops)
{
	size_t nr_processes = 0;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		nr_processes += !i || ops->ops[i].process != ops->ops[i - 1].process;
	}
	if (ops->nr_ops) {
		qsort(ops->ops, ops->nr_ops, sizeof(*ops->ops), by_time);
	}
	for (size_t i = 0; i < ops->nr_ops; i++) {
		struct nccl_op *op = &ops->ops[i];
		bool is_next = i && !compare_kinds(op - 1, op) && op[-1].process == op->process;

		op->sequence = is_next ? op[-1].sequence + 1 : 1;
	}
	return nr_processes;
}

/*
 * Are these operations one collective? Each process must have one, on one clock, and all must have
 * begun before any ends.
 */
static bool is_one(const struct nccl_op *ops, size_t nr, size_t nr_processes)
{
	uint64_t begin_ns = 0, end_ns = UINT64_MAX;

	for (size_t i = 0; i < nr; i++) {
		if (!ops[i].boot || ops[i].boot != ops[0].boot) {
			return false;
		}
		begin_ns = ops[i].begin_ns > begin_ns ? ops[i].begin_ns : begin_ns;
		end_ns = ops[i].end_ns < end_ns ? ops[i].end_ns : end_ns;
	}
	return nr > 1 && nr == nr_processes && nccl_op_is_collective(ops) && begin_ns <= end_ns;
}

/* nccl_match_set_times() then finds the last rank and the waits, as for NCCL. */
uint64_t host_collective_match(struct nccl_ops *ops)
{
	size_t nr_processes = number(ops);
	uint64_t nr_matched = 0;

	if (ops->nr_ops) {
		qsort(ops->ops, ops->nr_ops, sizeof(*ops->ops), by_number);
	}
	for (size_t at = 0, nr; at < ops->nr_ops; at += nr) {
		struct nccl_op *first = &ops->ops[at];

		nr = 1;
		while (at + nr < ops->nr_ops && !compare_kinds(first, &first[nr]) &&
			first[nr].sequence == first->sequence) {
			nr++;
		}
		if (is_one(first, nr, nr_processes)) {
			nr_matched++;
			nccl_match_set_times(first, nr);
			for (size_t i = 0; i < nr; i++) {
				first[i].key = at + 1;
				first[i].nr_ranks = (uint32_t)nr;
			}
		}
	}
	return nr_matched;
}
