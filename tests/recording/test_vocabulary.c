/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings of another version of ctop: what this one does not know is left out, all else is there. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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
	       (kind == VOCABULARY_SOURCE && (own == SOURCE_HIWATER || own == SOURCE_WAIT)) ||
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
	return vocabulary;
}

static bool is_known(enum vocabulary_kind kind, size_t own)
{
	return !is_lacking(kind, (uint16_t)own) &&
	       name_of(kind, (uint16_t)own) == vocabulary_own()->words[kind][own];
}

static const char *expected_reason(reason_id reason)
{
	return reason == REASON_OVER_BUDGET ? "another-reason" : reason_name(reason);
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
	assert_string_equal(expected_reason(live->metric_reason[metric]),
			    reason_name(decoded->metric_reason[metric]));
}

static void check_source(const struct snapshot *live, const struct snapshot *decoded, enum source source)
{
	if (!is_known(VOCABULARY_SOURCE, source)) {
		assert_null(decoded->source_reason[source]);
		assert_null(decoded->read_at[source]);
		assert_int_equal(decoded->default_reason[source], REASON_NOT_IN_FILE);
		return;
	}
	assert_int_equal(live->read_at[source] != NULL, decoded->read_at[source] != NULL);
	for (size_t row = 0; row < live->thread_count; row++) {
		assert_string_equal(expected_reason(snapshot_source_reason(live, row, source)),
				    reason_name(snapshot_source_reason(decoded, row, source)));
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

		check_host(recorder, host);
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

/* --- reasons of several versions in one process --- */

/* A version that records `reason` under another name. */
static struct vocabulary *version_with(enum reason reason, const char *name)
{
	const struct vocabulary *own = vocabulary_own();
	const char *words[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX];
	struct vocabulary *vocabulary;

	memcpy(words, own->words, sizeof(words));
	words[VOCABULARY_REASON][reason] = name;
	vocabulary = vocabulary_create(words, own->count);
	assert_non_null(vocabulary);
	vocabulary->own[VOCABULARY_REASON][reason] = (uint16_t)reason;
	vocabulary->reason_of[reason] = (uint8_t)reason;
	return vocabulary;
}

/* A round with one living and one ended thread whose values are missing for `reason`. */
static struct snapshot *round_without(reason_id reason, uint64_t number)
{
	struct snapshot *snapshot = snapshot_create();
	const size_t thread = snapshot_add_thread(snapshot, 7, 7);

	snapshot->provenance.present = true;
	snapshot->provenance.boottime_ns = snapshot->captured_at_unix_ns = number;
	snapshot->provenance.features[0].reason = reason;
	snapshot->provenance.tallies = arena_allocate_zero(&snapshot->arena, SOURCE_COUNT,
							   sizeof(*snapshot->provenance.tallies));
	snapshot->provenance.tallies[SOURCE_IO].missed[reason] = number;
	snapshot->triple[thread] = snapshot_intern_triple(snapshot, (struct triple){0});
	snapshot->default_reason[SOURCE_STAT] = snapshot->metric_reason[METRIC_NICE] = reason;
	snapshot_source_reasons(snapshot, SOURCE_IO)[thread] = reason;
	snapshot->resident_missing = snapshot->pressure_missing[0] = reason;
	snapshot_add_exception(snapshot, thread, METRIC_RCHAR, reason);
	snapshot_add_cgroup(snapshot, 0)->missing[0] = reason;
	snapshot->ended = ended_set_create();
	snapshot->ended->reasons[0] = reason;
	snapshot_finish(snapshot);
	return snapshot;
}

static struct snapshot *decode_well(const struct recording *recording, const struct snapshot *against)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	if (decode(recording, against, &snapshot, &error) < 0)
		fail_msg("%s", error.text);
	return snapshot;
}

static void expect_reason(const struct snapshot *snapshot, const char *name)
{
	const struct provenance *provenance = &snapshot->provenance;

	assert_string_equal(reason_name(provenance->features[0].reason), name);
	assert_string_equal(reason_name(snapshot->default_reason[SOURCE_STAT]), name);
	assert_string_equal(reason_name(snapshot->metric_reason[METRIC_NICE]), name);
	assert_string_equal(reason_name(snapshot_source_reason(snapshot, 0, SOURCE_IO)), name);
	assert_string_equal(reason_name(snapshot->resident_missing), name);
	assert_string_equal(reason_name(snapshot->pressure_missing[0]), name);
	assert_int_equal(snapshot->exception_count, 1);
	assert_string_equal(reason_name(snapshot->exceptions[0].reason), name);
	assert_string_equal(reason_name(snapshot->cgroups[0].missing[0]), name);
	assert_string_equal(reason_name(snapshot->ended->reasons[0]), name);
	assert_int_equal(provenance->tallies[SOURCE_IO].missed[snapshot->resident_missing],
			 provenance->boottime_ns);
}

/* Each version has one reason unknown to this program; the two stay different. */
static void test_two_versions(void **state)
{
	static const char *const names[] = {"first-reason", "second-reason"};
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct vocabulary *versions[2];
	struct snapshot *decoded[2], *rows, *round = round_without(REASON_OVER_BUDGET, 5);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		versions[i] = version_with(REASON_OVER_BUDGET, names[i]);
		recorder_use_words(recorder, versions[i]);
		recorder_encode(recorder, round, NULL, NULL, NAN, &recording);
		decoded[i] = decode_well(&recording, NULL);
	}
	for (size_t i = 0; i < 2; i++)
		expect_reason(decoded[i], names[i]);
	assert_int_not_equal(decoded[0]->resident_missing, decoded[1]->resident_missing);
	/* rows copied to another snapshot keep their reasons */
	rows = interval_take_rows(decoded[1], (const uint32_t[]){0}, 1);
	assert_int_equal(snapshot_source_reason(rows, 0, SOURCE_IO), decoded[1]->resident_missing);
	snapshot_release(rows);
	for (size_t i = 0; i < 2; i++) {
		snapshot_release(decoded[i]);
		vocabulary_release(versions[i]);
	}
	recording_release(&recording);
	recorder_release(recorder);
	snapshot_release(round);
}

/* This program records reasons of another version; each round carries the ones it uses. */
static void test_reasons_are_recorded(void **state)
{
	static const char *const names[] = {"over-budget", "by-comet", "by-meteor", "by-comet", "ended"};
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct snapshot *before = NULL, *decoded_before = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		struct snapshot *now = round_without(reason_intern(names[i], strlen(names[i])), i + 1);
		struct snapshot *decoded;

		recorder_encode(recorder, now, before, before, NAN, &recording);
		decoded = decode_well(&recording, decoded_before);
		expect_reason(decoded, names[i]);
		snapshot_release(before);
		snapshot_release(decoded_before);
		before = now;
		decoded_before = decoded;
	}
	snapshot_release(before);
	snapshot_release(decoded_before);
	recording_release(&recording);
	recorder_release(recorder);
}

/* Encodes a round like a recorder that has lost the meaning of these two reasons; expects its refusal. */
static void expect_refused(struct vocabulary *vocabulary, reason_id first, reason_id second)
{
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct snapshot *round = round_without(first, 5), *decoded;
	struct error error = {""};
	double left_ns;

	vocabulary->reason_of[first] = vocabulary->reason_of[second] = 0;
	snapshot_source_reasons(round, SOURCE_IO)[0] = round->ended->reasons[1] = second;
	recorder_use_words(recorder, vocabulary);
	recorder_encode(recorder, round, NULL, NULL, NAN, &recording);
	assert_int_equal(decode(&recording, NULL, &decoded, &error), -EBADMSG);
	assert_string_equal(error.text, "round 3 is damaged");
	assert_int_equal(recording_decode_interval(recording.interval.data, recording.interval.length,
						   "the interval", &decoded, &left_ns, &error),
			 -EBADMSG);
	assert_string_equal(error.text, "the interval is damaged");
	recording_release(&recording);
	recorder_release(recorder);
	snapshot_release(round);
	vocabulary_release(vocabulary);
}

/* A list of unknown reasons must not contain a known word, or an entry twice. */
static void test_damaged_lists(void **state)
{
	(void)state;
	expect_refused(version_with(REASON_BY_NAME, "by-name"), REASON_OVER_BUDGET, REASON_OVER_BUDGET);
	/* unassigned ids share one name */
	expect_refused(version_with(REASON_UNREADABLE, "illegible"), UINT8_MAX - 1, UINT8_MAX);
}

/* Uses up all ids. */
static void fill_reasons(void)
{
	char name[16];

	for (unsigned int i = 0; i <= UINT8_MAX; i++)
		reason_intern(name, (size_t)snprintf(name, sizeof(name), "odd-%u", i));
	assert_int_equal(reason_intern("one-more", 8), REASON_UNREADABLE);
}

/*
 * Runs last, since no ids are left: new reasons read as unreadable. No round is lost, no reason gets
 * another's name, and a whole round restores every known name.
 */
static void test_full(void **state)
{
	static const enum reason reasons[] = {REASON_ENDED,   REASON_BY_NAME,     REASON_READ,
					      REASON_BY_NAME, REASON_OVER_BUDGET, REASON_OVER_BUDGET};
	struct recorder *recorder = recorder_create(3);
	struct recording recording = {0};
	struct snapshot *before = NULL, *decoded_before = NULL;
	struct vocabulary *words;

	(void)state;
	fill_reasons();
	words = version_with(REASON_BY_NAME, "later-reason");
	recorder_use_words(recorder, words);
	for (size_t i = 0; i < ARRAY_COUNT(reasons); i++) {
		const bool is_whole = i == 0 || i == ARRAY_COUNT(reasons) - 1,
			   is_later = reasons[i] == REASON_BY_NAME;
		const char *name = is_later ? "unreadable" : reason_name(reasons[i]);
		struct snapshot *now = round_without((reason_id)reasons[i], i + 1), *decoded;

		recorder_encode(recorder, now, is_whole ? NULL : before, before, NAN, &recording);
		decoded = decode_well(&recording, is_whole ? NULL : decoded_before);
		assert_string_equal(reason_name(decoded->resident_missing), name);
		assert_string_equal(reason_name(decoded->exceptions[0].reason), name);
		assert_int_equal(decoded->provenance.tallies[SOURCE_IO].missed[decoded->resident_missing],
				 i + 1);
		/* a cell is coded relative to the previous one, whose reason is unknown here */
		assert_string_equal(reason_name(snapshot_source_reason(decoded, 0, SOURCE_IO)),
				    is_whole ? name : "unreadable");
		snapshot_release(before);
		snapshot_release(decoded_before);
		before = now;
		decoded_before = decoded;
	}
	snapshot_release(before);
	snapshot_release(decoded_before);
	recording_release(&recording);
	recorder_release(recorder);
	vocabulary_release(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_unknown_version),
		cmocka_unit_test(test_other_layout),
		cmocka_unit_test(test_two_versions),
		cmocka_unit_test(test_reasons_are_recorded),
		cmocka_unit_test(test_damaged_lists),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
