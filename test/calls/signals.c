/* SPDX-License-Identifier: Apache-2.0 */
/* signals NR: sends itself NR signals and waits for each of them. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int cudaGetLastError(void);

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1, number;
	sigset_t blocked;

	cudaGetLastError();
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	for (int i = 0; i < nr; i++) {
		if (kill(getpid(), SIGUSR1) || sigwait(&blocked, &number)) {
			return 1;
		}
	}
	return 0;
}
