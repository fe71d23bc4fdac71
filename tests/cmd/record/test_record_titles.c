/* SPDX-License-Identifier: GPL-2.0-only */
/* Titles in recorded rounds: which processes have one, how long it may be, and how it follows changes. */
#include "tests/session/session_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/record/record_titles.h"
#include "tests/needs.h"
#include "tests/supervisor_fixture.h"
#include "tests/wait.h"

enum {
	BUSY = 25,          /* strangers; only the 20 busiest processes get titles */
	TITLE_SIZE = 256,   /* bytes, with the NUL */
	STRANGER = 1 << 22, /* above every process id (PID_MAX_LIMIT in include/linux/threads.h) */
};

/* A child process: a fork of this program, or sleep(1). */
struct helper {
	pid_t pid;
	uint64_t start_time; /* ticks */
	int titles;          /* write end of the pipe for its titles; -1 if it takes none */
};

static uint64_t start_of(pid_t pid)
{
	unsigned long long start = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file,
				"%*u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				"%*s %*s %llu",
				&start),
			 1);
	fclose(file);
	return start;
}

/* Whether the first argument or the title of a process is `text`. */
static bool is_called(pid_t pid, const char *text)
{
	char path[64], found[TITLE_SIZE] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	found[fread(found, 1, sizeof(found) - 1, file)] = '\0';
	fclose(file);
	return strcmp(found, text) == 0;
}

/* Room for a title, bytes: from the first argument to the end of the environment. */
static size_t title_room(void)
{
	const char *end = program_invocation_name + strlen(program_invocation_name);

	for (size_t i = 0; environ[i] != NULL && environ[i] == end + 1; i++)
		end = environ[i] + strlen(environ[i]);
	return (size_t)(end - program_invocation_name);
}

/* Writes each title from a pipe over this program's arguments, as setproctitle() does. */
static void follow_titles(int titles)
{
	char *argument = program_invocation_name;
	const size_t room = title_room();
	char title[TITLE_SIZE] = "";

	while (read(titles, title, sizeof(title)) == (ssize_t)sizeof(title)) {
		memset(argument, 0, room);
		memcpy(argument, title, strlen(title));
	}
	_exit(0);
}

static struct helper start_titled(void)
{
	struct helper helper;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	helper.pid = fork();
	assert_true(helper.pid >= 0);
	if (helper.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		follow_titles(ends[0]);
	}
	close(ends[0]);
	helper.titles = ends[1];
	helper.start_time = start_of(helper.pid);
	return helper;
}

static void set_title(const struct helper *helper, const char *title)
{
	char text[TITLE_SIZE] = "";

	memcpy(text, title, strlen(title));
	assert_int_equal(write(helper->titles, text, sizeof(text)), sizeof(text));
	/* wait: a command line that is not a title is not read again at once */
	await("it gives itself the title", is_called(helper->pid, title));
}

/* A process with arguments that may be private: not a title. */
static struct helper start_plain(void)
{
	struct helper helper = {.titles = -1};

	helper.pid = fork();
	assert_true(helper.pid >= 0);
	if (helper.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/bin/sleep", "sleep", "600", "0.123", NULL);
		_exit(127);
	}
	await("it is executed", is_called(helper.pid, "sleep"));
	helper.start_time = start_of(helper.pid);
	return helper;
}

static void end_helper(const struct helper *helper)
{
	kill(helper->pid, SIGKILL);
	waitpid(helper->pid, NULL, 0);
	if (helper->titles >= 0)
		close(helper->titles);
}

/* A series of rounds with two helpers and busier strangers. */
struct world {
	struct helper titled, plain;
	struct record_titles *titles;
	unsigned int round;
	size_t strangers;
	bool is_stuck; /* the titled helper is stuck */
};

static size_t add_process(struct snapshot *snapshot, uint32_t pid, uint64_t start_time, uint64_t run_ms)
{
	const size_t thread = fixture_thread(snapshot, pid, pid, "helper", "helper", 0);

	snapshot->start_time[thread] = start_time;
	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(run_ms));
	return thread;
}

/* Adds both helpers, the lower pid first. Returns the thread of the titled one. */
static size_t add_helpers(const struct world *world, struct snapshot *snapshot)
{
	const struct helper *titled = &world->titled, *plain = &world->plain;
	const bool is_first = titled->pid < plain->pid;
	size_t thread = 0;

	for (int i = 0; i < 2; i++) {
		const bool is_titled = (i == 0) == is_first;
		const struct helper *helper = is_titled ? titled : plain;
		const size_t added = add_process(snapshot, (uint32_t)helper->pid, helper->start_time,
						 10 * world->round);

		thread = is_titled ? added : thread;
	}
	return thread;
}

/* Makes the next round, finished and with its titles. The caller releases it. */
static struct snapshot *next_round(struct world *world)
{
	struct snapshot *snapshot = fixture_snapshot((double)world->titled.start_time / 100 + 100 +
						     2.0 * ++world->round);
	const size_t titled = add_helpers(world, snapshot);

	for (uint32_t i = 0; i < world->strangers; i++)
		add_process(snapshot, STRANGER + i, 1, 1000 * world->round);
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(*snapshot->stuck_ns));
	snapshot->stuck_ns[titled] = world->is_stuck ? MS(2000) : 0;
	fixture_set(snapshot, titled, METRIC_STATE, world->is_stuck ? 'D' : 'S');
	snapshot_finish(snapshot);
	record_titles_add(world->titles, snapshot);
	return snapshot;
}

/* Whether the helper has this title in the next round; NULL: no title. */
static bool has_title(struct world *world, const struct helper *helper, const char *title)
{
	struct snapshot *snapshot = next_round(world);
	const char *found = snapshot_find_title(snapshot, (uint32_t)helper->pid);
	const bool result = title == NULL || found == NULL ? found == title : strcmp(found, title) == 0;

	snapshot_release(snapshot);
	return result;
}

static void begin(struct world *world, enum record_titles_choice choice)
{
	struct error error;

	*world = (struct world){.titled = start_titled(), .plain = start_plain()};
	if (record_titles_start(choice, NULL, &world->titles, &error) < 0)
		fail_msg("%s", error.text);
}

static void end(struct world *world)
{
	record_titles_end(world->titles);
	end_helper(&world->titled);
	end_helper(&world->plain);
}

/* Each round has the title of its time; a command line that is not a title is not recorded. */
static void test_titles_change(void **state)
{
	struct world world;

	(void)state;
	begin(&world, RECORD_TITLES_SELF);
	/* no earlier round shows how busy the helpers were */
	assert_true(has_title(&world, &world.titled, NULL));
	set_title(&world.titled, "db: idle");
	await("it has its title", has_title(&world, &world.titled, "db: idle"));
	set_title(&world.titled, "db: UPDATE");
	await("it has another one", has_title(&world, &world.titled, "db: UPDATE"));
	assert_true(has_title(&world, &world.plain, NULL));
	end(&world);
}

/* RECORD_TITLES_ALL records every command line. */
static void test_all(void **state)
{
	struct world world;

	(void)state;
	begin(&world, RECORD_TITLES_ALL);
	await("it has its arguments", has_title(&world, &world.plain, "sleep 600 0.123"));
	set_title(&world.titled, "db: idle");
	await("it has its title", has_title(&world, &world.titled, "db: idle"));
	end(&world);
}

/* Makes "db: x" followed by `letters` letters of two bytes each. */
static void make_long_title(char title[TITLE_SIZE], size_t letters)
{
	strcpy(title, "db: x");
	for (size_t i = 0; i < letters; i++)
		strcat(title, "\xc3\xa4");
}

/* A long title is cut between characters; RECORD_TITLES_ALL keeps it whole. */
static void test_long(void **state)
{
	char title[TITLE_SIZE], cut[TITLE_SIZE];
	struct world world;

	(void)state;
	make_long_title(title, 100);
	make_long_title(cut, 61);
	if (title_room() < strlen(title))
		skip_test("the arguments and the environment have no room for a long title");
	begin(&world, RECORD_TITLES_SELF);
	set_title(&world.titled, title);
	await("its title is cut", has_title(&world, &world.titled, cut));
	end(&world);
	begin(&world, RECORD_TITLES_ALL);
	set_title(&world.titled, title);
	await("it has all of its title", has_title(&world, &world.titled, title));
	end(&world);
}

/* Only the busiest processes and stuck ones have titles. */
static void test_choice(void **state)
{
	struct world world;

	(void)state;
	begin(&world, RECORD_TITLES_SELF);
	set_title(&world.titled, "db: idle");
	await("it has its title", has_title(&world, &world.titled, "db: idle"));
	world.strangers = BUSY;
	/* no earlier round shows how busy the strangers were */
	snapshot_release(next_round(&world));
	assert_true(has_title(&world, &world.titled, NULL));
	world.is_stuck = true;
	await("a stuck one has its title", has_title(&world, &world.titled, "db: idle"));
	end(&world);
}

/* A process that reused a pid does not lend its title to the earlier process with that pid. */
static void test_other_process(void **state)
{
	struct world world;

	(void)state;
	begin(&world, RECORD_TITLES_SELF);
	set_title(&world.titled, "db: idle");
	await("it has its title", has_title(&world, &world.titled, "db: idle"));
	world.titled.start_time -= 1;
	snapshot_release(next_round(&world));
	for (int i = 0; i < 3; i++)
		assert_true(has_title(&world, &world.titled, NULL));
	end(&world);
}

static void test_none(void **state)
{
	struct world world;

	(void)state;
	begin(&world, RECORD_TITLES_NONE);
	assert_null(world.titles);
	set_title(&world.titled, "db: idle");
	for (int i = 0; i < 3; i++)
		assert_true(has_title(&world, &world.titled, NULL));
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_titles_change), cmocka_unit_test(test_all),
		cmocka_unit_test(test_long),          cmocka_unit_test(test_choice),
		cmocka_unit_test(test_other_process), cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, start_supervisor, stop_supervisor);
}
