/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules of a comparison: what comes of them. */
#include "diff_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diff_evidence.h"
#include "table/cell_format.h"
#include "window/value_cell.h"

enum {
	NAMED_GROUPS = 10 /* of one rule by name; the others are counted */
};

/* What is known of a rule so far. */
struct judgement {
	const struct diff_rule *rule;
	const struct diff *diff;
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
		double excess;     /* by which the number passes the limit */
	} offenders[NAMED_GROUPS]; /* the worst first */
	size_t offender_count;     /* of all, beyond NAMED_GROUPS too */
};

static bool matches_part(const struct glob *glob, const char *text, size_t length)
{
	bool found = glob_matches(glob, text, length);

	for (const char *part = text; !found && part <= text + length; part += strlen(part) + 1)
		found = glob_matches(glob, part, strlen(part));
	return found;
}

/*
 * The key, or what is shown of it (a pattern, or the one name that it stands for); on AXIS_ALL its three
 * parts as they are printed, or any of them.
 */
static bool matches(const struct judgement *judgement, const struct diff_pair *pair)
{
	const struct glob *glob = judgement->rule->glob;
	struct buffer whole = {0};
	bool found;

	if (judgement->diff->options.grouping.axis != AXIS_ALL)
		return glob_matches(glob, pair->key, pair->key_length) ||
		       glob_matches(glob, pair->label, pair->label_length);
	diff_append_key(pair, &whole);
	found = glob_matches(glob, whole.data, whole.length);
	buffer_release(&whole);
	return found || matches_part(glob, pair->key, pair->key_length) ||
	       matches_part(glob, pair->label, pair->label_length);
}

/* From 0 there is no change but 0 itself that a percentage could hold. */
static double percentage(const struct diff_value *value)
{
	if (value->has_fraction)
		return value->fraction * 100;
	return value->delta == 0 ? 0 : copysign(INFINITY, value->delta);
}

/* The number that the rule is about; false where there is none, then the state and its reason. */
static bool take_number(const struct diff_rule *rule, const struct diff_value *value, double *ret_number,
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
	*ret_number = rule->percent ? percentage(value) : value->delta;
	*ret_state = value->state;
	*ret_reason = value->reason;
	*ret_side = value->reason_side;
	return value->has_delta;
}

/* By how much the number passes the limit: above 0, or at 0 where the limit itself counts. */
static double excess(const struct diff_rule *rule, double number)
{
	return diff_rule_is_upwards(rule->comparison) ? number - rule->limit : rule->limit - number;
}

static bool breaks(const struct diff_rule *rule, double number)
{
	const bool inclusive = rule->comparison == DIFF_RULE_AT_LEAST ||
			       rule->comparison == DIFF_RULE_AT_MOST;

	return inclusive ? excess(rule, number) >= 0 : excess(rule, number) > 0;
}

/* Keeps the worst; of equal ones the first. */
static void add_offender(struct judgement *judgement, size_t pair, double by)
{
	size_t held = judgement->offender_count < NAMED_GROUPS ? judgement->offender_count : NAMED_GROUPS;
	size_t index = held;

	judgement->offender_count++;
	while (index > 0 && judgement->offenders[index - 1].excess < by)
		index--;
	if (index == NAMED_GROUPS)
		return;
	if (held == NAMED_GROUPS)
		held--;
	memmove(&judgement->offenders[index + 1], &judgement->offenders[index],
		(held - index) * sizeof(judgement->offenders[0]));
	judgement->offenders[index] = (struct offender){pair, by};
}

static void begin_text(struct judgement *judgement)
{
	buffer_clear(&judgement->text);
	buffer_append_format(&judgement->text, "%s: ", judgement->rule->text);
}

static void add_outcome(struct judgement *judgement, bool broken)
{
	struct diff_rule_outcomes *outcomes = judgement->outcomes;
	struct buffer *text = &judgement->text;

	outcomes->items = memory_grow(outcomes->items, &outcomes->capacity, outcomes->count + 1,
				      sizeof(*outcomes->items));
	outcomes->items[outcomes->count++] = (struct diff_rule_outcome){
		.rule = arena_duplicate(&outcomes->arena, judgement->rule->text,
					strlen(judgement->rule->text)),
		.broken = broken,
		.text = arena_duplicate(&outcomes->arena, text->data, text->length),
	};
	outcomes->broken |= broken;
}

static void append_value(const struct diff *diff, const struct diff_pair *pair, enum column column,
			 struct buffer *text)
{
	struct value value;

	diff_side(diff, pair, DIFF_AFTER, column, &value);
	value_append(reduction_column(diff->reductions[DIFF_AFTER], column), &value, text);
}

/* "GROUP changed by +12.345ms (+8.1%)", "GROUP has 12.345ms". */
static void append_measurement(struct judgement *judgement, size_t index)
{
	const struct diff_rule *rule = judgement->rule;
	const struct diff_pair *pair = &judgement->diff->pairs[index];
	const struct diff_value value = diff_measure(judgement->diff, pair, rule->measure);
	const bool is_metric = column_is_metric(rule->measure.column);
	const enum ladder ladder = diff_measure_ladder(rule->measure);
	const bool is_ratio = diff_measure_is_ratio(rule->measure);
	struct buffer *text = &judgement->text;

	diff_append_label(pair, text);
	buffer_append_text(text, rule->of_after ? " has " : " changed by ");
	if (rule->of_after && is_metric)
		append_value(judgement->diff, pair, rule->measure.column, text);
	else if (rule->of_after)
		cell_format_derived(text, value.side[DIFF_AFTER].number, ladder, is_ratio);
	else if (is_metric)
		cell_format_delta(text, value.delta, ladder);
	else
		cell_format_derived_delta(text, value.delta, ladder, is_ratio);
	if (!rule->of_after && value.has_fraction) {
		buffer_append_text(text, " (");
		cell_format_percent(text, value.fraction);
		buffer_append_char(text, ')');
	}
}

static void tell_unavailable(struct judgement *judgement, size_t pair, reason_id reason, enum diff_side side)
{
	if (judgement->unavailable++ >= NAMED_GROUPS)
		return;
	begin_text(judgement);
	buffer_append_text(&judgement->text, "cannot be judged, ");
	diff_append_label(&judgement->diff->pairs[pair], &judgement->text);
	buffer_append_format(&judgement->text, " is unavailable in %s (%s)", diff_side_names[side],
			     snapshot_reason_words(judgement->diff->snapshots[side], reason));
	add_outcome(judgement, true);
}

/* The limit stands for the size of a change, and the test is one of the groups that match. */
static bool is_real(const struct judgement *judgement, size_t pair, const struct diff_value *value)
{
	const struct diff_pair *of = &judgement->diff->pairs[pair];
	const enum column column = judgement->rule->measure.column;
	struct diff_evidence_cell evidence;

	if (judgement->diff->evidence == NULL || column == COLUMN_COUNT)
		return true;
	evidence = diff_evidence_of(judgement->diff, of, column, value);
	return fabs(value->delta) >= diff_evidence_floor(column) &&
	       (!evidence.is_tested ||
		evidence.chance * (double)judgement->matching <= DIFF_EVIDENCE_CHANCE_MAX);
}

static void judge_pair(struct judgement *judgement, size_t pair)
{
	const struct diff_rule *rule = judgement->rule;
	const struct diff_value value = diff_measure(judgement->diff, &judgement->diff->pairs[pair],
						     rule->measure);
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
	if (judgement->judged++ == 0 || excess(rule, number) > excess(rule, judgement->nearest_number)) {
		judgement->nearest = pair;
		judgement->nearest_number = number;
	}
	if (breaks(rule, number) && (rule->any || rule->of_after || is_real(judgement, pair, &value)))
		add_offender(judgement, pair, excess(rule, number));
}

static void tell_offenders(struct judgement *judgement)
{
	for (size_t i = 0; i < judgement->offender_count && i < NAMED_GROUPS; i++) {
		begin_text(judgement);
		append_measurement(judgement, judgement->offenders[i].pair);
		add_outcome(judgement, true);
	}
	if (judgement->offender_count <= NAMED_GROUPS)
		return;
	begin_text(judgement);
	buffer_append_format(&judgement->text, "%zu more group%s it",
			     judgement->offender_count - NAMED_GROUPS,
			     judgement->offender_count - NAMED_GROUPS == 1 ? " breaks" : "s break");
	add_outcome(judgement, true);
}

/* Why no group could be judged. */
static void tell_nothing(struct judgement *judgement)
{
	begin_text(judgement);
	if (judgement->absent == 0)
		buffer_append_text(&judgement->text, "no group matches");
	else
		buffer_append_format(&judgement->text, "%zu group%s match%s and %s no %s", judgement->absent,
				     judgement->absent == 1 ? "" : "s", judgement->absent == 1 ? "es" : "",
				     judgement->absent == 1 ? "has" : "have",
				     judgement->rule->of_after ? "value in after"
							       : "change: the value is absent on one side");
	add_outcome(judgement, true);
}

static void tell_kept(struct judgement *judgement)
{
	begin_text(judgement);
	append_measurement(judgement, judgement->nearest);
	if (judgement->judged > 1)
		buffer_append_format(&judgement->text, ", the nearest of %zu groups", judgement->judged);
	if (judgement->absent != 0)
		buffer_append_format(&judgement->text, "; %zu more match without a number",
				     judgement->absent);
	add_outcome(judgement, false);
}

void diff_rule_judge(const struct diff_rule *rule, const struct diff *diff,
		     struct diff_rule_outcomes *outcomes)
{
	struct judgement judgement = {.rule = rule, .diff = diff, .outcomes = outcomes};

	for (size_t i = 0; i < diff->pair_count; i++)
		judgement.matching += matches(&judgement, &diff->pairs[i]);
	for (size_t i = 0; i < diff->pair_count; i++) {
		if (matches(&judgement, &diff->pairs[i]))
			judge_pair(&judgement, i);
	}
	if (judgement.unavailable > NAMED_GROUPS) {
		begin_text(&judgement);
		buffer_append_format(&judgement.text, "cannot be judged for %zu more group%s",
				     judgement.unavailable - NAMED_GROUPS,
				     judgement.unavailable - NAMED_GROUPS == 1 ? "" : "s");
		add_outcome(&judgement, true);
	}
	tell_offenders(&judgement);
	if (judgement.judged == 0 && judgement.unavailable == 0)
		tell_nothing(&judgement);
	else if (judgement.offender_count == 0 && judgement.unavailable == 0)
		tell_kept(&judgement);
	buffer_release(&judgement.text);
}

void diff_rule_outcomes_release(struct diff_rule_outcomes *outcomes)
{
	free(outcomes->items);
	arena_release(&outcomes->arena);
	*outcomes = (struct diff_rule_outcomes){0};
}
