/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a live round must cost: listing the threads, asking taskstats for all and opening procfs only for
 * those that moved, beside the plain way of opening stat, io and schedstat of every thread, in the same run
 * and under four loads. Prints CPU microseconds per thread (CLOCK_THREAD_CPUTIME_ID, median of the rounds).
 * Needs root for taskstats.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "run.h"

struct walk {
	DIR *proc;
	struct capture *capture;
	size_t threads; /* of the last round */
};

static void read_file(const char *tgid, const char *tid, const char *name)
{
	static char text[8192];
	char path[3 * NAME_MAX];
	int descriptor;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/%s", tgid, tid, name);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return;
	if (read(descriptor, text, sizeof(text)) < 0)
		text[0] = '\0'; /* it has ended */
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
		read_file(tgid, entry->d_name, "stat");
		read_file(tgid, entry->d_name, "io");
		read_file(tgid, entry->d_name, "schedstat");
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
		fail(error.text);
	walk->threads = snapshot->thread_count;
	snapshot_release(snapshot);
}

/* What `ctop -b` reads for a table with CPU time, waits, states and I/O. */
static void batch_round(struct walk *walk)
{
	take_round(walk, true);
}

/* What the screen reads: also what is not needed, within the budget. */
static void live_round(struct walk *walk)
{
	take_round(walk, false);
}

static void full_round(struct walk *walk)
{
	struct snapshot *snapshot;
	struct error error;

	if (capture_full(walk->capture, UINT64_MAX, NULL, &snapshot, &error) < 0)
		fail(error.text);
	walk->threads = snapshot->thread_count;
	snapshot_release(snapshot);
}

/* Microseconds of CPU per thread and round. */
static double measure(struct walk *walk, void (*run)(struct walk *walk), size_t rounds)
{
	const struct timespec pause = {.tv_nsec = 500000000};
	double cost[RUNS_MAX];

	run(walk);
	for (size_t i = 0; i < rounds; i++) {
		double start;

		nanosleep(&pause, NULL);
		start = clock_us(CLOCK_THREAD_CPUTIME_ID);
		run(walk);
		cost[i] = (clock_us(CLOCK_THREAD_CPUTIME_ID) - start) / (double)walk->threads;
	}
	return median(cost, rounds);
}

static void bench_load(const struct bench_options *options, const char *name, const char *const *load_options)
{
	static void (*const runs[])(struct walk * walk) = {plain_round, batch_round, live_round, full_round};
	const struct capture_options capture_options = {0};
	struct walk walk = {.proc = opendir("/proc")};
	struct program load;
	struct error error;

	load_start(&load, options->threads, load_options);
	if (walk.proc == NULL)
		fail_call("/proc");
	if (capture_open(&capture_options, &walk.capture, &error) < 0)
		fail(error.text);
	printf("%7u  %-20s", options->threads, name);
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		printf(" %8.2f", measure(&walk, runs[i], options->runs));
		fflush(stdout);
	}
	printf("\n");
	program_end(&load);
	closedir(walk.proc);
	capture_close(walk.capture);
}

static const char usage[] = "usage: bench-round [--short] [--threads N] [--runs N]\n"
			    "  --short      1,000 threads, one round: only shows that it works\n"
			    "  --threads N  about as many (10,000)\n"
			    "  --runs N     rounds of each kind (9)\n";

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *options[5];
	} loads[] = {
		{"idle", {NULL}},
		{"8 busy", {"--busy", "8"}},
		{"a tenth waking", {"--waking", "0.1", "--interval-ms", "500"}},
		{"1000 a second churn", {"--churn", "1000"}},
	};
	struct bench_options options = {.threads = 10000, .runs = 9};

	bench_options_parse(&options, usage, argc, argv);
	printf("%7s  %-20s %8s %8s %8s %8s\n", "threads", "load, us", "plain", "-b", "screen", "full");
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		bench_load(&options, loads[i].name, loads[i].options);
	return EXIT_SUCCESS;
}
