/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds libtorch and registers with its observer interface. Nothing of its layout is taken on
 * trust: a range of our own is run with known numbers in it, and where they stand is looked up in
 * the object. If anything is not as expected, the observer stays off and the stream says why.
 */
#include "preload/torch.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "collector/config.h"
#include "collector/log.h"
#include "preload/elf.h"
#include "preload/hook.h"

#define OBJECT_BYTES 1024u /* more than any version's at::RecordFunction has */
#define NR_TRIES     4u
#define MAGIC	     0x6770726f66000000 /* plus the number of the try */

struct torch_layout torch_layout;

/* at::RecordFunctionCallback, which is passed by value. */
struct callback {
	void **(*begin)(void **context, const void *fn);
	void (*end)(const void *fn, void *context);
	double sampling_probability;
	bool scopes[TORCH_NR_SCOPES];
	bool needs_inputs, needs_outputs, needs_ids;
};

/* std::variant<std::string_view, std::reference_wrapper<const FunctionSchema>> with the first. */
struct name_variant {
	size_t nr_bytes;
	const char *text;
	uint8_t index;
};

/* The functions, by their names in the object; all of them must be there. */
#define TORCH_SYMBOLS(S)                                                 \
	S(add, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE") \
	S(remove, "_ZN2at14removeCallbackEm")                            \
	S(enable, "_ZN2at16reenableCallbackEm")                          \
	S(disable, "_ZN2at15disableCallbackEm")                          \
	S(has_global, "_ZN2at18hasGlobalCallbacksEv")                    \
	S(construct, "_ZN2at14RecordFunctionC1ENS_11RecordScopeE")       \
	S(destroy, "_ZN2at14RecordFunctionD1Ev")                         \
	S(name, "_ZNK2at14RecordFunction4nameEv")                        \
	S(current_thread, "_ZN2at14RecordFunction15currentThreadIdEv")

/* at::RecordFunction::before(name, sequence): until 2.8 a const char *, then a variant. */
#define BEFORE_TEXT "_ZN2at14RecordFunction6beforeEPKcl"
#define BEFORE_VARIANT                                                                          \
	"_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEES" \
	"t17reference_wrapperIKN3c1014FunctionSchemaEEEEl"

struct torch_functions {
#define S(name, symbol) void *name;
	TORCH_SYMBOLS(S)
#undef S
	void *before_text, *before_variant;
};

/* Copies of the objects that the trying callback saw. */
static struct tried {
	unsigned char objects[NR_TRIES][OBJECT_BYTES];
	unsigned int nr_seen;
	const char *(*name)(const void *fn);
} tried;

static struct torch_state {
	char path[1024];
	atomic_bool is_done; /* attached, or off for good */
	atomic_bool is_busy;
	atomic_bool is_told;	    /* that there are several */
	_Atomic uint64_t nr_mapped; /* by the loader, at the last look */
	uint64_t handle;	    /* of all scopes but the users', which tell steps */
	void (*enable)(uint64_t handle);
	void (*disable)(uint64_t handle);
	_Atomic bool is_off; /* the handle is disabled */
	atomic_bool is_attached;
} state;

/* ---- trying out ---- */

static const char try_name[] = "gprof::try";

static void **try_begin(void **context, const void *fn)
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

static void run_one(const struct torch_functions *f, unsigned int number)
{
	static union {
		unsigned char
			bytes[2 * OBJECT_BYTES]; /* what is copied lies within, whatever is in it */
		max_align_t align;
	} object;
	void (*construct)(void *, uint8_t);
	void (*destroy)(void *);
	int64_t sequence = MAGIC + (int64_t)number;

	*(void **)&construct = f->construct;
	*(void **)&destroy = f->destroy;
	memset(&object, 0xee, sizeof(object));
	construct(&object, try_scopes[number]);
	if (f->before_text) {
		void (*before)(void *, const char *, int64_t);

		*(void **)&before = f->before_text;
		before(&object, try_name, sequence);
	} else {
		void (*before)(void *, struct name_variant, int64_t);

		*(void **)&before = f->before_variant;
		before(&object, (struct name_variant){strlen(try_name), try_name, 0}, sequence);
	}
	destroy(&object);
}

/* The one place where the tries have these numbers; UINT32_MAX if there is none, or several. */
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

/* ---- registering ---- */

static uint64_t add(const struct torch_functions *f, struct callback callback)
{
	uint64_t (*function)(struct callback);

	callback.sampling_probability = 1.0;
	*(void **)&function = f->add;
	return function(callback);
}

uint64_t torch_add_try(const struct torch_functions *f,
	void **(*begin)(void **context, const void *fn), void (*end)(const void *fn, void *context))
{
	struct callback callback = {
		.begin = begin, .end = end, .needs_inputs = true, .needs_ids = true};

	memset(callback.scopes, 1, sizeof(callback.scopes));
	return add(f, callback);
}

void torch_remove(const struct torch_functions *f, uint64_t handle)
{
	void (*remove)(uint64_t);

	*(void **)&remove = f->remove;
	remove(handle);
}

/* Apart from each other, since the users' ranges go on while a window is closed: they tell steps.
 */
static void add_both(const struct torch_functions *f, bool has_shapes)
{
	struct callback users = {.begin = torch_op_begin, .end = torch_op_end};
	struct callback others = users;

	users.scopes[TORCH_SCOPE_USER] = true;
	add(f, users);
	if (config_number(CONFIG_TORCH) >= TORCH_OPS) {
		memset(others.scopes, 1, sizeof(others.scopes));
		others.scopes[TORCH_SCOPE_USER] = false;
		others.begin = has_shapes ? torch_op_begin_shapes : torch_op_begin;
		others.needs_inputs = has_shapes;
		state.handle = add(f, others);
	}
}

/* Are shapes wanted, and can they be had? */
static bool try_shapes(const struct elf *libtorch, const struct torch_functions *f)
{
	const char *why;

	if (config_number(CONFIG_TORCH) < TORCH_SHAPES) {
		return false;
	}
	why = torch_shape_try(libtorch, f);
	if (why) {
		collector_notice("no PyTorch shapes", 0, "%s: %s; operators are recorded without",
			state.path, why);
	}
	return !why;
}

static const char *try_out(const struct torch_functions *f)
{
	uint64_t handle;

	*(void **)&torch_layout.name = f->name;
	*(void **)&torch_layout.current_thread = f->current_thread;
	tried.name = torch_layout.name;
	tried.nr_seen = 0;
	handle = torch_add_try(f, try_begin, try_end);
	for (unsigned int k = 0; k < NR_TRIES; k++) {
		run_one(f, k);
	}
	torch_remove(f, handle);
	return find_layout(&torch_layout);
}

static const char *resolve(const struct elf *libtorch, struct torch_functions *f)
{
#if !defined(__x86_64__)
	/* There C++ hands the place of a result over in a register that no C function sees. */
	return "its callbacks are made for x86-64 only so far";
#endif
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

/* What is mapped of PyTorch. */
struct mapped {
	struct elf libtorch, python;
	bool has_libtorch, has_python;
	unsigned int nr_libtorch;
};

/*
 * A look may come while the loader is still running constructors of what libtorch needs. Python's
 * part sets a type when its module is made, which is after that; without Python a text of libtorch
 * tells that its constructors have run.
 */
static bool is_ready(const struct mapped *mapped)
{
	static const char *const texts[] = {"_ZN2at19kParamCommsCallNameB5cxx11E",
		"_ZN2at19kParamCommsCallNameE", "_ZN5torch19kParamCommsCallNameB5cxx11E"};
	void *const *word = NULL;

	if (mapped->has_python) {
		word = elf_find(&mapped->python, "THPGeneratorClass");
	}
	for (size_t i = 0; !mapped->has_python && !word && i < sizeof(texts) / sizeof(texts[0]);
		i++) {
		word = elf_find(&mapped->libtorch, texts[i]);
	}
	return word && *word;
}

/* Where nothing is recorded operators should cost nothing. */
static void follow(bool is_wanted)
{
	if (!atomic_load(&state.is_attached) || !state.handle ||
		atomic_exchange(&state.is_off, !is_wanted) == !is_wanted) {
		return;
	}
	if (is_wanted) {
		state.enable(state.handle);
	} else {
		state.disable(state.handle);
	}
}

/* The recorder's thread tells only at its next turn. It may have opened a window meanwhile. */
static void begin_closed(void)
{
	if (!state.handle || (hook_mode() & COLLECTOR_RECORD)) {
		return;
	}
	follow(false);
	if (hook_mode() & COLLECTOR_RECORD) {
		atomic_store(&state.is_off, false);
		state.enable(state.handle);
	}
}

static void attach(const struct elf *libtorch)
{
	struct torch_functions f = {0};
	bool (*has_global)(void);
	const char *why;

	if (hook_mode() & COLLECTOR_COLD) {
		hook_start_slow(); /* reads the variables */
	}
	if (config_number(CONFIG_TORCH) == TORCH_OFF || config_flag(CONFIG_TIMER_ONLY)) {
		atomic_store(&state.is_done, true);
		return;
	}
	why = resolve(libtorch, &f);
	if (!why) {
		*(void **)&has_global = f.has_global;
		if (has_global()) {
			return; /* another observer would see our tries; next time */
		}
		why = try_out(&f);
	}
	atomic_store(&state.is_done, true);
	if (why) {
		collector_notice("no PyTorch operators", 0,
			"%s: %s; operators are not recorded, NVTX ranges are", state.path, why);
		return;
	}
	*(void **)&state.enable = f.enable;
	*(void **)&state.disable = f.disable;
	log_message(LOG_INFO,
		"torch: before(%s), sequence at %u, scope at %u, forward thread at %u of the range "
		"in %s",
		f.before_text ? "text" : "variant", torch_layout.sequence_at, torch_layout.scope_at,
		torch_layout.forward_thread_at, state.path);
	add_both(&f, try_shapes(libtorch, &f));
	atomic_store(&state.is_attached, true);
	begin_closed();
}

/* ---- looking ---- */

static bool has_base(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');

	return !strncmp(base ? base + 1 : path, name, strlen(name));
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct mapped *mapped = data;
	const char *path = info->dlpi_name ? info->dlpi_name : "";

	(void)size;
	if (has_base(path, "libtorch_cpu.so") && strlen(path) < sizeof(state.path)) {
		mapped->nr_libtorch++;
		if (mapped->nr_libtorch == 1 && elf_open(&mapped->libtorch, info)) {
			strcpy(state.path, path);
			mapped->has_libtorch = true;
		}
	} else if (has_base(path, "libtorch_python.so")) {
		mapped->has_python = elf_open(&mapped->python, info);
	}
	return 0;
}

static int count_mapped(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(uint64_t *)data = info->dlpi_adds;
	return 1;
}

static void tell_several(const struct mapped *mapped)
{
	if (mapped->nr_libtorch > 1 && atomic_load(&state.is_done) &&
		!atomic_exchange(&state.is_told, true)) {
		collector_notice("several PyTorch", 0,
			"%u of them in this process; only the operators of %s are recorded",
			mapped->nr_libtorch, state.path);
	}
}

/* What is mapped, if that is more than at the last look. */
static void look(void)
{
	struct mapped mapped = {0};
	uint64_t nr_mapped = 0;
	bool was_done = atomic_load(&state.is_done);

	dl_iterate_phdr(count_mapped, &nr_mapped);
	if (nr_mapped == atomic_load(&state.nr_mapped)) {
		return;
	}
	dl_iterate_phdr(look_at_object, &mapped);
	if (!was_done && mapped.has_libtorch && is_ready(&mapped)) {
		attach(&mapped.libtorch);
	}
	if (!mapped.has_libtorch || was_done) {
		atomic_store(&state.nr_mapped, nr_mapped);
	}
	tell_several(&mapped);
}

static void look_once(void)
{
	int error = errno;

	if (atomic_exchange(&state.is_busy, true)) {
		return;
	}
	ring_self.depth += RING_INSIDE;
	look();
	ring_self.depth -= RING_INSIDE;
	atomic_store(&state.is_busy, false);
	errno = error;
}

void torch_look(void)
{
	if (!atomic_load(&state.is_done)) {
		look_once();
	}
}

void torch_look_again(void)
{
	if (!atomic_load(&state.is_told)) {
		look_once();
	}
}

/* The callbacks stay registered in a forked child; names and ids begin anew. */
static void child(void)
{
	torch_name_forget();
	torch_op_forget();
}

const struct collector_door torch_door = {.follow = follow, .child = child};
