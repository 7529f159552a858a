/* SPDX-License-Identifier: Apache-2.0 */
/* Processes whose recorder says that they do not go on, and that they go on again. */
#include "report/cli/watch.h"

static void add_name(struct buf *who, const struct watch_process *p, bool *has_any)
{
	buf_text(who, *has_any ? ", " : "");
	watch_add_who(who, p);
	*has_any = true;
}

bool watch_take_stalls(struct watch *watch, struct buf *who)
{
	bool has_any = false;

	for (size_t i = 0; i < watch->nr_processes; i++) {
		struct watch_process *p = watch->processes[i];

		if (p->stalls.began > p->stalls.seen) {
			p->stalls.seen = p->stalls.told = p->stalls.began;
			add_name(who, p, &has_any);
		}
	}
	return has_any;
}

bool watch_take_recovered(struct watch *watch, struct buf *who)
{
	bool has_any = false;

	for (size_t i = 0; i < watch->nr_processes; i++) {
		struct watch_process *p = watch->processes[i];

		if (p->stalls.told && p->stalls.ended >= p->stalls.told) {
			p->stalls.told = 0;
			add_name(who, p, &has_any);
		}
	}
	return has_any;
}
