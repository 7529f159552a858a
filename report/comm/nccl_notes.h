/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about matched collectives: errors in the program, and what is not known. */
#ifndef REPORT_COMM_NCCL_NOTES_H
#define REPORT_COMM_NCCL_NOTES_H

#include "report/comm/nccl_match.h"
#include "report/util/buf.h"

/* Appends the sentences, each after "; ". Passes errors in the program to sanity_add, too. */
void nccl_notes_add(const struct nccl_ops *ops, const struct nccl_match *match, struct buf *text);

#endif
