/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that fail, and the error that stays behind. */
#include "test/prog/prog.h"

static void not_a_kernel(void)
{
}

static void show(const char *what, cudaError_t code)
{
	printf("%-16s %d %s\n", what, (int)code, cudaGetErrorName(code));
}

int main(void)
{
	void *p = NULL, *args[] = {NULL};
	char host[8];
	int count = 0;

	show("count", cudaGetDeviceCount(&count));
	show("huge malloc", cudaMalloc(&p, (size_t)1 << 60));
	show("last", cudaGetLastError());
	show("last again", cudaGetLastError());
	show("bad device", cudaSetDevice(count + 7));
	show("bad copy", cudaMemcpy(host, host, sizeof(host), cudaMemcpyHostToDevice));
	show("bad free", cudaFree(host));
	show("bad kernel", cudaLaunchKernel((const void *)not_a_kernel, PROG_DIM3(1), PROG_DIM3(1),
				   args, 0, NULL));
	show("peek", cudaPeekAtLastError());
	show("good malloc", cudaMalloc(&p, 64));
	show("good free", cudaFree(p));
	return 0;
}
