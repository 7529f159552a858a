/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink of tracks.c collects the slices, and a walk over operators adds the phases. Then the
 * slices are cut to the selection, sorted by track and depth, and drawn. Tracks form a tree, drawn
 * in the order of enum track_group.
 */
#include "report/html/svg_timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/svg_draw.h"
#include "report/model/select.h"
#include "report/ops/op_walk.h"
#include "report/ops/phase.h"
#include "report/timeline/tracks.h"
#include "report/util/idmap.h"
#include "report/util/text.h"
#include "report/util/sort.h"

/* The colours of page/palette.css. */
#include PALETTE

#define LEFT	   200
#define PLOT_WIDTH 960
#define TOP	   66
#define ROW	   16
#define GAP	   5
#define CHARACTER  6.3 /* about the width of a character */

/* The id of a track of phases is this plus the index of its process. */
#define PHASE_ID 0x80000000u

/* Kinds of slices: enum slice_category, then phases. */
#define SVG_PHASE    NR_CATEGORIES
#define SVG_NR_KINDS (NR_CATEGORIES + NR_PHASES)

struct svg_track {
	uint32_t id, parent; /* 0 none */
	uint32_t process;    /* counting from 1 */
	uint32_t name;
	int32_t rank;
	uint8_t kind;	  /* enum track_kind */
	uint8_t group;	  /* enum track_group */
	size_t first, nr; /* of its slices, once these are sorted */
};

/* Tracks of a process in their order. */
enum track_group { GROUP_STEPS, GROUP_PHASES, GROUP_THREADS, GROUP_OTHERS };

struct svg_slice {
	uint64_t begin, end;
	uint32_t track; /* index in tracks */
	uint32_t name;
	uint32_t nr; /* order of arrival, for slices that are the same */
	uint8_t depth, kind;
};

struct svg_slices {
	const struct cmd_input *input;
	struct timeline clock; /* of the axis of all */
	struct idmap tracks;
	struct svg_slice *all; /* by track, depth and begin */
	size_t nr, capacity;
	uint32_t nr_processes;
	uint64_t from, to; /* what is drawn */
	uint64_t nr_deep;  /* deeper than HTML_SVG_DEPTHS */
	bool is_full;	   /* there are more than HTML_SVG_SLICES */
};

static const struct svg_kind {
	const char *title, *color, *ink;
} kinds[SVG_NR_KINDS] = {
	[CATEGORY_NONE] = {"Other", COLOR_OTHER, "#fff"},
	[CATEGORY_RUNTIME] = {"API call", COLOR_API, "#000"},
	[CATEGORY_DRIVER] = {"API call", COLOR_API, "#000"},
	[CATEGORY_LIBRARY] = {"API call", COLOR_API, "#000"},
	[CATEGORY_OPERATOR] = {"Operator", COLOR_OPERATOR, "#000"},
	[CATEGORY_ANNOTATION] = {"Range", COLOR_RANGE, "#000"},
	[CATEGORY_PYTHON] = {"Python function", COLOR_PYTHON, "#000"},
	[CATEGORY_KERNEL] = {"Kernel", COLOR_KERNEL, "#fff"},
	[CATEGORY_NCCL] = {"Communication", COLOR_COMMUNICATION, "#000"},
	[CATEGORY_COPY] = {"Memcpy", COLOR_MEMCPY, "#000"},
	[CATEGORY_SET] = {"Memset", COLOR_MEMSET, "#fff"},
	[CATEGORY_SYNC] = {"Synchronization", COLOR_OTHER, "#fff"},
	[CATEGORY_OVERHEAD] = {"CUPTI overhead", COLOR_OVERHEAD, "#000"},
	[CATEGORY_STEP] = {"Step", COLOR_STEP, "#fff"},
	[CATEGORY_MARK] = {"Dropped events, notice", COLOR_NOTICE, "#fff"},
	[CATEGORY_COMM] = {"Communication", COLOR_COMMUNICATION, "#000"},
	[CATEGORY_NCCL_API] = {"NCCL call", COLOR_NCCL_CALL, "#000"},
	[CATEGORY_STATE] = {"CPU of a thread", COLOR_OTHER, "#fff"},
	[SVG_PHASE + PHASE_DATALOADER] = {"Data loader", COLOR_LOADER, "#fff"},
	[SVG_PHASE + PHASE_FORWARD] = {"Forward", COLOR_FORWARD, "#000"},
	[SVG_PHASE + PHASE_BACKWARD] = {"Backward", COLOR_BACKWARD, "#000"},
	[SVG_PHASE + PHASE_OPTIMIZATION] = {"Optimizer", COLOR_OPTIMIZER, "#000"},
	[SVG_PHASE + PHASE_OTHERS] = {"Other", COLOR_OTHER, "#fff"},
};

_Static_assert(CATEGORY_STATE + 1 == NR_CATEGORIES, "each category is of a kind");

struct svg_timeline {
	struct svg_slices slices;
	uint64_t nr_drawn;
	bool has_kind[SVG_NR_KINDS];
	struct buf body;
	int y; /* where the next row comes */
};

/* ---- tracks and slices ---- */

static void on_begin(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns)
{
	struct svg_slices *slices = context;

	(void)last_ns;
	slices->clock.base_ns = base_ns;
	slices->clock.origin_ns = base_ns + first_ns;
}

static void on_track(void *context, const struct track *track)
{
	struct svg_slices *slices = context;
	struct svg_track *new = idmap_put(&slices->tracks, (uint32_t)track->id);

	slices->nr_processes += track->kind == TRACK_PROCESS;
	*new = (struct svg_track){.id = (uint32_t)track->id,
		.parent = (uint32_t)track->parent,
		.process = slices->nr_processes,
		.name = string_pool_intern(track->name, strlen(track->name)),
		.rank = track->rank,
		.kind = (uint8_t)track->kind,
		.group = track->kind == TRACK_THREAD ? GROUP_THREADS : GROUP_OTHERS};
}

static void add_slice(struct svg_slices *slices, uint32_t id, const struct svg_slice *slice)
{
	struct svg_slice *new;

	if (slice->depth >= HTML_SVG_DEPTHS) {
		slices->nr_deep++;
		return;
	}
	if (slices->nr == HTML_SVG_SLICES) {
		slices->is_full = true;
		return;
	}
	slices->all = array_grow(slices->all, slices->nr, &slices->capacity, sizeof(*slices->all));
	new = &slices->all[slices->nr];
	*new = *slice;
	new->track = (uint32_t)idmap_find(&slices->tracks, id);
	new->nr = (uint32_t)slices->nr++;
}

static void on_slice(void *context, const struct track_slice *event, bool is_instant)
{
	struct svg_slices *slices = context;
	struct svg_track *track = idmap_get(&slices->tracks, (uint32_t)event->track);
	struct svg_slice slice = {.begin = event->ns,
		.end = event->ns + event->dur_ns,
		.name = event->name,
		.depth = (uint8_t)(event->depth < HTML_SVG_DEPTHS ? event->depth : HTML_SVG_DEPTHS),
		.kind = event->category};

	(void)is_instant;
	if (!track) {
		return;
	}
	if (event->category == CATEGORY_STEP) {
		track->group = GROUP_STEPS;
	}
	/* GPU activities outlast the step that launched them. */
	if (event->category == CATEGORY_KERNEL || event->category == CATEGORY_NCCL ||
		event->category == CATEGORY_COPY || event->category == CATEGORY_SET) {
		slices->to = slice.end > slices->to ? slice.end : slices->to;
	}
	add_slice(slices, (uint32_t)event->track, &slice);
}

/* ---- phases ---- */

static void add_phases(struct svg_slices *slices, uint32_t id, const struct phases *phases)
{
	for (size_t i = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];
		const char *name = phase_names[segment->phase];
		const struct svg_slice slice = {
			.begin = timeline_host_ns(&slices->clock, segment->begin),
			.end = timeline_host_ns(&slices->clock, segment->end),
			.name = string_pool_intern(name, strlen(name)),
			.kind = (uint8_t)(SVG_PHASE + segment->phase)};

		if (segment->phase != PHASE_OTHERS) {
			add_slice(slices, id, &slice);
		}
	}
}

/* The selected spans of a process, and its phases. */
static void on_phases(void *context, struct process *process, const struct phases *phases)
{
	struct svg_slices *slices = context;
	const struct intervals *spans = &process->select->spans;
	uint32_t parent = 0, k = 0;

	while (slices->input->processes[k] != process) {
		k++;
	}
	for (size_t i = 0; i < slices->tracks.nr; i++) {
		const struct svg_track *track = idmap_at(&slices->tracks, i);

		if (track->kind == TRACK_PROCESS && track->process == k + 1) {
			parent = track->id;
		}
	}
	timeline_enter(&slices->clock, slices->input->processes, slices->input->nr_processes, k);
	for (size_t i = 0; i < spans->nr; i++) {
		uint64_t begin = timeline_host_ns(&slices->clock, spans->items[i].begin);
		bool is_open = spans->items[i].end == UINT64_MAX; /* of a window */
		uint64_t end = is_open ? timeline_last_ns(&slices->clock)
				       : timeline_host_ns(&slices->clock, spans->items[i].end);

		slices->from = begin < slices->from ? begin : slices->from;
		slices->to = end > slices->to ? end : slices->to;
	}
	*(struct svg_track *)idmap_put(&slices->tracks, PHASE_ID + k) =
		(struct svg_track){.id = PHASE_ID + k,
			.parent = parent,
			.process = k + 1,
			.name = string_pool_intern("phases", 6),
			.kind = TRACK_OTHER,
			.group = GROUP_PHASES};
	add_phases(slices, PHASE_ID + k, phases);
	timeline_leave(&slices->clock);
}

/* ---- their order ---- */

static int compare_slices(const void *a, const void *b)
{
	const struct svg_slice *x = a, *y = b;

	return ORDER(COMPARE(x->track, y->track), COMPARE(x->depth, y->depth),
		COMPARE(x->begin, y->begin), x->nr < y->nr ? -1 : 1);
}

/* Cuts slices to the span and assigns them to their tracks. */
static void sort(struct svg_slices *slices)
{
	size_t nr = 0;

	for (size_t i = 0; i < slices->nr; i++) {
		struct svg_slice slice = slices->all[i];

		if (slice.begin <= slices->to && slice.end >= slices->from) {
			slice.begin = slice.begin > slices->from ? slice.begin : slices->from;
			slice.end = slice.end < slices->to ? slice.end : slices->to;
			slices->all[nr++] = slice;
		}
	}
	slices->nr = nr;
	if (nr) {
		qsort(slices->all, nr, sizeof(*slices->all), compare_slices);
	}
	for (size_t i = nr; i-- > 0;) {
		struct svg_track *track = idmap_at(&slices->tracks, slices->all[i].track);

		track->first = i;
		track->nr++;
	}
}

static void svg_slices_read(struct svg_slices *slices, const struct cmd_input *input)
{
	const struct track_sink sink = {
		.begin = on_begin, .track = on_track, .slice = on_slice, .context = slices};
	const struct timeline_filter filter = {.tracks = TIMELINE_API | TIMELINE_OPS |
							 TIMELINE_NVTX | TIMELINE_GPU |
							 TIMELINE_STEPS};
	const struct op_view view = {.end = on_phases};
	const struct op_walk walk = {&view, slices};

	*slices = (struct svg_slices){.input = input, .from = UINT64_MAX};
	idmap_init(&slices->tracks, sizeof(struct svg_track));
	tracks_walk(input->processes, input->nr_processes, &filter, &sink);
	op_walk_run(input->processes, input->nr_processes, &walk, 1);
	sort(slices);
}

static void svg_slices_fini(struct svg_slices *slices)
{
	idmap_fini(&slices->tracks);
	free(slices->all);
}

/* ---- rows ---- */

static double pixel(const struct svg_timeline *svg, uint64_t ns)
{
	return LEFT + PLOT_WIDTH * (double)(ns - svg->slices.from) /
			      (double)(svg->slices.to - svg->slices.from);
}

static void add_name(struct svg_timeline *svg, uint32_t name, size_t most)
{
	struct buf shown = {0};
	size_t nr_bytes;
	const char *bytes = string_pool_shown(name, &nr_bytes);

	text_add_shown(&shown, bytes, nr_bytes, most);
	svg_text(&svg->body, shown.bytes, shown.nr_bytes);
	buf_fini(&shown);
}

static void draw_slice(
	struct svg_timeline *svg, const struct svg_slice *slice, double x, double end)
{
	const struct svg_kind *kind = &kinds[slice->kind];
	size_t room = (size_t)((end - x) / CHARACTER);

	buf_printf(&svg->body,
		"<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>", x,
		svg->y, end - x > 3 ? end - x - .5 : end - x, ROW - 1, kind->color);
	add_name(svg, slice->name, 0);
	buf_printf(&svg->body, ": %" PRIu64 " ns</title></rect>\n", slice->end - slice->begin);
	if (room > 6) {
		buf_printf(&svg->body,
			"<text x=\"%.2f\" y=\"%d\" font-size=\"10\" fill=\"%s\" "
			"pointer-events=\"none\">",
			x + 3, svg->y + 11, kind->ink);
		add_name(svg, slice->name, room - 1);
		buf_text(&svg->body, "</text>\n");
	}
	svg->has_kind[slice->kind] = true;
}

/* Draws slices that are narrower than their pixel as one column. Returns how many they are. */
static size_t draw_column(struct svg_timeline *svg, const struct svg_slice *slices, size_t nr)
{
	static const char *const strengths[] = {".45", ".65", ".85", "1"};
	double column = floor(pixel(svg, slices->begin));
	const struct svg_slice *longest = slices;
	uint64_t busy = 0;
	size_t i = 0;

	for (; i < nr && slices[i].depth == slices->depth; i++) {
		const struct svg_slice *slice = &slices[i];
		double x = pixel(svg, slice->begin);

		if (x >= column + 1 || pixel(svg, slice->end) - x >= 1) {
			break;
		}
		busy += slice->end - slice->begin;
		if (slice->end - slice->begin > longest->end - longest->begin) {
			longest = slice;
		}
	}
	double share = (double)busy * PLOT_WIDTH / (double)(svg->slices.to - svg->slices.from);

	buf_printf(&svg->body,
		"<rect x=\"%.0f\" y=\"%d\" width=\"1\" height=\"%d\" fill=\"%s\" "
		"fill-opacity=\"%s\"><title>",
		column, svg->y, ROW - 1, kinds[longest->kind].color,
		strengths[share < 1 ? (int)(share * 4) : 3]);
	add_name(svg, longest->name, 0);
	if (i > 1) {
		buf_printf(&svg->body, " and %zu more", i - 1);
	}
	buf_printf(&svg->body, ": %" PRIu64 " ns</title></rect>\n", busy);
	svg->has_kind[longest->kind] = true;
	return i;
}

/* Slices narrower than a pixel are drawn together as one column (draw_column). */
static void draw_track(struct svg_timeline *svg, const struct svg_track *track)
{
	const struct svg_slice *slices = &svg->slices.all[track->first];

	if (track->nr) {
		buf_printf(&svg->body, "<text x=\"12\" y=\"%d\">", svg->y + 11);
		add_name(svg, track->name, 30);
		buf_text(&svg->body, "</text>\n");
	}
	for (size_t i = 0; i < track->nr;) {
		double x = pixel(svg, slices[i].begin), end = pixel(svg, slices[i].end);
		unsigned int depth = slices[i].depth;

		if (end - x >= 1) {
			draw_slice(svg, &slices[i++], x, end);
		} else {
			i += draw_column(svg, &slices[i], track->nr - i);
		}
		if (i == track->nr || slices[i].depth != depth) {
			svg->y += ROW;
		}
	}
	svg->y += track->nr ? GAP : 0;
	svg->nr_drawn += track->nr;
}

struct order {
	uint32_t process, id;
	uint8_t group;
	int32_t rank;
	size_t place;
};

static int compare_orders(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return ORDER(COMPARE(x->process, y->process), COMPARE(x->group, y->group),
		COMPARE(x->rank, y->rank), x->place < y->place ? -1 : 1);
}

static void draw_process(struct svg_timeline *svg, const struct svg_track *track)
{
	const struct process *process = svg->slices.input->processes[track->process - 1];
	const char *host = process_host(process);

	buf_printf(&svg->body, "<text x=\"12\" y=\"%d\" font-weight=\"bold\">", svg->y + 11);
	add_name(svg, track->name, 80);
	if (process->rank >= 0) {
		buf_printf(&svg->body, ", rank %" PRId64, process->rank);
	}
	if (strcmp(host, "?") != 0) {
		buf_text(&svg->body, ", ");
		svg_text(&svg->body, host, strlen(host));
	}
	buf_printf(&svg->body, ", pid %" PRIu32 "</text>\n", process->pid);
	svg->y += ROW + 2;
}

/* The children of a track, each followed by its own. */
static void draw_tracks(struct svg_timeline *svg, uint32_t parent)
{
	struct order *orders = mem_zeroed(svg->slices.tracks.nr + 1, sizeof(*orders));
	size_t nr = 0;

	for (size_t i = 0; i < svg->slices.tracks.nr; i++) {
		const struct svg_track *track = idmap_at(&svg->slices.tracks, i);

		if (track->parent == parent) {
			orders[nr++] = (struct order){
				track->process, track->id, track->group, track->rank, i};
		}
	}
	if (nr) {
		qsort(orders, nr, sizeof(*orders), compare_orders);
	}
	for (size_t i = 0; i < nr; i++) {
		const struct svg_track *track = idmap_at(&svg->slices.tracks, orders[i].place);

		if (track->kind == TRACK_PROCESS) {
			draw_process(svg, track);
		}
		draw_track(svg, track);
		draw_tracks(svg, orders[i].id);
	}
	free(orders);
}

/* ---- the picture ---- */

static void add_axis(struct svg_timeline *svg, struct buf *out)
{
	double most = (double)(svg->slices.to - svg->slices.from), tick = svg_tick(most / 1.5);
	const struct svg_unit *unit = svg_unit(most);

	for (double ns = 0; ns <= most; ns += tick) {
		double x = LEFT + PLOT_WIDTH * ns / most;

		buf_printf(out,
			"<path d=\"M%.2f %dV%d\" stroke=\"#dde2e8\"/>\n"
			"<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%g %s</text>\n",
			x, TOP - 8, svg->y, x, TOP - 12, ns / unit->factor, unit->name);
	}
}

/* Several categories may have the title of one entry. */
static bool is_listed(const struct svg_timeline *svg, unsigned int kind)
{
	for (unsigned int k = 0; k < kind; k++) {
		if (svg->has_kind[k] && strcmp(kinds[k].title, kinds[kind].title) == 0) {
			return true;
		}
	}
	return false;
}

/* Returns its height; without `out` it only measures. */
static int add_legend(const struct svg_timeline *svg, struct buf *out)
{
	int x = 12, y = svg->y + 12;

	for (unsigned int k = 0; k < SVG_NR_KINDS; k++) {
		int width = 34 + (int)(CHARACTER * (double)strlen(kinds[k].title));

		if (!svg->has_kind[k] || is_listed(svg, k)) {
			continue;
		}
		if (x + width > LEFT + PLOT_WIDTH + 30) {
			x = 12;
			y += 18;
		}
		if (out) {
			buf_printf(out,
				"<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n"
				"<text x=\"%d\" y=\"%d\">%s</text>\n",
				x, y, kinds[k].color, x + 17, y + 10, kinds[k].title);
		}
		x += width;
	}
	return y + 24 - svg->y;
}

static void write_title(const struct cmd_input *input, struct buf *title)
{
	struct table *table = select_table(input->processes, input->nr_processes);
	const struct table_cell *list = table_find_cell(table, 0, "list");

	buf_text(title,
		memchr(list->text, '-', list->nr_text) || memchr(list->text, ',', list->nr_text)
			? "Timeline of steps "
			: "Timeline of step ");
	svg_text(title, list->text, list->nr_text);
	buf_char(title, '\0');
	table_destroy(table);
}

/* The body is drawn first, since the head has its height. */
static void draw(struct svg_timeline *svg, struct buf *out)
{
	const struct cmd_input *input = svg->slices.input;
	struct buf title = {0};

	draw_tracks(svg, 0);
	write_title(input, &title);
	svg_head(out, LEFT + PLOT_WIDTH + 30, svg->y + add_legend(svg, NULL), title.bytes,
		input->nr_processes == 1 ? process_command(input->processes[0]) : "");
	buf_printf(out, "%s%" PRIu64 " events in %.6g ms", input->nr_processes == 1 ? "; " : "",
		svg->nr_drawn, (double)(svg->slices.to - svg->slices.from) / 1e6);
	if (svg->slices.nr_deep) {
		buf_printf(out, "; %" PRIu64 " nested deeper than %u levels not drawn",
			svg->slices.nr_deep, HTML_SVG_DEPTHS);
	}
	buf_text(out, "</text>\n");
	add_axis(svg, out);
	buf_add(out, svg->body.bytes, svg->body.nr_bytes);
	add_legend(svg, out);
	buf_text(out, "</svg>\n");
	buf_fini(&title);
}

const char *html_svg_timeline(const struct cmd_input *input, struct buf *out)
{
	struct svg_timeline svg = {.y = TOP};
	const char *why = NULL;

	svg_slices_read(&svg.slices, input);
	if (svg.slices.is_full) {
		why = "the selection has more than two million events; select fewer steps";
	} else if (svg.slices.from >= svg.slices.to || !svg.slices.nr) {
		why = "the selected steps contain no events";
	} else {
		draw(&svg, out);
	}
	buf_fini(&svg.body);
	svg_slices_fini(&svg.slices);
	return why;
}
