/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions that the preloaded library stands in for but that no mapped library has. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

int main(void)
{
	static const char *const names[] = {"cudaThreadSynchronize", "cuMemAlloc",
		"cudaMemcpyToArray", "cudaDeviceSynchronize"};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int (*function)(void *, long, long, void *, long, int) = NULL;
		int rc;

		*(void **)&function = dlsym(RTLD_DEFAULT, names[i]);
		errno = 7;
		rc = function ? function(NULL, 0, 0, NULL, 0, 0) : -1;
		printf("%s %d errno %d\n", names[i], rc, errno);
	}
	return 0;
}
