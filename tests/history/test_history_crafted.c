/* SPDX-License-Identifier: GPL-2.0-only */
/* Histories that were made to do harm: reading and recording end soon, with little memory, and run nothing.
 */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ROUNDS = 200,
	PAGE = 4096,
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

/* Rows that no recorder writes. */
static void test_crafted_rows(void **state)
{
	static const struct {
		const char *name, *sql;
	} cases[] = {
		{"id 0", "UPDATE blobs SET round = 0 WHERE round = (SELECT min(id) FROM rounds);"
			 "UPDATE rounds SET id = 0 WHERE id = (SELECT min(id) FROM rounds)"},
		{"id below 0", "UPDATE blobs SET round = -1 WHERE round = (SELECT min(id) FROM rounds);"
			       "UPDATE rounds SET id = -1 WHERE id = (SELECT min(id) FROM rounds)"},
		{"largest id",
		 "UPDATE blobs SET round = 9223372036854775807 WHERE round = (SELECT max(id) FROM rounds);"
		 "UPDATE rounds SET id = 9223372036854775807 WHERE id = (SELECT max(id) FROM rounds)"},
		{"smallest id",
		 "UPDATE rounds SET id = -9223372036854775808 WHERE id = (SELECT max(id) FROM rounds)"},
		{"id of another day", "UPDATE rounds SET id = id + 86400000 WHERE id % 3 = 0"},
		{"time of another day",
		 "UPDATE rounds SET unix_ns = unix_ns + 86400000000000 WHERE id % 3 = 0"},
		{"negative numbers",
		 "UPDATE rounds SET boottime_ns = -1, span_ns = -1, boot = -1, flags = -1,"
		 " clock_jump_ns = -9223372036854775808, suspended_ns = -1, slept_ns = -1,"
		 " threads = -1, psi_cpu = -1, load = -1"},
		{"no numbers", "UPDATE rounds SET boottime_ns = 'x', span_ns = x'00', threads = 1e300"},
		{"told from itself", "UPDATE rounds SET against = id"},
		{"told from a later one", "UPDATE rounds SET against = id + 5000"},
		{"told from another day", "UPDATE rounds SET against = 1"},
		{"told from one below 0", "UPDATE rounds SET against = -9223372036854775808"},
		{"a long chain", "UPDATE rounds SET against = (SELECT max(id) FROM rounds AS other"
				 " WHERE other.id < rounds.id)"},
		{"many damaged rows", "UPDATE rounds SET unix_ns = 0 WHERE rowid % 2 = 0"},
		{"many boots", "UPDATE rounds SET boot = id % 1000003;"
			       "INSERT OR IGNORE INTO boots SELECT boot, boot, '', '', '', '' FROM rounds"},
		{"blobs of rounds to come",
		 "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 2000)"
		 " INSERT OR IGNORE INTO blobs SELECT 1795161600000 + i * 5000, x'00', NULL, 0 FROM n"},
		{"no blobs", "DELETE FROM blobs"},
		{"blobs of zeros", "UPDATE blobs SET state = zeroblob(length(state)), checksum = 0"},
		{"texts for blobs", "UPDATE blobs SET state = 'x', interval = 1"},
		{"marks of another day", "UPDATE marks SET unix_ns = 9223372036854775807"},
		{"largest mark", "UPDATE marks SET id = 9223372036854775806"},
		{"many marks", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 150000)"
			       " INSERT INTO marks SELECT NULL, 1795161600000000000 + i, 'rule', 'x', '../x'"
			       " FROM n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char *directory = record(ROUNDS);

		fixture_run_sql(directory, cases[i].sql);
		fixture_survive(cases[i].name, directory, fixture_read_and_record);
		fixture_remove(directory);
	}
}

/* What a schema must not have; a file with it is refused by readers and recorders, and nothing of it runs. */
static void test_crafted_schema(void **state)
{
	static const char *const cases[] = {
		"ALTER TABLE rounds RENAME TO hidden;"
		"CREATE VIEW rounds AS WITH RECURSIVE n(i) AS (SELECT 1795161600000 UNION ALL SELECT i + 1 "
		"FROM n)"
		" SELECT i AS id, i * 1000000 AS unix_ns, 1 AS boottime_ns, 0 AS span_ns, 1 AS boot, 0 AS "
		"flags,"
		" 0 AS clock_jump_ns, 0 AS suspended_ns, 0 AS slept_ns, NULL AS against, 1 AS threads,"
		" 0 AS psi_cpu, 0 AS psi_memory, 0 AS psi_io, 0 AS load FROM n",
		"ALTER TABLE blobs RENAME TO hidden;"
		"CREATE VIEW blobs AS SELECT round, zeroblob(500000000) AS state, NULL AS interval,"
		" 0 AS checksum FROM hidden",
		"CREATE TRIGGER harm AFTER INSERT ON rounds BEGIN DELETE FROM marks; END",
		"CREATE TRIGGER harm BEFORE INSERT ON blobs BEGIN"
		" INSERT INTO marks SELECT NULL, a.id, '', '', '' FROM rounds a, rounds b, rounds c; END",
		"CREATE TABLE more(x)",
		"CREATE INDEX harm ON rounds(abs(threads))",
		"ALTER TABLE rounds ADD COLUMN more DEFAULT 1",
		"DROP TABLE marks",
		"DROP TABLE marks; CREATE TABLE marks(id INTEGER PRIMARY KEY, unix_ns INTEGER NOT NULL,"
		" kind TEXT NOT NULL, text TEXT, path TEXT AS (hex(zeroblob(400000000))))",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char *directory = record(20);
		struct history *history;
		struct history_round round;
		struct error error = {0};

		fixture_run_sql(directory, cases[i]);
		history = fixture_open(directory);
		assert_int_equal(history_first(history, &round, &error), -EMEDIUMTYPE);
		assert_non_null(strstr(error.text, FIXTURE_DAY));
		history_close(history);
		fixture_survive(cases[i], directory, fixture_read_and_record);
		fixture_remove(directory);
	}
}

/* Pages that lead to each other: one leaf for every child of an inner page, at several levels. */
static void test_crafted_pages(void **state)
{
	static const char *const tables[] = {"rounds", "blobs", "marks", "boots"};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
		char *directory = record(ROUNDS), *path = memory_format("%s/" FIXTURE_DAY, directory),
		     *text = memory_format("SELECT rootpage FROM sqlite_schema WHERE name = '%s'", tables[i]);
		const off_t root = fixture_run_sql(directory, text);
		unsigned char page[PAGE];
		int file;
		off_t first, size;

		file = open(path, O_RDWR | O_CLOEXEC);
		size = lseek(file, 0, SEEK_END);
		/* the root leads to ten new pages, each of which leads to the next one 400 times; the last is
		 * the old root (sqlite.org/fileformat2.html#b_tree_pages) */
		first = size / PAGE + 1;
		assert_int_equal(pread(file, page, PAGE, (root - 1) * PAGE), PAGE);
		assert_int_equal(pwrite(file, page, PAGE, (first + 10 - 1) * PAGE), PAGE);
		for (off_t level = 0; level <= 10; level++) {
			const off_t next = level == 10 ? first + 10 : first + level;
			const unsigned int cells = 400, content = PAGE - cells * 7;

			memset(page, 0, sizeof(page));
			page[0] = 5;
			page[3] = cells >> 8;
			page[4] = cells & 0xff;
			page[5] = (unsigned char)(content >> 8);
			page[6] = (unsigned char)(content & 0xff);
			page[8 + 2] = (unsigned char)(next >> 8);
			page[8 + 3] = (unsigned char)next;
			for (unsigned int cell = 0; cell < cells; cell++) {
				const unsigned int at = content + cell * 7;

				page[12 + 2 * cell] = (unsigned char)(at >> 8);
				page[13 + 2 * cell] = (unsigned char)at;
				page[at + 2] = (unsigned char)(next >> 8);
				page[at + 3] = (unsigned char)next;
				page[at + 4] = (unsigned char)(0x80 | cell >> 7);
				page[at + 5] = (unsigned char)(cell & 0x7f);
			}
			assert_int_equal(pwrite(file, page, PAGE,
						((level == 0 ? root : first + level - 1) - 1) * PAGE),
					 PAGE);
		}
		size = first + 10;
		/* how many pages the file has */
		memset(page, 0, 4);
		page[2] = (unsigned char)(size >> 8);
		page[3] = (unsigned char)size;
		assert_int_equal(pwrite(file, page, 4, 28), 4);
		close(file);
		fixture_survive(tables[i], directory, fixture_read_and_record);
		free(text);
		free(path);
		fixture_remove(directory);
	}
}

/* Numbers in the header of the file that no SQLite writes (sqlite.org/fileformat2.html#the_database_header).
 */
static void test_crafted_header(void **state)
{
	static const struct {
		off_t offset;
		unsigned char byte;
	} cases[] = {
		{16, 0x11}, /* size of pages */
		{18, 3},    /* format to write */
		{19, 3},    /* format to read */
		{20, 255},  /* bytes left free in each page */
		{21, 1},    /* parts of a page that a row may take */
		{28, 0xff}, /* pages */
		{32, 0xff}, /* the first free page */
		{47, 5},    /* format of the schema */
		{52, 0x7f}, /* the largest root page */
		{59, 9},    /* encoding of texts */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char *directory = record(20), *path = fixture_path(directory),
		     *name = memory_format("byte %lld of the header", (long long)cases[i].offset);
		const int file = open(path, O_WRONLY | O_CLOEXEC);

		assert_int_equal(pwrite(file, &cases[i].byte, 1, cases[i].offset), 1);
		close(file);
		fixture_survive(name, directory, fixture_read_and_record);
		free(name);
		free(path);
		fixture_remove(directory);
	}
}

static bool read_for_a_second(const char *directory)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + NS_PER_S;

	do
		fixture_read_everything(directory);
	while (clock_ns(CLOCK_MONOTONIC) < end_ns);
	return true;
}

/* The owner truncates what readers might map, and puts other things in the way. */
static void test_files_beside(void **state)
{
	char *directory = record(20), *index = memory_format("%s/" FIXTURE_DAY "-shm", directory),
	     *log = memory_format("%s/" FIXTURE_DAY "-wal", directory);
	int status;
	const pid_t child = fork();

	(void)state;
	if (child == 0) {
		fixture_add(fixture_writer(directory, NULL), &fixture_host, 20);
		for (alarm(FIXTURE_SECONDS);;) {
			if (truncate(index, 0) < 0 || truncate(index, 32768) < 0)
				_exit(1);
		}
	}
	while (access(index, F_OK) < 0)
		usleep(1000);
	fixture_survive("-shm", directory, read_for_a_second);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	unlink(index);
	unlink(log);
	fixture_run_sql(directory, "PRAGMA journal_mode=WAL");
	unlink(log);
	assert_int_equal(mkfifo(log, 0644), 0);
	fixture_survive("a pipe", directory, read_for_a_second);
	free(index);
	free(log);
	fixture_remove(directory);
}

/* Where somebody else may change files, a recorder maps none; others can read nevertheless. */
static void test_shared_directory(void **state)
{
	char *directory = record(20), *index = memory_format("%s/" FIXTURE_DAY "-shm", directory);
	struct history_writer *writer;

	(void)state;
	assert_int_equal(chmod(directory, 0777), 0);
	writer = fixture_writer(directory, NULL);
	fixture_add_rounds(writer, &fixture_host, 20, 40);
	assert_int_equal(access(index, F_OK), -1);
	assert_int_equal(fixture_read_everything(directory), 40);
	history_writer_close(writer);
	assert_int_equal(fixture_read_everything(directory), 40);
	free(index);
	fixture_remove(directory);
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
		cmocka_unit_test(test_crafted_rows),
		cmocka_unit_test(test_crafted_schema),
		cmocka_unit_test(test_crafted_pages),
		cmocka_unit_test(test_crafted_header),
		cmocka_unit_test(test_files_beside),
		cmocka_unit_test(test_shared_directory),
		cmocka_unit_test(test_reading_beside_a_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
