/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces that other people already have: Kineto's JSON (PyTorch's profiler), as an object or the
 * bare array of Chrome's format, plain or gzipped. A trace becomes a stream of our own format in
 * memory (kineto_out.h), and from there on it is read as any other: no view knows of it.
 *
 *     operators, ranges   op (ranges have the user's scope), their shapes op_shape
 *     runtime, driver     call, api_*; what they were given is not in a trace
 *     kernel, copy, set   kernel, memcpy, memset, shape, place; joined by correlation
 *     sync, overhead      sync, overhead
 *     python_function     py_call, py_code; modules are op rows; and what was called within:
 *                         py_stack
 *     [memory]            alloc
 *     kernels with a "Collective name"   nccl, nccl_comm
 *     ProfilerStep#N      step, with its own end (MODEL_STEP_END)
 *     the object's rest   device, attribute, info; times count from baseTimeNanoseconds
 *
 * Left out and counted: ranges of the GPU, flows (correlation ids say the same), counters. External
 * ids are not used: an operator's calls lie in it on its thread.
 *
 * Memory: 96 bytes for each of KINETO_ROWS events while they are sorted (more lie in files), some 4
 * bytes for every event afterwards, and the bounds of kineto_in.h and kineto_out.h.
 */
#ifndef REPORT_KINETO_KINETO_H
#define REPORT_KINETO_KINETO_H

#include "report/stream/stream.h"

/*
 * If the file of stream->fd is a trace, a stream that is made of it takes its place; otherwise
 * nothing happens. Returns 0, or a negative code with err_set: there is no event in it.
 */
int kineto_replace(struct stream *stream);

#endif
