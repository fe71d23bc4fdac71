/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of group minutes, of rounds whose sums are known.
 *
 *   test_group_minutes --make DIRECTORY    leaves the history of two hours there, for
 * tests/history/questions.sh
 */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INTERVAL_NS (5 * NS_PER_S)

enum {
	BOOT_S = 1000,
	BATCH_ROUNDS = 6, /* that the process `batch` lives in each minute */
};

static void set(struct snapshot *snapshot, size_t row, enum metric metric, uint64_t value)
{
	snapshot_column(snapshot, metric)[row] = value;
}

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

static size_t add_thread(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, const char *process,
			 const char *name, uint64_t start_s)
{
	const size_t row = snapshot_add_thread(snapshot, tgid, tid);
	char cgroup[64];

	snprintf(cgroup, sizeof(cgroup), "/system.slice/%s.service", process);
	snapshot->triple[row] = snapshot_intern_triple(
		snapshot,
		(struct triple){intern(snapshot, process), intern(snapshot, name), intern(snapshot, cgroup)});
	snapshot->start_time[row] = start_s * USER_HZ;
	snapshot->uid[row] = 0;
	set(snapshot, row, METRIC_STATE, 'S');
	return row;
}

/* The round that many intervals after the first; `threads` are those of the process `crowd`, each of a name
 * of its own. */
static struct snapshot *make_round(uint64_t number, uint32_t crowd)
{
	struct snapshot *snapshot = snapshot_create();
	size_t row;

	snapshot->captured_at_unix_ns = FIXTURE_UNIX_NS + number * INTERVAL_NS;
	snapshot->provenance.present = true;
	snapshot->resident_missing = REASON_READ;
	snapshot->provenance.boot_id = fixture_host.boot_id;
	snapshot->provenance.boottime_ns = BOOT_S * NS_PER_S + number * INTERVAL_NS;
	/* engine: four threads, each of which runs 10 ms and waits 2 ms in a round */
	for (uint32_t i = 0; i < 4; i++) {
		char name[16];

		snprintf(name, sizeof(name), "worker-%u", i);
		row = add_thread(snapshot, 100, 100 + i, "engine", i == 0 ? "engine" : name, 10);
		set(snapshot, row, METRIC_RUN_TIME_NS, (500 + number) * 10 * NS_PER_MS);
		set(snapshot, row, METRIC_WAIT_TIME_NS, (500 + number) * 2 * NS_PER_MS);
		set(snapshot, row, METRIC_BLKIO_DELAY_TOTAL_NS, (500 + number) * 800 * NS_PER_MS / 4);
		set(snapshot, row, METRIC_VOLUNTARY_CSW, 7 * number);
		snapshot->thread_flags[row] |= THREAD_TASKSTATS_MEASURED | THREAD_DELAY_BLOCK_ACTIVE;
		if (i == 0)
			snapshot_add_resident(snapshot, row, (64 << 20) + (number << 20),
					      snapshot->provenance.boottime_ns);
	}
	/* idle: never runs */
	row = add_thread(snapshot, 200, 200, "idle", "idle", 10);
	set(snapshot, row, METRIC_RUN_TIME_NS, NS_PER_S);
	/* batch: a process that starts in each minute, runs 5 ms in each round, and ends */
	if (number % 12 > 0 && number % 12 <= BATCH_ROUNDS) {
		row = add_thread(snapshot, 300 + (uint32_t)(number / 12), 300 + (uint32_t)(number / 12),
				 "batch", "batch", BOOT_S + number / 12 * 60 + 1);
		set(snapshot, row, METRIC_RUN_TIME_NS, (number % 12) * 5 * NS_PER_MS);
		set(snapshot, row, METRIC_WRITE_BYTES, (number % 12) << 20);
	}
	for (uint32_t i = 0; i < crowd; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%c%c%c", 'a' + i / 26 / 26 % 26, 'a' + i / 26 % 26,
			 'a' + i % 26);
		row = add_thread(snapshot, 100000, 100000 + i, "crowd", name, 10);
		set(snapshot, row, METRIC_RUN_TIME_NS, number * (1 + i) * NS_PER_US);
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static void add(struct history_writer *writer, uint64_t number, uint32_t crowd)
{
	struct snapshot *round = make_round(number, crowd);
	struct error error = {0};

	if (history_writer_add(writer, round, &error) < 0)
		fail_msg("%s", error.text);
	assert_null(history_writer_take_notice(writer));
	snapshot_release(round);
}

/* The number that a statement gives; NAN for NULL. Fails the test unless it is one row. */
static double ask(const char *directory, const char *text)
{
	char *path = memory_format("%s/groups.db", directory);
	sqlite3 *connection;
	sqlite3_stmt *statement;
	double number;

	assert_int_equal(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(connection, text, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(connection));
	if (sqlite3_step(statement) != SQLITE_ROW)
		fail_msg("no row: %s", text);
	number = sqlite3_column_type(statement, 0) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, 0);
	assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
	sqlite3_finalize(statement);
	sqlite3_close(connection);
	free(path);
	return number;
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) < 1e-6 * (1 + fabs(expected))))
		fail_msg("%g is not %g", value, expected);
}

/* The file is removed while it is recorded: the minutes that come are there. */
static void test_removed_file(void **state)
{
	static const char *const endings[] = {"", "-wal", "-shm"};
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);

	(void)state;
	for (uint64_t i = 0; i < 30; i++)
		add(writer, i, 0);
	for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
		char *path = memory_format("%s/groups.db%s", directory, endings[i]);

		assert_int_equal(unlink(path), 0);
		free(path);
	}
	for (uint64_t i = 30; i < 40; i++)
		add(writer, i, 0);
	assert_near(ask(directory, "SELECT count(*) FROM spans"), 1);
	history_writer_close(writer);
	assert_near(ask(directory, "SELECT count(*) FROM spans"), 2);
	fixture_remove(directory);
}

/* Adds rounds; returns how often something was said, and the last of it in `told`. */
static unsigned int add_told(struct history_writer *writer, uint64_t from, uint64_t to, struct error *told)
{
	unsigned int notices = 0;

	for (uint64_t i = from; i < to; i++) {
		struct snapshot *round = make_round(i, 0);
		const char *notice;

		assert_int_equal(history_writer_add(writer, round, NULL), 0);
		snapshot_release(round);
		notice = history_writer_take_notice(writer);
		if (notice == NULL)
			continue;
		error_set(told, 0, "%s", notice);
		notices++;
	}
	return notices;
}

/* A file that is damaged, or none: it is kept, another one is begun, and that is said once. */
static void test_damaged_file(void **state)
{
	(void)state;
	/* all of it, and all but its first page */
	for (off_t begin = 0; begin <= 4096; begin += 4096) {
		char *directory = fixture_directory(), *path = memory_format("%s/groups.db", directory);
		char *aside = memory_format("%s.old", path);
		struct history_writer *writer = fixture_writer(directory, NULL);
		struct stat before, after;
		struct error told;
		int file;

		for (uint64_t i = 0; i < 30; i++)
			add(writer, i, 0);
		history_writer_close(writer);
		assert_int_equal(stat(path, &before), 0);
		file = open(path, O_WRONLY | O_CLOEXEC);
		for (off_t at = begin; at < before.st_size; at += 16)
			assert_int_equal(pwrite(file, "garbage garbage!", 16, at), 16);
		close(file);
		writer = fixture_writer(directory, NULL);
		assert_int_equal(add_told(writer, 36, 80, &told), 1);
		if (strstr(told.text, "groups.db.old") == NULL)
			fail_msg("%s", told.text);
		history_writer_close(writer);
		assert_near(ask(directory, "SELECT count(*) FROM spans"), 4);
		assert_int_equal(stat(aside, &after), 0);
		assert_int_equal(before.st_ino, after.st_ino);
		assert_int_equal(before.st_size, after.st_size);
		free(path);
		free(aside);
		fixture_remove(directory);
	}
}

/* As long as they cannot be written that is said once, and nothing is lost. */
static void test_written_later(void **state)
{
	char *directory = fixture_directory(), *path = memory_format("%s/groups.db", directory);
	struct history_writer *writer = fixture_writer(directory, NULL);
	struct error told;

	(void)state;
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(add_told(writer, 0, 40, &told), 1);
	assert_non_null(strstr(told.text, "written later"));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(add_told(writer, 40, 60, &told), 0);
	history_writer_close(writer);
	assert_near(ask(directory, "SELECT sum(rounds) FROM spans"), 59);
	free(path);
	fixture_remove(directory);
}

static void test_sums_of_a_minute(void **state)
{
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);

	(void)state;
	for (uint64_t i = 0; i < 30; i++)
		add(writer, i, 0);
	/* two minutes are over and a third is under way */
	assert_near(ask(directory, "SELECT count(*) FROM spans"), 2);
	history_writer_close(writer);
	assert_near(ask(directory, "SELECT count(*) FROM spans"), 3);
	assert_near(ask(directory,
			"SELECT DISTINCT seconds FROM group_minutes WHERE time = '2026-11-20 08:01:00'"),
		    60);
	assert_near(ask(directory,
			"SELECT DISTINCT seconds FROM group_minutes WHERE time = '2026-11-20 08:02:00'"),
		    25);
#define MINUTE "FROM group_minutes WHERE time = '2026-11-20 08:01:00' AND axis = "
	assert_near(ask(directory, "SELECT threads " MINUTE "'process' AND \"group\" = 'engine'"), 4);
	assert_near(ask(directory, "SELECT run_seconds " MINUTE "'process' AND \"group\" = 'engine'"),
		    4 * 12 * 0.01);
	assert_near(ask(directory, "SELECT wait_seconds " MINUTE "'process' AND \"group\" = 'engine'"),
		    4 * 12 * 0.002);
	assert_near(ask(directory, "SELECT block_seconds " MINUTE "'process' AND \"group\" = 'engine'"),
		    12 * 0.8);
	assert_near(ask(directory, "SELECT switches " MINUTE "'process' AND \"group\" = 'engine'"),
		    4 * 12 * 7);
	assert_near(ask(directory, "SELECT resident_bytes " MINUTE "'process' AND \"group\" = 'engine'"),
		    (64 + 24) * 1048576.0);
	assert_near(ask(directory, "SELECT run_seconds " MINUTE "'thread' AND \"group\" = 'worker-{N}'"),
		    3 * 12 * 0.01);
	assert_near(ask(directory, "SELECT run_seconds " MINUTE
				   "'cgroup' AND \"group\" = '/system.slice/engine.service'"),
		    4 * 12 * 0.01);
	/* it ended within the minute, and nobody told what it did after it was last read */
	assert_near(ask(directory, "SELECT run_seconds " MINUTE "'process' AND \"group\" = 'batch'"),
		    (double)BATCH_ROUNDS * 0.005);
	assert_near(ask(directory, "SELECT written_bytes " MINUTE "'process' AND \"group\" = 'batch'"),
		    (double)BATCH_ROUNDS * 1048576.0);
	assert_near(ask(directory, "SELECT threads " MINUTE "'process' AND \"group\" = 'batch'"), 0);
	assert_near(ask(directory, "SELECT lower_bounds & 2 " MINUTE "'process' AND \"group\" = 'batch'"), 2);
	assert_near(ask(directory, "SELECT lower_bounds & 2 " MINUTE "'process' AND \"group\" = 'engine'"),
		    0);
	/* what did nothing has no row */
	assert_near(ask(directory, "SELECT count(*) FROM group_minutes WHERE \"group\" LIKE '%idle%'"), 0);
	fixture_remove(directory);
}

/* A minute in two parts, of which the second begins when recording goes on, is their sum. */
static void test_parts_of_a_minute(void **state)
{
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		add(writer, i, 0);
	history_writer_close(writer);
	writer = fixture_writer(directory, NULL);
	for (uint64_t i = 6; i < 11; i++)
		add(writer, i, 0);
	history_writer_close(writer);
	assert_near(ask(directory, "SELECT DISTINCT seconds FROM group_minutes"), 15 + 20);
	assert_near(
		ask(directory,
		    "SELECT run_seconds FROM group_minutes WHERE \"group\" = 'engine' AND axis = 'process'"),
		4 * 7 * 0.01);
	fixture_remove(directory);
}

/* Groups are bounded, and what is left out is a row of its own: nothing is lost in sum. */
static void test_other(void **state)
{
	enum {
		CROWD = 400
	};
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);
	double whole = 0;

	(void)state;
	for (uint64_t i = 0; i <= 12; i++)
		add(writer, i, CROWD);
	for (uint64_t i = 0; i < CROWD; i++)
		whole += (double)(1 + i) * 12e-6;
	history_writer_close(writer);
	assert_near(ask(directory, "SELECT count(*) FROM group_minutes WHERE axis = 'thread'"), 101);
	assert_near(ask(directory, "SELECT sum(run_seconds) FROM group_minutes WHERE axis = 'thread'"),
		    whole + 4 * 12 * 0.01 + (double)BATCH_ROUNDS * 0.005);
	assert_true(
		ask(directory,
		    "SELECT run_seconds FROM group_minutes WHERE axis = 'thread' AND \"group\" = '(other)'") >
		0);
	fixture_remove(directory);
}

/* What is too old goes, bit by bit, with names that nobody uses. */
static void test_keeping(void **state)
{
	const struct history_writer_options options = {.keep_groups_ns = UINT64_C(600) * NS_PER_S};
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, &options);

	(void)state;
	for (uint64_t i = 0; i < 60 * 12; i++)
		add(writer, i, 0);
	history_writer_close(writer);
	assert_near(ask(directory, "SELECT count(*) FROM spans"), 11);
	assert_near(ask(directory, "SELECT min(minute) = (SELECT min(minute) FROM spans) FROM minutes"), 1);
	fixture_remove(directory);
}

static int make(const char *directory)
{
	const struct history_writer_options options = {.directory = directory};
	struct history_writer *writer;
	struct error error;

	if (history_writer_open(&options, &writer, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return EXIT_FAILURE;
	}
	for (uint64_t i = 0; i < 120 * 12; i++)
		add(writer, i, i < 60 * 12 ? 0 : 3);
	history_writer_close(writer);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_of_a_minute),  cmocka_unit_test(test_removed_file),
		cmocka_unit_test(test_damaged_file),      cmocka_unit_test(test_written_later),
		cmocka_unit_test(test_parts_of_a_minute), cmocka_unit_test(test_other),
		cmocka_unit_test(test_keeping),
	};

	if (argc == 3 && strcmp(argv[1], "--make") == 0)
		return make(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
