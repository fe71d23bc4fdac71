/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of capturing, files and comparing: `ctop capture` and `ctop show` of this host, `ctop diff` of
 * generated snapshots, and the allocator probe. Beside each stands a floor measured in the same run, or
 * ktstr's figures, which were measured elsewhere. The probe's parts, as root, print
 *
 * - reading: CPU microseconds per thread, cold (thread pointers not known yet) and warm; the bare system
 * calls below them; and a stop by ptrace(2), the only other way;
 * - resolving: milliseconds until a program's counters are found;
 * - captures of 10,000 threads with jemalloc and of as many without, in turn;
 * - gap: the longest delay of a thread that wakes each millisecond, in a minute, with a `ctop -b` beside it
 * that reads it each second and without, in pairs.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/supervisor.h"
#include "generate.h"
#include "probe/probe.h"
#include "run.h"
#include "store/ctprof.h"

/* ktstr (0.50.0) with 10,086 threads, measured elsewhere on two cores: see the ratio, not the
 * figure. */
#define KTSTR_CAPTURE_US_PER_THREAD 49.0
#define KTSTR_CAPTURE_PEAK_MIB      70.0
#define KTSTR_BYTES_PER_THREAD      30.5
#define KTSTR_SHOW_US_PER_THREAD    9.9
#define KTSTR_SHOW_PEAK_MIB         64.0
/* Opening and reading stat, io and sched of a thread took this there. */
#define KTSTR_FLOOR_US_PER_THREAD 12.2

/* ktstr with two snapshots of 10,086 threads. */
#define KTSTR_DIFF_WALL_MS  210.0
#define KTSTR_DIFF_PEAK_MIB 75.0

enum {
	THREADS_MAX = 20000,
	BATCH = 1024, /* of process_vm_readv(2): UIO_MAXIOV */
	SPAN = 24,    /* bytes read of a thread */
	PAIRS = 5,
	GAP_S = 60,
	STOPS = 1000,
};

/* CPU milliseconds for decompressing a file, and nothing else. */
static double unpack_floor(const char *path)
{
	const double start = clock_us(CLOCK_THREAD_CPUTIME_ID);
	static char input[65536], output[65536];
	ZSTD_DStream *stream = ZSTD_createDStream();
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	while ((length = read(file, input, sizeof(input))) > 0) {
		ZSTD_inBuffer in = {input, (size_t)length, 0};

		while (in.pos < in.size) {
			ZSTD_outBuffer out = {output, sizeof(output), 0};

			if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)))
				fail("the file does not decompress");
		}
	}
	ZSTD_freeDStream(stream);
	close(file);
	return (clock_us(CLOCK_THREAD_CPUTIME_ID) - start) / 1e3;
}

static void print_line(const char *what, double value, const char *unit, double ktstr, double aim)
{
	printf("%-26s %8.1f %-6s %10.1f %6.2f %5.2f\n", what, value, unit, ktstr, value / ktstr, aim);
}

static void make_file(char *path)
{
	int file = mkstemp(path);

	if (file < 0)
		fail_call("cannot make a file in /tmp");
	close(file);
}

static void files(const struct bench_options *options)
{
	static const char *const thread_files[] = {"stat", "io", "sched", NULL};
	const size_t runs = options->runs;
	char path[] = "/tmp/ctop-bench-XXXXXX";
	const char *capture[] = {options->ctop, "capture", "-o", path, NULL};
	const char *show[] = {options->ctop, "show", path, "--limit", "500", NULL};
	double reading[RUNS_MAX], unpacking[RUNS_MAX], threads, floor;
	struct run_cost captured, shown;
	struct program load;
	struct stat status;

	make_file(path);
	load_start(&load, options->threads, (const char *[]){"--busy", "8", NULL});
	threads = (double)host_threads();
	run_costs_of(&captured, (const char *const *const[]){capture}, 1, runs);
	run_costs_of(&shown, (const char *const *const[]){show}, 1, runs);
	if (stat(path, &status) < 0)
		fail_call(path);
	for (size_t i = 0; i < runs; i++) {
		reading[i] = thread_files_floor(thread_files);
		unpacking[i] = unpack_floor(path) * 1e3 / threads;
	}
	floor = median(reading, runs);
	program_end(&load);
	unlink(path);
	printf("%.0f threads, median of %zu runs; ktstr was measured elsewhere, on two cores\n\n"
	       "%-26s %8s %-6s %10s %6s %5s\n",
	       threads, runs, "", "here", "", "ktstr", "ratio", "aim");
	print_line("capture, CPU per thread", captured.cpu_ms * 1e3 / threads, "us",
		   KTSTR_CAPTURE_US_PER_THREAD, 0.5);
	print_line("capture, peak memory", captured.peak_mib, "MiB", KTSTR_CAPTURE_PEAK_MIB, 0.5);
	print_line("file size per thread", (double)status.st_size / threads, "bytes", KTSTR_BYTES_PER_THREAD,
		   1);
	print_line("show, CPU per thread", shown.cpu_ms * 1e3 / threads, "us", KTSTR_SHOW_US_PER_THREAD, 0.8);
	print_line("show, peak memory", shown.peak_mib, "MiB", KTSTR_SHOW_PEAK_MIB, 0.5);
	printf("\nfloors in this run, CPU per thread: opening and reading stat, io and sched %.1f us (%.1f "
	       "where\n"
	       "ktstr was measured), zstd %.2f us. In units of the first floor capture takes %.2f of\n"
	       "ktstr's CPU.\n\n",
	       floor, KTSTR_FLOOR_US_PER_THREAD, median(unpacking, runs),
	       captured.cpu_ms * 1e3 / threads / floor /
		       (KTSTR_CAPTURE_US_PER_THREAD / KTSTR_FLOOR_US_PER_THREAD));
}

/* Runs a command of ctop, which ends with NULL, several times and prints what it costs. */
static void measure_command(const struct bench_options *options, const char *what, const char *const *command,
			    bool has_ktstr)
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
	run_costs_of(costs, (const char *const *const[]){arguments[0], arguments[1]}, programs,
		     options->runs);
	printf("%-22s %9.1f %9.1f %9.1f", what, costs[0].wall_ms, costs[0].cpu_ms, costs[0].peak_mib);
	if (programs == 2)
		printf("   %.2f of the other's CPU time, %.2f of its memory",
		       costs[0].cpu_ms / costs[1].cpu_ms, costs[0].peak_mib / costs[1].peak_mib);
	else if (has_ktstr)
		printf("   %.2f of its wall time (aim 0.7), %.2f of its memory (aim 0.5)",
		       costs[0].wall_ms / KTSTR_DIFF_WALL_MS, costs[0].peak_mib / KTSTR_DIFF_PEAK_MIB);
	putchar('\n');
}

static void measure_diff(const struct bench_options *options, size_t threads, bool distinct)
{
	char paths[2][24] = {"/tmp/ctop-bench-XXXXXX", "/tmp/ctop-bench-XXXXXX"};
	const char *show[] = {"show", paths[0], NULL};
	const char *text[] = {"diff", paths[0], paths[1], NULL};
	const char *whole[] = {"diff", paths[0], paths[1], "--format", "tsv", "--limit", "0", NULL};

	for (size_t i = 0; i < 2; i++) {
		struct snapshot *snapshot = snapshot_generate(threads, distinct);
		struct error error;

		make_file(paths[i]);
		snapshot_finish(snapshot);
		if (ctprof_write(snapshot, snapshot->window, paths[i], true, NULL, &error) < 0)
			fail(error.text);
		snapshot_release(snapshot);
	}
	printf("%zu threads, %s\n", threads, distinct ? "all distinct" : "pools");
	measure_command(options, "  show, 500 rows", show, false);
	measure_command(options, "  diff, 500 rows", text, threads == 10000 && !distinct);
	measure_command(options, "  diff, tsv, all rows", whole, false);
	unlink(paths[0]);
	unlink(paths[1]);
}

static void diffs(const struct bench_options *options)
{
	printf("%-22s %9s %9s %9s   median of %u runs; ktstr was measured elsewhere, on two cores\n", "",
	       "wall ms", "CPU ms", "peak MiB", options->runs);
	for (int distinct = 0; distinct < 2; distinct++) {
		measure_diff(options, options->threads, distinct != 0);
		if (!options->is_short)
			measure_diff(options, 10 * options->threads, distinct != 0);
	}
	printf("\n");
}

/* A target (tests/targets/target.c) and the threads it has. */
struct target {
	struct program program;
	FILE *commands, *answers;
	struct probe_thread threads[THREADS_MAX];
	size_t count;
};

/* The path of a target, built when need be. */
static char *target_path(const char *name)
{
	static char line[4096];
	char command[4096];
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s' %s", TARGETS_BUILD, name);
	pipe = popen(command, "r");
	if (pipe == NULL || fgets(line, sizeof(line), pipe) == NULL || pclose(pipe) != 0)
		fail_call(command);
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line + strlen(name), " - ", 3) == 0) {
		fprintf(stderr, "bench-file: no target %s\n", line);
		exit(EXIT_FAILURE);
	}
	return line + strlen(name) + 1;
}

static void target_start(struct target *target, const char *name, const char *mode, const char *threads)
{
	const char *path = target_path(name);
	char line[128];

	program_start(&target->program, (const char *[]){path, mode, threads, NULL});
	target->commands = fdopen(target->program.input, "w");
	target->answers = fdopen(target->program.output, "r");
	target->count = 0;
	while (fgets(line, sizeof(line), target->answers) != NULL && strcmp(line, "ready\n") != 0) {
		if (target->count == THREADS_MAX)
			fail("more threads than there is room for");
		target->threads[target->count++] = (struct probe_thread){
			.tid = (uint32_t)strtoul(line, NULL, 10), .start_time = 1};
	}
	if (target->count == 0)
		fail("the target has no threads");
}

static void target_end(struct target *target)
{
	fclose(target->commands);
	fclose(target->answers);
	waitpid(target->program.child, NULL, 0);
}

/* A probe that knows where the target's counters lie and none of its threads yet. */
static struct probe *attach(const struct target *target, const struct probe_process **ret_process)
{
	struct probe *probe = probe_create(&(struct probe_options){0});
	char path[64];
	int directory;

	snprintf(path, sizeof(path), "/proc/%d", target->program.child);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		fail_call(path);
	while ((*ret_process = probe_look(probe, (uint32_t)target->program.child, directory, PROBE_RAN))
		       ->state == PROBE_STATE_RESOLVING)
		probe_serve(probe, clock_ns(CLOCK_MONOTONIC) + NS_PER_S);
	close(directory);
	if ((*ret_process)->state != PROBE_STATE_READY)
		fail("the target cannot be probed");
	return probe;
}

/* CPU microseconds per thread of one reading of all. */
static double read_all(struct probe *probe, const struct probe_process *process, struct target *target)
{
	double start = clock_us(CLOCK_PROCESS_CPUTIME_ID);

	if (probe_read(probe, process, target->threads, target->count, NULL) < 0)
		fail_call("probe_read");
	start = clock_us(CLOCK_PROCESS_CPUTIME_ID) - start;
	for (size_t i = 0; i < target->count; i++) {
		if (target->threads[i].tag != HEAP_TAG_NONE)
			fail(heap_tags[target->threads[i].tag].name);
	}
	return start / (double)target->count;
}

static double bare_robust_lists(const struct target *target, uint64_t *ret_heads)
{
	double start = clock_us(CLOCK_PROCESS_CPUTIME_ID);

	for (size_t i = 0; i < target->count; i++) {
		void *head = NULL;
		size_t length;

		if (syscall(SYS_get_robust_list, target->threads[i].tid, &head, &length) < 0)
			fail_call("get_robust_list");
		ret_heads[i] = (uint64_t)(uintptr_t)head;
	}
	return (clock_us(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)target->count;
}

/* As many bytes of as many places as the counters are. */
static double bare_transfers(const struct target *target, const uint64_t *heads)
{
	static struct iovec remote[BATCH];
	static char bytes[BATCH * SPAN];
	double start = clock_us(CLOCK_PROCESS_CPUTIME_ID);

	for (size_t i = 0; i < target->count; i += BATCH) {
		size_t count = target->count - i < BATCH ? target->count - i : BATCH;
		struct iovec local = {bytes, count * SPAN};

		for (size_t k = 0; k < count; k++)
			remote[k] = (struct iovec){(void *)(uintptr_t)heads[i + k], SPAN};
		if (process_vm_readv(target->program.child, &local, 1, remote, count, 0) !=
		    (ssize_t)local.iov_len)
			fail_call("process_vm_readv");
	}
	return (clock_us(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)target->count;
}

/* The cost of stopping a thread for its registers and then reading 24 bytes. */
static double stopping(const struct target *target, const uint64_t *heads, double *ret_wall)
{
	double start = clock_us(CLOCK_PROCESS_CPUTIME_ID), wall = clock_us(CLOCK_MONOTONIC);
	size_t count = target->count < STOPS ? target->count : STOPS;

	for (size_t i = 0; i < count; i++) {
		pid_t tid = (pid_t)target->threads[i].tid;
		struct user_regs_struct registers;
		char bytes[SPAN];
		struct iovec area = {&registers, sizeof(registers)}, local = {bytes, SPAN},
			     remote = {(void *)(uintptr_t)heads[i], SPAN};

		if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0 ||
		    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 || waitpid(tid, NULL, __WALL) != tid ||
		    ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &area) < 0 ||
		    process_vm_readv(target->program.child, &local, 1, &remote, 1, 0) != SPAN ||
		    ptrace(PTRACE_DETACH, tid, NULL, NULL) < 0)
			fail_call("ptrace");
	}
	*ret_wall = (clock_us(CLOCK_MONOTONIC) - wall) / (double)count;
	return (clock_us(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)count;
}

static void measure_reading(struct target *target, size_t rounds)
{
	static uint64_t heads[THREADS_MAX];
	double cold[RUNS_MAX], warm[RUNS_MAX], lists[RUNS_MAX], transfers[RUNS_MAX], stopped[RUNS_MAX],
		wall[RUNS_MAX];

	for (size_t i = 0; i < rounds; i++) {
		const struct probe_process *process;
		struct probe *probe = attach(target, &process);

		cold[i] = read_all(probe, process, target);
		read_all(probe, process, target);
		warm[i] = read_all(probe, process, target);
		lists[i] = bare_robust_lists(target, heads);
		transfers[i] = bare_transfers(target, heads);
		stopped[i] = stopping(target, heads, &wall[i]);
		probe_release(probe);
	}
	printf("reading, us of CPU per thread of %zu:\n", target->count);
	printf("  cold                  %7.2f\n", median(cold, rounds));
	printf("  warm                  %7.2f\n", median(warm, rounds));
	printf("  bare get_robust_list  %7.2f\n", median(lists, rounds));
	printf("  bare batched transfer %7.2f\n", median(transfers, rounds));
	printf("  stopping with ptrace  %7.2f  (wall %.1f)\n", median(stopped, rounds), median(wall, rounds));
}

static void measure_resolving(size_t rounds)
{
	static const char *const names[] = {"5.3.0", "no-debug", "shared",         "zstd",
					    "dwp",   "large",    "large-no-ranges"};
	static struct target target;

	printf("resolving, ms:\n");
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		double wall[RUNS_MAX];

		target_start(&target, names[i], "park", "1");
		for (size_t k = 0; k < rounds; k++) {
			const struct probe_process *process;
			double start = clock_us(CLOCK_MONOTONIC);

			probe_release(attach(&target, &process));
			wall[k] = (clock_us(CLOCK_MONOTONIC) - start) / 1e3;
		}
		printf("  %-20s  %7.1f\n", names[i], median(wall, rounds));
		target_end(&target);
	}
}

/* Captures of the threads with jemalloc and of as many without, in turn. */
static void measure_captures(const struct bench_options *options, const struct target *target,
			     const char *threads)
{
	static struct target plain;
	struct run_cost costs[2];
	char pids[2][16];
	const char *arguments[2][8];

	target_start(&plain, "plain", "park", threads);
	for (size_t i = 0; i < 2; i++) {
		snprintf(pids[i], sizeof(pids[i]), "%d", (i == 0 ? target : &plain)->program.child);
		memcpy(arguments[i],
		       (const char *[]){options->ctop, "capture", "-o", "-", "-p", pids[i], NULL},
		       7 * sizeof(char *));
	}
	run_costs_of(costs, (const char *const *const[]){arguments[0], arguments[1]}, 2, options->runs);
	target_end(&plain);
	printf("capture of %zu threads, ms:\n", target->count);
	for (size_t i = 0; i < 2; i++)
		printf("  %-8s  CPU %7.1f  wall %7.1f\n", i == 0 ? "jemalloc" : "plain", costs[i].cpu_ms,
		       costs[i].wall_ms);
	printf("  ratio     CPU %7.2f  wall %7.2f\n", costs[0].cpu_ms / costs[1].cpu_ms,
	       costs[0].wall_ms / costs[1].wall_ms);
}

static double take_gap_ms(struct target *target)
{
	int64_t gap = 0;

	fputs("gap\n", target->commands);
	fflush(target->commands);
	if (fscanf(target->answers, " gap %" SCNd64, &gap) != 1)
		fail("the target tells no gap");
	return (double)gap / 1e6;
}

static void measure_gap(const struct bench_options *options)
{
	const unsigned int gap_seconds = options->is_short ? 1 : GAP_S;
	const size_t pairs = options->is_short ? 1 : PAIRS;
	/* with real-time priority, so that only what is done to the target itself delays it */
	const struct sched_param urgent = {.sched_priority = 50}, ordinary = {0};
	const char *arguments[] = {options->ctop, "-b", "-d", "1", "-t", "heap", "-g", "thread-exact", NULL};
	static struct target target;
	double without[PAIRS], with[PAIRS];

	if (sched_setscheduler(0, SCHED_FIFO, &urgent) < 0)
		fail_call("sched_setscheduler");
	target_start(&target, "5.3.0", "latency", "2");
	sched_setscheduler(0, SCHED_OTHER, &ordinary);
	printf("longest lateness of a wake-up in %u s, ms, without and with ctop:\n", gap_seconds);
	for (size_t i = 0; i < pairs; i++) {
		pid_t ctop;

		take_gap_ms(&target);
		sleep(gap_seconds);
		without[i] = take_gap_ms(&target);
		ctop = start_quietly(arguments);
		sleep(gap_seconds);
		with[i] = take_gap_ms(&target);
		if (waitpid(ctop, NULL, WNOHANG) != 0)
			fail("ctop ended");
		kill(ctop, SIGTERM);
		waitpid(ctop, NULL, 0);
		printf("  %7.2f %7.2f\n", without[i], with[i]);
	}
	printf("  medians %.2f %.2f\n", median(without, pairs), median(with, pairs));
	target_end(&target);
}

static void probes(const struct bench_options *options)
{
	const char *threads = options->is_short ? "999" : "9999";
	static struct target target;
	struct error error;

	if (supervisor_start(&error) < 0)
		fail(error.text);
	target_start(&target, "5.3.0", "park", threads);
	measure_reading(&target, options->runs);
	if (!options->is_short)
		measure_resolving(options->runs);
	measure_captures(options, &target, threads);
	target_end(&target);
	measure_gap(options);
	supervisor_stop();
}

static const char usage[] = "usage: bench-file [--short] [--ctop PROGRAM] [--other PROGRAM] [--part NAME] "
			    "[--threads N] [--runs N]\n"
			    "  --short      1,000 threads, few runs: only shows that it works\n"
			    "  --other      an older ctop, run in turn with the other one for diff\n"
			    "  --part NAME  probe, file or diff; all of them unless given\n"
			    "  --threads N  about as many for file and diff (10,000)\n"
			    "  --runs N     of each command (7)\n";

int main(int argc, char **argv)
{
	struct bench_options options = {.ctop = CTOP_PROGRAM, .threads = 10000, .runs = 7};

	bench_options_parse(&options, usage, argc, argv);
	/* first, while this program is small: it forks */
	if (is_chosen(options.part, "probe"))
		probes(&options);
	if (is_chosen(options.part, "file"))
		files(&options);
	if (is_chosen(options.part, "diff"))
		diffs(&options);
	return EXIT_SUCCESS;
}
