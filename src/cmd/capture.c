/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop capture`: one full snapshot into a file. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/heap_tag.h"
#include "base/humanize.h"
#include "base/reader.h"
#include "capture/capture.h"
#include "cmd/line/output.h"
#include "cmd/line/privilege.h"
#include "cmd/line/reading_options.h"
#include "commands.h"
#include "workload.h"
#include "session/session.h"
#include "store/ctprof.h"
#include "table/evidence.h"

struct capture_command_options {
	const char *output;
	struct option_numbers processes;
	double window_seconds;  /* 0: one reading */
	double budget_seconds;  /* negative: no bound */
	double latency_seconds; /* 0: not measured */
	struct root_options roots;
	struct heap_options heap;
	struct backend_options backend;
};

/* The time a capture waits for the search for allocation counters in executables. */
#define HEAP_PATIENCE_NS (10 * NS_PER_S)

/* A window has so many parts, or more that are shorter, but none of less. */
#define WINDOW_PARTS      12
#define WINDOW_PART_MAX_S 5.0
#define WINDOW_PART_MIN_S 0.25

/*
 * The time it waits for the answer of a file system, and for the file to be written where that had answered:
 * behind what others write that may take minutes, and what was read cannot be read again.
 */
#define TRY_PATIENCE_NS   (30 * NS_PER_S)
#define WRITE_PATIENCE_NS (600 * NS_PER_S)

static void set_defaults(void *options)
{
	((struct capture_command_options *)options)->budget_seconds = -1;
}

static void append_count(struct buffer *line, const char *before, uint64_t count, const char *after)
{
	buffer_append_text(line, before);
	humanize_count(line, count);
	buffer_append_text(line, after);
}

/* The same, but nothing when the count is 0. */
static void append_some(struct buffer *line, const char *before, uint64_t count, const char *after)
{
	if (count != 0)
		append_count(line, before, count, after);
}

/* "; io of 14 not permitted": what a thread does not have, as a kernel thread's memory, is no failure. */
static void append_missed(struct buffer *line, const struct tally *tallies)
{
	static const reason_id failures[] = {REASON_NOT_PERMITTED, REASON_OTHER_NAMESPACE, REASON_UNREADABLE,
					     REASON_BAD_VALUE, REASON_OVER_BUDGET};
	const char *separator = "; ";

	for (size_t source = 0; source < SOURCE_COUNT; source++) {
		/* messages have a line of their own */
		if (sources[source].file[0] == '\0')
			continue;
		for (size_t i = 0; i < ARRAY_COUNT(failures); i++) {
			uint64_t missed = tallies[source].missed[failures[i]];

			if (missed == 0)
				continue;
			buffer_append_format(line, "%s%s of", separator, sources[source].name);
			append_count(line, " ", missed, " ");
			buffer_append_text(line, reason_words(failures[i]));
			separator = ", ";
		}
	}
}

static void note_parsing(const struct snapshot *snapshot)
{
	struct buffer line = {0};

	append_count(&line, "", snapshot->thread_count,
		     snapshot->thread_count == 1 ? " thread read" : " threads read");
	append_some(&line, ", at least ", snapshot->provenance.hidden_threads,
		    " hidden from BPF (--backend procfs reads them)");
	append_some(&line, ", ", snapshot->provenance.ended, " ended meanwhile");
	if (snapshot->provenance.tallies != NULL)
		append_missed(&line, snapshot->provenance.tallies);
	append_some(&line, "; ", snapshot->parse_summary.negative_dotted_values, " negative values");
	command_note("%s", line.data);
	buffer_release(&line);
}

static void note_taskstats(const struct snapshot *snapshot)
{
	const struct taskstats_summary *summary = &snapshot->taskstats_summary;
	const struct feature_result *feature = &snapshot->provenance.features[FEATURE_TASKSTATS];
	struct buffer line = {0};

	append_count(&line, "taskstats: ", summary->ok_count, " answered");
	append_some(&line, ", ", summary->eperm_count, " not permitted");
	append_some(&line, ", ", summary->esrch_count, " ended");
	append_some(&line, ", ", summary->other_err_count, " failed");
	if (feature->state != FEATURE_STATE_ON)
		buffer_append_format(&line, "; %s",
				     feature->detail != NULL ? feature->detail
							     : reason_words(feature->reason));
	if (feature->state != FEATURE_STATE_ON && feature->remedy != NULL)
		buffer_append_format(&line, "; remedy: %s", feature->remedy);
	command_note("%s", line.data);
	buffer_release(&line);
}

/* Tells how many processes have jemalloc, how many of their threads were read, and why others were not. */
static void note_probe(const struct snapshot *snapshot)
{
	const struct probe_summary *summary = &snapshot->probe_summary;
	struct buffer line = {0};

	append_count(&line, "jemalloc: ", summary->jemalloc_detected, " of");
	append_count(&line, " ", summary->tgids_walked, " processes");
	append_count(&line, ", ", summary->probed_ok, " threads read");
	append_some(&line, ", ", summary->stopped, " stopped for it");
	if (summary->failed != 0) {
		append_count(&line, "; ", summary->failed, " failed, mostly ");
		buffer_append_text(&line, summary->dominant_failure);
	}
	append_some(&line, "; ", snapshot->provenance.tallies[SOURCE_JEMALLOC].missed[REASON_BEING_RESOLVED],
		    " threads of executables that took too long to resolve");
	if (summary->privilege_dominant) {
		const enum heap_tag tag = heap_tag_find(summary->dominant_failure);

		/* most may have failed for another reason, which no privilege helps */
		buffer_append_text(
			&line, (heap_tags[tag].flags & HEAP_TAG_PRIVILEGE) != 0 ? "; " : "; not permitted: ");
		evidence_append_privilege_hint(&snapshot->provenance.features[FEATURE_PROCESS_MEMORY],
					       snapshot->provenance.uid.value == 0, &line);
	}
	command_note("%s", line.data);
	buffer_release(&line);
}

/* A capture without a single thread, or without a process that was named, is a mistake, not a snapshot. */
static int check_threads(const struct snapshot *snapshot, const struct option_numbers *processes,
			 struct error *error)
{
	const struct feature_result *all = &snapshot->provenance.features[FEATURE_ALL_PROCESSES];
	const bool hides_processes = all->state == FEATURE_STATE_PARTIAL &&
				     all->reason == REASON_NOT_PERMITTED && all->detail != NULL;

	if (snapshot->thread_count == 0 && processes->count == 0)
		return error_set(error, -ENOENT, "there is no process below %s",
				 snapshot->provenance.roots[ROOT_PROC]);
	for (size_t i = 0; i < processes->count; i++) {
		bool found = false;

		for (size_t row = 0; row < snapshot->thread_count && !found; row++)
			found = snapshot->tgid[row] == processes->items[i];
		if (!found)
			return hides_processes
				       ? error_set(error, -ESRCH,
						   "process %" PRIu32 " does not exist or is hidden: %s",
						   processes->items[i], all->detail)
				       : error_set(error, -ESRCH, "there is no process %" PRIu32,
						   processes->items[i]);
	}
	return 0;
}

/* Begins to measure how long waits take, and goes on for some time; says so where that fails. */
static void watch_latency(struct capture *capture, double seconds)
{
	const struct timespec time = clock_timespec((uint64_t)(seconds * NS_PER_S));

	if (capture_switch_latency(capture, true) < 0)
		command_note("latency is not measured; `ctop doctor` says why");
	else
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* The time between two readings, s: that of a part, or less. */
static double reading_interval(double window_seconds)
{
	const double part = window_seconds / WINDOW_PARTS;

	if (part < WINDOW_PART_MIN_S)
		return WINDOW_PART_MIN_S;
	return part / ceil(part / WINDOW_PART_MAX_S);
}

static unsigned int part_readings(double window_seconds)
{
	return (unsigned int)fmax(1, round(window_seconds / WINDOW_PARTS / reading_interval(window_seconds)));
}

/*
 * Waits until `until_ns`, or until the command has ended (NULL: there is none), meanwhile reading reports of
 * ended threads and serving the heap probe. Returns by how much the wait ended late, ns; 0 if `until_ns` had
 * already passed.
 */
static uint64_t wait_until(struct capture *capture, const struct workload *workload, uint64_t until_ns)
{
	const bool waits = clock_ns(CLOCK_MONOTONIC) < until_ns;
	struct pollfd end = {.fd = workload != NULL ? workload_descriptor(workload) : -1, .events = POLLIN};

	for (;;) {
		const uint64_t next_ns = capture_serve_ended(capture);
		const uint64_t wake_ns = next_ns < until_ns ? next_ns : until_ns;
		struct timespec left;
		uint64_t now_ns;

		capture_serve_heap(capture, wake_ns);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (now_ns >= until_ns)
			return waits ? now_ns - until_ns : 0;
		left = clock_timespec(wake_ns > now_ns ? wake_ns - now_ns : 0);
		if (ppoll(&end, 1, &left, NULL) > 0)
			return 0;
	}
}

/* Collects the readings into the window and its parts. */
struct watch {
	struct session *whole, *part; /* counts from the beginning of the window, and of the present part */
	unsigned int readings;        /* of this part, beside its beginning */
	unsigned int part_readings;   /* that make one */
	const struct workload *workload; /* the window ends with it; NULL: with the time that was asked for */
	struct window_parts parts;
	uint64_t begun_ns;           /* CLOCK_MONOTONIC of the first reading */
	uint64_t longest_reading_ns; /* longest reading except the last one */
	uint64_t longest_delay_ns;   /* longest delay of a wakeup */
};

/* Takes over the reference; `is_end`: it is the last one. */
static void add_reading(struct watch *watch, struct snapshot *reading, bool is_end)
{
	session_add_round(watch->whole, snapshot_reference(reading));
	session_add_round(watch->part, reading);
	if (session_previous(watch->part) == NULL)
		return;
	watch->readings++;
	if (!is_end && watch->readings < watch->part_readings)
		return;
	session_take_part(watch->part, &watch->parts);
	watch->readings = 0;
}

/* Reads all counters, and cheap sources besides. */
static int take_round(struct capture *capture, struct watch *watch, struct error *error)
{
	const struct capture_round_options options = {
		.needed = source_with_flags(0) & ~source_with_flags(SOURCE_EXPENSIVE),
		.cgroup_records = true,
		.task_fields = true,
		.heap_patience_ns = session_now(watch->whole) == NULL ? HEAP_PATIENCE_NS : 0,
	};
	struct snapshot *round;
	const int result = capture_round(capture, &options, NULL, &round, error);

	if (result < 0)
		return result;
	if (round->provenance.duration_ns > watch->longest_reading_ns)
		watch->longest_reading_ns = round->provenance.duration_ns;
	add_reading(watch, round, false);
	return 0;
}

static void wait_in_window(struct capture *capture, struct watch *watch, uint64_t offset_ns)
{
	const uint64_t delay_ns = wait_until(capture, watch->workload, watch->begun_ns + offset_ns);

	if (delay_ns > watch->longest_delay_ns)
		watch->longest_delay_ns = delay_ns;
}

/* The first reading, which may wait for executables; processes named by the user must exist then. */
static int begin_window(const struct capture_command_options *options, struct capture *capture,
			struct watch *watch, struct error *error)
{
	const int result = take_round(capture, watch, error);
	uint64_t passed_ns;

	if (result < 0)
		return result;
	/* reading the clocks in this order never shortens a window, even with a wait for a CPU in between */
	passed_ns = clock_ns(CLOCK_BOOTTIME) - session_now(watch->whole)->provenance.boottime_ns;
	watch->begun_ns = clock_ns(CLOCK_MONOTONIC) - passed_ns;
	return check_threads(session_now(watch->whole), &options->processes, error);
}

static bool has_ended(const struct workload *workload)
{
	return poll(&(struct pollfd){.fd = workload_descriptor(workload), .events = POLLIN}, 1, 0) > 0;
}

/*
 * Reads until the command ends, except for the last reading. Nobody knows how long it takes: the first parts
 * are short, and become longer while it runs.
 */
static int watch_command(const struct capture_command_options *options, struct capture *capture,
			 struct watch *watch, struct error *error)
{
	uint64_t step_ns = (uint64_t)(WINDOW_PART_MIN_S * NS_PER_S), next_ns = step_ns;
	size_t parts = WINDOW_PARTS;
	int result = begin_window(options, capture, watch, error);

	if (result < 0)
		return result;
	workload_start(watch->workload);
	while (result == 0) {
		wait_in_window(capture, watch, next_ns);
		if (has_ended(watch->workload))
			break;
		result = take_round(capture, watch, error);
		if (watch->parts.count >= parts) {
			parts += WINDOW_PARTS / 2;
			if (step_ns < NS_PER_S)
				step_ns *= 2;
			else
				watch->part_readings *= 2;
		}
		while (watch->begun_ns + next_ns <= clock_ns(CLOCK_MONOTONIC))
			next_ns += step_ns;
	}
	return result;
}

/* Takes the readings of the window, except the last one. */
static int watch_window(const struct capture_command_options *options, struct capture *capture,
			struct watch *watch, struct error *error)
{
	const double seconds = options->window_seconds;
	const uint64_t step_ns = (uint64_t)(reading_interval(seconds) * NS_PER_S);
	const uint64_t length_ns = (uint64_t)(seconds * NS_PER_S);
	int result = begin_window(options, capture, watch, error);

	for (uint64_t next_ns = step_ns; result == 0 && next_ns + step_ns / 2 < length_ns;
	     next_ns += step_ns) {
		/* a reading that takes longer than the time between two lets some out */
		if (clock_ns(CLOCK_MONOTONIC) - watch->begun_ns > next_ns + step_ns / 2)
			continue;
		wait_in_window(capture, watch, next_ns);
		result = take_round(capture, watch, error);
	}
	if (result == 0)
		wait_in_window(capture, watch, length_ns);
	return result;
}

/*
 * Returns a sentence if the window from `from` to `end` differs from `wanted_ns` by more than a tenth; the
 * caller owns it. NULL otherwise. Windows are measured by CLOCK_BOOTTIME, the only clock here that runs while
 * the host sleeps.
 */
static char *describe_length(const struct watch *watch, const struct snapshot *from,
			     const struct snapshot *end, uint64_t wanted_ns)
{
	const uint64_t length_ns = end->provenance.boottime_ns - from->provenance.boottime_ns;
	const uint64_t since_ns = clock_ns(CLOCK_BOOTTIME) - from->provenance.boottime_ns;
	const uint64_t awake_ns = clock_ns(CLOCK_MONOTONIC) - watch->begun_ns;
	const uint64_t asleep_ns = since_ns > awake_ns ? since_ns - awake_ns : 0;
	const uint64_t off_ns = length_ns > wanted_ns ? length_ns - wanted_ns : wanted_ns - length_ns;
	struct buffer text = {0};

	if (off_ns <= wanted_ns / 10)
		return NULL;
	buffer_append_text(&text, "the window is ");
	humanize_duration(&text, (double)length_ns);
	buffer_append_text(&text, ", not ");
	humanize_duration(&text, (double)wanted_ns);
	if (asleep_ns > off_ns / 2) {
		buffer_append_text(&text, ": the host slept for ");
		humanize_duration(&text, (double)asleep_ns);
	} else if (watch->longest_delay_ns > watch->longest_reading_ns) {
		buffer_append_text(&text, ": ctop was stopped, or got no CPU, for ");
		humanize_duration(&text, (double)watch->longest_delay_ns);
	} else {
		buffer_append_text(&text, ": one reading of all threads took ");
		humanize_duration(&text, (double)watch->longest_reading_ns);
	}
	return buffer_steal(&text);
}

/* Reports a window of the wrong length to the user and in the file. */
static void note_length(const struct watch *watch, struct snapshot *from, const struct snapshot *end,
			double wanted_seconds)
{
	char *text = describe_length(watch, from, end, (uint64_t)(wanted_seconds * NS_PER_S));

	if (text == NULL)
		return;
	command_note("%s", text);
	from->window_note = arena_duplicate(&from->arena, text, strlen(text));
	free(text);
}

/* The end of the window, which has its waits from the beginning on. */
static struct snapshot_window *end_window(struct watch *watch, struct snapshot *end)
{
	struct snapshot_window *window;

	add_reading(watch, snapshot_reference(end), true);
	window = session_save_window(watch->whole, WINDOW_MODE_BASE);
	if (window != NULL) {
		window->parts = watch->parts;
		watch->parts = (struct window_parts){0};
	}
	if (window == NULL || end->latency.span_ns == 0)
		return window;
	snapshot_release(window->latency);
	snapshot_release(window->latency_whole);
	window->latency = snapshot_reference(end);
	window->latency_whole = snapshot_reference(end);
	return window;
}

static int take_readings(const struct capture_command_options *options, const struct workload *workload,
			 struct capture *capture, uint64_t budget, struct snapshot **ret_snapshot,
			 struct snapshot_window **ret_window, struct error *error)
{
	struct watch watch;
	int result = 0;

	if (options->window_seconds == 0 && workload == NULL) {
		if (options->latency_seconds > 0)
			watch_latency(capture, options->latency_seconds);
		return capture_full(capture, budget, NULL, ret_snapshot, error);
	}
	watch = (struct watch){
		.whole = session_create(),
		.part = session_create(),
		.part_readings = workload != NULL ? 1 : part_readings(options->window_seconds),
		.workload = workload,
	};
	if (options->latency_seconds > 0)
		watch_latency(capture, 0);
	result = workload != NULL ? watch_command(options, capture, &watch, error)
				  : watch_window(options, capture, &watch, error);
	if (result == 0)
		result = capture_full(capture, budget, NULL, ret_snapshot, error);
	if (result == 0)
		*ret_window = end_window(&watch, *ret_snapshot);
	if (result == 0 && *ret_window != NULL && workload == NULL)
		note_length(&watch, (*ret_window)->from, *ret_snapshot, options->window_seconds);
	session_release(watch.whole);
	session_release(watch.part);
	window_parts_clear(&watch.parts);
	return result;
}

/* The time that the last reading waits for executables; in a window only for those that are new since the
 * first one. */
static uint64_t end_patience_ns(const struct capture_command_options *options, bool has_command)
{
	if (has_command)
		return 0;
	if (options->window_seconds == 0)
		return HEAP_PATIENCE_NS;
	return (uint64_t)(fmin(options->window_seconds / 20, (double)HEAP_PATIENCE_NS / NS_PER_S) * NS_PER_S);
}

static int take(const struct capture_command_options *options, const struct workload *workload,
		struct snapshot **ret_snapshot, struct snapshot_window **ret_window, struct error *error)
{
	struct capture_options capture_options = reading_options_capture(&options->processes,
									 &options->backend, &options->roots);
	uint64_t budget = UINT64_MAX;
	struct capture *capture;
	const char *notice;
	int result;

	capture_options.once = options->window_seconds == 0 && workload == NULL;
	capture_options.allow_stop = options->heap.allow_stop;
	capture_options.latency = options->latency_seconds > 0;
	capture_options.heap_patience_ns = end_patience_ns(options, workload != NULL);
	if (options->budget_seconds >= 0)
		budget = (uint64_t)(options->budget_seconds * NS_PER_S);
	capture_options.heap = !options->heap.no_heap;
	capture_options.reader = privilege_open_reader(capture_options.roots);
	result = privilege_open_capture(&capture_options, &capture, error);
	if (result == 0) {
		result = take_readings(options, workload, capture, budget, ret_snapshot, ret_window, error);
		notice = capture_take_notice(capture);
		if (notice != NULL)
			command_note("%s", notice);
		capture_close(capture);
		privilege_lower();
	}
	reader_release(capture_options.reader);
	return result;
}

/* A reader_work: tries whether the file can be written, and leaves it as it is. The answer says why not. */
static int try_file(int descriptor, const void *path, size_t size, struct buffer *answer)
{
	struct output output;
	struct error error;
	int result = output_open(&output, path, true, &error);

	(void)descriptor;
	(void)size;
	if (result < 0)
		buffer_append_text(answer, error.text);
	output_abandon(&output);
	return result;
}

/* A reader_work: writes the compressed snapshot to the file. The answer says why that failed. */
static int copy_file(int written, const void *path, size_t size, struct buffer *answer)
{
	struct error error;
	int result = ctprof_copy(written, path, &error);

	(void)size;
	if (result < 0)
		buffer_append_text(answer, error.text);
	return result;
}

/* Runs `work` where a file system that hangs does not stop ctop. */
static int call_patiently(uint64_t patience_ns, reader_work *work, int descriptor, const char *path,
			  struct error *error)
{
	struct buffer answer = {0};
	int result = reader_call_once(patience_ns, work, descriptor, path, strlen(path) + 1, &answer);

	if (result < 0 && answer.length != 0)
		error_set(error, result, "%s", answer.data);
	else if (result < 0)
		error_set(error, result, "not saved: %s: its file system does not answer", path);
	buffer_release(&answer);
	return result;
}

/* A file that cannot be written is refused before the time of a window is spent. */
static int check_output(const char *path, struct error *error)
{
	return strcmp(path, "-") == 0 ? 0 : call_patiently(TRY_PATIENCE_NS, try_file, -1, path, error);
}

/* The processes of readers do not have the snapshot, so they get the compressed bytes. */
static int write_snapshot(const struct snapshot *snapshot, const struct snapshot_window *window,
			  const char *path, struct error *error)
{
	const bool is_stdout = strcmp(path, "-") == 0;
	const int written = is_stdout ? STDOUT_FILENO : memfd_create("ctop-snapshot", MFD_CLOEXEC);
	uint64_t json_bytes;
	int result;

	if (written < 0)
		return error_set(error, -errno, "not saved: %s: %s", path, strerror(errno));
	result = ctprof_write_descriptor(snapshot, window, written, &json_bytes, error);
	if (result == 0)
		result = is_stdout ? output_check_stdout(error)
				   : call_patiently(WRITE_PATIENCE_NS, copy_file, written, path, error);
	if (!is_stdout)
		close(written);
	if (result == 0 && json_bytes > CTPROF_KTSTR_LIMIT)
		command_note("%s holds more than 256 MiB of JSON: ktstr will refuse it; ctop reads it", path);
	return result;
}

static int check_options(const struct capture_command_options *options, bool has_command, struct error *error)
{
	if (options->output == NULL)
		return error_set(error, -EINVAL,
				 "capture needs an output file: -o FILE, or -o - for standard output");
	if (strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO))
		return error_set(error, -EINVAL, "not writing a binary snapshot to a terminal: use -o FILE");
	if (has_command && strcmp(options->output, "-") == 0)
		return error_set(error, -EINVAL, "the output of the command goes there: use -o FILE");
	if (has_command && options->window_seconds != 0)
		return error_set(error, -EINVAL, "the window ends with the command: leave --for out");
	return 0;
}

/* Captures and saves. Returns 0 or a negative errno with a sentence. */
static int capture_to_file(const struct capture_command_options *options, const struct workload *workload,
			   struct error *error)
{
	struct snapshot_window *window = NULL;
	struct snapshot *snapshot;
	int result = take(options, workload, &snapshot, &window, error);

	if (result < 0)
		return result;
	/* what ended within a window is in it */
	result = window == NULL ? check_threads(snapshot, &options->processes, error) : 0;
	if (result == 0)
		result = write_snapshot(snapshot, window, options->output, error);
	if (result == 0 && snapshot->parse_summary.present)
		note_parsing(snapshot);
	if (result == 0 && snapshot->taskstats_summary.present &&
	    snapshot->provenance.features[FEATURE_PASSES].state != FEATURE_STATE_ON &&
	    snapshot->provenance.features[FEATURE_PASSES].state != FEATURE_STATE_PARTIAL)
		note_taskstats(snapshot);
	if (result == 0 && snapshot->probe_summary.present)
		note_probe(snapshot);
	if (result == 0 && window == NULL)
		command_note("one reading, with totals only; --for 10 adds what happened in ten seconds");
	snapshot_window_release(window);
	snapshot_release(snapshot);
	return result;
}

/* Captures while a command runs. The status is that of the command. */
static int run_with_command(const struct capture_command_options *options, char **words, struct error *error)
{
	struct workload workload;
	int status, result = workload_prepare(words, &workload, error);

	if (result == 0) {
		result = capture_to_file(options, &workload, error);
		status = workload_end(&workload);
	}
	if (result < 0) {
		command_failed(error);
		return WORKLOAD_FAILED;
	}
	return status;
}

static int capture_run(void *options_pointer, char **operands, int operand_count)
{
	const struct capture_command_options *options = options_pointer;
	struct error error;
	int result;

	if (check_options(options, operand_count != 0, &error) < 0)
		return command_misused(&capture_command, &error);
	result = check_output(options->output, &error);
	if (result < 0 && operand_count != 0) {
		command_failed(&error);
		return WORKLOAD_FAILED;
	}
	if (result == 0 && operand_count != 0)
		return run_with_command(options, operands, &error);
	if (result == 0)
		result = capture_to_file(options, NULL, &error);
	return result < 0 ? command_failed(&error) : COMMAND_DONE;
}

static const struct option own_options[] = {
	{OPTION('o', "output", "FILE", struct capture_command_options, output),
	 .description =
		 "write the snapshot there, replacing the file once it is complete; - for standard output"},
	{OPTION('\0', "for", "TIME", struct capture_command_options, window_seconds), .unit = "s",
	 .minimum = WINDOW_PART_MIN_S, .maximum = 86400,
	 .description = "read for this long, so that the file has rates: 10, 500ms, 2m"},
	{OPTION('p', "pid", "PID", struct capture_command_options, processes), .minimum = 1,
	 .maximum = INT32_MAX, .description = "only these processes: 1,2; may be repeated"},
	{OPTION('\0', "latency-for", "TIME", struct capture_command_options, latency_seconds),
	 .old_name = "latency", .warns_of_old_name = true, .unit = "s", .minimum = 0.1, .maximum = 86400,
	 .description = "first measure wait latency for this long (by BPF, as root); with --for, over that "
			"time instead"},
	{OPTION('\0', "budget-time", "TIME", struct capture_command_options, budget_seconds),
	 .old_name = "budget", .warns_of_old_name = true, .unit = "s", .minimum = 0, .maximum = 86400,
	 .description =
		 "spend at most this much CPU time on smaps_rollup and cgroup files; default no limit"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&backend_option_table, offsetof(struct capture_command_options, backend)},
	{&heap_option_table, offsetof(struct capture_command_options, heap)},
	{&root_option_table, offsetof(struct capture_command_options, roots)},
};

const struct command capture_command = {
	.name = "capture",
	.summary = "write a snapshot of all threads to a file",
	.purpose = COMMAND_KEEPS,
	.usage = "-o FILE [OPTION]... [-- COMMAND [ARGUMENT]...]",
	.details =
		"Reads every counter of every thread, once, with --for over some time, or for as long as a "
		"command runs, and writes a snapshot that `ctop FILE` and `ctop show` read. The exit status "
		"is "
		"the command's; 125 means that ctop itself failed. Nothing is stopped, except with "
		"--allow-stop.",
	.maximum_operands = INT_MAX,
	.runs_operands = true,
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct capture_command_options),
	.set_defaults = set_defaults,
	.run = capture_run,
};
