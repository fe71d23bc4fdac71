/* SPDX-License-Identifier: GPL-2.0-only */
#include "kernel_config.h"

#include <errno.h>
#include <stdio.h>
#include <zlib.h>

#include "capture/procfs/text_scan.h"

enum {
	CONFIG_SIZE_MAX = 16 << 20,
	CHUNK_SIZE = 64 << 10,
	GZIP_WINDOW = 15 + 16, /* the largest window, gzip header required (zlib.h, inflateInit2) */
};

/* Unpacks the first gzip member of `packed` behind `buffer`. */
static int inflate_member(const struct buffer *packed, struct buffer *buffer)
{
	z_stream stream = {
		.next_in = (Bytef *)packed->data,
		.avail_in = (uInt)packed->length,
	};
	int result;

	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	do {
		buffer_reserve(buffer, CHUNK_SIZE);
		stream.next_out = (Bytef *)buffer->data + buffer->length;
		stream.avail_out = CHUNK_SIZE;
		result = inflate(&stream, Z_NO_FLUSH);
		buffer->length += CHUNK_SIZE - stream.avail_out;
		buffer->data[buffer->length] = '\0';
	} while (result == Z_OK && buffer->length <= CONFIG_SIZE_MAX);
	inflateEnd(&stream);
	return result == Z_STREAM_END ? 0 : -EBADMSG;
}

int kernel_config_read(const struct roots *roots, struct buffer *buffer)
{
	struct buffer packed = {0};
	int result = roots_read(roots, ROOT_PROC, "config.gz", &packed);

	buffer_clear(buffer);
	if (result == 0)
		result = packed.length != 0 ? inflate_member(&packed, buffer) : -EBADMSG;
	if (result == 0 && !unicode_is_valid(buffer->data, buffer->length))
		result = -EBADMSG;
	if (result < 0)
		buffer_clear(buffer);
	buffer_release(&packed);
	return result;
}

enum kernel_option kernel_config_find(const char *text, size_t length, const char *option)
{
	struct text rest = {text, length}, line;
	enum kernel_option found = KERNEL_OPTION_UNKNOWN;
	char on[64], off[64];

	snprintf(on, sizeof(on), "%s=y", option);
	snprintf(off, sizeof(off), "# %s is not set", option);
	while (text_next_line(&rest, &line)) {
		line = text_trim(line);
		if (text_equals(line, on))
			return KERNEL_OPTION_ON;
		if (text_equals(line, off))
			found = KERNEL_OPTION_OFF;
	}
	return found;
}
