/* SPDX-License-Identifier: Apache-2.0 */
/* first [capture]: makes 10 calls that each end a step; with `capture`, starts a capture first. */
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
