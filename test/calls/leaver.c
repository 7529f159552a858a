/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that leaves by quick_exit, of glibc 2.10 if it is built with OLD, and says what is run.
 */
#include <stdio.h>
#include <stdlib.h>

extern int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *module);
extern void *__dso_handle;

#ifdef OLD
__asm__(".symver quick_exit, quick_exit@GLIBC_2.10");
#endif

static void destroy(void *text)
{
	printf("%s\n", (const char *)text);
	fflush(stdout);
}

__attribute__((visibility("default"))) void leave(int status);

void leave(int status)
{
	__cxa_thread_atexit_impl(destroy, (void *)"destroyed", &__dso_handle);
	quick_exit(status);
}
