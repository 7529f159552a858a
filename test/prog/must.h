/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that must succeed, of CUDA's driver and of NCCL. */
#ifndef TEST_PROG_MUST_H
#define TEST_PROG_MUST_H

#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a call does not return 0. text: the call as it is written. */
#define MUST_BE_0(call, text)                                     \
	do {                                                      \
		int code_ = (int)(call);                          \
                                                                  \
		if (code_ != 0) {                                 \
			fprintf(stderr, "%s: %d\n", text, code_); \
			exit(1);                                  \
		}                                                 \
	} while (0)

#endif
