/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ROUND_COMPARE_H
#define CTOP_ROUND_COMPARE_H

#include "snapshot/snapshot.h"

/*
 * The first field in which two finished snapshots differ, by its name, with the row or record where there is
 * one; NULL when they are equal in all fields but serial, carried_serial and capacities. Ids of names must be
 * the same numbers. The text is valid until the next call.
 */
const char *round_difference(const struct snapshot *left, const struct snapshot *right);

/*
 * The same of what is of no thread and stands in files, too: names by their texts, which may have other ids,
 * and reasons by theirs.
 */
const char *round_facts_difference(const struct snapshot *left, const struct snapshot *right);

bool round_key_values_differ(const struct snapshot *left, const struct key_values *a,
			     const struct snapshot *right, const struct key_values *b);

#endif
