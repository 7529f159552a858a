/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen, only to notice new libraries: a process that never creates a thread and never initialises
 * CUDA offers no other opportunity to find PyTorch. The real function must see the caller's return
 * address, since RUNPATH, $ORIGIN and the namespace depend on it; so the stub first calls gprof's
 * function and then jumps. The next call, or the next thread that the program starts, examines what
 * this one maps.
 *
 * dlclose, since a route must not lead to or from an unloaded module (resolve.c).
 */
#include <dlfcn.h>

#include "collector/ring/call_stack.h"
#include "preload/hook/hook.h"
#include "preload/torch/torch.h"

/* Finds the next dlopen. Called by the stub alone, which passes on and keeps the arguments. */
__attribute__((used, visibility("hidden"))) void *hooks_dl_before(const char *path, int mode);

static void *missing(void)
{
	return NULL;
}

void *hooks_dl_before(const char *path, int mode)
{
	void *next = hook_next(HOOK_NEXT_dlopen);

	(void)path;
	hook_forget_removed();
	if (mode & RTLD_GLOBAL) {
		hook_before_global();
	}
	torch_look_again();
	return next ? next : (void *)missing;
}

HOOK_EXPORT int dlclose(void *handle);

int dlclose(void *handle)
{
	const __typeof__(&dlclose) next = HOOK_NEXT(dlclose);
	int rc;

	if (!next) {
		return -1;
	}
	hook_begin_close();
	call_stack_unload();
	rc = next(handle);
	call_stack_unload();
	hook_end_close(!rc);
	return rc;
}

/*
 * Visible to modules that were linked to glibc's alone. A library that defines a dlopen itself
 * refers to it without a version, and must not get another one: Nsight Compute's takes the library
 * in which that address lies for its own, and gives it out as the driver.
 */
#if defined(__x86_64__)
__asm__(".symver hooks_dlopen, dlopen@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver hooks_dlopen, dlopen@GLIBC_2.17");
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* A sanitizer's dlopen comes before this one, and finds the next one without a version. */
__asm__(".symver hooks_dlopen, dlopen@@GLIBC_2.34");
#else
__asm__(".symver hooks_dlopen, dlopen@GLIBC_2.34");
#endif

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl hooks_dlopen\n"
	".type hooks_dlopen, @function\n"
	"hooks_dlopen:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	push %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call hooks_dl_before\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	jmp *%rax\n"
	"	.cfi_endproc\n"
	".size hooks_dlopen, . - hooks_dlopen\n"
	".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".globl hooks_dlopen\n"
	".type hooks_dlopen, @function\n"
	"hooks_dlopen:\n"
	"	.cfi_startproc\n"
	"	stp x0, x1, [sp, -32]!\n"
	"	.cfi_adjust_cfa_offset 32\n"
	"	str x30, [sp, 16]\n"
	"	.cfi_rel_offset x30, 16\n"
	"	bl hooks_dl_before\n"
	"	mov x16, x0\n"
	"	ldr x30, [sp, 16]\n"
	"	.cfi_restore x30\n"
	"	ldp x0, x1, [sp], 32\n"
	"	.cfi_adjust_cfa_offset -32\n"
	"	br x16\n"
	"	.cfi_endproc\n"
	".size hooks_dlopen, . - hooks_dlopen\n"
	".popsection\n");
#endif
