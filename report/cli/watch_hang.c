/* SPDX-License-Identifier: Apache-2.0 */
/* Processes whose recorder says that they do not go on, and that they go on again. */
#include "report/cli/watch.h"

static void add_name(struct buf *who, const struct watch_process *p, bool *has_any)
{
	buf_text(who, *has_any ? ", " : "");
	watch_add_who(who, p);
	*has_any = true;
}

bool watch_next_hangs(struct watch *watch, struct buf *who)
{
	bool has_any = false;

	for (size_t i = 0; i < watch->nr_processes; i++) {
		struct watch_process *p = watch->processes[i];

		if (p->hangs.began > p->hangs.seen) {
			p->hangs.seen = p->hangs.reported = p->hangs.began;
			add_name(who, p, &has_any);
		}
	}
	return has_any;
}

bool watch_next_recovered(struct watch *watch, struct buf *who)
{
	bool has_any = false;

	for (size_t i = 0; i < watch->nr_processes; i++) {
		struct watch_process *p = watch->processes[i];

		if (p->hangs.reported && p->hangs.ended >= p->hangs.reported) {
			p->hangs.reported = 0;
			add_name(who, p, &has_any);
		}
	}
	return has_any;
}
