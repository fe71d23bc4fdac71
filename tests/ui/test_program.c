/* SPDX-License-Identifier: GPL-2.0-only */
/* The built program in a real pseudoterminal: live on this host's threads, and files. */
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
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "pty_screen.h"
#include "store/ctprof.h"

enum {
	THREADS = 6
};

static atomic_bool stop;

/* A thread of ours that the screen should find: the first one runs for a fifth of the time, which leaves the
 * CPU to the program; the others sleep and wake. */
static void *be_watched(void *argument)
{
	size_t number = (size_t)argument;
	char name[16];

	snprintf(name, sizeof(name), "uiwatch-%zu", number);
	prctl(PR_SET_NAME, name);
	while (!atomic_load(&stop)) {
		const clock_t begin = clock();

		while (number == 0 && clock() - begin < CLOCKS_PER_SEC / 1000)
			;
		usleep(number == 0 ? 4000 : 2000);
	}
	return NULL;
}

static pthread_t threads[THREADS];
static char own_pid[24];      /* an option */
static char threads_only[48]; /* keys: only our threads, whoever else runs this test */

static int start_threads(void **state)
{
	(void)state;
	snprintf(own_pid, sizeof(own_pid), "--pid=%d", getpid());
	snprintf(threads_only, sizeof(threads_only), "/uiwatch- and pid = %d\r", getpid());
	for (size_t i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, be_watched, (void *)i) != 0)
			return -1;
	}
	return 0;
}

static int stop_threads(void **state)
{
	(void)state;
	atomic_store(&stop, true);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void start_program(struct pty_screen *pty, int rows, int columns, const char *first,
			  const char *second, const char *third)
{
	const char *const arguments[] = {CTOP_PROGRAM, first, second, third, NULL};
	const struct pty_options options = {.rows = rows, .columns = columns};

	pty_start(pty, &options, arguments);
}

static void test_live_finds_threads(void **state)
{
	struct pty_screen pty;

	(void)state;
	start_program(&pty, 24, 80, "-d", "0.5", NULL);
	pty_wait_text(&pty, "every 0.5s  rate");
	/* by thread pattern, ours only */
	pty_type(&pty, "gt\r");
	pty_show(&pty, threads_only, "6 threads in 1 group by thread {N}");
	pty_wait_text(&pty, "uiwatch-{N}");
	/* one of them runs: open it and see the busy one first, with its number moving */
	pty_show(&pty, "\r", "thread uiwatch-{N} (uiwatch- and pid = ");
	pty_wait_text(&pty, ") > threads");
	pty_wait_text(&pty, "uiwatch-5");
	pty_wait_text(&pty, "timer");
	pty_show(&pty, "\033[H", "6 threads");
	/* all metrics of one thread */
	pty_show(&pty, "\r", "run_time_ns");
	pty_wait_text(&pty, "since base");
	/* of one that sleeps: that it does */
	pty_hide(&pty, "\033", "since base");
	pty_show(&pty, "\033[F\r", "since base");
	pty_wait_text(&pty, "  asleep");
	pty_quit(&pty);
}

/* The page of a thread says who is at the other end of its pipe, and where in the kernel it sleeps. */
static void test_peer(void **state)
{
	char option[24], name[16], said[64], byte;
	struct pty_screen pty;
	pid_t child;
	int ends[2];

	(void)state;
	need_capability(CAP_SYS_PTRACE, "read calls and descriptors of other processes");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	prctl(PR_GET_NAME, name);
	snprintf(option, sizeof(option), "--pid=%d", child);
	start_program(&pty, 24, 80, "-d0.5", "-gpid", option);
	pty_show(&pty, "a", "1 thread in 1 group by pid");
	pty_show(&pty, "\r", "> threads");
	pty_show(&pty, "\r", "since base");
	snprintf(said, sizeof(said), "waits for: pipe  from %d %s", getpid(), name);
	pty_wait_text(&pty, said);
	pty_wait_text(&pty, "system call: read(");
	pty_wait_text(&pty, "in the kernel: ");
	pty_quit(&pty);
	close(ends[1]);
	waitpid(child, NULL, 0);
	close(ends[0]);
}

/* After suspending and continuing in the background, where it stops again, one signal ends ctop. */
static void test_end_in_background(void **state)
{
	static const struct pty_options options = {.rows = 24, .columns = 80, .job = true};
	const char *const arguments[] = {CTOP_PROGRAM, "-d", "0.5", own_pid, NULL};
	struct pty_screen pty;
	pid_t job;

	(void)state;
	pty_start(&pty, &options, arguments);
	pty_wait_text(&pty, "every 0.5s  rate");
	job = tcgetpgrp(pty.master);
	pty_type(&pty, "\032");
	pty_wait(&pty, pty_is_stopped, NULL, "it stops");
	pty_continue_in_background(&pty);
	pty_wait(&pty, pty_is_stopped, NULL, "it stops again in the background");
	kill(job, SIGTERM);
	pty_continue_in_background(&pty);
	pty_wait_end(&pty);
	pty_release(&pty);
}

enum {
	TITLES = 5,
	LONG_TITLE = 100 * 1024, /* less than MAX_ARG_STRLEN (include/uapi/linux/binfmts.h) */
	LONG_PARTS = 14,
};

/* Starts a shell that waits, with that title, and with more of it. */
static pid_t start_titled(const char *program, const char *title, char *more, size_t parts)
{
	static int input[2]; /* open as long as we live */
	char *arguments[LONG_PARTS + 4] = {(char *)title, (char *)"-c", (char *)"read line"};
	pid_t child;

	for (size_t i = 0; i < parts; i++)
		arguments[3 + i] = more;
	assert_int_equal(pipe(input), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(input[0], STDIN_FILENO);
		execv(program, arguments);
		_exit(1);
	}
	return child;
}

/* Looks at the rows of the titles: each of them is there, as a whole. */
static void assert_titles_shown(struct pty_screen *pty)
{
	pty_wait_text(pty, "db: shop 10.0.0.12(53412) UPDATE waiting -c read line");
	pty_wait_text(pty, "db: shop 10.0.0.12(53413) idle -c read line");
	/* nothing of them moves the cursor, turns the line round or hides */
	pty_wait_text(pty, "esc?[2J?]0;x? -c read line");
	pty_wait_text(pty, "rtl??zero?width? -c read line");
	pty_wait_text(pty, "long -c read line xxx");
}

/*
 * Titles of processes: whole at 120 columns, safe, and found by the filter and the search. One of 1.4 MB is
 * cut in its middle.
 */
static void test_titles(void **state)
{
	static const char *const titles[] = {
		"db: shop 10.0.0.12(53412) UPDATE waiting",
		"db: shop 10.0.0.12(53413) idle",
		"esc\033[2J\033]0;x\007",
		"rtl\xe2\x80\xae\xe2\x80\x8fzero\xe2\x80\x8bwidth\xef\xbb\xbf",
		"long",
	};
	char directory[] = "/tmp/ctop-ui-XXXXXX", program[PATH_MAX], name[16], keys[80], said[80];
	char *more = malloc(LONG_TITLE + 1);
	pid_t children[TITLES];
	struct pty_screen pty;

	(void)state;
	assert_non_null(more);
	memset(more, 'x', LONG_TITLE);
	more[LONG_TITLE] = '\0';
	assert_non_null(mkdtemp(directory));
	/* of this test alone: the same one may run elsewhere */
	snprintf(name, sizeof(name), "uit-%d", (int)getpid());
	snprintf(program, sizeof(program), "%s/%s", directory, name);
	assert_int_equal(symlink("/bin/sh", program), 0);
	for (size_t i = 0; i < TITLES; i++)
		children[i] = start_titled(program, titles[i], more, i == TITLES - 1 ? LONG_PARTS : 0);
	start_program(&pty, 36, 120, "-d0.5", "-gpid", "--ascii");
	snprintf(keys, sizeof(keys), "/process = %s\r", name);
	snprintf(said, sizeof(said), "filter: process = %s", name);
	pty_show(&pty, keys, said);
	assert_titles_shown(&pty);
	snprintf(keys, sizeof(keys), "/\025UPDATE and process = %s\r", name);
	pty_show(&pty, keys, "filter: UPDATE and");
	pty_wait_text(&pty, "1 thread in 1 group");
	pty_wait_text(&pty, "UPDATE waiting -c read line");
	snprintf(keys, sizeof(keys), "/\025command = *idle?-c* and process = %s\r", name);
	pty_show(&pty, keys, "filter: command =");
	pty_wait_text(&pty, "1 thread in 1 group");
	snprintf(keys, sizeof(keys), "/\025process = %s\r", name);
	pty_show(&pty, keys, "5 threads in 5 groups");
	pty_type(&pty, "\033OR53413");
	pty_wait_selected(&pty, "idle -c read line");
	pty_hide(&pty, "\033", "search:");
	pty_quit(&pty);
	for (size_t i = 0; i < TITLES; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	unlink(program);
	rmdir(directory);
	free(more);
}

static bool numbers_are_there(struct pty_screen *pty, const void *context)
{
	int row = pty_find(pty, context, NULL);
	unsigned int count;
	double cpu;
	const char *text = row >= 0 ? pty_row(pty, row) : "";
	const char *numbers = strstr(text, context);

	return numbers != NULL && sscanf(numbers + strlen(context), "%u %lf", &count, &cpu) == 2 &&
	       count == THREADS && cpu > 0;
}

/* A process with jemalloc that allocates all the time. */
static pid_t start_heap_target(void)
{
	static int input[2]; /* open as long as we live */
	pid_t child;

	assert_int_equal(pipe(input), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(input[0], STDIN_FILENO);
		if (freopen("/dev/null", "w", stdout) == NULL)
			_exit(1);
		execl(HEAP_TARGET, "heap_target", "latency", "4", (char *)NULL);
		_exit(1);
	}
	return child;
}

static bool allocates(struct pty_screen *pty, const void *context)
{
	int row = pty_find(pty, context, NULL);
	const char *text = row >= 0 ? pty_row(pty, row) : "";
	const char *numbers = strstr(text, context);
	unsigned int count, processes, seen;
	double allocated;

	return numbers != NULL &&
	       sscanf(numbers + strlen(context), "%u %u %u %lf", &count, &processes, &seen, &allocated) ==
		       4 &&
	       count == 5 && processes == 1 && seen == 5 && allocated > 0;
}

/* The heap tab at both sizes: what the target allocates, how it was found, and nothing of it after J. */
static void test_heap_tab(void **state)
{
	static const int sizes[][2] = {{24, 80}, {50, 200}};
	struct pty_screen pty;
	pid_t target;
	char pid[24];

	(void)state;
	if (strcmp(HEAP_TARGET, "") == 0) {
		skip_test("there is no libjemalloc to link with");
	}
	target = start_heap_target();
	/* and one without jemalloc: this one */
	snprintf(pid, sizeof(pid), "--pid=%d", target);
	for (size_t i = 0; i < 2; i++) {
		start_program(&pty, sizes[i][0], sizes[i][1], "-d0.5", pid, own_pid);
		pty_wait_text(&pty, "every 0.5s  rate");
		pty_wait_text(&pty, "test_ui_program");
		pty_show(&pty, "8", "only jemalloc processes");
		pty_wait_text(&pty, "ALLOC/sv");
		pty_wait(&pty, allocates, "heap_target", "a rate of allocation");
		pty_wait_no_text(&pty, "test_ui_program");
		if (sizes[i][1] >= 120)
			pty_wait_text(&pty, "LAYOUT");
		pty_type(&pty, "e");
		pty_search(&pty, "JEMALLOC IN");
		pty_search(&pty, "jemalloc 5");
		pty_type(&pty, "e");
		pty_show(&pty, "J", "probe off (J)");
		pty_wait_text(&pty, "The allocator probe is off. J switches it on.");
		pty_type(&pty, "J");
		pty_wait(&pty, allocates, "heap_target", "a rate of allocation again");
		pty_quit(&pty);
	}
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
}

/* The tab Cgroup shows cgroups from the start, and others what they show without it; -g counts more. */
static void test_begins_with_cgroups(void **state)
{
	struct pty_screen pty;

	(void)state;
	start_program(&pty, 24, 80, "--tab=cg", "--no-config", own_pid);
	pty_wait_text(&pty, "group by cgroup {N}");
	pty_show(&pty, "2", "group by process {N}");
	pty_quit(&pty);
	start_program(&pty, 24, 80, "--tab=cg", "-gpid", own_pid);
	pty_wait_text(&pty, "group by pid");
	pty_wait_text(&pty, "these columns need cgroups: press g");
	pty_quit(&pty);
}

/* The columns of the command line are those of the first tab; others have their own, and say where they are.
 */
static void test_columns_of_the_command_line(void **state)
{
	struct pty_screen pty;

	(void)state;
	start_program(&pty, 24, 80, "--columns=thr,minf,blkio", "--no-config", own_pid);
	/* what cannot be read on most hosts stays, as it was asked for */
	pty_wait_text(&pty, "THR  MINF/s  BLKIO%");
	pty_wait_text(&pty, "1 group by process {N}");
	pty_show(&pty, "2", "SLICE");
	pty_wait_text(&pty, "the columns of --columns are on the tab Overview (1)");
	pty_wait_no_text(&pty, "MINF/s");
	pty_show(&pty, "3", "POLICY");
	pty_wait_no_text(&pty, "--columns");
	pty_show(&pty, "1", "THR  MINF/s  BLKIO%");
	/* what is chosen on the page of columns counts more */
	pty_show(&pty, "C", "apply");
	pty_hide(&pty, "/BLKIO\r \r", "BLKIO%");
	pty_wait_text(&pty, "MINF/s");
	pty_show(&pty, "21", "MINF/s");
	pty_wait_no_text(&pty, "BLKIO%");
	pty_quit(&pty);
}

/*
 * A file saved from the screen has the host's facts: a comparison with a host that looked the same lists
 * their differences.
 */
static void check_host_facts(const char *path)
{
	char command[3 * PATH_MAX], other[PATH_MAX];
	struct snapshot *saved = NULL;
	struct error error = {""};
	struct utsname name;

	if (ctprof_read(path, UINT64_MAX, &saved, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(uname(&name), 0);
	assert_true(saved->host.present && saved->host.online_cpus.present && saved->host.numa_nodes.present);
	assert_true(saved->host.total_memory_kib.present && saved->host.sched_tunables.present);
	assert_string_equal(saved->host.kernel_release, name.release);
	assert_non_null(saved->host.kernel_cmdline);
	snprintf(other, sizeof(other), "%s.other", path);
	saved->provenance.hostname = saved->provenance.boot_id = "elsewhere";
	saved->host.numa_nodes.value += 1;
	if (ctprof_write(saved, saved->window, other, false, NULL, &error) < 0)
		fail_msg("%s", error.text);
	snapshot_release(saved);
	snprintf(command, sizeof(command),
		 CTOP_PROGRAM " diff %s %s | grep 'the hosts are not alike: .*NUMA nodes'", path, other);
	assert_int_equal(pty_run_quietly((const char *const[]){"/bin/sh", "-c", command, NULL}), 0);
	unlink(other);
}

/* S writes a file; opened on the screen it has the same group with the same number of threads. */
static void test_save_and_reopen(void **state)
{
	char directory[] = "/tmp/ctop-ui-XXXXXX", path[PATH_MAX], option[PATH_MAX];
	struct pty_screen pty;
	struct dirent *entry;
	DIR *listing;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(option, sizeof(option), "--save-dir=%s", directory);
	start_program(&pty, 24, 80, "-d0.5", "-gthread", option);
	pty_type(&pty, threads_only);
	pty_wait(&pty, numbers_are_there, "uiwatch-{N}", "numbers of our threads");
	pty_show(&pty, "S", "saved ");
	pty_quit(&pty);
	path[0] = '\0';
	listing = opendir(directory);
	assert_non_null(listing);
	while ((entry = readdir(listing)) != NULL) {
		if (strstr(entry->d_name, ".ctprof.zst") != NULL)
			snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
	}
	closedir(listing);
	assert_true(path[0] != '\0');
	check_host_facts(path);
	start_program(&pty, 24, 120, "-gthread", path, NULL);
	pty_wait_text(&pty, "file of ");
	pty_wait_text(&pty, strrchr(path, '/') + 1);
	pty_show(&pty, threads_only, "6 threads in 1 group by thread {N}");
	pty_quit(&pty);
	unlink(path);
	rmdir(directory);
}

/* Tab completes the name of a file; the file saved last is offered. */
static void test_names_of_files(void **state)
{
	char directory[] = "/tmp/ctop-ui-XXXXXX", option[PATH_MAX], path[PATH_MAX];
	struct pty_screen pty;
	struct dirent *entry;
	DIR *listing;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(option, sizeof(option), "--save-dir=%s", directory);
	start_program(&pty, 24, 120, "-d0.5", "-gthread", option);
	pty_type(&pty, threads_only);
	pty_wait(&pty, numbers_are_there, "uiwatch-{N}", "numbers of our threads");
	pty_show(&pty, "D", "compare with:");
	pty_show(&pty, TEST_DATA "/refer\t", "/reference/");
	pty_show(&pty, "snapshots/real\t", "snapshots/real.");
	pty_show(&pty, "\t", "real.a.ctprof.zst real.b.ctprof.zst");
	pty_show(&pty, "zzz\t", "no other file name begins with this");
	pty_show(&pty, "\x03S", "saved ");
	pty_type(&pty, "D");
	snprintf(option, sizeof(option), "compare with: %s/ctop-", directory);
	pty_wait_text(&pty, option);
	pty_show(&pty, "\r", "D goes back");
	pty_show(&pty, "S", "report: ctop-");
	pty_wait_text(&pty, "-to-now.html");
	/* what is typed takes its place, unless the cursor was moved */
	pty_show(&pty, "\001x", "report: xctop-");
	pty_show(&pty, "\x03S", "report: ctop-");
	pty_show(&pty, "y", "report: y");
	pty_wait_no_text(&pty, "-to-now.html");
	pty_type(&pty, "\x03");
	pty_quit(&pty);
	listing = opendir(directory);
	assert_non_null(listing);
	while ((entry = readdir(listing)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		unlink(path);
	}
	closedir(listing);
	assert_int_equal(rmdir(directory), 0);
}

static void test_file_of_another_program(void **state)
{
	struct pty_screen pty;

	(void)state;
	start_program(&pty, 50, 200, TEST_DATA "/reference/snapshots/real.a.ctprof.zst", NULL, NULL);
	pty_wait_text(&pty, "real.a.ctprof.zst");
	pty_wait_text(&pty, "by the file's flags");
	pty_wait_text(&pty, " groups by process {N}");
	for (const char *tab = "234567901"; *tab != '\0'; tab++) {
		const char key[2] = {*tab, '\0'};

		pty_type(&pty, key);
	}
	pty_wait_text(&pty, "STUCK");
	pty_show(&pty, "e", "PARSE");
	pty_wait_text(&pty, "Features of the host: not in the file.");
	pty_quit(&pty);
}

/* S on a file writes a report, in the format of the name's ending. */
static void test_report_of_a_file(void **state)
{
	char directory[] = "/tmp/ctop-ui-XXXXXX", path[PATH_MAX], typed[PATH_MAX + 8], line[256] = "";
	struct pty_screen pty;
	FILE *report;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/report.tsv", directory);
	start_program(&pty, 24, 80, TEST_DATA "/reference/snapshots/real.a.ctprof.zst", NULL, NULL);
	pty_wait_text(&pty, "by process {N}");
	pty_show(&pty, "S", "a path that ends in .txt, .tsv, .csv, .json, .md or .html");
	/* an ending that is no format: it says so, and the line stays open */
	pty_show(&pty, "/nowhere/report.pdf\r", "Esc cancel");
	assert_true(pty.cursor_visible);
	snprintf(typed, sizeof(typed), "\025%s\r", path);
	pty_show(&pty, typed, "wrote ");
	pty_quit(&pty);
	report = fopen(path, "r");
	assert_non_null(report);
	/* the name of the first section, then its column titles */
	assert_non_null(fgets(line, sizeof(line), report));
	assert_string_equal(line, "# primary\n");
	assert_non_null(fgets(line, sizeof(line), report));
	assert_non_null(strchr(line, '\t'));
	fclose(report);
	unlink(path);
	rmdir(directory);
}

/* Files of every kind: none of them may end the screen. */
static void test_odd_files(void **state)
{
	static const char *const names[] = {"both_empty.a", "odds.a", "extremes.a", "cgroup_edges.a",
					    "scx.a"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[PATH_MAX];
		struct pty_screen pty;

		snprintf(path, sizeof(path), "%s/reference/snapshots/%s.ctprof.zst", TEST_DATA, names[i]);
		start_program(&pty, 24, 80, path, NULL, NULL);
		pty_wait_text(&pty, names[i]);
		pty_wait_text(&pty, "by process");
		pty_type(&pty, "\rm\033g0e\033ni");
		pty_show(&pty, "?", "Columns of this tab");
		pty_quit(&pty);
	}
}

static void test_ends_with_its_terminal(void **state)
{
	struct pty_screen pty;

	(void)state;
	start_program(&pty, 24, 80, "-d1", NULL, NULL);
	pty_wait_text(&pty, "by process {N}");
	pty_take_away(&pty);
	start_program(&pty, 24, 80, "-d1", NULL, NULL);
	pty_wait_text(&pty, "by process {N}");
	kill(pty.child, SIGTERM);
	pty_expect_end(&pty, SIGTERM, 0);
}

/* Keys come from /dev/tty when standard input is something else. */
static void test_input_is_no_terminal(void **state)
{
	const char *const arguments[] = {"/bin/sh", "-c", "exec " CTOP_PROGRAM " -d1 </dev/null", NULL};
	const struct pty_options options = {.rows = 24, .columns = 80};
	struct pty_screen pty;

	(void)state;
	pty_start(&pty, &options, arguments);
	pty_wait_text(&pty, "by process {N}");
	pty_show(&pty, "?", "Columns of this tab");
	pty_quit(&pty);
}

/* A terminal that went away ends it even where SIGHUP is ignored, as under nohup(1). */
static void test_ends_without_hangup_signal(void **state)
{
	const char *const arguments[] = {"/bin/sh", "-c", "trap '' HUP; exec " CTOP_PROGRAM " -d1", NULL};
	const struct pty_options options = {.rows = 24, .columns = 80, .keep_slave_closed = true};
	struct pty_screen pty;

	(void)state;
	pty_start(&pty, &options, arguments);
	pty_wait_text(&pty, "by process {N}");
	close(pty.master);
	pty.master = -1;
	pty_wait_end(&pty);
	pty_release(&pty);
}

/* Options that would do nothing on the screen are refused. */
static void test_options_without_use(void **state)
{
	static const char file[] = TEST_DATA "/reference/snapshots/real.a.ctprof.zst";
	static const struct {
		const char *first, *second, *third, *said;
	} cases[] = {
		{"-d1", file, NULL, "--interval is for a live host: leave it out where a file is shown"},
		{file, "-n1", file, "-n is for a live host"},
		{"--pid=1", file, NULL, "--pid is for a live host"},
		{"--latency", "-trun", file, "--latency is for a live host"},
		{"--proc-root=/proc", file, NULL, "--proc-root is for a live host"},
		{"--format=json", file, NULL, "--format is for printing: add -b"},
		{"--format=text", NULL, NULL, "--format is for printing: add -b"},
	};
	struct pty_screen pty;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start_program(&pty, 24, 120, cases[i].first, cases[i].second, cases[i].third);
		pty_wait_text(&pty, cases[i].said);
		pty_expect_end(&pty, 0, 2);
	}
}

static void test_ends_after_rounds(void **state)
{
	struct pty_screen pty;

	(void)state;
	start_program(&pty, 24, 80, "-d0.1", "-n3", NULL);
	assert_int_equal(pty_wait_end(&pty), 0);
	pty_expect_restored(&pty);
	pty_release(&pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_finds_threads),
		cmocka_unit_test(test_peer),
		cmocka_unit_test(test_end_in_background),
		cmocka_unit_test(test_titles),
		cmocka_unit_test(test_heap_tab),
		cmocka_unit_test(test_begins_with_cgroups),
		cmocka_unit_test(test_columns_of_the_command_line),
		cmocka_unit_test(test_save_and_reopen),
		cmocka_unit_test(test_names_of_files),
		cmocka_unit_test(test_file_of_another_program),
		cmocka_unit_test(test_odd_files),
		cmocka_unit_test(test_report_of_a_file),
		cmocka_unit_test(test_ends_with_its_terminal),
		cmocka_unit_test(test_options_without_use),
		cmocka_unit_test(test_ends_after_rounds),
		cmocka_unit_test(test_input_is_no_terminal),
		cmocka_unit_test(test_ends_without_hangup_signal),
	};

	pty_need();
	return cmocka_run_group_tests(tests, start_threads, stop_threads);
}
