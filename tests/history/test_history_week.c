/* SPDX-License-Identifier: GPL-2.0-only */
/* A week of rounds: what is in it is found without looking through it. */
#include "history_fixture.h"

#include <sqlite3.h>
#include <stdlib.h>

enum {
	DAYS = 7,
	HOUR_ROUNDS = 720,
	DAY_ROUNDS = 24 * HOUR_ROUNDS,
};

#define HOUR_NS  (3600 * NS_PER_S)
#define DAY_NS   (24 * HOUR_NS)
#define FIRST_NS (FIXTURE_UNIX_NS - 8 * HOUR_NS) /* midnight */

/* Makes of the hour that a file has each hour of a day, as if it had been recorded then. */
static void repeat(const char *path, int day)
{
	char *text = memory_format(
		"BEGIN; UPDATE rounds SET id = -id; UPDATE blobs SET round = -round;"
		"WITH RECURSIVE hours(h) AS (SELECT 0 UNION ALL SELECT h + 1 FROM hours WHERE h < 23)"
		" INSERT INTO rounds SELECT -id + (h + 24 * %d) * 3600000, unix_ns + (h + 24 * %d) * "
		"3600000000000,"
		" boottime_ns, span_ns, boot, flags, clock_jump_ns, suspended_ns, slept_ns,"
		" against + (h + 24 * %d) * 3600000, threads, psi_cpu, psi_memory, psi_io, load"
		" FROM rounds, hours WHERE id < 0;"
		"WITH RECURSIVE hours(h) AS (SELECT 0 UNION ALL SELECT h + 1 FROM hours WHERE h < 23)"
		" INSERT INTO blobs SELECT -round + (h + 24 * %d) * 3600000, state, interval, checksum"
		" FROM blobs, hours WHERE round < 0;"
		"DELETE FROM rounds WHERE id < 0; DELETE FROM blobs WHERE round < 0; COMMIT",
		day, day, day, day);
	char *message = NULL;
	sqlite3 *connection;

	assert_int_equal(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	if (sqlite3_exec(connection, text, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	sqlite3_close(connection);
	free(text);
}

/* Seven days of a round each 5 s. */
static void make_week(const char *directory)
{
	struct fixture_host host = fixture_host;
	struct history_writer *writer = fixture_writer(directory, NULL);
	char *command;

	host.unix_ns = FIRST_NS;
	fixture_add_rounds(writer, &host, 0, HOUR_ROUNDS);
	history_writer_close(writer);
	for (int day = DAYS; day-- > 0;) {
		char *path = memory_format("%s/2026-11-%d.rounds", directory, 20 + day);

		if (day > 0) {
			command = memory_format("cp %s/2026-11-20.rounds %s", directory, path);
			assert_int_equal(system(command), 0);
			free(command);
		}
		repeat(path, day);
		free(path);
	}
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
