/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/flame_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/timeline/flame.h"
#include "report/util/idmap.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

/* The names of all trees. */
struct names {
	struct buf json;
	struct idmap numbers; /* uint32_t: 1 + place, by name */
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

/* What the page gets of a tree. */
struct kept {
	struct flame_frame *frames;
	size_t nr, capacity;
};

static bool is_small(const struct flame *flame, const struct flame_frame *frame)
{
	for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
		uint64_t least = flame->frames[0].total[w] / HTML_FLAME_LEAST;

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

/* Parents come before their children, so what a small frame has in it comes later. */
static void keep_frames(const struct flame *flame, struct kept *kept)
{
	uint32_t *place_of = mem_zeroed(flame->nr_frames, sizeof(*place_of)); /* 1 + place */
	uint32_t *rest_of = mem_zeroed(flame->nr_frames, sizeof(*rest_of));
	uint32_t *nr_rest = mem_zeroed(flame->nr_frames, sizeof(*nr_rest));

	place_of[0] = 1 + add_kept(kept, &flame->frames[0], 0);
	for (size_t i = 1; i < flame->nr_frames; i++) {
		const struct flame_frame *frame = &flame->frames[i];
		uint32_t parent = frame->parent;

		if (!place_of[parent]) {
			continue;
		}
		if (!is_small(flame, frame)) {
			place_of[i] = 1 + add_kept(kept, frame, place_of[parent] - 1);
			continue;
		}
		if (!rest_of[parent]) {
			struct flame_frame rest = {.kind = FLAME_REST};

			rest_of[parent] = 1 + add_kept(kept, &rest, place_of[parent] - 1);
		}
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
}

static void write_tree(const struct flame *flame, struct names *names, struct buf *out)
{
	struct kept kept = {0};

	keep_frames(flame, &kept);
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
		", \"launches\": %" PRIu64 "}}",
		flame->unsampled[FLAME_GPU], flame->unsampled[FLAME_CPU],
		flame->unsampled[FLAME_LAUNCHES]);
	free(kept.frames);
}

static bool is_empty(const struct flame *flame)
{
	const uint64_t *total = flame->frames[0].total;

	return !total[FLAME_GPU] && !total[FLAME_CPU] && !total[FLAME_LAUNCHES];
}

static void write_trees(
	const struct cmd_input *input, unsigned int form, struct names *names, struct buf *trees)
{
	bool has_stacks = false;
	struct flame flame;

	flame_read(&flame, input->processes, input->nr_processes, form | FLAME_PARTED,
		FLAME_ALL_PHASES);
	if (!is_empty(&flame)) {
		buf_text(trees, "\"modules\": ");
		write_tree(&flame, names, trees);
	}
	flame_fini(&flame);
	for (size_t i = 0; i < input->nr_processes; i++) {
		has_stacks |= input->processes[i]->py_stacks.nr != 0;
	}
	if (!has_stacks) {
		return;
	}
	flame_read(&flame, input->processes, input->nr_processes,
		form | FLAME_STACKS | FLAME_PARTED, FLAME_ALL_PHASES);
	if (!is_empty(&flame)) {
		buf_text(trees, trees->nr_bytes ? ",\n\"stacks\": " : "\"stacks\": ");
		write_tree(&flame, names, trees);
	}
	flame_fini(&flame);
}

void html_flame_write(const struct cmd_input *input, const struct cmd_input *other, struct buf *out)
{
	struct names names = {0};
	struct buf trees = {0}, of_other = {0};

	idmap_init(&names.numbers, sizeof(uint32_t));
	write_trees(input, other ? FLAME_MERGED : 0, &names, &trees);
	if (other) {
		write_trees(other, FLAME_MERGED, &names, &of_other);
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
