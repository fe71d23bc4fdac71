/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that are made in a forked copy. */
#include "tests/cmocka_include.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"

#define PATIENCE_NS (50 * NS_PER_MS)

static int sleep_on(void *context, struct buffer *answer)
{
	(void)context;
	(void)answer;
	while (pause() != 0)
		;
	return 0;
}

/* Runs for several times the patience. */
static int run_on(void *context, struct buffer *answer)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + 6 * PATIENCE_NS;

	(void)context;
	(void)answer;
	while (clock_ns(CLOCK_MONOTONIC) < end)
		;
	return 7;
}

static int fall(void *context, struct buffer *answer)
{
	(void)context;
	(void)answer;
	_exit(3);
}

/* One that hangs is given up; one that only wants for a CPU is not. */
static void test_patience(void **state)
{
	struct buffer answer = {0};

	(void)state;
	assert_int_equal(child_call(sleep_on, NULL, PATIENCE_NS, &answer), -ETIMEDOUT);
	assert_int_equal(child_call(run_on, NULL, PATIENCE_NS, &answer), 7);
	assert_int_equal(child_call(fall, NULL, PATIENCE_NS, &answer), -ECHILD);
	buffer_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
