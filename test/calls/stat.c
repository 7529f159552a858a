/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat: opens /proc/self/stat, reads it, maps 1 GB, and reads it again from the start. Prints the
 * number of threads and by how much the process has grown. With -DPYTHON gprof takes it for the
 * interpreter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GROWTH	     (1ul << 30)
#define NR_THREADS   18 /* fields behind the name */
#define MAPPED	     21
#define STAT_LETTERS 2000

FILE *fopen64(const char *path, const char *mode);
int cudaGetLastError(void);

#ifdef PYTHON
void PyOS_AfterFork_Child(void);
void PyOS_AfterFork_Child(void)
{
}
#endif

static unsigned long long read_field(FILE *file, int number)
{
	static char text[STAT_LETTERS + 1];
	const char *at;

	rewind(file);
	text[fread(text, 1, STAT_LETTERS, file)] = '\0';
	at = strrchr(text, ')');
	while (at && number--) {
		at = strchr(at + 1, ' ');
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

int main(void)
{
	FILE *file;
	unsigned long long mapped;

	cudaGetLastError(); /* the recorder starts */
	file = fopen64("/proc/self/stat", "re");
	if (!file || setvbuf(file, NULL, _IONBF, 0)) {
		return 1;
	}
	mapped = read_field(file, MAPPED);
	if (mmap(NULL, GROWTH, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
		MAP_FAILED) {
		return 1;
	}
	printf("threads %llu", read_field(file, NR_THREADS));
	printf(", grown by %llu MB\n", (read_field(file, MAPPED) - mapped) >> 20);
	return 0;
}
