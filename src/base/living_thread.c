/* SPDX-License-Identifier: GPL-2.0-only */
#include "living_thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "number.h"
#include "statm.h"

enum {
	PATH_SIZE = 32,
	LONE_LINKS = 3, /* links to a task directory with one thread: proc_task_getattr() of fs/proc/base.c */
};

/* Whether a thread has no memory; false if its statm cannot be read. */
static bool lacks_memory(int directory, const char *path)
{
	struct statm statm;

	return statm_read(directory, path, &statm) == 0 && statm.size == 0;
}

static bool has_memory(int tasks, uint32_t tid)
{
	char path[PATH_SIZE];
	struct statm statm;

	snprintf(path, sizeof(path), "%" PRIu32 "/statm", tid);
	return statm_read(tasks, path, &statm) == 0 && statm.size != 0;
}

/* Returns the first thread with memory, or `tgid`. */
static uint32_t search_threads(int tasks, uint32_t tgid)
{
	struct stat status;
	struct dirent *entry;
	uint32_t found = tgid;
	DIR *directory;

	/* most processes without memory are kernel threads with one thread: skip listing them */
	if (fstat(tasks, &status) == 0 && status.st_nlink == LONE_LINKS)
		return tgid;
	directory = file_open_directory(tasks, ".");
	while (directory != NULL && found == tgid && (entry = readdir(directory)) != NULL) {
		uint32_t tid;

		if (number_parse_u32(entry->d_name, strlen(entry->d_name), &tid) && tid != tgid &&
		    has_memory(tasks, tid))
			found = tid;
	}
	if (directory != NULL)
		closedir(directory);
	return found;
}

uint32_t living_thread_find(int tasks, uint32_t tgid)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%" PRIu32 "/statm", tgid);
	return lacks_memory(tasks, path) ? search_threads(tasks, tgid) : tgid;
}

/* Opens /proc/TID, next to the process directory: /proc/PID/task/TID has no map_files. */
static int open_beside(int process_directory, uint32_t tgid, uint32_t tid)
{
	char path[PATH_SIZE];
	int directory;

	snprintf(path, sizeof(path), "../%" PRIu32, tid);
	directory = openat(process_directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return -errno;
	/* the id may belong to another process by now */
	snprintf(path, sizeof(path), "task/%" PRIu32, tgid);
	if (faccessat(directory, path, F_OK, 0) == 0)
		return directory;
	close(directory);
	return -ESRCH;
}

int living_thread_open(int process_directory, uint32_t tgid, uint32_t *ret_tid)
{
	int directory = -1, tasks;

	*ret_tid = tgid;
	if (lacks_memory(process_directory, "statm") &&
	    (tasks = openat(process_directory, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0) {
		*ret_tid = search_threads(tasks, tgid);
		close(tasks);
	}
	if (*ret_tid != tgid)
		return open_beside(process_directory, tgid, *ret_tid);
	directory = fcntl(process_directory, F_DUPFD_CLOEXEC, 0);
	return directory < 0 ? -errno : directory;
}
