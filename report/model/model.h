/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process: all that its stream says besides events: names, calls, launch shapes, places
 * (device, context and stream of an activity), threads, devices, clocks, losses.
 *
 * One pass over the small tables reads it. Memory is bounded by how many different names, shapes
 * and threads the process used, not by how often.
 */
#ifndef REPORT_MODEL_MODEL_H
#define REPORT_MODEL_MODEL_H

#include "report/util/clock_map.h"
#include "report/util/idmap.h"
#include "report/util/string_pool.h"
#include "report/stream/stream.h"

/* Texts are numbers of string_pool.h throughout. */
struct model_call {
	uint32_t name;
	uint8_t api; /* enum gprof_api */
};

struct model_shape {
	uint32_t string; /* the stream's id, 0 if the function gives the name */
	uint64_t function;
	uint32_t name; /* set after all rows are read */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t registers;
	uint32_t static_shared_bytes, dynamic_shared_bytes, local_bytes;
	/* what the profiler estimated whose trace this is */
	uint32_t blocks_per_sm_milli, occupancy_pct;
	bool has_estimate;
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

/* A Python function. A stack is known by its innermost frame. */
struct model_py_code {
	uint32_t file, name; /* of string_pool.h */
	uint32_t line;	     /* of its first line */
	uint32_t text;	     /* of string_pool.h, 0: not built yet; see py_stack.h */
	uint16_t loader;     /* 0: not asked yet; see loader_stage.c */
	uint16_t compiler;   /* 0: not asked yet; see compile_samples.c */
};

struct model_py_stack {
	uint32_t parent, code, line;
	uint32_t text, trace_text; /* of string_pool.h, 0: not built yet; see py_stack.h */
};

/* A file of machine code, and a stack by its innermost frame; see format.h and native_stack.h. */
struct model_code_file {
	uint32_t path, build_id; /* of string_pool.h */
	uint32_t name;		 /* likewise: the path's last part; 0: not built yet */
	struct code_symbols *symbols;
};

struct model_native_stack {
	uint32_t parent, code_file;
	uint64_t address;
	uint32_t name; /* of string_pool.h, 0: not built yet */
};

/* A communicator of NCCL; see format.h. */
struct model_nccl_comm {
	uint64_t key;
	int32_t rank;
	uint32_t nr_ranks;
	uint32_t name;	/* of string_pool.h, 0: not built yet; see nccl_names.h */
	uint32_t group; /* of string_pool.h, set with the name; 0: unknown */
	uint32_t text;	/* id of the name that the program gave it, 0: none */
};

/* A call in code that torch.compile generated; see format.h and compiled_code.h. */
struct model_compiled_call {
	uint32_t file, name, operators, nodes; /* of string_pool.h; the last two: 0 for none */
	uint32_t line;
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
	bool is_harmless; /* something was truncated, but no event is missing */
};

/*
 * The unit of a loss's count, for a sentence: "events lost" or "times", each also in the
 * singular.
 */
static inline const char *model_loss_unit(const struct model_loss *loss)
{
	if (loss->is_harmless) {
		return loss->count == 1 ? "time" : "times";
	}
	return loss->count == 1 ? "event lost" : "events lost";
}

/* Values of a step's `how` besides enum gprof_step_rule; only imported traces have them. */
enum {
	MODEL_STEP_TRACE = 128, /* ProfilerStep#N: begins exactly here */
	MODEL_STEP_END = 129,	/* no step: the last one has ended, the next has not begun */
};

struct model_step {
	uint64_t tick, step;
	uint32_t thread;
	uint8_t how;
};

/* Is it the time between two steps? It has the number of the one before. */
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

/* In origin_ns: nothing of the process has a time. */
#define MODEL_NO_ORIGIN UINT64_MAX

struct process {
	struct stream *stream;
	struct idmap strings;		  /* uint32_t of string_pool.h */
	struct idmap calls;		  /* struct model_call */
	struct idmap shapes;		  /* struct model_shape */
	struct idmap places;		  /* struct model_place */
	struct idmap threads;		  /* struct model_thread */
	struct idmap thread_of;		  /* uint32_t of threads, by the system's number */
	struct idmap op_names;		  /* uint32_t of string_pool.h */
	struct idmap op_shapes;		  /* uint32_t of string_pool.h */
	struct idmap py_files;		  /* uint32_t of string_pool.h */
	struct idmap py_codes;		  /* struct model_py_code */
	struct idmap py_stacks;		  /* struct model_py_stack */
	struct idmap code_files;	  /* struct model_code_file */
	struct idmap native_stacks;	  /* struct model_native_stack */
	bool has_launch_stacks;		  /* of all, not of long ones only */
	struct code_symbols *jit_symbols; /* of code without a file, see native_stack.h */
	bool has_jit_symbols;		  /* or has looked for them */
	uint8_t *segment_phases;	  /* enum phase, see phases_of_segment */
	size_t nr_segment_phases;
	uint32_t loop_thread; /* see loop.h, which sets it at the first question */
	bool has_loop_thread;
	uint64_t loop_begin; /* tick; set likewise */
	bool has_loop_begin;
	struct idmap nccl_comms; /* struct model_nccl_comm */
	/* 1 + the index in the arrays below, by id, key and cause */
	struct idmap device_of, fact_of, loss_of;
	struct idmap context_devices; /* uint32_t, by context id */
	MODEL_ARRAY(model_function, functions);
	MODEL_ARRAY(model_device, devices);
	MODEL_ARRAY(model_attribute, attributes);
	MODEL_ARRAY(model_stream, streams);
	MODEL_ARRAY(model_context, contexts);
	MODEL_ARRAY(model_compiled_call, compiled_calls);
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
		last_ns;    /* of all events with times, CLOCK_MONOTONIC; first > last: none */
	uint64_t origin_ns; /* CLOCK_MONOTONIC of time 0, see time_axis.h */
	uint64_t alive_ns;  /* the last time of all, also of samples and notices; 0: none */
	uint64_t nr_events;
	uint64_t
		first_row_tick; /* of the first step in table step if it begins later, see loop.h */
	uint64_t nr_lost_ends;	/* step ends without a time; steps beside them are dropped */
	/* pid, its namespace, start and boot identify a process; exec keeps all four */
	uint32_t pid;
	uint32_t pid_namespace;	     /* of string_pool.h, 0: unknown */
	uint32_t ancestor_namespace; /* that of pids of ancestors */
	int64_t start_ticks;	     /* -1: unknown */
	uint32_t boot;		     /* of string_pool.h, 0: unknown */
	bool has_job_clock;	     /* its times are on the job's clock, see job_clock.h */
	bool is_clock_fitted;	     /* its clock was aligned to it ... */
	uint64_t clock_error_ns;     /* ... with this error */
	int64_t rank, world;	     /* -1: unknown */
	bool is_ended;		     /* its stream says how it ended */
	bool is_closed_selected;     /* only record windows that are closed are selected */
	bool is_foreign;       /* no other process has its communicators, see foreign_rank.c */
	struct select *select; /* the selected part, see select.h; NULL: everything */
};

/* Reads all of the above from a stream. The process then owns the stream. */
struct process *process_create(struct stream *stream);
void process_destroy(struct process *process);

/* The value of a dotted key, or `otherwise`. NUL-terminated, as recorded. */
const char *process_fact(const struct process *process, const char *key, const char *otherwise);

/*
 * The format of the trace that the process was imported from, "" for a recording. A timeline that
 * gprof wrote names that of what it was made of.
 */
const char *process_source(const struct process *process);

/* The value as a number, -1 if there is none. */
int64_t process_number(const struct process *process, const char *key);

/* Are both streams of one process that called exec in between? */
bool process_is_same(const struct process *a, const struct process *b);

/* Host name and command line, never NULL. */
const char *process_host(const struct process *process);
const char *process_command(const struct process *process);

/*
 * Numbers of string_pool.h for ids of the stream; "(unknown 7)" or similar for ids without a row.
 */
uint32_t process_string(const struct process *process, uint64_t id);
uint32_t process_call_name(const struct process *process, uint64_t call, uint8_t *api);
uint32_t process_unknown_shape(uint64_t shape);

static inline uint32_t process_shape_name(const struct process *process, uint64_t shape)
{
	const struct model_shape *found =
		shape > UINT32_MAX ? NULL : idmap_get(&process->shapes, (uint32_t)shape);

	return found ? found->name : process_unknown_shape(shape);
}

/* The thread id of the system; the recorder's `id` if that is unknown. */
static inline uint32_t process_tid(const struct process *process, uint32_t id)
{
	const struct model_thread *thread = idmap_get(&process->threads, id);

	return thread && thread->tid ? thread->tid : id;
}

/* The place with that id; if it is unknown, one with all numbers UINT32_MAX. */
static inline struct model_place process_place(const struct process *process, uint64_t id)
{
	const struct model_place *found =
		id > UINT32_MAX ? NULL : idmap_get(&process->places, (uint32_t)id);

	return found ? *found : (struct model_place){UINT32_MAX, UINT32_MAX, UINT32_MAX};
}

/*
 * The name of a device. One that the stream does not list has the name that all listed ones have:
 * ROCm numbers the devices of activities otherwise than those of properties. Else "GPU n".
 */
uint32_t process_device_name(const struct process *process, uint32_t device);

/* The device of a context; 0 if neither is known. */
uint32_t process_context_device(const struct process *process, uint32_t context);

/* A number about a device by name; false if the stream has none. */
bool process_attribute(
	const struct process *process, uint32_t device, const char *name, uint64_t *value);

/*
 * Returns how many of its steps have begun at a tick: 1 + the index of the step at that time, or
 * 0.
 */
size_t process_steps_begun(const struct process *process, uint64_t tick);

/* The clock of a process: those with the same number, if it is not 0, share one. */
uint32_t process_clock(const struct process *process);

/* Returns how many events are missing, for whatever reason. */
uint64_t process_missing(const struct process *process);

/*
 * Did the process not end its stream, although what is selected needs the end? Record windows that
 * are closed do not.
 */
bool process_lacks_end(const struct process *process);

/* True if nothing is missing or damaged, and the end is there. */
bool process_is_complete(const struct process *process);

/*
 * dedup.c: destroys processes whose recording is there already, so that tables do not count it
 * twice. If one copy of a stream is cut off, the one with more events stays.
 *
 * The processes are sorted by rank, host, pid and begin, and stay so. Calls `warn` with a sentence
 * for each that is dropped. Returns true if there are any.
 */
bool dedup_drop(
	struct process **processes, size_t *nr_processes, void (*warn)(const char *sentence));

#endif
