/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `ctop diff` costs: wall and CPU time and peak memory for two generated snapshots, once with threads in
 * pools, as hosts have them, and once with a group for each thread, beside what the reference took elsewhere.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "ctprof/ctprof.h"
#include "run.h"

enum {
	MAXIMUM_RUNS = 21,
	PROCESS_THREADS = 100,
	ZERO_SHARE = 5, /* of so many values one is not zero */
};

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

static void fail(const char *what)
{
	fprintf(stderr, "bench-diff: %s\n", what);
	exit(EXIT_FAILURE);
}

static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

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

static struct triple name_thread(struct snapshot *snapshot, enum shape shape, size_t thread)
{
	size_t process = thread / PROCESS_THREADS;
	char process_word[16], thread_word[16], cgroup[64], comm[64], pcomm[64];

	word(shape == SHAPE_DISTINCT ? process : process % 20, process_word);
	word(shape == SHAPE_DISTINCT ? thread : thread % 4, thread_word);
	snprintf(cgroup, sizeof(cgroup), "/system.slice/%s-%zu.service", process_word, process);
	snprintf(pcomm, sizeof(pcomm), "%s", process_word);
	snprintf(comm, sizeof(comm), "%s-%zu", thread_word, thread);
	return (struct triple){intern(snapshot, pcomm), intern(snapshot, comm), intern(snapshot, cgroup)};
}

static uint64_t make_value(enum metric metric, uint64_t policy, uint64_t cpus)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return policy;
	case METRIC_ENCODING_CPU_SET:
		return cpus;
	case METRIC_ENCODING_CHARACTER:
		return 'S';
	case METRIC_ENCODING_U64:
		return random_number() % ZERO_SHARE == 0 ? random_number() % 1000000000 : 0;
	default:
		return 0;
	}
}

static void write_snapshot(const char *path, size_t threads, enum shape shape)
{
	static const uint32_t cpus[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct snapshot *snapshot = snapshot_create();
	uint64_t set = cpu_set_intern(&snapshot->cpu_sets, cpus, sizeof(cpus) / sizeof(cpus[0]));
	uint64_t policy = intern(snapshot, "SCHED_OTHER");
	struct error error;

	snapshot->provenance.present = true;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	snapshot_reserve(snapshot, threads);
	for (size_t i = 0; i < threads; i++) {
		size_t leader = i / PROCESS_THREADS * PROCESS_THREADS;
		size_t thread = snapshot_add_thread(snapshot, (uint32_t)leader + 1, (uint32_t)i + 1);

		snapshot->triple[thread] = snapshot_intern_triple(snapshot, name_thread(snapshot, shape, i));
		snapshot->start_time[thread] = i + 1;
		for (size_t j = METRIC_THREAD_COUNT + 1; j < METRIC_COUNT; j++)
			snapshot_column(snapshot, (enum metric)j)[thread] = make_value((enum metric)j, policy,
										       set);
	}
	snapshot_finish(snapshot);
	if (ctprof_write(snapshot, path, true, NULL, &error) < 0)
		fail(error.text);
	snapshot_release(snapshot);
}

/* Runs a comparison several times and prints the medians. */
static void measure(const char *what, const char *const *arguments, size_t runs, bool has_reference)
{
	double wall[MAXIMUM_RUNS], cpu[MAXIMUM_RUNS];
	double peak_mib = 0;

	for (size_t i = 0; i < runs; i++) {
		struct run_cost cost;

		run_cost_of(&cost, arguments);
		if (!cost.started || cost.status != 0)
			fail("ctop diff has failed");
		wall[i] = (double)cost.wall_us / 1e3;
		cpu[i] = (double)cost.cpu_us / 1e3;
		if ((double)cost.peak_memory_kib / 1024 > peak_mib)
			peak_mib = (double)cost.peak_memory_kib / 1024;
	}
	printf("%-22s %9.1f %9.1f %9.1f", what, median(wall, runs), median(cpu, runs), peak_mib);
	if (has_reference)
		printf("   %.2f of its wall time (aim 0.7), %.2f of its memory (aim 0.5)",
		       median(wall, runs) / REFERENCE_WALL_MS, peak_mib / REFERENCE_PEAK_MIB);
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
		fail("cannot make a file in /tmp");
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

static void usage(FILE *stream)
{
	fputs("usage: bench-diff [--short] [--ctop PROGRAM] [--runs N]\n"
	      "  --short      1,000 threads, one run: only shows that it works\n"
	      "  --runs N     of each command (5)\n",
	      stream);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"short", no_argument, NULL, 's'},
						{"ctop", required_argument, NULL, 'c'},
						{"runs", required_argument, NULL, 'r'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const char *ctop = CTOP_PROGRAM;
	uint32_t runs = 5;
	bool is_short = false;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		bool valid = option != '?';

		if (option == 'h') {
			usage(stdout);
			return EXIT_SUCCESS;
		}
		if (option == 's') {
			is_short = true;
			runs = 1;
		} else if (option == 'c') {
			ctop = optarg;
		} else if (option == 'r') {
			valid = number_parse_u32(optarg, strlen(optarg), &runs) && runs > 0 &&
				runs <= MAXIMUM_RUNS;
		}
		if (!valid) {
			usage(stderr);
			return 2;
		}
	}
	printf("%-22s %9s %9s %9s   median of %u runs; the reference was measured elsewhere, on two cores\n",
	       "", "wall ms", "CPU ms", "peak MiB", runs);
	for (size_t shape = 0; shape < SHAPE_COUNT; shape++) {
		measure_shape(ctop, (enum shape)shape, is_short ? 1000 : 10000, runs);
		if (!is_short)
			measure_shape(ctop, (enum shape)shape, 100000, runs);
	}
	return EXIT_SUCCESS;
}
