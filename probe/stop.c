/* SPDX-License-Identifier: GPL-2.0-only */
#include "stop.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rights.h"
#include "base/supervisor.h"
#include "probe/process/transfer.h"

enum {
	STOP_BOUND_MS = 250,   /* for one thread */
	BATCH_MAX = 256,       /* threads of one helper */
	BATCH_BOUND_MS = 2000, /* for one helper; then it is killed */
	VAIN_MAX = 8,          /* threads of one call that may not stop in time */
	FLAG_PERIOD_MS = 10,   /* how often the caller's flag is looked at */
	REAP_BOUND_MS = 100,   /* for a killed helper to end */
	EVENT_SHIFT = 16,      /* of a ptrace event in a wait status, ptrace(2) */
};

#if defined(__x86_64__)
static int read_thread_pointer(pid_t tid, uint64_t *ret_thread_pointer)
{
	struct user_regs_struct registers;
	struct iovec vector = {.iov_base = &registers, .iov_len = sizeof(registers)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &vector) < 0)
		return -errno;
	/* shorter for a 32-bit program, which has no such register */
	if (vector.iov_len < sizeof(registers))
		return -EIO;
	*ret_thread_pointer = registers.fs_base;
	return 0;
}
#elif defined(__aarch64__)
static int read_thread_pointer(pid_t tid, uint64_t *ret_thread_pointer)
{
	uint64_t pointer;
	struct iovec vector = {.iov_base = &pointer, .iov_len = sizeof(pointer)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_ARM_TLS, &vector) < 0)
		return -errno;
	if (vector.iov_len < sizeof(pointer))
		return -EIO;
	*ret_thread_pointer = pointer;
	return 0;
}
#endif

/* --- the helper --- */

static void fail(struct stop_thread *thread, enum heap_tag tag, int error_number)
{
	thread->tag = tag;
	thread->error_number = error_number;
}

/* Waits until a seized thread stops; SIGCHLD, which is blocked, tells at once. Returns 0 or an errno. */
static int wait_stopped(pid_t tid, int *ret_status)
{
	const uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + STOP_BOUND_MS * NS_PER_MS;
	const struct timespec period = {.tv_nsec = NS_PER_MS};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		/* asked before it is looked for: whoever is kept from running looks once more */
		const bool is_late = clock_ns(CLOCK_MONOTONIC) >= deadline;
		int status;
		const pid_t r = waitpid(tid, &status, WNOHANG | __WALL);

		if (r < 0 && errno != EINTR)
			return errno;
		if (r == tid) {
			*ret_status = status;
			return WIFSTOPPED(status) ? 0 : ESRCH;
		}
		if (is_late)
			return ETIMEDOUT;
		sigtimedwait(&child, NULL, &period);
	}
}

/* Finds and reads the counters of a thread that has stopped. */
static void read_stopped(const struct attachment *attachment, struct stop_thread *thread)
{
	const pid_t tid = (pid_t)thread->tid;
	char bytes[LAYOUT_SPAN_MAX];
	struct transfer_way here = {.killable = true};
	uint64_t thread_pointer = 0;
	int r = read_thread_pointer(tid, &thread_pointer);

	if (r < 0) {
		fail(thread, HEAP_TAG_GET_REGSET, -r);
		return;
	}
	r = attachment_counter_address(attachment, tid, thread_pointer, &thread->address, &here);
	if (r == -ENODATA) { /* no storage: it has allocated nothing */
		fail(thread, HEAP_TAG_NONE, 0);
		return;
	}
	if (r == -EOVERFLOW) {
		fail(thread, HEAP_TAG_TLS_ARITHMETIC, 0);
		return;
	}
	if (r == 0)
		r = transfer_read(tid, thread->address, bytes, attachment->span, &here);
	if (r < 0) {
		fail(thread, HEAP_TAG_PROCESS_VM_READV, -r);
		return;
	}
	attachment_take_counters(attachment, bytes, &thread->allocated, &thread->deallocated);
	thread->has_address = true;
	fail(thread, HEAP_TAG_NONE, 0);
}

/* Returns false when the thread could not be let go of: only the end of the helper does that. */
static bool stop_and_read(const struct attachment *attachment, struct stop_thread *thread,
			  enum heap_tag refusal)
{
	const pid_t tid = (pid_t)thread->tid;
	uintptr_t signal = 0;
	int status = 0, r;

	if (!attachment_has_thread(attachment, thread->tid)) {
		fail(thread, HEAP_TAG_PTRACE_SEIZE, ESRCH);
		return true;
	}
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
		fail(thread, errno == EPERM ? refusal : HEAP_TAG_PTRACE_SEIZE, errno);
		return true;
	}
	/* the number was used again; seizing alone stops nothing */
	if (!attachment_has_thread(attachment, thread->tid)) {
		fail(thread, HEAP_TAG_PTRACE_SEIZE, ESRCH);
		return false;
	}
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0) {
		fail(thread, HEAP_TAG_PTRACE_INTERRUPT, errno);
		return false;
	}
	r = wait_stopped(tid, &status);
	if (r != 0) {
		fail(thread, HEAP_TAG_WAITPID, r);
		return r != ETIMEDOUT;
	}
	thread->was_stopped = true;
	read_stopped(attachment, thread);
	/* it may have stopped to receive a signal just then: that one goes on with it */
	if (status >> EVENT_SHIFT == 0)
		signal = (uintptr_t)WSTOPSIG(status);
	if (ptrace(PTRACE_DETACH, tid, NULL, (void *)signal) == 0)
		return true;
	/* killed meanwhile, it waits to be reaped, and with it an execve() of another thread (de_thread()) */
	return errno == ESRCH && wait_stopped(tid, &status) != ETIMEDOUT;
}

/* The message to a helper, which sends each thread back once it is done. */
struct stop_order {
	struct attachment attachment;
	enum heap_tag refusal; /* tag of a thread that may not be traced */
	size_t count;
	struct stop_thread threads[BATCH_MAX];
};

/* A supervisor_work. It ends early after a thread that it could not let go of: that releases the thread. */
static int help(const int *descriptors, const void *unused)
{
	const int socket = descriptors[0];
	struct stop_order order;
	bool goes_on = recv(socket, &order, sizeof(order), 0) == (ssize_t)sizeof(order);
	sigset_t child;

	(void)unused;
	/*
	 * The user can stop this process, and with it whatever it holds at that moment: it may hold only what
	 * he could stop himself.
	 */
	if (getuid() != 0 && rights_give_up() < 0)
		return EXIT_FAILURE;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	for (size_t i = 0; goes_on && i < order.count; i++) {
		struct stop_thread *thread = &order.threads[i];

		goes_on = stop_and_read(&order.attachment, thread, order.refusal);
		thread->done = true;
		if (send(socket, thread, sizeof(*thread), 0) < 0)
			goes_on = false;
	}
	return EXIT_SUCCESS;
}

/* --- the program --- */

/*
 * Takes threads that are done from the helper until it ends, or until it is late or the flag is set: then has
 * it killed. Returns 0, -ETIMEDOUT or -EINTR.
 */
static int take_threads(int socket, struct stop_thread *threads, size_t count, size_t *done,
			const volatile int *stop_flag)
{
	const uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + BATCH_BOUND_MS * NS_PER_MS;
	struct pollfd input = {.fd = socket, .events = POLLIN};
	int r = 0;

	while (r == 0) {
		struct stop_thread thread;

		if (poll(&input, 1, FLAG_PERIOD_MS) > 0) {
			if (recv(socket, &thread, sizeof(thread), 0) != (ssize_t)sizeof(thread) ||
			    *done == count)
				return 0;
			threads[(*done)++] = thread;
		}
		if (stop_flag != NULL && *stop_flag != 0)
			r = -EINTR;
		else if (clock_ns(CLOCK_MONOTONIC) >= deadline)
			r = -ETIMEDOUT;
	}
	shutdown(socket, SHUT_WR);
	/* the exit of a process that waits in the kernel may have to wait, too */
	poll(&input, 1, REAP_BOUND_MS);
	return r;
}

/* Has one helper stop the threads of an order. Returns what take_threads() does, or why there is no helper.
 */
static int run_helper(const struct stop_order *order, struct stop_thread *threads, size_t *ret_done,
		      const volatile int *stop_flag)
{
	struct supervisor_order helper = {.work = help, .hanging_max = 1, .descriptor_count = 1};
	int sockets[2], r;

	*ret_done = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	helper.descriptors[0] = sockets[1];
	r = send(sockets[0], order, sizeof(*order), MSG_DONTWAIT) < 0 ? -errno : supervisor_fork(&helper);
	close(sockets[1]);
	if (r == 0)
		r = take_threads(sockets[0], threads, order->count, ret_done, stop_flag);
	close(sockets[0]);
	return r;
}

static void give_up(struct stop_thread *threads, size_t count, int error_number)
{
	for (size_t i = 0; i < count; i++) {
		fail(&threads[i], HEAP_TAG_WAITPID, error_number);
		threads[i].done = true;
	}
}

int stop_read(const struct attachment *attachment, struct stop_thread *threads, size_t count,
	      const volatile int *stop_flag)
{
	struct stop_order order = {.attachment = *attachment, .refusal = HEAP_TAG_PTRACE_SEIZE};
	size_t next = 0;

	if (getuid() != 0 && rights_include(CAP_SYS_PTRACE))
		order.refusal = HEAP_TAG_NOT_PERMITTED;
	for (unsigned int vain = 0; next < count && vain < VAIN_MAX;) {
		size_t done;
		int r;

		order.count = count - next < BATCH_MAX ? count - next : BATCH_MAX;
		memcpy(order.threads, &threads[next], order.count * sizeof(threads[0]));
		r = run_helper(&order, &threads[next], &done, stop_flag);
		next += done;
		if (r == -EINTR)
			return r;
		if (r < 0 && r != -ETIMEDOUT) {
			give_up(&threads[next], count - next, -r);
			return 0;
		}
		if (done == order.count)
			continue;
		vain++;
		/* the thread that this helper did not get past is not given to the next one */
		if (r == -ETIMEDOUT || done == 0)
			give_up(&threads[next++], 1, ETIMEDOUT);
	}
	give_up(&threads[next], count - next, ETIMEDOUT);
	return 0;
}
