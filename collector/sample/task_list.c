/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of the threads has a link for each of them, besides the usual two. */
#include "collector/sample/task_list.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/util/dir.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"

#define MAX_AGE_NS  10000000000u
#define USUAL_LINKS 2u

static const char tasks[] = "/proc/self/task";
static uint64_t due_ns; /* when the list is read anyway; 0: it has not been read */

bool task_list_has(uint32_t nr_threads, uint64_t now_ns)
{
	struct stat status;

	return now_ns < due_ns && !dir_look(tasks, &status) &&
	       status.st_nlink == (uint64_t)nr_threads + USUAL_LINKS;
}

void task_list_read(uint64_t now_ns, void (*look)(void *context, const char *name), void *context)
{
	due_ns = now_ns + MAX_AGE_NS;
	dir_each(tasks, look, context);
}

void task_list_forget(void)
{
	due_ns = 0;
}

bool task_exists(uint32_t tid)
{
	return !syscall(SYS_tgkill, syscall(SYS_getpid), (long)tid, 0l);
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

void task_read_name(uint32_t tid, char *name, size_t nr_bytes)
{
	char path[64];

	log_format(path, sizeof(path), "%s/%u/comm", tasks, tid);
	file_text_read(path, name, nr_bytes);
	name[strcspn(name, "\n")] = 0;
}
