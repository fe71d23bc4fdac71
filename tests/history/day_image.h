/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_DAY_IMAGE_H
#define CTOP_TEST_DAY_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of a day's file, read and changed by what ctop-history(5) says of them and by nothing of the
 * program. What cannot be done ends the process: tests and the fuzz target ask only for what is there.
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

	/* from the beginning of a frame */
	IMAGE_KIND_AT = 3,   /* 1 byte */
	IMAGE_LENGTH_AT = 4, /* 4 bytes */
	IMAGE_OFFSET_AT = 8, /* 8 bytes */
	IMAGE_TIME_AT = 16,  /* 8 bytes */
	IMAGE_CHECKSUM_AT = 24,
	IMAGE_PAYLOAD_AT = 28,

	/* from the beginning of the frame of an index */
	INDEX_PREVIOUS_AT = IMAGE_PAYLOAD_AT,
	INDEX_FROM_AT = IMAGE_PAYLOAD_AT + 8,
	INDEX_ROUNDS_AT = IMAGE_PAYLOAD_AT + 16,
	INDEX_MARKS_AT = IMAGE_PAYLOAD_AT + 20,
	INDEX_HEAD = 24,
};

/* Numbers of a round in the order of an index; its record has those from ROUND_BOOTTIME on. */
enum round_number {
	ROUND_OFFSET,
	ROUND_TIME,
	ROUND_LENGTH,
	ROUND_BOOTTIME,
	ROUND_SPAN,
	ROUND_JUMP,
	ROUND_SUSPENDED,
	ROUND_SLEPT,
	ROUND_AGAINST,  /* distance */
	ROUND_INTERVAL, /* distance */
	ROUND_FACTS,
	ROUND_THREADS,
	ROUND_LOAD,
	ROUND_PRESSURE, /* three */
	ROUND_FLAGS = ROUND_PRESSURE + 3,
	ROUND_NUMBERS,

	ROUND_BYTES = 10 * ROUND_NUMBERS, /* the most that they take */
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

/* The offset of a frame of a kind, counted from 0, or from the end: -1 is the last one. */
size_t day_image_frame(const struct day_image *image, enum day_image_kind kind, int number);
size_t day_image_count(const struct day_image *image, enum day_image_kind kind);

/* The length of a whole frame. */
size_t day_image_length(const struct day_image *image, size_t frame);

/* A number of so many bytes. */
uint64_t day_image_get(const struct day_image *image, size_t at, size_t bytes);
void day_image_put(struct day_image *image, size_t at, size_t bytes, uint64_t number);

/* Gives a frame the checksum that belongs to it. Nothing where its length is not that of a frame. */
void day_image_seal(struct day_image *image, size_t frame);

/* Changes a byte in the middle of the payload of a frame. */
void day_image_damage(struct day_image *image, size_t frame);

/* Appends a whole frame and returns its offset. The payload must not lie in the image. */
size_t day_image_add(struct day_image *image, enum day_image_kind kind, uint64_t unix_ns, const void *payload,
		     size_t length);

/* Reads the numbers of a round from its frame. Returns the length of the record, bytes. */
size_t day_image_round(const struct day_image *image, size_t frame, uint64_t numbers[static ROUND_NUMBERS]);

/*
 * Encodes the numbers of a round from `first` on as differences from those of another one. Returns the
 * length, at most ROUND_BYTES.
 */
size_t day_image_encode(uint8_t *bytes, enum round_number first, const uint64_t numbers[static ROUND_NUMBERS],
			const uint64_t before[static ROUND_NUMBERS]);

/* Puts another number into the record of a round; both must take the same bytes. */
void day_image_put_round(struct day_image *image, size_t frame, enum round_number number, uint64_t value);

#endif
