/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one file of this process: name, header, blocks, end (FORMAT.md). If the file cannot grow,
 * blocks are lost, their rows counted, and the next block is tried again; the target never waits.
 * For the drain thread.
 */
#ifndef COLLECTOR_STREAM_STREAM_H
#define COLLECTOR_STREAM_STREAM_H

#include <stdbool.h>

#include "collector/format/block.h"

/* Rows that could not be written, by reason; stream_take_lost. */
struct stream_lost {
	uint64_t disk;	      /* events that the file system refused */
	uint64_t facts;	      /* definitions and facts that it refused, more than could be kept */
	uint64_t limit;	      /* events beyond GPROF_MAX_MB */
	uint64_t limit_facts; /* definitions and facts beyond their part of it */
	bool has_losses;      /* rows of table loss were refused by either; they count nowhere */
};

/*
 * Makes the directory (0700) and in it `<host>-<pid>-<start>.gprof.part` (0600, never an existing
 * file), and writes the header. max_bytes 0: no limit. Returns 0 or -errno.
 */
int stream_start(const char *dir, uint64_t max_bytes, const struct block_ticks *ticks);

/*
 * Writes rows as blocks (any number of rows). Of the limit, an eighth is left to definitions and
 * facts (is_event false), and of that a part to the end. Returns 0 or -errno, and counts the events
 * it could not write.
 */
int stream_write(unsigned int table, const void *const *rows, uint32_t nr_rows, bool is_event);

/* The same for one block of columns, which it overwrites. */
int stream_write_columns(
	unsigned int table, union column_values *values, uint32_t nr_rows, bool is_event);

/*
 * Writes the definitions that were refused before and kept, if any, which otherwise go before the
 * next block. Returns 0 when the file holds all of them, or -errno.
 */
int stream_flush_deferred(void);

struct stream_lost stream_take_lost(void);

/* From now on, blocks are the last ones. */
void stream_begin_end(void);

/*
 * From now on, blocks are a tail, which stream_cut_tail removes again: a full stream that repeats
 * its losses does not grow.
 */
void stream_begin_tail(void);

/* Returns false, and does nothing, if there is no tail, or it cannot be removed. */
bool stream_cut_tail(void);

/* Renames `.part` away and closes. Returns 0 or -errno. */
int stream_finish(void);

/* Had somebody removed the file before it was finished? Then the recording is gone. */
bool stream_was_removed(void);

/* Removes the file of a recording that could not start. */
void stream_discard(void);

/* In a forked child: closes the parent's file without touching it. */
void stream_forget(void);

const char *stream_path(void); /* its current name */
const char *stream_dir(void);  /* absolute */
uint64_t stream_id(void);
unsigned int stream_progress(void); /* grows with every write that came back; any thread */
uint64_t stream_bytes(void);
uint64_t stream_rows(void); /* event rows written */

/* Rings go to a tmpfs with this many times their size free, since each process of a job has some.
 */
#define STREAM_MEMORY_SHARE 16u

/* The folders in which the ring file may be, best first. */
enum stream_place {
	STREAM_PLACE_MEMORY, /* beside the stream, which is in memory */
	STREAM_PLACE_SHARED, /* in /dev/shm */
	STREAM_PLACE_DISK,   /* beside the stream, where a store may wait for a disk */
	STREAM_NR_PLACES,    /* in no file */
};

/*
 * A path for a ring file of `bytes` there. NULL if that is impossible: network or FUSE file system,
 * or no room. The text is valid until the next call.
 */
const char *stream_rings_path(uint64_t bytes, enum stream_place place);

/*
 * Has the stream no more room for events within its size limit? It stays so. Then nothing but
 * losses and facts should be written.
 */
bool stream_is_full(void);

/*
 * Is there room for events? Counts of calls take the same room, but must not be the first to find
 * out that there is none.
 */
bool stream_takes_counts(void);

/* May rows with texts of their own still come? They get half of the limit. */
bool stream_takes_texts(void);

#endif
