/* SPDX-License-Identifier: GPL-2.0-only */
/* Full captures of processes of this host. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "live.h"
#include "tests/wait.h"

enum {
	WORKERS = 12,
};

struct worker {
	pthread_t thread;
	atomic_int tid;
	struct rusage usage;
	uint64_t cpu_ns;
	atomic_bool finished;
};

static struct worker workers[WORKERS];
static sem_t stop;

/* A niceness that is not that of the process, and that anybody may take, also where the tests run under
 * nice(1). */
static int nicer(void)
{
	int niceness = getpriority(PRIO_PROCESS, (id_t)getpid()) + 7;

	return niceness < 19 ? niceness : 19;
}

/* Spins, switches, faults and writes known amounts, notes what its own clocks say, and parks. */
static void *work(void *argument)
{
	struct worker *worker = argument;
	char name[16];
	struct timespec used;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	snprintf(name, sizeof(name), "full-%d", (int)(worker - workers));
	pthread_setname_np(pthread_self(), name);
	if (worker == &workers[1])
		setpriority(PRIO_PROCESS, 0, nicer());
	for (int i = 0; i < 10 * (int)(worker - workers); i++) {
		if (write(null, name, sizeof(name)) != sizeof(name))
			abort();
		live_sleep_ms(1);
	}
	live_spin_ms(20);
	close(null);
	atomic_store(&worker->tid, gettid());
	getrusage(RUSAGE_THREAD, &worker->usage);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	worker->cpu_ns = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
	atomic_store(&worker->finished, true);
	while (sem_wait(&stop) != 0)
		;
	return NULL;
}

static int start_workers(void **state)
{
	(void)state;
	sem_init(&stop, 0, 0);
	for (int i = 0; i < WORKERS; i++) {
		atomic_store(&workers[i].finished, false);
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return -1;
	}
	for (int i = 0; i < WORKERS; i++) {
		if (!wait_until(atomic_load(&workers[i].finished)))
			return -1;
	}
	return 0;
}

static int stop_workers(void **state)
{
	(void)state;
	for (int i = 0; i < WORKERS; i++)
		sem_post(&stop);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	return 0;
}

static void read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t length;

	assert_non_null(file);
	length = fread(text, 1, size - 1, file);
	text[length] = '\0';
	fclose(file);
}

static uint64_t value_of(const struct snapshot *snapshot, long row, enum metric metric)
{
	assert_int_equal(live_reason(snapshot, row, metric), REASON_READ);
	return snapshot_value(snapshot, (size_t)row, metric);
}

static void check_identity(const struct snapshot *snapshot, long leader)
{
	char text[256];

	read_text("/proc/self/comm", text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(live_comm(snapshot, leader), text);
	assert_int_equal(snapshot->uid[leader], getuid());
	assert_int_equal(value_of(snapshot, leader, METRIC_NR_THREADS), WORKERS + 1);
	assert_int_equal(snapshot->thread_count, WORKERS + 1);
	assert_true(snapshot->start_time[leader] != 0);
	assert_int_equal((char)value_of(snapshot, leader, METRIC_STATE), 'R');
}

/* The numbers of a worker against its own clocks, which are another way into the kernel. */
static void check_worker(const struct snapshot *snapshot, const struct worker *worker)
{
	int index = (int)(worker - workers);
	long row = live_row(snapshot, (uint32_t)getpid(), (uint32_t)worker->tid);
	char name[16];

	snprintf(name, sizeof(name), "full-%d", index);
	assert_int_not_equal(row, LIVE_NO_ROW);
	assert_string_equal(live_comm(snapshot, row), name);
	assert_string_equal(live_pcomm(snapshot, row), live_pcomm(snapshot, 0));
	assert_int_equal(snapshot_value(snapshot, (size_t)row, METRIC_NR_THREADS), 0);
	assert_int_equal((int64_t)value_of(snapshot, row, METRIC_NICE),
			 index == 1 ? nicer() : getpriority(PRIO_PROCESS, 0));
	assert_string_equal(snapshot_text(snapshot, (uint32_t)value_of(snapshot, row, METRIC_POLICY)),
			    "SCHED_OTHER");
	/* it parks since */
	assert_in_range(value_of(snapshot, row, METRIC_RUN_TIME_NS), worker->cpu_ns,
			worker->cpu_ns + 50000000);
	assert_true(value_of(snapshot, row, METRIC_TIMESLICES) != 0);
	assert_in_range(value_of(snapshot, row, METRIC_VOLUNTARY_CSW), (uint64_t)worker->usage.ru_nvcsw,
			(uint64_t)worker->usage.ru_nvcsw + 100);
	assert_in_range(value_of(snapshot, row, METRIC_MINFLT), (uint64_t)worker->usage.ru_minflt,
			(uint64_t)worker->usage.ru_minflt + 100);
	assert_int_equal(value_of(snapshot, row, METRIC_SYSCW), 10 * index);
	assert_int_equal(value_of(snapshot, row, METRIC_WCHAR), 160 * index);
}

static void check_affinity(const struct snapshot *snapshot, long row)
{
	uint32_t id = (uint32_t)value_of(snapshot, row, METRIC_CPU_AFFINITY);
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(cpu_set_count(&snapshot->cpu_sets, id), CPU_COUNT(&set));
	for (size_t i = 0; i < cpu_set_count(&snapshot->cpu_sets, id); i++)
		assert_true(CPU_ISSET(cpu_set_cpus(&snapshot->cpu_sets, id)[i], &set));
}

static void check_cgroup(const struct snapshot *snapshot, long row)
{
	char text[4096];
	char *line;

	read_text("/proc/self/cgroup", text, sizeof(text));
	line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (line == NULL) {
		assert_string_equal(live_cgroup(snapshot, row), "");
		return;
	}
	line += line == text ? 3 : 4;
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(live_cgroup(snapshot, row), line);
}

static size_t count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(directory);
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static void test_own_process(void **state)
{
	uint32_t scope = (uint32_t)getpid();
	size_t before = count_descriptors();
	struct capture *capture = live_open(&scope, 1);
	struct snapshot *snapshot = live_full(capture);
	long leader = live_row(snapshot, scope, scope);
	const struct smaps_record *smaps;

	(void)state;
	assert_int_equal(leader, 0);
	check_identity(snapshot, leader);
	check_affinity(snapshot, leader);
	check_cgroup(snapshot, leader);
	for (int i = 0; i < WORKERS; i++)
		check_worker(snapshot, &workers[i]);
	smaps = snapshot_find_smaps(snapshot, (size_t)leader);
	assert_non_null(smaps);
	assert_true(smaps->kib.count > 5);
	assert_int_equal(snapshot->smaps_count, 1);
	assert_true(snapshot->parse_summary.present);
	assert_int_equal(snapshot->parse_summary.tids_walked, WORKERS + 1);
	assert_int_equal(snapshot->parse_summary.read_failures, 0);
	assert_int_equal(snapshot->provenance.scope_count, 1);
	if (live_has_taskstats()) {
		assert_int_equal(snapshot->taskstats_summary.ok_count, WORKERS + 1);
		assert_int_equal(snapshot->provenance.tallies[SOURCE_TASKSTATS].read, WORKERS + 1);
		assert_int_equal(snapshot->provenance.tallies[SOURCE_SCHEDSTAT].read, 0);
		assert_true(value_of(snapshot, leader, METRIC_HIWATER_RSS_BYTES) >= 1 << 20);
	}
	snapshot_release(snapshot);
	capture_close(capture);
	assert_int_equal(count_descriptors(), before);
}

/* Rounds share what stays as it is; each holds it for as long as it lives. */
static void test_shared_origin(void **state)
{
	struct capture *capture = live_open((uint32_t[]){(uint32_t)getpid()}, 1);
	struct snapshot *first = live_round(capture), *second = live_round(capture);
	const struct provenance *origin = &second->provenance;

	(void)state;
	assert_ptr_equal(origin->boot_id, first->provenance.boot_id);
	snapshot_release(first);
	capture_close(capture);
	assert_true(origin->present);
	assert_int_equal(strlen(origin->boot_id), 36);
	assert_non_null(origin->hostname);
	assert_int_equal(origin->uid.value, getuid());
	assert_int_not_equal(origin->namespaces[NAMESPACE_PID], 0);
	assert_string_equal(origin->roots[ROOT_PROC], "/proc");
	snapshot_release(second);
}

/* Every thread of the host: order, names, sources that are never missing. */
static void test_whole_host(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	struct snapshot *snapshot = live_full(capture);

	(void)state;
	assert_true(snapshot->thread_count > WORKERS);
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		assert_true(live_comm(snapshot, (long)row)[0] != '\0' || snapshot->start_time[row] != 0);
		assert_true(row == 0 || snapshot->tgid[row] > snapshot->tgid[row - 1] ||
			    (snapshot->tgid[row] == snapshot->tgid[row - 1] &&
			     snapshot->tid[row] > snapshot->tid[row - 1]));
	}
	assert_int_equal(snapshot->parse_summary.tids_walked,
			 snapshot->thread_count + snapshot->provenance.ended);
	snapshot_release(snapshot);
	capture_close(capture);
}

static atomic_uint alive;

static void *vanish(void *argument)
{
	usleep((unsigned int)(uintptr_t)argument);
	atomic_fetch_sub(&alive, 1);
	return NULL;
}

/* Threads that live from nothing to three milliseconds, as fast as they can be made, in a process that bears
 * its name when this returns: however long it has to wait for a CPU, no round may be too early to meet it. */
static void churn(void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int named[2];
	char byte;
	pid_t child;

	(void)argument;
	if (pipe2(named, O_CLOEXEC) != 0 || (child = fork()) < 0)
		_exit(1);
	if (child != 0) {
		close(named[1]);
		if (read(named[0], &byte, 1) != 1)
			_exit(1);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_setname_np(pthread_self(), "short-lived");
	if (write(named[1], "n", 1) != 1)
		_exit(1);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 * 1024);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (uintptr_t i = 0;; i++) {
		/* on a busy host they would become more and more, until it has no thread ids left */
		if (atomic_fetch_add(&alive, 1) >= 200 ||
		    pthread_create(&thread, &attributes, vanish, (void *)(i % 7 * 500)) != 0) {
			atomic_fetch_sub(&alive, 1);
			usleep(1000);
		}
		if (i % 16 == 0)
			usleep(1000);
	}
}

/* A row is there whole or not at all, whatever ends while it is read. */
static void test_vanishing_threads(void **state)
{
	pid_t child = live_start(churn, NULL);
	struct capture *capture = live_open(NULL, 0);
	size_t before = count_descriptors();
	uint64_t ended = 0, seen = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct snapshot *snapshot = i % 2 == 0 ? live_full(capture) : live_round(capture);

		for (size_t row = 0; row < snapshot->thread_count; row++) {
			if (strcmp(live_pcomm(snapshot, (long)row), "short-lived") != 0)
				continue;
			seen++;
			assert_string_equal(live_comm(snapshot, (long)row), "short-lived");
			assert_true(snapshot->start_time[row] != 0);
			assert_true(snapshot_value(snapshot, row, METRIC_POLICY) != 0);
		}
		ended += snapshot->provenance.ended;
		snapshot_release(snapshot);
	}
	print_message("%llu rows of short threads, %llu ended while being read\n", (unsigned long long)seen,
		      (unsigned long long)ended);
	assert_true(seen >= 20); /* its first thread is there always */
	live_end(child);
	capture_close(capture);
	assert_true(count_descriptors() <= before);
}

/* A user without privileges, as assertions in a child that gave root up. */
static void check_unprivileged(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	struct snapshot *snapshot = live_full(capture), *round;
	long own = live_row(snapshot, (uint32_t)getpid(), (uint32_t)getpid());
	long init = live_row(snapshot, 1, 1);

	(void)state;
	assert_int_equal(snapshot->taskstats_summary.eperm_count, snapshot->parse_summary.tids_walked);
	assert_int_equal(snapshot->taskstats_summary.ok_count, 0);
	assert_int_equal(snapshot->metric_source[METRIC_RUN_TIME_NS], SOURCE_SCHEDSTAT);
	assert_true(value_of(snapshot, own, METRIC_RUN_TIME_NS) != 0);
	assert_true(value_of(snapshot, own, METRIC_RCHAR) != 0);
	value_of(snapshot, own, METRIC_VOLUNTARY_CSW);
	assert_int_equal(snapshot->uid[own], getuid());
	assert_int_equal(live_reason(snapshot, own, METRIC_CPU_DELAY_TOTAL_NS), REASON_NOT_PERMITTED);
	assert_int_equal(live_reason(snapshot, own, METRIC_HIWATER_RSS_BYTES), REASON_NOT_PERMITTED);
	if (init != LIVE_NO_ROW) { /* hidepid */
		assert_int_equal(live_reason(snapshot, init, METRIC_RCHAR), REASON_NOT_PERMITTED);
		assert_true(value_of(snapshot, init, METRIC_TIMESLICES) != 0);
		assert_int_equal(snapshot->uid[init], 0);
	}
	snapshot_release(snapshot);
	for (int i = 0; i < 3; i++) {
		live_spin_ms(20);
		round = live_round(capture);
		own = live_row(round, (uint32_t)getpid(), (uint32_t)getpid());
		assert_true(value_of(round, own, METRIC_RUN_TIME_NS) >= (uint64_t)(i + 1) * 20000000);
		init = live_row(round, 1, 1);
		assert_true(init == LIVE_NO_ROW ||
			    live_reason(round, init, METRIC_RCHAR) == REASON_NOT_PERMITTED);
		snapshot_release(round);
	}
	capture_close(capture);
}

/* Runs a test in a child that `prepare` changes for good, or skips it, naming what it needs. */
static void run_in_child(const char *name, const char *needed, bool (*prepare)(void), CMUnitTestFunction test)
{
	const struct CMUnitTest tests[] = {{name, test, NULL, NULL, NULL}};
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		if (!prepare())
			_exit(77);
		_exit(cmocka_run_group_tests_name(name, tests, NULL, NULL) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		skip_test("needs %s", needed);
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static bool give_root_up(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
		return false;
	return prctl(PR_SET_DUMPABLE, 1) == 0; /* as any program that a user starts himself */
}

static void test_unprivileged(void **state)
{
	(void)state;
	run_in_child("a user without privileges", "CAP_SETUID and CAP_SETGID", give_root_up,
		     check_unprivileged);
}

/* The word instead of the number 2 is refused before 5.8, where it would hide them on all mounts. */
static bool hide_processes(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("proc", "/proc", "proc", 0, "hidepid=invisible") == 0 && give_root_up();
}

static void check_hidden(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	struct snapshot *snapshot = live_full(capture);

	(void)state;
	assert_int_not_equal(live_row(snapshot, (uint32_t)getpid(), (uint32_t)getpid()), LIVE_NO_ROW);
	for (size_t row = 0; row < snapshot->thread_count; row++)
		assert_int_equal(snapshot->uid[row], getuid());
	assert_int_equal(snapshot->provenance.features[FEATURE_ALL_PROCESSES].state, FEATURE_STATE_PARTIAL);
	snapshot_release(snapshot);
	capture_close(capture);
}

static void test_hidepid(void **state)
{
	(void)state;
	run_in_child("hidepid", "CAP_SYS_ADMIN to mount procfs, CAP_SETUID and CAP_SETGID", hide_processes,
		     check_hidden);
}

/* The child is number 1 of its own pid namespace, below the procfs of ours. */
static bool enter_namespace(void)
{
	int status;
	pid_t child;

	if (unshare(CLONE_NEWPID) != 0)
		return false;
	child = fork();
	if (child <= 0)
		return child == 0;
	waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Numbers of procfs mean other threads to system calls here: none of them is used. */
static void check_other_namespace(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	struct snapshot *snapshot;

	(void)state;
	for (int i = 0; i < 3; i++) {
		snapshot = i == 0 ? live_full(capture) : live_round(capture);
		assert_true(snapshot->thread_count > WORKERS);
		assert_int_equal(live_reason(snapshot, 0, METRIC_BLKIO_DELAY_COUNT), REASON_OTHER_NAMESPACE);
		assert_int_equal(snapshot->metric_source[METRIC_RUN_TIME_NS], SOURCE_SCHEDSTAT);
		assert_int_equal(snapshot->metric_source[METRIC_CPU_AFFINITY], SOURCE_STATUS);
		for (size_t row = 0; row < snapshot->thread_count; row++) {
			reason_id reason = live_reason(snapshot, (long)row, METRIC_CPU_AFFINITY);

			/* a full capture keeps a thread that ended after its stat was read */
			assert_true(reason == REASON_READ || (reason == REASON_ENDED && i == 0));
			assert_int_equal(snapshot_value(snapshot, row, METRIC_CPU_AFFINITY) != 0,
					 reason == REASON_READ);
		}
		snapshot_release(snapshot);
	}
	capture_close(capture);
}

static void test_other_namespace(void **state)
{
	(void)state;
	run_in_child("another pid namespace", "CAP_SYS_ADMIN to make a pid namespace", enter_namespace,
		     check_other_namespace);
}

static void test_cancel(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	atomic_bool cancel = true;
	struct snapshot *snapshot;
	struct error error;

	(void)state;
	assert_int_equal(capture_full(capture, UINT64_MAX, &cancel, &snapshot, &error), -ECANCELED);
	/* and it goes on afterwards */
	snapshot = live_full(capture);
	assert_true(snapshot->thread_count > WORKERS);
	snapshot_release(snapshot);
	capture_close(capture);
}

static void *wait_for_end(void *argument)
{
	*(pid_t *)argument = gettid();
	pause();
	return NULL;
}

/* A thread that is no process is refused: procfs has a directory of that name too. */
static void test_scope_of_a_thread(void **state)
{
	volatile pid_t tid = 0;
	uint32_t scope;
	struct capture_options options = {
		.scope = &scope, .scope_count = 1, .backend = CAPTURE_BACKEND_PROCFS};
	struct capture *capture;
	struct error error;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, (void *)(uintptr_t)&tid), 0);
	await("the thread runs", tid != 0);
	scope = (uint32_t)tid;
	assert_int_equal(capture_open(&options, &capture, &error), -EINVAL);
	assert_non_null(strstr(error.text, "is a thread of process"));
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static void test_dear_budget(void **state)
{
	uint32_t scope = (uint32_t)getpid();
	struct capture *capture = live_open(&scope, 1);
	struct snapshot *snapshot;
	struct error error;

	(void)state;
	assert_int_equal(capture_full(capture, 0, NULL, &snapshot, &error), 0);
	assert_int_equal(snapshot->smaps_count, 0);
	assert_int_equal(snapshot->provenance.tallies[SOURCE_SMAPS_ROLLUP].missed[REASON_OVER_BUDGET], 1);
	snapshot_release(snapshot);
	capture_close(capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_process),       cmocka_unit_test(test_whole_host),
		cmocka_unit_test(test_unprivileged),      cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_vanishing_threads), cmocka_unit_test(test_dear_budget),
		cmocka_unit_test(test_hidepid),           cmocka_unit_test(test_other_namespace),
		cmocka_unit_test(test_scope_of_a_thread), cmocka_unit_test(test_shared_origin),
	};

	return cmocka_run_group_tests(tests, start_workers, stop_workers);
}
