/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of threads that ended: to whom they belong, and what is known of them. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "base/clock.h"
#include "capture/ended_records.h"
#include "snapshot/ended_set.h"

#define MS(n) ((uint64_t)(n)*NS_PER_MS)
#define S(n)  ((uint64_t)(n)*NS_PER_S)

/* The sizes that the versions have: include/uapi/linux/taskstats.h. */
static const size_t sizes[] = {[11] = 368, [12] = 400, [13] = 416, [14] = 432, [16] = 560};

/* A record in the making. */
struct record {
	struct taskstats_layout layout;
	unsigned char stats[560];
	uint32_t tid;
};

static struct ended_records *records;
static struct feature_checks checks;

/* Three rounds, 2 s apart, and what the last one that was read has of ended threads. */
static struct snapshot *previous, *now, *later;
static struct ended_set *set;

static struct snapshot *make_snapshot(uint64_t now_ns)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->provenance.boottime_ns = now_ns;
	return snapshot;
}

static int set_up(void **state)
{
	(void)state;
	records = ended_records_create(NULL, 0);
	memset(&checks, 0, sizeof(checks));
	checks.task_delayacct = TASK_DELAYACCT_ON;
	previous = make_snapshot(S(1000));
	now = make_snapshot(S(1002));
	later = make_snapshot(S(1004));
	set = NULL;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ended_records_release(records);
	ended_set_release(set);
	snapshot_release(previous);
	snapshot_release(now);
	snapshot_release(later);
	return 0;
}

/* A member, where the version has it; widths are those of a little-endian host or eight bytes. */
static void put(struct record *record, enum taskstats_member member, uint64_t value, size_t width)
{
	const uint32_t word = (uint32_t)value;

	if (!taskstats_has(&record->layout, member))
		return;
	if (width == sizeof(word))
		memcpy(record->stats + record->layout.offset[member], &word, sizeof(word));
	else
		memcpy(record->stats + record->layout.offset[member], &value, sizeof(value));
}

/* A thread that began `age_ns` before its record came; it had waited for 5 ms. */
static struct record make_record(unsigned int version, uint32_t tgid, uint32_t tid, const char *name,
				 uint64_t age_ns)
{
	struct record record = {.tid = tid};

	taskstats_layout_resolve(&record.layout, version, sizes[version]);
	put(&record, TASKSTATS_MEMBER_AC_TGID, tgid, 4);
	put(&record, TASKSTATS_MEMBER_AC_PPID, 1, 4);
	put(&record, TASKSTATS_MEMBER_AC_ETIME, age_ns / NS_PER_US, 8);
	put(&record, TASKSTATS_MEMBER_CPU_DELAY_TOTAL, MS(5), 8);
	strcpy((char *)record.stats + record.layout.offset[TASKSTATS_MEMBER_AC_COMM], name);
	return record;
}

/* The times that a record says: those of the scheduler, and as the tick saw them. */
static void put_times(struct record *record, uint64_t run_ns, uint64_t user_ns, uint64_t system_ns)
{
	put(record, TASKSTATS_MEMBER_CPU_RUN_VIRTUAL_TOTAL, run_ns, 8);
	put(record, TASKSTATS_MEMBER_AC_UTIME, user_ns / NS_PER_US, 8);
	put(record, TASKSTATS_MEMBER_AC_STIME, system_ns / NS_PER_US, 8);
}

/* It came in the quarter of a second before `now_ns`. */
static void add(const struct record *record, uint64_t now_ns)
{
	const struct ended_record_span span = {.from_ns = now_ns - MS(250), .to_ns = now_ns};

	ended_records_add(records, &span, record->tid, record->stats, &record->layout);
}

static void add_plain(uint32_t tgid, uint32_t tid, const char *name, uint64_t age_ns, uint64_t now_ns)
{
	struct record record = make_record(16, tgid, tid, name, age_ns);

	put_times(&record, MS(7), MS(4), 0);
	add(&record, now_ns);
}

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

/* Rows come in the order of their threads. */
static void add_row(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, const char *process,
		    const char *name, const char *cgroup, uint64_t start_ns)
{
	const size_t row = snapshot_add_thread(snapshot, tgid, tid);
	const struct triple triple = {intern(snapshot, process), intern(snapshot, name),
				      intern(snapshot, cgroup)};

	snapshot->triple[row] = snapshot_intern_triple(snapshot, triple);
	snapshot->start_time[row] = start_ns / NS_PER_TICK;
}

static void read_round(const struct snapshot *present, const struct snapshot *last)
{
	ended_set_release(set);
	set = ended_set_create();
	ended_records_read(records, present, last, &checks, set);
	if (last == NULL)
		assert_int_equal(set->group_count, 0);
}

static const char *name_of(uint32_t triple, size_t member)
{
	return snapshot_text(set->names,
			     *(const uint32_t *)((const char *)&set->names->triples[triple] + member));
}

static bool is_named(uint32_t triple, const char *process, const char *name, const char *cgroup)
{
	return strcmp(name_of(triple, offsetof(struct triple, pcomm)), process) == 0 &&
	       strcmp(name_of(triple, offsetof(struct triple, comm)), name) == 0 &&
	       strcmp(name_of(triple, offsetof(struct triple, cgroup)), cgroup) == 0;
}

static const struct ended_group *group_of(const char *process, const char *name, const char *cgroup)
{
	for (size_t i = 0; i < set->group_count; i++) {
		if (is_named(set->groups[i].triple, process, name, cgroup))
			return &set->groups[i];
	}
	fail_msg("no group %s %s %s", process, name, cgroup);
	return NULL;
}

static size_t place_of(enum metric metric)
{
	for (size_t i = 0; i < ENDED_METRICS; i++) {
		if (ended_metrics[i] == metric)
			return i;
	}
	fail_msg("no amount %s", metrics[metric].name);
	return 0;
}

static uint64_t amount(const struct ended_amounts *amounts, enum metric metric)
{
	return amounts->of[place_of(metric)];
}

/* A thread of the last round is listed, by its last name, where its row was, with what it counted. */
static void test_with_row(void **state)
{
	struct record record = make_record(16, 50, 51, "renamed", S(301));

	(void)state;
	add_row(previous, 50, 50, "server", "server", "/a", S(600));
	add_row(previous, 50, 51, "server", "worker", "/b", S(700));
	add_row(previous, 60, 60, "job", "job", "/c", S(999));
	add_row(now, 50, 50, "server", "server", "/a", S(600));
	read_round(previous, NULL);
	put_times(&record, MS(42), MS(90), MS(30));
	put(&record, TASKSTATS_MEMBER_BLKIO_COUNT, 3, 8);
	put(&record, TASKSTATS_MEMBER_IRQ_COUNT, 4, 8);
	put(&record, TASKSTATS_MEMBER_READ_BYTES, 4096, 8);
	add(&record, S(1001));
	add_plain(60, 60, "job-ended", MS(1900), S(1001));
	read_round(now, previous);
	assert_int_equal(set->group_count, 0);
	assert_int_equal(set->thread_count, 2);
	assert_true(is_named(set->threads[0].triple, "server", "renamed", "/b"));
	assert_int_equal(set->threads[0].tgid, 50);
	assert_int_equal(set->threads[0].tid, 51);
	assert_int_equal(set->threads[0].start_time, 70000);
	/* the scheduler's time, shared out as the tick saw it, in ticks of 10 ms */
	assert_int_equal(amount(&set->threads[0].amounts, METRIC_RUN_TIME_NS), MS(42));
	assert_int_equal(amount(&set->threads[0].amounts, METRIC_UTIME_CLOCK_TICKS), 3);
	assert_int_equal(amount(&set->threads[0].amounts, METRIC_STIME_CLOCK_TICKS), 1);
	assert_int_equal(amount(&set->threads[0].amounts, METRIC_WAIT_TIME_NS), MS(5));
	assert_int_equal(amount(&set->threads[0].amounts, METRIC_BLKIO_DELAY_COUNT), 3);
	assert_int_equal(amount(&set->threads[0].amounts, METRIC_IRQ_DELAY_COUNT), 4);
	assert_int_equal(amount(&set->threads[0].amounts, METRIC_READ_BYTES), 4096);
	assert_int_equal(set->threads[0].amounts.delayed, 1);
	assert_true(is_named(set->threads[1].triple, "job-ended", "job-ended", "/c"));
	assert_true(set->lower_bound);
}

/* By which one waited longer than it lived is no record of delays. */
static void test_impossible_wait(void **state)
{
	const uint64_t waits[] = {MS(900), MS(58000000)};

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		add_row(previous, 50 + i, 50 + i, "job", "job", "/", S(999));
	read_round(previous, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		struct record record = make_record(16, 50 + i, 50 + i, "job", S(2));

		put_times(&record, MS(42), MS(90), MS(30));
		put(&record, TASKSTATS_MEMBER_BLKIO_COUNT, 3, 8);
		put(&record, TASKSTATS_MEMBER_BLKIO_DELAY_TOTAL, waits[i], 8);
		add(&record, S(1001));
	}
	read_round(now, previous);
	assert_int_equal(set->thread_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const bool possible = set->threads[i].tid == 50;

		assert_int_equal(set->threads[i].amounts.delayed, possible);
		assert_int_equal(amount(&set->threads[i].amounts, METRIC_BLKIO_DELAY_TOTAL_NS),
				 possible ? MS(900) : 0);
		assert_int_equal(amount(&set->threads[i].amounts, METRIC_WAIT_TIME_NS), MS(5));
	}
}

/* Threads that came and went have a sum: by the process's name where it is known, never by an unknown cgroup.
 */
static void test_without_row(void **state)
{
	const struct ended_group *group;

	(void)state;
	add_row(previous, 50, 50, "server", "server", "/a", S(600));
	add_row(now, 50, 50, "server", "server", "/a", S(600));
	add_row(now, 80, 80, "young", "young", "/y", S(1001));
	read_round(previous, NULL);
	for (uint32_t i = 0; i < 10; i++)
		add_plain(100 + i, 100 + i, "true", MS(3), S(1001));
	add_plain(50, 52, "helper", MS(3), S(1001));
	add_plain(70, 71, "part", MS(3), S(1001)); /* its leader ends after it */
	add_plain(70, 70, "whole", MS(4), S(1001));
	add_plain(70, 70, "next", MS(3), S(1002)); /* its number is given again */
	add_plain(80, 81, "part", MS(3), S(1001)); /* its leader lives on */
	add_plain(90, 91, "part", MS(3), S(1001)); /* and this one's is not known */
	read_round(now, previous);
	assert_int_equal(set->thread_count, 0);
	group = group_of("true", "true", "(ended)");
	assert_int_equal(group->threads, 10);
	assert_int_equal(group->processes, 10);
	assert_int_equal(group->unknown, 0);
	assert_int_equal(group->amounts.delayed, 10);
	assert_int_equal(amount(&group->amounts, METRIC_RUN_TIME_NS), MS(70));
	assert_int_equal(amount(&group->amounts, METRIC_WAIT_TIME_NS), MS(50));
	group = group_of("server", "helper", "/a");
	assert_int_equal(group->threads, 1);
	assert_int_equal(group->processes, 0);
	group_of("whole", "part", "(ended)");
	group_of("whole", "whole", "(ended)");
	group_of("next", "next", "(ended)");
	group_of("young", "part", "/y");
	group_of("(ended)", "part", "(ended)");
	assert_int_equal(set->group_count, 7);
	/* and they are told once */
	read_round(now, now);
	assert_int_equal(set->group_count + set->thread_count, 0);
}

/*
 * The scheduler has charged short lives little at their end: then the tick's samples count, as far as they
 * are no chance.
 */
static void test_tick(void **state)
{
	enum {
		MANY = 1600,
	};
	const struct ended_group *group;

	(void)state;
	read_round(previous, NULL);
	for (uint32_t i = 0; i < 20; i++) {
		struct record record = make_record(16, 100 + i, 100 + i, "short", MS(1));

		put_times(&record, 0, i % 4 == 0 ? MS(4) : 0, i % 10 == 1 ? MS(4) : 0);
		add(&record, S(1001));
	}
	read_round(now, previous);
	group = group_of("short", "short", "(ended)");
	/* seven samples may be by chance */
	assert_int_equal(amount(&group->amounts, METRIC_RUN_TIME_NS), 0);
	assert_int_equal(amount(&group->amounts, METRIC_UTIME_CLOCK_TICKS), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		struct record record = make_record(16, 1000 + i, 1000 + i, "many", MS(1) / 10);

		put_times(&record, 0, i % 4 == 0 ? MS(4) : 0, 0);
		add(&record, S(1001));
	}
	read_round(now, previous);
	group = group_of("many", "many", "(ended)");
	/* three standard deviations below 1600 ms, with ticks of 1 to 10 ms */
	assert_in_range(amount(&group->amounts, METRIC_RUN_TIME_NS), MS(1220), MS(1481));
}

/* A thread that never slept was on a CPU whenever it did not wait for one, if waits are counted. */
static void test_never_slept(void **state)
{
	struct record record = make_record(16, 100, 100, "spinner", MS(20));

	(void)state;
	read_round(previous, NULL);
	put_times(&record, MS(3), MS(4), 0);
	add(&record, S(1001)); /* of no counted wait: what the scheduler has charged */
	put(&record, TASKSTATS_MEMBER_CPU_COUNT, 2, 8);
	add(&record, S(1001)); /* 20 ms, 5 of which it waited */
	put(&record, TASKSTATS_MEMBER_NVCSW, 1, 8);
	add(&record, S(1001)); /* and that again */
	read_round(now, previous);
	assert_int_equal(amount(&group_of("spinner", "spinner", "(ended)")->amounts, METRIC_RUN_TIME_NS),
			 MS(3 + 15 + 3));
}

/* As long as a row shows it, as that of a zombie, it has not ended; then it counts once. */
static void test_zombie(void **state)
{
	(void)state;
	add_row(now, 70, 70, "zombie", "zombie", "/", S(1001));
	read_round(previous, NULL);
	add_plain(70, 70, "zombie", MS(100), S(1001) + MS(200));
	read_round(now, previous);
	assert_int_equal(set->group_count + set->thread_count, 0);
	read_round(later, now);
	assert_int_equal(set->group_count, 0);
	assert_int_equal(set->thread_count, 1);
	assert_int_equal(set->threads[0].tid, 70);
	assert_int_equal(ended_records_waiting(records), 0);
}

/* A number that another thread has had before is not that thread. */
static void test_reused_number(void **state)
{
	(void)state;
	add_row(previous, 70, 70, "older", "older", "/", S(999));
	add_row(now, 80, 80, "after it", "after it", "/", S(1001) + MS(900));
	read_round(previous, NULL);
	add_plain(70, 70, "younger", MS(300), S(1002));
	add_plain(80, 80, "before it", MS(300), S(1001));
	read_round(now, previous);
	assert_int_equal(set->thread_count, 0);
	group_of("younger", "younger", "(ended)");
	group_of("before it", "before it", "(ended)");
}

/* A thread that every round missed: it ended, and nothing else is known. */
static void test_missed(void **state)
{
	const struct ended_group *group;

	(void)state;
	read_round(previous, NULL);
	read_round(now, previous);
	add_plain(70, 70, "hidden", S(500), S(1003));
	ended_records_lose(records, 12);
	read_round(later, now);
	group = group_of("hidden", "hidden", "(ended)");
	assert_int_equal(group->threads, 1);
	assert_int_equal(group->unknown, 1);
	assert_int_equal(amount(&group->amounts, METRIC_RUN_TIME_NS), 0);
	group = group_of("(ended)", "(ended)", "(ended)");
	assert_int_equal(group->threads, 12);
	assert_int_equal(group->unknown, 12);
	assert_int_equal(set->lost, 12);
}

/* Records of old kernels do not say the process: then a row says it, or nothing. */
static void test_old_record(void **state)
{
	struct record known = make_record(11, 0, 51, "worker", S(301)),
		      unknown = make_record(11, 0, 99, "brief", MS(20)),
		      other = make_record(11, 0, 50, "brief", MS(20));
	const struct ended_group *group;

	(void)state;
	add_row(previous, 50, 50, "server", "server", "/a", S(600));
	add_row(previous, 50, 51, "server", "worker", "/a", S(700));
	read_round(previous, NULL);
	put_times(&unknown, MS(3), 0, 0);
	add(&known, S(1001));
	add(&unknown, S(1001));
	add(&other, S(1001));
	read_round(now, previous);
	assert_int_equal(set->thread_count, 1);
	assert_true(is_named(set->threads[0].triple, "server", "worker", "/a"));
	group = group_of("(ended)", "brief", "(ended)");
	assert_int_equal(group->threads, 2);
	assert_int_equal(group->processes, 0);
	assert_int_equal(amount(&group->amounts, METRIC_RUN_TIME_NS), MS(3));
	assert_int_equal(set->reasons[place_of(METRIC_WPCOPY_DELAY_COUNT)], REASON_NOT_IN_KERNEL);
}

static reason_id reason(enum metric metric)
{
	return set->reasons[place_of(metric)];
}

/* Members that a record lacks are unavailable. */
static void test_reasons(void **state)
{
	static const enum metric never[] = {METRIC_NR_MIGRATIONS, METRIC_SYSCR, METRIC_SYSCW};
	struct record record = make_record(13, 70, 70, "job", MS(20));

	(void)state;
	read_round(previous, NULL);
	add(&record, S(1001));
	read_round(now, previous);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_int_equal(reason(never[i]), REASON_OTHER_BACKEND);
	assert_int_equal(reason(METRIC_IRQ_DELAY_COUNT), REASON_NOT_IN_KERNEL);
	assert_int_equal(reason(METRIC_WPCOPY_DELAY_COUNT), REASON_READ);
	assert_int_equal(reason(METRIC_RUN_TIME_NS), REASON_READ);
	assert_int_equal(reason(METRIC_UTIME_CLOCK_TICKS), REASON_READ);
	assert_int_equal(reason(METRIC_RCHAR), REASON_READ);
	checks.task_delayacct = TASK_DELAYACCT_RUNTIME_OFF;
	checks.delayacct_on_since_ns = UINT64_MAX;
	record = make_record(14, 71, 71, "job", MS(20));
	add(&record, S(1003));
	read_round(now, previous);
	assert_int_equal(group_of("job", "job", "(ended)")->amounts.delayed, 0);
	assert_int_equal(reason(METRIC_IRQ_DELAY_COUNT), REASON_SWITCHED_OFF);
	assert_int_equal(reason(METRIC_CPU_DELAY_COUNT), REASON_READ);
}

/* Processes outside the scope do not count. */
static void test_scope(void **state)
{
	static const uint32_t scope[] = {60, 70};
	struct record old = make_record(11, 0, 99, "brief", MS(20));

	(void)state;
	ended_records_release(records);
	records = ended_records_create(scope, 2);
	read_round(previous, NULL);
	add_plain(70, 71, "inside", MS(20), S(1001));
	add_plain(80, 80, "outside", MS(20), S(1001));
	add(&old, S(1001));
	ended_records_lose(records, 5);
	read_round(now, previous);
	assert_int_equal(set->group_count, 1);
	group_of("(ended)", "inside", "(ended)");
}

/* Kernel threads, which have long names, keep them, and are no part of a program of their name. */
static void test_kernel_thread(void **state)
{
	struct record record = make_record(16, 80, 80, "kworker/0:2", MS(50));

	(void)state;
	add_row(previous, 70, 70, "kworker/0:1-events", "kworker/0:1-events", "/", S(900));
	previous->thread_flags[0] = THREAD_KERNEL;
	read_round(previous, NULL);
	add_plain(70, 70, "kworker/0:1", S(101), S(1001));
	put(&record, TASKSTATS_MEMBER_AC_PPID, 2, 4);
	add(&record, S(1001));
	read_round(now, previous);
	assert_int_equal(set->thread_count, 1);
	assert_true(is_named(set->threads[0].triple, "kworker/0:1-events", "kworker/0:1-events", "/"));
	assert_true(set->threads[0].kernel);
	assert_true(group_of("kworker/0:2", "kworker/0:2", "(ended)")->kernel);
}

/* Between two rounds those are added up that no round can show: not one with a row, not one that is there. */
static void test_add_up(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	const pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	add_row(previous, (uint32_t)child, (uint32_t)child + 1, "server", "worker", "/a", S(700));
	read_round(previous, NULL);
	add_plain((uint32_t)child, (uint32_t)child, "gone", MS(3), S(1001));
	add_plain((uint32_t)child, (uint32_t)child + 1, "worker", S(301), S(1001));
	add_plain(self, self, "there", MS(3), S(1001));
	ended_records_add_up(records, previous, &checks);
	assert_int_equal(ended_records_waiting(records), 2);
	read_round(now, previous);
	assert_int_equal(set->thread_count, 1);
	assert_int_equal(group_of("gone", "gone", "(ended)")->threads, 1);
	assert_int_equal(group_of("there", "there", "(ended)")->threads, 1);
	assert_int_equal(set->group_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_with_row, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_impossible_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_without_row, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tick, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_never_slept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_zombie, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reused_number, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_missed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_old_record, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reasons, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_scope, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kernel_thread, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_add_up, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("records of ended threads", tests, NULL, NULL);
}
