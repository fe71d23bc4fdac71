/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls in another process: those that come back, those that hang, and who is asked about afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../measure.h"
#include "../wait.h"

#include "base/clock.h"
#include "base/reader.h"
#include "base/supervisor.h"

enum {
	LARGE = 5 << 20,
	BUSY_MS = 400,
	GENEROUS_SECONDS = 30,
	SOMEBODY = 4711,
	ANOTHER = 4712,
	DESCRIPTORS_MAX = 1000,
};

#define ONCE_NS (50 * NS_PER_MS)

static struct reader *reader;
static struct buffer answer;

static int start(void **state)
{
	struct error error;

	(void)state;
	if (supervisor_start(&error) < 0)
		return -1;
	/* who hung is left alone for longer than a call is waited for here */
	reader = reader_create(&(struct reader_options){.pause_ns = 2 * GENEROUS_SECONDS * NS_PER_S});
	return reader != NULL ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	reader_release(reader);
	reader = NULL;
	supervisor_stop();
	buffer_release(&answer);
	return 0;
}

static int work_echo(int directory, const void *argument, size_t size, struct buffer *text)
{
	(void)directory;
	buffer_append(text, argument, size);
	return 0;
}

static int work_pid(int directory, const void *argument, size_t size, struct buffer *text)
{
	const pid_t pid = getpid();

	(void)directory;
	(void)argument;
	(void)size;
	buffer_append(text, &pid, sizeof(pid));
	return 0;
}

static int work_hang(int directory, const void *argument, size_t size, struct buffer *text)
{
	(void)directory;
	(void)argument;
	(void)size;
	(void)text;
	while (pause() < 0 && errno == EINTR)
		;
	return 0;
}

static int work_busy(int directory, const void *argument, size_t size, struct buffer *text)
{
	const uint64_t begun_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	(void)directory;
	(void)argument;
	(void)size;
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns < BUSY_MS * NS_PER_MS)
		;
	buffer_append_text(text, "done");
	return 0;
}

static int work_large(int directory, const void *argument, size_t size, struct buffer *text)
{
	(void)directory;
	(void)argument;
	(void)size;
	for (size_t i = 0; i < LARGE; i++)
		buffer_append_char(text, (char)(i % 251));
	return 0;
}

static int work_inode(int directory, const void *argument, size_t size, struct buffer *text)
{
	struct stat status;

	(void)size;
	if (fstatat(directory, argument, &status, 0) < 0)
		return -errno;
	buffer_append(text, &status.st_ino, sizeof(status.st_ino));
	return 0;
}

/* Has a call made that does not hang: a busy host may be late with a process that makes it. */
static void call(struct reader *way, pid_t about, reader_work *work, int directory, const void *argument,
		 size_t size)
{
	assert_true(wait_at_most(GENEROUS_SECONDS,
				 reader_call(way, about, work, directory, argument, size, &answer) == 0));
}

static pid_t worker(pid_t about)
{
	pid_t pid;

	call(reader, about, work_pid, -1, NULL, 0);
	assert_int_equal(answer.length, sizeof(pid));
	memcpy(&pid, answer.data, sizeof(pid));
	return pid;
}

/* Arguments, answers and errors go both ways; without a reader the same is done here. */
static void test_answers(void **state)
{
	char argument[READER_ARGUMENT_MAX];
	struct stat status;
	int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(directory >= 0);
	assert_int_equal(fstatat(directory, "dev", &status, 0), 0);
	for (size_t i = 0; i < sizeof(argument); i++)
		argument[i] = (char)(i % 127);
	for (int pass = 0; pass < 2; pass++) {
		struct reader *way = pass == 0 ? reader : NULL;

		call(way, SOMEBODY, work_echo, -1, argument, sizeof(argument));
		assert_int_equal(answer.length, sizeof(argument));
		assert_memory_equal(answer.data, argument, sizeof(argument));
		call(way, SOMEBODY, work_large, -1, NULL, 0);
		assert_int_equal(answer.length, LARGE);
		for (size_t i = 0; i < LARGE; i++) {
			if (answer.data[i] != (char)(i % 251))
				fail_msg("byte %zu is wrong", i);
		}
		call(way, SOMEBODY, work_inode, directory, "dev", 4);
		assert_memory_equal(answer.data, &status.st_ino, sizeof(status.st_ino));
		assert_int_equal(reader_call(way, SOMEBODY, work_inode, directory, "nowhere", 8, &answer),
				 -ENOENT);
		assert_int_equal(answer.length, 0);
	}
	assert_int_not_equal(worker(SOMEBODY), getpid());
	assert_true(supervisor_owns(worker(SOMEBODY)));
	assert_false(supervisor_owns(getpid()));
	close(directory);
}

/* Who works is waited for, and what that takes is known. */
static void test_busy(void **state)
{
	(void)state;
	assert_int_equal(reader_cpu_ns(NULL), 0);
	call(reader, SOMEBODY, work_busy, -1, NULL, 0);
	assert_string_equal(answer.data, "done");
	assert_true(reader_cpu_ns(reader) >= BUSY_MS * NS_PER_MS);
}

/* Who hangs is left alone, and nobody asks about the same process again for a while. */
static void test_hang(void **state)
{
	const pid_t before = worker(SOMEBODY);
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC), taken_ns;

	(void)state;
	assert_int_equal(reader_call(reader, SOMEBODY, work_hang, -1, NULL, 0, &answer), -ETIMEDOUT);
	taken_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns;
	assert_true(taken_ns >= 50 * NS_PER_MS && taken_ns < GENEROUS_SECONDS * NS_PER_S);
	assert_int_equal(reader_call(reader, SOMEBODY, work_pid, -1, NULL, 0, &answer), -ETIMEDOUT);
	assert_int_not_equal(worker(ANOTHER), before);
	/* the one before is gone: it could be killed */
	begun_ns = clock_ns(CLOCK_MONOTONIC);
	while (kill(before, 0) == 0) {
		assert_true(clock_ns(CLOCK_MONOTONIC) - begun_ns < GENEROUS_SECONDS * NS_PER_S);
		usleep(1000);
	}
}

/* Many that hang take less and less time each: together no more than a second or two. */
static void test_many(void **state)
{
	pid_t about = 0;

	(void)state;
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		uint64_t taken_ns = 0;

		for (int i = 0; i < 60; i++) {
			const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

			assert_int_equal(reader_call(reader, ++about, work_hang, -1, NULL, 0, &answer),
					 -ETIMEDOUT);
			taken_ns += clock_ns(CLOCK_MONOTONIC) - begun_ns;
			worker(ANOTHER);
		}
		/* 60 times the patience for one would be 6 s */
		measure_between(&measurement, "seconds for 60 that hang", (double)taken_ns / (double)NS_PER_S,
				0, 5);
	}
}

/* Somebody kills the process that makes the calls: another one makes the next. */
static void test_killed(void **state)
{
	const pid_t pid = worker(SOMEBODY);

	(void)state;
	kill(pid, SIGKILL);
	assert_int_not_equal(worker(SOMEBODY), pid);
}

/* Ends any process but the one that its argument names. */
static int work_fall(int directory, const void *argument, size_t size, struct buffer *text)
{
	pid_t here;

	(void)directory;
	memcpy(&here, argument, size);
	if (getpid() != here)
		_exit(3);
	buffer_append_text(text, "here");
	return 7;
}

static void expect_fall(void)
{
	const pid_t here = getpid();

	assert_int_equal(reader_call_once(ONCE_NS, work_fall, -1, &here, sizeof(here), &answer), 7);
	assert_string_equal(answer.data, "here");
}

/* One that hangs is given up, one that only wants for a CPU is not, and one without a process is made here.
 */
static void test_once(void **state)
{
	(void)state;
	assert_int_equal(reader_call_once(ONCE_NS, work_hang, -1, NULL, 0, &answer), -ETIMEDOUT);
	assert_int_equal(answer.length, 0);
	assert_int_equal(reader_call_once(ONCE_NS, work_busy, -1, NULL, 0, &answer), 0);
	assert_string_equal(answer.data, "done");
	expect_fall();
	supervisor_stop();
	expect_fall();
}

/* Answers with the number of descriptors beside 0, 1 and 2. */
static int work_descriptors(int directory, const void *argument, size_t size, struct buffer *text)
{
	int count = 0;

	(void)directory;
	(void)argument;
	(void)size;
	for (int i = STDERR_FILENO + 1; i < DESCRIPTORS_MAX; i++)
		count += fcntl(i, F_GETFD) >= 0;
	buffer_append_u64(text, (uint64_t)count);
	return 0;
}

/* This process is from now on one of a kernel without close_range(2). */
static bool forget_close_range(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void test_descriptors(void **state)
{
	int opened[200], status;
	pid_t child;

	for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++) {
		opened[i] = dup(STDERR_FILENO);
		assert_true(opened[i] >= 0);
	}
	for (int is_old = 0; is_old < 2; is_old++) {
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			if ((is_old && !forget_close_range()) || start(state) < 0)
				_exit(2);
			/* only its socket is left */
			_exit(reader_call(reader, SOMEBODY, work_descriptors, -1, NULL, 0, &answer) != 0 ||
			      strcmp(answer.data, "1") != 0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++)
		close(opened[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_answers, start, stop),
		cmocka_unit_test_setup_teardown(test_busy, start, stop),
		cmocka_unit_test_setup_teardown(test_hang, start, stop),
		cmocka_unit_test_setup_teardown(test_many, start, stop),
		cmocka_unit_test_setup_teardown(test_killed, start, stop),
		cmocka_unit_test_setup_teardown(test_once, start, stop),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
