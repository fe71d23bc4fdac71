/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorder that is killed at any moment, over and over: all that it was told to be stored is there and as
 * it was, at most the round under way is not, and the next recorder goes on in the same files.
 *
 *   test_history_crash [KILLS [SEED]]
 */
#include "history_fixture.h"
#include "tests/wait.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	KILLS = 40,
	KILLS_OF_ONE = 25, /* of one history, which is then looked at as a whole */
	LONGEST_LIFE_US = 60000,
};

static unsigned int kills = KILLS, seed = 1;

/* What the recorder says, in memory that outlives it. */
struct shared {
	volatile uint64_t started; /* the round that is being stored, or was last */
	volatile uint64_t stored;  /* rounds that were stored */
	volatile int failed;
};

static const struct fixture_host *noisy_host(void)
{
	static struct fixture_host host;

	host = fixture_host;
	host.noisy = true;
	return &host;
}

/* Stores rounds from one on until it is killed, or does so by itself. */
static _Noreturn void record(const char *directory, uint64_t from, struct shared *shared, bool ends)
{
	const struct history_writer_options options = {.directory = directory};
	struct history_writer *writer;
	struct error error;
	uint64_t last = from + 2000;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (history_writer_open(&options, &writer, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		shared->failed = 1;
		_exit(1);
	}
	if (ends)
		last = from + 30;
	for (uint64_t number = from; number < last; number++) {
		struct snapshot *round = fixture_round(noisy_host(), number);

		shared->started = number + 1;
		if (history_writer_add(writer, round, &error) < 0) {
			fprintf(stderr, "%s\n", error.text);
			shared->failed = 1;
		}
		shared->stored = number + 1;
		snapshot_release(round);
	}
	history_writer_close(writer);
	for (;;)
		pause();
}

static void sleep_us(uint64_t microseconds)
{
	const struct timespec time = clock_timespec(microseconds * NS_PER_US);

	nanosleep(&time, NULL);
}

/* Starts a recorder and kills it at some moment. */
static void crash(const char *directory, struct shared *shared)
{
	const uint64_t from = shared->stored;
	const unsigned int when = (unsigned int)rand_r(&seed) % 8;
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		record(directory, shared->started > from ? shared->started : from, shared, when == 1);
	/* while it starts, while it records, while it ends */
	if (when != 0)
		await("a round is stored", shared->stored > from || shared->failed);
	/* any moment is right */
	sleep_us((uint64_t)rand_r(&seed) % (when == 0 ? 3000 : LONGEST_LIFE_US));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(shared->failed, 0);
}

struct looking {
	uint64_t expected, lost;
};

static void look_at(void *untyped, const struct history_round *round, uint64_t number)
{
	struct looking *looking = untyped;

	(void)round;
	assert_true(number >= looking->expected);
	looking->lost += number - looking->expected;
	looking->expected = number + 1;
}

/* Which rounds there are, and that each of them can be read: from the last of those that were looked at
 * before. */
static uint64_t look(const char *directory, const struct shared *shared, uint64_t from, uint64_t *lost)
{
	struct history *history = fixture_open(directory);
	struct looking looking = {from, 0};

	fixture_walk(history, noisy_host(), fixture_unix_ns(noisy_host(), from), look_at, &looking, NULL);
	history_close(history);
	*lost += looking.lost;
	/* all that was stored is there */
	assert_true(looking.expected >= shared->stored);
	assert_true(looking.expected <= shared->started);
	return looking.expected - 1;
}

/* Checks that all frames are whole, with nothing between them. */
static void check_integrity(const char *directory)
{
	struct history *history = fixture_open(directory);
	const struct history_hole *holes;
	size_t count;

	holes = history_damage(history, true, &count);
	if (count != 0)
		fail_msg("%s", holes[0].why);
	history_close(history);
}

static void test_killed_recorders(void **state)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t lost = 0, rounds = 0;

	(void)state;
	assert_ptr_not_equal(shared, MAP_FAILED);
	print_message("%u kills, seed %u\n", kills, seed);
	for (unsigned int done = 0; done < kills;) {
		char *directory = fixture_directory();
		uint64_t looked = 0, lost_here = 0, ignored = 0;
		unsigned int kills_here = 0;

		memset((void *)shared, 0, sizeof(*shared));
		for (unsigned int i = 0; i < KILLS_OF_ONE && done < kills; i++, done++) {
			crash(directory, shared);
			kills_here++;
			/* not even one is there */
			if (shared->stored == 0)
				continue;
			looked = look(directory, shared, looked, &lost_here);
			/* a round that was under way when the recorder was killed may be missing, no other */
			assert_true(lost_here <= kills_here);
		}
		if (shared->stored != 0) {
			look(directory, shared, 0, &ignored);
			check_integrity(directory);
		}
		rounds += shared->stored;
		lost += lost_here;
		fixture_remove(directory);
	}
	print_message("%llu rounds, of which %llu under way were lost\n", (unsigned long long)rounds,
		      (unsigned long long)lost);
	munmap((void *)shared, sizeof(*shared));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_recorders),
	};

	if (argc > 1)
		kills = (unsigned int)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = (unsigned int)strtoul(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
