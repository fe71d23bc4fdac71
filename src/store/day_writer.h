/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DAY_WRITER_H
#define CTOP_DAY_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "day_record.h"
#include "history.h"
#include "recording.h"

struct day_reader;

/*
 * Appends to the file of a day. The caller is the directory's only recorder. A call appends all of its frames
 * or, after an error, none. A zeroed struct is not open.
 */
struct day_writer {
	char *path;
	int descriptor;
	uint32_t day;
	uint64_t end;           /* offset of the next frame */
	uint64_t index;         /* offset of the last index frame; 0: none */
	uint64_t listed_to;     /* offset up to which indexes cover the file */
	struct buffer frames;   /* frames that the next write appends */
	struct day_list rounds; /* rounds that the next index will list */
	struct buffer marks;    /* offsets of marks that the next index will list */
	struct buffer facts; /* payload of the last frame of facts; empty: none since the file was opened */
	uint64_t facts_offset;
	bool is_torn;    /* bytes of an unfinished frame follow `end` */
	bool wants_sync; /* an index was written since the caller cleared the flag */
};

enum {
	DAY_INDEX_EVERY = 64, /* rounds */
};

/* Creates the file of a day, with mode 0640 less the umask. Returns 0 or a negative errno with a sentence;
 * -EEXIST if the file exists. */
int day_writer_create(struct day_writer *writer, const char *directory, uint32_t day, struct error *error);

/*
 * Continues the file that `reader` has open with O_RDWR, and cuts a torn frame off its end. The caller may
 * close the reader afterwards. Returns 0 or a negative errno with a sentence: -EBADMSG the file has a hole,
 * or ends with more bytes than a torn frame can have. Such a file is not changed.
 */
int day_writer_continue(struct day_writer *writer, const struct day_reader *reader, struct error *error);

/* Appends a last index, if there is room, and closes the file. */
void day_writer_close(struct day_writer *writer);

static inline bool day_writer_is_open(const struct day_writer *writer)
{
	return writer->path != NULL;
}

/* Appends a round. The caller sets `round`, except its id, length, interval and facts, which the call sets.
 */
int day_writer_add(struct day_writer *writer, struct day_round *round, const struct history_boot *boot,
		   const struct recording *recording, struct error *error);

/* Appends a mark. Texts longer than DAY_MARK_TEXT_MAX are cut. */
int day_writer_mark(struct day_writer *writer, const struct history_mark *mark, struct error *error);

/* Appends an index of the rounds and marks that no index lists yet. Does nothing if all are listed. */
int day_writer_index(struct day_writer *writer, struct error *error);

/* Whether the file was removed, moved or replaced, so that its path no longer leads to it. */
bool day_writer_has_moved(const struct day_writer *writer);

#endif
