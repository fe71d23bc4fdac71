/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparisons in the text of a filter, and what is refused instead of searched for. */
#include "filter_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "column_list.h"
#include "column_name.h"
#include "metric/nearest.h"
#include "metric/quantity.h"
#include "view.h"
#include "window/column.h"

const struct filter_field_entry filter_fields[FILTER_FIELD_COUNT] = {
#define FILTER_FIELD(id, word, alias, takes, column, value, description)                                     \
	[FILTER_FIELD_##id] = {word, alias, FILTER_TAKES_##takes, column, value, description},
#include "filter_field.def"
#undef FILTER_FIELD
};

/* --- comparisons with numbers and words of columns --- */

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

/* Sets what a comparison is with: number and unit; what is not a number is a word, which only = and !=
 * compare. */
static int parse_literal(struct filter_parser *parser, const char *name, struct term *term)
{
	const enum comparison_kind comparison = term->limit.comparison;
	char *text = NULL;
	int result = 0;

	if (*parser->at == '"') {
		result = filter_take_quoted(parser, &text);
		term->is_word = true;
	} else if (!filter_is_end(parser) && !filter_is_joint_next(parser)) {
		text = take_number(parser);
		result = limit_parse(text, strlen(text), name, term->column, &term->limit, parser->error);
		term->is_word = result == -ENOENT;
		result = result == -ENOENT ? 0 : result;
	}
	if (result == 0 && (text == NULL || (term->is_word && comparison != COMPARISON_EQUAL &&
					     comparison != COMPARISON_DIFFERENT)))
		result = error_set(
			parser->error, -EINVAL,
			"'%s %s' needs a number after it, as in cpu%% > 50; in quotes it is searched for",
			name, comparison_sign(comparison));
	if (result == 0 && term->is_word)
		term->text = text;
	else
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

	if (field->takes != FILTER_TAKES_NUMBER && term->limit.comparison != COMPARISON_EQUAL &&
	    term->limit.comparison != COMPARISON_DIFFERENT)
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
			field->word, comparison_sign(term->limit.comparison), field->word, field->value);
	return field->takes == FILTER_TAKES_NUMBER ? set_field_number(parser, term)
						   : set_field_text(parser, term);
}

/* --- comparisons --- */

static int refuse_name(struct filter_parser *parser, const char *name)
{
	struct buffer fields = {0};
	struct error unknown;
	int result;

	column_refuse(name, &unknown);
	for (size_t i = 0; i < FILTER_FIELD_COUNT; i++) {
		buffer_append_format(&fields, " %s", filter_fields[i].word);
		/* one edit */
		if (nearest_distance(name, filter_fields[i].word) <= 2)
			error_set(&unknown, -EINVAL, "no column or metric '%s', did you mean %s?", name,
				  filter_fields[i].word);
	}
	result = error_set(parser->error, -EINVAL,
			   "%s; conditions on threads and names:%s; in quotes a text is searched for",
			   unknown.text, fields.data);
	buffer_release(&fields);
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
			 comparison_list);
}

/* Takes the sign that is next. */
static int take_sign(struct filter_parser *parser, enum comparison_kind *ret_comparison)
{
	const size_t length = strspn(parser->at, "<>=!~");

	if (!comparison_find(parser->at, length, ret_comparison))
		return refuse_sign(parser, parser->at, length);
	parser->at += length;
	return 0;
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
	result = take_sign(parser, &term.limit.comparison);
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
				   column_title(term.column, WINDOW_MODE_RATE));
	} else {
		result = parse_literal(parser, name, &term);
	}
	if (result < 0) {
		free(term.text);
		return result;
	}
	term.as_rate = term.kind == TERM_COMPARISON &&
		       ((!term.is_word && term.limit.kind == LIMIT_PERCENT) || name[length - 1] == '%' ||
			(length > 2 && strcasecmp(name + length - 2, "/s") == 0));
	return filter_add_term(parser, &term, ret_node);
}
