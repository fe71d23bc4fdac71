/* SPDX-License-Identifier: GPL-2.0-only */
/* From the text of a filter to a tree of terms. */
#include "column_name.h"
#include "filter_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/memory.h"

enum {
	DEPTH_MAX = 32, /* of parentheses and negations in one another */
};

static int parse_alternatives(struct filter_parser *parser, uint32_t *ret_node);

/* --- the tree --- */

static uint32_t add_node(struct filter_parser *parser, struct node node)
{
	struct filter *filter = parser->filter;

	*MEMORY_APPEND(filter->nodes, filter->node_count, filter->node_capacity) = node;
	return (uint32_t)(filter->node_count - 1);
}

int filter_add_term(struct filter_parser *parser, const struct term *term, uint32_t *ret_node)
{
	struct filter *filter = parser->filter;

	*MEMORY_APPEND(filter->terms, filter->count, filter->capacity) = *term;
	*ret_node = add_node(parser, (struct node){.kind = NODE_TERM,
						   .term = (uint32_t)(filter->count - 1),
						   .child = NODE_NONE,
						   .next = NODE_NONE});
	if (filter->count <= FILTER_TERMS_MAX)
		return 0;
	return error_set(parser->error, -EINVAL, "a filter has at most %d conditions", FILTER_TERMS_MAX);
}

/* --- parts --- */

static int add_text(struct filter_parser *parser, char *text, uint32_t *ret_node)
{
	const struct term term = {.kind = TERM_TEXT, .text = text, .ignore_case = !filter_has_capital(text)};

	return filter_add_term(parser, &term, ret_node);
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

static int parse_regex(struct filter_parser *parser, uint32_t *ret_node)
{
	const char *begin = parser->at + 1, *end = regex_end(begin);
	struct term term = {.kind = TERM_REGEX};
	char *pattern;
	int result;

	if (end == NULL)
		return error_set(
			parser->error, -EINVAL,
			"the regular expression %s has no / at its end; a path is searched for in quotes",
			parser->at);
	pattern = memory_duplicate_bytes(begin, (size_t)(end - begin));
	result = filter_compile_regex(pattern, !filter_has_capital(pattern), &term.regex, parser->error);
	free(pattern);
	if (result < 0)
		return result;
	parser->at = end + 1;
	result = filter_add_term(parser, &term, ret_node);
	if (result == 0 && !filter_is_end(parser) && !filter_ends_word(*parser->at))
		result = error_set(parser->error, -EINVAL,
				   "'%s' after a regular expression; join with ' and '", parser->at);
	return result;
}

static int parse_word(struct filter_parser *parser, uint32_t *ret_node)
{
	size_t length = filter_word_length(parser, parser->at, false);
	const char *tilde = memchr(parser->at, '~', length);
	char *word;
	int result;

	if (tilde != NULL) {
		word = memory_duplicate_bytes(parser->at, (size_t)(tilde - parser->at));
		if (filter_find_field(word) != FILTER_FIELD_COUNT || column_find(word) != COLUMN_COUNT)
			length = (size_t)(tilde - parser->at);
		free(word);
	}
	word = memory_duplicate_bytes(parser->at, length);
	if (length == 1 && *word == ')') {
		free(word);
		return error_set(parser->error, -EINVAL, "there is no ( for this )");
	}
	parser->at += length;
	filter_skip_blanks(parser);
	if (filter_is_sign_next(parser->at, filter_find_field(word) != FILTER_FIELD_COUNT ||
						    column_find(word) != COLUMN_COUNT)) {
		result = filter_parse_comparison(parser, word, ret_node);
		free(word);
		return result;
	}
	return add_text(parser, word, ret_node);
}

static int parse_group(struct filter_parser *parser, uint32_t *ret_node)
{
	int result;

	parser->at++;
	parser->groups++;
	filter_skip_blanks(parser);
	if (*parser->at == ')')
		return error_set(parser->error, -EINVAL, "there is nothing between ( and )");
	result = parse_alternatives(parser, ret_node);
	if (result < 0)
		return result;
	if (*parser->at != ')')
		return error_set(parser->error, -EINVAL, "there is no ) for a (");
	parser->at++;
	parser->groups--;
	return 0;
}

static int parse_part(struct filter_parser *parser, uint32_t *ret_node);

static int parse_negation(struct filter_parser *parser, uint32_t *ret_node)
{
	uint32_t child = NODE_NONE;
	int result = parse_part(parser, &child);

	if (result == 0)
		*ret_node = add_node(parser,
				     (struct node){.kind = NODE_NOT, .child = child, .next = NODE_NONE});
	return result;
}

static int parse_kind(struct filter_parser *parser, uint32_t *ret_node)
{
	char *text;
	int result;

	filter_skip_blanks(parser);
	if (filter_is_end(parser))
		return error_set(parser->error, -EINVAL,
				 "an empty filter; type part of a name, /regex/, user = root or cpu%% > 50");
	if (filter_is_joint_next(parser))
		return error_set(parser->error, -EINVAL,
				 "'%.*s' needs a condition before and after it; in quotes it is searched for",
				 filter_is_next(parser, "or") ? 2 : 3, parser->at);
	if (filter_is_next(parser, "not")) {
		parser->at += strlen("not");
		return parse_negation(parser, ret_node);
	}
	if (parser->at[0] == '!' && parser->at[1] != '=') {
		parser->at++;
		return parse_negation(parser, ret_node);
	}
	switch (*parser->at) {
	case '(':
		return parse_group(parser, ret_node);
	case '/':
		return parse_regex(parser, ret_node);
	case '"':
		result = filter_take_quoted(parser, &text);
		return result < 0 ? result : add_text(parser, text, ret_node);
	default:
		return parse_word(parser, ret_node);
	}
}

static int parse_part(struct filter_parser *parser, uint32_t *ret_node)
{
	const char *begin;
	struct node *node;
	int result;

	if (parser->depth == DEPTH_MAX)
		return error_set(parser->error, -EINVAL,
				 "a filter has at most %d parentheses and negations in one another",
				 DEPTH_MAX);
	parser->depth++;
	filter_skip_blanks(parser);
	begin = parser->at;
	result = parse_kind(parser, ret_node);
	parser->depth--;
	if (result < 0)
		return result;
	node = &parser->filter->nodes[*ret_node];
	node->begin = (size_t)(begin - parser->filter->text);
	node->end = (size_t)(parser->at - parser->filter->text);
	while (node->end > node->begin && filter_ends_word(parser->filter->text[node->end - 1]))
		node->end--;
	return 0;
}

/* Parts as children of a node of a kind, or the only part itself. */
struct chain {
	enum node_kind kind;
	uint32_t node, last;
};

static void add_link(struct filter_parser *parser, struct chain *chain, uint32_t part)
{
	if (chain->node == NODE_NONE) {
		chain->node = chain->last = part;
		return;
	}
	if (chain->node == chain->last)
		chain->node = add_node(
			parser, (struct node){.kind = chain->kind, .child = chain->node, .next = NODE_NONE});
	parser->filter->nodes[chain->last].next = part;
	chain->last = part;
}

/* Conditions of which all have to hold, with or without the word between them. */
static int parse_conditions(struct filter_parser *parser, uint32_t *ret_node)
{
	struct chain chain = {.kind = NODE_AND, .node = NODE_NONE};

	do {
		uint32_t part = NODE_NONE;
		int result = parse_part(parser, &part);

		if (result < 0)
			return result;
		add_link(parser, &chain, part);
		filter_skip_blanks(parser);
		if (filter_is_next(parser, "and")) {
			parser->at += strlen("and");
			filter_skip_blanks(parser);
			if (filter_is_end(parser) || filter_is_next(parser, "or"))
				return error_set(
					parser->error, -EINVAL,
					"'and' needs a condition before and after it; in quotes it is "
					"searched for");
		}
	} while (!filter_is_end(parser) && !filter_is_next(parser, "or"));
	*ret_node = chain.node;
	return 0;
}

static int parse_alternatives(struct filter_parser *parser, uint32_t *ret_node)
{
	struct chain chain = {.kind = NODE_OR, .node = NODE_NONE};

	for (;;) {
		uint32_t part = NODE_NONE;
		int result = parse_conditions(parser, &part);

		if (result < 0)
			return result;
		add_link(parser, &chain, part);
		if (!filter_is_next(parser, "or"))
			break;
		parser->at += strlen("or");
		filter_skip_blanks(parser);
		if (filter_is_end(parser))
			return error_set(
				parser->error, -EINVAL,
				"'or' needs a condition before and after it; in quotes it is searched for");
	}
	*ret_node = chain.node;
	return 0;
}

/* --- the whole --- */

static bool is_of_threads(const struct filter *filter, uint32_t node)
{
	const struct node *of = &filter->nodes[node];

	if (of->kind == NODE_TERM)
		return term_is_of_threads(&filter->terms[of->term]);
	for (uint32_t child = of->child; child != NODE_NONE; child = filter->nodes[child].next) {
		if (!is_of_threads(filter, child))
			return false;
	}
	return true;
}

static void add_conjuncts(struct filter *filter, uint32_t node)
{
	const struct node *of = &filter->nodes[node];

	if (of->kind != NODE_AND) {
		*MEMORY_APPEND(filter->conjuncts, filter->conjunct_count,
			       filter->conjunct_capacity) = (struct conjunct){node,
									      is_of_threads(filter, node)};
		return;
	}
	for (uint32_t child = of->child; child != NODE_NONE; child = filter->nodes[child].next)
		add_conjuncts(filter, child);
}

struct filter *filter_parse(const char *text, struct error *error)
{
	struct filter *filter = memory_allocate_zero(1, sizeof(*filter));
	struct filter_parser parser = {.filter = filter, .error = error};
	uint32_t root = NODE_NONE;

	parser.at = filter->text = memory_duplicate(text);
	if (parse_alternatives(&parser, &root) == 0) {
		filter->root = root;
		add_conjuncts(filter, root);
	} else {
		filter_release(filter);
		filter = NULL;
	}
	return filter;
}

void filter_release(struct filter *filter)
{
	if (filter == NULL)
		return;
	for (size_t i = 0; i < filter->count; i++) {
		struct term *term = &filter->terms[i];

		free(term->text);
		glob_release(term->glob);
		if (term->kind == TERM_REGEX)
			regfree(&term->regex);
	}
	free(filter->terms);
	free(filter->nodes);
	free(filter->conjuncts);
	free(filter->text);
	free(filter);
}

/* Appends a text, in parentheses if it consists of alternatives. */
static void append_part(struct buffer *text, const char *part, bool is_alone)
{
	struct filter *filter = is_alone ? NULL : filter_parse(part, NULL);
	const bool has_alternatives = filter != NULL && filter->conjunct_count == 1 &&
				      filter->nodes[filter->conjuncts[0].node].kind == NODE_OR;

	buffer_append_format(text, has_alternatives ? "(%s)" : "%s", part);
	filter_release(filter);
}

void filter_append(struct buffer *text, const char *more)
{
	const bool is_alone = text->length == 0;
	char *before = buffer_steal(text);

	if (!is_alone) {
		append_part(text, before, false);
		buffer_append_text(text, " and ");
	}
	append_part(text, more, is_alone);
	free(before);
}

void filter_append_without(const struct filter *filter, enum filter_field field, struct buffer *text)
{
	const struct node *root = &filter->nodes[filter->root];
	const bool is_list = root->kind == NODE_AND;
	bool is_first = true;

	for (uint32_t index = is_list ? root->child : filter->root; index != NODE_NONE;
	     index = is_list ? filter->nodes[index].next : NODE_NONE) {
		const struct node *node = &filter->nodes[index];
		const struct term *term = &filter->terms[node->term];

		if (node->kind == NODE_TERM && term->kind == TERM_FIELD && term->field == field)
			continue;
		if (!is_first)
			buffer_append_text(text, " and ");
		is_first = false;
		/* alternatives that are the whole are no part of it */
		if (index == filter->root)
			buffer_append_text(text, filter->text);
		else
			buffer_append(text, filter->text + node->begin, node->end - node->begin);
	}
}

/* Appends a value, in quotes where it has to be. */
static void append_value(struct buffer *text, const char *value)
{
	const bool is_plain = *value != '\0' && strpbrk(value, " \t\"\\()") == NULL &&
			      strcasecmp(value, "and") != 0 && strcasecmp(value, "or") != 0;

	if (is_plain) {
		buffer_append_text(text, value);
		return;
	}
	buffer_append_char(text, '"');
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\')
			buffer_append_char(text, '\\');
		buffer_append_char(text, *value);
	}
	buffer_append_char(text, '"');
}

void filter_append_condition(struct buffer *text, enum filter_field field, const char *value)
{
	struct buffer condition = {0};

	buffer_append_format(&condition, "%s = ", filter_fields[field].word);
	append_value(&condition, value);
	filter_append(text, condition.data);
	buffer_release(&condition);
}
