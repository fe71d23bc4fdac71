/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules of a comparison: their language. */
#include "diff_rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "metric/nearest.h"
#include "base/unicode.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

struct limit_unit {
	const char *name;
	double factor; /* to the base unit */
};

static const struct limit_unit time_units[] = {
	{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9},
};

static const struct limit_unit tick_units[] = {
	{"ticks", 1}, {"ms", USER_HZ / 1e3}, {"s", USER_HZ}, {"min", USER_HZ * 60}, {"h", USER_HZ * 3600},
};

static const struct limit_unit byte_units[] = {
	{"B", 1},      {"K", 0x1p10},   {"KiB", 0x1p10}, {"M", 0x1p20},   {"MiB", 0x1p20},
	{"G", 0x1p30}, {"GiB", 0x1p30}, {"T", 0x1p40},   {"TiB", 0x1p40},
};

static const struct limit_unit count_units[] = {{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};

/* What a limit of a metric on each ladder may be written in. */
static const struct {
	const struct limit_unit *units;
	size_t count;
	const char *what;
} ladder_units[] = {
	[LADDER_NONE] = {NULL, 0, "a plain number"},
	[LADDER_UNITLESS] = {count_units, COUNT(count_units), "a count"},
	[LADDER_NS] = {time_units, COUNT(time_units), "a time in ns"},
	[LADDER_US] = {NULL, 0, "a plain number"},
	[LADDER_BYTES] = {byte_units, COUNT(byte_units), "an amount of bytes"},
	[LADDER_TICKS] = {tick_units, COUNT(tick_units), "a time in clock ticks (100 per second)"},
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

static int prefix_rule(const char *text, int status, struct error *error)
{
	char *prefix = memory_format("rule '%s'", text);

	status = error_prefix(error, status, prefix);
	free(prefix);
	return status;
}

static bool has_number(enum metric metric)
{
	return metric_type(metric)->reduction != METRIC_REDUCTION_MODE;
}

static int parse_metric(struct diff_rule *rule, struct part name, struct error *error)
{
	const char *names[METRIC_COUNT + DERIVED_COUNT];
	size_t count = 0;
	char *word;
	int status;

	rule->metric = metric_find(name.start, name.length);
	rule->derived = derived_find(name.start, name.length);
	if (rule->derived != DERIVED_NONE || (rule->metric != METRIC_NONE && has_number(rule->metric)))
		return 0;
	if (rule->metric != METRIC_NONE)
		return error_set(error, -EINVAL, "rule '%s': %s is a category and has no number to compare",
				 rule->text, metrics[rule->metric].name);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (has_number((enum metric)i))
			names[count++] = metrics[i].name;
	}
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		names[count++] = derived_metrics[i].name;
	word = memory_duplicate_bytes(name.start, name.length);
	status = prefix_rule(rule->text, nearest_refuse(error, "metric", word, names, count), error);
	free(word);
	return status;
}

static enum ladder rule_ladder(const struct diff_rule *rule)
{
	return rule->metric != METRIC_NONE ? metric_type(rule->metric)->ladder
					   : derived_metrics[rule->derived].ladder;
}

static bool is_ratio(const struct diff_rule *rule)
{
	return rule->metric == METRIC_NONE && derived_metrics[rule->derived].is_ratio;
}

static const char *rule_metric_name(const struct diff_rule *rule)
{
	return rule->metric != METRIC_NONE ? metrics[rule->metric].name : derived_metrics[rule->derived].name;
}

static int parse_percent(struct diff_rule *rule, struct error *error)
{
	rule->percent = true;
	if (rule->of_after)
		return error_set(error, -EINVAL,
				 "rule '%s': a percentage is of the change, and after: means the second "
				 "file's own value",
				 rule->text);
	if (is_ratio(rule))
		return error_set(error, -EINVAL,
				 "rule '%s': %s is a ratio and has no change in percent; give the change "
				 "itself, 0.1",
				 rule->text, rule_metric_name(rule));
	return 0;
}

static int refuse_unit(const struct diff_rule *rule, struct part unit, struct error *error)
{
	const enum ladder ladder = rule_ladder(rule);
	struct buffer valid = {0};
	int status;

	for (size_t i = 0; i < ladder_units[ladder].count; i++)
		buffer_append_format(&valid, "%s, ", ladder_units[ladder].units[i].name);
	status = error_set(error, -EINVAL, "rule '%s': unknown unit '%.*s', %s is %s; valid: %s%s",
			   rule->text, (int)unit.length, unit.start, rule_metric_name(rule),
			   ladder_units[ladder].what, valid.length != 0 ? valid.data : "",
			   is_ratio(rule) ? "no unit" : "%");
	buffer_release(&valid);
	return status;
}

static int parse_unit(struct diff_rule *rule, struct part unit, struct error *error)
{
	const enum ladder ladder = rule_ladder(rule);

	if (unit.length == 0)
		return 0;
	if (unit.length == 1 && unit.start[0] == '%')
		return parse_percent(rule, error);
	for (size_t i = 0; i < ladder_units[ladder].count; i++) {
		const struct limit_unit *known = &ladder_units[ladder].units[i];

		if (strlen(known->name) == unit.length && memcmp(known->name, unit.start, unit.length) == 0) {
			rule->limit *= known->factor;
			return 0;
		}
	}
	return refuse_unit(rule, unit, error);
}

/* A decimal number: a sign, digits, a point and digits; nothing that strtod(3) takes besides. */
static size_t number_length(struct part text)
{
	size_t i = text.length != 0 && (text.start[0] == '+' || text.start[0] == '-') ? 1 : 0;
	bool has_digit = false;
	bool has_point = false;

	for (; i < text.length; i++) {
		if (text.start[i] >= '0' && text.start[i] <= '9')
			has_digit = true;
		else if (text.start[i] == '.' && !has_point)
			has_point = true;
		else
			break;
	}
	return has_digit ? i : 0;
}

static int parse_limit(struct diff_rule *rule, struct part text, struct error *error)
{
	size_t length = number_length(text);
	char *number;
	int status;

	if (length == 0)
		return refuse(rule->text, error, "there is no number to compare with");
	number = memory_duplicate_bytes(text.start, length);
	rule->limit = strtod(number, NULL);
	free(number);
	status = parse_unit(rule, make_part(text.start + length, text.start + text.length), error);
	if (status == 0 && !isfinite(rule->limit))
		return refuse(rule->text, error, "the limit is too large");
	return status;
}

static int parse_condition(struct diff_rule *rule, struct part text, struct error *error)
{
	for (size_t i = 0; i < COUNT(operators); i++) {
		const size_t length = strlen(operators[i].text);

		if (text.length < length || memcmp(text.start, operators[i].text, length) != 0)
			continue;
		rule->comparison = operators[i].comparison;
		return parse_limit(rule, make_part(text.start + length, text.start + text.length), error);
	}
	return refuse(rule->text, error, "there is no >, >=, < or <= after the group");
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

int diff_rule_parse(const char *text, struct diff_rule *ret_rule, struct error *error)
{
	int status;

	*ret_rule = (struct diff_rule){
		.text = memory_duplicate(text), .metric = METRIC_NONE, .derived = DERIVED_NONE};
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
