/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each event writes one row; the rest is about names and steps. Names that were defined before
 * there was a stream, or in the parent of a forked child, are kept, and written before the next
 * row. A range with the name of GPROF_STEP=nvtx:NAME ends a step when it closes: a pushed one is
 * known by its depth, a started one by its id.
 */
#include "preload/nvtx/nvtx_record.h"

#include <stdatomic.h>
#include <string.h>

#include "collector/util/loss.h"
#include "collector/util/pieces.h"
#include "preload/base/utf8.h"
#include "preload/hook/hook.h"
#include "preload/nccl/nccl_range.h"
#include "preload/nvtx/nvtx_next.h"

#define MAX_STEP_STRINGS 16u
#define MAX_STEP_RANGES	 16u
#define MAX_STEP_DEPTHS	 4u
#define MAX_PIECES	 256u

static struct nvtx_state {
	_Atomic uint32_t last_domain;
	_Atomic uint32_t last_string;
	_Atomic uint64_t last_range;
	_Atomic uint32_t step_strings[MAX_STEP_STRINGS]; /* registered under the step's name */
	_Atomic uint32_t nr_step_strings;
	_Atomic uint64_t step_ranges[MAX_STEP_RANGES]; /* open, with ids of another tool */
	atomic_uint told_strings_in, told_ranges_in,
		told_depths_in; /* for notices of what is too much */
	/* The stream has none yet: those of a forked child's parent, or from before it began. */
	atomic_bool misses_names;
} state;

/* The open ranges of this thread, and which of them end a step, the outermost first. */
static __thread struct {
	uint32_t depth, nr_steps;
	uint32_t steps[MAX_STEP_DEPTHS]; /* number of ranges open outside of it */
} open_ranges __attribute__((tls_model("initial-exec")));

static bool is_recording(void)
{
	uint32_t mode = hook_mode();

	if (mode & COLLECTOR_COLD) {
		mode = recorder_ensure_started_counting_loss(0);
	}
	return (mode & COLLECTOR_RECORD) && !ring_in_profiler(&ring_tls);
}

struct nvtx_text *nvtx_text_of_narrow(struct nvtx_text *text, const char *name)
{
	text->bytes = name ? name : "";
	text->nr_bytes = strlen(text->bytes);
	text->is_cut = false;
	return text;
}

/* Converts to UTF-8, cut where the buffer ends. */
struct nvtx_text *nvtx_text_of_wide(struct nvtx_text *text, const wchar_t *name)
{
	char *out = text->buffer;
	const char *end = text->buffer + sizeof(text->buffer) - 4;

	for (; name && *name && out < end; name++) {
		out = utf8_put(out, (uint32_t)*name);
	}
	*out = '\0';
	text->bytes = text->buffer;
	text->nr_bytes = (size_t)(out - text->buffer);
	text->is_cut = name && *name;
	return text;
}

static void write_row(struct gprof_row_nvtx *row, uint8_t op, const char *text, size_t nr_bytes)
{
	row->time = clock_raw();
	row->op = op;
	if (ring_enter(&ring_tls)) {
		row->thread = ring_tls.id;
		ring_emit(row, GPROF_TABLE_nvtx, text, nr_bytes);
	}
}

static bool is_step_string(uint32_t id)
{
	uint32_t n = atomic_load(&state.nr_step_strings);

	for (uint32_t i = 0; i < n && i < MAX_STEP_STRINGS; i++) {
		if (atomic_load(&state.step_strings[i]) == id) {
			return true;
		}
	}
	return false;
}

/*
 * ---- names of domains and registered strings ----
 *
 * Forked children go on using the handles, but have streams of their own. So names are kept for
 * them, without a lock, in up to 64 MB. A child that misses some counts them.
 */

struct kept_name {
	struct kept_name *next;
	uint32_t domain, registered; /* registered is 0 for a domain */
	uint32_t nr_bytes;
	char bytes[];
};

static struct kept_names {
	struct kept_name *_Atomic last; /* the newest */
	struct pieces pieces;
	_Atomic uint64_t nr_missed;
} kept_names;

static void keep_name(uint32_t domain, uint32_t registered, const struct nvtx_text *text)
{
	const size_t most = GPROF_TEXT_BYTES + 1; /* what is longer, the recorder cuts and counts */
	size_t nr_bytes = text->nr_bytes < most ? text->nr_bytes : most;
	struct kept_name *name =
		pieces_take(&kept_names.pieces, (uint32_t)(sizeof(*name) + nr_bytes), MAX_PIECES);

	if (!name) {
		atomic_fetch_add(&kept_names.nr_missed, 1);
		return;
	}
	name->domain = domain;
	name->registered = registered;
	name->nr_bytes = (uint32_t)nr_bytes;
	memcpy(name->bytes, text->bytes, nr_bytes);
	name->next = atomic_load(&kept_names.last);
	while (!atomic_compare_exchange_weak(&kept_names.last, &name->next, name)) {
	}
}

/* ---- */

/* The name that ends steps is known once the recorder has started. */
static void keep_step_string(uint32_t id, const char *bytes, size_t nr_bytes)
{
	if (collector_is_step_range(bytes, nr_bytes) && !is_step_string(id)) {
		uint32_t n = atomic_fetch_add(&state.nr_step_strings, 1);

		if (n < MAX_STEP_STRINGS) {
			atomic_store(&state.step_strings[n], id);
		} else if (notice_is_first(&state.told_strings_in)) {
			notice_add("steps", 0,
				"more than %u registered NVTX strings have the name of the step; "
				"ranges with further ones end no step (register it once, or push "
				"its "
				"name)",
				MAX_STEP_STRINGS);
		}
	}
}

static void write_kept_names(void)
{
	for (const struct kept_name *name = atomic_load(&kept_names.last); name;
		name = name->next) {
		struct gprof_row_nvtx row = {
			.domain = name->domain, .registered = name->registered};

		if (name->registered) {
			keep_step_string(name->registered, name->bytes, name->nr_bytes);
		}
		write_row(&row, name->registered ? GPROF_NVTX_STRING : GPROF_NVTX_DOMAIN,
			name->bytes, name->nr_bytes);
	}
	loss_add(LOSS_NVTX_NAME, atomic_load(&kept_names.nr_missed));
}

/* Once there is a stream. */
static void write_missed_names(void)
{
	if (atomic_load_explicit(&state.misses_names, memory_order_relaxed) &&
		!(hook_mode() & COLLECTOR_COLD) && atomic_exchange(&state.misses_names, false)) {
		write_kept_names();
	}
}

static void emit(struct gprof_row_nvtx *row, uint8_t op, const struct nvtx_text *text)
{
	write_missed_names();
	write_row(row, op, text ? text->bytes : NULL, text ? text->nr_bytes : 0);
	if (text && text->is_cut) {
		loss_add(LOSS_NVTX_WIDE, 1);
	}
}

void nvtx_forget(void)
{
	atomic_store(&state.misses_names, true);
}

/*
 * Keeps a number, or nothing: an extended payload (NCCL's, XLA's) is an address that is valid only
 * during the call, and of a number of 32 bits the other half is undefined.
 */
static void take_payload(struct gprof_row_nvtx *row, const struct nvtx_attributes *a)
{
	switch (a->payload_type) {
	case NVTX_PAYLOAD_UINT64:
	case NVTX_PAYLOAD_INT64:
	case NVTX_PAYLOAD_DOUBLE:
		row->payload = a->payload;
		break;
	case NVTX_PAYLOAD_UINT32:
	case NVTX_PAYLOAD_INT32:
	case NVTX_PAYLOAD_FLOAT:
		row->payload = (uint32_t)a->payload;
		break;
	default:
		return;
	}
	row->payload_type = (uint8_t)a->payload_type;
}

/* Takes over what the caller's version of the attributes holds; true if the range ends a step. */
static bool take_attributes(
	struct gprof_row_nvtx *row, struct nvtx_text *text, const struct nvtx_attributes *a)
{
	nvtx_text_of_narrow(text, NULL);
	if (!a || a->size < sizeof(*a)) {
		return false;
	}
	row->category = a->category;
	row->color = a->color_type == 1 ? a->color : 0;
	take_payload(row, a);
	switch (a->message_type) {
	case NVTX_MESSAGE_ASCII:
		nvtx_text_of_narrow(text, a->message);
		break;
	case NVTX_MESSAGE_UNICODE:
		nvtx_text_of_wide(text, a->message);
		break;
	case NVTX_MESSAGE_REGISTERED:
		row->registered = nvtx_next_id(NVTX_STRING, a->message);
		write_missed_names();
		return is_step_string(row->registered);
	default:
		break;
	}
	return collector_is_step_range(text->bytes, text->nr_bytes);
}

static void keep_step_range(uint64_t range)
{
	for (unsigned int i = 0; range && i < MAX_STEP_RANGES; i++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&state.step_ranges[i], &none, range)) {
			return;
		}
	}
	if (range && notice_is_first(&state.told_ranges_in)) {
		notice_add("steps", 0,
			"more than %u NVTX ranges that end a step are open at a time; further ones "
			"end no step, since another tool gave their ids (push and pop them)",
			MAX_STEP_RANGES);
	}
}

/* Notes the push of a range that ends a step. Exceptions may leave outer ones open for ever. */
static void keep_step_depth(void)
{
	uint32_t *steps = open_ranges.steps;

	if (open_ranges.nr_steps == MAX_STEP_DEPTHS) {
		memmove(steps, steps + 1, sizeof(open_ranges.steps) - sizeof(*steps));
		open_ranges.nr_steps--;
		if (notice_is_first(&state.told_depths_in)) {
			notice_add("steps", 0,
				"more than %u NVTX ranges that end a step are open inside each "
				"other; the outermost end no step",
				MAX_STEP_DEPTHS);
		}
	}
	steps[open_ranges.nr_steps++] = open_ranges.depth;
}

/* Notes a pop; does it end a step? */
static bool drop_step_depth(void)
{
	uint32_t nr_steps = open_ranges.nr_steps;
	bool is_step =
		--open_ranges.depth == (nr_steps ? open_ranges.steps[nr_steps - 1] : UINT32_MAX);

	open_ranges.nr_steps -= is_step;
	return is_step;
}

static bool drop_step_range(uint64_t range)
{
	for (unsigned int i = 0; range && i < MAX_STEP_RANGES; i++) {
		uint64_t kept = range;

		if (atomic_compare_exchange_strong(&state.step_ranges[i], &kept, 0)) {
			return true;
		}
	}
	return false;
}

/* ---- what happens, for all forms of a call ---- */

void nvtx_mark(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct gprof_row_nvtx row = {.domain = domain};
	struct nvtx_text text;

	if (is_recording()) {
		take_attributes(&row, &text, attributes);
		emit(&row, GPROF_NVTX_MARK, &text);
	}
}

int nvtx_push(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct gprof_row_nvtx row = {.domain = domain};
	bool is_recorded = is_recording(); /* first: it may start the recorder, which knows steps */
	struct nvtx_text text;
	bool is_step = take_attributes(&row, &text, attributes);

	if (is_step) {
		keep_step_depth();
	}
	if (is_recorded) {
		emit(&row, GPROF_NVTX_PUSH, &text);
	}
	nccl_range_push(domain, row.registered, attributes);
	return (int)open_ranges.depth++;
}

int nvtx_pop(uint32_t domain, const struct nvtx_payload_data *payloads, size_t nr_payloads)
{
	struct gprof_row_nvtx row = {.domain = domain};

	nccl_range_pop(domain, payloads, nr_payloads);
	if (is_recording()) {
		emit(&row, GPROF_NVTX_POP, NULL);
	}
	if (!open_ranges.depth) {
		return -1; /* NVTX: nothing was pushed */
	}
	if (drop_step_depth()) {
		collector_step(GPROF_STEP_NVTX);
	}
	return (int)open_ranges.depth;
}

/*
 * The lowest bit of our ids says that the end of the range ends a step. If the program gets another
 * tool's ids, we remember those.
 */
uint64_t nvtx_start_range(
	uint32_t domain, const struct nvtx_attributes *attributes, const uint64_t *theirs)
{
	struct gprof_row_nvtx row = {.domain = domain};
	bool is_recorded = is_recording(); /* as above */
	struct nvtx_text text;
	bool is_step = take_attributes(&row, &text, attributes);

	if (theirs) {
		row.range = *theirs;
		keep_step_range(is_step ? *theirs : 0);
	} else {
		row.range = (atomic_fetch_add(&state.last_range, 1) + 1) << 1 | is_step;
	}
	if (is_recorded) {
		emit(&row, GPROF_NVTX_START, &text);
	}
	return row.range;
}

void nvtx_end_range(uint32_t domain, uint64_t range, bool is_theirs)
{
	struct gprof_row_nvtx row = {.domain = domain, .range = range};

	if (is_recording()) {
		emit(&row, GPROF_NVTX_END, NULL);
	}
	if (is_theirs ? drop_step_range(range) : range & 1) {
		collector_step(GPROF_STEP_NVTX);
	}
}

/* Definitions are kept also while nothing is recorded: later ranges use them. */
static void define(struct gprof_row_nvtx *row, uint8_t op, const struct nvtx_text *text)
{
	if (hook_mode() & COLLECTOR_COLD) {
		atomic_store(&state.misses_names, true);
	} else {
		emit(row, op, text);
	}
}

uint32_t nvtx_create_domain(const struct nvtx_text *text)
{
	struct gprof_row_nvtx row = {.domain = atomic_fetch_add(&state.last_domain, 1) + 1};

	keep_name(row.domain, 0, text); /* first, as below */
	define(&row, GPROF_NVTX_DOMAIN, text);
	nccl_range_domain(row.domain, text->bytes);
	return row.domain;
}

uint32_t nvtx_register_string(uint32_t domain, const struct nvtx_text *text)
{
	struct gprof_row_nvtx row = {
		.domain = domain, .registered = atomic_fetch_add(&state.last_string, 1) + 1};

	/* In this order: what the recorder, while it starts, has not seen it finds among these. */
	keep_name(domain, row.registered, text);
	define(&row, GPROF_NVTX_STRING, text);
	keep_step_string(row.registered, text->bytes, text->nr_bytes);
	nccl_range_string(domain, row.registered, text->bytes);
	return row.registered;
}

void nvtx_register_schema(uint32_t domain, const struct nvtx_schema *schema)
{
	if (schema) {
		nccl_range_schema(domain, schema);
	}
}

void nvtx_name_category(uint32_t domain, uint32_t category, const struct nvtx_text *text)
{
	struct gprof_row_nvtx row = {.domain = domain, .category = category};

	define(&row, GPROF_NVTX_CATEGORY, text);
}

void nvtx_name_thread(uint32_t tid, const struct nvtx_text *text)
{
	struct gprof_row_nvtx row = {.payload = tid};

	define(&row, GPROF_NVTX_RESOURCE, text);
	/* Threads name themselves, as good as always. */
	if (ring_tls.thread && ring_tls.thread->tid == tid) {
		collector_thread_named(text->bytes);
	}
}
