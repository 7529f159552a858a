/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system that uses huge pages for everything, as far as a preloaded library can make one: all
 * memory that is mapped for reading and writing, and all variables, ask for them. It goes behind
 * libgprof.so, so that its constructor is the earlier one.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ask_for_variables(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t file_end = (info->dlpi_addr + part->p_vaddr + part->p_filesz + 4095) &
				     ~(uintptr_t)4095;
		uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;

		if (part->p_type == PT_LOAD && (part->p_flags & PF_W) && end > file_end) {
			madvise((void *)file_end, end - file_end, MADV_HUGEPAGE);
		}
	}
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	dl_iterate_phdr(ask_for_variables, NULL);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	long map = syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);

	if (map != -1 && (flags & MAP_ANONYMOUS)) {
		madvise((void *)map, bytes, MADV_HUGEPAGE);
	}
	return (void *)map;
}
