/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without CUDA that opens a library with CUDA by RTLD_LOCAL, as an interpreter opens its
 * extension modules: the runtime is in nobody's global scope.
 */
#include <dlfcn.h>
#include <stdio.h>

/* The plugin lies beside the program. */
static void *open_plugin(const char *program, const char *name)
{
	char path[4096];
	const char *slash = program;

	for (const char *p = program; *p; p++) {
		slash = *p == '/' ? p : slash;
	}
	snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - program), program, name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int main(int argc, char **argv)
{
	void *plugin = open_plugin(argv[0], argc > 1 ? argv[1] : "plugin-13.so");
	int (*run)(int), (*version)(void);

	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&run = dlsym(plugin, "plugin_run");
	*(void **)&version = dlsym(plugin, "plugin_version");
	printf("runtime %d sum %d\n", version(), run(3));
	return 0;
}
