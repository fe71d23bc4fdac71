/* SPDX-License-Identifier: GPL-2.0-only */
#include "moment_loader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"
#include "moment_strip.h"
#include "save_name.h"
#include "session/when.h"

/* How long the end waits for a moment under way. */
#define STOP_PATIENCE_NS (800 * NS_PER_MS)

/* By how much the nearest round may be off the time that was asked for before it is said. */
#define NEAR_NS (15 * NS_PER_S)

enum {
	LOOKS_MAX = 8,
	/* Rounds that are told from one another are damaged together: more than a day of them. */
	TRIES_MAX = 4096,
};

/* What the screen waits for. */
struct wanted {
	struct ui_look looks[LOOKS_MAX]; /* from one to the next */
	size_t look_count;
	bool other_wanted;
	uint64_t other_unix_ns;
	struct snapshot *to_save; /* a reference, or NULL */
	struct snapshot_window *to_save_window;
	struct moment_strip *strip; /* to be begun, or NULL */
};

struct moment_loader {
	struct moment_loader_options options;
	pthread_t thread;
	bool is_started;
	int notify_fd;

	/* of the thread */
	bool has_position, has_base, has_mark;
	struct history_round position, base;
	uint64_t mark_unix_ns;      /* of the mark that the position is of */
	struct moment_strip *strip; /* being made, or NULL */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Everything below is guarded by the lock. */
	struct wanted wanted;
	struct ui_moment moment, other, saved; /* to be received; zero: none */
	struct ui_strip made;                  /* the same of the strip; number 0: none */
	bool stop;
	/* Not guarded: */
	atomic_bool cancel;
};

static void discard(struct ui_moment *moment)
{
	session_moment_release(moment->moment);
	snapshot_release(moment->compared);
	free(moment->note);
	free(moment->message);
	free(moment->saved);
	*moment = (struct ui_moment){0};
}

static bool is_there(const struct ui_moment *moment)
{
	return moment->moment != NULL || moment->compared != NULL || moment->message != NULL;
}

/* Hands something over; what has not been received of its kind is replaced. */
static void send(struct moment_loader *loader, struct ui_moment *place, struct ui_moment moment)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&loader->lock);
	discard(place);
	*place = moment;
	pthread_mutex_unlock(&loader->lock);
	/* a full counter is readable already */
	if (write(loader->notify_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

/* --- where to --- */

static int find(struct moment_loader *loader, uint64_t unix_ns, enum history_side side,
		struct history_round *ret_round, struct error *error)
{
	const struct timeline *timeline = &loader->options.timeline;

	return timeline->functions->find(timeline->source, unix_ns, side, ret_round, error);
}

static int step(struct moment_loader *loader, int64_t rounds, struct history_round *ret_round,
		struct error *error)
{
	const struct timeline *timeline = &loader->options.timeline;

	return timeline->functions->step(timeline->source, &loader->position, rounds, ret_round, error);
}

static int find_end(struct moment_loader *loader, bool newest, struct history_round *ret_round,
		    struct error *error)
{
	const struct timeline *timeline = &loader->options.timeline;

	return (newest ? timeline->functions->last : timeline->functions->first)(timeline->source, ret_round,
										 error);
}

/* A length of time on or back, and at least a round. */
static int find_span(struct moment_loader *loader, int64_t amount, struct history_round *ret_round,
		     struct error *error)
{
	const uint64_t from_ns = loader->position.unix_ns;
	const uint64_t length = (uint64_t)(amount < 0 ? -amount : amount);
	const uint64_t at_ns = amount >= 0 ? from_ns + length : from_ns > length ? from_ns - length : 0;
	int result = find(loader, at_ns, amount < 0 ? HISTORY_AT_OR_BEFORE : HISTORY_AT_OR_AFTER, ret_round,
			  error);

	if (result == 0 && history_is_same(ret_round, &loader->position))
		return step(loader, amount < 0 ? -1 : 1, ret_round, error);
	return result;
}

static int find_mark(struct moment_loader *loader, bool before, struct history_round *ret_round,
		     char **ret_note, struct error *error)
{
	const struct timeline *timeline = &loader->options.timeline;
	const uint64_t from_ns = loader->has_mark ? loader->mark_unix_ns : loader->position.unix_ns;
	struct history_marks marks = {0};
	int result;

	if (timeline->functions->next_mark == NULL)
		return error_set(error, -ENOENT, "there are no marks: ctop record --when sets them");
	result = timeline->functions->next_mark(timeline->source, from_ns, before, &marks, error);
	if (result == -ENOENT || (result == 0 && marks.count == 0))
		result = error_set(error, -ENOENT, "there is no mark %s this moment",
				   before ? "before" : "after");
	if (result == 0) {
		const struct history_mark *mark = &marks.items[0];

		result = find(loader, mark->unix_ns, HISTORY_AT_OR_BEFORE, ret_round, error);
		*ret_note = memory_format("mark: %s", mark->text != NULL ? mark->text : mark->kind);
		loader->has_mark = true;
		loader->mark_unix_ns = mark->unix_ns;
	}
	history_marks_release(&marks);
	return result;
}

/* The round that the screen asks for; `*ret_message` says when it is not quite what it asked for. */
static int find_round(struct moment_loader *loader, const struct ui_look *look,
		      struct history_round *ret_round, char **ret_note, char **ret_message,
		      struct error *error)
{
	char asked[WHEN_TEXT_SIZE];
	uint64_t off_ns;
	int result;

	switch (look->kind) {
	case UI_LOOK_STEP:
		return step(loader, look->amount, ret_round, error);
	case UI_LOOK_SPAN:
		return find_span(loader, look->amount, ret_round, error);
	case UI_LOOK_MARK:
		return find_mark(loader, look->amount < 0, ret_round, ret_note, error);
	case UI_LOOK_OLDEST:
	case UI_LOOK_NEWEST:
		return find_end(loader, look->kind == UI_LOOK_NEWEST, ret_round, error);
	case UI_LOOK_TIME:
		break;
	}
	result = find(loader, look->unix_ns, HISTORY_NEAREST, ret_round, error);
	if (result < 0)
		return result;
	off_ns = ret_round->unix_ns > look->unix_ns ? ret_round->unix_ns - look->unix_ns
						    : look->unix_ns - ret_round->unix_ns;
	if (off_ns > NEAR_NS && off_ns > 2 * ret_round->span_ns)
		*ret_message = memory_format("nothing is known of %s: this is the nearest round",
					     when_format(asked, look->unix_ns));
	return 0;
}

/* --- what is to be known of it --- */

static void append_length(struct buffer *text, uint64_t ns)
{
	const uint64_t seconds = ns / NS_PER_S;

	if (seconds >= 2 * 86400)
		buffer_append_format(text, "%llu days", (unsigned long long)(seconds / 86400));
	else if (seconds >= 2 * 3600)
		buffer_append_format(text, "%llu h", (unsigned long long)(seconds / 3600));
	else if (seconds >= 2 * 60)
		buffer_append_format(text, "%llu min", (unsigned long long)(seconds / 60));
	else
		buffer_append_format(text, "%llu s", (unsigned long long)seconds);
}

static void append_separator(struct buffer *text)
{
	if (text->length != 0)
		buffer_append_text(text, ", ");
}

static char *describe(struct moment_loader *loader, const struct history_round *round, const char *mark)
{
	struct history_round before;
	struct buffer text = {0};

	if (mark != NULL)
		buffer_append_text(&text, mark);
	if (step(loader, -1, &before, NULL) == 0 && history_is_same(&before, round)) {
		append_separator(&text);
		buffer_append_text(&text, "the oldest round");
	} else if (timeline_has_gap(&loader->options.timeline, &before, round)) {
		append_separator(&text);
		if (before.boot != round->boot)
			buffer_append_text(&text, "the host was started again, ");
		buffer_append_text(&text, round->after_gap ? "nothing is known of the " : "the ");
		append_length(&text, round->unix_ns > before.unix_ns ? round->unix_ns - before.unix_ns : 0);
		buffer_append_text(&text, round->after_gap ? " before" : " before are damaged");
	}
	if (round->suspended_ns != 0) {
		append_separator(&text);
		buffer_append_text(&text, "the host slept for ");
		append_length(&text, round->suspended_ns);
	}
	if (round->clock_jumped) {
		const int64_t jump = round->clock_jump_ns;

		append_separator(&text);
		buffer_append_format(&text, "the clock was set %s by ", jump < 0 ? "back" : "on");
		append_length(&text, (uint64_t)(jump < 0 ? -jump : jump));
	}
	return text.length != 0 ? buffer_steal(&text) : NULL;
}

/* --- making it --- */

/* The round of the base, NULL for none; it may be there no more. */
static const struct history_round *find_base(struct moment_loader *loader, uint64_t unix_ns)
{
	static const struct history_round lost = TIMELINE_NO_ROUND;

	if (unix_ns == 0)
		return NULL;
	if (!loader->has_base || loader->base.unix_ns != unix_ns)
		loader->has_base = find(loader, unix_ns, HISTORY_NEAREST, &loader->base, NULL) == 0 &&
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
		result = find_end(loader, true, &loader->position, error);
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
		result = timeline_make_moment(&loader->options.timeline,
					      find_base(loader, look->base_unix_ns), &round, &loader->cancel,
					      &ret_moment->moment, error);
		/* what of the round before is damaged is known now */
		ret_moment->note = describe(loader, &round, note);
		if (find_end(loader, true, &newest, NULL) == 0) {
			ret_moment->newest_unix_ns = newest.unix_ns;
			ret_moment->is_newest = history_is_same(&newest, &round);
		}
		if (result < 0)
			discard(ret_moment);
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

/* What is damaged is passed by, and that is said; a step on says it in the note of the moment. */
static int make(struct moment_loader *loader, const struct ui_look *look, struct ui_moment *ret_moment,
		struct error *error)
{
	const bool is_step_on = look->kind == UI_LOOK_STEP && look->amount > 0;
	struct history_round damaged = {0}, last;
	int result, tries = 0;

	do {
		last = damaged;
		result = try_to_make(loader, look, ret_moment, &damaged, error);
	} while (result == -EBADMSG && !history_is_same(&damaged, &last) && tries++ < TRIES_MAX &&
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

static void serve_look(struct moment_loader *loader, const struct ui_look *look)
{
	struct ui_moment moment = {0};
	struct error error;
	int result = make(loader, look, &moment, &error);

	if (result < 0)
		moment = (struct ui_moment){
			.message = memory_duplicate(result == -ECANCELED ? "" : error.text),
			.is_error = result != -ENOENT,
		};
	moment.number = look->number;
	send(loader, &loader->moment, moment);
}

/* Goes where nobody waits to see anything, on the way to somewhere else. */
static void pass_by(struct moment_loader *loader, const struct ui_look *look)
{
	char *note = NULL, *message = NULL;
	struct history_round round;

	if (look->from_newest || !loader->has_position)
		loader->has_position = find_end(loader, true, &loader->position, NULL) == 0;
	if (loader->has_position && find_round(loader, look, &round, &note, &message, NULL) == 0)
		loader->position = round;
	free(note);
	free(message);
}

static void serve_other(struct moment_loader *loader, uint64_t unix_ns)
{
	const struct timeline *timeline = &loader->options.timeline;
	struct ui_moment moment = {0};
	struct history_round round;
	char time[WHEN_TEXT_SIZE];
	struct error error;
	int result, tries = 0;

	/* after it was read, what is damaged is not found any more */
	do {
		result = find(loader, unix_ns, HISTORY_NEAREST, &round, &error);
		if (result < 0)
			break;
		result = timeline_read_window(timeline, NULL, &round, &moment.compared, &error);
	} while (result == -EBADMSG && tries++ < TRIES_MAX && !atomic_load(&loader->cancel));
	if (result < 0)
		moment = (struct ui_moment){.message = memory_duplicate(error.text), .is_error = true};
	else
		moment.message = memory_duplicate(when_format(time, round.unix_ns));
	send(loader, &loader->other, moment);
}

static void serve_save(struct moment_loader *loader, struct snapshot *snapshot,
		       struct snapshot_window *window)
{
	struct ui_moment moment = {0};
	struct error error;
	uint64_t json_bytes;
	char *path;

	if (save_name_write(snapshot, window, loader->options.save_directory, &path, &json_bytes, &error) <
	    0) {
		moment.message = memory_format("not saved: %s", error.text);
		moment.is_error = true;
	} else {
		moment.message = memory_format("saved %s", path);
		moment.saved = path;
	}
	snapshot_release(snapshot);
	snapshot_window_release(window);
	send(loader, &loader->saved, moment);
}

/* A piece of what was before and after, while nobody waits for anything. */
static void work_on_strip(struct moment_loader *loader)
{
	const uint64_t one = 1;

	if (!moment_strip_work(loader->strip, &loader->options.timeline, &loader->cancel)) {
		moment_strip_release(loader->strip);
		loader->strip = NULL;
		return;
	}
	pthread_mutex_lock(&loader->lock);
	loader->made = moment_strip_result(loader->strip);
	pthread_mutex_unlock(&loader->lock);
	if (write(loader->notify_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

static bool is_wanted(const struct wanted *wanted)
{
	return wanted->look_count != 0 || wanted->other_wanted || wanted->to_save != NULL ||
	       wanted->strip != NULL;
}

static void *run(void *argument)
{
	struct moment_loader *loader = argument;

	pthread_mutex_lock(&loader->lock);
	for (;;) {
		struct wanted wanted;

		while (!loader->stop && !is_wanted(&loader->wanted) && loader->strip == NULL)
			pthread_cond_wait(&loader->changed, &loader->lock);
		/* what was to be saved is, even at the end */
		if (loader->stop && loader->wanted.to_save == NULL)
			break;
		wanted = loader->wanted;
		loader->wanted = (struct wanted){0};
		pthread_mutex_unlock(&loader->lock);
		if (wanted.to_save != NULL)
			serve_save(loader, wanted.to_save, wanted.to_save_window);
		if (wanted.other_wanted)
			serve_other(loader, wanted.other_unix_ns);
		for (size_t i = 0; i + 1 < wanted.look_count; i++)
			pass_by(loader, &wanted.looks[i]);
		if (wanted.look_count != 0)
			serve_look(loader, &wanted.looks[wanted.look_count - 1]);
		if (wanted.strip != NULL) {
			moment_strip_release(loader->strip);
			loader->strip = wanted.strip;
		}
		if (loader->strip != NULL)
			work_on_strip(loader);
		pthread_mutex_lock(&loader->lock);
	}
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

/* --- the host's side --- */

/* Wakes the thread, and starts it for the first request. Called with the lock held, which it releases. */
static void wake(struct moment_loader *loader)
{
	const int result = loader->is_started ? 0 : worker_start(&loader->thread, run, loader);

	loader->is_started = result == 0;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	if (result < 0)
		send(loader, &loader->other,
		     (struct ui_moment){
			     .message = memory_format("no thread can be started: %s", strerror(-result)),
			     .is_error = true,
		     });
}

static void request_moment(void *context, const struct ui_look *look)
{
	struct moment_loader *loader = context;
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
	/* what is not begun yet is done together, and what does not depend on it makes it void */
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
	wake(loader);
}

static void request_other(void *context, uint64_t unix_ns)
{
	struct moment_loader *loader = context;

	pthread_mutex_lock(&loader->lock);
	loader->wanted.other_unix_ns = unix_ns;
	loader->wanted.other_wanted = true;
	wake(loader);
}

static void request_save(void *context, struct snapshot *shown, struct snapshot_window *window)
{
	struct moment_loader *loader = context;

	pthread_mutex_lock(&loader->lock);
	snapshot_release(loader->wanted.to_save);
	snapshot_window_release(loader->wanted.to_save_window);
	loader->wanted.to_save = snapshot_reference(shown);
	loader->wanted.to_save_window = window;
	wake(loader);
}

static void request_strip(void *context, const struct ui_strip_request *request)
{
	struct moment_loader *loader = context;
	struct moment_strip *strip = moment_strip_create(request);

	pthread_mutex_lock(&loader->lock);
	moment_strip_release(loader->wanted.strip);
	loader->wanted.strip = strip;
	wake(loader);
}

static bool receive_strip(void *context, struct ui_strip *ret_strip)
{
	struct moment_loader *loader = context;
	bool found;

	pthread_mutex_lock(&loader->lock);
	*ret_strip = loader->made;
	found = loader->made.number != 0;
	loader->made.number = 0;
	pthread_mutex_unlock(&loader->lock);
	return found;
}

static bool receive_moment(void *context, struct ui_moment *ret_moment)
{
	struct moment_loader *loader = context;
	struct ui_moment *places[] = {&loader->moment, &loader->other, &loader->saved};
	uint64_t count;
	bool found = false;

	pthread_mutex_lock(&loader->lock);
	if (read(loader->notify_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		abort();
	for (size_t i = 0; i < ARRAY_COUNT(places) && !found; i++) {
		found = is_there(places[i]);
		if (found) {
			*ret_moment = *places[i];
			*places[i] = (struct ui_moment){0};
		}
	}
	pthread_mutex_unlock(&loader->lock);
	return found;
}

int moment_loader_create(const struct moment_loader_options *options, struct moment_loader **ret_loader,
			 struct error *error)
{
	struct moment_loader *loader = memory_allocate_zero(1, sizeof(*loader));

	loader->options = *options;
	loader->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loader->notify_fd < 0) {
		int result = error_set(error, -errno, "cannot create an event descriptor: %s",
				       strerror(errno));

		free(loader);
		return result;
	}
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->changed, NULL);
	*ret_loader = loader;
	return 0;
}

bool moment_loader_stop(struct moment_loader *loader)
{
	if (loader == NULL)
		return true;
	pthread_mutex_lock(&loader->lock);
	loader->stop = true;
	atomic_store(&loader->cancel, true);
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	if (loader->is_started && !worker_join(loader->thread, clock_ns(CLOCK_MONOTONIC) + STOP_PATIENCE_NS))
		return false;
	snapshot_release(loader->wanted.to_save);
	snapshot_window_release(loader->wanted.to_save_window);
	moment_strip_release(loader->wanted.strip);
	moment_strip_release(loader->strip);
	discard(&loader->moment);
	discard(&loader->other);
	discard(&loader->saved);
	close(loader->notify_fd);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
	return true;
}

void moment_loader_offer(struct moment_loader *loader, struct ui_host *host)
{
	host->past_context = loader;
	host->past_fd = loader->notify_fd;
	host->request_moment = request_moment;
	host->request_other = request_other;
	host->receive_moment = receive_moment;
	host->request_strip = request_strip;
	host->receive_strip = receive_strip;
}

void moment_loader_offer_saving(struct moment_loader *loader, struct ui_host *host)
{
	host->context = loader;
	host->request_save = request_save;
}
