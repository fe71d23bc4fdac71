/* SPDX-License-Identifier: GPL-2.0-only */
/* Cgroups come and go for ever, and each has its path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/memory.h"
#include "capture/ended_cgroups.h"

/* Ids that are divisible by this are gone. */
enum {
	GONE = 7
};

static char *find(const void *context, uint64_t id)
{
	size_t *calls = *(size_t *const *)context;
	char path[32];

	++*calls;
	snprintf(path, sizeof(path), "/job-%ju", (uintmax_t)id);
	return id % GONE == 0 ? NULL : memory_duplicate(path);
}

static void assert_path(struct ended_cgroups *cgroups, uint64_t id, size_t *calls)
{
	const char *path = ended_cgroups_path(cgroups, id, find, &calls);
	char expected[32];

	snprintf(expected, sizeof(expected), "/job-%ju", (uintmax_t)id);
	if (id % GONE == 0)
		assert_null(path);
	else
		assert_string_equal(path, expected);
}

/* Each is looked up once. */
static void test_kept(void **state)
{
	struct ended_cgroups cgroups = {0};
	size_t calls = 0;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (uint64_t id = 1; id < GONE; id++)
			assert_path(&cgroups, id, &calls);
		assert_int_equal(calls, GONE - 1);
	}
	ended_cgroups_release(&cgroups);
}

/* Beyond the bound new ones have their paths still, and memory does not grow. */
static void test_bounded(void **state)
{
	struct ended_cgroups cgroups = {0};
	size_t calls = 0;

	(void)state;
	for (uint64_t id = 1; id < 3 * ENDED_CGROUPS_MAX; id++) {
		assert_path(&cgroups, id, &calls);
		assert_true(cgroups.count <= ENDED_CGROUPS_MAX);
	}
	/* one that was forgotten is found again */
	assert_path(&cgroups, 1, &calls);
	ended_cgroups_release(&cgroups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
