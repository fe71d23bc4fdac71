/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BENCH_RUN_H
#define CTOP_BENCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/clock.h"

/* Shared by the benchmarks: options, other programs and their cost, and floors to compare with. */

enum {
	RUNS_MAX = 100,
	PROGRAMS_MAX = 2,      /* that run in turn */
	PROCESS_THREADS = 100, /* of a load */
	TERMINAL_ROWS = 50,
	TERMINAL_COLUMNS = 200,
};

/* Ends the benchmark with a sentence. */
_Noreturn void fail(const char *what);

/* The same after a system call, with the reason. */
_Noreturn void fail_call(const char *what);

/* The options of a benchmark, set to its defaults before bench_options_parse(). */
struct bench_options {
	bool is_short; /* 1,000 threads, few runs: only shows that it works */
	const char *ctop;
	const char *other; /* a program to compare `ctop` with; NULL: none */
	const char *part;  /* only this one; NULL: all */
	const char *load;  /* only this one; NULL: all */
	uint32_t threads;  /* at least PROCESS_THREADS when given */
	uint32_t runs;     /* at most RUNS_MAX */
};

/*
 * Takes the options that `usage` names. Ends the program after --help and, with status 2, for wrong ones.
 * Says so when not run by root.
 */
void bench_options_parse(struct bench_options *options, const char *usage, int argc, char **argv);

/* Whether a part of the benchmark, or a load, is wanted: `chosen` is NULL or its name. */
bool is_chosen(const char *chosen, const char *name);

/* The time on `clock`, in microseconds. */
static inline double clock_us(clockid_t clock)
{
	return (double)clock_ns(clock) / NS_PER_US;
}

/* The median; sorts `values`. 0 for none. */
double median(double *values, size_t count);

/* A program that runs beside the benchmark and dies with it. */
struct program {
	pid_t child;
	int input, output; /* our ends of the pipes to its standard input and from its standard output */
};

/* Starts a program, searched in PATH; `arguments` ends with NULL. Ends the benchmark on failure. */
void program_start(struct program *program, const char *const *arguments);

/* Closes the pipes and waits for the end. */
void program_end(struct program *program);

/* Starts a program, searched in PATH, with /dev/null as input and output. */
pid_t start_quietly(const char *const *arguments);

/*
 * Starts a program, searched in PATH, on a pseudo terminal of TERMINAL_ROWS and TERMINAL_COLUMNS as
 * xterm-256color. Returns our end, which the caller closes. Ends the benchmark on failure.
 */
int start_on_terminal(const char *const *arguments, pid_t *ret_child);

/*
 * Starts `load` (load.c) with about that many threads, 100 in each process, and `options` (NULL-terminated),
 * and waits until all stand. Ends the benchmark on failure. program_end() ends the load.
 */
void load_start(struct program *load, uint32_t threads, const char *const *options);

/*
 * Makes an empty directory in $TMPDIR, or in /var/tmp without that variable. Returns its path, which
 * remove_directory() frees. Ends the benchmark on failure.
 */
char *make_directory(void);

/* Removes a directory with its files; a directory inside it stays. Frees `directory`. */
void remove_directory(char *directory);

/* The number that `format` of scanf(3) finds in a file as an unsigned long long; 0 where it finds none. */
uint64_t number_in(const char *path, const char *format);

/* Threads of the whole host, as /proc/loadavg counts them (proc_loadavg(5)). */
uint64_t host_threads(void);

/*
 * Opens, reads and closes these files (NULL-terminated) of every thread in /proc, and nothing else.
 * Returns microseconds of CPU per thread: the floor of any reading from procfs.
 */
double thread_files_floor(const char *const *files);

/* CPU time, us. */
double usage_us(const struct rusage *usage);

struct run_cost {
	double cpu_ms, wall_ms;
	double peak_mib;
};

/*
 * Runs at most PROGRAMS_MAX programs `runs` times each to their ends, in turn so that other work on the
 * machine affects all, output to /dev/null: medians of the times, the largest peaks of memory. Ends the
 * benchmark when one fails.
 */
void run_costs_of(struct run_cost costs[], const char *const *const programs[], size_t count, size_t runs);

struct refresh_cost {
	size_t refreshes;       /* measured ones; 0: the program is missing */
	double cpu_us;          /* median of the CPU time of the whole process per refresh */
	double kernel_share;    /* of that CPU time, as the kernel divides it over all measured refreshes */
	double first_wanted_ms; /* from exec to the first appearance of `wanted` in the output; 0: never */
	double peak_mib;
};

/*
 * Runs a program that refreshes its output each `interval_ms` and measures `refreshes` of them after two that
 * are left out: whenever its output has been quiet for a tenth of the interval, its CPU clock (all its
 * threads) is read. With `terminal` the output is a pseudo terminal of 200x50, else a pipe. `wanted` may be
 * NULL.
 */
void refresh_cost_of(struct refresh_cost *cost, const char *const *arguments, unsigned int interval_ms,
		     size_t refreshes, bool terminal, const char *wanted);

#endif
