/* SPDX-License-Identifier: GPL-2.0-only */
#include "unpack.h"

#include <errno.h>
#include <limits.h>
#define ZLIB_CONST /* input is not written to */
#include <zlib.h>
#include <zstd.h>

static uInt chunk_of(size_t size)
{
	return size > UINT_MAX ? UINT_MAX : (uInt)size;
}

/* Several zlib streams may follow each other: a linker that joins sections writes one for each. */
static int unpack_zlib(struct byte_range packed, unsigned char *destination, size_t size)
{
	z_stream stream = {.next_in = packed.data};
	size_t unread = packed.size, unwritten = size;
	int status = inflateInit(&stream);

	if (status != Z_OK)
		return -ENOMEM;
	stream.next_out = destination;
	while (unwritten > 0 && unread > 0) {
		const uInt input = chunk_of(unread), output = chunk_of(unwritten);

		stream.avail_in = input;
		stream.avail_out = output;
		status = inflate(&stream, Z_NO_FLUSH);
		unread -= input - stream.avail_in;
		unwritten -= output - stream.avail_out;
		if (status == Z_STREAM_END)
			status = inflateReset(&stream);
		if (status != Z_OK)
			break;
	}
	inflateEnd(&stream);
	return unwritten == 0 ? 0 : -EBADMSG;
}

static int unpack_zstd(struct byte_range packed, unsigned char *destination, size_t size)
{
	/* One call takes all frames and never writes beyond the destination. */
	const size_t written = ZSTD_decompress(destination, size, packed.data, packed.size);

	return !ZSTD_isError(written) && written == size ? 0 : -EBADMSG;
}

int unpack(enum elf_packing packing, struct byte_range packed, void *destination, size_t size)
{
	switch (packing) {
	case ELF_PACKING_ZLIB:
		return unpack_zlib(packed, destination, size);
	case ELF_PACKING_ZSTD:
		return unpack_zstd(packed, destination, size);
	default:
		return -EOPNOTSUPP;
	}
}
