/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histories: a day's file, given to all functions that read one. The first byte chooses the input: a good
 * file with changed bytes; a good file with changed numbers in its frames and matching checksums; a whole
 * file; a good file with frames of any kind appended; or a moment or range of a good history, as users type
 * it. The byte also chooses the part to read. Every failure must give its reason.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/line/history_moment.h"
#include "store/history.h"
#include "store/history_writer.h"
#include "tests/history/day_image.h"

enum {
	ROUNDS = 4,
	CHANGES_MAX = 64,
	CHANGE_BYTES = 32,
	FILE_MAX = 1 << 18,
	FRAMES_MAX = 64,
};

/* The kinds of input. */
enum kind {
	KIND_CHANGES,
	KIND_NUMBERS,
	KIND_FILE,
	KIND_FRAMES,
	KIND_MOMENT,
	KINDS,
};

/* The part of a history that is read. Reading all of it is three times as slow. */
enum reading {
	READING_ROUND,
	READING_STEPS, /* from the first round to the last */
	READING_REST,
	READINGS,
};

/* 2026-11-20 08:00:00 UTC */
#define BEGIN_NS (UINT64_C(1795161600) * NS_PER_S)
#define DAY_NAME "2026-11-20.ctlog"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *directory;       /* with the file that is read */
static char *good_directory;  /* with a history that stays as it is */
static int file;              /* the file in `directory` */
static struct day_image good; /* the file in `good_directory`, with frames of each kind */

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* --- good files --- */

static char *make_directory(void)
{
	char *path = memory_format("%s/ctop-fuzz-XXXXXX",
				   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");

	require(mkdtemp(path) != NULL);
	return path;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type, (void)place;
	return remove(path);
}

static void remove_directories(void)
{
	nftw(directory, remove_entry, 4, FTW_DEPTH | FTW_PHYS);
	nftw(good_directory, remove_entry, 4, FTW_DEPTH | FTW_PHYS);
}

/* Three threads, one of them another one each time: small, since each input reads all rounds. */
static struct snapshot *make_round(uint32_t number)
{
	struct snapshot *snapshot = snapshot_create();
	const uint32_t name = string_pool_intern(&snapshot->strings, "worker-1", 8);

	snapshot->captured_at_unix_ns = BEGIN_NS + number * 5 * NS_PER_S;
	snapshot->provenance.present = true;
	snapshot->provenance.program = "ctop";
	snapshot->provenance.boot_id = "11111111-1111-4111-8111-111111111111";
	snapshot->provenance.boottime_ns = (1000 + number * 5) * NS_PER_S;
	for (uint32_t i = 0; i < 3; i++) {
		const size_t row = snapshot_add_thread(snapshot, 100, 100 + i + (i == 2 ? number : 0));

		snapshot->triple[row] = snapshot_intern_triple(snapshot, (struct triple){name, name, name});
		snapshot->start_time[row] = i + number;
		snapshot_column(snapshot, METRIC_RUN_TIME_NS)[row] = number * NS_PER_MS;
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static void record(void)
{
	const struct history_writer_options options = {.directory = good_directory};
	const struct history_mark mark = {BEGIN_NS, "user", "a mark", "x.ctprof.zst"};
	struct history_writer *writer;

	require(history_writer_open(&options, &writer, NULL) == 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct snapshot *round = make_round(i);

		require(history_writer_add(writer, round, NULL) == 0);
		snapshot_release(round);
	}
	require(history_writer_mark(writer, &mark, NULL) == 0);
	history_writer_close(writer);
}

static char *path_in(const char *parent)
{
	return memory_format("%s/%s", parent, DAY_NAME);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
	char *path, *good_path;

	(void)count, (void)arguments;
	setenv("TZ", "UTC", 1);
	memory_set_failure_handler(abort); /* no file may need so much */
	directory = make_directory();
	good_directory = make_directory();
	atexit(remove_directories);
	record();
	path = path_in(directory);
	good_path = path_in(good_directory);
	good = day_image_read(good_path);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	require(file >= 0);
	free(path);
	free(good_path);
	return 0;
}

/* --- reading --- */

/* A function says why it failed. */
static bool holds(int result, struct error *error)
{
	if (result < 0)
		require(error->text[0] != '\0');
	error->text[0] = '\0';
	return result >= 0;
}

static void read_round(struct history *history, const struct history_round *round)
{
	struct error error = {""};
	struct snapshot *snapshot;
	double left_ns;

	if (holds(history_read(history, round, &snapshot, &error), &error)) {
		require(snapshot != NULL);
		snapshot_release(snapshot);
	}
	if (holds(history_read_gone(history, round, &snapshot, &left_ns, &error), &error))
		snapshot_release(snapshot);
	for (size_t i = 0; i < HISTORY_BOOT_TEXTS; i++)
		require(history_boot(history, round)->texts[i] != NULL);
}

/* Steps over all rounds, or to that of this number, which is decoded: the last, where there are fewer. */
static void read_rounds(struct history *history, enum reading reading, size_t number)
{
	struct error error = {""};
	struct history_round round, next, other;
	bool more = holds(history_first(history, &round, &error), &error);
	const bool any = more;

	for (size_t i = 0; more && i < (reading == READING_STEPS ? FRAMES_MAX : number); i++) {
		more = holds(history_step(history, &round, 1, &next, &error), &error) &&
		       !history_is_same(&round, &next);
		/* they ascend, whatever the file says */
		require(!more || next.day > round.day || (next.day == round.day && next.id > round.id));
		if (more)
			history_adjoins(history, &round, &next);
		if (reading == READING_STEPS) {
			const uint64_t later_ns = round.unix_ns + i * NS_PER_S;

			holds(history_find(history, round.unix_ns, HISTORY_NEAREST, &other, &error), &error);
			holds(history_find_within(history, round.unix_ns + 1, later_ns, &other, &error),
			      &error);
			holds(history_holds(history, later_ns, &error), &error);
		}
		if (more)
			round = next;
	}
	if (any && reading == READING_ROUND)
		read_round(history, &round);
}

static void read_rest(struct history *history)
{
	struct error error = {""};
	struct history_marks marks = {0};
	struct history_round round, before, *rounds;
	const struct history_hole *holes;
	size_t count;

	if (holds(history_last(history, &round, &error), &error))
		holds(history_step(history, &round, -1000, &before, &error), &error);
	if (holds(history_range(history, 0, UINT64_MAX, &rounds, &count, &error), &error))
		free(rounds);
	holds(history_marks_read(history, 0, UINT64_MAX, &marks, &error), &error);
	for (size_t i = 0; i < marks.count; i++)
		require(marks.items[i].kind != NULL);
	history_marks_release(&marks);
	require(history_days(history, &count)[0].name[0] != '\0');
	holes = history_damage(history, true, &count);
	for (size_t i = 0; i < count; i++)
		require(holes[i].why[0] != '\0' && holes[i].from_unix_ns <= holes[i].to_unix_ns);
}

static void read_history(enum reading reading, size_t number)
{
	struct error error = {""};
	struct history *history;

	require(history_open(directory, &history, &error) == 0);
	if (reading == READING_REST)
		read_rest(history);
	else
		read_rounds(history, reading, number);
	history_close(history);
}

/* --- inputs --- */

struct input {
	const uint8_t *data;
	size_t size;
};

static uint64_t take(struct input *input, size_t bytes)
{
	uint64_t number = 0;

	for (size_t i = 0; i < bytes && input->size != 0; i++) {
		number |= (uint64_t)*input->data++ << 8 * i;
		input->size--;
	}
	return number;
}

static void put(const void *data, size_t size)
{
	require(ftruncate(file, (off_t)size) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
}

/* A change: offset (3 bytes), length (1 byte), new bytes. Length 0 cuts the file off at the offset. */
static void put_changes(struct input *input)
{
	put(good.bytes, good.size);
	for (size_t i = 0; i < CHANGES_MAX && input->size >= 4; i++) {
		const size_t place = (size_t)take(input, 3) % good.size;
		const size_t wanted = (size_t)take(input, 1) % CHANGE_BYTES;
		const size_t length = wanted < input->size ? wanted : input->size;

		if (length == 0)
			require(ftruncate(file, (off_t)place) == 0);
		else
			require(pwrite(file, input->data, length, (off_t)place) == (ssize_t)length);
		input->data += length;
		input->size -= length;
	}
}

static struct day_image copy_good(void)
{
	struct day_image image = {.size = good.size, .count = good.count};

	image.bytes = memory_grow(NULL, &image.capacity, good.size, 1);
	memcpy(image.bytes, good.bytes, good.size);
	image.frames = memory_grow(NULL, &image.frame_capacity, good.count, sizeof(*image.frames));
	memcpy(image.frames, good.frames, good.count * sizeof(*image.frames));
	return image;
}

/* Takes a number: the offset of a frame, a number near `there` or near 0, or any number. */
static uint64_t take_number(const struct day_image *image, uint64_t there, struct input *input)
{
	switch (take(input, 1) % 4) {
	case 0:
		return image->frames[take(input, 1) % image->count];
	case 1:
		return there + (uint64_t)(int64_t)(int8_t)take(input, 1);
	case 2:
		return (uint64_t)(int64_t)(int8_t)take(input, 1);
	default:
		return take(input, 8);
	}
}

/* Changes numbers in frames. A change names the frame, the place in it, the size and the number. */
static void put_numbers(struct input *input)
{
	struct day_image image = copy_good();

	for (size_t i = 0; i < CHANGES_MAX && input->size >= 4; i++) {
		const size_t frame = image.frames[take(input, 1) % image.count];
		const size_t at = frame + (size_t)take(input, 1), bytes = (size_t)1 << take(input, 1) % 4;

		if (at + bytes > image.size)
			continue;
		day_image_put(&image, at, bytes,
			      take_number(&image, day_image_get(&image, at, bytes), input));
		day_image_seal(&image, frame);
	}
	put(image.bytes, image.size);
	day_image_release(&image);
}

/* Appends frames. Each has a kind, a time after the first round, and the payload of an existing frame with
 * some bytes changed. */
static void put_frames(struct input *input)
{
	struct day_image image = copy_good();

	for (size_t i = 0; i < FRAMES_MAX && input->size >= 4; i++) {
		const uint64_t kind = take(input, 1) % 8, unix_ns = BEGIN_NS + take(input, 1) * NS_PER_S / 2;
		const size_t model = good.frames[take(input, 1) % good.count],
			     length = day_image_length(&good, model) - IMAGE_PAYLOAD_AT;
		uint8_t *payload = memory_allocate(length + CHANGE_BYTES);
		size_t count = (size_t)take(input, 1) % CHANGE_BYTES;
		const size_t at = count != 0 && length != 0 ? (size_t)take(input, 2) % length : 0;

		count = count < input->size ? count : input->size;
		memcpy(payload, good.bytes + model + IMAGE_PAYLOAD_AT, length);
		memcpy(payload + at, input->data, count);
		input->data += count;
		input->size -= count;
		day_image_add(&image, (enum day_image_kind)kind, unix_ns, payload,
			      at + count > length ? at + count : length);
		free(payload);
	}
	put(image.bytes, image.size);
	day_image_release(&image);
}

static void read_moment(struct input *input)
{
	char *typed = memory_duplicate_bytes((const char *)input->data, input->size);
	char *name = memory_format("%s@%s", good_directory, typed);
	struct history_moment moment = {0};
	struct error error = {""};

	/* a path of its own would be another history */
	if (strpbrk(typed, "/@") == NULL && history_moment_is_named(name) &&
	    holds(history_moment_read(name, BEGIN_NS + 60 * NS_PER_S, true, input->size % 2 == 0, &moment,
				      &error),
		  &error)) {
		require(moment.snapshot != NULL && moment.name != NULL);
		snapshot_release(moment.snapshot);
		free(moment.name);
		free(moment.note);
	}
	free(name);
	free(typed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data + 1, size - 1};

	if (size == 0 || size > FILE_MAX)
		return 0;
	switch ((enum kind)(data[0] % KINDS)) {
	case KIND_CHANGES:
		put_changes(&input);
		break;
	case KIND_NUMBERS:
		put_numbers(&input);
		break;
	case KIND_FILE:
		put(input.data, input.size);
		break;
	case KIND_FRAMES:
		put_frames(&input);
		break;
	case KIND_MOMENT:
	case KINDS:
		read_moment(&input);
		return 0;
	}
	read_history((enum reading)(data[0] / KINDS % READINGS), data[0] / KINDS / READINGS);
	return 0;
}
