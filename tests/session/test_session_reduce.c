/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns made of threads: sums, ratios, present values, unavailable ones and ones that do not apply.
 */
#include "session_fixture.h"

#include <math.h>
#include <string.h>

#include "table/screen_format.h"

/*
 * Kernel threads have no I/O and no blocked time (the kernel counts their idle time as such), so neither
 * makes a row partial; a failed reading does.
 */
static void fill_states(struct snapshot *snapshot, int round)
{
	size_t kernel = fixture_thread(snapshot, 2, 2, "mixed", "kthread", 1);
	size_t read = fixture_thread(snapshot, 10, 10, "mixed", "read", 1);
	size_t failed = fixture_thread(snapshot, 20, 20, "denied", "denied", 1);
	size_t partly = fixture_thread(snapshot, 30, 30, "partly", "partly", 1);
	size_t partly_failed = fixture_thread(snapshot, 30, 31, "partly", "partly", 1);
	reason_id *of_io;

	snapshot->thread_flags[kernel] |= THREAD_KERNEL;
	fixture_set(snapshot, kernel, METRIC_BLOCK_SUM, MS(25700) * (uint64_t)round);
	fixture_set(snapshot, read, METRIC_BLOCK_SUM, MS(20) * (uint64_t)round);
	fixture_set(snapshot, read, METRIC_READ_BYTES, 2048 * (uint64_t)round);
	fixture_set(snapshot, partly, METRIC_READ_BYTES, 2048 * (uint64_t)round);
	of_io = snapshot_source_reasons(snapshot, SOURCE_IO);
	of_io[failed] = REASON_NOT_PERMITTED;
	of_io[partly_failed] = REASON_NOT_PERMITTED;
	snapshot->default_reason[SOURCE_DELAYS] = REASON_SWITCHED_OFF;
}

static void test_states(void **state)
{
	struct session *session = fixture_two_rounds(fill_states);
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_READ), "1.0K");
	assert_string_equal(fixture_shown(table, "denied", COLUMN_READ), "·");
	assert_int_equal(fixture_cell(table, "denied", COLUMN_READ)->reason, REASON_NOT_PERMITTED);
	assert_string_equal(fixture_shown(table, "partly", COLUMN_READ), "≥1.0K");
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_BLKIO), "·");
	assert_int_equal(fixture_cell(table, "mixed", COLUMN_MWAIT)->reason, REASON_SWITCHED_OFF);
	/* the run queue is known, the rest is not */
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_LOST), "≥0");
	/* a derived sum with an input that nobody could read says nothing, as in reports */
	view.tab = TAB_ALL;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "mixed", column_of_derived(DERIVED_TOTAL_OFFCPU_DELAY_NS)),
			    "·");
	view.tab = TAB_IO;
	assert_string_equal(fixture_shown(fixture_table_of(session, &view), "mixed", COLUMN_BLOCK), "1.0");
	view.mode = WINDOW_MODE_TOTAL;
	assert_string_equal(fixture_shown(fixture_table_of(session, &view), "mixed", COLUMN_BLOCK), "20.0ms");
	view.mode = WINDOW_MODE_RATE;
	view.level = VIEW_LEVEL_THREADS;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "kthread", COLUMN_BLOCK), "-");
	assert_string_equal(fixture_shown(table, "kthread", COLUMN_READ), "-");
	assert_true(isnan(fixture_cell(table, "kthread", COLUMN_READ)->sort));
	view_release(&view);
	session_release(session);
}

/* Delays: MWAIT is the larger of swap-in and thrashing, thread by thread, plus the others; LOST adds all. */
static void fill_delays(struct snapshot *snapshot, int round)
{
	uint64_t on = (uint64_t)round;
	size_t a = fixture_thread(snapshot, 10, 10, "app", "a", 1);
	size_t b = fixture_thread(snapshot, 10, 11, "app", "b", 1);

	fixture_set(snapshot, a, METRIC_SWAPIN_DELAY_TOTAL_NS, MS(20) * on);
	fixture_set(snapshot, a, METRIC_THRASHING_DELAY_TOTAL_NS, MS(60) * on);
	fixture_set(snapshot, b, METRIC_SWAPIN_DELAY_TOTAL_NS, MS(100) * on);
	fixture_set(snapshot, b, METRIC_FREEPAGES_DELAY_TOTAL_NS, MS(10) * on);
	fixture_set(snapshot, b, METRIC_COMPACT_DELAY_TOTAL_NS, MS(20) * on);
	fixture_set(snapshot, b, METRIC_WPCOPY_DELAY_TOTAL_NS, MS(10) * on);
	fixture_set(snapshot, b, METRIC_WAIT_TIME_NS, MS(200) * on);
	fixture_set(snapshot, a, METRIC_BLKIO_DELAY_TOTAL_NS, MS(400) * on);
	fixture_set(snapshot, a, METRIC_IRQ_DELAY_TOTAL_NS, MS(40) * on);
	fixture_set(snapshot, a, METRIC_RUN_TIME_NS, MS(1000) * on);
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	snapshot->stuck_ns[b] = on * MS(2000);
	fixture_set(snapshot, b, METRIC_STATE, 'D');
}

static void test_delays(void **state)
{
	struct session *session = fixture_two_rounds(fill_delays);
	struct table *table = fixture_table(session, TAB_TIME, WINDOW_MODE_RATE);
	const struct cell *cell;
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	assert_string_equal(fixture_shown(table, "app", COLUMN_MWAIT),
			    "10.0"); /* 60 + 100 + 10 + 20 + 10 in 2 s */
	/* one thread is in D all the time */
	assert_string_equal(fixture_shown(table, "app", COLUMN_LOST), "142.0");
	cell = fixture_cell(table, "app", COLUMN_LOST);
	assert_float_equal((float)cell->sort, 142.0F, 0.01F);
	cell = fixture_cell(table, "app", COLUMN_BAR);
	assert_int_equal(cell->form, CELL_FORM_BAR);
	assert_float_equal(cell->value.shares[0], 0.25F, 0.001F); /* 1 s of 2 threads x 2 s */
	assert_float_equal(cell->value.shares[1], 0.05F, 0.001F);
	assert_float_equal(cell->value.shares[2], 0.10F, 0.001F);
	assert_float_equal(cell->value.shares[3], 0.05F, 0.001F);
	assert_float_equal(cell->value.shares[4], 0.01F, 0.001F);
	assert_float_equal(cell->value.shares[TIME_PART_SLEEP], 0.54F, 0.001F);
	fixture_expect(session, TAB_OVERVIEW, WINDOW_MODE_RATE, "app", COLUMN_STUCK, "1");
	view.level = VIEW_LEVEL_THREADS;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "b", COLUMN_STUCK), "≥2.0s");
	assert_string_equal(fixture_shown(table, "a", COLUMN_STUCK), "0");
	session_release(session);
}

/* Waits are charged when they end: the bar never holds more than the whole. */
static void fill_long_waits(struct snapshot *snapshot, int round)
{
	size_t thread = fixture_thread(snapshot, 10, 10, "app", "app", 1);

	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(1000) * (uint64_t)round);
	fixture_set(snapshot, thread, METRIC_BLKIO_DELAY_TOTAL_NS, MS(9000) * (uint64_t)round);
}

static void test_full_bar(void **state)
{
	struct session *session = fixture_two_rounds(fill_long_waits);
	struct table *table = fixture_table(session, TAB_TIME, WINDOW_MODE_RATE);
	const struct cell *cell = fixture_cell(table, "app", COLUMN_BAR);

	(void)state;
	assert_float_equal(cell->value.shares[0], 0.1F, 0.001F);
	assert_float_equal(cell->value.shares[2], 0.9F, 0.001F);
	assert_float_equal(cell->value.shares[5], 0.0F, 0.001F);
	assert_string_equal(fixture_shown(table, "app", COLUMN_BLKIO), "450.0");
	session_release(session);
}

/*
 * A wait that is longer than the thread has lived is none, and spoils neither other threads nor the rounds
 * after it; the lifetime value stays what it is not.
 */
static void test_impossible_wait(void **state)
{
	const uint64_t waits[][2] = {{MS(100), MS(300)}, {MS(58000000), MS(400)}, {MS(58000500), MS(400)}};
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (size_t round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * (double)round);

		for (uint32_t i = 0; i < 2; i++)
			fixture_set(snapshot, fixture_thread(snapshot, 10, 10 + i, "app", "app", 1),
				    METRIC_BLKIO_DELAY_TOTAL_NS, waits[round][i]);
		session_add_round(session, snapshot);
		table = fixture_table(session, TAB_TIME, WINDOW_MODE_RATE);
		if (round != 0)
			assert_string_equal(fixture_shown(table, "app", COLUMN_BLKIO),
					    round == 1 ? "≥5.0" : "25.0");
	}
	fixture_expect(session, TAB_TIME, WINDOW_MODE_TOTAL, "app", COLUMN_BLKIO, "≥400ms");
	session_release(session);
}

/* Frozen delay counters show their lifetime and no delta. */
static void fill_frozen(struct snapshot *snapshot, int round)
{
	fill_delays(snapshot, 1);
	(void)round;
	snapshot->provenance.features[FEATURE_DELAYS].state = FEATURE_STATE_OFF;
	snapshot->provenance.features[FEATURE_DELAYS].reason = REASON_SWITCHED_OFF;
}

static void test_frozen(void **state)
{
	struct session *session = fixture_two_rounds(fill_frozen);
	struct table *table = fixture_table(session, TAB_TIME, WINDOW_MODE_RATE);

	(void)state;
	assert_int_equal(fixture_cell(table, "app", COLUMN_BLKIO)->reason, REASON_SWITCHED_OFF);
	assert_int_equal(fixture_cell(table, "app", COLUMN_BLKIO)->state, CELL_UNAVAILABLE);
	fixture_expect(session, TAB_TIME, WINDOW_MODE_TOTAL, "app", COLUMN_BLKIO, "400ms");
	session_release(session);
}

/*
 * Ratios: unmarked when both inputs miss the same threads, else unavailable; nothing to divide by is absent.
 */
static void fill_ratios(struct snapshot *snapshot, int round)
{
	uint64_t on = (uint64_t)round;
	const char *const names[] = {"same", "same", "mixed", "mixed", "idle"};

	for (uint32_t i = 0; i < 5; i++) {
		size_t thread = fixture_thread(snapshot, 10 + i, 10 + i, names[i], names[i], 1);

		if (i < 4) {
			fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(30) * on);
			fixture_set(snapshot, thread, METRIC_WAIT_TIME_NS, MS(10) * on);
			fixture_set(snapshot, thread, METRIC_TIMESLICES, 10 * on);
		}
	}
	snapshot_add_exception(snapshot, 1, METRIC_RUN_TIME_NS, REASON_BAD_VALUE);
	snapshot_add_exception(snapshot, 1, METRIC_WAIT_TIME_NS, REASON_BAD_VALUE);
	snapshot_add_exception(snapshot, 3, METRIC_RUN_TIME_NS, REASON_BAD_VALUE);
}

static void test_ratios(void **state)
{
	struct session *session = fixture_two_rounds(fill_ratios);
	struct table *table = fixture_table(session, TAB_RUN, WINDOW_MODE_RATE);

	(void)state;
	assert_string_equal(fixture_shown(table, "same", COLUMN_WAIT), "25.0");
	assert_string_equal(fixture_shown(table, "same", COLUMN_SLICE),
			    "·"); /* timeslices of both, run time of one */
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_WAIT), "·");
	assert_int_equal(fixture_cell(table, "mixed", COLUMN_WAIT)->reason, REASON_BAD_VALUE);
	assert_string_equal(fixture_shown(table, "idle", COLUMN_WAIT), "-");
	assert_string_equal(fixture_shown(table, "idle", COLUMN_SLICE), "-");
	session_release(session);
}

/* Gauges, ranges, categories, sets and peaks. */
static void fill_present(struct snapshot *snapshot, int round)
{
	static const uint32_t four[] = {0, 1, 2, 3}, two[] = {4, 5};
	const char *const names[] = {"mixed", "mixed", "mixed", "same", "same"};

	for (uint32_t i = 0; i < 5; i++) {
		size_t thread = fixture_thread(snapshot, 10 + i, 10 + i, names[i], names[i], 1);

		fixture_set_text(snapshot, thread, METRIC_POLICY, i == 0 ? "SCHED_FIFO" : "SCHED_OTHER");
		fixture_set(snapshot, thread, METRIC_NICE, (uint64_t)(i < 3 ? (int64_t)i * 5 - 5 : 0));
		fixture_set(snapshot, thread, METRIC_STATE, i == 1 ? 'R' : i == 2 ? 'D' : 'S');
		fixture_set(snapshot, thread, METRIC_CPU_AFFINITY,
			    i == 0 ? cpu_set_intern(&snapshot->cpu_sets, two, 2)
				   : cpu_set_intern(&snapshot->cpu_sets, four, 4));
		fixture_set(snapshot, thread, METRIC_WAIT_MAX, MS(5) + MS(1) * (uint64_t)round * (i == 1));
		fixture_set(snapshot, thread, METRIC_FAIR_SLICE_NS, MS(3));
	}
}

static void test_present(void **state)
{
	struct session *session = fixture_two_rounds(fill_present);
	struct table *table = fixture_table(session, TAB_SCHED, WINDOW_MODE_RATE);

	(void)state;
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_POLICY), "OTHER*");
	assert_string_equal(fixture_shown(table, "same", COLUMN_POLICY), "OTHER");
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_NICE), "-5..5");
	assert_string_equal(fixture_shown(table, "same", COLUMN_NICE), "0");
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_CPUS), "2-4*");
	assert_string_equal(fixture_shown(table, "same", COLUMN_CPUS), "4");
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_FAIRSL),
			    "3.0ms"); /* not applicable to FIFO */
	fixture_expect(session, TAB_WAKEUPS, WINDOW_MODE_RATE, "mixed", COLUMN_MAXWT, "6.0ms+");
	fixture_expect(session, TAB_WAKEUPS, WINDOW_MODE_RATE, "same", COLUMN_MAXWT, "5.0ms");
	table = fixture_table(session, TAB_RUN, WINDOW_MODE_RATE);
	/* three states, one each: the first in byte order */
	assert_string_equal(fixture_shown(table, "mixed", COLUMN_STATE), "D*");
	assert_string_equal(fixture_shown(table, "same", COLUMN_STATE), "S");
	session_release(session);
}

static void add_event(struct snapshot *snapshot, struct cgroup_record *record, const char *key,
		      uint64_t value)
{
	record->memory_events.items = arena_allocate(&snapshot->arena, sizeof(struct key_value));
	record->memory_events.items[0] = (struct key_value){
		string_pool_intern(&snapshot->strings, key, strlen(key)), value};
	record->memory_events.count = 1;
}

/* Columns of cgroup records: deltas on the cgroup axis, `-` elsewhere. */
static void fill_cgroups(struct snapshot *snapshot, int round)
{
	static const char *const paths[] = {"/web-1.service", "/web-2.service", "/db.service"};

	for (uint32_t i = 0; i < 3; i++) {
		size_t thread = fixture_thread(snapshot, 10 + i, 10 + i, "p", "p", 1);
		struct cgroup_record *record;

		fixture_cgroup(snapshot, thread, paths[i]);
		record = snapshot_add_cgroup(snapshot, snapshot->triples[snapshot->triple[thread]].cgroup);
		record->usage_usec = 1000000 + (uint64_t)round * 500000 * (i + 1);
		record->memory_current = 1024 * 1024 * (i + 1);
		record->max_quota_us = (struct optional_u64){50000 * (i + 1), i != 2};
		record->pids_current = (struct optional_u64){i + 1, i != 2};
		record->io_read = (struct optional_u64){1 << 20, true};
		record->io_written = (struct optional_u64){4096 + (uint64_t)round * 2048 * (i + 1), true};
		if (i == 2)
			record->missing[CGROUP_FILE_IO_STAT] = REASON_SWITCHED_OFF;
		if (i != 2)
			add_event(snapshot, record, "oom_kill", 4 + (uint64_t)round);
		if (i == 2)
			record->missing[CGROUP_FILE_MEMORY_CURRENT] = REASON_NOT_IN_KERNEL;
	}
}

static void test_cgroups(void **state)
{
	struct session *session = fixture_two_rounds(fill_cgroups);
	struct view view = fixture_view(TAB_CGROUP, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	view.sort = COLUMN_CGCPU;
	view.grouping.axis = AXIS_CGROUP;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_CGCPU), "75.0");
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_LIMIT), "1.00");
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_CGMEM), "2.0M");
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_PIDS), "3");
	assert_string_equal(fixture_shown(table, "/db.service", COLUMN_LIMIT), "-");
	assert_string_equal(fixture_shown(table, "/db.service", COLUMN_CGMEM), "·");
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_OOM), "2");
	/* a reading of nothing is zero; a controller that is off is not */
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_CGRD), "0");
	assert_string_equal(fixture_shown(table, "/web-{N}.service", COLUMN_CGWR), "3.0K");
	assert_string_equal(fixture_shown(table, "/db.service", COLUMN_CGWR), "·");
	/* neither controller is there: that is not zero */
	assert_string_equal(fixture_shown(table, "/db.service", COLUMN_PIDS), "-");
	assert_string_equal(fixture_shown(table, "/db.service", COLUMN_OOM), "-");
	assert_int_equal(table->sort_column, fixture_column(table, COLUMN_CGCPU));
	assert_string_equal(table->rows[0].label, "/db.service");
	view.grouping.axis = AXIS_PROCESS;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "p", COLUMN_CGCPU), "-");
	session_release(session);
}

/*
 * Records are those of cgroups with threads. A thread moves into a cgroup that had none and was there all the
 * time; others start in a new cgroup, and in one that had none.
 */
static void fill_moves(struct snapshot *snapshot, int round)
{
	const struct {
		const char *path;
		double start_seconds;
		uint64_t usage_usec;
	} threads[] = {
		{"/", 1, 1000000},
		/* removed and made again */
		{"/anew", 1, round == 0 ? 9000000000 : 400000},
		{round == 0 ? "/from" : "/old", 1, 9000000000},
		/* the same, and counts more already */
		{"/more", 1, round == 0 ? 100000 : 400000},
		/* its files are read two seconds later than those of the others */
		{"/late", 1, round == 0 ? 0 : 400000},
		{"/new", 101, 200000},
		{"/made", 101, 200000},
		{"/again", 101, 9000000000},
	};

	for (uint32_t i = 0; i < (round == 0 ? 5 : 8); i++) {
		size_t thread = fixture_thread(snapshot, 10 + i, 10 + i, "p", "p", threads[i].start_seconds);
		struct cgroup_record *record;
		uint32_t path;

		fixture_cgroup(snapshot, thread, threads[i].path);
		path = snapshot->triples[snapshot->triple[thread]].cgroup;
		record = snapshot_add_cgroup(snapshot, path);
		record->usage_usec = threads[i].usage_usec;
		/* of the first one a disk was removed */
		record->io_read = (struct optional_u64){round == 0 ? 900 : 500, true};
		if (i == 3)
			record->id = (struct optional_u64){(uint64_t)round + 1, true};
		if (i == 4)
			record->read_at = (struct optional_u64){
				snapshot->provenance.boottime_ns + (uint64_t)round * 2 * NS_PER_S, true};
		if (i >= 6)
			record->there_since = (struct optional_u64){
				snapshot->captured_at_unix_ns - (i == 6 ? NS_PER_S : 3 * NS_PER_S), true};
	}
}

static void test_moves_between_cgroups(void **state)
{
	struct session *session = fixture_two_rounds(fill_moves);
	struct view view = fixture_view(TAB_CGROUP, WINDOW_MODE_RATE, AXIS_CGROUP);
	struct table *table;

	(void)state;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "/", COLUMN_CGCPU), "0");
	assert_string_equal(fixture_shown(table, "/new", COLUMN_CGCPU), "10.0");
	assert_string_equal(fixture_shown(table, "/anew", COLUMN_CGCPU), "≥20.0");
	assert_string_equal(fixture_shown(table, "/more", COLUMN_CGCPU), "≥20.0");
	assert_string_equal(fixture_shown(table, "/late", COLUMN_CGCPU), "10.0");
	assert_string_equal(fixture_shown(table, "/", COLUMN_CGRD), "·");
	assert_string_equal(fixture_shown(table, "/anew", COLUMN_CGRD), "≥250B");
	assert_string_equal(fixture_shown(table, "/more", COLUMN_CGRD), "≥250B");
	/* not the 9,000 s of its whole life */
	assert_string_equal(fixture_shown(table, "/old", COLUMN_CGCPU), "·");
	assert_string_equal(fixture_shown(table, "/made", COLUMN_CGCPU), "10.0");
	assert_string_equal(fixture_shown(table, "/again", COLUMN_CGCPU), "·");
	view.mode = WINDOW_MODE_TOTAL;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "/old", COLUMN_CGCPU), "2.5h");
	session_release(session);
}

/* Memory by smaps_rollup: leaders only. */
static void fill_smaps(struct snapshot *snapshot, int round)
{
	(void)round;
	fixture_thread(snapshot, 10, 10, "p", "p", 1);
	fixture_thread(snapshot, 10, 15, "p", "whole", 1);
	fixture_thread(snapshot, 20, 20, "p", "p", 1);
	snapshot->smaps = memory_allocate_zero(1, sizeof(*snapshot->smaps));
	snapshot->smaps_capacity = snapshot->smaps_count = 1;
	snapshot->smaps[0].thread = 0;
	snapshot->smaps[0].kib.items = arena_allocate_zero(&snapshot->arena, 1, sizeof(struct key_value));
	snapshot->smaps[0].kib.items[0] = (struct key_value){string_pool_intern(&snapshot->strings, "Rss", 3),
							     2048};
	snapshot->smaps[0].kib.count = 1;
	snapshot_source_reasons(snapshot, SOURCE_SMAPS_ROLLUP)[1] = REASON_NOT_READ; /* it is no leader */
	snapshot_source_reasons(snapshot, SOURCE_SMAPS_ROLLUP)[2] = REASON_OVER_BUDGET;
}

static void test_smaps(void **state)
{
	struct session *session = fixture_two_rounds(fill_smaps);
	struct table *table = fixture_table(session, TAB_MEMORY, WINDOW_MODE_RATE);
	struct view view = fixture_view(TAB_MEMORY, WINDOW_MODE_RATE, AXIS_THREAD);

	(void)state;
	assert_string_equal(fixture_shown(table, "p", COLUMN_RSS), "≥2.0M");
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "whole", COLUMN_RSS), "-");
	assert_string_equal(fixture_shown(table, "p", COLUMN_PSS), "·");
	session_release(session);
}

/* Resident memory: once for each process, where its leader is. */
static void fill_resident(struct snapshot *snapshot, int round)
{
	const uint64_t grown = (uint64_t)round << 20;
	const size_t kernel = fixture_thread(snapshot, 2, 2, "kthreadd", "kthreadd", 0);
	size_t thread;

	snapshot->resident_missing = REASON_READ;
	snapshot->thread_flags[kernel] |= THREAD_KERNEL;
	snapshot_add_resident(snapshot, fixture_thread(snapshot, 10, 10, "p", "p", 1), (4 << 20) + grown, 0);
	fixture_thread(snapshot, 10, 15, "p", "worker", 1);
	snapshot_add_resident(snapshot, fixture_thread(snapshot, 20, 20, "p", "p", 1), 2 << 20, 0);
	fixture_thread(snapshot, 21, 21, "zombie", "zombie", 1);
	/* it dies, and nobody has waited for it yet */
	thread = fixture_thread(snapshot, 22, 22, "dying", "dying", 1);
	if (round == 0)
		snapshot_add_resident(snapshot, thread, 4 << 20, 0);
	/* by execve() a thread that has run for longer takes the place of the leader */
	thread = fixture_thread(snapshot, 24, 24, "exec", "exec", 1);
	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(100000) * (uint64_t)round);
	snapshot_add_resident(snapshot, thread, round == 0 ? 8 << 20 : 2 << 20, 0);
	/* one ends, another comes; the number of a third is used again */
	if (round == 0)
		snapshot_add_resident(snapshot, fixture_thread(snapshot, 30, 30, "q", "q", 1), 6 << 20, 0);
	else
		snapshot_add_resident(snapshot, fixture_thread(snapshot, 31, 31, "q", "q", 101), 2 << 20, 0);
	snapshot_add_resident(snapshot,
			      fixture_thread(snapshot, 40, 40, "again", "again", round == 0 ? 1 : 101),
			      round == 0 ? 5 << 20 : 1 << 20, 0);
	/* of one of the processes the file was not read */
	snapshot_source_reasons(
		snapshot, SOURCE_STAT)[fixture_thread(snapshot, 50, 50, "r", "r", 1)] = REASON_OVER_BUDGET;
	snapshot_add_resident(snapshot, fixture_thread(snapshot, 51, 51, "r", "r", 1), 3 << 20, 0);
}

/* As by a kernel that leaves out what each CPU counts for itself. */
static void fill_inexact(struct snapshot *snapshot, int round)
{
	fill_resident(snapshot, round);
	snapshot->provenance.resident_error = 64 << 10;
}

static void test_resident_is_inexact(void **state)
{
	struct session *session = fixture_two_rounds(fill_inexact);
	struct table *table = fixture_table(session, TAB_MEMORY, WINDOW_MODE_RATE);

	(void)state;
	/* 7 MiB in two processes, of which one may be off by more than a hundredth */
	assert_string_equal(fixture_shown(table, "p", COLUMN_RSS), "≥7.0M");
	assert_int_equal(fixture_cell(table, "p", COLUMN_RSS)->reason, REASON_LOWER_BOUND);
	session_release(session);
}

static void test_resident(void **state)
{
	struct session *session = fixture_two_rounds(fill_resident);
	struct table *table = fixture_table(session, TAB_MEMORY, WINDOW_MODE_RATE);
	struct view view = fixture_view(TAB_MEMORY, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	assert_string_equal(fixture_shown(table, "p", COLUMN_RSS), "7.0M");
	assert_string_equal(fixture_shown(table, "p", COLUMN_GROWTH), "512K");
	assert_string_equal(fixture_shown(table, "kthreadd", COLUMN_RSS), "-");
	assert_string_equal(fixture_shown(table, "zombie", COLUMN_RSS), "-");
	/* what the group has less what it had: 2 and 6, 1 and 5 MiB, in 2 s */
	assert_string_equal(fixture_shown(table, "q", COLUMN_RSS), "2.0M");
	assert_string_equal(fixture_shown(table, "q", COLUMN_GROWTH), "-2.0M");
	assert_string_equal(fixture_shown(table, "again", COLUMN_GROWTH), "-2.0M");
	assert_string_equal(fixture_shown(table, "dying", COLUMN_GROWTH), "-2.0M");
	assert_string_equal(fixture_shown(table, "exec", COLUMN_GROWTH), "-3.0M");
	assert_string_equal(fixture_shown(table, "r", COLUMN_RSS), "≥3.0M");
	assert_string_equal(fixture_shown(table, "r", COLUMN_GROWTH), "·");
	fixture_expect(session, TAB_MEMORY, WINDOW_MODE_BASE, "q", COLUMN_GROWTH, "-4.0M");
	fixture_expect(session, TAB_MEMORY, WINDOW_MODE_BASE, "p", COLUMN_GROWTH, "1.0M");
	view.level = VIEW_LEVEL_THREADS;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "worker", COLUMN_RSS), "-");
	session_release(session);
}

/* A number that no thread of this host can have is not one to sort by; one that a round left out is. */
static void fill_refused(struct snapshot *snapshot, int round)
{
	fixture_thread(snapshot, 10, 10, "p", "p", 1);
	fixture_set(snapshot, 0, METRIC_RUN_TIME_NS, MS(10) * (uint64_t)(round + 1));
	snapshot->resident_missing = REASON_READ;
	snapshot->default_reason[SOURCE_DELAYS] = REASON_SWITCHED_OFF;
	snapshot->default_reason[SOURCE_SCHEDSTATS] = REASON_NOT_IN_KERNEL;
	snapshot->default_reason[SOURCE_IO] = REASON_NOT_READ;
	snapshot->metric_reason[METRIC_IRQ_DELAY_TOTAL_NS] = REASON_NOT_IN_KERNEL;
	snapshot->provenance.features[FEATURE_DELAYS] = (struct feature_result){
		FEATURE_STATE_OFF, REASON_SWITCHED_OFF, NULL, "sysctl kernel.task_delayacct=1"};
}

static void assert_refused(const struct session *session, enum column column, const char *expected)
{
	struct buffer words = {0};
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	bool refused;

	refused = session_refuse_column(session, &view, column, &words);
	assert_int_equal(refused, expected != NULL);
	assert_int_equal(session_why_unavailable(session, &view, column, NULL), refused);
	assert_string_equal(words.length != 0 ? words.data : "", expected != NULL ? expected : "");
	buffer_release(&words);
}

static void fill_frozen_delays(struct snapshot *snapshot, int round)
{
	fill_refused(snapshot, round);
	snapshot->default_reason[SOURCE_DELAYS] = REASON_READ;
}

/* As an ordinary user: the messages that carry the delays are not permitted, either. */
static void fill_twice_refused(struct snapshot *snapshot, int round)
{
	fill_refused(snapshot, round);
	snapshot->provenance.features[FEATURE_TASKSTATS] = feature_off(
		REASON_NOT_PERMITTED, "needs CAP_NET_ADMIN", "setcap cap_net_admin=ep ctop");
}

static void test_refused_columns(void **state)
{
	struct session *session = session_create();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	assert_refused(session, COLUMN_MWAIT, NULL); /* nobody knows yet */
	session_release(session);
	session = fixture_two_rounds(fill_refused);
	assert_refused(session, COLUMN_CPU, NULL);
	assert_refused(session, COLUMN_THR, NULL);
	assert_refused(session, COLUMN_RSS, NULL);
	assert_refused(session, COLUMN_READ, NULL);
	assert_refused(session, COLUMN_LOST, NULL); /* waits for a CPU are known */
	assert_refused(session, COLUMN_COUNT, NULL);
	assert_refused(
		session, COLUMN_MWAIT,
		"MWAIT% cannot be read: delay accounting: switched off; sysctl kernel.task_delayacct=1");
	assert_refused(session, column_of_metric(METRIC_BLKIO_DELAY_TOTAL_NS),
		       "BLKIO% cannot be read: delay accounting: switched off; sysctl "
		       "kernel.task_delayacct=1");
	assert_refused(session, COLUMN_IRQ,
		       "IRQ% cannot be read: interrupt time accounting: not in this kernel");
	assert_refused(session, COLUMN_AVGWT,
		       "AVGWT cannot be read: scheduler statistics: not in this kernel");
	session_release(session);
	session = fixture_two_rounds(fill_twice_refused);
	assert_refused(session, COLUMN_MWAIT,
		       "MWAIT% cannot be read: taskstats messages: not permitted; setcap cap_net_admin=ep "
		       "ctop; sysctl kernel.task_delayacct=1");
	session_release(session);
	/* counts of before it was switched off have a total, and no change */
	session = fixture_two_rounds(fill_frozen_delays);
	assert_true(session_why_unavailable(session, &view, COLUMN_MWAIT, NULL));
	view.mode = WINDOW_MODE_TOTAL;
	assert_false(session_why_unavailable(session, &view, COLUMN_MWAIT, NULL));
	session_release(session);
}

/* A sum of which a part cannot be read of any thread has `≥` in its title, and its cells say why. */
static void test_lower_bounds(void **state)
{
	struct session *session = session_create();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;
	struct buffer title = {0};
	size_t column;

	(void)state;
	assert_false(session_is_lower_bound(session, &view, COLUMN_LOST)); /* nobody knows yet */
	session_release(session);
	session = fixture_two_rounds(fill_refused);
	assert_true(session_is_lower_bound(session, &view, COLUMN_LOST));
	assert_false(session_is_lower_bound(session, &view, COLUMN_CPU));
	assert_true(session_is_lower_bound(session, &view, COLUMN_BORN));   /* nobody tells of ends here */
	assert_false(session_is_lower_bound(session, &view, COLUMN_MWAIT)); /* has no number at all */
	table = session_table(session, &view);
	column = fixture_column(table, COLUMN_LOST);
	assert_true(table->rows[0].cells[column].partial);
	screen_format_title(&title, &table->columns[column], &screen_marks_utf8);
	assert_string_equal(title.data, "≥WAITED%");
	buffer_clear(&title);
	screen_format_cell_in(&title, &table->columns[column], &table->rows[0].cells[column],
			      &screen_marks_utf8);
	assert_string_equal(title.data, "0");
	buffer_release(&title);
	table_release(table);
	session_release(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_full_bar),
		cmocka_unit_test(test_frozen),
		cmocka_unit_test(test_impossible_wait),
		cmocka_unit_test(test_ratios),
		cmocka_unit_test(test_present),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_moves_between_cgroups),
		cmocka_unit_test(test_smaps),
		cmocka_unit_test(test_resident),
		cmocka_unit_test(test_resident_is_inexact),
		cmocka_unit_test(test_refused_columns),
		cmocka_unit_test(test_lower_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
