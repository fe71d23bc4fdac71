/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of ctop to other programs, all on one CPU. Needs root.
 *
 * - switches: two threads that hand a byte to and fro through pipes, with and without each of the programs at
 *   the scheduler's events, in turns. Prints their CPU time per switch (median of the turns), the ratio, and
 *   what the program says of its own cost.
 * - passes: the delays of a real-time thread that wakes each millisecond, without ctop and beside `ctop -b`,
 *   in turns, and the CPU time of a round. Nothing but the kernel can keep the CPU from such a thread.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "capture/bpf/bpf_latency.h"
#include "run.h"

enum {
	TURNS = 15,
	TURN_MS = 400,
	SHORT_TURN_MS = 50,
	WATCH_S = 10, /* of a turn of the part passes: as many rounds of ctop */
	SETTLE_S = 3, /* until ctop has begun */
	WAKES_PER_S = 1000,
	PROGRAMS = 4,
};

/* One of the two threads: it waits for a byte and hands it on. */
struct player {
	int input, output;
	atomic_bool *end;
	uint64_t handed;
};

static void pin_to_one_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((unsigned int)sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void *play(void *argument)
{
	struct player *player = argument;
	char byte = 0;

	while (read(player->input, &byte, 1) == 1) {
		player->handed++;
		if (atomic_load_explicit(player->end, memory_order_relaxed) ||
		    write(player->output, &byte, 1) != 1)
			break;
	}
	close(player->output);
	return NULL;
}

/* ns of CPU time per switch, of both threads together. */
static double play_turn(unsigned int duration_ms, double *ret_switches_per_s)
{
	const struct timespec duration = {duration_ms / 1000, duration_ms % 1000 * (long)NS_PER_MS};
	atomic_bool end = false;
	struct player players[2] = {{.end = &end}, {.end = &end}};
	uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID), began = clock_ns(CLOCK_MONOTONIC), wall;
	pthread_t threads[2];
	int there[2], back[2];
	uint64_t switches, used;

	if (pipe(there) < 0 || pipe(back) < 0)
		fail_call("pipe");
	players[0].input = back[0];
	players[0].output = there[1];
	players[1].input = there[0];
	players[1].output = back[1];
	for (size_t i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, play, &players[i]) != 0)
			fail("cannot create a thread");
	}
	if (write(back[1], "", 1) != 1)
		fail_call("write");
	nanosleep(&duration, NULL);
	atomic_store(&end, true);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	wall = clock_ns(CLOCK_MONOTONIC) - began;
	used = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
	close(back[0]);
	close(there[0]);
	switches = players[0].handed + players[1].handed;
	*ret_switches_per_s = (double)switches * 1e9 / (double)wall;
	return (double)used / (double)switches;
}

static void measure_latency(unsigned int duration_ms)
{
	double off[TURNS], on[TURNS], off_rate[TURNS], on_rate[TURNS];
	uint64_t events = 0, cost_ns = 0;
	struct bpf_latency_cost cost;
	struct feature_result result;
	struct arena arena = {0};
	struct bpf_latency *latency = bpf_latency_open(NULL, 0, &(struct latency_calls){0}, &arena, &result);

	if (latency == NULL) {
		printf("latency: not measured: %s\n", result.detail);
		arena_release(&arena);
		return;
	}
	for (size_t i = 0; i < TURNS; i++) {
		off[i] = play_turn(duration_ms, &off_rate[i]);
		if (bpf_latency_switch(latency, true) < 0)
			fail("cannot begin to measure latency");
		on[i] = play_turn(duration_ms, &on_rate[i]);
		bpf_latency_read(latency, NULL, &cost);
		bpf_latency_switch(latency, false);
		events += cost.events;
		cost_ns += cost.time_ns;
	}
	bpf_latency_close(latency);
	arena_release(&arena);
	printf("latency: %.0f ns of CPU time per switch and wakeup without, %.0f with: %.3f times; "
	       "%.0f switches/s without, %.0f with\n",
	       median(off, TURNS), median(on, TURNS), median(on, TURNS) / median(off, TURNS),
	       median(off_rate, TURNS), median(on_rate, TURNS));
	printf("latency: %.0f ns per event by its own figures (%.1f events per switch expected)\n",
	       events != 0 ? (double)cost_ns / (double)events : 0.0, 2.0);
}

/* The delays of the real-time thread, us, in one turn. */
static void watch_delays(double *delays, size_t count)
{
	uint64_t wanted = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < count; i++) {
		struct timespec moment;

		wanted += NS_PER_S / WAKES_PER_S;
		moment = clock_timespec(wanted);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
		delays[i] = ((double)clock_ns(CLOCK_MONOTONIC) - (double)wanted) / NS_PER_US;
	}
}

static void set_urgent(bool urgent)
{
	const struct sched_param parameters = {.sched_priority = urgent ? 50 : 0};

	if (sched_setscheduler(0, urgent ? SCHED_FIFO : SCHED_OTHER, &parameters) < 0)
		fail_call("sched_setscheduler");
}

/* The longest delay of each second: a round of ctop is in each. Returns their median. */
static double usual_longest(const double *delays, size_t count)
{
	double longest[RUNS_MAX * WATCH_S];
	const size_t seconds = count / WAKES_PER_S;

	for (size_t i = 0; i < seconds; i++) {
		longest[i] = 0;
		for (size_t k = i * WAKES_PER_S; k < (i + 1) * WAKES_PER_S; k++) {
			if (delays[k] > longest[i])
				longest[i] = delays[k];
		}
	}
	return median(longest, seconds);
}

/* A program beside which the thread wakes, and what was seen in all turns. */
struct neighbour {
	const char *name;
	const char *arguments[8];
	double *delays, round_ms[RUNS_MAX];
	size_t count;
};

static double cpu_ms_of(pid_t child)
{
	clockid_t clock;

	return clock_getcpuclockid(child, &clock) == 0 ? clock_us(clock) / 1000 : 0;
}

static void take_turn(struct neighbour *neighbour, size_t turn, unsigned int seconds)
{
	const size_t count = (size_t)seconds * WAKES_PER_S;
	pid_t child = 0;
	double before = 0;

	if (neighbour->arguments[0] != NULL) {
		child = start_quietly(neighbour->arguments);
		sleep(SETTLE_S);
		before = cpu_ms_of(child);
	}
	set_urgent(true);
	watch_delays(neighbour->delays + neighbour->count, count);
	set_urgent(false);
	neighbour->count += count;
	if (child == 0)
		return;
	neighbour->round_ms[turn] = (cpu_ms_of(child) - before) / seconds;
	if (waitpid(child, NULL, WNOHANG) != 0)
		fail("ctop ended");
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
}

static void measure_passes(const struct bench_options *options, uint32_t threads)
{
	struct neighbour neighbours[PROGRAMS] = {
		{"none", {NULL}, NULL, {0}, 0},
		{"procfs", {options->ctop, "-b", "-d", "1", "--backend", "procfs"}, NULL, {0}, 0},
		{"bpf", {options->ctop, "-b", "-d", "1", "--backend", "bpf"}, NULL, {0}, 0},
		{"bpf, other", {options->other, "-b", "-d", "1", "--backend", "bpf"}, NULL, {0}, 0},
	};
	const size_t count = options->other != NULL ? PROGRAMS : PROGRAMS - 1;
	const unsigned int seconds = options->is_short ? 1 : WATCH_S;
	cpu_set_t all;
	struct program load;

	sched_getaffinity(0, sizeof(all), &all);
	load_start(&load, threads, (const char *[]){NULL});
	pin_to_one_cpu(); /* the programs started from here on, too */
	for (size_t i = 0; i < count; i++)
		neighbours[i].delays = memory_allocate(options->runs * WATCH_S * WAKES_PER_S *
						       sizeof(double));
	for (size_t turn = 0; turn < options->runs; turn++) {
		for (size_t i = 0; i < count; i++)
			take_turn(&neighbours[i], turn, seconds);
	}
	printf("%llu threads: delays of a wake-up in us, and ms of CPU a round\n%-12s %10s %10s %10s %10s "
	       "%10s\n",
	       (unsigned long long)host_threads(), "beside", "50 %", "99.9 %", "longest", "a second's",
	       "round");
	for (size_t i = 0; i < count; i++) {
		struct neighbour *neighbour = &neighbours[i];
		const double usual = usual_longest(neighbour->delays, neighbour->count);
		const double middle = median(neighbour->delays, neighbour->count); /* sorts */

		printf("%-12s %10.0f %10.0f %10.0f %10.0f %10.2f\n", neighbour->name, middle,
		       neighbour->delays[neighbour->count - 1 - neighbour->count / WAKES_PER_S],
		       neighbour->delays[neighbour->count - 1], usual,
		       median(neighbour->round_ms, options->runs));
		free(neighbour->delays);
	}
	program_end(&load);
	sched_setaffinity(0, sizeof(all), &all);
}

static const char usage[] =
	"usage: bench-switches [--short] [--ctop PROGRAM] [--other PROGRAM] [--part NAME] [--threads N] "
	"[--runs N]\n"
	"  --short      short turns: only shows that it works\n"
	"  --other      an older ctop, run in turn with the other one for passes\n"
	"  --part NAME  switches or passes; both of them unless given\n"
	"  --threads N  about as many for passes; 1,000, 10,000 and 30,000 unless given\n"
	"  --runs N     turns of each program for passes (5)\n";

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {1000, 10000, 30000};
	struct bench_options options = {.ctop = CTOP_PROGRAM, .runs = 5};

	bench_options_parse(&options, usage, argc, argv);
	if (options.is_short)
		options.runs = 1;
	for (size_t i = 0; i < ARRAY_COUNT(sizes) && is_chosen(options.part, "passes"); i++) {
		if (options.threads == 0 || i == 0)
			measure_passes(&options, options.threads != 0 ? options.threads : sizes[i]);
		if (options.is_short)
			break;
	}
	if (is_chosen(options.part, "switches")) {
		pin_to_one_cpu();
		measure_latency(options.is_short ? SHORT_TURN_MS : TURN_MS);
	}
	return 0;
}
