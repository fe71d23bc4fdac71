/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that the screen asks for: only the last request has a result. */
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cmd/live/file_loader.h"
#include "snapshot/snapshot.h"
#include "table/tab.h"

enum {
	PATIENCE_MS = 60000
};

/* What stands behind the loader. */
struct fixture {
	struct queue *queue;
	struct tasks *tasks;
	struct file_loader *loader;
};

static struct fixture begin(void)
{
	struct fixture fixture;
	struct error error;

	assert_int_equal(queue_create(sizeof(struct ui_event), ui_event_discard, &fixture.queue, &error), 0);
	fixture.tasks = tasks_create();
	fixture.loader = file_loader_create(NULL, fixture.tasks, fixture.queue);
	return fixture;
}

/* What nobody takes is freed. */
static void end(const struct fixture *fixture)
{
	assert_true(tasks_stop(fixture->tasks, clock_ns(CLOCK_MONOTONIC) + PATIENCE_MS * NS_PER_MS));
	file_loader_release(fixture->loader);
	tasks_release(fixture->tasks);
	queue_release(fixture->queue);
}

static void wait_readable(const struct fixture *fixture)
{
	struct pollfd wait = {.fd = queue_descriptor(fixture->queue), .events = POLLIN};

	assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
}

/* The next result; there must be one. */
static struct ui_event receive(const struct fixture *fixture)
{
	struct ui_event event = {0};

	do {
		wait_readable(fixture);
	} while (!queue_take(fixture->queue, &event));
	return event;
}

static void assert_fails(const struct fixture *fixture, const char *name)
{
	struct ui_event event = receive(fixture);

	assert_int_equal(event.kind, UI_EVENT_FILE);
	assert_true(event.is_error);
	assert_null(event.snapshot);
	assert_non_null(strstr(event.message, name));
	ui_event_discard(&event);
	assert_false(queue_take(fixture->queue, &event));
}

static void test_last_request(void **state)
{
	const struct fixture fixture = begin();

	(void)state;
	file_loader_request(fixture.loader, 1, "no-such-file");
	assert_fails(&fixture, "no-such-file");
	/* the result of the first is there before the second is asked for, but nobody has taken it */
	file_loader_request(fixture.loader, 2, "first-file");
	wait_readable(&fixture);
	file_loader_request(fixture.loader, 3, "second-file");
	assert_fails(&fixture, "second-file");
	file_loader_request(fixture.loader, 4, "third-file");
	wait_readable(&fixture);
	end(&fixture);
}

struct gate {
	struct tasks *tasks;
	sem_t passed, open;
};

static void wait_at_gate(void *gate)
{
	sem_wait(&((struct gate *)gate)->open);
}

static void pass(void *gate)
{
	sem_post(&((struct gate *)gate)->passed);
}

/* A task that hangs holds no other one up, and is left behind at the end. */
static void test_hanging(void **state)
{
	struct gate gate = {.tasks = tasks_create()};

	(void)state;
	sem_init(&gate.passed, 0, 0);
	sem_init(&gate.open, 0, 0);
	assert_int_equal(tasks_start(gate.tasks, (struct task){wait_at_gate, &gate, false}), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tasks_start(gate.tasks, (struct task){pass, &gate, true}), 0);
		sem_wait(&gate.passed);
	}
	tasks_finish(gate.tasks);
	assert_false(tasks_stop(gate.tasks, clock_ns(CLOCK_MONOTONIC)));
	sem_post(&gate.open);
	assert_true(tasks_stop(gate.tasks, clock_ns(CLOCK_MONOTONIC) + PATIENCE_MS * NS_PER_MS));
	tasks_release(gate.tasks);
}

static void assert_completes(const struct fixture *fixture, const char *text, const char *expected)
{
	struct ui_event event;

	file_loader_request_names(fixture->loader, text);
	event = receive(fixture);
	assert_int_equal(event.kind, UI_EVENT_NAMES);
	assert_string_equal(event.message, expected);
	free(event.message);
}

static void touch(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fclose(file);
}

static void test_names(void **state)
{
	char directory[] = "/tmp/ctop-names-XXXXXX", before[256];
	const struct fixture fixture = begin();

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(mkdir("captures", 0700), 0);
	assert_int_equal(symlink("captures", "link"), 0);
	touch("ctop-a.ctprof.zst");
	touch("ctop-b.ctprof.zst");
	touch("käse");
	touch("köche");
	touch(".hidden");
	touch("new\nline");
	touch("captures/one");
	assert_completes(&fixture, "ct", "ct\nctop-\nctop-a.ctprof.zst\nctop-b.ctprof.zst\n");
	assert_completes(&fixture, "ctop-a", "ctop-a\nctop-a.ctprof.zst\n");
	assert_completes(&fixture, "cap", "cap\ncaptures/\n");
	assert_completes(&fixture, "li", "li\nlink/\n");
	assert_completes(&fixture, "captures/", "captures/\ncaptures/one\n");
	assert_completes(&fixture, "./captures/o", "./captures/o\n./captures/one\n");
	assert_completes(&fixture, "none", "none\nnone\n");
	assert_completes(&fixture, "none/x", "none/x\nnone/x\n");
	assert_completes(&fixture, ".h", ".h\n.hidden\n");
	assert_completes(&fixture, "n", "n\nn\n"); /* a name with a newline is none */
	/* no half of a character */
	assert_completes(&fixture, "k", "k\nk\nkäse\nköche\n");
	assert_completes(&fixture, "",
			 "\n\ncaptures/\nctop-a.ctprof.zst\nctop-b.ctprof.zst\nkäse\nköche\nlink/\n");
	end(&fixture);
	unlink("captures/one");
	rmdir("captures");
	unlink("link");
	unlink("ctop-a.ctprof.zst");
	unlink("ctop-b.ctprof.zst");
	unlink("käse");
	unlink("köche");
	unlink(".hidden");
	unlink("new\nline");
	assert_int_equal(chdir(before), 0);
	assert_int_equal(rmdir(directory), 0);
}

/* Two sections written at the same time both end up in the file. */
static void test_sections(void **state)
{
	static const enum tab written[] = {TAB_RUN, TAB_SCHED, TAB_WAKEUPS, TAB_TIME, TAB_IO, TAB_MEMORY};
	char path[] = "/tmp/ctop-sections-XXXXXX";
	const int descriptor = mkstemp(path);
	const struct fixture fixture = begin();
	struct buffer text = {0};

	(void)state;
	assert_true(descriptor >= 0);
	close(descriptor);
	for (size_t i = 0; i < ARRAY_COUNT(written); i++) {
		tab_set_sort(written[i], COLUMN_CPU);
		file_loader_write_tab(fixture.loader, path, written[i]);
	}
	for (size_t i = 0; i < ARRAY_COUNT(written); i++) {
		struct ui_event event = receive(&fixture);

		assert_false(event.is_error);
		ui_event_discard(&event);
	}
	assert_int_equal(file_read(AT_FDCWD, path, &text, 10000), 0);
	for (size_t i = 0; i < ARRAY_COUNT(written); i++) {
		char *head = memory_format("[tab %s]\nsort = ", tabs[written[i]].name);

		if (strstr(text.data, head) == NULL)
			fail_msg("no %s in '%s'", head, text.data);
		free(head);
	}
	buffer_release(&text);
	unlink(path);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_request),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_hanging),
		cmocka_unit_test(test_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
