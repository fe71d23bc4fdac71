/* SPDX-License-Identifier: GPL-2.0-only */
#include "supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"
#include "memory.h"
#include "message.h"

enum {
	FIXED_POLLS = 2, /* the orders, the signals */
};

/* The process ids of those that were forked, in memory that the program and the supervisor share. */
struct roster {
	pid_t pids[SUPERVISOR_PROCESSES_MAX]; /* 0: none */
	size_t count;                         /* no more than so many are in use */
};

struct order_message {
	supervisor_work *work;
	uint32_t report, hanging_max, descriptor_count;
	_Alignas(max_align_t) char argument[SUPERVISOR_ARGUMENT_MAX];
};

_Static_assert((int)SUPERVISOR_DESCRIPTORS_MAX <= (int)MESSAGE_DESCRIPTORS_MAX, "one message has an order");

/* The program's side. */
static struct {
	pthread_mutex_t lock; /* for `control` */
	pid_t pid;            /* 0: there is none, or it was collected */
	int control;          /* valid while it is started */
	bool is_started;
	struct roster *roster;
} program = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- a forked process --- */

/* Leaves this process those descriptors, and /dev/null for the standard ones. Returns 0 or a negative errno.
 */
static int keep_descriptors(int *kept, size_t count)
{
	const int first = STDERR_FILENO + 1, end = first + (int)count;
	const int result = file_keep_descriptors(kept, count);
	int null;

	if (result < 0)
		return result;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* a chroot without /dev: 0, 1 and 2 must be in use all the same, by anything that goes nowhere */
	if (null < 0)
		null = memfd_create("null", MFD_CLOEXEC);
	for (int i = STDIN_FILENO; i < first; i++) {
		if (dup2(null, i) < 0)
			return -errno;
	}
	if (null >= end)
		close(null);
	return 0;
}

/*
 * Comes first in a forked process. The kernel ends the process when its parent ends, and this function does
 * so where the parent is not `parent` any more. Every descriptor is closed but the `count` in `kept`, which
 * become 3, 4 and so on, as `kept` then says: nobody who reads what the program writes has to wait for a
 * process that hangs. /dev/null stands on 0, 1 and 2, so that nothing that is printed gets into those. Ends
 * the process where any of this fails.
 */
static void isolate(pid_t parent, int *kept, size_t count)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent ||
	    keep_descriptors(kept, count) < 0)
		_exit(EXIT_FAILURE);
}

/* --- the supervisor --- */

struct process {
	pid_t pid;
	supervisor_work *work;
	int socket; /* the end that the process has too: tells when the program has given it up */
	enum supervisor_report report;
	bool killed;
	size_t seat; /* in the roster */
};

struct supervisor {
	int control, signals; /* the socket that orders come from; a signalfd(2) for SIGCHLD */
	struct roster *roster;
	struct process processes[SUPERVISOR_PROCESSES_MAX];
	size_t count;
};

/* Keys of the terminal are for the program; this process ends with it. */
static void ignore_terminal(void)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};

	setsid();
	for (size_t i = 0; i < ARRAY_COUNT(ignored); i++)
		signal(ignored[i], SIG_IGN);
}

/* Says how an order ended, unless nobody listens any more. */
static void say_ended(int socket, int error_number, int wait_status)
{
	struct supervisor_ended ended = {
		.kind = SUPERVISOR_ENDED, .error_number = error_number, .wait_status = wait_status};

	(void)message_send(socket, &(struct message){.bytes = &ended, .size = sizeof(ended)}, MSG_DONTWAIT);
}

static size_t find_seat(const struct roster *roster)
{
	size_t seat = 0;

	while (seat < roster->count && roster->pids[seat] != 0)
		seat++;
	return seat;
}

static void seat_process(struct roster *roster, size_t seat, pid_t pid)
{
	__atomic_store_n(&roster->pids[seat], pid, __ATOMIC_RELAXED);
	if (seat >= roster->count)
		__atomic_store_n(&roster->count, seat + 1, __ATOMIC_RELAXED);
}

/* Whether another process with that work may be forked: not too many hang, and the table has room. */
static bool may_fork(const struct supervisor *supervisor, const struct order_message *order)
{
	unsigned int hanging = 0;

	for (size_t i = 0; i < supervisor->count; i++)
		hanging += supervisor->processes[i].killed && supervisor->processes[i].work == order->work;
	return hanging < order->hanging_max && supervisor->count < SUPERVISOR_PROCESSES_MAX;
}

_Noreturn static void become_process(struct supervisor *supervisor, pid_t parent,
				     const struct order_message *order, int *descriptors)
{
	sigset_t none;

	isolate(parent, descriptors, order->descriptor_count);
	munmap(supervisor->roster, sizeof(*supervisor->roster));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(order->work(descriptors, order->argument));
}

/* Takes over the first descriptor where it succeeds. Returns 0 or a negative errno. */
static int fork_process(struct supervisor *supervisor, const struct order_message *order, int *descriptors)
{
	const pid_t self = getpid();
	pid_t pid;

	if (!may_fork(supervisor, order))
		return -EAGAIN;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become_process(supervisor, self, order, descriptors);
	supervisor->processes[supervisor->count] = (struct process){
		.pid = pid,
		.work = order->work,
		.socket = descriptors[0],
		.report = (enum supervisor_report)order->report,
		.seat = find_seat(supervisor->roster),
	};
	seat_process(supervisor->roster, supervisor->processes[supervisor->count].seat, pid);
	supervisor->count++;
	descriptors[0] = -1;
	return 0;
}

/* Takes one order. Ends this process, and all below it, when the program has closed its end or is gone. */
static void take_order(struct supervisor *supervisor)
{
	int descriptors[SUPERVISOR_DESCRIPTORS_MAX], result;
	struct order_message order;
	struct message message = {.bytes = &order, .size = sizeof(order), .descriptors = descriptors};
	uint32_t count;
	ssize_t received;

	/* how many descriptors come along stands in the message */
	received = recv(supervisor->control, &order, sizeof(order), MSG_DONTWAIT | MSG_PEEK);
	if (received < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (received != (ssize_t)sizeof(order) || order.descriptor_count > SUPERVISOR_DESCRIPTORS_MAX)
		_exit(EXIT_SUCCESS);
	count = order.descriptor_count;
	message.descriptor_count = count;
	if (message_receive(supervisor->control, &message, MSG_DONTWAIT) != (ssize_t)sizeof(order))
		_exit(EXIT_SUCCESS);
	/* no descriptor left here: the kernel has closed them, the other end of the socket sees it */
	if (descriptors[0] < 0)
		return;
	result = fork_process(supervisor, &order, descriptors);
	if (result < 0 && order.report != SUPERVISOR_SAYS_NOTHING)
		say_ended(descriptors[0], -result, 0);
	for (uint32_t i = 0; i < count; i++) {
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	}
}

static void reap(struct supervisor *supervisor)
{
	for (size_t i = supervisor->count; i-- > 0;) {
		struct process *process = &supervisor->processes[i];
		int status;

		if (waitpid(process->pid, &status, WNOHANG) != process->pid)
			continue;
		if (process->report == SUPERVISOR_SAYS_END && !process->killed)
			say_ended(process->socket, 0, status);
		if (process->socket >= 0)
			close(process->socket);
		seat_process(supervisor->roster, process->seat, 0);
		*process = supervisor->processes[--supervisor->count];
	}
}

/* Waits for events, and kills those that the program has given up. */
static void wait_for_events(struct supervisor *supervisor)
{
	struct pollfd polls[FIXED_POLLS + SUPERVISOR_PROCESSES_MAX] = {
		{.fd = supervisor->control, .events = POLLIN},
		{.fd = supervisor->signals, .events = POLLIN},
	};
	struct signalfd_siginfo information;

	for (size_t i = 0; i < supervisor->count; i++) {
		polls[FIXED_POLLS + i].fd = supervisor->processes[i].killed ? -1
									    : supervisor->processes[i].socket;
		polls[FIXED_POLLS + i].events = POLLRDHUP;
	}
	if (poll(polls, FIXED_POLLS + supervisor->count, -1) < 0)
		return;
	for (size_t i = 0; i < supervisor->count; i++) {
		if (polls[FIXED_POLLS + i].revents == 0)
			continue;
		kill(supervisor->processes[i].pid, SIGKILL);
		supervisor->processes[i].killed = true;
	}
	/* one signal may stand for several children */
	if (polls[1].revents != 0) {
		(void)!read(supervisor->signals, &information, sizeof(information));
		reap(supervisor);
	}
	if (polls[0].revents != 0)
		take_order(supervisor);
}

_Noreturn static void run(int control, pid_t parent, struct roster *roster)
{
	static struct supervisor supervisor;
	sigset_t child_signal;

	ignore_terminal();
	isolate(parent, &control, 1);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child_signal, NULL);
	supervisor.control = control;
	supervisor.roster = roster;
	supervisor.signals = signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK);
	if (supervisor.signals < 0)
		_exit(EXIT_FAILURE);
	for (;;)
		wait_for_events(&supervisor);
}

/* --- the program --- */

static void collect_supervisor(void)
{
	if (program.pid != 0 && waitpid(program.pid, NULL, WNOHANG) == program.pid)
		program.pid = 0;
}

int supervisor_start(struct error *error)
{
	const pid_t self = getpid();
	struct roster *roster;
	int sockets[2], result;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_set(error, -errno, "cannot create a socket: %s", strerror(errno));
	/* where it is ignored, the kernel collects children, and their numbers become those of others */
	signal(SIGCHLD, SIG_DFL);
	roster = mmap(NULL, sizeof(*roster), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = roster != MAP_FAILED ? fork() : -1;
	if (pid == 0)
		run(sockets[1], self, roster);
	result = -errno;
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		if (roster != MAP_FAILED)
			munmap(roster, sizeof(*roster));
		return error_set(error, result, "cannot fork: %s", strerror(-result));
	}
	program.pid = pid;
	program.control = sockets[0];
	program.roster = roster;
	program.is_started = true;
	return 0;
}

void supervisor_stop(void)
{
	pthread_mutex_lock(&program.lock);
	if (program.is_started) {
		program.is_started = false;
		close(program.control);
		/* what it has forked goes with it: PR_SET_PDEATHSIG */
		if (program.pid != 0) {
			kill(program.pid, SIGKILL);
			while (waitpid(program.pid, NULL, 0) < 0 && errno == EINTR)
				;
			program.pid = 0;
		}
		munmap(program.roster, sizeof(*program.roster));
		program.roster = NULL;
	}
	pthread_mutex_unlock(&program.lock);
}

bool supervisor_is_started(void)
{
	bool is_started;

	pthread_mutex_lock(&program.lock);
	is_started = program.is_started;
	pthread_mutex_unlock(&program.lock);
	return is_started;
}

bool supervisor_owns(pid_t pid)
{
	bool owns = false;

	pthread_mutex_lock(&program.lock);
	if (program.is_started) {
		const size_t count = __atomic_load_n(&program.roster->count, __ATOMIC_RELAXED);

		owns = pid == program.pid;
		/* a round that meets it collects it: somebody may have killed it, and no order comes for long
		 */
		if (owns)
			collect_supervisor();
		for (size_t i = 0; !owns && i < count; i++)
			owns = __atomic_load_n(&program.roster->pids[i], __ATOMIC_RELAXED) == pid;
	}
	pthread_mutex_unlock(&program.lock);
	return owns;
}

int supervisor_fork(const struct supervisor_order *order)
{
	struct order_message bytes;
	struct message message = {
		.bytes = &bytes,
		.size = sizeof(bytes),
		.descriptors = (int *)order->descriptors,
		.descriptor_count = order->descriptor_count,
	};
	int result = -ESRCH;

	if (order->size > SUPERVISOR_ARGUMENT_MAX || order->descriptor_count > SUPERVISOR_DESCRIPTORS_MAX)
		return -EMSGSIZE;
	memset(&bytes, 0, sizeof(bytes));
	bytes.work = order->work;
	bytes.report = order->report;
	bytes.hanging_max = order->hanging_max;
	bytes.descriptor_count = (uint32_t)order->descriptor_count;
	if (order->size != 0)
		memcpy(bytes.argument, order->argument, order->size);
	pthread_mutex_lock(&program.lock);
	if (program.is_started) {
		result = message_send(program.control, &message, MSG_DONTWAIT);
		if (result < 0)
			collect_supervisor(); /* in case somebody killed it */
	}
	pthread_mutex_unlock(&program.lock);
	return result;
}
