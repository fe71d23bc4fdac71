/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORD_RULES_H
#define CTOP_RECORD_RULES_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "snapshot/snapshot.h"

/*
 * The rules of `--when` (view/rule.h), judged once a round. A counter is judged by its rate,
 * per second, over the time since the round before, threads that ended included; anything else by what it is
 * now. A group without a number breaks nothing, and neither does one with only a lower bound
 * that is below the limit. Pressure is the part of the time in which some thread waited for the resource.
 *
 * The kernel tells of pressure as soon as it is above a limit (Documentation/accounting/psi.rst, "Monitoring
 * for pressure thresholds"), where the user may ask for that; else it is computed from round to round.
 */
struct record_rules;

/*
 * Parses rules; the same one is told of again after `rest_ns` at the earliest. Returns 0, or -EINVAL with a
 * sentence that quotes the rule and says what is valid. Release them with record_rules_release().
 */
int record_rules_parse(const char *const texts[], size_t count, uint64_t rest_ns,
		       struct record_rules **ret_rules, struct error *error);
void record_rules_release(struct record_rules *rules);

/*
 * Asks the kernel to tell of pressure over windows of about `interval_ns`. `proc` is the directory of procfs,
 * NULL for /proc. Returns how many rules the kernel watches.
 */
size_t record_rules_watch(struct record_rules *rules, const char *proc, uint64_t interval_ns);

/* The sources that the rules' numbers are read from. */
source_set record_rules_needs(const struct record_rules *rules);

/* The number of rules. */
size_t record_rules_count(const struct record_rules *rules);

/*
 * Fills in what is to be polled for them. `polled` has room for record_rules_count() entries; returns how
 * many there are.
 */
size_t record_rules_descriptors(const struct record_rules *rules, struct pollfd polled[]);

/* A rule that has become true. */
struct record_hit {
	char *text;       /* a sentence that begins with the rule; valid until the next call */
	uint64_t unix_ns; /* when */
};

/*
 * Judges a round, of which it takes a reference of its own, the one before being that of the last call.
 * Returns how many hits `*ret_hits` has, owned by the rules until the next call.
 */
size_t record_rules_judge(struct record_rules *rules, struct snapshot *round,
			  const struct record_hit **ret_hits);

/* The same for what the kernel has told: `polled` as filled by poll(2). */
size_t record_rules_told(struct record_rules *rules, const struct pollfd polled[], size_t count,
			 const struct record_hit **ret_hits);

/*
 * A sentence that no group matches a rule, after the first round and again after a minute, or that the number
 * of those that do is not known here; NULL where there is nothing to say. Valid until the next call.
 */
const char *record_rules_take_notice(struct record_rules *rules);

#endif
