/* SPDX-License-Identifier: GPL-2.0-only */
/* The tab of what a sched_ext scheduler keeps, over a real session: it comes, changes and goes with that. */
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "pty_screen.h"

static void start(struct pty_screen *pty, int rows, int columns, const char *argument)
{
	const char *const arguments[] = {SCX_SCREEN, argument, NULL};
	const struct pty_options options = {.rows = rows, .columns = columns, .pipes = true};

	pty_start(pty, &options, arguments);
}

/* The tab is on the bar, and reached, while a scheduler runs; its columns are that scheduler's. */
static void test_comes_and_goes(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 80, NULL);
	pty_wait_answer(&pty, "scx 0");
	pty_command(&pty, "none");
	pty_wait_text(&pty, "redis-server");
	assert_int_equal(pty_find(&pty, " Latency Scx", NULL), -1);
	/* the tab before the first is the last one that is there */
	pty_show(&pty, "\x1b[Z", "WAITS/s");
	pty_show(&pty, "\t", "MWAIT%");
	pty_command(&pty, "lavd");
	pty_wait_text(&pty, " Latency Scx");
	pty_wait_text(&pty, "scx lavd");
	pty_type(&pty, "\x1b[Z");
	pty_wait_answer(&pty, "scx 1");
	pty_wait_text(&pty, "LAT_CRIv");
	pty_command(&pty, "lavd");
	pty_wait_text(&pty, "SELECT_CPU_FALLBACK 12.0/s");
	pty_wait_text(&pty, "full  rejected 0");
	pty_wait_text(&pty, " redis-server     3 yes          642            300M");
	/* what the kernel counted before the round before is nothing of this one */
	assert_int_equal(pty_find(&pty, "OFFLINE", NULL), -1);

	pty_command(&pty, "mini");
	pty_wait_text(&pty, "VTIMEv");
	pty_wait_text(&pty, "the scheduler mini was started");
	pty_wait_text(&pty, "partial  rejected 3");
	pty_wait_no_text(&pty, "LAT_CRI");
	pty_wait_no_text(&pty, "lavd");
	pty_command(&pty, "none");
	pty_wait_text(&pty, "the scheduler mini is gone; waiting for another one");
	pty_wait_no_text(&pty, "VTIME");
	assert_int_not_equal(pty_find(&pty, " Latency Scx", NULL), -1);
	/* started again: the user has not moved */
	pty_command(&pty, "mini");
	pty_wait_text(&pty, "VTIMEv");
	pty_command(&pty, "none");
	pty_wait_no_text(&pty, "VTIME");
	pty_show(&pty, "1", "CPU%v");
	pty_wait_no_text(&pty, " Latency Scx");
	pty_wait_answer(&pty, "scx 0");
	pty_quit(&pty);
}

/* A column that the user sorts by goes with its scheduler; an explanation too. */
static void test_sorted_by_user(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 80, "--tab=scx");
	pty_command(&pty, "lavd");
	pty_wait_text(&pty, "LAT_CRIv");
	pty_show(&pty, ">", "SVC_TI~_WWGT/sv");
	pty_show(&pty, "i", "svc_time_wwgt: u64 at byte 16 of task_ctx (96 bytes)");
	pty_command(&pty, "mini");
	pty_wait_text(&pty, "VTIMEv");
	pty_wait_no_text(&pty, "svc_time_wwgt");
	pty_quit(&pty);
}

/* Asked for at the start, the tab waits for a scheduler, and says why there is nothing. */
static void test_waits(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 80, "--tab=scx");
	pty_wait_answer(&pty, "scx 1");
	pty_command(&pty, "none");
	pty_wait_text(&pty, "no sched_ext scheduler runs (e: why)");
	pty_wait_text(&pty, " Latency Scx");
	pty_command(&pty, "refused");
	pty_wait_text(&pty, "nothing is read from the scheduler: finding its maps takes CAP_SYS_ADMIN");
	pty_wait_text(&pty, "a sched_ext scheduler  full");
	pty_command(&pty, "unread");
	pty_wait_text(&pty, "what the scheduler keeps is read in the next round");
	pty_wait_text(&pty, "LAT_CRIv");
	pty_command(&pty, "lavd");
	pty_wait_no_text(&pty, "next round");
	pty_wait_text(&pty, "642");
	pty_quit(&pty);
}

/* A wide screen has all of them, and a thread's page its whole context. */
static void test_pages(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 50, 200, "--tab=scx");
	pty_command(&pty, "lavd");
	pty_command(&pty, "lavd");
	pty_wait_text(&pty, "SUM_RUNTIME%");
	pty_wait_text(&pty, "STATE_QUEUED*");
	pty_wait_text(&pty,
		      "lavd_1.1.4_x86_64_unknown_linux_gnu  up 3h  full  rejected 0  SELECT_CPU_FALLBACK "
		      "12.0/s  ENQ_SKIP_EXITING 2.5/s");
	pty_show(&pty, "\r", "redis-server > pid 100 redis-server > thread");
	pty_show(&pty, "\r", "> threads");
	pty_show(&pty, "\r", "tid 100 of 100");
	pty_wait_text(&pty, "scx.lat_cri ");
	assert_non_null(strstr(pty_row(&pty, pty_find(&pty, "scx.lat_cri ", NULL)), " 742 "));
	pty_wait_text(&pty, "STATE_QUEUED");
	pty_wait_text(&pty, "u32[4] = 200000000, 200000001, 200000002, 200000003");
	pty_wait_text(&pty, "struct bpf_cpumask * = NULL");
	pty_show(&pty, "i", "last_runnable_clk: u64 at byte 0");
	pty_type(&pty, "e");
	pty_search(&pty, "SCX  scheduler lavd_1.1.4_x86_64_unknown_linux_gnu: task_ctx, 96 bytes, 12 fields");
	pty_search(&pty, "6 contexts read, 1 threads without one");
	pty_quit(&pty);
}

static void test_files(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 80, "--file=lavd");
	pty_wait_text(&pty, " Latency Scx");
	pty_show(&pty, "\x1b[Z", "LAT_CRIv");
	/* totals, of events too */
	pty_wait_text(&pty, "SVC_TI~_WWGT ");
	pty_wait_text(&pty, "SELECT_CPU_FALLBACK 72.0 ");
	pty_quit(&pty);
	start(&pty, 24, 80, "--file=none");
	pty_wait_text(&pty, "redis-server");
	assert_int_equal(pty_find(&pty, " Latency Scx", NULL), -1);
	pty_quit(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_and_goes), cmocka_unit_test(test_sorted_by_user),
		cmocka_unit_test(test_waits),          cmocka_unit_test(test_pages),
		cmocka_unit_test(test_files),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
