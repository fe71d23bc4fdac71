/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of significance against published examples. */
#include <math.h>
#include <stdlib.h>

#include "cmocka_include.h"
#include "diff/statistics.h"

static void expect_near(double number, double expected, double within)
{
	if (!(fabs(number - expected) <= within))
		fail_msg("%.10g is not %.10g", number, expected);
}

/* Hollander and Wolfe, Nonparametric Statistical Methods (1973), 69: permeability of membranes. */
static void test_permeability(void **state)
{
	static const double term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
	static const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};

	(void)state;
	expect_near(statistics_mann_whitney(term, 10, early, 5, 0), 0.2544, 0.0001);
	/* one way or the other */
	expect_near(statistics_mann_whitney(early, 5, term, 10, 0), 0.2544, 0.0001);
}

/* Ages of young men and women at a diagnosis: Gauthier, in the manual of SciPy. */
static void test_ages(void **state)
{
	static const double men[] = {19, 22, 16, 29, 24}, women[] = {20, 11, 17, 12};

	(void)state;
	expect_near(statistics_mann_whitney(men, 5, women, 4, 0), 0.1111111, 1e-6);
}

/* All of one below all of the other: one way in C(n + m, n), twice. */
static void test_apart(void **state)
{
	double low[12], high[12];

	(void)state;
	for (int i = 0; i < 12; i++) {
		low[i] = i;
		high[i] = 100 + i;
	}
	expect_near(statistics_mann_whitney(low, 12, high, 12, 0) * 2704156, 2, 1e-6);
	/* neighbours that are alike say less */
	assert_true(statistics_mann_whitney(low, 12, high, 12, 0.5) > 0.01);
	assert_true(statistics_mann_whitney(low, 12, high, 12, 0.5) < 0.05);
}

/* Where numbers are equal: the normal distribution with the correction for ties. */
static void test_ties(void **state)
{
	static const double a[] = {1, 1, 2, 2, 3, 3, 4, 4}, b[] = {3, 3, 4, 4, 5, 5, 6, 6};
	static const double same[] = {7, 7, 7, 7};

	(void)state;
	/* U is 8 of 64; the ties are four pairs and two fours */
	expect_near(statistics_mann_whitney(a, 8, b, 8, 0),
		    erfc((32 - 8 - 0.5) / sqrt(64.0 / 12 * (17 - (4 * 6 + 2 * 60) / (16.0 * 15))) / sqrt(2)),
		    1e-12);
	assert_true(statistics_mann_whitney(same, 4, same, 4, 0) == 1);
	assert_true(statistics_mann_whitney(a, 8, b, 0, 0) == 1);
}

static void test_alikeness(void **state)
{
	static const double turns[] = {1, 2, 1, 2, 1, 2}, rises[] = {1, 2, 3, 4, 5, 6}, still[] = {3, 3, 3};

	(void)state;
	assert_true(statistics_alikeness(turns, 6, turns, 6) == 0);
	expect_near(statistics_alikeness(rises, 6, rises, 6), 0.5 - 1 / sqrt(12), 1e-12);
	assert_true(statistics_alikeness(still, 3, still, 3) == 0);
}

static void test_spread(void **state)
{
	static const double numbers[] = {9, 1, 5, 3, 7};

	(void)state;
	expect_near(statistics_spread(numbers, 5), 2, 1e-12); /* 3 to 7 */
	assert_true(statistics_spread(numbers, 1) == 0);
}

/* Benjamini and Hochberg, Controlling the false discovery rate (1995), table 1: four are significant at 0.05.
 */
static void test_adjust(void **state)
{
	double chances[] = {0.0344, 0.0001, 0.0278, 0.0004, 0.0019, 0.0095, 0.0201, 0.0298,
			    1.000,  0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590};
	int significant = 0;

	(void)state;
	statistics_adjust(chances, 15);
	for (int i = 0; i < 15; i++)
		significant += chances[i] <= 0.05;
	assert_int_equal(significant, 4);
	expect_near(chances[1], 0.0015, 1e-12);
	expect_near(chances[5], 0.035625, 1e-12);
	expect_near(chances[8], 1, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permeability), cmocka_unit_test(test_ages),
		cmocka_unit_test(test_apart),        cmocka_unit_test(test_ties),
		cmocka_unit_test(test_alikeness),    cmocka_unit_test(test_spread),
		cmocka_unit_test(test_adjust),
	};

	return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
