/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_rule.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/order.h"
#include "diff_blame.h"
#include "diff_evidence.h"
#include "diff_floors.h"
#include "table/column_name.h"
#include "table/screen_format.h"

enum {
	NAMED_GROUPS = 10 /* of one rule by name; the others are counted */
};

const char *const diff_rule_results[DIFF_RULE_RESULT_COUNT] = {
	[DIFF_RULE_KEPT] = "kept",
	[DIFF_RULE_BROKEN] = "broken",
	[DIFF_RULE_UNJUDGED] = "not judged",
	[DIFF_RULE_WARNING] = "warning",
};

/* The number of a group that a rule compares, or its known bounds. */
struct measure {
	bool is_known;          /* whether the number, or a bound of it, is known */
	double low, high;       /* bounds of the number, equal if it is known in full */
	double least, most;     /* bounds of the change, in the unit of the column; 0 with `after:` */
	enum value_state state; /* absent if the number does not apply, unavailable if not known in full */
	reason_id reason;       /* why the number is unavailable */
	enum diff_side side;    /* side whose value is unavailable or a bound */
};

/* A group of a rule and what came of it. */
struct finding {
	size_t pair;
	struct measure measure;
	double excess; /* by which the number passes the limit */
	bool is_burst; /* the change came in a burst */
};

struct findings {
	struct finding *items;
	size_t count, capacity;
};

/* A rule while its groups are judged. */
struct judgement {
	const struct rule *rule;
	const struct diff *diff;
	struct diff_blame *blame; /* for a rule of `delayed`; NULL where delays are not known */
	enum column column;       /* the rule's column (for a single metric, in stored units) */
	double limit;             /* in the unit of the column's values */
	bool any;
	struct diff_rule_outcomes *outcomes;
	struct buffer text;        /* scratch */
	size_t matching;           /* groups that the rule matches */
	size_t judged;             /* groups with a number that decides */
	size_t absent;             /* groups to which the number does not apply */
	struct finding nearest;    /* the judged group that is nearest to breaking the rule */
	struct findings offenders; /* groups that break the rule */
	struct finding burst;      /* the worst group that breaks it only with `any`, if it `is_burst` */
	struct findings unjudged;  /* groups whose number is unavailable, or a bound that does not decide */
};

/*
 * Whether a rule matches a pair by its key or its label. On AXIS_ALL these are the three parts as printed, or
 * for a rule with a process the parts themselves.
 */
static bool matches(const struct rule *rule, const struct diff *diff, const struct diff_pair *pair)
{
	struct buffer whole = {0};
	bool found;

	if (diff->options.grouping.axis != AXIS_ALL || rule->process != NULL)
		return rule_matches(rule, pair->key, pair->key_length, pair->label, pair->label_length);
	diff_append_key(pair, &whole);
	found = rule_matches(rule, whole.data, whole.length, whole.data, whole.length);
	buffer_release(&whole);
	return found;
}

/* The same for the culprit of a victim. */
static bool counts_culprit(const struct rule *rule, const struct diff_pair *culprit, bool is_itself)
{
	struct buffer whole = {0};
	bool counts;

	diff_append_key(culprit, &whole);
	counts = rule_counts_culprit(rule, is_itself, culprit->key, culprit->key_length, whole.data,
				     whole.length);
	buffer_release(&whole);
	return counts;
}

static size_t count_matching(const struct rule *rule, const struct diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->pair_count; i++)
		count += matches(rule, diff, &diff->pairs[i]);
	return count;
}

/* Whether the limit of a rule is a growth in percent. */
static bool is_growth(const struct rule *rule)
{
	return rule->limit.kind == LIMIT_PERCENT && !rule->of_after;
}

/* Whether the limit of a rule is a share of time, as the screen shows it. */
static bool is_share(const struct rule *rule)
{
	return limit_is_share(rule->column) && rule->limit.kind != LIMIT_AMOUNT && !is_growth(rule);
}

static double limit_of(const struct rule *rule, enum column column)
{
	const double number = rule->limit.number;

	if (is_growth(rule))
		return number;
	if (is_share(rule))
		return number * diff_percent(column);
	if (rule->limit.kind == LIMIT_AMOUNT && column_report_ladder(column) == LADDER_TICKS)
		return number / NS_PER_TICK;
	return limit_in(&rule->limit, column_entry(column)->unit);
}

/* --- numbers --- */

/*
 * The time that the culprits of a rule delayed a pair. A side without waits has none, one that was not
 * measured has the reason of the latency columns.
 */
static struct diff_value value_of_delay(const struct judgement *judgement, size_t index)
{
	const struct diff_blame *blame = judgement->blame;
	const struct diff_pair *pair = &judgement->diff->pairs[index];
	struct diff_value value = diff_column(judgement->diff, pair, judgement->column);
	size_t count = 0;
	const struct diff_blame_entry *entries = blame != NULL ? diff_blame_of(blame, (uint32_t)index, &count)
							       : NULL;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		struct diff_side_value *of = &value.side[side];

		if (blame == NULL || !blame->measured[side]) {
			of->reason = of->state == VALUE_UNAVAILABLE ? of->reason : REASON_NOT_IN_FILE;
			of->state = of->state == VALUE_ABSENT ? VALUE_ABSENT : VALUE_UNAVAILABLE;
		} else if (of->state == VALUE_UNAVAILABLE && of->reason == REASON_UNDER_OTHER) {
			of->state = VALUE_READ;
			of->partial = true;
		}
		of->has_number = of->state == VALUE_READ;
		of->number = 0;
	}
	for (size_t i = 0; i < count; i++) {
		const struct diff_blame_entry *entry = &entries[i];

		if (entry->culprit == BLAME_NOBODY
			    ? !rule_counts_cause(judgement->rule, entry->cause)
			    : !counts_culprit(judgement->rule, diff_blame_group(blame, entry->culprit),
					      entry->culprit == entry->victim))
			continue;
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
			value.side[side].number += entry->time[side];
	}
	/* its threads may all be gone by the end */
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		struct diff_side_value *of = &value.side[side];

		if (of->state != VALUE_ABSENT || of->number == 0)
			continue;
		of->state = VALUE_READ;
		of->has_number = true;
	}
	value.has_delta = value.has_fraction = false;
	diff_value_conclude(&value, false);
	return value;
}

/*
 * Completes the value of a group that is on one side only: of what adds up it has 0 on the other side. Memory
 * and threads do not grow from 0 by a percentage, or each new process would break a rule about growth. Where
 * changes are those of threads, the work of a group that went is not known.
 */
static void complete_sides(const struct judgement *judgement, const struct diff_pair *pair,
			   struct diff_value *value)
{
	const struct rule *rule = judgement->rule;
	const enum column column = judgement->column;
	const enum diff_side missing = pair->kind == DIFF_PAIR_ONLY_BEFORE ? DIFF_AFTER : DIFF_BEFORE;

	/* of threads that are gone there may still be waits */
	if (rule->of_after || diff_pair_is_joined(pair) || value->side[missing].state != VALUE_ABSENT ||
	    !column_adds_up(column) || (is_growth(rule) && !diff_has_amounts(column)) ||
	    diff_is_lost(judgement->diff, pair, column))
		return;
	value->side[missing] = (struct diff_side_value){.state = VALUE_READ, .has_number = true};
	diff_value_conclude(value, column_is_ratio(column));
}

static struct diff_value value_of(const struct judgement *judgement, size_t index)
{
	const struct diff_pair *pair = &judgement->diff->pairs[index];
	struct diff_value value = judgement->rule->is_delayed
					  ? value_of_delay(judgement, index)
					  : diff_column(judgement->diff, pair, judgement->column);

	complete_sides(judgement, pair, &value);
	return value;
}

/* Growth in percent. A percentage of 0 can hold no change but 0 itself. */
static double percentage(double before, double after)
{
	if (fabs(before) <= DBL_EPSILON)
		return after == before ? 0 : copysign(INFINITY, after - before);
	return isinf(before) ? -100 : (after - before) / before * 100;
}

/* The highest that the number of a side may be. */
static double highest(const struct diff_side_value *side)
{
	return side->partial ? INFINITY : side->number;
}

static struct measure measure_after(const struct judgement *judgement, const struct diff_value *value)
{
	const struct diff_side_value *after = &value->side[DIFF_AFTER];

	return (struct measure){
		.is_known = after->state == VALUE_READ && after->has_number &&
			    (!after->partial || column_has_lower_bounds(judgement->column)),
		.low = after->number,
		.high = highest(after),
		.state = after->partial ? VALUE_UNAVAILABLE : after->state,
		.reason = after->reason,
		.side = DIFF_AFTER,
	};
}

/* Measures a group: the number that the rule compares lies between `low` and `high`. */
static struct measure take_measure(const struct judgement *judgement, const struct diff_value *value)
{
	const struct diff_side_value *before = &value->side[DIFF_BEFORE], *after = &value->side[DIFF_AFTER];
	struct measure measure = {.state = value->state, .reason = value->reason, .side = value->reason_side};

	if (judgement->rule->of_after)
		return measure_after(judgement, value);
	if (value->has_delta) {
		measure.least = measure.most = value->delta;
	} else if (before->has_number && after->has_number && column_has_lower_bounds(judgement->column)) {
		measure.least = after->number - highest(before);
		measure.most = highest(after) - before->number;
	} else {
		return measure;
	}
	measure.is_known = true;
	measure.low = is_growth(judgement->rule) ? percentage(highest(before), after->number) : measure.least;
	measure.high = is_growth(judgement->rule) ? percentage(before->number, highest(after)) : measure.most;
	return measure;
}

/* The change that is sure, 0 where it may be none. */
static double sure_change(const struct measure *measure)
{
	return measure->least > 0 ? measure->least : measure->most < 0 ? measure->most : 0;
}

/* By how much the number passes the limit: below 0 where it does not. */
static double excess(const struct judgement *judgement, const struct measure *measure)
{
	const double number = measure->low != -INFINITY ? measure->low : measure->high;

	switch (judgement->rule->limit.comparison) {
	case COMPARISON_MORE:
	case COMPARISON_AT_LEAST:
		return number - judgement->limit;
	case COMPARISON_LESS:
	case COMPARISON_AT_MOST:
		return judgement->limit - number;
	case COMPARISON_EQUAL:
		return -fabs(number - judgement->limit);
	default:
		return fabs(number - judgement->limit);
	}
}

/* The worst first; of equal ones the first. */
static int compare_findings(const void *a, const void *b, void *context)
{
	const struct finding *left = a, *right = b;
	const int order = order_numbers(left->excess, right->excess, false);

	(void)context;
	return order != 0 ? order : order_u64(left->pair, right->pair);
}

static void add_finding(struct findings *findings, const struct finding *finding)
{
	*MEMORY_APPEND(findings->items, findings->count, findings->capacity) = *finding;
}

/* --- sentences --- */

/* Begins the sentence of an outcome. */
static void begin_text(struct judgement *judgement)
{
	buffer_clear(&judgement->text);
	buffer_append_format(&judgement->text, "%s: ", judgement->rule->text);
}

static void add_outcome(struct judgement *judgement, enum diff_rule_result result)
{
	struct diff_rule_outcomes *outcomes = judgement->outcomes;
	struct buffer *text = &judgement->text;

	*MEMORY_APPEND(outcomes->items, outcomes->count, outcomes->capacity) = (struct diff_rule_outcome){
		.rule = arena_duplicate(&outcomes->arena, judgement->rule->text,
					strlen(judgement->rule->text)),
		.result = result,
		.text = arena_duplicate(&outcomes->arena, text->data, text->length),
	};
	outcomes->broken |= result == DIFF_RULE_BROKEN;
	outcomes->unjudged |= result == DIFF_RULE_UNJUDGED;
	begin_text(judgement);
}

/* Appends a number as the screen shows it. */
static void append_number(double number, enum unit unit, enum cell_style style, struct buffer *text)
{
	const struct cell cell = cell_in_style(number, unit, style);

	screen_format_cell(text, &cell, &screen_marks_utf8);
}

/* Whether the screen shows the number as percent of a CPU, and the rule does, too. */
static bool reads_as_share(const struct judgement *judgement)
{
	return judgement->diff->options.rates && judgement->rule->column < COLUMN_COUNT &&
	       limit_is_share(judgement->rule->column) && judgement->rule->limit.kind != LIMIT_AMOUNT;
}

/* The number of a side: "182.0%", "500 ms", "at least 12.3K". */
static void append_side(struct judgement *judgement, const struct diff_side_value *side)
{
	struct buffer *text = &judgement->text;

	buffer_append_text(text, side->partial ? "at least " : "");
	if (judgement->rule->is_delayed)
		humanize_duration(text, side->number);
	else if (reads_as_share(judgement))
		humanize_percent(text, side->number / diff_percent(judgement->column));
	else
		append_number(side->number, column_report_unit(judgement->column), CELL_STYLE_VALUE, text);
}

/* The change of a number that is no share: "+12.3ms", "at least +12.3ms". */
static void append_change(struct judgement *judgement, const struct measure *measure)
{
	const bool is_lowest = measure->least != -INFINITY;

	if (measure->least != measure->most)
		buffer_append_text(&judgement->text, is_lowest ? "at least " : "at most ");
	append_number(is_lowest ? measure->least : measure->most, column_report_unit(judgement->column),
		      CELL_STYLE_CHANGE, &judgement->text);
}

static void append_fraction(const struct diff_value *value, struct buffer *text)
{
	if (!value->has_fraction)
		return;
	buffer_append_text(text, " (");
	append_number(value->fraction * 100, UNIT_PERCENT, CELL_STYLE_PERCENT_CHANGE, text);
	buffer_append_char(text, ')');
}

static void append_group(struct judgement *judgement, const struct diff_pair *pair)
{
	if (judgement->rule->process != NULL)
		rule_append_group(judgement->rule, pair->label, pair->label_length, &judgement->text);
	else
		diff_append_label(judgement->diff, pair, &judgement->text);
}

static const char *per_second(const struct judgement *judgement)
{
	return judgement->rule->is_delayed ? " per second" : "";
}

/* "GROUP changed by +12.3ms (+8.1%)", "GROUP changed from 182.0% to 242.0% (+33.0%)", "GROUP has 12.3ms",
 * "GROUP was delayed 812 ms per second". */
static void append_measurement(struct judgement *judgement, const struct finding *finding)
{
	const struct rule *rule = judgement->rule;
	const struct diff_pair *pair = &judgement->diff->pairs[finding->pair];
	const struct diff_value value = value_of(judgement, finding->pair);
	struct buffer *text = &judgement->text;

	append_group(judgement, pair);
	if (rule->of_after) {
		buffer_append_text(text, rule->is_delayed ? " was delayed " : " has ");
		append_side(judgement, &value.side[DIFF_AFTER]);
		buffer_append_text(text, per_second(judgement));
		return;
	}
	if (!diff_pair_is_joined(pair))
		buffer_append_format(
			text, ", in %s only,",
			diff_side_names[pair->kind == DIFF_PAIR_ONLY_BEFORE ? DIFF_BEFORE : DIFF_AFTER]);
	if (rule->is_delayed || reads_as_share(judgement)) {
		buffer_append_text(text, " changed from ");
		append_side(judgement, &value.side[DIFF_BEFORE]);
		buffer_append_text(text, " to ");
		append_side(judgement, &value.side[DIFF_AFTER]);
		buffer_append_text(text, per_second(judgement));
	} else {
		buffer_append_text(text, " changed by ");
		append_change(judgement, &finding->measure);
	}
	append_fraction(&value, text);
}

/* --- the groups --- */

/* The verdict on a tested change; every matching group has a test, so that chance counts for each of them. */
static enum cell_verdict verdict_of(const struct judgement *judgement,
				    const struct diff_evidence_cell *evidence)
{
	if (evidence->stands_out &&
	    evidence->chance * (double)judgement->matching <= DIFF_EVIDENCE_CHANCE_MAX)
		return CELL_VERDICT_REAL;
	return evidence->is_burst ? CELL_VERDICT_BURST : CELL_VERDICT_NO;
}

/* The verdict on a column that is more than a sum, which changes with its counters: the best of theirs. */
static enum cell_verdict verdict_of_inputs(const struct judgement *judgement, const struct diff_pair *pair)
{
	const struct column_entry *entry = column_entry(judgement->column);
	const size_t count = column_is_metric(judgement->column) ? 0 : diff_metric_inputs(judgement->column);
	enum cell_verdict best = CELL_VERDICT_NONE;

	for (size_t i = 0; i < count; i++) {
		const enum column input = column_of_stored((enum metric)entry->inputs[i]);
		const struct diff_value value = diff_column(judgement->diff, pair, input);
		const struct diff_evidence_cell evidence = diff_evidence_of(judgement->diff, pair, input,
									    &value);
		const enum cell_verdict verdict = evidence.is_tested ? verdict_of(judgement, &evidence)
								     : CELL_VERDICT_NONE;

		best = verdict > best ? verdict : best;
	}
	return best != CELL_VERDICT_NONE ? best : CELL_VERDICT_NOT_TESTED;
}

/* The smallest change by which a rule may break: percentages and amounts per second need a floor; a limit on
 * a size or a duration is one itself. */
static double smallest_change(const struct rule *rule, const struct diff *diff, const struct diff_pair *pair,
			      enum column column)
{
	return diff_has_amounts(column) || rule->limit.kind == LIMIT_PERCENT
		       ? diff_floors_of(diff, pair, column)
		       : 0;
}

/* The verdict on a change that passes the limit, which stands for its size. */
static enum cell_verdict verdict_of_change(const struct judgement *judgement, const struct diff_pair *pair,
					   const struct diff_value *value, const struct measure *measure)
{
	const enum column column = judgement->column;
	const double size = fabs(sure_change(measure));
	struct diff_evidence_cell evidence;

	if (judgement->diff->evidence == NULL)
		return CELL_VERDICT_NOT_TESTED;
	if (judgement->rule->is_delayed)
		return size >= DIFF_BLAME_FLOOR ? CELL_VERDICT_NOT_TESTED : CELL_VERDICT_NO;
	if (size < smallest_change(judgement->rule, judgement->diff, pair, column))
		return CELL_VERDICT_NO;
	/* a side without the group, or with a bound, has no parts to test; in each run it has a number */
	if (!diff_has_sets(judgement->diff) && (!diff_pair_is_joined(pair) || !value->has_delta))
		return CELL_VERDICT_NOT_TESTED;
	evidence = diff_evidence_of(judgement->diff, pair, column, value);
	if (evidence.is_tested)
		return verdict_of(judgement, &evidence);
	return diff_evidence_is_unexplained(judgement->diff, pair, column, value)
		       ? CELL_VERDICT_NOT_TESTED
		       : verdict_of_inputs(judgement, pair);
}

/* Notes a group with a number that passes the limit. */
static void add_passing(struct judgement *judgement, const struct diff_value *value, struct finding *finding)
{
	const struct diff_pair *pair = &judgement->diff->pairs[finding->pair];
	/* a change need not be real if a change of 0 breaks the rule, too */
	const bool needs_verdict = !judgement->rule->of_after &&
				   !comparison_holds(judgement->rule->limit.comparison, 0, 0,
						     judgement->limit);
	const enum cell_verdict verdict = needs_verdict ? verdict_of_change(judgement, pair, value,
									    &finding->measure)
							: CELL_VERDICT_NONE;

	finding->is_burst = verdict == CELL_VERDICT_BURST;
	if (judgement->any || (verdict != CELL_VERDICT_NO && !finding->is_burst))
		add_finding(&judgement->offenders, finding);
	else if (finding->is_burst &&
		 (!judgement->burst.is_burst || finding->excess > judgement->burst.excess))
		judgement->burst = *finding;
}

static void judge_pair(struct judgement *judgement, size_t pair)
{
	const struct diff_value value = value_of(judgement, pair);
	struct finding finding = {.pair = pair, .measure = take_measure(judgement, &value)};
	const struct measure *measure = &finding.measure;
	bool holds = false;

	if (!measure->is_known && measure->state != VALUE_UNAVAILABLE) {
		judgement->absent++;
		return;
	}
	if (!measure->is_known || !comparison_decides(judgement->rule->limit.comparison, measure->low,
						      measure->high, judgement->limit, &holds)) {
		add_finding(&judgement->unjudged, &finding);
		return;
	}
	finding.excess = excess(judgement, measure);
	if (judgement->judged++ == 0 || finding.excess > judgement->nearest.excess)
		judgement->nearest = finding;
	if (holds)
		add_passing(judgement, &value, &finding);
}

/* --- outcomes --- */

/* Counts the groups that are not named. */
static void add_others(struct judgement *judgement, const struct findings *findings, const char *of_one,
		       const char *of_several, enum diff_rule_result result)
{
	const size_t others = findings->count > NAMED_GROUPS ? findings->count - NAMED_GROUPS : 0;

	if (others == 0)
		return;
	buffer_append_format(&judgement->text, "%zu more group%s", others, others == 1 ? of_one : of_several);
	add_outcome(judgement, result);
}

static void tell_offenders(struct judgement *judgement)
{
	struct findings *offenders = &judgement->offenders;

	order_first(offenders->items, offenders->count, sizeof(*offenders->items), NAMED_GROUPS,
		    compare_findings, NULL);
	for (size_t i = 0; i < offenders->count && i < NAMED_GROUPS; i++) {
		append_measurement(judgement, &offenders->items[i]);
		buffer_append_text(&judgement->text, offenders->items[i].is_burst ? ", in a burst" : "");
		add_outcome(judgement, DIFF_RULE_BROKEN);
	}
	add_others(judgement, offenders, " breaks it", "s break it", DIFF_RULE_BROKEN);
}

static void append_burst(struct judgement *judgement)
{
	append_measurement(judgement, &judgement->burst);
	buffer_append_text(&judgement->text, ", in a burst, which breaks rules with --any only");
}

/* Warns of a burst that breaks nothing, where the rule is not kept. */
static void tell_burst(struct judgement *judgement)
{
	if (!judgement->burst.is_burst)
		return;
	append_burst(judgement);
	add_outcome(judgement, DIFF_RULE_WARNING);
}

/* "GROUP cannot be judged: at least 8.0ms in after (REASON)", "GROUP cannot be judged: unavailable in …" */
static void append_unjudged(struct judgement *judgement, const struct finding *finding)
{
	const struct diff_value value = value_of(judgement, finding->pair);
	const struct measure *measure = &finding->measure;

	append_group(judgement, &judgement->diff->pairs[finding->pair]);
	buffer_append_text(&judgement->text, " cannot be judged: ");
	if (measure->is_known) {
		append_side(judgement, &value.side[measure->side]);
		buffer_append_text(&judgement->text, per_second(judgement));
	} else {
		buffer_append_text(&judgement->text, "unavailable");
	}
	buffer_append_format(&judgement->text, " in %s (%s)", diff_side_names[measure->side],
			     reason_words(measure->reason));
}

/* A group that a rule names has to be judged; of those that a glob finds, some have to be. */
static void tell_unjudged(struct judgement *judgement)
{
	const struct findings *unjudged = &judgement->unjudged;
	const enum diff_rule_result result = judgement->judged == 0 || rule_names_one(judgement->rule)
						     ? DIFF_RULE_UNJUDGED
						     : DIFF_RULE_WARNING;

	for (size_t i = 0; i < unjudged->count && i < NAMED_GROUPS; i++) {
		append_unjudged(judgement, &unjudged->items[i]);
		add_outcome(judgement, result);
	}
	add_others(judgement, unjudged, " cannot be judged", "s cannot be judged", result);
}

/* Says why no group has a number. */
static void tell_nothing(struct judgement *judgement)
{
	const bool matches = judgement->matching != 0;

	buffer_append_text(&judgement->text, !matches ? "no group matches"
					     : judgement->rule->of_after
						     ? "no matching group has a value in after"
						     : "no matching group has a value on both sides");
	add_outcome(judgement, matches ? DIFF_RULE_UNJUDGED : DIFF_RULE_BROKEN);
}

static void tell_kept(struct judgement *judgement)
{
	if (judgement->burst.is_burst) {
		append_burst(judgement);
	} else {
		append_measurement(judgement, &judgement->nearest);
		/* it passes the limit */
		if (comparison_holds(judgement->rule->limit.comparison, judgement->nearest.measure.low,
				     judgement->nearest.measure.low, judgement->limit))
			buffer_append_text(&judgement->text, ", which is not real");
		if (judgement->judged > 1)
			buffer_append_format(&judgement->text, ", the nearest of %zu groups",
					     judgement->judged);
	}
	if (judgement->absent != 0)
		buffer_append_format(&judgement->text, "; %zu more match without a number",
				     judgement->absent);
	add_outcome(judgement, DIFF_RULE_KEPT);
}

static void judge_pairs(struct judgement *judgement)
{
	const struct diff *diff = judgement->diff;
	const struct rule *rule = judgement->rule;
	bool is_kept;

	for (size_t i = 0; i < diff->pair_count; i++) {
		if (matches(rule, diff, &diff->pairs[i]))
			judge_pair(judgement, i);
	}
	is_kept = judgement->judged != 0 && judgement->offenders.count == 0 &&
		  (judgement->unjudged.count == 0 || !rule_names_one(rule));
	tell_offenders(judgement);
	if (is_kept)
		tell_kept(judgement);
	else
		tell_burst(judgement);
	tell_unjudged(judgement);
	if (judgement->judged == 0 && judgement->unjudged.count == 0)
		tell_nothing(judgement);
}

/* Whether some culprit of a rule is there, delaying or not. */
static bool has_culprit(const struct judgement *judgement)
{
	const struct rule *rule = judgement->rule;
	const struct diff_blame *blame = judgement->blame;
	bool has = rule_has_any_culprit(rule);

	for (size_t i = 0; !has && i < judgement->diff->pair_count; i++)
		has = counts_culprit(rule, &judgement->diff->pairs[i], false);
	for (size_t i = 0; !has && blame != NULL && i < blame->count; i++) {
		const uint32_t culprit = blame->entries[i].culprit;

		has = culprit != BLAME_NOBODY &&
		      counts_culprit(rule, diff_blame_group(blame, culprit), false);
	}
	return has;
}

/* Marks the pair `row` of the report if one of its members is in a pair that broke a rule. */
static void mark_member(const bool broke[], size_t pair, size_t row, bool marked[])
{
	if (pair != SIZE_MAX && row != SIZE_MAX && broke[pair])
		marked[row] = true;
}

/* Marks the pairs of the report that have members of pairs that broke a rule. */
static void mark_members(const struct diff *groups, const struct findings *offenders,
			 const struct diff *report, bool marked[])
{
	bool *broke = memory_allocate_zero(groups->pair_count + 1, sizeof(*broke));

	for (size_t i = 0; i < offenders->count; i++)
		broke[offenders->items[i].pair] = true;
	/* a pair may have members in an earlier run of a set only */
	for (size_t i = 0; groups == report && i < report->pair_count; i++)
		marked[i] |= broke[i];
	for (enum diff_side side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct ended *ended = diff_ended(groups, side);

		for (size_t i = 0; i < groups->snapshots[side]->thread_count; i++)
			mark_member(broke, diff_pair_of_thread(groups, side, i),
				    diff_pair_of_thread(report, side, i), marked);
		for (uint32_t i = 0; ended != NULL && i < ended->count; i++)
			mark_member(broke, diff_pair_of_ended(groups, side, i),
				    diff_pair_of_ended(report, side, i), marked);
	}
	free(broke);
}

/* --- how many runs a rule needs --- */

/* The change at which a rule breaks for a pair, in the unit of the column; 0 where that is not known. */
static double change_at_limit(const struct rule *rule, const struct diff *diff, const struct diff_pair *pair,
			      enum column column)
{
	const struct diff_value value = diff_column(diff, pair, column);
	const double limit = fabs(limit_of(rule, column));

	if (!value.has_delta)
		return 0;
	return fmax(is_growth(rule) ? value.side[DIFF_BEFORE].number * limit / 100 : limit,
		    smallest_change(rule, diff, pair, column));
}

/* Notes how many runs the matching group needs whose runs differ most. */
static void tell_needed(const struct judgement *judgement)
{
	const struct rule *rule = judgement->rule;
	const struct diff *diff = judgement->diff;
	const size_t *count = diff->run_count;
	const struct diff_pair *worst = NULL;
	struct buffer text = {0};
	size_t most = 0;

	/* a value is judged without a test */
	if (!diff_has_sets(diff) || judgement->outcomes->notes == NULL || rule->of_after)
		return;
	for (size_t i = 0; i < diff->pair_count; i++) {
		const struct diff_pair *pair = &diff->pairs[i];
		const double change = matches(rule, diff, pair)
					      ? change_at_limit(rule, diff, pair, judgement->column)
					      : 0;
		const size_t needed = change > 0 ? diff_evidence_runs_needed(diff, pair, judgement->column,
									     change)
						 : 0;

		if (needed <= most)
			continue;
		most = needed;
		worst = pair;
	}
	if (worst == NULL)
		return;
	buffer_append_format(&text, "%s, of ", rule->text);
	diff_append_label(diff, worst, &text);
	if (most <= count[DIFF_BEFORE] && most <= count[DIFF_AFTER])
		buffer_append_text(&text, ": these runs are enough to find it four times in five");
	else
		buffer_append_format(
			&text,
			": %zu runs a side are needed to find it four times in five, and there are "
			"%zu and %zu",
			most, count[DIFF_BEFORE], count[DIFF_AFTER]);
	comparability_add(judgement->outcomes->notes, COMPARABILITY_NOTE, "runs-needed", text.data);
	buffer_release(&text);
}

/* --- rules --- */

/* Warns that the floors given, which are of the groups of the report, are not those of a rule's. */
static void tell_other_floors(struct judgement *judgement, const struct diff *report)
{
	const struct rule *rule = judgement->rule;
	const enum axis axis = judgement->diff->options.grouping.axis;

	if (report->options.floors == NULL || report->options.grouping.axis == axis || rule->of_after ||
	    rule->is_delayed)
		return;
	buffer_append_format(&judgement->text, "its groups are by %s, and the floors by %s do not count",
			     axes[axis].word, axes[report->options.grouping.axis].word);
	add_outcome(judgement, DIFF_RULE_WARNING);
}

/* Judges a rule by the pairs of `groups`, and marks the pairs of the report that break it. */
static void judge(const struct rule *rule, const struct diff *groups, const struct diff *report, bool any,
		  struct diff_rule_outcomes *outcomes)
{
	const enum column column = column_stored_form(rule->column);
	struct judgement judgement = {
		.rule = rule,
		.diff = groups,
		.column = column,
		.limit = limit_of(rule, column),
		.any = any,
		.outcomes = outcomes,
		.matching = count_matching(rule, groups),
	};

	begin_text(&judgement);
	if (rule->is_delayed)
		judgement.blame = diff_blame_create(groups);
	if (rule->is_delayed && judgement.matching != 0 && !has_culprit(&judgement)) {
		buffer_append_text(&judgement.text, "no group matches the name after 'by'");
		add_outcome(&judgement, DIFF_RULE_BROKEN);
	} else {
		judge_pairs(&judgement);
	}
	tell_other_floors(&judgement, report);
	tell_needed(&judgement);
	mark_members(groups, &judgement.offenders, report, outcomes->broke_rule);
	diff_blame_release(judgement.blame);
	buffer_release(&judgement.text);
	free(judgement.offenders.items);
	free(judgement.unjudged.items);
}

/* The same comparison of other groups, made once. */
static const struct diff *regroup(const struct diff *diff, enum axis axis, struct diff *made[AXIS_COUNT])
{
	struct diff_options options = diff->options;

	if (diff->options.grouping.axis == axis)
		return diff;
	options.grouping.axis = axis;
	if (made[axis] == NULL)
		made[axis] = diff_create(diff->snapshots[DIFF_BEFORE], diff->snapshots[DIFF_AFTER], &options);
	return made[axis];
}

/* The comparison whose groups a rule is about. */
static const struct diff *find_groups(const struct rule *rule, const struct diff *diff,
				      struct diff *made[AXIS_COUNT])
{
	const enum axis axis = diff->options.grouping.axis;
	/* who delays whom is known by names */
	const bool looks_further = axis == AXIS_ALL || (rule->is_delayed && axis_is_by_thread(axis));

	if (rule->axis != AXIS_COUNT)
		return regroup(diff, rule->axis, made);
	for (size_t i = 0; looks_further && i < RULE_AXES; i++) {
		const struct diff *groups = regroup(diff, rule_axes[i], made);

		if (count_matching(rule, groups) != 0)
			return groups;
	}
	return diff;
}

void diff_rules_judge(const struct rule rules[], size_t count, const struct diff *diff, bool any,
		      struct diff_rule_outcomes *outcomes)
{
	struct diff *made[AXIS_COUNT] = {NULL};

	if (outcomes->broke_rule == NULL)
		outcomes->broke_rule = memory_allocate_zero(diff->pair_count + 1,
							    sizeof(*outcomes->broke_rule));
	for (size_t i = 0; i < count; i++)
		judge(&rules[i], find_groups(&rules[i], diff, made), diff, any, outcomes);
	for (size_t i = 0; i < AXIS_COUNT; i++)
		diff_release(made[i]);
}

int diff_rule_check(const struct rule *rule, const struct diff *diff, struct error *error)
{
	const struct diff_options *options = &diff->options;
	/* the cells of ktstr are of lives even then */
	const bool of_one_boot = options->match != NULL && !options->dialect->is_flagged;

	if (diff_has_sets(diff) && rule->is_delayed)
		return error_set(error, -EINVAL,
				 "rule '%s': who delays whom is compared between two files, not between sets "
				 "of runs",
				 rule->text);
	if (!options->rates && is_share(rule))
		return error_set(error, -EINVAL,
				 "rule '%s': %s is a share of time, and these are single readings: capture "
				 "both with `ctop capture --for 10`, or give a time, 10ms",
				 rule->text, column_word(rule->column));
	if (!options->rates && of_one_boot && is_growth(rule) &&
	    column_is_counter(column_stored_form(rule->column)))
		return error_set(error, -EINVAL,
				 "rule '%s': a percentage is one of a rate, and these are single readings: "
				 "capture both with `ctop capture --for 10`, or give the limit as an amount",
				 rule->text);
	return 0;
}

void diff_rule_outcomes_release(struct diff_rule_outcomes *outcomes)
{
	free(outcomes->items);
	free(outcomes->broke_rule);
	arena_release(&outcomes->arena);
	*outcomes = (struct diff_rule_outcomes){0};
}
