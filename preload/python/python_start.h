/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets into Python's interpreter, only with GPROF_PYTHON, GPROF_HANG_TIMEOUT_S or GPROF_CPU_HZ:
 * without them, the drain reads frames for CPU samples from outside (python_thread.c), and nothing
 * else of this room is active in the process. With GPROF_CPU_HZ the recorder
 * starts with the program, and also in its forked children; the same with libgprof-os.so, which
 * needs nothing else of Python.
 */
#ifndef PRELOAD_PYTHON_PYTHON_START_H
#define PRELOAD_PYTHON_PYTHON_START_H

/* From the constructor: installs an audit hook, if the environment enables Python. */
void python_start_init(void);

/*
 * The program starts gprof while it runs: gets in now, if the settings enable Python. With the GIL,
 * else Python stays off, and the notice says why.
 */
void python_start_inside(void);

/* The recorder has started: says in the stream what does not work, and why. */
void python_start_report(void);

/* In a forked child, whose stream begins anew. */
void python_start_forget(void);

#endif
