/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_SYSTEM_HARNESS_H
#define CTOP_TESTS_SYSTEM_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <yajl/yajl_tree.h>

/*
 * Shared by the system tests: they run the built program on the real host and compare what it shows with the
 * worker's own counts or another kernel interface. Every helper ends the whole test with a sentence when the
 * test itself cannot go on.
 */

/* One run of a program, ended. */
struct run {
	int status; /* exit status, or -1 when a signal ended it */
	int signal; /* that signal, else 0 */
	char *output;
	size_t output_length;
	char *errors; /* NUL-terminated, as `output` is */
	int64_t cpu_us;
	int64_t peak_memory_kib;
};

/* Options of a run; a zeroed struct is an ordinary run. */
struct run_options {
	const char *input;          /* file for standard input; NULL: /dev/null */
	const char *environment[4]; /* NAME=VALUE more, or NAME to take it away */
	unsigned int
		user; /* user and group id to run as, from a copy that this user can reach; 0: as we are */
	unsigned int timeout_s; /* 0: 60 */
};

/*
 * Runs `arguments` (NULL-terminated, arguments[0] is the path of the program) and waits for its end; past the
 * timeout it is killed and the test fails. End with run_release().
 */
void run_program(struct run *run, const struct run_options *options, const char *const *arguments);

/* The same for ctop; `arguments` are those after the program's name. `options` may be NULL. */
void run_ctop(struct run *run, const struct run_options *options, const char *const *arguments);

/* The same, and fails the test unless it ends with 0. */
void run_ctop_well(struct run *run, const char *const *arguments);

/* A program that runs beside the test. */
struct running {
	pid_t child;
	int output;
	int errors;
};

void run_start(struct running *running, const struct run_options *options, const char *const *arguments);

/* Waits until its output has `count` lines that begin with a digit or are JSON: what they tell was read
 * before. */
void run_wait_for_lines(struct running *running, size_t count);

/* Stops it, so that nothing of it happens until it is to go on: whatever time that takes, it is one interval.
 * Returns false where it has ended. */
bool run_pause(const struct running *running);
void run_continue(const struct running *running);

/*
 * Starts `arguments`, in which the text `interval` is the one between two rounds, and stops it after the
 * first line of its output. It may have ended by then while the test got no CPU: then again with twice the
 * interval, at most eight times `seconds`.
 */
void run_start_paused(struct running *running, const char *const *arguments, char interval[static 16],
		      double seconds);

/*
 * Waits until it and its children have nothing to do but to wait for a time or for somebody: all of their
 * threads sleep, ten times in a row. It may have ended.
 */
void run_wait_for_rest(const struct running *running);

/* Waits until a thread is in that state, a letter of proc_pid_stat(5). */
void wait_for_state(int pid, int tid, char state);

/* Waits for its end as run_program() does. */
void run_finish(struct running *running, struct run *run, const struct run_options *options);

void run_release(struct run *run);

/* Fails the test with both streams printed unless the run ended with `status`. */
void run_expect(const struct run *run, int status);

/* A directory of this test program under /tmp, made at the first call, mode 0755, removed at exit. */
const char *scratch_directory(void);

/* scratch_directory()/NAME in one of eight static buffers. */
const char *scratch_path(const char *name);

void write_file(const char *path, const void *bytes, size_t length);

/* Writes `length` bytes of text as one zstd frame. */
void write_compressed(const char *path, const char *text, size_t length);

/* Reads a whole file, NUL-terminated; NULL when it cannot be opened. The caller frees it. */
char *read_file(const char *path, size_t *ret_length);

/* The directory where cgroup v2 is mounted, from mountinfo; false if it is not mounted. */
bool find_cgroup2(char path[static 256]);

/* The ids of two containers, by which their cgroups are called. */
#define DOCKER_ID "d0c0e2000000000000000000000000000000000000000000000000000000aaaa"
#define POD_ID    "90d0e2000000000000000000000000000000000000000000000000000000bbbb"

/*
 * Writes state files in which Docker names the first container `shop-web-1` and containerd the other
 * `shop/cart-0/app`. Only this process and its children see them, in a /var/lib and /run of their own.
 * Returns false if nothing can be mounted (CAP_SYS_ADMIN).
 */
bool write_container_states(void);

/* A program of the tests that runs beside them, is told lines, and answers in lines. */
struct helper {
	pid_t child;
	FILE *commands, *answers;
};

/*
 * Starts `arguments` (NULL-terminated, arguments[0] is the path of the program) as `user` (user and group id;
 * 0: as we are). It dies with the test. End with helper_end().
 */
void helper_start(struct helper *helper, const char *const *arguments, unsigned int user);

/* Writes a line, which `line` is without its newline. */
void helper_tell(struct helper *helper, const char *line);

/* Waits for a line; stored without its newline. False when the program ended instead. */
bool helper_answer(struct helper *helper, char *line, size_t size);

/* Waits for a line, which has to begin with `answer`. */
void helper_expect(struct helper *helper, const char *answer);

/* Closes its input, at which it ends. Returns its exit status, or -1 if a signal ended it or it had to be
 * killed. */
int helper_end(struct helper *helper);

/* A running worker (worker.c). */
struct worker {
	struct helper helper;
	int pid; /* as the host numbers it */
	size_t thread_count;
	uint64_t cpu_ns; /* of the whole process, at the last report */
};

/* The worker's own counts of one of its threads; the names of worker.c. */
struct worker_thread {
	int tid;
	uint64_t cpu_ns, voluntary, involuntary, minor_faults, major_faults;
	uint64_t written_bytes, read_bytes, storage_written_bytes, storage_read_bytes, write_calls,
		read_calls;
	uint64_t copied_pages, began_ns;
};

/* Starts the worker, or skips the test with a printed reason where the host does not allow it. */
void test_worker_start(struct worker *worker, const char *const *arguments);

/* The same, but returns false instead of skipping. */
bool test_worker_try(struct worker *worker, const char *const *arguments);

/* Lets the threads do their work once; returns when all have finished, or at once when `wait` is false. */
void worker_go(struct worker *worker, bool wait);

/* Waits for the "done" of an earlier worker_go(worker, false). */
void worker_wait(struct worker *worker);

/* The same, once threads have been let go on that wait in D. */
void worker_release(struct worker *worker);

/* Fills `threads` (as many as the worker has threads, in the order of its arguments). */
void worker_report(struct worker *worker, struct worker_thread *threads);

void worker_end(struct worker *worker);

/* Skips the test, with doctor's reason, unless this feature (a name of feature.def) is on. */
void need_feature(const char *name);

/* A captured file as a JSON tree; the caller frees it with yajl_tree_free(). */
yajl_val load_snapshot(const char *path);

/* `ctop capture -o FILE [-p PID]` into the scratch directory, loaded. `pid` 0: the whole host. */
yajl_val capture_snapshot(int pid);

/* The record of a thread, or NULL. */
yajl_val snapshot_thread(yajl_val snapshot, int tid);

/* Members of a JSON object; the test fails when one is not there or not of that type. */
uint64_t json_u64(yajl_val object, const char *name);
const char *json_text(yajl_val object, const char *name);

/* The member or NULL. */
yajl_val json_member(yajl_val object, const char *name);

/* The reason in thread.ctop.missing or snapshot.ctop.missing for `key`, or NULL: then the value was read. */
const char *missing_reason(yajl_val snapshot, yajl_val thread, const char *key);

/* Asserts low <= value <= high, printing all three. */
#define assert_between(what, value, low, high) check_between(__FILE__, __LINE__, what, value, low, high)
void check_between(const char *file, int line, const char *what, uint64_t value, uint64_t low, uint64_t high);

#endif
