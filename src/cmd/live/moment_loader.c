/* SPDX-License-Identifier: GPL-2.0-only */
#include "moment_loader.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "cmd/line/history_absence.h"
#include "cmd/line/history_moment.h"
#include "moment_courses.h"
#include "moment_strip.h"

enum {
	LOOKS_MAX = 8,
};

/* Requests that were not begun. */
struct wanted {
	struct ui_look looks[LOOKS_MAX]; /* each from where the one before leads */
	size_t look_count;
	bool other_wanted;
	uint64_t other_number;
	struct ui_other other;
	struct moment_strip *strip; /* to be begun, or NULL */
	struct moment_courses *courses;
};

struct moment_loader {
	struct history *history;
	struct tasks *tasks;
	struct queue *queue;

	/* Only the task uses these: */
	bool has_position, has_base, has_mark;
	struct history_round position, base;
	uint64_t mark_unix_ns;      /* time of the mark at the position */
	struct moment_strip *strip; /* being made, or NULL */
	struct moment_courses *courses;

	pthread_mutex_t lock;
	/* Everything below is guarded by the lock. */
	struct wanted wanted;
	bool is_working; /* the task is under way: only one at a time */
	/* Not guarded: */
	atomic_bool cancel;
};

struct moment_loader *moment_loader_create(struct history *history, struct tasks *tasks, struct queue *queue)
{
	struct moment_loader *loader = memory_allocate_zero(1, sizeof(*loader));

	loader->history = history;
	loader->tasks = tasks;
	loader->queue = queue;
	pthread_mutex_init(&loader->lock, NULL);
	return loader;
}

void moment_loader_cancel(struct moment_loader *loader)
{
	atomic_store(&loader->cancel, true);
}

void moment_loader_release(struct moment_loader *loader)
{
	if (loader == NULL)
		return;
	moment_strip_release(loader->wanted.strip);
	moment_strip_release(loader->strip);
	moment_courses_release(loader->wanted.courses);
	moment_courses_release(loader->courses);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
}

/* --- where to --- */

/* Goes a length of time forward or back, and at least a round. */
static int find_span(struct moment_loader *loader, int64_t amount, struct history_round *ret_round,
		     struct error *error)
{
	const uint64_t from_ns = loader->position.unix_ns;
	const uint64_t length = (uint64_t)(amount < 0 ? -amount : amount);
	const uint64_t at_ns = amount >= 0 ? from_ns + length : from_ns > length ? from_ns - length : 0;
	int result = history_find(loader->history, at_ns,
				  amount < 0 ? HISTORY_AT_OR_BEFORE : HISTORY_AT_OR_AFTER, ret_round, error);

	if (result == 0 && history_is_same(ret_round, &loader->position))
		return history_step(loader->history, &loader->position, amount < 0 ? -1 : 1, ret_round,
				    error);
	return result;
}

static int find_mark(struct moment_loader *loader, bool before, struct history_round *ret_round,
		     char **ret_note, struct error *error)
{
	const uint64_t from_ns = loader->has_mark ? loader->mark_unix_ns : loader->position.unix_ns;
	struct history_marks marks = {0};
	/* a file may hold marks of another day, so that all of them are looked at */
	int result = history_marks_read(loader->history, before ? 0 : from_ns + 1,
					before ? from_ns - (from_ns != 0) : UINT64_MAX, &marks, error);

	if (result == 0 && marks.count == 0)
		result = error_set(error, -ENOENT, "there is no mark %s this moment",
				   before ? "before" : "after");
	if (result == 0) {
		const struct history_mark *mark = &marks.items[before ? marks.count - 1 : 0];

		result = history_find(loader->history, mark->unix_ns, HISTORY_AT_OR_BEFORE, ret_round, error);
		*ret_note = memory_format("mark: %s", mark->text != NULL ? mark->text : mark->kind);
		loader->has_mark = true;
		loader->mark_unix_ns = mark->unix_ns;
	}
	history_marks_release(&marks);
	return result;
}

/* Finds the round that the screen asks for. Sets `*ret_message` if nothing was recorded then and the nearest
 * round is used. */
static int find_round(struct moment_loader *loader, const struct ui_look *look,
		      struct history_round *ret_round, char **ret_note, char **ret_message,
		      struct error *error)
{
	struct history_absence absence = {look->unix_ns, look->unix_ns, {0}, NULL};
	int result;

	switch (look->kind) {
	case UI_LOOK_STEP:
		return history_step(loader->history, &loader->position, look->amount, ret_round, error);
	case UI_LOOK_SPAN:
		return find_span(loader, look->amount, ret_round, error);
	case UI_LOOK_MARK:
		return find_mark(loader, look->amount < 0, ret_round, ret_note, error);
	case UI_LOOK_OLDEST:
		return history_first(loader->history, ret_round, error);
	case UI_LOOK_NEWEST:
		return history_last(loader->history, ret_round, error);
	case UI_LOOK_TIME:
		break;
	}
	result = history_find(loader->history, look->unix_ns, HISTORY_NEAREST, ret_round, error);
	if (result < 0 || history_holds(loader->history, look->unix_ns, NULL) != 0)
		return result;
	absence.nearest = *ret_round;
	*ret_message = history_absence_describe(loader->history, &absence);
	return 0;
}

/* --- its note --- */

static void append_separator(struct buffer *text)
{
	if (text->length != 0)
		buffer_append_text(text, ", ");
}

/* Appends where the round was recorded, unless the screen shows a single directory. */
static void append_directory(const struct moment_loader *loader, const struct history_round *round,
			     struct buffer *text)
{
	const char *directory = history_directory_of(loader->history, round);

	if (loader->history->directory != NULL || directory == NULL)
		return;
	append_separator(text);
	buffer_append_format(text, "recorded in %s", directory);
}

static char *describe(struct moment_loader *loader, const struct history_round *round, const char *mark)
{
	struct history_round before;
	struct buffer text = {0};
	const int result = history_step(loader->history, &loader->position, -1, &before, NULL);

	if (mark != NULL)
		buffer_append_text(&text, mark);
	append_directory(loader, round, &text);
	if (result == 0 && history_is_same(&before, round)) {
		append_separator(&text);
		buffer_append_text(&text, "the oldest round, without rates");
	} else if (result == 0 && history_directory_of(loader->history, &before) !=
					  history_directory_of(loader->history, round)) {
		append_separator(&text);
		buffer_append_text(&text, "the oldest round of this screen, without rates");
	} else if (result == 0 && !history_adjoins(loader->history, &before, round)) {
		append_separator(&text);
		if (!history_is_one_start(loader->history, &before, round))
			buffer_append_text(&text, "the host was started again, ");
		buffer_append_text(&text, round->after_gap ? "nothing recorded for the " : "the ");
		humanize_duration(&text, round->unix_ns > before.unix_ns
						 ? (double)(round->unix_ns - before.unix_ns)
						 : 0);
		buffer_append_text(&text, round->after_gap ? " before" : " before are damaged or missing");
	}
	if (round->suspended_ns != 0) {
		append_separator(&text);
		buffer_append_text(&text, "the host slept for ");
		humanize_duration(&text, (double)round->suspended_ns);
	}
	if (round->clock_jumped) {
		const int64_t jump = round->clock_jump_ns;

		append_separator(&text);
		buffer_append_format(&text, "the clock was set %s by ", jump < 0 ? "back" : "forward");
		humanize_duration(&text, fabs((double)jump));
	}
	return text.length != 0 ? buffer_steal(&text) : NULL;
}

/* --- making it --- */

/* The round of the base, NULL for none; it may have been removed. */
static const struct history_round *find_base(struct moment_loader *loader, uint64_t unix_ns)
{
	static const struct history_round lost = {0};

	if (unix_ns == 0)
		return NULL;
	if (!loader->has_base || loader->base.unix_ns != unix_ns)
		loader->has_base = history_find(loader->history, unix_ns, HISTORY_NEAREST, &loader->base,
						NULL) == 0 &&
				   loader->base.unix_ns == unix_ns;
	return loader->has_base ? &loader->base : &lost;
}

static const char *end_message(const struct ui_look *look)
{
	const bool forward = look->kind == UI_LOOK_NEWEST || look->amount > 0;

	return forward ? "this is the newest round that there is" : "this is the oldest round that there is";
}

/* As make(). -EBADMSG: `*ret_round` is damaged, and not found the next time. */
static int try_to_make(struct moment_loader *loader, const struct ui_look *look, struct ui_moment *ret_moment,
		       struct history_round *ret_round, struct error *error)
{
	const struct history_round position = loader->position;
	const bool had_mark = loader->has_mark;
	const uint64_t mark_unix_ns = loader->mark_unix_ns;
	struct history_round round = {0}, newest;
	char *note = NULL, *message = NULL;
	bool moves;
	int result = 0;

	if (look->from_newest || !loader->has_position)
		result = history_last(loader->history, &loader->position, error);
	loader->has_position = result == 0;
	loader->has_mark &= look->kind == UI_LOOK_MARK;
	if (result == 0)
		result = find_round(loader, look, &round, &note, &message, error);
	moves = look->from_newest || !history_is_same(&round, &loader->position) ||
		look->kind == UI_LOOK_MARK || look->kind == UI_LOOK_TIME;
	if (result == 0 && !moves) {
		*ret_moment = (struct ui_moment){.message = memory_duplicate(end_message(look))};
	} else if (result == 0) {
		loader->position = round;
		*ret_round = round;
		*ret_moment = (struct ui_moment){.unix_ns = round.unix_ns, .message = message};
		message = NULL;
		result = session_moment_make(loader->history, find_base(loader, look->base_unix_ns), &round,
					     &loader->cancel, &ret_moment->moment, error);
		/* reading has found out whether the round before is damaged */
		ret_moment->note = describe(loader, &round, note);
		if (history_last(loader->history, &newest, NULL) == 0) {
			ret_moment->newest_unix_ns = newest.unix_ns;
			ret_moment->is_newest = history_is_same(&newest, &round);
		}
		if (result < 0)
			ui_moment_discard(ret_moment);
		if (result == -EBADMSG) {
			loader->position = position;
			loader->has_mark = had_mark;
			loader->mark_unix_ns = mark_unix_ns;
		}
	}
	free(note);
	free(message);
	return result;
}

/* Passes damaged rounds by and says so; a step forward says it in the note of the moment. */
static int make(struct moment_loader *loader, const struct ui_look *look, struct ui_moment *ret_moment,
		struct error *error)
{
	const bool is_step_on = look->kind == UI_LOOK_STEP && look->amount > 0;
	struct history_round damaged = {0}, last;
	int result, tries = 0;

	do {
		last = damaged;
		result = try_to_make(loader, look, ret_moment, &damaged, error);
	} while (result == -EBADMSG && !history_is_same(&damaged, &last) && tries++ < HISTORY_DAMAGED_MAX &&
		 !atomic_load(&loader->cancel));
	if (result == 0 && tries != 0 && ret_moment->moment != NULL && ret_moment->message == NULL &&
	    !is_step_on)
		ret_moment->message = memory_duplicate("what was recorded there is damaged: this is the "
						       "nearest round that is whole");
	return result;
}

int moment_loader_begin(struct moment_loader *loader, const struct ui_look *look,
			struct ui_moment *ret_moment, struct error *error)
{
	return make(loader, look, ret_moment, error);
}

/* --- the task --- */

static bool is_moment(const void *event)
{
	return ((const struct ui_event *)event)->kind == UI_EVENT_MOMENT;
}

static bool is_strip(const void *event)
{
	return ((const struct ui_event *)event)->kind == UI_EVENT_STRIP;
}

/* Sends an event; it replaces one of its kind that the screen has not taken. */
static void send_newest(struct moment_loader *loader, bool (*is_kind)(const void *event),
			const struct ui_event *event)
{
	struct ui_event former;

	if (queue_withdraw(loader->queue, is_kind, &former))
		ui_event_discard(&former);
	queue_send(loader->queue, event);
}

static void serve_look(struct moment_loader *loader, const struct ui_look *look)
{
	struct ui_event event = {.kind = UI_EVENT_MOMENT, .moment = {.number = 0}};
	struct error error;
	int result = make(loader, look, &event.moment, &error);

	if (result == -ECANCELED)
		return;
	if (result < 0)
		event.moment = (struct ui_moment){
			.message = memory_duplicate(error.text),
			.is_error = result != -ENOENT,
		};
	event.moment.number = look->number;
	send_newest(loader, is_moment, &event);
}

/* Moves the position without making the moment, since further requests follow. */
static void pass_by(struct moment_loader *loader, const struct ui_look *look)
{
	char *note = NULL, *message = NULL;
	struct history_round round;

	if (look->from_newest || !loader->has_position)
		loader->has_position = history_last(loader->history, &loader->position, NULL) == 0;
	loader->has_mark &= look->kind == UI_LOOK_MARK;
	if (loader->has_position && find_round(loader, look, &round, &note, &message, NULL) == 0)
		loader->position = round;
	free(note);
	free(message);
}

static void serve_other(struct moment_loader *loader, uint64_t number, struct ui_other other)
{
	struct ui_event event = {.kind = UI_EVENT_FILE, .number = number};
	struct history_moment moment;
	struct error error;

	if (history_moment_read_from(loader->history, other.from_unix_ns, other.unix_ns, &loader->cancel,
				     &moment, &error) < 0) {
		event.message = memory_duplicate(error.text);
		event.is_error = true;
	} else {
		const char *directory_end = strrchr(moment.name, '@');

		event.snapshot = moment.snapshot;
		event.path = memory_duplicate(directory_end != NULL ? directory_end + 1 : moment.name);
		event.message = moment.note;
		free(moment.name);
	}
	queue_send(loader->queue, &event);
}

/* Makes a piece of the strip, while no other request waits. */
static void work_on_strip(struct moment_loader *loader)
{
	struct ui_event event = {.kind = UI_EVENT_STRIP};

	if (moment_strip_work(loader->strip, loader->history, &loader->cancel)) {
		event.strip = moment_strip_result(loader->strip);
		send_newest(loader, is_strip, &event);
	} else {
		moment_strip_release(loader->strip);
		loader->strip = NULL;
	}
}

/* The same for a round of the courses. The last ones decoded are of no use to a screen of now. */
static void work_on_courses(struct moment_loader *loader)
{
	struct ui_event event = {.kind = UI_EVENT_COURSES};

	if (!moment_courses_work(loader->courses, loader->history, &loader->cancel, &event.courses)) {
		moment_courses_release(loader->courses);
		loader->courses = NULL;
		history_forget_decoded(loader->history);
		memory_trim();
	} else if (event.courses.table != NULL) {
		queue_send(loader->queue, &event);
	}
}

static void serve(struct moment_loader *loader, const struct wanted *wanted)
{
	if (wanted->other_wanted)
		serve_other(loader, wanted->other_number, wanted->other);
	for (size_t i = 0; i + 1 < wanted->look_count; i++)
		pass_by(loader, &wanted->looks[i]);
	if (wanted->look_count != 0)
		serve_look(loader, &wanted->looks[wanted->look_count - 1]);
	if (wanted->strip != NULL) {
		moment_strip_release(loader->strip);
		loader->strip = wanted->strip;
	}
	if (wanted->courses != NULL) {
		moment_courses_release(loader->courses);
		loader->courses = wanted->courses;
	}
	if (loader->strip != NULL)
		work_on_strip(loader);
	else if (loader->courses != NULL)
		work_on_courses(loader);
}

/* Takes the requests; false when there are none, which ends the task. */
static bool take_wanted(struct moment_loader *loader, struct wanted *ret_wanted)
{
	bool found;

	pthread_mutex_lock(&loader->lock);
	*ret_wanted = loader->wanted;
	found = !atomic_load(&loader->cancel) &&
		(loader->strip != NULL || ret_wanted->look_count != 0 || ret_wanted->other_wanted ||
		 ret_wanted->strip != NULL || loader->courses != NULL || ret_wanted->courses != NULL);
	if (found)
		loader->wanted = (struct wanted){.look_count = 0};
	loader->is_working = found;
	pthread_mutex_unlock(&loader->lock);
	return found;
}

static void work(void *argument)
{
	struct moment_loader *loader = argument;
	struct wanted wanted;

	while (take_wanted(loader, &wanted))
		serve(loader, &wanted);
}

/* --- requests --- */

/* Starts the task where it is not under way. Called with the lock held, which it releases. */
static void start(struct moment_loader *loader)
{
	int result = 0;

	if (!loader->is_working)
		result = tasks_start(loader->tasks, (struct task){work, loader, .must_finish = false});
	loader->is_working = result == 0;
	pthread_mutex_unlock(&loader->lock);
	if (result < 0)
		queue_send(loader->queue, &(struct ui_event){
						  .kind = UI_EVENT_MESSAGE,
						  .message = memory_format("no thread can be started: %s",
									   strerror(-result)),
						  .is_error = true,
					  });
}

void moment_loader_request(struct moment_loader *loader, const struct ui_look *look)
{
	struct wanted *wanted = &loader->wanted;
	const bool is_relative = look->kind == UI_LOOK_STEP || look->kind == UI_LOOK_SPAN;
	struct ui_look *last;

	pthread_mutex_lock(&loader->lock);
	last = wanted->look_count != 0 ? &wanted->looks[wanted->look_count - 1] : NULL;
	/* the screen has gone back to now meanwhile */
	if (last != NULL && look->from_newest && !wanted->looks[0].from_newest) {
		wanted->look_count = 0;
		last = NULL;
	}
	/* steps that were not begun add up, and a request for a fixed place replaces them */
	if (last != NULL && is_relative && last->kind == look->kind) {
		last->amount += look->amount;
		last->base_unix_ns = look->base_unix_ns;
		last->number = look->number;
	} else {
		if (!is_relative && look->kind != UI_LOOK_MARK)
			wanted->look_count = 0;
		if (wanted->look_count == LOOKS_MAX)
			wanted->look_count--;
		wanted->looks[wanted->look_count++] = *look;
	}
	start(loader);
}

void moment_loader_request_other(struct moment_loader *loader, uint64_t number, struct ui_other other)
{
	pthread_mutex_lock(&loader->lock);
	loader->wanted.other = other;
	loader->wanted.other_number = number;
	loader->wanted.other_wanted = true;
	start(loader);
}

void moment_loader_request_strip(struct moment_loader *loader, const struct ui_strip_request *request)
{
	struct moment_strip *strip = moment_strip_create(request);

	pthread_mutex_lock(&loader->lock);
	moment_strip_release(loader->wanted.strip);
	loader->wanted.strip = strip;
	start(loader);
}

void moment_loader_request_courses(struct moment_loader *loader, const struct ui_courses_request *request)
{
	struct moment_courses *courses = moment_courses_create(request);

	pthread_mutex_lock(&loader->lock);
	moment_courses_release(loader->wanted.courses);
	loader->wanted.courses = courses;
	start(loader);
}
