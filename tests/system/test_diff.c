/* SPDX-License-Identifier: GPL-2.0-only */
/* Pairs of real captures around a known change: the report names that change, first and exactly. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "../cgroup.h"
#include "harness.h"

enum {
	CELL_BYTES = 512,
	FIELDS_MAX = 24,
};

/* Captures these processes (0 for none) into a file of the scratch directory. */
static const char *capture(const char *name, int first, int second)
{
	const char *path = scratch_path(name);
	char pids[2][16];
	const char *arguments[8] = {"capture", "-o", path};
	size_t count = 3;
	struct run run;

	snprintf(pids[0], sizeof pids[0], "%d", first);
	snprintf(pids[1], sizeof pids[1], "%d", second);
	if (first != 0) {
		arguments[count++] = "-p";
		arguments[count++] = pids[0];
	}
	if (second != 0) {
		arguments[count++] = "-p";
		arguments[count++] = pids[1];
	}
	run_ctop_well(&run, arguments);
	run_release(&run);
	return path;
}

/* `ctop diff BEFORE AFTER --format tsv --limit 0` and up to nine more words; NULL ends them. */
static void compare(struct run *run, int status, const char *before, const char *after,
		    const char *const *words)
{
	const char *arguments[16] = {"diff", before, after, "--format", "tsv", "--limit", "0"};
	size_t count = 7;

	while (*words && count < 15)
		arguments[count++] = *words++;
	run_ctop(run, NULL, arguments);
	run_expect(run, status);
}

/* A line of a report, cut into fields. */
struct row {
	char text[2048];
	char *fields[FIELDS_MAX];
	size_t count;
};

static const char *parse_row(const char *line, struct row *row)
{
	size_t length = strcspn(line, "\n");
	char *rest = row->text;

	assert_true(length < sizeof row->text);
	memcpy(row->text, line, length);
	row->text[length] = '\0';
	row->count = 0;
	while (rest && row->count < FIELDS_MAX)
		row->fields[row->count++] = strsep(&rest, "\t");
	return line[length] == '\n' ? line + length + 1 : NULL;
}

/* The first line behind "# SECTION" and its line of names, or NULL; `names` gets that. */
static const char *find_section(const char *output, const char *section, struct row *names)
{
	char wanted[64];
	const char *at;

	snprintf(wanted, sizeof wanted, "# %s\n", section);
	at = strstr(output, wanted);
	return at ? parse_row(at + strlen(wanted), names) : NULL;
}

static size_t column(const struct row *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->fields[i], name) == 0)
			return i;
	}
	fail_msg("no column '%s'", name);
	return 0;
}

/* A cell of the primary table; the test fails without such a row. In one of four static buffers. */
static const char *cell(const struct run *run, const char *group, const char *metric, const char *name)
{
	static char cells[4][CELL_BYTES];
	static size_t next;
	struct row names, row;
	const char *line = find_section(run->output, "primary", &names);

	assert_non_null(line);
	while (line && *line && *line != '#') {
		line = parse_row(line, &row);
		if (strcmp(row.fields[0], group) != 0 ||
		    strcmp(row.fields[column(&names, "metric")], metric) != 0)
			continue;
		next = (next + 1) % 4;
		snprintf(cells[next], CELL_BYTES, "%s", row.fields[column(&names, name)]);
		return cells[next];
	}
	fail_msg("no row '%s' '%s' in: %.3000s", group, metric, run->output);
	return NULL;
}

/* Group and metric of the first row of the primary table. */
static void expect_first(const struct run *run, const char *group, const char *metric)
{
	struct row names, row;
	const char *line = find_section(run->output, "primary", &names);

	assert_non_null(line);
	parse_row(line, &row);
	assert_string_equal(row.fields[0], group);
	if (metric)
		assert_string_equal(row.fields[column(&names, "metric")], metric);
}

static size_t count_rows(const struct run *run, const char *section, const char *group)
{
	struct row names, row;
	const char *line = find_section(run->output, section, &names);
	size_t count = 0;

	while (line && *line && *line != '#') {
		line = parse_row(line, &row);
		count += strcmp(row.fields[0], group) == 0;
	}
	return count;
}

static void test_pool_that_grows(void **state)
{
	const char *idle_arguments[] = {"--process", "idle", "park=still-0", "park=still-1", NULL};
	const char *grow_arguments[] = {"--process", "grower", "grow:8=crew-0", "park=other", NULL};
	const char *before, *after;
	struct worker idle, grower;
	struct run run;

	(void)state;
	test_worker_start(&idle, idle_arguments);
	if (!test_worker_try(&grower, grow_arguments)) {
		worker_end(&idle);
		skip();
	}
	before = capture("grow-1.ctprof.zst", idle.pid, grower.pid);
	worker_go(&grower, true);
	after = capture("grow-2.ctprof.zst", idle.pid, grower.pid);
	worker_end(&grower);
	worker_end(&idle);

	compare(&run, 0, before, after,
		(const char *[]){"-g", "thread-exact", "--metrics", "thread_count", NULL});
	expect_first(&run, "crew-0", "thread_count");
	assert_string_equal(cell(&run, "crew-0", "thread_count", "threads"), "1→9");
	assert_string_equal(cell(&run, "crew-0", "thread_count", "delta"), "+8");
	assert_string_equal(cell(&run, "crew-0", "thread_count", "same"), "1");
	assert_string_equal(cell(&run, "crew-0", "thread_count", "came"), "8");
	assert_string_equal(cell(&run, "crew-0", "thread_count", "went"), "0");
	assert_string_equal(cell(&run, "still-0", "thread_count", "delta"), "+0");
	run_release(&run);
	/* over all rows: parked threads do not move, the first rows are the process that changed */
	compare(&run, 0, before, after, (const char *[]){"-g", "process", "--match", "thread", NULL});
	expect_first(&run, "grower", NULL);
	assert_string_equal(cell(&run, "idle", "run_time_ns", "went"), "0");
	assert_int_equal(count_rows(&run, "threads-came", "grower"), 8);
	assert_int_equal(count_rows(&run, "threads-went", "grower"), 0);
	run_release(&run);
}

/* With delay accounting the wait itself, else the bytes read meanwhile, exactly. */
static void test_group_that_waits_for_storage(void **state)
{
	const char *arguments[] = {"read:16=reader-0", "read:16=reader-1", "park=still", NULL};
	const char *before, *after;
	struct worker worker;
	struct worker_thread own[3];
	yajl_val snapshot, thread;
	char expected[64];
	bool has_delays;
	struct run run;

	(void)state;
	test_worker_start(&worker, arguments);
	before = capture("wait-1.ctprof.zst", worker.pid, 0);
	worker_go(&worker, true);
	worker_report(&worker, own);
	after = capture("wait-2.ctprof.zst", worker.pid, 0);
	snapshot = load_snapshot(after);
	thread = snapshot_thread(snapshot, own[0].tid);
	has_delays = !missing_reason(snapshot, thread, "delays") &&
		     !missing_reason(snapshot, thread, "blkio_delay_total_ns");
	yajl_tree_free(snapshot);
	worker_end(&worker);

	compare(&run, 0, before, after,
		(const char *[]){"-g", "thread", "--match", "thread", "--metrics",
				 "read_bytes,write_bytes,blkio_delay_total_ns,thread_count", NULL});
	expect_first(&run, "reader-{N}", NULL);
	snprintf(expected, sizeof expected, "+%.3fMiB",
		 (double)(own[0].storage_read_bytes + own[1].storage_read_bytes) / 1048576);
	assert_string_equal(cell(&run, "reader-{N}", "read_bytes", "delta"), expected);
	assert_string_equal(cell(&run, "reader-{N}", "read_bytes", "same"), "2");
	assert_string_equal(cell(&run, "still", "read_bytes", "delta"), "+0B");
	if (has_delays)
		assert_int_equal(cell(&run, "reader-{N}", "blkio_delay_total_ns", "delta")[0], '+');
	else
		assert_string_equal(cell(&run, "reader-{N}", "blkio_delay_total_ns", "delta"), "·");
	run_release(&run);
	/* the same as a rule, and one whose number cannot be known */
	compare(&run, 3, before, after,
		(const char *[]){"-g", "thread", "--fail-if", "read_bytes(reader-*) > 1MiB", "--fail-if",
				 "read_bytes(still) > 0", NULL});
	snprintf(expected, sizeof expected, "reader-{N} changed by +%.1fM",
		 (double)(own[0].storage_read_bytes + own[1].storage_read_bytes) / 1048576);
	assert_non_null(strstr(run.errors, "rule broken: read_bytes(reader-*) > 1MiB: "));
	assert_non_null(strstr(run.errors, expected));
	assert_null(strstr(run.errors, "read_bytes(still)"));
	run_release(&run);
	/* a percentage of what they did in their lives says nothing of what they do */
	compare(&run, 2, before, after,
		(const char *[]){"-g", "thread", "--fail-if", "read_bytes(reader-*) > 20%", NULL});
	assert_non_null(strstr(run.errors, "capture --for 10"));
	run_release(&run);
	if (!has_delays) {
		compare(&run, 4, before, after,
			(const char *[]){"-g", "thread", "--fail-if", "blkio_delay_total_ns(reader-*) > 1s",
					 NULL});
		assert_non_null(strstr(run.errors, "reader-{N} cannot be judged: unavailable in before"));
		run_release(&run);
		skip_test("delay accounting is off or not in this kernel: the wait itself is not known");
	}
}

/* A pool that is restarted has lost what the old threads had counted: that is no fall of what it does. */
static void test_pool_that_is_restarted(void **state)
{
	const char *first_arguments[] = {"burst:30=ctopcrew-0", "burst:30=ctopcrew-1", "burst:30=ctopcrew-2",
					 NULL};
	const char *second_arguments[] = {"burst:1=ctopcrew-0", "burst:1=ctopcrew-1", "burst:1=ctopcrew-2",
					  "burst:1=ctopcrew-3", NULL};
	const char *before, *after;
	struct worker worker;
	struct run run;

	(void)state;
	test_worker_start(&worker, first_arguments);
	worker_go(&worker, true);
	before = capture("restart-1.ctprof.zst", 0, 0);
	worker_end(&worker);
	test_worker_start(&worker, second_arguments);
	worker_go(&worker, true);
	after = capture("restart-2.ctprof.zst", 0, 0);
	worker_end(&worker);

	compare(&run, 0, before, after, (const char *[]){"-g", "thread", "--match", "group", NULL});
	assert_int_equal(cell(&run, "ctopcrew-{N}", "run_time_ns", "delta")[0], '-');
	assert_string_equal(cell(&run, "ctopcrew-{N}", "run_time_ns", "threads"), "3→4");
	assert_string_equal(cell(&run, "ctopcrew-{N}", "run_time_ns", "same"), "0");
	assert_string_equal(cell(&run, "ctopcrew-{N}", "run_time_ns", "came"), "4");
	assert_string_equal(cell(&run, "ctopcrew-{N}", "run_time_ns", "went"), "3");
	run_release(&run);
	/* what the threads did in between is what is asked for where nothing else is */
	compare(&run, 0, before, after,
		(const char *[]){"-g", "thread", "--per", "second", "--per", "thread", NULL});
	assert_int_equal(cell(&run, "ctopcrew-{N}", "run_time_ns", "delta")[0], '+');
	assert_int_equal(cell(&run, "ctopcrew-{N}", "run_time_ns", "per-second")[0], '+');
	assert_int_equal(count_rows(&run, "threads-came", "ctopcrew-{N}"), 4);
	assert_int_equal(count_rows(&run, "threads-went", "ctopcrew-{N}"), 3);
	assert_non_null(strstr(run.errors, "what they did since before is not known"));
	run_release(&run);
	/* backwards it is no report to trust, and by threads none at all */
	compare(&run, 0, after, before, (const char *[]){"-g", "thread", NULL});
	assert_non_null(strstr(run.errors, "warning: after is the older capture"));
	run_release(&run);
	compare(&run, 2, after, before, (const char *[]){"--match", "thread", NULL});
	assert_non_null(strstr(run.errors, "the second capture is the older one"));
	run_release(&run);
}

static void move_process(int pid, const char *directory)
{
	char path[400];
	FILE *file;

	snprintf(path, sizeof path, "%s/cgroup.procs", directory);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%d\n", pid);
	assert_int_equal(fclose(file), 0);
}

/* Twelve types of threads in a cgroup that has another name later. */
static void test_cgroup_that_is_renamed(void **state)
{
	char mount[256], old[300], new[300];
	const char *arguments[] = {"--cgroup",   old,          "park=accept", "park=batch",  "park=cache",
				   "park=drain", "park=event", "park=flush",  "park=gather", "park=hand",
				   "park=input", "park=join",  "park=keep",   "park=listen", NULL};
	const char *before, *after;
	struct worker worker;
	struct row names, row;
	struct run run;

	(void)state;
	if (!find_cgroup2(mount))
		skip_test("no cgroup v2 mount");
	snprintf(old, sizeof old, "%s/ctop-old-%d", mount, getpid());
	snprintf(new, sizeof new, "%s/ctop-new-%d", mount, getpid());
	if (test_cgroup_make(old) < 0)
		skip_test("%s", strerror(errno));
	if (test_cgroup_make(new) < 0 || !test_worker_try(&worker, arguments)) {
		test_cgroup_remove(old);
		test_cgroup_remove(new);
		skip();
	}
	before = capture("rename-1.ctprof.zst", worker.pid, 0);
	move_process(worker.pid, new);
	after = capture("rename-2.ctprof.zst", worker.pid, 0);
	worker_end(&worker);
	test_cgroup_remove(old);
	test_cgroup_remove(new);

	compare(&run, 0, before, after, (const char *[]){"--match", "group", NULL});
	assert_non_null(find_section(run.output, "renamed-cgroups", &names));
	parse_row(find_section(run.output, "renamed-cgroups", &names), &row);
	assert_non_null(strstr(row.fields[column(&names, "before")], "/ctop-old-{N}"));
	assert_non_null(strstr(row.fields[column(&names, "after")], "/ctop-new-{N}"));
	assert_string_equal(row.fields[column(&names, "jaccard")], "100.0%");
	/* no group is on one side only */
	assert_null(strstr(run.output, "-→"));
	assert_null(strstr(run.output, "→-"));
	run_release(&run);
	/* thread by thread it is no riddle: they have moved */
	compare(&run, 0, before, after, (const char *[]){"-g", "cgroup", "--match", "thread", NULL});
	assert_null(strstr(run.output, "# renamed-cgroups"));
	assert_null(strstr(run.output, "# threads-"));
	assert_non_null(strstr(run.output, "/ctop-new-{N}\t13\t13\t0\t0\tthread_count\t"));
	run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool_that_grows),
		cmocka_unit_test(test_group_that_waits_for_storage),
		cmocka_unit_test(test_pool_that_is_restarted),
		cmocka_unit_test(test_cgroup_that_is_renamed),
	};

	return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
