/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python stacks as texts, "train.py(12): step <- train.py(40): <module>", in little room: a reader
 * looks for the innermost frame of the own code, and then for what that called.
 */
#ifndef REPORT_UTIL_STACK_TEXT_H
#define REPORT_UTIL_STACK_TEXT_H

#include "report/util/buf.h"

/*
 * Works like text_add_cut; of a stack it leaves out other frames, and then parts of frames. A text
 * that is no stack is cut in the middle.
 */
size_t stack_text_add_cut(struct buf *out, const char *bytes, size_t nr_bytes, size_t max_width);

#endif
