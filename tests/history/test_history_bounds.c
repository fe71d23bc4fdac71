/* SPDX-License-Identifier: GPL-2.0-only */
/* Files whose content demands far more than their size: the cost of reading them is bounded by the size. */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/day_reader.h"
#include "store/day_writer.h"
#include "store/history_files.h"
#include "store/recording.h"
#include "tests/needs.h"

enum {
	MEMORY_BYTES = 128 << 20,
	ANOTHER_KIND = 99,
};

/* Prints what it took, for whoever changes the bounds, and fails where it was much more than the files. */
static void check(const char *what, const char *directory, struct fixture_cost cost)
{
	char *path = fixture_path(directory);
	struct stat status = {0};

	stat(path, &status);
	print_message("%s: %lld KiB: %llu MiB, %llu ms\n", what, (long long)status.st_size >> 10,
		      (unsigned long long)cost.memory_bytes >> 20,
		      (unsigned long long)(cost.cpu_ns / NS_PER_MS));
	free(path);
	if (!ADDRESS_SANITIZER)
		assert_true(cost.memory_bytes < MEMORY_BYTES);
}

/* Rounds told from one another in a chain, each of which has so many threads more, for few bytes. */
static void test_growing_chain(void **state)
{
	enum {
		ROUNDS = 24,
		MORE = 4096,
	};
	struct fixture_host host = fixture_host;
	const struct history_boot boot = {{"", "", "", "", ""}};
	char *directory = fixture_record(1);
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct snapshot *before = NULL;
	struct day_round row = {0};
	struct day_writer file;
	struct day_reader reader;
	struct history *history;
	struct error error = {0};
	size_t readable = 0;

	(void)state;
	assert_int_equal(
		day_reader_open(&reader, directory, history_files_day(FIXTURE_UNIX_NS, 1), O_RDWR, &error),
		0);
	assert_int_equal(day_writer_continue(&file, &reader, &error), 0);
	day_reader_close(&reader);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct snapshot *now;

		host.threads = (uint32_t)i * MORE;
		now = fixture_round(&host, i);
		row.against = (uint64_t)row.round.id;
		row.round = history_round_of(before, now);
		recorder_encode(recorder, now, before, NULL, NAN, &recording);
		assert_int_equal(day_writer_add(&file, &row, &boot, &recording, &error), 0);
		snapshot_release(before);
		before = now;
	}
	snapshot_release(before);
	day_writer_close(&file);
	recording_release(&recording);
	recorder_release(recorder);
	history = fixture_open(directory);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		const struct history_round round = fixture_find(history, fixture_unix_ns(&fixture_host, i),
								HISTORY_NEAREST);
		struct snapshot *snapshot;

		/* after the first that cannot be read the nearest is one that can */
		if (history_read(history, &round, &snapshot, &error) < 0)
			continue;
		readable += round.unix_ns == fixture_unix_ns(&fixture_host, i);
		snapshot_release(snapshot);
	}
	history_close(history);
	/* a recorder makes chains of 13 */
	assert_in_range(readable, 13, 16);
	fixture_remove(directory);
}

static bool check_damage(const char *directory)
{
	struct history *history = fixture_open(directory);
	size_t count;

	history_damage(history, true, &count);
	history_close(history);
	return true;
}

/* Every other round of many files is damaged, and so is every index. */
static void test_many_holes(void **state)
{
	enum {
		PARTS = 60,
	};
	char *directory = fixture_record(600), *path = fixture_path(directory);
	struct day_image image = fixture_image(directory);

	(void)state;
	for (size_t i = 0, rounds = 0; i < image.count; i++) {
		const uint64_t kind = day_image_get(&image, image.frames[i] + IMAGE_KIND_AT, 1);

		if (kind == IMAGE_INDEX || (kind == IMAGE_ROUND && rounds++ % 2 == 0))
			image.bytes[image.frames[i] + IMAGE_CHECKSUM_AT] ^= 1;
	}
	fixture_put_image(directory, &image);
	for (unsigned int part = 2; part <= PARTS; part++) {
		char name[HISTORY_FILES_NAME],
			*other = memory_format(
				"%s/%s", directory,
				history_files_name(history_files_day(FIXTURE_UNIX_NS, part), name));

		assert_int_equal(link(path, other), 0);
		free(other);
	}
	check("holes", directory, fixture_survive("holes", directory, check_damage));
	free(path);
	fixture_remove(directory);
}

/* After the rounds come nested frames that all reach to the end of the file: checking all of them would take
 * hours. */
static void test_frames_in_frames(void **state)
{
	enum {
		FRAMES = 200000,
	};
	char *directory = fixture_record(3);
	struct day_image image = fixture_image(directory);
	struct history *history;
	struct history_round round;
	struct error error = {0};
	const size_t first = image.size;
	size_t end;

	(void)state;
	for (int i = 0; i < FRAMES; i++)
		day_image_add(&image, (enum day_image_kind)ANOTHER_KIND, 0, "", 0);
	end = image.size;
	for (size_t at = first; at < end; at += IMAGE_PAYLOAD_AT)
		day_image_put(&image, at + IMAGE_LENGTH_AT, 4, end - at - IMAGE_PAYLOAD_AT);
	fixture_put_image(directory, &image);
	history = fixture_open(directory);
	assert_int_equal(history_first(history, &round, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.text, "made to do harm"));
	history_close(history);
	check("frames in frames", directory,
	      fixture_survive("frames in frames", directory, fixture_read_and_record));
	fixture_remove(directory);
}

/* An index lists nested marks, all of which reach up to the index. */
static void test_marks_in_marks(void **state)
{
	enum {
		MARKS = 60000,
	};
	char *directory = fixture_record(3);
	struct day_image image = fixture_image(directory);
	const size_t last = day_image_frame(&image, IMAGE_INDEX, -1), first = image.size,
		     length = INDEX_HEAD + MARKS * sizeof(uint64_t);
	uint8_t *payload = memory_allocate_zero(1, length);
	size_t index;

	(void)state;
	for (int i = 0; i < MARKS; i++)
		day_image_add(&image, IMAGE_MARK, FIXTURE_UNIX_NS, "", 0);
	index = day_image_add(&image, IMAGE_INDEX, FIXTURE_UNIX_NS, payload, length);
	day_image_put(&image, index + INDEX_PREVIOUS_AT, 8, last);
	day_image_put(&image, index + INDEX_FROM_AT, 8, first);
	day_image_put(&image, index + INDEX_MARKS_AT, 4, MARKS);
	for (size_t i = 0; i < MARKS; i++) {
		const size_t at = first + i * IMAGE_PAYLOAD_AT;

		day_image_put(&image, at + IMAGE_LENGTH_AT, 4, index - at - IMAGE_PAYLOAD_AT);
		day_image_put(&image, index + IMAGE_PAYLOAD_AT + INDEX_HEAD + i * sizeof(uint64_t), 8, at);
	}
	day_image_seal(&image, index);
	fixture_put_image(directory, &image);
	check("marks in marks", directory,
	      fixture_survive("marks in marks", directory, fixture_read_and_record));
	free(payload);
	fixture_remove(directory);
}

/* A sparse terabyte after the last frame is not read to its end. */
static void test_large_hole(void **state)
{
	char *directory = fixture_record(3), *path = fixture_path(directory);

	(void)state;
	if (truncate(path, INT64_C(1) << 40) < 0) {
		fixture_remove(directory);
		free(path);
		skip_test("needs a file system with files of a terabyte");
	}
	assert_int_equal(fixture_walk_all(directory, NULL), 3);
	check("hole", directory, fixture_survive("hole", directory, fixture_read_and_record));
	free(path);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growing_chain),    cmocka_unit_test(test_many_holes),
		cmocka_unit_test(test_frames_in_frames), cmocka_unit_test(test_marks_in_marks),
		cmocka_unit_test(test_large_hole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
