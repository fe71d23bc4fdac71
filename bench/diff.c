/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `ctop diff` costs: wall and CPU time and peak memory for two generated snapshots, once with threads in
 * pools, as hosts have them, and once with a group for each thread, beside what the reference took elsewhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctprof/ctprof.h"
#include "run.h"
#include "snapshot_file.h"

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
	if (ctprof_write(snapshot, path, true, NULL, &error) < 0)
		fail(error.text);
	snapshot_release(snapshot);
}

/* Runs a comparison several times and prints what it costs. */
static void measure(const char *what, const char *const *arguments, size_t runs, bool has_reference)
{
	struct run_cost cost;

	if (!run_cost_of(&cost, arguments, runs))
		fail("ctop diff has failed");
	printf("%-22s %9.1f %9.1f %9.1f", what, cost.wall_ms, cost.cpu_ms, cost.peak_mib);
	if (has_reference)
		printf("   %.2f of its wall time (aim 0.7), %.2f of its memory (aim 0.5)",
		       cost.wall_ms / REFERENCE_WALL_MS, cost.peak_mib / REFERENCE_PEAK_MIB);
	putchar('\n');
	fflush(stdout);
}

static void measure_shape(const char *ctop, enum shape shape, size_t threads, size_t runs)
{
	char before[] = "/tmp/ctop-bench-XXXXXX", after[] = "/tmp/ctop-bench-XXXXXX";
	int files[] = {mkstemp(before), mkstemp(after)};
	/* what tsv says on stderr about the captures is no part of the benchmark */
	const char *text[] = {"sh", "-c", "exec \"$@\" 2>/dev/null", "sh", ctop, "diff", before, after, NULL};
	const char *whole[] = {"sh",   "-c",      "exec \"$@\" 2>/dev/null",
			       "sh",   ctop,      "diff",
			       before, after,     "--format",
			       "tsv",  "--limit", "0",
			       NULL};

	if (files[0] < 0 || files[1] < 0)
		fail_call("cannot make a file in /tmp");
	close(files[0]);
	close(files[1]);
	write_snapshot(before, threads, shape);
	write_snapshot(after, threads, shape);
	printf("%zu threads, %s\n", threads, shape_names[shape]);
	measure("  text, 500 rows", text, runs, threads == 10000 && shape == SHAPE_POOLS);
	measure("  tsv, all rows", whole, runs, false);
	unlink(before);
	unlink(after);
}

static const char usage[] = "usage: bench-diff [--short] [--ctop PROGRAM] [--runs N]\n"
			    "  --short      1,000 threads, one run: only shows that it works\n"
			    "  --runs N     of each command (5)\n";

int main(int argc, char **argv)
{
	struct bench_options options = {.ctop = CTOP_PROGRAM, .threads = 10000, .runs = 5};

	bench_options_parse(&options, usage, argc, argv);
	printf("%-22s %9s %9s %9s   median of %u runs; the reference was measured elsewhere, on two cores\n",
	       "", "wall ms", "CPU ms", "peak MiB", options.runs);
	for (int shape = 0; shape < SHAPE_COUNT; shape++) {
		measure_shape(options.ctop, (enum shape)shape, options.threads, options.runs);
		if (!options.is_short)
			measure_shape(options.ctop, (enum shape)shape, 100000, options.runs);
	}
	return EXIT_SUCCESS;
}
