/* SPDX-License-Identifier: GPL-2.0-only */
/* From a system call and a file to what a thread waits for. */
#include <arpa/inet.h>
#include <ctype.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tests/cmocka_include.h"

#include "capture/wait_call.h"

#define NUMBERS wait_call_numbers_native
#include "wait_call_numbers.h"

extern const char *const wait_call_numbers_i386[], *const wait_call_numbers_arm64[];

enum abi {
	ABI_X86_64,
	ABI_I386,
	ABI_ARM64,
	ABI_ARM,
	ABI_COUNT,
#if defined(__x86_64__)
	ABI_NATIVE = ABI_X86_64,
	ABI_COMPAT = ABI_I386,
#elif defined(__i386__)
	ABI_NATIVE = ABI_I386,
	ABI_COMPAT = ABI_COUNT,
#elif defined(__aarch64__)
	ABI_NATIVE = ABI_ARM64,
	ABI_COMPAT = ABI_ARM,
#elif defined(__arm__)
	ABI_NATIVE = ABI_ARM,
	ABI_COMPAT = ABI_COUNT,
#else
	ABI_NATIVE = ABI_ARM64, /* riscv64, loongarch64 */
	ABI_COMPAT = ABI_COUNT,
#endif
};

static const struct row {
	const char *name;
	enum wait_class class;
	bool has_descriptor;
	int numbers[ABI_COUNT];
} rows[] = {
#define WAIT_CALL(name, class, has_descriptor, arguments, ...)                                               \
	{#name, WAIT_CLASS_##class, has_descriptor, {__VA_ARGS__}},
#include "capture/wait_call.def"
#undef WAIT_CALL
};

enum {
	ROW_COUNT = sizeof(rows) / sizeof(rows[0])
};

/* --- the table --- */

static int number_of(const char *text)
{
	return isdigit((unsigned char)text[0]) ? atoi(text) : -1;
}

/* Compares a column with a header, which may be too old for the newest calls. */
static void expect_numbers(enum abi abi, const char *const *in_header)
{
	int newest = -1;

	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (number_of(in_header[i]) > newest)
			newest = number_of(in_header[i]);
	}
	for (size_t i = 0; i < ROW_COUNT; i++) {
		const int number = rows[i].numbers[abi];

		if (number <= newest && number != number_of(in_header[i]))
			fail_msg("%s: %d in the table, %s in the header", rows[i].name, number, in_header[i]);
	}
}

static void test_numbers_equal_the_headers(void **state)
{
	(void)state;
	expect_numbers(ABI_NATIVE, wait_call_numbers_native);
	expect_numbers(ABI_I386, wait_call_numbers_i386);
	expect_numbers(ABI_ARM64, wait_call_numbers_arm64);
	assert_true(number_of(wait_call_numbers_native[0]) > 0);
}

/* Some of the ABI whose header no build host has: arch/arm/tools/syscall.tbl. */
static void test_numbers_of_arm(void **state)
{
	static const struct {
		const char *name;
		int number;
	} calls[] = {
		{"read", 3},       {"_newselect", 142}, {"nanosleep", 162},    {"poll", 168},
		{"futex", 240},    {"epoll_wait", 252}, {"recv", 291},         {"semtimedop", 312},
		{"pselect6", 335}, {"accept4", 366},    {"ppoll_time64", 414}, {"socketcall", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		for (size_t k = 0; k < ROW_COUNT; k++) {
			if (strcmp(rows[k].name, calls[i].name) == 0)
				assert_int_equal(rows[k].numbers[ABI_ARM], calls[i].number);
		}
	}
}

static void expect_row(const struct row *row, enum abi abi, bool is_compat)
{
	const struct wait_call call = {.number = row->numbers[abi], .is_compat = is_compat};

	if (call.number == -1)
		return;
	assert_in_range(call.number, 0, WAIT_CALL_LIMIT - 1);
	assert_int_equal(wait_call_class(&call), row->class);
	assert_int_equal(wait_call_has_descriptor(is_compat, call.number), row->has_descriptor);
}

static void test_rows_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROW_COUNT; i++) {
		expect_row(&rows[i], ABI_NATIVE, false);
		if (ABI_COMPAT != ABI_COUNT)
			expect_row(&rows[i], ABI_COMPAT, true);
	}
}

static void test_other_numbers(void **state)
{
	static const int32_t numbers[] = {SYS_getpid, WAIT_CALL_LIMIT - 1, WAIT_CALL_LIMIT,
					  -2,         INT32_MAX,           INT32_MIN};
	struct wait_call call = {.number = WAIT_CALL_NONE};

	(void)state;
	assert_int_equal(wait_call_class(&call), WAIT_CLASS_FAULT);
	assert_false(wait_call_has_descriptor(false, WAIT_CALL_NONE));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		call.number = numbers[i];
		assert_int_equal(wait_call_class(&call), WAIT_CLASS_OTHER);
		assert_false(wait_call_has_descriptor(false, numbers[i]));
	}
	call = (struct wait_call){.number = WAIT_CALL_LIMIT, .is_compat = true};
	assert_int_equal(wait_call_class(&call), WAIT_CLASS_OTHER);
}

static void test_restarts(void **state)
{
	const struct wait_call restart = {SYS_restart_syscall, false, {0x1000, 0x80, 2}};
	static const int16_t others[] = {SYS_read, SYS_clock_nanosleep, SYS_recvfrom, WAIT_CALL_NONE};
	static const int32_t numbers[] = {SYS_read, WAIT_CALL_LIMIT, -7};
	struct wait_call call = restart;
	int16_t last = SYS_futex;

	(void)state;
	wait_call_resume(&call, &last);
	assert_int_equal(call.number, SYS_futex);
	assert_int_equal(call.arguments[0], 0x1000);
	call = restart;
	last = SYS_ppoll;
	wait_call_resume(&call, &last);
	assert_int_equal(call.number, SYS_ppoll);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		call = restart;
		last = others[i];
		wait_call_resume(&call, &last);
		assert_int_equal(call.number, SYS_restart_syscall);
		assert_int_equal(last, others[i]);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		call = (struct wait_call){.number = numbers[i]};
		wait_call_resume(&call, &last);
		assert_int_equal(call.number, numbers[i]);
		assert_int_equal(last, i == 0 ? SYS_read : WAIT_CALL_NONE);
	}
}

/* --- files --- */

static uint32_t device(uint32_t major, uint32_t minor)
{
	return major << 20 | minor;
}

static void test_classes_of_files(void **state)
{
	const struct {
		struct wait_file file;
		enum wait_class class;
	} files[] = {
		{{.mode = S_IFSOCK | 0777}, WAIT_CLASS_SOCKET},
		{{.mode = S_IFIFO | 0600}, WAIT_CLASS_PIPE},
		{{.mode = S_IFREG | 0644, .name = "x.log"}, WAIT_CLASS_FILE},
		{{.mode = S_IFDIR | 0755, .name = "tmp"}, WAIT_CLASS_FILE},
		{{.mode = S_IFCHR | 0600, .device = device(4, 1)}, WAIT_CLASS_TTY},
		{{.mode = S_IFCHR | 0600, .device = device(5, 2)}, WAIT_CLASS_TTY},
		{{.mode = S_IFCHR | 0600, .device = device(136, 3)}, WAIT_CLASS_TTY},
		{{.mode = S_IFCHR | 0600, .device = device(143, 255)}, WAIT_CLASS_TTY},
		{{.mode = S_IFCHR | 0600, .device = device(144, 0)}, WAIT_CLASS_FILE},
		{{.mode = S_IFCHR | 0600, .device = device(10, 229), .name = "fuse"}, WAIT_CLASS_FILE},
		{{.mode = S_IFBLK | 0600, .device = device(4, 1), .name = "x"}, WAIT_CLASS_FILE},
		/* kernels differ in the mode of anonymous inodes */
		{{.magic = ANON_INODE_FS_MAGIC, .name = "[eventfd]"}, WAIT_CLASS_EVENTS},
		{{.magic = ANON_INODE_FS_MAGIC, .mode = S_IFREG | 0600, .name = "[timerfd]"},
		 WAIT_CLASS_EVENTS},
		{{.magic = ANON_INODE_FS_MAGIC, .mode = 0600, .name = "inotify"}, WAIT_CLASS_EVENTS},
		{{.magic = ANON_INODE_FS_MAGIC, .name = "[signalfd]"}, WAIT_CLASS_EVENTS},
		{{.magic = ANON_INODE_FS_MAGIC, .mode = S_IFREG, .name = "[eventpoll]"}, WAIT_CLASS_POLL},
		{{.magic = ANON_INODE_FS_MAGIC, .mode = S_IFREG, .name = "[io_uring]"}, WAIT_CLASS_IO_URING},
		{{.magic = ANON_INODE_FS_MAGIC, .mode = S_IFREG, .name = "[pidfd]"}, WAIT_CLASS_CHILD},
		{{.magic = ANON_INODE_FS_MAGIC}, WAIT_CLASS_EVENTS},
		{{.magic = 0x50494446, .mode = S_IFREG | 0700}, WAIT_CLASS_CHILD},
		/* a file may have such a name */
		{{.magic = EXT4_SUPER_MAGIC, .mode = S_IFREG | 0600, .name = "[pidfd]"}, WAIT_CLASS_FILE},
		{{0}, WAIT_CLASS_FILE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_int_equal(wait_file_class(&files[i].file), files[i].class);
}

static void expect_link(const char *link, const char *name, enum wait_class class, bool is_path)
{
	const size_t length = strlen(link);
	char *copy = malloc(length != 0 ? length : 1);
	struct wait_file file;

	assert_non_null(copy);
	memcpy(copy, link, length);
	assert_int_equal(wait_file_from_link(copy, length, &file), !is_path);
	assert_string_equal(file.name, name);
	assert_int_equal(wait_file_class(&file), class);
	free(copy);
}

static void test_links(void **state)
{
	struct wait_file file;

	(void)state;
	expect_link("socket:[12345]", "", WAIT_CLASS_SOCKET, false);
	expect_link("pipe:[1]", "", WAIT_CLASS_PIPE, false);
	expect_link("pidfd:[7]", "", WAIT_CLASS_CHILD, false);
	expect_link("anon_inode:[eventpoll]", "[eventpoll]", WAIT_CLASS_POLL, false);
	expect_link("anon_inode:[eventfd]", "[eventfd]", WAIT_CLASS_EVENTS, false);
	expect_link("anon_inode:inotify", "inotify", WAIT_CLASS_EVENTS, false);
	expect_link("anon_inode:[io_uring]", "[io_uring]", WAIT_CLASS_IO_URING, false);
	expect_link("anon_inode:[pidfd]", "[pidfd]", WAIT_CLASS_CHILD, false);
	expect_link("net:[4026531840]", "net:[4026531840]", WAIT_CLASS_FILE, false);
	/* paths, whatever they look like */
	expect_link("/var/log/x.log", "x.log", WAIT_CLASS_FILE, true);
	expect_link("/var/log/x.log (deleted)", "x.log", WAIT_CLASS_FILE, true);
	expect_link("/tmp/socket:[1]", "socket:[1]", WAIT_CLASS_FILE, true);
	expect_link("/memfd:heap (deleted)", "memfd:heap", WAIT_CLASS_FILE, true);
	expect_link("/ (deleted)", "", WAIT_CLASS_FILE, true);
	expect_link("/", "", WAIT_CLASS_FILE, true);
	expect_link("/a/0123456789012345678901234567890123", "0123456789012345678901234567890",
		    WAIT_CLASS_FILE, true);
	/* malformed */
	expect_link("", "", WAIT_CLASS_FILE, false);
	expect_link("socket:[]", "socket:[]", WAIT_CLASS_FILE, false);
	expect_link("socket:[1", "socket:[1", WAIT_CLASS_FILE, false);
	expect_link("socket:", "socket:", WAIT_CLASS_FILE, false);
	expect_link("pipe:[x]", "pipe:[x]", WAIT_CLASS_FILE, false);
	expect_link("anon_inode:", "anon_inode:", WAIT_CLASS_FILE, false);
	expect_link(" (deleted)", " (deleted)", WAIT_CLASS_FILE, false);
	assert_true(wait_file_from_link("socket:[12345]", 14, &file));
	assert_int_equal(file.inode, 12345);
}

/* --- objects --- */

static void expect_object(enum wait_class class, const struct wait_call *call, const struct wait_file *file,
			  const char *peer_name, const char *expected)
{
	char text[WAIT_OBJECT_SIZE];
	size_t length;

	memset(text, 'x', sizeof(text));
	length = wait_call_object(class, call, file, peer_name, text);
	assert_string_equal(text, expected);
	assert_int_equal(length, strlen(expected));
}

static void expect_futex(uint64_t operation, uint64_t value, const char *expected)
{
	const struct wait_call call = {SYS_futex, false, {0x7f3a12c0, operation, value}};

	expect_object(WAIT_CLASS_FUTEX, &call, NULL, NULL, expected);
}

static void test_futexes(void **state)
{
	const uint64_t private_clock = FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME;
	struct wait_call call = {449, false, {0x1000, 2, 0}};

	(void)state;
	/* glibc, musl, Rust */
	expect_futex(FUTEX_WAIT, 2, "0x7f3a12c0 lock");
	expect_futex(FUTEX_WAIT_PRIVATE, 2, "0x7f3a12c0 lock");
	expect_futex(FUTEX_WAIT_BITSET | private_clock, 2, "0x7f3a12c0 lock");
	expect_futex(FUTEX_WAIT_PRIVATE, 0x800004d2, "0x7f3a12c0 lock");
	expect_futex(FUTEX_WAIT_PRIVATE, 0xffffffff800004d2, "0x7f3a12c0 lock");
	expect_futex(FUTEX_LOCK_PI_PRIVATE, 0, "0x7f3a12c0 lock");
	expect_futex(FUTEX_LOCK_PI2, 0, "0x7f3a12c0 lock");
	/* condition variables, semaphores, Java, Go */
	expect_futex(FUTEX_WAIT_PRIVATE, 0, "0x7f3a12c0");
	expect_futex(FUTEX_WAIT_PRIVATE, 1, "0x7f3a12c0");
	expect_futex(FUTEX_WAIT_PRIVATE, 0xffffffff, "0x7f3a12c0");
	expect_futex(FUTEX_WAIT_PRIVATE, UINT64_MAX, "0x7f3a12c0");
	expect_futex(FUTEX_WAIT_BITSET | private_clock, 0, "0x7f3a12c0");
	expect_futex(FUTEX_WAIT_BITSET | private_clock, 0x800004d2, "0x7f3a12c0");
	expect_futex(FUTEX_WAIT_REQUEUE_PI_PRIVATE, 2, "0x7f3a12c0");
	expect_futex(FUTEX_WAIT | 0x10, 2, "0x7f3a12c0");
	/* futex_waitv(2) has no address in its registers, futex_wait(2) other arguments */
	expect_object(WAIT_CLASS_FUTEX, &call, NULL, NULL, "");
	call.number = 455;
	expect_object(WAIT_CLASS_FUTEX, &call, NULL, NULL, "0x1000");
	call = (struct wait_call){SYS_futex, false, {UINT64_MAX, FUTEX_LOCK_PI, 0}};
	expect_object(WAIT_CLASS_FUTEX, &call, NULL, NULL, "0xffffffffffffffff lock");
	if (ABI_COMPAT != ABI_COUNT) {
		/* 240 and 422 in both 32-bit ABIs */
		call = (struct wait_call){240, true, {0xf7001000, FUTEX_WAIT_PRIVATE, 2}};
		expect_object(WAIT_CLASS_FUTEX, &call, NULL, NULL, "0xf7001000 lock");
		call.number = 422;
		expect_object(WAIT_CLASS_FUTEX, &call, NULL, NULL, "0xf7001000 lock");
	}
}

static void expect_socket(int family, const char *address, unsigned int local, unsigned int remote,
			  const char *peer_name, const char *expected)
{
	const struct wait_call call = {.number = SYS_recvfrom};
	struct wait_file file = {.mode = S_IFSOCK,
				 .family = (uint16_t)family,
				 .local_port = (uint16_t)local,
				 .remote_port = (uint16_t)remote,
				 .name = "TCP"};

	if (address != NULL)
		assert_int_equal(inet_pton(family, address, file.remote_address), 1);
	expect_object(WAIT_CLASS_SOCKET, &call, &file, peer_name, expected);
}

static void test_sockets(void **state)
{
	(void)state;
	expect_socket(AF_INET, "127.0.0.1", 40000, 5432, NULL, ":5432");
	expect_socket(AF_INET, "127.3.2.1", 40000, 5432, "postgres", ":5432 postgres");
	expect_socket(AF_INET, "10.0.0.7", 40000, 5432, NULL, "10.0.0.7:5432");
	expect_socket(AF_INET, "10.0.0.7", 80, 40000, NULL, ":80");
	expect_socket(AF_INET, "10.0.0.7", 80, 80, NULL, ":80");
	expect_socket(AF_INET, "255.255.255.255", 65535, 65534, NULL, "255.255.255.255:65534");
	expect_socket(AF_INET, NULL, 80, 0, NULL, ":80");
	expect_socket(AF_INET, "10.0.0.7", 0, 443, NULL, "10.0.0.7:443");
	expect_socket(AF_INET, NULL, 0, 0, NULL, "");
	expect_socket(AF_INET6, "2001:db8::1", 40000, 443, NULL, "[2001:db8::1]:443");
	expect_socket(AF_INET6, "::1", 40000, 443, NULL, ":443");
	expect_socket(AF_INET6, "::ffff:10.0.0.7", 40000, 443, NULL, "10.0.0.7:443");
	expect_socket(AF_INET6, "::ffff:127.0.0.1", 40000, 443, NULL, ":443");
	expect_socket(AF_INET6, "::", 8080, 0, NULL, ":8080");
	expect_socket(AF_INET6, "2001:db8:1111:2222:3333:4444:5555:6666", 40000, 10000, "a-program-name",
		      "[2001:db8:1111:2222:3333:4444:5555:6666]:10000 a-program-name");
	expect_socket(AF_UNIX, NULL, 0, 0, "dbus-daemon", "dbus-daemon");
	expect_socket(AF_UNIX, NULL, 0, 0, NULL, "");
	expect_socket(AF_NETLINK, NULL, 0, 0, NULL, "");
	expect_socket(AF_UNSPEC, NULL, 80, 81, "x", "");
}

static void expect_file(enum wait_class class, struct wait_file file, const char *expected)
{
	const struct wait_call call = {.number = SYS_read, .arguments = {7, 0x1000, 2}};

	expect_object(class, &call, &file, "peer", expected);
}

static void test_files(void **state)
{
	const struct wait_call call = {.number = SYS_fsync, .arguments = {7}};

	(void)state;
	expect_file(WAIT_CLASS_FILE, (struct wait_file){.mode = S_IFREG, .name = "x.log"}, "x.log");
	expect_file(WAIT_CLASS_FILE, (struct wait_file){.mode = S_IFCHR, .name = "fuse"}, "fuse");
	expect_file(WAIT_CLASS_FILE, (struct wait_file){.mode = S_IFREG, .name = "[x]"}, "[x]");
	expect_file(WAIT_CLASS_FILE_LOCK, (struct wait_file){.mode = S_IFREG, .name = "pid.lock"},
		    "pid.lock");
	expect_file(WAIT_CLASS_MESSAGE_QUEUE, (struct wait_file){.mode = S_IFREG, .name = "jobs"}, "jobs");
	expect_file(WAIT_CLASS_EVENTS, (struct wait_file){.magic = ANON_INODE_FS_MAGIC, .name = "[eventfd]"},
		    "eventfd");
	expect_file(WAIT_CLASS_EVENTS, (struct wait_file){.magic = ANON_INODE_FS_MAGIC, .name = "inotify"},
		    "inotify");
	expect_file(WAIT_CLASS_EVENTS, (struct wait_file){.magic = ANON_INODE_FS_MAGIC, .name = "["}, "[");
	expect_file(WAIT_CLASS_EVENTS, (struct wait_file){.magic = ANON_INODE_FS_MAGIC, .name = "[]"}, "");
	expect_file(WAIT_CLASS_TTY,
		    (struct wait_file){.mode = S_IFCHR, .device = device(136, 3), .name = "3"}, "pts/3");
	expect_file(WAIT_CLASS_TTY,
		    (struct wait_file){.mode = S_IFCHR, .device = device(137, 3), .name = "x"}, "pts/259");
	expect_file(WAIT_CLASS_TTY,
		    (struct wait_file){.mode = S_IFCHR, .device = device(4, 1), .name = "tty1"}, "tty1");
	expect_file(WAIT_CLASS_PIPE, (struct wait_file){.mode = S_IFIFO, .name = "x"}, "");
	expect_file(WAIT_CLASS_POLL, (struct wait_file){.magic = ANON_INODE_FS_MAGIC, .name = "[eventpoll]"},
		    "");
	expect_file(WAIT_CLASS_TIMER, (struct wait_file){.mode = S_IFREG, .name = "x"}, "");
	expect_file(WAIT_CLASS_UNKNOWN, (struct wait_file){.mode = S_IFREG, .name = "x"}, "");
	for (enum wait_class class = WAIT_CLASS_UNKNOWN; class < WAIT_CLASS_COUNT; class ++)
		expect_object(class, &call, NULL, NULL, "");
}

/* A name that fills its array may have been cut within a character. */
static void test_names_that_were_cut(void **state)
{
	struct wait_file file = {.mode = S_IFREG, .name = "0123456789012345678901234567\xe2\x82\xac"};
	const char *peer = "0123456789012345678901234567890123456789012345678901234567890\xe2\x82\xac";

	(void)state;
	expect_file(WAIT_CLASS_FILE, file, "0123456789012345678901234567\xe2\x82\xac");
	file = (struct wait_file){.mode = S_IFREG, .name = "01234567890123456789012345678\xe2\x82"};
	expect_file(WAIT_CLASS_FILE, file, "01234567890123456789012345678");
	file = (struct wait_file){.mode = S_IFREG, .name = "012345678901234567890123456789\xe2"};
	expect_file(WAIT_CLASS_FILE, file, "012345678901234567890123456789");
	/* a shorter one is as it is, be it UTF-8 or not */
	file = (struct wait_file){.mode = S_IFREG, .name = "a\x01\xe2\x82"};
	expect_file(WAIT_CLASS_FILE, file, "a\x01\xe2\x82");
	/* an array without a NUL, which no caller should make */
	file = (struct wait_file){.mode = S_IFREG};
	memset(file.name, 0x80, sizeof(file.name));
	expect_file(WAIT_CLASS_FILE, file,
		    "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"
		    "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80");
	expect_socket(AF_UNIX, NULL, 0, 0, peer,
		      "0123456789012345678901234567890123456789012345678901234567890");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_equal_the_headers),
		cmocka_unit_test(test_numbers_of_arm),
		cmocka_unit_test(test_rows_are_found),
		cmocka_unit_test(test_other_numbers),
		cmocka_unit_test(test_restarts),
		cmocka_unit_test(test_classes_of_files),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_futexes),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_names_that_were_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
