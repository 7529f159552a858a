/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of every shape: pageable, pinned, registered, managed; rows, planes; sets; pool memory. */
#include "test/prog/prog.h"

enum { N = 1024, WIDTH = 100, HEIGHT = 8, DEPTH = 3 };

static unsigned int sum(const unsigned char *p, size_t n)
{
	unsigned int s = 0;

	for (size_t i = 0; i < n; i++) {
		s = s * 31 + p[i];
	}
	return s;
}

static void linear(void)
{
	static unsigned char host[N], back[N], registered[N];
	unsigned char *pinned, *a, *b;
	cudaStream_t stream;

	for (int i = 0; i < N; i++) {
		host[i] = (unsigned char)(i * 7);
	}
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMalloc((void **)&a, N));
	CHECK(cudaMallocAsync((void **)&b, N, stream));
	CHECK(cudaMallocHost((void **)&pinned, N));
	CHECK(cudaHostRegister(registered, N, 0));
	CHECK(cudaMemcpy(a, host, N, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyAsync(b, a, N, cudaMemcpyDeviceToDevice, stream));
	CHECK(cudaMemcpyAsync(pinned, b, N, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemcpyAsync(a, pinned, N / 2, cudaMemcpyHostToDevice, stream));
	CHECK(cudaMemsetAsync((char *)a + N / 2, 0x5a, N / 2, stream));
	CHECK(cudaMemcpyAsync(back, a, N, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaMemcpyAsync(registered, a, N, cudaMemcpyDefault, stream));
	CHECK(cudaStreamSynchronize(stream));
	printf("linear %08x %08x\n", sum(back, N), sum(registered, N));
	CHECK(cudaFreeAsync(b, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaHostUnregister(registered));
	CHECK(cudaFreeHost(pinned));
	CHECK(cudaFree(a));
	CHECK(cudaStreamDestroy(stream));
}

static void rows(void)
{
	static unsigned char host[HEIGHT][WIDTH], back[HEIGHT][WIDTH];
	size_t pitch = 0;
	void *d;

	for (int i = 0; i < HEIGHT * WIDTH; i++) {
		host[i / WIDTH][i % WIDTH] = (unsigned char)(i ^ 0x33);
	}
	CHECK(cudaMallocPitch(&d, &pitch, WIDTH, HEIGHT));
	CHECK(cudaMemset2D(d, pitch, 1, WIDTH, HEIGHT));
	CHECK(cudaMemcpy2D(d, pitch, host, WIDTH, WIDTH / 2, HEIGHT, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy2D(back, WIDTH, d, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
	printf("rows %08x\n", sum(&back[0][0], sizeof(back)));
	CHECK(cudaFree(d));
}

static void managed(void)
{
	unsigned char *m, *d;

	CHECK(cudaMallocManaged((void **)&m, N, cudaMemAttachGlobal));
	CHECK(cudaMalloc((void **)&d, N));
	for (int i = 0; i < N; i++) {
		m[i] = (unsigned char)(i + 1);
	}
	CHECK(cudaMemcpy(d, m, N, cudaMemcpyDefault));
	CHECK(cudaMemset(m, 0, N));
	CHECK(cudaMemcpy(m, d, N, cudaMemcpyDefault));
	CHECK(cudaDeviceSynchronize());
	printf("managed %08x\n", sum(m, N));
	CHECK(cudaFree(m));
	CHECK(cudaFree(d));
}

int main(void)
{
	linear();
	rows();
	managed();
	return 0;
}
