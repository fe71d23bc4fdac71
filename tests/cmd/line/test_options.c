/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cmd/commands.h"
#include "cmd/line/view_options.h"

struct values {
	bool batch, no_delay;
	double interval;
	int format;
	uint64_t size;
	struct option_numbers pids;
	const char *output;
	struct view_options view;
};

static const char *const formats[] = {"text", "tsv", NULL};

static const struct option own[] = {
	{.letter = 'b', .name = "batch", .kind = OPTION_FLAG, .offset = offsetof(struct values, batch)},
	{.letter = 'd',
	 .name = "interval",
	 .kind = OPTION_REAL,
	 .value_name = "TIME",
	 .unit = "s",
	 .offset = offsetof(struct values, interval),
	 .minimum = 0.1,
	 .maximum = 3600,
	 .about = OPTION_ABOUT_HOST},
	{.name = "no-delay",
	 .kind = OPTION_FLAG,
	 .excludes = "interval",
	 .offset = offsetof(struct values, no_delay)},
	{.name = "format",
	 .old_name = "layout",
	 .kind = OPTION_CHOICE,
	 .value_name = "FORMAT",
	 .choices = formats,
	 .offset = offsetof(struct values, format)},
	{.name = "size",
	 .old_name = "bytes",
	 .warns_of_old_name = true,
	 .kind = OPTION_COUNT,
	 .unit = "MiB",
	 .value_name = "SIZE",
	 .maximum = 1e15,
	 .offset = offsetof(struct values, size)},
	{.letter = 'p',
	 .kind = OPTION_NUMBERS,
	 .value_name = "PID",
	 .minimum = 1,
	 .maximum = INT32_MAX,
	 .about = OPTION_ABOUT_HOST,
	 .offset = offsetof(struct values, pids)},
	{.letter = 'o',
	 .name = "output",
	 .kind = OPTION_TEXT,
	 .value_name = "FILE",
	 .offset = offsetof(struct values, output)},
};
static const struct option_table own_table = {"Options", own, ARRAY_COUNT(own)};
static const struct option_table_use uses[] = {
	{&own_table, 0},
	{&view_option_table, offsetof(struct values, view)},
};

enum {
	WORDS_MAX = 16
};

struct parsed {
	struct values values;
	char *words[WORDS_MAX];
	char copies[WORDS_MAX][64];
	int operands;
	enum option_request request;
	struct option_set given;
	struct error error;
};

static void parse_sets(struct parsed *parsed, const char *const *words, bool has_sets)
{
	int count = 0;

	memset(parsed, 0, sizeof(*parsed));
	for (; words[count] != NULL; count++) {
		strcpy(parsed->copies[count], words[count]);
		parsed->words[count] = parsed->copies[count];
	}
	parsed->operands = options_parse(uses, ARRAY_COUNT(uses), &parsed->values, parsed->words, count,
					 has_sets, &parsed->request, &parsed->given, &parsed->error);
}

static void parse(struct parsed *parsed, const char *const *words)
{
	parse_sets(parsed, words, false);
}

#define PARSE(parsed, ...) parse(parsed, (const char *const[]){__VA_ARGS__, NULL})

static void end(struct parsed *parsed)
{
	options_release(uses, ARRAY_COUNT(uses), &parsed->values);
}

static void test_forms(void **state)
{
	struct parsed parsed;

	(void)state;
	PARSE(&parsed, "one", "-bd", "0.5", "--format=tsv", "-", "-p1", "-p", "22", "--cgroup-flatten",
	      "/a/*", "--cgroup-flatten=/b", "-g", "thread", "--", "-b");
	assert_int_equal(parsed.operands, 3);
	assert_string_equal(parsed.words[0], "one");
	assert_string_equal(parsed.words[1], "-");
	assert_string_equal(parsed.words[2], "-b");
	assert_true(parsed.values.batch);
	assert_true(parsed.values.interval == 0.5);
	assert_int_equal(parsed.values.format, 1);
	assert_int_equal(parsed.values.pids.count, 2);
	assert_int_equal(parsed.values.pids.items[1], 22);
	assert_int_equal(parsed.values.view.flatten.count, 2);
	assert_string_equal(parsed.values.view.flatten.items[1], "/b");
	assert_int_equal(parsed.values.view.axis, AXIS_THREAD);
	assert_int_equal(parsed.request, OPTION_REQUEST_NONE);
	end(&parsed);
}

/* Of a command that has sets, a `--` between operands is one of them, and options may follow. */
static void test_sets(void **state)
{
	static const char *const parted[] = {"a", "-b", "--", "b", "-d", "2", "--", "-c", NULL};
	static const char *const first[] = {"--", "-a", "--", NULL};
	struct parsed parsed;

	(void)state;
	parse_sets(&parsed, parted, true);
	assert_int_equal(parsed.operands, 4);
	assert_string_equal(parsed.words[1], options_separator);
	assert_string_equal(parsed.words[2], "b");
	assert_string_equal(parsed.words[3], "-c");
	assert_true(parsed.values.batch && parsed.values.interval == 2);
	end(&parsed);
	/* before any operand it ends the options, as elsewhere */
	parse_sets(&parsed, first, true);
	assert_int_equal(parsed.operands, 2);
	assert_string_equal(parsed.words[0], "-a");
	assert_string_equal(parsed.words[1], options_separator);
	end(&parsed);
}

static void test_last_value_counts(void **state)
{
	struct parsed parsed;

	(void)state;
	PARSE(&parsed, "-d1", "-d2", "-o", "--", "-oX=y");
	assert_int_equal(parsed.operands, 0);
	assert_true(parsed.values.interval == 2.0);
	assert_string_equal(parsed.values.output, "X=y");
	end(&parsed);
}

/* A plain number has the unit that it always had. */
static void test_units(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} times[] = {{"10", 10},  {"0.5", 0.5}, {"500ms", 0.5}, {"10s", 10},
		     {"2m", 120}, {"1h", 3600}, {"1m30s", 90},  {"1.5 min", 90}};
	static const struct {
		const char *text;
		uint64_t mib;
	} sizes[] = {{"32", 32}, {"32M", 32}, {"5G", 5120}, {"1.5GiB", 1536}, {"1024K", 1}};
	struct parsed parsed;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(times); i++) {
		PARSE(&parsed, "-d", times[i].text);
		assert_int_equal(parsed.operands, 0);
		assert_true(fabs(parsed.values.interval - times[i].seconds) < 1e-9);
		end(&parsed);
	}
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		PARSE(&parsed, "--size", sizes[i].text);
		assert_int_equal(parsed.operands, 0);
		assert_int_equal(parsed.values.size, sizes[i].mib);
		end(&parsed);
	}
	PARSE(&parsed, "-p", "1,22", "-p3", "--bytes", "7");
	assert_int_equal(parsed.values.pids.count, 3);
	assert_int_equal(parsed.values.pids.items[1], 22);
	assert_int_equal(parsed.values.pids.items[2], 3);
	assert_int_equal(parsed.values.size, 7);
	end(&parsed);
}

static void test_help(void **state)
{
	struct parsed parsed;

	(void)state;
	PARSE(&parsed, "-bh", "--nonsense");
	assert_true(parsed.request == OPTION_REQUEST_BRIEF && parsed.operands >= 0);
	PARSE(&parsed, "--help");
	assert_int_equal(parsed.request, OPTION_REQUEST_HELP);
	PARSE(&parsed, "--", "--help");
	assert_int_equal(parsed.request, OPTION_REQUEST_NONE);
	assert_int_equal(parsed.operands, 1);
	/* wherever help is understood, so is the version; the first of them counts */
	PARSE(&parsed, "-bV", "--nonsense");
	assert_true(parsed.request == OPTION_REQUEST_VERSION && parsed.operands >= 0);
	PARSE(&parsed, "one", "--version", "-h");
	assert_int_equal(parsed.request, OPTION_REQUEST_VERSION);
	PARSE(&parsed, "-o", "-V");
	assert_int_equal(parsed.request, OPTION_REQUEST_NONE);
}

static void test_contradictions(void **state)
{
	struct parsed parsed;

	(void)state;
	PARSE(&parsed, "-d", "1", "--no-delay");
	assert_int_equal(parsed.operands, -EINVAL);
	assert_string_equal(parsed.error.text,
			    "--no-delay and --interval contradict each other: leave one out");
	PARSE(&parsed, "--no-delay", "-b");
	assert_int_equal(parsed.operands, 0);
}

/* Options about something are refused by any of their names; others are not. */
static void test_refused_when_given(void **state)
{
	struct parsed parsed;

	(void)state;
	PARSE(&parsed, "-b", "--format", "tsv", "--limit", "0", "-p", "1");
	assert_true(options_have(uses, ARRAY_COUNT(uses), &parsed.given, "limit"));
	assert_false(options_have(uses, ARRAY_COUNT(uses), &parsed.given, "interval"));
	assert_int_equal(options_refuse(uses, ARRAY_COUNT(uses), &parsed.given, OPTION_ABOUT_HOST, "is not",
					&parsed.error),
			 -EINVAL);
	assert_string_equal(parsed.error.text, "-p is not");
	assert_int_equal(options_refuse(uses, ARRAY_COUNT(uses), &parsed.given, OPTION_ABOUT_ROWS, "is not",
					&parsed.error),
			 0);
	end(&parsed);
	PARSE(&parsed, "-d1", "--sort-by", "cpu%");
	assert_int_equal(options_refuse(uses, ARRAY_COUNT(uses), &parsed.given, OPTION_ABOUT_HOST, "is not",
					&parsed.error),
			 -EINVAL);
	assert_string_equal(parsed.error.text, "--interval is not");
	assert_int_equal(options_refuse(uses, ARRAY_COUNT(uses), &parsed.given, OPTION_ABOUT_ROWS, "is not",
					&parsed.error),
			 -EINVAL);
	assert_string_equal(parsed.error.text, "--sort-by is not");
	end(&parsed);
}

/* The old name of an option sets it, counts as given by the present name, and is never suggested. */
static void test_old_names(void **state)
{
	struct parsed parsed;

	(void)state;
	parse(&parsed, (const char *[]){"--layout", "tsv", NULL});
	assert_int_equal(parsed.operands, 0);
	assert_int_equal(parsed.values.format, 1);
	assert_true(options_have(uses, ARRAY_COUNT(uses), &parsed.given, "format"));
	end(&parsed);
	parse(&parsed, (const char *[]){"--layou", "tsv", NULL});
	assert_string_equal(parsed.error.text, "unknown option '--layou'");
	end(&parsed);
}

struct refusal {
	const char *words[4];
	const char *sentence;
};

static const struct refusal refusals[] = {
	{{"--formta", "tsv"}, "unknown option '--formta', did you mean '--format'?"},
	{{"--xyzzy-quux"}, "unknown option '--xyzzy-quux'"},
	{{"-x"}, "unknown option '-x'"},
	{{"--batch=1"}, "--batch takes no value"},
	{{"-d"}, "-d needs a value: TIME"},
	{{"--output"}, "--output needs a value: FILE"},
	{{"-d", "0.01"}, "-d takes a time from 0.1 to 3600 s, such as 90s, not '0.01'"},
	{{"-d", "nan"}, "-d takes a time from 0.1 to 3600 s, such as 90s, not 'nan'"},
	{{"--interval=1x"}, "--interval takes a time from 0.1 to 3600 s, such as 90s, not '1x'"},
	{{"--interval=2h"}, "--interval takes a time from 0.1 to 3600 s, such as 90s, not '2h'"},
	{{"--size", "5s"}, "--size takes a size of at least 0 MiB, such as 500M, not '5s'"},
	{{"--size", "1K"}, "--size takes a size of at least 0 MiB, such as 500M, not '1K'"},
	{{"-p", "1,x"}, "-p takes a number from 1 to 2147483647, not '1,x'"},
	{{"-p", "1,"}, "-p takes a number from 1 to 2147483647, not '1,'"},
	{{"-o"}, "-o needs a value: FILE"},
	{{"-i"},
	 "unknown option '-i': idle groups are hidden (--all shows them), and -t io has reads and writes"},
	{{"-p", "0"}, "-p takes a number from 1 to 2147483647, not '0'"},
	{{"-p-4"}, "-p takes a number from 1 to 2147483647, not '-4'"},
	{{"--limit", "-1"}, "--limit takes a number of at least 0, not '-1'"},
	{{"--format", "tvs"}, "unknown value for --format 'tvs', did you mean 'tsv'? valid: text, tsv"},
	{{"-g", "cgruop"},
	 "unknown axis 'cgruop', did you mean 'cgroup'? valid: process, cgroup, container, thread, "
	 "thread-exact, all, pid, user, wait, host"},
	{{"-g", ""},
	 "unknown axis ''; valid: process, cgroup, container, thread, thread-exact, all, pid, user, "
	 "wait, host"},
};

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
		struct parsed parsed;

		parse(&parsed, refusals[i].words);
		assert_int_equal(parsed.operands, -EINVAL);
		assert_string_equal(parsed.error.text, refusals[i].sentence);
		end(&parsed);
	}
}

static void test_commands_are_found(void **state)
{
	struct error error;

	(void)state;
	assert_string_equal(command_find(commands, "help")->name, "help");
	assert_null(command_find(commands, "hel"));
	assert_int_equal(command_unknown(commands, "hlep", &error), -EINVAL);
	assert_non_null(strstr(error.text, "did you mean 'help'?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_last_value_counts),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_refused_when_given),
		cmocka_unit_test(test_old_names),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_commands_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
