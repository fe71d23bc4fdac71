/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The work of ended threads belongs to their groups: the CPU time of all rows is that of the host while
 * processes come and go, that of each group is what the kernel tells the parent of its children
 * (getrusage(2)), and those of a cgroup with its bytes what the cgroup counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/membarrier.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../cgroup.h"
#include "../measure.h"
#include "../wait.h"
#include "base/clock.h"
#include "base/release.h"
#include "capture/capture.h"
#include "harness.h"
#include "session/session.h"
#include "snapshot/ended_set.h"
#ifdef HAS_BPF
#include <bpf/bpf.h>
#include <sched.h>

#include "rcu_reader.skel.h"
#endif

#define MS(n) ((uint64_t)(n)*1000000)

/* By how much what the tick saw of a storm's processes may be off: that is hit or miss for each. */

enum {
	STORM_SECONDS = 5,
	STORM_RATE = 400, /* processes a second */
	TICK_MS = 10,     /* by which the run time of a running thread may lag, amply */
	TAIL_MS = 10,     /* that a process may run after its parent was told of its end, amply */
	RCU_MS = 300,     /* after a grace period, until its callbacks have freed what ended */
	BLOCK_BYTES = 65536,
	RCU_READER_SECONDS = 15, /* at most: after 21 the kernel complains (RCU_CPU_STALL_TIMEOUT) */
};

static struct capture *capture;
static struct session *session;
static bool by_messages; /* by taskstats, not by BPF */

/* Names of this run alone: the same test may run beside it. */
static struct {
	char storm[16], first[16], last[16], life[16], zombie[16], names[16];
} names;

/* In letters that are no hexadecimal digits: names that differ in numbers alone are one group. */
static void make_name(char name[static 16], const char *what)
{
	static const char letters[] = "ghijkmnopqrstuvw";
	char own[7] = "";

	for (size_t i = 0; i < 6; i++)
		own[i] = letters[(unsigned int)getpid() >> 4 * i & 15];
	snprintf(name, 16, "%s-%s", what, own);
}

static void make_names(void)
{
	make_name(names.storm, "storm");
	make_name(names.first, "first");
	make_name(names.last, "last");
	make_name(names.life, "life");
	make_name(names.zombie, "zombie");
	make_name(names.names, "names");
}

static void sleep_ms(unsigned int milliseconds)
{
	usleep(milliseconds * 1000);
}

static void spin_ms(unsigned int milliseconds)
{
	const uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + MS(milliseconds);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void take_round(void)
{
	const struct capture_round_options options = {.needed = (source_set)~0U};
	struct snapshot *snapshot;
	struct error error;

	if (capture_round(capture, &options, NULL, &snapshot, &error) < 0)
		fail_msg("%s", error.text);
	session_add_round(session, snapshot);
}

static int set_up_with(enum capture_backend backend)
{
	const struct capture_options options = {.backend = backend};
	struct error error;

	by_messages = backend == CAPTURE_BACKEND_PROCFS;
	if (capture_open(&options, &capture, &error) < 0)
		fail_msg("%s", error.text);
	session = session_create();
	take_round();
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	return set_up_with(CAPTURE_BACKEND_AUTOMATIC);
}

static int set_up_messages(void **state)
{
	(void)state;
	return set_up_with(CAPTURE_BACKEND_PROCFS);
}

static int tear_down(void **state)
{
	(void)state;
	session_release(session);
	capture_close(capture);
	return 0;
}

/* Each of the many names takes room in what others measure. */
static int set_up_names(void **state)
{
	measure_waits_alone();
	return set_up(state);
}

static int tear_down_names(void **state)
{
	measure_waits_end();
	return tear_down(state);
}

static bool is_in(const char *kind, const char *expected)
{
	char path[64], link[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	length = readlink(path, link, sizeof(link));
	return length == (ssize_t)strlen(expected) && memcmp(link, expected, (size_t)length) == 0;
}

/* Whether it is certain; the numbers are from include/linux/proc_ns.h, of networks since Linux 6.18. */
static bool in_initial_namespaces(void)
{
	char first[64] = "";

	if (readlink("/proc/1/ns/net", first, sizeof(first) - 1) < 0)
		strcpy(first, "net:[4026531833]");
	return is_in("user", "user:[4026531837]") && is_in("pid", "pid:[4026531836]") && is_in("net", first);
}

/* Whether the kernel sends us the records of threads that end. */
static bool can_have_messages(void)
{
	const struct provenance *provenance = &session_now(session)->provenance;
	bool may = false;

	for (size_t i = 0; i < provenance->capability_count; i++)
		may |= strcmp(provenance->capabilities[i], "net_admin") == 0;
	return may && provenance->features[FEATURE_TASKSTATS].state == FEATURE_STATE_ON &&
	       in_initial_namespaces();
}

static void need_exits(void)
{
	const struct feature_result *result = &session_now(session)->provenance.features[FEATURE_EXITS];

	if (by_messages && result->state != FEATURE_STATE_PARTIAL && can_have_messages())
		fail_msg("ended threads are not watched: %s", result->detail);
	if (result->state != (by_messages ? FEATURE_STATE_PARTIAL : FEATURE_STATE_ON))
		skip_test("%s", result->detail != NULL ? result->detail : "ended threads are not watched");
}

/* For numbers of processes that come and go between two rounds. */
static void need_processes_of_exits(void)
{
	struct utsname kernel;

	need_exits();
	if (by_messages && uname(&kernel) == 0 && release_is_older(kernel.release, 5, 19))
		skip_test("the kernel tells since Linux 5.19 of which process an ended thread was");
}

static struct table *table_on(enum tab tab, enum axis axis, enum window_mode mode)
{
	struct view view;
	struct table *table;

	view_initialise(&view);
	view.mode = mode;
	view.grouping.axis = axis;
	view.grouping.keep_thread_names = view.grouping.keep_cgroup_names = true;
	view.hide_gone = true;
	view.tab = tab;
	table = session_table(session, &view);
	view_release(&view);
	return table;
}

static struct table *table_in(enum axis axis, enum window_mode mode)
{
	return table_on(TAB_OVERVIEW, axis, mode);
}

static struct table *table_of(enum axis axis)
{
	return table_in(axis, WINDOW_MODE_INTERVAL);
}

static bool has_label(const struct table_row *row, const char *label)
{
	return row->label_length == strlen(label) && memcmp(row->label, label, row->label_length) == 0;
}

static const struct table_row *row_of(const struct table *table, const char *label)
{
	for (size_t i = 0; i < table->row_count; i++) {
		if (has_label(&table->rows[i], label))
			return &table->rows[i];
	}
	fail_msg("no row %s", label);
	return NULL;
}

static const struct cell *cell_of(const struct table *table, const struct table_row *row, enum column column)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].column == (unsigned int)column)
			return &row->cells[i];
	}
	fail_msg("no column");
	return NULL;
}

static uint64_t number_of(const struct table *table, const struct table_row *row, enum column column)
{
	const struct cell *cell = cell_of(table, row, column);

	return cell->state == CELL_VALUE ? cell->value.integer : 0;
}

struct shown {
	uint64_t cpu_ns, born, ended;
};

/* Adds what the rows of a name say of the last round; all of its CPU time is there. Returns their number. */
static size_t add_shown(struct shown *shown, const char *name)
{
	struct table *table = table_of(AXIS_PROCESS);
	size_t count = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		if (!has_label(&table->rows[i], name))
			continue;
		count++;
		shown->cpu_ns += number_of(table, &table->rows[i], COLUMN_CPU);
		shown->born += number_of(table, &table->rows[i], COLUMN_BORN);
		shown->ended += number_of(table, &table->rows[i], COLUMN_ENDED);
	}
	table_release(table);
	return count;
}

/* Messages are lost while nobody takes them in: measured again. */
static bool lost_messages(struct measurement *measurement)
{
	if (by_messages)
		measure_between(measurement, "threads of which no message came",
				(double)session_now(session)->ended->lost, 0, 0);
	return measurement->is_off;
}

/* The kernel frees an ended task after a grace period of RCU. */
static void wait_until_freed(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	sleep_ms(RCU_MS);
}

static uint64_t usage_ns(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * NS_PER_US;
}

static uint64_t children_ns(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	return usage_ns(&usage);
}

/* Times of the host's CPUs between two rounds, as sampled by the tick: the sum of these kinds of
 * proc_stat(5). */
static uint64_t ticks_ns(const struct snapshot *from, const struct snapshot *to, const char *kinds)
{
	uint64_t ticks = 0;

	for (; *kinds != '\0'; kinds++)
		ticks += to->provenance.cpu_ticks[*kinds - '0'] - from->provenance.cpu_ticks[*kinds - '0'];
	return ticks * NS_PER_TICK;
}

/* The times that they ran threads: user, nice, system, irq, softirq. */
static uint64_t host_ns(const struct snapshot *from, const struct snapshot *to)
{
	return ticks_ns(from, to, "01256");
}

/* The times that they were in interrupts: irq, softirq. */
static uint64_t interrupts_ns(const struct snapshot *from, const struct snapshot *to)
{
	return ticks_ns(from, to, "56");
}

/*
 * The time that they ran as it is measured: all but what they were idle or taken away (idle, iowait, steal).
 * Ticks that come late are lost (account_process_tick()).
 */
static uint64_t busy_ns(const struct snapshot *from, const struct snapshot *to)
{
	return (to->provenance.cpu_ticks_at_ns - from->provenance.cpu_ticks_at_ns) *
		       (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) -
	       ticks_ns(from, to, "347");
}

/* Whether the tick saw what the CPUs did between two rounds: much of it is missed where a machine is
 * emulated. */
static bool ticks_tell(const struct snapshot *from, const struct snapshot *to)
{
	const uint64_t busy = busy_ns(from, to);

	return host_ns(from, to) >= busy - busy / 30;
}

/* For good: what follows is done by a user without any right. */
static int set_up_nobody(void **state)
{
	const gid_t nogroup = 65534;
	const uid_t nobody = 65534;

	(void)state;
	/* without capabilities, even root is such a user */
	if (has_capability(CAP_SETUID) &&
	    (setgroups(0, NULL) != 0 || setresgid(nogroup, nogroup, nogroup) != 0 ||
	     setresuid(nobody, nobody, nobody) != 0))
		fail_msg("cannot become another user: %s", strerror(errno));
	return set_up_with(CAPTURE_BACKEND_PROCFS);
}

/* Keeps every CPU busy, so that the tick samples no idle time: two of the lowest priority for each. */
static size_t start_spinners(pid_t spinners[static 64])
{
	const struct sched_param parameters = {0};
	size_t count = (size_t)sysconf(_SC_NPROCESSORS_ONLN) * 2;

	if (count > 64)
		skip_test("too many CPUs to keep busy");
	for (size_t i = 0; i < count; i++) {
		spinners[i] = fork();
		if (spinners[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sched_setscheduler(0, SCHED_IDLE, &parameters);
			for (;;)
				;
		}
	}
	return count;
}

static void end_spinners(const pid_t spinners[static 64], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		kill(spinners[i], SIGKILL);
		waitpid(spinners[i], NULL, 0);
	}
}

/* fork(2), with a child that begins in a cgroup. */
static pid_t fork_into(int cgroup)
{
	const struct clone_args arguments = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (unsigned int)cgroup,
	};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

/*
 * Starts processes that run for 1 ms under another name and end, in a cgroup unless that is -1. With a file
 * that is open for direct I/O each of them writes a block of it and reads it.
 */
static size_t start_storm(unsigned int seconds, int cgroup, int file)
{
	static _Alignas(4096) char block[BLOCK_BYTES];
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	size_t count = 0;

	for (uint64_t now = begin; now < begin + seconds * NS_PER_S; now = clock_ns(CLOCK_MONOTONIC)) {
		const uint64_t due = begin + ++count * NS_PER_S / STORM_RATE;
		const pid_t child = cgroup >= 0 ? fork_into(cgroup) : fork();
		int status;

		assert_true(child >= 0);
		if (child == 0) {
			prctl(PR_SET_NAME, names.storm);
			spin_ms(1);
			_exit(file >= 0 && (pwrite(file, block, sizeof(block), 0) != BLOCK_BYTES ||
					    pread(file, block, sizeof(block), 0) != BLOCK_BYTES));
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		(void)capture_serve_ended(capture); /* as between all rounds: others may end beside them */
		if (due > now)
			usleep((useconds_t)((due - now) / 1000));
	}
	return count;
}

static uint64_t sum_of(const struct table *table, enum column column)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < table->row_count; i++)
		sum += number_of(table, &table->rows[i], column);
	return sum;
}

/* User and system time of threads that are gone are in whole ticks, and never more than what they ran. */
static void expect_ticks_below(const char *name, uint64_t ran_ns)
{
	struct table *table = table_on(TAB_RUN, AXIS_PROCESS, WINDOW_MODE_INTERVAL);
	const struct table_row *row = row_of(table, name);

	assert_true(cell_of(table, row, COLUMN_USER)->partial);
	assert_true(cell_of(table, row, COLUMN_SYS)->partial);
	assert_true(number_of(table, row, COLUMN_USER) + number_of(table, row, COLUMN_SYS) <= ran_ns);
	table_release(table);
}

/*
 * All processes of a storm are counted, with what they ran, and the rows make up the host: by more or less
 * where a hypervisor takes the CPUs, which threads and the host's times feel at different moments.
 */
static void test_storm(void **state)
{
	const struct snapshot *now, *before;
	pid_t spinners[64];
	size_t spinner_count, count;
	uint64_t own, sum, host, unsure, shown;
	const struct table_row *row;
	struct session_storm storm;
	struct table *table;

	(void)state;
	need_processes_of_exits();
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		spinner_count = start_spinners(spinners);
		take_round();
		own = children_ns();
		count = start_storm(STORM_SECONDS, -1, -1);
		own = children_ns() - own;
		wait_until_freed();
		take_round();
		end_spinners(spinners, spinner_count);
		if (lost_messages(&measurement))
			continue;
		now = session_now(session);
		before = session_previous(session);
		table = table_of(AXIS_PROCESS);
		row = row_of(table, names.storm);
		assert_int_equal(row->threads, 0);
		assert_int_equal(number_of(table, row, COLUMN_ENDED), count);
		assert_int_equal(number_of(table, row, COLUMN_BORN), count);
		/*
		 * A message is sent before the memory is freed; by then each has run for as long as it was
		 * told to. It cannot tell that from time that a hypervisor took.
		 */
		shown = number_of(table, row, COLUMN_CPU);
		if (by_messages) {
			assert_true(cell_of(table, row, COLUMN_CPU)->partial);
			assert_between("their CPU time", shown, count * MS(1) - count * MS(1) / 20,
				       own + ticks_ns(before, now, "7"));
		} else {
			assert_between("their CPU time", shown, own - own / 50, own + own / 50);
			expect_ticks_below(names.storm, shown);
		}
		sum = sum_of(table, COLUMN_CPU);
		host = busy_ns(before, now);
		/*
		 * Rows are read while the rounds go on, the host's time at one moment of each; and whether
		 * interrupts are part of the rows depends on the kernel (CONFIG_IRQ_TIME_ACCOUNTING). A
		 * message lacks a part of what others did that end beside them, nobody knows how much.
		 */
		unsure = host / 50 + (now->provenance.duration_ns + before->provenance.duration_ns) *
					     (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
		measure_between(&measurement, "CPU time of all rows", (double)sum,
				(double)(by_messages ? shown : host - interrupts_ns(before, now) - unsure),
				(double)(host + unsure));
		if (count > 150 * (STORM_SECONDS + 1)) {
			assert_true(session_find_storm(session, &storm));
			/* another may rage beside it */
			assert_true(number_of(table, row_of(table, storm.names[0]), COLUMN_ENDED) >=
				    number_of(table, row, COLUMN_ENDED));
		}
		table_release(table);
	}
	if (!by_messages)
		return;
	/* a message does not tell its cgroup */
	table = table_of(AXIS_CGROUP);
	assert_true(number_of(table, row_of(table, "(ended)"), COLUMN_ENDED) >= count);
	table_release(table);
}

/* Waits for the end of a child. Returns what it ran in all, ns, by its parent's rusage: its run time, but
 * shared out between user and system (cputime_adjust() of the kernel) and cut to microseconds. */
static uint64_t await_child(pid_t child)
{
	struct rusage usage;

	assert_int_equal(wait4(child, NULL, 0, &usage), child);
	return usage_ns(&usage);
}

/* The run time so far of a process with one thread that sleeps, ns: the first number of schedstat. */
static uint64_t ran_ns(pid_t process)
{
	char path[64], *text;
	uint64_t ran;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)process);
	text = read_file(path, NULL);
	assert_non_null(text);
	ran = strtoull(text, NULL, 10);
	free(text);
	return ran;
}

/* The same of a zombie, which may still have some way to go when its parent is told: when it has left its
 * CPU. */
static uint64_t zombie_ran_ns(pid_t process)
{
	uint64_t before, now = ran_ns(process);

	do {
		usleep(50000);
		before = now;
		now = ran_ns(process);
	} while (now != before);
	return now;
}

/* Threads of the last round count with their work since then, under the last name. */
static void test_seen_before(void **state)
{
	int go[2], ready[2];
	pid_t child;
	char byte;
	struct shown former = {0}, shown = {0}, left = {0};
	uint64_t own;

	(void)state;
	need_exits();
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, names.first);
		spin_ms(500);
		if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(1);
		prctl(PR_SET_NAME, names.last);
		spin_ms(200);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	wait_for_state(child, child, 'S'); /* so that all of its run time is charged */
	own = ran_ns(child);
	take_round();
	assert_int_equal(write(go[1], "", 1), 1);
	own = await_child(child) - own;
	take_round();
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(ready[i]);
	}
	assert_int_equal(add_shown(&former, names.first), 0);
	add_shown(&shown, names.last);
	assert_between("CPU time after the round", shown.cpu_ns, MS(200 - TICK_MS), own + MS(TAIL_MS));
	assert_int_equal(shown.born, 0);
	assert_int_equal(shown.ended, 1);
	/* and nothing of it is left for the next one */
	wait_until_freed();
	take_round();
	add_shown(&left, names.last);
	assert_between("CPU time left", left.cpu_ns, 0, own + MS(TAIL_MS) - shown.cpu_ns);
}

static void *short_life(void *argument)
{
	(void)argument;
	pthread_setname_np(pthread_self(), names.life);
	return NULL;
}

/*
 * Nobody may watch what ends: then the CPU time of the host that no thread has is theirs, and all rows
 * together have that of the host. Interrupts are part of neither.
 */
static void test_left(void **state)
{
	const struct snapshot *now, *before;
	uint64_t own, host, unsure;
	pid_t spinners[64];
	size_t spinner_count;
	double busy, rate;
	struct table *table;

	(void)state;
	if (!ended_set_is_left(session_now(session)))
		skip_test("not every process of the host is seen, or what ends is watched");
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		spinner_count = start_spinners(spinners);
		take_round();
		own = children_ns();
		start_storm(STORM_SECONDS, -1, -1);
		own = children_ns() - own;
		take_round();
		end_spinners(spinners, spinner_count);
		now = session_now(session);
		before = session_previous(session);
		table = table_of(AXIS_PROCESS);
		host = host_ns(before, now) - interrupts_ns(before, now);
		busy = (double)host /
		       (double)(now->provenance.cpu_ticks_at_ns - before->provenance.cpu_ticks_at_ns);
		unsure = host / 50 + (now->provenance.duration_ns + before->provenance.duration_ns) *
					     (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
		/* others may end beside them */
		if (ticks_tell(before, now))
			measure_between(&measurement, "CPU time of what ended",
					(double)number_of(table, row_of(table, "(ended)"), COLUMN_CPU),
					(double)(own - own / 4) - (double)unsure, (double)host);
		measure_between(&measurement, "CPU time of all rows", (double)sum_of(table, COLUMN_CPU),
				(double)(host - unsure), (double)(host + unsure));
		table_release(table);
		table = table_in(AXIS_PROCESS, WINDOW_MODE_RATE);
		rate = 0;
		for (size_t i = 0; i < table->row_count; i++) {
			const struct cell *cell = cell_of(table, &table->rows[i], COLUMN_CPU);

			rate += cell->state == CELL_VALUE ? cell->value.real : 0;
		}
		measure_between(&measurement, "CPU time of all rows in CPUs", rate / 100, busy * 0.98,
				busy * 1.02);
		table_release(table);
	}
}

static uint64_t end_threads(size_t count)
{
	struct table *table;
	const struct table_row *row;
	uint64_t ended;

	take_round();
	for (size_t i = 0; i < count; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, short_life, NULL), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		(void)capture_serve_ended(capture);
	}
	wait_until_freed();
	take_round();
	table = table_of(AXIS_THREAD);
	/* they are of the program that captures, which messages tell, but not the sums of BPF programs */
	row = row_of(table, by_messages ? name_self.text : names.life);
	ended = number_of(table, row, COLUMN_ENDED);
	assert_true(number_of(table, row, COLUMN_CPU) > 0);
	table_release(table);
	return ended;
}

/*
 * Thousands of threads of a process that lives on. Linux 6.18 frees some tasks, a few in a row, without the
 * event sched_process_free; their ends were noted.
 */
static void test_threads(void **state)
{
	enum {
		THREADS = 5000,
	};

	(void)state;
	need_processes_of_exits();
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		const uint64_t ended = end_threads(THREADS);

		if (!lost_messages(&measurement))
			assert_int_equal(ended, THREADS);
	}
}

/* A zombie has a row until it is waited for; it counts once. */
static void test_zombie(void **state)
{
	struct shown shown = {0};
	uint64_t own = 0;
	siginfo_t info;
	pid_t child;

	(void)state;
	need_exits();
	take_round();
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, names.zombie);
		spin_ms(100);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	for (int round = 0; round < 3; round++) {
		if (round == 1)
			own = await_child(child);
		wait_until_freed();
		take_round();
		add_shown(&shown, names.zombie);
	}
	assert_between("CPU time of a zombie", shown.cpu_ns, MS(100), own + MS(TAIL_MS));
	assert_int_equal(shown.ended, 1);
	assert_int_equal(shown.born, 1);
}

/* A process of the storm that runs for so long. */
static void run_process(unsigned int milliseconds)
{
	const pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_NAME, names.storm);
		spin_ms(milliseconds);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
}

#ifdef HAS_BPF

/* Starts a reader of RCU on a CPU: until it is told to end, the kernel frees no task. */
static pid_t start_rcu_reader(struct rcu_reader *object, size_t cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	pid_t child;
	cpu_set_t cpus;

	object->bss->until_ns = clock_ns(CLOCK_MONOTONIC) + RCU_READER_SECONDS * NS_PER_S;
	child = fork();
	assert_true(child >= 0);
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		_exit(1);
	_exit(bpf_prog_test_run_opts(bpf_program__fd(object->progs.stay), &options) != 0);
}

/* The kernel is kept from freeing tasks until release_tasks(). */
struct held_tasks {
	struct rcu_reader *object;
	pid_t reader;
	cpu_set_t all;
};

static void hold_tasks(struct held_tasks *held)
{
	size_t cpu = CPU_SETSIZE;
	cpu_set_t others;

	assert_int_equal(sched_getaffinity(0, sizeof(held->all), &held->all), 0);
	if (CPU_COUNT(&held->all) < 2)
		skip_test("needs two CPUs: the reader of RCU keeps one");
	while (!CPU_ISSET(--cpu, &held->all))
		;
	others = held->all;
	CPU_CLR(cpu, &others);
	held->object = rcu_reader__open_and_load();
	assert_non_null(held->object);
	held->reader = start_rcu_reader(held->object, cpu);
	assert_int_equal(sched_setaffinity(0, sizeof(others), &others), 0);
}

/* Whether nothing was freed so far: the reader is there. It leaves before the kernel complains, even if the
 * test is late: then the case is measured again. */
static bool are_held(const struct held_tasks *held, struct measurement *measurement)
{
	siginfo_t left = {0};

	assert_int_equal(waitid(P_PID, (id_t)held->reader, &left, WEXITED | WNOHANG | WNOWAIT), 0);
	measure_between(measurement, "readers of RCU that have left", left.si_pid != 0, 0, 0);
	return !measurement->is_off;
}

static void release_tasks(struct held_tasks *held)
{
	held->object->bss->until_ns = 0;
	assert_int_equal(waitpid(held->reader, NULL, 0), held->reader);
	assert_int_equal(sched_setaffinity(0, sizeof(held->all), &held->all), 0);
	wait_until_freed();
	rcu_reader__destroy(held->object);
}

/*
 * A process does more after it has told its end, closing files; a round reads all of it from the zombie,
 * which is waited for, and freed a round later. Nothing counts twice.
 */
static void test_zombie_freed_late(void **state)
{
	enum {
		FILES = 1000,
	};
	struct held_tasks held;
	uint64_t run_time;
	siginfo_t info;
	pid_t child;

	(void)state;
	need_exits();
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		struct shown shown = {0};

		hold_tasks(&held);
		take_round();
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			prctl(PR_SET_NAME, names.storm);
			for (int i = 0; i < FILES; i++)
				(void)eventfd(0, 0);
			spin_ms(10);
			_exit(0);
		}
		assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
		run_time = zombie_ran_ns(child);
		for (int round = 0; round < 3; round++) {
			if (round == 1)
				assert_int_equal(waitpid(child, NULL, 0), child);
			if (round == 2)
				release_tasks(&held);
			else
				are_held(&held, &measurement);
			take_round();
			add_shown(&shown, names.storm);
		}
		if (measurement.is_off)
			continue;
		assert_int_equal(shown.cpu_ns, run_time);
		assert_int_equal(shown.born, 1);
		assert_int_equal(shown.ended, 1);
	}
}

/* Tasks are freed rounds after they ended: each counts in the round in which it ended, once and in full. */
static void test_freed_late(void **state)
{
	enum {
		ROUNDS = 3,
		STORM_MS = 10,
		PROCESSES = 10,    /* a round, in much less time than the reader stays */
		REST_SECONDS = 10, /* until the rest of what they ran is there */
	};
	struct held_tasks held;
	uint64_t own;

	(void)state;
	need_exits();
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		struct shown sum = {0};

		hold_tasks(&held);
		own = children_ns();
		for (int i = 0; i < ROUNDS; i++) {
			const uint64_t ran = children_ns();
			struct shown shown = {0};

			for (int process = 0; process < PROCESSES; process++)
				run_process(STORM_MS);
			take_round();
			add_shown(&sum, names.storm);
			if (!are_held(&held, &measurement))
				continue;
			add_shown(&shown, names.storm);
			assert_int_equal(shown.born, PROCESSES);
			assert_int_equal(shown.ended, PROCESSES);
			/* what giving back their memory takes may come later */
			assert_between("CPU time of a round", shown.cpu_ns, MS(PROCESSES * STORM_MS),
				       children_ns() - ran);
		}
		own = children_ns() - own;
		release_tasks(&held);
		(void)wait_at_most(REST_SECONDS, (take_round(), add_shown(&sum, names.storm),
						  sum.cpu_ns >= own - own / 50));
		assert_int_equal(sum.born, ROUNDS * PROCESSES);
		assert_int_equal(sum.ended, ROUNDS * PROCESSES);
		measure_between(&measurement, "CPU time in all in ns", (double)sum.cpu_ns,
				(double)(own - own / 50), (double)(own + own / 50));
	}
}

#endif

/* Moves the caller into a cgroup. */
static void enter(const char *path)
{
	char procs[600];
	FILE *file;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	file = fopen(procs, "w");
	if (file == NULL || fputs("0", file) < 0 || fclose(file) != 0)
		_exit(1);
}

static bool has_member(const char *path)
{
	char procs[600];
	FILE *file;
	int first;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	file = fopen(procs, "re");
	first = file != NULL ? fgetc(file) : EOF;
	if (file != NULL)
		fclose(file);
	return first != EOF;
}

/* A cgroup of the test below the root. */
struct cgroup {
	char name[64], path[512];
	int directory;
};

static void make_cgroup(struct cgroup *cgroup, const char *purpose)
{
	const char *root = session_now(session)->provenance.roots[ROOT_CGROUP];

	snprintf(cgroup->name, sizeof(cgroup->name), "/ctop-%s-%d", purpose, getpid());
	snprintf(cgroup->path, sizeof(cgroup->path), "%s%s", root != NULL ? root : "", cgroup->name);
	if (root == NULL || test_cgroup_make(cgroup->path) != 0)
		skip_test("no cgroup can be made here");
	cgroup->directory = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(cgroup->directory >= 0);
}

static void remove_cgroup(const struct cgroup *cgroup)
{
	close(cgroup->directory);
	test_cgroup_remove(cgroup->path);
}

/* The sum of the numbers behind `key` in a file of a cgroup; 0 without any. */
static uint64_t cgroup_counter(const struct cgroup *cgroup, const char *file, const char *key)
{
	char path[600];
	char *text;
	uint64_t sum = 0;

	snprintf(path, sizeof(path), "%s/%s", cgroup->path, file);
	text = read_file(path, NULL);
	for (const char *at = text; at != NULL && (at = strstr(at, key)) != NULL;) {
		at += strlen(key);
		sum += strtoull(at, NULL, 10);
	}
	free(text);
	return sum;
}

/* A file for direct I/O with one block on its storage, so that writing it again writes nothing else; -1:
 * none. */
static int open_block(void)
{
	static _Alignas(4096) char block[BLOCK_BYTES];
	const int file = open("/var/tmp", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);

	if (file >= 0 && (pwrite(file, block, sizeof(block), 0) != BLOCK_BYTES || fsync(file) != 0)) {
		close(file);
		return -1;
	}
	return file;
}

struct counted {
	uint64_t cpu_ns, ended, read_bytes, written_bytes;
};

/* Adds what the row of a cgroup with one member says of the last round. */
static void add_counted(struct counted *counted, const struct cgroup *cgroup)
{
	struct table *table = table_of(AXIS_CGROUP);
	const struct table_row *row = row_of(table, cgroup->name);

	assert_int_equal(row->threads, 1);
	counted->cpu_ns += number_of(table, row, COLUMN_CPU);
	counted->ended += number_of(table, row, COLUMN_ENDED);
	counted->read_bytes += number_of(table, row, COLUMN_READ);
	counted->written_bytes += number_of(table, row, COLUMN_WRITE);
	table_release(table);
}

/*
 * On the axis of cgroups it is what the cgroup counts: of processes that come and go in it, and of one that
 * stays, and sleeps whenever somebody reads.
 */
static void test_cgroup(void **state)
{
	const int file = open_block();
	uint64_t usage, read_bytes, written_bytes;
	struct counted counted = {0};
	struct cgroup cgroup;
	int go[2], ready[2];
	size_t count;
	pid_t member;
	char byte;

	(void)state;
	need_exits();
	make_cgroup(&cgroup, "counts");
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	member = fork_into(cgroup.directory);
	if (member < 0) {
		remove_cgroup(&cgroup);
		skip_test("no process can be started in a cgroup here");
	}
	if (member == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			spin_ms(200);
			if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 1)
				_exit(1);
		}
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	wait_until_freed();
	usage = cgroup_counter(&cgroup, "cpu.stat", "usage_usec ");
	read_bytes = cgroup_counter(&cgroup, "io.stat", " rbytes=");
	written_bytes = cgroup_counter(&cgroup, "io.stat", " wbytes=");
	take_round();
	assert_int_equal(write(go[1], "", 1), 1);
	count = start_storm(STORM_SECONDS, cgroup.directory, file);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	wait_until_freed();
	take_round();
	usage = (cgroup_counter(&cgroup, "cpu.stat", "usage_usec ") - usage) * 1000;
	read_bytes = cgroup_counter(&cgroup, "io.stat", " rbytes=") - read_bytes;
	written_bytes = cgroup_counter(&cgroup, "io.stat", " wbytes=") - written_bytes;
	add_counted(&counted, &cgroup);
	/* a busy kernel may not have freed all of them yet */
	wait_until(counted.cpu_ns >= usage - usage / 50 ||
		   (take_round(), add_counted(&counted, &cgroup), counted.cpu_ns >= usage - usage / 50));
	kill(member, SIGKILL);
	waitpid(member, NULL, 0);
	remove_cgroup(&cgroup);
	close(go[0]);
	close(go[1]);
	close(ready[0]);
	if (file >= 0)
		close(file);
	assert_int_equal(counted.ended, count);
	assert_between("CPU time of the cgroup", counted.cpu_ns, usage - usage / 50, usage + usage / 500);
	if (written_bytes != 0) {
		assert_true(written_bytes >= count * BLOCK_BYTES);
		assert_int_equal(counted.read_bytes, read_bytes);
		assert_int_equal(counted.written_bytes, written_bytes);
	}
	if (written_bytes == 0)
		skip_test("%s", file < 0 ? "/var/tmp takes no direct I/O" : "the cgroup does not count I/O");
}

/* A cgroup that a round has met keeps its name when it is removed. */
static void test_removed_cgroup(void **state)
{
	struct cgroup cgroup;
	struct table *table;
	pid_t member, child;
	uint64_t own;

	(void)state;
	need_exits();
	make_cgroup(&cgroup, "removed");
	member = fork();
	if (member == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		enter(cgroup.path);
		for (;;)
			pause();
	}
	await("the process is in the cgroup", has_member(cgroup.path));
	take_round();
	own = ran_ns(member);
	kill(member, SIGKILL);
	own = await_child(member) - own;
	child = fork();
	if (child == 0) {
		enter(cgroup.path);
		spin_ms(20);
		_exit(0);
	}
	own += await_child(child);
	wait_until_freed();
	remove_cgroup(&cgroup);
	take_round();
	table = table_of(AXIS_CGROUP);
	assert_between("CPU time of what was in it", number_of(table, row_of(table, cgroup.name), COLUMN_CPU),
		       MS(20), own + 2 * MS(TAIL_MS));
	assert_int_equal(number_of(table, row_of(table, cgroup.name), COLUMN_ENDED), 2);
	table_release(table);
}

/* Identifies the map of the programs behind a descriptor; false for other descriptors. */
static bool is_map(int descriptor, const char *name)
{
	struct bpf_map_info info = {0};
	union bpf_attr request = {
		.info = {.bpf_fd = (uint32_t)descriptor, .info_len = sizeof(info), .info = (uintptr_t)&info}};

	return syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &request, sizeof(request)) == 0 &&
	       strcmp(info.name, name) == 0;
}

/* The descriptor of a map of this process, which is then made to be no map. */
static int take_away(const char *name, int *ret_saved)
{
	const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int descriptor = 0;

	assert_true(nothing >= 0);
	while (descriptor < 1024 && !is_map(descriptor, name))
		descriptor++;
	assert_int_not_equal(descriptor, 1024);
	*ret_saved = dup(descriptor);
	assert_true(*ret_saved >= 0);
	assert_int_equal(dup2(nothing, descriptor), descriptor);
	close(nothing);
	return descriptor;
}

static void give_back(int descriptor, int saved)
{
	assert_int_equal(dup2(saved, descriptor), descriptor);
	close(saved);
}

static void *named_life(void *argument)
{
	pthread_setname_np(pthread_self(), argument);
	return NULL;
}

/* Lets threads come and go, each with a name of its own. */
static void run_names(unsigned int first, unsigned int count)
{
	prctl(PR_SET_NAME, names.names);
	for (unsigned int i = first; i < first + count; i++) {
		pthread_t thread;
		char name[16];

		snprintf(name, sizeof(name), "name-%u", i);
		assert_int_equal(pthread_create(&thread, NULL, named_life, name), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	wait_until_freed();
}

/*
 * Counts those threads that ended, and in `*ret_others` all others, those beside names that are kept
 * included.
 * `*ret_partial`: that, and the CPU time of each row, are lower bounds.
 */
static uint64_t names_ended(enum window_mode mode, uint64_t *ret_others, bool *ret_partial)
{
	struct table *table = table_in(AXIS_PROCESS, mode);
	uint64_t sum = 0;

	*ret_others = 0;

	*ret_partial = true;
	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *cpu = cell_of(table, &table->rows[i], COLUMN_CPU);

		*(has_label(&table->rows[i], names.names) ? &sum : ret_others) += number_of(
			table, &table->rows[i], COLUMN_ENDED);
		*ret_partial &= cell_of(table, &table->rows[i], COLUMN_ENDED)->partial &&
				(cpu->state != CELL_VALUE || cpu->partial);
	}
	table_release(table);
	return sum;
}

/* More names than fit: lost threads are counted, and no sum is shown as whole. */
static void test_lost(void **state)
{
	enum {
		NAMES = 24000, /* 16,384 fit */
		PROCESSES = 20,
	};
	uint64_t others;
	bool partial;

	(void)state;
	need_exits();
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		struct shown shown = {0};

		take_round();
		for (int i = 0; i < PROCESSES; i++)
			run_process(1);
		run_names(0, NAMES);
		take_round();
		/* names of many threads are kept, whatever else came */
		add_shown(&shown, names.storm);
		assert_int_equal(shown.ended, PROCESSES);
		/* those that the kernel has not freed by the round, which may be many, need no room yet */
		measure_between(&measurement, "threads that were lost",
				(double)session_now(session)->ended->lost, 1, NAMES - NAMES / 4);
	}
	assert_true(names_ended(WINDOW_MODE_INTERVAL, &others, &partial) + others >= NAMES);
	assert_true(partial);
	take_round();
	assert_int_equal(session_now(session)->ended->lost, 0);
	names_ended(WINDOW_MODE_INTERVAL, &others, &partial);
	assert_false(partial);
	names_ended(WINDOW_MODE_BASE, &others, &partial);
	assert_true(partial);
}

/*
 * Names come and go for ever: those of an interval always fit, and none is counted twice. By turns they are
 * more than the programs can list, and few that come again.
 */
static void test_many_names(void **state)
{
	enum {
		ROUNDS = 12,
		NAMES = 3000,
		FEW = 50,
	};
	uint64_t ended, others;
	bool partial;

	(void)state;
	need_exits();
	wait_until_freed(); /* threads of ctop's own, too, that ended when it began */
	take_round();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const bool is_many = i % 2 == 0;

		run_names(is_many ? i * NAMES : 0, is_many ? NAMES : FEW);
		take_round();
		assert_int_equal(session_now(session)->ended->lost, 0);
		ended = names_ended(WINDOW_MODE_INTERVAL, &others, &partial);
		assert_int_equal(ended, is_many ? NAMES : FEW);
		assert_false(partial);
	}
}

/* Processes end all the time while rounds follow each other: each is counted once. */
static void test_read_meanwhile(void **state)
{
	enum {
		PROCESSES = 3000,
	};
	struct shown shown = {0};
	int ended[2], status;
	pid_t child;
	char byte;

	(void)state;
	need_exits();
	assert_int_equal(pipe2(ended, O_CLOEXEC | O_NONBLOCK), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < PROCESSES; i++) {
			const pid_t process = fork();

			if (process == 0) {
				prctl(PR_SET_NAME, names.storm);
				_exit(0);
			}
			if (process < 0 || waitpid(process, NULL, 0) != process)
				_exit(1);
		}
		_exit(0);
	}
	close(ended[1]);
	/* until all that might write to it are gone */
	while (read(ended[0], &byte, 1) < 0) {
		take_round();
		add_shown(&shown, names.storm);
	}
	close(ended[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	await("the last of them", shown.ended >= PROCESSES || (take_round(), add_shown(&shown, names.storm),
							       shown.ended >= PROCESSES));
	wait_until_freed();
	take_round();
	add_shown(&shown, names.storm);
	assert_int_equal(shown.ended, PROCESSES);
}

/* The maps of the programs that a round may read. */
static const char *const map_names[] = {"sums", "threads", "ending"};

static void expect_unread(const char *map, unsigned int count)
{
	uint64_t ended = 0, others;
	bool partial;
	int descriptor, saved;

	wait_until_freed(); /* threads of ctop's own, too, that ended when it began */
	take_round();
	descriptor = take_away(map, &saved);
	run_names(0, count);
	/* sums change when the kernel frees a task, which it may do late on a busy host */
	await("a round that could not read",
	      (take_round(), ended += names_ended(WINDOW_MODE_INTERVAL, &others, &partial),
	       session_now(session)->ended->unread));
	give_back(descriptor, saved);
	assert_true(partial);
	take_round();
	assert_false(session_now(session)->ended->unread);
	ended += names_ended(WINDOW_MODE_INTERVAL, &others, &partial);
	assert_false(partial);
	assert_int_equal(ended, count);
}

/* Threads that could not be read are marked, and told in another round: few, and more than are listed. */
static void test_unread(void **state)
{
	(void)state;
	need_exits();
	for (size_t i = 0; i < sizeof(map_names) / sizeof(map_names[0]); i++) {
		expect_unread(map_names[i], 50);
		expect_unread(map_names[i], 3000);
	}
}

/* A process that sleeps until it is killed. */
static pid_t start_sleeper(void)
{
	const pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(child > 0);
	return child;
}

/* Watches one process alone from here on. */
static void watch_alone(void **state, const uint32_t *process)
{
	const struct capture_options options = {.scope = process, .scope_count = 1};
	struct error error;

	tear_down(state);
	if (capture_open(&options, &capture, &error) < 0)
		fail_msg("%s", error.text);
	session = session_create();
	take_round();
	need_exits();
}

/* Where nothing has ended a round reads no map. */
static void test_nothing_ended(void **state)
{
	const pid_t child = start_sleeper();
	const uint32_t scope = (uint32_t)child;
	int descriptors[sizeof(map_names) / sizeof(map_names[0])];
	int saved[sizeof(map_names) / sizeof(map_names[0])];

	watch_alone(state, &scope);
	for (size_t i = 0; i < sizeof(map_names) / sizeof(map_names[0]); i++)
		descriptors[i] = take_away(map_names[i], &saved[i]);
	take_round();
	for (size_t i = 0; i < sizeof(map_names) / sizeof(map_names[0]); i++)
		give_back(descriptors[i], saved[i]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_false(session_now(session)->ended->unread);
}

/* The kernel's counts are known as soon as a thread has ended, though it may be freed much later. */
static void test_first_end(void **state)
{
	const pid_t child = start_sleeper();
	const uint32_t scope = (uint32_t)child;
	siginfo_t ended;

	watch_alone(state, &scope);
	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
	take_round();
	for (size_t i = 0; i < ENDED_METRICS; i++) {
		if (ended_metrics[i] == METRIC_RCHAR)
			assert_int_equal(session_now(session)->ended->reasons[i], REASON_READ);
	}
	waitpid(child, NULL, 0);
}

/* --- execve(2) by other threads than the leader --- */

enum {
	EXECUTIONS = 200
};

/* The program's own name for itself; how often it executes itself yet. */
static char *execute_arguments[] = {NULL, NULL, NULL};

static void *execute_again(void *argument)
{
	spin_ms(1);
	execv(execute_arguments[0], execute_arguments);
	_exit(1);
	return argument;
}

/* The process of test_executions(), each time anew. It runs longest before the first round. */
static int execute(char *program, unsigned int left)
{
	char number[16], byte;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (left == EXECUTIONS) {
		spin_ms(40);
		if (write(STDOUT_FILENO, "", 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1)
			return 1;
	}
	/* it lives on until it was measured */
	if (left == 0)
		return write(STDOUT_FILENO, "", 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1;
	snprintf(number, sizeof(number), "%u", left - 1);
	execute_arguments[0] = program;
	execute_arguments[1] = number;
	if (pthread_create(&thread, NULL, execute_again, NULL) != 0)
		return 1;
	for (;;)
		pause();
}

/*
 * A thread that executes a program takes over its leader's id and start, and ends as a leader. What it did
 * counts, although its process is older than the last round and it is not. The cgroup tells how much that is:
 * getrusage(2) leaves out what a leader still runs once the thread has released it.
 */
static void test_executions(void **state)
{
	char path[64], number[16];
	int go[2], ready[2];
	struct shown shown = {0};
	struct cgroup cgroup;
	uint64_t usage;
	pid_t child;
	char byte;

	(void)state;
	need_exits();
	make_cgroup(&cgroup, "executions");
	snprintf(path, sizeof(path), "/tmp/%s", names.life);
	snprintf(number, sizeof(number), "%d", EXECUTIONS);
	unlink(path); /* of a run that failed */
	assert_int_equal(symlink("/proc/self/exe", path), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	child = fork_into(cgroup.directory);
	if (child == 0) {
		dup2(go[0], STDIN_FILENO);
		dup2(ready[1], STDOUT_FILENO);
		execl(path, path, number, (char *)NULL);
		_exit(1);
	}
	if (child < 0) {
		unlink(path);
		remove_cgroup(&cgroup);
		skip_test("no process can be started in a cgroup here");
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	wait_until_freed(); /* and until it sleeps */
	usage = cgroup_counter(&cgroup, "cpu.stat", "usage_usec ");
	take_round();
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	wait_until_freed();
	usage = (cgroup_counter(&cgroup, "cpu.stat", "usage_usec ") - usage) * NS_PER_US;
	/* no round has met the leader of now before: it counts from this one on */
	usage -= ran_ns(child);
	take_round();
	assert_int_equal(add_shown(&shown, names.life), 1);
	/* a busy kernel may not have freed all of them yet */
	await("the rest of what they ran",
	      shown.cpu_ns >= usage - usage / 500 ||
		      (take_round(), add_shown(&shown, names.life), shown.cpu_ns >= usage - usage / 500));
	assert_int_equal(write(go[1], "", 1), 1);
	waitpid(child, NULL, 0);
	unlink(path);
	remove_cgroup(&cgroup);
	close(go[0]);
	close(go[1]);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(shown.ended, EXECUTIONS);
	assert_between("their CPU time", shown.cpu_ns, usage - usage / 500, usage + usage / 500);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_storm, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_executions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_seen_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_zombie, set_up, tear_down),
#ifdef HAS_BPF
		cmocka_unit_test_setup_teardown(test_zombie_freed_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_freed_late, set_up, tear_down),
#endif
		cmocka_unit_test_setup_teardown(test_cgroup, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_removed_cgroup, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lost, set_up_names, tear_down_names),
		cmocka_unit_test_setup_teardown(test_many_names, set_up_names, tear_down_names),
		cmocka_unit_test_setup_teardown(test_read_meanwhile, set_up_names, tear_down_names),
		cmocka_unit_test_setup_teardown(test_unread, set_up_names, tear_down_names),
		cmocka_unit_test_setup_teardown(test_nothing_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_first_end, set_up, tear_down),
	};
	const struct CMUnitTest by_message_tests[] = {
		cmocka_unit_test_setup_teardown(test_storm, set_up_messages, tear_down),
		cmocka_unit_test_setup_teardown(test_seen_before, set_up_messages, tear_down),
		cmocka_unit_test_setup_teardown(test_threads, set_up_messages, tear_down),
		cmocka_unit_test_setup_teardown(test_zombie, set_up_messages, tear_down),
	};
	const struct CMUnitTest nobody_tests[] = {
		cmocka_unit_test_setup_teardown(test_left, set_up_nobody, tear_down),
	};
	int failed;

	if (argc == 2)
		return execute(argv[0], (unsigned int)strtoul(argv[1], NULL, 10));
	make_names();
	failed = cmocka_run_group_tests_name("what ended threads did", tests, NULL, NULL);

	failed += cmocka_run_group_tests_name("what ended threads did, by taskstats", by_message_tests, NULL,
					      NULL);
	failed += cmocka_run_group_tests_name("what ended threads did, as nobody", nobody_tests, NULL, NULL);
	return failed;
}
