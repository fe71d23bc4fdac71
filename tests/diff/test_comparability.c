/* SPDX-License-Identifier: GPL-2.0-only */
/* The banner of a comparison: what keeps two captures from being compared, and their facts side by side. */
#include <stdio.h>
#include <string.h>

#include "cmocka_include.h"
#include "compare/comparability.h"
#include "pair_fixture.h"
#include "scx_fixture.h"
#include "snapshot/capture_facts.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct pair_thread threads[] = {
	{"/pod", "app", "worker-1", 10, 10, 500, 1000000, 5000, 100, REASON_READ},
	{"/pod", "app", "worker-2", 10, 11, 500, 2000000, 0, 100, REASON_READ},
};

static struct snapshot *side[2];

static int make_sides(void **state)
{
	(void)state;
	side[0] = pair_snapshot(PAIR_BEFORE_S, threads, COUNT(threads));
	side[1] = pair_snapshot(PAIR_BEFORE_S + PAIR_INTERVAL_S, threads, COUNT(threads));
	return 0;
}

static int release_sides(void **state)
{
	(void)state;
	snapshot_release(side[0]);
	snapshot_release(side[1]);
	return 0;
}

/* The rows as lines. */
static const char *rows(void)
{
	static char lines[8192];
	struct comparability *comparability = comparability_create(side[0], side[1]);

	lines[0] = '\0';
	for (size_t i = 0; i < comparability->count; i++) {
		const struct comparability_row *row = &comparability->rows[i];
		const size_t length = strlen(lines);

		snprintf(lines + length, sizeof(lines) - length, "%s %s: %s\n",
			 comparability_severity_names[row->severity], row->id, row->text);
	}
	comparability_release(comparability);
	return lines;
}

static void expect_row(const char *row)
{
	if (strstr(rows(), row) == NULL)
		fail_msg("no '%s' in:\n%s", row, rows());
}

static void test_like_captures(void **state)
{
	(void)state;
	assert_string_equal(rows(), "note interval: there are 10 s between the captures\n");
	assert_int_equal(comparability_interval(side[0], side[1]), 10000000000);
	assert_true(comparability_same_boot(side[0], side[1]));
}

static void test_order(void **state)
{
	struct snapshot *first = side[0];

	(void)state;
	side[0] = side[1];
	side[1] = first;
	assert_int_equal(comparability_interval(side[0], side[1]), -10000000000);
	expect_row("warning swapped-order: after is the older capture, by 10 s: what grew looks as if it "
		   "shrank");
	/* the boot's clock counts, not that on the wall */
	side[0]->captured_at_unix_ns = 1;
	expect_row("warning swapped-order: ");
	side[0]->captured_at_unix_ns = side[1]->captured_at_unix_ns;
	side[0]->provenance.boottime_ns = side[1]->provenance.boottime_ns;
	expect_row("warning same-capture: ");
}

static void test_boot_and_host(void **state)
{
	(void)state;
	side[1]->provenance.boot_id = "other";
	side[1]->provenance.boottime_ns = 5;
	assert_false(comparability_same_boot(side[0], side[1]));
	assert_string_equal(rows(),
			    "warning other-boot: other boot: the counters started again from zero, so "
			    "this compares two lifetimes, not growth\n"
			    "note interval: there are 10 s between the captures by the wall clock\n");
	side[1]->provenance.hostname = "second";
	side[1]->host.kernel_release = "6.18.2";
	expect_row("warning other-host: other host, first in before and second in after: differences between "
		   "the hosts "
		   "count as changes, threads are not matched, and counters count since the start of each: ");
	assert_true(comparability_other_host(side[0], side[1]));
	expect_row("warning other-kernel: other kernel, Linux 6.12.1 in before and Linux 6.18.2 in after");
	assert_null(strstr(rows(), "other-boot"));
	side[1]->provenance.boot_id = NULL;
	assert_false(comparability_same_boot(side[0], side[1]));
	/* their clocks tell neither an order nor that they are the same */
	side[1]->captured_at_unix_ns = side[0]->captured_at_unix_ns - 2000000000;
	expect_row("note interval: 2 s lie between the captures by the clocks of the two hosts");
	assert_null(strstr(rows(), "swapped-order"));
	side[1]->captured_at_unix_ns = side[0]->captured_at_unix_ns;
	assert_null(strstr(rows(), "same-capture"));
}

static void test_host_context(void **state)
{
	struct text_pair governors[] = {{"0", "powersave"}, {"1", "performance"}, {"2", "powersave"}};
	struct text_pair tunable = {"latency_ns", "3000000"};
	struct capture_facts *facts;

	(void)state;
	side[0]->host.cpu_model = "A";
	side[1]->host.cpu_model = "B";
	side[1]->host.cpu_vendor = "known to one only";
	side[0]->host.online_cpus = (struct optional_u64){4, true};
	side[1]->host.online_cpus = (struct optional_u64){8, true};
	side[0]->host.cpufreq_governor = (struct text_pairs){true, governors, 3};
	side[1]->host.sched_tunables = (struct text_pairs){true, &tunable, 1};
	expect_row("note host-context: the host has changed: CPU model, CPUs online differ\n");
	facts = capture_facts_create(side[0], side[1]);
	assert_string_equal(capture_facts_find(facts, "CPU governor")->value[0],
			    "powersave on 2 CPUs, performance on 1 CPU");
	assert_null(capture_facts_find(facts, "CPU governor")->value[1]);
	assert_true(capture_facts_find(facts, "CPU governor")->differs);
	assert_string_equal(capture_facts_find(facts, "tunable latency_ns")->value[1], "3000000");
	assert_false(capture_facts_find(facts, "kernel")->differs);
	assert_string_equal(capture_facts_find(facts, "not readable")->value[0], "nothing");
	assert_null(capture_facts_find(facts, "NUMA nodes"));
	capture_facts_release(facts);
}

static void test_schedulers(void **state)
{
	struct capture_facts *facts;

	(void)state;
	scx_fixture_begin(side[1], "made_1.2", 1, NULL);
	expect_row(
		"warning missing-scheduler: what sched_ext scheduler made_1.2 keeps for threads was read in "
		"after only: its fields have no change\n");
	side[0]->sched_ext = (struct sched_ext){.present = true, .state = "disabled"};
	expect_row(
		"warning other-scheduler: sched_ext scheduler made_1.2 in after and none in before: threads "
		"were scheduled by other rules, and its fields have no change\n");
	scx_fixture_begin(side[0], "made_1.1", 1, NULL);
	expect_row("warning other-scheduler: other sched_ext scheduler, made_1.1 in before and made_1.2 in "
		   "after: a field of one name may mean something else\n");
	facts = capture_facts_create(side[0], side[1]);
	assert_string_equal(capture_facts_find(facts, "sched_ext scheduler")->value[0], "made_1.1");
	assert_true(capture_facts_find(facts, "sched_ext scheduler")->differs);
	capture_facts_release(facts);
	scx_fixture_begin(side[0], "made_1.2", 1, "fresh");
	expect_row("warning other-scheduler-types: sched_ext scheduler made_1.2 keeps something else for "
		   "threads "
		   "in before and in after");
	scx_fixture_begin(side[0], "made_1.2", 2, NULL);
	expect_row(
		"warning other-scheduler-run: sched_ext scheduler made_1.2 was started again in between: its "
		"counters began again from zero\n");
	side[1]->provenance.boot_id = "other"; /* which says as much */
	assert_null(strstr(rows(), "other-scheduler-run"));
	side[1]->provenance.boot_id = side[0]->provenance.boot_id;
	scx_fixture_begin(side[0], "made_1.2", 1, NULL);
	assert_string_equal(rows(), "note interval: there are 10 s between the captures\n");
	/* a writer that knows nothing of schedulers is named as such */
	task_fields_release(&side[0]->task_fields);
	side[0]->provenance.present = false;
	assert_null(strstr(rows(), "scheduler"));
}

static void test_features(void **state)
{
	(void)state;
	side[0]->provenance.features[FEATURE_DELAYS] = (struct feature_result){.state = FEATURE_STATE_OFF,
									       .reason = REASON_SWITCHED_OFF};
	side[0]->default_reason[SOURCE_DELAYS] = REASON_SWITCHED_OFF;
	assert_string_equal(rows(),
			    "warning missing-feature: delay accounting: off in before (switched off), "
			    "so delays have no change\n"
			    "note interval: there are 10 s between the captures\n");
	/* the outermost one is told of alone */
	side[0]->provenance.features[FEATURE_TASKSTATS] = (struct feature_result){
		.state = FEATURE_STATE_OFF, .reason = REASON_NOT_PERMITTED};
	expect_row("taskstats messages: off in before (not permitted)");
	assert_null(strstr(rows(), "delay accounting"));
	/* what is off in both is no difference */
	side[1]->provenance.features[FEATURE_TASKSTATS].state = FEATURE_STATE_OFF;
	side[1]->provenance.features[FEATURE_DELAYS].state = FEATURE_STATE_OFF;
	assert_null(strstr(rows(), "missing-feature"));
}

static void test_sources(void **state)
{
	(void)state;
	side[1]->default_reason[SOURCE_SCHED] = REASON_NOT_IN_KERNEL;
	side[1]->default_reason[SOURCE_SCHEDSTATS] = REASON_NOT_IN_KERNEL;
	expect_row("warning missing-source: sched was not read in after (not in this kernel): ");
	assert_null(strstr(rows(), "schedstats was"));
	/* files of earlier versions lack what threads wait for, from which nothing is counted */
	side[0]->default_reason[SOURCE_WAIT] = REASON_NOT_IN_FILE;
	assert_null(strstr(rows(), "wait was"));
}

static void test_rights(void **state)
{
	const char *some[] = {"net_admin", "sys_ptrace", "syslog"};

	(void)state;
	side[1]->provenance.capabilities = some;
	side[1]->provenance.capability_count = 3;
	side[0]->provenance.capabilities = some + 2;
	side[0]->provenance.capability_count = 1;
	side[0]->provenance.uid.value = 1000;
	expect_row("warning other-user: other user, uid 1000 before and uid 0 after");
	expect_row("warning other-capabilities: before was captured without net_admin, sys_ptrace: ");
	assert_null(strstr(rows(), "after was captured without"));
	/* one that gives as much is no difference, nor is one that lets nothing be read */
	some[0] = "dac_read_search";
	some[1] = "chown";
	some[2] = "dac_override";
	assert_null(strstr(rows(), "other-capabilities"));
}

static void test_namespaces(void **state)
{
	(void)state;
	side[0]->provenance.namespaces[NAMESPACE_PID] = 4026531836;
	side[1]->provenance.namespaces[NAMESPACE_PID] = 4026532200;
	side[0]->provenance.namespaces[NAMESPACE_MNT] = 4026531832;
	side[1]->provenance.namespaces[NAMESPACE_MNT] = 4026532201;
	expect_row("warning other-namespace: other pid namespace: ");
	expect_row("warning other-namespace: other mnt namespace: ");
	/* across boots only a first namespace has a number that means something */
	side[1]->provenance.boot_id = "other";
	expect_row("warning other-namespace: other pid namespace: ");
	assert_null(strstr(rows(), "mnt namespace"));
	side[0]->provenance.namespaces[NAMESPACE_PID] = 4026532199;
	assert_null(strstr(rows(), "other-namespace"));
}

static void test_scope(void **state)
{
	uint32_t scope[] = {12, 13};

	(void)state;
	side[0]->provenance.scope = scope;
	side[0]->provenance.scope_count = 2;
	side[0]->provenance.roots[ROOT_CGROUP] = "/a";
	side[1]->provenance.roots[ROOT_CGROUP] = "/b";
	expect_row("warning other-scope: other scope (-p), processes 12 13 in before and all processes in "
		   "after");
	expect_row("warning other-root: other cgroup root, /a in before and /b in after");
}

static void test_other_writers(void **state)
{
	(void)state;
	side[1]->provenance.program = "ctop 9.0.0";
	expect_row("note other-program: written by ctop 0.1.0 and by ctop 9.0.0");
	side[0]->provenance = (struct provenance){0};
	side[1]->thread_flags[1] = THREAD_TASKSTATS_MEASURED | THREAD_XACCT_ACTIVE;
	expect_row("warning no-provenance: before was written by another program: ");
	expect_row(
		"warning not-measured: no thread of before had its delays and highest memory use measured");
	side[1]->provenance = (struct provenance){0};
	side[0]->thread_flags[0] = THREAD_TASKSTATS_MEASURED;
	expect_row("note no-provenance: neither file records ");
	expect_row("warning not-measured: no thread of before had its highest memory use measured");
	expect_row("note interval: there are 10 s between the captures by the wall clock");
}

static void test_generations(void **state)
{
	(void)state;
	side[0]->format_notes = "the file is of an older generation: it lacks a";
	expect_row(
		"warning other-generation: other generation of the format, before: the file is of an older "
		"generation: it lacks a\n");
	side[1]->format_notes = "the file is of an older generation: it lacks a";
	assert_null(strstr(rows(), "other-generation"));
	side[1]->format_notes = "the file is of an older generation: it lacks b";
	expect_row("format, before: ");
	expect_row("format, after: ");
}

static void test_empty(void **state)
{
	(void)state;
	snapshot_release(side[0]);
	side[0] = pair_snapshot(PAIR_BEFORE_S, NULL, 0);
	expect_row("warning empty: before has no threads: every group looks new");
}

/* The rows of two sets of runs; the first runs of both sides are `side`, with another capture of each. */
static void expect_of_sets(struct snapshot *others[2], const char *wanted, bool is_there)
{
	static const char *const names[2][2] = {{"a1", "a2"}, {"b1", "b2"}};
	const struct snapshot *runs[2][2] = {{side[0], others[0]}, {side[1], others[1]}};
	const struct comparability_set sets[DIFF_SIDE_COUNT] = {{runs[0], names[0], 2},
								{runs[1], names[1], 2}};
	struct comparability *comparability = comparability_create_of_sets(sets);
	bool found = false;

	for (size_t i = 0; i < comparability->count; i++)
		found |= strstr(comparability->rows[i].text, wanted) != NULL;
	if (found != is_there)
		fail_msg("'%s' is %s", wanted, found ? "there" : "not there");
	comparability_release(comparability);
}

/* Each run is named once, however many are the same capture. */
static void test_copies(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	const struct snapshot *runs[] = {side[0], side[0], side[0], side[0]};
	const struct comparability_set sets[DIFF_SIDE_COUNT] = {{runs, names, 2}, {runs + 2, names + 2, 2}};
	struct comparability *comparability = comparability_create_of_sets(sets);
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < comparability->count; i++)
		count += strcmp(comparability->rows[i].id, "same-run") == 0;
	assert_int_equal(count, 3);
	assert_non_null(strstr(comparability->rows[0].text, "a and b are the same capture"));
	assert_non_null(strstr(comparability->rows[2].text, "a and d are the same capture"));
	comparability_release(comparability);
}

/* Runs are named whose windows are much longer or shorter, or are none. */
static void test_lengths(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct snapshot *runs[] = {
		pair_window(1000, threads, 1010, threads, COUNT(threads)),
		pair_window(1100, threads, 1130, threads, COUNT(threads)),
		pair_window(1200, threads, 1240, threads, COUNT(threads)),
		pair_snapshot(1300, threads, COUNT(threads)),
	};
	const struct comparability_set sets[DIFF_SIDE_COUNT] = {
		[DIFF_AFTER] = {(const struct snapshot *const *)runs, names, COUNT(runs)}};
	struct comparability *comparability = comparability_create_of_sets(sets);

	(void)state;
	assert_int_equal(comparability->count, 2);
	assert_string_equal(comparability->rows[0].text,
			    "c is not like a, the first run of its set: window 40 s, not 10 s");
	assert_string_equal(comparability->rows[1].text,
			    "d is not like a, the first run of its set: window none, not 10 s");
	comparability_release(comparability);
	for (size_t i = 0; i < COUNT(runs); i++)
		snapshot_release(runs[i]);
}

/* Runs of one set that are not alike are named, and captures that count twice; the order of sets is free. */
static void test_sets(void **state)
{
	struct snapshot *others[2] = {
		pair_snapshot(PAIR_BEFORE_S + 100, threads, COUNT(threads)),
		pair_snapshot(PAIR_BEFORE_S + 50, threads, COUNT(threads)),
	};

	(void)state;
	expect_of_sets(others, "is not like", false);
	expect_of_sets(others, "same capture", false);
	expect_of_sets(others, "older capture", false);
	others[1]->host.kernel_release = "6.13.0";
	expect_of_sets(others,
		       "b2 is not like b1, the first run of its set: kernel Linux 6.13.0, not Linux 6.12.1",
		       true);
	expect_of_sets(others, "a2 is not like", false);
	others[1]->host.online_cpus = side[1]->host.online_cpus = (struct optional_u64){4, true};
	others[1]->host.online_cpus.value = 2;
	expect_of_sets(others, ", CPUs online 2, not 4", true);
	others[0]->captured_at_unix_ns = side[0]->captured_at_unix_ns;
	expect_of_sets(others, "a1 and a2 are the same capture", true);
	snapshot_release(others[0]);
	snapshot_release(others[1]);
}

#define SIDES_TEST(test) cmocka_unit_test_setup_teardown(test, make_sides, release_sides)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIDES_TEST(test_like_captures), SIDES_TEST(test_order),
		SIDES_TEST(test_boot_and_host), SIDES_TEST(test_host_context),
		SIDES_TEST(test_schedulers),    SIDES_TEST(test_features),
		SIDES_TEST(test_sources),       SIDES_TEST(test_rights),
		SIDES_TEST(test_namespaces),    SIDES_TEST(test_scope),
		SIDES_TEST(test_other_writers), SIDES_TEST(test_generations),
		SIDES_TEST(test_empty),         SIDES_TEST(test_sets),
		SIDES_TEST(test_copies),        SIDES_TEST(test_lengths),
	};

	return cmocka_run_group_tests_name("comparability", tests, NULL, NULL);
}
