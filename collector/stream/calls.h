/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that api rows name: first the hooks, in their order, then other functions of CUPTI.
 * The id of a function is its position from 1. One thread fills the list before the first event.
 */
#ifndef COLLECTOR_STREAM_CALLS_H
#define COLLECTOR_STREAM_CALLS_H

#include <stdint.h>

/* A function that api rows name: its position in the list, from 1, is its `call`. */
struct calls_hook {
	uint16_t name_at; /* in one piece of memory with all names */
	uint8_t api;	  /* enum gprof_api */
	uint8_t counted;  /* 1 + its index in ring_thread.counts; 0: it is not counted */
};

/* The hooks, see collector_init; nothing is copied. */
void calls_init(const char *names, const struct calls_hook *calls, uint32_t nr_calls);

/* The id of a hook, 0 if there is none of that name. */
uint32_t calls_find_hook(const char *name);
/* The id of the hook whose calls are counted at that index, 0 if there is none. */
uint32_t calls_counted(unsigned int counted);
/* The name of that id, which stays. */
const char *calls_name(uint32_t id);
/* name must stay. */
uint32_t calls_find_or_add(const char *name, uint8_t api);

/* Rows of table call for all of them. */
void calls_add_rows(void);

/* In a forked child: only the hooks remain. */
void calls_forget(void);

#endif
