/* SPDX-License-Identifier: GPL-2.0-only */
/* Moments and ranges of a history where a file is named: what happened before, and what cannot be had. */
#include "history/history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/line/history_moment.h"
#include "cmd/line/snapshot_files.h"
#include "session/when.h"
#include "snapshot/snapshot_window.h"

enum {
	ROUNDS = 40,
	SECOND_BOOT = 20, /* the number of its first round */
	RENAMED = 25,     /* the same of that boot under another host name */
};

static char *directory;

static struct fixture_host after_reboot(void)
{
	struct fixture_host host = fixture_host;

	host.boot_id = "7f1a2c3d-0000-0000-0000-000000000002";
	return host;
}

static int begin(void **state)
{
	const struct fixture_host second = after_reboot();
	struct fixture_host renamed = second;
	struct history_writer *writer;

	(void)state;
	renamed.host = "other";
	directory = fixture_directory();
	writer = fixture_writer(directory, NULL);
	for (uint64_t i = 0; i < ROUNDS; i++)
		fixture_add(writer, i < SECOND_BOOT ? &fixture_host : i < RENAMED ? &second : &renamed, i);
	history_writer_close(writer);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fixture_remove(directory);
	return 0;
}

/* Reads what is between two rounds, or before one where `from` is -1; the error is empty where it is there.
 */
static struct history_moment read_moment(int from, int to, struct error *error)
{
	const uint64_t now = fixture_unix_ns(&fixture_host, ROUNDS);
	char first[WHEN_TEXT_SIZE], last[WHEN_TEXT_SIZE];
	struct history_moment moment;
	char *name;

	when_format(last, fixture_unix_ns(&fixture_host, (uint64_t)to));
	if (from < 0)
		name = memory_format("%s@%s", directory, last);
	else
		name = memory_format("%s@%s..%s", directory,
				     when_format(first, fixture_unix_ns(&fixture_host, (uint64_t)from)),
				     last);
	assert_true(history_moment_is_named(name));
	*error = (struct error){""};
	if (history_moment_read(name, now, true, false, &moment, error) == 0)
		assert_string_equal(moment.name, name);
	free(name);
	return moment;
}

static void release(struct history_moment *moment)
{
	snapshot_release(moment->snapshot);
	free(moment->name);
	free(moment->note);
}

/* Thread 1 of the fixture runs `number` ms until round `number`. */
static void expect_span(const struct snapshot *now, int rounds)
{
	const struct snapshot_window *window = now->window;
	uint64_t amount = 0;

	assert_non_null(window);
	assert_int_equal(now->provenance.boottime_ns - window->from->provenance.boottime_ns,
			 (uint64_t)rounds * 5 * NS_PER_S);
	for (size_t i = 0; i < now->thread_count; i++) {
		if (window->from_of[i] < THREAD_STILL)
			amount += snapshot_value(now, i, METRIC_RUN_TIME_NS) -
				  snapshot_value(window->from, window->from_of[i], METRIC_RUN_TIME_NS);
	}
	/* every third thread runs, and those that do not are not kept */
	assert_int_equal(amount, window->from->thread_count * (uint64_t)rounds * NS_PER_MS);
	assert_true(window->from->thread_count != 0 && window->from->thread_count < now->thread_count / 2);
	assert_int_equal(window->ended.threads, rounds);
}

static void test_moment(void **state)
{
	struct error error;
	struct history_moment moment = read_moment(-1, 7, &error);

	(void)state;
	assert_string_equal(error.text, "");
	assert_null(moment.note);
	expect_span(moment.snapshot, 1);
	release(&moment);
	/* nothing is known of what was before the first round */
	moment = read_moment(-1, 0, &error);
	assert_string_equal(error.text, "");
	assert_null(moment.snapshot->window);
	release(&moment);
}

static void test_range(void **state)
{
	struct error error;
	struct history_moment moment = read_moment(3, 12, &error);

	(void)state;
	assert_string_equal(error.text, "");
	assert_null(moment.note);
	expect_span(moment.snapshot, 9);
	release(&moment);
}

/* As many parts as there are rounds, at most twelve, that make up the range. */
static void test_parts(void **state)
{
	static const int ranges[][3] = {{3, 12, 9}, {1, 16, 12}, {2, 3, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		struct error error;
		struct history_moment moment = read_moment(ranges[i][0], ranges[i][1], &error);
		const struct snapshot_window *window;
		uint64_t length_ns = 0, amount = 0;

		assert_string_equal(error.text, "");
		window = moment.snapshot->window;
		assert_int_equal(window->parts.count, ranges[i][2]);
		for (size_t k = 0; k < window->parts.count; k++) {
			const struct window_part *part = &window->parts.items[k];

			length_ns += part->length_ns;
			assert_int_equal(part->metrics[0], METRIC_RUN_TIME_NS);
			for (size_t name = 0; name < part->count; name++)
				amount += part->amounts[name];
		}
		assert_int_equal(length_ns, (uint64_t)(ranges[i][1] - ranges[i][0]) * 5 * NS_PER_S);
		/* what lived for a round within told nobody, and is not among it */
		assert_int_equal(amount, window->from->thread_count *
						 (uint64_t)(ranges[i][1] - ranges[i][0]) * NS_PER_MS);
		release(&moment);
	}
}

static void expect_refused(int from, int to, const char *words)
{
	struct error error;
	struct history_moment moment = read_moment(from, to, &error);

	assert_null(moment.snapshot);
	if (strstr(error.text, words) == NULL)
		fail_msg("%s is not in: %s", words, error.text);
}

static void test_refused(void **state)
{
	(void)state;
	expect_refused(12, 3, "the range is empty: it ends at ");
	expect_refused(5, 5, "the range is empty: it ends at ");
	expect_refused(ROUNDS + 50, ROUNDS + 60, " earlier; --nearest takes it");
	/* it says up to where one boot goes, and where the next begins */
	expect_refused(SECOND_BOOT - 3, SECOND_BOOT + 3, "was started again within the range: take ");
}

/* A start of the host is told by its id: another host name, or program that records, is no other one. */
static void test_renamed(void **state)
{
	struct error error;
	struct history_moment moment = read_moment(RENAMED - 2, RENAMED + 2, &error);

	(void)state;
	assert_string_equal(error.text, "");
	assert_non_null(moment.snapshot);
	release(&moment);
	expect_refused(SECOND_BOOT - 1, SECOND_BOOT + 3, "within the range: take ");
	expect_refused(SECOND_BOOT - 1, SECOND_BOOT, "was started again within the range");
}

/* --- times without a round --- */

enum {
	NEXT_DAY = 86400 / 5, /* number of the round a day after the first one */
};

/* Records 2026-11-20 from 08:00:00 to 08:03:15, and the next day from 08:00:00 to 08:00:45. */
static char *record_two_days(void)
{
	char *two_days = fixture_record(ROUNDS);
	struct history_writer *writer = fixture_writer(two_days, NULL);

	fixture_add_rounds(writer, &fixture_host, NEXT_DAY, NEXT_DAY + 10);
	history_writer_close(writer);
	return two_days;
}

/* Reads the moment `when` as if it were typed at 08:10 on the second day. */
static int read_typed(const char *two_days, const char *when, bool nearest, struct history_moment *ret_moment,
		      struct error *error)
{
	char *name = memory_format("%s@%s", two_days, when);
	const int result = history_moment_read(name,
					       fixture_unix_ns(&fixture_host, NEXT_DAY) + 600 * NS_PER_S,
					       false, nearest, ret_moment, error);

	free(name);
	return result;
}

static void test_not_recorded(void **state)
{
	static const char remedy[] = "; --nearest takes it";
	static const struct {
		const char *when;
		const char *sentence; /* explanation in the message, before the remedy */
		const char *last;     /* end of the message: the last recorded moment with that time of day */
		const char *nearest;
	} cases[] = {
		{"08:02",
		 "the history had ended at 2026-11-21 08:02:00: the nearest round is of 2026-11-21 08:00:45, "
		 "1 min "
		 "15 s earlier",
		 ", and the last recorded 08:02 is 2026-11-20 08:02:00", "2026-11-21 08:00:45"},
		{"08:05",
		 "the history had ended at 2026-11-21 08:05:00: the nearest round is of 2026-11-21 "
		 "08:00:45, ",
		 "", "2026-11-21 08:00:45"},
		{"2026-11-21 08:02",
		 "the history had ended at 2026-11-21 08:02:00: the nearest round is of 2026-11-21 "
		 "08:00:45, ",
		 "", "2026-11-21 08:00:45"},
		{"09:00",
		 "nothing was recorded at 2026-11-20 09:00:00: the nearest round is of 2026-11-20 08:03:15, ",
		 "", "2026-11-20 08:03:15"},
		{"2026-11-19",
		 "the history had not begun at 2026-11-19 00:00:00: the nearest round is of 2026-11-20 "
		 "08:00:00, 1 "
		 "d 8 h later",
		 "", "2026-11-20 08:00:00"},
		{"08:02..08:04",
		 "nothing was recorded from 2026-11-21 08:02:00 to 2026-11-21 08:04:00: the nearest round is "
		 "of "
		 "2026-11-21 08:00:45, 1 min 15 s earlier",
		 ", and the last recorded 08:02 is 2026-11-20 08:02:00", "2026-11-21 08:00:45"},
		{"2026-11-20 20:00..2026-11-21 07:00",
		 "nothing was recorded from 2026-11-20 20:00:00 to 2026-11-21 07:00:00: the nearest round is "
		 "of "
		 "2026-11-21 08:00:00, 1 h",
		 "", "2026-11-21 08:00:00"},
		/* a range that lies between two rounds */
		{"08:00:11..08:00:13",
		 "nothing was recorded from 2026-11-21 08:00:11 to 2026-11-21 08:00:13: the nearest round is "
		 "of "
		 "2026-11-21 08:00:10, 1 s earlier",
		 ", and the last recorded 08:00:11 is 2026-11-20 08:00:11", "2026-11-21 08:00:10"},
	};
	char *two_days = record_two_days();

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct history_moment moment;
		struct error error = {""};
		char *name;

		assert_int_equal(read_typed(two_days, cases[i].when, false, &moment, &error), -ENODATA);
		assert_null(moment.snapshot);
		if (strstr(error.text, two_days) != error.text ||
		    strstr(error.text, cases[i].sentence) == NULL || strstr(error.text, remedy) == NULL ||
		    strcmp(strstr(error.text, remedy) + strlen(remedy), cases[i].last) != 0)
			fail_msg("%s: %s", cases[i].when, error.text);
		if (read_typed(two_days, cases[i].when, true, &moment, &error) < 0)
			fail_msg("%s: %s", cases[i].when, error.text);
		assert_ptr_equal(strstr(moment.note, cases[i].sentence), moment.note);
		name = memory_format("%s@%s", two_days, cases[i].nearest);
		assert_string_equal(moment.name, name);
		free(name);
		release(&moment);
	}
	fixture_remove(two_days);
}

/* A recorded time is shown without a note and needs no --nearest. */
static void test_recorded(void **state)
{
	static const struct {
		const char *when, *shown;
	} cases[] = {
		{"08:00:20", "2026-11-21 08:00:20"},
		{"08:00:22", "2026-11-21 08:00:20"},
		/* the next round is not overdue yet */
		{"08:00:52", "2026-11-21 08:00:45"},
		{"2026-11-20 08:03:15", "2026-11-20 08:03:15"},
		{"08:00:00..08:00:30", "2026-11-21 08:00:00..2026-11-21 08:00:30"},
	};
	char *two_days = record_two_days();

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct history_moment moment;
		struct error error = {""};
		char *name = memory_format("%s@%s", two_days, cases[i].shown);

		if (read_typed(two_days, cases[i].when, false, &moment, &error) < 0)
			fail_msg("%s: %s", cases[i].when, error.text);
		assert_null(moment.note);
		assert_string_equal(moment.name, name);
		free(name);
		release(&moment);
	}
	fixture_remove(two_days);
}

/* A history directory is not a snapshot; the message names a moment to use. */
static void test_directory(void **state)
{
	struct history_moment moment;
	struct error error = {""};
	char *sentence = memory_format("%s is a history: name a moment: %s@-1h", directory, directory);

	(void)state;
	assert_int_equal(snapshot_file_read(directory, 0, true, false, &moment, &error), -EISDIR);
	assert_string_equal(error.text, sentence);
	free(sentence);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool is_moment;
	} cases[] = {
		{"/nowhere/ctop@-1h", true},         {"@09:00..09:05", true},
		{"@@1795161600..@1795161700", true}, {"../nowhere", false},
		{"a@b/../nowhere@now", true},        {"nowhere..09:05", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(history_moment_is_named(cases[i].name), cases[i].is_moment);
}

static int check_output(const char *output, struct error *error)
{
	char *name = memory_format("%s@now", directory);
	const char *const paths[] = {"/nowhere", name};
	const int result = snapshot_files_check_output(paths, 2, output, error);

	assert_int_equal(snapshot_files_check_history(directory, output, error), result);
	free(name);
	return result;
}

/* A report may be written to a history's directory, but not over its files. */
static void test_output(void **state)
{
	char *file = fixture_path(directory), *link = memory_format("%s.link", directory),
	     *other = memory_format("%s/report.csv", directory);
	struct error error = {""};

	(void)state;
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(check_output(file, &error), -EINVAL);
	assert_non_null(strstr(error.text, "would be overwritten: name another file with -o"));
	assert_int_equal(symlink(file, link), 0);
	assert_int_equal(check_output(link, &error), -EINVAL);
	unlink(link);
	assert_int_equal(check_output(other, &error), 0);
	close(open(other, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(check_output(other, &error), 0);
	unlink(other);
	free(file);
	free(link);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moment),   cmocka_unit_test(test_range),
		cmocka_unit_test(test_parts),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_renamed),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_output),   cmocka_unit_test(test_not_recorded),
		cmocka_unit_test(test_recorded), cmocka_unit_test(test_directory),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests_name("history moment", tests, begin, end);
}
