/* SPDX-License-Identifier: GPL-2.0-only */
/* A day's file: where it ends, what is found after damage, and how a recorder continues it. */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/day_reader.h"
#include "store/day_writer.h"
#include "store/history_files.h"

enum {
	ROUNDS = 70, /* more than one index lists */
	ANOTHER_KIND = 99,
};

static uint32_t day_number(void)
{
	return history_files_day(FIXTURE_UNIX_NS, 1);
}

static void open_reader(struct day_reader *reader, const char *directory)
{
	struct error error = {0};

	if (day_reader_open(reader, directory, day_number(), O_RDONLY, &error) < 0)
		fail_msg("%s", error.text);
}

/* Checks how many rounds and holes a reader finds in the file. */
static void expect_rounds(const char *directory, size_t rounds, size_t holes)
{
	struct day_reader reader;

	open_reader(&reader, directory);
	assert_int_equal(reader.round_count, rounds);
	assert_int_equal(reader.hole_count, holes);
	day_reader_close(&reader);
}

/* Frames follow one another without space between them, and indexes list all rounds. */
static void test_layout(void **state)
{
	char *directory = fixture_record(ROUNDS);
	struct day_image image = fixture_image(directory);
	const size_t first = day_image_frame(&image, IMAGE_INDEX, 0),
		     last = day_image_frame(&image, IMAGE_INDEX, -1);
	struct day_reader reader;

	(void)state;
	assert_memory_equal(image.bytes, "ctoplog\n\1\0\0\0\0\0\0\0", IMAGE_HEADER);
	assert_int_equal(day_image_count(&image, IMAGE_ROUND), ROUNDS);
	assert_int_equal(day_image_count(&image, IMAGE_FACTS), 1);
	assert_int_equal(day_image_count(&image, IMAGE_INDEX), 2);
	assert_int_equal(day_image_get(&image, first + INDEX_PREVIOUS_AT, 8), 0);
	assert_int_equal(day_image_get(&image, first + INDEX_FROM_AT, 8), IMAGE_HEADER);
	assert_int_equal(day_image_get(&image, first + INDEX_ROUNDS_AT, 4), 64);
	assert_int_equal(day_image_get(&image, last + INDEX_PREVIOUS_AT, 8), first);
	assert_int_equal(day_image_get(&image, last + INDEX_FROM_AT, 8),
			 first + day_image_length(&image, first));
	assert_int_equal(day_image_get(&image, last + INDEX_ROUNDS_AT, 4), ROUNDS - 64);
	open_reader(&reader, directory);
	assert_int_equal(reader.indexed_rounds, ROUNDS);
	assert_int_equal(reader.end, image.size);
	for (int i = 0; i < ROUNDS; i++) {
		const size_t frame = day_image_frame(&image, IMAGE_ROUND, i);

		assert_int_equal(reader.rounds[i].round.id, frame);
		assert_int_equal(reader.rounds[i].round.unix_ns, fixture_unix_ns(&fixture_host, (uint64_t)i));
		assert_int_equal(day_image_get(&image, frame + IMAGE_TIME_AT, 8),
				 reader.rounds[i].round.unix_ns);
	}
	day_reader_close(&reader);
	day_image_release(&image);
	fixture_remove(directory);
}

/* A file cut at any byte of its last frames keeps the whole frames, has no damage, and can be continued. */
static void test_every_length(void **state)
{
	char *directory = fixture_record(ROUNDS), *path = fixture_path(directory);
	struct day_image image = fixture_image(directory);
	const size_t from = day_image_frame(&image, IMAGE_ROUND, -2);
	size_t tried = 0;

	(void)state;
	for (size_t length = image.size - 1; length >= from; length--) {
		const size_t size = image.size;
		size_t whole = 0;

		for (size_t i = 0; i < ROUNDS; i++) {
			const size_t frame = day_image_frame(&image, IMAGE_ROUND, (int)i);

			whole += frame + day_image_length(&image, frame) <= length;
		}
		image.size = length;
		day_image_write(&image, path);
		image.size = size;
		expect_rounds(directory, whole, 0);
		if (++tried % 100 == 1) {
			struct history_writer *writer = fixture_writer(directory, NULL);
			size_t failed;

			fixture_add(writer, &fixture_host, FIXTURE_LATER);
			assert_null(history_writer_take_notice(writer));
			assert_int_equal(history_writer_state(writer)->damaged_files, 0);
			history_writer_close(writer);
			expect_rounds(directory, whole + 1, 0);
			assert_int_equal(fixture_walk_all(directory, &failed), whole + 1);
			assert_int_equal(failed, 0);
		}
	}
	day_image_release(&image);
	free(path);
	fixture_remove(directory);
}

/* A recorder cuts off whatever follows the last frame, such as zeros after a power cut. */
static void test_torn_tail(void **state)
{
	char *directory = fixture_record(3), *path = fixture_path(directory);
	struct history_writer *writer;
	struct stat status;

	(void)state;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(truncate(path, status.st_size + 100000), 0);
	expect_rounds(directory, 3, 0);
	writer = fixture_writer(directory, NULL);
	fixture_add(writer, &fixture_host, 3);
	history_writer_close(writer);
	expect_rounds(directory, 4, 0);
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_size < 100000);
	free(path);
	fixture_remove(directory);
}

/* A copy of a frame inside a damaged frame does not count, and the next frame is found. */
static void test_copied_frame(void **state)
{
	char *directory = fixture_record(3);
	struct day_image image = fixture_image(directory);
	const size_t round = day_image_frame(&image, IMAGE_ROUND, -1),
		     length = day_image_length(&image, round);
	uint8_t *copy = memory_allocate(length);
	struct day_reader reader;
	size_t outer;

	(void)state;
	memcpy(copy, image.bytes + round, length);
	outer = day_image_add(&image, (enum day_image_kind)ANOTHER_KIND, 0, copy, length);
	day_image_add(&image, IMAGE_MARK, FIXTURE_UNIX_NS, "user\0\0", 7);
	image.bytes[outer + IMAGE_CHECKSUM_AT] ^= 1;
	fixture_put_image(directory, &image);
	open_reader(&reader, directory);
	assert_int_equal(reader.round_count, 3);
	assert_int_equal(reader.mark_count, 1);
	assert_int_equal(reader.hole_count, 1);
	assert_int_equal(reader.holes[0].from, outer);
	assert_int_equal(reader.holes[0].to, outer + IMAGE_PAYLOAD_AT + length);
	day_reader_close(&reader);
	free(copy);
	fixture_remove(directory);
}

/* Two exchanged frames are invalid in each other's place; the frames around them stay valid. */
static void test_exchanged_frames(void **state)
{
	char *directory = fixture_record(5);
	struct day_image image = fixture_image(directory);
	const size_t first = day_image_frame(&image, IMAGE_ROUND, 2),
		     first_length = day_image_length(&image, first), second = first + first_length,
		     second_length = day_image_length(&image, second);
	uint8_t *bytes = memory_allocate(first_length);

	(void)state;
	memcpy(bytes, image.bytes + first, first_length);
	memmove(image.bytes + first, image.bytes + second, second_length);
	memcpy(image.bytes + first + second_length, bytes, first_length);
	/* without the index, readers visit the frames */
	day_image_put(&image, day_image_frame(&image, IMAGE_INDEX, -1) + IMAGE_CHECKSUM_AT, 4, 0);
	day_image_add(&image, IMAGE_MARK, FIXTURE_UNIX_NS, "user\0\0", 7);
	fixture_put_image(directory, &image);
	expect_rounds(directory, 4, 2);
	free(bytes);
	fixture_remove(directory);
}

/* A reader with the file open sees appended frames, even one that was unfinished at the last read. */
static void test_following(void **state)
{
	char *directory = fixture_directory(), *path = fixture_path(directory);
	struct history_writer *writer = fixture_writer(directory, NULL);
	struct day_reader reader;
	struct day_image image;
	struct error error;
	size_t size;

	(void)state;
	fixture_add_rounds(writer, &fixture_host, 0, 2);
	open_reader(&reader, directory);
	assert_int_equal(reader.round_count, 2);
	fixture_add_rounds(writer, &fixture_host, 2, ROUNDS);
	assert_int_equal(day_reader_follow(&reader, &error), 0);
	assert_int_equal(reader.round_count, ROUNDS);
	history_writer_close(writer);
	image = day_image_read(path);
	size = image.size;
	day_image_add(&image, IMAGE_MARK, FIXTURE_UNIX_NS, "user\0\0", 7);
	image.size = size + 20;
	day_image_write(&image, path);
	assert_int_equal(day_reader_follow(&reader, &error), 0);
	assert_int_equal(reader.end, size);
	image.size = size + IMAGE_PAYLOAD_AT + 7;
	day_image_write(&image, path);
	assert_int_equal(day_reader_follow(&reader, &error), 0);
	assert_int_equal(reader.end, image.size);
	assert_int_equal(reader.mark_count, 1);
	assert_int_equal(reader.hole_count, 0);
	/* the file is cut below what was read, then removed */
	assert_int_equal(truncate(path, (off_t)size), 0);
	assert_int_equal(day_reader_follow(&reader, &error), -ESTALE);
	day_reader_close(&reader);
	open_reader(&reader, directory);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(day_reader_follow(&reader, &error), -ESTALE);
	day_reader_close(&reader);
	day_image_release(&image);
	free(path);
	fixture_remove(directory);
}

/* On a full disk a recorder cuts off an unfinished round and appends other frames there: a reader finds
 * those. */
static void test_following_a_full_disk(void **state)
{
	static const char text[100] = "user";
	char *directory = fixture_record(ROUNDS), *path = fixture_path(directory);
	struct day_image image = day_image_read(path);
	struct day_reader reader;
	struct error error;
	const size_t size = image.size;

	(void)state;
	open_reader(&reader, directory);
	day_image_add(&image, IMAGE_FACTS, FIXTURE_UNIX_NS, text, 10);
	day_image_add(&image, IMAGE_INTERVAL, FIXTURE_UNIX_NS, text, 10);
	day_image_write(&image, path);
	assert_int_equal(day_reader_follow(&reader, &error), 0);
	image.size = size;
	day_image_add(&image, IMAGE_MARK, FIXTURE_UNIX_NS, text, sizeof(text));
	day_image_write(&image, path);
	assert_int_equal(day_reader_follow(&reader, &error), 0);
	assert_int_equal(reader.mark_count, 1);
	assert_int_equal(reader.hole_count, 0);
	day_reader_close(&reader);
	day_image_release(&image);
	free(path);
	fixture_remove(directory);
}

/* A copy taken while a recorder writes reads as the history did then. */
static void test_copies(void **state)
{
	char *directory = fixture_directory(), *copy = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);
	char *command = memory_format("cp %s/*.ctlog %s/", directory, copy);

	(void)state;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		fixture_add(writer, &fixture_host, i);
		if (i % 10 == 9) {
			assert_int_equal(system(command), 0);
			assert_int_equal(fixture_walk_all(copy, NULL), i + 1);
		}
	}
	history_writer_close(writer);
	free(command);
	fixture_remove(copy);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_torn_tail),
		cmocka_unit_test(test_copied_frame),
		cmocka_unit_test(test_exchanged_frames),
		cmocka_unit_test(test_following),
		cmocka_unit_test(test_following_a_full_disk),
		cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
