/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For t056: a thread and an exit status, without start files, so that it links against any C
 * library's objects; asks for the first versions of its functions.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__asm__(".symver pthread_create,pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_join,pthread_join@GLIBC_2.2.5");

static void *run(void *arg)
{
	puts("thread");
	return arg;
}

__attribute__((force_align_arg_pointer, used)) void _start(void)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, run, NULL);

	if (!rc) {
		pthread_join(thread, NULL);
	}
	puts(getenv("CUDA_INJECTION64_PATH") ? "CUDA is possible" : "CUDA is not possible");
	exit(3 + rc);
}
