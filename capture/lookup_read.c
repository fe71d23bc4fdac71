/* SPDX-License-Identifier: GPL-2.0-only */
#include "lookup_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/number.h"
#include "base/unicode.h"

enum {
	STAT_SIZE = 1024,      /* a line of numbers, and a name of 64 bytes at most */
	STACK_SIZE = 8192,     /* 64 frames (MAX_STACK_TRACE_DEPTH in fs/proc/base.c) */
	FRAMES_MAX = 24,       /* that are shown */
	KERNEL_NAME_MAX = 128, /* of a function with its module */
	FIELD_STATE = 3,       /* of stat, proc_pid_stat(5) */
	FIELD_FLAGS = 9,
	FIELD_START = 22,
	KERNEL_THREAD = 0x00200000, /* PF_KTHREAD in include/linux/sched.h */
};

/* Facts about a process or thread in its stat. */
struct task_facts {
	char name[128];
	char state;
	uint64_t flags, start_time;
};

/* Reads a file, cut to the room, and puts a NUL behind. Returns its length or a negative errno. */
static ssize_t read_whole(int proc, const char *path, char *text, size_t size)
{
	const int descriptor = openat(proc, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t length = 0;
	ssize_t count = 0;

	if (descriptor < 0)
		return -errno;
	while (length < size - 1) {
		count = read(descriptor, text + length, size - 1 - length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		length += (size_t)count;
	}
	if (count < 0)
		count = -errno;
	close(descriptor);
	text[length] = '\0';
	return count < 0 && length == 0 ? count : (ssize_t)length;
}

static uint16_t reason_of(ssize_t error)
{
	switch (-error) {
	case ENOENT:
	case ESRCH:
		return REASON_ENDED;
	case EACCES:
	case EPERM:
		return REASON_NOT_PERMITTED;
	default:
		return REASON_UNREADABLE;
	}
}

/* Reads stat; the name in it is raw and may hold anything, so its end is the last parenthesis. */
static uint16_t read_facts(int proc, const char *path, struct task_facts *ret_facts)
{
	char text[STAT_SIZE], *open, *close, *next;
	const ssize_t length = read_whole(proc, path, text, sizeof(text));

	if (length < 0)
		return reason_of(length);
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (open == NULL || close == NULL || close < open)
		return REASON_BAD_VALUE;
	*ret_facts = (struct task_facts){0};
	snprintf(ret_facts->name, sizeof(ret_facts->name), "%.*s", (int)(close - open - 1), open + 1);
	next = close + 1;
	for (int field = FIELD_STATE; field <= FIELD_START; field++) {
		const char *word = next + strspn(next, " ");
		const size_t size = strcspn(word, " \n");

		if (size == 0)
			return REASON_BAD_VALUE;
		if (field == FIELD_STATE)
			ret_facts->state = *word;
		else if ((field == FIELD_FLAGS && !number_parse_u64(word, size, &ret_facts->flags)) ||
			 (field == FIELD_START && !number_parse_u64(word, size, &ret_facts->start_time)))
			return REASON_BAD_VALUE;
		next = (char *)word + size;
	}
	return REASON_READ;
}

/* Reads stat of the task that is meant, and not of another one that has its number since. */
static uint16_t read_facts_of(int proc, const char *path, uint64_t start_time, struct task_facts *ret_facts)
{
	const uint16_t reason = read_facts(proc, path, ret_facts);

	if (reason == REASON_READ && ret_facts->start_time != start_time)
		return REASON_ENDED;
	return reason;
}

/* --- command lines --- */

static void set_text(struct lookup_answer *answer, const char *text, size_t length)
{
	struct buffer printable = {0};

	unicode_append_printable(&printable, text, length, "\xef\xbf\xbd");
	if (printable.length > LOOKUP_TEXT_MAX) {
		/* not within a character */
		printable.length = LOOKUP_TEXT_MAX;
		while (printable.length != 0 && (printable.data[printable.length] & 0xc0) == 0x80)
			printable.length--;
	}
	answer->length = (uint16_t)printable.length;
	if (printable.length != 0)
		memcpy(answer->text, printable.data, printable.length);
	answer->text[answer->length] = '\0';
	buffer_release(&printable);
}

/* Kernel threads, zombies and who has erased its own have none: the name stands for it, as ps(1) shows it. */
static void set_name(struct lookup_answer *answer, const struct task_facts *facts)
{
	char text[sizeof(facts->name) + 16];

	snprintf(text, sizeof(text), "[%s]%s", facts->name, facts->state == 'Z' ? " <defunct>" : "");
	set_text(answer, text, strlen(text));
}

static void read_command(int proc, const struct lookup_request *request, struct lookup_answer *answer)
{
	char path[64], stat[64], text[LOOKUP_TEXT_MAX + 1];
	struct task_facts facts;
	ssize_t length = 0;

	snprintf(stat, sizeof(stat), "%u/stat", request->tgid);
	snprintf(path, sizeof(path), "%u/cmdline", request->tgid);
	answer->reason = read_facts_of(proc, stat, request->start_time, &facts);
	if (answer->reason != REASON_READ)
		return;
	if ((facts.flags & KERNEL_THREAD) == 0) {
		length = read_whole(proc, path, text, sizeof(text));
		answer->reason = length < 0 ? reason_of(length)
					    : read_facts_of(proc, stat, request->start_time, &facts);
	}
	if (answer->reason != REASON_READ)
		return;
	while (length > 0 && (text[length - 1] == '\0' || text[length - 1] == ' '))
		length--;
	for (ssize_t i = 0; i < length; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
	}
	if (length == 0)
		set_name(answer, &facts);
	else
		set_text(answer, text, (size_t)length);
}

/* --- where a thread sleeps --- */

/* Appends the functions of `stack`, "[<0>] name+0x1/0x2 [module]" in each line, in lines of their own. */
static void append_frames(struct buffer *lines, const char *stack)
{
	for (int i = 0; *stack != '\0' && i < FRAMES_MAX; i++) {
		const size_t line = strcspn(stack, "\n");
		const char *name = memchr(stack, ' ', line);
		size_t length;

		name = name != NULL ? name + 1 : stack;
		length = strcspn(name, "+\n");
		buffer_append_char(lines, '\n');
		unicode_append_printable(lines, name, length < KERNEL_NAME_MAX ? length : KERNEL_NAME_MAX,
					 "?");
		stack += line + (stack[line] == '\n');
	}
}

/*
 * wchan: "0" for a thread that runs or may not be looked at (proc_pid_wchan() in fs/proc/base.c, which asks
 * for PTRACE_MODE_READ_FSCREDS). stack: only with CAP_SYS_ADMIN (proc_pid_stack() there), and what attaching
 * to the process takes.
 */
static void read_sleep(int proc, const struct lookup_request *request, struct lookup_answer *answer)
{
	char directory[48], path[80], wchan[KERNEL_NAME_MAX + 1], stack[STACK_SIZE];
	struct buffer lines = {0};
	struct task_facts facts;
	ssize_t length;

	snprintf(directory, sizeof(directory), "%u/task/%u", request->tgid, request->tid);
	snprintf(path, sizeof(path), "%s/stat", directory);
	answer->reason = read_facts_of(proc, path, request->start_time, &facts);
	if (answer->reason != REASON_READ)
		return;
	snprintf(path, sizeof(path), "%s/wchan", directory);
	length = read_whole(proc, path, wchan, sizeof(wchan));
	if (length < 0) {
		answer->reason = reason_of(length);
		return;
	}
	if (strcmp(wchan, "0") == 0)
		wchan[0] = '\0';
	snprintf(path, sizeof(path), "%s/stack", directory);
	length = facts.state != 'R' ? read_whole(proc, path, stack, sizeof(stack)) : 0;
	answer->detail_reason = length < 0 ? reason_of(length) : REASON_READ;
	if (wchan[0] == '\0' && facts.state != 'R' && facts.state != 'Z' && length < 0)
		answer->reason = REASON_NOT_PERMITTED;
	unicode_append_printable(&lines, wchan, strlen(wchan), "?");
	if (length > 0)
		append_frames(&lines, stack);
	if (lines.length > LOOKUP_TEXT_MAX)
		lines.length = LOOKUP_TEXT_MAX; /* ASCII */
	answer->length = (uint16_t)lines.length;
	if (lines.length != 0)
		memcpy(answer->text, lines.data, lines.length);
	answer->text[answer->length] = '\0';
	buffer_release(&lines);
}

void lookup_read(int proc, const struct lookup_request *request, struct lookup_answer *ret_answer)
{
	ret_answer->request = *request;
	ret_answer->reason = ret_answer->detail_reason = REASON_READ;
	ret_answer->length = 0;
	ret_answer->text[0] = '\0';
	if (request->kind == LOOKUP_COMMAND)
		read_command(proc, request, ret_answer);
	else if (request->kind == LOOKUP_SLEEP)
		read_sleep(proc, request, ret_answer);
	else
		ret_answer->reason = REASON_UNREADABLE;
	if (ret_answer->reason != REASON_READ) {
		ret_answer->length = 0;
		ret_answer->text[0] = '\0';
	}
}
