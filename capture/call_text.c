/* SPDX-License-Identifier: GPL-2.0-only */
#include "call_text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/unicode.h"
#include "capture/procfs/text_scan.h"
#include "wait_call.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* since Linux 5.14 */
#endif

enum {
	ARGUMENTS_MAX = 6,
	SMALL_NUMBER = 65536, /* below it, an argument is no address */
	LINK_SIZE = 256,      /* of a descriptor: longer paths are cut */
	WATCHED_MAX = 4,      /* files of an epoll that are named */
	MAPS_MAX = 8 * 1024 * 1024,
	INFO_MAX = 256 * 1024,
	NUMBERS_SIZE = 128, /* of a line of `maps` up to its path */
};

static void append_link(struct buffer *text, int task, int descriptor)
{
	char path[32], link[LINK_SIZE];
	ssize_t length;

	snprintf(path, sizeof(path), "fd/%d", descriptor);
	length = readlinkat(task, path, link, sizeof(link));
	buffer_append_format(text, "%d", descriptor);
	if (length <= 0)
		return;
	buffer_append_char(text, '<');
	unicode_append_printable(text, link, (size_t)length, "?");
	buffer_append_char(text, '>');
}

static void append_number(struct buffer *text, uint64_t value)
{
	if (value < SMALL_NUMBER)
		buffer_append_format(text, "%" PRIu64, value);
	else if (value == UINT64_MAX || value == UINT32_MAX)
		buffer_append_text(text, "-1");
	else
		buffer_append_format(text, "0x%" PRIx64, value);
}

static void append_futex_operation(struct buffer *text, uint64_t operation)
{
	static const char *const names[] = {
		[FUTEX_WAIT] = "FUTEX_WAIT",
		[FUTEX_LOCK_PI] = "FUTEX_LOCK_PI",
		[FUTEX_WAIT_BITSET] = "FUTEX_WAIT_BITSET",
		[FUTEX_WAIT_REQUEUE_PI] = "FUTEX_WAIT_REQUEUE_PI",
		[FUTEX_LOCK_PI2] = "FUTEX_LOCK_PI2",
	};
	const uint64_t command = operation & (uint64_t)FUTEX_CMD_MASK;

	if (command >= sizeof(names) / sizeof(names[0]) || names[command] == NULL) {
		append_number(text, operation);
		return;
	}
	buffer_append_text(text, names[command]);
	if ((operation & FUTEX_PRIVATE_FLAG) != 0)
		buffer_append_text(text, "_PRIVATE");
	if ((operation & FUTEX_CLOCK_REALTIME) != 0)
		buffer_append_text(text, "|FUTEX_CLOCK_REALTIME");
}

static bool is_epoll(const char *name)
{
	return strncmp(name, "epoll_", 6) == 0;
}

static void append_call(struct buffer *text, const struct wait_call *call, const uint64_t arguments[],
			int task)
{
	unsigned int count = ARGUMENTS_MAX;
	const char *name = wait_call_name(call, &count);
	const bool is_futex = name != NULL && wait_call_class(call) == WAIT_CLASS_FUTEX;
	const bool has_descriptor = name != NULL && (is_epoll(name) ||
						     wait_call_has_descriptor(call->is_compat, call->number));

	if (name != NULL)
		buffer_append_format(text, "%s(", name);
	else
		buffer_append_format(text, "syscall_%" PRId32 "(", call->number);
	for (unsigned int i = 0; i < count; i++) {
		if (i != 0)
			buffer_append_text(text, ", ");
		if (i == 0 && has_descriptor)
			append_link(text, task, (int)arguments[i]);
		else if (i == 1 && is_futex && strncmp(name, "futex", 6) == 0)
			append_futex_operation(text, arguments[i]);
		else
			append_number(text, arguments[i]);
	}
	buffer_append_char(text, ')');
}

/* --- what it waits for --- */

static bool read_task_file(int task, const char *path, size_t limit, struct buffer *buffer)
{
	const int descriptor = openat(task, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int result;

	if (descriptor < 0)
		return false;
	result = file_read_descriptor(descriptor, buffer, limit);
	close(descriptor);
	return result == 0;
}

/* Appends the mapping with an address: a line of `maps` is START-END PERMISSIONS OFFSET DEVICE INODE [PATH].
 */
static void append_mapping(struct buffer *text, uint64_t address, int task)
{
	struct buffer maps = {0};
	struct text rest = {0}, line;

	if (read_task_file(task, "maps", MAPS_MAX, &maps))
		rest = text_of(&maps);
	while (text_next_line(&rest, &line)) {
		char numbers[NUMBERS_SIZE], permissions[8];
		uint64_t start, end;
		int length;

		/* sscanf() measures all of its text first */
		snprintf(numbers, sizeof(numbers), "%.*s", (int)line.length, line.data);
		if (sscanf(numbers, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s%n", &start, &end, permissions,
			   &length) != 3 ||
		    address < start || address >= end)
			continue;
		line = text_trim((struct text){line.data + length, line.length - (size_t)length});
		buffer_append_format(text, "\n0x%" PRIx64 " is in ", address);
		if (line.length == 0)
			buffer_append_text(text, "anonymous memory");
		else
			unicode_append_printable(text, line.data, line.length, "?");
		buffer_append_format(text, " (%s)", permissions);
		break;
	}
	buffer_release(&maps);
}

/* Appends the files that an epoll watches: lines "tfd: NUMBER …" of its fdinfo. */
static void append_watched(struct buffer *text, int epoll, int task)
{
	struct buffer information = {0};
	struct text rest, line, word;
	size_t count = 0, length = text->length;
	uint32_t descriptor;
	char path[32];

	snprintf(path, sizeof(path), "fdinfo/%d", epoll);
	if (read_task_file(task, path, INFO_MAX, &information)) {
		buffer_append_text(text, "\nwatches ");
		rest = text_of(&information);
		while (text_next_line(&rest, &line)) {
			if (!text_next_word(&line, &word) || !text_equals(word, "tfd:") ||
			    !text_next_word(&line, &word) ||
			    !number_parse_u32(word.data, word.length, &descriptor))
				continue;
			if (count++ >= WATCHED_MAX)
				continue;
			if (count != 1)
				buffer_append_text(text, ", ");
			append_link(text, task, (int)descriptor);
		}
		if (count > WATCHED_MAX)
			buffer_append_format(text, " and %zu more", count - WATCHED_MAX);
	}
	if (count == 0 && text->length != length)
		buffer_append_text(text, "nothing");
	buffer_release(&information);
}

void call_text_append(struct buffer *text, const struct procfs_syscall *call, int task)
{
	struct wait_call wait = {
		.number = call->number,
		.is_compat = procfs_syscall_is_compat(call),
	};
	unsigned int count;
	const char *name;

	if (call->is_running || procfs_syscall_is_copy(call))
		return;
	if (call->number < 0) {
		buffer_append_text(text, "no system call: a page fault or another exception");
		return;
	}
	memcpy(wait.arguments, call->arguments, sizeof(wait.arguments));
	append_call(text, &wait, call->arguments, task);
	name = wait_call_name(&wait, &count);
	if (name != NULL && wait_call_class(&wait) == WAIT_CLASS_FUTEX)
		append_mapping(text, call->arguments[0], task);
	else if (name != NULL && is_epoll(name))
		append_watched(text, (int)call->arguments[0], task);
}
