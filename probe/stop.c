/* SPDX-License-Identifier: GPL-2.0-only */
#include "stop.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rights.h"
#include "probe/process/transfer.h"

enum {
	STOP_BOUND_MS = 250,      /* for one thread */
	BATCH_MAX = 256,          /* threads of one helper */
	BATCH_BOUND_MS = 2000,    /* for one helper; then it is killed */
	VAIN_MAX = 8,             /* threads of one call that may not stop in time */
	FLAG_PERIOD_MS = 10,      /* how often the caller's flag is looked at */
	REAP_BOUND_MS = 100,      /* for a killed helper to end */
	EVENT_SHIFT = 16,         /* of a ptrace event in a wait status, ptrace(2) */
	HELPER_GAVE_UP_ON_ONE = 1 /* exit status: the last thread that is done is still held */
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

/*
 * Everything from here to helper_run() runs in the helper, the copy of one thread of a program with several:
 * it may only do what a signal handler may.
 */

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
			  enum heap_tag refusal, uint64_t *stops)
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
	++*stops;
	read_stopped(attachment, thread);
	/* it may have stopped to receive a signal just then: that one goes on with it */
	if (status >> EVENT_SHIFT == 0)
		signal = (uintptr_t)WSTOPSIG(status);
	if (ptrace(PTRACE_DETACH, tid, NULL, (void *)signal) == 0)
		return true;
	/* killed meanwhile, it waits to be reaped, and with it an execve() of another thread (de_thread()) */
	return errno == ESRCH && wait_stopped(tid, &status) != ETIMEDOUT;
}

/* Memory that helper and caller share. */
struct stop_batch {
	size_t count;
	uint64_t stops;
	struct stop_thread threads[BATCH_MAX];
};

static _Noreturn void helper_run(const struct attachment *attachment, struct stop_batch *batch, pid_t caller)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	enum heap_tag refusal = HEAP_TAG_PTRACE_SEIZE;

	/*
	 * The user can stop this process, and with it whatever it holds at that moment: it may hold only what
	 * he could stop himself.
	 */
	if (getuid() != 0) {
		if (rights_include(CAP_SYS_PTRACE))
			refusal = HEAP_TAG_NOT_PERMITTED;
		if (rights_give_up() < 0)
			_exit(0);
	}
	/* the caller may be gone already: then nobody would end us */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != caller)
		_exit(0);
	sigaction(SIGCHLD, &standard, NULL);
	for (size_t i = 0; i < batch->count; i++) {
		const bool released = stop_and_read(attachment, &batch->threads[i], refusal, &batch->stops);

		__atomic_store_n(&batch->threads[i].done, true, __ATOMIC_RELEASE);
		if (!released)
			_exit(HELPER_GAVE_UP_ON_ONE);
	}
	_exit(0);
}

/* From here on everything runs in the caller. */

/* Ends the helper; the exit of a process that waits in the kernel may have to wait too. */
static void end_helper(struct child *helper)
{
	const uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + REAP_BOUND_MS * NS_PER_MS;
	const struct timespec period = {.tv_nsec = NS_PER_MS};

	child_kill(helper);
	while (!child_reap(helper, NULL) && clock_ns(CLOCK_MONOTONIC) < deadline)
		nanosleep(&period, NULL);
}

/* Waits for the helper. Returns its exit status, -ETIMEDOUT or -EINTR after ending it. */
static int wait_helper(struct child *helper, const volatile int *stop_flag)
{
	const uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + BATCH_BOUND_MS * NS_PER_MS;

	for (;;) {
		struct pollfd end = {.fd = helper->handle, .events = POLLIN};
		int status;

		poll(&end, 1, FLAG_PERIOD_MS);
		if (child_reap(helper, &status))
			return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		if (stop_flag != NULL && *stop_flag != 0) {
			end_helper(helper);
			return -EINTR;
		}
		if (clock_ns(CLOCK_MONOTONIC) >= deadline) {
			end_helper(helper);
			return -ETIMEDOUT;
		}
	}
}

/* One helper for one batch. Returns what wait_helper() does, or a negative errno. */
static int run_batch(struct child *helper, const struct attachment *attachment, struct stop_batch *batch,
		     const volatile int *stop_flag)
{
	const pid_t caller = getpid();
	sigset_t all, before;
	pid_t pid;
	int r;

	/* the helper is not to run our handlers */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	r = pid < 0 ? -errno : 0;
	if (pid == 0)
		helper_run(attachment, batch, caller);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		return r;
	*helper = child_adopt(pid);
	return wait_helper(helper, stop_flag);
}

/* Copies what the helper has done; returns how many threads that were, from the first on. */
static size_t take_results(const struct stop_batch *batch, struct stop_thread *threads)
{
	size_t done = 0;

	while (done < batch->count && __atomic_load_n(&batch->threads[done].done, __ATOMIC_ACQUIRE)) {
		threads[done] = batch->threads[done];
		done++;
	}
	return done;
}

static void give_up(struct stop_thread *threads, size_t count, int error_number)
{
	for (size_t i = 0; i < count; i++) {
		fail(&threads[i], HEAP_TAG_WAITPID, error_number);
		threads[i].done = true;
	}
}

static int read_all(struct child *helper, const struct attachment *attachment, struct stop_batch *batch,
		    struct stop_thread *threads, size_t count, const volatile int *stop_flag, uint64_t *stops)
{
	size_t next = 0;
	unsigned int vain = 0;

	while (next < count) {
		size_t taken;
		int r;

		batch->count = count - next < BATCH_MAX ? count - next : BATCH_MAX;
		batch->stops = 0;
		memcpy(batch->threads, &threads[next], batch->count * sizeof(threads[0]));
		if (!child_reap(helper, NULL) || vain >= VAIN_MAX) {
			give_up(&threads[next], count - next, ETIMEDOUT);
			break;
		}
		r = run_batch(helper, attachment, batch, stop_flag);
		*stops += batch->stops;
		taken = take_results(batch, &threads[next]);
		next += taken;
		if (r == -EINTR)
			return r;
		if (r == HELPER_GAVE_UP_ON_ONE)
			vain++;
		if (r < 0 && r != -ETIMEDOUT) {
			give_up(&threads[next], count - next, -r);
			break;
		}
		/* the thread that this helper did not get past is not given to the next one */
		if (next < count && (r == -ETIMEDOUT || taken == 0)) {
			give_up(&threads[next++], 1, ETIMEDOUT);
			vain++;
		}
	}
	return 0;
}

int stop_read(struct child *helper, const struct attachment *attachment, struct stop_thread *threads,
	      size_t count, const volatile int *stop_flag, uint64_t *stops)
{
	struct stop_batch *batch = mmap(NULL, sizeof(*batch), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	for (size_t i = 0; i < count; i++)
		threads[i].done = false;
	if (batch == MAP_FAILED) {
		give_up(threads, count, errno);
		return 0;
	}
	r = read_all(helper, attachment, batch, threads, count, stop_flag, stops);
	munmap(batch, sizeof(*batch));
	return r;
}
