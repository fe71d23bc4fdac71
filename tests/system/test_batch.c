/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `ctop -b` over an interval in which the worker did a known amount of work. The worker's threads are
 * parked before and after, so that both sides count the same: no tolerance is needed.
 */
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../measure.h"
#include "../needs.h"
#include "base/clock.h"
#include "harness.h"

#define POOL_THREADS 12

/* The lines of one round in TSV: those with the same first cell. */
struct round_lines {
	char *header;
	char **lines;
	size_t count;
	double before_ns,
		own_ns; /* when the round before and this one began, by the time in the first cells */
};

/* Cuts `output` (which it changes) and keeps the lines of the last round. */
static void cut_last_round(char *output, struct round_lines *round)
{
	static char *lines[20000];
	size_t count = 0;
	size_t first;
	char *rest = output;
	size_t stamp;

	for (char *line; count < 20000 && (line = strsep(&rest, "\n")) && rest;)
		lines[count++] = line;
	assert_true(count > 1);
	stamp = strcspn(lines[count - 1], "\t") + 1;
	for (first = count - 1; first > 1 && strncmp(lines[first - 1], lines[count - 1], stamp) == 0;)
		first--;
	*round = (struct round_lines){lines[0], lines + first, count - first, strtod(lines[first - 1], NULL),
				      strtod(lines[first], NULL)};
}

/* The cell `column` (counted from 0) of a line, into a static buffer; NULL when the line is shorter. */
static const char *cell_of(const char *line, size_t column)
{
	static char cell[512];

	for (; column > 0 && line; column--) {
		line = strchr(line, '\t');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return NULL;
	snprintf(cell, sizeof cell, "%.*s", (int)strcspn(line, "\t"), line);
	return cell;
}

/* The column whose name begins with `name`. */
static size_t column_of(const struct round_lines *round, const char *name)
{
	const char *cell;

	for (size_t column = 0; (cell = cell_of(round->header, column)); column++) {
		if (strncmp(cell, name, strlen(name)) == 0)
			return column;
	}
	fail_msg("no column %s in: %s", name, round->header);
	return 0;
}

/* The line of a group, or NULL. Its name stands behind the time. */
static const char *line_of(const struct round_lines *round, const char *group)
{
	for (size_t i = 0; i < round->count; i++) {
		const char *cell = cell_of(round->lines[i], 1);

		if (cell && strcmp(cell, group) == 0)
			return round->lines[i];
	}
	return NULL;
}

static double number_of(const struct round_lines *round, const char *group, const char *column)
{
	const char *line = line_of(round, group);
	const char *cell;
	char *end;
	double value;

	if (!line)
		fail_msg("no group '%s' in the last round, of %zu lines", group, round->count);
	cell = cell_of(line, column_of(round, column));
	assert_non_null(cell);
	value = strtod(cell, &end);
	if (end == cell || *end != '\0')
		fail_msg("%s of %s is '%s', not a number", column, group, cell);
	return value;
}

static void assert_number(const struct round_lines *round, const char *group, const char *column,
			  uint64_t low, uint64_t high)
{
	double value = number_of(round, group, column);

	if (value < (double)low || value > (double)high)
		fail_msg("%s of %s is %.17g, not between %llu and %llu", column, group, value,
			 (unsigned long long)low, (unsigned long long)high);
}

/* The command line of a run in batch mode. */
struct batch {
	char pid[16], interval[16];
	const char *arguments[40];
};

/* For two rounds of a process, a second apart, and what is `more`. */
static void make_batch(struct batch *batch, int pid, const char *const *more)
{
	size_t count = 12;

	*batch = (struct batch){.interval = "1",
				.arguments = {CTOP_PROGRAM, "-b", "-n", "2", "-p", batch->pid, "-d",
					      batch->interval, "--format", "tsv", "--limit", "0"}};
	snprintf(batch->pid, sizeof batch->pid, "%d", pid);
	while (*more)
		batch->arguments[count++] = *more++;
}

static void start_batch(struct running *running, int pid, const char *const *more)
{
	static const struct run_options options;
	struct batch batch;

	make_batch(&batch, pid, more);
	run_start(running, &options, batch.arguments);
}

/* When what two rounds tell had been read, at the latest; each was read after its own time. */
struct reading_times {
	double first_ns, second_ns;
};

/* Runs two rounds, at least so many seconds apart, and has the worker do its work between them. */
static struct reading_times watch_work(struct worker *worker, double seconds, const char *const *more,
				       struct run *run, struct round_lines *round)
{
	static const struct run_options options;
	struct running running;
	struct reading_times read;
	struct batch batch;

	make_batch(&batch, worker->pid, more);
	run_start_paused(&running, batch.arguments, batch.interval, seconds);
	read.first_ns = (double)clock_ns(CLOCK_REALTIME);
	worker_go(worker, true);
	run_continue(&running);
	run_finish(&running, run, &options);
	read.second_ns = (double)clock_ns(CLOCK_REALTIME);
	run_expect(run, 0);
	cut_last_round(run->output, round);
	return read;
}

static void test_interval(void **state)
{
	const char *arguments[] = {"burst:200=burster", "switch:30=switcher", "fault:200=faulter",
				   "park=parked", NULL};
	const char *options[] = {"-g",        "thread-exact",
				 "--mode",    "interval",
				 "--columns", "threads,run_time_ns,voluntary_csw,MINF/s,WCHAR/s,SYSR/s",
				 NULL};
	const char *const names[] = {"burster", "switcher", "faulter", "parked"};
	struct worker worker;
	struct worker_thread before[4];
	struct worker_thread after[4];
	struct round_lines round;
	struct run run;

	(void)state;
	test_worker_start(&worker, arguments);
	worker_go(&worker, true);
	worker_report(&worker, before);
	watch_work(&worker, 2, options, &run, &round);
	worker_report(&worker, after);
	for (size_t i = 0; i < 4; i++) {
		uint64_t cpu_ns = after[i].cpu_ns - before[i].cpu_ns;
		uint64_t switches = after[i].voluntary - before[i].voluntary;
		uint64_t faults = after[i].minor_faults - before[i].minor_faults;

		assert_number(&round, names[i], "threads", 1, 1);
		assert_number(&round, names[i], "run_time", cpu_ns, cpu_ns);
		assert_number(&round, names[i], "voluntary_csw", switches, switches);
		assert_number(&round, names[i], "minor_faults", faults, faults + 2);
		assert_number(&round, names[i], "wchar", after[i].written_bytes - before[i].written_bytes,
			      after[i].written_bytes - before[i].written_bytes);
		assert_number(&round, names[i], "syscr", after[i].read_calls - before[i].read_calls,
			      after[i].read_calls - before[i].read_calls);
	}
	assert_true(after[0].cpu_ns - before[0].cpu_ns >= 200000000);
	run_release(&run);
	worker_end(&worker);
}

/*
 * CPU% is the run time between two readings over the time between them: bursts of 500 ms in 2 s are 25 %.
 * Both readings lie between known times, however far a machine that is at work elsewhere keeps these apart.
 */
static void test_percent(void **state)
{
	const char *arguments[] = {"burst:500=burster", "park=parked", NULL};
	const char *options[] = {"-g", "thread-exact", "--columns", "THR,CPU%", NULL};
	struct worker worker;
	struct worker_thread before[2];
	struct worker_thread after[2];
	struct round_lines round;
	struct reading_times read;
	struct run run;

	(void)state;
	test_worker_start(&worker, arguments);
	worker_report(&worker, before);
	read = watch_work(&worker, 2, options, &run, &round);
	worker_report(&worker, after);
	for (size_t i = 0; i < 2; i++) {
		const char *name = i == 0 ? "burster" : "parked";
		const double ran_ns = (double)(after[i].cpu_ns - before[i].cpu_ns);
		const double most = ran_ns / (round.own_ns - read.first_ns) * 100;
		const double least = ran_ns / (read.second_ns - round.before_ns) * 100;
		const double shown = number_of(&round, name, "cpu");

		print_message("%s: %.3f %%, between %.3f and %.3f\n", name, shown, least, most);
		assert_true(round.own_ns > read.first_ns);
		assert_true(shown <= most * (1 + 1e-9) && shown >= least * (1 - 1e-9));
	}
	assert_true(after[0].cpu_ns - before[0].cpu_ns >= 500000000);
	run_release(&run);
	worker_end(&worker);
}

static void test_storage(void **state)
{
	const char *arguments[] = {"write:32=writer", "read:16=reader", NULL};
	const char *options[] = {"-g",       "thread-exact", "--mode",
				 "interval", "--columns",    "read_bytes,write_bytes,WCHAR/s",
				 NULL};
	struct worker worker;
	struct round_lines round;
	struct run run;

	(void)state;
	test_worker_start(&worker, arguments);
	worker_go(&worker, true);
	watch_work(&worker, 2, options, &run, &round);
	assert_number(&round, "writer", "write_bytes", 32 * 65536, 32 * 65536 + 262144);
	assert_number(&round, "writer", "wchar", 32 * 65536 + 8, 32 * 65536 + 8);
	assert_number(&round, "reader", "read_bytes", 16 * 65536, 16 * 65536 + 262144);
	run_release(&run);
	worker_end(&worker);
}

/* The lower of two FIFO threads on one CPU stays in R without running: no counter shows it, STUCK does. */
static void test_stuck_starved(void **state)
{
	const char *arguments[] = {"fifo:10=starved", "fifo:20=hog", "park=sleeper", NULL};
	const char *options[] = {"-g", "thread-exact", "--columns", "THR,CPU%,STUCK", NULL};
	static const struct run_options ordinary;
	struct worker worker;
	struct round_lines round;
	struct running running;
	struct run run;

	(void)state;
	measure_starved_begin();
	test_worker_start(&worker, arguments);
	start_batch(&running, worker.pid, options);
	run_finish(&running, &run, &ordinary);
	worker_end(&worker);
	measure_starved_end();
	run_expect(&run, 0);
	cut_last_round(run.output, &round);
	assert_number(&round, "starved", "stuck", 1, 1);
	assert_number(&round, "starved", "cpu", 0, 0);
	assert_number(&round, "hog", "stuck", 0, 0);
	assert_number(&round, "sleeper", "stuck", 0, 0);
	run_release(&run);
}

static void test_stuck_blocked(void **state)
{
	const char *arguments[] = {"vfork=vfork-parent", "park=sleeper", NULL};
	const char *options[] = {"-g", "thread-exact", "--columns", "THR,STUCK,STATE", NULL};
	struct worker worker;
	struct worker_thread threads[2];
	struct round_lines round;
	struct running running;
	static const struct run_options ordinary;
	struct run run;

	(void)state;
	test_worker_start(&worker, arguments);
	worker_report(&worker, threads);
	worker_go(&worker, false);
	wait_for_state(worker.pid, threads[0].tid, 'D');
	start_batch(&running, worker.pid, options);
	run_finish(&running, &run, &ordinary);
	run_expect(&run, 0);
	cut_last_round(run.output, &round);
	assert_number(&round, "vfork-parent", "stuck", 1, 1);
	assert_number(&round, "sleeper", "stuck", 0, 0);
	assert_string_equal(cell_of(line_of(&round, "vfork-parent"), column_of(&round, "state")), "D");
	run_release(&run);
	worker_release(&worker);
	worker_end(&worker);
}

/* Skips the test where threads cannot be read by BPF. */
static void need_bpf(void)
{
	char own[16];
	const char *arguments[] = {"-b", "-n", "1", "--mode", "total", "--backend", "bpf", "-p", own, NULL};
	struct run run;

	snprintf(own, sizeof own, "%d", (int)getpid());
	run_ctop(&run, NULL, arguments);
	if (run.status != 0) {
		print_message("SKIP: %s", run.errors);
		run_release(&run);
		skip();
	}
	run_release(&run);
}

/* Two rounds of what waits, in JSON, and when they were there: CLOCK_REALTIME ns. */
struct watched {
	yajl_val rounds[2];
	uint64_t there_ns[2];
};

static void watch_waits(const struct worker *worker, struct watched *ret_watched)
{
	static const struct run_options ordinary;
	const char *waiting = "THR,RUNQ%,WAITING,WAIT>1s,STUCK,STATE";
	char pid[16];
	const char *arguments[] = {
		CTOP_PROGRAM, "-b",           "-n",       "2",      "-d",       "1",         "-p",
		pid,          "--backend",    "bpf",      "--mode", "interval", "--columns", waiting,
		"-g",         "thread-exact", "--format", "json",   "--limit",  "0",         NULL};
	struct running running;
	struct run run;
	char *rest;

	snprintf(pid, sizeof pid, "%d", worker->pid);
	run_start(&running, &ordinary, arguments);
	run_wait_for_lines(&running, 1);
	ret_watched->there_ns[0] = clock_ns(CLOCK_REALTIME);
	run_finish(&running, &run, &ordinary);
	ret_watched->there_ns[1] = clock_ns(CLOCK_REALTIME);
	run_expect(&run, 0);
	rest = run.output;
	for (size_t i = 0; i < 2; i++) {
		char reason[256] = "";

		ret_watched->rounds[i] = yajl_tree_parse(strsep(&rest, "\n"), reason, sizeof reason);
		if (!ret_watched->rounds[i])
			fail_msg("round %zu is no JSON: %s", i, reason);
	}
	run_release(&run);
}

static void release_watched(struct watched *watched)
{
	for (size_t i = 0; i < 2; i++)
		yajl_tree_free(watched->rounds[i]);
}

/* The cell of a group, by the beginning of its column's name. */
static yajl_val watched_cell(const struct watched *watched, size_t round, const char *group,
			     const char *column)
{
	yajl_val rows = json_member(watched->rounds[round], "rows");

	for (size_t i = 0; rows && i < YAJL_GET_ARRAY(rows)->len; i++) {
		yajl_val row = YAJL_GET_ARRAY(rows)->values[i];

		for (size_t k = 0;
		     strcmp(json_text(row, "group"), group) == 0 && k < YAJL_GET_OBJECT(row)->len; k++) {
			if (strncmp(YAJL_GET_OBJECT(row)->keys[k], column, strlen(column)) == 0)
				return YAJL_GET_OBJECT(row)->values[k];
		}
	}
	fail_msg("no cell %s of %s in round %zu", column, group, round);
	return NULL;
}

static uint64_t watched_number(const struct watched *watched, size_t round, const char *group,
			       const char *column)
{
	return json_u64(watched_cell(watched, round, group, column), "value");
}

/* When the round began, CLOCK_REALTIME ns. */
static uint64_t watched_began(const struct watched *watched, size_t round)
{
	return json_u64(watched->rounds[round], "time_unix_ns");
}

/* adjtimex(2) makes the clocks of the system slower or faster by 1/2000 at most, but not the scheduler's. */
static uint64_t clock_slack(uint64_t ns)
{
	return ns / 2000 + NS_PER_US;
}

/*
 * A wait that began between two times, and goes on, is as old as the wall says in both rounds, which were
 * read between their beginnings and when they were there. An age marked as a lower bound may be any, but from
 * then on ages as the wall does.
 */
static void assert_ages(const struct watched *watched, const char *group, uint64_t earliest_ns,
			uint64_t latest_ns)
{
	uint64_t ages_ns[2], grown_ns;
	uint64_t slack_ns = clock_slack(watched->there_ns[1] - earliest_ns);

	for (size_t i = 0; i < 2; i++) {
		yajl_val cell = watched_cell(watched, i, group, "waiting");
		uint64_t least_ns = watched_began(watched, i) - latest_ns;

		if (strcmp(json_text(cell, "state"), "unavailable") == 0) {
			ages_ns[i] = 0; /* at least nothing */
			continue;
		}
		ages_ns[i] = json_u64(cell, "value");
		/* what counts as known (task_wait_of()) */
		if (strcmp(json_text(cell, "state"), "ok") == 0)
			assert_true(ages_ns[i] + ages_ns[i] / 100 + NS_PER_MS + slack_ns >= least_ns);
		assert_between("age", ages_ns[i], 0, watched->there_ns[i] - earliest_ns + slack_ns);
	}
	grown_ns = ages_ns[1] - ages_ns[0];
	assert_true(watched->there_ns[0] + grown_ns + slack_ns >= watched_began(watched, 1));
	assert_true(watched_began(watched, 0) + grown_ns <= watched->there_ns[1] + slack_ns);
}

static void assert_long(const struct watched *watched, const char *group)
{
	if (watched_number(watched, 1, group, "waiting") >= NS_PER_S)
		assert_int_equal(watched_number(watched, 1, group, "long_waits"), 1);
}

/* A starved thread waits all the time, and it is known for how long. */
static void test_wait_under_way(void **state)
{
	const char *arguments[] = {"fifo:10=starved", "fifo:20=hog", "park=sleeper", NULL};
	struct worker_thread threads[3];
	struct worker worker;
	struct watched watched;

	(void)state;
	need_bpf();
	measure_starved_begin();
	test_worker_start(&worker, arguments);
	watch_waits(&worker, &watched);
	worker_report(&worker, threads);
	worker_end(&worker);
	measure_starved_end();
	/* it has waited since the other one took the CPU, shortly before its work began */
	assert_ages(&watched, "starved", threads[0].began_ns, threads[1].began_ns);
	assert_int_equal(watched_number(&watched, 1, "starved", "run_queue"),
			 watched_number(&watched, 1, "starved", "waiting") -
				 watched_number(&watched, 0, "starved", "waiting"));
	assert_int_equal(watched_number(&watched, 1, "starved", "stuck"), 1);
	assert_long(&watched, "starved");
	assert_int_equal(watched_number(&watched, 1, "hog", "stuck"), 0);
	assert_int_equal(watched_number(&watched, 1, "sleeper", "waiting"), 0);
	assert_int_equal(watched_number(&watched, 1, "sleeper", "run_queue"), 0);
	assert_string_equal(json_text(watched.rounds[1], "waits"), "under-way");
	release_watched(&watched);
}

static void test_block_under_way(void **state)
{
	const char *arguments[] = {"vfork=vfork-parent", "park=sleeper", NULL};
	struct worker_thread threads[2];
	struct worker worker;
	struct watched watched;
	uint64_t blocked_ns;

	(void)state;
	need_bpf();
	test_worker_start(&worker, arguments);
	worker_report(&worker, threads);
	worker_go(&worker, false);
	wait_for_state(worker.pid, threads[0].tid, 'D');
	blocked_ns = clock_ns(CLOCK_REALTIME);
	watch_waits(&worker, &watched);
	worker_release(&worker);
	worker_report(&worker, threads);
	worker_end(&worker);
	assert_string_equal(json_text(watched_cell(&watched, 1, "vfork-parent", "state"), "value"), "D");
	assert_ages(&watched, "vfork-parent", threads[0].began_ns, blocked_ns);
	assert_int_equal(watched_number(&watched, 1, "vfork-parent", "stuck"), 1);
	assert_long(&watched, "vfork-parent");
	assert_int_equal(watched_number(&watched, 1, "vfork-parent", "run_queue"), 0);
	release_watched(&watched);
}

/*
 * A thread that ends in the interval is no error. Where what ended threads did is seen, its row has what it
 * did, of no thread; else it is not there any more.
 */
static void test_ended_thread(void **state)
{
	const char *arguments[] = {"end=ender", "burst:20=stayer", NULL};
	const char *options[] = {"-g", "thread-exact", "--columns", "THR,CPU%", NULL};
	struct worker worker;
	struct round_lines round;
	struct run run;

	(void)state;
	test_worker_start(&worker, arguments);
	watch_work(&worker, 1, options, &run, &round);
	if (line_of(&round, "ender") != NULL)
		assert_number(&round, "ender", "threads", 0, 0);
	assert_number(&round, "stayer", "threads", 1, 1);
	run_release(&run);
	worker_end(&worker);
}

static void test_pool(void **state)
{
	const char *arguments[POOL_THREADS + 2] = {0};
	const char *options[] = {"-g", "thread", "--mode", "interval", "--columns", "threads,run_time_ns",
				 NULL};
	char names[POOL_THREADS][32];
	struct worker worker;
	struct worker_thread before[POOL_THREADS + 1];
	struct worker_thread after[POOL_THREADS + 1];
	struct round_lines round;
	struct run run;
	uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < POOL_THREADS; i++) {
		snprintf(names[i], sizeof names[i], "burst:%zu=pool-%zu", i + 1, i);
		arguments[i] = names[i];
	}
	arguments[POOL_THREADS] = "park=other";
	test_worker_start(&worker, arguments);
	worker_report(&worker, before);
	watch_work(&worker, 2, options, &run, &round);
	worker_report(&worker, after);
	for (size_t i = 0; i < POOL_THREADS; i++)
		sum += after[i].cpu_ns - before[i].cpu_ns;
	assert_number(&round, "pool-{N}", "threads", POOL_THREADS, POOL_THREADS);
	assert_number(&round, "pool-{N}", "run_time", sum, sum);
	run_release(&run);
	worker_end(&worker);
}

/* Counts a group's rows and threads in a JSON round, separately for ordinary rows [0] and ctop's own [1]. */
static void count_rows(const char *line, const char *group, size_t rows[2], uint64_t threads[2])
{
	char reason[256] = "";
	yajl_val round = yajl_tree_parse(line, reason, sizeof reason);
	yajl_val found;

	assert_non_null(round);
	rows[0] = rows[1] = threads[0] = threads[1] = 0;
	found = json_member(round, "rows");
	for (size_t i = 0; i < YAJL_GET_ARRAY(found)->len; i++) {
		yajl_val row = YAJL_GET_ARRAY(found)->values[i];
		const bool is_own = YAJL_IS_TRUE(json_member(row, "own"));

		if (strcmp(json_text(row, "group"), group) != 0)
			continue;
		rows[is_own]++;
		threads[is_own] += json_u64(row, "threads");
	}
	yajl_tree_free(round);
}

/* A process named like ctop's own row has an ordinary row of its own, live and in a file. */
static void test_own_name(void **state)
{
	static const char *const names[] = {"ctop (self)", "(ended)"};
	const char *path = scratch_path("own.ctprof.zst");

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct worker worker;
		struct run run;

		test_worker_start(&worker,
				  (const char *[]){"--process", names[i], "park=one", "park=two", NULL});
		run_ctop_well(&run, (const char *[]){"capture", "-o", path, NULL});
		run_release(&run);
		for (int of_file = 0; of_file < 2; of_file++) {
			size_t rows[2];
			uint64_t threads[2];

			if (of_file)
				run_ctop_well(&run, (const char *[]){"show", path, "-b", "-g", "process",
								     "--format", "json", NULL});
			else
				run_ctop_well(&run, (const char *[]){"-b", "-n", "1", "-d", "0.2", "-g",
								     "process", "--format", "json", NULL});
			count_rows(run.output, names[i], rows, threads);
			/* the main thread and two others */
			assert_int_equal(rows[0], 1);
			assert_int_equal(threads[0], 3);
			if (i == 0) {
				assert_int_equal(rows[1], 1);
				assert_true(threads[1] > 0);
			}
			run_release(&run);
		}
		worker_end(&worker);
	}
}

/* One object a line and round; foreign names cannot break a line. */
static void test_json_lines(void **state)
{
	const char *arguments[] = {"park=two\nlines", "park=bad\xff", "park=quote\"\\", NULL};
	const char *batch[] = {"-b", "-n",           "3",        "-d",   "0.2", "-p", NULL,
			       "-g", "thread-exact", "--format", "json", NULL};
	struct worker worker;
	struct run run;
	char pid[16];
	size_t lines = 0;

	(void)state;
	test_worker_start(&worker, arguments);
	snprintf(pid, sizeof pid, "%d", worker.pid);
	batch[6] = pid;
	run_ctop_well(&run, batch);
	for (char *rest = run.output, *line; (line = strsep(&rest, "\n")) && rest; lines++) {
		char reason[256] = "";
		yajl_val object = yajl_tree_parse(line, reason, sizeof reason);

		if (!object)
			fail_msg("line %zu is no JSON: %s", lines + 1, reason);
		assert_true(YAJL_IS_OBJECT(object));
		yajl_tree_free(object);
	}
	assert_int_equal(lines, 3);
	run_release(&run);
	worker_end(&worker);
}

/* Text counts the groups that did nothing; with --all, and for programs, they are rows. */
static void test_idle_groups(void **state)
{
	const char *batch[] = {"-b", "-n",           "1",  "-d", "0.2", "-p", NULL,
			       "-g", "thread-exact", NULL, NULL, NULL};
	struct worker worker;
	struct run run;
	char pid[16];

	(void)state;
	test_worker_start(&worker, (const char *[]){"park=still", "duty:50=busy", NULL});
	worker_go(&worker, false);
	snprintf(pid, sizeof pid, "%d", worker.pid);
	batch[6] = pid;
	run_ctop_well(&run, batch);
	assert_null(strstr(run.output, "still "));
	assert_non_null(strstr(run.output, "busy "));
	assert_non_null(strstr(run.output, " (--all prints "));
	run_release(&run);
	batch[9] = "--all";
	run_ctop_well(&run, batch);
	assert_non_null(strstr(run.output, "still "));
	assert_null(strstr(run.output, "--all"));
	run_release(&run);
	batch[9] = "--format";
	batch[10] = "tsv";
	run_ctop_well(&run, batch);
	assert_non_null(strstr(run.output, "\tstill\t"));
	run_release(&run);
	worker_end(&worker);
}

/* Whether a cell or a member is no number, as printf(3) writes one. */
static bool has_no_number(const char *text)
{
	while ((text = strpbrk(text, "\t,:")) != NULL) {
		text += text[1] == '-' ? 2 : 1;
		if ((strncmp(text, "nan", 3) == 0 || strncmp(text, "inf", 3) == 0) &&
		    (text[3] == '\0' || strchr("\t,}]\n", text[3]) != NULL))
			return true;
	}
	return false;
}

/* Every tab, in each mode and format by turns: it ends well, writes nothing that a terminal would obey, and
 * numbers. */
static void test_every_tab(void **state)
{
	static const char *const tabs[] = {"overview", "run",  "sched",  "wakeups", "delay",   "io",
					   "memory",   "heap", "cgroup", "all",     "latency", "scx"};
	static const char *const formats[] = {"text", "tsv", "csv", "json"};
	static const char *const modes[] = {"rate", "interval", "base", "total"};

	(void)state;
	for (size_t i = 0; i < sizeof tabs / sizeof *tabs; i++) {
		struct run run;

		run_ctop_well(&run,
			      (const char *[]){"-b", "-n", "1", "-d", "0.1", "-t", tabs[i], "--format",
					       formats[i % 4], "--mode", modes[(i + i / 4) % 4], "-g",
					       strcmp(tabs[i], "cgroup") == 0 ? "cgroup" : "process", NULL});
		assert_true(run.output_length > 0);
		assert_null(strchr(run.output, '\033'));
		if (strcmp(formats[i % 4], "text") != 0)
			assert_false(has_no_number(run.output));
		run_release(&run);
	}
}

static const char delay_accounting[] = "/proc/sys/kernel/task_delayacct";

/* Switches delay accounting on; `*state` is "0\n" if it was off. */
static int switch_delays_on(void **state)
{
	*state = read_file(delay_accounting, NULL);
	if (*state != NULL && access(delay_accounting, W_OK) == 0)
		write_file(delay_accounting, "1", 1);
	return 0;
}

static int restore_delays(void **state)
{
	if (*state != NULL && access(delay_accounting, W_OK) == 0)
		write_file(delay_accounting, *state, strlen(*state));
	free(*state);
	return 0;
}

/*
 * Waits for 100 ms again and again for a ring whose only request, to poll a pipe, does not end: with one
 * under way the kernel takes the wait for one for I/O. Ends with 1 where there is no io_uring.
 */
static void wait_for_ring(void)
{
	struct io_uring_params parameters = {0};
	const int ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
	const struct __kernel_timespec limit = {.tv_nsec = 100000000};
	const struct io_uring_getevents_arg argument = {.ts = (uintptr_t)&limit};
	struct io_uring_sqe *requests;
	char *queue;
	int ends[2];

	if (ring < 0 || (parameters.features & IORING_FEAT_EXT_ARG) == 0 || pipe(ends) < 0)
		_exit(1);
	queue = mmap(NULL, parameters.sq_off.array + 4 * sizeof(unsigned int), PROT_READ | PROT_WRITE,
		     MAP_SHARED, ring, IORING_OFF_SQ_RING);
	requests = mmap(NULL, 4 * sizeof(*requests), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
			IORING_OFF_SQES);
	if (queue == MAP_FAILED || requests == MAP_FAILED)
		_exit(1);
	requests[0] = (struct io_uring_sqe){
		.opcode = IORING_OP_POLL_ADD, .fd = ends[0], .poll32_events = POLLIN};
	*(unsigned int *)(void *)(queue + parameters.sq_off.tail) = 1;
	for (unsigned int submitted = 1;; submitted = 0)
		syscall(SYS_io_uring_enter, ring, submitted, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
			&argument, sizeof(argument));
}

/* An idle loop of an io_uring is no block I/O, though the kernel counts it so. */
static void test_io_uring(void **state)
{
	static const struct run_options options;
	static const char *const columns[] = {"--columns",
					      "block_io,lost,waits_for,blkio_delay_total_ns,run_state", NULL};
	struct round_lines round;
	struct batch batch;
	struct run run;
	const char *line;
	const pid_t child = fork();
	bool is_waiting = false;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "ring loop");
		wait_for_ring();
	}
	assert_true(child > 0);
	make_batch(&batch, child, columns);
	/* another moment than in its wait is possible, and rare */
	for (int i = 0; i < 10 && !is_waiting; i++) {
		if (i != 0)
			run_release(&run);
		run_program(&run, &options, batch.arguments);
		run_expect(&run, 0);
		cut_last_round(run.output, &round);
		line = line_of(&round, "ring loop");
		is_waiting = line != NULL &&
			     strcmp(cell_of(line, column_of(&round, "waits_for")), "io_uring") == 0 &&
			     strcmp(cell_of(line, column_of(&round, "run_state")), "S") == 0;
		if (waitpid(child, NULL, WNOHANG) == child)
			break;
	}
	if (!is_waiting || strtod(cell_of(line, column_of(&round, "blkio_delay_total")), NULL) < 50) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		run_release(&run);
		skip_test("needs delay accounting%s, and an io_uring whose waits the kernel counts in it",
			  *state == NULL ? "" : " (sysctl kernel.task_delayacct)");
	}
	assert_string_equal(cell_of(line, column_of(&round, "block_io")), "");
	assert_true(number_of(&round, "ring loop", "lost") < 50);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_storage),
		cmocka_unit_test(test_stuck_starved),
		cmocka_unit_test(test_stuck_blocked),
		cmocka_unit_test(test_wait_under_way),
		cmocka_unit_test(test_block_under_way),
		cmocka_unit_test(test_ended_thread),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_json_lines),
		cmocka_unit_test(test_own_name),
		cmocka_unit_test(test_idle_groups),
		cmocka_unit_test(test_every_tab),
		cmocka_unit_test_setup_teardown(test_io_uring, switch_delays_on, restore_delays),
	};

	return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
