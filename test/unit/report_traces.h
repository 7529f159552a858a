/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of traces share: events as text, and what was read of a trace of them. */
#ifndef TEST_UNIT_REPORT_TRACES_H
#define TEST_UNIT_REPORT_TRACES_H

#include "report/util/buf.h"
#include "report/model/model.h"

#define TRACES_HEAD "{\"schemaVersion\": 1, \"traceEvents\": ["
#define TRACES_TAIL "], \"traceName\": \"t.json\"}"
#define TRACES_OP                                                                            \
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": " \
	"9, \"ts\": 10, \"dur\": 5}"
#define TRACES_KERNEL                                                                        \
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, "     \
	"\"ts\": 20.5, \"dur\": 1.25, \"args\": {\"device\": 0, \"context\": 1, \"stream\":" \
	" 7, \"correlation\": 3, \"grid\": [2, 3, 4], \"block\": [32, 1, 1], \"registers "   \
	"per thread\": 18, \"shared memory\": 49153}}"

#define TRACES_STEP(number, ts, dur)                                                      \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" number "\"," \
	"\"pid\":7,\"tid\":9,\"ts\":" ts ",\"dur\":" dur "}"

/* cat is empty or TRACES_OP_CAT. */
#define TRACES_BEGIN(cat, name, tid, ts) \
	"{\"ph\":\"B\"," cat "\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts "}"
#define TRACES_END(tid, ts) "{\"ph\":\"E\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts "}"
#define TRACES_OP_CAT	    "\"cat\":\"cpu_op\","

/* Writes a text to the test's directory; to a path, as a file of gzip with two members. */
const char *traces_write(const char *name, const char *text);
void traces_gzip(const char *path, const struct buf *text);

/* The process of a trace with that text. */
struct process *traces_read(const char *text);

/* The first block of a table, with all columns; empty if there is none. */
void traces_load(const struct process *process, unsigned int table, struct batch *batch);

/* Rows of a table. */
uint64_t traces_rows(const struct process *process, unsigned int table);

#endif
