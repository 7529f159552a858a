/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at the program before it runs: a library that cannot be preloaded would leave the user with
 * an empty recording and no reason. main.c calls this before run.c starts the program.
 *
 * Only what surely fails is refused. A file that may not be read, or whose headers are damaged, is
 * left to the kernel, which has the last word. A script runs as its interpreter, thus that one is
 * checked:
 *
 *   train.sh  "#!/usr/bin/env python3"
 *      \--> /opt/bin/python3  "#!/bin/sh"
 *              \--> /bin/sh  an ELF file: its machine, loader and rights count
 */
#include "report/launch/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/util/files.h"

#define MAX_SCRIPTS  5	  /* the kernel follows no more */
#define HEAD_BYTES   512u /* read of a file: an ELF header, or the line of a script */
#define MAX_SEGMENTS 1024u
#define LOADER_BYTES 256u

/* ---- where it is ---- */

static bool is_runnable(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *program_find(const char *name)
{
	const char *folders = getenv("PATH"), *at;

	if (strchr(name, '/')) {
		return mem_text(name);
	}
	for (at = folders ? folders : "/bin:/usr/bin"; *name && at;) {
		size_t length = strcspn(at, ":");
		char *path = NULL;

		if (asprintf(&path, "%.*s%s%s", (int)length, at, length ? "/" : "", name) < 0) {
			return NULL;
		}
		if (is_runnable(path)) {
			return path;
		}
		free(path);
		at = at[length] ? at + length + 1 : NULL;
	}
	return NULL;
}

/* ---- what it is ---- */

struct head {
	char bytes[HEAD_BYTES + 1]; /* ends with NUL */
	size_t nr_bytes;
	/* The dynamic loader that a program asks for, "" for none; unknown if the file is damaged.
	 */
	char loader[LOADER_BYTES];
	bool knows_loader;
};

static size_t read_at(int fd, void *bytes, size_t nr_bytes, uint64_t offset)
{
	ssize_t nr = offset <= INT64_MAX ? pread(fd, bytes, nr_bytes, (off_t)offset) : -1;

	return nr > 0 ? (size_t)nr : 0;
}

/* The headers and the name may be anywhere in the file: tools that change a loader append them. */
static void read_loader(int fd, struct head *head)
{
	Elf64_Ehdr header;

	if (head->nr_bytes < sizeof(header)) {
		return;
	}
	memcpy(&header, head->bytes, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phnum > MAX_SEGMENTS) {
		return;
	}
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (read_at(fd, &segment, sizeof(segment), header.e_phoff + i * sizeof(segment)) !=
			sizeof(segment)) {
			return;
		}
		if (segment.p_type == PT_INTERP) {
			head->knows_loader =
				read_at(fd, head->loader, LOADER_BYTES - 1, segment.p_offset) > 0;
			return;
		}
	}
	head->knows_loader = true; /* it asks for none */
}

static bool is_elf(const struct head *head)
{
	return head->nr_bytes >= sizeof(Elf64_Ehdr) && memcmp(head->bytes, ELFMAG, SELFMAG) == 0;
}

/* Returns 0 or -errno. */
static int read_head(const char *path, struct head *head)
{
	uint64_t nr_all;
	int fd = plain_file_open(path, &nr_all);

	if (fd < 0) {
		return fd;
	}
	head->nr_bytes = read_at(fd, head->bytes, HEAD_BYTES, 0);
	head->bytes[head->nr_bytes] = '\0';
	if (is_elf(head)) {
		read_loader(fd, head);
	}
	close(fd);
	return 0;
}

static const Elf64_Ehdr *elf(const struct head *head)
{
	return (const Elf64_Ehdr *)(const void *)head->bytes;
}

static const char *machine_name(const struct head *head)
{
	switch (elf(head)->e_machine) { /* files of 32 bits have it at the same offset */
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "aarch64";
	case EM_386:
		return "32-bit x86";
	case EM_ARM:
		return "32-bit Arm";
	case EM_PPC64:
		return "ppc64";
	case EM_RISCV:
		return "RISC-V";
	default:
		return "another machine";
	}
}

static bool is_same_machine(const struct head *a, const struct head *b)
{
	return memcmp(elf(a)->e_ident, elf(b)->e_ident, EI_VERSION) == 0 &&
	       elf(a)->e_machine == elf(b)->e_machine;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * The loader of the C library asks for no loader of its own. Run as a program, it preloads all the
 * same.
 */
static bool is_loader(const char *path)
{
	return strncmp(base_name(path), "ld-", 3) == 0 || strncmp(base_name(path), "ld.so", 5) == 0;
}

/* Does it get rights that its caller has not? The loader then preloads nothing that is not its own.
 */
static bool has_more_rights(const char *path)
{
	struct stat status;

	return geteuid() != 0 &&
	       ((stat(path, &status) == 0 &&
			(((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
				((status.st_mode & S_ISGID) && status.st_gid != getegid()))) ||
		       getxattr(path, "security.capability", NULL, 0) > 0);
}

/*
 * A static program has no loader that could preload. The loader of musl would fail to load a
 * library that needs glibc, and end the program at its start.
 */
static int check_elf(const char *path, const struct head *head, const char *library)
{
	struct head own = {0};

	if (read_head(library, &own) || !is_elf(&own)) {
		err_set(-ENOEXEC, "'%s' is not a shared library", library);
		return LAUNCH_FAILED;
	}
	if (!is_same_machine(head, &own)) {
		err_set(-ENOEXEC,
			"'%s' is a program for %s and cannot load '%s', which is for %s; use the "
			"gprof of that machine",
			path, machine_name(head), library, machine_name(&own));
		return LAUNCH_FAILED;
	}
	if (head->knows_loader && !*head->loader && !is_loader(path)) {
		err_set(-ENOEXEC,
			"'%s' is statically linked, so that nothing can be preloaded into it; link "
			"it "
			"dynamically",
			path);
		return LAUNCH_FAILED;
	}
	if (strstr(head->loader, "musl")) {
		err_set(-ENOEXEC, "'%s' uses the C library musl; libgprof.so needs glibc", path);
		return LAUNCH_FAILED;
	}
	return 0;
}

/* ---- scripts ---- */

/* The next word of a line; memory of the caller, NULL at the end. */
static char *next_word(const char **at)
{
	const char *word = *at + strspn(*at, " \t\r");
	size_t length = strcspn(word, " \t\r\n");

	*at = word + length;
	return length ? strndup(word, length) : NULL;
}

/* The program that a line "#!/usr/bin/env -S A=B python3 -u" names; memory of the caller. */
static char *interpreter(const struct head *head)
{
	const char *at = head->bytes + strlen("#!");
	char *word = next_word(&at);

	if (!word || strcmp(base_name(word), "env") != 0) {
		return word;
	}
	for (;;) {
		char *next = next_word(&at);
		bool is_program = next && *next != '-' && !strchr(next, '=');

		if (!next) {
			return word; /* env without a program */
		}
		if (is_program) {
			free(word);
			word = program_find(next);
			free(next);
			return word;
		}
		free(next);
	}
}

/*
 * Checks a file, and behind a script its interpreter. A file that no rule knows passes: the kernel
 * decides. The kernel gives a script no more rights, whatever its mode says. A file that may be
 * executed but not read is no script, as its interpreter would have to read it.
 */
static int check_file(const char *path, const char *library, int nr_scripts)
{
	struct head head = {0};
	char *next;
	int rc = read_head(path, &head), status = 0;

	if (rc && rc != -EACCES) {
		status = LAUNCH_NOT_EXECUTABLE;
	} else if ((rc || is_elf(&head)) && has_more_rights(path)) {
		err_set(-EPERM,
			"'%s' runs with more rights than its caller, so that nothing can be "
			"preloaded into it; put gprof-record behind it",
			path);
		status = LAUNCH_FAILED;
	} else if (is_elf(&head)) {
		status = check_elf(path, &head, library);
	} else if (strncmp(head.bytes, "#!", 2) == 0 && nr_scripts < MAX_SCRIPTS) {
		next = interpreter(&head);
		status = next ? check_file(next, library, nr_scripts + 1) : 0;
		free(next);
	}
	return status;
}

int program_check(const char *name, const char *library)
{
	char *path = program_find(name);
	int status;

	if (!path || access(path, F_OK) != 0) {
		err_set(-ENOENT, "there is no program '%s'%s", name,
			strchr(name, '/') ? "" : " in PATH");
		free(path);
		return LAUNCH_NOT_FOUND;
	}
	if (!is_runnable(path)) {
		err_set(-EACCES, "'%s' is not an executable file", path);
		status = LAUNCH_NOT_EXECUTABLE;
	} else {
		status = check_file(path, library, 0);
	}
	free(path);
	return status;
}
