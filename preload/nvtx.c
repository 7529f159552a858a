/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NVTX door. Every range begin, range end and mark is one row of table nvtx; names travel with
 * the row, domains and registered strings as ids that rows of their own define. Handles that we
 * give out are those ids; 0 would tell XLA, JAX and TensorFlow that NVTX is off.
 */
#include <string.h>

#include "collector/config.h"
#include "preload/hook.h"
#include "preload/nvtx_abi.h"

#define MAX_STEP_STRINGS 16u

static struct nvtx_state {
	_Atomic uint32_t last_domain;
	_Atomic uint32_t last_string;
	_Atomic uint64_t last_range;
	_Atomic uint32_t step_strings[MAX_STEP_STRINGS]; /* registered under the step's name */
	_Atomic uint32_t nr_step_strings;
} state;

/* Ranges open in this thread: how many, and which of the innermost 64 end a step. */
static __thread struct {
	uint32_t depth;
	uint64_t steps;
} open_ranges __attribute__((tls_model("initial-exec")));

struct text {
	const char *bytes;
	size_t nr_bytes;
	char buffer[256]; /* for names that come as wide characters */
};

static bool is_recording(void)
{
	uint32_t mode = hook_mode();

	if (mode & COLLECTOR_COLD) {
		mode = hook_start_slow();
	}
	return (mode & COLLECTOR_RECORD) && !ring_is_inside(&ring_self);
}

static void text_of_narrow(struct text *text, const char *name)
{
	text->bytes = name ? name : "";
	text->nr_bytes = strlen(text->bytes);
}

/* UTF-8, cut where the buffer ends. */
static void text_of_wide(struct text *text, const wchar_t *name)
{
	char *out = text->buffer;
	const char *end = text->buffer + sizeof(text->buffer) - 4;

	for (; name && *name && out < end; name++) {
		uint32_t c = (uint32_t)*name;

		if (c < 0x80) {
			*out++ = (char)c;
		} else if (c < 0x800) {
			*out++ = (char)(0xc0 | c >> 6);
			*out++ = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			*out++ = (char)(0xe0 | c >> 12);
			*out++ = (char)(0x80 | (c >> 6 & 0x3f));
			*out++ = (char)(0x80 | (c & 0x3f));
		} else {
			*out++ = (char)(0xf0 | (c >> 18 & 7));
			*out++ = (char)(0x80 | (c >> 12 & 0x3f));
			*out++ = (char)(0x80 | (c >> 6 & 0x3f));
			*out++ = (char)(0x80 | (c & 0x3f));
		}
	}
	text->bytes = text->buffer;
	text->nr_bytes = (size_t)(out - text->buffer);
}

static void emit(struct gprof_row_nvtx *row, uint8_t op, const struct text *text)
{
	row->time = clock_raw();
	row->op = op;
	row->thread = ring_enter(&ring_self) ? ring_self.id : 0;
	collector_emit(row, GPROF_TABLE_nvtx, text ? text->bytes : NULL, text ? text->nr_bytes : 0);
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

/* Takes over what the caller's version of the attributes holds; true if the range ends a step. */
static bool take_attributes(
	struct gprof_row_nvtx *row, struct text *text, const struct nvtx_attributes *a)
{
	text_of_narrow(text, NULL);
	if (!a || a->size < sizeof(*a)) {
		return false;
	}
	row->category = a->category;
	row->color = a->color_type == 1 ? a->color : 0;
	row->payload_type = (uint8_t)a->payload_type;
	row->payload = a->payload_type ? a->payload : 0;
	switch (a->message_type) {
	case NVTX_MESSAGE_ASCII:
		text_of_narrow(text, a->message);
		break;
	case NVTX_MESSAGE_UNICODE:
		text_of_wide(text, a->message);
		break;
	case NVTX_MESSAGE_REGISTERED:
		row->registered = (uint32_t)(uintptr_t)a->message;
		return is_step_string(row->registered);
	default:
		break;
	}
	return collector_is_step_range(text->bytes, text->nr_bytes);
}

/* ---- what happens, for all forms of a call ---- */

static void mark(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct gprof_row_nvtx row = {.domain = domain};
	struct text text;

	if (is_recording()) {
		take_attributes(&row, &text, attributes);
		emit(&row, GPROF_NVTX_MARK, &text);
	}
}

static int push(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct gprof_row_nvtx row = {.domain = domain};
	struct text text;
	bool is_step = take_attributes(&row, &text, attributes);

	open_ranges.steps = open_ranges.steps << 1 | is_step;
	if (is_recording()) {
		emit(&row, GPROF_NVTX_PUSH, &text);
	}
	return (int)open_ranges.depth++;
}

static int pop(uint32_t domain)
{
	struct gprof_row_nvtx row = {.domain = domain};
	bool is_step = open_ranges.steps & 1;

	if (is_recording()) {
		emit(&row, GPROF_NVTX_POP, NULL);
	}
	if (!open_ranges.depth) {
		return -1; /* NVTX: nothing was pushed */
	}
	open_ranges.steps >>= 1;
	if (is_step) {
		collector_step(GPROF_STEP_NVTX);
	}
	return (int)--open_ranges.depth;
}

/* The lowest bit of the id tells that its end ends a step. */
static uint64_t start_range(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct gprof_row_nvtx row = {.domain = domain};
	struct text text;
	bool is_step = take_attributes(&row, &text, attributes);

	row.range = (atomic_fetch_add(&state.last_range, 1) + 1) << 1 | is_step;
	if (is_recording()) {
		emit(&row, GPROF_NVTX_START, &text);
	}
	return row.range;
}

static void end_range(uint32_t domain, uint64_t range)
{
	struct gprof_row_nvtx row = {.domain = domain, .range = range};

	if (is_recording()) {
		emit(&row, GPROF_NVTX_END, NULL);
	}
	if (range & 1) {
		collector_step(GPROF_STEP_NVTX);
	}
}

/* Definitions are kept also while nothing is recorded: later ranges use them. */
static void define(struct gprof_row_nvtx *row, uint8_t op, const struct text *text)
{
	if (!(hook_mode() & COLLECTOR_COLD)) {
		emit(row, op, text);
	}
}

static void *create_domain(const struct text *text)
{
	struct gprof_row_nvtx row = {.domain = atomic_fetch_add(&state.last_domain, 1) + 1};

	define(&row, GPROF_NVTX_DOMAIN, text);
	return (void *)(uintptr_t)row.domain;
}

static void *register_string(uint32_t domain, const struct text *text)
{
	struct gprof_row_nvtx row = {
		.domain = domain, .registered = atomic_fetch_add(&state.last_string, 1) + 1};

	if (collector_is_step_range(text->bytes, text->nr_bytes)) {
		uint32_t n = atomic_fetch_add(&state.nr_step_strings, 1);

		if (n < MAX_STEP_STRINGS) {
			atomic_store(&state.step_strings[n], row.registered);
		}
	}
	define(&row, GPROF_NVTX_STRING, text);
	return (void *)(uintptr_t)row.registered;
}

static void name_category(uint32_t domain, uint32_t category, const struct text *text)
{
	struct gprof_row_nvtx row = {.domain = domain, .category = category};

	define(&row, GPROF_NVTX_CATEGORY, text);
}

static void name_thread(uint32_t tid, const struct text *text)
{
	struct gprof_row_nvtx row = {.payload = tid};

	define(&row, GPROF_NVTX_RESOURCE, text);
}

/* ---- the functions that NVTX calls ---- */

static struct nvtx_attributes message(int32_t type, const void *bytes)
{
	return (struct nvtx_attributes){
		.size = sizeof(struct nvtx_attributes), .message_type = type, .message = bytes};
}

/* A form that takes a text, by the form that takes attributes. */
#define BY_TEXT(ret, name, ctype, message_id, call)                          \
	static ret name(const ctype *bytes)                                  \
	{                                                                    \
		const struct nvtx_attributes a = message(message_id, bytes); \
                                                                             \
		return call(0, &a);                                          \
	}

BY_TEXT(void, core_mark_a, char, NVTX_MESSAGE_ASCII, mark)
BY_TEXT(void, core_mark_w, wchar_t, NVTX_MESSAGE_UNICODE, mark)
BY_TEXT(uint64_t, core_start_a, char, NVTX_MESSAGE_ASCII, start_range)
BY_TEXT(uint64_t, core_start_w, wchar_t, NVTX_MESSAGE_UNICODE, start_range)
BY_TEXT(int, core_push_a, char, NVTX_MESSAGE_ASCII, push)
BY_TEXT(int, core_push_w, wchar_t, NVTX_MESSAGE_UNICODE, push)

static void core_mark_ex(const struct nvtx_attributes *a)
{
	mark(0, a);
}

static uint64_t core_start_ex(const struct nvtx_attributes *a)
{
	return start_range(0, a);
}

static void core_end(uint64_t range)
{
	end_range(0, range);
}

static int core_push_ex(const struct nvtx_attributes *a)
{
	return push(0, a);
}

static int core_pop(void)
{
	return pop(0);
}

#define DOMAIN(handle) ((uint32_t)(uintptr_t)(handle))

static void core2_mark_ex(void *domain, const struct nvtx_attributes *a)
{
	mark(DOMAIN(domain), a);
}

static uint64_t core2_start_ex(void *domain, const struct nvtx_attributes *a)
{
	return start_range(DOMAIN(domain), a);
}

static void core2_end(void *domain, uint64_t range)
{
	end_range(DOMAIN(domain), range);
}

static int core2_push_ex(void *domain, const struct nvtx_attributes *a)
{
	return push(DOMAIN(domain), a);
}

static int core2_pop(void *domain)
{
	return pop(DOMAIN(domain));
}

/* The narrow and the wide form of what takes a name. */
#define BY_NAME(name, ctype, take)                                                             \
	static void core_category_##name(uint32_t category, const ctype *bytes)                \
	{                                                                                      \
		struct text text;                                                              \
                                                                                               \
		take(&text, bytes);                                                            \
		name_category(0, category, &text);                                             \
	}                                                                                      \
	static void core_thread_##name(uint32_t tid, const ctype *bytes)                       \
	{                                                                                      \
		struct text text;                                                              \
                                                                                               \
		take(&text, bytes);                                                            \
		name_thread(tid, &text);                                                       \
	}                                                                                      \
	static void core2_category_##name(void *domain, uint32_t category, const ctype *bytes) \
	{                                                                                      \
		struct text text;                                                              \
                                                                                               \
		take(&text, bytes);                                                            \
		name_category(DOMAIN(domain), category, &text);                                \
	}                                                                                      \
	static void *core2_string_##name(void *domain, const ctype *bytes)                     \
	{                                                                                      \
		struct text text;                                                              \
                                                                                               \
		take(&text, bytes);                                                            \
		return register_string(DOMAIN(domain), &text);                                 \
	}                                                                                      \
	static void *core2_domain_##name(const ctype *bytes)                                   \
	{                                                                                      \
		struct text text;                                                              \
                                                                                               \
		take(&text, bytes);                                                            \
		return create_domain(&text);                                                   \
	}

BY_NAME(a, char, text_of_narrow)
BY_NAME(w, wchar_t, text_of_wide)

struct slot {
	uint32_t module;
	uint32_t id;
	void (*function)(void);
};

#define SLOT(module, id, function)                                                   \
	{                                                                            \
		NVTX_MODULE_##module, NVTX_##module##_##id, (void (*)(void))function \
	}

static const struct slot slots[] = {
	SLOT(CORE, MARK_EX, core_mark_ex),
	SLOT(CORE, MARK_A, core_mark_a),
	SLOT(CORE, MARK_W, core_mark_w),
	SLOT(CORE, RANGE_START_EX, core_start_ex),
	SLOT(CORE, RANGE_START_A, core_start_a),
	SLOT(CORE, RANGE_START_W, core_start_w),
	SLOT(CORE, RANGE_END, core_end),
	SLOT(CORE, RANGE_PUSH_EX, core_push_ex),
	SLOT(CORE, RANGE_PUSH_A, core_push_a),
	SLOT(CORE, RANGE_PUSH_W, core_push_w),
	SLOT(CORE, RANGE_POP, core_pop),
	SLOT(CORE, NAME_CATEGORY_A, core_category_a),
	SLOT(CORE, NAME_CATEGORY_W, core_category_w),
	SLOT(CORE, NAME_THREAD_A, core_thread_a),
	SLOT(CORE, NAME_THREAD_W, core_thread_w),
	SLOT(CORE2, MARK_EX, core2_mark_ex),
	SLOT(CORE2, RANGE_START_EX, core2_start_ex),
	SLOT(CORE2, RANGE_END, core2_end),
	SLOT(CORE2, RANGE_PUSH_EX, core2_push_ex),
	SLOT(CORE2, RANGE_POP, core2_pop),
	SLOT(CORE2, NAME_CATEGORY_A, core2_category_a),
	SLOT(CORE2, NAME_CATEGORY_W, core2_category_w),
	SLOT(CORE2, REGISTER_STRING_A, core2_string_a),
	SLOT(CORE2, REGISTER_STRING_W, core2_string_w),
	SLOT(CORE2, DOMAIN_CREATE_A, core2_domain_a),
	SLOT(CORE2, DOMAIN_CREATE_W, core2_domain_w),
};

HOOK_EXPORT int InitializeInjectionNvtx2(nvtx_get_export get_export);

/*
 * Called once by each object that embeds NVTX, possibly by several threads at once, while others
 * spin: nothing here calls Python or NVTX.
 */
int InitializeInjectionNvtx2(nvtx_get_export get_export)
{
	const struct nvtx_callbacks *callbacks = get_export(NVTX_EXPORT_CALLBACKS);

	if (hook_mode() & COLLECTOR_COLD) {
		hook_start_slow();
	}
	if (!callbacks || !config_flag(CONFIG_NVTX) || !config_flag(CONFIG_ENABLE)) {
		return 0;
	}
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		nvtx_slot *table = NULL;
		uint32_t nr_slots = 0;

		if (callbacks->get_table(slots[i].module, &table, &nr_slots) && table &&
			slots[i].id < nr_slots && table[slots[i].id]) {
			*table[slots[i].id] = slots[i].function;
		}
	}
	return 1;
}

HOOK_EXPORT int InitializeInjectionNvtxExtension(void *module);

int InitializeInjectionNvtxExtension(void *module)
{
	(void)module;
	return 0;
}
