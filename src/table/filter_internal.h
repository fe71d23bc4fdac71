/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILTER_INTERNAL_H
#define CTOP_FILTER_INTERNAL_H

#include <regex.h>
#include <stdint.h>

#include "filter.h"
#include "limit.h"
#include "window/glob.h"

/* Shared by the files of the filter, for no one else. */

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

/* A node of the tree that a filter is: a term, or the joint of the nodes below it. */
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

/* Whether a term is a condition on a thread. */
static inline bool term_is_of_threads(const struct term *term)
{
	return term->kind == TERM_FIELD && term->field != FILTER_FIELD_NAME;
}

#endif
