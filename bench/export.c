/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `ctop export` costs with many threads, of which a tenth wakes once a round: CPU time of the parts of a
 * round and of a page in either format (medians), by the axes that it has by default and with a group for
 * each name of a thread, of which as many as the default limit have series. Needs root for reading by BPF.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/memory.h"
#include "capture/capture.h"
#include "cmd/export/export.h"
#include "run.h"

enum {
	ROUNDS = 15,
	SHORT_ROUNDS = 3,
};

/* What is measured, in us of CPU time of this thread. */
enum part {
	PART_CAPTURE,
	PART_SESSION,
	PART_TABLES,
	PART_ADD,
	PART_TEXT,
	PART_OPENMETRICS,
	PART_HEALTH,
	PART_COUNT,
};

static const char *const part_names[PART_COUNT] = {
	[PART_CAPTURE] = "capture",
	[PART_SESSION] = "session: take the round up",
	[PART_TABLES] = "export: tables of the axes",
	[PART_ADD] = "export: add to counters",
	[PART_TEXT] = "page: groups, classic text",
	[PART_OPENMETRICS] = "page: groups, OpenMetrics",
	[PART_HEALTH] = "page: ctop itself",
};

struct measurement {
	struct capture *capture;
	struct session *session;
	struct export *export;
	double costs[PART_COUNT][ROUNDS];
	size_t page_bytes;
};

/* Notes the time since `*begun` and begins anew. */
static void note(struct measurement *measurement, enum part part, size_t round, double *begun)
{
	const double now = clock_us(CLOCK_THREAD_CPUTIME_ID);

	measurement->costs[part][round] = now - *begun;
	*begun = clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static size_t write_page(const struct export *export, enum exposition_format format)
{
	struct buffer page = {0};
	struct exposition exposition = {.buffer = &page, .format = format};
	size_t length;

	export_write_groups(export, &exposition);
	exposition_release(&exposition);
	length = page.length;
	buffer_release(&page);
	return length;
}

static void write_health(const struct export *export)
{
	const struct export_health health = {.serves = true, .has_process = true};
	struct buffer page = {0};
	struct exposition exposition = {.buffer = &page, .format = EXPOSITION_OPENMETRICS};

	export_write_health(export, &health, &exposition);
	exposition_release(&exposition);
	buffer_release(&page);
}

static void measure_round(struct measurement *measurement, size_t index)
{
	struct capture_round_options options = {.only_needed = true};
	double begun = clock_us(CLOCK_THREAD_CPUTIME_ID);
	struct export_round *round;
	struct snapshot *snapshot;
	struct error error;

	export_needs(measurement->export, &options.needed, &options.cgroup_records, &options.smaps);
	if (capture_round(measurement->capture, &options, NULL, &snapshot, &error) < 0)
		fail(error.text);
	note(measurement, PART_CAPTURE, index, &begun);
	session_add_round(measurement->session, snapshot);
	note(measurement, PART_SESSION, index, &begun);
	round = export_round_create(measurement->export, measurement->session);
	if (round == NULL)
		return; /* the first */
	note(measurement, PART_TABLES, index, &begun);
	export_add(measurement->export, round);
	note(measurement, PART_ADD, index, &begun);
	export_round_release(round);
	begun = clock_us(CLOCK_THREAD_CPUTIME_ID);
	measurement->page_bytes = write_page(measurement->export, EXPOSITION_TEXT);
	note(measurement, PART_TEXT, index, &begun);
	write_page(measurement->export, EXPOSITION_OPENMETRICS);
	note(measurement, PART_OPENMETRICS, index, &begun);
	write_health(measurement->export);
	note(measurement, PART_HEALTH, index, &begun);
}

static void print_costs(struct measurement *measurement, const char *axes_text, size_t rounds)
{
	double sum = 0;

	printf("-g %s: %" PRIu64 " threads of the host, a page of groups has %zu KiB\n", axes_text,
	       host_threads(), measurement->page_bytes / 1024);
	for (size_t part = 0; part < PART_COUNT; part++) {
		const double cost = median(measurement->costs[part], rounds);

		printf("  %-30s %9.2f ms\n", part_names[part], cost / 1000);
		sum += part <= PART_ADD ? cost : 0;
	}
	printf("  %-30s %9.2f ms\n", "a round", sum / 1000);
}

static void measure(const char *axes_text, size_t rounds)
{
	const struct timespec interval = {1, 0};
	struct export_options options = {.limit = EXPORT_LIMIT_DEFAULT, .keep_ns = EXPORT_KEEP_DEFAULT_NS};
	struct measurement measurement = {.session = session_create()};
	struct error error;

	view_initialise(&options.view);
	if (export_parse_axes(axes_text, &options, &error) < 0 ||
	    export_family_choose(NULL, &options.families, &error) < 0 ||
	    capture_open(&(struct capture_options){.budget_percent = -1}, &measurement.capture, &error) < 0)
		fail(error.text);
	measurement.export = export_create(&options);
	measure_round(&measurement, 0);
	for (size_t i = 0; i < rounds; i++) {
		nanosleep(&interval, NULL);
		measure_round(&measurement, i);
	}
	print_costs(&measurement, axes_text, rounds);
	export_release(measurement.export);
	session_release(measurement.session);
	capture_close(measurement.capture);
	view_release(&options.view);
}

int main(int argc, char **argv)
{
	struct bench_options options = {.threads = 10000};
	struct program load;

	bench_options_parse(&options, "[--short] [--threads N]", argc, argv);
	if (options.is_short)
		options.threads = 1000;
	load_start(&load, options.threads, (const char *[]){"--waking", "0.1", NULL});
	measure("process,cgroup", options.is_short ? SHORT_ROUNDS : ROUNDS);
	measure("process,cgroup,thread-exact", options.is_short ? SHORT_ROUNDS : ROUNDS);
	program_end(&load);
	return 0;
}
