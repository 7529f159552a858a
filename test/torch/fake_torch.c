/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libtorch_cpu.so with its observer interface and nothing else, under the names of the real one.
 * FAKE_LACKS: without before(); FAKE_SILENT: callbacks are never called; FAKE_MOVED: no sequence
 * number in the object; FAKE_SMALL: callbacks get an object without handle; FAKE_LATE: is not ready
 * until fake_finish(); FAKE_SLOW: takes 20 ms, under its mutex, to switch a callback on or off;
 * FAKE_FRONT, FAKE_WIDE: a callback has one more member in front, or knows more scopes;
 * FAKE_LONG: a callback ends with more members, which must be zero; says that it is 2.15;
 * FAKE_NEWER: says that it is 2.16, where callbacks are called in another way;
 * FAKE_MARKED: fake_ops marks who runs (test/bench/cold/cold.h).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef FAKE_MARKED
#include "test/bench/cold/cold.h"
static bool is_marking;
#define MARK(who)               \
	if (is_marking) {       \
		cold_mark(who); \
	}
#else
#define MARK(who)
#endif

/* So large that it is handed back as a std::unique_ptr is: where the caller says, on aarch64 in x8.
 */
struct context {
	void *words[3];
};

#ifdef FAKE_WIDE
#define NR_SCOPES 24u
#else
#define NR_SCOPES 10u
#endif

struct pair {
	struct context (*begin)(const void *fn);
	void (*end)(const void *fn, void *context);
};

struct callback {
#ifdef FAKE_FRONT
	uint64_t version;
#endif
	struct pair pair;
	double sampling_probability;
	bool scopes[NR_SCOPES];
	bool needs_inputs, needs_outputs, needs_ids;
#ifdef FAKE_LONG
	uint64_t later[8];
#endif
};

#define NR_CALLBACKS 8u

struct range {
	struct pair pairs[NR_CALLBACKS]; /* of those that observe it; taken when it is made */
	bool needs_ids;
	const char *name;
	int64_t sequence;
	uint64_t forward_thread;
	uint64_t handle;
	uint8_t scope;
	struct context contexts[NR_CALLBACKS];
	bool has_begun; /* observers that saw the begin see the end */
	char rest[1000];
};

static struct {
	struct callback callback;
	bool is_there, is_on;
} callbacks[NR_CALLBACKS];

/* What tells that the constructors have run: a std::string, which is nothing before. */
const char *constructed __asm__("_ZN2at19kParamCommsCallNameE");

#ifndef FAKE_LATE
__attribute__((constructor)) static void set_text(void)
{
	constructed = "record_param_comms";
}
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

uint64_t add(struct callback callback) __asm__(
	"_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
uint64_t add_here(struct callback callback) __asm__(
	"_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE");
void set_off(uint64_t handle) __asm__("_ZN2at14removeCallbackEm");
void enable(uint64_t handle) __asm__("_ZN2at16reenableCallbackEm");
void disable(uint64_t handle) __asm__("_ZN2at15disableCallbackEm");
bool has_global(void) __asm__("_ZN2at18hasGlobalCallbacksEv");
void construct(struct range *range, uint8_t scope) __asm__(
	"_ZN2at14RecordFunctionC1ENS_11RecordScopeE");
void destroy(struct range *range) __asm__("_ZN2at14RecordFunctionD1Ev");
const char *name_of(const struct range *range) __asm__("_ZNK2at14RecordFunction4nameEv");
uint64_t thread_of(void) __asm__("_ZN2at14RecordFunction15currentThreadIdEv");
#ifndef FAKE_LACKS
void before(struct range *range, const char *name, int64_t sequence) __asm__(
	"_ZN2at14RecordFunction6beforeEPKcl");
#endif
void fake_ops(unsigned int nr_ops);
void fake_names(unsigned int nr_names);
void *fake_begin(const char *name, uint8_t scope);
void fake_end(void *range);
void fake_finish(void);
bool fake_is_locked(void);
void fake_thread(bool raises);

/*
 * Its address identifies a thread. Initial-exec, since malloc would allocate it otherwise:
 * LeakSanitizer takes the bytes before such a variable for a header and follows them anywhere.
 */
static __thread char here __attribute__((tls_model("initial-exec")));
static const void *threads[NR_CALLBACKS]; /* NULL: observes all of them */

static uint64_t add_for(struct callback callback, const void *thread)
{
	for (unsigned int i = 0; i < NR_CALLBACKS; i++) {
		if (!callbacks[i].is_there) {
			callbacks[i].callback = callback;
			callbacks[i].is_there = callbacks[i].is_on = true;
			threads[i] = thread;
			return i;
		}
	}
	return NR_CALLBACKS;
}

uint64_t add(struct callback callback)
{
#ifdef FAKE_LONG
	for (unsigned int i = 0; i < sizeof(callback.later) / sizeof(callback.later[0]); i++) {
		if (callback.later[i]) {
			abort();
		}
	}
#endif
	return add_for(callback, NULL);
}

uint64_t add_here(struct callback callback)
{
	return add_for(callback, &here);
}

void set_off(uint64_t handle)
{
	callbacks[handle].is_there = callbacks[handle].is_on = false;
}

static void set_on(uint64_t handle, bool is_on)
{
	pthread_mutex_lock(&mutex);
	callbacks[handle].is_on = is_on;
#ifdef FAKE_SLOW
	usleep(20000);
#endif
	pthread_mutex_unlock(&mutex);
}

void enable(uint64_t handle)
{
	set_on(handle, true);
}

void disable(uint64_t handle)
{
	set_on(handle, false);
}

bool has_global(void)
{
	return false;
}

void construct(struct range *range, uint8_t scope)
{
	memset(range, 0, sizeof(*range));
	range->scope = scope;
	for (unsigned int i = 0; i < NR_CALLBACKS; i++) {
		const struct callback *callback = &callbacks[i].callback;

		if (callbacks[i].is_on && callback->scopes[scope] &&
			(!threads[i] || threads[i] == &here)) {
			range->pairs[i] = callback->pair;
			range->needs_ids |= callback->needs_ids;
		}
	}
}

#if defined(FAKE_LONG) || defined(FAKE_NEWER)
uint64_t aoti_torch_abi_version(void);

uint64_t aoti_torch_abi_version(void)
{
#ifdef FAKE_NEWER
	return 2ull << 56 | 16ull << 48;
#else
	return 2ull << 56 | 15ull << 48 | 1ull << 40;
#endif
}
#endif

static void begin(struct range *range, const char *name, int64_t sequence)
{
	range->name = name;
#ifndef FAKE_MOVED
	range->sequence = sequence;
#endif
#ifndef FAKE_SMALL
	static _Atomic uint64_t nr_handles;

	range->handle = range->needs_ids ? atomic_fetch_add(&nr_handles, 1) + 1 : 0;
#endif
	(void)sequence;
#ifndef FAKE_SILENT
	for (unsigned int i = 0; i < NR_CALLBACKS; i++) {
		if (range->pairs[i].begin) {
			MARK(COLD_CALLBACK)
#ifdef FAKE_NEWER
			range->contexts[i] = range->pairs[i].begin(NULL);
#else
			range->contexts[i] = range->pairs[i].begin(range);
#endif
			MARK(COLD_TARGET)
		}
	}
	range->has_begun = true;
#endif
}

void destroy(struct range *range)
{
	for (unsigned int i = 0; i < NR_CALLBACKS; i++) {
		if (range->has_begun && range->pairs[i].end) {
			MARK(COLD_CALLBACK)
			range->pairs[i].end(range, range->contexts[i].words[0]);
			MARK(COLD_TARGET)
		}
	}
}

const char *name_of(const struct range *range)
{
	const char *name;

	MARK(COLD_TARGET)
	name = range->name;
	MARK(COLD_CALLBACK)
	return name;
}

uint64_t thread_of(void)
{
	return 1;
}

#ifndef FAKE_LACKS
void before(struct range *range, const char *name, int64_t sequence)
{
	begin(range, name, sequence);
}
#endif

#ifdef FAKE_MARKED
/* libc10 exports these two; the CPU allocator calls them. */
void cpu_new(void *reporter, void *address, size_t nr_bytes) __asm__(
	"_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm");
void cpu_delete(void *reporter, void *address) __asm__(
	"_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv");

void cpu_new(void *reporter, void *address, size_t nr_bytes)
{
	MARK(COLD_TARGET)
	(void)reporter;
	(void)address;
	(void)nr_bytes;
	MARK(COLD_HOOK)
}

void cpu_delete(void *reporter, void *address)
{
	MARK(COLD_TARGET)
	(void)reporter;
	(void)address;
	MARK(COLD_HOOK)
}

/* As the CPU allocator reports the memory of tensors: through the PLT. */
void fake_tensors(unsigned int nr_tensors)
{
	static char memory[64] __attribute__((aligned(64)));

	for (unsigned int i = 0; i < nr_tensors; i++) {
		MARK(COLD_TENSOR)
		MARK(COLD_HOOK)
		cpu_new(NULL, memory, sizeof(memory));
		cpu_delete(NULL, memory);
		MARK(COLD_TARGET)
	}
	MARK(COLD_TENSOR)
}
#endif

void fake_ops(unsigned int nr_ops)
{
	struct range range;

#ifdef FAKE_MARKED
	is_marking = true;
#endif
	for (unsigned int i = 0; i < nr_ops; i++) {
		MARK(COLD_OPERATOR)
		construct(&range, 0);
		begin(&range, "fake::op", i);
		destroy(&range);
	}
	MARK(COLD_OPERATOR)
}

void fake_names(unsigned int nr_names)
{
	struct range range;
	char name[32];

	for (unsigned int i = 0; i < nr_names; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		construct(&range, 0);
		begin(&range, name, i);
		destroy(&range);
	}
}

/* A range of the caller's thread, until fake_end. */
void *fake_begin(const char *name, uint8_t scope)
{
	struct range *range = malloc(sizeof(*range));

	if (!range) {
		abort();
	}
	construct(range, scope);
	begin(range, name, -1);
	return range;
}

void fake_end(void *range)
{
	destroy(range);
	free(range);
}

void fake_finish(void)
{
	constructed = "record_param_comms";
}

bool fake_is_locked(void)
{
	bool is_locked = pthread_mutex_trylock(&mutex) != 0;

	if (!is_locked) {
		pthread_mutex_unlock(&mutex);
	}
	return is_locked;
}

static void *nothing(void *unused)
{
	return unused;
}

/* Makes a thread and waits for it; with an exception of Python's that is pending, if it raises. */
void fake_thread(bool raises)
{
	void (*set_error)(void *type, const char *text) = NULL;
	pthread_t thread;

	*(void **)&set_error = dlsym(RTLD_DEFAULT, "PyErr_SetString");
	if (raises) {
		set_error(*(void **)dlsym(RTLD_DEFAULT, "PyExc_ValueError"), "kept");
	}
	if (!pthread_create(&thread, NULL, nothing, NULL)) {
		pthread_join(thread, NULL);
	}
}
