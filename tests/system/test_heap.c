/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation counters of a real program with jemalloc (tests/targets/target.c), in captures and in `ctop -b`,
 * against what its threads count themselves with mallctl(3).
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "harness.h"

enum {
	THREADS_MAX = 16,
	NOBODY = 65534,
};

struct report {
	int tid;
	uint64_t allocated, deallocated;
};

/* A running target and what its threads said last. */
struct target {
	pid_t child;
	FILE *commands, *answers;
	struct report reports[THREADS_MAX];
	size_t count;
};

static void read_reports(struct target *target)
{
	char line[128];

	target->count = 0;
	while (fgets(line, sizeof line, target->answers) != NULL) {
		struct report *report = &target->reports[target->count];

		if (strcmp(line, "ready\n") == 0)
			return;
		assert_true(target->count < THREADS_MAX);
		assert_int_equal(sscanf(line, "%d %" SCNu64 " %" SCNu64, &report->tid, &report->allocated,
					&report->deallocated),
				 3);
		target->count++;
	}
	fail_msg("the target ended after %zu reports", target->count);
}

static void target_start(struct target *target, const char *mode, const char *threads, unsigned int user)
{
	int commands[2], answers[2];

	if (strcmp(HEAP_TARGET, "") == 0)
		skip_test("there is no libjemalloc to link with");
	assert_int_equal(pipe(commands), 0);
	assert_int_equal(pipe(answers), 0);
	target->child = fork();
	assert_true(target->child >= 0);
	if (target->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(commands[0], STDIN_FILENO);
		dup2(answers[1], STDOUT_FILENO);
		close(commands[1]);
		close(answers[0]);
		if (user != 0 && (setgid(user) < 0 || setuid(user) < 0))
			_exit(1);
		execl(HEAP_TARGET, "target", mode, threads, "100000", (char *)NULL);
		_exit(1);
	}
	close(commands[0]);
	close(answers[1]);
	target->commands = fdopen(commands[1], "w");
	target->answers = fdopen(answers[0], "r");
	read_reports(target);
}

static void target_go(struct target *target)
{
	fputs("go\n", target->commands);
	fflush(target->commands);
	read_reports(target);
}

static void target_end(struct target *target)
{
	fclose(target->commands);
	fclose(target->answers);
	assert_int_equal(waitpid(target->child, NULL, 0), target->child);
}

/* A capture of the target with one option more; what it said on stderr stays in `run`. */
static yajl_val capture(const struct target *target, const char *option, unsigned int user, struct run *run)
{
	const struct run_options options = {.user = user};
	char *path = strdup(scratch_path("heap.ctprof.zst"));
	yajl_val snapshot;
	char pid[16];

	unlink(path);
	if (user != 0)
		path = (free(path), strdup("/tmp/ctop-heap-test.ctprof.zst"));
	snprintf(pid, sizeof pid, "%d", target->child);
	run_ctop(run, &options, (const char *[]){"capture", "-o", path, "-p", pid, option, NULL});
	run_expect(run, 0);
	snapshot = load_snapshot(path);
	unlink(path);
	free(path);
	return snapshot;
}

static bool is_measured(yajl_val thread)
{
	return YAJL_IS_TRUE(json_member(thread, "jemalloc_measured"));
}

static void expect_exact(const struct target *target, yajl_val snapshot)
{
	for (size_t i = 0; i < target->count; i++) {
		yajl_val thread = snapshot_thread(snapshot, target->reports[i].tid);

		assert_non_null(thread);
		assert_true(is_measured(thread));
		assert_null(missing_reason(snapshot, thread, "jemalloc"));
		assert_int_equal(json_u64(thread, "allocated_bytes"), target->reports[i].allocated);
		assert_int_equal(json_u64(thread, "deallocated_bytes"), target->reports[i].deallocated);
	}
}

static yajl_val heap_entry(yajl_val snapshot)
{
	yajl_val list = json_member(json_member(snapshot, "ctop"), "heap");

	assert_non_null(list);
	assert_int_equal(YAJL_GET_ARRAY(list)->len, 1);
	return YAJL_GET_ARRAY(list)->values[0];
}

/* Parked threads: what is read is exactly what they count themselves, twice. */
static void test_capture(void **state)
{
	struct target target;
	yajl_val snapshot, summary;
	struct run run;

	(void)state;
	target_start(&target, "park", "5", 0);
	for (int i = 0; i < 2; i++) {
		snapshot = capture(&target, NULL, 0, &run);
		expect_exact(&target, snapshot);
		summary = json_member(snapshot, "probe_summary");
		assert_int_equal(json_u64(summary, "tgids_walked"), 1);
		assert_int_equal(json_u64(summary, "jemalloc_detected"), 1);
		assert_int_equal(json_u64(summary, "probed_ok"), target.count);
		assert_int_equal(json_u64(summary, "failed"), 0);
		assert_true(YAJL_IS_NULL(json_member(summary, "dominant_failure")));
		assert_int_equal(json_u64(heap_entry(snapshot), "tgid"), (uint64_t)target.child);
		assert_non_null(json_text(heap_entry(snapshot), "layout"));
		assert_non_null(strstr(run.errors, "jemalloc: 1 of 1 processes, 6 threads read"));
		run_release(&run);
		yajl_tree_free(snapshot);
		target_go(&target);
	}
	target_end(&target);
}

static void expect_missing(const struct target *target, yajl_val snapshot, const char *reason)
{
	for (size_t i = 0; i < target->count; i++) {
		yajl_val thread = snapshot_thread(snapshot, target->reports[i].tid);

		assert_non_null(thread);
		assert_false(is_measured(thread));
		assert_int_equal(json_u64(thread, "allocated_bytes"), 0);
		assert_string_equal(missing_reason(snapshot, thread, "jemalloc"), reason);
	}
}

static void test_switched_off(void **state)
{
	struct target target;
	yajl_val snapshot;
	struct run run;

	(void)state;
	target_start(&target, "park", "2", 0);
	snapshot = capture(&target, "--no-heap", 0, &run);
	expect_missing(&target, snapshot, "switched-off");
	assert_null(strstr(run.errors, "jemalloc"));
	run_release(&run);
	yajl_tree_free(snapshot);
	target_end(&target);
}

/* Threads without robust lists: unavailable, unless a stop is allowed; then exact all the same. */
static void test_needs_stop(void **state)
{
	struct target target;
	yajl_val snapshot, thread, summary;
	struct run run;

	(void)state;
	target_start(&target, "bare", "3", 0);
	snapshot = capture(&target, NULL, 0, &run);
	for (size_t i = 0; i < target.count; i++) {
		thread = snapshot_thread(snapshot, target.reports[i].tid);
		if (target.reports[i].tid == target.child)
			continue; /* it keeps its list */
		assert_false(is_measured(thread));
		assert_string_equal(missing_reason(snapshot, thread, "jemalloc"), "needs-stop");
	}
	summary = json_member(snapshot, "probe_summary");
	assert_string_equal(json_text(summary, "dominant_failure"), "needs-stop");
	assert_int_equal(json_u64(summary, "failed"), 3);
	run_release(&run);
	yajl_tree_free(snapshot);

	snapshot = capture(&target, "--allow-stop", 0, &run);
	expect_exact(&target, snapshot);
	assert_non_null(strstr(run.errors, "3 stopped for it"));
	run_release(&run);
	yajl_tree_free(snapshot);
	target_end(&target);
}

/* Who may not read says so; what he may read he reads. */
static void test_nobody(void **state)
{
	struct target target;
	yajl_val snapshot;
	struct run run;

	(void)state;
	if (geteuid() != 0)
		skip_test("needs root to become another user");
	target_start(&target, "park", "2", 0);
	snapshot = capture(&target, NULL, NOBODY, &run);
	expect_missing(&target, snapshot, "not-permitted");
	assert_true(YAJL_IS_TRUE(json_member(json_member(snapshot, "probe_summary"), "privilege_dominant")));
	assert_non_null(strstr(run.errors, "run as root"));
	run_release(&run);
	yajl_tree_free(snapshot);
	target_end(&target);
}

/* The rest of the last line whose second cell is `group`, of tab-separated output. */
static const char *last_line_of(const char *output, const char *group)
{
	const char *found = NULL;

	for (const char *line = output; line != NULL && *line != '\0';
	     line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
		const char *name = strchr(line, '\t');

		if (name != NULL && strncmp(name + 1, group, strlen(group)) == 0 &&
		    name[1 + strlen(group)] == '\t')
			found = name + 1 + strlen(group) + 1;
	}
	return found;
}

/* What is allocated between two rounds, by process: exactly the difference of its own counts. */
static void test_batch(void **state)
{
	static const struct run_options options;
	uint64_t allocated = 0, freed = 0, total = 0;
	unsigned long long shown[6];
	struct running running;
	struct target target;
	const char *line;
	struct run run;
	char pid[16];

	(void)state;
	target_start(&target, "park", "4", 0);
	snprintf(pid, sizeof pid, "%d", target.child);
	run_start(&running, &options,
		  (const char *[]){CTOP_PROGRAM, "-b", "-n", "2", "-d", "1", "-p", pid, "--mode", "interval",
				   "--format", "tsv", "--columns", "threads,PROCS,SEEN,ALLOC,FREED,TOTAL",
				   NULL});
	run_wait_for_lines(&running, 1);
	for (size_t i = 0; i < target.count; i++) {
		allocated -= target.reports[i].allocated;
		freed -= target.reports[i].deallocated;
	}
	target_go(&target);
	for (size_t i = 0; i < target.count; i++) {
		allocated += target.reports[i].allocated;
		freed += target.reports[i].deallocated;
		total += target.reports[i].allocated;
	}
	run_finish(&running, &run, &options);
	run_expect(&run, 0);
	line = last_line_of(run.output, "heap_target");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "%llu %llu %llu %llu %llu %llu", &shown[0], &shown[1], &shown[2],
				&shown[3], &shown[4], &shown[5]),
			 6);
	assert_int_equal(shown[0], 5);
	assert_int_equal(shown[1], 1);
	assert_int_equal(shown[2], 5);
	assert_int_equal(shown[3], allocated);
	assert_int_equal(shown[4], freed);
	assert_int_equal(shown[5], total);
	assert_true(allocated > 0);
	run_release(&run);
	target_end(&target);
}

/* The heap tab by name, with its units; LIVE of a whole process, in JSON with the mark of a known build. */
static void test_batch_tab(void **state)
{
	struct target target;
	int64_t live = 0;
	struct run run;
	char pid[16], expected[64];

	(void)state;
	target_start(&target, "park", "4", 0);
	for (size_t i = 0; i < target.count; i++)
		live += (int64_t)(target.reports[i].allocated - target.reports[i].deallocated);
	snprintf(pid, sizeof pid, "%d", target.child);
	run_ctop(&run, NULL,
		 (const char *[]){"-b", "-n", "1", "-d", "0.2", "-t", "heap", "-p", pid, "--format", "json",
				  NULL});
	run_expect(&run, 0);
	snprintf(expected, sizeof expected, "\"live_bytes\":{\"value\":%" PRId64, live);
	if (strstr(run.output, expected) == NULL)
		fail_msg("no %s in %s", expected, run.output);
	assert_non_null(strstr(run.output, "\"layout\":{\"value\":\""));
	assert_non_null(strstr(run.output, "\"allocated_bytes_per_s\""));
	assert_non_null(strstr(run.output, "\"net_allocated_bytes_per_s\""));
	run_release(&run);
	run_ctop(&run, NULL,
		 (const char *[]){"-b", "-n", "1", "-d", "0.2", "-t", "heap", "-p", pid, "--no-heap",
				  "--format", "json", NULL});
	run_expect(&run, 0);
	assert_non_null(strstr(run.output, "\"reason\":\"switched-off\""));
	run_release(&run);
	target_end(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture),    cmocka_unit_test(test_switched_off),
		cmocka_unit_test(test_needs_stop), cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_batch),      cmocka_unit_test(test_batch_tab),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
