/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LIMIT_H
#define CTOP_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "table.h"
#include "window/column.h"

/*
 * "> 20%", "<= 10ms", "= 4": what the number of a column is compared with, in filters and in rules.
 *
 * A bare number is one as the screen shows it, so that of a share of time it is percent; behind the name of a
 * field of files ("run_time_ns") it is in the unit of the field. A time that is compared with a share of time
 * means that time per second: 10ms is 1 %. Units are those of quantity.h that fit the column.
 */

enum comparison_kind {
	COMPARISON_AT_LEAST,
	COMPARISON_AT_MOST,
	COMPARISON_DIFFERENT,
	COMPARISON_MORE,
	COMPARISON_LESS,
	COMPARISON_EQUAL,
};

/* All of them, for what is said of a sign that is none: "> >= < <= = !=". */
extern const char comparison_list[];

/* The comparison whose sign is these bytes, all of them; false for none. */
bool comparison_find(const char *text, size_t length, enum comparison_kind *ret_comparison);

/* Its sign. */
const char *comparison_sign(enum comparison_kind comparison);

/* Whether more is what makes it true. */
static inline bool comparison_is_upwards(enum comparison_kind comparison)
{
	return comparison == COMPARISON_MORE || comparison == COMPARISON_AT_LEAST;
}

/* Compares a range, low to high; it equals each value in it. */
bool comparison_holds(enum comparison_kind comparison, double low, double high, double value);

/*
 * Compares a number of which only bounds are known, `low` to `high`, either of which may be infinite. Returns
 * whether the bounds decide; `*ret_holds` is then whether the comparison is true.
 */
bool comparison_decides(enum comparison_kind comparison, double low, double high, double value,
			bool *ret_holds);

struct limit {
	enum comparison_kind comparison;
	enum limit_kind {
		LIMIT_NUMBER, /* as the screen shows it */
		LIMIT_AMOUNT, /* of what the column counts, in the unit of its amounts */
		LIMIT_PERCENT,
	} kind;
	double number;
};

/*
 * Parses number and unit, blanks between them or not, for the column of that name; the comparison stays as it
 * is. -EINVAL with a sentence that names the units that fit; -ENOENT (nothing is said) where the text does
 * not begin with a number.
 */
int limit_parse(const char *text, size_t length, const char *name, enum column column,
		struct limit *ret_limit, struct error *error);

/* Whether the screen shows amounts of the column, which are times, as percent of the time they took. */
bool limit_is_share(enum column column);

/* The limit in the unit of a cell. */
double limit_in(const struct limit *limit, enum unit unit);

/*
 * Whether a cell of the column stands so to it; false where the cell has no number, or a lower bound that
 * does not decide it: then *ret_known is, too.
 */
bool limit_holds(const struct limit *limit, const struct cell *cell, bool *ret_known);

#endif
