/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads wait for, as a pass tells it, of threads that wait for something known; and the system calls
 * of all threads of the host against those that procfs shows.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/file.h"
#include "base/memory.h"
#include "capture/latency_watch.h"
#include "capture/pass_internal.h"
#include "capture/wait_call.h"
#include "live.h"
#include "tests/cgroup.h"
#include "tests/wait.h"

#define SCENE_NAME "sleepers"

enum {
	CASES_MAX = 64,
	STACK = 65536,
	KEPT_ROUNDS = 100,
	PEAK = 8 << 20,
	ROUNDS = 3,
	LOCKED = 2, /* value of a contended mutex */
	OTHER_USER = 65534,
	KTHREADD = 2,
	HOST_TRIES = 20,
	COMPARED_LEAST = 20, /* threads of the host whose call is compared */
	TIMEOUT_S = 3600,
	WANDERERS = 64,
	WORDS = 65536,
	WANDER_ROUNDS = 150,
	CROWD = 1100, /* more than have slots where room for none is asked for */
};

/* A thread that waits, as it tells the test; shared with the child that it is in. */
struct place {
	pid_t tid;
	bool is_missing; /* this host has no such wait */
	char object[WAIT_OBJECT_SIZE];
};

static struct {
	struct place places[CASES_MAX];
	int queue, semaphores;
	bool names_locks, names_mutexes; /* this kernel tells who has the lock */
	volatile bool reader_leaves;     /* the last reader of the directory is to go on */
	volatile bool owner_left;        /* an owner has given its lock back */
} * world;

/* Says that the wait cannot be tried here, and does nothing else. */
static _Noreturn void give_up(struct place *place)
{
	place->is_missing = true;
	for (;;)
		pause();
}

static int require(int result, struct place *place)
{
	if (result < 0)
		give_up(place);
	return result;
}

/* --- waits --- */

static void start_thread(void *(*body)(void *argument), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&thread, &attributes, body, argument) != 0)
		_exit(1);
}

static void wait_for_timer(struct place *place)
{
	const struct timespec time = {.tv_sec = TIMEOUT_S};

	(void)place;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void wait_for_futex(struct place *place, unsigned int value, const struct timespec *timeout)
{
	static unsigned int words[LOCKED + 1];
	unsigned int *word = &words[value];

	*word = value;
	snprintf(place->object, sizeof(place->object), "0x%" PRIxPTR "%s", (uintptr_t)word,
		 value == LOCKED ? " lock" : "");
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout, NULL, 0);
}

static void wait_for_condition(struct place *place)
{
	wait_for_futex(place, 0, NULL);
}

static void wait_for_lock(struct place *place)
{
	wait_for_futex(place, LOCKED, NULL);
}

static void wait_for_poll(struct place *place)
{
	(void)place;
	poll(NULL, 0, -1);
}

static void wait_for_select(struct place *place)
{
	(void)place;
	select(0, NULL, NULL, NULL, NULL);
}

static void wait_for_epoll(struct place *place)
{
	struct epoll_event event;

	epoll_wait(require(epoll_create1(0), place), &event, 1, -1);
}

static int listen_somewhere(struct place *place, struct sockaddr_in *ret_address)
{
	const int listener = require(socket(AF_INET, SOCK_STREAM, 0), place);
	socklen_t length = sizeof(*ret_address);

	*ret_address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	require(bind(listener, (struct sockaddr *)ret_address, length), place);
	require(listen(listener, 1), place);
	require(getsockname(listener, (struct sockaddr *)ret_address, &length), place);
	return listener;
}

static void wait_for_accept(struct place *place)
{
	struct sockaddr_in address;
	const int listener = listen_somewhere(place, &address);

	snprintf(place->object, sizeof(place->object), ":%u", ntohs(address.sin_port));
	accept(listener, NULL, NULL);
}

static void wait_for_tcp(struct place *place)
{
	const int client = require(socket(AF_INET, SOCK_STREAM, 0), place);
	struct sockaddr_in address, own;
	socklen_t length = sizeof(own);
	char byte;

	listen_somewhere(place, &address);
	require(connect(client, (struct sockaddr *)&address, sizeof(address)), place);
	require(getsockname(client, (struct sockaddr *)&own, &length), place);
	snprintf(place->object, sizeof(place->object), ":%u",
		 ntohs(own.sin_port) < ntohs(address.sin_port) ? ntohs(own.sin_port)
							       : ntohs(address.sin_port));
	recv(client, &byte, 1, 0);
}

static void wait_for_unix(struct place *place)
{
	int ends[2];
	char byte;

	require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), place);
	snprintf(place->object, sizeof(place->object), SCENE_NAME);
	if (read(ends[0], &byte, 1) < 0)
		give_up(place);
}

static void wait_for_pipe(struct place *place)
{
	int ends[2];
	char byte;

	require(pipe(ends), place);
	if (read(ends[0], &byte, 1) < 0)
		give_up(place);
}

static void wait_for_full_pipe(struct place *place)
{
	static const char bytes[1 << 21];
	int ends[2];

	require(pipe(ends), place);
	if (write(ends[1], bytes, sizeof(bytes)) < 0)
		give_up(place);
}

/* Opens a new file twice. */
static void open_lock_files(struct place *place, int ret_files[static 2])
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/ctop-lock-%d", (int)gettid());
	ret_files[0] = require(open(path, O_RDWR | O_CREAT, 0600), place);
	ret_files[1] = require(open(path, O_RDWR), place);
	unlink(path);
	snprintf(place->object, sizeof(place->object), "%s", strrchr(path, '/') + 1);
}

static void wait_for_flock(struct place *place)
{
	int files[2];

	open_lock_files(place, files);
	require(flock(files[0], LOCK_EX), place);
	flock(files[1], LOCK_EX);
}

static void wait_for_record_lock(struct place *place)
{
	struct flock lock = {.l_type = F_WRLCK};
	int files[2];

	open_lock_files(place, files);
	require(fcntl(files[0], F_OFD_SETLK, &lock), place);
	fcntl(files[1], F_OFD_SETLKW, &lock);
}

static void wait_for_child(struct place *place)
{
	const pid_t child = require(fork(), place);

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			poll(NULL, 0, -1);
	}
	waitpid(child, NULL, 0);
}

static void wait_for_vfork(struct place *place)
{
	(void)place;
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			poll(NULL, 0, -1);
	}
}

static void read_from(int file, const char *object, struct place *place)
{
	char bytes[1024];

	require(file, place);
	snprintf(place->object, sizeof(place->object), "%s", object);
	if (read(file, bytes, sizeof(bytes)) < 0)
		give_up(place);
}

static void wait_for_eventfd(struct place *place)
{
	read_from(eventfd(0, 0), "eventfd", place);
}

static void wait_for_timerfd(struct place *place)
{
	read_from(timerfd_create(CLOCK_MONOTONIC, 0), "timerfd", place);
}

static void wait_for_signalfd(struct place *place)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	read_from(signalfd(-1, &signals, 0), "signalfd", place);
}

static void wait_for_inotify(struct place *place)
{
	read_from(inotify_init(), "inotify", place);
}

static void wait_for_terminal(struct place *place)
{
	const int master = require(posix_openpt(O_RDWR | O_NOCTTY), place);
	char name[64];

	require(grantpt(master), place);
	require(unlockpt(master), place);
	if (ptsname_r(master, name, sizeof(name)) != 0 || strncmp(name, "/dev/", 5) != 0)
		give_up(place);
	read_from(open(name, O_RDWR | O_NOCTTY), name + 5, place);
}

static void wait_for_signal(struct place *place)
{
	sigset_t signals;
	int number;

	(void)place;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	sigwait(&signals, &number);
}

static void wait_for_any_signal(struct place *place)
{
	(void)place;
	pause();
}

static void wait_for_message(struct place *place)
{
	struct {
		long type;
		char text[8];
	} message;

	require(world->queue, place);
	msgrcv(world->queue, &message, sizeof(message.text), 0, 0);
}

static void wait_for_semaphore(struct place *place)
{
	struct sembuf take = {.sem_op = -1};

	require(world->semaphores, place);
	semop(world->semaphores, &take, 1);
}

static void wait_for_ring(struct place *place)
{
	struct io_uring_params parameters = {0};
	const int ring = require((int)syscall(SYS_io_uring_setup, 4, &parameters), place);

	syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

/* A page at which threads wait until a file, which tells of them, gives it to them. */
struct missing_page {
	char *start;
	size_t size;
	int file;
};

static struct missing_page map_missing(struct place *place)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct missing_page page = {
		.start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		.size = size,
		.file = require((int)syscall(SYS_userfaultfd, O_CLOEXEC), place),
	};
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register area = {.range = {(uintptr_t)page.start, size},
				       .mode = UFFDIO_REGISTER_MODE_MISSING};

	require(ioctl(page.file, UFFDIO_API, &api), place);
	require(ioctl(page.file, UFFDIO_REGISTER, &area), place);
	return page;
}

static void wait_for_page(struct place *place)
{
	*(volatile char *)map_missing(place).start = 1;
}

/* A thread that takes a lock of the kernel and then waits for a page. */
struct owner {
	void (*take)(const struct owner *owner);
	struct missing_page page;
	int file;
	volatile pid_t tid;
};

static void *run_owner(void *argument)
{
	struct owner *owner = argument;

	prctl(PR_SET_NAME, "owner");
	owner->tid = gettid();
	owner->take(owner);
	world->owner_left = true;
	/* or the lock would be forgotten with it */
	pause();
	return NULL;
}

static void write_from_page(const struct owner *owner)
{
	if (write(owner->file, owner->page.start, 1) < 0)
		_exit(1);
}

static void list_into_page(const struct owner *owner)
{
	syscall(SYS_getdents64, owner->file, owner->page.start, owner->page.size);
}

/* Starts a thread, and returns once it has the lock. */
static void start_owner(struct place *place, struct owner *owner, const char *lock, bool is_named)
{
	struct uffd_msg message;

	owner->page = map_missing(place);
	start_thread(run_owner, owner);
	if (read(owner->page.file, &message, sizeof(message)) != sizeof(message))
		give_up(place);
	if (is_named)
		snprintf(place->object, sizeof(place->object), "%s %d owner", lock, (int)owner->tid);
}

static void wait_for_mutex(struct place *place)
{
	static struct owner owner = {.take = write_from_page};
	int ends[2];
	char byte;

	require(pipe(ends), place);
	owner.file = ends[1];
	start_owner(place, &owner, "mutex held by", world->names_mutexes);
	if (read(ends[0], &byte, 1) < 0)
		give_up(place);
}

static void wait_for_writer(struct place *place)
{
	static struct owner owner = {.take = write_from_page};
	int files[2];

	open_lock_files(place, files);
	place->object[0] = '\0';
	owner.file = files[0];
	start_owner(place, &owner, "rwsem held by", world->names_locks);
	if (write(files[1], "", 1) < 0)
		give_up(place);
}

static void write_directory(pid_t process, char ret_path[static 64])
{
	snprintf(ret_path, 64, "/tmp/ctop-directory-%d", (int)process);
}

static struct owner readers[] = {{.take = list_into_page}, {.take = list_into_page}};

static void wait_for_readers(struct place *place)
{
	char path[64];

	write_directory(getpid(), path);
	require(mkdir(path, 0700), place);
	for (size_t i = 0; i < ARRAY_COUNT(readers); i++) {
		readers[i].file = require(open(path, O_RDONLY | O_DIRECTORY), place);
		start_owner(place, &readers[i], "rwsem read by", world->names_locks);
	}
	unlinkat(readers[0].file, "nothing", 0);
}

static void remove_directory(pid_t process)
{
	char path[64];

	write_directory(process, path);
	rmdir(path);
}

static void run_on(struct place *place)
{
	(void)place;
	for (;;)
		live_spin_ms(100);
}

static const struct {
	const char *name;
	enum wait_class class;
	void (*wait)(struct place *place);
} cases[] = {
	{"timer", WAIT_CLASS_TIMER, wait_for_timer},
	{"condition", WAIT_CLASS_FUTEX, wait_for_condition},
	{"lock", WAIT_CLASS_FUTEX, wait_for_lock},
	{"poll", WAIT_CLASS_POLL, wait_for_poll},
	{"select", WAIT_CLASS_POLL, wait_for_select},
	{"epoll", WAIT_CLASS_POLL, wait_for_epoll},
	{"accept", WAIT_CLASS_SOCKET, wait_for_accept},
	{"tcp", WAIT_CLASS_SOCKET, wait_for_tcp},
	{"unix", WAIT_CLASS_SOCKET, wait_for_unix},
	{"pipe", WAIT_CLASS_PIPE, wait_for_pipe},
	{"full pipe", WAIT_CLASS_PIPE, wait_for_full_pipe},
	{"flock", WAIT_CLASS_FILE_LOCK, wait_for_flock},
	{"record lock", WAIT_CLASS_FILE_LOCK, wait_for_record_lock},
	{"child", WAIT_CLASS_CHILD, wait_for_child},
	{"vfork", WAIT_CLASS_CHILD, wait_for_vfork},
	{"eventfd", WAIT_CLASS_EVENTS, wait_for_eventfd},
	{"timerfd", WAIT_CLASS_EVENTS, wait_for_timerfd},
	{"signalfd", WAIT_CLASS_EVENTS, wait_for_signalfd},
	{"inotify", WAIT_CLASS_EVENTS, wait_for_inotify},
	{"terminal", WAIT_CLASS_TTY, wait_for_terminal},
	{"signal", WAIT_CLASS_SIGNAL, wait_for_signal},
	{"any signal", WAIT_CLASS_SIGNAL, wait_for_any_signal},
	{"message", WAIT_CLASS_MESSAGE_QUEUE, wait_for_message},
	{"semaphore", WAIT_CLASS_MESSAGE_QUEUE, wait_for_semaphore},
	{"ring", WAIT_CLASS_IO_URING, wait_for_ring},
	{"page", WAIT_CLASS_FAULT, wait_for_page},
	{"mutex", WAIT_CLASS_KERNEL_LOCK, wait_for_mutex},
	{"writer", WAIT_CLASS_KERNEL_LOCK, wait_for_writer},
	{"readers", WAIT_CLASS_KERNEL_LOCK, wait_for_readers},
	{"running", WAIT_CLASS_CPU, run_on},
};

/* --- the process in which they wait --- */

static void *run_case(void *argument)
{
	const size_t number = (size_t)(uintptr_t)argument;

	prctl(PR_SET_NAME, cases[number].name);
	world->places[number].tid = gettid();
	cases[number].wait(&world->places[number]);
	return NULL;
}

static void run_scene(void *argument)
{
	sigset_t signals;

	(void)argument;
	prctl(PR_SET_NAME, SCENE_NAME);
	/* for signalfd(2) and sigwait(3) */
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		start_thread(run_case, (void *)(uintptr_t)i); // NOLINT(performance-no-int-to-ptr)
}

/* --- expectations --- */

static const char *object_of(const struct snapshot *round, long row)
{
	return snapshot_text(round, round->wait_object[row]);
}

/* One that runs may be without a CPU just then. */
static bool has_class(const struct snapshot *round, long row, enum wait_class class)
{
	return round->wait_class[row] == class ||
	       (class == WAIT_CLASS_CPU && round->wait_class[row] == WAIT_CLASS_RUN_QUEUE);
}

/* Whether a case is as expected; says what is not if `is_last`. */
static bool is_as_expected(const struct snapshot *round, pid_t process, size_t number, bool is_last)
{
	const struct place *place = &world->places[number];
	const long row = place->tid != 0 ? live_row(round, (uint32_t)process, (uint32_t)place->tid)
					 : LIVE_NO_ROW;

	if (place->is_missing || (row >= 0 && has_class(round, row, cases[number].class) &&
				  strcmp(object_of(round, row), place->object) == 0 &&
				  snapshot_source_reason(round, (size_t)row, SOURCE_WAIT) == REASON_READ))
		return true;
	if (is_last && row >= 0)
		print_error("%s: \"%s\" of \"%s\" instead of \"%s\" of \"%s\"\n", cases[number].name,
			    wait_classes[round->wait_class[row]].name, object_of(round, row),
			    wait_classes[cases[number].class].name, place->object);
	else if (is_last)
		print_error("%s has no row\n", cases[number].name);
	return false;
}

static bool all_as_expected(struct capture *capture, pid_t process, bool is_last)
{
	struct snapshot *round = live_round(capture);
	bool result = true;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		result &= is_as_expected(round, process, i, is_last);
	snapshot_release(round);
	return result;
}

/* Who waits for a lock of the kernel may wake now and then, and try again. */
static void expect_all(struct capture *capture, pid_t process)
{
	if (!wait_until(all_as_expected(capture, process, false)))
		assert_true(all_as_expected(capture, process, true));
}

static void test_classes(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	pid_t process;

	(void)state;
	memset(world->places, 0, sizeof(world->places));
	world->queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
	world->semaphores = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
	process = live_start(run_scene, NULL);
	for (int i = 0; i < ROUNDS; i++)
		expect_all(capture, process);
	/* all threads are read anew */
	capture->passes.checked_ns = 0;
	expect_all(capture, process);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		if (world->places[i].is_missing)
			print_message("no %s here\n", cases[i].name);
	}
	live_end(process);
	remove_directory(process);
	msgctl(world->queue, IPC_RMID, NULL);
	semctl(world->semaphores, 0, IPC_RMID);
	capture_close(capture);
}

/* --- time --- */

enum {
	CYCLE_MS = 10,
	TIMED_MS = 1000,
	TIMED_ROUNDS = 3,
};

static void pass_time(int ms)
{
	const struct timespec time = {.tv_nsec = ms * 1000000L};

	nanosleep(&time, NULL);
}

static void sleep_often(struct place *place)
{
	(void)place;
	for (;;)
		pass_time(1);
}

/* Waits for half of the time in poll(2), and for the other half in futex(2). */
static void sleep_in_turns(struct place *place)
{
	static unsigned int word;
	const struct timespec time = {.tv_nsec = CYCLE_MS * 1000000L};

	(void)place;
	for (;;) {
		poll(NULL, 0, CYCLE_MS);
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
	}
}

static void *feed(void *argument)
{
	prctl(PR_SET_NAME, "feeder");
	for (;;) {
		pass_time(CYCLE_MS);
		if (write(*(const int *)argument, "", 1) < 0)
			return NULL;
	}
}

/* Starts a thread that writes a byte to the second of two files every now and then. */
static void feed_from(int ends[2])
{
	int *end = memory_allocate(sizeof(*end));

	*end = ends[1];
	start_thread(feed, end);
}

static void read_often(struct place *place)
{
	int ends[2];
	char byte;

	require(pipe(ends), place);
	feed_from(ends);
	while (read(ends[0], &byte, 1) == 1)
		;
}

/* poll(2) of one descriptor counts as what that stands for. */
static void poll_one(struct place *place)
{
	int ends[2];
	char byte;

	require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), place);
	feed_from(ends);
	for (;;) {
		struct pollfd file = {.fd = ends[0], .events = POLLIN};

		poll(&file, 1, -1);
		if (read(ends[0], &byte, 1) != 1)
			return;
	}
}

static void read_timer_often(struct place *place)
{
	const struct itimerspec time = {.it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000};
	const int timer = require(timerfd_create(CLOCK_MONOTONIC, 0), place);
	uint64_t count;

	require(timerfd_settime(timer, 0, &time, NULL), place);
	while (read(timer, &count, sizeof(count)) > 0)
		;
}

/* Forks by vfork(2): its parent is blocked, and has the mark of the freezer. */
static void start_children(struct place *place)
{
	(void)place;
	for (;;) {
		if (vfork() == 0) {
			pass_time(CYCLE_MS);
			_exit(0);
		}
		waitpid(-1, NULL, 0);
	}
}

/* Threads that wait again and again, beside those that wait for ever. */
static const struct busy_case {
	const char *name;
	enum wait_class classes[2];
	int parts[2]; /* percent of the time, at least, of what is no run queue */
	void (*wait)(struct place *place);
} busy_cases[] = {
	{"often timer", {WAIT_CLASS_TIMER, WAIT_CLASS_CPU}, {80, 0}, sleep_often},
	{"in turns", {WAIT_CLASS_POLL, WAIT_CLASS_FUTEX}, {40, 40}, sleep_in_turns},
	{"often pipe", {WAIT_CLASS_PIPE, WAIT_CLASS_CPU}, {90, 0}, read_often},
	{"poll socket", {WAIT_CLASS_SOCKET, WAIT_CLASS_CPU}, {90, 0}, poll_one},
	{"often timerfd", {WAIT_CLASS_EVENTS, WAIT_CLASS_CPU}, {80, 0}, read_timer_often},
	{"often vfork", {WAIT_CLASS_CHILD, WAIT_CLASS_CPU}, {80, 0}, start_children},
};

static void *run_busy_case(void *argument)
{
	const size_t number = (size_t)(uintptr_t)argument;

	prctl(PR_SET_NAME, busy_cases[number].name);
	busy_cases[number].wait(&world->places[ARRAY_COUNT(cases) + number]);
	return NULL;
}

static void run_timed_scene(void *argument)
{
	run_scene(argument);
	for (size_t i = 0; i < ARRAY_COUNT(busy_cases); i++)
		start_thread(run_busy_case, (void *)(uintptr_t)i); // NOLINT(performance-no-int-to-ptr)
}

/* The time of the scene's thread `name` in all classes, ns; fills `of` by class. */
static uint64_t find_times(const struct snapshot *round, const char *name, uint64_t of[WAIT_CLASS_COUNT])
{
	uint64_t life = 0;

	memset(of, 0, WAIT_CLASS_COUNT * sizeof(*of));
	for (size_t i = 0; i < round->latency.time_count; i++) {
		const struct latency_time *time = &round->latency.times[i];
		const struct latency_record *record = &round->latency.records[time->record];

		if (strcmp(snapshot_text(round, record->comm), name) != 0 ||
		    strcmp(snapshot_text(round, record->pcomm), SCENE_NAME) != 0)
			continue;
		of[time->class] += time->time_ns;
		life += time->time_ns;
	}
	return life;
}

/* In such a guest a program takes as long as a thread sleeps, and its CPUs stop at any moment. */
static bool is_emulated(void)
{
	struct buffer text = {0};
	const bool emulated = file_read(AT_FDCWD, "/proc/cpuinfo", &text, 1 << 20) == 0 && text.length != 0 &&
			      strstr(text.data, "QEMU") != NULL;

	buffer_release(&text);
	return emulated;
}

static void check_case(const struct snapshot *round, const char *name, const enum wait_class classes[2],
		       const int parts[2])
{
	uint64_t times[WAIT_CLASS_COUNT];
	const double life = (double)find_times(round, name, times);
	const double span = (double)round->latency.span_ns, tolerance = is_emulated() ? 0.05 : 0.005;

	if (life < (1 - tolerance) * span || life > (1 + tolerance) * span)
		fail_msg("%s lived %.3f ms of %.3f", name, life / 1e6, span / 1e6);
	for (size_t i = 0; i < 2; i++) {
		/* of the time in which it did not wait for a CPU */
		const double part = 100.0 * (double)times[classes[i]] /
				    (life - (double)times[WAIT_CLASS_RUN_QUEUE]);

		if (part < (is_emulated() ? parts[i] / 2 : parts[i]))
			fail_msg("%s: %.1f %% in %s", name, part, wait_classes[classes[i]].name);
	}
}

/* The times of each thread add up to its life, and are of the classes that it waits in. */
static void test_times(void **state)
{
	struct arena arena = {0};
	struct feature_result result;
	struct capture *capture = live_open(NULL, 0);
	struct latency_watch *watch;
	struct snapshot *round;
	uint32_t process;

	(void)state;
	memset(world->places, 0, sizeof(world->places));
	world->queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
	world->semaphores = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
	process = (uint32_t)live_start(run_timed_scene, NULL);
	await("all to wait", all_as_expected(capture, (pid_t)process, false));
	watch = latency_watch_open(&capture->roots, &process, 1, &arena, &result);
	assert_non_null(watch);
	assert_int_equal(latency_watch_switch(watch, true), 0);
	for (int i = 0; i < TIMED_ROUNDS; i++) {
		live_sleep_ms(TIMED_MS);
		round = live_round(capture);
		latency_watch_read(watch, false, round);
		for (size_t k = 0; k < ARRAY_COUNT(cases); k++) {
			if (!world->places[k].is_missing)
				check_case(round, cases[k].name,
					   (enum wait_class[]){cases[k].class, WAIT_CLASS_CPU},
					   (int[]){cases[k].class == WAIT_CLASS_CPU ? 95 : 99, 0});
		}
		for (size_t k = 0; k < ARRAY_COUNT(busy_cases); k++)
			check_case(round, busy_cases[k].name, busy_cases[k].classes, busy_cases[k].parts);
		snapshot_release(round);
	}
	latency_watch_close(watch);
	arena_release(&arena);
	live_end((pid_t)process);
	msgctl(world->queue, IPC_RMID, NULL);
	semctl(world->semaphores, 0, IPC_RMID);
	capture_close(capture);
}

static void test_kernel_thread(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	struct snapshot *round = live_round(capture);
	const long row = live_row(round, KTHREADD, KTHREADD);

	(void)state;
	assert_true(row >= 0);
	assert_int_equal(round->wait_class[row], WAIT_CLASS_KERNEL_IDLE);
	assert_string_equal(object_of(round, row), "");
	snapshot_release(round);
	capture_close(capture);
}

/* --- threads kept back --- */

static void *spin(void *argument)
{
	struct place *place = argument;

	place->tid = gettid();
	run_on(place);
	return NULL;
}

static void run_spinner(void *argument)
{
	start_thread(spin, argument);
}

/* Whether a spinning thread is throttled in this round; else it has a CPU or queues for one. */
static bool is_throttled(const struct snapshot *round, pid_t process, const struct place *place)
{
	const long row = live_row(round, (uint32_t)process, (uint32_t)place->tid);

	assert_true(row >= 0);
	if (round->wait_class[row] == WAIT_CLASS_THROTTLED)
		return true;
	assert_true(has_class(round, row, WAIT_CLASS_CPU));
	return false;
}

/*
 * A thread that may run for 1 ms in 100 ms is throttled in about as many rounds as the kernel says that its
 * cgroup was: in most of them where a CPU is free, in more where rounds wait until it runs no more. One
 * without a limit is in none.
 */
static void test_throttled(void **state)
{
	struct place *kept = &world->places[0], *other = &world->places[1];
	char group[TEST_CGROUP_PATH_SIZE], id[16];
	unsigned int throttled = 0;
	double expected = 0, began = 0;
	struct capture *capture;
	pid_t processes[2];
	bool is_limited;

	(void)state;
	if (!test_cgroup_make_limited(group, 1, 100))
		skip_test("no cgroup with a limit of CPU time can be made here");
	memset(world->places, 0, sizeof(world->places));
	processes[0] = live_start(run_spinner, kept);
	processes[1] = live_start(run_spinner, other);
	await("threads to run", kept->tid != 0 && other->tid != 0);
	snprintf(id, sizeof(id), "%d", (int)processes[0]);
	is_limited = test_cgroup_write(group, "cgroup.procs", id);
	capture = live_open(NULL, 0);
	began = (double)clock_ns(CLOCK_MONOTONIC);
	expected = -test_cgroup_throttled(group);
	for (int i = 0; i < KEPT_ROUNDS && is_limited; i++) {
		struct snapshot *round = live_round(capture);

		throttled += is_throttled(round, processes[0], kept);
		assert_false(is_throttled(round, processes[1], other));
		snapshot_release(round);
		live_sleep_ms(7);
	}
	expected = KEPT_ROUNDS * (expected + test_cgroup_throttled(group)) /
		   ((double)clock_ns(CLOCK_MONOTONIC) - began);
	live_end(processes[0]);
	live_end(processes[1]);
	test_cgroup_remove(group);
	capture_close(capture);
	print_message("throttled in %u of %d rounds; by the kernel in %.0f\n", throttled, KEPT_ROUNDS,
		      expected);
	assert_true(expected > 0 && throttled > expected / 2);
}

/* --- restarted calls --- */

static const enum wait_class restarted[] = {WAIT_CLASS_TIMER, WAIT_CLASS_POLL, WAIT_CLASS_FUTEX};

static void *restart(void *argument)
{
	const size_t number = (size_t)(uintptr_t)argument;
	const struct timespec time = {.tv_sec = TIMEOUT_S};
	struct place *place = &world->places[number];

	place->tid = gettid();
	if (restarted[number] == WAIT_CLASS_TIMER)
		wait_for_timer(place);
	else if (restarted[number] == WAIT_CLASS_POLL)
		poll(NULL, 0, TIMEOUT_S * 1000);
	else
		wait_for_futex(place, LOCKED, &time);
	return NULL;
}

static void run_restarters(void *argument)
{
	(void)argument;
	for (size_t i = 0; i < ARRAY_COUNT(restarted); i++)
		start_thread(restart, (void *)(uintptr_t)i); // NOLINT(performance-no-int-to-ptr)
}

/* Whether the threads wait for what they do, or for `instead` (UNKNOWN: for nothing else). */
static bool restarters_wait(struct capture *capture, pid_t process, enum wait_class instead)
{
	struct snapshot *round = live_round(capture);
	bool result = true;

	for (size_t i = 0; i < ARRAY_COUNT(restarted); i++) {
		const struct place *place = &world->places[i];
		const long row = live_row(round, (uint32_t)process, (uint32_t)place->tid);
		const bool is_other = instead != WAIT_CLASS_UNKNOWN;

		result &= row >= 0 && round->wait_class[row] == (is_other ? instead : restarted[i]) &&
			  strcmp(object_of(round, row), is_other ? "" : place->object) == 0;
	}
	snapshot_release(round);
	return result;
}

static void test_restart(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	pid_t process;

	(void)state;
	memset(world->places, 0, sizeof(world->places));
	process = live_start(run_restarters, NULL);
	await("threads to wait", restarters_wait(capture, process, WAIT_CLASS_UNKNOWN));
	kill(process, SIGSTOP);
	await("threads to be stopped", restarters_wait(capture, process, WAIT_CLASS_STOPPED));
	kill(process, SIGCONT);
	await("threads to wait for the same", restarters_wait(capture, process, WAIT_CLASS_UNKNOWN));
	live_end(process);
	capture_close(capture);
}

/* --- owners --- */

static void *wait_for_readers_alone(void *argument)
{
	struct place *place = argument;

	place->tid = gettid();
	wait_for_readers(place);
	return NULL;
}

static void *let_reader_leave(void *argument)
{
	const struct missing_page *page = &readers[ARRAY_COUNT(readers) - 1].page;
	struct uffdio_zeropage zero = {0};

	while (!world->reader_leaves)
		live_sleep_ms(1);
	zero.range.start = (uintptr_t)page->start;
	zero.range.len = page->size;
	ioctl(page->file, UFFDIO_ZEROPAGE, &zero);
	return argument;
}

static void run_readers(void *argument)
{
	void *memory = mmap(NULL, PEAK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)argument;
	/* a new peak of the process's memory would be a reason to read all of its threads */
	if (memory == MAP_FAILED)
		_exit(1);
	memset(memory, 1, PEAK);
	munmap(memory, PEAK);
	start_thread(wait_for_readers_alone, &world->places[0]);
	start_thread(let_reader_leave, NULL);
}

static bool waits_for_lock(struct capture *capture, pid_t process, const char *object)
{
	struct snapshot *round = live_round(capture);
	const long row = live_row(round, (uint32_t)process, (uint32_t)world->places[0].tid);
	const bool result = row >= 0 && round->wait_class[row] == WAIT_CLASS_KERNEL_LOCK &&
			    strcmp(object_of(round, row), object) == 0;

	snapshot_release(round);
	return result || world->places[0].is_missing;
}

/* The owner of a lock changes while a thread that waits for it stands still. */
static void test_owner_leaves(void **state)
{
	struct capture *capture = live_open(NULL, 0);
	struct place *place = &world->places[0];
	pid_t process;

	(void)state;
	memset(world->places, 0, sizeof(world->places));
	world->reader_leaves = world->owner_left = false;
	process = live_start(run_readers, NULL);
	await("the thread to wait", waits_for_lock(capture, process, place->object));
	world->reader_leaves = true;
	await("the reader to leave", world->owner_left || place->is_missing);
	assert_true(waits_for_lock(capture, process, world->names_locks ? "rwsem" : ""));
	live_end(process);
	remove_directory(process);
	capture_close(capture);
	if (place->is_missing)
		skip_test("needs userfaultfd(2)");
}

/* Finds out what this kernel remembers of threads in D, by members of structures that nothing else has. */
static void find_lock_names(void)
{
	static const char blocker[] = "\0last_holder", mutex[] = "\0blocked_on";
	struct buffer types = {0};

	if (file_read(AT_FDCWD, "/sys/kernel/btf/vmlinux", &types, SIZE_MAX) == 0) {
		world->names_locks = memmem(types.data, types.length, blocker, sizeof(blocker)) != NULL;
		world->names_mutexes = world->names_locks ||
				       memmem(types.data, types.length, mutex, sizeof(mutex)) != NULL;
	}
	buffer_release(&types);
}

/* --- many objects --- */

/* Waits at one address after the other. */
static void *wander(void *argument)
{
	const struct timespec time = {.tv_nsec = 2000000};
	unsigned int *words = argument;

	for (size_t i = 0;; i = (i + 1) % WORDS)
		syscall(SYS_futex, &words[i], FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
	return NULL;
}

static void run_wanderers(void *argument)
{
	static unsigned int words[WANDERERS][WORDS];

	(void)argument;
	for (size_t i = 0; i < WANDERERS; i++)
		start_thread(wander, words[i]);
}

/* The texts of addresses at which nobody waits any more do not stay for ever, nor are texts mixed up. */
static void test_many_objects(void **state)
{
	struct capture *capture;
	struct snapshot *round;
	pid_t still, process;
	unsigned int begun = 0;
	size_t first;

	(void)state;
	memset(world->places, 0, sizeof(world->places));
	still = live_start(run_restarters, NULL);
	process = live_start(run_wanderers, NULL);
	capture = live_open((uint32_t[]){(uint32_t)still, (uint32_t)process}, 2);
	await("threads to wait", restarters_wait(capture, still, WAIT_CLASS_UNKNOWN));
	round = live_round(capture);
	first = round->strings.count;
	for (size_t i = 0; i < WANDER_ROUNDS; i++) {
		const uint64_t names_serial = round->names_serial;

		snapshot_release(round);
		live_sleep_ms(3);
		round = live_round(capture);
		begun += round->names_serial != names_serial;
		assert_true(restarters_wait(capture, still, WAIT_CLASS_UNKNOWN));
	}
	print_message("%zu texts, then %zu; names began anew in %u rounds\n", first, round->strings.count,
		      begun);
	assert_true(begun != 0);
	assert_true(round->strings.count < first + WANDERERS * WANDER_ROUNDS / 2);
	snapshot_release(round);
	live_end(process);
	live_end(still);
	capture_close(capture);
}

/* --- what may not be shown --- */

static void become_other(void *argument)
{
	if (argument != NULL && setresuid(OTHER_USER, OTHER_USER, OTHER_USER) != 0)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* which setresuid(2) forgot */
	prctl(PR_SET_DUMPABLE, 0);
}

/* A process with more rights than another may not be read by that. */
static void be_open(void *argument)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	(void)argument;
	if (syscall(SYS_capset, &header, none) != 0)
		_exit(1);
}

static void switch_capability(int capability, bool on)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &header, sets), 0);
	sets[CAP_TO_INDEX(capability)].effective &= ~CAP_TO_MASK(capability);
	if (on)
		sets[CAP_TO_INDEX(capability)].effective |= CAP_TO_MASK(capability);
	assert_int_equal(syscall(SYS_capset, &header, sets), 0);
}

static void expect_hidden(const struct snapshot *round, pid_t process)
{
	const long row = live_row(round, (uint32_t)process, (uint32_t)process);

	assert_true(row >= 0);
	assert_int_equal(round->wait_class[row], WAIT_CLASS_UNKNOWN);
	assert_int_equal(snapshot_source_reason(round, (size_t)row, SOURCE_WAIT), REASON_NOT_PERMITTED);
	assert_string_equal(object_of(round, row), "");
}

static void expect_shown(const struct snapshot *round, pid_t process)
{
	const long row = live_row(round, (uint32_t)process, (uint32_t)process);

	assert_true(row >= 0);
	assert_int_equal(round->wait_class[row], WAIT_CLASS_SIGNAL);
	assert_int_equal(snapshot_source_reason(round, (size_t)row, SOURCE_WAIT), REASON_READ);
}

/* Without CAP_SYS_PTRACE only the user's own processes are shown, unless they must not be traced. */
static void test_permission(void **state)
{
	static char word[] = "other";
	struct capture *capture;
	struct snapshot *round;
	pid_t other, closed, open_one;

	(void)state;
	need_capability(CAP_SETUID, "start a process of another user");
	need_capability(CAP_SYS_PTRACE, "do without it");
	other = live_start(become_other, word);
	closed = live_start(become_other, NULL);
	open_one = live_start(be_open, NULL);
	switch_capability(CAP_SYS_PTRACE, false);
	capture = live_open(NULL, 0);
	round = live_round(capture);
	switch_capability(CAP_SYS_PTRACE, true);
	expect_hidden(round, other);
	expect_hidden(round, closed);
	expect_shown(round, open_one);
	snapshot_release(round);
	live_end(other);
	live_end(closed);
	live_end(open_one);
	capture_close(capture);
}

/* --- the host --- */

/* The call of a thread as procfs shows it. */
struct shown {
	long number;
	unsigned long long arguments[TASK_CALL_ARGUMENTS];
	bool is_there;
};

static struct shown read_shown(const struct task_record *record)
{
	struct shown shown = {0};
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", record->tgid, record->tid);
	file = fopen(path, "re");
	if (file == NULL)
		return shown;
	if (fgets(line, sizeof(line), file) != NULL)
		shown.is_there = sscanf(line, "%ld %llx %llx %llx", &shown.number, &shown.arguments[0],
					&shown.arguments[1], &shown.arguments[2]) >= 1;
	fclose(file);
	return shown;
}

/* Compares a thread's call, and the kind of its file, with what procfs shows. */
static void compare_call(const struct task_record *record, const struct task_call *call,
			 const struct shown *shown, size_t *files)
{
	char path[96];
	struct stat status;

	if (call->number != shown->number)
		fail_msg("%u %.16s sleeps in call %d, and procfs says %ld", record->tid, record->comm,
			 call->number, shown->number);
	for (size_t i = 0; i < TASK_CALL_ARGUMENTS && call->number != WAIT_CALL_NONE; i++)
		assert_int_equal(call->arguments[i], shown->arguments[i]);
	if ((call->flags & TASK_CALL_FILE) == 0)
		return;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/fd/%u", record->tgid, record->tid,
		 (uint32_t)call->arguments[0]);
	if (stat(path, &status) != 0)
		return;
	++*files;
	assert_int_equal(call->mode, status.st_mode);
	if (S_ISSOCK(status.st_mode) || S_ISFIFO(status.st_mode))
		assert_int_equal(call->inode, status.st_ino);
	if (S_ISCHR(status.st_mode))
		assert_int_equal(call->device >> 20, status.st_rdev >> 8 & 0xfff);
}

struct sleeper {
	struct task_record record;
	struct task_call call;
	struct shown shown;
};

static struct sleeper *find_sleepers(const struct bpf_pass *pass)
{
	struct sleeper *sleepers = memory_allocate_zero(pass->row_count + 1, sizeof(*sleepers));

	for (size_t row = 0; row < pass->row_count; row++) {
		const struct task_parts parts = task_parts_of(pass, pass->order[row]);

		if (parts.call == NULL || (parts.call->flags & TASK_CALL_READ) == 0)
			continue;
		sleepers[row] = (struct sleeper){*parts.record, *parts.call, read_shown(parts.record)};
	}
	return sleepers;
}

/* Compares the calls of threads that have not moved since; returns how many. */
static size_t compare_sleepers(const struct sleeper *sleepers, size_t count, const struct bpf_pass *now,
			       size_t *files)
{
	size_t compared = 0;

	for (size_t i = 0; i < count && now->row_count == count; i++) {
		const struct task_record *record = bpf_pass_record(now, now->order[i]);
		const struct task_record *before = &sleepers[i].record;

		if (record->task != before->task || record->last_arrival != before->last_arrival ||
		    record->start_boottime != before->start_boottime || !sleepers[i].shown.is_there)
			continue;
		compare_call(before, &sleepers[i].call, &sleepers[i].shown, files);
		compared++;
	}
	return compared;
}

static void test_host(void **state)
{
	struct task_call_set by_file;
	struct arena arena = {0};
	struct feature_result result;
	struct bpf_tasks *tasks;
	size_t compared = 0, files = 0;

	(void)state;
	need_capability(CAP_SYS_PTRACE, "read calls of all processes from procfs");
	waits_list_calls(&by_file);
	tasks = bpf_tasks_open(NULL, 0, 1000, TASK_PART_CALL, &by_file, &arena, &result);
	assert_non_null(tasks);
	for (int i = 0; i < HOST_TRIES && (compared < COMPARED_LEAST || files == 0); i++) {
		struct bpf_pass pass;
		struct sleeper *sleepers;
		size_t count;

		assert_int_equal(bpf_tasks_read(tasks, TASK_PART_CALL, true, NULL, &pass), 0);
		assert_non_null(pass.calls);
		sleepers = find_sleepers(&pass);
		count = pass.row_count;
		assert_int_equal(bpf_tasks_read(tasks, TASK_PART_CALL, true, NULL, &pass), 0);
		compared += compare_sleepers(sleepers, count, &pass, &files);
		free(sleepers);
	}
	print_message("%zu calls and %zu files are those of procfs\n", compared, files);
	assert_true(compared >= COMPARED_LEAST);
	bpf_tasks_close(tasks);
	arena_release(&arena);
}

/* --- without room --- */

static void *wait_in_crowd(void *argument)
{
	syscall(SYS_futex, argument, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

static void run_crowd(void *argument)
{
	static unsigned int word;

	(void)argument;
	for (int i = 0; i < CROWD; i++)
		start_thread(wait_in_crowd, &word);
}

/* How many threads of a process wait in futex(2). */
static size_t count_futexes(const struct bpf_pass *pass, pid_t process)
{
	size_t count = 0;

	for (size_t row = 0; row < pass->row_count; row++) {
		const struct task_parts parts = task_parts_of(pass, pass->order[row]);

		count += parts.record->tgid == (uint32_t)process &&
			 (parts.call->flags & TASK_CALL_READ) != 0 && parts.call->number == SYS_futex;
	}
	return count;
}

/* Where threads have no slots, the iterator hands their calls over. */
static void test_without_room(void **state)
{
	const pid_t process = live_start(run_crowd, NULL);
	struct task_call_set by_file;
	struct arena arena = {0};
	struct feature_result result;
	struct bpf_tasks *tasks;
	struct bpf_pass pass;

	(void)state;
	waits_list_calls(&by_file);
	tasks = bpf_tasks_open(NULL, 0, 0, TASK_PART_CALL, &by_file, &arena, &result);
	assert_non_null(tasks);
	await("all threads to wait", bpf_tasks_read(tasks, TASK_PART_CALL, false, NULL, &pass) == 0 &&
					     pass.calls != NULL && count_futexes(&pass, process) == CROWD);
	assert_null(pass.places);
	bpf_tasks_close(tasks);
	arena_release(&arena);
	live_end(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),      cmocka_unit_test(test_kernel_thread),
		cmocka_unit_test(test_restart),      cmocka_unit_test(test_many_objects),
		cmocka_unit_test(test_permission),   cmocka_unit_test(test_host),
		cmocka_unit_test(test_without_room), cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_owner_leaves), cmocka_unit_test(test_times),
	};

	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (world == MAP_FAILED)
		return 1;
	find_lock_names();
	return live_choose_bpf() ? cmocka_run_group_tests_name("wait classes", tests, NULL, NULL) : 0;
}
