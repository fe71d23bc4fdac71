/* SPDX-License-Identifier: GPL-2.0-only */
/* What is made of foreign names: patterns, globs, text for a terminal. The first byte is the length of a
 * glob. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/unicode.h"
#include "window/glob.h"
#include "window/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nothing in text for a terminal may move its cursor. */
static void require_printable(const struct buffer *buffer)
{
	if (!unicode_is_valid(buffer->data, buffer->length))
		abort();
	for (size_t i = 0; i < buffer->length; i++) {
		if ((unsigned char)buffer->data[i] < ' ' || buffer->data[i] == 0x7f)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer buffer = {0};
	const char *name = (const char *)data;
	struct glob *glob;
	size_t glob_length;

	if (size == 0)
		return 0;
	glob_length = data[0] < size ? data[0] : size - 1;

	unicode_append_printable(&buffer, name, size, "?");
	require_printable(&buffer);
	if (unicode_prefix(buffer.data, buffer.length, 10, NULL) > buffer.length)
		abort();
	buffer.length = 0;
	pattern_append(&buffer, name, size, &name_rules_ktstr);
	pattern_append_systemd_instances(&buffer, name, size);
	buffer.length = 0;
	unicode_append_escaped(&buffer, name, size);
	if (buffer.length > 0 && !unicode_is_valid(buffer.data, buffer.length))
		abort();
	buffer_release(&buffer);

	glob = glob_compile(name + 1, glob_length);
	if (glob != NULL)
		glob_matches(glob, name + 1 + glob_length, size - 1 - glob_length);
	glob_release(glob);
	return 0;
}
