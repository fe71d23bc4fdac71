/* SPDX-License-Identifier: GPL-2.0-only */
/* Captures with the allocator probe's findings; the probe is that of fake_probe.c. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/clock.h"
#include "base/reader.h"
#include "base/supervisor.h"
#include "fake_probe.h"
#include "live.h"
#include "tests/wait.h"

enum {
	YOUNG_MS = 1050, /* after which a process is no longer left alone because it has just begun */
};

/* A process of three threads: the leader and one more are parked, one moves all the time. */
static atomic_int parked_thread;
static atomic_bool moves;

static void *park(void *argument)
{
	atomic_store(&parked_thread, gettid());
	for (;;)
		pause();
	return argument;
}

static void *move(void *argument)
{
	pthread_setname_np(pthread_self(), "moving");
	atomic_store(&moves, true);
	for (;;)
		live_sleep_ms(2);
	return argument;
}

static void run_threads(void *argument)
{
	pthread_t thread;

	(void)argument;
	if (pthread_create(&thread, NULL, park, NULL) != 0 || pthread_create(&thread, NULL, move, NULL) != 0)
		_exit(1);
	if (!wait_until(atomic_load(&moves) && atomic_load(&parked_thread) != 0) ||
	    !live_wait_for_sleep(getpid(), atomic_load(&parked_thread)))
		_exit(1);
}

static void run_nothing(void *argument)
{
	(void)argument;
}

/* Children of a test, ascending by id, and a capture of them. */
struct scene {
	uint32_t children[3];
	struct capture *capture;
};

static struct capture *open_capture(const struct scene *scene, uint64_t patience_ns)
{
	struct capture_options options = {
		.scope = scene->children,
		.scope_count = 3,
		.heap = true,
		.heap_patience_ns = patience_ns,
	};
	struct capture *capture;
	struct error error;

	assert_int_equal(capture_open(&options, &capture, &error), 0);
	return capture;
}

static struct scene begin(uint64_t patience_ns)
{
	struct scene scene;

	fake_probe_reset();
	scene.children[0] = (uint32_t)live_start(run_threads, NULL);
	scene.children[1] = (uint32_t)live_start(run_nothing, NULL);
	scene.children[2] = (uint32_t)live_start(run_nothing, NULL);
	scene.capture = open_capture(&scene, patience_ns);
	return scene;
}

static void end(struct scene *scene)
{
	capture_close(scene->capture);
	for (size_t i = 0; i < 3; i++)
		live_end((pid_t)scene->children[i]);
}

static pid_t child(const struct scene *scene, size_t index)
{
	return (pid_t)scene->children[index];
}

/* The rows of the first child: the leader, the one that is parked, the one that moves. */
static long row_of(const struct snapshot *snapshot, const struct scene *scene, size_t index)
{
	long row = live_row(snapshot, scene->children[0], scene->children[0]);

	assert_true(row != LIVE_NO_ROW);
	row += (long)index;
	assert_int_equal(snapshot->tgid[row], scene->children[0]);
	return row;
}

/* Whether the threads were read by passes, which see each execve(2). */
static bool is_by_pass(const struct snapshot *snapshot)
{
	const enum feature_state state = snapshot->provenance.features[FEATURE_PASSES].state;

	return state == FEATURE_STATE_ON || state == FEATURE_STATE_PARTIAL;
}

static void set_ready(const struct scene *scene, enum layout_origin origin)
{
	fake_probe_set(child(scene, 0), PROBE_STATE_READY, HEAP_TAG_NONE, origin);
}

static void expect_outcome(const struct snapshot *snapshot, long row, uint16_t state)
{
	assert_int_equal(snapshot_value_state(snapshot, (size_t)row, METRIC_ALLOCATED_BYTES), state);
}

static void expect_counters(const struct snapshot *snapshot, long row, uint64_t allocated, uint64_t freed)
{
	expect_outcome(snapshot, row, REASON_READ);
	assert_true((snapshot->thread_flags[row] & THREAD_JEMALLOC_MEASURED) != 0);
	assert_int_equal(snapshot_value(snapshot, (size_t)row, METRIC_ALLOCATED_BYTES), allocated);
	assert_int_equal(snapshot_value(snapshot, (size_t)row, METRIC_DEALLOCATED_BYTES), freed);
}

static void test_full(void **state)
{
	struct scene scene = begin(0);
	const struct probe_summary *summary;
	const struct tally *tally;
	struct snapshot *snapshot;
	pid_t parked;

	(void)state;
	set_ready(&scene, LAYOUT_ORIGIN_KNOWN_BUILD);
	fake_probe_set(child(&scene, 1), PROBE_STATE_FAILED, HEAP_TAG_DWARF_PARSE_FAILURE,
		       LAYOUT_ORIGIN_DWARF);
	snapshot = live_full(scene.capture); /* tells the thread ids */
	parked = (pid_t)snapshot->tid[row_of(snapshot, &scene, 1)];
	fake_probe_set_thread(child(&scene, 0), 7000, 3000);
	fake_probe_fail_thread(parked, HEAP_TAG_NEEDS_STOP, 0);
	snapshot_release(snapshot);

	snapshot = live_full(scene.capture);
	expect_counters(snapshot, row_of(snapshot, &scene, 0), 7000, 3000);
	expect_outcome(snapshot, row_of(snapshot, &scene, 1), REASON_NEEDS_STOP);
	expect_counters(snapshot, row_of(snapshot, &scene, 2), 0, 0); /* a zero that was read */
	expect_outcome(snapshot, live_row(snapshot, scene.children[1], scene.children[1]), REASON_UNREADABLE);
	expect_outcome(snapshot, live_row(snapshot, scene.children[2], scene.children[2]), STATE_ABSENT);

	summary = &snapshot->probe_summary;
	assert_true(summary->present);
	assert_int_equal(summary->tgids_walked, 3);
	assert_int_equal(summary->jemalloc_detected, 1);
	assert_int_equal(summary->probed_ok, 2);
	assert_int_equal(summary->failed, 2);
	/* of equals the alphabetically earlier one */
	assert_string_equal(summary->dominant_failure, "dwarf-parse-failure");
	assert_false(summary->privilege_dominant);
	assert_int_equal(summary->stopped, 2);
	tally = &snapshot->provenance.tallies[SOURCE_JEMALLOC];
	assert_int_equal(tally->read, 2);
	assert_int_equal(tally->missed[REASON_NEEDS_STOP], 1);
	assert_int_equal(tally->missed[REASON_UNREADABLE], 1);

	assert_int_equal(snapshot->provenance.heap_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct heap_process *process = &snapshot->provenance.heap[i];

		if (process->tgid == scene.children[0]) {
			assert_string_equal(process->layout, "known-build");
			assert_string_equal(process->version, "5.3.0");
			assert_null(process->tag);
		} else {
			assert_int_equal(process->tgid, scene.children[1]);
			assert_null(process->layout);
			assert_string_equal(process->tag, "dwarf-parse-failure");
			assert_string_equal(process->text, "what was tried");
		}
	}
	snapshot_release(snapshot);
	end(&scene);
}

static void test_privilege(void **state)
{
	struct scene scene = begin(0);
	struct snapshot *snapshot;

	(void)state;
	fake_probe_set(child(&scene, 0), PROBE_STATE_FAILED, HEAP_TAG_NOT_PERMITTED, LAYOUT_ORIGIN_DWARF);
	fake_probe_set(child(&scene, 1), PROBE_STATE_FAILED, HEAP_TAG_MAPS_READ_FAILURE, LAYOUT_ORIGIN_DWARF);
	snapshot = live_full(scene.capture);
	assert_int_equal(snapshot->probe_summary.failed, 2);
	assert_true(snapshot->probe_summary.privilege_dominant);
	/* the earlier name, though the other tag is the one that counts as privilege */
	assert_string_equal(snapshot->probe_summary.dominant_failure, "maps-read-failure");
	expect_outcome(snapshot, row_of(snapshot, &scene, 0), REASON_NOT_PERMITTED);
	snapshot_release(snapshot);
	end(&scene);
}

/* A thread that stands still is not read again; one that moves is; both count as read now. */
static void test_rounds(void **state)
{
	struct scene scene = begin(0);
	struct snapshot *snapshot;
	pid_t parked, moving;
	uint64_t first_time;
	bool by_pass;

	(void)state;
	if (!live_has_taskstats()) {
		end(&scene);
		skip_test("no taskstats: everything counts as moved");
	}
	set_ready(&scene, LAYOUT_ORIGIN_DWARF);
	snapshot = live_round(scene.capture);
	parked = (pid_t)snapshot->tid[row_of(snapshot, &scene, 1)];
	moving = (pid_t)snapshot->tid[row_of(snapshot, &scene, 2)];
	first_time = snapshot_read_time(snapshot, (size_t)row_of(snapshot, &scene, 1),
					METRIC_ALLOCATED_BYTES);
	snapshot_release(snapshot);
	assert_int_equal(fake_probe_reads(parked), 1);
	assert_int_equal(fake_probe_reads(moving), 1);
	fake_probe_set_thread(parked, 1, 1);
	fake_probe_set_thread(moving, 500, 20);
	fake_probe_forget_counts();
	assert_true(live_wait_for_run(child(&scene, 0), moving));
	snapshot = live_round(scene.capture);
	assert_int_equal(fake_probe_reads(parked), 0);
	assert_int_equal(fake_probe_reads(moving), 1);
	expect_counters(snapshot, row_of(snapshot, &scene, 1), 0, 0);
	expect_counters(snapshot, row_of(snapshot, &scene, 2), 500, 20);
	assert_true(snapshot_read_time(snapshot, (size_t)row_of(snapshot, &scene, 1),
				       METRIC_ALLOCATED_BYTES) > first_time);
	assert_int_equal(snapshot->probe_summary.probed_ok, 3);
	by_pass = is_by_pass(snapshot);
	snapshot_release(snapshot);
	/* nothing is looked at again in each round; where an execve(2) may be missed, everything is in ten */
	fake_probe_forget_counts();
	for (int i = 0; i < 10; i++)
		snapshot_release(live_round(scene.capture));
	assert_int_equal(fake_probe_looks(child(&scene, 0)), by_pass ? 0 : 1);
	/* a full capture reads all */
	snapshot_release(live_full(scene.capture));
	assert_int_equal(fake_probe_reads(parked), 1);
	end(&scene);
}

/* The probe is told which process ran since its last look. */
static void test_change(void **state)
{
	struct scene scene = begin(0);
	struct snapshot *snapshot;
	pid_t moving;

	(void)state;
	if (!live_has_taskstats()) {
		end(&scene);
		skip_test("no taskstats: everything counts as moved");
	}
	for (size_t i = 0; i < 2; i++)
		fake_probe_set(child(&scene, i), PROBE_STATE_FAILED, HEAP_TAG_JEMALLOC_NOT_FOUND,
			       LAYOUT_ORIGIN_DWARF);
	snapshot = live_round(scene.capture);
	moving = (pid_t)snapshot->tid[row_of(snapshot, &scene, 2)];
	snapshot_release(snapshot);
	assert_true(live_wait_for_run(child(&scene, 0), moving));
	snapshot_release(live_round(scene.capture));
	assert_int_equal(fake_probe_change(child(&scene, 0)), PROBE_RAN);
	assert_int_equal(fake_probe_change(child(&scene, 1)), PROBE_STILL);
	end(&scene);
}

static void execute(int number)
{
	(void)number;
	execl("/bin/sleep", "sleep", "600", NULL);
	_exit(127);
}

static void execute_when_told(void *argument)
{
	(void)argument;
	if (sigaction(SIGUSR1, &(struct sigaction){.sa_handler = execute}, NULL) < 0)
		_exit(1);
}

/* A process that executes another program is looked at in the next round, and by passes not before. */
static void test_exec(void **state)
{
	const pid_t pid = live_start(execute_when_told, NULL);
	const uint32_t scope = (uint32_t)pid;
	struct capture_options options = {.scope = &scope, .scope_count = 1, .heap = true};
	struct snapshot *snapshot;
	struct capture *capture;
	struct error error;
	bool by_pass;

	(void)state;
	fake_probe_reset();
	fake_probe_set(pid, PROBE_STATE_FAILED, HEAP_TAG_JEMALLOC_NOT_FOUND, LAYOUT_ORIGIN_DWARF);
	assert_int_equal(capture_open(&options, &capture, &error), 0);
	snapshot = live_round(capture);
	by_pass = is_by_pass(snapshot);
	snapshot_release(snapshot);
	assert_int_equal(fake_probe_looks(pid), 1);
	fake_probe_forget_counts();
	for (int i = 0; i < 20 && by_pass; i++)
		snapshot_release(live_round(capture));
	assert_int_equal(fake_probe_looks(pid), 0);
	kill(pid, SIGUSR1);
	assert_true(live_wait_for_name(pid, "sleep") && live_wait_for_sleep(pid, pid));
	snapshot_release(live_round(capture));
	assert_int_equal(fake_probe_looks(pid), 1);
	assert_int_equal(fake_probe_change(pid), by_pass ? PROBE_EXECUTED : PROBE_RAN);
	capture_close(capture);
	live_end(pid);
}

/* While an executable is being resolved its threads say so; no round waits, a full capture does. */
static void test_resolving(void **state)
{
	struct scene scene = begin(5000000000);
	struct snapshot *snapshot;

	(void)state;
	fake_probe_set(child(&scene, 0), PROBE_STATE_RESOLVING, HEAP_TAG_NONE, LAYOUT_ORIGIN_DWARF);
	for (int i = 0; i < 2; i++) {
		snapshot = live_round(scene.capture);
		for (size_t row = 0; row < 3; row++)
			expect_outcome(snapshot, row_of(snapshot, &scene, row), REASON_BEING_RESOLVED);
		assert_int_equal(snapshot->probe_summary.failed, 0);
		snapshot_release(snapshot);
	}
	set_ready(&scene, LAYOUT_ORIGIN_DWARF);
	snapshot = live_round(scene.capture);
	expect_counters(snapshot, row_of(snapshot, &scene, 0), 0, 0);
	snapshot_release(snapshot);

	fake_probe_set(child(&scene, 0), PROBE_STATE_RESOLVING, HEAP_TAG_NONE, LAYOUT_ORIGIN_DWARF);
	fake_probe_resolve_when_served(true);
	snapshot = live_full(scene.capture);
	expect_counters(snapshot, row_of(snapshot, &scene, 0), 0, 0);
	snapshot_release(snapshot);
	end(&scene);
}

/* The wait has an end, and can be cancelled. What is read beside it is read after it. */
static void test_impatience(void **state)
{
	const uint64_t patience_ns = 100 * NS_PER_MS;
	struct scene scene = begin(patience_ns);
	const uint64_t begun_ns = clock_ns(CLOCK_BOOTTIME);
	atomic_bool cancel = true;
	struct snapshot *snapshot;
	struct error error;

	(void)state;
	fake_probe_set(child(&scene, 0), PROBE_STATE_RESOLVING, HEAP_TAG_NONE, LAYOUT_ORIGIN_DWARF);
	snapshot = live_full(scene.capture);
	expect_outcome(snapshot, row_of(snapshot, &scene, 0), REASON_BEING_RESOLVED);
	assert_int_equal(snapshot->provenance.tallies[SOURCE_JEMALLOC].missed[REASON_BEING_RESOLVED], 3);
	assert_true(snapshot->provenance.boottime_ns >= begun_ns + patience_ns);
	snapshot_release(snapshot);
	assert_int_equal(capture_full(scene.capture, 0, &cancel, &snapshot, &error), -ECANCELED);
	end(&scene);
}

/* Switched off, nothing of before stays; switched on, all is read again, parked threads too. */
static void test_switch(void **state)
{
	struct scene scene = begin(0);
	struct snapshot *snapshot;

	(void)state;
	set_ready(&scene, LAYOUT_ORIGIN_DWARF);
	fake_probe_set_thread(child(&scene, 0), 7000, 3000);
	snapshot = live_round(scene.capture);
	expect_counters(snapshot, row_of(snapshot, &scene, 0), 7000, 3000);
	snapshot_release(snapshot);
	capture_switch_heap(scene.capture, false);
	for (int i = 0; i < 2; i++) {
		snapshot = live_round(scene.capture);
		for (size_t row = 0; row < 3; row++)
			expect_outcome(snapshot, row_of(snapshot, &scene, row), REASON_SWITCHED_OFF);
		expect_outcome(snapshot, live_row(snapshot, scene.children[2], scene.children[2]),
			       REASON_SWITCHED_OFF);
		assert_false(snapshot->probe_summary.present);
		assert_int_equal(snapshot->provenance.heap_count, 0);
		snapshot_release(snapshot);
	}
	snapshot = live_full(scene.capture);
	assert_int_equal(snapshot->provenance.tallies[SOURCE_JEMALLOC].missed[REASON_SWITCHED_OFF], 5);
	snapshot_release(snapshot);
	live_sleep_ms(YOUNG_MS);
	capture_switch_heap(scene.capture, true);
	snapshot = live_round(scene.capture);
	expect_counters(snapshot, row_of(snapshot, &scene, 0), 7000, 3000);
	expect_outcome(snapshot, live_row(snapshot, scene.children[2], scene.children[2]), STATE_ABSENT);
	snapshot_release(snapshot);
	end(&scene);
}

static pid_t late_child;

static void start_late_child(void)
{
	late_child = live_start(run_nothing, NULL);
	fake_probe_set(late_child, PROBE_STATE_READY, HEAP_TAG_NONE, LAYOUT_ORIGIN_DWARF);
}

/* A process that has just begun is left alone for a second by live rounds, and by no full capture. */
static void test_young_process(void **state)
{
	struct capture_options options = {.heap = true};
	struct capture *capture;
	struct snapshot *snapshot;
	struct error error;
	uint64_t begun_ns;
	uint32_t child_id;

	(void)state;
	fake_probe_reset();
	assert_int_equal(capture_open(&options, &capture, &error), 0);
	snapshot_release(live_round(capture));
	begun_ns = clock_ns(CLOCK_BOOTTIME);
	start_late_child();
	child_id = (uint32_t)late_child;
	snapshot = live_round(capture);
	if (fake_probe_looks(late_child) == 0)
		expect_outcome(snapshot, live_row(snapshot, child_id, child_id), REASON_BEING_RESOLVED);
	snapshot_release(snapshot);
	await("the child is looked at",
	      (snapshot_release(live_round(capture)), fake_probe_looks(late_child) != 0));
	/* however late the rounds were; starts are told in ticks */
	assert_true(clock_ns(CLOCK_BOOTTIME) - begun_ns >= (uint64_t)(YOUNG_MS - 70) * NS_PER_MS);
	snapshot = live_round(capture);
	expect_counters(snapshot, live_row(snapshot, child_id, child_id), 0, 0);
	snapshot_release(snapshot);
	live_end(late_child);
	start_late_child();
	child_id = (uint32_t)late_child;
	snapshot = live_full(capture);
	expect_counters(snapshot, live_row(snapshot, child_id, child_id), 0, 0);
	snapshot_release(snapshot);
	live_end(late_child);
	capture_close(capture);
}

/* With no budget left in any round, the probe still forgets ended processes and gives living ones a turn. */
static void test_over_budget(void **state)
{
	struct capture_options options = {.heap = true, .budget_percent = 1e-6};
	struct capture *capture;
	struct scene scene;
	struct error error;

	(void)state;
	fake_probe_reset();
	scene = begin(0);
	capture_close(scene.capture);
	assert_int_equal(capture_open(&options, &capture, &error), 0);
	scene.capture = capture;
	for (size_t i = 0; i < 3; i++)
		fake_probe_set(child(&scene, i), PROBE_STATE_READY, HEAP_TAG_NONE, LAYOUT_ORIGIN_DWARF);
	snapshot_release(live_full(capture));
	live_end(child(&scene, 2));
	for (int i = 0; i < 2 * 10; i++)
		snapshot_release(live_round_budgeted(capture, source_bit(SOURCE_STAT)));
	assert_true(fake_probe_has_dropped(child(&scene, 2)));
	assert_false(fake_probe_has_dropped(child(&scene, 0)));
	assert_false(fake_probe_has_dropped(child(&scene, 1)));
	capture_close(capture);
	live_end(child(&scene, 0));
	live_end(child(&scene, 1));
}

/* A capture of needed sources alone does not read counters that nobody asked for. */
static void test_not_needed(void **state)
{
	struct scene scene = begin(0);
	struct snapshot *snapshot;

	(void)state;
	set_ready(&scene, LAYOUT_ORIGIN_DWARF);
	snapshot = live_round_needed(scene.capture, source_bit(SOURCE_STAT));
	expect_outcome(snapshot, row_of(snapshot, &scene, 0), REASON_NOT_READ);
	assert_int_equal(fake_probe_looks(child(&scene, 0)), 0);
	snapshot_release(snapshot);
	live_sleep_ms(YOUNG_MS);
	snapshot = live_round_needed(scene.capture, source_bit(SOURCE_JEMALLOC));
	expect_counters(snapshot, row_of(snapshot, &scene, 0), 0, 0);
	snapshot_release(snapshot);
	end(&scene);
}

/* Another program in the process, or a new failure: earlier readings go. */
static void test_another_outcome(void **state)
{
	struct scene scene = begin(0);
	struct snapshot *snapshot;
	pid_t moving;

	(void)state;
	set_ready(&scene, LAYOUT_ORIGIN_DWARF);
	snapshot = live_round(scene.capture);
	moving = (pid_t)snapshot->tid[row_of(snapshot, &scene, 2)];
	snapshot_release(snapshot);
	fake_probe_set_thread(moving, 100, 0);
	assert_true(live_wait_for_run(child(&scene, 0), moving));
	snapshot_release(live_round(scene.capture));
	fake_probe_fail_thread(moving, HEAP_TAG_PROCESS_VM_READV, EPERM);
	assert_true(live_wait_for_run(child(&scene, 0), moving));
	snapshot = live_round(scene.capture);
	expect_outcome(snapshot, row_of(snapshot, &scene, 2), REASON_NOT_PERMITTED);
	assert_int_equal(
		snapshot_value(snapshot, (size_t)row_of(snapshot, &scene, 2), METRIC_ALLOCATED_BYTES), 0);
	assert_true((snapshot->thread_flags[row_of(snapshot, &scene, 2)] & THREAD_JEMALLOC_MEASURED) == 0);
	assert_int_equal(snapshot->probe_summary.failed, 1);
	assert_string_equal(snapshot->probe_summary.dominant_failure, "process-vm-readv");
	snapshot_release(snapshot);
	fake_probe_set(child(&scene, 0), PROBE_STATE_FAILED, HEAP_TAG_JEMALLOC_NOT_FOUND,
		       LAYOUT_ORIGIN_DWARF);
	snapshot = live_full(scene.capture);
	for (size_t row = 0; row < 3; row++)
		expect_outcome(snapshot, row_of(snapshot, &scene, row), STATE_ABSENT);
	assert_int_equal(snapshot->probe_summary.jemalloc_detected, 0);
	snapshot_release(snapshot);
	end(&scene);
}

/* Without a probe the counters are switched off, and the file has no summary of one. */
static void test_without_probe(void **state)
{
	struct capture *capture = live_open((uint32_t[]){(uint32_t)getpid()}, 1);
	struct snapshot *snapshot = live_full(capture);

	(void)state;
	expect_outcome(snapshot, 0, REASON_SWITCHED_OFF);
	assert_false(snapshot->probe_summary.present);
	snapshot_release(snapshot);
	capture_close(capture);
}

/* The capturing process itself is neither looked at nor counted. */
static void test_own_process(void **state)
{
	const uint32_t own = (uint32_t)getpid();
	struct capture_options options = {
		.scope = &own, .scope_count = 1, .backend = CAPTURE_BACKEND_PROCFS, .heap = true};
	struct snapshot *snapshot;
	struct capture *capture;
	struct error error;

	(void)state;
	fake_probe_reset();
	fake_probe_set((pid_t)own, PROBE_STATE_READY, HEAP_TAG_NONE, LAYOUT_ORIGIN_DWARF);
	assert_int_equal(capture_open(&options, &capture, &error), 0);
	snapshot = live_full(capture);
	assert_int_equal(fake_probe_looks((pid_t)own), 0);
	assert_int_equal(snapshot->probe_summary.tgids_walked, 0);
	expect_outcome(snapshot, 0, STATE_ABSENT);
	snapshot_release(snapshot);
	capture_close(capture);
}

/* A reader_work: answers with the process that does it. */
static int tell_process(int unused, const void *argument, size_t size, struct buffer *answer)
{
	const pid_t pid = getpid();

	(void)unused;
	(void)argument;
	(void)size;
	buffer_append(answer, &pid, sizeof(pid));
	return 0;
}

/* Nor are those that its supervisor forked. */
static void test_own_reader(void **state)
{
	struct reader *reader;
	struct buffer answer = {0};
	struct snapshot *snapshot;
	struct scene scene;
	struct error error;
	pid_t pid, before;

	(void)state;
	assert_int_equal(supervisor_start(&error), 0);
	reader = reader_create(&(struct reader_options){0});
	assert_int_equal(reader_call(reader, 1, tell_process, -1, NULL, 0, &answer), 0);
	memcpy(&pid, answer.data, sizeof(pid));
	scene = begin(0);
	capture_close(scene.capture);
	before = child(&scene, 2);
	scene.children[2] = (uint32_t)pid;
	scene.capture = open_capture(&scene, 0);
	fake_probe_set(pid, PROBE_STATE_FAILED, HEAP_TAG_NOT_PERMITTED, LAYOUT_ORIGIN_DWARF);
	snapshot = live_full(scene.capture);
	assert_int_equal(fake_probe_looks(pid), 0);
	assert_int_equal(snapshot->probe_summary.tgids_walked, 2);
	assert_int_equal(snapshot->probe_summary.failed, 0);
	snapshot_release(snapshot);
	scene.children[2] = (uint32_t)before;
	end(&scene);
	reader_release(reader);
	supervisor_stop();
	buffer_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),          cmocka_unit_test(test_privilege),
		cmocka_unit_test(test_rounds),        cmocka_unit_test(test_change),
		cmocka_unit_test(test_exec),          cmocka_unit_test(test_resolving),
		cmocka_unit_test(test_impatience),    cmocka_unit_test(test_switch),
		cmocka_unit_test(test_young_process), cmocka_unit_test(test_not_needed),
		cmocka_unit_test(test_over_budget),   cmocka_unit_test(test_another_outcome),
		cmocka_unit_test(test_without_probe), cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_own_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
