/* SPDX-License-Identifier: Apache-2.0 */
/* A library that programs open: it calls CUDA, or nothing if it is built without. */
int module_call(int nr_calls);

#ifdef PROBE_CUDA
extern int cudaGetDevice(int *device);

int module_call(int nr_calls)
{
	int device, n = 0;

	for (int i = 0; i < nr_calls; i++) {
		n += !cudaGetDevice(&device);
	}
	return n;
}
#else
int module_call(int nr_calls)
{
	return nr_calls;
}
#endif
