/* SPDX-License-Identifier: GPL-2.0-only */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define MAXIMUM_ARGUMENTS 32
#define MAXIMUM_REFRESHES 100
#define SKIPPED_REFRESHES 2
#define NOT_FOUND         127

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static uint64_t clock_us(clockid_t clock)
{
	return clock_ns(clock) / NS_PER_US;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

double median(double *values, size_t count)
{
	if (count == 0)
		return 0;
	qsort(values, count, sizeof *values, compare_doubles);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static _Noreturn void become(const char *const *arguments)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(arguments[0], (char *const *)(uintptr_t)arguments);
	_exit(NOT_FOUND);
}

void load_start(struct load_process *load, const char *const *arguments)
{
	const char *whole[MAXIMUM_ARGUMENTS] = {LOAD_PROGRAM};
	int input[2];
	int output[2];
	char line[64] = "";

	for (size_t i = 0; arguments[i] && i < MAXIMUM_ARGUMENTS - 2; i++)
		whole[i + 1] = arguments[i];
	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
		fail("cannot make a pipe");
	load->child = fork();
	if (load->child < 0)
		fail("cannot start the load");
	if (load->child == 0) {
		if (dup2(input[0], STDIN_FILENO) < 0 || dup2(output[1], STDOUT_FILENO) < 0)
			_exit(NOT_FOUND);
		become(whole);
	}
	close(input[0]);
	close(output[1]);
	load->input = input[1];
	if (read(output[0], line, sizeof line - 1) <= 0 || strncmp(line, "ready ", 6) != 0) {
		fprintf(stderr, "bench: %s did not start\n", LOAD_PROGRAM);
		exit(EXIT_FAILURE);
	}
	close(output[0]);
}

void load_end(struct load_process *load)
{
	close(load->input);
	waitpid(load->child, NULL, 0);
}

uint64_t host_threads(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	unsigned long long threads = 0;

	if (!file || fscanf(file, "%*s %*s %*s %*u/%llu", &threads) != 1)
		fail("cannot read /proc/loadavg");
	fclose(file);
	return threads;
}

static uint64_t usage_us(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000ULL +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

void run_cost_of(struct run_cost *cost, const char *const *arguments)
{
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (child < 0)
		fail("cannot fork");
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
			_exit(NOT_FOUND);
		become(arguments);
	}
	if (wait4(child, &status, 0, &usage) < 0)
		fail("cannot wait");
	*cost = (struct run_cost){.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
				  .cpu_us = usage_us(&usage),
				  .wall_us = clock_us(CLOCK_MONOTONIC) - start,
				  .peak_memory_kib = (uint64_t)usage.ru_maxrss};
	cost->started = cost->status != NOT_FOUND;
}

/* Starts the program with its output on a pipe or terminal; returns our end. */
static int start_refreshing(const char *const *arguments, bool terminal, pid_t *ret_child)
{
	struct winsize size = {.ws_row = 50, .ws_col = 200};
	int ends[2];

	if (terminal) {
		ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (ends[0] < 0 || grantpt(ends[0]) < 0 || unlockpt(ends[0]) < 0)
			fail("cannot open a pseudo terminal");
		ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (ends[1] < 0 || ioctl(ends[1], TIOCSWINSZ, &size) < 0)
			fail("cannot open a pseudo terminal");
	} else if (pipe2(ends, O_CLOEXEC) < 0) {
		fail("cannot make a pipe");
	}
	*ret_child = fork();
	if (*ret_child < 0)
		fail("cannot fork");
	if (*ret_child == 0) {
		int input = terminal ? ends[1] : open("/dev/null", O_RDONLY);

		setsid();
		if (terminal && (ioctl(ends[1], TIOCSCTTY, 0) < 0 || dup2(ends[1], STDERR_FILENO) < 0))
			_exit(NOT_FOUND);
		if (dup2(input, STDIN_FILENO) < 0 || dup2(ends[1], STDOUT_FILENO) < 0)
			_exit(NOT_FOUND);
		setenv("TERM", "xterm-256color", 1);
		become(arguments);
	}
	close(ends[1]);
	return ends[0];
}

struct watched_output {
	uint64_t start_us;
	uint64_t bytes;
	bool fresh;     /* since the last sample */
	char tail[256]; /* the end of the last read, so that `wanted` is found across two */
};

/* Takes in what is there; false at the end of the output. */
static bool take_output(struct watched_output *output, int descriptor, const char *wanted,
			struct refresh_cost *cost)
{
	char bytes[65536];
	size_t kept = strlen(output->tail);
	size_t keep = wanted ? strlen(wanted) - 1 : 0;
	ssize_t count;

	memcpy(bytes, output->tail, kept);
	count = read(descriptor, bytes + kept, sizeof bytes - kept - 1);
	if (count <= 0)
		return count < 0 && errno == EINTR;
	if (output->bytes == 0)
		cost->first_output_ms = (double)(clock_us(CLOCK_MONOTONIC) - output->start_us) / 1000;
	output->bytes += (uint64_t)count;
	output->fresh = true;
	kept += (size_t)count;
	for (size_t i = 0; i < kept; i++)
		bytes[i] = bytes[i] ? bytes[i] : ' ';
	bytes[kept] = '\0';
	if (wanted && cost->first_wanted_ms == 0 && strstr(bytes, wanted))
		cost->first_wanted_ms = (double)(clock_us(CLOCK_MONOTONIC) - output->start_us) / 1000;
	if (keep > kept)
		keep = kept;
	memcpy(output->tail, bytes + kept - keep, keep + 1);
	return true;
}

void refresh_cost_of(struct refresh_cost *cost, const char *const *arguments, unsigned int interval_ms,
		     size_t refreshes, bool terminal, const char *wanted)
{
	struct watched_output output = {.start_us = clock_us(CLOCK_MONOTONIC)};
	uint64_t samples[MAXIMUM_REFRESHES + SKIPPED_REFRESHES + 1];
	double costs[MAXIMUM_REFRESHES];
	uint64_t last_sample_us = 0;
	uint64_t bytes_before = 0;
	size_t count = 0;
	clockid_t clock;
	struct rusage usage;
	pid_t child;
	int status;
	int descriptor = start_refreshing(arguments, terminal, &child);

	*cost = (struct refresh_cost){0};
	if (refreshes > MAXIMUM_REFRESHES)
		refreshes = MAXIMUM_REFRESHES;
	if (clock_getcpuclockid(child, &clock) != 0)
		fail("no CPU clock of the program");
	while (count <= refreshes + SKIPPED_REFRESHES) {
		struct pollfd watched = {.fd = descriptor, .events = POLLIN};
		int ready = poll(&watched, 1, (int)interval_ms / 10);
		uint64_t now = clock_us(CLOCK_MONOTONIC);

		if (ready > 0 && !take_output(&output, descriptor, wanted, cost))
			break;
		/* a refresh whose output came in two parts is not two refreshes */
		if (ready != 0 || !output.fresh || now - last_sample_us < (uint64_t)interval_ms * 600)
			continue;
		if (count == SKIPPED_REFRESHES)
			bytes_before = output.bytes;
		samples[count++] = clock_us(clock);
		last_sample_us = now;
		output.fresh = false;
	}
	kill(child, SIGTERM);
	close(descriptor);
	wait4(child, &status, 0, &usage);
	cost->started = !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
	for (size_t i = SKIPPED_REFRESHES; i + 1 < count; i++)
		costs[cost->refreshes++] = (double)(samples[i + 1] - samples[i]);
	cost->cpu_us = median(costs, cost->refreshes);
	if (cost->refreshes)
		cost->bytes_per_refresh = (output.bytes - bytes_before) / cost->refreshes;
	cost->peak_memory_kib = (uint64_t)usage.ru_maxrss;
}
