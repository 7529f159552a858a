/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory handed from one process to another by an IPC handle. */
#include "test/prog/prog.h"

#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000 };

#ifdef __CUDACC__
typedef cudaIpcMemHandle_t ipc_handle;
#else
typedef cudart_ipc_mem_handle ipc_handle;
#endif

/* The other process: reads the handle, adds one to every element, says it is done. */
static int other(int in, int out)
{
	int host[N], *d;
	ipc_handle handle;
	char done = 1;

	if (read(in, &handle, sizeof(handle)) != sizeof(handle)) {
		return 1;
	}
	CHECK(cudaIpcOpenMemHandle((void **)&d, handle, 1));
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		host[i]++;
	}
	CHECK(cudaMemcpy(d, host, sizeof(host), cudaMemcpyHostToDevice));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaIpcCloseMemHandle(d));
	return write(out, &done, 1) != 1;
}

/* Starts this program anew (a context does not survive a fork) with both pipes' numbers. */
static pid_t start(const char *program, int in, int out)
{
	char in_text[16], out_text[16];
	pid_t child = fork();

	if (child == 0) {
		snprintf(in_text, sizeof(in_text), "%d", in);
		snprintf(out_text, sizeof(out_text), "%d", out);
		execl(program, program, in_text, out_text, (char *)NULL);
		_exit(127);
	}
	return child;
}

int main(int argc, char **argv)
{
	int host[N], *d, there[2], back[2], status = 0;
	long long sum = 0;
	ipc_handle handle;
	char done = 0;

	if (argc == 3) {
		return other(atoi(argv[1]), atoi(argv[2]));
	}
	if (pipe(there) != 0 || pipe(back) != 0) {
		return 1;
	}
	pid_t child = start(argv[0], there[0], back[1]);

	for (int i = 0; i < N; i++) {
		host[i] = i;
	}
	CHECK(cudaMalloc((void **)&d, sizeof(host)));
	CHECK(cudaMemcpy(d, host, sizeof(host), cudaMemcpyHostToDevice));
	CHECK(cudaIpcGetMemHandle(&handle, d));
	if (write(there[1], &handle, sizeof(handle)) != sizeof(handle) ||
		read(back[0], &done, 1) != 1) {
		return 1;
	}
	waitpid(child, &status, 0);
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		sum += host[i];
	}
	printf("sum %lld status %d\n", sum, status);
	CHECK(cudaFree(d));
	return 0;
}
