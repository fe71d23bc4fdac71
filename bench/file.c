/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the snapshot file costs at 10,000 threads: `ctop capture` and `ctop show`, CPU time per thread, peak
 * memory and the file's size. Beside each stands a floor measured in the same run (the bare system calls, the
 * bare zstd and JSON reader), so that figures from different machines can be compared, and what the reference
 * took elsewhere.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "run.h"
#include "snapshot_file.h"

/* The reference program (0.50.0) with 10,086 threads, measured elsewhere on two cores: see the ratio, not the
 * figure. */
#define REFERENCE_CAPTURE_US_PER_THREAD 49.0
#define REFERENCE_CAPTURE_PEAK_MIB      70.0
#define REFERENCE_BYTES_PER_THREAD      30.5
#define REFERENCE_SHOW_US_PER_THREAD    9.9
#define REFERENCE_SHOW_PEAK_MIB         64.0
/* What files_floor() took there. */
#define REFERENCE_FLOOR_US_PER_THREAD 12.2

static void read_once(int directory, const char *path)
{
	char bytes[8192];
	int file = openat(directory, path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return;
	while (read(file, bytes, sizeof bytes) > 0)
		;
	close(file);
}

static uint64_t read_process(int proc, const char *pid)
{
	static const char *const files[] = {"stat", "io", "sched"};
	char path[300];
	uint64_t threads = 0;
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof path, "%s/task", pid);
	tasks = file_open_directory(proc, path);
	if (!tasks)
		return 0;
	while ((entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
			snprintf(path, sizeof path, "%s/%s", entry->d_name, files[i]);
			read_once(dirfd(tasks), path);
		}
		threads++;
	}
	closedir(tasks);
	return threads;
}

/* Opens, reads and closes stat, io and sched of every thread, nothing else; CPU us per thread. */
static double files_floor(void)
{
	double start = clock_us(CLOCK_THREAD_CPUTIME_ID);
	DIR *proc = opendir("/proc");
	uint64_t threads = 0;
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			threads += read_process(dirfd(proc), entry->d_name);
	}
	if (proc)
		closedir(proc);
	return threads ? (clock_us(CLOCK_THREAD_CPUTIME_ID) - start) / (double)threads : 0;
}

/* Decompresses the file and checks its JSON without keeping any of it; CPU us in all. */
static double parse_floor(const char *path)
{
	double start = clock_us(CLOCK_THREAD_CPUTIME_ID);
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		fail_call(path);
	unpack_file(file, true);
	close(file);
	return clock_us(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void print_line(const char *what, double value, const char *unit, double reference, double aim)
{
	printf("%-26s %8.1f %-6s %10.1f %6.2f %5.2f\n", what, value, unit, reference, value / reference, aim);
}

static bool measure(const char *ctop, size_t runs, const char *path)
{
	const char *capture[] = {ctop, "capture", "-o", path, NULL};
	const char *show[] = {ctop, "show", path, "--limit", "500", NULL};
	double threads = (double)host_threads();
	double floors[2][RUNS_MAX];
	double files;
	double parse;
	struct run_cost captured;
	struct run_cost shown;
	struct stat status;

	if (!run_cost_of(&captured, capture, runs) || !run_cost_of(&shown, show, runs) ||
	    stat(path, &status) < 0)
		return false;
	for (size_t i = 0; i < runs; i++) {
		floors[0][i] = files_floor();
		floors[1][i] = parse_floor(path) / threads;
	}
	files = median(floors[0], runs);
	parse = median(floors[1], runs);
	printf("%.0f threads, median of %zu runs; the reference was measured elsewhere, on two cores\n\n"
	       "%-26s %8s %-6s %10s %6s %5s\n",
	       threads, runs, "", "here", "", "reference", "ratio", "aim");
	print_line("capture, CPU per thread", captured.cpu_ms * 1e3 / threads, "us",
		   REFERENCE_CAPTURE_US_PER_THREAD, 0.5);
	print_line("capture, peak memory", captured.peak_mib, "MiB", REFERENCE_CAPTURE_PEAK_MIB, 0.5);
	print_line("file size per thread", (double)status.st_size / threads, "bytes",
		   REFERENCE_BYTES_PER_THREAD, 1);
	print_line("show, CPU per thread", shown.cpu_ms * 1e3 / threads, "us", REFERENCE_SHOW_US_PER_THREAD,
		   0.8);
	print_line("show, peak memory", shown.peak_mib, "MiB", REFERENCE_SHOW_PEAK_MIB, 0.5);
	printf("\nfloors in this run, CPU per thread: opening and reading stat, io and sched %.1f us (%.1f "
	       "where the\n"
	       "reference was measured), zstd and JSON that is skipped %.1f us. In units of the first "
	       "floor capture takes\n"
	       "%.2f of the reference's CPU.\n",
	       files, REFERENCE_FLOOR_US_PER_THREAD, parse,
	       captured.cpu_ms * 1e3 / threads / files /
		       (REFERENCE_CAPTURE_US_PER_THREAD / REFERENCE_FLOOR_US_PER_THREAD));
	return true;
}

static const char usage[] = "usage: bench-file [--short] [--ctop PROGRAM] [--threads N] [--runs N]\n"
			    "  --short      1,000 threads, one run: only shows that it works\n"
			    "  --threads N  about as many (10,000)\n"
			    "  --runs N     of each command (7)\n";

int main(int argc, char **argv)
{
	struct bench_options options = {.ctop = CTOP_PROGRAM, .threads = 10000, .runs = 7};
	char path[] = "/tmp/ctop-bench-XXXXXX";
	struct program load;
	int file;
	bool good;

	bench_options_parse(&options, usage, argc, argv);
	file = mkstemp(path);
	if (file < 0)
		fail_call("cannot make a file in /tmp");
	close(file);
	if (geteuid() != 0)
		printf("not root: ctop reads less than it would, the figures do not count\n");
	load_start(&load, options.threads, (const char *[]){"--busy", "8", NULL});
	good = measure(options.ctop, options.runs, path);
	program_end(&load);
	unlink(path);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
