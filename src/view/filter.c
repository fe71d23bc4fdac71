/* SPDX-License-Identifier: GPL-2.0-only */
#include "filter.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "column_table.h"
#include "metric/quantity.h"

enum comparison {
	COMPARISON_AT_LEAST,
	COMPARISON_AT_MOST,
	COMPARISON_MORE,
	COMPARISON_LESS,
	COMPARISON_EQUAL,
	COMPARISON_COUNT,
};

/* Longer signs first, so that ">=" is not taken for ">". */
static const char *const comparison_signs[COMPARISON_COUNT] = {">=", "<=", ">", "<", "="};

/* What is compared with. */
enum literal_kind {
	LITERAL_NUMBER, /* in the unit of the column's amounts */
	LITERAL_TIME,   /* the same, written as a time: of a share of time it is one per second */
	LITERAL_PERCENT,
	LITERAL_WORD,
};

enum term_kind {
	TERM_TEXT,
	TERM_REGEX,
	TERM_COMPARISON,
};

struct term {
	enum term_kind kind;
	bool negated;
	bool ignore_case; /* of TERM_TEXT */
	char *text;       /* of TERM_TEXT and LITERAL_WORD, owned */
	regex_t regex;    /* of TERM_REGEX */
	/* of TERM_COMPARISON: */
	enum column column;
	bool as_rate;
	enum comparison comparison;
	enum literal_kind literal;
	double number;
};

struct filter {
	char *text;
	struct term *terms;
	size_t count;
	size_t capacity;
};

static bool has_capital(const char *text)
{
	for (; *text != '\0'; text++) {
		if (isupper((unsigned char)*text))
			return true;
	}
	return false;
}

static void add_term(struct filter *filter, const struct term *term)
{
	filter->terms = memory_grow(filter->terms, &filter->capacity, filter->count + 1, sizeof(*term));
	filter->terms[filter->count++] = *term;
}

/* Of shares of time and of what is a share anyway. */
static bool takes_percent(enum column column)
{
	const enum unit unit = column_entry(column)->unit;

	return unit == UNIT_NS || unit == UNIT_PERCENT || unit == UNIT_RATIO;
}

static int refuse_number(const char *text, enum column column, const char *name, struct error *error)
{
	const bool percent = takes_percent(column);
	struct buffer valid = {0};
	int result;

	quantity_append_units(column_ladder(column), &valid);
	if (percent)
		buffer_append_text(&valid, "%");
	else if (valid.length != 0)
		valid.data[valid.length -= 2] = '\0';
	result = error_set(error, -EINVAL, "'%s' is not a number with a unit of %s; units are %s", text, name,
			   valid.length != 0 ? valid.data : "none");
	buffer_release(&valid);
	return result;
}

/* Sets what a comparison is with: number and unit; what is not a number is a word, which only = compares. */
static int parse_literal(const char *text, const char *name, struct term *term, struct error *error)
{
	const enum ladder ladder = column_ladder(term->column);
	const size_t length = quantity_parse_number(text, strlen(text), &term->number);
	const char *unit = text + length + strspn(text + length, " ");
	double factor;

	if (length != 0) {
		if (strcmp(unit, "%") == 0 && takes_percent(term->column)) {
			term->literal = LITERAL_PERCENT;
			return 0;
		}
		if (!quantity_find_unit(ladder, unit, strlen(unit), &factor) ||
		    !isfinite(term->number * factor))
			return refuse_number(text, term->column, name, error);
		term->literal = *unit != '\0' && ladder == LADDER_NS ? LITERAL_TIME : LITERAL_NUMBER;
		term->number *= factor;
		return 0;
	}
	if (term->comparison != COMPARISON_EQUAL || *text == '\0')
		return error_set(error, -EINVAL, "%s needs a number after it, as in cpu%% > 50",
				 comparison_signs[term->comparison]);
	term->literal = LITERAL_WORD;
	term->text = memory_duplicate(text);
	return 0;
}

static char *trimmed(const char *text, size_t length)
{
	length = unicode_trim(&text, length);
	return memory_duplicate_bytes(text, length);
}

/* Finds the first comparison sign that stands behind something that could be a column. */
static const char *find_comparison(const char *text, enum comparison *ret_comparison)
{
	const char *sign = strpbrk(text, "<>=");
	/* names of fields of schedulers have dots */
	const char *others = strncasecmp(text, "scx.", 4) == 0 ? "_%/ ." : "_%/ ";

	if (sign == NULL || sign == text)
		return NULL;
	for (const char *p = text; p < sign; p++) {
		if (!isalnum((unsigned char)*p) && strchr(others, *p) == NULL)
			return NULL;
	}
	for (int i = 0; i < COMPARISON_COUNT; i++) {
		if (strncmp(sign, comparison_signs[i], strlen(comparison_signs[i])) == 0) {
			*ret_comparison = (enum comparison)i;
			return sign;
		}
	}
	return NULL;
}

static int parse_comparison(struct filter *filter, const char *text, const char *sign,
			    enum comparison comparison, struct error *error)
{
	char *name = trimmed(text, (size_t)(sign - text));
	const char *behind = sign + strlen(comparison_signs[comparison]);
	char *value = trimmed(behind, strlen(behind));
	size_t length = strlen(name);
	struct term term = {
		.kind = TERM_COMPARISON,
		.column = column_find(name),
		.comparison = comparison,
	};
	int result = term.column == COLUMN_COUNT ? column_refuse(name, error)
						 : parse_literal(value, name, &term, error);

	if (result == 0) {
		term.as_rate = term.literal == LITERAL_PERCENT || name[length - 1] == '%' ||
			       (length > 2 && strcasecmp(name + length - 2, "/s") == 0);
		add_term(filter, &term);
	}
	free(name);
	free(value);
	return result;
}

/* Behind a bracket expression that begins at `text`. */
static const char *skip_bracket(const char *text)
{
	text += text[1] == '^' ? 2 : 1;
	if (*text == ']')
		text++;
	while (*text != '\0' && *text != ']')
		text++;
	return *text == ']' ? text + 1 : text;
}

/*
 * Whether the C library would need much memory for an expression: it writes each repetition out, so that one
 * of a repetition multiplies.
 */
static bool is_vast(const char *pattern)
{
	struct {
		double before, last; /* how many atoms there are before the last one, and in it */
	} levels[32] = {{0}}, *level = levels;

	while (*pattern != '\0') {
		unsigned long most;
		double size = 1;
		char *end;

		switch (*pattern) {
		case '+':
			level->last *= 2;
			pattern++;
			continue;
		case '{':
			most = strtoul(pattern + 1, &end, 10);
			if (*end == ',' && end[1] == '}') {
				most++;
				end++;
			} else if (*end == ',') {
				most = strtoul(end + 1, &end, 10);
			}
			level->last *= most > 1 ? (double)most : 1;
			pattern = *end == '}' ? end + 1 : pattern + 1;
			continue;
		case '(':
			if (++level == levels + sizeof(levels) / sizeof(levels[0]))
				return true;
			level->before = level->last = 0;
			pattern++;
			continue;
		case ')':
			if (level != levels) {
				size += level->before + level->last;
				level--;
			}
			pattern++;
			break;
		case '[':
			pattern = skip_bracket(pattern);
			break;
		case '\\':
			pattern += pattern[1] != '\0' ? 2 : 1;
			break;
		default:
			pattern++;
		}
		level->before += level->last;
		level->last = size;
	}
	/* an open parenthesis is refused anyway */
	return level->before + level->last > 10000;
}

static int parse_regex(struct filter *filter, const char *pattern, bool negated, struct error *error)
{
	struct term term = {.kind = TERM_REGEX, .negated = negated};
	char reason[128];
	int flags = REG_EXTENDED | REG_NOSUB | (has_capital(pattern) ? 0 : REG_ICASE);
	int result;

	if (is_vast(pattern))
		return error_set(
			error, -EINVAL,
			"/%s/ repeats repetitions so often that it needs too much memory; use fewer of "
			"+ and {}",
			pattern);
	result = regcomp(&term.regex, pattern, flags);
	if (result != 0) {
		regerror(result, &term.regex, reason, sizeof(reason));
		return error_set(error, -EINVAL, "/%s/ is not a regular expression: %s", pattern, reason);
	}
	add_term(filter, &term);
	return 0;
}

static int parse_plain(struct filter *filter, const char *text, struct error *error)
{
	enum comparison comparison;
	const char *sign = find_comparison(text, &comparison);
	bool negated = text[0] == '!';
	struct term term = {.kind = TERM_TEXT, .negated = negated};

	if (sign != NULL)
		return parse_comparison(filter, text, sign, comparison, error);
	if (negated && find_comparison(text + 1, &comparison) != NULL)
		return error_set(error, -EINVAL, "'%s': a comparison takes no '!'; reverse its sign", text);
	if (text[negated] == '\0')
		return error_set(error, -EINVAL,
				 "an empty filter; type part of a name, /regex/ or cpu%% > 50");
	term.text = memory_duplicate(text + negated);
	term.ignore_case = !has_capital(term.text);
	add_term(filter, &term);
	return 0;
}

/* The end of the regex that begins behind the '/' at `text`, or NULL. */
static const char *regex_end(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\\' && text[1] != '\0')
			text++;
		else if (*text == '/')
			return text;
	}
	return NULL;
}

/* Parses the term at `text`; `*ret_rest` gets what follows it, NULL at the end. */
static int parse_term(struct filter *filter, const char *text, const char **ret_rest, struct error *error)
{
	static const char joint[] = " and ";
	bool negated = text[0] == '!';
	const char *end;
	char *part;
	int result;

	if (text[negated] == '/') {
		const char *pattern = text + negated + 1;

		end = regex_end(pattern);
		if (end == NULL)
			return error_set(error, -EINVAL, "the regular expression %s has no / at its end",
					 text + negated);
		part = memory_duplicate_bytes(pattern, (size_t)(end - pattern));
		result = parse_regex(filter, part, negated, error);
		free(part);
		end++;
		if (result == 0 && *end != '\0' && strncmp(end, joint, sizeof(joint) - 1) != 0)
			return error_set(error, -EINVAL, "'%s' after a regular expression; join with ' and '",
					 end);
		*ret_rest = *end != '\0' ? end + sizeof(joint) - 1 : NULL;
		return result;
	}
	end = strstr(text, joint);
	part = trimmed(text, end != NULL ? (size_t)(end - text) : strlen(text));
	result = parse_plain(filter, part, error);
	free(part);
	*ret_rest = end != NULL ? end + sizeof(joint) - 1 : NULL;
	return result;
}

struct filter *filter_parse(const char *text, struct error *error)
{
	struct filter *filter = memory_allocate_zero(1, sizeof(*filter));
	char *clean = trimmed(text, strlen(text));
	const char *rest = clean;

	filter->text = memory_duplicate(text);
	while (rest != NULL) {
		while (*rest == ' ')
			rest++;
		if (parse_term(filter, rest, &rest, error) < 0) {
			filter_release(filter);
			filter = NULL;
			break;
		}
	}
	free(clean);
	return filter;
}

void filter_release(struct filter *filter)
{
	if (filter == NULL)
		return;
	for (size_t i = 0; i < filter->count; i++) {
		struct term *term = &filter->terms[i];

		free(term->text);
		if (term->kind == TERM_REGEX)
			regfree(&term->regex);
	}
	free(filter->terms);
	free(filter->text);
	free(filter);
}

const char *filter_text(const struct filter *filter)
{
	return filter->text;
}

enum column filter_column(const struct filter *filter, size_t index)
{
	for (size_t i = 0; i < filter->count; i++) {
		if (filter->terms[i].kind == TERM_COMPARISON && index-- == 0)
			return filter->terms[i].column;
	}
	return COLUMN_COUNT;
}

static bool contains(const struct term *term, const char *label, size_t length)
{
	size_t wanted = strlen(term->text);

	for (size_t i = 0; i + wanted <= length; i++) {
		if (term->ignore_case ? strncasecmp(label + i, term->text, wanted) == 0
				      : memcmp(label + i, term->text, wanted) == 0)
			return true;
	}
	return false;
}

/* The label may hold NULs between its parts: the expression sees blanks. */
static bool regex_matches(const struct term *term, const char *label, size_t length)
{
	char *text = memory_duplicate_bytes(label, length);
	bool matches;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
	}
	matches = regexec(&term->regex, text, 0, NULL, 0) == 0;
	free(text);
	return matches;
}

/* The number compared with in the unit of the cell. */
static double number_in(const struct term *term, enum unit unit)
{
	if (term->literal == LITERAL_TIME && unit == UNIT_PERCENT)
		return term->number / NS_PER_S * 100.0;
	if (term->literal == LITERAL_PERCENT && unit == UNIT_RATIO)
		return term->number / 100.0;
	return term->number;
}

/* Compares a range, low to high; it equals each value in it. */
static bool compare(double low, double high, enum comparison comparison, double value)
{
	switch (comparison) {
	case COMPARISON_AT_LEAST:
		return high >= value;
	case COMPARISON_AT_MOST:
		return low <= value;
	case COMPARISON_MORE:
		return high > value;
	case COMPARISON_LESS:
		return low < value;
	default:
		return low <= value && value <= high;
	}
}

/* A word, with or without the mark that not all threads agree. */
static bool word_matches(const struct cell *cell, const char *word)
{
	size_t length;

	if (cell->text == NULL)
		return false;
	length = strlen(cell->text);
	if (length > 0 && cell->text[length - 1] == '*')
		length--;
	return strlen(word) == length && strncasecmp(cell->text, word, length) == 0;
}

static bool comparison_matches(const struct term *term, const struct cell *cell)
{
	double low, high;

	if (cell == NULL || cell->state != CELL_VALUE)
		return false;
	if (term->literal == LITERAL_WORD)
		return word_matches(cell, term->text);
	switch (cell->form) {
	case CELL_FORM_INTEGER:
		low = high = (double)cell->value.integer;
		break;
	case CELL_FORM_REAL:
		low = high = cell->value.real;
		break;
	case CELL_FORM_RANGE:
		low = (double)cell->value.range.low;
		high = (double)cell->value.range.high;
		break;
	default:
		return false;
	}
	return compare(low, high, term->comparison, number_in(term, cell->unit));
}

static bool term_matches(const struct term *term, const char *label, size_t label_length,
			 filter_cell_of *cell_of, void *context)
{
	switch (term->kind) {
	case TERM_TEXT:
		return contains(term, label, label_length) != term->negated;
	case TERM_REGEX:
		return regex_matches(term, label, label_length) != term->negated;
	case TERM_COMPARISON:
		return comparison_matches(term, cell_of(context, term->column, term->as_rate));
	}
	return false;
}

bool filter_matches(const struct filter *filter, const char *label, size_t label_length,
		    filter_cell_of *cell_of, void *context)
{
	for (size_t i = 0; i < filter->count; i++) {
		if (!term_matches(&filter->terms[i], label, label_length, cell_of, context))
			return false;
	}
	return true;
}
