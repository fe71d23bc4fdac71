/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DAY_FRAME_H
#define CTOP_DAY_FRAME_H

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/*
 * The file of a day (ctop-history(5)): a header of DAY_HEADER_BYTES, then one frame after another. The
 * recorder appends whole frames and never changes them. A frame's header has the frame's own offset and a
 * checksum, so that a reader can find the next frame after damage and reject a copy of a frame at another
 * offset.
 */

enum {
	DAY_VERSION = 1,
	DAY_HEADER_BYTES = 16,
	DAY_HEADER_VERSION_AT = 8, /* offset of the version, after the magic bytes */
	DAY_FRAME_HEADER_BYTES = 28,
	/* Longest payload, bytes. A whole round of a million threads needs a quarter of it. */
	DAY_FRAME_PAYLOAD_MAX = 128 << 20,
};

/* These numbers are part of the format. Readers skip unknown kinds. */
enum day_frame_kind {
	DAY_FRAME_ROUND = 1,
	DAY_FRAME_INTERVAL = 2,
	DAY_FRAME_MARK = 3,
	DAY_FRAME_FACTS = 4,
	DAY_FRAME_INDEX = 5,
};

struct day_frame {
	uint8_t kind;    /* enum day_frame_kind, or the kind of a newer version */
	uint64_t offset; /* the header's offset in the file */
	uint64_t length; /* payload length, bytes */
	uint64_t unix_ns;
};

/* The offset just past a frame. */
static inline uint64_t day_frame_end(const struct day_frame *frame)
{
	return frame->offset + DAY_FRAME_HEADER_BYTES + frame->length;
}

/* --- errors --- */

/* Sets a sentence, with a remedy, for a call that failed on the file `path`. Returns `negative_errno`. */
int day_error(const char *path, int negative_errno, struct error *error);

/* Whether a negative errno means that the file is unusable and the recorder must begin another file. */
static inline bool day_is_unusable(int result)
{
	return result == -EBADMSG || result == -EMEDIUMTYPE || result == -EPROTONOSUPPORT ||
	       result == -ETIMEDOUT;
}

/* --- writing --- */

/* Encodes and decodes little-endian numbers of up to 8 bytes, at any address. */
static inline uint64_t day_get(const void *bytes, size_t size)
{
	uint64_t number = 0;

	memcpy(&number, bytes, size);
	return le64toh(number);
}

static inline void day_put(void *bytes, size_t size, uint64_t number)
{
	number = htole64(number);
	memcpy(bytes, &number, size);
}

/* Makes the header of a file of version DAY_VERSION. */
void day_header_make(uint8_t header[static DAY_HEADER_BYTES]);

/* Writes a frame's header to `bytes`. Its payload of frame->length bytes must already follow there. */
void day_frame_seal(const struct day_frame *frame, uint8_t *bytes);

/* --- reading --- */

/*
 * A file and the budget for reading it. The file is read with pread(2), not mapped: truncating it cannot
 * crash a reader. The budget guards against hostile files, in which every byte could begin a long frame with
 * a wrong checksum.
 */
struct day_source {
	int descriptor;
	uint64_t size;        /* every frame ends at this offset or earlier */
	uint64_t bytes_left;  /* bytes that may still be read */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
};

/* Sets a budget that is enough to read `bytes` bytes several times. */
void day_source_allow(struct day_source *source, uint64_t bytes);

/*
 * Reads up to `length` bytes at an offset. Returns the number of bytes, fewer only at the end of the file, or
 * a negative errno: -ETIMEDOUT if the budget is used up.
 */
ssize_t day_source_read(struct day_source *source, void *bytes, size_t length, uint64_t offset);

/*
 * Reads a frame's header into `header` and `*ret_frame`, without verifying the checksum. Returns 1 if a frame
 * may begin at `offset` and would end within the file, 0 if not, or a negative errno.
 */
int day_frame_peek(struct day_source *source, uint64_t offset, uint8_t header[static DAY_FRAME_HEADER_BYTES],
		   struct day_frame *ret_frame);

/*
 * Reads a frame and verifies its checksum. Puts the first `keep` bytes of the frame's payload into `payload`,
 * in place of its content. Returns 1 if the frame holds (ctop-history(5)), 0 if not, or a negative errno.
 */
int day_frame_read(struct day_source *source, uint64_t offset, size_t keep, struct buffer *payload,
		   struct day_frame *ret_frame);

/*
 * Finds the first frame that holds and begins at `from` or later, but before `to`. Searches no farther than
 * the length of the longest frame. Returns 1 if found, 0 if not, or a negative errno.
 */
int day_frame_find(struct day_source *source, uint64_t from, uint64_t to, struct day_frame *ret_frame);

/*
 * Finds the last index frame that ends at `limit` or earlier. Searches as far as day_frame_find(), and checks
 * only the header, like day_frame_peek(). Returns 1 if found, 0 if not, or a negative errno.
 */
int day_frame_find_index(struct day_source *source, uint64_t limit, struct day_frame *ret_frame);

#endif
