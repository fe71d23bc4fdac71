/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recording a round takes: bytes per thread that moved and per one that stood still, and CPU time of
 * encoding and decoding beside that of capturing the round, in the same run, by both backends. A whole round
 * is counted once an hour and one against it each two and a half minutes, as a history has them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/memory.h"
#include "capture/capture.h"
#include "run.h"
#include "store/recording.h"
#include "store/round.h"

#define ROUNDS_PER_WHOLE  720.0 /* of 5 s in an hour */
#define ROUNDS_PER_MIDDLE 30.0  /* in two and a half minutes */

enum {
	INTERVAL_MS = 5000,
	SHORT_INTERVAL_MS = 200,
	PARTS_SHOWN = 24,
};

/* What each round took. */
struct costs {
	double threads[RUNS_MAX], moved[RUNS_MAX];
	double step[RUNS_MAX], middle[RUNS_MAX], whole[RUNS_MAX], interval[RUNS_MAX]; /* bytes */
	double capture[RUNS_MAX], encode[RUNS_MAX], decode[RUNS_MAX];                 /* ms of CPU time */
	double encode_whole[RUNS_MAX], decode_whole[RUNS_MAX];
	size_t count;
};

static double cpu_ms(void)
{
	return clock_us(CLOCK_THREAD_CPUTIME_ID) / 1000;
}

static void encode(struct recorder *recorder, const struct snapshot *now, const struct snapshot *against,
		   const struct snapshot *before, struct recording *recording, double *ret_ms)
{
	const double start = cpu_ms();

	recorder_encode(recorder, now, against, before, NAN, recording);
	*ret_ms = cpu_ms() - start;
}

static struct snapshot *decode(const struct recording *recording, const struct snapshot *against,
			       double *ret_ms)
{
	const double start = cpu_ms();
	struct snapshot *snapshot;
	struct error error;

	if (recording_decode(recording->state.data, recording->state.length, recording->interval.data,
			     recording->interval.length, against, "a round", &snapshot, &error) < 0)
		fail(error.text);
	*ret_ms = cpu_ms() - start;
	return snapshot;
}

static struct snapshot *take_round(struct capture *capture, bool is_even, double *ret_ms)
{
	const struct capture_round_options options = {.needed = ~(source_set)0};
	const double start = cpu_ms();
	struct snapshot *snapshot;
	struct error error;

	if (capture_round(capture, &options, NULL, &snapshot, &error) < 0)
		fail(error.text);
	*ret_ms = cpu_ms() - start;
	if (is_even)
		recording_even_times(snapshot);
	return snapshot;
}

static int compare_parts(const void *a, const void *b)
{
	const struct recording_part *left = a, *right = b;

	return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

static void print_parts(const struct recorder *recorder, bool of_interval, const char *what)
{
	struct recording_parts parts = *recorder_parts(recorder, of_interval);

	qsort(parts.items, parts.count, sizeof(parts.items[0]), compare_parts);
	printf("  %s, bytes before zstd:", what);
	for (size_t i = 0; i < parts.count && i < PARTS_SHOWN && parts.items[i].bytes != 0; i++)
		printf("%s %s %zu", i != 0 ? "," : "", parts.items[i].name, parts.items[i].bytes);
	printf("\n");
}

/* Threads of which the row is not what it was, by how the round itself says it or by their counters. */
static size_t count_moved(const struct snapshot *now, const struct snapshot *before)
{
	size_t moved = 0;

	if (now->moved_known)
		return now->moved_count;
	for (size_t row = 0; row < now->thread_count; row++) {
		const uint32_t old = now->carried_row != NULL ? now->carried_row[row] : UINT32_MAX;

		moved += old == UINT32_MAX ||
			 snapshot_value(now, row, METRIC_TIMESLICES) !=
				 snapshot_value(before, old, METRIC_TIMESLICES) ||
			 snapshot_value(now, row, METRIC_RUN_TIME_NS) !=
				 snapshot_value(before, old, METRIC_RUN_TIME_NS);
	}
	return moved;
}

/* The rounds of a backend; the first one is whole, the others against the one before and against it. */
static void measure(enum capture_backend backend, bool is_even, size_t rounds, unsigned int interval_ms,
		    struct costs *costs)
{
	const struct capture_options options = {.backend = backend};
	const struct timespec pause = {interval_ms / 1000, (long)(interval_ms % 1000) * (long)NS_PER_MS};
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct snapshot *first, *before, *decoded_first, *decoded_before;
	struct capture *capture;
	struct error error;
	double unused;

	costs->count = 0;
	if (capture_open(&options, &capture, &error) < 0) {
		printf("  %s\n", error.text);
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		snapshot_release(take_round(capture, is_even, &unused));
		nanosleep(&pause, NULL);
	}
	first = take_round(capture, is_even, &unused);
	encode(recorder, first, NULL, NULL, &recording, &unused);
	print_parts(recorder, false, "whole");
	decoded_first = decode(&recording, NULL, &unused);
	before = snapshot_reference(first);
	decoded_before = snapshot_reference(decoded_first);
	for (size_t i = 0; i < rounds; i++) {
		struct snapshot *now, *decoded;

		nanosleep(&pause, NULL);
		now = take_round(capture, is_even, &costs->capture[i]);
		encode(recorder, now, before, before, &recording, &costs->encode[i]);
		if (i + 1 == rounds) {
			print_parts(recorder, false, "step");
			print_parts(recorder, true, "interval");
		}
		costs->step[i] = (double)recording.state.length;
		costs->interval[i] = (double)recording.interval.length;
		decoded = decode(&recording, decoded_before, &costs->decode[i]);
		costs->threads[i] = (double)now->thread_count;
		costs->moved[i] = (double)count_moved(now, before);
		encode(recorder, now, first, NULL, &recording, &unused);
		costs->middle[i] = (double)recording.state.length;
		encode(recorder, now, NULL, NULL, &recording, &costs->encode_whole[i]);
		costs->whole[i] = (double)recording.state.length;
		snapshot_release(decode(&recording, NULL, &costs->decode_whole[i]));
		snapshot_release(before);
		snapshot_release(decoded_before);
		before = now;
		decoded_before = decoded;
		costs->count++;
	}
	snapshot_release(before);
	snapshot_release(decoded_before);
	snapshot_release(first);
	snapshot_release(decoded_first);
	recording_release(&recording);
	recorder_release(recorder);
	capture_close(capture);
}

static void print_costs(const char *backend, const char *load, struct costs *costs)
{
	const size_t count = costs->count;
	const double threads = median(costs->threads, count), moved = median(costs->moved, count);
	const double step = median(costs->step, count), middle = median(costs->middle, count);
	const double whole = median(costs->whole, count), interval = median(costs->interval, count);
	const double average = step + interval + middle / ROUNDS_PER_MIDDLE + whole / ROUNDS_PER_WHOLE;

	if (count == 0)
		return;
	printf("%-6s %-6s %7.0f %6.0f %7.0f %7.0f %7.0f %8.0f %8.0f %6.2f %7.2f %7.2f %7.2f %7.2f %7.2f\n",
	       backend, load, threads, moved, step, interval, middle, whole, average,
	       (average - 0.15 * (threads - moved)) / moved, median(costs->capture, count),
	       median(costs->encode, count), median(costs->decode, count), median(costs->encode_whole, count),
	       median(costs->decode_whole, count));
	fflush(stdout);
}

static const char usage[] = "usage: bench-recording [--short] [--threads N] [--runs N] [--load NAME]\n"
			    "  --short      1,000 threads, one round: only shows that it works\n"
			    "  --threads N  about as many (10,000)\n"
			    "  --runs N     rounds by each backend (9)\n"
			    "  --load NAME  waking, busy or idle; waking unless given\n";

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *options[5];
	} loads[] = {
		{"waking", {"--waking", "0.1", "--interval-ms", "5000"}},
		{"busy", {"--busy", "100"}},
		{"idle", {NULL}},
	};
	static const struct {
		const char *name;
		enum capture_backend backend;
		bool is_even; /* reading times */
	} backends[] = {{"bpf", CAPTURE_BACKEND_BPF, true},
			{"procfs", CAPTURE_BACKEND_PROCFS, true},
			{"exact", CAPTURE_BACKEND_PROCFS, false}};
	struct bench_options options = {.threads = 10000, .runs = 9};
	struct costs costs = {.count = 0};
	struct rusage usage_now;
	struct program load;

	bench_options_parse(&options, usage, argc, argv);
	for (size_t i = 0; i < ARRAY_COUNT(loads); i++) {
		if (strcmp(options.load != NULL ? options.load : loads[0].name, loads[i].name) != 0)
			continue;
		load_start(&load, options.threads, loads[i].options);
		for (size_t k = 0; k < ARRAY_COUNT(backends); k++) {
			measure(backends[k].backend, backends[k].is_even, options.runs,
				options.is_short ? SHORT_INTERVAL_MS : INTERVAL_MS, &costs);
			printf("%-6s %-6s %7s %6s %7s %7s %7s %8s %8s %6s %7s %7s %7s %7s %7s\n", "", "load",
			       "threads", "moved", "step", "ended", "middle", "whole", "average", "B/mov",
			       "capture", "encode", "decode", "enc.all", "dec.all");
			print_costs(backends[k].name, loads[i].name, &costs);
		}
		program_end(&load);
	}
	getrusage(RUSAGE_SELF, &usage_now);
	printf("peak of memory %ld KiB\n", usage_now.ru_maxrss);
	return EXIT_SUCCESS;
}
