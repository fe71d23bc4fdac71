/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIALECT_H
#define CTOP_DIALECT_H

#include <stdbool.h>

#include "metric/metric.h"
#include "window/name_rules.h"

/* What differs between ctop's own reports and those that match ktstr's ctprof, cell for cell. */
struct dialect {
	const struct name_rules *names; /* rules of its groups; NULL: grouping_create() chooses them */
	bool is_flagged;                /* its windows are WINDOW_FLAGGED, and it compares no rates */
	enum section section_end;       /* the first section that it does not have */
	bool has_minus_zero;            /* "-0.0%" is the change of a negative number that did not change */
	bool orders_by_fraction;        /* rows are sorted by |change / before|, and cgroups by their parents;
					 * otherwise by harm, see diff_harm() */
	bool lists_one_sided;           /* groups of one side are lists of names instead of rows of tables */
	bool has_own_words;             /* columns and sections have ctop's words, see dialect_word.def */
};

extern const struct dialect dialect_ctop, dialect_ktstr;

/* Returns what a report prints, for people or for programs, where a table has this word of ktstr. */
const char *dialect_word(const struct dialect *dialect, const char *word, bool to_people);

#endif
