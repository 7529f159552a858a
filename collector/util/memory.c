/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings and the .bss use small pages only, and memory that is not used yet is not locked.
 */
#include "collector/util/memory.h"

#include "collector/util/target.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096u

/* The linker's: where the variables are that the library's file does not contain. */
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));

/*
 * A target that locks the memory it will have (MCL_FUTURE) would get all of ours as locked pages
 * at once, so it is made without access and unlocked before it can be used. Huge pages would take
 * 2 MB where a few rows are.
 */
static void *map_small(size_t nr_bytes, int flags, int fd)
{
	void *map = mmap(NULL, nr_bytes, PROT_NONE, flags, fd, 0);

	if (map == MAP_FAILED) {
		return NULL;
	}
	munlock(map, nr_bytes);
	madvise(map, nr_bytes, MADV_NOHUGEPAGE);
	if (mprotect(map, nr_bytes, PROT_READ | PROT_WRITE)) {
		TARGET_KEEP_ERRNO;

		munmap(map, nr_bytes);
		return NULL;
	}
	return map;
}

void *memory_map(size_t nr_bytes)
{
	TARGET_KEEP_ERRNO;
	void *map = map_small(nr_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	return map;
}

void *memory_map_once(void *_Atomic *at, size_t nr_bytes)
{
	void *now = atomic_load(at), *fresh = now ? NULL : memory_map(nr_bytes);

	if (fresh && !atomic_compare_exchange_strong(at, &now, fresh)) {
		munmap(fresh, nr_bytes);
		return now;
	}
	return fresh ? fresh : now;
}

void *memory_map_file(int fd, size_t nr_bytes)
{
	return map_small(nr_bytes, MAP_SHARED, fd);
}

/*
 * ThreadSanitizer sees an atomic access beside a plain one to the same bytes; but this one changes
 * nothing, and the hardware does it as a whole.
 */
__attribute__((no_sanitize_thread)) void memory_touch(void *memory, size_t nr_bytes)
{
	for (size_t at = 0; at < nr_bytes; at += PAGE_BYTES) {
		__atomic_fetch_or((uint32_t *)((char *)memory + at), 0, __ATOMIC_RELAXED);
	}
}

COMPAT_START_CODE void memory_keep_variables_small(void)
{
	uintptr_t from = ((uintptr_t)__bss_start + PAGE_BYTES - 1) & -(uintptr_t)PAGE_BYTES;
	TARGET_KEEP_ERRNO;

	/* From the first whole page; with larger pages the kernel refuses, and nothing is lost. */
	madvise((void *)from, (size_t)((uintptr_t)_end - from), MADV_NOHUGEPAGE);
}
