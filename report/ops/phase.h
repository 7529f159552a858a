/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides steps into phases by the names of operators: Dataloader, Forward, Backward, Optimization,
 * Others. No time is guessed:
 *
 *     Dataloader     enumerate(DataLoader)#...__next__
 *     Backward       from the first to the last autograd node of a run, on any thread. It includes
 *                    recomputation (activation checkpointing), and the wait for gradients of other
 *                    processes (DistributedDataParallel, FSDP)
 *     Optimization   Optimizer.step#... and Optimizer.zero_grad#..., without a backward inside
 *     Forward        a run of other operators on the loop's thread before Backward; zero_grad may
 *                    come between them. If a loader marks the next batch, operators between
 *                    Optimizer.step and zero_grad are Others. A run between two batches or steps
 *                    without any Backward is Forward, too: inference
 *     Others         the rest of the step, without an operator or not identified
 *
 * Paddle's own Forward, Backward and so on are used as they are. A phase belongs to the step in
 * which it begins, and a kernel to the phase whose operator launched it, whenever it ran.
 *
 * op_walk.c fills it from the last event to the first; phases_finish sorts it.
 */
#ifndef REPORT_OPS_PHASE_H
#define REPORT_OPS_PHASE_H

#include "report/ops/op.h"

enum phase {
	PHASE_DATALOADER,
	PHASE_FORWARD,
	PHASE_BACKWARD,
	PHASE_OPTIMIZATION,
	PHASE_OTHERS,
	NR_PHASES,
};

extern const char *const phase_names[NR_PHASES];

struct phase_segment {
	uint64_t begin, end;	   /* ticks */
	uint64_t gpu_ns;	   /* of what was launched in it */
	uint64_t communication_ns; /* of that, by calls that launched nothing else */
	uint64_t nr_activities;
	uint32_t step;	/* 1 + index in process.steps, 0 before the first */
	uint8_t class;	/* enum op_class */
	uint8_t phase;	/* enum phase, after phases_finish */
	uint32_t place; /* by time, when all of them were there */
	bool is_rest;	/* of a segment that another one interrupts */
};

/* The time between two rows of table step. */
struct phase_step {
	uint64_t ticks[NR_PHASES]; /* Others is not counted: it is the remainder */
	uint64_t gpu_ns[NR_PHASES];
	uint64_t communication_ns[NR_PHASES];
	/* The part of gpu_ns that belongs to no segment, since graphs that the step launched were
	 * captured in the phase.
	 */
	uint64_t graph_ns[NR_PHASES];
	uint64_t nr_activities;
	bool is_recorded; /* record windows cover all of it */
	bool is_chosen;	  /* see select.h; else tables must not show it */
};

struct phases {
	struct process *process;
	struct phase_segment *segments; /* by falling time until phases_finish */
	size_t nr_segments, capacity;
	struct phase_segment rest; /* continues before the last segment; class OP_RANGE: none */
	struct phase_step *steps;  /* of process.steps, the time before the first at 0 */
	size_t nr_steps;	   /* one more than there are rows; 1 without steps */
	uint64_t first, last;	   /* of all segments, ticks; first > last: none */
	uint64_t loop_tick;	   /* where the first step begins, see loop.h */
	bool is_loop_known;	   /* else the first step does not count */
	bool is_rest_seen;	   /* more of `rest` was seen before the last segment */
	bool has_loader, has_optimizer, has_backward, has_forward;
	bool has_phases;   /* after phases_finish: not only Dataloader is known */
	bool is_static;	   /* operators run on executor threads, so runs have no phase */
	uint8_t *phase_of; /* enum phase of each segment as phases_add numbered it */
	size_t nr_phase_of;
	uint64_t nr_unknown; /* runs between two Backwards without an optimizer */
};

/*
 * From here on, phases know which steps are whole and how long these are: rows of table step and
 * the operators of the first step say it.
 */
void phases_init(struct phases *phases, struct process *process);
void phases_fini(struct phases *phases);

/* The index of the step that contains a tick, as in phase_segment. */
uint32_t phases_step(const struct phases *phases, uint64_t tick);

/*
 * Adds a segment of a class. Ends must fall from call to call; a segment within the last one cuts
 * it in two. Returns the segment for phases_add_gpu.
 */
uint32_t phases_add(struct phases *phases, enum op_class class, uint64_t begin, uint64_t end);

/* Something of that class came before the last segment, in what encloses it. */
void phases_go_on(struct phases *phases, enum op_class class);

/* The sums of what a call launched. */
struct phase_gpu {
	uint64_t ns, nr_activities;
	bool is_communication; /* it launched nothing else */
};

/* The call was at `tick` in that segment, UINT32_MAX for none. */
void phases_add_gpu(
	struct phases *phases, uint32_t segment, uint64_t tick, const struct phase_gpu *gpu);

/* The same of a phase that is known: of nodes of a graph, which were captured in it. */
void phases_add_graph_gpu(
	struct phases *phases, enum phase phase, uint64_t tick, const struct phase_gpu *gpu);

/* Names the phases, sums up the steps, and keeps the selected segments. */
void phases_finish(struct phases *phases);

/*
 * The phase of an operator or call by its `segment`; Others before any walk over the operators of
 * the process has ended.
 */
enum phase phases_of_segment(const struct process *process, uint32_t segment);

/*
 * A single row of table step only marks where recording began. Without steps, everything has index
 * 0.
 */
bool phases_has_steps(const struct phases *phases);

/* Are begin and end of the step known, was it recorded completely, and is it selected? */
bool phases_is_whole(const struct phases *phases, uint32_t step);

/* The same of a row of table step, before any events are read. The caller frees the answers. */
bool *phases_whole_rows(struct process *process);

/*
 * The length of a whole step, and the GPU time launched in it. The first one starts with the
 * program, so its length counts from its first phase. The length in ns is the difference of the
 * times of both ends, as the budget and the replay have it; a duration by clock_map_duration() may
 * be a few ns off in a long step.
 */
uint64_t phases_step_ticks(const struct phases *phases, uint32_t step);
uint64_t phases_step_ns(const struct phases *phases, uint32_t step);
uint64_t phases_step_gpu_ns(const struct phases *phases, uint32_t step);

/*
 * Does anything show a training or inference loop, steps among it? Loader workers have operators
 * only.
 */
bool phases_has_loop(const struct phases *phases);

/*
 * Was a training seen: backward, an optimizer, or phases that the framework marks itself? Without
 * one it is inference, or another program, and nothing may speak of training.
 */
bool phases_is_training(const struct phases *phases);

/* A remark that the reader of a table needs, or NULL. */
const char *phases_remark(const struct phases *phases);

#endif
