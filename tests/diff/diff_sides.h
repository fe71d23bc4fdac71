/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_DIFF_SIDES_H
#define CTOP_TESTS_DIFF_SIDES_H

#include "diff_fixture.h"

/* Two open snapshots of a test and, once it is made, their comparison. */
extern struct snapshot *before, *after;
extern struct diff *diff;

/* Set-up and teardown of a test. */
int diff_fixture_begin(void **state);
int diff_fixture_end(void **state);

#define DIFF_TEST(test) cmocka_unit_test_setup_teardown(test, diff_fixture_begin, diff_fixture_end)

/* Adds a thread to both, with a metric in each. */
void diff_fixture_add_both(const char *cgroup, const char *process, const char *thread, enum metric metric,
			   uint64_t first, uint64_t second);

/* Makes the comparison on an axis, in place of the last. */
void diff_fixture_compare(enum axis axis);

/* Takes over two snapshots in place of those, which are released with their comparison. */
void diff_fixture_replace(struct snapshot *first, struct snapshot *second);

#endif
