/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation counters of a real program with jemalloc (tests/targets/target.c), in captures and in `ctop -b`,
 * against what its threads count themselves with mallctl(3).
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../wait.h"
#include "harness.h"

enum {
	THREADS_MAX = 16,
	NOBODY = 65534,
	CAPTURES_MAX = 3, /* where something gets no CPU in time */
};

struct report {
	int tid;
	uint64_t allocated, deallocated;
};

/* A running target and what its threads said last. */
struct target {
	struct helper helper;
	struct report reports[THREADS_MAX];
	size_t count;
};

static void read_reports(struct target *target)
{
	char line[128];

	target->count = 0;
	while (helper_answer(&target->helper, line, sizeof line)) {
		struct report *report = &target->reports[target->count];

		if (strcmp(line, "ready") == 0)
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
	const char *const arguments[] = {HEAP_TARGET, mode, threads, "100000", NULL};

	if (strcmp(HEAP_TARGET, "") == 0)
		skip_test("there is no libjemalloc to link with");
	helper_start(&target->helper, arguments, user);
	read_reports(target);
}

static void target_go(struct target *target)
{
	helper_tell(&target->helper, "go");
	read_reports(target);
}

static void target_end(struct target *target)
{
	helper_end(&target->helper);
}

/*
 * Whether a thread did not stop in time, or a file could not be opened in time: no thread here stays in D and
 * no file system hangs, so that somebody got no CPU.
 */
static bool was_late(yajl_val snapshot)
{
	yajl_val summary = json_member(snapshot, "probe_summary");
	const char *failure = YAJL_GET_STRING(json_member(summary, "dominant_failure"));

	return failure != NULL &&
	       (strcmp(failure, "waitpid") == 0 || strcmp(failure, "file-system-hangs") == 0);
}

/* A capture of the target with one option more; what it said on stderr stays in `run`. */
/* `second` may be NULL, and `option` too. */
static yajl_val capture_with(const struct target *target, const char *option, const char *second,
			     unsigned int user, struct run *run)
{
	const struct run_options options = {.user = user};
	char *path = strdup(scratch_path("public/heap.ctprof.zst"));
	yajl_val snapshot;
	char pid[16];

	/* where every user may write */
	mkdir(scratch_path("public"), 0777);
	assert_int_equal(chmod(scratch_path("public"), 0777), 0);
	snprintf(pid, sizeof pid, "%d", target->helper.child);
	for (int count = 1;; count++) {
		run_ctop(run, &options,
			 (const char *[]){"capture", "-o", path, "-p", pid, option, second, NULL});
		run_expect(run, 0);
		snapshot = load_snapshot(path);
		if (count == CAPTURES_MAX || !was_late(snapshot))
			break;
		yajl_tree_free(snapshot);
		run_release(run);
	}
	unlink(path);
	free(path);
	return snapshot;
}

static yajl_val capture(const struct target *target, const char *option, unsigned int user, struct run *run)
{
	return capture_with(target, option, NULL, user, run);
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
		assert_int_equal(json_u64(heap_entry(snapshot), "tgid"), (uint64_t)target.helper.child);
		assert_non_null(json_text(heap_entry(snapshot), "layout"));
		assert_non_null(strstr(run.errors, "jemalloc: 1 of 1 processes, 6 threads read"));
		run_release(&run);
		yajl_tree_free(snapshot);
		target_go(&target);
	}
	target_end(&target);
}

/* Expects the process's peak in column PEAK, read through its living threads. */
static void expect_peak(const struct target *target)
{
	uint64_t peak = 0;
	char filter[32];
	const char *row;
	struct run run;

	snprintf(filter, sizeof filter, "pid = %d", target->helper.child);
	run_ctop_well(&run, (const char *[]){"-b", "-n", "1", "-d", "0.2", "-g", "pid", "--columns", "peak",
					     "--format", "csv", "--all", "-f", filter, NULL});
	row = strchr(run.output, '\n');
	if (row == NULL || sscanf(row, "%*[^,],%*[^,],%" SCNu64, &peak) != 1 || peak == 0)
		fail_msg("no peak: %s", run.output);
	run_release(&run);
}

/* After the main thread has ended, the process is read through another thread. */
static void test_ended_leader(void **state)
{
	static const char *const backends[] = {"procfs", "auto"};
	struct target target;
	char path[64], link[8];

	(void)state;
	target_start(&target, "park", "5", 0);
	helper_tell(&target.helper, "retire");
	read_reports(&target);
	snprintf(path, sizeof path, "/proc/%d/exe", target.helper.child);
	await("the leader has ended", readlink(path, link, sizeof link) < 0);
	target_go(&target);
	assert_int_equal(target.count, 6);
	for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
		struct run run;
		yajl_val snapshot = capture_with(&target, "--backend", backends[i], 0, &run);
		yajl_val leader = snapshot_thread(snapshot, target.helper.child);

		expect_exact(&target, snapshot);
		assert_non_null(leader);
		assert_false(is_measured(leader));
		assert_null(missing_reason(snapshot, leader, "jemalloc"));
		assert_true(json_u64(json_member(leader, "smaps_rollup_kib"), "Pss") > 0);
		/* the file has the kernel's value per thread, the column the process's peak */
		assert_int_equal(json_u64(leader, "hiwater_rss_bytes"), 0);
		/* peaks need taskstats or BPF */
		if (missing_reason(snapshot, snapshot_thread(snapshot, target.reports[0].tid), "taskstats") ==
		    NULL)
			expect_peak(&target);
		else
			print_message("no peaks: neither taskstats nor BPF\n");
		assert_non_null(json_text(heap_entry(snapshot), "layout"));
		assert_int_equal(json_u64(json_member(snapshot, "probe_summary"), "failed"), 0);
		run_release(&run);
		yajl_tree_free(snapshot);
	}
	target_end(&target);
}

/* Starts the target in a root directory with copies of its libraries, or changes its root once it runs. */
static void start_in_root(struct target *target, bool copied)
{
	const char *root = scratch_path("root");
	char command[1024];
	const char *const inside[] = {"/bin/sh", "-c", "exec chroot \"$0\" /target park 5 100000", root,
				      NULL};
	const char *const later[] = {HEAP_TARGET, "park", "5", "100000", root, NULL};

	snprintf(
		command, sizeof command,
		"mkdir -p '%s' && cp '%s' '%s/target' && cp -L --parents $(ldd '%s' | grep -o '/[^ ]*') '%s'",
		root, HEAP_TARGET, root, HEAP_TARGET, root);
	assert_int_equal(system(command), 0);
	helper_start(&target->helper, copied ? inside : later, 0);
	read_reports(target);
}

/* procfs shows paths of a process in chroot(2) from the reader's root, not the process's own. */
static void test_changed_root(void **state)
{
	(void)state;
	if (strcmp(HEAP_TARGET, "") == 0)
		skip_test("there is no libjemalloc to link with");
	need_capability(CAP_SYS_CHROOT, "start a target in another root");
	for (int copied = 0; copied <= 1; copied++) {
		struct target target;
		yajl_val snapshot;
		struct run run;

		start_in_root(&target, copied != 0);
		snapshot = capture(&target, NULL, 0, &run);
		expect_exact(&target, snapshot);
		run_release(&run);
		yajl_tree_free(snapshot);
		target_end(&target);
	}
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

/*
 * Threads without robust lists: unavailable, unless a stop is allowed or their thread pointers are seen by
 * BPF; then exact all the same.
 */
static void test_needs_stop(void **state)
{
	struct target target;
	yajl_val snapshot, thread, summary;
	struct run run;

	(void)state;
	target_start(&target, "bare", "3", 0);
	snapshot = capture_with(&target, "--backend=procfs", NULL, 0, &run);
	for (size_t i = 0; i < target.count; i++) {
		thread = snapshot_thread(snapshot, target.reports[i].tid);
		if (target.reports[i].tid == target.helper.child)
			continue; /* it keeps its list */
		assert_false(is_measured(thread));
		assert_string_equal(missing_reason(snapshot, thread, "jemalloc"), "needs-stop");
	}
	summary = json_member(snapshot, "probe_summary");
	assert_string_equal(json_text(summary, "dominant_failure"), "needs-stop");
	assert_int_equal(json_u64(summary, "failed"), 3);
	run_release(&run);
	yajl_tree_free(snapshot);

	snapshot = capture_with(&target, "--allow-stop", "--backend=procfs", 0, &run);
	expect_exact(&target, snapshot);
	assert_non_null(strstr(run.errors, "3 stopped for it"));
	run_release(&run);
	yajl_tree_free(snapshot);

	snapshot = capture(&target, NULL, 0, &run);
	if (strcmp(json_text(json_member(json_member(json_member(snapshot, "ctop"), "features"), "bpf"),
			     "state"),
		   "on") == 0)
		expect_exact(&target, snapshot);
	else
		print_message("without BPF: needs-stop as before\n");
	run_release(&run);
	yajl_tree_free(snapshot);
	target_end(&target);
}

/* A user without the right to read is told so, and gets what he may read. */
static void test_nobody(void **state)
{
	struct target target;
	yajl_val snapshot;
	struct run run;

	(void)state;
	need_to_become_nobody();
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

/* Allocations between two rounds, by process: exactly the difference of its own counts. */
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
	snprintf(pid, sizeof pid, "%d", target.helper.child);
	run_start(&running, &options,
		  (const char *[]){CTOP_PROGRAM, "-b", "-n", "2", "-d", "3", "-p", pid, "--mode", "interval",
				   "--format", "tsv", "--columns", "threads,PROCS,SEEN,ALLOC,FREED,TOTAL",
				   NULL});
	run_wait_for_lines(&running, 1);
	assert_true(run_pause(&running));
	for (size_t i = 0; i < target.count; i++) {
		allocated -= target.reports[i].allocated;
		freed -= target.reports[i].deallocated;
	}
	target_go(&target);
	run_continue(&running);
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
	snprintf(pid, sizeof pid, "%d", target.helper.child);
	run_ctop_well(&run, (const char *[]){"-b", "-n", "1", "-d", "0.2", "-t", "heap", "-p", pid,
					     "--format", "json", NULL});
	snprintf(expected, sizeof expected, "\"live_bytes\":{\"value\":%" PRId64, live);
	if (strstr(run.output, expected) == NULL)
		fail_msg("no %s in %s", expected, run.output);
	assert_non_null(strstr(run.output, "\"layout\":{\"value\":\""));
	assert_non_null(strstr(run.output, "\"allocated_bytes_per_s\""));
	assert_non_null(strstr(run.output, "\"net_allocated_bytes_per_s\""));
	run_release(&run);
	run_ctop_well(&run, (const char *[]){"-b", "-n", "1", "-d", "0.2", "-t", "heap", "-p", pid,
					     "--no-heap", "--format", "json", NULL});
	assert_non_null(strstr(run.output, "\"reason\":\"switched-off\""));
	run_release(&run);
	target_end(&target);
}

/*
 * Two processes that become programs which no ctop has seen before: copies of one with jemalloc, and of one
 * without.
 */
struct newcomers {
	struct target heap, plain;
	char heap_name[16];
};

static void newcomers_start(struct newcomers *newcomers)
{
	target_start(&newcomers->heap, "park", "0", 0);
	target_start(&newcomers->plain, "park", "0", 0);
}

static void become_copy(struct target *target, const char *name, const char *program, const char *arguments)
{
	const char *path = scratch_path(name);
	char line[600];
	size_t length;
	char *bytes = read_file(program, &length);

	assert_non_null(bytes);
	write_file(path, bytes, length);
	free(bytes);
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(line, sizeof(line), "exec %s %s", path, arguments);
	helper_tell(&target->helper, line);
}

/* They are called kill_heap_SUFFIX and kill_plain_SUFFIX then. */
static void newcomers_arrive(struct newcomers *newcomers, const char *suffix)
{
	char plain_name[16];

	snprintf(newcomers->heap_name, sizeof(newcomers->heap_name), "kill_heap_%s", suffix);
	snprintf(plain_name, sizeof(plain_name), "kill_plain_%s", suffix);
	become_copy(&newcomers->heap, newcomers->heap_name, HEAP_TARGET, "park 2 100000");
	become_copy(&newcomers->plain, plain_name, LOAD_PROGRAM, "1 2");
	read_reports(&newcomers->heap);
	helper_expect(&newcomers->plain.helper, "ready");
}

static void newcomers_end(struct newcomers *newcomers)
{
	target_end(&newcomers->heap);
	target_end(&newcomers->plain);
}

/* The row of a group in one round of JSON lines, up to the next row; "" for none. */
static void copy_row(const char *round, const char *group, char *row, size_t size)
{
	char key[48];
	const char *start, *end;

	snprintf(key, sizeof(key), "\"group\":\"%s\"", group);
	start = strstr(round, key);
	row[0] = '\0';
	if (start == NULL)
		return;
	end = strstr(start + strlen(key), "\"group\":");
	snprintf(row, size, "%.*s", end != NULL ? (int)(end - start) : (int)strcspn(start, "\n"), start);
}

/*
 * Whether the newest whole round shows the counters of a newcomer, to the byte, or is still looking for them.
 */
static bool is_counted(const char *output, const struct newcomers *newcomers)
{
	const char *end = strrchr(output, '\n'), *round = end;
	char row[1024], expected[80];
	uint64_t total = 0;

	while (round != NULL && round > output && round[-1] != '\n')
		round--;
	if (round == NULL)
		return false;
	copy_row(round, newcomers->heap_name, row, sizeof(row));
	for (size_t i = 0; i < newcomers->heap.count; i++)
		total += newcomers->heap.reports[i].allocated;
	snprintf(expected, sizeof(expected), "\"total_allocated_bytes\":{\"value\":%" PRIu64 ",", total);
	return strstr(row, expected) != NULL && strstr(row, "\"heap_threads\":{\"value\":3,") != NULL;
}

/* The output of a program so far, in a static buffer. */
static const char *output_of(const struct running *running, size_t *ret_length)
{
	static char output[1 << 20];
	const ssize_t length = pread(running->output, output, sizeof(output) - 1, 0);

	assert_true(length >= 0 && (size_t)length < sizeof(output) - 1);
	output[length] = '\0';
	*ret_length = (size_t)length;
	return output;
}

/* Whether the output from `start` on says `text`, or shows the counters of the newcomer. */
static bool shows(const struct running *running, size_t start, const char *text,
		  const struct newcomers *newcomers)
{
	size_t length;
	const char *output = output_of(running, &length);

	return length > start &&
	       (text != NULL ? strstr(output + start, text) != NULL : is_counted(output, newcomers));
}

/* Waits for that. Returns the length of the output. */
static size_t wait_for_output(const struct running *running, size_t start, const char *text,
			      const struct newcomers *newcomers)
{
	size_t length;

	if (!wait_until(shows(running, start, text, newcomers)))
		fail_msg("no %s in: %s", text != NULL ? text : newcomers->heap_name,
			 output_of(running, &length));
	output_of(running, &length);
	return length;
}

/* A child of `parent` of that name (NULL: one that ended and was not collected), or 0. */
static pid_t find_child(pid_t parent, const char *wanted)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	assert_non_null(proc);
	while (found == 0 && (entry = readdir(proc)) != NULL) {
		char path[300], name[17] = "", state = 0;
		int pid = 0, above = 0;
		FILE *stat;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		stat = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		if (stat == NULL)
			continue;
		if (fscanf(stat, "%d (%16[^)]) %c %d", &pid, name, &state, &above) == 4 && above == parent &&
		    (wanted != NULL ? strcmp(name, wanted) == 0 && state != 'Z' : state == 'Z'))
			found = pid;
		fclose(stat);
	}
	closedir(proc);
	return found;
}

static void assert_no_zombie(pid_t parent)
{
	await("all children that ended are collected", find_child(parent, NULL) == 0);
}

/* Without taskstats, which has the name, and with columns that need no file that has it. */
static void test_batch_new_name(void **state)
{
	static const struct run_options options = {.user = NOBODY};
	struct running running;
	struct target target;
	struct run run;
	char pid[16];

	(void)state;
	need_to_become_nobody();
	target_start(&target, "park", "0", 0);
	snprintf(pid, sizeof(pid), "%d", target.helper.child);
	run_start(&running, &options,
		  (const char *[]){CTOP_PROGRAM, "-b", "-n", "4", "-d", "0.5", "-p", pid, "--format", "tsv",
				   "--columns", "SEEN", NULL});
	run_wait_for_lines(&running, 1);
	assert_true(run_pause(&running));
	become_copy(&target, "another_name", HEAP_TARGET, "park 0 1000");
	read_reports(&target);
	run_continue(&running);
	run_finish(&running, &run, &options);
	run_expect(&run, 0);
	assert_non_null(strstr(run.output, "heap_target"));
	assert_non_null(strstr(run.output, "another_name"));
	run_release(&run);
	target_end(&target);
}

/*
 * The reader is killed: what starts afterwards is found all the same. Then the supervisor is killed, and with
 * it all that read for ctop: the rounds go on.
 */
static void test_helpers_killed(void **state)
{
	static const struct run_options options;
	struct newcomers before, after;
	struct newcomers *const all[] = {&before, &after};
	const char *arguments[32] = {CTOP_PROGRAM, "-b",       "-d",   "0.4",       "-f",
				     "kill_",      "--format", "json", "--columns", "PROCS,SEEN,TOTAL"};
	size_t count = 10, start, length;
	char pids[2 * 2][16];
	struct running running;
	pid_t supervisor, reader;
	struct run run;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		newcomers_start(all[i]);
		snprintf(pids[2 * i], sizeof(pids[0]), "%d", all[i]->heap.helper.child);
		snprintf(pids[2 * i + 1], sizeof(pids[0]), "%d", all[i]->plain.helper.child);
		arguments[count++] = "-p";
		arguments[count++] = pids[2 * i];
		arguments[count++] = "-p";
		arguments[count++] = pids[2 * i + 1];
	}
	newcomers_arrive(&before, "a");
	run_start(&running, &options, arguments);
	start = wait_for_output(&running, 0, NULL, &before);
	supervisor = find_child(running.child, "ctop");
	assert_int_not_equal(supervisor, 0);

	await("it has a reader", (reader = find_child(supervisor, "ctop")) != 0);
	assert_int_equal(kill(reader, SIGKILL), 0);
	newcomers_arrive(&after, "b");
	start = wait_for_output(&running, start, NULL, &after);
	assert_no_zombie(supervisor);
	assert_int_equal(kill(supervisor, SIGKILL), 0);
	await("a round after that", (output_of(&running, &length), length > start));
	start = length;
	await("another round", (output_of(&running, &length), length > start));

	kill(running.child, SIGTERM);
	run_finish(&running, &run, &options);
	assert_int_equal(run.signal, SIGTERM);
	run_release(&run);
	newcomers_end(&before);
	newcomers_end(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture),        cmocka_unit_test(test_ended_leader),
		cmocka_unit_test(test_changed_root),   cmocka_unit_test(test_switched_off),
		cmocka_unit_test(test_needs_stop),     cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_batch),          cmocka_unit_test(test_batch_tab),
		cmocka_unit_test(test_batch_new_name), cmocka_unit_test(test_helpers_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
