/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paddle's libraries call these functions of each other through their symbol tables, so gprof's
 * come first; each calls the real one of its caller. Destructors are inline and call End. An
 * exception may pass through a fetch, which then leaves nothing.
 */
#include "preload/paddle/paddle.h"

/* std::string, by reference. */
struct cxx_string {
	const char *text;
	size_t nr_bytes;
};

/* A C function that replaces one of Paddle's and finds the real one; NULL if there is none. */
#define SYMBOL(symbol)	   __asm__(#symbol)
#define FIND(real, symbol) (*(void **)&(real) = hook_real(HOOK_##symbol, HOOK_CALLER))

/* A constructor: Paddle's own comes first. */
#define MADE(name, symbol, params, args, facts)      \
	HOOK_EXPORT void name params SYMBOL(symbol); \
	void name params                             \
	{                                            \
		__typeof__(&name) real;              \
                                                     \
		FIND(real, symbol);                  \
		if (real) {                          \
			real args;                   \
		}                                    \
		facts;                               \
	}

/* ---- events ---- */

MADE(event_text, _ZN3phi11RecordEventC1EPKcNS_15TracerEventTypeEjNS_9EventRoleE,
	(void *event, const char *name, uint32_t type, uint32_t level, int role),
	(event, name, type, level, role), paddle_begin(event, name, type, level))
MADE(event_string,
	_ZN3phi11RecordEventC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEENS_15TracerEventTypeEjNS_9EventRoleE,
	(void *event, const struct cxx_string *name, uint32_t type, uint32_t level, int role),
	(event, name, type, level, role), paddle_begin(event, name->text, type, level))
MADE(event_strings,
	_ZN3phi11RecordEventC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES8_NS_15TracerEventTypeEjNS_9EventRoleE,
	(void *event, const struct cxx_string *name, const struct cxx_string *attributes,
		uint32_t type, uint32_t level, int role),
	(event, name, attributes, type, level, role), paddle_begin(event, name->text, type, level))

HOOK_EXPORT void event_end(void *event) SYMBOL(_ZN3phi11RecordEvent3EndEv);
void event_end(void *event)
{
	void (*real)(void *);

	FIND(real, _ZN3phi11RecordEvent3EndEv);
	paddle_end(event);
	if (real) {
		real(event);
	}
}

HOOK_EXPORT bool event_is_enabled(void) SYMBOL(_ZN3phi11RecordEvent9IsEnabledEv);
bool event_is_enabled(void)
{
	bool (*real)(void);

	FIND(real, _ZN3phi11RecordEvent9IsEnabledEv);
	return (real && real()) || paddle_is_recording();
}

/* ---- memory ---- */

MADE(memory_event,
	_ZN6paddle8platform14RecordMemEventC1EPKvRKN3phi5PlaceEmNS4_18TracerMemEventTypeE,
	(void *event, const void *address, const struct paddle_place *place, size_t nr_bytes,
		uint32_t type),
	(event, address, place, nr_bytes, type), paddle_memory(address, place, nr_bytes, type))

/*
 * ---- data loaders: MultiDeviceFeedReader<of a kind of queue>::ReadNextList() ----
 *
 * The result is an object of C++, whose place comes first and is given back. Elsewhere than on
 * x86-64 that stands in a register that no C function sees.
 */
#if defined(__x86_64__)

#define READ(queue, symbol)                                                       \
	HOOK_EXPORT void *read_##queue(void *batch, void *reader) SYMBOL(symbol); \
	void *read_##queue(void *batch, void *reader)                             \
	{                                                                         \
		void *(*real)(void *, void *);                                    \
		uint64_t begin = paddle_fetch_begin();                            \
                                                                                  \
		FIND(real, symbol);                                               \
		if (real) {                                                       \
			real(batch, reader);                                      \
		}                                                                 \
		paddle_fetch_end(begin);                                          \
		return batch;                                                     \
	}

/* Until 2.6 tensors have levels of detail in these names. */
READ(dense,
	_ZN6paddle6pybind21MultiDeviceFeedReaderINS_9operators6reader24DenseTensorBlockingQueueEE12ReadNextListEv)
READ(dense_ordered,
	_ZN6paddle6pybind21MultiDeviceFeedReaderINS_9operators6reader42OrderedMultiDeviceDenseTensorBlockingQueueEE12ReadNextListEv)
READ(levels,
	_ZN6paddle6pybind21MultiDeviceFeedReaderINS_9operators6reader22LoDTensorBlockingQueueEE12ReadNextListEv)
READ(levels_ordered,
	_ZN6paddle6pybind21MultiDeviceFeedReaderINS_9operators6reader40OrderedMultiDeviceLoDTensorBlockingQueueEE12ReadNextListEv)

#endif
