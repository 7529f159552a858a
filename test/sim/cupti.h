/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the simulated CUPTI share. It behaves as the real one where that is unpleasant:
 * buffers are asked for on the application's thread and come back on another, records come late and
 * out of order, layouts are those of the version chosen.
 */
#ifndef GPROF_SIM_CUPTI_H
#define GPROF_SIM_CUPTI_H

#include "collector/cupti_abi.h"
#include "test/sim/sim.h"

enum cupti_sim_limit {
	CUPTI_SIM_MAX_RECORD = 256,
	CUPTI_SIM_MAX_CBIDS = SIM_MAX_CBID,
};

/* Version answered for: 11080, 12040 or 13000; by soname, or by SIM_CUPTI. */
int cupti_sim_level(void);

/* The model, or NULL without a driver. */
struct sim_core *cupti_sim_core(void);

/* Code that every call returns because the environment refuses (SIM_CUPTI_INIT), or 0. */
int cupti_sim_refusal(void);

/* Bytes of a record kind in the version chosen; 0 where it has no such kind. */
size_t cupti_sim_stride(uint32_t kind);

/* Stores a record (in 13.0's layout) that is complete at @end_ns. May ask for a buffer. */
void cupti_sim_put(const void *record, size_t bytes, uint64_t end_ns, bool is_device_side);

/* Returns complete buffers to the client; all of them, and incomplete records, where forced. */
void cupti_sim_flush(bool is_forced);

/* Starts the thread that returns full buffers. */
void cupti_sim_worker_start(void);

void cupti_sim_buffers_register(
	cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed);
size_t cupti_sim_dropped_take(void);
void cupti_sim_period_set(uint32_t ms);

/* The trace that is plugged into the model: turns operations and calls into records. */
extern struct sim_trace cupti_sim_trace;
bool cupti_sim_kind_set(uint32_t kind, bool is_on);
void cupti_sim_kind_dump(uint32_t kind);
void cupti_sim_want_all(uint32_t kind, bool is_on);
void cupti_sim_want_one(uint32_t kind, uint32_t cbid, bool is_on);

bool cupti_sim_is_on(uint32_t kind);

/* One record each, stored. */
void cupti_sim_put_kernel(const struct sim_op *op);
void cupti_sim_put_copy(const struct sim_op *op);
void cupti_sim_put_peer(const struct sim_op *op);
void cupti_sim_put_set(const struct sim_op *op);
void cupti_sim_put_sync(const struct sim_op *op);
void cupti_sim_put_memory(const struct sim_op *op);
void cupti_sim_put_graph(const struct sim_op *op);
void cupti_sim_put_event(const struct sim_op *op);
void cupti_sim_put_device(const struct sim_device *d);
void cupti_sim_put_context(const struct sim_context *c);
void cupti_sim_put_stream(const struct sim_stream *s);
void cupti_sim_put_flush(uint64_t start_ns, uint64_t end_ns);

/* Callbacks: the only subscriber, and what it has enabled. */
struct cupti_sim_subscriber {
	cupti_callback_fn callback;
	void *userdata;
	_Atomic bool resource[64];
};

extern struct cupti_sim_subscriber *_Atomic cupti_sim_subscriber;

/* The thread's external correlation ids, innermost last. */
enum { CUPTI_SIM_EXTERNAL_DEPTH = 32 };
struct cupti_sim_external {
	uint64_t of[8][CUPTI_SIM_EXTERNAL_DEPTH];
	int nr[8];
};
extern __thread struct cupti_sim_external cupti_sim_external;

extern _Atomic bool cupti_sim_latency;
extern _Atomic int cupti_sim_thread_id_type;

#define CUPTI_SIM_EXPORT(name, params) \
	SIM_EXPORT int name params;    \
	SIM_EXPORT int name params

/* Most functions fail as the environment says, and before anything else. */
#define CUPTI_SIM_CHECK()                           \
	do {                                        \
		int refusal_ = cupti_sim_refusal(); \
                                                    \
		if (refusal_) {                     \
			return refusal_;            \
		}                                   \
	} while (0)

#endif
