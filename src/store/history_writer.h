/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_WRITER_H
#define CTOP_HISTORY_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "history.h"
#include "snapshot/snapshot.h"

/*
 * Records rounds into a history. A history has one writer, which belongs to one thread. What a call stored
 * stays there whatever becomes of the process. What it stored is brought to the disk with every 64th round,
 * by a thread of its own: when the whole machine ends, the rounds since then may be lost, and nothing else.
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
 * Becomes the writer of a history. Returns 0 or a negative errno with a sentence: -EBUSY another one records
 * there (it says who, where and since when); -ENOTDIR, -EACCES, -EROFS, -ENOSPC. Times, also those of
 * what is removed, are those of the rounds.
 */
int history_writer_open(const struct history_writer_options *options, struct history_writer **ret_writer,
			struct error *error);

/*
 * Stores a round, a whole snapshot of capture_round(); the writer takes references of its own.
 * Returns 0, or a negative errno with a sentence that says why it could not be stored and what would help:
 * -ENOSPC, -EDQUOT, -EROFS, -EIO ... Then recording pauses: nothing is lost that was stored before,
 * and the next call goes on if it can. The sentence is worth saying once.
 */
int history_writer_add(struct history_writer *writer, struct snapshot *round, struct error *error);

/* Stores a mark; its texts are copied. One that a full disk refuses is kept, and stored with the next round
 * that there is room for. Errors as above. */
int history_writer_mark(struct history_writer *writer, const struct history_mark *mark, struct error *error);

const struct history_writer_state *history_writer_state(const struct history_writer *writer);

/* Returns once what the user should hear, a sentence that lives until the next call of any function; NULL for
 * nothing. */
const char *history_writer_take_notice(struct history_writer *writer);

/* Ends recording: files are left in a state that needs no repair. NULL is
 * allowed. */
void history_writer_close(struct history_writer *writer);

#endif
