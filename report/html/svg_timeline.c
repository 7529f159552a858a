/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/svg_timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/svg.h"
#include "report/html/svg_slices.h"
#include "report/model/select.h"
#include "report/util/text.h"

#define LEFT	   200
#define PLOT_WIDTH 960
#define TOP	   66
#define ROW	   16
#define GAP	   5
#define CHARACTER  6.3 /* as wide as most at that size */
#define PHASE	   HTML_SVG_PHASE

/* As page/timeline_rows.js, and of phases as the picture of steps. */
static const struct svg_kind {
	const char *title, *color, *ink;
} kinds[HTML_SVG_NR_KINDS] = {
	[PERFETTO_NONE] = {"others", "#5f6670", "#fff"},
	[PERFETTO_RUNTIME] = {"CUDA calls", "#e69f00", "#000"},
	[PERFETTO_DRIVER] = {"CUDA calls", "#e69f00", "#000"},
	[PERFETTO_LIBRARY] = {"CUDA calls", "#e69f00", "#000"},
	[PERFETTO_OPERATOR] = {"operators", "#56b4e9", "#000"},
	[PERFETTO_ANNOTATION] = {"ranges", "#009e73", "#000"},
	[PERFETTO_PYTHON] = {"Python", "#f0e442", "#000"},
	[PERFETTO_KERNEL] = {"kernels", "#0072b2", "#fff"},
	[PERFETTO_NCCL] = {"communication", "#d55e00", "#000"},
	[PERFETTO_COPY] = {"copies", "#cc79a7", "#000"},
	[PERFETTO_SET] = {"memsets", "#7722cc", "#fff"},
	[PERFETTO_SYNC] = {"waits", "#5f6670", "#fff"},
	[PERFETTO_OVERHEAD] = {"CUPTI's overhead", "#779955", "#000"},
	[PERFETTO_STEP] = {"steps", "#3b7a57", "#fff"},
	[PERFETTO_MARK] = {"losses and notices", "#a8071a", "#fff"},
	[PERFETTO_COMM] = {"communication", "#d55e00", "#000"},
	[PERFETTO_NCCL_API] = {"NCCL calls", "#ffbbbb", "#000"},
	[PHASE + PHASE_DATALOADER] = {"data loader", "#e8835a", "#000"},
	[PHASE + PHASE_FORWARD] = {"forward", "#8fb8d8", "#000"},
	[PHASE + PHASE_BACKWARD] = {"backward", "#f3cf85", "#000"},
	[PHASE + PHASE_OPTIMIZATION] = {"optimizer", "#80cdb5", "#000"},
	[PHASE + PHASE_OTHERS] = {"other", "#5f6670", "#fff"},
};

_Static_assert(PERFETTO_NCCL_API + 1 == PERFETTO_NR_CATEGORIES, "each category is of a kind");

struct svg_timeline {
	struct html_svg_slices slices;
	uint64_t nr_drawn;
	bool has_kind[HTML_SVG_NR_KINDS];
	struct buf body;
	int y; /* where the next row comes */
};

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
	html_svg_text(&svg->body, shown.bytes, shown.nr_bytes);
	buf_fini(&shown);
}

static void draw_slice(
	struct svg_timeline *svg, const struct html_svg_slice *slice, double x, double end)
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

/* Slices that are narrower than the pixel they begin in, as one column; how many they are. */
static size_t draw_column(struct svg_timeline *svg, const struct html_svg_slice *slices, size_t nr)
{
	static const char *const strengths[] = {".45", ".65", ".85", "1"};
	double column = floor(pixel(svg, slices->begin));
	const struct html_svg_slice *longest = slices;
	uint64_t busy = 0;
	size_t i = 0;

	for (; i < nr && slices[i].depth == slices->depth; i++) {
		const struct html_svg_slice *slice = &slices[i];
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

static void draw_track(struct svg_timeline *svg, const struct html_svg_track *track)
{
	const struct html_svg_slice *slices = &svg->slices.all[track->first];

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

	if (x->process != y->process) {
		return x->process < y->process ? -1 : 1;
	}
	if (x->group != y->group) {
		return x->group < y->group ? -1 : 1;
	}
	if (x->rank != y->rank) {
		return x->rank < y->rank ? -1 : 1;
	}
	return x->place < y->place ? -1 : 1;
}

static void draw_process(struct svg_timeline *svg, const struct html_svg_track *track)
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
		html_svg_text(&svg->body, host, strlen(host));
	}
	buf_printf(&svg->body, ", pid %" PRIu32 "</text>\n", process->pid);
	svg->y += ROW + 2;
}

/* Tracks that lie in this one, each followed by its own. */
static void draw_tracks(struct svg_timeline *svg, uint32_t parent)
{
	struct order *orders = mem_zeroed(svg->slices.tracks.nr + 1, sizeof(*orders));
	size_t nr = 0;

	for (size_t i = 0; i < svg->slices.tracks.nr; i++) {
		const struct html_svg_track *track = idmap_at(&svg->slices.tracks, i);

		if (track->parent == parent) {
			orders[nr++] = (struct order){
				track->process, track->id, track->group, track->rank, i};
		}
	}
	if (nr) {
		qsort(orders, nr, sizeof(*orders), compare_orders);
	}
	for (size_t i = 0; i < nr; i++) {
		const struct html_svg_track *track = idmap_at(&svg->slices.tracks, orders[i].place);

		if (track->kind == PERFETTO_TRACK_PROCESS) {
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
	double most = (double)(svg->slices.to - svg->slices.from), tick = html_svg_tick(most / 1.5);
	const struct html_svg_unit *unit = html_svg_unit(most);

	for (double ns = 0; ns <= most; ns += tick) {
		double x = LEFT + PLOT_WIDTH * ns / most;

		buf_printf(out,
			"<path d=\"M%.2f %dV%d\" stroke=\"#dde2e8\"/>\n"
			"<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%g %s</text>\n",
			x, TOP - 8, svg->y, x, TOP - 12, ns / unit->factor, unit->name);
	}
}

static void add_legend(struct svg_timeline *svg, struct buf *out)
{
	int x = 12;

	for (unsigned int k = 0; k < HTML_SVG_NR_KINDS; k++) {
		bool is_told = k > 0 && strcmp(kinds[k].title, kinds[k - 1].title) == 0 &&
			       svg->has_kind[k - 1];

		if (svg->has_kind[k] && !is_told) {
			buf_printf(out,
				"<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n"
				"<text x=\"%d\" y=\"%d\">%s</text>\n",
				x, svg->y + 12, kinds[k].color, x + 17, svg->y + 22,
				kinds[k].title);
			x += 30 + (int)(CHARACTER * (double)strlen(kinds[k].title));
		}
	}
}

static void write_title(const struct cmd_input *input, struct buf *title)
{
	struct table *table = select_table(input->processes, input->nr_processes);
	const struct table_cell *list = table_find_cell(table, 0, "list");

	buf_text(title,
		memchr(list->text, '-', list->nr_text) || memchr(list->text, ',', list->nr_text)
			? "Timeline of the steps "
			: "Timeline of step ");
	html_svg_text(title, list->text, list->nr_text);
	buf_char(title, '\0');
	table_destroy(table);
}

static void draw(struct svg_timeline *svg, struct buf *out)
{
	const struct cmd_input *input = svg->slices.input;
	struct buf title = {0};

	draw_tracks(svg, 0);
	write_title(input, &title);
	html_svg_head(out, LEFT + PLOT_WIDTH + 30, svg->y + 36, title.bytes,
		input->nr_processes == 1 ? process_command(input->processes[0]) : "");
	buf_printf(out, "%s%" PRIu64 " slices in %.6g ms", input->nr_processes == 1 ? "; " : "",
		svg->nr_drawn, (double)(svg->slices.to - svg->slices.from) / 1e6);
	if (svg->slices.nr_deep) {
		buf_printf(out, "; %" PRIu64 " that lie deeper than %u levels are not drawn",
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

	html_svg_slices_take(&svg.slices, input);
	if (svg.slices.is_full) {
		why = "more than two million slices are chosen, choose fewer steps";
	} else if (svg.slices.from >= svg.slices.to || !svg.slices.nr) {
		why = "nothing is known of these steps";
	} else {
		draw(&svg, out);
	}
	buf_fini(&svg.body);
	html_svg_slices_fini(&svg.slices);
	return why;
}
