/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histories: the file of a day, read by all that reads one. The first byte says what the input is: changes of
 * some bytes of a good file, or of one with a log; a whole file; rows of its tables; or a moment or range of
 * a good history as users type it. It also says what is read of the rounds. What cannot be read must say why.
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

#include <sqlite3.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/line/history_moment.h"
#include "store/history.h"
#include "store/history_writer.h"

enum {
	ROUNDS = 4,
	CHANGES_MAX = 64,
	CHANGE_BYTES = 32,
	FILE_MAX = 1 << 18,
	ROWS_MAX = 64,
	WAITS_MAX = 20, /* for an input */
};

/* The kinds of input. */
enum kind {
	KIND_CHANGES,
	KIND_CHANGES_WITH_LOG,
	KIND_FILE,
	KIND_ROWS,
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
#define DAY_NAME "2026-11-20.rounds"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
	char *data;
	size_t size;
};

static char *directory;              /* of the file that is read */
static char *good_directory;         /* of one that nobody changes */
static unsigned int waits;           /* of this input */
static int file, log_file;           /* in `directory` */
static struct image whole, parts[2]; /* a file that was closed; one that was not, and its log */

static void require(bool holds)
{
	if (!holds)
		abort();
}

/*
 * Stands for that of the C library. Nobody writes the file while it is read: a reader that takes it for one
 * that is being written may look again a few times, but not wait as long as it would for a writer.
 */
int usleep(useconds_t microseconds)
{
	(void)microseconds;
	require(++waits <= WAITS_MAX);
	return 0;
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

static struct image read_image(const char *name)
{
	char *path = memory_format("%s/%s", good_directory, name);
	const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	struct image image;

	require(descriptor >= 0 && fstat(descriptor, &status) == 0);
	image = (struct image){memory_allocate((size_t)status.st_size + 1), (size_t)status.st_size};
	require(read(descriptor, image.data, image.size) == (ssize_t)image.size);
	close(descriptor);
	free(path);
	return image;
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
	parts[0] = read_image(DAY_NAME);
	parts[1] = read_image(DAY_NAME "-wal");
	history_writer_close(writer);
	whole = read_image(DAY_NAME);
}

static int create(const char *name)
{
	char *path = memory_format("%s/%s", directory, name);
	const int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	require(descriptor >= 0);
	free(path);
	return descriptor;
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
	(void)count, (void)arguments;
	setenv("TZ", "UTC", 1);
	memory_set_failure_handler(abort); /* no file may need so much */
	directory = make_directory();
	good_directory = make_directory();
	atexit(remove_directories);
	record();
	file = create(DAY_NAME);
	log_file = create(DAY_NAME "-wal");
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

	for (size_t i = 0; more && i < (reading == READING_STEPS ? ROWS_MAX : number); i++) {
		more = holds(history_step(history, &round, 1, &next, &error), &error) &&
		       !history_is_same(&round, &next);
		/* they ascend, whatever the file says */
		require(!more || next.day > round.day || (next.day == round.day && next.id > round.id));
		if (more)
			history_adjoins(history, &round, &next);
		if (reading == READING_STEPS)
			holds(history_find(history, round.unix_ns, HISTORY_NEAREST, &other, &error), &error);
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

static void put(int descriptor, const void *data, size_t size)
{
	require(ftruncate(descriptor, (off_t)size) == 0 &&
		pwrite(descriptor, data, size, 0) == (ssize_t)size);
}

/* Each change is a place of three bytes, a number of bytes, and these; one of none ends the file there. */
static void change(int descriptor, const struct image *image, const uint8_t **data, size_t *size)
{
	put(descriptor, image->data, image->size);
	for (size_t i = 0; i < CHANGES_MAX && *size >= 4; i++) {
		const uint8_t *bytes = *data;
		const size_t place = (bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16) %
				     image->size;
		const size_t wanted = bytes[3] % CHANGE_BYTES, left = *size - 4;
		const size_t length = wanted < left ? wanted : left;

		if (length == 0)
			require(ftruncate(descriptor, (off_t)place) == 0);
		else
			require(pwrite(descriptor, bytes + 4, length, (off_t)place) == (ssize_t)length);
		*data += 4 + length;
		*size -= 4 + length;
		if (bytes[3] >= 0x80)
			return; /* the rest is of the next file */
	}
}

struct input {
	const uint8_t *data;
	size_t size;
};

static int64_t take(struct input *input, size_t bytes)
{
	uint64_t number = 0;

	for (size_t i = 0; i < bytes && input->size != 0; i++) {
		number |= (uint64_t)*input->data++ << 8 * i;
		input->size--;
	}
	return (int64_t)number;
}

/* Binds a value: that of a row which a recorder could have written, or any of any type. */
static void bind(sqlite3_stmt *statement, int column, int64_t usual, struct input *input)
{
	const size_t length = input->size < CHANGE_BYTES ? input->size : CHANGE_BYTES;
	const char *text = (const char *)input->data;

	switch (take(input, 1) % 8) {
	case 0:
		sqlite3_bind_int64(statement, column, take(input, 8));
		break;
	case 1:
		sqlite3_bind_int64(statement, column, usual + (int8_t)take(input, 1));
		break;
	case 2:
		sqlite3_bind_null(statement, column);
		break;
	case 3:
		sqlite3_bind_double(statement, column, (double)take(input, 8));
		break;
	case 4:
		sqlite3_bind_text(statement, column, text, (int)length, SQLITE_TRANSIENT);
		break;
	case 5:
		sqlite3_bind_blob(statement, column, text, (int)length, SQLITE_TRANSIENT);
		break;
	default:
		sqlite3_bind_int64(statement, column, usual);
		break;
	}
}

/* A recording of one of the good rounds, with its checksum or another. */
static void bind_blobs(sqlite3_stmt *statement, sqlite3_stmt *blobs, struct input *input)
{
	const int64_t which = take(input, 1) % ROUNDS;
	const bool is_right = take(input, 1) % 8 != 0;

	sqlite3_reset(blobs);
	sqlite3_bind_int64(blobs, 1, which);
	if (sqlite3_step(blobs) != SQLITE_ROW)
		return;
	for (int i = 0; i < 2; i++)
		sqlite3_bind_value(statement, 2 + i, sqlite3_column_value(blobs, i));
	sqlite3_bind_int64(statement, 4, sqlite3_column_int64(blobs, 2) + !is_right);
}

/* A good file in memory, anew: the changes of the input before are undone. */
static void reset(sqlite3 *base)
{
	const sqlite3_int64 size = (sqlite3_int64)whole.size;
	unsigned char *copy = sqlite3_malloc64(whole.size);

	memcpy(copy, whole.data, whole.size);
	require(sqlite3_deserialize(base, "main", copy, size, size,
				    SQLITE_DESERIALIZE_RESIZEABLE | SQLITE_DESERIALIZE_FREEONCLOSE) ==
		SQLITE_OK);
}

/* Adds a row, or puts it in the place of what is there. */
static void add_row(sqlite3_stmt *statement, sqlite3_stmt *blobs, uint8_t which, struct input *input)
{
	const int64_t id = (int64_t)(BEGIN_NS / NS_PER_MS) + which / 8 * 2500;
	const int columns = sqlite3_bind_parameter_count(statement);

	for (int column = 1; column <= columns; column++) {
		int64_t usual = 1;

		if (column == 1)
			usual = id;
		else if (column == 2)
			usual = id * (int64_t)NS_PER_MS;
		else if (column == 10 && which % 8 != 0)
			usual = id - 5000;
		bind(statement, column, usual, input);
	}
	if (columns == 4)
		bind_blobs(statement, blobs, input);
	sqlite3_step(statement);
	sqlite3_reset(statement);
	sqlite3_reset(blobs);
}

static void put_rows(struct input *input)
{
	static const char *const texts[] = {
		"INSERT OR REPLACE INTO rounds VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		"INSERT OR REPLACE INTO blobs VALUES(?,?,?,?)",
		"INSERT OR REPLACE INTO marks VALUES(?,?,?,?,?)",
		"INSERT OR REPLACE INTO boots VALUES(?,?,?,?,?,?)",
		"SELECT state, interval, checksum FROM blobs ORDER BY round LIMIT 1 OFFSET ?",
	};
	enum {
		INSERTS = ARRAY_COUNT(texts) - 1
	};
	static sqlite3 *base;
	static sqlite3_stmt *statements[ARRAY_COUNT(texts)];
	const bool is_first = base == NULL;
	sqlite3_int64 size;
	unsigned char *image;

	if (is_first)
		require(sqlite3_open(":memory:", &base) == SQLITE_OK);
	reset(base);
	for (size_t i = 0; is_first && i < ARRAY_COUNT(texts); i++)
		require(sqlite3_prepare_v2(base, texts[i], -1, &statements[i], NULL) == SQLITE_OK);
	require(sqlite3_exec(base, "BEGIN", NULL, NULL, NULL) == SQLITE_OK);
	for (size_t i = 0; i < ROWS_MAX && input->size != 0; i++) {
		const uint8_t which = (uint8_t)take(input, 1);

		add_row(statements[which % INSERTS], statements[INSERTS], which, input);
	}
	require(sqlite3_exec(base, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
	image = sqlite3_serialize(base, "main", &size, 0);
	require(image != NULL && size > 0);
	put(file, image, (size_t)size);
	put(log_file, "", 0);
	sqlite3_free(image);
}

static void read_moment(struct input *input)
{
	char *typed = memory_duplicate_bytes((const char *)input->data, input->size);
	char *name = memory_format("%s@%s", good_directory, typed);
	struct history_moment moment = {0};
	struct error error = {""};

	/* a path of its own would be another history */
	if (strpbrk(typed, "/@") == NULL && history_moment_is_named(name) &&
	    holds(history_moment_read(name, BEGIN_NS + 60 * NS_PER_S, true, &moment, &error), &error)) {
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

	waits = 0;
	if (size == 0 || size > FILE_MAX)
		return 0;
	switch ((enum kind)(data[0] % KINDS)) {
	case KIND_CHANGES:
		put(log_file, "", 0);
		change(file, &whole, &input.data, &input.size);
		break;
	case KIND_CHANGES_WITH_LOG:
		change(file, &parts[0], &input.data, &input.size);
		change(log_file, &parts[1], &input.data, &input.size);
		break;
	case KIND_FILE:
		put(log_file, "", 0);
		put(file, input.data, input.size);
		break;
	case KIND_ROWS:
		put_rows(&input);
		break;
	case KIND_MOMENT:
	case KINDS:
		read_moment(&input);
		return 0;
	}
	read_history((enum reading)(data[0] / KINDS % READINGS), data[0] / KINDS / READINGS);
	return 0;
}
