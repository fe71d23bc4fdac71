/* SPDX-License-Identifier: GPL-2.0-only */
/* All threads in one pass of a BPF program: the same numbers as procfs and taskstats, and which threads
 * moved. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/clock.h"
#include "base/release.h"
#include "capture/bpf/bpf_object.h"
#include "capture/bpf/task_decode.h"
#include "live.h"
#include "tests/cgroup.h"
#include "tests/wait.h"

enum {
	PARKED = 500,
	CGROUP_PATH_SIZE = 4200,
	TURNS = 30,   /* of moves between cgroups */
	CHANGED = 3,  /* threads that are changed between two rounds */
	CROWD = 1200, /* more threads than a reader opened for none has room for */
	NO_PROCESS = 0x7fffffff,
	PASSES = 3,
	MANY = 5000, /* processes */
};

/* --- equal to procfs --- */

/* Shared with the children: threads that are ready, whose turn it is, who has had his. */
static atomic_uint *ready;

static void *park(void *argument)
{
	char name[16], text[4096];
	uintptr_t index = (uintptr_t)argument;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	cpu_set_t first;

	/* as different from each other as a thread can make itself */
	snprintf(name, sizeof(name), "parked %u", (unsigned int)index % 16);
	pthread_setname_np(pthread_self(), name);
	memset(text, 0, sizeof(text));
	for (uintptr_t i = 0; i < index % 8; i++) {
		if (write(null, text, sizeof(text)) < 0)
			_exit(1);
		munmap(mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
			    -1, 0),
		       65536);
		live_sleep_ms(1);
	}
	close(null);
	live_spin_ms((unsigned int)index % 8);
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), (int)(index % 20));
	if (index % 5 == 1) {
		CPU_ZERO(&first);
		CPU_SET(0, &first);
		sched_setaffinity(0, sizeof(first), &first);
	}
	if (index % 5 == 2)
		sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
	if (index % 5 == 3)
		sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
	if (index % 50 == 4)
		sched_setscheduler(0, SCHED_FIFO,
				   &(struct sched_param){.sched_priority = 1 + (int)index % 9});
	atomic_fetch_add(ready, 1);
	for (;;)
		pause();
	return NULL;
}

static void run_parked(void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)argument;
	prctl(PR_SET_NAME, "parked");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (uintptr_t i = 0; i < PARKED; i++) {
		if (pthread_create(&thread, &attributes, park, (void *)i) != 0)
			_exit(1);
	}
}

static pid_t start(void (*body)(void *argument))
{
	for (size_t i = 0; i < 3; i++)
		atomic_store(&ready[i], 0);
	return live_start(body, NULL);
}

static bool is_ready(unsigned int count)
{
	return wait_until(atomic_load(ready) >= count) && atomic_load(ready) == count;
}

/* Neither ran nor changed between the two readings; nor was it moved, which may happen to a sleeper that has
 * not left its run queue yet. */
static bool stood_still(const struct snapshot *a, long i, const struct snapshot *b, long j)
{
	static const enum metric metrics_of_activity[] = {METRIC_RUN_TIME_NS, METRIC_TIMESLICES,
							  METRIC_VOLUNTARY_CSW, METRIC_NONVOLUNTARY_CSW,
							  METRIC_NR_MIGRATIONS};

	if (a->start_time[i] != b->start_time[j])
		return false;
	for (size_t k = 0; k < sizeof(metrics_of_activity) / sizeof(metrics_of_activity[0]); k++) {
		if (snapshot_value(a, (size_t)i, metrics_of_activity[k]) !=
		    snapshot_value(b, (size_t)j, metrics_of_activity[k]))
			return false;
	}
	return true;
}

static void expect_equal_value(const struct snapshot *a, long i, const struct snapshot *b, long j,
			       enum metric metric)
{
	uint64_t left = snapshot_value(a, (size_t)i, metric), right = snapshot_value(b, (size_t)j, metric);
	struct buffer left_text = {0}, right_text = {0};
	const uint16_t left_state = snapshot_value_state(a, (size_t)i, metric);
	const uint16_t right_state = snapshot_value_state(b, (size_t)j, metric);

	if (left_state != right_state)
		fail_msg("%s of %u %s: state %d %s, by BPF %d %s", metrics[metric].name, a->tid[i],
			 live_comm(a, i), (int)left_state, reason_name((reason_id)left_state),
			 (int)right_state, reason_name((reason_id)right_state));
	if (left_state != REASON_READ)
		return;
	if (metric == METRIC_POLICY) {
		assert_string_equal(snapshot_text(a, (uint32_t)left), snapshot_text(b, (uint32_t)right));
	} else if (metric == METRIC_CPU_AFFINITY) {
		cpu_set_append_ranges(&a->cpu_sets, (uint32_t)left, &left_text);
		cpu_set_append_ranges(&b->cpu_sets, (uint32_t)right, &right_text);
		assert_string_equal(left_text.data, right_text.data);
	} else if (left != right) {
		fail_msg("%s of %u %s: %llu, by BPF %llu", metrics[metric].name, a->tid[i], live_comm(a, i),
			 (unsigned long long)left, (unsigned long long)right);
	}
	buffer_release(&left_text);
	buffer_release(&right_text);
}

/* Metrics that other threads of the process change. */
static bool is_of_the_process(enum metric metric)
{
	return metric == METRIC_HIWATER_RSS_BYTES || metric == METRIC_HIWATER_VM_BYTES ||
	       metric == METRIC_NR_THREADS;
}

/* A kernel worker's name ends with the work that it does, which may be other work when the name is read. */
static size_t lasting_length(const char *name)
{
	return strncmp(name, "kworker/", strlen("kworker/")) == 0 ? strcspn(name, "-+") : strlen(name);
}

static void expect_equal_name(const char *left, const char *right)
{
	size_t length = lasting_length(left);

	if (length != lasting_length(right) || memcmp(left, right, length) != 0)
		fail_msg("named %s, by BPF %s", left, right);
}

static void expect_equal_thread(const struct snapshot *a, long i, const struct snapshot *b, long j,
				bool whole_process)
{
	assert_int_equal(a->uid[i], b->uid[j]);
	/* that a wait has lasted longer may become known or be forgotten with time */
	assert_int_equal((a->thread_flags[i] ^ b->thread_flags[j]) & ~THREAD_WAIT_AT_LEAST, 0);
	expect_equal_name(live_comm(a, i), live_comm(b, j));
	expect_equal_name(live_pcomm(a, i), live_pcomm(b, j));
	assert_string_equal(live_cgroup(a, i), live_cgroup(b, j));
	for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
		if (whole_process || !is_of_the_process((enum metric)metric))
			expect_equal_value(a, i, b, j, (enum metric)metric);
	}
}

/* Compares the threads that stood still between two captures and counts those, and the ones of a process. */
static void compare_captures(const struct snapshot *files, const struct snapshot *bpf, uint32_t process,
			     size_t *ret_equal, size_t *ret_of_process)
{
	*ret_equal = *ret_of_process = 0;
	for (size_t i = 0; i < files->thread_count; i++) {
		long j = live_row(bpf, files->tgid[i], files->tid[i]);

		if (j < 0 || !stood_still(files, (long)i, bpf, j) ||
		    snapshot_value(files, i, METRIC_STATE) == 'R' ||
		    snapshot_value(bpf, (size_t)j, METRIC_STATE) == 'R')
			continue;
		expect_equal_thread(files, (long)i, bpf, j, files->tgid[i] == process);
		++*ret_equal;
		*ret_of_process += files->tgid[i] == process;
	}
}

/* Compares one capture by each backend; true once all of the process stood still between them. */
static bool stand_still_in_both(struct capture *by_files, struct capture *by_bpf, pid_t process,
				bool whole_host, size_t *ret_count)
{
	struct snapshot *files = live_full(by_files), *bpf = live_full(by_bpf);
	size_t equal, parked;

	compare_captures(files, bpf, (uint32_t)process, &equal, &parked);
	assert_true(equal > parked || !whole_host);
	*ret_count = bpf->thread_count;
	/* partial where the kernel keeps threads from BPF */
	assert_int_not_equal(bpf->provenance.features[FEATURE_PASSES].state, FEATURE_STATE_OFF);
	assert_int_equal(files->provenance.features[FEATURE_PASSES].state, FEATURE_STATE_OFF);
	snapshot_release(files);
	snapshot_release(bpf);
	return parked == PARKED + 1;
}

/*
 * Compares the threads in scope that stood still between two captures, one by each backend; all of a process
 * that is parked do once they have got so far. Returns the number of threads by BPF.
 */
static size_t expect_equal_captures(pid_t child, const uint32_t *scope, size_t scope_count)
{
	struct capture *by_files, *by_bpf;
	size_t count;

	live_backend = CAPTURE_BACKEND_PROCFS;
	by_files = live_open(scope, scope_count);
	live_backend = CAPTURE_BACKEND_BPF;
	by_bpf = live_open(scope, scope_count);
	await("all parked threads stand still",
	      stand_still_in_both(by_files, by_bpf, child, scope == NULL, &count));
	capture_close(by_files);
	capture_close(by_bpf);
	return count;
}

/* All processes, and chosen ones: one, and more with one that is not there and one that is named twice. */
static void test_equals_procfs(void **state)
{
	pid_t child = start(run_parked);
	const uint32_t one = (uint32_t)child;
	const uint32_t some[] = {one, (uint32_t)getpid(), NO_PROCESS, one};

	(void)state;
	assert_true(is_ready(PARKED));
	expect_equal_captures(child, NULL, 0);
	assert_int_equal(expect_equal_captures(child, &one, 1), PARKED + 1);
	assert_int_equal(expect_equal_captures(child, some, 4), PARKED + 2);
	live_end(child);
}

/* --- chosen processes --- */

static void *stand(void *argument)
{
	atomic_store(&ready[1], (unsigned int)syscall(SYS_gettid));
	atomic_fetch_add(ready, 1);
	for (;;)
		pause();
	return argument;
}

static void run_crowd(void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)argument;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (int i = 0; i < CROWD; i++) {
		if (pthread_create(&thread, &attributes, stand, NULL) != 0)
			_exit(1);
	}
}

static struct bpf_tasks *open_tasks(const uint32_t *scope, size_t scope_count, size_t room, uint32_t parts)
{
	struct arena arena = {0};
	struct feature_result result;
	struct bpf_tasks *tasks = bpf_tasks_open(scope, scope_count, room, parts, NULL, &arena, &result);

	assert_non_null(tasks);
	arena_release(&arena);
	return tasks;
}

static void expect_tasks(const struct bpf_pass *pass, const uint32_t *scope, size_t scope_count)
{
	for (size_t i = 0; i < pass->count; i++) {
		const struct task_record *record = bpf_pass_record(pass, i);
		bool chosen = false;

		for (size_t k = 0; k < scope_count; k++)
			chosen |= record->tgid == scope[k];
		assert_true(chosen);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(bpf_pass_record(pass, k)->tid, record->tid);
	}
}

/* Passes of these processes, with room for so many tasks, have `count`, each of them once, all of these
 * processes: a full one, and one of the tasks that moved.
 */
static void expect_pass(const uint32_t *scope, size_t scope_count, size_t room, size_t count)
{
	struct bpf_tasks *tasks = open_tasks(scope, scope_count, room, 0);
	struct bpf_pass pass;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(bpf_tasks_read(tasks, TASK_PART_DELAYS, i == 0, NULL, &pass), 0);
		assert_int_equal(pass.count, count);
		assert_int_equal(pass.row_count, count);
		assert_false(pass.by_runs && count > CROWD && room == 0);
		expect_tasks(&pass, scope, scope_count);
	}
	bpf_tasks_close(tasks);
}

/* A pass reads no more than was chosen, in runs of a program and, without room for that, by the
 * iterator. */
static void test_scope_bounds_a_pass(void **state)
{
	pid_t child = start(run_crowd);
	const uint32_t chosen[] = {(uint32_t)child, (uint32_t)getpid(), NO_PROCESS};
	uint32_t thread;

	(void)state;
	assert_true(is_ready(CROWD));
	thread = atomic_load(&ready[1]);
	for (size_t room = 0; room <= CROWD; room += CROWD) {
		expect_pass(chosen, 1, room, CROWD + 1);
		expect_pass(chosen, 2, room, CROWD + 2);
		expect_pass(chosen, 3, room, CROWD + 2);
		expect_pass(&thread, 1, room, 0);
	}
	live_end(child);
	expect_pass(chosen, 1, 0, 0);
	expect_pass(chosen, 3, 0, 1);
}

/* A child with that number, which waits for its end; -1 when it cannot have it. */
static pid_t take_number(pid_t number)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&number,
		.set_tid_size = 1,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* False where the number cannot be given again. */
static bool follow_a_number(enum capture_backend backend)
{
	pid_t first = start(run_crowd), second;
	const uint32_t scope = (uint32_t)first;
	struct snapshot *before, *between, *after;
	struct capture *capture;

	assert_true(is_ready(CROWD));
	live_backend = backend;
	capture = live_open(&scope, 1);
	before = live_round(capture);
	assert_int_equal(before->thread_count, CROWD + 1);
	live_end(first);
	between = live_round(capture);
	assert_int_equal(between->thread_count, 0);
	second = take_number(first);
	if (second >= 0) {
		after = live_round(capture);
		assert_int_equal(after->thread_count, 1);
		assert_int_equal(after->tid[0], scope);
		assert_true(after->start_time[0] >= before->start_time[0]);
		assert_int_equal(after->carried_row[0], UINT32_MAX);
		snapshot_release(after);
		live_end(second);
	} else {
		print_message("SKIP: the number %d is not free: %s\n", first, strerror(errno));
	}
	snapshot_release(before);
	snapshot_release(between);
	capture_close(capture);
	return second >= 0;
}

/* A chosen process ends, and another one has its number, with both backends. */
static void test_scope_follows_a_number(void **state)
{
	const bool by_procfs = follow_a_number(CAPTURE_BACKEND_PROCFS),
		   by_bpf = follow_a_number(CAPTURE_BACKEND_BPF);

	(void)state;
	if (!by_procfs || !by_bpf)
		skip();
}

/* --- room --- */

/* Whether one run of the program had room for the delays of so many tasks. */
static bool has_room_for_delays(size_t task_count, uint32_t usual_parts)
{
	struct bpf_tasks *tasks = open_tasks(NULL, 0, task_count, usual_parts);
	struct bpf_pass pass;
	bool by_runs;

	assert_int_equal(bpf_tasks_read(tasks, TASK_PART_DELAYS, true, NULL, &pass), 0);
	assert_true(pass.count > 0 && pass.delays != NULL);
	by_runs = pass.by_runs;
	bpf_tasks_close(tasks);
	return by_runs;
}

/* Delays that are wanted in each round are read in one run on a large host too. */
static void test_room_for_delays(void **state)
{
	(void)state;
	if (!has_room_for_delays(40000, 0))
		skip_test("no open-coded iterator of tasks, or more than 51,000 tasks");
	assert_true(has_room_for_delays(60000, TASK_PART_DELAYS));
	assert_false(has_room_for_delays(60000, TASK_PART_STATISTICS));
}

/* What kernels may refuse is not left out for a mistake of ours, such as types that do not fit the object. */
static void test_nothing_is_left_out(void **state)
{
	static const struct task_call_set no_calls;
	struct arena arena = {0};
	struct feature_result result;
	struct bpf_tasks *tasks;
	struct utsname names;
	struct bpf_pass pass;

	(void)state;
	if (uname(&names) != 0 || release_is_older(names.release, 6, 2) || bpf_is_locked_down())
		skip_test("kernels before 6.2 and locked down ones refuse some of it");
	tasks = bpf_tasks_open(NULL, 0, 1000, 0, &no_calls, &arena, &result);
	assert_non_null(tasks);
	assert_int_equal(bpf_tasks_read(tasks, 0, true, NULL, &pass), 0);
	assert_true((pass.kernel & TASK_KERNEL_RESIDENT_EXACT) != 0);
	assert_true(pass.has_files);
	bpf_tasks_close(tasks);
	arena_release(&arena);
}

/* The room for a part counts as memory of this process once the part was wanted. */
static void test_mapped_once_wanted(void **state)
{
	struct bpf_tasks *tasks = open_tasks(NULL, 0, 40000, 0);
	const size_t delays = 40000 * sizeof(struct task_delays);
	struct bpf_pass pass;
	size_t mapped;

	(void)state;
	assert_int_equal(bpf_tasks_read(tasks, 0, true, NULL, &pass), 0);
	mapped = live_bpf_map_bytes();
	assert_int_equal(bpf_tasks_read(tasks, TASK_PART_DELAYS, true, NULL, &pass), 0);
	if (pass.by_runs)
		assert_true(live_bpf_map_bytes() > mapped + delays);
	/* nothing more for the same again */
	mapped = live_bpf_map_bytes();
	assert_int_equal(bpf_tasks_read(tasks, TASK_PART_DELAYS, true, NULL, &pass), 0);
	assert_int_equal(live_bpf_map_bytes(), mapped);
	bpf_tasks_close(tasks);
}

/* The number of runs of programs that user space runs, by this process's descriptors of them. */
static unsigned long long count_runs(void)
{
	DIR *directory = opendir("/proc/self/fdinfo");
	unsigned long long count = 0;
	struct dirent *entry;

	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL) {
		unsigned long long runs = 0;
		char path[300], line[256];
		unsigned int type = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
		file = fopen(path, "re");
		while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
			sscanf(line, "prog_type: %u", &type);
			sscanf(line, "run_cnt: %llu", &runs);
		}
		if (file != NULL)
			fclose(file);
		if (type == BPF_PROG_TYPE_SYSCALL)
			count += runs;
	}
	closedir(directory);
	return count;
}

/* Runs of programs in some passes of a process after the first; `*ret_walked`: the last one was by runs. */
static unsigned long long runs_of_passes(uint32_t process, size_t room, bool *ret_walked)
{
	struct bpf_tasks *tasks = open_tasks(&process, 1, room, 0);
	unsigned long long before = 0, count;
	struct bpf_pass pass;

	for (int i = 0; i < PASSES; i++) {
		assert_int_equal(bpf_tasks_read(tasks, 0, false, NULL, &pass), 0);
		if (i == 0)
			before = count_runs();
	}
	assert_int_equal(pass.count, CROWD + 1);
	count = count_runs() - before;
	*ret_walked = pass.by_runs;
	bpf_tasks_close(tasks);
	return count;
}

/* After a run without room, no further one is begun in vain; each pass runs the clock's program too. */
static void test_no_run_for_nothing(void **state)
{
	union bpf_attr attributes = {.enable_stats = {.type = BPF_STATS_RUN_TIME}};
	int counting = (int)syscall(SYS_bpf, BPF_ENABLE_STATS, &attributes, sizeof(attributes));
	unsigned long long with_room = 0, without;
	bool walked = false;
	pid_t child;

	(void)state;
	child = start(run_crowd);
	assert_true(is_ready(CROWD));
	if (counting >= 0)
		with_room = runs_of_passes((uint32_t)child, CROWD, &walked);
	if (!walked) {
		live_end(child);
		skip_test("the kernel does not count runs, or has no open-coded iterator of tasks");
	}
	without = runs_of_passes((uint32_t)child, 0, &walked);
	assert_false(walked);
	/* those of the clock at most */
	assert_true(without <= PASSES - 1);
	assert_true(with_room >= without + (PASSES - 1));
	close(counting);
	live_end(child);
}

/* More processes may be chosen than any table of a fixed size holds. */
static void test_many_chosen(void **state)
{
	uint32_t *chosen = calloc(MANY, sizeof(*chosen));
	struct capture *capture;
	struct snapshot *round;

	(void)state;
	assert_non_null(chosen);
	chosen[0] = (uint32_t)getpid();
	for (uint32_t i = 1; i < MANY; i++)
		chosen[i] = NO_PROCESS - i;
	capture = live_open(chosen, MANY);
	free(chosen);
	round = live_round(capture);
	assert_int_equal(round->thread_count, 1);
	assert_int_equal(round->provenance.features[FEATURE_PASSES].state, FEATURE_STATE_ON);
	assert_int_equal(round->provenance.features[FEATURE_EXITS].state, FEATURE_STATE_ON);
	snapshot_release(round);
	capture_close(capture);
}

/* --- cgroups --- */

/* The places of the children: two new cgroups in each turn, by their names. */
static char cgroup_root[4096];
static pid_t cgroup_owner;

static void cgroup_directory(char path[static CGROUP_PATH_SIZE], unsigned int turn, char letter)
{
	snprintf(path, CGROUP_PATH_SIZE, "%s/ctop-test-%d-%u-%c", cgroup_root, cgroup_owner, turn, letter);
}

static void enter_cgroup(const char *directory)
{
	char path[CGROUP_PATH_SIZE + 16];
	int procs;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	procs = open(path, O_WRONLY | O_CLOEXEC);
	if (procs < 0 || write(procs, "0", 1) != 1)
		_exit(1);
	close(procs);
}

/* A child that enters the cgroups of these letters in each turn, to and fro where they are two. */
static pid_t follow_turns(const char letters[static 2])
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		char directories[2][CGROUP_PATH_SIZE];
		unsigned int turn = atomic_load(&ready[1]);

		if (turn == 0) {
			live_sleep_ms(1);
			continue;
		}
		cgroup_directory(directories[0], turn, letters[0]);
		cgroup_directory(directories[1], turn, letters[1]);
		enter_cgroup(directories[0]);
		atomic_fetch_add(&ready[2], 1);
		while (atomic_load(&ready[1]) == turn) {
			if (letters[0] == letters[1]) {
				live_sleep_ms(1);
				continue;
			}
			enter_cgroup(directories[1]);
			enter_cgroup(directories[0]);
		}
		enter_cgroup(cgroup_root);
		atomic_fetch_add(&ready[2], 1);
	}
}

/* Begins a turn, or, with 0, ends one; waits until all three children have followed. */
static void set_turn(unsigned int turn)
{
	atomic_store(&ready[2], 0);
	atomic_store(&ready[1], turn);
	await("all children have followed", atomic_load(&ready[2]) == 3);
}

static void expect_cgroup(const struct snapshot *snapshot, pid_t pid, unsigned int turn, char letter)
{
	char directory[CGROUP_PATH_SIZE];
	const char *found = live_cgroup(snapshot, live_row(snapshot, (uint32_t)pid, (uint32_t)pid));

	cgroup_directory(directory, turn, letter);
	if (strcmp(strrchr(found, '/'), strrchr(directory, '/')) != 0)
		fail_msg("%s is said to be in %s", directory, found);
}

static bool make_cgroups(unsigned int turn)
{
	char first[CGROUP_PATH_SIZE], second[CGROUP_PATH_SIZE];

	cgroup_directory(first, turn, 'a');
	cgroup_directory(second, turn, 'b');
	if (test_cgroup_make(first) != 0)
		return false;
	assert_int_equal(test_cgroup_make(second), 0);
	return true;
}

static void remove_cgroups(unsigned int turn)
{
	char directory[CGROUP_PATH_SIZE];

	for (char letter = 'a'; letter <= 'b'; letter++) {
		cgroup_directory(directory, turn, letter);
		test_cgroup_remove(directory);
	}
}

/*
 * A process that goes to and fro, and is asked first for its cgroup, as the lowest number; the pass may have
 * met it in the other one. Those that stay are shown where they are.
 */
static void test_cgroups_of_movers(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	struct snapshot *round = live_round(capture);
	const char *root = round->provenance.roots[ROOT_CGROUP];
	pid_t mover, in_first, in_second;

	(void)state;
	snprintf(cgroup_root, sizeof(cgroup_root), "%s", root != NULL ? root : "");
	cgroup_owner = getpid();
	snapshot_release(round);
	if (cgroup_root[0] == '\0' || !make_cgroups(1)) {
		capture_close(capture);
		skip_test("cannot make a cgroup here");
	}
	for (size_t i = 0; i < 3; i++)
		atomic_store(&ready[i], 0);
	mover = follow_turns("ab");
	in_first = follow_turns("aa");
	in_second = follow_turns("bb");
	for (unsigned int turn = 1; turn <= TURNS; turn++) {
		if (turn != 1)
			assert_true(make_cgroups(turn));
		set_turn(turn);
		for (int i = 0; i < 2; i++) {
			round = live_round(capture);
			expect_cgroup(round, in_first, turn, 'a');
			expect_cgroup(round, in_second, turn, 'b');
			snapshot_release(round);
		}
		set_turn(0);
		remove_cgroups(turn);
	}
	live_end(mover);
	live_end(in_first);
	live_end(in_second);
	capture_close(capture);
}

/* --- which threads moved --- */

/* Thread 0 runs, 1 changes its name, 2 its nice value, each when it is told to; the others stand still. */
static void *change(void *argument)
{
	uintptr_t index = (uintptr_t)argument;

	atomic_fetch_add(ready, 1);
	while (atomic_load(&ready[1]) != index + 1)
		syscall(SYS_futex, &ready[1], 0 /* FUTEX_WAIT */, atomic_load(&ready[1]), NULL, NULL, 0);
	if (index == 0)
		live_spin_ms(5);
	if (index == 1)
		pthread_setname_np(pthread_self(), "renamed");
	if (index == 2)
		setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 7);
	atomic_store(&ready[2], (unsigned int)index + 1);
	for (;;)
		pause();
	return NULL;
}

static void run_changing(void *argument)
{
	pthread_t thread;

	(void)argument;
	for (uintptr_t i = 0; i < CHANGED; i++) {
		if (pthread_create(&thread, NULL, change, (void *)i) != 0)
			_exit(1);
	}
	for (uintptr_t i = 0; i < PARKED / 10; i++) {
		if (pthread_create(&thread, NULL, park, (void *)(i * 8)) != 0)
			_exit(1);
	}
}

static bool has_moved(const struct snapshot *snapshot, long row)
{
	for (size_t i = 0; i < snapshot->moved_count; i++) {
		if (snapshot->moved[i] == (uint32_t)row)
			return true;
	}
	return false;
}

/* Rows that are not listed as moved have kept their values. */
static void expect_moved_complete(const struct snapshot *before, const struct snapshot *round)
{
	assert_true(round->moved_known);
	assert_int_equal(round->carried_serial, before->serial);
	for (size_t i = 0; i < round->moved_count; i++)
		assert_true(i == 0 || round->moved[i] > round->moved[i - 1]);
	for (size_t row = 0; row < round->thread_count; row++) {
		if (has_moved(round, (long)row))
			continue;
		assert_int_not_equal(round->carried_row[row], UINT32_MAX);
		expect_equal_thread(before, round->carried_row[row], round, (long)row, true);
	}
}

/* Rounds of the same threads share the columns in which nothing changed. */
static void expect_shared(const struct snapshot *before, const struct snapshot *round)
{
	size_t shared = 0;

	assert_int_equal(before->thread_count, round->thread_count);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (before->values[i] == NULL || round->values[i] == NULL ||
		    memcmp(before->values[i], round->values[i],
			   round->thread_count * sizeof(*round->values[i])) != 0)
			continue;
		assert_ptr_equal(before->values[i], round->values[i]);
		shared++;
	}
	assert_in_range(shared, 1, METRIC_COUNT);
}

static bool nothing_moves(struct capture *capture, struct snapshot **round)
{
	snapshot_release(*round);
	*round = live_round(capture);
	return (*round)->moved_known && (*round)->moved_count == 0;
}

/* The first round in which no thread has moved. */
static struct snapshot *settle(struct capture *capture)
{
	struct snapshot *round = NULL;

	if (wait_until(nothing_moves(capture, &round)))
		return round;
	for (size_t i = 0; i < round->moved_count; i++)
		print_message("%u %s still moves, in state %c\n", round->tid[round->moved[i]],
			      live_comm(round, round->moved[i]),
			      (char)snapshot_value(round, round->moved[i], METRIC_STATE));
	fail_msg("the threads do not come to rest");
	return NULL;
}

/* Whether the numbers of the process, which are those of each thread, are as before. */
static bool is_process_still(const struct snapshot *before, const struct snapshot *round)
{
	for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
		if (is_of_the_process(metric) &&
		    snapshot_value(before, 0, metric) != snapshot_value(round, 0, metric))
			return false;
	}
	return true;
}

static void test_movers(void **state)
{
	pid_t child = start(run_changing);
	uint32_t scope = (uint32_t)child;
	struct capture *capture = live_open(&scope, 1);
	struct snapshot *before;

	(void)state;
	assert_true(is_ready(CHANGED + PARKED / 10));
	before = settle(capture);
	for (unsigned int turn = 1; turn <= CHANGED; turn++) {
		struct snapshot *round;

		atomic_store(&ready[1], turn);
		syscall(SYS_futex, &ready[1], 1 /* FUTEX_WAKE */, CHANGED, NULL, NULL, 0);
		await("the thread has changed", atomic_load(&ready[2]) == turn);
		assert_true(live_wait_for_sleep(child, (pid_t)before->tid[turn]));
		round = live_round(capture);
		expect_moved_complete(before, round);
		expect_shared(before, round);
		/* the threads were made in this order */
		assert_true(has_moved(round, (long)turn));
		if (is_process_still(before, round))
			assert_in_range(round->moved_count, 1, CHANGED);
		snapshot_release(before);
		before = round;
	}
	assert_string_equal(live_comm(before, 2), "renamed");
	assert_int_equal(snapshot_value(before, 3, METRIC_NICE), 7);
	snapshot_release(before);
	snapshot_release(settle(capture));
	capture_close(capture);
	live_end(child);
}

/* --- the memory of processes --- */

enum {
	TOUCHED = 32 << 20,       /* bytes */
	COUNTED_APART = 20 << 10, /* bytes, which a CPU keeps in its part of the counter */
};

static void *hold(void *argument)
{
	atomic_fetch_add(ready, 1);
	for (;;)
		pause();
	return argument;
}

/* Two threads, and in the second child the leader has gone. Some memory is counted by each CPU that there is.
 */
static void touch_memory(void *leaves)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread;

	for (long cpu = 0; cpu < cpus; cpu++) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET((size_t)cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		if (mmap(NULL, COUNTED_APART, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
			_exit(1);
	}
	if (mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) ==
		    MAP_FAILED ||
	    pthread_create(&thread, NULL, hold, NULL) != 0)
		_exit(1);
	if (leaves != NULL && !wait_until(atomic_load(ready) != 0))
		_exit(1);
}

/* As the page tables have it, in bytes. */
static uint64_t mapped_resident(pid_t process)
{
	char path[64], line[256];
	unsigned long long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)process);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL && sscanf(line, "Rss: %llu kB", &kib) != 1)
		;
	fclose(file);
	return kib * 1024;
}

static uint64_t captured_resident(const struct snapshot *snapshot, pid_t process, uint16_t expected)
{
	const long row = live_row(snapshot, (uint32_t)process, (uint32_t)process);
	uint64_t bytes = 0;
	size_t hint = 0;

	assert_true(row >= 0);
	assert_int_equal(snapshot->resident_missing, REASON_READ);
	assert_int_equal(snapshot_resident(snapshot, (size_t)row, &hint, &bytes), expected);
	return bytes;
}

/* Sleeping processes have what is in their page tables, with both backends, and once each. */
static void test_resident(void **state)
{
	const enum capture_backend backends[] = {live_backend, CAPTURE_BACKEND_PROCFS};
	const enum capture_backend chosen = live_backend;
	const pid_t child = start(touch_memory);
	const uint32_t kernel_thread = 2;

	(void)state;
	assert_true(is_ready(1));
	assert_true(live_wait_for_sleep(child, child));
	for (size_t i = 0; i < 2; i++) {
		struct capture *capture;
		struct snapshot *snapshot;
		uint64_t bytes;

		live_backend = backends[i];
		capture = live_open(NULL, 0);
		snapshot = live_round(capture);
		bytes = captured_resident(snapshot, child, REASON_READ);
		assert_true(bytes >= TOUCHED);
		if (snapshot->provenance.resident_error == 0)
			assert_int_equal(bytes, mapped_resident(child));
		captured_resident(snapshot, getpid(), REASON_READ);
		if (live_row(snapshot, kernel_thread, kernel_thread) >= 0)
			captured_resident(snapshot, (pid_t)kernel_thread, STATE_ABSENT);
		for (size_t k = 1; k < snapshot->resident_count; k++)
			assert_true(snapshot->resident[k - 1].tgid < snapshot->resident[k].tgid);
		snapshot_release(snapshot);
		/* a round in which it did not run has it too */
		snapshot = live_round(capture);
		assert_int_equal(captured_resident(snapshot, child, REASON_READ), bytes);
		snapshot_release(snapshot);
		capture_close(capture);
	}
	live_backend = chosen;
	live_end(child);
}

static void leave(void *argument)
{
	touch_memory(argument);
	syscall(SYS_exit, 0); /* of this thread alone */
}

/* A process whose leader has ended has the memory that its other threads show. */
static bool is_zombie(struct capture *capture, pid_t process, struct snapshot **snapshot)
{
	long row;

	snapshot_release(*snapshot);
	*snapshot = live_full(capture);
	row = live_row(*snapshot, (uint32_t)process, (uint32_t)process);
	assert_true(row >= 0);
	return snapshot_value(*snapshot, (size_t)row, METRIC_STATE) == 'Z';
}

static void test_resident_without_leader(void **state)
{
	const enum capture_backend backends[] = {live_backend, CAPTURE_BACKEND_PROCFS};
	const enum capture_backend chosen = live_backend;
	pid_t child;

	(void)state;
	atomic_store(ready, 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		leave(&child);
	}
	assert_true(is_ready(1));
	for (size_t i = 0; i < 2; i++) {
		struct capture *capture;
		struct snapshot *snapshot = NULL;

		live_backend = backends[i];
		capture = live_open((const uint32_t[]){(uint32_t)child}, 1);
		await("the leader has gone", is_zombie(capture, child, &snapshot));
		assert_true(captured_resident(snapshot, child, REASON_READ) >= TOUCHED);
		snapshot_release(snapshot);
		capture_close(capture);
	}
	live_backend = chosen;
	live_end(child);
}

/* --- another task under the same number --- */

static void *execute(void *argument)
{
	static char program[] = "/bin/sleep", seconds[] = "1000";
	char *arguments[] = {program, seconds, NULL};

	atomic_fetch_add(ready, 1);
	while (atomic_load(&ready[1]) == 0)
		live_sleep_ms(5);
	live_spin_ms(300);
	execv(arguments[0], arguments);
	return argument;
}

static void run_executing(void *argument)
{
	pthread_t thread;

	(void)argument;
	if (pthread_create(&thread, NULL, execute, NULL) != 0)
		_exit(1);
}

/* A thread that is not the leader takes the leader's number over, and keeps its own counters. */
static void test_exec_by_a_thread(void **state)
{
	pid_t child = start(run_executing);
	uint32_t scope = (uint32_t)child;
	struct capture *capture = live_open(&scope, 1);
	struct snapshot *before, *after;

	(void)state;
	assert_true(is_ready(1));
	before = live_round(capture);
	assert_int_equal(before->thread_count, 2);
	atomic_store(&ready[1], 1);
	assert_true(live_wait_for_name(child, "sleep"));
	after = live_round(capture);
	assert_int_equal(after->thread_count, 1);
	assert_int_equal(after->start_time[0], before->start_time[0]);
	assert_int_equal(after->carried_row[0], before->tid[0] == before->tgid[0]);
	assert_true(snapshot_value(after, 0, METRIC_RUN_TIME_NS) >=
		    snapshot_value(before, after->carried_row[0], METRIC_RUN_TIME_NS) + 300 * NS_PER_MS);
	assert_true(!after->moved_known || has_moved(after, 0));
	assert_string_equal(live_comm(after, 0), "sleep");
	snapshot_release(before);
	snapshot_release(after);
	capture_close(capture);
	live_end(child);
}

/* --- passes that fail --- */

/* From now on no program can be run and no iterator made: /dev/null stands in the place of what was loaded.
 */
static void break_bpf(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	size_t broken = 0;

	assert_true(null >= 0 && directory != NULL);
	while ((entry = readdir(directory)) != NULL) {
		char path[300], target[64];
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		if (strncmp(target, "anon_inode:bpf", strlen("anon_inode:bpf")) != 0)
			continue;
		assert_true(dup2(null, atoi(entry->d_name)) >= 0);
		broken++;
	}
	closedir(directory);
	close(null);
	assert_true(broken >= 2);
}

static void expect_procfs(const struct snapshot *round, pid_t child)
{
	const struct feature_result *passes = &round->provenance.features[FEATURE_PASSES];
	long row = live_row(round, (uint32_t)child, (uint32_t)child);

	assert_int_equal(passes->state, FEATURE_STATE_OFF);
	assert_non_null(strstr(passes->detail, "a pass failed: "));
	assert_int_not_equal(round->provenance.features[FEATURE_EXITS].state, FEATURE_STATE_ON);
	assert_int_equal(round->thread_count, 2);
	assert_true(row >= 0);
	assert_int_equal(live_reason(round, row, METRIC_RUN_TIME_NS), REASON_READ);
	assert_string_equal(live_comm(round, row), "test_capture_pa");
}

/* Threads are read from procfs from the round on in which a pass fails, and that is said once. */
static void test_failed_pass(void **state)
{
	pid_t child = start(run_executing);
	uint32_t scope = (uint32_t)child;
	struct capture *capture;
	struct snapshot *round;

	(void)state;
	assert_true(is_ready(1));
	live_backend = CAPTURE_BACKEND_AUTOMATIC;
	capture = live_open(&scope, 1);
	live_backend = CAPTURE_BACKEND_BPF;
	for (int i = 0; i < 2; i++)
		snapshot_release(live_round(capture));
	assert_null(capture_take_notice(capture));
	break_bpf();
	for (int i = 0; i < 3; i++) {
		const char *notice;

		round = i == 1 ? live_full(capture) : live_round(capture);
		expect_procfs(round, child);
		snapshot_release(round);
		notice = capture_take_notice(capture);
		assert_true((notice != NULL) == (i == 0));
		if (notice != NULL)
			assert_non_null(strstr(notice, "procfs"));
	}
	capture_close(capture);
	live_end(child);
}

/* Exits with 0 where measuring waits ends, with a reason, once bpf(2) is refused; 77 where it cannot begin.
 */
static void run_refused(void)
{
	const struct capture_options options = {.backend = CAPTURE_BACKEND_AUTOMATIC, .latency = true};
	const struct feature_result *feature;
	struct capture *capture;
	struct snapshot *round;
	struct error error;

	if (capture_open(&options, &capture, &error) < 0 || capture_switch_latency(capture, true) < 0)
		_exit(77);
	round = live_round(capture);
	if (!round->latency.present || !live_refuse_bpf())
		_exit(1);
	snapshot_release(round);
	round = live_round(capture);
	feature = &round->provenance.features[FEATURE_LATENCY];
	if (round->latency.present || feature->state != FEATURE_STATE_OFF ||
	    feature->reason != REASON_NOT_PERMITTED || strstr(feature->detail, "refused") == NULL)
		_exit(2);
	_exit(capture_switch_latency(capture, true) == -ENOTSUP ? 0 : 3);
}

/* A refusal for passes holds for everything that BPF measures. */
static void test_refused_latency(void **state)
{
	const int status = live_run(run_refused);

	(void)state;
	if (status == 77)
		skip_test("waits cannot be measured here");
	assert_int_equal(status, 0);
}

/* A capture that requires BPF fails without it. */
static void test_failed_pass_is_an_error(void **state)
{
	const struct capture_options options = {.backend = CAPTURE_BACKEND_BPF};
	const struct capture_round_options wanted = {.only_needed = true};
	struct capture *capture;
	struct snapshot *round;
	struct error error;

	(void)state;
	assert_int_equal(capture_open(&options, &capture, &error), 0);
	assert_int_equal(capture_round(capture, &wanted, NULL, &round, &error), 0);
	snapshot_release(round);
	break_bpf();
	for (int i = 0; i < 2; i++) {
		assert_true(capture_round(capture, &wanted, NULL, &round, &error) < 0);
		assert_non_null(strstr(error.text, "cannot read threads by BPF: "));
	}
	capture_close(capture);
}

/* --- decoding --- */

static struct task_record record_of_times(uint64_t run, uint64_t user, uint64_t system)
{
	return (struct task_record){.run_time = run * NS_PER_TICK,
				    .user_time = user * NS_PER_TICK,
				    .system_time = system * NS_PER_TICK};
}

static void expect_times(const struct task_record *record, struct task_times shown, uint64_t user,
			 uint64_t system)
{
	struct snapshot *snapshot = snapshot_create();
	struct task_parts parts = {.record = record};

	snapshot_add_thread(snapshot, 1, 1);
	task_decode(snapshot, 0, &parts, true, shown);
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_UTIME_CLOCK_TICKS), user);
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_STIME_CLOCK_TICKS), system);
	snapshot_release(snapshot);
}

static void test_times(void **state)
{
	const struct task_times none = {0};
	struct task_record record = record_of_times(100, 30, 10);

	(void)state;
	expect_times(&record, none, 75, 25);
	/* what was shown before does not fall, and the sum stays the run time */
	expect_times(&record, (struct task_times){80, 10}, 80, 20);
	expect_times(&record, (struct task_times){50, 40}, 60, 40);
	record.previous_user_time = 90 * NS_PER_TICK;
	expect_times(&record, none, 90, 10);
	record.previous_system_time = 10 * NS_PER_TICK;
	expect_times(&record, none, 90, 10);
	record = record_of_times(100, 0, 0);
	expect_times(&record, none, 100, 0);
	record = record_of_times(100, 0, 3);
	expect_times(&record, none, 0, 100);
	record = record_of_times(UINT64_C(1) << 30, UINT64_C(1) << 29, UINT64_C(3) << 29);
	expect_times(&record, none, UINT64_C(1) << 28, UINT64_C(3) << 28);
}

static void test_states(void **state)
{
	static const struct {
		uint32_t state, exit_state;
		char letter;
		uint32_t flags, task_flags;
	} cases[] = {
		{0, 0, 'R', 0, 0},
		{1, 0, 'S', 0, 0},
		{2, 0, 'D', 0, 0},
		{4, 0, 'T', 0, 0},
		{8, 0, 't', 0, 0},
		{0, 0x10, 'X', 0, 0},
		{0, 0x20, 'Z', 0, 0},
		{0x40, 0, 'P', 0, 0},
		{0x402, 0, 'I', 0, 0},
		{0x102, 0, 'D', 0, 0},
		{0x1000, 0, 'D', 0, 0},
		{0x80, 0x20, 'Z', 0, 0},
		{0x2001, 0, 'S', 0, 0},
		{0x2102, 0, 'D', 0, 0}, /* the parent of a vfork */
		/* the v1 freezer, also before 6.1; kernel threads later reused its flag */
		{0x8000, 0, 'F', 0, 0},
		{2, 0, 'F', 0, TASK_FROZEN_BEFORE},
		{1, 0, 'S', 0, TASK_FROZEN_BEFORE},
		{2, 0, 'D', 0, TASK_FROZEN_BEFORE | TASK_KERNEL_THREAD},
		/* the v2 freezer: only a sleeping task or one in vfork is frozen */
		{0x2001, 0, 'F', TASK_IN_FREEZER, 0},
		{0x2102, 0, 'F', TASK_IN_FREEZER, 0},
		{0, 0, 'R', TASK_IN_FREEZER, 0},
		{4, 0, 'T', TASK_IN_FREEZER, 0},
		{8, 0, 't', TASK_IN_FREEZER, 0},
		{0x80, 0x20, 'Z', TASK_IN_FREEZER, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct task_record record = {.state = cases[i].state,
					     .exit_state = cases[i].exit_state,
					     .flags = cases[i].flags,
					     .task_flags = cases[i].task_flags};

		assert_int_equal(task_state_letter(&record), cases[i].letter);
	}
}

static void test_old_kernels(void **state)
{
	(void)state;
	assert_true(release_is_older("5.15.0-91-generic", 5, 16));
	assert_true(release_is_older("4.19.0", 5, 16));
	assert_false(release_is_older("5.16.0", 5, 16));
	assert_false(release_is_older("6.1.0-50-amd64", 5, 16));
	assert_false(release_is_older("6", 5, 16));
}

/* Any change of a byte is seen but of those that say how a record was made, and of the call. */
static void test_fingerprint(void **state)
{
	struct task_whole whole;
	struct task_parts parts = {&whole.record, &whole.delays, &whole.statistics, &whole.call};
	unsigned char *bytes = (unsigned char *)&whole;
	uint64_t first;

	(void)state;
	for (size_t i = 0; i < sizeof(whole); i++)
		bytes[i] = (unsigned char)(i * 37);
	first = task_fingerprint(&parts);
	for (size_t i = 0; i < sizeof(whole); i++) {
		bool apart = (i >= offsetof(struct task_record, pass) &&
			      i < offsetof(struct task_record, start_boottime)) ||
			     i >= offsetof(struct task_whole, call);

		bytes[i] ^= 1;
		assert_int_equal(task_fingerprint(&parts) != first, !apart);
		bytes[i] ^= 1;
	}
	assert_int_equal(task_fingerprint(&parts), first);
}

int main(void)
{
	const struct CMUnitTest by_bpf[] = {
		cmocka_unit_test(test_equals_procfs),
		cmocka_unit_test(test_scope_bounds_a_pass),
		cmocka_unit_test(test_scope_follows_a_number),
		cmocka_unit_test(test_room_for_delays),
		cmocka_unit_test(test_nothing_is_left_out),
		cmocka_unit_test(test_mapped_once_wanted),
		cmocka_unit_test(test_no_run_for_nothing),
		cmocka_unit_test(test_many_chosen),
		cmocka_unit_test(test_cgroups_of_movers),
		cmocka_unit_test(test_movers),
		cmocka_unit_test(test_exec_by_a_thread),
		cmocka_unit_test(test_failed_pass),
		cmocka_unit_test(test_failed_pass_is_an_error),
		cmocka_unit_test(test_refused_latency),
		cmocka_unit_test(test_resident),
		cmocka_unit_test(test_resident_without_leader),
	};
	const struct CMUnitTest pure[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_fingerprint),
		cmocka_unit_test(test_old_kernels),
	};
	int failures = cmocka_run_group_tests_name("decoding", pure, NULL, NULL);

	ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ready == MAP_FAILED)
		return 1;
	if (live_choose_bpf())
		failures += cmocka_run_group_tests_name("passes", by_bpf, NULL, NULL);
	return failures;
}
