/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SNAPSHOT_PAIR_H
#define CTOP_SNAPSHOT_PAIR_H

#include <stdint.h>

#include "base/error.h"
#include "snapshot/snapshot.h"

/*
 * Reads two snapshot files at the same time, each of at most `max_bytes` of JSON; one of them may be "-", and
 * a file that is named twice is read once. Notes on stderr say what older generations lacked. On success both
 * have a reference each, owned by the caller. Returns 0, or a negative errno with a sentence that names the
 * file.
 */
int snapshot_pair_read(const char *const paths[2], uint64_t max_bytes, struct snapshot *ret_snapshots[2],
		       struct error *error);

#endif
