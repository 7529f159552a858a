/* SPDX-License-Identifier: Apache-2.0 */
/* first [capture]: 10 calls, each of which ends a step; before them, one that starts a capture. */
int cudaProfilerStart(void);
int cudaDeviceSynchronize(void);

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		cudaProfilerStart();
	}
	for (int i = 0; i < 10; i++) {
		cudaDeviceSynchronize();
	}
	return 0;
}
