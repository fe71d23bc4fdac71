/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_RULE_H
#define CTOP_DIFF_RULE_H

/* Rules of a comparison: what comes of them. */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "diff.h"
#include "table/rule.h"

/* Kinds of outcomes. */
enum diff_rule_result {
	DIFF_RULE_KEPT,
	DIFF_RULE_BROKEN,   /* a group breaks it, or no group matches */
	DIFF_RULE_UNJUDGED, /* no matching group can be judged, or the group that it names cannot */
	DIFF_RULE_WARNING,  /* a group decides nothing: others are judged, or its change came in a burst */
	DIFF_RULE_RESULT_COUNT,
};

/* "kept" "broken" "not judged" "warning" */
extern const char *const diff_rule_results[DIFF_RULE_RESULT_COUNT];

/* An outcome of a rule: one for each group that breaks it, or one for all if none does. */
struct diff_rule_outcome {
	const char *rule; /* as the user wrote it */
	enum diff_rule_result result;
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
	bool broken;   /* at least one rule is */
	bool unjudged; /* at least one rule is not judged */
	/* Of sets of runs: gets a row for each rule about a change that says how many runs a side its limit
	 * needs, in the matching group whose runs differ most; the caller's, NULL for none. */
	struct comparability *notes;
	bool *broke_rule; /* by pair of the comparison, whether it has a thread of a group that broke a rule;
			   * owned, NULL before diff_rules_judge() */
};

/*
 * Judges rules and appends their outcomes. A broken rule lists the worst groups with their numbers and counts
 * the rest; a kept rule has one outcome. A rule without a matching group is broken. A lower or upper bound
 * decides if every number beyond it gives the same answer. A group on one side only changes from or to 0 in
 * columns that add up. In windows and sets, changes by chance and bursts break a rule only with `any`.
 *
 * A group whose number is unavailable, or a bound that does not decide, leaves the rule unjudged if the rule
 * names the group, or if no other matching group decides; else it is a warning. How many groups have no
 * number at all is said where the rule is kept, or where none has one.
 *
 * The groups are those of the comparison. A rule that says the kind of its groups has groups of that kind
 * over the same threads; in a comparison by AXIS_ALL any other rule has those of the first of rule_axes that
 * it matches.
 */
void diff_rules_judge(const struct rule rules[], size_t count, const struct diff *diff, bool any,
		      struct diff_rule_outcomes *outcomes);

/*
 * Refuses a rule that this comparison cannot answer. Sets of runs have no `delayed`. Single readings count
 * whole lives: they have no share of time, and no growth in percent if both come from one boot. Returns 0, or
 * -EINVAL with a sentence.
 */
int diff_rule_check(const struct rule *rule, const struct diff *diff, struct error *error);

void diff_rule_outcomes_release(struct diff_rule_outcomes *outcomes);

#endif
