/* SPDX-License-Identifier: Apache-2.0 */
/* Thirty kernels in a row on one stream, faster issued than run. */
#include "test/prog/prog.h"

enum { NR_KERNELS = 30 };

#ifdef __CUDACC__
__global__ void spin(int n)
{
	for (volatile int i = 0; i < n; i = i + 1) {
	}
}
#else
/* Registered without a CPU version: it takes modelled time and computes nothing. */
void spin(int n);
void spin(int n)
{
	(void)n;
}

static void **spin_handle;

__attribute__((destructor)) static void spin_unregister(void)
{
	__cudaUnregisterFatBinary(spin_handle);
}

__attribute__((constructor(200))) static void spin_register(void)
{
	spin_handle = __cudaRegisterFatBinary(NULL);
	__cudaRegisterFunction(spin_handle, (const char *)spin, (char *)"_Z4spini", "_Z4spini", -1,
		NULL, NULL, NULL, NULL, NULL);
}
#endif

int main(void)
{
	cudaStream_t stream;
	int n = 1000;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < NR_KERNELS; i++) {
		LAUNCH(spin, 2000, 256, stream, &n);
	}
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaStreamDestroy(stream));
	printf("%d kernels\n", NR_KERNELS);
	return 0;
}
