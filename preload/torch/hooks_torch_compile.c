/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages of torch.compile. PyTorch counts the time in them by counters of libc10, with or without a
 * profiler; its ranges (dynamo_timed) of newer versions come only with its own profiler. The calls
 * go through the PLT of libtorch_python, so gprof's functions come first:
 *
 *     WaitCounterHandle(std::string_view)     finds or makes the counter of that name, to which the
 *                                             handle then refers: its only member
 *     WaitCounterHandle::start, stop          begin and end of a stage, in the same thread
 *
 * All that is read of the objects is that member. It must be one for all handles of a name, and
 * another one for each name; if it is not, nothing is recorded.
 */
#include <stdatomic.h>
#include <string.h>

#include "collector/util/config.h"
#include "collector/util/notice.h"
#include "preload/hook/hook.h"
#include "preload/torch/torch.h"

/*
 * The first three enclose all of a compilation; the others are what takes time in it. Text, since
 * pointers would have to be relocated in every process.
 */
static const char names[][64] = {
	"pytorch.wait_counter.entire_forward_compile",
	"pytorch.wait_counter.entire_backward_compile",
	"pytorch.wait_counter.dynamo_compile",
	"pytorch.wait_counter.compile_aot_autograd",
	"pytorch.wait_counter.compile_inductor",
	"pytorch.wait_counter.fx_codegen_and_compile",
	"pytorch.wait_counter.actual_codegen_and_compile",
	"pytorch.wait_counter.compile_triton",
	"pytorch.wait_counter.triton_autotuner",
};

#define NR_NAMES (sizeof(names) / sizeof(names[0]))

/* The counters of these names, 0 until there is a handle. */
static _Atomic uintptr_t counters[NR_NAMES];
static atomic_bool is_unknown; /* the layout of handles: no stage begins from then on */

static uintptr_t counter_of(const void *handle)
{
	uintptr_t counter;

	memcpy(&counter, handle, sizeof(counter));
	return counter;
}

/* Returns the name of the counter of a handle, NULL if it is none of these. */
static const char *name_of(const void *handle)
{
	uintptr_t counter = counter_of(handle);

	for (size_t i = 0; i < NR_NAMES; i++) {
		if (counter &&
			atomic_load_explicit(&counters[i], memory_order_relaxed) == counter) {
			return names[i];
		}
	}
	return NULL;
}

static void refuse(void)
{
	if (!atomic_exchange(&is_unknown, true)) {
		notice_add("no compilations", 0,
			"this PyTorch has an unknown form of counters; stages of torch.compile are "
			"not recorded");
	}
}

static void see_handle(const void *handle, size_t name)
{
	uintptr_t counter = counter_of(handle), before = 0;

	if (!atomic_compare_exchange_strong(&counters[name], &before, counter) &&
		before != counter) {
		refuse();
	}
	for (size_t i = 0; i < NR_NAMES; i++) {
		if (i != name && atomic_load(&counters[i]) == counter) {
			refuse();
		}
	}
}

/* ---- hooks ---- */

#define CONSTRUCT(prefix) \
	prefix##_ZN3c107monitor17WaitCounterHandleC1ESt17basic_string_viewIcSt11char_traitsIcEE
#define START(prefix) prefix##_ZN3c107monitor17WaitCounterHandle5startEv
#define STOP(prefix)  prefix##_ZN3c107monitor17WaitCounterHandle4stopERKNS_11SmallVectorIlLj6EEE
#define TEXT(symbol)  TEXT_(symbol)
#define TEXT_(symbol) #symbol

/* std::string_view is passed as two words: its length and its text, which may have no end. */
typedef void construct_fn(void *handle, size_t nr_bytes, const char *text);
typedef void *start_fn(void *guard, void *handle);
typedef void stop_fn(void *handle, const void *contexts);

HOOK_EXPORT construct_fn construct __asm__(TEXT(CONSTRUCT()));
HOOK_EXPORT stop_fn stop __asm__(TEXT(STOP()));

void construct(void *handle, size_t nr_bytes, const char *text)
{
	construct_fn *function = (construct_fn *)hook_real(CONSTRUCT(HOOK_), HOOK_CALLER);

	if (!function) {
		return;
	}
	function(handle, nr_bytes, text);
	for (size_t i = 0; config_number(CONFIG_TORCH) >= TORCH_OPS && i < NR_NAMES; i++) {
		if (nr_bytes == strlen(names[i]) && memcmp(text, names[i], nr_bytes) == 0) {
			see_handle(handle, i);
		}
	}
}

void stop(void *handle, const void *contexts)
{
	stop_fn *function = (stop_fn *)hook_real(STOP(HOOK_), HOOK_CALLER);
	const char *name = name_of(handle);

	if (name) {
		torch_range_end(handle,
			atomic_load_explicit(&is_unknown, memory_order_relaxed) ? NULL : name);
	}
	if (function) {
		function(handle, contexts);
	}
}

/* Returns PyTorch's function. */
static inline start_fn *begin(const void *handle, uintptr_t caller)
{
	start_fn *function = (start_fn *)hook_real(START(HOOK_), caller);

	if (!atomic_load_explicit(&is_unknown, memory_order_relaxed) && name_of(handle)) {
		torch_range_begin(handle);
	}
	return function;
}

/*
 * It returns an object that is not trivial: C++ passes the address of the result, on x86-64 as the
 * first argument, on aarch64 in x8, which C cannot pass on. Without PyTorch's function, which its
 * caller always has, the result is one that does nothing: all zeros, as far as its end reads.
 */
#define RESULT_BYTES 32

#if defined(__aarch64__)
typedef start_fn *begin_fn(const void *handle, uintptr_t caller);

__attribute__((used, visibility("hidden"))) begin_fn torch_compile_begin;
start_fn *torch_compile_begin(const void *handle, uintptr_t caller)
{
	return begin(handle, caller);
}

/* clang-format off */
__asm__(".pushsection .text\n"
	".globl " TEXT(START()) "\n"
	".type " TEXT(START()) ", @function\n"
	TEXT(START()) ":\n"
	"	.cfi_startproc\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	.cfi_def_cfa_offset 32\n"
	"	.cfi_offset 29, -32\n"
	"	.cfi_offset 30, -24\n"
	"	mov x29, sp\n"
	"	stp x8, x0, [sp, #16]\n"
	"	mov x1, x30\n"
	"	bl torch_compile_begin\n"
	"	mov x16, x0\n"
	"	ldp x8, x0, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	.cfi_restore 30\n"
	"	.cfi_restore 29\n"
	"	.cfi_def_cfa_offset 0\n"
	"	cbz x16, 1f\n"
	"	br x16\n"
	"1:	stp xzr, xzr, [x8]\n"
	"	stp xzr, xzr, [x8, #16]\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size " TEXT(START()) ", . - " TEXT(START()) "\n"
	".popsection\n");
/* clang-format on */
#else
HOOK_EXPORT start_fn start __asm__(TEXT(START()));

void *start(void *guard, void *handle)
{
	start_fn *function = begin(handle, HOOK_CALLER);

	return function ? function(guard, handle) : memset(guard, 0, RESULT_BYTES);
}
#endif
