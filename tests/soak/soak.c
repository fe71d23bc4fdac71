/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A screen, a recorder and an exporter for a long time under churn: processes by the hundred a second,
 * threads by the ten thousand, names that no other thread has, cgroups that come and go, a program on a file
 * system that does not answer, a jemalloc program that is stopped. Each minute it prints, separated by tabs,
 * what each of the three holds and costs, and how long the screen takes to answer keys. What it holds is the
 * least of its second half: each table takes tens of megabytes for a moment, which malloc(3) gives back
 * later.
 *
 * Fails where one of them ends, where memory grows or descriptors pile up after the first third, or where the
 * history has a gap. How fast keys are answered is only printed, with the delay of a bare pseudo terminal.
 *
 * Usage: soak MINUTES [short]
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/system/scrape.h"
#include "tests/ui/hanging_mount.h"
#include "tests/ui/pty_screen.h"

#include "base/clock.h"

enum {
	MINUTES_MAX = 24 * 60,
	KEYS_MAX = 4096,    /* of a minute */
	KEY_INTERVAL_S = 1, /* between two questions to the screen */
	FAMILY_MAX = 16,    /* processes of one of the three */
	GROWTH_KIB_PER_H = 1024,
	GROWTH_DESCRIPTORS_PER_H = 30, /* less those of processes, which come and go between two looks */
};

enum subject_kind {
	SCREEN,
	RECORD,
	EXPORT,
	SUBJECTS
};

static const char *const subject_names[SUBJECTS] = {"screen", "record", "export"};

/* What one of them, with its helpers, holds at the end of a minute. */
struct sample {
	uint64_t resident_kib, descriptors;
	uint64_t processes; /* of the host: of each a descriptor may be kept */
	uint64_t cpu_ms;    /* since it began */
};

struct soak {
	double minutes;
	bool is_short;
	struct pty_screen screen;
	struct exporter exporter;
	struct running record;
	struct helper names, crowd;
	bool is_crowded;
	pid_t churn, plain, allocating;
	struct sample samples[MINUTES_MAX][SUBJECTS];
	size_t sample_count;
	double keys_ms[KEYS_MAX];
	size_t key_count, slow_keys;
};

static struct soak soak;
static const struct run_options ordinary;

/* --- what they hold --- */

static uint64_t count_descriptors(pid_t process)
{
	char path[64];
	uint64_t count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)process);
	directory = opendir(path);
	while (directory != NULL && readdir(directory) != NULL)
		count++;
	if (directory != NULL)
		closedir(directory);
	return count > 2 ? count - 2 : 0; /* . and .. */
}

static uint64_t count_processes(void)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	uint64_t count = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
		count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	closedir(directory);
	return count;
}

/* Adds what a process and its children have: proc_pid_stat(5), whose times are of 10 ms. */
static void add_family(struct sample *sample, pid_t process, unsigned int *left)
{
	unsigned long long user, kernel, waited_user, waited_kernel;
	long long pages;
	char path[64], line[1024];
	const char *end;
	FILE *file;
	int child;

	if ((*left)-- == 0)
		fail_msg("process %d has more than %d processes", (int)process, FAMILY_MAX);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	end = fgets(line, sizeof(line), file) != NULL ? strrchr(line, ')') : NULL;
	fclose(file);
	if (end == NULL ||
	    sscanf(end,
		   ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %*d %*d %*u "
		   "%*u %lld",
		   &user, &kernel, &waited_user, &waited_kernel, &pages) != 5)
		return;
	sample->cpu_ms += (user + kernel + waited_user + waited_kernel) * 10;
	sample->resident_kib += (uint64_t)pages * 4;
	sample->descriptors += count_descriptors(process);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)process, (int)process);
	file = fopen(path, "re");
	while (file != NULL && fscanf(file, "%d", &child) == 1)
		add_family(sample, child, left);
	if (file != NULL)
		fclose(file);
}

static pid_t process_of(enum subject_kind kind)
{
	return kind == SCREEN   ? soak.screen.child
	       : kind == RECORD ? soak.record.child
				: soak.exporter.running.child;
}

/* --- the churn --- */

/* Makes a cgroup with a process that ends at once, and removes it. */
static void use_cgroup(const char *root, unsigned int number)
{
	char path[512];
	pid_t child;
	int procs;

	snprintf(path, sizeof(path), "%s/ctop-soak-%d-%u", root, (int)getpid(), number);
	if (mkdir(path, 0755) < 0)
		return;
	child = fork();
	if (child == 0) {
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/cgroup.procs");
		procs = open(path, O_WRONLY | O_CLOEXEC);
		_exit(procs < 0 || write(procs, "0", 1) != 1);
	}
	waitpid(child, NULL, 0);
	rmdir(path);
}

/* Processes at a rate: most fork and end, each tenth is another program; and two cgroups a second. */
static void churn(unsigned int rate)
{
	const uint64_t step = NS_PER_S / rate;
	uint64_t next = clock_ns(CLOCK_MONOTONIC);
	char root[256];
	bool has_cgroups = find_cgroup2(root);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned int number = 0;; number++) {
		const struct timespec time = clock_timespec(next += step);
		pid_t child;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
		child = fork();
		if (child == 0) {
			if (number % 10 == 0)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		if (has_cgroups && number % (rate / 2 + 1) == 0)
			use_cgroup(root, number);
	}
}

static void start_load(struct helper *helper, const char *const *options)
{
	char line[64];

	helper_start(helper, options, 0);
	assert_true(helper_answer(helper, line, sizeof(line)));
}

/* A crowd of threads is there in each other minute. */
static void change_crowd(void)
{
	if (soak.is_crowded)
		helper_end(&soak.crowd);
	else
		start_load(&soak.crowd, (const char *const[]){LOAD_PROGRAM, soak.is_short ? "10" : "100",
							      "100", "--waking", "0.01", NULL});
	soak.is_crowded = !soak.is_crowded;
}

static pid_t start_target(const char *program, const char *const *arguments)
{
	int output[2], input[2];
	char byte = 0;
	pid_t child;

	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execv(program, (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	/* cat answers what it is told, the other one "ready" */
	if (arguments[1] == NULL)
		assert_int_equal(write(input[1], "y", 1), 1);
	while (byte != 'y' && read(output[0], &byte, 1) == 1)
		;
	assert_int_equal(byte, 'y');
	return child;
}

static void copy(const char *from, const char *to)
{
	int status;

	waitpid(hanging_mount_spawn((const char *const[]){"cp", from, to, NULL}, -1), &status, 0);
	assert_int_equal(status, 0);
}

static void start_churn(void)
{
	assert_int_equal(hanging_mount_make(), 0);
	copy("/bin/cat", hanging_mount_path("source/soak-hangs"));
	if (hanging_mount_start()) {
		const char *const program = hanging_mount_path("mount/soak-hangs");

		soak.plain = start_target(program, (const char *const[]){program, NULL});
		hanging_mount_stop();
	} else {
		printf("# no file system that does not answer\n");
	}
	if (HEAP_TARGET[0] != '\0') {
		soak.allocating = start_target(
			HEAP_TARGET, (const char *const[]){HEAP_TARGET, "park", "3", "100000", NULL});
		kill(soak.allocating, SIGSTOP);
	} else {
		printf("# no jemalloc program\n");
	}
	start_load(&soak.names, (const char *const[]){LOAD_PROGRAM, "1", "10", "--churn",
						      soak.is_short ? "20" : "100", "--new-names", NULL});
	soak.churn = fork();
	assert_true(soak.churn >= 0);
	if (soak.churn == 0)
		churn(soak.is_short ? 40 : 400);
}

static void end_churn(void)
{
	const pid_t children[] = {soak.churn, soak.plain, soak.allocating};

	if (soak.is_crowded)
		change_crowd();
	helper_end(&soak.names);
	for (size_t i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
		if (children[i] <= 0)
			continue;
		kill(children[i], SIGKILL);
		hanging_mount_end();
		waitpid(children[i], NULL, 0);
	}
	hanging_mount_remove();
}

/* --- keys --- */

/* Milliseconds from a key until the screen has, or no longer has, the text. */
static double answer_ms(const char *key, const char *text, bool appears)
{
	const uint64_t begun = clock_ns(CLOCK_MONOTONIC);

	if (appears)
		pty_show(&soak.screen, key, text);
	else
		pty_hide(&soak.screen, key, text);
	return (double)(clock_ns(CLOCK_MONOTONIC) - begun) / NS_PER_MS;
}

static void note_key(double milliseconds)
{
	if (soak.key_count < KEYS_MAX)
		soak.keys_ms[soak.key_count++] = milliseconds;
	soak.slow_keys += milliseconds > 100;
}

/* The tabs and the axes in turn, and the page of help, which is asked for the time. */
static void ask_screen(unsigned int number)
{
	static const char *const keys[] = {"\t", "gc\r", "\t", "gp\r", "\t", "+", "-"};

	pty_type(&soak.screen, keys[number % (sizeof(keys) / sizeof(keys[0]))]);
	note_key(answer_ms("?", "Columns of this tab", true));
	note_key(answer_ms("q", "Columns of this tab", false));
}

/* --- minutes --- */

static int compare_doubles(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void print_minute(size_t minute, const struct sample *before)
{
	const size_t count = soak.key_count;

	qsort(soak.keys_ms, count, sizeof(soak.keys_ms[0]), compare_doubles);
	printf("%zu", minute + 1);
	for (size_t i = 0; i < SUBJECTS; i++) {
		const struct sample *sample = &soak.samples[minute][i];

		printf("\t%llu\t%llu\t%llu", (unsigned long long)sample->resident_kib,
		       (unsigned long long)sample->descriptors,
		       (unsigned long long)(sample->cpu_ms - before[i].cpu_ms));
	}
	printf("\t%.1f\t%.1f\t%.1f\t%zu\n", count ? soak.keys_ms[count / 2] : 0,
	       count ? soak.keys_ms[count * 99 / 100] : 0, count ? soak.keys_ms[count - 1] : 0, count);
	fflush(stdout);
	soak.key_count = 0;
}

static void look(struct sample *samples)
{
	for (size_t i = 0; i < SUBJECTS; i++) {
		unsigned int left = FAMILY_MAX;

		samples[i] = (struct sample){.processes = count_processes()};
		assert_int_equal(kill(process_of((enum subject_kind)i), 0), 0);
		add_family(&samples[i], process_of((enum subject_kind)i), &left);
	}
}

/* Looks, and keeps of the memory the least of this and the last look. */
static void look_again(struct sample *samples)
{
	struct sample last[SUBJECTS];

	memcpy(last, samples, sizeof(last));
	look(samples);
	for (size_t i = 0; i < SUBJECTS; i++) {
		if (last[i].resident_kib < samples[i].resident_kib)
			samples[i].resident_kib = last[i].resident_kib;
	}
}

static void run_minutes(double minute_s)
{
	struct sample before[SUBJECTS];
	unsigned int number = 0;

	printf("minute");
	for (size_t i = 0; i < SUBJECTS; i++)
		printf("\t%s_kib\t%s_fds\t%s_cpu_ms", subject_names[i], subject_names[i], subject_names[i]);
	printf("\tkey_p50_ms\tkey_p99_ms\tkey_max_ms\tkeys\n");
	look(before);
	while (soak.sample_count < (size_t)soak.minutes) {
		const uint64_t minute_ns = (uint64_t)(minute_s * (double)NS_PER_S);
		const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
		struct sample *samples = soak.samples[soak.sample_count];
		uint64_t now;

		for (size_t i = 0; i < SUBJECTS; i++)
			samples[i].resident_kib = UINT64_MAX;
		change_crowd();
		while ((now = clock_ns(CLOCK_MONOTONIC)) < begun + minute_ns) {
			ask_screen(number++);
			free(exporter_scrape(&soak.exporter, false));
			pty_drain(&soak.screen, KEY_INTERVAL_S * 1000);
			/* what drawing takes for a moment is not held */
			if (now > begun + minute_ns / 2)
				look_again(samples);
		}
		look_again(samples);
		print_minute(soak.sample_count, before);
		memcpy(before, soak.samples[soak.sample_count++], sizeof(before));
	}
}

/* Growth an hour by least squares, in the minutes after the first third that were not crowded. */
static double growth_per_h(enum subject_kind kind, double (*held)(const struct sample *sample))
{
	double count = 0, x = 0, y = 0, xx = 0, xy = 0;

	for (size_t i = soak.sample_count / 3 | 1; i < soak.sample_count; i += 2) {
		const double minute = (double)i, value = held(&soak.samples[i][kind]);

		count++;
		x += minute;
		y += value;
		xx += minute * minute;
		xy += minute * value;
	}
	return count > 1 ? (count * xy - x * y) / (count * xx - x * x) * 60 : 0;
}

static double resident_of(const struct sample *sample)
{
	return (double)sample->resident_kib;
}

static double descriptors_of(const struct sample *sample)
{
	return (double)sample->descriptors - (double)sample->processes;
}

static bool is_flat(enum subject_kind kind)
{
	const double kib = growth_per_h(kind, resident_of), descriptors = growth_per_h(kind, descriptors_of);

	printf("# %s: %+.0f KiB and %+.1f descriptors an hour\n", subject_names[kind], kib, descriptors);
	/* a line through a few minutes says nothing */
	return soak.is_short ||
	       (kib < (double)GROWTH_KIB_PER_H && descriptors < (double)GROWTH_DESCRIPTORS_PER_H);
}

/* The history has no gap: the column of `ctop history`, days after one another. */
static void expect_whole_history(void)
{
	struct run run;
	unsigned int rounds = 0, gaps = 0, more_rounds, more_gaps;

	run_ctop_well(&run, (const char *const[]){"history", "--check", "--format", "tsv", "--history",
						  scratch_path("history"), NULL});
	for (const char *line = strstr(run.output, ".ctlog\t"); line != NULL;
	     line = strstr(line + 1, ".ctlog\t")) {
		if (sscanf(line, ".ctlog\t%*[^\t]\t%*[^\t]\t%u\t%*[^\t]\t%u", &more_rounds, &more_gaps) != 2)
			fail_msg("not understood:\n%s", run.output);
		rounds += more_rounds;
		gaps += more_gaps;
	}
	printf("# history: %u rounds, %u gaps\n", rounds, gaps);
	assert_true(rounds > 0);
	assert_int_equal(gaps, 0);
	run_release(&run);
}

static void test_soak(void **state)
{
	/* memory for rounds that is full long before the first third is over */
	const char *const arguments[] = {CTOP_PROGRAM, "--no-config", "-d", "1", "--keep-rounds", "4", NULL};
	struct run run;
	bool is_well = true;

	(void)state;
	start_churn();
	pty_start(&soak.screen, &(struct pty_options){.rows = 50, .columns = 200}, arguments);
	pty_wait_text(&soak.screen, " threads in ");
	run_start(&soak.record, &ordinary,
		  (const char *const[]){CTOP_PROGRAM, "record", "-d", "1", "--history",
					scratch_path("history"), NULL});
	exporter_begin(&soak.exporter, NULL, (const char *const[]){"-d", "1", "-l", "127.0.0.1:0", NULL});
	run_minutes(soak.is_short ? 2 : 60);
	for (size_t i = 0; i < SUBJECTS; i++)
		is_well &= is_flat((enum subject_kind)i);
	printf("# %zu answers took longer than 100 ms\n", soak.slow_keys);
	kill(soak.record.child, SIGTERM);
	run_finish(&soak.record, &run, &ordinary);
	run_expect(&run, 0);
	run_release(&run);
	exporter_end(&soak.exporter);
	pty_quit(&soak.screen);
	end_churn();
	expect_whole_history();
	assert_true(is_well);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_soak)};

	soak.minutes = count > 1 ? strtod(arguments[1], NULL) : 0;
	soak.is_short = count > 2 && strcmp(arguments[2], "short") == 0;
	if (soak.minutes < 1 || soak.minutes > (double)MINUTES_MAX) {
		fprintf(stderr, "usage: soak MINUTES [short]\n");
		return 2;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
