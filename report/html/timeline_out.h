/* SPDX-License-Identifier: Apache-2.0 */
/* For html_timeline.c: what it gathered as bytes of the page, no more than it may take. */
#ifndef REPORT_HTML_TIMELINE_OUT_H
#define REPORT_HTML_TIMELINE_OUT_H

#include "report/util/buf.h"
#include "report/html/keep.h"
#include "report/util/idmap.h"

/* Beside the kinds of perfetto_out.h: the number is the slice's own. */
#define HTML_ARG_NUMBER 4u

struct html_track {
	uint32_t parent;  /* its id, 0 none */
	uint32_t process; /* counting from 1 */
	int32_t rank;
	uint8_t kind; /* enum perfetto_track_kind */
	uint32_t name, label;
	uint32_t nr_open;
	uint32_t *rows; /* by depth: places in html_timeline.rows */
	size_t nr_rows, row_capacity;
};

struct html_row {
	uint32_t track, depth; /* place in html_timeline.tracks */
};

struct html_timeline {
	size_t bytes;
	uint64_t base_ns, first_ns, last_ns;
	struct idmap tracks; /* struct html_track */
	struct html_row *rows;
	size_t nr_rows, row_capacity;
	uint32_t process;
	uint64_t nr_all;
	struct html_keep keep;
};

/* Texts of names.h that the page has, numbered as they are asked for. */
struct html_texts {
	struct idmap places; /* uint32_t, by name */
	struct buf json;
};

uint32_t html_texts_place(struct html_texts *texts, uint32_t name);

/* html_timeline.c: a set as JSON. */
void html_timeline_add_set(struct html_texts *texts, uint32_t set, struct buf *json);

void html_timeline_out(struct html_timeline *timeline, struct buf *out);

#endif
