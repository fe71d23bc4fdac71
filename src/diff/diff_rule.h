/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_RULE_H
#define CTOP_DIFF_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "diff.h"
#include "group/glob.h"

/*
 * Conditions under which a comparison has failed (`--fail-if`):
 *
 *	[after:]METRIC(GROUP-GLOB) OP LIMIT
 *
 * A rule is broken by a group whose change (after - before) is OP the LIMIT; with `after:` it is the value of
 * the second file that counts, with a LIMIT in percent the change relative to before (any growth from 0 is
 * above every limit). METRIC is one of them, an amount that the screen has by its title or name (CPU%), a
 *derived one, a number of how long waits took (diff_latency.h), or a field that a sched_ext scheduler keeps
 *(scx.NAME). GROUP-GLOB (see glob.h) matches the whole name of a group, on AXIS_ALL also any one of its three
 *parts (see diff_append_key()). OP is `>`,
 *`>=`, `<` or `<=`. LIMIT is an amount as in quantity.h, in the metric's own unit unless it has one.
 */

enum diff_rule_comparison {
	DIFF_RULE_ABOVE,
	DIFF_RULE_AT_LEAST,
	DIFF_RULE_BELOW,
	DIFF_RULE_AT_MOST,
};

/*
 * The comparison that a text begins with (`>`, `>=`, `<` or `<=`); returns how long it is, 0 where there is
 * none.
 */
size_t diff_rule_comparison_parse(const char *text, size_t length, enum diff_rule_comparison *ret_comparison);

/* Whether more is what breaks a rule. */
bool diff_rule_is_upwards(enum diff_rule_comparison comparison);

/* Whether a number stands so to a limit, in the same unit. */
bool diff_rule_holds(enum diff_rule_comparison comparison, double number, double limit);

struct diff_rule {
	char *text;       /* as the user wrote it, owned */
	bool with_titles; /* metrics may be named as columns of the screen are */
	bool of_after;
	struct diff_measure measure;
	struct glob *glob; /* owned */
	enum diff_rule_comparison comparison;
	bool any;     /* of two windows, a change that is not real breaks it as well */
	bool percent; /* `limit` is of the change as a part of before, in percent */
	double limit; /* in the metric's base unit */
};

/*
 * Parses a rule, `with_titles` one that may name amounts as the screen does; the caller releases it with
 * diff_rule_release(). Returns 0, or -EINVAL (nothing to release) with a sentence that quotes the rule and
 * says what is valid.
 */
int diff_rule_parse(const char *text, bool with_titles, struct diff_rule *ret_rule, struct error *error);
void diff_rule_release(struct diff_rule *rule);

/* The outcome of a rule: one for each group that breaks it, or one for all if none does. */
struct diff_rule_outcome {
	const char *rule; /* as the user wrote it */
	bool broken;
	/*
	 * A sentence that begins with the rule and gives the group and the number measured, without a period;
	 * names in it are as read, not sanitised.
	 */
	const char *text;
};

/* Outcomes of rules; a zeroed struct is empty. */
struct diff_rule_outcomes {
	struct arena arena; /* owns the texts */
	struct diff_rule_outcome *items;
	size_t count;
	size_t capacity;
	bool broken; /* at least one is */
};

/*
 * Judges a rule and appends its outcomes: the worst groups that break it, each with its number, and how many
 * more do; else one outcome that the rule is kept. It is also broken where a matching group's number is
 * unavailable, where none of the matching groups has one, and where no group matches. Groups without a number
 * are mentioned and break nothing as long as another group has one.
 */
void diff_rule_judge(const struct diff_rule *rule, const struct diff *diff,
		     struct diff_rule_outcomes *outcomes);

void diff_rule_outcomes_release(struct diff_rule_outcomes *outcomes);

#endif
