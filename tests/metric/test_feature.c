/* SPDX-License-Identifier: GPL-2.0-only */
/* Meanings of errno values, and remedies of features that depend on others. */
#include <errno.h>

#include "metric/feature.h"
#include "cmocka_include.h"

static void test_reason_of_errno(void **state)
{
	static const struct {
		int result;
		enum reason reason;
	} cases[] = {
		{0, REASON_READ},
		{-EPERM, REASON_NOT_PERMITTED},
		{-EACCES, REASON_NOT_PERMITTED},
		{-ESRCH, REASON_ENDED},
		{-EXDEV, REASON_OTHER_NAMESPACE},
		{-EOPNOTSUPP, REASON_SWITCHED_OFF},
		/* only a complete tree shows that the kernel lacks a file */
		{-ENOENT, REASON_UNREADABLE},
		{-ENOSYS, REASON_UNREADABLE},
		{-EMFILE, REASON_UNREADABLE},
		{-ENOMEM, REASON_UNREADABLE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(reason_of_errno(cases[i].result), cases[i].reason);
}

static void expect_remedy(const struct feature_result results[], enum feature feature, const char *wanted)
{
	struct buffer text = {0};

	feature_append_remedy(results, feature, &text);
	if (wanted == NULL)
		assert_int_equal(text.length, 0);
	else
		assert_string_equal(text.data, wanted);
	buffer_release(&text);
}

/* The remedy of a feature's parent comes first. */
static void test_remedies(void **state)
{
	struct feature_result results[FEATURE_COUNT] = {0};

	(void)state;
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		results[i] = feature_on();
	expect_remedy(results, FEATURE_DELAYS, NULL);
	results[FEATURE_DELAYS] = feature_off(REASON_SWITCHED_OFF, "off", "sysctl");
	expect_remedy(results, FEATURE_DELAYS, "sysctl");
	results[FEATURE_TASKSTATS] = feature_off(REASON_NOT_PERMITTED, "no", "setcap");
	expect_remedy(results, FEATURE_DELAYS, "setcap; sysctl");
	expect_remedy(results, FEATURE_TASKSTATS, "setcap");
	/* an identical remedy appears once */
	results[FEATURE_XACCT] = feature_off(REASON_NOT_PERMITTED, "comes with it", "setcap");
	expect_remedy(results, FEATURE_XACCT, "setcap");
	/* nothing helps against a feature missing in the kernel */
	results[FEATURE_IRQ_DELAY] = feature_off(REASON_NOT_IN_KERNEL, "no", NULL);
	expect_remedy(results, FEATURE_IRQ_DELAY, NULL);
	results[FEATURE_IRQ_DELAY] = feature_off(REASON_SWITCHED_OFF, "no", "sysctl");
	expect_remedy(results, FEATURE_IRQ_DELAY, "setcap; sysctl");
	results[FEATURE_TASKSTATS] = feature_off(REASON_NOT_IN_KERNEL, "no", NULL);
	expect_remedy(results, FEATURE_IRQ_DELAY, NULL);
	/* no parent remedy for a feature that is on, or whose parent is partly on */
	results[FEATURE_PASSES] = (struct feature_result){FEATURE_STATE_PARTIAL, REASON_UNREADABLE, "some",
							  "--backend procfs"};
	expect_remedy(results, FEATURE_EXITS, NULL);
	results[FEATURE_EXITS] = feature_off(REASON_NOT_PERMITTED, "no", "root");
	expect_remedy(results, FEATURE_EXITS, "root");
	expect_remedy(results, FEATURE_PASSES, "--backend procfs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reason_of_errno),
		cmocka_unit_test(test_remedies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
