/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One tour through the built program at every size that people have, with and without UTF-8: on the live
 * host, in a file and in a comparison. Wherever it leads, the screen must show where it is, say which key
 * leads further, and hold nothing that the terminal cannot show.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "pty_screen.h"

enum subject {
	LIVE = 1 << 0,
	OF_FILE = 1 << 1,
	COMPARISON = 1 << 2,
	ALONE = LIVE | OF_FILE,
	EVERYWHERE = ALONE | COMPARISON
};

struct step {
	const char *keys;
	const char *text; /* that the screen then shows, besides a hint */
	unsigned int subjects;
};

static const char frame[] = "\u2500 "; /* of a page over the list; ASCII has - there */

/* In this order; the hint that is wanted stands in the last line. Each Esc takes a while: curses waits for
 * the rest of a sequence. */
static const struct step steps[] = {
	{"", "PROCESS", OF_FILE},
	{"", "THR", COMPARISON},
	{"", "CPU%v", LIVE},
	{"?", "Columns of this tab", EVERYWHERE},
	{"/keys\r", "keys", EVERYWHERE},
	{"\033", "GROUP  ", COMPARISON},
	{"\033", "PROCESS", ALONE},
	{"i", frame, EVERYWHERE},
	{"\177", "Overview", EVERYWHERE},
	{"s", " Sort by ", EVERYWHERE},
	{"\177", "Overview", EVERYWHERE},
	{"C", "Columns of Overview", EVERYWHERE},
	{"C", "Tab tabs", EVERYWHERE},
	{"e", "Data quality", EVERYWHERE},
	{"\177", "Overview", EVERYWHERE},
	{"m", "thread_count", EVERYWHERE},
	{"\177", "Overview", EVERYWHERE},
	{"/", "filter:", EVERYWHERE},
	{"\003", "Tab tabs", EVERYWHERE},
	{"\033OR", "search:", EVERYWHERE},
	{"\003", "Tab tabs", EVERYWHERE},
	{"2", "UTIME", OF_FILE},
	{"3", "POLICY", ALONE},
	{"5", "WAITED", ALONE},
	{"6", "READ", ALONE},
	{"7", "RSS", ALONE},
	{"9", "CGROUP", ALONE},
	{"0", "POLICY", ALONE},
	{"1", "CPU", ALONE},
	{"g", " Group by ", EVERYWHERE},
	{"\177", "Overview", EVERYWHERE},
	{"gpi\r", "PID PROCESS", ALONE},
	{"\r", " > ", ALONE},
	{"\177", "PID PROCESS", ALONE},
	{"gc\r", "CGROUP", ALONE},
	{"gp\r", "PROCESS", COMPARISON},
	{"\r", " > ", COMPARISON},
	{"~", "! after is the older", COMPARISON},
	{"\177", "PROCESS", COMPARISON},
	{"#", "THR", EVERYWHERE},
};

static const struct {
	int rows, columns;
} sizes[] = {{24, 80}, {36, 120}, {50, 200}, {12, 40}};

static char directory[] = "/tmp/ctop-sizes-XXXXXX";
static char one[PATH_MAX], two[PATH_MAX];

struct expected {
	const char *text;
	bool ascii;
};

/* The step's text is there, the last line says how to go on, and every cell can be shown. */
static bool is_whole(struct pty_screen *pty, const void *context)
{
	static const char *const ways[] = {"q quit", "Esc ", "? help"};
	const struct expected *expected = context;
	const char *hints = pty_row(pty, pty->rows - 1);
	bool led = false;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		led = led || strstr(hints, ways[i]) != NULL;
	return led && pty_find(pty, expected->text, NULL) >= 0 && (!expected->ascii || pty_is_ascii(pty));
}

static void take_tour(struct pty_screen *pty, enum subject subject, bool ascii)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct expected expected = {.text = steps[i].text, .ascii = ascii};
		char what[128];

		if ((steps[i].subjects & (unsigned int)subject) == 0)
			continue;
		if (ascii && strcmp(expected.text, frame) == 0)
			expected.text = "- ";
		snprintf(what, sizeof(what), "step %zu at %dx%d%s", i, pty->columns, pty->rows,
			 ascii ? " in ASCII" : "");
		pty_type(pty, steps[i].keys);
		pty_wait(pty, is_whole, &expected, what);
	}
}

static void visit(enum subject subject, const char *const *arguments)
{
	static const char *const locales[] = {"C.UTF-8", "C"};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t j = 0; j < sizeof(locales) / sizeof(locales[0]); j++) {
			const struct pty_options options = {
				.rows = sizes[i].rows, .columns = sizes[i].columns, .locale = locales[j]};
			struct pty_screen pty;

			pty_start(&pty, &options, arguments);
			if (subject == LIVE) {
				/* after the first round, whatever comes and goes on the host meanwhile */
				pty_wait_text(&pty, "CPU%v");
				pty_wait_no_text(&pty, "reading ");
				pty_show(&pty, " ", "PAUSED");
			}
			take_tour(&pty, subject, j == 1);
			pty_quit(&pty);
		}
	}
}

static void test_live(void **state)
{
	const char *const arguments[] = {CTOP_PROGRAM, "--no-config", "-d", "0.2", NULL};

	(void)state;
	visit(LIVE, arguments);
}

static void test_file(void **state)
{
	const char *const arguments[] = {CTOP_PROGRAM, "--no-config", two, NULL};

	(void)state;
	visit(OF_FILE, arguments);
}

static void test_comparison(void **state)
{
	const char *const arguments[] = {CTOP_PROGRAM, "--no-config", one, two, NULL};

	(void)state;
	visit(COMPARISON, arguments);
}

static int capture(const char *path)
{
	const char *const arguments[] = {CTOP_PROGRAM, "capture", "--no-heap", "-o", path, NULL};

	return pty_run_quietly(arguments) == 0 ? 0 : -1;
}

static int make_captures(void **state)
{
	(void)state;
	if (mkdtemp(directory) == NULL)
		return -1;
	snprintf(one, sizeof(one), "%s/one.ctprof.zst", directory);
	snprintf(two, sizeof(two), "%s/two.ctprof.zst", directory);
	return capture(one) < 0 || capture(two) < 0 ? -1 : 0;
}

static int remove_captures(void **state)
{
	(void)state;
	unlink(one);
	unlink(two);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_comparison),
	};

	pty_need();
	return cmocka_run_group_tests(tests, make_captures, remove_captures);
}
