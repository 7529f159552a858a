/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the simulated driver share among themselves: the model's lock and the functions
 * that are not in the table of core.def. "_locked" means the caller holds sim_lock.
 */
#ifndef GPROF_SIM_MODEL_H
#define GPROF_SIM_MODEL_H

#include <pthread.h>

#include "test/sim/sim.h"

#define CORE(ret, name, params) ret sim_##name params;
#include "test/sim/core.def"

#define SIM_STREAM_MAGIC   0x73747265u
#define SIM_EVENT_MAGIC	   0x65766e74u
#define SIM_FUNCTION_MAGIC 0x66756e63u
#define SIM_ARRAY_MAGIC	   0x61727279u
#define SIM_GRAPH_MAGIC	   0x67726166u

/* What the environment asks for; read once by sim_init. README.md has the table. */
struct sim_config {
	int nr_devices;
	double time_scale;
	int64_t kernel_ns; /* < 0: by grid and name */
	bool is_overlap;
};

extern struct sim_config sim_config;
extern struct sim_core sim_core;
extern pthread_mutex_t sim_lock;
extern pthread_cond_t sim_changed; /* the worker finished something */

/* Reads the environment; called once. */
void sim_config_read(void);

/* Duration in ns of an operation that is not run by the CPU. */
uint64_t sim_duration(const struct sim_op *op);

/* Runs or queues an operation of op->stream in its order; takes sim_lock. */
int sim_submit(struct sim_op *op);

/* Does the data work of an operation: copies, sets, CPU kernels, host functions. No lock held. */
void sim_work(struct sim_op *op);

/* Gives the operation to the trace where that wants it. No lock held. */
void sim_report(const struct sim_op *op);

/* Places an operation on the device, not before @earliest_ns; sets its times and its engine's. */
void sim_place_locked(struct sim_op *op, uint64_t earliest_ns);

/* Whether the worker must run it: host code in stream order. */
bool sim_needs_worker(const struct sim_op *op);

/* The first time at which stream order allows something, and the record of what now came last. */
uint64_t sim_stream_ready_locked(struct sim_stream *stream, uint64_t now_ns);
void sim_stream_advance_locked(struct sim_stream *stream, uint64_t end_ns);

/* Waits until the stream's queue is empty and its last operation over; drops and takes sim_lock. */
uint64_t sim_stream_drain_locked(struct sim_stream *stream);

/* Sleeps until @time_ns of CLOCK_REALTIME. */
void sim_wait_until(uint64_t time_ns);

/* Copies the caller's kernel arguments into the operation where their sizes are known. */
int sim_args_keep(struct sim_op *op);
void sim_args_drop(struct sim_op *op);

/* Fills identities (device, context, stream ids, correlation) from op->stream. */
void sim_op_identify(struct sim_op *op);

/* Graphs: times and runs every node; the worker calls it where a node needs host code. */
bool sim_exec_needs_worker(const void *exec);
void sim_exec_run(void *exec, struct sim_op *launch);

/*
 * Capture: adds the operation as a node of the capture that op->stream is in. The caller tells the
 * trace about the node (sim_node_announce_new) when it holds no lock any more.
 */
int sim_capture_add_locked(struct sim_stream *stream, struct sim_op *op, struct sim_node **node);
int sim_capture_record_locked(struct sim_stream *stream, struct sim_event *event);
int sim_capture_wait_locked(struct sim_stream *stream, struct sim_event *event);

/* Calls @fn for every stream of the device. */
void sim_streams_each_locked(
	struct sim_device *device, void (*fn)(struct sim_stream *stream, void *data), void *data);

/* The device's streams all idle: the latest end. Drops and takes sim_lock while it waits. */
uint64_t sim_device_drain_locked(struct sim_device *device);

/* Forgets memory that was made known by sim_static_register; false if it was not. */
bool sim_static_unregister(void *address);

/* A new context of the device with its streams. */
struct sim_context *sim_context_create(struct sim_device *device, unsigned int flags);

/* The copy that a driver's parameters describe, of linear memory only. */
int sim_driver_copy_3d(struct sim_copy *c, const cu_memcpy3d *p);

#endif
