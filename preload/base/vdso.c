/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks clock_gettime up in the symbol table of the ELF image that the auxiliary vector points to.
 */
#include "preload/base/vdso.h"

#include <sys/auxv.h>

#include "preload/base/elf.h"

#if defined(__aarch64__)
#define CLOCK_GETTIME "__kernel_clock_gettime"
#else
#define CLOCK_GETTIME "__vdso_clock_gettime"
#endif

/* The loader knows where it is by the address of its header; its base is another where prelinked.
 */
static struct dl_phdr_info describe(const ElfW(Ehdr) * header)
{
	struct dl_phdr_info info = {
		.dlpi_phdr = (const ElfW(Phdr) *)((const char *)header + header->e_phoff),
		.dlpi_phnum = header->e_phnum};

	for (int i = 0; i < info.dlpi_phnum; i++) {
		if (info.dlpi_phdr[i].p_type == PT_LOAD) {
			info.dlpi_addr = (uintptr_t)header + info.dlpi_phdr[i].p_offset -
					 info.dlpi_phdr[i].p_vaddr;
			break;
		}
	}
	return info;
}

clock_function vdso_clock(void)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
	clock_function result = NULL;
	struct dl_phdr_info info;
	struct elf elf;

	if (header) {
		info = describe(header);
		if (elf_open(&elf, &info)) {
			*(void **)&result = elf_find(&elf, CLOCK_GETTIME);
		}
	}
	return result;
}
