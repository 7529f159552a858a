/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules register kernels on any thread: kernels_add() appends to `all`. Only the drain thread
 * searches the list, when it meets a new launch shape: it first indexes by address what was
 * appended since. The texts belong to the modules, so kernels_forget_module() copies those of a
 * module that is unloaded.
 */
#include "preload/hook/kernels.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "collector/format/format.h"
#include "collector/ring/kernel_names.h"
#include "collector/ring/safe_read.h"
#include "collector/util/clock.h"
#include "collector/util/memory.h"
#include "collector/util/loss.h"
#include "collector/util/notice.h"
#include "collector/util/pieces.h"

#define MAX_FUNCTIONS 65536u
#define NR_INDEX      (2 * MAX_FUNCTIONS)
#define NR_HANDLES    MAX_FUNCTIONS
#define HANDLE_TRIES  16u
#define PIECE_BYTES   256u
#define PAGE_BYTES    4096u

struct function {
	const void *_Atomic address; /* written last; NULL: not yet */
	const char *_Atomic name; /* NULL: its module is gone, and there was no memory for a copy */
	void **_Atomic module;	  /* NULL: it is gone, and the name is a copy */
	uint64_t since;		  /* clock_raw */
	uint32_t older; /* drain thread: the last one before it at that address, plus 1; 0: none */
};

/* A program may get a kernel's handle, and launch by that. */
struct handle {
	const void *_Atomic handle; /* NULL: free */
	const void *_Atomic function;
};

/* Mapped with the first kernel, since most processes of a job have none. */
struct tables {
	struct function all[MAX_FUNCTIONS];
	struct handle handles[NR_HANDLES];
	/* For the drain thread: by a hash of the address the newest function, plus 1; 0: none. */
	uint32_t index[NR_INDEX];
};

static struct kernels_state {
	void *_Atomic tables; /* struct tables */
	uint32_t nr_indexed;  /* for the drain thread */
	_Atomic uint32_t nr_added;
	atomic_bool has_no_room; /* a handle, the tables or a name found no room */
	struct pieces names;	 /* copies of names whose modules are gone */
	pid_t unnamed_in; /* the process that has said that names are missing; the drain thread */
} kernels;

/* Returns the tables, which it maps if needed; NULL if there is no memory. */
static struct tables *tables_made(void)
{
	struct tables *tables = memory_map_once(&kernels.tables, sizeof(*tables));

	if (!tables) {
		atomic_store(&kernels.has_no_room, true);
	}
	return tables;
}

/* Copies a text, cut at nr_bytes. Returns its length; 0 if the text is no longer mapped. */
static size_t copy_text(char *to, size_t nr_bytes, const char *from_text)
{
	size_t at = 0;

	while (at < nr_bytes) {
		uintptr_t from = (uintptr_t)from_text + at;
		size_t piece = PAGE_BYTES - from % PAGE_BYTES;
		const char *end;

		piece = piece < PIECE_BYTES ? piece : PIECE_BYTES;
		piece = piece < nr_bytes - at ? piece : nr_bytes - at;
		if (!safe_read(to + at, from, (uint32_t)piece)) {
			return 0;
		}
		end = memchr(to + at, 0, piece);
		if (end) {
			return (size_t)(end - to);
		}
		at += piece;
	}
	return at;
}

/*
 * Another thread may unmap the name during the copy, but replaces the pointer first. So a name
 * whose pointer is unchanged after the copy was mapped all the time.
 */
static size_t copy_name(char *text, size_t nr_bytes, struct function *function)
{
	const char *name;
	size_t length;

	do {
		name = atomic_load(&function->name);
		length = name ? copy_text(text, nr_bytes, name) : 0;
	} while (atomic_load(&function->name) != name);
	if (length == nr_bytes) {
		loss_add(LOSS_TEXT, 1);
	}
	return length;
}

static void report_unnamed(uint32_t nr_added)
{
	bool is_full = nr_added > MAX_FUNCTIONS || atomic_load(&kernels.has_no_room);

	if (kernels.unnamed_in == getpid() || (!is_full && safe_read_works())) {
		return;
	}
	kernels.unnamed_in = getpid();
	notice_add("kernel names", 0,
		is_full ? "the program registers more than 65,536 kernels, or asks for handles of "
			  "more, or memory is short; further ones have names only from CUPTI"
			: "the operating system refuses process_vm_readv, so kernels have names "
			  "only from CUPTI; allow it to get them");
}

static uint32_t hash_address(const void *address)
{
	return (uint32_t)(((uintptr_t)address * 0x9e3779b97f4a7c15u) >> 32);
}

static struct handle *handle_slot(struct tables *tables, const void *handle, uint32_t nr_tries)
{
	return &tables->handles[(hash_address(handle) + nr_tries) % NR_HANDLES];
}

/* A launch passes a host address or a handle. Returns the host address. */
static const void *launching_function(struct tables *tables, const void *address)
{
	for (uint32_t i = 0; i < HANDLE_TRIES; i++) {
		const struct handle *at = handle_slot(tables, address, i);

		if (atomic_load(&at->handle) == address) {
			return atomic_load(&at->function);
		}
	}
	return address;
}

/* Returns where the index has that address, or will have it: it is never full. */
static uint32_t *index_slot(struct tables *tables, const void *address)
{
	uint32_t slot = hash_address(address) % NR_INDEX;

	while (tables->index[slot] &&
		atomic_load(&tables->all[tables->index[slot] - 1].address) != address) {
		slot = (slot + 1) % NR_INDEX;
	}
	return &tables->index[slot];
}

static void index_function(struct tables *tables, uint32_t place)
{
	uint32_t *slot = index_slot(tables, atomic_load(&tables->all[place].address));

	tables->all[place].older = *slot;
	*slot = place + 1;
}

/*
 * Returns the function that was at that address at that time, since the module of an earlier one
 * may be gone. NULL: none.
 */
static struct function *find_function(
	struct tables *tables, const void *address, uint64_t raw, enum kernel_turn *turn)
{
	uint32_t nr_added = atomic_load(&kernels.nr_added);
	uint32_t nr = nr_added < MAX_FUNCTIONS ? nr_added : MAX_FUNCTIONS;
	struct function *function;
	bool has_newer = false;
	uint32_t place;

	while (kernels.nr_indexed < nr && atomic_load(&tables->all[kernels.nr_indexed].address)) {
		index_function(tables, kernels.nr_indexed++);
	}
	place = *index_slot(tables, address);
	function = place ? &tables->all[place - 1] : NULL;
	while (function && function->older && (int64_t)(raw - function->since) < 0) {
		function = &tables->all[function->older - 1];
		has_newer = true;
	}
	*turn = function && function->older ? KERNEL_LATER
		: has_newer		    ? KERNEL_FIRST
					    : KERNEL_ALONE;
	return function;
}

/* Without `text` it finds only the number and the turn, which copies nothing. */
struct kernel_name kernels_name(uint64_t address, uint64_t raw, char *text, size_t nr_bytes)
{
	struct kernel_name name = {.number = MAX_FUNCTIONS, .turn = KERNEL_ALONE};
	struct tables *tables = atomic_load(&kernels.tables);
	uint32_t nr_added = atomic_load(&kernels.nr_added);
	struct function *function = NULL;

	if (tables) {
		const void *launching =
			launching_function(tables, (const void *)(uintptr_t)address);

		function = find_function(tables, launching, raw, &name.turn);
	}
	if (function) {
		name.number = (uint32_t)(function - tables->all);
	}
	if (text) {
		name.nr_bytes = function ? copy_name(text, nr_bytes, function) : 0;
		if (!name.nr_bytes && (nr_added || atomic_load(&kernels.has_no_room))) {
			report_unnamed(nr_added);
		}
	}
	return name;
}

void kernels_add(const void *address, void **module, const char *name)
{
	/* Nothing is launched by no address, for which the index would wait. */
	struct tables *tables = address ? tables_made() : NULL;
	uint32_t index = tables ? atomic_fetch_add(&kernels.nr_added, 1) : MAX_FUNCTIONS;

	if (index < MAX_FUNCTIONS) {
		atomic_store(&tables->all[index].module, module);
		tables->all[index].since = clock_raw();
		atomic_store(&tables->all[index].name, name);
		atomic_store(&tables->all[index].address, address);
		atomic_fetch_add(&kernel_names_era, 1);
	}
}

void kernels_add_handle(const void *handle, const void *function)
{
	struct tables *tables = handle ? tables_made() : NULL;

	for (uint32_t i = 0; tables && i < HANDLE_TRIES; i++) {
		struct handle *at = handle_slot(tables, handle, i);
		const void *there = NULL;

		if (atomic_compare_exchange_strong(&at->handle, &there, handle) ||
			there == handle) {
			atomic_store(&at->function, function);
			return;
		}
	}
	if (handle) {
		atomic_store(&kernels.has_no_room, true);
	}
}

/* Copies a name that leaves with its module, since the recorder may not have read it yet. */
static const char *keep_name(const char *name)
{
	size_t nr_bytes = strnlen(name, GPROF_TEXT_BYTES);
	char *kept = pieces_take(&kernels.names, (uint32_t)nr_bytes + 1, UINT32_MAX);

	if (!kept) {
		atomic_store(&kernels.has_no_room, true);
		return NULL;
	}
	memcpy(kept, name, nr_bytes);
	return kept;
}

void kernels_forget_module(void **module)
{
	struct tables *tables = atomic_load(&kernels.tables);
	uint32_t n = tables ? atomic_load(&kernels.nr_added) : 0;

	for (uint32_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		struct function *function = &tables->all[i];

		if (atomic_load(&function->module) == module) {
			const char *name = atomic_load(&function->name);

			atomic_store(&function->module, NULL);
			atomic_store(&function->name, name ? keep_name(name) : NULL);
		}
	}
}
