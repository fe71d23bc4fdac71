/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop probe`: the allocation counters of the threads of one process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/living_thread.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "base/reader.h"
#include "base/stat_file.h"
#include "base/unicode.h"
#include "capture/host/feature.h"
#include "capture/procfs/text_scan.h"
#include "capture/procfs/thread_file.h"
#include "cmd/line/output.h"
#include "cmd/line/privilege.h"
#include "commands.h"
#include "probe/probe.h"
#include "probe/process/process_map.h"
#include "probe_sidecar.h"
#include "report/json_text.h"
#include "table/evidence.h"

/* The length of one wait; the flag is checked between two. */
#define SLICE_NS (10 * NS_PER_MS)

enum {
	COMMAND_APPEND_FAILED = 3,
	SCHEMA_VERSION = 3, /* of the JSON */
};

struct probe_command_options {
	uint64_t pid;
	bool json;
	uint64_t snapshots;
	uint64_t interval_ms; /* 0: not given */
	uint64_t abort_after_ms;
	const char *sidecar;
	bool no_stop;
};

struct probe_snapshot {
	int64_t unix_seconds;         /* when it began */
	uint64_t elapsed_ns;          /* since the run began */
	struct probe_thread *threads; /* owned; by tid */
	char **names; /* owned, as each is; NULL, and no start time, for a thread whose stat could not be read
		       */
	size_t count;
};

struct probe_record {
	uint32_t pid;
	int64_t started_unix_seconds;
	uint64_t wanted;                  /* snapshots asked for */
	uint64_t interval_ms;             /* between them; 0 for a single one */
	bool interrupted;                 /* before all of it was read */
	const char *layout;               /* origin of the offsets, NULL when it did not come to that */
	char *version;                    /* of jemalloc, owned; NULL when unknown */
	struct probe_snapshot *snapshots; /* owned */
	size_t count;
};

struct run {
	const struct probe_command_options *options;
	struct probe *probe;
	struct reader *reader;
	const struct probe_process *process;
	int directory; /* of the process */
	struct executable identity;
	uint64_t started_ns;
	struct probe_record record;
};

static const char *const own_roots[ROOT_COUNT];

static void set_defaults(void *options)
{
	((struct probe_command_options *)options)->snapshots = 1;
}

/* --- stopping early --- */

/* SIGINT, SIGTERM and a deadline set it: the run is to stop. Calls that block return EINTR. */
static volatile int stop_flag;

static char deadline_marker[80];

static void set_flag(int number)
{
	const int before = errno;

	stop_flag = 1;
	if (number == SIGALRM)
		(void)file_write_all(STDERR_FILENO, deadline_marker, strlen(deadline_marker));
	errno = before;
}

/* What SIGINT and SIGTERM do from now on, unless the caller has them ignored. */
static void handle_stops(void (*handler)(int number))
{
	static const int signals[] = {SIGINT, SIGTERM};
	const struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART */
	struct sigaction former;

	for (size_t i = 0; i < ARRAY_COUNT(signals); i++) {
		if (sigaction(signals[i], NULL, &former) == 0 && former.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/* Installs the handlers and, for a `deadline_ms` above 0, starts a timer that sets the flag and prints the
 * marker. */
static void catch_stops(uint64_t deadline_ms)
{
	const struct sigaction on_alarm = {.sa_handler = set_flag};
	const struct timespec deadline = clock_timespec(deadline_ms * NS_PER_MS);
	const struct itimerval timer = {.it_value = {deadline.tv_sec, deadline.tv_nsec / (long)NS_PER_US}};

	snprintf(deadline_marker, sizeof(deadline_marker), "ctop-probe-deadline: abort after %" PRIu64 "ms\n",
		 deadline_ms);
	handle_stops(set_flag);
	sigaction(SIGALRM, &on_alarm, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void stop_timer(void)
{
	const struct itimerval none = {0};

	setitimer(ITIMER_REAL, &none, NULL);
}

/* Sleeps until `until_ns` (CLOCK_MONOTONIC) or until the flag is set. */
static void sleep_until(uint64_t until_ns)
{
	uint64_t now;

	while (stop_flag == 0 && (now = clock_ns(CLOCK_MONOTONIC)) < until_ns) {
		const uint64_t left = until_ns - now;
		const struct timespec slice = clock_timespec(left < SLICE_NS ? left : SLICE_NS);

		nanosleep(&slice, NULL);
	}
}

/* --- failures of the whole run --- */

/* Ends the run as a whole: the tag goes to stderr with the sentence. Returns a negative number. */
__attribute__((format(printf, 2, 3))) static int fatal(enum heap_tag tag, const char *format, ...)
{
	struct buffer line = {0};
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = memory_format_list(format, arguments);
	va_end(arguments);
	buffer_append_format(&line, "ctop-probe-fatal: %s\nerror: [%s] ", heap_tags[tag].name,
			     heap_tags[tag].name);
	unicode_append_printable(&line, text, strlen(text), "?");
	buffer_append_char(&line, '\n');
	file_write_all(STDERR_FILENO, line.data, line.length);
	buffer_release(&line);
	free(text);
	return -ECANCELED;
}

/* The privilege that would let us read the process, by the features of this user; owned by the caller. */
static char *find_missing_privilege(void)
{
	struct feature_checks checks = {0};
	struct buffer hint = {0};
	struct roots roots;
	struct error error;

	if (roots_open(&roots, own_roots, &error) == 0) {
		feature_check_all(&checks, &roots, -EXDEV, NULL);
		roots_close(&roots);
	}
	evidence_append_privilege_hint(&checks.results[FEATURE_PROCESS_MEMORY], getuid() == 0, &hint);
	feature_release(&checks);
	return buffer_steal(&hint);
}

/* The same as fatal() with "process N: what is wrong: the detail (what helps)". */
static int fatal_failure(const struct run *run, enum heap_tag tag, const char *detail)
{
	const bool privilege = (heap_tags[tag].flags & HEAP_TAG_PRIVILEGE) != 0;
	char *remedy = privilege ? find_missing_privilege() : NULL;
	const char *help = privilege ? remedy : heap_tags[tag].remedy;
	const int result = fatal(tag, "process %" PRIu32 ": %s%s%s%s%s%s", run->record.pid,
				 heap_tags[tag].words, detail[0] != '\0' ? ": " : "", detail,
				 help != NULL ? " (" : "", help != NULL ? help : "", help != NULL ? ")" : "");

	free(remedy);
	return result;
}

/* Identifies the executable through a living thread. Returns the result of executable_identify(). */
static int identify(const struct run *run, struct executable *ret_identity)
{
	uint32_t tid;
	const int directory = living_thread_open(run->directory, run->record.pid, &tid);
	int result = directory;

	if (directory >= 0) {
		result = executable_identify(directory, ret_identity);
		close(directory);
	}
	return result;
}

static int check_identity(const struct run *run)
{
	struct executable now;
	const int result = identify(run, &now);

	if (result < 0)
		return fatal(HEAP_TAG_EXE_IDENTITY_CHANGED,
			     "the executable of process %" PRIu32 " is no longer visible: %s",
			     run->record.pid, strerror(-result));
	if (now.device != run->identity.device || now.inode != run->identity.inode)
		return fatal(HEAP_TAG_EXE_IDENTITY_CHANGED, "process %" PRIu32 " now runs another program",
			     run->record.pid);
	return 0;
}

/* Returns the process of a procfs directory, which may belong to any thread; 0 if unknown. */
static uint32_t find_process(int directory)
{
	struct buffer text = {0};
	struct text value;
	uint32_t tgid = 0;

	if (thread_file_read(directory, "status", &text) < 0 ||
	    !text_find_value(text_of(&text), "Tgid", &value) ||
	    !number_parse_u32(value.data, value.length, &tgid))
		tgid = 0;
	buffer_release(&text);
	return tgid;
}

static int open_process(struct run *run)
{
	const uint32_t pid = run->record.pid;
	uint32_t tgid;
	char path[32];
	int result;

	if ((pid_t)pid == getpid())
		return fatal(HEAP_TAG_SELF_PROBE_REJECTED, "process %" PRIu32 " is this program itself", pid);
	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	run->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run->directory < 0)
		return fatal(HEAP_TAG_PID_MISSING, "there is no process %" PRIu32 ": %s: %s", pid, path,
			     strerror(errno));
	tgid = find_process(run->directory);
	if (tgid != 0 && tgid != pid)
		return fatal(HEAP_TAG_PID_MISSING,
			     "%" PRIu32 " is a thread of process %" PRIu32 "; name that", pid, tgid);
	result = identify(run, &run->identity);
	if (result == -EACCES || result == -EPERM)
		return fatal_failure(run, HEAP_TAG_NOT_PERMITTED, "");
	if (result < 0)
		return fatal(HEAP_TAG_PID_MISSING,
			     "process %" PRIu32 " has no executable (a kernel thread or a zombie): %s", pid,
			     strerror(-result));
	return 0;
}

/* Attaches, or checks that the process is still the one attached to. Returns 0, also when stopped. */
static int attach(struct run *run)
{
	for (;;) {
		run->process = probe_look(run->probe, run->record.pid, run->directory, PROBE_RAN);
		if (run->process->state != PROBE_STATE_RESOLVING || stop_flag != 0)
			break;
		probe_serve(run->probe, clock_ns(CLOCK_MONOTONIC) + SLICE_NS);
	}
	if (run->process->state == PROBE_STATE_RESOLVING)
		return 0;
	if (run->process->state == PROBE_STATE_FAILED)
		return fatal_failure(run, run->process->tag, run->process->text);
	run->record.layout = layout_origin_names[run->process->origin];
	free(run->record.version);
	run->record.version = run->process->version[0] != '\0' ? memory_duplicate(run->process->version)
							       : NULL;
	return 0;
}

static int list_threads(int directory, struct probe_snapshot *snapshot)
{
	DIR *task = file_open_directory(directory, "task");
	size_t capacity = 0;
	struct dirent *entry;
	int result;

	if (task == NULL)
		return -errno;
	while ((errno = 0, entry = readdir(task)) != NULL) {
		uint32_t tid;

		if (!number_parse_u32(entry->d_name, strlen(entry->d_name), &tid))
			continue;
		*MEMORY_APPEND(snapshot->threads, snapshot->count,
			       capacity) = (struct probe_thread){.tid = tid, .tag = HEAP_TAG_NONE};
	}
	result = -errno;
	closedir(task);
	if (snapshot->count != 0)
		qsort(snapshot->threads, snapshot->count, sizeof(snapshot->threads[0]), order_by_u32);
	return result;
}

/*
 * Sets the start time of a thread, and its state ('\0' if unknown). Returns its name, owned by the caller, or
 * NULL if the thread is gone.
 */
static char *read_stat(int directory, struct probe_thread *thread, char *ret_state)
{
	struct buffer text = {0};
	const char *name = NULL, *name_end = NULL, *start;
	char path[40], *copy = NULL;

	snprintf(path, sizeof(path), "task/%" PRIu32 "/stat", thread->tid);
	if (file_read(directory, path, &text, STAT_FILE_BYTES_MAX) == 0)
		name = strchr(text.data, '(');
	if (name != NULL)
		name_end = strrchr(name, ')');
	start = stat_file_field(&text, STAT_FILE_START_TIME);
	*ret_state = *stat_file_field(&text, STAT_FILE_STATE);
	if (name_end != NULL && number_parse_u64(start, strcspn(start, " "), &thread->start_time))
		copy = memory_duplicate_bytes(name + 1, (size_t)(name_end - name - 1));
	buffer_release(&text);
	return copy;
}

static void drop_unreached(struct probe_snapshot *snapshot)
{
	size_t kept = 0;

	for (size_t i = 0; i < snapshot->count; i++) {
		if (snapshot->threads[i].tag == HEAP_TAG_NEEDS_STOP) {
			free(snapshot->names[i]);
			continue;
		}
		snapshot->threads[kept] = snapshot->threads[i];
		snapshot->names[kept++] = snapshot->names[i];
	}
	snapshot->count = kept;
}

static void read_threads(struct run *run, struct probe_snapshot *snapshot)
{
	const size_t listed = snapshot->count;
	size_t next = 0;
	int result;

	snapshot->names = memory_allocate_zero(listed + 1, sizeof(snapshot->names[0]));
	snapshot->count = 0;
	for (; next < listed && stop_flag == 0; next++) {
		struct probe_thread thread = snapshot->threads[next];
		char state, *name = read_stat(run->directory, &thread, &state);

		/* a leader that ended before its threads is still listed, without its counters */
		if (state == 'Z') {
			free(name);
			continue;
		}
		snapshot->threads[snapshot->count] = thread;
		snapshot->names[snapshot->count++] = name;
	}
	if (next < listed)
		run->record.interrupted = true;
	if (snapshot->count == 0)
		return;
	result = probe_read(run->probe, run->process, snapshot->threads, snapshot->count, &stop_flag);
	if (result == -EINTR) {
		run->record.interrupted = true;
		drop_unreached(snapshot);
		return;
	}
	for (size_t i = 0; result < 0 && i < snapshot->count; i++) {
		if (snapshot->threads[i].tag != HEAP_TAG_NONE)
			continue;
		snapshot->threads[i].tag = HEAP_TAG_PROCESS_VM_READV;
		snapshot->threads[i].error_number = -result;
	}
}

static int take_snapshot(struct run *run)
{
	struct probe_snapshot snapshot = {.unix_seconds = (int64_t)(clock_ns(CLOCK_REALTIME) / NS_PER_S),
					  .elapsed_ns = clock_ns(CLOCK_MONOTONIC) - run->started_ns};
	const int result = list_threads(run->directory, &snapshot);

	if (result < 0) {
		free(snapshot.threads);
		return fatal(HEAP_TAG_TID_ENUMERATION_FAILURE,
			     "the threads of process %" PRIu32 " cannot be listed: %s", run->record.pid,
			     strerror(-result));
	}
	read_threads(run, &snapshot);
	run->record.snapshots = memory_resize(run->record.snapshots, run->record.count + 1,
					      sizeof(run->record.snapshots[0]));
	run->record.snapshots[run->record.count++] = snapshot;
	return 0;
}

static int take_snapshots(struct run *run)
{
	int result = 0;

	for (uint64_t i = 0; result == 0 && i < run->record.wanted; i++) {
		const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

		if (stop_flag != 0 || run->record.interrupted) {
			run->record.interrupted = true;
			break;
		}
		if (i > 0) {
			result = check_identity(run);
			if (result == 0)
				result = attach(run);
			if (result < 0)
				break;
			if (run->process->state != PROBE_STATE_READY)
				continue; /* stopped while it was looked at anew */
		}
		result = take_snapshot(run);
		if (i + 1 < run->record.wanted)
			sleep_until(begun_ns + run->options->interval_ms * NS_PER_MS);
	}
	return result;
}

/* All that needs rights, in the order of work. Returns 0, or negative when the run is over. */
static int probe_process(struct run *run)
{
	const struct probe_options options = {.reader = run->reader, .allow_stop = !run->options->no_stop};
	int result = open_process(run);

	if (result < 0)
		return result;
	run->probe = probe_create(&options);
	result = attach(run);
	if (result == 0)
		result = check_identity(run);
	if (result == 0)
		result = take_snapshots(run);
	probe_release(run->probe);
	return result;
}

/* --- the record --- */

static void release_record(struct probe_record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		for (size_t thread = 0; thread < record->snapshots[i].count; thread++)
			free(record->snapshots[i].names[thread]);
		free(record->snapshots[i].names);
		free(record->snapshots[i].threads);
	}
	free(record->snapshots);
	free(record->version);
	*record = (struct probe_record){0};
}

static bool all_failed(const struct probe_record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		for (size_t thread = 0; thread < record->snapshots[i].count; thread++) {
			if (record->snapshots[i].threads[thread].tag == HEAP_TAG_NONE)
				return false;
		}
	}
	return record->count > 0;
}

/* "[ptrace-seize] could not be attached to: Operation not permitted" */
static void append_failure(struct buffer *buffer, const struct probe_thread *thread)
{
	buffer_append_text(buffer, heap_tags[thread->tag].words);
	if (thread->error_number != 0)
		buffer_append_format(buffer, ": %s", strerror(thread->error_number));
	else if (heap_tags[thread->tag].remedy != NULL &&
		 (heap_tags[thread->tag].flags & HEAP_TAG_PRIVILEGE) == 0)
		buffer_append_format(buffer, " (%s)", heap_tags[thread->tag].remedy);
}

static void append_json_thread(const struct probe_thread *thread, const char *name, struct buffer *buffer)
{
	buffer_append_format(buffer, "        {\n          \"tid\": %" PRIu32, thread->tid);
	if (name != NULL) {
		buffer_append_text(buffer, ",\n          \"comm\": ");
		json_append_text(buffer, name);
		buffer_append_format(buffer, ",\n          \"start_time_jiffies\": %" PRIu64,
				     thread->start_time);
	}
	if (thread->tag == HEAP_TAG_NONE) {
		buffer_append_format(buffer,
				     ",\n          \"allocated_bytes\": %" PRIu64
				     ",\n          \"deallocated_bytes\": %" PRIu64,
				     thread->allocated, thread->deallocated);
	} else {
		struct buffer text = {0};

		buffer_append_format(&text, "[%s] ", heap_tags[thread->tag].name);
		append_failure(&text, thread);
		buffer_append_text(buffer, ",\n          \"error\": ");
		json_append_text(buffer, text.data);
		buffer_append_text(buffer, ",\n          \"error_kind\": ");
		json_append_text(buffer, heap_tags[thread->tag].name);
		buffer_release(&text);
	}
	buffer_append_text(buffer, "\n        }");
}

static void append_json_snapshot(const struct probe_snapshot *snapshot, struct buffer *buffer)
{
	buffer_append_format(buffer,
			     "    {\n      \"timestamp_unix_sec\": %" PRId64
			     ",\n      \"elapsed_since_start_ns\": %" PRIu64 ",\n      \"threads\": [",
			     snapshot->unix_seconds, snapshot->elapsed_ns);
	for (size_t i = 0; i < snapshot->count; i++) {
		buffer_append_text(buffer, i == 0 ? "\n" : ",\n");
		append_json_thread(&snapshot->threads[i], snapshot->names[i], buffer);
	}
	buffer_append_text(buffer, snapshot->count == 0 ? "]\n    }" : "\n      ]\n    }");
}

/* Appends the record as JSON, pretty-printed, with a newline at the end. */
static void append_json(const struct probe_record *record, struct buffer *buffer)
{
	buffer_append_format(buffer,
			     "{\n  \"schema_version\": %d,\n  \"pid\": %" PRIu32
			     ",\n  \"tool_version\": \"" CTOP_VERSION
			     "\",\n  \"started_at_unix_sec\": %" PRId64,
			     SCHEMA_VERSION, record->pid, record->started_unix_seconds);
	if (record->interval_ms != 0)
		buffer_append_format(buffer, ",\n  \"interval_ms\": %" PRIu64, record->interval_ms);
	buffer_append_format(buffer, ",\n  \"interrupted\": %s", record->interrupted ? "true" : "false");
	if (record->layout != NULL) {
		buffer_append_text(buffer, ",\n  \"layout\": ");
		json_append_text(buffer, record->layout);
	}
	if (record->version != NULL) {
		buffer_append_text(buffer, ",\n  \"jemalloc_version\": ");
		json_append_text(buffer, record->version);
	}
	buffer_append_text(buffer, ",\n  \"snapshots\": [");
	for (size_t i = 0; i < record->count; i++) {
		buffer_append_text(buffer, i == 0 ? "\n" : ",\n");
		append_json_snapshot(&record->snapshots[i], buffer);
	}
	buffer_append_text(buffer, record->count == 0 ? "]\n}\n" : "\n  ]\n}\n");
}

static void append_thread(const struct probe_thread *thread, const char *name, struct buffer *buffer)
{
	if (thread->tag != HEAP_TAG_NONE)
		buffer_append_format(buffer, "warning: tid %" PRIu32, thread->tid);
	else
		buffer_append_format(buffer, "tid=%" PRIu32, thread->tid);
	if (name != NULL) {
		buffer_append_text(buffer, " comm=");
		unicode_append_printable(buffer, name, strlen(name), "?");
	}
	if (thread->tag != HEAP_TAG_NONE) {
		buffer_append_format(buffer, " [%s]: ", heap_tags[thread->tag].name);
		append_failure(buffer, thread);
	} else {
		buffer_append_format(buffer, " allocated_bytes=%" PRIu64 " deallocated_bytes=%" PRIu64,
				     thread->allocated, thread->deallocated);
	}
	buffer_append_char(buffer, '\n');
}

/*
 * Appends the record as lines, names fit for a terminal: what was read to `output`, a warning for each thread
 * that could not be read to `warnings`.
 */
static void append_text(const struct probe_record *record, struct buffer *output, struct buffer *warnings)
{
	buffer_append_format(output, "pid=%" PRIu32 " tool_version=" CTOP_VERSION "\n", record->pid);
	for (size_t i = 0; i < record->count; i++) {
		const struct probe_snapshot *snapshot = &record->snapshots[i];

		buffer_append_format(output, "--- snapshot %zu/%" PRIu64 " @ %" PRId64 "s ---\n", i + 1,
				     record->wanted, snapshot->unix_seconds);
		for (size_t thread = 0; thread < snapshot->count; thread++) {
			append_thread(&snapshot->threads[thread], snapshot->names[thread],
				      snapshot->threads[thread].tag == HEAP_TAG_NONE ? output : warnings);
		}
	}
}

/* A reader that has stopped reading does not keep it from ending: signals act as they did before. */
static int print_record(const struct run *run)
{
	struct buffer warnings = {0};
	struct output output = {0};
	int status;

	if (run->options->json)
		append_json(&run->record, &output.buffer);
	else
		append_text(&run->record, &output.buffer, &warnings);
	handle_stops(SIG_DFL);
	if (warnings.length != 0)
		file_write_all(STDERR_FILENO, warnings.data, warnings.length);
	buffer_release(&warnings);
	status = output_end(&output);
	handle_stops(set_flag);
	return status;
}

static int conclude(const struct run *run)
{
	int status = COMMAND_DONE;
	struct buffer json = {0};
	struct error error;
	int result;

	if (all_failed(&run->record)) {
		const char *marker = run->record.wanted > 1 ? "ctop-probe-all-failed: multi\n"
							    : "ctop-probe-all-failed: single\n";

		file_write_all(STDERR_FILENO, marker, strlen(marker));
		status = COMMAND_FAILED;
	}
	if (print_record(run) != COMMAND_DONE)
		return COMMAND_FAILED;
	if (run->options->sidecar == NULL)
		return status;
	append_json(&run->record, &json);
	result = sidecar_append(run->options->sidecar, json.data, json.length, status, &stop_flag, &error);
	buffer_release(&json);
	if (result < 0) {
		command_failed(&error);
		if (status == COMMAND_DONE)
			status = COMMAND_APPEND_FAILED;
	}
	return status;
}

static int check_options(const struct probe_command_options *options, struct error *error)
{
	struct stat status;

	if (options->pid == 0)
		return error_set(error, -EINVAL, "probe needs a process: --pid N");
	if (options->snapshots > 1 && options->interval_ms == 0)
		return error_set(error, -EINVAL, "--snapshots above 1 needs --interval-ms MS");
	if (options->snapshots == 1 && options->interval_ms != 0)
		return error_set(error, -EINVAL, "--interval-ms needs --snapshots above 1");
	if (options->sidecar != NULL && stat(options->sidecar, &status) < 0)
		return error_set(error, -errno, "the sidecar %s cannot be used: %s; run the test first",
				 options->sidecar, strerror(errno));
	if (options->sidecar != NULL && !S_ISREG(status.st_mode))
		return error_set(error, -EINVAL, "the sidecar %s is not a file", options->sidecar);
	return 0;
}

static int probe_run(void *options_pointer, char **operands, int operand_count)
{
	const struct probe_command_options *options = options_pointer;
	struct run run = {.options = options, .directory = -1, .started_ns = clock_ns(CLOCK_MONOTONIC)};
	struct error error;
	int status = COMMAND_FAILED;

	(void)operands;
	(void)operand_count;
	if (check_options(options, &error) < 0)
		return command_misused(&probe_command, &error);
	run.record = (struct probe_record){.pid = (uint32_t)options->pid,
					   .started_unix_seconds = time(NULL),
					   .wanted = options->snapshots,
					   .interval_ms = options->interval_ms};
	run.reader = privilege_open_reader(own_roots);
	catch_stops(options->abort_after_ms);
	privilege_raise(own_roots);
	if (probe_process(&run) == 0)
		status = COMMAND_DONE;
	privilege_lower();
	reader_release(run.reader);
	if (run.directory >= 0)
		close(run.directory);
	if (status == COMMAND_DONE)
		status = conclude(&run);
	stop_timer();
	release_record(&run.record);
	return status;
}

static const struct option own_options[] = {
	{OPTION('\0', "pid", "N", struct probe_command_options, pid), .minimum = 1, .maximum = INT32_MAX,
	 .description = "the process to read; required"},
	{OPTION('\0', "json", NULL, struct probe_command_options, json),
	 .description = "print one JSON object instead of lines"},
	{OPTION('\0', "snapshots", "N", struct probe_command_options, snapshots), .minimum = 1,
	 .maximum = 100000,
	 .description = "read all threads this many times (1); above 1 needs --interval-ms"},
	{OPTION('\0', "interval-ms", "TIME", struct probe_command_options, interval_ms), .unit = "ms",
	 .minimum = 1, .maximum = 3600000, .description = "time from one snapshot to the next"},
	{OPTION('\0', "abort-after-ms", "TIME", struct probe_command_options, abort_after_ms), .unit = "ms",
	 .minimum = 1, .maximum = 3600000,
	 .description = "stop after this much time and print what has been read"},
	{OPTION('\0', "sidecar", "PATH", struct probe_command_options, sidecar),
	 .description = "also append every number to the metrics of this JSON test result, which must exist"},
	{OPTION('\0', "no-stop", NULL, struct probe_command_options, no_stop),
	 .description =
		 "never stop a thread; those that can be read in no other way are reported as needs-stop"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
};

const struct command probe_command = {
	.name = "probe",
	.summary = "print what the threads of one jemalloc program have allocated",
	.purpose = COMMAND_LOOKS,
	.usage = "--pid N [OPTION]...",
	.details = "Reads, from outside, the bytes that each thread has allocated and freed in its life, "
		   "from jemalloc's own counters. Threads of the GNU C library are read without stopping "
		   "them; others are stopped for a moment, at most 250 ms each, unless --no-stop forbids it. "
		   "Exit status: 0 when a thread could be read, 1 when none could, 2 for a wrong command "
		   "line, 3 when only the append to the sidecar failed.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct probe_command_options),
	.set_defaults = set_defaults,
	.run = probe_run,
};
