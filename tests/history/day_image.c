/* SPDX-License-Identifier: GPL-2.0-only */
#include "day_image.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"

static const uint8_t magic[] = {0xc7, 'F', 0x9e};

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct day_image day_image_read(const char *path)
{
	const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	struct day_image image = {0};
	struct stat status;

	require(descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size >= IMAGE_HEADER);
	image.size = (size_t)status.st_size;
	image.bytes = memory_grow(NULL, &image.capacity, image.size, 1);
	require(read(descriptor, image.bytes, image.size) == (ssize_t)image.size);
	close(descriptor);
	for (size_t at = IMAGE_HEADER; at < image.size; at += day_image_length(&image, at)) {
		require(memcmp(image.bytes + at, magic, sizeof(magic)) == 0);
		*MEMORY_APPEND(image.frames, image.count, image.frame_capacity) = at;
	}
	return image;
}

void day_image_write(const struct day_image *image, const char *path)
{
	const int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	/* written in place, so that programs with the file open see the change */
	require(descriptor >= 0 && pwrite(descriptor, image->bytes, image->size, 0) == (ssize_t)image->size &&
		ftruncate(descriptor, (off_t)image->size) == 0);
	close(descriptor);
}

void day_image_release(struct day_image *image)
{
	free(image->bytes);
	free(image->frames);
	*image = (struct day_image){0};
}

size_t day_image_count(const struct day_image *image, enum day_image_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < image->count; i++)
		count += day_image_get(image, image->frames[i] + IMAGE_KIND_AT, 1) == (uint64_t)kind;
	return count;
}

size_t day_image_frame(const struct day_image *image, enum day_image_kind kind, int number)
{
	size_t left = number >= 0 ? (size_t)number : day_image_count(image, kind) - (size_t)-number;
	size_t i = 0;

	for (; i < image->count; i++) {
		if (day_image_get(image, image->frames[i] + IMAGE_KIND_AT, 1) == (uint64_t)kind &&
		    left-- == 0)
			break;
	}
	require(i < image->count);
	return image->frames[i];
}

size_t day_image_length(const struct day_image *image, size_t frame)
{
	return IMAGE_PAYLOAD_AT + (size_t)day_image_get(image, frame + IMAGE_LENGTH_AT, 4);
}

uint64_t day_image_get(const struct day_image *image, size_t at, size_t bytes)
{
	uint64_t number = 0;

	require(at <= image->size && bytes <= image->size - at);
	for (size_t i = bytes; i-- > 0;)
		number = number << 8 | image->bytes[at + i];
	return number;
}

void day_image_put(struct day_image *image, size_t at, size_t bytes, uint64_t number)
{
	require(at <= image->size && bytes <= image->size - at);
	for (size_t i = 0; i < bytes; i++, number >>= 8)
		image->bytes[at + i] = (uint8_t)number;
}

void day_image_seal(struct day_image *image, size_t frame)
{
	const uint64_t length = day_image_get(image, frame + IMAGE_LENGTH_AT, 4);
	const size_t begin = frame + IMAGE_PAYLOAD_AT;
	uLong sum;

	if (begin > image->size || length > image->size - begin)
		return;
	sum = crc32_z(0, image->bytes + frame, IMAGE_CHECKSUM_AT);
	if (length != 0)
		sum = crc32_z(sum, image->bytes + begin, (size_t)length);
	day_image_put(image, frame + IMAGE_CHECKSUM_AT, 4, sum);
}

void day_image_damage(struct day_image *image, size_t frame)
{
	image->bytes[frame + IMAGE_PAYLOAD_AT + (day_image_length(image, frame) - IMAGE_PAYLOAD_AT) / 2] ^=
		0x55;
}

size_t day_image_add(struct day_image *image, enum day_image_kind kind, uint64_t unix_ns, const void *payload,
		     size_t length)
{
	const size_t frame = image->size, size = frame + IMAGE_PAYLOAD_AT + length;

	image->bytes = memory_grow(image->bytes, &image->capacity, size, 1);
	image->size = size;
	memcpy(image->bytes + frame, magic, sizeof(magic));
	day_image_put(image, frame + IMAGE_KIND_AT, 1, (uint64_t)kind);
	day_image_put(image, frame + IMAGE_LENGTH_AT, 4, length);
	day_image_put(image, frame + IMAGE_OFFSET_AT, 8, frame);
	day_image_put(image, frame + IMAGE_TIME_AT, 8, unix_ns);
	memcpy(image->bytes + frame + IMAGE_PAYLOAD_AT, payload, length);
	day_image_seal(image, frame);
	*MEMORY_APPEND(image->frames, image->count, image->frame_capacity) = frame;
	return frame;
}

/* --- rounds --- */

/* Reads a number stored as 7 bits a byte, low bits first, and advances *at past it. */
static uint64_t read_number(const struct day_image *image, size_t *at)
{
	uint64_t number = 0, byte = 0x80;

	for (unsigned int shift = 0; byte >= 0x80; shift += 7) {
		require(shift < 64);
		byte = day_image_get(image, (*at)++, 1);
		number |= (byte & 0x7f) << shift;
	}
	return number;
}

size_t day_image_round(const struct day_image *image, size_t frame, uint64_t numbers[static ROUND_NUMBERS])
{
	const size_t begin = frame + IMAGE_PAYLOAD_AT;
	size_t at = begin;

	numbers[ROUND_OFFSET] = frame;
	numbers[ROUND_TIME] = day_image_get(image, frame + IMAGE_TIME_AT, 8);
	numbers[ROUND_LENGTH] = day_image_get(image, frame + IMAGE_LENGTH_AT, 4);
	for (size_t i = ROUND_BOOTTIME; i < ROUND_NUMBERS; i++) {
		const uint64_t number = read_number(image, &at);

		/* the lowest bit is the sign */
		numbers[i] = number % 2 != 0 ? ~(number / 2) : number / 2;
	}
	return at - begin;
}

size_t day_image_encode(uint8_t *bytes, enum round_number first, const uint64_t numbers[static ROUND_NUMBERS],
			const uint64_t before[static ROUND_NUMBERS])
{
	size_t length = 0;

	for (size_t i = first; i < ROUND_NUMBERS; i++) {
		const uint64_t more = numbers[i] - before[i];
		uint64_t number = more > INT64_MAX ? ~(more * 2) : more * 2;

		for (; number >= 0x80; number >>= 7)
			bytes[length++] = (uint8_t)(number | 0x80);
		bytes[length++] = (uint8_t)number;
	}
	return length;
}

void day_image_put_round(struct day_image *image, size_t frame, enum round_number number, uint64_t value)
{
	const uint64_t none[ROUND_NUMBERS] = {0};
	uint64_t numbers[ROUND_NUMBERS];
	uint8_t bytes[ROUND_BYTES];
	const size_t length = day_image_round(image, frame, numbers);

	numbers[number] = value;
	require(day_image_encode(bytes, ROUND_BOOTTIME, numbers, none) == length);
	memcpy(image->bytes + frame + IMAGE_PAYLOAD_AT, bytes, length);
	day_image_seal(image, frame);
}
