/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_DAY_IMAGE_H
#define CTOP_TEST_DAY_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of a day's file, read and changed according to ctop-history(5), without code of the program. A
 * failure ends the process: tests and the fuzz target ask only for frames that exist.
 */

enum day_image_kind {
	IMAGE_ROUND = 1,
	IMAGE_INTERVAL,
	IMAGE_MARK,
	IMAGE_FACTS,
	IMAGE_INDEX,
};

enum {
	IMAGE_HEADER = 16,

	/* offsets from the beginning of a frame */
	IMAGE_KIND_AT = 3,   /* 1 byte */
	IMAGE_LENGTH_AT = 4, /* 4 bytes */
	IMAGE_OFFSET_AT = 8, /* 8 bytes */
	IMAGE_TIME_AT = 16,  /* 8 bytes */
	IMAGE_CHECKSUM_AT = 24,
	IMAGE_PAYLOAD_AT = 28,

	/* offsets from the beginning of an index's frame */
	INDEX_PREVIOUS_AT = IMAGE_PAYLOAD_AT,
	INDEX_FROM_AT = IMAGE_PAYLOAD_AT + 8,
	INDEX_ROUNDS_AT = IMAGE_PAYLOAD_AT + 16,
	INDEX_MARKS_AT = IMAGE_PAYLOAD_AT + 20,
	INDEX_HEAD = 24,
};

/* Numbers of a round in the order of an index. The record in the round's own frame begins with
 * ROUND_BOOTTIME. */
enum round_number {
	ROUND_OFFSET,
	ROUND_TIME,
	ROUND_LENGTH,
	ROUND_BOOTTIME,
	ROUND_SPAN,
	ROUND_JUMP,
	ROUND_SUSPENDED,
	ROUND_SLEPT,
	ROUND_AGAINST,  /* bytes back to the round it is encoded against; 0: whole */
	ROUND_INTERVAL, /* bytes back to its interval; 0: none */
	ROUND_FACTS,
	ROUND_THREADS,
	ROUND_LOAD,
	ROUND_PRESSURE, /* three numbers: CPU, memory, I/O */
	ROUND_FLAGS = ROUND_PRESSURE + 3,
	ROUND_NUMBERS,

	ROUND_BYTES = 10 * ROUND_NUMBERS, /* most bytes that all numbers of a round take */
};

struct day_image {
	uint8_t *bytes;
	size_t size, capacity;
	size_t *frames; /* offsets */
	size_t count, frame_capacity;
};

struct day_image day_image_read(const char *path);
void day_image_write(const struct day_image *image, const char *path);
void day_image_release(struct day_image *image);

/* Returns the offset of frame `number` of a kind. Numbers begin at 0; -1 is the last frame, -2 the one
 * before. */
size_t day_image_frame(const struct day_image *image, enum day_image_kind kind, int number);
size_t day_image_count(const struct day_image *image, enum day_image_kind kind);

/* The length of a frame with its header, bytes. */
size_t day_image_length(const struct day_image *image, size_t frame);

/* Reads or writes a little-endian number of `bytes` bytes. */
uint64_t day_image_get(const struct day_image *image, size_t at, size_t bytes);
void day_image_put(struct day_image *image, size_t at, size_t bytes, uint64_t number);

/* Corrects the checksum of a frame. Does nothing if the frame would reach past the end of the image. */
void day_image_seal(struct day_image *image, size_t frame);

/* Changes a byte in the middle of the payload of a frame. */
void day_image_damage(struct day_image *image, size_t frame);

/* Appends a whole frame and returns its offset. The payload must not lie in the image. */
size_t day_image_add(struct day_image *image, enum day_image_kind kind, uint64_t unix_ns, const void *payload,
		     size_t length);

/* Reads the numbers of a round from its frame. Returns the length of the record, bytes. */
size_t day_image_round(const struct day_image *image, size_t frame, uint64_t numbers[static ROUND_NUMBERS]);

/*
 * Encodes the numbers of a round from `first` on as differences from `before`. Returns the length, at most
 * ROUND_BYTES.
 */
size_t day_image_encode(uint8_t *bytes, enum round_number first, const uint64_t numbers[static ROUND_NUMBERS],
			const uint64_t before[static ROUND_NUMBERS]);

/* Changes a number in the record of a round. The new record must be as long as the old one. */
void day_image_put_round(struct day_image *image, size_t frame, enum round_number number, uint64_t value);

#endif
