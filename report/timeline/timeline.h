/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline as Chrome JSON in Kineto's dialect, so that Perfetto, chrome://tracing and
 * HolisticTraceAnalysis open it. Written in one pass over each process; what waits in memory is
 * only what may still have to be put in order.
 */
#ifndef REPORT_TIMELINE_TIMELINE_H
#define REPORT_TIMELINE_TIMELINE_H

#include "report/util/buf.h"
#include "report/util/idset.h"
#include "report/model/model.h"
#include "report/model/occupancy.h"
#include "report/timeline/part.h"
#include "report/timeline/pick.h"

/* Pids that devices of a process have in the file; the last one is that of the unknown one. */
#define TIMELINE_DEVICES 64u

struct timeline_rows;
struct timeline_lanes;

/* A slice of work that waits for its place in the order of begins. */
struct timeline_slice {
	uint64_t begin, end; /* CUPTI's ns */
	uint64_t bytes;
	uint64_t graph_node;
	uint32_t shape, place, correlation, graph;
	uint32_t channel, value;
	uint32_t peer[4]; /* src_device, dst_device, src_context, dst_context */
	uint8_t table;
	uint8_t copy_kind, src_kind, dst_kind;
};

/* Its place in the order. */
struct timeline_key {
	uint64_t begin, end;
	uint32_t slot; /* in timeline.slices */
};

struct timeline {
	struct buf *out;
	uint64_t base_ns;		    /* CLOCK_REALTIME, ts count from it */
	const struct timeline_pick *pick;   /* NULL: everything */
	uint64_t all_first_ns, all_last_ns; /* events of all processes, in the file's time */
	uint64_t nr_all;		    /* events */
	const struct timeline_part *part;   /* NULL: everything */
	uint64_t event_at, event_ns; /* of the event that is being written: its place, and time */
	uint64_t nr_events;
	/* of the process at hand */
	struct process *process;
	int64_t offset_ns; /* CLOCK_MONOTONIC of its host -> CLOCK_REALTIME */
	uint64_t first_id; /* of its arrows: ids name things of the whole file */
	uint32_t pid;	   /* that it gets in the file */
	uint32_t first_device_pid;
	uint64_t first_ns;	       /* its first event, in the file's time */
	struct idset *called, *worked; /* correlation ids of calls and of work */
	struct timeline_lanes *lanes;  /* timeline_lane.h */
	struct timeline_rows *rows;    /* timeline_row.h */
	struct timeline_slice *slices; /* slots, some of them free */
	size_t nr_slices, slice_capacity;
	uint32_t *free_slots;
	size_t nr_free, free_capacity;
	struct timeline_key *keys; /* in order up to nr_sorted, new ones behind */
	struct timeline_key *scratch;
	size_t nr_keys, nr_sorted, key_capacity, scratch_capacity;
	struct idmap shape_args; /* char *, JSON of what depends on the shape only */
	struct occupancy_device device;
	uint32_t device_id; /* of `device`; UINT32_MAX none yet */
};

/* Nanoseconds of the process's clocks to those of the file. */
uint64_t timeline_host_ns(struct timeline *timeline, uint64_t tick);
uint64_t timeline_device_ns(struct timeline *timeline, uint64_t device_ns);

/* The last event of the process, which has events, in the file's time. */
uint64_t timeline_last_ns(const struct timeline *timeline);

/* What a thread is called in the file: its id in the system, if that is known. */
uint32_t timeline_tid(const struct timeline *timeline, uint64_t thread);

/* Begins an event: `{"ph": "X", "cat": ..., "name": ...`; the name is JSON already, with quotes. */
void timeline_begin(
	struct timeline *timeline, char ph, const char *category, const char *name_json);

/* `, "pid": ..., "tid": ..., "ts": ...` and for slices `, "dur": ...`. */
void timeline_place(struct timeline *timeline, uint32_t pid, uint32_t tid, uint64_t begin_ns,
	const uint64_t *end_ns);

/* One end of the arrow from a call to its work; id: the correlation. */
void timeline_flow(
	struct timeline *timeline, char ph, uint32_t id, uint32_t pid, uint32_t tid, uint64_t ns);

/* A text of names.h as JSON, made once. */
const char *timeline_name(uint32_t name);

/* Microseconds with three decimals. */
void timeline_add_us(struct buf *out, uint64_t ns);

/* timeline_host.c: calls, operators, ranges, marks, steps, and the names of threads. */
void timeline_host(struct timeline *timeline);

/* timeline_device.c: what ran on devices, and the names of their rows. */
void timeline_devices(struct timeline *timeline);

/*
 * Clocks of one host run alike, so all its processes are placed by the same reading of
 * CLOCK_REALTIME, which may have jumped between two readings.
 */
int64_t timeline_offset(struct process *const *processes, size_t nr_processes, size_t k);

/*
 * Sets base_ns, all_first_ns and so on. base_ns is before_ns before the first event; with 0 it is
 * the same for all files of a job.
 */
void timeline_find_base(struct timeline *timeline, struct process *const *processes,
	size_t nr_processes, uint64_t before_ns);

/* Makes processes[k] the one at hand, until timeline_leave. */
void timeline_enter(
	struct timeline *timeline, struct process *const *processes, size_t nr_processes, size_t k);
void timeline_leave(struct timeline *timeline);

/* What is chosen of some processes: a whole file named `name`. pick may be NULL. */
void timeline_write(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick, const char *name, struct buf *out);

/* The same of a part of the time. */
void timeline_write_part(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick, const char *name, const struct timeline_part *part,
	struct buf *out);

#endif
