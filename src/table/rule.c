/* SPDX-License-Identifier: GPL-2.0-only */
#include "rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "column_list.h"
#include "column_name.h"
#include "metric/quantity.h"
#include "window/blame.h"
#include "window/column.h"

const enum axis rule_axes[RULE_AXES] = {AXIS_PROCESS, AXIS_THREAD, AXIS_CGROUP};

const struct rule_help rule_words[] = {
#define RULE_WORD(word, description) {word, description},
#define RULE_EXAMPLE(rule, description)
#include "rule_help.def"
#undef RULE_WORD
#undef RULE_EXAMPLE
	{NULL, NULL},
};

const struct rule_help rule_examples[] = {
#define RULE_WORD(word, description)
#define RULE_EXAMPLE(rule, description) {rule, description},
#include "rule_help.def"
#undef RULE_WORD
#undef RULE_EXAMPLE
	{NULL, NULL},
};

/* A part of the rule's text, without blanks around it. */
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

static int refuse(const struct rule *rule, struct error *error, const char *complaint)
{
	return error_set(
		error, -EINVAL, "rule '%s': %s; write %s", rule->text, complaint,
		rule->is_pressure
			? "psi.cpu, psi.memory or psi.io, >, >=, < or <=, and percent: 'psi.cpu > 20'"
			: "NUMBER(GROUPS) OP LIMIT: 'CPU%(worker-*) > 20%', 'RSS(*) > 8G' (ctop help rules)");
}

static int refuse_part(const struct rule *rule, const struct error *cause, struct error *error)
{
	return error_set(error, -EINVAL, "rule '%.293s': %.3700s", rule->text, cause->text);
}

static bool take_comparison(struct part *text, struct limit *limit)
{
	size_t length = 0;

	while (length < text->length && strchr("<>=!", text->start[length]) != NULL)
		length++;
	if (!comparison_find(text->start, length, &limit->comparison))
		return false;
	*text = make_part(text->start + length, text->start + text->length);
	return true;
}

static int parse_pressure(struct rule *rule, struct part text, struct error *error)
{
	size_t length = 0, number;
	struct part rest;

	rule->is_pressure = true;
	text = make_part(text.start + strlen("psi."), text.start + text.length);
	while (length < text.length && strchr(" <>=!\t", text.start[length]) == NULL)
		length++;
	for (rule->resource = PRESSURE_CPU; rule->resource < PRESSURE_IRQ; rule->resource++) {
		if (strlen(pressure_resource_names[rule->resource]) == length &&
		    memcmp(pressure_resource_names[rule->resource], text.start, length) == 0)
			break;
	}
	if (rule->resource == PRESSURE_IRQ)
		return refuse(rule, error, "there is no such pressure");
	rest = make_part(text.start + length, text.start + text.length);
	if (!take_comparison(&rest, &rule->limit) || rule->limit.comparison == COMPARISON_EQUAL ||
	    rule->limit.comparison == COMPARISON_DIFFERENT)
		return refuse(rule, error, "there is no >, >=, < or <=");
	number = quantity_parse_number(rest.start, rest.length, &rule->limit.number);
	text = make_part(rest.start + number, rest.start + rest.length);
	if (number == 0 || text.length > 1 || (text.length == 1 && *text.start != '%'))
		return refuse(rule, error, "the percentage is missing or not a number");
	if (rule->limit.number < 0 || rule->limit.number > 100)
		return refuse(rule, error, "the percentage must be 0 to 100");
	if (!comparison_holds(rule->limit.comparison, 0, 100, rule->limit.number))
		return refuse(rule, error, "it can never hold, as pressure is 0 to 100 percent");
	return 0;
}

static bool has_number(enum column column)
{
	const struct column_entry *entry = column_entry(column);

	return !column_is_text(column) && !column_is_identity(column) &&
	       entry->operation != COLUMN_OPERATION_BAR &&
	       !(column_has_metrics(column) && entry->operation == COLUMN_OPERATION_PRESENT &&
		 metric_type((enum metric)entry->inputs[0])->reduction == METRIC_REDUCTION_MODE);
}

static int parse_column(struct rule *rule, const char *name, struct error *error)
{
	struct error cause;

	rule->column = column_find(name);
	if (rule->column == COLUMN_COUNT) {
		column_refuse(name, &cause);
		return refuse_part(rule, &cause, error);
	}
	if (!has_number(rule->column))
		return error_set(error, -EINVAL, "rule '%s': %s has no number to compare", rule->text, name);
	return 0;
}

/* Takes "process:" and the like off the text. */
static enum axis take_axis(struct part *text)
{
	const char *colon = memchr(text->start, ':', text->length);

	for (size_t i = 0; colon != NULL && i < RULE_AXES; i++) {
		const char *word = axes[rule_axes[i]].word;
		const size_t length = strlen(word);

		if ((size_t)(colon - text->start) != length || memcmp(text->start, word, length) != 0)
			continue;
		*text = (struct part){colon + 1, text->length - length - 1};
		return rule_axes[i];
	}
	return AXIS_COUNT;
}

static const char of_word[] = " of ", by_word[] = " by ";

/* Finds the first place of a word outside quotation marks; NULL for none. */
static const char *find_word(struct part text, const char *word)
{
	const size_t length = strlen(word);
	bool is_quoted = false;

	for (size_t i = 0; i + length <= text.length; i++) {
		if (text.start[i] == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && memcmp(text.start + i, word, length) == 0)
			return text.start + i;
	}
	return NULL;
}

/* Cuts a text at a word: the text keeps the part before it, `*ret_rest` gets the part after it. Returns
 * false, with the text as it was, if the word is not there. */
static bool cut_at_word(struct part *text, const char *word, struct part *ret_rest)
{
	const char *found = find_word(*text, word);

	if (found == NULL)
		return false;
	*ret_rest = make_part(found + strlen(word), text->start + text->length);
	*text = make_part(text->start, found);
	return true;
}

/* Takes the quotation marks, and blanks around them, off a name. */
static int unquote(const struct rule *rule, struct part *name, struct error *error)
{
	const struct part whole = make_part(name->start, name->start + name->length);
	const bool is_quoted = whole.length >= 2 && whole.start[0] == '"' &&
			       whole.start[whole.length - 1] == '"';
	const struct part inner = {whole.start + is_quoted, whole.length - 2 * (size_t)is_quoted};

	if (memchr(inner.start, '"', inner.length) != NULL)
		return error_set(error, -EINVAL,
				 "rule '%s': a name has one \" before it and one after it; ? stands for one "
				 "in a name",
				 rule->text);
	if (inner.length == 0)
		return error_set(error, -EINVAL, "rule '%s': a name is missing; * stands for all",
				 rule->text);
	*name = inner;
	return 0;
}

static int parse_name(const struct rule *rule, struct part text, struct glob **ret_glob, struct error *error)
{
	const int result = unquote(rule, &text, error);

	if (result < 0)
		return result;
	*ret_glob = glob_compile(text.start, text.length);
	if (*ret_glob == NULL)
		return error_set(error, -EINVAL, "rule '%s': '%.*s' is not a valid glob", rule->text,
				 (int)text.length, text.start);
	return 0;
}

/* Parses "worker-*", "thread:worker-*" or "worker-* of api". */
static int parse_groups(struct rule *rule, struct part text, struct error *error)
{
	struct part process = text;
	const bool is_pool = cut_at_word(&text, of_word, &process);
	enum axis axis;
	int result;

	rule->axis = take_axis(&text);
	result = parse_name(rule, text, &rule->glob, error);
	if (result < 0 || !is_pool)
		return result;
	axis = take_axis(&process);
	if ((rule->axis != AXIS_COUNT && rule->axis != AXIS_THREAD) ||
	    (axis != AXIS_COUNT && axis != AXIS_PROCESS) || find_word(process, of_word) != NULL)
		return error_set(error, -EINVAL,
				 "rule '%s': 'of' joins threads and their process (worker-* of api); quote a "
				 "name that holds the word",
				 rule->text);
	rule->axis = AXIS_ALL;
	return parse_name(rule, process, &rule->process, error);
}

/* Parses "api by backup", "process:api by (wakeup)" or "api". */
static int parse_victims(struct rule *rule, struct part text, struct error *error)
{
	struct part culprits = text;
	enum axis axis;
	bool has_culprits;
	int result;

	if (find_word(text, of_word) != NULL)
		return error_set(error, -EINVAL,
				 "rule '%s': delayed is about whole processes, threads or cgroups: leave out "
				 "'of', or quote a name that holds the word",
				 rule->text);
	has_culprits = cut_at_word(&text, by_word, &culprits);
	result = parse_groups(rule, text, error);
	if (result < 0 || !has_culprits)
		return result;
	axis = take_axis(&culprits);
	if (axis != AXIS_COUNT && rule->axis != AXIS_COUNT && axis != rule->axis)
		return error_set(
			error, -EINVAL,
			"rule '%s': both are groups of one kind, all of processes, threads or cgroups",
			rule->text);
	if (axis != AXIS_COUNT)
		rule->axis = axis;
	return parse_name(rule, culprits, &rule->culprit, error);
}

/* Takes ": CLASS", a class of waits, off the end of the groups. */
static int take_class(struct rule *rule, struct part *groups, struct error *error)
{
	const char *colon = memrchr(groups->start, ':', groups->length);
	const struct part name = colon != NULL ? make_part(colon + 1, groups->start + groups->length)
					       : (struct part){0};
	struct buffer classes = {0};

	rule->column = column_of_wait_class(colon != NULL ? wait_class_find(name.start, name.length)
							  : WAIT_CLASS_UNKNOWN);
	if (rule->column != COLUMN_COUNT) {
		*groups = make_part(groups->start, colon);
		return 0;
	}
	for (size_t i = 1; i < WAIT_CLASS_COUNT; i++)
		buffer_append_format(&classes, "%s%s", i > 1 ? ", " : "", wait_classes[i].name);
	error_set(error, -EINVAL, "rule '%s': time is time(GROUPS: CLASS), where CLASS is one of %s",
		  rule->text, classes.data);
	buffer_release(&classes);
	return -EINVAL;
}

/* Numbers of cgroup files are those of cgroups, and of no other group. */
static int check_kind(struct rule *rule, const char *name, struct error *error)
{
	if (column_entry(rule->column)->operation != COLUMN_OPERATION_CGROUP)
		return 0;
	if (rule->axis == AXIS_COUNT)
		rule->axis = AXIS_CGROUP;
	if (rule->axis != AXIS_CGROUP)
		return error_set(error, -EINVAL,
				 "rule '%s': %s is a number of cgroups, not of processes or threads: write "
				 "cgroup: before the name",
				 rule->text, name);
	return 0;
}

/* Refuses a limit that no number of the column can pass. */
static int check_limit(const struct rule *rule, bool of_change, const char *name, struct error *error)
{
	const enum unit unit = column_unit(rule->column, WINDOW_MODE_RATE, false);
	const bool is_value = rule->of_after || !of_change;
	const bool is_growth = !is_value && rule->limit.kind == LIMIT_PERCENT;
	const bool is_share = column_entry(rule->column)->operation == COLUMN_OPERATION_SHARE;
	const double limit = is_growth ? rule->limit.number : limit_in(&rule->limit, unit);
	const double highest = !is_share ? INFINITY : unit == UNIT_RATIO ? 1 : 100;
	double lowest = -highest;

	if (!column_may_be_negative(rule->column) && (is_value || is_growth))
		lowest = is_value ? 0 : -100;
	if (rule->limit.comparison == COMPARISON_DIFFERENT ||
	    comparison_holds(rule->limit.comparison, lowest, highest, limit))
		return 0;
	return error_set(error, -EINVAL, "rule '%s' can never hold: %s%s is never %s %g%s", rule->text,
			 is_value ? "" : "the change of ", name, limit <= lowest ? "below" : "above",
			 limit <= lowest ? lowest : highest, is_growth ? "%" : "");
}

/* Takes a growth in percent; false where the text is none. */
static bool take_growth(struct rule *rule, struct part text)
{
	const size_t length = quantity_parse_number(text.start, text.length, &rule->limit.number);
	const struct part unit = make_part(text.start + length, text.start + text.length);

	rule->limit.kind = LIMIT_PERCENT;
	return length != 0 && unit.length == 1 && *unit.start == '%';
}

/* Parses seconds of waiting per second: a number of CPUs, a time, or percent of a CPU, in ns per second. As
 * limit_parse(). */
static int parse_delay(struct part text, struct limit *limit, struct error *error)
{
	const size_t length = quantity_parse_number(text.start, text.length, &limit->number);
	const struct part unit = make_part(text.start + length, text.start + text.length);
	double factor;

	if (length == 0)
		return -ENOENT;
	if (unit.length == 0)
		factor = NS_PER_S;
	else if (unit.length == 1 && *unit.start == '%')
		factor = (double)NS_PER_S / 100;
	else if (!quantity_find_unit(LADDER_NS, unit.start, unit.length, &factor))
		return error_set(error, -EINVAL, "delayed is seconds per second; write 0.2, 200ms or 20%%");
	limit->kind = LIMIT_AMOUNT;
	limit->number *= factor;
	return 0;
}

static int parse_limit(struct rule *rule, const char *name, bool of_change, struct part text,
		       struct error *error)
{
	const enum unit unit = column_unit(rule->column, WINDOW_MODE_RATE, false);
	struct error cause;
	int result;

	if (!take_comparison(&text, &rule->limit))
		return refuse(rule, error, "there is no comparison (> >= < <= = !=) after the groups");
	if (of_change && !rule->of_after && take_growth(rule, text)) {
		if (unit == UNIT_RATIO || (unit == UNIT_PERCENT && !limit_is_share(rule->column)))
			return error_set(error, -EINVAL,
					 "rule '%s': %s is a ratio and has no change in percent; give the "
					 "change itself, %s",
					 rule->text, name, unit == UNIT_PERCENT ? "10" : "0.1");
		return 0;
	}
	result = rule->is_delayed
			 ? parse_delay(text, &rule->limit, &cause)
			 : limit_parse(text.start, text.length, name, rule->column, &rule->limit, &cause);
	if (result == -ENOENT)
		return refuse(rule, error, "there is no number to compare with");
	if (result < 0)
		return refuse_part(rule, &cause, error);
	/* of one thread it is a time, but rules are about groups */
	if (rule->limit.kind == LIMIT_AMOUNT && column_has(column_entry(rule->column), COLUMN_COUNTS_THREADS))
		return error_set(error, -EINVAL, "rule '%s': %s counts threads and takes no unit", rule->text,
				 name);
	return 0;
}

static int parse(struct rule *rule, bool of_change, struct error *error)
{
	static const char after[] = "after:";
	struct part text = make_part(rule->text, rule->text + strlen(rule->text)), name, groups;
	const char *open, *close = NULL, *end = text.start + text.length;
	char *word;
	int result = 0;

	if (text.length >= 4 && memcmp(text.start, "psi.", 4) == 0) {
		result = parse_pressure(rule, text, error);
		return result == 0 && of_change
			       ? error_set(
					 error, -EINVAL,
					 "rule '%s': pressure is watched by ctop record --when; a comparison "
					 "has rules about groups",
					 rule->text)
			       : result;
	}
	if (text.length >= strlen(after) && memcmp(text.start, after, strlen(after)) == 0) {
		if (!of_change)
			return error_set(error, -EINVAL,
					 "rule '%s': after: is of comparisons; a recording judges what there "
					 "is each second, or now: leave it out",
					 rule->text);
		rule->of_after = true;
		text = make_part(text.start + strlen(after), end);
	}
	open = memchr(text.start, '(', text.length);
	for (const char *at = open; at != NULL && at < end; at++)
		close = *at == ')' ? at : close; /* a glob may hold others */
	if (close == NULL)
		return refuse(rule, error, "there are no groups in parentheses");
	name = make_part(text.start, open);
	groups = make_part(open + 1, close);
	word = memory_duplicate_bytes(name.start, name.length);
	rule->is_delayed = strcmp(word, "delayed") == 0;
	if (rule->is_delayed)
		rule->column = COLUMN_WAITS;
	else if (strcmp(word, "time") == 0)
		result = take_class(rule, &groups, error);
	else
		result = parse_column(rule, word, error);
	if (result == 0)
		result = rule->is_delayed ? parse_victims(rule, groups, error)
					  : parse_groups(rule, groups, error);
	if (result == 0)
		result = check_kind(rule, word, error);
	if (result == 0)
		result = parse_limit(rule, word, of_change, make_part(close + 1, end), error);
	if (result == 0)
		result = check_limit(rule, of_change, word, error);
	free(word);
	return result;
}

int rule_parse(const char *text, bool of_change, struct rule *ret_rule, struct error *error)
{
	int result;

	*ret_rule = (struct rule){.text = memory_duplicate(text), .column = COLUMN_COUNT, .axis = AXIS_COUNT};
	result = parse(ret_rule, of_change, error);
	if (result < 0)
		rule_release(ret_rule);
	return result;
}

void rule_release(struct rule *rule)
{
	free(rule->text);
	glob_release(rule->glob);
	glob_release(rule->process);
	glob_release(rule->culprit);
	*rule = (struct rule){0};
}

/* Parts of names on AXIS_ALL. */
enum {
	PART_CGROUP,
	PART_PROCESS,
	PART_THREAD,
};

/* A part of a name whose parts have a NUL between them. */
static struct part find_part(const char *name, size_t length, size_t index)
{
	const char *end = name + length, *next = NULL;

	for (; index > 0 && (next = memchr(name, '\0', (size_t)(end - name))) != NULL; index--)
		name = next + 1;
	if (index > 0)
		return (struct part){end, 0};
	next = memchr(name, '\0', (size_t)(end - name));
	return (struct part){name, (size_t)((next != NULL ? next : end) - name)};
}

/* Whether a glob matches a part of the key or of the label. */
static bool part_matches(const struct glob *glob, struct part key, struct part label)
{
	return glob_matches(glob, key.start, key.length) || glob_matches(glob, label.start, label.length);
}

bool rule_matches(const struct rule *rule, const char *key, size_t key_length, const char *label,
		  size_t label_length)
{
	if (rule->process == NULL)
		return part_matches(rule->glob, (struct part){key, key_length},
				    (struct part){label, label_length});
	return part_matches(rule->process, find_part(key, key_length, PART_PROCESS),
			    find_part(label, label_length, PART_PROCESS)) &&
	       part_matches(rule->glob, find_part(key, key_length, PART_THREAD),
			    find_part(label, label_length, PART_THREAD));
}

bool rule_names_one(const struct rule *rule)
{
	return glob_is_literal(rule->glob) && (rule->process == NULL || glob_is_literal(rule->process));
}

void rule_append_group(const struct rule *rule, const char *label, size_t label_length, struct buffer *text)
{
	const struct part cgroup = find_part(label, label_length, PART_CGROUP);
	const struct part process = find_part(label, label_length, PART_PROCESS);
	const struct part thread = find_part(label, label_length, PART_THREAD);

	if (rule->process == NULL) {
		buffer_append(text, label, label_length);
		return;
	}
	buffer_append(text, thread.start, thread.length);
	buffer_append_text(text, " of ");
	buffer_append(text, process.start, process.length);
	buffer_append_text(text, " in ");
	buffer_append(text, cgroup.start, cgroup.length);
}

bool rule_counts_culprit(const struct rule *rule, bool is_itself, const char *key, size_t key_length,
			 const char *label, size_t label_length)
{
	return rule->culprit == NULL || glob_matches(rule->culprit, key, key_length) ||
	       glob_matches(rule->culprit, label, label_length) ||
	       (is_itself && glob_matches(rule->culprit, blame_itself, strlen(blame_itself)));
}

bool rule_counts_cause(const struct rule *rule, enum latency_cause cause)
{
	const char *label = blame_cause_labels[cause];

	return rule->culprit == NULL || glob_matches(rule->culprit, label, strlen(label));
}

bool rule_has_any_culprit(const struct rule *rule)
{
	bool any = rule->culprit == NULL || glob_matches(rule->culprit, blame_itself, strlen(blame_itself));

	for (enum latency_cause cause = 0; cause < LATENCY_CAUSE_COUNT; cause++)
		any |= cause != LATENCY_CAUSE_THREADS && rule_counts_cause(rule, cause);
	return any;
}
