/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparisons in the text of a filter, and what is refused instead of searched for. */
#include "filter_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "column_table.h"
#include "metric/nearest.h"
#include "metric/quantity.h"
#include "view.h"

const struct filter_field_entry filter_fields[FILTER_FIELD_COUNT] = {
#define FILTER_FIELD(id, word, alias, takes, column, value, description)                                     \
	[FILTER_FIELD_##id] = {word, alias, FILTER_TAKES_##takes, column, value, description},
#include "filter_field.def"
#undef FILTER_FIELD
};

/* The first one of each is how it is written. */
static const struct {
	const char *text;
	enum comparison comparison;
} signs[] = {
	{">", COMPARISON_MORE},     {">=", COMPARISON_AT_LEAST}, {"<", COMPARISON_LESS},
	{"<=", COMPARISON_AT_MOST}, {"=", COMPARISON_EQUAL},     {"!=", COMPARISON_DIFFERENT},
	{"==", COMPARISON_EQUAL},
};

static const char sign_list[] = "> >= < <= = !=";

enum {
	SIGN_COUNT = sizeof(signs) / sizeof(signs[0])
};

/* --- comparisons with numbers and words of columns --- */

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

/* A number needs nothing behind it where it has its unit, or the next word is plainly something else. */
static bool takes_next_word(const struct filter_parser *parser)
{
	const char *at = parser->at;
	size_t length;

	if (filter_is_end(parser) || filter_is_joint_next(parser) || filter_is_next(parser, "not") ||
	    strchr("!(/\"", *at) != NULL)
		return false;
	length = filter_word_length(parser, at, false);
	at += length;
	at += strspn(at, " \t");
	return length != 0 && strchr("<>=~", *at) == NULL ? true : *at == '\0';
}

/* Takes a number and its unit, with blanks between them or not. The caller frees the text. */
static char *take_number(struct filter_parser *parser)
{
	const size_t length = filter_word_length(parser, parser->at, true);
	struct buffer text = {0};
	double number;

	buffer_append(&text, parser->at, length);
	parser->at += length;
	if (quantity_parse_number(text.data, text.length, &number) == text.length) {
		const char *behind = parser->at;

		filter_skip_blanks(parser);
		if (takes_next_word(parser)) {
			const size_t unit = filter_word_length(parser, parser->at, false);

			buffer_append_char(&text, ' ');
			buffer_append(&text, parser->at, unit);
			parser->at += unit;
		} else {
			parser->at = behind;
		}
	}
	return buffer_steal(&text);
}

static const char *sign_text(enum comparison comparison)
{
	size_t i = 0;

	while (signs[i].comparison != comparison)
		i++;
	return signs[i].text;
}

/* Sets what a comparison is with: number and unit; what is not a number is a word, which only = and !=
 * compare. */
static int parse_literal(struct filter_parser *parser, const char *name, struct term *term)
{
	const enum ladder ladder = column_ladder(term->column);
	const bool can_be_word = term->comparison == COMPARISON_EQUAL ||
				 term->comparison == COMPARISON_DIFFERENT;
	size_t length = 0;
	const char *unit;
	double factor;
	char *text = NULL;
	int result = 0;

	if (*parser->at == '"') {
		result = filter_take_quoted(parser, &text);
	} else if (!filter_is_end(parser) && !filter_is_joint_next(parser)) {
		text = take_number(parser);
		length = quantity_parse_number(text, strlen(text), &term->number);
	}
	if (result < 0)
		return result;
	if (text == NULL || (length == 0 && !can_be_word)) {
		free(text);
		return error_set(
			parser->error, -EINVAL,
			"'%s %s' needs a number after it, as in cpu%% > 50; in quotes it is searched for",
			name, sign_text(term->comparison));
	}
	if (length == 0) {
		term->literal = LITERAL_WORD;
		term->text = text;
		return 0;
	}
	unit = text + length + strspn(text + length, " ");
	if (strcmp(unit, "%") == 0 && takes_percent(term->column))
		term->literal = LITERAL_PERCENT;
	else if (!quantity_find_unit(ladder, unit, strlen(unit), &factor) || !isfinite(term->number * factor))
		result = refuse_number(text, term->column, name, parser->error);
	else {
		term->literal = *unit != '\0' && ladder == LADDER_NS ? LITERAL_TIME : LITERAL_NUMBER;
		term->number *= factor;
	}
	free(text);
	return result;
}

/* --- comparisons of fields --- */

enum filter_field filter_find_field(const char *name)
{
	for (size_t i = 0; i < FILTER_FIELD_COUNT; i++) {
		const struct filter_field_entry *field = &filter_fields[i];

		if (strcasecmp(name, field->word) == 0 ||
		    (field->alias != NULL && strcasecmp(name, field->alias) == 0))
			return (enum filter_field)i;
	}
	return FILTER_FIELD_COUNT;
}

/* Letters of fs/proc/array.c, task_state_array, and those of older kernels. */
static int check_states(struct term *term, struct error *error)
{
	static const char known[] = "RSDTtZXPIWKx";

	for (char *letter = term->text; *letter != '\0'; letter++) {
		if (strchr(known, *letter) == NULL)
			*letter = (char)toupper((unsigned char)*letter);
		if (strchr(known, *letter) == NULL)
			return error_set(
				error, -EINVAL,
				"'%s' is no state; states are R (running or runnable), S (asleep), D "
				"(uninterruptible), T and t (stopped), Z and X (dead), P and I (idle), or "
				"several for any of them, as in state = RD",
				term->text);
	}
	return 0;
}

static int set_field_text(struct filter_parser *parser, struct term *term)
{
	const size_t length = strlen(term->text);

	term->ignore_case = !filter_has_capital(term->text);
	if (filter_fields[term->field].takes == FILTER_TAKES_LETTERS)
		return check_states(term, parser->error);
	if (strpbrk(term->text, "*?[") == NULL)
		return 0;
	term->glob = glob_compile(term->text, length);
	return term->glob != NULL
		       ? 0
		       : error_set(parser->error, -EINVAL,
				   "'%s' is no glob: * stands for any text, ? for a character, [ab] for one "
				   "of several",
				   term->text);
}

/* Takes a process or thread number: digits alone. */
static int set_field_number(struct filter_parser *parser, struct term *term)
{
	const struct filter_field_entry *field = &filter_fields[term->field];
	char *end;

	errno = 0;
	term->id = strtoull(term->text, &end, 10);
	if (!isdigit((unsigned char)term->text[0]) || *end != '\0' || errno != 0)
		return error_set(parser->error, -EINVAL, "'%s' is no number; %s takes one, as in %s = %s",
				 term->text, field->word, field->word, field->value);
	return 0;
}

static int parse_field(struct filter_parser *parser, struct term *term)
{
	const struct filter_field_entry *field = &filter_fields[term->field];
	int result = 0;

	if (field->takes != FILTER_TAKES_NUMBER && term->comparison != COMPARISON_EQUAL &&
	    term->comparison != COMPARISON_DIFFERENT)
		return error_set(parser->error, -EINVAL, "%s takes = and != only, as in %s = %s", field->word,
				 field->word, field->value);
	if (*parser->at == '"') {
		result = filter_take_quoted(parser, &term->text);
	} else if (!filter_is_end(parser) && !filter_is_joint_next(parser)) {
		const size_t length = filter_word_length(parser, parser->at, true);

		term->text = memory_duplicate_bytes(parser->at, length);
		parser->at += length;
	}
	if (result < 0)
		return result;
	if (term->text == NULL)
		return error_set(
			parser->error, -EINVAL,
			"'%s %s' needs a value after it, as in %s = %s; in quotes it is searched for",
			field->word, sign_text(term->comparison), field->word, field->value);
	return field->takes == FILTER_TAKES_NUMBER ? set_field_number(parser, term)
						   : set_field_text(parser, term);
}

/* --- comparisons --- */

static int refuse_name(struct filter_parser *parser, const char *name)
{
	const char *words[FILTER_FIELD_COUNT], *nearest;
	struct buffer list = {0};
	struct error columns;
	int result;

	for (size_t i = 0; i < FILTER_FIELD_COUNT; i++) {
		words[i] = filter_fields[i].word;
		buffer_append_format(&list, " %s", words[i]);
	}
	nearest = column_nearest(name);
	if (nearest == NULL || strlen(name) < 3)
		nearest = nearest_name(name, words, FILTER_FIELD_COUNT);
	if (nearest != NULL && filter_find_field(nearest) != FILTER_FIELD_COUNT)
		nearest = filter_fields[filter_find_field(nearest)].word;
	column_refuse(name, &columns);
	result = error_set(
		parser->error, -EINVAL,
		"no column '%s'%s%s%s In quotes it is searched for. Conditions on threads and names:%s. %s",
		name, nearest != NULL ? ", did you mean " : ".", nearest != NULL ? nearest : "",
		nearest != NULL ? "?" : "", list.data, strstr(columns.text, "Columns: "));
	buffer_release(&list);
	return result;
}

static int refuse_sign(struct filter_parser *parser, const char *sign, size_t length)
{
	const bool is_like = memchr(sign, '~', length) != NULL;

	return error_set(parser->error, -EINVAL,
			 "'%.*s' is no comparison%s; comparisons are %s, a regular "
			 "expression stands alone: /REGEX/, and a glob behind =: name = web*",
			 (int)length, sign,
			 is_like                                     ? ""
			 : length == 2 && memcmp(sign, "=>", 2) == 0 ? ", did you mean >=?"
			 : length == 2 && memcmp(sign, "=<", 2) == 0 ? ", did you mean <=?"
			 : length == 2 && memcmp(sign, "<>", 2) == 0 ? ", did you mean !=?"
								     : "",
			 sign_list);
}

/* Takes the sign that is next. */
static int take_sign(struct filter_parser *parser, enum comparison *ret_comparison)
{
	const size_t length = strspn(parser->at, "<>=!~");

	for (size_t i = 0; i < SIGN_COUNT; i++) {
		if (strlen(signs[i].text) != length || memcmp(parser->at, signs[i].text, length) != 0)
			continue;
		*ret_comparison = signs[i].comparison;
		parser->at += length;
		return 0;
	}
	return refuse_sign(parser, parser->at, length);
}

bool filter_is_sign_next(const char *at, bool is_behind_column)
{
	if (*at == '<' || *at == '>' || *at == '=' || (at[0] == '!' && at[1] == '='))
		return true;
	return *at == '~' && (is_behind_column || filter_ends_word(at[1]) || at[1] == '=');
}

int filter_parse_comparison(struct filter_parser *parser, const char *name, uint32_t *ret_node)
{
	const size_t length = strlen(name);
	struct term term = {
		.kind = TERM_COMPARISON, .field = filter_find_field(name), .column = COLUMN_COUNT};
	int result;

	if (length == 0)
		return error_set(
			parser->error, -EINVAL,
			"'%.2s' needs a column before it, as in cpu%% > 50; in quotes it is searched for",
			parser->at);
	result = take_sign(parser, &term.comparison);
	if (result < 0)
		return result;
	filter_skip_blanks(parser);
	if (term.field == FILTER_FIELD_COUNT) {
		term.column = column_find(name);
		if (term.column == COLUMN_COUNT)
			return refuse_name(parser, name);
	}
	for (size_t i = 0; term.column != COLUMN_COUNT && i < FILTER_FIELD_COUNT; i++) {
		/* a former title, or the name behind one */
		if (filter_fields[i].column == term.column)
			term.field = (enum filter_field)i;
	}
	if (term.field != FILTER_FIELD_COUNT) {
		term.kind = TERM_FIELD;
		term.column = filter_fields[term.field].column;
		result = parse_field(parser, &term);
	} else if (column_is_looked_up(term.column)) {
		result = error_set(parser->error, -EINVAL,
				   "%s is read for the rows that are shown only: they cannot be chosen by it",
				   column_title(term.column, VIEW_MODE_RATE));
	} else {
		result = parse_literal(parser, name, &term);
	}
	if (result < 0) {
		free(term.text);
		return result;
	}
	term.as_rate = term.kind == TERM_COMPARISON &&
		       (term.literal == LITERAL_PERCENT || name[length - 1] == '%' ||
			(length > 2 && strcasecmp(name + length - 2, "/s") == 0));
	return filter_add_term(parser, &term, ret_node);
}
