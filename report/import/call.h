/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of CUDA in traces, which have neither their arguments nor what they allocated. */
#ifndef REPORT_IMPORT_CALL_H
#define REPORT_IMPORT_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "report/util/idset.h"

/*
 * The name of launches that a trace does not name: XLA's have the name of the kernel instead, and
 * of others only a flow is known.
 */
#define IMPORT_CALL_LAUNCH "kernel launch"

/*
 * The table of a call by name. Allocations go into the plain one, since a trace has neither size
 * nor address.
 */
uint8_t import_call_table(const char *name, size_t nr_bytes);

/*
 * The flags of a copy or memset by the name of its call: the correlation IDs of all calls, and of
 * those that are asynchronous.
 */
uint32_t import_copy_flags(
	const struct idset *called, const struct idset *async, uint32_t correlation);

#endif
