/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function for each table copies the members that it has. Calls of all kinds share one.
 */
#include "report/import/kineto/rows_table.h"

#include "report/import/call.h"

static void write_op(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_op *row = import_out_row(out, GPROF_TABLE_op);

	row->begin = from->begin;
	row->dur = from->end;
	row->sequence = from->op.sequence;
	row->thread = row->end_thread = from->thread;
	row->name = from->op.name;
	row->op_shape = from->op.shape;
	row->forward_thread = from->op.forward_thread;
	row->depth = from->op.depth;
	row->py_stack = from->op.py_stack;
	row->framework = from->source;
	row->scope = from->kind;
}

static void write_call(struct import_out *out, const struct kineto_row *from)
{
	/* All tables of calls begin with the same columns. */
	struct gprof_row_api *row = import_out_row(out, from->table);

	row->begin = from->begin;
	row->dur = from->end;
	row->thread = from->thread;
	row->correlation = from->call.correlation;
	row->call = from->call.call;
	row->source = GPROF_SOURCE_CALLBACK;
}

static void write_launch(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_api_launch *row = import_out_row(out, GPROF_TABLE_api_launch);

	row->begin = from->begin;
	row->dur = from->end;
	row->thread = from->thread;
	row->correlation = from->call.correlation;
	row->call = from->call.call;
	row->source = GPROF_SOURCE_CALLBACK;
	row->py_stack = from->call.py_stack;
}

static void write_py_call(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_py_call *row = import_out_row(out, GPROF_TABLE_py_call);

	row->begin = from->begin;
	row->dur = from->end;
	row->thread = from->thread;
	row->py_code = from->py_call.code;
}

static void write_collection(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_py_gc *row = import_out_row(out, GPROF_TABLE_py_gc);

	row->begin = from->begin;
	row->dur = from->end;
	row->collected = from->collection.collected;
	row->uncollectable = from->collection.uncollectable;
	row->thread = from->thread;
	row->generation = from->kind;
}

static void write_alloc(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_alloc *row = import_out_row(out, GPROF_TABLE_alloc);

	row->time = from->begin;
	row->address = from->alloc.address;
	row->bytes = from->alloc.bytes;
	row->allocated_bytes = from->alloc.allocated;
	row->reserved_bytes = from->alloc.reserved;
	row->thread = from->thread;
	row->device_type = from->kind;
	row->device = from->source;
	row->framework = from->alloc.framework;
}

/* The common columns of kernels, copies and sets. */
#define WRITE_ACTIVITY(row, from)                                  \
	do {                                                       \
		(row)->begin = (from)->begin;                      \
		(row)->dur = (from)->end;                          \
		(row)->place = (from)->activity.place;             \
		(row)->correlation = (from)->activity.correlation; \
		(row)->graph = (from)->activity.graph;             \
		(row)->graph_node = (from)->activity.graph_node;   \
		(row)->channel = (from)->thread;                   \
	} while (0)

static void write_kernel(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_kernel *row = import_out_row(out, GPROF_TABLE_kernel);

	WRITE_ACTIVITY(row, from);
	row->shape = from->activity.shape;
}

static void write_copy(struct import_out *out, const struct kineto_row *from, uint32_t flags)
{
	struct gprof_row_memcpy *row = import_out_row(out, GPROF_TABLE_memcpy);

	WRITE_ACTIVITY(row, from);
	row->bytes = from->activity.bytes;
	row->copy_kind = from->kind;
	row->src_kind = from->source;
	row->dst_kind = from->target;
	row->flags = (uint8_t)flags;
}

static void write_set(struct import_out *out, const struct kineto_row *from, uint32_t flags)
{
	struct gprof_row_memset *row = import_out_row(out, GPROF_TABLE_memset);

	WRITE_ACTIVITY(row, from);
	row->bytes = from->activity.bytes;
	row->memory_kind = from->target;
	row->flags = (uint8_t)flags;
}

static void write_graph(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_graph *row = import_out_row(out, GPROF_TABLE_graph);

	row->begin = from->begin;
	row->dur = from->end;
	row->place = from->activity.place;
	row->correlation = from->activity.correlation;
	row->graph = from->activity.graph;
}

static void write_sync(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_sync *row = import_out_row(out, GPROF_TABLE_sync);

	row->begin = from->begin;
	row->dur = from->end;
	row->place = from->activity.place;
	row->correlation = from->activity.correlation;
	row->type = from->kind;
}

static void write_overhead(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_overhead *row = import_out_row(out, GPROF_TABLE_overhead);

	row->begin = from->begin;
	row->dur = from->end;
	row->overhead_kind = from->activity.shape;
}

/* Only the kernel is known: the thread that called is that of the launch. */
static void write_nccl(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_nccl *row = import_out_row(out, GPROF_TABLE_nccl);

	row->begin = from->begin;
	row->dur = from->end;
	row->correlation = from->nccl.correlation;
	row->correlation_before = from->nccl.correlation - (from->nccl.correlation != 0);
	row->comm = from->nccl.comm;
	row->sequence = from->nccl.number;
	row->group = from->order;
	row->bytes = from->nccl.bytes;
	row->peer = from->nccl.peer;
	row->kind = from->kind;
	row->datatype = from->nccl.datatype;
	row->redop = UINT8_MAX;
}

static void write_untimed(struct import_out *out, const struct kineto_row *from)
{
	struct gprof_row_untimed *row = import_out_row(out, GPROF_TABLE_untimed);

	row->place = from->activity.place;
	row->correlation = from->activity.correlation;
	row->graph = from->activity.graph;
	row->graph_node = from->activity.graph_node;
	row->shape = from->table == GPROF_TABLE_kernel ? from->activity.shape : 0;
	row->bytes = from->activity.bytes;
	row->table = from->table;
	row->copy_kind = from->table == GPROF_TABLE_memcpy ? from->kind : 0;
}

void kineto_row_write(struct import_out *out, const struct kineto_row *row, uint32_t flags)
{
	if (row->begin == KINETO_UNTIMED) {
		if (row->table != GPROF_TABLE_sync) {
			write_untimed(out, row);
		}
		return;
	}
	switch (row->table) {
	case GPROF_TABLE_op:
		write_op(out, row);
		break;
	case GPROF_TABLE_py_call:
		write_py_call(out, row);
		break;
	case GPROF_TABLE_py_gc:
		write_collection(out, row);
		break;
	case GPROF_TABLE_api_launch:
		write_launch(out, row);
		break;
	case GPROF_TABLE_alloc:
		write_alloc(out, row);
		break;
	case GPROF_TABLE_kernel:
		write_kernel(out, row);
		break;
	case GPROF_TABLE_memcpy:
		write_copy(out, row, flags);
		break;
	case GPROF_TABLE_memset:
		write_set(out, row, flags);
		break;
	case GPROF_TABLE_graph:
		write_graph(out, row);
		break;
	case GPROF_TABLE_sync:
		write_sync(out, row);
		break;
	case GPROF_TABLE_overhead:
		write_overhead(out, row);
		break;
	case GPROF_TABLE_nccl:
		write_nccl(out, row);
		break;
	default:
		write_call(out, row);
		break;
	}
}
