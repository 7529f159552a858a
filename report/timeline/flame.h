/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flame graphs: sums over a tree of frames. A path is the process if there are several, the Python
 * stack if wanted, modules and operators from the outermost one on, and at its end a GPU activity
 * or a call of CUDA.
 *
 * The GPU time of an activity belongs to the operator that launched it, whenever it ran. CPU time
 * is wall-clock time of operators and calls on all threads, waiting included. Activities without
 * an operator lie in a frame that says so.
 *
 * The values of a frame may be parted by phase and by steps. All that an operator takes is in the
 * phase and step in which it begins, and an activity in those of the call that launched it.
 */
#ifndef REPORT_TIMELINE_FLAME_H
#define REPORT_TIMELINE_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/model.h"
#include "report/ops/op_walk.h"
#include "report/util/buf.h"

/* The meaning of a frame's width. */
enum flame_weight {
	FLAME_GPU,	/* ns of GPU activities; those that overlap all count */
	FLAME_CPU,	/* ns */
	FLAME_LAUNCHES, /* calls that launched anything; a graph launch counts once */
	NR_FLAME_WEIGHTS,
};

/* "gpu", "cpu", "launches"; ends with NULL. */
extern const char *const flame_weight_names[NR_FLAME_WEIGHTS + 1];

enum flame_kind {
	FLAME_ROOT,
	FLAME_PROCESS,
	FLAME_PYTHON,
	FLAME_MODULE,
	FLAME_OPERATOR,
	FLAME_CALL,
	FLAME_ACTIVITY,
	FLAME_REST, /* on the page: several small frames */
	NR_FLAME_KINDS,
};

/* Deeper frames belong to their parent at that depth. */
#define FLAME_MAX_DEPTH 1000u

struct flame_frame {
	uint32_t parent; /* an earlier frame */
	uint32_t name;	 /* of string_pool.h */
	uint16_t depth;	 /* 0: the root */
	uint8_t kind;	 /* enum flame_kind */
	uint64_t self[NR_FLAME_WEIGHTS];
	uint64_t total[NR_FLAME_WEIGHTS]; /* with the frames inside */
	uint64_t first_tick;		  /* where it began first */
	uint32_t first_part, last_part;	  /* 1 + their indexes in `parts`, 0: none */
};

/* The part of a frame's own values in a phase of some steps. */
struct flame_part {
	uint32_t next;	/* of the frame: 1 + its index, 0: none */
	uint16_t steps; /* 1 + the range, 0: in no step */
	uint8_t phase;	/* enum phase */
	uint64_t self[NR_FLAME_WEIGHTS];
};

/* Ranges of steps of equal length, so that there are at most FLAME_MAX_RANGES. */
#define FLAME_MAX_RANGES 16u
struct flame_ranges {
	uint64_t first, last;		     /* numbers of steps; first > last: there are none */
	uint64_t length;		     /* 0: there are no steps */
	uint64_t nr_steps[FLAME_MAX_RANGES]; /* in each range, of all processes */
};
#define FLAME_NO_RANGES ((struct flame_ranges){.first = UINT64_MAX})

struct flame {
	/*
	 * frames[0] is the root, which has no name. Those in a frame follow it, in the order in
	 * which they began first.
	 */
	struct flame_frame *frames;
	size_t nr_frames;
	struct flame_part *parts;
	size_t nr_parts;
	struct flame_ranges ranges;
	uint64_t nr_untimed; /* activities without times: they have no GPU time */
	unsigned int of; /* FLAME_SAMPLES, FLAME_WAITS: FLAME_CPU is their time; 0: of all else */
	/* Left out, since it has no Python stack where these are wanted. */
	uint64_t unsampled[NR_FLAME_WEIGHTS];
};

enum flame_form {
	/*
	 * Python stacks come first, instead of modules; they are samples: what has none is left out
	 */
	FLAME_STACKS = 1,
	FLAME_MERGED = 2, /* no frames of processes */
	FLAME_PARTED = 4, /* by phase and by ranges of steps */
	/*
	 * In place of all else, CPU samples: the thread, and its native stack. Their only weight is
	 * FLAME_CPU, and no phase has any.
	 */
	FLAME_SAMPLES = 8,
	/* The same of samples of waits: the thread, its Python stack, and what it waits for. */
	FLAME_WAITS = 16,
};

#define FLAME_ALL_PHASES NR_PHASES

/* What the widths are: "GPU time", "CPU time by samples". */
const char *flame_title(const struct flame *flame, enum flame_weight weight);

/*
 * Widens the ranges, at first FLAME_NO_RANGES, to the selected steps of the processes; nr_steps
 * stays as it is.
 */
void flame_ranges_add(
	struct flame_ranges *ranges, struct process *const *processes, size_t nr_processes);

/*
 * Reads the processes. form: bits of enum flame_form; phase: what lies in others is left out;
 * ranges: for FLAME_PARTED, those that have all steps of the processes, or NULL. The caller calls
 * flame_fini.
 */
void flame_read(struct flame *flame, struct process *const *processes, size_t nr_processes,
	unsigned int form, enum phase phase, const struct flame_ranges *ranges);

/*
 * The same in three steps, for a caller that walks over the operators of these processes anyway:
 * flame_begin, op_walk_run with flame_walk among its walks, flame_end. Phases are those that an
 * earlier walk has found; where there was none, flame_begin does one. `flame` must not move until
 * flame_end, which frees the reading.
 */
struct flame_reading;
struct flame_reading *flame_begin(struct flame *flame, struct process *const *processes,
	size_t nr_processes, unsigned int form, enum phase phase,
	const struct flame_ranges *ranges);
struct op_walk flame_walk(struct flame_reading *reading);
void flame_end(struct flame_reading *reading);

void flame_fini(struct flame *flame);

/* ---- files ---- */

/*
 * Adds one line a path with time of its own: "outer;inner 123". The value is ns, or a count of
 * launches. flamegraph.pl, inferno and speedscope read it.
 */
void flame_write_folded(const struct flame *flame, enum flame_weight weight, struct buf *out);

/*
 * Adds a file of speedscope's own format: a profile for each weight that has any, of which `weight`
 * is shown first. https://www.speedscope.app/file-format-schema.json
 */
void flame_write_speedscope(const struct flame *flame, enum flame_weight weight, struct buf *out);

/*
 * Adds a profile.proto of pprof, not yet compressed: all weights, `weight` is shown first.
 * https://github.com/google/pprof/blob/main/proto/profile.proto
 */
void flame_write_pprof(const struct flame *flame, enum flame_weight weight, struct buf *out);

#endif
