/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of recording and exporting. Rounds of this host are read and stored under three loads, a tenth as
 * many threads that do nothing, all of them, and all of them with a tenth that moves: CPU time of reading, of
 * storing (with compression), of encoding and decoding a round; bytes on disk by thread and by
 * day; opening the history and going from round to round; the memory of `ctop record`. Where atop is
 * installed it records the same loads meanwhile. Rounds are a second apart and stored as if they were five.
 * `ctop export` runs beside `ctop -b` under the last load.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "run.h"
#include "store/history.h"
#include "store/history_writer.h"
#include "store/recording.h"

enum {
	INTERVAL_S = 1,
	STORED_INTERVAL_S = 5,
	WHOLE_EVERY = 10, /* rounds that are encoded whole, to measure that */
	/* An interval of 5 s has 12 rounds a minute and 720 from whole one to whole one. */
	DAY_ROUNDS = 17280,
	DAY_WHOLE = 24,
};

/* The cost of a load. */
struct figures {
	double threads, moved;
	double read_us, store_us;    /* medians of a round */
	double encode_us, decode_us; /* the same of what changed since the round before */
	double encode_whole_us, decode_whole_us;
	double read_mean_us, store_mean_us; /* with what happens once a minute */
	double bytes;                       /* of a round on disk, whole ones included */
	double atop_us, atop_bytes;         /* of a record; 0: no atop */
};

/* When the first round was, as it is stored: an hour begins. */
#define FIRST_UNIX_NS (UINT64_C(1795161600) * NS_PER_S)

static double file_bytes(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (double)status.st_size : 0;
}

/* atop, which records into a file; 0 without atop. */
static pid_t start_atop(const char *file, size_t rounds)
{
	char count[16], interval[16];
	const char *arguments[] = {"atop", "-w", file, interval, count, NULL};
	pid_t child = 0;

	snprintf(interval, sizeof(interval), "%d", INTERVAL_S);
	snprintf(count, sizeof(count), "%zu", rounds);
	if (access("/usr/bin/atop", X_OK) == 0)
		child = start_quietly(arguments);
	return child;
}

static struct history_writer *open_writer(const char *directory)
{
	const struct history_writer_options options = {.directory = directory};
	struct history_writer *writer;
	struct error error;

	if (history_writer_open(&options, &writer, &error) < 0)
		fail(error.text);
	return writer;
}

/* Encodes the round as it differs from `against` (NULL: whole), and decodes that against `against_decoded`.
 */
static struct snapshot *transcode(struct recorder *recorder, const struct snapshot *now,
				  const struct snapshot *against, const struct snapshot *against_decoded,
				  double *ret_encode_us, double *ret_decode_us)
{
	struct recording recording = {0};
	struct snapshot *decoded;
	struct error error;
	double begun = clock_us(CLOCK_THREAD_CPUTIME_ID);

	recorder_encode(recorder, now, against, against, NAN, &recording);
	*ret_encode_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - begun;
	begun = clock_us(CLOCK_THREAD_CPUTIME_ID);
	if (recording_decode(recording.state.data, recording.state.length, recording.interval.data,
			     recording.interval.length, against_decoded, "a round", &decoded, &error) < 0)
		fail(error.text);
	*ret_decode_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - begun;
	recording_release(&recording);
	return decoded;
}

/* Records rounds; the first one is whole. */
static void record(struct capture *capture, const char *directory, size_t rounds, struct figures *figures)
{
	const struct capture_round_options options = {.needed = ~(source_set)0, .cgroup_records = true};
	const struct timespec pause = {.tv_sec = INTERVAL_S};
	struct recorder *recorder = recorder_create(3);
	struct history_writer *writer = open_writer(directory);
	struct snapshot *before = NULL, *before_decoded = NULL;
	double read[RUNS_MAX], store[RUNS_MAX], encode[RUNS_MAX], decode[RUNS_MAX], encode_whole[RUNS_MAX],
		decode_whole[RUNS_MAX], first_bytes = 0, bytes;
	size_t wholes = 0;

	for (size_t i = 0; i <= rounds; i++) {
		const size_t run = i == 0 ? 0 : i - 1;
		struct snapshot *snapshot, *decoded;
		struct error error;
		double begun = clock_us(CLOCK_THREAD_CPUTIME_ID);

		if (capture_round(capture, &options, NULL, &snapshot, &error) < 0)
			fail(error.text);
		read[run] = clock_us(CLOCK_THREAD_CPUTIME_ID) - begun;
		snapshot->captured_at_unix_ns = FIRST_UNIX_NS + i * STORED_INTERVAL_S * NS_PER_S;
		recording_even_times(snapshot);
		begun = clock_us(CLOCK_THREAD_CPUTIME_ID);
		if (history_writer_add(writer, snapshot, &error) < 0)
			fail(error.text);
		store[run] = clock_us(CLOCK_THREAD_CPUTIME_ID) - begun;
		if (i == 0)
			first_bytes = (double)history_writer_state(writer)->written_bytes;
		decoded = transcode(recorder, snapshot, before, before_decoded, &encode[run], &decode[run]);
		if (i % WHOLE_EVERY == 0) {
			snapshot_release(transcode(recorder, snapshot, NULL, NULL, &encode_whole[wholes],
						   &decode_whole[wholes]));
			wholes++;
		}
		figures->threads = (double)snapshot->thread_count;
		if (i > 0) {
			figures->moved += (double)snapshot->moved_count / (double)rounds;
			figures->read_mean_us += read[run] / (double)rounds;
			figures->store_mean_us += store[run] / (double)rounds;
			snapshot_release(before);
			snapshot_release(before_decoded);
		}
		before = snapshot;
		before_decoded = decoded;
		if (i < rounds)
			nanosleep(&pause, NULL);
	}
	bytes = ((double)history_writer_state(writer)->written_bytes - first_bytes) / (double)rounds;
	figures->bytes = bytes + (first_bytes - bytes) * DAY_WHOLE / DAY_ROUNDS;
	history_writer_close(writer);
	recorder_release(recorder);
	snapshot_release(before);
	snapshot_release(before_decoded);
	figures->read_us = median(read, rounds);
	figures->store_us = median(store, rounds);
	figures->encode_us = median(encode, rounds);
	figures->decode_us = median(decode, rounds);
	figures->encode_whole_us = median(encode_whole, wholes);
	figures->decode_whole_us = median(decode_whole, wholes);
}

static void run_load(const struct bench_options *bench, uint32_t threads, const char *const *load_options,
		     const char *directory, struct figures *figures)
{
	const struct capture_options options = {0};
	struct capture *capture;
	struct program load;
	struct error error;
	struct rusage usage;
	char *atop_file = memory_format("%s/atop.raw", directory); /* beside the history */
	pid_t atop;

	load_start(&load, threads, load_options);
	if (capture_open(&options, &capture, &error) < 0)
		fail(error.text);
	atop = start_atop(atop_file, bench->runs);
	record(capture, directory, bench->runs, figures);
	capture_close(capture);
	if (atop > 0 && wait4(atop, NULL, 0, &usage) == atop) {
		figures->atop_us = usage_us(&usage) / (double)bench->runs;
		figures->atop_bytes = file_bytes(atop_file) / (double)bench->runs;
	}
	free(atop_file);
	program_end(&load);
}

/* The delay for a user: the history is opened and a moment read, then the next ones. */
static void look_back(const char *directory)
{
	double begin = clock_us(CLOCK_MONOTONIC), opened, first, steps[RUNS_MAX], back[RUNS_MAX];
	struct history *history;
	struct history_round round;
	struct snapshot *snapshot;
	struct error error;
	size_t count = 0, back_count = 0;

	if (history_open(directory, &history, &error) < 0 || history_last(history, &round, &error) < 0)
		fail(error.text);
	opened = clock_us(CLOCK_MONOTONIC) - begin;
	if (history_read(history, &round, &snapshot, &error) < 0)
		fail(error.text);
	first = clock_us(CLOCK_MONOTONIC) - begin;
	snapshot_release(snapshot);
	for (int direction = -1; direction <= 1; direction += 2) {
		for (size_t i = 1; i < RUNS_MAX; i++) {
			const int64_t id = round.id;

			begin = clock_us(CLOCK_MONOTONIC);
			if (history_step(history, &round, direction, &round, &error) < 0 || round.id == id)
				break;
			if (history_read(history, &round, &snapshot, &error) < 0)
				fail(error.text);
			*(direction > 0 ? &steps[count++] : &back[back_count++]) = clock_us(CLOCK_MONOTONIC) -
										   begin;
			snapshot_release(snapshot);
		}
	}
	history_close(history);
	printf("looking back: opened in %.1f ms, a moment after %.1f ms; next round %.1f ms, the one before "
	       "%.1f ms\n",
	       opened / 1e3, first / 1e3, median(steps, count) / 1e3, median(back, back_count) / 1e3);
}

static void print_figures(const char *name, const struct figures *figures)
{
	printf("%-14s %8.0f %6.0f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %7.0f %8.1f", name,
	       figures->threads, figures->moved, figures->read_us / 1e3, figures->store_us / 1e3,
	       figures->store_mean_us / 1e3, figures->encode_us / 1e3, figures->decode_us / 1e3,
	       figures->encode_whole_us / 1e3, figures->decode_whole_us / 1e3, figures->bytes,
	       figures->bytes * (double)DAY_ROUNDS / 1e6);
	if (figures->atop_us != 0)
		printf(" %8.2f %8.0f", figures->atop_us / 1e3, figures->atop_bytes);
	printf("\n");
}

/* The memory of `ctop record` under a load. */
static void print_memory(const struct bench_options *bench, const char *const *load_options)
{
	char *directory = make_directory();
	/* the recorder's line about what it does is no part of this program's output */
	const char *arguments[] = {
		"sh", "-c", "exec \"$@\" 2>/dev/null",    "sh",        bench->ctop, "record", "-d",
		"1",  "-n", bench->is_short ? "3" : "40", "--history", directory,   NULL};
	struct run_cost cost;
	struct program load;

	load_start(&load, bench->threads, load_options);
	run_costs_of(&cost, (const char *const *const[]){arguments}, 1, 1);
	printf("largest memory of ctop record: %.1f MiB (aim 40)\n", cost.peak_mib);
	program_end(&load);
	remove_directory(directory);
}

static void recordings(const struct bench_options *options)
{
	enum {
		FEW,
		STILL,
		MOVING,
		LOADS
	};
	static const struct {
		const char *name;
		uint32_t part; /* of the threads */
		const char *options[5];
	} loads[LOADS] = {
		{"few, still", 10, {NULL}},
		{"nothing moves", 1, {NULL}},
		{"a tenth moves", 1, {"--waking", "0.1", "--interval-ms", "1000"}},
	};
	struct figures figures[LOADS] = {0};
	double still, moved, more_moved;

	printf("%-14s %8s %6s %8s %8s %8s %8s %8s %8s %8s %7s %8s %8s %8s\n", "load, CPU ms", "threads",
	       "moved", "read", "store", "mean", "encode", "decode", "enc.all", "dec.all", "bytes",
	       "MB a day", "atop", "atop B");
	for (size_t i = 0; i < LOADS; i++) {
		char *directory = make_directory();

		run_load(options, options->threads / loads[i].part, loads[i].options, directory, &figures[i]);
		print_figures(loads[i].name, &figures[i]);
		if (i == MOVING)
			look_back(directory);
		remove_directory(directory);
	}
	/* what else the host does is the same in all loads */
	moved = (figures[MOVING].bytes - figures[STILL].bytes) /
		(figures[MOVING].moved - figures[STILL].moved);
	more_moved = figures[STILL].moved - figures[FEW].moved;
	still = (figures[STILL].bytes - figures[FEW].bytes - more_moved * moved) /
		(figures[STILL].threads - figures[FEW].threads - more_moved);
	/* three rounds say nothing about it */
	if (!options->is_short)
		printf("bytes: %.2f by moved thread (aim 12), %.3f by still one (0.15); storing is %.2f of "
		       "reading "
		       "(0.33)\n",
		       moved, still, figures[MOVING].store_mean_us / figures[MOVING].read_mean_us);
	print_memory(options, loads[MOVING].options);
}

static double cpu_of(clockid_t clock, unsigned int intervals)
{
	const double begun = clock_us(clock);

	sleep(intervals * INTERVAL_S);
	return (clock_us(clock) - begun) / intervals / 1e3;
}

/* CPU time of a round of `ctop export`, beside one of `ctop -b`, which draws the same groups as a table. */
static void exports(const struct bench_options *options)
{
	static const char *const axes[] = {"process,cgroup", "process,cgroup,thread-exact"};
	const unsigned int intervals = options->is_short ? 2 : 15;
	const char *const batch[] = {options->ctop, "-b", "-d", "1", NULL};
	struct refresh_cost peer;
	struct program load;

	load_start(&load, options->threads, (const char *[]){"--waking", "0.1", NULL});
	refresh_cost_of(&peer, batch, INTERVAL_S * 1000, intervals, false, NULL);
	printf("\nA round of ctop export, %llu threads, CPU ms; ctop -b takes %.1f\n",
	       (unsigned long long)host_threads(), peer.cpu_us / 1e3);
	for (size_t i = 0; i < ARRAY_COUNT(axes); i++) {
		char *directory = make_directory(), *page = memory_format("%s/page.prom", directory);
		const char *arguments[] = {options->ctop, "export",     "-d", "1", "-g",
					   axes[i],       "--textfile", page, NULL};
		pid_t child = start_quietly(arguments);
		clockid_t clock;

		sleep(2 * INTERVAL_S + 1); /* its beginning */
		if (clock_getcpuclockid(child, &clock) != 0)
			fail("ctop export has ended");
		printf("  -g %-28s %8.2f, a page of %.0f KiB\n", axes[i], cpu_of(clock, intervals),
		       file_bytes(page) / 1024);
		kill(child, SIGTERM);
		waitpid(child, NULL, 0);
		remove_directory(directory);
		free(page);
	}
	program_end(&load);
}

static const char usage[] =
	"usage: bench-record [--short] [--ctop PROGRAM] [--part NAME] [--threads N] [--runs N]\n"
	"  --short      1,000 threads, three rounds: only shows that it works\n"
	"  --part NAME  record or export; both unless given\n"
	"  --threads N  about as many (10,000)\n"
	"  --runs N     rounds of each load (60)\n";

int main(int argc, char **argv)
{
	struct bench_options options = {.ctop = CTOP_PROGRAM, .threads = 10000, .runs = 60};

	bench_options_parse(&options, usage, argc, argv);
	if (is_chosen(options.part, "record"))
		recordings(&options);
	if (is_chosen(options.part, "export"))
		exports(&options);
	return EXIT_SUCCESS;
}
