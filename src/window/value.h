/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_VALUE_H
#define CTOP_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/reason.h"
#include "metric/wait_class.h"

/* The value of a column in a row of a window. Texts and units are the table's business (value_cell.h). */

/* Whether a value is there, does not apply, or is unavailable and why. */
enum value_state {
	VALUE_READ,
	VALUE_ABSENT,
	VALUE_UNAVAILABLE, /* `reason` says why */
};

enum value_form {
	VALUE_FORM_WHOLE,  /* `whole` */
	VALUE_FORM_REAL,   /* `real` */
	VALUE_FORM_RANGE,  /* `range` */
	VALUE_FORM_WORD,   /* `word`: a category, or a value of a scheduler's field that is one */
	VALUE_FORM_CPUS,   /* `cpus` */
	VALUE_FORM_SHARES, /* `shares` */
	VALUE_FORM_NAME,   /* `name` */
	VALUE_FORM_PART,   /* `part` */
	VALUE_FORM_WAIT,   /* `wait` */
};

struct value {
	enum value_state state;
	reason_id reason; /* why it is unavailable or partial */
	bool partial;     /* members that should be in it are not: a lower bound */
	bool differs;     /* of a word, wait or CPUs: not all members have it */
	bool rose;        /* a peak that is higher than when the window began */
	bool sampled;     /* divided by what was seen at some moments: near the true number */
	enum value_form form;
	union {
		uint64_t whole;
		double real;
		struct {
			int64_t low, high;
		} range;
		struct {
			uint64_t value;   /* as its column of the snapshot, or the field, holds it */
			uint32_t threads; /* that have it */
			uint32_t of;      /* of so many with a value */
		} word;
		struct {
			uint32_t fewest, most;
			uint32_t set; /* id of the set that all have, unless it `differs` */
		} cpus;
		float shares[TIME_PART_COUNT];
		struct {
			const char *text; /* NULL: a number without a name */
			size_t length;
			uint32_t number;   /* the process or user */
			uint32_t distinct; /* how many there are; `text` is of the only one */
		} name;
		struct {
			const char *text; /* of what has the largest part of the whole */
			size_t length;
			double share; /* of the whole, 0 to 1 */
		} part;
		struct {
			const char
				*object; /* that more than half of the threads of the class share, or NULL */
			size_t length;
			enum wait_class class;
			uint32_t threads; /* in the class */
			uint32_t sharing; /* those of `threads` that wait for `object`; 0 without one */
			uint32_t of;      /* threads whose class is known */
		} wait;
	};
	double sort; /* the number to sort by; NAN for none */
};

/* A part of a whole in percent, as it is shown without decimals: what is not all is no more than 99. */
static inline double value_part_percent(double share)
{
	return share < 1 && share > 0.99 ? 99 : share * 100;
}

/*
 * The number that changes are counted in: a sum, a maximum, the middle of a range, of the CPU counts. False
 * for words and where there is no value.
 */
static inline bool value_number(const struct value *value, double *ret_number)
{
	if (value->state != VALUE_READ)
		return false;
	switch (value->form) {
	case VALUE_FORM_WHOLE:
		*ret_number = (double)value->whole;
		return true;
	case VALUE_FORM_REAL:
		*ret_number = value->real;
		return true;
	case VALUE_FORM_RANGE:
		*ret_number = ((double)value->range.low + (double)value->range.high) / 2.0;
		return true;
	case VALUE_FORM_CPUS:
		*ret_number = ((double)value->cpus.fewest + (double)value->cpus.most) / 2.0;
		return true;
	default:
		return false;
	}
}

#endif
