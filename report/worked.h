/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long devices worked for a call: times by correlation id, put in as the work's records are
 * read and taken out once, by the call. Holds what no call has taken yet, and places of those that
 * were taken until there are many.
 */
#ifndef REPORT_WORKED_H
#define REPORT_WORKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worked_entry {
	uint32_t correlation; /* 0: free */
	uint32_t nr_works;
	uint64_t ns;
	uint32_t records; /* a list of op_records.h, where somebody keeps them */
	bool is_taken;	  /* all else is 0; found again with the same id, it is new */
};

struct worked {
	struct worked_entry *entries; /* open addressing; a power of two of them */
	size_t nr_entries, capacity;
	size_t nr_used; /* with those that were taken */
};

/* Starts with all zeros. */
void worked_fini(struct worked *worked);

/* The entry of a call, made if it is new; valid until the next. NULL for id 0, which names none. */
struct worked_entry *worked_put(struct worked *worked, uint32_t correlation);

/* The entry of a call, NULL if there is none; valid until the next put or take. */
const struct worked_entry *worked_find(const struct worked *worked, uint32_t correlation);

/* One more record of work of that call. */
void worked_add(struct worked *worked, uint32_t correlation, uint64_t ns);

/* Takes the sum out; false if there is none. */
bool worked_take(struct worked *worked, uint32_t correlation, struct worked_entry *entry);

#endif
