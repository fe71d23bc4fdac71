/* SPDX-License-Identifier: GPL-2.0-only */
#include "wait_text.h"

#include <inttypes.h>
#include <string.h>

/* Whether the object is a futex with the value of a locked mutex: see wait_call_object(). */
static bool is_lock(const struct value *value)
{
	static const char mark[] = " lock";
	const size_t length = sizeof(mark) - 1;

	return value->wait.class == WAIT_CLASS_FUTEX && value->wait.length > length &&
	       memcmp(value->wait.object + value->wait.length - length, mark, length) == 0;
}

uint32_t wait_text_threads(const struct value *value)
{
	uint32_t threads;

	if (value->state != VALUE_READ || value->wait.of < 2)
		return 0;
	threads = value->wait.class == WAIT_CLASS_DISK ? value->wait.threads : value->wait.sharing;
	return threads > value->wait.of / 2 ? threads : 0;
}

bool wait_text_is_busy(const struct value *value)
{
	return value->wait.class == WAIT_CLASS_DISK || is_lock(value);
}

void wait_text_append(const struct value *value, struct buffer *text)
{
	buffer_append_format(text, "%" PRIu32 " of %" PRIu32 "%s threads wait ", wait_text_threads(value),
			     value->wait.of, value->partial ? " readable" : "");
	switch (value->wait.class) {
	case WAIT_CLASS_DISK:
		buffer_append_text(text, "for the disk");
		break;
	case WAIT_CLASS_FUTEX:
		buffer_append_format(text, "at one futex, a lock %s",
				     is_lock(value) ? "by its value" : "or idle: the kernel cannot tell");
		break;
	default:
		buffer_append_format(text, "for %s ", wait_classes[value->wait.class].name);
		buffer_append(text, value->wait.object, value->wait.length);
		break;
	}
}
