/* SPDX-License-Identifier: GPL-2.0-only */
/* Lengths of waits, as the programs in the kernel measure them, and as a snapshot has them. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cgroup.h"
#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/clock.h"
#include "base/memory.h"
#include "capture/bpf/bpf_latency.h"
#include "capture/latency_watch.h"
#include "live.h"
#include "tests/measure.h"
#include "tests/wait.h"

static const struct latency_calls no_calls;

enum {
	FUTURE_S = 1000,
	NAMES = 1000, /* that a renamer goes by in turn */
	RENAMERS = 4,
	READINGS = 200,
	ROWS = 5000,
	MANY_NAMES = 12000, /* as many as a host with hundreds of containers may have */
	IDLE_READINGS = 64, /* more than names without waits keep their room where it is scarce */
	IDLE_NAMES = 4000,  /* more than keep it for ever */
};

/* NULL, with a printed reason, where it cannot be measured. */
static struct bpf_latency *measure(uint32_t process)
{
	struct feature_result result;
	struct arena arena = {0};
	struct bpf_latency *latency = bpf_latency_open(&process, 1, &no_calls, &arena, &result);

	if (latency == NULL)
		print_message("SKIP: %s\n", result.detail);
	else
		assert_int_equal(bpf_latency_switch(latency, true), 0);
	arena_release(&arena);
	return latency;
}

/* --- the longest --- */

static atomic_bool stop;

/* Waits a little under one name after the other. */
static void read_waits(struct bpf_latency *latency,
		       void (*take)(void *context, const struct bpf_waits *waits), void *context,
		       struct bpf_latency_cost *ret_cost)
{
	bpf_latency_read(latency, &(struct bpf_latency_taker){.waits = take, .context = context}, ret_cost);
}

static void *rename_thread(void *argument)
{
	const struct timespec pause = {0, 1000};
	char name[TASK_COMM_SIZE];

	for (unsigned int i = 0; !atomic_load(&stop); i++) {
		snprintf(name, sizeof(name), "%c%u", 'a' + *(const int *)argument, i % NAMES);
		prctl(PR_SET_NAME, name);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

struct longest_check {
	uint64_t rows, wrong;
};

/* The longest of a row is in its highest bucket. */
static void check_longest(void *context, const struct bpf_waits *waits)
{
	struct longest_check *check = context;

	for (size_t kind = 0; kind < LATENCY_RECORD_KINDS; kind++) {
		uint32_t highest = LATENCY_RECORD_BUCKETS;

		for (uint32_t i = 0; i < LATENCY_RECORD_BUCKETS; i++)
			highest = waits->buckets[kind][i] != 0 ? i : highest;
		if (highest == LATENCY_RECORD_BUCKETS) {
			assert_int_equal(waits->longest[kind], 0);
			continue;
		}
		check->rows++;
		check->wrong += latency_record_bucket(waits->longest[kind]) != highest;
	}
}

/* At whatever moment of a wait its slot is read. */
static void test_longest(void **state)
{
	struct bpf_latency *latency = measure((uint32_t)getpid());
	struct longest_check check = {0};
	pthread_t threads[RENAMERS];
	int numbers[RENAMERS];
	struct bpf_latency_cost cost;
	bool enough;

	(void)state;
	if (latency == NULL)
		skip();
	for (int i = 0; i < RENAMERS; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, rename_thread, &numbers[i]), 0);
	}
	for (int i = 0; i < READINGS; i++)
		read_waits(latency, check_longest, &check, &cost);
	enough = wait_until((read_waits(latency, check_longest, &check, &cost), check.rows >= ROWS));
	atomic_store(&stop, true);
	for (size_t i = 0; i < RENAMERS; i++)
		pthread_join(threads[i], NULL);
	bpf_latency_close(latency);
	print_message("%llu rows, of %llu the longest is not in the highest bucket\n",
		      (unsigned long long)check.rows, (unsigned long long)check.wrong);
	assert_true(enough);
	assert_int_equal(check.wrong, 0);
}

/* --- room for names --- */

/* Waits once under each of `count` names, but for a few where the time is over before the CPU is left. */
static void wait_under_names(unsigned int count)
{
	const struct timespec pause = {0, 1000};
	char name[TASK_COMM_SIZE];

	for (unsigned int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "name-%u", i);
		prctl(PR_SET_NAME, name);
		nanosleep(&pause, NULL);
	}
}

/* Whether so many were found of them. */
static bool are_most(size_t found, size_t count)
{
	return found <= count && found >= count / 10 * 9;
}

struct names_check {
	size_t found; /* of those names */
	uint64_t unnamed;
};

static void count_names(void *context, const struct bpf_waits *waits)
{
	struct names_check *check = context;

	if (waits->names != NULL)
		check->found += strncmp(waits->names->thread, "name-", strlen("name-")) == 0;
	for (size_t i = 0; waits->names == NULL && i < LATENCY_RECORD_BUCKETS; i++)
		check->unnamed += waits->buckets[0][i];
}

static void *wait_under_many_names(void *argument)
{
	wait_under_names(MANY_NAMES);
	return argument;
}

/* All are counted under their names. */
static void test_many_names(void **state)
{
	struct bpf_latency *latency = measure((uint32_t)getpid());
	struct names_check check = {0};
	struct bpf_latency_cost cost;
	pthread_t thread;

	(void)state;
	if (latency == NULL)
		skip();
	assert_int_equal(pthread_create(&thread, NULL, wait_under_many_names, NULL), 0);
	pthread_join(thread, NULL);
	read_waits(latency, count_names, &check, &cost);
	bpf_latency_close(latency);
	print_message("%zu of %d names\n", check.found, (int)MANY_NAMES);
	assert_int_equal(check.unnamed, 0);
	assert_true(are_most(check.found, MANY_NAMES));
}

/* Exits with 0 where the waits are counted under names that had none for long, which could not be taken back.
 */
static void run_refused(void)
{
	struct bpf_latency *latency = measure((uint32_t)getpid());
	struct names_check before = {0}, idle = {0}, after = {0};
	struct bpf_latency_cost cost;

	wait_under_names(IDLE_NAMES);
	read_waits(latency, count_names, &before, &cost);
	if (!are_most(before.found, IDLE_NAMES) || !live_refuse_bpf())
		_exit(1);
	for (int i = 0; i < IDLE_READINGS; i++)
		read_waits(latency, count_names, &idle, &cost);
	/* what it cost is not known, which is not the same as nothing */
	if (cost.events != 0)
		_exit(2);
	wait_under_names(IDLE_NAMES);
	read_waits(latency, count_names, &after, &cost);
	_exit(are_most(after.found, IDLE_NAMES) ? 0 : 3);
}

/* A slot that the kernel refuses to take back is not lost. */
static void test_refused(void **state)
{
	struct bpf_latency *latency = measure((uint32_t)getpid());

	(void)state;
	if (latency == NULL)
		skip();
	bpf_latency_close(latency);
	assert_int_equal(live_run(run_refused), 0);
}

/* --- memory --- */

/* What is loaded and never switched on takes next to nothing of this process's memory. */
static void test_mapped_once_measured(void **state)
{
	const uint32_t process = (uint32_t)getpid();
	const size_t counts = LATENCY_COUNTERS * sizeof(struct latency_counts);
	struct feature_result result;
	struct arena arena = {0};
	struct bpf_latency *latency = bpf_latency_open(&process, 1, &no_calls, &arena, &result);
	size_t loaded, measured;

	(void)state;
	if (latency == NULL) {
		print_message("SKIP: %s\n", result.detail);
		arena_release(&arena);
		skip();
	}
	arena_release(&arena);
	loaded = live_bpf_map_bytes();
	assert_int_equal(bpf_latency_switch(latency, true), 0);
	measured = live_bpf_map_bytes();
	assert_true(loaded < counts / 10);
	assert_true(measured > counts);
	/* once is enough */
	assert_int_equal(bpf_latency_switch(latency, false), 0);
	assert_int_equal(bpf_latency_switch(latency, true), 0);
	assert_int_equal(live_bpf_map_bytes(), measured);
	bpf_latency_close(latency);
	assert_int_equal(live_bpf_map_bytes(), 0);
}

/* --- a clock that goes back --- */

/* A child that gives back what it gets through pipes. */
struct echo {
	pid_t child;
	int pidfd, to, from;
};

static void start_echo(struct echo *echo)
{
	int to[2], from[2];
	char byte;

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	echo->child = fork();
	if (echo->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	assert_true(echo->child > 0);
	close(to[0]);
	close(from[1]);
	echo->to = to[1];
	echo->from = from[0];
	echo->pidfd = (int)syscall(SYS_pidfd_open, echo->child, 0);
	assert_true(echo->pidfd >= 0);
}

static void ask_echo(const struct echo *echo)
{
	char byte = 0;

	assert_int_equal(write(echo->to, &byte, 1), 1);
	assert_int_equal(read(echo->from, &byte, 1), 1);
}

static void end_echo(const struct echo *echo)
{
	close(echo->to);
	close(echo->from);
	close(echo->pidfd);
	waitpid(echo->child, NULL, 0);
}

struct all_waits {
	uint64_t counts[LATENCY_RECORD_KINDS], sum, longest;
};

static void add_waits(void *context, const struct bpf_waits *waits)
{
	struct all_waits *all = context;

	for (size_t kind = 0; kind < LATENCY_RECORD_KINDS; kind++) {
		for (size_t i = 0; i < LATENCY_RECORD_BUCKETS; i++)
			all->counts[kind] += waits->buckets[kind][i];
		all->sum += waits->sum[kind];
		all->longest = waits->longest[kind] > all->longest ? waits->longest[kind] : all->longest;
	}
}

static long call_bpf(int command, union bpf_attr *attributes)
{
	return syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

/* The map with the times of threads, among the files that are open here. */
static int find_times(void)
{
	for (int descriptor = 3; descriptor < 1024; descriptor++) {
		struct bpf_map_info info = {0};
		union bpf_attr attributes = {
			.info = {.bpf_fd = (uint32_t)descriptor,
				 .info_len = sizeof(info),
				 .info = (uintptr_t)&info},
		};

		if (call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attributes) == 0 && strcmp(info.name, "threads") == 0 &&
		    info.type == BPF_MAP_TYPE_TASK_STORAGE && info.value_size == sizeof(struct latency_times))
			return descriptor;
	}
	fail_msg("the map `threads` is not among the open files");
	return -1;
}

/* Lets the waits of a thread have begun at a time. */
static void set_times(int map, int pidfd, uint64_t from)
{
	struct latency_times times;
	union bpf_attr attributes = {
		.map_fd = (uint32_t)map,
		.key = (uintptr_t)&pidfd,
		.value = (uintptr_t)&times,
	};

	assert_int_equal(call_bpf(BPF_MAP_LOOKUP_ELEM, &attributes), 0);
	times.queued = times.blocked = from;
	attributes.flags = BPF_EXIST;
	assert_int_equal(call_bpf(BPF_MAP_UPDATE_ELEM, &attributes), 0);
}

/* A wait that ends before it began, by the clocks of two CPUs, took no time. */
static void test_clock_goes_back(void **state)
{
	struct bpf_latency *latency;
	struct all_waits all = {0};
	struct bpf_latency_cost cost;
	struct echo echo;
	bool known;

	(void)state;
	start_echo(&echo);
	latency = measure((uint32_t)echo.child);
	if (latency == NULL) {
		end_echo(&echo);
		skip();
	}
	/* what is written here is lost where the child has not gone to sleep yet: then once more */
	known = wait_until(
		live_wait_for_sleep(echo.child, echo.child) &&
		(set_times(find_times(), echo.pidfd, clock_ns(CLOCK_MONOTONIC) + FUTURE_S * NS_PER_S),
		 ask_echo(&echo), read_waits(latency, add_waits, &all, &cost), all.counts[1] != 0));
	bpf_latency_close(latency);
	end_echo(&echo);
	assert_true(known);
	assert_true(all.counts[0] > 0);
	assert_true(all.longest < WAIT_AT_MOST_S * NS_PER_S);
	assert_true(all.sum < 2 * WAIT_AT_MOST_S * NS_PER_S);
}

/* --- names --- */

static const char *const spaced_names[] = {"spaced", "spaced ", "  spaced"};

static void *wait_often(void *argument)
{
	pthread_setname_np(pthread_self(), spaced_names[*(const int *)argument]);
	for (;;)
		live_sleep_ms(1);
	return NULL;
}

static void run_spaced(void *argument)
{
	static int numbers[] = {0, 1, 2};
	pthread_t thread;

	(void)argument;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (pthread_create(&thread, NULL, wait_often, &numbers[i]) != 0)
			_exit(1);
	}
}

/* The number of records with the names of a thread; none has blanks at the ends. */
static size_t count_records(const struct snapshot *snapshot, long row)
{
	size_t count = 0;

	for (size_t i = 0; i < snapshot->latency.count; i++) {
		const struct latency_record *record = &snapshot->latency.records[i];
		const char *name = snapshot_text(snapshot, record->comm);
		const size_t length = string_pool_length(&snapshot->strings, record->comm);

		assert_true(length == 0 || (name[0] != ' ' && name[length - 1] != ' '));
		if (strcmp(name, live_comm(snapshot, row)) != 0)
			continue;
		assert_string_equal(snapshot_text(snapshot, record->cgroup), live_cgroup(snapshot, row));
		count++;
	}
	return count;
}

/* Whether all three have waited under their names since the round before. */
static bool have_waited(struct capture *capture)
{
	struct snapshot *snapshot = live_round(capture);
	long row = LIVE_NO_ROW;
	const bool result = live_count_named(snapshot, "spaced", &row) == 3 &&
			    count_records(snapshot, row) == 3;

	snapshot_release(snapshot);
	return result;
}

/* Blanks at the ends are no part of a name: waits are found under the name that the thread has elsewhere. */
static void test_names(void **state)
{
	const pid_t child = live_start(run_spaced, NULL);
	const uint32_t scope = (uint32_t)child;
	const struct capture_options options = {.scope = &scope, .scope_count = 1, .latency = true};
	struct capture *capture;
	struct error error;
	bool able, named;

	(void)state;
	assert_int_equal(capture_open(&options, &capture, &error), 0);
	able = capture_switch_latency(capture, true) == 0;
	named = able && wait_until(have_waited(capture));
	capture_close(capture);
	live_end(child);
	if (!able)
		skip_test("waits cannot be measured here");
	assert_true(named);
}

/* Another program of the same name, which is no child of this one: waits until it is killed. */
static void wait_as_named(void *name)
{
	static int number = 0;
	pthread_t thread;

	prctl(PR_SET_NAME, name);
	if (pthread_create(&thread, NULL, wait_often, &number) != 0)
		_exit(1);
}

static void move(pid_t process, const char *directory)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%d", (int)process);
	assert_int_equal(fclose(file), 0);
}

/* The cgroup of the waits of a process, NULL where it has none in a new round; the caller frees it. */
static char *find_cgroup(struct capture *capture, const char *process)
{
	struct snapshot *snapshot = live_round(capture);
	char *found = NULL;

	for (size_t i = 0; i < snapshot->latency.count && found == NULL; i++) {
		const struct latency_record *record = &snapshot->latency.records[i];

		if (strcmp(snapshot_text(snapshot, record->pcomm), process) == 0)
			found = memory_duplicate(snapshot_text(snapshot, record->cgroup));
	}
	snapshot_release(snapshot);
	return found;
}

/* A container of cgroup v1 is not taken for the one that a process of it has moved to. */
static void test_moved(void **state)
{
	static const char hierarchy[] = "/sys/fs/cgroup/pids";
	char directories[2][256], *cgroup = NULL;
	pid_t children[2];
	uint32_t scope[2];
	struct capture_options options = {.scope = scope, .scope_count = 2, .latency = true};
	struct capture *capture;
	struct error error;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(directories[i], sizeof(directories[i]), "%s/%064x", hierarchy,
			 (unsigned int)getpid() * 2 + (unsigned int)i);
		if (test_cgroup_make(directories[i]) != 0)
			skip_test("cannot make a cgroup in that hierarchy");
	}
	children[0] = live_start(wait_as_named, (void *)(uintptr_t) "first");
	children[1] = live_start(wait_as_named, (void *)(uintptr_t) "second");
	for (size_t i = 0; i < 2; i++) {
		scope[i] = (uint32_t)children[i];
		move(children[i], directories[0]);
	}
	kill(children[1], SIGSTOP);
	assert_int_equal(capture_open(&options, &capture, &error), 0);
	if (capture_switch_latency(capture, true) == 0) {
		snapshot_release(live_round(capture));
		live_sleep_ms(20);
		move(children[0], directories[1]);
		free(find_cgroup(capture, "first"));
		kill(children[1], SIGCONT);
		assert_true(wait_until((cgroup = find_cgroup(capture, "second")) != NULL));
	}
	capture_close(capture);
	for (size_t i = 0; i < 2; i++)
		live_end(children[i]);
	for (size_t i = 0; i < 2; i++)
		test_cgroup_remove(directories[i]);
	if (cgroup == NULL)
		skip_test("waits cannot be measured here");
	assert_string_equal(cgroup, directories[0] + strlen(hierarchy));
	free(cgroup);
}

static pid_t start_namesake(void)
{
	int ids[2];
	pid_t namesake = 0;

	assert_int_equal(pipe(ids), 0);
	if (fork() == 0) {
		const pid_t grandchild = fork();

		for (int depth = 0; grandchild == 0 && depth < 2; depth++) {
			if (fork() != 0)
				_exit(0);
		}
		if (grandchild == 0) {
			prctl(PR_SET_PDEATHSIG, 0);
			namesake = getpid();
			if (write(ids[1], &namesake, sizeof(namesake)) != sizeof(namesake))
				_exit(1);
			alarm(WAIT_AT_MOST_S);
			for (;;)
				live_sleep_ms(1);
		}
		_exit(0);
	}
	wait(NULL);
	assert_int_equal(read(ids[0], &namesake, sizeof(namesake)), sizeof(namesake));
	close(ids[0]);
	close(ids[1]);
	return namesake;
}

static bool has_record(const struct snapshot *snapshot, const char *process)
{
	for (size_t i = 0; i < snapshot->latency.count; i++) {
		if (strcmp(snapshot_text(snapshot, snapshot->latency.records[i].pcomm), process) == 0)
			return true;
	}
	return false;
}

/* Whether waits are counted for this program under its own name, and for the other one under the common one.
 */
static bool tells_apart(struct capture *capture, const char *name)
{
	struct snapshot *snapshot;
	bool result;

	live_sleep_ms(1);
	snapshot = live_round(capture);
	result = has_record(snapshot, name_self.text) && has_record(snapshot, name);
	snapshot_release(snapshot);
	return result;
}

/* Waits of another ctop are not taken for those of the one that measures. */
static void test_namesake(void **state)
{
	const struct capture_options options = {.latency = true};
	struct capture *capture;
	struct error error;
	char name[TASK_COMM_SIZE];
	bool able, told;
	pid_t namesake;

	(void)state;
	prctl(PR_SET_NAME, "ctop-namesake");
	prctl(PR_GET_NAME, name);
	namesake = start_namesake();
	assert_int_equal(capture_open(&options, &capture, &error), 0);
	able = capture_switch_latency(capture, true) == 0;
	told = able && wait_until(tells_apart(capture, name));
	capture_close(capture);
	kill(namesake, SIGKILL);
	if (!able)
		skip_test("waits cannot be measured here");
	assert_true(told);
}

/* --- processes --- */

enum {
	TWINS = 2,
};

static void run_twin(void *argument)
{
	(void)argument;
	prctl(PR_SET_NAME, "twin");
	for (;;)
		live_sleep_ms(1);
}

/* The waits of a process among those of a record, which all are of some process of that name. */
static uint64_t count_share(const struct snapshot *snapshot, uint32_t pid)
{
	const struct latency *latency = &snapshot->latency;
	uint64_t whole = 0, shares = 0, own = 0;

	for (size_t i = 0; i < latency->count; i++)
		whole += latency_count(&latency_waits_of(latency, i)->of[LATENCY_RUN_QUEUE]);
	for (size_t i = 0; i < latency->share_count; i++) {
		const struct latency_share *share = &latency->shares[i];
		const uint64_t count = latency_count(&share->waits.of[LATENCY_RUN_QUEUE]);

		shares += count;
		if (share->pid == pid &&
		    strcmp(snapshot_text(snapshot, latency->records[share->record].comm), "twin") == 0)
			own += count;
	}
	assert_int_equal(shares, whole);
	return own;
}

/* Whether each has waited since the round before. */
static bool twins_have_waited(struct capture *capture, const pid_t twins[TWINS])
{
	struct snapshot *snapshot = live_round(capture);
	bool result = true;

	for (size_t i = 0; i < TWINS; i++)
		result = count_share(snapshot, (uint32_t)twins[i]) != 0 && result;
	snapshot_release(snapshot);
	return result;
}

/* Waits are told apart by process where names are the same; and of one that ended they are of none. */
static void test_processes(void **state)
{
	const struct capture_options all = {.latency = true};
	struct capture_options options = all;
	uint32_t scope[TWINS];
	pid_t twins[TWINS];
	struct capture *capture;
	struct snapshot *snapshot;
	struct error error;
	bool able, told;

	(void)state;
	for (size_t i = 0; i < TWINS; i++) {
		twins[i] = fork();
		if (twins[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run_twin(NULL);
		}
		scope[i] = (uint32_t)twins[i];
		assert_true(live_wait_for_name(twins[i], "twin"));
	}
	options.scope = scope;
	options.scope_count = TWINS;
	assert_int_equal(capture_open(&options, &capture, &error), 0);
	able = capture_switch_latency(capture, true) == 0;
	told = able && wait_until(twins_have_waited(capture, twins));
	kill(twins[0], SIGKILL);
	waitpid(twins[0], NULL, 0);
	snapshot = live_round(capture);
	assert_int_equal(count_share(snapshot, (uint32_t)twins[0]), 0);
	snapshot_release(snapshot);
	capture_close(capture);
	kill(twins[1], SIGKILL);
	waitpid(twins[1], NULL, 0);
	if (!able)
		skip_test("waits cannot be measured here");
	assert_true(told);
}

/* --- kernels --- */

static bool suits(const char *release, const char *version)
{
	struct utsname kernel;

	snprintf(kernel.release, sizeof(kernel.release), "%s", release);
	snprintf(kernel.version, sizeof(kernel.version), "%s", version);
	return latency_watch_suits(&kernel);
}

/* A realtime kernel that would sleep at an event is not asked to. */
static void test_kernels(void **state)
{
	(void)state;
	assert_true(suits("5.14.0-427.el9.x86_64", "#1 SMP PREEMPT_DYNAMIC Tue Apr 2 2024"));
	assert_false(suits("5.14.0-427.rt.el9.x86_64", "#1 SMP PREEMPT_RT Tue Apr 2 2024"));
	assert_false(suits("6.1.0-18-rt-amd64", "#1 SMP PREEMPT_RT Debian 6.1.76-1 (2024-02-01)"));
	assert_false(suits("6.3.3-rt15", "#1 SMP PREEMPT_RT Mon May 8 2023"));
	assert_true(suits("6.4.0", "#1 SMP PREEMPT_RT Mon Jun 26 2023"));
	assert_true(suits("6.12.6-rt", "#1 SMP PREEMPT_RT Mon Jan 6 2025"));
	assert_true(suits("7.0", "#1 SMP PREEMPT_RT"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest),  cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_refused),  cmocka_unit_test(test_clock_goes_back),
		cmocka_unit_test(test_names),    cmocka_unit_test(test_moved),
		cmocka_unit_test(test_namesake), cmocka_unit_test(test_processes),
		cmocka_unit_test(test_kernels),  cmocka_unit_test(test_mapped_once_measured),
	};

	measure_waits_alone();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
