/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's list of objects. dl_iterate_phdr holds a lock that fork does not reset: a child
 * forked meanwhile would hang in its next dlopen. Therefore a fork and a visit of gprof's wait for
 * each other, 100 ms at most.
 */
#ifndef COLLECTOR_UTIL_LOADED_OBJECTS_H
#define COLLECTOR_UTIL_LOADED_OBJECTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * dl_iterate_phdr, for any thread at any time; the constructor, beside which no thread runs, may
 * call that itself. Signals are held meanwhile, but for what the thread itself causes: a handler
 * that jumps out would leave the list locked for all other threads. `visit` must not come back
 * here, nor call the loader; dl_iterate_phdr it may call. Keeps errno.
 */
int loaded_objects_visit(
	int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/*
 * The name, without folders, of the file that code lies in; what stands in `name` stays where that
 * is not known. Waits for no lock that the loader holds while it runs constructors, as dladdr does.
 */
void loaded_objects_name_code(uintptr_t address, char *name, size_t nr_bytes);

/* In the atfork handlers. The thread that forks may look meanwhile. */
void loaded_objects_before_fork(void);
void loaded_objects_after_fork(bool is_child);

#endif
