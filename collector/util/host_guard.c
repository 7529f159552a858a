/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/host_guard.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/util/log.h"
#include "collector/util/loaded_objects.h"

COMPAT_START_CODE static int is_program(struct dl_phdr_info *info, size_t size, void *result)
{
	(void)size;
	*(bool *)result = (uintptr_t)info->dlpi_phdr == getauxval(AT_PHDR);
	return 1; /* the first object is enough */
}

COMPAT_START_CODE bool host_is_beside_program(void)
{
	bool result = false;

	dl_iterate_phdr(is_program, &result);
	return result;
}

struct code {
	uintptr_t address;
	char *name;
	size_t nr_bytes;
};

static int look_for_code(struct dl_phdr_info *info, size_t size, void *data)
{
	struct code *code = data;
	const char *path = info->dlpi_name ? info->dlpi_name : "", *slash;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
			code->address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
			/* The program itself has no name there. */
			path = *path ? path : program_invocation_name;
			slash = strrchr(path, '/');
			log_format(code->name, code->nr_bytes, "%s", slash ? slash + 1 : path);
			return 1;
		}
	}
	return 0;
}

void host_name_code(uintptr_t address, char *name, size_t nr_bytes)
{
	struct code code = {address, name, nr_bytes};

	objects_visit(look_for_code, &code);
}

int host_hold_cancellation(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	if (pthread_setcancelstate) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	}
	return before;
}

void host_pause(uint32_t ns)
{
	const struct timespec moment = {.tv_nsec = (long)ns};
	int error = errno;

	/* The C library's function would look for a cancellation. */
	syscall(SYS_nanosleep, &moment, NULL);
	errno = error;
}

void host_release_cancellation(int before)
{
	if (pthread_setcancelstate) {
		pthread_setcancelstate(before, &before);
	}
}

void host_wipe_page_in_children(void)
{
	struct collector_page *page;

	if (sysconf(_SC_PAGESIZE) > (long)sizeof(collector_page)) {
		return;
	}
	/* Only anonymous memory can be wiped, and this page comes from the library's file. */
	page = mmap(
		NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		return;
	}
	atomic_store(&page->mode, COLLECTOR_COLD);
	madvise(page, sizeof(*page), MADV_WIPEONFORK);
	/* Put in place as a whole: other threads' hooks look at it all the time. */
	if (mremap(page, sizeof(*page), sizeof(*page), MREMAP_MAYMOVE | MREMAP_FIXED,
		    &collector_page) == MAP_FAILED) {
		munmap(page, sizeof(*page));
	}
}
