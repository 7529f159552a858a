/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's list of objects. dl_iterate_phdr holds a lock meanwhile that fork does not make anew
 * in the child: one forked in such a moment would wait for ever in its next dlopen. So a fork and a
 * look of ours wait for each other, a tenth of a second at most.
 */
#ifndef COLLECTOR_OBJECTS_H
#define COLLECTOR_OBJECTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * dl_iterate_phdr, for any thread at any time; the constructor, beside which no thread runs, may
 * call that itself. Signals are held meanwhile, but for what the thread itself causes: a handler
 * that jumps out would leave the list locked for all other threads. `visit` must not come back
 * here, nor call the loader; dl_iterate_phdr it may call. Keeps errno.
 */
int objects_visit(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/* In the atfork handlers. The thread that forks may look meanwhile. */
void objects_before_fork(void);
void objects_after_fork(bool is_child);

#endif
