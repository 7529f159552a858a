/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's NVTX ranges, which become rows of table nccl: the functions that have one in the domain
 * "NCCL", and the fields of their payloads. The recorder reads them in the target, the reader in
 * exports of Nsight Systems.
 */
#ifndef COLLECTOR_FORMAT_NCCL_NVTX_H
#define COLLECTOR_FORMAT_NCCL_NVTX_H

#include <stddef.h>
#include <stdint.h>

/* Ranges that have no row, beside those of enum gprof_nccl. */
enum {
	NCCL_NVTX_GROUP_START = 100,
	NCCL_NVTX_GROUP_SIMULATE_END = 101, /* ends the group; nothing of it runs */
};

/* ncclBcast has no range of its own: it calls ncclBroadcast. */
/* Names lie in the tables: pointers to them would be relocated in each process. */
struct nccl_nvtx_function {
	char name[32];
	uint8_t kind; /* enum gprof_nccl, or one of the above */
};

enum nccl_nvtx_fact {
	NCCL_NVTX_COMM, /* its hash */
	NCCL_NVTX_BYTES,
	NCCL_NVTX_REDOP,
	NCCL_NVTX_PEER, /* or root */
	NCCL_NVTX_NR_RANKS,
	NCCL_NVTX_NR_DEVICES,
	NCCL_NVTX_RANK,
	NCCL_NVTX_DEVICE,
	NCCL_NVTX_NR_FACTS,
};

/* Versions of NCCL have several names for a fact. */
struct nccl_nvtx_field {
	char name[32];
	enum nccl_nvtx_fact fact;
};

/* Both end with an empty name. */
extern const struct nccl_nvtx_function nccl_nvtx_functions[];
extern const struct nccl_nvtx_field nccl_nvtx_fields[];

/*
 * Return the function's index in nccl_nvtx_functions, and a field's fact; -1 if gprof does not use
 * it.
 */
int nccl_nvtx_find_function(const char *name, size_t nr_bytes);
int nccl_nvtx_find_fact(const char *name, size_t nr_bytes);

#endif
