/* SPDX-License-Identifier: GPL-2.0-only */
/* Rounds that were chosen at random: any two decode to what was encoded. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ctprof/snapshot_compare.h"
#include "base/memory.h"
#include "cmocka_include.h"
#include "random_round.h"
#include "round_compare.h"
#include "snapshot/ended_set.h"
#include "store/recording.h"
#include "store/round.h"

enum {
	HOSTS = 60,
	ROUNDS = 8,
};

static struct snapshot *decode(const struct recording *recording, const struct snapshot *against)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	if (recording_decode(recording->state.data, recording->state.length, recording->interval.data,
			     recording->interval.length, against, "the test", &snapshot, &error) < 0)
		fail_msg("%s", error.text);
	return snapshot;
}

static void assert_equal(const struct snapshot *left, const struct snapshot *right, uint64_t seed)
{
	const char *difference = round_difference(left, right);

	if (difference != NULL)
		fail_msg("seed %lu: %s is another one", (unsigned long)seed, difference);
}

static void check_pair(struct recorder *recorder, const struct snapshot *now, const struct snapshot *against,
		       uint64_t seed)
{
	struct recording whole = {0}, changes = {0};
	struct snapshot *decoded_against, *decoded;

	recorder_encode(recorder, against, NULL, NULL, NAN, &whole);
	assert_true(whole.is_whole);
	decoded_against = decode(&whole, NULL);
	assert_equal(against, decoded_against, seed);
	recorder_encode(recorder, now, against, against, NAN, &changes);
	assert_true(!changes.is_whole);
	decoded = decode(&changes, decoded_against);
	assert_equal(now, decoded, seed);
	assert_true(decoded->carried_serial ==
		    (now->carried_serial == against->serial ? decoded_against->serial : 0));
	snapshot_release(decoded_against);
	snapshot_release(decoded);
	recording_release(&whole);
	recording_release(&changes);
}

static void test_any_two(void **state)
{
	struct recorder *recorder = recorder_create(3);

	(void)state;
	for (uint64_t seed = 1; seed <= HOSTS; seed++) {
		struct random_host *host = random_host_create(seed);
		struct snapshot *rounds[ROUNDS];

		for (size_t i = 0; i < ROUNDS; i++)
			rounds[i] = random_host_next(host);
		for (size_t i = 0; i < ROUNDS; i++) {
			if (i != 0)
				check_pair(recorder, rounds[i], rounds[i - 1], seed);
			check_pair(recorder, rounds[i], rounds[random_below(host, ROUNDS)], seed);
		}
		for (size_t i = 0; i < ROUNDS; i++)
			snapshot_release(rounds[i]);
		random_host_release(host);
	}
	recorder_release(recorder);
}

/* Each round against the one before, as it was decoded: mistakes would add up. */
static void check_chain(uint64_t seed)
{
	struct recorder *recorder = recorder_create(1);
	struct random_host *host = random_host_create(seed);
	struct snapshot *before = NULL, *decoded_before = NULL;
	struct recording recording = {0};

	for (size_t i = 0; i < (size_t)HOSTS * 2; i++) {
		struct snapshot *now = random_host_next(host), *decoded;

		recorder_encode(recorder, now, before, before, NAN, &recording);
		decoded = decode(&recording, decoded_before);
		assert_equal(now, decoded, i);
		snapshot_release(before);
		snapshot_release(decoded_before);
		before = now;
		decoded_before = decoded;
	}
	snapshot_release(before);
	snapshot_release(decoded_before);
	recording_release(&recording);
	random_host_release(host);
	recorder_release(recorder);
}

static void test_chain(void **state)
{
	(void)state;
	check_chain(4711);
	check_chain(4712);
}

/* What two rounds share is not compared where they say that they name alike; the bytes are the same. */
static void test_names_that_go_on(void **state)
{
	struct recorder *recorder = recorder_create(1);
	struct random_host *host = random_host_create(2);
	struct recording quick = {0}, slow = {0};
	struct snapshot *before = random_host_next(host);
	size_t alike = 0;

	(void)state;
	for (size_t i = 0; i < HOSTS; i++) {
		struct snapshot *now = random_host_next(host);
		const uint64_t serial = now->names_serial;

		alike += serial == before->names_serial;
		recorder_encode(recorder, now, before, before, NAN, &quick);
		now->names_serial = 0;
		recorder_encode(recorder, now, before, before, NAN, &slow);
		now->names_serial = serial;
		assert_int_equal(quick.state.length, slow.state.length);
		assert_memory_equal(quick.state.data, slow.state.data, slow.state.length);
		snapshot_release(before);
		before = now;
	}
	assert_in_range(alike, HOSTS / 2, HOSTS);
	snapshot_release(before);
	recording_release(&quick);
	recording_release(&slow);
	random_host_release(host);
	recorder_release(recorder);
}

/* Whether the id is said to be another thread's: it may be where the run time grew by more than has passed.
 */
static bool is_another(const struct snapshot *gone, size_t next, const struct snapshot *now, size_t row,
		       const struct snapshot *before, size_t old)
{
	return next < gone->thread_count && gone->tid[next] == before->tid[old] &&
	       snapshot_value(now, row, METRIC_RUN_TIME_NS) -
			       snapshot_value(before, old, METRIC_RUN_TIME_NS) >
		       now->provenance.boottime_ns - before->provenance.boottime_ns;
}

/* The rows of `before` that are gone, as they were. */
static void check_gone(const struct snapshot *gone, const struct snapshot *now, const struct snapshot *before)
{
	size_t next = 0;

	for (uint32_t old = 0, row = 0; old < before->thread_count; old++) {
		while (row < now->thread_count &&
		       (now->tgid[row] < before->tgid[old] ||
			(now->tgid[row] == before->tgid[old] && now->tid[row] < before->tid[old])))
			row++;
		if (row < now->thread_count && now->tid[row] == before->tid[old] &&
		    !is_another(gone, next, now, row, before, old))
			continue;
		assert_true(next < gone->thread_count);
		assert_threads_equal(gone, next, before, old);
		next++;
	}
	assert_int_equal(gone->thread_count, next);
}

static void test_interval(void **state)
{
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	size_t gone_threads = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= HOSTS; seed++) {
		struct random_host *host = random_host_create(seed);
		struct snapshot *before = random_host_next(host), *now = random_host_next(host), *gone;
		struct error error = {""};
		double left_ns = 0;

		recorder_encode(recorder, now, NULL, before, 1234.5, &recording);
		assert_int_equal(recording_decode_interval(recording.interval.data, recording.interval.length,
							   "the test", &gone, &left_ns, &error),
				 0);
		assert_true(left_ns == 1234.5);
		assert_true(gone->provenance.boottime_ns == before->provenance.boottime_ns);
		assert_int_equal(gone->ended != NULL, now->ended != NULL);
		if (now->ended != NULL)
			assert_int_equal(gone->ended->group_count, now->ended->group_count);
		assert_int_equal(gone->latency.count, now->latency.count);
		for (size_t i = 0; i < now->latency.count; i++)
			assert_string_equal(snapshot_text(gone, gone->latency.records[i].comm),
					    snapshot_text(now, now->latency.records[i].comm));
		check_gone(gone, now, before);
		gone_threads += gone->thread_count;
		snapshot_release(gone);
		snapshot_release(now);
		snapshot_release(before);
		random_host_release(host);
	}
	assert_true(gone_threads > HOSTS / 4);
	recording_release(&recording);
	recorder_release(recorder);
}

/* Nothing happened: there is nothing to store, and no time to divide by. */
static void test_empty_interval(void **state)
{
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct snapshot *empty = snapshot_create(), *gone;
	struct error error;
	double left_ns = 0;

	(void)state;
	snapshot_finish(empty);
	recorder_encode(recorder, empty, empty, empty, NAN, &recording);
	assert_int_equal(recording.interval.length, 0);
	assert_int_equal(recording_decode_interval(NULL, 0, "the test", &gone, &left_ns, &error), 0);
	assert_true(isnan(left_ns));
	assert_int_equal(gone->thread_count, 0);
	snapshot_release(gone);
	snapshot_release(empty);
	recording_release(&recording);
	recorder_release(recorder);
}

/* Times become multiples of the step, never later, never before the round or by a step or more. */
static void test_even_times(void **state)
{
	size_t changed = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= HOSTS; seed++) {
		struct random_host *host = random_host_create(seed);
		struct random_host *same_host = random_host_create(seed);
		struct snapshot *round = NULL, *exact = NULL;
		uint64_t begin;

		for (size_t i = 0; i < ROUNDS; i++) {
			snapshot_release(round);
			snapshot_release(exact);
			round = random_host_next(host);
			exact = random_host_next(same_host);
		}
		begin = round->provenance.boottime_ns;
		recording_even_times(round);
		for (size_t i = 0; i < SOURCE_COUNT; i++) {
			for (size_t row = 0; round->read_at[i] != NULL && row < round->thread_count; row++) {
				const uint64_t even = round->read_at[i][row], was = exact->read_at[i][row];

				assert_true(even % RECORDING_TIME_STEP_NS == 0 || even == begin);
				assert_true(even <= was && was - even < RECORDING_TIME_STEP_NS);
				assert_true(was < begin || even >= begin);
				changed += even != was;
			}
		}
		recording_even_times(round);
		for (size_t i = 0; i < round->resident_count; i++)
			assert_true(exact->resident[i].read_at - round->resident[i].read_at <
				    RECORDING_TIME_STEP_NS);
		snapshot_release(round);
		snapshot_release(exact);
		random_host_release(host);
		random_host_release(same_host);
	}
	assert_true(changed > 100);
}

/* --- what threads wait for --- */

enum {
	WAITERS = 2000,
};

/* The threads of a pool, each of which waits for a lock of its own; with the names of the round before. */
static struct snapshot *waiting_round(const struct snapshot *before, uint64_t time, bool has_classes)
{
	struct snapshot *snapshot = snapshot_create();
	uint32_t name;

	snapshot_begin_names(snapshot, before);
	snapshot->captured_at_unix_ns = snapshot->provenance.boottime_ns = time;
	name = string_pool_intern(&snapshot->strings, "pool", strlen("pool"));
	for (uint32_t i = 0; i < WAITERS; i++)
		snapshot_add_thread(snapshot, 1, 1 + i);
	for (size_t i = 0; i < WAITERS; i++)
		snapshot->triple[i] = snapshot_intern_triple(snapshot, (struct triple){name, name, name});
	if (has_classes)
		snapshot_make_wait_columns(snapshot);
	for (size_t i = 0; has_classes && i < WAITERS; i++) {
		char text[32];
		const int length = snprintf(text, sizeof(text), "0x%zx", i * 4096);

		snapshot->wait_class[i] = WAIT_CLASS_FUTEX;
		snapshot->wait_object[i] = string_pool_intern(&snapshot->strings, text, (size_t)length);
	}
	snapshot_finish(snapshot);
	return snapshot;
}

/* Returns the bytes of a round without news, encoded against the one before. */
static size_t still_bytes(bool has_classes)
{
	struct recorder *recorder = recorder_create(3);
	struct snapshot *first = waiting_round(NULL, 1000, has_classes),
			*second = waiting_round(first, 2000, has_classes);
	struct recording recording = {0};
	size_t length;

	recorder_encode(recorder, second, first, first, NAN, &recording);
	length = recording.state.length;
	recording_release(&recording);
	recorder_release(recorder);
	snapshot_release(first);
	snapshot_release(second);
	return length;
}

/* Threads that go on waiting for what they waited for take no room. */
static void test_still_waits(void **state)
{
	(void)state;
	assert_in_range(still_bytes(true), 1, still_bytes(false) + 24);
}

/* Encodes the second round against the first; the caller releases what is decoded of both. */
static void decode_two(const struct snapshot *const rounds[2], struct snapshot *ret_decoded[2])
{
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};

	recorder_encode(recorder, rounds[0], NULL, NULL, NAN, &recording);
	ret_decoded[0] = decode(&recording, NULL);
	recorder_encode(recorder, rounds[1], rounds[0], rounds[0], NAN, &recording);
	ret_decoded[1] = decode(&recording, ret_decoded[0]);
	recording_release(&recording);
	recorder_release(recorder);
}

/* A class that only a later version knows is one of no other class, and is counted from all the same. */
static void test_later_class(void **state)
{
	struct snapshot *rounds[2], *decoded[2];

	(void)state;
	rounds[0] = waiting_round(NULL, 1000, true);
	rounds[1] = waiting_round(rounds[0], 2000, true);
	rounds[0]->wait_class[3] = rounds[0]->wait_class[4] = rounds[0]->wait_class[5] = UINT8_MAX;
	rounds[1]->wait_class[3] = UINT8_MAX;
	rounds[1]->wait_class[4] = WAIT_CLASS_COUNT;
	decode_two((const struct snapshot *const *)rounds, decoded);
	for (size_t i = 0; i < WAITERS; i++) {
		assert_int_equal(decoded[0]->wait_class[i],
				 i >= 3 && i <= 5 ? WAIT_CLASS_OTHER : WAIT_CLASS_FUTEX);
		assert_int_equal(decoded[1]->wait_class[i],
				 i >= 3 && i <= 4 ? WAIT_CLASS_OTHER : WAIT_CLASS_FUTEX);
	}
	for (size_t i = 0; i < 2; i++) {
		snapshot_release(rounds[i]);
		snapshot_release(decoded[i]);
	}
}

/* Rounds have the numbers of classes: new ones come last. */
static void test_class_numbers(void **state)
{
	static const char *const names[] = {
		"",           "cpu",           "run queue", "throttled", "disk",   "kernel lock",
		"page fault", "futex",         "poll",      "socket",    "pipe",   "file",
		"file lock",  "tty",           "timer",     "child",     "signal", "events",
		"io_uring",   "message queue", "other",     "stopped",   "frozen", "kernel idle",
	};

	(void)state;
	assert_true(ARRAY_COUNT(names) <= WAIT_CLASS_COUNT);
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		assert_string_equal(wait_classes[i].name, names[i]);
}

/* An object that is no text of the round. */
static void test_wrong_object(void **state)
{
	struct snapshot *round = waiting_round(NULL, 1000, true), *decoded = NULL;
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct error error = {""};

	(void)state;
	round->wait_object[7] = (uint32_t)round->strings.count;
	recorder_encode(recorder, round, NULL, NULL, NAN, &recording);
	assert_int_equal(recording_decode(recording.state.data, recording.state.length, NULL, 0, NULL,
					  "the test", &decoded, &error),
			 -EBADMSG);
	recording_release(&recording);
	recorder_release(recorder);
	snapshot_release(round);
}

/* --- bad input --- */

static int try_decode(const char *bytes, size_t length, const struct snapshot *against, struct error *error)
{
	struct snapshot *snapshot = NULL;
	const int result = recording_decode(bytes, length, NULL, 0, against, "round 7", &snapshot, error);

	if (result == 0)
		snapshot_release(snapshot);
	return result;
}

struct damage {
	struct random_host *host;
	struct recorder *recorder;
	struct snapshot *first, *second;
	struct recording whole, changes;
};

static int make_damage(void **state)
{
	struct damage *damage = memory_allocate_zero(1, sizeof(*damage));

	damage->host = random_host_create(99);
	damage->recorder = recorder_create(3);
	for (int i = 0; i < 5; i++) {
		snapshot_release(damage->first);
		damage->first = random_host_next(damage->host);
	}
	damage->second = random_host_next(damage->host);
	recorder_encode(damage->recorder, damage->first, NULL, NULL, NAN, &damage->whole);
	recorder_encode(damage->recorder, damage->second, damage->first, damage->first, NAN,
			&damage->changes);
	*state = damage;
	return 0;
}

static int free_damage(void **state)
{
	struct damage *damage = *state;

	random_host_release(damage->host);
	recorder_release(damage->recorder);
	recording_release(&damage->whole);
	recording_release(&damage->changes);
	snapshot_release(damage->first);
	snapshot_release(damage->second);
	free(damage);
	return 0;
}

static void add_named(struct snapshot *snapshot, const char *process)
{
	const uint32_t tid = (uint32_t)snapshot->thread_count + 1;
	const size_t thread = snapshot_add_thread(snapshot, tid, tid);
	const uint32_t name = string_pool_intern(&snapshot->strings, process, strlen(process));

	snapshot->triple[thread] = snapshot_intern_triple(
		snapshot,
		(struct triple){name, name, string_pool_intern(&snapshot->strings, "/", strlen("/"))});
}

/* A round from a version that recorded the kernel's raw names and marked none. */
static struct snapshot *earlier_round(uint64_t time, const char *const names[], size_t count)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->provenance.present = true;
	snapshot->captured_at_unix_ns = snapshot->provenance.boottime_ns = time;
	for (size_t i = 0; i < count; i++)
		add_named(snapshot, names[i]);
	snapshot->ended = ended_set_create();
	ended_set_group(snapshot->ended,
			ended_set_triple(snapshot->ended, name_text_of("y\xe8"), name_text_of("(other)"),
					 name_text_of("/")),
			false)
		->threads = 1;
	snapshot_finish(snapshot);
	return snapshot;
}

/* Expects these process names, one per thread; ctop's own names have their mark. */
static void expect_names(const struct snapshot *snapshot, const struct name_text names[], size_t count)
{
	assert_int_equal(snapshot->thread_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct name_text name = snapshot_name(snapshot,
							    snapshot->triples[snapshot->triple[i]].pcomm);

		assert_int_equal(name.length, names[i].length);
		assert_memory_equal(name.text, names[i].text, name.length);
	}
}

/* In recordings of earlier versions, each name gets one text when read, and ctop's own names get marks. */
static void test_names_of_earlier_versions(void **state)
{
	static const char *const first[] = {"x\xe8\xa1", "x\xe8\xa2", "ctop (self)", "x\\xe8\\xa1", "web"};
	static const char *const second[] = {"x\\xe8\\xa1", "web", "x\xe8\xa1", "(ended)", "ctop (self)"};
	const struct name_text first_names[] = {name_text_of("x\\xe8\\xa1"), name_text_of("x\\xe8\\xa2"),
						name_self, name_text_of("x\\xe8\\xa1"), name_text_of("web")};
	const struct name_text second_names[] = {name_text_of("x\\xe8\\xa1"), name_text_of("web"),
						 name_text_of("x\\xe8\\xa1"), name_ended, name_self};
	struct snapshot *rounds[] = {earlier_round(1000, first, 5), earlier_round(2000, second, 5)};
	struct recorder *recorder = recorder_create(3);
	struct recording blobs = {0};
	struct snapshot *decoded, *next;
	const struct snapshot *names;

	(void)state;
	recorder_mark_nothing(recorder);
	recorder_encode(recorder, rounds[0], NULL, NULL, NAN, &blobs);
	decoded = decode(&blobs, NULL);
	expect_names(decoded, first_names, 5);
	names = decoded->ended->names;
	assert_string_equal(snapshot_text(names, names->triples[0].pcomm), "y\\xe8");
	assert_int_equal(snapshot_name(names, names->triples[0].comm).length, name_other.length);
	recorder_encode(recorder, rounds[1], rounds[0], rounds[0], NAN, &blobs);
	next = decode(&blobs, decoded);
	expect_names(next, second_names, 5);
	snapshot_release(next);
	snapshot_release(decoded);
	recorder_release(recorder);

	/* a recorder that marks ctop's names leaves threads of such a name alone */
	recorder = recorder_create(3);
	recorder_encode(recorder, rounds[1], NULL, NULL, NAN, &blobs);
	decoded = decode(&blobs, NULL);
	expect_names(decoded,
		     (const struct name_text[]){name_text_of("x\\xe8\\xa1"), name_text_of("web"),
						name_text_of("x\\xe8\\xa1"), name_text_of("(ended)"),
						name_text_of("ctop (self)")},
		     5);
	snapshot_release(decoded);
	recorder_release(recorder);
	recording_release(&blobs);
	snapshot_release(rounds[0]);
	snapshot_release(rounds[1]);
}

/* Names that lists always have, in a crafted round. */
static void test_nameless(void **state)
{
	const struct damage *damage = *state;
	struct recorder *recorder = recorder_create(3);
	const char **capabilities = damage->first->provenance.capabilities;
	const char *nameless[] = {NULL};
	struct recording blobs = {0};
	const size_t count = damage->first->provenance.capability_count;
	struct error error = {""};

	damage->first->provenance.capabilities = nameless;
	damage->first->provenance.capability_count = 1;
	recorder_encode(recorder, damage->first, NULL, NULL, NAN, &blobs);
	damage->first->provenance.capabilities = capabilities;
	damage->first->provenance.capability_count = count;
	assert_int_equal(try_decode(blobs.state.data, blobs.state.length, NULL, &error), -EBADMSG);
	recording_release(&blobs);
	recorder_release(recorder);
}

/* Ids of a round without names, sets and triples, in a crafted round. */
static void test_ids_of_nothing(void **state)
{
	static const enum metric metrics_of_ids[] = {METRIC_THREAD_COUNT, METRIC_POLICY, METRIC_CPU_AFFINITY};
	struct recorder *recorder = recorder_create(3);
	struct recording blobs = {0};
	struct error error = {""};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(metrics_of_ids); i++) {
		struct snapshot *round = snapshot_create();
		const size_t thread = snapshot_add_thread(round, 7, 7);

		if (metrics_of_ids[i] == METRIC_THREAD_COUNT)
			round->triple[thread] = 100000;
		else
			snapshot_column(round, metrics_of_ids[i])[thread] = 100000;
		snapshot_finish(round);
		recorder_encode(recorder, round, NULL, NULL, NAN, &blobs);
		assert_int_equal(try_decode(blobs.state.data, blobs.state.length, NULL, &error), -EBADMSG);
		snapshot_release(round);
	}
	recording_release(&blobs);
	recorder_release(recorder);
}

static void test_cut(void **state)
{
	const struct damage *damage = *state;
	const struct buffer *blob = &damage->whole.state;

	for (size_t length = 0; length < blob->length; length += 1 + length / 16) {
		char *bytes = memory_duplicate_bytes(blob->data, length);
		struct error error = {""};

		assert_int_equal(try_decode(bytes, length, NULL, &error), -EBADMSG);
		assert_non_null(strstr(error.text, "round 7"));
		free(bytes);
	}
}

static void test_flipped_bits(void **state)
{
	const struct damage *damage = *state;
	const struct buffer *blob = &damage->changes.state;
	struct snapshot *whole = NULL;
	size_t harmless = 0, tried = 0;

	assert_int_equal(
		recording_decode(blob->data, blob->length, NULL, 0, damage->first, "round 7", &whole, NULL),
		0);
	for (size_t at = 0; at < blob->length; at += 1 + at / 32, tried++) {
		char *bytes = memory_duplicate_bytes(blob->data, blob->length);
		struct snapshot *decoded = NULL;
		struct error error = {""};
		int result;

		bytes[at] = (char)(bytes[at] ^ 1 << at % 8);
		/* a bit of the frame that nothing depends on may be either */
		result = recording_decode(bytes, blob->length, NULL, 0, damage->first, "round 7", &decoded,
					  &error);
		if (result == 0) {
			assert_null(round_difference(decoded, whole));
			snapshot_release(decoded);
			harmless++;
		} else {
			assert_true(error.text[0] != '\0');
		}
		free(bytes);
	}
	assert_true(harmless < tried / 20);
	snapshot_release(whole);
}

static void test_wrong_other(void **state)
{
	const struct damage *damage = *state;
	const struct buffer *whole = &damage->whole.state, *changes = &damage->changes.state;
	struct error error;

	assert_int_equal(try_decode(changes->data, changes->length, NULL, &error), -EINVAL);
	assert_int_equal(try_decode(changes->data, changes->length, damage->second, &error), -EINVAL);
	assert_int_equal(try_decode(whole->data, whole->length, damage->first, &error), -EINVAL);
	assert_int_equal(try_decode(changes->data, changes->length, damage->first, &error), 0);
	assert_int_equal(try_decode(whole->data, whole->length, NULL, &error), 0);
}

static void test_other_version(void **state)
{
	const struct damage *damage = *state;
	const struct buffer *blob = &damage->whole.state;
	char *bytes = memory_duplicate_bytes(blob->data, blob->length);
	struct error error;

	bytes[2]++;
	assert_int_equal(try_decode(bytes, blob->length, NULL, &error), -EPROTONOSUPPORT);
	assert_non_null(strstr(error.text, "newer"));
	bytes[2] = (char)(bytes[2] - 2);
	assert_int_equal(try_decode(bytes, blob->length, NULL, &error), -EPROTONOSUPPORT);
	assert_non_null(strstr(error.text, "older"));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_two),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_names_that_go_on),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_empty_interval),
		cmocka_unit_test(test_even_times),
		cmocka_unit_test(test_still_waits),
		cmocka_unit_test(test_later_class),
		cmocka_unit_test(test_class_numbers),
		cmocka_unit_test(test_wrong_object),
		cmocka_unit_test(test_names_of_earlier_versions),
		cmocka_unit_test_setup_teardown(test_nameless, make_damage, free_damage),
		cmocka_unit_test(test_ids_of_nothing),
		cmocka_unit_test_setup_teardown(test_cut, make_damage, free_damage),
		cmocka_unit_test_setup_teardown(test_flipped_bits, make_damage, free_damage),
		cmocka_unit_test_setup_teardown(test_wrong_other, make_damage, free_damage),
		cmocka_unit_test_setup_teardown(test_other_version, make_damage, free_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
