/* SPDX-License-Identifier: GPL-2.0-only */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "memory.h"

int file_read_descriptor(int descriptor, struct buffer *buffer, size_t limit)
{
	buffer_clear(buffer);
	for (;;) {
		ssize_t count;

		buffer_reserve(buffer, 4095);
		count = read(descriptor, buffer->data + buffer->length,
			     buffer->capacity - buffer->length - 1);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (count == 0)
			break;
		buffer->length += (size_t)count;
		if (buffer->length > limit)
			return -EFBIG;
	}
	buffer->data[buffer->length] = '\0';
	return 0;
}

int file_read(int directory, const char *path, struct buffer *buffer, size_t limit)
{
	int descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int result;

	if (descriptor < 0)
		return -errno;
	result = file_read_descriptor(descriptor, buffer, limit);
	close(descriptor);
	return result;
}

DIR *file_open_directory(int directory, const char *path)
{
	int descriptor = openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = descriptor >= 0 ? fdopendir(descriptor) : NULL;

	if (stream == NULL && descriptor >= 0) {
		int number = errno;

		close(descriptor);
		errno = number;
	}
	return stream;
}

int file_write_all(int descriptor, const void *bytes, size_t length)
{
	const char *next = bytes;

	while (length != 0) {
		ssize_t count = write(descriptor, next, length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		next += count;
		length -= (size_t)count;
	}
	return 0;
}

enum {
	LINKS_MAX = 40, /* as the kernel has it (path_resolution(7)) */
	TEMPORARY_NAMES_MAX = 100,
	UNNAMED_PATH_SIZE = 32,
};

/* The target of the link `path`, relative to the directory of `path`; NULL when it is no link. */
static char *read_link(const char *path)
{
	const char *slash = strrchr(path, '/');
	char text[PATH_MAX];
	ssize_t length = readlink(path, text, sizeof(text) - 1);

	if (length < 0)
		return NULL;
	text[length] = '\0';
	if (text[0] == '/' || slash == NULL)
		return memory_duplicate(text);
	return memory_format("%.*s%s", (int)(slash - path) + 1, path, text);
}

/*
 * Whether a link leads to an open file, as /dev/stdout does by /proc/self/fd: then its text may be the name
 * of nothing, "pipe:[1]" or "/tmp/x (deleted)" (proc_pid_fd(5)).
 */
static bool leads_to_open_file(const char *link)
{
	const int descriptor = open(link, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statfs status;
	const bool leads = descriptor >= 0 && fstatfs(descriptor, &status) == 0 &&
			   status.f_type == PROC_SUPER_MAGIC;

	if (descriptor >= 0)
		close(descriptor);
	return leads;
}

static int refuse_irregular(const char *path, mode_t mode, struct error *error)
{
	if (S_ISDIR(mode))
		return error_set(error, -EISDIR, "cannot write %s: it is a directory; name a regular file",
				 path);
	return error_set(error, -EINVAL, "cannot write %s: it is not a regular file; name a regular file",
			 path);
}

int file_follow_links(const char *path, char **ret_target, struct error *error)
{
	char *target = memory_duplicate(path), *next;
	struct stat status;
	int result = 0;

	/* the kernel says whether links may be followed at all; the last one may lead to nothing yet */
	if (stat(path, &status) == 0)
		result = S_ISREG(status.st_mode) ? 0 : refuse_irregular(path, status.st_mode, error);
	else if (errno != ENOENT)
		result = error_set(error, -errno, "cannot write %s: %s", path, strerror(errno));
	for (unsigned int i = 0; result == 0 && i < LINKS_MAX && (next = read_link(target)) != NULL; i++) {
		if (leads_to_open_file(target))
			result = error_set(error, -EINVAL,
					   "cannot write %s: it stands for an open file; name a regular file",
					   path);
		free(target);
		target = next;
	}
	if (result < 0)
		free(target);
	else
		*ret_target = target;
	return result;
}

/* The path from which a file without a name can be linked (open(2), O_TMPFILE). */
static const char *unnamed_path(const struct file_replacement *replacement,
				char path[static UNNAMED_PATH_SIZE])
{
	snprintf(path, UNNAMED_PATH_SIZE, "/proc/self/fd/%d", replacement->descriptor);
	return path;
}

static void release(struct file_replacement *replacement)
{
	if (replacement->descriptor >= 0)
		close(replacement->descriptor);
	if (replacement->directory >= 0)
		close(replacement->directory);
	free(replacement->directory_path);
	free(replacement->name);
	free(replacement->temporary_name);
	*replacement = (struct file_replacement){.descriptor = -1, .directory = -1};
}

/*
 * A file without a name leaves nothing behind however the process ends (open(2), O_TMPFILE). Not every file
 * system has them, and giving it a name needs /proc/self/fd.
 */
static int open_unnamed(struct file_replacement *replacement, mode_t mode)
{
	char link[UNNAMED_PATH_SIZE];

	replacement->descriptor = openat(replacement->directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
	if (replacement->descriptor < 0)
		return -errno;
	if (access(unnamed_path(replacement, link), F_OK) == 0)
		return 0;
	close(replacement->descriptor);
	replacement->descriptor = -1;
	return -ENOENT;
}

/* The next name that the temporary file may have; false when all have been tried. */
static bool next_temporary_name(struct file_replacement *replacement, unsigned int attempt)
{
	free(replacement->temporary_name);
	replacement->temporary_name = memory_format(".%.200s.%ld.%u.tmp", replacement->name, (long)getpid(),
						    attempt);
	return attempt < TEMPORARY_NAMES_MAX;
}

static int open_named(struct file_replacement *replacement, mode_t mode)
{
	for (unsigned int attempt = 0; next_temporary_name(replacement, attempt); attempt++) {
		replacement->descriptor = openat(replacement->directory, replacement->temporary_name,
						 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (replacement->descriptor >= 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int open_directory(struct file_replacement *replacement, const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	struct stat status;

	if (name[0] == '\0')
		return error_set(error, -EISDIR, "cannot write '%s': it names no file; name a regular file",
				 path);
	if (slash == NULL)
		replacement->directory_path = memory_duplicate(".");
	else
		replacement->directory_path = memory_duplicate_bytes(
			path, slash == path ? 1 : (size_t)(slash - path));
	replacement->name = memory_duplicate(name);
	replacement->directory = open(replacement->directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (replacement->directory < 0)
		return error_set(error, -errno, "cannot write %s: directory %s: %s%s", path,
				 replacement->directory_path, strerror(errno),
				 errno == ENOENT ? "; make it or name another file" : "");
	if (fstatat(replacement->directory, name, &status, 0) < 0 || S_ISREG(status.st_mode))
		return 0;
	return refuse_irregular(path, status.st_mode, error);
}

int file_replacement_open(struct file_replacement *replacement, const char *path, mode_t mode, bool replace,
			  struct error *error)
{
	char *target = NULL;
	int result = replace ? file_follow_links(path, &target, error) : 0;

	*replacement = (struct file_replacement){.descriptor = -1, .directory = -1, .replace = replace};
	if (result == 0)
		result = open_directory(replacement, target != NULL ? target : path, error);
	free(target);
	if (result == 0 && open_unnamed(replacement, mode) < 0) {
		result = open_named(replacement, mode);
		if (result < 0)
			error_set(error, result, "cannot create a file in %s: %s",
				  replacement->directory_path, strerror(-result));
	}
	if (result < 0)
		release(replacement);
	return result;
}

int file_replacement_keep_access(struct file_replacement *replacement)
{
	struct stat former, now;
	mode_t mode;
	int result;

	if (fstatat(replacement->directory, replacement->name, &former, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	mode = former.st_mode & 0777;
	/* of another group nobody is to read what that group could */
	if (fchown(replacement->descriptor, former.st_uid, former.st_gid) < 0)
		mode &= (mode_t)~070;
	if (fchmod(replacement->descriptor, mode) == 0)
		return 0;
	result = -errno;
	/* some file systems give all files one mode */
	return fstat(replacement->descriptor, &now) == 0 && (now.st_mode & 0777) == (former.st_mode & 0777)
		       ? 0
		       : result;
}

static int link_unnamed(const struct file_replacement *replacement, const char *name)
{
	char link[UNNAMED_PATH_SIZE];

	return linkat(AT_FDCWD, unnamed_path(replacement, link), replacement->directory, name,
		      AT_SYMLINK_FOLLOW) < 0
		       ? -errno
		       : 0;
}

/* link(2) never replaces: a new file gets its final name at once, one that replaces needs another first. */
static int name_unnamed(struct file_replacement *replacement)
{
	int result = -EEXIST;

	if (!replacement->replace)
		return link_unnamed(replacement, replacement->name);
	for (unsigned int attempt = 0; result == -EEXIST && next_temporary_name(replacement, attempt);
	     attempt++)
		result = link_unnamed(replacement, replacement->temporary_name);
	return result;
}

static int rename_temporary(struct file_replacement *replacement)
{
	int directory = replacement->directory;

	if (renameat2(directory, replacement->temporary_name, directory, replacement->name,
		      replacement->replace ? 0 : RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL || replacement->replace)
		return -errno;
	/* file systems without RENAME_NOREPLACE: link(2) refuses an existing name just as well */
	if (linkat(directory, replacement->temporary_name, directory, replacement->name, 0) < 0)
		return -errno;
	unlinkat(directory, replacement->temporary_name, 0);
	return 0;
}

int file_replacement_commit(struct file_replacement *replacement, struct error *error)
{
	int result = 0;

	if (fsync(replacement->descriptor) < 0 && errno != EINVAL)
		result = -errno;
	if (result == 0 && replacement->temporary_name == NULL)
		result = name_unnamed(replacement);
	/* close() reports delayed write errors on network file systems */
	if (close(replacement->descriptor) < 0 && result == 0)
		result = -errno;
	replacement->descriptor = -1;
	if (result == 0 && replacement->temporary_name != NULL)
		result = rename_temporary(replacement);
	if (result < 0) {
		error_set(error, result, "cannot write %s/%s: %s", replacement->directory_path,
			  replacement->name, strerror(-result));
		if (replacement->temporary_name != NULL)
			unlinkat(replacement->directory, replacement->temporary_name, 0);
	} else if (fsync(replacement->directory) < 0 && errno != EINVAL) {
		result = error_set(error, -errno,
				   "%s/%s is written, but its directory could not be synced: %s",
				   replacement->directory_path, replacement->name, strerror(errno));
	}
	release(replacement);
	return result;
}

void file_replacement_abandon(struct file_replacement *replacement)
{
	if (replacement->temporary_name != NULL && replacement->descriptor >= 0)
		unlinkat(replacement->directory, replacement->temporary_name, 0);
	release(replacement);
}

/* --- descriptors --- */

/* Closes all descriptors from `first` on, as closefrom(3), which glibc has from 2.34 on. Returns 0 or a
 * negative errno. */
static int close_from(int first)
{
	const struct dirent *entry;
	DIR *directory;

	/* glibc names the calls that it knew, the kernel its own */
	if (syscall(__NR_close_range, first, ~0U, 0) == 0)
		return 0;
	/* before Linux 5.9 */
	directory = file_open_directory(AT_FDCWD, "/proc/self/fd");
	if (directory == NULL)
		return -errno;
	while ((entry = readdir(directory)) != NULL) {
		const int number = (int)strtol(entry->d_name, NULL, 10);

		if (number >= first && number != dirfd(directory))
			close(number);
	}
	closedir(directory);
	return 0;
}

int file_keep_descriptors(int *kept, size_t count)
{
	const int first = STDERR_FILENO + 1, end = first + (int)count;

	/* first to numbers above those that they get, so that none is overwritten */
	for (size_t i = 0; i < count; i++) {
		kept[i] = fcntl(kept[i], F_DUPFD_CLOEXEC, end);
		if (kept[i] < 0)
			return -errno;
	}
	for (size_t i = 0; i < count; i++) {
		kept[i] = dup3(kept[i], first + (int)i, O_CLOEXEC);
		if (kept[i] < 0)
			return -errno;
	}
	return close_from(end);
}
