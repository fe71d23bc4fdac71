/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The comparison on the screen: two captures of this host's threads around a change, and files of all kinds.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/compare/pool_window.h"
#include "tests/wait.h"

#include "store/ctprof.h"

#include "pty_screen.h"

enum {
	THREADS_BEFORE = 2,
	THREADS_AFTER = 5,
	ARGUMENTS_MAX = 8,
};

static atomic_bool stop;
static atomic_size_t named; /* threads of the pool that have their names */
static pthread_t threads[THREADS_AFTER];
static char pool[12]; /* its name, whoever else runs this test */
static char directory[] = "/tmp/ctop-pair-XXXXXX";
static char before[PATH_MAX], after[PATH_MAX];

/* A thread of a pool that grows between the captures. */
static void *be_in_pool(void *argument)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%zu", pool, (size_t)argument);
	prctl(PR_SET_NAME, name);
	atomic_fetch_add(&named, 1);
	while (!atomic_load(&stop))
		usleep(2000);
	return NULL;
}

static int start_threads(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (pthread_create(&threads[i], NULL, be_in_pool, (void *)i) != 0)
			return -1;
	}
	while (atomic_load(&named) < to)
		usleep(1000);
	return 0;
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
	/* letters: digits would become {N} */
	snprintf(pool, sizeof(pool), "pair%c%c%c%c", 'a' + getpid() % 26, 'a' + getpid() / 26 % 26,
		 'a' + getpid() / 676 % 26, 'a' + getpid() / 17576 % 26);
	snprintf(before, sizeof(before), "%s/one.ctprof.zst", directory);
	snprintf(after, sizeof(after), "%s/two.ctprof.zst", directory);
	if (start_threads(0, THREADS_BEFORE) < 0 || capture(before) < 0)
		return -1;
	if (start_threads(THREADS_BEFORE, THREADS_AFTER) < 0 || capture(after) < 0)
		return -1;
	return 0;
}

static int remove_captures(void **state)
{
	(void)state;
	atomic_store(&stop, true);
	for (size_t i = 0; i < THREADS_AFTER; i++)
		pthread_join(threads[i], NULL);
	unlink(before);
	unlink(after);
	return rmdir(directory);
}

static void start(struct pty_screen *pty, const struct pty_options *options, const char *first,
		  const char *second, const char *third)
{
	const char *const arguments[ARGUMENTS_MAX] = {CTOP_PROGRAM, first, second, third};

	pty_start(pty, options, arguments);
}

static void start_pair(struct pty_screen *pty, int rows, int columns, const char *option)
{
	start(pty, &(struct pty_options){.rows = rows, .columns = columns}, before, after, option);
}

/* Whether so many rows of the list are marked as new. */
static bool has_new_rows(struct pty_screen *pty, const void *context)
{
	int count = 0;

	for (int row = 0; row < pty->rows; row++)
		count += *pty_row(pty, row) == '+';
	return count == *(const int *)context;
}

/* The row of our pool alone: it grew, that is seen on both sides, opened and swapped. */
static void test_pool_that_grew(void **state)
{
	const int came = THREADS_AFTER - THREADS_BEFORE;
	struct pty_screen pty;
	char keys[48];

	(void)state;
	/* the titles contain the test's own cgroup */
	start_pair(&pty, 24, 160, NULL);
	pty_wait_text(&pty, "before  one.ctprof.zst");
	pty_wait_text(&pty, "after   two.ctprof.zst");
	pty_wait_text(&pty, "change by thread");
	pty_wait_text(&pty, "one boot, ");
	pty_wait_text(&pty, "by harm");
	snprintf(keys, sizeof(keys), "/%s\r", pool);
	pty_show(&pty, keys, "1/1");
	pty_wait_text(&pty, " 2→5 ");
	pty_wait_text(&pty, ": 2 threads the same, 3 came, 0 gone");
	pty_show(&pty, "~", " 5→2 ");
	pty_wait_text(&pty, ": 2 threads the same, 0 came, 3 gone");
	pty_wait_text(&pty, "! after is the older capture");
	pty_show(&pty, "~", " 2→5 ");
	/* the number of threads, explained */
	pty_show(&pty, "\033[Ci", "Change: +3, +150.0%");
	pty_hide(&pty, "i", "Change: ");
	/* the threads, of which three are new */
	pty_show(&pty, "\r", " > threads");
	pty_wait_text(&pty, "1/5");
	pty_wait(&pty, has_new_rows, &came, "three new threads");
	pty_wait_text(&pty, " -→");
	/* all metrics of one, and an explanation */
	pty_show(&pty, "\r", "run_time_ns");
	pty_wait_text(&pty, "before");
	pty_show(&pty, "i", "Esc close");
	pty_type(&pty, "\033");
	pty_show(&pty, "\033", "1/5");
	pty_show(&pty, "\033", " 2→5 ");
	pty_quit(&pty);
}

/* Whether it is said that the rows are sorted by the harm of their changes, in as many words as have room. */
static bool says_order(struct pty_screen *pty, const void *context)
{
	(void)context;
	return pty_find(pty, "by harm", NULL) >= 0;
}

static void test_pages_and_orders(void **state)
{
	static const int sizes[][2] = {{24, 80}, {50, 200}};
	static const char *const keys[][2] = {{"P", "CPUv"},   {"L", "WAITEDv"}, {"M", "RSSv"},
					      {"W", "MWAITv"}, {"O", "RWv"},     {"A", "ALLOCv"}};
	struct pty_screen pty;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		start_pair(&pty, sizes[i][0], sizes[i][1], NULL);
		pty_wait(&pty, says_order, NULL, "by what the rows are sorted");
		pty_show(&pty, "e", "BEFORE  one.ctprof.zst");
		pty_hide(&pty, "\033[F", "▼ ");
		pty_type(&pty, "e");
		/* the menu has what all of a row changed, then the columns */
		pty_show(&pty, "s", "Sort by");
		pty_wait_text(&pty, "CHANGE    The largest change of a row in any column");
		pty_show(&pty, "\033[B\r", "THRv");
		assert_false(says_order(&pty, NULL));
		pty_show(&pty, "N", "GROUP^");
		pty_show(&pty, ">>", "CPUv");
		pty_show(&pty, "r", "CPU^");
		/* the keys of columns sort by how much these changed */
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			pty_show(&pty, keys[k][0], keys[k][1]);
		pty_show(&pty, "s", "Sort by");
		pty_hide(&pty, "CHANGE\r", "ALLOCv");
		pty_wait(&pty, says_order, NULL, "by what the rows are sorted");
		pty_show(&pty, "gp\r", "PROCESS");
		pty_show(&pty, "ge\r", "TID");
		pty_show(&pty, "ga\r", "GROUP");
		pty_show(&pty, "d", "change by group");
		pty_show(&pty, "?", "Columns of this tab");
		pty_show(&pty, "?0", "PRIO");
		/* every tab, and back to this file alone */
		pty_show(&pty, "2345678901D", "file: totals only");
		pty_quit(&pty);
	}
}

/* An order of the command line is that of the comparison, too. */
static void test_order_of_option(void **state)
{
	static const char *const orders[][2] = {
		{"--sort-by=rss", "RSSv"}, {"--sort-by=cpu:asc", "CPU^"}, {"--sort-by=name", "GROUP^"}};
	struct pty_screen pty;

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		start_pair(&pty, 24, 120, orders[i][0]);
		pty_wait_text(&pty, orders[i][1]);
		assert_false(says_order(&pty, NULL));
		pty_quit(&pty);
	}
}

/* The colour of a text that is there once. */
static int color_of(struct pty_screen *pty, const char *text)
{
	int column, row;

	pty_wait_text(pty, text);
	row = pty_find(pty, text, &column);
	return pty_foreground(pty, row, column);
}

static void write_window(char path[PATH_MAX], const char *name, enum diff_side side)
{
	struct snapshot *snapshot = pool_window(side);
	struct error error = {""};

	snprintf(path, PATH_MAX, "%s/%s.ctprof.zst", directory, name);
	if (ctprof_write(snapshot, snapshot->window, path, false, NULL, &error) < 0)
		fail_msg("%s", error.text);
	snapshot_release(snapshot);
}

/* What is real is marked and coloured by its direction, and what is no change is dim. */
static void test_verdicts(void **state)
{
	const char *arguments[] = {CTOP_PROGRAM, "-gprocess", NULL, NULL, "--ascii", NULL};
	char early[PATH_MAX], late[PATH_MAX];
	struct pty_screen pty;
	int rose, fell, dim;

	(void)state;
	write_window(early, "early", DIFF_BEFORE);
	write_window(late, "late", DIFF_AFTER);
	arguments[2] = early;
	arguments[3] = late;
	pty_start(&pty, &(struct pty_options){.rows = 24, .columns = 120}, arguments);
	pty_wait_text(&pty, "change of rates");
	pty_wait_text(&pty, "1/2");
	pty_show(&pty, "N=", "1/4");
	/* the row of the cursor has no colours of its own */
	pty_type(&pty, "\033[B\033[B\033[B");
	pty_wait_selected(&pty, "steady");
	dim = color_of(&pty, "37.5->46.1");
	rose = color_of(&pty, "#20.0->40.0");
	assert_int_not_equal(rose, dim);
	/* not tested, which is no mark */
	assert_int_equal(color_of(&pty, "2->3"), rose);
	assert_true(pty_find(&pty, "#2->3", NULL) < 0);
	/* the first change that has words, and none where a column is marked that has none */
	pty_show(&pty, "\033[A", "slower ran ");
	pty_hide(&pty, "\033[C", "slower ran ");
	pty_wait_text(&pty, "slower: the same threads");
	pty_show(&pty, "\033[C", "slower ran ");
	pty_type(&pty, "\033[B");
	pty_wait_selected(&pty, "steady");
	pty_show(&pty, "~", "#40.0->20.0");
	fell = color_of(&pty, "#40.0->20.0");
	assert_int_not_equal(fell, rose);
	assert_int_not_equal(fell, dim);
	assert_int_equal(color_of(&pty, "46.1->37.5"), dim);
	pty_quit(&pty);
	/* without the flag */
	arguments[4] = NULL;
	pty_start(&pty, &(struct pty_options){.rows = 24, .columns = 120}, arguments);
	pty_wait_text(&pty, "≠20.0→40.0");
	pty_quit(&pty);
	unlink(early);
	unlink(late);
}

static bool has_color(struct pty_screen *pty)
{
	for (int row = 0; row < pty->rows; row++) {
		for (int column = 0; column < pty->columns; column++) {
			if (pty_is_colored(pty, row, column))
				return true;
		}
	}
	return false;
}

/* The same without colours and beyond ASCII, and as small as it gets. */
static void test_plain_and_small(void **state)
{
	const struct pty_options plain = {.rows = 24, .columns = 80, .environment = {"NO_COLOR=1"}};
	struct pty_screen pty;

	(void)state;
	start(&pty, &plain, before, after, "--ascii");
	pty_wait_text(&pty, "->");
	pty_wait_text(&pty, " THR ");
	/* the line at the bottom is the last to be drawn */
	pty_show(&pty, "=/", "filter:");
	assert_true(pty_is_ascii(&pty));
	assert_false(has_color(&pty));
	pty_hide(&pty, "\033", "filter:");
	pty_quit(&pty);
	start_pair(&pty, 8, 40, NULL);
	pty_wait_text(&pty, "one.ctprof.zst -> ");
	pty_wait_text(&pty, " THR");
	pty_wait_text(&pty, "→");
	pty_type(&pty, "\r");
	pty_type(&pty, "m\033\033\033e\033s\033");
	pty_resize(&pty, 24, 80);
	pty_wait_text(&pty, "change by thread");
	pty_resize(&pty, 5, 30);
	pty_wait_text(&pty, "The screen is 30x5");
	pty_quit(&pty);
}

static void expect_report(struct pty_screen *pty, const char *name, const char *expected)
{
	char path[PATH_MAX], typed[PATH_MAX + 8], text[4096];
	FILE *report;
	size_t length;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(typed, sizeof(typed), "S%s\r", path);
	pty_show(pty, typed, "wrote /");
	report = fopen(path, "r");
	assert_non_null(report);
	length = fread(text, 1, sizeof(text) - 1, report);
	text[length] = '\0';
	assert_non_null(strstr(text, expected));
	fclose(report);
	/* a second one with that name is refused, and the next line has it */
	pty_show(pty, typed, "exists");
	snprintf(typed, sizeof(typed), "report: %s", path);
	pty_show(pty, "S", typed);
	pty_wait_text(pty, "Esc cancel");
	assert_true(pty->cursor_visible);
	pty_hide(pty, "\033", "Esc cancel");
	pty_wait_no_text(pty, "wrote /");
	unlink(path);
}

static void test_reports(void **state)
{
	struct pty_screen pty;

	(void)state;
	start_pair(&pty, 24, 120, NULL);
	pty_wait_text(&pty, "by harm");
	expect_report(&pty, "r.tsv", "metric");
	expect_report(&pty, "r.txt", "before");
	expect_report(&pty, "r.csv", "metric");
	expect_report(&pty, "r.json", "{");
	expect_report(&pty, "r.md", "|");
	expect_report(&pty, "r.html", "<!");
	pty_show(&pty, "S/nowhere/r.pdf\r", "name ends in .txt, .tsv, .csv, .json, .md or .html");
	pty_wait_text(&pty, "Esc cancel");
	pty_hide(&pty, "\033", "Esc cancel");
	pty_quit(&pty);
}

/* D on the live screen: a file that is not there, one that is none, then a good one; and back. */
static void test_live_against_file(void **state)
{
	struct pty_screen pty;
	char keys[24], group[24];

	(void)state;
	start(&pty, &(struct pty_options){.rows = 60, .columns = 80}, "-d0.5", NULL, NULL);
	pty_wait_text(&pty, "every 0.5s  rate");
	pty_show(&pty, "D", "a file, or a time: -1m");
	pty_show(&pty, "/nowhere/at-all\r", "/nowhere/at-all does not exist");
	/* what was typed is there again to be mended */
	pty_show(&pty, "D", "compare with: /nowhere/at-all");
	pty_show(&pty, "\025" CTOP_PROGRAM "\r", "is not a snapshot");
	pty_wait_text(&pty, "every 0.5s");
	pty_type(&pty, "D\025");
	pty_type(&pty, before);
	pty_show(&pty, "\r", "compared with one.ctprof.zst; D goes back");
	pty_wait_text(&pty, "every 0.5s  change by thread");
	pty_wait_text(&pty, "after   now");
	snprintf(keys, sizeof(keys), "gc\r/%s\r", pool);
	pty_show(&pty, keys, "CGROUP");
	snprintf(group, sizeof(group), "%s-{N}", pool);
	pty_show(&pty, "gt\r", group);
	pty_wait_text(&pty, "2→5");
	pty_show(&pty, " ", "PAUSED");
	pty_show(&pty, "e", "BEFORE  one.ctprof.zst");
	pty_search(&pty, "AFTER  now");
	pty_type(&pty, "e");
	pty_hide(&pty, " ", "PAUSED");
	/* Esc goes back to the live screen, its view as it was left */
	pty_show(&pty, "\033", "by process {N}");
	pty_wait_text(&pty, "every 0.5s");
	pty_show(&pty, "~", "there is no comparison");
	pty_quit(&pty);
}

/* Names of several parts keep what tells them apart. */
static void test_long_names(void **state)
{
	static const char snapshots[] = TEST_DATA "/reference/snapshots/real";
	const struct pty_options options = {.rows = 24, .columns = 120};
	char one[PATH_MAX], two[PATH_MAX];
	struct pty_screen pty;

	(void)state;
	snprintf(one, sizeof(one), "%s.a.ctprof.zst", snapshots);
	snprintf(two, sizeof(two), "%s.b.ctprof.zst", snapshots);
	start(&pty, &options, one, two, NULL);
	pty_wait_text(&pty, "redis-server io_thd_…");
	pty_wait_text(&pty, "redis-server  /app.slice/cache.service ");
	pty_wait_text(&pty, "4.8s→98.4s");
	pty_quit(&pty);
}

/* Files of every kind and generation, in both orders; the same one twice. None of them ends the screen. */
static void test_odd_pairs(void **state)
{
	static const char *const names[] = {"both_empty", "odds", "extremes", "cgroup_edges", "scx", "real"};
	struct pty_screen pty;
	char paths[2][PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (int order = 0; order < 3; order++) {
			snprintf(paths[0], PATH_MAX, "%s/reference/snapshots/%s.%c.ctprof.zst", TEST_DATA,
				 names[i], order == 1 ? 'b' : 'a');
			snprintf(paths[1], PATH_MAX, "%s/reference/snapshots/%s.%c.ctprof.zst", TEST_DATA,
				 names[i], order == 0 ? 'b' : 'a');
			start(&pty, &(struct pty_options){.rows = 24, .columns = 80}, paths[0], paths[1],
			      NULL);
			pty_wait_text(&pty, "change by group");
			pty_show(&pty, "\r\r\rm\033\033\033~g0=\033[Fi\033e\033xi\033?",
				 "Columns of this tab");
			pty_quit(&pty);
		}
	}
}

/* Whether a thread of the process is in read(2) of the file at `path` (proc_pid_syscall(5)). */
static bool is_reading(pid_t process, const char *thread, const char *path)
{
	char name[64], target[PATH_MAX];
	unsigned int descriptor = 0;
	long call = -1;
	ssize_t length;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/task/%.15s/syscall", process, thread);
	file = fopen(name, "re");
	if (file == NULL)
		return false;
	if (fscanf(file, "%ld %x", &call, &descriptor) != 2)
		call = -1;
	fclose(file);
	snprintf(name, sizeof(name), "/proc/%d/fd/%u", process, descriptor);
	length = call == SYS_read ? readlink(name, target, sizeof(target)) : -1;
	return length == (ssize_t)strlen(path) && memcmp(target, path, (size_t)length) == 0;
}

struct reader_search {
	const char *path;
	pid_t found;
};

/* Whether a thread of the program reads the file. */
static bool has_reader(struct pty_screen *pty, const void *context)
{
	struct reader_search *search = *(struct reader_search *const *)context;
	struct dirent *entry;
	char path[32];
	DIR *task;

	snprintf(path, sizeof(path), "/proc/%d/task", pty->child);
	task = opendir(path);
	assert_non_null(task);
	search->found = 0;
	while (search->found == 0 && (entry = readdir(task)) != NULL) {
		if (is_reading(pty->child, entry->d_name, search->path))
			search->found = atoi(entry->d_name);
	}
	closedir(task);
	return search->found != 0;
}

/* A pipe in the directory of the test; `path` gets its name. */
static int open_pipe(char path[static PATH_MAX], const char *name)
{
	int pipe;

	snprintf(path, PATH_MAX, "%s/%s", directory, name);
	assert_int_equal(mkfifo(path, 0600), 0);
	pipe = open(path, O_RDWR | O_CLOEXEC);
	assert_true(pipe >= 0);
	return pipe;
}

/* Starts a live screen and compares it with a pipe that gives nothing yet; returns the thread that reads it.
 */
static pid_t start_reading(struct pty_screen *pty, const char *path)
{
	struct reader_search search = {.path = path}, *pointer = &search;

	start(pty, &(struct pty_options){.rows = 24, .columns = 80}, "-d0.5", NULL, NULL);
	pty_wait_text(pty, " by process {N}");
	pty_type(pty, "D\025");
	pty_type(pty, path);
	pty_type(pty, "\r");
	pty_wait(pty, has_reader, &pointer, "a thread that reads the file");
	return search.found;
}

/* A fault in the thread that reads a file: the terminal comes back. */
static void test_fault_while_loading(void **state)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT};
	char path[PATH_MAX];
	int fifo;

	(void)state;
	fifo = open_pipe(path, "fifo");
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct pty_screen pty;
		const pid_t thread = start_reading(&pty, path);

		assert_int_equal(syscall(SYS_tgkill, pty.child, thread, faults[i]), 0);
		pty_expect_end(&pty, faults[i], 0);
	}
	close(fifo);
	unlink(path);
}

/* Lets whoever reads a pipe have a file, up to its end. */
static void give_file(int pipe, const char *path)
{
	static char bytes[1 << 20]; /* as much as a pipe can hold */
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t length = read(file, bytes, sizeof(bytes));

	assert_true(fcntl(pipe, F_SETPIPE_SZ, (int)sizeof(bytes)) >= 0);
	assert_in_range(length, 1, sizeof(bytes) - 1);
	assert_int_equal(write(pipe, bytes, (size_t)length), length);
	close(pipe);
	close(file);
}

/* A slow file is dropped if a moment was asked for in the meantime. */
static void test_last_asked(void **state)
{
	struct pty_screen pty;
	char path[PATH_MAX];
	pid_t thread;
	int fifo;

	(void)state;
	fifo = open_pipe(path, "late");
	thread = start_reading(&pty, path);
	pty_show(&pty, "D\025now\r", "compared with ");
	give_file(fifo, before);
	await("the file has been read", syscall(SYS_tgkill, pty.child, thread, 0) != 0);
	pty_show(&pty, " ", "PAUSED");
	assert_true(pty_find(&pty, "before  late", NULL) < 0);
	pty_quit(&pty);
	unlink(path);
}

/* A file that arrives while somebody types waits: the prompt stays open and gets the keys. */
static void test_typing_while_loading(void **state)
{
	struct pty_screen pty;
	char path[PATH_MAX];
	pid_t thread;
	int fifo;

	(void)state;
	fifo = open_pipe(path, "late");
	thread = start_reading(&pty, path);
	pty_show(&pty, "/po", "filter: po");
	give_file(fifo, before);
	await("the file has been read", syscall(SYS_tgkill, pty.child, thread, 0) != 0);
	pty_show(&pty, "st", "filter: post");
	assert_true(pty_find(&pty, "before  late", NULL) < 0);
	pty_show(&pty, "\033", "before  late");
	pty_quit(&pty);
	unlink(path);
}

/* A window beside itself: no row is real, and the list does not say that nothing changed at all. */
static void test_nothing_measurable(void **state)
{
	char window[PATH_MAX + 16];
	const char *const arguments[] = {CTOP_PROGRAM, "capture", "--no-heap", "--for",
					 "0.25",       "-o",      window,      NULL};
	struct pty_screen pty;

	(void)state;
	snprintf(window, sizeof(window), "%s/window.ctprof.zst", directory);
	assert_int_equal(pty_run_quietly(arguments), 0);
	start(&pty, &(struct pty_options){.rows = 24, .columns = 80}, window, window, NULL);
	pty_wait_text(&pty, "Nothing changed measurably here.");
	/* the file behind it has rates, as by itself */
	pty_show(&pty, "D", "  rate  ");
	pty_quit(&pty);
	unlink(window);
}

/* Where there is no terminal the comparison is printed; what cannot be read is said before. */
static void test_missing_file(void **state)
{
	struct pty_screen pty;

	(void)state;
	start(&pty, &(struct pty_options){.rows = 24, .columns = 80}, before, "/nowhere/b", NULL);
	pty_wait_text(&pty, "/nowhere/b does not exist");
	assert_int_equal(WEXITSTATUS(pty_wait_end(&pty)), 1);
	pty_release(&pty);
}

static void test_ends_with_its_terminal(void **state)
{
	struct pty_screen pty;

	(void)state;
	start_pair(&pty, 24, 80, NULL);
	pty_wait_text(&pty, " THR ");
	pty_take_away(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool_that_grew),
		cmocka_unit_test(test_pages_and_orders),
		cmocka_unit_test(test_plain_and_small),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_live_against_file),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_odd_pairs),
		cmocka_unit_test(test_fault_while_loading),
		cmocka_unit_test(test_last_asked),
		cmocka_unit_test(test_typing_while_loading),
		cmocka_unit_test(test_nothing_measurable),
		cmocka_unit_test(test_order_of_option),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_missing_file),
		cmocka_unit_test(test_ends_with_its_terminal),
	};

	pty_need();
	return cmocka_run_group_tests(tests, make_captures, remove_captures);
}
