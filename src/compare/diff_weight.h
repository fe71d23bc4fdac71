/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_WEIGHT_H
#define CTOP_DIFF_WEIGHT_H

#include "diff.h"

/*
 * How much a change matters beside changes of other metrics, so that seconds, bytes and counts have one
 * order. The change of a counter weighs its part of all changes of that counter, with an allowance for what a
 * quiet host does anyway: a single page fault does not come before a second of waiting. What has no total
 * (peaks, gauges, ratios) comes after the counters that moved most, and after that a word or the number of a
 * CPU that changed.
 * Reports for people and the comparison on the screen sort their rows by it. The figures are explained in
 * docs/comparison.md.
 */

/* The rule as the reader of a report or of the screen is told it, without a period. */
extern const char diff_weight_words[];

/* What of a metric decides. */
struct diff_weight_kind {
	enum ladder ladder;
	bool is_ratio;
	bool has_total;  /* changes of groups add up to something: counters, amounts of records */
	bool is_threads; /* the number of threads */
	bool is_ordinal; /* a place on a scale, as the number of a CPU: a change of it is no amount */
};

struct diff_weight_kind diff_weight_kind(enum column column);

/* How many seconds of a quiet host lie between captures that are so far apart (0: not known); at most an
 * hour, so that the allowance does not hide what changed between captures that are far apart. */
double diff_weight_seconds(uint64_t distance_ns);

/* The amount that moved: the change, or all of it where the group is on one side only. */
double diff_weight_amount(const struct diff_value *value, bool only_before, bool only_after);

/* What an amount weighs of what has a total: `total` of all amounts of its metric. */
double diff_weight_in_total(const struct diff_weight_kind *kind, double amount, double total, double seconds);

/* What a change weighs of what has none. */
double diff_weight_alone(const struct diff_weight_kind *kind, const struct diff_value *value, double amount);

/* What a quiet host does of it in so many seconds. */
double diff_weight_allowance(const struct diff_weight_kind *kind, double seconds);

#endif
