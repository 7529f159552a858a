/* SPDX-License-Identifier: Apache-2.0 */
/* The files and peers that calls of the C library (table os_call) are about. */
#ifndef REPORT_MODEL_OS_FILES_H
#define REPORT_MODEL_OS_FILES_H

#include "report/model/model.h"

/* Names of files by their numbers in a process. Zero-initialized. */
struct os_files {
	const struct process *process;
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

/* The function, with its file where that is known (0: none), as "read(/data/train.tar)". */
uint32_t os_files_call(const struct os_files *files, uint32_t function, uint64_t file);

#endif
