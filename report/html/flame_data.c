/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that are too small to see are left out before anything is written (keep_frames): with all
 * that they contain they become one rest of their parent, and their parts join its parts. Names are
 * numbered once for all trees, in the order in which the trees use them.
 */
#include "report/html/flame_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/idmap.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "report/util/sort.h"

/* The names of all trees. */
struct names {
	struct buf json;
	struct idmap numbers; /* uint32_t: 1 + index, by name */
	uint32_t nr;
};

static uint32_t name_number(struct names *names, uint32_t name)
{
	uint32_t *number = idmap_put(&names->numbers, name);

	if (!*number) {
		struct buf shown = {0};
		size_t nr_bytes;
		const char *bytes = string_pool_shown(name, &nr_bytes);

		text_add_shown(&shown, bytes, nr_bytes, 0);
		buf_text(&names->json, names->nr ? ",\n" : "");
		text_add_json(&names->json, shown.bytes, shown.nr_bytes);
		buf_fini(&shown);
		*number = ++names->nr;
	}
	return *number - 1;
}

/* The frames of a tree that the page gets. */
struct kept {
	struct flame_frame *frames;
	size_t nr, capacity;
};

static bool is_small(const struct flame *flame, const struct flame_frame *frame)
{
	for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
		uint64_t least = flame->frames[0].total[w] / HTML_FLAME_MIN;

		if (frame->total[w] && frame->total[w] >= least) {
			return false;
		}
	}
	return true;
}

static uint32_t add_kept(struct kept *kept, const struct flame_frame *frame, uint32_t parent)
{
	kept->frames = array_grow(kept->frames, kept->nr, &kept->capacity, sizeof(*kept->frames));
	kept->frames[kept->nr] = *frame;
	kept->frames[kept->nr].parent = parent;
	return (uint32_t)kept->nr++;
}

/*
 * Keeps the frames that are large enough. Parents come before their children, so what a small frame
 * contains comes later. Returns the index of each frame on the page, or of the one that it is a
 * part of.
 */
static uint32_t *keep_frames(const struct flame *flame, struct kept *kept)
{
	uint32_t *place = mem_zeroed(flame->nr_frames, sizeof(*place));
	uint32_t *place_of = mem_zeroed(flame->nr_frames, sizeof(*place_of)); /* 1 + index */
	uint32_t *rest_of = mem_zeroed(flame->nr_frames, sizeof(*rest_of));
	uint32_t *nr_rest = mem_zeroed(flame->nr_frames, sizeof(*nr_rest));

	place_of[0] = 1 + add_kept(kept, &flame->frames[0], 0);
	for (size_t i = 1; i < flame->nr_frames; i++) {
		const struct flame_frame *frame = &flame->frames[i];
		uint32_t parent = frame->parent;

		if (!place_of[parent]) {
			place[i] = place[parent];
			continue;
		}
		if (!is_small(flame, frame)) {
			place[i] = add_kept(kept, frame, place_of[parent] - 1);
			place_of[i] = 1 + place[i];
			continue;
		}
		if (!rest_of[parent]) {
			struct flame_frame rest = {.kind = FLAME_REST};

			rest_of[parent] = 1 + add_kept(kept, &rest, place_of[parent] - 1);
		}
		place[i] = rest_of[parent] - 1;
		for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
			kept->frames[rest_of[parent] - 1].self[w] += frame->total[w];
		}
		nr_rest[parent] += frame->total[FLAME_GPU] || frame->total[FLAME_CPU] ||
				   frame->total[FLAME_LAUNCHES];
	}
	for (size_t i = 0; i < flame->nr_frames; i++) {
		if (rest_of[i]) {
			char text[32];
			int length = snprintf(text, sizeof(text), "%u", nr_rest[i]);

			kept->frames[rest_of[i] - 1].name =
				string_pool_intern(text, (size_t)length);
		}
	}
	free(place_of);
	free(rest_of);
	free(nr_rest);
	return place;
}

/* ---- parts ---- */

struct part {
	uint32_t frame; /* its index on the page */
	uint16_t steps;
	uint8_t phase;
	uint64_t self[NR_FLAME_WEIGHTS];
};

static int by_place(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return ORDER(COMPARE(x->frame, y->frame), COMPARE(x->phase, y->phase),
		COMPARE(x->steps, y->steps));
}

/* Joins the parts of one frame, phase and range of steps. Returns how many are left. */
static size_t join_parts(struct part *parts, size_t nr)
{
	size_t nr_joined = 0;

	qsort(parts, nr, sizeof(*parts), by_place);
	for (size_t i = 0; i < nr; i++) {
		struct part *last = nr_joined ? &parts[nr_joined - 1] : NULL;

		if (!last || by_place(last, &parts[i])) {
			parts[nr_joined++] = parts[i];
			continue;
		}
		for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
			last->self[w] += parts[i].self[w];
		}
	}
	return nr_joined;
}

static struct part *find_parts(const struct flame *flame, const uint32_t *place, size_t *nr)
{
	struct part *parts = mem_zeroed(flame->nr_parts + 1, sizeof(*parts));

	*nr = 0;
	for (size_t i = 0; i < flame->nr_frames; i++) {
		for (uint32_t at = flame->frames[i].first_part; at;
			at = flame->parts[at - 1].next) {
			const struct flame_part *part = &flame->parts[at - 1];
			struct part *added = &parts[*nr];

			*added = (struct part){
				.frame = place[i], .steps = part->steps, .phase = part->phase};
			memcpy(added->self, part->self, sizeof(added->self));
			*nr += added->self[FLAME_GPU] || added->self[FLAME_CPU] ||
			       added->self[FLAME_LAUNCHES];
		}
	}
	*nr = join_parts(parts, *nr);
	return parts;
}

static bool has_several(const struct part *parts, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (parts[i].phase != parts[0].phase || parts[i].steps != parts[0].steps) {
			return true;
		}
	}
	return false;
}

/* Writes the ranges, and how many steps each has, by which the page divides. */
static void write_ranges(const struct flame_ranges *ranges, struct buf *out)
{
	buf_printf(out, ", \"ranges\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "], \"range_steps\": [",
		ranges->first, ranges->last, ranges->length);
	for (uint64_t i = 0; i <= (ranges->last - ranges->first) / ranges->length; i++) {
		buf_printf(out, "%s%" PRIu64, i ? "," : "", ranges->nr_steps[i]);
	}
	buf_text(out, "]");
}

/*
 * Writes the parts, if they differ. Of two runs, one that lies in a single range is parted like the
 * other.
 */
static void write_parts(
	const struct flame *flame, const uint32_t *place, bool is_of_two, struct buf *out)
{
	const struct flame_ranges *ranges = &flame->ranges;
	size_t nr;
	struct part *parts = find_parts(flame, place, &nr);

	if (nr && (is_of_two || has_several(parts, nr))) {
		buf_text(out, ",\n\"parts\": {\"frame\": [");
		for (size_t i = 0; i < nr; i++) {
			buf_printf(out, "%s%u", i ? "," : "", parts[i].frame);
		}
		buf_text(out, "],\n\"phase\": [");
		for (size_t i = 0; i < nr; i++) {
			buf_printf(out, "%s%u", i ? "," : "", parts[i].phase);
		}
		buf_text(out, "],\n\"steps\": [");
		for (size_t i = 0; i < nr; i++) {
			buf_printf(out, "%s%u", i ? "," : "", parts[i].steps);
		}
		for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
			buf_printf(out, "],\n\"%s\": [", flame_weight_names[w]);
			for (size_t i = 0; i < nr; i++) {
				buf_printf(out, "%s%" PRIu64, i ? "," : "", parts[i].self[w]);
			}
		}
		buf_text(out, "]}");
		if (ranges->length) {
			write_ranges(ranges, out);
		}
	}
	free(parts);
}

static void write_tree(
	const struct flame *flame, bool is_of_two, struct names *names, struct buf *out)
{
	struct kept kept = {0};
	uint32_t *place = keep_frames(flame, &kept);

	buf_text(out, "{\"parent\": [");
	for (size_t i = 0; i < kept.nr; i++) {
		buf_printf(out, "%s%u", i ? "," : "", kept.frames[i].parent);
	}
	buf_text(out, "],\n\"name\": [");
	for (size_t i = 0; i < kept.nr; i++) {
		buf_printf(out, "%s%u", i ? "," : "", name_number(names, kept.frames[i].name));
	}
	buf_text(out, "],\n\"kind\": [");
	for (size_t i = 0; i < kept.nr; i++) {
		buf_printf(out, "%s%u", i ? "," : "", kept.frames[i].kind);
	}
	for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
		buf_printf(out, "],\n\"%s\": [", flame_weight_names[w]);
		for (size_t i = 0; i < kept.nr; i++) {
			buf_printf(out, "%s%" PRIu64, i ? "," : "", kept.frames[i].self[w]);
		}
	}
	buf_printf(out,
		"],\n\"unsampled\": {\"gpu\": %" PRIu64 ", \"cpu\": %" PRIu64
		", \"launches\": %" PRIu64 "}",
		flame->unsampled[FLAME_GPU], flame->unsampled[FLAME_CPU],
		flame->unsampled[FLAME_LAUNCHES]);
	write_parts(flame, place, is_of_two, out);
	buf_text(out, "}");
	free(kept.frames);
	free(place);
}

static bool is_empty(const struct flame *flame)
{
	const uint64_t *total = flame->frames[0].total;

	return !total[FLAME_GPU] && !total[FLAME_CPU] && !total[FLAME_LAUNCHES];
}

static void begin_one(struct html_flame_run *run, struct flame *flame,
	const struct cmd_input *input, unsigned int form, const struct flame_ranges *ranges)
{
	struct flame_reading *reading = flame_begin(flame, input->processes, input->nr_processes,
		form | FLAME_PARTED | (ranges ? FLAME_MERGED : 0), FLAME_ALL_PHASES, ranges);

	run->readings[run->nr] = reading;
	run->walks[run->nr++] = flame_walk(reading);
}

void html_flame_begin(struct html_flame_run *run, const struct cmd_input *input,
	const struct flame_ranges *ranges)
{
	bool has_stacks = false;

	run->nr = 0;
	begin_one(run, &run->modules, input, 0, ranges);
	for (size_t i = 0; i < input->nr_processes; i++) {
		has_stacks |= input->processes[i]->py_stacks.nr != 0;
	}
	if (has_stacks) {
		begin_one(run, &run->stacks, input, FLAME_STACKS, ranges);
	}
}

static void write_trees(
	struct html_flame_run *run, bool is_of_two, struct names *names, struct buf *trees)
{
	static const char *const keys[HTML_FLAME_WALKS] = {"modules", "stacks"};
	struct flame *flames[HTML_FLAME_WALKS] = {&run->modules, &run->stacks};

	for (size_t i = 0; i < run->nr; i++) {
		flame_end(run->readings[i]);
		if (!is_empty(flames[i])) {
			buf_printf(trees, "%s\"%s\": ", trees->nr_bytes ? ",\n" : "", keys[i]);
			write_tree(flames[i], is_of_two, names, trees);
		}
		flame_fini(flames[i]);
	}
}

void html_flame_write(struct html_flame_run *run, struct html_flame_run *other, struct buf *out)
{
	struct names names = {0};
	struct buf trees = {0}, of_other = {0};

	idmap_init(&names.numbers, sizeof(uint32_t));
	write_trees(run, other != NULL, &names, &trees);
	if (other) {
		write_trees(other, true, &names, &of_other);
	}
	if (trees.nr_bytes || of_other.nr_bytes) {
		buf_text(out, "{\"names\": [");
		buf_add(out, names.json.bytes, names.json.nr_bytes);
		buf_text(out, "],\n\"trees\": {");
		buf_add(out, trees.bytes, trees.nr_bytes);
		buf_text(out, "},\n\"other\": {");
		buf_add(out, of_other.bytes, of_other.nr_bytes);
		buf_text(out, "}}\n");
	}
	idmap_fini(&names.numbers);
	buf_fini(&names.json);
	buf_fini(&trees);
	buf_fini(&of_other);
}
