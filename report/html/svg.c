/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bars are rows of the view's table, and their parts its columns, found by their keys, so a
 * picture has the numbers that `summary` prints. All measures have fixed decimals.
 */
#include "report/html/svg.h"

#include <inttypes.h>
#include <string.h>

#include "report/html/svg_draw.h"
#include "report/html/svg_timeline.h"
#include "report/session/summary.h"
#include "report/session/view_list.h"

/* The colours of page/palette.css. */
#include PALETTE

#define LEFT	    70
#define TOP	    68
#define PLOT_HEIGHT 260
#define BAR_STEP    44 /* from bar to bar */
#define BAR_WIDTH   30
#define MAX_PARTS   8u

const char *const html_svg_views[] = {"breakdown", "steps", "timeline", NULL};

struct svg_part {
	const char *key, *name;
	const char *color;
};

struct svg_kind {
	const char *title;
	struct svg_part parts[MAX_PARTS];
};

static const struct svg_kind kinds[] = {
	{"Step time breakdown",
		{{"kernel_ns", "Kernels", COLOR_KERNEL}, {"memcpy_ns", "Memcpy", COLOR_MEMCPY},
			{"memset_ns", "Memset", COLOR_MEMSET},
			{"communication_ns", "Exposed communication", COLOR_COMMUNICATION},
			{"runtime_ns", "CUDA API calls", COLOR_API},
			{"dataloader_ns", "Data loader", COLOR_LOADER},
			{"cpu_exec_ns", "CPU operators", COLOR_OPERATOR},
			{"other_ns", "Other", COLOR_OTHER}}},
	{"Step phases", {{"dataloader_ns", "Data loader", COLOR_LOADER},
				{"forward_ns", "Forward", COLOR_FORWARD},
				{"backward_ns", "Backward", COLOR_BACKWARD},
				{"optimization_ns", "Optimizer", COLOR_OPTIMIZER},
				{"others_ns", "Other", COLOR_OTHER}}},
};

struct svg {
	struct buf *out;
	const struct svg_kind *kind;
	const struct table *table;
	size_t nr_bars;
	bool has_many; /* processes */
	double top_ns; /* of the plot */
};

/* ---- numbers ---- */

static uint64_t part_ns(const struct table *table, size_t row, const char *key)
{
	const struct table_cell *cell = table_find_cell(table, row, key);

	return cell && cell->is_known ? cell->integer : 0;
}

static uint64_t bar_ns(const struct svg *svg, size_t row)
{
	uint64_t sum = 0;

	for (unsigned int k = 0; k < MAX_PARTS && svg->kind->parts[k].key; k++) {
		sum += part_ns(svg->table, row, svg->kind->parts[k].key);
	}
	return sum;
}

/* ---- the picture ---- */

static void add_axis(struct svg *svg, double most, int width)
{
	const struct svg_unit *unit = svg_unit(most);
	double tick = svg_tick(most);

	svg->top_ns = 0;
	while (svg->top_ns < most) {
		svg->top_ns += tick;
	}
	for (double ns = 0; ns <= svg->top_ns; ns += tick) {
		double y = TOP + PLOT_HEIGHT * (1 - ns / svg->top_ns);

		buf_printf(svg->out,
			"<path d=\"M%d %.2fH%d\" stroke=\"#dde2e8\"/>\n"
			"<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%g</text>\n",
			LEFT, y, width - 10, LEFT - 6, y + 4, ns / unit->factor);
	}
	buf_printf(svg->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 6,
		TOP - 12, unit->name);
}

static void add_label(struct svg *svg, size_t row)
{
	const struct table_cell *step = table_find_cell(svg->table, row, "step");
	uint64_t pid = part_ns(svg->table, row, "pid");

	if (step->text) {
		bool is_mean = strcmp(step->text, "average") == 0;

		svg_text(svg->out, is_mean ? "Mean" : step->text, is_mean ? 4 : step->nr_text);
	} else {
		buf_printf(svg->out, "%" PRIu64, step->integer);
	}
	if (svg->has_many) {
		buf_printf(svg->out, ", pid %" PRIu64, pid);
	}
}

static void add_bar(struct svg *svg, size_t row)
{
	double x = LEFT + 8 + BAR_STEP * (double)row, y = TOP + PLOT_HEIGHT;

	for (unsigned int k = 0; k < MAX_PARTS && svg->kind->parts[k].key; k++) {
		const struct svg_part *part = &svg->kind->parts[k];
		uint64_t ns = part_ns(svg->table, row, part->key);
		double height = PLOT_HEIGHT * (double)ns / svg->top_ns;

		if (ns == 0) {
			continue;
		}
		y -= height;
		buf_printf(svg->out,
			"<rect x=\"%.0f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" "
			"fill=\"%s\"><title>%s: %" PRIu64 " ns</title></rect>\n",
			x, y, BAR_WIDTH, height, part->color, part->name, ns);
	}
	buf_printf(svg->out,
		"<text transform=\"translate(%.0f %d) rotate(-40)\" text-anchor=\"end\">",
		x + BAR_WIDTH / 2 + 4, TOP + PLOT_HEIGHT + 16);
	add_label(svg, row);
	buf_text(svg->out, "</text>\n");
}

/* The legend, in two columns. */
static void add_legend(struct svg *svg, int y)
{
	for (unsigned int k = 0; k < MAX_PARTS && svg->kind->parts[k].key; k++) {
		const struct svg_part *part = &svg->kind->parts[k];
		int x = LEFT + (int)(k % 2) * 190, at = y + (int)(k / 2) * 20;

		buf_printf(svg->out,
			"<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n"
			"<text x=\"%d\" y=\"%d\">%s</text>\n",
			x, at, part->color, x + 18, at + 10, part->name);
	}
}

static void draw(struct svg *svg, const char *command, double most)
{
	int width = LEFT + 20 + BAR_STEP * (int)svg->nr_bars, below = TOP + PLOT_HEIGHT + 76;

	width = width < 470 ? 470 : width;
	svg_head(svg->out, width, below + 110, svg->kind->title, command);
	if (svg->nr_bars < svg->table->nr_rows) {
		buf_printf(svg->out, "; first %zu of %zu bars", svg->nr_bars, svg->table->nr_rows);
	}
	buf_text(svg->out, "</text>\n");
	add_axis(svg, most, width);
	for (size_t i = 0; i < svg->nr_bars; i++) {
		add_bar(svg, i);
	}
	add_legend(svg, below);
	buf_text(svg->out, "</svg>\n");
}

static const char *write_bars(unsigned int view, const struct cmd_input *input, struct buf *out)
{
	struct view_input view_input = {
		.processes = input->processes, .nr_processes = input->nr_processes};
	const struct view_class *class =
		view_find(html_svg_views[view], strlen(html_svg_views[view]));
	struct svg svg = {.out = out, .kind = &kinds[view], .has_many = input->nr_processes > 1};
	struct table *table;
	uint64_t most = 0;
	void *made;

	view_run(&view_input, &class, 1, &made);
	svg.table = table = view_table(class, made);
	svg.nr_bars = table->nr_rows < HTML_SVG_BARS ? table->nr_rows : HTML_SVG_BARS;
	for (size_t i = 0; i < svg.nr_bars; i++) {
		most = bar_ns(&svg, i) > most ? bar_ns(&svg, i) : most;
	}
	if (most) {
		draw(&svg, input->nr_processes == 1 ? process_command(input->processes[0]) : "",
			(double)most);
	}
	table_destroy(table);
	view_destroy(class, made);
	return most ? NULL : "the recording has no complete step";
}

const char *html_svg_write(unsigned int view, const struct cmd_input *input, struct buf *out)
{
	return view == HTML_SVG_TIMELINE ? html_svg_timeline(input, out)
					 : write_bars(view, input, out);
}
