/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of Python code by CPU samples: at which one the innermost Python frame was (self), also
 * while it ran machine code that it had called, and through which ones it was there (total).
 */
#ifndef REPORT_MODEL_PYTHON_LINES_H
#define REPORT_MODEL_PYTHON_LINES_H

#include "report/model/frame_sums.h"
#include "report/model/scan.h"

/* Zeros at first. */
struct python_lines {
	struct frame_sums sums; /* by line */
	uint64_t nr;		/* samples with Python frames */
	uint64_t nr_unread;	/* with frames that could not be read */
	uint64_t nr_other;	/* of threads that ran no Python code */
};

/* What to scan; the context is a struct python_lines. */
extern const struct scan_view python_lines_scan;

void python_lines_fini(struct python_lines *lines);

/* "dataset.py(41): load", as a number of string_pool.h. */
uint32_t python_line_text(const struct frame_sum *line);

/*
 * Returns the whole path of a file of Python, both numbers of string_pool.h: that of the program
 * may be relative, and that of the same file in its children is not.
 */
uint32_t python_line_path(const struct process *process, uint32_t file);

#endif
