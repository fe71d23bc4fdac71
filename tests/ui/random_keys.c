/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * random_keys [--of live|file|comparison] [--seconds N] [--seed N]: the real ctop in a pseudo terminal, given
 * random keys, text, mouse reports and sizes. It must not end but by a key that quits and with status 0, must
 * answer, must leave the terminal as it was, and a sanitizer that it was built with must find nothing.
 *
 * The seed decides what is typed, not what the host and the scheduler do meanwhile. ctop works in a temporary
 * directory. Where this process may have a mount namespace of its own, all else is read-only for both.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "ui/terminal/keys.h"

#include "pty_screen.h"

enum {
	ANSWER_MS = 30000,
	INPUT_BYTES = 512,
	INPUTS_KEPT = 40,
	INPUTS_PER_CHECK = 100,
	KEYS_MAX = 256,
	ROWS_MAX = 100,
	COLUMNS_MAX = 400,
	OPTION_BYTES = PATH_MAX + 64,
};

enum subject {
	LIVE,
	FILE_ALONE,
	COMPARISON,
	SUBJECT_COUNT
};

static const char *const subjects[SUBJECT_COUNT] = {"live", "file", "comparison"};

/* What is typed into prompts, whichever is open: filters, columns, names of files. */
static const char *const texts[] = {
	"a",
	"ctop",
	"!k",
	"/^(a|b",
	"/worker.*",
	"cpu% > 50",
	"cpu% >= 1 and read_bytes >= 1M",
	"user = root",
	"user = nobody or pid = 1",
	"state = D",
	"pid = 99999999999999999999",
	"no_such_column < 3",
	"> > >",
	"and or and",
	"100%",
	"%s%n%d",
	"((((((((",
	"[[:alpha:",
	"\xc3\xa4\xc3\xb6\xc3\xbc\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
	"\xff\xfe\x80",
	"\033[200~ctop\r\nSq\033[201~",
	"\033]11;rgb:qqqq/qqqq/qqqq\033\\",
	"before.ctprof.zst",
	"after.ctprof.zst",
	"broken.ctprof.zst",
	"saved.ctprof.zst",
	"saved.html",
	"saved.json",
	"saved.md",
	"saved.csv",
	"missing",
	".",
	"",
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
	"012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678"
	"9",
};

/* What ends or begins a prompt's text besides typing. */
static const char *const accepts[] = {"\r", "\r", "\r", "\033", "\t\r", "\001\004\013\r", "\027\025\r"};

struct key {
	char bytes[8];
	bool quits;
};

struct input {
	char bytes[INPUT_BYTES];
	size_t length;
	int rows, columns; /* a resize instead of bytes where rows is not 0 */
	int pause_ms;      /* after it */
};

static enum subject subject = LIVE;
static unsigned long seconds = 6;
static uint64_t seed;

static char base[] = "/tmp/ctop-keys-XXXXXX";
static char work[PATH_MAX];
static char options_of_child[4][OPTION_BYTES];

static struct key keys[KEYS_MAX];
static size_t key_count;

static struct input kept[INPUTS_KEPT];
static uint64_t inputs;

static struct pty_screen pty;
static bool running, may_end, may_be_interrupted, succeeded;
static uint64_t random_state;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* splitmix64 */
static uint64_t next_random(void)
{
	uint64_t value = random_state += 0x9e3779b97f4a7c15;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static size_t below(size_t limit)
{
	return (size_t)(next_random() % limit);
}

/* The keys. */

static const struct {
	const char *name, *bytes;
} key_bytes[] = {
	/* terminfo's xterm-256color, keypad_xmit being on */
	{"Up", "\033OA"},    {"Down", "\033OB"},  {"Right", "\033OC"},     {"Left", "\033OD"},
	{"Home", "\033OH"},  {"End", "\033OF"},   {"Insert", "\033[2~"},   {"Delete", "\033[3~"},
	{"PgUp", "\033[5~"}, {"PgDn", "\033[6~"}, {"Shift-Tab", "\033[Z"}, {"Backspace", "\177"},
	{"Enter", "\r"},     {"Esc", "\033"},     {"Tab", "\t"},           {"Space", " "},
	{"F1", "\033OP"},    {"F2", "\033OQ"},    {"F3", "\033OR"},        {"F4", "\033OS"},
	{"F5", "\033[15~"},  {"F6", "\033[17~"},  {"F7", "\033[18~"},      {"F8", "\033[19~"},
	{"F9", "\033[20~"},  {"F10", "\033[21~"}, {"F11", "\033[23~"},     {"F12", "\033[24~"},
};

/* What a terminal sends for a key of keys.def. */
static void take_key(const char *name, size_t length)
{
	struct key *key = &keys[key_count];

	assert_true(key_count < KEYS_MAX);
	for (size_t i = 0; i < sizeof(key_bytes) / sizeof(key_bytes[0]); i++) {
		if (strlen(key_bytes[i].name) == length && memcmp(key_bytes[i].name, name, length) == 0)
			snprintf(key->bytes, sizeof(key->bytes), "%s", key_bytes[i].bytes);
	}
	if (length == 1)
		key->bytes[0] = *name;
	else if (length == strlen("Ctrl-X") && memcmp(name, "Ctrl-", length - 1) == 0)
		key->bytes[0] = (char)(name[length - 1] & 0x1f);
	if (key->bytes[0] == '\0')
		fail_msg("keys.def has a key that this program cannot press: %.*s", (int)length, name);
	key->quits = strcmp(key->bytes, "q") == 0 || strcmp(key->bytes, "\003") == 0 ||
		     strcmp(key->bytes, "\033[21~") == 0;
	key_count++;
}

static void take_keys(void)
{
	for (enum action action = 0; action < ACTION_COUNT; action++) {
		const char *names = ui_keys[action].keys;

		/* the first would stop ctop until somebody continues it; the second is pressed by save() only
		 */
		if (action == ACTION_SUSPEND || action == ACTION_SAVE)
			continue;
		while (*names != '\0') {
			size_t length = strcspn(names, " ");

			take_key(names, length);
			names += length;
			names += strspn(names, " ");
		}
	}
}

/* Inputs, each decided by the seed alone. */

static void append(struct input *input, const char *bytes)
{
	size_t length = strlen(bytes);

	if (input->length + length < INPUT_BYTES) {
		memcpy(input->bytes + input->length, bytes, length + 1);
		input->length += length;
	}
}

static void press(struct input *input)
{
	const struct key *key = &keys[below(key_count)];

	/* a ctop that has just started has been through little */
	while (key->quits && below(10) != 0)
		key = &keys[below(key_count)];
	append(input, key->bytes);
}

static void press_often(struct input *input)
{
	const struct key *key = &keys[below(key_count)];

	for (size_t count = key->quits ? 1 : 1 + below(20); count != 0; count--)
		append(input, key->bytes);
}

static void type_text(struct input *input)
{
	static const char *const opening[] = {"/", "\033OR", "D", "\033OS", "u", "s", "\033OQ/", ""};

	append(input, opening[below(sizeof(opening) / sizeof(opening[0]))]);
	append(input, texts[below(sizeof(texts) / sizeof(texts[0]))]);
	append(input, accepts[below(sizeof(accepts) / sizeof(accepts[0]))]);
}

/* The name is never left open to what comes next, which could make a path of it. */
static void save(struct input *input)
{
	static const char *const names[] = {
		"saved.ctprof.zst", "saved.html", "saved.json", "saved.md", "saved.csv", "saved", ""};

	append(input, "S\025");
	append(input, names[below(sizeof(names) / sizeof(names[0]))]);
	append(input, "\r\033");
	input->pause_ms = 100;
}

static void click(struct input *input)
{
	static const int buttons[] = {0, 0, 0, 1, 2, 35, 64, 65};
	const int button = buttons[below(sizeof(buttons) / sizeof(buttons[0]))];
	const size_t column = 1 + below(below(4) == 0 ? 1000 : 80), row = 1 + below(below(4) == 0 ? 300 : 24);
	char bytes[64];

	snprintf(bytes, sizeof(bytes), "\033[<%d;%zu;%zuM", button, column, row);
	append(input, bytes);
	if (button < 3) {
		snprintf(bytes, sizeof(bytes), "\033[<%d;%zu;%zum", button, column, row);
		append(input, bytes);
	}
}

static void resize(struct input *input)
{
	static const int sizes[][2] = {{1, 1},   {1, 400}, {100, 1},  {2, 2},    {3, 20},   {12, 40},
				       {24, 80}, {24, 80}, {36, 120}, {50, 200}, {100, 400}};
	const size_t size = below(2 * sizeof(sizes) / sizeof(sizes[0]));

	if (size < sizeof(sizes) / sizeof(sizes[0])) {
		input->rows = sizes[size][0];
		input->columns = sizes[size][1];
	} else {
		input->rows = 1 + (int)below(ROWS_MAX);
		input->columns = 1 + (int)below(COLUMNS_MAX);
	}
}

/* Anything at all, broken sequences among it. */
static void type_bytes(struct input *input)
{
	for (size_t count = 1 + below(12); count != 0; count--) {
		char bytes[2] = {(char)(1 + below(255)), '\0'};

		/* Ctrl-Z stops ctop; Ctrl-\ ends it while it starts or ends; S asks for a path, see save() */
		if (*bytes != 0x1a && *bytes != 0x1c && *bytes != 'S')
			append(input, bytes);
	}
	if (below(4) == 0)
		append(input, "\033[");
}

static void choose(struct input *input)
{
	const size_t kind = below(100);

	*input = (struct input){.pause_ms = below(20) == 0 ? 150 : (int)below(15)};
	if (kind < 48)
		press(input);
	else if (kind < 60)
		press_often(input);
	else if (kind < 72)
		type_text(input);
	else if (kind < 75)
		save(input);
	else if (kind < 83)
		click(input);
	else if (kind < 91)
		resize(input);
	else if (kind < 96)
		append(input, "\033");
	else
		type_bytes(input);
}

/* What is said about a failure. */

static void print_input(const struct input *input)
{
	if (input->rows != 0) {
		fprintf(stderr, "resize %dx%d (rows x columns)", input->rows, input->columns);
	} else {
		for (size_t i = 0; i < input->length; i++) {
			const unsigned char byte = (unsigned char)input->bytes[i];

			if (byte > ' ' && byte < 0x7f && byte != '\\')
				fprintf(stderr, "%c", byte);
			else
				fprintf(stderr, "\\%03o", byte);
		}
	}
	fprintf(stderr, "  then %d ms\n", input->pause_ms);
}

static void print_report(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[1024];

	fprintf(stderr, "%s:\n", path);
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		fputs(line, stderr);
	if (file != NULL)
		fclose(file);
}

/* Fails when a sanitizer wrote a report: ASAN_OPTIONS and its like let them write into the directory. */
static int find_report(const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
	(void)stat;
	if (kind != FTW_F || walk->level != 1 || strncmp(path + walk->base, "sanitizer.", 10) != 0)
		return 0;
	print_report(path);
	return 1;
}

static void expect_no_report(void)
{
	assert_int_equal(nftw(base, find_report, 8, FTW_PHYS), 0);
}

static int print_failure(void **state)
{
	(void)state;
	if (succeeded)
		return 0;
	fprintf(stderr, "random_keys --of %s --seed %llu failed after %llu inputs, the last of them:\n",
		subjects[subject], (unsigned long long)seed, (unsigned long long)inputs);
	for (uint64_t i = inputs > INPUTS_KEPT ? inputs - INPUTS_KEPT : 0; i < inputs; i++)
		print_input(&kept[i % INPUTS_KEPT]);
	if (running) {
		fprintf(stderr, "the screen (%d rows, %d columns):\n", pty.rows, pty.columns);
		pty_print(&pty);
		pty_release(&pty);
	}
	return 0;
}

/* The program. */

static bool is_on_screen(struct pty_screen *screen, const void *context)
{
	(void)context;
	return screen->alternate_screen || screen->ended;
}

static void start(void)
{
	const struct pty_options options = {
		.rows = 24,
		.columns = 80,
		.environment = {options_of_child[0], options_of_child[1], options_of_child[2],
				options_of_child[3]},
	};
	static const char *const arguments[SUBJECT_COUNT][4] = {
		{CTOP_PROGRAM, NULL},
		{CTOP_PROGRAM, "before.ctprof.zst", NULL},
		{CTOP_PROGRAM, "before.ctprof.zst", "after.ctprof.zst", NULL},
	};

	pty_start(&pty, &options, arguments[subject]);
	/* a ctop that reads no more must not hold this program up */
	fcntl(pty.master, F_SETFL, fcntl(pty.master, F_GETFL) | O_NONBLOCK);
	running = true;
	may_end = may_be_interrupted = false;
	/* until then the terminal makes signals of some keys */
	pty_wait(&pty, is_on_screen, NULL, "ctop's screen");
}

/* What must hold of a ctop that ended. */
static void conclude(void)
{
	/* Ctrl-C is a signal again once ctop has given the terminal back and not ended yet */
	const bool interrupted = may_be_interrupted && WIFSIGNALED(pty.status) &&
				 WTERMSIG(pty.status) == SIGINT;
	/* it ends within a second of being asked to, and says what it gave up for that */
	const bool unsaved = WIFEXITED(pty.status) && WEXITSTATUS(pty.status) == 1 &&
			     (pty_find(&pty, "ctop: not saved", NULL) >= 0 ||
			      pty_find(&pty, ": not written: ", NULL) >= 0 ||
			      pty_find(&pty, "ctop: cannot write ", NULL) >= 0);

	/* first: what a sanitizer found is why it ended so */
	expect_no_report();
	if (!interrupted && !unsaved && (!WIFEXITED(pty.status) || WEXITSTATUS(pty.status) != 0))
		fail_msg("ctop ended with status %#x of waitpid()", (unsigned int)pty.status);
	if (!may_end)
		fail_msg("ctop ended, and no key that quits was pressed");
	pty_expect_restored(&pty);
	pty_release(&pty);
	running = false;
}

static void send(const char *bytes, size_t length)
{
	const int64_t end = now_ms() + ANSWER_MS;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == 'q' || bytes[i] == '\003')
			may_end = true;
		if (bytes[i] == '\003')
			may_be_interrupted = true;
	}
	if (length >= 5 && memmem(bytes, length, "\033[21~", 5) != NULL)
		may_end = true;
	while (length != 0 && !pty.ended) {
		const ssize_t sent = write(pty.master, bytes, length);

		if (sent > 0) {
			bytes += sent;
			length -= (size_t)sent;
		} else if (now_ms() >= end) {
			fail_msg("ctop takes no more input");
		} else {
			pty_drain(&pty, 10);
		}
	}
}

static void give(const struct input *input)
{
	kept[inputs++ % INPUTS_KEPT] = *input;
	if (input->rows != 0)
		pty_resize(&pty, input->rows, input->columns);
	else
		send(input->bytes, input->length);
	pty_drain(&pty, input->pause_ms);
}

static bool shows_help(void)
{
	for (int row = 0; row < pty.rows; row++) {
		if (strncmp(pty_row(&pty, row), "Help", 4) == 0)
			return true;
	}
	return false;
}

/*
 * Closes whatever is open and asks for help until it stands there, then until it is gone. What was typed
 * before may still be on its way, keys that quit among it. Returns false if ctop ended.
 */
static bool answers(void)
{
	const int64_t end = now_ms() + ANSWER_MS;

	if (pty.ended)
		return false;
	pty_resize(&pty, 24, 80);
	for (bool asked = false; !pty.ended; asked = true) {
		if (asked && shows_help())
			break;
		if (now_ms() >= end)
			fail_msg("ctop does not answer: no help on ? after %d s", ANSWER_MS / 1000);
		send("\033", 1);
		pty_drain(&pty, 150);
		send("?", 1);
		for (int i = 0; i < 20 && !pty.ended && !shows_help(); i++)
			pty_drain(&pty, 50);
	}
	while (!pty.ended && shows_help()) {
		if (now_ms() >= end)
			fail_msg("ctop does not answer: help stays on Escape after %d s", ANSWER_MS / 1000);
		send("\033", 1);
		pty_drain(&pty, 150);
	}
	return !pty.ended;
}

static void quit(void)
{
	const int64_t end = now_ms() + ANSWER_MS;

	while (!pty.ended) {
		if (now_ms() >= end)
			fail_msg("ctop does not quit on Escape and q after %d s", ANSWER_MS / 1000);
		send("\033", 1);
		pty_drain(&pty, 150);
		send("q", 1);
		pty_drain(&pty, 150);
	}
	conclude();
}

static void press_random_keys(void **state)
{
	const int64_t end = now_ms() + (int64_t)seconds * 1000;
	uint64_t ends = 0, checks = 0;

	(void)state;
	start();
	while (now_ms() < end) {
		struct input input;

		choose(&input);
		give(&input);
		if (inputs % INPUTS_PER_CHECK == 0) {
			checks++;
			answers();
		}
		if (pty.ended) {
			ends++;
			conclude();
			start();
		}
	}
	if (answers())
		quit();
	else
		conclude();
	expect_no_report();
	succeeded = true;
	printf("%s: %llu inputs, %llu checks, %llu times quit\n", subjects[subject],
	       (unsigned long long)inputs, (unsigned long long)checks, (unsigned long long)ends);
}

/* The directory. */

static int remove_entry(const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
	(void)stat;
	(void)kind;
	(void)walk;
	return remove(path);
}

/* Makes all that is mounted read-only for this process and its children, but for the directory. */
static bool enclose(void)
{
	struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY},
			  writable = {.attr_clr = MOUNT_ATTR_RDONLY};

	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount(base, base, NULL, MS_BIND, NULL) == 0 &&
	       mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof(read_only)) == 0 &&
	       mount_setattr(AT_FDCWD, base, 0, &writable, sizeof(writable)) == 0;
}

static void capture(const char *path)
{
	const pid_t child = fork();
	int status, null;

	assert_true(child >= 0);
	if (child == 0) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, STDOUT_FILENO);
		execl(CTOP_PROGRAM, CTOP_PROGRAM, "capture", "--no-heap", "-o", path, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int prepare(void **state)
{
	FILE *broken;

	(void)state;
	take_keys();
	assert_int_equal(chdir(work), 0);
	capture("before.ctprof.zst");
	capture("after.ctprof.zst");
	broken = fopen("broken.ctprof.zst", "we");
	assert_non_null(broken);
	fputs("no snapshot\n", broken);
	fclose(broken);
	setenv("HOME", work, 1);
	setenv("XDG_STATE_HOME", work, 1);
	setenv("XDG_CACHE_HOME", work, 1);
	setenv("XDG_DATA_HOME", work, 1);
	setenv("TMPDIR", work, 1);
	snprintf(options_of_child[0], OPTION_BYTES, "XDG_CONFIG_HOME=%s", work);
	snprintf(options_of_child[1], OPTION_BYTES,
		 "ASAN_OPTIONS=log_path=%s/sanitizer:allocator_may_return_null=1", base);
	snprintf(options_of_child[2], OPTION_BYTES, "UBSAN_OPTIONS=print_stacktrace=1:log_path=%s/sanitizer",
		 base);
	/* a thread that waits for what does not answer is left behind when ctop ends */
	snprintf(options_of_child[3], OPTION_BYTES,
		 "TSAN_OPTIONS=log_path=%s/sanitizer:report_thread_leaks=0", base);
	return 0;
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(press_random_keys, prepare, print_failure),
	};

	if (!enclose())
		printf("no mount namespace (%s): writes elsewhere are not refused\n", strerror(errno));
	printf("random_keys --of %s --seed %llu --seconds %lu\n", subjects[subject], (unsigned long long)seed,
	       seconds);
	fflush(stdout);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

static bool parse_number(const char *text, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

static bool parse_arguments(int count, char **arguments)
{
	for (int i = 1; i + 1 < count; i += 2) {
		uint64_t number = 0;

		if (strcmp(arguments[i], "--of") == 0) {
			for (subject = 0; subject < SUBJECT_COUNT; subject++) {
				if (strcmp(arguments[i + 1], subjects[subject]) == 0)
					break;
			}
			if (subject == SUBJECT_COUNT)
				return false;
		} else if (strcmp(arguments[i], "--seconds") == 0) {
			if (!parse_number(arguments[i + 1], &number) || number > 1000000)
				return false;
			seconds = number;
		} else if (strcmp(arguments[i], "--seed") == 0) {
			if (!parse_number(arguments[i + 1], &seed))
				return false;
		} else {
			return false;
		}
	}
	return count % 2 == 1;
}

int main(int count, char **arguments)
{
	int status = 0;
	pid_t child;

	seed = (uint64_t)time(NULL);
	if (!parse_arguments(count, arguments)) {
		fprintf(stderr, "usage: random_keys [--of live|file|comparison] [--seconds N] [--seed N]\n");
		return 2;
	}
	pty_need();
	random_state = seed;
	if (mkdtemp(base) == NULL)
		return 1;
	snprintf(work, sizeof(work), "%s/work", base);
	if (mkdir(work, 0700) != 0)
		return 1;
	/* the directory is removed by the parent, outside of what encloses the child */
	child = fork();
	if (child == 0)
		exit(run());
	if (child < 0 || waitpid(child, &status, 0) != child)
		status = 1;
	nftw(base, remove_entry, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
