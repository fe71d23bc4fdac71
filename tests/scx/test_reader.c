/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader of contexts against real ones (fixture.h), in every layout: equal to what the object's own
 * programs read, never another thread's, and without a trace in the arena. With --long as many reads as the
 * claims are about.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "base/clock.h"
#include "base/memory.h"
#include "capture/scx/scx_reader.h"
#include "fixture.h"
#include "reading.h"
#include "tests/wait.h"

enum {
	THREADS = 10000,
	ROOT_CHILDREN = 3,
	SOME = 700, /* more than a leaf */
	FEW = 12,
	CHURNED = 64, /* threads whose contexts change their slots */
	CHURNS = 2,   /* threads that change them */
	READS = 40000,
	LONG_READS = 500000,
	RESTARTS = 3,
	LONG_RESTARTS = 40,
	PASSES = 3, /* to be seen before and after a restart */
	PATIENCE_S = 100,
	MEMBERS_MAX = 64,
	TICKS = 100, /* a second, in the times of /proc/PID/stat */
	NAMED = 20,  /* threads that are compared with procfs */
};

static bool is_long;
static struct error error;

/* --- a fixture, threads and a reader --- */

struct subject {
	struct fixture_scene scene;
	struct arena arena;
	struct scx_reader *reader;
	struct task_field_owner *scheduler;
	struct scx_reading reading;
};

static struct scx_reader *open_reader(struct fixture *fixture, const struct context_choice *choice,
				      struct arena *arena, struct feature_result *result)
{
	struct scx_run run = {.name = "fixture_1.0", .enable_seq = 1};

	run.maps = fixture_maps(fixture, &run.map_count);
	return scx_reader_open(&run, choice, arena, result);
}

static void begin_reading(struct subject *subject)
{
	struct feature_result result;

	subject->reader = open_reader(subject->scene.fixture, NULL, &subject->arena, &result);
	if (subject->reader == NULL)
		fail_msg("layout %s: no reader: %s",
			 fixture_layout_name(fixture_layout(subject->scene.fixture)), result.detail);
	assert_int_equal(result.state, FEATURE_STATE_ON);
	subject->scheduler = subject->reader->scheduler;
	assert_non_null(subject->scheduler);
}

static void end_reading(struct subject *subject)
{
	scx_reader_close(subject->reader);
	subject->reader = NULL;
}

static void begin_with(struct subject *subject, enum fixture_layout layout, size_t threads,
		       const struct fixture_options *options)
{
	*subject = (struct subject){0};
	assert_done(fixture_scene_begin(&subject->scene, layout, threads, options, &error));
	begin_reading(subject);
}

static void begin(struct subject *subject, enum fixture_layout layout, size_t threads, uint32_t root_children)
{
	begin_with(subject, layout, threads, &(struct fixture_options){.root_children = root_children});
}

static void end(struct subject *subject)
{
	end_reading(subject);
	fixture_scene_end(&subject->scene);
	arena_release(&subject->arena);
}

static void read_all(struct subject *subject)
{
	assert_int_equal(scx_reader_read(subject->reader, NULL, &subject->reading), 0);
}

static bool is_map(uint32_t id)
{
	const int map = bpf_map_get_fd_by_id(id);

	if (map >= 0)
		close(map);
	else
		assert_int_equal(map, -ENOENT);
	return map >= 0;
}

/* Waits until the kernel knows no map of this id; ids are not given again soon. */
static void wait_for_end_of_map(uint32_t id)
{
	await("the map is freed", !is_map(id));
}

/* --- all fields --- */

struct expectation {
	const char *name;
	enum task_field_kind kind;
	uint64_t value; /* of the last element of an array */
	uint32_t count;
};

/* A context as the compiler describes it; members in their order. */
static size_t expect(const struct task_ctx *context, struct expectation expected[MEMBERS_MAX])
{
	size_t count = 0;

#define EXPECT(member, member_kind)                                                                          \
	expected[count++] = (struct expectation){#member, TASK_FIELD_KIND_##member_kind,                     \
						 (uint64_t)(int64_t)context->member, 1}
	EXPECT(pid, UNSIGNED);
	EXPECT(domain_id, UNSIGNED);
	EXPECT(slice_shift, UNSIGNED);
	EXPECT(nice, SIGNED);
	EXPECT(weight, UNSIGNED);
	EXPECT(sum_runtime, UNSIGNED);
	EXPECT(last_run_at, UNSIGNED);
	EXPECT(lag, SIGNED);
	EXPECT(credit, SIGNED);
	EXPECT(step, SIGNED);
	EXPECT(interactive, BOOLEAN);
	EXPECT(all_cpus, BOOLEAN);
	EXPECT(queue, ENUM);
	EXPECT(level, UNSIGNED);
	EXPECT(bias, SIGNED);
	EXPECT(kicked, UNSIGNED);
	EXPECT(mask, UNSIGNED);
	EXPECT(load.value, UNSIGNED);
	EXPECT(load.trend, SIGNED);
	EXPECT(load.range.low, UNSIGNED);
	EXPECT(load.range.high, UNSIGNED);
	EXPECT(turns, UNSIGNED);
	expected[count++] = (struct expectation){"latencies", TASK_FIELD_KIND_ARRAY,
						 context->latencies[CONTEXT_LATENCIES - 1],
						 CONTEXT_LATENCIES};
	expected[count++] = (struct expectation){"cpumask", TASK_FIELD_KIND_POINTER, 0, 1};
	EXPECT(seal, UNSIGNED);
#undef EXPECT
	return count;
}

static void assert_members(const struct task_field_owner *scheduler)
{
	struct expectation expected[MEMBERS_MAX];
	struct task_ctx context = {0};
	size_t count = expect(&context, expected);

	assert_int_equal(scheduler->member_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct task_field_member *member = &scheduler->members[i];

		assert_string_equal(member->name, expected[i].name);
		assert_int_equal(member->kind, expected[i].kind);
		assert_int_equal(member->count, expected[i].count);
		assert_int_equal(member->field != TASK_FIELD_NONE, member->kind <= TASK_FIELD_KIND_ENUM);
	}
	assert_string_equal(task_field_find_enumerator(find_member(scheduler, "queue"), CONTEXT_QUEUE_SHARED),
			    "CONTEXT_QUEUE_SHARED");
}

static void assert_context(const struct subject *subject, const struct scx_record *record,
			   const struct task_ctx *context)
{
	struct expectation expected[MEMBERS_MAX];
	size_t count = expect(context, expected);

	for (size_t i = 0; i < count; i++) {
		const struct task_field_member *member = &subject->scheduler->members[i];

		if (member->kind != TASK_FIELD_KIND_POINTER &&
		    task_field_read(member, scx_record_context(record), member->count - 1) !=
			    expected[i].value)
			fail_msg("layout %s, thread %" PRIu32 ", %s: %" PRIu64 " instead of %" PRIu64,
				 fixture_layout_name(fixture_layout(subject->scene.fixture)), record->tid,
				 member->name,
				 task_field_read(member, scx_record_context(record), member->count - 1),
				 expected[i].value);
	}
	assert_memory_equal(scx_record_context(record), context, sizeof(*context));
}

/* Field 22 of proc_pid_stat(5), ticks since boot. */
static uint64_t procfs_start(pid_t tid)
{
	char path[64], line[1024] = "";
	const char *end;
	uint64_t start = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	end = strrchr(line, ')');
	assert_non_null(end);
	assert_int_equal(sscanf(end + 1,
				" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
				"%*d %" SCNu64,
				&start),
			 1);
	return start;
}

static int compare_records(const void *one, const void *other)
{
	uint32_t left = (*(const struct scx_record *const *)one)->tid;
	uint32_t right = (*(const struct scx_record *const *)other)->tid;

	return (left > right) - (left < right);
}

static int compare_tids(const void *one, const void *other)
{
	pid_t left = *(const pid_t *)one, right = *(const pid_t *)other;

	return (left > right) - (left < right);
}

/* Every thread has one record, nobody else has any, and each field is what the scheduler itself reads. */
static void assert_all_equal(struct subject *subject)
{
	const struct fixture_threads *threads = &subject->scene.threads;
	const struct scx_record **records = memory_allocate(threads->count * sizeof(struct scx_record *));

	read_all(subject);
	assert_int_equal(subject->reading.count, threads->count);
	for (size_t i = 0; i < threads->count; i++)
		records[i] = scx_reading_record(&subject->reading, i);
	qsort(records, threads->count, sizeof(*records), compare_records);
	for (size_t i = 0; i < threads->count; i++) {
		const struct scx_record *record = records[i];
		struct fixture_context truth;

		assert_int_equal(record->tid, threads->tids[i]);
		assert_int_equal(record->tgid, getpid());
		assert_true(scx_record_is_own(record));
		assert_done(fixture_look(subject->scene.fixture, threads->tids[i], &truth, &error));
		assert_int_equal(record->id, truth.id.val);
		assert_context(subject, record, &truth.context);
		if (i < NAMED)
			assert_int_equal(record->start_boottime_ns / (NS_PER_S / TICKS),
					 procfs_start(threads->tids[i]));
	}
	free(records);
}

static void test_fields(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		struct subject subject;
		uint64_t began;

		begin(&subject, layout, THREADS, ROOT_CHILDREN);
		qsort(subject.scene.threads.tids, THREADS, sizeof(pid_t), compare_tids);
		assert_string_equal(subject.scheduler->type, "task_ctx");
		assert_string_equal(subject.scheduler->storage, fixture_storage_name(subject.scene.fixture));
		assert_int_equal(subject.scheduler->size, sizeof(struct task_ctx));
		assert_members(subject.scheduler);
		for (size_t i = 0; i < THREADS; i += 3)
			assert_done(fixture_run(subject.scene.fixture, subject.scene.threads.tids[i],
						1000 * i, &error));
		began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		read_all(&subject);
		print_message("%s: %d contexts of %u bytes (%s) in %" PRIu64 " us of CPU\n",
			      fixture_layout_name(layout), THREADS, subject.scheduler->size,
			      subject.scheduler->layout,
			      (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / NS_PER_US);
		assert_all_equal(&subject);
		/* again, after they changed */
		for (size_t i = 0; i < THREADS; i += 2)
			assert_done(fixture_run(subject.scene.fixture, subject.scene.threads.tids[i], 77,
						&error));
		assert_all_equal(&subject);
		end(&subject);
	}
}

/* Fields follow what the kernel does with the thread. */
static void test_nice(void **state)
{
	static const struct {
		int nice;
		uint64_t weight;
	} weights[] = {{0, 100}, {10, 11}, {-5, 305}};

	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		struct subject subject;

		begin(&subject, layout, FEW, 1);
		for (size_t i = 0; i < ARRAY_COUNT(weights); i++) {
			pid_t tid = subject.scene.threads.tids[i];
			const struct scx_record *record;

			assert_int_equal(setpriority(PRIO_PROCESS, (id_t)tid, weights[i].nice), 0);
			assert_done(fixture_run(subject.scene.fixture, tid, NS_PER_MS, &error));
			read_all(&subject);
			record = find_record(&subject.reading, tid);
			assert_non_null(record);
			assert_int_equal(read_member(subject.scheduler, record, "weight"), weights[i].weight);
			assert_int_equal((int64_t)read_member(subject.scheduler, record, "nice"),
					 weights[i].nice);
			assert_int_equal(read_member(subject.scheduler, record, "sum_runtime"), NS_PER_MS);
		}
		end(&subject);
	}
}

/* --- another process's --- */

/* Whether a context is the one of its thread. A storage that is the context is the thread's own while it is
 * filled. */
static bool is_right(const struct subject *subject, const struct scx_record *record)
{
	bool is_filled = strcmp(subject->scheduler->layout, "task storage") != 0;
	uint64_t pid = read_member(subject->scheduler, record, "pid"),
		 seal = read_member(subject->scheduler, record, "seal");

	return (pid == record->tid || (!is_filled && pid == 0)) &&
	       (seal == context_seal(record->tid) || (!is_filled && seal == 0));
}

struct other {
	pid_t pid;
	int input;    /* what it reads; it ends when this is closed */
	FILE *output; /* what it prints */
};

static void start_other(struct other *other, enum fixture_layout layout)
{
	char threads[16];
	int input[2], output[2];

	snprintf(threads, sizeof(threads), "%d", SOME);
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	other->pid = fork();
	assert_true(other->pid >= 0);
	if (other->pid == 0) {
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		execl(SCHEDULER_LIKE, "scheduler_like", fixture_layout_name(layout), threads, "churn", NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	other->input = input[1];
	other->output = fdopen(output[0], "re");
	assert_non_null(other->output);
}

static void end_other(struct other *other)
{
	int status;

	close(other->input);
	assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	fclose(other->output);
}

/* The contexts belong to another process, as those of schedulers do, and change while they are read. */
static void test_other_process(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + PATIENCE_S * NS_PER_S, longest = 0;
		uint32_t program, types, maps[3];
		struct scx_run run = {.name = "other_1.0", .enable_seq = 1, .maps = maps, .map_count = 3};
		struct subject subject = {0};
		struct feature_result result;
		struct other other;

		start_other(&other, layout);
		assert_int_equal(fscanf(other.output, "ready program=%u btf=%u storage=%u arena=%u data=%u",
					&program, &types, &maps[0], &maps[1], &maps[2]),
				 5);
		run.map_count = layout == FIXTURE_DIRECT ? 1 : 3;
		subject.reader = scx_reader_open(&run, NULL, &subject.arena, &result);
		if (subject.reader == NULL)
			fail_msg("layout %s: %s", fixture_layout_name(layout), result.detail);
		subject.scheduler = subject.reader->scheduler;
		/* until run time is seen: few contexts live for more than one turn before they change their
		 * slot */
		while (longest < NS_PER_MS) {
			assert_true(clock_ns(CLOCK_MONOTONIC) < deadline);
			read_all(&subject);
			assert_in_range(subject.reading.count, SOME / 2, SOME);
			for (size_t i = 0; i < subject.reading.count; i++) {
				const struct scx_record *record = scx_reading_record(&subject.reading, i);
				uint64_t runtime = read_member(subject.scheduler, record, "sum_runtime");

				assert_int_equal(record->tgid, other.pid);
				if (!is_right(&subject, record))
					assert_false(scx_record_is_own(record));
				if (!scx_record_is_own(record))
					continue;
				longest = runtime > longest ? runtime : longest;
			}
		}
		scx_reader_close(subject.reader);
		end_other(&other);
		wait_for_end_of_map(maps[0]);
		arena_release(&subject.arena);
	}
}

/* --- slots --- */

/* Threads without a context give nothing, whatever stands in the slot they had. */
static void test_freed(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		struct subject subject;
		struct fixture_threads *threads = &subject.scene.threads;

		begin(&subject, layout, SOME, 1);
		for (size_t i = 0; i < SOME; i += 2)
			assert_done(fixture_take(subject.scene.fixture, threads->tids[i], &error));
		read_all(&subject);
		assert_int_equal(subject.reading.count, SOME / 2);
		for (size_t i = 0; i < SOME; i++) {
			const struct scx_record *record = find_record(&subject.reading, threads->tids[i]);

			assert_int_equal(record != NULL, i % 2);
			assert_true(record == NULL || scx_record_is_own(record));
			assert_true(record == NULL ||
				    read_member(subject.scheduler, record, "pid") == record->tid);
		}

		/* the slots get new owners, those that had them before none */
		assert_done(fixture_settle(subject.scene.fixture, &error));
		for (size_t i = 0; i < SOME; i += 4)
			assert_done(fixture_give(subject.scene.fixture, threads->tids[SOME - 2 - i], &error));
		read_all(&subject);
		assert_int_equal(subject.reading.count, SOME / 2 + SOME / 4);
		for (size_t i = 0; i < subject.reading.count; i++) {
			const struct scx_record *record = scx_reading_record(&subject.reading, i);

			assert_true(scx_record_is_own(record));
			assert_int_equal(read_member(subject.scheduler, record, "pid"), record->tid);
			assert_int_equal(read_member(subject.scheduler, record, "seal"),
					 context_seal(record->tid));
		}
		end(&subject);
	}
}

/* A thread whose storage still names the slot that another has now is not shown the other's context. */
static void test_stale(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		struct subject subject;
		struct fixture_context other;
		const struct scx_record *record;
		pid_t stale;

		begin(&subject, layout, FEW, 1);
		stale = subject.scene.threads.tids[1];
		assert_done(
			fixture_look(subject.scene.fixture, subject.scene.threads.tids[2], &other, &error));
		assert_done(fixture_point(subject.scene.fixture, stale, other.element, &error));
		read_all(&subject);
		assert_int_equal(subject.reading.count, FEW);
		record = find_record(&subject.reading, stale);
		assert_non_null(record);
		assert_int_not_equal(read_member(subject.scheduler, record, "pid"), stale);
		assert_false(scx_record_is_own(record));
		record = find_record(&subject.reading, subject.scene.threads.tids[2]);
		assert_non_null(record);
		assert_true(scx_record_is_own(record));
		assert_done(fixture_point(subject.scene.fixture, stale, 0, &error));
		read_all(&subject);
		record = find_record(&subject.reading, stale);
		assert_true(record == NULL || !scx_record_is_own(record));
		end(&subject);
	}
}

struct churn_result {
	uint64_t reads, mismatched, other_despite_id, other;
};

/* Counts what a pass read while slots changed hands. */
static void count_reads(const struct subject *subject, struct churn_result *result)
{
	for (size_t i = 0; i < subject->reading.count; i++) {
		const struct scx_record *record = scx_reading_record(&subject->reading, i);
		bool is_own = scx_record_is_own(record), is_threads = is_right(subject, record);

		result->reads++;
		result->mismatched += !is_own;
		result->other += !is_threads;
		result->other_despite_id += is_own && !is_threads;
	}
}

/* Returns how many slots changed hands while they were read. */
static uint64_t churn(enum fixture_layout layout, bool keep_ids)
{
	uint64_t wanted = is_long ? LONG_READS : READS, changes = 0;
	uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + PATIENCE_S * NS_PER_S * (is_long ? 5 : 1);
	struct churn_result result = {0};
	struct fixture_churn *churns[CHURNS];
	struct subject subject;

	begin_with(&subject, layout, CHURNED, &(struct fixture_options){.keep_ids = keep_ids});
	for (size_t i = 0; i < CHURNS; i++) {
		churns[i] = fixture_churn_start(subject.scene.fixture,
						subject.scene.threads.tids + i * (CHURNED / CHURNS),
						CHURNED / CHURNS);
		assert_non_null(churns[i]);
	}
	while (result.reads < wanted && clock_ns(CLOCK_MONOTONIC) < deadline) {
		read_all(&subject);
		count_reads(&subject, &result);
	}
	for (size_t i = 0; i < CHURNS; i++)
		changes += fixture_churn_end(churns[i]);
	print_message("%s: %" PRIu64 " reads while %" PRIu64 " slots changed hands: %" PRIu64
		      " contexts of others or of none, %" PRIu64 " refused by their id, %" PRIu64
		      " taken for own%s\n",
		      fixture_layout_name(layout), result.reads, changes, result.other, result.mismatched,
		      result.other_despite_id, keep_ids ? ", ids kept" : "");
	assert_true(result.reads >= wanted);
	assert_int_equal(result.other_despite_id, 0);
	if (layout == FIXTURE_DIRECT)
		assert_int_equal(result.mismatched, 0);
	/* the layout after it frees so late that no read lasts until then */
	else if (is_long && !keep_ids && layout != FIXTURE_AFTER)
		assert_true(result.mismatched > 0 && result.other > 0);
	/* and all is well afterwards */
	qsort(subject.scene.threads.tids, CHURNED, sizeof(pid_t), compare_tids);
	assert_all_equal(&subject);
	end(&subject);
	return changes;
}

/* On a starved machine those who change them may not have run at all. */
static void test_churn_of(enum fixture_layout layout, bool keep_ids)
{
	uint64_t changes = 0;

	for (int i = 0; i < 3 && changes == 0; i++)
		changes = churn(layout, keep_ids);
	assert_true(changes > 0);
}

static void test_churn(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++)
		test_churn_of(layout, false);
}

/* The same where a slot keeps its id when it is freed: the storage tells that it is the task's no more. */
static void test_churn_kept_ids(void **state)
{
	(void)state;
	test_churn_of(FIXTURE_BEFORE, true);
	test_churn_of(FIXTURE_RUSTY, true);
}

/* --- restart --- */

struct background {
	struct subject *subject;
	pthread_t thread;
	atomic_bool ended;
	atomic_uint passes;
	int result;
	bool all_own;
};

static void *read_on(void *argument)
{
	struct background *background = argument;
	struct subject *subject = background->subject;

	background->all_own = true;
	while (!atomic_load(&background->ended) && background->result == 0) {
		background->result = scx_reader_read(subject->reader, NULL, &subject->reading);
		for (size_t i = 0; background->result == 0 && i < subject->reading.count; i++) {
			const struct scx_record *record = scx_reading_record(&subject->reading, i);

			background->all_own = background->all_own && scx_record_is_own(record) &&
					      read_member(subject->scheduler, record, "pid") == record->tid;
		}
		atomic_fetch_add(&background->passes, 1);
	}
	return NULL;
}

static void wait_for_passes(struct background *background, unsigned int count)
{
	const unsigned int wanted = atomic_load(&background->passes) + count;

	await("the reader goes on", atomic_load(&background->passes) >= wanted || background->result != 0);
}

/* The scheduler ends while it is read, and another one begins. What was read of the old one stays right, and
 * nothing of it is left when the reader lets go; the new one is read by a new reader. */
static void test_restart(void **state)
{
	(void)state;
	for (size_t turn = 0; turn < (size_t)(is_long ? LONG_RESTARTS : RESTARTS) * FIXTURE_LAYOUTS; turn++) {
		enum fixture_layout layout = turn % FIXTURE_LAYOUTS, next = (turn * 3 + 1) % FIXTURE_LAYOUTS;
		struct background background = {0};
		struct fixture *new_fixture = NULL;
		struct fixture_ids ids;
		struct feature_result result;
		struct subject subject;
		int map;

		begin(&subject, layout, SOME, 1);
		ids = *fixture_ids(subject.scene.fixture);
		background.subject = &subject;
		assert_int_equal(pthread_create(&background.thread, NULL, read_on, &background), 0);
		wait_for_passes(&background, PASSES);
		fixture_close(subject.scene.fixture);
		wait_for_passes(&background, PASSES);
		assert_done(fixture_open(&new_fixture, next, &(struct fixture_options){0}, &error));
		wait_for_passes(&background, PASSES);
		atomic_store(&background.ended, true);
		pthread_join(background.thread, NULL);
		assert_int_equal(background.result, 0);
		assert_true(background.all_own);

		/* held by the reader alone */
		map = bpf_map_get_fd_by_id(ids.storage);
		assert_true(map >= 0);
		close(map);
		end_reading(&subject);
		wait_for_end_of_map(ids.storage);
		if (ids.arena != 0)
			wait_for_end_of_map(ids.arena);
		if (ids.data != 0)
			wait_for_end_of_map(ids.data);

		subject.scene.fixture = new_fixture;
		begin_reading(&subject);
		read_all(&subject);
		assert_int_equal(subject.reading.count, 0);
		for (size_t i = 0; i < SOME; i++)
			assert_done(fixture_give(new_fixture, subject.scene.threads.tids[i], &error));
		qsort(subject.scene.threads.tids, SOME, sizeof(pid_t), compare_tids);
		assert_all_equal(&subject);

		/* a reader that comes when all has gone finds nothing, and says so */
		end_reading(&subject);
		{
			size_t count;
			const uint32_t *maps = fixture_maps(new_fixture, &count);
			uint32_t *gone = memory_allocate(count * sizeof(*gone));
			struct scx_run run = {
				.name = "fixture_1.0", .enable_seq = 2, .maps = gone, .map_count = count};

			memcpy(gone, maps, count * sizeof(*gone));
			fixture_close(new_fixture);
			for (size_t i = 0; i < count; i++)
				wait_for_end_of_map(gone[i]);
			assert_null(scx_reader_open(&run, NULL, &subject.arena, &result));
			assert_int_not_equal(result.state, FEATURE_STATE_ON);
			assert_non_null(result.detail);
			free(gone);
		}
		fixture_threads_end(&subject.scene.threads);
		arena_release(&subject.arena);
	}
}

/* --- memory --- */

/* Reading and walking take no page of the arena, not even where a storage points to one that is not there. */
static void test_pages(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		uint32_t pages_before, pages_after;
		uint64_t kib_before, kib_after, unused;
		const struct scx_record *record;
		struct subject subject;
		struct sdt_walk walk;
		bool has;

		begin(&subject, layout, SOME, 1);
		unused = fixture_unused_address(subject.scene.fixture);
		assert_done(
			fixture_point(subject.scene.fixture, subject.scene.threads.tids[1], unused, &error));
		/* past the end of the arena, and nowhere */
		assert_done(fixture_point(subject.scene.fixture, subject.scene.threads.tids[2],
					  fixture_arena_address(subject.scene.fixture) + (UINT64_C(3) << 30),
					  &error));
		assert_done(fixture_point(subject.scene.fixture, subject.scene.threads.tids[3],
					  UINT64_MAX - 7, &error));
		assert_done(fixture_pages(subject.scene.fixture, &pages_before, &error));
		assert_done(fixture_resident(subject.scene.fixture, &kib_before, &error));
		for (size_t i = 0; i < 10; i++)
			read_all(&subject);
		assert_done(scx_reader_walk(subject.reader, &walk, &error));
		sdt_walk_release(&walk);
		assert_done(fixture_pages(subject.scene.fixture, &pages_after, &error));
		assert_done(fixture_resident(subject.scene.fixture, &kib_after, &error));
		assert_int_equal(pages_after, pages_before);
		assert_int_equal(kib_after, kib_before);
		assert_done(fixture_has_page(subject.scene.fixture, unused, &has, &error));
		assert_false(has);

		/* the others are read as before; these three are nobody's */
		assert_int_equal(subject.reading.count, SOME);
		for (size_t i = 0; i < SOME; i++) {
			record = find_record(&subject.reading, subject.scene.threads.tids[i]);
			assert_non_null(record);
			assert_int_equal(scx_record_is_own(record), i < 1 || i > 3);
		}
		record = find_record(&subject.reading, subject.scene.threads.tids[1]);
		assert_int_equal(record->element_id, 0);
		assert_int_equal(read_member(subject.scheduler, record, "pid"), 0);
		assert_int_equal(read_member(subject.scheduler, record, "seal"), 0);
		end(&subject);
	}
}

/* --- choices and the walk --- */

static void test_choice(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		static const struct context_choice no_map = {.map = "no_such_map"};
		struct context_choice own_map = {0};
		struct subject subject;
		struct feature_result result;
		struct scx_reader *reader;
		char wanted[128];

		begin(&subject, layout, FEW, 1);
		own_map.map = fixture_storage_name(subject.scene.fixture);
		if (layout != FIXTURE_DIRECT) {
			struct context_choice other_type = {.type = "queue_ctx"};

			reader = open_reader(subject.scene.fixture, &other_type, &subject.arena, &result);
			assert_non_null(reader);
			assert_string_equal(reader->scheduler->type, "queue_ctx");
			scx_reader_close(reader);
		}
		reader = open_reader(subject.scene.fixture, &own_map, &subject.arena, &result);
		assert_non_null(reader);
		assert_string_equal(reader->scheduler->storage, own_map.map);
		scx_reader_close(reader);
		/* a name that is none is a mistake, which another map must not hide */
		reader = open_reader(subject.scene.fixture, &no_map, &subject.arena, &result);
		assert_null(reader);
		assert_int_equal(result.state, FEATURE_STATE_OFF);
		assert_int_equal(result.reason, REASON_UNREADABLE);
		snprintf(wanted, sizeof(wanted), "fixture_1.0 has no task storage no_such_map, but %s",
			 own_map.map);
		assert_string_equal(result.detail, wanted);
		assert_string_equal(result.remedy, "ctop --scx-map NAME");
		end(&subject);
	}
}

/* The walk finds every context that the iterator finds, and those of threads that have ended. */
static void test_walk(void **state)
{
	struct subject subject;
	struct sdt_walk walk;

	(void)state;
	begin(&subject, FIXTURE_DIRECT, FEW, 1);
	assert_int_equal(scx_reader_walk(subject.reader, &walk, &error), -ENOTSUP);
	assert_non_null(strstr(error.text, "arena"));
	end(&subject);
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		struct fixture_threads ended;
		size_t found = 0;

		begin(&subject, layout, SOME, ROOT_CHILDREN);
		assert_done(fixture_threads_start(&ended, 1, &error));
		const int ended_tid = (int)ended.tids[0];
		assert_done(fixture_give(subject.scene.fixture, ended_tid, &error));
		fixture_threads_end(&ended);
		read_all(&subject);
		assert_int_equal(subject.reading.count, SOME);
		assert_done(scx_reader_walk(subject.reader, &walk, &error));
		assert_int_equal(walk.entry_count, SOME + 1);
		for (size_t i = 0; i < walk.entry_count; i++) {
			const struct sdt_walk_entry *entry = &walk.entries[i];
			struct fixture_context truth;
			int tid = ended_tid;
			char word[32];

			for (size_t k = 0; k < SOME; k++) {
				assert_done(fixture_look(subject.scene.fixture, subject.scene.threads.tids[k],
							 &truth, &error));
				if (truth.id.idx != entry->idx || truth.id.genn != entry->genn)
					continue;
				assert_int_equal(entry->user_addr, truth.element & UINT32_MAX);
				tid = (int)truth.context.pid;
				found++;
				break;
			}
			snprintf(word, sizeof(word), "%d", tid);
			assert_non_null(strstr(entry->text, word));
		}
		assert_int_equal(found, SOME);
		sdt_walk_release(&walk);
		end(&subject);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),  cmocka_unit_test(test_nice),
		cmocka_unit_test(test_freed),   cmocka_unit_test(test_stale),
		cmocka_unit_test(test_churn),   cmocka_unit_test(test_churn_kept_ids),
		cmocka_unit_test(test_restart), cmocka_unit_test(test_other_process),
		cmocka_unit_test(test_pages),   cmocka_unit_test(test_choice),
		cmocka_unit_test(test_walk),
	};

	is_long = argc > 1 && strcmp(argv[1], "--long") == 0;
	if (!fixture_works(&error)) {
		printf("SKIP: %s\n", error.text);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
