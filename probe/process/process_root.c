/* SPDX-License-Identifier: GPL-2.0-only */
#include "process_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	OPEN_TRIES = 8, /* for EAGAIN, when another process renames files */
};

void process_root_open(int process_directory, struct process_root *ret_root)
{
	const ssize_t length = readlinkat(process_directory, "root", ret_root->path,
					  sizeof(ret_root->path) - 1);

	ret_root->path[length > 1 ? length : 0] = '\0';
	ret_root->directory = openat(process_directory, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void process_root_close(struct process_root *root)
{
	if (root->directory >= 0)
		close(root->directory);
	root->directory = -1;
}

const char *process_root_inner(const struct process_root *root, const char *path)
{
	const size_t length = strlen(root->path);

	return strncmp(path, root->path, length) == 0 && path[length] == '/' ? path + length : path;
}

int process_root_open_path(int directory, const char *path, uint64_t resolve)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve};
	long descriptor = -1;

	for (int i = 0; i < OPEN_TRIES; i++) {
		descriptor = syscall(__NR_openat2, directory, path, &how, sizeof(how));
		if (descriptor >= 0 || errno != EAGAIN)
			break;
	}
	return descriptor < 0 ? -errno : (int)descriptor;
}

/*
 * Whether a descriptor is the mapped file. File systems may report their own device numbers in stat(2), while
 * the memory map has the super block's (show_map_vma()). On btrfs and on an overlay of one file system, inode
 * numbers still match. `may_ask` allows statfs(2), which may wait for a server, to recognize these two;
 * without it, the inode alone decides.
 */
static bool is_object(int descriptor, const struct mapped_object *object, bool may_ask)
{
	struct statfs system;
	struct statx status;

	if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) < 0 ||
	    status.stx_ino != object->inode)
		return false;
	if (makedev(status.stx_dev_major, status.stx_dev_minor) == object->device)
		return true;
	return !may_ask || (fstatfs(descriptor, &system) == 0 &&
			    (system.f_type == BTRFS_SUPER_MAGIC || system.f_type == OVERLAYFS_SUPER_MAGIC));
}

static int open_object(int directory, const char *path, const struct mapped_object *object, uint64_t resolve)
{
	const int found = process_root_open_path(directory, path, resolve);

	if (found < 0 || is_object(found, object, (resolve & PROCESS_ROOT_CACHED) == 0))
		return found;
	close(found);
	return -ESTALE;
}

int process_root_open_object(const struct process_root *root, const struct mapped_object *object,
			     uint64_t resolve)
{
	int found = -EACCES, outside;

	resolve |= RESOLVE_NO_MAGICLINKS;
	if (root->directory >= 0)
		found = open_object(root->directory, process_root_inner(root, object->path), object,
				    resolve | RESOLVE_IN_ROOT);
	if (found >= 0)
		return found;
	outside = open_object(AT_FDCWD, object->path, object, resolve);
	return outside >= 0 ? outside : found;
}
