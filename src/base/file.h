/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_H
#define CTOP_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "buffer.h"
#include "error.h"

/*
 * Reads the whole of `path` (relative to `directory`, or AT_FDCWD) into `buffer`, replacing its content. Made
 * for procfs: it reads until a read returns 0, since fstat(2) says that the size is 0 there. A FIFO without a
 * writer reads as empty. Returns 0 or a negative errno (-EFBIG past `limit` bytes).
 */
int file_read(int directory, const char *path, struct buffer *buffer, size_t limit);

/* The same on an open descriptor, from its current offset. */
int file_read_descriptor(int descriptor, struct buffer *buffer, size_t limit);

/* A directory to read, below `directory`, to be ended with closedir(3); NULL with errno set on failure. */
DIR *file_open_directory(int directory, const char *path);

/* Writes all bytes, going on after short writes and EINTR. Returns 0 or a negative errno. */
int file_write_all(int descriptor, const void *bytes, size_t length);

/*
 * The name of what `path` leads to if its last component is a symbolic link, otherwise `path` itself; the
 * target need not exist. `*ret_target` is owned by the caller. Returns 0, or a negative errno with a sentence
 * where the kernel would not follow either: -ELOOP, -EACCES for another user's link in /tmp
 * (protected_symlinks, proc(5)); -EISDIR and -EINVAL for what is no regular file, and for links that stand
 * for an open file, as /dev/stdout.
 */
int file_follow_links(const char *path, char **ret_target, struct error *error);

/*
 * A file that appears complete or not at all: it is written beside its final name and renamed when complete.
 */
struct file_replacement {
	int descriptor; /* to write to; -1 when not open */
	int directory;
	char *directory_path;
	char *name;
	char *temporary_name; /* NULL while it has no name at all */
	bool replace;
};

/*
 * Opens a temporary file with permission bits `mode` (less the umask) in the directory of `path`, without a
 * name where the file system can. With `replace` a file that exists is replaced, at the target of links, as
 * `>` of a shell would write it. Returns 0, or a negative errno with a sentence that names the path. End with
 * file_replacement_commit() or file_replacement_abandon().
 */
int file_replacement_open(struct file_replacement *replacement, const char *path, mode_t mode, bool replace,
			  struct error *error);

/*
 * Gives the new file the permissions of the one it replaces, and its owner where this user may; without one
 * it stays as it is. To be called before anything is written. Returns 0 or a negative errno.
 */
int file_replacement_keep_access(struct file_replacement *replacement);

/*
 * fsync, rename to the final name (refused with -EEXIST when that exists and is not to be replaced;
 * renameat2(2) RENAME_NOREPLACE), fsync of the directory. On failure the temporary file is removed and
 * nothing else was touched. Releases the struct in both cases.
 */
int file_replacement_commit(struct file_replacement *replacement, struct error *error);

/* Removes the temporary file and releases the struct; does nothing on one that is not open. */
void file_replacement_abandon(struct file_replacement *replacement);

/*
 * For a forked process: closes every descriptor except the standard ones and the `count` in `kept`, which
 * become 3, 4 and so on, closed by execve(2), as `kept` then says. Returns 0 or a negative errno.
 */
int file_keep_descriptors(int *kept, size_t count);

#endif
