/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEXTFILE_H
#define CTOP_TEXTFILE_H

#include <stdbool.h>

#include "base/error.h"
#include "exporter.h"

/*
 * Writes the page of each round to a file for the textfile collector of node_exporter, in a thread of its
 * own, so that a disk that is slow delays nobody: whole or not at all, in the classic format, and under names
 * that do not clash with those of node_exporter itself.
 */
struct textfile;

/*
 * Fails at once where the file could not be written: 0 or a negative errno with a sentence. `path` outlives
 * it; after `rounds` (0: none) nothing more is written.
 */
int textfile_start(struct exporter *exporter, const char *path, uint64_t rounds,
		   struct textfile **ret_textfile, struct error *error);

/*
 * Ends the thread, once exporter_wake() has been called: what is being written is finished, and the newest
 * round is in the file. With `remove` the file goes, since what it says is not so any more. False where the
 * thread hangs, as exporter_stop(); else `*ret_is_failing` is whether the newest round could not be written.
 */
bool textfile_stop(struct textfile *textfile, bool remove, bool *ret_is_failing);

#endif
