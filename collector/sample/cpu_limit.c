/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version 2 has "QUOTA PERIOD" or "max PERIOD" in cpu.max and throttled_usec in cpu.stat; version 1
 * has cpu.cfs_quota_us, -1 for none, cpu.cfs_period_us, and throttled_time in ns in cpu.stat
 * (Documentation/admin-guide/cgroup-v2.rst and Documentation/scheduler/sched-bwc.rst of Linux).
 */
#include "collector/sample/cpu_limit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collector/util/cgroup.h"
#include "collector/util/log.h"
#include "collector/util/private_fd.h"

/* The files stay open: a sandbox that the target enters later may forbid to open others. */
static struct {
	struct private_fd limit, stat; /* -1: there is no limit */
	enum cgroup_version version;
	uint64_t period_us; /* version 1 only */
} files = {.limit = {.fd = -1}, .stat = {.fd = -1}};

/* The number behind `name` in a text of several lines; with "" the number that the text begins
 * with. */
static bool find_number(const char *text, const char *name, uint64_t *value)
{
	const char *at = strstr(text, name);
	char *end;

	if (!at || at[strlen(name)] == '-') {
		return false;
	}
	*value = strtoull(at + strlen(name), &end, 10);
	return end != at + strlen(name);
}

bool cpu_limit_parse(const char *max, uint64_t *milli_cpus)
{
	uint64_t quota, period;
	const char *second = strchr(max, ' ');

	if (!second || !find_number(max, "", &quota) || !find_number(second + 1, "", &period) ||
		!period) {
		return false;
	}
	*milli_cpus = quota * 1000 / period;
	return true;
}

static bool read_limit(uint64_t *milli_cpus)
{
	char text[64];
	uint64_t quota;

	if (!private_fd_read(&files.limit, text, sizeof(text))) {
		return false;
	}
	if (files.version == CGROUP_2) {
		return cpu_limit_parse(text, milli_cpus);
	}
	if (!find_number(text, "", &quota)) {
		return false;
	}
	*milli_cpus = quota * 1000 / files.period_us;
	return true;
}

static void open_in(const char *folder, const char *name, struct private_fd *file)
{
	char path[PATH_MAX];

	log_format(path, sizeof(path), "%s/%s", folder, name);
	private_fd_open(file, path, O_RDONLY, PRIVATE_FD_HIGH);
}

static bool read_period(const char *folder)
{
	struct private_fd file = {.fd = -1};
	char text[64];
	bool is_read;

	open_in(folder, "cpu.cfs_period_us", &file);
	is_read = private_fd_read(&file, text, sizeof(text)) &&
		  find_number(text, "", &files.period_us) && files.period_us;
	private_fd_close(&file);
	return is_read;
}

static bool look_at(const char *folder, enum cgroup_version version, void *data)
{
	uint64_t milli_cpus;

	(void)data;
	files.version = version;
	open_in(folder, version == CGROUP_1 ? "cpu.cfs_quota_us" : "cpu.max", &files.limit);
	if ((version == CGROUP_1 && !read_period(folder)) || !read_limit(&milli_cpus)) {
		private_fd_close(&files.limit);
		return false;
	}
	open_in(folder, "cpu.stat", &files.stat);
	return true;
}

void cpu_limit_init(const char *root)
{
	cpu_limit_close();
	cgroup_walk(root, "cpu", look_at, NULL);
}

bool cpu_limit_read(uint64_t *milli_cpus, uint64_t *throttled_ns)
{
	bool is_1 = files.version == CGROUP_1;
	char text[1024];

	if (!read_limit(milli_cpus) || !private_fd_read(&files.stat, text, sizeof(text)) ||
		!find_number(text, is_1 ? "throttled_time " : "throttled_usec ", throttled_ns)) {
		return false;
	}
	*throttled_ns *= is_1 ? 1 : 1000;
	return true;
}

void cpu_limit_close(void)
{
	private_fd_close(&files.limit);
	private_fd_close(&files.stat);
}
