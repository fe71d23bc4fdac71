/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorder on a file system that is full, or cannot be written: it says so, keeps what is there, removes
 * what it may, and goes on by itself. On a small tmpfs in a mount namespace of its own.
 */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/needs.h"

enum {
	ROOM = 12 << 20,
	BALLAST = 11 << 20,
};

static bool has_namespace;
static char *place;
static struct fixture_host host;

/* An empty file system of ROOM bytes; false where that is not permitted. */
static bool mount_room(void)
{
	char size[32];

	if (!has_namespace)
		return false;
	snprintf(size, sizeof(size), "size=%d", ROOM);
	return mount("ctop-test", place, "tmpfs", 0, size) == 0;
}

static void unmount_room(void)
{
	assert_int_equal(umount2(place, MNT_DETACH), 0);
}

#define NEED_ROOM()                                                                                          \
	do {                                                                                                 \
		if (!mount_room()) {                                                                         \
			skip_test("needs CAP_SYS_ADMIN to mount a file system in a namespace");              \
		}                                                                                            \
	} while (0)

static char *make_ballast(void)
{
	char *path = memory_format("%s/ballast", place);
	const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_int_equal(posix_fallocate(file, 0, BALLAST), 0);
	close(file);
	return path;
}

static int add(struct history_writer *writer, uint64_t number, struct error *error)
{
	struct snapshot *round = fixture_round(&host, number);
	const int result = history_writer_add(writer, round, error);

	snapshot_release(round);
	return result;
}

struct checking {
	const bool *stored;
	uint64_t expected;
	size_t pauses;
};

static void skip_lost(struct checking *checking, uint64_t count)
{
	while (checking->expected < count && !checking->stored[checking->expected])
		checking->expected++;
}

static void check_round(void *untyped, const struct history_round *round, uint64_t number)
{
	struct checking *checking = untyped;

	skip_lost(checking, number);
	assert_int_equal(number, checking->expected++);
	checking->pauses += round->after_pause;
	assert_int_equal(round->after_gap, number == 0 || round->after_pause);
}

/* Reads all rounds, which must be those of which `stored` says so; returns how many there are after a pause.
 */
static size_t check(const bool *stored, uint64_t count)
{
	struct history *history = fixture_open(place);
	struct checking checking = {stored, 0, 0};

	fixture_walk(history, &host, 0, check_round, &checking, NULL);
	skip_lost(&checking, count);
	assert_int_equal(checking.expected, count);
	history_close(history);
	return checking.pauses;
}

static void test_full_disk(void **state)
{
	enum {
		ROUNDS = 3000
	};
	bool stored[ROUNDS] = {false};
	struct history_writer *writer;
	struct error error = {0};
	uint64_t number = 0, paused_at;
	char *ballast;

	(void)state;
	NEED_ROOM();
	ballast = make_ballast();
	writer = fixture_writer(place, NULL);
	for (; number < ROUNDS && add(writer, number, &error) == 0; number++)
		stored[number] = true;
	paused_at = number;
	assert_in_range(paused_at, 20, ROUNDS - 500);
	assert_non_null(strstr(error.text, place));
	assert_non_null(strstr(error.text, "full"));
	assert_true(history_writer_state(writer)->paused);
	/* what is there can be read meanwhile; some rounds may be small enough to be stored */
	for (; number < paused_at + 10; number++)
		stored[number] = add(writer, number, &error) == 0;
	check(stored, number);
	assert_int_equal(unlink(ballast), 0);
	/* it goes on by itself */
	for (; number < paused_at + 60; number++) {
		stored[number] = add(writer, number, &error) == 0;
		if (!stored[number])
			fail_msg("%s", error.text);
	}
	assert_false(history_writer_state(writer)->paused);
	assert_true(check(stored, number) >= 1);
	history_writer_close(writer);
	assert_true(check(stored, number) >= 1);
	free(ballast);
	unmount_room();
}

/* Marks that did not fit on a full disk are stored as soon as a round fits again. */
static void test_marks_wait(void **state)
{
	enum {
		MARKS = 200 /* more than fit in the last page of the file */
	};
	struct history_mark mark = {.kind = "rule", .text = "psi.io > 10", .path = "x.ctprof.zst"};
	struct history_writer *writer;
	struct history_marks marks;
	struct history *history;
	struct error error = {0};
	uint64_t number = 0;
	char *ballast;

	(void)state;
	NEED_ROOM();
	ballast = make_ballast();
	writer = fixture_writer(place, NULL);
	while (add(writer, number, &error) == 0)
		number++;
	for (uint64_t i = 0; i < MARKS; i++) {
		mark.unix_ns = fixture_unix_ns(&host, number) + i;
		assert_int_equal(history_writer_mark(writer, &mark, &error), 0);
	}
	assert_int_equal(unlink(ballast), 0);
	assert_int_equal(add(writer, number, &error), 0);
	history = fixture_open(place);
	assert_int_equal(history_marks_read(history, 0, UINT64_MAX, &marks, NULL), 0);
	assert_int_equal(marks.count, MARKS);
	for (uint64_t i = 0; i < MARKS; i++) {
		assert_int_equal(marks.items[i].unix_ns, fixture_unix_ns(&host, number) + i);
		assert_string_equal(marks.items[i].path, "x.ctprof.zst");
	}
	history_marks_release(&marks);
	history_close(history);
	history_writer_close(writer);
	free(ballast);
	unmount_room();
}

/* The limit of bytes is kept by removing the oldest before anything else, so that a disk of that size never
 * is full. */
static void test_room_is_made(void **state)
{
	const struct history_writer_options options = {.max_bytes = ROOM / 2};
	struct history_writer *writer;
	struct history *history;
	struct history_round round;
	struct error error = {0};
	uint64_t number, failed = 0;
	size_t count;

	(void)state;
	NEED_ROOM();
	/* four days in parts, of which each is as large as a third of the disk */
	writer = fixture_writer(place, &options);
	for (uint64_t day = 0; day < 4; day++) {
		host.unix_ns = fixture_host.unix_ns + day * 86400 * NS_PER_S;
		host.boottime_ns = fixture_host.boottime_ns + day * 86400 * NS_PER_S;
		for (number = 0; number < 700; number++)
			failed += add(writer, number, &error) != 0;
	}
	assert_true(history_writer_state(writer)->removed_days > 0);
	/* not more than what was lost when the disk was full between two looks */
	assert_true(failed <= 40);
	history_writer_close(writer);
	history = fixture_open(place);
	history_days(history, &count);
	assert_int_equal(history_last(history, &round, NULL), 0);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&host, 699));
	history_close(history);
	host = fixture_host;
	host.noisy = true;
	unmount_room();
}

/* Writes that fail for another reason than a lack of room, here a limit of this process. */
static void test_refused_writes(void **state)
{
	enum {
		ROUNDS = 500
	};
	const struct rlimit limit = {1 << 20, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
	bool stored[ROUNDS] = {false};
	struct history_writer *writer;
	struct error error = {0};
	uint64_t number = 0, failed = 0;

	(void)state;
	NEED_ROOM();
	signal(SIGXFSZ, SIG_IGN);
	writer = fixture_writer(place, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (; number < ROUNDS - 50; number++) {
		const int result = add(writer, number, &error);

		stored[number] = result == 0;
		if (result != 0 && result != -EFBIG)
			fail_msg("%d: %s", result, error.text);
		failed += result != 0;
	}
	assert_true(failed > 0);
	assert_non_null(strstr(error.text, "File too large"));
	check(stored, number);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	for (; number < ROUNDS; number++) {
		if (add(writer, number, &error) < 0)
			fail_msg("%s", error.text);
		stored[number] = true;
	}
	assert_true(check(stored, number) >= 1);
	history_writer_close(writer);
	unmount_room();
}

static void test_read_only(void **state)
{
	const struct history_writer_options options = {.directory = place};
	struct history_writer *writer;
	struct error error = {0};
	bool stored[20];

	(void)state;
	NEED_ROOM();
	writer = fixture_writer(place, NULL);
	for (uint64_t number = 0; number < 20; number++) {
		assert_int_equal(add(writer, number, &error), 0);
		stored[number] = true;
	}
	history_writer_close(writer);
	assert_int_equal(mount(NULL, place, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_int_equal(history_writer_open(&options, &writer, &error), -EROFS);
	assert_non_null(strstr(error.text, place));
	check(stored, 20);
	unmount_room();
}

static int enter(void **state)
{
	(void)state;
	place = fixture_directory();
	host = fixture_host;
	host.noisy = true;
	has_namespace = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	return 0;
}

static int leave(void **state)
{
	(void)state;
	fixture_remove(place);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_disk),    cmocka_unit_test(test_marks_wait),
		cmocka_unit_test(test_room_is_made), cmocka_unit_test(test_refused_writes),
		cmocka_unit_test(test_read_only),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
