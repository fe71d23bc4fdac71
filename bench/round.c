/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a live round must cost: listing the threads, asking taskstats for all and opening procfs only for
 * those that moved, beside the plain way of opening stat, io and schedstat of every thread, in the same run
 * and under four loads. Prints CPU microseconds per thread (CLOCK_THREAD_CPUTIME_ID, median of the rounds).
 * Needs root for taskstats. Usage: bench-round LOAD [THREADS]…, LOAD being the load generator.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/capture.h"

enum {
	ROUNDS = 9,
	PER_PROCESS = 100, /* threads of each process of the load */
};

struct walk {
	DIR *proc;
	struct capture *capture;
	size_t threads, opened; /* of the last round */
};

static void read_file(struct walk *walk, const char *tgid, const char *tid, const char *name)
{
	static char text[8192];
	char path[3 * NAME_MAX];
	int descriptor;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/%s", tgid, tid, name);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return;
	walk->opened += read(descriptor, text, sizeof(text)) > 0;
	close(descriptor);
}

static void read_tasks(struct walk *walk, const char *tgid)
{
	char path[2 * NAME_MAX];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%s/task", tgid);
	tasks = opendir(path);
	if (tasks == NULL)
		return;
	while ((entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		walk->threads++;
		read_file(walk, tgid, entry->d_name, "stat");
		read_file(walk, tgid, entry->d_name, "io");
		read_file(walk, tgid, entry->d_name, "schedstat");
	}
	closedir(tasks);
}

static void plain_round(struct walk *walk)
{
	struct dirent *entry;

	walk->threads = 0;
	rewinddir(walk->proc);
	while ((entry = readdir(walk->proc)) != NULL) {
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			read_tasks(walk, entry->d_name);
	}
}

static void take_round(struct walk *walk, bool only_needed)
{
	const struct capture_round_options options = {
		.needed = source_bit(SOURCE_STAT) | source_bit(SOURCE_SCHEDSTAT) | source_bit(SOURCE_IO),
		.only_needed = only_needed};
	struct snapshot *snapshot;
	struct error error;

	if (capture_round(walk->capture, &options, NULL, &snapshot, &error) < 0)
		exit(EXIT_FAILURE);
	walk->threads = snapshot->thread_count;
	snapshot_release(snapshot);
}

/* What `ctop -b` reads for a table with CPU time, waits, states and I/O. */
static void batch_round(struct walk *walk)
{
	take_round(walk, true);
}

/* What the screen reads: the rest too, within the budget. */
static void live_round(struct walk *walk)
{
	take_round(walk, false);
}

static void full_round(struct walk *walk)
{
	struct snapshot *snapshot;
	struct error error;

	if (capture_full(walk->capture, UINT64_MAX, NULL, &snapshot, &error) < 0)
		exit(EXIT_FAILURE);
	walk->threads = snapshot->thread_count;
	snapshot_release(snapshot);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Microseconds of CPU per thread and round. */
static double measure(struct walk *walk, void (*run)(struct walk *walk))
{
	const struct timespec pause = {.tv_nsec = 500000000};
	double cost[ROUNDS];

	run(walk);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint64_t start;

		nanosleep(&pause, NULL);
		start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		run(walk);
		cost[i] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / 1000.0 /
			  (double)walk->threads;
	}
	qsort(cost, ROUNDS, sizeof(cost[0]), compare_doubles);
	return cost[ROUNDS / 2];
}

/* The load generator ends with its standard input: closing `ret_input` stops it. */
static pid_t start_load(const char *program, unsigned long threads, const char *options, int *ret_input)
{
	int input[2], output[2];
	char *command = memory_format("exec %s %lu %d %s", program, threads / PER_PROCESS, PER_PROCESS,
				      options);
	char line[64];
	pid_t child;

	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
		exit(EXIT_FAILURE);
	child = fork();
	if (child == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	free(command);
	close(input[0]);
	close(output[1]);
	if (child < 0 || read(output[0], line, sizeof(line)) <= 0) {
		fprintf(stderr, "bench-round: cannot start %s\n", program);
		exit(EXIT_FAILURE);
	}
	close(output[0]);
	*ret_input = input[1];
	return child;
}

static void bench_load(const char *program, unsigned long threads, const char *name, const char *options)
{
	static void (*const runs[])(struct walk * walk) = {plain_round, batch_round, live_round, full_round};
	struct walk walk = {.proc = opendir("/proc")};
	const struct capture_options capture_options = {0};
	struct error error;
	int input;
	pid_t child = start_load(program, threads, options, &input);

	if (walk.proc == NULL || capture_open(&capture_options, &walk.capture, &error) < 0)
		exit(EXIT_FAILURE);
	printf("%7lu  %-20s", threads, name);
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		printf(" %8.2f", measure(&walk, runs[i]));
		fflush(stdout);
	}
	printf("\n");
	close(input);
	waitpid(child, NULL, 0);
	closedir(walk.proc);
	capture_close(walk.capture);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *options;
	} loads[] = {
		{"idle", ""},
		{"8 busy", "--busy 8"},
		{"a tenth waking", "--waking 0.1 --interval-ms 500"},
		{"1000 a second churn", "--churn 1000"},
	};

	if (argc < 2) {
		fprintf(stderr, "usage: bench-round LOAD [THREADS]...\n");
		return 2;
	}
	printf("%7s  %-20s %8s %8s %8s %8s\n", "threads", "load, us", "plain", "-b", "screen", "full");
	for (int i = 2; i < argc || i == 2; i++) {
		unsigned long threads = i < argc ? strtoul(argv[i], NULL, 10) : 10000;

		for (size_t k = 0; k < sizeof(loads) / sizeof(loads[0]); k++)
			bench_load(argv[1], threads, loads[k].name, loads[k].options);
	}
	return 0;
}
