/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histories that are damaged, of others, or not to be read: what is whole is shown, the hole is named, and a
 * recorder leaves what it cannot write as it is.
 */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/needs.h"

enum {
	ROUNDS = 200,
	PAGE = 4096,
	VERSION_AT = 8, /* offset in the file */
};

/* A damaged round and the rounds encoded against it form one hole, listed with file and times. */
static void test_damaged_round(void **state)
{
	char *directory = fixture_record(ROUNDS);
	struct day_image image = fixture_image(directory);
	struct history *history;
	const struct history_hole *holes;
	struct history_round round;
	size_t failed, count;

	(void)state;
	/* the 62nd round: a step in the middle of its dozen */
	day_image_damage(&image, day_image_frame(&image, IMAGE_ROUND, 62));
	fixture_put_image(directory, &image);
	count = fixture_walk_all(directory, &failed);
	assert_int_equal(failed, 1);
	assert_in_range(count, ROUNDS - 12, ROUNDS - 1);
	history = fixture_open(directory);
	holes = history_damage(history, false, &failed);
	assert_int_equal(failed, 0);
	holes = history_damage(history, true, &failed);
	assert_int_equal(failed, 1);
	assert_string_equal(holes[0].name, FIXTURE_DAY);
	assert_int_equal(holes[0].from_unix_ns, fixture_unix_ns(&fixture_host, 62));
	assert_int_equal(holes[0].rounds, ROUNDS - count);
	assert_int_equal(holes[0].to_unix_ns, fixture_unix_ns(&fixture_host, 62 + holes[0].rounds));
	assert_non_null(strstr(holes[0].why, "damaged"));
	/* it is not found any more */
	assert_int_equal(
		history_find(history, fixture_unix_ns(&fixture_host, 62), HISTORY_AT_OR_BEFORE, &round, NULL),
		0);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, 61));
	assert_int_equal(history_step(history, &round, 1, &round, NULL), 0);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, 62 + ROUNDS - count));
	assert_int_equal(history_step(history, &round, -1, &round, NULL), 0);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, 61));
	assert_int_equal(history_step(history, &round, 2, &round, NULL), 0);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, 63 + ROUNDS - count));
	history_close(history);
	fixture_remove(directory);
}

/* The interval of one round is damaged, and the frame of another has an unknown kind. */
static void test_damaged_parts(void **state)
{
	char *directory = fixture_record(60);
	struct day_image image = fixture_image(directory);
	const size_t round = day_image_frame(&image, IMAGE_ROUND, 30);
	size_t failed, count;

	(void)state;
	/* the interval of round 5: the first round has none */
	day_image_damage(&image, day_image_frame(&image, IMAGE_INTERVAL, 4));
	day_image_put(&image, round + IMAGE_KIND_AT, 1, 99);
	day_image_seal(&image, round);
	fixture_put_image(directory, &image);
	count = fixture_walk_all(directory, &failed);
	assert_int_equal(failed, 2);
	assert_in_range(count, 60 - 2 * 12, 58);
	fixture_remove(directory);
}

/* Any page of the file is overwritten: nothing that is shown is wrong, and nothing crashes. */
static void test_damaged_pages(void **state)
{
	char *directory = fixture_record(ROUNDS), *path = fixture_path(directory),
	     *garbage = memory_allocate(PAGE);
	struct stat status;
	size_t survived = 0, pages;
	int original;
	char *bytes;

	(void)state;
	assert_int_equal(stat(path, &status), 0);
	pages = (size_t)status.st_size / PAGE;
	bytes = memory_allocate((size_t)status.st_size);
	original = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(original, bytes, (size_t)status.st_size, 0), status.st_size);
	for (size_t page = 0; page < pages; page++) {
		const off_t at = (off_t)(page * PAGE);
		struct history *history;
		size_t failed, count, holes;

		for (size_t i = 0; i < PAGE; i++)
			garbage[i] = (char)(page * 31 + i * 7 + (i >> 5));
		assert_int_equal(pwrite(original, garbage, PAGE, at), PAGE);
		count = fixture_walk_all(directory, &failed);
		survived += count;
		history = fixture_open(directory);
		history_damage(history, true, &holes);
		/* garbage at the end of a file counts as an unfinished frame, not as damage */
		assert_true(count == ROUNDS || holes != 0 || page + 2 >= pages);
		history_close(history);
		assert_int_equal(pwrite(original, bytes + at, PAGE, at), PAGE);
	}
	/* most pages hold few rounds */
	assert_true(survived > ROUNDS * pages / 2);
	assert_int_equal(close(original), 0);
	free(bytes);
	free(garbage);
	free(path);
	fixture_remove(directory);
}

/* All indexes but the last, or but the first and last, are damaged: rounds are found by their frames. */
static void test_damaged_indexes(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		char *directory = fixture_record(ROUNDS);
		struct day_image image = fixture_image(directory);
		const struct history_day *days;
		struct history *history;
		size_t failed, count;

		/* a damaged index at the end would count as an unfinished frame */
		for (int i = first; i < (int)day_image_count(&image, IMAGE_INDEX) - 1; i++)
			day_image_damage(&image, day_image_frame(&image, IMAGE_INDEX, i));
		fixture_put_image(directory, &image);
		assert_int_equal(fixture_walk_all(directory, &failed), ROUNDS);
		assert_int_equal(failed, 0);
		history = fixture_open(directory);
		days = history_days(history, &count);
		assert_int_equal(count, 1);
		assert_false(days[0].unreadable);
		assert_int_equal(days[0].first_unix_ns, fixture_unix_ns(&fixture_host, 0));
		assert_int_equal(days[0].last_unix_ns, fixture_unix_ns(&fixture_host, ROUNDS - 1));
		/* the damaged bytes may have held more rounds and marks */
		assert_true(days[0].rounds == HISTORY_COUNT_UNKNOWN);
		assert_true(days[0].marks == HISTORY_COUNT_UNKNOWN);
		history_close(history);
		fixture_remove(directory);
	}
}

static size_t cut_and_read(const char *path, off_t length, const char *directory, size_t *ret_failed)
{
	assert_int_equal(truncate(path, length), 0);
	return fixture_walk_all(directory, ret_failed);
}

/* A file that was cut off, by whatever: what is in front can be read. */
static void test_cut_file(void **state)
{
	char *directory = fixture_record(ROUNDS), *path = fixture_path(directory);
	struct stat status;
	size_t failed;

	(void)state;
	assert_int_equal(stat(path, &status), 0);
	for (off_t length = status.st_size - PAGE; length > 0; length -= PAGE * 3 + 17) {
		const size_t count = cut_and_read(path, length, directory, &failed);

		assert_true(count < ROUNDS);
		/* a file that ends early is not damaged */
		assert_int_equal(failed, 0);
		/* the oldest are in front */
		if (length > status.st_size / 2)
			assert_true(count > ROUNDS / 8);
	}
	free(path);
	fixture_remove(directory);
}

static void expect_day_refused(const char *directory, const char *name, int expected, const char *words)
{
	struct history *history = fixture_open(directory);
	struct history_round round;
	const struct history_hole *holes;
	const struct history_day *days;
	struct error error = {0};
	size_t count;

	assert_int_equal(history_first(history, &round, &error), expected);
	assert_non_null(strstr(error.text, name));
	if (strstr(error.text, words) == NULL)
		fail_msg("\"%s\" in: %s", words, error.text);
	days = history_days(history, &count);
	assert_int_equal(count, 1);
	assert_true(days[0].unreadable);
	holes = history_damage(history, false, &count);
	assert_int_equal(count, 1);
	assert_string_equal(holes[0].name, name);
	assert_int_equal(holes[0].from_unix_ns, UINT64_C(1795132800) * NS_PER_S);
	assert_int_equal(holes[0].to_unix_ns, UINT64_C(1795219200) * NS_PER_S);
	history_close(history);
}

/* Files of a newer version, of another type, and of the former format. */
static void test_other_files(void **state)
{
	static const char former[] = "2026-11-20.rounds";
	char *directory = fixture_record(3), *path = fixture_path(directory),
	     *former_path = memory_format("%s/%s", directory, former);
	struct day_image image = fixture_image(directory);
	int file;

	(void)state;
	day_image_put(&image, VERSION_AT, 4, 2);
	fixture_put_image(directory, &image);
	expect_day_refused(directory, FIXTURE_DAY, -EPROTONOSUPPORT, "newer ctop");
	file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	for (int i = 0; i < 500; i++)
		assert_int_equal(write(file, "This is no history at all.", 26), 26);
	close(file);
	expect_day_refused(directory, FIXTURE_DAY, -EMEDIUMTYPE, "no file of a history");
	assert_int_equal(rename(path, former_path), 0);
	expect_day_refused(directory, former, -EPROTONOSUPPORT, "before 1.0");
	free(former_path);
	free(path);
	fixture_remove(directory);
}

static void make_newer(struct day_image *image)
{
	day_image_put(image, VERSION_AT, 4, 2);
}

static void lose_header(struct day_image *image)
{
	memset(image->bytes, 'x', IMAGE_HEADER);
}

static void damage_last_round(struct day_image *image)
{
	day_image_damage(image, day_image_frame(image, IMAGE_ROUND, -1));
}

static void damage_middle(struct day_image *image)
{
	day_image_damage(image, day_image_frame(image, IMAGE_INDEX, 0));
	day_image_add(image, IMAGE_MARK, FIXTURE_UNIX_NS, "user\0\0", 7);
}

/* A recorder leaves such a file as it is and begins another one beside it, which is found after it. */
static void test_recording_beside(void **state)
{
	static void (*const damages[])(struct day_image * image) = {make_newer, lose_header,
								    damage_last_round, damage_middle};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(damages); i++) {
		char *directory = fixture_record(3), *path = fixture_path(directory);
		struct day_image image = fixture_image(directory);
		struct history_writer *writer;
		struct history *history;
		const struct history_day *days;
		struct history_round round;
		struct stat before, after;
		const char *notice;
		size_t count;

		damages[i](&image);
		fixture_put_image(directory, &image);
		assert_int_equal(stat(path, &before), 0);
		writer = fixture_writer(directory, NULL);
		for (uint64_t number = 10; number < 15; number++)
			fixture_add(writer, &fixture_host, number);
		assert_int_equal(history_writer_state(writer)->damaged_files, 1);
		notice = history_writer_take_notice(writer);
		assert_non_null(notice);
		assert_non_null(strstr(notice, FIXTURE_DAY));
		assert_null(history_writer_take_notice(writer));
		history_writer_close(writer);
		assert_int_equal(stat(path, &after), 0);
		assert_int_equal(after.st_size, before.st_size);
		history = fixture_open(directory);
		days = history_days(history, &count);
		assert_int_equal(count, 2);
		assert_string_equal(days[1].name, "2026-11-20-2.ctlog");
		assert_int_equal(days[1].rounds, 5);
		assert_int_equal(history_last(history, &round, NULL), 0);
		assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, 14));
		history_close(history);
		/* the next one goes on there */
		writer = fixture_writer(directory, NULL);
		fixture_add(writer, &fixture_host, 20);
		assert_string_equal(history_writer_state(writer)->file, "2026-11-20-2.ctlog");
		history_writer_close(writer);
		free(path);
		fixture_remove(directory);
	}
}

/* The file is damaged while a recorder writes it: later rounds can be read. */
static void test_damaged_while_written(void **state)
{
	char *directory = fixture_directory(), *path = fixture_path(directory);
	struct history_writer *writer = fixture_writer(directory, NULL);
	struct history *history;
	struct history_round round;
	int file;

	(void)state;
	for (uint64_t i = 0; i < 600; i++)
		fixture_add(writer, &fixture_host, i);
	file = open(path, O_WRONLY | O_CLOEXEC);
	for (off_t at = PAGE; at < 200 * PAGE; at += 64)
		assert_int_equal(pwrite(file,
					"garbagegarbagegarbagegarbagegarbagegarbagegarbagegarbagegarbage!",
					64, at),
				 64);
	close(file);
	for (uint64_t i = 600; i < 1400; i++)
		fixture_add(writer, &fixture_host, i);
	history_writer_close(writer);
	history = fixture_open(directory);
	assert_int_equal(history_last(history, &round, NULL), 0);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, 1399));
	history_close(history);
	free(path);
	fixture_remove(directory);
}

/* A day's file that is gone leaves a gap, whatever the rounds around it say of themselves. */
static void test_missing_file(void **state)
{
	struct fixture_host host = fixture_host;
	char *directory = fixture_directory(), *path = memory_format("%s/2026-11-21.ctlog", directory);
	struct history_writer *writer = fixture_writer(directory, NULL);

	(void)state;
	for (uint64_t day = 0; day < 3; day++) {
		host.unix_ns = fixture_host.unix_ns + day * 86400 * NS_PER_S;
		host.boottime_ns = fixture_host.boottime_ns + day * 86400 * NS_PER_S;
		fixture_add_rounds(writer, &host, 0, 4);
	}
	history_writer_close(writer);
	for (int is_missing = 0; is_missing < 2; is_missing++) {
		struct history *history = fixture_open(directory);
		struct history_round before, round;
		unsigned int gaps = 0, rounds = 0;

		assert_int_equal(history_first(history, &before, NULL), 0);
		while (history_step(history, &before, 1, &round, NULL) == 0 &&
		       !history_is_same(&before, &round)) {
			assert_false(round.after_gap);
			gaps += !history_adjoins(history, &before, &round);
			rounds++;
			before = round;
		}
		assert_int_equal(rounds, is_missing ? 7 : 11);
		assert_int_equal(gaps, is_missing);
		history_close(history);
		if (!is_missing)
			assert_int_equal(unlink(path), 0);
	}
	free(path);
	fixture_remove(directory);
}

/* Adds rounds to a history that was removed before them: it is said once, and they are there after a gap. */
static void expect_begun_again(struct history_writer *writer, const char *directory, uint64_t from,
			       const char *name)
{
	struct history *history;
	struct history_round round;
	const char *notice;

	for (uint64_t i = from; i < from + 10; i++) {
		fixture_add(writer, &fixture_host, i);
		notice = history_writer_take_notice(writer);
		if (i != from)
			assert_null(notice);
		else if (notice == NULL || strstr(notice, name) == NULL || strstr(notice, "removed") == NULL)
			fail_msg("%s", notice != NULL ? notice : "nothing is said");
	}
	history = fixture_open(directory);
	assert_int_equal(fixture_walk(history, &fixture_host, 0, NULL, NULL, NULL), 10);
	assert_int_equal(history_first(history, &round, NULL), 0);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, from));
	assert_true(round.after_gap);
	history_close(history);
}

static void test_removed_while_written(void **state)
{
	char *directory = fixture_directory(), *path = fixture_path(directory);
	const struct history_writer_options again = {.directory = directory};
	char *moved = memory_format("%s-moved", directory);
	struct history_writer *writer = fixture_writer(directory, NULL), *other;
	struct snapshot *round = fixture_round(&fixture_host, 45);
	struct history *history;
	struct error error = {0};

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		fixture_add(writer, &fixture_host, i);
	assert_int_equal(unlink(path), 0);
	expect_begun_again(writer, directory, 10, FIXTURE_DAY);
	/* all of it is moved: what was stored stays whole there */
	assert_int_equal(rename(directory, moved), 0);
	expect_begun_again(writer, directory, 20, directory);
	history = fixture_open(moved);
	assert_int_equal(fixture_walk(history, &fixture_host, 0, NULL, NULL, NULL), 10);
	history_close(history);
	fixture_remove(moved);
	/* nobody else can become its writer */
	assert_int_equal(history_writer_open(&again, &other, &error), -EBUSY);
	/* removed, and another one records there by now: that is said, and it goes on when that one ends */
	fixture_remove(memory_duplicate(directory));
	other = fixture_writer(directory, NULL);
	fixture_add(other, &fixture_host, 40);
	assert_int_equal(history_writer_add(writer, round, &error), -EBUSY);
	assert_non_null(strstr(error.text, "records there"));
	assert_true(history_writer_state(writer)->paused);
	history_writer_close(other);
	fixture_remove(memory_duplicate(directory));
	expect_begun_again(writer, directory, 50, directory);
	snapshot_release(round);
	history_writer_close(writer);
	free(path);
	fixture_remove(directory);
}

/* A file that was removed and begun again between two reads has other rounds at the same offsets. */
static void test_removed_while_read(void **state)
{
	char *directory = fixture_record(3), *path = fixture_path(directory);
	struct history *history = fixture_open(directory);
	struct history_writer *writer;
	struct history_round first;
	struct error error;
	size_t days;

	(void)state;
	assert_int_equal(history_first(history, &first, &error), 0);
	fixture_expect_read(history, &first, &fixture_host, 0);
	assert_int_equal(unlink(path), 0);
	history_days(history, &days);
	assert_int_equal(days, 0);
	writer = fixture_writer(directory, NULL);
	fixture_add(writer, &fixture_host, 50);
	history_writer_close(writer);
	assert_int_equal(history_first(history, &first, &error), 0);
	fixture_expect_read(history, &first, &fixture_host, 50);
	history_close(history);
	free(path);
	fixture_remove(directory);
}

/* Runs as nobody; true where that one saw what it should. */
static bool as_nobody(bool (*body)(const char *directory), const char *directory)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		_exit(body(directory) ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool is_refused(const char *directory)
{
	const struct history_writer_options options = {.directory = directory};
	struct history_writer *writer;
	struct history *history = NULL;
	struct history_round round;
	struct error error = {0};
	int result = history_open(directory, &history, &error);

	if (result == 0)
		result = history_first(history, &round, &error);
	return result == -EACCES && strstr(error.text, "root") != NULL &&
	       history_writer_open(&options, &writer, &error) == -EACCES;
}

static bool reads_all(const char *directory)
{
	struct history *history;
	struct history_round round;
	struct snapshot *snapshot;
	struct error error;

	if (history_open(directory, &history, &error) < 0 || history_last(history, &round, &error) < 0 ||
	    history_read(history, &round, &snapshot, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return false;
	}
	snapshot_release(snapshot);
	history_close(history);
	return true;
}

/* Who may not read is told so; who may only read can, also what is being written. */
static void test_permissions(void **state)
{
	struct history_writer *writer;
	char *directory, *path;

	(void)state;
	need_to_become_nobody();
	directory = fixture_record(20);
	path = fixture_path(directory);
	assert_true(as_nobody(is_refused, directory));
	assert_int_equal(chmod(directory, 0755), 0);
	assert_true(as_nobody(is_refused, directory));
	assert_int_equal(chmod(path, 0644), 0);
	assert_true(as_nobody(reads_all, directory));
	writer = fixture_writer(directory, NULL);
	fixture_add(writer, &fixture_host, 30);
	assert_true(as_nobody(reads_all, directory));
	history_writer_close(writer);
	assert_true(as_nobody(reads_all, directory));
	free(path);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_file),          cmocka_unit_test(test_damaged_round),
		cmocka_unit_test(test_damaged_parts),         cmocka_unit_test(test_damaged_pages),
		cmocka_unit_test(test_damaged_indexes),       cmocka_unit_test(test_cut_file),
		cmocka_unit_test(test_other_files),           cmocka_unit_test(test_recording_beside),
		cmocka_unit_test(test_damaged_while_written), cmocka_unit_test(test_removed_while_written),
		cmocka_unit_test(test_removed_while_read),    cmocka_unit_test(test_permissions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
