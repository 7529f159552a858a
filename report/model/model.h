/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stream says about its process once, apart from the events: names, calls, launch shapes,
 * places, threads, devices, clocks, losses. Read in one pass over the small tables; bounded by what
 * the process did different, not by how often it did it.
 */
#ifndef REPORT_MODEL_MODEL_H
#define REPORT_MODEL_MODEL_H

#include "report/util/clock_map.h"
#include "report/util/idmap.h"
#include "report/util/string_pool.h"
#include "report/stream/stream.h"

/* Texts are numbers of names.h everywhere. */
struct model_call {
	uint32_t name;
	uint8_t api; /* enum gprof_api */
};

struct model_shape {
	uint32_t string; /* the stream's id, 0 if the function gives the name */
	uint64_t function;
	uint32_t name; /* found after everything was read */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t registers;
	uint32_t static_shared_bytes, dynamic_shared_bytes, local_bytes;
};

struct model_place {
	uint32_t device, context, stream;
};

struct model_thread {
	uint32_t id, tid, parent;
	uint32_t name;
	bool is_created, is_ended, is_named;
	uint64_t seen_tick, created_tick, ended_tick;
};

struct model_function {
	uint64_t address;
	uint32_t name;
};

struct model_device {
	uint32_t id;
	uint32_t name;
	char uuid[64];
};

struct model_attribute {
	uint32_t device;
	uint32_t name;
	uint64_t value;
};

struct model_stream {
	uint32_t context, stream, priority, flags;
};

/* A Python function, and a stack by its innermost frame. */
struct model_py_code {
	uint32_t file, name; /* numbers of names.h */
	uint32_t line;	     /* where it begins */
	uint32_t text;	     /* of names.h, 0: not made yet; see py_stack.h */
};

struct model_py_stack {
	uint32_t parent, code, line;
	uint32_t text; /* of names.h, 0: not made yet; see py_stack.h */
};

/* A communicator of NCCL; see format.h. */
struct model_nccl_comm {
	uint64_t key;
	int32_t rank;
	uint32_t nr_ranks;
	uint32_t name;	/* of names.h, 0: not made yet; see nccl_name.h */
	uint32_t group; /* of names.h, made with the name; 0 unknown */
};

struct model_context {
	uint32_t id, device;
};

struct model_fact {
	uint32_t key, value;
};

struct model_notice {
	uint64_t tick;
	int64_t code;
	uint32_t cause, text;
};

struct model_loss {
	uint32_t cause;
	uint64_t count;
	bool is_harmless; /* something was cut short, no event is missing */
};

/* In `how` of a step, beside enum gprof_step_rule: only traces in other formats have these. */
enum {
	MODEL_STEP_TRACE = 128, /* ProfilerStep#N: begins exactly here */
	MODEL_STEP_END = 129,	/* no step: the one before ended, and the next has not begun */
};

struct model_step {
	uint64_t tick, step;
	uint32_t thread;
	uint8_t how;
};

/* Is it no step but the time between two? Its number is that of the one before. */
static inline bool model_step_is_gap(const struct model_step *step)
{
	return step->how == MODEL_STEP_END;
}

struct model_window {
	uint64_t tick, step;
	uint32_t window;
	uint8_t state;
};

#define MODEL_ARRAY(type, name) \
	struct type *name;      \
	size_t nr_##name, name##_capacity

struct process {
	struct stream *stream;
	struct idmap strings;	 /* uint32_t, number of names.h */
	struct idmap calls;	 /* struct model_call */
	struct idmap shapes;	 /* struct model_shape */
	struct idmap places;	 /* struct model_place */
	struct idmap threads;	 /* struct model_thread */
	struct idmap op_names;	 /* uint32_t, number of names.h */
	struct idmap op_shapes;	 /* uint32_t, number of names.h */
	struct idmap py_files;	 /* uint32_t, number of names.h */
	struct idmap py_codes;	 /* struct model_py_code */
	struct idmap py_stacks;	 /* struct model_py_stack */
	struct idmap nccl_comms; /* struct model_nccl_comm */
	/* 1 + the place in the arrays below, by id, by key, and by cause */
	struct idmap device_of, fact_of, loss_of;
	struct idmap context_devices; /* uint32_t, by the id of a context */
	MODEL_ARRAY(model_function, functions);
	MODEL_ARRAY(model_device, devices);
	MODEL_ARRAY(model_attribute, attributes);
	MODEL_ARRAY(model_stream, streams);
	MODEL_ARRAY(model_context, contexts);
	MODEL_ARRAY(model_fact, facts);
	MODEL_ARRAY(model_notice, notices);
	MODEL_ARRAY(model_loss, losses);
	MODEL_ARRAY(model_step, steps);
	MODEL_ARRAY(model_window, windows);
	struct clock_map host_clock;   /* ticks -> CLOCK_MONOTONIC ns */
	struct clock_map device_clock; /* CUPTI's ns -> CLOCK_MONOTONIC ns */
	int64_t realtime_offset_ns;    /* CLOCK_REALTIME - CLOCK_MONOTONIC at the first anchor */
	bool has_anchors;
	uint64_t first_ns,
		last_ns; /* of all events with times, CLOCK_MONOTONIC; first > last: none */
	uint64_t nr_events;
	uint64_t nr_lost_ends; /* of steps: they have no time, and the steps around them are left
				  out */
	/* pid, its namespace, start and boot name a process for ever; exec keeps all four */
	uint32_t pid;
	uint32_t pid_namespace;	 /* number of names.h, 0 unknown */
	int64_t start_ticks;	 /* -1 unknown */
	uint32_t boot;		 /* number of names.h, 0 unknown */
	bool has_job_clock;	 /* its times are those of the clock of the job, see job_clock.h */
	bool is_clock_fitted;	 /* they were put there ... */
	uint64_t clock_error_ns; /* ... and are so exact */
	int64_t rank, world;	 /* -1 unknown */
	bool is_ended;		 /* it says how it ended */
	bool is_foreign;	 /* its communicators are of nobody else here, see stranger.h */
	struct select *select;	 /* what is wanted of it, see select.h; NULL: everything */
};

/* Reads everything above from a stream, which the process owns from then on. */
struct process *process_create(struct stream *stream);
void process_destroy(struct process *process);

/* The value of a dotted key, or `otherwise`. NUL-terminated, as the stream had it. */
const char *process_fact(const struct process *process, const char *key, const char *otherwise);

/* The value as a number, -1 if there is none that is one. */
int64_t process_number(const struct process *process, const char *key);

/* Are both streams of one process, which exec'd in between? */
bool process_is_same(const struct process *a, const struct process *b);

/* Host name and command line, never NULL. */
const char *process_host(const struct process *process);
const char *process_command(const struct process *process);

/* Numbers of names.h for ids of the stream; something like "(unknown 7)" for ids without a row. */
uint32_t process_string(const struct process *process, uint64_t id);
uint32_t process_call_name(const struct process *process, uint64_t call, uint8_t *api);
uint32_t process_shape_name(const struct process *process, uint64_t shape);

/* The id that the system gave a thread; the recorder's own, `id`, where it is not known. */
static inline uint32_t process_tid(const struct process *process, uint32_t id)
{
	const struct model_thread *thread = idmap_get(&process->threads, id);

	return thread && thread->tid ? thread->tid : id;
}

/* The place with that id; one with all numbers UINT32_MAX if it is unknown. */
struct model_place process_place(const struct process *process, uint64_t id);

/* The name of a device, "GPU n" if the stream has none. */
uint32_t process_device_name(const struct process *process, uint32_t device);

/* The device of a context; 0 if the stream does not tell and the context is unknown. */
uint32_t process_context_device(const struct process *process, uint32_t context);

/* A number about a device by its name, false if the stream has none. */
bool process_attribute(
	const struct process *process, uint32_t device, const char *name, uint64_t *value);

/* The clock of a process: those with the same number, if it is not 0, share one. */
uint32_t process_clock(const struct process *process);

/* Events that are known to be missing, for whatever reason. */
uint64_t process_missing(const struct process *process);

/* True if nothing is missing, nothing damaged, and the process ended its stream. */
bool process_is_complete(const struct process *process);

/* Is it a table of events (calls, work, ranges), not of definitions or facts? */
bool model_is_event(unsigned int table);

#endif
