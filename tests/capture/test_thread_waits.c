/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads wait for, by procfs: threads whose waits are known. */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "live.h"
#include "tests/wait.h"

/* --- kinds of waits; each never ends --- */

static int waited_word = 2;
static char fifo_path[64], lock_path[64];

static void sleep_long(void)
{
	const struct timespec span = {.tv_sec = 1000};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
}

static void wait_for_lock(void)
{
	syscall(SYS_futex, &waited_word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void wait_for_condition(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&condition, &mutex);
}

static void read_byte(int descriptor)
{
	char byte;

	while (read(descriptor, &byte, 1) < 0)
		;
}

static void read_pipe(void)
{
	int ends[2];

	if (pipe(ends) == 0)
		read_byte(ends[0]);
}

/* Of an open file only the path says that it is a FIFO's. */
static void read_fifo(void)
{
	read_byte(open(fifo_path, O_RDWR | O_CLOEXEC));
}

static void write_pipe(void)
{
	char page[4096] = {0};
	int ends[2];

	if (pipe(ends) < 0)
		return;
	while (write(ends[1], page, sizeof(page)) > 0)
		;
}

static void receive(void)
{
	int ends[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
		recv(ends[0], &byte, 1, 0);
}

static void read_socket(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
		read_byte(ends[0]);
}

static void poll_nothing(void)
{
	poll(NULL, 0, 1000000);
}

static void wait_for_epoll(void)
{
	struct epoll_event event;

	epoll_wait(epoll_create1(EPOLL_CLOEXEC), &event, 1, -1);
}

static void read_eventfd(void)
{
	uint64_t value;

	if (read(eventfd(0, EFD_CLOEXEC), &value, sizeof(value)) < 0)
		_exit(1);
}

static void read_timerfd(void)
{
	uint64_t value;

	if (read(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), &value, sizeof(value)) < 0)
		_exit(1);
}

static void read_inotify(void)
{
	char events[512];

	if (read(inotify_init1(IN_CLOEXEC), events, sizeof(events)) < 0)
		_exit(1);
}

static void read_terminal(void)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY);

	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
		read_byte(open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC));
}

static void lock_file(void)
{
	const int first = open(lock_path, O_RDWR | O_CLOEXEC), second = open(lock_path, O_RDWR | O_CLOEXEC);

	if (flock(first, LOCK_EX) == 0)
		flock(second, LOCK_EX);
}

static void wait_for_child(void)
{
	const pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	waitpid(child, NULL, 0);
}

static void wait_for_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwaitinfo(&set, NULL);
}

static void receive_message(void)
{
	const int queue = msgget(IPC_PRIVATE, 0600);
	struct {
		long type;
		char byte;
	} message;

	msgrcv(queue, &message, 1, 0, 0);
}

static void spin(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

static const struct kind {
	const char *name;
	void (*begin)(void);
	enum wait_class class;
	const char *object; /* NULL: checked elsewhere */
} kinds[] = {
	{"sleep", sleep_long, WAIT_CLASS_TIMER, ""},
	{"lock", wait_for_lock, WAIT_CLASS_FUTEX, NULL},
	{"condition", wait_for_condition, WAIT_CLASS_FUTEX, NULL},
	{"pipe", read_pipe, WAIT_CLASS_PIPE, ""},
	{"full pipe", write_pipe, WAIT_CLASS_PIPE, ""},
	{"FIFO", read_fifo, WAIT_CLASS_PIPE, ""},
	{"recv", receive, WAIT_CLASS_SOCKET, ""},
	{"socket", read_socket, WAIT_CLASS_SOCKET, ""},
	{"poll", poll_nothing, WAIT_CLASS_POLL, ""},
	{"epoll", wait_for_epoll, WAIT_CLASS_POLL, ""},
	{"eventfd", read_eventfd, WAIT_CLASS_EVENTS, "eventfd"},
	{"timerfd", read_timerfd, WAIT_CLASS_EVENTS, "timerfd"},
	{"inotify", read_inotify, WAIT_CLASS_EVENTS, "inotify"},
	{"terminal", read_terminal, WAIT_CLASS_TTY, NULL},
	{"flock", lock_file, WAIT_CLASS_FILE_LOCK, NULL},
	{"child", wait_for_child, WAIT_CLASS_CHILD, ""},
	{"signal", wait_for_signal, WAIT_CLASS_SIGNAL, ""},
	{"message", receive_message, WAIT_CLASS_MESSAGE_QUEUE, ""},
	{"spin", spin, WAIT_CLASS_COUNT, ""},
};

enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0])
};

static pid_t *thread_ids; /* by kind, in memory shared with the child */

static void *begin_kind(void *argument)
{
	const struct kind *kind = argument;

	thread_ids[kind - kinds] = gettid();
	kind->begin();
	for (;;)
		pause();
	return NULL;
}

static void start_kinds(void *argument)
{
	pthread_t thread;

	(void)argument;
	for (size_t i = 0; i < KINDS; i++) {
		if (pthread_create(&thread, NULL, begin_kind, (void *)(uintptr_t)&kinds[i]) != 0)
			_exit(1);
	}
}

static pid_t find_kind(const char *name)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return thread_ids[i];
	}
	fail_msg("no kind %s", name);
	return 0;
}

/* --- rounds --- */

static struct capture *capture;
static struct snapshot *now;

static void take_round(void)
{
	snapshot_release(now);
	now = live_round_needed(capture, source_bit(SOURCE_WAIT));
	assert_non_null(now->wait_class);
}

static void open_scope(pid_t process)
{
	const uint32_t scope = (uint32_t)process;

	capture = live_open(&scope, 1);
}

static void close_scope(void)
{
	snapshot_release(now);
	now = NULL;
	capture_close(capture);
}

static size_t row_of(pid_t process, pid_t thread)
{
	const long row = live_row(now, (uint32_t)process, (uint32_t)thread);

	assert_true(row >= 0);
	return (size_t)row;
}

static enum wait_class class_of(pid_t process, pid_t thread)
{
	return now->wait_class[row_of(process, thread)];
}

static const char *object_of(pid_t process, pid_t thread)
{
	return snapshot_text(now, now->wait_object[row_of(process, thread)]);
}

static reason_id reason_of(pid_t process, pid_t thread)
{
	return snapshot_source_reason(now, row_of(process, thread), SOURCE_WAIT);
}

/* Whether a new round says that the thread waits so. */
static bool waits_for(pid_t process, pid_t thread, enum wait_class class)
{
	take_round();
	return class_of(process, thread) == class;
}

static bool is_runnable(enum wait_class class)
{
	return class == WAIT_CLASS_CPU || class == WAIT_CLASS_RUN_QUEUE;
}

static bool all_wait(pid_t child, const char **ret_missing)
{
	take_round();
	for (size_t i = 0; i < KINDS; i++) {
		enum wait_class class;

		*ret_missing = kinds[i].name;
		/* it may have started since */
		if (live_row(now, (uint32_t)child, (uint32_t)thread_ids[i]) < 0)
			return false;
		class = class_of(child, thread_ids[i]);
		if (kinds[i].class == WAIT_CLASS_COUNT ? !is_runnable(class) : class != kinds[i].class)
			return false;
	}
	return true;
}

static void expect_all(pid_t child)
{
	const char *missing = NULL;
	char text[64];

	if (!wait_until(all_wait(child, &missing)))
		fail_msg("%s: %s", missing, wait_classes[class_of(child, find_kind(missing))].name);
	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].object != NULL)
			assert_string_equal(object_of(child, thread_ids[i]), kinds[i].object);
		assert_int_equal(reason_of(child, thread_ids[i]), REASON_READ);
	}
	snprintf(text, sizeof(text), "0x%llx lock", (unsigned long long)(uintptr_t)&waited_word);
	assert_string_equal(object_of(child, find_kind("lock")), text);
	assert_non_null(strstr(object_of(child, find_kind("condition")), "0x"));
	assert_null(strstr(object_of(child, find_kind("condition")), "lock"));
	assert_memory_equal(object_of(child, find_kind("terminal")), "pts/", 4);
	assert_string_equal(object_of(child, find_kind("flock")), strrchr(lock_path, '/') + 1);
}

/* --- the tests --- */

static void test_kinds(void **state)
{
	pid_t child;

	(void)state;
	child = live_start(start_kinds, NULL);
	open_scope(child);
	expect_all(child);
	expect_all(child);
	assert_int_equal(class_of(child, child), WAIT_CLASS_SIGNAL);
	/* a full capture reads all again */
	snapshot_release(now);
	now = live_full(capture);
	assert_int_equal(class_of(child, find_kind("FIFO")), WAIT_CLASS_PIPE);
	close_scope();
	live_end(child);
}

/* Without a round that asks, nothing is known; the next one that does reads threads that stood still. */
static void test_only_if_wanted(void **state)
{
	pid_t child;

	(void)state;
	child = live_start(start_kinds, NULL);
	open_scope(child);
	expect_all(child);
	snapshot_release(now);
	now = live_round_needed(capture, source_bit(SOURCE_STAT));
	assert_null(now->wait_class);
	assert_null(now->wait_object);
	assert_int_equal(reason_of(child, child), REASON_NOT_READ);
	expect_all(child);
	close_scope();
	live_end(child);
}

static int orders[2]; /* a pipe that a child reads from */

static void *follow_orders(void *argument)
{
	(void)argument;
	thread_ids[0] = gettid();
	read_byte(orders[0]);
	poll(NULL, 0, 1000000);
	return NULL;
}

static void start_follower(void *argument)
{
	pthread_t thread;

	(void)argument;
	close(orders[1]);
	if (pthread_create(&thread, NULL, follow_orders, NULL) != 0)
		_exit(1);
}

static int number_of_call(pid_t process, pid_t thread)
{
	char path[64], text[256];
	FILE *file;
	int number = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", process, thread);
	file = fopen(path, "re");
	assert_non_null(file);
	if (fgets(text, sizeof(text), file) != NULL)
		sscanf(text, "%d", &number);
	fclose(file);
	return number;
}

/* A thread that moved waits for something else; one that was stopped waits for the same as before. */
static void test_moves(void **state)
{
	pid_t child, thread;

	(void)state;
	assert_int_equal(pipe2(orders, O_CLOEXEC), 0);
	thread_ids[0] = 0;
	child = live_start(start_follower, NULL);
	close(orders[0]);
	await("a thread", thread_ids[0] != 0);
	thread = thread_ids[0];
	open_scope(child);
	await("a read", waits_for(child, thread, WAIT_CLASS_PIPE));
	assert_int_equal(write(orders[1], "x", 1), 1);
	await("a poll", waits_for(child, thread, WAIT_CLASS_POLL));
	kill(child, SIGSTOP);
	await("a stop", waits_for(child, thread, WAIT_CLASS_STOPPED));
	kill(child, SIGCONT);
	await("a poll that goes on", waits_for(child, thread, WAIT_CLASS_POLL));
	assert_int_equal(number_of_call(child, thread), SYS_restart_syscall);
	close_scope();
	close(orders[1]);
	live_end(child);
}

static void start_vfork(void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, argument, NULL) != 0)
		_exit(1);
}

static void *wait_in_vfork(void *argument)
{
	(void)argument;
	thread_ids[0] = gettid();
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return NULL;
}

/* The parent of a vfork(2) is in D, in which most calls say too little. */
static void test_vfork(void **state)
{
	pid_t child;

	(void)state;
	thread_ids[0] = 0;
	child = live_start(start_vfork, (void *)(uintptr_t)wait_in_vfork);
	await("a thread", thread_ids[0] != 0);
	open_scope(child);
	await("a vfork", waits_for(child, thread_ids[0], WAIT_CLASS_CHILD));
	assert_int_equal(snapshot_value(now, row_of(child, thread_ids[0]), METRIC_STATE), 'D');
	close_scope();
	live_end(child);
}

/* Reads a pipe by a worker of an io_uring, which takes what it would wait for. False if that is not to be
 * had. */
static bool start_worker(void)
{
	struct io_uring_params parameters = {0};
	const int ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
	struct io_uring_sqe *entry;
	static char byte;
	int ends[2];
	char *queue;

	if (ring < 0 || pipe(ends) < 0)
		return false;
	queue = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
	entry = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
	if (queue == MAP_FAILED || (void *)entry == MAP_FAILED)
		return false;
	*entry = (struct io_uring_sqe){.opcode = IORING_OP_READ,
				       .flags = IOSQE_ASYNC,
				       .fd = ends[0],
				       .addr = (uintptr_t)&byte,
				       .len = 1};
	*(uint32_t *)(void *)(queue + parameters.sq_off.array) = 0;
	*(uint32_t *)(void *)(queue + parameters.sq_off.tail) += 1;
	return syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) == 1;
}

static void start_ring(void *argument)
{
	*(pid_t *)argument = start_worker() ? 1 : -1;
}

static bool has_worker(pid_t child)
{
	take_round();
	for (size_t row = 0; row < now->thread_count; row++) {
		if (now->tid[row] != (uint32_t)child && now->wait_class[row] == WAIT_CLASS_IO_URING)
			return true;
	}
	return false;
}

/* The registers of such a worker are a copy of another thread's. */
static void test_io_worker(void **state)
{
	pid_t child;

	(void)state;
	thread_ids[0] = 0;
	child = live_start(start_ring, &thread_ids[0]);
	if (thread_ids[0] < 0) {
		live_end(child);
		skip_test("needs io_uring");
	}
	open_scope(child);
	await("a worker", has_worker(child));
	assert_int_equal(now->thread_count, 2);
	assert_int_equal(class_of(child, child), WAIT_CLASS_SIGNAL);
	close_scope();
	live_end(child);
}

static void expect_refusal(void)
{
	const uint32_t scope = (uint32_t)getppid();
	const pid_t parent = (pid_t)scope;

	if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
		_exit(2);
	capture = live_open(&scope, 1);
	for (int i = 0; i < 3; i++) {
		take_round();
		if (is_runnable(class_of(parent, parent)))
			continue; /* its state may be read */
		if (class_of(parent, parent) != WAIT_CLASS_UNKNOWN ||
		    reason_of(parent, parent) != REASON_NOT_PERMITTED)
			_exit(3);
	}
}

static void test_refusal(void **state)
{
	(void)state;
	need_to_become_nobody();
	assert_int_equal(live_run(expect_refusal), 0);
}

static void test_kernel_threads(void **state)
{
	const pid_t kthreadd = 2;
	struct stat status;

	(void)state;
	if (stat("/proc/2/exe", &status) == 0)
		skip_test("process 2 is no kernel thread here");
	open_scope(kthreadd);
	take_round();
	if (live_row(now, 2, 2) == LIVE_NO_ROW)
		skip_test("kernel threads are in another namespace");
	await("a kernel thread without work", waits_for(kthreadd, kthreadd, WAIT_CLASS_KERNEL_IDLE));
	close_scope();
}

static int set_up(void **state)
{
	int descriptor;

	(void)state;
	thread_ids = mmap(NULL, sizeof(*thread_ids) * KINDS, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (thread_ids == MAP_FAILED)
		return -1;
	snprintf(fifo_path, sizeof(fifo_path), "/tmp/ctop-fifo-%d", getpid());
	snprintf(lock_path, sizeof(lock_path), "/tmp/ctop-lock-%d", getpid());
	descriptor = open(lock_path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (descriptor < 0 || mkfifo(fifo_path, 0600) < 0)
		return -1;
	return close(descriptor);
}

static int tear_down(void **state)
{
	(void)state;
	unlink(fifo_path);
	unlink(lock_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),          cmocka_unit_test(test_only_if_wanted),
		cmocka_unit_test(test_moves),          cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_io_worker),      cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_kernel_threads),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
