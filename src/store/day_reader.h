/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DAY_READER_H
#define CTOP_DAY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "day_frame.h"
#include "day_record.h"
#include "history.h"

/*
 * Reads the file of a day. A reader trusts nothing in the file, takes no lock and needs no write permission.
 * It finds most rounds in indexes, and reads frames that no index lists one by one. Bytes without a valid
 * frame are a hole if a valid frame follows them. Otherwise they are the end of the file, where a recorder
 * may be writing.
 */

/* A damaged part of the file. */
struct day_hole {
	uint64_t from, to; /* offsets of the hole's first byte and of the byte after the hole */
};

/* A zeroed struct is not open. */
struct day_reader {
	char *path;
	uint32_t day;
	struct day_source source;
	struct timespec changed;  /* modification time of the file at the last reading */
	struct day_round *rounds; /* ids and times ascend */
	size_t round_count, round_capacity;
	uint64_t *marks; /* offsets of the frames of marks, ascending */
	size_t mark_count, mark_capacity;
	/* Holes found since the caller set hole_count to 0. If there are more than DAY_HOLES_MAX, the last
	 * one covers all further ones. */
	struct day_hole *holes;
	size_t hole_count, hole_capacity;
	/* Offset just past the last round, mark or index that holds; 0: the header is incomplete. */
	uint64_t end;
	uint64_t index;     /* offset of the last index frame; 0: none */
	uint64_t index_end; /* offset just past the last index; past the header without one */
	size_t indexed_rounds, indexed_marks; /* rounds and marks that indexes list */
	struct buffer state, interval, frame;
};

enum {
	DAY_HOLES_MAX = 1024,
};

/*
 * Opens the file of a day in a directory and finds its rounds and marks. `access` is O_RDONLY, or O_RDWR for
 * a recorder. A file that is empty or ends inside its header has no rounds. Returns 0 or a negative errno
 * with a sentence: -ENOENT, -EACCES; -EMEDIUMTYPE the file is not a regular file or not part of a history;
 * -EPROTONOSUPPORT its format is newer; -ETIMEDOUT reading takes far longer than the size explains. After an
 * error the reader is not open.
 */
int day_reader_open(struct day_reader *reader, const char *directory, uint32_t day, int access,
		    struct error *error);
void day_reader_close(struct day_reader *reader);

static inline bool day_reader_is_open(const struct day_reader *reader)
{
	return reader->path != NULL;
}

/*
 * Finds the rounds and marks appended since the last call. Returns 0 or a negative errno with a sentence:
 * -ESTALE the file was removed or truncated and must be opened again; others as for day_reader_open().
 */
int day_reader_follow(struct day_reader *reader, struct error *error);

/* Returns the index of the first round whose id, or time (ns since 1970), is not below the argument;
 * `round_count` without such a round. */
size_t day_reader_at(const struct day_reader *reader, uint64_t id);
size_t day_reader_since(const struct day_reader *reader, uint64_t unix_ns);

/* Returns the round with this id, owned by the reader until its next call, or NULL. */
const struct day_round *day_reader_find(const struct day_reader *reader, uint64_t id);

/*
 * Reads the recording of a round, or its interval. The reader owns the bytes, which are valid until the next
 * call of the same function. `*ret_length` is 0 for a round without an interval. Returns 0 or a negative
 * errno with a sentence: -EBADMSG the bytes are damaged, or the round's record in an index is a different
 * one.
 */
int day_reader_state(struct day_reader *reader, const struct day_round *round, const void **ret_state,
		     size_t *ret_length, struct error *error);
int day_reader_interval(struct day_reader *reader, const struct day_round *round, const void **ret_interval,
			size_t *ret_length, struct error *error);

/* Reads the facts of a round's boot into texts owned by `arena`. Errors as for day_reader_state(). */
int day_reader_boot(struct day_reader *reader, const struct day_round *round, struct arena *arena,
		    struct history_boot *ret_boot, struct error *error);

/*
 * Appends the marks between two times (ns since 1970, both included) to `marks`, in the order of recording.
 * An unreadable mark becomes a hole. If reading takes too long, the remaining marks are left out.
 */
void day_reader_marks(struct day_reader *reader, uint64_t from_unix_ns, uint64_t to_unix_ns,
		      struct history_marks *marks);

#endif
