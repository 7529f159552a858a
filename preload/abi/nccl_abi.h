/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL as we need it, in our own declarations; test/abi compares them with the real nccl.h. */
#ifndef PRELOAD_ABI_NCCL_ABI_H
#define PRELOAD_ABI_NCCL_ABI_H

typedef void nccl_comm; /* opaque; its handles are pointers to it */
typedef void nccl_config;
typedef void nccl_sim_info;
typedef int nccl_type;
typedef int nccl_redop;

typedef struct {
	char bytes[128];
} nccl_unique_id;

/* Results. */
enum {
	NCCL_SUCCESS = 0,
	NCCL_SYSTEM_ERROR = 2,
	NCCL_IN_PROGRESS = 7, /* of a communicator that does not block */
};

enum {
	NCCL_SPLIT_NO_COLOR = -1, /* this rank gets no communicator */
	NCCL_NR_REDOPS = 5,	  /* from here on they are the program's own */
};

/* Bytes of an element of a type, 0 for one that this version does not know. */
static inline unsigned int nccl_type_bytes(nccl_type type)
{
	static const unsigned char bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

	return type >= 0 && type < (nccl_type)sizeof(bytes) ? bytes[type] : 0;
}

#endif
