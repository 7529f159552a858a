/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/write.h"

static void write_op(struct kineto_out *out, const struct kineto_row *from)
{
	struct gprof_row_op *row = kineto_out_row(out, GPROF_TABLE_op);

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

static void write_call(struct kineto_out *out, const struct kineto_row *from)
{
	/* All tables of calls begin alike. */
	struct gprof_row_api *row = kineto_out_row(out, from->table);

	row->begin = from->begin;
	row->dur = from->end;
	row->thread = from->thread;
	row->correlation = from->call.correlation;
	row->call = from->call.call;
	row->door = GPROF_DOOR_CALLBACK;
}

static void write_launch(struct kineto_out *out, const struct kineto_row *from)
{
	struct gprof_row_api_launch *row = kineto_out_row(out, GPROF_TABLE_api_launch);

	row->begin = from->begin;
	row->dur = from->end;
	row->thread = from->thread;
	row->correlation = from->call.correlation;
	row->call = from->call.call;
	row->door = GPROF_DOOR_CALLBACK;
	row->py_stack = from->call.py_stack;
}

static void write_py_call(struct kineto_out *out, const struct kineto_row *from)
{
	struct gprof_row_py_call *row = kineto_out_row(out, GPROF_TABLE_py_call);

	row->begin = from->begin;
	row->dur = from->end;
	row->thread = from->thread;
	row->py_code = from->py_call.code;
}

static void write_alloc(struct kineto_out *out, const struct kineto_row *from)
{
	struct gprof_row_alloc *row = kineto_out_row(out, GPROF_TABLE_alloc);

	row->time = from->begin;
	row->address = from->alloc.address;
	row->bytes = from->alloc.bytes;
	row->allocated_bytes = from->alloc.allocated;
	row->reserved_bytes = from->alloc.reserved;
	row->thread = from->thread;
	row->device_type = from->kind;
	row->device = from->source;
	row->framework = GPROF_FRAMEWORK_TORCH;
}

/* What rows of kernels, copies and sets have alike. */
#define WRITE_WORK(row, from)                                  \
	do {                                                   \
		(row)->begin = (from)->begin;                  \
		(row)->dur = (from)->end;                      \
		(row)->place = (from)->work.place;             \
		(row)->correlation = (from)->work.correlation; \
		(row)->graph = (from)->work.graph;             \
		(row)->graph_node = (from)->work.graph_node;   \
		(row)->channel = (from)->thread;               \
	} while (0)

static void write_kernel(struct kineto_out *out, const struct kineto_row *from)
{
	struct gprof_row_kernel *row = kineto_out_row(out, GPROF_TABLE_kernel);

	WRITE_WORK(row, from);
	row->shape = from->work.shape;
}

static void write_copy(struct kineto_out *out, const struct kineto_row *from, bool is_async)
{
	struct gprof_row_memcpy *row = kineto_out_row(out, GPROF_TABLE_memcpy);

	WRITE_WORK(row, from);
	row->bytes = from->work.bytes;
	row->copy_kind = from->kind;
	row->src_kind = from->source;
	row->dst_kind = from->target;
	row->flags = is_async;
}

static void write_set(struct kineto_out *out, const struct kineto_row *from, bool is_async)
{
	struct gprof_row_memset *row = kineto_out_row(out, GPROF_TABLE_memset);

	WRITE_WORK(row, from);
	row->bytes = from->work.bytes;
	row->memory_kind = from->target;
	row->flags = is_async;
}

static void write_sync(struct kineto_out *out, const struct kineto_row *from)
{
	struct gprof_row_sync *row = kineto_out_row(out, GPROF_TABLE_sync);

	row->begin = from->begin;
	row->dur = from->end;
	row->place = from->work.place;
	row->correlation = from->work.correlation;
	row->type = from->kind;
}

static void write_overhead(struct kineto_out *out, const struct kineto_row *from)
{
	struct gprof_row_overhead *row = kineto_out_row(out, GPROF_TABLE_overhead);

	row->begin = from->begin;
	row->dur = from->end;
	row->overhead_kind = from->work.shape;
}

/* Its kernel tells of it: the thread that called is that of the launch. */
static void write_nccl(struct kineto_out *out, const struct kineto_row *from)
{
	struct gprof_row_nccl *row = kineto_out_row(out, GPROF_TABLE_nccl);

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

void kineto_write_row(struct kineto_out *out, const struct kineto_row *row, bool is_async)
{
	switch (row->table) {
	case GPROF_TABLE_op:
		write_op(out, row);
		break;
	case GPROF_TABLE_py_call:
		write_py_call(out, row);
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
		write_copy(out, row, is_async);
		break;
	case GPROF_TABLE_memset:
		write_set(out, row, is_async);
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
