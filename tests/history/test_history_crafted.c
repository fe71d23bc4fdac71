/* SPDX-License-Identifier: GPL-2.0-only */
/* Malicious histories with valid checksums: reading and recording end soon, take little memory, and find
 * every whole round. */
#include "history_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ROUNDS = 150, /* two indexes list 64 rounds each, and a third one the rest */
	HALF = ROUNDS / 2,
	ANOTHER_KIND = 99,
	INDEX = 1, /* number of the middle index */
};

static char *record(uint64_t rounds)
{
	char *directory = fixture_record(rounds);
	struct history_writer *writer = fixture_writer(directory, NULL);
	/* behind the last round, or it goes into another file */
	const struct history_mark mark = {fixture_unix_ns(&fixture_host, rounds), "user", "a mark", NULL};

	assert_int_equal(history_writer_mark(writer, &mark, NULL), 0);
	history_writer_close(writer);
	return directory;
}

/* Gives indexes an unknown kind, so that readers have to visit every frame. */
static void lose_indexes(struct day_image *image)
{
	for (size_t i = 0; i < image->count; i++) {
		const size_t frame = image->frames[i];

		if (day_image_get(image, frame + IMAGE_KIND_AT, 1) == IMAGE_INDEX) {
			day_image_put(image, frame + IMAGE_KIND_AT, 1, ANOTHER_KIND);
			day_image_seal(image, frame);
		}
	}
}

static size_t least; /* rounds that must be readable */

static bool read_and_record(const char *directory)
{
	const size_t whole = fixture_read_everything(directory);

	if (whole < least)
		print_error("only %zu rounds are read, not %zu\n", whole, least);
	return whole >= least && fixture_read_and_record(directory);
}

/* Reads a history with the file `image`, records into it, and releases the image. `whole` rounds must be
 * readable. */
static void check_image(const char *name, struct day_image *image, size_t whole)
{
	char *directory = fixture_directory();

	fixture_put_image(directory, image);
	least = whole;
	fixture_survive(name, directory, read_and_record);
	fixture_remove(directory);
}

/* The file of a good history. */
static struct day_image good_image(void)
{
	char *directory = record(ROUNDS);
	const struct day_image image = fixture_image(directory);

	fixture_remove(directory);
	return image;
}

enum {
	/* all but one round and the 12 that may be encoded against it */
	MOST = ROUNDS - 13,
};

/* --- false numbers in frames --- */

/* A false number, `at` bytes into a frame. */
struct lie {
	const char *name;
	size_t at, bytes;
	uint64_t number;
	size_t whole; /* fewest rounds that must be readable */
};

static const struct lie index_lies[] = {
	{"no index before", INDEX_PREVIOUS_AT, 8, 0, ROUNDS},
	{"an index before it at the end of the numbers", INDEX_PREVIOUS_AT, 8, UINT64_MAX, ROUNDS},
	{"an index before it in the header", INDEX_PREVIOUS_AT, 8, 3, ROUNDS},
	{"it lists from the beginning on", INDEX_FROM_AT, 8, 0, ROUNDS},
	{"it lists from the header on", INDEX_FROM_AT, 8, IMAGE_HEADER, ROUNDS},
	{"it lists from the end of the numbers on", INDEX_FROM_AT, 8, UINT64_MAX, ROUNDS},
	{"no rounds", INDEX_ROUNDS_AT, 4, 0, ROUNDS},
	{"a round more", INDEX_ROUNDS_AT, 4, 65, ROUNDS},
	{"four billion rounds", INDEX_ROUNDS_AT, 4, UINT32_MAX, ROUNDS},
	{"a mark more", INDEX_MARKS_AT, 4, 1, ROUNDS},
	{"four billion marks", INDEX_MARKS_AT, 4, UINT32_MAX, ROUNDS},
};

/* False numbers in the frame of round HALF, in a file without indexes. */
static const struct lie round_lies[] = {
	{"an unknown kind", IMAGE_KIND_AT, 1, UINT8_MAX, MOST},
	{"another kind", IMAGE_KIND_AT, 1, IMAGE_MARK, MOST},
	{"facts", IMAGE_KIND_AT, 1, IMAGE_FACTS, MOST},
	{"an index", IMAGE_KIND_AT, 1, IMAGE_INDEX, MOST},
	{"a length of all numbers", IMAGE_LENGTH_AT, 4, UINT32_MAX, MOST},
	{"a length of half of them", IMAGE_LENGTH_AT, 4, INT32_MAX, MOST},
	{"the longest length", IMAGE_LENGTH_AT, 4, 128 << 20, MOST},
	{"no length", IMAGE_LENGTH_AT, 4, 0, MOST},
	{"a longer length", IMAGE_LENGTH_AT, 4, 2000, MOST - 13},
	{"another offset", IMAGE_OFFSET_AT, 8, 16, MOST},
	{"a time of another day", IMAGE_TIME_AT, 8, UINT64_C(1795219200) * NS_PER_S, MOST},
	{"a time before", IMAGE_TIME_AT, 8, UINT64_C(1795161600) * NS_PER_S, MOST},
	{"no time", IMAGE_TIME_AT, 8, UINT64_MAX, MOST},
};

static void check_lies(const struct lie *lies, size_t count, bool of_index)
{
	for (size_t i = 0; i < count; i++) {
		struct day_image image = good_image();
		const size_t frame = of_index ? day_image_frame(&image, IMAGE_INDEX, INDEX)
					      : day_image_frame(&image, IMAGE_ROUND, HALF);

		if (!of_index)
			lose_indexes(&image);
		day_image_put(&image, frame + lies[i].at, lies[i].bytes, lies[i].number);
		day_image_seal(&image, frame);
		check_image(lies[i].name, &image, lies[i].whole);
	}
}

static void test_index_lies(void **state)
{
	(void)state;
	check_lies(index_lies, ARRAY_COUNT(index_lies), true);
}

static void test_round_lies(void **state)
{
	(void)state;
	check_lies(round_lies, ARRAY_COUNT(round_lies), false);
}

/* --- false numbers in rounds --- */

/* A false number in a round's record, or in its entry in an index. */
struct number_lie {
	const char *name;
	enum round_number which;
	uint64_t number;
	bool is_believed; /* accepted in an index, but contradicted by the round's record */
};

static const struct number_lie number_lies[] = {
	{"a round in the header", ROUND_OFFSET, 0, false},
	{"a round below 0", ROUND_OFFSET, UINT64_MAX, false},
	{"a round behind the file", ROUND_OFFSET, INT64_MAX, false},
	{"a round in 1970", ROUND_TIME, 0, false},
	{"a round at the end of the day", ROUND_TIME, UINT64_C(1795219199) * NS_PER_S, false},
	{"a round without a record", ROUND_LENGTH, 0, false},
	{"a round of all numbers", ROUND_LENGTH, UINT64_MAX, false},
	{"a round of 100 MB", ROUND_LENGTH, 100 << 20, false},
	{"a shorter round", ROUND_LENGTH, 50, true},
	{"a boot time below 0", ROUND_BOOTTIME, UINT64_MAX, false},
	{"another boot time", ROUND_BOOTTIME, 1, true},
	{"a span below 0", ROUND_SPAN, UINT64_MAX, false},
	{"the longest jump", ROUND_JUMP, UINT64_C(1) << 63, false},
	{"a sleep below 0", ROUND_SLEPT, UINT64_MAX, false},
	{"told from one behind it", ROUND_AGAINST, UINT64_MAX, false},
	{"told from what is no round", ROUND_AGAINST, 1, true},
	{"told from none", ROUND_AGAINST, 0, true},
	{"an interval behind it", ROUND_INTERVAL, UINT64_MAX, false},
	{"an interval of others", ROUND_INTERVAL, 20000, false},
	{"an interval that is none", ROUND_INTERVAL, 1, true},
	{"no facts", ROUND_FACTS, 0, false},
	{"facts behind it", ROUND_FACTS, INT64_MAX, false},
	{"other facts", ROUND_FACTS, 17, true},
	{"another number of threads", ROUND_THREADS, UINT32_MAX, true},
	{"too many threads", ROUND_THREADS, UINT64_C(1) << 32, false},
	{"too much pressure", ROUND_PRESSURE, 1 << 16, false},
	{"too many flags", ROUND_FLAGS, 1 << 16, false},
};

/* Appends an index of the rounds that the first index does not list, with a false number for round 69. */
static void add_lying_index(struct day_image *image, const struct number_lie *lie)
{
	const size_t first = day_image_frame(image, IMAGE_INDEX, 0);
	const size_t from = first + day_image_length(image, first);
	uint64_t before[ROUND_NUMBERS] = {0}, numbers[ROUND_NUMBERS];
	uint8_t *payload = memory_allocate_zero(ROUNDS, ROUND_BYTES);
	size_t length = INDEX_HEAD, index;

	for (int i = 64; i < ROUNDS; i++) {
		day_image_round(image, day_image_frame(image, IMAGE_ROUND, i), numbers);
		if (i == 69)
			numbers[lie->which] = lie->number;
		length += day_image_encode(payload + length, ROUND_OFFSET, numbers, before);
		memcpy(before, numbers, sizeof(before));
	}
	index = day_image_add(image, IMAGE_INDEX, FIXTURE_UNIX_NS, payload, length);
	day_image_put(image, index + INDEX_PREVIOUS_AT, 8, first);
	day_image_put(image, index + INDEX_FROM_AT, 8, from);
	day_image_put(image, index + INDEX_ROUNDS_AT, 4, ROUNDS - 64);
	day_image_seal(image, index);
	free(payload);
}

static void test_lying_index(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(number_lies); i++) {
		struct day_image image = good_image();

		add_lying_index(&image, &number_lies[i]);
		check_image(number_lies[i].name, &image, number_lies[i].is_believed ? MOST : ROUNDS);
	}
}

/* Cuts the file off at its last round, and appends that round with a false number. */
static void make_last_round_lie(struct day_image *image, const struct number_lie *lie)
{
	const uint64_t none[ROUND_NUMBERS] = {0};
	const size_t frame = day_image_frame(image, IMAGE_ROUND, -1),
		     end = frame + day_image_length(image, frame);
	uint64_t numbers[ROUND_NUMBERS];
	const size_t state_at = frame + IMAGE_PAYLOAD_AT + day_image_round(image, frame, numbers);
	uint8_t *payload = memory_allocate(ROUND_BYTES + end - state_at);
	size_t length;

	numbers[lie->which] = lie->number;
	length = day_image_encode(payload, ROUND_BOOTTIME, numbers, none);
	memcpy(payload + length, image->bytes + state_at, end - state_at);
	image->size = frame;
	while (image->frames[image->count - 1] >= frame)
		image->count--;
	day_image_add(image, IMAGE_ROUND, numbers[ROUND_TIME], payload, length + end - state_at);
	free(payload);
}

static void test_lying_round(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(number_lies); i++) {
		struct day_image image = good_image();

		/* the other numbers are in the header of the frame, not in the record */
		if (number_lies[i].which >= ROUND_BOOTTIME) {
			make_last_round_lie(&image, &number_lies[i]);
			check_image(number_lies[i].name, &image, ROUNDS - 1);
		} else {
			day_image_release(&image);
		}
	}
}

/* --- whole files --- */

static void link_to_itself(struct day_image *image)
{
	for (int i = 0; i < (int)day_image_count(image, IMAGE_INDEX); i++) {
		const size_t index = day_image_frame(image, IMAGE_INDEX, i);

		day_image_put(image, index + INDEX_PREVIOUS_AT, 8, index);
		day_image_seal(image, index);
	}
}

static void link_in_a_circle(struct day_image *image)
{
	const size_t first = day_image_frame(image, IMAGE_INDEX, 0);

	day_image_put(image, first + INDEX_PREVIOUS_AT, 8, day_image_frame(image, IMAGE_INDEX, -1));
	day_image_seal(image, first);
}

/* Appends a copy of the middle index. It links to the first one, so the rounds of the last are hidden. */
static void list_twice(struct day_image *image)
{
	const size_t index = day_image_frame(image, IMAGE_INDEX, INDEX),
		     length = day_image_length(image, index);
	uint8_t *payload = memory_allocate(length);

	memcpy(payload, image->bytes + index + IMAGE_PAYLOAD_AT, length - IMAGE_PAYLOAD_AT);
	day_image_add(image, IMAGE_INDEX, FIXTURE_UNIX_NS, payload, length - IMAGE_PAYLOAD_AT);
	free(payload);
}

/* Gives rounds 48 offsets of facts; only the first one leads to facts. */
static void give_each_facts(struct day_image *image)
{
	lose_indexes(image);
	for (int i = 0; i < ROUNDS; i++)
		day_image_put_round(image, day_image_frame(image, IMAGE_ROUND, i), ROUND_FACTS,
				    (uint64_t)(IMAGE_HEADER + i % 48));
}

static void make_nonsense_of(struct day_image *image, enum day_image_kind kind)
{
	for (int i = 0; i < (int)day_image_count(image, kind); i++) {
		const size_t frame = day_image_frame(image, kind, i);

		memset(image->bytes + frame + IMAGE_PAYLOAD_AT, 'x',
		       day_image_length(image, frame) - IMAGE_PAYLOAD_AT);
		day_image_seal(image, frame);
	}
}

static void make_nonsense_of_facts(struct day_image *image)
{
	make_nonsense_of(image, IMAGE_FACTS);
}

static void make_nonsense_of_intervals(struct day_image *image)
{
	make_nonsense_of(image, IMAGE_INTERVAL);
}

static void make_nonsense_of_rounds(struct day_image *image)
{
	make_nonsense_of(image, IMAGE_ROUND);
}

static void make_nonsense_of_marks(struct day_image *image)
{
	make_nonsense_of(image, IMAGE_MARK);
}

static void add_many_marks(struct day_image *image)
{
	for (uint64_t i = 0; i < 150000; i++)
		day_image_add(image, IMAGE_MARK, FIXTURE_UNIX_NS + i, "rule\0x\0../x", 12);
}

static void add_long_mark(struct day_image *image)
{
	const size_t length = 3 << 20;
	char *text = memory_allocate_zero(1, length);

	memset(text, 'x', length / 2);
	day_image_add(image, IMAGE_MARK, FIXTURE_UNIX_NS, text, length);
	free(text);
}

static void add_many_frames(struct day_image *image)
{
	for (uint64_t i = 0; i < 200000; i++)
		day_image_add(image, (enum day_image_kind)(i % 8), i, "", 1);
}

static void add_empty_frames(struct day_image *image)
{
	for (int i = 0; i < 8; i++)
		day_image_add(image, (enum day_image_kind)i, FIXTURE_UNIX_NS, "", 0);
}

static void test_files(void **state)
{
	static const struct {
		const char *name;
		void (*change)(struct day_image *image);
		size_t whole;
	} cases[] = {
		{"indexes that lead to themselves", link_to_itself, ROUNDS},
		{"indexes that lead to each other", link_in_a_circle, ROUNDS},
		{"rounds that are listed twice", list_twice, 128},
		{"facts of each round", give_each_facts, ROUNDS},
		{"facts without texts", make_nonsense_of_facts, ROUNDS},
		{"intervals of nonsense", make_nonsense_of_intervals, 1},
		{"rounds of nonsense", make_nonsense_of_rounds, 0},
		{"marks of nonsense", make_nonsense_of_marks, ROUNDS},
		{"many marks", add_many_marks, ROUNDS},
		{"a long mark", add_long_mark, ROUNDS},
		{"many frames", add_many_frames, ROUNDS},
		{"empty frames", add_empty_frames, ROUNDS},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct day_image image = good_image();

		cases[i].change(&image);
		check_image(cases[i].name, &image, cases[i].whole);
	}
}

/* What is read while it is written is whole: nothing counts as damaged. */
static void test_reading_beside_a_writer(void **state)
{
	enum {
		LAST = 3000
	};
	char *directory = record(1);
	const pid_t child = fork();
	size_t holes = 0, passes = 0;
	int status = 0;

	(void)state;
	if (child == 0) {
		struct history_writer *writer = fixture_writer(directory, NULL);

		for (uint64_t i = 1; i < LAST; i++) {
			fixture_add(writer, &fixture_host, i);
			/* begun and ended now and then */
			if (i % 500 == 0) {
				history_writer_close(writer);
				writer = fixture_writer(directory, NULL);
			}
		}
		history_writer_close(writer);
		_exit(0);
	}
	for (bool ended = false; !ended; passes++) {
		struct history *history = fixture_open(directory);
		struct history_round round, *rounds;
		struct error error = {0};
		size_t count;

		ended = waitpid(child, &status, WNOHANG) == child;
		for (int i = 0; i < 20; i++) {
			struct snapshot *snapshot = NULL;
			uint64_t number;

			if (history_last(history, &round, &error) < 0 ||
			    history_step(history, &round, -i, &round, &error) < 0 ||
			    history_read(history, &round, &snapshot, &error) < 0)
				fail_msg("%s", error.text);
			number = fixture_number(&fixture_host, round.unix_ns);
			fixture_assert_round(snapshot, &fixture_host, number);
			snapshot_release(snapshot);
			assert_int_equal(history_range(history, 0, UINT64_MAX, &rounds, &count, NULL), 0);
			/* all of them, in order */
			assert_true(count > number);
			for (size_t k = 0; k < count; k++)
				assert_int_equal(rounds[k].unix_ns, fixture_unix_ns(&fixture_host, k));
			free(rounds);
		}
		history_damage(history, false, &holes);
		assert_int_equal(holes, 0);
		history_close(history);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_true(passes > 1);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index_lies),  cmocka_unit_test(test_round_lies),
		cmocka_unit_test(test_lying_index), cmocka_unit_test(test_lying_round),
		cmocka_unit_test(test_files),       cmocka_unit_test(test_reading_beside_a_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
