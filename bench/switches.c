/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of ctop's programs at the scheduler's events for others: two threads on one CPU that hand a byte
 * to and fro through pipes, with and without each program, in turns. Prints their CPU time per switch (median
 * of the turns), the ratio, and what the program says of its own cost. Needs root.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "capture/bpf/bpf_latency.h"
#include "run.h"

enum {
	TURNS = 15,
	TURN_MS = 400,
	SHORT_TURN_MS = 50,
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

static void take_nothing(void *context, const struct bpf_waits *waits)
{
	(void)context;
	(void)waits;
}

static void measure_latency(unsigned int duration_ms)
{
	double off[TURNS], on[TURNS], off_rate[TURNS], on_rate[TURNS];
	uint64_t events = 0, cost_ns = 0;
	struct feature_result result;
	struct arena arena = {0};
	struct bpf_latency *latency = bpf_latency_open(NULL, 0, &arena, &result);

	if (latency == NULL) {
		printf("latency: not measured: %s\n", result.detail);
		arena_release(&arena);
		return;
	}
	for (size_t i = 0; i < TURNS; i++) {
		uint64_t more_events, unseen, more_cost;

		off[i] = play_turn(duration_ms, &off_rate[i]);
		if (bpf_latency_switch(latency, true) < 0)
			fail("cannot begin to measure latency");
		on[i] = play_turn(duration_ms, &on_rate[i]);
		bpf_latency_read(latency, take_nothing, NULL, &more_events, &unseen, &more_cost);
		bpf_latency_switch(latency, false);
		events += more_events;
		cost_ns += more_cost;
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

int main(int argc, char **argv)
{
	struct bench_options options = {0};

	bench_options_parse(&options, "[--short]", argc, argv);
	pin_to_one_cpu();
	measure_latency(options.is_short ? SHORT_TURN_MS : TURN_MS);
	return 0;
}
