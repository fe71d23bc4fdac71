/* SPDX-License-Identifier: GPL-2.0-only */
/* Files whose content is far more than their bytes: what reading them takes is bounded by their size. */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/day_file.h"
#include "store/history_files.h"
#include "store/recording.h"

enum {
	PAGE = 4096,
	OVERFLOW_BYTES = PAGE - 4, /* of a page: the first four lead to the next one */
	LEAST_LOCAL = 489,         /* bytes of a row in its page, where the rest is elsewhere */
	PART_PAGES = 300,          /* below one inner page */
	MEMORY_BYTES = 128 << 20,
};

/* --- pages (sqlite.org/fileformat2.html#b_tree_pages) --- */

static size_t put_number(unsigned char *bytes, uint64_t number)
{
	size_t length = 1, i;

	for (uint64_t rest = number >> 7; rest != 0; rest >>= 7)
		length++;
	for (i = length; i-- > 0; number >>= 7)
		bytes[i] = (unsigned char)((number & 0x7f) | (i + 1 < length ? 0x80 : 0));
	return length;
}

static void put_big_endian(unsigned char *bytes, uint64_t number, size_t length)
{
	for (size_t i = length; i-- > 0; number >>= 8)
		bytes[i] = (unsigned char)number;
}

static void write_page(int file, uint64_t number, const unsigned char page[static PAGE])
{
	assert_int_equal(pwrite(file, page, PAGE, (off_t)(number - 1) * PAGE), PAGE);
}

/* A row: how its record begins, and how long it is in all. */
struct row {
	unsigned char head[64];
	size_t head_length;
	size_t length;
};

/*
 * A column that is NULL has the type 0, a time 6, a text of n bytes 13 + 2 n
 * (sqlite.org/fileformat2.html#record_format). The last one, a text, is made longer until all but LEAST_LOCAL
 * bytes of the row are on other pages.
 */
static struct row make_row(const uint64_t types[], size_t count, uint64_t unix_ns)
{
	struct row row = {0};
	size_t header = 1, body = 0, more;
	unsigned char bytes[10];

	for (size_t i = 0; i < count; i++) {
		header += put_number(bytes, types[i]);
		body += types[i] == 0 ? 0 : types[i] == 6 ? 8 : (types[i] - 12) / 2;
	}
	more = OVERFLOW_BYTES - (header + body - LEAST_LOCAL) % OVERFLOW_BYTES;
	row.head[row.head_length++] = (unsigned char)header;
	for (size_t i = 0; i < count; i++)
		row.head_length += put_number(row.head + row.head_length,
					      types[i] + (i + 1 == count ? 2 * more : 0));
	assert_int_equal(row.head_length, header);
	/* the first column that is not NULL is a time, or a text that may begin with anything */
	put_big_endian(row.head + header, unix_ns, 8);
	row.head_length += 8;
	row.length = header + body + more;
	return row;
}

/*
 * Makes a table of rows that all have their bytes on the same pages: each takes 500 bytes of the file and has
 * `row->length`. `first_id` is that of the first one.
 */
static void share_bytes(const char *directory, const char *table, const struct row *row, int64_t first_id,
			unsigned int pages)
{
	char *path = fixture_path(directory),
	     *text = memory_format("SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
	const uint64_t root = (uint64_t)fixture_run_sql(directory, text);
	const int file = open(path, O_RDWR | O_CLOEXEC);
	const uint64_t chain = (uint64_t)lseek(file, 0, SEEK_END) / PAGE + 1,
		       chain_pages = (row->length - LEAST_LOCAL) / OVERFLOW_BYTES,
		       first = chain + chain_pages;
	unsigned char page[PAGE], inner[PAGE] = {5};
	uint64_t id = (uint64_t)first_id;
	size_t content = PAGE;

	for (uint64_t i = 0; i < chain_pages; i++) {
		memset(page, 'x', PAGE);
		put_big_endian(page, i + 1 < chain_pages ? chain + i + 1 : 0, 4);
		write_page(file, chain + i, page);
	}
	for (unsigned int i = 0; i < pages; i++) {
		unsigned int cells = 0;
		size_t at = PAGE;

		memset(page, 0, PAGE);
		page[0] = 13;
		while (at > 8 + 2 * (cells + 1U) + LEAST_LOCAL + 32) {
			unsigned char cell[LEAST_LOCAL + 32];
			size_t length = put_number(cell, row->length);

			length += put_number(cell + length, id++);
			memset(cell + length, 'x', LEAST_LOCAL);
			memcpy(cell + length, row->head, row->head_length);
			length += LEAST_LOCAL;
			put_big_endian(cell + length, chain, 4);
			length += 4;
			at -= length;
			memcpy(page + at, cell, length);
			put_big_endian(page + 8 + 2 * cells++, at, 2);
		}
		put_big_endian(page + 3, cells, 2);
		put_big_endian(page + 5, at, 2);
		write_page(file, first + i, page);
		if (i + 1 < pages) {
			unsigned char cell[16];
			size_t length;

			put_big_endian(cell, first + i, 4);
			length = 4 + put_number(cell + 4, id - 1);
			content -= length;
			memcpy(inner + content, cell, length);
			put_big_endian(inner + 12 + 2 * i, content, 2);
		}
	}
	put_big_endian(inner + 3, pages - 1, 2);
	put_big_endian(inner + 5, content, 2);
	put_big_endian(inner + 8, first + pages - 1, 4);
	write_page(file, root, inner);
	put_big_endian(page, first + pages - 1, 4);
	assert_int_equal(pwrite(file, page, 4, 28), 4); /* how many pages the file has */
	close(file);
	free(text);
	free(path);
}

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

/* Marks and starts of the host whose texts are all the same bytes. */
static void test_shared_texts(void **state)
{
	static const uint64_t text = 13 + 2 * 65536,
			      mark[] = {0, 6, 13 + 2 * 65536, 13 + 2 * 65536, 13 + 2 * 65536};
	const uint64_t boot[] = {0, text, text, text, text, text};
	const struct row mark_row = make_row(mark, ARRAY_COUNT(mark), FIXTURE_UNIX_NS),
			 boot_row = make_row(boot, ARRAY_COUNT(boot), 0x7878787878787878);
	char *directory = fixture_record(20);

	(void)state;
	share_bytes(directory, "marks", &mark_row, FIXTURE_UNIX_NS / NS_PER_MS, PART_PAGES);
	check("marks", directory, fixture_survive("marks", directory, fixture_read_and_record));
	fixture_remove(directory);
	directory = fixture_record(200);
	fixture_run_sql(
		directory,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) "
		"INSERT INTO rounds SELECT id - 20000000 + i, unix_ns - 20000000000000 + i * 1000000, "
		"boottime_ns, span_ns, i, flags, 0, 0, 0, 0, threads, 0, 0, 0, 0 FROM n, rounds "
		"WHERE id = (SELECT min(id) FROM rounds)");
	fixture_run_sql(directory, "VACUUM");
	share_bytes(directory, "boots", &boot_row, 1, PART_PAGES);
	check("boots", directory, fixture_survive("boots", directory, fixture_read_and_record));
	fixture_remove(directory);
}

/* Rounds whose first number is a text of a MiB, which has to be passed by to read the next one. */
static void test_shared_rounds(void **state)
{
	const uint64_t round[] = {0, 6, 13 + 2 * (1 << 20)};
	const struct row row = make_row(round, ARRAY_COUNT(round), FIXTURE_UNIX_NS);
	char *directory = fixture_record(20);

	(void)state;
	share_bytes(directory, "rounds", &row, FIXTURE_UNIX_NS / NS_PER_MS, PART_PAGES / 3);
	check("rounds", directory, fixture_survive("rounds", directory, fixture_read_and_record));
	fixture_remove(directory);
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
	struct day_file_row row = {0};
	struct day_file file;
	struct history *history;
	struct error error = {0};
	size_t readable = 0;

	(void)state;
	assert_int_equal(day_file_open(&file, directory, history_files_day(FIXTURE_UNIX_NS, 1),
				       DATABASE_WRITE, &error),
			 0);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct snapshot *now;

		host.threads = (uint32_t)i * MORE;
		now = fixture_round(&host, i);
		row.against = row.round.id;
		row.round = history_round_of(before, now);
		row.round.id = (int64_t)(row.round.unix_ns / NS_PER_MS);
		recorder_encode(recorder, now, before, NULL, NAN, &recording);
		assert_int_equal(day_file_add(&file, &row, &boot, &recording, &error), 0);
		snapshot_release(before);
		before = now;
	}
	snapshot_release(before);
	day_file_close(&file);
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

/* Every other round of many files is damaged. */
static void test_many_holes(void **state)
{
	enum {
		PARTS = 60,
	};
	char *directory = fixture_record(600), *path = fixture_path(directory);

	(void)state;
	fixture_run_sql(directory, "UPDATE blobs SET checksum = 0, state = x'00' WHERE round % 10000 = 0;"
				   "UPDATE rounds SET against = 0; VACUUM");
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

/* A log of many frames, none of which ends a transaction. */
static void test_endless_log(void **state)
{
	enum {
		FRAMES = 1 << 16,
		FRAME = 24 + 512,
	};
	char *directory = fixture_record(300), *path = fixture_path(directory),
	     *log = memory_format("%s-wal", path);
	const unsigned char header[32] = {0x37, 0x7f, 0x06, 0x82, 0, 0x2d, 0xe2, 0x18, 0, 0, 2, 0,
					  0,    0,    0,    0,    1, 2,    3,    4,    5, 6, 7, 8};
	unsigned char frame[FRAME] = {0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
	FILE *stream;

	(void)state;
	fixture_run_sql(directory, "PRAGMA journal_mode=WAL");
	stream = fopen(log, "we");
	assert_non_null(stream);
	assert_int_equal(fwrite(header, sizeof(header), 1, stream), 1);
	for (size_t i = 0; i < FRAMES; i++)
		assert_int_equal(fwrite(frame, sizeof(frame), 1, stream), 1);
	fclose(stream);
	check("log", directory, fixture_survive("log", directory, check_damage));
	free(log);
	free(path);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_texts),  cmocka_unit_test(test_shared_rounds),
		cmocka_unit_test(test_growing_chain), cmocka_unit_test(test_many_holes),
		cmocka_unit_test(test_endless_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
