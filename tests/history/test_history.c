/* SPDX-License-Identifier: GPL-2.0-only */
/* A history, written and read: what is found at which time, what a moment is decoded from, who may write. */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctprof/snapshot_compare.h"
#include "store/history_files.h"
#include "tests/needs.h"

enum {
	TIME_NAMESPACE = 0x80, /* CLONE_NEWTIME, which not every C library names (unshare(2)) */
};

static void add_rounds(struct history_writer *writer, uint64_t from, uint64_t to)
{
	fixture_add_rounds(writer, &fixture_host, from, to);
}

/* Every round of more than an hour comes back as it was, read in order, backwards and at random. */
static void test_rounds_come_back(void **state)
{
	enum {
		ROUNDS = 800
	};
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);
	struct history *history;
	struct history_round round;
	unsigned int seed = 7;

	(void)state;
	add_rounds(writer, 0, ROUNDS);
	assert_int_equal(history_writer_state(writer)->rounds, ROUNDS);
	assert_int_equal(history_writer_state(writer)->whole_rounds, 2);
	/* while it is being written */
	history = fixture_open(directory);
	assert_int_equal(fixture_walk(history, &fixture_host, 0, NULL, NULL, NULL), ROUNDS);
	history_close(history);
	history_writer_close(writer);

	history = fixture_open(directory);
	for (size_t i = 0; i < 60; i++) {
		const uint64_t number = (uint64_t)rand_r(&seed) % ROUNDS;
		struct snapshot *snapshot, *original = fixture_round(&fixture_host, number);
		struct error error = {0};

		round = fixture_find(history, fixture_unix_ns(&fixture_host, number), HISTORY_NEAREST);
		assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, number));
		if (history_read(history, &round, &snapshot, &error) < 0)
			fail_msg("%s", error.text);
		assert_snapshots_equal(snapshot, original);
		snapshot_release(snapshot);
		snapshot_release(original);
	}
	assert_int_equal(history_last(history, &round, NULL), 0);
	for (uint64_t number = ROUNDS; number-- > ROUNDS - 40;) {
		fixture_expect_read(history, &round, &fixture_host, number);
		assert_int_equal(history_step(history, &round, -1, &round, NULL), 0);
	}
	history_close(history);
	fixture_remove(directory);
}

/* Beside what tests/timeline/test_ring.c finds. */
static void test_finding(void **state)
{
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);
	struct history *history;
	struct history_round round;
	const uint64_t tenth = fixture_unix_ns(&fixture_host, 10);

	(void)state;
	add_rounds(writer, 0, 20);
	history = fixture_open(directory);
	assert_int_equal(fixture_find(history, tenth + NS_PER_S, HISTORY_NEAREST).unix_ns, tenth);
	assert_int_equal(fixture_find(history, tenth - NS_PER_S, HISTORY_NEAREST).unix_ns, tenth);
	assert_int_equal(fixture_find(history, 0, HISTORY_AT_OR_BEFORE).unix_ns,
			 fixture_unix_ns(&fixture_host, 0));
	round = fixture_find(history, UINT64_MAX, HISTORY_AT_OR_AFTER);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, 19));
	/* what is recorded meanwhile is found */
	add_rounds(writer, 20, 22);
	assert_int_equal(history_step(history, &round, 1, &round, NULL), 0);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, 20));
	assert_int_equal(fixture_find(history, UINT64_MAX, HISTORY_NEAREST).unix_ns,
			 fixture_unix_ns(&fixture_host, 21));
	history_close(history);
	history_writer_close(writer);
	fixture_remove(directory);
}

static void test_what_a_round_says(void **state)
{
	char *directory = fixture_record(3);
	struct history *history = fixture_open(directory);
	struct history_round round;
	struct snapshot *gone;
	double left;

	(void)state;
	assert_int_equal(history_first(history, &round, NULL), 0);
	assert_true(round.after_gap);
	assert_false(round.after_pause);
	assert_int_equal(round.span_ns, 0);
	assert_int_equal(round.psi[PRESSURE_CPU], HISTORY_PSI_UNKNOWN);
	assert_int_equal(history_read_gone(history, &round, &gone, &left, NULL), 0);
	assert_null(gone);
	assert_true(isnan(left));
	assert_int_equal(history_step(history, &round, 1, &round, NULL), 0);
	assert_false(round.after_gap);
	assert_int_equal(round.span_ns, 5 * NS_PER_S);
	assert_int_equal(round.threads, fixture_host.threads + 1);
	assert_int_equal(round.psi[PRESSURE_CPU], 100);
	assert_int_equal(round.psi[PRESSURE_MEMORY], 0);
	assert_int_equal(round.load_centi, 1);
	assert_false(round.clock_jumped);
	assert_int_equal(round.suspended_ns, 0);
	assert_string_equal(history_boot(history, &round)->texts[HISTORY_BOOT_ID], fixture_host.boot_id);
	assert_string_equal(history_boot(history, &round)->texts[HISTORY_BOOT_KERNEL], "6.1.0");
	assert_string_equal(history_boot(history, &round)->texts[HISTORY_BOOT_HOST], "one");
	assert_string_equal(history_boot(history, &round)->texts[HISTORY_BOOT_ARCHITECTURE], "x86_64");
	/* the process of the first round is gone */
	assert_int_equal(history_read_gone(history, &round, &gone, &left, NULL), 0);
	assert_non_null(gone);
	assert_int_equal(gone->thread_count, 1);
	assert_int_equal(gone->tid[0], 150);
	snapshot_release(gone);
	history_close(history);
	fixture_remove(directory);
}

/* Midnight in UTC begins a file, and nobody who steps sees it. */
static void test_days(void **state)
{
	struct fixture_host host = fixture_host;
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);
	struct history *history;
	const struct history_day *days;
	struct history_round round, *rounds;
	size_t count;

	(void)state;
	host.unix_ns = FIXTURE_UNIX_NS + 16 * 3600 * NS_PER_S - 25 * NS_PER_S;
	fixture_add_rounds(writer, &host, 0, 10);
	history_writer_close(writer);
	history = fixture_open(directory);
	days = history_days(history, &count);
	assert_int_equal(count, 2);
	assert_string_equal(days[0].name, "2026-11-20.ctlog");
	assert_string_equal(days[1].name, "2026-11-21.ctlog");
	assert_int_equal(days[0].rounds, 5);
	assert_int_equal(days[1].rounds, 5);
	assert_int_equal(days[0].gaps, 1);
	assert_int_equal(days[1].gaps, 0);
	assert_int_equal(days[1].first_unix_ns, fixture_unix_ns(&host, 5));
	assert_int_equal(days[1].last_unix_ns, fixture_unix_ns(&host, 9));
	assert_int_equal(history_first(history, &round, NULL), 0);
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(round.after_gap, i == 0);
		fixture_expect_read(history, &round, &host, i);
		history_step(history, &round, 1, &round, NULL);
	}
	history_step(history, &round, -8, &round, NULL);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&host, 1));
	history_step(history, &round, 7, &round, NULL);
	assert_int_equal(round.unix_ns, fixture_unix_ns(&host, 8));
	assert_int_equal(fixture_find(history, fixture_unix_ns(&host, 5) - 1, HISTORY_AT_OR_AFTER).unix_ns,
			 fixture_unix_ns(&host, 5));
	assert_int_equal(fixture_find(history, fixture_unix_ns(&host, 5) - 1, HISTORY_AT_OR_BEFORE).unix_ns,
			 fixture_unix_ns(&host, 4));
	assert_int_equal(history_range(history, 0, UINT64_MAX, &rounds, &count, NULL), 0);
	assert_int_equal(count, 10);
	assert_int_equal(rounds[9].unix_ns, fixture_unix_ns(&host, 9));
	free(rounds);
	assert_int_equal(history_range(history, fixture_unix_ns(&host, 2), fixture_unix_ns(&host, 7), &rounds,
				       &count, NULL),
			 0);
	assert_int_equal(count, 6);
	assert_int_equal(rounds[0].unix_ns, fixture_unix_ns(&host, 2));
	free(rounds);
	history_close(history);
	fixture_remove(directory);
}

/* Recording that ends and goes on leaves a gap, another start of the host too; both are told apart. */
static void test_gaps_and_boots(void **state)
{
	const struct fixture_host again = {.boot_id = "22222222-2222-4222-8222-222222222222",
					   .kernel = "6.12.0",
					   .host = "one",
					   .unix_ns = FIXTURE_UNIX_NS + 600 * NS_PER_S,
					   .boottime_ns = 20 * NS_PER_S,
					   .threads = 50};
	char *directory = fixture_record(3);
	struct history_writer *writer = fixture_writer(directory, NULL);
	struct history *history;
	struct history_round round;
	uint32_t boot;

	(void)state;
	add_rounds(writer, 30, 33);
	fixture_add_rounds(writer, &again, 0, 3);
	history_writer_close(writer);
	history = fixture_open(directory);
	assert_int_equal(history_first(history, &round, NULL), 0);
	boot = round.boot;
	for (uint64_t i = 0; i < 9; i++) {
		assert_int_equal(round.after_gap, i % 3 == 0);
		assert_int_equal(round.clock_jumped, false);
		assert_int_equal(round.boot == boot, i < 6);
		fixture_expect_read(history, &round, i < 6 ? &fixture_host : &again,
				    i < 3   ? i
				    : i < 6 ? 27 + i
					    : i - 6);
		if (i == 8)
			assert_string_equal(history_boot(history, &round)->texts[HISTORY_BOOT_KERNEL],
					    "6.12.0");
		history_step(history, &round, 1, &round, NULL);
	}
	history_close(history);
	fixture_remove(directory);
}

/* The wall clock is set forward, then back: both are said, and what was recorded twice is found by its file.
 */
static void test_clock_jumps(void **state)
{
	struct fixture_host forward = fixture_host, back = fixture_host;
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);
	struct history *history;
	struct history_round round;
	size_t count;

	(void)state;
	forward.unix_ns += 100 * NS_PER_S;
	back.unix_ns -= 20 * NS_PER_S;
	add_rounds(writer, 0, 4);
	fixture_add_rounds(writer, &forward, 4, 8);
	fixture_add_rounds(writer, &back, 8, 12);
	history_writer_close(writer);
	history = fixture_open(directory);
	history_days(history, &count);
	assert_int_equal(count, 2);
	assert_int_equal(history_first(history, &round, NULL), 0);
	for (uint64_t i = 0; i < 12; i++) {
		const struct fixture_host *host = i < 4 ? &fixture_host : i < 8 ? &forward : &back;

		assert_int_equal(round.clock_jumped, i == 4 || i == 8);
		assert_int_equal(round.clock_jump_ns, i == 4   ? (int64_t)(100 * NS_PER_S)
						      : i == 8 ? -(int64_t)(120 * NS_PER_S)
							       : 0);
		/* the boot clock went on: nothing is missing */
		assert_int_equal(round.after_gap, i == 0);
		fixture_expect_read(history, &round, host, i);
		history_step(history, &round, 1, &round, NULL);
	}
	assert_int_equal(fixture_find(history, fixture_unix_ns(&back, 9), HISTORY_NEAREST).unix_ns,
			 fixture_unix_ns(&back, 9));
	history_close(history);
	fixture_remove(directory);
}

/* Goes on recording where the boot clock is 1,000 s further from the other one, as after a sleep. */
static bool record_after_sleep(const char *directory)
{
	const int offsets = unshare(TIME_NAMESPACE) == 0
				    ? open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC)
				    : -1;
	const char text[] = "boottime 1000 0";
	pid_t child;
	int status;

	if (offsets < 0 || write(offsets, text, strlen(text)) < 0)
		return false;
	close(offsets);
	child = fork();
	if (child == 0) {
		struct history_writer *writer = fixture_writer(directory, NULL);

		add_rounds(writer, 4, 6);
		history_writer_close(writer);
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_sleep(void **state)
{
	char *directory = fixture_record(4);
	struct history *history;
	struct history_round round;
	pid_t child;
	int status;

	(void)state;
	child = fork();
	if (child == 0)
		_exit(record_after_sleep(directory) ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0) {
		fixture_remove(directory);
		skip_test("needs CAP_SYS_ADMIN and CAP_SYS_TIME to have clocks of its own "
			  "(time_namespaces(7))");
	}
	history = fixture_open(directory);
	assert_int_equal(history_first(history, &round, NULL), 0);
	for (uint64_t i = 0; i < 6; i++) {
		if (i == 4)
			assert_in_range(round.suspended_ns, 999 * NS_PER_S, 1001 * NS_PER_S);
		else
			assert_int_equal(round.suspended_ns, 0);
		history_step(history, &round, 1, &round, NULL);
	}
	assert_int_equal(round.unix_ns, fixture_unix_ns(&fixture_host, 5));
	history_close(history);
	fixture_remove(directory);
}

/* A second writer hears who the first one is; when that one ends, it may. */
static void test_one_writer(void **state)
{
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL), *second;
	const struct history_writer_options options = {.directory = directory};
	char pid[32];
	struct error error;

	(void)state;
	snprintf(pid, sizeof(pid), "process %d on ", (int)getpid());
	assert_int_equal(history_writer_open(&options, &second, &error), -EBUSY);
	assert_non_null(strstr(error.text, pid));
	assert_non_null(strstr(error.text, directory));
	history_writer_close(writer);
	writer = fixture_writer(directory, NULL);
	history_writer_close(writer);
	fixture_remove(directory);
}

static void test_marks(void **state)
{
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);
	struct history *history;
	struct history_marks marks;
	const uint64_t third = fixture_unix_ns(&fixture_host, 3);

	(void)state;
	add_rounds(writer, 0, 5);
	assert_int_equal(history_writer_mark(
				 writer, &(struct history_mark){third, "rule", "psi.cpu > 20", NULL}, NULL),
			 0);
	assert_int_equal(
		history_writer_mark(
			writer, &(struct history_mark){third + NS_PER_S, "user", NULL, "x.ctprof.zst"}, NULL),
		0);
	history = fixture_open(directory);
	assert_int_equal(history_marks_read(history, 0, UINT64_MAX, &marks, NULL), 0);
	assert_int_equal(marks.count, 2);
	assert_string_equal(marks.items[0].kind, "rule");
	assert_string_equal(marks.items[0].text, "psi.cpu > 20");
	assert_null(marks.items[0].path);
	assert_null(marks.items[1].text);
	assert_string_equal(marks.items[1].path, "x.ctprof.zst");
	history_marks_release(&marks);
	/* a mark at either end is among them */
	assert_int_equal(history_marks_read(history, third + 1, UINT64_MAX, &marks, NULL), 0);
	assert_int_equal(marks.count, 1);
	assert_int_equal(marks.items[0].unix_ns, third + NS_PER_S);
	history_marks_release(&marks);
	assert_int_equal(history_marks_read(history, 0, third, &marks, NULL), 0);
	assert_int_equal(marks.count, 1);
	assert_int_equal(marks.items[0].unix_ns, third);
	history_marks_release(&marks);
	assert_int_equal(history_marks_read(history, third + NS_PER_S + 1, UINT64_MAX, &marks, NULL), 0);
	assert_int_equal(marks.count, 0);
	history_marks_release(&marks);
	assert_int_equal(history_marks_read(history, 0, third - 1, &marks, NULL), 0);
	assert_int_equal(marks.count, 0);
	history_marks_release(&marks);
	history_close(history);
	history_writer_close(writer);
	fixture_remove(directory);
}

/* A full disk may hold a mark back for days: it lies in the file of a later day then. */
static void test_late_mark(void **state)
{
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);
	const uint64_t earlier = FIXTURE_UNIX_NS - 3 * HISTORY_FILES_DAY_NS;
	struct history_marks marks;
	struct history *history;

	(void)state;
	add_rounds(writer, 0, 1);
	assert_int_equal(
		history_writer_mark(writer, &(struct history_mark){earlier, "user", "late", NULL}, NULL), 0);
	history = fixture_open(directory);
	assert_int_equal(history_marks_read(history, earlier, earlier, &marks, NULL), 0);
	assert_int_equal(marks.count, 1);
	history_marks_release(&marks);
	history_close(history);
	history_writer_close(writer);
	fixture_remove(directory);
}

/* Days go when they are too old, not when the clock merely says so; and the oldest goes when there is too
 * much. */
static void test_keeping(void **state)
{
	const struct history_writer_options options = {.keep_ns = 3 * 86400 * NS_PER_S};
	struct fixture_host host = fixture_host;
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, &options);
	struct history *history;
	struct history_mark mark = {.kind = "rule", .path = "first.ctprof.zst"};
	const struct history_day *days;
	char *path = memory_format("%s/first.ctprof.zst", directory);
	size_t count;

	(void)state;
	for (uint64_t day = 0; day < 6; day++) {
		/* 400 rounds are half an hour */
		host.unix_ns = fixture_host.unix_ns + day * 86400 * NS_PER_S;
		host.boottime_ns = fixture_host.boottime_ns + day * 86400 * NS_PER_S;
		fixture_add_rounds(writer, &host, 0, day == 5 ? 3 : 400);
		if (day == 0) {
			close(open(path, O_CREAT | O_WRONLY, 0600));
			mark.unix_ns = host.unix_ns;
			assert_int_equal(history_writer_mark(writer, &mark, NULL), 0);
		}
	}
	history = fixture_open(directory);
	days = history_days(history, &count);
	assert_int_equal(count, 4);
	assert_string_equal(days[0].name, "2026-11-22.ctlog");
	assert_string_equal(days[3].name, "2026-11-25.ctlog");
	history_close(history);
	assert_int_equal(history_writer_state(writer)->removed_days, 2);
	assert_int_equal(access(path, F_OK), -1);
	free(path);
	/* the clock jumps ten years ahead, just when it is time to look for old days */
	fixture_add_rounds(writer, &host, 3, 13);
	host.unix_ns += 3650 * 86400 * NS_PER_S;
	fixture_add_rounds(writer, &host, 13, 100);
	assert_int_equal(history_writer_state(writer)->removed_days, 2);
	fixture_add_rounds(writer, &host, 100, 200);
	assert_true(history_writer_state(writer)->removed_days > 2);
	history_writer_close(writer);
	fixture_remove(directory);
}

/* A clock that is wrong when recording begins: no day is removed for it, and nothing is written where the
 * time cannot be a file's. */
static void test_wrong_clock(void **state)
{
	static const int64_t wrong_unix_ns[] = {
		INT64_C(2792534400) * (int64_t)NS_PER_S, /* 2058 */
		0,
		-INT64_C(86400) * (int64_t)NS_PER_S,
		INT64_MIN,
		INT64_MAX,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(wrong_unix_ns); i++) {
		const struct history_writer_options options = {.keep_ns = 86400 * NS_PER_S};
		struct fixture_host host = fixture_host;
		char *directory = fixture_record(2);
		struct history_writer *writer = fixture_writer(directory, &options);
		const bool is_time = wrong_unix_ns[i] >= 0 && wrong_unix_ns[i] != INT64_MAX;
		struct history *history;
		size_t files, damaged;

		host.unix_ns = (uint64_t)wrong_unix_ns[i];
		for (uint64_t number = 0; number < 3; number++) {
			struct snapshot *round = fixture_round(&host, number);
			struct error error = {0};
			const int result = history_writer_add(writer, round, &error);

			assert_int_equal(result, is_time ? 0 : -ERANGE);
			if (!is_time)
				assert_non_null(strstr(error.text, "clock"));
			snapshot_release(round);
		}
		assert_int_equal(history_writer_state(writer)->removed_days, 0);
		history = fixture_open(directory);
		history_days(history, &files);
		assert_int_equal(files, is_time ? 2 : 1);
		history_close(history);
		if (!is_time) {
			struct snapshot *round = fixture_round(&host, 1000);

			/* more than an hour later, too */
			assert_int_equal(history_writer_add(writer, round, NULL), -ERANGE);
			assert_int_equal(history_writer_state(writer)->removed_days, 0);
			snapshot_release(round);
		}
		/* once it is right recording goes on */
		fixture_add_rounds(writer, &fixture_host, 2, 4);
		assert_int_equal(history_writer_state(writer)->removed_days, 0);
		history_writer_close(writer);
		if (!is_time)
			assert_int_equal(fixture_walk_all(directory, &damaged), 4);
		fixture_remove(directory);
	}
}

/* Rounds of a day that is still to come are not the newest ones, unless there are no others. */
static void test_days_to_come(void **state)
{
	const uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, &(struct history_writer_options){0});
	struct fixture_host host = fixture_host;
	struct history_round round;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct history *history;

		host.unix_ns = i == 0 ? now_ns + 3000 * 86400 * NS_PER_S : now_ns;
		fixture_add_rounds(writer, &host, 2 * (uint64_t)i, 2 * (uint64_t)i + 2);
		history = fixture_open(directory);
		assert_int_equal(history_last(history, &round, NULL), 0);
		assert_int_equal(round.unix_ns > now_ns + 86400 * NS_PER_S, i == 0);
		history_close(history);
	}
	history_writer_close(writer);
	fixture_remove(directory);
}

static void test_limit_of_bytes(void **state)
{
	enum {
		ROUNDS = 1000
	};
	const struct history_writer_options options = {.max_bytes = 8 << 20};
	struct fixture_host host = fixture_host;
	char *directory = fixture_directory();
	struct history_writer *writer;
	struct history *history;
	const struct history_day *days;
	uint64_t bytes = 0;
	size_t count;

	(void)state;
	/* whole rounds, each of another start of the host */
	host.threads = 300;
	host.noisy = true;
	writer = fixture_writer(directory, &options);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		char boot_id[40];

		snprintf(boot_id, sizeof(boot_id), "33333333-3333-4333-8333-%012u", (unsigned int)i);
		host.boot_id = boot_id;
		fixture_add(writer, &host, i * 12);
	}
	assert_true(history_writer_state(writer)->written_bytes > 2 * options.max_bytes);
	assert_true(history_writer_state(writer)->removed_days > 0);
	history = fixture_open(directory);
	days = history_days(history, &count);
	for (size_t i = 0; i < count; i++)
		bytes += days[i].bytes;
	/* what is written between two looks, and the log of the file that is open */
	assert_in_range(bytes, options.max_bytes / 2, options.max_bytes + (5 << 20));
	assert_true(count > 2);
	/* what was newest is there */
	assert_int_equal(days[count - 1].last_unix_ns, fixture_unix_ns(&host, (ROUNDS - 1) * 12));
	history_close(history);
	history_writer_close(writer);
	fixture_remove(directory);
}

static void make_file(const char *path, off_t size)
{
	const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_int_equal(posix_fallocate(file, 0, size), 0);
	close(file);
}

/*
 * A day's snapshots count and are removed with it, and no more days go than have to. Snapshots that no mark
 * names stay, and no day is removed because of them.
 */
static void test_snapshots_count(void **state)
{
	const struct history_writer_options options = {.max_bytes = 4 << 20};
	struct fixture_host host = fixture_host;
	char *directory = fixture_directory(), *path = memory_format("%s/large.ctprof.zst", directory),
	     *own = memory_format("%s/own.ctprof.zst", directory);
	struct history_writer *writer = fixture_writer(directory, &options);
	struct history_mark mark = {.kind = "rule", .path = "large.ctprof.zst"};
	struct history *history;
	const struct history_day *days;
	size_t count;

	(void)state;
	make_file(own, 8 << 20);
	for (uint64_t day = 0; day < 4; day++) {
		host.unix_ns = fixture_host.unix_ns + day * 86400 * NS_PER_S;
		host.boottime_ns = fixture_host.boottime_ns + day * 86400 * NS_PER_S;
		if (day == 3)
			make_file(path, 4 << 20);
		fixture_add_rounds(writer, &host, 0, 40);
		mark.unix_ns = host.unix_ns;
		if (day == 0)
			assert_int_equal(history_writer_mark(writer, &mark, NULL), 0);
	}
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(own, F_OK), 0);
	assert_int_equal(history_writer_state(writer)->removed_days, 1);
	history = fixture_open(directory);
	days = history_days(history, &count);
	assert_int_equal(count, 3);
	assert_string_equal(days[0].name, "2026-11-21.ctlog");
	history_close(history);
	history_writer_close(writer);
	free(path);
	free(own);
	fixture_remove(directory);
}

/* Snapshots of marks fill the limit within one day: the file that is written does not keep all of them. */
static void test_snapshots_of_a_day(void **state)
{
	enum {
		MARKS = 60,
		SNAPSHOT_BYTES = 512 << 10,
		KEPT_MAX = 20 /* sixteen are the limit, and one part of the day more */
	};
	const struct history_writer_options options = {.max_bytes = 8 << 20};
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, &options);
	unsigned int kept = 0;

	(void)state;
	for (uint64_t i = 0; i < MARKS; i++) {
		char name[32];
		struct history_mark mark = {.kind = "rule", .path = name};
		char *path;

		snprintf(name, sizeof(name), "mark-%u.ctprof.zst", (unsigned int)i);
		path = memory_format("%s/%s", directory, name);
		make_file(path, SNAPSHOT_BYTES);
		free(path);
		fixture_add(writer, &fixture_host, i);
		mark.unix_ns = fixture_unix_ns(&fixture_host, i);
		/* two marks of a moment have one snapshot */
		assert_int_equal(history_writer_mark(writer, &mark, NULL), 0);
		assert_int_equal(history_writer_mark(writer, &mark, NULL), 0);
		/* what is in a file is counted also by whoever goes on in it */
		if (i == MARKS / 2) {
			history_writer_close(writer);
			writer = fixture_writer(directory, &options);
		}
	}
	history_writer_close(writer);
	for (uint64_t i = 0; i < MARKS; i++) {
		char *path = memory_format("%s/mark-%u.ctprof.zst", directory, (unsigned int)i);
		const bool is_there = access(path, F_OK) == 0;

		kept += is_there;
		if (i + 1 == MARKS)
			assert_true(is_there);
		free(path);
	}
	assert_in_range(kept, KEPT_MAX / 4, KEPT_MAX);
	fixture_remove(directory);
}

/* Records rounds from 0 to 10 s and, after a gap, from 150 to 160 s after the first one. */
static char *record_with_gap(void)
{
	char *directory = fixture_record(3);
	struct history_writer *writer = fixture_writer(directory, NULL);

	add_rounds(writer, 30, 33);
	history_writer_close(writer);
	return directory;
}

/* Times that count as recorded, and times that do not. */
static void test_holding(void **state)
{
	static const struct {
		int64_t ms; /* after the first round */
		bool holds;
	} cases[] = {
		{-1000, false},
		{-1, false},
		{0, true},
		{1, true},
		{4999, true},
		{10000, true},
		{10001, false},
		{11000, false},
		{149999, false},
		{150000, true},
		{150001, true},
		{160000, true},
		/* the next round is due after 5 s, and overdue 2 s later */
		{160001, true},
		{167000, true},
		{167001, false},
		{86400000, false},
	};
	struct fixture_host host = fixture_host;
	char *directory = record_with_gap();
	struct history *history = fixture_open(directory);
	struct history_writer *writer;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const uint64_t unix_ns = host.unix_ns + (uint64_t)(cases[i].ms * (int64_t)NS_PER_MS);

		if (history_holds(history, unix_ns, NULL) != cases[i].holds)
			fail_msg("%lld ms", (long long)cases[i].ms);
	}
	history_close(history);
	fixture_remove(directory);
	/* a time in whole seconds finds the round of that second */
	host.unix_ns += 300 * NS_PER_MS;
	directory = fixture_directory();
	writer = fixture_writer(directory, NULL);
	fixture_add(writer, &host, 0);
	history_writer_close(writer);
	history = fixture_open(directory);
	assert_int_equal(history_holds(history, fixture_host.unix_ns, NULL), 1);
	assert_int_equal(history_holds(history, fixture_host.unix_ns - 1, NULL), 0);
	history_close(history);
	fixture_remove(directory);
}

/* Finds the oldest round between two times, else the nearest one. */
static void test_finding_within(void **state)
{
	static const struct {
		uint64_t from_ms, to_ms; /* after the first round */
		int found;
		uint64_t number; /* number of the expected round */
	} cases[] = {
		{0, 5000, 1, 0},
		{1, 5000, 1, 1},
		{1, 160000, 1, 1},
		{149000, 150000, 1, 30},
		/* an end in whole seconds includes its second, and no more */
		{145000, 149000, 0, 30},
		{11000, 140000, 0, 2},
		{20000, 140000, 0, 30},
		{200000, 300000, 0, 32},
	};
	char *directory = record_with_gap();
	struct history *history = fixture_open(directory);
	struct history_round round;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		assert_int_equal(
			history_find_within(history, fixture_host.unix_ns + cases[i].from_ms * NS_PER_MS,
					    fixture_host.unix_ns + cases[i].to_ms * NS_PER_MS, &round, NULL),
			cases[i].found);
		assert_int_equal(fixture_number(&fixture_host, round.unix_ns), cases[i].number);
	}
	assert_int_equal(history_find_within(history, 0, UINT64_MAX, &round, NULL), 1);
	assert_int_equal(round.unix_ns, fixture_host.unix_ns);
	assert_int_equal(history_find_within(history, 0, fixture_host.unix_ns - 2 * NS_PER_S, &round, NULL),
			 0);
	assert_int_equal(round.unix_ns, fixture_host.unix_ns);
	history_close(history);
	fixture_remove(directory);
}

static void test_no_history(void **state)
{
	char *directory = fixture_directory();
	struct history *history = NULL;
	struct history_round round;
	struct error error;
	char *path = memory_format("%s/none", directory), *file;

	(void)state;
	assert_int_equal(history_open(path, &history, &error), -ENOENT);
	assert_non_null(strstr(error.text, path));
	assert_int_equal(history_open(directory, &history, &error), -ENODATA);
	assert_non_null(strstr(error.text, "no history"));
	assert_int_equal(history_open("/etc/passwd", &history, &error), -ENOTDIR);
	/* begun, without a round */
	file = memory_format("%s/2026-11-20.ctlog", directory);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	history = fixture_open(directory);
	assert_int_equal(history_first(history, &round, &error), -ENODATA);
	assert_int_equal(history_holds(history, FIXTURE_UNIX_NS, &error), -ENODATA);
	assert_int_equal(history_find_within(history, 0, UINT64_MAX, &round, &error), -ENODATA);
	history_close(history);
	free(file);
	free(path);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds_come_back),
		cmocka_unit_test(test_finding),
		cmocka_unit_test(test_holding),
		cmocka_unit_test(test_finding_within),
		cmocka_unit_test(test_what_a_round_says),
		cmocka_unit_test(test_days),
		cmocka_unit_test(test_gaps_and_boots),
		cmocka_unit_test(test_clock_jumps),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_one_writer),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_late_mark),
		cmocka_unit_test(test_keeping),
		cmocka_unit_test(test_wrong_clock),
		cmocka_unit_test(test_days_to_come),
		cmocka_unit_test(test_limit_of_bytes),
		cmocka_unit_test(test_snapshots_count),
		cmocka_unit_test(test_snapshots_of_a_day),
		cmocka_unit_test(test_no_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
