/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observer interface of a libtorch: its functions by their names, and the layout of their
 * arguments. No assumption goes untested: a range of our own runs with known numbers in it, and we
 * search the object for them. Before that, the observer's layout is tried with ranges that only
 * begin to exist: they take over the two functions, and nothing calls these.
 */
#include "preload/torch/torch_try.h"

#include <stdlib.h>
#include <string.h>

#define OBJECT_BYTES 1024u /* more than any version's at::RecordFunction has */
#define NR_TRIES     4u
#define MAGIC	     0x6770726f66000000 /* plus the number of the try */

struct torch_layout torch_layout;

/* std::variant<std::string_view, std::reference_wrapper<const FunctionSchema>> with the first. */
struct name_variant {
	size_t nr_bytes;
	const char *text;
	uint8_t index;
};

/*
 * No try can find out how PyTorch calls an observer, so the version decides. From 2.9 on a function
 * returns it: major, minor and more, a byte each, the major number in the top byte.
 */
#define VERSION	       "aoti_torch_abi_version"
#define NEWEST_VERSION (2u << 8 | 15u)
#define IS_NEWER       "it is newer than 2.15, and gprof has not been tested with it"

/* at::RecordFunction::before(name, sequence): until 2.8 a const char *, then a variant. */
#define BEFORE_TEXT "_ZN2at14RecordFunction6beforeEPKcl"
#define BEFORE_VARIANT                                                                          \
	"_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEES" \
	"t17reference_wrapperIKN3c1014FunctionSchemaEEEEl"

/* Copies of the objects that the trying callback saw. */
static struct tried {
	unsigned char objects[NR_TRIES][OBJECT_BYTES];
	unsigned int nr_seen;
	const char *(*name)(const void *fn);
} tried;

/* ---- trying out ---- */

static const char try_name[] = "gprof::try";

TORCH_BEGIN(torch_try_begin)
{
	*context = NULL;
	if (tried.nr_seen < NR_TRIES && !strcmp(tried.name(fn), try_name)) {
		memcpy(tried.objects[tried.nr_seen++], fn, OBJECT_BYTES);
	}
	return context;
}

static void try_end(const void *fn, void *context)
{
	(void)fn;
	(void)context;
}

static const uint8_t try_scopes[NR_TRIES] = {7, 2, 1, 7};

static union {
	unsigned char bytes[2 * OBJECT_BYTES]; /* the copied part is inside, whatever its content */
	max_align_t align;
} object;

static void construct_object(const struct torch_functions *f, uint8_t scope)
{
	void (*construct)(void *, uint8_t);

	*(void **)&construct = f->construct;
	memset(&object, 0xee, sizeof(object));
	construct(&object, scope);
}

static void destroy_object(const struct torch_functions *f)
{
	void (*destroy)(void *);

	*(void **)&destroy = f->destroy;
	destroy(&object);
}

static void run_one(const struct torch_functions *f, unsigned int number)
{
	int64_t sequence = MAGIC + (int64_t)number;

	construct_object(f, try_scopes[number]);
	if (f->before_text) {
		void (*before)(void *, const char *, int64_t);

		*(void **)&before = f->before_text;
		before(&object, try_name, sequence);
	} else {
		void (*before)(void *, struct name_variant, int64_t);

		*(void **)&before = f->before_variant;
		before(&object, (struct name_variant){strlen(try_name), try_name, 0}, sequence);
	}
	destroy_object(f);
}

/*
 * Returns the one offset at which the tries have these numbers; UINT32_MAX if there is none, or
 * several.
 */
static uint32_t find_numbers(const uint64_t *numbers, uint32_t nr_bytes, uint32_t step)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t at = 0; at + nr_bytes <= OBJECT_BYTES; at += step) {
		unsigned int k;

		for (k = 0; k < NR_TRIES; k++) {
			if (memcmp(tried.objects[k] + at, &numbers[k], nr_bytes)) {
				break;
			}
		}
		if (k == NR_TRIES && found != UINT32_MAX) {
			return UINT32_MAX;
		}
		found = k == NR_TRIES ? at : found;
	}
	return found;
}

/* Each range has a handle, one more than that of the range before; the forward thread is before it.
 */
static uint32_t find_handle(void)
{
	for (uint32_t at = 8; at + 8 <= OBJECT_BYTES; at += 8) {
		uint64_t first, next;
		unsigned int k;

		memcpy(&first, tried.objects[0] + at, sizeof(first));
		for (k = 1; k < NR_TRIES; k++) {
			memcpy(&next, tried.objects[k] + at, sizeof(next));
			if (next != first + k || first > UINT32_MAX) {
				break;
			}
		}
		if (k == NR_TRIES) {
			return at;
		}
	}
	return UINT32_MAX;
}

/* The forward thread has no value to search for: it stands before the handle. */
static const char *find_layout(struct torch_layout *layout)
{
	uint64_t sequences[NR_TRIES], scopes[NR_TRIES];
	uint32_t handle_at;

	if (tried.nr_seen != NR_TRIES) {
		return "its callback was not called";
	}
	for (unsigned int k = 0; k < NR_TRIES; k++) {
		sequences[k] = MAGIC + k;
		scopes[k] = try_scopes[k];
	}
	layout->sequence_at = find_numbers(sequences, sizeof(int64_t), 8);
	layout->scope_at = find_numbers(scopes, sizeof(uint8_t), 1);
	handle_at = find_handle();
	if (layout->sequence_at == UINT32_MAX) {
		return "the sequence number was not found";
	}
	if (layout->scope_at == UINT32_MAX) {
		return "the scope was not found";
	}
	if (handle_at == UINT32_MAX || handle_at < layout->sequence_at) {
		return "the handle was not found";
	}
	layout->forward_thread_at = handle_at - 8;
	return NULL;
}

/* ---- calling its functions ---- */

uint64_t torch_add(const struct torch_functions *f, struct torch_callback callback)
{
	uint64_t (*function)(struct torch_callback);

	callback.sampling_probability = 1.0;
	*(void **)&function = f->add;
	return function(callback);
}

uint64_t torch_add_try(const struct torch_functions *f, torch_begin_fn *begin)
{
	struct torch_callback callback = {
		.begin = begin, .end = try_end, .needs_inputs = true, .needs_ids = true};

	memset(callback.scopes, 1, sizeof(callback.scopes));
	return torch_add(f, callback);
}

void torch_remove(const struct torch_functions *f, uint64_t handle)
{
	void (*remove)(uint64_t);

	*(void **)&remove = f->remove;
	remove(handle);
}

bool torch_has_observer(const struct torch_functions *f)
{
	bool (*has_global)(void);

	*(void **)&has_global = f->has_global;
	return has_global();
}

/* ---- the layout of an observer ---- */

/* Has a range of that scope taken the two functions over? */
static bool is_observed(
	const struct torch_functions *f, const struct torch_callback *callback, uint8_t scope)
{
	bool is_found = false;

	construct_object(f, scope);
	for (uint32_t at = 0; at + 16 <= OBJECT_BYTES && !is_found; at += 8) {
		is_found = !memcmp(object.bytes + at, &callback->begin, 8) &&
			   !memcmp(object.bytes + at + 8, &callback->end, 8);
	}
	destroy_object(f);
	return is_found;
}

/* Only this thread is observed, and nothing but our own range can begin meanwhile. */
static bool is_observed_by(const struct torch_functions *f, const struct torch_callback *callback)
{
	uint64_t (*add_here)(struct torch_callback);
	uint64_t handle;
	bool is_right = true;

	*(void **)&add_here = f->add_here;
	handle = add_here(*callback);
	for (uint8_t scope = 0; scope < TORCH_NR_SCOPES && is_right; scope++) {
		is_right = is_observed(f, callback, scope) == callback->scopes[scope];
	}
	torch_remove(f, handle);
	return is_right;
}

/*
 * In another layout the probability of an observer may be where we have something else. Zero would
 * be an error, so there are ones first; only a layout that has passed sees zeros.
 */
static bool has_layout(const struct torch_functions *f)
{
	struct torch_callback callback = {.begin = torch_try_begin,
		.end = try_end,
		.sampling_probability = 1.0,
		.needs_inputs = true,
		.needs_outputs = true,
		.needs_ids = true};
	bool is_right;

	for (uint32_t i = 0; i < TORCH_LATER_WORDS; i++) {
		callback.later[i] = 1.0;
	}
	memset(callback.scopes, 1, sizeof(callback.scopes));
	is_right = is_observed_by(f, &callback);
	memset(callback.later, 0, sizeof(callback.later));
	for (uint8_t scope = 0; scope < TORCH_NR_SCOPES && is_right; scope++) {
		memset(callback.scopes, 0, sizeof(callback.scopes));
		callback.scopes[scope] = true;
		is_right = is_observed_by(f, &callback);
	}
	return is_right;
}

const char *torch_try_out(const struct torch_functions *f)
{
	uint64_t handle;

	if (!has_layout(f)) {
		return "its list of observers has another layout";
	}
	*(void **)&torch_layout.name = f->name;
	*(void **)&torch_layout.current_thread = f->current_thread;
	tried.name = torch_layout.name;
	tried.nr_seen = 0;
	handle = torch_add_try(f, torch_try_begin);
	for (unsigned int k = 0; k < NR_TRIES; k++) {
		run_one(f, k);
	}
	torch_remove(f, handle);
	return find_layout(&torch_layout);
}

static bool is_newer(const struct elf *libtorch)
{
	uint64_t (*version)(void);

	*(void **)&version = elf_find(libtorch, VERSION);
	return version && version() >> 48 > NEWEST_VERSION;
}

const char *torch_resolve(const struct elf *libtorch, struct torch_functions *f)
{
	if (is_newer(libtorch)) {
		return IS_NEWER;
	}
#define S(member, symbol)                            \
	f->member = elf_find(libtorch, symbol);      \
	if (!f->member) {                            \
		return "it does not export " symbol; \
	}
	TORCH_SYMBOLS(S)
#undef S
	f->before_text = elf_find(libtorch, BEFORE_TEXT);
	f->before_variant = elf_find(libtorch, BEFORE_VARIANT);
	return f->before_text || f->before_variant ? NULL : "it exports no known form of before()";
}
