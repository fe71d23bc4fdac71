/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SNAPSHOT_FILES_H
#define CTOP_SNAPSHOT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "history_moment.h"

/*
 * Reads a snapshot that the user named: a file, a moment of a history, or "-" for standard input. `nearest`
 * is as for history_moment_read(); `to_compare` reads all that a comparison needs. Returns 0, or a negative
 * errno with a sentence that names the snapshot. May be called from any thread.
 */
int snapshot_file_read(const char *path, uint64_t max_bytes, bool nearest, bool to_compare,
		       struct history_moment *ret_file, struct error *error);

/* Releases all three, which may be NULL. */
void snapshot_file_release(struct history_moment *file);

/* Refuses "-" twice, and times that are none: 0, or -EINVAL with a sentence. So does snapshot_files_read().
 */
int snapshot_files_check(const char *const paths[], size_t count, struct error *error);

/*
 * Refuses an output (NULL or "-": standard output) that would overwrite an input, under any name or link.
 * Inputs are `paths` (files, or moments of a history) for the first function, and the history in `directory`
 * for the second. Returns 0, or -EINVAL with a sentence.
 */
int snapshot_files_check_output(const char *const paths[], size_t count, const char *output,
				struct error *error);
int snapshot_files_check_history(const char *directory, const char *output, struct error *error);

/*
 * Reads snapshot files, several at the same time. Each may hold at most `max_bytes` of JSON. One path may be
 * "-"; a path given twice is read once. Notes go to stderr. The caller releases each moment after a success.
 * Returns 0, or a negative errno with a sentence that names the file.
 */
int snapshot_files_read(const char *const paths[], size_t count, uint64_t max_bytes, bool nearest,
			struct history_moment ret_files[], struct error *error);

/*
 * Waits for the names of a snapshot's users (NULL: of none), at most `patience_ns`: before something is shown
 * that no round corrects later.
 */
void snapshot_files_wait_for_users(const struct snapshot *snapshot, uint64_t patience_ns);

#endif
