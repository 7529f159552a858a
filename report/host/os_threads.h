/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads spend time in a row of a table: how many, and which one most. Or, in the same way,
 * other things that have numbers in a process, such as the places that call.
 */
#ifndef REPORT_HOST_OS_THREADS_H
#define REPORT_HOST_OS_THREADS_H

#include "report/model/model.h"

struct os_thread;

/* The threads of a row. */
struct os_row_threads {
	uint64_t nr;
	uint32_t most; /* the name of the one with the most time, of string_pool.h; 0: none */
};

/* Zero-initialized. */
struct os_threads {
	struct os_thread *all;	     /* by row, process and thread */
	struct os_row_threads *rows; /* after os_threads_finish */
};

/* Adds time of a thread, by its number in the stream, to a row. */
void os_threads_add(struct os_threads *threads, uint32_t row, struct process *process,
	uint32_t thread, uint64_t ns);

/* Returns the name of a thread and the system's number of it: a number of string_pool.h. */
uint32_t os_thread_name(struct process *process, uint32_t thread);

/* Finds the threads of each of `nr_rows` rows; `name` names them, as os_thread_name does. */
void os_threads_finish(struct os_threads *threads, size_t nr_rows,
	uint32_t (*name)(struct process *process, uint32_t thread));
void os_threads_fini(struct os_threads *threads);

/*
 * The same for the callers of a row, by the two stacks of a call: the line of Python where that is
 * known, else the function of C or C++ that it was made for. Those of all processes are one.
 */
void os_callers_add(struct os_threads *callers, uint32_t row, struct process *process,
	uint64_t native_stack, uint64_t py_stack, uint64_t ns);
void os_callers_finish(struct os_threads *callers, size_t nr_rows);

#endif
