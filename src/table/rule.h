/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RULE_H
#define CTOP_RULE_H

#include "base/buffer.h"
#include "limit.h"
#include "snapshot/snapshot.h"
#include "window/glob.h"
#include "window/grouping.h"

/*
 * Conditions on a group or on the host, as users write them for comparisons (`--fail-if`) and recordings
 * (`--when`):
 *
 *	[after:]NUMBER(GROUPS) OP LIMIT
 *	[after:]time(GROUPS: CLASS) OP LIMIT
 *	[after:]delayed(GROUPS [by CULPRITS]) OP LIMIT
 *	psi.cpu OP PERCENT      psi.memory OP PERCENT      psi.io OP PERCENT
 *
 * rule_help.def explains each part, for `ctop help rules` and the manual page. In a rule of a comparison the
 * number is the change, and a LIMIT in percent is of the value before; with `after:` it is the value of the
 * second side. Pressure is of recordings, `after:` of comparisons only.
 */
struct rule {
	char *text;                      /* as the user wrote it, owned */
	bool is_pressure;                /* of the host: the last form */
	enum pressure_resource resource; /* of it; else what follows down to the glob */
	bool of_after;                   /* the rule begins with `after:` */
	enum column column;
	/* AXIS_COUNT: the first of rule_axes whose groups the glob matches; AXIS_ALL with a `process` */
	enum axis axis;
	struct glob *glob;    /* owned */
	struct glob *process; /* owned; of "THREADS of PROCESS", where `glob` is for threads; else NULL */
	bool is_delayed; /* the form `delayed`: `column` is COLUMN_WAITS, and the limit is in ns per second */
	struct glob *culprit; /* of it: owned; NULL: all */
	struct limit limit;
};

/* A part of a rule, or an example, and what it means; a NULL word ends a list. */
struct rule_help {
	const char *word, *description;
};

extern const struct rule_help rule_words[], rule_examples[];

/* The axes on which the groups of a rule are looked for that names none, in this order. */
enum {
	RULE_AXES = 3
};
extern const enum axis rule_axes[RULE_AXES];

/*
 * Parses a rule, `of_change` one of a comparison; the caller releases it with rule_release(). Returns 0, or
 * -EINVAL (nothing to release) with a sentence that quotes the rule and says what is valid. A rule that can
 * never hold is refused, too, as is one about a number that its groups never have.
 */
int rule_parse(const char *text, bool of_change, struct rule *ret_rule, struct error *error);
void rule_release(struct rule *rule);

/*
 * Whether the names of a rule match a group, by its whole key or its whole label. A rule with a `process` is
 * for groups of AXIS_ALL, whose keys and labels have three parts with a NUL between.
 */
bool rule_matches(const struct rule *rule, const char *key, size_t key_length, const char *label,
		  size_t label_length);

/* Whether a rule names its group, without a wildcard. */
bool rule_names_one(const struct rule *rule);

/* Appends the label of a group; for a rule with a `process` as "worker-{N} of api in /pod". Not sanitised. */
void rule_append_group(const struct rule *rule, const char *label, size_t label_length, struct buffer *text);

/*
 * Whether a rule of `delayed` counts what a culprit delayed: a group by its key and label, another cause by
 * its label as both. What is_itself is matched by `itself`, too.
 */
bool rule_counts_culprit(const struct rule *rule, bool is_itself, const char *key, size_t key_length,
			 const char *label, size_t label_length);

/* The same for a cause that is no group. */
bool rule_counts_cause(const struct rule *rule, enum latency_cause cause);

/* Whether the culprits of a rule need no group to be there: they are all, `itself` or a cause. */
bool rule_has_any_culprit(const struct rule *rule);

#endif
