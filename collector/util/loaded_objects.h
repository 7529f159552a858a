/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's list of objects. dl_iterate_phdr holds a lock that fork does not reset: a child
 * forked during it would hang in its next dlopen. So forks and gprof's visits wait for each other,
 * 100 ms at most.
 */
#ifndef COLLECTOR_UTIL_LOADED_OBJECTS_H
#define COLLECTOR_UTIL_LOADED_OBJECTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * dl_iterate_phdr for any thread at any time. (The constructor, when no other thread runs, may call
 * dl_iterate_phdr itself.) Blocks signals except those that the thread itself causes: a handler
 * that jumps out would leave the list locked. `visit` must not call this function or the loader.
 * Keeps errno.
 */
int loaded_objects_visit(
	int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/*
 * Writes the name, without folders, of the file that contains the code; leaves `name` unchanged if
 * unknown. Unlike dladdr, takes no lock that the loader holds while it runs constructors.
 */
void loaded_objects_name_code(uintptr_t address, char *name, size_t nr_bytes);

/* The segment of the object that contains the address; NULL if none does. */
const ElfW(Phdr) * loaded_objects_segment(const struct dl_phdr_info *info, uintptr_t address);

static inline bool loaded_objects_contains(const struct dl_phdr_info *info, uintptr_t address)
{
	return loaded_objects_segment(info, address) != NULL;
}

/* Does the file's name, without folders, begin with `begin`? */
bool loaded_objects_begins(const char *path, const char *begin);

/* In the atfork handlers. The forking thread may visit between them. */
void loaded_objects_before_fork(void);
void loaded_objects_after_fork(bool is_child);

#endif
