/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILTER_INTERNAL_H
#define CTOP_FILTER_INTERNAL_H

#include <regex.h>
#include <stdint.h>

#include "filter.h"
#include "limit.h"
#include "window/glob.h"

/* What the files of the filter share, for no one else. */

enum term_kind {
	TERM_TEXT,
	TERM_REGEX,
	TERM_COMPARISON, /* with the cell of a column */
	TERM_FIELD,
};

struct term {
	enum term_kind kind;
	struct limit limit; /* of the last two kinds: the comparison, and of TERM_COMPARISON without a word
			       all of it */
	char *text;         /* of TERM_TEXT, a word that is compared, and fields that are texts; owned */
	bool ignore_case;   /* of texts and names */
	regex_t regex;      /* of TERM_REGEX */
	struct glob *glob;  /* of a field: NULL for a text without wildcards */
	enum filter_field field;
	uint64_t id; /* of a field that is a number */
	/* of TERM_COMPARISON: */
	enum column column;
	bool as_rate;
	bool is_word; /* only = and != */
};

enum node_kind {
	NODE_TERM,
	NODE_NOT,
	NODE_AND,
	NODE_OR,
};

#define NODE_NONE UINT32_MAX

/* Of the tree that a filter is: a term, or what joins the nodes below it. */
struct node {
	enum node_kind kind;
	uint32_t term;
	uint32_t child;    /* the first one */
	uint32_t next;     /* another child of the same node */
	size_t begin, end; /* where it stands in the text; of parts in parentheses, with these */
};

struct filter {
	char *text;
	struct term *terms;
	size_t count, capacity;
	uint32_t root;
	struct node *nodes;
	size_t node_count, node_capacity;
	/* All of these nodes have to hold: those of threads alone narrow threads, the others choose rows. */
	struct conjunct {
		uint32_t node;
		bool narrows;
	} * conjuncts;
	size_t conjunct_count, conjunct_capacity;
};

/* Whether something holds; an AND is the least of its parts, an OR the largest. */
enum answer {
	ANSWER_NO,
	ANSWER_UNKNOWN, /* nobody knows the value that is compared */
	ANSWER_YES,
};

static inline enum answer answer_not(enum answer answer)
{
	return (enum answer)(ANSWER_YES - answer);
}

/* Whether a term is a condition on a thread. */
static inline bool term_is_of_threads(const struct term *term)
{
	return term->kind == TERM_FIELD && term->field != FILTER_FIELD_NAME;
}

/* Whether a term of a text, an expression or names matches a name, NULs in it being blanks. */
bool term_matches_name(const struct term *term, const char *name, size_t length);

/* --- parsing --- */

/* What is being parsed. */
struct filter_parser {
	struct filter *filter;
	const char *at;      /* the rest of the text */
	unsigned int depth;  /* how many calls of parse_part() there are */
	unsigned int groups; /* parentheses that are open */
	struct error *error;
};

/* Adds a term, whose content the filter owns from then on, and a node for it; -EINVAL where there are too
 * many. */
int filter_add_term(struct filter_parser *parser, const struct term *term, uint32_t *ret_node);

/* Whether a text has a capital: then case counts. */
bool filter_has_capital(const char *text);

void filter_skip_blanks(struct filter_parser *parser);

/* Whether a character stands behind a word. */
bool filter_ends_word(char character);

/* Whether this word, in small letters or capitals, comes next; one of those that join conditions; the end of
 * a part. */
bool filter_is_next(const struct filter_parser *parser, const char *word);
bool filter_is_joint_next(const struct filter_parser *parser);
bool filter_is_end(const struct filter_parser *parser);

/*
 * Length of the word at `text`: up to a blank, a parenthesis that closes one outside of the word, or, unless
 * it is a value, what could be a sign of comparison.
 */
size_t filter_word_length(const struct filter_parser *parser, const char *text, bool is_value);

/*
 * Takes the text in the quotes that begin here; a backslash takes what follows it as it is. The caller frees
 * it. -EINVAL with a sentence where they do not end or nothing is in them.
 */
int filter_take_quoted(struct filter_parser *parser, char **ret_text);

/* The field of that word, FILTER_FIELD_COUNT for none. */
enum filter_field filter_find_field(const char *name);

/* Whether a sign of comparison, or what may be meant as one, is next, behind the name of a column or not. */
bool filter_is_sign_next(const char *at, bool is_behind_column);

/* Parses the comparison whose name was taken and whose sign is next; -EINVAL with a sentence. */
int filter_parse_comparison(struct filter_parser *parser, const char *name, uint32_t *ret_node);

/* Compiles an extended regular expression; -EINVAL with a sentence. */
int filter_compile_regex(const char *pattern, bool ignore_case, regex_t *ret_regex, struct error *error);

#endif
