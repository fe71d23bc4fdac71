/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `ctop diff` costs: wall and CPU time and peak memory for two generated snapshots, once with threads in
 * pools, as hosts have them, and once with a group for each thread, beside what the reference took elsewhere;
 * and what `ctop show` costs for one of them. With another program, both run in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"
#include "snapshot_file.h"
#include "store/ctprof.h"

/* The reference program (0.50.0) with two snapshots of 10,086 threads, measured elsewhere on two cores. */
#define REFERENCE_WALL_MS  210.0
#define REFERENCE_PEAK_MIB 75.0

/* How threads are named. */
enum shape {
	SHAPE_POOLS,    /* a group for each kind of process */
	SHAPE_DISTINCT, /* a group for each thread */
	SHAPE_COUNT,
};

static const char *const shape_names[SHAPE_COUNT] = {"pools", "all distinct"};

/* A word of letters for a number, which no pattern takes for a digit. */
static const char *word(size_t number, char text[static 16])
{
	size_t length = 0;

	do {
		text[length++] = (char)('g' + number % 20);
		number /= 20;
	} while (number != 0);
	text[length] = '\0';
	return text;
}

static struct triple name_thread(struct snapshot *snapshot, unsigned int shape, size_t thread)
{
	size_t process = thread / PROCESS_THREADS;
	char process_word[16], thread_word[16];

	word(shape == SHAPE_DISTINCT ? process : process % 20, process_word);
	word(shape == SHAPE_DISTINCT ? thread : thread % 4, thread_word);
	return (struct triple){intern(snapshot, "%s", process_word),
			       intern(snapshot, "%s-%zu", thread_word, thread),
			       intern(snapshot, "/system.slice/%s-%zu.service", process_word, process)};
}

static void write_snapshot(const char *path, size_t threads, enum shape shape)
{
	const struct generation wanted = {
		.threads = threads, .limit = 1000000000, .share = 5, .kind = shape, .name = name_thread};
	struct snapshot *snapshot = snapshot_generate(&wanted);
	struct error error;

	snapshot->provenance.present = true;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	for (size_t i = 0; i < threads; i++)
		snapshot->start_time[i] = i + 1;
	snapshot_finish(snapshot);
	if (ctprof_write(snapshot, snapshot->window, path, true, NULL, &error) < 0)
		fail(error.text);
	snapshot_release(snapshot);
}

/* Runs a command of ctop, which ends with NULL, several times and prints what it costs. */
static void measure(const struct bench_options *options, const char *what, const char *const *command,
		    bool has_reference)
{
	/* what tsv says on stderr about the captures is no part of the benchmark */
	const char *arguments[PROGRAMS_MAX][16] = {
		{"sh", "-c", "exec \"$@\" 2>/dev/null", "sh", options->ctop},
		{"sh", "-c", "exec \"$@\" 2>/dev/null", "sh", options->other}};
	const size_t programs = options->other != NULL ? 2 : 1;
	struct run_cost costs[PROGRAMS_MAX];

	for (size_t i = 0; i < programs; i++) {
		for (size_t j = 0; command[j] != NULL; j++)
			arguments[i][5 + j] = command[j];
	}
	if (!run_costs_of(costs, (const char *const *const[]){arguments[0], arguments[1]}, programs,
			  options->runs))
		fail("ctop has failed");
	printf("%-22s %9.1f %9.1f %9.1f", what, costs[0].wall_ms, costs[0].cpu_ms, costs[0].peak_mib);
	if (programs == 2)
		printf("   %.2f of the other's CPU time, %.2f of its memory",
		       costs[0].cpu_ms / costs[1].cpu_ms, costs[0].peak_mib / costs[1].peak_mib);
	else if (has_reference)
		printf("   %.2f of its wall time (aim 0.7), %.2f of its memory (aim 0.5)",
		       costs[0].wall_ms / REFERENCE_WALL_MS, costs[0].peak_mib / REFERENCE_PEAK_MIB);
	putchar('\n');
	fflush(stdout);
}

static void measure_shape(const struct bench_options *options, enum shape shape, size_t threads)
{
	char before[] = "/tmp/ctop-bench-XXXXXX", after[] = "/tmp/ctop-bench-XXXXXX";
	int files[] = {mkstemp(before), mkstemp(after)};
	const char *show[] = {"show", before, NULL};
	const char *text[] = {"diff", before, after, NULL};
	const char *whole[] = {"diff", before, after, "--format", "tsv", "--limit", "0", NULL};

	if (files[0] < 0 || files[1] < 0)
		fail_call("cannot make a file in /tmp");
	close(files[0]);
	close(files[1]);
	write_snapshot(before, threads, shape);
	write_snapshot(after, threads, shape);
	printf("%zu threads, %s\n", threads, shape_names[shape]);
	measure(options, "  show, 500 rows", show, false);
	measure(options, "  diff, 500 rows", text, threads == 10000 && shape == SHAPE_POOLS);
	measure(options, "  diff, tsv, all rows", whole, false);
	unlink(before);
	unlink(after);
}

static const char usage[] = "usage: bench-diff [--short] [--ctop PROGRAM] [--other PROGRAM] [--runs N]\n"
			    "  --short      1,000 threads, one run: only shows that it works\n"
			    "  --other      an older ctop, run in turn with the other one\n"
			    "  --runs N     of each command (5)\n";

int main(int argc, char **argv)
{
	struct bench_options options = {.ctop = CTOP_PROGRAM, .threads = 10000, .runs = 5};

	bench_options_parse(&options, usage, argc, argv);
	printf("%-22s %9s %9s %9s   median of %u runs; the reference was measured elsewhere, on two cores\n",
	       "", "wall ms", "CPU ms", "peak MiB", options.runs);
	for (int shape = 0; shape < SHAPE_COUNT; shape++) {
		measure_shape(&options, (enum shape)shape, options.threads);
		if (!options.is_short)
			measure_shape(&options, (enum shape)shape, 100000);
	}
	return EXIT_SUCCESS;
}
