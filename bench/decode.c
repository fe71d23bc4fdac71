/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What reading and writing a snapshot file costs: CPU time and peak memory for a generated snapshot, beside
 * floors measured in the same run (zstd alone; zstd, and the JSON checked but not kept). Every measurement
 * runs in a process of its own, so that none pays for another's memory.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/memory.h"
#include "ctprof/ctprof.h"
#include "ctprof/json_reader.h"
#include "run.h"

enum {
	MAXIMUM_RUNS = 51,
	STEP_BYTES = 64 * 1024,
	PROCESS_THREADS = 100,
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
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / NS_PER_MS;
}

static double peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void fail(const char *what)
{
	fprintf(stderr, "bench-decode: %s\n", what);
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

static uint32_t intern_format(struct snapshot *snapshot, const char *format, size_t number)
{
	char text[64];
	int length = snprintf(text, sizeof(text), format, number);

	return string_pool_intern(&snapshot->strings, text, (size_t)length);
}

static uint64_t generate_value(enum metric metric, enum mix mix, uint64_t policy, uint64_t cpus)
{
	unsigned int share = mix == MIX_QUIET ? 5 : 2; /* of so many values one is not zero */

	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return policy;
	case METRIC_ENCODING_CPU_SET:
		return cpus;
	case METRIC_ENCODING_CHARACTER:
		return 'S';
	case METRIC_ENCODING_U64:
		return random_number() % share == 0 ? random_number() % 10000000000 : 0;
	default:
		return 0;
	}
}

static struct snapshot *generate(size_t threads, enum mix mix)
{
	static const uint32_t cpus[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct snapshot *snapshot = snapshot_create();
	uint64_t set = cpu_set_intern(&snapshot->cpu_sets, cpus, sizeof(cpus) / sizeof(cpus[0]));
	uint64_t policy = intern_format(snapshot, "SCHED_OTHER", 0);

	snapshot_reserve(snapshot, threads);
	for (size_t i = 0; i < threads; i++) {
		size_t process = i / PROCESS_THREADS;
		size_t thread = snapshot_add_thread(snapshot, (uint32_t)(process * PROCESS_THREADS + 1),
						    (uint32_t)i + 1);

		snapshot->triple[thread] = snapshot_intern_triple(
			snapshot, (struct triple){intern_format(snapshot, "server-%zu", process),
						  intern_format(snapshot, "worker-%zu", i),
						  intern_format(snapshot, "/system.slice/server-%zu.service",
								process)});
		for (size_t j = METRIC_THREAD_COUNT + 1; j < METRIC_COUNT; j++)
			snapshot_column(snapshot, (enum metric)j)[thread] = generate_value((enum metric)j,
											   mix, policy, set);
	}
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
	if (ctprof_write_descriptor(snapshot, output, &measurement.json_bytes, &error) < 0)
		fail(error.text);
	measurement.cpu_ms = cpu_ms() - start;
	measurement.peak_mib = peak_mib() - peak;
	return measurement;
}

struct unpacking {
	int file;
	ZSTD_DStream *stream;
	ZSTD_inBuffer input;
	bool full; /* the decoder may hold more */
	char input_bytes[STEP_BYTES], output[STEP_BYTES];
};

/* The next step of decompressed text. */
static ssize_t unpack(void *unpacking_pointer, const char **ret_text)
{
	struct unpacking *unpacking = unpacking_pointer;
	ZSTD_outBuffer output = {unpacking->output, STEP_BYTES, 0};
	size_t left;

	while (output.pos == 0) {
		if (unpacking->input.pos == unpacking->input.size && !unpacking->full) {
			ssize_t length = read(unpacking->file, unpacking->input_bytes, STEP_BYTES);

			if (length <= 0)
				return length;
			unpacking->input = (ZSTD_inBuffer){unpacking->input_bytes, (size_t)length, 0};
		}
		left = ZSTD_decompressStream(unpacking->stream, &output, &unpacking->input);
		if (ZSTD_isError(left))
			fail("the file does not decompress");
		unpacking->full = output.pos == output.size && left != 0;
	}
	*ret_text = unpacking->output;
	return (ssize_t)output.pos;
}

static struct measurement measure_decompression(int file)
{
	static struct unpacking unpacking;
	double start = cpu_ms();
	double peak = peak_mib();
	const char *text;

	unpacking.file = file;
	unpacking.stream = ZSTD_createDStream();
	while (unpack(&unpacking, &text) > 0)
		;
	return (struct measurement){cpu_ms() - start, peak_mib() - peak, 0};
}

/* Decompresses and checks the JSON, and keeps nothing. */
static struct measurement measure_checking(int file)
{
	static struct unpacking unpacking;
	double start = cpu_ms();
	double peak = peak_mib();
	struct json_reader reader;

	unpacking.file = file;
	unpacking.stream = ZSTD_createDStream();
	json_reader_begin(&reader, "", 0, unpack, &unpacking);
	if (json_reader_skip(&reader) < 0 || json_reader_finish(&reader) < 0)
		fail("the file is no JSON");
	return (struct measurement){cpu_ms() - start, peak_mib() - peak, 0};
}

/* Compresses the JSON as the writer does, from memory to memory. */
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
	double cpu[MAXIMUM_RUNS], peak[MAXIMUM_RUNS];

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

		if (ctprof_write_descriptor(generate(threads, mix), file, NULL, &error) < 0)
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

static void usage(FILE *stream)
{
	fputs("usage: bench-decode [--short] [--threads N] [--runs N]\n"
	      "  --short      1,000 threads, one run: only shows that it works\n"
	      "  --threads N  of the generated snapshot (10,000)\n"
	      "  --runs N     of each measurement (11)\n",
	      stream);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"short", no_argument, NULL, 's'},
						{"threads", required_argument, NULL, 't'},
						{"runs", required_argument, NULL, 'r'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	uint32_t threads = 10000;
	uint32_t runs = 11;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		bool valid = option != '?';

		if (option == 'h') {
			usage(stdout);
			return EXIT_SUCCESS;
		}
		if (option == 's') {
			threads = 1000;
			runs = 1;
		} else if (option == 't') {
			valid = number_parse_u32(optarg, strlen(optarg), &threads) && threads > 0;
		} else if (option == 'r') {
			valid = number_parse_u32(optarg, strlen(optarg), &runs) && runs > 0 &&
				runs <= MAXIMUM_RUNS;
		}
		if (!valid) {
			usage(stderr);
			return 2;
		}
	}
	for (int mix = 0; mix < MIX_COUNT; mix++)
		run_mix(threads, (enum mix)mix, runs);
	return EXIT_SUCCESS;
}
