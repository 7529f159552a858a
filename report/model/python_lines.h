/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of Python code by CPU samples: at which one the innermost Python frame was (self), also
 * while it ran machine code that it had called, and through which ones it was there (total).
 */
#ifndef REPORT_MODEL_PYTHON_LINES_H
#define REPORT_MODEL_PYTHON_LINES_H

#include "report/model/scan.h"
#include "report/util/hash.h"

/* All are numbers of string_pool.h, but for the line. */
struct python_line_key {
	uint32_t function, file, line;
};

struct python_line {
	struct python_line_key key;
	uint64_t nr_self, nr_total, self_ns, total_ns;
	uint64_t last_stack; /* that counted it: a recursive call counts once */
	UT_hash_handle hh;
};

/* Zeros at first. */
struct python_lines {
	struct python_line *all; /* by key */
	struct idmap stacks;	 /* of the process that is read */
	uint64_t nr_stacks;
	uint64_t nr;	    /* samples with Python frames */
	uint64_t nr_unread; /* with frames that could not be read */
	uint64_t nr_other;  /* of threads that ran no Python code */
};

/* What to scan; the context is a struct python_lines. */
extern const struct scan_view python_lines_scan;

void python_lines_fini(struct python_lines *lines);

/* "dataset.py(41): load", as a number of string_pool.h. */
uint32_t python_line_text(const struct python_line *line);

#endif
