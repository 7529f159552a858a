/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between libgprof-os.so, which stands in for functions of the C library, and the recorder in
 * libgprof.so. Each refers weakly to a symbol of the other, which the loader binds: so nothing
 * looks a name up while the program runs, and each library works where the other is missing.
 */
#ifndef PRELOAD_OS_OS_H
#define PRELOAD_OS_OS_H

#include <stdatomic.h>
#include <stdint.h>

#include "collector/util/own_code.h"

enum os_id {
#define OS_CALL(name, kind) OS_##name,
#include "collector/format/os_calls.def"
	OS_NR,
};

/* A call that has returned. */
struct os_call {
	uint64_t begin;	  /* as os_recorder.begin returned it, not 0 */
	int64_t result;	  /* what it returned */
	uint64_t bytes;	  /* that it moved */
	uint64_t object;  /* the address of what it waits for, 0: none */
	uint64_t caller;  /* where it returns to */
	const char *path; /* that it was asked to open, NULL: none */
	int fd;		  /* -1: none */
	uint32_t file;	  /* of `fd`, where the call has closed that; else 0 */
	uint32_t holder;  /* who had the lock before the call, or ended the wait; 0: unknown */
	uint16_t call;	  /* enum os_id */
	uint16_t error;	  /* errno, or the error that it returned; 0: it succeeded */
};

/* All functions keep errno, take no lock and allocate nothing; any thread, also signal handlers. */
struct os_recorder {
	uint32_t sizes; /* OS_RECORDER_SIZES: libraries of other builds do not match */
	uint32_t nr_calls;
	/* While bit 0 is clear, nothing is recorded. */
	const _Atomic uint32_t *mode;
	/* Begins a call. Returns 0 if it is not one of the program. */
	uint64_t (*begin)(void);
	void (*end)(const struct os_call *call);
	/* Or it has an event before it returns, without a duration. */
	void (*note)(const struct os_call *call);
	/*
	 * The descriptors are closed, or mean other files, now; those that are none are left out.
	 * Returns the number of the first one's file, 0 if it has none.
	 */
	uint32_t (*forget)(int first, int last);
	/* This thread is about to post a semaphore, or to signal a condition variable. */
	void (*post)(const volatile void *object);
	/* A mark of the posts of such an object until now. */
	uint64_t (*posts)(const volatile void *object);
	/*
	 * Returns the thread (the system's number) that has posted it last since that mark; 0:
	 * none has, another process did, or it is unknown.
	 */
	uint32_t (*poster)(const volatile void *object, uint64_t posts);
};

#define OS_RECORDER_SIZES (sizeof(struct os_recorder) << 16 | sizeof(struct os_call))

/* In libgprof.so. */
extern const struct os_recorder gprof_os_recorder __attribute__((weak, visibility("default")));

/* In libgprof-os.so: its code, whose frames are no part of a call's stack. */
extern const struct own_code gprof_os_code __attribute__((weak, visibility("default")));

#endif
