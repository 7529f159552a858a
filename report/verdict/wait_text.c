/* SPDX-License-Identifier: Apache-2.0 */
/* Many files or peers at one line are one place, whose line a sentence names. */
#include "report/verdict/wait_text.h"

#include <stddef.h>
#include <string.h>

#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "report/verdict/top.h"

/* Of the waits at a line for files, one is named that has this share. */
#define MIN_OBJECT_SHARE 0.5

/* The waits at one line in the same call, for whatever object; the key has none. */
struct wait_group {
	struct wait_place_key key;
	struct code_sum sum;
	const struct wait_place *most; /* of the object with most time */
	UT_hash_handle hh;
};

/* Many folders or peers at one line may each have little of its time. */
static struct wait_group *group_waits(const struct wait_place *places)
{
	struct wait_group *groups = NULL;

	for (const struct wait_place *place = places; place; place = place->hh.next) {
		struct wait_place_key key = place->key;
		struct wait_group *group;

		key.object = 0;
		hash_put(groups, key, &key, group);
		group->sum.nr += place->sum.nr;
		group->sum.ns += place->sum.ns;
		if (!group->most || place->sum.ns > group->most->sum.ns) {
			group->most = place;
		}
	}
	return groups;
}

/* A sentence names the object if most of the time is of it; then its share is that of the object.
 */
static struct wait_place place_of(const struct wait_group *group)
{
	bool has_object = (double)group->most->sum.ns >= MIN_OBJECT_SHARE * (double)group->sum.ns;
	struct wait_place place = {.key = group->key, .sum = group->sum};

	return has_object && group->most->key.object
		       ? (struct wait_place){.key = group->most->key, .sum = group->most->sum}
		       : place;
}

struct wait_sums wait_sums_of(const struct wait_place *places)
{
	struct wait_sums sums = {.ns = 0};
	struct wait_group *groups = group_waits(places);

	for (const struct wait_group *group = groups; group; group = group->hh.next) {
		const struct wait_place place = place_of(group);

		sums.ns += (double)group->sum.ns;
		sums.gil_ns += group->key.kind == GPROF_OS_GIL ? (double)group->sum.ns : 0;
		if (place.key.place || place.key.is_native) {
			top_add(sums.top, NR_WAIT_PLACES, sizeof(place), &place,
				offsetof(struct wait_place, sum.ns));
		}
	}
	hash_free(groups);
	return sums;
}

double wait_sums_pct(const struct wait_sums *sums, size_t i)
{
	return sums->ns > 0 ? 100 * (double)sums->top[i].sum.ns / sums->ns : 0;
}

/* What the thread waits for, where that says more than the call. */
static const char *purpose_of(uint32_t kind)
{
	return kind == GPROF_OS_FAULT	  ? "in page faults"
	       : kind == GPROF_OS_WAIT	  ? "for a lock or a thread"
	       : kind == GPROF_OS_PROCESS ? "for a child process"
					  : NULL;
}

/* As "in read of /data/a.tar", "for a child process", "for Python's lock (GIL)". */
static void add_what(const struct wait_place_key *key, unsigned int object_width, struct buf *out)
{
	const char *call = string_pool_text(key->call, NULL), *purpose = purpose_of(key->kind);

	if (purpose) {
		buf_text(out, purpose);
		return;
	}
	buf_text(out, key->kind == GPROF_OS_GIL ? "for " : "in ");
	text_add_shown(out, call, strlen(call), VERDICT_NAME_WIDTH);
	if (key->object && object_width) {
		size_t nr_bytes;
		const char *object = string_pool_text(key->object, &nr_bytes);

		buf_text(out, " of ");
		text_add_cut(out, object, nr_bytes, object_width);
	}
}

void wait_add_where(const struct wait_place_key *key, const struct code_form *form, struct buf *out)
{
	if (key->place) {
		buf_text(out, " at ");
		code_form_add_line(key->place, form, out);
		buf_char(out, ',');
	}
	buf_char(out, ' ');
	add_what(key, form->object_width, out);
}

void wait_add(const struct wait_sums *sums, const struct code_form *form, const char *before,
	struct buf *out)
{
	if (form->has_share) {
		buf_printf(out, ", %.1f %% of its waits", wait_sums_pct(sums, 0));
	} else {
		buf_text(out, before);
	}
	wait_add_where(&sums->top[0].key, form, out);
}

void wait_add_all(const struct wait_sums *sums, struct buf *out)
{
	for (size_t i = 0; i < NR_WAIT_PLACES && sums->top[i].sum.nr; i++) {
		buf_printf(out, "%s%.1f %%%s", i ? "; " : "", wait_sums_pct(sums, i),
			i ? "" : " of the loop's waits");
		wait_add_where(&sums->top[i].key, &code_form_widest, out);
	}
}
