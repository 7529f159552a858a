/* SPDX-License-Identifier: Apache-2.0 */
/* Writes how a finding names what the workers of a data loader do. */
#ifndef REPORT_VERDICT_LOADER_TEXT_H
#define REPORT_VERDICT_LOADER_TEXT_H

#include "report/verdict/code_form.h"
#include "report/verdict/loader_workers.h"

/* The work of the workers must be known in all of these. */

/*
 * As ", which are blocked 71 % of the time", or with what takes most of it, as ", which run
 * data.py(9): decode 68 % of the time", ", which are in read(/data/...tar) 71 % of the time" or
 * ", which mostly wait at data.py(9), in clock_nanosleep".
 */
void loader_text_add_work(
	const struct loader_workers *workers, const struct code_form *form, struct buf *out);

/* Returns what would help, as "more of them". */
const char *loader_text_change(const struct loader_workers *workers);

/*
 * What takes most of their time must be known, too. As "71.3 % of the workers' time in
 * read(/data/...tar), 38.2 MB/s; without that a step takes up to 57.0 ms less", or "at data.py(41):
 * load". saved_ns: of loader_workers_saving; what: "a step", or what else that is a part of.
 */
void loader_text_add_place(
	const struct loader_workers *workers, double saved_ns, const char *what, struct buf *out);

#endif
