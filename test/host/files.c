/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of descriptors, limits, directories and rights. */
#include "test/host/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/entries.h"

enum { NOBODY = 65534, MS = 1000, FLUSHES = 150 * MS };

/* What an untouched process has of threads, descriptors and shared memory. */
int probe_self(int argc, char **argv)
{
	char line[512];
	FILE *maps;
	int nr_shared = 0;

	(void)argc;
	(void)argv;
	touch(1);
	printf("threads %d\n", count_entries("/proc/self/task"));
	printf("descriptors %d\n", count_entries("/proc/self/fd") - 1);
	maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		nr_shared += strstr(line, "rw-s") != NULL;
	}
	printf("shared mappings %d\n", nr_shared);
	return 0;
}

/* Names that are nowhere: the kernel refuses them. */
int probe_bad_names(int argc, char **argv)
{
	static const uintptr_t names[] = {0, 1, 1ul << 63};

	(void)argc;
	(void)argv;
	touch(1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool is_open = fopen64((const char *)names[i], "r");

		printf("opened: %d, error %d\n", is_open, errno);
	}
	return 0;
}

/*
 * The numbers that the host gets are those it would get without us, also while we start and write:
 * a daemon that closes 0 and opens a file relies on it.
 */
static int count_moved(int nr_rounds)
{
	int nr_moved = 0;

	for (int i = 0; i < nr_rounds; i++) {
		int fd = open("/dev/null", O_RDONLY);

		if (i % 100 == 0) {
			touch(1);
		}
		nr_moved += fd != 3;
		close(fd);
	}
	return nr_moved;
}

/* Every number from 3 on becomes one file of the host's; nobody else may write into that. */
static int use_all_numbers(void)
{
	/*
	 * Whoever closes our descriptor makes us take a low number for a moment, to open the file
	 * again; so a few are allowed here, and none in low_numbers.
	 */
	bool is_moved = count_moved(200000) > 50;
	struct stat file;
	int fd = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0600);

	printf("not the lowest number: %d, then %d\n", is_moved, fd);
	/* From above: what somebody else opens now gets the lowest number. */
	for (int i = 1023; i > fd; i--) {
		MUST(dup2(fd, i) == i);
	}
	touch(100);
	usleep(FLUSHES);
	MUST(write(1000, "only this\n", 10) == 10);
	touch(100);
	usleep(FLUSHES);
	MUST(!fstat(3, &file));
	printf("bytes %lld\n", (long long)file.st_size);
	for (int i = fd; i < 1024; i++) {
		MUST(fcntl(i, F_GETFD) == 0);
	}
	return 0;
}

int probe_close_all(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	touch(100);
	usleep(FLUSHES);
	for (int fd = 3; fd < 1024; fd++) {
		close(fd);
	}
	return use_all_numbers();
}

int probe_close_range(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	touch(100);
	MUST(!syscall(SYS_close_range, 3, ~0u, 0));
	return use_all_numbers();
}

int probe_low_numbers(int argc, char **argv)
{
	printf("not the lowest number: %d times\n",
		count_moved(probe_number(argc, argv, 1, 200000)));
	return 0;
}

static void limit(int resource, rlim_t value)
{
	struct rlimit now;

	MUST(!getrlimit(resource, &now));
	now.rlim_cur = value;
	MUST(!setrlimit(resource, &now));
}

/* nofile LIMIT: how many files can be opened, that the lowest comes first, and the limit stays. */
int probe_nofile(int argc, char **argv)
{
	struct rlimit now;
	int n = 0;

	limit(RLIMIT_NOFILE, (rlim_t)probe_number(argc, argv, 1, 8));
	touch(100);
	usleep(FLUSHES);
	printf("first %d\n", open("/dev/null", O_RDONLY));
	while (open("/dev/null", O_RDONLY) >= 0) {
		n++;
	}
	printf("opened %d, then %s\n", n, strerror(errno));
	touch(100);
	MUST(!getrlimit(RLIMIT_NOFILE, &now));
	printf("limit %llu\n", (unsigned long long)now.rlim_cur);
	return 0;
}

static void write_mine(int nr_bytes)
{
	int fd = open("mine", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char *bytes = calloc(1, (size_t)nr_bytes);

	MUST(fd >= 0 && bytes);
	printf("wrote %d\n", (int)write(fd, bytes, (size_t)nr_bytes));
	fflush(stdout);
	free(bytes);
	close(fd);
}

/* fsize LIMIT: small files are written as before, and no signal comes. */
int probe_fsize(int argc, char **argv)
{
	limit(RLIMIT_FSIZE, (rlim_t)probe_number(argc, argv, 1, 4096));
	touch(1000);
	usleep(FLUSHES);
	write_mine(1000);
	touch(1000);
	return 0;
}

/* The host's own too large file ends it as it should: by SIGXFSZ. */
int probe_fsize_over(int argc, char **argv)
{
	limit(RLIMIT_FSIZE, (rlim_t)probe_number(argc, argv, 1, 4096));
	touch(1000);
	write_mine(4096);
	write_mine(4097);
	write_mine(5000); /* cut to the limit */
	close(open("mine", O_WRONLY));
	{
		int fd = open("mine", O_WRONLY | O_APPEND);

		printf("beyond %d\n", (int)write(fd, "x", 1));
	}
	return 0;
}

static uint64_t mapped_bytes(void)
{
	uint64_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	MUST(file && fscanf(file, "%llu", (unsigned long long *)&pages) == 1);
	fclose(file);
	return pages * 4096;
}

/* as MB USE: with so much address space left, USE MB of it are still the host's. */
int probe_as(int argc, char **argv)
{
	uint64_t room = (uint64_t)probe_number(argc, argv, 1, 32) << 20;
	size_t use = (size_t)probe_number(argc, argv, 2, 8) << 20;
	char *memory;

	limit(RLIMIT_AS, mapped_bytes() + room);
	touch(100);
	usleep(FLUSHES);
	memory = malloc(use);
	printf("memory %s\n", memory ? "is there" : strerror(errno));
	if (memory) {
		memset(memory, 1, use);
	}
	touch(100);
	return 0;
}

int probe_chroot(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	touch(50);
	MUST(!mkdir("jail", 0755) && !chroot("jail") && !chdir("/"));
	touch(50);
	usleep(FLUSHES);
	printf("entries %d\n", count_entries("/"));
	return 0;
}

int probe_chroot_first(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	MUST(!mkdir("jail", 0755) && !chroot("jail") && !chdir("/"));
	touch_maybe(50);
	usleep(FLUSHES);
	return 0;
}

int probe_gone_dir(int argc, char **argv)
{
	char path[4096];

	(void)argc;
	(void)argv;
	MUST(!mkdir("gone", 0755) && !chdir("gone") && !rmdir("../gone"));
	touch(100);
	usleep(FLUSHES);
	printf("where: %s\n", getcwd(path, sizeof(path)) ? path : strerror(errno));
	return 0;
}

static void drop(void)
{
	MUST(!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY));
	MUST(setuid(0) < 0 && getuid() == NOBODY && geteuid() == NOBODY);
}

/* As a server does: begin as root, go on as nobody. */
int probe_drop(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	touch(50);
	drop();
	touch(50);
	usleep(FLUSHES);
	touch(50);
	printf("user %d\n", (int)getuid());
	return 0;
}

int probe_drop_first(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	drop();
	touch_maybe(50);
	printf("user %d\n", (int)getuid());
	return 0;
}

/* umask MODE, and what a file of the host's gets by it. */
int probe_umask(int argc, char **argv)
{
	struct stat file;

	umask((mode_t)(argc > 1 ? strtol(argv[1], NULL, 8) : 0));
	touch(50);
	MUST(open("mine", O_WRONLY | O_CREAT, 0666) >= 0 && !stat("mine", &file));
	printf("mode %o mask %o\n", file.st_mode & 07777, umask(0));
	return 0;
}
