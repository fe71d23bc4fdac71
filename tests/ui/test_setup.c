/* SPDX-License-Identifier: GPL-2.0-only */
/* The page of columns, in the built program on a file, and what it writes to the configuration file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "tests/cmocka_include.h"

#include "pty_screen.h"

#define SNAPSHOT TEST_DATA "/reference/snapshots/real.b.ctprof.zst"

static char home[] = "/tmp/ctop-setup-XXXXXX";
static char *config, *variable;

static int make_home(void **state)
{
	(void)state;
	if (mkdtemp(home) == NULL)
		return -1;
	config = memory_format("%s/ctop/ctop.conf", home);
	variable = memory_format("XDG_CONFIG_HOME=%s", home);
	return 0;
}

static int remove_home(void **state)
{
	char *directory = memory_format("%s/ctop", home);

	(void)state;
	unlink(config);
	rmdir(directory);
	free(directory);
	free(config);
	free(variable);
	return rmdir(home);
}

static int remove_config(void **state)
{
	(void)state;
	unlink(config);
	return 0;
}

static void write_config(const char *text)
{
	char *directory = memory_format("%s/ctop", home);
	FILE *file;

	mkdir(directory, 0700);
	free(directory);
	file = fopen(config, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void assert_config(const char *expected)
{
	static char text[4096];
	FILE *file = fopen(config, "re");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, expected);
}

static void start(struct pty_screen *pty, int rows, int columns, const char *locale, const char *option)
{
	const char *const arguments[] = {CTOP_PROGRAM, SNAPSHOT, option, NULL};
	const struct pty_options options = {
		.rows = rows, .columns = columns, .locale = locale, .environment = {variable}};

	pty_start(pty, &options, arguments);
}

static void test_page(void **state)
{
	static const struct {
		int rows, columns;
		const char *locale;
	} screens[] = {{24, 80, NULL}, {36, 120, NULL}, {50, 200, NULL}, {12, 40, NULL}, {24, 80, "C"}};
	struct pty_screen pty;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(screens); i++) {
		start(&pty, screens[i].rows, screens[i].columns, screens[i].locale, NULL);
		pty_wait_text(&pty, "PROCESS");
		pty_show(&pty, "C", "Columns of Overview");
		pty_wait_text(&pty, "[x] CPU%v");
		pty_wait_text(&pty, "Enter apply");
		/* what the mark is on is described in full */
		pty_wait_text(&pty, "THR (threads): Threads in the group.");
		/* find: by a title, then by a word of a description */
		pty_show(&pty, "/peakvm", "[ ] PEAKVM");
		pty_type(&pty, "\x15"
			       "zzzz");
		pty_wait_text(&pty, "no column has 'zzzz'");
		pty_type(&pty, "\x15"
			       "MINF\r");
		pty_wait_text(&pty, "[ ] MINF/s");
		pty_hide(&pty, " ", "[ ] MINF/s");
		/* nothing has changed until Enter */
		pty_hide(&pty, "q", "Columns of");
		pty_wait_no_text(&pty, "MINF");
		pty_quit(&pty);
	}
}

/* Takes a column out of the tab, and puts the mark on where it stands then. */
static void leave_out(struct pty_screen *pty, const char *column)
{
	char *keys = memory_format("/%s\r /%s\r", column, column), *line = memory_format("[ ] %s", column);

	pty_show(pty, keys, line);
	free(keys);
	free(line);
}

/* How many columns the tab has by the title of the page. */
static int columns_chosen(struct pty_screen *pty)
{
	const char *digits;
	int column;

	pty_wait_text(pty, " columns, ");
	digits = pty_row(pty, pty_find(pty, " columns, ", &column));
	digits = strstr(digits, " columns, ");
	while (digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	return atoi(digits);
}

static void test_apply(void **state)
{
	struct pty_screen pty;
	int threads, age;

	(void)state;
	start(&pty, 24, 80, NULL, NULL);
	pty_wait_text(&pty, "BLKIO");
	pty_type(&pty, "\x1bOQ"); /* F2 */
	pty_wait_text(&pty, "Columns of Overview");
	leave_out(&pty, "BLKIO%");
	/* to the front of all others */
	pty_type(&pty, "\x1b[H/AGE\r \x1b[H/AGE\r");
	for (int i = 0; i < 64; i++)
		pty_type(&pty, "<");
	pty_wait_text(&pty, "AGE (");
	pty_hide(&pty, "\r", "Columns of");
	pty_wait_no_text(&pty, "BLKIO");
	pty_wait_text(&pty, " PROCESS");
	pty_wait_text(&pty, " AGE ");
	pty_wait_text(&pty, " THR ");
	assert_true(pty_find(&pty, " AGE ", &age) > 0);
	assert_true(pty_find(&pty, " THR ", &threads) > 0);
	assert_true(age < threads);
	/* and nothing was written */
	assert_int_not_equal(access(config, F_OK), 0);
	/* back to what ctop has */
	pty_show(&pty, "C", "Columns of Overview");
	pty_show(&pty, "r\r", "BLKIO");
	/* a tab without columns is refused */
	pty_show(&pty, "C", "Columns of Overview");
	for (int left = columns_chosen(&pty); left > 0; left--)
		pty_type(&pty, "\x1b[H ");
	pty_wait_text(&pty, " 0 columns");
	pty_show(&pty, "\r", "a tab needs at least one column");
	pty_show(&pty, "r", "[x] THR");
	pty_quit(&pty);
}

static void test_write(void **state)
{
	struct pty_screen pty;
	struct stat status;

	(void)state;
	write_config("# my file\ninterval = 5 # seconds\nno-such-key = 1\n\n[tab run]\n# why\ncolumns = THR, "
		     "CPU% # mine\n"
		     "what = this\n\n# the end\n");
	assert_int_equal(chmod(config, 0640), 0);
	start(&pty, 24, 80, NULL, "-trun");
	pty_wait_text(&pty, "CPU");
	assert_int_equal(pty_find(&pty, "SLICE", NULL), -1);
	pty_show(&pty, "C", "Columns of Run");
	pty_show(&pty, "\x1b[F/RUNQ\r ", "3 columns");
	pty_show(&pty, "/RUNQ\rsw", "wrote [tab run] of");
	pty_wait_text(&pty, "RUNQ");
	assert_config("# my file\ninterval = 5 # seconds\nno-such-key = 1\n\n[tab run]\n# why\n"
		      "columns = THR, CPU%, RUNQ% # mine\nwhat = this\nsort = RUNQ%\n\n# the end\n");
	assert_int_equal(stat(config, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	pty_quit(&pty);
	/* what was written is there in the next */
	start(&pty, 24, 80, NULL, "-trun");
	pty_wait_text(&pty, "RUNQv");
	pty_quit(&pty);
}

static void test_new_tab(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 120, NULL, NULL);
	pty_wait_text(&pty, "PROCESS");
	pty_show(&pty, "C", "Columns of Overview");
	pty_show(&pty, "nrun\r", "there is a tab 'run' already");
	pty_show(&pty, "\x15mine\r", "Columns of mine");
	pty_wait_text(&pty, "lasts until ctop ends");
	pty_type(&pty, "\x1b[H/BLKIO\r ");
	pty_show(&pty, "w", "wrote [tab mine] of");
	pty_wait_text(&pty, " mine ");
	pty_wait_no_text(&pty, "BLKIO");
	/* the tab of the table is as it was, and both are a key apart */
	pty_show(&pty, "1", "BLKIO");
	pty_type(&pty, "\x1b[Z"); /* Shift-Tab */
	pty_wait_no_text(&pty, "BLKIO");
	pty_quit(&pty);
	start(&pty, 24, 80, NULL, "-tmin");
	pty_wait_text(&pty, "PROCESS");
	pty_wait_text(&pty, "mine");
	assert_int_equal(pty_find(&pty, "BLKIO", NULL), -1);
	pty_quit(&pty);
}

/* A file that cannot be written says so, and the screen goes on. */
static void test_refused(void **state)
{
	struct pty_screen pty;

	(void)state;
	write_config("interval = 5\n");
	assert_int_equal(chmod(config, 0666), 0);
	start(&pty, 24, 80, NULL, NULL);
	pty_wait_text(&pty, "everybody may write to it");
	pty_show(&pty, "C", "Columns of Overview");
	pty_show(&pty, "\x1b[H w", "is not changed: everybody may");
	assert_config("interval = 5\n");
	pty_quit(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_page, remove_config),
		cmocka_unit_test_teardown(test_apply, remove_config),
		cmocka_unit_test_teardown(test_write, remove_config),
		cmocka_unit_test_teardown(test_new_tab, remove_config),
		cmocka_unit_test_teardown(test_refused, remove_config),
	};

	pty_need();
	return cmocka_run_group_tests(tests, make_home, remove_home);
}
