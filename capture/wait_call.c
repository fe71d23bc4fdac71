/* SPDX-License-Identifier: GPL-2.0-only */
#include "wait_call.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/number.h"
#include "base/unicode.h"
#include "capture/bpf/file_class.h"

/* --- numbers --- */

#if defined(__x86_64__)
#define NATIVE(x86_64, i386, arm64, arm) x86_64
#define COMPAT(x86_64, i386, arm64, arm) i386
#elif defined(__aarch64__)
#define NATIVE(x86_64, i386, arm64, arm) arm64
#define COMPAT(x86_64, i386, arm64, arm) arm
#elif (defined(__riscv) && __riscv_xlen == 64) || defined(__loongarch64)
#define NATIVE(x86_64, i386, arm64, arm) arm64
#elif defined(__i386__)
#define NATIVE(x86_64, i386, arm64, arm) i386
#elif defined(__arm__)
#define NATIVE(x86_64, i386, arm64, arm) arm
#endif

/* The class of a call that is in no table. */
#ifdef NATIVE
#define UNLISTED WAIT_CLASS_OTHER
#else
#define NATIVE(x86_64, i386, arm64, arm) -1
#define UNLISTED                         WAIT_CLASS_UNKNOWN
#endif
#ifndef COMPAT
#define COMPAT(x86_64, i386, arm64, arm) -1
#endif

enum {
#define WAIT_CALL(name, class, has_descriptor, arguments, ...)                                               \
	NATIVE_##name = NATIVE(__VA_ARGS__), COMPAT_##name = COMPAT(__VA_ARGS__),
#include "wait_call.def"
#undef WAIT_CALL
};

enum {
#define WAIT_CALL(name, ...) ROW_##name,
#include "wait_call.def"
#undef WAIT_CALL
	ROW_COUNT,
};

enum {
	HAS_DESCRIPTOR = 0x80,
	CLASS_MASK = 0x7f,
};

/* Calls that the ABI lacks have places of their own past the limit, where nothing looks. */
#define PLACE(number, name) ((number) >= 0 ? (number) : WAIT_CALL_LIMIT + ROW_##name)

/* Class and HAS_DESCRIPTOR of a call by its number; 0: none of the table. */
static const uint8_t native_calls[WAIT_CALL_LIMIT + ROW_COUNT] = {
#define WAIT_CALL(name, class, has_descriptor, arguments, ...)                                               \
	[PLACE(NATIVE_##name, name)] = WAIT_CLASS_##class | (has_descriptor ? HAS_DESCRIPTOR : 0),
#include "wait_call.def"
#undef WAIT_CALL
};

static const uint8_t compat_calls[WAIT_CALL_LIMIT + ROW_COUNT] = {
#define WAIT_CALL(name, class, has_descriptor, arguments, ...)                                               \
	[PLACE(COMPAT_##name, name)] = WAIT_CLASS_##class | (has_descriptor ? HAS_DESCRIPTOR : 0),
#include "wait_call.def"
#undef WAIT_CALL
};

/* Whether it is the call of that name. */
#define IS_CALL(call, name)                                                                                  \
	((call)->number >= 0 && (call)->number == ((call)->is_compat ? COMPAT_##name : NATIVE_##name))

static uint8_t find_entry(bool is_compat, int32_t number)
{
	uint8_t entry = 0;

	if (number >= 0 && number < WAIT_CALL_LIMIT)
		entry = is_compat ? compat_calls[number] : native_calls[number];
	return entry != 0 ? entry : UNLISTED;
}

enum wait_class wait_call_class(const struct wait_call *call)
{
	if (call->number == WAIT_CALL_NONE)
		return WAIT_CLASS_FAULT;
	return (enum wait_class)(find_entry(call->is_compat, call->number) & CLASS_MASK);
}

const char *wait_call_name(const struct wait_call *call, unsigned int *ret_arguments)
{
	static const struct {
		const char *name;
		int native, compat;
		unsigned int arguments;
	} rows[] = {
#define WAIT_CALL(name, class, has_descriptor, arguments, ...)                                               \
	{#name, NATIVE_##name, COMPAT_##name, arguments},
#include "wait_call.def"
#undef WAIT_CALL
	};

	for (size_t i = 0; i < ROW_COUNT && call->number >= 0; i++) {
		if ((call->is_compat ? rows[i].compat : rows[i].native) == call->number) {
			*ret_arguments = rows[i].arguments;
			return rows[i].name;
		}
	}
	return NULL;
}

bool wait_call_has_descriptor(bool is_compat, int32_t number)
{
	return (find_entry(is_compat, number) & HAS_DESCRIPTOR) != 0;
}

bool wait_call_polls(const struct wait_call *call)
{
	return IS_CALL(call, poll) || IS_CALL(call, ppoll) || IS_CALL(call, ppoll_time64);
}

bool wait_call_resumes(const struct wait_call *call)
{
	return IS_CALL(call, restart_syscall);
}

/* Besides sleeps, poll(2) and futex(2) have a restart block (include/linux/restart_block.h). */
void wait_call_resume(struct wait_call *call, int16_t *last)
{
	struct wait_call before = *call;
	enum wait_class class;

	if (!wait_call_resumes(call)) {
		*last = (int16_t)(call->number >= 0 && call->number < WAIT_CALL_LIMIT ? call->number
										      : WAIT_CALL_NONE);
		return;
	}
	before.number = *last;
	class = wait_call_class(&before);
	if (class == WAIT_CLASS_FUTEX || class == WAIT_CLASS_POLL)
		*call = before;
}

/* --- files --- */

enum {
	PTS_PER_MAJOR = 256,
};

enum wait_class wait_file_class(const struct wait_file *file)
{
	uint64_t name = 0;

	for (size_t i = 0; i < sizeof(name); i++)
		name |= (uint64_t)(unsigned char)file->name[i] << 8 * i;
	return (enum wait_class)file_class(file->magic, file->mode, file->device, name);
}

/* Whether the link is PREFIX[NUMBER], and the number. */
static bool parse_inode(const char *link, size_t length, const char *prefix, uint64_t *ret_inode)
{
	const size_t start = strlen(prefix);

	return length > start + 2 && memcmp(link, prefix, start) == 0 && link[start] == '[' &&
	       link[length - 1] == ']' && number_parse_u64(link + start + 1, length - start - 2, ret_inode);
}

static void set_name(struct wait_file *file, const char *name, size_t length)
{
	const size_t size = length < sizeof(file->name) ? length : sizeof(file->name) - 1;

	memcpy(file->name, name, size);
	file->name[size] = '\0';
}

/* The last component of a path as d_path() of fs/d_path.c writes it. */
static void set_path(struct wait_file *file, const char *path, size_t length)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;
	const char *slash;

	if (length > tail && memcmp(path + length - tail, deleted, tail) == 0)
		length -= tail;
	slash = memrchr(path, '/', length);
	set_name(file, slash + 1, length - (size_t)(slash + 1 - path));
}

bool wait_file_from_link(const char *link, size_t length, struct wait_file *ret_file)
{
	static const char anonymous[] = "anon_inode:";
	const size_t start = sizeof(anonymous) - 1;

	*ret_file = (struct wait_file){0};
	if (length != 0 && link[0] == '/') {
		set_path(ret_file, link, length);
		return false;
	}
	if (parse_inode(link, length, "socket:", &ret_file->inode)) {
		ret_file->mode = S_IFSOCK;
	} else if (parse_inode(link, length, "pipe:", &ret_file->inode)) {
		ret_file->mode = S_IFIFO;
	} else if (parse_inode(link, length, "pidfd:", &ret_file->inode)) {
		ret_file->magic = MAGIC_PIDFD;
	} else if (length > start && memcmp(link, anonymous, start) == 0) {
		ret_file->magic = MAGIC_ANONYMOUS;
		set_name(ret_file, link + start, length - start);
	} else {
		ret_file->mode = S_IFREG;
		set_name(ret_file, link, length);
	}
	return true;
}

/* --- objects --- */

static enum futex_call futex_call(const struct wait_call *call)
{
	if (IS_CALL(call, futex) || IS_CALL(call, futex_time64))
		return FUTEX_CALL_OPERATION;
	if (IS_CALL(call, futex_wait))
		return FUTEX_CALL_ADDRESS;
	return IS_CALL(call, restart_syscall) ? FUTEX_CALL_RESUMED : FUTEX_CALL_NONE;
}

void wait_call_list_futexes(struct futex_calls *ret_calls)
{
	for (int abi = 0; abi < 2; abi++) {
		for (int32_t number = 0; number < WAIT_CALL_LIMIT; number++) {
			const struct wait_call call = {.number = number, .is_compat = abi == 1};

			ret_calls->of[abi][number] = (uint8_t)futex_call(&call);
		}
	}
}

/* Calls without an address here have an array of addresses in user memory. */
static int write_futex(const struct wait_call *call, char text[static WAIT_OBJECT_SIZE])
{
	const enum futex_call kind = futex_call(call);

	if (kind != FUTEX_CALL_ADDRESS && kind != FUTEX_CALL_OPERATION)
		return 0;
	return snprintf(text, WAIT_OBJECT_SIZE, "0x%" PRIx64 "%s", call->arguments[0],
			kind == FUTEX_CALL_OPERATION &&
					futex_record_is_lock(call->arguments[1], (uint32_t)call->arguments[2])
				? WAIT_OBJECT_LOCK
				: "");
}

enum {
	IPV4_SIZE = 4,
	IPV4_LOOPBACK = 127, /* first byte of the network 127.0.0.0/8 */
};

/* The bytes of an IPv4 address, also if it is mapped into IPv6; NULL if it is none. */
static const uint8_t *find_ipv4(const struct wait_file *file)
{
	static const uint8_t mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (file->family == AF_INET)
		return file->remote_address;
	return memcmp(file->remote_address, mapped, sizeof(mapped)) == 0
		       ? file->remote_address + sizeof(mapped)
		       : NULL;
}

static bool is_loopback(const struct wait_file *file)
{
	const uint8_t *ipv4 = find_ipv4(file);

	return ipv4 != NULL ? ipv4[0] == IPV4_LOOPBACK
			    : memcmp(file->remote_address, &in6addr_loopback, sizeof(in6addr_loopback)) == 0;
}

/* The port of the service, taken to be the lower one, and its host if that is another one. */
static int write_port(const struct wait_file *file, const char *peer_name, char text[static WAIT_OBJECT_SIZE])
{
	const uint16_t local = file->local_port, remote = file->remote_port;
	const bool is_local = remote == 0 || (local != 0 && local <= remote);
	const uint16_t port = is_local ? local : remote;
	const uint8_t *ipv4 = find_ipv4(file);
	char address[INET6_ADDRSTRLEN] = "";

	if (port == 0)
		return 0;
	if (!is_local && !is_loopback(file))
		inet_ntop(ipv4 != NULL ? AF_INET : AF_INET6, ipv4 != NULL ? ipv4 : file->remote_address,
			  address, sizeof(address));
	return snprintf(text, WAIT_OBJECT_SIZE,
			ipv4 == NULL && address[0] != '\0' ? "[%s]:%u%s%s" : "%s:%u%s%s", address, port,
			peer_name[0] != '\0' ? " " : "", peer_name);
}

static int write_socket(const struct wait_file *file, const char *peer_name,
			char text[static WAIT_OBJECT_SIZE])
{
	switch (file->family) {
	case AF_INET:
	case AF_INET6:
		return write_port(file, peer_name, text);
	case AF_UNIX:
		return snprintf(text, WAIT_OBJECT_SIZE, "%s", peer_name);
	default:
		return 0;
	}
}

/* The name of a file; "[eventfd]" without its brackets. */
static int write_name(const struct wait_file *file, char text[static WAIT_OBJECT_SIZE])
{
	size_t length = strnlen(file->name, sizeof(file->name)), start = 0;

	if (file->magic == MAGIC_ANONYMOUS && length > 1 && file->name[0] == '[' &&
	    file->name[length - 1] == ']') {
		start = 1;
		length -= 2;
	}
	return snprintf(text, WAIT_OBJECT_SIZE, "%.*s", (int)length, file->name + start);
}

static int write_object(enum wait_class class, const struct wait_call *call, const struct wait_file *file,
			const char *peer_name, char text[static WAIT_OBJECT_SIZE])
{
	if (class == WAIT_CLASS_FUTEX)
		return write_futex(call, text);
	if (file == NULL)
		return 0;
	switch (class) {
	case WAIT_CLASS_SOCKET:
		return write_socket(file, peer_name, text);
	case WAIT_CLASS_TTY:
		if (file_is_pts(file->device))
			return snprintf(text, WAIT_OBJECT_SIZE, "pts/%" PRIu32,
					((file->device >> DEVICE_MINOR_BITS) - DEVICE_PTS_FIRST) *
							PTS_PER_MAJOR +
						(file->device & ((1U << DEVICE_MINOR_BITS) - 1)));
		return write_name(file, text);
	case WAIT_CLASS_FILE:
	case WAIT_CLASS_FILE_LOCK:
	case WAIT_CLASS_EVENTS:
	case WAIT_CLASS_MESSAGE_QUEUE:
		return write_name(file, text);
	default:
		return 0;
	}
}

/* Where to cut a text of `length` bytes, so that it does not end in a part of a character. */
static size_t find_cut(const char *text, size_t length)
{
	size_t start = length;
	uint32_t scalar;

	while (start != 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0 || ((unsigned char)text[start - 1] & 0x80) == 0)
		return length;
	start--;
	return unicode_decode(text + start, length - start, &scalar) != 0 ? length : start;
}

size_t wait_call_object(enum wait_class class, const struct wait_call *call, const struct wait_file *file,
			const char *peer_name, char text[static WAIT_OBJECT_SIZE])
{
	bool is_cut = file != NULL && strnlen(file->name, sizeof(file->name)) >= sizeof(file->name) - 1;
	size_t length;

	text[0] = '\0';
	length = (size_t)write_object(class, call, file, peer_name != NULL ? peer_name : "", text);
	if (length >= WAIT_OBJECT_SIZE) {
		length = WAIT_OBJECT_SIZE - 1;
		is_cut = true;
	}
	if (is_cut)
		length = find_cut(text, length);
	text[length] = '\0';
	return length;
}
