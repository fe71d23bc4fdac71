/* SPDX-License-Identifier: GPL-2.0-only */
/* What a person sees and does: cursor, sorting, filter, opening rows, pages, keys of the host. */
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "ui/terminal/keys.h"
#include "ui/terminal/terminal.h"

#include "fake_program.h"

enum {
	CURSES_KEY_MAX = 0777 /* KEY_MAX of curses.h */
};

static const char up[] = "\033OA", down[] = "\033OB", right[] = "\033OC", left[] = "\033OD";

/* Two texts, the first in a row above the second. */
static bool is_above(struct pty_screen *pty, const void *context)
{
	const char *const *texts = context;
	int first = pty_find(pty, texts[0], NULL), second = pty_find(pty, texts[1], NULL);

	return first >= 0 && first < second;
}

static void wait_above(struct pty_screen *pty, const char *first, const char *second)
{
	const char *const texts[] = {first, second};

	pty_wait(pty, is_above, texts, second);
}

static void test_first_paint(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	pty_wait_text(&pty, "The first round is being read.");
	fake_round(&pty, "alpha 1,beta 2");
	pty_wait_text(&pty, "alpha");
	pty_wait_text(&pty, "4 threads in 2 groups by process {N}");
	pty_wait_text(&pty, "fakehost");
	pty_wait_text(&pty, "up 12d");
	pty_wait_text(&pty, "load 3.2 2.9 2.7");
	pty_quit(&pty);
}

static void test_header(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_wait_text(&pty, "cpu 38% of 8  runnable 5  blocked 4  psi cpu 12 mem 0 io 0");
	pty_wait_text(&pty, "no BLKIO% MWAIT% (e)  read in 6.0ms");
	pty_wait_text(&pty, "every 2s  rate");
	pty_hide(&pty, "#", "fakehost");
	pty_wait_text(&pty, "? help");
	pty_hide(&pty, "#", "? help");
	pty_wait_no_text(&pty, "fakehost");
	/* a prompt says how to leave it */
	pty_show(&pty, "/", "Esc cancel");
	pty_hide(&pty, "\x1b", "Esc cancel");
	pty_show(&pty, "#", "fakehost");
	pty_wait_text(&pty, "? help");
	pty_quit(&pty);
}

/* Threads that are stuck stand out on every tab, and count as blocked whatever they wait for. */
static void test_header_of_stuck_threads(void **state)
{
	static const char rows[] = "alpha 1,beta 2";
	struct pty_screen pty;
	int row, column;

	(void)state;
	fake_start(&pty, NULL, NULL);
	fake_round(&pty, rows);
	pty_wait_text(&pty, "blocked 4");
	assert_int_equal(pty_find(&pty, "stuck", NULL), -1);
	pty_command(&pty, "stuck 7");
	fake_round(&pty, rows);
	for (const char *tab = "123456"; *tab != '\0'; tab++) {
		pty_show(&pty, (const char[]){*tab, '\0'}, "cpu 38% of 8  stuck 7  run 5  blocked 7  psi");
		row = pty_find(&pty, "stuck 7", &column);
		assert_true(pty_is_colored(&pty, row, column));
		assert_true(pty_is_bold(&pty, row, column));
	}
	pty_quit(&pty);
}

/* Waits for an io_uring count as blocked in the kernel; they are no more than those that are not in D. */
static void test_header_of_io_uring(void **state)
{
	static const struct {
		const char *command, *shown;
	} cases[] = {{"stuck 0 3", "blocked 4 (3 io_uring)  psi"},
		     {"stuck 2 3", "blocked 4 (2 io_uring)  psi"},
		     {"stuck 7 3", "blocked 7  psi"}};
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pty_command(&pty, cases[i].command);
		fake_round(&pty, "alpha 1,beta 2");
		pty_wait_text(&pty, cases[i].shown);
	}
	pty_quit(&pty);
}

/* How many threads start and end: where the screen is narrow other words become short first, and at last it
 * leaves. */
static void test_header_of_turnover(void **state)
{
	static const char rows[] = "alpha 1,beta 2";
	static const struct pty_options wide = {.rows = 24, .columns = 120},
					narrow = {.rows = 24, .columns = 60};
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, &wide, NULL);
	pty_command(&pty, "forks 860");
	fake_round(&pty, rows);
	fake_round(&pty, rows);
	pty_wait_text(
		&pty,
		"runnable 5  blocked 4  psi cpu 12 mem 0 io 0  mem 39% of 16G  forks 430/s  ended 430/s");
	pty_quit(&pty);
	fake_start(&pty, NULL, NULL);
	pty_command(&pty, "forks 7");
	fake_round(&pty, rows);
	fake_round(&pty, rows);
	pty_wait_text(&pty, "cpu 38% of 8  run 5  blocked 4  psi cpu 12 mem 0 io 0  mem 39%  forks 3.5/s");
	pty_quit(&pty);
	fake_start(&pty, &narrow, NULL);
	pty_command(&pty, "forks 860");
	fake_round(&pty, rows);
	fake_round(&pty, rows);
	pty_wait_text(&pty, "cpu 38% of 8  run 5  blocked 4  psi cpu 12 mem 0 io 0");
	assert_int_equal(pty_find(&pty, "forks", NULL), -1);
	pty_quit(&pty);
}

/* How busy each CPU is, one cell each up to 64 of them, and the busiest disk and network. */
static void test_header_of_devices(void **state)
{
	static const char rows[] = "alpha 1,beta 2";
	static const struct pty_options narrow = {.rows = 24, .columns = 60},
					low = {.rows = 14, .columns = 80};
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	pty_command(&pty, "devices 8");
	fake_round(&pty, rows);
	pty_show(&pty, "%", "CPUs, disks and networks: with the next round");
	fake_round(&pty, rows);
	pty_wait_text(&pty, "cpus █-▅▅▅▅▅▅  cpu0 100%");
	pty_wait_text(&pty, "disk nvme0n1 97% r 120M/s w 3.0M/s  net enp0s31f6 in 12.0M/s out 1.0M/s");
	pty_hide(&pty, "%", "nvme0n1");
	pty_command(&pty, "devices 256");
	fake_round(&pty, rows);
	fake_round(&pty, rows);
	pty_show(&pty, "%", "  4 a cell");
	pty_wait_text(&pty, "cpus ▆▅▅▅");
	pty_quit(&pty);
	fake_start(&pty, &narrow, NULL);
	pty_command(&pty, "devices 8");
	fake_round(&pty, rows);
	fake_round(&pty, rows);
	pty_show(&pty, "%", "net enp0s31f6 in 12.0M/s out 1.0M/s");
	wait_above(&pty, "disk nvme0n1 97% r 120M/s w 3.0M/s", "net enp0s31f6");
	pty_quit(&pty);
	fake_start(&pty, &low, NULL);
	pty_command(&pty, "devices 8");
	fake_round(&pty, rows);
	fake_round(&pty, rows);
	pty_show(&pty, "%", "CPUs and disks need a taller screen");
	pty_quit(&pty);
}

/* What is missing first, not what comes with it, and the cost beside it however much is missing. */
static void test_header_names_the_cause(void **state)
{
	static const char rows[] = "alpha 1,beta 2";
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	/* a tab with all of its columns */
	pty_type(&pty, "3");
	pty_command(&pty, "off taskstats");
	fake_round(&pty, rows);
	pty_wait_text(&pty, "{N}  taskstats off (e: why)  read in 6.0ms");
	pty_command(&pty, "off xacct");
	pty_command(&pty, "off io");
	pty_command(&pty, "off others_memory");
	pty_command(&pty, "off cgroup2");
	fake_round(&pty, rows);
	pty_wait_text(&pty, "{N}  4 sources missing (e: why)  read in 6.0ms");
	pty_quit(&pty);
}

/* Columns that nobody can fill leave, and the header says so; what the user chose stays. */
static void test_columns_that_cannot_be_read(void **state)
{
	static const struct pty_options wide = {.rows = 24, .columns = 120};
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, &wide);
	pty_wait_text(&pty, "no BLKIO% MWAIT%: delays off (e: why)");
	pty_wait_text(&pty, "RUNQ%  STUCK");
	/* what left can still be found, and says why it left */
	pty_show(&pty, "e", "BLKIO% MWAIT%: delay accounting: switched off; sysctl kernel.task_delayacct=1");
	pty_show(&pty, "\033", "RUNQ%  STUCK");
	pty_show(&pty, "W", "MWAIT% cannot be read: delay accounting: switched off");
	/* the page of columns has all of the tab, and what is chosen there stays */
	pty_show(&pty, "C", "apply");
	pty_show(&pty, "/BLKIO\r>\r", "RUNQ%  MWAIT%  BLKIO%  STUCK");
	pty_wait_text(&pty, "delays off (e: why)");
	assert_int_equal(pty_find(&pty, "no BLKIO%", NULL), -1);
	pty_quit(&pty);
}

/* A column leaves as long as its source is missing, not longer, and not before anything was read. */
static void test_columns_come_back(void **state)
{
	static const char rows[] = "alpha 1,beta 2";
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	pty_wait_text(&pty, "BLKIO%");
	fake_round(&pty, rows);
	pty_wait_no_text(&pty, "BLKIO%  ");
	pty_command(&pty, "on delays");
	fake_round(&pty, rows);
	pty_wait_text(&pty, "RUNQ%  BLKIO%  MWAIT%");
	assert_int_equal(pty_find(&pty, "no BLKIO%", NULL), -1);
	pty_command(&pty, "off delays");
	fake_round(&pty, rows);
	pty_wait_no_text(&pty, "BLKIO%  ");
	pty_quit(&pty);
}

/* A tab of which nothing can be read has its rows, and says why they have no numbers. */
static void test_tab_without_numbers(void **state)
{
	static const char rows[] = "alpha 1,beta 2";
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	pty_command(&pty, "off schedstats");
	fake_round(&pty, rows);
	pty_show(&pty, "4", "no numbers here: scheduler statistics: not in this kernel");
	pty_wait_text(&pty, "alpha");
	pty_wait_no_text(&pty, "WAKE/s");
	/* with one it says nothing */
	pty_show(&pty, "5", "WHERE");
	assert_int_equal(pty_find(&pty, "no numbers here", NULL), -1);
	pty_quit(&pty);
}

/* Only rows of cgroups have a cgroup's numbers: said as long as there are others. */
static void test_cgroup_tab_hint(void **state)
{
	static const char hint[] = "these columns need cgroups: press g";
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	/* the tab shows rows of cgroups, and the others what there was before */
	pty_show(&pty, "9", "by cgroup {N}");
	assert_int_equal(pty_find(&pty, hint, NULL), -1);
	pty_show(&pty, "1", "by process {N}");
	/* what was chosen there stays */
	pty_show(&pty, "9", "by cgroup {N}");
	pty_show(&pty, "gco\r", hint);
	pty_hide(&pty, "1", hint);
	assert_true(pty_find(&pty, "by cgroup {N}", NULL) < 0);
	assert_true(pty_find(&pty, "by process {N}", NULL) < 0);
	pty_quit(&pty);
}

static void test_cursor_stays_on_its_row(void **state)
{
	struct pty_screen pty;
	int before, after;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_wait_selected(&pty, "postgres-{N}");
	pty_type(&pty, down);
	pty_type(&pty, down);
	pty_wait_selected(&pty, "nginx");
	before = pty_selected_row(&pty);
	fake_round(&pty, "postgres-{N} 1,worker-{N} 2,nginx 300,batch-{N} 4");
	wait_above(&pty, "300.0", "batch-{N}");
	wait_above(&pty, "batch-{N}", "worker-{N}");
	pty_wait_selected(&pty, "nginx");
	after = pty_selected_row(&pty);
	assert_int_equal(after, before - 2);
	/* its row goes away: the cursor stays where it is */
	fake_round(&pty, "postgres-{N} 1,worker-{N} 2,batch-{N} 4");
	pty_wait_no_text(&pty, "nginx");
	pty_wait_selected(&pty, "batch-{N}");
	assert_int_equal(pty_selected_row(&pty), after);
	pty_quit(&pty);
}

static void test_untouched_cursor_stays_in_sight(void **state)
{
	const struct pty_options options = {.rows = 10, .columns = 80};
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, &options, NULL);
	fake_round(&pty, "a1 9,a2 8,a3 7,a4 6,a5 5,a6 4,a7 3,a8 2,a9 1");
	pty_wait_selected(&pty, "a1");
	fake_round(&pty, "a1 0,a2 8,a3 7,a4 6,a5 5,a6 4,a7 3,a8 2,a9 1");
	pty_wait_selected(&pty, "a2");
	/* one that was moved stays in its line when its row goes down out of sight: what is larger is shown
	 */
	pty_type(&pty, down);
	pty_wait_selected(&pty, "a3");
	fake_round(&pty, "a1 9,a2 8,a3 0,a4 6,a5 5,a6 4,a7 3,a8 2,a9 1");
	pty_wait_no_text(&pty, "a3 ");
	pty_wait_text(&pty, "a1 ");
	pty_wait_selected(&pty, "a2");
	pty_quit(&pty);
}

static void test_sorting(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_wait_text(&pty, "CPU%v");
	pty_show(&pty, "r", "CPU%^");
	wait_above(&pty, "solo", "postgres-{N}");
	pty_show(&pty, "N", "PROCESS^");
	wait_above(&pty, "batch-{N}", "kworker");
	wait_above(&pty, "kworker", " worker-{N}");
	pty_show(&pty, "P", "CPU%v");
	pty_show(&pty, "<", "THRv");
	pty_show(&pty, "<", "PROCESS^");
	pty_show(&pty, ">>>", "RUNQ%v");
	pty_quit(&pty);
}

/* A line of the menu. */
static bool menu_selects(struct pty_screen *pty, const void *context)
{
	int column, row = pty_find(pty, context, &column);

	return row >= 0 && column == 2 && pty_is_reverse(pty, row, column);
}

static void wait_menu(struct pty_screen *pty, const char *title)
{
	pty_wait(pty, menu_selects, title, title);
}

static void test_sort_menu(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_show(&pty, "s", "Sort by");
	pty_wait_text(&pty, "Time on a CPU");
	pty_type(&pty, up);
	pty_show(&pty, "\r", "THRv");
	pty_wait_no_text(&pty, "Sort by");
	/* what is said of a column is there to its end */
	pty_show(&pty, "s", "Sort by (type to narrow)");
	pty_type(&pty, down);
	pty_show(&pty, down, "100 % per thread.");
	/* letters narrow the list, also those that are keys elsewhere */
	pty_show(&pty, "k", "Sort by: k");
	wait_menu(&pty, "BLKIO%    Time");
	pty_wait_no_text(&pty, "CPU%");
	/* what no title has is never acted on, however much of it one has */
	pty_show(&pty, "z", "no column has 'kz' in its title, name or description");
	pty_wait_text(&pty, "Sort by: kz");
	pty_type(&pty, "\r");
	pty_wait_text(&pty, "no column has 'kz'");
	pty_wait_text(&pty, "Sort by: kz");
	pty_show(&pty, "\177\177", "Sort by (type to narrow)");
	/* descriptions are chosen by hand alone */
	pty_show(&pty, "processes", "no column is called 'processes'");
	pty_wait_no_text(&pty, "CPU%");
	pty_type(&pty, "\r");
	pty_wait_text(&pty, "Sort by: processes");
	pty_type(&pty, down);
	wait_menu(&pty, "RSS");
	for (size_t i = 0; i < strlen("processes"); i++)
		pty_type(&pty, "\177");
	pty_show(&pty, "wri", "Sort by: wri");
	wait_menu(&pty, "WRITE/s   Bytes");
	pty_show(&pty, "\r", "WRITE/sv");
	pty_wait_no_text(&pty, "Sort by");
	/* what cannot be read says so */
	pty_show(&pty, "sblk", "here: delay accounting: switched off; sysctl kernel.task_delayacct=1");
	pty_hide(&pty, "\033", "Sort by");
	pty_quit(&pty);
}

/* Keys, tabs, groupings and columns by their names or words of their descriptions; Enter does what is marked.
 */
static void test_palette(void **state)
{
	static const char *const waits[] = {"lock", "futex", "wchan", "blocked", "socket", "waiting"};
	struct pty_screen pty;
	int row;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_show(&pty, ":", "Find (type to narrow)");
	pty_hide(&pty, "\033", "Find");
	pty_show(&pty, ":kernel\r", "kernel threads hidden");
	pty_hide(&pty, ":threads kernel\r", "kernel threads hidden");
	pty_show(&pty, ":user\r", "by user");
	pty_show(&pty, ":memory\r", "RSSv");
	/* a column of another tab leads there */
	pty_show(&pty, ":wri\r", "WRITE/sv");
	pty_show(&pty, ":pss\r", "PSSv");
	/* a metric has one line, that of its column */
	pty_show(&pty, ":minor", "sort by: Page faults served without disk.");
	row = pty_find(&pty, "MINF/s ", NULL);
	assert_true(row >= 0);
	assert_null(strstr(pty_row(&pty, row + 1), "MINF/s"));
	pty_hide(&pty, "\033\033", "Find");
	/* what Enter does is what the key does */
	pty_show(&pty, ":data quality\r", "Data quality");
	pty_hide(&pty, "\033", "Data quality");
	pty_show(&pty, ":sort\r", "Sort by (type to narrow)");
	pty_hide(&pty, "\033", "Sort by");
	/* words for waits lead to what threads wait for */
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		pty_show(&pty, ":", "Find (type to narrow)");
		pty_show(&pty, waits[i],
			 strcmp(waits[i], "wchan") == 0  ? "sort by: What the threads are"
			 : strcmp(waits[i], "lock") == 0 ? "sort by: Time in class kernel lock"
							 : "group by: what the thread is");
		pty_hide(&pty, "\033", "Find");
	}
	/* and nothing where nothing is found */
	pty_show(&pty, ":qqq\r", "no key, tab, grouping or column has 'qqq'");
	pty_wait_text(&pty, "Find: qqq");
	pty_hide(&pty, "\033", "Find");
	pty_quit(&pty);
}

static void test_filter(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_show(&pty, "/", "filter:");
	pty_wait_text(&pty, "Esc cancel");
	pty_wait_text(&pty, "text, /regex/");
	assert_true(pty.cursor_visible);
	pty_hide(&pty, "cpu% > 100\r", "nginx");
	pty_wait_text(&pty, "worker-{N}");
	pty_wait_text(&pty, "filter: cpu% > 100");
	pty_wait_text(&pty, "4 threads in 2 groups");
	/* an empty one shows all again: Ctrl-U clears the line */
	pty_show(&pty, "/\025\r", "nginx");
	/* Esc leaves it as it was */
	pty_show(&pty, "/nothing", "filter: nothing");
	pty_hide(&pty, "\033", "filter: nothing");
	assert_true(pty_find(&pty, "nginx", NULL) >= 0);
	/* a column that is none: what is said of it stands on more rows than one */
	pty_show(&pty, "/cpuu > 5\r", "did you mean cpu?");
	pty_wait_text(&pty, "in quotes a text is searched for");
	pty_hide(&pty, "\033", "in quotes a text");
	/* an invalid one says why and stays open */
	pty_show(&pty, "/cpu% > foo\r", "foo");
	assert_true(pty.cursor_visible);
	pty_hide(&pty, "\033", "foo");
	pty_quit(&pty);
}

static void test_prompt_editing(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	/* "ngix": Left, insert n; Home, delete; a wide character in and out */
	pty_type(&pty, "/ngix");
	pty_type(&pty, left);
	pty_show(&pty, "n", "filter: nginx");
	pty_show(&pty, "\033OHx\033[3~n", "filter: xnginx");
	pty_show(&pty, "\033OH\033[3~\033OF界", "filter: nginx界");
	pty_hide(&pty, "\177\r", "postgres");
	pty_wait_text(&pty, "2 threads in 1 group ");
	pty_quit(&pty);
}

static void test_open_and_back(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, down);
	pty_wait_selected(&pty, "worker-{N}");
	pty_show(&pty, "\r", "process worker-{N} > pid process-1 > thread");
	pty_wait_text(&pty, "inner-1");
	pty_show(&pty, "\r", "process worker-{N} > pid process-1 > thread inner-2 > threads");
	pty_wait_text(&pty, "TID");
	pty_show(&pty, "\r", "run_time_ns");
	pty_wait_text(&pty, "thread-2  tid 102 of 100");
	pty_hide(&pty, "\033", "run_time_ns");
	pty_hide(&pty, "\177", "TID");
	pty_wait_selected(&pty, "inner-2");
	/* Left on the name goes back as well, to the row that was opened */
	pty_show(&pty, left, "postgres-{N}");
	pty_wait_selected(&pty, "worker-{N}");
	/* nothing at the top */
	pty_type(&pty, "\033");
	pty_wait_selected(&pty, "worker-{N}");
	pty_quit(&pty);
}

/* A single group on the next axis is skipped, and so it is on the way back. */
static void test_single_group_is_skipped(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, "\033OF");
	pty_wait_selected(&pty, "solo");
	pty_show(&pty, "\r", "process solo > pid process-1 > thread solo-inner-1 > threads");
	pty_type(&pty, "\033");
	pty_wait_selected(&pty, "solo");
	pty_wait_text(&pty, "postgres-{N}");
	pty_quit(&pty);
}

/* Rows change while a filter is typed; Esc brings back what was there, and where the cursor was. */
static void test_filter_while_typed(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_show(&pty, "/solo\r", "filter: solo");
	pty_show(&pty, "/\x15", "nginx"); /* nothing typed: all rows */
	pty_hide(&pty, "ngi", "postgres");
	pty_type(&pty, "nx and cpu >"); /* none yet: the rows of the last one that was */
	pty_wait_text(&pty, "filter: nginx and cpu >");
	pty_wait_no_text(&pty, "postgres");
	pty_show(&pty, "\r", "needs a number after it");
	pty_show(&pty, "\x03", "filter: solo");
	pty_wait_no_text(&pty, "nginx");
	pty_show(&pty, "/\x15\r", "postgres");
	pty_type(&pty, down);
	pty_wait_selected(&pty, "worker-{N}");
	pty_hide(&pty, "/solo", "postgres");
	pty_show(&pty, "\x03", "postgres");
	pty_wait_selected(&pty, "worker-{N}");
	pty_quit(&pty);
}

/*
 * Where rows take long to make, they change four times as long after a key, unless another one comes, and at
 * the latest after 0.4 s.
 */
static void test_filter_waits_for_the_next_key(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_command(&pty, "slow 50");
	/* how long it takes is known from the first one on */
	pty_show(&pty, "/n", "filter: n");
	pty_wait_no_text(&pty, "kworker");
	pty_show(&pty, "g", "filter: ng");
	pty_wait_text(&pty, "worker-{N}");
	pty_command(&pty, "clock 199");
	pty_wait_text(&pty, "worker-{N}");
	/* the next key in time: from there on again */
	pty_show(&pty, "i", "filter: ngi");
	pty_command(&pty, "clock 199");
	pty_wait_text(&pty, "worker-{N}");
	pty_command(&pty, "slow 5000");
	pty_command(&pty, "clock 1");
	pty_wait_no_text(&pty, "worker-{N}");
	pty_wait_text(&pty, "nginx");
	pty_show(&pty, "\177\177\177", "text, /regex/");
	pty_command(&pty, "clock 399");
	pty_wait_no_text(&pty, "kworker");
	pty_command(&pty, "clock 1");
	pty_wait_text(&pty, "kworker");
	/* Enter waits for nothing */
	pty_show(&pty, "solo", "kworker");
	pty_hide(&pty, "\r", "kworker");
	pty_wait_text(&pty, "2 threads in 1 group ");
	pty_quit(&pty);
}

/* The past says how long ago it was, as long as it is on the screen. */
static void test_age_of_the_past(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, "--past");
	pty_wait_text(&pty, " (0 s ago)");
	pty_wait_text(&pty, "past-1700000000");
	/* a wake-up without an event draws no frame, a key does */
	pty_command(&pty, "clock 59000");
	pty_sync(&pty);
	assert_int_equal(pty_find(&pty, " (59 s ago)", NULL), -1);
	pty_type(&pty, "\033[A");
	pty_wait_text(&pty, " (59 s ago)");
	pty_command(&pty, "clock 7201000");
	pty_type(&pty, "\033[A");
	pty_wait_text(&pty, " (2 h 1 min ago)");
	pty_quit(&pty);
}

/* Nothing was asked for. */
static void expect_no_request(struct pty_screen *pty)
{
	pty_sync(pty);
	assert_int_equal(pty->pending_length, 0);
}

/* A moment that comes after its user went back to now is not shown. */
static void test_left_before_it_came(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, "T");
	pty_wait_answer(&pty, "look 0 -1");
	pty_type(&pty, "\177");
	pty_sync(&pty);
	pty_command(&pty, "moment 1");
	pty_sync(&pty);
	assert_int_equal(pty_find(&pty, " ago)", NULL), -1);
	assert_true(pty_find(&pty, "nginx", NULL) > 0);
	pty_type(&pty, "T");
	pty_wait_answer(&pty, "look 0 -1");
	pty_command(&pty, "moment 2");
	pty_wait_text(&pty, " ago)");
	pty_wait_text(&pty, "past-1700000004");
	pty_hide(&pty, "\177", " ago)");
	pty_wait_text(&pty, "nginx");
	pty_quit(&pty);
}

/* A round is asked for at once, then one a second, none while one is awaited, and none behind the newest. */
static void test_playing(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, "--past");
	pty_wait_text(&pty, "past-1700000000");
	pty_command(&pty, "clock 10000");
	expect_no_request(&pty);
	pty_type(&pty, " ");
	pty_wait_answer(&pty, "look 0 1");
	pty_wait_text(&pty, "ago) playing, Space stops");
	pty_wait_text(&pty, " Space stop  Tab tabs");
	pty_command(&pty, "clock 10000");
	expect_no_request(&pty);
	/* late: at once */
	pty_command(&pty, "moment 1");
	pty_wait_answer(&pty, "look 0 1");
	pty_wait_text(&pty, "past-1700000002");
	pty_command(&pty, "moment 2");
	pty_wait_text(&pty, "past-1700000004");
	expect_no_request(&pty);
	pty_command(&pty, "clock 999");
	expect_no_request(&pty);
	pty_command(&pty, "clock 1");
	pty_wait_answer(&pty, "look 0 1");
	/* twice as fast */
	pty_command(&pty, "moment 3");
	pty_show(&pty, "-", "one round every 500 ms");
	pty_command(&pty, "clock 1000");
	pty_wait_answer(&pty, "look 0 1");
	pty_command(&pty, "moment 4");
	pty_wait_text(&pty, "past-1700000008");
	pty_command(&pty, "clock 499");
	expect_no_request(&pty);
	pty_command(&pty, "clock 1");
	pty_wait_answer(&pty, "look 0 1");
	pty_command(&pty, "moment 5 newest");
	pty_wait_text(&pty, "past-1700000010");
	pty_wait_no_text(&pty, "playing");
	pty_command(&pty, "clock 10000");
	expect_no_request(&pty);
	pty_quit(&pty);
}

/* What was typed before comes back, for filters and searches apart. */
static void test_prompt_history(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_show(&pty, "/solo\r", "filter: solo");
	pty_show(&pty, "/\x15nginx\r", "filter: nginx");
	pty_type(&pty, "/\x15");
	pty_show(&pty, "work", "filter: work");
	pty_show(&pty, "\x10", "filter: nginx");
	pty_show(&pty, up, "filter: solo");
	pty_type(&pty, up); /* there is nothing before it */
	pty_show(&pty, down, "filter: nginx");
	pty_show(&pty, down, "filter: work");
	pty_type(&pty, up);
	pty_show(&pty, up, "filter: solo");
	pty_hide(&pty, "\r", "nginx");
	pty_show(&pty, "\033OR", "search:");
	pty_type(&pty, up);
	pty_show(&pty, "so\r", "search: so (n N)");
	pty_type(&pty, "\033OR");
	pty_show(&pty, up, "search: so");
	pty_type(&pty, "\x03");
	/* the one that is there is not offered again */
	pty_type(&pty, "/");
	pty_show(&pty, up, "filter: nginx");
	pty_type(&pty, "\x03");
	pty_quit(&pty);
}

/* A user that is chosen becomes a condition of the filter, in the place of another one. */
static void test_users(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_show(&pty, "u", "all users");
	pty_wait_text(&pty, "1,235 threads");
	pty_wait_text(&pty, "4001");
	pty_wait_text(&pty, " 1 thread ");
	pty_hide(&pty, "q", "all users");
	pty_show(&pty, "/ngi\r", "filter: ngi");
	pty_show(&pty, "uj\r", "filter: ngi and user = 4001");
	pty_show(&pty, "uG\r", "filter: ngi and user = 4002");
	pty_hide(&pty, "u\r", "user = 4002");
	pty_wait_text(&pty, "filter: ngi");
	pty_hide(&pty, "/\x15\r", "filter: ngi");
	pty_show(&pty, "uG\r", "filter: user = 4002");
	pty_hide(&pty, "u\r", "filter:");
	pty_quit(&pty);
}

/* The filter belongs to the level where it was typed. */
static void test_filter_per_level(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_hide(&pty, "/worker-\r", "nginx");
	pty_show(&pty, "\r", "inner-1");
	pty_show(&pty, "\033", "filter: worker-");
	pty_wait_no_text(&pty, "nginx");
	pty_quit(&pty);
}

static void test_axis_tab_mode(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	/* processes, containers and users have no patterns */
	pty_show(&pty, "gpi\r", "by pid");
	pty_wait_no_text(&pty, "by pid {N}");
	pty_show(&pty, "gc\r", "by cgroup {N}");
	pty_wait_text(&pty, "CGROUP");
	pty_show(&pty, "gco\r", "by container");
	pty_wait_no_text(&pty, "by container {N}");
	pty_show(&pty, "gt\r", "by thread {N}");
	pty_hide(&pty, "x", "{N}  read");
	pty_show(&pty, "xgu\r", "by user");
	pty_show(&pty, "ge\r", "TID");
	/* the present one is marked, and Enter keeps it */
	pty_show(&pty, "g", "Group by (type to narrow)");
	wait_menu(&pty, "every thread");
	pty_type(&pty, "\r");
	pty_wait_no_text(&pty, "Group by");
	pty_wait_text(&pty, "TID");
	pty_show(&pty, "gz", "no grouping has 'z' in its title, name or description");
	pty_hide(&pty, "\033", "Group by");
	pty_show(&pty, "gp\r", "by process {N}");
	pty_show(&pty, "\t", "USER%");
	pty_show(&pty, "\033[Z", "RUNQ%");
	pty_show(&pty, "6", "RCHAR/s");
	pty_show(&pty, "1d", "interval");
	pty_wait_text(&pty, "CPUv");
	pty_show(&pty, "d", "since base");
	pty_show(&pty, "d", "total");
	pty_show(&pty, "d", "rate");
	pty_show(&pty, "K", "kernel threads hidden");
	pty_quit(&pty);
}

static void test_explain(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, right);
	pty_show(&pty, "i", "THR of postgres-{N}");
	pty_wait_text(&pty, "Explanation of column 0.");
	pty_hide(&pty, "i", "Explanation");
	/* on the name it explains what the rows are sorted by */
	pty_type(&pty, left);
	pty_show(&pty, "i", "CPU% of postgres-{N}");
	pty_show(&pty, "\033m", "nr_wakeups");
	/* what is not available is one line, until it is asked for; then it says why, to the end */
	pty_wait_text(&pty, "1 not available (a: show)");
	assert_int_equal(pty_find(&pty, "iowait_count", NULL), -1);
	pty_show(&pty, "a", "iowait_count");
	pty_wait_no_text(&pty, "not available");
	pty_show(&pty, "G", " schedstats: not in this kernel, so there is nothing to read");
	pty_show(&pty, "a", "1 not available (a: show)");
	/* Enter opens what is under the cursor: the folded ones, or what a metric is */
	pty_type(&pty, "\033[F");
	pty_hide(&pty, "\r", "not available (a: show)");
	pty_type(&pty, "\033[H");
	pty_show(&pty, "\r", "Source: ");
	pty_hide(&pty, "\r", "Source: ");
	pty_show(&pty, "a", "1 not available (a: show)");
	pty_type(&pty, "\033[H");
	pty_show(&pty, "i", "Time spent executing on a CPU.");
	pty_quit(&pty);
}

static void test_evidence(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, NULL);
	pty_command(&pty, "stuck 1284");
	fake_round(&pty, "alpha 1");
	pty_wait_text(&pty, "alpha");
	pty_show(&pty, "e", "sysctl kernel.task_delayacct=1");
	pty_wait_text(&pty, "SOURCE         READ  MISSED");
	pty_wait_text(&pty, "1,284       0");
	pty_hide(&pty, "e", "MISSED");
	pty_quit(&pty);
}

/* The allocator probe is switched off and on, and says so; its tab and its order have keys. */
static void test_heap_keys(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, "J");
	pty_wait_answer(&pty, "heap 0");
	pty_wait_text(&pty, "probe off (J)");
	pty_type(&pty, "J");
	pty_wait_answer(&pty, "heap 1");
	pty_wait_text(&pty, "allocator probe on");
	pty_wait_no_text(&pty, "probe off (J)");
	pty_show(&pty, "8", "SEEN");
	pty_wait_text(&pty, "ALLOC/sv");
	pty_hide(&pty, "1", "SEEN");
	pty_show(&pty, "A", "ALLOC/sv");
	pty_quit(&pty);
}

/* What is switched on is shown, and where it cannot be measured the header does not claim that it is. */
static void test_latency_key(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, "l");
	pty_wait_answer(&pty, "latency 1");
	pty_wait_text(&pty, "WAITS/s");
	pty_wait_text(&pty, "{N}  latency on (l stops)  ");
	pty_command(&pty, "measured 1000");
	fake_round(&pty, "alpha 1");
	pty_wait_text(&pty, "2% of a CPU");
	/* what it cost is not known */
	pty_command(&pty, "measured 0");
	fake_round(&pty, "alpha 1");
	pty_wait_no_text(&pty, "of a CPU");
	pty_wait_text(&pty, "{N}  latency on (l stops)  ");
	pty_command(&pty, "off latency");
	fake_round(&pty, "alpha 1");
	pty_wait_text(&pty, "{N}  no latency (e: why)  ");
	pty_type(&pty, "l");
	pty_wait_answer(&pty, "latency 0");
	pty_wait_text(&pty, "latency is off (l starts)");
	pty_hide(&pty, "1", "latency is off");
	pty_quit(&pty);
}

static void test_host_keys(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, "S");
	pty_wait_answer(&pty, "save ");
	pty_wait_text(&pty, "saving…");
	pty_command(&pty, "saved /tmp/ctop-1.ctprof.zst");
	pty_wait_text(&pty, "saved /tmp/ctop-1.ctprof.zst");
	pty_type(&pty, " ");
	pty_wait_answer(&pty, "paused 1");
	pty_wait_text(&pty, "PAUSED");
	/* a round under way does not change what is shown */
	fake_round(&pty, "other 1");
	pty_type(&pty, "S");
	pty_wait_answer(&pty, "save ");
	pty_command(&pty, "error the disk is full");
	pty_wait_text(&pty, "the disk is full");
	assert_true(pty_find(&pty, "nginx", NULL) >= 0);
	pty_type(&pty, "Z");
	pty_wait_answer(&pty, "paused 0");
	pty_type(&pty, "+");
	pty_wait_answer(&pty, "interval 5000000000");
	pty_wait_text(&pty, "every 5s");
	pty_type(&pty, "--");
	pty_wait_answer(&pty, "interval 1000000000");
	pty_type(&pty, "b");
	pty_wait_answer(&pty, "base");
	pty_command(&pty, "row . 1 5 fresh");
	pty_command(&pty, "base");
	pty_wait_text(&pty, "fresh");
	pty_wait_text(&pty, "since base, 0 s ago");
	pty_command(&pty, "row . 1 5 fresh");
	pty_command(&pty, "round");
	pty_wait_text(&pty, "since base, 2 s ago");
	pty_quit(&pty);
}

static void test_needs_follow_the_view(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	/* the cgroup tab asks for cgroup records, the overview does not */
	pty_type(&pty, "9");
	pty_wait_answer(&pty, "needs cgroups 1");
	pty_quit(&pty);
}

/* The limits of the last four cgroups that waited under the cursor are asked for, each once. */
static void test_limits(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	fake_round(&pty, "slow-Q 9,slow-R 8,slow-S 7,slow-T 6,slow-U 5,calm 4");
	pty_wait_answer(&pty, "limits 17 0 0 0");
	pty_type(&pty, "j");
	pty_wait_answer(&pty, "limits 18 17 0 0");
	pty_type(&pty, "j");
	pty_wait_answer(&pty, "limits 19 18 17 0");
	pty_type(&pty, "j");
	pty_wait_answer(&pty, "limits 20 19 18 17");
	pty_type(&pty, "j");
	pty_wait_answer(&pty, "limits 21 20 19 18");
	pty_type(&pty, "k");
	pty_wait_answer(&pty, "limits 20 21 19 18");
	pty_quit(&pty);
}

static void test_file(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, NULL, "--file=saved.ctprof.zst");
	pty_wait_text(&pty, "stored");
	pty_wait_text(&pty, "saved.ctprof.zst");
	pty_wait_text(&pty, "total");
	pty_wait_text(&pty, "2023-11-1");
	pty_show(&pty, "d", "has only totals");
	pty_show(&pty, "S", "this is already a saved file");
	pty_show(&pty, " ", "a file does not change");
	pty_quit(&pty);
}

/* Scrolls through the help and looks for every key and every help sentence of the table. */
static void test_help_lists_every_key(void **state)
{
	const struct pty_options options = {.rows = 200, .columns = 200};
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, &options);
	pty_show(&pty, "?", "Columns of this tab");
	for (enum action action = 0; action < ACTION_COUNT; action++) {
		char help[512], keys[128];
		const char *row;

		snprintf(help, sizeof(help), "  %.150s", ui_keys[action].help);
		snprintf(keys, sizeof(keys), "%s ", ui_keys[action].keys);
		pty_wait_text(&pty, help);
		/* before it, or where that is long above it */
		row = pty_row(&pty, pty_find(&pty, help, NULL));
		assert_true(strncmp(row, keys, strlen(keys)) == 0 ||
			    pty_find(&pty, ui_keys[action].keys, NULL) > 0);
	}
	pty_hide(&pty, "q", "Columns of this tab");
	pty_quit(&pty);
}

static size_t count_names(const char *names)
{
	size_t count = 1;

	for (; *names != '\0'; names++)
		count += *names == ' ';
	return count;
}

/* Keys, of all that a terminal may send, that ask for an action in a place. */
static size_t count_keys(enum action action, unsigned int place)
{
	size_t count = 0;

	for (int key = 0; key < 0x80; key++)
		count += key_action(key, place) == action;
	for (int key = KEY_FUNCTION; key <= KEY_FUNCTION + CURSES_KEY_MAX; key++)
		count += key_action(key, place) == action;
	return count;
}

/* Every key name of the table is known, and no key means two things in one place. */
static void test_key_table(void **state)
{
	static const unsigned int places[] = {PLACE_LIST,  PLACE_METRICS, PLACE_TEXT,  PLACE_MENU,
					      PLACE_SETUP, PLACE_GRAPH,   PLACE_BLAME, PLACE_PROMPT};

	(void)state;
	for (enum action action = 0; action < ACTION_COUNT; action++) {
		const struct key_entry *entry = &ui_keys[action];

		assert_true(strlen(entry->help) > 0);
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			if ((entry->where & places[i]) != 0 &&
			    count_keys(action, places[i]) != count_names(entry->keys))
				fail_msg("a key that is unknown or means something else in: %s", entry->keys);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_paint),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_header_of_stuck_threads),
		cmocka_unit_test(test_header_of_io_uring),
		cmocka_unit_test(test_header_of_turnover),
		cmocka_unit_test(test_header_of_devices),
		cmocka_unit_test(test_header_names_the_cause),
		cmocka_unit_test(test_columns_that_cannot_be_read),
		cmocka_unit_test(test_columns_come_back),
		cmocka_unit_test(test_tab_without_numbers),
		cmocka_unit_test(test_cgroup_tab_hint),
		cmocka_unit_test(test_cursor_stays_on_its_row),
		cmocka_unit_test(test_untouched_cursor_stays_in_sight),
		cmocka_unit_test(test_sorting),
		cmocka_unit_test(test_sort_menu),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_prompt_editing),
		cmocka_unit_test(test_open_and_back),
		cmocka_unit_test(test_single_group_is_skipped),
		cmocka_unit_test(test_filter_per_level),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_filter_while_typed),
		cmocka_unit_test(test_filter_waits_for_the_next_key),
		cmocka_unit_test(test_age_of_the_past),
		cmocka_unit_test(test_left_before_it_came),
		cmocka_unit_test(test_palette),
		cmocka_unit_test(test_playing),
		cmocka_unit_test(test_prompt_history),
		cmocka_unit_test(test_axis_tab_mode),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_heap_keys),
		cmocka_unit_test(test_latency_key),
		cmocka_unit_test(test_host_keys),
		cmocka_unit_test(test_needs_follow_the_view),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_help_lists_every_key),
		cmocka_unit_test(test_key_table),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
