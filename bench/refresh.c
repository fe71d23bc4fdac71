/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a refresh costs: CPU time of the whole process per refresh and thread, of `ctop -b` and the screen by
 * both backends, and of `top -H -b` in the same run under the same load. Absolute times differ from machine
 * to machine; the ratio counts.
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
	double aim, aim_procfs; /* ratio of ctop -b to top that is wanted at most, by BPF and from procfs */
};

static const struct load_kind load_kinds[] = {
	{"idle", {NULL}, 0.04, 0.35},
	{"busy", {"--busy", "8", NULL}, 0.04, 0.35},
	{"waking", {"--waking", "0.1", "--interval-ms", "1000", NULL}, 0.08, 1.0},
	{"churn", {"--churn", "1000", NULL}, 1.0, 1.0},
};

static void print_cost(const char *load, uint64_t threads, const char *name, const struct refresh_cost *cost,
		       const struct refresh_cost *peer, double aim)
{
	printf("%-7s %8llu  %-16s", load, (unsigned long long)threads, name);
	if (cost->refreshes == 0) {
		printf(" %9s\n", "-");
		return;
	}
	printf(" %9.2f %7.0f", cost->cpu_us / (double)threads, cost->kernel_share * 100);
	if (peer != NULL && peer->refreshes != 0 && peer->cpu_us > 0)
		printf(" %6.3f", cost->cpu_us / peer->cpu_us);
	else
		printf(" %6s", "");
	if (aim > 0)
		printf(" %5.2f", aim);
	else
		printf(" %5s", "");
	printf(" %9.0f %6.0f\n", cost->first_wanted_ms, cost->peak_mib);
	fflush(stdout);
}

static bool measure(const struct bench_options *options, const struct load_kind *kind, uint32_t threads)
{
	static const char *const top[] = {"top", "-H", "-b", "-d", "1", NULL};
	static const char *const backends[] = {"bpf", "procfs"};
	struct program load;
	struct refresh_cost peer, cost;
	uint64_t shown;
	bool good = true;

	load_start(&load, threads, kind->options);
	shown = host_threads();
	refresh_cost_of(&peer, top, INTERVAL_MS, options->runs, false, NULL);
	print_cost(kind->name, shown, "top -H -b", &peer, NULL, 0);
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		const char *batch[] = {options->ctop, "-b", "-d", "1", "--backend", backends[i], NULL};
		const char *screen[] = {options->ctop, "-d", "1", "--backend", backends[i], NULL};
		char name[32];

		snprintf(name, sizeof(name), "ctop -b %s", backends[i]);
		refresh_cost_of(&cost, batch, INTERVAL_MS, options->runs, false, "load-");
		print_cost(kind->name, shown, name, &cost, &peer, i == 0 ? kind->aim : kind->aim_procfs);
		good = good && (cost.refreshes > 0 || i == 0);
		snprintf(name, sizeof(name), "screen %s", backends[i]);
		refresh_cost_of(&cost, screen, INTERVAL_MS, options->runs, true, " threads in ");
		print_cost(kind->name, shown, name, &cost, &peer, 0);
	}
	program_end(&load);
	return good;
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
	printf("%-7s %8s  %-16s %9s %7s %6s %5s %9s %6s\n", "load", "threads", "program", "us/thread",
	       "kernel%", "ratio", "aim", "first ms", "MiB");
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
