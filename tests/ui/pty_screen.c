/* SPDX-License-Identifier: GPL-2.0-only */
#include "pty_screen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>
#include <vterm.h>

#include "tests/cmocka_include.h"

enum {
	/* long enough for a loaded machine; a test that passes never waits for it */
	DEADLINE_MS = 120000,
	CONDITION_MS = 50,
	REPEAT_MS = 100, /* between keys that are typed again */
	ROW_BYTES = 4096,
};

static int set_property(VTermProp property, VTermValue *value, void *context)
{
	struct pty_screen *pty = context;

	if (property == VTERM_PROP_ALTSCREEN)
		pty->alternate_screen = value->boolean != 0;
	else if (property == VTERM_PROP_CURSORVISIBLE)
		pty->cursor_visible = value->boolean != 0;
	else if (property == VTERM_PROP_MOUSE)
		pty->mouse = value->number != VTERM_PROP_MOUSE_NONE;
	return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = set_property};

/*
 * Gives libvterm what it can bear: version 0.1.4 writes a wide character past the end of a terminal of one
 * column, and moves a negative number of lines when it is to scroll by more rows than there are, as a program
 * asks for that does not know of a smaller size yet. So it keeps the rows that there have been at most.
 */
static void set_terminal_size(struct pty_screen *pty)
{
	if (pty->terminal_rows < pty->rows)
		pty->terminal_rows = pty->rows;
	vterm_set_size(pty->terminal, pty->terminal_rows, pty->columns < 2 ? 2 : pty->columns);
}

static void start_terminal(struct pty_screen *pty)
{
	pty->terminal = vterm_new(pty->rows, pty->columns < 2 ? 2 : pty->columns);
	pty->terminal_rows = pty->rows;
	vterm_set_utf8(pty->terminal, 1);
	pty->screen = vterm_obtain_screen(pty->terminal);
	vterm_screen_enable_altscreen(pty->screen, 1);
	vterm_screen_set_callbacks(pty->screen, &callbacks, pty);
	vterm_screen_reset(pty->screen, 1);
	pty->alternate_screen = false;
	pty->cursor_visible = true;
	pty->mouse = false;
}

static void set_environment(const struct pty_options *options)
{
	unsetenv("NO_COLOR");
	unsetenv("COLUMNS");
	unsetenv("LINES");
	setenv("XDG_CONFIG_HOME", "/nonexistent",
	       1); /* whoever runs the tests may have settings of his own */
	/* a sanitizer must not take over the signals that the tests send, nor end what runs out of memory */
	setenv("ASAN_OPTIONS",
	       "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:"
	       "allocator_may_return_null=1",
	       1);
	setenv("UBSAN_OPTIONS",
	       "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0", 1);
	setenv("LC_ALL", options->locale != NULL ? options->locale : "C.UTF-8", 1);
	setenv("TERM", options->term != NULL ? options->term : "xterm-256color", 1);
	if (options->term != NULL && *options->term == '\0')
		unsetenv("TERM");
	for (size_t i = 0; i < 4 && options->environment[i] != NULL; i++)
		putenv((char *)(uintptr_t)options->environment[i]);
}

static volatile sig_atomic_t in_background;

static void choose_background(int signal_number)
{
	(void)signal_number;
	in_background = 1;
}

/*
 * Plays a shell with job control. The program gets its own process group; when it stops, its parent reports
 * that and stops too, until it is continued (after SIGUSR1: in the background).
 */
static void become_shell(bool background)
{
	pid_t program = fork();
	int status;

	signal(SIGTTOU, SIG_IGN);
	if (program == 0) {
		/* before the program asks for the terminal, which would stop it in the background */
		setpgid(0, 0);
		if (!background)
			tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGTTOU, SIG_DFL);
		return;
	}
	setpgid(program, program);
	if (!background)
		tcsetpgrp(STDIN_FILENO, program);
	signal(SIGUSR1, choose_background);
	while (waitpid(program, &status, WUNTRACED) == program && WIFSTOPPED(status)) {
		tcsetpgrp(STDIN_FILENO, getpgrp());
		in_background = 0;
		raise(SIGSTOP);
		if (in_background == 0)
			tcsetpgrp(STDIN_FILENO, program);
		kill(-program, SIGCONT);
	}
	_exit(WEXITSTATUS(status));
}

/* Whoever runs the tests may ignore some, as nohup(1) and a shell's background jobs do, or block them. */
static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number <= SIGRTMAX; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void run_child(int slave, const struct pty_options *options, int control, int answers,
		      const char *const *arguments)
{
	reset_signals();
	if (options->stop_ignored)
		signal(SIGTSTP, SIG_IGN);
	login_tty(slave);
	set_environment(options);
	if (options->pipes) {
		/* above 4 first, so that neither number is overwritten before it is copied */
		control = fcntl(control, F_DUPFD, 10);
		answers = fcntl(answers, F_DUPFD, 10);
		dup2(control, 3);
		dup2(answers, 4);
	}
	if (options->job)
		become_shell(options->background);
	execv(arguments[0], (char *const *)(uintptr_t)arguments);
	_exit(127);
}

void pty_need(void)
{
	int master, slave;

	if (openpty(&master, &slave, NULL, NULL, NULL) != 0) {
		puts("SKIP: this host gives no pseudoterminals");
		exit(77);
	}
	close(master);
	close(slave);
}

bool pty_describes(const char *term)
{
	char command[64];

	snprintf(command, sizeof(command), "infocmp %s >/dev/null 2>&1", term);
	if (system(command) == 0)
		return true;
	printf("not described here: %s\n", term);
	return false;
}

void pty_start(struct pty_screen *pty, const struct pty_options *options, const char *const *arguments)
{
	struct winsize size = {.ws_row = (unsigned short)options->rows,
			       .ws_col = (unsigned short)options->columns};
	int to_child[2] = {-1, -1}, from_child[2] = {-1, -1};

	/* a program that ended too early makes a failing assertion of a write, not an end */
	signal(SIGPIPE, SIG_IGN);
	memset(pty, 0, sizeof(*pty));
	pty->rows = options->rows;
	pty->columns = options->columns;
	pty->control = pty->answers = -1;
	assert_int_equal(openpty(&pty->master, &pty->slave, NULL, NULL, &size), 0);
	fcntl(pty->master, F_SETFD, FD_CLOEXEC);
	fcntl(pty->slave, F_SETFD, FD_CLOEXEC);
	assert_int_equal(tcgetattr(pty->slave, &pty->modes), 0);
	if (options->pipes) {
		assert_int_equal(pipe2(to_child, O_CLOEXEC), 0);
		assert_int_equal(pipe2(from_child, O_CLOEXEC), 0);
	}
	start_terminal(pty);
	pty->child = fork();
	assert_true(pty->child >= 0);
	if (pty->child == 0)
		run_child(pty->slave, options, to_child[0], from_child[1], arguments);
	pty->child_descriptor = (int)syscall(SYS_pidfd_open, pty->child, 0);
	assert_true(pty->child_descriptor >= 0);
	if (options->pipes) {
		close(to_child[0]);
		close(from_child[1]);
		pty->control = to_child[1];
		pty->answers = from_child[0];
	}
	if (options->keep_slave_closed) {
		close(pty->slave);
		pty->slave = -1;
	}
}

static void close_descriptor(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

int pty_run_quietly(const char *const *arguments)
{
	FILE *output = tmpfile();
	int status = -1, byte;
	pid_t child;

	if (output == NULL)
		return -1;
	child = fork();
	if (child == 0) {
		dup2(fileno(output), STDOUT_FILENO);
		dup2(fileno(output), STDERR_FILENO);
		execv(arguments[0], (char *const *)arguments);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		status = -1;
	rewind(output);
	while (status != 0 && (byte = fgetc(output)) != EOF)
		fputc(byte, stderr);
	fclose(output);
	return status;
}

void pty_release(struct pty_screen *pty)
{
	if (!pty->ended) {
		kill(pty->child, SIGKILL);
		waitpid(pty->child, &pty->status, 0);
	}
	close_descriptor(&pty->child_descriptor);
	close_descriptor(&pty->master);
	close_descriptor(&pty->slave);
	close_descriptor(&pty->control);
	close_descriptor(&pty->answers);
	vterm_free(pty->terminal);
}

/* It ended by a signal, or where that is 0 with a status. */
static void expect_status(struct pty_screen *pty, int signal, int status)
{
	pty_wait_end(pty);
	assert_int_equal(WIFSIGNALED(pty->status) ? WTERMSIG(pty->status) : 0, signal);
	if (signal == 0)
		assert_int_equal(WEXITSTATUS(pty->status), status);
}

void pty_expect_end(struct pty_screen *pty, int signal, int status)
{
	expect_status(pty, signal, status);
	pty_expect_restored(pty);
	pty_release(pty);
}

void pty_quit(struct pty_screen *pty)
{
	pty_type(pty, "\x03");
	pty_expect_end(pty, 0, 0);
}

void pty_take_away(struct pty_screen *pty)
{
	close_descriptor(&pty->master);
	close_descriptor(&pty->slave);
	expect_status(pty, SIGHUP, 0);
	pty_release(pty);
}

bool pty_is_ascii(struct pty_screen *pty)
{
	for (int row = 0; row < pty->rows; row++) {
		for (const char *text = pty_row(pty, row); *text != '\0'; text++) {
			if ((unsigned char)*text >= 0x80)
				return false;
		}
	}
	return true;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Follows the marks of synchronised updates, which libvterm does not know. */
static void follow_update(struct pty_screen *pty, char byte)
{
	static const char mark[] = "\033[?2026";

	if (pty->update_bytes == strlen(mark) && (byte == 'h' || byte == 'l')) {
		pty->is_updating = byte == 'h';
		pty->updates += pty->is_updating;
	}
	if (pty->update_bytes < strlen(mark) && byte == mark[pty->update_bytes])
		pty->update_bytes++;
	else
		pty->update_bytes = byte == mark[0];
}

static void take_output(struct pty_screen *pty)
{
	char bytes[8192];
	ssize_t length = read(pty->master, bytes, sizeof(bytes));

	if (length > 0) {
		pty->bytes += (uint64_t)length;
		for (ssize_t i = 0; i < length; i++)
			follow_update(pty, bytes[i]);
		vterm_input_write(pty->terminal, bytes, (size_t)length);
	}
}

static void take_answers(struct pty_screen *pty)
{
	ssize_t length;

	/* nobody waits for the older half */
	if (pty->pending_length > sizeof(pty->pending) / 2) {
		size_t dropped = pty->pending_length / 2;

		pty->pending_length -= dropped;
		memmove(pty->pending, pty->pending + dropped, pty->pending_length);
	}
	length = read(pty->answers, pty->pending + pty->pending_length,
		      sizeof(pty->pending) - pty->pending_length - 1);
	if (length > 0)
		pty->pending_length += (size_t)length;
	else
		close_descriptor(&pty->answers);
	pty->pending[pty->pending_length] = '\0';
}

/* Takes in one step of whatever arrives first. Returns false when nothing did in time. */
static bool step(struct pty_screen *pty, int milliseconds)
{
	struct pollfd waits[] = {
		{.fd = pty->hung_up ? -1 : pty->master, .events = POLLIN},
		{.fd = pty->answers, .events = POLLIN},
		{.fd = pty->ended ? -1 : pty->child_descriptor, .events = POLLIN},
	};

	if (poll(waits, 3, milliseconds) <= 0)
		return false;
	if ((waits[0].revents & POLLIN) != 0)
		take_output(pty);
	else if ((waits[0].revents & POLLHUP) != 0)
		pty->hung_up = true;
	if ((waits[1].revents & (POLLIN | POLLHUP)) != 0)
		take_answers(pty);
	/* only when all it sent was taken in */
	if ((waits[0].revents & POLLIN) == 0 && (waits[2].revents & POLLIN) != 0) {
		pty->ended = true;
		waitpid(pty->child, &pty->status, 0);
	}
	return true;
}

/* What each thread of the program waits in: whether it hangs, or waits for what does not come. */
static void print_threads(const struct pty_screen *pty)
{
	static const char *const names[] = {"comm", "wchan", "syscall"};
	char path[64];
	struct dirent *entry;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pty->child);
	threads = opendir(path);
	while (threads != NULL && (entry = readdir(threads)) != NULL) {
		if (*entry->d_name == '.')
			continue;
		fprintf(stderr, "thread %s", entry->d_name);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			char text[128] = "";
			int descriptor, directory = dirfd(threads);

			snprintf(path, sizeof(path), "%.20s/%s", entry->d_name, names[i]);
			descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC);
			if (descriptor >= 0 && read(descriptor, text, sizeof(text) - 1) > 0)
				text[strcspn(text, "\n")] = '\0';
			close(descriptor);
			fprintf(stderr, " %s", text);
		}
		fprintf(stderr, "\n");
	}
	if (threads != NULL)
		closedir(threads);
}

void pty_print(struct pty_screen *pty)
{
	for (int row = 0; row < pty->rows; row++)
		fprintf(stderr, "%3d|%s\n", row, pty_row(pty, row));
	print_threads(pty);
}

static bool is_stopped(const struct pty_screen *pty)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pty->child, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pty->child;
}

/* Takes the first answer line that begins with the text, and the lines before it unless they are kept. */
static bool take_line(struct pty_screen *pty, const char *text, bool keeps_others)
{
	size_t start = 0;
	const char *newline;

	while ((newline = memchr(pty->pending + start, '\n', pty->pending_length - start)) != NULL) {
		const size_t end = (size_t)(newline - pty->pending) + 1;
		const bool found = strncmp(pty->pending + start, text, strlen(text)) == 0;

		if (found || !keeps_others) {
			memmove(pty->pending + start, pty->pending + end, pty->pending_length - end);
			pty->pending_length -= end - start;
		} else {
			start = end;
		}
		if (found)
			return true;
	}
	return false;
}

void pty_sync(struct pty_screen *pty)
{
	static unsigned int number;
	const int64_t end = now_ms() + DEADLINE_MS;
	char line[32];
	const int length = snprintf(line, sizeof(line), "sync %u\n", ++number);

	if (pty->control < 0 || pty->ended || write(pty->control, line, (size_t)length) != length)
		return;
	while (!take_line(pty, line, true)) {
		if (pty->ended)
			return;
		/* what it wrote before it stopped may not have been read */
		if (is_stopped(pty))
			break;
		if (!step(pty, CONDITION_MS) && now_ms() >= end) {
			pty_print(pty);
			fail_msg("the program does not answer");
		}
	}
	/* looking at a terminal waits for what the kernel has not handed over yet (n_tty_poll()) */
	while (step(pty, 0))
		;
}

void pty_wait(struct pty_screen *pty, bool (*condition)(struct pty_screen *pty, const void *context),
	      const void *context, const char *what)
{
	int64_t end = now_ms() + DEADLINE_MS;

	pty_sync(pty);
	while (!condition(pty, context)) {
		/* some conditions (a stopped process) change without a word to read */
		if (!step(pty, CONDITION_MS) && now_ms() >= end) {
			pty_print(pty);
			fail_msg("did not happen in time: %s (program %s, status %x)", what,
				 pty->ended ? "ended" : "runs", (unsigned int)pty->status);
		}
		pty_sync(pty);
	}
}

void pty_type_until(struct pty_screen *pty, const char *keys,
		    bool (*condition)(struct pty_screen *pty, const void *context), const void *context)
{
	const int64_t end = now_ms() + DEADLINE_MS;

	while (!condition(pty, context)) {
		const int64_t again = now_ms() + REPEAT_MS;

		if (again > end) {
			pty_print(pty);
			fail_msg("typed again and again in vain: %s", keys);
		}
		pty_type(pty, keys);
		while (!condition(pty, context) && now_ms() < again)
			step(pty, (int)(again - now_ms()) + 1);
	}
}

bool pty_has_text(struct pty_screen *pty, const void *context)
{
	return pty_find(pty, context, NULL) >= 0;
}

bool pty_has_no_text(struct pty_screen *pty, const void *context)
{
	return pty_find(pty, context, NULL) < 0;
}

static bool has_ended(struct pty_screen *pty, const void *context)
{
	(void)context;
	return pty->ended;
}

bool pty_is_stopped(struct pty_screen *pty, const void *context)
{
	(void)context;
	return is_stopped(pty);
}

void pty_continue_in_background(struct pty_screen *pty)
{
	kill(pty->child, SIGUSR1);
	kill(pty->child, SIGCONT);
}

bool pty_is_on_screen(struct pty_screen *pty, const void *context)
{
	(void)context;
	return pty->alternate_screen;
}

static bool selects(struct pty_screen *pty, const void *context)
{
	const int row = pty_selected_row(pty);

	return row >= 0 && strstr(pty_row(pty, row), context) != NULL;
}

void pty_wait_selected(struct pty_screen *pty, const char *text)
{
	pty_wait(pty, selects, text, text);
}

void pty_wait_text(struct pty_screen *pty, const char *text)
{
	pty_wait(pty, pty_has_text, text, text);
}

void pty_wait_no_text(struct pty_screen *pty, const char *text)
{
	pty_wait(pty, pty_has_no_text, text, text);
}

void pty_search(struct pty_screen *pty, const char *text)
{
	char prompt[ROW_BYTES], found[ROW_BYTES];

	snprintf(prompt, sizeof(prompt), "search: %s", text);
	snprintf(found, sizeof(found), ": %s   n: next", text);
	pty_type(pty, "/");
	pty_type(pty, text);
	pty_wait_text(pty, prompt);
	pty_type(pty, "\r");
	pty_wait_text(pty, found);
}

int pty_wait_end(struct pty_screen *pty)
{
	pty_wait(pty, has_ended, NULL, "the end of the program");
	return pty->status;
}

uint64_t pty_drain(struct pty_screen *pty, int milliseconds)
{
	uint64_t before = pty->bytes;
	int64_t end = now_ms() + milliseconds;

	while (now_ms() < end)
		step(pty, (int)(end - now_ms()) + 1);
	return pty->bytes - before;
}

void pty_type(struct pty_screen *pty, const char *bytes)
{
	assert_int_equal(write(pty->master, bytes, strlen(bytes)), strlen(bytes));
}

void pty_show(struct pty_screen *pty, const char *keys, const char *text)
{
	pty_type(pty, keys);
	pty_wait_text(pty, text);
}

void pty_hide(struct pty_screen *pty, const char *keys, const char *text)
{
	pty_type(pty, keys);
	pty_wait_no_text(pty, text);
}

void pty_command(struct pty_screen *pty, const char *line)
{
	if (write(pty->control, line, strlen(line)) != (ssize_t)strlen(line) ||
	    write(pty->control, "\n", 1) != 1) {
		pty_wait_end(pty);
		fail_msg("the program ended (status %x) before: %s", (unsigned int)pty->status, line);
	}
}

/* Takes answer lines up to and with the one that begins with the text. */
static bool has_answer(struct pty_screen *pty, const void *context)
{
	return take_line(pty, context, false);
}

void pty_wait_answer(struct pty_screen *pty, const char *text)
{
	pty_wait(pty, has_answer, text, text);
}

void pty_resize(struct pty_screen *pty, int rows, int columns)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

	pty->rows = rows;
	pty->columns = columns;
	set_terminal_size(pty);
	assert_int_equal(ioctl(pty->master, TIOCSWINSZ, &size), 0);
}

static VTermScreenCell cell_at(struct pty_screen *pty, int row, int column)
{
	VTermScreenCell cell;

	memset(&cell, 0, sizeof(cell));
	vterm_screen_get_cell(pty->screen, (VTermPos){.row = row, .col = column}, &cell);
	return cell;
}

/* The text of a row without blanks at its end. */
static void row_text(struct pty_screen *pty, int row, char text[static ROW_BYTES])
{
	const VTermRect line = {.start_row = row, .end_row = row + 1, .end_col = pty->columns};
	size_t length = vterm_screen_get_text(pty->screen, text, ROW_BYTES - 1, line);

	while (length != 0 && text[length - 1] == ' ')
		length--;
	text[length] = '\0';
}

/* The cell that a byte of a row's text belongs to. */
static int column_of(struct pty_screen *pty, int row, size_t byte)
{
	for (int column = 0, width; column < pty->columns; column += width) {
		const VTermRect cell = {row, row + 1, column, column + 1};
		char text[64];
		const size_t length = vterm_screen_get_text(pty->screen, text, sizeof(text), cell);

		/* an erased cell has no text */
		if (byte < (length != 0 ? length : 1))
			return column;
		byte -= length != 0 ? length : 1;
		width = cell_at(pty, row, column).width > 1 ? 2 : 1;
	}
	return pty->columns;
}

const char *pty_row(struct pty_screen *pty, int row)
{
	static char texts[4][ROW_BYTES];
	static unsigned int next;
	char *text = texts[next++ % 4];

	row_text(pty, row, text);
	return text;
}

int pty_find(struct pty_screen *pty, const char *text, int *ret_column)
{
	char line[ROW_BYTES];

	for (int row = 0; row < pty->rows; row++) {
		const char *found;

		row_text(pty, row, line);
		found = strstr(line, text);
		if (found == NULL)
			continue;
		if (ret_column != NULL)
			*ret_column = column_of(pty, row, (size_t)(found - line));
		return row;
	}
	return -1;
}

bool pty_is_reverse(struct pty_screen *pty, int row, int column)
{
	return cell_at(pty, row, column).attrs.reverse != 0;
}

bool pty_is_bold(struct pty_screen *pty, int row, int column)
{
	return cell_at(pty, row, column).attrs.bold != 0;
}

bool pty_is_colored(struct pty_screen *pty, int row, int column)
{
	VTermScreenCell cell = cell_at(pty, row, column);

	return !VTERM_COLOR_IS_DEFAULT_FG(&cell.fg) || !VTERM_COLOR_IS_DEFAULT_BG(&cell.bg);
}

static int color_number(const VTermColor *color, bool is_default)
{
	if (is_default)
		return PTY_COLOR_DEFAULT;
	if (VTERM_COLOR_IS_INDEXED(color))
		return color->indexed.idx;
	return PTY_COLOR_RGB + (color->rgb.red << 16 | color->rgb.green << 8 | color->rgb.blue);
}

int pty_foreground(struct pty_screen *pty, int row, int column)
{
	VTermScreenCell cell = cell_at(pty, row, column);

	return color_number(&cell.fg, VTERM_COLOR_IS_DEFAULT_FG(&cell.fg));
}

int pty_background(struct pty_screen *pty, int row, int column)
{
	VTermScreenCell cell = cell_at(pty, row, column);

	return color_number(&cell.bg, VTERM_COLOR_IS_DEFAULT_BG(&cell.bg));
}

int pty_selected_row(struct pty_screen *pty)
{
	for (int row = 1; row < pty->rows; row++) {
		/* the bar of the cursor reaches the first cells and the last one; tabs and titles do not */
		if (pty_is_reverse(pty, row, 0) && pty_is_reverse(pty, row, pty->columns - 1))
			return row;
	}
	return -1;
}

/* Reads libvterm's mark for the beginning or end of a paste; empty unless the program requested marks. */
static size_t make_paste_mark(struct pty_screen *pty, void (*make)(VTerm *terminal), char *mark, size_t size)
{
	/* drop earlier answers of the terminal */
	while (vterm_output_read(pty->terminal, mark, size) != 0)
		;
	make(pty->terminal);
	return vterm_output_read(pty->terminal, mark, size);
}

void pty_paste(struct pty_screen *pty, const char *text)
{
	struct {
		char bytes[32];
		size_t length;
	} begin, end;
	char whole[4096];

	begin.length = make_paste_mark(pty, vterm_keyboard_start_paste, begin.bytes, sizeof(begin.bytes));
	end.length = make_paste_mark(pty, vterm_keyboard_end_paste, end.bytes, sizeof(end.bytes));
	snprintf(whole, sizeof(whole), "%.*s%s%.*s", (int)begin.length, begin.bytes, text, (int)end.length,
		 end.bytes);
	pty_type(pty, whole);
}

/* What was sent last may arrive after the news that the program ended: the kernel hands it over from a
 * worker. */
static bool shows_ordinary_screen(struct pty_screen *pty, const void *context)
{
	char mark[32];

	(void)context;
	return !pty->alternate_screen && pty->cursor_visible && !pty->mouse && !pty->is_updating &&
	       make_paste_mark(pty, vterm_keyboard_start_paste, mark, sizeof(mark)) == 0;
}

void pty_expect_restored(struct pty_screen *pty)
{
	struct termios modes;

	pty_wait(pty, shows_ordinary_screen, NULL,
		 "the ordinary screen with its cursor, and without reports of the mouse and marks of pastes");
	assert_int_equal(tcgetattr(pty->slave, &modes), 0);
	assert_int_equal(modes.c_iflag, pty->modes.c_iflag);
	assert_int_equal(modes.c_oflag, pty->modes.c_oflag);
	assert_int_equal(modes.c_lflag, pty->modes.c_lflag);
	assert_int_equal(modes.c_cflag, pty->modes.c_cflag);
}
