/* SPDX-License-Identifier: GPL-2.0-only */
#include "call_text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
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
	INFO_MAX = 256 * 1024,
	NUMBERS_SIZE = 128, /* of a line of `maps` up to its path */
	SOCKETS_MAX = 8 * 1024 * 1024,
	PEERS_MAX = 3, /* processes at the other end that are named */
};

/* CPU time after which a search through the descriptors of all processes ends. */
#define SEARCH_NS (100 * NS_PER_MS)

static bool read_link(int directory, const char *path, char ret_link[static LINK_SIZE])
{
	const ssize_t length = readlinkat(directory, path, ret_link, LINK_SIZE - 1);

	ret_link[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static void append_link(struct buffer *text, int task, int descriptor)
{
	char path[32], link[LINK_SIZE];

	snprintf(path, sizeof(path), "fd/%d", descriptor);
	buffer_append_format(text, "%d", descriptor);
	if (!read_link(task, path, link))
		return;
	buffer_append_char(text, '<');
	unicode_append_printable(text, link, strlen(link), "?");
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

struct mapping {
	uint64_t start, end;
	char permissions[8]; /* "rw-p" */
	struct text path;    /* empty: anonymous memory */
	const char *part;    /* of a file: " .data", " .bss" or "" */
};

/*
 * Moves to the next line of `maps`: START-END PERMISSIONS OFFSET DEVICE INODE [PATH]. Anonymous memory next
 * to the data of a file is the file's .bss.
 */
static bool next_mapping(struct text *rest, struct mapping *mapping)
{
	const struct mapping before = *mapping;
	char numbers[NUMBERS_SIZE];
	struct text line;
	int length;

	if (!text_next_line(rest, &line))
		return false;
	/* sscanf() measures all of its text first */
	snprintf(numbers, sizeof(numbers), "%.*s", (int)line.length, line.data);
	*mapping = (struct mapping){.part = ""};
	if (sscanf(numbers, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s%n", &mapping->start, &mapping->end,
		   mapping->permissions, &length) != 3)
		return true;
	mapping->path = text_trim((struct text){line.data + length, line.length - (size_t)length});
	if (mapping->path.length == 0 && mapping->start == before.end && strcmp(before.part, " .data") == 0) {
		mapping->path = before.path;
		mapping->part = " .bss";
	} else if (mapping->path.length != 0 && mapping->path.data[0] == '/' &&
		   strcmp(mapping->permissions, "rw-p") == 0) {
		mapping->part = " .data";
	}
	return true;
}

/* Moves on to the mapping with an address that is not before the last one. False if there is none. */
static bool find_mapping(struct text *rest, uint64_t address, struct mapping *mapping)
{
	while (mapping->end <= address && next_mapping(rest, mapping))
		continue;
	return mapping->start <= address && address < mapping->end;
}

/* Appends the mapping with an address. */
static void append_mapping(struct buffer *text, uint64_t address, int task)
{
	struct buffer maps = {0};
	struct mapping mapping = {.part = ""};
	struct text rest = {0};

	if (read_task_file(task, "maps", CALL_TEXT_MAPS_MAX, &maps))
		rest = text_of(&maps);
	if (find_mapping(&rest, address, &mapping)) {
		buffer_append_format(text, "\n0x%" PRIx64 " is in ", address);
		if (mapping.path.length == 0)
			buffer_append_text(text, "anonymous memory");
		else
			unicode_append_printable(text, mapping.path.data, mapping.path.length, "?");
		buffer_append_format(text, "%s (%s)", mapping.part, mapping.permissions);
	}
	buffer_release(&maps);
}

void call_text_append_mappings(struct buffer *lines, struct text maps, const uint64_t addresses[],
			       size_t count)
{
	struct mapping mapping = {.part = ""};

	for (size_t i = 0; i < count; i++) {
		const bool found = find_mapping(&maps, addresses[i], &mapping);
		const char *path = mapping.path.data, *end = path + mapping.path.length;
		const char *slash = found && path != end && path[0] == '/'
					    ? memrchr(path, '/', mapping.path.length)
					    : NULL;

		if (found && path == end)
			buffer_append_text(lines, "anonymous");
		else if (found)
			unicode_append_printable(lines, slash != NULL ? slash + 1 : path,
						 (size_t)(end - (slash != NULL ? slash + 1 : path)), "?");
		buffer_append_text(lines, found ? mapping.part : "");
		buffer_append_char(lines, '\n');
	}
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

static struct wait_call decode_call(const struct procfs_syscall *call)
{
	struct wait_call wait = {
		.number = call->number,
		.is_compat = procfs_syscall_is_compat(call),
	};

	memcpy(wait.arguments, call->arguments, sizeof(wait.arguments));
	return wait;
}

void call_text_append(struct buffer *text, const struct procfs_syscall *call, int task)
{
	const struct wait_call wait = decode_call(call);
	unsigned int count;
	const char *name;

	if (call->is_running || procfs_syscall_is_copy(call))
		return;
	if (call->number < 0) {
		buffer_append_text(text, "no system call: a page fault or another exception");
		return;
	}
	append_call(text, &wait, call->arguments, task);
	name = wait_call_name(&wait, &count);
	if (name != NULL && wait_call_class(&wait) == WAIT_CLASS_FUTEX)
		append_mapping(text, call->arguments[0], task);
	else if (name != NULL && is_epoll(name))
		append_watched(text, (int)call->arguments[0], task);
}

/* --- the other end of a pipe or a socket --- */

/* A search for the processes that have a file open. */
struct search {
	char link[LINK_SIZE]; /* of the file's descriptors */
	mode_t mode;       /* S_IRUSR, S_IWUSR or both: the descriptor allows reading, writing, or either */
	uint64_t until_ns; /* of this process's CPU time */
	bool is_late;      /* that time was over before the end */
	bool is_refused;   /* descriptors of some processes must not be read */
};

/* Whether a process has such a descriptor. The permissions of its link are what the descriptor allows. */
static bool has_open(int proc, const char *process, struct search *search)
{
	char path[NAME_MAX + sizeof("/fd")], link[LINK_SIZE];
	bool result = false;
	const struct dirent *entry;
	struct stat status;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/fd", process);
	directory = file_open_directory(proc, path);
	if (directory == NULL) {
		search->is_refused |= errno == EACCES || errno == EPERM;
		return false;
	}
	while (!result && !search->is_late && (entry = readdir(directory)) != NULL) {
		result = read_link(dirfd(directory), entry->d_name, link) &&
			 strcmp(link, search->link) == 0 &&
			 fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
			 (status.st_mode & search->mode) != 0;
		search->is_late = clock_ns(CLOCK_PROCESS_CPUTIME_ID) > search->until_ns;
	}
	closedir(directory);
	return result;
}

/* Appends the processes that have a file open, or why none was found. */
static void append_processes(struct buffer *text, const char *verb, int proc, struct search *search)
{
	DIR *processes = file_open_directory(proc, ".");
	const struct dirent *entry;
	size_t count = 0;

	while (processes != NULL && !search->is_late && (entry = readdir(processes)) != NULL) {
		char path[NAME_MAX + sizeof("/comm")];
		struct buffer name = {0};

		if (!isdigit((unsigned char)entry->d_name[0]) || !has_open(proc, entry->d_name, search))
			continue;
		if (count++ == PEERS_MAX) {
			buffer_append_text(text, " and more");
			break;
		}
		snprintf(path, sizeof(path), "%s/comm", entry->d_name);
		(void)read_task_file(proc, path, NUMBERS_SIZE, &name);
		buffer_append_format(text, "%s %s ", count == 1 ? verb : ",", entry->d_name);
		unicode_append_printable(text, name.data, name.length != 0 ? name.length - 1 : 0, "?");
		buffer_release(&name);
	}
	if (processes != NULL)
		closedir(processes);
	if (count == 0)
		buffer_append_format(text, "other end not found%s",
				     search->is_late      ? " within 0.1 s"
				     : search->is_refused ? ": not permitted for all processes"
							  : "");
}

/* The ends of a socket, ADDRESS:PORT in hexadecimal digits, in a line of `net/tcp` or `net/tcp6`. */
struct tcp_line {
	struct text local, remote, inode;
};

static bool next_tcp_line(struct text *rest, struct tcp_line *ret_line)
{
	struct text line, words[10] = {0};

	if (!text_next_line(rest, &line))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && text_next_word(&line, &words[i]); i++) {
		/* an IPv4 address mapped into IPv6: the other end may be an IPv4 socket */
		if (text_starts_with(words[i], "0000000000000000FFFF0000"))
			words[i] = (struct text){words[i].data + 24, words[i].length - 24};
	}
	*ret_line = (struct tcp_line){words[1], words[2], words[9]};
	return true;
}

static bool is_same_text(struct text a, struct text b)
{
	return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

/* Finds the TCP socket in the task's network namespace that has the ends of another socket, swapped. */
static bool find_tcp_peer(int task, const char *link, char ret_link[static LINK_SIZE])
{
	struct buffer sockets = {0}, more = {0};
	struct tcp_line own = {0}, line;
	char inode[24];
	bool result = false, is_known = false;

	if (sscanf(link, "socket:[%23[0-9]", inode) != 1)
		return false;
	/* of too large a table the beginning is searched */
	(void)read_task_file(task, "net/tcp", SOCKETS_MAX, &sockets);
	(void)read_task_file(task, "net/tcp6", SOCKETS_MAX, &more);
	buffer_append(&sockets, more.data, more.length);
	for (struct text rest = text_of(&sockets); !is_known && next_tcp_line(&rest, &own);)
		is_known = text_equals(own.inode, inode);
	for (struct text rest = text_of(&sockets); is_known && !result && next_tcp_line(&rest, &line);)
		result = is_same_text(line.local, own.remote) && is_same_text(line.remote, own.local);
	if (result)
		snprintf(ret_link, LINK_SIZE, "socket:[%.*s]", (int)line.inode.length, line.inode.data);
	buffer_release(&sockets);
	buffer_release(&more);
	return result;
}

void call_text_append_peer(struct buffer *text, const struct procfs_syscall *call, int task, int proc)
{
	const struct wait_call wait = decode_call(call);
	struct search search = {.mode = S_IRUSR | S_IWUSR,
				.until_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + SEARCH_NS};
	const char *verb = "with";
	char path[32], link[LINK_SIZE];
	struct stat status;

	snprintf(path, sizeof(path), "fd/%d", (int)call->arguments[0]);
	if (call->is_running || procfs_syscall_is_copy(call) ||
	    !wait_call_has_descriptor(wait.is_compat, wait.number) || !read_link(task, path, link) ||
	    fstatat(task, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (strncmp(link, "pipe:", 5) == 0) {
		search.mode = (status.st_mode & S_IWUSR) != 0 ? S_IRUSR : S_IWUSR;
		verb = search.mode == S_IWUSR ? "from" : "to";
		memcpy(search.link, link, sizeof(link));
	} else if (!find_tcp_peer(task, link, search.link)) {
		return;
	}
	buffer_append_format(text, "%s\n", link);
	append_processes(text, verb, proc, &search);
}
