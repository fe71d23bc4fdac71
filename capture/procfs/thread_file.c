/* SPDX-License-Identifier: GPL-2.0-only */
#include "thread_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FIRST_SIZE = 8191, /* more than any file but smaps_rollup takes */
	LARGEST_FILE = 4 << 20,
};

int thread_file_read(int directory, const char *path, struct buffer *buffer)
{
	int descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int result = 0;

	if (descriptor < 0)
		return -errno;
	buffer_clear(buffer);
	buffer_reserve(buffer, FIRST_SIZE);
	for (;;) {
		size_t room = buffer->capacity - buffer->length - 1;
		ssize_t count = read(descriptor, buffer->data + buffer->length, room);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			result = -errno;
		else
			buffer->length += (size_t)count;
		if (count < (ssize_t)room)
			break;
		if (buffer->length > LARGEST_FILE) {
			result = -EFBIG;
			break;
		}
		buffer_reserve(buffer, buffer->length);
	}
	close(descriptor);
	buffer->data[buffer->length] = '\0';
	return result;
}

const char *thread_file_path(char path[static THREAD_PATH_SIZE], uint32_t tid, const char *name)
{
	char digits[10];
	size_t count = 0, length = 0;

	do {
		digits[count++] = (char)('0' + tid % 10);
		tid /= 10;
	} while (tid != 0);
	while (count != 0)
		path[length++] = digits[--count];
	path[length++] = '/';
	while (*name != '\0' && length < THREAD_PATH_SIZE - 1)
		path[length++] = *name++;
	path[length] = '\0';
	return path;
}

/* The reason behind the result of reading a thread's file. */
static enum reason reason_of(int result, int tasks, uint32_t tid, enum source source)
{
	char path[THREAD_PATH_SIZE];
	struct stat status;

	if (result != -ENOENT)
		return reason_of_errno(result);
	/* every living thread has stat */
	if (source != SOURCE_STAT &&
	    fstatat(tasks, thread_file_path(path, tid, sources[SOURCE_STAT].file), &status, 0) == 0)
		return REASON_NOT_IN_KERNEL;
	return REASON_ENDED;
}

enum reason thread_file_read_source(int tasks, uint32_t tid, enum source source, struct buffer *buffer)
{
	char path[THREAD_PATH_SIZE];

	if (tasks < 0)
		return REASON_ENDED;
	return reason_of(thread_file_read(tasks, thread_file_path(path, tid, sources[source].file), buffer),
			 tasks, tid, source);
}

/* A reader_work: answers with the content of the file whose path is the argument. */
static int read_file(int directory, const void *argument, size_t size, struct buffer *answer)
{
	(void)size;
	return thread_file_read(directory, argument, answer);
}

enum reason thread_file_read_locked(struct reader *reader, int tasks, uint32_t tid, enum source source,
				    struct buffer *buffer)
{
	char path[THREAD_PATH_SIZE];
	int result;

	if (tasks < 0)
		return REASON_ENDED;
	thread_file_path(path, tid, sources[source].file);
	result = reader_call(reader, (pid_t)tid, read_file, tasks, path, strlen(path) + 1, buffer);
	return result == -ETIMEDOUT ? REASON_NOT_IN_TIME : reason_of(result, tasks, tid, source);
}
