/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One part: 0700 whatever the host's umask says. */
static int make_part(const char *path)
{
	if (mkdir(path, 0700)) {
		return errno == EEXIST ? 0 : -errno;
	}
	return chmod(path, 0700) ? -errno : 0;
}

/*
 * In a folder like /tmp anybody may have put a link where we are sent to; the kernel's own rule
 * (fs.protected_symlinks) is applied here too, wherever the link lies: it must be ours or root's.
 */
static bool is_foreign_link(const char *path)
{
	struct stat link;

	return !syscall(SYS_newfstatat, AT_FDCWD, path, &link, AT_SYMLINK_NOFOLLOW) &&
	       S_ISLNK(link.st_mode) && link.st_uid && link.st_uid != geteuid();
}

int dir_make(const char *dir, char absolute[PATH_MAX])
{
	char path[PATH_MAX];
	size_t length = strlen(dir);
	int rc = 0;

	while (length > 1 && dir[length - 1] == '/') {
		length--;
	}
	if (!length || length >= sizeof(path)) {
		return length ? -ENAMETOOLONG : -EINVAL;
	}
	memcpy(path, dir, length);
	path[length] = 0;
	for (char *slash = strchr(path + 1, '/'); slash && !rc; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		rc = make_part(path);
		*slash = '/';
	}
	rc = rc ? rc : make_part(path);
	if (rc || is_foreign_link(path)) {
		return rc ? rc : -EPERM;
	}
	/* Absolute, since the host may change its directory. */
	return realpath(path, absolute) ? 0 : -errno;
}

bool dir_is_remote(const char *dir)
{
	/* magic numbers of statfs(2) */
	static const uint32_t types[] = {0x6969 /* NFS */, 0x65735546 /* FUSE */,
		0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */, 0x517b /* SMB */,
		0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */, 0x01021997 /* 9P */,
		0x00c36400 /* Ceph */, 0x19830326 /* BeeGFS */, 0x7461636f /* OCFS2 */,
		0x5346414f /* AFS */};
	struct statfs fs;

	if (statfs(dir, &fs)) {
		return true;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if ((uint32_t)fs.f_type == types[i]) {
			return true;
		}
	}
	return false;
}

bool dir_has_room(const char *dir, uint64_t bytes)
{
	struct statvfs fs;

	return !statvfs(dir, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize > bytes;
}
