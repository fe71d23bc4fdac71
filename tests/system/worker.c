/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system tests' second source: a process whose threads have given names, do a given amount of work, and
 *count what they did themselves (CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD, the bytes and calls they made).
 *
 *	worker [--pid-namespace] [--cgroup DIRECTORY] [--process NAME] [KIND[:AMOUNT]=NAME]…
 *
 * Prints "ready PID". Then it obeys lines on standard input:
 *	go	each thread does its work once; prints "going" at once and "done" when all have finished
 *	report	prints for each thread "thread INDEX TID KEY=VALUE …", then "end process_cpu_ns=N"
 *	quit	ends, as the end of the input does
 * SIGUSR1 lets the threads go on that wait for it.
 * "skip REASON" instead of "ready" says that the host does not allow what was asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAXIMUM_THREADS  512
#define BLOCK_BYTES      65536
#define PAGE_BYTES       4096
#define NS_PER_MS        1000000ULL
#define LIFETIME_SECONDS 60 /* nothing outlives a test that hangs */

struct thread;

struct kind {
	const char *name;
	bool (*prepare)(struct thread *thread); /* before "ready"; false: the host does not allow it */
	void (*work)(struct thread *thread);    /* once per "go", with `amount` */
	bool at_once;                           /* works from the start, without "go", and never finishes */
};

struct thread {
	const struct kind *kind;
	uint64_t amount;
	const char *name;
	pthread_t id;
	clockid_t clock;
	int process; /* as the host's procfs numbers them */
	int tid;
	int file;
	int go; /* eventfd: the thread waits here */
	void *block;
	atomic_bool prepared;
	atomic_bool refused;
	atomic_bool ended;
	/* counted by the thread itself */
	uint64_t end_cpu_ns;
	uint64_t written_bytes;
	uint64_t read_bytes;
	uint64_t storage_written_bytes;
	uint64_t storage_read_bytes;
	uint64_t write_calls;
	uint64_t read_calls;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t copied_pages;
	uint64_t began_ns; /* its last work, CLOCK_REALTIME */
};

static int done; /* eventfd that adds up the finished threads */

static volatile sig_atomic_t released;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t nanoseconds)
{
	struct timespec time = {(time_t)(nanoseconds / 1000000000ULL), (long)(nanoseconds % 1000000000ULL)};

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

/* Every read and write of a thread goes through these two, so that its own count is whole. */
static ssize_t counted_read(struct thread *thread, int file, void *bytes, size_t length)
{
	ssize_t got = read(file, bytes, length);

	thread->read_calls++;
	if (got > 0)
		thread->read_bytes += (uint64_t)got;
	return got;
}

static ssize_t counted_write(struct thread *thread, int file, const void *bytes, size_t length)
{
	ssize_t put = write(file, bytes, length);

	thread->write_calls++;
	if (put > 0)
		thread->written_bytes += (uint64_t)put;
	return put;
}

static void burn(uint64_t nanoseconds)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* AMOUNT milliseconds of CPU time. */
static void work_burst(struct thread *thread)
{
	burn(thread->amount * NS_PER_MS);
}

/* AMOUNT milliseconds of CPU time in each 100 ms, for ever. */
static void work_duty(struct thread *thread)
{
	for (;;) {
		burn(thread->amount * NS_PER_MS);
		sleep_ns((100 - thread->amount) * NS_PER_MS);
	}
}

/* AMOUNT waits of a millisecond, each a voluntary switch. */
static void work_switch(struct thread *thread)
{
	for (uint64_t i = 0; i < thread->amount; i++)
		sleep_ns(NS_PER_MS);
}

/* AMOUNT fresh pages touched, each a minor fault. */
static void work_fault(struct thread *thread)
{
	size_t length = thread->amount * PAGE_BYTES;
	volatile char *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return;
	madvise((void *)pages, length, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < length; i += PAGE_BYTES)
		pages[i] = 1;
	munmap((void *)pages, length);
}

/* AMOUNT pages written while a child shares them, each copied (a "wpcopy" delay of taskstats). */
static void work_copy(struct thread *thread)
{
	size_t length = thread->amount * PAGE_BYTES;
	volatile char *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (pages == MAP_FAILED)
		return;
	madvise((void *)pages, length, MADV_NOHUGEPAGE);
	memset((void *)pages, 1, length);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	for (size_t i = 0; i < length; i += PAGE_BYTES)
		pages[i] = 2;
	if (child > 0) {
		thread->copied_pages += thread->amount;
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	munmap((void *)pages, length);
}

static bool prepare_storage(struct thread *thread)
{
	thread->file = open("/var/tmp", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
	if (thread->file < 0 || posix_memalign(&thread->block, PAGE_BYTES, BLOCK_BYTES) != 0)
		return false;
	memset(thread->block, 'w', BLOCK_BYTES);
	return true;
}

/* AMOUNT blocks of 64 KiB written to storage past the page cache. */
static void work_write(struct thread *thread)
{
	for (uint64_t i = 0; i < thread->amount; i++) {
		if (counted_write(thread, thread->file, thread->block, BLOCK_BYTES) == BLOCK_BYTES)
			thread->storage_written_bytes += BLOCK_BYTES;
	}
	fdatasync(thread->file);
}

static bool prepare_read(struct thread *thread)
{
	if (!prepare_storage(thread))
		return false;
	work_write(thread);
	return true;
}

/* AMOUNT blocks of 64 KiB read from storage past the page cache. */
static void work_read(struct thread *thread)
{
	lseek(thread->file, 0, SEEK_SET);
	for (uint64_t i = 0; i < thread->amount; i++) {
		if (counted_read(thread, thread->file, thread->block, BLOCK_BYTES) == BLOCK_BYTES)
			thread->storage_read_bytes += BLOCK_BYTES;
	}
}

/* On the last CPU of those that the process may use. */
static bool prepare_pinned(struct thread *thread)
{
	cpu_set_t allowed;
	int cpu = CPU_SETSIZE - 1;

	(void)thread;
	if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
		return false;
	while (cpu > 0 && !CPU_ISSET((size_t)cpu, &allowed))
		cpu--;
	CPU_ZERO(&allowed);
	CPU_SET((size_t)cpu, &allowed);
	return sched_setaffinity(0, sizeof allowed, &allowed) == 0;
}

/* SCHED_FIFO with priority AMOUNT, never sleeping, on that CPU. */
static bool prepare_fifo(struct thread *thread)
{
	struct sched_param parameters = {.sched_priority = (int)thread->amount};

	/* the policy first: a fair thread would never come to run on a CPU that another such thread holds */
	return sched_setscheduler(0, SCHED_FIFO, &parameters) == 0 && prepare_pinned(thread);
}

static void work_spin(struct thread *thread)
{
	(void)thread;
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static void release(int signal)
{
	(void)signal;
	released = 1;
}

/* A vfork parent stays in D until its child ends, which it does when the worker is told to. */
static void work_vfork(struct thread *thread)
{
	pid_t child = vfork();

	(void)thread;
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!released)
			sleep_ns(10 * NS_PER_MS);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void *live_on(void *argument)
{
	prctl(PR_SET_NAME, argument);
	for (;;)
		pause();
	return NULL;
}

/* AMOUNT more threads of the same name, which stay and do nothing. */
static void work_grow(struct thread *thread)
{
	pthread_attr_t attributes;
	pthread_t id;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (uint64_t i = 0; i < thread->amount; i++) {
		if (pthread_create(&id, &attributes, live_on, (void *)thread->name) != 0)
			abort();
	}
}

static void work_nothing(struct thread *thread)
{
	(void)thread;
}

static const struct kind kinds[] = {
	{"park", NULL, work_nothing, false},
	{"burst", NULL, work_burst, false},
	{"pinned", prepare_pinned, work_burst, false},
	{"duty", NULL, work_duty, true},
	{"switch", NULL, work_switch, false},
	{"fault", NULL, work_fault, false},
	{"copy", NULL, work_copy, false},
	{"write", prepare_storage, work_write, false},
	{"read", prepare_read, work_read, false},
	{"fifo", prepare_fifo, work_spin, true},
	{"vfork", NULL, work_vfork, false},
	{"grow", NULL, work_grow, false},
	{"end", NULL, work_nothing, false},
};

/* The thread's own ids in the procfs that the tests read, whatever pid namespace it lives in (proc(5)). */
static bool find_ids(struct thread *thread)
{
	char target[64];
	ssize_t length = readlink("/proc/thread-self", target, sizeof target - 1);

	if (length <= 0)
		return false;
	target[length] = '\0';
	return sscanf(target, "%d/task/%d", &thread->process, &thread->tid) == 2;
}

static void count_usage(struct thread *thread)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	thread->voluntary = (uint64_t)usage.ru_nvcsw;
	thread->involuntary = (uint64_t)usage.ru_nivcsw;
	thread->minor_faults = (uint64_t)usage.ru_minflt;
	thread->major_faults = (uint64_t)usage.ru_majflt;
}

static void *live(void *argument)
{
	struct thread *thread = argument;
	uint64_t one = 1;

	prctl(PR_SET_NAME, thread->name);
	if (!find_ids(thread) || (thread->kind->prepare && !thread->kind->prepare(thread)))
		thread->refused = true;
	thread->prepared = true;
	thread->began_ns = clock_ns(CLOCK_REALTIME);
	if (thread->kind->at_once && !thread->refused)
		thread->kind->work(thread);
	while (counted_read(thread, thread->go, &one, sizeof one) == sizeof one) {
		thread->began_ns = clock_ns(CLOCK_REALTIME);
		thread->kind->work(thread);
		count_usage(thread);
		if (strcmp(thread->kind->name, "end") == 0) {
			thread->end_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
			thread->ended = true;
			counted_write(thread, done, &one, sizeof one);
			return NULL;
		}
		counted_write(thread, done, &one, sizeof one);
	}
	return NULL;
}

/* Whether the thread sleeps, by the state letter behind the last ')' of its stat file (proc_pid_stat(5)). */
static bool is_parked(const struct thread *thread)
{
	char path[64];
	char bytes[512];
	const char *name_end = NULL;
	int file;
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", thread->process, thread->tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return true;
	length = read(file, bytes, sizeof bytes);
	close(file);
	if (length > 0)
		name_end = memrchr(bytes, ')', (size_t)length);
	return name_end && name_end + 2 < bytes + length && name_end[2] == 'S';
}

/* A thread has said "done" before it waits again; its counts are complete once it sleeps. */
static void wait_until_parked(const struct thread *threads, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		while (!threads[i].kind->at_once && !threads[i].ended && !is_parked(&threads[i]))
			sleep_ns(NS_PER_MS);
	}
}

static void report(struct thread *threads, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct thread *thread = &threads[i];
		uint64_t cpu_ns = thread->ended ? thread->end_cpu_ns : clock_ns(thread->clock);

		printf("thread %zu %d cpu_ns=%llu voluntary=%llu involuntary=%llu minor_faults=%llu "
		       "major_faults=%llu written_bytes=%llu read_bytes=%llu storage_written_bytes=%llu "
		       "storage_read_bytes=%llu write_calls=%llu read_calls=%llu "
		       "copied_pages=%llu began_ns=%llu\n",
		       i, thread->tid, (unsigned long long)cpu_ns, (unsigned long long)thread->voluntary,
		       (unsigned long long)thread->involuntary, (unsigned long long)thread->minor_faults,
		       (unsigned long long)thread->major_faults, (unsigned long long)thread->written_bytes,
		       (unsigned long long)thread->read_bytes,
		       (unsigned long long)thread->storage_written_bytes,
		       (unsigned long long)thread->storage_read_bytes,
		       (unsigned long long)thread->write_calls, (unsigned long long)thread->read_calls,
		       (unsigned long long)thread->copied_pages, (unsigned long long)thread->began_ns);
	}
	printf("end process_cpu_ns=%llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}

static _Noreturn void skip(const char *reason)
{
	printf("skip %s\n", reason);
	exit(EXIT_SUCCESS);
}

static void parse_thread(struct thread *thread, const char *text)
{
	const char *name = strchr(text, '=');
	size_t length;

	if (!name) {
		fprintf(stderr, "worker: '%s' is not KIND[:AMOUNT]=NAME\n", text);
		exit(2);
	}
	thread->name = name + 1;
	length = strcspn(text, ":=");
	if (text[length] == ':')
		thread->amount = strtoull(text + length + 1, NULL, 10);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, text, length) == 0)
			thread->kind = &kinds[i];
	}
	if (!thread->kind) {
		fprintf(stderr, "worker: '%s' begins with no known kind\n", text);
		exit(2);
	}
}

static void start(struct thread *thread)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	thread->go = eventfd(0, EFD_CLOEXEC);
	if (thread->go < 0 || pthread_create(&thread->id, &attributes, live, thread) != 0)
		skip("cannot make threads");
	pthread_getcpuclockid(thread->id, &thread->clock);
	while (!thread->prepared)
		sleep_ns(NS_PER_MS);
	if (thread->refused) {
		char reason[128];

		snprintf(reason, sizeof reason, "this host does not allow a '%s' thread", thread->kind->name);
		skip(reason);
	}
}

static void join_cgroup(const char *directory)
{
	char path[4096];
	int file;

	snprintf(path, sizeof path, "%s/cgroup.procs", directory);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, "0", 1) != 1)
		skip("cannot enter the cgroup");
	close(file);
}

/* Goes on in a child that is pid 1 of a new pid namespace; this process waits for it. */
static void enter_pid_namespace(void)
{
	pid_t child;
	int status = 0;

	if (unshare(CLONE_NEWPID) < 0)
		skip("no right to make a pid namespace");
	child = fork();
	if (child < 0)
		skip("cannot fork into the pid namespace");
	if (child > 0) {
		waitpid(child, &status, 0);
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIFETIME_SECONDS);
}

static void obey(struct thread *threads, size_t count)
{
	char line[64];
	uint64_t one = 1;

	while (fgets(line, sizeof line, stdin) && strcmp(line, "quit\n") != 0) {
		uint64_t working = 0;

		if (strcmp(line, "report\n") == 0) {
			report(threads, count);
			continue;
		}
		if (strcmp(line, "go\n") != 0) {
			fprintf(stderr, "worker: unknown command: %s", line);
			exit(2);
		}
		for (size_t i = 0; i < count; i++) {
			if (threads[i].kind->at_once || threads[i].ended)
				continue;
			working++;
			if (write(threads[i].go, &one, sizeof one) != sizeof one)
				skip("cannot wake a thread");
		}
		printf("going\n");
		for (uint64_t finished = 0, more; finished < working; finished += more) {
			if (read(done, &more, sizeof more) != sizeof more)
				skip("cannot wait for the threads");
		}
		wait_until_parked(threads, count);
		printf("done\n");
	}
}

int main(int argc, char **argv)
{
	static struct thread threads[MAXIMUM_THREADS];
	size_t count = 0;
	char self[32] = "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = release, .sa_flags = SA_RESTART}, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIFETIME_SECONDS);
	done = eventfd(0, EFD_CLOEXEC);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--pid-namespace") == 0)
			enter_pid_namespace();
		else if (strcmp(argv[i], "--cgroup") == 0 && i + 1 < argc)
			join_cgroup(argv[++i]);
		else if (strcmp(argv[i], "--process") == 0 && i + 1 < argc)
			prctl(PR_SET_NAME, argv[++i]);
		else if (count < MAXIMUM_THREADS)
			parse_thread(&threads[count++], argv[i]);
	}
	for (size_t i = 0; i < count; i++)
		start(&threads[i]);
	if (readlink("/proc/self", self, sizeof self - 1) < 0)
		skip("no procfs");
	wait_until_parked(threads, count);
	printf("ready %s\n", self);
	obey(threads, count);
	return EXIT_SUCCESS;
}
