/* SPDX-License-Identifier: GPL-2.0-only */
/* Ids of reasons: one per name in the whole process, and no lookups outside the table. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_include.h"
#include "metric/reason.h"

enum {
	THREADS = 4,
	SHARED_NAMES = 100,
	IDS = UINT8_MAX + 1,
};

static reason_id intern(const char *name)
{
	return reason_intern(name, strlen(name));
}

static void test_names(void **state)
{
	const reason_id moon = intern("moon-phase"), tide = intern("tide");

	(void)state;
	assert_int_equal(intern("read"), REASON_READ);
	assert_int_equal(intern("not-permitted"), REASON_NOT_PERMITTED);
	assert_string_equal(reason_name(REASON_NOT_PERMITTED), "not-permitted");
	assert_string_equal(reason_words(REASON_NOT_PERMITTED), "not permitted");
	assert_true(moon >= REASON_COUNT && tide >= REASON_COUNT && moon != tide);
	assert_int_equal(intern("moon-phase"), moon);
	assert_string_equal(reason_name(moon), "moon-phase");
	assert_string_equal(reason_words(moon), "moon-phase");
	assert_string_equal(reason_name(tide), "tide");
	/* only the first four bytes count */
	assert_int_equal(reason_intern("tidewater", 4), tide);
}

static void test_what_is_no_name(void **state)
{
	char name[REASON_NAME_MAX + 2];
	const reason_id last = intern("last");

	(void)state;
	memset(name, 'x', sizeof(name));
	assert_int_equal(intern(""), REASON_UNREADABLE);
	assert_int_equal(reason_intern("a\0b", 3), REASON_UNREADABLE);
	assert_int_equal(intern("caf\xe9"), REASON_UNREADABLE);
	assert_int_equal(reason_intern(name, REASON_NAME_MAX + 1), REASON_UNREADABLE);
	/* none of these names has got an id */
	assert_int_equal(reason_intern(name, REASON_NAME_MAX), last + 1);
}

/* Ids as in damaged data. */
static void test_ids_that_nothing_has(void **state)
{
	(void)state;
	for (size_t reason = intern("the-newest") + 1U; reason < IDS * 2; reason++) {
		assert_string_equal(reason_name(reason), "unreadable");
		assert_string_equal(reason_words(reason), reason_words(REASON_UNREADABLE));
	}
}

/* Each thread starts at a different name. */
static void *intern_shared(void *first)
{
	reason_id *ids = calloc(SHARED_NAMES, sizeof(*ids));
	char name[32];

	for (size_t i = 0; i < SHARED_NAMES; i++) {
		const size_t number = ((size_t)first + i) % SHARED_NAMES;
		const int length = snprintf(name, sizeof(name), "shared-%zu", number);

		ids[number] = reason_intern(name, (size_t)length);
		if (strcmp(reason_name(ids[number]), name) != 0)
			ids[number] = REASON_READ;
	}
	return ids;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS];
	reason_id *ids[THREADS];
	bool used[IDS] = {false};

	(void)state;
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, intern_shared,
						(void *)(i * SHARED_NAMES / THREADS)),
				 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *result;

		assert_int_equal(pthread_join(threads[i], &result), 0);
		ids[i] = result;
	}
	for (size_t i = 0; i < SHARED_NAMES; i++) {
		assert_true(ids[0][i] >= REASON_COUNT && !used[ids[0][i]]);
		used[ids[0][i]] = true;
		for (size_t thread = 1; thread < THREADS; thread++)
			assert_int_equal(ids[thread][i], ids[0][i]);
	}
	for (size_t i = 0; i < THREADS; i++)
		free(ids[i]);
}

/* Runs last: no id is left afterwards. */
static void test_full(void **state)
{
	const reason_id moon = intern("moon-phase");
	reason_id before = intern("the-newest");
	char name[32];

	(void)state;
	for (size_t i = 0; before < UINT8_MAX; i++) {
		const int length = snprintf(name, sizeof(name), "odd-%zu", i);

		assert_int_equal(reason_intern(name, (size_t)length), before + 1);
		before++;
	}
	assert_string_equal(reason_name(UINT8_MAX), name);
	assert_int_equal(intern("one-more"), REASON_UNREADABLE);
	assert_int_equal(intern("moon-phase"), moon);
	assert_int_equal(intern(name), UINT8_MAX);
	assert_int_equal(intern("ended"), REASON_ENDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),   cmocka_unit_test(test_what_is_no_name),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_ids_that_nothing_has),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
