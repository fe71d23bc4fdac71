/* SPDX-License-Identifier: GPL-2.0-only */
#include "live.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "capture/procfs/taskstats.h"
#include "tests/wait.h"

enum capture_backend live_backend = CAPTURE_BACKEND_PROCFS;

static void test_bpf(void **state)
{
	struct capture_options options = {.backend = CAPTURE_BACKEND_BPF};
	struct capture *capture;
	struct error error;

	(void)state;
	if (capture_open(&options, &capture, &error) < 0)
		skip_test("%s", error.text);
	capture_close(capture);
	live_backend = CAPTURE_BACKEND_BPF;
}

bool live_choose_bpf(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_bpf)};

	return cmocka_run_group_tests_name("BPF", tests, NULL, NULL) == 0 &&
	       live_backend == CAPTURE_BACKEND_BPF;
}

struct capture *live_open(const uint32_t *scope, size_t count)
{
	struct capture_options options = {
		.scope = scope,
		.scope_count = count,
		.backend = live_backend,
	};
	struct capture *capture;
	struct error error;

	assert_int_equal(capture_open(&options, &capture, &error), 0);
	return capture;
}

struct snapshot *live_full(struct capture *capture)
{
	struct snapshot *snapshot;
	struct error error;

	assert_int_equal(capture_full(capture, UINT64_MAX, NULL, &snapshot, &error), 0);
	return snapshot;
}

static struct snapshot *take(struct capture *capture, source_set needed, bool only)
{
	struct capture_round_options options = {.needed = needed, .only_needed = only};
	struct snapshot *snapshot;
	struct error error;

	assert_int_equal(capture_round(capture, &options, NULL, &snapshot, &error), 0);
	return snapshot;
}

struct snapshot *live_round(struct capture *capture)
{
	return take(capture, (source_set)~0U, false);
}

struct snapshot *live_round_needed(struct capture *capture, source_set needed)
{
	return take(capture, needed, true);
}

struct snapshot *live_round_budgeted(struct capture *capture, source_set needed)
{
	return take(capture, needed, false);
}

long live_row(const struct snapshot *snapshot, uint32_t tgid, uint32_t tid)
{
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if (snapshot->tgid[row] == tgid && snapshot->tid[row] == tid)
			return (long)row;
	}
	return LIVE_NO_ROW;
}

static const struct triple *triple_of(const struct snapshot *snapshot, long row)
{
	assert_true(row >= 0 && (size_t)row < snapshot->thread_count);
	return &snapshot->triples[snapshot->triple[row]];
}

const char *live_comm(const struct snapshot *snapshot, long row)
{
	return snapshot_text(snapshot, triple_of(snapshot, row)->comm);
}

const char *live_pcomm(const struct snapshot *snapshot, long row)
{
	return snapshot_text(snapshot, triple_of(snapshot, row)->pcomm);
}

const char *live_cgroup(const struct snapshot *snapshot, long row)
{
	return snapshot_text(snapshot, triple_of(snapshot, row)->cgroup);
}

size_t live_count_named(const struct snapshot *snapshot, const char *name, long *ret_row)
{
	size_t count = 0;

	for (size_t row = 0; row < snapshot->thread_count; row++) {
		/* whoever adopted what an earlier test ended may take his time */
		if (strcmp(live_comm(snapshot, (long)row), name) != 0 ||
		    snapshot_value(snapshot, row, METRIC_STATE) == 'Z')
			continue;
		if (count++ == 0 && ret_row != NULL)
			*ret_row = (long)row;
	}
	return count;
}

reason_id live_reason(const struct snapshot *snapshot, long row, enum metric metric)
{
	return (reason_id)snapshot_value_state(snapshot, (size_t)row, metric);
}

int live_run(void (*body)(void))
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Tests take ids for rising in the order in which threads are made: none begins near the last of all ids. */
static void pass_last_ids(void)
{
	enum {
		IDS_LEFT = 1000
	};
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	pid_t child, last;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &last), 1);
	fclose(file);
	do {
		child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	} while (child + IDS_LEFT > last);
}

pid_t live_start(void (*body)(void *argument), void *argument)
{
	int ready[2];
	char byte;
	pid_t child;

	pass_last_ids();
	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(ready[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body(argument);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_true(live_wait_for_sleep(child, child));
	return child;
}

bool live_refuse_bpf(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void live_end(pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static bool has_name(pid_t pid, const char *name)
{
	char path[64], text[64];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	length = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file != NULL)
		fclose(file);
	return length > 0 && length - 1 == strlen(name) && memcmp(text, name, length - 1) == 0;
}

bool live_wait_for_name(pid_t pid, const char *name)
{
	return wait_until(has_name(pid, name));
}

static bool sleeps(pid_t process, pid_t thread)
{
	char path[64], text[512] = "";
	const char *name_end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, thread);
	file = fopen(path, "re");
	if (file != NULL && fgets(text, sizeof(text), file) == NULL)
		text[0] = '\0';
	if (file != NULL)
		fclose(file);
	name_end = strrchr(text, ')');
	return name_end != NULL && name_end[2] == 'S';
}

bool live_wait_for_sleep(pid_t process, pid_t thread)
{
	return wait_until(sleeps(process, thread));
}

/* The number of times a thread went to sleep; 0 where it is gone. */
static unsigned long long count_sleeps(pid_t process, pid_t thread)
{
	unsigned long long count = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", process, thread);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "voluntary_ctxt_switches: %llu", &count);
	if (file != NULL)
		fclose(file);
	return count;
}

bool live_wait_for_run(pid_t process, pid_t thread)
{
	const unsigned long long before = count_sleeps(process, thread);

	return wait_until(count_sleeps(process, thread) > before);
}

void live_sleep_ms(unsigned int milliseconds)
{
	struct timespec rest = {.tv_sec = milliseconds / 1000,
				.tv_nsec = (long)(milliseconds % 1000) * 1000000};

	while (nanosleep(&rest, &rest) != 0)
		;
}

void live_spin_ms(unsigned int milliseconds)
{
	struct timespec start, now;
	int64_t elapsed;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		elapsed = (int64_t)(now.tv_sec - start.tv_sec) * 1000000000 + (now.tv_nsec - start.tv_nsec);
	} while (elapsed < (int64_t)milliseconds * 1000000);
}

bool live_find_cpus(int cpus[static 2])
{
	cpu_set_t allowed;
	size_t count = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++) {
		if (CPU_ISSET((size_t)cpu, &allowed))
			cpus[count++] = cpu;
	}
	return count == 2;
}

size_t live_bpf_map_bytes(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t bytes = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		unsigned long long start, end;

		if (strstr(line, "bpf-map") != NULL && sscanf(line, "%llx-%llx", &start, &end) == 2)
			bytes += (size_t)(end - start);
	}
	fclose(maps);
	return bytes;
}

bool live_has_taskstats(void)
{
	struct taskstats_connection *taskstats;
	const bool has = taskstats_open(&taskstats, NULL) == 0;

	if (has)
		taskstats_close(taskstats);
	return has;
}
