/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_FILES_H
#define CTOP_HISTORY_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The files of a history by name. A day (UTC) has "2026-11-23.ctlog". If that file is damaged or full, or the
 * clock went back, the day also has "2026-11-23-2.ctlog" and so on. Files of the former format,
 * "2026-11-23.rounds" with its logs, are listed and removed, but never read.
 */

enum {
	HISTORY_FILES_PARTS = 1024, /* of a day: 1 to 1023 */
	HISTORY_FILES_NAME = 32,    /* room for a name */
};

#define HISTORY_FILES_DAY_NS (86400 * NS_PER_S)

/* The number of a file. Numbers ascend by day, then by part; files of the former format come first in their
 * day. */
uint32_t history_files_day(uint64_t unix_ns, unsigned int part);

static inline unsigned int history_files_part(uint32_t day)
{
	return day % HISTORY_FILES_PARTS;
}

static inline bool history_files_is_former(uint32_t day)
{
	return day / HISTORY_FILES_PARTS % 2 == 0;
}

/* Whether two are of one date. */
static inline bool history_files_same_date(uint32_t a, uint32_t b)
{
	return a / (2 * HISTORY_FILES_PARTS) == b / (2 * HISTORY_FILES_PARTS);
}

/* When its day begins and ends, ns since 1970. */
uint64_t history_files_begin(uint32_t day);
uint64_t history_files_end(uint32_t day);

/* Its name; returns `name`. */
const char *history_files_name(uint32_t day, char name[static HISTORY_FILES_NAME]);

/* The path of a name in a directory, owned by the caller. */
char *history_files_path(const char *directory, const char *name);

/* Whether it is the name of a snapshot of a mark in the directory itself. */
bool history_files_is_snapshot(const char *name);

/* Whether another user may put files into a directory, or change those in it. */
bool history_files_is_shared(const char *directory);

/*
 * Checks that the file of a day is safe to write: it is missing, or it is a regular file of root or this
 * user, and this user may write to it, but no other. Returns 0, or -EMEDIUMTYPE with a sentence that says why
 * not.
 */
int history_files_check(const char *directory, uint32_t day, struct error *error);

/* The files of days, ascending, and the size of the whole history. */
struct history_files {
	struct history_file {
		uint32_t day;
		uint64_t bytes; /* including its logs, if any */
		bool irregular; /* not a regular file: never read or removed */
	} * items;              /* owned */
	size_t count, capacity;
	uint64_t bytes;          /* of everything that a recorder writes there */
	uint64_t snapshot_bytes; /* of these, of snapshots: named by a mark or not */
	bool any;                /* it has any of that */
};

/*
 * Lists a directory. Returns 0 or a negative errno with a sentence; end with history_files_release() in any
 * case.
 */
int history_files_list(const char *directory, struct history_files *ret_files, struct error *error);
void history_files_release(struct history_files *files);

/* Whether a directory can be listed and has files of days. */
bool history_files_has_days(const char *directory);

/*
 * A directory of histories, such as one for each of several hosts. A host is called after its history's
 * directory, since two hosts may have the same host name.
 */
struct history_hosts {
	struct dirent *
		*entries; /* owned; everything there except hidden entries, in byte order of the names */
	size_t count;
};

/*
 * Lists the entries of a directory, unless it has files of days itself. Returns whether at least one entry is
 * a history. The caller releases the list in any case.
 */
bool history_hosts_list(const char *directory, struct history_hosts *ret_hosts);
void history_hosts_release(struct history_hosts *hosts);

/* Whether a recorder writes this file, identified by its stat(2) numbers, in a directory. */
bool history_files_include(const char *directory, dev_t device, ino_t inode);

/*
 * Becomes the one writer of a directory, by a lock on "writer.lock" (flock(2)) that ends with the process, in
 * `*ret_descriptor`. -EBUSY: the sentence says who it is; -EMEDIUMTYPE: something else has that name.
 */
int history_files_lock(const char *directory, int *ret_descriptor, struct error *error);
void history_files_unlock(int descriptor);

/* Whether the lock is still that of the directory: its file may have been removed, or moved, with all of it.
 */
bool history_files_is_locked(const char *directory, int descriptor);

/* Removes a file of a day, and its logs if it has the former format. Returns 0 or a negative errno. */
int history_files_remove(const char *directory, uint32_t day);

#endif
