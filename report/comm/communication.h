/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be said about operations of communicators, and what of them is not known. */
#ifndef REPORT_COMM_COMMUNICATION_H
#define REPORT_COMM_COMMUNICATION_H

#include "report/util/buf.h"
#include "report/comm/nccl_match.h"

/* Appends sentences, each after "; ". Errors in the program are told to odd.h, too. */
void communication_tell(
	const struct nccl_ops *ops, const struct nccl_match *match, struct buf *text);

#endif
