/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "capture/host/feature.h"

enum {
	NAME_MAX_BYTES = 128, /* SCX_OPS_NAME_LEN of kernel/sched/ext_internal.h */
	TRIES = 5,            /* rounds in which a scheduler that is just being attached is looked for */
	EVENTS_MAX = 256,
};

/* The interval of checks between rounds. */
#define SERVE_INTERVAL_NS NS_PER_S

/* The scheduler as sysfs describes it. */
struct sight {
	bool present; /* the kernel has sched_ext */
	bool enabled;
	uint64_t enable_seq;
	char name[NAME_MAX_BYTES];
};

struct scx_watch {
	const struct roots *roots;
	struct context_choice choice;
	scx_watch_rights *rights;
	struct buffer text;

	/* About the scheduler seen last: */
	struct sight sight;
	uint64_t looked_at_ns;              /* CLOCK_MONOTONIC */
	struct scx_reader *reader;          /* NULL: its contexts cannot be read */
	struct task_field_owner *scheduler; /* a reference; NULL: none runs */
	struct feature_result result;       /* of opening the reader */
	struct arena arena;                 /* of its words */
	unsigned int tries;                 /* that are left to find it */
};

/* --- sysfs --- */

static struct text read_text(struct scx_watch *watch, const char *path)
{
	return roots_read_text(watch->roots, ROOT_SYS, path, &watch->text);
}

/* Documentation/scheduler/sched-ext.rst; files that are missing say nothing. */
static void look(struct scx_watch *watch, struct sight *ret_sight)
{
	struct text text = read_text(watch, "kernel/sched_ext/state");

	watch->looked_at_ns = clock_ns(CLOCK_MONOTONIC);
	*ret_sight = (struct sight){.present = text.length != 0, .enabled = text_equals(text, "enabled")};
	if (!ret_sight->enabled)
		return;
	text = read_text(watch, "kernel/sched_ext/enable_seq");
	if (!number_parse_u64(text.data, text.length, &ret_sight->enable_seq))
		ret_sight->enable_seq = 0;
	text = read_text(watch, "kernel/sched_ext/root/ops");
	if (text.length < sizeof(ret_sight->name))
		memcpy(ret_sight->name, text.data, text.length);
}

static bool is_same(const struct sight *a, const struct sight *b)
{
	return a->enabled == b->enabled && a->enable_seq == b->enable_seq && strcmp(a->name, b->name) == 0;
}

/* Lines "SCX_EV_SELECT_CPU_FALLBACK 12". */
static void read_events(struct scx_watch *watch, struct snapshot *snapshot)
{
	struct text text = read_text(watch, "kernel/sched_ext/root/events"), line, word;
	struct task_fields *scx = &snapshot->task_fields;

	if (text.length == 0)
		return;
	scx->events = arena_allocate_zero(&snapshot->arena, EVENTS_MAX, sizeof(*scx->events));
	while (scx->event_count < EVENTS_MAX && text_next_line(&text, &line)) {
		struct task_field_event *event = &scx->events[scx->event_count];
		struct text name;

		if (!text_next_word(&line, &name) || !text_next_word(&line, &word) ||
		    !number_parse_u64(word.data, word.length, &event->value))
			continue;
		event->name = arena_duplicate(&snapshot->arena, name.data, name.length);
		scx->event_count++;
	}
}

/* --- the reader --- */

/* Lets go of everything that is the scheduler's: while it is held, the kernel keeps all its memory. */
static void drop(struct scx_watch *watch)
{
	scx_reader_close(watch->reader);
	task_field_owner_release(watch->scheduler);
	arena_release(&watch->arena);
	watch->reader = NULL;
	watch->scheduler = NULL;
	watch->arena = (struct arena){0};
	watch->sight = (struct sight){0};
}

static void open_reader(void *argument)
{
	struct scx_watch *watch = argument;
	struct scx_run run;

	if (scx_reader_discover(watch->sight.name, &watch->arena, &run, &watch->result)) {
		run.enable_seq = watch->sight.enable_seq;
		watch->reader = scx_reader_open(&run, &watch->choice, &watch->arena, &watch->result);
	}
	free(run.maps);
}

/* Tries it, and keeps at least the scheduler's name. */
static void find_contexts(struct scx_watch *watch)
{
	task_field_owner_release(watch->scheduler);
	watch->tries--;
	if (!watch->roots->initial_pid_namespace) /* whose ids programs tell */
		watch->result = feature_of_other_pids(watch->roots, &watch->arena);
	else if (watch->rights != NULL)
		watch->rights(open_reader, watch);
	else
		open_reader(watch);
	/* what may yet be found is tried for again */
	if (watch->result.state != FEATURE_STATE_UNKNOWN)
		watch->tries = 0;
	else
		watch->result.state = FEATURE_STATE_OFF;
	if (watch->reader != NULL) {
		watch->scheduler = task_field_owner_reference(watch->reader->scheduler);
		return;
	}
	watch->scheduler = task_field_owner_create(TASK_FIELD_SOURCE, watch->sight.name, "", "", "", 0);
	watch->scheduler->enable_seq = watch->sight.enable_seq;
}

/* Finds the running scheduler; false if none runs. */
static bool find_scheduler(struct scx_watch *watch)
{
	struct sight sight;

	look(watch, &sight);
	if (!sight.enabled || !is_same(&sight, &watch->sight)) {
		drop(watch);
		watch->tries = TRIES;
		watch->sight = sight;
	}
	if (!sight.present)
		watch->result = feature_off(roots_reason(watch->roots, ROOT_SYS, -ENOENT),
					    roots_are_whole(watch->roots, ROOT_SYS)
						    ? "no /sys/kernel/sched_ext (CONFIG_SCHED_CLASS_EXT)"
						    : "no sysfs is mounted on /sys",
					    NULL);
	else if (!sight.enabled)
		watch->result = feature_off(REASON_SWITCHED_OFF, "no sched_ext scheduler runs", NULL);
	else if (watch->reader == NULL && watch->tries != 0)
		find_contexts(watch);
	return sight.enabled;
}

uint64_t scx_watch_serve(struct scx_watch *watch)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct sight sight;

	if (watch->reader == NULL)
		return UINT64_MAX;
	if (now_ns - watch->looked_at_ns < SERVE_INTERVAL_NS)
		return watch->looked_at_ns + SERVE_INTERVAL_NS;
	look(watch, &sight);
	if (is_same(&sight, &watch->sight))
		return now_ns + SERVE_INTERVAL_NS;
	drop(watch);
	return UINT64_MAX;
}

struct scx_watch *scx_watch_open(const struct roots *roots, const struct context_choice *choice,
				 scx_watch_rights *rights)
{
	struct scx_watch *watch = memory_allocate_zero(1, sizeof(*watch));

	watch->roots = roots;
	watch->choice = *choice;
	watch->rights = rights;
	return watch;
}

void scx_watch_close(struct scx_watch *watch)
{
	if (watch == NULL)
		return;
	drop(watch);
	buffer_release(&watch->text);
	free(watch);
}

/* --- contexts --- */

/* The row of a record's thread, or SNAPSHOT_NO_ROW; `guess` is the one behind the row that was found last. */
static size_t find_row(const struct snapshot *snapshot, const struct scx_record *record, size_t guess)
{
	const size_t row = guess < snapshot->thread_count && snapshot->tid[guess] == record->tid &&
					   snapshot->tgid[guess] == record->tgid
				   ? guess
				   : snapshot_find_row(snapshot, record->tgid, record->tid);

	/* ids are used again; a row whose start was not read has 0 */
	return row != SNAPSHOT_NO_ROW && snapshot->start_time[row] != 0 &&
			       snapshot->start_time[row] != record->start_boottime_ns / NS_PER_TICK
		       ? SNAPSHOT_NO_ROW
		       : row;
}

void scx_watch_fill(const struct scx_reading *reading, struct snapshot *snapshot)
{
	struct task_fields *scx = &snapshot->task_fields;
	size_t guess = 0;

	for (size_t i = 0; i < reading->count; i++) {
		const struct scx_record *record = scx_reading_record(reading, i);
		const size_t row = find_row(snapshot, record, guess);

		if (row == SNAPSHOT_NO_ROW)
			continue;
		guess = row + 1;
		if (scx_record_is_own(record)) {
			memcpy(task_fields_add_context(scx, row), scx_record_context(record),
			       scx->owner->size);
		} else {
			scx->context_of[row] = TASK_FIELDS_OTHER_TASK;
			scx->mismatched++;
		}
	}
}

/* Reads them; returns whether they are of the scheduler that was seen before. */
static bool read_contexts(struct scx_watch *watch, const atomic_bool *cancel, struct snapshot *snapshot,
			  struct feature_result *result)
{
	struct scx_reading reading;
	struct sight after;
	int failure = scx_reader_read(watch->reader, cancel, &reading);
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	look(watch, &after);
	if (!is_same(&after, &watch->sight))
		return false;
	if (failure < 0) {
		*result = feature_off(reason_of_errno(failure), "reading contexts failed", NULL);
		return true;
	}
	task_fields_begin(&snapshot->task_fields, task_field_owner_reference(watch->scheduler),
			  snapshot->thread_count);
	snapshot->task_fields.read_at_ns = now_ns;
	scx_watch_fill(&reading, snapshot);
	return true;
}

void scx_watch_read(struct scx_watch *watch, bool contexts, const atomic_bool *cancel,
		    struct snapshot *snapshot, struct feature_result *ret_result)
{
	const bool runs = find_scheduler(watch);

	*ret_result = watch->result;
	if (!runs)
		return;
	if (contexts && watch->reader != NULL && !read_contexts(watch, cancel, snapshot, ret_result)) {
		drop(watch);
		*ret_result = feature_off(REASON_ENDED, "the scheduler ended while its contexts were read",
					  NULL);
		return;
	}
	if (snapshot->task_fields.owner == NULL)
		snapshot->task_fields.owner = task_field_owner_reference(watch->scheduler);
	read_events(watch, snapshot);
}

/* --- what moved --- */

static bool has_moved(const struct task_fields *now, const struct task_fields *before, size_t row,
		      uint32_t old_row)
{
	const uint8_t *context, *old_context;
	reason_id reason, old_reason;

	if (old_row == SNAPSHOT_NO_ROW)
		return true;
	context = task_fields_context(now, row, &reason);
	old_context = task_fields_context(before, old_row, &old_reason);
	if (context == NULL || old_context == NULL)
		return context != old_context || reason != old_reason;
	return memcmp(context, old_context, now->owner->size) != 0;
}

void scx_watch_list_moved(struct snapshot *snapshot, const struct snapshot *previous,
			  const uint32_t old_row[])
{
	const struct task_fields *now = &snapshot->task_fields,
				 *before = previous != NULL ? &previous->task_fields : NULL;
	uint32_t *moved;
	size_t listed = 0, count = 0;

	if (!snapshot->moved_known || (now->context_of == NULL && before->context_of == NULL))
		return;
	if (now->context_of == NULL || before->context_of == NULL ||
	    !task_field_owner_is_same_run(now->owner, before->owner)) {
		free(snapshot->moved);
		snapshot->moved = NULL;
		snapshot->moved_count = 0;
		snapshot->moved_known = false;
		return;
	}
	moved = memory_allocate((snapshot->thread_count + 1) * sizeof(*moved));
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		const bool is_listed = listed < snapshot->moved_count && snapshot->moved[listed] == row;

		listed += is_listed;
		if (is_listed || has_moved(now, before, row, old_row[row]))
			moved[count++] = (uint32_t)row;
	}
	free(snapshot->moved);
	snapshot->moved = moved;
	snapshot->moved_count = count;
}

/* --- once --- */

void scx_watch_check(const struct roots *roots, struct arena *arena, struct feature_result *ret_result)
{
	struct scx_watch *watch = scx_watch_open(roots, &(struct context_choice){0}, NULL);

	(void)find_scheduler(watch);
	*ret_result = feature_copy(arena, &watch->result);
	scx_watch_close(watch);
}
