/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another tool that NVTX would have loaded if we had not taken NVTX_INJECTION64_PATH. It first
 * fills the tables of each library that embeds NVTX; our functions replace its functions, and call
 * them. The program gets the other tool's handles, so that functions which we do not record
 * (resources, synchronisation, extensions) work for it; here they map to our ids. Any thread.
 */
#ifndef PRELOAD_NVTX_NVTX_NEXT_H
#define PRELOAD_NVTX_NVTX_NEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/abi/nvtx_abi.h"

/* The other tool's library, "" if there is none. The constructor sets it. */
extern char nvtx_next_path[PATH_MAX + 1] __attribute__((visibility("hidden")));

/* gprof's function for a slot of a table. */
struct nvtx_slot_function {
	uint32_t module;
	uint32_t id;
	void (*function)(void);
};

/*
 * Lets the other tool fill the loader's tables, and keeps its functions for those slots. Returns
 * false if there is none, or it refuses.
 */
bool nvtx_next_load(nvtx_get_export get_export, const struct nvtx_callbacks *callbacks,
	const struct nvtx_slot_function *slots, size_t nr_slots);

/* Is this thread in the other tool's function? Then that calls us, as its next. */
bool nvtx_next_is_loading(void);

/*
 * Lets it fill the tables of an extension, and keeps its functions for those slots if that is the
 * payload extension. Returns 0 if there is none, or it refuses.
 */
int nvtx_next_load_extension(
	struct nvtx_extension *extension, const struct nvtx_slot_function *slots, size_t nr_slots);

/* The slot of a function of the payload extension; NULL if the extension is another or older. */
intptr_t *nvtx_next_extended_slot(
	const struct nvtx_extension *extension, const struct nvtx_slot_function *slot);

/* The slot of a function in a loader's table, NULL if that table is older. */
nvtx_slot nvtx_next_slot(
	const struct nvtx_callbacks *callbacks, const struct nvtx_slot_function *slot);

/* Its function for a slot, or NULL. */
void (*nvtx_next_function(uint32_t module, uint32_t id))(void);

enum nvtx_handle { NVTX_DOMAIN, NVTX_STRING, NVTX_NR_HANDLES };

/* The handle that the program gets for our id: the other tool's, if it has given one. */
void *nvtx_next_keep(enum nvtx_handle what, void *theirs, uint32_t id);

/* Our id of a handle, 0 if it is unknown; and the handle for the other tool, NULL if it is gprof's.
 */
uint32_t nvtx_next_id(enum nvtx_handle what, const void *handle);
void *nvtx_next_handle(enum nvtx_handle what, void *handle);

/* The same attributes for the other tool: in `copy` if only we have registered their string. */
const struct nvtx_attributes *nvtx_next_attributes(
	const struct nvtx_attributes *attributes, struct nvtx_attributes *copy);

#endif
