/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a dump directory while they run: what their streams have got is read block by
 * block and kept as a few numbers, so that memory does not grow with the streams. Files are only
 * read. For the line, the metrics and the windows of `gprof-report watch`.
 */
#ifndef REPORT_CLI_WATCH_H
#define REPORT_CLI_WATCH_H

#include "report/session/runs.h"
#include "report/util/buf.h"
#include "report/model/process_exit.h"

/* GPUs of a process whose samples are kept. */
#define WATCH_GPUS 16u

/* Sums of a stretch of time. */
struct watch_slice {
	uint64_t nr_steps, steps_ns;	      /* steps whose begin and end are known */
	uint64_t nr_gpu_samples, gpu_percent; /* NVML's, of all GPUs */
	uint64_t cpu_ns, cpu_time_ns;	      /* CPU time of the process, in that much time */
};

/* A record window that has closed, and what the stream had by then. */
struct watch_window {
	uint32_t number;
	uint64_t group;
};

/* Numbers of hangs that the recorder found (table hang), from 1; 0: none. */
struct watch_hangs {
	uint32_t began, ended; /* the newest */
	uint32_t seen;	       /* the newest reported one, or one over when the process was found */
	uint32_t reported;     /* reported to the user, its end not yet */
};

struct watch_process {
	struct process *process; /* as it was when it was found: who it is */
	struct stream *stream;	 /* what it writes; NULL if it had ended then */
	char *path;		 /* as the stream was called then */
	enum process_exit_state ending;
	uint64_t nr_groups;    /* checkpoints in the stream */
	uint64_t steps;	       /* that have ended */
	uint64_t step_tick;    /* of the last one's end */
	bool has_step;	       /* step_tick is known */
	uint64_t last_step_ns; /* 0 unknown */
	uint64_t nr_lost;
	struct watch_slice all, slice; /* since its begin, since watch_begin_slice */
	uint64_t cpu_ns, cpu_tick;     /* of the newest sample */
	uint64_t resident_bytes;
	int gpu_percent[WATCH_GPUS]; /* newest, -1: none */
	uint32_t window;	     /* the newest record window, 0: none */
	bool is_open;
	struct watch_hangs hangs;
	struct watch_window *closed; /* in order */
	size_t nr_closed, closed_capacity;
};

struct watch {
	const char *dir;
	struct watch_process **processes; /* those of the newest run, as they were found */
	size_t nr_processes, capacity;
	struct runs_process *older; /* those of other runs */
	size_t nr_older, older_capacity;
	uint32_t reported; /* record windows up to this one are reported, or closed before the watch
			    */
	bool has_looked;
	uint64_t moved_ns; /* CLOCK_MONOTONIC when a step was last seen to have ended */
	uint64_t hang_ns;  /* moved_ns of the last reported hang */
};

uint64_t watch_now_ns(void);

/*
 * Looks for new processes and reads what is new. Returns 0; or negative with err_set if the
 * directory has no stream, or cannot be read.
 */
int watch_look(struct watch *watch);

/* Have all processes of this host ended? Those of others are not waited for. */
bool watch_is_over(const struct watch *watch);

/*
 * The next record window that is closed in all processes that have it and count steps, with its
 * late records: in at least one. False if there is none. Windows that were closed at the first look
 * do not count.
 */
bool watch_take_window(struct watch *watch, uint32_t *number);

/* Did the recorder report a hang that is not over? */
static inline bool watch_is_hung(const struct watch_process *p)
{
	return p->hangs.began > p->hangs.ended && p->ending != PROCESS_EXIT_ENDED;
}

/*
 * Appends the processes that hang, or did since the last look, and are not yet reported; or the
 * reported ones that resumed. False if there is none.
 */
bool watch_next_hangs(struct watch *watch, struct buf *who);
bool watch_next_recovered(struct watch *watch, struct buf *who);

/* For the next line. */
void watch_begin_slice(struct watch *watch);

void watch_fini(struct watch *watch);

/* Appends "rank 1", or "pid 4242" where it has none. */
void watch_add_who(struct buf *out, const struct watch_process *p);

/* Appends one line, without its end, of the slice and of now. */
void watch_add_line(struct buf *out, const struct watch *watch);

/* Appends all as a text that Prometheus's node exporter takes (textfile collector). */
void watch_add_metrics(struct buf *out, const struct watch *watch);

/* For watch.c: takes the numbers of the blocks that are in the stream just now. */
void watch_read(struct watch_process *process, struct stream *stream);

#endif
