/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal comes back as it was, however the program ends; keys, signals and other people's output. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vterm.h>

#include "tests/cmocka_include.h"
#include "tests/wait.h"

#include "fake_program.h"

static void test_quit_restores(void **state)
{
	static const char *const keys[] = {"q", "\x03", "\033[21~"};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct pty_screen pty;

		fake_start_with_rows(&pty, NULL);
		assert_true(pty.alternate_screen);
		assert_false(pty.cursor_visible);
		pty_type(&pty, keys[i]);
		pty_expect_end(&pty, 0, 0);
	}
}

static void test_signals_restore(void **state)
{
	const int signals[] = {SIGTERM, SIGINT,  SIGHUP, SIGQUIT, SIGSEGV,   SIGBUS,   SIGABRT, SIGFPE,
			       SIGILL,  SIGTRAP, SIGSYS, SIGUSR1, SIGUSR2,   SIGALRM,  SIGXCPU, SIGVTALRM,
			       SIGPROF, SIGPOLL, SIGPWR, SIGXFSZ, SIGSTKFLT, SIGRTMIN, SIGRTMAX};

	(void)state;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct pty_screen pty;

		fake_start_with_rows(&pty, NULL);
		kill(pty.child, signals[i]);
		pty_expect_end(&pty, signals[i], 0);
	}
}

/* A capture that cannot be opened: the sentence is on the ordinary screen. */
static void test_failure_restores(void **state)
{
	struct pty_screen pty;
	int status;

	(void)state;
	fake_start(&pty, NULL, NULL);
	pty_wait_text(&pty, "PROCESS");
	pty_command(&pty, "failed nothing can be read here");
	status = pty_wait_end(&pty);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	pty_expect_restored(&pty);
	pty_wait_text(&pty, "fake: nothing can be read here");
	pty_release(&pty);
}

/* What a closed pipe somewhere sends is no reason to end. */
static void test_broken_pipe_is_ignored(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	kill(pty.child, SIGPIPE);
	pty_show(&pty, "e", "Data quality");
	pty_quit(&pty);
}

static void test_crashes_restore(void **state)
{
	static const struct {
		const char *command;
		int signal, status;
	} crashes[] = {
		{"crash segv", SIGSEGV, 0}, {"crash stack", SIGSEGV, 0}, {"crash abort", SIGABRT, 0},
		{"crash exit", 0, 7},       {"crash memory", 0, 1},      {"crash thread", SIGUSR1, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++) {
		struct pty_screen pty;

		fake_start_with_rows(&pty, NULL);
		pty_command(&pty, crashes[i].command);
		pty_expect_end(&pty, crashes[i].signal, crashes[i].status);
	}
}

static void test_closed_terminal_ends(void **state)
{
	const struct pty_options options = {.rows = 24, .columns = 80, .keep_slave_closed = true};
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, &options);
	pty_take_away(&pty);
}

static void test_unknown_terminal(void **state)
{
	static const struct {
		const char *term, *sentence;
	} cases[] = {
		{"xterm-kitty-nowhere",
		 "unknown terminal 'xterm-kitty-nowhere'; try TERM=xterm-256color ctop"},
		{"dumb", "terminal 'dumb' cannot move its cursor"},
		{"", "TERM is not set"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pty_options options = {.rows = 24, .columns = 120, .term = cases[i].term};
		struct pty_screen pty;

		fake_start(&pty, &options, NULL);
		assert_int_equal(WEXITSTATUS(pty_wait_end(&pty)), 1);
		pty_wait_text(&pty, cases[i].sentence);
		pty_expect_restored(&pty);
		pty_release(&pty);
	}
}

static const char too_large[] = "the screen is too large: unset LINES and COLUMNS";

static bool is_decided(struct pty_screen *pty, const void *context)
{
	(void)context;
	return pty_find(pty, too_large, NULL) >= 0 || pty_find(pty, "1 Overview", NULL) >= 0;
}

/* Some versions of curses refuse it, others take the terminal's own size. */
static void test_absurd_size(void **state)
{
	const struct pty_options options = {
		.rows = 24, .columns = 120, .term = "xterm-256color", .environment = {"LINES=99999"}};
	struct pty_screen pty;

	(void)state;
	fake_start(&pty, &options, NULL);
	pty_wait(&pty, is_decided, NULL, "a sentence or a screen");
	if (pty_find(&pty, too_large, NULL) < 0) {
		pty_quit(&pty);
		return;
	}
	assert_int_equal(WEXITSTATUS(pty_wait_end(&pty)), 1);
	pty_expect_restored(&pty);
	pty_release(&pty);
}

static bool is_ordinary(struct pty_screen *pty, const void *context)
{
	(void)context;
	return !pty->alternate_screen && pty->cursor_visible;
}

/* It gives the terminal back and stops; SIGCONT brings the whole picture back, at the size of then. */
static void expect_suspend_and_resume(bool by_key, bool stop_ignored)
{
	const struct pty_options options = {
		.rows = 24, .columns = 80, .job = true, .stop_ignored = stop_ignored};
	struct pty_screen pty;
	struct termios modes;

	fake_start_with_rows(&pty, &options);
	if (by_key)
		pty_type(&pty, "\032");
	else
		kill(tcgetpgrp(pty.master), SIGTSTP);
	pty_wait(&pty, pty_is_stopped, NULL, "it stops");
	pty_wait(&pty, is_ordinary, NULL, "the ordinary screen while stopped");
	assert_int_equal(tcgetattr(pty.slave, &modes), 0);
	assert_int_equal(modes.c_lflag, pty.modes.c_lflag);
	pty_resize(&pty, 50, 200);
	kill(pty.child, SIGCONT);
	pty_wait(&pty, pty_is_on_screen, NULL, "the screen is back");
	pty_wait_text(&pty, "1 Overview");
	pty_wait_text(&pty, "182.4");
	pty_quit(&pty);
}

/* Ctrl-Z and SIGTSTP from outside do the same, also when who started us ignores SIGTSTP for itself. */
static void test_suspend_and_resume(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		expect_suspend_and_resume((i & 1) != 0, (i & 2) != 0);
}

/* Whether a process is a zombie: its parent has not asked for it. */
static bool has_ended(struct pty_screen *pty, const void *context)
{
	char path[64], text[256] = "";
	FILE *file;

	(void)pty;
	snprintf(path, sizeof(path), "/proc/%d/stat", *(const pid_t *)context);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	(void)!fgets(text, sizeof(text), file);
	fclose(file);
	return strstr(text, ") Z ") != NULL;
}

/* Stops a job by Ctrl-Z or with SIGSTOP. Returns its process. */
static pid_t stop_job(struct pty_screen *pty, bool by_key)
{
	const pid_t job = tcgetpgrp(pty->master);

	if (by_key)
		pty_type(pty, "\032");
	else
		kill(job, SIGSTOP);
	pty_wait(pty, pty_is_stopped, NULL, "it stops");
	if (by_key)
		pty_wait(pty, is_ordinary, NULL, "the ordinary screen while stopped");
	return job;
}

/* Expects that one signal ends a background job, which writes nothing to the terminal. */
static void expect_end_in_background(struct pty_screen *pty, pid_t job, int signal)
{
	const uint64_t before = pty->bytes;

	kill(job, signal);
	kill(job, SIGCONT);
	pty_wait(pty, has_ended, &job, "it ends in the background");
	kill(pty->child, SIGCONT);
	pty_wait_end(pty);
	assert_int_equal(pty->bytes, before);
	pty_release(pty);
}

/*
 * Signals such as the shell's "kill %1" end ctop while another program has the terminal: after Ctrl-Z or
 * SIGSTOP, and after "bg", which stops it again. The last signal is the crash guard's.
 */
static void test_end_while_suspended(void **state)
{
	const struct pty_options options = {.rows = 24, .columns = 80, .job = true};
	const int signals[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1};

	(void)state;
	for (size_t i = 0; i < 4 * sizeof(signals) / sizeof(signals[0]); i++) {
		struct pty_screen pty;
		pid_t job;

		fake_start_with_rows(&pty, &options);
		job = stop_job(&pty, (i & 1) != 0);
		if ((i & 2) != 0) {
			pty_continue_in_background(&pty);
			pty_wait(&pty, pty_is_stopped, NULL, "it stops again in the background");
		}
		expect_end_in_background(&pty, job, signals[i / 4]);
	}
}

/* After "bg" ctop waits for "fg", then redraws the whole screen. */
static void test_resume_after_background(void **state)
{
	const struct pty_options options = {.rows = 24, .columns = 80, .job = true};

	(void)state;
	for (int by_key = 0; by_key < 2; by_key++) {
		struct pty_screen pty;
		uint64_t before;

		fake_start_with_rows(&pty, &options);
		stop_job(&pty, by_key != 0);
		before = pty.bytes;
		pty_continue_in_background(&pty);
		pty_wait(&pty, pty_is_stopped, NULL, "it stops again in the background");
		assert_int_equal(pty.bytes, before);
		vterm_screen_reset(pty.screen, 1);
		kill(pty.child, SIGCONT);
		pty_wait_text(&pty, "182.4");
		pty_wait_text(&pty, "fakehost");
		pty_quit(&pty);
	}
}

/* The only child of a process; 0 if the kernel does not list children. */
static pid_t find_child(pid_t parent)
{
	char path[64];
	FILE *file;
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	file = fopen(path, "re");
	if (file == NULL || fscanf(file, "%d", &child) != 1)
		child = 0;
	if (file != NULL)
		fclose(file);
	return child;
}

/* Started with &, ctop is stopped until it gets the terminal, and one signal ends it. */
static void test_start_in_background(void **state)
{
	const struct pty_options options = {.rows = 24, .columns = 80, .job = true, .background = true};
	struct pty_screen pty;
	pid_t job;

	(void)state;
	fake_start(&pty, &options, NULL);
	pty_wait(&pty, pty_is_stopped, NULL, "it stops in the background");
	kill(pty.child, SIGCONT);
	pty_wait(&pty, pty_is_on_screen, NULL, "the screen comes with the terminal");
	pty_quit(&pty);
	fake_start(&pty, &options, NULL);
	pty_wait(&pty, pty_is_stopped, NULL, "it stops in the background");
	job = find_child(pty.child);
	if (job == 0) {
		pty_release(&pty);
		print_message("SKIP: this kernel does not list the children of a process\n");
		skip();
	}
	expect_end_in_background(&pty, job, SIGTERM);
}

/* A stop that nobody announced (SIGSTOP): the picture is whole again afterwards. */
static void test_stop_from_outside(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	kill(pty.child, SIGSTOP);
	pty_wait(&pty, pty_is_stopped, NULL, "SIGSTOP stops it");
	vterm_screen_reset(pty.screen, 1);
	kill(pty.child, SIGCONT);
	pty_wait_text(&pty, "182.4");
	pty_wait_text(&pty, "fakehost");
	pty_quit(&pty);
}

static void test_resize_is_followed(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_resize(&pty, 50, 200);
	pty_wait_text(&pty, "1 Overview");
	pty_resize(&pty, 24, 80);
	pty_wait_no_text(&pty, "1 Overview");
	pty_quit(&pty);
}

static void test_stderr_does_not_garble(void **state)
{
	struct pty_screen pty;
	int row;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_command(&pty, "stderr a library's complaint");
	/* it stands on the message line, and the rows are whole */
	pty_wait_text(&pty, "a library's complaint");
	row = pty_find(&pty, "a library's complaint", NULL);
	assert_int_equal(row, 22);
	assert_true(pty_find(&pty, "postgres-{N}", NULL) > 0);
	pty_type(&pty, "q");
	assert_int_equal(pty_wait_end(&pty), 0);
	/* and is printed when the screen is gone */
	pty_wait_text(&pty, "a library's complaint");
	pty_expect_restored(&pty);
	pty_release(&pty);
}

/* Text in another encoding and a pasted binary file do nothing. */
static void test_bytes_that_are_no_text(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	for (int i = 0; i < 20; i++) {
		pty_type(&pty, "\377\376\351");
		pty_sync(&pty);
	}
	pty_show(&pty, "?", "Columns of this tab");
	pty_hide(&pty, "\033", "Columns of this tab");
	pty_quit(&pty);
}

/* Late answers to an earlier program, and other sequences with letters that would quit, save and sort. */
static void test_late_answers(void **state)
{
	static const char *const answers[] = {
		"\033]11;rgb:qqqq/SSSS/cccc\033\\",
		"\033]11;rgb:qqqq/SSSS/cccc\a",
		"\033]52;c;cVNx\033\\",
		"\033P>|tmux qS\033\\",
		"\033P1+r544e=qS\033\\",
		"\033_Gi=31;qS\033\\",
		"\033^qS\033\\",
		"\033XqS\a",
		"\033]0;\xff\xfeq\xd0\a",
		"\033P\033\\",
		/* an answer without an end, and one cut short by the next */
		"\033]11;rgb:qqqq",
		"\033]11;rgb:qq\033]11;rgb:qq\a",
		/* control sequences, also of consoles and old terminals */
		"\033[?64;1;2q",
		"\033[[q",
		"\033O5q",
		"\033O1;2q",
		"\033[1;1q",
	};
	struct pty_screen pty;
	uint64_t before;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_sync(&pty);
	before = pty.bytes;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		pty_type(&pty, answers[i]);
		pty_sync(&pty);
		if (pty.bytes != before)
			fail_msg("answer %zu is taken for keys", i);
	}
	/* Alt with a key is Esc and the key */
	pty_show(&pty, "?", "Columns of this tab");
	pty_hide(&pty, "\033]", "Columns of this tab");
	pty_show(&pty, "?", "Columns of this tab");
	pty_hide(&pty, "\033P\033P", "Columns of this tab");
	pty_quit(&pty);
}

/* Function keys of the Linux console under another TERM. */
static void test_console_keys(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_show(&pty, "\033[[C", "search: ");
	pty_hide(&pty, "\033", "search: ");
	pty_show(&pty, "\033[[A", "Columns of this tab");
	pty_hide(&pty, "\033[[A", "Columns of this tab");
	pty_show(&pty, "\033[[D", "filter: ");
	pty_hide(&pty, "\033", "filter: ");
	pty_show(&pty, "\033[[E", "Group by");
	pty_hide(&pty, "\033", "Group by");
	pty_show(&pty, "\033[[B", "Columns of Overview");
	pty_quit(&pty);
}

/* Pasted text is accepted where text is typed and never acts as keys. */
static void test_paste(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, "/");
	pty_paste(&pty, "\r\nworker\r\n\tSq\033[A\003\n");
	/* the trailing line end is dropped */
	pty_show(&pty, "x", "filter: worker Sqx");
	pty_type(&pty, "\025");
	pty_paste(&pty, "йцу");
	pty_wait_text(&pty, "filter: йцу");
	pty_type(&pty, "\025");
	pty_paste(&pty, "nginx");
	pty_show(&pty, "\r", "filter: nginx");
	pty_paste(&pty, "q\rSq\033");
	pty_wait_text(&pty, "pasted text is ignored here");
	pty_wait_text(&pty, "filter: nginx");
	pty_show(&pty, "/\025\r", "solo");
	pty_show(&pty, "s", "Sort by");
	pty_paste(&pty, "write\r");
	pty_wait_text(&pty, "Sort by: write");
	pty_show(&pty, "\r", "WRITE/sv");
	pty_quit(&pty);
}

/* Esc or Ctrl-C ends a paste whose end mark was lost; within a paste they are part of it. */
static void test_paste_without_end(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	pty_type(&pty, "/\033[200~ng\003\033");
	pty_wait_text(&pty, "filter: ng");
	pty_command(&pty, "clock 1100");
	pty_hide(&pty, "\033", "filter: ng");
	pty_type(&pty, "\033[200~q");
	pty_wait_text(&pty, "pasted text is ignored here");
	pty_command(&pty, "clock 1100");
	pty_quit(&pty);
}

/* How long Escape takes to close a page, ms. */
static int64_t time_escape(struct pty_screen *pty)
{
	struct timespec start, end;

	pty_show(pty, "?", "Columns of this tab");
	clock_gettime(CLOCK_MONOTONIC, &start);
	pty_hide(pty, "\033", "Columns of this tab");
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000;
}

static void test_escape_is_quick(void **state)
{
	struct pty_screen pty;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	/* curses would wait a second each time; 50 ms were asked for, and a machine may be busy at first */
	await("Escape takes less than 700 ms", time_escape(&pty) < 700);
	pty_quit(&pty);
}

static void test_idle_sends_nothing(void **state)
{
	struct pty_screen pty;
	uint64_t before;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	before = pty.bytes;
	pty_command(&pty, "clock 3600000");
	pty_sync(&pty);
	assert_int_equal(pty.bytes, before);
	/* a key that leads nowhere makes a frame without a change */
	pty_type(&pty, "\033[A");
	pty_sync(&pty);
	assert_int_equal(pty.bytes, before);
	/* a repaint sends everything again */
	pty_type(&pty, "\014");
	pty_sync(&pty);
	assert_true(pty.bytes - before > 500);
	pty_quit(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quit_restores),
		cmocka_unit_test(test_signals_restore),
		cmocka_unit_test(test_failure_restores),
		cmocka_unit_test(test_crashes_restore),
		cmocka_unit_test(test_closed_terminal_ends),
		cmocka_unit_test(test_unknown_terminal),
		cmocka_unit_test(test_absurd_size),
		cmocka_unit_test(test_suspend_and_resume),
		cmocka_unit_test(test_end_while_suspended),
		cmocka_unit_test(test_resume_after_background),
		cmocka_unit_test(test_start_in_background),
		cmocka_unit_test(test_stop_from_outside),
		cmocka_unit_test(test_resize_is_followed),
		cmocka_unit_test(test_stderr_does_not_garble),
		cmocka_unit_test(test_bytes_that_are_no_text),
		cmocka_unit_test(test_late_answers),
		cmocka_unit_test(test_console_keys),
		cmocka_unit_test(test_paste),
		cmocka_unit_test(test_paste_without_end),
		cmocka_unit_test(test_escape_is_quick),
		cmocka_unit_test(test_idle_sends_nothing),
		cmocka_unit_test(test_broken_pipe_is_ignored),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
