/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_STATISTICS_H
#define CTOP_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether two rows of numbers differ by more than chance. */

/* The mean of at least one number, and the least and the largest of them. */
double statistics_mean(const double *numbers, size_t count);
void statistics_range(const double *numbers, size_t count, double *ret_least, double *ret_most);

enum {
	STATISTICS_EXACT_MAX = 20 /* up to so many numbers a side are counted out where no two are equal */
};

/*
 * The Mann-Whitney test: the likelihood, 0 to 1, that two rows of numbers of one kind differ at least as
 * much as these by chance (both ways). Exact for rows of at most STATISTICS_EXACT_MAX numbers that are all
 * different, else by the normal distribution, with the correction for equal ones and for continuity (Mann and
 * Whitney 1947; Lehmann, Nonparametrics, 1975). 1 where a row is empty.
 * `alikeness` is how alike neighbours of a row are, 0 to below 1 (statistics_alikeness()): then the rows
 * say less than so many independent numbers, and the variance is wider by (1 + r) / (1 - r).
 */
double statistics_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count,
			       double alikeness);

/*
 * The likeness of neighbours in rows that follow each other in time: by how much the autocorrelation at lag 1
 * of both rows, each from its own mean, is above what that of so many numbers of their own often is (its
 * standard error, 1 / sqrt(n); Bartlett 1946); 0 where it is not, at most 0.9.
 */
double statistics_alikeness(const double *a, size_t a_count, const double *b, size_t b_count);

/*
 * Welch's test of means (1947): the same for rows of at least two numbers of normal distributions, whose
 * variances may differ. With `alikeness` each row counts for as many fewer numbers. 1 where a row is shorter,
 * and where nothing varies and the means are equal.
 */
double statistics_welch(const double *a, size_t a_count, const double *b, size_t b_count, double alikeness);

/*
 * The likelihood that two rows that follow each other in time differ so much by chance. That of Mann and
 * Whitney; where neighbours are alike, which ranks of a dozen numbers can hardly make up for, that of Welch
 * if it is less.
 */
double statistics_chance(const double *a, size_t a_count, const double *b, size_t b_count);

/* Whether all numbers of one row are above all of the other; false where a row is empty. */
bool statistics_are_apart(const double *a, size_t a_count, const double *b, size_t b_count);

/* The standard deviation of one number of two rows, each from its own mean; 0 where neither has two. */
double statistics_deviation(const double *a, size_t a_count, const double *b, size_t b_count);

/*
 * The numbers that each of two rows needs for the test of Mann and Whitney to find a difference of `change`,
 * above 0, at a likelihood of 0.05 four times in five, where one number has this standard deviation. By the
 * normal distribution, for which the test needs pi / 3 times as many as that of Student (Lehmann 1975, 2.4).
 */
double statistics_numbers_needed(double deviation, double change);

/* Half the range that holds the middle half of the numbers; 0 for less than two. */
double statistics_spread(const double *numbers, size_t count);

/*
 * Adjusts the chances of many tests for their number, in place: of those that are then at most x, a part of
 * x at most is there by chance (Benjamini and Hochberg 1995).
 */
void statistics_adjust(double *chances, size_t count);

#endif
