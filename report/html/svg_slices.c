/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/svg_slices.h"

#include <stdlib.h>
#include <string.h>

#include "report/html/svg_timeline.h"
#include "report/ops/op_walk.h"
#include "report/model/select.h"

/* Tracks of phases have these ids: this, and the place of their process. */
#define PHASE_ID 0x80000000u

/* ---- tracks and slices ---- */

static void take_begin(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns)
{
	struct html_svg_slices *slices = context;

	(void)first_ns;
	(void)last_ns;
	slices->clock.base_ns = base_ns;
}

static void take_track(void *context, const struct perfetto_track *track)
{
	struct html_svg_slices *slices = context;
	struct html_svg_track *new = idmap_put(&slices->tracks, (uint32_t)track->track);

	slices->nr_processes += track->kind == PERFETTO_TRACK_PROCESS;
	*new = (struct html_svg_track){.id = (uint32_t)track->track,
		.parent = (uint32_t)track->parent,
		.process = slices->nr_processes,
		.name = string_pool_intern(track->name, strlen(track->name)),
		.rank = track->rank,
		.kind = (uint8_t)track->kind,
		.group = track->kind == PERFETTO_TRACK_THREAD ? GROUP_THREADS : GROUP_OTHERS};
}

static void add_slice(
	struct html_svg_slices *slices, uint32_t id, const struct html_svg_slice *slice)
{
	const struct html_svg_track *track = idmap_get(&slices->tracks, id);
	struct html_svg_slice *new;

	if (track->nr_open >= HTML_SVG_DEPTHS) {
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
	new->depth = (uint8_t)track->nr_open;
	new->nr = (uint32_t)slices->nr++;
}

static void take_slice(void *context, const struct perfetto_event *event, bool is_moment)
{
	struct html_svg_slices *slices = context;
	struct html_svg_track *track = idmap_get(&slices->tracks, (uint32_t)event->track);
	struct html_svg_slice slice = {.begin = event->ns,
		.end = event->ns + event->dur_ns,
		.name = event->name,
		.kind = event->category};

	if (!track) {
		return;
	}
	if (event->category == PERFETTO_STEP) {
		track->group = GROUP_STEPS;
	}
	/* Work runs on when the step that launched it has ended. */
	if (event->category == PERFETTO_KERNEL || event->category == PERFETTO_NCCL ||
		event->category == PERFETTO_COPY || event->category == PERFETTO_SET) {
		slices->to = slice.end > slices->to ? slice.end : slices->to;
	}
	add_slice(slices, (uint32_t)event->track, &slice);
	track->nr_open += !is_moment;
}

static void take_end(void *context, uint64_t id)
{
	struct html_svg_slices *slices = context;
	struct html_svg_track *track = idmap_get(&slices->tracks, (uint32_t)id);

	if (track && track->nr_open) {
		track->nr_open--;
	}
}

/* ---- phases ---- */

static void add_phases(struct html_svg_slices *slices, uint32_t id, const struct phases *phases)
{
	for (size_t i = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];
		const char *name = phase_names[segment->phase];
		const struct html_svg_slice slice = {
			.begin = timeline_host_ns(&slices->clock, segment->begin),
			.end = timeline_host_ns(&slices->clock, segment->end),
			.name = string_pool_intern(name, strlen(name)),
			.kind = (uint8_t)(HTML_SVG_PHASE + segment->phase)};

		if (segment->phase != PHASE_OTHERS) {
			add_slice(slices, id, &slice);
		}
	}
}

/* The spans of what was chosen of a process, and its phases. */
static void take_phases(void *context, struct process *process, const struct phases *phases)
{
	struct html_svg_slices *slices = context;
	const struct intervals *spans = &process->select->spans;
	uint32_t parent = 0, k = 0;

	while (slices->input->processes[k] != process) {
		k++;
	}
	for (size_t i = 0; i < slices->tracks.nr; i++) {
		const struct html_svg_track *track = idmap_at(&slices->tracks, i);

		if (track->kind == PERFETTO_TRACK_PROCESS && track->process == k + 1) {
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
	*(struct html_svg_track *)idmap_put(&slices->tracks, PHASE_ID + k) =
		(struct html_svg_track){.id = PHASE_ID + k,
			.parent = parent,
			.process = k + 1,
			.name = string_pool_intern("phases", 6),
			.kind = PERFETTO_TRACK_OTHER,
			.group = GROUP_PHASES};
	add_phases(slices, PHASE_ID + k, phases);
	timeline_leave(&slices->clock);
}

/* ---- their order ---- */

static int compare_slices(const void *a, const void *b)
{
	const struct html_svg_slice *x = a, *y = b;

	if (x->track != y->track) {
		return x->track < y->track ? -1 : 1;
	}
	if (x->depth != y->depth) {
		return x->depth < y->depth ? -1 : 1;
	}
	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return x->nr < y->nr ? -1 : 1;
}

/* Cuts slices to the span, and gives them to their tracks. */
static void sort(struct html_svg_slices *slices)
{
	size_t nr = 0;

	for (size_t i = 0; i < slices->nr; i++) {
		struct html_svg_slice slice = slices->all[i];

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
		struct html_svg_track *track = idmap_at(&slices->tracks, slices->all[i].track);

		track->first = i;
		track->nr++;
	}
}

void html_svg_slices_take(struct html_svg_slices *slices, const struct cmd_input *input)
{
	const struct perfetto_sink sink = {take_track, take_slice, take_end, slices};
	const struct timeline_pick pick = {.tracks = TIMELINE_API | TIMELINE_OPS | TIMELINE_NVTX |
						     TIMELINE_GPU | TIMELINE_STEPS};
	const struct op_view view = {.end = take_phases};
	const struct op_walk walk = {&view, slices};

	*slices = (struct html_svg_slices){.input = input, .from = UINT64_MAX};
	idmap_init(&slices->tracks, sizeof(struct html_svg_track));
	perfetto_walk(input->processes, input->nr_processes, &pick, take_begin, &sink);
	op_walk_run(input->processes, input->nr_processes, &walk, 1);
	sort(slices);
}

void html_svg_slices_fini(struct html_svg_slices *slices)
{
	idmap_fini(&slices->tracks);
	free(slices->all);
}
