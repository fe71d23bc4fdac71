/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a refresh costs: CPU time of the whole process per refresh and thread, of `ctop -b`, of the screen,
 * and of `top -H -b` in the same run under the same load. Absolute times differ from machine to machine; the
 * ratio counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

#define INTERVAL_MS 1000

struct load_kind {
	const char *name;
	const char *options[6];
	double aim; /* ratio of ctop -b to top that is wanted at most */
};

static const struct load_kind load_kinds[] = {
	{"idle", {NULL}, 0.35},
	{"busy", {"--busy", "8", NULL}, 0.35},
	{"waking", {"--waking", "0.1", "--interval-ms", "1000", NULL}, 1.0},
	{"churn", {"--churn", "1000", NULL}, 1.0},
};

static void print_cost(const struct refresh_cost *cost, uint64_t threads, const struct refresh_cost *peer)
{
	if (cost->refreshes == 0) {
		printf(" %9s %6s", "-", "-");
		return;
	}
	printf(" %9.2f", cost->cpu_us / (double)threads);
	if (peer && peer->refreshes && peer->cpu_us > 0)
		printf(" %6.2f", cost->cpu_us / peer->cpu_us);
	else
		printf(" %6s", peer ? "-" : "");
}

static bool measure(const struct bench_options *options, const struct load_kind *kind, uint32_t threads)
{
	const char *top[] = {"top", "-H", "-b", "-d", "1", NULL};
	const char *batch[] = {options->ctop, "-b", "-d", "1", NULL};
	const char *screen[] = {options->ctop, "-d", "1", NULL};
	struct program load;
	struct refresh_cost costs[3];
	uint64_t shown;

	load_start(&load, threads, kind->options);
	shown = host_threads();
	refresh_cost_of(&costs[0], top, INTERVAL_MS, options->runs, false, NULL);
	refresh_cost_of(&costs[1], batch, INTERVAL_MS, options->runs, false, "load-");
	refresh_cost_of(&costs[2], screen, INTERVAL_MS, options->runs, true, " threads in ");
	program_end(&load);
	printf("%-7s %8llu", kind->name, (unsigned long long)shown);
	print_cost(&costs[0], shown, NULL);
	print_cost(&costs[1], shown, &costs[0]);
	printf(" %5.2f", kind->aim);
	print_cost(&costs[2], shown, &costs[0]);
	printf(" %8.0f %8.0f %7llu\n", costs[1].first_wanted_ms, costs[2].first_wanted_ms,
	       (unsigned long long)costs[1].peak_mib);
	fflush(stdout);
	return costs[1].refreshes > 0 && costs[2].refreshes > 0;
}

static const char usage[] =
	"usage: bench-refresh [--short] [--ctop PROGRAM] [--load NAME] [--threads N] [--refreshes N]\n"
	"  --short        1,000 threads, idle, three refreshes: only shows that it works\n"
	"  --load NAME    idle, busy, waking or churn; all of them unless given\n"
	"  --threads N    about as many; 1,000 and 10,000 unless given\n"
	"  --refreshes N  measured of each program (8)\n";

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {1000, 10000};
	struct bench_options options = {.ctop = CTOP_PROGRAM, .runs = 8};
	bool good = true;
	size_t measured = 0;

	bench_options_parse(&options, usage, argc, argv);
	if (options.is_short)
		options.runs = 3;
	if (geteuid() != 0)
		printf("not root: ctop reads less than it would, the figures do not count\n");
	printf("CPU time of the whole process per refresh and thread; median of %u refreshes, one a "
	       "second\n\n",
	       options.runs);
	printf("%-7s %8s %9s %6s %9s %6s %5s %9s %6s %8s %8s %7s\n", "", "", "top -H -b", "", "ctop -b", "",
	       "", "screen", "", "-b first", "screen", "-b peak");
	printf("%-7s %8s %9s %6s %9s %6s %5s %9s %6s %8s %8s %7s\n", "load", "threads", "us/thread", "",
	       "us/thread", "ratio", "aim", "us/thread", "ratio", "row ms", "1st ms", "MiB");
	for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
		uint32_t threads = options.threads ? options.threads : sizes[size];

		if (size > 0 && options.threads)
			break;
		for (size_t i = 0; i < sizeof load_kinds / sizeof *load_kinds; i++) {
			if ((options.load && strcmp(options.load, load_kinds[i].name) != 0) ||
			    (options.is_short && i > 0))
				continue;
			good = measure(&options, &load_kinds[i], threads) && good;
			measured++;
		}
	}
	if (measured == 0)
		fprintf(stderr, "bench-refresh: no load is called '%s'\n", options.load);
	return good && measured ? EXIT_SUCCESS : EXIT_FAILURE;
}
