/* SPDX-License-Identifier: GPL-2.0-only */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const double alikeness_max = 0.9;

/* A number and where it is from. */
struct placed {
	double number;
	size_t place;
};

/* Compares doubles, and structs that begin with one. */
static int compare_numbers(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double statistics_mean(const double *numbers, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += numbers[i];
	return sum / (double)count;
}

/*
 * The sum of the ranks of `a`, where equal numbers share theirs; `*ret_ties` is the sum of t^3 - t over
 * numbers that are there t times.
 */
static double rank_sum(const double *a, size_t a_count, const double *b, size_t b_count, double *ret_ties)
{
	const size_t count = a_count + b_count;
	struct placed *all = memory_allocate((count + 1) * sizeof(*all));
	double sum = 0;

	for (size_t i = 0; i < a_count; i++)
		all[i] = (struct placed){a[i], i};
	for (size_t i = 0; i < b_count; i++)
		all[a_count + i] = (struct placed){b[i], a_count + i};
	qsort(all, count, sizeof(*all), compare_numbers);
	*ret_ties = 0;
	for (size_t first = 0, end; first < count; first = end) {
		double equal, rank;

		for (end = first + 1; end < count && all[end].number == all[first].number;)
			end++;
		equal = (double)(end - first);
		rank = (double)(first + 1 + end) / 2;
		*ret_ties += equal * equal * equal - equal;
		for (size_t i = first; i < end; i++)
			sum += all[i].place < a_count ? rank : 0;
	}
	free(all);
	return sum;
}

/* The share of the ways to draw `a_count` of a_count + b_count ranks in which U is at most `u`. */
static double exact_share(size_t a_count, size_t b_count, size_t u)
{
	/* ways[i][v]: i numbers of a among those looked at, U is v */
	double *ways = memory_allocate_zero((a_count + 1) * (u + 1), sizeof(*ways));
	double all = 1, low = 0;

	/* each number of a counts the numbers of b below it, which do not fall: partitions into parts up to
	 * b_count */
	ways[0] = 1;
	for (size_t below = 0; below <= b_count; below++) {
		for (size_t i = 1; i <= a_count; i++) {
			for (size_t v = below; v <= u; v++)
				ways[i * (u + 1) + v] += ways[(i - 1) * (u + 1) + v - below];
		}
	}
	for (size_t v = 0; v <= u; v++)
		low += ways[a_count * (u + 1) + v];
	for (size_t i = 1; i <= a_count; i++)
		all = all * (double)(b_count + i) / (double)i;
	free(ways);
	return low / all;
}

double statistics_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count,
			       double alikeness)
{
	const double n = (double)a_count, m = (double)b_count, count = n + m;
	double ties, u, variance, distance;

	if (a_count == 0 || b_count == 0)
		return 1;
	u = rank_sum(a, a_count, b, b_count, &ties) - n * (n + 1) / 2;
	u = fmin(u, n * m - u);
	if (ties == 0 && alikeness <= 0 && a_count <= STATISTICS_EXACT_MAX && b_count <= STATISTICS_EXACT_MAX)
		return fmin(1, 2 * exact_share(a_count, b_count, (size_t)u));
	variance = n * m / 12 * (count + 1 - ties / (count * (count - 1)));
	if (!(variance > 0))
		return 1;
	if (alikeness > 0)
		variance *= (1 + fmin(alikeness, alikeness_max)) / (1 - fmin(alikeness, alikeness_max));
	distance = fmax(0, n * m / 2 - u - 0.5) / sqrt(variance);
	return erfc(distance / sqrt(2));
}

static void add_products(const double *numbers, size_t count, double *with_next, double *with_self)
{
	const double mean = statistics_mean(numbers, count);

	for (size_t i = 0; i < count; i++) {
		*with_self += (numbers[i] - mean) * (numbers[i] - mean);
		if (i + 1 < count)
			*with_next += (numbers[i] - mean) * (numbers[i + 1] - mean);
	}
}

double statistics_alikeness(const double *a, size_t a_count, const double *b, size_t b_count)
{
	double with_next = 0, with_self = 0;

	add_products(a, a_count, &with_next, &with_self);
	add_products(b, b_count, &with_next, &with_self);
	if (!(with_self > 0))
		return 0;
	return fmin(alikeness_max, fmax(0, with_next / with_self - 1 / sqrt((double)(a_count + b_count))));
}

/* --- Welch --- */

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), by Lentz. */
static double beta_fraction(double a, double b, double x)
{
	const double least = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), fraction;

	d = 1 / (fabs(d) < least ? least : d);
	fraction = d;
	for (int m = 1; m < 300; m++) {
		for (int odd = 0; odd < 2; odd++) {
			const double term = odd == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
						     : -(a + m) * (a + b + m) * x /
							       ((a + 2 * m) * (a + 2 * m + 1));

			d = 1 + term * d;
			d = 1 / (fabs(d) < least ? least : d);
			c = 1 + term / c;
			c = fabs(c) < least ? least : c;
			fraction *= c * d;
		}
		if (fabs(c * d - 1) < 1e-14)
			break;
	}
	return fraction;
}

/* The likelihood that Student's t is as far from 0 as this, either way (Abramowitz and Stegun, 26.7.1 and
 * 26.5.27). */
static double student_chance(double t, double freedom)
{
	const double a = freedom / 2, b = 0.5, x = freedom / (freedom + t * t);
	const double factor = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	if (t == 0)
		return 1;
	return fmin(1, x < (a + 1) / (a + b + 2) ? factor * beta_fraction(a, b, x) / a
						 : 1 - factor * beta_fraction(b, a, 1 - x) / b);
}

static double variance_of(const double *numbers, size_t count, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (numbers[i] - mean) * (numbers[i] - mean);
	return sum / (double)(count - 1);
}

double statistics_welch(const double *a, size_t a_count, const double *b, size_t b_count, double alikeness)
{
	const double r = fmin(fmax(alikeness, 0), alikeness_max), share = (1 - r) / (1 + r);
	double mean[2], of_mean[2], freedom[2], both;

	if (a_count < 2 || b_count < 2)
		return 1;
	mean[0] = statistics_mean(a, a_count);
	mean[1] = statistics_mean(b, b_count);
	of_mean[0] = variance_of(a, a_count, mean[0]) / ((double)a_count * share);
	of_mean[1] = variance_of(b, b_count, mean[1]) / ((double)b_count * share);
	freedom[0] = fmax(1, (double)a_count * share - 1);
	freedom[1] = fmax(1, (double)b_count * share - 1);
	both = of_mean[0] + of_mean[1];
	if (!(both > 0))
		return mean[0] != mean[1] ? 0 : 1;
	return student_chance(
		(mean[0] - mean[1]) / sqrt(both),
		both * both / (of_mean[0] * of_mean[0] / freedom[0] + of_mean[1] * of_mean[1] / freedom[1]));
}

double statistics_chance(const double *a, size_t a_count, const double *b, size_t b_count)
{
	const double alikeness = statistics_alikeness(a, a_count, b, b_count);
	const double by_ranks = statistics_mann_whitney(a, a_count, b, b_count, alikeness);

	return alikeness > 0 ? fmin(by_ranks, statistics_welch(a, a_count, b, b_count, alikeness)) : by_ranks;
}

/* --- how much numbers vary --- */

/* The number below which a share of the sorted ones lies. */
static double quantile(const double *sorted, size_t count, double share)
{
	const double at = share * (double)(count - 1);
	const size_t below = (size_t)at;

	return below + 1 < count ? sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below])
				 : sorted[below];
}

double statistics_spread(const double *numbers, size_t count)
{
	double *sorted, spread;

	if (count < 2)
		return 0;
	sorted = memory_allocate(count * sizeof(*sorted));
	memcpy(sorted, numbers, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_numbers);
	spread = (quantile(sorted, count, 0.75) - quantile(sorted, count, 0.25)) / 2;
	free(sorted);
	return spread;
}

/* --- rows of few numbers --- */

void statistics_range(const double *numbers, size_t count, double *ret_least, double *ret_most)
{
	*ret_least = *ret_most = numbers[0];
	for (size_t i = 1; i < count; i++) {
		*ret_least = fmin(*ret_least, numbers[i]);
		*ret_most = fmax(*ret_most, numbers[i]);
	}
}

bool statistics_are_apart(const double *a, size_t a_count, const double *b, size_t b_count)
{
	double a_least, a_most, b_least, b_most;

	if (a_count == 0 || b_count == 0)
		return false;
	statistics_range(a, a_count, &a_least, &a_most);
	statistics_range(b, b_count, &b_least, &b_most);
	return a_most < b_least || b_most < a_least;
}

double statistics_deviation(const double *a, size_t a_count, const double *b, size_t b_count)
{
	const double *const rows[] = {a, b};
	const size_t counts[] = {a_count, b_count};
	double squares = 0, freedom = 0;

	for (size_t row = 0; row < ARRAY_COUNT(rows); row++) {
		if (counts[row] < 2)
			continue;
		freedom += (double)(counts[row] - 1);
		squares += (double)(counts[row] - 1) *
			   variance_of(rows[row], counts[row], statistics_mean(rows[row], counts[row]));
	}
	return freedom > 0 ? sqrt(squares / freedom) : 0;
}

double statistics_numbers_needed(double deviation, double change)
{
	const double quantiles = 1.959964 + 0.841621;   /* of 0.975 and 0.8 */
	const double efficiency = 3 / 3.14159265358979; /* of ranks */
	const double ratio = quantiles * deviation / change;

	return ceil(2 * ratio * ratio / efficiency);
}

void statistics_adjust(double *chances, size_t count)
{
	struct placed *sorted = memory_allocate((count + 1) * sizeof(*sorted));
	double least = 1;

	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct placed){chances[i], i};
	qsort(sorted, count, sizeof(*sorted), compare_numbers);
	for (size_t i = count; i-- > 0;) {
		least = fmin(least, sorted[i].number * (double)count / (double)(i + 1));
		chances[sorted[i].place] = least;
	}
	free(sorted);
}
