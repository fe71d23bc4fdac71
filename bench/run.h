/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BENCH_RUN_H
#define CTOP_BENCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the benchmarks share: the load, other programs and what they cost. */

/* A running load (load.c). */
struct load_process {
	pid_t child;
	int input; /* the load ends when this is closed */
};

/*
 * Starts `load` with `arguments` (NULL-terminated, without the program's name) and waits until all its
 * threads stand. Ends the benchmark with a sentence on failure.
 */
void load_start(struct load_process *load, const char *const *arguments);

/* Ends the load and waits until its threads are gone. */
void load_end(struct load_process *load);

/* Threads of the whole host, as /proc/loadavg counts them (proc_loadavg(5)). */
uint64_t host_threads(void);

struct run_cost {
	bool started; /* false: there is no such program */
	int status;   /* exit status, or -1 after a signal */
	uint64_t cpu_us;
	uint64_t wall_us;
	uint64_t peak_memory_kib;
};

/* Runs a program to its end, output to /dev/null; searched in PATH. */
void run_cost_of(struct run_cost *cost, const char *const *arguments);

struct refresh_cost {
	bool started;
	size_t refreshes;       /* measured ones */
	double cpu_us;          /* median of the CPU time of the whole process per refresh */
	double first_output_ms; /* from exec to the first byte */
	double first_wanted_ms; /* from exec to the first appearance of `wanted` in the output; 0: never */
	uint64_t bytes_per_refresh; /* mean */
	uint64_t peak_memory_kib;
};

/*
 * Runs a program that refreshes its output each `interval_ms` and measures `refreshes` of them after two that
 * are left out: whenever its output has been quiet for a tenth of the interval, its CPU clock (all its
 * threads) is read. With `terminal` the output is a pseudo terminal of 200x50, else a pipe. `wanted` may be
 * NULL.
 */
void refresh_cost_of(struct refresh_cost *cost, const char *const *arguments, unsigned int interval_ms,
		     size_t refreshes, bool terminal, const char *wanted);

/* The median; sorts `values`. 0 for none. */
double median(double *values, size_t count);

#endif
