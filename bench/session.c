/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a round costs between the capture and the screen: CPU time of taking it up (which thread is which,
 * what ended) and of making a table of it, for generated rounds of which a part of the threads moved and some
 * came and went. The same rounds are taken up once as if the capture had not said which threads moved, and
 * once with the course of numbers kept, as a screen does.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run.h"
#include "session/session.h"
#include "snapshot_file.h"

static const char usage[] =
	"Usage: bench-session [--runs N] [--threads N] [--short]\n"
	"\n"
	"Medians of N rounds (default 9) of N threads (default 100,000), 100 in each process.\n";

/* What happens in each round; parts of the threads are in hundredths of a percent. */
struct activity {
	const char *words;
	unsigned int moved, replaced;
	bool own_names; /* each thread has a name of its own */
};

static const struct activity activities[] = {
	{"nothing moves", 0, 0, false},
	{"1 % moves", 100, 0, false},
	{"10 % moves", 1000, 0, false},
	{"1 % moves, 0.5 % come and go", 100, 50, false},
	{"1 % moves, names of their own", 100, 0, true},
};

/* What is looked at. */
static const struct looking {
	const char *words;
	enum tab tab;
	enum window_mode mode;
	enum view_level level;
} lookings[] = {
	{"overview, rate", TAB_OVERVIEW, WINDOW_MODE_RATE, VIEW_LEVEL_GROUPS},
	{"overview, base", TAB_OVERVIEW, WINDOW_MODE_BASE, VIEW_LEVEL_GROUPS},
	{"overview, total", TAB_OVERVIEW, WINDOW_MODE_TOTAL, VIEW_LEVEL_GROUPS},
	{"scheduling, rate", TAB_SCHED, WINDOW_MODE_RATE, VIEW_LEVEL_GROUPS},
	{"threads, rate", TAB_OVERVIEW, WINDOW_MODE_RATE, VIEW_LEVEL_THREADS},
};

enum {
	LOOKINGS = sizeof(lookings) / sizeof(lookings[0]),
	ACTIVITIES = sizeof(activities) / sizeof(activities[0]),
	FIRST_S = 100000, /* since boot */
	ROW_LIMIT = 50,   /* that a screen has room for */
};

static struct triple name_thread(struct snapshot *snapshot, unsigned int own_names, size_t thread)
{
	size_t process = thread / PROCESS_THREADS;

	return (struct triple){
		intern(snapshot, "server%c%c", (int)('a' + process / 26 % 26), (int)('a' + process % 26)),
		intern(snapshot, "worker-%zu", own_names != 0 ? thread : thread % 4),
		intern(snapshot, "/system.slice/server-%zu.service", process % 100)};
}

/* All threads sleep, as nearly all do. */
static void add_waits(struct snapshot *snapshot)
{
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	for (size_t i = 0; i < snapshot->thread_count; i++)
		snapshot->waiting_ns[i] = NS_PER_S;
}

static struct snapshot *first_round(size_t threads, const struct activity *activity)
{
	const struct generation wanted = {.threads = threads,
					  .limit = UINT64_C(10000000000),
					  .share = 3,
					  .kind = activity->own_names,
					  .name = name_thread};
	struct snapshot *snapshot = snapshot_generate(&wanted);

	snapshot->provenance.present = true;
	snapshot->provenance.boottime_ns = FIRST_S * NS_PER_S;
	add_waits(snapshot);
	for (size_t i = 0; i < threads; i++)
		snapshot->start_time[i] = i;
	snapshot_finish(snapshot);
	return snapshot;
}

/* Whether the thread at a row is among so many hundredths of a percent of them, others in each round. */
static bool is_chosen(size_t row, size_t round, unsigned int part)
{
	return (row * 7919 + round * 104729) % 10000 < part;
}

/* The round after `before`, its names being those of `names`. */
static struct snapshot *next_round(const struct snapshot *before, size_t round,
				   const struct activity *activity, bool say_moved)
{
	const size_t count = before->thread_count;
	struct snapshot *snapshot = snapshot_create();

	for (uint32_t i = 1; i < before->strings.count; i++)
		string_pool_intern(&snapshot->strings, string_pool_text(&before->strings, i),
				   string_pool_length(&before->strings, i));
	for (uint32_t i = 1; i < before->cpu_sets.count; i++)
		string_pool_intern(&snapshot->cpu_sets, string_pool_text(&before->cpu_sets, i),
				   string_pool_length(&before->cpu_sets, i));
	for (size_t i = 0; i < before->triple_count; i++)
		snapshot_intern_triple(snapshot, before->triples[i]);
	snapshot->provenance.present = true;
	snapshot->provenance.boottime_ns = before->provenance.boottime_ns + 2 * NS_PER_S;
	snapshot_reserve(snapshot, count);
	for (size_t i = 0; i < count; i++)
		snapshot_add_thread(snapshot, before->tgid[i], before->tid[i]);
	memcpy(snapshot->triple, before->triple, count * sizeof(*snapshot->triple));
	memcpy(snapshot->uid, before->uid, count * sizeof(*snapshot->uid));
	memcpy(snapshot->start_time, before->start_time, count * sizeof(*snapshot->start_time));
	memcpy(snapshot->thread_flags, before->thread_flags, count);
	add_waits(snapshot);
	for (size_t i = METRIC_THREAD_COUNT + 1; i < METRIC_COUNT; i++)
		memcpy(snapshot_column(snapshot, (enum metric)i), before->values[i],
		       count * sizeof(uint64_t));
	snapshot->carried_serial = say_moved ? before->serial : 0;
	snapshot->carried_row = memory_allocate((count + 1) * sizeof(uint32_t));
	snapshot->moved = memory_allocate((count + 1) * sizeof(uint32_t));
	snapshot->moved_known = say_moved;
	for (size_t i = 0; i < count; i++) {
		const bool replaced = is_chosen(i, round, activity->replaced);

		snapshot->carried_row[i] = replaced ? UINT32_MAX : (uint32_t)i;
		if (replaced)
			snapshot->start_time[i] = before->provenance.boottime_ns / NS_PER_TICK + 1;
		if (!replaced && !is_chosen(i, round, activity->moved))
			continue;
		snapshot->moved[snapshot->moved_count++] = (uint32_t)i;
		for (size_t j = METRIC_THREAD_COUNT + 1; j < METRIC_COUNT; j++) {
			if (metric_type((enum metric)j)->kind == METRIC_KIND_COUNTER)
				snapshot->values[j][i] += 1000;
		}
	}
	snapshot_finish(snapshot);
	return snapshot;
}

/* CPU time in ms of taking up a round, then of each table. */
struct times {
	double values[1 + LOOKINGS][RUNS_MAX];
	size_t bytes; /* that the session and the newest round take in the end */
};

static size_t live_bytes(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static double cpu_ms(void)
{
	return clock_us(CLOCK_THREAD_CPUTIME_ID) / 1e3;
}

static void look(struct session *session, const struct looking *looking)
{
	struct view view;
	struct table *table;

	view_initialise(&view);
	view_set_tab(&view, looking->tab);
	view.mode = looking->mode;
	view.level = looking->level;
	view.cells_on_demand = true;
	view.limit = ROW_LIMIT;
	table = session_table(session, &view);
	session_table_fill(session, &view, table, 0, ROW_LIMIT);
	table_release(table);
	view_release(&view);
}

/* As each look follows another one of the same view, the first two rounds are left out. */
static void measure(size_t threads, size_t runs, const struct activity *activity, bool say_moved,
		    bool keep_courses, struct times *times)
{
	for (size_t i = 0; i < LOOKINGS; i++) {
		struct session *session = session_create();
		const size_t bytes_before = live_bytes();
		struct snapshot *before = first_round(threads, activity);

		if (keep_courses)
			session_keep_courses(session, COLUMN_COUNT);
		session_add_round(session, snapshot_reference(before));
		for (size_t round = 0; round < runs + 2; round++) {
			struct snapshot *snapshot = next_round(before, round, activity, say_moved);
			double start, between, end;

			snapshot_release(before);
			before = snapshot_reference(snapshot);
			start = cpu_ms();
			session_add_round(session, snapshot);
			between = cpu_ms();
			look(session, &lookings[i]);
			end = cpu_ms();
			if (round < 2)
				continue;
			times->values[0][round - 2] = between - start;
			times->values[1 + i][round - 2] = end - between;
		}
		times->bytes = live_bytes() - bytes_before;
		snapshot_release(before);
		session_release(session);
	}
}

static void report(size_t threads, size_t runs, const struct activity *activity)
{
	static struct times known, unknown, courses;

	measure(threads, runs, activity, true, false, &known);
	measure(threads, runs, activity, false, false, &unknown);
	measure(threads, runs, activity, true, true, &courses);
	printf("\n%zu threads, %s\n%-20s %12s %12s %12s\n", threads, activity->words, "CPU ms", "moved known",
	       "not known", "and courses");
	for (size_t i = 0; i <= LOOKINGS; i++)
		printf("%-20s %12.3f %12.3f %12.3f\n", i == 0 ? "taking up" : lookings[i - 1].words,
		       median(known.values[i], runs), median(unknown.values[i], runs),
		       median(courses.values[i], runs));
	printf("%-20s %12zu %12zu %12zu\n", "bytes a thread", known.bytes / threads, unknown.bytes / threads,
	       courses.bytes / threads);
}

int main(int argc, char **argv)
{
	struct bench_options options = {.threads = 100000, .runs = 9};

	bench_options_parse(&options, usage, argc, argv);
	for (size_t i = 0; i < ACTIVITIES; i++)
		report(options.is_short ? 1000 : options.threads, options.is_short ? 1 : options.runs,
		       &activities[i]);
	return 0;
}
