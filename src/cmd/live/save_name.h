/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SAVE_NAME_H
#define CTOP_SAVE_NAME_H

#include <stdint.h>

#include "base/error.h"
#include "snapshot/snapshot_window.h"

/*
 * Writes a snapshot, with the window that ends with it (NULL: none), into `directory` (NULL: the working
 * directory) under a name made of the host's name and the local time of the capture,
 * `ctop-HOST-20260131-140212.ctprof.zst`. An existing file is never replaced: the next free `-2`, `-3` … is
 * taken. On success `*ret_path` is the path written, owned by the caller, and
 * `*ret_json_bytes` the size of the JSON. Returns 0, or a negative errno with a sentence.
 */
int save_name_write(const struct snapshot *snapshot, const struct snapshot_window *window,
		    const char *directory, char **ret_path, uint64_t *ret_json_bytes, struct error *error);

#endif
