/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"
#include "tests/needs.h"
#include "tests/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/rights.h"
#include "base/supervisor.h"
#include "snapshot/user_names.h"

/* Longer than any look-up takes, also where other tests have the CPU. */
#define PATIENCE_NS (60 * NS_PER_S)

static char directory[] = "/tmp/ctop-user-names-XXXXXX";
static char *passwd;

/* Another file of that name: one that is still run may not be written. */
static void write_file(const char *path, const char *text, mode_t mode)
{
	int descriptor;

	unlink(path);
	descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	assert_true(descriptor >= 0);
	assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
	close(descriptor);
}

static int make_directory(void **state)
{
	struct error error;

	(void)state;
	if (supervisor_start(&error) < 0)
		return -1;
	if (mkdtemp(directory) == NULL)
		return -1;
	passwd = memory_format("%s/passwd", directory);
	write_file(passwd,
		   "# "
		   "users\nroot:x:0:0:root:/root:/bin/sh\nweb:x:1000:1000::/:/bin/"
		   "sh\nbroken\nlarge:x:4294967295:0::/:\n"
		   "second:x:1000:1::/:\n:x:7:7::/:\nopen:x:8\n",
		   0600);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(passwd);
	free(passwd);
	supervisor_stop();
	return rmdir(directory);
}

static void a_name_is_there_soon_and_the_first_of_two_counts(void **state)
{
	struct buffer text = {0};
	unsigned int generation;

	(void)state;
	user_names_set_sources(passwd, NULL);
	generation = user_names_generation();
	user_name(0);
	user_name(1000);
	user_name(7);
	user_name(8);
	assert_true(user_names_wait(PATIENCE_NS));
	assert_string_equal(user_name(0), "root");
	assert_string_equal(user_name(1000), "web");
	assert_null(user_name(7));
	assert_null(user_name(8));
	assert_int_not_equal(user_names_generation(), generation);
	/* one that cannot be known is not asked for */
	assert_null(user_name(USER_UNKNOWN));
	assert_true(user_names_wait(0));
	user_name_append(&text, 1000);
	user_name_append(&text, 7);
	user_name_append(&text, USER_UNKNOWN);
	assert_string_equal(text.data, "web7(unknown)");
	buffer_release(&text);
}

/*
 * Asks for these users anew. Whether each has a name then: none has one where a busy host was late with a
 * process that asks the services.
 */
static bool are_named(const char *file, reader_work *service, const uint32_t *uids, size_t count)
{
	bool all = true;

	user_names_set_sources(file, service);
	for (size_t i = 0; i < count; i++)
		user_name(uids[i]);
	assert_true(user_names_wait(PATIENCE_NS));
	for (size_t i = 0; i < count; i++)
		all = all && user_name(uids[i]) != NULL;
	return all;
}

/* A reader_work. */
static int name_all(int unused, const void *argument, size_t size, struct buffer *lines)
{
	const char *key = argument, *const end = key + size;

	(void)unused;
	for (; key < end; key += strlen(key) + 1) {
		char line[64];

		snprintf(line, sizeof(line), "user-of-%s:x:%s:\n", key, key);
		buffer_append_text(lines, line);
	}
	return 0;
}

static int hang(int unused, const void *argument, size_t size, struct buffer *lines)
{
	(void)unused;
	(void)argument;
	(void)size;
	(void)lines;
	while (pause() != 0)
		;
	return 0;
}

static int know_far(int unused, const void *argument, size_t size, struct buffer *lines)
{
	(void)unused;
	(void)size;
	if (strcmp(argument, "far") == 0)
		buffer_append_text(lines, "far:x:77:\n");
	return 0;
}

/* What foreign code is called with: no right, and in another process. */
static int check_rights(int unused, const void *argument, size_t size, struct buffer *lines)
{
	struct rights rights;
	const bool has_any = rights_read(&rights) < 0 || (rights.permitted | rights.effective) != 0;

	(void)unused;
	(void)argument;
	(void)size;
	buffer_append_text(lines, has_any ? "any:x:3000:\n" : "none:x:3000:\n");
	return 0;
}

static void the_services_have_no_rights(void **state)
{
	const uint32_t uid = 3000;

	(void)state;
	await("the services name a user", are_named(passwd, check_rights, &uid, 1));
	assert_string_equal(user_name(uid), "none");
}

static void the_services_are_asked_for_what_the_file_lacks(void **state)
{
	uint32_t uids[202] = {3000, 1000};

	(void)state;
	for (uint32_t i = 2; i < ARRAY_COUNT(uids); i++)
		uids[i] = 4998 + i;
	await("the services name all users", are_named(passwd, name_all, uids, ARRAY_COUNT(uids)));
	assert_string_equal(user_name(3000), "user-of-3000");
	assert_string_equal(user_name(1000), "web");
	assert_string_equal(user_name(5199), "user-of-5199");
	assert_string_equal(user_name(5000), "user-of-5000");
}

static void services_that_hang_delay_nobody(void **state)
{
	const uint64_t start = clock_ns(CLOCK_MONOTONIC);
	struct error error;
	uint32_t uid = 1;

	(void)state;
	user_names_set_sources(passwd, hang);
	assert_null(user_name(3000));
	assert_false(user_names_wait(50 * NS_PER_MS));
	assert_null(user_name(3000));
	/* it is given up at last, and then the number stands */
	assert_true(user_names_wait(PATIENCE_NS));
	assert_null(user_name(3000));
	assert_true(clock_ns(CLOCK_MONOTONIC) - start < PATIENCE_NS);
	assert_int_equal(user_find("nobody-here", 100 * NS_PER_MS, &uid, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.text, "do not answer"));
	assert_int_equal(uid, 1);
	assert_int_equal(user_find("web", 100 * NS_PER_MS, &uid, &error), 0);
	assert_int_equal(uid, 1000);
}

static void users_are_found_by_name_and_number(void **state)
{
	struct error error;
	uint32_t uid = 1;

	(void)state;
	user_names_set_sources(passwd, know_far);
	assert_int_equal(user_find("root", PATIENCE_NS, &uid, &error), 0);
	assert_int_equal(uid, 0);
	assert_int_equal(user_find("4242", PATIENCE_NS, &uid, &error), 0);
	assert_int_equal(uid, 4242);
	await("the services find a user", user_find("far", PATIENCE_NS, &uid, &error) == 0);
	assert_int_equal(uid, 77);
	await("the services find none", user_find("wbe", PATIENCE_NS, &uid, &error) == -ENOENT);
	assert_string_equal(error.text, "there is no user 'wbe', did you mean 'web'? a number is taken too");
	await("the services find none", user_find("-x", PATIENCE_NS, &uid, &error) == -ENOENT);
	assert_int_equal(user_find("", PATIENCE_NS, &uid, &error), -ENOENT);
	await("the services find none", user_find("4294967295", PATIENCE_NS, &uid, &error) == -ENOENT);
	assert_int_equal(uid, 77);
}

static void this_host_knows_its_users(void **state)
{
	const struct passwd *self = getpwuid(getuid());
	const uint32_t own = getuid();
	struct error error;
	uint32_t uid = 1;

	(void)state;
	if (self == NULL)
		skip_test("user %u has no name on this host", own);
	/* the services alone, as where the file has nobody */
	await("the services name this user", are_named(NULL, user_names_ask_services, &own, 1));
	assert_string_equal(user_name(own), self->pw_name);
	await("the services find this user", user_find(self->pw_name, PATIENCE_NS, &uid, &error) == 0);
	assert_int_equal(uid, own);
	user_names_set_sources("/etc/passwd", NULL);
	user_name(getuid());
	assert_true(user_names_wait(PATIENCE_NS));
	assert_string_equal(user_name(getuid()), self->pw_name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_there_soon_and_the_first_of_two_counts),
		cmocka_unit_test(the_services_are_asked_for_what_the_file_lacks),
		cmocka_unit_test(the_services_have_no_rights),
		cmocka_unit_test(users_are_found_by_name_and_number),
		cmocka_unit_test(this_host_knows_its_users),
		/* the last: afterwards the services are let alone for a while */
		cmocka_unit_test(services_that_hang_delay_nobody),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
