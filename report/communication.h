/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be said about operations of communicators, and what of them is not known. */
#ifndef REPORT_COMMUNICATION_H
#define REPORT_COMMUNICATION_H

#include "report/buf.h"
#include "report/nccl_match.h"

/* Appends sentences, each after "; ". Errors in the program are told to odd.h, too. */
void communication_tell(
	const struct nccl_ops *ops, const struct nccl_match *match, struct buf *text);

#endif
