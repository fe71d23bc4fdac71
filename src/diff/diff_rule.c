/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules of a comparison: their language. */
#include "diff_latency.h"
#include "diff_rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "metric/nearest.h"
#include "metric/quantity.h"
#include "base/unicode.h"

/* The longer ones first: `>=` begins with `>`. */
static const struct {
	const char *text;
	enum diff_rule_comparison comparison;
} operators[] = {
	{">=", DIFF_RULE_AT_LEAST},
	{"<=", DIFF_RULE_AT_MOST},
	{">", DIFF_RULE_ABOVE},
	{"<", DIFF_RULE_BELOW},
};

/* A part of the rule's text. */
struct part {
	const char *start;
	size_t length;
};

static struct part make_part(const char *start, const char *end)
{
	struct part part = {start, 0};

	part.length = unicode_trim(&part.start, (size_t)(end - start));
	return part;
}

static int refuse(const char *text, struct error *error, const char *complaint)
{
	return error_set(error, -EINVAL,
			 "rule '%s': %s; write METRIC(GROUP-GLOB) OP LIMIT, for example "
			 "'run_time_ns(worker-*) > 10ms'",
			 text, complaint);
}

static bool has_number(enum metric metric)
{
	return metric_type(metric)->reduction != METRIC_REDUCTION_MODE;
}

/*
 * A column by the name or title that it has on the screen, where it is an amount of what threads did, or a
 * field, which nobody need have met yet. One of a single metric is that metric.
 */
static enum column find_column(struct part name, bool with_titles)
{
	char *word = memory_duplicate_bytes(name.start, name.length);
	const enum column column = column_find(word);
	const struct column_entry *entry = column < COLUMN_COUNT ? column_entry(column) : NULL;

	free(word);
	if (entry == NULL)
		return column_is_task_field(column) ? column : COLUMN_COUNT;
	if (!with_titles)
		return COLUMN_COUNT;
	if (entry->operation == COLUMN_OPERATION_RESIDENT)
		return column;
	if (entry->operation != COLUMN_OPERATION_SUM)
		return COLUMN_COUNT;
	return entry->input_count == 1 ? column_of_stored((enum metric)entry->inputs[0]) : column;
}

static int parse_metric(struct diff_rule *rule, struct part name, struct error *error)
{
	const enum metric metric = metric_find(name.start, name.length);
	const enum derived derived = derived_find(name.start, name.length);
	const enum latency_number latency = diff_latency_find(name.start, name.length);
	const char *names[METRIC_COUNT + (size_t)DERIVED_COUNT + (size_t)LATENCY_NUMBER_COUNT];
	struct error cause;
	size_t count = 0;
	char *word;

	rule->measure = (struct diff_measure){COLUMN_COUNT, latency};
	if (derived != DERIVED_NONE)
		rule->measure.column = column_of_derived(derived);
	else if (metric != METRIC_NONE && has_number(metric))
		rule->measure.column = column_of_stored(metric);
	else if (latency == LATENCY_NUMBER_NONE && metric == METRIC_NONE)
		rule->measure.column = find_column(name, rule->with_titles);
	if (rule->measure.column != COLUMN_COUNT || latency != LATENCY_NUMBER_NONE)
		return 0;
	if (metric != METRIC_NONE)
		return error_set(error, -EINVAL, "rule '%s': %s is a category and has no number to compare",
				 rule->text, metrics[metric].name);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (has_number((enum metric)i))
			names[count++] = metrics[i].name;
	}
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		names[count++] = derived_metrics[i].name;
	for (int i = LATENCY_NUMBER_NONE + 1; i < LATENCY_NUMBER_COUNT; i++)
		names[count++] = diff_latency_name((enum latency_number)i);
	word = memory_duplicate_bytes(name.start, name.length);
	nearest_refuse(&cause, "metric", word, names, count);
	free(word);
	return error_set(error, -EINVAL, "rule '%.293s': %.3700s", rule->text, cause.text);
}

static int parse_percent(struct diff_rule *rule, struct error *error)
{
	rule->percent = true;
	if (rule->of_after)
		return error_set(error, -EINVAL,
				 "rule '%s': a percentage is of the change, and after: means the second "
				 "file's own value",
				 rule->text);
	if (diff_measure_is_ratio(rule->measure))
		return error_set(error, -EINVAL,
				 "rule '%s': %s is a ratio and has no change in percent; give the change "
				 "itself, 0.1",
				 rule->text, diff_measure_name(rule->measure));
	return 0;
}

static int refuse_unit(const struct diff_rule *rule, struct part unit, struct error *error)
{
	struct buffer valid = {0};
	int status;

	quantity_append_units(diff_measure_ladder(rule->measure), &valid);
	status = error_set(error, -EINVAL, "rule '%s': unknown unit '%.*s', %s is %s; valid: %s%s",
			   rule->text, (int)unit.length, unit.start, diff_measure_name(rule->measure),
			   quantity_words(diff_measure_ladder(rule->measure)),
			   valid.length != 0 ? valid.data : "",
			   diff_measure_is_ratio(rule->measure) ? "no unit" : "%");
	buffer_release(&valid);
	return status;
}

static int parse_limit(struct diff_rule *rule, struct part text, struct error *error)
{
	const size_t length = quantity_parse_number(text.start, text.length, &rule->limit);
	const struct part unit = make_part(text.start + length, text.start + text.length);
	double factor;

	if (length == 0)
		return refuse(rule->text, error, "there is no number to compare with");
	if (unit.length == 1 && unit.start[0] == '%') {
		const int status = parse_percent(rule, error);

		if (status < 0)
			return status;
	} else if (quantity_find_unit(diff_measure_ladder(rule->measure), unit.start, unit.length, &factor)) {
		rule->limit *= factor;
	} else {
		return refuse_unit(rule, unit, error);
	}
	return isfinite(rule->limit) ? 0 : refuse(rule->text, error, "the limit is too large");
}

size_t diff_rule_comparison_parse(const char *text, size_t length, enum diff_rule_comparison *ret_comparison)
{
	for (size_t i = 0; i < ARRAY_COUNT(operators); i++) {
		const size_t of_operator = strlen(operators[i].text);

		if (length < of_operator || memcmp(text, operators[i].text, of_operator) != 0)
			continue;
		*ret_comparison = operators[i].comparison;
		return of_operator;
	}
	return 0;
}

bool diff_rule_is_upwards(enum diff_rule_comparison comparison)
{
	return comparison == DIFF_RULE_ABOVE || comparison == DIFF_RULE_AT_LEAST;
}

bool diff_rule_holds(enum diff_rule_comparison comparison, double number, double limit)
{
	switch (comparison) {
	case DIFF_RULE_ABOVE:
		return number > limit;
	case DIFF_RULE_AT_LEAST:
		return number >= limit;
	case DIFF_RULE_BELOW:
		return number < limit;
	case DIFF_RULE_AT_MOST:
		return number <= limit;
	}
	return false;
}

static int parse_condition(struct diff_rule *rule, struct part text, struct error *error)
{
	const size_t length = diff_rule_comparison_parse(text.start, text.length, &rule->comparison);

	if (length == 0)
		return refuse(rule->text, error, "there is no >, >=, < or <= after the group");
	return parse_limit(rule, make_part(text.start + length, text.start + text.length), error);
}

static int parse(struct diff_rule *rule, struct error *error)
{
	static const char after[] = "after:";
	const char *end = rule->text + strlen(rule->text);
	const char *start = make_part(rule->text, end).start;
	const char *open, *close;
	int status;

	if (strncmp(start, after, strlen(after)) == 0) {
		rule->of_after = true;
		start += strlen(after);
	}
	open = strchr(start, '(');
	close = strrchr(start, ')'); /* a glob may hold others */
	if (open == NULL || close == NULL || close < open)
		return refuse(rule->text, error, "there is no group in parentheses");
	status = parse_metric(rule, make_part(start, open), error);
	if (status < 0)
		return status;
	rule->glob = glob_compile(open + 1, (size_t)(close - open - 1));
	if (rule->glob == NULL)
		return error_set(error, -EINVAL, "rule '%s': '%.*s' is not a valid glob", rule->text,
				 (int)(close - open - 1), open + 1);
	return parse_condition(rule, make_part(close + 1, end), error);
}

int diff_rule_parse(const char *text, bool with_titles, struct diff_rule *ret_rule, struct error *error)
{
	int status;

	*ret_rule = (struct diff_rule){.text = memory_duplicate(text),
				       .measure = {COLUMN_COUNT, LATENCY_NUMBER_NONE},
				       .with_titles = with_titles};
	status = parse(ret_rule, error);
	if (status < 0)
		diff_rule_release(ret_rule);
	return status;
}

void diff_rule_release(struct diff_rule *rule)
{
	free(rule->text);
	if (rule->glob != NULL)
		glob_release(rule->glob);
	*rule = (struct diff_rule){0};
}
