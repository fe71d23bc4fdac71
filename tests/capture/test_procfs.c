/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "capture/procfs/procfs.h"
#include "capture/procfs/text_scan.h"

#define RULE "-------------------------------------------------------------------\n"

static struct thread_reading reading;

/* As after a thread whose every value was read. */
static void begin(void)
{
	memset(&reading, 0xa5, sizeof(reading));
	thread_reading_begin(&reading, 7, 7);
}

/* Parses a copy of exactly that size, so that a sanitizer sees every byte read too far. */
static bool parse_text(bool (*parser)(struct thread_reading *, const char *, size_t), const char *text)
{
	const size_t length = strlen(text);
	char *copy = malloc(length != 0 ? length : 1);
	bool result;

	assert_non_null(copy);
	memcpy(copy, text, length);
	begin();
	result = parser(&reading, copy, length);
	free(copy);
	return result;
}

static bool parse_io(struct thread_reading *into, const char *text, size_t length)
{
	return procfs_parse_lines(into, SOURCE_IO, NULL, text, length);
}

static bool parse_sched(struct thread_reading *into, const char *text, size_t length)
{
	return procfs_parse_lines(into, SOURCE_SCHED, NULL, text, length);
}

static void assert_value(enum metric metric, uint64_t value)
{
	if (!metric_set_has(&reading.present, metric))
		fail_msg("%s is not present", metrics[metric].name);
	if (metric_set_has(&reading.bad, metric))
		fail_msg("%s is bad", metrics[metric].name);
	if (reading.value[metric] != value)
		fail_msg("%s is %llu, not %llu", metrics[metric].name,
			 (unsigned long long)reading.value[metric], (unsigned long long)value);
}

static void assert_bad(enum metric metric)
{
	if (metric_set_has(&reading.present, metric) || !metric_set_has(&reading.bad, metric))
		fail_msg("%s is not bad", metrics[metric].name);
}

static void assert_missing(enum metric metric)
{
	if (metric_set_has(&reading.present, metric) || metric_set_has(&reading.bad, metric))
		fail_msg("%s is not missing", metrics[metric].name);
}

static const char stat_tail[] =
	" S 1 7 7 0 -1 4194560 10 11 12 13 14 15 16 17 -3 -5 9 0 22 2323 24 "
	"18446744073709551615 26 27 28 0 0 0 0 0 0 0 0 0 17 3 40 2 0 0 0 0 0 0 0 0 0 0 0\n";

static void test_stat_fields(void **state)
{
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text), "7 (park)%s", stat_tail);
	assert_true(parse_text(procfs_parse_stat, text));
	assert_int_equal(reading.read, source_bit(SOURCE_STAT));
	assert_int_equal(reading.name_length, 4);
	assert_memory_equal(reading.name, "park", 4);
	assert_value(METRIC_MINFLT, 10);
	assert_value(METRIC_MAJFLT, 12);
	assert_value(METRIC_UTIME_CLOCK_TICKS, 14);
	assert_value(METRIC_STIME_CLOCK_TICKS, 15);
	assert_value(METRIC_PRIORITY, (uint64_t)-3);
	assert_value(METRIC_NICE, (uint64_t)-5);
	assert_value(METRIC_NR_THREADS, 9);
	assert_value(METRIC_PROCESSOR, 3);
	assert_value(METRIC_RT_PRIORITY, 40);
	assert_value(METRIC_POLICY, 2);
	assert_value(METRIC_STATE, 'S');
	assert_true(reading.start_time_known);
	assert_int_equal(reading.start_time, 22);
	assert_int_equal(reading.flags, 4194560);
	assert_false(thread_reading_is_kernel(&reading));
	assert_true(reading.has_memory && reading.resident_known);
	assert_int_equal(reading.resident_pages, 24);
}

/* Fields 23 and 24: a zombie has no address space, and what is cut off says nothing of it. */
static void test_stat_memory(void **state)
{
	(void)state;
	assert_true(parse_text(procfs_parse_stat,
			       "7 (dead) Z 1 7 7 0 -1 4194560 10 11 12 13 14 15 16 17 -3 -5 9 0 22 0 0 7\n"));
	assert_true(reading.resident_known && !reading.has_memory);
	assert_true(parse_text(procfs_parse_stat,
			       "7 (cut) S 1 7 7 0 -1 4194560 10 11 12 13 14 15 16 17 -3 -5 9 0 22 4096"));
	assert_false(reading.resident_known);
	assert_true(
		parse_text(procfs_parse_stat,
			   "7 (odd) S 1 7 7 0 -1 4194560 10 11 12 13 14 15 16 17 -3 -5 9 0 22 4096 -1 7\n"));
	assert_false(reading.resident_known);
}

/* The name may hold anything; the last `)` of the whole text ends it. */
static void test_stat_names(void **state)
{
	static const struct {
		const char *printed, *name;
	} cases[] = {
		{"a) b (c", "a) b (c"},
		{")(", ")("},
		{"", ""},
		{"odd) S 1 (na me", "odd) S 1 (na me"},
		{"two\nlines", "two\nlines"},
		{"bad \xff\xfe", "bad \xff\xfe"},
		{"  cut  ", "cut"},
		{"   ", "   "},
		{"", ""},
		{"\xc2\xa0no-break\xe2\x80\x83", "no-break"},
		{"\n\n", ""},
		{"\x1cstays\x1c", "\x1cstays\x1c"},
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "7 (%s)%s", cases[i].printed, stat_tail);
		assert_true(parse_text(procfs_parse_stat, text));
		assert_int_equal(reading.name_length, strlen(cases[i].name));
		assert_memory_equal(reading.name, cases[i].name, reading.name_length);
		assert_value(METRIC_MINFLT, 10);
		assert_value(METRIC_POLICY, 2);
	}
}

static void test_stat_each_field_on_its_own(void **state)
{
	(void)state;
	assert_true(
		parse_text(procfs_parse_stat,
			   "7 (x) \xff 1 7 7 0 -1 x -10 11 +12 13 1.4 18446744073709551616 16 17 2147483648 "
			   "-2147483649 1 0 2x 2323 24 1 26 27 28 0 0 0 0 0 0 0 0 0 17 3\v 4294967296 -1"));
	assert_bad(METRIC_STATE);
	assert_bad(METRIC_MINFLT);
	assert_value(METRIC_MAJFLT, 12);
	assert_bad(METRIC_UTIME_CLOCK_TICKS);
	assert_bad(METRIC_STIME_CLOCK_TICKS);
	assert_bad(METRIC_PRIORITY);
	assert_bad(METRIC_NICE);
	assert_bad(METRIC_PROCESSOR); /* a vertical tab separates no words */
	assert_bad(METRIC_RT_PRIORITY);
	assert_value(METRIC_POLICY, (uint64_t)-1);
	assert_false(reading.start_time_known);
	assert_int_equal(reading.start_time, 0);
	assert_int_equal(reading.flags, 0);

	/* cut short: absent fields are missing, not bad */
	assert_true(parse_text(procfs_parse_stat, "7 (x) R 1 7 7 0 -1 0 10"));
	assert_value(METRIC_STATE, 'R');
	assert_value(METRIC_MINFLT, 10);
	assert_missing(METRIC_MAJFLT);
	assert_missing(METRIC_POLICY);

	/* the largest numbers */
	assert_true(parse_text(procfs_parse_stat,
			       "7 (x) R 1 7 7 0 -1 0 18446744073709551615 0 00000000000000000000000012 0 "
			       "9999999999999999999 10000000000000000000"));
	assert_value(METRIC_MINFLT, UINT64_MAX);
	assert_value(METRIC_MAJFLT, 12);
	assert_value(METRIC_UTIME_CLOCK_TICKS, 9999999999999999999u);
	assert_value(METRIC_STIME_CLOCK_TICKS, 10000000000000000000u);
}

static void test_stat_without_shape(void **state)
{
	static const char *const cases[] = {"", "\n", "7 x S 1", "7 (x S 1", ") (", "7 x) S 1 2 3"};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(parse_text(procfs_parse_stat, cases[i]));
		assert_int_equal(reading.read, 0);
		assert_missing(METRIC_MINFLT);
	}
}

/* The number of threads belongs to the process: only its leader carries it. */
static void test_nr_threads_of_leaders_only(void **state)
{
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text), "8 (x)%s", stat_tail);
	thread_reading_begin(&reading, 7, 8);
	assert_true(procfs_parse_stat(&reading, text, strlen(text)));
	assert_missing(METRIC_NR_THREADS);
	assert_true(procfs_parse_lines(&reading, SOURCE_STATUS, NULL, "Threads:\t9\n", 11));
	assert_missing(METRIC_NR_THREADS);
	thread_reading_begin(&reading, 7, 7);
	assert_true(procfs_parse_lines(&reading, SOURCE_STATUS, NULL, "Threads:\t9\n", 11));
	assert_value(METRIC_NR_THREADS, 9);
}

static void test_policy_names(void **state)
{
	static const struct {
		int64_t policy;
		const char *name;
	} cases[] = {
		{0, "SCHED_OTHER"},
		{1, "SCHED_FIFO"},
		{2, "SCHED_RR"},
		{3, "SCHED_BATCH"},
		{4, "SCHED_UNKNOWN(4)"},
		{5, "SCHED_IDLE"},
		{6, "SCHED_DEADLINE"},
		{7, "SCHED_EXT"},
		{8, "SCHED_UNKNOWN(8)"},
		{-1, "SCHED_UNKNOWN(-1)"},
		{INT32_MIN, "SCHED_UNKNOWN(-2147483648)"},
	};
	char text[PROCFS_POLICY_NAME_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(procfs_policy_name(cases[i].policy, text), cases[i].name);
}

static bool parse_syscall(const char *text, struct procfs_syscall *ret_call)
{
	const size_t length = strlen(text);
	char *copy = malloc(length != 0 ? length : 1);
	bool result;

	assert_non_null(copy);
	memcpy(copy, text, length);
	result = procfs_parse_syscall(copy, length, ret_call);
	free(copy);
	return result;
}

static void test_syscall(void **state)
{
	static const char *const others[] = {
		"",
		"\n",
		"runnin",
		"x 0x1 0x2",
		"0",
		"0 0x1 0x2",
		"0 0x1 0x2 0x3 0x4 0x5 0x6 0x7",
		"-1 0x1",
		"-1 0x1 0x2 0x3",
		"-1 1 2",
		"-1 0x 0x2",
		"-1 0x1g 0x2",
		"-1 0x1FFF 0x2",
		"-1 0x12345678901234567 0x2",
		"99999999999 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
	};
	struct procfs_syscall call;

	(void)state;
	assert_true(
		parse_syscall("202 0x7ffd0 0x189 0x2 0x0 0x0 0xffffffffffffffff 0x7ffc1 0x7f2a\n", &call));
	assert_false(call.is_running);
	assert_int_equal(call.number, 202);
	assert_int_equal(call.arguments[0], 0x7ffd0);
	assert_int_equal(call.arguments[1], 0x189);
	assert_int_equal(call.arguments[2], 2);
	assert_int_equal(call.arguments[5], UINT64_MAX);
	assert_int_equal(call.stack, 0x7ffc1);
	assert_int_equal(call.instruction, 0x7f2a);
	assert_true(parse_syscall("-1 0x7ffc1 0x7f2a\n", &call));
	assert_int_equal(call.number, -1);
	assert_int_equal(call.arguments[0], 0);
	assert_int_equal(call.instruction, 0x7f2a);
	assert_true(parse_syscall("running\n", &call));
	assert_true(call.is_running);
	assert_int_equal(call.number, 0);
	call.number = 5;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (parse_syscall(others[i], &call))
			fail_msg("\"%s\" is taken for a system call", others[i]);
	}
	assert_int_equal(call.number, 5);
}

static void test_schedstat(void **state)
{
	(void)state;
	assert_true(parse_text(procfs_parse_schedstat, "11 22 33 44\n55\n"));
	assert_int_equal(reading.read, source_bit(SOURCE_SCHEDSTAT));
	assert_value(METRIC_RUN_TIME_NS, 11);
	assert_value(METRIC_WAIT_TIME_NS, 22);
	assert_value(METRIC_TIMESLICES, 33);

	assert_true(parse_text(procfs_parse_schedstat, "x +22"));
	assert_bad(METRIC_RUN_TIME_NS);
	assert_value(METRIC_WAIT_TIME_NS, 22);
	assert_missing(METRIC_TIMESLICES);

	assert_false(parse_text(procfs_parse_schedstat, ""));
	assert_false(parse_text(procfs_parse_schedstat, "\n1 2 3\n"));
	assert_int_equal(reading.read, 0);
}

static void test_status(void **state)
{
	static const char text[] =
		"Name:\tserver\nUmask:\t0022\nState:\tD (disk sleep)\nUid:\t1000\t0\t0\t0\n"
		"Threads:\t3\nCpus_allowed:\tf\nCpus_allowed_list:\t3,0-2,1,2\n"
		"voluntary_ctxt_switches:\t 5 \r\nnonvoluntary_ctxt_switches:\t6";
	struct string_pool pool = {0};
	(void)state;
	begin();
	assert_true(procfs_parse_lines(&reading, SOURCE_STATUS, &pool, text, strlen(text)));
	assert_int_equal(reading.read, source_bit(SOURCE_STATUS));
	assert_value(METRIC_STATE, 'D');
	assert_value(METRIC_NR_THREADS, 3);
	assert_value(METRIC_VOLUNTARY_CSW, 5);
	assert_value(METRIC_NONVOLUNTARY_CSW, 6);
	assert_true(reading.uid_known);
	assert_int_equal(reading.uid, 1000);
	assert_true(metric_set_has(&reading.present, METRIC_CPU_AFFINITY));
	assert_int_equal(cpu_set_count(&pool, (uint32_t)reading.value[METRIC_CPU_AFFINITY]), 4);

	/*
	 * the last line wins, also when it makes no sense; unknown keys and lines without a key are left out
	 */
	begin();
	assert_true(procfs_parse_lines(&reading, SOURCE_STATUS, NULL,
				       "State:\tS\nState:\n Threads :1\nThreads: 2\nx\nCpus_allowed_list:0\n",
				       54));
	assert_bad(METRIC_STATE);
	assert_value(METRIC_NR_THREADS, 2);
	assert_missing(METRIC_CPU_AFFINITY);

	begin();
	assert_true(procfs_parse_lines(&reading, SOURCE_STATUS, &pool,
				       "Cpus_allowed_list:\t0-65536\nUid: x\n", 34));
	assert_bad(METRIC_CPU_AFFINITY);
	assert_false(reading.uid_known);
	assert_false(procfs_parse_lines(&reading, SOURCE_STATUS, &pool, "", 0));
	string_pool_release(&pool);
}

static void test_io(void **state)
{
	(void)state;
	assert_true(parse_text(parse_io,
			       "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n"
			       "cancelled_write_bytes: 7\nother: 8\n"));
	assert_int_equal(reading.read, source_bit(SOURCE_IO));
	assert_value(METRIC_RCHAR, 1);
	assert_value(METRIC_WCHAR, 2);
	assert_value(METRIC_SYSCR, 3);
	assert_value(METRIC_SYSCW, 4);
	assert_value(METRIC_READ_BYTES, 5);
	assert_value(METRIC_WRITE_BYTES, 6);
	assert_value(METRIC_CANCELLED_WRITE_BYTES, 7);

	assert_true(parse_text(parse_io, "rchar: 1\nrchar: 2 3\nwchar: x\nwchar:\xc2\xa0+4\xc2\x85\n"));
	assert_bad(METRIC_RCHAR);
	assert_value(METRIC_WCHAR, 4);
	assert_missing(METRIC_SYSCR);

	assert_false(parse_text(parse_io, ""));
	assert_false(parse_text(parse_io, "nothing\n: 4\n"));
	assert_int_equal(reading.read, 0);
}

static void test_sched_keys(void **state)
{
	(void)state;
	assert_true(parse_text(parse_sched,
			       "server (7, #threads: 3)\n" RULE
			       "se.exec_start                                :      2024.119571\n"
			       "se.statistics.wait_sum                       :         1.000002\n"
			       "wait_max                                     :         0.000001\n"
			       "se.nr_migrations                             :                4\n"
			       "nr_wakeups                                   :                5\n"
			       "se.slice                                     :          3000000\n"
			       "policy                                       :                0\n"
			       "ext.enabled                                  :                1\n"));
	assert_int_equal(reading.read, source_bit(SOURCE_SCHED) | source_bit(SOURCE_SCHEDSTATS));
	assert_value(METRIC_WAIT_SUM, 1000002);
	assert_value(METRIC_WAIT_MAX, 1);
	assert_value(METRIC_NR_MIGRATIONS, 4);
	assert_value(METRIC_NR_WAKEUPS, 5);
	assert_value(METRIC_FAIR_SLICE_NS, 3000000);
	assert_value(METRIC_EXT_ENABLED, 1);
	assert_missing(METRIC_POLICY);
	assert_missing(METRIC_BLOCK_SUM);

	/* statistics switched off: their source was not read */
	assert_true(parse_text(parse_sched, "x (7, #threads: 1)\n" RULE "nr_migrations:1\nslice:2\n"));
	assert_int_equal(reading.read, source_bit(SOURCE_SCHED));

	/* a repeated key keeps the later line; ext.enabled counts only as a whole */
	assert_true(parse_text(parse_sched, RULE
			       "nr_wakeups:1\nse.nr_wakeups:2\nwait_count:1\nwait_count:x\nse.ext.enabled:1\n"
			       "enabled:1\next.enabled:0\n.:1\n:2\na.b:c:d\n"));
	assert_value(METRIC_NR_WAKEUPS, 2);
	assert_bad(METRIC_WAIT_COUNT);
	assert_value(METRIC_EXT_ENABLED, 0);
}

/* Every metric of the scheduler's file is found under its own key. */
static void test_sched_whole_table(void **state)
{
	char text[8192] = "x (7, #threads: 1)\n" RULE;
	size_t used = strlen(text);

	(void)state;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (metrics[i].source == SOURCE_SCHED || metrics[i].source == SOURCE_SCHEDSTATS)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s:%zu\n", metrics[i].key,
						 i + 1000);
	}
	assert_true(parse_text(parse_sched, text));
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (i == METRIC_VOLUNTARY_SLEEP_NS)
			assert_value(METRIC_VOLUNTARY_SLEEP_NS, 0); /* less than the block time */
		else if (i == METRIC_EXT_ENABLED)
			assert_value(METRIC_EXT_ENABLED, 1);
		else if (metrics[i].source == SOURCE_SCHED || metrics[i].source == SOURCE_SCHEDSTATS)
			assert_value((enum metric)i, i + 1000);
		else
			assert_missing((enum metric)i);
	}
}

static void test_dotted_values(void **state)
{
	enum {
		BAD,
		NEGATIVE,
		VALUE
	};
	static const struct {
		const char *text;
		int outcome;
		uint64_t value;
	} cases[] = {
		{"12345.678", VALUE, 12345678000},
		{"0.000001", VALUE, 1},
		{"5.1234567", VALUE, 5123456},
		{"1500", VALUE, 1500},
		{"-5.000000", NEGATIVE, 0},
		{"0.-000500", NEGATIVE, 0},
		{"x.000000", BAD, 0},
		{"1 .5", VALUE, 1500000},
		{"5. -1", NEGATIVE, 0},
		{"5. 1", BAD, 0},
		{"5.", VALUE, 5000000},
		{".5", BAD, 0},
		{"", BAD, 0},
		{"+5.5", VALUE, 5500000},
		{"-5", NEGATIVE, 0},
		{"1.2.3", BAD, 0},
		{"1.x", BAD, 0},
		{"18446744073709.551615", VALUE, UINT64_MAX},
		{"18446744073709.551616", BAD, 0},
		{"18446744073710.000000", BAD, 0},
		{"18446744073709551616", BAD, 0},
		{"99999999999999999999.0", BAD, 0},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), RULE "block_max : %s\n", cases[i].text);
		assert_true(parse_text(parse_sched, text));
		if (cases[i].outcome == VALUE)
			assert_value(METRIC_BLOCK_MAX, cases[i].value);
		else
			assert_bad(METRIC_BLOCK_MAX);
		assert_int_equal(reading.negative_values, cases[i].outcome == NEGATIVE);
	}
	assert_true(
		parse_text(parse_sched, RULE
			   "wait_sum:-1.0\nwait_max:0.-5\nsleep_max:-2\nblock_max:-1.5\nexec_max:-0.1\n"));
	assert_int_equal(reading.negative_values, 5);
}

static void test_voluntary_sleep(void **state)
{
	(void)state;
	assert_true(parse_text(parse_sched, RULE "sum_sleep_runtime:5.0\nsum_block_runtime:2.0\n"));
	assert_value(METRIC_VOLUNTARY_SLEEP_NS, 3000000);
	assert_value(METRIC_BLOCK_SUM, 2000000);
	assert_true(parse_text(parse_sched, RULE "sum_block_runtime:7.0\nsum_sleep_runtime:5.0\n"));
	assert_value(METRIC_VOLUNTARY_SLEEP_NS, 0);
	assert_true(parse_text(parse_sched, RULE "sum_sleep_runtime:5.0\n"));
	assert_missing(METRIC_VOLUNTARY_SLEEP_NS);
	assert_true(parse_text(parse_sched, RULE "sum_sleep_runtime:5.0\nsum_block_runtime:-1.0\n"));
	assert_bad(METRIC_VOLUNTARY_SLEEP_NS);
	assert_true(parse_text(parse_sched, RULE "sum_sleep_runtime:x\nsum_block_runtime:1.0\n"));
	assert_bad(METRIC_VOLUNTARY_SLEEP_NS);
}

/* The name is printed raw before the rule: nothing in it may pass for a value. */
static void test_sched_forged_by_name(void **state)
{
	(void)state;
	assert_true(parse_text(parse_sched, "\nexec_max:5\n (7, #threads: 1)\n" RULE "nr_migrations : 1\n"));
	assert_missing(METRIC_EXEC_MAX);
	assert_value(METRIC_NR_MIGRATIONS, 1);
	assert_true(parse_text(parse_sched, "ext.enabled:1\nb (7, #threads: 1)\n" RULE));
	assert_missing(METRIC_EXT_ENABLED);
	assert_true(parse_text(parse_sched, "\n---\nslice:1\n (7, #threads: 1)\n" RULE));
	assert_missing(METRIC_FAIR_SLICE_NS);
	assert_false(parse_text(parse_sched, "x (7, #threads: 1)\nexec_max:5\n"));
	assert_false(parse_text(parse_sched, ""));
	assert_int_equal(reading.read, 0);
}

static void test_cgroup_path(void **state)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{"0::/app.slice/x.service\n", "/app.slice/x.service"},
		{"12:cpu,cpuacct:/v1\n1:name=systemd:/y\n0::/\n", "/"},
		{"0::\n0:: \n0::/second\n0::/third\n", "/second"},
		{"0::/../x\r\n", "/../x"},
		{"0::/gone (deleted)\n", "/gone (deleted)"},
		{"0::/trailing \xc2\xa0\n", "/trailing"},
		{"0::/no-newline", "/no-newline"},
	};
	struct text path;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(procfs_parse_cgroup(cases[i].text, strlen(cases[i].text), &path));
		assert_int_equal(path.length, strlen(cases[i].path));
		assert_memory_equal(path.data, cases[i].path, path.length);
	}
	assert_false(procfs_parse_cgroup("1:cpu:/x\n10::/y\n", 16, &path));
	assert_int_equal(path.length, 0);
	assert_false(procfs_parse_cgroup("", 0, &path));
}

static void test_old_cgroups(void **state)
{
	static const char text[] =
		"12:cpu,cpuacct:/a:b\n1:name=systemd:/c \nbroken\n0::/v2\n5:pids:\n3:freezer:/";
	static const struct {
		const char *controllers, *path;
	} expected[] = {{"cpu,cpuacct", "/a:b"}, {"name=systemd", "/c"}, {"freezer", "/"}};
	struct text rest = {text, strlen(text)}, controllers, path;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_true(procfs_next_cgroup(&rest, &controllers, &path));
		assert_true(text_equals(controllers, expected[i].controllers));
		assert_true(text_equals(path, expected[i].path));
	}
	assert_false(procfs_next_cgroup(&rest, &controllers, &path));
}

static void test_smaps_rollup(void **state)
{
	static const char text[] =
		"55f0-7ffd ---p 00000000 00:00 0                 [rollup]\nRss:  1384 kB\nPss: 12\n"
		"Bad: x\nTwo Words: 3\nNo-Dash: 4\nPss: x 5\n Swap :+6 kB\nRss: 7\nNone:\n";
	struct string_pool strings = {0};
	struct arena arena = {0};
	struct key_values kib;

	(void)state;
	assert_true(procfs_parse_keys(text, strlen(text), PROCFS_KEYS_COLON, &strings, &arena, &kib));
	assert_int_equal(kib.count, 3);
	assert_string_equal(string_pool_text(&strings, kib.items[0].key), "Rss");
	assert_int_equal(kib.items[0].value, 7);
	assert_string_equal(string_pool_text(&strings, kib.items[1].key), "Pss");
	assert_int_equal(kib.items[1].value, 12); /* a later line that makes no sense is ignored */
	assert_string_equal(string_pool_text(&strings, kib.items[2].key), "Swap");
	assert_int_equal(kib.items[2].value, 6);
	assert_false(procfs_parse_keys("", 0, PROCFS_KEYS_COLON, &strings, &arena, &kib));
	assert_int_equal(kib.count, 0);
	arena_release(&arena);
	string_pool_release(&strings);
}

/* Damaged texts, the same on every run: nothing is read outside of them and nothing hangs. */
static void test_mutations(void **state)
{
	static const char sched_text[] =
		"server (7, #threads: 3)\n" RULE
		"se.exec_start : 2024.119571\nse.statistics.wait_sum : 1.000002\n"
		"sum_sleep_runtime : 4.5\nsum_block_runtime : 0.-5\next.enabled : 1\nse.slice : 3000000\n";
	static const char status_text[] = "State:\tS (sleeping)\nUid:\t1\t1\t1\t1\nThreads:\t2\n"
					  "Cpus_allowed_list:\t0-3,7\nvoluntary_ctxt_switches:\t1\n";
	static const char io_text[] = "rchar: 323934931\nwchar: 323929600\nread_bytes: 0\n";
	static const char smaps_text[] = "55f0-7ffd ---p [rollup]\nRss:  1384 kB\nPss: 12 kB\nSwap: 0 kB\n";
	uint64_t random = 88172645463325252u;
	char stat_text[512];

	(void)state;
	snprintf(stat_text, sizeof(stat_text), "7 (worker) x)%s", stat_tail);
	for (unsigned int round = 0; round < 4000; round++) {
		const char *const originals[] = {sched_text, status_text, io_text, stat_text, smaps_text};
		const char *original = originals[round % 5];
		size_t length = strlen(original);
		char *text = malloc(length + 1);
		struct string_pool pool = {0};
		struct string_pool strings = {0};
		struct arena arena = {0};
		struct key_values kib;
		struct text part;

		assert_non_null(text);
		memcpy(text, original, length);
		for (unsigned int change = 0; change <= round % 4; change++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			text[random % length] = (char)(random >> 32);
			if ((random >> 40) % 8 == 0)
				length = 1 + (random >> 48) % length;
		}
		text = realloc(text, length);
		assert_non_null(text);
		begin();
		procfs_parse_stat(&reading, text, length);
		procfs_parse_schedstat(&reading, text, length);
		procfs_parse_lines(&reading, SOURCE_STATUS, &pool, text, length);
		procfs_parse_lines(&reading, SOURCE_IO, NULL, text, length);
		parse_sched(&reading, text, length);
		procfs_parse_cgroup(text, length, &part);
		procfs_parse_keys(text, length, PROCFS_KEYS_COLON, &strings, &arena, &kib);
		for (size_t i = 0; i < METRIC_SET_WORDS; i++)
			assert_int_equal(reading.present.words[i] & reading.bad.words[i], 0);
		free(text);
		arena_release(&arena);
		string_pool_release(&strings);
		string_pool_release(&pool);
	}
}

static void test_lines_and_words(void **state)
{
	struct text rest = {"a\r\n\nb\r", 6}, line, word;

	(void)state;
	assert_true(text_next_line(&rest, &line));
	assert_int_equal(line.length, 1);
	assert_true(text_next_line(&rest, &line));
	assert_int_equal(line.length, 0);
	assert_true(text_next_line(&rest, &line));
	assert_int_equal(line.length, 2); /* a lone carriage return at the end belongs to the line */
	assert_false(text_next_line(&rest, &line));
	rest = (struct text){" \t\fa\vb\r", 7};
	assert_true(text_next_word(&rest, &word));
	assert_int_equal(word.length, 3);
	assert_false(text_next_word(&rest, &word));
	word = text_trim((struct text){" a b \n\n", 7});
	assert_int_equal(word.length, 3);
	assert_memory_equal(word.data, "a b", 3);
	assert_int_equal(text_trim((struct text){"\x1c", 1}).length, 1);
	assert_int_equal(text_trim((struct text){"\n", 1}).length, 0);
	assert_int_equal(text_trim((struct text){" \xc2\x85 \xe2\x80\x83", 7}).length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat_fields),
		cmocka_unit_test(test_stat_memory),
		cmocka_unit_test(test_stat_names),
		cmocka_unit_test(test_stat_each_field_on_its_own),
		cmocka_unit_test(test_stat_without_shape),
		cmocka_unit_test(test_nr_threads_of_leaders_only),
		cmocka_unit_test(test_policy_names),
		cmocka_unit_test(test_schedstat),
		cmocka_unit_test(test_syscall),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_sched_keys),
		cmocka_unit_test(test_sched_whole_table),
		cmocka_unit_test(test_dotted_values),
		cmocka_unit_test(test_voluntary_sleep),
		cmocka_unit_test(test_sched_forged_by_name),
		cmocka_unit_test(test_cgroup_path),
		cmocka_unit_test(test_old_cgroups),
		cmocka_unit_test(test_smaps_rollup),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_lines_and_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
