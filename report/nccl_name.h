/* SPDX-License-Identifier: Apache-2.0 */
/* What NCCL's operations, calls and communicators are called. */
#ifndef REPORT_NCCL_NAME_H
#define REPORT_NCCL_NAME_H

#include <stdint.h>

/* Of an operation, as nccl_ops.h has its kind: "AllReduce" and so on, static. */
const char *nccl_name_op(uint8_t kind);

/* Of a call, any of enum gprof_nccl: "ncclAllReduce" and so on, of names.h. */
uint32_t nccl_name_call(uint8_t kind);

/* "00c0ffee00c0ffee, rank 0 of 2", or "(unknown)", of names.h. */
uint32_t nccl_name_comm(uint64_t key, int32_t rank, uint32_t nr_ranks);

#endif
