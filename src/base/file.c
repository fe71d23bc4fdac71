/* SPDX-License-Identifier: GPL-2.0-only */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	int descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int result;

	if (descriptor < 0)
		return -errno;
	result = file_read_descriptor(descriptor, buffer, limit);
	close(descriptor);
	return result;
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

int file_replacement_open(struct file_replacement *replacement, const char *path, mode_t mode,
			  struct error *error)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	struct stat status;
	int result;

	*replacement = (struct file_replacement){.descriptor = -1, .directory = -1};
	if (name[0] == '\0')
		return error_set(error, -EISDIR, "%s: a file name is needed, not a directory", path);
	if (slash == NULL)
		replacement->directory_path = memory_duplicate(".");
	else
		replacement->directory_path = memory_duplicate_bytes(
			path, slash == path ? 1 : (size_t)(slash - path));
	replacement->name = memory_duplicate(name);
	replacement->directory = open(replacement->directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (replacement->directory < 0) {
		result = -errno;
		error_set(error, result, "cannot write %s: directory %s: %s", path,
			  replacement->directory_path, strerror(-result));
		release(replacement);
		return result;
	}
	if (fstatat(replacement->directory, name, &status, 0) == 0 && !S_ISREG(status.st_mode)) {
		result = S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
		error_set(error, result, "cannot write %s: it is %s; name a regular file", path,
			  S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
		release(replacement);
		return result;
	}
	for (unsigned int attempt = 0; attempt < 100; attempt++) {
		free(replacement->temporary_name);
		replacement->temporary_name = memory_format(".%.200s.%ld.%u.tmp", name, (long)getpid(),
							    attempt);
		replacement->descriptor = openat(replacement->directory, replacement->temporary_name,
						 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (replacement->descriptor >= 0 || errno != EEXIST)
			break;
	}
	if (replacement->descriptor < 0) {
		result = -errno;
		error_set(error, result, "cannot create a file in %s: %s", replacement->directory_path,
			  strerror(-result));
		release(replacement);
		return result;
	}
	return 0;
}

int file_replacement_commit(struct file_replacement *replacement, bool replace, struct error *error)
{
	int result = 0;

	if (fsync(replacement->descriptor) < 0 && errno != EINVAL)
		result = -errno;
	/* close() reports delayed write errors on network file systems */
	if (close(replacement->descriptor) < 0 && result == 0)
		result = -errno;
	replacement->descriptor = -1;
	if (result == 0 &&
	    renameat2(replacement->directory, replacement->temporary_name, replacement->directory,
		      replacement->name, replace ? 0 : RENAME_NOREPLACE) < 0)
		result = -errno;
	if (result == -EINVAL && !replace) {
		/* file systems without RENAME_NOREPLACE: link(2) refuses an existing name just as well */
		result = linkat(replacement->directory, replacement->temporary_name, replacement->directory,
				replacement->name, 0) < 0
				 ? -errno
				 : 0;
		if (result == 0)
			unlinkat(replacement->directory, replacement->temporary_name, 0);
	}
	if (result < 0) {
		error_set(error, result, "cannot write %s/%s: %s", replacement->directory_path,
			  replacement->name, strerror(-result));
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
