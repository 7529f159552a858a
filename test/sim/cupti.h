/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the simulated CUPTI share. It behaves as the real one where that is unpleasant:
 * buffers are asked for on the application's thread and come back on another, records come late and
 * out of order, layouts are those of the version chosen.
 */
#ifndef GPROF_SIM_CUPTI_H
#define GPROF_SIM_CUPTI_H

#include "test/sim/cupti_abi.h"
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
typedef void (*cupti_sim_requested_v2_fn)(
	uint8_t **buffer, size_t *bytes, size_t *max_records, void *info);
typedef void (*cupti_sim_completed_v2_fn)(
	uint8_t *buffer, size_t bytes, size_t valid_bytes, void *info);
void cupti_sim_buffers_register_v2(
	cupti_sim_requested_v2_fn requested, cupti_sim_completed_v2_fn completed);
/* cuptiFinalize: whatever is out goes back, and nobody is asked any more. */
void cupti_sim_buffers_end(void);
size_t cupti_sim_dropped_take(void);
void cupti_sim_period_set(uint32_t ms);

/* The trace that is plugged into the model: turns operations and calls into records. */
extern struct sim_trace cupti_sim_trace;
bool cupti_sim_kind_set(uint32_t kind, bool is_on);
void cupti_sim_kind_dump(uint32_t kind);
void cupti_sim_want_all(uint32_t kind, bool is_on);
void cupti_sim_want_one(uint32_t kind, uint32_t cbid, bool is_on);

bool cupti_sim_is_on(uint32_t kind);

/* PM sampling counts the kernels that run. */
void cupti_sim_pm_kernel(const struct sim_op *op);

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

/* Plugs the trace into the model. */
void cupti_sim_attach(void);

/*
 * Callbacks. There is one subscriber, or with SIM_CUPTI_SUBSCRIBERS=multi several, if each said
 * that it allows others; those have an activity API of their own (the _v2 functions), and calls of
 * the process's one fail while there is one of them.
 */
bool cupti_sim_is_multi(void);
bool cupti_sim_has_own_scope(void);
bool cupti_sim_is_own(void *subscriber);
void cupti_sim_subscribers_end(void);
void cupti_sim_call_subscribers(uint32_t domain, uint32_t cbid, const void *data);

/* The clock of records: CLOCK_REALTIME, or what a client has registered. */
uint64_t cupti_sim_clock_now(void);
void cupti_sim_clock_end(void);
bool cupti_sim_clock_is_past(uint64_t record_ns, uint64_t now_ns);
/* Puts the times of a record of that kind, in CLOCK_REALTIME, into the clock of records. */
void cupti_sim_clock_convert(void *record, uint32_t kind);

/* The thread's external correlation IDs, innermost last. */
enum { CUPTI_SIM_EXTERNAL_DEPTH = 32 };
struct cupti_sim_external {
	uint64_t of[8][CUPTI_SIM_EXTERNAL_DEPTH];
	int nr[8];
};
extern __thread struct cupti_sim_external cupti_sim_external;

extern _Atomic bool cupti_sim_latency;
extern _Atomic bool cupti_sim_has_all_syncs; /* also of waits that found "not ready" */
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
