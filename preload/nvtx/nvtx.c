/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that NVTX calls. Each records the event (nvtx_record.h) and calls the function that
 * another tool would have had in its place (nvtx_next.h), whose result the program gets. Without
 * another tool our ids are the handles; 0 would mean to XLA, JAX and TensorFlow that NVTX is off.
 */
#include "collector/util/config.h"
#include "preload/hook/hook.h"
#include "preload/nvtx/nvtx_next.h"
#include "preload/nvtx/nvtx_record.h"

/* `next` is the other tool's function for a slot, NULL where there is none. */
#define NEXT(module, id, ret, params) \
	ret(*next) params =           \
		(ret(*) params)nvtx_next_function(NVTX_MODULE_##module, NVTX_##module##_##id)

#define VOID(name, module, id, params, args, ours) \
	static void name params                    \
	{                                          \
		NEXT(module, id, void, params);    \
                                                   \
		ours;                              \
		if (next) {                        \
			next args;                 \
		}                                  \
	}

/* Functions that return a depth. */
#define DEPTH(name, module, id, params, args, ours) \
	static int name params                      \
	{                                           \
		NEXT(module, id, int, params);      \
		int depth = ours;                   \
                                                    \
		return next ? next args : depth;    \
	}

/* Functions that return the id of a range. The row needs that id, so the other tool goes first. */
#define START(name, module, id, params, args, domain, attributes)                   \
	static uint64_t name params                                                 \
	{                                                                           \
		NEXT(module, id, uint64_t, params);                                 \
		uint64_t theirs = next ? next args : 0;                             \
                                                                                    \
		return nvtx_start_range(domain, attributes, next ? &theirs : NULL); \
	}

/* A text as attributes. */
#define TEXT(type, text)                                                         \
	(&(const struct nvtx_attributes){.size = sizeof(struct nvtx_attributes), \
		.message_type = NVTX_MESSAGE_##type,                             \
		.message = (text)})

/* Attributes and domains as the other tool knows them, and domains as our ids. */
#define THEIRS(a)	(nvtx_next_attributes(a, &(struct nvtx_attributes){0}))
#define THEIR_DOMAIN(d) (nvtx_next_handle(NVTX_DOMAIN, d))
#define DOMAIN(d)	(nvtx_next_id(NVTX_DOMAIN, d))

VOID(core_mark_a, CORE, MARK_A, (const char *t), (t), nvtx_mark(0, TEXT(ASCII, t)))
VOID(core_mark_w, CORE, MARK_W, (const wchar_t *t), (t), nvtx_mark(0, TEXT(UNICODE, t)))
VOID(core_mark_ex, CORE, MARK_EX, (const struct nvtx_attributes *a), (THEIRS(a)), nvtx_mark(0, a))
VOID(core2_mark_ex, CORE2, MARK_EX, (void *d, const struct nvtx_attributes *a),
	(THEIR_DOMAIN(d), THEIRS(a)), nvtx_mark(DOMAIN(d), a))

DEPTH(core_push_a, CORE, RANGE_PUSH_A, (const char *t), (t), nvtx_push(0, TEXT(ASCII, t)))
DEPTH(core_push_w, CORE, RANGE_PUSH_W, (const wchar_t *t), (t), nvtx_push(0, TEXT(UNICODE, t)))
DEPTH(core_push_ex, CORE, RANGE_PUSH_EX, (const struct nvtx_attributes *a), (THEIRS(a)),
	nvtx_push(0, a))
DEPTH(core2_push_ex, CORE2, RANGE_PUSH_EX, (void *d, const struct nvtx_attributes *a),
	(THEIR_DOMAIN(d), THEIRS(a)), nvtx_push(DOMAIN(d), a))
DEPTH(core_pop, CORE, RANGE_POP, (void), (), nvtx_pop(0, NULL, 0))
DEPTH(core2_pop, CORE2, RANGE_POP, (void *d), (THEIR_DOMAIN(d)), nvtx_pop(DOMAIN(d), NULL, 0))

START(core_start_a, CORE, RANGE_START_A, (const char *t), (t), 0, TEXT(ASCII, t))
START(core_start_w, CORE, RANGE_START_W, (const wchar_t *t), (t), 0, TEXT(UNICODE, t))
START(core_start_ex, CORE, RANGE_START_EX, (const struct nvtx_attributes *a), (THEIRS(a)), 0, a)
START(core2_start_ex, CORE2, RANGE_START_EX, (void *d, const struct nvtx_attributes *a),
	(THEIR_DOMAIN(d), THEIRS(a)), DOMAIN(d), a)
VOID(core_end, CORE, RANGE_END, (uint64_t range), (range), nvtx_end_range(0, range, next != NULL))
VOID(core2_end, CORE2, RANGE_END, (void *d, uint64_t range), (THEIR_DOMAIN(d), range),
	nvtx_end_range(DOMAIN(d), range, next != NULL))

/* ---- with payloads ---- */

/* A name is in the payload, if anywhere, and of the program's own making. */
#define UNNAMED TEXT(ASCII, "(payload)")

VOID(extended_mark, EXTENDED, MARK, (void *d, const void *p, size_t n), (THEIR_DOMAIN(d), p, n),
	nvtx_mark(DOMAIN(d), UNNAMED))
DEPTH(extended_push, EXTENDED, RANGE_PUSH, (void *d, const void *p, size_t n),
	(THEIR_DOMAIN(d), p, n), nvtx_push(DOMAIN(d), UNNAMED))
DEPTH(extended_pop, EXTENDED, RANGE_POP, (void *d, const void *p, size_t n),
	(THEIR_DOMAIN(d), p, n), nvtx_pop(DOMAIN(d), p, n))
START(extended_start, EXTENDED, RANGE_START, (void *d, const void *p, size_t n),
	(THEIR_DOMAIN(d), p, n), DOMAIN(d), UNNAMED)
VOID(extended_end, EXTENDED, RANGE_END, (void *d, uint64_t range, const void *p, size_t n),
	(THEIR_DOMAIN(d), range, p, n), nvtx_end_range(DOMAIN(d), range, next != NULL))

/*
 * The id of a description: the other tool's, or the one that the program has chosen; 0 means none,
 * as without any tool.
 */
static uint64_t extended_schema(void *d, const struct nvtx_schema *schema)
{
	NEXT(EXTENDED, SCHEMA_REGISTER, uint64_t, (void *, const struct nvtx_schema *));

	nvtx_register_schema(DOMAIN(d), schema);
	return next					       ? next(THEIR_DOMAIN(d), schema)
	       : schema && schema->fields & NVTX_SCHEMA_HAS_ID ? schema->id
							       : 0;
}

/* ---- names ---- */

/* Functions that define something return the other tool's handle for it, else gprof's. */
#define DEFINE(name, id, what, params, args, ours)                          \
	static void *name params                                            \
	{                                                                   \
		struct nvtx_text text;                                      \
		NEXT(CORE2, id, void *, params);                            \
                                                                            \
		return nvtx_next_keep(what, next ? next args : NULL, ours); \
	}

/* The narrow and the wide form of what takes a name. */
#define NAMES(n, N, ctype, text_of)                                                              \
	VOID(core_category_##n, CORE, NAME_CATEGORY_##N, (uint32_t category, const ctype *name), \
		(category, name), struct nvtx_text text;                                         \
		nvtx_name_category(0, category, text_of(&text, name)))                           \
	VOID(core_thread_##n, CORE, NAME_THREAD_##N, (uint32_t tid, const ctype *name),          \
		(tid, name), struct nvtx_text text;                                              \
		nvtx_name_thread(tid, text_of(&text, name)))                                     \
	VOID(core2_category_##n, CORE2, NAME_CATEGORY_##N,                                       \
		(void *d, uint32_t category, const ctype *name),                                 \
		(THEIR_DOMAIN(d), category, name), struct nvtx_text text;                        \
		nvtx_name_category(DOMAIN(d), category, text_of(&text, name)))                   \
	DEFINE(core2_string_##n, REGISTER_STRING_##N, NVTX_STRING, (void *d, const ctype *name), \
		(THEIR_DOMAIN(d), name), nvtx_register_string(DOMAIN(d), text_of(&text, name)))  \
	DEFINE(core2_domain_##n, DOMAIN_CREATE_##N, NVTX_DOMAIN, (const ctype *name), (name),    \
		nvtx_create_domain(text_of(&text, name)))

NAMES(a, A, char, nvtx_text_of_narrow)
NAMES(w, W, wchar_t, nvtx_text_of_wide)

#define SLOT(module, id, function)                                                   \
	{                                                                            \
		NVTX_MODULE_##module, NVTX_##module##_##id, (void (*)(void))function \
	}

static const struct nvtx_slot_function slots[] = {
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

static const struct nvtx_slot_function extended_slots[] = {
	SLOT(EXTENDED, SCHEMA_REGISTER, extended_schema),
	SLOT(EXTENDED, MARK, extended_mark),
	SLOT(EXTENDED, RANGE_PUSH, extended_push),
	SLOT(EXTENDED, RANGE_POP, extended_pop),
	SLOT(EXTENDED, RANGE_START, extended_start),
	SLOT(EXTENDED, RANGE_END, extended_end),
};

HOOK_EXPORT int InitializeInjectionNvtx2(nvtx_get_export get_export);

/*
 * Called once by each object that embeds NVTX, possibly by several threads at once, while others
 * spin: nothing here calls Python or NVTX.
 */
int InitializeInjectionNvtx2(nvtx_get_export get_export)
{
	const struct nvtx_callbacks *callbacks = get_export(NVTX_EXPORT_CALLBACKS);
	bool has_next;

	if (hook_mode() & COLLECTOR_COLD) {
		recorder_ensure_started();
	}
	if (!callbacks || nvtx_next_is_loading()) {
		return 0; /* the other tool leads back to gprof, which calls it already */
	}
	has_next = nvtx_next_load(get_export, callbacks, slots, sizeof(slots) / sizeof(slots[0]));
	if (!config_flag(CONFIG_NVTX) || !config_flag(CONFIG_ENABLE)) {
		return has_next;
	}
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		nvtx_slot slot = nvtx_next_slot(callbacks, &slots[i]);

		if (slot) {
			*slot = slots[i].function;
		}
	}
	return 1;
}

/* Is NVTX wanted? Starts the recorder, which reads the settings. */
static bool is_wanted(void)
{
	if (hook_mode() & COLLECTOR_COLD) {
		recorder_ensure_started();
	}
	return config_flag(CONFIG_NVTX) && config_flag(CONFIG_ENABLE);
}

HOOK_EXPORT int gprof_range_push(const char *name);
HOOK_EXPORT int gprof_range_pop(void);

/*
 * For programs that look them up by dlsym: ranges of the calling thread like those of
 * nvtxRangePush, where no library embeds NVTX. Both return the depth, -1 where nothing was pushed.
 */
int gprof_range_push(const char *name)
{
	return is_wanted() ? core_push_a(name) : -1;
}

int gprof_range_pop(void)
{
	return is_wanted() ? core_pop() : -1;
}

HOOK_EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

/*
 * A pop with a payload may end a plain push. Without a tool for the payload extension, NVTX reports
 * each domain as off, and libraries may not call at all. Only the other tool gets descriptions
 * other than schemas, and other extensions.
 */
int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	const size_t nr_slots = sizeof(extended_slots) / sizeof(extended_slots[0]);
	bool is_ours = extension->id == NVTX_EXTENSION_PAYLOAD && config_flag(CONFIG_NVTX) &&
		       config_flag(CONFIG_ENABLE) && !nvtx_next_is_loading();
	int rc = nvtx_next_load_extension(extension, extended_slots, is_ours ? nr_slots : 0);

	for (size_t i = 0; is_ours && i < nr_slots; i++) {
		intptr_t *slot = nvtx_next_extended_slot(extension, &extended_slots[i]);

		if (slot) {
			*slot = (intptr_t)extended_slots[i].function;
		}
	}
	return is_ours ? 1 : rc;
}
