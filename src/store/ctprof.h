/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CTPROF_H
#define CTOP_CTPROF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "snapshot/snapshot_window.h"

/*
 * Limits on JSON bytes: ktstr's, and our default, which is 4 GiB and, past the first 16 MiB,
 * 1,000 bytes for each byte of the file. Real snapshots are far below this ratio.
 */
#define CTPROF_KTSTR_LIMIT   ((uint64_t)256 << 20)
#define CTPROF_DEFAULT_LIMIT ((uint64_t)0)

/*
 * Reads a snapshot from an open descriptor (regular file, pipe or stdin; owned by the caller), streaming.
 * `name` is what error sentences call it. `max_bytes` bounds the JSON. On success `*ret_snapshot` has one
 * reference, owned by the caller; its `format_notes` say what an older generation lacked. Errors: -EBADMSG
 * not zstd, damaged or not a snapshot; -EFBIG over the cap; -EISDIR; -EIO … each with a sentence that names
 * the file, the position in it, and the remedy.
 */
int ctprof_read_descriptor(int descriptor, const char *name, uint64_t max_bytes,
			   struct snapshot **ret_snapshot, struct error *error);

/*
 * The same by path; "-" is stdin. It is opened with the caller's own rights, does not become the controlling
 * terminal, and a FIFO without a writer does not hold up the opening.
 */
int ctprof_read(const char *path, uint64_t max_bytes, struct snapshot **ret_snapshot, struct error *error);

/*
 * Writes a snapshot, and the window that ends with it (NULL: none), to an open descriptor: one zstd frame
 * (level 1, checksum) around one JSON object, exactly by the format plus the `ctop` objects.
 * `*ret_json_bytes` (may be NULL) gets the size of the JSON.
 */
int ctprof_write_descriptor(const struct snapshot *snapshot, const struct snapshot_window *window,
			    int descriptor, uint64_t *ret_json_bytes, struct error *error);

/*
 * Writes to a file atomically (temporary file, fsync, rename, fsync of the directory), mode 0600 when the
 * effective user is root or ctop has file capabilities, else 0666 less the umask. With `replace` false an
 * existing file is left alone and -EEXIST returned.
 */
int ctprof_write(const struct snapshot *snapshot, const struct snapshot_window *window, const char *path,
		 bool replace, uint64_t *ret_json_bytes, struct error *error);

/*
 * Copies the open file `written`, the output of ctprof_write_descriptor(), to `path` as ctprof_write() writes
 * a file. Replaces an existing file.
 */
int ctprof_copy(int written, const char *path, struct error *error);

#endif
