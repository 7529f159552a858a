/* SPDX-License-Identifier: Apache-2.0 */
/* For html_svg_timeline.c: slices, phases and tracks of what was chosen, in the order of rows. */
#ifndef REPORT_HTML_SVG_SLICES_H
#define REPORT_HTML_SVG_SLICES_H

#include "report/session/session.h"
#include "report/util/idmap.h"
#include "report/timeline/perfetto.h"
#include "report/ops/phase.h"

/* Kinds of slices: enum perfetto_category, then phases. */
#define HTML_SVG_PHASE	  PERFETTO_NR_CATEGORIES
#define HTML_SVG_NR_KINDS (PERFETTO_NR_CATEGORIES + NR_PHASES)

struct html_svg_track {
	uint32_t id, parent; /* 0 none */
	uint32_t process;    /* counting from 1 */
	uint32_t nr_open;
	uint32_t name;
	int32_t rank;
	uint8_t kind;	  /* enum perfetto_track_kind */
	uint8_t group;	  /* enum html_svg_group */
	size_t first, nr; /* of its slices, once these are sorted */
};

/* Tracks of a process in their order. */
enum html_svg_group { GROUP_STEPS, GROUP_PHASES, GROUP_THREADS, GROUP_OTHERS };

struct html_svg_slice {
	uint64_t begin, end;
	uint32_t track; /* place in tracks */
	uint32_t name;
	uint32_t nr; /* its number: what is the same keeps its order */
	uint8_t depth, kind;
};

struct html_svg_slices {
	const struct cmd_input *input;
	struct timeline clock; /* of the axis of all */
	struct idmap tracks;
	struct html_svg_slice *all; /* by track, depth and begin */
	size_t nr, capacity;
	uint32_t nr_processes;
	uint64_t from, to; /* what is drawn */
	uint64_t nr_deep;  /* deeper than HTML_SVG_DEPTHS */
	bool is_full;	   /* there are more than HTML_SVG_SLICES */
};

/* The processes have a selection. from >= to: nothing is known of it. */
void html_svg_slices_take(struct html_svg_slices *slices, const struct cmd_input *input);
void html_svg_slices_fini(struct html_svg_slices *slices);

#endif
