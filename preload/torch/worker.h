/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells which worker of a data loader the process is. PyTorch and Paddle keep it in their Python,
 * as the `_worker_info` of one of their modules; it is read there when the process makes a thread,
 * as each worker does to send its first batch: then the interpreter is in no state of its own.
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
