/* SPDX-License-Identifier: GPL-2.0-only */
#include "saver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "save_name.h"
#include "store/ctprof.h"
#include "ui/ui.h"

struct saver {
	const char *directory;
	struct tasks *tasks;
	struct queue *queue;
	/* Of the task, while one is under way: */
	struct snapshot *snapshot;
	struct snapshot_window *window;

	pthread_mutex_t lock;
	/* Everything below is guarded by the lock. */
	bool is_saving;           /* from when it was asked for until the file is there */
	uint64_t serial, from_ns; /* what is saved: the end of a window and when that began; 0: no window */
};

struct saver *saver_create(const char *directory, struct tasks *tasks, struct queue *queue)
{
	struct saver *saver = memory_allocate_zero(1, sizeof(*saver));

	saver->directory = directory;
	saver->tasks = tasks;
	saver->queue = queue;
	pthread_mutex_init(&saver->lock, NULL);
	return saver;
}

/* A message is one line on the screen, so the reason must not come after a long name. */
static char *describe_failure(const struct saver *saver, const char *reason)
{
	static const char suffix[] = ".ctprof.zst: ";
	const char *end_of_name = strstr(reason, suffix);

	return memory_format("not saved in %s: %s", saver->directory != NULL ? saver->directory : ".",
			     end_of_name != NULL ? end_of_name + strlen(suffix) : reason);
}

/* Ends a save under the lock: once the screen has the event, it may start the next save. */
static void finish(struct saver *saver, struct ui_event event)
{
	event.kind = UI_EVENT_SAVED;
	snapshot_release(saver->snapshot);
	snapshot_window_release(saver->window);
	pthread_mutex_lock(&saver->lock);
	saver->is_saving = false;
	queue_send(saver->queue, &event);
	pthread_mutex_unlock(&saver->lock);
}

static void save(void *argument)
{
	struct saver *saver = argument;
	struct ui_event event = {.is_error = false};
	struct error error;
	uint64_t json_bytes;

	if (save_name_write(saver->snapshot, saver->window, saver->directory, &event.path, &json_bytes,
			    &error) < 0) {
		event.is_error = true;
		event.message = describe_failure(saver, error.text);
	} else {
		event.message = memory_format("%s%s", event.path,
					      json_bytes > CTPROF_KTSTR_LIMIT
						      ? " (over 256 MiB of JSON: ktstr will refuse it)"
						      : "");
	}
	finish(saver, event);
}

void saver_request(struct saver *saver, const struct snapshot *shown, struct snapshot_window *window)
{
	const uint64_t from_ns = window != NULL ? window->from->provenance.boottime_ns : 0;
	bool is_busy, is_same;
	int result;

	pthread_mutex_lock(&saver->lock);
	is_busy = saver->is_saving;
	is_same = saver->serial == shown->serial && saver->from_ns == from_ns;
	if (!is_busy) {
		saver->is_saving = true;
		saver->serial = shown->serial;
		saver->from_ns = from_ns;
	}
	pthread_mutex_unlock(&saver->lock);
	if (is_busy) {
		snapshot_window_release(window);
		/* the save under way serves a request for the same, too */
		if (!is_same)
			queue_send(saver->queue,
				   &(struct ui_event){
					   .kind = UI_EVENT_SAVED,
					   .message = memory_duplicate(
						   "not saved: the previous snapshot is still being written"),
					   .is_error = true,
				   });
		return;
	}
	/* only the number of references changes: a finished snapshot does not */
	saver->snapshot = snapshot_reference((struct snapshot *)(uintptr_t)shown);
	saver->window = window;
	result = tasks_start(saver->tasks, (struct task){save, saver, .must_finish = true});
	if (result < 0)
		finish(saver, (struct ui_event){.message = describe_failure(saver, strerror(-result)),
						.is_error = true});
}

char *saver_give_up(struct saver *saver)
{
	bool is_saving;

	pthread_mutex_lock(&saver->lock);
	is_saving = saver->is_saving;
	pthread_mutex_unlock(&saver->lock);
	return is_saving ? describe_failure(saver, "its file system does not answer") : NULL;
}

void saver_release(struct saver *saver)
{
	if (saver == NULL)
		return;
	pthread_mutex_destroy(&saver->lock);
	free(saver);
}
