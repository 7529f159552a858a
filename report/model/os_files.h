/* SPDX-License-Identifier: Apache-2.0 */
/* The files, peers and holders of mutexes that calls of the C library (table os_call) are about. */
#ifndef REPORT_MODEL_OS_FILES_H
#define REPORT_MODEL_OS_FILES_H

#include "report/model/model.h"

/* Names of files by their numbers in a process. Zero-initialized. */
struct os_files {
	struct process *process;
	struct idmap names; /* uint32_t of string_pool.h */
};

/* Reads the names of a process, in place of those of another one. */
void os_files_begin(struct os_files *files, struct process *process);
void os_files_fini(struct os_files *files);

/* Returns the name of the file or object that a row of os_call used, from its columns: a number of
 * string_pool.h; 0: unknown. */
uint32_t os_files_name(const struct os_files *files, uint64_t file, uint64_t name);

/*
 * Returns the files that a file is one of, by folder and extension: "/data/17.jpg" is one of
 * "/data/" "*.jpg"; other names are alone. Both are numbers of string_pool.h.
 */
uint32_t os_files_group(uint32_t name);

/*
 * In place of the number of a file, of a call that waits for a lock or another thread: with the
 * system's number of the thread that had it, or that ended the wait.
 */
#define OS_FILES_HOLDER (1ull << 63)

/*
 * The function, with its file or holder where that is known (0: none), as "read(/data/train.tar)",
 * "pthread_mutex_lock(held by worker (4711))", "sem_wait(for worker (4711))".
 */
uint32_t os_files_call(const struct os_files *files, uint32_t function, uint64_t file);

/* Return the function of such a name, and who holds a lock; 0: none. Numbers of string_pool.h. */
uint32_t os_files_function(uint32_t name);
uint32_t os_files_holder(uint32_t name);

/*
 * Returns a thread's name (0: it has none) with the system's number of it, as "worker (4711)" or
 * "thread 4711": a number of string_pool.h.
 */
uint32_t os_thread_text(uint32_t name, uint32_t tid);

/* The same of the last thread with that number, of which there may be no events. */
uint32_t os_thread_text_of(struct process *process, uint32_t tid);

#endif
