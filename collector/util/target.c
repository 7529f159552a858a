/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses system calls where the C library's functions are cancellation points, and weak references
 * where a C library may lack the function.
 */
#include "collector/util/target.h"

#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/util/mode.h"

COMPAT_START_CODE static int is_program(struct dl_phdr_info *info, size_t size, void *result)
{
	(void)size;
	*(bool *)result = (uintptr_t)info->dlpi_phdr == getauxval(AT_PHDR);
	return 1; /* the first object is enough */
}

COMPAT_START_CODE bool target_is_beside_program(void)
{
	bool result = false;

	dl_iterate_phdr(is_program, &result);
	return result;
}

int target_hold_cancellation(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	if (pthread_setcancelstate) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	}
	return before;
}

void target_pause(uint32_t ns)
{
	const struct timespec moment = {.tv_nsec = (long)ns};
	TARGET_KEEP_ERRNO;

	/* The C library's function would look for a cancellation. */
	syscall(SYS_nanosleep, &moment, NULL);
}

void target_release_cancellation(const int *before)
{
	int now;

	if (pthread_setcancelstate) {
		pthread_setcancelstate(*before, &now);
	}
}

void target_wipe_page_in_children(void)
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
	/* Moved into position in one step: hooks of other threads read it all the time. */
	if (mremap(page, sizeof(*page), sizeof(*page), MREMAP_MAYMOVE | MREMAP_FIXED,
		    &collector_page) == MAP_FAILED) {
		munmap(page, sizeof(*page));
	}
}
