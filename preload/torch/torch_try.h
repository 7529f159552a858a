/* SPDX-License-Identifier: Apache-2.0 */
/* The observer interface of a libtorch; see torch_try.c. One thread at a time. */
#ifndef PRELOAD_TORCH_TORCH_TRY_H
#define PRELOAD_TORCH_TORCH_TRY_H

#include "preload/base/elf.h"
#include "preload/torch/torch.h"

/* The functions, by their names in the object; all of them must be there. */
#define TORCH_SYMBOLS(S)                                                           \
	S(add, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE")           \
	S(add_here, "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE") \
	S(remove, "_ZN2at14removeCallbackEm")                                      \
	S(enable, "_ZN2at16reenableCallbackEm")                                    \
	S(disable, "_ZN2at15disableCallbackEm")                                    \
	S(has_global, "_ZN2at18hasGlobalCallbacksEv")                              \
	S(construct, "_ZN2at14RecordFunctionC1ENS_11RecordScopeE")                 \
	S(destroy, "_ZN2at14RecordFunctionD1Ev")                                   \
	S(name, "_ZNK2at14RecordFunction4nameEv")                                  \
	S(current_thread, "_ZN2at14RecordFunction15currentThreadIdEv")

struct torch_functions {
#define S(name, symbol) void *name;
	TORCH_SYMBOLS(S)
#undef S
	void *before_text, *before_variant; /* one of them is enough */
};

/*
 * at::RecordFunctionCallback, which is passed by value, in the layout of 1.13 to 2.15. A later one
 * may be longer, so zeros follow.
 */
#define TORCH_LATER_WORDS 8u
struct torch_callback {
	torch_begin_fn *begin;
	void (*end)(const void *fn, void *context);
	double sampling_probability;
	bool scopes[TORCH_NR_SCOPES];
	bool needs_inputs, needs_outputs, needs_ids;
	double later[TORCH_LATER_WORDS];
};

/* NULL, or why it cannot be used. */
const char *torch_resolve(const struct elf *libtorch, struct torch_functions *f);

/* Is another observer there? It would see our tries. */
bool torch_has_observer(const struct torch_functions *f);

/* Finds torch_layout. NULL, or what does not hold. */
const char *torch_try_out(const struct torch_functions *f);

/* Registers it for every call of its scopes; returns torch's handle. */
uint64_t torch_add(const struct torch_functions *f, struct torch_callback callback);

#endif
