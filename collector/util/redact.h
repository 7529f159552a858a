/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What looks like a secret must not go into a stream, which people copy and send. Values are
 * recognised by the names they stand under, and in addresses by their place. No allocation, no
 * state; any thread.
 */
#ifndef COLLECTOR_UTIL_REDACT_H
#define COLLECTOR_UTIL_REDACT_H

#include <stdbool.h>
#include <stddef.h>

/* Does a value under that name look like a secret? Any case; `name` need not end in a 0. */
bool redact_is_secret(const char *name, size_t nr_bytes);

/*
 * Copies a value that stands under `name` ("" for none): *** if the name says so, and always with
 * the user's part of addresses (scheme://user:password@host) and the values of NAME=value and
 * NAME:value pairs in it masked. Returns the bytes written, out_bytes at most, without a 0.
 */
size_t redact_value(
	char *out, size_t out_bytes, const char *name, const char *value, size_t nr_bytes);

/*
 * The same for a command line, whose arguments end in a 0 each (the last may lack it):
 * --token=x, --token x, API_KEY=x, Authorization: x.
 */
size_t redact_command(char *out, size_t out_bytes, const char *command, size_t nr_bytes);

#endif
