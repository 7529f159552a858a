/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the file of machine code at an address: the loader's objects, and executable memory without
 * a file, such as that of a just-in-time compiler. Makes native stacks of addresses. For the drain
 * thread.
 */
#ifndef COLLECTOR_SAMPLE_CODE_MAP_H
#define COLLECTOR_SAMPLE_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* A stack keeps so many frames, as many as the kernel follows by default; it leaves out further
 * ones. */
#define CODE_MAP_MAX_FRAMES 127u

struct code_place {
	uint32_t file;	  /* its ID in table code_file; 0: none */
	uint64_t address; /* as the file's symbols have it, or of the process */
};

/*
 * Takes the loader's objects, if it has loaded or unloaded any since the last time. Cheap if it has
 * not.
 */
void code_map_look(void);

/* Reads the executable memory of the process at the next look. Costs a read of /proc/self/maps. */
void code_map_want_memory(void);

/* Returns false if no code is known at the address. The file's id is good until the next look. */
bool code_map_find(uint64_t address, struct code_place *place);

/* The description of an object's frames: its .eh_frame_hdr, 0 bytes: it has none. */
struct code_frames {
	uint64_t header, nr_bytes;
};

/*
 * Returns false if no code is known at the address. What it finds is good until the next look, and
 * also after it if code_map_era() is the same then.
 */
bool code_map_frames(uint64_t address, struct code_frames *frames);

/* Another number if an object may have gone since. */
uint32_t code_map_era(void);

/*
 * Returns the id of the stack of these frames (native_stack.h), the innermost first: in callers,
 * the last byte of the call. It ends where no code is known. is_cut: it has further frames, which
 * are unknown.
 */
uint32_t code_map_stack(const uint64_t *addresses, uint32_t nr, bool is_cut);

/* For a forked child: forgets all ranges and keeps the memory for new ones. */
void code_map_forget(void);

/* Releases the memory. */
void code_map_fini(void);

/* ---- pure, for the tests ---- */

/*
 * Finds the build ID in the notes of an object. Returns its bytes, *nr_bytes of them, or NULL.
 * align: of the notes, 4 or 8.
 */
const uint8_t *code_map_build_id(
	const uint8_t *notes, uint64_t nr_note_bytes, uint64_t align, uint32_t *nr_bytes);

/* The addresses of a line of /proc/PID/maps; false if the memory is not executable. */
bool code_map_read_line(const char *line, uint64_t *begin, uint64_t *end);

#endif
