/* SPDX-License-Identifier: GPL-2.0-only */
/* Looking back with the built program, live on this host's threads. */
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/memory.h"
#include "pty_screen.h"
#include "snapshot/snapshot_window.h"
#include "store/ctprof.h"

enum {
	ROUNDS = 4, /* of a recording */
};

/* /nowhere keeps the screen from reading the history of a recorder on this host. */
static void start_every(struct pty_screen *pty, const char *interval, int rows, int columns,
			const char *locale, const char *keep)
{
	const char *const arguments[] = {CTOP_PROGRAM,    "--no-config", "-d",        interval,
					 "--keep-rounds", keep,          "--no-heap", "--history",
					 "/nowhere",      NULL};
	const struct pty_options options = {.rows = rows, .columns = columns, .locale = locale};

	pty_start(pty, &options, arguments);
}

static void start(struct pty_screen *pty, int rows, int columns, const char *locale, const char *keep)
{
	start_every(pty, "0.2", rows, columns, locale, keep);
}

static bool shows_answer(struct pty_screen *pty, const void *context)
{
	(void)context;
	return pty_find(pty, " ago)", NULL) >= 0 || pty_find(pty, "has been kept", NULL) >= 0;
}

/* Goes a round back, as soon as there is one. */
static void look_back(struct pty_screen *pty)
{
	pty_type(pty, "T");
	pty_wait(pty, shows_answer, NULL, "a moment, or why there is none");
	while (pty_find(pty, " ago)", NULL) < 0) {
		/* a repaint takes the message away: the next one is another */
		pty_hide(pty, "\x0c", "has been kept");
		pty_type(pty, "T");
		pty_wait(pty, shows_answer, NULL, "a moment, or why there is none");
	}
}

/* Goes to the newest round until that is another one than the oldest, then to the oldest. */
static void go_to_oldest_of_some(struct pty_screen *pty)
{
	look_back(pty);
	pty_show(pty, "{", "the oldest round");
	pty_type_until(pty, "}", pty_has_no_text, "the oldest round");
	pty_show(pty, "{", "the oldest round");
}

static void test_there_and_back(void **state)
{
	static const struct {
		int rows, columns;
		const char *locale;
	} screens[] = {{24, 80, NULL}, {50, 200, NULL}, {12, 40, NULL}, {24, 80, "C"}, {12, 40, "C"}};

	(void)state;
	for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++) {
		struct pty_screen pty;

		start(&pty, screens[i].rows, screens[i].columns, screens[i].locale, "32");
		look_back(&pty);
		/* the first line says when it was, and there are rows of it */
		assert_non_null(strstr(pty_row(&pty, 0), " ago)"));
		pty_show(&pty, "{", "the oldest round");
		pty_show(&pty, "T", "this is the oldest round that there is");
		pty_hide(&pty, "\033", " ago)");
		/* the newest one and then now */
		look_back(&pty);
		pty_type(&pty, "}");
		pty_type(&pty, "tttttttttttttttttttt");
		pty_quit(&pty);
	}
}

/* Who goes back to now stays there, also while another moment is being made. */
static void test_left_meanwhile(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 120, NULL, "32");
	for (int i = 0; i < 20; i++) {
		look_back(&pty);
		/* Backspace, which nothing has to be waited for to know */
		pty_hide(&pty, "TTTT\x7f", " ago)");
		/* what was made meanwhile is here by then, or this proves less: no machine fails for it */
		(void)pty_drain(&pty, 50);
		assert_true(pty_find(&pty, " ago)", NULL) < 0);
	}
	pty_quit(&pty);
}

/* What is counted since a moment that was chosen is counted in those after it, and not before. */
static void test_base(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 120, NULL, "32");
	go_to_oldest_of_some(&pty);
	pty_show(&pty, "b", "since base, 0 s ago");
	/* to the newest one, until that is a second later */
	pty_type_until(&pty, "}", pty_has_no_text, "since base, 0 s ago");
	pty_wait_text(&pty, "since base, ");
	pty_wait_no_text(&pty, "since base, 0 s ago");
	pty_quit(&pty);
}

/* Times are asked for; what is not one is refused with what is. */
static void test_time(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 120, NULL, "32");
	look_back(&pty);
	pty_show(&pty, "@", "go to:");
	pty_show(&pty, "soon\r", "soon");
	pty_wait_text(&pty, "-15m");
	pty_show(&pty, "\x15-1h\r", "the history had not begun at");
	pty_wait_text(&pty, "the oldest round");
	/* J, which is of no use in the past, does the same */
	pty_show(&pty, "J", "go to:");
	pty_hide(&pty, "\033", "go to:");
	pty_show(&pty, "n", "there are no marks");
	pty_quit(&pty);
}

/* Space plays on to the newest round, where it ends. */
static void test_play(void **state)
{
	struct pty_screen pty;

	(void)state;
	/* a busy machine may need more than 0.2 s to show a round: it would never catch up */
	start_every(&pty, "2", 24, 120, NULL, "32");
	go_to_oldest_of_some(&pty);
	pty_hide(&pty, " ", "the oldest round");
	pty_wait_no_text(&pty, "playing");
	pty_quit(&pty);
}

/* A moment is compared with another one, and with what is saved of it. */
static void test_compare(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 120, NULL, "32");
	go_to_oldest_of_some(&pty);
	pty_show(&pty, "D", "compare with:");
	pty_show(&pty, "-10s\r", "compared with");
	/* both are moments: none is now, and none comes at an interval */
	pty_wait_text(&pty, "before  20");
	pty_wait_text(&pty, "after   20");
	assert_true(pty_find(&pty, "every", NULL) < 0);
	pty_hide(&pty, "\033", "before  20");
	pty_wait_text(&pty, " ago)");
	pty_hide(&pty, "\033", " ago)");
	/* of now, too: what happens each second then and now */
	pty_show(&pty, "D", "compare with:");
	pty_show(&pty, "\025-0s\r", "change of rates");
	pty_hide(&pty, "D", "change of rates");
	/* a span of what was kept, and every form that @ takes */
	pty_show(&pty, "D", "compare with:");
	pty_show(&pty, "\025-1h..now\r", "the history had not begun at");
	pty_wait_text(&pty, "before  20");
	pty_wait_text(&pty, "..20");
	pty_hide(&pty, "D", "before  20");
	pty_show(&pty, "D", "compare with:");
	pty_show(&pty, "\025yesterday 3pm\r", "the history had not begun at");
	pty_hide(&pty, "D", "before  20");
	pty_show(&pty, "D", "compare with:");
	pty_show(&pty, "\025now..-1h\r", "the range is empty");
	pty_quit(&pty);
}

/* Two bars beside each other, in any row. */
static bool shows_course(struct pty_screen *pty, const void *context)
{
	(void)context;
	for (int row = 5; row < pty->rows; row++) {
		static const char bar[] = "\xe2\x96";

		for (const char *text = pty_row(pty, row); (text = strstr(text, bar)) != NULL; text++) {
			if (strncmp(text + 3, bar, strlen(bar)) == 0)
				return true;
		}
	}
	return false;
}

/* Rows that are shown for the first time have their course from the rounds that are kept: none comes
 * meanwhile. */
static void test_course_of_other_rows(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 50, 200, NULL, "32");
	/* enough of them */
	pty_wait_text(&pty, "TREND");
	pty_wait(&pty, shows_course, NULL, "the course of processes");
	pty_show(&pty, " ", "PAUSED");
	pty_show(&pty, "gu\r", "by user");
	pty_wait_text(&pty, "TREND");
	pty_wait(&pty, shows_course, NULL, "the course of users");
	pty_quit(&pty);
}

static void test_nothing_kept(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, 24, 80, NULL, "0");
	pty_wait_text(&pty, "rate");
	pty_show(&pty, "T", "this screen keeps no rounds");
	pty_show(&pty, "@", "this screen keeps no rounds");
	pty_quit(&pty);
}

/* --- what was recorded --- */

static char history[] = "/tmp/ctop-replay-XXXXXX";

static void start_replay(struct pty_screen *pty, int rows, int columns, const char *locale,
			 const char *directory, const char *when)
{
	const char *const arguments[] = {CTOP_PROGRAM, "replay", "--no-config", "--history", directory,
					 "-t",         "run",    when,          NULL};
	const struct pty_options options = {.rows = rows, .columns = columns, .locale = locale};

	pty_start(pty, &options, arguments);
}

/* Records so many rounds as there are in ROUNDS; `rule` may be NULL. */
static int record(const char *rule)
{
	char rounds[8];
	const char *const arguments[] = {
		CTOP_PROGRAM, "record",    "-d",    "0.5",       "-n",
		rounds,       "--history", history, "--no-heap", rule != NULL ? "--when" : NULL,
		rule,         NULL};

	snprintf(rounds, sizeof(rounds), "%d", ROUNDS);
	return pty_run_quietly(arguments);
}

static int make_history(void **state)
{
	(void)state;
	return mkdtemp(history) == NULL || record(NULL) != 0 ? -1 : 0;
}

static int remove_history(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s %s.titles", history, history);
	return system(command);
}

static void test_replay(void **state)
{
	static const struct {
		int rows, columns;
		const char *locale;
	} screens[] = {{24, 80, NULL}, {50, 200, NULL}, {12, 40, NULL}, {24, 80, "C"}};
	struct pty_screen pty;

	(void)state;
	for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++) {
		start_replay(&pty, screens[i].rows, screens[i].columns, screens[i].locale, history, NULL);
		pty_wait_text(&pty, " ago)");
		pty_show(&pty, "{", "the oldest round");
		pty_show(&pty, "T", "this is the oldest round that there is");
		pty_hide(&pty, "t", "the oldest round");
		/* what was before and after, where there is room */
		if (screens[i].rows >= 24)
			pty_wait_text(&pty, " s");
		if (screens[i].rows >= 24)
			pty_wait_text(&pty, "psi ");
		/* each with its scale */
		if (screens[i].rows >= 24)
			pty_wait_text(&pty, "  psi");
		if (screens[i].rows >= 24)
			pty_wait_text(&pty, " 0..");
		/* Esc leaves nothing: there is no now */
		pty_show(&pty, "\033}t", "this is the newest round that there is");
		pty_wait_text(&pty, " ago)");
		/* what makes no sense here says so */
		pty_show(&pty, "l", "cannot measure the past");
		pty_quit(&pty);
	}
	/* a time that is not there: at once */
	start_replay(&pty, 24, 120, NULL, history, "-1d");
	pty_wait_text(&pty, "the history had not begun at");
	pty_quit(&pty);
}

/* A live screen goes back to rounds that were recorded before its own, and shows where they are. */
static void test_recorder(void **state)
{
	const char *const arguments[] = {CTOP_PROGRAM, "--no-config", "-d",    "0.2",
					 "--no-heap",  "--history",   history, NULL};
	const struct pty_options options = {.rows = 24, .columns = 120};
	struct pty_screen pty;

	(void)state;
	pty_start(&pty, &options, arguments);
	look_back(&pty);
	/* a step back from the first round of its own is one of the recorder's */
	while (pty_find(&pty, "recorded in", NULL) >= 0) {
		pty_hide(&pty, "\033", " ago)");
		look_back(&pty);
	}
	pty_show(&pty, "{", "recorded in /tmp/ctop-replay-");
	pty_wait_text(&pty, "the oldest round, without rates");
	pty_hide(&pty, "t", "without rates");
	pty_wait_text(&pty, "recorded in /tmp/ctop-replay-");
	/* steps through the recorder's rounds to the screen's own */
	pty_type_until(&pty, "t", pty_has_no_text, "recorded in");
	pty_hide(&pty, "\033", " ago)");
	pty_quit(&pty);
}

/* Starts a busy process with a title. */
static pid_t start_titled(void)
{
	static const char title[] = "db: SELECT 1";
	const size_t room = strlen(program_invocation_name);
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(program_invocation_name, 0, room);
	memcpy(program_invocation_name, title, strlen(title));
	/* before a loop that makes no call, the compiler may leave the title out */
	for (;;)
		(void)getppid();
}

/* The title of an ended process is shown as it was, and can be searched for. */
static void test_titles(void **state)
{
	char *directory = memory_format("%s.titles", history);
	const pid_t titled = start_titled();
	char *pid = memory_format("%d", (int)titled);
	const char *const recorder[] = {CTOP_PROGRAM, "record", "-d",        "0.5",     "-n",        "4",
					"-p",         pid,      "--history", directory, "--no-heap", NULL};
	const char *const arguments[] = {CTOP_PROGRAM, "replay", "--no-config", "--history",
					 directory,    "-g",     "pid",         NULL};
	const struct pty_options options = {.rows = 24, .columns = 120};
	struct pty_screen pty;

	(void)state;
	assert_int_equal(pty_run_quietly(recorder), 0);
	kill(titled, SIGKILL);
	waitpid(titled, NULL, 0);
	pty_start(&pty, &options, arguments);
	pty_wait_text(&pty, "COMMAND");
	pty_wait_text(&pty, "db: SELECT 1");
	pty_hide(&pty, "/update\r", "db: SELECT 1");
	pty_show(&pty, "/\x15select\r", "db: SELECT 1");
	pty_quit(&pty);
	free(pid);
	free(directory);
}

/* What a rule marked is found, and where nothing was recorded is said. */
static void test_marks_and_gaps(void **state)
{
	struct pty_screen pty;

	(void)state;
	assert_int_equal(record("thread_count(*) > 0"), 0);
	start_replay(&pty, 24, 120, NULL, history, NULL);
	pty_wait_text(&pty, " ago)");
	pty_show(&pty, "{", "the oldest round");
	pty_show(&pty, "n", "mark: thread_count(*) > 0");
	/* rules rest after they were broken: there is one */
	pty_show(&pty, "n", "there is no mark after this moment");
	pty_show(&pty, "N", "there is no mark before this moment");
	/* the first round of the second recording */
	pty_show(&pty, "{", "the oldest round");
	for (int i = 0; i < ROUNDS; i++)
		pty_type(&pty, "t");
	pty_wait_text(&pty, "nothing recorded for the");
	pty_quit(&pty);
}

/* Mistakes in the configuration file are reported and ignored, and the page of columns writes to that file.
 */
static void test_replay_configuration(void **state)
{
	char path[] = "/tmp/ctop-replay-conf-XXXXXX";
	const char *const arguments[] = {CTOP_PROGRAM, "replay", "--config", path,
					 "--history",  history,  NULL};
	static const char text[] = "ascii = maybe\nsort-by = nothing\ntab = run\n";
	const int descriptor = mkstemp(path);
	struct pty_screen pty;

	(void)state;
	assert_true(descriptor >= 0);
	assert_int_equal(write(descriptor, text, sizeof(text) - 1), sizeof(text) - 1);
	close(descriptor);
	pty_start(&pty, &(struct pty_options){.rows = 24, .columns = 120}, arguments);
	pty_wait_text(&pty, ":1: ascii takes yes or no, not 'maybe'");
	pty_show(&pty, "C", "Columns of Run");
	pty_show(&pty, "w", "wrote [tab run] of /tmp/ctop-replay-conf-");
	pty_quit(&pty);
	unlink(path);
}

/* Runs a shell command in a directory; on failure, shows its output. */
static void run_in(const char *directory, const char *command)
{
	char *script = NULL;

	assert_true(asprintf(&script, "cd %s && %s", directory, command) > 0);
	assert_int_equal(pty_run_quietly((const char *const[]){"/bin/sh", "-c", script, NULL}), 0);
	free(script);
}

/* The only file of that pattern in a directory. */
static struct snapshot *read_saved(const char *directory)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};
	char pattern[128];
	glob_t files;

	snprintf(pattern, sizeof(pattern), "%s/*.ctprof.zst", directory);
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, 1);
	if (ctprof_read(files.gl_pathv[0], UINT64_MAX, &snapshot, &error) < 0)
		fail_msg("%s", error.text);
	globfree(&files);
	return snapshot;
}

/*
 * The first rounds come from a version (a copy of ctop) with a reason that this one does not know. When saved
 * together with a later round, each of the two keeps its own reason.
 */
static void test_replay_of_two_versions(void **state)
{
	char directory[] = "/tmp/ctop-versions-XXXXXX", history_option[64], save_option[64];
	const char *const arguments[] = {CTOP_PROGRAM,   "replay",    "--no-config",
					 history_option, save_option, NULL};
	struct snapshot *saved;
	struct pty_screen pty;

	(void)state;
	assert_non_null(mkdtemp(directory));
	run_in(directory,
	       "LC_ALL=C sed -z 's/not-read$/not-reaQ/' " CTOP_PROGRAM " >other && chmod +x other");
	run_in(directory,
	       "for program in ./other " CTOP_PROGRAM "; do "
	       "$program record --no-heap --backend procfs -d 0.5 -n 2 --history history || exit; done");
	snprintf(history_option, sizeof(history_option), "--history=%s/history", directory);
	snprintf(save_option, sizeof(save_option), "--save-dir=%s", directory);
	pty_start(&pty, &(struct pty_options){.rows = 24, .columns = 120}, arguments);
	pty_wait_text(&pty, " ago)");
	pty_show(&pty, "{", "the oldest round");
	pty_show(&pty, "b", "numbers count from this moment on");
	pty_hide(&pty, "}", "the oldest round");
	pty_show(&pty, "S", "saved ");
	pty_quit(&pty);
	saved = read_saved(directory);
	assert_string_equal(reason_name(saved->default_reason[SOURCE_SMAPS_ROLLUP]), "not-read");
	assert_non_null(saved->window);
	assert_string_equal(reason_name(saved->window->from->default_reason[SOURCE_SMAPS_ROLLUP]),
			    "not-reaQ");
	snapshot_release(saved);
	run_in(directory, "rm -r history other *.zst");
	assert_int_equal(rmdir(directory), 0);
}

static void test_replay_refuses(void **state)
{
	static const char *const refused[][2] = {
		{"soon", "-15m"},
		{NULL, "/nowhere"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct pty_screen pty;

		start_replay(&pty, 24, 80, NULL, "/nowhere", refused[i][0]);
		pty_wait_text(&pty, refused[i][1]);
		assert_int_not_equal(pty_wait_end(&pty), 0);
		pty_release(&pty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_left_meanwhile),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_play),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_nothing_kept),
		cmocka_unit_test(test_course_of_other_rows),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_recorder),
		cmocka_unit_test(test_titles),
		cmocka_unit_test(test_marks_and_gaps),
		cmocka_unit_test(test_replay_configuration),
		cmocka_unit_test(test_replay_of_two_versions),
		cmocka_unit_test(test_replay_refuses),
	};

	pty_need();
	return cmocka_run_group_tests(tests, make_history, remove_history);
}
