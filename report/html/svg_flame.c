/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the root on top and each frame below its parent. A frame narrower than half a pixel is left
 * out, with all that lies in it, and counted.
 */
#include "report/html/svg_flame.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/html/svg_draw.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "report/util/sort.h"

/* The colours of page/palette.css. */
#include PALETTE

#define WIDTH	  1200
#define MARGIN	  12
#define TOP	  60
#define ROW	  18
#define CHARACTER 6.0 /* of a name, in pixels */
#define MIN_WIDTH 0.5 /* narrower frames are left out */

/* Colours are not needed to recognise a kind: along a path, kinds always come in this order. */
static const struct {
	const char *color, *ink;
} kinds[NR_FLAME_KINDS] = {
	[FLAME_ROOT] = {COLOR_FRAME, "#000"},
	[FLAME_PROCESS] = {COLOR_FRAME, "#000"},
	[FLAME_PYTHON] = {COLOR_PYTHON, "#000"},
	[FLAME_MODULE] = {COLOR_MODULE, "#000"},
	[FLAME_OPERATOR] = {COLOR_OPERATOR, "#000"},
	[FLAME_CALL] = {COLOR_API, "#000"},
	[FLAME_ACTIVITY] = {COLOR_KERNEL, "#fff"},
	[FLAME_REST] = {COLOR_FRAME, "#000"},
};

struct child {
	uint32_t frame, parent;
	uint64_t total, rank; /* the highest rank comes first */
};

struct drawing {
	const struct flame *flame;
	enum flame_weight weight;
	struct buf body;
	bool is_by_time;
	struct child *children; /* by parent */
	size_t *first;		/* of each parent, in `children` */
	double per_pixel;
	unsigned int deepest;
	uint64_t nr_left_out;
};

static int compare_children(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	return ORDER(COMPARE(x->parent, y->parent), COMPARE(y->rank, x->rank),
		COMPARE(x->frame, y->frame));
}

/*
 * Sorts all frames by their parents: the children of a frame are those from first[frame] to
 * first[frame + 1].
 */
static void sort_children(struct drawing *drawing)
{
	size_t nr = drawing->flame->nr_frames;

	drawing->children = mem_zeroed(nr, sizeof(*drawing->children));
	drawing->first = mem_zeroed(nr + 1, sizeof(*drawing->first));
	for (size_t i = 1; i < nr; i++) {
		const struct flame_frame *frame = &drawing->flame->frames[i];

		drawing->children[i - 1] = (struct child){.frame = (uint32_t)i,
			.parent = frame->parent,
			.total = frame->total[drawing->weight],
			.rank = drawing->is_by_time ? 0 : frame->total[drawing->weight]};
		drawing->first[frame->parent + 1]++;
	}
	for (size_t i = 1; i <= nr; i++) {
		drawing->first[i] += drawing->first[i - 1];
	}
	if (nr > 1) {
		qsort(drawing->children, nr - 1, sizeof(*drawing->children), compare_children);
	}
}

static void add_name(struct drawing *drawing, const struct flame_frame *frame, size_t most)
{
	struct buf shown = {0};
	size_t nr_bytes = 3;
	const char *bytes = frame->depth ? string_pool_shown(frame->name, &nr_bytes) : "all";

	text_add_cut(&shown, bytes, nr_bytes, most);
	svg_text(&drawing->body, shown.bytes, shown.nr_bytes);
	buf_fini(&shown);
}

static void draw_frame(struct drawing *drawing, size_t number, double x, double width)
{
	const struct flame_frame *frame = &drawing->flame->frames[number];
	uint64_t total = frame->total[drawing->weight];
	int y = TOP + frame->depth * ROW;
	size_t room = (size_t)(width / CHARACTER);

	buf_printf(&drawing->body,
		"<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>", x, y,
		width > 2 ? width - .5 : width, ROW - 1, kinds[frame->kind].color);
	add_name(drawing, frame, 0);
	buf_printf(&drawing->body, ": %" PRIu64 "%s, %.2f %%</title></rect>\n", total,
		drawing->weight == FLAME_LAUNCHES ? " launches" : " ns",
		100 * (double)total / (double)drawing->flame->frames[0].total[drawing->weight]);
	if (room > 3) {
		buf_printf(&drawing->body,
			"<text x=\"%.2f\" y=\"%d\" fill=\"%s\" pointer-events=\"none\">", x + 3,
			y + 13, kinds[frame->kind].ink);
		add_name(drawing, frame, room - 1);
		buf_text(&drawing->body, "</text>\n");
	}
	drawing->deepest = frame->depth > drawing->deepest ? frame->depth : drawing->deepest;
}

/* Depth is limited: FLAME_MAX_DEPTH. */
static void draw(struct drawing *drawing, size_t number, double x)
{
	double width =
		(double)drawing->flame->frames[number].total[drawing->weight] / drawing->per_pixel;

	/* Sums of damaged streams may overflow. */
	width = width < WIDTH ? width : WIDTH;
	if (width < MIN_WIDTH) {
		drawing->nr_left_out += width > 0;
		return;
	}
	draw_frame(drawing, number, x, width);
	for (size_t i = drawing->first[number]; i < drawing->first[number + 1]; i++) {
		const struct child *child = &drawing->children[i];

		draw(drawing, child->frame, x);
		x += (double)child->total / drawing->per_pixel;
	}
}

/* Frames are drawn first, since the head needs the depth of the deepest one. */
void svg_flame_write(const struct flame *flame, enum flame_weight weight, bool is_by_time,
	const char *command, struct buf *out)
{
	struct drawing drawing = {.flame = flame, .weight = weight, .is_by_time = is_by_time};
	uint64_t total = flame->frames[0].total[weight];
	const struct svg_unit *unit = svg_unit((double)total);

	drawing.per_pixel = (double)total / (WIDTH - 2 * MARGIN);
	sort_children(&drawing);
	draw(&drawing, 0, MARGIN);
	svg_head(out, WIDTH, TOP + ((int)drawing.deepest + 1) * ROW + MARGIN,
		flame_title(flame, weight), command);
	if (weight == FLAME_LAUNCHES) {
		buf_printf(out, ", %" PRIu64 " launches", total);
	} else {
		buf_printf(out, ", %.3f %s", (double)total / unit->factor, unit->name);
	}
	if (drawing.nr_left_out) {
		buf_printf(out, "; %" PRIu64 " frames narrower than half a pixel are left out",
			drawing.nr_left_out);
	}
	buf_text(out, "</text>\n");
	buf_add(out, drawing.body.bytes, drawing.body.nr_bytes);
	buf_text(out, "</svg>\n");
	buf_fini(&drawing.body);
	free(drawing.children);
	free(drawing.first);
}
