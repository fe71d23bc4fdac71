/* SPDX-License-Identifier: GPL-2.0-only */
/* Which rows a filter lets through. */
#include "filter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "filter_internal.h"

const char *filter_text(const struct filter *filter)
{
	return filter->text;
}

enum column filter_column(const struct filter *filter, size_t index)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct term *term = &filter->terms[i];

		if ((term->kind == TERM_COMPARISON || term->kind == TERM_FIELD) &&
		    term->column != COLUMN_COUNT && index-- == 0)
			return term->column;
	}
	return COLUMN_COUNT;
}

bool filter_compares(const struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		if (filter->terms[i].kind == TERM_COMPARISON)
			return true;
	}
	return false;
}

/* --- names --- */

static bool contains(const struct term *term, const char *name, size_t length)
{
	const size_t wanted = strlen(term->text);

	for (size_t i = 0; i + wanted <= length; i++) {
		if (term->ignore_case ? strncasecmp(name + i, term->text, wanted) == 0
				      : memcmp(name + i, term->text, wanted) == 0)
			return true;
	}
	return false;
}

/* A copy with blanks instead of NULs and, where case does not count, without capitals of ASCII. */
static char *prepare(const char *name, size_t length, bool ignore_case)
{
	char *text = memory_duplicate_bytes(name, length);

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
		else if (ignore_case && text[i] >= 'A' && text[i] <= 'Z')
			text[i] = (char)(text[i] - 'A' + 'a');
	}
	return text;
}

static bool equals(const struct term *term, const char *name, size_t length)
{
	bool result;
	char *text;

	if (term->glob == NULL)
		return strlen(term->text) == length &&
		       (term->ignore_case ? strncasecmp(name, term->text, length) == 0
					  : memcmp(name, term->text, length) == 0);
	text = prepare(name, length, term->ignore_case);
	result = glob_matches(term->glob, text, length);
	free(text);
	return result;
}

bool term_matches_name(const struct term *term, const char *name, size_t length)
{
	bool result;
	char *text;

	switch (term->kind) {
	case TERM_TEXT:
		return contains(term, name, length);
	case TERM_FIELD:
		return equals(term, name, length);
	case TERM_REGEX:
		text = prepare(name, length, false);
		result = regexec(&term->regex, text, 0, NULL, 0) == 0;
		free(text);
		return result;
	default:
		return false;
	}
}

/* --- cells --- */

/* A word, with or without the mark that not all threads agree. */
static bool word_matches(const char *text, const char *word)
{
	size_t length = strlen(text);

	if (length > 0 && text[length - 1] == '*')
		length--;
	return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static enum answer compare_cell(const struct term *term, const struct cell *cell)
{
	bool holds, known;

	if (cell == NULL)
		return ANSWER_UNKNOWN;
	if (term->is_word) {
		known = cell->state == CELL_VALUE && cell->text != NULL;
		holds = known &&
			word_matches(cell->text, term->text) == (term->limit.comparison == COMPARISON_EQUAL);
	} else {
		holds = limit_holds(&term->limit, cell, &known);
	}
	return !known ? ANSWER_UNKNOWN : holds ? ANSWER_YES : ANSWER_NO;
}

/* --- rows --- */

static enum answer ask_term(const struct filter *filter, size_t index, const struct filter_row *row)
{
	const struct term *term = &filter->terms[index];
	bool matches = false;

	if (term->kind == TERM_COMPARISON)
		return compare_cell(term, row->cell_of(row->context, term->column, term->as_rate));
	if (!term_is_of_threads(term))
		matches = term_matches_name(term, row->label, row->label_length);
	if (!matches && row->has_member != NULL)
		matches = row->has_member(row->context, index);
	else if (term_is_of_threads(term))
		return ANSWER_UNKNOWN;
	/* the sign of a field of threads is part of what is asked about each of them */
	if (term->kind == TERM_FIELD && !term_is_of_threads(term))
		matches = matches == (term->limit.comparison == COMPARISON_EQUAL);
	return matches ? ANSWER_YES : ANSWER_NO;
}

static enum answer ask_node(const struct filter *filter, uint32_t index, const struct filter_row *row)
{
	const struct node *node = &filter->nodes[index];
	enum answer answer = node->kind == NODE_AND ? ANSWER_YES : ANSWER_NO;

	if (node->kind == NODE_TERM)
		return ask_term(filter, node->term, row);
	if (node->kind == NODE_NOT)
		return answer_not(ask_node(filter, node->child, row));
	for (uint32_t child = node->child; child != NODE_NONE; child = filter->nodes[child].next) {
		const enum answer part = ask_node(filter, child, row);

		if ((part < answer) == (node->kind == NODE_AND))
			answer = part;
		if (answer == (node->kind == NODE_AND ? ANSWER_NO : ANSWER_YES))
			break;
	}
	return answer;
}

bool filter_matches(const struct filter *filter, const struct filter_row *row)
{
	for (size_t i = 0; i < filter->conjunct_count; i++) {
		if (!filter->conjuncts[i].narrows &&
		    ask_node(filter, filter->conjuncts[i].node, row) != ANSWER_YES)
			return false;
	}
	return true;
}
