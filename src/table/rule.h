/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RULE_H
#define CTOP_RULE_H

#include "limit.h"
#include "snapshot/snapshot.h"
#include "window/glob.h"
#include "window/grouping.h"

/*
 * Conditions on a group or on the host, as users write them for comparisons (`--fail-if`) and recordings
 * (`--when`):
 *
 *	[after:]NUMBER(GROUPS) OP LIMIT
 *	[after:]delayed(GROUPS [by CULPRITS]) OP LIMIT
 *	psi.cpu OP PERCENT      psi.memory OP PERCENT      psi.io OP PERCENT
 *
 * NUMBER is any column of the screen that has one, or a metric or field, by its title or name
 *(column_find()). In a rule of a comparison the number is the change, and a LIMIT in percent is of the value
 *before; with `after:` it is the value of the second side. Pressure is of recordings, `after:` of comparisons
 *only.
 *
 * `delayed` is the time that GROUPS waited for a CPU while CULPRITS ran, in seconds per second; without `by`
 * whoever did. CULPRITS is a glob for groups of the same kind, for `itself`, and for causes that are no
 * group, as `(wakeup)` (latency_cause.def).
 *
 * GROUPS is a glob (glob.h) for names of processes; where no process has such a name for names of threads,
 *and else for cgroups. `process:`, `thread:` or `cgroup:` before it says which. OP and LIMIT are those of
 * limit.h.
 */
struct rule {
	char *text;                      /* as the user wrote it, owned */
	bool is_pressure;                /* of the host: the third form */
	enum pressure_resource resource; /* of it; else what follows down to the glob */
	bool of_after;                   /* `after:` stands before it */
	enum column column;
	enum axis axis;    /* AXIS_COUNT: the first of rule_axes whose groups the glob matches */
	struct glob *glob; /* owned */
	bool is_delayed;   /* the second form: `column` is COLUMN_WAITS, and the limit is in ns per second */
	struct glob *culprit; /* of it: owned; NULL: all */
	struct limit limit;
};

/* The axes on which the groups of a rule are looked for that names none, in this order. */
enum {
	RULE_AXES = 3
};
extern const enum axis rule_axes[RULE_AXES];

/*
 * Parses a rule, `of_change` one of a comparison; the caller releases it with rule_release(). Returns 0, or
 * -EINVAL (nothing to release) with a sentence that quotes the rule and says what is valid.
 */
int rule_parse(const char *text, bool of_change, struct rule *ret_rule, struct error *error);
void rule_release(struct rule *rule);

/* Whether the glob matches a group, by its whole key or by what is shown of it. */
bool rule_matches(const struct rule *rule, const char *key, size_t key_length, const char *label,
		  size_t label_length);

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
