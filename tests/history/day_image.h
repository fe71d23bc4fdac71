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
	IMAGE_KIND_AT = 4,
	IMAGE_LENGTH_AT = 8,
	IMAGE_OFFSET_AT = 16,
	IMAGE_TIME_AT = 24,
	IMAGE_CHECKSUM_AT = 32,
	IMAGE_PAYLOAD_AT = 36,

	/* from the beginning of the record of a round */
	RECORD_BOOTTIME_AT = 0,
	RECORD_SPAN_AT = 8,
	RECORD_JUMP_AT = 16,
	RECORD_SLEPT_AT = 32,
	RECORD_AGAINST_AT = 40,
	RECORD_INTERVAL_AT = 48,
	RECORD_FACTS_AT = 56,
	RECORD_THREADS_AT = 64,
	RECORD_BYTES = 80,

	/* from the beginning of an index */
	INDEX_PREVIOUS_AT = IMAGE_PAYLOAD_AT,
	INDEX_FROM_AT = IMAGE_PAYLOAD_AT + 8,
	INDEX_ROUNDS_AT = IMAGE_PAYLOAD_AT + 16,
	INDEX_MARKS_AT = IMAGE_PAYLOAD_AT + 20,
	INDEX_ENTRIES_AT = IMAGE_PAYLOAD_AT + 24,
	ENTRY_TIME_AT = 8,
	ENTRY_LENGTH_AT = 16,
	ENTRY_RECORD_AT = 24,
	ENTRY_BYTES = 104,
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

#endif
