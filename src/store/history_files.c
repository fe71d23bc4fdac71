/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"

enum {
	LOCKS_SIZE_MAX = 1 << 20, /* bytes of /proc/locks */
};

static const char file_suffix[] = ".ctlog", former_suffix[] = ".rounds";

static const char lock_name[] = "writer.lock";
static const char *const log_suffixes[] = {"-wal", "-shm", "-journal"}; /* SQLite logs of former files */

uint32_t history_files_day(uint64_t unix_ns, unsigned int part)
{
	return (2 * (uint32_t)(unix_ns / HISTORY_FILES_DAY_NS) + 1) * HISTORY_FILES_PARTS + part;
}

uint64_t history_files_begin(uint32_t day)
{
	return day / (2 * HISTORY_FILES_PARTS) * HISTORY_FILES_DAY_NS;
}

uint64_t history_files_end(uint32_t day)
{
	return history_files_begin(day) + HISTORY_FILES_DAY_NS;
}

const char *history_files_name(uint32_t day, char name[static HISTORY_FILES_NAME])
{
	const time_t seconds = (time_t)(history_files_begin(day) / NS_PER_S);
	const unsigned int part = history_files_part(day);
	struct tm date;
	size_t length;

	gmtime_r(&seconds, &date);
	length = strftime(name, HISTORY_FILES_NAME, "%Y-%m-%d", &date);
	if (part > 1)
		length += (size_t)snprintf(name + length, HISTORY_FILES_NAME - length, "-%u", part);
	snprintf(name + length, HISTORY_FILES_NAME - length, "%s",
		 history_files_is_former(day) ? former_suffix : file_suffix);
	return name;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The number of a name; false for other names. */
static bool parse_name(const char *name, uint32_t *ret_day)
{
	char again[HISTORY_FILES_NAME];
	struct tm date = {0};
	unsigned int part = 1;
	const char *rest = strptime(name, "%Y-%m-%d", &date);
	time_t seconds;

	if (rest == NULL)
		return false;
	if (*rest == '-')
		part = (unsigned int)strtoul(rest + 1, NULL, 10);
	seconds = timegm(&date);
	if (seconds < 0 || part == 0 || part >= HISTORY_FILES_PARTS)
		return false;
	*ret_day = history_files_day((uint64_t)seconds * NS_PER_S, part);
	if (ends_with(name, former_suffix))
		*ret_day -= HISTORY_FILES_PARTS;
	/* only one spelling is valid */
	return strcmp(history_files_name(*ret_day, again), name) == 0;
}

char *history_files_path(const char *directory, const char *name)
{
	return memory_format("%s/%s", directory, name);
}

bool history_files_is_snapshot(const char *name)
{
	static const char suffix[] = ".ctprof.zst";

	return strlen(name) >= sizeof(suffix) && strchr(name, '/') == NULL && ends_with(name, suffix);
}

/* Finds the day's file to which a name belongs: as the file itself, or as a log of the former format. Returns
 * false for other names. */
static bool belongs_to_day(const char *name, uint32_t *ret_day, bool *ret_is_log)
{
	char text[HISTORY_FILES_NAME + 16];

	*ret_is_log = false;
	if (strlen(name) >= sizeof(text))
		return false;
	strcpy(text, name);
	for (size_t i = 0; i < ARRAY_COUNT(log_suffixes); i++) {
		if (ends_with(text, log_suffixes[i])) {
			text[strlen(text) - strlen(log_suffixes[i])] = '\0';
			*ret_is_log = true;
			break;
		}
	}
	return parse_name(text, ret_day) && (!*ret_is_log || history_files_is_former(*ret_day));
}

/* --- what others may have put there --- */

static bool is_others(const struct stat *status)
{
	return (status->st_uid != 0 && status->st_uid != geteuid()) ||
	       (status->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

bool history_files_is_shared(const char *directory)
{
	struct stat status;

	return stat(directory, &status) < 0 || is_others(&status);
}

/* Why a file cannot be used, as the end of a sentence; NULL: it can. */
static const char *find_fault(const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		return NULL;
	if (!S_ISREG(status.st_mode))
		return "it is no regular file";
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return "it belongs to another user";
	if (is_others(&status))
		return "others may write to it";
	if (access(path, R_OK | W_OK) < 0 && errno == EACCES)
		return "this user may not write to it";
	return NULL;
}

int history_files_check(const char *directory, uint32_t day, struct error *error)
{
	char name[HISTORY_FILES_NAME];
	char *path = history_files_path(directory, history_files_name(day, name));
	const char *fault = find_fault(path);
	int result = 0;

	if (fault != NULL)
		result = error_set(error, -EMEDIUMTYPE, "%s: %s", path, fault);
	free(path);
	return result;
}

/* --- the list --- */

static int note_file(struct history_files *files, int directory, const char *name)
{
	struct stat status;
	uint32_t day = 0;
	bool is_log;
	const bool of_day = belongs_to_day(name, &day, &is_log);

	if (!of_day && !history_files_is_snapshot(name))
		return 0;
	/* it may be removed at the moment */
	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(status.st_mode)) {
		if (of_day && !is_log)
			*MEMORY_APPEND(files->items, files->count, files->capacity) = (struct history_file){
				.day = day, .irregular = true};
		return 0;
	}
	files->bytes += (uint64_t)status.st_blocks * 512;
	files->snapshot_bytes += of_day ? 0 : (uint64_t)status.st_blocks * 512;
	files->any = true;
	if (of_day)
		*MEMORY_APPEND(files->items, files->count, files->capacity) = (struct history_file){
			.day = day, .bytes = (uint64_t)status.st_size};
	return 0;
}

bool history_files_include(const char *directory, dev_t device, ino_t inode)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;
	bool found = false;

	while (listing != NULL && !found && (entry = readdir(listing)) != NULL) {
		struct stat status;
		uint32_t day;
		bool is_log;

		found = (belongs_to_day(entry->d_name, &day, &is_log) ||
			 history_files_is_snapshot(entry->d_name)) &&
			fstatat(dirfd(listing), entry->d_name, &status, 0) == 0 && status.st_dev == device &&
			status.st_ino == inode;
	}
	if (listing != NULL)
		closedir(listing);
	return found;
}

int history_files_list(const char *directory, struct history_files *ret_files, struct error *error)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;
	size_t kept = 0;
	int result = listing == NULL ? -errno : 0;

	*ret_files = (struct history_files){0};
	while (result == 0) {
		errno = 0;
		entry = readdir(listing);
		if (entry == NULL) {
			result = -errno;
			break;
		}
		result = note_file(ret_files, dirfd(listing), entry->d_name);
	}
	if (listing != NULL)
		closedir(listing);
	if (result < 0)
		return error_set(error, result, "%s: %s%s", directory, strerror(-result),
				 result == -EACCES ? "; run as its owner or as root" : "");
	if (ret_files->count != 0)
		qsort(ret_files->items, ret_files->count, sizeof(*ret_files->items), order_by_u32);
	/* the logs of a file are part of it */
	for (size_t i = 0; i < ret_files->count; i++) {
		if (kept != 0 && ret_files->items[kept - 1].day == ret_files->items[i].day) {
			ret_files->items[kept - 1].bytes += ret_files->items[i].bytes;
			ret_files->items[kept - 1].irregular |= ret_files->items[i].irregular;
		} else {
			ret_files->items[kept++] = ret_files->items[i];
		}
	}
	ret_files->count = kept;
	return 0;
}

void history_files_release(struct history_files *files)
{
	free(files->items);
	*files = (struct history_files){0};
}

bool history_files_has_days(const char *directory)
{
	struct history_files files;
	const bool has_days = history_files_list(directory, &files, NULL) == 0 && files.count != 0;

	history_files_release(&files);
	return has_days;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* alphasort(3) sorts by the locale. */
static int compare_names(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

bool history_hosts_list(const char *directory, struct history_hosts *ret_hosts)
{
	bool has_history = false;
	int count = -1;

	*ret_hosts = (struct history_hosts){0};
	if (!history_files_has_days(directory))
		count = scandir(directory, &ret_hosts->entries, is_visible, compare_names);
	ret_hosts->count = count > 0 ? (size_t)count : 0;
	for (size_t i = 0; i < ret_hosts->count && !has_history; i++) {
		char *path = history_files_path(directory, ret_hosts->entries[i]->d_name);

		has_history = history_files_has_days(path);
		free(path);
	}
	return has_history;
}

void history_hosts_release(struct history_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		free(hosts->entries[i]);
	free(hosts->entries);
	*hosts = (struct history_hosts){0};
}

/* --- the writer --- */

/*
 * The process that holds a lock of flock(2) on a file, as this process numbers it: /proc/locks
 * (proc_locks(5)). 0 where that does not tell: the holder is on another host or in another PID namespace.
 * By stat(2) a file of btrfs has the device of its subvolume, there that of the file system: `claimed` needs
 * no more than the inode.
 */
static long long find_holder(int descriptor, long long claimed)
{
	struct buffer locks = {0};
	long long holder = 0, pid;
	unsigned int major_number, minor_number;
	unsigned long inode;
	struct stat status;

	if (fstat(descriptor, &status) == 0 &&
	    file_read(AT_FDCWD, "/proc/locks", &locks, LOCKS_SIZE_MAX) == 0 && locks.length != 0) {
		for (const char *line = locks.data; line != NULL && holder == 0;
		     line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
			if (sscanf(line, "%*d: FLOCK %*s WRITE %lld %x:%x:%lu", &pid, &major_number,
				   &minor_number, &inode) == 4 &&
			    inode == status.st_ino &&
			    (pid == claimed || makedev(major_number, minor_number) == status.st_dev))
				holder = pid;
		}
	}
	buffer_release(&locks);
	return holder;
}

/*
 * Says who holds the lock. Its holder wrote that into the file, but what stands there may be of a recorder
 * that was killed, or a number of another PID namespace: a process is named only if the kernel says the same.
 */
static int refuse(int descriptor, const char *directory, struct error *error)
{
	struct buffer text = {0};
	char host[256] = "?", since[HUMANIZE_TIME_SIZE] = "an unknown time";
	long long pid = 0, seconds = 0, holder;

	if (file_read_descriptor(descriptor, &text, 4096) == 0 && text.length != 0 &&
	    sscanf(text.data, "%lld %255s %lld", &pid, host, &seconds) == 3 && seconds >= 0)
		humanize_time(since, number_multiply_saturating((uint64_t)seconds, NS_PER_S), true);
	buffer_release(&text);
	holder = find_holder(descriptor, pid);
	if (holder != 0 && holder == pid)
		return error_set(
			error, -EBUSY,
			"%s: process %lld on %s records there since %s; end it, or record into another "
			"directory with --history",
			directory, pid, host, since);
	if (holder != 0)
		return error_set(
			error, -EBUSY,
			"%s: process %lld, which is no recorder, holds the lock of %s; record into another "
			"directory with --history",
			directory, holder, lock_name);
	return error_set(
		error, -EBUSY,
		"%s: another ctop records there, in another container or on another host; a history has one "
		"recorder: record into another directory with --history",
		directory);
}

int history_files_lock(const char *directory, int *ret_descriptor, struct error *error)
{
	char *path = history_files_path(directory, lock_name);
	const int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	char host[256] = "";
	struct stat status;
	int result = 0;

	if (descriptor < 0) {
		result = -errno;
		if (result == -ELOOP && stat(directory, &status) < 0)
			error_set(error, result, "%s: %s; name another directory with --history", directory,
				  strerror(-result));
		else
			error_set(error, result, "%s: %s%s", path, strerror(-result),
				  result == -EACCES  ? "; run as the owner of the history or as root"
				  : result == -ELOOP ? "; remove it"
						     : "");
	} else if (fstat(descriptor, &status) < 0 || !S_ISREG(status.st_mode)) {
		result = error_set(error, -EMEDIUMTYPE, "%s is no regular file; remove it", path);
		close(descriptor);
	} else if (flock(descriptor, LOCK_EX | LOCK_NB) < 0) {
		result = errno == EWOULDBLOCK ? refuse(descriptor, directory, error)
					      : error_set(error, -errno, "%s: %s", path, strerror(errno));
		close(descriptor);
	}
	free(path);
	if (result < 0)
		return result;
	gethostname(host, sizeof(host) - 1);
	/* for whoever is refused; where the disk is full they hear less */
	if (ftruncate(descriptor, 0) == 0)
		dprintf(descriptor, "%lld %s %lld\n", (long long)getpid(), host[0] != '\0' ? host : "?",
			(long long)time(NULL));
	*ret_descriptor = descriptor;
	return 0;
}

void history_files_unlock(int descriptor)
{
	/* it is not removed: somebody may be waiting for it already */
	if (ftruncate(descriptor, 0) < 0)
		errno = 0;
	close(descriptor);
}

bool history_files_is_locked(const char *directory, int descriptor)
{
	char *path = history_files_path(directory, lock_name);
	struct stat held, found;
	const bool is_found = lstat(path, &found) == 0;

	free(path);
	return is_found && fstat(descriptor, &held) == 0 && held.st_dev == found.st_dev &&
	       held.st_ino == found.st_ino;
}

int history_files_remove(const char *directory, uint32_t day)
{
	char name[HISTORY_FILES_NAME];
	char *path = history_files_path(directory, history_files_name(day, name));
	const int result = unlink(path) < 0 && errno != ENOENT ? -errno : 0;

	for (size_t i = 0; result == 0 && i < ARRAY_COUNT(log_suffixes); i++) {
		char *log = memory_format("%s%s", path, log_suffixes[i]);

		unlink(log);
		free(log);
	}
	free(path);
	return result;
}
