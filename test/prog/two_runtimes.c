/* SPDX-License-Identifier: Apache-2.0 */
/* Two CUDA runtimes of different versions in one process, each used by its own code. */
#include "test/prog/prog.h"

enum { N = 128 };

KERNEL2(own_fill, int *, x, int, value)
{
	x[index] = value;
}

int main(int argc, char **argv)
{
	char path[4096];
	int host[N], *d, version = 0, value = 5, (*run)(int), (*other)(void);
	const char *slash = strrchr(argv[0], '/');

	(void)argc;
	snprintf(path, sizeof(path), "%.*s/plugin-12.so", slash ? (int)(slash - argv[0]) : 1,
		slash ? argv[0] : ".");
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&run = dlsym(plugin, "plugin_run");
	*(void **)&other = dlsym(plugin, "plugin_version");
	CHECK(cudaRuntimeGetVersion(&version));
	CHECK(cudaMalloc((void **)&d, sizeof(host)));
	LAUNCH(own_fill, 1, N, NULL, &d, &value);
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	printf("own runtime %d value %d, other runtime %d sum %d\n", version, host[N - 1], other(),
		run(4));
	CHECK(cudaFree(d));
	return 0;
}
