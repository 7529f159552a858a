/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads memory of this process that another thread may unmap at any time. The kernel reads it,
 * and fails where the CPU would fault. If seccomp forbids that, all reads fail.
 */
#ifndef COLLECTOR_RING_SAFE_READ_H
#define COLLECTOR_RING_SAFE_READ_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collector/util/target.h"

/* Copies nr_bytes from `from`; returns false if they are unreadable. Keeps errno. */
static inline bool safe_read(void *to, uintptr_t from, uint32_t nr_bytes)
{
	struct iovec ours = {to, nr_bytes}, theirs = {(void *)from, nr_bytes};
	TARGET_KEEP_ERRNO;
	bool is_read = syscall(SYS_process_vm_readv, (long)getpid(), &ours, 1ul, &theirs, 1ul,
			       0ul) == (long)nr_bytes;

	return is_read;
}

/* Does the system let a process read its own memory with process_vm_readv? */
static inline bool safe_read_works(void)
{
	bool is_there = true, is_read = false;

	return safe_read(&is_read, (uintptr_t)&is_there, sizeof(is_there)) && is_read;
}

#endif
