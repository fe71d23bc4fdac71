/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_fixture.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"

#define INTERVAL_NS (5 * NS_PER_S)

const struct fixture_host fixture_host = {
	.boot_id = "11111111-1111-4111-8111-111111111111",
	.kernel = "6.1.0",
	.host = "one",
	.unix_ns = FIXTURE_UNIX_NS,
	.boottime_ns = 1000 * NS_PER_S,
	.threads = 50,
};

uint64_t fixture_unix_ns(const struct fixture_host *host, uint64_t number)
{
	return host->unix_ns + number * INTERVAL_NS;
}

uint64_t fixture_number(const struct fixture_host *host, uint64_t unix_ns)
{
	assert_int_equal((unix_ns - host->unix_ns) % INTERVAL_NS, 0);
	return (unix_ns - host->unix_ns) / INTERVAL_NS;
}

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

/* What a thread has run, ns. */
static uint64_t run_time(uint32_t tid, uint64_t number)
{
	return tid % 3 == 0 ? number * NS_PER_MS : 7;
}

static void add_thread(struct snapshot *snapshot, const struct fixture_host *host, uint32_t tid,
		       uint64_t number)
{
	const uint32_t tgid = tid / 10 * 10;
	const size_t row = snapshot_add_thread(snapshot, tgid, tid);
	char process[32], name[32], cgroup[64];

	snprintf(process, sizeof(process), "server%c", (int)('a' + tgid / 10 % 26));
	snprintf(name, sizeof(name), "worker-%u", tid % 10);
	snprintf(cgroup, sizeof(cgroup), "/system.slice/%s.service", process);
	snapshot->triple[row] = snapshot_intern_triple(
		snapshot,
		(struct triple){intern(snapshot, process), intern(snapshot, name), intern(snapshot, cgroup)});
	snapshot->start_time[row] = host->boottime_ns / NS_PER_TICK - 1000 + tid;
	snapshot->uid[row] = 1000;
	snapshot_column(snapshot, METRIC_RUN_TIME_NS)[row] = run_time(tid, number);
	snapshot_column(snapshot, METRIC_WAIT_TIME_NS)[row] = run_time(tid, number) / 2;
	snapshot_column(snapshot, METRIC_READ_BYTES)[row] = tid % 3 == 0 ? number * 4096 : 0;
	snapshot_column(snapshot, METRIC_STATE)[row] = 'S';
	if (host->noisy)
		for (size_t i = 0; i < 10; i++)
			snapshot_column(snapshot, (enum metric)(METRIC_MINFLT + i))[row] = hash_u64(
				number * 100000 + tid * 10 + i);
}

struct snapshot *fixture_round(const struct fixture_host *host, uint64_t number)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->captured_at_unix_ns = fixture_unix_ns(host, number);
	snapshot->provenance.present = true;
	snapshot->provenance.program = "ctop test";
	snapshot->provenance.boottime_ns = host->boottime_ns + number * INTERVAL_NS;
	snapshot->provenance.duration_ns = NS_PER_MS;
	snapshot->provenance.boot_id = arena_duplicate(&snapshot->arena, host->boot_id,
						       strlen(host->boot_id));
	snapshot->provenance.hostname = arena_duplicate(&snapshot->arena, host->host, strlen(host->host));
	snapshot->provenance.load_known = true;
	snapshot->provenance.load_centi[0] = number % 1000;
	snapshot->host.present = true;
	snapshot->host.kernel_release = arena_duplicate(&snapshot->arena, host->kernel, strlen(host->kernel));
	snapshot->host.arch = "x86_64";
	snapshot->pressure.resource[PRESSURE_CPU].some.total_usec = number * 50000; /* 1 % */
	for (uint32_t i = 0; i < host->threads; i++)
		add_thread(snapshot, host, 100 + i, number);
	/* a process that lives for one round */
	add_thread(snapshot, host, 100 + (host->threads + 9) / 10 * 10 + (uint32_t)(number % 1000) * 10,
		   number);
	snapshot_finish(snapshot);
	return snapshot;
}

void fixture_assert_round(const struct snapshot *snapshot, const struct fixture_host *host, uint64_t number)
{
	assert_int_equal(snapshot->captured_at_unix_ns, fixture_unix_ns(host, number));
	assert_int_equal(snapshot->thread_count, host->threads + 1);
	assert_string_equal(snapshot->provenance.boot_id, host->boot_id);
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const uint32_t tid = snapshot->tid[i];
		char name[32];

		snprintf(name, sizeof(name), "worker-%u", tid % 10);
		assert_string_equal(snapshot_text(snapshot, snapshot->triples[snapshot->triple[i]].comm),
				    name);
		assert_int_equal(snapshot_value(snapshot, i, METRIC_RUN_TIME_NS), run_time(tid, number));
		assert_int_equal(snapshot_value(snapshot, i, METRIC_STATE), 'S');
	}
}

char *fixture_directory(void)
{
	const char *parent = getenv("TMPDIR");
	char *directory = memory_format("%s/ctop-history-XXXXXX", parent != NULL ? parent : "/tmp");

	assert_non_null(mkdtemp(directory));
	return directory;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status, (void)kind, (void)walk;
	return remove(path);
}

void fixture_remove(char *directory)
{
	assert_int_equal(nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
	free(directory);
}

struct history_writer *fixture_writer(const char *directory, const struct history_writer_options *options)
{
	struct history_writer_options wanted = options != NULL ? *options
							       : (struct history_writer_options){0};
	struct history_writer *writer = NULL;
	struct error error = {0};

	wanted.directory = directory;
	if (history_writer_open(&wanted, &writer, &error) < 0)
		fail_msg("%s", error.text);
	return writer;
}

void fixture_add(struct history_writer *writer, const struct fixture_host *host, uint64_t number)
{
	struct snapshot *round = fixture_round(host, number);
	struct error error = {0};

	if (history_writer_add(writer, round, &error) < 0)
		fail_msg("%s", error.text);
	snapshot_release(round);
}

struct history *fixture_open(const char *directory)
{
	struct history *history = NULL;
	struct error error = {0};

	if (history_open(directory, &history, &error) < 0)
		fail_msg("%s", error.text);
	return history;
}

void fixture_add_rounds(struct history_writer *writer, const struct fixture_host *host, uint64_t from,
			uint64_t to)
{
	for (uint64_t number = from; number < to; number++)
		fixture_add(writer, host, number);
}

char *fixture_record(uint64_t rounds)
{
	char *directory = fixture_directory();
	struct history_writer *writer = fixture_writer(directory, NULL);

	fixture_add_rounds(writer, &fixture_host, 0, rounds);
	history_writer_close(writer);
	return directory;
}

char *fixture_path(const char *directory)
{
	return memory_format("%s/" FIXTURE_DAY, directory);
}

struct day_image fixture_image(const char *directory)
{
	char *path = fixture_path(directory);
	const struct day_image image = day_image_read(path);

	free(path);
	return image;
}

void fixture_put_image(const char *directory, struct day_image *image)
{
	char *path = fixture_path(directory);

	day_image_write(image, path);
	day_image_release(image);
	free(path);
}

struct history_round fixture_find(struct history *history, uint64_t unix_ns, enum history_side side)
{
	struct history_round round = {0};
	struct error error = {0};

	if (history_find(history, unix_ns, side, &round, &error) < 0)
		fail_msg("%s", error.text);
	return round;
}

void fixture_expect_read(struct history *history, const struct history_round *round,
			 const struct fixture_host *host, uint64_t number)
{
	struct snapshot *snapshot;
	struct error error = {0};

	assert_int_equal(round->unix_ns, fixture_unix_ns(host, number));
	if (history_read(history, round, &snapshot, &error) < 0)
		fail_msg("%s", error.text);
	fixture_assert_round(snapshot, host, number);
	snapshot_release(snapshot);
}

size_t fixture_count_decoded(const struct history *history)
{
	size_t count = 0;

	for (size_t i = 0; i < history->decoded_max; i++)
		count += history->decoded[i].snapshot != NULL;
	return count;
}

size_t fixture_walk(struct history *history, const struct fixture_host *host, uint64_t from_unix_ns,
		    fixture_visit *visit, void *context, size_t *ret_damaged)
{
	struct history_round round, next;
	struct error error = {0};
	size_t count = 0, damaged = 0;
	int result = history_find(history, from_unix_ns, HISTORY_AT_OR_AFTER, &round, &error);

	if (result < 0 && ret_damaged == NULL)
		fail_msg("%s", error.text);
	for (bool is_last = result < 0; !is_last; round = next) {
		struct snapshot *snapshot;
		uint64_t number = 0;

		result = history_read(history, &round, &snapshot, &error);
		if (result == 0) {
			number = fixture_number(host, round.unix_ns);
			fixture_assert_round(snapshot, host, number);
			snapshot_release(snapshot);
			count++;
		} else if (result != -EBADMSG || ret_damaged == NULL ||
			   strstr(error.text, history->directory) == NULL) {
			fail_msg("%s", error.text);
		} else {
			damaged++;
		}
		if (visit != NULL)
			visit(context, &round, number);
		assert_int_equal(history_step(history, &round, 1, &next, &error), 0);
		is_last = history_is_same(&round, &next);
		/* on, whatever is damaged */
		assert_true(is_last || next.day > round.day || next.id > round.id);
	}
	if (ret_damaged != NULL)
		*ret_damaged = damaged;
	return count;
}

size_t fixture_walk_all(const char *directory, size_t *ret_damaged)
{
	struct history *history = fixture_open(directory);
	const size_t count = fixture_walk(history, &fixture_host, 0, NULL, NULL, ret_damaged);

	history_close(history);
	return count;
}

/* --- histories that were made to do harm --- */

static void ask_round(void *untyped, const struct history_round *round, uint64_t number)
{
	struct history *history = untyped;
	struct snapshot *gone;
	double left_ns;

	(void)number;
	if (history_read_gone(history, round, &gone, &left_ns, NULL) == 0)
		snapshot_release(gone);
	history_boot(history, round);
}

size_t fixture_read_everything(const char *directory)
{
	struct history *history = fixture_open(directory);
	struct history_round round, *rounds;
	struct history_marks marks;
	size_t count, damaged;
	const size_t whole = fixture_walk(history, &fixture_host, 0, ask_round, history, &damaged);

	for (enum history_side side = HISTORY_AT_OR_BEFORE; side <= HISTORY_NEAREST; side++)
		history_find(history, fixture_unix_ns(&fixture_host, 50), side, &round, NULL);
	history_find_within(history, fixture_unix_ns(&fixture_host, 50), fixture_unix_ns(&fixture_host, 60),
			    &round, NULL);
	history_holds(history, fixture_unix_ns(&fixture_host, 50), NULL);
	if (history_last(history, &round, NULL) == 0)
		history_step(history, &round, -INT64_C(1000000), &round, NULL);
	if (history_range(history, 0, UINT64_MAX, &rounds, &count, NULL) == 0)
		free(rounds);
	history_marks_read(history, 0, UINT64_MAX, &marks, NULL);
	history_marks_release(&marks);
	history_days(history, &count);
	history_damage(history, true, &count);
	history_close(history);
	return whole;
}

bool fixture_read_and_record(const char *directory)
{
	struct history_writer *writer;

	fixture_read_everything(directory);
	writer = fixture_writer(directory, NULL);
	fixture_add_rounds(writer, &fixture_host, FIXTURE_LATER, FIXTURE_LATER + 3);
	history_writer_close(writer);
	fixture_read_everything(directory);
	return true;
}

struct fixture_cost fixture_survive(const char *what, const char *directory,
				    bool (*body)(const char *directory))
{
	const pid_t child = fork();
	struct rusage usage;
	int status;

	if (child == 0) {
		const struct rlimit memory = {FIXTURE_MEMORY_BYTES, FIXTURE_MEMORY_BYTES};

		setrlimit(RLIMIT_CPU, &(struct rlimit){FIXTURE_CPU_SECONDS, FIXTURE_CPU_SECONDS});
		/* AddressSanitizer reserves terabytes of addresses */
		if (!ADDRESS_SANITIZER)
			setrlimit(RLIMIT_AS, &memory);
		alarm(FIXTURE_SECONDS);
		_exit(body(directory) ? 0 : 1);
	}
	assert_int_equal(wait4(child, &status, 0, &usage), child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("%s: %s %d", what, WIFSIGNALED(status) ? "signal" : "exit",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return (struct fixture_cost){
		(uint64_t)usage.ru_maxrss << 10,
		(uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
			(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US,
	};
}
