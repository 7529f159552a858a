/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of CUDA in traces, which have neither their arguments nor what they allocated. */
#ifndef REPORT_IMPORT_CALL_H
#define REPORT_IMPORT_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "report/util/idset.h"

/* The name of XLA's launches, whose trace has the name of the kernel instead. */
#define IMPORT_CALL_LAUNCH "kernel launch"
/* The name of launches that a trace knows by flow events alone. */
#define IMPORT_CALL_FLOW "Launch by flow"

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
