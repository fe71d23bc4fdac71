/* SPDX-License-Identifier: GPL-2.0-only */
/* Surroundings that are not kind: no privilege, a full disk, a reader that goes away, a terminal nobody
 * knows. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../measure.h"
#include "harness.h"

#define NOBODY 65534

/* Without privilege the capture works; what another user's thread denies is told, never shown as zero. */
static void test_not_root(void **state)
{
	struct run_options options = {.user = NOBODY};
	const char *path = scratch_path("nobody/capture");
	struct run run;
	yajl_val snapshot;
	yajl_val own;

	(void)state;
	need_to_become_nobody();
	assert_int_equal(mkdir(scratch_path("nobody"), 0777), 0);
	assert_int_equal(chmod(scratch_path("nobody"), 0777), 0);
	run_ctop(&run, &options, (const char *[]){"capture", "-o", path, NULL});
	run_expect(&run, 0);
	run_release(&run);
	snapshot = load_snapshot(path);
	own = snapshot_thread(snapshot, getpid());
	assert_non_null(own);
	assert_non_null(missing_reason(snapshot, own, "io"));
	assert_string_equal(missing_reason(snapshot, own, "io"), "not-permitted");
	assert_non_null(missing_reason(snapshot, own, "taskstats"));
	assert_true(YAJL_IS_FALSE(json_member(own, "taskstats_measured")));
	assert_true(json_u64(own, "run_time_ns") > 0);
	yajl_tree_free(snapshot);
	run_ctop(&run, &options,
		 (const char *[]){"show", path, "-g", "thread-exact", "--metrics", "read_bytes", "--format",
				  "tsv", "--limit", "0", NULL});
	run_expect(&run, 0);
	assert_non_null(strstr(run.output, "\xc2\xb7"));
	run_release(&run);
}

static void test_doctor_not_root(void **state)
{
	struct run_options options = {.user = NOBODY};
	yajl_val parsed;
	struct run run;

	(void)state;
	need_to_become_nobody();
	run_ctop(&run, &options, (const char *[]){"doctor", NULL});
	run_expect(&run, 0);
	assert_non_null(strstr(run.output, "taskstats"));
	assert_non_null(strstr(run.output, "not permitted"));
	assert_non_null(strstr(run.output, "setcap"));
	run_release(&run);
	run_ctop(&run, &options, (const char *[]){"doctor", "--format", "json", NULL});
	run_expect(&run, 0);
	parsed = yajl_tree_parse(run.output, NULL, 0);
	assert_non_null(parsed);
	yajl_tree_free(parsed);
	run_release(&run);
}

static void test_batch_not_root(void **state)
{
	struct run_options options = {.user = NOBODY};
	struct run run;

	(void)state;
	need_to_become_nobody();
	run_ctop(&run, &options, (const char *[]){"-b", "-n", "1", "-d", "0.1", NULL});
	run_expect(&run, 0);
	assert_true(run.output_length > 0);
	assert_null(strchr(run.output, '\033'));
	run_release(&run);
}

/*
 * Memory for ended threads is bounded, whatever their names: peak memory of a short and of a long run.
 */
static void test_bounded_memory(void **state)
{
	static const char *const program[] = {LOAD_PROGRAM, "2", "4", "--churn", "2000", "--new-names", NULL};
	static const char *const rounds[] = {"15", "90"};
	int64_t peak_kib[2];
	struct helper load;
	struct run run;

	(void)state;
	helper_start(&load, program, 0);
	helper_expect(&load, "ready");
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		for (size_t i = 0; i < 2; i++) {
			run_ctop_well(&run, (const char *[]){"-b", "-d", "0.1", "-n", rounds[i], "-g",
							     "thread-exact", "--format", "tsv", NULL});
			peak_kib[i] = run.peak_memory_kib;
			run_release(&run);
		}
		measure_between(&measurement, "peak memory of the long run, KiB", (double)peak_kib[1], 0,
				(double)peak_kib[0] * 2);
	}
	helper_end(&load);
}

/* A tiny file system in a mount namespace of its own, filled to the last block. */
static bool mount_tiny(const char *directory)
{
	return mkdir(directory, 0755) == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tiny", directory, "tmpfs", 0, "size=16k,nr_inodes=10") == 0;
}

static void fill(const char *directory)
{
	static const char block[4096];
	char path[300];
	int file;

	snprintf(path, sizeof path, "%s/filler", directory);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(file, block, sizeof block) > 0)
		;
	assert_int_equal(errno, ENOSPC);
	close(file);
}

static void check_full_disk(const char *const *arguments, const char *directory, const char *path)
{
	size_t length;
	struct run run;
	char *kept;

	write_file(path, "as it was\n", 10);
	fill(directory);
	run_ctop(&run, NULL, arguments);
	run_expect(&run, 1);
	assert_non_null(strstr(run.errors, "No space left"));
	assert_non_null(strstr(run.errors, "kept"));
	run_release(&run);
	kept = read_file(path, &length);
	assert_non_null(kept);
	assert_int_equal(length, 10);
	assert_string_equal(kept, "as it was\n");
	free(kept);
	run_program(&run, NULL, (const char *[]){"/bin/ls", "-A", directory, NULL});
	assert_string_equal(run.output, "filler\nkept\n");
	run_release(&run);
}

static void test_full_disk(void **state)
{
	const char *directory = scratch_path("tiny");
	char path[300];
	const char *snapshot = scratch_path("whole.ctprof.zst");
	struct run run;

	(void)state;
	run_ctop_well(&run, (const char *[]){"capture", "-o", snapshot, NULL});
	run_release(&run);
	if (!mount_tiny(directory))
		skip_test("no right to mount a tmpfs");
	snprintf(path, sizeof path, "%s/kept", directory);
	check_full_disk((const char *[]){"capture", "-o", path, NULL}, directory, path);
	check_full_disk((const char *[]){"show", snapshot, "--limit", "0", "-o", path, NULL}, directory,
			path);
	umount(directory);
}

/*
 * Runs `command` in a shell whose reader takes one byte and leaves: it is ended by SIGPIPE, unless all that
 * it writes may fit into the pipe.
 */
static void check_quiet_pipe(const char *arguments, bool may_fit)
{
	const char *errors = scratch_path("pipe.errors"), *status = scratch_path("pipe.errors.status");
	char command[2048];
	size_t length;
	char *text;
	struct run run;

	snprintf(command, sizeof command,
		 "{ { '%s' %s; echo $? >'%s.status'; } 2>'%s' | head -c 1 >/dev/null; }", CTOP_PROGRAM,
		 arguments, errors, errors);
	run_program(&run, NULL, (const char *[]){"/bin/sh", "-c", command, NULL});
	run_release(&run);
	text = read_file(errors, &length);
	assert_non_null(text);
	assert_string_equal(text, "");
	free(text);
	text = read_file(status, &length);
	assert_non_null(text);
	if (!may_fit || strcmp(text, "0\n") != 0)
		assert_string_equal(text, "141\n");
	free(text);
}

static void test_broken_pipe(void **state)
{
	const char *snapshot = scratch_path("pipe.ctprof.zst");
	char arguments[512];
	struct run run;

	(void)state;
	run_ctop_well(&run, (const char *[]){"capture", "-o", snapshot, NULL});
	run_release(&run);
	snprintf(arguments, sizeof arguments, "show '%s' --limit 0 --format json", snapshot);
	check_quiet_pipe(arguments, true);
	snprintf(arguments, sizeof arguments, "show '%s' --limit 0", snapshot);
	check_quiet_pipe(arguments, true);
	/* no round is due, and so none late, which would be said, before the reader has left */
	check_quiet_pipe("-b -n 50 -d 3600 --mode total --format tsv", false);
}

/* A full disk behind standard output is no success. */
static void test_full_standard_output(void **state)
{
	const char *snapshot = scratch_path("full.ctprof.zst");
	char show[512];
	const char *const commands[] = {show, "metrics", "doctor", "-b -n 1 -d 0.1"};
	struct run run;

	(void)state;
	if (access("/dev/full", W_OK) < 0)
		skip_test("no /dev/full");
	snprintf(show, sizeof show, "show '%s' --limit 0", snapshot);
	run_ctop_well(&run, (const char *[]){"capture", "-o", snapshot, NULL});
	run_release(&run);
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		char command[1024];

		snprintf(command, sizeof command, "exec '%s' %s >/dev/full", CTOP_PROGRAM, commands[i]);
		run_program(&run, NULL, (const char *[]){"/bin/sh", "-c", command, NULL});
		run_expect(&run, 1);
		assert_non_null(strstr(run.errors, "No space left"));
		run_release(&run);
	}
}

/* With too few descriptors processes would be missing without a word. */
static void test_few_descriptors(void **state)
{
	static const struct {
		const char *limit;
		const char *arguments;
		int status;
		size_t times; /* threads may ask for the last descriptors in another order each time */
	} cases[] = {
		{"16", "-b -n 1 -d 0.1", 1, 1},
		{"40", "-b -n 1 -d 0.1", 0, 10},
		{"16", "metrics", 0, 1},
	};
	struct run run;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char command[512];

		snprintf(command, sizeof command, "ulimit -n %s; exec '%s' %s", cases[i].limit, CTOP_PROGRAM,
			 cases[i].arguments);
		for (size_t k = 0; k < cases[i].times; k++) {
			run_program(&run, NULL, (const char *[]){"/bin/sh", "-c", command, NULL});
			run_expect(&run, cases[i].status);
			if (cases[i].status)
				assert_non_null(strstr(run.errors, "ulimit -n"));
			run_release(&run);
		}
	}
}

/* A capture never fails because threads end while they are read. */
static void test_threads_that_end(void **state)
{
	yajl_val snapshot;
	yajl_val threads;
	struct run run;
	char command[1024];

	(void)state;
	snprintf(command, sizeof command,
		 "'%s' 2 4 --churn 3000 --life-ms 5 --seconds 6 >/dev/null & load=$!; status=0;"
		 "for round in 1 2 3 4 5; do '%s' capture -o '%s' || status=1; done;"
		 "'%s' -b -n 5 -d 0.1 --format json >/dev/null || status=1; kill $load; wait $load; exit "
		 "$status",
		 LOAD_PROGRAM, CTOP_PROGRAM, scratch_path("churn.ctprof.zst"), CTOP_PROGRAM);
	run_program(&run, NULL, (const char *[]){"/bin/sh", "-c", command, NULL});
	run_expect(&run, 0);
	run_release(&run);
	/* a thread without a name is a ghost: it ended while it was read, and is not written */
	snapshot = load_snapshot(scratch_path("churn.ctprof.zst"));
	threads = json_member(snapshot, "threads");
	for (size_t i = 0; i < YAJL_GET_ARRAY(threads)->len; i++) {
		yajl_val thread = YAJL_GET_ARRAY(threads)->values[i];

		assert_false(json_text(thread, "comm")[0] == '\0' &&
			     json_u64(thread, "start_time_clock_ticks") == 0);
	}
	yajl_tree_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_root),
		cmocka_unit_test(test_doctor_not_root),
		cmocka_unit_test(test_batch_not_root),
		cmocka_unit_test(test_broken_pipe),
		cmocka_unit_test(test_full_standard_output),
		cmocka_unit_test(test_few_descriptors),
		cmocka_unit_test(test_threads_that_end),
		cmocka_unit_test(test_bounded_memory),
		cmocka_unit_test(test_full_disk), /* last: it changes the mount namespace */
	};

	return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
