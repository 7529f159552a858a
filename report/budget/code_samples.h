/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns the samples of the loop's thread to the parts of the budget that no event explains. CPU
 * samples show which code of the program ran while the GPU waited for it or, without a GPU, in a
 * step; samples of waits show where it waited meanwhile, and for what. Those for Python's lock know
 * who holds it. Where they do not, CPU samples of other threads that are in Python count meanwhile.
 *
 * Memory, until code_samples_end: the samples of that thread (timed_samples.h) and, where calls of
 * the system or waits were recorded, those of others in Python.
 */
#ifndef REPORT_BUDGET_CODE_SAMPLES_H
#define REPORT_BUDGET_CODE_SAMPLES_H

#include "report/budget/timed_samples.h"
#include "report/budget/wait_samples.h"
#include "report/ops/counted_steps.h"
#include "report/util/hash.h"
#include "report/util/idmap.h"

enum code_part {
	CODE_USER,	 /* the thread did nothing that is recorded, but for ranges of the user */
	CODE_AFTER_WAIT, /* the same, in a gap that a wait opened */
	CODE_LOADER,	 /* in the data loader */
	CODE_OS,	 /* in calls of the operating system that were recorded */
	CODE_GIL,	 /* who holds Python's lock while the thread waits for it */
	NR_CODE_PARTS,
};

/* The number of samples, and the time that they stand for: CPU time, or of a wait. */
struct code_sum {
	uint64_t nr, ns;
};

/* Samples that are passed from the last to the first. */
struct code_times {
	struct timed_samples samples;
	size_t at; /* samples.all[at] and later ones have been passed */
};

/* A sample of the gap that is being divided. */
struct code_open {
	const struct timed_sample *sample;
	enum code_part part;
	bool is_wait;
};

struct code_wait;

struct code_samples {
	struct process *process;
	uint32_t task; /* the system's number of the loop's thread */
	struct code_times own, others;
	struct code_times waits;    /* `stack` is the number of a code_wait */
	struct code_wait *numbered; /* what the thread waits for; a hash table */
	uint64_t period_ns;
	uint64_t nr_gil, nr_held; /* waits for Python's lock, and those whose holder is known */
	bool has_others;	  /* waits for Python's lock may be known */
	struct counted_steps counted;
	struct idmap stacks, wait_sums; /* struct code_stack, of the steps that count */
	struct code_open *open;
	size_t nr_open, open_capacity;
};

/* Reads the samples of a process; returns NULL if it has none. The caller destroys them. */
struct code_samples *code_samples_create(struct process *process);
void code_samples_destroy(struct code_samples *samples);

/* The CPU time between two samples of the loop's thread, in ns; 0: it has none. */
uint64_t code_samples_period_ns(const struct code_samples *samples);

/*
 * Do enough samples of waits for Python's lock know who holds it? Else CODE_GIL has what other
 * threads ran meanwhile: CPU samples are more frequent.
 */
bool code_samples_have_holders(const struct code_samples *samples);

/* Opens the samples from `begin_ns` up to `end_ns`. Times must fall from call to call. */
void code_samples_open(
	struct code_samples *samples, enum code_part part, uint64_t begin_ns, uint64_t end_ns);

/*
 * Closes the open samples, and counts them if `step` counts. is_drained: a wait opened their gap,
 * so those of CODE_USER are of CODE_AFTER_WAIT.
 */
void code_samples_close(struct code_samples *samples, uint32_t step, bool is_drained);

/* After the last gap: releases the samples, of which a long run has many, and keeps the sums. */
void code_samples_end(struct code_samples *samples);

/* A place in the code is worth a name if there are so many samples, and it has this share of them.
 */
#define CODE_PLACE_MIN_SAMPLES 20u
#define CODE_PLACE_MIN_PCT     10.0

/* The samples at one place in the code, which is a number of string_pool.h. */
struct code_place {
	uint32_t place;
	struct code_sum sum;
	uint64_t nr_python; /* samples in Python, or what it calls, outside of the framework */
};

/*
 * Adds the samples of a part to *all, and to `sums` (struct code_place by its place) those whose
 * place is known: a line of Python as "dataset.py(41): load", in the loader the program's own that
 * it calls, or, in a thread without Python, the innermost function of machine code.
 */
void code_samples_sum(const struct code_samples *samples, enum code_part part, struct idmap *sums,
	struct code_sum *all);

/* Samples of waits for the same thing at one line of Python. Names are numbers of string_pool.h. */
struct wait_place {
	struct wait_place_key {
		uint32_t place;	    /* as of code_place; 0: unknown */
		uint32_t call;	    /* "read" */
		uint32_t object;    /* the file or the like; 0: unknown, or none */
		uint32_t kind;	    /* enum gprof_os_kind */
		uint32_t is_native; /* 1: the thread ran no Python code */
	} key;
	struct code_sum sum;
	UT_hash_handle hh;
};

/* Adds the waits of a part, but for CODE_GIL, to *places, a hash table of the caller. */
void code_samples_sum_waits(
	const struct code_samples *samples, enum code_part part, struct wait_place **places);

/*
 * Adds in the same way the samples of all threads of these processes that ran Python, but for those
 * whose frames could not be read.
 */
void code_samples_sum_python(struct process *const *processes, size_t nr_processes,
	struct idmap *sums, struct code_sum *all);

/*
 * Calls `each` for each different stack in the CPU samples of a thread, by the system's number of
 * it: a stack of mixed_stack.h, and its samples.
 */
void code_samples_each_of_thread(struct process *process, uint32_t task,
	void (*each)(
		void *context, struct process *process, uint64_t stack, const struct code_sum *sum),
	void *context);

/* Adds all waits of a thread to *places, in the same way as code_samples_sum_waits. */
void code_samples_sum_thread_waits(
	struct process *process, uint32_t task, struct wait_place **places);

#endif
