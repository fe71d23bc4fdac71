/* SPDX-License-Identifier: GPL-2.0-only */
/* From the text of a filter to a tree of terms. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "column_list.h"
#include "column_name.h"
#include "filter_internal.h"
#include "metric/nearest.h"
#include "metric/quantity.h"
#include "view.h"
#include "window/column.h"

enum {
	DEPTH_MAX = 32, /* of parentheses and negations in one another */
};

struct parser {
	struct filter *filter;
	const char *at;      /* the rest of the text */
	unsigned int depth;  /* nested calls of parse_part() */
	unsigned int groups; /* parentheses that are open */
	struct error *error;
};

const struct filter_field_entry filter_fields[FILTER_FIELD_COUNT] = {
#define FILTER_FIELD(id, word, alias, takes, column, value, description)                                     \
	[FILTER_FIELD_##id] = {word, alias, FILTER_TAKES_##takes, column, value, description},
#include "filter_field.def"
#undef FILTER_FIELD
};

/* --- the tree --- */

static uint32_t add_node(struct parser *parser, struct node node)
{
	struct filter *filter = parser->filter;

	*MEMORY_APPEND(filter->nodes, filter->node_count, filter->node_capacity) = node;
	return (uint32_t)(filter->node_count - 1);
}

static int add_term(struct parser *parser, const struct term *term, uint32_t *ret_node)
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

/* --- words --- */

static void skip_blanks(struct parser *parser)
{
	while (*parser->at == ' ' || *parser->at == '\t')
		parser->at++;
}

static bool ends_word(char character)
{
	return character == '\0' || character == ' ' || character == '\t';
}

/* Whether this word, in small letters or capitals, comes next. */
static bool is_next(const struct parser *parser, const char *word)
{
	const size_t length = strlen(word);
	const char end = strncasecmp(parser->at, word, length) == 0 ? parser->at[length] : 'x';

	return (ends_word(end) || end == '(' || (end == ')' && parser->groups != 0)) &&
	       !isupper((unsigned char)parser->at[0]) == !isupper((unsigned char)parser->at[1]);
}

static bool is_joint_next(const struct parser *parser)
{
	return is_next(parser, "and") || is_next(parser, "or");
}

static bool is_end(const struct parser *parser)
{
	return *parser->at == '\0' || (*parser->at == ')' && parser->groups != 0);
}

/*
 * Length of the word at `text`: up to a blank, a parenthesis that closes one outside of the word, or, unless
 * it is a value, what could be a sign of comparison.
 */
static size_t word_length(const struct parser *parser, const char *text, bool is_value)
{
	unsigned int open = 0;
	size_t length = 0;

	for (; !ends_word(text[length]); length++) {
		const char character = text[length];

		if (character == '(')
			open++;
		else if (character == ')' && open != 0)
			open--;
		else if (character == ')' && parser->groups != 0)
			break;
		if (!is_value &&
		    (strchr("<>=", character) != NULL || (character == '!' && text[length + 1] == '=')))
			break;
	}
	return length;
}

/*
 * Parses a quoted text, in which \" and \\ are escapes. The caller frees it. Returns -EINVAL with a sentence
 * if the text is empty or unterminated.
 */
static int take_quoted(struct parser *parser, char **ret_text)
{
	struct buffer text = {0};
	const char *at = parser->at + 1;

	for (; *at != '\0' && *at != '"'; at++) {
		if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
			at++;
		buffer_append_char(&text, *at);
	}
	if (*at != '"' || text.length == 0) {
		buffer_release(&text);
		return error_set(parser->error, -EINVAL,
				 *at != '"' ? "%s has no \" at its end" : "%s is an empty filter",
				 parser->at);
	}
	parser->at = at + 1;
	*ret_text = buffer_steal(&text);
	return 0;
}

/* --- regular expressions --- */

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
 * Whether the C library would need much time or memory for an expression: it writes each repetition out, one
 * of a repetition multiplies, and then looks for a way from each copy to each other one.
 */
static bool is_vast(const char *pattern)
{
	struct {
		double before, last; /* weight of the atoms before the last one, and of that */
		bool any_repeated, last_repeated;
	} levels[32] = {{0}}, *level = levels;
	double sum = 0;

	while (*pattern != '\0') {
		double weight = 1, most = 0;
		bool repeated = false;
		char *end;

		switch (*pattern) {
		case '+':
		case '*':
		case '?': /* a repetition behind it repeats all of it */
			most = 2;
			pattern++;
			break;
		case '{':
			most = (double)strtoul(pattern + 1, &end, 10);
			if (*end == ',' && end[1] == '}') {
				most++;
				end++;
			} else if (*end == ',') {
				/* each of them may be absent */
				most = 2 * (double)strtoul(end + 1, &end, 10);
			}
			most = most > 1 ? most : 1;
			pattern = *end == '}' ? end + 1 : pattern + 1;
			break;
		case '(':
			if (++level == levels + sizeof(levels) / sizeof(levels[0]))
				return true;
			level->before = level->last = 0;
			level->any_repeated = level->last_repeated = false;
			pattern++;
			continue;
		case ')':
			if (level != levels) {
				weight += level->before + level->last;
				repeated = level->any_repeated;
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
		if (most != 0) {
			level->last *= level->last_repeated ? most * most : most;
			level->any_repeated = level->last_repeated = true;
			continue;
		}
		level->before += level->last;
		level->last = weight;
		level->last_repeated = repeated;
		level->any_repeated |= repeated;
	}
	/* an open parenthesis is refused, but only when what is before it has been written out */
	for (size_t i = 0; i <= (size_t)(level - levels); i++)
		sum += levels[i].before + levels[i].last;
	return sum > 5000;
}

static int compile_regex(const char *pattern, bool ignore_case, regex_t *ret_regex, struct error *error)
{
	char reason[128];
	locale_t before;
	int result;

	if (is_vast(pattern))
		return error_set(
			error, -EINVAL,
			"/%s/ repeats repetitions so often that it takes too much time or memory; use "
			"fewer of + * ? and {}",
			pattern);
	before = uselocale(unicode_locale());
	result = regcomp(ret_regex, pattern, REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
	uselocale(before);
	if (result == 0)
		return 0;
	regerror(result, ret_regex, reason, sizeof(reason));
	return error_set(error, -EINVAL, "/%s/ is not a regular expression: %s", pattern, reason);
}

/* --- comparisons with numbers and words of columns --- */

/* A number needs nothing behind it where it has its unit, or the next word is plainly something else. */
static bool takes_next_word(const struct parser *parser)
{
	const char *at = parser->at;
	size_t length;

	if (is_end(parser) || is_joint_next(parser) || is_next(parser, "not") || strchr("!(/\"", *at) != NULL)
		return false;
	length = word_length(parser, at, false);
	at += length;
	at += strspn(at, " \t");
	return *at == '\0' || (length != 0 && strchr("<>=~", *at) == NULL && !(at[0] == '!' && at[1] == '='));
}

/* Takes a number and its unit, with blanks between them or not. The caller frees the text. */
static char *take_number(struct parser *parser)
{
	const size_t length = word_length(parser, parser->at, true);
	struct buffer text = {0};
	double number;

	buffer_append(&text, parser->at, length);
	parser->at += length;
	if (quantity_parse_number(text.data, text.length, &number) == text.length) {
		const char *behind = parser->at;

		skip_blanks(parser);
		if (takes_next_word(parser)) {
			const size_t unit = word_length(parser, parser->at, false);

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
static int parse_literal(struct parser *parser, const char *name, struct term *term)
{
	const enum comparison_kind comparison = term->limit.comparison;
	char *text = NULL;
	int result = 0;

	if (*parser->at == '"') {
		result = take_quoted(parser, &text);
		term->is_word = true;
	} else if (!is_end(parser) && !is_joint_next(parser)) {
		text = take_number(parser);
		result = limit_parse(text, strlen(text), name, term->column, &term->limit, parser->error);
		term->is_word = result == -ENOENT;
		result = result == -ENOENT ? 0 : result;
	}
	if (result == 0 &&
	    (text == NULL ||
	     (term->is_word && (!column_is_text(term->column) ||
				(comparison != COMPARISON_EQUAL && comparison != COMPARISON_DIFFERENT)))))
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

static enum filter_field find_field(const char *name)
{
	for (size_t i = 0; i < FILTER_FIELD_COUNT; i++) {
		const struct filter_field_entry *field = &filter_fields[i];

		if (strcasecmp(name, field->word) == 0 ||
		    (field->alias != NULL && strcasecmp(name, field->alias) == 0))
			return (enum filter_field)i;
	}
	return FILTER_FIELD_COUNT;
}

/* Checks state letters: task_state_array of fs/proc/array.c, letters of older kernels, and F for frozen. */
static int check_states(struct term *term, struct error *error)
{
	static const char known[] = "RSDFTtZXPIWKx";
	/* no word here is also a list of state letters */
	static const struct {
		const char *word, *letters;
	} words[] = {{"frozen", "F"}, {"stopped", "Tt"}};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		if (strcasecmp(term->text, words[i].word) == 0) {
			strcpy(term->text, words[i].letters);
			return 0;
		}
	}
	for (char *letter = term->text; *letter != '\0'; letter++) {
		if (strchr(known, *letter) == NULL)
			*letter = (char)toupper((unsigned char)*letter);
		if (strchr(known, *letter) == NULL)
			return error_set(
				error, -EINVAL,
				"'%s' is not a state; states are R (running or runnable), S (asleep), D "
				"(uninterruptible), F (frozen), T and t (stopped), Z and X (dead), P and I "
				"(idle), or "
				"several for any of them, as in state = RD",
				term->text);
	}
	return 0;
}

static int set_field_text(struct parser *parser, struct term *term)
{
	size_t length = strlen(term->text);
	struct buffer pattern = {0};

	term->ignore_case = !unicode_has_capital(term->text);
	/* "/a/" is "/a" */
	while (term->field == FILTER_FIELD_CGROUP && length > 1 && term->text[length - 1] == '/')
		term->text[--length] = '\0';
	if (filter_fields[term->field].takes == FILTER_TAKES_LETTERS)
		return check_states(term, parser->error);
	if (strpbrk(term->text, "*?[") == NULL)
		return 0;
	/* paths are case-sensitive */
	if (term->ignore_case && term->field != FILTER_FIELD_CGROUP && term->field != FILTER_FIELD_CONTAINER)
		unicode_append_folded(&pattern, term->text, length);
	else
		buffer_append(&pattern, term->text, length);
	term->glob = glob_compile(pattern.data, pattern.length);
	buffer_release(&pattern);
	return term->glob != NULL ? 0
				  : error_set(parser->error, -EINVAL,
					      "'%s' is not a valid glob: * stands for any text, ? for a "
					      "character, [ab] for one "
					      "of several",
					      term->text);
}

/* Takes a process or thread number: digits alone. */
static int set_field_number(struct parser *parser, struct term *term)
{
	const struct filter_field_entry *field = &filter_fields[term->field];
	char *end;

	errno = 0;
	term->id = strtoull(term->text, &end, 10);
	if (!isdigit((unsigned char)term->text[0]) || *end != '\0' || errno != 0)
		return error_set(parser->error, -EINVAL, "'%s' is not a number; %s takes one, as in %s = %s",
				 term->text, field->word, field->word, field->value);
	return 0;
}

static int parse_field(struct parser *parser, struct term *term)
{
	const struct filter_field_entry *field = &filter_fields[term->field];
	int result = 0;

	if (field->takes != FILTER_TAKES_NUMBER && term->limit.comparison != COMPARISON_EQUAL &&
	    term->limit.comparison != COMPARISON_DIFFERENT)
		return error_set(parser->error, -EINVAL, "%s takes = and != only, as in %s = %s", field->word,
				 field->word, field->value);
	if (*parser->at == '"') {
		result = take_quoted(parser, &term->text);
	} else if (!is_end(parser) && !is_joint_next(parser)) {
		const size_t length = word_length(parser, parser->at, true);

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

static int refuse_name(struct parser *parser, const char *name)
{
	struct buffer fields = {0};
	struct error unknown;
	int result;

	column_refuse(name, &unknown);
	for (size_t i = 0; i < FILTER_FIELD_COUNT; i++) {
		buffer_append_format(&fields, " %s", filter_fields[i].word);
		/* one edit */
		if (nearest_distance(name, filter_fields[i].word, 2) <= 2)
			error_set(&unknown, -EINVAL, "no column or metric '%s', did you mean %s?", name,
				  filter_fields[i].word);
	}
	result = error_set(parser->error, -EINVAL,
			   "%s; conditions on threads and names:%s; in quotes a text is searched for",
			   unknown.text, fields.data);
	buffer_release(&fields);
	return result;
}

static int refuse_sign(struct parser *parser, const char *sign, size_t length)
{
	const bool is_like = memchr(sign, '~', length) != NULL;

	return error_set(parser->error, -EINVAL,
			 "'%.*s' is not a comparison%s; comparisons are %s, a regular "
			 "expression stands alone: /REGEX/, and a glob behind =: name = web*",
			 (int)length, sign,
			 is_like                                     ? ""
			 : length == 2 && memcmp(sign, "=>", 2) == 0 ? ", did you mean >=?"
			 : length == 2 && memcmp(sign, "=<", 2) == 0 ? ", did you mean <=?"
			 : length == 2 && memcmp(sign, "<>", 2) == 0 ? ", did you mean !=?"
								     : "",
			 comparison_list);
}

static int take_sign(struct parser *parser, enum comparison_kind *ret_comparison)
{
	const size_t length = strspn(parser->at, "<>=!~");

	if (!comparison_find(parser->at, length, ret_comparison))
		return refuse_sign(parser, parser->at, length);
	parser->at += length;
	return 0;
}

/* Whether a sign of comparison, or what may be meant as one, is next, behind the name of a column or not. */
static bool is_sign_next(const char *at, bool is_behind_column)
{
	if (*at == '<' || *at == '>' || *at == '=' || (at[0] == '!' && at[1] == '='))
		return true;
	return *at == '~' && (is_behind_column || ends_word(at[1]) || at[1] == '=');
}

/* Parses the comparison whose name was taken and whose sign is next. */
static int parse_comparison(struct parser *parser, const char *name, uint32_t *ret_node)
{
	const size_t length = strlen(name);
	struct term term = {.kind = TERM_COMPARISON, .field = find_field(name), .column = COLUMN_COUNT};
	int result;

	if (length == 0)
		return error_set(
			parser->error, -EINVAL,
			"'%.2s' needs a column before it, as in cpu%% > 50; in quotes it is searched for",
			parser->at);
	result = take_sign(parser, &term.limit.comparison);
	if (result < 0)
		return result;
	skip_blanks(parser);
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
				   "cannot filter by %s: it is read only for visible rows",
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
	return add_term(parser, &term, ret_node);
}

/* --- parts --- */

static int parse_alternatives(struct parser *parser, uint32_t *ret_node);

static int add_text(struct parser *parser, char *text, uint32_t *ret_node)
{
	const struct term term = {.kind = TERM_TEXT, .text = text, .ignore_case = !unicode_has_capital(text)};

	return add_term(parser, &term, ret_node);
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

static int parse_regex(struct parser *parser, uint32_t *ret_node)
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
	result = compile_regex(pattern, !unicode_has_capital(pattern), &term.regex, parser->error);
	free(pattern);
	if (result < 0)
		return result;
	parser->at = end + 1;
	result = add_term(parser, &term, ret_node);
	if (result == 0 && !is_end(parser) && !ends_word(*parser->at))
		result = error_set(parser->error, -EINVAL,
				   "'%s' after a regular expression; join with ' and '", parser->at);
	return result;
}

static int parse_word(struct parser *parser, uint32_t *ret_node)
{
	size_t length = word_length(parser, parser->at, false);
	const char *tilde = memchr(parser->at, '~', length);
	char *word;
	int result;

	if (tilde != NULL) {
		word = memory_duplicate_bytes(parser->at, (size_t)(tilde - parser->at));
		if (find_field(word) != FILTER_FIELD_COUNT || column_find(word) != COLUMN_COUNT)
			length = (size_t)(tilde - parser->at);
		free(word);
	}
	word = memory_duplicate_bytes(parser->at, length);
	if (length == 1 && *word == ')') {
		free(word);
		return error_set(parser->error, -EINVAL, "there is no ( for this )");
	}
	parser->at += length;
	skip_blanks(parser);
	/* no column is looked for that nobody compares: each name of a field that is looked for becomes one
	 */
	if (is_sign_next(parser->at, *parser->at == '~' && (find_field(word) != FILTER_FIELD_COUNT ||
							    column_find(word) != COLUMN_COUNT))) {
		result = parse_comparison(parser, word, ret_node);
		free(word);
		return result;
	}
	return add_text(parser, word, ret_node);
}

static int parse_group(struct parser *parser, uint32_t *ret_node)
{
	int result;

	parser->at++;
	parser->groups++;
	skip_blanks(parser);
	if (*parser->at == ')')
		return error_set(parser->error, -EINVAL, "there is nothing between ( and )");
	result = *parser->at != '\0' ? parse_alternatives(parser, ret_node) : 0;
	if (result < 0)
		return result;
	if (*parser->at != ')')
		return error_set(parser->error, -EINVAL, "there is no ) for a (");
	parser->at++;
	parser->groups--;
	return 0;
}

static int parse_part(struct parser *parser, uint32_t *ret_node);

static int parse_negation(struct parser *parser, const char *sign, uint32_t *ret_node)
{
	uint32_t child = NODE_NONE;
	int result;

	parser->at += strlen(sign);
	skip_blanks(parser);
	if (is_end(parser))
		return error_set(parser->error, -EINVAL,
				 "'%s' needs a condition after it; in quotes it is searched for", sign);
	result = parse_part(parser, &child);
	if (result == 0)
		*ret_node = add_node(parser,
				     (struct node){.kind = NODE_NOT, .child = child, .next = NODE_NONE});
	return result;
}

static int parse_kind(struct parser *parser, uint32_t *ret_node)
{
	char *text;
	int result;

	skip_blanks(parser);
	if (is_end(parser))
		return error_set(parser->error, -EINVAL,
				 "an empty filter; type part of a name, /regex/, user = root or cpu%% > 50");
	if (is_joint_next(parser))
		return error_set(parser->error, -EINVAL,
				 "'%.*s' needs a condition before and after it; in quotes it is searched for",
				 is_next(parser, "or") ? 2 : 3, parser->at);
	if (is_next(parser, "not"))
		return parse_negation(parser, "not", ret_node);
	if (parser->at[0] == '!' && parser->at[1] != '=')
		return parse_negation(parser, "!", ret_node);
	switch (*parser->at) {
	case '(':
		return parse_group(parser, ret_node);
	case '/':
		return parse_regex(parser, ret_node);
	case '"':
		result = take_quoted(parser, &text);
		return result < 0 ? result : add_text(parser, text, ret_node);
	default:
		return parse_word(parser, ret_node);
	}
}

static int parse_part(struct parser *parser, uint32_t *ret_node)
{
	const char *begin;
	struct node *node;
	int result;

	if (parser->depth == DEPTH_MAX)
		return error_set(parser->error, -EINVAL,
				 "a filter has at most %d parentheses and negations in one another",
				 DEPTH_MAX);
	parser->depth++;
	skip_blanks(parser);
	begin = parser->at;
	result = parse_kind(parser, ret_node);
	parser->depth--;
	if (result < 0)
		return result;
	node = &parser->filter->nodes[*ret_node];
	node->begin = (size_t)(begin - parser->filter->text);
	node->end = (size_t)(parser->at - parser->filter->text);
	while (node->end > node->begin && ends_word(parser->filter->text[node->end - 1]))
		node->end--;
	return 0;
}

/* Parts as children of a node of a kind, or the only part itself. */
struct chain {
	enum node_kind kind;
	uint32_t node, last;
};

static void add_link(struct parser *parser, struct chain *chain, uint32_t part)
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

/* Conditions that all have to hold, with or without the word between them. */
static int parse_conditions(struct parser *parser, uint32_t *ret_node)
{
	struct chain chain = {.kind = NODE_AND, .node = NODE_NONE};

	do {
		uint32_t part = NODE_NONE;
		int result = parse_part(parser, &part);

		if (result < 0)
			return result;
		add_link(parser, &chain, part);
		skip_blanks(parser);
		if (is_next(parser, "and")) {
			parser->at += strlen("and");
			skip_blanks(parser);
			if (is_end(parser) || is_next(parser, "or"))
				return error_set(
					parser->error, -EINVAL,
					"'and' needs a condition before and after it; in quotes it is "
					"searched for");
		}
	} while (!is_end(parser) && !is_next(parser, "or"));
	*ret_node = chain.node;
	return 0;
}

static int parse_alternatives(struct parser *parser, uint32_t *ret_node)
{
	struct chain chain = {.kind = NODE_OR, .node = NODE_NONE};

	for (;;) {
		uint32_t part = NODE_NONE;
		int result = parse_conditions(parser, &part);

		if (result < 0)
			return result;
		add_link(parser, &chain, part);
		if (!is_next(parser, "or"))
			break;
		parser->at += strlen("or");
		skip_blanks(parser);
		if (is_end(parser))
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
	struct parser parser = {.filter = filter, .error = error};
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

/* Whether a node is a condition on a field, or of several such the alternatives. */
static bool is_of_field(const struct filter *filter, const struct node *node, enum filter_field field)
{
	if (node->kind == NODE_TERM)
		return filter->terms[node->term].kind == TERM_FIELD &&
		       filter->terms[node->term].field == field;
	if (node->kind != NODE_OR)
		return false;
	for (uint32_t child = node->child; child != NODE_NONE; child = filter->nodes[child].next) {
		if (!is_of_field(filter, &filter->nodes[child], field))
			return false;
	}
	return true;
}

void filter_append_without(const struct filter *filter, enum filter_field field, struct buffer *text)
{
	const struct node *root = &filter->nodes[filter->root];
	const bool is_list = root->kind == NODE_AND;
	bool is_first = true;

	for (uint32_t index = is_list ? root->child : filter->root; index != NODE_NONE;
	     index = is_list ? filter->nodes[index].next : NODE_NONE) {
		const struct node *node = &filter->nodes[index];

		if (is_of_field(filter, node, field))
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
