/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paddle's libraries call these functions of each other through their tables of symbols, so ours
 * come first; each goes on to the real one, which is found where it is mapped. Destructors are
 * inline and call End. An exception may pass through a fetch, which then leaves nothing.
 */
#include <errno.h>
#include <link.h>
#include <string.h>

#include "preload/elf.h"
#include "preload/paddle.h"

/* std::string, by reference. */
struct cxx_string {
	const char *text;
	size_t nr_bytes;
};

#define EVENT_END     "_ZN3phi11RecordEvent3EndEv"
#define EVENT_ENABLED "_ZN3phi11RecordEvent9IsEnabledEv"
#define EVENT_TEXT    "_ZN3phi11RecordEventC1EPKcNS_15TracerEventTypeEjNS_9EventRoleE"
#define EVENT_STRING                                                                       \
	"_ZN3phi11RecordEventC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEENS_" \
	"15TracerEventTypeEjNS_9EventRoleE"
#define EVENT_STRINGS                                                                         \
	"_ZN3phi11RecordEventC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES8_NS_" \
	"15TracerEventTypeEjNS_9EventRoleE"
#define MEMORY_EVENT \
	"_ZN6paddle8platform14RecordMemEventC1EPKvRKN3phi5PlaceEmNS4_18TracerMemEventTypeE"

struct search {
	const char *symbol;
	void *function;
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *path = info->dlpi_name ? info->dlpi_name : "";
	const char *base = strrchr(path, '/');
	struct search *search = data;
	struct elf library;

	(void)size;
	base = base ? base + 1 : path;
	if ((!strncmp(base, "libphi", 6) || !strncmp(base, "libpaddle", 9)) &&
		elf_open(&library, info)) {
		search->function = elf_find(&library, search->symbol);
	}
	return search->function != NULL;
}

static __attribute__((noinline)) void *find(_Atomic(void *) *real, const char *symbol)
{
	struct search search = {.symbol = symbol};
	int error = errno;

	dl_iterate_phdr(look_at_object, &search);
	if (!search.function) {
		search.function = hook_find_next(symbol);
	}
	atomic_store_explicit(real, search.function, memory_order_release);
	errno = error;
	return search.function;
}

#define REAL(symbol)                                                                     \
	({                                                                               \
		static _Atomic(void *) real_function;                                    \
		void *have = atomic_load_explicit(&real_function, memory_order_acquire); \
                                                                                         \
		__builtin_expect(have != NULL, 1) ? have : find(&real_function, symbol); \
	})

/* ---- events ---- */

HOOK_EXPORT void event_text(
	void *event, const char *name, uint32_t type, uint32_t level, int role) __asm__(EVENT_TEXT);
void event_text(void *event, const char *name, uint32_t type, uint32_t level, int role)
{
	void (*real)(void *, const char *, uint32_t, uint32_t, int);

	*(void **)&real = REAL(EVENT_TEXT);
	if (real) {
		real(event, name, type, level, role);
	}
	paddle_begin(event, name, type, level);
}

HOOK_EXPORT void event_string(void *event, const struct cxx_string *name, uint32_t type,
	uint32_t level, int role) __asm__(EVENT_STRING);
void event_string(
	void *event, const struct cxx_string *name, uint32_t type, uint32_t level, int role)
{
	void (*real)(void *, const struct cxx_string *, uint32_t, uint32_t, int);

	*(void **)&real = REAL(EVENT_STRING);
	if (real) {
		real(event, name, type, level, role);
	}
	paddle_begin(event, name->text, type, level);
}

HOOK_EXPORT void event_strings(void *event, const struct cxx_string *name,
	const struct cxx_string *attributes, uint32_t type, uint32_t level,
	int role) __asm__(EVENT_STRINGS);
void event_strings(void *event, const struct cxx_string *name, const struct cxx_string *attributes,
	uint32_t type, uint32_t level, int role)
{
	void (*real)(void *, const struct cxx_string *, const struct cxx_string *, uint32_t,
		uint32_t, int);

	*(void **)&real = REAL(EVENT_STRINGS);
	if (real) {
		real(event, name, attributes, type, level, role);
	}
	paddle_begin(event, name->text, type, level);
}

HOOK_EXPORT void event_end(void *event) __asm__(EVENT_END);
void event_end(void *event)
{
	void (*real)(void *);

	*(void **)&real = REAL(EVENT_END);
	paddle_end(event);
	if (real) {
		real(event);
	}
}

HOOK_EXPORT bool event_is_enabled(void) __asm__(EVENT_ENABLED);
bool event_is_enabled(void)
{
	bool (*real)(void);

	*(void **)&real = REAL(EVENT_ENABLED);
	return (real && real()) || paddle_is_recording();
}

/* ---- memory ---- */

HOOK_EXPORT void memory_event(void *event, const void *address, const struct paddle_place *place,
	size_t nr_bytes, uint32_t type) __asm__(MEMORY_EVENT);
void memory_event(void *event, const void *address, const struct paddle_place *place,
	size_t nr_bytes, uint32_t type)
{
	void (*real)(void *, const void *, const struct paddle_place *, size_t, uint32_t);

	*(void **)&real = REAL(MEMORY_EVENT);
	if (real) {
		real(event, address, place, nr_bytes, type);
	}
	paddle_memory(address, place, nr_bytes, type);
}

/*
 * ---- data loaders: MultiDeviceFeedReader<of a kind of queue>::ReadNextList() ----
 *
 * The result is an object of C++, whose place comes first and is given back. Elsewhere than on
 * x86-64 that stands in a register that no C function sees.
 */
#if defined(__x86_64__)

#define READ(queue, symbol)                                                        \
	HOOK_EXPORT void *read_##queue(void *batch, void *reader) __asm__(symbol); \
	void *read_##queue(void *batch, void *reader)                              \
	{                                                                          \
		void *(*real)(void *, void *);                                     \
		uint64_t begin = paddle_fetch_begin();                             \
                                                                                   \
		*(void **)&real = REAL(symbol);                                    \
		if (real) {                                                        \
			real(batch, reader);                                       \
		}                                                                  \
		paddle_fetch_end(begin);                                           \
		return batch;                                                      \
	}

/* Until 2.6 tensors have levels of detail in these names. */
READ(dense,
	"_ZN6paddle6pybind21MultiDeviceFeedReaderINS_9operators6reader24DenseTensorBlockingQueueEE"
	"12ReadNextListEv")
READ(dense_ordered, "_ZN6paddle6pybind21MultiDeviceFeedReaderINS_9operators6reader"
		    "42OrderedMultiDeviceDenseTensorBlockingQueueEE12ReadNextListEv")
READ(levels,
	"_ZN6paddle6pybind21MultiDeviceFeedReaderINS_9operators6reader22LoDTensorBlockingQueueEE"
	"12ReadNextListEv")
READ(levels_ordered, "_ZN6paddle6pybind21MultiDeviceFeedReaderINS_9operators6reader"
		     "40OrderedMultiDeviceLoDTensorBlockingQueueEE12ReadNextListEv")

#endif
