/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a stream of our own format (FORMAT.md) in memory, with the recorder's encoder, so that
 * imported traces are read like any stream.
 *
 * The file is a memfd: it has no name and ends with its descriptor. A block takes 3 to 4 bytes an
 * event.
 *
 * Definitions are written once, up to tables of bounded size; when these are full, later ones
 * repeat under new ids.
 */
#ifndef REPORT_KINETO_OUT_H
#define REPORT_KINETO_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "collector/format/format.h"

struct kineto_out;

/* NULL with err_set if there is no memory for it. */
struct kineto_out *kineto_out_create(void);

/*
 * A zeroed row of a table, to be filled in before the next call for that table. Columns of kind
 * SPAN take the end. Texts must live until kineto_out_finish, or come from kineto_out_keep.
 */
void *kineto_out_row(struct kineto_out *out, unsigned int table);
struct gprof_text kineto_out_keep(struct kineto_out *out, const char *bytes, size_t nr_bytes);

/* Ids, 0 for nothing. Texts are cut at GPROF_TEXT_BYTES. */
uint32_t kineto_out_string(struct kineto_out *out, const char *bytes, size_t nr_bytes);
uint32_t kineto_out_call(struct kineto_out *out, uint32_t name, uint8_t api); /* at most 65535 */
uint32_t kineto_out_place(
	struct kineto_out *out, uint32_t device, uint32_t context, uint32_t stream);
uint32_t kineto_out_shape(struct kineto_out *out, const struct gprof_row_shape *shape);
/* What the trace estimates of a shape, for the first launch of it. */
void kineto_out_estimate(
	struct kineto_out *out, uint32_t shape, uint32_t blocks_per_sm_milli, uint32_t percent);

/*
 * Writes a fact. The key must live until kineto_out_finish(). A later value replaces an earlier
 * one.
 */
void kineto_out_fact(struct kineto_out *out, const char *key, const char *value, size_t nr_bytes);
void kineto_out_fact_number(struct kineto_out *out, const char *key, uint64_t value);

/* Ends a group: everything so far belongs together (FORMAT.md, "Checkpoints"). */
void kineto_out_close_group(struct kineto_out *out, uint64_t tick);

/* How many texts so far are not UTF-8. A repeated text counts once, as its id does. */
uint64_t kineto_out_nr_broken(const struct kineto_out *out);

/* Texts that were too long. */
uint64_t kineto_out_nr_cut(const struct kineto_out *out);

/* Bytes written so far. */
uint64_t kineto_out_bytes(const struct kineto_out *out);

/*
 * Writes the rest and the header, and destroys `out`. Returns the descriptor, which the caller
 * owns, or a negative code with err_set.
 */
int kineto_out_finish(struct kineto_out *out, uint32_t pid, uint64_t start_realtime_ns);

#endif
