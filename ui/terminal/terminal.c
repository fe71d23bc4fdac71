/* SPDX-License-Identifier: GPL-2.0-only */
#include "terminal.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/unicode.h"

#include "crash_guard.h"
#include "signal_pipe.h"

enum {
	ESCAPE_DELAY_MS = 50,
	PASTE_ESCAPE_DELAY_MS = 500, /* in a paste: its end mark may arrive in pieces */
	SEQUENCE_SILENCE_MS = 100,   /* a longer pause ends a sequence */
	STRING_BYTES_MAX = 1 << 20,
	RESET_BYTES_MAX = 256,
	/* calls in a row, each after poll() reported input, that found none: the other end is closed */
	EMPTY_READS_MAX = 4
};

/*
 * Reports of the mouse: a press of a button in the SGR form, ESC [ < buttons ; column ; row M, and its
 * release with m ("Mouse Tracking" of XTerm Control Sequences, ctlseqs.txt). A terminal that does not know
 * that form sends ESC [ M and three characters: buttons, column and row plus 32.
 */
enum mouse_form {
	MOUSE_FORM_NONE,
	MOUSE_FORM_SGR,
	MOUSE_FORM_PLAIN,
	MOUSE_FORM_COUNT,
};

static const char *const mouse_beginnings[MOUSE_FORM_COUNT] = {
	[MOUSE_FORM_SGR] = "\033[<",
	[MOUSE_FORM_PLAIN] = "\033[M",
};

/* Asks for reports of buttons and wheel in the SGR form, and for none. */
static const char mouse_on[] = "\033[?1000h\033[?1006h", mouse_off[] = "\033[?1006l\033[?1000l";

/*
 * Switch on and off the marks around pasted text ("Bracketed Paste Mode" of XTerm Control Sequences). Without
 * marks, pasted text looks like keys.
 */
static const char paste_marks_on[] = "\033[?2004h", paste_marks_off[] = "\033[?2004l";

/*
 * Begin and end a synchronised update: the terminal shows everything between them at once. ctop first asks
 * whether the terminal has this mode (DECRQM of XTerm Control Sequences). The answers are those of a terminal
 * that has it and can switch it, now on or off.
 */
static const char update_begin[] = "\033[?2026h", update_end[] = "\033[?2026l";
static const char update_question[] = "\033[?2026$p";
static const char *const update_answers[] = {"\033[?2026;1$y", "\033[?2026;2$y"};

/* After this pause, Esc and Ctrl-C end a paste whose end mark got lost. */
#define PASTE_SILENCE_NS NS_PER_S

enum {
	/* key codes from curses for the start of a mouse report (plus its form), for paste marks and for the
	 * answers of a terminal that has synchronised updates */
	MOUSE_KEY = 0x2000,
	PASTE_BEGIN_KEY = MOUSE_KEY + MOUSE_FORM_COUNT,
	PASTE_END_KEY,
	UPDATE_KEY,
	MOUSE_NUMBERS = 3,
	CONTROL_C = 'C' & 0x1f,
	BUTTON_LEFT = 0,
	BUTTON_WHEEL_UP = 64,
	BUTTON_WHEEL_DOWN = 65,
	BUTTON_RELEASED = 3, /* in the plain form, which does not say which */
	PLAIN_OFFSET = 32,
	COORDINATE_MAX = 1 << 15,
};

/* A report that is coming in. */
struct mouse_report {
	enum mouse_form form;
	uint32_t numbers[MOUSE_NUMBERS];
	int count;
};

/* A text that is being pasted. */
struct paste {
	bool open;
	bool begun;        /* some text has been read */
	bool gap;          /* line ends or tabs followed; they become a blank if more text comes */
	uint64_t taken_ns; /* time of the last character, CLOCK_MONOTONIC */
};

static struct {
	SCREEN *screen;
	FILE *input;  /* owned when it is /dev/tty */
	FILE *output; /* a stream of our own on stdout's descriptor, as curses sets its buffering */
	struct termios modes;
	bool modes_known;
	bool suspended; /* another program has the terminal: nothing is sent, no mode is set */
	int empty_reads;
	char reset[RESET_BYTES_MAX];
	size_t reset_length;
	bool mouse;                 /* it is reported */
	bool paste_marks;           /* the terminal was asked to mark pastes */
	bool updates;               /* the terminal has synchronised updates */
	bool repaint;               /* the next frame is to be whole */
	struct mouse_report report; /* that is coming in */
	struct paste paste;
	struct pointer pointer;
} terminal;

static int append_reset_byte(int byte)
{
	if (terminal.reset_length < sizeof(terminal.reset))
		terminal.reset[terminal.reset_length++] = (char)byte;
	return byte;
}

/* Ends the screen: attributes off, keypad and cursor as usual, back to the ordinary screen. */
static void prepare_reset(void)
{
	static const char *const capabilities[] = {"sgr0", "op", "rmkx", "rmcup", "cnorm"};

	terminal.reset_length = 0;
	for (size_t i = 0; i < ARRAY_COUNT(capabilities); i++) {
		const char *text = tigetstr(capabilities[i]);

		if (text != NULL && text != (const char *)-1)
			tputs(text, 1, append_reset_byte);
	}
}

/* Sends what is no capability, at once. */
static void send_text(const char *text)
{
	fputs(text, terminal.output);
	fflush(terminal.output);
}

/* Switches mouse reports and paste marks on or off, if they are used. Off also ends an unfinished update. */
static void ask_for_reports(bool wanted)
{
	if (terminal.updates && !wanted)
		send_text(update_end);
	if (terminal.mouse)
		send_text(wanted ? mouse_on : mouse_off);
	if (terminal.paste_marks)
		send_text(wanted ? paste_marks_on : paste_marks_off);
}

/* Appends to the bytes that reset the terminal. */
static void append_reset(const char *text)
{
	while (*text != '\0')
		append_reset_byte(*text++);
}

static FILE *open_stream(int descriptor, const char *mode)
{
	int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);

	return copy >= 0 ? fdopen(copy, mode) : NULL;
}

/*
 * Waits until this process is in the foreground. In the background, tcdrain(3) stops the process (SIGTTOU),
 * and a deadly signal interrupts the call; curses would retry its own call and be stopped again. Returns 0,
 * or the number of the signal.
 */
static int wait_for_foreground(void)
{
	int deadly = signal_pipe_deadly();

	while (deadly == 0 && tcdrain(fileno(terminal.output)) < 0 && errno == EINTR)
		deadly = signal_pipe_deadly();
	return deadly;
}

static int open_streams(struct error *error)
{
	if (isatty(STDIN_FILENO)) {
		terminal.input = open_stream(STDIN_FILENO, "r");
	} else {
		int descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC);

		terminal.input = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
	}
	if (terminal.input == NULL)
		return error_set(error, -errno,
				 "no terminal for keys: standard input is not one, and /dev/tty: %s; use -b",
				 strerror(errno));
	terminal.output = open_stream(STDOUT_FILENO, "w");
	if (terminal.output == NULL)
		return error_set(error, -errno, "cannot use standard output: %s", strerror(errno));
	return 0;
}

static int start_curses(struct error *error)
{
	const char *name = getenv("TERM");
	const char *move;
	int status;

	if (name == NULL || *name == '\0')
		return error_set(error, -EINVAL, "TERM is not set; try TERM=xterm-256color ctop");
	terminal.screen = newterm(name, terminal.output, terminal.input);
	if (terminal.screen == NULL && setupterm(name, fileno(terminal.output), &status) == OK)
		return error_set(error, -EINVAL,
				 "the screen is too large: unset LINES and COLUMNS, or make the terminal "
				 "smaller");
	if (terminal.screen == NULL)
		return error_set(error, -EINVAL, "unknown terminal '%.64s'; try TERM=xterm-256color ctop",
				 name);
	move = tigetstr("cup");
	if (move == NULL || move == (const char *)-1)
		return error_set(error, -EINVAL,
				 "terminal '%.64s' cannot move its cursor; use ctop -b, or try "
				 "TERM=xterm-256color ctop",
				 name);
	return 0;
}

static void define_key_if_unknown(const char *sequence, int key)
{
	if (key_defined(sequence) == 0)
		define_key(sequence, key);
}

/*
 * What terminals send besides what is in their description: the other cursor key mode, and the Home and End
 * of consoles, when TERM does not quite fit (a session over ssh, inside a multiplexer).
 */
static void define_more_keys(void)
{
	static const struct {
		const char *sequence;
		int key;
	} more[] = {
		{"\033[A", KEY_UP},    {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT},  {"\033[D", KEY_LEFT},
		{"\033OA", KEY_UP},    {"\033OB", KEY_DOWN}, {"\033OC", KEY_RIGHT},  {"\033OD", KEY_LEFT},
		{"\033[H", KEY_HOME},  {"\033[F", KEY_END},  {"\033OH", KEY_HOME},   {"\033OF", KEY_END},
		{"\033[1~", KEY_HOME}, {"\033[4~", KEY_END}, {"\033[5~", KEY_PPAGE}, {"\033[6~", KEY_NPAGE},
		{"\033[3~", KEY_DC},   {"\033[Z", KEY_BTAB},
	};
	static const struct {
		char letter;
		int key;
	} held[] = {
		{'A', KEY_UP},   {'B', KEY_DOWN}, {'C', KEY_RIGHT},
		{'D', KEY_LEFT}, {'H', KEY_HOME}, {'F', KEY_END},
	};

	for (size_t i = 0; i < ARRAY_COUNT(more); i++)
		define_key_if_unknown(more[i].sequence, more[i].key);
	/* F1 to F5 of the Linux console (console_codes(4)) */
	for (char letter = 'A'; letter <= 'E'; letter++)
		define_key_if_unknown((char[]){'\033', '[', '[', letter, '\0'}, KEY_F(letter - 'A' + 1));
	/* with Shift, Alt, Ctrl and each two or three of them, as xterm says it: else these are keys one by
	 * one */
	for (char modifiers = '2'; modifiers <= '8'; modifiers++) {
		for (size_t i = 0; i < ARRAY_COUNT(held); i++) {
			char sequence[] = "\033[1;m_";

			sequence[4] = modifiers;
			sequence[5] = held[i].letter;
			define_key_if_unknown(sequence, held[i].key);
		}
	}
	define_key_if_unknown("\033[200~", PASTE_BEGIN_KEY);
	define_key_if_unknown("\033[201~", PASTE_END_KEY);
	for (size_t i = 0; i < ARRAY_COUNT(update_answers); i++)
		define_key_if_unknown(update_answers[i], UPDATE_KEY);
	/* Keeps curses from handling mouse reports itself. Needed even without a mouse: another program may
	 * have left reports on. */
	for (enum mouse_form form = MOUSE_FORM_NONE + 1; form < MOUSE_FORM_COUNT; form++) {
		const int known = key_defined(mouse_beginnings[form]);

		if (known == 0 || known == KEY_MOUSE) {
			define_key(mouse_beginnings[form], 0);
			define_key(mouse_beginnings[form], MOUSE_KEY + (int)form);
		}
	}
}

/* Whether the terminal uses ECMA-48 control sequences, and so ignores private modes that it lacks. */
static bool has_control_sequences(void)
{
	return strncmp(tigetstr("cup"), "\033[", 2) == 0;
}

static void set_modes(void)
{
	/* raw: Ctrl-C, Ctrl-Z and Ctrl-L arrive as keys, and Ctrl-S cannot freeze the screen */
	raw();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	define_more_keys();
	nodelay(stdscr, TRUE);
	curs_set(0);
	/* curses switches to its screen now, and has nothing left to draw when a key is read */
	refresh();
}

int terminal_open(struct error *error)
{
	int result;

	memset(&terminal, 0, sizeof(terminal));
	result = open_streams(error);
	if (result == 0)
		result = wait_for_foreground();
	if (result != 0) {
		terminal_close();
		return result;
	}
	terminal.modes_known = tcgetattr(fileno(terminal.output), &terminal.modes) == 0;
	result = start_curses(error);
	if (result < 0) {
		terminal_close();
		return result;
	}
	prepare_reset();
	set_escdelay(ESCAPE_DELAY_MS);
	set_modes();
	terminal.paste_marks = has_control_sequences();
	if (terminal.paste_marks) {
		append_reset(update_end);
		append_reset(paste_marks_off);
		/* the first frame clears the screen of a terminal that shows part of an unknown question */
		send_text(update_question);
	}
	terminal.repaint = true;
	ask_for_reports(true);
	return 0;
}

static int put_output_byte(int byte)
{
	return putc(byte, terminal.output);
}

/*
 * Back to the ordinary screen. Some terminals keep the visibility of the cursor with each of their screens,
 * so it is asked for once more.
 */
static void leave_screen(void)
{
	ask_for_reports(false);
	/* without a screen to go back to, what is typed next would stand before the hints */
	if (exit_ca_mode == NULL && !isendwin() && cursor_address != NULL && clr_eol != NULL) {
		tputs(tiparm(cursor_address, LINES - 1, 0), 1, put_output_byte);
		tputs(clr_eol, 1, put_output_byte);
		fflush(terminal.output);
	}
	endwin();
	if (cursor_normal != NULL)
		tputs(cursor_normal, 1, put_output_byte);
	fflush(terminal.output);
}

void terminal_use_mouse(void)
{
	const char *known = tigetstr("kmous");

	if (known == NULL || known == (const char *)-1)
		return;
	append_reset(mouse_off);
	terminal.mouse = true;
	send_text(mouse_on);
}

struct pointer terminal_pointer(void)
{
	return terminal.pointer;
}

void terminal_close(void)
{
	if (terminal.screen != NULL) {
		const bool is_ours = !terminal.suspended &&
				     !crash_guard_is_in_background(fileno(terminal.output));

		if (is_ours)
			leave_screen();
		delscreen(terminal.screen);
		if (terminal.modes_known && is_ours)
			tcsetattr(fileno(terminal.output), TCSANOW, &terminal.modes);
	}
	crash_guard_clear();
	if (terminal.input != NULL)
		fclose(terminal.input);
	if (terminal.output != NULL)
		fclose(terminal.output);
	memset(&terminal, 0, sizeof(terminal));
}

void terminal_guard(int standard_error, int captured_error)
{
	crash_guard_set(&(struct crash_guard_state){
		.terminal = fileno(terminal.output),
		.modes = terminal.modes,
		.reset = terminal.reset,
		.reset_length = terminal.reset_length,
		.standard_error = standard_error,
		.captured_error = captured_error,
	});
}

int terminal_input(void)
{
	return fileno(terminal.input);
}

int terminal_output(void)
{
	return fileno(terminal.output);
}

const char *terminal_update_mark(bool begins)
{
	return !terminal.updates ? "" : begins ? update_begin : update_end;
}

void terminal_send(const char *bytes, size_t length)
{
	while (length != 0) {
		const ssize_t written = write(terminal_output(), bytes, length);

		if (written > 0) {
			bytes += written;
			length -= (size_t)written;
		} else if (written < 0 && errno == EAGAIN) {
			/* another program that shares the terminal may have made it non-blocking */
			poll(&(struct pollfd){.fd = terminal_output(), .events = POLLOUT}, 1, -1);
		} else if (written == 0 || errno != EINTR) {
			/* mostly the terminal is gone, as the loop will see */
			terminal.repaint = true;
			return;
		}
	}
}

/* --- keys and mouse --- */

/* The report is complete; returns whether it is of more than the release of a button. */
static bool finish_report(struct mouse_report *report, bool released, struct pointer *ret_pointer)
{
	const uint32_t *numbers = report->numbers;

	report->form = MOUSE_FORM_NONE;
	if (released || numbers[0] == BUTTON_RELEASED || numbers[1] == 0 || numbers[2] == 0)
		return false;
	*ret_pointer = (struct pointer){
		.event = numbers[0] == BUTTON_LEFT         ? POINTER_PRESS
			 : numbers[0] == BUTTON_WHEEL_UP   ? POINTER_WHEEL_UP
			 : numbers[0] == BUTTON_WHEEL_DOWN ? POINTER_WHEEL_DOWN
							   : POINTER_OTHER,
		.x = (int)numbers[1] - 1,
		.y = (int)numbers[2] - 1,
	};
	return true;
}

static bool take_plain(struct mouse_report *report, uint32_t character, struct pointer *ret_pointer)
{
	if (character < PLAIN_OFFSET || character > COORDINATE_MAX) {
		report->form = MOUSE_FORM_NONE;
		return false;
	}
	report->numbers[report->count++] = character - PLAIN_OFFSET;
	return report->count == MOUSE_NUMBERS && finish_report(report, false, ret_pointer);
}

/* Takes the next character of a report. Returns whether it completes one of something that a user did. */
static bool take_mouse(struct mouse_report *report, uint32_t character, struct pointer *ret_pointer)
{
	if (report->form == MOUSE_FORM_PLAIN)
		return take_plain(report, character, ret_pointer);
	/* parameters, up to the character that ends a control sequence (ECMA-48, 5.4), are part of it */
	if (character >= ' ' && character < '@') {
		uint32_t *number = &report->numbers[report->count < MOUSE_NUMBERS ? report->count : 0];

		if (character == ';' && report->count < MOUSE_NUMBERS)
			report->count++;
		else if (character < '0' || character > '9')
			report->count = MOUSE_NUMBERS;
		else if (*number < COORDINATE_MAX)
			*number = *number * 10 + (character - '0');
		return false;
	}
	if ((character == 'M' || character == 'm') && report->count + 1 == MOUSE_NUMBERS)
		return finish_report(report, character == 'm', ret_pointer);
	report->form = MOUSE_FORM_NONE;
	return false;
}

/* Puts back a character or key that get_wch() returned. */
static void put_back(int kind, wint_t typed)
{
	if (kind == KEY_CODE_YES)
		ungetch((int)typed);
	else if (kind == OK)
		unget_wch((wchar_t)typed);
}

static void set_paste(bool open)
{
	terminal.paste = (struct paste){.open = open, .taken_ns = clock_ns(CLOCK_MONOTONIC)};
	set_escdelay(open ? PASTE_ESCAPE_DELAY_MS : ESCAPE_DELAY_MS);
}

/* Whether a character or key belongs to the open paste. Esc and Ctrl-C after a pause end the paste. */
static bool is_pasted(int kind, wint_t typed)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (kind == OK && (typed == KEY_ESCAPE || typed == CONTROL_C) &&
	    now - terminal.paste.taken_ns > PASTE_SILENCE_NS)
		set_paste(false);
	terminal.paste.taken_ns = now;
	return terminal.paste.open;
}

/* Handles the next character of a paste. Returns true if `*typed` is text to insert; other characters are
 * dropped. */
static bool take_pasted(struct paste *paste, int kind, wint_t *typed)
{
	if (kind != OK || unicode_is_control((uint32_t)*typed)) {
		if (kind == OK && (*typed == '\n' || *typed == '\r' || *typed == '\t'))
			paste->gap = paste->begun;
		return false;
	}
	if (paste->gap) {
		put_back(kind, *typed);
		*typed = ' ';
	}
	paste->begun = true;
	paste->gap = false;
	return true;
}

/*
 * Returns the next character or key like get_wch(). A whole mouse report is one key. While a paste is open,
 * returns only its characters.
 */
static int read_typed(wint_t *typed)
{
	for (;;) {
		int kind;

		errno = 0;
		kind = get_wch(typed);
		if (kind == KEY_CODE_YES && (*typed == PASTE_BEGIN_KEY || *typed == PASTE_END_KEY)) {
			terminal.report.form = MOUSE_FORM_NONE;
			set_paste(*typed == PASTE_BEGIN_KEY);
			continue;
		}
		if (kind == KEY_CODE_YES && *typed == UPDATE_KEY) {
			terminal.updates = true;
			continue;
		}
		if (kind != ERR && terminal.paste.open && is_pasted(kind, *typed)) {
			if (take_pasted(&terminal.paste, kind, typed))
				return kind;
			continue;
		}
		if (kind == KEY_CODE_YES && *typed > MOUSE_KEY && *typed < MOUSE_KEY + MOUSE_FORM_COUNT) {
			terminal.report = (struct mouse_report){
				.form = (enum mouse_form)(*typed - MOUSE_KEY)};
			continue;
		}
		if (kind == KEY_CODE_YES)
			terminal.report.form = MOUSE_FORM_NONE;
		if (kind != OK || terminal.report.form == MOUSE_FORM_NONE)
			return kind;
		if (take_mouse(&terminal.report, (uint32_t)*typed, &terminal.pointer) && terminal.mouse) {
			*typed = KEY_POINTER - KEY_FUNCTION;
			return KEY_CODE_YES;
		}
	}
}

/* Whether that with Alt moves by words in a text, or deletes them. */
static bool is_of_words(int kind, wint_t typed)
{
	return kind == KEY_CODE_YES
		       ? typed == KEY_BACKSPACE || typed == KEY_DC || typed == KEY_LEFT || typed == KEY_RIGHT
		       : typed == 'b' || typed == 'f' || typed == 'd' || typed == '\b' || typed == 0x7f;
}

/*
 * Skips the rest of an unknown control sequence or function key, after an escape character and `first`.
 * Returns false and skips nothing if the next character does not continue it.
 */
static bool skip_control(wint_t first)
{
	wint_t next = 0;
	int kind = get_wch(&next);

	if (kind != OK || next < ' ' || next > '~') {
		put_back(kind, next);
		return false;
	}
	/* function keys of the Linux console are ESC [ [ and a letter */
	if (first == '[' && next == '[')
		kind = get_wch(&next);
	/* parameter and intermediate bytes (ECMA-48, 5.4); some terminals also send them after ESC O */
	while (kind == OK && next >= ' ' && next < '@')
		kind = get_wch(&next);
	if (kind != OK || next < '@' || next > '~')
		put_back(kind, next);
	return true;
}

/*
 * Skips the rest of a string that the terminal sends as an answer (ECMA-48, 5.6), up to BEL, ST or a pause.
 * Returns false if nothing follows.
 */
static bool skip_string(void)
{
	for (int taken = 0; taken < STRING_BYTES_MAX && signal_pipe_deadly() == 0; taken++) {
		/* not get_wch(), which fails on bytes outside valid UTF-8 */
		const int byte = getch();
		int next;

		if (byte == ERR)
			return taken != 0;
		if (byte == '\a')
			return true;
		if (byte < KEY_MIN && byte != KEY_ESCAPE)
			continue;
		next = byte == KEY_ESCAPE ? getch() : ERR;
		if (next == '\\')
			return true;
		/* a new sequence or key begins */
		if (next != ERR)
			ungetch(next);
		ungetch(byte);
		return taken != 0;
	}
	return true;
}

/*
 * Skips the rest of a key that ctop does not use, after its escape character: a control sequence unknown to
 * curses, an answer of the terminal or, while text is edited, Alt with a word key. Returns false and skips
 * nothing if the escape character is a key by itself.
 */
static bool skip_unknown_key(bool edits)
{
	wint_t first = 0;
	const int kind = get_wch(&first);
	bool skipped = false;

	if (kind == ERR || (edits && is_of_words(kind, first)))
		return kind != ERR;
	/* the rest may still arrive */
	timeout(SEQUENCE_SILENCE_MS);
	switch (kind == OK ? first : 0) {
	case '[':
	case 'O':
		skipped = skip_control(first);
		break;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		skipped = skip_string();
		break;
	}
	nodelay(stdscr, TRUE);
	if (!skipped)
		put_back(kind, first);
	return skipped;
}

/* Whether there is something to read: of a terminal that is gone there is not, though poll() reports input.
 */
static bool has_input(void)
{
	int bytes;

	return ioctl(terminal_input(), FIONREAD, &bytes) == 0 && bytes > 0;
}

enum terminal_key_result terminal_read_key(bool edits, int *ret_key)
{
	wint_t typed;
	int kind;

	/* get_wch() finds no key in bytes that are no UTF-8 either */
	if (has_input())
		terminal.empty_reads = 0;
	do {
		kind = read_typed(&typed);
	} while (kind == OK && typed == KEY_ESCAPE && skip_unknown_key(edits));
	if (kind == OK && terminal.paste.open) {
		terminal.empty_reads = 0;
		*ret_key = (int)typed;
		return TERMINAL_TEXT;
	}
	if (kind != ERR) {
		terminal.empty_reads = 0;
		*ret_key = kind == KEY_CODE_YES ? KEY_FUNCTION + (int)typed : (int)typed;
		/* one code for keys that terminals send in several ways */
		if (*ret_key == '\r' || *ret_key == KEY_FUNCTION + KEY_ENTER)
			*ret_key = '\n';
		else if (*ret_key == '\b' || *ret_key == 0x7f)
			*ret_key = KEY_FUNCTION + KEY_BACKSPACE;
		return TERMINAL_KEY;
	}
	if (errno == EIO || ++terminal.empty_reads > EMPTY_READS_MAX)
		return TERMINAL_GONE;
	return TERMINAL_NONE;
}

void terminal_take_size(void)
{
	struct winsize size;
	int height, width;

	if (ioctl(terminal_output(), TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
		return;
	height = size.ws_row;
	width = size.ws_col;
	/* resize_term(), since resizeterm() sends KEY_RESIZE, and the loop knows already */
	if (is_term_resized(height, width))
		resize_term(height, width);
	/* else curses would draw its blank window when a key is read */
	untouchwin(stdscr);
	/* even if the size is the same: it may have been another in between, and then cells are lost */
	terminal_repaint();
}

void terminal_repaint(void)
{
	terminal.repaint = true;
}

bool terminal_take_repaint(void)
{
	const bool repaint = terminal.repaint;

	terminal.repaint = false;
	return repaint;
}

static void set_suspended(bool suspended)
{
	terminal.suspended = suspended;
	crash_guard_pause(suspended);
}

int terminal_suspend(void)
{
	leave_screen();
	set_suspended(true);
	signal_pipe_stop_process();
	return terminal_resume();
}

int terminal_resume(void)
{
	int deadly;

	set_suspended(true);
	deadly = wait_for_foreground();
	if (deadly != 0)
		return deadly;
	/* the first refresh() after endwin() sets modes, cursor and screen up again */
	if (!isendwin())
		leave_screen();
	terminal_take_size();
	reset_prog_mode();
	ask_for_reports(true);
	set_suspended(false);
	refresh();
	/* refresh() takes the size from LINES and COLUMNS if the environment has them */
	terminal_take_size();
	return 0;
}

void terminal_show_cursor(bool visible)
{
	curs_set(visible ? 1 : 0);
}
