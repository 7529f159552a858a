/* SPDX-License-Identifier: Apache-2.0 */
/* The directory has a link for each thread, which a look at it tells without a descriptor. */
#include "collector/sample/task_list.h"

#include <string.h>

#include "collector/util/dir.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"

/* One thread may end as another one begins. */
#define MAX_AGE_NS 10000000000u

static const char tasks[] = "/proc/self/task";

static struct task_list_state {
	uint64_t nr_links; /* before the last reading; 0: unknown */
	uint64_t due_ns;
} state;

bool task_list_read(uint64_t now_ns, void (*look)(void *context, const char *name), void *context)
{
	struct stat status;
	uint64_t nr_links = dir_look(tasks, &status) ? 0 : status.st_nlink;

	if (nr_links && nr_links == state.nr_links && now_ns < state.due_ns) {
		return false;
	}
	state.nr_links = nr_links;
	state.due_ns = now_ns + MAX_AGE_NS;
	dir_each(tasks, look, context);
	return true;
}

void task_list_forget(void)
{
	state = (struct task_list_state){.nr_links = 0};
}

bool task_is_ready(uint32_t tid)
{
	char path[64], text[64];
	const char *after_name;

	log_format(path, sizeof(path), "%s/%u/stat", tasks, tid);
	file_text_read(path, text, sizeof(text));
	after_name = strrchr(text, ')');
	return after_name && !strncmp(after_name, ") R", 3);
}
