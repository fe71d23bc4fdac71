/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of significance against published examples. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmocka_include.h"
#include "compare/statistics.h"

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

/* Equal numbers: the normal distribution with the correction for ties. */
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

/* Rows of few numbers: whether one is beyond the other, and how many would tell them apart. */
static void test_few(void **state)
{
	static const double low[] = {1, 3, 2}, high[] = {5, 4}, between[] = {3, 9}, alone[] = {7};

	(void)state;
	assert_true(statistics_are_apart(low, 3, high, 2) && statistics_are_apart(high, 2, low, 3));
	/* equal ones are not beyond each other */
	assert_false(statistics_are_apart(low, 3, between, 2));
	assert_false(statistics_are_apart(low, 3, high, 0));
	/* squares 2 and 0.5, of three degrees of freedom */
	expect_near(statistics_deviation(low, 3, high, 2), sqrt(2.5 / 3), 1e-12);
	expect_near(statistics_deviation(low, 3, alone, 1), 1, 1e-12);
	assert_true(statistics_deviation(alone, 1, NULL, 0) == 0);
	/* 2 (1.96 + 0.84)^2 pi / 3 for a change of one standard deviation: 17, a quarter as many for two */
	expect_near(statistics_numbers_needed(3, 3), 17, 0);
	expect_near(statistics_numbers_needed(3, 6), 5, 0);
	expect_near(statistics_numbers_needed(0, 6), 0, 0);
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

/* Student's sleepers of 1908, as the manual of R has them for Welch's test: p = 0.07939. */
static void test_sleep(void **state)
{
	static const double first[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
			    second[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
	static const double equal[] = {1, 1, 1}, other[] = {2, 2, 2};

	(void)state;
	expect_near(statistics_welch(first, 10, second, 10, 0), 0.07939414, 1e-8);
	expect_near(statistics_welch(second, 10, first, 10, 0), 0.07939414, 1e-8);
	/* with fewer numbers of their own it says less */
	assert_true(statistics_welch(first, 10, second, 10, 0.5) > 0.2);
	expect_near(statistics_welch(first, 10, first, 10, 0), 1, 0);
	expect_near(statistics_welch(first, 1, second, 10, 0), 1, 0);
	expect_near(statistics_welch(equal, 3, equal, 3, 0), 1, 0);
	expect_near(statistics_welch(equal, 3, other, 3, 0), 0, 0);
}

/* --- a report of many rows --- */

enum {
	PARTS = 12,
	ROWS = 700,
	REPORTS = 20,
	DOUBLED = 350, /* the row that is slower in the second window */
};

/* A number of a normal distribution, by sums of numbers that are even; the same from one run to the next. */
static double random_normal(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		sum += (double)(*seed >> 11) / 9007199254740992.0;
	}
	return sum;
}

/*
 * Makes up what each row did in each second: 1 ms to 1 s on average, more for later rows, give or take about
 * a tenth. `alike` is how much of a second's noise stays in the next.
 */
static void make_rows(uint64_t *seed, double alike, double (*rows)[PARTS])
{
	for (size_t row = 0; row < ROWS; row++) {
		double noise = random_normal(seed);

		for (int k = 0; k < PARTS; k++) {
			rows[row][k] = exp(log(1e6) + (double)row / (double)ROWS * log(1000) + 0.1 * noise);
			noise = alike * noise + sqrt(1 - alike * alike) * random_normal(seed);
		}
	}
}

/* Two more conditions of diff_evidence.c: a change of a tenth, and of three times the spread. */
static bool stands_out(const double *before, const double *after)
{
	const double spread = fmax(statistics_spread(before, PARTS), statistics_spread(after, PARTS));
	double sums[2] = {0, 0};

	for (int k = 0; k < PARTS; k++) {
		sums[0] += before[k] / (double)PARTS;
		sums[1] += after[k] / (double)PARTS;
	}
	return fabs(sums[1] - sums[0]) >= fmax(3 * spread, sums[0] / 10);
}

/* Makes reports, each with one row that doubled; counts those in which it is real, and other rows that are.
 */
static void count_found(double alike, size_t *ret_found, size_t *ret_others)
{
	double(*before)[PARTS] = memory_allocate(ROWS * sizeof(*before));
	double(*after)[PARTS] = memory_allocate(ROWS * sizeof(*after));
	uint64_t seed = 1;

	*ret_found = *ret_others = 0;
	for (int report = 0; report < REPORTS; report++) {
		double chances[ROWS];

		make_rows(&seed, alike, before);
		make_rows(&seed, alike, after);
		for (size_t row = 0; row < ROWS; row++) {
			for (int k = 0; row == DOUBLED && k < PARTS; k++)
				after[row][k] *= 2;
			chances[row] = statistics_chance(before[row], PARTS, after[row], PARTS);
		}
		statistics_adjust(chances, ROWS);
		for (size_t row = 0; row < ROWS; row++) {
			if (chances[row] <= 0.05 && stands_out(before[row], after[row]))
				*(row == DOUBLED ? ret_found : ret_others) += 1;
		}
	}
	free(before);
	free(after);
}

/*
 * A wait that doubled is found among 700 rows, also where what is seen in one part is half of what is seen in
 * the next. What is taken for a change and is none are few, and more the more alike neighbours are: a dozen
 * parts do not tell how alike they are.
 */
static void test_many_rows(void **state)
{
	static const struct {
		double alike;
		size_t others; /* of 14,000 at most */
	} cases[] = {{0, 14}, {0.25, 70}, {0.5, 280}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t found, others;

		count_found(cases[i].alike, &found, &others);
		print_message("alike by %.2f: %zu of %d found, and %zu of %d others\n", cases[i].alike, found,
			      (int)REPORTS, others, (int)(REPORTS * (ROWS - 1)));
		assert_int_equal(found, REPORTS);
		assert_true(others <= cases[i].others);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permeability), cmocka_unit_test(test_ages),
		cmocka_unit_test(test_apart),        cmocka_unit_test(test_ties),
		cmocka_unit_test(test_alikeness),    cmocka_unit_test(test_spread),
		cmocka_unit_test(test_adjust),       cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_few),          cmocka_unit_test(test_many_rows),
	};

	return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
