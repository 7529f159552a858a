/* SPDX-License-Identifier: Apache-2.0 */
/* Collections of Python's garbage: when each one ran, for how long, and what it found. */
#ifndef PRELOAD_PYTHON_PYTHON_GC_H
#define PRELOAD_PYTHON_PYTHON_GC_H

/* With the GIL: NULL, or why it is impossible. */
const char *python_gc_start(unsigned int minor_version);

/* With the GIL, before the program imports a module; args: of the audit event "import". */
struct object;
void python_gc_before_import(struct object *args);

/* In a forked child, whose stream is new. */
void python_gc_forget(void);

#endif
