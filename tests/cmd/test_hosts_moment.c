/* SPDX-License-Identifier: GPL-2.0-only */
/* One moment of every history in a directory: which are read, in which order, and which are skipped. */
#include "history/history_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/line/hosts_moment.h"
#include "session/when.h"
#include "snapshot/snapshot_window.h"

enum {
	ROUNDS = 30,
	ENDED = 5, /* rounds of the history that ends early */
};

static char *directory;

static void record(const char *name, uint64_t rounds)
{
	char *path = memory_format("%s/%s", directory, name);
	struct history_writer *writer;

	assert_int_equal(mkdir(path, 0700), 0);
	writer = fixture_writer(path, NULL);
	fixture_add_rounds(writer, &fixture_host, 0, rounds);
	history_writer_close(writer);
	free(path);
}

static int begin(void **state)
{
	char *file, *empty;

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	directory = fixture_directory();
	file = memory_format("%s/notes.txt", directory);
	empty = memory_format("%s/empty", directory);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(mkdir(empty, 0700), 0);
	record("web-3", ROUNDS);
	record("web-1", ROUNDS);
	record("db", ROUNDS);
	record("web-2", ROUNDS);
	record("mail", ROUNDS);
	record("ended", ENDED);
	free(file);
	free(empty);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fixture_remove(directory);
	return 0;
}

static char *name_moment(const char *of, uint64_t round)
{
	char text[WHEN_TEXT_SIZE];

	return memory_format("%s@%s", of, when_format(text, fixture_unix_ns(&fixture_host, round)));
}

static char *name_range(const char *of, uint64_t from, uint64_t to)
{
	char *begins = name_moment(of, from), ends[WHEN_TEXT_SIZE];
	char *name = memory_format("%s..%s", begins, when_format(ends, fixture_unix_ns(&fixture_host, to)));

	free(begins);
	return name;
}

static char *names[HOSTS_MOMENTS_MAX];

/* Finds the moments with these names and takes the names over. `second` may be NULL. */
static int find(char *first, char *second, struct hosts_moment *ret_moment, struct error *error)
{
	*error = (struct error){""};
	names[0] = first;
	names[1] = second;
	return hosts_moment_find((const char *const *)names, second != NULL ? 2 : 1, ret_moment, error);
}

static void release(struct hosts_moment *moment)
{
	hosts_moment_release(moment);
	for (size_t i = 0; i < HOSTS_MOMENTS_MAX; i++) {
		free(names[i]);
		names[i] = NULL;
	}
}

static void test_find(void **state)
{
	struct hosts_moment moment;
	struct error error;
	char *one = memory_format("%s/web-1", directory);

	(void)state;
	assert_int_equal(find(name_moment(directory, 12), NULL, &moment, &error), 1);
	assert_int_equal(moment.hosts.count, 8);
	assert_string_equal(moment.hosts.entries[0]->d_name, "db");
	assert_string_equal(moment.hosts.entries[4]->d_name, "notes.txt");
	assert_int_equal(moment.unix_ns / NS_PER_S, fixture_unix_ns(&fixture_host, 12) / NS_PER_S);
	assert_string_equal(moment.zone, "UTC");
	release(&moment);
	/* neither one history nor a missing directory is a directory of histories */
	assert_int_equal(find(name_moment(one, 12), NULL, &moment, &error), 0);
	release(&moment);
	assert_int_equal(find(name_moment("/nowhere", 12), NULL, &moment, &error), 0);
	release(&moment);
	/* a directory of histories can be compared only with itself */
	assert_int_equal(find(name_moment(directory, 12), name_moment(one, 12), &moment, &error), -EINVAL);
	assert_non_null(strstr(error.text, "name two moments of it"));
	release(&moment);
	free(one);
}

static const struct report_options options;

struct visits {
	struct buffer hosts;
	uint64_t rounds[HOSTS_MOMENTS_MAX]; /* expected length of each window, rounds; 0: no window */
	size_t parts;
};

static void visit(void *context, const char *host, const struct history_moment files[])
{
	struct visits *visits = context;

	buffer_append_format(&visits->hosts, "%s ", host);
	for (size_t i = 0; i < HOSTS_MOMENTS_MAX && visits->rounds[i] != 0; i++) {
		const struct snapshot *now = files[i].snapshot;

		assert_non_null(now->window);
		assert_int_equal(now->provenance.boottime_ns - now->window->from->provenance.boottime_ns,
				 visits->rounds[i] * 5 * NS_PER_S);
		assert_int_equal(now->window->parts.count, visits->parts);
	}
}

static void test_moment(void **state)
{
	struct visits visits = {.rounds = {1}};
	struct hosts_moment moment;
	struct error error;

	(void)state;
	assert_int_equal(find(name_moment(directory, 12), NULL, &moment, &error), 1);
	assert_int_equal(hosts_moment_read(&moment, &options, visit, &visits, &error), 0);
	/* the history `ended` has no round at that time */
	assert_string_equal(visits.hosts.data, "db mail web-1 web-2 web-3 ");
	release(&moment);
	buffer_clear(&visits.hosts);
	assert_int_equal(find(name_moment(directory, ENDED - 1), NULL, &moment, &error), 1);
	assert_int_equal(hosts_moment_read(&moment, &options, visit, &visits, &error), 0);
	assert_string_equal(visits.hosts.data, "db ended mail web-1 web-2 web-3 ");
	release(&moment);
	buffer_release(&visits.hosts);
}

/* Two ranges, whose windows are divided into parts for testing changes. */
static void test_ranges(void **state)
{
	struct visits visits = {.rounds = {8, 8}, .parts = 8};
	struct hosts_moment moment;
	struct error error;

	(void)state;
	assert_int_equal(find(name_range(directory, 2, 10), name_range(directory, 12, 20), &moment, &error),
			 1);
	assert_int_equal(hosts_moment_read(&moment, &options, visit, &visits, &error), 0);
	assert_string_equal(visits.hosts.data, "db mail web-1 web-2 web-3 ");
	release(&moment);
	buffer_release(&visits.hosts);
}

static void test_nothing(void **state)
{
	struct visits visits = {.parts = 0};
	struct hosts_moment moment;
	struct error error;

	(void)state;
	assert_int_equal(find(name_moment(directory, ROUNDS + 50), NULL, &moment, &error), 1);
	assert_int_equal(hosts_moment_read(&moment, &options, visit, &visits, &error), -ENODATA);
	assert_non_null(strstr(error.text, "no host has anything at that time"));
	assert_int_equal(visits.hosts.length, 0);
	release(&moment);
}

/* A report does not overwrite a file that it reads. */
static void test_output(void **state)
{
	char *file = memory_format("%s/web-2/" FIXTURE_DAY, directory);
	const struct report_options over = {.output = file};
	struct visits visits = {.parts = 0};
	struct hosts_moment moment;
	struct error error;

	(void)state;
	assert_int_equal(find(name_moment(directory, 12), NULL, &moment, &error), 1);
	assert_int_equal(hosts_moment_read(&moment, &over, visit, &visits, &error), -EINVAL);
	assert_non_null(strstr(error.text, "would be overwritten"));
	release(&moment);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),    cmocka_unit_test(test_moment), cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_output),
	};

	return cmocka_run_group_tests_name("moments of many hosts", tests, begin, end);
}
