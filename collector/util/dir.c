/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the directory part by part as mkdir -p does, and refuses parts that another user may have
 * prepared. The rest describes its file system: whether space can be reserved in it, whether it is
 * memory, how much is free. dir_each() reads names by the system call, since opendir() allocates.
 */
#include "collector/util/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/util/private_fd.h"
#include "collector/util/start_progress.h"

/* As the system call getdents64 returns it. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* glibc has these as symbols only since 2.33; the kernel's struct is the same on our machines. */
static int look_at(const char *path, int flags, struct stat *status)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, flags);
}

int dir_look(const char *path, struct stat *status)
{
	return look_at(path, AT_SYMLINK_NOFOLLOW, status);
}

/* Is it a folder like /tmp, where anybody may add files, but remove only their own? */
static bool is_public(const char *path)
{
	struct stat status;

	return !look_at(path, 0, &status) && status.st_mode & S_ISVTX && status.st_mode & S_IWOTH;
}

/*
 * Another user may have put a link there, or a directory in a public folder, to get or to destroy
 * our files. It must belong to this user or root, like the kernel's own rule
 * (fs.protected_symlinks).
 */
static bool is_foreign(const char *path, bool is_in_public)
{
	struct stat status;

	return !dir_look(path, &status) && (S_ISLNK(status.st_mode) || is_in_public) &&
	       status.st_uid && status.st_uid != geteuid();
}

/* One part: made 0700 whatever the target's umask is, unless it exists. */
static int make_part(const char *path, bool *is_in_public)
{
	if (!mkdir(path, 0700)) {
		*is_in_public = false;
		return chmod(path, 0700) ? -errno : 0;
	}
	if (errno != EEXIST) {
		return -errno;
	}
	if (is_foreign(path, *is_in_public)) {
		return -EPERM;
	}
	*is_in_public = is_public(path);
	return 0;
}

/*
 * Checks each part on its own: a link or a foreign folder anywhere in the path would lead the files
 * elsewhere.
 */
int dir_make(const char *dir, char absolute[PATH_MAX])
{
	char path[PATH_MAX];
	size_t length = strlen(dir);
	bool is_in_public = *dir != '/' && is_public(".");
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
		rc = make_part(path, &is_in_public);
		*slash = '/';
		start_progress_signal(); /* a path may have hundreds, each of which takes its time
					  */
	}
	rc = rc ? rc : make_part(path, &is_in_public);
	if (rc) {
		return rc;
	}
	/* Absolute, since the target may change its directory. */
	return realpath(path, absolute) ? 0 : -errno;
}

bool dir_can_reserve(const char *dir)
{
	/* magic numbers of statfs(2) */
	static const uint32_t types[] = {0x6969 /* NFS */, 0x65735546 /* FUSE */,
		0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */, 0x517b /* SMB */,
		0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */, 0x01021997 /* 9P */,
		0x00c36400 /* Ceph */, 0x19830326 /* BeeGFS */, 0x7461636f /* OCFS2 */,
		0x5346414f /* AFS */, 0x9123683e /* Btrfs */, 0x2fc12fc1 /* ZFS */,
		0xca451a4e /* bcachefs */, 0x3434 /* NILFS */};
	struct statfs fs;

	if (statfs(dir, &fs)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if ((uint32_t)fs.f_type == types[i]) {
			return false;
		}
	}
	return true;
}

bool dir_is_memory(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && (uint32_t)fs.f_type == 0x01021994;
}

bool dir_has_room(const char *path, uint64_t bytes, bool otherwise)
{
	struct statvfs fs;

	return statvfs(path, &fs) ? otherwise : (uint64_t)fs.f_bavail * fs.f_frsize > bytes;
}

int dir_open(struct private_fd *file, const char *dir)
{
	return private_fd_open(file, dir, O_RDONLY | O_DIRECTORY, PRIVATE_FD_ANYWHERE);
}

/*
 * Checks the number before each read: the program may have closed it, and opened a file of its own.
 */
void dir_read(struct private_fd *file, void (*look)(void *context, const char *name), void *context)
{
	char bytes[1024] __attribute__((aligned(8)));
	long n = private_fd_check(file) ? 0 : lseek(file->fd, 0, SEEK_SET) == 0;

	while (n > 0) {
		const struct entry *entry;

		n = private_fd_check(file)
			    ? 0
			    : syscall(SYS_getdents64, file->fd, bytes, sizeof(bytes));
		for (long at = 0; at < n; at += entry->bytes) {
			entry = (const struct entry *)(bytes + at);
			look(context, entry->name);
		}
	}
}

void dir_each(const char *dir, void (*look)(void *context, const char *name), void *context)
{
	struct private_fd file;

	if (!dir_open(&file, dir)) {
		dir_read(&file, look, context);
		private_fd_close(&file);
	}
}
