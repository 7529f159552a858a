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
#ifndef REPORT_IMPORT_OUT_H
#define REPORT_IMPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/format/format.h"

/* The error of importers that sort in temporary files. */
#define IMPORT_OUT_NO_ROOM \
	"no room for its events in the temporary files; set TMPDIR to another directory"

struct import_out;
struct stream;

/* NULL with err_set if there is no memory for it. */
struct import_out *import_out_create(void);

/*
 * Adds a zeroed row of a table, to be filled in before the next call: one that adds a text or a row
 * may write rows that wait. Columns of kind SPAN take the end. Texts must live until
 * import_out_finish.
 */
void *import_out_row(struct import_out *out, unsigned int table);

/* Ids, 0 for nothing. Texts are cut at GPROF_TEXT_BYTES. */
uint32_t import_out_string(struct import_out *out, const char *bytes, size_t nr_bytes);
uint32_t import_out_call(struct import_out *out, uint32_t name, uint8_t api); /* at most 65535 */
uint32_t import_out_place(
	struct import_out *out, uint32_t device, uint32_t context, uint32_t stream);
uint32_t import_out_shape(struct import_out *out, const struct gprof_row_shape *shape);
/* Adds the trace's estimates for a shape, at the first launch of it. */
void import_out_estimate(
	struct import_out *out, uint32_t shape, uint32_t blocks_per_sm_milli, uint32_t percent);

/*
 * Returns what rows hold of a correlation ID: its lower 32 bits. The stream has all of it. 0 if it
 * is 2^31 or more from another one, and one of them takes more than 32 bits: rows could not tell
 * them apart.
 */
uint32_t import_out_correlation(struct import_out *out, uint64_t id);

/*
 * Writes a fact. The key must live until import_out_finish(). A later value replaces an earlier
 * one.
 */
void import_out_fact(struct import_out *out, const char *key, const char *value, size_t nr_bytes);
void import_out_fact_number(struct import_out *out, const char *key, uint64_t value);

/* Rows of small tables. A loss of nothing has no row. uuid: 16 bytes, NULL if it is unknown. */
void import_out_device(struct import_out *out, uint32_t device, const char *name, size_t nr_name,
	const unsigned char *uuid);
void import_out_attribute(
	struct import_out *out, uint32_t device, const char *name, uint64_t value);
void import_out_loss(struct import_out *out, uint64_t tick, uint64_t count, const char *cause);
void import_out_notice(struct import_out *out, uint64_t tick, const char *cause, const char *text,
	size_t nr_bytes);

/* Ends a group: everything so far belongs together (FORMAT.md, "Checkpoints"). */
void import_out_close_group(struct import_out *out, uint64_t tick);

/* Facts of the whole trace from its importer. Ticks are the trace's ns, of its single clock. */
struct import_out_end {
	const char *format; /* fact trace.format; lives as long as the program */
	uint64_t first_tick, last_tick;
	uint64_t base_ns; /* of tick 0, since the epoch; 0: ticks count from it, or it is unknown */
	bool has_no_date; /* it is unknown */
	uint64_t nr_early; /* launches with a GPU activity before them */
	uint32_t pid;	   /* 0: unknown */
};

/*
 * Writes the end, the rest and the header, and destroys `out`. Returns the descriptor, which the
 * caller owns, or a negative code with err_set.
 */
int import_out_finish(struct import_out *out, const struct import_out_end *end);

/* Makes `fd`, which it then owns, the file of a stream instead of the trace that it was. */
void import_out_replace(struct stream *stream, int fd);

#endif
