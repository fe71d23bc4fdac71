/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of aims: what a round costs by ctop, and by top and htop under the same load in the same run.
 *
 * The CPU time and memory of a program include all processes it starts, also those that end. For that the
 * program runs in a cgroup (v2), one program at a time: `cpu.stat` counts the CPU time of members past and
 * present, and `cgroup.procs` lists those that live. Neither needs a controller
 * (Documentation/admin-guide/cgroup-v2.rst).
 */
#include "aims.h"

#include <errno.h>
#include <math.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/memory.h"
#include "capture/bpf/bpf_tasks.h"

enum {
	SKIPPED_ROUNDS = 5,
	ROUNDS = 30,
	ROUND_MS = 1000, /* between rounds of `-b`, of top and of the recorder */
	FRAME_MS = 2000, /* between frames: the default of ctop */
	PSS_AFTER_S = 60,
	PATIENCE_S = 60, /* for the next refresh */
	COMMAND_MAX = 16,
	EMPTY_PATIENCE_MS = 1000, /* until the last process of the group has ended */
};

enum aim {
	AIM_SCREEN_HOST,
	AIM_BATCH_1000,
	AIM_BATCH_10000,
	AIM_BATCH_30000,
	AIM_BATCH_MOVING,
	AIM_BATCH_BIRTHS,
	AIM_SCREEN_10000,
	AIM_RECORDER,
	AIM_PSS_HOST,
	AIM_PSS_10000,
	AIM_PSS_30000,
	AIM_WRITES,
	AIM_COUNT
};

static const struct {
	const char *words;
	double most; /* the aim: the largest result that meets it */
} aims[AIM_COUNT] = {
	[AIM_SCREEN_HOST] = {"screen, host alone, ms a second / htop's", 0.4},
	[AIM_BATCH_1000] = {"-b, ms a round / top -H -b's", 0.08},
	[AIM_BATCH_10000] = {"-b, 12 busy, ms a round / top -H -b's", 0.04},
	[AIM_BATCH_30000] = {"-b, ms a round / top -H -b's", 0.03},
	[AIM_BATCH_MOVING] = {"-b, 2,000 move a round, ms / top -H -b's", 0.08},
	[AIM_BATCH_BIRTHS] = {"-b, 12 busy, 1,000 births a second, ms / without", 1.5},
	[AIM_SCREEN_10000] = {"screen, 12 busy, ms a second / htop's", 0.08},
	[AIM_RECORDER] = {"recorder, 12 busy, ms a round - a bare pass", 4},
	[AIM_PSS_HOST] = {"PSS of the screen, host alone, MiB", 18},
	[AIM_PSS_10000] = {"PSS of the screen, MiB", 40},
	[AIM_PSS_30000] = {"PSS of the screen, MiB", 75},
	[AIM_WRITES] = {"writes of a frame, host alone; beside: htop's", 1},
};

/* What came of an aim in each run; numbers that are missing are NAN. */
struct figure {
	uint64_t threads; /* of the host; 0: the aim was not measured */
	double ours[RUNS_MAX], theirs[RUNS_MAX], result[RUNS_MAX];
};

static void note(struct figure *figure, size_t run, double ours, double theirs, double result)
{
	figure->threads = host_threads();
	figure->ours[run] = ours;
	figure->theirs[run] = theirs;
	figure->result[run] = result;
}

/* --- the group --- */

/* Paths of the cgroup and of two files in it. */
static char *group, *group_members, *group_times;

static void remove_group(void)
{
	/* the kernel may still be ending what the last program started */
	for (int waited_ms = 0; rmdir(group) < 0 && errno == EBUSY && waited_ms < EMPTY_PATIENCE_MS;
	     waited_ms += 10)
		usleep(10000);
}

/* Returns false where no cgroup can be made. */
static bool make_group(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	const struct mntent *mount = NULL;

	while (mounts != NULL && (mount = getmntent(mounts)) != NULL &&
	       strcmp(mount->mnt_type, "cgroup2") != 0)
		;
	if (mount != NULL)
		group = memory_format("%s/ctop-bench-%d", mount->mnt_dir, (int)getpid());
	if (mounts != NULL)
		endmntent(mounts);
	if (group == NULL || mkdir(group, 0755) < 0)
		return false;
	atexit(remove_group);
	group_members = memory_format("%s/cgroup.procs", group);
	group_times = memory_format("%s/cpu.stat", group);
	return access(group_members, W_OK) == 0 && access(group_times, R_OK) == 0;
}

/* CPU time of all members, past and present. */
static double group_ms(void)
{
	return (double)number_in(group_times, "usage_usec %llu") / 1000;
}

/* Proportional memory of all living members; NAN if it cannot be read. */
static double group_pss_mib(void)
{
	FILE *members = fopen(group_members, "re");
	uint64_t kib = 0;
	int member;

	while (members != NULL && fscanf(members, "%d", &member) == 1) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", member);
		kib += number_in(path, "%*[^\n] Rss: %*u kB Pss: %llu");
	}
	if (members != NULL)
		fclose(members);
	return kib != 0 ? (double)kib / 1024 : NAN;
}

/* The beginning of a shell's command line that enters the group and becomes the command. */
#define ENTER "echo $$ >\"$0\" && exec \"$@\""

/* `command` begun by the shell with `script`. Valid until the next call. */
static const char *const *in_group(const char *script, const char *const *command)
{
	static const char *words[COMMAND_MAX];
	size_t count = 4;

	words[0] = "sh";
	words[1] = "-c";
	words[2] = script;
	words[3] = group_members;
	while (*command != NULL && count < COMMAND_MAX - 1)
		words[count++] = *command++;
	words[count] = NULL;
	return words;
}

/* --- a program that refreshes its output --- */

struct subject {
	pid_t child;
	int output; /* our end of its pipe or terminal */
	unsigned int interval_ms;
	double refreshed_us; /* end of its last refresh (CLOCK_MONOTONIC); 0: none yet */
};

static void subject_start(struct subject *subject, const char *const *command, bool on_terminal)
{
	const char *const *words = in_group(ENTER, command);
	struct program piped;

	*subject = (struct subject){.interval_ms = on_terminal ? FRAME_MS : ROUND_MS};
	if (on_terminal) {
		subject->output = start_on_terminal(words, &subject->child);
		return;
	}
	program_start(&piped, words);
	close(piped.input);
	subject->child = piped.child;
	subject->output = piped.output;
}

static void subject_end(struct subject *subject)
{
	kill(subject->child, SIGTERM);
	close(subject->output);
	waitpid(subject->child, NULL, 0);
}

/*
 * Takes in output until it has been quiet for a tenth of the interval. What comes less than half an interval
 * after a refresh belongs to that refresh. Returns false when the program has ended or shows nothing.
 */
static bool wait_for_refresh(struct subject *subject)
{
	const double deadline_us = clock_us(CLOCK_MONOTONIC) + (double)PATIENCE_S * 1e6;
	bool fresh = false;

	for (;;) {
		struct pollfd readable = {.fd = subject->output, .events = POLLIN};
		const int ready = poll(&readable, 1, (int)subject->interval_ms / 10);
		const double now_us = clock_us(CLOCK_MONOTONIC);
		char bytes[65536];

		if (ready > 0 && read(subject->output, bytes, sizeof(bytes)) <= 0)
			return false;
		if (ready > 0) {
			fresh = true;
		} else if (fresh && now_us - subject->refreshed_us >= subject->interval_ms * 500.0) {
			subject->refreshed_us = now_us;
			return true;
		} else {
			fresh = false;
		}
		if (now_us >= deadline_us)
			return false;
	}
}

/* write(2) and its relatives, of the thread that draws: the main one. */
static uint64_t writes_of(pid_t process)
{
	char path[64];

	/* /proc/PID/io would add up all threads */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/io", (int)process, (int)process);
	return number_in(path, "rchar: %*u wchar: %*u syscr: %*u syscw: %llu");
}

/* The cost of a program with all that it started. */
struct outcome {
	double round_ms, second_ms; /* CPU time for each refresh, and for each second */
	double pss_mib; /* PSS_AFTER_S after the start, or after the last refresh if that was before */
	double writes;  /* median of a refresh; NAN if the kernel does not count them */
};

static const struct outcome no_outcome = {NAN, NAN, NAN, NAN};

static size_t skipped_rounds(const struct bench_options *options)
{
	return options->is_short ? 1 : SKIPPED_ROUNDS;
}

static size_t measured_rounds(const struct bench_options *options)
{
	return options->is_short ? 2 : ROUNDS;
}

/* Measures refreshes after the first ones; no_outcome when the program is missing or ends. */
static struct outcome measure(const struct bench_options *options, const char *const *command,
			      bool on_terminal)
{
	const double start_us = clock_us(CLOCK_MONOTONIC);
	const size_t skipped = skipped_rounds(options), rounds = measured_rounds(options);
	struct outcome outcome = no_outcome;
	double writes[ROUNDS], from_ms, from_us, ms;
	struct subject subject;
	uint64_t written;
	bool lives = true;

	subject_start(&subject, command, on_terminal);
	for (size_t i = 0; i < skipped && lives; i++)
		lives = wait_for_refresh(&subject);
	from_ms = group_ms();
	from_us = subject.refreshed_us;
	written = writes_of(subject.child);
	for (size_t i = 0; i < rounds && lives; i++) {
		const uint64_t before = written;

		lives = wait_for_refresh(&subject);
		written = writes_of(subject.child);
		writes[i] = (double)(written - before);
		if (isnan(outcome.pss_mib) &&
		    (i + 1 == rounds || subject.refreshed_us - start_us >= (double)PSS_AFTER_S * 1e6))
			outcome.pss_mib = group_pss_mib();
	}
	ms = group_ms() - from_ms;
	subject_end(&subject);
	if (!lives)
		return no_outcome;
	outcome.round_ms = ms / (double)rounds;
	outcome.second_ms = ms * 1e6 / (subject.refreshed_us - from_us);
	if (written != 0)
		outcome.writes = median(writes, rounds);
	return outcome;
}

/* --- ctop and its peers --- */

static double batch_ms(const struct bench_options *options)
{
	const char *const command[] = {options->ctop, "-b", "-d", "1", "--no-config", NULL};
	const struct outcome outcome = measure(options, command, false);

	if (isnan(outcome.round_ms))
		fail("ctop -b has ended, or prints nothing");
	return outcome.round_ms;
}

static struct outcome screen(const struct bench_options *options)
{
	const char *const command[] = {options->ctop, "--no-config", NULL};
	const struct outcome outcome = measure(options, command, true);

	if (isnan(outcome.round_ms))
		fail("the screen of ctop has ended, or shows nothing");
	return outcome;
}

static struct outcome htop(const struct bench_options *options)
{
	static const char *const command[] = {"htop", "-d", "20", NULL}; /* FRAME_MS */

	return measure(options, command, true);
}

static void compare_batches(const struct bench_options *options, struct figure *figure, size_t run)
{
	static const char *const top[] = {"top", "-H", "-b", "-d", "1", NULL};
	const double ours = batch_ms(options), theirs = measure(options, top, false).round_ms;

	note(figure, run, ours, theirs, ours / theirs);
}

static void sleep_rounds(size_t rounds)
{
	sleep((unsigned int)rounds * ROUND_MS / 1000);
}

/* CPU time of one pass over all tasks and nothing else; NAN without BPF. */
static double bare_pass_ms(const struct bench_options *options)
{
	const size_t skipped = skipped_rounds(options), rounds = measured_rounds(options);
	struct feature_result result;
	struct arena arena = {0};
	struct bpf_tasks *tasks = bpf_tasks_open(NULL, 0, (size_t)host_threads(), 0, NULL, &arena, &result);
	double from_us = 0, us;

	if (tasks == NULL) {
		printf("no bare pass: %s\n", result.detail);
		arena_release(&arena);
		return NAN;
	}
	for (size_t i = 0; i < skipped + rounds; i++) {
		struct bpf_pass pass;

		if (i == skipped)
			from_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
		if (bpf_tasks_read(tasks, 0, true, NULL, &pass) < 0)
			fail("a bare pass has failed");
		sleep_rounds(1);
	}
	us = clock_us(CLOCK_THREAD_CPUTIME_ID) - from_us;
	bpf_tasks_close(tasks);
	arena_release(&arena);
	return us / 1000 / (double)rounds;
}

static double recorder_ms(const struct bench_options *options)
{
	char *directory = make_directory();
	const char *const command[] = {options->ctop, "record", "-d", "1", "--history", directory, NULL};
	/* the recorder's line about what it does is no part of this program's output */
	const pid_t child = start_quietly(in_group(ENTER " 2>/dev/null", command));
	double from_ms, ms;

	/* between two rounds: the first one begins at once */
	usleep(ROUND_MS * 700);
	sleep_rounds(skipped_rounds(options));
	from_ms = group_ms();
	sleep_rounds(measured_rounds(options));
	ms = group_ms() - from_ms;
	if (waitpid(child, NULL, WNOHANG) != 0)
		fail("ctop record has ended");
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	remove_directory(directory);
	return ms / (double)measured_rounds(options);
}

/* --- loads --- */

static void measure_host(const struct bench_options *options, struct figure *figures, size_t run)
{
	const struct outcome ours = screen(options), theirs = htop(options);

	note(&figures[AIM_SCREEN_HOST], run, ours.second_ms, theirs.second_ms,
	     ours.second_ms / theirs.second_ms);
	note(&figures[AIM_PSS_HOST], run, ours.pss_mib, theirs.pss_mib, ours.pss_mib);
	note(&figures[AIM_WRITES], run, ours.writes, theirs.writes, ours.writes);
}

static void measure_thousand(const struct bench_options *options, struct figure *figures, size_t run)
{
	compare_batches(options, &figures[AIM_BATCH_1000], run);
}

static void measure_busy(const struct bench_options *options, struct figure *figures, size_t run)
{
	struct outcome ours, theirs;
	double pass, recorder;

	compare_batches(options, &figures[AIM_BATCH_10000], run);
	ours = screen(options);
	theirs = htop(options);
	note(&figures[AIM_SCREEN_10000], run, ours.second_ms, theirs.second_ms,
	     ours.second_ms / theirs.second_ms);
	note(&figures[AIM_PSS_10000], run, ours.pss_mib, theirs.pss_mib, ours.pss_mib);
	pass = bare_pass_ms(options);
	recorder = recorder_ms(options);
	note(&figures[AIM_RECORDER], run, recorder, pass, recorder - pass);
}

static void measure_moving(const struct bench_options *options, struct figure *figures, size_t run)
{
	compare_batches(options, &figures[AIM_BATCH_MOVING], run);
}

/* Comes after measure_busy(), whose load differs by the births alone. */
static void measure_births(const struct bench_options *options, struct figure *figures, size_t run)
{
	const struct figure *still = &figures[AIM_BATCH_10000];
	const double ours = batch_ms(options), without = still->threads != 0 ? still->ours[run] : NAN;

	note(&figures[AIM_BATCH_BIRTHS], run, ours, without, ours / without);
}

static void measure_many(const struct bench_options *options, struct figure *figures, size_t run)
{
	double pss_mib;

	compare_batches(options, &figures[AIM_BATCH_30000], run);
	pss_mib = screen(options).pss_mib;
	note(&figures[AIM_PSS_30000], run, pss_mib, NAN, pss_mib);
}

/* The loads of a run, in order. One of 0 threads is the host without a load. */
static const struct {
	const char *name; /* of the load, for --load */
	uint32_t threads;
	const char *options[5];
	void (*measure)(const struct bench_options *options, struct figure *figures, size_t run);
} loads[] = {
	{"host", 0, {NULL}, measure_host},
	{"1000", 1000, {NULL}, measure_thousand},
	{"10000", 10000, {"--busy", "12", NULL}, measure_busy},
	{"moving", 10000, {"--waking", "0.2", "--interval-ms", "1000", NULL}, measure_moving},
	{"births", 10000, {"--busy", "12", "--churn", "1000", NULL}, measure_births},
	{"30000", 30000, {NULL}, measure_many},
};

static void take_run(const struct bench_options *options, uint32_t most_threads, struct figure *figures,
		     size_t run)
{
	for (size_t i = 0; i < ARRAY_COUNT(loads); i++) {
		const uint32_t threads = loads[i].threads < most_threads ? loads[i].threads : most_threads;
		struct program load;

		if (!is_chosen(options->load, loads[i].name))
			continue;
		if (threads != 0)
			load_start(&load, threads, loads[i].options);
		loads[i].measure(options, figures, run);
		if (threads != 0)
			program_end(&load);
	}
}

/* --- the table --- */

static void print_number(double number)
{
	if (isnan(number))
		printf(" %8s", "-");
	else
		printf(" %8.4g", number);
}

static void print_figure(enum aim aim, struct figure *figure, size_t runs)
{
	printf("%-50s %7llu", aims[aim].words, (unsigned long long)figure->threads);
	print_number(median(figure->ours, runs));
	print_number(median(figure->theirs, runs));
	print_number(median(figure->result, runs)); /* which sorts */
	print_number(figure->result[0]);
	print_number(figure->result[runs - 1]);
	print_number(aims[aim].most);
	printf("\n");
}

void aims_measure(const struct bench_options *options, uint32_t most_threads)
{
	const size_t runs = options->is_short ? 1 : options->runs;
	struct figure *figures;

	if (!make_group()) {
		printf("\nAims: not measured, a cgroup (v2) cannot be made; that needs root\n");
		return;
	}
	figures = memory_allocate_zero(AIM_COUNT, sizeof(*figures));
	for (size_t run = 0; run < runs; run++)
		take_run(options, most_threads, figures, run);
	printf("\nAims, medians of %zu runs: CPU time of rounds %zu to %zu (-b, top and the recorder each "
	       "second, the\n"
	       "screen and htop each 2 s), and PSS after 60 s, of all processes of a program. Each run has "
	       "its own\n"
	       "result. Delays beside a pass (aim: 0.3 ms) are printed by bench-switches --part passes.\n\n"
	       "%-50s %7s %8s %8s %8s %8s %8s %8s\n",
	       runs, skipped_rounds(options) + 1, skipped_rounds(options) + measured_rounds(options), "",
	       "threads", "ctop", "beside", "result", "least", "most", "aim");
	for (size_t i = 0; i < AIM_COUNT; i++) {
		if (figures[i].threads != 0)
			print_figure((enum aim)i, &figures[i], runs);
	}
	free(figures);
}
