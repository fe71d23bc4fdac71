/* SPDX-License-Identifier: GPL-2.0-only */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

enum {
	ARGUMENTS_MAX = 32,
	SKIPPED_REFRESHES = 2,
	NOT_FOUND = 127,
};

void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	exit(EXIT_FAILURE);
}

void fail_call(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(EXIT_FAILURE);
}

static uint32_t take_number(const char *text, uint32_t least, uint32_t most)
{
	uint32_t value;

	if (!number_parse_u32(text, strlen(text), &value) || value < least || value > most) {
		fprintf(stderr, "%s: '%s' is not a number from %u to %u\n", program_invocation_short_name,
			text, least, most);
		exit(2);
	}
	return value;
}

static void take_option(struct bench_options *options, int option)
{
	switch (option) {
	case 's':
		options->is_short = true;
		options->threads = 1000;
		options->runs = 3;
		break;
	case 'c':
		options->ctop = optarg;
		break;
	case 'o':
		options->other = optarg;
		break;
	case 'p':
		options->part = optarg;
		break;
	case 'l':
		options->load = optarg;
		break;
	case 't':
		options->threads = take_number(optarg, PROCESS_THREADS, 1000000);
		break;
	default:
		options->runs = take_number(optarg, 1, RUNS_MAX);
	}
}

void bench_options_parse(struct bench_options *options, const char *usage, int argc, char **argv)
{
	static const struct option known[] = {
		{"short", no_argument, NULL, 's'},
		{"ctop", required_argument, NULL, 'c'},
		{"other", required_argument, NULL, 'o'},
		{"part", required_argument, NULL, 'p'},
		{"load", required_argument, NULL, 'l'},
		{"threads", required_argument, NULL, 't'},
		{"runs", required_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option, index = 0;

	while ((option = getopt_long(argc, argv, "", known, &index)) != -1) {
		char name[32];

		if (option == 'h') {
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		}
		snprintf(name, sizeof(name), "--%s", option == '?' ? "?" : known[index].name);
		if (strstr(usage, name) == NULL)
			break;
		take_option(options, option);
	}
	if (option != -1 || optind != argc) {
		fputs(usage, stderr);
		exit(2);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (geteuid() != 0)
		printf("not root: ctop reads less than it would, the figures do not count\n");
}

bool is_chosen(const char *chosen, const char *name)
{
	return chosen == NULL || strcmp(chosen, name) == 0;
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

/* Starts a program with this input and output; on `terminal` it has a session of its own. */
static pid_t start(const char *const *arguments, int input, int output, bool terminal)
{
	pid_t child = fork();

	if (child < 0)
		fail_call("cannot fork");
	if (child > 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (terminal && (setsid() < 0 || ioctl(output, TIOCSCTTY, 0) < 0 || dup2(output, STDERR_FILENO) < 0 ||
			 setenv("TERM", "xterm-256color", 1) != 0))
		_exit(NOT_FOUND);
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
		execvp(arguments[0], (char *const *)(uintptr_t)arguments);
	_exit(NOT_FOUND);
}

void program_start(struct program *program, const char *const *arguments)
{
	int input[2], output[2];

	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
		fail_call("cannot make a pipe");
	program->child = start(arguments, input[0], output[1], false);
	close(input[0]);
	close(output[1]);
	program->input = input[1];
	program->output = output[0];
}

void program_end(struct program *program)
{
	close(program->input);
	close(program->output);
	waitpid(program->child, NULL, 0);
}

pid_t start_quietly(const char *const *arguments)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t child;

	if (null < 0)
		fail_call("/dev/null");
	child = start(arguments, null, null, false);
	close(null);
	return child;
}

int start_on_terminal(const char *const *arguments, pid_t *ret_child)
{
	struct winsize size = {.ws_row = TERMINAL_ROWS, .ws_col = TERMINAL_COLUMNS};
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		fail_call("cannot open a pseudo terminal");
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size) < 0)
		fail_call("cannot open a pseudo terminal");
	*ret_child = start(arguments, slave, slave, true);
	close(slave);
	return master;
}

void load_start(struct program *load, uint32_t threads, const char *const *options)
{
	char processes[16], line[64] = "";
	const char *arguments[ARGUMENTS_MAX] = {LOAD_PROGRAM, processes, "100"};

	snprintf(processes, sizeof processes, "%u", threads / PROCESS_THREADS);
	for (size_t i = 0; options[i] && i < ARGUMENTS_MAX - 4; i++)
		arguments[i + 3] = options[i];
	program_start(load, arguments);
	if (read(load->output, line, sizeof line - 1) <= 0 || strncmp(line, "ready ", 6) != 0)
		fail("the load did not start");
}

char *make_directory(void)
{
	const char *parent = getenv("TMPDIR");
	char *directory = memory_format("%s/ctop-bench-XXXXXX", parent != NULL ? parent : "/var/tmp");

	if (mkdtemp(directory) == NULL)
		fail_call(directory);
	return directory;
}

void remove_directory(char *directory)
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

uint64_t number_in(const char *path, const char *format)
{
	FILE *file = fopen(path, "re");
	unsigned long long number = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, format, &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

uint64_t host_threads(void)
{
	const uint64_t threads = number_in("/proc/loadavg", "%*s %*s %*s %*u/%llu");

	if (threads == 0)
		fail("cannot read /proc/loadavg");
	return threads;
}

static void read_once(int directory, const char *path)
{
	char bytes[8192];
	int file = openat(directory, path, O_RDONLY | O_CLOEXEC);

	while (file >= 0 && read(file, bytes, sizeof(bytes)) > 0)
		;
	if (file >= 0)
		close(file);
}

static size_t read_process(int proc, const char *pid, const char *const *files)
{
	char path[300];
	size_t threads = 0;
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "%s/task", pid);
	tasks = file_open_directory(proc, path);
	while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		for (size_t i = 0; files[i] != NULL; i++) {
			snprintf(path, sizeof(path), "%s/%s", entry->d_name, files[i]);
			read_once(dirfd(tasks), path);
		}
		threads++;
	}
	if (tasks != NULL)
		closedir(tasks);
	return threads;
}

double thread_files_floor(const char *const *files)
{
	double start = clock_us(CLOCK_THREAD_CPUTIME_ID);
	DIR *proc = opendir("/proc");
	size_t threads = 0;
	struct dirent *entry;

	if (proc == NULL)
		fail_call("/proc");
	while ((entry = readdir(proc)) != NULL) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			threads += read_process(dirfd(proc), entry->d_name, files);
	}
	closedir(proc);
	return (clock_us(CLOCK_THREAD_CPUTIME_ID) - start) / (double)threads;
}

double usage_us(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e6 +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

void run_costs_of(struct run_cost costs[], const char *const *const programs[], size_t count, size_t runs)
{
	double cpu[PROGRAMS_MAX][RUNS_MAX], wall[PROGRAMS_MAX][RUNS_MAX];

	memset(costs, 0, count * sizeof(*costs));
	for (size_t i = 0; i < runs * count; i++) {
		const size_t program = i % count, run = i / count;
		const double begun = clock_us(CLOCK_MONOTONIC);
		struct rusage usage;
		int status;

		if (wait4(start_quietly(programs[program]), &status, 0, &usage) < 0)
			fail_call("cannot wait");
		if (status != 0)
			fail("a program that is measured has failed");
		wall[program][run] = (clock_us(CLOCK_MONOTONIC) - begun) / 1e3;
		cpu[program][run] = usage_us(&usage) / 1e3;
		if ((double)usage.ru_maxrss / 1024 > costs[program].peak_mib)
			costs[program].peak_mib = (double)usage.ru_maxrss / 1024;
	}
	for (size_t program = 0; program < count; program++) {
		costs[program].cpu_ms = median(cpu[program], runs);
		costs[program].wall_ms = median(wall[program], runs);
	}
}

/* The output of a program that is watched. */
struct watched_output {
	double start_us;
	bool fresh;     /* since the last sample */
	char tail[256]; /* the end of the last read, so that `wanted` is found across two */
};

/* Reads once; false at the end of the output. */
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
	output->fresh = true;
	kept += (size_t)count;
	for (size_t i = 0; i < kept; i++)
		bytes[i] = bytes[i] ? bytes[i] : ' ';
	bytes[kept] = '\0';
	if (wanted && cost->first_wanted_ms == 0 && strstr(bytes, wanted))
		cost->first_wanted_ms = (clock_us(CLOCK_MONOTONIC) - output->start_us) / 1000;
	if (keep > kept)
		keep = kept;
	memcpy(output->tail, bytes + kept - keep, keep + 1);
	return true;
}

/* User and system time of a process in ticks, fields 14 and 15 of proc_pid_stat(5). */
struct process_ticks {
	unsigned long user, system;
};

static struct process_ticks ticks_of(pid_t process)
{
	struct process_ticks ticks = {0};
	char path[64], text[512];
	const char *behind_name;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
	file = fopen(path, "re");
	if (file == NULL)
		return ticks;
	if (fgets(text, sizeof(text), file) != NULL && (behind_name = strrchr(text, ')')) != NULL &&
	    sscanf(behind_name + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &ticks.user,
		   &ticks.system) != 2)
		ticks = (struct process_ticks){0};
	fclose(file);
	return ticks;
}

static double kernel_share(struct process_ticks from, struct process_ticks to)
{
	double user = (double)(to.user - from.user), system = (double)(to.system - from.system);

	return user + system > 0 ? system / (user + system) : 0;
}

void refresh_cost_of(struct refresh_cost *cost, const char *const *arguments, unsigned int interval_ms,
		     size_t refreshes, bool terminal, const char *wanted)
{
	struct watched_output output = {.start_us = clock_us(CLOCK_MONOTONIC)};
	double samples[RUNS_MAX + SKIPPED_REFRESHES + 1], costs[RUNS_MAX];
	struct process_ticks first = {0}, last = {0};
	double last_sample_us = 0;
	size_t count = 0;
	clockid_t clock;
	struct rusage usage;
	pid_t child;
	struct program piped;
	int descriptor;

	if (terminal) {
		descriptor = start_on_terminal(arguments, &child);
	} else {
		program_start(&piped, arguments);
		close(piped.input);
		child = piped.child;
		descriptor = piped.output;
	}
	*cost = (struct refresh_cost){0};
	if (clock_getcpuclockid(child, &clock) != 0)
		fail("no CPU clock of the program");
	while (count <= refreshes + SKIPPED_REFRESHES) {
		struct pollfd watched = {.fd = descriptor, .events = POLLIN};
		int ready = poll(&watched, 1, (int)interval_ms / 10);
		double now = clock_us(CLOCK_MONOTONIC);

		if (ready > 0 && !take_output(&output, descriptor, wanted, cost))
			break;
		/* a refresh whose output came in two parts is not two refreshes */
		if (ready != 0 || !output.fresh || now - last_sample_us < interval_ms * 600.0)
			continue;
		samples[count++] = clock_us(clock);
		last = ticks_of(child);
		if (count == SKIPPED_REFRESHES + 1)
			first = last;
		last_sample_us = now;
		output.fresh = false;
	}
	kill(child, SIGTERM);
	close(descriptor);
	wait4(child, NULL, 0, &usage);
	for (size_t i = SKIPPED_REFRESHES; i + 1 < count; i++)
		costs[cost->refreshes++] = samples[i + 1] - samples[i];
	cost->cpu_us = median(costs, cost->refreshes);
	cost->kernel_share = kernel_share(first, last);
	cost->peak_mib = (double)usage.ru_maxrss / 1024;
}
