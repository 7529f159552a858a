/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out which data loader worker the process is. PyTorch and Paddle keep that in Python, as
 * `_worker_info` of one of their modules. gprof reads it when the process creates a thread, which
 * each worker does to send its first batch: at that moment the interpreter's state is consistent.
 */
#ifndef PRELOAD_TORCH_WORKER_H
#define PRELOAD_TORCH_WORKER_H

/*
 * A framework that has loaders is in the process, and its operators are recorded.
 */
void worker_expect(void);

/*
 * If this thread holds the GIL, and the process has become a worker since the last call, informs
 * the recorder, started or not. Runs no Python code; keeps errno and a pending exception. Takes no
 * lock of the loader.
 */
void worker_look(void);

/* In a forked child: drops what the parent has found but not written. */
void worker_forget(void);

#endif
