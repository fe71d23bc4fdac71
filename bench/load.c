/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A load of known size for benchmarks and tests: processes with many parked threads and some that run,
 * write, wake at an interval, or come and go. Prints "ready THREADS" once every thread stands where it should
 * and leaves nothing behind: it ends with its standard input (a pipe, socket or terminal), on SIGTERM, SIGINT
 * or SIGHUP, or after --seconds, and its children die with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"

#define STACK_BYTES          (32 * 1024)
#define IO_BYTES_PER_S       (64 * 1024)
#define BUSY_PERIOD_MS       100
#define MAXIMUM_THREADS      1000000U
#define MAXIMUM_CHURN_PER_S  100000U
#define MAXIMUM_MILLISECONDS 3600000U

struct load {
	uint32_t processes;
	uint32_t threads;     /* in each process, the main thread among them */
	uint32_t busy;        /* threads that run 1 ms of each 100 ms */
	uint32_t spin;        /* threads that never sleep */
	uint32_t io;          /* threads that write 64 KiB a second to storage */
	double waking;        /* fraction of all threads that wake once an interval */
	uint32_t interval_ms; /* of the waking threads */
	uint32_t churn;       /* threads a second that come and go, in a process of their own */
	uint32_t life_ms;     /* how long such a thread lives */
	bool new_names;       /* each of them has a name that no other has, without digits */
	uint32_t seconds;     /* 0: until told to end */
};

enum role {
	ROLE_BUSY,
	ROLE_SPIN,
	ROLE_IO,
	ROLE_WAKING,
	ROLE_PARKED
};

/* The role of one thread of one process: processes get roles in turn, main threads stay parked. */
struct duty {
	const struct load *load;
	enum role role;
	uint32_t number;
	pthread_barrier_t *started;
};

static void sleep_until(uint64_t wanted_ns)
{
	const struct timespec wanted = clock_timespec(wanted_ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wanted, NULL) == EINTR)
		;
}

static void run_for(uint64_t nanoseconds)
{
	const uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static _Noreturn void play_busy(void)
{
	uint64_t next = clock_ns(CLOCK_MONOTONIC);

	for (;;) {
		run_for(NS_PER_MS);
		next += BUSY_PERIOD_MS * NS_PER_MS;
		sleep_until(next);
	}
}

static _Noreturn void play_spin(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static _Noreturn void play_io(void)
{
	static const char bytes[IO_BYTES_PER_S];
	const char *directory = getenv("TMPDIR");
	int file = open(directory ? directory : "/var/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	uint64_t next = clock_ns(CLOCK_MONOTONIC);

	for (;;) {
		if (file >= 0 && pwrite(file, bytes, sizeof bytes, 0) > 0)
			fdatasync(file);
		next += NS_PER_S;
		sleep_until(next);
	}
}

/* Wakes once an interval; the phases are spread over the interval, as those of unrelated timers are. */
static _Noreturn void play_waking(const struct duty *duty)
{
	uint64_t interval = duty->load->interval_ms * NS_PER_MS;
	uint64_t next = clock_ns(CLOCK_MONOTONIC);

	next += duty->number * (7919 * NS_PER_MS) % interval;
	for (;;) {
		sleep_until(next);
		next += interval;
	}
}

static void *play(void *argument)
{
	struct duty duty = *(struct duty *)argument;
	char name[16];

	snprintf(name, sizeof name, "%s-%u",
		 duty.role == ROLE_IO                               ? "io"
		 : duty.role == ROLE_BUSY || duty.role == ROLE_SPIN ? "worker"
								    : "mt",
		 duty.number);
	prctl(PR_SET_NAME, name);
	pthread_barrier_wait(duty.started);
	switch (duty.role) {
	case ROLE_BUSY:
		play_busy();
	case ROLE_SPIN:
		play_spin();
	case ROLE_IO:
		play_io();
	case ROLE_WAKING:
		play_waking(&duty);
	case ROLE_PARKED:
		break;
	}
	for (;;)
		pause();
}

static enum role role_of(const struct load *load, uint32_t number)
{
	uint32_t waking = (uint32_t)(load->waking * load->processes * load->threads);

	if (number < load->busy)
		return ROLE_BUSY;
	number -= load->busy;
	if (number < load->spin)
		return ROLE_SPIN;
	number -= load->spin;
	if (number < load->io)
		return ROLE_IO;
	number -= load->io;
	return number < waking ? ROLE_WAKING : ROLE_PARKED;
}

static _Noreturn void fail(int number, const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(number));
	exit(EXIT_FAILURE);
}

static void small_stack(pthread_attr_t *attributes)
{
	pthread_attr_init(attributes);
	pthread_attr_setstacksize(attributes, STACK_BYTES);
}

static _Noreturn void run_process(const struct load *load, uint32_t process, int ready)
{
	struct duty *duties = calloc(load->threads, sizeof *duties);
	pthread_barrier_t started;
	pthread_attr_t attributes;
	char name[16];

	if (!duties)
		fail(ENOMEM, "cannot keep the list of threads");
	snprintf(name, sizeof name, "load-%u", process);
	prctl(PR_SET_NAME, name);
	small_stack(&attributes);
	pthread_barrier_init(&started, NULL, load->threads);
	for (uint32_t thread = 1; thread < load->threads; thread++) {
		struct duty *duty = &duties[thread];
		pthread_t id;
		int number;

		duty->load = load;
		duty->started = &started;
		duty->number = (thread - 1) * load->processes + process;
		duty->role = role_of(load, duty->number);
		number = pthread_create(&id, &attributes, play, duty);
		if (number)
			fail(number, "cannot make a thread; kernel.threads-max, kernel.pid_max, ulimit -u or "
				     "the pids cgroup may be too small");
	}
	pthread_barrier_wait(&started);
	if (write(ready, "r", 1) != 1)
		fail(errno, "cannot tell that the process is ready");
	close(ready);
	for (;;)
		pause();
}

/* Letters alone, so that no pattern puts two of them together. */
static void take_new_name(void)
{
	static atomic_uint taken;
	unsigned int number = atomic_fetch_add(&taken, 1);
	char name[16] = "churn-";

	for (size_t i = 6; i < 13; i++, number /= 26)
		name[i] = (char)('a' + number % 26);
	prctl(PR_SET_NAME, name);
}

static void *live_shortly(void *argument)
{
	const struct load *load = argument;
	const struct timespec life = clock_timespec(load->life_ms * NS_PER_MS);

	if (load->new_names)
		take_new_name();
	else
		prctl(PR_SET_NAME, "churn-worker");
	nanosleep(&life, NULL);
	return NULL;
}

/* Makes the wanted number of short-lived threads in each second, a few each millisecond. */
static _Noreturn void run_churn(struct load *load, int ready)
{
	pthread_attr_t attributes;
	uint64_t next = clock_ns(CLOCK_MONOTONIC);
	uint64_t made = 0;
	uint64_t milliseconds = 0;

	prctl(PR_SET_NAME, "churn");
	small_stack(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (write(ready, "r", 1) != 1)
		fail(errno, "cannot tell that the process is ready");
	close(ready);
	for (;;) {
		next += NS_PER_MS;
		sleep_until(next);
		milliseconds++;
		for (; made < milliseconds * load->churn / 1000; made++) {
			pthread_t id;
			int number = pthread_create(&id, &attributes, live_shortly, load);

			if (number)
				fail(number, "cannot make a short-lived thread");
		}
	}
}

static pid_t start_process(struct load *load, uint32_t process, const int ready[2])
{
	pid_t parent = getpid();
	pid_t child = fork();
	sigset_t none;

	if (child < 0)
		fail(errno, "cannot make a process");
	if (child > 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		exit(EXIT_FAILURE);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close(ready[0]);
	if (process < load->processes)
		run_process(load, process, ready[1]);
	run_churn(load, ready[1]);
}

/* Standard input tells the end only where somebody can hold its other side. */
static bool standard_input_can_end(void)
{
	struct stat status;

	return isatty(STDIN_FILENO) ||
	       (fstat(STDIN_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)));
}

static void wait_for_end(const struct load *load, int signals)
{
	struct pollfd watched[2] = {{.fd = signals, .events = POLLIN},
				    {.fd = standard_input_can_end() ? STDIN_FILENO : -1, .events = POLLIN}};
	int timeout = load->seconds ? (int)load->seconds * 1000 : -1;
	char bytes[256];

	for (;;) {
		int count = poll(watched, 2, timeout);

		if (count == 0 || (count < 0 && errno != EINTR) || (watched[0].revents & POLLIN))
			return;
		if (count > 0 && watched[1].revents && read(STDIN_FILENO, bytes, sizeof bytes) <= 0)
			return;
	}
}

static void usage(FILE *stream)
{
	fputs("usage: load PROCESSES THREADS [OPTION]…\n"
	      "  THREADS counts each process's main thread; all threads are parked unless an option gives "
	      "them work\n"
	      "  --busy N         N threads run 1 ms of each 100 ms\n"
	      "  --spin N         N threads never sleep\n"
	      "  --io N           N threads write 64 KiB a second to storage (in $TMPDIR or /var/tmp)\n"
	      "  --waking F       the fraction F (0 to 1) of all threads wakes once each interval\n"
	      "  --interval-ms N  that interval (1000)\n"
	      "  --churn N        N threads a second come and go, in one more process\n"
	      "  --life-ms N      how long each of them lives (50)\n"
	      "  --new-names      each of them has a name of its own\n"
	      "  --seconds N      end after N seconds\n",
	      stream);
}

static bool parse_number(const char *name, const char *text, uint32_t maximum, uint32_t *ret_value)
{
	if (number_parse_u32(text, strlen(text), ret_value) && *ret_value <= maximum)
		return true;
	fprintf(stderr, "load: %s: '%s' is not a number from 0 to %u\n", name, text, maximum);
	return false;
}

static bool parse_fraction(const char *text, double *ret_value)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= 0 && value <= 1)) {
		fprintf(stderr, "load: --waking: '%s' is not a fraction from 0 to 1\n", text);
		return false;
	}
	*ret_value = value;
	return true;
}

static bool parse_options(struct load *load, int argc, char **argv)
{
	const struct {
		const char *name;
		uint32_t maximum;
		uint32_t *value;
	} numbers[] = {{"--busy", MAXIMUM_THREADS, &load->busy},
		       {"--spin", MAXIMUM_THREADS, &load->spin},
		       {"--io", MAXIMUM_THREADS, &load->io},
		       {"--interval-ms", MAXIMUM_MILLISECONDS, &load->interval_ms},
		       {"--churn", MAXIMUM_CHURN_PER_S, &load->churn},
		       {"--life-ms", MAXIMUM_MILLISECONDS, &load->life_ms},
		       {"--seconds", 86400, &load->seconds}};
	enum {
		NUMBERS = sizeof numbers / sizeof *numbers,
	};
	struct option options[NUMBERS + 4] = {[NUMBERS] = {"waking", required_argument, NULL, 'w'},
					      {"new-names", no_argument, NULL, 'n'},
					      {"help", no_argument, NULL, 'h'}};
	int option, index;

	for (size_t i = 0; i < NUMBERS; i++)
		options[i] = (struct option){numbers[i].name + 2, required_argument, NULL, 0};
	while ((option = getopt_long(argc, argv, "h", options, &index)) != -1) {
		bool good = true;

		if (option == 'h') {
			usage(stdout);
			exit(EXIT_SUCCESS);
		}
		if (option == 'w')
			good = parse_fraction(optarg, &load->waking);
		else if (option == 'n')
			load->new_names = true;
		else if (option == 0)
			good = parse_number(numbers[index].name, optarg, numbers[index].maximum,
					    numbers[index].value);
		else
			good = false;
		if (!good)
			return false;
	}
	if (argc - optind != 2) {
		usage(stderr);
		return false;
	}
	return parse_number("PROCESSES", argv[optind], MAXIMUM_THREADS, &load->processes) &&
	       parse_number("THREADS", argv[optind + 1], MAXIMUM_THREADS, &load->threads);
}

static bool check_options(const struct load *load)
{
	uint64_t total = (uint64_t)load->processes * load->threads;
	uint64_t working = (uint64_t)load->busy + load->spin + load->io +
			   (uint64_t)(load->waking * (double)total);

	if (load->processes == 0 || load->threads == 0 || total > MAXIMUM_THREADS) {
		fprintf(stderr, "load: PROCESSES times THREADS must be from 1 to %u\n", MAXIMUM_THREADS);
		return false;
	}
	if (working > total - load->processes) {
		fprintf(stderr,
			"load: %llu threads have work but only %llu are not main threads; raise THREADS\n",
			(unsigned long long)working, (unsigned long long)(total - load->processes));
		return false;
	}
	if (load->interval_ms == 0) {
		fprintf(stderr, "load: --interval-ms must be at least 1\n");
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct load load = {.interval_ms = 1000, .life_ms = 50};
	uint32_t children;
	uint32_t ready_children = 0;
	pid_t *started;
	int ready[2];
	int signals;
	int status = EXIT_SUCCESS;
	sigset_t ending;

	if (!parse_options(&load, argc, argv) || !check_options(&load))
		return 2;
	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, NULL);
	signals = signalfd(-1, &ending, SFD_CLOEXEC);
	if (signals < 0 || pipe2(ready, O_CLOEXEC) < 0)
		fail(errno, "cannot prepare");
	children = load.processes + (load.churn > 0);
	started = calloc(children, sizeof *started);
	if (!started)
		fail(ENOMEM, "cannot keep the list of processes");
	for (uint32_t i = 0; i < children; i++)
		started[i] = start_process(&load, i, ready);
	close(ready[1]);
	for (char byte; ready_children < children && read(ready[0], &byte, 1) == 1;)
		ready_children++;
	if (ready_children == children) {
		printf("ready %llu\n", (unsigned long long)load.processes * load.threads);
		fflush(stdout);
		wait_for_end(&load, signals);
	} else {
		status = EXIT_FAILURE;
	}
	for (uint32_t i = 0; i < children; i++)
		kill(started[i], SIGKILL);
	for (uint32_t i = 0; i < children; i++)
		waitpid(started[i], NULL, 0);
	free(started);
	return status;
}
