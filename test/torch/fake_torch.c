/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libtorch_cpu.so with its observer interface and nothing else, under the names of the real one.
 * FAKE_LACKS: without before(); FAKE_SILENT: callbacks are never called; FAKE_MOVED: no sequence
 * number in the object; FAKE_SMALL: callbacks get an object without handle; FAKE_LATE: is not ready
 * until fake_finish(); FAKE_SLOW: takes 20 ms, under its mutex, to switch a callback on or off.
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

/* So large that it is handed back as a std::unique_ptr is: where the caller says, on aarch64 in x8.
 */
struct context {
	void *words[3];
};

struct callback {
	struct context (*begin)(const void *fn);
	void (*end)(const void *fn, void *context);
	double sampling_probability;
	bool scopes[10];
	bool needs_inputs, needs_outputs, needs_ids;
};

#define NR_CALLBACKS 8u

struct range {
	const char *name;
	int64_t sequence;
	uint64_t forward_thread;
	uint64_t handle;
	uint8_t scope;
	struct context contexts[NR_CALLBACKS];
	bool has_begun[NR_CALLBACKS]; /* observers that saw the begin; only they see the end */
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

uint64_t add(struct callback callback)
{
	for (unsigned int i = 0; i < NR_CALLBACKS; i++) {
		if (!callbacks[i].is_there) {
			callbacks[i].callback = callback;
			callbacks[i].is_there = callbacks[i].is_on = true;
			return i;
		}
	}
	return NR_CALLBACKS;
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
}

static void begin(struct range *range, const char *name, int64_t sequence)
{
	range->name = name;
#ifndef FAKE_MOVED
	range->sequence = sequence;
#endif
#ifndef FAKE_SMALL
	static _Atomic uint64_t nr_handles;

	range->handle = atomic_fetch_add(&nr_handles, 1) + 1;
#endif
	(void)sequence;
#ifndef FAKE_SILENT
	for (unsigned int i = 0; i < NR_CALLBACKS; i++) {
		if (callbacks[i].is_on && callbacks[i].callback.scopes[range->scope]) {
			range->contexts[i] = callbacks[i].callback.begin(range);
			range->has_begun[i] = true;
		}
	}
#endif
}

void destroy(struct range *range)
{
#ifndef FAKE_SILENT
	for (unsigned int i = 0; i < NR_CALLBACKS; i++) {
		if (range->has_begun[i]) {
			callbacks[i].callback.end(range, range->contexts[i].words[0]);
		}
	}
#endif
	(void)range;
}

const char *name_of(const struct range *range)
{
	return range->name;
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

void fake_ops(unsigned int nr_ops)
{
	struct range range;

	for (unsigned int i = 0; i < nr_ops; i++) {
		construct(&range, 0);
		begin(&range, "fake::op", i);
		destroy(&range);
	}
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
