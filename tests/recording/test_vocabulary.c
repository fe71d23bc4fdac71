/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings of another version of ctop: what this one does not know is left out, all else is there. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "random_round.h"
#include "snapshot/ended_set.h"
#include "store/recording.h"
#include "store/round.h"

enum {
	HOSTS = 20,
	ROUNDS = 5,
};

/* What the other version calls by another name, and so this one does not know. */
static const struct renamed {
	enum vocabulary_kind kind;
	uint16_t own;
	const char *name;
} renamed[] = {
	{VOCABULARY_METRIC, METRIC_EXEC_MAX, "another_metric"},
	{VOCABULARY_METRIC, METRIC_POLICY, "another_word"},
	{VOCABULARY_SOURCE, SOURCE_JEMALLOC, "another_source"},
	{VOCABULARY_REASON, REASON_OVER_BUDGET, "another-reason"},
	{VOCABULARY_FEATURE, FEATURE_EXITS, "another_feature"},
	{VOCABULARY_ENDED, 3, "another_amount"},
};

static const char *name_of(enum vocabulary_kind kind, uint16_t own)
{
	for (size_t i = 0; i < ARRAY_COUNT(renamed); i++) {
		if (renamed[i].kind == kind && renamed[i].own == own)
			return renamed[i].name;
	}
	return vocabulary_own()->words[kind][own];
}

/* What the other version has not got at all. */
static bool is_lacking(enum vocabulary_kind kind, uint16_t own)
{
	return (kind == VOCABULARY_METRIC && (own == METRIC_NICE || own == METRIC_BLOCK_MAX)) ||
	       (kind == VOCABULARY_SOURCE && own == SOURCE_HIWATER) ||
	       (kind == VOCABULARY_FEATURE && own == 2) || (kind == VOCABULARY_ENDED && own == 9);
}

/* Sources, features and amounts are in another order; `more` is one more word, which makes it another one. */
static struct vocabulary *other_version(const char *more)
{
	const struct vocabulary *own = vocabulary_own();
	const char *words[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX] = {{NULL}};
	uint16_t counts[VOCABULARY_KINDS] = {0};
	struct vocabulary *vocabulary;

	for (size_t kind = 0; kind < VOCABULARY_KINDS; kind++) {
		const bool turned = kind == VOCABULARY_SOURCE || kind == VOCABULARY_FEATURE ||
				    kind == VOCABULARY_ENDED;

		for (uint16_t i = 0; i < own->count[kind]; i++) {
			const uint16_t word = turned ? (uint16_t)(own->count[kind] - 1 - i) : i;

			if (!is_lacking((enum vocabulary_kind)kind, word))
				words[kind][counts[kind]++] = name_of((enum vocabulary_kind)kind, word);
		}
	}
	words[VOCABULARY_FEATURE][counts[VOCABULARY_FEATURE]++] = more;
	vocabulary = vocabulary_create(words, counts);
	assert_non_null(vocabulary);
	return vocabulary;
}

/* The same for who records: it knows its own words. */
static struct vocabulary *other_recorder(const char *more)
{
	struct vocabulary *vocabulary = other_version(more);

	for (size_t i = 0; i < ARRAY_COUNT(renamed); i++) {
		const struct renamed *word = &renamed[i];
		uint16_t number = 0;

		while (strcmp(vocabulary->words[word->kind][number], word->name) != 0)
			number++;
		vocabulary->own[word->kind][number] = word->own;
		if (word->kind == VOCABULARY_REASON)
			vocabulary->reason_of[word->own] = (uint8_t)number;
	}
	vocabulary->unknown_reason_count = 0;
	return vocabulary;
}

static bool is_known(enum vocabulary_kind kind, size_t own)
{
	return !is_lacking(kind, (uint16_t)own) &&
	       name_of(kind, (uint16_t)own) == vocabulary_own()->words[kind][own];
}

static const char *expected_reason(const struct snapshot *snapshot, reason_id reason)
{
	return reason == REASON_OVER_BUDGET ? "another-reason" : snapshot_reason_name(snapshot, reason);
}

static void check_column(const struct snapshot *live, const struct snapshot *decoded, enum metric metric)
{
	const enum metric_encoding encoding = metric_type(metric)->encoding;

	if (!is_known(VOCABULARY_METRIC, metric)) {
		assert_null(decoded->values[metric]);
		return;
	}
	assert_int_equal(live->values[metric] != NULL, decoded->values[metric] != NULL);
	for (size_t row = 0; row < live->thread_count; row++) {
		const uint64_t left = snapshot_value(live, row, metric);
		const uint64_t right = snapshot_value(decoded, row, metric);

		if (encoding == METRIC_ENCODING_STRING)
			assert_string_equal(snapshot_text(live, (uint32_t)left),
					    snapshot_text(decoded, (uint32_t)right));
		else
			assert_true(left == right);
	}
	assert_string_equal(expected_reason(live, live->metric_reason[metric]),
			    snapshot_reason_name(decoded, decoded->metric_reason[metric]));
}

static void check_source(const struct snapshot *live, const struct snapshot *decoded, enum source source)
{
	if (!is_known(VOCABULARY_SOURCE, source)) {
		assert_null(decoded->source_reason[source]);
		assert_null(decoded->read_at[source]);
		return;
	}
	assert_int_equal(live->read_at[source] != NULL, decoded->read_at[source] != NULL);
	for (size_t row = 0; row < live->thread_count; row++) {
		assert_string_equal(
			expected_reason(live, snapshot_source_reason(live, row, source)),
			snapshot_reason_name(decoded, snapshot_source_reason(decoded, row, source)));
		if (live->read_at[source] != NULL)
			assert_true(live->read_at[source][row] == decoded->read_at[source][row]);
	}
	if (live->provenance.tallies != NULL)
		assert_true(live->provenance.tallies[source].read ==
			    decoded->provenance.tallies[source].read);
}

static void check(const struct snapshot *live, const struct snapshot *decoded)
{
	assert_int_equal(live->thread_count, decoded->thread_count);
	assert_int_equal(live->cgroup_count, decoded->cgroup_count);
	assert_int_equal(live->task_fields.context_count, decoded->task_fields.context_count);
	for (size_t i = 1; i < METRIC_COUNT; i++)
		check_column(live, decoded, (enum metric)i);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		check_source(live, decoded, (enum source)i);
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		assert_int_equal(decoded->provenance.features[i].state,
				 is_known(VOCABULARY_FEATURE, i) ? live->provenance.features[i].state
								 : FEATURE_STATE_UNKNOWN);
	assert_int_equal(live->ended != NULL, decoded->ended != NULL);
	for (size_t i = 0; live->ended != NULL && i < live->ended->group_count; i++) {
		for (size_t k = 0; k < ENDED_METRICS; k++)
			assert_true(
				decoded->ended->groups[i].amounts.of[k] ==
				(is_known(VOCABULARY_ENDED, k) ? live->ended->groups[i].amounts.of[k] : 0));
	}
}

static int decode(const struct recording *recording, const struct snapshot *against,
		  struct snapshot **ret_snapshot, struct error *error)
{
	return recording_decode(recording->state.data, recording->state.length, recording->interval.data,
				recording->interval.length, against, "round 3", ret_snapshot, error);
}

static void check_host(struct recorder *recorder, struct random_host *host)
{
	struct snapshot *before = NULL, *decoded_before = NULL;
	struct recording recording = {0};
	struct error error = {""};

	for (size_t i = 0; i < ROUNDS; i++) {
		struct snapshot *now = random_host_next(host), *decoded;

		recorder_encode(recorder, now, before, before, NAN, &recording);
		if (decode(&recording, decoded_before, &decoded, &error) < 0)
			fail_msg("%s", error.text);
		check(now, decoded);
		snapshot_release(before);
		snapshot_release(decoded_before);
		before = now;
		decoded_before = decoded;
	}
	snapshot_release(before);
	snapshot_release(decoded_before);
	recording_release(&recording);
}

static void test_other_version(void **state)
{
	struct vocabulary *words = other_recorder("first");
	struct recorder *recorder = recorder_create(3);

	(void)state;
	recorder_use_words(recorder, words);
	for (uint64_t seed = 1; seed <= HOSTS; seed++) {
		struct random_host *host = random_host_create(seed);
		struct snapshot *first = random_host_next(host);

		/* a live host has no unknown reasons */
		if (first->unknown_reason_count == 0)
			check_host(recorder, host);
		snapshot_release(first);
		random_host_release(host);
	}
	recorder_release(recorder);
	vocabulary_release(words);
}

/* Without the names, which come with a whole round, nothing is guessed. */
static void test_unknown_version(void **state)
{
	struct vocabulary *words = other_recorder("second");
	struct random_host *host = random_host_create(3);
	struct snapshot *first = random_host_next(host), *second = random_host_next(host), *decoded;
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct error error = {""};

	(void)state;
	recorder_use_words(recorder, words);
	recorder_encode(recorder, second, first, NULL, NAN, &recording);
	recording.interval.length = 0;
	assert_int_equal(decode(&recording, first, &decoded, &error), -EPROTONOSUPPORT);
	assert_non_null(strstr(error.text, "another version"));
	recording_release(&recording);
	recorder_release(recorder);
	snapshot_release(first);
	snapshot_release(second);
	random_host_release(host);
	vocabulary_release(words);
}

/* Lists of which no part can be left out. */
static void test_other_layout(void **state)
{
	const struct vocabulary *own = vocabulary_own();
	const char *words[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX];
	struct vocabulary *vocabulary;
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct snapshot *empty = snapshot_create(), *decoded;
	struct error error = {""};

	(void)state;
	memcpy(words, own->words, sizeof(words));
	words[VOCABULARY_LAYOUT][0] = "a cgroup has one more number";
	vocabulary = vocabulary_create(words, own->count);
	snapshot_finish(empty);
	recorder_use_words(recorder, vocabulary);
	recorder_encode(recorder, empty, NULL, NULL, NAN, &recording);
	assert_int_equal(decode(&recording, NULL, &decoded, &error), -EPROTONOSUPPORT);
	recording_release(&recording);
	recorder_release(recorder);
	snapshot_release(empty);
	vocabulary_release(vocabulary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_unknown_version),
		cmocka_unit_test(test_other_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
