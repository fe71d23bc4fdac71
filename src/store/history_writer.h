/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_WRITER_H
#define CTOP_HISTORY_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "history.h"
#include "snapshot/snapshot.h"

/*
 * Records rounds into a history. A history has one writer, which belongs to one thread. Whatever a call has
 * stored survives the end of the process. A separate thread syncs the file to the disk with every 64th round:
 * if the whole machine fails, only the rounds since the last sync may be lost.
 */
struct history_writer;

struct history_writer_options {
	const char *directory; /* made where it is missing, its parent is not */
	uint64_t keep_ns;      /* days older than that are removed; 0: none */
	uint64_t max_bytes; /* of all that is in the directory and ctop's; the oldest goes first; 0: no limit
			     */
};

/* The state of a recording. */
struct history_writer_state {
	bool paused;            /* the last round was not stored */
	uint64_t rounds;        /* that were stored by this writer */
	uint64_t bytes;         /* of the whole history when last looked at */
	uint64_t written_bytes; /* of the recordings of this writer */
	uint64_t removed_days;  /* files of days that were removed */
	uint64_t damaged_files; /* that were found and left as they are */
	uint64_t whole_rounds;
	char file[32]; /* that is being written, "" for none */
};

/*
 * Becomes the writer of a history. Returns 0 or a negative errno with a sentence: -EBUSY another process
 * records there (the sentence says which, where and since when); -ENOTDIR, -EACCES, -EROFS, -ENOSPC. The
 * age of a file is measured by the times of rounds, not by the clock.
 */
int history_writer_open(const struct history_writer_options *options, struct history_writer **ret_writer,
			struct error *error);

/*
 * Stores a round, a whole snapshot of capture_round(); the writer takes references of its own. Returns 0, or
 * a negative errno with a sentence that says why the round could not be stored and what would help: -ENOSPC,
 * -EDQUOT, -EROFS, -EIO ... After an error recording pauses: rounds stored before are kept, and the next call
 * resumes if it can. While paused, reporting the sentence once is enough.
 */
int history_writer_add(struct history_writer *writer, struct snapshot *round, struct error *error);

/* Stores a mark; its texts are copied. If the disk is full, the mark is kept and stored after the next round
 * that fits. Errors as for history_writer_add(). */
int history_writer_mark(struct history_writer *writer, const struct history_mark *mark, struct error *error);

const struct history_writer_state *history_writer_state(const struct history_writer *writer);

/* Returns once what the user should hear, a sentence that lives until the next call of any function; NULL for
 * nothing. */
const char *history_writer_take_notice(struct history_writer *writer);

/* Ends recording: files are left in a state that needs no repair. NULL is
 * allowed. */
void history_writer_close(struct history_writer *writer);

#endif
