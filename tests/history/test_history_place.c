/* SPDX-License-Identifier: GPL-2.0-only */
/* What others may have put where a history is recorded: nothing of it is followed, waited for or written to.
 */
#include "history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/needs.h"

enum {
	NOBODY = 65534,
	SECONDS = 60, /* until a test that waits for a pipe is ended */
};

enum thing {
	LINK_TO_EMPTY_FILE, /* which a recorder would fill */
	LINK_TO_NOTHING,
	PIPE,
	DIRECTORY,
	FILE_OF_ANOTHER,
	FILE_FOR_EVERYONE,
	THINGS,
};

static const char *const thing_names[THINGS] = {
	"link to an empty file", "link to nothing",  "pipe", "directory",
	"file of another user",  "file for everyone"};

/* Puts a thing at a path; `target` is what a link leads to. False: it cannot be made here. */
static bool put(enum thing thing, const char *path, const char *target)
{
	switch (thing) {
	case LINK_TO_EMPTY_FILE:
	case LINK_TO_NOTHING:
		return symlink(target, path) == 0;
	case PIPE:
		return mkfifo(path, 0600) == 0;
	case DIRECTORY:
		return mkdir(path, 0700) == 0;
	case FILE_OF_ANOTHER:
	case FILE_FOR_EVERYONE:
	case THINGS:
		break;
	}
	close(open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
	if (thing == FILE_FOR_EVERYONE)
		return chmod(path, 0666) == 0;
	return chown(path, NOBODY, NOBODY) == 0;
}

/* Puts `thing` in place of a day's file: recorders leave it alone and use another file. */
static void check_in_place(enum thing thing)
{
	char *directory = fixture_directory(), *elsewhere = fixture_directory(),
	     *target = memory_format("%s/target", elsewhere), *path = fixture_path(directory);
	struct history_writer *writer;
	struct stat before, after;
	const char *notice;
	size_t damaged;

	if (thing == LINK_TO_EMPTY_FILE)
		close(open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
	assert_true(put(thing, path, target));
	assert_int_equal(lstat(path, &before), 0);
	alarm(SECONDS);
	writer = fixture_writer(directory, NULL);
	assert_null(history_writer_take_notice(writer));
	fixture_add_rounds(writer, &fixture_host, 0, 3);
	notice = history_writer_take_notice(writer);
	if (notice == NULL || strstr(notice, path) == NULL)
		fail_msg("%s: %s", thing_names[thing], notice != NULL ? notice : "no notice");
	history_writer_close(writer);
	/* another writer continues the history */
	writer = fixture_writer(directory, NULL);
	fixture_add_rounds(writer, &fixture_host, 3, 5);
	history_writer_close(writer);
	alarm(0);
	assert_int_equal(lstat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(before.st_mode, after.st_mode);
	/* nothing was created or written at the target of a link */
	assert_int_equal(lstat(target, &after), thing == LINK_TO_EMPTY_FILE ? 0 : -1);
	if (thing == LINK_TO_EMPTY_FILE)
		assert_int_equal(after.st_size, 0);
	assert_int_equal(fixture_walk_all(directory, &damaged), 5);
	assert_int_equal(damaged, 0);
	free(target);
	free(path);
	fixture_remove(directory);
	fixture_remove(elsewhere);
}

static void test_things_in_place(void **state)
{
	(void)state;
	for (enum thing thing = LINK_TO_EMPTY_FILE; thing < THINGS; thing++) {
		if (thing != FILE_OF_ANOTHER)
			check_in_place(thing);
	}
}

static void test_file_of_another_in_place(void **state)
{
	(void)state;
	need_capability(CAP_CHOWN, "give a file to another user");
	check_in_place(FILE_OF_ANOTHER);
}

/* A thing that takes the place of the file while it is written. */
static void test_thing_while_recording(void **state)
{
	char *directory = fixture_directory(), *path = fixture_path(directory),
	     *moved = memory_format("%s/moved", directory);
	struct history_writer *writer = fixture_writer(directory, NULL);
	size_t damaged;

	(void)state;
	fixture_add_rounds(writer, &fixture_host, 0, 2);
	assert_int_equal(rename(path, moved), 0);
	assert_true(put(PIPE, path, NULL));
	alarm(SECONDS);
	fixture_add_rounds(writer, &fixture_host, 2, 5);
	history_writer_close(writer);
	alarm(0);
	assert_int_equal(fixture_walk_all(directory, &damaged), 3);
	free(moved);
	free(path);
	fixture_remove(directory);
}

/* A lock that is no file is named, not waited for. */
static void test_things_for_the_lock(void **state)
{
	(void)state;
	for (enum thing thing = LINK_TO_EMPTY_FILE; thing <= DIRECTORY; thing++) {
		char *directory = fixture_directory(), *lock = memory_format("%s/writer.lock", directory),
		     *target = memory_format("%s/target", directory);
		const struct history_writer_options options = {.directory = directory};
		struct history_writer *writer;
		struct error error = {0};
		struct stat status;

		assert_true(put(thing, lock, target));
		alarm(SECONDS);
		assert_true(history_writer_open(&options, &writer, &error) < 0);
		alarm(0);
		if (strstr(error.text, lock) == NULL)
			fail_msg("%s: %s", thing_names[thing], error.text);
		assert_int_equal(lstat(target, &status), -1);
		free(target);
		free(lock);
		fixture_remove(directory);
	}
}

/* A directory that others can change is recorded into, but not without a word. */
static void check_directory(mode_t mode, uid_t owner, bool shared)
{
	char *directory = fixture_directory();
	struct history_writer *writer;
	const char *notice;

	assert_int_equal(chmod(directory, mode), 0);
	assert_int_equal(chown(directory, owner, (gid_t)-1), 0);
	writer = fixture_writer(directory, NULL);
	notice = history_writer_take_notice(writer);
	assert_int_equal(notice != NULL, shared);
	if (notice != NULL)
		assert_non_null(strstr(notice, directory));
	fixture_add_rounds(writer, &fixture_host, 0, 2);
	assert_null(history_writer_take_notice(writer));
	history_writer_close(writer);
	assert_int_equal(fixture_walk_all(directory, NULL), 2);
	fixture_remove(directory);
}

static void test_shared_directory(void **state)
{
	static const struct {
		mode_t mode;
		bool shared;
	} cases[] = {{0750, false}, {0755, false}, {0770, true}, {0777, true}, {01777, true}};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		check_directory(cases[i].mode, geteuid(), cases[i].shared);
}

static void test_directory_of_another(void **state)
{
	(void)state;
	need_capability(CAP_CHOWN, "give a directory to another user");
	/* ctop writes there anyway */
	need_capability(CAP_DAC_OVERRIDE, "write into it");
	check_directory(0750, NOBODY, true);
}

/* A directory that is reached by a link is one as any other. */
static void test_link_to_directory(void **state)
{
	char *directory = fixture_directory(), *link = memory_format("%s-link", directory);
	struct history_writer *writer;

	(void)state;
	assert_int_equal(symlink(directory, link), 0);
	writer = fixture_writer(link, NULL);
	fixture_add_rounds(writer, &fixture_host, 0, 2);
	history_writer_close(writer);
	assert_int_equal(fixture_walk_all(link, NULL), 2);
	assert_int_equal(fixture_walk_all(directory, NULL), 2);
	assert_int_equal(unlink(link), 0);
	free(link);
	fixture_remove(directory);
}

/* Whoever holds the lock is named by the kernel, not by what a recorder that was killed has left in its file.
 */
static void test_lock_of_another(void **state)
{
	static const char left_over[] = "1 host 1700000000\n";
	char *directory = fixture_directory(), *lock = memory_format("%s/writer.lock", directory);
	const struct history_writer_options options = {.directory = directory};
	char own[64], other[64];
	struct history_writer *writer;
	struct error error;
	int descriptor;

	(void)state;
	descriptor = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(descriptor, left_over, strlen(left_over)), strlen(left_over));
	assert_int_equal(flock(descriptor, LOCK_EX), 0);
	assert_int_equal(history_writer_open(&options, &writer, &error), -EBUSY);
	snprintf(own, sizeof(own), "process %d", (int)getpid());
	snprintf(other, sizeof(other), "process %d ", 1);
	if (strstr(error.text, own) == NULL || strstr(error.text, "end it") != NULL ||
	    strstr(error.text, other) != NULL)
		fail_msg("%s", error.text);
	close(descriptor);
	/* a recorder */
	writer = fixture_writer(directory, NULL);
	assert_int_equal(history_writer_open(&options, &writer, &error), -EBUSY);
	if (strstr(error.text, own) == NULL || strstr(error.text, "end it") == NULL)
		fail_msg("%s", error.text);
	history_writer_close(writer);
	free(lock);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_things_in_place),       cmocka_unit_test(test_file_of_another_in_place),
		cmocka_unit_test(test_thing_while_recording), cmocka_unit_test(test_things_for_the_lock),
		cmocka_unit_test(test_shared_directory),      cmocka_unit_test(test_directory_of_another),
		cmocka_unit_test(test_link_to_directory),     cmocka_unit_test(test_lock_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
