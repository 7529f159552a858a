/* SPDX-License-Identifier: Apache-2.0 */
/* A library that uses a CUDA runtime of its own, to be opened with RTLD_LOCAL. */
#include "test/prog/prog.h"

enum { N = 256 };

KERNEL2(plugin_fill, int *, x, int, value)
{
	x[index] = value;
}

__attribute__((visibility("default"))) int plugin_run(int value);
__attribute__((visibility("default"))) int plugin_version(void);

int plugin_version(void)
{
	int version = 0;

	CHECK(cudaRuntimeGetVersion(&version));
	return version;
}

int plugin_run(int value)
{
	int host[N], *d, sum = 0;

	CHECK(cudaMalloc((void **)&d, sizeof(host)));
	LAUNCH(plugin_fill, 2, N / 2, NULL, &d, &value);
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		sum += host[i];
	}
	CHECK(cudaFree(d));
	return sum;
}
