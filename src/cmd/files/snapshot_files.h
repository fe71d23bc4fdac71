/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SNAPSHOT_FILES_H
#define CTOP_SNAPSHOT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "snapshot/snapshot.h"

/*
 * Reads one snapshot file, or two at the same time, each of at most `max_bytes` of JSON; one of them may be
 * "-", and a file that is named twice is read once. Notes on stderr list what older generations lack. On
 * success the caller owns a reference to each. Returns 0, or a negative errno with a sentence that names the
 * file.
 */
int snapshot_files_read(const char *const paths[], size_t count, uint64_t max_bytes,
			struct snapshot *ret_snapshots[], struct error *error);

#endif
