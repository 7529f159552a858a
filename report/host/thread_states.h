/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of the table thread_state for each thread: how long it ran, how long it was off the CPUs and
 * why, and how often it was switched. All of these are measured: the kernel records each switch.
 */
#ifndef REPORT_HOST_THREAD_STATES_H
#define REPORT_HOST_THREAD_STATES_H

#include "report/model/model.h"
#include "report/util/hash.h"

#define THREAD_STATES_NR (GPROF_THREAD_OFF_CPU + 1u)

/* What a view wants of the table. */
#define THREAD_STATES_MASK COL_ALL(NR_COL_thread_state)

/* The kernel gives the number of a thread that has ended to another one, with another name. */
struct thread_states_key {
	struct process *process;
	uint32_t tid, name; /* name: of string_pool.h */
};

/* The sums of a thread; ns[0] is of all states. */
struct thread_states {
	struct thread_states_key key;
	uint64_t ns[THREAD_STATES_NR];
	uint64_t nr_preempted, nr_blocked,
		nr_off; /* times that it left the CPU; off: why unknown */
	uint64_t nr_migrations;
	uint64_t first_begin, last_end, last_cpu; /* ticks; of the first and the last row */
	uint32_t last_name;			  /* by the number alone: of those that it had */
	bool has_cpu, is_shown;			  /* is_shown: for whoever shows each once */
	UT_hash_handle hh;
};

/* Adds the rows of a batch; *all is NULL at first, and hash_free() frees it. */
void thread_states_add(struct thread_states **all, struct process *process, const struct batch *b);

/* The same sums by the number of a thread alone: their name is 0, and `all` keeps its own. */
struct thread_states *thread_states_by_tid(const struct thread_states *all);

/* Returns NULL if the thread has none. */
struct thread_states *thread_states_find(
	struct thread_states *all, struct process *process, uint32_t tid, uint32_t name);

/*
 * How long what it did between its first and its last row is unknown; also UINT64_MAX, where only a
 * part of the recording was read.
 */
uint64_t thread_states_unknown_ns(const struct thread_states *thread);

/* The name of a state: "running". */
const char *thread_state_name(uint8_t state);

#endif
