/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph for other tools: lines for flamegraph.pl, JSON for speedscope, protobuf messages
 * for pprof. Each form lists the frames that have a value of their own, with the path to them; the
 * totals are the tool's.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/timeline/flame.h"
#include "report/timeline/pprof.pb-c.h"
#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

/* As texts of pprof's sample types, and units of speedscope's profiles. */
static const struct {
	const char *name, *unit, *title_unit;
} weights[NR_FLAME_WEIGHTS] = {
	[FLAME_GPU] = {"gpu", "nanoseconds", "nanoseconds"},
	[FLAME_CPU] = {"cpu", "nanoseconds", "nanoseconds"},
	[FLAME_LAUNCHES] = {"launches", "count", "none"},
};

/* Adds a name without control characters. */
static void add_name(struct buf *out, uint32_t name)
{
	size_t nr_bytes;
	const char *bytes = string_pool_shown(name, &nr_bytes);

	text_add_shown(out, bytes, nr_bytes, 0);
}

/* Finds the frames of a path, outermost first, without the root. path: room for depth frames. */
static size_t find_path(const struct flame *flame, size_t frame, uint32_t *path)
{
	size_t depth = flame->frames[frame].depth;

	for (size_t i = depth; i > 0; i--) {
		path[i - 1] = (uint32_t)frame;
		frame = flame->frames[frame].parent;
	}
	return depth;
}

/* The names of frames, each once. */
struct names {
	uint32_t *number_of; /* of each frame's name, from 0 */
	uint32_t *all;	     /* of string_pool.h */
	size_t nr;
};

static void find_names(const struct flame *flame, struct names *names)
{
	struct idmap numbers;

	idmap_init(&numbers, sizeof(uint32_t));
	names->number_of = mem_zeroed(flame->nr_frames, sizeof(uint32_t));
	names->all = mem_zeroed(flame->nr_frames, sizeof(uint32_t));
	names->nr = 0;
	for (size_t i = 1; i < flame->nr_frames; i++) {
		uint32_t *number = idmap_put(&numbers, flame->frames[i].name);

		if (!*number) {
			names->all[names->nr++] = flame->frames[i].name;
			*number = (uint32_t)names->nr;
		}
		names->number_of[i] = *number - 1;
	}
	idmap_fini(&numbers);
}

static void names_fini(struct names *names)
{
	free(names->number_of);
	free(names->all);
}

/* ---- folded ---- */

void flame_write_folded(const struct flame *flame, enum flame_weight weight, struct buf *out)
{
	uint32_t path[FLAME_MAX_DEPTH];
	struct buf name = {0};

	for (size_t i = 1; i < flame->nr_frames; i++) {
		size_t nr = flame->frames[i].self[weight] ? find_path(flame, i, path) : 0;

		for (size_t k = 0; k < nr; k++) {
			name.nr_bytes = 0;
			add_name(&name, flame->frames[path[k]].name);
			for (size_t c = 0; c < name.nr_bytes; c++) {
				/* A semicolon separates frames. */
				name.bytes[c] = name.bytes[c] == ';' ? ',' : name.bytes[c];
			}
			buf_text(out, k ? ";" : "");
			buf_add(out, name.bytes, name.nr_bytes);
		}
		if (nr) {
			buf_printf(out, " %" PRIu64 "\n", flame->frames[i].self[weight]);
		}
		buf_flush_if_large(out);
	}
	buf_fini(&name);
}

/* ---- speedscope ---- */

static void write_samples(const struct flame *flame, const struct names *names,
	enum flame_weight weight, struct buf *out)
{
	uint32_t path[FLAME_MAX_DEPTH];
	bool has_any = false;

	for (size_t i = 1; i < flame->nr_frames; i++) {
		size_t nr = flame->frames[i].self[weight] ? find_path(flame, i, path) : 0;

		for (size_t k = 0; k < nr; k++) {
			buf_printf(out, "%s%u",
				k	  ? ","
				: has_any ? ",\n["
					  : "[",
				names->number_of[path[k]]);
		}
		buf_text(out, nr ? "]" : "");
		has_any |= nr > 0;
		buf_flush_if_large(out);
	}
}

static void write_profile(const struct flame *flame, const struct names *names,
	enum flame_weight weight, struct buf *out)
{
	bool has_any = false;

	buf_printf(out,
		"{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\"startValue\":0,"
		"\"endValue\":%" PRIu64 ",\"samples\":[",
		flame_title(flame, weight), weights[weight].title_unit,
		flame->frames[0].total[weight]);
	write_samples(flame, names, weight, out);
	buf_text(out, "],\n\"weights\":[");
	for (size_t i = 1; i < flame->nr_frames; i++) {
		if (flame->frames[i].self[weight]) {
			buf_printf(out, "%s%" PRIu64, has_any ? "," : "",
				flame->frames[i].self[weight]);
			has_any = true;
		}
	}
	buf_text(out, "]}");
}

static void write_frames(const struct names *names, struct buf *out)
{
	struct buf name = {0};

	for (size_t i = 0; i < names->nr; i++) {
		name.nr_bytes = 0;
		add_name(&name, names->all[i]);
		buf_text(out, i ? ",\n{\"name\":" : "{\"name\":");
		text_add_json(out, name.bytes, name.nr_bytes);
		buf_text(out, "}");
		buf_flush_if_large(out);
	}
	buf_fini(&name);
}

void flame_write_speedscope(const struct flame *flame, enum flame_weight weight, struct buf *out)
{
	unsigned int nr = 0, active = 0;
	struct names names;

	find_names(flame, &names);
	buf_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		      "\"exporter\":\"gprof-report " GPROF_VERSION "\",\n"
		      "\"shared\":{\"frames\":[");
	write_frames(&names, out);
	buf_text(out, "]},\n\"profiles\":[");
	for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
		if (flame->frames[0].total[w]) {
			active = w == weight ? nr : active;
			buf_text(out, nr++ ? ",\n" : "");
			write_profile(flame, &names, w, out);
		}
	}
	buf_printf(out, "],\n\"activeProfileIndex\":%u}\n", active);
	names_fini(&names);
}

/* ---- pprof ---- */

typedef Gprof__Pprof__Profile profile_t;
typedef Gprof__Pprof__ValueType value_type_t;
typedef Gprof__Pprof__Sample sample_t;
typedef Gprof__Pprof__Location location_t;
typedef Gprof__Pprof__Line line_t;
typedef Gprof__Pprof__Function function_t;

/* A message is written member by member, so that only one sample is in memory. */
static void write_part(const profile_t *part, struct buf *out)
{
	size_t nr_bytes = gprof__pprof__profile__get_packed_size(part);

	buf_reserve(out, nr_bytes);
	out->nr_bytes += gprof__pprof__profile__pack(part, (uint8_t *)out->bytes + out->nr_bytes);
	buf_flush_if_large(out);
}

static void write_text(const char *bytes, size_t nr_bytes, struct buf *out)
{
	profile_t part = GPROF__PPROF__PROFILE__INIT;
	ProtobufCBinaryData text = {nr_bytes, (uint8_t *)bytes};

	part.n_string_table = 1;
	part.string_table = &text;
	write_part(&part, out);
}

/* Text 0 is empty; then names and units of weights, then names of frames. */
static void write_texts(const struct flame *flame, const struct names *names, struct buf *out)
{
	struct buf name = {0};

	write_text("", 0, out);
	for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
		const char *weight =
			w == FLAME_CPU && flame->of == FLAME_WAITS ? "wait" : weights[w].name;

		write_text(weight, strlen(weight), out);
		write_text(weights[w].unit, strlen(weights[w].unit), out);
	}
	for (size_t i = 0; i < names->nr; i++) {
		name.nr_bytes = 0;
		add_name(&name, names->all[i]);
		write_text(name.bytes, name.nr_bytes, out);
	}
	buf_fini(&name);
}

#define NAME_TEXT(weight) (1 + 2 * (int64_t)(weight))
#define FIRST_FRAME_TEXT  NAME_TEXT(NR_FLAME_WEIGHTS)

/* A function and a location for each name, with the same id, from 1. */
static void write_function(size_t number, struct buf *out)
{
	profile_t part = GPROF__PPROF__PROFILE__INIT;
	function_t function = GPROF__PPROF__FUNCTION__INIT, *functions = &function;
	location_t location = GPROF__PPROF__LOCATION__INIT, *locations = &location;
	line_t line = GPROF__PPROF__LINE__INIT, *lines = &line;

	function.id = location.id = line.function_id = number + 1;
	function.name = FIRST_FRAME_TEXT + (int64_t)number;
	location.n_line = 1;
	location.line = &lines;
	part.n_function = part.n_location = 1;
	part.function = &functions;
	part.location = &locations;
	write_part(&part, out);
}

/* Locations lead from the frame to the outermost one, as pprof wants them. */
static void write_sample(
	const struct flame *flame, const struct names *names, size_t frame, struct buf *out)
{
	profile_t part = GPROF__PPROF__PROFILE__INIT;
	sample_t sample = GPROF__PPROF__SAMPLE__INIT, *samples = &sample;
	uint64_t locations[FLAME_MAX_DEPTH];
	int64_t values[NR_FLAME_WEIGHTS];
	const struct flame_frame *at = &flame->frames[frame];

	for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
		values[w] = (int64_t)at->self[w];
	}
	for (; at->depth; at = &flame->frames[at->parent]) {
		locations[sample.n_location_id++] = names->number_of[at - flame->frames] + 1u;
	}
	sample.location_id = locations;
	sample.n_value = NR_FLAME_WEIGHTS;
	sample.value = values;
	part.n_sample = 1;
	part.sample = &samples;
	write_part(&part, out);
}

void flame_write_pprof(const struct flame *flame, enum flame_weight weight, struct buf *out)
{
	profile_t head = GPROF__PPROF__PROFILE__INIT;
	value_type_t types[NR_FLAME_WEIGHTS], *list[NR_FLAME_WEIGHTS];
	struct names names;

	for (unsigned int w = 0; w < NR_FLAME_WEIGHTS; w++) {
		gprof__pprof__value_type__init(&types[w]);
		types[w].type = NAME_TEXT(w);
		types[w].unit = NAME_TEXT(w) + 1;
		list[w] = &types[w];
	}
	head.n_sample_type = NR_FLAME_WEIGHTS;
	head.sample_type = list;
	head.default_sample_type = NAME_TEXT(weight);
	write_part(&head, out);
	find_names(flame, &names);
	write_texts(flame, &names, out);
	for (size_t i = 0; i < names.nr; i++) {
		write_function(i, out);
	}
	for (size_t i = 1; i < flame->nr_frames; i++) {
		const uint64_t *self = flame->frames[i].self;

		if (self[FLAME_GPU] || self[FLAME_CPU] || self[FLAME_LAUNCHES]) {
			write_sample(flame, &names, i, out);
		}
	}
	names_fini(&names);
}
