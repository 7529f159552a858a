/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and sets: what kind they are, and whether the host waits for them. */
#include "test/sim/model.h"

#include "test/sim/cupti_abi.h"

static bool is_on_device(int space)
{
	return space != SIM_PAGEABLE && space != SIM_PINNED;
}

/* CUPTI's copy kind by the ends' spaces. */
static int copy_kind(int dst, int src)
{
	static const uint8_t kinds[3][3] = {
		/* to host, to device, to array; from host, device, array */
		{CUPTI_COPY_HTOH, CUPTI_COPY_DTOH, CUPTI_COPY_ATOH},
		{CUPTI_COPY_HTOD, CUPTI_COPY_DTOD, CUPTI_COPY_ATOD},
		{CUPTI_COPY_HTOA, CUPTI_COPY_DTOA, CUPTI_COPY_ATOA},
	};
	int to = dst == SIM_ARRAY ? 2 : is_on_device(dst);
	int from = src == SIM_ARRAY ? 2 : is_on_device(src);

	return kinds[to][from];
}

/* Managed memory counts as what the caller says it is. */
static int as_said(int space, bool is_device)
{
	return space == SIM_MANAGED ? (is_device ? SIM_MANAGED : SIM_PAGEABLE) : space;
}

static void describe(struct sim_op *op, int kind)
{
	int src_device = op->stream->context->device->index, dst_device = src_device;
	int src = sim_space_of(op->copy.src, &src_device, NULL, NULL);
	int dst = sim_space_of(op->copy.dst, &dst_device, NULL, NULL);

	if (kind != CUDA_COPY_DEFAULT) {
		src = as_said(src, kind == CUDA_COPY_D2H || kind == CUDA_COPY_D2D);
		dst = as_said(dst, kind == CUDA_COPY_H2D || kind == CUDA_COPY_D2D);
	}
	op->src_kind = (uint8_t)src;
	op->dst_kind = (uint8_t)dst;
	op->src_device_id = (uint32_t)src_device;
	op->dst_device_id = (uint32_t)dst_device;
	op->copy_kind = (uint8_t)copy_kind(dst, src);
	if (op->copy_kind == CUPTI_COPY_DTOD && src_device != dst_device) {
		op->is_peer = true;
	}
}

void sim_describe(struct sim_op *op)
{
	op->src_kind =
		op->kind == SIM_OP_COPY ? (uint8_t)sim_space_of(op->copy.src, NULL, NULL, NULL) : 0;
	op->dst_kind = (uint8_t)sim_space_of(op->copy.dst, NULL, NULL, NULL);
	op->copy_kind = (uint8_t)copy_kind(op->dst_kind, op->src_kind);
	op->bytes = (uint64_t)op->copy.width * op->copy.height * op->copy.depth;
}

/* A direction that contradicts the addresses is an error, as in CUDA with unified addresses. */
static bool is_possible(const struct sim_op *op, int kind)
{
	bool from_device = is_on_device(op->src_kind), to_device = is_on_device(op->dst_kind);

	switch (kind) {
	case CUDA_COPY_H2D:
		return !from_device && to_device;
	case CUDA_COPY_D2H:
		return from_device && !to_device;
	case CUDA_COPY_D2D:
		return from_device && to_device;
	case CUDA_COPY_H2H:
		return !from_device && !to_device;
	default:
		return true;
	}
}

static int copy_submit(struct sim_op *op, bool is_async)
{
	const struct sim_copy *c = &op->copy;
	bool is_captured = op->stream->capture;

	if (!c->width || !c->height || !c->depth) {
		return SIM_OK;
	}
	if (!c->dst || !c->src) {
		return SIM_INVALID_VALUE;
	}
	if (is_captured && !is_async) {
		return SIM_CAPTURE_UNSUPPORTED;
	}
	op->kind = SIM_OP_COPY;
	op->is_async = is_async;
	op->bytes = (uint64_t)c->width * c->height * c->depth;
	int r = sim_submit(op);

	/* The host waits for a synchronous copy, and for pageable memory to be written. */
	bool waits = op->copy_kind == CUPTI_COPY_DTOH && op->dst_kind == SIM_PAGEABLE;

	if (r != SIM_OK || is_captured || (is_async && !waits)) {
		return r;
	}
	pthread_mutex_lock(&sim_lock);
	uint64_t tail = sim_stream_drain_locked(op->stream);

	pthread_mutex_unlock(&sim_lock);
	if (op->copy_kind != CUPTI_COPY_DTOD) {
		sim_wait_until(tail);
	}
	return SIM_OK;
}

int sim_copy(const struct sim_copy *copy, int kind, bool is_async, void *stream)
{
	struct sim_op op = {.stream = sim_resolve(stream), .copy = *copy};

	if (!op.stream) {
		return sim_context() ? SIM_INVALID_HANDLE : SIM_NOT_INITIALIZED;
	}
	if (kind < CUDA_COPY_H2H || kind > CUDA_COPY_DEFAULT) {
		return 21; /* invalid copy direction */
	}
	describe(&op, kind);
	return is_possible(&op, kind) ? copy_submit(&op, is_async) : SIM_INVALID_VALUE;
}

int sim_copy_peer(
	const struct sim_copy *copy, int dst_device, int src_device, bool is_async, void *stream)
{
	struct sim_op op = {.stream = sim_resolve(stream), .copy = *copy};

	if (!op.stream) {
		return SIM_INVALID_HANDLE;
	}
	if (!sim_device(dst_device) || !sim_device(src_device)) {
		return SIM_INVALID_DEVICE;
	}
	describe(&op, CUDA_COPY_DEFAULT);
	op.src_device_id = (uint32_t)src_device;
	op.dst_device_id = (uint32_t)dst_device;
	op.is_peer = src_device != dst_device;
	return copy_submit(&op, is_async);
}

int sim_set(const struct sim_copy *dst, uint32_t value, uint32_t element_bytes, bool is_async,
	void *stream)
{
	struct sim_op op = {.kind = SIM_OP_SET, .stream = sim_resolve(stream), .copy = *dst};

	if (!op.stream) {
		return sim_context() ? SIM_INVALID_HANDLE : SIM_NOT_INITIALIZED;
	}
	op.bytes = (uint64_t)dst->width * dst->height * dst->depth;
	if (op.bytes == 0) {
		return SIM_OK;
	}
	int space = sim_space_of(dst->dst, NULL, NULL, NULL);

	if (space == SIM_PAGEABLE) {
		return SIM_INVALID_VALUE;
	}
	op.dst_kind = (uint8_t)space;
	op.value = element_bytes == 1 ? value & 0xff : value;
	op.element_bytes = element_bytes;
	op.is_async = is_async;
	return sim_submit(&op);
}
