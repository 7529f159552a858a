/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chrome_add_ function writes an event member by member: begin_event() and place_event() those
 * that all have, and account the bytes to the span of time; the rest depends on the kind of slice.
 * Names become JSON texts once (chrome_text), and so do inputs and launch shapes.
 */
#include "report/timeline/chrome_events.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/import/kineto/event.h"
#include "report/ops/op.h"
#include "report/util/hash.h"
#include "report/util/text.h"

/* Doubles do not have all ns of larger times. */
#define MAX_EXACT_NS (1ull << 53)

/* 128 KiB. */
#define LAUNCH_BITS (1u << 20)

/* ---- pieces of events ---- */

/* Adds microseconds with three decimals. */
static void add_us(struct buf *out, uint64_t ns)
{
	unsigned int rest = (unsigned int)(ns % 1000);
	char decimals[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
		(char)('0' + rest % 10)};

	buf_uint(out, ns / 1000);
	buf_add(out, decimals, sizeof(decimals));
}

/* Below, doubles of times in us have more digits than add_double counts exactly. */
#define MIN_EXACT_NS 16000u

/*
 * Adds a difference of times, with as many decimals as tell it from its neighbours. To multiply its
 * fraction by 10 and to take digits off is exact. printf takes ten times as long.
 */
static void add_double(struct buf *out, double number)
{
	uint64_t whole = (uint64_t)number;
	double fraction = number - (double)whole;
	int exponent, nr_decimals, nr = 0;
	char decimals[32]; /* of a ns or more there are 20 */

	frexp(number, &exponent);
	nr_decimals = (int)((54 - exponent) * 0.30103) + 1;
	for (; nr < 3 || (nr < nr_decimals && fraction > 0); nr++) {
		fraction *= 10;
		decimals[nr] = (char)('0' + (int)fraction);
		fraction -= (int)fraction;
	}
	buf_uint(out, whole);
	buf_char(out, '.');
	buf_add(out, decimals, (size_t)nr);
}

/*
 * Readers add ts and dur as doubles, some of them after they subtracted the first ts of the row. A
 * slice must end there exactly where the next one begins, or the one around it ends: readers drop
 * slices that overlap by a rounding error, or never close them. So the duration is the difference
 * of the doubles: such sums are exact, with any ts subtracted. To the ns it is the same.
 */
static void add_duration(struct buf *out, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
	double exact = (double)end_ns / 1e3 - (double)begin_ns / 1e3;

	if (!ns || end_ns >= MAX_EXACT_NS || (double)ns / 1e3 == exact) {
		add_us(out, ns);
	} else if (begin_ns < MIN_EXACT_NS) {
		buf_printf(out, "%.17g", exact);
	} else {
		add_double(out, exact);
	}
}

static void add_size(struct timeline_sizes *sizes, uint64_t ns, uint64_t nr_bytes)
{
	uint64_t span = ns > sizes->begin_ns ? (ns - sizes->begin_ns) / sizes->span_ns : 0;

	sizes->bytes[span < TIMELINE_SPANS ? span : TIMELINE_SPANS - 1] += nr_bytes;
}

/* `{"ph": "X", "cat": ..., "name": ...`; the name is JSON already. Accounts the event before. */
static void begin_event(
	struct chrome_events *events, char ph, const char *category, const char *name_json)
{
	struct buf *out = events->out;
	uint64_t at = out->nr_flushed + out->nr_bytes;

	if (events->sizes) {
		add_size(events->sizes, events->event_ns, at - events->event_at);
	}
	events->event_at = at;
	buf_text(out, events->nr_events++ ? ",\n{\"ph\": \"" : "\n{\"ph\": \"");
	buf_char(out, ph);
	if (category) {
		buf_text(out, "\", \"cat\": \"");
		buf_text(out, category);
	}
	buf_text(out, "\", \"name\": ");
	buf_text(out, name_json);
}

/* `, "pid": ..., "tid": ..., "ts": ...`, and with an end `, "dur": ...`. */
static void place_event(struct chrome_events *events, uint32_t pid, uint32_t tid, uint64_t begin_ns,
	const uint64_t *end_ns)
{
	struct buf *out = events->out;

	events->event_ns = begin_ns;
	buf_text(out, ", \"pid\": ");
	buf_uint(out, pid);
	buf_text(out, ", \"tid\": ");
	buf_uint(out, tid);
	buf_text(out, ", \"ts\": ");
	add_us(out, begin_ns);
	if (end_ns) {
		buf_text(out, ", \"dur\": ");
		add_duration(out, begin_ns, *end_ns);
	}
}

/* Adds an end of the flow from a call to its GPU activity. */
static void add_flow(struct chrome_events *events, char ph, uint64_t correlation, uint32_t pid,
	uint32_t tid, uint64_t ns)
{
	struct buf *out = events->out;

	begin_event(events, ph, "ac2g", "\"ac2g\"");
	buf_text(out, ", \"id\": ");
	buf_uint(out, timeline_flow(events->timeline, correlation));
	place_event(events, pid, tid, ns, NULL);
	buf_text(out, ph == 'f' ? ", \"bp\": \"e\"}" : "}");
}

/* Adds `key` with the text around it: ", \"device\": ". */
static void add_member(struct buf *out, const char *key, uint64_t value)
{
	buf_text(out, key);
	buf_uint(out, value);
}

/* Escapes each text once, as most are written for many events. */
const char *chrome_text(uint32_t text)
{
	static char **made;
	static size_t nr_made;

	if (text >= nr_made) {
		size_t nr = (size_t)text * 2 + 64;

		made = mem_resize(made, nr, sizeof(char *));
		memset(made + nr_made, 0, (nr - nr_made) * sizeof(char *));
		nr_made = nr;
	}
	if (!made[text]) {
		struct buf json = {0};
		size_t nr_bytes;
		const char *bytes = string_pool_shown(text, &nr_bytes);

		text_add_json(&json, bytes, nr_bytes);
		buf_char(&json, '\0');
		made[text] = json.bytes;
	}
	return made[text];
}

/* ---- inputs of operators in Kineto's words; kineto/event.c reads them ---- */

static bool skip_word(const char **at, const char *end, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(end - *at) < length || memcmp(*at, word, length)) {
		return false;
	}
	*at += length;
	return true;
}

/* The inputs of an operator as Kineto writes them: members of JSON arrays. */
struct chrome_inputs {
	struct buf dims, types, lists;
	bool has_lists;
};

/* "[64,3]" or "(2,2)", the latter with the brackets of the former: JSON as it is. */
static bool parse_sizes(struct buf *out, const char **at, const char *end)
{
	const char *close = memchr(*at, **at == '(' ? ')' : ']', (size_t)(end - *at));

	if (!close || strspn(*at + 1, "0123456789,") != (size_t)(close - *at - 1)) {
		return false;
	}
	buf_char(out, '[');
	buf_add(out, *at + 1, (size_t)(close - *at - 1));
	buf_char(out, ']');
	*at = close + 1;
	return true;
}

static bool parse_list(struct chrome_inputs *inputs, const char **at, const char *end)
{
	buf_text(&inputs->dims, "[]");
	buf_text(&inputs->types, "\"ScalarList\"");
	buf_char(&inputs->lists, '"');
	inputs->has_lists = true;
	if (!parse_sizes(&inputs->lists, at, end)) {
		return false;
	}
	buf_char(&inputs->lists, '"');
	return true;
}

static bool parse_input(struct chrome_inputs *inputs, const char **at, const char *end)
{
	const char *begin = *at, *open, *type;

	if (begin < end && *begin == '(') {
		return parse_list(inputs, at, end);
	}
	buf_text(&inputs->lists, "\"\"");
	if (skip_word(at, end, "scalar")) {
		buf_text(&inputs->dims, "[]");
		buf_text(&inputs->types, "\"Scalar\"");
		return true;
	}
	open = memchr(begin, '[', (size_t)(end - begin));
	type = !open ? NULL
	       : open == begin + 1 && *begin == '?'
		       ? ""
		       : kineto_shape_type(begin, (size_t)(open - begin));
	if (!type) {
		return false;
	}
	text_add_json(&inputs->types, type, strlen(type));
	*at = open;
	return parse_sizes(&inputs->dims, at, end);
}

static bool parse_inputs(struct chrome_inputs *inputs, const char *at, size_t nr_bytes)
{
	const char *end = at + nr_bytes;

	while (parse_input(inputs, &at, end)) {
		if (at == end) {
			return true;
		}
		if (!skip_word(&at, end, ", ")) {
			return false;
		}
		buf_text(&inputs->dims, ", ");
		buf_text(&inputs->types, ", ");
		buf_text(&inputs->lists, ", ");
	}
	return false;
}

static void add_array(struct buf *out, const char *key, const struct buf *members)
{
	buf_printf(out, ", \"%s\": [", key);
	buf_add(out, members->bytes, members->nr_bytes);
	buf_char(out, ']');
}

/* "float32[64,3], scalar" as "Input Dims" and "Input type"; other texts as "Inputs", unchanged. */
static char *make_inputs(uint32_t name)
{
	struct buf text = {0};
	struct chrome_inputs inputs = {0};
	size_t nr_bytes;
	const char *bytes = string_pool_text(name, &nr_bytes);

	if (parse_inputs(&inputs, bytes, nr_bytes)) {
		add_array(&text, "Input Dims", &inputs.dims);
		add_array(&text, "Input type", &inputs.types);
		if (inputs.has_lists) {
			add_array(&text, "Concrete Inputs", &inputs.lists);
		}
	} else {
		buf_text(&text, arg_names[KEY_INPUTS].json);
		text_add_json(&text, bytes, nr_bytes);
	}
	buf_char(&text, '\0');
	buf_fini(&inputs.dims);
	buf_fini(&inputs.types);
	buf_fini(&inputs.lists);
	return text.bytes;
}

/* The same, made once for each text. */
static const char *inputs_text(uint32_t name)
{
	static struct idmap made; /* char *, by name */
	char **text;

	if (!made.element_bytes) {
		idmap_init(&made, sizeof(char *));
	}
	text = idmap_put(&made, name);
	if (!*text) {
		*text = make_inputs(name);
	}
	return *text;
}

/* ---- arguments ---- */

static void add_value(struct buf *out, const struct arg *arg)
{
	switch (arg->type) {
	case ARG_UINT:
		buf_uint(out, arg->number);
		break;
	case ARG_INT:
		buf_printf(out, "%" PRId64, arg->integer);
		break;
	case ARG_DOUBLE:
		buf_printf(out, arg->key == KEY_PAYLOAD ? "%.9g" : "%.6f", arg->real);
		break;
	case ARG_JSON:
		buf_text(out, string_pool_text(arg->text, NULL));
		break;
	default:
		buf_text(out, chrome_text(arg->text));
		break;
	}
}

/* Adds members, each with the comma before it but for the first nr_skipped bytes. */
static void add_members(
	struct buf *out, const struct arg *arg, const struct arg *end, size_t nr_skipped)
{
	for (; arg < end; arg++, nr_skipped = 0) {
		const struct arg_name *name = &arg_names[arg->key];

		if (arg->type == ARG_INPUTS) {
			buf_text(out, inputs_text(arg->text) + nr_skipped);
		} else if (arg->type != ARG_DOUBLE ||
			   isfinite(arg->real)) { /* JSON has no others */
			buf_add(out, name->json + nr_skipped, name->nr_json - nr_skipped);
			add_value(out, arg);
		}
	}
}

static void pack_shared(void *context, struct shared_args *shared)
{
	(void)context;
	add_members(&shared->packed, shared->made.args, shared->made.args + shared->made.nr, 0);
}

static void add_args(struct chrome_events *events, const struct slice *slice)
{
	struct buf *out = events->out;
	struct slice_args args;
	const struct arg *first = args.args, *end;

	arg_maker_make(&events->args, slice, &args);
	buf_text(out, ", \"args\": {");
	end = first + args.nr;
	if (args.shared) {
		add_members(out, first, first + args.shared_at, 2);
		buf_add(out, args.shared->packed.bytes, args.shared->packed.nr_bytes);
		add_members(out, first + args.shared_at, end, 0);
	} else {
		add_members(out, first, end, 2);
	}
	buf_char(out, '}');
}

/* "domain:range". */
static const char *range_name(const struct slice *slice, struct buf *joined)
{
	size_t nr_bytes;
	const char *bytes;

	if (!slice->domain) {
		return chrome_text(slice->name);
	}
	joined->nr_bytes = 0;
	bytes = string_pool_text(slice->domain, &nr_bytes);
	text_add_json(joined, bytes, nr_bytes);
	joined->nr_bytes--; /* the quote */
	buf_char(joined, ':');
	buf_text(joined, chrome_text(slice->name) + 1);
	buf_char(joined, '\0');
	return joined->bytes;
}

/* ---- slices ---- */

/* TensorBoard's plugin knows calls and loaders as older versions of Kineto wrote them. */
static const char *category_of(const struct timeline *timeline, const struct slice *slice)
{
	bool is_old = timeline_is_for_tensorboard(timeline);

	switch (slice->category) {
	case CATEGORY_RUNTIME:
	case CATEGORY_DRIVER:
		return is_old ? "Runtime" : category_words[slice->category];
	case CATEGORY_ANNOTATION:
		return is_old && op_class(slice->name, GPROF_FRAMEWORK_TORCH, 0) == OP_DATALOADER
			       ? category_words[CATEGORY_OPERATOR]
			       : category_words[CATEGORY_ANNOTATION];
	case CATEGORY_NCCL:
		return slice->kind == SLICE_CALL ? category_words[CATEGORY_LIBRARY]
						 : category_words[CATEGORY_KERNEL];
	default:
		return category_words[slice->category];
	}
}

/* Two instants may share a bit: then a slice is written late for no reason. */
static uint64_t *launch_bits(struct chrome_events *events, uint32_t tid, uint64_t ns, uint64_t *bit)
{
	uint64_t hash = hash_mix(ns ^ (uint64_t)tid << 40) % LAUNCH_BITS;

	*bit = 1ull << (hash % 64);
	return &events->launches[hash / 64];
}

void chrome_note_launch(struct chrome_events *events, const struct slice *slice)
{
	uint64_t bit, *bits;

	if (slice->kind == SLICE_CALL && slice->end_ns > slice->begin_ns &&
		timeline_has_flow(events->timeline, slice->correlation)) {
		bits = launch_bits(events, slice->row, slice->begin_ns, &bit);
		*bits |= bit;
	}
}

bool chrome_may_take_arrow(struct chrome_events *events, const struct slice *slice)
{
	uint64_t bit;

	return slice->begin_ns == slice->end_ns &&
	       *launch_bits(events, slice->row, slice->begin_ns, &bit) & bit;
}

static void add_launch_flow(
	struct chrome_events *events, const struct slice *slice, uint32_t pid, uint32_t tid)
{
	bool may_have_flow = slice->kind == SLICE_CALL ||
			     (slice->kind >= SLICE_KERNEL && slice->kind <= SLICE_GRAPH);

	if (may_have_flow && timeline_has_flow(events->timeline, slice->correlation)) {
		add_flow(events, slice->kind == SLICE_CALL ? 's' : 'f', slice->correlation, pid,
			tid, slice->begin_ns);
	}
}

static void add_range_args(struct chrome_events *events, const struct slice *slice)
{
	if (slice->payload != PAYLOAD_NONE || slice->kind == SLICE_RANGE) {
		add_args(events, slice);
	}
}

/* Ranges that overlap freely become asynchronous events, which may. */
static void add_range(
	struct chrome_events *events, const struct slice *slice, uint32_t pid, uint32_t tid)
{
	uint64_t id = events->nr_events;
	struct buf *out = events->out, joined = {0};
	const char *name = range_name(slice, &joined);

	switch (slice->kind) {
	case SLICE_MARK:
		begin_event(events, 'i', "user_annotation", name);
		buf_text(out, ", \"s\": \"t\"");
		place_event(events, pid, tid, slice->begin_ns, NULL);
		break;
	case SLICE_FREE_RANGE:
		begin_event(events, 'b', "user_annotation", name);
		buf_printf(out, ", \"id\": %" PRIu64, id);
		place_event(events, pid, tid, slice->begin_ns, NULL);
		add_range_args(events, slice);
		buf_char(out, '}');
		begin_event(events, 'e', "user_annotation", name);
		buf_printf(out, ", \"id\": %" PRIu64, id);
		place_event(events, pid, tid, slice->end_ns, NULL);
		buf_char(out, '}');
		buf_fini(&joined);
		return;
	default:
		begin_event(events, 'X', "user_annotation", name);
		place_event(events, pid, tid, slice->begin_ns, &slice->end_ns);
		break;
	}
	add_range_args(events, slice);
	buf_char(out, '}');
	buf_fini(&joined);
}

void chrome_add_slice(
	struct chrome_events *events, const struct slice *slice, uint32_t pid, uint32_t tid)
{
	if (slice->kind == SLICE_RANGE || slice->kind == SLICE_FREE_RANGE ||
		slice->kind == SLICE_MARK) {
		add_range(events, slice, pid, tid);
		return;
	}
	begin_event(events, 'X', category_of(events->timeline, slice), chrome_text(slice->name));
	place_event(events, pid, tid, slice->begin_ns, &slice->end_ns);
	add_args(events, slice);
	buf_char(events->out, '}');
	add_launch_flow(events, slice, pid, tid);
}

void chrome_add_span(struct chrome_events *events, const char *category, const struct slice *span,
	uint32_t pid, uint32_t tid)
{
	begin_event(events, 'X', category, chrome_text(span->name));
	place_event(events, pid, tid, span->begin_ns, &span->end_ns);
	buf_text(events->out, ", \"args\": {}}");
}

void chrome_add_count(struct chrome_events *events, const char *name, const char *unit,
	uint32_t pid, uint64_t ns, double value)
{
	struct buf *out = events->out;

	begin_event(events, 'C', NULL, name);
	place_event(events, pid, 0, ns, NULL);
	buf_text(out, ", \"args\": {");
	buf_text(out, unit);
	buf_text(out, ": ");
	if (value >= 0 && value < 1e15 && value == floor(value)) {
		buf_uint(out, (uint64_t)value);
	} else {
		buf_printf(out, "%.15g", value);
	}
	buf_text(out, "}}");
}

void chrome_add_alloc(
	struct chrome_events *events, const struct slice_alloc *alloc, bool has_totals)
{
	const struct timeline *timeline = events->timeline;
	struct buf *out = events->out;

	begin_event(events, 'i', "cpu_instant_event", "\"[memory]\"");
	buf_text(out, ", \"s\": \"t\"");
	place_event(events, timeline->pid, timeline_tid(timeline, alloc->thread), alloc->ns, NULL);
	buf_text(out, ", \"args\": {");
	if (has_totals) {
		add_member(out, "\"Total Reserved\": ", alloc->reserved_bytes);
		add_member(out, ", \"Total Allocated\": ", alloc->allocated_bytes);
		buf_text(out, ", ");
	}
	buf_printf(out, "\"Bytes\": %" PRId64, alloc->bytes);
	add_member(out, ", \"Addr\": ", alloc->address);
	add_member(out, ", \"Device Id\": ", alloc->device);
	add_member(out, ", \"Device Type\": ", alloc->device_type);
	buf_text(out, "}}");
}

/* Writes CUPTI's overhead, whose pid is -1. */
void chrome_add_overhead(struct chrome_events *events, const struct slice *slice, bool is_new)
{
	uint32_t tid = (uint32_t)slice->thread;
	struct buf *out = events->out;

	if (is_new) {
		begin_event(events, 'M', NULL, "\"thread_name\"");
		events->event_ns = events->timeline->first_ns;
		buf_printf(out, ", \"pid\": -1, \"tid\": %u, \"ts\": ", tid);
		add_us(out, events->timeline->first_ns);
		buf_printf(out, ", \"args\": {\"name\": \"CUPTI overhead\"}}");
	}
	begin_event(events, 'X', "overhead", chrome_text(slice->name));
	events->event_ns = slice->begin_ns;
	buf_printf(out, ", \"pid\": -1, \"tid\": %u, \"ts\": ", tid);
	add_us(out, slice->begin_ns);
	buf_text(out, ", \"dur\": ");
	add_duration(out, slice->begin_ns, slice->end_ns);
	buf_text(out, ", \"args\": {}}");
}

/* ---- other events ---- */

/* Ids differ from those of launches by their category. */
static void add_autograd_end(
	struct chrome_events *events, char ph, uint64_t nr, const struct slice_flow_end *end)
{
	begin_event(events, ph, "fwdbwd", "\"fwdbwd\"");
	buf_printf(events->out, ", \"id\": %" PRIu64, events->timeline->first_id + nr);
	place_event(events, events->timeline->pid, end->row, end->ns, NULL);
	buf_text(events->out, ph == 'f' ? ", \"bp\": \"e\"}" : "}");
}

void chrome_add_autograd_flow(struct chrome_events *events, uint64_t nr,
	const struct slice_flow_end *from, const struct slice_flow_end *to)
{
	add_autograd_end(events, 's', nr, from);
	add_autograd_end(events, 'f', nr, to);
}

void chrome_begin_meta(struct chrome_events *events, const char *what, uint32_t pid, uint32_t tid)
{
	begin_event(events, 'M', NULL, what);
	place_event(events, pid, tid, events->timeline->first_ns, NULL);
	buf_text(events->out, ", \"args\": {");
}

void chrome_begin_global_instant(
	struct chrome_events *events, const char *name, uint32_t pid, uint32_t tid, uint64_t ns)
{
	begin_event(events, 'i', NULL, name);
	buf_text(events->out, ", \"s\": \"g\"");
	place_event(events, pid, tid, ns, NULL);
}

/* ---- processes ---- */

void chrome_events_enter(struct chrome_events *events)
{
	events->args = (struct arg_maker){
		.timeline = events->timeline, .is_json = true, .share = pack_shared};
	arg_maker_enter(&events->args);
	events->launches = mem_zeroed(LAUNCH_BITS / 64, sizeof(*events->launches));
}

void chrome_events_leave(struct chrome_events *events)
{
	arg_maker_leave(&events->args);
	free(events->launches);
}
