/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens libraries as Python does, and calls what they have of fake_ops and fake_allocate.
 * usage: fake_host NR_OPS LIBRARY...
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
	}
	dlopen("libnone.so.0", RTLD_NOW);
	for (int i = 2; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		void (*ops)(unsigned int nr_ops);
		void (*allocate)(void);

		*(void **)&ops = dlsym(library, "fake_ops");
		*(void **)&allocate = dlsym(library, "fake_allocate");
		if (ops) {
			ops((unsigned int)atoi(argv[1]));
		}
		if (allocate) {
			allocate();
		}
	}
	puts("done");
	return 0;
}
