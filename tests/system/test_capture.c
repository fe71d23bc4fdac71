/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop capture` of threads whose work is known from another source. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../cgroup.h"
#include "../measure.h"
#include "base/clock.h"
#include "harness.h"

#define METADATA_SLACK_BYTES (256 * 1024)
#define POOL_THREADS         12

/* A worker whose threads have done their work, what they counted, and a capture of it since. */
struct work {
	struct worker worker;
	struct worker_thread own[4];
	yajl_val snapshot;
};

static void capture_work(struct work *work, const char *const *arguments)
{
	test_worker_start(&work->worker, arguments);
	worker_go(&work->worker, true);
	worker_report(&work->worker, work->own);
	work->snapshot = capture_snapshot(work->worker.pid);
}

static void end_work(struct work *work)
{
	yajl_tree_free(work->snapshot);
	worker_end(&work->worker);
}

static bool readable(yajl_val snapshot, yajl_val thread, const char *source)
{
	const char *reason = missing_reason(snapshot, thread, source);

	if (reason)
		print_message("not compared: %s (%s)\n", source, reason);
	return !reason;
}

/* Whether this kernel tells how long a sleeper was uninterruptible: /proc/PID/sched since Linux 5.16. */
static bool tells_block_sum(void)
{
	char *text = read_file("/proc/self/sched", NULL);
	bool tells;

	assert_non_null(text);
	tells = strstr(text, "sum_block_runtime") != NULL;
	free(text);
	return tells;
}

/* A parked thread's counters stand still, so they equal what it counted itself. */
static void compare_parked(yajl_val snapshot, const struct worker_thread *own)
{
	yajl_val thread = snapshot_thread(snapshot, own->tid);

	assert_non_null(thread);
	if (readable(snapshot, thread, "taskstats") || readable(snapshot, thread, "schedstat"))
		assert_int_equal(json_u64(thread, "run_time_ns"), own->cpu_ns);
	/* it waited once more after it had counted: for the next command */
	assert_between("voluntary_csw", json_u64(thread, "voluntary_csw"), own->voluntary + 1,
		       own->voluntary + 1);
	assert_between("nonvoluntary_csw", json_u64(thread, "nonvoluntary_csw"), own->involuntary,
		       own->involuntary + 5);
	assert_between("minflt", json_u64(thread, "minflt"), own->minor_faults, own->minor_faults + 4);
	assert_int_equal(json_u64(thread, "majflt"), own->major_faults);
	assert_between("utime + stime",
		       (json_u64(thread, "utime_clock_ticks") + json_u64(thread, "stime_clock_ticks")) *
			       NS_PER_TICK,
		       own->cpu_ns < 3 * NS_PER_TICK ? 0 : own->cpu_ns - 3 * NS_PER_TICK,
		       own->cpu_ns + 3 * NS_PER_TICK);
	if (!readable(snapshot, thread, "io"))
		return;
	assert_int_equal(json_u64(thread, "rchar"), own->read_bytes);
	assert_int_equal(json_u64(thread, "wchar"), own->written_bytes);
	assert_int_equal(json_u64(thread, "syscr"), own->read_calls);
	assert_int_equal(json_u64(thread, "syscw"), own->write_calls);
	assert_between("write_bytes", json_u64(thread, "write_bytes"), own->storage_written_bytes,
		       own->storage_written_bytes + METADATA_SLACK_BYTES);
	assert_between("read_bytes", json_u64(thread, "read_bytes"), own->storage_read_bytes,
		       own->storage_read_bytes + METADATA_SLACK_BYTES);
}

static void test_counters(void **state)
{
	const char *arguments[] = {"burst:150=burster", "switch:25=switcher", "fault:300=faulter",
				   "park=parked", NULL};
	struct work work;
	const struct worker_thread *own = work.own;
	yajl_val switcher;

	(void)state;
	capture_work(&work, arguments);
	switcher = snapshot_thread(work.snapshot, own[1].tid);
	assert_true(own[0].cpu_ns >= 150000000ULL);
	/* where a virtual machine is slow, some of the waits are over before they begin */
	assert_true(own[1].voluntary >= 5);
	assert_true(own[2].minor_faults >= 300);
	for (size_t i = 0; i < 4; i++)
		compare_parked(work.snapshot, &own[i]);
	if (readable(work.snapshot, switcher, "schedstats")) {
		/* each of its waits ended with a wake-up, if it was not over before it began */
		assert_between("nr_wakeups", json_u64(switcher, "nr_wakeups"), own[1].voluntary,
			       own[1].voluntary + 27);
		if (tells_block_sum())
			assert_true(json_u64(switcher, "voluntary_sleep_ns") >= own[1].voluntary * 100000ULL);
		else
			assert_non_null(missing_reason(work.snapshot, switcher, "voluntary_sleep_ns"));
	}
	end_work(&work);
}

/* The time that a thread has waited for a CPU, ns: the second number of schedstat (sched-stats of the
 * kernel's documentation). */
static uint64_t waited_ns(int pid, int tid)
{
	char path[64], *text;
	unsigned long long ran, waited;

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, tid);
	text = read_file(path, NULL);
	assert_non_null(text);
	assert_int_equal(sscanf(text, "%llu %llu", &ran, &waited), 2);
	free(text);
	return waited;
}

/* Two threads share one CPU: what one runs the other waits. */
static void test_run_queue(void **state)
{
	const char *arguments[] = {"pinned:150=left", "pinned:150=right", NULL};
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	struct work work;
	uint64_t life_ns, sum_ns = 0;

	(void)state;
	capture_work(&work, arguments);
	life_ns = clock_ns(CLOCK_MONOTONIC) - begin;
	for (size_t i = 0; i < 2; i++) {
		const struct worker_thread *own = &work.own[i];
		yajl_val thread = snapshot_thread(work.snapshot, own->tid);
		yajl_val cpus = json_member(thread, "cpu_affinity");

		const uint64_t shown = json_u64(thread, "wait_time_ns");

		/* it is parked, and waits no more */
		assert_int_equal(shown, waited_ns(work.worker.pid, own->tid));
		assert_between("wait_time_ns", shown, 1, life_ns - own->cpu_ns);
		sum_ns += shown;
		assert_true(json_u64(thread, "timeslices") >= own->voluntary + own->involuntary);
		assert_true(YAJL_IS_ARRAY(cpus) && YAJL_GET_ARRAY(cpus)->len == 1);
		assert_int_equal(YAJL_GET_INTEGER(YAJL_GET_ARRAY(cpus)->values[0]),
				 json_u64(thread, "processor"));
	}
	/* nearly as long as one of them ran */
	assert_true(sum_ns > 100000000);
	end_work(&work);
}

/* With delay accounting on, each copied page is a wpcopy delay. */
static void test_delays(void **state)
{
	const char *arguments[] = {"copy:200=copier", "park=parked", NULL};
	struct work work;
	yajl_val thread;
	const char *reason;

	(void)state;
	capture_work(&work, arguments);
	thread = snapshot_thread(work.snapshot, work.own[0].tid);
	reason = missing_reason(work.snapshot, thread, "delays");
	if (!reason)
		reason = missing_reason(work.snapshot, thread, "wpcopy_delay_count");
	if (reason) {
		assert_int_equal(json_u64(thread, "wpcopy_delay_count"), 0);
		print_message("delays are %s\n", reason);
		end_work(&work);
		skip_test("delay accounting is off or not in this kernel");
	}
	assert_between("wpcopy_delay_count", json_u64(thread, "wpcopy_delay_count"), work.own[0].copied_pages,
		       work.own[0].copied_pages + 50);
	assert_true(json_u64(thread, "wpcopy_delay_total_ns") > 0);
	assert_true(YAJL_IS_TRUE(json_member(thread, "delay_block_active")));
	end_work(&work);
}

static void test_storage(void **state)
{
	const char *arguments[] = {"write:32=writer", "read:16=reader", NULL};
	struct work work;

	(void)state;
	capture_work(&work, arguments);
	assert_int_equal(work.own[0].storage_written_bytes, 32 * 65536);
	assert_int_equal(work.own[1].storage_read_bytes, 16 * 65536);
	compare_parked(work.snapshot, &work.own[0]);
	compare_parked(work.snapshot, &work.own[1]);
	end_work(&work);
}

/* Between what the thread's own clock says before and after: reading that brings the kernel's count up to
 * date (thread_group_sample_cputime() and task_sched_runtime() of the kernel), which is else done at the tick
 * only. */
static void test_running(void **state)
{
	const char *arguments[] = {"duty:50=busy", NULL};
	struct worker worker;
	struct worker_thread before;
	struct worker_thread after;
	yajl_val snapshot;
	yajl_val thread;

	(void)state;
	test_worker_start(&worker, arguments);
	worker_report(&worker, &before);
	snapshot = capture_snapshot(worker.pid);
	worker_report(&worker, &after);
	thread = snapshot_thread(snapshot, before.tid);
	assert_non_null(thread);
	assert_between("run_time_ns", json_u64(thread, "run_time_ns"), before.cpu_ns, after.cpu_ns);
	yajl_tree_free(snapshot);
	worker_end(&worker);
}

static void test_names(void **state)
{
	static const struct {
		const char *argument;
		const char *recorded;
	} cases[] = {
		{"park=a) R 1 (b", "a) R 1 (b"},
		{"park=two\nlines", "two\nlines"},
		{"park=e\033[31mred", "e\033[31mred"},
		{"park=bad\xff\xfe", "bad\\xff\\xfe"},
		/* 15 bytes, each escaped as four characters */
		{"park=\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e",
		 "\\x80\\x81\\x82\\x83\\x84\\x85\\x86\\x87\\x88\\x89\\x8a\\x8b\\x8c\\x8d\\x8e"},
		{"park=caf\xc3\xa9", "caf\xc3\xa9"},
		{"park=tab\there", "tab\there"},
		/* blanks at the ends are cut as the format has it */
		{"park=\nexec_max:5\n", "exec_max:5"},
		/* but for a name of nothing else, which is not the empty one */
		{"park= ", " "},
	};
	enum {
		COUNT = sizeof cases / sizeof *cases
	};
	const char *arguments[COUNT + 1] = {0};
	struct worker worker;
	struct worker_thread own[COUNT];
	yajl_val snapshot;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		arguments[i] = cases[i].argument;
	test_worker_start(&worker, arguments);
	worker_report(&worker, own);
	snapshot = capture_snapshot(worker.pid);
	for (size_t i = 0; i < COUNT; i++) {
		yajl_val thread = snapshot_thread(snapshot, own[i].tid);

		assert_non_null(thread);
		assert_string_equal(json_text(thread, "comm"), cases[i].recorded);
		assert_int_equal(json_u64(thread, "tgid"), worker.pid);
		assert_string_equal(json_text(thread, "state"), "S");
		if (json_member(thread, "exec_max"))
			assert_int_not_equal(json_u64(thread, "exec_max"), 5000000);
	}
	yajl_tree_free(snapshot);
	worker_end(&worker);
}

/* Counts the occurrences of a text. */
static size_t count_text(const char *text, const char *wanted)
{
	size_t count = 0;

	for (; (text = strstr(text, wanted)); text += strlen(wanted))
		count++;
	return count;
}

/*
 * Two names, cut inside a character, differ only in invalid UTF-8 bytes. They have two rows with the same
 * texts live and in a file, and the file's parts are readable.
 */
static void test_cut_names(void **state)
{
	static const struct {
		const char *format;
		const char *names[2];
	} cases[] = {{"tsv", {"BUGT - \\xe8\\xa1\t", "BUGT - \\xe8\\xa2\t"}},
		     {"csv", {"BUGT - \\xe8\\xa1,", "BUGT - \\xe8\\xa2,"}},
		     {"json", {"BUGT - \\\\xe8\\\\xa1\"", "BUGT - \\\\xe8\\\\xa2\""}}};
	const char *path = scratch_path("cut.ctprof.zst");
	const char *arguments[] = {"duty=BUGT - \xe8\xa1", "duty=BUGT - \xe8\xa2", NULL};
	struct worker worker;
	struct run run;
	yajl_val snapshot;
	char pid[16];

	(void)state;
	test_worker_start(&worker, arguments);
	snprintf(pid, sizeof pid, "%d", worker.pid);
	run_ctop_well(&run, (const char *[]){"capture", "--for", "1", "-o", path, "-p", pid, NULL});
	run_release(&run);
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		const char *format = cases[i / 2].format;

		/* even: live; odd: the file */
		if (i % 2 == 0)
			run_ctop_well(&run, (const char *[]){"-b", "-n", "1", "-d", "0.2", "-p", pid, "-g",
							     "thread", "--format", format, NULL});
		else
			run_ctop_well(&run, (const char *[]){"show", path, "-b", "-g", "thread", "--format",
							     format, NULL});
		for (size_t name = 0; name < 2; name++)
			assert_int_equal(count_text(run.output, cases[i / 2].names[name]), 1);
		/* ctop would report ignored parts */
		assert_null(strstr(run.errors, "parts"));
		run_release(&run);
	}
	snapshot = load_snapshot(path);
	assert_true(YAJL_GET_ARRAY(json_member(json_member(json_member(snapshot, "ctop"), "window"), "parts"))
			    ->len > 1);
	yajl_tree_free(snapshot);
	/* ktstr has U+FFFD for each byte */
	run_ctop_well(&run, (const char *[]){"show", path, "-g", "thread-exact", "--ktstr", "--format", "tsv",
					     "--metrics", "thread_count", NULL});
	assert_int_equal(count_text(run.output, "BUGT - \uFFFD\uFFFD\t2\tthread_count\t2\n"), 1);
	assert_null(strstr(run.output, "xe8"));
	run_release(&run);
	worker_end(&worker);
}

/* Control bytes of a name never reach the report: neither as they are nor as a forged line. */
static void test_names_shown(void **state)
{
	static const char *const formats[] = {"text", "tsv", "json", "csv"};
	const char *path = scratch_path("names.ctprof.zst");
	const char *arguments[] = {"park=e\033[31mred", "park=two\nlines", "park=bad\xff", NULL};
	struct worker worker;
	struct run run;
	char pid[16];

	(void)state;
	test_worker_start(&worker, arguments);
	snprintf(pid, sizeof pid, "%d", worker.pid);
	run_ctop_well(&run, (const char *[]){"capture", "-o", path, "-p", pid, NULL});
	run_release(&run);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		run_ctop_well(&run, (const char *[]){"show", path, "-g", "thread-exact", "--format",
						     formats[i], NULL});
		assert_true(run.output_length > 0);
		/* a quoted CSV field holds its newline (RFC 4180) */
		if (strcmp(formats[i], "csv") != 0)
			assert_null(strstr(run.output, "\nlines"));
		assert_null(strchr(run.output, '\xff'));
		assert_null(strchr(run.output, '\033'));
		run_release(&run);
	}
	worker_end(&worker);
}

static uint64_t row_value(const char *output, const char *key, const char *metric)
{
	char wanted[256];
	const char *line = output;

	while (line) {
		const char *field = strchr(line, '\t');

		if (field && strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == '\t') {
			snprintf(wanted, sizeof wanted, "\t%s\t", metric);
			field = strchr(field + 1, '\t');
			if (field && strncmp(field, wanted, strlen(wanted)) == 0)
				return strtoull(field + strlen(wanted), NULL, 10);
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	fail_msg("no row '%s' with '%s' in: %.2000s", key, metric, output);
	return 0;
}

static void test_pool(void **state)
{
	const char *path = scratch_path("pool.ctprof.zst");
	const char *arguments[POOL_THREADS + 2] = {0};
	char names[POOL_THREADS][32];
	struct worker worker;
	struct run run;
	char pid[16];

	(void)state;
	for (size_t i = 0; i < POOL_THREADS; i++) {
		snprintf(names[i], sizeof names[i], "park=pool-%zu", i);
		arguments[i] = names[i];
	}
	arguments[POOL_THREADS] = "park=lonely-7";
	test_worker_start(&worker, arguments);
	snprintf(pid, sizeof pid, "%d", worker.pid);
	run_ctop_well(&run, (const char *[]){"capture", "-o", path, "-p", pid, NULL});
	run_release(&run);
	run_ctop_well(&run, (const char *[]){"show", path, "-g", "thread", "--format", "tsv", "--limit", "0",
					     NULL});
	assert_int_equal(row_value(run.output, "pool-{N}", "thread_count"), POOL_THREADS);
	assert_int_equal(row_value(run.output, "lonely-7", "thread_count"), 1);
	run_release(&run);
	run_ctop_well(&run, (const char *[]){"show", path, "-g", "process", "--format", "tsv", "--limit", "0",
					     NULL});
	assert_int_equal(row_value(run.output, "worker", "nr_threads"), POOL_THREADS + 2);
	run_release(&run);
	worker_end(&worker);
}

static void test_pid_namespace(void **state)
{
	const char *arguments[] = {"--pid-namespace", "burst:50=inside", NULL};
	struct work work;

	(void)state;
	capture_work(&work, arguments);
	compare_parked(work.snapshot, &work.own[0]);
	end_work(&work);
}

static uint64_t usage_of(const char *cgroup)
{
	char path[512];
	char *text;
	uint64_t usage = 0;

	snprintf(path, sizeof path, "%s/cpu.stat", cgroup);
	text = read_file(path, NULL);
	if (text && strstr(text, "usage_usec "))
		usage = strtoull(strstr(text, "usage_usec ") + strlen("usage_usec "), NULL, 10);
	free(text);
	return usage;
}

/* Both ways: the record against the worker's own clocks, the sum of the threads against the kernel's
 * cpu.stat. */
static void test_cgroup(void **state)
{
	char mount[256];
	char directory[300];
	const char *arguments[] = {"--cgroup", directory, "burst:120=first", "burst:60=second", NULL};
	struct worker worker;
	struct worker_thread own[2];
	yajl_val snapshot;
	yajl_val record;
	uint64_t usage;
	uint64_t process_us;
	uint64_t sum = 0;
	const char *main_path;

	(void)state;
	if (!find_cgroup2(mount))
		skip_test("no cgroup v2 mount");
	snprintf(directory, sizeof directory, "%s/ctop-test-%d", mount, getpid());
	if (test_cgroup_make(directory) < 0)
		skip_test("%s", strerror(errno));
	if (!test_worker_try(&worker, arguments)) {
		test_cgroup_remove(directory);
		skip();
	}
	worker_go(&worker, true);
	worker_report(&worker, own);
	snapshot = capture_snapshot(worker.pid);
	usage = usage_of(directory);
	worker_report(&worker, own);
	process_us = worker.cpu_ns / 1000;
	main_path = json_text(snapshot_thread(snapshot, worker.pid), "cgroup");
	record = json_member(json_member(snapshot, "cgroup_stats"), main_path);
	for (size_t i = 0; i < 2; i++) {
		yajl_val thread = snapshot_thread(snapshot, own[i].tid);

		assert_string_equal(json_text(thread, "cgroup"), main_path);
		sum += json_u64(thread, "run_time_ns") / 1000;
	}
	sum += json_u64(snapshot_thread(snapshot, worker.pid), "run_time_ns") / 1000;
	worker_end(&worker);
	test_cgroup_remove(directory);
	assert_non_null(strstr(main_path, "/ctop-test-"));
	assert_non_null(record);
	/* the process's start, before it entered the cgroup, is in its run time and not in the cgroup's */
	assert_between("usage_usec", json_u64(json_member(record, "cpu"), "usage_usec"),
		       (own[0].cpu_ns + own[1].cpu_ns) / 1000, process_us);
	assert_between("cpu.stat", usage, (own[0].cpu_ns + own[1].cpu_ns) / 1000, process_us);
	assert_between("sum of run times", sum, usage - 10000, process_us);
	yajl_tree_free(snapshot);
}

/* A vfork parent waits in D; the state of the others is told right as well. */
static void test_states(void **state)
{
	const char *arguments[] = {"vfork=parent", "park=sleeper", "duty:99=runner", NULL};
	struct worker worker;
	struct worker_thread own[3];
	yajl_val snapshot;

	(void)state;
	test_worker_start(&worker, arguments);
	worker_report(&worker, own);
	worker_go(&worker, false);
	wait_for_state(worker.pid, own[0].tid, 'D');
	snapshot = capture_snapshot(worker.pid);
	assert_string_equal(json_text(snapshot_thread(snapshot, own[0].tid), "state"), "D");
	assert_string_equal(json_text(snapshot_thread(snapshot, own[1].tid), "state"), "S");
	yajl_tree_free(snapshot);
	worker_release(&worker);
	worker_end(&worker);
}

/*
 * Counts the threads of this pid namespace: the kernel's count for the whole host (sysinfo(2), threads since
 * Linux 2.3.23), or, outside of the initial namespace (include/linux/proc_ns.h), the sum over its processes.
 */
static double count_threads(void)
{
	char namespace[64] = "";
	struct dirent *entry;
	struct sysinfo info;
	double count = 0;
	DIR *proc;

	if (readlink("/proc/self/ns/pid", namespace, sizeof(namespace) - 1) > 0 &&
	    strcmp(namespace, "pid:[4026531836]") == 0 && sysinfo(&info) == 0)
		return info.procs;
	proc = opendir("/proc");
	assert_non_null(proc);
	while ((entry = readdir(proc)) != NULL) {
		char path[300], *text, *field;

		snprintf(path, sizeof(path), "/proc/%s/status", entry->d_name);
		text = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? read_file(path, NULL) : NULL;
		field = text != NULL ? strstr(text, "\nThreads:") : NULL;
		count += field != NULL ? strtod(field + strlen("\nThreads:"), NULL) : 0;
		free(text);
	}
	closedir(proc);
	return count;
}

/* The whole host: as many threads as the kernel counts, no thread twice, kernel threads marked. */
static void test_host(void **state)
{
	yajl_val snapshot = NULL, threads = NULL;
	uint64_t previous_tgid = 0;
	uint64_t previous_tid = 0;
	yajl_val kthreadd;

	(void)state;
	/* another test may start or end a thousand between the two readings */
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		double count;

		yajl_tree_free(snapshot);
		snapshot = capture_snapshot(0);
		threads = json_member(snapshot, "threads");
		assert_true(threads && YAJL_IS_ARRAY(threads));
		count = count_threads();
		measure_between(&measurement, "threads", (double)YAJL_GET_ARRAY(threads)->len, count * 0.8,
				count * 1.2 + 20);
	}
	for (size_t i = 0; i < YAJL_GET_ARRAY(threads)->len; i++) {
		yajl_val thread = YAJL_GET_ARRAY(threads)->values[i];
		uint64_t tgid = json_u64(thread, "tgid");
		uint64_t tid = json_u64(thread, "tid");

		assert_true(tgid > previous_tgid || (tgid == previous_tgid && tid > previous_tid));
		previous_tgid = tgid;
		previous_tid = tid;
	}
	kthreadd = snapshot_thread(snapshot, 2);
	if (kthreadd && strcmp(json_text(kthreadd, "comm"), "kthreadd") == 0)
		assert_true(YAJL_IS_TRUE(json_member(json_member(kthreadd, "ctop"), "kernel")));
	yajl_tree_free(snapshot);
}

/* --- the length of a window --- */

/* Nanoseconds from the beginning of a snapshot's window to its end. */
static uint64_t window_length(yajl_val snapshot)
{
	yajl_val ctop = json_member(snapshot, "ctop");

	return json_u64(ctop, "boottime_ns") - json_u64(json_member(ctop, "window"), "boottime_ns");
}

/* The first reading waits for unknown executables; the window begins after it. */
static void test_window_after_search(void **state)
{
	enum {
		COPIES = 25,
	};
	char path[256];
	char programs[COPIES][256], digits[COPIES][16], command[600];
	const char *arguments[2 * COPIES + 6] = {"capture", "-o", path, "--for", "0.25"};
	pid_t children[COPIES];
	yajl_val snapshot;
	struct run run;

	(void)state;
	snprintf(path, sizeof path, "%s", scratch_path("window.ctprof.zst"));
	for (size_t i = 0; i < COPIES; i++) {
		snprintf(programs[i], sizeof programs[i], "%s/sleep-%zu", scratch_path(""), i);
		snprintf(command, sizeof command, "cp \"$(command -v sleep)\" '%s'", programs[i]);
		assert_int_equal(system(command), 0);
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl(programs[i], programs[i], "600", NULL);
			_exit(127);
		}
		snprintf(digits[i], sizeof digits[i], "%d", children[i]);
		arguments[5 + 2 * i] = "-p";
		arguments[6 + 2 * i] = digits[i];
	}
	run_ctop_well(&run, arguments);
	run_release(&run);
	snapshot = load_snapshot(path);
	assert_true(window_length(snapshot) >= 250 * NS_PER_MS);
	yajl_tree_free(snapshot);
	for (size_t i = 0; i < COPIES; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
		unlink(programs[i]);
	}
	unlink(path);
}

/* Captures a window of `seconds` while ctop is stopped for longer. */
static yajl_val capture_stopped(int seconds, struct run *run)
{
	const char *path = scratch_path("window.ctprof.zst");
	char self[16], wanted[16];
	const char *const arguments[] = {CTOP_PROGRAM, "capture", "-o", path,        "--for",
					 wanted,       "-p",      self, "--no-heap", NULL};
	const struct run_options ordinary = {0};
	struct running running;
	yajl_val snapshot;

	snprintf(self, sizeof self, "%d", getpid());
	snprintf(wanted, sizeof wanted, "%d", seconds);
	run_start(&running, &ordinary, arguments);
	run_wait_for_rest(&running);
	/* the pause itself is what is tested */
	if (run_pause(&running))
		nanosleep(&(const struct timespec){.tv_sec = 2 * seconds}, NULL);
	run_continue(&running);
	run_finish(&running, run, &ordinary);
	run_expect(run, 0);
	snapshot = load_snapshot(path);
	unlink(path);
	return snapshot;
}

/* A window that is longer than requested is reported with the reason, also in its file. */
static void test_window_while_stopped(void **state)
{
	static const char cause[] = ": ctop was stopped, or got no CPU, for ";
	yajl_val snapshot, window;
	struct run run;

	(void)state;
	for (int seconds = 1;; seconds *= 2) {
		snapshot = capture_stopped(seconds, &run);
		/* without CPU time for the test, the stop may fall into a reading, or behind the window */
		if (strstr(run.errors, cause) != NULL || seconds == 8)
			break;
		yajl_tree_free(snapshot);
		run_release(&run);
	}
	window = json_member(json_member(snapshot, "ctop"), "window");
	assert_non_null(strstr(run.errors, "ctop: the window is "));
	assert_non_null(strstr(run.errors, cause));
	assert_true(window_length(snapshot) > 2 * NS_PER_S);
	assert_non_null(json_text(window, "note"));
	assert_non_null(strstr(run.errors, json_text(window, "note")));
	run_release(&run);
	yajl_tree_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_storage),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_run_queue),
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_shown),
		cmocka_unit_test(test_cut_names),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_pid_namespace),
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_window_after_search),
		cmocka_unit_test(test_window_while_stopped),
	};

	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
