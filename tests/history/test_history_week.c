/* SPDX-License-Identifier: GPL-2.0-only */
/* A week of rounds: what is in it is found without looking through it. */
#include "history_fixture.h"

#include <fcntl.h>
#include <stdlib.h>

#include "store/day_reader.h"
#include "store/day_writer.h"
#include "store/history_files.h"

enum {
	DAYS = 7,
	HOUR_ROUNDS = 720,
	DAY_ROUNDS = 24 * HOUR_ROUNDS,
};

#define HOUR_NS  (3600 * NS_PER_S)
#define DAY_NS   (24 * HOUR_NS)
#define FIRST_NS (FIXTURE_UNIX_NS - 8 * HOUR_NS) /* midnight */

/* Writes a day's file with the rounds of `hour` 24 times, at the times of that day. */
static void write_day(const char *directory, struct day_reader *hour, uint64_t day)
{
	const struct history_boot boot = {{"boot", "6.1", "host", "x86_64", "ctop"}};
	struct day_writer file;
	struct error error;
	uint64_t *ids = memory_allocate_zero(HOUR_ROUNDS, sizeof(*ids));

	assert_int_equal(
		day_writer_create(&file, directory, history_files_day(FIRST_NS + day * DAY_NS, 1), &error),
		0);
	for (size_t i = 0; i < DAY_ROUNDS; i++) {
		const struct day_round *original = &hour->rounds[i % HOUR_ROUNDS];
		struct day_round round = *original;
		struct recording recording = {0};
		const void *state, *interval;
		size_t state_length, interval_length;

		assert_int_equal(day_reader_state(hour, original, &state, &state_length, &error), 0);
		assert_int_equal(day_reader_interval(hour, original, &interval, &interval_length, &error), 0);
		buffer_append(&recording.state, state, state_length);
		buffer_append(&recording.interval, interval, interval_length);
		round.round.unix_ns += day * DAY_NS + i / HOUR_ROUNDS * HOUR_NS;
		if (round.against != 0)
			round.against = ids[day_reader_at(hour, original->against)];
		assert_int_equal(day_writer_add(&file, &round, &boot, &recording, &error), 0);
		ids[i % HOUR_ROUNDS] = (uint64_t)round.round.id;
		recording_release(&recording);
	}
	day_writer_close(&file);
	free(ids);
}

/* Seven days of a round each 5 s. */
static void make_week(const char *directory)
{
	struct fixture_host host = fixture_host;
	char *first = fixture_directory();
	struct history_writer *writer = fixture_writer(first, NULL);
	struct day_reader hour;
	struct error error;

	host.unix_ns = FIRST_NS;
	fixture_add_rounds(writer, &host, 0, HOUR_ROUNDS);
	history_writer_close(writer);
	assert_int_equal(day_reader_open(&hour, first, history_files_day(FIRST_NS, 1), O_RDONLY, &error), 0);
	assert_int_equal(hour.round_count, HOUR_ROUNDS);
	for (uint64_t day = 0; day < DAYS; day++)
		write_day(directory, &hour, day);
	day_reader_close(&hour);
	fixture_remove(first);
}

static void test_week(void **state)
{
	char *directory = fixture_directory();
	const uint64_t wanted = FIRST_NS + 3 * DAY_NS + 5 * HOUR_NS + 7 * NS_PER_S;
	struct history *history;
	struct history_round round, *rounds;
	const struct history_day *days;
	struct snapshot *snapshot;
	uint64_t begin, spent;
	size_t count;

	(void)state;
	make_week(directory);
	begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	history = fixture_open(directory);
	round = fixture_find(history, wanted, HISTORY_AT_OR_BEFORE);
	assert_int_equal(history_read(history, &round, &snapshot, NULL), 0);
	spent = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
	assert_int_equal(round.unix_ns, wanted - 2 * NS_PER_S);
	assert_int_equal(snapshot->thread_count, fixture_host.threads + 1);
	snapshot_release(snapshot);
	/* in all, with 121,000 rounds; it takes some ms */
	assert_true(spent < 150 * NS_PER_MS);
	days = history_days(history, &count);
	assert_int_equal(count, DAYS);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(days[i].rounds, DAY_ROUNDS);
		assert_int_equal(days[i].first_unix_ns, FIRST_NS + i * DAY_NS);
	}
	/* days are steps like others */
	round = fixture_find(history, FIRST_NS + 10 * NS_PER_S, HISTORY_AT_OR_BEFORE);
	assert_int_equal(history_step(history, &round, DAY_ROUNDS + 5, &round, NULL), 0);
	assert_int_equal(round.unix_ns, FIRST_NS + DAY_NS + 35 * NS_PER_S);
	assert_int_equal(history_step(history, &round, -2 * DAY_ROUNDS, &round, NULL), 0);
	assert_int_equal(round.unix_ns, FIRST_NS);
	assert_int_equal(history_range(history, 0, UINT64_MAX, &rounds, &count, NULL), 0);
	assert_int_equal(count, DAYS * DAY_ROUNDS);
	free(rounds);
	history_close(history);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_week),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
