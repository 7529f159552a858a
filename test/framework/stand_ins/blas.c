/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stand-in for cuBLAS and cuBLASLt does: products of matrices and vectors launch a kernel
 * whose name says the operation, the type and the tile, over as many blocks as tiles. Results are
 * not computed. Only the parameters up to the last one that matters are declared.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "preload/abi/cuda_abi.h"

cudart_error cudaLaunchKernel(const void *func, cudart_dim3 grid, cudart_dim3 block, void **args,
	size_t shared_bytes, cudart_stream stream);
void **__cudaRegisterFatBinary(void *fat_cubin);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
	int limit, void *tid, void *bid, cudart_dim3 *block, cudart_dim3 *grid, int *warp);

/* Kernels are known by an address of the host; a byte serves. */
static struct kernel {
	char name[40];
	char host;
} kernels[] = {{"stand_in_sgemm_128x128_nn", 0}, {"stand_in_dgemm_64x64_nn", 0},
	{"stand_in_hgemm_128x256_nn", 0}, {"stand_in_gemm_bf16_128x256_nn", 0},
	{"stand_in_gemv", 0}, {"stand_in_dot", 0}};

enum { F32, F64, F16, BF16, GEMV, DOT };

__attribute__((constructor)) static void register_kernels(void)
{
	void **handle = __cudaRegisterFatBinary(NULL);

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		__cudaRegisterFunction(handle, &kernels[i].host, kernels[i].name, kernels[i].name,
			-1, NULL, NULL, NULL, NULL, NULL);
	}
}

struct handle {
	cudart_stream stream;
	int math_mode, pointer_mode;
};

static int launch(const struct handle *h, int kernel, int64_t rows, int64_t columns, int batch)
{
	static const int64_t tiles[][2] = {
		{128, 128}, {64, 64}, {128, 256}, {128, 256}, {128, 1}, {1024, 1}};
	int64_t x = (rows + tiles[kernel][0] - 1) / tiles[kernel][0];
	int64_t y = (columns + tiles[kernel][1] - 1) / tiles[kernel][1];
	cudart_dim3 grid = {
		(unsigned int)(x * y ? x * y : 1), batch > 0 ? (unsigned int)batch : 1, 1};

	/* 14 is CUBLAS_STATUS_INTERNAL_ERROR */
	return cudaLaunchKernel(
		       &kernels[kernel].host, grid, (cudart_dim3){256, 1, 1}, NULL, 0, h->stream)
		       ? 14
		       : 0;
}

/* By cudaDataType. */
static int kernel_of(int type)
{
	return type == 1 || type == 5 ? F64 : type == 2 ? F16 : type == 14 ? BF16 : F32;
}

int cublasCreate_v2(struct handle **h)
{
	*h = calloc(1, sizeof(**h));
	return *h ? 0 : 3;
}

int cublasDestroy_v2(struct handle *h)
{
	free(h);
	return 0;
}

int cublasSetStream_v2(struct handle *h, cudart_stream stream)
{
	h->stream = stream;
	return 0;
}

int cublasSetMathMode(struct handle *h, int mode)
{
	h->math_mode = mode;
	return 0;
}

int cublasGetMathMode(struct handle *h, int *mode)
{
	*mode = h->math_mode;
	return 0;
}

int cublasSetPointerMode_v2(struct handle *h, int mode)
{
	h->pointer_mode = mode;
	return 0;
}

int cublasGetPointerMode_v2(struct handle *h, int *mode)
{
	*mode = h->pointer_mode;
	return 0;
}

/* make.sh reads here what TYPE writes. */
/* WRITTEN cublasSgemm_v2 cublasSgemmStridedBatched cublasSgemmBatched */
/* WRITTEN cublasSgemv_v2 cublasSdot_v2 */
/* WRITTEN cublasDgemm_v2 cublasDgemmStridedBatched cublasDgemmBatched */
/* WRITTEN cublasDgemv_v2 cublasDdot_v2 */
#define TYPE(letter, kernel)                                                                    \
	int cublas##letter##gemm_v2(struct handle *h, int ta, int tb, int m, int n, int k)      \
	{                                                                                       \
		return launch(h, kernel, m, n, 1);                                              \
	}                                                                                       \
	int cublas##letter##gemmStridedBatched(struct handle *h, int ta, int tb, int m, int n,  \
		int k, const void *alpha, const void *a, int lda, long long stride_a,           \
		const void *b, int ldb, long long stride_b, const void *beta, void *c, int ldc, \
		long long stride_c, int batch)                                                  \
	{                                                                                       \
		return launch(h, kernel, m, n, batch);                                          \
	}                                                                                       \
	int cublas##letter##gemmBatched(struct handle *h, int ta, int tb, int m, int n, int k,  \
		const void *alpha, const void *a, int lda, const void *b, int ldb,              \
		const void *beta, void *c, int ldc, int batch)                                  \
	{                                                                                       \
		return launch(h, kernel, m, n, batch);                                          \
	}                                                                                       \
	int cublas##letter##gemv_v2(struct handle *h, int trans, int m, int n)                  \
	{                                                                                       \
		return launch(h, GEMV, trans ? n : m, 1, 1);                                    \
	}                                                                                       \
	int cublas##letter##dot_v2(struct handle *h, int n)                                     \
	{                                                                                       \
		return launch(h, DOT, n, 1, 1);                                                 \
	}

TYPE(S, F32)
TYPE(D, F64)

int cublasDotEx(struct handle *h, int n)
{
	return launch(h, DOT, n, 1, 1);
}

int cublasGemmEx(struct handle *h, int ta, int tb, int m, int n, int k, const void *alpha,
	const void *a, int type)
{
	return launch(h, kernel_of(type), m, n, 1);
}

int cublasGemmStridedBatchedEx(struct handle *h, int ta, int tb, int m, int n, int k,
	const void *alpha, const void *a, int type, int lda, long long stride_a, const void *b,
	int type_b, int ldb, long long stride_b, const void *beta, void *c, int type_c, int ldc,
	long long stride_c, int batch)
{
	return launch(h, kernel_of(type), m, n, batch);
}

/* ---- cuBLASLt ---- */

struct layout {
	int type;
	uint64_t rows, columns;
};

int cublasLtMatrixLayoutCreate(struct layout **out, int type, uint64_t rows, uint64_t columns)
{
	*out = calloc(1, sizeof(**out));
	if (*out) {
		**out = (struct layout){type, rows, columns};
	}
	return *out ? 0 : 3;
}

int cublasLtMatrixLayoutDestroy(struct layout *layout)
{
	free(layout);
	return 0;
}

int cublasLtMatmulDescCreate(void **out)
{
	*out = calloc(1, 8);
	return *out ? 0 : 3;
}

int cublasLtMatmulDescDestroy(void *desc)
{
	free(desc);
	return 0;
}

int cublasLtMatmulPreferenceCreate(void **out)
{
	return cublasLtMatmulDescCreate(out);
}

int cublasLtMatmulPreferenceDestroy(void *preference)
{
	return cublasLtMatmulDescDestroy(preference);
}

/* One algorithm, which needs nothing. */
int cublasLtMatmulAlgoGetHeuristic(void *h, void *desc, struct layout *a, struct layout *b,
	struct layout *c, struct layout *d, void *preference, int nr_wanted, void *results, int *nr)
{
	enum { RESULT_BYTES = 96 };

	memset(results, 0, RESULT_BYTES);
	*nr = 1;
	return 0;
}

int cublasLtMatmul(void *h, void *desc, const void *alpha, const void *a, struct layout *a_layout,
	const void *b, struct layout *b_layout, const void *beta, const void *c,
	struct layout *c_layout, void *d, struct layout *d_layout, const void *algo,
	void *workspace, size_t workspace_bytes, cudart_stream stream)
{
	struct handle on = {.stream = stream};

	return launch(&on, kernel_of(a_layout->type), (int64_t)d_layout->rows,
		(int64_t)d_layout->columns, 1);
}
