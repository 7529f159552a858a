/* SPDX-License-Identifier: Apache-2.0 */
/* The files of convert.h share these: rows of any dialect, and the events of the unusual ones. */
#ifndef REPORT_IMPORT_KINETO_CONVERT_DIALECT_H
#define REPORT_IMPORT_KINETO_CONVERT_DIALECT_H

#include "report/import/kineto/convert.h"

/* The id of the text of a token, 0 for none. */
uint32_t kineto_convert_string(struct kineto_convert *convert, int token);

/* The stream of an activity. */
uint32_t kineto_convert_stream(
	const struct kineto_convert *convert, const struct kineto_event *event);

/* Adds a row of a table, and rows of an operator and a call. */
struct kineto_row *kineto_convert_row(
	struct kineto_convert *convert, uint8_t table, uint64_t begin, uint64_t end);
void kineto_convert_op(struct kineto_convert *convert, const struct kineto_event *event);
void kineto_convert_call(struct kineto_convert *convert, const struct kineto_event *event);

/* Sets the dialect if the event shows it. */
void kineto_dialect_find(struct kineto_convert *convert, const struct kineto_event *event);

/* An event without a category, and the begin or end of a flow of KINETO_LINK. */
void kineto_dialect_add(struct kineto_convert *convert, struct kineto_event *event);
void kineto_dialect_link(struct kineto_convert *convert, const struct kineto_event *event);

#endif
