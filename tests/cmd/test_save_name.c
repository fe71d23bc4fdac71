/* SPDX-License-Identifier: GPL-2.0-only */
/* Saving snapshots: no existing file is replaced, and a reported save is finished. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/wait.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cmd/live/file_loader.h"
#include "cmd/live/save_name.h"
#include "snapshot/snapshot.h"
#include "ui/ui.h"

enum {
	FILES = 3
};

static void test_taken_names(void **state)
{
	static const char suffix[] = ".ctprof.zst";
	char directory[] = "/tmp/ctop-save-XXXXXX", *paths[FILES];
	struct snapshot *snapshot = snapshot_create();
	struct buffer kept = {0};
	struct error error;
	size_t stem;
	FILE *first;

	(void)state;
	snapshot_finish(snapshot);
	assert_non_null(mkdtemp(directory));
	assert_int_equal(save_name_write(snapshot, NULL, directory, &paths[0], NULL, &error), 0);
	stem = strlen(paths[0]) - strlen(suffix);
	assert_string_equal(paths[0] + stem, suffix);
	first = fopen(paths[0], "w");
	assert_non_null(first);
	fputs("first", first);
	assert_int_equal(fclose(first), 0);
	for (int i = 1; i < FILES; i++) {
		char *wanted = memory_format("%.*s-%d%s", (int)stem, paths[0], i + 1, suffix);

		assert_int_equal(save_name_write(snapshot, NULL, directory, &paths[i], NULL, &error), 0);
		assert_string_equal(paths[i], wanted);
		free(wanted);
	}
	assert_int_equal(file_read(AT_FDCWD, paths[0], &kept, 100), 0);
	assert_string_equal(kept.data, "first");
	buffer_release(&kept);
	for (int i = 0; i < FILES; i++) {
		assert_int_equal(unlink(paths[i]), 0);
		free(paths[i]);
	}
	assert_int_equal(rmdir(directory), 0);
	snapshot_release(snapshot);
}

/* A screen that requests the next save as soon as one is reported. */
static struct screen {
	struct file_loader *loader;
	struct snapshot *next; /* NULL: no further save */
	pthread_t thread;
	atomic_int tid;
	atomic_bool has_asked;
} screen;

static void *ask(void *argument)
{
	(void)argument;
	atomic_store(&screen.tid, gettid());
	file_loader_save(screen.loader, screen.next, NULL);
	atomic_store(&screen.has_asked, true);
	return NULL;
}

/* Whether the requesting thread has finished or waits for a lock. */
static bool has_come_far(void)
{
	char path[64], text[256] = "";
	FILE *file;

	if (atomic_load(&screen.has_asked) || atomic_load(&screen.tid) == 0)
		return atomic_load(&screen.has_asked);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", atomic_load(&screen.tid));
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	(void)!fgets(text, sizeof(text), file);
	fclose(file);
	return strstr(text, ") S ") != NULL;
}

void __real_queue_send(struct queue *queue, const void *event);
void __wrap_queue_send(struct queue *queue, const void *event);

/* Requests the next save right after the previous one was reported. */
void __wrap_queue_send(struct queue *queue, const void *event)
{
	const bool is_first = screen.next != NULL && screen.thread == 0;

	__real_queue_send(queue, event);
	if (!is_first)
		return;
	assert_int_equal(pthread_create(&screen.thread, NULL, ask, NULL), 0);
	await("the next save is asked for", has_come_far());
}

static void test_next_save(void **state)
{
	char directory[] = "/tmp/ctop-save-XXXXXX";
	struct snapshot *snapshots[] = {snapshot_create(), snapshot_create()};
	struct tasks *tasks = tasks_create();
	struct queue *queue;
	struct error error;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(queue_create(sizeof(struct ui_event), NULL, &queue, &error), 0);
	for (size_t i = 0; i < ARRAY_COUNT(snapshots); i++)
		snapshot_finish(snapshots[i]);
	screen = (struct screen){.loader = file_loader_create(directory, tasks, queue), .next = snapshots[1]};
	file_loader_save(screen.loader, snapshots[0], NULL);
	for (size_t i = 0; i < ARRAY_COUNT(snapshots); i++) {
		struct ui_event event;

		await("a save is reported", queue_take(queue, &event));
		assert_false(event.is_error);
		assert_int_equal(unlink(event.path), 0);
		ui_event_discard(&event);
	}
	assert_int_equal(pthread_join(screen.thread, NULL), 0);
	screen.next = NULL;
	assert_true(tasks_stop(tasks, clock_ns(CLOCK_MONOTONIC) + 60 * NS_PER_S));
	assert_int_equal(rmdir(directory), 0);
	file_loader_release(screen.loader);
	tasks_release(tasks);
	queue_release(queue);
	for (size_t i = 0; i < ARRAY_COUNT(snapshots); i++)
		snapshot_release(snapshots[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_names),
		cmocka_unit_test(test_next_save),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
