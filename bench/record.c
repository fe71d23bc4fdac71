/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recording costs: rounds of this host are read and stored under three loads, a tenth as many threads
 * that do nothing, all of them, and all of them of which a tenth moves. Prints CPU time of reading and of
 * storing (with compression and SQLite), bytes on disk by thread and by day, what opening the
 * history and going from round to round costs then, and the memory of `ctop record`. Where atop is installed
 * it records the same loads meanwhile. Rounds are a second apart and stored as if they were five.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

enum {
	INTERVAL_S = 1,
	STORED_INTERVAL_S = 5,
	ROUNDS = 61,
	ROUNDS_SHORT = 4,
	/* An interval of 5 s has 12 rounds a minute and 720 from whole one to whole one. */
	DAY_ROUNDS = 17280,
	DAY_WHOLE = 24,
};

struct figures {
	double threads, moved;
	double read_us, store_us;           /* medians of a round */
	double read_mean_us, store_mean_us; /* with what happens once a minute */
	double bytes, whole_bytes;          /* of a round that is not whole on average, and of one that is */
	double atop_us, atop_bytes;         /* of a record; 0: there is no atop */
};

/* When the first round was, as it is stored: an hour begins. */
#define FIRST_UNIX_NS (UINT64_C(1795161600) * NS_PER_S)

static char *make_directory(void)
{
	const char *parent = getenv("TMPDIR");
	char *directory = memory_format("%s/ctop-bench-XXXXXX", parent != NULL ? parent : "/var/tmp");

	if (mkdtemp(directory) == NULL)
		fail_call(directory);
	return directory;
}

static void remove_directory(char *directory)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;

	while (listing != NULL && (entry = readdir(listing)) != NULL) {
		char *path = memory_format("%s/%s", directory, entry->d_name);

		unlink(path);
		free(path);
	}
	if (listing != NULL)
		closedir(listing);
	rmdir(directory);
	free(directory);
}

/* Bytes of the files of a directory whose names end so. */
static double bytes_of(const char *directory, const char *end)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;
	double bytes = 0;

	while (listing != NULL && (entry = readdir(listing)) != NULL) {
		const size_t length = strlen(entry->d_name);
		struct stat status;

		if (length >= strlen(end) && strcmp(entry->d_name + length - strlen(end), end) == 0 &&
		    fstatat(dirfd(listing), entry->d_name, &status, 0) == 0)
			bytes += (double)status.st_size;
	}
	if (listing != NULL)
		closedir(listing);
	return bytes;
}

/* atop, which records into a file beside the history; 0: there is none. */
static pid_t start_atop(const char *directory, size_t rounds)
{
	char *file = memory_format("%s/atop.raw", directory);
	char count[16], interval[16];
	const char *arguments[] = {"atop", "-w", file, interval, count, NULL};
	pid_t child = 0;

	snprintf(interval, sizeof(interval), "%d", INTERVAL_S);
	snprintf(count, sizeof(count), "%zu", rounds);
	if (access("/usr/bin/atop", X_OK) == 0)
		child = start_quietly(arguments);
	free(file);
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

/* Records so many rounds. */
static void record(struct capture *capture, const char *directory, size_t rounds, struct figures *ret_figures)
{
	const struct capture_round_options options = {.needed = ~(source_set)0, .cgroup_records = true};
	struct history_writer *writer = open_writer(directory);
	double *read = memory_allocate_zero(rounds, sizeof(*read)),
	       *store = memory_allocate_zero(rounds, sizeof(*store));
	double read_sum = 0, store_sum = 0;
	size_t first_bytes = 0;

	*ret_figures = (struct figures){0};
	for (size_t i = 0; i < rounds; i++) {
		const struct timespec pause = {.tv_sec = INTERVAL_S};
		struct snapshot *snapshot;
		struct error error;
		double begin = clock_us(CLOCK_THREAD_CPUTIME_ID), middle;

		if (capture_round(capture, &options, NULL, &snapshot, &error) < 0)
			fail(error.text);
		middle = clock_us(CLOCK_THREAD_CPUTIME_ID);
		snapshot->captured_at_unix_ns = FIRST_UNIX_NS + i * STORED_INTERVAL_S * NS_PER_S;
		if (history_writer_add(writer, snapshot, &error) < 0)
			fail(error.text);
		read[i] = middle - begin;
		store[i] = clock_us(CLOCK_THREAD_CPUTIME_ID) - middle;
		if (i == 0)
			first_bytes = history_writer_state(writer)->written_bytes;
		if (i > 0) {
			read_sum += read[i];
			store_sum += store[i];
		}
		ret_figures->threads += (double)snapshot->thread_count / (double)rounds;
		if (i > 0)
			ret_figures->moved += (double)snapshot->moved_count / (double)(rounds - 1);
		snapshot_release(snapshot);
		if (i + 1 < rounds)
			nanosleep(&pause, NULL);
	}
	history_writer_close(writer);
	ret_figures->whole_bytes = (double)first_bytes;
	if (rounds > 1) {
		ret_figures->read_us = median(read + 1, rounds - 1);
		ret_figures->store_us = median(store + 1, rounds - 1);
		ret_figures->read_mean_us = read_sum / (double)(rounds - 1);
		ret_figures->store_mean_us = store_sum / (double)(rounds - 1);
	}
	free(read);
	free(store);
}

static void run_load(const struct bench_options *bench, uint32_t threads, const char *const *load_options,
		     const char *directory, struct figures *ret_figures)
{
	const size_t rounds = bench->is_short ? ROUNDS_SHORT : ROUNDS;
	const struct capture_options options = {0};
	struct capture *capture;
	struct program load;
	struct error error;
	struct rusage usage = {0};
	double single_bytes;
	char *single;
	pid_t atop;
	int status;

	load_start(&load, threads, load_options);
	if (capture_open(&options, &capture, &error) < 0)
		fail(error.text);
	/* one round, for what a file takes with nothing but a whole round in it */
	single = make_directory();
	record(capture, single, 1, ret_figures);
	single_bytes = bytes_of(single, ".rounds");
	remove_directory(single);
	atop = start_atop(directory, rounds);
	record(capture, directory, rounds, ret_figures);
	/* of the file, so that what SQLite needs is in it */
	ret_figures->bytes = (bytes_of(directory, ".rounds") - single_bytes) / (double)(rounds - 1);
	capture_close(capture);
	if (atop > 0 && wait4(atop, &status, 0, &usage) == atop) {
		ret_figures->atop_us = ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
					(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)) /
				       (double)rounds;
		ret_figures->atop_bytes = bytes_of(directory, "atop.raw") / (double)rounds;
	}
	program_end(&load);
}

/* What a user waits for: the history is opened and a moment read, then the next ones. */
static void look_back(const char *directory)
{
	double begin = clock_us(CLOCK_MONOTONIC), opened, first, steps[ROUNDS], back[ROUNDS];
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
		for (size_t i = 1; i < ROUNDS; i++) {
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
	printf("%-15s %8.0f %7.0f %9.2f %9.2f %9.2f %9.0f %9.0f %8.1f", name, figures->threads,
	       figures->moved, figures->read_us / 1e3, figures->store_us / 1e3, figures->store_mean_us / 1e3,
	       figures->bytes, figures->whole_bytes,
	       (figures->bytes * (DAY_ROUNDS - DAY_WHOLE) + figures->whole_bytes * DAY_WHOLE) / 1e6);
	if (figures->atop_us != 0)
		printf(" %9.2f %9.0f", figures->atop_us / 1e3, figures->atop_bytes);
	printf("\n");
}

static const char usage[] = "usage: bench-record [--short] [--threads N]\n"
			    "  --short      1,000 threads, four rounds: only shows that it works\n"
			    "  --threads N  about as many (10,000)\n";

/* The memory of `ctop record` under the last load. */
static void print_memory(const struct bench_options *bench, const char *const *load_options)
{
	char *directory = make_directory();
	const char *arguments[] = {CTOP_PROGRAM, "record",  "-d", "1", "-n", bench->is_short ? "3" : "40",
				   "--history",  directory, NULL};
	struct run_cost cost;
	struct program load;

	load_start(&load, bench->threads, load_options);
	if (run_cost_of(&cost, arguments, 1))
		printf("largest memory of ctop record: %.1f MiB\n", cost.peak_mib);
	program_end(&load);
	remove_directory(directory);
}

int main(int argc, char **argv)
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
	struct bench_options options = {.threads = 10000, .runs = 1};
	struct figures figures[LOADS];
	double still, moved, more_moved;

	bench_options_parse(&options, usage, argc, argv);
	printf("%-15s %8s %7s %9s %9s %9s %9s %9s %8s %9s %9s\n", "load", "threads", "moved", "read ms",
	       "store ms", "mean ms", "bytes", "whole", "MB a day", "atop ms", "atop B");
	for (size_t i = 0; i < LOADS; i++) {
		char *directory = make_directory();

		run_load(&options, options.threads / loads[i].part, loads[i].options, directory, &figures[i]);
		print_figures(loads[i].name, &figures[i]);
		fflush(stdout);
		if (i == MOVING)
			look_back(directory);
		remove_directory(directory);
	}
	/* of all rounds of a day, whole ones included; what else the host does is the same in all loads */
	for (size_t i = 0; i < LOADS; i++)
		figures[i].bytes += (figures[i].whole_bytes - figures[i].bytes) * DAY_WHOLE / DAY_ROUNDS;
	moved = (figures[MOVING].bytes - figures[STILL].bytes) /
		(figures[MOVING].moved - figures[STILL].moved);
	more_moved = figures[STILL].moved - figures[FEW].moved;
	still = (figures[STILL].bytes - figures[FEW].bytes - more_moved * moved) /
		(figures[STILL].threads - figures[FEW].threads - more_moved);
	/* four rounds say nothing about it */
	if (!options.is_short)
		printf("bytes: %.2f by moved thread, %.3f by still one; storing is %.2f of reading\n", moved,
		       still, figures[MOVING].store_mean_us / figures[MOVING].read_mean_us);
	print_memory(&options, loads[MOVING].options);
	return EXIT_SUCCESS;
}
