/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over the fields of a plane with wire.c and picks those that convert.c needs; fields of
 * other numbers are passed over, as later versions may add some. An event names its kind by an id,
 * and each stat its name: both are looked up in hash tables that xplane_plane_init() fills before
 * any event is read. A damaged message counts in nr_bad and gives the fields before the damage.
 */
#include "report/import/xplane/plane.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/hash.h"

/* Numbers of fields in xplane.proto. */
enum {
	PLANE_NAME = 2,
	PLANE_LINE = 3,
	PLANE_EVENT_METADATA = 4,
	PLANE_STAT_METADATA = 5,
	PLANE_STAT = 6,
	ENTRY_KEY = 1, /* of the two tables */
	ENTRY_VALUE = 2,
	METADATA_NAME = 2, /* of both */
	METADATA_DISPLAY_NAME = 4,
	METADATA_STAT = 5,
	LINE_ID = 1,
	LINE_NAME = 2,
	LINE_TIMESTAMP_NS = 3,
	LINE_EVENT = 4,
	LINE_DISPLAY_NAME = 11,
	EVENT_METADATA_ID = 1,
	EVENT_OFFSET_PS = 2,
	EVENT_DURATION_PS = 3,
	EVENT_STAT = 4,
	EVENT_NR_OCCURRENCES = 5,
	STAT_METADATA_ID = 1,
	STAT_DOUBLE = 2,
	STAT_UINT64 = 3,
	STAT_INT64 = 4,
	STAT_TEXT = 5,
	STAT_BYTES = 6,
	STAT_REFERENCE = 7,
};

struct xplane_kind {
	uint64_t id;
	struct wire name, display_name;
	struct wire fields; /* for its stats, which only few kinds have */
	bool has_stats;
	UT_hash_handle hh;
};

struct xplane_name {
	uint64_t id;
	struct wire text;
	enum xplane_stat stat; /* XPLANE_NR_STATS: not read */
	UT_hash_handle hh;
};

bool xplane_find_number(const struct wire *text, const char *prefix, uint64_t *value)
{
	const unsigned char *at = wire_find(text, prefix);
	uint64_t number = 0;
	bool is_number = false;

	for (at = at ? at + strlen(prefix) : text->end; at < text->end && *at >= '0' && *at <= '9';
		at++) {
		if (number > (UINT64_MAX - 9) / 10) {
			return false;
		}
		number = number * 10 + (uint64_t)(*at - '0');
		is_number = true;
	}
	*value = is_number ? number : *value;
	return is_number;
}

/* ---- stats ---- */

static struct xplane_name *find_name(const struct xplane_plane *plane, uint64_t id)
{
	struct xplane_name *name;

	HASH_FIND(hh, plane->names, &id, sizeof(id), name);
	return name;
}

static uint64_t whole(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value >= 0 && value < 9e18 ? (uint64_t)value : 0;
}

/* Numbers and texts are kept apart; a reference is to the text of a name. */
static void read_stat(
	struct xplane_plane *plane, const struct wire *bytes, struct xplane_stats *stats)
{
	struct wire wire = *bytes;
	struct wire_field field;
	struct xplane_value value = {0};
	const struct xplane_name *name, *other;
	uint64_t id = 0;

	while (wire_next(&wire, &field)) {
		switch (field.number) {
		case STAT_METADATA_ID:
			id = field.value;
			break;
		case STAT_DOUBLE:
			value.number = whole(field.value);
			break;
		case STAT_UINT64:
		case STAT_INT64:
			value.number = field.value;
			break;
		case STAT_TEXT:
			value.text = field.bytes;
			break;
		case STAT_REFERENCE:
			other = find_name(plane, field.value);
			value.text = other ? other->text : (struct wire){0};
			break;
		default:
			break;
		}
	}
	plane->nr_bad += wire.is_bad;
	name = find_name(plane, id);
	/* A stat of the event itself comes before one of its kind. */
	if (name && name->stat != XPLANE_NR_STATS && !xplane_has(stats, name->stat)) {
		stats->has |= 1ull << name->stat;
		stats->values[name->stat] = value;
	}
}

static void read_stats(struct xplane_plane *plane, const struct wire *fields, uint32_t number,
	struct xplane_stats *stats)
{
	struct wire wire = *fields;
	struct wire_field field;

	while (wire_next(&wire, &field)) {
		if (field.number == number) {
			read_stat(plane, &field.bytes, stats);
		}
	}
}

/* ---- the tables ---- */

static enum xplane_stat stat_of(const struct wire *name)
{
	static const char *const known[] = {
#define S(name) [XPLANE_##name] = #name,
		XPLANE_STATS(S)
#undef S
	};

	for (int i = 0; i < XPLANE_NR_STATS; i++) {
		if (xplane_is(name, known[i])) {
			return (enum xplane_stat)i;
		}
	}
	return XPLANE_NR_STATS;
}

/* Returns the id of an entry of a table, and its fields. */
static uint64_t read_entry(
	struct xplane_plane *plane, const struct wire *bytes, struct wire *metadata)
{
	struct wire wire = *bytes;
	struct wire_field field;
	uint64_t id = 0;

	*metadata = (struct wire){0};
	while (wire_next(&wire, &field)) {
		if (field.number == ENTRY_KEY) {
			id = field.value;
		} else if (field.number == ENTRY_VALUE) {
			*metadata = field.bytes;
		}
	}
	plane->nr_bad += wire.is_bad;
	return id;
}

static void add_name(struct xplane_plane *plane, const struct wire *bytes)
{
	struct wire metadata;
	uint64_t id = read_entry(plane, bytes, &metadata);
	struct xplane_name *name = find_name(plane, id);
	struct wire_field field;

	if (name) {
		return; /* the first one counts */
	}
	name = mem_zeroed(1, sizeof(*name));
	name->id = id;
	while (wire_next(&metadata, &field)) {
		if (field.number == METADATA_NAME) {
			name->text = field.bytes;
		}
	}
	plane->nr_bad += metadata.is_bad;
	name->stat = stat_of(&name->text);
	HASH_ADD(hh, plane->names, id, sizeof(name->id), name);
}

static struct xplane_kind *find_kind(struct xplane_plane *plane, uint64_t id)
{
	struct xplane_kind *kind = plane->last_kind;

	if (kind && kind->id == id) {
		return kind;
	}
	HASH_FIND(hh, plane->kinds, &id, sizeof(id), kind);
	plane->last_kind = kind ? kind : plane->last_kind;
	return kind;
}

static void add_kind(struct xplane_plane *plane, const struct wire *bytes)
{
	struct wire metadata;
	uint64_t id = read_entry(plane, bytes, &metadata);
	struct xplane_kind *kind = find_kind(plane, id);
	struct wire_field field;

	if (kind) {
		return;
	}
	kind = mem_zeroed(1, sizeof(*kind));
	kind->id = id;
	kind->fields = metadata;
	while (wire_next(&metadata, &field)) {
		switch (field.number) {
		case METADATA_NAME:
			kind->name = field.bytes;
			break;
		case METADATA_DISPLAY_NAME:
			kind->display_name = field.bytes;
			break;
		case METADATA_STAT:
			kind->has_stats = true;
			break;
		default:
			break;
		}
	}
	plane->nr_bad += metadata.is_bad;
	HASH_ADD(hh, plane->kinds, id, sizeof(kind->id), kind);
}

void xplane_plane_init(struct xplane_plane *plane, const struct wire *bytes)
{
	struct wire wire = *bytes;
	struct wire_field field;

	*plane = (struct xplane_plane){0};
	while (wire_next(&wire, &field)) {
		switch (field.number) {
		case PLANE_NAME:
			plane->name = field.bytes;
			break;
		case PLANE_LINE:
			plane->lines = array_grow(plane->lines, plane->nr_lines,
				&plane->line_capacity, sizeof(*plane->lines));
			plane->lines[plane->nr_lines++] = field.bytes;
			break;
		case PLANE_EVENT_METADATA:
			add_kind(plane, &field.bytes);
			break;
		case PLANE_STAT_METADATA:
			add_name(plane, &field.bytes);
			break;
		default:
			break;
		}
	}
	plane->nr_bad += wire.is_bad;
	read_stats(plane, bytes, PLANE_STAT, &plane->stats);
}

void xplane_plane_fini(struct xplane_plane *plane)
{
	hash_free(plane->kinds);
	hash_free(plane->names);
	free(plane->lines);
	*plane = (struct xplane_plane){0};
}

/* ---- lines and events ---- */

void xplane_line_init(
	struct xplane_plane *plane, struct xplane_line *line, const struct wire *bytes)
{
	struct wire wire = *bytes;
	struct wire_field field;

	*line = (struct xplane_line){.events = *bytes};
	while (wire_next(&wire, &field)) {
		switch (field.number) {
		case LINE_ID:
			line->id = (int64_t)field.value;
			break;
		case LINE_NAME:
			line->name = field.bytes;
			break;
		case LINE_TIMESTAMP_NS:
			line->timestamp_ns = (int64_t)field.value;
			break;
		case LINE_DISPLAY_NAME:
			if (!wire_length(&line->name)) {
				line->name = field.bytes;
			}
			break;
		default:
			break;
		}
	}
	plane->nr_bad += wire.is_bad;
}

/*
 * Finds the nanosecond nearest to a time in picoseconds after `base`. Equal times round alike, so
 * events that touch still do.
 */
static bool to_ns(int64_t base_ns, int64_t offset_ps, uint64_t *ns)
{
	__int128 ps = (__int128)base_ns * 1000 + offset_ps + 500;

	if (ps < 0 || ps / 1000 > INT64_MAX) {
		return false;
	}
	*ns = (uint64_t)(ps / 1000);
	return true;
}

static void set_time(struct xplane_event *event, const struct xplane_line *line, int64_t offset_ps,
	int64_t duration_ps)
{
	int64_t end_ps;

	event->has_time = duration_ps >= 0 &&
			  !__builtin_add_overflow(offset_ps, duration_ps, &end_ps) &&
			  to_ns(line->timestamp_ns, offset_ps, &event->begin) &&
			  to_ns(line->timestamp_ns, end_ps, &event->end);
}

/* `event` is not zeroed, since its stats are large: `has` tells which of them are of this event. */
static void read_event(struct xplane_plane *plane, const struct xplane_line *line,
	const struct wire *bytes, struct xplane_event *event)
{
	struct wire wire = *bytes;
	struct wire_field field;
	struct xplane_kind *kind;
	int64_t offset_ps = 0, duration_ps = 0;
	uint64_t id = 0;

	event->is_aggregate = false;
	event->stats.has = 0;
	while (wire_next(&wire, &field)) {
		switch (field.number) {
		case EVENT_METADATA_ID:
			id = field.value;
			break;
		case EVENT_OFFSET_PS:
			offset_ps = (int64_t)field.value;
			break;
		case EVENT_DURATION_PS:
			duration_ps = (int64_t)field.value;
			break;
		case EVENT_STAT:
			read_stat(plane, &field.bytes, &event->stats);
			break;
		case EVENT_NR_OCCURRENCES:
			event->is_aggregate = true;
			break;
		default:
			break;
		}
	}
	plane->nr_bad += wire.is_bad;
	kind = find_kind(plane, id);
	event->name = kind ? kind->name : (struct wire){0};
	event->display_name = kind ? kind->display_name : (struct wire){0};
	if (kind && kind->has_stats) {
		read_stats(plane, &kind->fields, METADATA_STAT, &event->stats);
	}
	set_time(event, line, offset_ps, duration_ps);
}

bool xplane_event_next(
	struct xplane_plane *plane, struct xplane_line *line, struct xplane_event *event)
{
	struct wire_field field;

	while (wire_next(&line->events, &field)) {
		if (field.number == LINE_EVENT) {
			read_event(plane, line, &field.bytes, event);
			return true;
		}
	}
	return false;
}
