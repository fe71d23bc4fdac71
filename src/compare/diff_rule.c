/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/order.h"
#include "diff_blame.h"
#include "diff_evidence.h"
#include "runs_needed.h"
#include "table/column_name.h"
#include "table/screen_format.h"

enum {
	NAMED_GROUPS = 10 /* of one rule by name; the others are counted */
};

/* A rule while its groups are judged. */
struct judgement {
	const struct rule *rule;
	const struct diff *diff;
	struct diff_blame *blame; /* of a rule of `delayed`; NULL where it is not known */
	enum column column;       /* of the rule; where it is one metric, that as stored */
	double limit;             /* in the unit of the column's values */
	bool any;
	struct diff_rule_outcomes *outcomes;
	struct buffer text; /* scratch */
	size_t matching;    /* groups */
	size_t judged;      /* of them those with a number */
	size_t absent;      /* to which it does not apply */
	size_t unavailable; /* whose number is unavailable */
	size_t nearest;     /* pair that comes nearest to breaking it, of those judged */
	double nearest_number;
	struct offender {
		size_t pair;
		double excess; /* by which the number passes the limit */
	} * offenders;
	size_t offender_count, offender_capacity;
};

/*
 * The key, or what is shown of it (a pattern, or the one name that it stands for); on AXIS_ALL its three
 * parts as they are printed.
 */
static bool matches(const struct rule *rule, const struct diff *diff, const struct diff_pair *pair)
{
	struct buffer whole = {0};
	bool found;

	if (diff->options.grouping.axis != AXIS_ALL)
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

static struct diff_value value_of(const struct judgement *judgement, size_t index)
{
	return judgement->rule->is_delayed
		       ? value_of_delay(judgement, index)
		       : diff_column(judgement->diff, &judgement->diff->pairs[index], judgement->column);
}

/* Whether a limit in percent is one of how much a value grew. */
static bool is_growth(const struct rule *rule)
{
	return rule->limit.kind == LIMIT_PERCENT && !rule->of_after;
}

/* Whether it is about a share of time, as the screen shows it. */
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

/* A percentage of 0 can hold no change but 0 itself. */
static double percentage(const struct diff_value *value)
{
	if (value->has_fraction)
		return value->fraction * 100;
	return value->delta == 0 ? 0 : copysign(INFINITY, value->delta);
}

/* The number that the rule is about; false without one, then the state and its reason. */
static bool take_number(const struct rule *rule, const struct diff_value *value, double *ret_number,
			enum value_state *ret_state, reason_id *ret_reason, enum diff_side *ret_side)
{
	const struct diff_side_value *after = &value->side[DIFF_AFTER];

	*ret_side = DIFF_AFTER;
	if (rule->of_after) {
		*ret_number = after->number;
		*ret_state = after->partial ? VALUE_UNAVAILABLE : after->state;
		*ret_reason = after->reason;
		return after->state == VALUE_READ && !after->partial && after->has_number;
	}
	*ret_number = is_growth(rule) ? percentage(value) : value->delta;
	*ret_state = value->state;
	*ret_reason = value->reason;
	*ret_side = value->reason_side;
	return value->has_delta;
}

/* By how much the number passes the limit: below 0 where it does not. */
static double excess(const struct judgement *judgement, double number)
{
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
static int compare_offenders(const void *a, const void *b, void *context)
{
	const struct offender *left = a, *right = b;
	const int order = order_numbers(left->excess, right->excess, false);

	(void)context;
	return order != 0 ? order : order_u64(left->pair, right->pair);
}

/* Begins the sentence of an outcome. */
static void begin_text(struct judgement *judgement)
{
	buffer_clear(&judgement->text);
	buffer_append_format(&judgement->text, "%s: ", judgement->rule->text);
}

static void add_outcome(struct judgement *judgement, bool broken)
{
	struct diff_rule_outcomes *outcomes = judgement->outcomes;
	struct buffer *text = &judgement->text;

	*MEMORY_APPEND(outcomes->items, outcomes->count, outcomes->capacity) = (struct diff_rule_outcome){
		.rule = arena_duplicate(&outcomes->arena, judgement->rule->text,
					strlen(judgement->rule->text)),
		.broken = broken,
		.text = arena_duplicate(&outcomes->arena, text->data, text->length),
	};
	outcomes->broken |= broken;
	begin_text(judgement);
}

/* Appends a number as the screen shows it. */
static void append_number(double number, enum unit unit, enum cell_style style, struct buffer *text)
{
	const struct cell cell = cell_in_style(number, unit, style);

	screen_format_cell(text, &cell, &screen_marks_utf8);
}

static void append_fraction(const struct diff_value *value, struct buffer *text)
{
	if (!value->has_fraction)
		return;
	buffer_append_text(text, " (");
	append_number(value->fraction * 100, UNIT_PERCENT, CELL_STYLE_PERCENT_CHANGE, text);
	buffer_append_char(text, ')');
}

/* "GROUP changed from 182.0% to 242.0% (+33.0%)", "GROUP was delayed 812 ms per second" */
static void append_time(const struct rule *rule, enum column column, const struct diff_value *value,
			struct buffer *text)
{
	void (*const append)(struct buffer *, double) = rule->is_delayed ? humanize_duration
									 : humanize_percent;
	const double unit = rule->is_delayed ? 1 : diff_percent(column);

	if (rule->of_after) {
		buffer_append_text(text, rule->is_delayed ? " was delayed " : " has ");
	} else {
		buffer_append_text(text, " changed from ");
		append(text, value->side[DIFF_BEFORE].number / unit);
		buffer_append_text(text, " to ");
	}
	append(text, value->side[DIFF_AFTER].number / unit);
	if (rule->is_delayed)
		buffer_append_text(text, " per second");
	if (!rule->of_after)
		append_fraction(value, text);
}

/* "GROUP changed by +12.3ms (+8.1%)", "GROUP has 12.3ms". */
static void append_measurement(struct judgement *judgement, size_t index)
{
	const struct rule *rule = judgement->rule;
	const enum column column = judgement->column;
	const struct diff_pair *pair = &judgement->diff->pairs[index];
	const struct diff_value value = value_of(judgement, index);
	const enum unit unit = column_report_unit(column);
	struct buffer *text = &judgement->text;

	diff_append_label(judgement->diff, pair, text);
	if (rule->is_delayed || (judgement->diff->options.rates && rule->column < COLUMN_COUNT &&
				 limit_is_share(rule->column) && rule->limit.kind != LIMIT_AMOUNT)) {
		append_time(rule, column, &value, text);
		return;
	}
	buffer_append_text(text, rule->of_after ? " has " : " changed by ");
	if (rule->of_after) {
		append_number(value.side[DIFF_AFTER].number, unit, CELL_STYLE_VALUE, text);
		return;
	}
	append_number(value.delta, unit, CELL_STYLE_CHANGE, text);
	append_fraction(&value, text);
}

static void tell_unavailable(struct judgement *judgement, size_t pair, reason_id reason, enum diff_side side)
{
	if (judgement->unavailable++ >= NAMED_GROUPS)
		return;
	buffer_append_text(&judgement->text, "cannot be judged, ");
	diff_append_label(judgement->diff, &judgement->diff->pairs[pair], &judgement->text);
	buffer_append_format(&judgement->text, " is unavailable in %s (%s)", diff_side_names[side],
			     reason_words(reason));
	add_outcome(judgement, true);
}

/* Whether a change is more than chance, where that is tested; one of a group of those that match. */
static bool is_beyond_chance(const struct judgement *judgement, const struct diff_evidence_cell *evidence)
{
	return evidence->stands_out &&
	       evidence->chance * (double)judgement->matching <= DIFF_EVIDENCE_CHANCE_MAX;
}

/* The same of a column that is more than a sum: it changes with its counters. */
static bool has_input_beyond_chance(const struct judgement *judgement, const struct diff_pair *pair)
{
	const struct column_entry *entry = column_entry(judgement->column);
	const size_t count = column_is_metric(judgement->column) ? 0 : diff_metric_inputs(judgement->column);
	bool is_tested = false;

	for (size_t i = 0; i < count; i++) {
		const enum column input = column_of_stored((enum metric)entry->inputs[i]);
		const struct diff_value value = diff_column(judgement->diff, pair, input);
		const struct diff_evidence_cell evidence = diff_evidence_of(judgement->diff, pair, input,
									    &value);

		if (evidence.is_tested && is_beyond_chance(judgement, &evidence))
			return true;
		is_tested |= evidence.is_tested;
	}
	return !is_tested;
}

/* The limit stands for the size of a change, and the test is one of the groups that match. */
static bool is_real(const struct judgement *judgement, size_t pair, const struct diff_value *value)
{
	const struct diff_pair *of = &judgement->diff->pairs[pair];
	const enum column column = judgement->column;
	/* percentages and amounts per second need a floor; a limit on a size or a duration is one itself */
	const bool has_floor = diff_evidence_counts(column) || judgement->rule->limit.kind == LIMIT_PERCENT;
	struct diff_evidence_cell evidence;

	if (judgement->diff->evidence == NULL)
		return true;
	if (judgement->rule->is_delayed)
		return fabs(value->delta) >= DIFF_BLAME_FLOOR;
	evidence = diff_evidence_of(judgement->diff, of, column, value);
	return fabs(value->delta) >= (has_floor ? diff_evidence_floor_of(judgement->diff, of, column) : 0) &&
	       (evidence.is_tested
			? is_beyond_chance(judgement, &evidence)
			: has_input_beyond_chance(judgement, of) ||
				  diff_evidence_is_unexplained(judgement->diff, of, column, value));
}

static void judge_pair(struct judgement *judgement, size_t pair)
{
	const struct rule *rule = judgement->rule;
	const struct diff_value value = value_of(judgement, pair);
	enum value_state state;
	enum diff_side side;
	reason_id reason;
	double number;

	if (!take_number(rule, &value, &number, &state, &reason, &side)) {
		if (state == VALUE_UNAVAILABLE)
			tell_unavailable(judgement, pair, reason, side);
		else
			judgement->absent++;
		return;
	}
	if (judgement->judged++ == 0 ||
	    excess(judgement, number) > excess(judgement, judgement->nearest_number)) {
		judgement->nearest = pair;
		judgement->nearest_number = number;
	}
	if (!comparison_holds(rule->limit.comparison, number, number, judgement->limit))
		return;
	/* where a change of 0 breaks the rule too, the change need not be real */
	if (judgement->any || rule->of_after ||
	    comparison_holds(rule->limit.comparison, 0, 0, judgement->limit) ||
	    is_real(judgement, pair, &value))
		*MEMORY_APPEND(judgement->offenders, judgement->offender_count,
			       judgement->offender_capacity) = (struct offender){pair,
										 excess(judgement, number)};
}

static void tell_offenders(struct judgement *judgement)
{
	order_first(judgement->offenders, judgement->offender_count, sizeof(*judgement->offenders),
		    NAMED_GROUPS, compare_offenders, NULL);
	for (size_t i = 0; i < judgement->offender_count && i < NAMED_GROUPS; i++) {
		append_measurement(judgement, judgement->offenders[i].pair);
		add_outcome(judgement, true);
	}
	if (judgement->offender_count <= NAMED_GROUPS)
		return;
	buffer_append_format(&judgement->text, "%zu more group%s it",
			     judgement->offender_count - NAMED_GROUPS,
			     judgement->offender_count - NAMED_GROUPS == 1 ? " breaks" : "s break");
	add_outcome(judgement, true);
}

/* Why no group could be judged. */
static void tell_nothing(struct judgement *judgement)
{
	if (judgement->absent == 0)
		buffer_append_text(&judgement->text, "no group matches");
	else
		buffer_append_format(&judgement->text, "%zu group%s match%s and %s no %s", judgement->absent,
				     judgement->absent == 1 ? "" : "s", judgement->absent == 1 ? "es" : "",
				     judgement->absent == 1 ? "has" : "have",
				     judgement->rule->of_after ? "value in after"
							       : "change: the value is absent on a side");
	add_outcome(judgement, true);
}

static void tell_kept(struct judgement *judgement)
{
	append_measurement(judgement, judgement->nearest);
	if (comparison_holds(judgement->rule->limit.comparison, judgement->nearest_number,
			     judgement->nearest_number, judgement->limit))
		buffer_append_text(&judgement->text, ", which is not real");
	if (judgement->judged > 1)
		buffer_append_format(&judgement->text, ", the nearest of %zu groups", judgement->judged);
	if (judgement->absent != 0)
		buffer_append_format(&judgement->text, "; %zu more match without a number",
				     judgement->absent);
	add_outcome(judgement, false);
}

static void judge_pairs(struct judgement *judgement)
{
	const struct diff *diff = judgement->diff;

	for (size_t i = 0; i < diff->pair_count; i++) {
		if (matches(judgement->rule, diff, &diff->pairs[i]))
			judge_pair(judgement, i);
	}
	if (judgement->unavailable > NAMED_GROUPS) {
		buffer_append_format(&judgement->text, "cannot be judged for %zu more group%s",
				     judgement->unavailable - NAMED_GROUPS,
				     judgement->unavailable - NAMED_GROUPS == 1 ? "" : "s");
		add_outcome(judgement, true);
	}
	tell_offenders(judgement);
	if (judgement->judged == 0 && judgement->unavailable == 0)
		tell_nothing(judgement);
	else if (judgement->offender_count == 0 && judgement->unavailable == 0)
		tell_kept(judgement);
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

static void judge(const struct rule *rule, const struct diff *diff, bool any,
		  struct diff_rule_outcomes *outcomes)
{
	const enum column column = column_stored_form(rule->column);
	struct judgement judgement = {
		.rule = rule,
		.diff = diff,
		.column = column,
		.limit = limit_of(rule, column),
		.any = any,
		.outcomes = outcomes,
		.matching = count_matching(rule, diff),
	};

	begin_text(&judgement);
	if (rule->is_delayed)
		judgement.blame = diff_blame_create(diff);
	if (rule->is_delayed && judgement.matching != 0 && !has_culprit(&judgement)) {
		buffer_append_text(&judgement.text, "no group matches the name after 'by'");
		add_outcome(&judgement, true);
	} else {
		judge_pairs(&judgement);
	}
	diff_blame_release(judgement.blame);
	buffer_release(&judgement.text);
	free(judgement.offenders);
}

/* The same comparison of other groups, made once. */
static const struct diff *regroup(const struct diff *diff, size_t axis, struct diff *made[RULE_AXES])
{
	struct diff_options options = diff->options;

	if (diff->options.grouping.axis == rule_axes[axis])
		return diff;
	options.grouping.axis = rule_axes[axis];
	if (made[axis] == NULL)
		made[axis] = diff_create(diff->snapshots[DIFF_BEFORE], diff->snapshots[DIFF_AFTER], &options);
	return made[axis];
}

/* The comparison whose groups a rule is about. */
static const struct diff *find_groups(const struct rule *rule, const struct diff *diff,
				      struct diff *made[RULE_AXES])
{
	const enum axis axis = diff->options.grouping.axis;
	/* who delays whom is known by names */
	const bool looks_further = axis == AXIS_ALL || (rule->is_delayed && axis_is_by_thread(axis));

	for (size_t i = 0; i < RULE_AXES; i++) {
		if (rule->axis == rule_axes[i])
			return regroup(diff, i, made);
	}
	for (size_t i = 0; looks_further && i < RULE_AXES; i++) {
		const struct diff *groups = regroup(diff, i, made);

		if (count_matching(rule, groups) != 0)
			return groups;
	}
	return diff;
}

void diff_rules_judge(const struct rule rules[], size_t count, const struct diff *diff, bool any,
		      struct diff_rule_outcomes *outcomes)
{
	struct diff *made[RULE_AXES] = {NULL};

	for (size_t i = 0; i < count; i++)
		judge(&rules[i], find_groups(&rules[i], diff, made), any, outcomes);
	for (size_t i = 0; i < RULE_AXES; i++)
		diff_release(made[i]);
}

/* --- how many runs a rule needs --- */

/* The change at which a rule breaks for a pair, in the unit of the column; 0 where that is not known. */
static double change_at_limit(const struct rule *rule, const struct diff *diff, const struct diff_pair *pair,
			      enum column column)
{
	const struct diff_value value = diff_column(diff, pair, column);

	if (!value.has_delta)
		return 0;
	return fabs(is_growth(rule) ? value.side[DIFF_BEFORE].number * limit_of(rule, column) / 100
				    : limit_of(rule, column));
}

/* Adds a row about the matching group that needs most runs. */
static void tell_needed(const struct rule *rule, const struct diff *diff, struct comparability *comparability)
{
	const enum column column = column_stored_form(rule->column);
	const struct diff_pair *worst = NULL;
	struct buffer text = {0};
	size_t most = 0;

	for (size_t i = 0; i < diff->pair_count; i++) {
		const struct diff_pair *pair = &diff->pairs[i];
		const double change = matches(rule, diff, pair) ? change_at_limit(rule, diff, pair, column)
								: 0;
		const size_t needed = change > 0 ? runs_needed(diff, pair, column, change) : 0;

		if (needed <= most)
			continue;
		most = needed;
		worst = pair;
	}
	if (worst == NULL)
		return;
	buffer_append_format(&text, "%s, of ", rule->text);
	diff_append_label(diff, worst, &text);
	buffer_append_text(&text, ": ");
	runs_needed_append(diff, most, &text);
	comparability_add(comparability, COMPARABILITY_NOTE, runs_needed_id, text.data);
	buffer_release(&text);
}

void diff_rules_tell_needed(const struct rule rules[], size_t count, const struct diff *diff,
			    struct comparability *comparability)
{
	struct diff *made[RULE_AXES] = {NULL};

	for (size_t i = 0; i < count; i++) {
		/* a value is judged without a test */
		if (!rules[i].of_after && !rules[i].is_delayed)
			tell_needed(&rules[i], find_groups(&rules[i], diff, made), comparability);
	}
	for (size_t i = 0; i < RULE_AXES; i++)
		diff_release(made[i]);
}

int diff_rule_check_sets(const struct rule *rule, struct error *error)
{
	if (!rule->is_delayed)
		return 0;
	return error_set(error, -EINVAL,
			 "rule '%s': who delays whom is compared between two files, not between sets of runs",
			 rule->text);
}

int diff_rule_check_lives(const struct rule *rule, bool of_one_boot, struct error *error)
{
	if (is_share(rule))
		return error_set(error, -EINVAL,
				 "rule '%s': %s is a share of time, and these are single readings: capture "
				 "both with `ctop capture --for 10`, or give a time, 10ms",
				 rule->text, column_word(rule->column));
	if (of_one_boot && is_growth(rule) && column_is_counter(column_stored_form(rule->column)))
		return error_set(error, -EINVAL,
				 "rule '%s': a percentage is one of a rate, and these are single readings: "
				 "capture both with `ctop capture --for 10`, or give the limit as an amount",
				 rule->text);
	return 0;
}

void diff_rule_outcomes_release(struct diff_rule_outcomes *outcomes)
{
	free(outcomes->items);
	arena_release(&outcomes->arena);
	*outcomes = (struct diff_rule_outcomes){0};
}
