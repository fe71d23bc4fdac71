/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes that store what moved give the same rounds as full passes, beside threads with which everything
 * happens that may happen to a thread. Each round of the one kind is taken between two of the other kind, so
 * that a value that both have is the true one.
 *
 * test_capture_movers [ROUNDS]
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/memory.h"
#include "capture/round_internal.h"
#include "live.h"
#include "tests/cgroup.h"
#include "tests/wait.h"

enum {
	USUAL_ROUNDS = 60,
	CHECK_EVERY = 16, /* rounds; in such a one the pass is full and checks those before */
	MOVE_EVERY = 7,   /* rounds, to another cgroup */
	PUPPETS = 48,     /* threads of a crowd that are changed in turn */
	STEP = 49,        /* of the numbers from which values are made; of no order with those of values */
	CROWDS = 2,
	STILL = 300, /* threads that only sleep */
	EXECUTERS = 2,
	STACK = 65536,
	NICE_VALUES = 39,
	USERS = 1000,      /* so many ids from this one on */
	TOUCHED = 65536,   /* bytes at a time */
	MAPPINGS = 64,     /* until they are given back */
	TICKS_APART = 2,   /* by which user and system time together may differ */
	THREADS_APART = 3, /* that may start and end between two passes */
	CGROUP_PATH_SIZE = 4200,
};

static unsigned long rounds_wanted = USUAL_ROUNDS;

/* --- threads with which something happens --- */

/* What the controller of a crowd does, one after the other; each to all of its threads in turn. */
enum deed {
	DEED_RENAME,
	DEED_NICE,
	DEED_MASK,
	DEED_POLICY,
	DEED_WORK,    /* the thread runs */
	DEED_USER,    /* it takes another real user id */
	DEED_REPLACE, /* it ends, and another one starts */
	DEED_MEMORY,  /* the process grows, or gives memory back */
	DEED_COUNT,
};

/* Deeds that were done; shared with the children. */
static struct {
	atomic_uint done[DEED_COUNT];
	atomic_uint forked, stopped;
} * world;

struct puppet {
	pthread_t thread;
	atomic_int tid;
	atomic_uint order; /* a deed + 1 that it does itself; 0: none */
};

static struct puppet puppets[PUPPETS];

static void wait_while(atomic_uint *word, unsigned int value)
{
	while (atomic_load(word) == value)
		syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void write_some(void)
{
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char bytes[512] = {0};

	if (null < 0 || write(null, bytes, sizeof(bytes)) < 0)
		_exit(1);
	close(null);
}

static void *obey(void *argument)
{
	static atomic_uint users;
	struct puppet *puppet = argument;
	unsigned int order;

	atomic_store(&puppet->tid, (int)syscall(SYS_gettid));
	do {
		wait_while(&puppet->order, 0);
		order = atomic_load(&puppet->order);
		if (order == DEED_WORK + 1)
			write_some();
		if (order == DEED_USER + 1)
			syscall(SYS_setresuid, USERS + atomic_fetch_add(&users, 1) % USERS, -1, -1);
		if (order != DEED_REPLACE + 1)
			atomic_store(&puppet->order, 0);
	} while (order != DEED_REPLACE + 1);
	return NULL;
}

static pthread_t start_thread(void *(*body)(void *argument), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&thread, &attributes, body, argument) != 0)
		_exit(1);
	return thread;
}

static void start_puppet(struct puppet *puppet)
{
	atomic_store(&puppet->order, 0);
	atomic_store(&puppet->tid, 0);
	puppet->thread = start_thread(obey, puppet);
	while (atomic_load(&puppet->tid) == 0)
		sched_yield();
}

static void give_order(struct puppet *puppet, enum deed deed)
{
	atomic_store(&puppet->order, (unsigned int)deed + 1);
	syscall(SYS_futex, &puppet->order, FUTEX_WAKE, 1, NULL, NULL, 0);
	if (deed != DEED_REPLACE)
		return;
	pthread_join(puppet->thread, NULL);
	start_puppet(puppet);
}

/* No name is given twice. */
static void rename_thread(pid_t tid, unsigned int count)
{
	char path[64], name[16];
	int file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	snprintf(name, sizeof(name), "n%u-%u", (unsigned int)getpid() % 1000, count % 1000000);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, name, strlen(name)) < 0)
		_exit(1);
	close(file);
}

static void set_mask(pid_t tid, unsigned int count)
{
	static int cpus[2];
	static bool two, known;
	cpu_set_t set;

	if (!known)
		two = live_find_cpus(cpus);
	known = true;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpus[two && count % 3 == 1], &set);
	if (two && count % 3 == 2)
		CPU_SET((size_t)cpus[1], &set);
	sched_setaffinity(tid, sizeof(set), &set);
}

static void set_policy(pid_t tid, unsigned int count)
{
	static const int policies[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR};
	const int policy = policies[count % 5];
	const struct sched_param parameters = {
		.sched_priority = policy == SCHED_FIFO || policy == SCHED_RR ? 1 + (int)(count / 5 % 50) : 0};

	sched_setscheduler(tid, policy, &parameters);
}

static void change_memory(unsigned int count)
{
	static void *mappings[MAPPINGS];

	if (count % MAPPINGS == 0) {
		for (size_t i = 0; i < MAPPINGS; i++) {
			if (mappings[i] != NULL)
				munmap(mappings[i], TOUCHED);
			mappings[i] = NULL;
		}
	}
	mappings[count % MAPPINGS] = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (mappings[count % MAPPINGS] == MAP_FAILED)
		_exit(1);
}

static void do_deed(enum deed deed, struct puppet *puppet, unsigned int count)
{
	const pid_t tid = atomic_load(&puppet->tid);

	if (deed == DEED_RENAME)
		rename_thread(tid, count);
	else if (deed == DEED_NICE)
		setpriority(PRIO_PROCESS, (id_t)tid, (int)(count % NICE_VALUES) - 19);
	else if (deed == DEED_MASK)
		set_mask(tid, count);
	else if (deed == DEED_POLICY)
		set_policy(tid, count);
	else if (deed == DEED_MEMORY)
		change_memory(count);
	else
		give_order(puppet, deed);
	atomic_fetch_add(&world->done[deed], 1);
}

/* A thread gets the same deed again only when all others had all deeds: no value is soon what it was. */
static void *conduct(void *argument)
{
	for (unsigned int turn = 0;; turn++) {
		for (unsigned int deed = 0; deed < DEED_COUNT; deed++) {
			for (size_t i = 0; i < PUPPETS; i++) {
				do_deed((enum deed)deed, &puppets[i], turn * STEP + (unsigned int)i);
				live_sleep_ms(1);
			}
		}
	}
	return argument;
}

static void run_crowd(void *argument)
{
	(void)argument;
	for (size_t i = 0; i < PUPPETS; i++)
		start_puppet(&puppets[i]);
	start_thread(conduct, NULL);
}

static void *stay(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static void run_still(void *argument)
{
	(void)argument;
	for (int i = 0; i < STILL; i++)
		start_thread(stay, NULL);
}

/* Many threads that start and end at once, so that more have gone than a program looks for. */
static void *leave(void *argument)
{
	atomic_uint *over = argument;

	wait_while(over, 0);
	return NULL;
}

static void *burst(void *argument)
{
	for (;;) {
		pthread_t threads[3 * PUPPETS];
		atomic_uint over = 0;

		for (size_t i = 0; i < ARRAY_COUNT(threads); i++)
			threads[i] = start_thread(leave, &over);
		live_sleep_ms(20);
		atomic_store(&over, 1);
		syscall(SYS_futex, &over, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
		for (size_t i = 0; i < ARRAY_COUNT(threads); i++)
			pthread_join(threads[i], NULL);
		live_sleep_ms(20);
	}
	return argument;
}

static void run_bursts(void *argument)
{
	(void)argument;
	for (int i = 0; i < STILL / 10; i++)
		start_thread(stay, NULL);
	start_thread(burst, NULL);
	for (int i = 0; i < STILL / 10; i++)
		start_thread(stay, NULL);
}

/* Processes that start and end, each with a thread. */
static void *fork_on(void *argument)
{
	for (;;) {
		const pid_t child = fork();

		if (child == 0) {
			start_thread(stay, NULL);
			live_sleep_ms(10);
			_exit(0);
		}
		live_sleep_ms(3);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			atomic_fetch_add(&world->forked, 1);
	}
	return argument;
}

static void run_forker(void *argument)
{
	(void)argument;
	start_thread(fork_on, NULL);
}

/* A child that is stopped and goes on. */
static void *stop_and_go(void *argument)
{
	const pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		start_thread(stay, NULL);
		for (;;)
			live_sleep_ms(2);
	}
	for (int i = 0;; i++) {
		kill(child, i % 2 == 0 ? SIGSTOP : SIGCONT);
		live_sleep_ms(7);
		atomic_fetch_add(&world->stopped, 1);
	}
	return argument;
}

static void run_warden(void *argument)
{
	(void)argument;
	start_thread(stop_and_go, NULL);
}

/* Executes itself again and again, by its leader and by another thread. */
static char parent_number[16], turn_number[16];

static void *execute(void *argument)
{
	static char program[] = "/proc/self/exe", word[] = "execute";
	char *arguments[] = {program, word, parent_number, turn_number, NULL};

	live_sleep_ms(15);
	execv(program, arguments);
	_exit(1);
	return argument;
}

/* execve(2) by another thread than the leader loses PR_SET_PDEATHSIG. */
static _Noreturn void run_executer(const char *parent, int turn)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != atoi(parent))
		_exit(0);
	snprintf(parent_number, sizeof(parent_number), "%s", parent);
	snprintf(turn_number, sizeof(turn_number), "%d", turn + 1);
	start_thread(turn % 2 == 0 ? execute : stay, NULL);
	if (turn % 2 != 0)
		execute(NULL);
	for (;;)
		pause();
}

static pid_t start_executer(void)
{
	char parent[16];
	pid_t child;

	snprintf(parent, sizeof(parent), "%d", getpid());
	child = fork();
	if (child == 0)
		run_executer(parent, 0);
	return child;
}

/* --- rounds of the two kinds --- */

/* A round, with what its pass saw of each thread: one that executes takes over number and start of its
 * leader. */
struct look {
	struct snapshot *round;
	struct thread_seen *seen;
};

static struct look take_round(struct capture *capture)
{
	struct look look = {.round = live_round(capture)};

	look.seen = memory_allocate((look.round->thread_count + 1) * sizeof(*look.seen));
	for (size_t row = 0; row < look.round->thread_count; row++)
		look.seen[row] = capture->states[row].seen;
	return look;
}

static bool is_same_program(const struct thread_seen *a, const struct thread_seen *b)
{
	return a->task == b->task && a->exec_id == b->exec_id;
}

/* A round of which each thread was read anew. */
static struct look take_full_round(struct capture *capture)
{
	capture->passes.is_current = false;
	return take_round(capture);
}

/* The rows of a thread in three rounds, one taken after the other; the second one is in question. */
struct sight {
	const struct snapshot *of[3];
	size_t row[3];
};

static uint64_t value_in(const struct sight *sight, size_t i, enum metric metric)
{
	return snapshot_value(sight->of[i], sight->row[i], metric);
}

static bool is_same(const struct sight *sight, size_t i, size_t k, enum metric metric)
{
	const uint64_t left = value_in(sight, i, metric), right = value_in(sight, k, metric);
	struct buffer left_text = {0}, right_text = {0};
	bool same = left == right;

	if (snapshot_value_state(sight->of[i], sight->row[i], metric) !=
	    snapshot_value_state(sight->of[k], sight->row[k], metric))
		return false;
	if (metric == METRIC_POLICY) {
		same = strcmp(snapshot_text(sight->of[i], (uint32_t)left),
			      snapshot_text(sight->of[k], (uint32_t)right)) == 0;
	} else if (metric == METRIC_CPU_AFFINITY) {
		cpu_set_append_ranges(&sight->of[i]->cpu_sets, (uint32_t)left, &left_text);
		cpu_set_append_ranges(&sight->of[k]->cpu_sets, (uint32_t)right, &right_text);
		same = strcmp(left_text.data, right_text.data) == 0;
	}
	buffer_release(&left_text);
	buffer_release(&right_text);
	return same;
}

/* Whether the thread neither ran nor was queued from the first round to the last. */
static bool stood_still(const struct sight *sight)
{
	static const enum metric activity[] = {METRIC_RUN_TIME_NS,      METRIC_TIMESLICES,
					       METRIC_VOLUNTARY_CSW,    METRIC_STATE,
					       METRIC_NONVOLUNTARY_CSW, METRIC_NR_MIGRATIONS};

	for (size_t i = 0; i < ARRAY_COUNT(activity); i++) {
		if (!is_same(sight, 0, 2, activity[i]))
			return false;
	}
	return value_in(sight, 0, METRIC_STATE) != 'R';
}

/* What others can set, so that it does not change because a thread runs. */
static bool is_setting(enum metric metric)
{
	return metric == METRIC_NICE || metric == METRIC_POLICY || metric == METRIC_RT_PRIORITY ||
	       metric == METRIC_CPU_AFFINITY;
}

/*
 * What depends on when a capture looked: the division of the run time, and the sleep that it left out of
 * waits, which differs with what it has seen of it. A number of threads may go up and down again.
 */
static bool depends_on_looks(enum metric metric)
{
	return metric == METRIC_UTIME_CLOCK_TICKS || metric == METRIC_STIME_CLOCK_TICKS ||
	       metric == METRIC_NR_THREADS || metric_is_run_queue_wait(metric);
}

static _Noreturn void fail_value(const struct sight *sight, const char *name, uint64_t first, uint64_t middle,
				 uint64_t last)
{
	print_message("%s of %u %s of process %u: %llu and %llu, but %llu between\n", name,
		      sight->of[1]->tid[sight->row[1]], live_comm(sight->of[1], (long)sight->row[1]),
		      sight->of[1]->tgid[sight->row[1]], (unsigned long long)first, (unsigned long long)last,
		      (unsigned long long)middle);
	fail();
	abort(); /* not reached */
}

static void expect_metric(const struct sight *sight, enum metric metric, bool still)
{
	const uint64_t first = value_in(sight, 0, metric), middle = value_in(sight, 1, metric),
		       last = value_in(sight, 2, metric);
	const bool is_counter = metric_type(metric)->kind == METRIC_KIND_COUNTER;

	if (depends_on_looks(metric))
		return;
	if ((still || is_setting(metric)) && is_same(sight, 0, 2, metric)) {
		if (!is_same(sight, 1, 2, metric))
			fail_value(sight, metrics[metric].name, first, middle, last);
	} else if (is_counter && first <= last && (middle < first || middle > last)) {
		fail_value(sight, metrics[metric].name, first, middle, last);
	}
}

/* The rest of what a row says of its thread. */
static void expect_identity(const struct sight *sight, bool still)
{
	typedef const char *text_of_row(const struct snapshot *snapshot, long row);
	static text_of_row *const texts[] = {live_comm, live_pcomm, live_cgroup};
	const uint8_t lasting = (uint8_t)~THREAD_WAIT_AT_LEAST;
	uint64_t uid[3], flags[3];

	for (size_t i = 0; i < 3; i++) {
		uid[i] = sight->of[i]->uid[sight->row[i]];
		flags[i] = sight->of[i]->thread_flags[sight->row[i]] & lasting;
	}
	if (uid[0] == uid[2] && uid[1] != uid[2])
		fail_value(sight, "the user", uid[0], uid[1], uid[2]);
	if (still && flags[0] == flags[2] && flags[1] != flags[2])
		fail_value(sight, "flags", flags[0], flags[1], flags[2]);
	for (size_t i = 0; i < ARRAY_COUNT(texts) && (flags[1] & THREAD_KERNEL) == 0; i++) {
		const char *first = texts[i](sight->of[0], (long)sight->row[0]);
		const char *middle = texts[i](sight->of[1], (long)sight->row[1]);

		if (strcmp(first, texts[i](sight->of[2], (long)sight->row[2])) == 0 &&
		    strcmp(first, middle) != 0)
			fail_msg("%u is called %s, but %s between", sight->of[1]->tid[sight->row[1]], first,
				 middle);
	}
}

static void expect_times(const struct sight *sight)
{
	uint64_t sum[3];

	for (size_t i = 1; i < 3; i++)
		sum[i] = value_in(sight, i, METRIC_UTIME_CLOCK_TICKS) +
			 value_in(sight, i, METRIC_STIME_CLOCK_TICKS);
	if (llabs((long long)(sum[1] - sum[2])) > TICKS_APART)
		fail_value(sight, "user and system time", sum[2], sum[1], sum[2]);
}

/* What a thread waits for is what it was as long as it stands still. */
static void expect_wait(const struct sight *sight)
{
	const char *object[3];
	uint64_t class[3], reason[3];

	for (size_t i = 0; i < 3; i++) {
		const struct snapshot *round = sight->of[i];

		class[i] = round->wait_class[sight->row[i]];
		reason[i] = snapshot_source_reason(round, sight->row[i], SOURCE_WAIT);
		object[i] = snapshot_text(round, round->wait_object[sight->row[i]]);
	}
	if (class[0] == class[2] && class[1] != class[2])
		fail_value(sight, "the class of the wait", class[0], class[1], class[2]);
	if (reason[0] == reason[2] && reason[1] != reason[2])
		fail_value(sight, "the reason of the wait", reason[0], reason[1], reason[2]);
	if (strcmp(object[0], object[2]) == 0 && strcmp(object[0], object[1]) != 0)
		fail_msg("%u waits for %s, but %s between", sight->of[1]->tid[sight->row[1]], object[0],
			 object[1]);
}

/* The row at or behind `*row` of the thread with the number of another round's row; false for none. */
static bool find_number(const struct snapshot *from, size_t i, const struct snapshot *in, size_t *row)
{
	while (*row < in->thread_count && (in->tgid[*row] < from->tgid[i] ||
					   (in->tgid[*row] == from->tgid[i] && in->tid[*row] < from->tid[i])))
		++*row;
	return *row < in->thread_count && in->tgid[*row] == from->tgid[i] && in->tid[*row] == from->tid[i] &&
	       in->start_time[*row] == from->start_time[i];
}

/* Returns how many threads stood still. */
static size_t compare_rounds(const struct look looks[static 3])
{
	const struct snapshot *before = looks[0].round;
	struct sight sight = {.of = {before, looks[1].round, looks[2].round}};
	size_t still_count = 0;

	for (size_t i = 0; i < before->thread_count; i++) {
		bool still;

		sight.row[0] = i;
		if (!find_number(before, i, looks[2].round, &sight.row[2]))
			continue;
		if (!find_number(before, i, looks[1].round, &sight.row[1]))
			fail_msg("%u %s of process %u has no row", before->tid[i], live_comm(before, (long)i),
				 before->tgid[i]);
		if (!is_same_program(&looks[0].seen[i], &looks[2].seen[sight.row[2]]))
			continue;
		assert_true(is_same_program(&looks[0].seen[i], &looks[1].seen[sight.row[1]]));
		still = stood_still(&sight);
		still_count += still;
		for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
			expect_metric(&sight, metric, still);
		expect_identity(&sight, still);
		if (still) {
			expect_times(&sight);
			expect_wait(&sight);
		}
	}
	return still_count;
}

/* A sleep that goes on grows by the same time for every thread, once its beginning is certain. */
static void expect_sleeps(const struct snapshot *before, const struct snapshot *round)
{
	size_t next = 0;
	uint64_t grown = 0;

	if (before == NULL || !round->moved_known || round->waiting_ns == NULL || before->waiting_ns == NULL)
		return;
	for (size_t row = 0; row < round->thread_count; row++) {
		const uint32_t old = round->carried_row[row];

		if (next < round->moved_count && round->moved[next] == row) {
			next++;
			continue;
		}
		if (snapshot_value(round, row, METRIC_STATE) != 'S' || before->waiting_ns[old] <= NS_PER_MS ||
		    (before->thread_flags[old] & THREAD_WAIT_AT_LEAST) != 0)
			continue;
		if (grown == 0)
			grown = round->waiting_ns[row] - before->waiting_ns[old];
		if (round->waiting_ns[row] - before->waiting_ns[old] != grown)
			fail_msg("the sleep of %u %s grew from %llu to %llu ns, others by %llu",
				 round->tid[row], live_comm(round, (long)row),
				 (unsigned long long)before->waiting_ns[old],
				 (unsigned long long)round->waiting_ns[row], (unsigned long long)grown);
	}
}

/* A process in which few threads start and end has as many as it has rows. */
static void expect_thread_count(const struct snapshot *round, pid_t process)
{
	const long leader = live_row(round, (uint32_t)process, (uint32_t)process);
	uint64_t count, rows = 0;

	assert_true(leader >= 0);
	count = snapshot_value(round, (size_t)leader, METRIC_NR_THREADS);
	for (size_t row = snapshot_search_row(round, (uint32_t)process, 0);
	     row < round->thread_count && round->tgid[row] == (uint32_t)process; row++)
		rows++;
	if (llabs((long long)(count - rows)) > THREADS_APART)
		fail_msg("process %d has %llu threads and %llu rows", process, (unsigned long long)count,
			 (unsigned long long)rows);
}

/* The memory of a process whose threads all sleep. */
static void expect_resident(const struct look looks[static 3], pid_t process)
{
	uint64_t bytes[3];

	for (size_t i = 0; i < 3; i++) {
		const struct snapshot *round = looks[i].round;
		const long row = live_row(round, (uint32_t)process, (uint32_t)process);
		size_t hint = 0;

		assert_true(row >= 0);
		assert_int_equal(snapshot_resident(round, (size_t)row, &hint, &bytes[i]), REASON_READ);
	}
	if (bytes[0] == bytes[2])
		assert_int_equal(bytes[1], bytes[2]);
}

/* --- cgroups --- */

static char cgroup_paths[2][CGROUP_PATH_SIZE];

static bool make_cgroups(const char *root)
{
	for (size_t i = 0; i < 2; i++) {
		snprintf(cgroup_paths[i], sizeof(cgroup_paths[i]), "%s/ctop-movers-%d-%zu", root, getpid(),
			 i);
		if (root == NULL || test_cgroup_make(cgroup_paths[i]) != 0)
			return false;
	}
	return true;
}

static void move_to(const char *directory, pid_t process)
{
	char path[CGROUP_PATH_SIZE + 16], number[16];
	int file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	snprintf(number, sizeof(number), "%d", process);
	file = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(file >= 0 && write(file, number, strlen(number)) == (ssize_t)strlen(number));
	close(file);
}

static void expect_cgroup(const struct snapshot *round, pid_t process, const char *directory)
{
	for (size_t row = snapshot_search_row(round, (uint32_t)process, 0);
	     row < round->thread_count && round->tgid[row] == (uint32_t)process; row++)
		assert_string_equal(strrchr(live_cgroup(round, (long)row), '/'), strrchr(directory, '/'));
}

/* --- the test --- */

struct scene {
	pid_t crowds[CROWDS], executers[EXECUTERS], still, bursts, forker, warden;
	bool has_cgroups;
};

static void begin_scene(struct scene *scene)
{
	for (size_t i = 0; i < CROWDS; i++)
		scene->crowds[i] = live_start(run_crowd, NULL);
	scene->still = live_start(run_still, NULL);
	scene->bursts = live_start(run_bursts, NULL);
	scene->forker = live_start(run_forker, NULL);
	scene->warden = live_start(run_warden, NULL);
	for (size_t i = 0; i < EXECUTERS; i++)
		scene->executers[i] = start_executer();
}

static void end_scene(const struct scene *scene)
{
	for (size_t i = 0; i < CROWDS; i++)
		live_end(scene->crowds[i]);
	for (size_t i = 0; i < EXECUTERS; i++)
		live_end(scene->executers[i]);
	live_end(scene->still);
	live_end(scene->bursts);
	live_end(scene->forker);
	live_end(scene->warden);
	for (size_t i = 0; i < 2 && scene->has_cgroups; i++)
		test_cgroup_remove(cgroup_paths[i]);
}

/* Counts of all rounds. */
struct counts {
	size_t still, moved, threads;
	unsigned int few; /* rounds in which less than half of the threads moved */
};

static void compare_once(const struct scene *scene, struct capture *movers, struct capture *full,
			 unsigned long number, struct snapshot **last, struct counts *counts)
{
	const char *directory = cgroup_paths[number / MOVE_EVERY % 2];
	const struct snapshot *round;
	struct look looks[3];

	if (scene->has_cgroups && number % MOVE_EVERY == 0)
		move_to(directory, scene->still);
	if (number % CHECK_EVERY == CHECK_EVERY - 1)
		movers->passes.checked_ns = 0;
	looks[0] = take_full_round(full);
	looks[1] = take_round(movers);
	looks[2] = take_full_round(full);
	round = looks[1].round;
	counts->still += compare_rounds(looks);
	expect_sleeps(*last, round);
	for (size_t i = 0; i < CROWDS; i++)
		expect_thread_count(round, scene->crowds[i]);
	expect_resident(looks, scene->still);
	if (scene->has_cgroups)
		expect_cgroup(round, scene->still, directory);
	counts->threads += round->thread_count;
	counts->moved += round->moved_count;
	counts->few += round->moved_known && round->moved_count < round->thread_count / 2;
	snapshot_release(*last);
	*last = looks[1].round;
	snapshot_release(looks[0].round);
	snapshot_release(looks[2].round);
	for (size_t i = 0; i < 3; i++)
		free(looks[i].seen);
}

static void test_movers(void **state)
{
	struct capture *movers = live_open(NULL, 0), *full = live_open(NULL, 0);
	struct snapshot *last = live_round(movers);
	struct counts counts = {0};
	struct scene scene = {0};

	(void)state;
	scene.has_cgroups = make_cgroups(last->provenance.roots[ROOT_CGROUP]);
	if (!scene.has_cgroups)
		print_message("cannot make a cgroup here\n");
	begin_scene(&scene);
	for (unsigned long i = 0; i < rounds_wanted; i++)
		compare_once(&scene, movers, full, i, &last, &counts);
	await("every deed to be done", atomic_load(&world->done[DEED_COUNT - 1]) != 0 &&
					       atomic_load(&world->forked) != 0 &&
					       atomic_load(&world->stopped) != 0);
	print_message("%lu rounds of %zu threads: %zu stood still, %zu moved since the round before; %u had "
		      "few movers\n",
		      rounds_wanted, counts.threads / rounds_wanted, counts.still / rounds_wanted,
		      counts.moved / rounds_wanted, counts.few);
	assert_int_equal(movers->passes.missed, 0);
	assert_true(counts.still > 0);
	assert_true(counts.few > rounds_wanted / 4);
	snapshot_release(last);
	capture_close(movers);
	capture_close(full);
	end_scene(&scene);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_movers)};

	if (argc == 4 && strcmp(argv[1], "execute") == 0)
		run_executer(argv[2], atoi(argv[3]));
	if (argc == 2 && strtoul(argv[1], NULL, 10) != 0)
		rounds_wanted = strtoul(argv[1], NULL, 10);
	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (world == MAP_FAILED)
		return 1;
	return live_choose_bpf() ? cmocka_run_group_tests_name("movers", tests, NULL, NULL) : 0;
}
