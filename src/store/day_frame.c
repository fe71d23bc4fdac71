/* SPDX-License-Identifier: GPL-2.0-only */
#include "day_frame.h"

#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/number.h"

enum {
	CHUNK = 1 << 14, /* bytes read at a time, into a buffer on the stack */
	/* Size of a search's first chunk: small, since the next frame is usually near. */
	FIRST_CHUNK = 1 << 9,
	/*
	 * Budget, in multiples of the file's size. An honest file is read at most three times: its indexes
	 * once, and the frames between them twice, to find and to check them. A file that is damaged
	 * everywhere costs more, since a search reads past the frame it finds.
	 */
	READINGS = 16,
	READINGS_FREE = 1 << 20, /* bytes */
	OPENING_SECONDS = 20,
	/* Longest distance of a search, bytes: enough to skip any damaged frame, but not a sparse hole of
	 * terabytes. */
	SEARCH_BYTES = DAY_FRAME_PAYLOAD_MAX + DAY_FRAME_HEADER_BYTES,

	/* Offsets in a frame's header. The checksum covers the payload and the header's bytes before the
	 * checksum. */
	KIND_AT = 3,
	LENGTH_AT = 4,
	OFFSET_AT = 8,
	TIME_AT = 16,
	CHECKSUM_AT = 24,
};

static const uint8_t file_magic[] = {'c', 't', 'o', 'p', 'l', 'o', 'g', '\n'};
static const uint8_t frame_magic[] = {0xc7, 'F', 0x9e};
/* The kind follows the magic bytes. */
static const uint8_t index_magic[] = {0xc7, 'F', 0x9e, DAY_FRAME_INDEX};

/* --- errors --- */

static const char *remedy_of(int negative_errno)
{
	switch (-negative_errno) {
	case ENOSPC:
		return "the file system is full: make room on it, or let --max-size remove old days";
	case EDQUOT:
		return "the quota is used up: make room, or let --max-size remove old days";
	case EROFS:
		return "it cannot be written: check its permissions and whether the file system is mounted "
		       "read-only";
	case ETIMEDOUT:
		return "reading it takes far longer than it should: it was made to do harm, or the disk "
		       "hangs";
	case EACCES:
	case EPERM:
		return "permission denied; run as its owner or as root";
	default:
		return strerror(-negative_errno);
	}
}

int day_error(const char *path, int negative_errno, struct error *error)
{
	return error_set(error, negative_errno, "%s: %s", path, remedy_of(negative_errno));
}

/* --- writing --- */

void day_header_make(uint8_t header[static DAY_HEADER_BYTES])
{
	memset(header, 0, DAY_HEADER_BYTES);
	memcpy(header, file_magic, sizeof(file_magic));
	day_put(header + DAY_HEADER_VERSION_AT, 4, DAY_VERSION);
}

void day_frame_seal(const struct day_frame *frame, uint8_t *bytes)
{
	uLong sum;

	memcpy(bytes, frame_magic, sizeof(frame_magic));
	bytes[KIND_AT] = frame->kind;
	day_put(bytes + LENGTH_AT, 4, frame->length);
	day_put(bytes + OFFSET_AT, 8, frame->offset);
	day_put(bytes + TIME_AT, 8, frame->unix_ns);
	sum = crc32_z(0, bytes, CHECKSUM_AT);
	day_put(bytes + CHECKSUM_AT, 4, crc32_z(sum, bytes + DAY_FRAME_HEADER_BYTES, frame->length));
}

/* --- reading --- */

void day_source_allow(struct day_source *source, uint64_t bytes)
{
	source->bytes_left = number_add_saturating(READINGS_FREE,
						   number_multiply_saturating(bytes, READINGS));
	source->deadline_ns = clock_ns(CLOCK_MONOTONIC) + OPENING_SECONDS * NS_PER_S;
}

ssize_t day_source_read(struct day_source *source, void *bytes, size_t length, uint64_t offset)
{
	size_t done = 0;

	if (length > source->bytes_left || clock_ns(CLOCK_MONOTONIC) > source->deadline_ns)
		return -ETIMEDOUT;
	if (offset > INT64_MAX - length)
		return 0;
	source->bytes_left -= length;
	while (done < length) {
		const ssize_t more = pread(source->descriptor, (char *)bytes + done, length - done,
					   (off_t)(offset + done));

		if (more < 0 && errno != EINTR)
			return -errno;
		if (more == 0)
			break;
		if (more > 0)
			done += (size_t)more;
	}
	return (ssize_t)done;
}

int day_frame_peek(struct day_source *source, uint64_t offset, uint8_t header[static DAY_FRAME_HEADER_BYTES],
		   struct day_frame *ret_frame)
{
	ssize_t length;

	if (source->size < DAY_FRAME_HEADER_BYTES || offset > source->size - DAY_FRAME_HEADER_BYTES)
		return 0;
	length = day_source_read(source, header, DAY_FRAME_HEADER_BYTES, offset);
	if (length < DAY_FRAME_HEADER_BYTES)
		return length < 0 ? (int)length : 0;
	*ret_frame = (struct day_frame){
		.kind = header[KIND_AT],
		.offset = day_get(header + OFFSET_AT, 8),
		.length = day_get(header + LENGTH_AT, 4),
		.unix_ns = day_get(header + TIME_AT, 8),
	};
	return memcmp(header, frame_magic, sizeof(frame_magic)) == 0 && ret_frame->offset == offset &&
	       ret_frame->length <= DAY_FRAME_PAYLOAD_MAX &&
	       ret_frame->length <= source->size - DAY_FRAME_HEADER_BYTES - offset;
}

int day_frame_read(struct day_source *source, uint64_t offset, size_t keep, struct buffer *payload,
		   struct day_frame *ret_frame)
{
	uint8_t header[DAY_FRAME_HEADER_BYTES], chunk[CHUNK];
	uint64_t at, left;
	uLong sum;
	int result = day_frame_peek(source, offset, header, ret_frame);

	if (result <= 0)
		return result;
	buffer_clear(payload);
	sum = crc32_z(0, header, CHECKSUM_AT);
	at = offset + DAY_FRAME_HEADER_BYTES;
	for (left = ret_frame->length; left > 0;) {
		const size_t wanted = left < CHUNK ? (size_t)left : CHUNK;
		const ssize_t length = day_source_read(source, chunk, wanted, at);
		const size_t room = keep > payload->length ? keep - payload->length : 0;

		if (length < 0)
			return (int)length;
		if ((size_t)length < wanted)
			return 0;
		sum = crc32_z(sum, chunk, wanted);
		buffer_append(payload, chunk, wanted < room ? wanted : room);
		at += wanted;
		left -= wanted;
	}
	return sum == day_get(header + CHECKSUM_AT, 4);
}

int day_frame_find(struct day_source *source, uint64_t from, uint64_t to, struct day_frame *ret_frame)
{
	struct buffer ignored = {0};
	uint8_t chunk[CHUNK];
	size_t wanted = FIRST_CHUNK;
	int result = 0;

	if (to > from && to - from > SEARCH_BYTES)
		to = from + SEARCH_BYTES;
	while (result == 0 && from < to) {
		const ssize_t length = day_source_read(source, chunk, wanted, from);
		const uint8_t *found;

		if (length < (ssize_t)sizeof(frame_magic)) {
			result = length < 0 ? (int)length : 0;
			break;
		}
		found = memmem(chunk, (size_t)length, frame_magic, sizeof(frame_magic));
		if (found == NULL) {
			wanted = wanted < CHUNK ? 2 * wanted : CHUNK;
			/* a frame may begin with the chunk's last bytes */
			from += (uint64_t)length - (sizeof(frame_magic) - 1);
			continue;
		}
		from += (uint64_t)(found - chunk);
		if (from < to)
			result = day_frame_read(source, from, 0, &ignored, ret_frame);
		from++;
	}
	buffer_release(&ignored);
	return result;
}

int day_frame_find_index(struct day_source *source, uint64_t limit, struct day_frame *ret_frame)
{
	const uint64_t first = limit > SEARCH_BYTES ? limit - SEARCH_BYTES : DAY_HEADER_BYTES;
	uint8_t chunk[CHUNK], header[DAY_FRAME_HEADER_BYTES];
	size_t wanted = FIRST_CHUNK;
	uint64_t end = limit;

	/* chunks overlap, since `index_magic` may begin in one and end in the next */
	while (end > first + sizeof(index_magic)) {
		const uint64_t begin = end - first > wanted ? end - wanted : first;
		const ssize_t length = day_source_read(source, chunk, (size_t)(end - begin), begin);
		const uint8_t *found = chunk + (length > 0 ? length : 0);

		if (length < 0)
			return (int)length;
		while ((found = memrchr(chunk, index_magic[0], (size_t)(found - chunk))) != NULL) {
			const uint64_t offset = begin + (uint64_t)(found - chunk);
			int result = 0;

			if ((size_t)(chunk + length - found) >= sizeof(index_magic) &&
			    memcmp(found, index_magic, sizeof(index_magic)) == 0)
				result = day_frame_peek(source, offset, header, ret_frame);
			if (result < 0)
				return result;
			if (result > 0 && ret_frame->kind == DAY_FRAME_INDEX &&
			    day_frame_end(ret_frame) <= limit)
				return 1;
		}
		wanted = wanted < CHUNK ? 2 * wanted : CHUNK;
		end = begin + (begin > first ? sizeof(index_magic) - 1 : 0);
	}
	return 0;
}
