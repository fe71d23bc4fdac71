/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the allocator probe costs, as root. Prints
 *
 * - reading: CPU microseconds per thread (CLOCK_PROCESS_CPUTIME_ID, medians), without listing and resolving:
 *   cold (thread pointers not known yet) and warm, and in the same run the bare system calls below them and a
 *   stop by ptrace(2), the only other way;
 * - capture: CPU and wall time of `ctop capture` of 10,000 threads with jemalloc and of as many without, in
 *   pairs;
 * - gap: how late a thread that wants to wake each millisecond woke up at most in a minute, with a `ctop -b`
 *   beside it that reads it each second and without, in pairs.
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
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/probe.h"
#include "run.h"

enum {
	THREADS_MAX = 20000,
	BATCH = 1024, /* of process_vm_readv(2): UIO_MAXIOV */
	SPAN = 24,    /* bytes read of a thread */
	MAX_ROUNDS = 32,
	PAIRS = 5,
};

static unsigned int rounds = 9, stops = 1000, gap_seconds = 60, pairs = PAIRS;
static const char *thread_count = "9999";

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
		fprintf(stderr, "bench-probe: no target %s\n", line);
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
static struct probe *attach(struct resolver *resolver, const struct target *target,
			    const struct probe_process **ret_process)
{
	const struct probe_options options = {.resolver = resolver};
	struct probe *probe = probe_create(&options);
	char path[64];
	int directory;

	snprintf(path, sizeof(path), "/proc/%d", target->program.child);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		fail_call(path);
	while ((*ret_process = probe_look(probe, (uint32_t)target->program.child, directory, NULL))->state ==
	       PROBE_STATE_RESOLVING)
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

/* What a program pays that has to stop a thread for its registers and then reads 24 bytes. */
static double stopping(const struct target *target, const uint64_t *heads, double *ret_wall)
{
	double start = clock_us(CLOCK_PROCESS_CPUTIME_ID), wall = clock_us(CLOCK_MONOTONIC);
	size_t count = target->count < stops ? target->count : stops;

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

static void bench_reading(struct resolver *resolver, struct target *target)
{
	static uint64_t heads[THREADS_MAX];
	double cold[MAX_ROUNDS], warm[MAX_ROUNDS], lists[MAX_ROUNDS], transfers[MAX_ROUNDS],
		stopped[MAX_ROUNDS], wall[MAX_ROUNDS];

	for (unsigned int i = 0; i < rounds; i++) {
		const struct probe_process *process;
		struct probe *probe = attach(resolver, target, &process);

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
	fflush(stdout);
}

static void bench_resolving(struct resolver *resolver)
{
	static const char *const names[] = {"5.3.0", "no-debug", "shared",         "zstd",
					    "dwp",   "large",    "large-no-ranges"};
	static struct target target;

	printf("resolving, ms:\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		double wall[MAX_ROUNDS];

		target_start(&target, names[i], "park", "1");
		for (unsigned int k = 0; k < rounds; k++) {
			const struct probe_process *process;
			double start = clock_us(CLOCK_MONOTONIC);

			probe_release(attach(resolver, &target, &process));
			wall[k] = (clock_us(CLOCK_MONOTONIC) - start) / 1e3;
		}
		printf("  %-20s  %7.1f\n", names[i], median(wall, rounds));
		fflush(stdout);
		target_end(&target);
	}
}

static struct run_cost capture_of(const struct target *target)
{
	struct run_cost cost;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", target->program.child);
	if (!run_cost_of(&cost, (const char *[]){CTOP_PROGRAM, "capture", "-o", "-", "-p", pid, NULL}, 1))
		fail("ctop capture has failed");
	return cost;
}

static void bench_capture(const struct target *target)
{
	static struct target plain;
	double cpu[2][MAX_ROUNDS], wall[2][MAX_ROUNDS];

	target_start(&plain, "plain", "park", thread_count);
	for (unsigned int i = 0; i < rounds; i++) {
		for (int k = 0; k < 2; k++) {
			struct run_cost cost = capture_of(k == 0 ? target : &plain);

			cpu[k][i] = cost.cpu_ms;
			wall[k][i] = cost.wall_ms;
		}
	}
	target_end(&plain);
	for (int k = 0; k < 2; k++) {
		cpu[k][0] = median(cpu[k], rounds);
		wall[k][0] = median(wall[k], rounds);
	}
	printf("capture of %zu threads, ms:\n", target->count);
	printf("  jemalloc  CPU %7.1f  wall %7.1f\n", cpu[0][0], wall[0][0]);
	printf("  plain     CPU %7.1f  wall %7.1f\n", cpu[1][0], wall[1][0]);
	printf("  ratio     CPU %7.2f  wall %7.2f\n", cpu[0][0] / cpu[1][0], wall[0][0] / wall[1][0]);
	fflush(stdout);
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

static void bench_gap(void)
{
	/* with real-time priority, so that only what is done to the target itself delays it */
	const struct sched_param urgent = {.sched_priority = 50}, ordinary = {0};
	const char *arguments[] = {CTOP_PROGRAM, "-b", "-d", "1", "-t", "heap", "-g", "thread-exact", NULL};
	static struct target target;
	double without[PAIRS], with[PAIRS];

	if (sched_setscheduler(0, SCHED_FIFO, &urgent) < 0)
		fail_call("sched_setscheduler");
	target_start(&target, "5.3.0", "latency", "2");
	sched_setscheduler(0, SCHED_OTHER, &ordinary);
	printf("longest lateness of a wake-up in %u s, ms, without and with ctop:\n", gap_seconds);
	for (unsigned int i = 0; i < pairs; i++) {
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
		fflush(stdout);
	}
	printf("  medians %.2f %.2f\n", median(without, pairs), median(with, pairs));
	target_end(&target);
}

int main(int argc, char **argv)
{
	static struct target target;
	struct bench_options options = {0};
	struct resolver *resolver;
	struct error error;

	bench_options_parse(&options, "usage: bench-probe [--short]\n", argc, argv);
	if (options.is_short) {
		rounds = 1;
		stops = 20;
		gap_seconds = 1;
		pairs = 1;
		thread_count = "999";
	}
	if (resolver_start(&resolver, &error) < 0)
		fail(error.text);
	target_start(&target, "5.3.0", "park", thread_count);
	bench_reading(resolver, &target);
	if (!options.is_short)
		bench_resolving(resolver);
	bench_capture(&target);
	target_end(&target);
	bench_gap();
	resolver_stop(resolver);
	return 0;
}
