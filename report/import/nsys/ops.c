/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators: those of gprof's own export, which come by their ends; and ranges that PyTorch's
 * emit_nvtx pushed. Their names have numbers behind them, "aten::mm, seq = 3, op_id = 17, sizes =
 * [[8, 8], [8, 8]]" (torch/csrc/profiler/util.cpp, getNvtxStr), so that no two are alike.
 */
#include "report/import/nsys/trace.h"

#include <ctype.h>
#include <string.h>

#include "report/ops/op.h"
#include "report/util/string_pool.h"

/* A domain that NVTX does not have: among themselves, operators nest. */
#define OPERATORS UINT64_MAX

/* Finds ", KEY = " behind the name, and the number there. */
static const char *find_key(
	const char *text, size_t nr_bytes, const char *key, size_t nr_key, uint64_t *number)
{
	const char *found = memmem(text, nr_bytes, key, nr_key), *end = text + nr_bytes;

	*number = 0;
	for (const char *p = found ? found + nr_key : end; p < end && isdigit((unsigned char)*p);
		p++) {
		*number = *number * 10 + (uint64_t)(*p - '0');
	}
	return found;
}

/*
 * Returns the length of the name without its numbers; nr_bytes if there are none. sequence: counts
 * from 1.
 */
static size_t cut_name(const char *text, size_t nr_bytes, uint64_t *sequence)
{
	static const char seq[] = ", seq = ", op_id[] = ", op_id = ";
	uint64_t number;
	const char *at_seq = find_key(text, nr_bytes, seq, sizeof(seq) - 1, &number), *at_id;

	*sequence = at_seq ? number + 1 : 0;
	at_id = find_key(text, nr_bytes, op_id, sizeof(op_id) - 1, &number);
	if (at_seq && (!at_id || at_seq < at_id)) {
		return (size_t)(at_seq - text);
	}
	return at_id ? (size_t)(at_id - text) : nr_bytes;
}

/* Ranges of the user (record_function) have such numbers, too. */
static uint8_t scope_of(const char *name, size_t nr_bytes, uint64_t sequence)
{
	uint32_t string;

	if (sequence || memmem(name, nr_bytes, "::", 2)) {
		return 0;
	}
	string = string_pool_intern(name, nr_bytes);
	return op_class(string, GPROF_FRAMEWORK_TORCH, 0) == OP_OTHER ? OP_TORCH_USER
								      : OP_TORCH_ANNOTATION;
}

bool nsys_ops_add(struct nsys_trace *trace, uint32_t tid, const char *text, size_t nr_bytes,
	uint64_t begin, uint64_t end)
{
	uint64_t sequence;
	size_t nr_name = cut_name(text, nr_bytes, &sequence), depth;
	struct nsys_open *open;
	uint32_t name;
	uint8_t scope;

	if (nr_name == nr_bytes || !nr_name ||
		!nsys_host_push(trace, tid, OPERATORS, begin, end, &depth)) {
		return false;
	}
	scope = scope_of(text, nr_name, sequence);
	if (scope == OP_TORCH_USER) {
		uint32_t thread = nsys_thread_of(trace, tid, begin)->id;

		import_step_names_add(&trace->steps, thread, text, nr_name, begin, end);
	}
	name = import_out_string(trace->out, text, nr_name);
	open = nsys_open_add(trace, GPROF_TABLE_op, tid, begin, end);
	open->op.name = name;
	open->op.sequence = sequence;
	open->op.depth = depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
	open->op.scope = scope;
	return true;
}

enum {
	OWN_THREAD = 2,
	OWN_NAME,
	OWN_END_THREAD,
	OWN_SEQUENCE,
	OWN_FORWARD_THREAD,
	OWN_DEPTH,
	OWN_FRAMEWORK,
	OWN_SCOPE,
};

const char *const nsys_own_op_columns[NSYS_OWN_OP_COLUMNS] = {"start", "end", "globalTid", "nameId",
	"endGlobalTid", "sequence", "forwardThread", "depth", "framework", "scope"};

void nsys_ops_take_own(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	uint64_t tid = nsys_query_u64(query, OWN_THREAD, 0), end;
	uint32_t name = nsys_string(trace, query, OWN_NAME);
	uint32_t thread = nsys_thread_of(trace, tid, tick)->id;
	struct gprof_row_op *row;

	if (!name || !nsys_tick(query, 1, &end)) {
		trace->nr_incomplete++;
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_op);
	row->begin = tick;
	row->dur = end;
	row->sequence = nsys_query_u64(query, OWN_SEQUENCE, 0);
	row->thread = thread;
	row->end_thread =
		nsys_thread_of(trace, nsys_query_u64(query, OWN_END_THREAD, tid), tick)->id;
	row->name = name;
	row->forward_thread = nsys_query_u32(query, OWN_FORWARD_THREAD, 0);
	row->depth = (uint16_t)nsys_query_u32(query, OWN_DEPTH, 0);
	row->framework = (uint8_t)nsys_query_u32(query, OWN_FRAMEWORK, 0);
	row->scope = (uint8_t)nsys_query_u32(query, OWN_SCOPE, 0);
}

void nsys_ops_close(struct nsys_trace *trace, const struct nsys_open *open)
{
	uint32_t thread = nsys_thread_of(trace, open->thread, open->begin)->id;
	struct gprof_row_op *row = import_out_row(trace->out, GPROF_TABLE_op);

	row->begin = open->begin;
	row->dur = open->end;
	row->sequence = open->op.sequence;
	row->thread = row->end_thread = thread;
	row->name = open->op.name;
	row->depth = open->op.depth;
	row->framework = GPROF_FRAMEWORK_TORCH;
	row->scope = open->op.scope;
}
