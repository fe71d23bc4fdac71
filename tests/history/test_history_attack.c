/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_history_attack [ATTACKS [SEED]]: histories changed at random, as somebody would who wants to do harm:
 * rows, schema, pages, recordings with the right checksum, logs, and files that change while they are read.
 * Each has to be read to its end with little time and memory, and recording has to go on beside it. A failure
 * names its seed.
 */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/hash.h"

enum {
	ROUNDS = 60,
	PAGE = 4096,
	ROUNDS_READ = 5000,
	CHANGES = 4, /* of one history, at most */
};

static uint64_t attacks = 30, seed = 1, state_of_random;
static char *base; /* a directory with a history whose recorder was killed: it has a log */

static uint64_t below(uint64_t end)
{
	state_of_random = hash_u64(state_of_random + 1);
	return state_of_random % end;
}

#define PICK(items) ((items)[below(ARRAY_COUNT(items))])

/* --- what is changed --- */

static void copy_file(const char *from, const char *to)
{
	char bytes[65536];
	const int source = open(from, O_RDONLY | O_CLOEXEC),
		  target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t length;

	while (source >= 0 && (length = read(source, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(target, bytes, (size_t)length), length);
	close(source);
	close(target);
}

/* Runs a statement, whatever becomes of it. */
static void run(const char *path, const char *text)
{
	sqlite3 *connection;

	if (sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
		sqlite3_exec(connection, text, NULL, NULL, NULL);
	sqlite3_close(connection);
}

static void change_rows(const char *path)
{
	static const char *const columns[] = {
		"rounds|id",
		"rounds|unix_ns",
		"rounds|boottime_ns",
		"rounds|span_ns",
		"rounds|boot",
		"rounds|flags",
		"rounds|clock_jump_ns",
		"rounds|suspended_ns",
		"rounds|slept_ns",
		"rounds|against",
		"rounds|against",
		"rounds|threads",
		"rounds|psi_cpu",
		"rounds|load",
		"blobs|round",
		"blobs|state",
		"blobs|interval",
		"blobs|checksum",
		"marks|id",
		"marks|unix_ns",
		"marks|kind",
		"marks|text",
		"marks|path",
		"boots|id",
		"boots|boot_id",
		"boots|kernel",
		"boots|host",
		"boots|program",
	};
	static const char *const values[] = {
		"0",
		"-1",
		"1",
		"9223372036854775807",
		"-9223372036854775808",
		"4294967296",
		"2147483648",
		"NULL",
		"1e308",
		"''",
		"x'00'",
		"zeroblob(3000000)",
		"hex(zeroblob(1000000))",
		"randomblob(500)",
		"char(27) || '[2J' || char(8238)",
		"'../../etc/passwd'",
		"id",
		"id - 1",
		"id + 1",
		"random()",
		"1795161600000",
		"1795161600000000000",
		"1795247999999999999",
		"against",
		"round",
	};
	static const char *const conditions[] = {
		"IS NOT NULL",
		"% 2 = 0",
		"% 7 = 0",
		"= (SELECT max(id) FROM rounds)",
		"= (SELECT min(id) FROM rounds)",
		"> (SELECT id FROM rounds ORDER BY random() LIMIT 1)",
	};
	const char *column = PICK(columns), *bar = strchr(column, '|');
	char *text = memory_format("UPDATE OR REPLACE %.*s SET %s = %s WHERE rowid %s", (int)(bar - column),
				   column, bar + 1, PICK(values), PICK(conditions));

	run(path, text);
	free(text);
}

static void change_count(const char *path)
{
	static const char *const texts[] = {
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) INSERT OR "
		"IGNORE INTO rounds"
		" SELECT id + i, unix_ns + i * 1000000, boottime_ns + i, span_ns, boot + i, flags, "
		"clock_jump_ns,"
		" suspended_ns, slept_ns, id + i - 1, threads, 0, 0, 0, 0 FROM n, rounds WHERE id = (SELECT "
		"max(id) FROM rounds)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) INSERT OR "
		"IGNORE INTO boots"
		" SELECT i, i, i, i, i, i FROM n",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 120000) INSERT OR "
		"IGNORE INTO marks"
		" SELECT NULL, 1795161600000000000 + i, 'rule', i, i || '.ctprof.zst' FROM n",
		"INSERT OR IGNORE INTO blobs SELECT id, (SELECT state FROM blobs ORDER BY round LIMIT 1), "
		"NULL, 0 FROM rounds",
		"DELETE FROM rounds WHERE rowid % 3 = 0",
		"DELETE FROM blobs WHERE rowid % 3 = 0",
		"DELETE FROM boots",
		"UPDATE blobs SET state = (SELECT state FROM blobs ORDER BY random() LIMIT 1),"
		" checksum = (SELECT checksum FROM blobs ORDER BY random() LIMIT 1)",
	};

	run(path, PICK(texts));
}

static void change_schema(const char *path)
{
	static const char *const texts[] = {
		"CREATE VIEW more AS SELECT * FROM rounds",
		"ALTER TABLE rounds RENAME TO hidden; CREATE VIEW rounds AS SELECT * FROM hidden, hidden AS "
		"again",
		"CREATE TRIGGER harm AFTER INSERT ON rounds BEGIN DELETE FROM marks; END",
		"CREATE INDEX harm ON rounds(unix_ns)",
		"CREATE TABLE more(x)",
		"PRAGMA user_version = 2147483647",
		"PRAGMA user_version = -1",
		"PRAGMA application_id = 0",
		"PRAGMA page_size = 65536; VACUUM",
		"PRAGMA page_size = 512; VACUUM",
		"PRAGMA auto_vacuum = 1; VACUUM",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = 1",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = rootpage + 1",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = (SELECT max(rootpage) FROM "
		"sqlite_schema)",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = 0 WHERE name = 'blobs'",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = 4294967295 WHERE name = "
		"'marks'",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET name = 'rounds', tbl_name = 'rounds'",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET type = 'index' WHERE name = 'blobs'",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = (SELECT sql FROM sqlite_schema "
		"LIMIT 1)",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = hex(zeroblob(1000000)) WHERE "
		"name = 'boots'",
		"PRAGMA writable_schema = 1; INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE "
		"name = 'marks'",
		"PRAGMA writable_schema = 1; DELETE FROM sqlite_schema WHERE name = 'marks'",
	};

	run(path, PICK(texts));
}

static void change_bytes(const char *path)
{
	static const unsigned char extremes[] = {0, 1, 5, 13, 2, 10, 0x7f, 0x80, 0xff};
	const int file = open(path, O_RDWR | O_CLOEXEC);
	const off_t size = file >= 0 ? lseek(file, 0, SEEK_END) : 0;
	const uint64_t kind = below(4), count = 1 + below(kind == 0 ? 512 : 8);
	off_t at;

	if (size > 0) {
		/* anywhere, the header of the file, that of a page, or cells that a page leads to */
		at = (off_t)below((uint64_t)size);
		if (kind == 1)
			at = (off_t)below(100);
		else if (kind == 2)
			at = at / PAGE * PAGE + (off_t)below(16);
		else if (kind == 3)
			at = at / PAGE * PAGE + (off_t)below(PAGE / 8);
		for (uint64_t i = 0; i < count; i++) {
			const unsigned char byte = below(2) == 0 ? PICK(extremes) : (unsigned char)below(256);

			assert_int_equal(pwrite(file, &byte, 1, at + (off_t)i), 1);
		}
		if (below(8) == 0)
			assert_int_equal(ftruncate(file, (off_t)below((uint64_t)size)), 0);
		if (below(16) == 0)
			assert_int_equal(ftruncate(file, size + (off_t)below(1 << 24)), 0);
	}
	close(file);
}

/* Bytes of a recording, with the checksum that belongs to them. */
static void change_recording(const char *path)
{
	sqlite3 *connection = NULL;
	sqlite3_stmt *read = NULL, *write = NULL;

	if (sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(connection,
			       "SELECT round, state, interval FROM blobs ORDER BY random() LIMIT 1", -1,
			       &read, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(connection, "UPDATE blobs SET state = ?, checksum = ? WHERE round = ?", -1,
			       &write, NULL) == SQLITE_OK &&
	    sqlite3_step(read) == SQLITE_ROW && sqlite3_column_bytes(read, 1) > 0) {
		const size_t length = (size_t)sqlite3_column_bytes(read, 1);
		unsigned char *state = memory_allocate(length);
		uLong sum;

		memcpy(state, sqlite3_column_blob(read, 1), length);
		for (uint64_t i = 0; i < 1 + below(4); i++)
			state[below(below(2) == 0 && length > 64 ? 64 : length)] = (unsigned char)below(256);
		sum = crc32_z(0, state, length);
		if (sqlite3_column_bytes(read, 2) > 0)
			sum = crc32_z(sum, sqlite3_column_blob(read, 2),
				      (size_t)sqlite3_column_bytes(read, 2));
		sqlite3_bind_blob64(write, 1, state, length, SQLITE_TRANSIENT);
		sqlite3_bind_int64(write, 2, (sqlite3_int64)sum);
		sqlite3_bind_int64(write, 3, sqlite3_column_int64(read, 0));
		sqlite3_reset(read);
		sqlite3_step(write);
		free(state);
	}
	sqlite3_finalize(read);
	sqlite3_finalize(write);
	sqlite3_close(connection);
}

/* Puts other bytes in place of a log: random ones, those of another log, of the file, or zeros. */
static void change_log(const char *path)
{
	static const char *const suffixes[] = {"-wal", "-wal", "-wal", "-shm", "-journal"};
	static const char *const origins[] = {"", "-wal", "-wal"};
	char *log = memory_format("%s%s", path, PICK(suffixes)), *from;

	switch (below(5)) {
	case 0:
		unlink(log);
		break;
	case 1:
		from = memory_format("%s/" FIXTURE_DAY "%s", base, PICK(origins));
		copy_file(from, log);
		free(from);
		break;
	case 2:
		close(open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		assert_int_equal(truncate(log, (off_t)below(1 << 20)), 0);
		break;
	default:
		change_bytes(log);
		break;
	}
	free(log);
}

static void change_anything(const char *path)
{
	static void (*const changes[])(const char *path) = {
		change_rows,  change_rows,  change_count,     change_schema,
		change_bytes, change_bytes, change_recording, change_log,
	};

	PICK(changes)(path);
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

/* Changes a history's bytes and logs until it is killed. */
static pid_t change_on(const char *path)
{
	char *whole = fixture_path(base);
	const pid_t child = fork();

	if (child != 0) {
		free(whole);
		return child;
	}
	for (alarm(FIXTURE_SECONDS);;) {
		char *log = memory_format("%s-wal", path);

		if (below(2) == 0)
			change_log(path);
		else if (below(2) == 0)
			change_bytes(log);
		else
			copy_file(whole, path);
		free(log);
	}
}

static struct fixture_cost attack(uint64_t number)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char *directory = fixture_directory(), *path = fixture_path(directory),
	     *name = memory_format("seed %llu", (unsigned long long)number);
	struct fixture_cost cost;

	state_of_random = hash_u64(number);
	for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++) {
		char *from = memory_format("%s/" FIXTURE_DAY "%s", base, suffixes[i]),
		     *to = memory_format("%s%s", path, suffixes[i]);

		copy_file(from, to);
		free(from);
		free(to);
	}
	for (uint64_t changes = 1 + below(CHANGES); changes > 0; changes--)
		change_anything(path);
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

static void make_base(void)
{
	const struct history_mark mark = {fixture_unix_ns(&fixture_host, ROUNDS), "user", "a mark",
					  "a.ctprof.zst"};
	struct history_writer *writer;
	pid_t child;

	base = fixture_record(ROUNDS / 2);
	child = fork();
	if (child == 0) {
		writer = fixture_writer(base, NULL);
		fixture_add_rounds(writer, &fixture_host, ROUNDS / 2, ROUNDS);
		assert_int_equal(history_writer_mark(writer, &mark, NULL), 0);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_attacks(void **state)
{
	struct fixture_cost worst = {0};

	(void)state;
	make_base();
	for (uint64_t i = 0; i < attacks; i++) {
		const struct fixture_cost cost = attack(seed + i);

		worst.memory_bytes = cost.memory_bytes > worst.memory_bytes ? cost.memory_bytes
									    : worst.memory_bytes;
		worst.cpu_ns = cost.cpu_ns > worst.cpu_ns ? cost.cpu_ns : worst.cpu_ns;
	}
	print_message("%llu attacks: at most %llu MiB, %llu ms of CPU time\n", (unsigned long long)attacks,
		      (unsigned long long)worst.memory_bytes >> 20,
		      (unsigned long long)(worst.cpu_ns / NS_PER_MS));
	fixture_remove(base);
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
