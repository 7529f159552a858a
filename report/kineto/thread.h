/* SPDX-License-Identifier: Apache-2.0 */
/* The threads and processes that a trace tells of: by pid and tid, which are numbers or texts. */
#ifndef REPORT_KINETO_THREAD_H
#define REPORT_KINETO_THREAD_H

#include "report/kineto/event.h"
#include "report/kineto/out.h"

struct kineto_thread;

struct kineto_threads {
	struct kineto_thread *by_key;
	struct kineto_thread *last; /* most events are of the one before */
	uint32_t nr_ids;
};

/* Zeroed is empty. */
void kineto_threads_fini(struct kineto_threads *threads);

/* The id of the event's thread, made if it is new; counts from 1. */
uint32_t kineto_threads_id(struct kineto_threads *threads, const struct kineto_json *json,
	const struct kineto_event *event);

/* The event is metadata: takes the name of a thread or of a process from it. */
void kineto_threads_name(
	struct kineto_threads *threads, struct kineto_json *json, const struct kineto_event *event);

/*
 * Writes rows of those threads that have an id. Returns the pid of the first of them, 0 for none,
 * and what its process is called (of `threads`, "" for nothing).
 */
uint32_t kineto_threads_write(
	struct kineto_threads *threads, struct kineto_out *out, const char **name);

#endif
