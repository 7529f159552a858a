/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a process's GPUs as PyTorch's own snapshots have it: segments, which the driver
 * gave; blocks in them, which a framework's allocator gave; and all events that led there. A view
 * in the order of time, made of calls of cudaMalloc and its kin and of the allocator's events.
 *
 *     segment   |--------------------------------------------|   cudaMalloc ... cudaFree
 *     blocks    |--block--|  free  |-----block-----|  free   |   allocated and freed by PyTorch
 *
 * A segment in which no block ever lies is memory beside the allocator: of NCCL, cuBLAS, a graph or
 * the program itself. A block in no segment (its cudaMalloc was before the recording, or memory
 * was mapped) gets one that is there from the begin to the end.
 *
 * Memory: 56 bytes an event, 64 a segment.
 */
#ifndef REPORT_MEMORY_MEMORY_SNAPSHOT_H
#define REPORT_MEMORY_MEMORY_SNAPSHOT_H

#include "report/ops/alloc_category.h"

enum memory_event_kind {
	MEMORY_EVENT_ALLOC,
	MEMORY_EVENT_FREE,
	MEMORY_EVENT_SEGMENT_ALLOC,
	MEMORY_EVENT_SEGMENT_FREE,
	MEMORY_EVENT_REFUSED, /* a cudaMalloc that failed */
};

/* CUDA_ERROR_OUT_OF_MEMORY and cudaErrorMemoryAllocation. */
#define MEMORY_OUT_OF_MEMORY 2

/* Beside those of enum alloc_category: nothing that the allocator gave. */
#define MEMORY_EVENT_NO_CATEGORY NR_ALLOC_CATEGORIES

#define MEMORY_NO_SEGMENT UINT32_MAX

struct memory_event {
	uint64_t tick, address, bytes;
	/*
	 * Who did it: a text of string_pool.h that holds numbers, see memory_frames. 0: unknown.
	 */
	uint32_t frames;
	uint32_t segment;    /* of a segment's events, in `segments`; MEMORY_NO_SEGMENT: unknown */
	uint64_t free_bytes; /* of a refused one: of the device less all segments; 0: unknown */
	/*
	 * For a block where another one was in use, whose free was not recorded: the bytes of that
	 * one; 0: there was none.
	 */
	uint64_t replaced_bytes;
	uint8_t kind; /* enum memory_event_kind */
	uint8_t category;
	uint8_t device;
	bool is_selected; /* see select.h */
};

struct memory_segment {
	uint64_t address, bytes;
	uint64_t end; /* tick; MEMORY_LEFT: not freed */
	uint32_t frames;
	uint8_t device;	     /* 0 where no block tells it */
	bool has_blocks;     /* ever */
	size_t first_block;  /* in `blocks`, of those in use after the last event ... */
	size_t nr_blocks;    /* ... how many there are ... */
	uint64_t used_bytes; /* ... and what they take; all of a segment without blocks */
	bool is_assumed;     /* nobody saw it begin: it is where its blocks are */
};

struct memory_snapshot {
	struct process *process;
	struct memory_event *events; /* by time, up to the last one that is selected */
	size_t nr_events, event_capacity;
	struct memory_segment *segments;
	size_t nr_segments, segment_capacity;
	/* Those of events that made the blocks in use after the last one, by address. */
	const struct memory_event **blocks;
	size_t nr_blocks;
	uint64_t nr_nameless; /* events of the allocator without an address */
};

/* Is a space of enum gprof_space memory of a GPU alone? */
static inline bool memory_snapshot_is_of_gpu(uint64_t space)
{
	return space == GPROF_SPACE_DEVICE || space == GPROF_SPACE_POOL;
}

/* The name of memory that a program, NCCL or cuBLAS takes by cudaMalloc, not through a framework's
 * allocator. */
#define MEMORY_DIRECT_NAME "from the driver"

/* The memory of the process's GPU; false if it uses several, or if the size is unknown. */
bool memory_snapshot_device_bytes(const struct process *process, uint64_t *bytes);

/* Reads all of it; memory_snapshot_fini frees it. */
void memory_snapshot_read(struct memory_snapshot *snapshot, struct process *process);

/*
 * The same up to the last selected call that failed, which is the last event then: what was in use
 * when it did. Without such a call there are no events.
 */
void memory_snapshot_read_failed(struct memory_snapshot *snapshot, struct process *process);
void memory_snapshot_fini(struct memory_snapshot *snapshot);

/* Numbers of `frames`: the Python stack, the call of CUDA, and operators and modules, innermost
 * first. */
#define MEMORY_FRAMES_MAX 64u
struct memory_frames {
	uint32_t py_stack, call; /* 0: none */
	uint32_t nr_ops;
	struct {
		uint32_t name, is; /* enum op_is */
	} ops[MEMORY_FRAMES_MAX];
};
void memory_snapshot_frames(uint32_t name, struct memory_frames *frames);

#endif
