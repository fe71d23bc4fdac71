/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What reading and writing a snapshot file costs: CPU time and peak memory for a generated snapshot, beside
 * floors measured in the same run (zstd alone; zstd, and the JSON checked but not kept). Every measurement
 * runs in a process of its own, so that none pays for another's memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "run.h"
#include "snapshot_file.h"
#include "store/ctprof.h"

enum {
	STEP_BYTES = 64 * 1024,
};

/* How much of a thread's counters moves: a quiet host's are mostly zero, random ones hardly compress. */
enum mix {
	MIX_QUIET,
	MIX_RANDOM,
	MIX_COUNT,
};

static const char *const mix_names[MIX_COUNT] = {"quiet", "random"};

struct measurement {
	double cpu_ms;
	double peak_mib;
	uint64_t json_bytes;
};

static double cpu_ms(void)
{
	return clock_us(CLOCK_PROCESS_CPUTIME_ID) / 1e3;
}

static double peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static struct triple name_thread(struct snapshot *snapshot, unsigned int mix, size_t thread)
{
	size_t process = thread / PROCESS_THREADS;

	(void)mix;
	return (struct triple){intern(snapshot, "server-%zu", process),
			       intern(snapshot, "worker-%zu", thread),
			       intern(snapshot, "/system.slice/server-%zu.service", process)};
}

static struct snapshot *generate(size_t threads, enum mix mix)
{
	const struct generation wanted = {
		.threads = threads,
		.limit = UINT64_C(10000000000),
		.share = mix == MIX_QUIET ? 5 : 2,
		.name = name_thread,
	};
	struct snapshot *snapshot = snapshot_generate(&wanted);

	snapshot_finish(snapshot);
	return snapshot;
}

/* The functions that are measured; `file` stands at its beginning. */

static struct measurement measure_reading(int file)
{
	struct snapshot *snapshot;
	struct error error;
	double start = cpu_ms();
	double peak = peak_mib();

	if (ctprof_read_descriptor(file, "the file", CTPROF_DEFAULT_LIMIT, &snapshot, &error) < 0)
		fail(error.text);
	return (struct measurement){cpu_ms() - start, peak_mib() - peak, 0};
}

static struct measurement measure_writing(int file)
{
	int output = memfd_create("output", MFD_CLOEXEC);
	struct snapshot *snapshot;
	struct measurement measurement;
	struct error error;
	double start, peak;

	if (ctprof_read_descriptor(file, "the file", CTPROF_DEFAULT_LIMIT, &snapshot, &error) < 0)
		fail(error.text);
	start = cpu_ms();
	peak = peak_mib();
	if (ctprof_write_descriptor(snapshot, snapshot->window, output, &measurement.json_bytes, &error) < 0)
		fail(error.text);
	measurement.cpu_ms = cpu_ms() - start;
	measurement.peak_mib = peak_mib() - peak;
	return measurement;
}

static struct measurement measure_unpacking(int file, bool check)
{
	double start = cpu_ms();
	double peak = peak_mib();

	unpack_file(file, check);
	return (struct measurement){cpu_ms() - start, peak_mib() - peak, 0};
}

static struct measurement measure_decompression(int file)
{
	return measure_unpacking(file, false);
}

static struct measurement measure_checking(int file)
{
	return measure_unpacking(file, true);
}

/* Compresses the JSON at the writer's level, from memory to memory. */
static struct measurement measure_compression(int file)
{
	static char input[STEP_BYTES], output[STEP_BYTES];
	ZSTD_DStream *decoder = ZSTD_createDStream();
	ZSTD_CStream *encoder = ZSTD_createCStream();
	struct measurement measurement = {0};
	double peak = peak_mib();
	ssize_t length;

	ZSTD_CCtx_setParameter(encoder, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(encoder, ZSTD_c_checksumFlag, 1);
	while ((length = read(file, input, sizeof(input))) > 0) {
		ZSTD_inBuffer in = {input, (size_t)length, 0};
		bool full = true;

		while (in.pos < in.size || full) {
			static char text[STEP_BYTES];
			ZSTD_outBuffer json = {text, sizeof(text), 0};
			ZSTD_inBuffer piece;
			size_t left = ZSTD_decompressStream(decoder, &json, &in);
			double start = cpu_ms();

			full = json.pos == json.size && left != 0;
			piece = (ZSTD_inBuffer){text, json.pos, 0};
			while (piece.pos < piece.size) {
				ZSTD_outBuffer out = {output, sizeof(output), 0};

				ZSTD_compressStream2(encoder, &out, &piece, ZSTD_e_continue);
			}
			measurement.cpu_ms += cpu_ms() - start;
		}
	}
	measurement.peak_mib = peak_mib() - peak;
	return measurement;
}

static struct measurement measure_once(struct measurement (*function)(int file), int file)
{
	struct measurement measurement;
	int ends[2], status;
	pid_t child = -1;

	if (pipe(ends) < 0 || (child = fork()) < 0)
		fail("no process");
	if (child == 0) {
		if (lseek(file, 0, SEEK_SET) != 0)
			fail("no file");
		measurement = function(file);
		_exit(write(ends[1], &measurement, sizeof(measurement)) == sizeof(measurement) ? 0 : 1);
	}
	close(ends[1]);
	if (read(ends[0], &measurement, sizeof(measurement)) != sizeof(measurement))
		fail("a measurement failed");
	close(ends[0]);
	waitpid(child, &status, 0);
	return measurement;
}

static struct measurement measure(struct measurement (*function)(int file), int file, size_t runs)
{
	struct measurement measurement = {0};
	double cpu[RUNS_MAX], peak[RUNS_MAX];

	for (size_t i = 0; i < runs; i++) {
		measurement = measure_once(function, file);
		cpu[i] = measurement.cpu_ms;
		peak[i] = measurement.peak_mib;
	}
	measurement.cpu_ms = median(cpu, runs);
	measurement.peak_mib = median(peak, runs);
	return measurement;
}

/* Generated in a process of its own, so that this one stays small. */
static int generate_file(size_t threads, enum mix mix)
{
	int file = memfd_create("snapshot", MFD_CLOEXEC);
	pid_t child = fork();
	int status;

	if (file < 0 || child < 0)
		fail("no process");
	if (child == 0) {
		struct error error;

		if (ctprof_write_descriptor(generate(threads, mix), NULL, file, NULL, &error) < 0)
			fail(error.text);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		fail("no snapshot");
	return file;
}

static void print_line(const char *what, const struct measurement *measurement, double floor, double threads)
{
	printf("  %-28s %8.1f %8.2f %8.1f %8.1f\n", what, measurement->cpu_ms,
	       measurement->cpu_ms * 1e3 / threads, measurement->cpu_ms / floor, measurement->peak_mib);
}

static void run_mix(size_t threads, enum mix mix, size_t runs)
{
	int file = generate_file(threads, mix);
	struct measurement unpacked = measure(measure_decompression, file, runs);
	struct measurement checked = measure(measure_checking, file, runs);
	struct measurement read = measure(measure_reading, file, runs);
	struct measurement packed = measure(measure_compression, file, runs);
	struct measurement written = measure(measure_writing, file, runs);
	struct stat status = {0};

	fstat(file, &status);
	printf("%s: %zu threads, %.1f MB of JSON, file of %.2f MB, median of %zu runs\n"
	       "  %-28s %8s %8s %8s %8s\n",
	       mix_names[mix], threads, (double)written.json_bytes / 1e6, (double)status.st_size / 1e6, runs,
	       "", "CPU ms", "us/thr", "x floor", "+MiB");
	print_line("zstd alone (floor)", &unpacked, unpacked.cpu_ms, (double)threads);
	print_line("zstd, and JSON skipped", &checked, unpacked.cpu_ms, (double)threads);
	print_line("reading", &read, unpacked.cpu_ms, (double)threads);
	print_line("zstd alone (floor)", &packed, packed.cpu_ms, (double)threads);
	print_line("writing", &written, packed.cpu_ms, (double)threads);
	close(file);
}

static const char usage[] = "usage: bench-decode [--short] [--threads N] [--runs N]\n"
			    "  --short      1,000 threads, one run: only shows that it works\n"
			    "  --threads N  of the generated snapshot (10,000)\n"
			    "  --runs N     of each measurement (11)\n";

int main(int argc, char **argv)
{
	struct bench_options options = {.threads = 10000, .runs = 11};

	bench_options_parse(&options, usage, argc, argv);
	for (int mix = 0; mix < MIX_COUNT; mix++)
		run_mix(options.threads, (enum mix)mix, options.runs);
	return EXIT_SUCCESS;
}
