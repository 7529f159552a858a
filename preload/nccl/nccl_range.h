/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's NVTX ranges as its calls, for an NCCL that the hooks miss because it is linked statically
 * or the program looks its functions up itself. A range of the domain "NCCL" is a function of NCCL;
 * one inside another, or inside a hooked call, adds nothing. The arguments are in payloads, whose
 * layout NCCL itself registers (schemas).
 *
 * Ranges lack the stream, the data type and the result. From NCCL 2.25 on they have the
 * communicator's hash, the same on all ranks; before, the communicator is unknown.
 *
 * Any thread; no lock. A range of another domain costs a search in a list of at most four.
 */
#ifndef PRELOAD_NCCL_NCCL_RANGE_H
#define PRELOAD_NCCL_NCCL_RANGE_H

#include <stdbool.h>

#include "preload/abi/nvtx_abi.h"

/* Definitions, by our ids. Those that are not NCCL's are left alone. */
void nccl_range_domain(uint32_t domain, const char *name);
void nccl_range_string(uint32_t domain, uint32_t string, const char *text);
void nccl_range_schema(uint32_t domain, const struct nvtx_schema *schema);

/* A range of this thread begins, and ends; string: the registered one that names it. */
void nccl_range_push(uint32_t domain, uint32_t string, const struct nvtx_attributes *attributes);
void nccl_range_pop(uint32_t domain, const struct nvtx_payload_data *payloads, size_t nr_payloads);

#endif
