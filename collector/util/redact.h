/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes what looks like a secret from the stream, since people copy and send it. Secrets are
 * recognised by the names of values, and in addresses by position. No allocation, no state; any
 * thread.
 */
#ifndef COLLECTOR_UTIL_REDACT_H
#define COLLECTOR_UTIL_REDACT_H

#include <stdbool.h>
#include <stddef.h>

/* Does a value with this name look like a secret? Any case; `name` needs no final 0. */
bool redact_is_secret(const char *name, size_t nr_bytes);

/*
 * Copies the value of `name` ("" for none): *** if the name suggests a secret. Always replaces the
 * user part of addresses (scheme://user:password@host) and secret values of NAME=value and
 * NAME:value pairs. Returns the bytes written, at most out_bytes, without a final 0.
 */
size_t redact_value(
	char *out, size_t out_bytes, const char *name, const char *value, size_t nr_bytes);

/*
 * The same for a command line, whose arguments end in 0 each (the last may lack it): --token=x,
 * --token x, API_KEY=x, Authorization: x.
 */
size_t redact_command(char *out, size_t out_bytes, const char *command, size_t nr_bytes);

#endif
