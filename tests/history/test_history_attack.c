/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_history_attack [ATTACKS [SEED]]: changes histories at random, as an attacker would: numbers and
 * recordings with the right checksum, moved and repeated frames, plain bytes, and files that change while
 * they are read. Each history must be read to its end in little time and memory, and recording into its
 * directory must still work. A failure names its seed.
 */
#include "history_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"

enum {
	ROUNDS = 160,
	ROUNDS_READ = 5000,
	CHANGES = 4, /* of one history, at most */
};

static uint64_t attacks = 30, seed = 1, state_of_random;
static char *base; /* path of a good file */

static uint64_t below(uint64_t end)
{
	state_of_random = hash_u64(state_of_random + 1);
	return state_of_random % end;
}

#define PICK(items) ((items)[below(ARRAY_COUNT(items))])

/* --- what is changed --- */

static size_t pick_frame(const struct day_image *image)
{
	return image->frames[below(image->count)];
}

/* Picks a number that means something in some field. */
static uint64_t pick_number(const struct day_image *image)
{
	const uint64_t numbers[] = {
		0,
		1,
		IMAGE_HEADER,
		UINT64_MAX,
		INT64_MAX,
		(uint64_t)INT64_MAX + 1,
		UINT32_MAX,
		image->size,
		image->size - IMAGE_PAYLOAD_AT,
		pick_frame(image),
		pick_frame(image) + 1,
		fixture_unix_ns(&fixture_host, below(ROUNDS)),
		fixture_unix_ns(&fixture_host, 100000),
		below(1000),
		hash_u64(state_of_random),
	};

	return PICK(numbers);
}

/* Changes a number in the header or the payload of a frame, mostly with the right checksum. */
static void change_number(struct day_image *image)
{
	static const size_t sizes[] = {1, 2, 4, 8, 8, 8};
	const size_t frame = pick_frame(image), length = image->size - frame, size = PICK(sizes),
		     head = IMAGE_PAYLOAD_AT + 100;
	const size_t at = below(length < head ? length : head) / size * size;

	if (frame + at + size <= image->size)
		day_image_put(image, frame + at, size, pick_number(image));
	if (below(8) != 0)
		day_image_seal(image, frame);
}

/* Changes bytes of a payload and corrects the checksum. */
static void change_payload(struct day_image *image)
{
	const size_t frame = pick_frame(image);
	const uint64_t length = day_image_get(image, frame + IMAGE_LENGTH_AT, 4);

	if (length == 0 || length > image->size - frame - IMAGE_PAYLOAD_AT)
		return;
	for (uint64_t i = 0; i < 1 + below(8); i++)
		image->bytes[frame + IMAGE_PAYLOAD_AT + below(length)] = (uint8_t)below(256);
	day_image_seal(image, frame);
}

/* Appends a copy of a frame as if it belonged there. */
static void repeat_frame(struct day_image *image)
{
	const size_t frame = pick_frame(image);
	const uint64_t length = day_image_get(image, frame + IMAGE_LENGTH_AT, 4);
	uint8_t *payload;

	if (length > image->size - frame - IMAGE_PAYLOAD_AT)
		return;
	payload = memory_allocate((size_t)length + 1);
	memcpy(payload, image->bytes + frame + IMAGE_PAYLOAD_AT, (size_t)length);
	day_image_add(image, (enum day_image_kind)day_image_get(image, frame + IMAGE_KIND_AT, 1),
		      pick_number(image), payload, (size_t)length);
	free(payload);
}

/* Copies bytes from one place to another. */
static void move_bytes(struct day_image *image)
{
	const size_t from = pick_frame(image), to = pick_frame(image), later = from > to ? from : to;
	const size_t most = image->size - later;

	memmove(image->bytes + to, image->bytes + from, 1 + below(most));
}

static void change_bytes(struct day_image *image)
{
	const size_t at = below(image->size), length = 1 + below(below(2) == 0 ? 8 : 4096);

	for (size_t i = at; i < at + length && i < image->size; i++)
		image->bytes[i] = (uint8_t)below(256);
}

static void cut(struct day_image *image)
{
	image->size = 1 + below(image->size);
	while (image->count > 1 && image->frames[image->count - 1] + IMAGE_PAYLOAD_AT > image->size)
		image->count--;
	if (image->size < IMAGE_HEADER + IMAGE_PAYLOAD_AT)
		image->size = IMAGE_HEADER + IMAGE_PAYLOAD_AT;
}

static void change_anything(struct day_image *image)
{
	static void (*const changes[])(struct day_image * image) = {
		change_number, change_number, change_number, change_payload,
		repeat_frame,  move_bytes,    change_bytes,  cut,
	};

	PICK(changes)(image);
}

/* --- what is done with it --- */

/* Reads all that there is, which may be anything. */
static void read_anything(const char *directory)
{
	struct history *history = fixture_open(directory);
	struct history_round round, next, *rounds;
	struct history_marks marks;
	size_t count;
	int result = history_first(history, &round, NULL);

	for (size_t i = 0; result == 0 && i < ROUNDS_READ; i++) {
		struct snapshot *snapshot;
		double left_ns;

		if (history_read(history, &round, &snapshot, NULL) == 0) {
			for (size_t row = 0; row < snapshot->thread_count; row++)
				assert_non_null(snapshot_text(snapshot,
							      snapshot->triples[snapshot->triple[row]].comm));
			snapshot_release(snapshot);
		}
		if (history_read_gone(history, &round, &snapshot, &left_ns, NULL) == 0)
			snapshot_release(snapshot);
		history_boot(history, &round);
		result = history_step(history, &round, 1, &next, NULL);
		if (result == 0 && history_is_same(&round, &next))
			break;
		/* on, whatever it says */
		assert_true(result != 0 || next.day > round.day || next.id > round.id);
		round = next;
	}
	for (enum history_side side = HISTORY_AT_OR_BEFORE; side <= HISTORY_NEAREST; side++)
		history_find(history, fixture_unix_ns(&fixture_host, below(100)), side, &round, NULL);
	history_find_within(history, fixture_unix_ns(&fixture_host, below(100)), UINT64_MAX, &round, NULL);
	history_holds(history, fixture_unix_ns(&fixture_host, below(100)), NULL);
	if (history_last(history, &round, NULL) == 0)
		history_step(history, &round, -1000, &round, NULL);
	if (history_range(history, 0, UINT64_MAX, &rounds, &count, NULL) == 0)
		free(rounds);
	history_marks_read(history, 0, UINT64_MAX, &marks, NULL);
	history_marks_release(&marks);
	history_days(history, &count);
	history_damage(history, true, &count);
	history_close(history);
}

static bool read_and_record(const char *directory)
{
	struct history_writer *writer;
	struct history *history;
	struct history_round round;

	read_anything(directory);
	writer = fixture_writer(directory, NULL);
	fixture_add_rounds(writer, &fixture_host, FIXTURE_LATER, FIXTURE_LATER + 3);
	history_writer_close(writer);
	read_anything(directory);
	/* what is recorded now is there whatever is beside it */
	history = fixture_open(directory);
	round = fixture_find(history, fixture_unix_ns(&fixture_host, FIXTURE_LATER + 1), HISTORY_NEAREST);
	fixture_expect_read(history, &round, &fixture_host, FIXTURE_LATER + 1);
	history_close(history);
	return true;
}

static bool read_only(const char *directory)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + NS_PER_S / 5;

	do
		read_anything(directory);
	while (clock_ns(CLOCK_MONOTONIC) < end_ns);
	return true;
}

/* Forks a process that changes the file again and again until it is killed. Returns its pid. */
static pid_t change_on(const char *path)
{
	const pid_t child = fork();

	if (child != 0)
		return child;
	for (alarm(FIXTURE_SECONDS);;) {
		struct day_image image = day_image_read(base);

		for (uint64_t changes = below(CHANGES); changes > 0; changes--)
			change_anything(&image);
		day_image_write(&image, path);
		day_image_release(&image);
	}
}

static struct fixture_cost attack(uint64_t number)
{
	char *directory = fixture_directory(), *path = fixture_path(directory),
	     *name = memory_format("seed %llu", (unsigned long long)number);
	struct day_image image = day_image_read(base);
	struct fixture_cost cost;

	state_of_random = hash_u64(number);
	for (uint64_t changes = 1 + below(CHANGES); changes > 0; changes--)
		change_anything(&image);
	fixture_put_image(directory, &image);
	if (number % 8 == 0) {
		const pid_t child = change_on(path);
		int status;

		cost = fixture_survive(name, directory, read_only);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	} else {
		cost = fixture_survive(name, directory, read_and_record);
	}
	free(name);
	free(path);
	fixture_remove(directory);
	return cost;
}

/* Makes a history whose recorder was killed, so its last rounds are in no index. Returns the directory. */
static char *make_base(void)
{
	const struct history_mark mark = {fixture_unix_ns(&fixture_host, ROUNDS), "user", "a mark",
					  "a.ctprof.zst"};
	char *directory = fixture_record(ROUNDS / 2);
	struct history_writer *writer;
	pid_t child = fork();

	if (child == 0) {
		writer = fixture_writer(directory, NULL);
		fixture_add_rounds(writer, &fixture_host, ROUNDS / 2, ROUNDS);
		assert_int_equal(history_writer_mark(writer, &mark, NULL), 0);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	return directory;
}

static void test_attacks(void **state)
{
	struct fixture_cost worst = {0};
	char *directory = make_base();

	(void)state;
	base = fixture_path(directory);
	for (uint64_t i = 0; i < attacks; i++) {
		const struct fixture_cost cost = attack(seed + i);

		worst.memory_bytes = cost.memory_bytes > worst.memory_bytes ? cost.memory_bytes
									    : worst.memory_bytes;
		worst.cpu_ns = cost.cpu_ns > worst.cpu_ns ? cost.cpu_ns : worst.cpu_ns;
	}
	print_message("%llu attacks: at most %llu MiB, %llu ms of CPU time\n", (unsigned long long)attacks,
		      (unsigned long long)worst.memory_bytes >> 20,
		      (unsigned long long)(worst.cpu_ns / NS_PER_MS));
	free(base);
	fixture_remove(directory);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attacks),
	};

	if (argc > 1)
		attacks = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
