/* SPDX-License-Identifier: GPL-2.0-only */
/* `--latency` against a thread that measures how late it runs. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../measure.h"
#include "harness.h"

#define NAME "lat-waker"

enum {
	SKIPPED = 77,
	SPARE_WAITS = 10,
	NAMES = 34000,  /* more than fit */
	RENAMERS = 4,   /* beside others one gets a CPU once a tick */
	EDGE_US = 2000, /* from the end of a wait until the waiting thread has read the clock */
};

/* The waker's own measurements: how often it left the CPU, and times in ns. */
struct lateness {
	unsigned long long switches, median, ninety_ninth, latest, blocked;
};

/* False where the waker could not do it. */
static bool let_it_wake(struct helper *waker, struct lateness *lateness)
{
	char line[256];

	helper_tell(waker, "go");
	return helper_answer(waker, line, sizeof line) &&
	       sscanf(line, "%llu %llu %llu %llu %llu", &lateness->switches, &lateness->median,
		      &lateness->ninety_ninth, &lateness->latest, &lateness->blocked) == 5;
}

static bool is_same_bucket(const char *what, double counted, double measured)
{
	print_message("%s: %.0f ns by ctop, %.0f ns by the waker\n", what, counted, measured);
	/* the bucket of the wait alone, or that with the way back into the program */
	return floor(log2(counted)) == floor(log2(measured)) ||
	       floor(log2(counted)) == floor(log2(measured - (double)EDGE_US * 1e3)) ||
	       (counted <= measured && counted >= measured - (double)EDGE_US * 1e3);
}

/* On its way back a virtual machine may be kept from running: measured again. */
static void expect_same_bucket(struct measurement *measurement, const char *what, double counted,
			       double measured)
{
	if (!is_same_bucket(what, counted, measured))
		measure_between(measurement, what, counted, measured - (double)EDGE_US * 1e3, measured);
}

static const char *last_row(const char *output)
{
	const char *row = NULL;

	while ((output = strstr(output, "," NAME ",")) != NULL)
		row = output++;
	return row;
}

/*
 * ctop reads twice before the waker begins and once when all is over, so that it counts exactly what the
 * waker measures in the last of its rounds.
 */
static void wake_and_compare(struct measurement *measurement)
{
	static const char *const program[] = {WAKER_PROGRAM, NAME, NULL};
	char interval[16];
	const char *const arguments[] = {
		CTOP_PROGRAM, "-b",  "--latency", "-n",       "2",         "-d",
		interval, /* which the test has for stopping it after the first */
		"--format",   "csv", "--mode",    "interval", "--columns", "waits,p50,p99,rqmax,dwait,dmax",
		"-f",         NAME,  NULL};
	const struct run_options ordinary = {0};
	double waits, median, ninety_ninth, latest, blocked, longest_blocked;
	unsigned long long unseen = 0;
	const char *note;
	struct running running;
	struct lateness lateness;
	struct helper waker;
	struct run run;
	const char *row;

	need_feature("latency");
	helper_start(&waker, program, 0);
	helper_expect(&waker, "ready");
	run_start_paused(&running, arguments, interval, 3);
	if (!let_it_wake(&waker, &lateness)) {
		run_continue(&running);
		run_finish(&running, &run, &ordinary);
		run_release(&run);
		assert_int_equal(helper_end(&waker), SKIPPED);
		skip_test("no realtime policy is allowed");
	}
	run_continue(&running);
	run_finish(&running, &run, &ordinary);
	run_expect(&run, 0);
	helper_end(&waker);
	row = last_row(run.output);
	if (row == NULL)
		fail_msg("no row of the waker in:\n%s", run.output);
	/* kept from running for a second, the test stops ctop after its last round: before the waker began */
	if (sscanf(row, "," NAME ",%lf,%lf", &waits, &median) == 1) {
		measure_between(measurement, "waits in the last round", waits, 1, (double)UINT32_MAX);
		run_release(&run);
		return;
	}
	assert_int_equal(sscanf(row, "," NAME ",%lf,%lf,%lf,%lf,%lf,%lf", &waits, &median, &ninety_ninth,
				&latest, &blocked, &longest_blocked),
			 6);
	note = strstr(run.errors, "did not report at least ");
	if (note != NULL)
		assert_int_equal(sscanf(note, "did not report at least %llu context switches", &unseen), 1);
	run_release(&run);
	print_message(
		"%.0f waits by ctop, the waker left the CPU %llu times, %llu switches of all were unseen\n",
		waits, lateness.switches, unseen);
	/* it waits more often before it begins and while it prints its measurements */
	assert_between("waits", (uint64_t)waits, unseen < lateness.switches ? lateness.switches - unseen : 0,
		       lateness.switches + SPARE_WAITS);
	expect_same_bucket(measurement, "median, ns", median, (double)lateness.median);
	/* a wait whose end the kernel did not tell of is in none, and may be the longest */
	if (unseen == 0) {
		expect_same_bucket(measurement, "99 of 100, ns", ninety_ninth, (double)lateness.ninety_ninth);
		if (!is_same_bucket("latest", latest, (double)lateness.latest))
			measure_between(measurement, "longest wait, ns", latest, (double)lateness.latest / 2,
					(double)lateness.latest);
	} else {
		measure_between(measurement, "longest wait, ns", latest, 0, (double)lateness.latest);
	}
	assert_true(blocked >= 1);
	expect_same_bucket(measurement, "blocked, ns", longest_blocked, (double)lateness.blocked);
}

/* What the kernel did not tell of may be the end of a wait, which then seems longer: measured again. */
static void test_waker(void **state)
{
	(void)state;
	for (struct measurement measurement = {0}; measure_again(&measurement);)
		wake_and_compare(&measurement);
}

/* A capture has what was measured before it, of every thread that woke. */
static void test_capture(void **state)
{
	const char *path = scratch_path("latency.ctprof.zst");
	const char *const capture[] = {"capture", "--latency-for", "1", "-o", path, NULL};
	const char *const show[] = {"show", path, "--sections", "latency", "--limit", "0", NULL};
	struct run run;

	(void)state;
	need_feature("latency");
	run_ctop_well(&run, capture);
	run_release(&run);
	run_ctop_well(&run, show);
	assert_non_null(strstr(run.output, "## latency"));
	assert_non_null(strstr(run.output, "run_queue_p99_ns"));
	/* the kernel's own: it wakes many times a second while anything runs */
	assert_non_null(strstr(run.output, "rcu_"));
	run_release(&run);
	/* ktstr has no such section */
	run_ctop_well(&run, (const char *[]){"show", path, "--sections", "latency,primary", "--ktstr", NULL});
	assert_non_null(strstr(run.output, "## primary"));
	assert_null(strstr(run.output, "## latency"));
	run_release(&run);
}

/* Uses one CPU until it is killed. */
static pid_t start_hog(const char *name, size_t cpu)
{
	const pid_t child = fork();
	cpu_set_t set;

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (;;)
		;
}

/* How long, ns per second, a process waited while another ran. */
static double find_delay(const char *output, const char *victim, const char *culprit)
{
	char start[64];
	const char *row;
	double time = 0;

	snprintf(start, sizeof(start), "\n%s,%s,threads,", victim, culprit);
	row = strstr(output, start);
	if (row == NULL || sscanf(row + strlen(start), "%lf", &time) != 1)
		fail_msg("no row of %s and %s in:\n%s", victim, culprit, output);
	print_message("%s waited %.0f ns a second while %s ran\n", victim, time, culprit);
	return time;
}

/* Run time of a process as counted by the kernel, ns. */
static double read_run_time(pid_t process)
{
	char path[64], *text;
	double time;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)process);
	text = read_file(path, NULL);
	assert_non_null(text);
	time = strtod(text, NULL);
	free(text);
	return time;
}

static double read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/*
 * Two processes share a CPU and never sleep: each delays the other for as long as it runs itself, regardless
 * of other load. The kernel's run times are read around the capture, which takes longer than its window.
 */
static void blame_and_compare(struct measurement *measurement, const pid_t hogs[static 2])
{
	static const char *const names[] = {"hog-one", "hog-two"};
	const char *path = scratch_path("blame.ctprof.zst"), *earlier = scratch_path("earlier.ctprof.zst");
	const char *const capture_earlier[] = {"capture", "--no-heap", "-o", earlier, NULL};
	const char *const capture[] = {"capture", "--latency-for", "2", "-o", path, NULL};
	const char *const show[] = {"show",     path,  "--sections", "blame", "-g", "process",
				    "--format", "csv", "--limit",    "0",     NULL};
	char rule[80];
	const char *const diff[] = {"diff", earlier, path, "--fail-if", rule, NULL};
	const struct run_options ordinary = {0};
	double ran[2], delay = 0, elapsed;
	struct run run;

	unlink(path); /* from the previous window */
	run_ctop_well(&run, capture_earlier);
	run_release(&run);
	for (size_t i = 0; i < 2; i++)
		ran[i] = read_run_time(hogs[i]);
	elapsed = read_clock();
	run_ctop_well(&run, capture);
	run_release(&run);
	elapsed = read_clock() - elapsed;
	for (size_t i = 0; i < 2; i++)
		ran[i] = (read_run_time(hogs[i]) - ran[i]) / elapsed * 1e9;
	run_ctop_well(&run, show);
	for (size_t i = 0; i < 2; i++) {
		delay = find_delay(run.output, names[1 - i], names[i]);
		measure_between(measurement, "delay, ns a second", delay, ran[i] / 2, ran[i] * 2);
	}
	run_release(&run);
	snprintf(rule, sizeof(rule), "after:delayed(hog-one by hog-two) > %.4f", delay / 2e9);
	run_ctop(&run, &ordinary, diff);
	run_expect(&run, 3);
	assert_non_null(strstr(run.errors, "hog-one was delayed "));
	run_release(&run);
}

static void test_blame(void **state)
{
	pid_t hogs[2];
	cpu_set_t allowed;
	size_t cpu = 0;

	(void)state;
	need_feature("latency");
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	hogs[0] = start_hog("hog-one", cpu);
	hogs[1] = start_hog("hog-two", cpu);
	for (struct measurement measurement = {0}; measure_again(&measurement);)
		blame_and_compare(&measurement, hogs);
	for (size_t i = 0; i < 2; i++) {
		kill(hogs[i], SIGKILL);
		waitpid(hogs[i], NULL, 0);
	}
}

/* Waits under one name of its own after the other, until it is killed. */
static pid_t start_renamer(unsigned int number)
{
	const struct timespec pause = {0, 1000};
	const pid_t child = fork();
	char name[16];

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned int i = 0;; i++) {
		snprintf(name, sizeof(name), "name-%u-%u", number, i % NAMES);
		prctl(PR_SET_NAME, name);
		nanosleep(&pause, NULL);
	}
}

/* Whether the first line of a text is of a lower bound, as UTF-8 or ASCII. */
static bool is_at_least(const char *text)
{
	const size_t length = strcspn(text, "\n");

	return memmem(text, length, "≥", strlen("≥")) != NULL || memmem(text, length, " >", 2) != NULL;
}

/* Names that found no room are together in a row, and what may lack them is no more than a lower bound. */
static void test_many_names(void **state)
{
	const char *path = scratch_path("names.ctprof.zst"), *row;
	char pid[16], seconds[16];
	pid_t children[RENAMERS];
	bool found = false;

	(void)state;
	need_feature("latency");
	measure_waits_alone();
	for (unsigned int i = 0; i < RENAMERS; i++) {
		children[i] = start_renamer(i);
		assert_true(children[i] > 0);
	}
	snprintf(pid, sizeof(pid), "%d", (int)children[0]);
	/* for so long as it takes until they have had more names than there is room for */
	for (int s = 1; !found && s <= 64; s *= 2) {
		const char *const capture[] = {"capture", "--latency-for", seconds, "-p", pid, "-o", path,
					       NULL};
		const char *const show[] = {"show", path, "--sections", "latency", "-g", "process", NULL};
		const struct run_options patient = {.timeout_s = 120};
		struct run run;

		snprintf(seconds, sizeof(seconds), "%d", s);
		run_ctop(&run, &patient, capture);
		run_expect(&run, 0);
		run_release(&run);
		run_ctop_well(&run, show);
		row = strstr(run.output, "(other)");
		found = row != NULL;
		if (found) {
			row = strstr(row, "run_queue_waits_per_s");
			assert_non_null(row);
			/* the row itself is exact */
			assert_false(is_at_least(row));
			/* where the name that it had in the end had room, at least that is known */
			row = strstr(run.output, "name-");
			if (row != NULL) {
				row = strstr(row, "run_queue_max_ns");
				assert_non_null(row);
				assert_true(is_at_least(row));
			}
		}
		run_release(&run);
	}
	for (size_t i = 0; i < RENAMERS; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	measure_waits_beside_others();
	assert_true(found);
}

/* An ordinary user is told why, and gets the rest. */
static void test_not_permitted(void **state)
{
	static const char *const arguments[] = {"-b", "--latency", "-d",      "0.2", "-n",
						"1",  "-t",        "latency", NULL};
	const struct run_options options = {.user = 65534};
	struct run run;

	(void)state;
	need_to_become_nobody();
	run_ctop(&run, &options, arguments);
	run_expect(&run, 0);
	assert_non_null(strstr(run.errors, "latency is not measured"));
	run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waker),         cmocka_unit_test(test_capture),
		cmocka_unit_test(test_blame),         cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_not_permitted),
	};

	measure_waits_beside_others();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
