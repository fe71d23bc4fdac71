/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the snapshot file costs at 10,000 threads: `ctop capture` and `ctop show`, CPU time per thread, peak
 * memory and the file's size. Beside each stands a floor measured in the same run (the bare system calls, the
 * bare zstd and JSON reader), so that figures from different machines can be compared, and what the reference
 * took elsewhere.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/clock.h"
#include "base/number.h"
#include "ctprof/json_reader.h"
#include "run.h"

#define MAXIMUM_RUNS 21

/* The reference program (0.50.0) with 10,086 threads, measured elsewhere on two cores: see the ratio, not the
 * figure. */
#define REFERENCE_CAPTURE_US_PER_THREAD 49.0
#define REFERENCE_CAPTURE_PEAK_MIB      70.0
#define REFERENCE_BYTES_PER_THREAD      30.5
#define REFERENCE_SHOW_US_PER_THREAD    9.9
#define REFERENCE_SHOW_PEAK_MIB         64.0
/* What files_floor() took there. */
#define REFERENCE_FLOOR_US_PER_THREAD 12.2

static double thread_cpu_us(void)
{
	return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) / NS_PER_US;
}

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
	int directory;

	snprintf(path, sizeof path, "%s/task", pid);
	directory = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tasks = directory < 0 ? NULL : fdopendir(directory);
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

/* Opens, reads and closes stat, io and sched of every thread, and does nothing with them; CPU us per thread.
 */
static double files_floor(void)
{
	double start = thread_cpu_us();
	DIR *proc = opendir("/proc");
	uint64_t threads = 0;
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			threads += read_process(dirfd(proc), entry->d_name);
	}
	if (proc)
		closedir(proc);
	return threads ? (thread_cpu_us() - start) / (double)threads : 0;
}

struct unpacking {
	FILE *file;
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	char in_bytes[1 << 17];
	char out_bytes[1 << 16];
};

static ssize_t unpack(void *unpacking_pointer, const char **ret_text)
{
	struct unpacking *unpacking = unpacking_pointer;
	ZSTD_outBuffer out = {unpacking->out_bytes, sizeof unpacking->out_bytes, 0};

	while (out.pos == 0) {
		if (unpacking->in.pos == unpacking->in.size)
			unpacking->in = (ZSTD_inBuffer){
				unpacking->in_bytes,
				fread(unpacking->in_bytes, 1, sizeof unpacking->in_bytes, unpacking->file),
				0};
		if (ZSTD_isError(ZSTD_decompressStream(unpacking->stream, &out, &unpacking->in)))
			return -EBADMSG;
		if (unpacking->in.size == 0)
			break;
	}
	*ret_text = unpacking->out_bytes;
	return (ssize_t)out.pos;
}

/* Decompresses the file and checks its JSON without keeping any of it; CPU us in all. */
static double parse_floor(const char *path)
{
	static struct unpacking unpacking;
	double start = thread_cpu_us();
	struct json_reader reader;
	bool good;

	unpacking = (struct unpacking){.file = fopen(path, "rbe"), .stream = ZSTD_createDStream()};
	if (!unpacking.file)
		return 0;
	json_reader_begin(&reader, "", 0, unpack, &unpacking);
	good = json_reader_skip(&reader) == 0 && json_reader_finish(&reader) == 0;
	json_reader_release(&reader);
	fclose(unpacking.file);
	ZSTD_freeDStream(unpacking.stream);
	return good ? thread_cpu_us() - start : 0;
}

struct cost {
	double cpu_us;
	double peak_mib;
};

/* Median CPU and largest memory of several runs; false when one failed. */
static bool cost_of(const char *const *arguments, size_t runs, struct cost *ret_cost)
{
	double cpu[MAXIMUM_RUNS];
	uint64_t peak_kib = 0;

	for (size_t i = 0; i < runs; i++) {
		struct run_cost cost;

		run_cost_of(&cost, arguments);
		if (cost.status != 0) {
			fprintf(stderr, "bench-file: %s %s ended with %d\n", arguments[0], arguments[1],
				cost.status);
			return false;
		}
		cpu[i] = (double)cost.cpu_us;
		if (cost.peak_memory_kib > peak_kib)
			peak_kib = cost.peak_memory_kib;
	}
	*ret_cost = (struct cost){median(cpu, runs), (double)peak_kib / 1024};
	return true;
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
	double floors[2][MAXIMUM_RUNS];
	double files;
	double parse;
	struct cost captured;
	struct cost shown;
	struct stat status;

	if (!cost_of(capture, runs, &captured) || !cost_of(show, runs, &shown) || stat(path, &status) < 0)
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
	print_line("capture, CPU per thread", captured.cpu_us / threads, "us",
		   REFERENCE_CAPTURE_US_PER_THREAD, 0.5);
	print_line("capture, peak memory", captured.peak_mib, "MiB", REFERENCE_CAPTURE_PEAK_MIB, 0.5);
	print_line("file size per thread", (double)status.st_size / threads, "bytes",
		   REFERENCE_BYTES_PER_THREAD, 1);
	print_line("show, CPU per thread", shown.cpu_us / threads, "us", REFERENCE_SHOW_US_PER_THREAD, 0.8);
	print_line("show, peak memory", shown.peak_mib, "MiB", REFERENCE_SHOW_PEAK_MIB, 0.5);
	printf("\nfloors in this run, CPU per thread: opening and reading stat, io and sched %.1f us (%.1f "
	       "where the\n"
	       "reference was measured), zstd and JSON that is skipped %.1f us. In units of the first "
	       "floor capture takes\n"
	       "%.2f of the reference's CPU.\n",
	       files, REFERENCE_FLOOR_US_PER_THREAD, parse,
	       captured.cpu_us / threads / files /
		       (REFERENCE_CAPTURE_US_PER_THREAD / REFERENCE_FLOOR_US_PER_THREAD));
	return true;
}

static void usage(FILE *stream)
{
	fputs("usage: bench-file [--short] [--ctop PROGRAM] [--threads N] [--runs N]\n"
	      "  --short      1,000 threads, one run: only shows that it works\n"
	      "  --threads N  about as many (10,000)\n"
	      "  --runs N     of each command (7)\n",
	      stream);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"short", no_argument, NULL, 's'},         {"ctop", required_argument, NULL, 'c'},
		{"threads", required_argument, NULL, 't'}, {"runs", required_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},          {0}};
	const char *ctop = CTOP_PROGRAM;
	uint32_t threads = 10000;
	uint32_t runs = 7;
	char processes[16];
	char path[] = "/tmp/ctop-bench-XXXXXX";
	struct load_process load;
	int option;
	int file;
	bool good;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		bool valid = option != '?';

		if (option == 'h') {
			usage(stdout);
			return EXIT_SUCCESS;
		}
		if (option == 's') {
			threads = 1000;
			runs = 1;
		} else if (option == 'c') {
			ctop = optarg;
		} else if (option == 't') {
			valid = number_parse_u32(optarg, strlen(optarg), &threads) && threads >= 100;
		} else if (option == 'r') {
			valid = number_parse_u32(optarg, strlen(optarg), &runs) && runs > 0 &&
				runs <= MAXIMUM_RUNS;
		}
		if (!valid) {
			usage(stderr);
			return 2;
		}
	}
	file = mkstemp(path);
	if (file < 0) {
		perror("bench-file: cannot make a file in /tmp");
		return EXIT_FAILURE;
	}
	close(file);
	if (geteuid() != 0)
		printf("not root: ctop reads less than it would, the figures do not count\n");
	snprintf(processes, sizeof processes, "%u", threads / 100);
	load_start(&load, (const char *[]){processes, "100", "--busy", "8", NULL});
	good = measure(ctop, runs, path);
	load_end(&load);
	unlink(path);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
