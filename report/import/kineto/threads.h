/* SPDX-License-Identifier: Apache-2.0 */
/* The threads and processes of a trace, by pid and tid, which are numbers or texts. */
#ifndef REPORT_IMPORT_KINETO_THREADS_H
#define REPORT_IMPORT_KINETO_THREADS_H

#include <stdint.h>

#include "report/import/out.h"
#include "report/import/kineto/event.h"

struct kineto_thread;

struct kineto_thread_key {
	uint64_t pid, tid;
};

struct kineto_threads { /* starts with all zeros */
	struct kineto_thread *by_key;
	struct kineto_thread *last; /* most events have the thread of the one before */
	uint32_t nr_ids;
};

void kineto_threads_fini(struct kineto_threads *threads);

struct kineto_thread_key kineto_threads_key(
	const struct kineto_json *json, const struct kineto_event *event);

/* The id of the event's thread, created if it is new; counts from 1. */
uint32_t kineto_threads_id(struct kineto_threads *threads, const struct kineto_json *json,
	const struct kineto_event *event);

/* Reads the name of a thread or process from a metadata event. */
void kineto_threads_name(
	struct kineto_threads *threads, struct kineto_json *json, const struct kineto_event *event);

/* The name of a process, "" if no event named it yet. */
const char *kineto_threads_process(const struct kineto_threads *threads, uint64_t pid);

/*
 * Writes rows of the threads that have an id. Returns the pid of the first one, 0 for none, and the
 * name of its process (owned by `threads`, "" if unknown).
 */
uint32_t kineto_threads_write(
	struct kineto_threads *threads, struct import_out *out, const char **name);

#endif
