// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts of a sched_ext scheduler that really runs (schedulers/), where the kernel lets one: in a guest,
 * see tests/kernels. What is read is compared with what the kernel counts and with a walk of the allocator,
 * and the scheduler must not notice.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "../system/harness.h"
#include "../ui/pty_screen.h"
#include "../wait.h"
#include "base/clock.h"
#include "base/memory.h"
#include "capture/scx/scx_reader.h"
#include "reading.h"

enum {
	PATIENCE_S = 120, /* guests are emulated */
	WORKERS = 3,
	TASKS_MAX = 4096,
};

/* As sched_ext computes them: sched_weight_to_cgroup() of kernel/sched/sched.h. */
static const struct {
	const char *name;
	int nice;
	uint64_t weight;
} expected[WORKERS] = {{"plainspin", 0, 100}, {"nicespin", 10, 11}, {"keenspin", -5, 305}};

/* --- what the kernel says of sched_ext --- */

struct state {
	char state[32], ops[128], rejected[32], enable_seq[32];
};

static void read_line(const char *name, char *line, size_t size)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/sched_ext/%s", name);
	line[0] = '\0';
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fgets(line, (int)size, file) == NULL)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

static void read_state(struct state *state)
{
	memset(state, 0, sizeof(*state));
	read_line("state", state->state, sizeof(state->state));
	read_line("root/ops", state->ops, sizeof(state->ops));
	read_line("nr_rejected", state->rejected, sizeof(state->rejected));
	read_line("enable_seq", state->enable_seq, sizeof(state->enable_seq));
}

static void assert_same_state(const struct state *before)
{
	struct state now;

	read_state(&now);
	assert_string_equal(now.state, before->state);
	assert_string_equal(now.ops, before->ops);
	assert_string_equal(now.rejected, before->rejected);
	assert_string_equal(now.enable_seq, before->enable_seq);
}

/* --- a scheduler, and three threads that want to run --- */

struct workers {
	pid_t processes[WORKERS];
};

static struct helper scheduler;
static struct workers workers;

static void need_sched_ext(void)
{
	struct state state;

	read_state(&state);
	if (state.state[0] == '\0')
		skip_test("this kernel has no sched_ext");
}

static void scheduler_start(const char *const *words)
{
	const char *arguments[8] = {SCHEDULER_PROGRAM};
	char line[512], wanted[64];
	size_t last = 0;
	struct state state;

	need_sched_ext();
	while (words[last] != NULL) {
		arguments[last + 1] = words[last];
		last++;
	}
	helper_start(&scheduler, arguments, 0);
	if (!helper_answer(&scheduler, line, sizeof(line)))
		fail_msg("the scheduler did not start");
	if (strncmp(line, "SKIP: ", strlen("SKIP: ")) == 0)
		skip_test("%s", line + strlen("SKIP: "));
	snprintf(wanted, sizeof(wanted), "enabled %s", words[0][0] == '-' ? words[1] : words[0]);
	assert_string_equal(line, wanted);
	read_state(&state);
	assert_string_equal(state.state, "enabled");
}

/* It must have run until now, and ends well. */
static void scheduler_end(void)
{
	kill(scheduler.child, SIGTERM);
	assert_int_equal(helper_end(&scheduler), 0);
}

/* A worker has its name once it has run. */
static void wait_for_name(pid_t process, const char *name)
{
	struct patience patience = patience_begin(PATIENCE_S);
	char path[64], line[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", process);
	for (;;) {
		FILE *file = fopen(path, "re");

		assert_non_null(file);
		assert_non_null(fgets(line, sizeof(line), file));
		fclose(file);
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, name) == 0)
			return;
		if (!patience_pause(&patience))
			fail_msg("a worker is named %s, not %s", line, name);
	}
}

static void workers_start(void)
{
	for (size_t i = 0; i < WORKERS; i++) {
		pid_t process = fork();

		assert_true(process >= 0);
		if (process == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			prctl(PR_SET_NAME, expected[i].name);
			for (volatile uint64_t turn = 0;; turn = turn + 1)
				;
		}
		workers.processes[i] = process;
		assert_int_equal(setpriority(PRIO_PROCESS, (id_t)process, expected[i].nice), 0);
	}
	for (size_t i = 0; i < WORKERS; i++)
		wait_for_name(workers.processes[i], expected[i].name);
}

static void workers_end(void)
{
	for (size_t i = 0; i < WORKERS; i++) {
		if (workers.processes[i] == 0)
			continue;
		kill(workers.processes[i], SIGKILL);
		waitpid(workers.processes[i], NULL, 0);
		workers.processes[i] = 0;
	}
}

/* ns on a CPU: Documentation/scheduler/sched-stats.rst. */
static uint64_t kernel_runtime(pid_t process)
{
	char path[64];
	uint64_t runtime = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", process);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%" SCNu64, &runtime), 1);
	fclose(file);
	return runtime;
}

/* --- contexts --- */

struct subject {
	struct arena arena;
	struct scx_reader *reader;
	const struct task_field_owner *scheduler;
	struct scx_reading reading;
	char name[128];
	struct scx_run run;
};

static void subject_open(struct subject *subject)
{
	struct patience patience = patience_begin(PATIENCE_S);
	struct feature_result result;

	*subject = (struct subject){0};
	for (;;) {
		read_line("root/ops", subject->name, sizeof(subject->name));
		if (scx_reader_discover(subject->name, &subject->arena, &subject->run, &result))
			break;
		free(subject->run.maps);
		if (result.state != FEATURE_STATE_UNKNOWN || !patience_pause(&patience))
			fail_msg("%s was not found: %s", subject->name, result.detail);
	}
	assert_true(subject->run.map_count > 1);
	subject->reader = scx_reader_open(&subject->run, NULL, &subject->arena, &result);
	if (subject->reader == NULL)
		fail_msg("no reader for %s: %s", subject->name, result.detail);
	subject->scheduler = subject->reader->scheduler;
}

static void subject_close(struct subject *subject)
{
	scx_reader_close(subject->reader);
	free(subject->run.maps);
	arena_release(&subject->arena);
}

static void subject_read(struct subject *subject)
{
	assert_int_equal(scx_reader_read(subject->reader, NULL, &subject->reading), 0);
}

/* Reads until the contexts of all workers say so; the weights are by worker. */
static void wait_for_weights(struct subject *subject, const uint64_t weights[])
{
	struct patience patience = patience_begin(PATIENCE_S);

	for (size_t i = 0; i < WORKERS;) {
		const struct scx_record *record;
		uint64_t weight;

		subject_read(subject);
		record = find_record(&subject->reading, workers.processes[i]);
		weight = record != NULL ? read_member(subject->scheduler, record, "weight") : 0;
		if (weight == weights[i])
			i++;
		else if (!patience_pause(&patience))
			fail_msg("%s: worker %zu has weight %" PRIu64 ", not %" PRIu64, subject->name, i,
				 weight, weights[i]);
	}
}

/* The threads of the host, ascending. */
static size_t list_threads(uint32_t threads[TASKS_MAX])
{
	DIR *processes = opendir("/proc");
	size_t count = 0;

	assert_non_null(processes);
	for (const struct dirent *process; (process = readdir(processes)) != NULL;) {
		char path[300];
		DIR *tasks;

		if (isdigit((unsigned char)process->d_name[0]) == 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task", process->d_name);
		tasks = opendir(path);
		if (tasks == NULL)
			continue;
		for (const struct dirent *task; (task = readdir(tasks)) != NULL && count < TASKS_MAX;) {
			if (isdigit((unsigned char)task->d_name[0]) != 0)
				threads[count++] = (uint32_t)strtoul(task->d_name, NULL, 10);
		}
		closedir(tasks);
	}
	closedir(processes);
	return count;
}

/* Every thread that lived all the time has a context, which is its own and says so. */
static void check_threads(struct subject *subject)
{
	static uint32_t before[TASKS_MAX], after[TASKS_MAX];
	size_t before_count = list_threads(before), after_count, checked = 0;

	subject_read(subject);
	after_count = list_threads(after);
	for (size_t i = 0; i < subject->reading.count; i++) {
		const struct scx_record *record = scx_reading_record(&subject->reading, i);

		if (scx_record_is_own(record))
			assert_int_equal(read_member(subject->scheduler, record, "pid"), record->tid);
	}
	for (size_t i = 0; i < before_count; i++) {
		const struct scx_record *record;
		bool lived = false;

		for (size_t j = 0; j < after_count && !lived; j++)
			lived = after[j] == before[i];
		if (!lived)
			continue;
		record = find_record(&subject->reading, (pid_t)before[i]);
		if (record == NULL)
			fail_msg("%s: thread %u has no context", subject->name, before[i]);
		assert_true(scx_record_is_own(record));
		checked++;
	}
	assert_true(checked > WORKERS);
}

/*
 * The scheduler adds up what the kernel has counted whenever a worker leaves its CPU: never more than the
 * kernel, and soon as much as it had counted before.
 */
static void check_runtimes(struct subject *subject)
{
	for (size_t i = 0; i < WORKERS; i++) {
		uint64_t before = kernel_runtime(workers.processes[i]), runtime;
		struct patience patience = patience_begin(PATIENCE_S);

		for (;;) {
			const struct scx_record *record;

			subject_read(subject);
			record = find_record(&subject->reading, workers.processes[i]);
			assert_non_null(record);
			runtime = read_member(subject->scheduler, record, "sum_runtime");
			assert_true(runtime <= kernel_runtime(workers.processes[i]));
			if (runtime >= before)
				break;
			if (!patience_pause(&patience))
				fail_msg("%s: worker %zu ran %" PRIu64 " ns, its context says %" PRIu64,
					 subject->name, i, before, runtime);
		}
	}
}

/* The walk finds the same contexts; those of threads that come and go meanwhile are left out. */
static void check_walk(struct subject *subject, bool has_allocator)
{
	struct error error = {0};
	struct sdt_walk walk;
	size_t found = 0;
	int status;

	subject_read(subject);
	status = scx_reader_walk(subject->reader, &walk, &error);
	if (!has_allocator) {
		assert_int_equal(status, -ENOTSUP);
		return;
	}
	assert_int_equal(status, 0);
	for (size_t i = 0; i < subject->reading.count; i++) {
		const struct scx_record *record = scx_reading_record(&subject->reading, i);
		const int32_t idx = (int32_t)record->id, genn = (int32_t)(record->id >> 32);
		char fields[64];
		size_t place = 0;

		if (kill((pid_t)record->tid, 0) != 0)
			continue;
		while (place < walk.entry_count &&
		       (walk.entries[place].idx != idx || walk.entries[place].genn != genn))
			place++;
		if (place == walk.entry_count)
			fail_msg("%s: the walk has no element %d.%d", subject->name, idx, genn);
		snprintf(fields, sizeof(fields), ".pid = %" PRIu32 ", .weight = %" PRIu64 ",", record->tid,
			 read_member(subject->scheduler, record, "weight"));
		if (strstr(walk.entries[place].text, fields) == NULL)
			fail_msg("%s: element %d.%d is not %s", subject->name, idx, genn, fields);
		found++;
	}
	assert_true(found > WORKERS);
	sdt_walk_release(&walk);
}

/* --- what ctop makes of them --- */

/* Whether sched_ext schedules a thread, by proc_pid_sched(5). */
static bool kernel_says_ext(int thread)
{
	char path[64], line[256];
	int enabled = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/sched", thread);
	file = fopen(path, "re");
	assert_non_null(file);
	while (enabled < 0 && fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "ext.enabled : %d", &enabled);
	fclose(file);
	assert_true(enabled >= 0);
	return enabled != 0;
}

/* The number that a captured context has in a member: pointers have none, arrays one for each element. */
static int64_t captured_field(yajl_val snapshot, yajl_val thread, const char *name)
{
	yajl_val members = json_member(json_member(json_member(snapshot, "ctop"), "scx"), "members");
	yajl_val values = json_member(json_member(thread, "ctop"), "scx");
	size_t place = 0;

	assert_non_null(members);
	assert_non_null(values);
	for (size_t i = 0; i < members->u.array.len; i++) {
		yajl_val member = members->u.array.values[i], count = json_member(member, "count");

		if (strcmp(json_text(member, "name"), name) == 0) {
			assert_true(place < values->u.array.len);
			return YAJL_GET_INTEGER(values->u.array.values[place]);
		}
		if (strcmp(json_text(member, "kind"), "pointer") != 0)
			place += count != NULL ? (size_t)YAJL_GET_INTEGER(count) : 1;
	}
	fail_msg("the file has no member %s", name);
	return 0;
}

/* A snapshot in which the workers have these weights; they had them before. */
static void check_capture(const uint64_t weights[])
{
	yajl_val snapshot = capture_snapshot(0);

	for (size_t i = 0; i < WORKERS; i++) {
		yajl_val thread = snapshot_thread(snapshot, workers.processes[i]);

		assert_non_null(thread);
		assert_true(kernel_says_ext(workers.processes[i]));
		assert_true(YAJL_IS_TRUE(json_member(thread, "ext_enabled")));
		assert_int_equal(captured_field(snapshot, thread, "pid"), workers.processes[i]);
		assert_int_equal(captured_field(snapshot, thread, "weight"), weights[i]);
	}
	/* of the highest scheduling class, which no scheduler gets: migration/0 on each host */
	for (int thread = 2; thread < 100; thread++) {
		yajl_val record = snapshot_thread(snapshot, thread);

		if (record == NULL || strcmp(json_text(record, "comm"), "migration/0") != 0)
			continue;
		assert_false(kernel_says_ext(thread));
		assert_true(YAJL_IS_FALSE(json_member(record, "ext_enabled")));
		yajl_tree_free(snapshot);
		return;
	}
	fail_msg("there is no migration/0");
}

static yajl_val print_scx(const char *const *arguments)
{
	struct run run;
	char message[256];
	yajl_val printed;

	run_ctop(&run, &(struct run_options){.timeout_s = PATIENCE_S}, arguments);
	run_expect(&run, 0);
	printed = yajl_tree_parse(run.output, message, sizeof(message));
	if (printed == NULL)
		fail_msg("ctop scx --json: %s", message);
	run_release(&run);
	return printed;
}

/* The context of a thread in what `ctop scx --json` printed, NULL for none. */
static yajl_val printed_context(yajl_val printed, pid_t thread)
{
	yajl_val threads = json_member(printed, "threads");

	assert_non_null(threads);
	for (size_t i = 0; i < threads->u.array.len; i++) {
		yajl_val record = threads->u.array.values[i];

		if (json_u64(record, "tid") == (uint64_t)thread)
			return json_member(record, "context");
	}
	return NULL;
}

/* Each context that a thread has is an element of the allocator, with the same thread in it. */
static void check_printed_walk(yajl_val printed)
{
	yajl_val threads = json_member(printed, "threads");
	yajl_val entries = json_member(json_member(printed, "walk"), "entries");
	size_t found = 0;

	assert_non_null(entries);
	assert_null(json_member(json_member(printed, "walk"), "truncated"));
	assert_int_equal(json_u64(json_member(printed, "walk"), "skipped_subtrees"), 0);
	for (size_t i = 0; i < threads->u.array.len; i++) {
		yajl_val record = threads->u.array.values[i];
		uint64_t thread = json_u64(record, "tid");
		char wanted[64];
		bool is_there = false;

		/* one that ended before the walk is not in it any more */
		if (json_member(record, "context") == NULL || kill((pid_t)thread, 0) != 0)
			continue;
		snprintf(wanted, sizeof(wanted), ".pid = %" PRIu64 ",", thread);
		for (size_t j = 0; j < entries->u.array.len && !is_there; j++) {
			yajl_val entry = entries->u.array.values[j];

			is_there = json_member(entry, "tid") != NULL && json_u64(entry, "tid") == thread &&
				   strstr(json_text(entry, "payload"), wanted) != NULL;
		}
		if (!is_there)
			fail_msg("the walk has not thread %" PRIu64, thread);
		found++;
	}
	assert_true(found > WORKERS);
}

/* `ctop scx` when the workers have these weights. */
static void check_command(const uint64_t weights[], const char *type, bool has_allocator)
{
	const char *arguments[] = {"scx", "--json", has_allocator ? "--walk" : NULL, NULL};
	char process[16];
	const char *one[] = {"scx", "--json", "-p", process, NULL};
	yajl_val printed = print_scx(arguments), threads, context;
	struct state state;
	size_t contexts = 0;

	read_state(&state);
	assert_string_equal(json_text(json_member(printed, "scheduler"), "name"), state.ops);
	assert_string_equal(json_text(json_member(printed, "type"), "name"), type);
	for (size_t i = 0; i < WORKERS; i++) {
		context = printed_context(printed, workers.processes[i]);
		assert_non_null(context);
		assert_int_equal(json_u64(context, "weight"), weights[i]);
	}
	threads = json_member(printed, "threads");
	for (size_t i = 0; i < threads->u.array.len; i++) {
		yajl_val record = threads->u.array.values[i];

		context = json_member(record, "context");
		if (context == NULL)
			continue;
		assert_int_equal(json_u64(context, "pid"), json_u64(record, "tid"));
		contexts++;
	}
	assert_true(contexts > WORKERS);
	if (has_allocator)
		check_printed_walk(printed);
	yajl_tree_free(printed);

	snprintf(process, sizeof(process), "%d", workers.processes[0]);
	printed = print_scx(one);
	assert_int_equal(json_member(printed, "threads")->u.array.len, 1);
	assert_non_null(printed_context(printed, workers.processes[0]));
	yajl_tree_free(printed);
}

/* A scheduler that runs, and workers whose weights it has seen. */
struct scene {
	struct state before;
	struct subject subject;
	uint64_t weights[WORKERS];
};

/* Begins with the scheduler that was started. */
static void scene_begin(struct scene *scene)
{
	read_state(&scene->before);
	workers_start();
	subject_open(&scene->subject);
	for (size_t i = 0; i < WORKERS; i++)
		scene->weights[i] = expected[i].weight;
	wait_for_weights(&scene->subject, scene->weights);
}

/* Reading has changed nothing. */
static void scene_end(struct scene *scene)
{
	subject_close(&scene->subject);
	assert_same_state(&scene->before);
	workers_end();
	scheduler_end();
}

/* Gives the workers other niceness, and waits until the scheduler has seen it. */
static void renice_workers(struct subject *subject, const int nice[], const uint64_t weights[])
{
	for (size_t i = 0; i < WORKERS; i++)
		assert_int_equal(setpriority(PRIO_PROCESS, (id_t)workers.processes[i], nice[i]), 0);
	wait_for_weights(subject, weights);
}

struct variant {
	const char *words[3]; /* how the scheduler is started */
	bool has_allocator;
};

static void check_variant(void **state)
{
	static const uint64_t renice_weights[WORKERS] = {11, 305, 100};
	static const int renice[WORKERS] = {10, -5, 0};
	const struct variant *variant = *state;
	struct scene scene;

	scheduler_start(variant->words);
	scene_begin(&scene);
	check_threads(&scene.subject);
	check_runtimes(&scene.subject);
	check_walk(&scene.subject, variant->has_allocator);
	check_command(scene.weights, "task_ctx", variant->has_allocator);
	renice_workers(&scene.subject, renice, renice_weights);
	scene_end(&scene);
}

static void says_why_there_are_no_contexts(void **state)
{
	static const char *const arguments[] = {"scx", NULL};
	struct state now;
	struct run run;

	(void)state;
	read_state(&now);
	run_ctop(&run, NULL, arguments);
	assert_true(run.status > 0);
	assert_non_null(strstr(run.errors, now.state[0] == '\0' ? "no /sys/kernel/sched_ext"
								: "no sched_ext scheduler runs"));
	run_release(&run);
}

/* --- captures and the screen --- */

static void captures_contexts(void **state)
{
	static const char *const words[] = {"after", NULL};
	static const uint64_t reniced[WORKERS] = {11, 11, 11};
	static const int nice[WORKERS] = {10, 10, 10};
	struct scene scene;

	(void)state;
	scheduler_start(words);
	scene_begin(&scene);
	check_capture(scene.weights);
	renice_workers(&scene.subject, nice, reniced);
	check_capture(reniced);
	scene_end(&scene);
}

static void capture_file(const char *path)
{
	const char *arguments[] = {"capture", "-o", path, NULL};
	struct run run;

	run_ctop(&run, &(struct run_options){.timeout_s = PATIENCE_S}, arguments);
	run_expect(&run, 0);
	run_release(&run);
}

/* A row of the section of a scheduler's fields, for one of the workers: how its weight changed. */
static void check_compared(const struct run *run, const char *worker, const char *change)
{
	const char *section = strstr(run->output, "\n# scx\n");
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "\n%s\t1\t1\t0\t0\tscx.weight\t%s\t", worker, change);
	if (section == NULL || strstr(section, wanted) == NULL)
		fail_msg("no line '%s' in: %s", wanted + 1, run->output);
}

/* Two captures, between which two of three workers that were alike get other niceness. */
static void compares_weights(void **state)
{
	static const char *const words[] = {"after", NULL};
	static const uint64_t alike[WORKERS] = {100, 100, 100};
	const char *before_path = scratch_path("before"), *after_path = scratch_path("after");
	const char *arguments[] = {"diff",
				   before_path,
				   after_path,
				   "--sections",
				   "scx",
				   "-g",
				   "comm",
				   "--format",
				   "tsv",
				   "--fail-if",
				   "scx.weight(keenspin) > 200",
				   "--limit",
				   "0",
				   NULL};
	uint64_t weights[WORKERS];
	struct subject subject;
	struct run run;

	(void)state;
	scheduler_start(words);
	workers_start();
	for (size_t i = 0; i < WORKERS; i++)
		assert_int_equal(setpriority(PRIO_PROCESS, (id_t)workers.processes[i], 0), 0);
	subject_open(&subject);
	wait_for_weights(&subject, alike);
	capture_file(before_path);
	for (size_t i = 0; i < WORKERS; i++) {
		weights[i] = expected[i].weight;
		assert_int_equal(setpriority(PRIO_PROCESS, (id_t)workers.processes[i], expected[i].nice), 0);
	}
	wait_for_weights(&subject, weights);
	subject_close(&subject);
	capture_file(after_path);
	run_ctop(&run, &(struct run_options){.timeout_s = PATIENCE_S}, arguments);
	run_expect(&run, 3);
	check_compared(&run, "plainspin", "100 → 100\t+0\t+0.0%");
	check_compared(&run, "nicespin", "100 → 11\t-89\t-89.0%");
	check_compared(&run, "keenspin", "100 → 305\t+205\t+205.0%");
	assert_non_null(strstr(run.errors, "scx.weight(keenspin) > 200: keenspin changed by +205"));
	assert_non_null(strstr(run.errors, " (+205.0%)"));
	run_release(&run);
	workers_end();
	scheduler_end();
}

/* The number under the heading WEIGHT in the row of a worker, -1 for none. */
static int shown_weight(struct pty_screen *pty, const char *name)
{
	int column, heading = pty_find(pty, "WEIGHT", &column), row = pty_find(pty, name, NULL), weight = -1;
	const char *text;

	if (heading < 0 || row < 0)
		return -1;
	text = pty_row(pty, row);
	/* it ends where the heading does */
	if (strlen(text) < (size_t)column)
		return -1;
	return sscanf(text + column, "%d", &weight) == 1 ? weight : -1;
}

static bool weights_are_shown(struct pty_screen *pty, const void *context)
{
	(void)context;
	for (size_t i = 0; i < WORKERS; i++) {
		if (shown_weight(pty, expected[i].name) != (int)expected[i].weight)
			return false;
	}
	return true;
}

static bool no_weight_is_shown(struct pty_screen *pty, const void *context)
{
	(void)context;
	return pty_find(pty, "WEIGHT", NULL) < 0;
}

/* Whether a word stands in the line of tabs. */
static bool has_tab(struct pty_screen *pty, const void *context)
{
	int row = pty_find(pty, "1 Overview", NULL);

	return row >= 0 && strstr(pty_row(pty, row), context) != NULL;
}

/* The screen follows: another scheduler with other fields, none, another one again. */
static void screen_follows_schedulers(void **state)
{
	static const char *const words[] = {"after", "direct", NULL}, *const last[] = {"before", NULL};
	static const char *const arguments[] = {CTOP_PROGRAM, "-t", "scx",          "-d",
						"1",          "-g", "thread-exact", NULL};
	static const struct pty_options options = {.rows = 50, .columns = 240};
	char line[64];
	struct pty_screen pty;

	(void)state;
	scheduler_start(words);
	workers_start();
	pty_start(&pty, &options, arguments);
	pty_wait_text(&pty, "ctop_after");
	pty_type(&pty, "/spin\r");
	pty_wait(&pty, weights_are_shown, NULL, "the weights of the first scheduler");
	assert_true(pty_find(&pty, "SLEEP_COUNT", NULL) < 0);

	kill(scheduler.child, SIGUSR1);
	assert_true(helper_answer(&scheduler, line, sizeof(line)));
	assert_string_equal(line, "enabled direct");
	pty_wait_text(&pty, "ctop_direct");
	pty_wait_text(&pty, "SLEEP_COUNT");
	pty_wait(&pty, weights_are_shown, NULL, "the weights of the second scheduler");
	pty_wait_no_text(&pty, "ctop_after");

	/* no value of a scheduler that has gone, and no tab for who leaves it */
	scheduler_end();
	pty_wait_text(&pty, "is gone; waiting for another one");
	pty_wait(&pty, no_weight_is_shown, NULL, "no weights");
	scheduler_start(last);
	pty_wait_text(&pty, "the scheduler ctop_before was started");
	scheduler_end();
	pty_wait_text(&pty, "is gone; waiting for another one");
	pty_type(&pty, "1");
	pty_wait_text(&pty, "RUNQ%");
	assert_true(has_tab(&pty, "Latency"));
	assert_false(has_tab(&pty, "Scx"));

	/* from the first tab back to the last one */
	scheduler_start(last);
	pty_wait(&pty, has_tab, "Scx", "the tab of a scheduler");
	pty_type(&pty, "\033[Z");
	pty_wait_text(&pty, "ctop_before");
	pty_wait(&pty, weights_are_shown, NULL, "the weights of the last scheduler");
	assert_true(pty_find(&pty, "SLEEP_COUNT", NULL) < 0);
	pty_type(&pty, "\x03");
	assert_int_equal(pty_wait_end(&pty), 0);
	pty_release(&pty);
	workers_end();
	scheduler_end();
}

/* --- one that was released, which says nothing to its loader's output that could be waited for --- */

static const char *released;

/* Runtimes are measured by its own clock readings: as much more as the kernel's, but for a tenth. */
static void check_released_runtimes(struct subject *subject)
{
	for (size_t i = 0; i < WORKERS; i++) {
		struct patience patience = patience_begin(PATIENCE_S);
		uint64_t began, kernel_began, kernel_then, ran;

		subject_read(subject);
		assert_non_null(find_record(&subject->reading, workers.processes[i]));
		began = read_member(subject->scheduler, find_record(&subject->reading, workers.processes[i]),
				    "sum_runtime");
		kernel_began = kernel_runtime(workers.processes[i]);
		do {
			assert_true(patience_pause(&patience));
			kernel_then = kernel_runtime(workers.processes[i]) - kernel_began;
		} while (kernel_then < NS_PER_S);
		for (;;) {
			subject_read(subject);
			assert_non_null(find_record(&subject->reading, workers.processes[i]));
			ran = read_member(subject->scheduler,
					  find_record(&subject->reading, workers.processes[i]),
					  "sum_runtime") -
			      began;
			if (ran >= kernel_then / 10 * 9)
				break;
			if (!patience_pause(&patience))
				fail_msg("%s: worker %zu ran %" PRIu64 " ns more, its context says %" PRIu64,
					 subject->name, i, kernel_then, ran);
		}
		/* what it had run before and was not in its context yet: at most a slice or two */
		assert_true(ran <=
			    (kernel_runtime(workers.processes[i]) - kernel_began) / 10 * 11 + NS_PER_S / 10);
	}
}

static void reads_contexts_of_a_released_scheduler(void **state)
{
	const char *arguments[] = {released, NULL};
	struct patience patience = patience_begin(PATIENCE_S);
	struct scene scene;
	struct state now;

	(void)state;
	need_sched_ext();
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL); /* some want it; it may be there */
	helper_start(&scheduler, arguments, 0);
	do {
		if (!patience_pause(&patience))
			fail_msg("%s is not enabled", released);
		if (waitpid(scheduler.child, NULL, WNOHANG) != 0) {
			scheduler = (struct helper){0};
			fail_msg("%s ended", released);
		}
		read_state(&now);
	} while (strcmp(now.state, "enabled") != 0);
	scene_begin(&scene);
	check_threads(&scene.subject);
	check_released_runtimes(&scene.subject);
	check_command(scene.weights, scene.subject.scheduler->type,
		      strncmp(scene.subject.scheduler->layout, "arena", strlen("arena")) == 0);
	scene_end(&scene);
}

/* Removes the remains of a failed test. */
static int clean(void **state)
{
	(void)state;
	workers_end();
	if (scheduler.child != 0) {
		kill(scheduler.child, SIGTERM);
		helper_end(&scheduler);
	}
	return 0;
}

/* guest_scx [--released PROGRAM]: with a scheduler that was released, else with those of our own. */
int main(int count, char **words)
{
	const struct CMUnitTest released_tests[] = {
		cmocka_unit_test_teardown(reads_contexts_of_a_released_scheduler, clean),
	};
	static struct variant direct = {{"direct"}, false}, before = {{"before"}, true},
			      after = {{"after"}, true}, cid = {{"cid"}, true},
			      unlinked = {{"--no-link", "after"}, true};
	const struct CMUnitTest tests[] = {
		{"reads_contexts_in_task_storage", check_variant, NULL, clean, &direct},
		{"reads_contexts_behind_their_id", check_variant, NULL, clean, &before},
		{"reads_contexts_before_their_id", check_variant, NULL, clean, &after},
		{"reads_contexts_of_a_scheduler_in_cid_form", check_variant, NULL, clean, &cid},
		{"finds_a_scheduler_without_a_link", check_variant, NULL, clean, &unlinked},
		cmocka_unit_test_teardown(says_why_there_are_no_contexts, clean),
		cmocka_unit_test_teardown(captures_contexts, clean),
		cmocka_unit_test_teardown(compares_weights, clean),
		cmocka_unit_test_teardown(screen_follows_schedulers, clean),
	};

	if (count == 3 && strcmp(words[1], "--released") == 0) {
		released = words[2];
		return cmocka_run_group_tests(released_tests, NULL, NULL);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
